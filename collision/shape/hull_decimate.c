// Fewer vertices for a hull: those that lie far apart. The first is the one farthest from the middle, every next one
// the farthest from those chosen so far, so that after k of them no vertex is farther from a chosen one than the k
// chosen are from each other (Gonzalez, 1985).
#include "shape.h"

#include "memory.h"
#include "status.h"

// `most` of the n points into `chosen`; `distance` (n) is scratch: of each point to the nearest chosen one, squared.
static void choose(const double* points, int n, int most, double* distance, double* chosen) {
  double middle[3] = {0}, d[3];
  for (int i = 0; i < n; ++i) {
    tribo_axpy3(middle, middle, 1.0 / n, points + 3 * i);
    distance[i] = INFINITY;
  }
  const double* last = middle;
  for (int k = 0; k < most; ++k) {
    int farthest = 0;
    for (int i = 0; i < n; ++i) {
      tribo_sub3(d, points + 3 * i, last);
      const double square = tribo_dot3(d, d);
      // the middle only says where to begin
      distance[i] = k == 1 ? square : fmin(distance[i], square);
      farthest = distance[i] > distance[farthest] ? i : farthest;
    }
    last = points + 3 * farthest;
    tribo_copy3(chosen + 3 * k, last);
  }
}

TriboStatus tribo_col_hull_decimate(TriboHull** hull, int most) {
  const int n = (*hull)->nvertex;
  if (most < 4) {
    return tribo_fail(TRIBO_INVALID, "tribo_col_hull_decimate: most is %d, it must be at least 4", most);
  }
  if (n <= most) {
    return TRIBO_OK;
  }
  double* distance = tribo_alloc((size_t)n, sizeof *distance);
  double* chosen = tribo_alloc(3 * (size_t)most, sizeof *chosen);
  TriboHull* decimated = NULL;
  TriboStatus status = TRIBO_OK;
  if (distance == NULL || chosen == NULL) {
    status = tribo_fail(TRIBO_NOMEM, "tribo_col_hull_decimate: no memory for %d vertices", n);
  } else {
    choose((*hull)->points, n, most, distance, chosen);
    status = tribo_col_hull_create(chosen, most, &decimated);
  }
  tribo_free(distance);
  tribo_free(chosen);
  if (status == TRIBO_OK) {
    tribo_col_hull_destroy(*hull);
    *hull = decimated;
  }
  return status;
}
