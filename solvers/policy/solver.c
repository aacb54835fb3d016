// One solve, from the raw problem to the statistics.
#include <math.h>
#include <string.h>

#include "math3.h"
#include "policy.h"
#include "progress.h"
#include "solvers.h"
#include "timer.h"

static TriboStatus check_warm_start(const TriboProblem* p, const TriboWarmStart* warm) {
  size_t n = (size_t)p->nrow;
  if (warm == NULL || warm->lambda == NULL ||
      (tribo_finite(warm->lambda, n) && (warm->sigma == NULL || tribo_finite(warm->sigma, n)))) {
    return TRIBO_OK;
  }
  return tribo_fail(TRIBO_INVALID, "tribo_solver_solve: the warm start holds a number that is not finite");
}

// The warm start in scaled coordinates; cones that it does not know start open or, bilateral ones, held.
static void take_warm_start(TriboSolver* s, const TriboWarmStart* warm) {
  const TriboScaled* sc = &s->scaled;
  s->warm_x = s->warm_u = NULL;
  s->warm_known = warm != NULL ? warm->known : NULL;
  int any = 0;
  if (warm != NULL && warm->lambda != NULL) {
    for (int c = 0; c < sc->ncone; ++c) {
      any |= warm->known == NULL || warm->known[c];
    }
  }
  if (!any) {
    return;
  }
  s->warm_x = tribo_sol_take(s);
  s->warm_u = tribo_sol_take(s);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    int known = warm->known == NULL || warm->known[c];
    for (int i = k->row; i < k->row + k->dim; ++i) {
      s->warm_x[i] = known ? warm->lambda[sc->source[i]] / (sc->s[i] * sc->g) : 0;
      s->warm_u[i] = known && warm->sigma ? warm->sigma[sc->source[i]] * sc->s[i] / sc->g : 0;
    }
    // a new contact or limit starts open, a new bilateral row held
    if (!known && (k->round || sc->lo[k->row] == 0)) {
      s->warm_u[k->row + k->dim - 1] = 1;
    }
  }
  if (warm->sigma == NULL) {
    tribo_sol_velocity(s, s->warm_x, s->warm_u);
  }
}

// Contradicting bilateral rows: their part of W is singular and q has a part in its null space. The proximal steps
// x ← x − (W + ε)⁻¹(W x + q) leave exactly that part as residual, whatever the other cones do, because what these can
// add lies in the range of J.
static int bilateral_rows_contradict(TriboSolver* s) {
  const TriboScaled* sc = &s->scaled;
  int n = sc->n, rows = 0;
  for (int c = 0; c < sc->ncone; ++c) {
    int bilateral = sc->problem->cones[c].kind == TRIBO_CONE_FREE;
    TriboLocal* l = &s->system.local[c];
    *l = (TriboLocal){.k = bilateral ? sc->cone[c].dim : 0, .identity = bilateral, .symmetric = 1};
    for (int i = 0; i < l->k; ++i) {
      l->C[TRIBO_CONE_ROWS * i + i] = 1e-8;
    }
    rows += l->k;
  }
  if (rows == 0 || tribo_sol_system_factor(&s->system) != 0) {
    return 0;
  }
  const size_t pool_mark = s->scratch.used;
  double *x = tribo_sol_take(s), *u = tribo_sol_take(s), *dx = tribo_sol_take(s);
  memset(x, 0, sizeof(double) * (size_t)n);
  double left = 0;
  for (int it = 0; it < 20; ++it) {
    tribo_sol_velocity(s, x, u);
    left = 0;
    for (int c = 0; c < sc->ncone; ++c) {
      if (s->system.local[c].k > 0) {
        for (int i = sc->cone[c].row; i < sc->cone[c].row + sc->cone[c].dim; ++i) {
          left = fmax(left, fabs(u[i]));
        }
      }
    }
    for (int i = 0; i < n; ++i) {
      u[i] = -u[i];
    }
    tribo_sol_system_solve(&s->system, u, dx, 2);
    for (int i = 0; i < n; ++i) {
      x[i] += dx[i];
    }
  }
  s->scratch.used = pool_mark;
  return left > 1e-9;
}

void tribo_solver_relaxed_g(const TriboSolver* s, double* g) {
  const TriboScaled* sc = &s->scaled;
  memmove(g, sc->problem->g, sizeof(double) * (size_t)sc->problem->nrow);
  if (s->shift > 0) {
    for (int i = 0; i < sc->n; ++i) {
      const double own = sc->s[i] * sc->problem->g[sc->source[i]] / sc->g;
      g[sc->source[i]] += (sc->q[i] - own) * sc->g / sc->s[i];
    }
  }
}

