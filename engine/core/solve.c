// The contact problem of a step: every island solved, in parallel, and what to do where that fails.
#include "data.h"

#include <string.h>

#include "math3.h"
#include "parallel.h"
#include "timer.h"

// When a rigid problem has no answer in reach: how much compliance each row gets instead, as a share of the mean
// diagonal of its block of G; and how bad, against the largest |g|, an answer must be for that.
static const double SOFTNESS = 1e-3, HOPELESS = 0.1;

// R + SOFTNESS · d into the island's own R; returns the largest |g|.
static double soften(Islands* is, const TriboProblem* p, int island) {
  double* R = is->R + is->first_row[island];
  double scale = 0;
  for (int c = 0; c < p->ncone; ++c) {
    const TriboCone* cone = &p->cones[c];
    double trace = 0;
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      const int n = p->block_dim[p->term_block[t]];
      const double *minv = p->minv + p->block_at[p->term_block[t]], *jac = p->jac + p->term_at[t];
      for (int r = 0; r < cone->dim; ++r) {
        for (int i = 0; i < n; ++i) {
          for (int j = 0; j < n; ++j) {
            trace += jac[r * n + i] * minv[i * n + j] * jac[r * n + j];
          }
        }
      }
    }
    for (int r = cone->row; r < cone->row + cone->dim; ++r) {
      R[r] = (p->R != NULL ? p->R[r] : 0) + SOFTNESS * trace / cone->dim;
      scale = fmax(scale, fabs(p->g[r]));
    }
  }
  return scale;
}

typedef struct SolveContext {
  TriboData* data;
  double deadline;  // 0: none
} SolveContext;

static void solve_island(int i, int worker, void* context) {
  SolveContext* ctx = context;
  Islands* is = &ctx->data->islands;
  TriboSolver* solver = ctx->data->solvers[worker];
  TriboProblem problem = tribo_islands_problem(is, &ctx->data->problem, i);
  TriboWarmStart warm = {is->warm_lambda + is->first_row[i], is->warm_sigma + is->first_row[i],
                         is->known + is->first_cone[i]};
  TriboStatus status = TRIBO_OK;
  if (ctx->deadline > 0) {
    // a spent budget still buys the cheapest attempt
    status = tribo_solver_set(solver, "max_time", fmax(ctx->deadline - tribo_now(), 1e-6));
  }
  double* lambda = is->lambda + is->first_row[i];
  if (status == TRIBO_OK) {
    status = tribo_solver_solve(solver, &problem, &warm, lambda, &is->stats[i]);
  }
  is->soft[i] = 0;
  if (status == TRIBO_OK && !(is->stats[i].nat <= TRIBO_FLOOR_LIMIT) && is->stats[i].outcome != TRIBO_TIME_OUT) {
    // contradictory demands (a body squeezed between two walls) drive impulses to infinity: a little give bounds them
    const double nat = is->stats[i].nat;
    is->soft[i] = !(nat <= HOPELESS * soften(is, &problem, i));
    if (is->soft[i]) {
      problem.R = is->R + is->first_row[i];
      status = tribo_solver_solve(solver, &problem, NULL, lambda, &is->stats[i]);
      is->stats[i].outcome = TRIBO_INFEASIBLE;
    }
  }
  is->status[i] = status;
  if (status != TRIBO_OK) {
    strncpy(is->error[i], tribo_last_error(), sizeof is->error[i] - 1);
    is->error[i][sizeof is->error[i] - 1] = '\0';
  }
}

TriboStatus tribo_data_solve(TriboData* data, double deadline, TriboStepInfo* info) {
  Islands* is = &data->islands;
  SolveContext ctx = {data, deadline};
  tribo_parallel_for(is->count, data->nsolver, solve_island, &ctx);
  for (int i = 0; i < is->count; ++i) {
    if (is->status[i] != TRIBO_OK) {
      return tribo_fail(is->status[i], "%s", is->error[i]);
    }
    const TriboSolveStats* s = &is->stats[i];
    info->iterations += s->iterations;
    info->factorisations += s->factorisations;
    info->rungs |= 1u << s->rung;
    info->softened += is->soft[i];
    info->outcome = s->outcome > info->outcome ? s->outcome : info->outcome;
  }
  tribo_islands_scatter(is, &data->problem, data->lambda);
  return TRIBO_OK;
}
