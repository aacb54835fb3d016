// Contact modes (open, stick, slip), and the unknowns that a cone has in each of them (modes.h).
#include "modes.h"

#include <math.h>
#include <string.h>

#include "small_dense.h"

enum { S = TRIBO_CONE_ROWS };

TriboMode tribo_sol_mode(const TriboScaledCone* k, const double* y) {
  double n = y[k->dim - 1];
  return n <= 0 ? TRIBO_OPEN : tribo_norm(y, k->dim - 1) <= k->mu * n ? TRIBO_STICK : TRIBO_SLIP;
}

double tribo_sol_local_slip(const TriboScaledCone* k, const double* y, TriboLocal* l) {
  const int m = k->dim - 1;
  const double s = tribo_norm(y, m);
  double t[S] = {0};
  l->k = m;
  l->identity = l->symmetric = 0;
  memset(l->B, 0, sizeof l->B);
  memset(l->E, 0, sizeof l->E);
  for (int i = 0; i < m; ++i) {
    t[i] = y[i] / s;
    l->B[S * i] = k->mu * t[i];
  }
  l->B[S * m] = l->E[S * m] = 1;
  // the columns 1 … m−1 of the reflection I − w wᵀ/w₀, w = e₀ + t (sign for safety), are orthogonal to t
  double sign = t[0] >= 0 ? 1 : -1, w0 = 1 + fabs(t[0]);
  for (int j = 1; j < m; ++j) {
    for (int i = 0; i < m; ++i) {
      double wi = i == 0 ? sign * w0 : t[i];
      double entry = (double)(i == j) - wi * t[j] / w0;
      l->B[S * i + j] = l->E[S * i + j] = entry;
    }
  }
  return s;
}

double tribo_sol_local_round(const TriboScaledCone* k, const double* y, double rho, TriboLocal* l) {
  TriboMode mode = tribo_sol_mode(k, y);
  memset(l->C, 0, sizeof l->C);
  if (mode != TRIBO_SLIP) {
    l->k = mode == TRIBO_STICK ? k->dim : 0;
    l->identity = mode == TRIBO_STICK;
    l->symmetric = 1;
    return 0;
  }
  const double kappa = k->mu * y[k->dim - 1] / tribo_sol_local_slip(k, y, l);
  return fmin((1 - kappa) / (kappa * rho + 1e-300), 1e10);
}

void tribo_sol_local_rows(const TriboScaled* sc, const TriboScaledCone* k, const double* y, TriboLocal* l,
                          double* fixed) {
  memset(l->C, 0, sizeof l->C);
  l->k = 0;
  l->symmetric = 1;
  memset(l->B, 0, sizeof l->B);
  for (int i = 0; i < k->dim; ++i) {
    double lo = sc->lo[k->row + i], hi = sc->hi[k->row + i];
    fixed[i] = y[i] <= lo ? lo : y[i] >= hi ? hi : 0;
    if (y[i] > lo && y[i] < hi) {
      l->B[S * i + l->k++] = 1;
    }
  }
  memcpy(l->E, l->B, sizeof l->B);
  l->identity = l->k == k->dim;
}
