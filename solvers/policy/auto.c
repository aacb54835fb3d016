// `auto`: one method, proximal points, and one fallback, an interior point, from whose best point they set out once
// more. Between them they solve what robots and free bodies ask for. Among masses 1 : 1e4 they miss 1 problem of 100:
// there Newton on the natural map comes to an end, or the central path, whose folds are followed from the old impulses
// and from the axes of the cones. docs/solver-policy.md has the measurements.
//
// The aim is the tolerance. A stage that comes no nearer is left, and where its best point is as good as `accept` asks,
// the solve ends with it.
#include <math.h>
#include <string.h>

#include "math3.h"
#include "policy.h"

enum {
  WARM_FACTORISATIONS = 40,  // of proximal points from old impulses: 25 … 60 solve the same problems,
  COLD_FACTORISATIONS = 15,  // from ADMM's, where the interior point is as likely to find the answer,
  NEAR_FACTORISATIONS = 60,  // and from the best point of another stage
  INTERIOR_STEPS = 40,
  NEWTON_STEPS = 60,
  PATH_STEPS = 60,       // most paths end within 40
  LONG_PATH_STEPS = 200  // some turn many times
};
// ε of proximal points: from the impulses of the step before (1e-4 … 1e-8 cost within a tenth of each other on robots;
// 1e-4 takes five factorisations among masses 1 : 100, 1e-6 one), from ADMM's, and from another stage's.
static const double WARM_EPS = 1e-6, COLD_EPS = 1e-2, NEAR_EPS = 1e-3;
// Old impulses that solve the problem nearly as well as asked know its modes; one factorisation is to do the rest,
// where there are no factors at hand.
static const double FINE_EPS = 1e-9;
static const double NEWTON_EPS = 1e-4;
// What is spent at most where no one says, in factorisations with all rows: 400 solve what no end solves, of 522
// generated problems, 54 robot files and piles, and end earlier where nothing does; 200 lose one of the 522.
static const double EFFORT = 400;

// Begins a stage unless the solve is over.
static int begin_stage(TriboSolver* s, TriboRung rung) {
  if (tribo_sol_stop(s) || s->best_score.nat <= s->settings.automatic.accept) {
    return 0;
  }
  tribo_sol_enter_stage(s, rung);
  return 1;
}

// The start of the step before. Cones that it does not know have the velocities that the other impulses make of them.
static void warm_start(TriboSolver* s, double* x, double* u) {
  const TriboScaled* sc = &s->scaled;
  memcpy(x, s->warm_x, sizeof(double) * (size_t)sc->n);
  tribo_sol_velocity(s, x, u);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (s->warm_known == NULL || s->warm_known[c]) {
      memcpy(u + k->row, s->warm_u + k->row, sizeof(double) * (size_t)k->dim);
    }
  }
}

// What to start from where there are no old impulses, or where these are no help, as those of bodies that fall on each
// other: from them or from nothing, forty iterations of ADMM find the size of the impulses and most modes.
typedef struct AdmmPoint {
  double *y, *z;  // (n) impulses in K, estimate of σ̂
} AdmmPoint;

static void find_admm_point(TriboSolver* s, AdmmPoint* point) {
  const size_t bytes = sizeof(double) * (size_t)s->scaled.n;
  *point = (AdmmPoint){tribo_sol_take(s), tribo_sol_take(s)};
  if (s->warm_x != NULL) {
    memcpy(point->y, s->warm_x, bytes);
    tribo_sol_shift(&s->scaled, s->warm_u, point->z);
  } else {
    memset(point->y, 0, bytes);
    memset(point->z, 0, bytes);
  }
  tribo_sol_admm(s, &(TriboAdmm){.y = point->y,
                                 .z = point->z,
                                 .omega = 1.6,
                                 .prox = 1e-6,
                                 .iterations = 40,
                                 .max_rho_changes = 2,
                                 .rho_rule = 1,
                                 .tolerance = 1e-4});
}

