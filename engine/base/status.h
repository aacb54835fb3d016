// Setting the thread's error text, and passing a status up.
#pragma once

#include <tribo/base.h>

// Stores the sentence and returns the status: `return tribo_fail(TRIBO_INVALID, "tribo_x: mass %g …", m);`
TriboStatus tribo_fail(TriboStatus status, const char* format, ...) TRIBO_PRINTF(2, 3);

// `return tribo_no_memory("to read %s", path);` is TRIBO_NOMEM with "no memory to read …".
TriboStatus tribo_no_memory(const char* purpose, ...) TRIBO_PRINTF(1, 2);

// Puts text in front of the stored sentence (the file and the line a lower room could not know).
void tribo_fail_prefix(const char* format, ...) TRIBO_PRINTF(1, 2);

void tribo_log(const TriboLog* log, TriboLogLevel level, const char* format, ...) TRIBO_PRINTF(3, 4);

#define TRIBO_TRY(call)               \
  do {                                \
    TriboStatus try_status_ = (call); \
    if (try_status_ != TRIBO_OK) {    \
      return try_status_;             \
    }                                 \
  } while (0)

// At the head of a public function: a pointer it cannot do without.
#define TRIBO_REQUIRE(pointer)                                                \
  do {                                                                        \
    if ((pointer) == NULL) {                                                  \
      return tribo_fail(TRIBO_INVALID, "%s: " #pointer " is NULL", __func__); \
    }                                                                         \
  } while (0)
