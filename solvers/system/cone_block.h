// Products with blocks of up to six rows.
#pragma once

#include "scaled.h"

// y = Aᵀ x and y = A x with A dim × k at stride 6
static inline void tribo_sol_small_transposed(const double* A, int dim, int k, const double* x, double* y) {
  for (int j = 0; j < k; ++j) {
    double sum = 0;
    for (int i = 0; i < dim; ++i) {
      sum += A[TRIBO_CONE_ROWS * i + j] * x[i];
    }
    y[j] = sum;
  }
}

static inline void tribo_sol_small_times(const double* A, int dim, int k, const double* x, double* y) {
  for (int i = 0; i < dim; ++i) {
    double sum = 0;
    for (int j = 0; j < k; ++j) {
      sum += A[TRIBO_CONE_ROWS * i + j] * x[j];
    }
    y[i] = sum;
  }
}
