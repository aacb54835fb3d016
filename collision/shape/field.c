// Making a height field: its grid of triangles and the ridges between them. field.h says what they are for.
#include "field.h"
#include "memory.h"
#include "status.h"

// ---- the surface

int tribo_col_field_triangle(const TriboHeightField* f, double x, double y) {
  double u = (x - f->low[0]) / f->step[0], v = (y - f->low[1]) / f->step[1];
  const double slack = 1e-9;
  if (!(u >= -slack && u <= f->nx - 1 + slack && v >= -slack && v <= f->ny - 1 + slack)) {
    return -1;
  }
  int i = (int)tribo_clamp(floor(u), 0, f->nx - 2), j = (int)tribo_clamp(floor(v), 0, f->ny - 2);
  return 2 * (j * (f->nx - 1) + i) + (v - j > u - i);
}

int tribo_col_field_neighbour(const TriboHeightField* f, int t, int k) {
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

double tribo_col_field_rise(const TriboHeightField* f, int plane, int other) {
  double most = 0, d[3];
  for (int k = 0; k < 3; ++k) {
    tribo_sub3(d, f->points + 3 * f->triangles[3 * other + k], f->points + 3 * f->triangles[3 * plane]);
    double h = tribo_dot3(d, f->normals + 3 * plane);
    most = fabs(h) > fabs(most) ? h : most;
  }
  return most / fmin(f->step[0], f->step[1]);
}

// Points, triangles with their normals, and the range of heights.
static void fill_surface(TriboHeightField* f, const double* heights) {
  f->bottom = INFINITY, f->top = -INFINITY;
  for (int j = 0; j < f->ny; ++j) {
    for (int i = 0; i < f->nx; ++i) {
      const int v = tribo_col_field_vertex(f, i, j);
      tribo_set3(f->points + 3 * v, f->low[0] + i * f->step[0], f->low[1] + j * f->step[1], heights[v]);
      f->bottom = fmin(f->bottom, heights[v]);
      f->top = fmax(f->top, heights[v]);
    }
  }
  for (int j = 0, t = 0; j < f->ny - 1; ++j) {
    for (int i = 0; i < f->nx - 1; ++i, t += 2) {
      const int a = tribo_col_field_vertex(f, i, j), b = tribo_col_field_vertex(f, i + 1, j),
                c = tribo_col_field_vertex(f, i + 1, j + 1), d = tribo_col_field_vertex(f, i, j + 1);
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
static void into_face(const TriboHeightField* f, int t, int k, double out[3]) {
  const int* c = f->triangles + 3 * t;
  double along[3];
  tribo_sub3(along, f->points + 3 * c[(k + 1) % 3], f->points + 3 * c[k]);
  tribo_cross3(out, f->normals + 3 * t, along);
  tribo_normalize3(out);
}

static int side_of(const TriboHeightField* f, int t, int vertex_a, int vertex_b) {
  const int* c = f->triangles + 3 * t;
  int k = 0;
  while (k < 2 &&
         !((c[k] == vertex_a && c[(k + 1) % 3] == vertex_b) || (c[k] == vertex_b && c[(k + 1) % 3] == vertex_a))) {
    k++;
  }
  return k;
}

// Whether side k of triangle t is a ridge that t owns: each one is owned by the triangle of the lower number.
static int owns_ridge(const TriboHeightField* f, int t, int k) {
  const int other = tribo_col_field_neighbour(f, t, k);
  return other < 0 || (t < other && tribo_col_field_rise(f, t, other) < -TRIBO_FIELD_FLAT);
}

static TriboStatus make_ridge(const TriboHeightField* f, int t, int k, TriboRidge* out) {
  const int *c = f->triangles + 3 * t, other = tribo_col_field_neighbour(f, t, k);
  *out = (TriboRidge){.vertex = {c[k], c[(k + 1) % 3]}, .nface = other < 0 ? 1 : 2};
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

static TriboStatus fill_ridges(TriboHeightField* f) {
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

TriboStatus tribo_col_field_create(const double size[2], int nx, int ny, const double* heights,
                                   TriboHeightField** out) {
  if (size == NULL || heights == NULL || out == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_col_field_create: size, heights or out is NULL");
  }
  TRIBO_TRY(check_field(size, nx, ny, heights));
  TriboHeightField* f = tribo_alloc(1, sizeof *f);
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

void tribo_col_field_destroy(TriboHeightField* field) {
  if (field == NULL) {
    return;
  }
  if (field->cell_first != NULL) {
    for (int i = 0; i < field->cell_first[field->ntriangle / 2]; ++i) {
      tribo_coal_shape_destroy(field->ridges[i].solid.coal);
    }
  }
  tribo_free(field->points);
  tribo_free(field->triangles);
  tribo_free(field->normals);
  tribo_free(field->ridges);
  tribo_free(field->cell_first);
  tribo_free(field);
}

int tribo_col_field_surface(const TriboHeightField* field, const double** points, const int** triangles,
                            int* ntriangle) {
  *points = field->points;
  *triangles = field->triangles;
  *ntriangle = field->ntriangle;
  return field->nx * field->ny;
}

void tribo_col_field_bounds(const TriboHeightField* field, double low[3], double high[3]) {
  // a solid below the lowest height is still inside
  const double depth = fmax(field->nx * field->step[0], field->ny * field->step[1]);
  tribo_set3(low, field->low[0], field->low[1], field->bottom - depth);
  tribo_set3(high, -field->low[0], -field->low[1], field->top);
}
