// A primal-dual interior point for the penalised problem by stages.
//
// Split r = v − w, v, w ≥ 0, and measure how far y is inside its box, s_v = α − y ≥ 0, s_w = β + y ≥ 0; the box of p
// has the slacks u = Δ − p, l = Δ + p with multipliers z_u, z_l. The conditions of the optimum are
//
//     g + H p + Aᵀ y + z_u − z_l = 0,    A p + c = v − w,    v s_v = w s_w = u z_u = l z_l = 0.
//
// Their 2 (n + m) products are driven to σμ together (Mehrotra 1992). All slacks are eliminated:
//
//     (H + D) δp + Aᵀ δy = b₁,    A δp − R δy = b₂,    D = z_u/u + z_l/l,   R = v/s_v + w/s_w,
//
// and then δy: (H + D + Aᵀ R⁻¹ A) δp = …, which is positive definite and by stages (stage_factor.h).
//
// Numbers. The R of a row that holds goes to zero like μ/α², 1e-24 and less, and with it R⁻¹ would drown H + D by
// cancellation. So the factor takes R_i + δ‖a_i‖² and D_j + ρ: then no weight exceeds 1/δ, the relative error of what
// rows leave over is ε/δ, and refinement on the system above, which holds no large number, gains a factor of about δ a
// pass. Both are √ε small for δ = √ε = 1e-8.
//
// Start. p = 0, and every row on its own central path: v s_v = w s_w = μ₀ and v − w = c have one solution. Only the
// first condition is left open, and closes with the steps.
#include "stage_qp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "memory.h"
#include "small_dense.h"
#include "stage_factor.h"

enum { REFINEMENTS = 12, PATIENCE = 20 };
static const double ROW_SHIFT = 1e-10;  // δ
static const double MOST_CAUTION = 1e4;
static const double DIAGONAL_SHIFT = 1e-10;  // ρ

struct TriboStageQp {
  const TriboStageShape* shape;
  int n, m, npair;
  TriboStageFactor factor;
  // pairs of slack and multiplier, products of which go to zero: v·s_v (m), w·s_w (m), u·z_u (n), l·z_l (n)
  double *x, *s, *dx, *ds, *tx;  // (npair) their steps, and the step of x (v, w) or s (z_u, z_l) at δ = 0
  double *D, *R, *shift;         // (n), (m), δ‖a‖² (m)
  double *diagonal, *weight;     // what the factor was made of (n), (m)
  double *dual, *primal;         // residuals of the first (n) and second (m) condition
  double *b1, *b2, *e1, *e2;     // right-hand sides and what is left of them (n), (m)
  double *dp, *dy, *ep, *work;   // (n), (m), (n), (n + m)
  double *best_p, *best_y;       // the answer with the smallest gap so far (n), (m)
  double caution;                // by which δ is enlarged, once rounding has cost a step its gain
  double* memory;
};

static const int* rows_end(const TriboStageShape* s) {
  return s->row_at + s->nstage;
}

// ---- products with the problem's matrices ----

void tribo_sol_stage_add_a(const TriboStageShape* s, const double* jac, const double* x, double* y) {
  const int m = *rows_end(s);
  for (int i = 0; i < m; ++i) {
    double sum = 0;
    for (int e = s->start[i]; e < s->start[i + 1]; ++e) {
      sum += jac[e] * x[s->col[e]];
    }
    y[i] += sum;
  }
}

void tribo_sol_stage_add_at(const TriboStageShape* s, const double* jac, const double* y, double* x) {
  const int m = *rows_end(s);
  for (int i = 0; i < m; ++i) {
    for (int e = s->start[i]; e < s->start[i + 1]; ++e) {
      x[s->col[e]] += jac[e] * y[i];
    }
  }
}

void tribo_sol_stage_add_h(const TriboStageShape* s, const double* hess, const double* x, double* y) {
  for (int k = 0; k < s->nstage; ++k) {
    const int first = s->z_at[k], nz = s->z_at[k + 1] - first;
    for (int j = 0; j < nz; ++j, hess += nz) {
      if (x[first + j] != 0) {
        tribo_add_scaled(nz, x[first + j], hess, y + first);
      }
    }
  }
}

