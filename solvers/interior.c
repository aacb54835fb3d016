// Interior point on the nonlinear problem, De Saxcé's term inside.
//
// Lorentz coordinates of a round cone: X = (x_f, μ x_N), Z = (ŝ_f, ŝ_N/μ), ŝ = u + Γ(u): both live in ‖·_f‖ ≤ ·_N and
// X·Z = x·ŝ. Γ leaves the friction rows alone, so with T = diag(1, 1/μ) the central path is
//
//     Z = T (W T X + q) + ‖Z_f‖ e_N,      X ∘ Z = τ e.
//
// Newton with Nesterov and Todd's scaling G (G X = G⁻¹ Z = l), d the right-hand side of the scaled complementarity:
//
//     dZ = G d − G² dX,      (T W T + Q G²) dX = −r + Q G d,      Q = I − e_N t_Zᵀ,
//
// first without centring (predictor), then with Mehrotra's corrector. Rows with bounds have one multiplier per finite
// bound; bilateral rows none. In own coordinates Q G² becomes C = T⁻¹ Q G² T⁻¹ beside W.
#include <math.h>
#include <string.h>

#include "solver.h"

enum { S = TRIBO_CONE_ROWS, MEMORY = 6 };

typedef struct Interior {
  TriboSolver* s;
  int degree;         // complementary pairs
  double *x, *z;      // (n) round: X and Z; bounded rows: x and the multiplier of lo
  double* zu;         // (n) multiplier of hi
  double *w, *l, *t;  // (n) scaling direction, scaled point, t_Z with the scale η in its normal slot
  double *r, *b;      // (n) residual in X's coordinates, right-hand side in own ones
  double *d, *du;     // (n) scaled complementarity; bounded rows: of lo and of hi
  double *dx, *dz, *dzu;
} Interior;

static int has_lo(const TriboScaled* sc, int i) {
  return sc->lo[i] > -INFINITY;
}
static int has_hi(const TriboScaled* sc, int i) {
  return sc->hi[i] < INFINITY;
}
static int is_fixed(const TriboScaled* sc, int i) {
  return sc->lo[i] == sc->hi[i];
}

static double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

// x_N² − ‖x_f‖², kept positive
static double det(const double* x, int m) {
  double s = sqrt(dot(x, x, m));
  return fmax((x[m] - s) * (x[m] + s), 1e-300);
}

// the scaling of one cone: G = η [I + w_f w_fᵀ/(1 + w_N), w_f; w_fᵀ, w_N]
static void scaling(const double* x, const double* z, int dim, double* w, double* t) {
  int m = dim - 1;
  double jx = det(x, m), jz = det(z, m), rx = 1 / sqrt(jx), rz = 1 / sqrt(jz);
  double gamma = sqrt((1 + rx * rz * dot(x, z, dim)) / 2), slip = sqrt(dot(z, z, m));
  for (int i = 0; i < m; ++i) {
    w[i] = (rz * z[i] - rx * x[i]) / (2 * gamma);
    t[i] = slip > 1e-14 ? z[i] / slip : 0;
  }
  w[m] = (rz * z[m] + rx * x[m]) / (2 * gamma);
  t[m] = sqrt(sqrt(jz / jx));
}

// o = G v (sign 1) or G⁻¹ v (sign −1)
static void scale(const double* w, double eta, int dim, double sign, const double* v, double* o) {
  int m = dim - 1;
  double a = sign * dot(w, v, m), f = v[m] * sign + a * sign / (1 + w[m]), e = sign > 0 ? eta : 1 / eta;
  double normal = e * (w[m] * v[m] + a);
  for (int i = 0; i < m; ++i) {
    o[i] = e * (v[i] + w[i] * f);
  }
  o[m] = normal;
}

// o = a ∘ b
static void jordan(const double* a, const double* b, int dim, double* o) {
  int m = dim - 1;
  double normal = dot(a, b, dim);
  for (int i = 0; i < m; ++i) {
    o[i] = a[m] * b[i] + b[m] * a[i];
  }
  o[m] = normal;
}

// o with l ∘ o = d
static void jordan_solve(const double* l, const double* d, int dim, double* o) {
  int m = dim - 1;
  double normal = (l[m] * d[m] - dot(l, d, m)) / det(l, m);
  for (int i = 0; i < m; ++i) {
    o[i] = (d[i] - normal * l[i]) / l[m];
  }
  o[m] = normal;
}

