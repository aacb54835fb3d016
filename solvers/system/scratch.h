// Scratch vectors of one solve, taken and released like a stack.
//
// A function remembers `used` on entry and puts it back on leaving. Vectors lie in slabs; a slab is reserved when its
// first vector is wanted and kept for the solves to come, so a vector never moves while it is in use. Where no vector
// can be had, `status` says so from then on and every further call gives the first vector again: the solve goes on
// without harm to memory, ends when it next asks for its budget, and returns that status.
#pragma once

#include "status.h"

enum { TRIBO_SLAB_VECTORS = 72, TRIBO_SLABS = 16 };

typedef struct TriboScratch {
  double* slab[TRIBO_SLABS];  // TRIBO_SLAB_VECTORS vectors each; NULL: not wanted so far
  size_t n;                   // doubles of a vector
  size_t used;                // vectors taken
  TriboStatus status;         // TRIBO_OK, or why a vector could not be had
} TriboScratch;

// Releases all vectors; those taken from here on have n doubles. Makes the first slab.
TriboStatus tribo_sol_scratch_begin(TriboScratch* scratch, size_t n);
void tribo_sol_scratch_free(TriboScratch* scratch);
// A vector of n doubles with any content.
double* tribo_sol_scratch_take(TriboScratch* scratch);
