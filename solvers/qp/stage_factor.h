// The factor of a matrix by stages, M = blockdiag(H_k) + diagonal + Aᵀ W A, symmetric and positive definite.
//
// Stage k is coupled with the states of stage k+1 alone, so M is block tridiagonal and its Cholesky factor has no more
// blocks than it has. Stage by stage, from the first to the last: the panel
//
//     [ M_k  · ]   =   [ L_k     ] [ L_k     ]ᵀ + [ 0  0 ]
//     [ C_k  · ]       [ B_k     ] [ B_k     ]    [ 0  · ]      with B_k = C_k L_k⁻ᵀ,
//
// leaves −B_k B_kᵀ on the next stage's states: n_z³/3 + n_z² n_s + n_z n_s² multiplications a stage, linear in the
// horizon.
//
// Stiff rows. A row that holds has a weight w of 1e12 and more. Added to M it would drown what little curvature is left
// along it: the subtraction above would leave noise of the size ε w. So such rows are not added. They are stacked under
// the factor's rows, √w aᵀ under [L_kᵀ B_kᵀ], and Householder reflections make one triangle of all, which squares
// nothing: the noise is ε √w. What the reflections leave on the next stage's states, a triangle again, is stacked
// there.
#pragma once

#include "stage_qp.h"

typedef struct TriboStageFactor {
  const TriboStageShape* shape;
  size_t* panel_at;  // (nstage + 1) where a stage's panel begins, column-major, nz columns of height nz + next ns
  double* panel;
  double *rows, **row;  // the stack of one stage, row by row, and its rows in the order of elimination
  double* carry;        // (ns × ns) the triangle left on the next states
  int *active, ncarry;  // (rows) those that a reflection changes
  double* sum;          // (widest) their weighted sum
} TriboStageFactor;

TriboStatus tribo_sol_stage_factor_create(const TriboStageShape* shape, TriboStageFactor* out);
void tribo_sol_stage_factor_destroy(TriboStageFactor* f);

// Assembles and factorises. 0, or 1 + the stage whose pivot is not positive.
int tribo_sol_stage_factor_run(TriboStageFactor* f, const double* hess, const double* diagonal, const double* jac,
                               const double* weight);
void tribo_sol_stage_factor_solve(const TriboStageFactor* f, double* x);
