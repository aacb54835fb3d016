// Wall clock for budgets and whole steps; ticks for the stages of a step.
#pragma once

#include <stdint.h>
#include <time.h>

static inline double tribo_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Ticks of a constant rate that nobody needs to know: they say how a time that is measured anyway is shared out.
// Reading the clock costs several times as much, and a small step would spend a quarter of its time on it.
static inline uint64_t tribo_tick(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return (uint64_t)(1e9 * tribo_now());
#endif
}
