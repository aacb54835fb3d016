// Newton on Alart and Curnier's map, reduced to the unknowns of the modes (the active set) and regularised.
//
// y = x − ρ u chooses open, stick or slip (modes.h). Because the map is positively homogeneous, Newton's equations
// speak of the new point itself:
//     open   x = 0
//     stick  u = 0
//     slip   x = a (μ t, 1) + T b,   u_N = 0,   Tᵀ u_f + c b = 0
// with u = W x⁺ + q + ε (x⁺ − x). A non-monotone line search on f = ‖x − AC(x − ρ u)‖/ρ guards the step; ε falls while
// full steps work and grows when they do not. ρ keeps impulses and velocities comparable.
#include <math.h>
#include <string.h>

#include "modes.h"
#include "methods.h"

enum { MERITS = 4, IDLE_STEPS = 5 };
// Of the impulses among which hyperstatic contacts leave the choice, ε takes those nearest to where a step sets out. An
// ε near rounding leaves the choice to rounding: modes then change for no reason, without end.
static const double LEAST_EPS = 1e-8, IDLE_EPS = 1e-3;

typedef struct Newton {
  double *x, *u;         // (n) the present point and its u = W x + q
  double *step, *du;     // (n) the direction, and W times it
  double *b, *fixed;     // (n) right-hand side; bounds of the rows that are at them, 0 elsewhere
  double* w;             // (n) scratch of a mode or merit
  const double* centre;  // (n) what ε pulls to, when that is not x
  double rho;            // impulses per velocity
  double eps;            // regularisation ε
  double f;              // merit at x
  double past[MERITS];   // the last merits, newest first
  int npast;             // how many there are
  double best_nat;       // [m/s] r_nat of the best point when it was last halved
  int idle_steps;        // steps since then
} Newton;

// impulses per velocity
static double impulse_per_velocity(const TriboSolver* s, const double* x, const double* u) {
  int n = s->scaled.n;
  double v = fmax(fmax(tribo_norm(s->scaled.q, n), tribo_norm(u, n)), 1e-300);
  return fmin(fmax(tribo_norm(x, n) / v, 1e-3), 1e6);
}

// f at x + a step
static double merit(const TriboSolver* s, Newton* w, const double* x, const double* u, double a) {
  int n = s->scaled.n;
  double sum = 0, *y = w->w;
  for (int i = 0; i < n; ++i) {
    y[i] = x[i] + a * w->step[i] - w->rho * (u[i] + a * w->du[i]);
  }
  tribo_sol_alart_curnier(&s->scaled, y, y);
  for (int i = 0; i < n; ++i) {
    double d = x[i] + a * w->step[i] - y[i];
    sum += d * d;
  }
  return sqrt(sum) / w->rho;
}

static void push_merit(Newton* w, double f) {
  memmove(w->past + 1, w->past, sizeof(double) * (MERITS - 1));
  w->past[0] = f;
  w->npast = w->npast < MERITS ? w->npast + 1 : MERITS;
}

static double worst_recent_merit(const Newton* w) {
  double most = 0;
  for (int i = 0; i < w->npast; ++i) {
    most = fmax(most, w->past[i]);
  }
  return most;
}

