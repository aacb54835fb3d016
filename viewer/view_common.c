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
