// The object behind <tribo/plan.h>: stages with copied patterns, rows counted through, and all that a solve needs.
#pragma once

#include <tribo/plan.h>

#include "pool.h"
#include "scp_settings.h"
#include "stage_qp.h"

enum { TRIBO_PLAN_HISTORY = 10000, TRIBO_PLAN_QP_ITERATIONS = 80 };

struct TriboPlan {
  TriboPlanSettings settings;
  TriboStageShape shape;
  TriboPlanStage* stage;  // (nstage) patterns and names are copies
  TriboPool pool;         // that holds them, and the arrays below
  int n, m, nkind;
  int *z_at, *ns, *row_at, *start, *col;
  size_t* hess_at;               // (nstage + 1)
  unsigned char* is_inequality;  // (m)
  int* kind;                     // (m) rows of different stages that touch the same columns are of one kind
  int* colour;                   // (n + ns) per stage: columns of one colour share no row
  int *colour_at, *colours;      // (nstage + 1) where a stage's columns begin, (nstage) how many colours
  TriboStageQp* qp;

  // the point that is kept, its derivatives, and the one that is tried
  double *z, *trial, *first_trial;          // (n) the last one of two that are tried
  double *c, *c_trial, *c_first, *c_model;  // (m) rows of either, and the constants of the convex problem
  double *grad, *hess, *jac;
  double *mu, *above;               // (m) penalties, and those of r > 0: μ or 0
  double *p, *y, *work;             // (n), (m), (2n + 2m)
  double* scratch;                  // (nz²) of the largest stage
  unsigned char* kind_is_violated;  // (nkind)
  TriboPlanIteration* history;      // (TRIBO_PLAN_HISTORY)
};

// plan_rows.c: what the callbacks say
TriboStatus tribo_plan_values(const TriboPlan* plan, const double* z, double* f, double* c);
TriboStatus tribo_plan_derivatives(TriboPlan* plan, const double* z, double* grad, double* hess, double* jac);
// Like tribo_plan_values, but refuses numbers that are not finite and names the row.
TriboStatus tribo_plan_finite_values(const TriboPlan* plan, const double* z, const char* who, double* f, double* c);
// The worst violation of the rows c, and where; "" and stage 0 without rows.
double tribo_plan_violation(const TriboPlan* plan, const double* c, int* stage, const char** row);
TriboStatus tribo_plan_check_convex(TriboPlan* plan, const char* who);  // of plan->hess
