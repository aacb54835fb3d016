// Directions in common. Faces that lie on each other are parallel to rounding only, and 1e-10 rad times a sliding speed
// is a normal velocity, in which the many supports of one body contradict each other. Normals that are equal to 2⁻²⁸
// are therefore taken to be one: the first of them. Others keep every digit.
#include <math.h>
#include <string.h>

#include "rows/rows.h"
#include "math3.h"
#include "memory.h"

static const double GRID = 1 << 28;

TriboStatus tribo_dyn_directions_begin(Directions* d, int most) {
  int size = 16;
  while (size < 2 * most) {
    size *= 2;
  }
  TRIBO_TRY(TRIBO_RESERVE(&d->slot, (size_t)size));
  TRIBO_TRY(TRIBO_RESERVE(&d->normal, 3 * (size_t)most));
  memset(d->slot, 0, (size_t)size * sizeof *d->slot);
  d->size = size;
  d->count = 0;
  d->last = NULL;
  return TRIBO_OK;
}

// Where a cell is, or would be, in the table. (Slots hold 1 + the number of a direction, 0 for none.)
static int start_of(const Directions* d, const int64_t cell[3]) {
  uint64_t hash = 0;
  for (int i = 0; i < 3; ++i) {
    hash = (hash ^ (uint64_t)cell[i]) * UINT64_C(0x9E3779B97F4A7C15);
  }
  return (int)(hash >> 32) & (d->size - 1);
}

// A direction near n among those that were put into a cell; *at: where the search ended.
static const double* near_in(const Directions* d, const int64_t cell[3], const double n[3], int* at) {
  for (*at = start_of(d, cell); d->slot[*at] > 0; *at = (*at + 1) & (d->size - 1)) {
    const double* known = d->normal + (ptrdiff_t)3 * (d->slot[*at] - 1);
    const double away = fmax(fabs(n[0] - known[0]), fmax(fabs(n[1] - known[1]), fabs(n[2] - known[2])));
    if (away <= 0.5 / GRID) {
      return known;
    }
  }
  return NULL;
}

const double* tribo_dyn_directions_find(Directions* d, const double n[3]) {
  // the points of a face come one after the other
  if (d->last != NULL && tribo_equal(d->asked, n, 3)) {
    return d->last;
  }
  int64_t own[3], side[3];
  for (int i = 0; i < 3; ++i) {
    own[i] = (int64_t)floor(n[i] * GRID);
    side[i] = n[i] * GRID - (double)own[i] < 0.5 ? -1 : 1;
  }
  int home, at;
  const double* known = near_in(d, own, n, &home);
  if (d->count > 0) {
    for (int corner = 1; corner < 8 && known == NULL; ++corner) {
      const int64_t cell[3] = {own[0] + (corner & 1) * side[0], own[1] + (corner >> 1 & 1) * side[1],
                               own[2] + (corner >> 2) * side[2]};
      known = near_in(d, cell, n, &at);
    }
  }
  if (known == NULL) {
    double* fresh = d->normal + (ptrdiff_t)3 * d->count;
    tribo_copy3(fresh, n);
    d->slot[home] = ++d->count;
    known = fresh;
  }
  tribo_copy3(d->asked, n);
  d->last = known;
  return known;
}

void tribo_dyn_directions_free(Directions* d) {
  tribo_free(d->slot);
  tribo_free(d->normal);
}
