// Rigid transforms as (origin, rotation): composition, inverse, conversion.
#pragma once

#include "exchange.h"
#include "math3.h"

static inline TriboPose tribo_pose(const double position[3], const double quaternion[4]) {
  TriboPose pose;
  tribo_copy3(pose.p, position);
  tribo_quat_to_mat(pose.R, quaternion);
  return pose;
}

static inline TriboPose tribo_pose_identity(void) {
  return (TriboPose){{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

// a ∘ b: first b, then a
static inline TriboPose tribo_pose_mul(const TriboPose* a, const TriboPose* b) {
  TriboPose o;
  double r[3];
  tribo_mul33v(r, a->R, b->p);
  tribo_add3(o.p, a->p, r);
  tribo_mul33(o.R, a->R, b->R);
  return o;
}

// a⁻¹ ∘ b: b as seen from a
static inline TriboPose tribo_pose_between(const TriboPose* a, const TriboPose* b) {
  TriboPose o;
  double d[3];
  tribo_sub3(d, b->p, a->p);
  tribo_mul33tv(o.p, a->R, d);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      o.R[3 * i + j] = a->R[i] * b->R[j] + a->R[3 + i] * b->R[3 + j] + a->R[6 + i] * b->R[6 + j];
    }
  }
  return o;
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
