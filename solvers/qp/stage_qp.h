// The convex problem inside a step of a plan: a quadratic, exact penalties of linear rows, a box around zero, all by
// stages.
//
//     min_p  g·p + ½ p·H p + Σ_i ( α_i max(r_i, 0) + β_i max(−r_i, 0) ),     r = A p + c,     |p_j| ≤ Δ
//
// A row that wants r = 0 has α = β = its penalty, one that wants r ≥ 0 has α = 0. The answer comes with the rows'
// multipliers y, −β ≤ y ≤ α, and both together prove themselves: see tribo_sol_stage_gap.
#pragma once

#include "status.h"

// Sizes and patterns. Stage k has the unknowns z_at[k] … z_at[k+1]−1, the first ns[k] of them states, and the rows
// row_at[k] … row_at[k+1]−1, which touch unknowns of stage k and states of stage k+1.
typedef struct TriboStageShape {
  int nstage;
  const int *z_at, *ns, *row_at;  // (nstage + 1), (nstage), (nstage + 1)
  const int *start, *col;         // (nrow + 1), (start[nrow]) columns count over all stages, increasing within a row
} TriboStageShape;

// One problem.
typedef struct TriboStageData {
  const double* hess;           // stage by stage nz × nz
  const double* grad;           // (n)
  const double* jac;            // A, in the order of col
  const double* c;              // (nrow)
  const double *above, *below;  // α, β (nrow) ≥ 0
  double radius;                // Δ
} TriboStageData;

typedef struct TriboStageStats {
  int iterations;
  int is_solved;          // the gap met the tolerance
  double gap, objective;  // bound on the objective's excess, and the objective, without the constant
} TriboStageStats;

typedef struct TriboStageQp TriboStageQp;
TriboStatus tribo_sol_stage_qp_create(const TriboStageShape* shape, TriboStageQp** out);  // keeps the shape's arrays
void tribo_sol_stage_qp_destroy(TriboStageQp* qp);

// p (n) and y (nrow) ← the answer, whose gap is at most tol·(1 + |objective|), or what it is off by rounding; unless
// the iterations run out or the gap stays where it is.
TriboStageStats tribo_sol_stage_qp_solve(TriboStageQp* qp, const TriboStageData* data, double tol, int max_iterations,
                                         double* p, double* y);

// objective(p) − dual objective(y) ≥ 0, from raw data: Σ_i φ_i(r_i) − y_i r_i + Σ_j Δ|d_j| + d_j p_j, d = g + H p +
// Aᵀy. `rounding` is what it can be off. work (n + nrow).
double tribo_sol_stage_gap(const TriboStageShape* shape, const TriboStageData* data, const double* p, const double* y,
                           double* work, double* objective, double* rounding);

// y += A x, and x += Aᵀ y
void tribo_sol_stage_add_a(const TriboStageShape* shape, const double* jac, const double* x, double* y);
void tribo_sol_stage_add_at(const TriboStageShape* shape, const double* jac, const double* y, double* x);
void tribo_sol_stage_add_h(const TriboStageShape* shape, const double* hess, const double* x, double* y);
