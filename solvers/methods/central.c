// Newton's equations on the central path with Nesterov and Todd's scaling, cone by cone (central.h).
#include "central.h"

#include <math.h>
#include <string.h>

#include "small_dense.h"

enum { S = TRIBO_CONE_ROWS };

TriboPrimalDual tribo_sol_take_primal_dual(TriboSolver* s) {
  size_t n = (size_t)s->scaled.n;
  TriboPrimalDual pair = {tribo_sol_take(s), tribo_sol_take(s), tribo_sol_take(s)};
  memset(pair.x, 0, sizeof(double) * n);
  memset(pair.z, 0, sizeof(double) * n);
  memset(pair.zu, 0, sizeof(double) * n);
  return pair;
}

void tribo_sol_central_begin(TriboSolver* s, TriboCentral* p) {
  const TriboScaled* sc = &s->scaled;
  *p = (TriboCentral){.s = s, .at = tribo_sol_take_primal_dual(s), .step = tribo_sol_take_primal_dual(s)};
  double** vectors[] = {&p->r, &p->w, &p->l, &p->t, &p->d, &p->du, &p->b};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = tribo_sol_take(s);
    memset(*vectors[i], 0, sizeof(double) * (size_t)sc->n);
  }
  p->degree = sc->nround;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (!k->round) {
      for (int i = k->row; i < k->row + k->dim; ++i) {
        p->degree += tribo_sol_is_fixed(sc, i) ? 0 : tribo_sol_has_lo(sc, i) + tribo_sol_has_hi(sc, i);
      }
    }
  }
  p->degree = p->degree > 0 ? p->degree : 1;
}

// x_N² − ‖x_f‖², kept positive
static double det(const double* x, int m) {
  double s = tribo_norm(x, m);
  return fmax((x[m] - s) * (x[m] + s), 1e-300);
}

// the scaling of one cone: G = η [I + w_f w_fᵀ/(1 + w_N), w_f; w_fᵀ, w_N]
static void scaling(const double* x, const double* z, int dim, double* w, double* t) {
  int m = dim - 1;
  double jx = det(x, m), jz = det(z, m), rx = 1 / sqrt(jx), rz = 1 / sqrt(jz);
  double gamma = sqrt((1 + rx * rz * tribo_dot(x, z, dim)) / 2), slip = tribo_norm(z, m);
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
  double a = sign * tribo_dot(w, v, m), f = v[m] * sign + a * sign / (1 + w[m]), e = sign > 0 ? eta : 1 / eta;
  double normal = e * (w[m] * v[m] + a);
  for (int i = 0; i < m; ++i) {
    o[i] = e * (v[i] + w[i] * f);
  }
  o[m] = normal;
}

// o = a ∘ b
static void jordan(const double* a, const double* b, int dim, double* o) {
  int m = dim - 1;
  double normal = tribo_dot(a, b, dim);
  for (int i = 0; i < m; ++i) {
    o[i] = a[m] * b[i] + b[m] * a[i];
  }
  o[m] = normal;
}

// o with l ∘ o = d
static void jordan_solve(const double* l, const double* d, int dim, double* o) {
  int m = dim - 1;
  double normal = (l[m] * d[m] - tribo_dot(l, d, m)) / det(l, m);
  for (int i = 0; i < m; ++i) {
    o[i] = (d[i] - normal * l[i]) / l[m];
  }
  o[m] = normal;
}

// largest a with x + a d in the cone
static double cone_step(const double* x, const double* d, int dim) {
  int m = dim - 1;
  double A = d[m] * d[m] - tribo_dot(d, d, m), B = x[m] * d[m] - tribo_dot(x, d, m), c = det(x, m),
         disc = B * B - A * c;
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

double tribo_sol_central_gap(const TriboCentral* p, double a) {
  const TriboScaled* sc = &p->s->scaled;
  double sum = 0;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    for (int i = k->row; i < k->row + k->dim; ++i) {
      double x = p->at.x[i] + a * p->step.x[i], z = p->at.z[i] + a * p->step.z[i];
      if (k->round) {
        sum += x * z;
      } else if (!tribo_sol_is_fixed(sc, i)) {
        sum += tribo_sol_has_lo(sc, i) ? (x - sc->lo[i]) * z : 0;
        sum += tribo_sol_has_hi(sc, i) ? (sc->hi[i] - x) * (p->at.zu[i] + a * p->step.zu[i]) : 0;
      }
    }
  }
  return sum / p->degree;
}

