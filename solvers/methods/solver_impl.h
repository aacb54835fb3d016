// The solver object, which the methods work on: settings, the scaled problem, its linear system, the best point so far.
#pragma once

#include <tribo/solver.h>

#include "cones.h"
#include "linear_system.h"
#include "score.h"
#include "scratch.h"
#include "solver_settings.h"

// How Gauss–Seidel solves one contact.
typedef enum TriboLocalSolver {
  TRIBO_LOCAL_CCP,
  TRIBO_LOCAL_NCP,
  TRIBO_LOCAL_QUARTIC,
  TRIBO_LOCAL_BISECTION
} TriboLocalSolver;

// Which of the settings a method has.
typedef enum TriboMethodKind {
  TRIBO_METHOD_PLAIN,  // the common ones
  TRIBO_METHOD_AUTO,
  TRIBO_METHOD_ADMM,
  TRIBO_METHOD_PGS
} TriboMethodKind;

typedef struct TriboMethod {
  TriboSolverInfo info;
  void (*run)(TriboSolver* s);
  TriboMethodKind kind;
  TriboLocalSolver local;  // read by Gauss–Seidel alone
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
  TriboSolverHistoryFn* history;  // told of every point that is noted, or NULL
  void* history_user;

  // one solve
  TriboScaled scaled;
  TriboLinearSystem system;
  TriboScratch scratch;
  double *warm_x, *warm_u;          // (n) impulses and velocities of the warm start in scaled coordinates, or NULL
  const unsigned char* warm_known;  // (ncone) which cones the warm start knew, or NULL: all
  double warm_value;                // score of the warm start's impulses in this problem, set by accept_warm
  double* best;                     // (n) best impulses so far, scaled coordinates
  TriboScore best_score;
  double shift;               // [m/s] largest change of a normal row of g; 0 unless inconsistent normals were relaxed
  int relaxed;                // scored without De Saxcé's term: the method solves the convex relaxation
  int keep_last;              // the last point counts, not the best: the method has fixed points of its own
  TriboRung rung, best_rung;  // the stage at work, and the one that found the best point
  unsigned rungs_tried;       // bit per stage
  TriboRungWork by_rung[TRIBO_RUNG_COUNT];
  int iterations;
  double effort, most_effort;  // floating-point operations so far, and the most that there may be
  double deadline;             // wall clock [s]; 0: none
  int timed_out;
};
