// The central path followed by its length, through its folds.
//
// Friction makes the problem non-monotone: along its central path τ need not fall all the way. Where the path turns,
// every method that insists on a smaller τ stalls with steps of length zero. Here τ is an unknown like the others. With
// the residual r and the complementarity of central.h and a start (X₀, Z₀) that has r₀ and X₀ ∘ Z₀ = τ₀ e, the path is
//
//     r(X, Z) = t r₀,      X ∘ Z = t^β τ₀ e,      t from 1 to 0,
//
// a curve in (X, Z, log t) with a tangent everywhere, also where t turns back. One factorisation gives the tangent T
// (its right-hand side is d/d log t of the above) and Newton's correction at fixed t; T is added to the correction
// until both are orthogonal, so that it stays solvable at a turning point. Lengths are measured in the scaling of the
// present point, in which the cone's boundary is √(t^β τ₀) away. Another β is
// another path, with other folds. The direction is the one that goes on (positive product
// with the last one). A point that needs too long a correction is given up for one nearer to the last good one.
//
// Start: y = X − ρ Z of an estimate, X = (y + √(y² + 4 ρ τ₀ e))/2 in the algebra of the cone, Z = (X − y)/ρ: exactly on
// the path, and as near to the estimate as τ₀ allows (Chen, Harker, Kanzow, Smale).
#include <math.h>
#include <string.h>

#include "central.h"
#include "methods.h"

enum { S = TRIBO_CONE_ROWS };
static const double FIRST_STEP = 0.3, LONGEST_STEP = 1, SHORTEST_STEP = 1e-4;  // in units of the boundary's distance
static const double GOOD_CORRECTION = 0.1,
                    MAX_CORRECTION = 0.3;        // corrections: the step may grow; the point is given up
static const double WEIGHT = 0.3;                // of log t among the other coordinates
static const double FRACTION = 0.9;              // of the way to the boundary
static const double EVALUATE_DROP = 0.1;         // the point is evaluated at every such drop of t
static const double STRAIGHT = 1e-3;             // t below which the path no longer turns
static const double MAX_T = 1e6, MIN_T = 1e-14;  // where t may go before the path is given up, or is at its end

// A point on the path and how it goes on from there.
typedef struct Waypoint {
  TriboPrimalDual at;
  TriboPrimalDual correction, tangent;    // orthogonal; the tangent of unit length
  double t, log_correction, log_tangent;  // t there, and the changes of log t
} Waypoint;

// u + √(u² + 4p) over 2, without cancellation
static double smooth_positive(double u, double p) {
  double root = sqrt(u * u + 4 * p);
  return u > 0 ? 0.5 * (u + root) : 2 * p / (root - u);
}

static void start_round(const TriboScaledCone* k, double tau, double rho, double* x, double* z) {
  int m = k->dim - 1;
  double y[S], f = 0, ex[2], ez[2];
  x[m] *= k->mu;
  z[m] /= k->mu;
  for (int i = 0; i <= m; ++i) {
    y[i] = x[i] - rho * z[i];
    f += i < m ? y[i] * y[i] : 0;
  }
  f = sqrt(f);
  // the two eigenvalues y_N ± ‖y_f‖, one by one
  for (int e = 0; e < 2; ++e) {
    ex[e] = smooth_positive(e == 0 ? y[m] + f : y[m] - f, rho * tau);
    ez[e] = tau / ex[e];
  }
  for (int i = 0; i < m; ++i) {
    double t = f > 0 ? y[i] / f : 0;
    x[i] = 0.5 * (ex[0] - ex[1]) * t;
    z[i] = 0.5 * (ez[0] - ez[1]) * t;
  }
  x[m] = 0.5 * (ex[0] + ex[1]);
  z[m] = 0.5 * (ez[0] + ez[1]);
}

static void start_row(const TriboScaled* sc, int i, double tau, double rho, TriboPrimalDual* at) {
  double lo = sc->lo[i], hi = sc->hi[i], x = at->x[i], z = at->z[i];
  at->z[i] = at->zu[i] = 0;
  if (tribo_sol_is_fixed(sc, i)) {
    at->x[i] = lo;
  } else if (tribo_sol_has_lo(sc, i) && tribo_sol_has_hi(sc, i)) {
    double inside = fmin(sqrt(rho * tau), 0.25 * (hi - lo));
    at->x[i] = fmin(fmax(x, lo + inside), hi - inside);
    at->z[i] = tau / (at->x[i] - lo);
    at->zu[i] = tau / (hi - at->x[i]);
  } else if (tribo_sol_has_lo(sc, i)) {
    double slack = smooth_positive(x - lo - rho * z, rho * tau);
    at->x[i] = lo + slack;
    at->z[i] = tau / slack;
  } else if (tribo_sol_has_hi(sc, i)) {
    double slack = smooth_positive(hi - x + rho * z, rho * tau);
    at->x[i] = hi - slack;
    at->zu[i] = tau / slack;
  }
}

static void start_at(TriboCentral* p, const TriboPath* start) {
  const TriboScaled* sc = &p->s->scaled;
  memcpy(p->at.x, start->x, sizeof(double) * (size_t)sc->n);
  memcpy(p->at.z, start->z, sizeof(double) * (size_t)sc->n);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (k->round) {
      start_round(k, start->tau, start->rho, p->at.x + k->row, p->at.z + k->row);
      continue;
    }
    for (int i = k->row; i < k->row + k->dim; ++i) {
      start_row(sc, i, start->tau, start->rho, &p->at);
    }
  }
}

static void copy(int n, const TriboPrimalDual* from, TriboPrimalDual* to) {
  memcpy(to->x, from->x, sizeof(double) * (size_t)n);
  memcpy(to->z, from->z, sizeof(double) * (size_t)n);
  memcpy(to->zu, from->zu, sizeof(double) * (size_t)n);
}