// Terms whose sizes times ε are what the gap can be off by rounding: those of a row, times the most its multiplier can
// be.
static double row_terms(const TriboStageShape* s, const TriboStageData* data, const double* p, int i) {
  double sum = fabs(data->c[i]);
  for (int e = s->start[i]; e < s->start[i + 1]; ++e) {
    sum += fabs(data->jac[e] * p[s->col[e]]);
  }
  return sum * fmax(data->above[i], data->below[i]);
}

double tribo_sol_stage_gap(const TriboStageShape* s, const TriboStageData* data, const double* p, const double* y,
                           double* work, double* objective, double* rounding) {
  const int n = s->z_at[s->nstage], m = *rows_end(s);
  double *d = work, *r = work + n, gap = 0, value = 0, terms = 0;
  memset(d, 0, (size_t)n * sizeof(double));
  tribo_sol_stage_add_h(s, data->hess, p, d);
  for (int j = 0; j < n; ++j) {
    value += p[j] * (data->grad[j] + 0.5 * d[j]);
    d[j] += data->grad[j];
  }
  tribo_sol_stage_add_at(s, data->jac, y, d);
  memcpy(r, data->c, (size_t)m * sizeof(double));
  tribo_sol_stage_add_a(s, data->jac, p, r);
  for (int i = 0; i < m; ++i) {
    const double penalty = r[i] > 0 ? data->above[i] * r[i] : -data->below[i] * r[i];
    value += penalty;
    gap += penalty - y[i] * r[i];
    terms += row_terms(s, data, p, i);
  }
  for (int j = 0; j < n; ++j) {
    gap += data->radius * fabs(d[j]) + d[j] * p[j];
  }
  *objective = value;
  *rounding = DBL_EPSILON * (terms + fabs(value));
  return gap;
}

// ---- life ----

TriboStatus tribo_sol_stage_qp_create(const TriboStageShape* shape, TriboStageQp** out) {
  *out = NULL;
  TriboStageQp* q = tribo_alloc(1, sizeof *q);
  if (q == NULL) {
    return tribo_no_memory("for a plan's convex problems");
  }
  q->shape = shape, q->n = shape->z_at[shape->nstage], q->m = *rows_end(shape), q->npair = 2 * (q->n + q->m);
  const size_t n = (size_t)q->n, m = (size_t)q->m, pairs = (size_t)q->npair;
  q->memory = tribo_alloc(5 * pairs + 9 * n + 9 * m, sizeof(double));
  if (q->memory == NULL || tribo_sol_stage_factor_create(shape, &q->factor) != TRIBO_OK) {
    tribo_sol_stage_qp_destroy(q);
    return tribo_no_memory("for a plan's convex problems");
  }
  double* at = q->memory;
  const struct {
    double** array;
    size_t count;
  } take[] = {{&q->x, pairs},    {&q->s, pairs},    {&q->dx, pairs}, {&q->ds, pairs}, {&q->tx, pairs}, {&q->D, n},
              {&q->diagonal, n}, {&q->dual, n},     {&q->b1, n},     {&q->e1, n},     {&q->dp, n},     {&q->ep, n},
              {&q->R, m},        {&q->shift, m},    {&q->weight, m}, {&q->primal, m}, {&q->b2, m},     {&q->e2, m},
              {&q->dy, m},       {&q->work, n + m}, {&q->best_p, n}, {&q->best_y, m}};
  for (size_t i = 0; i < sizeof take / sizeof take[0]; ++i) {
    *take[i].array = at;
    at += take[i].count;
  }
  *out = q;
  return TRIBO_OK;
}

void tribo_sol_stage_qp_destroy(TriboStageQp* q) {
  if (q != NULL) {
    tribo_sol_stage_factor_destroy(&q->factor);
    tribo_free(q->memory);
    tribo_free(q);
  }
}

// ---- start ----

// v s_v = w s_w = mu, v − w = c, s_v + s_w = α + β: in closed form, without cancellation
static void centre_row(double c, double above, double below, double mu, double* v, double* w, double* sv, double* sw) {
  const double b = 0.5 * (above + below), q = fabs(c) * b / mu, s = q * b / (1 + sqrt(1 + q * q));
  const double small = mu / (b + s), large = fabs(c) + small;
  *v = c > 0 ? large : small, *w = c > 0 ? small : large;
  *sv = mu / *v, *sw = mu / *w;
}