// largest a with x + a d in the cone
static double cone_step(const double* x, const double* d, int dim) {
  int m = dim - 1;
  double A = d[m] * d[m] - dot(d, d, m), B = x[m] * d[m] - dot(x, d, m), c = det(x, m), disc = B * B - A * c;
  double most = d[m] < 0 ? -x[m] / d[m] : INFINITY;
  if (disc >= 0) {
    double h = -(B + (B >= 0 ? 1 : -1) * sqrt(disc)), roots[2] = {h / A, c / h};
    for (int i = 0; i < 2; ++i) {
      if (isfinite(roots[i]) && roots[i] > 0) {
        most = fmin(most, roots[i]);
      }
    }
  }
  return most;
}

static double line_step(double v, double d) {
  return d < 0 ? -v / d : INFINITY;
}

// mean of the complementarity products after a step of length a
static double gap(const Interior* p, double a) {
  const TriboScaled* sc = &p->s->scaled;
  double sum = 0;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    for (int i = k->row; i < k->row + k->dim; ++i) {
      double x = p->x[i] + a * p->dx[i], z = p->z[i] + a * p->dz[i];
      if (k->round) {
        sum += x * z;
      } else if (!is_fixed(sc, i)) {
        sum += has_lo(sc, i) ? (x - sc->lo[i]) * z : 0;
        sum += has_hi(sc, i) ? (sc->hi[i] - x) * (p->zu[i] + a * p->dzu[i]) : 0;
      }
    }
  }
  return sum / p->degree;
}

static double longest(const Interior* p) {
  const TriboScaled* sc = &p->s->scaled;
  double a = INFINITY;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    int i = k->row;
    if (k->round) {
      a = fmin(a, fmin(cone_step(p->x + i, p->dx + i, k->dim), cone_step(p->z + i, p->dz + i, k->dim)));
      continue;
    }
    for (; i < k->row + k->dim; ++i) {
      if (has_lo(sc, i) && !is_fixed(sc, i)) {
        a = fmin(a, fmin(line_step(p->x[i] - sc->lo[i], p->dx[i]), line_step(p->z[i], p->dz[i])));
      }
      if (has_hi(sc, i) && !is_fixed(sc, i)) {
        a = fmin(a, fmin(line_step(sc->hi[i] - p->x[i], -p->dx[i]), line_step(p->zu[i], p->dzu[i])));
      }
    }
  }
  return a;
}

// own coordinates of the present point
static void point(const Interior* p, double* x) {
  const TriboScaled* sc = &p->s->scaled;
  memcpy(x, p->x, sizeof(double) * (size_t)sc->n);
  for (int c = 0; c < sc->ncone; ++c) {
    if (sc->cone[c].round) {
      x[sc->cone[c].row + sc->cone[c].dim - 1] /= sc->cone[c].mu;
    }
  }
}

// a bounded row pushed inside
static void start_row(Interior* p, const TriboInterior* start, int i, double height) {
  const TriboScaled* sc = &p->s->scaled;
  double lo = sc->lo[i], hi = sc->hi[i], x = start->cold > 0 ? 0 : start->x[i], z = start->cold > 0 ? 0 : start->z[i];
  double push = start->cold > 0 ? start->cold : start->push * start->k;
  p->x[i] = x;
  if (is_fixed(sc, i)) {
    p->x[i] = lo;
  } else if (has_lo(sc, i) && has_hi(sc, i)) {
    double inside = fmin(push, 0.25 * (hi - lo));
    p->x[i] = start->cold > 0 ? 0.5 * (lo + hi) : fmin(fmax(x, lo + inside), hi - inside);
    p->z[i] = p->zu[i] = height;
  } else if (has_lo(sc, i)) {
    p->x[i] = fmax(x, lo) + push;
    p->z[i] = fmax(z, 0) + height;
  } else if (has_hi(sc, i)) {
    p->x[i] = fmin(x, hi) - push;
    p->zu[i] = fmax(-z, 0) + height;
  }
}

