// The pictures that surfaces are painted with: PNG by libpng, JPEG by libjpeg-turbo, or patterns.
#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <strings.h>
#include <turbojpeg.h>

#include "view_common.h"

enum { MOST = 8192, MOST_BYTES = 256 * 1024 * 1024 };

static TriboStatus make(TriboTexture* out, const char* name, int width, int height) {
  if (width < 1 || height < 1 || width > MOST || height > MOST) {
    return tribo_view_fail(TRIBO_UNSUPPORTED, "%s: %d × %d pixels; accepted are 1 to %d each way", name, width, height,
                           MOST);
  }
  *out = (TriboTexture){.width = width, .height = height, .rgba = malloc(4 * (size_t)width * (size_t)height)};
  return out->rgba != NULL ? TRIBO_OK
                           : tribo_view_fail(TRIBO_NOMEM, "%s: no memory for %d × %d pixels", name, width, height);
}

// ---- files

static TriboStatus read_png(const char* path, TriboTexture* out) {
  png_image png = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_file(&png, path)) {
    return tribo_view_fail(TRIBO_INVALID, "%s: cannot be read: %s", path, png.message);
  }
  png.format = PNG_FORMAT_RGBA;
  TriboStatus status = make(out, path, (int)png.width, (int)png.height);
  if (status == TRIBO_OK && !png_image_finish_read(&png, NULL, out->rgba, 0, NULL)) {
    status = tribo_view_fail(TRIBO_INVALID, "%s: cannot be read: %s", path, png.message);
  }
  png_image_free(&png);
  return status;
}

// All bytes of a file, to be freed also on failure.
static TriboStatus read_bytes(const char* path, unsigned char** bytes, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return tribo_view_fail(TRIBO_IO, "%s: cannot be read: %s", path, strerror(errno));
  }
  long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  int good = end > 0 && end <= MOST_BYTES && fseek(file, 0, SEEK_SET) == 0;
  *size = good ? (size_t)end : 0;
  *bytes = good ? malloc(*size) : NULL;
  good = *bytes != NULL && fread(*bytes, 1, *size, file) == *size;
  fclose(file);
  return good ? TRIBO_OK : tribo_view_fail(TRIBO_IO, "%s: cannot be read", path);
}

static TriboStatus read_jpeg(const char* path, TriboTexture* out) {
  unsigned char* bytes = NULL;
  size_t size = 0;
  int width, height, sampling, space;
  TriboStatus status = read_bytes(path, &bytes, &size);
  tjhandle jpeg = status == TRIBO_OK ? tjInitDecompress() : NULL;
  if (jpeg != NULL) {
    // a picture that is a little wrong is shown as far as it goes
    int bad = tjDecompressHeader3(jpeg, bytes, size, &width, &height, &sampling, &space) != 0;
    status = bad ? TRIBO_OK : make(out, path, width, height);
    if (!bad && status == TRIBO_OK) {
      bad = tjDecompress2(jpeg, bytes, size, out->rgba, width, 0, height, TJPF_RGBA, TJFLAG_ACCURATEDCT) != 0 &&
            tjGetErrorCode(jpeg) == TJERR_FATAL;
    }
    if (bad) {
      status = tribo_view_fail(TRIBO_INVALID, "%s: cannot be read: %s", path, tjGetErrorStr2(jpeg));
    }
    tjDestroy(jpeg);
  }
  free(bytes);
  return status == TRIBO_OK && jpeg == NULL ? tribo_view_fail(TRIBO_NOMEM, "%s: no memory to read it", path) : status;
}

static TriboStatus read_file(const char* path, TriboTexture* out) {
  const char* dot = strrchr(path, '.');
  if (dot != NULL && strcasecmp(dot, ".png") == 0) {
    return read_png(path, out);
  }
  if (dot != NULL && (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0)) {
    return read_jpeg(path, out);
  }
  return tribo_view_fail(TRIBO_UNSUPPORTED, "%s: a picture ends in .png, .jpg or .jpeg", path);
}

// ---- patterns

// How much of the second colour there is at a pixel; x to the right and y up, both −1 … 1.
static double second_color_weight(const TriboTextureDef* def, double x, double y) {
  if (def->pattern == TRIBO_PATTERN_CHECKER) {
    return (x < 0) == (y < 0);
  }
  if (def->pattern == TRIBO_PATTERN_GRADIENT) {
    const double s = def->kind == TRIBO_TEXTURE_FLAT ? fmin(hypot(x, y), 1) : (1 - y) / 2;
    return s * s * (3 - 2 * s);
  }
  return 0;
}

static int has_pattern_mark(const TriboTextureDef* def, int column, int row) {
  switch (def->pattern_mark) {
    case TRIBO_PATTERN_MARK_EDGE: return column == 0 || row == 0 || column == def->width - 1 || row == def->height - 1;
    case TRIBO_PATTERN_MARK_CROSS: return column == def->width / 2 || row == def->height / 2;
    // a hash of the pixel's number: the same dots everywhere and always
    case TRIBO_PATTERN_MARK_DOTS: return (uint32_t)(row * def->width + column) * 2654435761u % 100003 < 1000;
    default: return 0;
  }
}

static void draw_pattern(const TriboTextureDef* def, TriboTexture* out) {
  for (int row = 0; row < out->height; ++row) {
    for (int column = 0; column < out->width; ++column) {
      const double x = (2.0 * column + 1) / out->width - 1, y = 1 - (2.0 * row + 1) / out->height;
      const double s = second_color_weight(def, x, y);
      unsigned char* pixel = out->rgba + 4 * ((size_t)row * (size_t)out->width + (size_t)column);
      for (int k = 0; k < 3; ++k) {
        const double c = has_pattern_mark(def, column, row) ? def->pattern_mark_color[k]
                                                            : (1 - s) * def->color[k] + s * def->color2[k];
        pixel[k] = (unsigned char)(255 * c + 0.5);
      }
      pixel[3] = 255;
    }
  }
}

// ---- all of a model

TriboStatus tribo_view_textures_create(const TriboModel* model, TextureSet** out) {
  const int n = tribo_model_size(model).ntexture;
  TextureSet* set = calloc(1, sizeof *set);
  if (set == NULL || (set->items = calloc((size_t)n + 1, sizeof *set->items)) == NULL) {
    free(set);
    return tribo_view_fail(TRIBO_NOMEM, "no memory for %d textures", n);
  }
  atomic_init(&set->users, 1);
  TriboStatus status = TRIBO_OK;
  for (int i = 0; i < n && status == TRIBO_OK; ++i) {
    const TriboTextureDef* def = tribo_model_texture(model, i);
    set->count++;
    status = def->file != NULL ? read_file(def->file, &set->items[i])
                               : make(&set->items[i], def->name, def->width, def->height);
    if (status == TRIBO_OK && def->file == NULL) {
      draw_pattern(def, &set->items[i]);
    }
  }
  if (status != TRIBO_OK) {
    tribo_view_textures_release(set);
    return status;
  }
  *out = set;
  return TRIBO_OK;
}

void tribo_view_textures_release(TextureSet* set) {
  if (set != NULL && atomic_fetch_sub(&set->users, 1) == 1) {
    for (int i = 0; i < set->count; ++i) {
      free(set->items[i].rgba);
    }
    free(set->items);
    free(set);
  }
}
