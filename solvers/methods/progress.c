// The progress of a solve (progress.h): scores, the best point, the budget, the work of each stage.
#include "progress.h"

#include <math.h>
#include <string.h>

#include "timer.h"

void tribo_sol_velocity(const TriboSolver* s, const double* x, double* u) {
  tribo_sol_apply(&s->scaled, x, u);
  for (int i = 0; i < s->scaled.n; ++i) {
    u[i] += s->scaled.q[i];
  }
}

int tribo_sol_done(const TriboSolver* s) {
  return s->best_score.value <= 1;
}

int tribo_sol_stop(TriboSolver* s) {
  s->timed_out = s->timed_out || (s->deadline > 0 && tribo_now() >= s->deadline);
  return tribo_sol_done(s) || s->timed_out || s->iterations >= s->settings.common.max_iterations ||
         s->effort >= s->most_effort || s->scratch.status != TRIBO_OK;
}

void tribo_sol_bound_effort(TriboSolver* s, double factorisations) {
  if (s->settings.common.effort == 0) {
    s->most_effort = factorisations * tribo_sol_system_effort(&s->system);
  }
}

// (all that has been done, less what the other stages are charged with)
void tribo_sol_charge_stage(TriboSolver* s) {
  TriboRungWork* own = &s->by_rung[s->rung];
  own->iterations = s->iterations;
  own->factorisations = s->system.factorisations;
  for (int i = 0; i < TRIBO_RUNG_COUNT; ++i) {
    own->iterations -= i != (int)s->rung ? s->by_rung[i].iterations : 0;
    own->factorisations -= i != (int)s->rung ? s->by_rung[i].factorisations : 0;
  }
}

void tribo_sol_enter_stage(TriboSolver* s, TriboRung rung) {
  tribo_sol_charge_stage(s);
  s->rung = rung;
  s->rungs_tried |= 1u << rung;
}

TriboScore tribo_sol_score_point(const TriboSolver* s, const double* x, const double* u) {
  const TriboScaled* sc = &s->scaled;
  TriboTally tally = {.mean = sc->mean, .relaxed = s->relaxed, .has_unit = s->has_unit};
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    const TriboCone* raw = &sc->problem->cones[c];
    double lambda[TRIBO_CONE_ROWS] = {0}, sigma[TRIBO_CONE_ROWS] = {0};
    for (int i = k->row; i < k->row + k->dim; ++i) {
      lambda[sc->source[i] - raw->row] = sc->g * sc->s[i] * x[i];
      sigma[sc->source[i] - raw->row] = sc->g * u[i] / sc->s[i];
    }
    tribo_sol_tally(&tally, raw, k->mean, lambda, sigma);
  }
  return tribo_sol_score(&tally, sc->norm_g, s->settings.common.tol, s->settings.common.whole);
}

// the same with u from J and M⁻¹ instead of W (delassus.c)
static TriboScore score_raw(TriboSolver* s, const double* x) {
  const size_t pool_mark = s->scratch.used;
  double* u = tribo_sol_take(s);
  tribo_sol_apply_raw(&s->scaled, x, u);
  for (int i = 0; i < s->scaled.n; ++i) {
    u[i] += s->scaled.q[i];
  }
  s->scratch.used = pool_mark;
  return tribo_sol_score_point(s, x, u);
}

TriboScore tribo_sol_record(TriboSolver* s, const double* x, const double* u) {
  TriboScore score = tribo_sol_score_point(s, x, u);
  if (score.value <= 1 && s->scaled.has_W && s->scaled.W_is_cheaper) {
    score = score_raw(s, x);
    s->scaled.W_is_cheaper = score.value <= 1;
  }
  if (score.value < s->best_score.value || s->keep_last) {
    s->best_score = score;
    s->best_rung = s->rung;
    memcpy(s->best, x, sizeof(double) * (size_t)s->scaled.n);
  }
  if (s->history != NULL) {
    s->history(s->iterations, s->rung, score.nat, score.unit, s->history_user);
  }
  return score;
}

double tribo_sol_residual(TriboSolver* s, const double* x, const double* u) {
  const TriboScaled* sc = &s->scaled;
  const size_t pool_mark = s->scratch.used;
  double* f = tribo_sol_take(s);
  tribo_sol_record(s, x, u);
  for (int i = 0; i < sc->n; ++i) {
    f[i] = x[i] - u[i];
  }
  tribo_sol_alart_curnier(sc, f, f);
  for (int i = 0; i < sc->n; ++i) {
    f[i] = x[i] - f[i];
  }
  double size = fmax(tribo_norm(sc->q, sc->n), fmax(tribo_norm(x, sc->n), tribo_norm(u, sc->n)));
  s->scratch.used = pool_mark;
  return size > 0 ? tribo_norm(f, sc->n) / size : 0;
}

int tribo_sol_warm_is_better(TriboSolver* s) {
  if (s->warm_x == NULL) {
    return 0;
  }
  double zero = s->best_score.value;
  const size_t pool_mark = s->scratch.used;
  double* u = tribo_sol_take(s);
  tribo_sol_velocity(s, s->warm_x, u);
  double warm = tribo_sol_record(s, s->warm_x, u).value;
  s->scratch.used = pool_mark;
  return warm < zero;
}
