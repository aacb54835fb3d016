// Anderson acceleration (anderson.h).
#include "anderson.h"

#include <math.h>
#include <string.h>

void tribo_sol_anderson_begin(TriboAnderson* a, TriboScratch* scratch, int depth) {
  *a = (TriboAnderson){.depth = depth};
  if (depth == 0) {
    return;
  }
  for (int i = 0; i < depth; ++i) {
    a->df[i] = tribo_sol_scratch_take(scratch);
    a->dF[i] = tribo_sol_scratch_take(scratch);
    a->Q[i] = tribo_sol_scratch_take(scratch);
  }
  a->f = tribo_sol_scratch_take(scratch);
  a->F = tribo_sol_scratch_take(scratch);
  a->last = tribo_sol_scratch_take(scratch);
}

void tribo_sol_anderson_restart(TriboAnderson* a) {
  a->has_last = a->has_residual = a->count = a->is_accelerated = 0;
}

// The differences from the last iterate to t come first; the oldest ones make room for them.
static void push_difference(TriboAnderson* a, int n, const double* t) {
  const int oldest = a->depth - 1;
  double *df = a->df[oldest], *dF = a->dF[oldest];
  a->count = a->count < a->depth ? a->count + 1 : a->depth;
  for (int i = oldest; i > 0; --i) {
    a->df[i] = a->df[i - 1], a->dF[i] = a->dF[i - 1];
  }
  a->df[0] = df, a->dF[0] = dF;
  for (int i = 0; i < n; ++i) {
    df[i] = t[i] - a->last[i] - a->f[i];
    dF[i] = t[i] - a->F[i];
  }
}

void tribo_sol_anderson_step(TriboAnderson* a, int n, double* t) {
  const size_t bytes = sizeof(double) * (size_t)n;
  double gamma[TRIBO_ANDERSON_MOST], norm = 0;
  if (!a->has_last) {
    a->has_last = 1;
    memcpy(a->last, t, bytes);
    return;
  }
  for (int i = 0; i < n; ++i) {
    norm += (t[i] - a->last[i]) * (t[i] - a->last[i]);
  }
  norm = sqrt(norm);
  if (a->is_accelerated && !(norm <= 2 * a->norm)) {
    // worse: go on from the plain step of the point before
    memcpy(t, a->F, bytes);
    memcpy(a->last, t, bytes);
    a->count = a->is_accelerated = a->has_residual = 0;
    return;
  }
  if (a->has_residual) {
    push_difference(a, n, t);
  }
  for (int i = 0; i < n; ++i) {
    a->f[i] = t[i] - a->last[i];
    a->F[i] = t[i];
  }
  a->has_residual = 1;
  a->norm = norm;
  a->is_accelerated = tribo_anderson_weights(n, a->count, a->df, a->f, a->Q, gamma) > 0;
  if (a->is_accelerated) {
    for (int k = 0; k < a->count; ++k) {
      tribo_subtract(n, gamma[k], a->dF[k], t);
    }
  }
  memcpy(a->last, t, bytes);
}
