// A box on a table is pushed at one point, on any of its four faces, to a pose. Quasi-static, with the ellipsoidal
// limit surface: in the box's frame the force (λ₂ + λ₄, λ₁ + λ₃) moves it in its own direction, its torque turns it,
//
//     ṗ = R(θ) (F_x, F_y) / (μ m g),     θ̇ = (c_x F_y − c_y F_x) / (μ m g c r),     r = √(a² + b²).
//
// A face pushes inwards and only where the point lies on it: 0 ≤ λ₁ ⟂ c_y + b ≥ 0, and so on; λ₃, λ₄ are negative. One
// face at a time: all products of two forces are zero. There is no friction between point and box.
#include <math.h>
#include <stdio.h>

#include "plan_problem.h"

enum { PX, PY, TH, CX, CY, L1, L2, L3, L4, NZ };
static const double A = 0.5, B = 0.25, MASS = 1, MU = 0.5, G = 9.8, C = 0.4;

static void motion(const PlanProblem* p, const double* z, const double* next, PlanRows* r) {
  const double s = sin(z[TH]), c = cos(z[TH]), fx = z[L2] + z[L4], fy = z[L1] + z[L3];
  const double slip = p->h / (MU * MASS * G), turn = slip / (C * sqrt(A * A + B * B));
  plan_eq(r, "motion of x", next[PX] - z[PX] - slip * (c * fx - s * fy));
  plan_by(r, NZ + PX, 1), plan_by(r, PX, -1), plan_by(r, TH, slip * (s * fx + c * fy));
  plan_by(r, L2, -slip * c), plan_by(r, L4, -slip * c), plan_by(r, L1, slip * s), plan_by(r, L3, slip * s);
  plan_eq(r, "motion of y", next[PY] - z[PY] - slip * (s * fx + c * fy));
  plan_by(r, NZ + PY, 1), plan_by(r, PY, -1), plan_by(r, TH, -slip * (c * fx - s * fy));
  plan_by(r, L2, -slip * s), plan_by(r, L4, -slip * s), plan_by(r, L1, -slip * c), plan_by(r, L3, -slip * c);
  plan_eq(r, "motion of theta", next[TH] - z[TH] - turn * (z[CX] * fy - z[CY] * fx));
  plan_by(r, NZ + TH, 1), plan_by(r, TH, -1), plan_by(r, CX, -turn * fy), plan_by(r, CY, turn * fx);
  plan_by(r, L1, -turn * z[CX]), plan_by(r, L3, -turn * z[CX]);
  plan_by(r, L2, turn * z[CY]), plan_by(r, L4, turn * z[CY]);
}

// the rows of stage k, in an order that does not depend on z
static void rows(const PlanProblem* p, int k, const double* z, const double* next, PlanRows* r) {
  plan_start(p, k, z, NULL, r);
  if (next == NULL) {
    return;
  }
  motion(p, z, next, r);
  const PlanTerm force[4] = {plan_unknown(1, z, L1), plan_unknown(1, z, L2), plan_unknown(-1, z, L3),
                             plan_unknown(-1, z, L4)};
  const PlanTerm gap[4] = {plan_plus(plan_constant(B), 1, z, CY), plan_plus(plan_constant(A), 1, z, CX),
                           plan_plus(plan_constant(B), -1, z, CY), plan_plus(plan_constant(A), -1, z, CX)};
  for (int i = 0; i < 4; ++i) {
    plan_ge_term(r, "force of a face", TRIBO_PLAN_BOUND, &force[i]);
    plan_ge_term(r, "point inside a face", TRIBO_PLAN_SMOOTH, &gap[i]);
    plan_product(r, "contact of a face", &force[i], &gap[i]);
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) {
      plan_product(r, "one face at a time", &force[i], &force[j]);
    }
  }
}

static void cost(const PlanProblem* p, int k, double* weight, double* aim) {
  if (k + 1 < p->stages) {
    weight[L1] = weight[L2] = weight[L3] = weight[L4] = 1e-3;
    return;
  }
  for (int i = 0; i < 3; ++i) {
    weight[i] = 100, aim[i] = p->goal[i];
  }
}

static PlanError error(const PlanProblem* p, const double* z) {
  return (PlanError){.position = hypot(z[PX] - p->goal[0], z[PY] - p->goal[1]), .angle = fabs(z[TH] - p->goal[2])};
}

// 3 m away in 18 directions, turned as far
static int task(int index, double* start, double* goal, char name[64]) {
  const double a = 2 * M_PI * index / 18;
  start[0] = start[1] = start[2] = 0;
  goal[0] = 3 * cos(a), goal[1] = 3 * sin(a), goal[2] = a;
  snprintf(name, 64, "angle%d", 20 * index);
  return index < 18;
}

const PlanKind plan_push_box = {
    .name = "pushbox",
    .summary = "a box is pushed over a table at one point to a pose",
    .nz = NZ,
    .ns = 3,
    .stages = 100,
    .long_stages = 200,
    .h = 0.02,
    .long_h = 0.02,
    .unknowns = "px py theta cx cy lambda1 lambda2 lambda3 lambda4",
    .nstart = 3,
    .ngoal = 3,
    .goal = {3, 0, 0},
    .noise = 0.1,
    .rows = rows,
    .cost = cost,
    .error = error,
    .task = task,
};
