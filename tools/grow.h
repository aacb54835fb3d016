// Arrays of malloc that are appended to one item at a time, for the commands, which see the public headers only.
#pragma once

#include <stdlib.h>

enum { GROW_FIRST = 256 };

// Room for item number `count` (from 0 on, one after the other) of an array that began as NULL. It holds GROW_FIRST
// items, then twice as many each time: the count tells when, so that nobody keeps a capacity. 0: no memory, the array
// stays.
static inline int grow(void** array, size_t count, size_t size) {
  if (count != 0 && (count < GROW_FIRST || (count & (count - 1)) != 0)) {
    return 1;
  }
  void* more = realloc(*array, (count == 0 ? GROW_FIRST : 2 * count) * size);
  *array = more != NULL ? more : *array;
  return more != NULL;
}

// `GROW(&t->value, t->count)`
#define GROW(array, count) grow((void**)(array), (size_t)(count), sizeof **(array))
