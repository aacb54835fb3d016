// Eigenvalues and axes of a symmetric 3 × 3 matrix by Jacobi's rotations.
#pragma once

#include "math3.h"

// A = R diag(values) Rᵀ with R the rotation of quat. Axes that are eigenvectors already stay: a diagonal matrix gives
// the identity, so equal eigenvalues leave the frame they are given in. Off the diagonal, tol times the largest entry
// counts as 0.
static inline void tribo_eigen3(const double A[9], double tol, double values[3], double quat[4]) {
  double scale = 0;
  for (int i = 0; i < 9; ++i) {
    scale = fmax(scale, fabs(A[i]));
  }
  tribo_quat_identity(quat);
  for (int pass = 0; pass < 100; ++pass) {
    // RᵀAR at the present axes
    double R[9], AR[9], D[9];
    tribo_quat_to_mat(R, quat);
    tribo_mul33(AR, A, R);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        D[3 * i + j] = R[i] * AR[j] + R[3 + i] * AR[3 + j] + R[6 + i] * AR[6 + j];
      }
      values[i] = D[4 * i];
    }
    // the largest entry off the diagonal is turned away, about the third axis
    const double off[3] = {fabs(D[5]), fabs(D[2]), fabs(D[1])};
    const int k = off[0] > off[1] ? (off[0] > off[2] ? 0 : 2) : (off[1] > off[2] ? 1 : 2);
    if (!(off[k] > tol * scale)) {
      return;
    }
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double tau = (D[4 * j] - D[4 * i]) / (2 * D[3 * i + j]);
    const double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau));
    double w[3] = {0}, step[4], next[4];
    w[k] = -atan(t);
    tribo_quat_exp(step, w);
    tribo_quat_mul(next, quat, step);
    memcpy(quat, next, sizeof next);
    tribo_quat_normalize(quat);
  }
}
