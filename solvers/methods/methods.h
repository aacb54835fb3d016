// The methods: each starts from where it is told, notes every point worth keeping, and leaves when the solve is to
// stop.
#pragma once

#include "progress.h"

// ADMM from (y, z), both in and out; rho 0: chosen. `refactor`: how often rho may change.
typedef struct TriboAdmm {
  double *y, *z;  // (n) impulses in K, estimate of σ̂
  double rho, omega, prox;
  int iterations, refactor, rule, check;
  int relaxed, anderson;
  double enough;      // relative residuals at which it may leave; 0: never
  int sprint, least;  // after `least` iterations it goes on while the residuals halve in every `sprint`; 0: always
} TriboAdmm;
void tribo_sol_admm(TriboSolver* s, TriboAdmm* a);

// Newton on Alart and Curnier's map from x, which ends as the last iterate.
void tribo_sol_newton(TriboSolver* s, double* x, double eps, int max_steps, int max_bad);

// Full Newton steps from a point whose modes are those of the last call with the same memory, else none.
void tribo_sol_settle(TriboSolver* s, const double* from, double* modes);
// Where the best point misses by at most `most` [m/s]: q shifted in the normal rows until it solves the problem.
void tribo_sol_level(TriboSolver* s, double most, int max_steps);
// Proximal points from x on, each by Newton; what comes within `level` [m/s] is levelled, 0: never.
void tribo_sol_proximal(TriboSolver* s, const double* x, double level);
// A memory of modes (n) in which there is nothing yet.
double* tribo_sol_forget_modes(TriboSolver* s);

// Interior point: from the cone's axis at height `cold` when that is > 0, else near (x, z) pushed inside by
// push·k and push, k the size of x.
typedef struct TriboInterior {
  const double *x, *z;
  double cold, push, k;
  double fraction;  // of the way to the boundary
  int max_steps;
} TriboInterior;
void tribo_sol_interior(TriboSolver* s, const TriboInterior* start);

// Central path followed through its folds, from near (x, z) at complementarity tau, rho impulses per velocity.
typedef struct TriboPath {
  const double *x, *z;
  double tau, rho;
  double power;  // of t in the complementarity, ≥ 0
  int max_steps;
} TriboPath;
void tribo_sol_path(TriboSolver* s, const TriboPath* start);

// The methods by themselves, as the registry lists them.
void tribo_sol_run_admm(TriboSolver* s);
void tribo_sol_run_pgs(TriboSolver* s);
void tribo_sol_run_newton(TriboSolver* s);
void tribo_sol_run_interior(TriboSolver* s);
