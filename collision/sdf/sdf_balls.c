// The tree of balls over the samples of a cloud, by which those far from another field are skipped; and the cells of
// what has none of its own.
#include <stdlib.h>

#include "memory.h"
#include "sdf_field.h"

// So many samples share the last balls.
enum { LEAF = 16 };

static int along(const SdfSample* x, const SdfSample* y, int axis) {
  return (x->x[axis] > y->x[axis]) - (x->x[axis] < y->x[axis]);
}
static int by_x(const void* x, const void* y) {
  return along(x, y, 0);
}
static int by_y(const void* x, const void* y) {
  return along(x, y, 1);
}
static int by_z(const void* x, const void* y) {
  return along(x, y, 2);
}

// The longest side of the box of some samples; sorts them along it.
static double sort_longest(SdfSample* samples, int count) {
  static int (*const order[3])(const void*, const void*) = {by_x, by_y, by_z};
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  int axis = 0;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      low[k] = fmin(low[k], samples[i].x[k]);
      high[k] = fmax(high[k], samples[i].x[k]);
    }
  }
  for (int k = 1; k < 3; ++k) {
    axis = high[k] - low[k] > high[axis] - low[axis] ? k : axis;
  }
  qsort(samples, (size_t)count, sizeof *samples, order[axis]);
  return high[axis] - low[axis];
}

// Samples without a cell, cut in two again and again until there are enough cells.
static void cut_cells(TriboSdf* sdf, SdfSample* samples, int count, int cells) {
  if (count == 0) {
    return;
  }
  if (cells <= 1 || count == 1) {
    for (int i = 0; i < count; ++i) {
      samples[i].cell = sdf->ncell;
    }
    sdf->ncell++;
    return;
  }
  sort_longest(samples, count);
  cut_cells(sdf, samples, count / 2, cells / 2);
  cut_cells(sdf, samples + count / 2, count - count / 2, cells - cells / 2);
}

// Those with a cell first.
static int part_with_cells(SdfSample* samples, int count) {
  int n = 0;
  for (int i = 0; i < count; ++i) {
    if (samples[i].cell >= 0) {
      const SdfSample s = samples[i];
      samples[i] = samples[n];
      samples[n++] = s;
    }
  }
  return n;
}

// The ball of some samples, and those of their halves below it.
static void add_ball(TriboSdf* sdf, int first, int last) {
  const int index = sdf->nball++;
  SdfBall* ball = &sdf->balls[index];
  SdfSample* samples = sdf->samples + first;
  const int count = last - first;
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  if (count > LEAF) {
    sort_longest(samples, count);
  }
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < 3; ++k) {
      low[k] = fmin(low[k], samples[i].x[k]);
      high[k] = fmax(high[k], samples[i].x[k]);
    }
  }
  *ball = (SdfBall){.first = first, .last = last};
  for (int k = 0; k < 3; ++k) {
    ball->centre[k] = 0.5 * (low[k] + high[k]);
  }
  for (int i = 0; i < count; ++i) {
    double d[3];
    tribo_sub3(d, samples[i].x, ball->centre);
    // (a sample may slide by half its spacing)
    const double slide = samples[i].slide == SDF_STAYS ? 0 : 0.71 * samples[i].spacing;
    ball->radius = fmax(ball->radius, tribo_norm3(d) + samples[i].radius + slide);
  }
  if (count > LEAF) {
    add_ball(sdf, first, first + count / 2);
    add_ball(sdf, first + count / 2, last);
  }
  sdf->balls[index].skip = sdf->nball;
}

TriboStatus tribo_col_sdf_fill_balls(TriboSdf* sdf) {
  const int own = part_with_cells(sdf->samples, sdf->nsample);
  cut_cells(sdf, sdf->samples + own, sdf->nsample - own, sdf->contacts / 2);
  sdf->balls = tribo_alloc((size_t)(2 * sdf->nsample + 1), sizeof *sdf->balls);
  if (sdf->balls == NULL) {
    return tribo_no_memory("for %d samples", sdf->nsample);
  }
  // those with cells of their own are close to each other
  if (own > 0) {
    add_ball(sdf, 0, own);
  }
  if (own < sdf->nsample) {
    add_ball(sdf, own, sdf->nsample);
  }
  return TRIBO_OK;
}
