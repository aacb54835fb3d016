// The methods: each starts from where it is told, notes every point worth keeping, and leaves when the solve is to
// stop.
#pragma once

#include "progress.h"

// ADMM from (y, z), both in and out.
typedef struct TriboAdmm {
  double *y, *z;        // (n) impulses in K, estimate of σ̂
  double rho;           // penalty ρ; 0: chosen by the spectrum
  double omega;         // over-relaxation ω, 1: none
  double prox;          // proximal term η
  int iterations;       // at most
  int max_rho_changes;  // each takes a factorisation
  int rho_rule;         // as in the settings
  int check_every;      // iterations between two records of the point; 0: only the last
  int relaxed;          // without De Saxcé's term
  int anderson;         // depth of Anderson's mixing; 0: none
  double tolerance;     // relative residuals at which it may leave; 0: never
} TriboAdmm;
void tribo_sol_admm(TriboSolver* s, TriboAdmm* a);

// Newton on Alart and Curnier's map from x, which ends as the last iterate.
void tribo_sol_newton(TriboSolver* s, double* x, double eps, int max_steps, int max_bad);

// Full Newton steps from a point whose modes are those of the last call with the same memory, else none.
void tribo_sol_polish_modes(TriboSolver* s, const double* from, double* modes);
// Proximal points from the centre x, at the modes of x − u.
typedef struct TriboProximal {
  const double *x, *u;     // (n) impulses and velocities
  double eps;              // ε of the first
  int in_proportion;       // ε is the less, the larger the impulses of x are
  int max_factorisations;  // of all of them, those of no unknown included
  double accept;           // r_nat [m/s] with which they end where they come no nearer
} TriboProximal;
// 1: they drift, as rows that contradict each other make them.
int tribo_sol_proximal(TriboSolver* s, const TriboProximal* start);
// Where rows contradict each other: relaxes q by the least that has an answer (s->shift), and finds that; 0: they do
// not.
int tribo_sol_relax(TriboSolver* s);

// A scratch vector (n) for the modes that polish_modes remembers, none so far.
double* tribo_sol_take_mode_memory(TriboSolver* s);

// Interior point: from the cone's axis at height `cold` when that is > 0, else near (x, z) pushed inside by
// push·size and push, `size` the largest impulse of x.
typedef struct TriboInterior {
  const double *x, *z;  // (n) estimates of x and σ̂; not read when cold > 0
  double cold;          // height on the cone's axis
  double push, size;    // see above
  double fraction;      // of the way to the boundary that a step takes
  int max_steps;
} TriboInterior;
void tribo_sol_interior(TriboSolver* s, const TriboInterior* start);

// Central path followed through its folds, from near (x, z) at complementarity tau, rho impulses per velocity.
typedef struct TriboPath {
  const double *x, *z;  // (n) estimates of x and σ̂
  double tau, rho;      // complementarity at the start; impulses per velocity
  double power;         // of t in the complementarity, ≥ 0
  int max_steps;
} TriboPath;
void tribo_sol_path(TriboSolver* s, const TriboPath* start);

// The methods by themselves, as the registry lists them.
void tribo_sol_run_admm(TriboSolver* s);
void tribo_sol_run_pgs(TriboSolver* s);
void tribo_sol_run_newton(TriboSolver* s);
void tribo_sol_run_interior(TriboSolver* s);
void tribo_sol_run_canal(TriboSolver* s);
void tribo_sol_run_subadmm(TriboSolver* s);
// 1: with these settings it wants the linear system after all.
int tribo_sol_subadmm_needs_system(const TriboSolver* s, const TriboProblem* problem);
void tribo_sol_subadmm_free(TriboSubadmm* m);
