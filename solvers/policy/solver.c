// The solver object: registry, settings, workspace; one solve from the raw problem to the statistics.
#include "score.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "math3.h"
#include "memory.h"
#include "solvers.h"
#include "timer.h"

enum { POOL_VECTORS = 72 };

// One table per set of defaults.
#define ROW_PLAIN(...) TRIBO_SETTING_ROW(TriboCommonSettings, __VA_ARGS__)
#define ROW_ADMM(...) TRIBO_SETTING_ROW(TriboAdmmSettings, __VA_ARGS__)
#define ROW_PGS(...) TRIBO_SETTING_ROW(TriboPgsSettings, __VA_ARGS__)
#define ROW_AUTO(...) TRIBO_SETTING_ROW(TriboAutoSettings, __VA_ARGS__)
static const TriboSetting plain_table[] = {TRIBO_PLAIN_SETTINGS(ROW_PLAIN)};
static const TriboSetting auto_table[] = {TRIBO_AUTO_SETTINGS(ROW_AUTO)};
static const TriboSetting admm_table[] = {TRIBO_ADMM_SETTINGS(ROW_ADMM, 1.5, 1e-6, 0, 1, 0, 5)};
static const TriboSetting admm_ccp_table[] = {TRIBO_ADMM_SETTINGS(ROW_ADMM, 1, 0, 1, 0, 1, 0)};
static const TriboSetting admm_fixed_table[] = {TRIBO_ADMM_SETTINGS(ROW_ADMM, 1, 1e-6, 1, 0, 0, 0)};
static const TriboSetting admm_linear_table[] = {TRIBO_ADMM_SETTINGS(ROW_ADMM, 1, 1e-6, 1, 3, 0, 0)};
static const TriboSetting admm_spectral_table[] = {TRIBO_ADMM_SETTINGS(ROW_ADMM, 1, 1e-6, 0, 2, 0, 0)};
static const TriboSetting pgs_table[] = {TRIBO_PGS_SETTINGS(ROW_PGS, 0, 0)};
static const TriboSetting pgs_saxce_table[] = {TRIBO_PGS_SETTINGS(ROW_PGS, 1, 0)};
static const TriboSetting pgs_early_table[] = {TRIBO_PGS_SETTINGS(ROW_PGS, 1, 1e-8)};
#define TABLE(t) (t), (int)(sizeof(t) / sizeof(t)[0])
#define TABLE_1 "Tsounis, Grandia, Baecher 2025, Table I"

