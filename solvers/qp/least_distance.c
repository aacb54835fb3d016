// The dual active set of Goldfarb and Idnani (Mathematical Programming 27, 1983) for a Hessian of one.
//
// The point starts at y0, free of rows. A row that is missed joins the active set: the point moves along the part of
// the row that is orthogonal to the active ones (z = Q₂ Q₂ᵀ row) while the multipliers of those change by −r per unit,
// r = R⁻¹ Q₁ᵀ row. An inequality whose multiplier would turn negative on the way leaves first. When a row is a
// combination of active ones and no multiplier limits the way, no point satisfies all: with multipliers that prove it
// (Farkas). Each step raises the dual objective, so that the method ends without a first phase.
//
// Q is orthonormal with its columns as rows of Qt; the rows in the active set are Q₁ R, R upper triangular. A row joins
// by one Householder reflection of Q₂, one leaves by Givens rotations.
#include "least_distance.h"

#include <math.h>
#include <string.h>

#include "memory.h"
#include "small_dense.h"

// A row whose part outside the active ones is shorter than this is their combination. Rows are functions of order one
// in the caller's units; whitening divides by pivots down to 1e-6 (directions without curvature), which leaves rounding
// of 1e-16/1e-6 = 1e-10 in them.
static const double DEPENDENT = 3e-9;

TriboStatus tribo_sol_ldp_create(TriboLeastDistance* p, int most_n, int most_row) {
  const size_t ld = (size_t)tribo_four_up(most_n), rows = (size_t)most_row;
  *p = (TriboLeastDistance){.most_n = most_n, .most_row = most_row};
  p->row = tribo_alloc(rows, sizeof *p->row);
  p->b = tribo_alloc(rows, sizeof *p->b);
  p->slack = tribo_alloc(rows, sizeof *p->slack);
  p->first = tribo_alloc(rows, sizeof *p->first);
  p->is_active = tribo_alloc(rows, sizeof *p->is_active);
  p->y0 = tribo_alloc(ld, sizeof *p->y0);
  p->y = tribo_alloc(ld, sizeof *p->y);
  p->u = tribo_alloc(ld + 1, sizeof *p->u);
  p->active = tribo_alloc(ld + 1, sizeof *p->active);
  p->Qt = tribo_alloc(ld * ld, sizeof *p->Qt);
  p->R = tribo_alloc(ld * ld, sizeof *p->R);
  p->d = tribo_alloc(ld, sizeof *p->d);
  p->r = tribo_alloc(ld, sizeof *p->r);
  p->w = tribo_alloc(ld, sizeof *p->w);
  const int all = p->row && p->b && p->slack && p->first && p->is_active && p->y0 && p->y && p->u && p->active &&
                  p->Qt && p->R && p->d && p->r && p->w;
  if (!all) {
    tribo_sol_ldp_free(p);
    return tribo_no_memory("for a quadratic program of %d unknowns and %d rows", most_n, most_row);
  }
  return TRIBO_OK;
}

void tribo_sol_ldp_free(TriboLeastDistance* p) {
  tribo_free((void*)p->row);
  tribo_free(p->b);
  tribo_free(p->slack);
  tribo_free(p->first);
  tribo_free(p->is_active);
  tribo_free(p->y0);
  tribo_free(p->y);
  tribo_free(p->u);
  tribo_free(p->active);
  tribo_free(p->Qt);
  tribo_free(p->R);
  tribo_free(p->d);
  tribo_free(p->r);
  tribo_free(p->w);
  *p = (TriboLeastDistance){0};
}

void tribo_sol_ldp_begin(TriboLeastDistance* p, int n) {
  p->n = n;
  p->ld = tribo_four_up(n);
  p->nrow = p->nequal = 0;
}

void tribo_sol_ldp_add(TriboLeastDistance* p, const double* row, double b, double slack, int first) {
  p->row[p->nrow] = row;
  p->b[p->nrow] = b;
  p->slack[p->nrow] = slack;
  p->first[p->nrow++] = (unsigned char)first;
}

// ---- the factor

// d = Qᵀ row. Returns the length of its part outside the active rows, 0 when the row is their combination.
TRIBO_LANES static double project(const TriboLeastDistance* p, const double* row, double* d) {
  const int n = p->n, ld = p->ld;
  double inside = 0, outside = 0;
  for (int j = 0; j < n; ++j) {
    d[j] = tribo_four_dot(p->Qt + (size_t)j * (size_t)ld, row, ld);
    *(j < p->nactive ? &inside : &outside) += d[j] * d[j];
  }
  return outside > fmax(DEPENDENT * DEPENDENT, 1e-28 * inside) ? sqrt(outside) : 0;
}

