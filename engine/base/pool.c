// Pools as lists of blocks, and names as an open hash table on top of them.
#include "pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "settings.h"

enum { BLOCK = 1 << 16, UNIT = 16, FIRST_SLOTS = 64 };

typedef struct TriboPoolBlock {
  struct TriboPoolBlock* next;
  size_t used, size;
  _Alignas(UNIT) char memory[];
} TriboPoolBlock;

void* tribo_pool_alloc(TriboPool* pool, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
    return NULL;
  }
  bytes = (bytes + UNIT) / UNIT * UNIT;
  TriboPoolBlock* block = pool->blocks;
  if (block == NULL || block->size - block->used < bytes) {
    size_t room = bytes > BLOCK ? bytes : BLOCK;
    block = tribo_alloc(1, sizeof *block + room);
    if (block == NULL) {
      return NULL;
    }
    block->size = room;
    block->next = pool->blocks;
    pool->blocks = block;
  }
  void* memory = block->memory + block->used;
  block->used += bytes;
  pool->bytes += bytes;
  return memory;
}

void* tribo_pool_copy(TriboPool* pool, const void* from, size_t count, size_t size) {
  void* copy = tribo_pool_alloc(pool, count, size);
  if (copy != NULL && count > 0) {
    memcpy(copy, from, count * size);
  }
  return copy;
}

char* tribo_pool_strdup(TriboPool* pool, const char* text) {
  return text == NULL ? NULL : tribo_pool_copy(pool, text, strlen(text) + 1, 1);
}

char* tribo_pool_format(TriboPool* pool, const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return tribo_pool_strdup(pool, text);
}

void tribo_pool_clear(TriboPool* pool) {
  for (TriboPoolBlock* block = pool->blocks; block != NULL;) {
    TriboPoolBlock* next = block->next;
    tribo_free(block);
    block = next;
  }
  pool->blocks = NULL;
  pool->bytes = 0;
}

// ---- names: open addressing, linear probing, at most half full

struct TriboNameSlot {
  const char* name;
  int id;
};

static size_t slot_of(const TriboNames* names, const char* name) {
  size_t i = tribo_hash(TRIBO_HASH_START, name, strlen(name)) & (names->capacity - 1);
  while (names->slots[i].name != NULL && strcmp(names->slots[i].name, name) != 0) {
    i = (i + 1) & (names->capacity - 1);
  }
  return i;
}

int tribo_names_find(const TriboNames* names, const char* name) {
  if (names->capacity == 0) {
    return -1;
  }
  const struct TriboNameSlot* slot = &names->slots[slot_of(names, name)];
  return slot->name == NULL ? -1 : slot->id;
}

static TriboStatus grow(TriboNames* names) {
  TriboNames larger = {.capacity = names->capacity == 0 ? FIRST_SLOTS : 2 * names->capacity};
  larger.slots = tribo_alloc(larger.capacity, sizeof *larger.slots);
  if (larger.slots == NULL) {
    return tribo_no_memory("for %zu names", larger.capacity);
  }
  for (size_t i = 0; i < names->capacity; ++i) {
    if (names->slots[i].name != NULL) {
      larger.slots[slot_of(&larger, names->slots[i].name)] = names->slots[i];
    }
  }
  larger.used = names->used;
  tribo_free(names->slots);
  *names = larger;
  return TRIBO_OK;
}

TriboStatus tribo_names_add(TriboNames* names, const char* name, int id) {
  if (2 * (names->used + 1) > names->capacity) {
    TRIBO_TRY(grow(names));
  }
  struct TriboNameSlot* slot = &names->slots[slot_of(names, name)];
  slot->name = name;
  slot->id = id;
  names->used++;
  return TRIBO_OK;
}

const char* tribo_names_nearest(const TriboNames* names, const char* name) {
  // the nearest of all, the first in id order among equals, so that the hint does not depend on the hash
  const char* best = NULL;
  int best_id = -1;
  for (size_t i = 0; i < names->capacity; ++i) {
    const char* candidate = names->slots[i].name;
    if (candidate == NULL) {
      continue;
    }
    const char* both[2] = {best, candidate};
    const char* near = best == NULL                   ? tribo_nearest_word(name, &candidate, 1)
                       : best_id < names->slots[i].id ? tribo_nearest_word(name, both, 2)
                                                      : tribo_nearest_word(name, (const char*[]){candidate, best}, 2);
    if (near == candidate) {
      best = candidate;
      best_id = names->slots[i].id;
    }
  }
  return best;
}

void tribo_names_clear(TriboNames* names) {
  tribo_free(names->slots);
  memset(names, 0, sizeof *names);
}

const char* const* tribo_pool_names(TriboPool* pool, const char* const* names, int count) {
  const char** copy = tribo_pool_alloc(pool, (size_t)count, sizeof *copy);
  if (copy != NULL) {
    for (int i = 0; i < count; ++i) {
      copy[i] = tribo_pool_strdup(pool, names[i]);
      if (names[i] != NULL && copy[i] == NULL) {
        return NULL;
      }
    }
  }
  return copy;
}
