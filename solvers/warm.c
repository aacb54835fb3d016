// The warm path: keep the modes of the step before, and among the impulses these modes allow stay near the old ones in
// the metric of the cones' barrier.
//
// Modes come from y = x_old − u_old. With B the sum over sticking cones of −log(μ² x_N² − ‖x_f‖²), k = max |x| and
// H = ε k² ∇²B at the centre (the old point held inside its cone), the active rows satisfy
//
//     u + H (x − centre) + c ε k² ∇B = 0
//
// so in a hyperstatic stack, where many impulses do, those deep inside the cones are found. c in [0, 1] is how much
// centring is asked; the answer is linear in c, so one factorisation serves all of them. A pass that does not solve the
// problem gives the modes and the centre of the next.
#include <math.h>
#include <string.h>

#include "modes.h"
#include "solver.h"

enum { S = TRIBO_CONE_ROWS, PASSES = 6, MOVES = 4 };
static const double EPSILON = 1e-10;

typedef struct Centred {
  double *x, *u, *centre;       // (n) where the modes come from, and the centre
  double *a, *b, *next;         // (n) answers with and without centring, and between
  double *metric, *grad;        // (n) diagonal of H outside sticking cones, ε k² ∇B
  double *fixed, *trial, *v;    // (n) rows at their bounds, the point judged, scratch
  int any_fixed;
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
    w->fixed[i] = w->grad[i] = w->metric[i] = 0;
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
    for (int i = 0; i < k->dim; ++i) {
      w->metric[k->row + i] = weight;
    }
    for (int i = 0; i < l->k; ++i) {
      l->C[(S + 1) * i] = weight + (i > 0 ? slide : 0);
    }
  }
  w->any_fixed = tribo_sol_max(w->fixed, sc->n) > 0;
  return tribo_sol_system_factor(&s->system);
}

// x: the answer for a centre with the present factors
static void solve(TriboSolver* s, Centred* w, const double* centre, double centring, double* x) {
  const TriboScaled* sc = &s->scaled;
  double* b = w->v;
  memset(b, 0, sizeof(double) * (size_t)sc->n);
  if (w->any_fixed) {
    tribo_sol_apply(sc, w->fixed, b);
  }
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboOwnCone* k = &sc->cone[c];
    const TriboLocal* l = &s->system.local[c];
    for (int i = 0; i < k->dim; ++i) {
      int row = k->row + i;
      double pull = w->metric[row] * centre[row] - centring * w->grad[row];
      for (int j = 0; k->round && l->identity && j < k->dim; ++j) {
        pull += l->C[S * i + j] * centre[k->row + j];
      }
      b[row] = pull - sc->q[row] - b[row];
    }
  }
  tribo_sol_system_solve(&s->system, b, x, s->system.form == TRIBO_FORM_DENSE ? 1 : 3);
  for (int i = 0; i < sc->n; ++i) {
    x[i] += w->fixed[i];
  }
}

// judges x after the map; what the next pass starts from is x itself
static double judge(TriboSolver* s, Centred* w, const double* x) {
  tribo_sol_alart_curnier(&s->scaled, x, w->trial);
  tribo_sol_velocity(s, w->trial, w->v);
  return tribo_sol_note(s, w->trial, w->v).value;
}

// as much centring as the residual allows: less only where that halves it. The choice is left in w->x.
static double choose_centring(TriboSolver* s, Centred* w) {
  static const double amounts[] = {0.5, 0.2, 0.05, 0};
  int n = s->scaled.n;
  solve(s, w, w->centre, 1, w->x);
  double last = judge(s, w, w->x);
  if (tribo_sol_done(s)) {
    return last;
  }
  memcpy(w->a, w->x, sizeof(double) * (size_t)n);
  solve(s, w, w->centre, 0, w->b);
  for (size_t m = 0; m < sizeof amounts / sizeof amounts[0] && !tribo_sol_done(s); ++m) {
    for (int i = 0; i < n; ++i) {
      w->next[i] = w->b[i] + amounts[m] * (w->a[i] - w->b[i]);
    }
    double value = judge(s, w, w->next);
    if (value < 0.5 * last) {
      memcpy(w->x, w->next, sizeof(double) * (size_t)n);
      last = value;
    }
  }
  return last;
}

void tribo_sol_centred(TriboSolver* s) {
  int n = s->scaled.n;
  size_t bytes = sizeof(double) * (size_t)n, mark = s->pool_used;
  Centred w;
  double** vectors[] = {&w.x, &w.u, &w.centre, &w.a, &w.b, &w.next, &w.metric, &w.grad, &w.fixed, &w.trial, &w.v};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; ++i) {
    *vectors[i] = tribo_sol_take(s);
  }
  memcpy(w.x, s->warm_x, bytes);
  memcpy(w.u, s->warm_u, bytes);
  memcpy(w.centre, s->warm_x, bytes);
  for (int pass = 0; pass < PASSES && !tribo_sol_stop(s); ++pass) {
    s->iterations++;
    if (factorise(s, &w) != 0) {
      break;
    }
    double last = choose_centring(s, &w);
    // the same factors with the centre moved, while that halves the residual
    for (int move = 0; move < MOVES && !tribo_sol_stop(s); ++move) {
      solve(s, &w, w.x, 0, w.next);
      double value = judge(s, &w, w.next);
      if (!(value < 0.5 * last)) {
        break;
      }
      memcpy(w.x, w.next, bytes);
      last = value;
    }
    if (!isfinite(last)) {
      break;
    }
    // modes and centre for the next pass
    tribo_sol_velocity(s, w.x, w.u);
    tribo_sol_alart_curnier(&s->scaled, w.x, w.centre);
  }
  s->pool_used = mark;
}