// A new solver is a line here and a function.
static const TriboMethod methods[] = {
    {{"auto", "warm path, then a ladder of Newton, ADMM and interior point until one solves the problem",
      "this project; rungs as in tribo_rung_name", TABLE(auto_table)},
     tribo_sol_run_auto,
     0},
    {{"admm", "alternating directions with row scaling, adaptive penalty and Anderson acceleration",
      "Carpentier, Le Lidec, Montaut 2024, Algorithm 1; Tsounis, Grandia, Baecher 2025, Algorithm 6",
      TABLE(admm_table)},
     tribo_sol_run_admm,
     0},
    {{"newton", "semismooth Newton on the reduced, regularised Alart-Curnier system", "Alart and Curnier 1991",
      TABLE(plain_table)},
     tribo_sol_run_newton,
     0},
    {{"ipm", "interior point with Nesterov-Todd scaling and the De Saxce term inside, Newton at the end",
      "Nesterov and Todd 1998; Mehrotra 1992", TABLE(plain_table)},
     tribo_sol_run_interior,
     0},
    {{"pgs-ccp", "Gauss-Seidel with Euclidean projections on the cones and De Saxce's term",
      TABLE_1 ", Algorithms 5 and 2; Tasora and Anitescu 2011", TABLE(pgs_saxce_table)},
     tribo_sol_run_pgs,
     TRIBO_LOCAL_CCP},
    {{"pgs-ncp", "Gauss-Seidel with normal rows first, friction rows on the disc they allow",
      TABLE_1 ", Algorithms 5 and 3", TABLE(pgs_table)},
     tribo_sol_run_pgs,
     TRIBO_LOCAL_NCP},
    {{"nbgs", "Gauss-Seidel with every contact solved exactly, by a quartic", TABLE_1 ", Algorithms 5 and 4",
      TABLE(pgs_table)},
     tribo_sol_run_pgs,
     TRIBO_LOCAL_QUARTIC},
    {{"raisim", "Gauss-Seidel with every contact solved by bisection", TABLE_1 "; Hwangbo, Lee, Hutter 2018",
      TABLE(pgs_table)},
     tribo_sol_run_pgs,
     TRIBO_LOCAL_BISECTION},
    {{"raisim-ds", "raisim with De Saxce's term", TABLE_1, TABLE(pgs_saxce_table)},
     tribo_sol_run_pgs,
     TRIBO_LOCAL_BISECTION},
    {{"raisim-ds-es", "raisim-ds that ends when the objective hardly changes", TABLE_1 ", (160)",
      TABLE(pgs_early_table)},
     tribo_sol_run_pgs,
     TRIBO_LOCAL_BISECTION},
    {{"admm-ccp", "ADMM on the convex relaxation, fixed penalty", TABLE_1 ", Algorithm 6", TABLE(admm_ccp_table)},
     tribo_sol_run_admm,
     0},
    {{"admm-ncp-fp", "ADMM with a fixed penalty", TABLE_1 ", Algorithm 6", TABLE(admm_fixed_table)},
     tribo_sol_run_admm,
     0},
    {{"admm-ncp-la", "ADMM whose penalty is multiplied or divided by 1.5", TABLE_1 ", Algorithm 6, (171)",
      TABLE(admm_linear_table)},
     tribo_sol_run_admm,
     0},
    {{"admm-ncp-sa", "ADMM whose penalty follows the spectrum", TABLE_1 ", Algorithm 6, (172)",
      TABLE(admm_spectral_table)},
     tribo_sol_run_admm,
     0},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

int tribo_solver_count(void) {
  return METHODS;
}

const TriboSolverInfo* tribo_solver_info(int index) {
  return index >= 0 && index < METHODS ? &methods[index].info : NULL;
}

static const TriboMethod* find(const char* id) {
  for (int i = 0; id != NULL && i < METHODS; ++i) {
    if (strcasecmp(methods[i].info.id, id) == 0) {
      return &methods[i];
    }
  }
  return NULL;
}

const TriboSolverInfo* tribo_solver_find(const char* id) {
  const TriboMethod* m = find(id);
  return m ? &m->info : NULL;
}

TriboStatus tribo_solver_create(const char* id, TriboSolver** out) {
  if (id == NULL || out == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_solver_create: id or out is NULL");
  }
  *out = NULL;
  const TriboMethod* method = find(id);
  if (method == NULL) {
    const char* known[METHODS];
    for (int i = 0; i < METHODS; ++i) {
      known[i] = methods[i].info.id;
    }
    const char* near = tribo_nearest_word(id, known, METHODS);
    return tribo_fail(TRIBO_NOT_FOUND, "tribo_solver_create: there is no solver '%s'%s%s%s", id,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  TRIBO_TRY(tribo_la_init());
  TriboSolver* s = tribo_alloc(1, sizeof *s);
  if (s == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_solver_create: no memory");
  }
  s->method = method;
  tribo_settings_default(method->info.settings, method->info.nsetting, &s->settings);
  TriboStatus status = tribo_sol_system_create(&s->system);
  if (status != TRIBO_OK) {
    tribo_solver_destroy(s);
    return status;
  }
  *out = s;
  return TRIBO_OK;
}

void tribo_solver_destroy(TriboSolver* s) {
  if (s == NULL) {
    return;
  }
  tribo_sol_scaled_free(&s->scaled);
  tribo_sol_system_free(&s->system);
  tribo_free(s->pool);
  tribo_free(s);
}

TriboStatus tribo_solver_set(TriboSolver* s, const char* key, double value) {
  if (s == NULL || key == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_solver_set: solver or key is NULL");
  }
  const TriboSolverInfo* info = &s->method->info;
  return tribo_settings_set(info->settings, info->nsetting, &s->settings, info->id, key, value);
}

TriboStatus tribo_solver_get(const TriboSolver* s, const char* key, double* value) {
  if (s == NULL || key == NULL || value == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_solver_get: solver, key or value is NULL");
  }
  const TriboSolverInfo* info = &s->method->info;
  return tribo_settings_get(info->settings, info->nsetting, &s->settings, info->id, key, value);
}

void tribo_solver_set_history(TriboSolver* s, TriboSolverHistoryFn* fn, void* user) {
  s->history = fn;
  s->history_user = user;
}

// ---- what the methods share ----

double* tribo_sol_take(TriboSolver* s) {
  double* v = s->pool + s->pool_used;
  s->pool_used += (size_t)s->scaled.n;
  return v;
}

void tribo_sol_velocity(const TriboSolver* s, const double* x, double* u) {
  tribo_sol_apply(&s->scaled, x, u);
  for (int i = 0; i < s->scaled.n; ++i) {
    u[i] += s->scaled.q[i];
  }
}

int tribo_sol_done(const TriboSolver* s) {
  return s->best_score.value <= 1;
}

int tribo_sol_stop(TriboSolver* s) {
  s->timed_out = s->timed_out || (s->deadline > 0 && tribo_now() >= s->deadline);
  return tribo_sol_done(s) || s->timed_out || s->iterations >= s->settings.common.max_iterations ||
         s->system.factorisations >= s->max_factorisations;
}

// what the stage at work has done since it was entered: all there is less what others did
static void settle(TriboSolver* s) {
  TriboRungWork* own = &s->by_rung[s->rung];
  own->iterations = s->iterations;
  own->factorisations = s->system.factorisations;
  for (int i = 0; i < TRIBO_RUNG_COUNT; ++i) {
    own->iterations -= i != (int)s->rung ? s->by_rung[i].iterations : 0;
    own->factorisations -= i != (int)s->rung ? s->by_rung[i].factorisations : 0;
  }
}

void tribo_sol_enter(TriboSolver* s, TriboRung rung) {
  settle(s);
  s->rung = rung;
  s->rungs_tried |= 1u << rung;
}

// what x with u = W x + q is worth in problem units
static TriboScore judge(const TriboSolver* s, const double* x, const double* u) {
  const TriboScaled* sc = &s->scaled;
  TriboTally tally = {.mean = sc->mean, .relaxed = s->relaxed};
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    const TriboCone* raw = &sc->problem->cones[c];
    double lambda[TRIBO_CONE_ROWS] = {0}, sigma[TRIBO_CONE_ROWS] = {0};
    for (int i = k->row; i < k->row + k->dim; ++i) {
      lambda[sc->source[i] - raw->row] = sc->g * sc->s[i] * x[i];
      sigma[sc->source[i] - raw->row] = sc->g * u[i] / sc->s[i];
    }
    tribo_sol_tally(&tally, raw, k->mean, lambda, sigma);
  }
  return tribo_sol_score(&tally, sc->norm_g, &s->settings.common);
}

// the same with u from J and M⁻¹ instead of W (delassus.c)
static TriboScore judge_raw(TriboSolver* s, const double* x) {
  const size_t mark = s->pool_used;
  double* u = tribo_sol_take(s);
  tribo_sol_apply_raw(&s->scaled, x, u);
  for (int i = 0; i < s->scaled.n; ++i) {
    u[i] += s->scaled.q[i];
  }
  s->pool_used = mark;
  return judge(s, x, u);
}

TriboScore tribo_sol_note(TriboSolver* s, const double* x, const double* u) {
  TriboScore score = judge(s, x, u);
  if (score.value <= 1 && s->scaled.has_W && s->scaled.W_pays) {
    score = judge_raw(s, x);
    s->scaled.W_pays = score.value <= 1;
  }
  if (score.value < s->best_score.value || s->keep_last) {
    s->best_score = score;
    s->best_rung = s->rung;
    memcpy(s->best, x, sizeof(double) * (size_t)s->scaled.n);
  }
  if (s->history != NULL) {
    s->history(s->iterations, s->rung, score.nat, score.unit, s->history_user);
  }
  return score;
}

double tribo_sol_residual(TriboSolver* s, const double* x, const double* u) {
  const TriboScaled* sc = &s->scaled;
  size_t mark = s->pool_used;
  double* f = tribo_sol_take(s);
  TriboScore score = tribo_sol_note(s, x, u);
  for (int i = 0; i < sc->n; ++i) {
    f[i] = x[i] - u[i];
  }
  tribo_sol_alart_curnier(sc, f, f);
  for (int i = 0; i < sc->n; ++i) {
    f[i] = x[i] - f[i];
  }
  double size = fmax(tribo_sol_norm(sc->q, sc->n), fmax(tribo_sol_norm(x, sc->n), tribo_sol_norm(u, sc->n)));
  double j = fmax(score.unit, size > 0 ? tribo_sol_norm(f, sc->n) / size : 0);
  s->pool_used = mark;
  return j;
}

int tribo_sol_warm_is_better(TriboSolver* s) {
  if (s->warm_x == NULL) {
    return 0;
  }
  double zero = s->best_score.value;
  size_t mark = s->pool_used;
  double* u = tribo_sol_take(s);
  tribo_sol_velocity(s, s->warm_x, u);
  double warm = tribo_sol_note(s, s->warm_x, u).value;
  s->pool_used = mark;
  return warm < zero;
}

// ---- one solve ----

static TriboStatus check_warm_start(const TriboProblem* p, const TriboWarmStart* warm) {
  size_t n = (size_t)p->nrow;
  if (warm == NULL || warm->lambda == NULL ||
      (tribo_finite(warm->lambda, n) && (warm->sigma == NULL || tribo_finite(warm->sigma, n)))) {
    return TRIBO_OK;
  }
  return tribo_fail(TRIBO_INVALID, "tribo_solver_solve: the warm start holds a number that is not finite");
}

static void take_warm_start(TriboSolver* s, const TriboWarmStart* warm) {
  const TriboScaled* sc = &s->scaled;
  s->warm_x = s->warm_u = NULL;
  s->warm_known = warm != NULL ? warm->known : NULL;
  int any = 0;
  for (int c = 0; c < sc->ncone && warm != NULL && warm->lambda != NULL; ++c) {
    any |= warm->known == NULL || warm->known[c];
  }
  if (!any) {
    return;
  }
  s->warm_x = tribo_sol_take(s);
  s->warm_u = tribo_sol_take(s);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
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
  size_t mark = s->pool_used;
  double *x = tribo_sol_take(s), *u = tribo_sol_take(s), *dx = tribo_sol_take(s);
  memset(x, 0, sizeof(double) * (size_t)n);
  double left = 0;
  for (int it = 0; it < 20; ++it) {
    tribo_sol_velocity(s, x, u);
    left = 0;
    for (int c = 0; c < sc->ncone; ++c) {
      for (int i = sc->cone[c].row; s->system.local[c].k > 0 && i < sc->cone[c].row + sc->cone[c].dim; ++i) {
        left = fmax(left, fabs(u[i]));
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
  s->pool_used = mark;
  return left > 1e-9;
}

void tribo_solver_levelled(const TriboSolver* s, double* g) {
  const TriboScaled* sc = &s->scaled;
  memmove(g, sc->problem->g, sizeof(double) * (size_t)sc->problem->nrow);
  for (int i = 0; s->shift > 0 && i < sc->n; ++i) {
    const double own = sc->s[i] * sc->problem->g[sc->source[i]] / sc->g;
    g[sc->source[i]] += (sc->q[i] - own) * sc->g / sc->s[i];
  }
}

static void write_answer(TriboSolver* s, double* lambda, TriboSolveStats* stats) {
  const TriboScaled* sc = &s->scaled;
  memset(lambda, 0, sizeof(double) * (size_t)sc->problem->nrow);
  for (int i = 0; i < sc->n; ++i) {
    lambda[sc->source[i]] = sc->g * sc->s[i] * s->best[i];
  }
  if (s->relaxed) {
    // whoever solves the relaxation is told how far that is from the problem
    double* u = tribo_sol_take(s);
    s->relaxed = 0;
    tribo_sol_velocity(s, s->best, u);
    s->best_score = judge(s, s->best, u);
  }
  stats->rung = s->best_rung;
  stats->rungs_tried = s->rungs_tried;
  settle(s);
  memcpy(stats->by_rung, s->by_rung, sizeof s->by_rung);
  stats->iterations = s->iterations;
  stats->factorisations = s->system.factorisations;
  stats->shift = s->shift;
  stats->nat = s->best_score.nat;
  stats->natmap_unit = s->best_score.unit;
  stats->outcome =
      tribo_sol_done(s) ? TRIBO_SOLVED
      : s->timed_out    ? TRIBO_TIME_OUT
      : s->iterations >= s->settings.common.max_iterations || s->system.factorisations >= s->max_factorisations
          ? TRIBO_MAX_ITER
          : TRIBO_STALLED;
  if (stats->outcome != TRIBO_SOLVED && bilateral_rows_contradict(s)) {
    stats->outcome = TRIBO_INFEASIBLE;
  }
}

// no impulse at all may be the answer; it is also the first best point
static void try_zero(TriboSolver* s) {
  const size_t mark = s->pool_used;
  double *zero = tribo_sol_take(s), *u = tribo_sol_take(s);
  memset(zero, 0, sizeof(double) * (size_t)s->scaled.n);
  tribo_sol_project(&s->scaled, zero, zero);
  if (tribo_sol_max(zero, s->scaled.n) > 0) {
    tribo_sol_velocity(s, zero, u);
  } else {
    memcpy(u, s->scaled.q, sizeof(double) * (size_t)s->scaled.n);
  }
  tribo_sol_enter(s, TRIBO_RUNG_ZERO);
  tribo_sol_note(s, zero, u);
  s->pool_used = mark;
}

// nothing has been tried yet
static void begin(TriboSolver* s) {
  const int gauss_seidel = s->method->run == tribo_sol_run_pgs;
  s->best_score.value = INFINITY;
  s->rungs_tried = 0;
  s->rung = s->best_rung = TRIBO_RUNG_ZERO;
  memset(s->by_rung, 0, sizeof s->by_rung);
  s->iterations = s->timed_out = 0;
  s->keep_last = 0;
  s->shift = 0;
  s->relaxed = gauss_seidel ? s->method->local == TRIBO_LOCAL_CCP && !s->settings.pgs.de_saxce
                            : s->method->run == tribo_sol_run_admm && s->settings.admm.relaxed;
  s->max_factorisations = 1 << 30;
}

// A problem that has rows and is one. Old impulses that still fit are the answer; else it is scaled and solved.
static TriboStatus solve(TriboSolver* s, const TriboProblem* problem, const TriboWarmStart* warm, double* lambda,
                         TriboSolveStats* stats) {
  TRIBO_TRY(check_warm_start(problem, warm));
  TRIBO_TRY(tribo_sol_measure(&s->scaled, problem));
  TRIBO_TRY(TRIBO_RESERVE(&s->pool, &s->pool_capacity, POOL_VECTORS * (size_t)problem->nrow));
  begin(s);
  if (s->method->run == tribo_sol_run_auto && warm != NULL && warm->lambda != NULL && tribo_sol_keep(s, warm, lambda)) {
    stats->rung = s->best_rung;
    stats->rungs_tried = s->rungs_tried;
    stats->nat = s->best_score.nat;
    stats->natmap_unit = s->best_score.unit;
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_sol_scale(&s->scaled));
  TRIBO_TRY(tribo_sol_system_begin(&s->system, &s->scaled, (TriboForm)s->settings.common.form));
  s->pool_used = 0;
  s->best = tribo_sol_take(s);
  take_warm_start(s, warm);
  if (s->warm_x != NULL) {
    memcpy(s->best, s->warm_x, sizeof(double) * (size_t)s->scaled.n);
  }
  try_zero(s);
  if (!tribo_sol_stop(s)) {
    s->method->run(s);
  }
  write_answer(s, lambda, stats);
  return TRIBO_OK;
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
  s->deadline = most > 0 ? start + most : 0;
  TRIBO_TRY(tribo_problem_validate(problem));
  if (problem->nrow > 0) {
    TRIBO_TRY(solve(s, problem, warm, lambda, stats));
    stats->time = tribo_now() - start;
  }
  return TRIBO_OK;
}

TriboStatus tribo_solver_solve_built(TriboSolver* s, const TriboProblem* problem, const TriboWarmStart* warm,
                                     double* lambda, TriboSolveStats* stats) {
  const double most = s->settings.common.max_time;
  *stats = no_work;
  s->deadline = most > 0 ? tribo_now() + most : 0;
  // the velocities and Jacobians of the step are in g: what is not finite in them shows there; who made it is told by
  // the full look
  if (!tribo_finite(problem->g, (size_t)problem->nrow)) {
    return tribo_problem_validate(problem);
  }
  return problem->nrow > 0 ? solve(s, problem, warm, lambda, stats) : TRIBO_OK;
}
