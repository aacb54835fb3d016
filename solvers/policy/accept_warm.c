// Early acceptance of the warm start: the impulses of the step before are scored in problem units, before anything is
// scaled or factorised. Of bodies at rest or in steady sliding they solve the new problem as well.
//
// They are accepted where they do so far better than asked, so that no error is handed on from step to step. Contacts
// that an earlier step has improved come to rest only with the next step, so their normal speed may not have jumped
// either. Impulses of the same step, of a problem that has another g since, need only solve it.
#include <math.h>
#include <string.h>

#include "policy.h"

static const double ACCEPT = 0.01;  // fraction of the tolerance up to which the impulses are accepted
static const double JUMP = 4;       // factor by which the normal speed of loaded contacts may have grown

// Copies the impulses of the warm start to `lambda`, 0 for unknown cones and along directions without friction. Returns
// the number of known cones.
static int copy_known_impulses(const TriboProblem* p, const TriboWarmStart* warm, double* lambda) {
  int known = 0;
  memmove(lambda, warm->lambda, sizeof(double) * (size_t)p->nrow);
  for (int c = 0; c < p->ncone; ++c) {
    const TriboCone* k = &p->cones[c];
    const int old = warm->known == NULL || warm->known[c];
    known += old;
    for (int i = 0; i < k->dim; ++i) {
      if (!old || (k->kind == TRIBO_CONE_FRICTION && i < k->dim - 1 && k->mu[i] == 0)) {
        lambda[k->row + i] = 0;
      }
    }
  }
  return known;
}

static int has_friction(const TriboCone* k) {
  if (k->kind != TRIBO_CONE_FRICTION) {
    return 0;
  }
  for (int i = 0; i < k->dim - 1; ++i) {
    if (k->mu[i] > 0) {
      return 1;
    }
  }
  return 0;
}

// The larger of `most` and the speed of a contact along its normal [m/s].
static double max_normal_speed(const TriboCone* k, const double* sigma, double most) {
  const double speed = fabs(sigma[k->row + k->dim - 1]);
  return speed > most ? speed : most;
}

int tribo_sol_accept_warm(TriboSolver* s, const TriboWarmStart* warm, int again, double* lambda) {
  const TriboScaled* sc = &s->scaled;
  const TriboProblem* p = sc->problem;
  double *sigma = tribo_sol_take(s), speed_before = 0, speed_now = 0;
  TriboTally tally = {.mean = sc->mean, .has_unit = s->has_unit};
  if (copy_known_impulses(p, warm, lambda) == 0) {
    return 0;
  }
  tribo_sol_sigma(sc, lambda, sigma);
  for (int c = 0; c < p->ncone; ++c) {
    const TriboCone* k = &p->cones[c];
    double mean = 0;
    if (lambda[k->row + k->dim - 1] > 0 && has_friction(k)) {
      speed_now = max_normal_speed(k, sigma, speed_now);
      speed_before = max_normal_speed(k, warm->sigma ? warm->sigma : sigma, speed_before);
    }
    for (int i = 0; i < k->dim; ++i) {
      mean += sc->diagonal[k->row + i];
      if (k->kind == TRIBO_CONE_FRICTION && i < k->dim - 1 && k->mu[i] == 0) {
        sigma[k->row + i] = 0;
      }
    }
    tribo_sol_tally(&tally, k, mean / k->dim, lambda + k->row, sigma + k->row);
  }
  s->best_score = tribo_sol_score(&tally, sc->norm_g, s->settings.common.tol, s->settings.common.whole);
  s->warm_value = s->best_score.value;
  s->rung = s->best_rung = TRIBO_RUNG_WARM;
  s->rungs_tried |= 1u << TRIBO_RUNG_WARM;
  if (s->history != NULL) {
    s->history(0, TRIBO_RUNG_WARM, s->best_score.nat, s->best_score.unit, s->history_user);
  }
  if (s->warm_value <= (again ? ACCEPT : 0.1 * ACCEPT) ||
      (s->warm_value <= ACCEPT && speed_now <= JUMP * speed_before)) {
    return 1;
  }
  // impulses that are not accepted do not end the solve
  s->best_score.value = INFINITY;
  return 0;
}
