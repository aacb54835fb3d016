// Linear algebra: the only door to BLAS, LAPACK and SuiteSparse, always on one thread.
//
// Two layers. Dense factorisations, column-major, own loops for small matrices and LAPACK above. And a sparse direct
// solver for matrices made of dense blocks on a graph (bodies and what couples them): multifrontal LU or Cholesky,
// ordered once per graph by approximate minimum degree. A dense matrix is its case of one front.
#pragma once

#include "status.h"

// Pins BLAS to one thread and checks that it took. More threads would change the bits of results.
TriboStatus tribo_la_init(void);
const char* tribo_la_version(void);

// ---- dense, column-major with leading dimension ld ----

// A = L Lᵀ in the lower triangle, the upper one is not read. 0, or 1 + the column whose pivot is not positive.
int tribo_la_cholesky(int n, double* A, int ld);
void tribo_la_cholesky_solve(int n, const double* L, int ld, double* x);

// P A = L U with partial pivoting; pivot[i] is the row exchanged with row i. 0, or 1 + the first column without pivot.
int tribo_la_lu(int n, double* A, int ld, int* pivot);
void tribo_la_lu_solve(int n, const double* LU, int ld, const int* pivot, double* x);

// ---- blocks on a graph ----

// Nodes 0 … nnode−1 of node_dim[i] unknowns each; edge e couples edge[2e] and edge[2e+1], each pair at most once.
typedef struct TriboGraph {
  int nnode, nedge;
  const int* node_dim;  // (nnode)
  const int* edge;      // (2 nedge)
} TriboGraph;

// Where a block lies in the factor's value array: entry (r, c) at value[at + r + c·ld].
typedef struct TriboSlot {
  size_t at;
  int ld;
} TriboSlot;

typedef struct TriboFactor TriboFactor;

TriboStatus tribo_la_factor_create(TriboFactor** out);
void tribo_la_factor_destroy(TriboFactor* f);

// Chooses the elimination order and lays out the fronts. Costs nothing when the graph is that of the last call.
// Takes memory only when the graph has changed.
TriboStatus tribo_la_factor_analyse(TriboFactor* f, const TriboGraph* graph);
// One dense block of n unknowns, slot 0.
TriboStatus tribo_la_factor_analyse_dense(TriboFactor* f, int n);
double tribo_la_factor_flops(const TriboFactor* f);    // of one LU
size_t tribo_la_factor_entries(const TriboFactor* f);  // of both triangles; a solve takes two operations for each

// Slots of the blocks (i,i), and for edge e of the blocks (edge[2e], edge[2e+1]) and (edge[2e+1], edge[2e]).
// A symmetric matrix is given by its diagonal blocks and of each edge the block whose `lower` is not 0.
TriboSlot tribo_la_factor_diagonal(const TriboFactor* f, int node);
void tribo_la_factor_edge(const TriboFactor* f, int e, TriboSlot* ij, TriboSlot* ji, int* ij_is_lower);

// Sets all entries to zero and gives the array to add into; then factorises. 0, or 1 when a pivot broke down.
double* tribo_la_factor_begin(TriboFactor* f);
double* tribo_la_factor_values(TriboFactor* f);  // the same array as it is, for who writes every entry
int tribo_la_factor_run(TriboFactor* f, int symmetric);
// x: right-hand side in, solution out, in the order of nodes.
void tribo_la_factor_solve(TriboFactor* f, double* x);
