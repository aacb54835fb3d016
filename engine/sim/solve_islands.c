// The contact problem of a step: every island solved, in parallel, and what to do where that fails.
#include "data_impl.h"

#include <float.h>
#include <string.h>

#include "math3.h"
#include "parallel.h"
#include "solvers.h"
#include "timer.h"

// When a rigid problem has no answer in reach: how much compliance each row gets instead, as a share of the mean
// diagonal of its block of G; and how bad, against the largest |g|, an answer must be for that.
static const double SOFTNESS = 1e-3, HOPELESS = 0.1;

// Distances between supports that contradict each other count as known to this share of the penetration that is left
// alone: where no better answer is found, they are changed by as much.
static const double NORMAL_RELAXATION = 1e-2;

// R + SOFTNESS · d into the island's own R.
static void regularise(Islands* is, const TriboProblem* p, int island) {
  double* R = is->R + is->first_row[island];
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
    }
  }
}

typedef struct SolveContext {
  TriboData* data;
  double deadline;  // 0: none
} SolveContext;

// Whether an answer is so far off, by a tenth of what is asked for, that the problem may have none. Impulses without
// end that cancel each other may miss little by the solver's account: there it is what rounding makes of their speeds,
// which the two residuals tell the size of.
static unsigned char is_hopeless(const TriboProblem* problem, const TriboSolveStats* stats) {
  double scale = 0;
  if (stats->nat <= 1e-6 || stats->outcome == TRIBO_TIME_OUT) {
    return 0;
  }
  for (int r = 0; r < problem->nrow; ++r) {
    scale = fmax(scale, fabs(problem->g[r]));
  }
  const double size = stats->natmap_unit > 0 ? stats->nat / stats->natmap_unit : 0;
  return (unsigned char)!(fmax(stats->nat, DBL_EPSILON * size) <= HOPELESS * scale);
}

// Closures that are alone with what they tie are solved already: an island of theirs takes the answer.
static int closures_are_solved(TriboData* data, int i) {
  Islands* is = &data->solve.islands;
  if (!data->solve.closures_known || data->result.rows[is->cone_of[is->first_cone[i]]].kind != TRIBO_ROW_CLOSURE) {
    return 0;
  }
  for (int k = is->first_cone[i]; k < is->first_cone[i + 1]; ++k) {
    memcpy(is->lambda + is->first_row[i] + is->cones[k].row,
           data->result.lambda + data->result.problem.cones[is->cone_of[k]].row,
           (size_t)is->cones[k].dim * sizeof *data->result.lambda);
  }
  is->soft[i] = 0;
  is->stats[i] = (TriboSolveStats){.outcome = TRIBO_SOLVED, .rung = TRIBO_RUNG_COUNT};
  return 1;
}

// The answer of one island; where there is none in reach, that of a problem with a little give.
static TriboStatus solve_rigid_or_soft(TriboData* data, TriboSolver* solver, int i) {
  Islands* is = &data->solve.islands;
  TriboProblem problem = tribo_islands_problem(is, &data->result.problem, i);
  TriboWarmStart warm = {is->warm_lambda + is->first_row[i], is->is_again ? NULL : is->warm_sigma + is->first_row[i],
                         is->known + is->first_cone[i]};
  double* lambda = is->lambda + is->first_row[i];
  TRIBO_TRY(tribo_solver_solve_built(solver, &problem, &warm, lambda, &is->stats[i]));
  is->soft[i] = is_hopeless(&problem, &is->stats[i]);
  if (is->soft[i]) {
    // contradictory demands (a body squeezed between two walls) drive impulses to infinity: a little give bounds them
    regularise(is, &problem, i);
    problem.R = is->R + is->first_row[i];
    TRIBO_TRY(tribo_solver_solve_built(solver, &problem, NULL, lambda, &is->stats[i]));
    is->stats[i].outcome = TRIBO_INFEASIBLE;
  }
  if (is->stats[i].shift > 0) {
    // the answer of the last of these solves is for another g
    tribo_solver_normal_relaxation(solver, is->g + is->first_row[i]);
  }
  return TRIBO_OK;
}

static void solve_island(int i, int worker, void* context) {
  SolveContext* ctx = context;
  Islands* is = &ctx->data->solve.islands;
  TriboSolver* solver = ctx->data->solve.solvers[worker];
  TriboStatus status = TRIBO_OK;
  is->status[i] = TRIBO_OK;
  if (closures_are_solved(ctx->data, i)) {
    return;
  }
  if (ctx->deadline > 0) {
    // a spent budget still buys the cheapest attempt
    status = tribo_solver_set(solver, "max_time", fmax(ctx->deadline - tribo_now(), 1e-6));
  }
  is->status[i] = status == TRIBO_OK ? solve_rigid_or_soft(ctx->data, solver, i) : status;
  if (is->status[i] != TRIBO_OK) {
    strncpy(is->error[i], tribo_last_error(), sizeof is->error[i] - 1);
    is->error[i][sizeof is->error[i] - 1] = '\0';
  }
}

TriboStatus tribo_data_relaxation(TriboData* data, double h) {
  if (data->solve.is_auto && h != data->solve.h) {
    for (int i = 0; i < data->solve.nsolver; ++i) {
      TRIBO_TRY(tribo_solver_set(data->solve.solvers[i], "relax_inconsistent_normals",
                                 fmin(NORMAL_RELAXATION * data->model->world.slop / h, 1)));
    }
  }
  data->solve.h = h;
  return TRIBO_OK;
}

// The step's own problem becomes the one that was solved.
static void take_relaxed(TriboData* data) {
  const Islands* is = &data->solve.islands;
  for (int i = 0; i < is->count; ++i) {
    if (is->stats[i].shift > 0) {
      for (int k = is->first_cone[i]; k < is->first_cone[i + 1]; ++k) {
        const TriboCone* whole = &data->result.problem.cones[is->cone_of[k]];
        tribo_dyn_relax_rows(data->dynamics, whole->row, whole->dim, is->g + is->first_row[i] + is->cones[k].row);
      }
    }
  }
}

TriboStatus tribo_data_solve(TriboData* data, double deadline, TriboStepInfo* info) {
  Islands* is = &data->solve.islands;
  SolveContext ctx = {data, deadline};
  tribo_parallel_for(is->count, data->solve.nsolver, solve_island, &ctx);
  for (int i = 0; i < is->count; ++i) {
    if (is->status[i] != TRIBO_OK) {
      return tribo_fail(is->status[i], "%s", is->error[i]);
    }
    const TriboSolveStats* s = &is->stats[i];
    info->iterations += s->iterations;
    info->factorisations += s->factorisations;
    info->rungs |= s->rung < TRIBO_RUNG_COUNT ? 1u << s->rung : 0;
    info->regularised += is->soft[i];
    info->normal_relaxation = fmax(info->normal_relaxation, data->solve.h * s->shift);
    info->outcome = s->outcome > info->outcome ? s->outcome : info->outcome;
  }
  tribo_islands_scatter(is, &data->result.problem, data->result.lambda);
  take_relaxed(data);
  return TRIBO_OK;
}
