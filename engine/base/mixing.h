// The least-squares problem of Anderson mixing (Anderson 1965; Walker and Ni 2011), for all that mixes.
//
// A fixed point x = x + f(x) is sought. With the changes of f from point to point in the columns of F and those of x in
// the columns of X, the point x − Xθ with the step f − Fθ that is shortest takes the place of x and its step f.
#pragma once

#include <string.h>

#include "small_dense.h"

enum { TRIBO_ANDERSON_MOST = 10 };

// The θ (count ≤ TRIBO_ANDERSON_MOST) that makes ‖f − Fθ‖ least; columns F[j] (n), the newest first: what newer ones
// have shown already does not count again, θ is 0 there. Q: count vectors (n) of scratch. Returns how many columns
// count.
static inline int tribo_anderson_weights(int n, int count, double* const* F, const double* f, double* const* Q,
                                         double* theta) {
  double R[TRIBO_ANDERSON_MOST][TRIBO_ANDERSON_MOST], y[TRIBO_ANDERSON_MOST];
  int used[TRIBO_ANDERSON_MOST], rank = 0;
  // F = QR by Gram and Schmidt, y = Qᵀf
  for (int j = 0; j < count; ++j) {
    double* q = Q[rank];
    memcpy(q, F[j], (size_t)n * sizeof *q);
    const double whole = tribo_norm(q, n);
    for (int k = 0; k < rank; ++k) {
      R[k][rank] = tribo_dot(Q[k], q, n);
      tribo_add_scaled(n, -R[k][rank], Q[k], q);
    }
    const double length = tribo_norm(q, n);
    theta[j] = 0;
    if (length > 1e-6 * whole) {
      for (int i = 0; i < n; ++i) {
        q[i] /= length;
      }
      R[rank][rank] = length;
      y[rank] = tribo_dot(q, f, n);
      used[rank++] = j;
    }
  }
  // Rθ = y
  for (int k = rank - 1; k >= 0; --k) {
    for (int l = k + 1; l < rank; ++l) {
      y[k] -= R[k][l] * y[l];
    }
    y[k] /= R[k][k];
    theta[used[k]] = y[k];
  }
  return rank;
}
