// The central path of the contact problem, and Newton's equations on it.
//
// Lorentz coordinates of a round cone: X = (x_f, μ x_N), Z = (ŝ_f, ŝ_N/μ), ŝ = u + Γ(u): both live in ‖·_f‖ ≤ ·_N and
// X·Z = x·ŝ. Γ leaves the friction rows alone, so with T = diag(1, 1/μ) a point of the path has
//
//     r = T (W T X + q) + ‖Z_f‖ e_N − Z = 0,      X ∘ Z = τ e.
//
// Newton with Nesterov and Todd's scaling G (G X = G⁻¹ Z = l), d the right-hand side of the scaled complementarity:
//
//     dZ = G d − G² dX,      (T W T + Q G²) dX = −r + Q G d,      Q = I − e_N t_Zᵀ.
//
// Rows with bounds have one multiplier per finite bound; bilateral rows none. In scaled coordinates Q G² becomes
// C = T⁻¹ Q G² T⁻¹ beside W.
#pragma once

#include <math.h>

#include "progress.h"

// A point of the interior, or a direction there.
typedef struct TriboPrimalDual {
  double* x;   // (n) round: X; bounded rows: x
  double* z;   // (n) round: Z; bounded rows: multiplier of lo
  double* zu;  // (n) bounded rows: multiplier of hi
} TriboPrimalDual;

typedef struct TriboCentral {
  TriboSolver* s;
  int degree;            // complementary pairs
  TriboPrimalDual at;    // the present point
  TriboPrimalDual step;  // the last direction
  double* r;             // (n) residual in X's coordinates, by linearise
  // of the linearisation
  double *w, *l, *t;  // (n) scaling direction, scaled point, t_Z with the scale η in its normal slot
  double *d, *du;     // (n) scaled complementarity; bounded rows: of lo and of hi
  double* b;          // (n) right-hand side in scaled coordinates
} TriboCentral;

// Takes the vectors from the solver's pool, all zero, and counts the pairs.
void tribo_sol_central_begin(TriboSolver* s, TriboCentral* p);
TriboPrimalDual tribo_sol_take_primal_dual(TriboSolver* s);

// Residual, scalings and factors at the present point; 0, or 1 when there are none.
int tribo_sol_central_linearise(TriboCentral* p);
// d: complementarity `target`, less `kept` of what is there, less `second` of the last step's second-order term.
void tribo_sol_central_set_target(TriboCentral* p, double target, double kept, double second);
// step: Newton's direction to d that changes the residual by −fraction·r.
void tribo_sol_central_direction(TriboCentral* p, const double* r, double fraction);
// The longest part of the step that stays inside.
double tribo_sol_central_max_step(const TriboCentral* p);
// Moves by a part of the step.
void tribo_sol_central_move(TriboCentral* p, double part);
// Mean of the complementary products after a part of the step.
double tribo_sol_central_gap(const TriboCentral* p, double part);
// Inner product of two directions in the scaled metric, G dX and G⁻¹ dZ.
double tribo_sol_central_dot(const TriboCentral* p, const TriboPrimalDual* a, const TriboPrimalDual* b);
// The present impulses in scaled coordinates.
void tribo_sol_central_point(const TriboCentral* p, double* x);
// The same put onto the cones, as they would be returned.
void tribo_sol_central_answer(const TriboCentral* p, double* x);

// Predictor and corrector from the present point.
void tribo_sol_interior_from(TriboCentral* p, double fraction, int max_steps);