// The row with Qᵀ row = d joins: Q₂ is reflected so that only its first column has a part of the row.
TRIBO_LANES static void join(TriboLeastDistance* p, int row, double outside) {
  const int n = p->n, ld = p->ld, q = p->nactive;
  double* d = p->d;
  const double head = d[q] > 0 ? -outside : outside;
  // v = d₂ − head e₁, H = I − β v vᵀ
  d[q] -= head;
  double square = 0;
  for (int j = q; j < n; ++j) {
    square += d[j] * d[j];
  }
  if (square > 0) {
    double* w = p->w;
    memset(w, 0, (size_t)ld * sizeof *w);
    for (int j = q; j < n; ++j) {
      tribo_add_scaled(ld, d[j], p->Qt + (size_t)j * (size_t)ld, w);
    }
    for (int j = q; j < n; ++j) {
      tribo_subtract(ld, 2 / square * d[j], w, p->Qt + (size_t)j * (size_t)ld);
    }
  }
  d[q] = head;
  memcpy(p->R + (size_t)q * (size_t)ld, d, ((size_t)q + 1) * sizeof *d);
  p->active[q] = row;
  p->is_active[row] = 1;
  p->nactive++;
  p->iterations++;
}

// The k-th active row leaves: R without its column is made triangular again by rotations, which Q follows.
static void leave(TriboLeastDistance* p, int k) {
  const int ld = p->ld, q = p->nactive;
  p->is_active[p->active[k]] = 0;
  for (int j = k; j + 1 < q; ++j) {
    double* column = p->R + (size_t)j * (size_t)ld;
    memcpy(column, column + ld, ((size_t)j + 2) * sizeof *column);
    p->active[j] = p->active[j + 1];
    p->u[j] = p->u[j + 1];
  }
  for (int j = k; j + 1 < q; ++j) {
    const double a = p->R[(size_t)j * (size_t)ld + (size_t)j], b = p->R[(size_t)j * (size_t)ld + (size_t)j + 1];
    const double length = hypot(a, b), c = length > 0 ? a / length : 1, s = length > 0 ? b / length : 0;
    for (int i = j; i + 1 < q; ++i) {
      double* column = p->R + (size_t)i * (size_t)ld + (size_t)j;
      const double x = column[0], z = column[1];
      column[0] = c * x + s * z;
      column[1] = c * z - s * x;
    }
    double *x = p->Qt + (size_t)j * (size_t)ld, *z = x + ld;
    for (int i = 0; i < ld; ++i) {
      const double t = x[i];
      x[i] = c * t + s * z[i];
      z[i] = c * z[i] - s * t;
    }
  }
  p->nactive--;
  p->iterations++;
}

// x ← R⁻¹ x and x ← R⁻ᵀ x, R with the columns of the active rows.
static void solve_upper(const TriboLeastDistance* p, double* x) {
  for (int j = p->nactive - 1; j >= 0; --j) {
    const double* column = p->R + (size_t)j * (size_t)p->ld;
    x[j] /= column[j];
    tribo_subtract(j, x[j], column, x);
  }
}

static void solve_lower(const TriboLeastDistance* p, double* x) {
  for (int j = 0; j < p->nactive; ++j) {
    const double* column = p->R + (size_t)j * (size_t)p->ld;
    x[j] = (x[j] - tribo_dot(column, x, j)) / column[j];
  }
}

// ---- the method

// All equalities join; one that follows from those before is left out where it agrees with them. 0: it does not.
static int join_equalities(TriboLeastDistance* p) {
  for (int i = 0; i < p->nequal; ++i) {
    const double outside = p->nactive < p->n ? project(p, p->row[i], p->d) : 0;
    const double missing = p->b[i] - tribo_four_dot(p->row[i], p->y, p->ld);
    if (outside > 0) {
      join(p, i, outside);
      const int q = p->nactive - 1;
      tribo_add_scaled(p->ld, missing / p->d[q], p->Qt + (size_t)q * (size_t)p->ld, p->y);
    } else if (fabs(missing) > p->slack[i]) {
      p->blocked = i;
      return 0;
    }
  }
  // y − y0 = Q₁ R u
  for (int j = 0; j < p->nactive; ++j) {
    const double* column = p->Qt + (size_t)j * (size_t)p->ld;
    p->u[j] = tribo_four_dot(column, p->y, p->ld) - tribo_four_dot(column, p->y0, p->ld);
  }
  solve_upper(p, p->u);
  return 1;
}