// z less De Saxcé's term
static void velocity_of_point(const TriboScaled* sc, const AdmmPoint* point, double* u) {
  memcpy(u, point->z, sizeof(double) * (size_t)sc->n);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (k->round) {
      u[k->row + k->dim - 1] -= k->mu * tribo_norm(u + k->row, k->dim - 1);
    }
  }
}

// 1 from these three: the points drift, as rows that contradict each other make them.
static int warm_proximal(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  double *x = tribo_sol_take(s), *u = tribo_sol_take(s);
  warm_start(s, x, u);
  const int drifts =
      tribo_sol_proximal(s, &(TriboProximal){.x = x,
                                             .u = u,
                                             .eps = s->warm_value <= 1 && s->kept_factors == 0 ? FINE_EPS : WARM_EPS,
                                             .in_proportion = 1,
                                             .max_factorisations = WARM_FACTORISATIONS,
                                             .accept = s->settings.automatic.accept});
  s->scratch.used = pool_mark;
  return drifts;
}

static int cold_proximal(TriboSolver* s, const AdmmPoint* point) {
  const size_t pool_mark = s->scratch.used;
  double* u = tribo_sol_take(s);
  velocity_of_point(&s->scaled, point, u);
  const int drifts = tribo_sol_proximal(s, &(TriboProximal){.x = point->y,
                                                            .u = u,
                                                            .eps = COLD_EPS,
                                                            .max_factorisations = COLD_FACTORISATIONS,
                                                            .accept = s->settings.automatic.accept});
  s->scratch.used = pool_mark;
  return drifts;
}

// from the best point of another stage
static int near_proximal(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  double *x = tribo_sol_take(s), *u = tribo_sol_take(s);
  memcpy(x, s->best, sizeof(double) * (size_t)s->scaled.n);
  tribo_sol_velocity(s, x, u);
  const int drifts = tribo_sol_proximal(s, &(TriboProximal){.x = x,
                                                            .u = u,
                                                            .eps = NEAR_EPS,
                                                            .max_factorisations = NEAR_FACTORISATIONS,
                                                            .accept = s->settings.automatic.accept});
  s->scratch.used = pool_mark;
  return drifts;
}

// The interior point from near ADMM's answer: the better that is, the less it is pushed inside.
static void interior_from_point(TriboSolver* s, const AdmmPoint* point) {
  const size_t pool_mark = s->scratch.used;
  double* u = tribo_sol_take(s);
  tribo_sol_velocity(s, point->y, u);
  const double residual = tribo_sol_residual(s, point->y, u);
  tribo_sol_interior(s, &(TriboInterior){.x = point->y,
                                         .z = point->z,
                                         .push = tribo_clamp(3 * residual, 0.01, 0.3),
                                         .size = fmax(tribo_max_abs(point->y, s->scaled.n), 1e-3),
                                         .fraction = 0.95,
                                         .max_steps = INTERIOR_STEPS});
  s->scratch.used = pool_mark;
}

// The interior point from the axes of the cones, at the height of impulses that would stop all contacts.
static void interior_from_axes(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  double* x = tribo_sol_take(s);
  TriboInterior start = {.fraction = 0.95, .max_steps = INTERIOR_STEPS, .cold = 1};
  if (tribo_sol_system_factor_shifted(&s->system, 1e-3) == 0) {
    tribo_sol_system_solve(&s->system, s->scaled.q, x, 0);
    start.cold = fmax(tribo_max_abs(x, s->scaled.n), 1e-3);
  }
  tribo_sol_interior(s, &start);
  s->scratch.used = pool_mark;
}

