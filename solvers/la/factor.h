// What the symbolic half (analyse.c) lays out and the numeric half (factor.c) fills.
#pragma once

#include "la.h"

// A front: p unknowns eliminated together, coupled to r later ones.
// Its panel in `value`: L (p + r) × p, column-major, then U p × r, column-major.
typedef struct TriboFront {
  int var;  // first eliminated unknown, in elimination order
  int p, r;
  int columns;   // that were merged into it,
  double plain;  // and their operations one by one
  int nchild;    // fronts whose updates end here: the last ones still on the stack
  size_t at;     // panel in value
  size_t index;  // (r) the later unknowns in index, and their rows in the parent front in local
} TriboFront;

typedef struct TriboEdgeSlots {
  TriboSlot ij, ji;
  int ij_is_lower;
} TriboEdgeSlots;

struct TriboFactor {
  // the graph as it was analysed
  int nnode, nedge;
  int* node_dim;
  int* edge;

  // the order: node order[k] is eliminated as the k-th; its unknowns start at var[node], in the caller's at start[node]
  int n;
  int *order, *place, *var, *start;

  int nfront;
  TriboFront* front;
  int *index, *local;
  TriboSlot* diagonal;
  TriboEdgeSlots* slot;
  double flops;

  // numbers
  size_t nvalue;
  double *value, *stack, *work;  // work: (2n) permuted vector, gathered vector
  int* pivot;                    // (n)
  int* live;                     // (nfront) fronts whose update is on the stack
  int symmetric;

  // scratch of the analysis
  int* scratch;
  int* rows;      // column structures, by node in elimination order
  size_t* first;  // (nnode + 1) into rows
};
