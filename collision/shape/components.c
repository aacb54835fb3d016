// Connected components of a triangle mesh: vertices at one place are one vertex, triangles join their corners
// (union-find; the lowest index is the root, so that the result depends on the mesh alone).
#include "components.h"

#include <stdlib.h>

#include "memory.h"
#include "status.h"
#include "union_find.h"

typedef struct Vertex {
  double x[3];  // [m]
  int index;    // in the mesh
} Vertex;

static int compare_vertices(const void* a, const void* b) {
  const Vertex *p = a, *q = b;
  const int order = tribo_col_compare3(p->x, q->x);
  return order != 0 ? order : p->index - q->index;
}

// Vertices at the same place are one (STL repeats them per triangle), then triangles join their corners.
static void join_mesh(Vertex* sorted, int npoint, const int* triangles, int ntriangle, int* root) {
  tribo_sets_init(root, npoint);
  qsort(sorted, (size_t)npoint, sizeof *sorted, compare_vertices);
  for (int i = 1; i < npoint; ++i) {
    if (tribo_col_compare3(sorted[i].x, sorted[i - 1].x) == 0) {
      tribo_sets_join(root, sorted[i].index, sorted[i - 1].index);
    }
  }
  for (int t = 0; t < ntriangle; ++t) {
    tribo_sets_join(root, triangles[3 * t], triangles[3 * t + 1]);
    tribo_sets_join(root, triangles[3 * t], triangles[3 * t + 2]);
  }
}

// Points grouped by component, components in the order of their first vertex; returns how many there are.
static int group(const double* points, int npoint, int* root, int* component, double* out, int* first) {
  int ncomponent = 0;
  for (int i = 0; i < npoint; ++i) {
    int r = tribo_sets_find(root, i);
    component[i] = r == i ? ncomponent++ : component[r];
    first[component[i] + 1] += 1;
  }
  for (int k = 0; k < ncomponent; ++k) {
    first[k + 1] += first[k];
  }
  // fill from the back, so that first ends up where the components start
  for (int i = npoint - 1; i >= 0; --i) {
    memcpy(out + 3 * --first[component[i] + 1], points + 3 * i, 3 * sizeof *out);
  }
  memmove(first, first + 1, (size_t)ncomponent * sizeof *first);
  first[ncomponent] = npoint;
  return ncomponent;
}

TriboStatus tribo_col_components(const double* points, int npoint, const int* triangles, int ntriangle, double* grouped,
                                 int* first, int* ncomponent) {
  Vertex* sorted = tribo_alloc((size_t)npoint, sizeof *sorted);
  int *root = tribo_alloc((size_t)npoint, sizeof *root), *component = tribo_alloc((size_t)npoint, sizeof *component);
  TriboStatus status = TRIBO_OK;
  if (!sorted || !root || !component) {
    status = tribo_fail(TRIBO_NOMEM, "tribo_col_components: no memory for %d vertices", npoint);
  } else {
    for (int i = 0; i < npoint; ++i) {
      memcpy(sorted[i].x, points + 3 * i, sizeof sorted[i].x);
      sorted[i].index = i;
    }
    join_mesh(sorted, npoint, triangles, ntriangle, root);
    *ncomponent = group(points, npoint, root, component, grouped, first);
  }
  tribo_free(sorted);
  tribo_free(root);
  tribo_free(component);
  return status;
}
