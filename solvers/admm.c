// ADMM on the nonlinear problem (Carpentier, Le Lidec, Montaut 2024, Algorithm 1), on the row-scaled problem:
//
//     (W + (η + ρ) I) x⁺ = η x + ρ y + z − q − Γ(z)
//     y⁺ = P_K(x̂ − z/ρ),   x̂ = ω x⁺ + (1 − ω) y
//     z⁺ = z − ρ (x̂ − y⁺)
//
// z estimates σ̂ and lives in K*; De Saxcé's term is taken from it. ρ starts at √(ηL) (L/η)^p, p = 0.2, L the largest
// eigenvalue of W, and is then moved to balance the two residuals, or by steps of its exponent.
#include <math.h>
#include <string.h>

#include "solver.h"

// largest eigenvalue of W by a few power steps
static double largest_eigenvalue(TriboSolver* s) {
  size_t mark = s->pool_used;
  int n = s->scaled.n;
  double *v = tribo_sol_take(s), *w = tribo_sol_take(s), size = 0;
  for (int i = 0; i < n; ++i) {
    v[i] = 1;
  }
  for (int it = 0; it < 13; ++it) {
    tribo_sol_apply(&s->scaled, v, w);
    size = tribo_sol_norm(w, n);
    for (int i = 0; i < n; ++i) {
      v[i] = size > 0 ? w[i] / size : 0;
    }
  }
  s->pool_used = mark;
  return size;
}

static int factorise(TriboSolver* s, double diagonal) {
  for (int c = 0; c < s->scaled.ncone; ++c) {
    TriboLocal* l = &s->system.local[c];
    l->k = s->scaled.cone[c].dim;
    l->identity = l->symmetric = 1;
    memset(l->C, 0, sizeof l->C);
    for (int i = 0; i < l->k; ++i) {
      l->C[TRIBO_CONE_ROWS * i + i] = diagonal;
    }
  }
  return tribo_sol_system_factor(&s->system);
}

static double biggest_change(const double* a, const double* b, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    most = fmax(most, fabs(a[i] - b[i]));
  }
  return most;
}

void tribo_sol_admm(TriboSolver* s, TriboAdmm* a) {
  const TriboScaled* sc = &s->scaled;
  int n = sc->n, changes = 0, last = 0;
  size_t mark = s->pool_used;
  double *x = tribo_sol_take(s), *b = tribo_sol_take(s), *y0 = tribo_sol_take(s), *u = tribo_sol_take(s);
  double *y = a->y, *z = a->z, L = 0, exponent = 0.2;
  memcpy(x, y, sizeof(double) * (size_t)n);
  if (a->rho <= 0) {
    L = fmax(largest_eigenvalue(s), a->prox);
    a->rho = sqrt(a->prox * L) * pow(L / a->prox, exponent);
  }
  int failed = factorise(s, a->prox + a->rho);
  double q_size = tribo_sol_max(sc->q, n), stalled = INFINITY;
  for (int it = 0; !failed && it < a->iterations; ++it) {
    double rho = a->rho;
    tribo_sol_shift(sc, z, b);
    for (int i = 0; i < n; ++i) {
      // shift gives z + Γ(z)
      b[i] = a->prox * x[i] + rho * y[i] + 2 * z[i] - sc->q[i] - b[i];
    }
    tribo_sol_system_solve(&s->system, b, x, rho < 1e-6 ? 1 : 0);
    memcpy(y0, y, sizeof(double) * (size_t)n);
    for (int i = 0; i < n; ++i) {
      b[i] = a->omega * x[i] + (1 - a->omega) * y[i];
      y[i] = b[i] - z[i] / rho;
    }
    tribo_sol_project(sc, y, y);
    for (int i = 0; i < n; ++i) {
      z[i] -= rho * (b[i] - y[i]);
    }
    s->iterations++;
    double primal = biggest_change(x, y, n), dual = rho * biggest_change(y, y0, n);
    if (!(fmax(primal, dual) >= 1e-14)) {
      break;
    }
    if (a->check > 0 && it % a->check == a->check - 1) {
      tribo_sol_velocity(s, y, u);
      tribo_sol_note(s, y, u);
      if (tribo_sol_stop(s)) {
        break;
      }
    }
    // rho: keep the relative residuals together
    if (changes < a->refactor && it - last >= 5) {
      double rp = primal / fmax(fmax(tribo_sol_max(x, n), tribo_sol_max(y, n)), 1e-12);
      double rd = dual / fmax(fmax(tribo_sol_max(z, n), q_size), 1e-12);
      double f = sqrt(rp / fmax(rd, 1e-300)), next = rho;
      if (a->rule == 1 && (f > 4 || f < 0.25)) {
        next = rho * fmin(fmax(f, 0.05), 20);
      } else if (a->rule == 2 && L > 0 && (rp > 10 * rd || rd > 10 * rp)) {
        exponent += rp > rd ? 0.05 : -0.05;
        next = sqrt(a->prox * L) * pow(L / a->prox, exponent);
      }
      if (next != rho) {
        a->rho = next;
        failed = factorise(s, a->prox + next);
        changes++;
        last = it;
        stalled = INFINITY;
      }
    }
    // stagnation: a hundredth of the residual's progress in a thousand iterations
    if (it % 1000 == 999) {
      double r = fmax(primal, dual);
      if (r > 0.99 * stalled) {
        break;
      }
      stalled = r;
    }
  }
  tribo_sol_velocity(s, y, u);
  tribo_sol_note(s, y, u);
  s->pool_used = mark;
}

void tribo_sol_run_admm(TriboSolver* s) {
  const TriboAdmmSettings* set = &s->settings.admm;
  int n = s->scaled.n;
  TriboAdmm a = {.y = tribo_sol_take(s),
                 .z = tribo_sol_take(s),
                 .rho = set->rho,
                 .omega = set->over_relaxation,
                 .prox = set->prox,
                 .iterations = set->max_iterations,
                 .refactor = set->rho_rule > 0 ? 10 : 0,
                 .rule = set->rho_rule,
                 .check = set->check_every};
  memset(a.y, 0, sizeof(double) * (size_t)n);
  memset(a.z, 0, sizeof(double) * (size_t)n);
  tribo_sol_enter(s, TRIBO_RUNG_ADMM);
  if (s->warm_x != NULL) {
    // the gate: the old impulses are a start only when they do better than none
    double zero = s->best_score.value;
    size_t mark = s->pool_used;
    double* u = tribo_sol_take(s);
    tribo_sol_velocity(s, s->warm_x, u);
    if (tribo_sol_note(s, s->warm_x, u).value < zero) {
      memcpy(a.y, s->warm_x, sizeof(double) * (size_t)n);
      tribo_sol_shift(&s->scaled, s->warm_u, a.z);
    }
    s->pool_used = mark;
    if (tribo_sol_done(s)) {
      return;
    }
  }
  tribo_sol_admm(s, &a);
}
