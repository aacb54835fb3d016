// Residuals in plain units (plain_residuals.h).
#include "plain_residuals.h"

#include <math.h>
#include <string.h>

// ‖D x_f/(D² + κ)‖, and x_f that κ makes where `to` is not NULL.
static double on_cone(int m, const double* mu, const double* x, double kappa, double* to) {
  double square = 0;
  for (int i = 0; i < m; ++i) {
    const double y = mu[i] > 0 ? mu[i] * x[i] / (mu[i] * mu[i] + kappa) : 0;
    square += y * y;
    if (to != NULL) {
      to[i] = mu[i] * y;
    }
  }
  return sqrt(square);
}

// x becomes the nearest point with ‖D⁻¹ x_f‖ ≤ x_N: h = ‖D⁻¹ p_f‖ with the κ ≥ 0 that makes x_N = (1 − κ) h, by halves.
static void project_cone(int m, const double* mu, double* x) {
  double polar = 0, lo = 0, hi = 1;
  for (int i = 0; i < m; ++i) {
    x[i] = mu[i] > 0 ? x[i] : 0;
    polar += mu[i] * x[i] * mu[i] * x[i];
  }
  if (on_cone(m, mu, x, 0, NULL) <= x[m]) {
    return;
  }
  if (sqrt(polar) <= -x[m]) {
    memset(x, 0, sizeof *x * (size_t)(m + 1));
    return;
  }
  while (hi < 1e300 && (1 - hi) * on_cone(m, mu, x, hi, NULL) > x[m]) {
    lo = hi, hi *= 2;
  }
  for (double k = 0.5 * (lo + hi); k > lo && k < hi; k = 0.5 * (lo + hi)) {
    *((1 - k) * on_cone(m, mu, x, k, NULL) > x[m] ? &lo : &hi) = k;
  }
  x[m] = on_cone(m, mu, x, hi, x);
}

double plain_natmap(const TriboProblem* p, const double* lambda, const double* sigma) {
  double worst = 0;
  for (int c = 0; c < p->ncone; ++c) {
    const TriboCone* k = &p->cones[c];
    double x[6] = {0}, slip = 0;
    for (int i = 0; i < k->dim; ++i) {
      x[i] = lambda[k->row + i] - sigma[k->row + i];
      slip += k->kind == TRIBO_CONE_FRICTION && i < k->dim - 1 ? pow(k->mu[i] * sigma[k->row + i], 2) : 0;
    }
    if (k->kind == TRIBO_CONE_FRICTION) {
      x[k->dim - 1] -= sqrt(slip);
      project_cone(k->dim - 1, k->mu, x);
    } else if (k->kind == TRIBO_CONE_NONNEG) {
      x[0] = fmax(x[0], 0);
    } else if (k->kind == TRIBO_CONE_BOX) {
      x[0] = fmin(fmax(x[0], k->lo), k->hi);
    }
    for (int i = 0; i < k->dim; ++i) {
      worst = fmax(worst, fabs(lambda[k->row + i] - x[i]));
    }
  }
  return worst;
}

// (σ = (G + R) λ + g)
double plain_objective(const TriboProblem* p, const double* lambda, const double* sigma) {
  double f = 0;
  for (int i = 0; i < p->nrow; ++i) {
    f += 0.5 * lambda[i] * (sigma[i] + p->g[i]);
  }
  return f;
}