static void start_at(Interior* p, const TriboInterior* start) {
  const TriboScaled* sc = &p->s->scaled;
  double height = start->push;
  // from nowhere: velocities as large as the free ones
  if (start->cold > 0) {
    height = 1;
    for (int c = 0; c < sc->ncone; ++c) {
      const TriboOwnCone* k = &sc->cone[c];
      for (int i = 0; i < k->dim; ++i) {
        height = fmax(height, fabs(sc->q[k->row + i]) / (k->round && i == k->dim - 1 ? k->mu : 1));
      }
    }
  }
  p->degree = sc->nround;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    int m = k->dim - 1, i = k->row;
    double *x = p->x + i, *z = p->z + i;
    if (!k->round) {
      for (; i < k->row + k->dim; ++i) {
        start_row(p, start, i, height);
        p->degree += is_fixed(sc, i) ? 0 : has_lo(sc, i) + has_hi(sc, i);
      }
    } else if (start->cold > 0) {
      x[m] = start->cold;
      z[m] = height;
    } else {
      memcpy(x, start->x + i, sizeof(double) * (size_t)k->dim);
      memcpy(z, start->z + i, sizeof(double) * (size_t)k->dim);
      x[m] = fmax(k->mu * x[m], sqrt(dot(x, x, m))) + start->push * start->k * k->mu;
      z[m] = fmax(z[m] / k->mu, sqrt(dot(z, z, m))) + start->push / k->mu;
    }
  }
  p->degree = p->degree > 0 ? p->degree : 1;
}

// C of a round cone: T⁻¹ Q G² T⁻¹ with G² = η² (2 w wᵀ − diag(−1 … −1, 1))
static void round_block(const TriboOwnCone* k, const double* w, const double* t, double tiny, double* C) {
  int m = k->dim - 1;
  double e2 = t[m] * t[m];
  for (int j = 0; j <= m; ++j) {
    double scale_j = j == m ? k->mu : 1, along = 0;
    for (int i = 0; i < m; ++i) {
      double entry = e2 * (2 * w[i] * w[j] + (double)(i == j));
      along += t[i] * entry;
      C[S * i + j] = entry * scale_j + (double)(i == j) * 2 * tiny;
    }
    double entry = e2 * (2 * w[m] * w[j] - (double)(j == m)) - along;
    C[S * m + j] = entry * k->mu * scale_j + (double)(j == m) * tiny * (1 + k->mu * k->mu);
  }
}

// residual, scalings and the matrix; 0, or 1 when it could not be factorised
static int linearise(Interior* p) {
  TriboSolver* s = p->s;
  const TriboScaled* sc = &s->scaled;
  double tiny = tribo_sol_system_least(&s->system, sc->n);
  point(p, p->b);
  tribo_sol_velocity(s, p->b, p->r);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    int m = k->dim - 1;
    double *r = p->r + k->row, *z = p->z + k->row;
    TriboLocal* l = &s->system.local[c];
    l->k = k->dim;
    l->identity = 1;
    l->symmetric = !k->round;
    memset(l->C, 0, sizeof l->C);
    if (k->round) {
      scaling(p->x + k->row, z, k->dim, p->w + k->row, p->t + k->row);
      scale(p->w + k->row, p->t[k->row + m], k->dim, 1, p->x + k->row, p->l + k->row);
      r[m] = r[m] / k->mu + sqrt(dot(z, z, m));
      for (int i = 0; i <= m; ++i) {
        r[i] -= z[i];
      }
      round_block(k, p->w + k->row, p->t + k->row, tiny, l->C);
      continue;
    }
    for (int i = k->row; i < k->row + k->dim; ++i) {
      double diagonal = 2 * tiny;
      if (is_fixed(sc, i)) {
        // a box of no width: its cone has this one row
        l->k = l->identity = 0;
        continue;
      }
      r[i - k->row] -= p->z[i] - p->zu[i];
      diagonal += has_lo(sc, i) ? p->z[i] / (p->x[i] - sc->lo[i]) : 0;
      diagonal += has_hi(sc, i) ? p->zu[i] / (sc->hi[i] - p->x[i]) : 0;
      l->C[(S + 1) * (i - k->row)] = diagonal;
    }
  }
  return tribo_sol_system_factor(&s->system);
}

