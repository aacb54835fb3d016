// The thread's error text, and the log.
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ERROR_CAPACITY = 1024 };
static _Thread_local char error_text[ERROR_CAPACITY];

const char* tribo_status_name(TriboStatus status) {
  switch (status) {
    case TRIBO_OK: return "TRIBO_OK";
    case TRIBO_INVALID: return "TRIBO_INVALID";
    case TRIBO_NOMEM: return "TRIBO_NOMEM";
    case TRIBO_CAPACITY: return "TRIBO_CAPACITY";
    case TRIBO_NOT_FOUND: return "TRIBO_NOT_FOUND";
    case TRIBO_STATE: return "TRIBO_STATE";
    case TRIBO_NUMERIC: return "TRIBO_NUMERIC";
    case TRIBO_IO: return "TRIBO_IO";
    case TRIBO_UNSUPPORTED: return "TRIBO_UNSUPPORTED";
    case TRIBO_INTERNAL: return "TRIBO_INTERNAL";
  }
  return "unknown status";
}

const char* tribo_last_error(void) {
  return error_text;
}

TriboStatus tribo_fail(TriboStatus status, const char* format, ...) {
  // format into a local buffer first: an argument may be the stored text itself
  char text[ERROR_CAPACITY];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  memcpy(error_text, text, sizeof text);
  return status;
}

TriboStatus tribo_no_memory(const char* purpose, ...) {
  char text[ERROR_CAPACITY];
  va_list args;
  va_start(args, purpose);
  vsnprintf(text, sizeof text, purpose, args);
  va_end(args);
  return tribo_fail(TRIBO_NOMEM, "no memory %s", text);
}

void tribo_fail_prefix(const char* format, ...) {
  char text[2 * ERROR_CAPACITY];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, ERROR_CAPACITY, format, args);
  va_end(args);
  if (n < 0 || n >= ERROR_CAPACITY) {
    return;
  }
  snprintf(text + n, sizeof text - (size_t)n, "%s", error_text);
  memcpy(error_text, text, ERROR_CAPACITY - 1);
  error_text[ERROR_CAPACITY - 1] = '\0';
}

void tribo_log(const TriboLog* log, TriboLogLevel level, const char* format, ...) {
  if (log == NULL || log->fn == NULL) {
    return;
  }
  char text[ERROR_CAPACITY];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  log->fn(level, text, log->user);
}
