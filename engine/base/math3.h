// Small 3D maths of the rooms, on top of what <tribo/math.h> has for all: vectors double[3], matrices double[9]
// row-major, quaternions double[4] as (x, y, z, w). Outputs may alias inputs only where said.
#pragma once

#include <math.h>
#include <string.h>

#include "tribo/math.h"

static inline void tribo_set3(double o[3], double x, double y, double z) {
  o[0] = x, o[1] = y, o[2] = z;
}
static inline void tribo_copy3(double o[3], const double a[3]) {
  o[0] = a[0], o[1] = a[1], o[2] = a[2];
}
static inline void tribo_add3(double o[3], const double a[3], const double b[3]) {
  o[0] = a[0] + b[0], o[1] = a[1] + b[1], o[2] = a[2] + b[2];
}
static inline void tribo_sub3(double o[3], const double a[3], const double b[3]) {
  o[0] = a[0] - b[0], o[1] = a[1] - b[1], o[2] = a[2] - b[2];
}
static inline void tribo_scale3(double o[3], double s, const double a[3]) {
  o[0] = s * a[0], o[1] = s * a[1], o[2] = s * a[2];
}
// o = a + s b
static inline void tribo_axpy3(double o[3], const double a[3], double s, const double b[3]) {
  o[0] = a[0] + s * b[0], o[1] = a[1] + s * b[1], o[2] = a[2] + s * b[2];
}

// o = A B, o = A Bᵀ; no aliasing
static inline void tribo_mul33(double o[9], const double A[9], const double B[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      o[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    }
  }
}
static inline void tribo_mul33t(double o[9], const double A[9], const double B[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      o[3 * i + j] = A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
    }
  }
}
static inline double tribo_det33(const double A[9]) {
  return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
}
// Inverse of a regular matrix; returns the determinant and leaves o alone when that is 0.
static inline double tribo_inv33(double o[9], const double A[9]) {
  double d = tribo_det33(A);
  if (d != 0) {
    o[0] = (A[4] * A[8] - A[5] * A[7]) / d, o[1] = (A[2] * A[7] - A[1] * A[8]) / d,
    o[2] = (A[1] * A[5] - A[2] * A[4]) / d;
    o[3] = (A[5] * A[6] - A[3] * A[8]) / d, o[4] = (A[0] * A[8] - A[2] * A[6]) / d,
    o[5] = (A[2] * A[3] - A[0] * A[5]) / d;
    o[6] = (A[3] * A[7] - A[4] * A[6]) / d, o[7] = (A[1] * A[6] - A[0] * A[7]) / d,
    o[8] = (A[0] * A[4] - A[1] * A[3]) / d;
  }
  return d;
}

// o = [a]×, the matrix with o x = a × x
static inline void tribo_skew33(double o[9], const double a[3]) {
  o[0] = 0, o[1] = -a[2], o[2] = a[1];
  o[3] = a[2], o[4] = 0, o[5] = -a[0];
  o[6] = -a[1], o[7] = a[0], o[8] = 0;
}

// Quaternions (x, y, z, w)
static inline void tribo_quat_identity(double q[4]) {
  q[0] = q[1] = q[2] = 0, q[3] = 1;
}
// The rotation by |w| about w.
static inline void tribo_quat_exp(double q[4], const double w[3]) {
  double a = tribo_norm3(w);
  double s = a > 1e-8 ? sin(0.5 * a) / a : 0.5 - a * a / 48;
  q[0] = s * w[0], q[1] = s * w[1], q[2] = s * w[2], q[3] = cos(0.5 * a);
}
// The Cayley map of w: rotation by 2 atan(|w|/2) about w.
static inline void tribo_quat_cayley(double q[4], const double w[3]) {
  q[0] = 0.5 * w[0], q[1] = 0.5 * w[1], q[2] = 0.5 * w[2], q[3] = 1;
  tribo_quat_normalize(q);
}

// Two unit tangents that complete the unit normal n to a right-handed frame [t1 t2 n]; continuous but at n = −z.
static inline void tribo_tangents(double t1[3], double t2[3], const double n[3]) {
  double s = n[2] >= 0 ? 1.0 : -1.0;
  double a = -1 / (s + n[2]), b = n[0] * n[1] * a;
  tribo_set3(t1, 1 + s * n[0] * n[0] * a, s * b, -s * n[0]);
  tribo_set3(t2, b, s + n[1] * n[1] * a, -n[1]);
}

static inline int tribo_finite(const double* x, size_t n) {
  // the sum of x − x is 0 for finite numbers and NaN otherwise; one branch for the whole array, two sums side by side
  double sum = 0, other = 0;
  size_t i = 0;
  for (; i + 1 < n; i += 2) {
    sum += x[i] - x[i];
    other += x[i + 1] - x[i + 1];
  }
  sum += i < n ? x[i] - x[i] : 0;
  return sum + other == 0;
}
static inline int tribo_equal(const double* a, const double* b, size_t n) {
  size_t i = 0;
  while (i < n && a[i] == b[i]) {
    ++i;
  }
  return i == n;
}
static inline double tribo_clamp(double x, double lo, double hi) {
  return x < lo ? lo : x > hi ? hi : x;
}
