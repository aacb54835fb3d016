// Aligned memory that is zero, arrays that double, and who is counted for a heap call.
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, SMALLEST = 16 };
static _Thread_local uint64_t growth_count;
static _Thread_local TriboHeapOwner heap_owner;

void* tribo_alloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT) {
    return NULL;
  }
  bytes = bytes == 0 ? ALIGNMENT : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  void* memory = aligned_alloc(ALIGNMENT, bytes);
  if (memory != NULL) {
    memset(memory, 0, bytes);
  }
  return memory;
}

void tribo_free(void* memory) {
  free(memory);
}

char* tribo_strdup(const char* text) {
  if (text == NULL) {
    return NULL;
  }
  size_t n = strlen(text) + 1;
  char* copy = tribo_alloc(n, 1);
  if (copy != NULL) {
    memcpy(copy, text, n);
  }
  return copy;
}

TriboStatus tribo_reserve(void** array, size_t* capacity, size_t count, size_t size, size_t keep) {
  if (*array != NULL && count <= *capacity) {
    return TRIBO_OK;
  }
  // double, so that n appends cost n
  size_t larger = *capacity > SIZE_MAX / 2 ? count : 2 * *capacity;
  size_t wanted = count > larger ? count : larger;
  wanted = wanted < SMALLEST ? SMALLEST : wanted;
  void* memory = tribo_alloc(wanted, size);
  if (memory == NULL) {
    return tribo_fail(TRIBO_NOMEM, "no memory for %zu items of %zu bytes", wanted, size);
  }
  if (keep > 0 && *array != NULL) {
    memcpy(memory, *array, keep * size);
  }
  tribo_free(*array);
  *array = memory;
  *capacity = wanted;
  growth_count++;
  return TRIBO_OK;
}

uint64_t tribo_growth_count(void) {
  return growth_count;
}

TriboHeapOwner tribo_heap_owner(void) {
  return heap_owner;
}

TriboHeapOwner tribo_heap_enter(TriboHeapOwner owner) {
  TriboHeapOwner before = heap_owner;
  heap_owner = owner;
  return before;
}

void tribo_heap_leave(TriboHeapOwner before) {
  heap_owner = before;
}