// step = x⁺ − x; 0, or 1 when the matrix could not be factorised
static int newton_step(TriboSolver* s, Newton* w) {
  const TriboScaled* sc = &s->scaled;
  int n = sc->n, unknowns = 0, any_fixed = 0;
  double* y = w->w;
  for (int i = 0; i < n; ++i) {
    y[i] = w->x[i] - w->rho * w->u[i];
    w->b[i] = -sc->q[i];
    w->fixed[i] = 0;
  }
  // modes, with c on the diagonal of the slip directions; ε follows once the number of unknowns has chosen the form
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    TriboLocal* l = &s->system.local[c];
    if (k->round) {
      double slide = tribo_sol_local_round(k, y + k->row, w->rho, l);
      if (slide > 0) {
        for (int i = 1; i < l->k; ++i) {
          l->C[TRIBO_CONE_ROWS * i + i] = slide;
        }
      }
    } else {
      tribo_sol_local_rows(sc, k, y + k->row, l, w->fixed + k->row);
      for (int i = k->row; i < k->row + k->dim; ++i) {
        any_fixed |= w->fixed[i] != 0;
      }
    }
    unknowns += l->k;
  }
  double eps = fmax(w->eps, tribo_sol_system_least(&s->system, unknowns) / w->rho);
  for (int c = 0; c < sc->ncone; ++c) {
    TriboLocal* l = &s->system.local[c];
    // Eᵀ ε B: for slip the normal row sees a, the others b
    for (int i = 0; i < l->k; ++i) {
      l->C[TRIBO_CONE_ROWS * i + i] += eps;
    }
  }
  if (any_fixed) {
    tribo_sol_apply(sc, w->fixed, w->step);
  }
  const double* centre = w->centre != NULL ? w->centre : w->x;
  for (int i = 0; i < n; ++i) {
    w->b[i] += eps * centre[i] - (any_fixed ? w->step[i] : 0);
  }
  if (tribo_sol_system_factor(&s->system) != 0) {
    return 1;
  }
  tribo_sol_system_solve(&s->system, w->b, w->step, s->system.form == TRIBO_FORM_DENSE ? 1 : 3);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    w->step[i] += w->fixed[i] - w->x[i];
    sum += w->step[i];
  }
  return !isfinite(sum);
}

// takes the longest of 1, ½ … 2⁻⁷ steps that lowers the merit; 0 when none does
static double line_search(TriboSolver* s, Newton* w, double* f) {
  double bound = worst_recent_merit(w), a = 1;
  for (int it = 0; it < 8; ++it, a *= 0.5) {
    *f = merit(s, w, w->x, w->u, a);
    if (*f < (1 - 1e-3 * a) * bound) {
      return a;
    }
  }
  return 0;
}

static void restart_merit(TriboSolver* s, Newton* w) {
  memset(w->step, 0, sizeof(double) * (size_t)s->scaled.n);
  memset(w->du, 0, sizeof(double) * (size_t)s->scaled.n);
  w->f = merit(s, w, w->x, w->u, 0);
}

// Where steps have come no nearer for a while, a larger ε makes them shorter.
static void regularise_when_idle(const TriboSolver* s, Newton* w) {
  w->idle_steps++;
  if (s->best_score.nat < 0.5 * w->best_nat) {
    w->best_nat = s->best_score.nat;
    w->idle_steps = 0;
  } else if (w->idle_steps >= IDLE_STEPS) {
    w->eps = fmax(w->eps, IDLE_EPS / w->rho);
    w->idle_steps = 0;
  }
}

void tribo_sol_newton(TriboSolver* s, double* x, double eps, int max_steps, int max_bad) {
  int n = s->scaled.n, bad = 0;
  const size_t pool_mark = s->scratch.used;
  Newton w = {.x = x, .u = tribo_sol_take(s), .step = tribo_sol_take(s), .du = tribo_sol_take(s)};
  w.b = tribo_sol_take(s), w.fixed = tribo_sol_take(s), w.w = tribo_sol_take(s);
  tribo_sol_velocity(s, x, w.u);
  w.rho = tribo_max_abs(x, n) > 0 ? impulse_per_velocity(s, x, w.u) : 1;
  w.eps = eps / w.rho;
  w.best_nat = INFINITY;
  restart_merit(s, &w);
  push_merit(&w, w.f);
  tribo_sol_record(s, x, w.u);
  for (int it = 0; it < max_steps && !tribo_sol_stop(s) && w.f >= 1e-16; ++it) {
    s->iterations++;
    double f = 0, a = 0;
    if (newton_step(s, &w) == 0) {
      tribo_sol_apply(&s->scaled, w.step, w.du);
      a = line_search(s, &w, &f);
    }
    if (a > 0) {
      double drop = f / w.f;
      for (int i = 0; i < n; ++i) {
        x[i] += a * w.step[i];
      }
      tribo_sol_velocity(s, x, w.u);
      w.f = f;
      tribo_sol_record(s, x, w.u);
      double rho = impulse_per_velocity(s, x, w.u);
      if (!(rho >= 0.5 * w.rho && rho <= 2 * w.rho)) {
        w.rho = rho;
        w.npast = 0;
        restart_merit(s, &w);
      }
      push_merit(&w, w.f);
      if (a > 0.9) {
        w.eps = fmax(0.1 * w.eps, LEAST_EPS / w.rho);
      } else if (a < 0.2) {
        w.eps = fmin(4 * w.eps, 1 / w.rho);
        bad++;
      }
      bad -= a >= 0.2 && drop < 0.1 && bad > 0;
    } else {
      bad++;
      w.eps *= 10;
    }
    regularise_when_idle(s, &w);
    if (bad > max_bad || w.eps * w.rho > 10) {
      break;
    }
  }
  s->scratch.used = pool_mark;
}

