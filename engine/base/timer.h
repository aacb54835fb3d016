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

// Seconds of ticks. The clock says now and then how long a tick is; in between nobody has to ask it.
typedef struct TriboTickRate {
  double time;      // [s] when it was asked last
  uint64_t tick;    // and at which tick; 0: never
  double per_tick;  // [s]
  int rest;         // spans until it is asked again
} TriboTickRate;

// Asks the clock, unless somebody else has had the processor meanwhile: then the next span does.
static inline void tribo_tick_ask(TriboTickRate* rate) {
  enum { SPANS = 64, BRIEF = 1000 };
  const uint64_t before = tribo_tick();
  const double now = tribo_now();
  const uint64_t after = tribo_tick();
  const int first = rate->tick == 0, brief = after - before < (after - rate->tick) / BRIEF;
  if (!first && (brief || rate->per_tick == 0)) {
    rate->per_tick = (now - rate->time) / (double)(after - rate->tick);
  }
  if (first || brief) {
    rate->time = now;
    rate->tick = after;
    rate->rest = first ? 0 : SPANS;
  }
}

// Length of a span of ticks that ends now.
static inline double tribo_tick_seconds(TriboTickRate* rate, uint64_t first, uint64_t last) {
  if (rate->rest-- <= 0) {
    tribo_tick_ask(rate);
  }
  return rate->per_tick * (double)(last - first);
}
