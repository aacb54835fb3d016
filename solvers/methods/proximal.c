// Proximal points, each by Newton on velocities.
//
// A point c, the centre, is given. Its proximal point is the pair (x, u) with
//
//     u = W x + q,     x = P(c − u/ε)                                                                              (1)
//
// P Alart and Curnier's map (cones.h). It is the problem of contacts that give by ε, and that remember: at x = c they
// are rigid. From centre to centre, c ← x, what (1) leaves of the rigid law falls by ε/(ε + w), w an eigenvalue of W
// among the loaded rows; where w is 0, as among the many points of one face, x stays as near to c as the law allows. So
// the choice that hyperstatic contacts leave is made by the impulses of the step before, and by nothing else.
//
// Newton on (1) takes u for the unknown. With x̃ = P(c − u/ε) and ũ = W x̃ + q the equation is ũ = u. The modes of
// c − u/ε (modes.h) say how x̃ moves with u: dx = B y, C y = −Eᵀ du, with ε on the diagonal of C and, for the directions
// of slip, ε (‖y_f‖ − μ y_N)/(μ y_N) more. With u + du = ũ + W dx the step is one linear system (linear_system.h):
//
//     (Eᵀ W B + C) y = Eᵀ (u − ũ),     x⁺ = x̃ + B y,     u⁺ = W x⁺ + q                                              (2)
//
// x̃ is the gradient of −ε Φ(c − u/ε), convex but for De Saxcé's part of P, and x − x̃, with W x = u − q, that of what
// Newton minimises over u. So a step is searched along by the sign of du·(x − x̃), which is exact where P is a
// projection, and what is left is measured by ‖x − x̃‖ in the metric W, √((x − x̃)·(u − ũ)). As long as the old factors
// halve it they are used again: chord steps cost two triangular solves and two products.
//
// What hyperstatic contacts share among them changes where masses do: what a heavy body lays on its supports may be ten
// thousand times what a light one beside it weighs, and a thousandth of the one must not become ten times the other. So
// among old impulses ε is a metric, ε_c = ε max|x| / x_c for a cone, with x_c the largest normal impulse of the cones
// between the same bodies: what they share changes in proportion. The corners of one face have one ε_c, since one of
// them that carries nothing must be free to take some. P does not notice, as all rows of a cone have the same.
//
// ε follows what happens: it falls tenfold wherever that is all that slows the points down, and rises where Newton does
// not end with it. A centre near the answer finds it with a small ε within a few steps; one that is not is left at
// once.
#include <math.h>
#include <string.h>

#include "math3.h"
#include "methods.h"
#include "modes.h"

enum {
  STEPS = 10,    // factorisations of one proximal point: 8 … 15 cost the same on two landing robots (3 % apart), 5 a
                 // tenth more
  POINTS = 100,  // most are chord steps alone
  RELAX_POINTS = 20,
  SEARCH = 30  // bisections of a step, an end for what cannot fail
};
static const double LEAST = 1e-10;     // ε that a factorisation bears
static const double INNER = 0.1;       // of the rigid law's residual: up to there (1) is solved
static const double SLOPE = 0.1;       // of a step's slope: what a search leaves
static const double TENFOLD = 0.1;     // a point that needed factors should gain as much,
static const double CHEAP_GAIN = 0.7;  // one of chord steps alone may go on for this,
static const double STALL = 0.9;       // and so may one whose ε cannot fall any more
static const double LIGHTEST = 1e-4;   // of the largest impulse: below it, one is as good as none
static const double NEARLY = 10;       // of the tolerance: answers up to there are scored at once
static const double DRIFT = 0.1;     // W v of a centre that drifts, over ε v: without a contradiction it is 1 and more
static const double RELAXED = 1e-6;  // [m/s] rows that ask for less do not contradict each other
static const double RELAX_EPS = 1;   // ε where they may: the first hardly couples them
static const double DRIFT_EPS = 2e-6;  // ε up to which a drift is looked for
static const double SETTLED = 1e-9;    // [m/s] change of what is asked, from ε to ε/10
// An eigenvalue w of W that is small but not 0, as of heavy bodies on light ones, changes what is asked by 9 w/ε of it,
// from ε to ε/10. Up to here w is rounding.
static const double STILL = 1e-14;
// Fraction of the tolerance that old factors may be used to come to; where they are all that there is, so that what a
// mechanism does hangs on its digits no more than it does where factors are fresh.
static const double POLISHED = 0.01, FINELY_POLISHED = 1e-4;

