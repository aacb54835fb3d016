// What a QPCC must be, its scaled form, and the rows of its contacts whitened.
//
// Scaling: one factor per contact, 1/√(mean diagonal of its block of D), so that cones stay cones; one per actuator;
// one for the objective, and one for the size of (g, b). Impulses and velocities are then of order one.
//
// Whitening: f = ½ ‖E z + e‖², H = EᵀE + ε = L Lᵀ, y = Lᵀ z. ε makes directions without curvature bounded; it is below
// what weights of 1 and 1e-4 leave of curvature (1e-8), and mode_qp.c takes its effect out of the answer again.
#include <math.h>
#include <string.h>

#include "la.h"
#include "qpcc_impl.h"
#include "small_dense.h"

static const double EPSILON = 1e-12;
static const double NOT_SYMMETRIC = 1e-8, NOT_SEMIDEFINITE = 1e-8;

// ---- checks

static TriboStatus check_finite(const char* name, const double* x, size_t count) {
  if (count > 0 && x == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_qpcc_solve: %s is NULL, but has %zu entries", name, count);
  }
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite(x[i])) {
      return tribo_fail(TRIBO_INVALID, "tribo_qpcc_solve: %s[%zu] = %g must be finite", name, i, x[i]);
    }
  }
  return TRIBO_OK;
}

static TriboStatus check_sizes(const TriboQpccSolver* s, const TriboQpcc* p, int* nc) {
  if (p->na < 0 || p->na > s->max_na || p->ncon < 0 || p->ncon > s->max_ncon || p->nres < 0 || p->nres > s->max_nres) {
    return tribo_fail(TRIBO_INVALID,
                      "tribo_qpcc_solve: na = %d, ncon = %d, nres = %d; this solver takes up to %d, %d and %d", p->na,
                      p->ncon, p->nres, s->max_na, s->max_ncon, s->max_nres);
  }
  *nc = 0;
  if (p->ncon > 0 && (p->dim == NULL || p->mu == NULL)) {
    return tribo_fail(TRIBO_INVALID, "tribo_qpcc_solve: dim or mu is NULL, but there are %d contacts", p->ncon);
  }
  for (int i = 0; i < p->ncon; ++i) {
    if (p->dim[i] < 1 || p->dim[i] > 3 || !(p->mu[i] >= 0 && p->mu[i] < INFINITY)) {
      return tribo_fail(TRIBO_INVALID,
                        "tribo_qpcc_solve: contact %d has dim = %d, mu = %g; accepted are 1, 2, 3 and finite mu ≥ 0", i,
                        p->dim[i], p->mu[i]);
    }
    *nc += p->dim[i];
  }
  return TRIBO_OK;
}

static TriboStatus check_bounds(const TriboQpcc* p) {
  if (p->na > 0 && (p->lower == NULL || p->upper == NULL)) {
    return tribo_fail(TRIBO_INVALID, "tribo_qpcc_solve: lower or upper is NULL, but there are %d actuators", p->na);
  }
  for (int i = 0; i < p->na; ++i) {
    if (!(p->lower[i] <= p->upper[i]) || p->lower[i] == INFINITY || p->upper[i] == -INFINITY) {
      return tribo_fail(TRIBO_INVALID,
                        "tribo_qpcc_solve: actuator %d has bounds [%g, %g]; lower must not be above upper, and some "
                        "number between them",
                        i, p->lower[i], p->upper[i]);
    }
  }
  return TRIBO_OK;
}

// The smallest eigenvalue of D, by the power method on c − D, c a bound of all.
static double smallest_eigenvalue(const double* D, int n, double* x, double* y) {
  double c = 0, lambda = 0;
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += fabs(D[(size_t)j * (size_t)n + (size_t)i]);
    }
    c = fmax(c, sum);
    x[j] = 1 + 0.1 * j / n;
  }
  for (int k = 0; k < 300; ++k) {
    const double length = tribo_norm(x, n);
    for (int i = 0; i < n; ++i) {
      x[i] /= length;
      y[i] = c * x[i];
    }
    for (int j = 0; j < n; ++j) {
      tribo_subtract(n, x[j], D + (size_t)j * (size_t)n, y);
    }
    lambda = tribo_dot(x, y, n);
    memcpy(x, y, (size_t)n * sizeof *x);
  }
  return c - lambda;
}

static TriboStatus check_delassus(const TriboQpccSolver* s, const TriboQpcc* p, int nc) {
  const size_t n = (size_t)nc;
  const double most = tribo_max_abs(p->D, nc * nc);
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = 0; i < j; ++i) {
      const double a = p->D[j * n + i], b = p->D[i * n + j];
      if (fabs(a - b) > NOT_SYMMETRIC * most) {
        return tribo_fail(TRIBO_INVALID, "tribo_qpcc_solve: D is not symmetric: D(%zu, %zu) = %g, D(%zu, %zu) = %g", i,
                          j, a, j, i, b);
      }
    }
  }
  memcpy(s->L, p->D, n * n * sizeof *s->L);
  for (size_t i = 0; i < n; ++i) {
    s->L[i * n + i] += NOT_SEMIDEFINITE * most;
  }
  if (most > 0 && tribo_la_cholesky(nc, s->L, nc) != 0) {
    const double least = smallest_eigenvalue(p->D, nc, s->z, s->dz);
    return tribo_fail(TRIBO_INVALID,
                      "tribo_qpcc_solve: D must be positive semidefinite, its most negative eigenvalue is %.3g", least);
  }
  return TRIBO_OK;
}

