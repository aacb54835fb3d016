// A T, a bar of 4l × l on a stem of l × 3l, is pushed over a table at one point of its eight faces to a pose.
//
// Moves as the box does (push_box.c), F_x = λ₂+λ₄+λ₆+λ₈, F_y = λ₁+λ₃+λ₅+λ₇, radius 2.8 l. Where the point c lies is
// told by distances |e_i| = v_i + w_i from the seven lines that carry the faces, v_i − w_i = e_i, 0 ≤ v_i ⟂ w_i ≥ 0: a
// point of a face is one whose distances to three lines add up to a length, so that "on the face" is a sum that is zero
// and positive elsewhere. The centre of mass is d_c l above the stem's foot. cosθ and sinθ are unknowns of their own,
// in which the goal is a sum of squares.
#include <math.h>
#include <stdio.h>

#include "plan_problem.h"

enum { PX, PY, TH, CX, CY, V, LAMBDA = V + 14, COS = LAMBDA + 8, SIN, NZ };
static const double L = 0.05, MASS = 1, MU = 0.4, G = 9.8, C = 0.4, DC = 18.5 / 7;

static void motion(const PlanProblem* p, const double* z, const double* next, PlanRows* r) {
  const double s = sin(z[TH]), c = cos(z[TH]), *f = z + LAMBDA;
  const double fx = f[1] + f[3] + f[5] + f[7], fy = f[0] + f[2] + f[4] + f[6];
  const double slip = p->h / (MU * MASS * G), turn = slip / (C * 2.8 * L);
  plan_eq(r, "motion of x", next[PX] - z[PX] - slip * (c * fx - s * fy));
  plan_by(r, NZ + PX, 1), plan_by(r, PX, -1), plan_by(r, TH, slip * (s * fx + c * fy));
  for (int i = 0; i < 8; ++i) {
    plan_by(r, LAMBDA + i, i % 2 ? -slip * c : slip * s);
  }
  plan_eq(r, "motion of y", next[PY] - z[PY] - slip * (s * fx + c * fy));
  plan_by(r, NZ + PY, 1), plan_by(r, PY, -1), plan_by(r, TH, -slip * (c * fx - s * fy));
  for (int i = 0; i < 8; ++i) {
    plan_by(r, LAMBDA + i, i % 2 ? -slip * s : -slip * c);
  }
  plan_eq(r, "motion of theta", next[TH] - z[TH] - turn * (z[CX] * fy - z[CY] * fx));
  plan_by(r, NZ + TH, 1), plan_by(r, TH, -1), plan_by(r, CX, -turn * fy), plan_by(r, CY, turn * fx);
  for (int i = 0; i < 8; ++i) {
    plan_by(r, LAMBDA + i, i % 2 ? turn * z[CY] : -turn * z[CX]);
  }
}

// e_i = v_i − w_i, cosθ and sinθ
static void definitions(const double* z, PlanRows* r) {
  static const int axis[7] = {CX, CY, CY, CX, CY, CX, CX};
  const double at[7] = {2 * L, (4 - DC) * L, (3 - DC) * L, 0.5 * L, -DC * L, -0.5 * L, -2 * L};
  for (int i = 0; i < 7; ++i) {
    const int v = V + 2 * i;
    plan_eq(r, "distance from a line", z[axis[i]] - at[i] - z[v] + z[v + 1]);
    plan_by(r, axis[i], 1), plan_by(r, v, -1), plan_by(r, v + 1, 1);
  }
  plan_eq(r, "cosine", z[COS] - cos(z[TH]));
  plan_by(r, COS, 1), plan_by(r, TH, sin(z[TH]));
  plan_eq(r, "sine", z[SIN] - sin(z[TH]));
  plan_by(r, SIN, 1), plan_by(r, TH, -cos(z[TH]));
}

// how far the point is from each face
static PlanTerm gap(const double* z, int face) {
  static const int lines[8][3] = {{0}, {0, 1, 2}, {0, 2, 3}, {2, 3, 4}, {3, 4, 5}, {2, 4, 5}, {2, 5, 6}, {1, 2, 6}};
  static const double length[8] = {0, 1, 1.5, 3, 1, 3, 1.5, 1};
  if (face == 0) {
    return plan_plus(plan_constant((4 - DC) * L), -1, z, CY);
  }
  PlanTerm t = plan_constant(-length[face] * L);
  for (int i = 0; i < 3; ++i) {
    const int v = V + 2 * lines[face][i];
    t = plan_plus(plan_plus(t, 1, z, v), 1, z, v + 1);
  }
  return t;
}

