// `auto`: the rungs of a ladder, cheapest and likeliest first, each from what the ones before have found. Newton ends
// almost every solve; the rungs differ in where they start it from. A rung that cannot solve the problem leaves its
// best point, and the best of all is returned.
#include <math.h>
#include <string.h>

#include "policy.h"

enum {
  TINY = 16,         // contacts up to which Newton from zero comes before ADMM
  WARM_STEPS = 60,   // along the central path; most paths end within 40,
  PATH_STEPS = 200,  // some turn many times
  NEWTON_STEPS = 60,
  FEW_STEPS = 15,
  LEVEL_STEPS = 60,
  MANY = 200,   // contacts up to which paths mostly end, and proximal points, thousands of factorisations, can be had;
  USUAL = 1000  // beyond, as many in all
};

static const double POOR = 0.03;  // residual of a point that is no good start for Newton

typedef struct Ladder {
  double *y, *z;  // (n) ADMM's point
  double j, k;    // its residual and size
} Ladder;

static double clip(double x, double lo, double hi) {
  return fmin(fmax(x, lo), hi);
}

// the start of an interior point near an estimate: the better it is, the less it is pushed inside
static double push_for(double j) {
  return clip(3 * j, 0.01, 0.3);
}

static void newton_from_zero(TriboSolver* s, int max_steps, int max_bad) {
  const size_t pool_mark = s->scratch.used;
  double* x = tribo_sol_take(s);
  memset(x, 0, sizeof(double) * (size_t)s->scaled.n);
  tribo_sol_newton(s, x, 1e-2, max_steps, max_bad);
  s->scratch.used = pool_mark;
}

static void newton_from(TriboSolver* s, const double* from, double eps, int max_steps, int max_bad) {
  const size_t pool_mark = s->scratch.used;
  double* x = tribo_sol_take(s);
  memcpy(x, from, sizeof(double) * (size_t)s->scaled.n);
  tribo_sol_newton(s, x, eps, max_steps, max_bad);
  s->scratch.used = pool_mark;
}

// the central path from near (x, z) of residual j, whose impulses are of size k
static void follow(TriboSolver* s, const double* x, const double* z, double j, double k, double power, int max_steps) {
  tribo_sol_path(
      s, &(TriboPath){.x = x, .z = z, .tau = k * clip(j, 1e-4, 1), .rho = k, .power = power, .max_steps = max_steps});
}

static void warm_path(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  double *z = tribo_sol_take(s), *u = tribo_sol_take(s);
  tribo_sol_velocity(s, s->warm_x, u);
  double j = tribo_sol_residual(s, s->warm_x, u);
  tribo_sol_shift(&s->scaled, s->warm_u, z);
  follow(s, s->warm_x, z, j, fmax(tribo_max_abs(s->warm_x, s->scaled.n), 1e-3), 1, WARM_STEPS);
  s->scratch.used = pool_mark;
}

// from nowhere: impulses and velocities along the axes of their cones
static void cold_path(TriboSolver* s, const Ladder* l) {
  const size_t pool_mark = s->scratch.used;
  double* zero = tribo_sol_take(s);
  memset(zero, 0, sizeof(double) * (size_t)s->scaled.n);
  follow(s, zero, zero, 1, 10 * l->k, 1.5, PATH_STEPS);
  s->scratch.used = pool_mark;
}

