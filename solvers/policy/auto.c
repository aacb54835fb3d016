// `auto`: stages, cheapest and likeliest first, each from the points that the ones before have found. Newton ends
// almost every solve; the stages differ in where they start it from. A stage that cannot solve the problem leaves its
// best point, and the best of all is returned.
#include <math.h>
#include <string.h>

#include "policy.h"

enum {
  TINY_CONTACTS = 16,           // contacts up to which Newton from zero comes before ADMM
  MANY_CONTACTS = 200,          // contacts up to which paths mostly end and proximal points can be afforded
  USUAL_FACTORISATIONS = 1000,  // budget beyond that number of contacts
  WARM_STEPS = 60,              // along a central path from the warm start; most paths end within 40,
  PATH_STEPS = 200,             // some turn many times
  NEWTON_STEPS = 60,
  DAMPED_STEPS = 15,  // of Newton with a large ε, where the modes leave no choice of impulses
  RELAX_STEPS = 60    // of Newton while inconsistent normal rows are relaxed
};

static const double POOR_RESIDUAL = 0.03;  // residual of a point that is no good start for Newton

// Where ADMM ended, from which other stages start.
typedef struct AdmmPoint {
  double *y, *z;    // (n) impulses in K, estimate of σ̂
  double residual;  // of y, relative (tribo_sol_residual)
  double size;      // largest impulse
} AdmmPoint;

// x between lo and hi; not a number becomes lo
static double clip(double x, double lo, double hi) {
  return fmin(fmax(x, lo), hi);
}

// push of an interior point's start from an estimate of residual j: the better that is, the less
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

// The central path from near (x, z) of residual j, whose impulses are of size k.
static void follow_path(TriboSolver* s, const double* x, const double* z, double j, double k, double power,
                        int max_steps) {
  tribo_sol_path(
      s, &(TriboPath){.x = x, .z = z, .tau = k * clip(j, 1e-4, 1), .rho = k, .power = power, .max_steps = max_steps});
}

static void warm_path(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  double *z = tribo_sol_take(s), *u = tribo_sol_take(s);
  tribo_sol_velocity(s, s->warm_x, u);
  double j = tribo_sol_residual(s, s->warm_x, u);
  tribo_sol_shift(&s->scaled, s->warm_u, z);
  follow_path(s, s->warm_x, z, j, fmax(tribo_max_abs(s->warm_x, s->scaled.n), 1e-3), 1, WARM_STEPS);
  s->scratch.used = pool_mark;
}

// the central path from impulses and velocities along the axes of their cones
static void cold_path(TriboSolver* s, const AdmmPoint* l) {
  const size_t pool_mark = s->scratch.used;
  double* zero = tribo_sol_take(s);
  memset(zero, 0, sizeof(double) * (size_t)s->scaled.n);
  follow_path(s, zero, zero, 1, 10 * l->size, 1.5, PATH_STEPS);
  s->scratch.used = pool_mark;
}

// Forty iterations of ADMM, or fewer, find the size of the impulses and most modes. Where they come closer quickly and
// cost little, as they do in the size of the motion, more of them save factorisations.
static void admm_newton(TriboSolver* s, AdmmPoint* l) {
  const int n = s->scaled.n, cheap = s->scaled.problem->G_col == NULL;
  memset(l->y, 0, sizeof(double) * (size_t)n);
  memset(l->z, 0, sizeof(double) * (size_t)n);
  tribo_sol_admm(s, &(TriboAdmm){.y = l->y,
                                 .z = l->z,
                                 .omega = 1.6,
                                 .prox = 1e-6,
                                 .iterations = cheap ? 200 : 40,
                                 .progress_every = cheap ? 20 : 0,
                                 .min_iterations = 39,
                                 .max_rho_changes = 2,
                                 .rho_rule = 1,
                                 .tolerance = cheap ? 1e-5 : 1e-4});
  const size_t pool_mark = s->scratch.used;
  double* u = tribo_sol_take(s);
  tribo_sol_velocity(s, l->y, u);
  l->residual = tribo_sol_residual(s, l->y, u);
  l->size = fmax(tribo_max_abs(l->y, n), 1e-3);
  s->scratch.used = pool_mark;
  if (l->residual < 1e-2 && !tribo_sol_stop(s)) {
    newton_from(s, l->y, fmin(1e-4, l->residual), 4, 0);
  }
}

