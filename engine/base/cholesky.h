// M = L Lᵀ of small dense matrices, row-major, for what is looked at once when a model is made.
#pragma once

#include <math.h>

// L takes the lower triangle of M.
static inline void tribo_cholesky(double* M, int n) {
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      double sum = M[i * n + j];
      for (int k = 0; k < j; ++k) {
        sum -= M[i * n + k] * M[j * n + k];
      }
      M[i * n + j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / M[j * n + j];
    }
  }
}

// b becomes L⁻¹b; its square is bᵀM⁻¹b.
static inline double tribo_cholesky_forward(const double* L, double* b, int n) {
  double square = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      b[i] -= L[i * n + k] * b[k];
    }
    b[i] /= L[i * n + i];
    square += b[i] * b[i];
  }
  return square;
}

// b becomes L⁻ᵀb.
static inline void tribo_cholesky_backward(const double* L, double* b, int n) {
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) {
      b[i] -= L[k * n + i] * b[k];
    }
    b[i] /= L[i * n + i];
  }
}