// Forty iterations of ADMM, or fewer, find the size of the impulses and most modes. Where they come closer quickly and
// cost little, as they do in the size of the motion, more of them save factorisations.
static void first(TriboSolver* s, Ladder* l) {
  const int n = s->scaled.n, cheap = s->scaled.problem->G_col == NULL;
  memset(l->y, 0, sizeof(double) * (size_t)n);
  memset(l->z, 0, sizeof(double) * (size_t)n);
  tribo_sol_admm(s, &(TriboAdmm){.y = l->y,
                                 .z = l->z,
                                 .omega = 1.6,
                                 .prox = 1e-6,
                                 .iterations = cheap ? 200 : 40,
                                 .sprint = cheap ? 20 : 0,
                                 .least = 39,
                                 .refactor = 2,
                                 .rule = 1,
                                 .enough = cheap ? 1e-5 : 1e-4});
  const size_t pool_mark = s->scratch.used;
  double* u = tribo_sol_take(s);
  tribo_sol_velocity(s, l->y, u);
  l->j = tribo_sol_residual(s, l->y, u);
  l->k = fmax(tribo_max_abs(l->y, n), 1e-3);
  s->scratch.used = pool_mark;
  if (l->j < 1e-2 && !tribo_sol_stop(s)) {
    newton_from(s, l->y, fmin(1e-4, l->j), 4, 0);
  }
}

static void interior(TriboSolver* s, const Ladder* l, double push, double fraction, int max_steps) {
  tribo_sol_interior(
      s, &(TriboInterior){.x = l->y, .z = l->z, .push = push, .k = l->k, .fraction = fraction, .max_steps = max_steps});
}

// a few hundred more from zero, without over-relaxation: where many light contacts share the load, as in piles, they
// find the modes that interior points miss
static void more(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used, bytes = sizeof(double) * (size_t)s->scaled.n;
  TriboAdmm a = {.y = tribo_sol_take(s),
                 .z = tribo_sol_take(s),
                 .omega = 1,
                 .prox = 1e-6,
                 .iterations = 300,
                 .refactor = 10,
                 .rule = 1,
                 .check = 10};
  memset(a.y, 0, bytes);
  memset(a.z, 0, bytes);
  tribo_sol_admm(s, &a);
  for (int from = 0; from < 2 && !tribo_sol_stop(s); ++from) {
    newton_from(s, from == 0 ? s->best : a.y, 1e-4, 12, 2);
  }
  s->scratch.used = pool_mark;
}

// segments of ADMM without over-relaxation, each followed by Newton and by interior points
static void long_first_order(TriboSolver* s, Ladder* l) {
  static const int segments[] = {1000, 1000, 2000, 3000, 3000};
  static const double pushes[] = {0.03, 0.003, 0.3};
  int n = s->scaled.n;
  TriboAdmm a = {.y = l->y, .z = l->z, .omega = 1, .prox = 1e-6, .refactor = 10, .rule = 1, .check = 10};
  memset(l->y, 0, sizeof(double) * (size_t)n);
  memset(l->z, 0, sizeof(double) * (size_t)n);
  for (int i = 0; i < 5 && !tribo_sol_stop(s); ++i) {
    a.iterations = segments[i];
    tribo_sol_admm(s, &a);
    l->k = fmax(tribo_max_abs(l->y, n), 1e-3);
    for (int from = 0; from < 2 && !tribo_sol_stop(s); ++from) {
      newton_from(s, from == 0 ? s->best : l->y, i == 0 ? 1e-4 : 1e-2, 12 + 6 * i, 2 + 4 * i);
    }
    for (int m = 0; m < 3 && !tribo_sol_stop(s); ++m) {
      interior(s, l, pushes[m], 0.95, 35);
    }
    a.refactor = 0;
    a.rho *= i % 2 ? 0.3 : 1;
  }
}

static void proximal(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  double* zero = tribo_sol_take(s);
  memset(zero, 0, sizeof(double) * (size_t)s->scaled.n);
  tribo_sol_proximal(s, zero, s->settings.automatic.level);
  s->scratch.used = pool_mark;
}

// what is near enough is levelled, where that is allowed, before more is tried
static void level(TriboSolver* s) {
  if (s->settings.automatic.level > 0 && !tribo_sol_stop(s)) {
    tribo_sol_level(s, s->settings.automatic.level, LEVEL_STEPS);
  }
}