// The central path from the impulses of the step before, or from the best point where there are none.
static void path_from_start(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  const double* x = s->warm_x != NULL ? s->warm_x : s->best;
  double *from = tribo_sol_take(s), *u = tribo_sol_take(s), *z = tribo_sol_take(s);
  memcpy(from, x, sizeof(double) * (size_t)s->scaled.n);
  tribo_sol_velocity(s, from, u);
  const double residual = tribo_sol_residual(s, from, u), size = fmax(tribo_max_abs(from, s->scaled.n), 1e-3);
  tribo_sol_shift(&s->scaled, s->warm_x != NULL ? s->warm_u : u, z);
  tribo_sol_path(s, &(TriboPath){.x = from,
                                 .z = z,
                                 .tau = size * tribo_clamp(residual, 1e-4, 1),
                                 .rho = size,
                                 .power = 1,
                                 .max_steps = PATH_STEPS});
  s->scratch.used = pool_mark;
}

static void path_from_axes(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  double* zero = tribo_sol_take(s);
  memset(zero, 0, sizeof(double) * (size_t)s->scaled.n);
  const double size = 10 * fmax(tribo_max_abs(s->best, s->scaled.n), 1e-3);
  tribo_sol_path(
      s, &(TriboPath){.x = zero, .z = zero, .tau = size, .rho = size, .power = 1.5, .max_steps = LONG_PATH_STEPS});
  s->scratch.used = pool_mark;
}

// Newton on the natural map from the impulses of the step before, however short its steps: modes that turn back and
// forth for a while stop in the end.
static void newton_from_old(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  double* x = tribo_sol_take(s);
  memcpy(x, s->warm_x, sizeof(double) * (size_t)s->scaled.n);
  tribo_sol_newton(s, x, NEWTON_EPS, NEWTON_STEPS, NEWTON_STEPS);
  s->scratch.used = pool_mark;
}

// Rows that contradict each other have no answer: that of the problem with the least relaxation of rows.
static int relax(TriboSolver* s) {
  const int tried = s->rungs_tried >> TRIBO_RUNG_RELAXED & 1;
  if (tried || !s->settings.automatic.relax || !begin_stage(s, TRIBO_RUNG_RELAXED) || !tribo_sol_relax(s)) {
    return 0;
  }
  if (!tribo_sol_stop(s)) {
    near_proximal(s);
  }
  return 1;
}

void tribo_sol_run_auto(TriboSolver* s) {
  static const struct {
    TriboRung rung;
    void (*run)(TriboSolver*);
    int is_warm;  // 1: from old impulses alone
  } fallbacks[] = {{TRIBO_RUNG_IPM_COLD, interior_from_axes, 0},
                   {TRIBO_RUNG_NEWTON_WARM, newton_from_old, 1},
                   {TRIBO_RUNG_PATH, path_from_start, 0},
                   {TRIBO_RUNG_PATH_COLD, path_from_axes, 0}};
  tribo_sol_bound_effort(s, EFFORT);
  // what all fail at may have no answer: a tenth is kept for finding that out
  const double most_effort = s->most_effort;
  s->most_effort *= 0.9;
  tribo_sol_enter_stage(s, TRIBO_RUNG_PROXIMAL);
  if (s->warm_x != NULL && warm_proximal(s) && relax(s)) {
    return;
  }
  if (begin_stage(s, TRIBO_RUNG_PROXIMAL)) {
    AdmmPoint point;
    find_admm_point(s, &point);
    if (cold_proximal(s, &point) && relax(s)) {
      return;
    }
    if (begin_stage(s, TRIBO_RUNG_IPM_ADMM)) {
      interior_from_point(s, &point);
    }
  }
  for (size_t i = 0; i < sizeof fallbacks / sizeof fallbacks[0]; ++i) {
    if (fallbacks[i].is_warm && s->warm_x == NULL) {
      continue;
    }
    if (begin_stage(s, fallbacks[i].rung)) {
      fallbacks[i].run(s);
    }
    if (begin_stage(s, TRIBO_RUNG_PROXIMAL) && near_proximal(s) && relax(s)) {
      return;
    }
  }
  s->most_effort = most_effort;
  relax(s);
}