static void interior(TriboSolver* s, const AdmmPoint* l, double push, double fraction, int max_steps) {
  tribo_sol_interior(
      s, &(TriboInterior){
             .x = l->y, .z = l->z, .push = push, .size = l->size, .fraction = fraction, .max_steps = max_steps});
}

// A few hundred iterations of ADMM from zero, without over-relaxation: where many light contacts share the load, as in
// piles, they find the modes that interior points miss.
static void admm_long_newton(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used, bytes = sizeof(double) * (size_t)s->scaled.n;
  TriboAdmm a = {.y = tribo_sol_take(s),
                 .z = tribo_sol_take(s),
                 .omega = 1,
                 .prox = 1e-6,
                 .iterations = 300,
                 .max_rho_changes = 10,
                 .rho_rule = 1,
                 .check_every = 10};
  memset(a.y, 0, bytes);
  memset(a.z, 0, bytes);
  tribo_sol_admm(s, &a);
  for (int from = 0; from < 2 && !tribo_sol_stop(s); ++from) {
    newton_from(s, from == 0 ? s->best : a.y, 1e-4, 12, 2);
  }
  s->scratch.used = pool_mark;
}

// Thousands of iterations of ADMM without over-relaxation, in segments, each followed by Newton and interior points.
static void admm_ipm_newton(TriboSolver* s, AdmmPoint* l) {
  static const int segments[] = {1000, 1000, 2000, 3000, 3000};
  static const double pushes[] = {0.03, 0.003, 0.3};
  int n = s->scaled.n;
  TriboAdmm a = {
      .y = l->y, .z = l->z, .omega = 1, .prox = 1e-6, .max_rho_changes = 10, .rho_rule = 1, .check_every = 10};
  memset(l->y, 0, sizeof(double) * (size_t)n);
  memset(l->z, 0, sizeof(double) * (size_t)n);
  for (int i = 0; i < 5 && !tribo_sol_stop(s); ++i) {
    a.iterations = segments[i];
    tribo_sol_admm(s, &a);
    l->size = fmax(tribo_max_abs(l->y, n), 1e-3);
    for (int from = 0; from < 2 && !tribo_sol_stop(s); ++from) {
      newton_from(s, from == 0 ? s->best : l->y, i == 0 ? 1e-4 : 1e-2, 12 + 6 * i, 2 + 4 * i);
    }
    for (int m = 0; m < 3 && !tribo_sol_stop(s); ++m) {
      interior(s, l, pushes[m], 0.95, 35);
    }
    a.max_rho_changes = 0;
    a.rho *= i % 2 ? 0.3 : 1;
  }
}

static void proximal(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  double* zero = tribo_sol_take(s);
  memset(zero, 0, sizeof(double) * (size_t)s->scaled.n);
  tribo_sol_proximal(s, zero, s->settings.automatic.relax_inconsistent_normals);
  s->scratch.used = pool_mark;
}

// Relaxes inconsistent normal rows, where the settings allow that and the best point is near enough.
static void relax_normals(TriboSolver* s) {
  if (s->settings.automatic.relax_inconsistent_normals > 0 && !tribo_sol_stop(s)) {
    tribo_sol_relax_inconsistent_normals(s, s->settings.automatic.relax_inconsistent_normals, RELAX_STEPS);
  }
}

