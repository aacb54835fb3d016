// CANAL, cascaded Newton-based augmented Lagrangian (Lee, Lee, Park, Yun, Lee 2025, Algorithm 1), on the row-scaled
// problem. Equation numbers are the paper's; its multiplier is −λ.
//
// The velocity of the constraints, u = W y + q, is made by impulses y that need not obey the law. The augmented
// Lagrangian of the multiplier λ asks for
//
//     y = λ⁺,     λ⁺ = P_K(λ − β (u + Γ))                                                                 (13), (21)
//
// with De Saxcé's term Γ = μ‖z_T‖ on the normal rows held at the last outer iteration's velocity z (20). That makes the
// right-hand side the gradient of a convex function, and (13) the stationary point of
//
//     h(y) = ½ y·W y + ‖P_K(λ − β (W y + q + Γ))‖²/2β                                                             (22)
//
// whose gradient is W (y − λ⁺) and whose Hessian W + W β D W has D = dP_K/dx (23): the identity where a contact sticks,
// nothing where it is open, and where it slips, with t = x_T/‖x_T‖, f = (μ t, 1)/√(1 + μ²) and P_K(x) = h (μ t, 1),
//
//     D = f fᵀ + ν (I − t tᵀ)_T,     ν = μ h/‖x_T‖
//
// so D = B N Bᵀ with orthonormal columns B. Newton's step (24), (25) from λ⁺ is dy = λ⁺ − y + B v with the symmetric
// system of linear_system.h, whose form in the size of the motion is the paper's M + Jᵀ β D J:
//
//     (Bᵀ W B + N⁻¹/β) v = Bᵀ (u − ũ),     ũ = W λ⁺ + q                                                           (1)
//
// and its length makes h least along it (26): the root of du·(y + α dy − λ⁺(α)), which rises with α, by Newton kept
// between bounds. Compliance R is part of W, as if every such row had a spring for a body: K keeps its Euclidean
// projection, and the iterates are those of the paper's metric 1 + βR.
//
// Then λ ← λ⁺, z = ũ + (λ⁺ − λ)/β: the proximal point method with weight 1/β and a lagged Γ. All that the law sees of λ
// and Γ is the centre c = λ − β Γ, so an outer iteration is a map of c, and Anderson's mixing makes more of its
// iterates: where contacts slide, Γ lags and the plain iteration is linear. A large β makes outer iterations few and
// inner ones many, so β rises only while the inner problem is easy (27 raises it whenever the gap ‖c⁺ − c‖/β does not
// fall), and falls where it is hard.
//
// What is left of (13), e = y − λ⁺, is measured in the metric W: ‖e‖² = (y − λ⁺)·(u − ũ). The inner loop ends at a
// fraction of the outer residual, or where rounding of x = c − β u is all there is: with large β that comes early, and
// without the test Newton would turn round in it for ever.
//
// `damped` takes the strict law, Alart and Curnier's map of λ − β u, in place of P_K with Γ: no cascade, no function
// that falls; steps are halved until what is left of (13) falls. It is the paper's comparison (Table II). Where Γ goes
// round in circles, as in wedges, the strict law gets out of them, and the other way round: each takes over where the
// other comes no nearer. Of the 522 generated problems of the tests the cascade alone solves 512 to a natmap_unit of
// 1e-6, at 137 factorisations on average, the strict law alone 519 at 53, both together all at 58. What constants are
// said to cost below is this average.
#include <float.h>
#include <math.h>
#include <string.h>

#include "anderson.h"
#include "math3.h"
#include "methods.h"
#include "modes.h"

enum {
  S = TRIBO_CONE_ROWS,
  INNER_STEPS = 50,       // Newton steps of one outer iteration
  FACTORISATIONS = 2000,  // of a solve, where no one says what it may spend
  SEARCH = 40,            // trials of one search
  HALVINGS = 12,          // of a damped step
  MIXED = 5,              // outer iterations that are mixed: 3 and 8 cost the same
  CASCADE_IDLE = 2,       // outer iterations without progress after which the strict law takes over,
  STRICT_IDLE = 4         // and the cascade again: 1 and 4 cost 59, 4 and 8 cost 65
};
typedef enum Inner { BOTH, DAMPED, CASCADE } Inner;
static const double FIRST_INNER = 0.1;  // relative size of e up to which (13) is solved first (0.3: 61), then
static const double INNER = 0.3;        // of the outer residual: 0.1 costs 68, 0.5 costs 64
static const double PROGRESS = 0.5;     // of the best residual (0.3: 59)
static const double SEARCHED = 1e-6;    // of a step's slope: what a search leaves
static const double STIFF = 1e10;       // N⁻¹/β, at most: a direction that hardly gives

