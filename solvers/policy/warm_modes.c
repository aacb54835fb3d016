// The warm start by modes (an active set step): keep the contact modes of the step before, and among the impulses that
// these modes allow stay near the old ones in the metric of the cones' barrier.
//
// Modes come from y = x_old − u_old. With B the sum over sticking cones of −log(μ² x_N² − ‖x_f‖²), k = max |x| and
// H = ε k² ∇²B at the centre (the old point held inside its cone), the active rows satisfy
//
//     u + H (x − centre) + c ε k² ∇B = 0
//
// so in a hyperstatic stack, where many impulses do, those deep inside the cones are found. c = 1 centres them; where
// that does not solve the problem, c = 0 tells the modes better, and where there is no choice it is all. How deep the
// centre is held inside is a matter of the neighbours: the corners of one face share its load, and one that happens to
// carry none of it must be free to take some, while a face that carries little altogether must not be torn off its
// bodies.
//
// The same factors then move the centre along: x ← x − (W + H)⁻¹ u, which removes what centring and rounding have left.
// Slip turns from point to point; moves follow it, with factors that are those of where it was. Where there is no
// choice, Anderson mixing of the moves corrects what the factors get wrong. A pass that does not solve the problem
// gives the modes and the centre of the next.
//
// Before any of it the old impulses themselves have been scored (accept_warm.c): those that solve the new problem just
// so are improved by one pass.
#include <math.h>
#include <string.h>

#include "anderson.h"
#include "modes.h"
#include "policy.h"
#include "small_dense.h"

enum { S = TRIBO_CONE_ROWS, PASSES = 10, MOVES = 8, REFINE = 1 };
static const double EPSILON = 1e-10;
static const double SLIP_STIFFNESS = 1e3;   // of ε in slipping cones, over the size of the impulses
static const double FLOOR_FRACTION = 1e-4;  // of the largest impulse: floor of a centre's normal impulse,
static const double PAIR_FRACTION = 0.1;    // and of the largest between the same bodies
static const double GOOD = 0.01;            // fraction of the tolerance at which moves end,
static const double FINE = 1e-5;            // and at which they end where the old impulses solve the problem already

typedef struct WarmModes {
  double *x, *u;          // (n) the present answer and its u = W x + q; before a pass: where the modes come from
  double* centre;         // (n)
  double* min_normal;     // (n) impulse that the centre of a round cone has at least, in its normal row
  double *grad, *metric;  // (n) ε k² ∇B, diagonal of H outside sticking cones
  double* fixed;          // (n) rows at their bounds
  double* next;           // (n) the answer that is tried
  double *trial, *v;      // (n) `next` put into its cones as it is scored, and its velocity
  double* b;              // (n) right-hand side
  int is_determined;      // 1: the modes leave no choice of impulses

  TriboAndersonMoves moves;  // of the centre, where the modes leave no choice
} WarmModes;

// C += ε k² ∇²B and grad = ε k² ∇B of a sticking cone with centre c, held inside where it is less than `least`
static void barrier(const TriboScaledCone* k, const double* c, double size, double min_normal, double* C,
                    double* grad) {
  int m = k->dim - 1;
  double n = fmax(c[m], min_normal), s = tribo_norm(c, m), mu2 = k->mu * k->mu, t[S], weight = EPSILON * size * size;
  double inside = s > 0 ? fmin(1, 0.9 * k->mu * n / s) : 1, det = mu2 * n * n;
  for (int i = 0; i < m; ++i) {
    t[i] = inside * c[i];
    det -= t[i] * t[i];
  }
  double g[S];
  for (int i = 0; i < m; ++i) {
    g[i] = 2 * t[i] / det;
  }
  g[m] = -2 * mu2 * n / det;
  for (int i = 0; i <= m; ++i) {
    grad[i] = weight * g[i];
    for (int j = 0; j <= m; ++j) {
      C[S * i + j] += weight * g[i] * g[j];
    }
    C[S * i + i] += weight * (i < m ? 2 / det : -2 * mu2 / det);
  }
}