typedef struct Proximal {
  double *x, *u;    // (n) Newton's point, u = W x + q
  double* at;       // (n) the velocity at which the law was asked last
  double *xt, *ut;  // (n) x̃ of it and ũ = W x̃ + q
  double *dx, *du;  // (n) a step of x and u
  double *xa, *ua;  // (n) the point that is tried
  double *y, *b;    // (n) scratch
  double* centre;   // (n) c
  double* metric;   // (n) ε_c / ε
  double *cx, *cu;  // (n) the best x̃ and ũ of this centre
  double least;     // |ũ − u| of it
  int is_recorded;  // (cx, cu) has been scored
  double eps;       // ε
  int has_factors;  // of the modes of some earlier point, for this ε or of the solve before
  double polished;  // score up to which old factors polish
  int has_stepped;  // factors have made the point what it is
} Proximal;

// x̃ of velocity u
static void answer_of_law(const TriboSolver* s, const Proximal* p, const double* u, double* x) {
  for (int i = 0; i < s->scaled.n; ++i) {
    x[i] = p->centre[i] - u[i] / (p->eps * p->metric[i]);
  }
  tribo_sol_alart_curnier(&s->scaled, x, x);
}

// Asks the law about u: x̃ and ũ.
static void ask(TriboSolver* s, Proximal* p, const double* u) {
  const int n = s->scaled.n;
  double most = 0;
  memmove(p->at, u, sizeof(double) * (size_t)n);
  answer_of_law(s, p, u, p->xt);
  tribo_sol_velocity(s, p->xt, p->ut);
  for (int i = 0; i < n; ++i) {
    most = fmax(most, fabs(p->ut[i] - u[i]));
  }
  if (most < p->least) {
    p->least = most;
    memcpy(p->cx, p->xt, sizeof(double) * (size_t)n);
    memcpy(p->cu, p->ut, sizeof(double) * (size_t)n);
    p->is_recorded = 0;
  }
}

// The best answer of the centre becomes a candidate for that of the solve. Its score costs as much as a chord step.
static void record_best(TriboSolver* s, Proximal* p) {
  if (!p->is_recorded) {
    tribo_sol_record(s, p->cx, p->cu);
    p->is_recorded = 1;
  }
}

// ‖x − x̃‖ in the metric W
static double merit(const TriboSolver* s, const Proximal* p, const double* x, const double* u) {
  double sum = 0;
  for (int i = 0; i < s->scaled.n; ++i) {
    sum += (x[i] - p->xt[i]) * (u[i] - p->ut[i]);
  }
  return isfinite(sum) ? sqrt(fmax(sum, 0)) : INFINITY;
}

// Factors of the modes at which the law was asked last; 1 when a pivot broke down.
static int factorise(TriboSolver* s, Proximal* p) {
  const TriboScaled* sc = &s->scaled;
  for (int i = 0; i < sc->n; ++i) {
    p->y[i] = p->centre[i] - p->at[i] / (p->eps * p->metric[i]);
  }
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    TriboLocal* l = &s->system.local[c];
    const double eps = p->eps * p->metric[k->row];
    double slip = 0;
    if (k->round) {
      slip = tribo_sol_local_round(k, p->y + k->row, 1 / eps, l);
    } else {
      tribo_sol_local_rows(sc, k, p->y + k->row, l, p->b + k->row);
    }
    for (int i = 0; i < l->k; ++i) {
      l->C[(TRIBO_CONE_ROWS + 1) * i] = eps + (i > 0 ? slip : 0);
    }
  }
  s->iterations++;
  p->has_factors = tribo_sol_system_factor(&s->system) == 0;
  return !p->has_factors;
}