double tribo_sol_central_max_step(const TriboCentral* p) {
  const TriboScaled* sc = &p->s->scaled;
  double a = INFINITY;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    int i = k->row;
    if (k->round) {
      a = fmin(a, fmin(cone_step(p->at.x + i, p->step.x + i, k->dim), cone_step(p->at.z + i, p->step.z + i, k->dim)));
      continue;
    }
    for (; i < k->row + k->dim; ++i) {
      if (tribo_sol_has_lo(sc, i) && !tribo_sol_is_fixed(sc, i)) {
        a = fmin(a, fmin(line_step(p->at.x[i] - sc->lo[i], p->step.x[i]), line_step(p->at.z[i], p->step.z[i])));
      }
      if (tribo_sol_has_hi(sc, i) && !tribo_sol_is_fixed(sc, i)) {
        a = fmin(a, fmin(line_step(sc->hi[i] - p->at.x[i], -p->step.x[i]), line_step(p->at.zu[i], p->step.zu[i])));
      }
    }
  }
  return a;
}

void tribo_sol_central_point(const TriboCentral* p, double* x) {
  const TriboScaled* sc = &p->s->scaled;
  memcpy(x, p->at.x, sizeof(double) * (size_t)sc->n);
  for (int c = 0; c < sc->ncone; ++c) {
    if (sc->cone[c].round) {
      x[sc->cone[c].row + sc->cone[c].dim - 1] /= sc->cone[c].mu;
    }
  }
}

void tribo_sol_central_answer(const TriboCentral* p, double* x) {
  tribo_sol_central_point(p, x);
  tribo_sol_project(&p->s->scaled, x, x);
  tribo_sol_alart_curnier(&p->s->scaled, x, x);
}

// C of a round cone: T⁻¹ Q G² T⁻¹ with G² = η² (2 w wᵀ − diag(−1 … −1, 1))
static void round_block(const TriboScaledCone* k, const double* w, const double* t, double tiny, double* C) {
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

int tribo_sol_central_linearise(TriboCentral* p) {
  TriboSolver* s = p->s;
  const TriboScaled* sc = &s->scaled;
  double tiny = tribo_sol_system_least(&s->system, sc->n);
  tribo_sol_central_point(p, p->b);
  tribo_sol_velocity(s, p->b, p->r);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    int m = k->dim - 1;
    double *r = p->r + k->row, *z = p->at.z + k->row;
    TriboLocal* l = &s->system.local[c];
    l->k = k->dim;
    l->identity = 1;
    l->symmetric = !k->round;
    memset(l->C, 0, sizeof l->C);
    if (k->round) {
      scaling(p->at.x + k->row, z, k->dim, p->w + k->row, p->t + k->row);
      scale(p->w + k->row, p->t[k->row + m], k->dim, 1, p->at.x + k->row, p->l + k->row);
      r[m] = r[m] / k->mu + tribo_norm(z, m);
      for (int i = 0; i <= m; ++i) {
        r[i] -= z[i];
      }
      round_block(k, p->w + k->row, p->t + k->row, tiny, l->C);
      continue;
    }
    for (int i = k->row; i < k->row + k->dim; ++i) {
      double diagonal = 2 * tiny;
      if (tribo_sol_is_fixed(sc, i)) {
        // a box of no width: its cone has this one row
        l->k = l->identity = 0;
        continue;
      }
      r[i - k->row] -= p->at.z[i] - p->at.zu[i];
      diagonal += tribo_sol_has_lo(sc, i) ? p->at.z[i] / (p->at.x[i] - sc->lo[i]) : 0;
      diagonal += tribo_sol_has_hi(sc, i) ? p->at.zu[i] / (sc->hi[i] - p->at.x[i]) : 0;
      l->C[(S + 1) * (i - k->row)] = diagonal;
    }
  }
  return tribo_sol_system_factor(&s->system);
}