typedef struct Canal {
  double* centre;         // (n) c
  double *y, *u;          // (n) Newton's point
  double *x, *xu;         // (n) λ⁺ and ũ = W λ⁺ + q
  double *dy, *du;        // (n) a step
  double *arg, *b;        // (n) c − β u; scratch
  double beta;            // β
  double left, rounding;  // ‖e‖, and what rounding leaves of it
  int damped;             // the strict law
  double best;            // residual of the last progress
  int idle;               // outer iterations since
  TriboAnderson memory;
} Canal;

// λ⁺ of velocities u
static void answer_of_law(const TriboScaled* sc, const Canal* a, const double* u, double* arg, double* x) {
  for (int i = 0; i < sc->n; ++i) {
    arg[i] = a->centre[i] - a->beta * u[i];
  }
  if (a->damped) {
    tribo_sol_alart_curnier(sc, arg, x);
  } else {
    tribo_sol_project(sc, arg, x);
  }
}

// λ⁺ and ũ of Newton's point, and what is left of (13).
static void ask(TriboSolver* s, Canal* a) {
  const TriboScaled* sc = &s->scaled;
  double sum = 0, rounding = 0;
  answer_of_law(sc, a, a->u, a->arg, a->x);
  tribo_sol_velocity(s, a->x, a->xu);
  for (int i = 0; i < sc->n; ++i) {
    const double size = a->beta * (fabs(a->u[i]) + fabs(sc->q[i])) + fabs(a->centre[i]);
    sum += (a->y[i] - a->x[i]) * (a->u[i] - a->xu[i]);
    rounding += size * size;
  }
  a->left = isfinite(sum) ? sqrt(fmax(sum, 0)) : INFINITY;
  a->rounding = 2 * DBL_EPSILON * sqrt(rounding);
}

// Columns of D that are not 0, and N⁻¹/β, of a round cone at x.
static void local_round(const TriboScaledCone* k, const double* x, double beta, TriboLocal* l) {
  const int m = k->dim - 1;
  const double s = tribo_norm(x, m), n = x[m];
  memset(l->C, 0, sizeof l->C);
  l->symmetric = 1;
  l->identity = s <= k->mu * n;
  l->k = k->mu * s <= -n ? 0 : k->dim;
  double nu = 1;
  if (!l->identity && l->k > 0) {
    // the columns of a slipping contact are those of modes.h, the first one of length 1
    const double unit = 1 / sqrt(1 + k->mu * k->mu);
    tribo_sol_local_slip(k, x, l);
    for (int i = 0; i <= m; ++i) {
      l->B[S * i] *= unit;
      for (int j = 0; j < m; ++j) {
        l->E[S * i + j] = l->B[S * i + j];
      }
    }
    l->symmetric = 1;
    nu = k->mu * (n + k->mu * s) * unit * unit / s;
  }
  for (int i = 0; i < l->k; ++i) {
    l->C[(S + 1) * i] = fmin(1 / (beta * (i > 0 ? nu : 1)), STIFF);
  }
}

// Factors of (1) at the present point; 1 when a pivot broke down.
static int factorise(TriboSolver* s, Canal* a) {
  const TriboScaled* sc = &s->scaled;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    TriboLocal* l = &s->system.local[c];
    if (k->round && !a->damped) {
      local_round(k, a->arg + k->row, a->beta, l);
      continue;
    }
    double slip = 0;
    if (k->round) {
      slip = tribo_sol_local_round(k, a->arg + k->row, a->beta, l);
    } else {
      tribo_sol_local_rows(sc, k, a->arg + k->row, l, a->b + k->row);
    }
    for (int i = 0; i < l->k; ++i) {
      l->C[(S + 1) * i] = 1 / a->beta + (k->round && i > 0 ? slip : 0);
    }
  }
  return tribo_sol_system_factor(&s->system);
}

// Newton's step (1); 1 when there is none.
static int newton_step(TriboSolver* s, Canal* a) {
  const int n = s->scaled.n;
  double sum = 0;
  if (factorise(s, a) != 0) {
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    a->b[i] = a->u[i] - a->xu[i];
  }
  tribo_sol_system_solve(&s->system, a->b, a->dy, s->system.form == TRIBO_FORM_SPARSE);
  tribo_sol_apply(&s->scaled, a->dy, a->du);
  for (int i = 0; i < n; ++i) {
    a->dy[i] += a->x[i] - a->y[i];
    a->du[i] += a->xu[i] - a->u[i];
    sum += a->dy[i] + a->du[i];
  }
  return !isfinite(sum);
}

