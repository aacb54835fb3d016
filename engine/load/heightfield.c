// Heights of a field: a list of rows in the scene, a file of numbers, a row per line, or the brightness of a picture.
#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "yaml_scene.h"

enum { LARGEST_FIELD = 1 << 24 };

typedef struct Heights {
  double* values;
  size_t capacity;
  int count, nx, ny;
} Heights;

static TriboStatus append(Heights* h, double value) {
  TRIBO_TRY(TRIBO_APPEND(&h->values, &h->capacity, h->count, 1));
  h->values[h->count++] = value;
  return TRIBO_OK;
}

// A row ends: all must be of one length.
static int close_row(Heights* h, int length) {
  h->nx = h->ny == 0 ? length : h->nx;
  h->ny++;
  return length == h->nx;
}

// One line: numbers with commas, semicolons or blanks between them; # starts a comment.
static TriboStatus read_line(Heights* h, const char* path, int line, char* text) {
  text[strcspn(text, "#\r\n")] = '\0';
  const int before = h->count;
  for (char* at = text; *(at += strspn(at, " \t,;")) != '\0';) {
    char* end;
    const double value = strtod(at, &end);
    if (end == at || !isfinite(value) || h->count >= LARGEST_FIELD) {
      return tribo_fail(TRIBO_INVALID, "%s:%d:%d: '%.20s' is no finite number, or one of more than 2^24", path, line,
                        (int)(at - text) + 1, at);
    }
    TRIBO_TRY(append(h, value));
    at = end;
  }
  if (h->count > before && !close_row(h, h->count - before)) {
    return tribo_fail(TRIBO_INVALID, "%s:%d:1: a row of %d heights, the first one has %d", path, line,
                      h->count - before, h->nx);
  }
  return TRIBO_OK;
}

static TriboStatus read_file(const char* path, Heights* h) {
  FILE* file = fopen(path, "r");
  if (file == NULL) {
    return tribo_fail(TRIBO_IO, "%s: cannot be read: %s", path, strerror(errno));
  }
  char* text = NULL;
  size_t size = 0;
  TriboStatus status = TRIBO_OK;
  for (int line = 1; status == TRIBO_OK && getline(&text, &size, file) >= 0; ++line) {
    status = read_line(h, path, line, text);
  }
  if (status == TRIBO_OK && ferror(file)) {
    status = tribo_fail(TRIBO_IO, "%s: cannot be read: %s", path, strerror(errno));
  }
  free(text);
  fclose(file);
  return status;
}

TriboStatus tribo_heights_png(const char* path, double** values, int* nx, int* ny) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  *values = NULL;
  if (png_image_begin_read_from_file(&image, path) == 0) {
    return tribo_fail(TRIBO_IO, "%s: no picture: %s", path, image.message);
  }
  if ((int64_t)image.width * image.height > LARGEST_FIELD) {
    png_image_free(&image);
    return tribo_fail(TRIBO_INVALID, "%s: %u × %u heights; accepted are up to 2^24", path, image.width, image.height);
  }
  image.format = PNG_FORMAT_GRAY;
  const size_t count = (size_t)image.width * image.height;
  *nx = (int)image.width;
  *ny = (int)image.height;
  unsigned char* grey = tribo_alloc(PNG_IMAGE_SIZE(image), 1);
  *values = tribo_alloc(count, sizeof **values);
  TriboStatus status = TRIBO_OK;
  if (grey == NULL || *values == NULL) {
    png_image_free(&image);
    status = tribo_fail(TRIBO_NOMEM, "%s: no memory for %zu heights", path, count);
  } else if (png_image_finish_read(&image, NULL, grey, 0, NULL) == 0) {
    status = tribo_fail(TRIBO_INVALID, "%s: a broken picture: %s", path, image.message);
  }
  // the top of the picture is the far end along y
  for (size_t i = 0; status == TRIBO_OK && i < count; ++i) {
    const size_t row = (size_t)*ny - 1 - i / (size_t)*nx;
    (*values)[i] = grey[row * (size_t)*nx + i % (size_t)*nx] / 255.0;
  }
  tribo_free(grey);
  return status;
}

static TriboStatus read_rows(const YamlNode* node, Heights* h) {
  for (int j = 0; j < node->count; ++j) {
    const YamlNode* row = &node->items[j];
    if (row->kind != YAML_LIST) {
      return tribo_yaml_fail(row, "heights: %s; accepted is a list of rows of numbers, or a file",
                             tribo_yaml_what(row));
    }
    for (int i = 0; i < row->count; ++i) {
      double value;
      TRIBO_TRY(tribo_yaml_real(&row->items[i], "heights", &value));
      TRIBO_TRY(append(h, value));
    }
    if (!close_row(h, row->count)) {
      return tribo_yaml_fail(row, "heights: a row of %d, the first one has %d", row->count, h->nx);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_load_heights(Loader* l, const YamlNode* shape, const YamlNode* node, TriboShapeDef* def) {
  const YamlNode* heights = tribo_yaml_get(shape, "heights");
  if (heights == NULL) {
    return tribo_yaml_fail(node, "heightfield: needs `heights`: a list of rows, or a file");
  }
  Heights h = {0};
  const char* path;
  TriboStatus status;
  if (heights->kind == YAML_LIST) {
    status = read_rows(heights, &h);
  } else {
    status = tribo_format_path(&l->pool, heights, "heights", &path);
    if (status == TRIBO_OK) {
      const char* dot = strrchr(path, '.');
      const int picture = dot != NULL && strcasecmp(dot, ".png") == 0;
      status = picture ? tribo_heights_png(path, &h.values, &h.nx, &h.ny) : read_file(path, &h);
      h.count = picture ? h.nx * h.ny : h.count;
      if (status != TRIBO_OK) {
        tribo_fail_prefix("%s:%d:%d: heights: ", heights->path, heights->line, heights->column);
      }
    }
  }
  if (status == TRIBO_OK && (h.nx < 2 || h.ny < 2)) {
    status = tribo_yaml_fail(heights, "heights: %d rows of %d; at least 2 of 2 are needed", h.ny, h.nx);
  }
  if (status == TRIBO_OK) {
    for (int i = 0; i < h.count; ++i) {
      h.values[i] *= def->scale[2];
    }
    def->nx = h.nx;
    def->ny = h.ny;
    def->heights = tribo_pool_copy(&l->pool, h.values, (size_t)h.count, sizeof *h.values);
    status = def->heights == NULL ? tribo_fail(TRIBO_NOMEM, "no memory to read %s", node->path) : TRIBO_OK;
  }
  tribo_free(h.values);
  return status;
}
