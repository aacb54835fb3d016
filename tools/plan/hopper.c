// A point mass on a massless leg with a foot. In flight the leg's angle θ is driven by u₁; in stance the foot stays
// where it is, and the leg, shorter by r, pushes with u₂:
//
//     m p̈_x = −u₂ sinθ,   m p̈_y = u₂ cosθ − m g,   (l₀ − r) cosθ = p_y − q_y,   (l₀ − r) sinθ = q_x − p_x,
//     r (q⁺ − q) = 0,   q_y (θ⁺ − θ − h u₁) = 0,   0 ≤ r ⟂ q_y ≥ 0,   0 ≤ u₂ ⟂ q_y,   u₁² r ≤ 0,   r ≤ r₀.
//
// A foot that neither rises nor compresses would be free of both: q_y + r + s ≥ 0.1, and s ≥ 0 is paid for.
#include <math.h>

#include "plan_problem.h"

enum { PX, PY, QX, QY, TH, R, VX, VY, U1, U2, S, NZ };
static const double MASS = 1, L0 = 1, R0 = 0.8, G = 9.81;

static void motion(double h, const double* z, const double* next, PlanRows* r) {
  const double s = sin(z[TH]), c = cos(z[TH]), u2 = z[U2];
  for (int i = 0; i < 2; ++i) {
    plan_eq(r, i == 0 ? "motion of x" : "motion of y", next[PX + i] - z[PX + i] - h * next[VX + i]);
    plan_by(r, PX + i, -1), plan_by(r, NZ + PX + i, 1), plan_by(r, NZ + VX + i, -h);
  }
  plan_eq(r, "balance along x", MASS * (next[VX] - z[VX]) + h * u2 * s);
  plan_by(r, VX, -MASS), plan_by(r, NZ + VX, MASS), plan_by(r, U2, h * s), plan_by(r, TH, h * u2 * c);
  plan_eq(r, "balance along y", MASS * (next[VY] - z[VY]) - h * (u2 * c - MASS * G));
  plan_by(r, VY, -MASS), plan_by(r, NZ + VY, MASS), plan_by(r, U2, -h * c), plan_by(r, TH, h * u2 * s);
}

static void leg(const double* z, PlanRows* r) {
  const double s = sin(z[TH]), c = cos(z[TH]), l = L0 - z[R];
  plan_eq(r, "leg along y", l * c - z[PY] + z[QY]);
  plan_by(r, R, -c), plan_by(r, TH, -l * s), plan_by(r, PY, -1), plan_by(r, QY, 1);
  plan_eq(r, "leg along x", l * s - z[QX] + z[PX]);
  plan_by(r, R, -s), plan_by(r, TH, l * c), plan_by(r, QX, -1), plan_by(r, PX, 1);
}

// what stands still in stance and what is driven in flight
static void modes(double h, const double* z, const double* next, PlanRows* r) {
  for (int i = 0; i < 2; ++i) {
    const double move = next[QX + i] - z[QX + i];
    plan_eq(r, "foot stands", z[R] * move);
    plan_by(r, R, move), plan_by(r, NZ + QX + i, z[R]), plan_by(r, QX + i, -z[R]);
  }
  const double turn = next[TH] - z[TH] - h * z[U1];
  plan_eq(r, "leg swings", z[QY] * turn);
  plan_by(r, QY, turn), plan_by(r, NZ + TH, z[QY]), plan_by(r, TH, -z[QY]), plan_by(r, U1, -h * z[QY]);
}

// the rows of stage k, in an order that does not depend on z
static void rows(const PlanProblem* p, int k, const double* z, const double* next, PlanRows* r) {
  plan_start(p, k, z, NULL, r);
  if (next != NULL) {
    motion(p->h, z, next, r);
  }
  leg(z, r);
  if (next != NULL) {
    modes(p->h, z, next, r);
  }
  const PlanTerm shorter = plan_unknown(1, z, R), height = plan_unknown(1, z, QY), thrust = plan_unknown(1, z, U2);
  plan_ge_term(r, "compression", TRIBO_PLAN_BOUND, &shorter);
  plan_ge_term(r, "foot above the ground", TRIBO_PLAN_SMOOTH, &height);
  plan_product(r, "compressed on the ground", &shorter, &height);
  plan_ge_term(r, "thrust", TRIBO_PLAN_BOUND, &thrust);
  plan_product(r, "thrust on the ground", &thrust, &height);
  plan_ge(r, "swing in flight", TRIBO_PLAN_PRODUCT, -z[R] * z[U1] * z[U1]);
  plan_by(r, R, -z[U1] * z[U1]), plan_by(r, U1, -2 * z[R] * z[U1]);
  plan_ge(r, "shortest leg", TRIBO_PLAN_BOUND, R0 - z[R]);
  plan_by(r, R, -1);
  const PlanTerm up = plan_plus(plan_plus(plan_plus(plan_constant(-0.1), 1, z, QY), 1, z, R), 1, z, S);
  const PlanTerm paid = plan_unknown(1, z, S);
  plan_ge_term(r, "rise or compress", TRIBO_PLAN_SMOOTH, &up);
  plan_ge_term(r, "what is paid for that", TRIBO_PLAN_BOUND, &paid);
}

static void cost(const PlanProblem* p, int k, double* weight, double* aim) {
  const double at_goal = k + 1 < p->stages ? 0 : 100;
  for (int i = 0; i < 8; ++i) {
    weight[i] = at_goal, aim[i] = p->goal[i];
  }
  weight[U1] = 1e-3, weight[U2] = 1e-5, weight[S] = 100;
}

// free fall through the floor
static void guess(const PlanProblem* p, double* z) {
  double py = p->start[PY], vy = 0;
  for (int k = 0; k < p->stages; ++k, z += NZ) {
    z[PX] = z[QX] = p->start[PX], z[PY] = py, z[QY] = py - L0, z[VY] = vy;
    vy -= G * p->h;
    py += vy * p->h;
  }
}

static PlanError error(const PlanProblem* p, const double* z) {
  return (PlanError){.position = hypot(z[PX] - p->goal[PX], z[PY] - p->goal[PY]),
                     .angle = fabs(z[TH]),
                     .velocity = hypot(z[VX] - p->goal[VX], z[VY] - p->goal[VY])};
}

const PlanKind plan_hopper = {
    .name = "hopper",
    .summary = "a hopper finds its jumps over 2 m from a fall through the floor",
    .nz = NZ,
    .ns = 8,
    .stages = 200,
    .long_stages = 200,
    .h = 0.02,
    .long_h = 0.02,
    .unknowns = "px py qx qy theta r vx vy u1 u2 s",
    .nstart = 8,
    .ngoal = 8,
    .start = {0, 1.5, 0, 0.5},
    .goal = {2, 1, 2},
    .noise = 0.1,
    .rows = rows,
    .cost = cost,
    .guess = guess,
    .error = error,
};
