// Height fields: heights over a rectangular grid, two triangles per cell, solid below.
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
//
// Triangles of a cell, seen from above: the diagonal runs from its lowest corner (x, y) to its highest.
#include "manifold.h"
#include "memory.h"
#include "status.h"

typedef struct Ridge {
  TriboSolid solid;  // a segment: a capsule of radius 0, in the field's frame
  int vertex[2];
  double into[2][3];  // along each of its triangles, away from the edge
  int nface;          // 1: on the border
} Ridge;

struct TriboTerrain {
  int nx, ny;
  double low[2], step[2];  // first corner and cell size
  double bottom, top;      // least and largest height
  double* points;          // (nx·ny × 3), x fastest
  int* triangles;          // (ntriangle × 3), two per cell, x fastest
  double* normals;         // (ntriangle × 3)
  int ntriangle;
  Ridge* ridges;    // by the cell of the triangle that owns them
  int* cell_first;  // (cells + 1) into ridges
};

// ---- the surface

static int vertex_at(const TriboTerrain* f, int i, int j) {
  return j * f->nx + i;
}

// The triangle below or above (x, y) of the field's frame, −1 beyond the border; a border belongs to the field.
static int triangle_at(const TriboTerrain* f, double x, double y) {
  double u = (x - f->low[0]) / f->step[0], v = (y - f->low[1]) / f->step[1];
  const double slack = 1e-9;
  if (!(u >= -slack && u <= f->nx - 1 + slack && v >= -slack && v <= f->ny - 1 + slack)) {
    return -1;
  }
  int i = (int)tribo_clamp(floor(u), 0, f->nx - 2), j = (int)tribo_clamp(floor(v), 0, f->ny - 2);
  return 2 * (j * (f->nx - 1) + i) + (v - j > u - i);
}

// The triangle on the other side of side k (from corner k to the next), −1 on the border.
static int neighbour(const TriboTerrain* f, int t, int k) {
  const int cells = f->nx - 1, cell = t / 2, i = cell % cells, j = cell / cells;
  if (t % 2 == 0) {
    // (low, right, high): its sides are the lower one, the right one, the diagonal
    if (k == 0) return j > 0 ? 2 * (cell - cells) + 1 : -1;
    if (k == 1) return i < cells - 1 ? 2 * (cell + 1) + 1 : -1;
    return t + 1;
  }
  // (low, high, left): the diagonal, the upper side, the left one
  if (k == 0) return t - 1;
  if (k == 1) return j < f->ny - 2 ? 2 * (cell + cells) : -1;
  return i > 0 ? 2 * (cell - 1) : -1;
}

// How far the corners of one triangle rise above the plane of another. Below this share of a cell they are in line.
static const double FLAT = 1e-9;
static double rise(const TriboTerrain* f, int plane, int other) {
  double most = 0, d[3];
  for (int k = 0; k < 3; ++k) {
    tribo_sub3(d, f->points + 3 * f->triangles[3 * other + k], f->points + 3 * f->triangles[3 * plane]);
    double h = tribo_dot3(d, f->normals + 3 * plane);
    most = fabs(h) > fabs(most) ? h : most;
  }
  return most / fmin(f->step[0], f->step[1]);
}

static void fill_surface(TriboTerrain* f, const double* heights) {
  f->bottom = INFINITY, f->top = -INFINITY;
  for (int j = 0; j < f->ny; ++j) {
    for (int i = 0; i < f->nx; ++i) {
      const int v = vertex_at(f, i, j);
      tribo_set3(f->points + 3 * v, f->low[0] + i * f->step[0], f->low[1] + j * f->step[1], heights[v]);
      f->bottom = fmin(f->bottom, heights[v]);
      f->top = fmax(f->top, heights[v]);
    }
  }
  for (int j = 0, t = 0; j < f->ny - 1; ++j) {
    for (int i = 0; i < f->nx - 1; ++i, t += 2) {
      const int a = vertex_at(f, i, j), b = vertex_at(f, i + 1, j), c = vertex_at(f, i + 1, j + 1),
                d = vertex_at(f, i, j + 1);
      const int corners[6] = {a, b, c, a, c, d};
      memcpy(f->triangles + 3 * t, corners, sizeof corners);
    }
  }
  for (int t = 0; t < f->ntriangle; ++t) {
    const int* c = f->triangles + 3 * t;
    double u[3], v[3];
    tribo_sub3(u, f->points + 3 * c[1], f->points + 3 * c[0]);
    tribo_sub3(v, f->points + 3 * c[2], f->points + 3 * c[0]);
    tribo_cross3(f->normals + 3 * t, u, v);
    tribo_normalize3(f->normals + 3 * t);
  }
}

