// The wall's clock and the processor's: of a short span the first is exact, of a long one the second does not count
// what others do on the machine. What a step took is the smaller difference.
#pragma once

#include <math.h>
#include <time.h>

typedef struct Clock {
  double wall, processor;
} Clock;

static inline double read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline Clock start_clock(void) {
  const double processor = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  return (Clock){read_clock(CLOCK_MONOTONIC), processor};
}

static inline double stop_clock(Clock begin) {
  const double wall = read_clock(CLOCK_MONOTONIC) - begin.wall;
  return fmin(wall, read_clock(CLOCK_PROCESS_CPUTIME_ID) - begin.processor);
}
