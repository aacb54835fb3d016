// The surface of a field as triangles, for drawing: dual contouring without a system. Every cell of a grid that the
// surface passes has one vertex, the mean of where it crosses the cell's edges, pulled onto the surface; every edge of
// the grid that it crosses has one quadrilateral, of the vertices of the four cells around.
#include "memory.h"
#include "sdf_field.h"
#include "status.h"

// Cells along the longest side, and of the grid at most. Threads are drawn with so many to a pitch.
enum { CELLS = 72, MOST_CELLS = 6 << 20, PER_PITCH = 10 };

static const double PER_PAD = 0.6;

typedef struct Grid {
  const TriboSdf* sdf;
  double low[3], step;
  int n[3];     // points
  float* phi;   // (points) far from the surface only its sign
  int* vertex;  // (points) of the cell whose lowest corner it is, −1: none
} Grid;

static size_t index_of(const Grid* g, int i, int j, int k) {
  return ((size_t)k * (size_t)g->n[1] + (size_t)j) * (size_t)g->n[0] + (size_t)i;
}

static void point_of(const Grid* g, int i, int j, int k, double x[3]) {
  tribo_set3(x, g->low[0] + i * g->step, g->low[1] + j * g->step, g->low[2] + k * g->step);
}

// φ in a block of the grid, one look at its middle where the surface is far.
static void fill_block(Grid* g, const int at[3], int size) {
  int end[3];
  double low[3], high[3], middle[3], d[3], n[3];
  for (int k = 0; k < 3; ++k) {
    end[k] = at[k] + size < g->n[k] ? at[k] + size : g->n[k];
    if (end[k] <= at[k]) {
      return;
    }
  }
  point_of(g, at[0], at[1], at[2], low);
  point_of(g, end[0] - 1, end[1] - 1, end[2] - 1, high);
  tribo_sub3(d, high, low);
  tribo_axpy3(middle, low, 0.5, d);
  const double phi = tribo_col_sdf_value(g->sdf, middle, n);
  const int whole = fabs(phi) > g->sdf->lip * (0.5 * tribo_norm3(d) + 2 * g->step);
  if (!whole && size > 2) {
    for (int i = 0; i < 8; ++i) {
      const int part[3] = {at[0] + (i & 1) * size / 2, at[1] + (i >> 1 & 1) * size / 2, at[2] + (i >> 2) * size / 2};
      fill_block(g, part, size / 2);
    }
    return;
  }
  for (int k = at[2]; k < end[2]; ++k) {
    for (int j = at[1]; j < end[1]; ++j) {
      for (int i = at[0]; i < end[0]; ++i) {
        double x[3];
        point_of(g, i, j, k, x);
        g->phi[index_of(g, i, j, k)] = (float)(whole ? phi : tribo_col_sdf_value(g->sdf, x, n));
      }
    }
  }
}

// Whether the surface passes none of the cells at a point of the grid.
static int is_far(const Grid* g, int i, int j, int k) {
  return fabs(g->phi[index_of(g, i, j, k)]) > 2 * g->sdf->lip * g->step;
}

// The vertex of a cell, if the surface passes it.
static TriboStatus add_vertex(Grid* g, TriboSdf* out, int i, int j, int k) {
  double sum[3] = {0, 0, 0}, x[3], n[3];
  int crossings = 0;
  for (int e = 0; e < 12; ++e) {
    // edges along axis e/4, at one of four places
    const int axis = e / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
    int a[3] = {i, j, k}, b[3];
    a[u] += e & 1, a[v] += e >> 1 & 1;
    memcpy(b, a, sizeof b);
    b[axis]++;
    const double p = g->phi[index_of(g, a[0], a[1], a[2])], q = g->phi[index_of(g, b[0], b[1], b[2])];
    if ((p < 0) != (q < 0)) {
      point_of(g, a[0], a[1], a[2], x);
      x[axis] += g->step * p / (p - q);
      tribo_add3(sum, sum, x);
      crossings++;
    }
  }
  if (crossings == 0) {
    return TRIBO_OK;
  }
  tribo_scale3(x, 1.0 / crossings, sum);
  for (int step = 0; step < 4; ++step) {
    const double phi = tribo_col_sdf_value(g->sdf, x, n);
    tribo_axpy3(x, x, -tribo_clamp(phi, -g->step, g->step), n);
  }
  TRIBO_TRY(TRIBO_APPEND(&out->points, 3 * out->npoint, 3));
  tribo_copy3(out->points + 3 * out->npoint, x);
  g->vertex[index_of(g, i, j, k)] = out->npoint++;
  return TRIBO_OK;
}

