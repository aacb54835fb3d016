// CRISP: sequential convex programming on an exact penalty (Li, Han, Kang, Ma, Yang, Algorithm 1).
//
// The merit of a point is φ(x; μ) = f + Σ_E μ_i |c_i| + Σ_I μ_i max(0, −c_i), one penalty per row. A step minimises its
// model with rows linearised, q(p) = f + ∇f·p + ½ p·∇²f p + Σ μ_i |c_i + ∇c_i·p| …, in the box |p_j| ≤ Δ. That problem
// is convex and has an answer whatever the rows are, and needs neither multipliers nor second derivatives of rows: this
// is why the method stands where constraint qualifications fail, as they do at every point of a complementarity.
//
//     ρ = (φ(x) − φ(x + p)) / (q(0) − q(p)) decides: φ rises → correct once, then refuse and shrink Δ; else take the
//     step.
//
// Second-order correction: the constants c_i are replaced by c_i(x + p) − ∇c_i·p, which bends the rows back to what
// they are at x + p. When φ has converged, in Δ or in p, a violated point raises penalties and goes on; a feasible one
// ends.
//
// The house's rules differ in four settings (docs/planning.md has the table that chose them): penalties grow for rows
// of one kind at all stages together, or else the violation moves to the stage beside; the radius is at least 1 again
// when they grow; they grow early when the merit stalls; and a feasible plan ends when its cost hardly falls any more.
#include <math.h>
#include <string.h>
#include <time.h>

#include "plan_impl.h"
#include "small_dense.h"
#include "timer.h"

// What a step promised and what came of it.
typedef struct Trial {
  double f, predicted, actual, step;
} Trial;

typedef struct Scp {
  TriboPlan* plan;
  TriboPlanResult* result;
  double f, radius;
  int since;  // iterations since the penalties grew
} Scp;

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Σ_E μ |c| + Σ_I μ max(0, −c)
static double penalty_of(const TriboPlan* plan, const double* c) {
  double sum = 0;
  for (int i = 0; i < plan->m; ++i) {
    sum += plan->mu[i] * (plan->is_inequality[i] ? fmax(0, -c[i]) : fabs(c[i]));
  }
  return sum;
}

static void set_penalty(TriboPlan* plan, int i, double mu) {
  plan->mu[i] = mu;
  plan->above[i] = plan->is_inequality[i] ? 0 : mu;
}

static double largest_penalty(const TriboPlan* plan) {
  return tribo_max_abs(plan->mu, plan->m);
}

// ---- a step ----

// p ← the minimiser of the model whose rows are c + ∇c·p. Returns q(0) − q(p).
static double minimise_model(Scp* scp, const double* c, double radius) {
  TriboPlan* plan = scp->plan;
  const TriboStageData data = {plan->hess, plan->grad, plan->jac, c, plan->above, plan->mu, radius};
  const TriboStageStats stats =
      tribo_sol_stage_qp_solve(plan->qp, &data, plan->settings.tol_qp, TRIBO_PLAN_QP_ITERATIONS, plan->p, plan->y);
  scp->result->qps++;
  scp->result->qp_iterations += stats.iterations;
  scp->result->qp_failures += !stats.is_solved;
  return penalty_of(plan, c) - stats.objective;
}

// Solves the model and evaluates the point it leads to. A point that cannot be evaluated raises the merit.
static TriboStatus try_step(Scp* scp, const double* c, Trial* t) {
  TriboPlan* plan = scp->plan;
  t->predicted = minimise_model(scp, c, scp->radius);
  t->step = tribo_max_abs(plan->p, plan->n);
  for (int j = 0; j < plan->n; ++j) {
    plan->trial[j] = plan->z[j] + plan->p[j];
  }
  TRIBO_TRY(tribo_plan_values(plan, plan->trial, &t->f, plan->c_trial));
  t->actual = scp->f + penalty_of(plan, plan->c) - t->f - penalty_of(plan, plan->c_trial);
  t->actual = isfinite(t->actual) ? t->actual : -INFINITY;
  return TRIBO_OK;
}

// c_model ← c(x + p) − ∇c·p
static void bend_rows(TriboPlan* plan) {
  memcpy(plan->c_model, plan->c_trial, (size_t)plan->m * sizeof(double));
  double* back = plan->work;
  for (int j = 0; j < plan->n; ++j) {
    back[j] = -plan->p[j];
  }
  tribo_sol_stage_add_a(&plan->shape, plan->jac, back, plan->c_model);
}

