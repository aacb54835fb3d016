// Sums over vectors of a few entries. Every sum runs from the first entry to the last, so that a result has the same
// bits wherever it is made.
#pragma once

#include <math.h>

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

// o = [a]×, the matrix with o x = a × x
static inline void tribo_skew33(double o[9], const double a[3]) {
  o[0] = 0, o[1] = -a[2], o[2] = a[1];
  o[3] = a[2], o[4] = 0, o[5] = -a[0];
  o[6] = -a[1], o[7] = a[0], o[8] = 0;
}
