// What the methods share: the solver object, its budget, the judge that remembers the best point, scratch vectors.
#pragma once

#include "cones.h"
#include "settings.h"
#include "linear_system.h"

// Settings every solver has: X(type, name, default, min, max, open_min, unit, doc)
#define TRIBO_COMMON_SETTINGS(X, max_it)                                                                    \
  X(REAL, tol, 1e-10, 0, 1e300, 0, "m/s", "natural-map residual of the worst cone at which the solve ends") \
  X(REAL, tol_unit, 1e-8, 0, 1, 1, "", "natural-map residual of the whole problem at which the solve ends") \
  X(INT, max_iterations, max_it, 1, 1e9, 0, "", "iterations of any kind before giving up")                  \
  X(REAL, max_time, 0, 0, 1e6, 0, "s", "time budget; 0: none")                                              \
  X(INT, form, 0, 0, 2, 0, "", "linear algebra: 0 cheapest, 1 dense constraints, 2 sparse motion")
#define TRIBO_ADMM_SETTINGS(X, omega_, prox_, rho_, rule_, relaxed_, anderson_)                                      \
  TRIBO_COMMON_SETTINGS(X, 1000)                                                                                     \
  X(REAL, over_relaxation, omega_, 1, 1.9, 0, "", "omega; 1: none")                                                  \
  X(REAL, prox, prox_, 0, 1, 0, "", "proximal term eta, for row-scaled problems")                                    \
  X(REAL, rho, rho_, 0, 1e9, 0, "", "penalty at the start; 0: from the spectrum")                                    \
  X(INT, rho_rule, rule_, 0, 3, 0, "", "0 fixed, 1 balances the residuals, 2 moves the spectral exponent, 3 linear") \
  X(INT, anderson, anderson_, 0, 10, 0, "", "steps that Anderson acceleration looks back; 0: none")                  \
  X(BOOL, relaxed, relaxed_, 0, 1, 0, "", "without De Saxce's term: the convex relaxation")                          \
  X(INT, check_every, 5, 1, 1e6, 0, "", "iterations between two looks at the residual")
#define TRIBO_PGS_SETTINGS(X, saxce_, stop_)                                                                   \
  TRIBO_COMMON_SETTINGS(X, 5000)                                                                               \
  X(REAL, relaxation, 1, 0, 1.9, 1, "", "omega of the first sweep")                                            \
  X(REAL, relaxation_decay, 1, 0, 1, 1, "", "by which omega is multiplied after a sweep")                      \
  X(REAL, relaxation_min, 0.1, 0, 1.9, 1, "", "smallest omega")                                                \
  X(BOOL, de_saxce, saxce_, 0, 1, 0, "", "De Saxce's term in the contacts' own problems")                      \
  X(REAL, early_stop, stop_, 0, 1, 0, "", "change of the objective per row at which the solve ends; 0: never") \
  X(INT, check_every, 5, 1, 1e6, 0, "", "sweeps between two looks at the residual")
#define TRIBO_PLAIN_SETTINGS(X) TRIBO_COMMON_SETTINGS(X, 100)
#define TRIBO_AUTO_SETTINGS(X)                                                       \
  TRIBO_COMMON_SETTINGS(X, 1e5)                                                      \
  X(INT, max_factorisations, 4000, 1, 1e9, 0, "", "factorisations before giving up") \
  X(REAL, level, 0, 0, 1, 0, "m/s", "contradictions between supports that the normal rows may be shifted by")

typedef struct TriboCommonSettings {
  TRIBO_PLAIN_SETTINGS(TRIBO_SETTING_FIELD)
} TriboCommonSettings;
typedef struct TriboAdmmSettings {
  TRIBO_ADMM_SETTINGS(TRIBO_SETTING_FIELD, 0, 0, 0, 0, 0, 0)
} TriboAdmmSettings;
typedef struct TriboPgsSettings {
  TRIBO_PGS_SETTINGS(TRIBO_SETTING_FIELD, 0, 0)
} TriboPgsSettings;
typedef struct TriboAutoSettings {
  TRIBO_AUTO_SETTINGS(TRIBO_SETTING_FIELD)
} TriboAutoSettings;