// p = 0 and all products mu
static void centre(TriboStageQp* q, const TriboStageData* data, double mu, double* p, double* y) {
  const TriboStageShape* s = q->shape;
  const int n = q->n, m = q->m;
  double *v = q->x, *w = v + m, *u = w + m, *l = u + n, *sv = q->s, *sw = sv + m, *zu = sw + m, *zl = zu + n;
  memset(p, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < m; ++i) {
    centre_row(data->c[i], data->above[i], data->below[i], mu, v + i, w + i, sv + i, sw + i);
    y[i] = sv[i] < sw[i] ? data->above[i] - sv[i] : sw[i] - data->below[i];
    const int begin = s->start[i], count = s->start[i + 1] - begin;
    q->shift[i] =
        ROW_SHIFT * tribo_dot(data->jac + begin, data->jac + begin, count) / (data->above[i] + data->below[i]);
  }
  for (int j = 0; j < n; ++j) {
    u[j] = l[j] = data->radius;
    zu[j] = zl[j] = mu / data->radius;
  }
}

// μ₀ is the gap over the pairs, which itself depends on where μ₀ puts the multipliers: once from y = 0, once from
// there.
static void start(TriboStageQp* q, const TriboStageData* data, double* p, double* y) {
  double objective, rounding;
  memset(p, 0, (size_t)q->n * sizeof(double));
  memset(y, 0, (size_t)q->m * sizeof(double));
  for (int pass = 0; pass < 2; ++pass) {
    const double gap = tribo_sol_stage_gap(q->shape, data, p, y, q->work, &objective, &rounding);
    centre(q, data, fmax(gap, 1e-3) / q->npair, p, y);
  }
}

// ---- one iteration ----

// the smallest gap so far, and when
typedef struct Progress {
  double gap, objective;
  int iteration;  // in which it was last halved
} Progress;

// residuals of the first two conditions, and the products' sum
static double residuals(TriboStageQp* q, const TriboStageData* data, const double* p, const double* y) {
  const int n = q->n, m = q->m;
  const double *v = q->x, *w = v + m, *zu = q->s + 2 * m, *zl = zu + n;
  memcpy(q->dual, data->grad, (size_t)n * sizeof(double));
  tribo_sol_stage_add_h(q->shape, data->hess, p, q->dual);
  tribo_sol_stage_add_at(q->shape, data->jac, y, q->dual);
  memcpy(q->primal, data->c, (size_t)m * sizeof(double));
  tribo_sol_stage_add_a(q->shape, data->jac, p, q->primal);
  for (int j = 0; j < n; ++j) {
    q->dual[j] += zu[j] - zl[j];
  }
  for (int i = 0; i < m; ++i) {
    q->primal[i] += w[i] - v[i];
  }
  return tribo_dot(q->x, q->s, q->npair);
}

// D, R and the factor. 0, or 1 when the factor broke down.
static int factorise(TriboStageQp* q, const TriboStageData* data) {
  const int n = q->n, m = q->m;
  const double *v = q->x, *w = v + m, *u = w + m, *l = u + n, *sv = q->s, *sw = sv + m, *zu = sw + m, *zl = zu + n;
  for (int j = 0; j < n; ++j) {
    q->D[j] = zu[j] / u[j] + zl[j] / l[j];
  }
  for (int i = 0; i < m; ++i) {
    q->R[i] = v[i] / sv[i] + w[i] / sw[i];
    q->weight[i] = 1 / (q->R[i] + q->caution * q->shift[i]);
  }
  // a pivot that rounding made negative: larger shifts, which refinement takes out again
  for (double shift = DIAGONAL_SHIFT; shift < 1; shift *= 100) {
    for (int j = 0; j < n; ++j) {
      q->diagonal[j] = q->D[j] * (1 + shift) + shift;
    }
    if (tribo_sol_stage_factor_run(&q->factor, data->hess, q->diagonal, data->jac, q->weight) == 0) {
      return 0;
    }
  }
  return 1;
}

