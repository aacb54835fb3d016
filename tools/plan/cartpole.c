// A pole on a cart swings up between two soft walls: the cart is pushed by u, the pole's tip by the springs λ₁, λ₂.
//
//     (m_c + m_p) ẍ + m_p l θ̈ cosθ − m_p l θ̇² sinθ = u − λ₁ + λ₂,    m_p l θ̈ + m_p ẍ cosθ − m_p g sinθ = (λ₂ − λ₁) cosθ
//
// θ = 0 is upright, the tip is at x + l sinθ. Solved for the accelerations, with F = λ₂ − λ₁, D = m_c + m_p sin²θ:
//
//     ẍ = (u + F sin²θ + m_p l θ̇² sinθ − m_p g sinθ cosθ) / D
//     θ̈ = (m_c F cosθ − m_p u cosθ + (m_c + m_p) m_p g sinθ − m_p² l θ̇² sinθ cosθ) / (m_p l D)
//
// A wall's spring: 0 ≤ λ₁ ⟂ d − x − l sinθ + λ₁/k ≥ 0. Steps are semi-implicit: v⁺ = v + h a(q, v, u, λ), q⁺ = q + h
// v⁺.
#include <math.h>
#include <stdio.h>

#include "plan_problem.h"

enum { X, TH, VX, OM, U, L1, L2, NZ };
static const double MC = 1, MP = 0.1, L = 0.8, G = 9.8, WALL = 1, SPRING = 200;

// both accelerations, and their derivatives by θ, θ̇, u, λ₁, λ₂
static void accelerations(const double* z, double a[2], double by[2][5]) {
  const double s = sin(z[TH]), c = cos(z[TH]), om = z[OM], u = z[U], F = z[L2] - z[L1], D = MC + MP * s * s;
  const double D_th = 2 * MP * s * c, ml = MP * L, two_c = c * c - s * s;
  const double top = u + F * s * s + ml * om * om * s - MP * G * s * c;
  const double turn = MC * F * c - MP * u * c + (MC + MP) * MP * G * s - MP * ml * om * om * s * c;
  a[0] = top / D;
  a[1] = turn / (ml * D);
  by[0][0] = (2 * F * s * c + ml * om * om * c - MP * G * two_c - a[0] * D_th) / D;
  by[0][1] = 2 * ml * om * s / D;
  by[0][2] = 1 / D;
  by[0][4] = s * s / D, by[0][3] = -by[0][4];
  by[1][0] = ((-MC * F * s + MP * u * s + (MC + MP) * MP * G * c - MP * ml * om * om * two_c) / ml - a[1] * D_th) / D;
  by[1][1] = -2 * MP * om * s * c / D;
  by[1][2] = -c / (L * D);
  by[1][4] = MC * c / (ml * D), by[1][3] = -by[1][4];
}

static void wall(PlanRows* r, const double* z, int force, double sign, const char* const names[3]) {
  PlanTerm lambda = plan_unknown(1, z, force), gap = plan_constant(WALL - sign * L * sin(z[TH]));
  gap = plan_plus(plan_plus(gap, -sign, z, X), 1 / SPRING, z, force);
  gap.col[gap.count] = TH, gap.by[gap.count] = -sign * L * cos(z[TH]);
  gap.count++;
  plan_ge_term(r, names[0], TRIBO_PLAN_BOUND, &lambda);
  plan_ge_term(r, names[1], TRIBO_PLAN_SMOOTH, &gap);
  plan_product(r, names[2], &lambda, &gap);
}

// the rows of stage k, in an order that does not depend on z
static void rows(const PlanProblem* p, int k, const double* z, const double* next, PlanRows* r) {
  static const char* const right[3] = {"force of wall 1", "gap of wall 1", "contact of wall 1"};
  static const char* const left[3] = {"force of wall 2", "gap of wall 2", "contact of wall 2"};
  static const int columns[5] = {TH, OM, U, L1, L2};
  const double h = p->h;
  plan_start(p, k, z, NULL, r);
  if (next == NULL) {
    return;
  }
  double a[2], by[2][5];
  accelerations(z, a, by);
  for (int i = 0; i < 2; ++i) {
    plan_eq(r, i == 0 ? "motion of x" : "motion of theta", next[i] - z[i] - h * next[VX + i]);
    plan_by(r, i, -1);
    plan_by(r, NZ + i, 1);
    plan_by(r, NZ + VX + i, -h);
    plan_eq(r, i == 0 ? "balance of the cart" : "balance of the pole", next[VX + i] - z[VX + i] - h * a[i]);
    plan_by(r, NZ + VX + i, 1);
    plan_by(r, VX + i, -1);
    for (int j = 0; j < 5; ++j) {
      plan_by(r, columns[j], -h * by[i][j]);
    }
  }
  wall(r, z, L1, 1, right);
  wall(r, z, L2, -1, left);
}

static void cost(const PlanProblem* p, int k, double* weight, double* aim) {
  if (k + 1 < p->stages) {
    weight[U] = 1e-3;
    return;
  }
  for (int i = 0; i < 4; ++i) {
    weight[i] = 100, aim[i] = p->goal[i];
  }
}

// passive motion without walls
static void guess(const PlanProblem* p, double* z) {
  double by[2][5], a[2];
  for (int i = 0; i < 4; ++i) {
    z[i] = p->start[i];
  }
  for (int k = 0; k + 1 < p->stages; ++k, z += NZ) {
    accelerations(z, a, by);
    for (int i = 0; i < 2; ++i) {
      z[NZ + VX + i] = z[VX + i] + p->h * a[i];
      z[NZ + i] = z[i] + p->h * z[NZ + VX + i];
    }
  }
}

static PlanError error(const PlanProblem* p, const double* z) {
  return (PlanError){fabs(z[X] - p->goal[X]), fabs(remainder(z[TH] - p->goal[TH], 2 * M_PI)), fabs(z[VX] - p->goal[VX]),
                     fabs(z[OM] - p->goal[OM])};
}

// centred or with the tip near a wall, five angles and speeds
static int task(int index, double* start, double* goal, char name[64]) {
  static const double swing[5][2] = {{M_PI, 0}, {M_PI, 2.8}, {M_PI - 0.5, 0}, {M_PI + 0.5, -1}, {M_PI - 1, 1}};
  if (index >= 10) {
    return 0;
  }
  const double *s = swing[index % 5], x = index < 5 ? 0 : 0.9 - L * sin(s[0]);
  const double values[4] = {x, s[0], 0, s[1]};
  for (int i = 0; i < 4; ++i) {
    start[i] = values[i], goal[i] = 0;
  }
  snprintf(name, 64, "x%.2f_theta%.2f_omega%.1f", x, s[0], s[1]);
  return 1;
}

const PlanKind plan_cartpole = {
    .name = "cartpole",
    .summary = "a pole on a cart swings up between two soft walls",
    .nz = NZ,
    .ns = 4,
    .stages = 100,
    .long_stages = 200,
    .h = 0.02,
    .long_h = 0.02,
    .unknowns = "x theta vx omega u lambda1 lambda2",
    .nstart = 4,
    .ngoal = 4,
    .start = {0, M_PI, 0, 2.8},
    .noise = 0.1,
    .rows = rows,
    .cost = cost,
    .guess = guess,
    .error = error,
    .joints = {{"x", X, VX, U}, {"theta", TH, OM, -1}},
    .task = task,
};