// to = a·one + b·two
static void combine(int n, double a, const TriboPrimalDual* one, double b, const TriboPrimalDual* two,
                    TriboPrimalDual* to) {
  for (int i = 0; i < n; ++i) {
    to->x[i] = a * one->x[i] + b * two->x[i];
    to->z[i] = a * one->z[i] + b * two->z[i];
    to->zu[i] = a * one->zu[i] + b * two->zu[i];
  }
}

// Correction and tangent at the present point, which is at t; `last` is the direction to go on in. Returns the length
// of the correction, NAN when there is none.
static double linearise_path(TriboCentral* p, const TriboPath* start, double* r0, const Waypoint* last,
                             Waypoint* here) {
  int n = p->s->scaled.n;
  double tau = pow(here->t, start->power) * start->tau, unit = 1 / (tau * p->degree), *r = p->r;
  if (tribo_sol_central_linearise(p) != 0) {
    return NAN;
  }
  copy(n, &p->at, &here->at);
  if (last == NULL) {
    memcpy(r0, r, sizeof(double) * (size_t)n);
  }
  for (int i = 0; i < n; ++i) {
    r[i] -= here->t * r0[i];
  }
  tribo_sol_central_set_target(p, tau, 1, 0);
  tribo_sol_central_direction(p, r, 1);
  copy(n, &p->step, &here->correction);
  tribo_sol_central_set_target(p, start->power * tau, 0, 0);
  tribo_sol_central_direction(p, r0, -here->t);
  copy(n, &p->step, &here->tangent);

  // the tangent of length one, going on; from the start, towards smaller t
  TriboPrimalDual *T = &here->tangent, *c = &here->correction;
  double square = unit * tribo_sol_central_dot(p, T, T) + WEIGHT, length = sqrt(square);
  double ahead = last != NULL ? unit * tribo_sol_central_dot(p, T, &last->tangent) + WEIGHT * last->log_tangent : -1;
  // the correction across it
  double along = unit * tribo_sol_central_dot(p, c, T) / square;
  combine(n, 1, c, -along, T, c);
  here->log_correction = -along;
  here->log_tangent = (ahead >= 0 ? 1 : -1) / length;
  combine(n, here->log_tangent, T, 0, T, T);
  return sqrt(unit * tribo_sol_central_dot(p, c, c) + WEIGHT * along * along);
}

// the point a step further on from a waypoint; returns its t
static double advance(TriboCentral* p, const Waypoint* from, double step) {
  int n = p->s->scaled.n;
  double change = from->log_correction + step * from->log_tangent;
  copy(n, &from->at, &p->at);
  combine(n, 1, &from->correction, step, &from->tangent, &p->step);
  double part = fmin(1, FRACTION * tribo_sol_central_max_step(p));
  // t at most a twentieth, at most four times
  part = part * change < -0.95 ? -0.95 / change : part * change > 3 ? 3 / change : part;
  tribo_sol_central_move(p, part);
  return from->t * (1 + part * change);
}

// Records the answer at the present point, and polishes its modes once they have stopped changing.
static void evaluate(TriboCentral* p, double* x, double* u, double* modes) {
  TriboSolver* s = p->s;
  tribo_sol_central_answer(p, x);
  tribo_sol_velocity(s, x, u);
  tribo_sol_record(s, x, u);
  if (!tribo_sol_done(s)) {
    tribo_sol_central_point(p, x);
    tribo_sol_polish_modes(s, x, modes);
  }
}

static Waypoint take_waypoint(TriboSolver* s) {
  return (Waypoint){.at = tribo_sol_take_primal_dual(s),
                    .correction = tribo_sol_take_primal_dual(s),
                    .tangent = tribo_sol_take_primal_dual(s)};
}

void tribo_sol_path(TriboSolver* s, const TriboPath* start) {
  const size_t pool_mark = s->scratch.used;
  TriboCentral p;
  tribo_sol_central_begin(s, &p);
  Waypoint one = take_waypoint(s), two = take_waypoint(s), *last = NULL, *here = &one;
  double *r0 = tribo_sol_take(s), *x = tribo_sol_take(s), *u = tribo_sol_take(s),
         *modes = tribo_sol_take_mode_memory(s);
  double step = FIRST_STEP, evaluated_at = 1;
  start_at(&p, start);
  here->t = 1;
  for (int it = 0; it < start->max_steps && !tribo_sol_stop(s); ++it) {
    s->iterations++;
    double correction = linearise_path(&p, start, r0, last, here);
    if (last != NULL && !(correction <= MAX_CORRECTION) && step > SHORTEST_STEP) {
      // too far from the path: nearer to the last good point
      step *= 0.4;
      here->t = advance(&p, last, step);
      continue;
    }
    if (!isfinite(correction)) {
      break;
    }
    step = last != NULL && correction < GOOD_CORRECTION ? fmin(1.5 * step, LONGEST_STEP) : step;
    last = here;
    here = last == &one ? &two : &one;
    here->t = advance(&p, last, correction > 1 ? 0 : step);
    if (here->t < EVALUATE_DROP * evaluated_at) {
      evaluated_at = here->t;
      evaluate(&p, x, u, modes);
    }
    if (here->t > MAX_T || here->t < MIN_T) {
      break;
    }
  }
  // near its end the path is straight, and rounding hides it: predictor and corrector go faster there
  if (last != NULL && last->t < STRAIGHT) {
    copy(s->scaled.n, &last->at, &p.at);
    tribo_sol_interior_from(&p, 0.95, 20);
  }
  s->scratch.used = pool_mark;
}