// the same for a bounded row inside its bounds
static void row_barrier(double lo, double hi, double c, double size, double* C, double* grad) {
  double weight = EPSILON * size * size, min_normal = FLOOR_FRACTION * size;
  *C += EPSILON;
  *grad = 0;
  if (lo > -INFINITY) {
    double d = fmax(c - lo, fmin(min_normal, 0.5 * (hi - lo)));
    *C += weight / (d * d);
    *grad -= weight / d;
  }
  if (hi < INFINITY) {
    double d = fmax(hi - c, fmin(min_normal, 0.5 * (hi - lo)));
    *C += weight / (d * d);
    *grad += weight / d;
  }
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

// The floor of each centre's normal impulse, from the largest impulse of all and the largest between its own bodies.
static void centre_floor(const TriboScaled* sc, WarmModes* w, double size) {
  for (int c = 0, next; c < sc->ncone; c = next) {
    double most = 0;
    for (next = c; next < sc->ncone && (next == c || same_bodies(sc->problem, next)); ++next) {
      const TriboScaledCone* k = &sc->cone[next];
      most = k->round ? fmax(most, w->centre[k->row + k->dim - 1]) : most;
    }
    for (int i = c; i < next; ++i) {
      w->min_normal[sc->cone[i].row + sc->cone[i].dim - 1] = fmax(FLOOR_FRACTION * size, PAIR_FRACTION * most);
    }
  }
}

// modes and barrier metric of rows with bounds; y says which of them are inside
static void prepare_rows(TriboSolver* s, WarmModes* w, const TriboScaledCone* k, double size, const double* y,
                         TriboLocal* l) {
  const TriboScaled* sc = &s->scaled;
  tribo_sol_local_rows(sc, k, y, l, w->fixed + k->row);
  for (int i = k->row, unknown = 0; i < k->row + k->dim; ++i, ++y) {
    if (*y > sc->lo[i] && *y < sc->hi[i]) {
      row_barrier(sc->lo[i], sc->hi[i], w->centre[i], size, &w->metric[i], &w->grad[i]);
      l->C[(S + 1) * unknown++] = w->metric[i];
    }
  }
}

static int is_slipping(const TriboSolver* s, int c) {
  const TriboLocal* l = &s->system.local[c];
  return s->scaled.cone[c].round && l->k > 0 && !l->identity;
}

// Supports that slip and are too many contradict each other by rounding, and impulses drift by that over the metric;
// small impulses are held the more, because with them the direction of slip would turn.
static void stiffen_slipping(TriboSolver* s, WarmModes* w, double size) {
  const double more = fmax(1, SLIP_STIFFNESS / size);
  for (int c = 0; c < s->scaled.ncone; ++c) {
    const TriboScaledCone* k = &s->scaled.cone[c];
    TriboLocal* l = &s->system.local[c];
    if (!is_slipping(s, c)) {
      continue;
    }
    for (int i = 0; i < l->k; ++i) {
      l->C[(S + 1) * i] += (more - 1) * w->metric[k->row];
    }
    for (int i = k->row; i < k->row + k->dim; ++i) {
      w->metric[i] *= more;
    }
  }
}

// modes, barrier metric and factorisation; 0, or 1 when a pivot broke down
static int factorise(TriboSolver* s, WarmModes* w) {
  const TriboScaled* sc = &s->scaled;
  double size = fmax(tribo_max_abs(w->centre, sc->n), 1e-300), *y = w->b;
  for (int i = 0; i < sc->n; ++i) {
    y[i] = w->x[i] - w->u[i];
    w->fixed[i] = w->grad[i] = w->metric[i] = 0;
  }
  centre_floor(sc, w, size);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    TriboLocal* l = &s->system.local[c];
    const double *at = w->centre + k->row, min_normal = w->min_normal[k->row + k->dim - 1];
    if (!k->round) {
      prepare_rows(s, w, k, size, y + k->row, l);
      continue;
    }
    double slide = tribo_sol_local_round(k, y + k->row, 1, l);
    if (l->identity) {
      barrier(k, at, size, min_normal, l->C, w->grad + k->row);
      continue;
    }
    double ratio = size / fmax(at[k->dim - 1], min_normal), weight = EPSILON * ratio * ratio;
    for (int i = 0; i < k->dim; ++i) {
      w->metric[k->row + i] = weight;
    }
    for (int i = 0; i < l->k; ++i) {
      l->C[(S + 1) * i] = weight + (i > 0 ? slide : 0);
    }
  }
  w->is_determined = tribo_sol_is_determined(s);
  if (!w->is_determined) {
    stiffen_slipping(s, w, size);
  }
  return tribo_sol_system_factor(&s->system);
}