TriboStatus tribo_sol_qpcc_check(const TriboQpccSolver* s, const TriboQpcc* p) {
  int nc = 0;
  TRIBO_TRY(check_sizes(s, p, &nc));
  const size_t na = (size_t)p->na, rows = (size_t)nc, nres = (size_t)p->nres;
  TRIBO_TRY(check_finite("A", p->A, nres * na));
  TRIBO_TRY(check_finite("B", p->B, nres * rows));
  TRIBO_TRY(check_finite("b", p->b, nres));
  TRIBO_TRY(check_finite("C", p->C, rows * na));
  TRIBO_TRY(check_finite("D", p->D, rows * rows));
  TRIBO_TRY(check_finite("g", p->g, rows));
  TRIBO_TRY(check_bounds(p));
  return check_delassus(s, p, nc);
}

// ---- scaling

static double square(const double* x, int n) {
  return tribo_dot(x, x, n);
}

static void scale_contacts(TriboQpccSolver* s, const TriboQpcc* p) {
  double most = 0;
  for (int i = 0, row = 0; i < p->ncon; row += p->dim[i++]) {
    double trace = 0;
    for (int k = row; k < row + p->dim[i]; ++k) {
      trace += p->D[(size_t)k * (size_t)s->nc + (size_t)k];
    }
    s->at[i] = row;
    s->xc[i] = trace / p->dim[i];
    most = fmax(most, s->xc[i]);
  }
  for (int i = 0; i < p->ncon; ++i) {
    s->xc[i] = 1 / sqrt(s->xc[i] > 1e-12 * most ? s->xc[i] : most > 0 ? most : 1);
  }
}

// of all columns: actuators as they move the contacts and the tasks
static void scale_actuators(TriboQpccSolver* s, const TriboQpcc* p) {
  double most = 0;
  for (int j = 0; j < p->na; ++j) {
    most = fmax(most, square(p->A + (size_t)j * (size_t)p->nres, p->nres));
  }
  for (int j = 0; j < p->na; ++j) {
    double sum = most > 0 ? square(p->A + (size_t)j * (size_t)p->nres, p->nres) / most : 0;
    for (int i = 0; i < p->ncon; ++i) {
      sum += s->xc[i] * s->xc[i] * square(p->C + (size_t)j * (size_t)s->nc + (size_t)s->at[i], p->dim[i]);
    }
    s->xa[j] = sum > 0 ? 1 / sqrt(sum) : 1;
  }
}

// E and e, of a largest column of one; the size of (g, b) becomes one by the unit of all impulses.
static void scale_all(TriboQpccSolver* s, const TriboQpcc* p) {
  const int nres = p->nres;
  double column = 0, size = 0;
  for (int j = 0; j < s->n; ++j) {
    double *to = s->E + (size_t)j * (size_t)s->ldr, x = 1;
    const int k = j - s->na;
    if (k >= 0) {
      int i = 0;
      while (i + 1 < s->ncon && s->at[i + 1] <= k) {
        ++i;
      }
      x = s->xc[i];
    } else {
      x = s->xa[j];
    }
    const double* from = k < 0 ? p->A + (size_t)j * (size_t)nres : p->B + (size_t)k * (size_t)nres;
    for (int i = 0; i < s->ldr; ++i) {
      to[i] = i < nres ? x * from[i] : 0;
    }
    column = fmax(column, square(to, nres));
  }
  const double w = column > 0 ? 1 / sqrt(column) : 1;
  for (int i = 0; i < s->ncon; ++i) {
    for (int k = 0; k < p->dim[i]; ++k) {
      size = fmax(size, s->xc[i] * fabs(p->g[s->at[i] + k]));
    }
  }
  size = fmax(size, w * tribo_max_abs(p->b, nres));
  const double unit = size > 0 ? size : 1;
  for (int j = 0; j < s->n; ++j) {
    double* to = s->E + (size_t)j * (size_t)s->ldr;
    for (int i = 0; i < nres; ++i) {
      to[i] *= w;
    }
  }
  for (int i = 0; i < s->ldr; ++i) {
    s->e[i] = i < nres ? w / unit * p->b[i] : 0;
  }
  s->f_scale = unit * unit / (w * w);
  // an objective this small against that of no impulse at all is zero
  s->f_floor = 1e-12 * 0.5 * square(s->e, nres);
  for (int j = 0; j < s->na; ++j) {
    s->xa[j] *= unit;
    s->lo[j] = p->lower[j] / s->xa[j];
    s->hi[j] = p->upper[j] / s->xa[j];
  }
  for (int i = 0; i < s->ncon; ++i) {
    s->xs[i] = unit / s->xc[i];
    s->xc[i] *= unit;
  }
}

