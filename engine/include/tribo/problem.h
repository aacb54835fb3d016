// Tribo, public: the contact problem of one step, and the solvers that know nothing else.
//
//     find λ ∈ K:   K ∋ λ ⊥ σ + Γ(σ) ∈ K*,    σ = (G + R) λ + g,    G = J M⁻¹ Jᵀ
//
// K is a product of cones, one per constraint. λ are impulses [N·s], σ constraint velocities [m/s, rad/s].
#pragma once

#include <tribo/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TriboConeKind {
  TRIBO_CONE_FREE,      // λ ∈ ℝᵈ, d = 1…6: bilateral rows
  TRIBO_CONE_NONNEG,    // λ ≥ 0, d = 1: frictionless contact, joint limit
  TRIBO_CONE_BOX,       // lo ≤ λ ≤ hi, d = 1: dry friction, bounded motor; an infinite bound is no bound
  TRIBO_CONE_FRICTION,  // ‖D⁻¹ λ_f‖ ≤ λ_N, D = diag(mu), d = 3…6: friction rows first, normal row last;
                        // Γ(σ) = ‖D σ_f‖ on the normal row. mu[0] = mu[1] = μ, d = 3 is Coulomb's cone
} TriboConeKind;

typedef struct TriboCone {
  TriboConeKind kind;
  int row;        // first row
  int dim;        // rows
  double mu[5];   // FRICTION: sliding 1, sliding 2, torsion [m], rolling 1, rolling 2 [m]
  double lo, hi;  // BOX [N·s, N·m·s]
} TriboCone;

// The problem. All arrays belong to the caller and are only read.
// The Delassus matrix is given in one of two ways: by the motion (nblock > 0: mass blocks and Jacobian terms),
// or explicitly (G_col != NULL: compressed columns, both triangles stored, rows increasing).
typedef struct TriboProblem {
  int nrow, ncone;
  const TriboCone* cones;  // (ncone) in row order, without holes
  const double* g;         // (nrow) free constraint velocity plus bias
  const double* R;         // (nrow) compliance, ≥ 0, or NULL for rigid

  int nblock;              // motion blocks: free bodies and trees
  const int* block_dim;    // (nblock) degrees of freedom of a block
  const size_t* block_at;  // (nblock) where the block starts in mass and minv, in doubles
  const double* mass;      // dense symmetric row-major dim × dim matrices, one per block
  const double* minv;      // their inverses, same layout
  const int* term_first;   // (ncone + 1) terms of cone c: term_first[c] … term_first[c+1]−1
  const int* term_block;   // (nterm) block a term acts on; increasing within a cone
  const size_t* term_at;   // (nterm) where the term starts in jac, in doubles
  const double* jac;       // dense row-major cone.dim × block_dim matrices, one per term

  const int* G_col;     // (nrow + 1)
  const int* G_row;     // (nnz)
  const double* G_val;  // (nnz)
} TriboProblem;

// Checks sizes, order, finiteness, bounds and signs.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_problem_validate(const TriboProblem* problem);

// How good an answer is, recomputed from the raw problem by code that shares nothing with any solver.
typedef struct TriboResiduals {
  double prim;  // ‖λ − P_K(λ)‖∞ [N·s]
  double dual;  // ‖σ̂ − P_K*(σ̂)‖∞, σ̂ = σ + Γ(σ) [m/s]
  double comp;  // max |λᵢᵀ σ̂ᵢ| [J]
  double nat;  // max dᵢ ‖λᵢ − P_K(λᵢ − σ̂ᵢ/dᵢ)‖∞, dᵢ the mean diagonal of block i of G + R [m/s]
  double natmap_unit;  // ‖dλ − P_K(dλ − σ̂)‖ / max(‖g‖, ‖dλ‖, ‖σ‖), d the mean diagonal of G + R
  double floor;        // what rounding allows for nat: 50 ε max dᵢ‖λᵢ‖ [m/s]
  int worst;           // cone with the largest nat, −1 without cones
} TriboResiduals;

// sigma (nrow) receives σ and may be NULL only if nrow is 0.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_problem_residuals(const TriboProblem* problem, const double* lambda,
                                                              double* sigma, TriboResiduals* out);
// The same without a heap call: workspace holds tribo_problem_workspace(problem) doubles.
TRIBO_API size_t tribo_problem_workspace(const TriboProblem* problem);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_problem_residuals_in(const TriboProblem* problem, const double* lambda,
                                                                 double* sigma, double* workspace, TriboResiduals* out);

