// Solvers: the contact problem in, impulses out. The interface is public: <tribo/solver.h>. This header adds what only
// the engine itself needs.
#pragma once

#include <tribo/solver.h>

// Names and versions of the linear algebra in use ("OpenBLAS 0.3.21"), for `tribo version`.
const char* tribo_la_version(void);

// tribo_solver_solve for a problem that the engine has built itself, whose sizes, order and signs need no proof: only
// that g is finite is asked. No clock is read without a time budget, and stats->time stays 0: a step has its own.
// stats->natmap_unit is 0 where the solver does not need it.
TRIBO_NODISCARD TriboStatus tribo_solver_solve_built(TriboSolver* solver, const TriboProblem* problem,
                                                     const TriboWarmStart* warm, double* lambda,
                                                     TriboSolveStats* stats);
// The same for the problem of this solver's last call with another g: what was made of it, factors too, is used again.
TRIBO_NODISCARD TriboStatus tribo_solver_solve_again(TriboSolver* solver, const TriboProblem* problem,
                                                     const TriboWarmStart* warm, double* lambda,
                                                     TriboSolveStats* stats);