// Impulses of the best point in problem units, and the statistics of the solve.
static void write_answer(TriboSolver* s, double* lambda, TriboSolveStats* stats) {
  const TriboScaled* sc = &s->scaled;
  memset(lambda, 0, sizeof(double) * (size_t)sc->problem->nrow);
  for (int i = 0; i < sc->n; ++i) {
    lambda[sc->source[i]] = sc->g * sc->s[i] * s->best[i];
  }
  if (s->relaxed) {
    // a method that solves the relaxation reports how far its answer is from the problem's
    double* u = tribo_sol_take(s);
    s->relaxed = 0;
    tribo_sol_velocity(s, s->best, u);
    s->best_score = tribo_sol_score_point(s, s->best, u);
  }
  stats->rung = s->best_rung;
  stats->rungs_tried = s->rungs_tried;
  tribo_sol_charge_stage(s);
  memcpy(stats->by_rung, s->by_rung, sizeof s->by_rung);
  stats->iterations = s->iterations;
  stats->factorisations = s->system.factorisations;
  stats->effort = s->effort;
  stats->most_effort = s->most_effort;
  stats->shift = s->shift;
  stats->penalty = s->penalty;
  stats->nat = s->best_score.nat;
  stats->natmap_unit = s->best_score.unit;
  stats->outcome = s->shift > 0                                                                        ? TRIBO_RELAXED
                   : tribo_sol_done(s)                                                                 ? TRIBO_SOLVED
                   : s->timed_out                                                                      ? TRIBO_TIME_OUT
                   : s->iterations >= s->settings.common.max_iterations || s->effort >= s->most_effort ? TRIBO_MAX_ITER
                                                                                                       : TRIBO_STALLED;
  // (an answer that is accepted needs no reason)
  const double accept = s->method->kind == TRIBO_METHOD_AUTO ? s->settings.automatic.accept : 0;
  if (stats->outcome != TRIBO_SOLVED && stats->outcome != TRIBO_RELAXED && s->has_system && stats->nat > accept &&
      bilateral_rows_contradict(s)) {
    stats->outcome = TRIBO_INFEASIBLE;
  }
}

// Zero impulses may be the answer; they are also the first best point.
static void try_zero(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  double *zero = tribo_sol_take(s), *u = tribo_sol_take(s);
  memset(zero, 0, sizeof(double) * (size_t)s->scaled.n);
  tribo_sol_project(&s->scaled, zero, zero);
  if (tribo_max_abs(zero, s->scaled.n) > 0) {
    tribo_sol_velocity(s, zero, u);
  } else {
    memcpy(u, s->scaled.q, sizeof(double) * (size_t)s->scaled.n);
  }
  tribo_sol_enter_stage(s, TRIBO_RUNG_ZERO);
  tribo_sol_record(s, zero, u);
  s->scratch.used = pool_mark;
}

// Resets what a solve records.
static void begin(TriboSolver* s) {
  s->best_score.value = INFINITY;
  s->rungs_tried = 0;
  s->rung = s->best_rung = TRIBO_RUNG_ZERO;
  memset(s->by_rung, 0, sizeof s->by_rung);
  s->iterations = s->timed_out = 0;
  s->system.factorisations = 0;
  s->keep_last = 0;
  s->shift = 0;
  if (s->method->kind == TRIBO_METHOD_PGS) {
    s->relaxed = s->method->local == TRIBO_LOCAL_CCP && !s->settings.pgs.de_saxce;
  } else {
    s->relaxed = s->method->kind == TRIBO_METHOD_ADMM && s->settings.admm.relaxed;
  }
  s->effort = 0;
  s->most_effort = s->settings.common.effort > 0 ? s->settings.common.effort : INFINITY;
}

// What a problem is measured by.
static TriboStatus measure(TriboSolver* s, const TriboProblem* problem) {
  s->is_prepared = s->kept_factors = 0;
  s->has_system = s->method->kind != TRIBO_METHOD_SUBADMM || tribo_sol_subadmm_needs_system(s, problem);
  s->scaled.no_response = !s->has_system;
  return tribo_sol_measure(&s->scaled, problem);
}

