// A waiter draws a plate of 2 kg, 14 m long, over the edge of a table: a pusher presses on the overhanging end (n) and
// pulls by friction (f_p) against the table's (f_t):
//
//     m₂ ẍ₂ = u − f_p,   m₁ ẍ₁ = f_p − f_t,   n_t + n = m₁ g,   n (x₂ − x₁ + l) ≤ m₁ g l    (the plate does not tip)
//     ẋ₁ = z − w,  0 ≤ z ⟂ w,  0 ≤ z ⟂ μ₁ n_t − f_t,  0 ≤ w ⟂ μ₁ n_t + f_t    and for the pusher ẋ₂ − ẋ₁ = p − q alike.
#include <math.h>

#include "plan_problem.h"

enum { X1, X2, V1, V2, Z, W, P, Q, N, U, FP, FT, NT, NZ };
static const double M1 = 2, M2 = 1, MU_TABLE = 0.1, MU_PUSHER = 1, G = 9.81, L = 7, SIZE = 0.1;

static void motion(double h, const double* z, const double* next, PlanRows* r) {
  for (int i = 0; i < 2; ++i) {
    plan_eq(r, i == 0 ? "motion of the plate" : "motion of the pusher", next[X1 + i] - z[X1 + i] - h * next[V1 + i]);
    plan_by(r, X1 + i, -1), plan_by(r, NZ + X1 + i, 1), plan_by(r, NZ + V1 + i, -h);
  }
  plan_eq(r, "balance of the plate", next[V1] - z[V1] - h / M1 * (z[FP] - z[FT]));
  plan_by(r, V1, -1), plan_by(r, NZ + V1, 1), plan_by(r, FP, -h / M1), plan_by(r, FT, h / M1);
  plan_eq(r, "balance of the pusher", next[V2] - z[V2] - h / M2 * (z[U] - z[FP]));
  plan_by(r, V2, -1), plan_by(r, NZ + V2, 1), plan_by(r, U, -h / M2), plan_by(r, FP, h / M2);
  plan_eq(r, "slip of the pusher", z[V2] - z[V1] - z[P] + z[Q]);
  plan_by(r, V2, 1), plan_by(r, V1, -1), plan_by(r, P, -1), plan_by(r, Q, 1);
  plan_eq(r, "slip of the plate", z[V1] - z[Z] + z[W]);
  plan_by(r, V1, 1), plan_by(r, Z, -1), plan_by(r, W, 1);
  plan_eq(r, "weight of the plate", z[NT] + z[N] - M1 * G);
  plan_by(r, NT, 1), plan_by(r, N, 1);
}

// v, w ≥ 0, of which one is zero; a force at its limit where one is not
static void friction(const double* z, int v, int w, double mu, int normal, int force, PlanRows* r) {
  const PlanTerm ahead = plan_unknown(1, z, v), back = plan_unknown(1, z, w);
  const PlanTerm less = plan_plus(plan_unknown(mu, z, normal), -1, z, force);
  const PlanTerm more = plan_plus(plan_unknown(mu, z, normal), 1, z, force);
  plan_ge_term(r, "slip forwards", TRIBO_PLAN_BOUND, &ahead);
  plan_ge_term(r, "slip backwards", TRIBO_PLAN_SMOOTH, &back);
  plan_product(r, "slip one way", &ahead, &back);
  plan_ge_term(r, "friction below its limit", TRIBO_PLAN_SMOOTH, &less);
  plan_product(r, "friction of forward slip", &ahead, &less);
  plan_ge_term(r, "friction above its limit", TRIBO_PLAN_SMOOTH, &more);
  plan_product(r, "friction of backward slip", &back, &more);
}

// the rows of stage k, in an order that does not depend on z
static void rows(const PlanProblem* p, int k, const double* z, const double* next, PlanRows* r) {
  plan_start(p, k, z, NULL, r);
  if (next != NULL) {
    motion(p->h, z, next, r);
  }
  const PlanTerm table = plan_unknown(1, z, NT), press = plan_unknown(1, z, N);
  const PlanTerm clear = plan_plus(plan_constant(-SIZE), 1, z, X2);
  const PlanTerm on_plate = plan_plus(plan_plus(plan_constant(L), -1, z, X2), 1, z, X1);
  const double arm = z[X2] - z[X1] + L;
  plan_ge_term(r, "table pushes", TRIBO_PLAN_BOUND, &table);
  plan_ge_term(r, "pusher presses", TRIBO_PLAN_BOUND, &press);
  plan_ge_term(r, "pusher beside the table", TRIBO_PLAN_BOUND, &clear);
  plan_ge_term(r, "pusher under the plate", TRIBO_PLAN_SMOOTH, &on_plate);
  plan_ge(r, "plate does not tip", TRIBO_PLAN_SMOOTH, M1 * G * L - z[N] * arm);
  plan_by(r, N, -arm), plan_by(r, X2, -z[N]), plan_by(r, X1, z[N]);
  friction(z, Z, W, MU_TABLE, NT, FT, r);
  friction(z, P, Q, MU_PUSHER, N, FP, r);
}

static void cost(const PlanProblem* p, int k, double* weight, double* aim) {
  if (k + 1 < p->stages) {
    weight[N] = weight[U] = 1e-4;
    return;
  }
  for (int i = 0; i < 4; ++i) {
    weight[i] = 100, aim[i] = p->goal[i];
  }
}

static PlanError error(const PlanProblem* p, const double* z) {
  return (PlanError){.position = hypot(z[X1] - p->goal[0], z[X2] - p->goal[1]),
                     .velocity = hypot(z[V1] - p->goal[2], z[V2] - p->goal[3])};
}

const PlanKind plan_waiter = {
    .name = "waiter",
    .summary = "a plate is drawn over a table's edge without tipping",
    .nz = NZ,
    .ns = 4,
    .stages = 100,
    .long_stages = 200,
    .h = 0.05,
    .long_h = 0.02,
    .unknowns = "x1 x2 v1 v2 z w p q n u fp ft nt",
    .nstart = 4,
    .ngoal = 4,
    .start = {-6, 0.1},
    .goal = {0.1, 0.1, 2, 2},
    .noise = 0.1,
    .rows = rows,
    .cost = cost,
    .error = error,
};
