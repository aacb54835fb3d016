// Names of files, as the program's commands tell one kind from another.
#pragma once

#include <string.h>
#include <strings.h>

// Whether a name ends in ".xyz", in capitals or not.
static inline int path_ends_in(const char* path, const char* ending) {
  const size_t n = strlen(path), k = strlen(ending);
  return n >= k && strcasecmp(path + n - k, ending) == 0;
}
