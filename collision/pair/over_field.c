// A convex solid over a height field.
//
// The surface meets a convex solid at one of three places, and each has an owner, so that nothing is found twice and
// nothing sticks out where two triangles meet:
//
//   faces    a point of the solid against the plane of a triangle: the same points and gaps as against a half-space,
//            kept when its foot is on the triangle. A flat field is therefore exactly a plane. Over a
//            valley the surface is the higher of two planes, so there the triangle next door counts as well.
//   ridges   an edge of the grid that two triangles meet in from below (or the border): a segment against the solid,
//            kept when the normal lies between those of the two triangles, else it is a face's business.
//   peaks    an end of a ridge, kept when the normal points away from all edges that leave it.
#include "field.h"
#include "narrow.h"
#include "status.h"

// A solid, the height field it is over, and the cells in reach.
typedef struct FieldQuery {
  const TriboSolid *solid, *ground;
  const TriboHeightField* field;
  double reach;
  double low[3], high[3];  // box of the solid in the field's frame
  int first[2], last[2];   // cells
} FieldQuery;

// Whether the box of some points of the field is within reach of the solid's box.
static int in_reach(const FieldQuery* v, const int* vertices, int count) {
  for (int k = 0; k < 3; ++k) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < count; ++i) {
      const double x = v->field->points[3 * vertices[i] + k];
      low = fmin(low, x);
      high = fmax(high, x);
    }
    // (what is below the surface is inside, however deep)
    if (high < v->low[k] - v->reach || (k < 2 && low > v->high[k] + v->reach)) {
      return 0;
    }
  }
  return 1;
}

// Keeps a point; a full manifold loses its shallowest.
static void keep_deepest(TriboManifold* m, const TriboColPoint* p) {
  if (p->gap < m->gap) {
    m->gap = p->gap;
    tribo_copy3(m->normal, p->normal);
  }
  if (m->count < TRIBO_POINT_MAX) {
    m->points[m->count++] = *p;
    return;
  }
  const int shallowest = tribo_col_shallowest(m);
  if (p->gap < m->points[shallowest].gap) {
    m->points[shallowest] = *p;
  }
}

// Whether a point whose column is triangle `at` counts for the plane of triangle t: its own, or one that rises above it
// beyond a common edge.
static int counts_for_plane(const TriboHeightField* f, int t, int at) {
  if (t == at) {
    return 1;
  }
  if (at >= 0) {
    for (int k = 0; k < 3; ++k) {
      if (tribo_col_field_neighbour(f, t, k) == at) {
        return tribo_col_field_rise(f, t, at) > TRIBO_FIELD_FLAT;
      }
    }
  }
  return 0;
}

// Points of the solid against the half-space below a triangle, as far as they lie over it.
static void add_face_points(const FieldQuery* v, int t, TriboManifold* m) {
  const TriboHeightField* f = v->field;
  // the half-space below the triangle
  TriboSolid plane = {.kind = TRIBO_SHAPE_HALFSPACE};
  double n[3], x[3];
  tribo_mul33v(n, v->ground->pose.R, f->normals + 3 * t);
  tribo_col_to_world(plane.pose.p, &v->ground->pose, f->points + 3 * f->triangles[3 * t]);
  for (int r = 0; r < 3; ++r) {
    plane.pose.R[3 * r + 2] = n[r];
  }
  TriboManifold face = {.count = 0};
  tribo_col_any_plane(v->solid, &plane, v->reach, &face);
  for (int i = 0; i < face.count; ++i) {
    // outside, the foot on the plane decides; inside, the point itself, so that none is lost
    const TriboColPoint* p = &face.points[i];
    tribo_col_to_local(x, &v->ground->pose, p->gap > 0 ? p->b : p->a);
    if (counts_for_plane(f, t, tribo_col_field_triangle(f, x[0], x[1]))) {
      keep_deepest(m, p);
    }
  }
}

// Whether the outward direction n is between the triangles of a ridge; at its ends, away from all edges there.
static int owns_normal(const TriboHeightField* f, const TriboRidge* r, const double n[3], const double x[3]) {
  const double slack = 1e-9;
  for (int k = 0; k < r->nface; ++k) {
    if (tribo_dot3(n, r->into[k]) > slack) {
      return 0;
    }
  }
  double d[3];
  for (int end = 0; end < 2; ++end) {
    const double* p = f->points + 3 * r->vertex[end];
    tribo_sub3(d, x, p);
    if (tribo_norm3(d) > 1e-9 * r->solid.half[2]) {
      continue;
    }
    const int i = r->vertex[end] % f->nx, j = r->vertex[end] / f->nx;
    static const int around[6][2] = {{-1, -1}, {0, -1}, {-1, 0}, {1, 0}, {0, 1}, {1, 1}};
    for (int k = 0; k < 6; ++k) {
      const int a = i + around[k][0], b = j + around[k][1];
      if (a < 0 || b < 0 || a >= f->nx || b >= f->ny) {
        continue;
      }
      tribo_sub3(d, f->points + 3 * tribo_col_field_vertex(f, a, b), p);
      if (tribo_dot3(n, d) > slack * tribo_norm3(d)) {
        return 0;
      }
    }
  }
  return n[2] > 0;
}