// Newton's direction for the complementarity right-hand side d, reducing the residual by `share`
static void direction(Interior* p, double share) {
  TriboSolver* s = p->s;
  const TriboScaled* sc = &s->scaled;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    int m = k->dim - 1;
    double* b = p->b + k->row;
    if (k->round) {
      // T⁻¹ (−share r + Q G d)
      const double* t = p->t + k->row;
      scale(p->w + k->row, t[m], k->dim, 1, p->d + k->row, b);
      b[m] -= dot(t, b, m);
      for (int i = 0; i <= m; ++i) {
        b[i] -= share * p->r[k->row + i];
      }
      b[m] *= k->mu;
      continue;
    }
    for (int i = k->row; i < k->row + k->dim; ++i) {
      p->b[i] = -share * p->r[i];
      if (!is_fixed(sc, i)) {
        p->b[i] += has_lo(sc, i) ? p->d[i] / (p->x[i] - sc->lo[i]) : 0;
        p->b[i] -= has_hi(sc, i) ? p->du[i] / (sc->hi[i] - p->x[i]) : 0;
      }
    }
  }
  tribo_sol_system_solve(&s->system, p->b, p->dx, s->system.form == TRIBO_FORM_DENSE ? 1 : 2);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    int m = k->dim - 1;
    if (k->round) {
      double g[S], *dx = p->dx + k->row, *dz = p->dz + k->row;
      const double *w = p->w + k->row, eta = p->t[k->row + m];
      dx[m] *= k->mu;
      // dZ = G (d − G dX)
      scale(w, eta, k->dim, 1, dx, g);
      for (int i = 0; i <= m; ++i) {
        g[i] = p->d[k->row + i] - g[i];
      }
      scale(w, eta, k->dim, 1, g, dz);
      continue;
    }
    for (int i = k->row; i < k->row + k->dim; ++i) {
      int fixed = is_fixed(sc, i);
      p->dz[i] = has_lo(sc, i) && !fixed ? (p->d[i] - p->z[i] * p->dx[i]) / (p->x[i] - sc->lo[i]) : 0;
      p->dzu[i] = has_hi(sc, i) && !fixed ? (p->du[i] + p->zu[i] * p->dx[i]) / (sc->hi[i] - p->x[i]) : 0;
    }
  }
}

// right-hand side of the complementarity: target τ and a share of the predictor's second-order term
static void complementarity(Interior* p, double target, double share) {
  const TriboScaled* sc = &p->s->scaled;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    int m = k->dim - 1, row = k->row;
    if (k->round) {
      double e[S], a[S], b[S];
      jordan(p->l + row, p->l + row, k->dim, e);
      for (int i = 0; i <= m; ++i) {
        e[i] = (i == m ? target : 0) - e[i];
      }
      if (share > 0) {
        scale(p->w + row, p->t[row + m], k->dim, 1, p->dx + row, a);
        scale(p->w + row, p->t[row + m], k->dim, -1, p->dz + row, b);
        jordan(a, b, k->dim, a);
        for (int i = 0; i <= m; ++i) {
          e[i] -= share * a[i];
        }
      }
      jordan_solve(p->l + row, e, k->dim, p->d + row);
      continue;
    }
    for (int i = row; i < row + k->dim; ++i) {
      p->d[i] = target - (p->x[i] - sc->lo[i]) * p->z[i] - (share > 0 ? share * p->dx[i] * p->dz[i] : 0);
      p->du[i] = target - (sc->hi[i] - p->x[i]) * p->zu[i] + (share > 0 ? share * p->dx[i] * p->dzu[i] : 0);
    }
  }
}

// one predictor and corrector; returns the length of the step, 0 when there was none
static double interior_step(Interior* p, double fraction) {
  int n = p->s->scaled.n;
  if (linearise(p) != 0) {
    return 0;
  }
  double tau = gap(p, 0);
  complementarity(p, 0, 0);
  direction(p, 1);
  double a = fmin(1, longest(p)), ahead = fmin(1, fmax(gap(p, a), 0) / fmax(tau, 1e-300));
  double sigma = fmax(pow(fmin(1, fmax(1 - a, ahead)), 3), 1e-6);
  complementarity(p, sigma * tau, a < 0.9 ? a * a : 1);
  direction(p, 1 - sigma);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += p->dx[i] + p->dz[i];
  }
  a = isfinite(sum) ? fmin(1, fraction * longest(p)) : 0;
  for (int i = 0; a > 0 && i < n; ++i) {
    p->x[i] += a * p->dx[i];
    p->z[i] += a * p->dz[i];
    p->zu[i] += a * p->dzu[i];
  }
  return a;
}

