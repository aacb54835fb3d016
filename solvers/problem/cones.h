// Maps onto cones, one cone at a time, friction rows first and normal last.
#pragma once

#include <string.h>

#include "scaled.h"
#include "small_dense.h"

// Euclidean projection on the round cone ‖p_f‖ ≤ mu p_N.
static inline void tribo_sol_project_round(int dim, double mu, const double* x, double* p) {
  int m = dim - 1;
  double s = tribo_norm(x, m), n = x[m];
  if (s <= mu * n) {
    memmove(p, x, sizeof(double) * (size_t)dim);
    return;
  }
  // on the face: the point h (mu t, 1) nearest to x, or the apex for the polar cone
  double h = mu * s <= -n ? 0 : (n + mu * s) / (1 + mu * mu);
  for (int i = 0; i < m; ++i) {
    p[i] = h > 0 ? mu * h * x[i] / s : 0;
  }
  p[m] = h;
}
// Euclidean projection on ‖D⁻¹ p_f‖ ≤ p_N, D = diag(mu).
void tribo_sol_project_elliptic(int dim, const double* mu, const double* x, double* p);

// On whole vectors in scaled coordinates; x and p may be the same.
void tribo_sol_project(const TriboScaled* sc, const double* x, double* p);
// Alart and Curnier's map: p_N = max(x_N, 0), p_f = x_f cut to the disc of radius mu p_N.
void tribo_sol_alart_curnier(const TriboScaled* sc, const double* x, double* p);
// s = z + Γ(z): mu ‖z_f‖ more on the normal rows.
void tribo_sol_shift(const TriboScaled* sc, const double* z, double* s);