// dᵀ D d of a round cone at x, with λ⁺ in p
static inline double curvature(const TriboScaledCone* k, const double* x, const double* d, double* p) {
  const int m = k->dim - 1;
  const double s = tribo_norm(x, m), n = x[m];
  double square = tribo_dot(d, d, m);
  if (s <= k->mu * n) {
    memcpy(p, x, sizeof(double) * (size_t)k->dim);
    return square + d[m] * d[m];
  }
  if (k->mu * s <= -n) {
    memset(p, 0, sizeof(double) * (size_t)k->dim);
    return 0;
  }
  const double unit = 1 / (1 + k->mu * k->mu), h = (n + k->mu * s) * unit, along = tribo_dot(x, d, m) / s;
  for (int i = 0; i < m; ++i) {
    p[i] = k->mu * h / s * x[i];
  }
  p[m] = h;
  const double face = k->mu * along + d[m];
  return unit * face * face + k->mu * h / s * (square - along * along);
}

// φ'(α) = du·(y + α dy − λ⁺), and φ''
static double slope(const TriboScaled* sc, const Canal* a, double alpha, double* curve) {
  double first = 0, second = 0, bent = 0;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    const double *du = a->du + k->row, *dy = a->dy + k->row;
    double x[S], p[S];
    for (int i = 0; i < k->dim; ++i) {
      const int r = k->row + i;
      x[i] = a->centre[r] - a->beta * (a->u[r] + alpha * du[i]);
    }
    if (k->round) {
      bent += curvature(k, x, du, p);
    } else {
      for (int i = 0; i < k->dim; ++i) {
        p[i] = tribo_clamp(x[i], sc->lo[k->row + i], sc->hi[k->row + i]);
        bent += p[i] == x[i] ? du[i] * du[i] : 0;
      }
    }
    for (int i = 0; i < k->dim; ++i) {
      first += du[i] * (a->y[k->row + i] + alpha * dy[i] - p[i]);
      second += du[i] * dy[i];
    }
  }
  *curve = second + a->beta * bent;
  return first;
}

// How far to go along a step: to the root of φ', which rises.
static double exact_length(const TriboScaled* sc, const Canal* a) {
  double curve, lo = 0, hi = INFINITY, alpha = 1;
  const double end = SEARCHED * fabs(slope(sc, a, 0, &curve));
  for (int it = 0; it < SEARCH; ++it) {
    const double now = slope(sc, a, alpha, &curve);
    if (fabs(now) <= end) {
      break;
    }
    *(now < 0 ? &lo : &hi) = alpha;
    double next = alpha - now / curve;
    if (!(next > lo && next < hi)) {
      next = isfinite(hi) ? 0.5 * (lo + hi) : 2 * alpha;
    }
    if (hi - lo <= DBL_EPSILON * hi) {
      break;
    }
    alpha = next;
  }
  return alpha;
}

static void move(TriboSolver* s, Canal* a, double part) {
  for (int i = 0; i < s->scaled.n; ++i) {
    a->y[i] += part * a->dy[i];
    a->u[i] += part * a->du[i];
  }
  ask(s, a);
}

// Halves the step until it makes less of what is left.
static void damped_move(TriboSolver* s, Canal* a) {
  const double before = a->left;
  double at = 1;
  move(s, a, at);
  for (int it = 0; it < HALVINGS && !(a->left < (1 - 1e-4 * at) * before); ++it) {
    move(s, a, -0.5 * at);
    at *= 0.5;
  }
}

// Tests see every point of the inner loop.
static void show(const TriboSolver* s, const Canal* a, int step) {
  if (s->watch_canal != NULL) {
    s->watch_canal(s, &(TriboCanalPoint){a->centre, a->y, a->beta, a->damped, step}, s->watch_user);
  }
}

// Solves (13) to `goal` of its size; returns how many Newton steps that took.
static int minimise(TriboSolver* s, Canal* a, double goal) {
  const TriboScaled* sc = &s->scaled;
  int steps = 0;
  ask(s, a);
  while (steps < INNER_STEPS) {
    double size = 0;
    for (int i = 0; i < sc->n; ++i) {
      size += a->x[i] * (a->xu[i] - sc->q[i]);
    }
    show(s, a, steps);
    if (a->left <= fmax(goal * 2 * sqrt(fmax(size, 0)), a->rounding) || s->effort >= s->most_effort ||
        newton_step(s, a) != 0) {
      break;
    }
    steps++;
    if (a->damped) {
      damped_move(s, a);
    } else {
      move(s, a, exact_length(sc, a));
    }
  }
  return steps;
}