typedef enum TriboOutcome {
  TRIBO_SOLVED,      // the tolerance was met
  TRIBO_MAX_ITER,    // the iteration limit came first
  TRIBO_STALLED,     // no further progress
  TRIBO_TIME_OUT,    // the time budget came first
  TRIBO_INFEASIBLE,  // bilateral rows contradict each other
} TriboOutcome;
TRIBO_API const char* tribo_outcome_name(TriboOutcome outcome);

// The stages a solver may go through, in the order they are tried: the method, then where it starts.
#define TRIBO_RUNGS(X)                                                                                             \
  X(ZERO, "zero", "no impulse is the answer")                                                                      \
  X(ADMM, "admm", "first-order iterations alone")                                                                  \
  X(PGS, "pgs", "Gauss-Seidel sweeps alone")                                                                       \
  X(WARM, "warm", "previous modes, one factorisation")                                                             \
  X(NEWTON_WARM, "newton_warm", "Newton from the previous answer")                                                 \
  X(IPM_WARM, "ipm_warm", "interior point near the previous answer")                                               \
  X(PATH_WARM, "path_warm", "central path from near the previous answer")                                          \
  X(NEWTON, "newton", "Newton from zero")                                                                          \
  X(ADMM_NEWTON, "admm_newton", "a few ADMM iterations, then Newton")                                              \
  X(IPM_ADMM, "ipm_admm", "interior point near ADMM's answer")                                                     \
  X(IPM_COLD, "ipm_cold", "interior point from the cone's axis")                                                   \
  X(ADMM_LONG_NEWTON, "admm_long_newton", "hundreds of ADMM iterations, then Newton")                              \
  X(PATH, "path", "central path from near ADMM's answer")                                                          \
  X(PATH_COLD, "path_cold", "central path from the cone's axis")                                                   \
  X(ADMM_IPM_NEWTON, "admm_ipm_newton", "thousands of ADMM iterations alternating with Newton and interior point") \
  X(PROXIMAL, "proximal", "proximal points, each by Newton")
typedef enum TriboRung {
#define X(id, name, doc) TRIBO_RUNG_##id,
  TRIBO_RUNGS(X)
#undef X
      TRIBO_RUNG_COUNT
} TriboRung;
TRIBO_API const char* tribo_rung_name(TriboRung rung);

typedef struct TriboRungWork {
  int iterations, factorisations;
} TriboRungWork;

typedef struct TriboSolveStats {
  TriboOutcome outcome;
  TriboRung rung;        // that gave the answer
  unsigned rungs_tried;  // bit per rung
  int iterations;        // of any kind
  int factorisations;
  TriboRungWork by_rung[TRIBO_RUNG_COUNT];  // the same, stage by stage
  double time;                              // wall [s]
  double nat, natmap_unit;                  // of the answer, by the solver's own account
  double shift;                             // [m/s] largest change of g that made it an answer, 0 for none
} TriboSolveStats;

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

// A solver with its settings and its workspace. One thread at a time; buffers grow and stay.
typedef struct TriboSolver TriboSolver;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_solver_create(const char* id, TriboSolver** out);
TRIBO_API void tribo_solver_destroy(TriboSolver* solver);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_solver_set(TriboSolver* solver, const char* key, double value);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_solver_get(const TriboSolver* solver, const char* key, double* value);

// What is known before a solve. λ and σ̂ of the step before, in this problem's rows; a cone without history has
// known[c] = 0 and starts as the impulses of the others suggest. NULL pointers: nothing is known.
typedef struct TriboWarmStart {
  const double* lambda;        // (nrow)
  const double* sigma;         // (nrow) σ, without Γ
  const unsigned char* known;  // (ncone)
} TriboWarmStart;

// lambda (nrow) always receives the best answer found, also when it is not good enough: read stats->outcome.
// Two tolerances: the solve ends when nat ≤ max(tol_nat, floor) and natmap_unit ≤ tol_unit.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_solver_solve(TriboSolver* solver, const TriboProblem* problem,
                                                         const TriboWarmStart* warm, double* lambda,
                                                         TriboSolveStats* stats);

// Residual per iteration of the next solves, for plots: called with the iteration, the rung and nat.
// The g that the last answer is for: the problem's own, but for the rows that the setting `level` has
// shifted. That problem must still be there; g may be its own.
TRIBO_API void tribo_solver_levelled(const TriboSolver* solver, double* g);

typedef void TriboSolverHistoryFn(int iteration, TriboRung rung, double nat, double natmap_unit, void* user);
TRIBO_API void tribo_solver_set_history(TriboSolver* solver, TriboSolverHistoryFn* fn, void* user);

#ifdef __cplusplus
}
#endif
