// Wall clock for stage timers and budgets.
#pragma once

#include <time.h>

static inline double tribo_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
