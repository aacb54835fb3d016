// Heights of a height field from a file: numbers, a row per line, or the brightness of a picture.
#include "heightfield.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "status.h"

enum { LARGEST_FIELD = 1 << 24 };

TriboStatus tribo_heights_append(Heights* h, double value) {
  TRIBO_TRY(TRIBO_APPEND(&h->values, h->count, 1));
  h->values[h->count++] = value;
  return TRIBO_OK;
}

int tribo_heights_end_row(Heights* h, int length) {
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
    TRIBO_TRY(tribo_heights_append(h, value));
    at = end;
  }
  if (h->count > before && !tribo_heights_end_row(h, h->count - before)) {
    return tribo_fail(TRIBO_INVALID, "%s:%d:1: a row of %d heights, the first one has %d", path, line,
                      h->count - before, h->nx);
  }
  return TRIBO_OK;
}

TriboStatus tribo_heights_text(const char* path, Heights* h) {
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
