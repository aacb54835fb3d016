// A cargo of 1 kg on a cart of 2 kg. Only the cart is driven, by u; friction f moves the cargo, which may slide:
//
//     m₁ ẍ₁ = f,   m₂ ẍ₂ = u − f,   |x₁ − x₂| ≤ l,   ẋ₁ − ẋ₂ = v − w,   0 ≤ v ⟂ w ≥ 0,
//     0 ≤ w ⟂ μ m₁ g − f ≥ 0,   0 ≤ v ⟂ μ m₁ g + f ≥ 0.
#include <math.h>
#include <stdio.h>

#include "plan_problem.h"

enum { X1, X2, V1, V2, V, W, F, U, NZ };
static const double M1 = 1, M2 = 2, MU = 0.2, G = 9.81, REACH = 1;

static void motion(const PlanProblem* p, const double* z, const double* next, PlanRows* r) {
  const double h = p->h;
  for (int i = 0; i < 2; ++i) {
    plan_eq(r, i == 0 ? "motion of the cargo" : "motion of the cart", next[X1 + i] - z[X1 + i] - h * next[V1 + i]);
    plan_by(r, X1 + i, -1), plan_by(r, NZ + X1 + i, 1), plan_by(r, NZ + V1 + i, -h);
  }
  plan_eq(r, "balance of the cargo", next[V1] - z[V1] - h / M1 * z[F]);
  plan_by(r, V1, -1), plan_by(r, NZ + V1, 1), plan_by(r, F, -h / M1);
  plan_eq(r, "balance of the cart", next[V2] - z[V2] - h / M2 * (z[U] - z[F]));
  plan_by(r, V2, -1), plan_by(r, NZ + V2, 1), plan_by(r, F, h / M2), plan_by(r, U, -h / M2);
  plan_eq(r, "slip", z[V1] - z[V2] - z[V] + z[W]);
  plan_by(r, V1, 1), plan_by(r, V2, -1), plan_by(r, V, -1), plan_by(r, W, 1);
}

// the rows of stage k, in an order that does not depend on z
static void rows(const PlanProblem* p, int k, const double* z, const double* next, PlanRows* r) {
  const double limit = MU * M1 * G;
  plan_start(p, k, z, NULL, r);
  if (next != NULL) {
    motion(p, z, next, r);
  }
  const PlanTerm v = plan_unknown(1, z, V), w = plan_unknown(1, z, W);
  const PlanTerm less = plan_plus(plan_constant(limit), -1, z, F), more = plan_plus(plan_constant(limit), 1, z, F);
  plan_ge_term(r, "slip forwards", TRIBO_PLAN_BOUND, &v);
  plan_ge_term(r, "slip backwards", TRIBO_PLAN_SMOOTH, &w);
  plan_product(r, "slip one way", &v, &w);
  plan_ge_term(r, "friction below its limit", TRIBO_PLAN_SMOOTH, &less);
  plan_product(r, "friction of backward slip", &w, &less);
  plan_ge_term(r, "friction above its limit", TRIBO_PLAN_SMOOTH, &more);
  plan_product(r, "friction of forward slip", &v, &more);
  for (int sign = -1; sign <= 1; sign += 2) {
    const PlanTerm reach = plan_plus(plan_plus(plan_constant(REACH), sign, z, X1), -sign, z, X2);
    plan_ge_term(r, "cargo on the cart", TRIBO_PLAN_SMOOTH, &reach);
  }
}

static void cost(const PlanProblem* p, int k, double* weight, double* aim) {
  if (k + 1 < p->stages) {
    weight[F] = weight[U] = 1e-4;
    return;
  }
  for (int i = 0; i < 4; ++i) {
    weight[i] = i < 2 ? 1e5 : 10, aim[i] = p->goal[i];
  }
}

static PlanError error(const PlanProblem* p, const double* z) {
  return (PlanError){.position = hypot(z[X1] - p->goal[0], z[X2] - p->goal[1]),
                     .velocity = hypot(z[V1] - p->goal[2], z[V2] - p->goal[3])};
}

// the cart from 3 m to 0, the cargo ahead, on top or behind at either end, three pairs of velocities
static int task(int index, double* start, double* goal, char name[64]) {
  static const double speed[3][2] = {{0, 0}, {-3, 0}, {-4, -2}}, offset[3] = {0, -0.5, 0.5};
  if (index >= 27) {
    return 0;
  }
  const double *v = speed[index / 9], a = offset[index / 3 % 3], b = offset[index % 3];
  start[0] = 3 + a, start[1] = 3, start[2] = start[3] = v[0];
  goal[0] = b, goal[1] = 0, goal[2] = goal[3] = v[1];
  snprintf(name, 64, "v%g_%g_from%g_to%g", v[0], v[1], a, b);
  return 1;
}

const PlanKind plan_transport = {
    .name = "transport",
    .summary = "a cart carries a cargo that only friction holds",
    .nz = NZ,
    .ns = 4,
    .stages = 200,
    .long_stages = 200,
    .h = 0.02,
    .long_h = 0.02,
    .unknowns = "x1 x2 v1 v2 v w f u",
    .nstart = 4,
    .ngoal = 4,
    .start = {3.5, 3, -4, -4},
    .goal = {-0.5, 0, -2, -2},
    .noise = 0.1,
    .rows = rows,
    .cost = cost,
    .error = error,
    .joints = {{"cart", X2, V2, U}, {"cargo", X1, V1, -1}},
    .task = task,
};
