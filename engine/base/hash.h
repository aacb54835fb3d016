// FNV-1a over bytes: state hashes, pattern hashes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TRIBO_HASH_START UINT64_C(14695981039346656037)

static inline uint64_t tribo_hash(uint64_t hash, const void* bytes, size_t count) {
  const unsigned char* p = bytes;
  for (size_t i = 0; i < count; ++i) {
    hash = (hash ^ p[i]) * UINT64_C(1099511628211);
  }
  return hash;
}