// The step (2) from (x, u), by the factors there are; 1 when it is not finite.
static int newton_step(TriboSolver* s, Proximal* p) {
  const int n = s->scaled.n;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    p->b[i] = p->at[i] - p->ut[i];
  }
  tribo_sol_system_solve(&s->system, p->b, p->dx, s->system.form == TRIBO_FORM_SPARSE);
  tribo_sol_apply(&s->scaled, p->dx, p->du);
  for (int i = 0; i < n; ++i) {
    p->dx[i] += p->xt[i] - p->x[i];
    p->du[i] += p->ut[i] - p->u[i];
    sum += p->dx[i] + p->du[i];
  }
  return !isfinite(sum);
}

// du·(x − x̃), `a` of the step away
static double slope(TriboSolver* s, Proximal* p, double a) {
  const int n = s->scaled.n;
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    p->b[i] = p->u[i] + a * p->du[i];
  }
  answer_of_law(s, p, p->b, p->y);
  for (int i = 0; i < n; ++i) {
    sum += p->du[i] * (p->x[i] + a * p->dx[i] - p->y[i]);
  }
  return sum;
}

// How much of a step to take: where its slope ends, by the secant between signs and, each third time, their middle. A
// step that does not lead downhill at first, as De Saxcé's term allows, is taken whole.
static double search(TriboSolver* s, Proximal* p) {
  const double first = slope(s, p, 0), end = SLOPE * fabs(first);
  double lo = 0, hi = 1, at_lo = first, at_hi = slope(s, p, 1), a = 1;
  if (!(first < 0) || at_hi <= end) {
    return 1;
  }
  for (int it = 1; it <= SEARCH; ++it) {
    a = lo - at_lo * (hi - lo) / (at_hi - at_lo);
    if (it % 3 == 0 || !(a > lo && a < hi)) {
      a = 0.5 * (lo + hi);
    }
    const double now = slope(s, p, a);
    if (fabs(now) <= end) {
      break;
    }
    if (now < 0) {
      lo = a, at_lo = now;
    } else {
      hi = a, at_hi = now;
    }
  }
  return a;
}

// Where to ask the law first about (x, u): there is a velocity whose x̃ at this centre is P(x − u), so that the modes of
// the pair are those of the factors.
static void first_question(const TriboSolver* s, Proximal* p, const double* x, const double* u, double* at) {
  const int n = s->scaled.n;
  for (int i = 0; i < n; ++i) {
    p->y[i] = x[i] - u[i];
  }
  tribo_sol_alart_curnier(&s->scaled, p->y, p->b);
  for (int i = 0; i < n; ++i) {
    at[i] = p->b[i] - p->y[i] + p->eps * p->metric[i] * (p->centre[i] - p->b[i]);
  }
}

// Whether (1) is solved as far as it pays: to a tenth of what is left of the rigid law. What no factors have made is
// not: errors of old impulses would add up from step to step.
static int is_found(TriboSolver* s, Proximal* p) {
  if (!p->has_stepped) {
    return 0;
  }
  double left = 0, speed = 0;
  for (int i = 0; i < s->scaled.n; ++i) {
    p->y[i] = p->cx[i] - p->cu[i];
  }
  tribo_sol_alart_curnier(&s->scaled, p->y, p->y);
  for (int i = 0; i < s->scaled.n; ++i) {
    left = fmax(left, fabs(p->cx[i] - p->y[i]));
    speed = fmax(speed, fabs(p->cx[i] - p->y[i]) * s->scaled.g / s->scaled.s[i]);
  }
  const int found = p->least <= fmax(INNER * left, 1e-15);
  if (found || speed <= NEARLY * s->settings.common.tol) {
    record_best(s, p);
  }
  return found || s->best_score.value <= p->polished;
}

