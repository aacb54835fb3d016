// Tribo, public: the solvers of the contact problem. They know the problem, and nothing of bodies, joints or shapes.
//
// Ownership. A solver belongs to whoever created it, until tribo_solver_destroy (NULL is allowed). Problem, warm start
// and answer belong to the caller. The solver keeps a pointer to the last problem for tribo_solver_relaxed_g,
// and for nothing else. The lists of solvers, their settings and all names belong to the library and last for ever.
//
// Threads. A solver is used by one thread at a time, different solvers by different threads; the lists by everybody.
#pragma once

#include <tribo/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a solve ended. Not converged is not an error.
typedef enum TriboOutcome {
  TRIBO_SOLVED,      // the tolerance was met
  TRIBO_MAX_ITER,    // the limit of iterations or of effort came first
  TRIBO_STALLED,     // no further progress
  TRIBO_TIME_OUT,    // the time budget came first
  TRIBO_INFEASIBLE,  // bilateral rows contradict each other
  TRIBO_RELAXED,  // rows contradict each other: the answer is that of the problem with the least change of g that has
                  // one
} TriboOutcome;
TRIBO_API const char* tribo_outcome_name(TriboOutcome outcome);

// The stages a solver may go through, in the order they are tried: the method, then where it starts.
#define TRIBO_RUNGS(X)                                                   \
  X(ZERO, "zero", "no impulse is the answer")                            \
  X(ADMM, "admm", "first-order iterations alone")                        \
  X(PGS, "pgs", "Gauss-Seidel sweeps alone")                             \
  X(WARM, "warm", "previous modes, one factorisation")                   \
  X(NEWTON_WARM, "newton_warm", "Newton from the previous answer")       \
  X(NEWTON, "newton", "Newton from zero")                                \
  X(IPM_ADMM, "ipm_admm", "interior point near ADMM's answer")           \
  X(IPM_WARM, "ipm_warm", "interior point near the previous answer")     \
  X(IPM_COLD, "ipm_cold", "interior point from the cone's axis")         \
  X(PATH, "path", "central path from near ADMM's answer")                \
  X(PATH_COLD, "path_cold", "central path from the cone's axis")         \
  X(PROXIMAL, "proximal", "proximal points, each by Newton")             \
  X(CANAL, "canal", "augmented Lagrangians, each by exact Newton steps") \
  X(SUBADMM, "subadmm", "alternating directions over subsystems")        \
  X(RELAXED, "relaxed", "proximal points that relax rows which contradict each other")
typedef enum TriboRung {
#define X(id, name, doc) TRIBO_RUNG_##id,
  TRIBO_RUNGS(X)
#undef X
      TRIBO_RUNG_COUNT
} TriboRung;
TRIBO_API const char* tribo_rung_name(TriboRung rung);

// What a stage has cost.
typedef struct TriboRungWork {
  int iterations, factorisations;
} TriboRungWork;

// How a solve went.  set by: tribo_solver_solve
typedef struct TriboSolveStats {
  TriboOutcome outcome;
  TriboRung rung;        // that gave the answer
  unsigned rungs_tried;  // bit per rung
  int iterations;        // of any kind
  int factorisations;
  double effort;                            // floating-point operations, counted by the sizes of products and factors
  double most_effort;                       // that it was allowed
  TriboRungWork by_rung[TRIBO_RUNG_COUNT];  // the same, stage by stage
  double time;                              // wall [s]
  double nat, natmap_unit;                  // residuals of the answer, by the solver's own account [m/s], [1]
  double penalty;                           // β of `subadmm` at the end, in row-scaled units; 0 of others
  double shift;  // [m/s] largest change of g that relaxed rows which contradict each other, 0 for none
} TriboSolveStats;

// A solver of the registry.
typedef struct TriboSolverInfo {
  const char* id;
  const char* summary;           // one line
  const char* reference;         // paper and equation
  const TriboSetting* settings;  // (nsetting)
  int nsetting;
} TriboSolverInfo;

TRIBO_API int tribo_solver_count(void);
TRIBO_API const TriboSolverInfo* tribo_solver_info(int index);       // NULL outside 0 … count−1
TRIBO_API const TriboSolverInfo* tribo_solver_find(const char* id);  // NULL when there is none

// A solver with its settings and its workspace; buffers grow and stay. *out is NULL after a failure.
typedef struct TriboSolver TriboSolver;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_solver_create(const char* id, TriboSolver** out);
TRIBO_API void tribo_solver_destroy(TriboSolver* solver);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_solver_set(TriboSolver* solver, const char* key, double value);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_solver_get(const TriboSolver* solver, const char* key, double* value);

// What is known before a solve. λ and σ̂ of the step before, in this problem's rows; a cone without history has
// known[c] = 0 and starts as the impulses of the others suggest. NULL pointers: nothing is known.
typedef struct TriboWarmStart {
  const double* lambda;        // (nrow) [N·s, N·m·s]
  const double* sigma;         // (nrow) σ, without Γ [m/s, rad/s]
  const unsigned char* known;  // (ncone) 1: it has a history
  double penalty;              // stats->penalty of the step before, for `subadmm`; 0: not known
} TriboWarmStart;

// lambda (nrow) always receives the best answer found, also when it is not good enough: read stats->outcome.
// The solve ends when nat ≤ max(tol, rounding); with the setting `whole` when natmap_unit ≤ tol.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_solver_solve(TriboSolver* solver, const TriboProblem* problem,
                                                         const TriboWarmStart* warm, double* lambda,
                                                         TriboSolveStats* stats);

// The g (nrow) that the last answer is for: the problem's own, but for rows that contradict each other, which have been
// relaxed (stats->shift). That problem must still be there; g may be its own.
TRIBO_API void tribo_solver_relaxed_g(const TriboSolver* solver, double* g);

// Residuals iteration by iteration of the next solves, for plots: fn is called from the thread that solves, with the
// iteration, the stage and both residuals; NULL ends it. `user` is passed on and stays the caller's.
typedef void TriboSolverHistoryFn(int iteration, TriboRung rung, double nat, double natmap_unit, void* user);
TRIBO_API void tribo_solver_set_history(TriboSolver* solver, TriboSolverHistoryFn* fn, void* user);

#ifdef __cplusplus
}
#endif