// ρ, where a prediction below rounding counts as that
static double ratio_of(const Scp* scp, const Trial* t) {
  const double merit = scp->f + penalty_of(scp->plan, scp->plan->c);
  return t->actual / fmax(t->predicted, 1e-12 * (1 + fabs(merit)));
}

static void swap(double** a, double** b) {
  double* keep = *a;
  *a = *b, *b = keep;
}

// The same step with bent rows. Of two steps that lower the merit the one that lowers it more is kept.
static TriboStatus correct(Scp* scp, Trial* t) {
  TriboPlan* plan = scp->plan;
  Trial corrected;
  bend_rows(plan);
  scp->result->corrections++;
  swap(&plan->trial, &plan->first_trial);
  swap(&plan->c_trial, &plan->c_first);
  TRIBO_TRY(try_step(scp, plan->c_model, &corrected));
  if (t->actual > 0 && t->actual >= corrected.actual) {
    swap(&plan->trial, &plan->first_trial);
    swap(&plan->c_trial, &plan->c_first);
    return TRIBO_OK;
  }
  *t = corrected;
  return TRIBO_OK;
}

static TriboStatus take_step(Scp* scp, const Trial* t) {
  TriboPlan* plan = scp->plan;
  swap(&plan->z, &plan->trial);
  swap(&plan->c, &plan->c_trial);
  scp->f = t->f;
  scp->result->accepted++;
  return tribo_plan_derivatives(plan, plan->z, plan->grad, plan->hess, plan->jac);
}

// One pass of Algorithm 1's inner loop: a step, perhaps corrected, taken or not, and the next radius.
static TriboStatus iterate(Scp* scp, TriboPlanIteration* now) {
  TriboPlan* plan = scp->plan;
  const TriboPlanSettings* set = &plan->settings;
  Trial t;
  TRIBO_TRY(try_step(scp, plan->c, &t));
  if (set->correction && isfinite(t.actual) && (t.actual < 0 || ratio_of(scp, &t) < set->correct_below)) {
    TRIBO_TRY(correct(scp, &t));
  }
  now->ratio = ratio_of(scp, &t);
  now->step = t.step;
  now->was_accepted = t.actual > 0;
  scp->result->least_radius = fmin(scp->result->least_radius, scp->radius);
  if (!now->was_accepted || now->ratio < set->low) {
    scp->radius *= set->shrink;
  } else if (now->ratio > set->high && t.step > 0.95 * scp->radius) {
    scp->radius = fmin(set->expand * scp->radius, set->radius_max);
  }
  if (now->was_accepted) {
    TRIBO_TRY(take_step(scp, &t));
  }
  now->radius = scp->radius;
  return TRIBO_OK;
}

// ---- penalties ----

static double violation_of(const TriboPlan* plan, int i) {
  return plan->is_inequality[i] ? -plan->c[i] : fabs(plan->c[i]);
}

// Penalties of violated rows, of their kinds and of the rest grow. 0 when all violated rows have the largest already.
static int grow_penalties(Scp* scp) {
  TriboPlan* plan = scp->plan;
  const TriboPlanSettings* set = &plan->settings;
  int can_grow = 0;
  memset(plan->kind_is_violated, 0, (size_t)plan->nkind);
  for (int i = 0; i < plan->m; ++i) {
    if (violation_of(plan, i) > set->tol_violation) {
      plan->kind_is_violated[plan->kind[i]] = 1;
      can_grow |= plan->mu[i] < set->penalty_max;
    }
  }
  scp->since = 0;
  if (!can_grow) {
    return 0;
  }
  for (int i = 0; i < plan->m; ++i) {
    const int is_violated = violation_of(plan, i) > set->tol_violation;
    const double kind = plan->kind_is_violated[plan->kind[i]] ? set->grow_kind : 1;
    const double factor = is_violated ? set->grow : fmax(kind, set->grow_rest);
    set_penalty(plan, i, fmin(factor * plan->mu[i], fmax(set->penalty_max, plan->mu[i])));
  }
  scp->result->growths++;
  scp->radius = fmax(scp->radius, set->reset_radius);
  return 1;
}

// Whether the merit has fallen by less than `part` of `size` over the window.
static int hardly_falls(const Scp* scp, const TriboPlanIteration* now, double part, double size) {
  const int window = scp->plan->settings.window;
  return part > 0 && scp->since > window && now[-window].merit - now->merit < part * size;
}