static void scale_rows(TriboQpccSolver* s, const TriboQpcc* p) {
  const size_t nc = (size_t)s->nc, ld = (size_t)s->ld;
  memset(s->S, 0, nc * ld * sizeof *s->S);
  for (int i = 0; i < s->ncon; ++i) {
    for (size_t r = (size_t)s->at[i]; r < (size_t)(s->at[i] + p->dim[i]); ++r) {
      double* row = s->S + r * ld;
      for (size_t j = 0; j < (size_t)s->na; ++j) {
        row[j] = p->C[j * nc + r] * s->xa[j] / s->xs[i];
      }
      for (int k = 0; k < s->ncon; ++k) {
        for (size_t c = (size_t)s->at[k]; c < (size_t)(s->at[k] + p->dim[k]); ++c) {
          row[(size_t)s->na + c] = p->D[c * nc + r] * s->xc[k] / s->xs[i];
        }
      }
      s->g[r] = p->g[r] / s->xs[i];
    }
  }
}

// ---- whitening

// x ← L⁻¹ x, from its first entry that is not zero on
TRIBO_LANES static void whiten(const TriboQpccSolver* s, int first, double* x) {
  for (int k = first; k < s->n; ++k) {
    const double* column = s->L + (size_t)k * (size_t)s->ld;
    x[k] /= column[k];
    const double a = x[k];
    for (int i = k + 1; i < s->n; ++i) {
      x[i] -= a * column[i];
    }
  }
}

static int factor(TriboQpccSolver* s) {
  const size_t ld = (size_t)s->ld, ldr = (size_t)s->ldr;
  for (int j = 0; j < s->n; ++j) {
    double* column = s->L + (size_t)j * ld;
    memset(column, 0, ld * sizeof *column);
    for (int i = j; i < s->n; ++i) {
      column[i] = tribo_four_dot(s->E + (size_t)i * ldr, s->E + (size_t)j * ldr, s->ldr);
    }
    column[j] += EPSILON;
  }
  if (s->n > 0 && tribo_la_cholesky(s->n, s->L, s->ld) != 0) {
    return 0;
  }
  for (size_t j = 1; j < (size_t)s->n; ++j) {
    memset(s->L + j * ld, 0, j * sizeof *s->L);
  }
  return 1;
}

static void whiten_rows(TriboQpccSolver* s) {
  const size_t ld = (size_t)s->ld;
  memset(s->row_lambda, 0, (size_t)s->n * ld * sizeof *s->row_lambda);
  for (int j = 0; j < s->n; ++j) {
    double* row = s->row_lambda + (size_t)j * ld;
    row[j] = 1;
    whiten(s, j, row);
    if (j < s->na) {
      for (size_t i = 0; i < ld; ++i) {
        s->row_upper[(size_t)j * ld + i] = -row[i];
      }
    }
  }
  memcpy(s->row_sigma, s->S, (size_t)s->nc * ld * sizeof *s->S);
  for (int r = 0; r < s->nc; ++r) {
    whiten(s, 0, s->row_sigma + (size_t)r * ld);
  }
  memset(s->y0, 0, ld * sizeof *s->y0);
  for (int j = 0; j < s->n; ++j) {
    s->y0[j] = -tribo_four_dot(s->E + (size_t)j * (size_t)s->ldr, s->e, s->ldr);
  }
  whiten(s, 0, s->y0);
}

int tribo_sol_qpcc_scale(TriboQpccSolver* s, const TriboQpcc* p) {
  s->na = p->na;
  s->ncon = p->ncon;
  s->nres = p->nres;
  s->ldr = tribo_four_up(p->nres);
  s->nc = 0;
  for (int i = 0; i < p->ncon; ++i) {
    s->nc += p->dim[i];
  }
  s->n = s->na + s->nc;
  s->ld = tribo_four_up(s->n);
  scale_contacts(s, p);
  scale_actuators(s, p);
  scale_all(s, p);
  scale_rows(s, p);
  if (!factor(s)) {
    return 0;
  }
  whiten_rows(s);
  memset(s->at_bound, 0, 2 * (size_t)s->na);
  return 1;
}

void tribo_sol_qpcc_sigma(const TriboQpccSolver* s, const double* z, double* sigma) {
  for (int r = 0; r < s->nc; ++r) {
    sigma[r] = s->g[r] + tribo_four_dot(s->S + (size_t)r * (size_t)s->ld, z, s->ld);
  }
}

double tribo_sol_qpcc_objective(TriboQpccSolver* s, const double* z) {
  memcpy(s->residual, s->e, (size_t)s->ldr * sizeof *s->residual);
  for (int j = 0; j < s->n; ++j) {
    tribo_add_scaled(s->ldr, z[j], s->E + (size_t)j * (size_t)s->ldr, s->residual);
  }
  return 0.5 * square(s->residual, s->nres);
}