// Newton's steps from the impulses of the step before, however short: they are the cheapest of all, and modes that turn
// back and forth for a while settle in the end. Among many contacts they set out from the best point so far, held to it
// the more the worse it is; where all are poor, as among bodies that fall on each other, the old impulses are first
// improved by ADMM, whose iterations cost little there.
static void warm_newton(TriboSolver* s, int max_steps) {
  const size_t pool_mark = s->scratch.used, bytes = sizeof(double) * (size_t)s->scaled.n;
  double *y = tribo_sol_take(s), *z = tribo_sol_take(s), eps = 1e-4;
  memcpy(y, s->warm_x, bytes);
  if (s->scaled.nround > MANY) {
    tribo_sol_velocity(s, s->best, z);
    const double j = tribo_sol_residual(s, s->best, z);
    if (j > POOR) {
      tribo_sol_shift(&s->scaled, s->warm_u, z);
      tribo_sol_admm(
          s,
          &(TriboAdmm){
              .y = y, .z = z, .omega = 1.6, .prox = 1e-6, .iterations = 100, .refactor = 2, .rule = 1, .enough = 1e-5});
    } else {
      memcpy(y, s->best, bytes);
      eps = clip(10 * j, 1e-8, 1e-4);
    }
  }
  newton_from(s, y, eps, max_steps, max_steps);
  s->scratch.used = pool_mark;
  level(s);
}

// enters a rung unless the solve is over
static int climb(TriboSolver* s, TriboRung rung) {
  if (tribo_sol_stop(s)) {
    return 0;
  }
  tribo_sol_enter_stage(s, rung);
  return 1;
}

// The rungs that start from the step before. The central path ends deep inside the cones, a better place for the next
// step to start from than where Newton ends; among many contacts it seldom gets to its end. Where there is no choice,
// as on most robots, a few damped steps of Newton come first.
static void climb_warm(TriboSolver* s, int small) {
  if (climb(s, TRIBO_RUNG_WARM)) {
    tribo_sol_warm_modes(s, small ? 2 : 1);
  }
  if (!small && climb(s, TRIBO_RUNG_WARM_NEWTON)) {
    warm_newton(s, 2 * NEWTON_STEPS);
  }
  if (small && tribo_sol_is_determined(s) && climb(s, TRIBO_RUNG_WARM_NEWTON)) {
    newton_from(s, s->warm_x, 0.1, FEW_STEPS, 2);
  }
  if (climb(s, TRIBO_RUNG_WARM_PATH)) {
    warm_path(s);
  }
  if (small && climb(s, TRIBO_RUNG_WARM_NEWTON)) {
    warm_newton(s, NEWTON_STEPS);
  }
}

void tribo_sol_run_auto(TriboSolver* s) {
  Ladder l = {.y = tribo_sol_take(s), .z = tribo_sol_take(s)};
  const int most = s->settings.automatic.max_factorisations, small = s->scaled.nround <= MANY;
  s->max_factorisations = small || most < USUAL ? most : USUAL;
  if (s->warm_x != NULL) {
    climb_warm(s, small);
  }
  if (s->scaled.nround <= TINY && climb(s, TRIBO_RUNG_NEWTON)) {
    newton_from_zero(s, 10, 0);
  }
  if (climb(s, TRIBO_RUNG_FIRST)) {
    first(s, &l);
  }
  if (climb(s, TRIBO_RUNG_NEAR)) {
    interior(s, &l, push_for(l.j), 0.95, 35);
  }
  if (climb(s, TRIBO_RUNG_MORE)) {
    more(s);
    level(s);
  }
  if (climb(s, TRIBO_RUNG_PATH)) {
    follow(s, l.y, l.z, l.j, l.k, 1, PATH_STEPS);
    level(s);
  }
  if (climb(s, TRIBO_RUNG_COLD_PATH)) {
    cold_path(s, &l);
    level(s);
  }
  if (climb(s, TRIBO_RUNG_LONG)) {
    long_first_order(s, &l);
    level(s);
  }
  if (small && climb(s, TRIBO_RUNG_PROXIMAL)) {
    proximal(s);
  }
  // a few factorisations more than there were to spend, if the best point is that near
  s->max_factorisations += LEVEL_STEPS;
  level(s);
}