// After an iteration: 1 to go on, 0 when the solve has ended, with its outcome.
static int go_on(Scp* scp, const TriboPlanIteration* now) {
  const TriboPlanSettings* set = &scp->plan->settings;
  const int is_feasible = now->violation < set->tol_violation;
  scp->since++;
  if (is_feasible && hardly_falls(scp, now, set->tail, fmax(1, fabs(now->cost)))) {
    scp->result->outcome = TRIBO_PLAN_SOLVED;
    return 0;
  }
  const int has_converged = scp->radius < set->tol_radius || now->step < set->tol_step;
  const int stalls = !is_feasible && hardly_falls(scp, now, set->stall, penalty_of(scp->plan, scp->plan->c));
  if (!has_converged && !stalls) {
    return 1;
  }
  if (is_feasible || !grow_penalties(scp)) {
    scp->result->outcome = is_feasible ? TRIBO_PLAN_SOLVED : TRIBO_PLAN_PENALTY_MAX;
    return 0;
  }
  return 1;
}

// ---- the solve ----

static TriboStatus begin(Scp* scp, const double* z0) {
  TriboPlan* plan = scp->plan;
  memcpy(plan->z, z0, (size_t)plan->n * sizeof(double));
  TRIBO_TRY(tribo_plan_finite_values(plan, plan->z, "tribo_plan_solve", &scp->f, plan->c));
  TRIBO_TRY(tribo_plan_derivatives(plan, plan->z, plan->grad, plan->hess, plan->jac));
  TRIBO_TRY(tribo_plan_check_convex(plan, "tribo_plan_solve"));
  for (int i = 0; i < plan->m; ++i) {
    set_penalty(plan, i, plan->settings.penalty);
  }
  scp->radius = scp->result->least_radius = plan->settings.radius;
  return TRIBO_OK;
}

// Steps until the solve ends; `outcome` says how.
static TriboStatus run(Scp* scp, TriboPlanProgress* progress, void* user) {
  TriboPlan* plan = scp->plan;
  TriboPlanResult* result = scp->result;
  const double end = plan->settings.max_time > 0 ? tribo_now() + plan->settings.max_time : INFINITY;
  result->outcome = TRIBO_PLAN_MAX_ITER;
  while (result->iterations < plan->settings.max_iterations) {
    TriboPlanIteration* now = &plan->history[result->iterations];
    *now = (TriboPlanIteration){.iteration = result->iterations, .penalty = largest_penalty(plan)};
    TRIBO_TRY(iterate(scp, now));
    now->cost = scp->f;
    now->merit = scp->f + penalty_of(plan, plan->c);
    now->violation = tribo_plan_violation(plan, plan->c, &result->worst_stage, &result->worst_row);
    result->step = now->step;
    result->iterations++;
    if (progress != NULL && progress(now, user) != 0) {
      result->outcome = TRIBO_PLAN_USER;
      break;
    }
    if (!go_on(scp, now)) {
      break;
    }
    if (tribo_now() > end) {
      result->outcome = TRIBO_PLAN_MAX_TIME;
      break;
    }
  }
  return TRIBO_OK;
}

// What the model still promises in a small box: zero at a stationary point of the merit function.
static double stationarity(Scp* scp, double merit) {
  TriboPlanResult counts = *scp->result;
  const double promise = minimise_model(scp, scp->plan->c, 1e-3) / fmax(1, fabs(merit));
  *scp->result = counts;
  return promise;
}

TriboStatus tribo_plan_solve(TriboPlan* plan, const double* z0, TriboPlanProgress* progress, void* user,
                             TriboPlanResult* result) {
  TRIBO_REQUIRE(plan);
  TRIBO_REQUIRE(z0);
  TRIBO_REQUIRE(result);
  const double before = processor_time();
  *result = (TriboPlanResult){.worst_row = ""};
  Scp scp = {.plan = plan, .result = result};
  TRIBO_TRY(begin(&scp, z0));
  TRIBO_TRY(run(&scp, progress, user));
  result->z = plan->z;
  result->cost = scp.f;
  result->merit = scp.f + penalty_of(plan, plan->c);
  result->violation = tribo_plan_violation(plan, plan->c, &result->worst_stage, &result->worst_row);
  result->penalty = largest_penalty(plan);
  result->radius = scp.radius;
  result->history = plan->history;
  result->time = processor_time() - before;
  result->stationarity = stationarity(&scp, result->merit);
  result->multipliers = plan->y;
  return TRIBO_OK;
}