// Newton's steps from the impulses of the step before, however short: they are the cheapest of all, and modes that turn
// back and forth for a while stop in the end. Among many contacts they set out from the best point so far, held to it
// the more the worse it is; where all are poor, as among bodies that fall on each other, the old impulses are first
// improved by ADMM, whose iterations cost little there.
static void warm_newton(TriboSolver* s, int max_steps) {
  const size_t pool_mark = s->scratch.used, bytes = sizeof(double) * (size_t)s->scaled.n;
  double *y = tribo_sol_take(s), *z = tribo_sol_take(s), eps = 1e-4;
  memcpy(y, s->warm_x, bytes);
  if (s->scaled.nround > MANY_CONTACTS) {
    tribo_sol_velocity(s, s->best, z);
    const double j = tribo_sol_residual(s, s->best, z);
    if (j > POOR_RESIDUAL) {
      tribo_sol_shift(&s->scaled, s->warm_u, z);
      tribo_sol_admm(s, &(TriboAdmm){.y = y,
                                     .z = z,
                                     .omega = 1.6,
                                     .prox = 1e-6,
                                     .iterations = 100,
                                     .max_rho_changes = 2,
                                     .rho_rule = 1,
                                     .tolerance = 1e-5});
    } else {
      memcpy(y, s->best, bytes);
      eps = clip(10 * j, 1e-8, 1e-4);
    }
  }
  newton_from(s, y, eps, max_steps, max_steps);
  s->scratch.used = pool_mark;
  relax_normals(s);
}

// Begins a stage unless the solve is over.
static int begin_stage(TriboSolver* s, TriboRung rung) {
  if (tribo_sol_stop(s)) {
    return 0;
  }
  tribo_sol_enter_stage(s, rung);
  return 1;
}

// The stages that start from the step before. The central path ends deep inside the cones, a better place for the next
// step to start from than where Newton ends; among many contacts it seldom gets to its end. Where there is no choice,
// as on most robots, a few damped steps of Newton come first.
static void run_warm_stages(TriboSolver* s, int small) {
  if (begin_stage(s, TRIBO_RUNG_WARM)) {
    tribo_sol_warm_modes(s, small ? 2 : 1);
  }
  if (!small && begin_stage(s, TRIBO_RUNG_NEWTON_WARM)) {
    warm_newton(s, 2 * NEWTON_STEPS);
  }
  if (small && tribo_sol_is_determined(s) && begin_stage(s, TRIBO_RUNG_NEWTON_WARM)) {
    newton_from(s, s->warm_x, 0.1, DAMPED_STEPS, 2);
  }
  if (begin_stage(s, TRIBO_RUNG_PATH_WARM)) {
    warm_path(s);
  }
  if (small && begin_stage(s, TRIBO_RUNG_NEWTON_WARM)) {
    warm_newton(s, NEWTON_STEPS);
  }
}

void tribo_sol_run_auto(TriboSolver* s) {
  AdmmPoint l = {.y = tribo_sol_take(s), .z = tribo_sol_take(s)};
  const int most = s->settings.automatic.max_factorisations, small = s->scaled.nround <= MANY_CONTACTS;
  s->max_factorisations = small || most < USUAL_FACTORISATIONS ? most : USUAL_FACTORISATIONS;
  if (s->warm_x != NULL) {
    run_warm_stages(s, small);
  }
  if (s->scaled.nround <= TINY_CONTACTS && begin_stage(s, TRIBO_RUNG_NEWTON)) {
    newton_from_zero(s, 10, 0);
  }
  if (begin_stage(s, TRIBO_RUNG_ADMM_NEWTON)) {
    admm_newton(s, &l);
  }
  if (begin_stage(s, TRIBO_RUNG_IPM_ADMM)) {
    interior(s, &l, push_for(l.residual), 0.95, 35);
  }
  if (begin_stage(s, TRIBO_RUNG_ADMM_LONG_NEWTON)) {
    admm_long_newton(s);
    relax_normals(s);
  }
  if (begin_stage(s, TRIBO_RUNG_PATH)) {
    follow_path(s, l.y, l.z, l.residual, l.size, 1, PATH_STEPS);
    relax_normals(s);
  }
  if (begin_stage(s, TRIBO_RUNG_PATH_COLD)) {
    cold_path(s, &l);
    relax_normals(s);
  }
  if (begin_stage(s, TRIBO_RUNG_ADMM_IPM_NEWTON)) {
    admm_ipm_newton(s, &l);
    relax_normals(s);
  }
  if (small && begin_stage(s, TRIBO_RUNG_PROXIMAL)) {
    proximal(s);
  }
  // a few factorisations more than there were to spend, if the best point is that near
  s->max_factorisations += RELAX_STEPS;
  relax_normals(s);
}
