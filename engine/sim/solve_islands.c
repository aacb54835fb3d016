// The contact problem of a step: every island solved, in parallel.
#include "data_impl.h"

#include <math.h>
#include <string.h>

#include "parallel.h"
#include "solvers.h"
#include "timer.h"

typedef struct SolveContext {
  TriboData* data;
  double deadline;  // 0: none
} SolveContext;

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
  is->stats[i] = (TriboSolveStats){.outcome = TRIBO_SOLVED, .rung = TRIBO_RUNG_COUNT};
  return 1;
}

// The answer of one island, and the g that it is for. An island with half of all rows is what the others wait for: a
// solver that can gets all threads for it.
static TriboStatus solve_problem(TriboData* data, TriboSolver* solver, int i) {
  Islands* is = &data->solve.islands;
  if (data->solve.nsolver > 1) {
    const int is_large = 2 * (is->first_row[i + 1] - is->first_row[i]) >= is->first_row[is->count];
    TRIBO_TRY(tribo_solver_set(solver, "threads", is_large ? data->solve.nsolver : 1));
  }
  TriboProblem problem = tribo_islands_problem(is, &data->result.problem, i);
  TriboWarmStart warm = {.lambda = is->warm_lambda + is->first_row[i],
                         .sigma = is->is_again ? NULL : is->warm_sigma + is->first_row[i],
                         .known = is->known + is->first_cone[i],
                         .penalty = is->is_again ? is->stats[i].penalty : 0};
  // (a solver knows its last problem alone)
  const int again = is->has_new_g_only && is->count == 1;
  TRIBO_TRY((again ? tribo_solver_solve_again : tribo_solver_solve_built)(
      solver, &problem, &warm, is->lambda + is->first_row[i], &is->stats[i]));
  if (is->stats[i].shift > 0) {
    tribo_solver_relaxed_g(solver, is->g + is->first_row[i]);
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
  is->status[i] = status == TRIBO_OK ? solve_problem(ctx->data, solver, i) : status;
  if (is->status[i] != TRIBO_OK) {
    strncpy(is->error[i], tribo_last_error(), sizeof is->error[i] - 1);
    is->error[i][sizeof is->error[i] - 1] = '\0';
  }
}

TriboStatus tribo_data_solve_exactly(TriboData* data, int exactly) {
  if (data->solve.is_auto && data->solve.is_exact != exactly) {
    for (int i = 0; i < data->solve.nsolver; ++i) {
      TRIBO_TRY(tribo_solver_set(data->solve.solvers[i], "relax", !exactly));
      TRIBO_TRY(tribo_solver_set(data->solve.solvers[i], "accept", exactly ? 0 : data->model->world.accept));
    }
    data->solve.is_exact = exactly;
  }
  return TRIBO_OK;
}

// The step's own problem becomes the one that was solved.
static void take_relaxed(TriboData* data) {
  const Islands* is = &data->solve.islands;
  const TriboProblem* problem = &data->result.problem;
  double most = 0;
  data->solve.most_relaxed = -1;
  for (int i = 0; i < is->count; ++i) {
    for (int k = is->stats[i].shift > 0 ? is->first_cone[i] : is->first_cone[i + 1]; k < is->first_cone[i + 1]; ++k) {
      const TriboCone* whole = &problem->cones[is->cone_of[k]];
      const double* g = is->g + is->first_row[i] + is->cones[k].row;
      for (int r = 0; r < whole->dim; ++r) {
        if (fabs(g[r] - problem->g[whole->row + r]) > most) {
          most = fabs(g[r] - problem->g[whole->row + r]);
          data->solve.most_relaxed = is->cone_of[k];
        }
      }
      tribo_dyn_relax_rows(data->dynamics, whole->row, whole->dim, g);
    }
  }
}

TriboStatus tribo_data_solve(TriboData* data, double h, double deadline, TriboStepInfo* info) {
  Islands* is = &data->solve.islands;
  SolveContext ctx = {data, deadline};
  // (of a part that is solved again, with more contacts, only the last solve counts)
  info->relaxed = 0;
  info->relaxation = 0;
  data->solve.most_effort = 0;
  tribo_parallel_for(is->count, data->solve.nsolver, solve_island, &ctx);
  for (int i = 0; i < is->count; ++i) {
    if (is->status[i] != TRIBO_OK) {
      return tribo_fail(is->status[i], "%s", is->error[i]);
    }
    const TriboSolveStats* s = &is->stats[i];
    info->iterations += s->iterations;
    info->factorisations += s->factorisations;
    info->effort += s->effort;
    data->solve.most_effort += s->most_effort;
    info->rungs |= s->rung < TRIBO_RUNG_COUNT ? 1u << s->rung : 0;
    info->relaxed += s->shift > 0;
    info->relaxation = fmax(info->relaxation, h * s->shift);
    info->outcome = s->outcome > info->outcome ? s->outcome : info->outcome;
  }
  tribo_islands_scatter(is, &data->result.problem, data->result.lambda);
  take_relaxed(data);
  return TRIBO_OK;
}
