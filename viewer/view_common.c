// Messages and growing arrays, for all files of the viewer.
#include "view_common.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char message[512];

const char* tribo_view_error(void) {
  return message;
}

TriboStatus tribo_view_fail(TriboStatus status, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  return status;
}

TriboStatus tribo_view_reserve(void** items, int* capacity, int need, size_t item) {
  if (need <= *capacity) {
    return TRIBO_OK;
  }
  int grown = need > *capacity * 2 ? need : *capacity * 2;
  void* more = realloc(*items, (size_t)grown * item);
  if (more == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for %d things to draw", need);
  }
  *items = more;
  *capacity = grown;
  return TRIBO_OK;
}

void tribo_view_write_base64(FILE* file, const unsigned char* bytes, size_t n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    const unsigned b = (unsigned)bytes[i] << 16 | (i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0u) |
                       (i + 2 < n ? (unsigned)bytes[i + 2] : 0u);
    const char four[4] = {digits[b >> 18], digits[b >> 12 & 63], i + 1 < n ? digits[b >> 6 & 63] : '=',
                          i + 2 < n ? digits[b & 63] : '='};
    fwrite(four, 1, 4, file);
  }
}
