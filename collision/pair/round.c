// Closed forms of spheres and capsules: a point or a segment with a radius against another shape. For these the
// signed distance is that of the core minus the radius, with the same direction.
#include "narrow.h"

// One point between the cores' closest points p (of a) and q (of b), of radii ra and rb. When the cores touch, any
// direction is right: `fallback` is taken.
static void add_round(TriboManifold* m, const double p[3], double ra, const double q[3], double rb,
                      const double fallback[3], double reach, uint32_t feature) {
  double n[3], a[3];
  tribo_sub3(n, q, p);
  double distance = tribo_normalize3(n);
  if (!(distance > 0)) {
    tribo_copy3(n, fallback);
  }
  double gap = distance - ra - rb;
  // the pair's own distance is the least of its points'
  if (gap < m->gap) {
    m->gap = gap;
    tribo_copy3(m->normal, n);
  }
  if (gap <= reach) {
    tribo_axpy3(a, p, ra, n);
    tribo_col_add_point(m, a, n, gap, feature);
  }
}

// The sphere a against a solid whose outward normal nearest to the centre is known, and how far outside that lies.
static void add_sphere(TriboManifold* m, const TriboSolid* sphere, const double outward[3], double outside,
                       double reach, uint32_t feature) {
  double a[3];
  tribo_scale3(m->normal, -1, outward);
  m->gap = outside - sphere->radius;
  if (m->gap <= reach) {
    tribo_axpy3(a, sphere->pose.p, sphere->radius, m->normal);
    tribo_col_add_point(m, a, m->normal, m->gap, feature);
  }
}

static const double up[3] = {0, 0, 1};

void tribo_col_sphere_sphere(const TriboSolid* a, const TriboSolid* b, double reach, TriboManifold* m) {
  add_round(m, a->pose.p, a->radius, b->pose.p, b->radius, up, reach, 0);
}

void tribo_col_sphere_capsule(const TriboSolid* a, const TriboSolid* b, double reach, TriboManifold* m) {
  double axis[3], d[3], q[3], side[3], unused[3];
  tribo_col_axis(axis, b, 2);
  tribo_sub3(d, a->pose.p, b->pose.p);
  tribo_axpy3(q, b->pose.p, tribo_clamp(tribo_dot3(d, axis), -b->half[2], b->half[2]), axis);
  tribo_tangents(side, unused, axis);
  add_round(m, a->pose.p, a->radius, q, b->radius, side, reach, 0);
}

void tribo_col_sphere_box(const TriboSolid* a, const TriboSolid* b, double reach, TriboManifold* m) {
  double x[3], beyond[3], local[3] = {0, 0, 0}, outward[3];
  tribo_col_to_local(x, &b->pose, a->pose.p);
  int axis = 0;
  for (int i = 0; i < 3; ++i) {
    beyond[i] = fabs(x[i]) - b->half[i];
    axis = beyond[i] > beyond[axis] ? i : axis;
  }
  double outside = beyond[axis];
  if (outside <= 0) {
    // the centre is inside: out through the nearest face
    local[axis] = copysign(1, x[axis]);
  } else {
    for (int i = 0; i < 3; ++i) {
      local[i] = beyond[i] > 0 ? copysign(beyond[i], x[i]) : 0;
    }
    outside = tribo_normalize3(local);
  }
  tribo_mul33v(outward, b->pose.R, local);
  add_sphere(m, a, outward, outside, reach, 0);
}

