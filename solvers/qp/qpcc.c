// The QPCC solver as a whole: memory, one solve, and what it gives back.
#include <math.h>
#include <string.h>

#include "memory.h"
#include "qpcc_impl.h"
#include "qpcc_settings.h"
#include "small_dense.h"

#define ROW(...) TRIBO_SETTING_ROW(TriboQpccSettings, __VA_ARGS__)
static const TriboSetting settings_table[] = {TRIBO_QPCC_SETTINGS(ROW)};
enum { SETTINGS = (int)(sizeof settings_table / sizeof settings_table[0]) };

const TriboSetting* tribo_qpcc_settings(int* count) {
  *count = SETTINGS;
  return settings_table;
}

TriboQpccSettings tribo_qpcc_settings_default(void) {
  TriboQpccSettings settings = {0};
  tribo_settings_default(settings_table, SETTINGS, &settings);
  return settings;
}

const char* tribo_qpcc_mode_name(TriboQpccMode mode) {
  static const char* const names[] = {"stick", "slide", "break", "held"};
  return (int)mode >= 0 && mode <= TRIBO_QPCC_HELD ? names[mode] : "?";
}

const char* tribo_qpcc_outcome_name(TriboQpccOutcome outcome) {
  static const char* const names[] = {"solved", "local", "max_iter", "max_time", "infeasible"};
  return (int)outcome >= 0 && outcome <= TRIBO_QPCC_INFEASIBLE ? names[outcome] : "?";
}

// ---- memory

static int make_point(ModePoint* p, size_t ncon, size_t ld) {
  p->mode = tribo_alloc(ncon, 1);
  p->angle = tribo_alloc(ncon, sizeof *p->angle);
  p->cut = tribo_alloc(MOST_CUTS * ncon, sizeof *p->cut);
  p->ncut = tribo_alloc(ncon, 1);
  p->z = tribo_alloc(ld, sizeof *p->z);
  p->ratio = tribo_alloc(ncon, sizeof *p->ratio);
  return p->ratio && p->mode && p->angle && p->cut && p->ncut && p->z;
}

// An array of `count` numbers of the solver's.
static double* numbers(int* all, size_t count) {
  double* made = tribo_alloc(count, sizeof *made);
  *all = *all && made != NULL;
  return made;
}

// The scaled problem and its rows.
static int make_problem(TriboQpccSolver* s, size_t na, size_t ncon, size_t nres, size_t ld) {
  const size_t nc = 3 * ncon, ldr = (size_t)tribo_four_up((int)nres);
  int all = 1;
  s->xa = numbers(&all, na);
  s->xc = numbers(&all, ncon);
  s->xs = numbers(&all, ncon);
  s->E = numbers(&all, ldr * ld);
  s->e = numbers(&all, ldr);
  s->S = numbers(&all, nc * ld);
  s->g = numbers(&all, nc);
  s->lo = numbers(&all, na);
  s->hi = numbers(&all, na);
  s->L = numbers(&all, ld * ld);
  s->y0 = numbers(&all, ld);
  s->row_lambda = numbers(&all, ld * ld);
  s->row_sigma = numbers(&all, nc * ld);
  s->row_upper = numbers(&all, na * ld);
  s->pool = numbers(&all, MOST_POOL * ncon * ld);
  s->alm = numbers(&all, tribo_sol_alm_size((int)na, (int)nc, (int)nres));
  s->at = tribo_alloc(ncon, sizeof *s->at);
  s->rows = tribo_alloc(MOST_ROWS * ncon + 2 * na, sizeof *s->rows);
  s->at_bound = tribo_alloc(2 * na, 1);
  return all && s->at && s->rows && s->at_bound;
}

// Vectors of the methods, and the answer.
static int make_scratch(TriboQpccSolver* s, size_t na, size_t ncon, size_t nres, size_t ld) {
  const size_t nc = 3 * ncon, angles = 2 * ncon, most = ld + 6 * ncon;
  int all = 1;
  s->z = numbers(&all, ld);
  s->dz = numbers(&all, ld);
  s->dy = numbers(&all, ld);
  s->gradient = numbers(&all, most);
  s->residual = numbers(&all, (size_t)tribo_four_up((int)nres));
  s->sigma = numbers(&all, nc);
  s->value = numbers(&all, ld);
  s->angle_c = numbers(&all, angles * ld);
  s->angle_dy = numbers(&all, angles * ld);
  s->angle_e = numbers(&all, angles * ld);
  s->angle_du = numbers(&all, angles * ld);
  s->hessian = numbers(&all, angles * angles);
  s->slope = numbers(&all, most);
  s->gain = numbers(&all, ncon);
  s->sector = numbers(&all, 2 * ncon);
  s->cuts = numbers(&all, ROUND);
  s->out_a = numbers(&all, na);
  s->out_c = numbers(&all, nc);
  s->out_sigma = numbers(&all, nc);
  s->out_slip = numbers(&all, 2 * ncon);
  s->out_nu = numbers(&all, nc);
  s->angle_of = tribo_alloc(angles, sizeof *s->angle_of);
  s->pivot = tribo_alloc(angles, sizeof *s->pivot);
  s->order = tribo_alloc(ncon, sizeof *s->order);
  s->status = tribo_alloc(ncon, 1);
  s->seen = tribo_alloc(((size_t)1 << (2 * SEEN)) / 8 + 1, 1);
  s->out_mode = tribo_alloc(ncon, sizeof *s->out_mode);
  return all && s->angle_of && s->pivot && s->order && s->status && s->seen && s->out_mode;
}

