// Scratch vectors of one solve (scratch.h).
#include "scratch.h"

#include "memory.h"

static TriboStatus reserve_slab(TriboScratch* p, size_t slab) {
  if (slab >= TRIBO_SLABS) {
    return tribo_fail(TRIBO_INTERNAL, "tribo_sol_scratch_take: more than %d scratch vectors in one solve",
                      TRIBO_SLABS * TRIBO_SLAB_VECTORS);
  }
  return TRIBO_RESERVE(&p->slab[slab], TRIBO_SLAB_VECTORS * p->n);
}

TriboStatus tribo_sol_scratch_begin(TriboScratch* p, size_t n) {
  p->n = n;
  p->used = 0;
  p->status = reserve_slab(p, 0);
  return p->status;
}

void tribo_sol_scratch_free(TriboScratch* p) {
  for (int i = 0; i < TRIBO_SLABS; ++i) {
    tribo_free(p->slab[i]);
  }
}

double* tribo_sol_scratch_take(TriboScratch* p) {
  const size_t slab = p->used / TRIBO_SLAB_VECTORS, place = p->used % TRIBO_SLAB_VECTORS;
  p->used++;
  if (p->status == TRIBO_OK && slab > 0) {
    p->status = reserve_slab(p, slab);
  }
  return p->status == TRIBO_OK ? p->slab[slab] + place * p->n : p->slab[0];
}