// ---- ridges

// The unit direction along triangle t away from its side k.
static void into_face(const TriboTerrain* f, int t, int k, double out[3]) {
  const int* c = f->triangles + 3 * t;
  double along[3];
  tribo_sub3(along, f->points + 3 * c[(k + 1) % 3], f->points + 3 * c[k]);
  tribo_cross3(out, f->normals + 3 * t, along);
  tribo_normalize3(out);
}

static int side_of(const TriboTerrain* f, int t, int vertex_a, int vertex_b) {
  const int* c = f->triangles + 3 * t;
  int k = 0;
  while (k < 2 &&
         !((c[k] == vertex_a && c[(k + 1) % 3] == vertex_b) || (c[k] == vertex_b && c[(k + 1) % 3] == vertex_a))) {
    k++;
  }
  return k;
}

// Whether side k of triangle t is a ridge that t owns: each one is owned by the triangle of the lower number.
static int owns_ridge(const TriboTerrain* f, int t, int k) {
  const int other = neighbour(f, t, k);
  return other < 0 || (t < other && rise(f, t, other) < -FLAT);
}

static TriboStatus make_ridge(const TriboTerrain* f, int t, int k, Ridge* out) {
  const int *c = f->triangles + 3 * t, other = neighbour(f, t, k);
  *out = (Ridge){.vertex = {c[k], c[(k + 1) % 3]}, .nface = other < 0 ? 1 : 2};
  into_face(f, t, k, out->into[0]);
  if (other >= 0) {
    into_face(f, other, side_of(f, other, out->vertex[0], out->vertex[1]), out->into[1]);
  }
  const double *p = f->points + 3 * out->vertex[0], *q = f->points + 3 * out->vertex[1];
  double axis[3], x[3], y[3];
  tribo_sub3(axis, q, p);
  const double length = tribo_normalize3(axis), size[3] = {0, length, 0};
  out->solid.kind = TRIBO_SHAPE_CAPSULE;
  out->solid.half[2] = 0.5 * length;
  tribo_axpy3(out->solid.pose.p, p, 0.5 * length, axis);
  tribo_tangents(x, y, axis);
  for (int r = 0; r < 3; ++r) {
    tribo_set3(out->solid.pose.R + 3 * r, x[r], y[r], axis[r]);
  }
  return tribo_coal_shape_create(TRIBO_SHAPE_CAPSULE, size, &out->solid.coal);
}

static TriboStatus fill_ridges(TriboTerrain* f) {
  int count = 0, at = 0;
  for (int t = 0; t < f->ntriangle; ++t) {
    for (int k = 0; k < 3; ++k) {
      count += owns_ridge(f, t, k);
    }
  }
  f->ridges = tribo_alloc((size_t)count, sizeof *f->ridges);
  f->cell_first = tribo_alloc((size_t)(f->ntriangle / 2 + 1), sizeof *f->cell_first);
  if (f->ridges == NULL || f->cell_first == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_col_field_create: no memory for %d ridges", count);
  }
  for (int t = 0; t < f->ntriangle; ++t) {
    for (int k = 0; k < 3; ++k) {
      if (owns_ridge(f, t, k)) {
        TRIBO_TRY(make_ridge(f, t, k, &f->ridges[at]));
        f->cell_first[t / 2 + 1] = ++at;
      }
    }
    f->cell_first[t / 2 + 1] = at;
  }
  return TRIBO_OK;
}

// ---- making