// The measured problem in scaled coordinates, and its linear system; of one that is prepared only g is new.
static TriboStatus prepare(TriboSolver* s) {
  if (s->is_prepared) {
    tribo_sol_scale_g(&s->scaled);
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_sol_scale(&s->scaled));
  if (s->has_system) {
    TRIBO_TRY(tribo_sol_system_begin(&s->system, &s->scaled, (TriboForm)s->settings.common.form));
  }
  s->is_prepared = 1;
  return TRIBO_OK;
}

// Solves a valid problem that has rows: by the impulses of the warm start where these are accepted, else by the method.
// again: it is the last one but for g.
static TriboStatus solve(TriboSolver* s, const TriboProblem* problem, const TriboWarmStart* warm, int again,
                         double* lambda, TriboSolveStats* stats) {
  TRIBO_TRY(check_warm_start(problem, warm));
  if (again) {
    tribo_sol_measure_g(&s->scaled, problem);
  } else {
    TRIBO_TRY(measure(s, problem));
  }
  TRIBO_TRY(tribo_sol_scratch_begin(&s->scratch, (size_t)problem->nrow));
  begin(s);
  s->penalty = warm != NULL && warm->penalty > 0 && warm->penalty < INFINITY ? warm->penalty : 0;
  if (s->method->kind == TRIBO_METHOD_AUTO && warm != NULL && warm->lambda != NULL &&
      tribo_sol_accept_warm(s, warm, again, lambda)) {
    stats->rung = s->best_rung;
    stats->rungs_tried = s->rungs_tried;
    stats->nat = s->best_score.nat;
    stats->natmap_unit = s->best_score.unit;
    stats->effort = s->effort;
    stats->most_effort = s->most_effort;
    return TRIBO_OK;
  }
  TRIBO_TRY(prepare(s));
  TRIBO_TRY(tribo_sol_scratch_begin(&s->scratch, (size_t)s->scaled.n));
  s->best = tribo_sol_take(s);
  take_warm_start(s, warm);
  if (s->warm_x != NULL) {
    memcpy(s->best, s->warm_x, sizeof(double) * (size_t)s->scaled.n);
  }
  try_zero(s);
  if (!tribo_sol_stop(s)) {
    s->method->run(s);
  }
  TRIBO_TRY(s->scratch.status);
  write_answer(s, lambda, stats);
  return s->scratch.status;
}

static const TriboSolveStats no_work = {
    .outcome = TRIBO_SOLVED, .rung = TRIBO_RUNG_ZERO, .rungs_tried = 1u << TRIBO_RUNG_ZERO};

TriboStatus tribo_solver_solve(TriboSolver* s, const TriboProblem* problem, const TriboWarmStart* warm, double* lambda,
                               TriboSolveStats* stats) {
  if (s == NULL || problem == NULL || stats == NULL || (problem->nrow > 0 && lambda == NULL)) {
    return tribo_fail(TRIBO_INVALID, "tribo_solver_solve: solver, problem, lambda or stats is NULL");
  }
  const double start = tribo_now(), most = s->settings.common.max_time;
  *stats = no_work;
  s->has_unit = 1;
  s->deadline = most > 0 ? start + most : 0;
  TRIBO_TRY(tribo_problem_validate(problem));
  if (problem->nrow > 0) {
    TRIBO_TRY(solve(s, problem, warm, 0, lambda, stats));
    stats->time = tribo_now() - start;
  }
  return TRIBO_OK;
}

static TriboStatus solve_built(TriboSolver* s, const TriboProblem* problem, const TriboWarmStart* warm, int again,
                               double* lambda, TriboSolveStats* stats) {
  const double most = s->settings.common.max_time;
  *stats = no_work;
  s->has_unit = s->settings.common.whole || s->history != NULL || s->method->kind == TRIBO_METHOD_CANAL;
  s->deadline = most > 0 ? tribo_now() + most : 0;
  // the velocities and Jacobians of the step are in g, so a number that is not finite shows there; the full validation
  // names its place
  if (!tribo_finite(problem->g, (size_t)problem->nrow)) {
    return tribo_problem_validate(problem);
  }
  return problem->nrow > 0 ? solve(s, problem, warm, again, lambda, stats) : TRIBO_OK;
}

TriboStatus tribo_solver_solve_built(TriboSolver* s, const TriboProblem* problem, const TriboWarmStart* warm,
                                     double* lambda, TriboSolveStats* stats) {
  return solve_built(s, problem, warm, 0, lambda, stats);
}

TriboStatus tribo_solver_solve_again(TriboSolver* s, const TriboProblem* problem, const TriboWarmStart* warm,
                                     double* lambda, TriboSolveStats* stats) {
  return solve_built(s, problem, warm, 1, lambda, stats);
}
