// Anderson acceleration (anderson.h).
#include "anderson.h"

#include <math.h>
#include <string.h>

#include "small_dense.h"

// ---- whole iterates ----

void tribo_sol_anderson_begin(TriboAnderson* a, TriboScratch* scratch, int depth) {
  *a = (TriboAnderson){.depth = depth};
  if (depth == 0) {
    return;
  }
  for (int i = 0; i < depth; ++i) {
    a->df[i] = tribo_sol_scratch_take(scratch);
    a->dF[i] = tribo_sol_scratch_take(scratch);
  }
  a->f = tribo_sol_scratch_take(scratch);
  a->F = tribo_sol_scratch_take(scratch);
  a->last = tribo_sol_scratch_take(scratch);
}

void tribo_sol_anderson_restart(TriboAnderson* a) {
  a->has_last = a->has_residual = a->count = a->is_accelerated = 0;
}

// Coefficients γ that minimise ‖f − Σ γ_k Δf_k‖, by elimination on the normal equations; 0 when these are singular.
static int combine(const TriboAnderson* a, int n, double* gamma) {
  double A[TRIBO_ANDERSON_MOST][TRIBO_ANDERSON_MOST + 1], trace = 0;
  for (int i = 0; i < a->count; ++i) {
    for (int j = 0; j < a->count; ++j) {
      A[i][j] = tribo_dot(a->df[i], a->df[j], n);
    }
    A[i][a->count] = tribo_dot(a->df[i], a->f, n);
    trace += A[i][i];
  }
  for (int i = 0; i < a->count; ++i) {
    A[i][i] += 1e-12 * trace;
  }
  for (int k = 0; k < a->count; ++k) {
    if (!(A[k][k] > 0)) {
      return 0;
    }
    for (int i = k + 1; i < a->count; ++i) {
      double r = A[i][k] / A[k][k];
      for (int j = k; j <= a->count; ++j) {
        A[i][j] -= r * A[k][j];
      }
    }
  }
  for (int i = a->count - 1; i >= 0; --i) {
    gamma[i] = A[i][a->count];
    for (int j = i + 1; j < a->count; ++j) {
      gamma[i] -= A[i][j] * gamma[j];
    }
    gamma[i] /= A[i][i];
  }
  return 1;
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
  a->is_accelerated = a->count > 0 && combine(a, n, gamma);
  if (a->is_accelerated) {
    for (int k = 0; k < a->count; ++k) {
      tribo_subtract(n, gamma[k], a->dF[k], t);
    }
  }
  memcpy(a->last, t, bytes);
}

// ---- single moves ----

void tribo_sol_anderson_moves_begin(TriboAndersonMoves* a, TriboScratch* scratch) {
  a->from = tribo_sol_scratch_take(scratch);
  a->step = tribo_sol_scratch_take(scratch);
  for (int i = 0; i < TRIBO_ANDERSON_MOVES; ++i) {
    a->dfrom[i] = tribo_sol_scratch_take(scratch);
    a->dstep[i] = tribo_sol_scratch_take(scratch);
  }
  tribo_sol_anderson_moves_restart(a);
}

void tribo_sol_anderson_moves_restart(TriboAndersonMoves* a) {
  a->count = -1;
}

void tribo_sol_anderson_mix(TriboAndersonMoves* a, int n, double* x, double* step) {
  enum { DEPTH = TRIBO_ANDERSON_MOVES };
  const size_t bytes = sizeof(double) * (size_t)n;
  if (a->count >= 0) {
    double *dfrom = a->dfrom[a->count % DEPTH], *dstep = a->dstep[a->count % DEPTH];
    for (int i = 0; i < n; ++i) {
      dfrom[i] = x[i] - a->from[i];
      dstep[i] = step[i] - a->step[i];
    }
  }
  memcpy(a->from, x, bytes);
  memcpy(a->step, step, bytes);
  const int last = a->count++, count = a->count < DEPTH ? a->count : DEPTH;
  // changes of the step are made orthogonal to each other, the newest first
  for (int j = 0; j < count; ++j) {
    double *dfrom = a->dfrom[(last - j) % DEPTH], *dstep = a->dstep[(last - j) % DEPTH];
    const double whole = tribo_dot(dstep, dstep, n);
    for (int k = 0; k < j; ++k) {
      const double *newer = a->dstep[(last - k) % DEPTH], size = tribo_dot(newer, newer, n);
      const double weight = size > 0 ? tribo_dot(newer, dstep, n) / size : 0;
      tribo_subtract(n, weight, a->dfrom[(last - k) % DEPTH], dfrom);
      tribo_subtract(n, weight, newer, dstep);
    }
    const double own = tribo_dot(dstep, dstep, n);
    if (!(own > 1e-16 * whole)) {
      memset(dfrom, 0, bytes);
      memset(dstep, 0, bytes);
      continue;
    }
    const double weight = tribo_dot(dstep, step, n) / own;
    tribo_subtract(n, weight, dfrom, x);
    tribo_subtract(n, weight, dstep, step);
  }
}