// What is solved already may be polished by the factors that there are, or by the first ones.
static int may_polish(const TriboSolver* s, const Proximal* p) {
  return tribo_sol_done(s) && (p->has_factors || !p->has_stepped);
}

// The proximal point of the centre, from x and the question `at`; 1: found, its best is (cx, cu).
static int find_point(TriboSolver* s, Proximal* p) {
  const size_t bytes = sizeof(double) * (size_t)s->scaled.n;
  const int last = s->iterations + STEPS;
  int fresh = 0;
  // the centre's own answer is asked for before the one whose modes are known
  memcpy(p->xa, p->at, bytes);
  p->least = INFINITY;
  ask(s, p, p->u);
  double left = merit(s, p, p->x, p->u);
  if (is_found(s, p)) {
    return 1;
  }
  ask(s, p, p->xa);
  while (!is_found(s, p)) {
    if (tribo_sol_stop(s) && !may_polish(s, p)) {
      record_best(s, p);
      return tribo_sol_done(s);
    }
    if (!p->has_factors) {
      if (s->iterations >= last || factorise(s, p) != 0) {
        record_best(s, p);
        return 0;
      }
      fresh = 1;
    }
    if (newton_step(s, p) != 0) {
      if (fresh) {
        record_best(s, p);
        return 0;
      }
      p->has_factors = 0;
      continue;
    }
    const double a = search(s, p);
    for (int i = 0; i < s->scaled.n; ++i) {
      p->xa[i] = p->x[i] + a * p->dx[i];
      p->ua[i] = p->u[i] + a * p->du[i];
    }
    ask(s, p, p->ua);
    const double now = merit(s, p, p->xa, p->ua);
    // old factors serve while a whole step halves what is left; a chord step that is worse is not taken
    p->has_factors = now < 0.5 * left && (!fresh || a >= 0.9);
    if (!fresh && !(now < left)) {
      ask(s, p, p->u);
      continue;
    }
    memcpy(p->x, p->xa, bytes);
    memcpy(p->u, p->ua, bytes);
    p->has_stepped = 1;
    left = now;
    fresh = 0;
  }
  return 1;
}

// The next centre is the best answer that this one had.
static void move_centre(TriboSolver* s, Proximal* p) {
  const size_t bytes = sizeof(double) * (size_t)s->scaled.n;
  memcpy(p->x, p->cx, bytes);
  memcpy(p->u, p->cu, bytes);
  memcpy(p->centre, p->cx, bytes);
  first_question(s, p, p->x, p->u, p->at);
}

// Back to the centre, with another ε.
static void try_again(TriboSolver* s, Proximal* p, double eps) {
  p->eps = eps;
  p->has_factors = 0;
  memcpy(p->x, p->centre, sizeof(double) * (size_t)s->scaled.n);
  tribo_sol_velocity(s, p->x, p->u);
  first_question(s, p, p->x, p->u, p->at);
}

// Does a cone act on the same bodies as the one before it? The contacts of a pair follow each other.
static int same_bodies(const TriboProblem* p, int c) {
  if (p->nblock == 0) {
    return 0;
  }
  const int *first = p->term_first + c, terms = first[1] - first[0];
  return first[0] - first[-1] == terms &&
         memcmp(p->term_block + first[-1], p->term_block + first[0], sizeof *p->term_block * (size_t)terms) == 0;
}

// ε_c / ε from the centre: 1 where the largest impulses are, and for rows with bounds
static void measure(const TriboSolver* s, Proximal* p) {
  const TriboScaled* sc = &s->scaled;
  const double size = fmax(tribo_max_abs(p->centre, sc->n), 1e-300);
  for (int c = 0, next; c < sc->ncone; c = next) {
    double most = LIGHTEST * size;
    for (next = c; next < sc->ncone && (next == c || same_bodies(sc->problem, next)); ++next) {
      const TriboScaledCone* k = &sc->cone[next];
      most = k->round ? fmax(most, p->centre[k->row + k->dim - 1]) : size;
    }
    for (int i = sc->cone[c].row; i < sc->cone[next - 1].row + sc->cone[next - 1].dim; ++i) {
      p->metric[i] = size / most;
    }
  }
}

