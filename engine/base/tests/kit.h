// What every test file starts with: cmocka, comparisons of doubles that print both values, a seeded random source.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <tribo/base.h>

#include "random.h"

// |a − b| ≤ tol, NaN fails.
#define CHECK_NEAR(a, b, tol)                                                                                \
  do {                                                                                                       \
    double a_ = (a), b_ = (b), tol_ = (tol);                                                                 \
    if (!(fabs(a_ - b_) <= tol_)) {                                                                          \
      print_error("%s = %.17g, expected %s = %.17g within %g (off by %g)\n", #a, a_, #b, b_, tol_, a_ - b_); \
      fail();                                                                                                \
    }                                                                                                        \
  } while (0)

// a ≤ b, NaN fails.
#define CHECK_LE(a, b)                                                 \
  do {                                                                 \
    double a_ = (a), b_ = (b);                                         \
    if (!(a_ <= b_)) {                                                 \
      print_error("%s = %.17g is above %s = %.17g\n", #a, a_, #b, b_); \
      fail();                                                          \
    }                                                                  \
  } while (0)

#define CHECK_OK(call)                                                                    \
  do {                                                                                    \
    TriboStatus status_ = (call);                                                         \
    if (status_ != TRIBO_OK) {                                                            \
      print_error("%s: %s: %s\n", #call, tribo_status_name(status_), tribo_last_error()); \
      fail();                                                                             \
    }                                                                                     \
  } while (0)

// The call fails with this status and its message holds this text.
#define CHECK_FAILS(call, expected, text)                                                                             \
  do {                                                                                                                \
    TriboStatus status_ = (call);                                                                                     \
    if (status_ != (expected) || strstr(tribo_last_error(), (text)) == NULL) {                                        \
      print_error("%s: %s: \"%s\", expected %s with \"%s\"\n", #call, tribo_status_name(status_), tribo_last_error(), \
                  tribo_status_name(expected), (text));                                                               \
      fail();                                                                                                         \
    }                                                                                                                 \
  } while (0)

typedef TriboRandom KitRandom;
static inline uint64_t kit_bits(KitRandom* r) {
  return tribo_random_bits(r);
}
static inline double kit_uniform(KitRandom* r, double lo, double hi) {
  return tribo_random(r, lo, hi);
}
static inline int kit_int(KitRandom* r, int count) {
  return (int)(kit_bits(r) % (uint64_t)count);
}
static inline double kit_normal(KitRandom* r) {
  double u = kit_uniform(r, 1e-300, 1), v = kit_uniform(r, 0, 6.283185307179586);
  return sqrt(-2 * log(u)) * cos(v);
}
// A uniformly random rotation as unit quaternion (x, y, z, w).
static inline void kit_rotation(KitRandom* r, double q[4]) {
  double n = 0;
  for (int i = 0; i < 4; ++i) {
    q[i] = kit_normal(r);
    n += q[i] * q[i];
  }
  for (int i = 0; i < 4; ++i) {
    q[i] /= sqrt(n);
  }
}
