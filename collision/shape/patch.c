// The flat pieces of surface that a solid shows in a direction: faces, caps, edges, lines of a mantle, points.
#include "patch.h"

void tribo_col_box_face(const TriboSolid* box, int axis, int negative, TriboPatch* out) {
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  double sign = negative ? -1 : 1, centre[3], u[3], v[3];
  tribo_col_axis(out->normal, box, axis);
  tribo_scale3(out->normal, sign, out->normal);
  tribo_col_axis(out->u, box, i);
  tribo_col_axis(out->v, box, j);
  tribo_axpy3(centre, box->pose.p, box->half[axis], out->normal);
  tribo_scale3(u, sign * box->half[i], out->u);
  tribo_scale3(v, box->half[j], out->v);
  for (int k = 0; k < 4; ++k) {
    double* x = out->points[k];
    tribo_axpy3(x, centre, k == 0 || k == 3 ? 1 : -1, u);
    tribo_axpy3(x, x, k < 2 ? 1 : -1, v);
  }
  out->count = 4;
  out->offset = tribo_dot3(out->normal, centre);
  out->radius = 0;
  out->id = 2 * axis + negative;
}

static void hull_face(const TriboSolid* solid, int f, TriboPatch* out) {
  const TriboHull* hull = solid->hull;
  const int* loop = hull->face_vertex + hull->face_first[f];
  int length = hull->face_first[f + 1] - hull->face_first[f];
  // a face with more corners than fit gives evenly chosen ones
  out->count = length < TRIBO_PATCH_MAX ? length : TRIBO_PATCH_MAX;
  double centre[3] = {0, 0, 0}, d[3];
  for (int k = 0; k < out->count; ++k) {
    tribo_col_to_world(out->points[k], &solid->pose, hull->points + 3 * loop[(long)k * length / out->count]);
    tribo_axpy3(centre, centre, 1.0 / out->count, out->points[k]);
  }
  tribo_mul33v(out->normal, solid->pose.R, hull->planes + 4 * f);
  out->offset = hull->planes[4 * f + 3] + tribo_dot3(out->normal, solid->pose.p);
  out->radius = 0;
  out->id = f;
  // axes with the first corner in the middle of a quarter
  tribo_sub3(d, out->points[0], centre);
  tribo_cross3(out->v, out->normal, d);
  tribo_add3(out->u, d, out->v);
  tribo_sub3(out->v, out->v, d);
}

void tribo_col_rim_point(const TriboSolid* solid, int top, const double n[3], int k, int count, double x[3]) {
  const double pi = 3.14159265358979323846;
  double d[3], step = 2 * pi / count;
  tribo_mul33tv(d, solid->pose.R, n);
  double tilt = sqrt(d[0] * d[0] + d[1] * d[1]);
  double turn = remainder(atan2(d[1], d[0]) - pi / 4, step) * tribo_clamp((tilt - 1e-7) / 1e-5, 0, 1);
  double angle = pi / 4 + k * step + turn;
  double local[3] = {solid->radius * cos(angle), solid->radius * sin(angle), top ? solid->half[2] : -solid->half[2]};
  tribo_col_to_world(x, &solid->pose, local);
}

// The disc of a cap as a polygon.
static void cap_face(const TriboSolid* solid, int top, const double n[3], TriboPatch* out) {
  enum { CORNERS = 16 };
  for (int k = 0; k < CORNERS; ++k) {
    tribo_col_rim_point(solid, top, n, top ? k : CORNERS - 1 - k, CORNERS, out->points[k]);
  }
  out->count = CORNERS;
  tribo_col_axis(out->u, solid, 0);
  tribo_col_axis(out->v, solid, 1);
  tribo_col_axis(out->normal, solid, 2);
  tribo_scale3(out->normal, top ? 1 : -1, out->normal);
  out->offset = tribo_dot3(out->normal, solid->pose.p) + solid->half[2];
  out->id = top;
}

// The straight line of a cylinder or cone that faces n.
static void side_line(const TriboSolid* solid, const double d[3], TriboPatch* out) {
  double rim = sqrt(d[0] * d[0] + d[1] * d[1]);
  double x = rim > 0 ? solid->radius * d[0] / rim : solid->radius, y = rim > 0 ? solid->radius * d[1] / rim : 0;
  double upper = solid->kind == TRIBO_SHAPE_CONE ? 0 : 1;
  double low[3] = {x, y, -solid->half[2]}, high[3] = {upper * x, upper * y, solid->half[2]};
  tribo_col_to_world(out->points[0], &solid->pose, low);
  tribo_col_to_world(out->points[1], &solid->pose, high);
  out->count = 2;
  out->id = 2;
}

void tribo_col_patch(const TriboSolid* solid, const double n[3], TriboPatch* out) {
  double d[3];
  tribo_mul33tv(d, solid->pose.R, n);
  out->radius = 0;
  out->id = 0;
  switch (solid->kind) {
    case TRIBO_SHAPE_BOX: {
      const int axis = tribo_col_longest_axis(d);
      tribo_col_box_face(solid, axis, d[axis] < 0, out);
      return;
    }
    case TRIBO_SHAPE_HULL: {
      // of the faces around the support vertex the one that looks most along n
      const TriboHull* hull = solid->hull;
      int vertex = tribo_col_hull_support(hull, d), best = hull->around[hull->around_first[vertex]];
      for (int k = hull->around_first[vertex]; k < hull->around_first[vertex + 1]; ++k) {
        int f = hull->around[k];
        best = tribo_dot3(d, hull->planes + 4 * f) > tribo_dot3(d, hull->planes + 4 * best) ? f : best;
      }
      hull_face(solid, best, out);
      return;
    }
    case TRIBO_SHAPE_CYLINDER:
    case TRIBO_SHAPE_CONE:
      if (solid->kind == TRIBO_SHAPE_CONE ? d[2] < -0.7 : fabs(d[2]) > 0.7) {
        cap_face(solid, d[2] > 0, n, out);
      } else {
        side_line(solid, d, out);
      }
      return;
    case TRIBO_SHAPE_CAPSULE: {
      double axis[3];
      tribo_col_axis(axis, solid, 2);
      tribo_axpy3(out->points[0], solid->pose.p, -solid->half[2], axis);
      tribo_axpy3(out->points[1], solid->pose.p, solid->half[2], axis);
      out->count = 2;
      out->radius = solid->radius;
      return;
    }
    default:
      tribo_col_support(solid, n, out->points[0]);
      out->count = 1;
      return;
  }
}