double* tribo_sol_take_mode_memory(TriboSolver* s) {
  double* modes = tribo_sol_take(s);
  for (int i = 0; i < s->scaled.n; ++i) {
    modes[i] = -1;
  }
  return modes;
}

// the modes at y: of a round cone in its first row, of rows with bounds one by one; 1 when they are those remembered
static int same_modes(const TriboScaled* sc, const double* y, double* modes) {
  int same = 1;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    for (int i = k->row; i < k->row + (k->round ? 1 : k->dim); ++i) {
      int inside = (y[i] > sc->lo[i]) + (y[i] >= sc->hi[i]),
          mode = k->round ? (int)tribo_sol_mode(k, y + k->row) : inside;
      same &= modes[i] == mode;
      modes[i] = mode;
    }
  }
  return same;
}

// From a point whose modes are right, Newton's full steps end at once; a line search would only be misled by the merit,
// which a contact with a light load or a slow slip hardly moves. Modes that have not changed since the last call are
// taken for right. ε keeps the point near where it came from, among the many that hyperstatic contacts allow; its error
// is squared away by the next step. ρ leans towards the velocities, which tell the modes of a central point better.
void tribo_sol_polish_modes(TriboSolver* s, const double* from, double* modes) {
  enum { STEPS = 3 };
  int n = s->scaled.n;
  const size_t pool_mark = s->scratch.used;
  Newton w = {.x = tribo_sol_take(s), .u = tribo_sol_take(s), .step = tribo_sol_take(s), .eps = 1e-7};
  w.b = tribo_sol_take(s), w.fixed = tribo_sol_take(s), w.w = tribo_sol_take(s);
  double *x = tribo_sol_take(s), *u = tribo_sol_take(s);
  memcpy(w.x, from, sizeof(double) * (size_t)n);
  tribo_sol_velocity(s, w.x, w.u);
  w.rho = 10 * impulse_per_velocity(s, w.x, w.u);
  for (int i = 0; i < n; ++i) {
    u[i] = w.x[i] - w.rho * w.u[i];
  }
  int steps = same_modes(&s->scaled, u, modes) ? STEPS : 0;
  for (int it = 0; it < steps && !tribo_sol_stop(s) && newton_step(s, &w) == 0; ++it) {
    s->iterations++;
    for (int i = 0; i < n; ++i) {
      w.x[i] += w.step[i];
    }
    tribo_sol_velocity(s, w.x, w.u);
    // scored as it would be returned
    tribo_sol_alart_curnier(&s->scaled, w.x, x);
    tribo_sol_velocity(s, x, u);
    tribo_sol_record(s, x, u);
  }
  s->scratch.used = pool_mark;
}

void tribo_sol_run_newton(TriboSolver* s) {
  double* x = tribo_sol_take(s);
  int warm = s->warm_x != NULL;
  tribo_sol_enter_stage(s, warm ? TRIBO_RUNG_NEWTON_WARM : TRIBO_RUNG_NEWTON);
  if (warm) {
    memcpy(x, s->warm_x, sizeof(double) * (size_t)s->scaled.n);
  } else {
    memset(x, 0, sizeof(double) * (size_t)s->scaled.n);
  }
  tribo_sol_newton(s, x, warm ? 1e-4 : 1e-2, s->settings.common.max_iterations, 8);
}
