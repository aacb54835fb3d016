// Interior point: Newton along the central path (central.h), first without centring (predictor), then with Mehrotra's
// corrector, De Saxcé's term inside.
#include <math.h>
#include <string.h>

#include "central.h"
#include "methods.h"

enum { MEMORY = 6 };
static const double POLISH_BELOW = 1e-3, POLISH_DROP = 0.3;

// a bounded row pushed inside
static void start_row(TriboCentral* p, const TriboInterior* start, int i, double height) {
  const TriboScaled* sc = &p->s->scaled;
  double lo = sc->lo[i], hi = sc->hi[i], x = start->cold > 0 ? 0 : start->x[i], z = start->cold > 0 ? 0 : start->z[i];
  double push = start->cold > 0 ? start->cold : start->push * start->size;
  p->at.x[i] = x;
  if (tribo_sol_is_fixed(sc, i)) {
    p->at.x[i] = lo;
  } else if (tribo_sol_has_lo(sc, i) && tribo_sol_has_hi(sc, i)) {
    double inside = fmin(push, 0.25 * (hi - lo));
    p->at.x[i] = start->cold > 0 ? 0.5 * (lo + hi) : fmin(fmax(x, lo + inside), hi - inside);
    p->at.z[i] = p->at.zu[i] = height;
  } else if (tribo_sol_has_lo(sc, i)) {
    p->at.x[i] = fmax(x, lo) + push;
    p->at.z[i] = fmax(z, 0) + height;
  } else if (tribo_sol_has_hi(sc, i)) {
    p->at.x[i] = fmin(x, hi) - push;
    p->at.zu[i] = fmax(-z, 0) + height;
  }
}

// Puts the present point inside all cones and bounds, along their axes or near the given estimate.
static void start_at(TriboCentral* p, const TriboInterior* start) {
  const TriboScaled* sc = &p->s->scaled;
  double height = start->push;
  // without an estimate: velocities as large as the free ones
  if (start->cold > 0) {
    height = 1;
    for (int c = 0; c < sc->ncone; ++c) {
      const TriboScaledCone* k = &sc->cone[c];
      for (int i = 0; i < k->dim; ++i) {
        height = fmax(height, fabs(sc->q[k->row + i]) / (k->round && i == k->dim - 1 ? k->mu : 1));
      }
    }
  }
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    int m = k->dim - 1, i = k->row;
    double *x = p->at.x + i, *z = p->at.z + i;
    if (!k->round) {
      for (; i < k->row + k->dim; ++i) {
        start_row(p, start, i, height);
      }
    } else if (start->cold > 0) {
      x[m] = start->cold;
      z[m] = height;
    } else {
      memcpy(x, start->x + i, sizeof(double) * (size_t)k->dim);
      memcpy(z, start->z + i, sizeof(double) * (size_t)k->dim);
      x[m] = fmax(k->mu * x[m], tribo_norm(x, m)) + start->push * start->size * k->mu;
      z[m] = fmax(z[m] / k->mu, tribo_norm(z, m)) + start->push / k->mu;
    }
  }
}

// one predictor and corrector; returns the length of the step, 0 when there was none
static double interior_step(TriboCentral* p, double fraction) {
  int n = p->s->scaled.n;
  if (tribo_sol_central_linearise(p) != 0) {
    return 0;
  }
  double tau = tribo_sol_central_gap(p, 0);
  tribo_sol_central_set_target(p, 0, 1, 0);
  tribo_sol_central_direction(p, p->r, 1);
  double a = fmin(1, tribo_sol_central_max_step(p)),
         gap_ratio = fmin(1, fmax(tribo_sol_central_gap(p, a), 0) / fmax(tau, 1e-300));
  double sigma = fmax(pow(fmin(1, fmax(1 - a, gap_ratio)), 3), 1e-6);
  tribo_sol_central_set_target(p, sigma * tau, 1, a < 0.9 ? a * a : 1);
  tribo_sol_central_direction(p, p->r, 1 - sigma);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += p->step.x[i] + p->step.z[i];
  }
  a = isfinite(sum) ? fmin(1, fraction * tribo_sol_central_max_step(p)) : 0;
  if (a > 0) {
    tribo_sol_central_move(p, a);
  }
  return a;
}