void tribo_col_sphere_cylinder(const TriboSolid* a, const TriboSolid* b, double reach, TriboManifold* m) {
  double x[3], local[3] = {0, 0, 0}, outward[3];
  tribo_col_to_local(x, &b->pose, a->pose.p);
  double rho = sqrt(x[0] * x[0] + x[1] * x[1]);
  double radial = rho - b->radius, axial = fabs(x[2]) - b->half[2], outside = fmax(radial, axial);
  double side[2] = {rho > 0 ? x[0] / rho : 1, rho > 0 ? x[1] / rho : 0};
  // outside both ways it is the rim, else the nearer of mantle and cap
  double wr = radial, wa = axial;
  if (radial > 0 && axial > 0) {
    outside = sqrt(radial * radial + axial * axial);
    wr /= outside, wa /= outside;
  } else {
    wr = radial > axial, wa = !(radial > axial);
  }
  tribo_set3(local, wr * side[0], wr * side[1], copysign(wa, x[2]));
  tribo_mul33v(outward, b->pose.R, local);
  add_sphere(m, a, outward, outside, reach, 0);
}

void tribo_col_capsule_capsule(const TriboSolid* a, const TriboSolid* b, double reach, TriboManifold* m) {
  double d[3], e[3], cross[3], p[3], q[3], side[3], unused[3], s, t, r[3];
  tribo_col_axis(d, a, 2);
  tribo_col_axis(e, b, 2);
  tribo_col_segments(a->pose.p, d, a->half[2], b->pose.p, e, b->half[2], &s, &t);
  tribo_cross3(cross, d, e);
  double sine = tribo_norm3(cross);
  tribo_tangents(side, unused, d);
  if (sine > 1e-12) {
    tribo_scale3(side, 1 / sine, cross);
  }
  // nearly parallel: a point at each end of the overlap along a, each against its closest point on b
  tribo_sub3(r, b->pose.p, a->pose.p);
  double mid = tribo_dot3(r, d), half = b->half[2] * fabs(tribo_dot3(d, e));
  double low = fmax(-a->half[2], mid - half), high = fmin(a->half[2], mid + half);
  double ends[2] = {low, high};
  int parallel = sine < 1e-3 && high - low > 1e-6 * a->half[2];
  for (int k = 0; k < (parallel ? 2 : 1); ++k) {
    if (parallel) {
      double x[3];
      s = ends[k];
      tribo_axpy3(x, a->pose.p, s, d);
      tribo_sub3(x, x, b->pose.p);
      t = tribo_clamp(tribo_dot3(x, e), -b->half[2], b->half[2]);
    }
    tribo_axpy3(p, a->pose.p, s, d);
    tribo_axpy3(q, b->pose.p, t, e);
    add_round(m, p, a->radius, q, b->radius, side, reach, tribo_col_feature(TRIBO_FEATURE_POINT, parallel, 0, k));
  }
}

// ---- box and capsule

// Closest points of a segment (middle c, direction e, half length l) and a box that do not touch, in the box's frame.
static double segment_to_box(const double half[3], const double c[3], const double e[3], double l, double on_box[3],
                             double on_segment[3]) {
  double best = INFINITY;
  for (int k = 0; k < 14; ++k) {
    double x[3], y[3], s = k == 0 ? -l : l, t;
    if (k < 2) {
      // an end against the box
      tribo_axpy3(y, c, s, e);
      for (int i = 0; i < 3; ++i) {
        x[i] = tribo_clamp(y[i], -half[i], half[i]);
      }
    } else {
      // the segment against one of the twelve edges
      int axis = (k - 2) / 4;
      double middle[3], d[3] = {0, 0, 0};
      d[axis] = 1, middle[axis] = 0;
      middle[(axis + 1) % 3] = (k & 1 ? 1 : -1) * half[(axis + 1) % 3];
      middle[(axis + 2) % 3] = (k & 2 ? 1 : -1) * half[(axis + 2) % 3];
      tribo_col_segments(c, e, l, middle, d, half[axis], &s, &t);
      tribo_axpy3(y, c, s, e);
      tribo_axpy3(x, middle, t, d);
    }
    double gap[3];
    tribo_sub3(gap, y, x);
    double distance2 = tribo_dot3(gap, gap);
    if (distance2 < best) {
      best = distance2;
      tribo_copy3(on_box, x);
      tribo_copy3(on_segment, y);
    }
  }
  return sqrt(best);
}

