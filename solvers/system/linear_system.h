// The one linear system all methods solve. Every cone c says how its unknowns y_c move its rows, x_c = B_c y_c, which
// rows must balance, E_cᵀ, and what stands beside W, C_c:
//
//     Eᵀ W B y + C y = Eᵀ b,     x = B y
//
// ADMM and the interior point have B = E = I; Newton's sliding contacts have fewer unknowns than rows and B ≠ E; an
// open contact has none. Solved in the size of the constraints, or with W = J M⁻¹ Jᵀ + R in the size of the motion:
//
//     Z = (C + Eᵀ R B)⁻¹,   (M + Jᵀ B Z Eᵀ J) v = Jᵀ B Z Eᵀ b,   y = Z Eᵀ (b − J v)
//
// whichever costs less. The second cancels digits where C is small; refinement brings them back.
#pragma once

#include "la.h"
#include "scaled.h"

typedef struct TriboLocal {
  int k;                                        // unknowns, 0 … dim
  int identity;                                 // B = E = I, k = dim; B and E are not read
  int symmetric;                                // B = E and C = Cᵀ
  double B[TRIBO_CONE_ROWS * TRIBO_CONE_ROWS];  // dim × k, entry (i,j) at 6 i + j
  double E[TRIBO_CONE_ROWS * TRIBO_CONE_ROWS];
  double C[TRIBO_CONE_ROWS * TRIBO_CONE_ROWS];  // k × k
} TriboLocal;

typedef enum TriboForm {
  TRIBO_FORM_CHEAPEST,
  TRIBO_FORM_DENSE,   // constraints, dense
  TRIBO_FORM_SPARSE,  // motion, or the sparse constraints of an explicit G
} TriboForm;

typedef struct TriboLinearSystem {
  TriboScaled* sc;
  TriboForm wanted, form;  // form: of the last factorisation
  TriboLocal* local;       // (ncone) filled by the method before each factorisation
  int all_identity;        // every cone has B = E = I since the last factorisation
  int factorisations;
  int generation;  // counts factorisations over all solves: which one the factors are of

  // dense form
  TriboFactor* dense;
  int* offset;  // (ncone + 1) first unknown of a cone

  // sparse form
  TriboFactor* sparse;
  int has_graph;
  int *key, nkey;  // the problem's pattern as it was when the graph was made
  int *edge, nedge;
  int* pair_edge;  // motion: edge of every pair of terms of a cone, in order; explicit: edge of every entry's block
  int *node_dim, *scratch;
  double* Z;         // (36 ncone)
  double* blockval;  // explicit: dense blocks of W, 36 per node, then 36 per edge

  double *y, *r, *dy, *x2, *wx, *v;  // vectors of a solve
  double* moved;                     // a term by the columns that it moves: scratch

} TriboLinearSystem;

TriboStatus tribo_sol_system_create(TriboLinearSystem* sys);
void tribo_sol_system_free(TriboLinearSystem* sys);

// Takes the memory and chooses the orderings for a problem; nothing is computed that may not be needed.
TriboStatus tribo_sol_system_begin(TriboLinearSystem* sys, TriboScaled* sc, TriboForm wanted);

// The part of it that depends on the pattern alone (pattern.c).
TriboStatus tribo_sol_system_graph(TriboLinearSystem* sys, const TriboScaled* sc);

// The form in the size of the motion (motion.c): 0 or 1 as below; y from the reduced right-hand side r.
int tribo_sol_motion_factor(TriboLinearSystem* sys, int symmetric);
void tribo_sol_motion_solve(TriboLinearSystem* sys, const double* r, double* y);

// Smallest diagonal of C that the form for `unknowns` unknowns bears.
double tribo_sol_system_least(const TriboLinearSystem* sys, int unknowns);

// Floating-point operations of one factorisation with all rows, a solve with it and ten products: what a step of a
// method may take.
double tribo_sol_system_effort(const TriboLinearSystem* sys);

// 0, or 1 when a pivot broke down.
int tribo_sol_system_factor(TriboLinearSystem* sys);
// The same for W + `shift` I over all rows of all cones, which sets their parts of the system.
int tribo_sol_system_factor_shifted(TriboLinearSystem* sys, double shift);
// x from b (both n), with at most `refine` steps of iterative refinement.
void tribo_sol_system_solve(TriboLinearSystem* sys, const double* b, double* x, int refine);
