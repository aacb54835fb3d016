// Projections on friction cones and bounds, Alart and Curnier's map, De Saxcé's shift (cones.h).
#include "cones.h"

#include <math.h>
#include <string.h>

#include "math3.h"

// The point on the face belongs to a multiplier k > 0: p_i = x_i D_i²/(D_i² + k), p_N = x_N/(1 − k), with
// f(k) = (1 − k) ‖D⁻¹ p_f(k)‖ − x_N = 0. f has one root, between 0 and 1 for x_N > 0 and above 1 otherwise.
void tribo_sol_project_elliptic(int dim, const double* mu, const double* x, double* p) {
  int m = dim - 1;
  double inside = 0, polar = 0, n = x[m];
  for (int i = 0; i < m; ++i) {
    double r = mu[i] > 0 ? x[i] / mu[i] : 0;
    inside += r * r;
    polar += mu[i] * x[i] * mu[i] * x[i];
  }
  if (sqrt(inside) <= n) {
    for (int i = 0; i < m; ++i) {
      p[i] = mu[i] > 0 ? x[i] : 0;
    }
    p[m] = n;
    return;
  }
  if (sqrt(polar) <= -n) {
    memset(p, 0, sizeof(double) * (size_t)dim);
    return;
  }
  double lo = n > 0 ? 0 : 1, hi = 1, k, h = 0;
  if (n <= 0) {
    for (int i = 0; i < m; ++i) {
      // (k − 1) h(k) ≥ (k − 1)/(k + max D²) ‖D x‖ reaches −x_N at the latest here
      double ratio = -n / sqrt(polar);
      hi = fmax(hi, 2 * (1 + ratio * mu[i] * mu[i]) / (1 - ratio));
    }
  }
  k = 0.5 * (lo + hi);
  for (int it = 0; it < 100; ++it) {
    double h2 = 0, slope = 0;
    for (int i = 0; i < m; ++i) {
      double w = mu[i] * mu[i] + k, y = w > 0 ? mu[i] * x[i] / w : 0;
      h2 += y * y;
      slope -= w > 0 ? y * y / w : 0;
    }
    h = sqrt(h2);
    double f = (1 - k) * h - n, df = -h + (h > 0 ? (1 - k) * slope / h : 0);
    *(f > 0 ? &lo : &hi) = k;
    double next = df < 0 ? k - f / df : lo;
    next = next > lo && next < hi ? next : 0.5 * (lo + hi);
    if (fabs(next - k) <= 1e-16 * k || next == k) {
      break;
    }
    k = next;
  }
  for (int i = 0; i < m; ++i) {
    double d2 = mu[i] * mu[i];
    p[i] = d2 > 0 ? x[i] * d2 / (d2 + k) : 0;
  }
  p[m] = h;
}

static void clip_rows(const TriboScaled* sc, const TriboScaledCone* k, const double* x, double* p) {
  for (int i = k->row; i < k->row + k->dim; ++i) {
    p[i] = tribo_clamp(x[i], sc->lo[i], sc->hi[i]);
  }
}

void tribo_sol_project(const TriboScaled* sc, const double* x, double* p) {
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (k->round) {
      tribo_sol_project_round(k->dim, k->mu, x + k->row, p + k->row);
    } else {
      clip_rows(sc, k, x, p);
    }
  }
}

void tribo_sol_alart_curnier(const TriboScaled* sc, const double* x, double* p) {
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (!k->round) {
      clip_rows(sc, k, x, p);
      continue;
    }
    int m = k->dim - 1;
    const double* y = x + k->row;
    double* o = p + k->row;
    double n = y[m] > 0 ? y[m] : 0, s = tribo_norm(y, m), r = k->mu * n;
    double f = s > r ? r / s : 1;
    for (int i = 0; i < m; ++i) {
      o[i] = f * y[i];
    }
    o[m] = n;
  }
}

void tribo_sol_shift(const TriboScaled* sc, const double* z, double* s) {
  if (s != z) {
    memcpy(s, z, sizeof(double) * (size_t)sc->n);
  }
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (k->round) {
      s[k->row + k->dim - 1] += k->mu * tribo_norm(z + k->row, k->dim - 1);
    }
  }
}
