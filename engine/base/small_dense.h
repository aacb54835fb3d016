// Dense algebra of a few unknowns, and sums over vectors. Matrices are row-major with a stride; every sum runs from the
// first entry to the last, so that a result has the same bits wherever it is made. Larger matrices: solvers/la.
#pragma once

#include <math.h>

// ---- vectors ----

static inline double tribo_dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

static inline double tribo_norm(const double* x, int n) {
  return sqrt(tribo_dot(x, x, n));
}

// Largest magnitude; 0 for n = 0.
static inline double tribo_max_abs(const double* x, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    const double a = fabs(x[i]);
    most = a > most ? a : most;
  }
  return most;
}

// y ← y − a x
static inline void tribo_subtract(int n, double a, const double* x, double* y) {
  for (int i = 0; i < n; ++i) {
    y[i] -= a * x[i];
  }
}

// y ← y + a x
static inline void tribo_add_scaled(int n, double a, const double* x, double* y) {
  for (int i = 0; i < n; ++i) {
    y[i] += a * x[i];
  }
}

// y (m) ← A x, A (m × n) row-major
static inline void tribo_mat_vec(int m, int n, const double* A, const double* x, double* y) {
  for (int i = 0; i < m; ++i) {
    y[i] = tribo_dot(A + i * n, x, n);
  }
}

// ---- A = L Lᵀ ----

// L takes the lower triangle of A; the upper one is not read. A pivot below `least` > 0 is raised to it, so that a
// semidefinite matrix has a factor too.
static inline void tribo_small_cholesky(int n, double* A, int stride, double least) {
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      double sum = A[i * stride + j];
      for (int k = 0; k < j; ++k) {
        sum -= A[i * stride + k] * A[j * stride + k];
      }
      A[i * stride + j] = i == j ? sqrt(fmax(sum, least)) : sum / A[j * stride + j];
    }
  }
}

// b becomes L⁻¹ b. Returns its square, bᵀ A⁻¹ b.
static inline double tribo_small_forward(int n, const double* L, int stride, double* b) {
  double square = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      b[i] -= L[i * stride + k] * b[k];
    }
    b[i] /= L[i * stride + i];
    square += b[i] * b[i];
  }
  return square;
}

// b becomes L⁻ᵀ b.
static inline void tribo_small_backward(int n, const double* L, int stride, double* b) {
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) {
      b[i] -= L[k * stride + i] * b[k];
    }
    b[i] /= L[i * stride + i];
  }
}
