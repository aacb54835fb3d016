// Vectors, quaternions (x, y, z, w) and colours of the viewer, which sees the public headers only and so has its own.
#pragma once

#include <math.h>
#include <string.h>

static inline double dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double norm3(const double a[3]) {
  return sqrt(dot3(a, a));
}
static inline void cross3(const double a[3], const double b[3], double out[3]) {
  double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  memcpy(out, c, sizeof c);
}
// Returns the length; a vector without one stays as it is.
static inline double normalize3(double a[3]) {
  const double n = norm3(a);
  if (n > 0) {
    for (int i = 0; i < 3; ++i) {
      a[i] /= n;
    }
  }
  return n;
}
// Any unit vector at a right angle to the unit vector a.
static inline void across3(const double a[3], double out[3]) {
  double e[3] = {0};
  e[fabs(a[0]) < 0.6 ? 0 : 1] = 1;
  cross3(a, e, out);
  normalize3(out);
}
// What is to the right and in front of someone who looks along y when the sky is at `up`.
static inline void axes_from_up(const double up[3], double side[3], double front[3]) {
  const double x[3] = {1, 0, 0};
  if (fabs(up[0]) < 0.9) {
    cross3(x, up, front);
    normalize3(front);
  } else {
    across3(up, front);
  }
  cross3(up, front, side);
}
static inline void quat_rotate(const double q[4], const double v[3], double out[3]) {
  double t[3], u[3];
  cross3(q, v, t);
  for (int i = 0; i < 3; ++i) {
    t[i] += q[3] * v[i];
  }
  cross3(q, t, u);
  for (int i = 0; i < 3; ++i) {
    out[i] = v[i] + 2 * u[i];
  }
}
// The inverse rotation.
static inline void quat_rotate_back(const double q[4], const double v[3], double out[3]) {
  const double back[4] = {-q[0], -q[1], -q[2], q[3]};
  quat_rotate(back, v, out);
}
static inline void quat_multiply(const double a[4], const double b[4], double out[4]) {
  double v[3];
  cross3(a, b, v);
  for (int i = 0; i < 3; ++i) {
    v[i] += a[3] * b[i] + b[3] * a[i];
  }
  out[3] = a[3] * b[3] - dot3(a, b);
  memcpy(out, v, sizeof v);
}
// The rotation that turns z into the unit vector d.
static inline void quat_from_z(const double d[3], double out[4]) {
  double q[4] = {-d[1], d[0], 0, 1 + d[2]};
  if (q[3] < 1e-9) {
    q[0] = 1, q[1] = 0, q[3] = 0;
  }
  double n = sqrt(dot3(q, q) + q[3] * q[3]);
  for (int i = 0; i < 4; ++i) {
    out[i] = q[i] / n;
  }
}

// Light of a colour component 0 … 1 as the screen shows it (sRGB).
static inline double from_srgb(double c) {
  return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}
static inline double to_srgb(double c) {
  return c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
}