// x: the answer of the present factors, with c as the weight of centring
static void solve_factored(TriboSolver* s, WarmModes* w, double centring) {
  const TriboScaled* sc = &s->scaled;
  double* b = w->b;
  memset(b, 0, sizeof(double) * (size_t)sc->n);
  if (tribo_max_abs(w->fixed, sc->n) > 0) {
    tribo_sol_apply(sc, w->fixed, b);
  }
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    const TriboLocal* l = &s->system.local[c];
    for (int i = 0; i < k->dim; ++i) {
      int row = k->row + i;
      double pull = w->metric[row] * w->centre[row] - centring * w->grad[row];
      if (k->round && l->identity) {
        for (int j = 0; j < k->dim; ++j) {
          pull += l->C[S * i + j] * w->centre[k->row + j];
        }
      }
      b[row] = pull - sc->q[row] - b[row];
    }
  }
  tribo_sol_system_solve(&s->system, b, w->x, REFINE);
  for (int i = 0; i < sc->n; ++i) {
    w->x[i] += w->fixed[i];
  }
}

// The residual of a slipping cone at x with velocity u: u_N, and across the slip u_f + c x_f. Direction and c come from
// y = x − u, or where that does not slip from the factors.
static void slip_residual(const TriboScaledCone* k, const TriboLocal* l, const double* x, const double* u,
                          double* out) {
  const int m = k->dim - 1;
  double y[S], t[S], size = 0, along = 0, slide = l->C[S + 1] - l->C[0];
  for (int i = 0; i <= m; ++i) {
    y[i] = x[i] - u[i];
    size += i < m ? y[i] * y[i] : 0;
    t[i] = l->B[S * i] / k->mu;
  }
  if (tribo_sol_mode(k, y) == TRIBO_SLIP) {
    size = sqrt(size);
    slide = fmin(size / (k->mu * y[m]) - 1, 1e10);
    for (int i = 0; i < m; ++i) {
      t[i] = y[i] / size;
    }
  }
  for (int i = 0; i < m; ++i) {
    out[i] = u[i] + slide * x[i];
    along += t[i] * out[i];
  }
  for (int i = 0; i < m; ++i) {
    out[i] -= along * t[i];
  }
  out[m] = u[m];
}

// A move leaves the cone of a contact whose slip turns: back onto it.
static void scale_onto_cone(const TriboScaledCone* k, double* x) {
  const int m = k->dim - 1;
  const double size = tribo_norm(x, m);
  if (size > 0 && x[m] > 0) {
    for (int i = 0; i < m; ++i) {
      x[i] *= k->mu * x[m] / size;
    }
  }
}

// Do the modes at `trial` agree with those of the factors?
static int modes_agree(const TriboSolver* s, const WarmModes* w) {
  const TriboScaled* sc = &s->scaled;
  int agree = 1;
  for (int c = 0; c < sc->ncone && agree; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    const TriboLocal* l = &s->system.local[c];
    double y[S];
    int inside = 0;
    for (int i = 0; i < k->dim; ++i) {
      y[i] = w->trial[k->row + i] - w->v[k->row + i];
      inside += !k->round && y[i] > sc->lo[k->row + i] && y[i] < sc->hi[k->row + i];
    }
    const TriboMode mode = l->k == 0 ? TRIBO_OPEN : l->identity ? TRIBO_STICK : TRIBO_SLIP;
    agree = k->round ? tribo_sol_mode(k, y) == mode : inside == l->k;
  }
  return agree;
}

// next: the answer of the present factors with its centre moved to `trial`
static void move_centre(TriboSolver* s, WarmModes* w) {
  const TriboScaled* sc = &s->scaled;
  memcpy(w->b, w->v, sizeof(double) * (size_t)sc->n);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (is_slipping(s, c)) {
      slip_residual(k, &s->system.local[c], w->trial + k->row, w->v + k->row, w->b + k->row);
    }
  }
  tribo_sol_system_solve(&s->system, w->b, w->next, 0);
  for (int i = 0; i < sc->n; ++i) {
    w->next[i] = -w->next[i];
  }
  if (w->is_determined) {
    tribo_sol_anderson_mix(&w->moves, sc->n, w->trial, w->next);
  }
  for (int i = 0; i < sc->n; ++i) {
    w->next[i] += w->trial[i];
  }
  for (int c = 0; c < sc->ncone; ++c) {
    if (is_slipping(s, c)) {
      scale_onto_cone(&sc->cone[c], w->next + sc->cone[c].row);
    }
  }
}