static void begin(TriboSolver* s, Proximal* p, const TriboProximal* start) {
  const size_t bytes = sizeof(double) * (size_t)s->scaled.n;
  double** vectors[] = {&p->x,  &p->u, &p->at, &p->xt,     &p->ut, &p->dx, &p->du,    &p->xa,
                        &p->ua, &p->y, &p->b,  &p->centre, &p->cx, &p->cu, &p->metric};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = tribo_sol_take(s);
  }
  p->has_factors = s->kept_factors > 0 && s->kept_factors == s->system.generation;
  p->eps = start->eps;
  p->has_stepped = s->iterations > 0;
  p->polished = p->has_factors ? FINELY_POLISHED : POLISHED;
  memcpy(p->x, start->x, bytes);
  memcpy(p->centre, start->x, bytes);
  for (int i = 0; i < s->scaled.n; ++i) {
    p->metric[i] = 1;
  }
  if (start->in_proportion) {
    measure(s, p);
  }
  tribo_sol_velocity(s, p->x, p->u);
  first_question(s, p, p->x, start->u, p->at);
}

// Whether the centre drifts: what v = x − c moves, W v, is far less than what it asks of the rows, ε v. Heavy bodies
// move little, too: only a small ε tells.
static int is_drifting(TriboSolver* s, Proximal* p) {
  const TriboScaled* sc = &s->scaled;
  double asked = 0, speed = 0, moved = 0;
  if (p->eps > DRIFT_EPS) {
    return 0;
  }
  for (int i = 0; i < sc->n; ++i) {
    p->y[i] = p->cx[i] - p->centre[i];
    asked = fmax(asked, p->eps * p->metric[i] * fabs(p->y[i]));
    speed = fmax(speed, p->eps * p->metric[i] * fabs(p->y[i]) * sc->g / sc->s[i]);
  }
  if (!(speed > RELAXED)) {
    return 0;
  }
  tribo_sol_apply(sc, p->y, p->b);
  moved = tribo_max_abs(p->b, sc->n);
  return moved <= DRIFT * asked;
}

int tribo_sol_proximal(TriboSolver* s, const TriboProximal* start) {
  const size_t pool_mark = s->scratch.used;
  const int last = s->iterations + start->max_factorisations;
  Proximal p;
  double floor = 0, value = INFINITY;  // ε that could not be halved any more, score of the last point
  int polished = 0, fallen = 0, drifting = 0;
  begin(s, &p, start);
  for (int point = 0; point < POINTS && s->iterations < last; ++point) {
    const int before = s->iterations;
    if (!find_point(s, &p)) {
      // where the first centre is no help, this is none; a later one was, for a larger ε
      floor = 10 * p.eps;
      if (point == 0 || tribo_sol_stop(s) || floor > 1) {
        break;
      }
      try_again(s, &p, floor);
      continue;
    }
    if (tribo_sol_stop(s) &&
        !(tribo_sol_done(s) && s->best_score.value > p.polished && p.has_factors && polished++ < 2)) {
      break;
    }
    const double gain = s->best_score.value / value;
    const int has_factorised = s->iterations > before;
    value = s->best_score.value;
    drifting = gain > TENFOLD && is_drifting(s, &p);
    if (drifting) {
      break;
    }
    move_centre(s, &p);
    if (gain <= (has_factorised ? TENFOLD : p.eps <= floor ? STALL : CHEAP_GAIN)) {
      continue;
    }
    // a smaller ε, unless the last one has not paid, or none can
    if (p.eps <= fmax(floor, LEAST) || (fallen && has_factorised && s->best_score.nat <= start->accept)) {
      break;
    }
    fallen = p.eps <= start->eps;
    p.eps *= 0.1;
    p.has_factors = 0;
  }
  s->kept_factors = p.has_factors ? s->system.generation : 0;
  s->scratch.used = pool_mark;
  return drifting;
}

