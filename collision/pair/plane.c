// Anything against a half-space: the normal never changes, so points of the solid are measured against the plane.
#include "narrow.h"

typedef struct Plane {
  double n[3];    // from the solid into the half-space
  double offset;  // n·x of the surface
  double reach;
} Plane;

static void add(TriboManifold* m, const Plane* plane, const double x[3], uint32_t feature) {
  double gap = plane->offset - tribo_dot3(plane->n, x);
  m->gap = fmin(m->gap, gap);
  if (gap <= plane->reach && m->count < TRIBO_POINT_MAX) {
    tribo_col_add_point(m, x, plane->n, gap, feature);
  }
}

// Caps flat or tilted: four points of the lower rim. Lying on the mantle or on the apex: the two ends of its line.
static void add_rims(TriboManifold* m, const Plane* plane, const TriboSolid* s) {
  double axis[3], x[3];
  tribo_col_axis(axis, s, 2);
  double along = tribo_dot3(axis, plane->n);
  int cone = s->kind == TRIBO_SHAPE_CONE;
  if (cone ? along < 0 : fabs(along) >= 0.1) {
    int top = along > 0;
    for (int k = 0; k < 4; ++k) {
      tribo_col_rim_point(s, top, plane->n, k, 4, x);
      add(m, plane, x, tribo_col_feature(TRIBO_FEATURE_FACE, top, k, 0));
    }
    return;
  }
  double side[3];
  tribo_axpy3(side, plane->n, -along, axis);
  double sine = tribo_normalize3(side);
  for (int top = 0; top < 2; ++top) {
    tribo_axpy3(x, s->pose.p, top ? s->half[2] : -s->half[2], axis);
    if (sine > 0 && !(cone && top)) {
      tribo_axpy3(x, x, s->radius, side);
    }
    add(m, plane, x, tribo_col_feature(TRIBO_FEATURE_EDGE, top, 0, 0));
  }
}

// Vertices of a hull. More than fit are thinned out by dropping the highest.
static void add_vertices(TriboManifold* m, const Plane* plane, const TriboSolid* s) {
  const TriboHull* hull = s->hull;
  double d[3];
  tribo_mul33tv(d, s->pose.R, plane->n);
  double offset = plane->offset - tribo_dot3(plane->n, s->pose.p);
  for (int i = 0; i < hull->nvertex; ++i) {
    double gap = offset - tribo_dot3(d, hull->points + 3 * i), x[3];
    m->gap = fmin(m->gap, gap);
    if (gap > plane->reach) {
      continue;
    }
    if (m->count == TRIBO_POINT_MAX) {
      const int shallowest = tribo_col_shallowest(m);
      if (m->points[shallowest].gap <= gap) {
        continue;
      }
      m->points[shallowest] = m->points[--m->count];
    }
    tribo_col_to_world(x, &s->pose, hull->points + 3 * i);
    tribo_col_add_point(m, x, plane->n, gap, tribo_col_feature(TRIBO_FEATURE_VERTEX, i >> 13, i, 0));
  }
}

void tribo_col_any_plane(const TriboSolid* s, const TriboSolid* halfspace, double reach, TriboManifold* m) {
  Plane plane = {.reach = reach};
  double x[3];
  tribo_col_axis(plane.n, halfspace, 2);
  tribo_scale3(plane.n, -1, plane.n);
  plane.offset = tribo_dot3(plane.n, halfspace->pose.p);
  m->gap = INFINITY;
  tribo_copy3(m->normal, plane.n);
  switch (s->kind) {
    case TRIBO_SHAPE_BOX: {
      TriboPatch face;
      tribo_col_patch(s, plane.n, &face);
      for (int k = 0; k < 4; ++k) {
        // named by the corner of the box: it keeps its name when the box tips over to another face
        double local[3];
        tribo_col_to_local(local, &s->pose, face.points[k]);
        int corner = (local[0] > 0) | (local[1] > 0) << 1 | (local[2] > 0) << 2;
        add(m, &plane, face.points[k], tribo_col_feature(TRIBO_FEATURE_VERTEX, 0, corner, 0));
      }
      break;
    }
    case TRIBO_SHAPE_CAPSULE: {
      TriboPatch segment;
      tribo_col_patch(s, plane.n, &segment);
      for (int k = 0; k < 2; ++k) {
        tribo_axpy3(x, segment.points[k], s->radius, plane.n);
        add(m, &plane, x, tribo_col_feature(TRIBO_FEATURE_POINT, k, 0, 0));
      }
      break;
    }
    case TRIBO_SHAPE_CYLINDER:
    case TRIBO_SHAPE_CONE: add_rims(m, &plane, s); break;
    case TRIBO_SHAPE_HULL: add_vertices(m, &plane, s); break;
    default:
      tribo_col_support(s, plane.n, x);
      add(m, &plane, x, 0);
      break;
  }
}
