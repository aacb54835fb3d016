// The solver object, which the methods work on: settings, the scaled problem, its linear system, the best point so far.
#pragma once

#include <tribo/solver.h>

#include "cones.h"
#include "linear_system.h"
#include "score.h"
#include "scratch.h"
#include "solver_settings.h"
#include "subsystems.h"

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
  TRIBO_METHOD_PGS,
  TRIBO_METHOD_CANAL,
  TRIBO_METHOD_SUBADMM  // by the motion alone: neither W nor the responses of wide blocks are made for it
} TriboMethodKind;

// A point of CANAL's inner loop (`solvers/methods/canal.c`), for tests: the augmented Lagrangian and where on it.
typedef struct TriboCanalPoint {
  const double* centre;  // (n) λ − β Γ
  const double* y;       // (n) impulses behind the velocity u = W y + q
  double beta;           // β
  int damped;            // the strict law: there is no Lagrangian
  int step;              // Newton steps since the inner loop began
} TriboCanalPoint;

// Memory of methods/subadmm.c. Numbers of a cone are at `at`, padded to a multiple of four.
typedef struct TriboSubadmm {
  TriboSubsystems cut;
  TriboScaledCone* cone;        // (ncone) in the order of the cut, as all that follows
  size_t* at;                   // (ncone)
  double* factor;               // (ncone) f
  double *lambda, *g, *weight;  // λ̄, ḡ, 1/(|Z| + β R)
  double* state;                // s of the parts
  double* old;                  // K v of the parts, then their z̄ before
  double* v;                    // (4 ncell)
  double* sums;
} TriboSubadmm;

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
    TriboCanalSettings canal;
    TriboSubadmmSettings subadmm;
  } settings;
  TriboSolverHistoryFn* history;  // told of every point that is noted, or NULL
  void* history_user;
  void (*watch_canal)(const TriboSolver* s, const TriboCanalPoint* point, void* user);  // of a test, or NULL
  void* watch_user;

  // one solve
  TriboScaled scaled;
  TriboLinearSystem system;
  int has_system;  // it has been begun: not for a method by the motion alone
  TriboSubadmm subadmm;
  TriboScratch scratch;
  double *warm_x, *warm_u;          // (n) impulses and velocities of the warm start in scaled coordinates, or NULL
  const unsigned char* warm_known;  // (ncone) which cones the warm start knew, or NULL: all
  double penalty;                   // β of the warm start, then of the solve; 0: none
  double warm_value;                // score of the warm start's impulses in this problem, set by accept_warm
  double* best;                     // (n) best impulses so far, scaled coordinates
  TriboScore best_score;
  double shift;               // [m/s] largest change of a normal row of g; 0 unless inconsistent normals were relaxed
  int has_unit;               // natmap_unit is asked for
  int is_prepared;            // 1: the problem is scaled, its system has been begun
  int kept_factors;           // generation of those that proximal points have left behind for another g; 0: none
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