void tribo_sol_interior_from(TriboCentral* p, double fraction, int max_steps) {
  TriboSolver* s = p->s;
  const size_t pool_mark = s->scratch.used;
  double *x = tribo_sol_take(s), *u = tribo_sol_take(s), threshold = 1e-4, polish_below = POLISH_BELOW;
  double past[MEMORY] = {0}, *modes = tribo_sol_take_mode_memory(s);
  for (int it = 0, short_steps = 0; !tribo_sol_stop(s); ++it) {
    // large problems need more steps: beyond the limit, go on while the residual falls to half within a few
    if (it >= max_steps && (it >= 3 * max_steps || past[(it - 1) % MEMORY] > 0.5 * past[it % MEMORY])) {
      break;
    }
    s->iterations++;
    double a = interior_step(p, fraction);
    tribo_sol_central_answer(p, x);
    tribo_sol_velocity(s, x, u);
    double j = past[it % MEMORY] = tribo_sol_residual(s, x, u);
    if (tribo_sol_done(s) || !isfinite(j)) {
      break;
    }
    // the modes are right long before the digits: Newton tries them whenever the residual has fallen to a third
    if (j < polish_below) {
      polish_below = POLISH_DROP * j;
      tribo_sol_central_point(p, x);
      tribo_sol_polish_modes(s, x, modes);
      if (tribo_sol_done(s)) {
        break;
      }
      tribo_sol_central_answer(p, x);
    }
    // close enough: a few Newton steps from here, again after every twentyfold drop
    if (j < threshold) {
      threshold = 0.05 * j;
      tribo_sol_newton(s, x, fmin(1e-5, 0.1 * j), 4, 0);
    }
    short_steps = a < 0.1 ? short_steps + 1 : 0;
    if (short_steps >= 3 || a < 1e-7 || tribo_sol_central_gap(p, 0) < 1e-24) {
      break;
    }
  }
  s->scratch.used = pool_mark;
}

void tribo_sol_interior(TriboSolver* s, const TriboInterior* start) {
  const size_t pool_mark = s->scratch.used;
  TriboCentral p;
  tribo_sol_central_begin(s, &p);
  start_at(&p, start);
  tribo_sol_interior_from(&p, start->fraction, start->max_steps);
  s->scratch.used = pool_mark;
}

void tribo_sol_run_interior(TriboSolver* s) {
  const TriboScaled* sc = &s->scaled;
  TriboInterior start = {.fraction = 0.95, .max_steps = s->settings.common.max_iterations};
  double *x = tribo_sol_take(s), *z = tribo_sol_take(s);
  if (s->warm_x != NULL) {
    tribo_sol_enter_stage(s, TRIBO_RUNG_IPM_WARM);
    tribo_sol_shift(sc, s->warm_u, z);
    start.x = s->warm_x, start.z = z, start.push = 0.1;
    start.size = fmax(tribo_max_abs(s->warm_x, sc->n), 1e-3);
    tribo_sol_interior(s, &start);
  }
  if (tribo_sol_stop(s)) {
    return;
  }
  // the size of the impulses that stop the free velocity tells the height to start from
  tribo_sol_enter_stage(s, TRIBO_RUNG_IPM_COLD);
  start.cold = 1;
  if (tribo_sol_system_factor_shifted(&s->system, 1e-3) == 0) {
    tribo_sol_system_solve(&s->system, sc->q, x, 0);
    start.cold = fmax(tribo_max_abs(x, sc->n), 1e-3);
  }
  tribo_sol_interior(s, &start);
}
