// The progress of a solve, which all methods share: scores of points, the best of them, the budget, the work of each
// stage.
#pragma once

#include "solver_impl.h"

// A scratch vector of n doubles. A function remembers s->scratch.used on entry and puts it back on leaving.
static inline double* tribo_sol_take(TriboSolver* s) {
  return tribo_sol_scratch_take(&s->scratch);
}

// u = W x + q
void tribo_sol_velocity(const TriboSolver* s, const double* x, double* u);

// The score of x with u = W x + q.
TriboScore tribo_sol_score_point(const TriboSolver* s, const double* x, const double* u);
// The same; also remembers x when it is the best point so far, and tells the history.
TriboScore tribo_sol_record(TriboSolver* s, const double* x, const double* u);
// The larger of natmap_unit and ‖x − AC(x − u)‖ / max(‖q‖, ‖x‖, ‖u‖); notes x.
double tribo_sol_residual(TriboSolver* s, const double* x, const double* u);
// Do the impulses of the warm start score better than the best point so far? Notes them.
int tribo_sol_warm_is_better(TriboSolver* s);

// Is the best point within the tolerances?
int tribo_sol_done(const TriboSolver* s);
// Done, out of time, of iterations, of effort or of scratch vectors.
int tribo_sol_stop(TriboSolver* s);
// What a solve may spend where no one says: so many factorisations with all rows, each with ten products.
void tribo_sol_bound_effort(TriboSolver* s, double factorisations);

// Begins a stage: iterations and factorisations from here on are charged to it.
void tribo_sol_enter_stage(TriboSolver* s, TriboRung rung);
// Charges the stage at work with what has been done since it began.
void tribo_sol_charge_stage(TriboSolver* s);
