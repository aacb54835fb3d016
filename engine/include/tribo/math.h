// Tribo, public: vectors, matrices and quaternions of a user's arithmetic with poses: double[3], double[9] row-major
// and double[4] as (x, y, z, w). Results come first; they must be no operand, except where it is said. Nothing here
// needs the library, and all of it may be called from every thread.
#pragma once

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline double tribo_dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double tribo_norm3(const double a[3]) {
  return sqrt(tribo_dot3(a, a));
}
// o = a × b
static inline void tribo_cross3(double o[3], const double a[3], const double b[3]) {
  o[0] = a[1] * b[2] - a[2] * b[1];
  o[1] = a[2] * b[0] - a[0] * b[2];
  o[2] = a[0] * b[1] - a[1] * b[0];
}
// Scales a to length 1 and returns the old length; a zero vector stays as it is.
static inline double tribo_normalize3(double a[3]) {
  double n = tribo_norm3(a);
  if (n > 0) {
    a[0] /= n, a[1] /= n, a[2] /= n;
  }
  return n;
}

// o = A x, o = Aᵀ x
static inline void tribo_mul33v(double o[3], const double A[9], const double x[3]) {
  o[0] = A[0] * x[0] + A[1] * x[1] + A[2] * x[2];
  o[1] = A[3] * x[0] + A[4] * x[1] + A[5] * x[2];
  o[2] = A[6] * x[0] + A[7] * x[1] + A[8] * x[2];
}
static inline void tribo_mul33tv(double o[3], const double A[9], const double x[3]) {
  o[0] = A[0] * x[0] + A[3] * x[1] + A[6] * x[2];
  o[1] = A[1] * x[0] + A[4] * x[1] + A[7] * x[2];
  o[2] = A[2] * x[0] + A[5] * x[1] + A[8] * x[2];
}

// Scales q to length 1 and returns the old length; zero stays as it is.
static inline double tribo_quat_normalize(double q[4]) {
  double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (n > 0) {
    q[0] /= n, q[1] /= n, q[2] /= n, q[3] /= n;
  }
  return n;
}
// o = a b, first b then a
static inline void tribo_quat_mul(double o[4], const double a[4], const double b[4]) {
  o[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
  o[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
  o[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
  o[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}
// The matrix of a unit quaternion.
static inline void tribo_quat_to_mat(double R[9], const double q[4]) {
  double x = q[0], y = q[1], z = q[2], w = q[3];
  R[0] = 1 - 2 * (y * y + z * z), R[1] = 2 * (x * y - w * z), R[2] = 2 * (x * z + w * y);
  R[3] = 2 * (x * y + w * z), R[4] = 1 - 2 * (x * x + z * z), R[5] = 2 * (y * z - w * x);
  R[6] = 2 * (x * z - w * y), R[7] = 2 * (y * z + w * x), R[8] = 1 - 2 * (x * x + y * y);
}
// The unit quaternion of a rotation matrix; the largest of the four squares decides, so nothing cancels.
static inline void tribo_quat_from_mat(double q[4], const double R[9]) {
  double t = R[0] + R[4] + R[8];
  if (t > 0) {
    double s = sqrt(t + 1) * 2;
    q[3] = 0.25 * s, q[0] = (R[7] - R[5]) / s, q[1] = (R[2] - R[6]) / s, q[2] = (R[3] - R[1]) / s;
  } else if (R[0] > R[4] && R[0] > R[8]) {
    double s = sqrt(1 + R[0] - R[4] - R[8]) * 2;
    q[3] = (R[7] - R[5]) / s, q[0] = 0.25 * s, q[1] = (R[1] + R[3]) / s, q[2] = (R[2] + R[6]) / s;
  } else if (R[4] > R[8]) {
    double s = sqrt(1 + R[4] - R[0] - R[8]) * 2;
    q[3] = (R[2] - R[6]) / s, q[0] = (R[1] + R[3]) / s, q[1] = 0.25 * s, q[2] = (R[5] + R[7]) / s;
  } else {
    double s = sqrt(1 + R[8] - R[0] - R[4]) * 2;
    q[3] = (R[3] - R[1]) / s, q[0] = (R[2] + R[6]) / s, q[1] = (R[5] + R[7]) / s, q[2] = 0.25 * s;
  }
  tribo_quat_normalize(q);
}
// o = q v q⁻¹, the vector v turned by the unit quaternion q; o may be v.
static inline void tribo_quat_rotate(double o[3], const double q[4], const double v[3]) {
  double t[3], u[3];
  tribo_cross3(t, q, v);
  t[0] += q[3] * v[0], t[1] += q[3] * v[1], t[2] += q[3] * v[2];
  tribo_cross3(u, q, t);
  o[0] = v[0] + 2 * u[0], o[1] = v[1] + 2 * u[1], o[2] = v[2] + 2 * u[2];
}
// o = q⁻¹ v q, the inverse rotation; o may be v.
static inline void tribo_quat_rotate_back(double o[3], const double q[4], const double v[3]) {
  const double back[4] = {-q[0], -q[1], -q[2], q[3]};
  tribo_quat_rotate(o, back, v);
}

#ifdef __cplusplus
}
#endif