// e₁ ← b₁ − (H + D) δp − Aᵀ δy,  e₂ ← b₂ − A δp + R δy. Returns how large they are: e₁ over |b₁|, and e₂ by the change
// of δy that it asks for, over δy
static double leftover(TriboStageQp* q, const TriboStageData* data) {
  const int n = q->n, m = q->m;
  for (int j = 0; j < n; ++j) {
    q->ep[j] = -q->dp[j];
    q->e1[j] = q->b1[j] - q->D[j] * q->dp[j];
  }
  tribo_sol_stage_add_h(q->shape, data->hess, q->ep, q->e1);
  for (int i = 0; i < m; ++i) {
    q->work[i] = -q->dy[i];
    q->e2[i] = q->b2[i] + q->R[i] * q->dy[i];
  }
  tribo_sol_stage_add_at(q->shape, data->jac, q->work, q->e1);
  tribo_sol_stage_add_a(q->shape, data->jac, q->ep, q->e2);
  return fmax(tribo_max_abs(q->e1, n) / (1e-300 + tribo_max_abs(q->b1, n)),
              tribo_max_abs(q->e2, m) / (1e-300 + tribo_max_abs(q->b2, m)));
}

// δp, δy of the system at the head of the file, refined until what is left is below `tolerance` or falls no more
static void solve_system(TriboStageQp* q, const TriboStageData* data, double tolerance) {
  const int n = q->n, m = q->m;
  memset(q->dp, 0, (size_t)n * sizeof(double));
  memset(q->dy, 0, (size_t)m * sizeof(double));
  memcpy(q->e1, q->b1, (size_t)n * sizeof(double));
  memcpy(q->e2, q->b2, (size_t)m * sizeof(double));
  double left = 1e300;
  for (int pass = 0; pass < REFINEMENTS; ++pass) {
    for (int i = 0; i < m; ++i) {
      q->work[i] = q->e2[i] * q->weight[i];
    }
    memcpy(q->ep, q->e1, (size_t)n * sizeof(double));
    tribo_sol_stage_add_at(q->shape, data->jac, q->work, q->ep);
    tribo_sol_stage_factor_solve(&q->factor, q->ep);
    tribo_add_scaled(n, 1, q->ep, q->dp);
    memset(q->work, 0, (size_t)m * sizeof(double));
    tribo_sol_stage_add_a(q->shape, data->jac, q->ep, q->work);
    for (int i = 0; i < m; ++i) {
      q->dy[i] += (q->work[i] - q->e2[i]) * q->weight[i];
    }
    const double now = leftover(q, data);
    if (now < tolerance || now > 5 * left) {
      break;
    }
    left = now;
  }
}

// The step towards products σμ; `cross`: minus the products of the predictor's steps, which dx and ds hold.
static void direction(TriboStageQp* q, const TriboStageData* data, double target, int cross, double tolerance) {
  const int n = q->n, m = q->m, rows = 2 * m;
  double *x = q->x, *s = q->s, *dx = q->dx, *ds = q->ds, *t = q->tx;
  for (int i = 0; i < q->npair; ++i) {
    const double product = target - (cross ? dx[i] * ds[i] : 0);
    t[i] = i < rows ? product / s[i] - x[i] : product / x[i] - s[i];
  }
  for (int j = 0; j < n; ++j) {
    q->b1[j] = t[rows + n + j] - t[rows + j] - q->dual[j];
  }
  for (int i = 0; i < m; ++i) {
    q->b2[i] = t[i] - t[m + i] - q->primal[i];
  }
  solve_system(q, data, tolerance);
  for (int i = 0; i < m; ++i) {
    ds[i] = -q->dy[i], ds[m + i] = q->dy[i];
    dx[i] = t[i] + x[i] / s[i] * q->dy[i];
    dx[m + i] = t[m + i] - x[m + i] / s[m + i] * q->dy[i];
    // what refinement left over would open A p + c = v − w: it is given to the slack that it makes larger
    dx[m + i] += fmax(q->e2[i], 0);
    dx[i] += fmax(-q->e2[i], 0);
  }
  for (int j = 0; j < n; ++j) {
    const int u = rows + j, l = u + n;
    dx[u] = -q->dp[j], dx[l] = q->dp[j];
    ds[u] = t[u] + s[u] / x[u] * q->dp[j];
    ds[l] = t[l] - s[l] / x[l] * q->dp[j];
  }
}