// All memory for the largest problem.
TriboStatus tribo_qpcc_create(int max_na, int max_ncon, int max_nres, TriboQpccSolver** out) {
  enum { MOST = 10000 };
  TRIBO_REQUIRE(out);
  *out = NULL;
  if (max_na < 0 || max_ncon < 0 || max_nres < 0 || max_na > MOST || max_ncon > MOST || max_nres > MOST) {
    return tribo_fail(TRIBO_INVALID,
                      "tribo_qpcc_create: max_na = %d, max_ncon = %d, max_nres = %d; accepted are 0 … %d", max_na,
                      max_ncon, max_nres, MOST);
  }
  TriboQpccSolver* s = tribo_alloc(1, sizeof *s);
  if (s == NULL) {
    return tribo_no_memory("for a QPCC solver");
  }
  *s = (TriboQpccSolver){.max_na = max_na, .max_ncon = max_ncon, .max_nres = max_nres};
  const size_t na = (size_t)max_na, ncon = (size_t)max_ncon, nres = (size_t)max_nres;
  const int n = max_na + 3 * max_ncon;
  const size_t ld = (size_t)tribo_four_up(n);
  int all = make_problem(s, na, ncon, nres, ld) && make_scratch(s, na, ncon, nres, ld);
  for (int i = 0; i < POINTS; ++i) {
    all = all && make_point(&s->point[i], ncon, ld);
  }
  all = all && tribo_sol_ldp_create(&s->ldp, n, MOST_ROWS * max_ncon + 2 * max_na) == TRIBO_OK;
  if (!all) {
    tribo_qpcc_destroy(s);
    return tribo_no_memory("for a QPCC of %d actuators, %d contacts and %d residuals", max_na, max_ncon, max_nres);
  }
  for (int k = 0; k < ROUND; ++k) {
    s->cuts[k] = 6.283185307179586 * k / ROUND;
  }
  *out = s;
  return TRIBO_OK;
}

void tribo_qpcc_destroy(TriboQpccSolver* s) {
  if (s == NULL) {
    return;
  }
  void* const owned[] = {s->xa,      s->xc,       s->xs,        s->E,        s->e,          s->S,         s->g,
                         s->lo,      s->hi,       s->L,         s->y0,       s->row_lambda, s->row_sigma, s->row_upper,
                         s->pool,    s->alm,      s->at,        s->rows,     s->at_bound,   s->z,         s->dz,
                         s->dy,      s->gradient, s->residual,  s->sigma,    s->value,      s->angle_c,   s->angle_dy,
                         s->angle_e, s->angle_du, s->hessian,   s->slope,    s->gain,       s->sector,    s->cuts,
                         s->out_a,   s->out_c,    s->out_sigma, s->out_slip, s->out_nu,     s->angle_of,  s->pivot,
                         s->order,   s->status,   s->seen,      s->out_mode};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) {
    tribo_free(owned[i]);
  }
  for (int i = 0; i < POINTS; ++i) {
    tribo_free(s->point[i].mode);
    tribo_free(s->point[i].angle);
    tribo_free(s->point[i].cut);
    tribo_free(s->point[i].ncut);
    tribo_free(s->point[i].z);
    tribo_free(s->point[i].ratio);
  }
  tribo_sol_ldp_free(&s->ldp);
  tribo_free(s);
}

// ---- the answer