// Whether the manifold has a point at this place: the end of several ridges counts once.
static int has_point_at(const TriboManifold* m, const double x[3], double size) {
  for (int i = 0; i < m->count; ++i) {
    double d[3];
    tribo_sub3(d, m->points[i].b, x);
    if (tribo_norm3(d) <= 1e-9 * size) {
      return 1;
    }
  }
  return 0;
}

// Points of the solid against a ridge, as far as their normal lies between its triangles.
static TriboStatus add_ridge_points(const FieldQuery* v, TriboCoalQuery* query, int index, TriboManifold* m) {
  const TriboRidge* ridge = &v->field->ridges[index];
  TriboSolid segment = ridge->solid;
  tribo_col_to_world(segment.pose.p, &v->ground->pose, ridge->solid.pose.p);
  tribo_mul33(segment.pose.R, v->ground->pose.R, ridge->solid.pose.R);
  TriboManifold one;
  TRIBO_TRY(tribo_col_collide_convex(query, v->solid, &segment, v->reach, &one, NULL));
  for (int i = 0; i < one.count; ++i) {
    TriboColPoint p = one.points[i];
    double n[3], x[3], up[3];
    // contact normals point from the solid into the field
    tribo_mul33tv(n, v->ground->pose.R, p.normal);
    tribo_scale3(up, -1, n);
    tribo_col_to_local(x, &v->ground->pose, p.b);
    if (owns_normal(v->field, ridge, up, x) && !has_point_at(m, p.b, segment.half[2])) {
      p.feature = tribo_col_feature(TRIBO_FEATURE_EDGE, index >> 13, index, i);
      keep_deepest(m, &p);
    }
  }
  return TRIBO_OK;
}

// The cells below the solid's box, grown by the reach; 0 for none.
static int find_cells(FieldQuery* v) {
  const TriboHeightField* f = v->field;
  TriboSolid local = *v->solid;
  tribo_col_to_local(local.pose.p, &v->ground->pose, v->solid->pose.p);
  for (int k = 0; k < 3; ++k) {
    double axis[3], turned[3];
    tribo_col_axis(axis, v->solid, k);
    tribo_mul33tv(turned, v->ground->pose.R, axis);
    for (int r = 0; r < 3; ++r) {
      local.pose.R[3 * r + k] = turned[r];
    }
  }
  tribo_col_bounds(&local, v->low, v->high);
  // with an infinite reach every cell counts
  for (int k = 0; k < 2; ++k) {
    const int cells = (k == 0 ? f->nx : f->ny) - 1;
    const double from = (v->low[k] - v->reach - f->low[k]) / f->step[k],
                 to = (v->high[k] + v->reach - f->low[k]) / f->step[k];
    if (!(to >= 0 && from <= cells)) {
      return 0;
    }
    v->first[k] = (int)tribo_clamp(floor(from), 0, cells - 1);
    v->last[k] = (int)tribo_clamp(floor(to), 0, cells - 1);
  }
  return v->low[2] - v->reach <= f->top;
}

TriboStatus tribo_col_over_field(TriboCoalQuery* query, const TriboSolid* solid, const TriboSolid* ground, double reach,
                                 TriboManifold* m) {
  FieldQuery v = {.solid = solid, .ground = ground, .field = ground->field, .reach = reach};
  m->gap = INFINITY;
  tribo_col_axis(m->normal, ground, 2);
  tribo_scale3(m->normal, -1, m->normal);
  if (!find_cells(&v)) {
    return TRIBO_OK;
  }
  const TriboHeightField* f = v.field;
  for (int j = v.first[1]; j <= v.last[1]; ++j) {
    for (int i = v.first[0]; i <= v.last[0]; ++i) {
      const int cell = j * (f->nx - 1) + i;
      for (int t = 2 * cell; t < 2 * cell + 2; ++t) {
        if (in_reach(&v, f->triangles + 3 * t, 3)) {
          add_face_points(&v, t, m);
        }
      }
      for (int r = f->cell_first[cell]; r < f->cell_first[cell + 1]; ++r) {
        if (in_reach(&v, f->ridges[r].vertex, 2)) {
          TRIBO_TRY(add_ridge_points(&v, query, r, m));
        }
      }
    }
  }
  return TRIBO_OK;
}