// ---- rows that contradict each other
//
// Where no velocity does what all rows ask, the points go on for ever, but in the end by the same v every time:
// impulses in the cones with W v = 0, which move nothing, and q·v < 0, so that no velocity can please the rows they
// belong to. By (1) the point solves the problem with s = ε v added to q, exactly; from point to point s comes to be
// the least that gives the problem an answer, in the metric of W's diagonal (for quadratic programs: Chiche and Gilbert
// 2016). The points carry v as often as there were points: what of it cancels is taken out again.

// Is x in its cones and between its bounds?
static int is_allowed(const TriboScaled* sc, const double* x) {
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    const double* y = x + k->row;
    if (k->round && !(tribo_norm(y, k->dim - 1) <= k->mu * y[k->dim - 1] * (1 + 1e-12))) {
      return 0;
    }
    for (int i = k->round ? k->dim : 0; i < k->dim; ++i) {
      if (y[i] < sc->lo[k->row + i] || y[i] > sc->hi[k->row + i]) {
        return 0;
      }
    }
  }
  return 1;
}

// out: the shortest x − t v that the cones allow
static void shorten(const TriboScaled* sc, const double* x, const double* v, double* out) {
  enum { BISECTIONS = 30 };
  double along = 0, square = 0;
  for (int i = 0; i < sc->n; ++i) {
    along += x[i] * v[i];
    square += v[i] * v[i];
  }
  double lo = 0, hi = square > 0 ? fmax(along / square, 0) : 0, t = hi;
  for (int it = 0; it <= BISECTIONS; ++it) {
    for (int i = 0; i < sc->n; ++i) {
      out[i] = x[i] - t * v[i];
    }
    if (is_allowed(sc, out)) {
      lo = t;
    } else {
      hi = t;
    }
    if (lo == hi) {
      return;
    }
    t = it + 1 < BISECTIONS ? 0.5 * (lo + hi) : lo;
  }
}

// Moves centres, ε falling, until what they ask of the rows, s, stays; 1: it does, and is more than nothing. drift: v.
static int settle(TriboSolver* s, Proximal* p, double* relaxation, double* drift) {
  const TriboScaled* sc = &s->scaled;
  int still = 0;
  for (int point = 0; point < RELAX_POINTS && find_point(s, p); ++point) {
    double change = 0, most = 0;
    for (int i = 0; i < sc->n; ++i) {
      drift[i] = p->cx[i] - p->centre[i];
      const double now = p->eps * drift[i], unit = sc->g / sc->s[i];
      change = fmax(change, fabs(now - relaxation[i]) * unit);
      most = fmax(most, fabs(now) * unit);
      relaxation[i] = now;
    }
    s->shift = most;
    still = p->eps * change <= STILL * most;
    if (most <= RELAXED || (still && change <= SETTLED)) {
      break;
    }
    move_centre(s, p);
    if (p->eps > LEAST) {
      p->eps *= 0.1;
      p->has_factors = 0;
    }
  }
  still = still && s->shift > RELAXED;
  s->shift = still ? s->shift : 0;
  return still;
}

int tribo_sol_relax(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used, bytes = sizeof(double) * (size_t)s->scaled.n;
  double *zero = tribo_sol_take(s), *relaxation = tribo_sol_take(s), *drift = tribo_sol_take(s);
  Proximal p;
  memset(zero, 0, bytes);
  memset(relaxation, 0, bytes);
  begin(s, &p, &(TriboProximal){.x = zero, .u = s->scaled.q, .eps = RELAX_EPS});
  const int contradict = settle(s, &p, relaxation, drift);
  if (contradict) {
    for (int i = 0; i < s->scaled.n; ++i) {
      s->scaled.q[i] += relaxation[i];
    }
    s->best_score.value = INFINITY;
    shorten(&s->scaled, p.cx, drift, p.x);
    tribo_sol_velocity(s, p.x, p.u);
    tribo_sol_record(s, p.x, p.u);
  }
  s->scratch.used = pool_mark;
  return contradict;
}
