// Tribo, public: planning through contact. A plan is a smooth problem over stages z₀ … z_N−1,
//
//     min Σ f_k(z_k)   s.t.   e_k(z_k, s_k+1) = 0,   i_k(z_k, s_k+1) ≥ 0,     s the leading states of z,
//
// in which a complementarity 0 ≤ a ⟂ b ≥ 0 is the three rows a ≥ 0, b ≥ 0, −a·b ≥ 0. It is solved by CRISP's sequence
// of convex problems on the exact penalty (Li, Han, Kang, Ma, Yang; docs/planning.md), from guesses as naive as zero.
//
// Ownership. The plan copies the stages' sizes, patterns and names; `user` stays the caller's, and must last as long as
// the plan. A result's arrays belong to the plan and last until its next solve.
// Threads. A plan is used by one thread at a time. The library makes no heap call after tribo_plan_create, and the same
// guess gives the same bits.
#pragma once

#include <tribo/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// What an inequality is; only for messages and for penalties, which grow by kind of row.
typedef enum TriboPlanKind { TRIBO_PLAN_BOUND, TRIBO_PLAN_SMOOTH, TRIBO_PLAN_PRODUCT } TriboPlanKind;

// One stage. Rows are given as compressed rows: row i touches the columns col[start[i]] … col[start[i+1]−1],
// increasing. A column below nz is this stage's, nz + j is state j of the next stage. `next` is NULL at the last stage.
typedef struct TriboPlanStage {
  int nz, ns;                    // unknowns of this stage, and how many of them, the first ones, are states
  int neq, nin;                  // rows e = 0 and rows i ≥ 0
  const int *eq_start, *eq_col;  // (neq + 1), (eq_start[neq])
  const int *in_start, *in_col;
  const unsigned char* kind;   // (nin) TriboPlanKind; NULL: smooth
  const char* const* eq_name;  // (neq) for messages; NULL: by number
  const char* const* in_name;  // (nin)
  // eq (neq) and in (nin) ← the rows' values
  TriboStatus (*values)(void* user, int stage, const double* z, const double* next, double* eq, double* in);
  // their derivatives, in the order of the patterns; NULL: by central differences, some columns at once
  TriboStatus (*jacobian)(void* user, int stage, const double* z, const double* next, double* eq, double* in);
  // f, its gradient (nz) and its Hessian (nz × nz, symmetric, positive semidefinite); grad and hess are NULL when only
  // f is wanted. grad and hess come in as zeros.
  TriboStatus (*cost)(void* user, int stage, const double* z, double* f, double* grad, double* hess);
  void* user;
} TriboPlanStage;

typedef struct TriboPlan TriboPlan;

// Checks sizes and patterns. *out is NULL after a failure.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_plan_create(const TriboPlanStage* stages, int count, TriboPlan** out);
TRIBO_API void tribo_plan_destroy(TriboPlan* plan);  // NULL is allowed
TRIBO_API int tribo_plan_unknowns(const TriboPlan* plan);
TRIBO_API int tribo_plan_stage_at(const TriboPlan* plan, int stage);  // where z_stage begins in z

// HOUSE is the default; PAPER is Algorithm 1 with Table I. Either gives every setting its value.
typedef enum TriboPlanRules { TRIBO_PLAN_HOUSE, TRIBO_PLAN_PAPER } TriboPlanRules;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_plan_use_rules(TriboPlan* plan, TriboPlanRules rules);
TRIBO_API const TriboSetting* tribo_plan_settings(int* count);  // lasts for ever
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_plan_set(TriboPlan* plan, const char* key, double value);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_plan_get(const TriboPlan* plan, const char* key, double* value);

// How a solve ended. Not solved is not an error.
typedef enum TriboPlanOutcome {
  TRIBO_PLAN_SOLVED,       // the violation is below its tolerance and the merit function does not fall any more
  TRIBO_PLAN_PENALTY_MAX,  // rows stay violated though their penalties are as large as allowed
  TRIBO_PLAN_MAX_ITER,     // the limit of iterations came first
  TRIBO_PLAN_MAX_TIME,     // the time budget came first
  TRIBO_PLAN_USER,         // the caller's progress function said stop
} TriboPlanOutcome;
TRIBO_API const char* tribo_plan_outcome_name(TriboPlanOutcome outcome);

// One iteration, after its step was taken or refused.
typedef struct TriboPlanIteration {
  int iteration, was_accepted;
  double cost, merit, violation;  // of the point that is kept; the merit with the penalties of this iteration
  double radius, step, ratio;     // trust radius for the next one, ‖p‖∞, actual over predicted decrease
  double penalty;                 // the largest
} TriboPlanIteration;

// Looked at after every iteration; anything but 0 ends the solve.
typedef int TriboPlanProgress(const TriboPlanIteration* now, void* user);

// A point judged from raw data.
typedef struct TriboPlanResidual {
  double cost, violation;
  int stage;        // of the worst row
  const char* row;  // its name
  int is_convex;    // no Hessian of the cost has a negative eigenvalue beyond rounding
} TriboPlanResidual;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_plan_residual(TriboPlan* plan, const double* z, TriboPlanResidual* out);

// How a solve went.
typedef struct TriboPlanResult {
  TriboPlanOutcome outcome;
  const double* z;  // (unknowns) the plan
  double cost, violation, merit;
  int worst_stage;
  const char* worst_row;
  int iterations, accepted, corrections, growths;  // steps tried, taken, corrected; how often penalties grew
  int qps, qp_iterations, qp_failures;         // convex problems, their Newton steps, those that missed their tolerance
  double penalty, radius, least_radius, step;  // at the end; the smallest radius of a step; the last step
  double stationarity;                // what the model still promises within a radius of 1e-3, over max(1, merit)
  const double* multipliers;          // (rows) of that model, which prove it; stage by stage equalities, inequalities
  double time;                        // processor time [s]
  const TriboPlanIteration* history;  // (iterations)
} TriboPlanResult;

// z0 (unknowns) is the guess. progress may be NULL.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_plan_solve(TriboPlan* plan, const double* z0, TriboPlanProgress* progress,
                                                       void* user, TriboPlanResult* result);

// Compares the Jacobians and the costs' gradients with central differences at z; TRIBO_INVALID names the first entry
// that is off by more than `tolerance`, relative to 1 and its size.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_plan_check_derivatives(TriboPlan* plan, const double* z, double tolerance);

#ifdef __cplusplus
}
#endif