// The point in the caller's units.
static void publish(TriboQpccSolver* s, const ModePoint* p, TriboQpccSolution* out) {
  const TriboQpcc* problem = s->problem;
  tribo_sol_qpcc_sigma(s, p->z, s->sigma);
  for (int j = 0; j < s->na; ++j) {
    s->out_a[j] = fmin(fmax(p->z[j] * s->xa[j], problem->lower[j]), problem->upper[j]);
  }
  for (int i = 0; i < s->ncon; ++i) {
    const int dim = problem->dim[i];
    s->out_mode[i] = (TriboQpccMode)p->mode[i];
    s->out_slip[2 * i] = s->out_slip[2 * i + 1] = 0;
    if (s->out_mode[i] == TRIBO_QPCC_SLIDE && problem->mu[i] > 0) {
      s->out_slip[2 * i] = dim == 2 ? (cos(p->angle[i]) > 0 ? 1 : -1) : cos(p->angle[i]);
      s->out_slip[2 * i + 1] = dim == 2 ? 0 : sin(p->angle[i]);
    }
    for (int k = s->at[i]; k < s->at[i] + dim; ++k) {
      s->out_c[k] = p->mode[i] == TRIBO_QPCC_BREAK ? 0 : p->z[s->na + k] * s->xc[i];
      s->out_sigma[k] = s->sigma[k] * s->xs[i];
      // f = f_scale · scaled, σ = xs · scaled
      s->out_nu[k] *= s->f_scale / s->xs[i];
    }
  }
  out->lambda_a = s->out_a;
  out->lambda_c = s->out_c;
  out->sigma = s->out_sigma;
  out->mode = s->out_mode;
  out->slip = s->out_slip;
  out->nu = s->out_nu;
  out->qps = s->qps;
  out->alm_iterations = s->alm_iterations;
  out->factorisations = s->factorisations;
  out->bound = s->bound * s->f_scale;
  out->time = tribo_now() - s->started;
}

// The augmented Lagrangian by itself, as the paper has it.
static void solve_alone(TriboQpccSolver* s, const TriboQpccWarm* warm, TriboQpccSolution* out) {
  int solved;
  memset(s->out_nu, 0, (size_t)s->nc * sizeof *s->out_nu);
  tribo_sol_alm(s, warm, &s->point[0], &solved);
  publish(s, &s->point[0], out);
}

// The best point found, to its last digits, and what the judge says of it. 0: none is feasible.
static TriboStatus find(TriboQpccSolver* s, const TriboQpccWarm* warm, TriboQpccSolution* out, int* found,
                        int* complete, TriboQpccResiduals* r) {
  *found = tribo_sol_qpcc_search(s, warm, complete);
  if (*found) {
    tribo_sol_mode_refine(s, &s->point[0], s->out_nu);
    publish(s, &s->point[0], out);
  } else {
    // the point that misses the contact law least
    solve_alone(s, warm, out);
  }
  return tribo_qpcc_residual(s->problem, s->out_a, s->out_c, r);
}

// Search, last digits, and the judge's word.
static TriboStatus solve(TriboQpccSolver* s, const TriboQpccWarm* warm, TriboQpccSolution* out) {
  int complete = 0, found = 1;
  TriboQpccResiduals r;
  s->may_turn = 1;
  if (s->settings.flips == 0 && s->settings.starts == TRIBO_QPCC_START_ALM) {
    solve_alone(s, warm, out);
    TRIBO_TRY(tribo_qpcc_residual(s->problem, s->out_a, s->out_c, &r));
  } else {
    TRIBO_TRY(find(s, warm, out, &found, &complete, &r));
    if (found && !(r.nat <= s->settings.tol) && s->point[0].turns) {
      // turning directions have not come to rest: without them, where that is feasible
      s->may_turn = 0;
      TRIBO_TRY(find(s, warm, out, &found, &complete, &r));
      if (!found) {
        s->may_turn = 1;
        TRIBO_TRY(find(s, warm, out, &found, &complete, &r));
      }
    }
  }
  out->f = r.f;
  out->nat = r.nat;
  out->worst = r.worst;
  const int good = found && r.nat <= s->settings.tol;
  if (!found) {
    out->outcome = complete ? TRIBO_QPCC_INFEASIBLE : TRIBO_QPCC_MAX_ITER;
    out->worst = complete && s->worst >= 0 ? s->worst : r.worst;
  } else {
    out->outcome = !good ? TRIBO_QPCC_MAX_ITER : complete ? TRIBO_QPCC_SOLVED : TRIBO_QPCC_LOCAL;
  }
  if (s->out_of_time) {
    out->outcome = TRIBO_QPCC_MAX_TIME;
  }
  return TRIBO_OK;
}

TriboStatus tribo_qpcc_solve(TriboQpccSolver* s, const TriboQpcc* problem, const TriboQpccSettings* settings,
                             const TriboQpccWarm* warm, TriboQpccSolution* out) {
  TRIBO_REQUIRE(s);
  TRIBO_REQUIRE(problem);
  TRIBO_REQUIRE(settings);
  TRIBO_REQUIRE(out);
  TRIBO_TRY(tribo_settings_validate(settings_table, SETTINGS, settings, "tribo_qpcc_solve"));
  TRIBO_TRY(tribo_sol_qpcc_check(s, problem));
  s->started = tribo_now();
  s->problem = problem;
  s->settings = *settings;
  s->qps = s->alm_iterations = s->factorisations = s->out_of_time = 0;
  s->worst = -1;
  s->bound = -INFINITY;
  *out = (TriboQpccSolution){0};
  if (!tribo_sol_qpcc_scale(s, problem)) {
    return tribo_fail(TRIBO_NUMERIC, "tribo_qpcc_solve: the matrices are too far apart in size to be scaled");
  }
  return solve(s, warm, out);
}
