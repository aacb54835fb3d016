// Directions in common. Faces that lie on each other are parallel to rounding only, and 1e-10 rad times a sliding speed
// is a normal velocity, in which the many supports of one body contradict each other. Normals that are equal to 2⁻²⁸
// are therefore taken to be one: the first of them. Others keep every digit.
#include <math.h>
#include <string.h>

#include "hash.h"
#include "internal.h"
#include "math3.h"
#include "memory.h"

static const double GRID = 1 << 28;

TriboStatus tribo_dyn_directions_begin(Directions* d, int most) {
  int size = 16;
  while (size < 2 * most) {
    size *= 2;
  }
  TRIBO_TRY(TRIBO_RESERVE(&d->slot, &d->slot_capacity, (size_t)size));
  TRIBO_TRY(TRIBO_RESERVE(&d->normal, &d->normal_capacity, 3 * (size_t)most));
  memset(d->slot, 0, (size_t)size * sizeof *d->slot);
  d->size = size;
  d->count = 0;
  return TRIBO_OK;
}

static void round_to_grid(const double n[3], int64_t key[3]) {
  for (int i = 0; i < 3; ++i) {
    key[i] = llrint(n[i] * GRID);
  }
}

const double* tribo_dyn_directions_find(Directions* d, const double n[3]) {
  int64_t key[3], other[3];
  round_to_grid(n, key);
  // slots hold 1 + the number of a direction, 0 for none
  int at = (int)(tribo_hash(TRIBO_HASH_START, key, sizeof key) & (uint64_t)(d->size - 1));
  for (; d->slot[at] > 0; at = (at + 1) & (d->size - 1)) {
    const double* known = d->normal + (ptrdiff_t)3 * (d->slot[at] - 1);
    round_to_grid(known, other);
    if (memcmp(key, other, sizeof key) == 0) {
      return known;
    }
  }
  double* fresh = d->normal + (ptrdiff_t)3 * d->count;
  tribo_copy3(fresh, n);
  d->slot[at] = ++d->count;
  return fresh;
}

void tribo_dyn_directions_free(Directions* d) {
  tribo_free(d->slot);
  tribo_free(d->normal);
}