static TriboStatus check_field(const double size[2], int nx, int ny, const double* heights) {
  const char* where = "tribo_col_field_create";
  if (nx < 2 || ny < 2 || (int64_t)nx * ny > 1 << 24) {
    return tribo_fail(TRIBO_INVALID, "%s: the grid is %d × %d, it must be at least 2 × 2 and have at most 2^24 heights",
                      where, nx, ny);
  }
  for (int k = 0; k < 2; ++k) {
    if (!(size[k] >= 1e-9 && size[k] <= 1e9)) {
      return tribo_fail(TRIBO_INVALID, "%s: size[%d] is %g, it must be within 1e-9 … 1e9 m", where, k, size[k]);
    }
  }
  for (int i = 0; i < nx * ny; ++i) {
    if (!(fabs(heights[i]) <= 1e9)) {
      return tribo_fail(TRIBO_INVALID, "%s: height %d of row %d is %g, it must be within ±1e9 m", where, i % nx, i / nx,
                        heights[i]);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_col_field_create(const double size[2], int nx, int ny, const double* heights, TriboTerrain** out) {
  if (size == NULL || heights == NULL || out == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_col_field_create: size, heights or out is NULL");
  }
  TRIBO_TRY(check_field(size, nx, ny, heights));
  TriboTerrain* f = tribo_alloc(1, sizeof *f);
  if (f == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_col_field_create: no memory");
  }
  f->nx = nx, f->ny = ny, f->ntriangle = 2 * (nx - 1) * (ny - 1);
  for (int k = 0; k < 2; ++k) {
    f->low[k] = -0.5 * size[k];
    f->step[k] = size[k] / ((k == 0 ? nx : ny) - 1);
  }
  f->points = tribo_alloc(3 * (size_t)nx * (size_t)ny, sizeof *f->points);
  f->triangles = tribo_alloc(3 * (size_t)f->ntriangle, sizeof *f->triangles);
  f->normals = tribo_alloc(3 * (size_t)f->ntriangle, sizeof *f->normals);
  TriboStatus status = f->points == NULL || f->triangles == NULL || f->normals == NULL
                           ? tribo_fail(TRIBO_NOMEM, "tribo_col_field_create: no memory for %d × %d heights", nx, ny)
                           : TRIBO_OK;
  if (status == TRIBO_OK) {
    fill_surface(f, heights);
    status = fill_ridges(f);
  }
  if (status != TRIBO_OK) {
    tribo_col_field_destroy(f);
    return status;
  }
  *out = f;
  return TRIBO_OK;
}

void tribo_col_field_destroy(TriboTerrain* field) {
  if (field == NULL) {
    return;
  }
  for (int i = 0; field->cell_first != NULL && i < field->cell_first[field->ntriangle / 2]; ++i) {
    tribo_coal_shape_destroy(field->ridges[i].solid.coal);
  }
  tribo_free(field->points);
  tribo_free(field->triangles);
  tribo_free(field->normals);
  tribo_free(field->ridges);
  tribo_free(field->cell_first);
  tribo_free(field);
}

int tribo_col_field_surface(const TriboTerrain* field, const double** points, const int** triangles, int* ntriangle) {
  *points = field->points;
  *triangles = field->triangles;
  *ntriangle = field->ntriangle;
  return field->nx * field->ny;
}

void tribo_col_field_bounds(const TriboTerrain* field, double low[3], double high[3]) {
  // what has sunk below the lowest point is still inside
  const double depth = fmax(field->nx * field->step[0], field->ny * field->step[1]);
  tribo_set3(low, field->low[0], field->low[1], field->bottom - depth);
  tribo_set3(high, -field->low[0], -field->low[1], field->top);
}

// ---- contacts

// One question: a solid, the field it is over, the cells in reach.
typedef struct Visit {
  const TriboSolid *solid, *ground;
  const TriboTerrain* field;
  double reach;
  double low[3], high[3];  // box of the solid in the field's frame
  int first[2], last[2];   // cells
} Visit;

// Whether the box of some points of the field is within reach of the solid's box.
static int in_reach(const Visit* v, const int* vertices, int count) {
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

// Keeps a point; a full list loses its highest.
static void keep(TriboManifold* m, const TriboColPoint* p) {
  if (p->gap < m->gap) {
    m->gap = p->gap;
    tribo_copy3(m->normal, p->normal);
  }
  if (m->count < TRIBO_POINT_MAX) {
    m->points[m->count++] = *p;
    return;
  }
  int highest = 0;
  for (int k = 1; k < m->count; ++k) {
    highest = m->points[k].gap > m->points[highest].gap ? k : highest;
  }
  if (p->gap < m->points[highest].gap) {
    m->points[highest] = *p;
  }
}

// Whether a point whose column is triangle `at` has to do with the plane of triangle t.
static int concerns(const TriboTerrain* f, int t, int at) {
  for (int k = 0; t != at && at >= 0 && k < 3; ++k) {
    if (neighbour(f, t, k) == at) {
      return rise(f, t, at) > FLAT;
    }
  }
  return t == at;
}

static void visit_face(const Visit* v, int t, TriboManifold* m) {
  const TriboTerrain* f = v->field;
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
    if (concerns(f, t, triangle_at(f, x[0], x[1]))) {
      keep(m, p);
    }
  }
}

// Whether the outward direction n is between the triangles of a ridge; at its ends, away from all edges there.
static int owns_normal(const TriboTerrain* f, const Ridge* r, const double n[3], const double x[3]) {
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
      tribo_sub3(d, f->points + 3 * vertex_at(f, a, b), p);
      if (tribo_dot3(n, d) > slack * tribo_norm3(d)) {
        return 0;
      }
    }
  }
  return n[2] > 0;
}

// Whether the place is taken: the end of several ridges counts once.
static int is_taken(const TriboManifold* m, const double x[3], double size) {
  for (int i = 0; i < m->count; ++i) {
    double d[3];
    tribo_sub3(d, m->points[i].b, x);
    if (tribo_norm3(d) <= 1e-9 * size) {
      return 1;
    }
  }
  return 0;
}

static TriboStatus visit_ridge(const Visit* v, TriboCoalQuery* query, int index, TriboManifold* m) {
  const Ridge* ridge = &v->field->ridges[index];
  TriboSolid segment = ridge->solid;
  tribo_col_to_world(segment.pose.p, &v->ground->pose, ridge->solid.pose.p);
  tribo_mul33(segment.pose.R, v->ground->pose.R, ridge->solid.pose.R);
  TriboManifold one;
  TRIBO_TRY(tribo_col_collide(query, v->solid, &segment, v->reach, &one, NULL));
  for (int i = 0; i < one.count; ++i) {
    TriboColPoint p = one.points[i];
    double n[3], x[3], up[3];
    // contact normals point from the solid into the field
    tribo_mul33tv(n, v->ground->pose.R, p.normal);
    tribo_scale3(up, -1, n);
    tribo_col_to_local(x, &v->ground->pose, p.b);
    if (owns_normal(v->field, ridge, up, x) && !is_taken(m, p.b, segment.half[2])) {
      p.feature = tribo_col_feature(TRIBO_FEATURE_EDGE, index >> 13, index, i);
      keep(m, &p);
    }
  }
  return TRIBO_OK;
}

// The cells below the solid's box, grown by the reach; 0 for none.
static int find_cells(Visit* v) {
  const TriboTerrain* f = v->field;
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
  Visit v = {.solid = solid, .ground = ground, .field = ground->field, .reach = reach};
  m->gap = INFINITY;
  tribo_col_axis(m->normal, ground, 2);
  tribo_scale3(m->normal, -1, m->normal);
  if (!find_cells(&v)) {
    return TRIBO_OK;
  }
  const TriboTerrain* f = v.field;
  for (int j = v.first[1]; j <= v.last[1]; ++j) {
    for (int i = v.first[0]; i <= v.last[0]; ++i) {
      const int cell = j * (f->nx - 1) + i;
      for (int t = 2 * cell; t < 2 * cell + 2; ++t) {
        if (in_reach(&v, f->triangles + 3 * t, 3)) {
          visit_face(&v, t, m);
        }
      }
      for (int r = f->cell_first[cell]; r < f->cell_first[cell + 1]; ++r) {
        if (in_reach(&v, f->ridges[r].vertex, 2)) {
          TRIBO_TRY(visit_ridge(&v, query, r, m));
        }
      }
    }
  }
  return TRIBO_OK;
}
