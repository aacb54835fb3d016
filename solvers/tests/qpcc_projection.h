// One random input of the paper's projection against all slip directions on a grid.
#pragma once

#include <tribo/qpcc.h>

#include "kit.h"

// The projection's cost is no greater than any direction's, and a second projection changes nothing.
static inline void qpcc_check_projection(KitRandom* r, int angles) {
  const double mu = kit_uniform(r, 0, 1.5), eta = pow(10, kit_uniform(r, -2, 2)), rho = pow(10, kit_uniform(r, -2, 2));
  double l[3], s[3], pl[3], ps[3], ql[3], qs[3], best = INFINITY;
  for (int k = 0; k < 3; ++k) {
    l[k] = kit_normal(r);
    s[k] = kit_normal(r);
  }
  TriboQpccMode mode, again;
  const double cost = tribo_qpcc_project(3, mu, eta, rho, l, s, TRIBO_QPCC_STICK, pl, ps, &mode);
  const double size =
      1 + eta * (l[0] * l[0] + l[1] * l[1] + l[2] * l[2]) + rho * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
  for (int k = 0; k < angles; ++k) {
    const double t = 6.283185307179586 * k / angles, u[2] = {cos(t), sin(t)};
    const double n = fmax(0, (l[2] - mu * (u[0] * l[0] + u[1] * l[1])) / (1 + mu * mu)),
                 v = fmax(0, u[0] * s[0] + u[1] * s[1]);
    const double x[6] = {-mu * n * u[0] - l[0], -mu * n * u[1] - l[1], n - l[2],
                         v * u[0] - s[0],       v * u[1] - s[1],       -s[2]};
    best = fmin(best, 0.5 * eta * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) +
                          0.5 * rho * (x[3] * x[3] + x[4] * x[4] + x[5] * x[5]));
  }
  const double below = fmin(0, s[2]);
  best = fmin(best, 0.5 * eta * (l[0] * l[0] + l[1] * l[1] + l[2] * l[2]) + 0.5 * rho * below * below);
  CHECK_LE(cost, best + 1e-12 * size);
  double paid = 0;
  for (int k = 0; k < 3; ++k) {
    paid += 0.5 * eta * (pl[k] - l[k]) * (pl[k] - l[k]) + 0.5 * rho * (ps[k] - s[k]) * (ps[k] - s[k]);
  }
  CHECK_NEAR(cost, paid, 1e-12 * size);
  CHECK_NEAR(tribo_qpcc_project(3, mu, eta, rho, pl, ps, mode, ql, qs, &again), 0, 1e-12 * size);
  for (int k = 0; k < 3; ++k) {
    CHECK_NEAR(ql[k], pl[k], 1e-6);
    CHECK_NEAR(qs[k], ps[k], 1e-6);
  }
}
