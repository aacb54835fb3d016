// Which rows of the closures say nothing new, found once when a system is made. closure_factor.c says how such rows are
// solved.
#include "dyn_data.h"

// Cholesky row by row in their own order, leaving out those that depend on rows before: W holds G, then L.
static void find_dependent(int n, double* W, unsigned char* dependent) {
  for (int i = 0; i < n; ++i) {
    double* row = W + (size_t)i * (size_t)n;
    const double diagonal = row[i];
    double rest = diagonal;
    for (int k = 0; k < i; ++k) {
      const double* other = W + (size_t)k * (size_t)n;
      if (dependent[k]) {
        row[k] = 0;
        continue;
      }
      double sum = row[k];
      for (int m = 0; m < k; ++m) {
        sum -= row[m] * other[m];
      }
      row[k] = sum / other[k];
      rest -= row[k] * row[k];
    }
    dependent[i] = (unsigned char)!(rest > TRIBO_DYN_DEPENDENT * diagonal);
    row[i] = dependent[i] ? 0 : sqrt(rest);
  }
}

TriboStatus tribo_dyn_closure_redundant(TriboSystem* system, TriboDynData* data, const double* q, unsigned* redundant) {
  // Euler's options give rows and masses at q itself
  const TriboStepOptions at_q = {.h = 1, .scheme = TRIBO_SCHEME_EULER};
  const ClosureSize* size = &system->closure_size;
  const size_t n = size->nrow, nv = (size_t)system->info.nv;
  const size_t widest = system->nv_max > 6 ? (size_t)system->nv_max : 6;
  double* W = tribo_alloc(n * n + 6 * widest + nv, sizeof *W);
  unsigned char* dependent = tribo_alloc(n, 1);
  TriboStatus status = TRIBO_OK;
  if (W == NULL || dependent == NULL) {
    status = tribo_fail(TRIBO_NOMEM, "tribo_dyn_closure_redundant: no memory for %zu rows", n);
  }
  double *y = W + n * n, *v = y + 6 * widest;
  status = status == TRIBO_OK ? tribo_dyn_update(system, data, &at_q, q, v, NULL, NULL) : status;
  status = status == TRIBO_OK ? tribo_dyn_rows_reserve(&data->rows, size->ncone, n, size->nterm, size->njac) : status;
  status = status == TRIBO_OK ? tribo_dyn_closures_assemble(system, data, &at_q, v) : status;
  if (status == TRIBO_OK) {
    tribo_dyn_closure_delassus(system, &data->rows, data->minv, W, y);
    find_dependent((int)n, W, dependent);
    for (int i = 0; i < system->nclosure; ++i) {
      redundant[i] = 0;
      for (int r = 0; r < data->rows.cones[i].dim; ++r) {
        redundant[i] |= (unsigned)dependent[data->rows.cones[i].row + r] << r;
        system->has_redundant_rows |= dependent[data->rows.cones[i].row + r];
      }
    }
  }
  tribo_free(W);
  tribo_free(dependent);
  return status;
}
