// The warm path: keep the modes of the step before, and among the impulses these modes allow stay near the old ones in
// the metric of the cones' barrier.
//
// Modes come from y = x_old − u_old. With B the sum over sticking cones of −log(μ² x_N² − ‖x_f‖²), k = max |x| and
// H = ε k² ∇²B at the centre (the old point held inside its cone), the active rows satisfy
//
//     u + H (x − centre) + c ε k² ∇B = 0
//
// so in a hyperstatic stack, where many impulses do, those deep inside the cones are found. c in [0, 1] is how much
// centring is asked; the answer is linear in c, so one factorisation serves all of them, and the same factors then
// move the centre along: x ← x − (W + H)⁻¹ u, which also removes what rounding has left. A pass that does not solve the
// problem gives the modes and the centre of the next.
//
// Before any of it the old impulses themselves are judged (keep.c): those that solve the new problem just so are
// improved by one pass.
#include <math.h>
#include <string.h>

#include "modes.h"
#include "solver.h"

enum { S = TRIBO_CONE_ROWS, PASSES = 10, MOVES = 4, REFINE = 1 };
static const double EPSILON = 1e-10;
static const double FINE = 1e-5;  // of the tolerance: what improves impulses that solve the problem just so

typedef struct Centred {
  double *x, *u;          // (n) the present answer and its u = W x + q; before a pass: where the modes come from
  double* centre;         // (n)
  double *grad, *metric;  // (n) ε k² ∇B, diagonal of H outside sticking cones
  double *fixed, *slide;  // (n) rows at their bounds; c of slipping cones in their normal row
  double *next, *next_u;  // (n) the answer that is tried
  double *d, *wd;         // (n) what full centring adds, and W times it
  double *trial, *v;      // (n) scratch
} Centred;

// C += ε k² ∇²B and grad = ε k² ∇B of a sticking cone with centre c
static void barrier(const TriboOwnCone* k, const double* c, double size, double* C, double* grad) {
  int m = k->dim - 1;
  double n = fmax(c[m], 1e-3 * size), s = 0, mu2 = k->mu * k->mu, t[S], weight = EPSILON * size * size;
  for (int i = 0; i < m; ++i) {
    s += c[i] * c[i];
  }
  s = sqrt(s);
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
  double weight = EPSILON * size * size, least = 1e-3 * size;
  *C += EPSILON;
  *grad = 0;
  if (lo > -INFINITY) {
    double d = fmax(c - lo, fmin(least, 0.5 * (hi - lo)));
    *C += weight / (d * d);
    *grad -= weight / d;
  }
  if (hi < INFINITY) {
    double d = fmax(hi - c, fmin(least, 0.5 * (hi - lo)));
    *C += weight / (d * d);
    *grad += weight / d;
  }
}

// modes, barrier metric and factorisation; 0, or 1 when a pivot broke down
static int factorise(TriboSolver* s, Centred* w) {
  const TriboScaled* sc = &s->scaled;
  double size = fmax(tribo_sol_max(w->centre, sc->n), 1e-300), *y = w->v;
  for (int i = 0; i < sc->n; ++i) {
    y[i] = w->x[i] - w->u[i];
    w->fixed[i] = w->grad[i] = w->metric[i] = w->slide[i] = 0;
  }
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    TriboLocal* l = &s->system.local[c];
    const double* at = w->centre + k->row;
    if (!k->round) {
      tribo_sol_local_rows(sc, k, y + k->row, l, w->fixed + k->row);
      for (int i = k->row, unknown = 0; i < k->row + k->dim; ++i) {
        if (y[i] > sc->lo[i] && y[i] < sc->hi[i]) {
          row_barrier(sc->lo[i], sc->hi[i], w->centre[i], size, &w->metric[i], &w->grad[i]);
          l->C[(S + 1) * unknown++] = w->metric[i];
        }
      }
      continue;
    }
    double slide = tribo_sol_local_round(k, y + k->row, 1, l);
    if (l->identity) {
      barrier(k, at, size, l->C, w->grad + k->row);
      continue;
    }
    double ratio = size / fmax(at[k->dim - 1], 1e-3 * size), weight = EPSILON * ratio * ratio;
    w->slide[k->row + k->dim - 1] = slide;
    for (int i = 0; i < k->dim; ++i) {
      w->metric[k->row + i] = weight;
    }
    for (int i = 0; i < l->k; ++i) {
      l->C[(S + 1) * i] = weight + (i > 0 ? slide : 0);
    }
  }
  return tribo_sol_system_factor(&s->system);
}

// x: the answer of the present factors with full centring
static void solve(TriboSolver* s, Centred* w) {
  const TriboScaled* sc = &s->scaled;
  double* b = w->v;
  memset(b, 0, sizeof(double) * (size_t)sc->n);
  if (tribo_sol_max(w->fixed, sc->n) > 0) {
    tribo_sol_apply(sc, w->fixed, b);
  }
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    const TriboLocal* l = &s->system.local[c];
    for (int i = 0; i < k->dim; ++i) {
      int row = k->row + i;
      double pull = w->metric[row] * w->centre[row] - w->grad[row];
      for (int j = 0; k->round && l->identity && j < k->dim; ++j) {
        pull += l->C[S * i + j] * w->centre[k->row + j];
      }
      b[row] = pull - sc->q[row] - b[row];
    }
  }
  tribo_sol_system_solve(&s->system, b, w->x, REFINE);
  for (int i = 0; i < sc->n; ++i) {
    w->x[i] += w->fixed[i];
  }
  tribo_sol_velocity(s, w->x, w->u);
}