// the largest step ≤ 1 that keeps x + a dx ≥ 0
static double room(int n, const double* x, const double* dx, double a) {
  for (int i = 0; i < n; ++i) {
    if (x[i] + a * dx[i] < 0) {
      a = -x[i] / dx[i];
    }
  }
  return a;
}

static double products_after(const TriboStageQp* q, double a) {
  double sum = 0;
  for (int i = 0; i < q->npair; ++i) {
    sum += (q->x[i] + a * q->dx[i]) * (q->s[i] + a * q->ds[i]);
  }
  return sum;
}

static void take_step(TriboStageQp* q, double a, double* p, double* y) {
  tribo_add_scaled(q->npair, a, q->dx, q->x);
  tribo_add_scaled(q->npair, a, q->ds, q->s);
  tribo_add_scaled(q->n, a, q->dp, p);
  tribo_add_scaled(q->m, a, q->dy, y);
}

// Looks at the gap. 1 when the solve ends: it is small enough, or has not become smaller for a while. A gap that grows
// is the work of rounding: the next factors take larger shifts.
static int has_ended(TriboStageQp* q, const TriboStageData* data, const double* p, const double* y, double tol,
                     TriboStageStats* stats, double* enough, Progress* best) {
  double rounding;
  const double before = stats->gap;
  stats->gap = tribo_sol_stage_gap(q->shape, data, p, y, q->work, &stats->objective, &rounding);
  *enough = fmax(tol * (1 + fabs(stats->objective)), rounding);
  stats->is_solved = stats->gap <= *enough;
  if (stats->gap > before && best->gap < 1e-3 * (1 + fabs(stats->objective))) {
    q->caution = fmin(10 * q->caution, MOST_CAUTION);
  }
  if (stats->gap < best->gap) {
    const int iteration = stats->gap < 0.5 * best->gap ? stats->iterations : best->iteration;
    *best = (Progress){stats->gap, stats->objective, iteration};
    memcpy(q->best_p, p, (size_t)q->n * sizeof(double));
    memcpy(q->best_y, y, (size_t)q->m * sizeof(double));
  }
  return stats->is_solved || stats->iterations - best->iteration > PATIENCE;
}

// p, y and stats ← the best point
static TriboStageStats finish(const TriboStageQp* q, const Progress* best, TriboStageStats stats, double* p,
                              double* y) {
  memcpy(p, q->best_p, (size_t)q->n * sizeof(double));
  memcpy(y, q->best_y, (size_t)q->m * sizeof(double));
  stats.gap = best->gap, stats.objective = best->objective;
  return stats;
}

TriboStageStats tribo_sol_stage_qp_solve(TriboStageQp* q, const TriboStageData* data, double tol, int max_iterations,
                                         double* p, double* y) {
  TriboStageStats stats = {.gap = INFINITY};
  Progress best = {INFINITY, INFINITY, 0};
  q->caution = 1;
  double enough;
  start(q, data, p, y);
  for (;; ++stats.iterations) {
    const double products = residuals(q, data, p, y);
    if (has_ended(q, data, p, y, tol, &stats, &enough, &best) || stats.iterations >= max_iterations ||
        factorise(q, data) != 0) {
      return finish(q, &best, stats, p, y);
    }
    const double mu = products / q->npair;
    // predictor: where the products would be without any centring
    direction(q, data, 0, 0, 1e-2);
    double a = room(q->npair, q->s, q->ds, room(q->npair, q->x, q->dx, 1));
    const double fraction = products_after(q, a) / products;
    // corrector: that much of it, and the predictor's second-order part
    const double target = fmax(fraction * fraction * fraction * mu, 0.01 * enough / q->npair);
    direction(q, data, target, 1, 1e-9);
    a = room(q->npair, q->s, q->ds, room(q->npair, q->x, q->dx, 1));
    take_step(q, a < 1 ? 0.995 * a : 1, p, y);
  }
}
