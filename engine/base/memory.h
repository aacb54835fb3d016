// Memory: 64-byte aligned arrays that grow by doubling and never shrink. Growth is counted, so that a test can show
// that a second run on the same data allocates nothing.
#pragma once

#include "status.h"

// Zero-filled, 64-byte aligned; NULL when there is no memory or count·size overflows. count 0 gives a valid pointer.
void* tribo_alloc(size_t count, size_t size);
void tribo_free(void* memory);
char* tribo_strdup(const char* text);  // NULL when there is no memory; NULL for NULL

// Bytes that an array of tribo_alloc has room for; 0 for NULL. Every array knows its own (see memory.c), so that a
// struct holds a pointer and a count and nothing else.
static inline size_t tribo_array_bytes(const void* array) {
  return array != NULL ? ((const size_t*)array)[-1] : 0;
}

// Makes room for `count` items of `size` bytes in *array, keeping the first `keep` items. New memory is zero.
// TRIBO_NOMEM leaves everything as it was.
TriboStatus tribo_reserve(void** array, size_t count, size_t size, size_t keep);

// How often any array of this thread has grown. Differences tell what a stage did.
uint64_t tribo_growth_count(void);

// The usual case, that there is room, costs no call.
static inline TriboStatus tribo_room(void** array, size_t count, size_t size, size_t keep) {
  return *array != NULL && count <= tribo_array_bytes(*array) / size ? TRIBO_OK
                                                                     : tribo_reserve(array, count, size, keep);
}

// `TRIBO_RESERVE(&data->rows, n)`; type-safe in the size, old content is not kept.
#define TRIBO_RESERVE(array, count) tribo_room((void**)(array), (size_t)(count), sizeof **(array), 0)

// The same, keeping `used` items: for arrays that are appended to.
#define TRIBO_APPEND(array, used, more) \
  tribo_room((void**)(array), (size_t)(used) + (size_t)(more), sizeof **(array), (size_t)(used))

// Calls into Coal, and into a sparse library for a pattern it has not seen, allocate: they say so around themselves.
// Returns the owner to go back to.
TriboHeapOwner tribo_heap_enter(TriboHeapOwner owner);
void tribo_heap_leave(TriboHeapOwner before);
