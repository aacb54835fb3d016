// SplitMix64: small, seeded, the same numbers on every machine.
#pragma once

#include <stdint.h>

typedef struct TriboRandom {
  uint64_t state;
} TriboRandom;

static inline uint64_t tribo_random_bits(TriboRandom* r) {
  uint64_t z = (r->state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

// Uniform in [lo, hi).
static inline double tribo_random(TriboRandom* r, double lo, double hi) {
  return lo + (hi - lo) * (double)(tribo_random_bits(r) >> 11) * 0x1p-53;
}