// The quadrilateral of an edge that starts at a point of the grid, if the surface crosses it.
static TriboStatus add_quad(const Grid* g, TriboSdf* out, const int at[3], int axis) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  int end[3] = {at[0], at[1], at[2]}, corner[4];
  end[axis]++;
  const int inside = g->phi[index_of(g, at[0], at[1], at[2])] < 0;
  if (inside == (g->phi[index_of(g, end[0], end[1], end[2])] < 0)) {
    return TRIBO_OK;
  }
  for (int c = 0; c < 4; ++c) {
    static const int back[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    int cell[3] = {at[0], at[1], at[2]};
    cell[u] -= back[c][0], cell[v] -= back[c][1];
    corner[c] = g->vertex[index_of(g, cell[0], cell[1], cell[2])];
  }
  const int way[2][6] = {{corner[0], corner[3], corner[2], corner[0], corner[2], corner[1]},
                         {corner[0], corner[1], corner[2], corner[0], corner[2], corner[3]}};
  TRIBO_TRY(TRIBO_APPEND(&out->triangles, 3 * out->ntriangle, 6));
  memcpy(out->triangles + 3 * out->ntriangle, way[inside], sizeof way[inside]);
  out->ntriangle += 2;
  return TRIBO_OK;
}

static TriboStatus fill_triangles(Grid* g, TriboSdf* out) {
  for (int k = 0; k + 1 < g->n[2]; ++k) {
    for (int j = 0; j + 1 < g->n[1]; ++j) {
      for (int i = 0; i + 1 < g->n[0]; ++i) {
        g->vertex[index_of(g, i, j, k)] = -1;
        if (!is_far(g, i, j, k)) {
          TRIBO_TRY(add_vertex(g, out, i, j, k));
        }
      }
    }
  }
  for (int k = 1; k + 1 < g->n[2]; ++k) {
    for (int j = 1; j + 1 < g->n[1]; ++j) {
      for (int i = 1; i + 1 < g->n[0]; ++i) {
        const int at[3] = {i, j, k};
        for (int axis = 0; axis < (is_far(g, i, j, k) ? 0 : 3); ++axis) {
          TRIBO_TRY(add_quad(g, out, at, axis));
        }
      }
    }
  }
  return TRIBO_OK;
}

// Fine enough for the finest thread and the thinnest wall, within bounds.
static double step_of(const TriboSdf* sdf) {
  double step = sdf->size / CELLS, volume = 1;
  for (int i = 0; i < sdf->nnode; ++i) {
    if (sdf->nodes[i].kind == TRIBO_SDF_THREAD) {
      step = fmin(step, sdf->nodes[i].thread.pitch / PER_PITCH);
    } else if (sdf->nodes[i].kind == TRIBO_SDF_REVOLVED) {
      step = fmin(step, PER_PAD * sdf->nodes[i].pad);
    }
  }
  for (int k = 0; k < 3; ++k) {
    volume *= sdf->high[k] - sdf->low[k];
  }
  return fmax(step, cbrt(volume / MOST_CELLS));
}

TriboStatus tribo_col_sdf_fill_surface(TriboSdf* sdf) {
  Grid g = {.sdf = sdf, .step = step_of(sdf)};
  size_t count = 1;
  int most = 0;
  for (int k = 0; k < 3; ++k) {
    // a cell and a bit around, so that no face lies in the grid's planes
    g.n[k] = (int)ceil((sdf->high[k] - sdf->low[k]) / g.step) + 4;
    g.low[k] = sdf->centre[k] - 0.5 * (g.n[k] - 1) * g.step;
    count *= (size_t)g.n[k];
    most = g.n[k] > most ? g.n[k] : most;
  }
  g.phi = tribo_alloc(count, sizeof *g.phi);
  g.vertex = tribo_alloc(count, sizeof *g.vertex);
  TriboStatus status =
      g.phi != NULL && g.vertex != NULL ? TRIBO_OK : tribo_no_memory("for a grid of %zu points", count);
  if (status == TRIBO_OK) {
    const int origin[3] = {0, 0, 0};
    int size = 1;
    while (size < most) {
      size *= 2;
    }
    fill_block(&g, origin, size);
    status = fill_triangles(&g, sdf);
  }
  tribo_free(g.phi);
  tribo_free(g.vertex);
  return status;
}

TriboStatus tribo_col_sdf_surface(TriboSdf* sdf, const double** points, int* npoint, const int** triangles,
                                  int* ntriangle) {
  if (sdf->npoint == 0) {
    TRIBO_TRY(tribo_col_sdf_fill_surface(sdf));
  }
  *points = sdf->points;
  *npoint = sdf->npoint;
  *triangles = sdf->triangles;
  *ntriangle = sdf->ntriangle;
  return TRIBO_OK;
}
