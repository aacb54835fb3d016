// Inverse dynamics of one contact as the paper has it, to compare with.
#pragma once

#include <math.h>

// Algorithm 2 of the paper for one contact with a diagonal compliance: λ ← P(−(R + ρ)⁻¹(c + Γ − ρλ)) in the metric of
// R + ρ; without Γ (the convex relaxation) it solves another problem.
static inline void proximal_step(double mu, double R_t, double R_n, double rho, int relaxed, const double c[3],
                                 double lambda[3]) {
  const double sigma[2] = {R_t * lambda[0] + c[0], R_t * lambda[1] + c[1]};
  const double gamma = relaxed ? 0 : mu * hypot(sigma[0], sigma[1]), d_t = R_t + rho, d_n = R_n + rho;
  // coordinates in which the metric is the identity and the cone has the coefficient μ √(d_t/d_n)
  const double steep = mu * sqrt(d_n / d_t);
  const double t[2] = {-(c[0] - rho * lambda[0]) / sqrt(d_t), -(c[1] - rho * lambda[1]) / sqrt(d_t)};
  const double n = -(c[2] + gamma - rho * lambda[2]) / sqrt(d_n), along = hypot(t[0], t[1]);
  const double wide = steep * d_t / d_n;
  double size, normal;
  if (along <= wide * n) {
    size = along;
    normal = n;
  } else if (wide * along <= -n) {
    size = normal = 0;
  } else {
    normal = (n + wide * along) / (1 + wide * wide);
    size = wide * normal;
  }
  lambda[0] = along > 0 ? size * t[0] / along / sqrt(d_t) : 0;
  lambda[1] = along > 0 ? size * t[1] / along / sqrt(d_t) : 0;
  lambda[2] = normal / sqrt(d_n);
}
