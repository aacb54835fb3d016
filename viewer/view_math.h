// Directions and colours of the viewer, beyond what <tribo/math.h> has for all.
#pragma once

#include <math.h>

#include <tribo/math.h>

// Any unit vector at a right angle to the unit vector a.
static inline void across3(const double a[3], double out[3]) {
  double e[3] = {0};
  e[fabs(a[0]) < 0.6 ? 0 : 1] = 1;
  tribo_cross3(out, a, e);
  tribo_normalize3(out);
}
// What is to the right and in front of someone who looks along y when the sky is at `up`.
static inline void axes_from_up(const double up[3], double side[3], double front[3]) {
  const double x[3] = {1, 0, 0};
  if (fabs(up[0]) < 0.9) {
    tribo_cross3(front, x, up);
    tribo_normalize3(front);
  } else {
    across3(up, front);
  }
  tribo_cross3(side, up, front);
}
// The rotation that turns z into the unit vector d.
static inline void quat_from_z(const double d[3], double out[4]) {
  double q[4] = {-d[1], d[0], 0, 1 + d[2]};
  if (q[3] < 1e-9) {
    q[0] = 1, q[1] = 0, q[3] = 0;
  }
  double n = sqrt(tribo_dot3(q, q) + q[3] * q[3]);
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