// next: the answer with its centre moved to x
static void move_centre(TriboSolver* s, Centred* w) {
  const TriboScaled* sc = &s->scaled;
  double* b = w->v;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    const TriboLocal* l = &s->system.local[c];
    double slide = w->slide[k->row + k->dim - 1];
    for (int i = 0; i < k->dim; ++i) {
      b[k->row + i] = -w->u[k->row + i];
    }
    // slip: u_f across the slip is to be −c b with b = Tᵀ x_f, not 0
    for (int j = 1; slide > 0 && j < l->k; ++j) {
      double across = 0;
      for (int i = 0; i < k->dim - 1; ++i) {
        across += l->E[S * i + j] * w->x[k->row + i];
      }
      for (int i = 0; i < k->dim - 1; ++i) {
        b[k->row + i] -= slide * l->E[S * i + j] * across;
      }
    }
  }
  tribo_sol_system_solve(&s->system, b, w->next, 0);
  for (int i = 0; i < sc->n; ++i) {
    w->next[i] += w->x[i];
  }
  tribo_sol_velocity(s, w->next, w->next_u);
}

// judges x, whose velocity is u, after the map that puts it into the cones
static double judge(TriboSolver* s, Centred* w, const double* x, const double* u) {
  tribo_sol_alart_curnier(&s->scaled, x, w->trial);
  if (memcmp(w->trial, x, sizeof(double) * (size_t)s->scaled.n) == 0) {
    return tribo_sol_note(s, x, u).value;
  }
  tribo_sol_velocity(s, w->trial, w->v);
  return tribo_sol_note(s, w->trial, w->v).value;
}

static void accept(TriboSolver* s, Centred* w) {
  memcpy(w->x, w->next, sizeof(double) * (size_t)s->scaled.n);
  memcpy(w->u, w->next_u, sizeof(double) * (size_t)s->scaled.n);
}

// as much centring as the residual allows: less only where that halves it
static double choose_centring(TriboSolver* s, Centred* w) {
  static const double less[] = {0.5, 0.3, 0.15, 0.05};  // steps from 1 to 0.5, 0.2, 0.05 and 0
  int n = s->scaled.n;
  solve(s, w);
  double last = judge(s, w, w->x, w->u), taken = 0, removed = 0;
  if (last <= 1) {
    return last;
  }
  for (int i = 0; i < n; ++i) {
    w->v[i] = -w->grad[i];
  }
  tribo_sol_system_solve(&s->system, w->v, w->d, 0);
  tribo_sol_apply(&s->scaled, w->d, w->wd);
  // the residual is about linear in c: when even 0.05 of it is too much, no centring at all is tried first
  if (0.05 * last > 1) {
    for (int i = 0; i < n; ++i) {
      w->next[i] = w->x[i] - w->d[i];
      w->next_u[i] = w->u[i] - w->wd[i];
    }
    double value = judge(s, w, w->next, w->next_u);
    if (value <= 1) {
      accept(s, w);
      return value;
    }
  }
  for (size_t m = 0; m < sizeof less / sizeof less[0] && last > 1; ++m) {
    removed += less[m];
    for (int i = 0; i < n; ++i) {
      w->next[i] = w->x[i] - (removed - taken) * w->d[i];
      w->next_u[i] = w->u[i] - (removed - taken) * w->wd[i];
    }
    double value = judge(s, w, w->next, w->next_u);
    if (value < 0.5 * last) {
      accept(s, w);
      last = value;
      taken = removed;
    }
  }
  return last;
}

void tribo_sol_centred(TriboSolver* s) {
  size_t bytes = sizeof(double) * (size_t)s->scaled.n, mark = s->pool_used;
  Centred w;
  double** vectors[] = {&w.x,    &w.u,      &w.centre, &w.grad, &w.metric, &w.fixed, &w.slide,
                        &w.next, &w.next_u, &w.d,      &w.wd,   &w.trial,  &w.v};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = tribo_sol_take(s);
  }
  memcpy(w.x, s->warm_x, bytes);
  memcpy(w.u, s->warm_u, bytes);
  memcpy(w.centre, s->warm_x, bytes);
  const double enough = s->warm_value <= 1 ? FINE : 1;
  double before[2] = {INFINITY, INFINITY};
  for (int pass = 0; pass < PASSES && (pass == 0 || !tribo_sol_stop(s)); ++pass) {
    s->iterations++;
    if (factorise(s, &w) != 0) {
      break;
    }
    double last = choose_centring(s, &w);
    // the same factors with the centre moved, while that halves the residual
    for (int move = 0; move < MOVES && last > enough; ++move) {
      move_centre(s, &w);
      double value = judge(s, &w, w.next, w.next_u);
      if (!(value < 0.5 * last)) {
        break;
      }
      accept(s, &w);
      last = value;
    }
    // modes often turn there and back: every second pass has to come nearer
    if (!(last < 0.5 * before[pass % 2])) {
      break;
    }
    before[pass % 2] = last;
    tribo_sol_alart_curnier(&s->scaled, w.x, w.centre);
  }
  if (s->warm_value <= 1 && !tribo_sol_done(s)) {
    tribo_sol_velocity(s, s->warm_x, w.v);
    tribo_sol_note(s, s->warm_x, w.v);
  }
  s->pool_used = mark;
}