// to = λ − β Γ(z); the strict law has no Γ
static void centre_of(const TriboScaled* sc, const Canal* a, const double* lambda, const double* z, double* to) {
  const double beta = a->damped ? 0 : a->beta;
  memcpy(to, lambda, sizeof(double) * (size_t)sc->n);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (k->round) {
      to[k->row + k->dim - 1] -= beta * k->mu * tribo_norm(z + k->row, k->dim - 1);
    }
  }
}

// β for the next outer iteration, after `steps` Newton steps and with this gap: stiffer only while it is easy.
static double next_beta(const TriboCanalSettings* set, const Canal* a, int steps, double gap, double gap_before) {
  if (steps > set->hard) {
    return fmax(a->beta / set->beta_factor, set->beta);
  }
  if (steps <= set->easy && gap > set->reduction * gap_before) {
    return fmin(a->beta * set->beta_factor, fmax(set->beta, set->beta_max));
  }
  return a->beta;
}

// The centre after this one. Returns the gap.
static double move_centre(TriboSolver* s, Canal* a, int steps, double gap_before) {
  const TriboScaled* sc = &s->scaled;
  const size_t bytes = sizeof(double) * (size_t)sc->n;
  double *z = a->dy, gap = 0;
  for (int i = 0; i < sc->n; ++i) {
    z[i] = a->xu[i] + (a->x[i] - a->centre[i]) / a->beta;
  }
  centre_of(sc, a, a->x, z, a->b);
  for (int i = 0; i < sc->n; ++i) {
    gap += (a->b[i] - a->centre[i]) * (a->b[i] - a->centre[i]);
  }
  gap = sqrt(gap) / a->beta;
  const double beta = next_beta(&s->settings.canal, a, steps, gap, gap_before);
  if (beta != a->beta) {
    a->beta = beta;
    centre_of(sc, a, a->x, z, a->b);
    tribo_sol_anderson_restart(&a->memory);
  }
  tribo_sol_anderson_step(&a->memory, sc->n, a->b);
  memcpy(a->centre, a->b, bytes);
  memcpy(a->y, a->x, bytes);
  memcpy(a->u, a->xu, bytes);
  return gap;
}

// Where an inner loop of one kind comes no nearer, the other kind takes over.
static void watch_progress(TriboSolver* s, Canal* a, double residual) {
  if (residual < PROGRESS * a->best) {
    a->best = residual;
    a->idle = 0;
  } else if (++a->idle >= (a->damped ? STRICT_IDLE : CASCADE_IDLE) && s->settings.canal.inner == BOTH) {
    a->damped = !a->damped;
    a->idle = 0;
    tribo_sol_anderson_restart(&a->memory);
  }
}

static void begin(TriboSolver* s, Canal* a) {
  const TriboScaled* sc = &s->scaled;
  const size_t bytes = sizeof(double) * (size_t)sc->n;
  double** vectors[] = {&a->centre, &a->y, &a->u, &a->x, &a->xu, &a->dy, &a->du, &a->arg, &a->b};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = tribo_sol_take(s);
  }
  tribo_sol_anderson_begin(&a->memory, &s->scratch, MIXED);
  memset(a->y, 0, bytes);
  tribo_sol_project(sc, a->y, a->y);
  const double* z = a->u;
  if (tribo_sol_warm_is_better(s)) {
    memcpy(a->y, s->warm_x, bytes);
    z = s->warm_u;
  }
  tribo_sol_velocity(s, a->y, a->u);
  centre_of(sc, a, a->y, z, a->centre);
}

void tribo_sol_run_canal(TriboSolver* s) {
  const TriboCanalSettings* set = &s->settings.canal;
  const size_t pool_mark = s->scratch.used;
  Canal a = {.beta = set->beta, .damped = set->inner == DAMPED, .best = INFINITY};
  double goal = FIRST_INNER, gap = INFINITY;
  tribo_sol_bound_effort(s, FACTORISATIONS);
  tribo_sol_enter_stage(s, TRIBO_RUNG_CANAL);
  begin(s, &a);
  while (!tribo_sol_stop(s)) {
    const int steps = minimise(s, &a, goal);
    s->iterations++;
    if (s->iterations % set->check_every == 0 || s->iterations >= set->max_iterations) {
      const double residual = tribo_sol_record(s, a.x, a.xu).unit;
      goal = fmin(goal, fmax(INNER * residual, DBL_EPSILON));
      watch_progress(s, &a, residual);
    }
    gap = move_centre(s, &a, steps, gap);
  }
  s->scratch.used = pool_mark;
}
