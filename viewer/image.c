// Pictures in memory, made smaller, written as PNG.
#include <errno.h>
#include <png.h>
#include <stdio.h>

#include "view_common.h"

TriboStatus tribo_view_image_create(int width, int height, TriboImage* image) {
  enum { MOST = 32768 };
  *image = (TriboImage){0};
  if (width < 1 || height < 1 || width > MOST || height > MOST) {
    return tribo_view_fail(TRIBO_INVALID, "a picture of %d × %d pixels: accepted are 1 to %d each way", width, height,
                           MOST);
  }
  image->rgb = calloc((size_t)width * (size_t)height, 3);
  if (image->rgb == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a picture of %d × %d pixels", width, height);
  }
  image->width = width;
  image->height = height;
  return TRIBO_OK;
}

void tribo_view_image_destroy(TriboImage* image) {
  free(image->rgb);
  *image = (TriboImage){0};
}

TriboStatus tribo_view_image_shrink(const TriboImage* large, int factor, TriboImage* small) {
  if (factor < 1 || large->width != factor * small->width || large->height != factor * small->height) {
    return tribo_view_fail(TRIBO_INVALID, "tribo_view_image_shrink: %d × %d is not %d times %d × %d", large->width,
                           large->height, factor, small->width, small->height);
  }
  double linear[256];
  for (int i = 0; i < 256; ++i) {
    linear[i] = from_srgb(i / 255.0);
  }
  for (int y = 0; y < small->height; ++y) {
    for (int x = 0; x < 3 * small->width; ++x) {
      double sum = 0;
      for (int v = 0; v < factor; ++v) {
        const unsigned char* row = large->rgb + (size_t)(y * factor + v) * (size_t)large->width * 3;
        for (int u = 0; u < factor; ++u) {
          sum += linear[row[3 * (x / 3 * factor + u) + x % 3]];
        }
      }
      small->rgb[(size_t)y * (size_t)small->width * 3 + (size_t)x] =
          (unsigned char)(255 * to_srgb(sum / (factor * factor)) + 0.5);
    }
  }
  return TRIBO_OK;
}

static png_image description_of(const TriboImage* image) {
  return (png_image){.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)image->width,
                     .height = (png_uint_32)image->height,
                     .format = PNG_FORMAT_RGB};
}

TriboStatus tribo_view_image_write(const TriboImage* image, const char* path) {
  png_image png = description_of(image);
  if (!png_image_write_to_file(&png, path, 0, image->rgb, 0, NULL)) {
    return tribo_view_fail(TRIBO_IO, "%s: cannot be written: %s", path, errno != 0 ? strerror(errno) : png.message);
  }
  return TRIBO_OK;
}

TriboStatus tribo_view_image_embed(const TriboImage* image, char** address) {
  png_image png = description_of(image);
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  size_t length;
  unsigned char* bytes = malloc(size);
  *address = NULL;
  FILE* text = bytes != NULL ? open_memstream(address, &length) : NULL;
  const int made = text != NULL && png_image_write_to_memory(&png, bytes, &size, 0, image->rgb, 0, NULL);
  if (made) {
    fputs("data:image/png;base64,", text);
    tribo_view_write_base64(text, bytes, size);
  }
  const int good = text != NULL && fclose(text) == 0 && made;
  free(bytes);
  if (!good) {
    free(*address);
    *address = NULL;
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a picture of %d × %d pixels as text", image->width,
                           image->height);
  }
  return TRIBO_OK;
}