void tribo_sol_central_direction(TriboCentral* p, const double* r, double fraction) {
  TriboSolver* s = p->s;
  const TriboScaled* sc = &s->scaled;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    int m = k->dim - 1;
    double* b = p->b + k->row;
    if (k->round) {
      // T⁻¹ (−fraction r + Q G d)
      const double* t = p->t + k->row;
      scale(p->w + k->row, t[m], k->dim, 1, p->d + k->row, b);
      b[m] -= tribo_dot(t, b, m);
      for (int i = 0; i <= m; ++i) {
        b[i] -= fraction * r[k->row + i];
      }
      b[m] *= k->mu;
      continue;
    }
    for (int i = k->row; i < k->row + k->dim; ++i) {
      p->b[i] = -fraction * r[i];
      if (!tribo_sol_is_fixed(sc, i)) {
        p->b[i] += tribo_sol_has_lo(sc, i) ? p->d[i] / (p->at.x[i] - sc->lo[i]) : 0;
        p->b[i] -= tribo_sol_has_hi(sc, i) ? p->du[i] / (sc->hi[i] - p->at.x[i]) : 0;
      }
    }
  }
  tribo_sol_system_solve(&s->system, p->b, p->step.x, s->system.form == TRIBO_FORM_DENSE ? 1 : 2);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    int m = k->dim - 1;
    if (k->round) {
      double g[S], *dx = p->step.x + k->row, *dz = p->step.z + k->row;
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
      int fixed = tribo_sol_is_fixed(sc, i);
      p->step.z[i] =
          tribo_sol_has_lo(sc, i) && !fixed ? (p->d[i] - p->at.z[i] * p->step.x[i]) / (p->at.x[i] - sc->lo[i]) : 0;
      p->step.zu[i] =
          tribo_sol_has_hi(sc, i) && !fixed ? (p->du[i] + p->at.zu[i] * p->step.x[i]) / (sc->hi[i] - p->at.x[i]) : 0;
    }
  }
}

void tribo_sol_central_set_target(TriboCentral* p, double target, double kept, double second) {
  const TriboScaled* sc = &p->s->scaled;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    int m = k->dim - 1, row = k->row;
    if (k->round) {
      double e[S], a[S], b[S];
      jordan(p->l + row, p->l + row, k->dim, e);
      for (int i = 0; i <= m; ++i) {
        e[i] = (i == m ? target : 0) - kept * e[i];
      }
      if (second > 0) {
        scale(p->w + row, p->t[row + m], k->dim, 1, p->step.x + row, a);
        scale(p->w + row, p->t[row + m], k->dim, -1, p->step.z + row, b);
        jordan(a, b, k->dim, a);
        for (int i = 0; i <= m; ++i) {
          e[i] -= second * a[i];
        }
      }
      jordan_solve(p->l + row, e, k->dim, p->d + row);
      continue;
    }
    for (int i = row; i < row + k->dim; ++i) {
      double product = p->at.x[i] - sc->lo[i], product_u = sc->hi[i] - p->at.x[i];
      p->d[i] = target - kept * product * p->at.z[i] - (second > 0 ? second * p->step.x[i] * p->step.z[i] : 0);
      p->du[i] = target - kept * product_u * p->at.zu[i] + (second > 0 ? second * p->step.x[i] * p->step.zu[i] : 0);
    }
  }
}

double tribo_sol_central_dot(const TriboCentral* p, const TriboPrimalDual* one, const TriboPrimalDual* two) {
  const TriboScaled* sc = &p->s->scaled;
  double sum = 0;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    int row = k->row;
    if (k->round) {
      double eta = p->t[row + k->dim - 1], a[S], b[S];
      for (int sign = 1; sign >= -1; sign -= 2) {
        scale(p->w + row, eta, k->dim, sign, (sign > 0 ? one->x : one->z) + row, a);
        scale(p->w + row, eta, k->dim, sign, (sign > 0 ? two->x : two->z) + row, b);
        sum += tribo_dot(a, b, k->dim);
      }
      continue;
    }
    for (int i = row; i < row + k->dim; ++i) {
      if (tribo_sol_has_lo(sc, i) && !tribo_sol_is_fixed(sc, i)) {
        double square = p->at.z[i] / (p->at.x[i] - sc->lo[i]);
        sum += square * one->x[i] * two->x[i] + one->z[i] * two->z[i] / square;
      }
      if (tribo_sol_has_hi(sc, i) && !tribo_sol_is_fixed(sc, i)) {
        double square = p->at.zu[i] / (sc->hi[i] - p->at.x[i]);
        sum += square * one->x[i] * two->x[i] + one->zu[i] * two->zu[i] / square;
      }
    }
  }
  return sum;
}

void tribo_sol_central_move(TriboCentral* p, double part) {
  for (int i = 0; i < p->s->scaled.n; ++i) {
    p->at.x[i] += part * p->step.x[i];
    p->at.z[i] += part * p->step.z[i];
    p->at.zu[i] += part * p->step.zu[i];
  }
}