// the score of x after the map that puts it into the cones
static double score_answer(TriboSolver* s, WarmModes* w, const double* x) {
  tribo_sol_alart_curnier(&s->scaled, x, w->trial);
  tribo_sol_velocity(s, w->trial, w->v);
  return tribo_sol_record(s, w->trial, w->v).value;
}

// The answer of the present factors, then with its centre moved while that halves the residual; mixed moves may fail to
// once, unless the modes have changed. Returns the score that is left.
static double solve_and_move(TriboSolver* s, WarmModes* w, double centring, double enough) {
  solve_factored(s, w, centring);
  tribo_sol_anderson_moves_restart(&w->moves);
  double last = score_answer(s, w, w->x);
  for (int move = 0, idle = 0; move < MOVES && last > enough; ++move) {
    move_centre(s, w);
    const double value = score_answer(s, w, w->next);
    if (value < 0.5 * last) {
      memcpy(w->x, w->next, sizeof(double) * (size_t)s->scaled.n);
      last = value;
      idle = 0;
    } else if (idle++ > 0 || !w->is_determined || !modes_agree(s, w)) {
      break;
    }
  }
  return last;
}

int tribo_sol_is_determined(const TriboSolver* s) {
  int unknowns = 0;
  for (int c = 0; c < s->scaled.ncone; ++c) {
    unknowns += s->system.local[c].k;
  }
  return unknowns <= s->scaled.nv;
}

// A contact or limit that has just come closes or stays open as the old impulses of the others say. Those that have
// been open before are left so: under a stack, where a small change of a heavy load throws a light body about, old
// impulses say too much.
static void init_new_contacts(TriboSolver* s, WarmModes* w) {
  const TriboScaled* sc = &s->scaled;
  int has_velocity = 0;
  if (s->warm_known == NULL) {
    return;
  }
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    if (s->warm_known[c]) {
      continue;
    }
    if (!has_velocity) {
      tribo_sol_velocity(s, w->x, w->v);
      has_velocity = 1;
    }
    memcpy(w->u + k->row, w->v + k->row, sizeof(double) * (size_t)k->dim);
  }
}

void tribo_sol_warm_modes(TriboSolver* s, int turns) {
  const size_t bytes = sizeof(double) * (size_t)s->scaled.n, pool_mark = s->scratch.used;
  WarmModes w;
  double** vectors[] = {&w.x,     &w.u,    &w.centre, &w.min_normal, &w.grad, &w.metric,
                        &w.fixed, &w.next, &w.trial,  &w.v,          &w.b};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = tribo_sol_take(s);
  }
  tribo_sol_anderson_moves_begin(&w.moves, &s->scratch);
  memcpy(w.x, s->warm_x, bytes);
  memcpy(w.u, s->warm_u, bytes);
  memcpy(w.centre, s->warm_x, bytes);
  init_new_contacts(s, &w);
  const double enough = s->warm_value <= 1 ? FINE : GOOD;
  double before[2] = {INFINITY, INFINITY};
  for (int pass = 0; pass < PASSES && (pass == 0 || !tribo_sol_stop(s)); ++pass) {
    s->iterations++;
    if (factorise(s, &w) != 0) {
      break;
    }
    double last = w.is_determined ? INFINITY : solve_and_move(s, &w, 1, enough);
    if (last > 1) {
      last = solve_and_move(s, &w, 0, enough);
    }
    // modes often turn there and back: every second pass (turns 2) has to come nearer, where there are many ways to
    // turn
    if (tribo_sol_done(s) || (!w.is_determined && !(last < 0.5 * before[pass % turns]))) {
      break;
    }
    before[pass % turns] = last;
    tribo_sol_velocity(s, w.x, w.u);
    tribo_sol_alart_curnier(&s->scaled, w.x, w.centre);
  }
  if (s->warm_value <= 1 && !tribo_sol_done(s)) {
    tribo_sol_velocity(s, s->warm_x, w.v);
    tribo_sol_record(s, s->warm_x, w.v);
  }
  s->scratch.used = pool_mark;
}
