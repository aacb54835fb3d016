// SubADMM's penalty, and the method without the cut, for comparison (subadmm.c).
//
// With `split: none` there is one system for the whole motion, and one copy z of every velocity: the method that (28)
// of the paper begins with. It is written with W,
//
//     u = J (M + Jᵀ β J)⁻¹ Jᵀ (β z + λ) = z + (λ − y)/β,     y = (W + 1/β)⁻¹ (z + λ/β)
//
// and so serves a problem that is given by W, too, which has no subsystems.
#include <math.h>
#include <string.h>

#include "math3.h"
#include "subadmm.h"

enum { S = TRIBO_CONE_ROWS };
static const double UNEQUAL = 5;  // (43)
// -lg of the paper's residual after 100 iterations, with β = 1, 3, 10, 30, 100: two heaps of
// Laikagos 4.6, 4.8, 5.0, 5.0, 4.8 and 4.6, 4.7, 5.2, 4.6, 4.5; 50 boxes 14, 15, 16, 14, 16; a
// hand 10.3, 10.1, 10.0, 9.6, 9.1; Talos 6.6, 6.8, 5.5, 5.3, 4.8.
static const double FIRST_BETA = 10;

// ---- β

// Geometric mean of the mass per contact on a subsystem (section VI-D).
static double mass_per_contact(const TriboScaled* sc) {
  const TriboProblem* p = sc->problem;
  double sum = 0;
  int count = 0;
  for (int b = 0; b < p->nblock; ++b) {
    const int n = p->block_dim[b], axes = n < 3 ? n : 3;
    int contacts = 0;
    double mass = 0;
    for (int c = 0; c < p->ncone; ++c) {
      for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
        contacts += p->term_block[t] == b && sc->cone[c].round;
      }
    }
    for (int i = 0; i < axes; ++i) {
      mass += p->mass[p->block_at[b] + (size_t)(i * (n + 1))] / axes;
    }
    sum += contacts > 0 ? log(mass / contacts) : 0;
    count += contacts > 0;
  }
  return count > 0 ? exp(sum / count) : 1;
}

double tribo_sol_first_beta(const TriboSolver* s) {
  const TriboSubadmmSettings* set = &s->settings.subadmm;
  if (s->penalty > 0 || set->beta > 0) {
    return s->penalty > 0 ? s->penalty : set->beta;
  }
  if (set->scaling) {
    return FIRST_BETA;
  }
  return s->scaled.problem->G_col != NULL ? 1 / s->scaled.mean : mass_per_contact(&s->scaled);
}

// f of a cone for β = 1
double tribo_sol_unit_factor(const TriboSolver* s, const TriboScaledCone* k) {
  return s->settings.subadmm.scaling ? 1 : 1 / s->scaled.s[k->row + k->dim - 1];
}

// by which to multiply β (43); 1: it stays
double tribo_sol_step_of_beta(const double* sum) {
  const double primal = sqrt(sum[0] / fmax(fmax(sum[1], sum[2]), 1e-300));
  const double dual = sqrt(sum[3] / fmax(sum[4], 1e-300));
  if (!(primal > UNEQUAL * dual || dual > UNEQUAL * primal)) {
    return 1;
  }
  return tribo_clamp(sqrt(primal / fmax(dual, 1e-300)), 0.1, 10);
}

// ---- one system for all

typedef struct Whole {
  double *x, *z, *u;  // (n) λ, the copy, J w
  double *b, *y;      // (n) scratch
  double* beta;       // (n) of a row's cone
} Whole;

// Factors of W + 1/β; 1 when a pivot broke down.
static int factor_whole(TriboSolver* s, Whole* a, double beta) {
  for (int c = 0; c < s->scaled.ncone; ++c) {
    const TriboScaledCone* k = &s->scaled.cone[c];
    TriboLocal* l = &s->system.local[c];
    const double f = tribo_sol_unit_factor(s, k);
    l->k = k->dim;
    l->identity = l->symmetric = 1;
    memset(l->C, 0, sizeof l->C);
    for (int i = 0; i < k->dim; ++i) {
      a->beta[k->row + i] = beta * f * f;
      l->C[(S + 1) * i] = 1 / a->beta[k->row + i];
    }
  }
  return tribo_sol_system_factor(&s->system);
}

// One iteration, and the sums for the residuals.
static void iterate_whole(TriboSolver* s, Whole* a, double omega, double* sum) {
  const TriboScaled* sc = &s->scaled;
  const double* beta = a->beta;
  for (int i = 0; i < sc->n; ++i) {
    a->b[i] = a->z[i] + a->x[i] / beta[i];
  }
  tribo_sol_system_solve(&s->system, a->b, a->y, 0);
  for (int i = 0; i < sc->n; ++i) {
    a->u[i] = a->b[i] - a->y[i] / beta[i];
    a->y[i] = beta[i] * (omega * a->u[i] + (1 - omega) * a->z[i]) - a->x[i];
    a->b[i] = -(a->y[i] + beta[i] * sc->q[i]);
  }
  tribo_sol_alart_curnier(sc, a->b, a->x);
  memset(sum, 0, sizeof(double) * TRIBO_ADMM_SUMS);
  for (int i = 0; i < sc->n; ++i) {
    const double z = (a->y[i] + a->x[i]) / beta[i];
    sum[0] += beta[i] * (a->u[i] - z) * (a->u[i] - z);
    sum[1] += beta[i] * a->u[i] * a->u[i];
    sum[2] += beta[i] * z * z;
    sum[3] += beta[i] * (z - a->z[i]) * (z - a->z[i]);
    sum[4] += a->x[i] * a->x[i] / beta[i];
    a->z[i] = z;
  }
}

void tribo_sol_run_whole(TriboSolver* s) {
  const TriboSubadmmSettings* set = &s->settings.subadmm;
  const size_t pool_mark = s->scratch.used, bytes = sizeof(double) * (size_t)s->scaled.n;
  Whole a = {tribo_sol_take(s), tribo_sol_take(s), tribo_sol_take(s),
             tribo_sol_take(s), tribo_sol_take(s), tribo_sol_take(s)};
  double beta = tribo_sol_first_beta(s);
  int changes = 0;
  memset(a.x, 0, bytes);
  memset(a.z, 0, bytes);
  if (tribo_sol_warm_is_better(s)) {
    memcpy(a.x, s->warm_x, bytes);
    tribo_sol_apply(&s->scaled, a.x, a.z);
  }
  int failed = tribo_sol_done(s) || factor_whole(s, &a, beta);
  while (!failed && (s->iterations % TRIBO_ADAPT_EVERY != 0 || !tribo_sol_stop(s))) {
    double sum[TRIBO_ADMM_SUMS];
    iterate_whole(s, &a, set->over_relaxation, sum);
    const int it = ++s->iterations, is_last = it >= set->max_iterations;
    if (is_last || (set->check_every > 0 && it % set->check_every == 0)) {
      tribo_sol_velocity(s, a.x, a.u);
      tribo_sol_record(s, a.x, a.u);
      failed = is_last || tribo_sol_done(s);
    }
    const int is_due = it % TRIBO_ADAPT_EVERY == 0 && set->adapt && changes < TRIBO_BETA_CHANGES && !failed;
    const double step = is_due ? tribo_sol_step_of_beta(sum) : 1;
    if (step != 1) {
      beta *= step;
      changes++;
      failed = factor_whole(s, &a, beta);
    }
  }
  s->penalty = beta;
  s->scratch.used = pool_mark;
}
