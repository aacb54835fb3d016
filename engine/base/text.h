// Questions about text that the standard library does not answer.
#pragma once

#include <string.h>
#include <strings.h>

// Whether a file's name ends in ".xyz", in capitals or not; 0 for no text at all.
static inline int tribo_text_ends_in(const char* text, const char* ending) {
  const size_t n = text != NULL ? strlen(text) : 0, k = strlen(ending);
  return n >= k && strcasecmp(text + n - k, ending) == 0;
}