typedef struct TriboScore {
  double nat, unit;  // r_nat [m/s], natmap_unit
  double value;      // how many times the tolerance; the larger of the two
} TriboScore;

// How Gauss–Seidel solves one contact.
typedef enum TriboLocalSolver {
  TRIBO_LOCAL_CCP,
  TRIBO_LOCAL_NCP,
  TRIBO_LOCAL_QUARTIC,
  TRIBO_LOCAL_BISECTION
} TriboLocalSolver;

typedef struct TriboMethod {
  TriboSolverInfo info;
  void (*run)(TriboSolver* s);
  TriboLocalSolver local;  // of use to Gauss–Seidel
} TriboMethod;

struct TriboSolver {
  const TriboMethod* method;
  union {
    // they all start with the common ones
    TriboCommonSettings common;
    TriboAdmmSettings admm;
    TriboPgsSettings pgs;
    TriboAutoSettings automatic;
  } settings;
  TriboSolverHistoryFn* history;
  void* history_user;

  // one solve
  TriboScaled scaled;
  TriboSystem system;
  double *warm_x, *warm_u;          // (n) the step before in own coordinates, or NULL
  const unsigned char* warm_known;  // (ncone) which cones it knew, or NULL: all
  double warm_value;                // what its impulses are worth now
  double* best;                     // (n)
  TriboScore best_score;
  double shift;               // [m/s] of the normal rows, at most; 0 unless they were levelled
  int relaxed;                // judged without De Saxcé's term: the method solves the convex relaxation
  int keep_last;              // the last point counts, not the best: the method has fixed points of its own
  TriboRung rung, best_rung;  // the stage at work, and the one that found the best point
  unsigned rungs_tried;
  TriboRungWork by_rung[TRIBO_RUNG_COUNT];
  int iterations, max_factorisations;
  double deadline;  // wall clock [s]; 0: none
  int timed_out;

  double* pool;  // scratch vectors, taken and released like a stack
  size_t pool_capacity, pool_used;
};

// A scratch vector of n doubles. Methods remember pool_used on entry and put it back on leaving.
double* tribo_sol_take(TriboSolver* s);

// Judges x with u = W x + q, remembers it when it is the best, tells the history.
TriboScore tribo_sol_note(TriboSolver* s, const double* x, const double* u);
// u = W x + q
void tribo_sol_velocity(const TriboSolver* s, const double* x, double* u);
// The larger of natmap_unit and ‖x − AC(x − u)‖ / max(‖q‖, ‖x‖, ‖u‖); notes x.
double tribo_sol_residual(TriboSolver* s, const double* x, const double* u);

int tribo_sol_done(const TriboSolver* s);
// Done, out of time, iterations or factorisations.
int tribo_sol_stop(TriboSolver* s);
// Begins a stage: what is done from here on is on its account.
void tribo_sol_enter(TriboSolver* s, TriboRung rung);

// ---- the methods ----

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

// Judges the impulses of the step before; 1 when they solve the measured problem far better than asked: they are in
// lambda (nrow).
int tribo_sol_keep(TriboSolver* s, const TriboWarmStart* warm, double* lambda);
// The warm path: modes and centre of the step before, when keep has judged them. Of its passes one in `turns`, 1 or 2,
// has to halve what is left.
void tribo_sol_centred(TriboSolver* s, int turns);
// Are there no more unknowns than motions at the modes of the last factors, so that these leave no choice of impulses?
int tribo_sol_determined(const TriboSolver* s);

// Do the impulses of the step before do better than none?
int tribo_sol_warm_is_better(TriboSolver* s);

void tribo_sol_run_admm(TriboSolver* s);
void tribo_sol_run_pgs(TriboSolver* s);
void tribo_sol_run_newton(TriboSolver* s);
void tribo_sol_run_interior(TriboSolver* s);
void tribo_sol_run_auto(TriboSolver* s);
