// A small problem of planning through contact. A bead on a rod is pushed by u and stopped by a wall at 0:
// x⁺ = x + h v⁺, v⁺ = v + h (u + λ), 0 ≤ λ ⟂ x ≥ 0.
#pragma once

#include "kit.h"

#include <tribo/plan.h>

enum { N = 20, NZ = 4, ROWS_EQ = 4, ROWS_IN = 3 };
enum { X, V, U, L };
static const double H = 0.1;

// what the callbacks look at
typedef struct Bead {
  double start[2], goal[2];
  double wrong;      // added to one derivative
  double curvature;  // of the cost of u
  int fail_stage;    // whose values fail; −1: none
} Bead;

static TriboStatus values(void* user, int k, const double* z, const double* next, double* eq, double* in) {
  const Bead* b = user;
  if (k == b->fail_stage) {
    return TRIBO_NUMERIC;
  }
  int row = 0;
  if (k == 0) {
    eq[row++] = z[X] - b->start[0];
    eq[row++] = z[V] - b->start[1];
  }
  if (next != NULL) {
    eq[row++] = next[X] - z[X] - H * next[V];
    eq[row++] = next[V] - z[V] - H * (z[U] + z[L]);
  }
  in[0] = z[L], in[1] = z[X], in[2] = -z[L] * z[X];
  return TRIBO_OK;
}

static TriboStatus jacobian(void* user, int k, const double* z, const double* next, double* eq, double* in) {
  const Bead* b = user;
  if (k == 0) {
    *eq++ = 1, *eq++ = 1;
  }
  if (next != NULL) {
    const double motion[] = {-1, 1, -H}, balance[] = {-1, -H, -H, 1};
    memcpy(eq, motion, sizeof motion);
    memcpy(eq + 3, balance, sizeof balance);
  }
  in[0] = 1, in[1] = 1, in[2] = -z[L] + b->wrong, in[3] = -z[X];
  return TRIBO_OK;
}

static TriboStatus cost(void* user, int k, const double* z, double* f, double* grad, double* hess) {
  const Bead* b = user;
  const double w[NZ] = {k == N - 1 ? 100 : 0, k == N - 1 ? 100 : 0, b->curvature, 0};
  *f = 0;
  for (int j = 0; j < NZ; ++j) {
    const double e = z[j] - (j < 2 ? b->goal[j] : 0);
    *f += w[j] * e * e;
    if (grad != NULL) {
      grad[j] = 2 * w[j] * e;
      hess[j * NZ + j] = 2 * w[j];
    }
  }
  return TRIBO_OK;
}

static const int in_start[] = {0, 1, 2, 4}, in_col[] = {L, X, X, L};
static const int first_start[] = {0, 1, 2, 5, 9}, first_col[] = {X, V, X, NZ + X, NZ + V, V, U, L, NZ + V};
static const int eq_start[] = {0, 3, 7};
static const char* const in_name[] = {"force of the wall", "gap of the wall", "contact of the wall"};

static void fill(TriboPlanStage* stages, Bead* b) {
  for (int k = 0; k < N; ++k) {
    stages[k] = (TriboPlanStage){.nz = NZ,
                                 .ns = 2,
                                 .nin = ROWS_IN,
                                 .in_start = in_start,
                                 .in_col = in_col,
                                 .in_name = in_name,
                                 .values = values,
                                 .jacobian = jacobian,
                                 .cost = cost,
                                 .user = b};
    stages[k].neq = k == 0 ? 4 : k < N - 1 ? 2 : 0;
    stages[k].eq_start = k == 0 ? first_start : eq_start;
    stages[k].eq_col = k == 0 ? first_col : first_col + 2;
  }
}

static const Bead plain = {.start = {1, -2}, .goal = {0.5, 1}, .curvature = 1e-2, .fail_stage = -1};

static TriboPlan* make(Bead* b) {
  TriboPlanStage stages[N];
  TriboPlan* plan;
  fill(stages, b);
  CHECK_OK(tribo_plan_create(stages, N, &plan));
  return plan;
}
