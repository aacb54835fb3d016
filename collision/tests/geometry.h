// Random poses, sizes and geometries for the tests of this room.
#pragma once

#include "collision.h"
#include "kit.h"
#include "math3.h"
#include "shape.h"

static inline TriboPose pose_at(double x, double y, double z) {
  return (TriboPose){{x, y, z}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
}

// Turned by `angle` about the axis k.
static inline TriboPose turned(TriboPose pose, int k, double angle) {
  double w[3] = {0, 0, 0}, q[4], E[9], R[9];
  w[k] = angle;
  tribo_quat_exp(q, w);
  tribo_quat_to_mat(E, q);
  tribo_mul33(R, E, pose.R);
  memcpy(pose.R, R, sizeof R);
  return pose;
}

static inline TriboPose random_pose(KitRandom* r, double spread) {
  TriboPose pose;
  double q[4];
  for (int k = 0; k < 3; ++k) {
    pose.p[k] = kit_uniform(r, -spread, spread);
  }
  kit_rotation(r, q);
  tribo_quat_to_mat(pose.R, q);
  return pose;
}

static inline TriboGeom geom_of(TriboShapeKind kind, double x, double y, double z, int body) {
  return (TriboGeom){.kind = kind, .size = {x, y, z}, .body = body, .local = pose_at(0, 0, 0), .group = 1, .mask = 1};
}

static inline TriboGeom random_geom(KitRandom* r, TriboShapeKind kind, double low, double high) {
  return geom_of(kind, kit_uniform(r, low, high), kit_uniform(r, low, high), kit_uniform(r, low, high),
                 kind == TRIBO_SHAPE_HALFSPACE ? TRIBO_WORLD_BODY : 0);
}

// Corners of a box as a point set.
static inline void box_corners(double x, double y, double z, double points[24]) {
  for (int k = 0; k < 8; ++k) {
    tribo_set3(points + 3 * k, (k & 1 ? 0.5 : -0.5) * x, (k & 2 ? 0.5 : -0.5) * y, (k & 4 ? 0.5 : -0.5) * z);
  }
}

// Angle between two unit vectors, accurate for small ones.
static inline double angle_between(const double a[3], const double b[3]) {
  double d[3], s[3];
  tribo_sub3(d, a, b);
  tribo_add3(s, a, b);
  return 2 * atan2(tribo_norm3(d), tribo_norm3(s));
}

// Puts b where its support point along −n lies at `gap` beyond a's along n: then the distance is the gap, exactly, and
// n its direction, for any two convex solids.
static inline void face_each_other(const TriboSolid* a, TriboSolid* b, const double n[3], double gap) {
  double xa[3], xb[3], back[3] = {-n[0], -n[1], -n[2]}, shift[3];
  tribo_col_support(a, n, xa);
  tribo_col_support(b, back, xb);
  tribo_axpy3(shift, xa, gap, n);
  tribo_sub3(shift, shift, xb);
  tribo_add3(b->pose.p, b->pose.p, shift);
}
