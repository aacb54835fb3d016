// A pool: many small allocations that live and die together (the strings and arrays of a scene or a model).
// And a map from names to ids on top of it.
#pragma once

#include "memory.h"

typedef struct TriboPool {
  struct TriboPoolBlock* blocks;
  size_t bytes;  // handed out so far
} TriboPool;     // start with {0}

void* tribo_pool_alloc(TriboPool* pool, size_t count, size_t size);  // zero-filled; NULL: no memory
void* tribo_pool_copy(TriboPool* pool, const void* from, size_t count, size_t size);
// A copy of a list of names, some of which may be NULL.
const char* const* tribo_pool_names(TriboPool* pool, const char* const* names, int count);
char* tribo_pool_strdup(TriboPool* pool, const char* text);  // NULL for NULL
char* tribo_pool_format(TriboPool* pool, const char* format, ...) TRIBO_PRINTF(2, 3);
void tribo_pool_clear(TriboPool* pool);

// Names are not copied: they must live as long as the map.
typedef struct TriboNames {
  struct TriboNameSlot* slots;
  size_t capacity;  // power of two, or 0
  size_t used;
} TriboNames;  // start with {0}

int tribo_names_find(const TriboNames* names, const char* name);             // −1: not there
TriboStatus tribo_names_add(TriboNames* names, const char* name, int id);    // the caller has checked that it is new
const char* tribo_names_nearest(const TriboNames* names, const char* name);  // NULL: nothing is near
void tribo_names_clear(TriboNames* names);