// The inequality to look at next: one believed active if missed, else the one missed most; −1: all hold.
TRIBO_LANES static int choose(const TriboLeastDistance* p, double* missing) {
  int worst = -1, believed = 0;
  double most = 0;
  for (int i = p->nequal; i < p->nrow; ++i) {
    if (p->is_active[i] || (believed && !p->first[i])) {
      continue;
    }
    const double miss = p->b[i] - tribo_four_dot(p->row[i], p->y, p->ld);
    if (miss > p->slack[i] && (miss > most || (p->first[i] && !believed))) {
      worst = i;
      most = miss;
      believed = p->first[i];
    }
  }
  *missing = most;
  return worst;
}

// How far the multipliers let the row's own grow, and which active inequality then leaves; −1 and infinity: none.
static int limiting(const TriboLeastDistance* p, double* most) {
  int which = -1;
  *most = INFINITY;
  for (int j = 0; j < p->nactive; ++j) {
    if (p->active[j] >= p->nequal && p->r[j] > 0 && p->u[j] < *most * p->r[j]) {
      *most = p->u[j] / p->r[j];
      which = j;
    }
  }
  return which;
}

// A missed inequality joins, others leave as they must. 0: it cannot be met.
static int enforce(TriboLeastDistance* p, int row, double missing) {
  double own = 0;
  while (missing > 0) {
    const int q = p->nactive;
    const double outside = project(p, p->row[row], p->d);
    memcpy(p->r, p->d, (size_t)q * sizeof *p->r);
    solve_upper(p, p->r);
    double part;
    const int out = limiting(p, &part);
    const double whole = outside > 0 ? missing / (outside * outside) : INFINITY;
    const double step = fmin(part, whole);
    if (step == INFINITY) {
      p->blocked = row;
      return 0;
    }
    own += step;
    for (int j = 0; j < q; ++j) {
      p->u[j] -= step * p->r[j];
    }
    if (outside > 0) {
      for (int j = q; j < p->n; ++j) {
        tribo_add_scaled(p->ld, step * p->d[j], p->Qt + (size_t)j * (size_t)p->ld, p->y);
      }
    }
    if (part < whole) {
      leave(p, out);
      missing = p->b[row] - tribo_four_dot(p->row[row], p->y, p->ld);
      if (missing <= 0) {
        // rounding: it holds without being active, so its share of the gradient must go somewhere
        missing = 0x1p-52 * p->slack[row];
      }
    } else {
      join(p, row, outside);
      p->u[q] = own;
      missing = 0;
    }
  }
  return 1;
}

int tribo_sol_ldp_solve(TriboLeastDistance* p) {
  const size_t ld = (size_t)p->ld;
  p->nactive = 0;
  p->blocked = -1;
  memset(p->is_active, 0, (size_t)p->nrow);
  memset(p->Qt, 0, (size_t)p->n * ld * sizeof *p->Qt);
  for (size_t i = 0; i < (size_t)p->n; ++i) {
    p->Qt[i * ld + i] = 1;
  }
  memcpy(p->y, p->y0, ld * sizeof *p->y);
  if (!join_equalities(p)) {
    return 0;
  }
  // every step raises the dual objective; the limit is for rounding alone
  const int most = 20 * (p->nrow + p->n) + 1;
  for (int k = 0; k < most; ++k) {
    double missing;
    const int row = choose(p, &missing);
    if (row < 0) {
      return 1;
    }
    if (!enforce(p, row, missing)) {
      return 0;
    }
  }
  p->blocked = choose(p, &(double){0});
  return 0;
}

void tribo_sol_ldp_respond(TriboLeastDistance* p, const double* e, const double* c, double* dy, double* du) {
  const int q = p->nactive, ld = p->ld;
  double *s = p->r, *d = p->d;
  memcpy(s, e, (size_t)q * sizeof *s);
  solve_lower(p, s);
  memset(dy, 0, (size_t)ld * sizeof *dy);
  for (int j = 0; j < p->n; ++j) {
    const double* column = p->Qt + (size_t)j * (size_t)ld;
    d[j] = tribo_four_dot(column, c, ld);
    tribo_subtract(ld, j < q ? s[j] : d[j], column, dy);
  }
  if (du != NULL) {
    // Q₁ᵀ (dy + c) = −R⁻ᵀ e + Q₁ᵀ c
    for (int j = 0; j < q; ++j) {
      du[j] = d[j] - s[j];
    }
    solve_upper(p, du);
  }
}