// Best of the six separating axes of a segment and a box: three faces (index 0 … 2) and three products with edges.
static double segment_axes(const double half[3], const double c[3], const double e[3], double l, double tie, int* axis,
                           double n[3]) {
  double best = -INFINITY;
  for (int k = 0; k < 6; ++k) {
    double d[3] = {0, 0, 0};
    if (k < 3) {
      d[k] = 1;
    } else {
      int i = (k + 1) % 3, j = (k + 2) % 3;
      double sine = sqrt(e[i] * e[i] + e[j] * e[j]);
      if (sine < 1e-6) {
        continue;
      }
      d[i] = -e[j] / sine, d[j] = e[i] / sine;
    }
    double along = tribo_dot3(c, d);
    double s =
        fabs(along) - fabs(d[0]) * half[0] - fabs(d[1]) * half[1] - fabs(d[2]) * half[2] - l * fabs(tribo_dot3(e, d));
    if (s > best + tie) {
      best = s, *axis = k;
      tribo_scale3(n, along < 0 ? -1 : 1, d);
    }
  }
  return best;
}

void tribo_col_box_capsule(const TriboSolid* a, const TriboSolid* b, double reach, TriboManifold* m) {
  double c[3], e[3], axis[3], n[3], world[3], on_box[3] = {0}, on_segment[3] = {0}, l = b->half[2];
  double tie = 1e-6 * fmin(tribo_norm3(a->half), l + b->radius);
  tribo_col_to_local(c, &a->pose, b->pose.p);
  tribo_col_axis(axis, b, 2);
  tribo_mul33tv(e, a->pose.R, axis);
  int k = 0;
  double core = segment_axes(a->half, c, e, l, tie, &k, n);
  m->gap = core - b->radius;
  if (m->gap > reach) {
    return;
  }
  // over a face: both ends of what lies over it, unless a place beside the face is closer
  tribo_mul33v(world, a->pose.R, n);
  if (k < 3) {
    TriboPatch face, segment;
    tribo_col_box_face(a, k, n[k] < 0, &face);
    tribo_col_patch(b, world, &segment);
    tribo_copy3(m->normal, world);
    double least = tribo_col_clip(&face, &segment, world, 1, reach, m);
    if (least <= m->gap + 2 * tie || (core <= 0 && m->count > 0)) {
      return;
    }
    m->count = 0;
  }
  double distance = core > 0 ? segment_to_box(a->half, c, e, l, on_box, on_segment) : core;
  double start[3];
  if (distance > tie) {
    tribo_sub3(n, on_segment, on_box);
    tribo_normalize3(n);
    tribo_mul33v(world, a->pose.R, n);
    tribo_col_to_world(start, &a->pose, on_box);
  } else {
    // the segment runs through the box: the deepest point of the segment along the axis of least overlap, for a
    // product of edges the place where it crosses the edge
    double s = tribo_dot3(e, n) > 0 ? -l : l, t;
    if (k >= 3) {
      int edge = k - 3;
      double middle[3], d[3] = {0, 0, 0};
      for (int i = 0; i < 3; ++i) {
        middle[i] = i == edge ? 0 : copysign(a->half[i], n[i]);
      }
      d[edge] = 1;
      tribo_col_segments(c, e, l, middle, d, a->half[edge], &s, &t);
    }
    tribo_axpy3(on_segment, c, s, e);
    tribo_axpy3(on_segment, on_segment, -distance, n);
    tribo_col_to_world(start, &a->pose, on_segment);
  }
  m->gap = distance - b->radius;
  tribo_copy3(m->normal, world);
  if (m->gap <= reach) {
    tribo_col_add_point(m, start, world, m->gap, tribo_col_feature(TRIBO_FEATURE_EDGE, k, 0, 0));
  }
}