// on which side of each line, inside which hull, and on which face the point lies
static void contacts(const double* z, PlanRows* r) {
  static const double inward[8] = {-1, -1, 1, -1, 1, 1, 1, 1};
  PlanTerm force[8];
  for (int i = 0; i < 7; ++i) {
    const PlanTerm v = plan_unknown(1, z, V + 2 * i), w = plan_unknown(1, z, V + 2 * i + 1);
    plan_ge_term(r, "ahead of a line", TRIBO_PLAN_BOUND, &v);
    plan_ge_term(r, "behind a line", TRIBO_PLAN_SMOOTH, &w);
    plan_product(r, "on one side of a line", &v, &w);
  }
  const PlanTerm box[4] = {plan_plus(plan_constant(2 * L), 1, z, CX), plan_plus(plan_constant(2 * L), -1, z, CX),
                           plan_plus(plan_constant(DC * L), 1, z, CY),
                           plan_plus(plan_constant((4 - DC) * L), -1, z, CY)};
  for (int i = 0; i < 4; ++i) {
    plan_ge_term(r, "point inside the hull", TRIBO_PLAN_BOUND, &box[i]);
  }
  for (int i = 0; i < 8; ++i) {
    const PlanTerm distance = gap(z, i);
    force[i] = plan_unknown(inward[i], z, LAMBDA + i);
    plan_ge_term(r, "force of a face", TRIBO_PLAN_BOUND, &force[i]);
    plan_product(r, "contact of a face", &force[i], &distance);
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < i; ++j) {
      plan_product(r, "one face at a time", &force[i], &force[j]);
    }
  }
}

// the rows of stage k, in an order that does not depend on z
static void rows(const PlanProblem* p, int k, const double* z, const double* next, PlanRows* r) {
  static const int columns[4] = {PX, PY, COS, SIN};
  plan_start(p, k, z, columns, r);
  if (next != NULL) {
    motion(p, z, next, r);
  }
  definitions(z, r);
  if (next != NULL) {
    contacts(z, r);
  }
}

static void cost(const PlanProblem* p, int k, double* weight, double* aim) {
  static const int columns[4] = {PX, PY, COS, SIN};
  const int is_last = k + 1 == p->stages;
  for (int i = 0; i < 4; ++i) {
    weight[columns[i]] = is_last ? 100 : 1, aim[columns[i]] = p->goal[i];
  }
  const double effort = is_last ? 0 : 0.01;
  for (int i = 0; i < 8; ++i) {
    weight[LAMBDA + i] = effort;
  }
}

static PlanError error(const PlanProblem* p, const double* z) {
  const double turn = atan2(z[SIN] * p->goal[2] - z[COS] * p->goal[3], z[COS] * p->goal[2] + z[SIN] * p->goal[3]);
  return (PlanError){.position = hypot(z[PX] - p->goal[0], z[PY] - p->goal[1]), .angle = fabs(turn)};
}

// 0.2 m away in 18 directions, turned as far
static int task(int index, double* start, double* goal, char name[64]) {
  const double a = 2 * M_PI * index / 18;
  start[0] = start[1] = start[3] = 0, start[2] = 1;
  goal[0] = 0.2 * cos(a), goal[1] = 0.2 * sin(a), goal[2] = cos(a), goal[3] = sin(a);
  snprintf(name, 64, "angle%d", 20 * index);
  return index < 18;
}

// starts at −169.5°, ends at −151.1°
const PlanKind plan_push_t = {
    .name = "pusht",
    .summary = "a T is pushed over a table at one point of its eight faces to a pose",
    .nz = NZ,
    .ns = 3,
    .stages = 50,
    .long_stages = 50,
    .h = 0.05,
    .long_h = 0.05,
    .unknowns =
        "px py theta cx cy v1 w1 v2 w2 v3 w3 v4 w4 v5 w5 v6 w6 v7 w7 lambda1 lambda2 lambda3 lambda4 lambda5 "
        "lambda6 lambda7 lambda8 cos sin",
    .nstart = 4,
    .ngoal = 4,
    .start = {0.24722, 0.0141359, -0.9832743861780654, -0.18213039693073974},
    .goal = {0.036, -0.143, -0.8753714790354687, -0.4834509010140078},
    .noise = 0.01,
    .rows = rows,
    .cost = cost,
    .error = error,
    .task = task,
};
