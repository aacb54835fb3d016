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
