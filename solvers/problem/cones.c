// Projections on friction cones and bounds, Alart and Curnier's map, De Saxcé's shift (cones.h).
#include "cones.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "lanes.h"
#include "math3.h"

// The point on the face belongs to a multiplier k > 0: p_i = x_i D_i²/(D_i² + k), p_N = x_N/(1 − k) = h(k), with
//
//     f(k) = (1 − k) h(k) − x_N = 0,     h = ‖D⁻¹ p_f(k)‖
//
// f has one root, between 0 and 1 for x_N > 0 and above 1 otherwise.
typedef struct Face {
  int m;
  const double *mu, *x;
} Face;

// f(k), with h(k) and the slope of f
static double miss_face(const Face* face, double k, double* h, double* slope) {
  double square = 0, fall = 0;
  for (int i = 0; i < face->m; ++i) {
    const double w = face->mu[i] * face->mu[i] + k, inverse = w > 0 ? 1 / w : 0, y = face->mu[i] * face->x[i] * inverse;
    square += y * y;
    fall += y * y * inverse;
  }
  *h = sqrt(square);
  *slope = -*h - (*h > 0 ? (1 - k) * fall / *h : 0);
  return (1 - k) * *h - face->x[face->m];
}

// Above the tangent plane f is convex and falls: Newton from 0 comes from the left, and where the point is near its
// cone two or three steps do. Returns k.
static double root_above(const Face* face, double* h) {
  double k = 0, slope;
  for (int it = 0; it < 100; ++it) {
    const double next = k - miss_face(face, k, h, &slope) / slope;
    if (!(next > k * (1 + DBL_EPSILON))) {
      break;
    }
    k = next;
  }
  return k;
}

// Below it, Newton between bounds.
static double root_below(const Face* face, double polar, double* h) {
  double lo = 1, hi = 1, slope;
  for (int i = 0; i < face->m; ++i) {
    // (k − 1) h(k) ≥ (k − 1)/(k + max D²) ‖D x‖ reaches −x_N at the latest here
    const double ratio = -face->x[face->m] / polar;
    hi = fmax(hi, 2 * (1 + ratio * face->mu[i] * face->mu[i]) / (1 - ratio));
  }
  double k = 0.5 * (lo + hi);
  for (int it = 0; it < 100; ++it) {
    const double f = miss_face(face, k, h, &slope);
    *(f > 0 ? &lo : &hi) = k;
    double next = slope < 0 ? k - f / slope : lo;
    next = next > lo && next < hi ? next : 0.5 * (lo + hi);
    if (fabs(next - k) <= 2 * DBL_EPSILON * k) {
      break;
    }
    k = next;
  }
  return k;
}

void tribo_sol_project_elliptic(int dim, const double* mu, const double* x, double* p) {
  int m = dim - 1;
  double inside = 0, polar = 0, n = x[m], h;
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
  const Face face = {m, mu, x};
  const double k = n > 0 ? root_above(&face, &h) : root_below(&face, sqrt(polar), &h);
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

TRIBO_LANES void tribo_sol_project(const TriboScaled* sc, const double* x, double* p) {
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (k->round && k->dim == 3) {
      tribo_sol_project_round(3, k->mu, x + k->row, p + k->row);
    } else if (k->round) {
      tribo_sol_project_round(k->dim, k->mu, x + k->row, p + k->row);
    } else {
      clip_rows(sc, k, x, p);
    }
  }
}

// the map of one round cone of m + 1 rows
static inline __attribute__((always_inline)) void strict_law(int m, double mu, const double* y, double* o) {
  const double n = y[m] > 0 ? y[m] : 0, s = tribo_norm(y, m), r = mu * n;
  const double f = s > r ? r / s : 1;
  for (int i = 0; i < m; ++i) {
    o[i] = f * y[i];
  }
  o[m] = n;
}

TRIBO_LANES void tribo_sol_alart_curnier(const TriboScaled* sc, const double* x, double* p) {
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (!k->round) {
      clip_rows(sc, k, x, p);
    } else if (k->dim == 3) {
      strict_law(2, k->mu, x + k->row, p + k->row);
    } else {
      strict_law(k->dim - 1, k->mu, x + k->row, p + k->row);
    }
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