// When and how the modes of an iterate are tried, in the units of the scaled problem: from the first residual below
// BELOW and at every drop to a third. On a wall of cubes (3000 steps, hit by a ball) trying them took the certified
// steps from 2832 to 2945.
static const double SETTLE_BELOW = 1e-3, SETTLE_DROP = 0.3, SETTLE_RHO = 100, SETTLE_EPS = 1e-7;
enum { SETTLE_STEPS = 5 };

void tribo_sol_interior(TriboSolver* s, const TriboInterior* start) {
  const TriboScaled* sc = &s->scaled;
  size_t mark = s->pool_used;
  Interior p = {.s = s};
  double** vectors[] = {&p.x, &p.z, &p.zu, &p.w, &p.l, &p.t, &p.r, &p.b, &p.d, &p.du, &p.dx, &p.dz, &p.dzu};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = tribo_sol_take(s);
    memset(*vectors[i], 0, sizeof(double) * (size_t)sc->n);
  }
  double *x = tribo_sol_take(s), *u = tribo_sol_take(s), threshold = 1e-4, settled = SETTLE_BELOW;
  double past[MEMORY] = {0};
  start_at(&p, start);
  for (int it = 0, short_steps = 0; !tribo_sol_stop(s); ++it) {
    // large problems need more steps: beyond the limit, go on while the residual falls to half within a few
    if (it >= start->max_steps && (it >= 3 * start->max_steps || past[(it - 1) % MEMORY] > 0.5 * past[it % MEMORY])) {
      break;
    }
    s->iterations++;
    double a = interior_step(&p, start->fraction);
    // the point as it would be returned
    point(&p, x);
    tribo_sol_project(sc, x, x);
    tribo_sol_alart_curnier(sc, x, x);
    tribo_sol_velocity(s, x, u);
    double j = past[it % MEMORY] = tribo_sol_residual(s, x, u);
    if (tribo_sol_done(s) || !isfinite(j)) {
      break;
    }
    // the modes show long before the digits: try them, again whenever the residual has fallen to a third
    if (j < settled) {
      settled = SETTLE_DROP * j;
      point(&p, x);
      tribo_sol_settle(s, x, SETTLE_RHO, SETTLE_EPS, SETTLE_STEPS);
      if (tribo_sol_done(s)) {
        break;
      }
      point(&p, x);
      tribo_sol_project(sc, x, x);
      tribo_sol_alart_curnier(sc, x, x);
    }
    // close enough: a few Newton steps from here, again after every twentyfold drop
    if (j < threshold) {
      threshold = 0.05 * j;
      tribo_sol_newton(s, x, fmin(1e-5, 0.1 * j), 4, 0);
    }
    short_steps = a < 0.1 ? short_steps + 1 : 0;
    if (short_steps >= 3 || a < 1e-7 || gap(&p, 0) < 1e-15) {
      break;
    }
  }
  s->pool_used = mark;
}

void tribo_sol_run_interior(TriboSolver* s) {
  const TriboScaled* sc = &s->scaled;
  TriboInterior start = {.fraction = 0.95, .max_steps = s->settings.common.max_iterations};
  double *x = tribo_sol_take(s), *z = tribo_sol_take(s);
  if (s->warm_x != NULL) {
    tribo_sol_enter(s, TRIBO_RUNG_WARM_INTERIOR);
    tribo_sol_shift(sc, s->warm_u, z);
    start.x = s->warm_x, start.z = z, start.push = 0.1;
    start.k = fmax(tribo_sol_max(s->warm_x, sc->n), 1e-3);
    tribo_sol_interior(s, &start);
  }
  if (tribo_sol_stop(s)) {
    return;
  }
  // the size of the impulses that stop the free velocity tells the height to start from
  tribo_sol_enter(s, TRIBO_RUNG_COLD);
  for (int c = 0; c < sc->ncone; ++c) {
    TriboLocal* l = &s->system.local[c];
    *l = (TriboLocal){.k = sc->cone[c].dim, .identity = 1, .symmetric = 1};
    for (int i = 0; i < l->k; ++i) {
      l->C[(S + 1) * i] = 1e-3;
    }
  }
  start.cold = 1;
  if (tribo_sol_system_factor(&s->system) == 0) {
    tribo_sol_system_solve(&s->system, sc->q, x, 0);
    start.cold = fmax(tribo_sol_max(x, sc->n), 1e-3);
  }
  tribo_sol_interior(s, &start);
}
