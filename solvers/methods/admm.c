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

#include "anderson.h"
#include "methods.h"

// largest eigenvalue of W by a few power steps
static double largest_eigenvalue(TriboSolver* s) {
  const size_t pool_mark = s->scratch.used;
  int n = s->scaled.n;
  double *v = tribo_sol_take(s), *w = tribo_sol_take(s), size = 0;
  for (int i = 0; i < n; ++i) {
    v[i] = 1;
  }
  for (int it = 0; it < 13; ++it) {
    tribo_sol_apply(&s->scaled, v, w);
    size = tribo_norm(w, n);
    for (int i = 0; i < n; ++i) {
      v[i] = size > 0 ? w[i] / size : 0;
    }
  }
  s->scratch.used = pool_mark;
  return size;
}

static double biggest_change(const double* a, const double* b, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    const double change = fabs(a[i] - b[i]);
    most = change > most ? change : most;
  }
  return most;
}

void tribo_sol_admm(TriboSolver* s, TriboAdmm* a) {
  const TriboScaled* sc = &s->scaled;
  int n = sc->n, changes = 0, last = 0;
  const size_t pool_mark = s->scratch.used;
  double *x = tribo_sol_take(s), *b = tribo_sol_take(s), *y0 = tribo_sol_take(s), *u = tribo_sol_take(s);
  double* t = tribo_sol_take(s);
  TriboAnderson memory;
  tribo_sol_anderson_begin(&memory, &s->scratch, a->anderson);
  double *y = a->y, *z = a->z, L = 0, exponent = 0.2, least = fmax(a->prox, 1e-12);
  memcpy(x, y, sizeof(double) * (size_t)n);
  if (a->rho <= 0) {
    L = fmax(largest_eigenvalue(s), least);
    a->rho = sqrt(least * L) * pow(L / least, exponent);
  }
  int failed = tribo_sol_system_factor_shifted(&s->system, a->prox + a->rho);
  double q_size = tribo_max_abs(sc->q, n), stalled = INFINITY;
  for (int it = 0; !failed && it < a->iterations; ++it) {
    double rho = a->rho;
    memcpy(b, z, sizeof(double) * (size_t)n);
    if (!a->relaxed) {
      tribo_sol_shift(sc, b, b);
    }
    for (int i = 0; i < n; ++i) {
      // shift gives z + Γ(z)
      b[i] = a->prox * x[i] + rho * y[i] + 2 * z[i] - sc->q[i] - b[i];
    }
    tribo_sol_system_solve(&s->system, b, x, rho < 1e-6 ? 1 : 0);
    memcpy(y0, y, sizeof(double) * (size_t)n);
    // t = x̂ − z/ρ is the whole state: y = P_K(t), z = ρ (y − t)
    for (int i = 0; i < n; ++i) {
      t[i] = a->omega * x[i] + (1 - a->omega) * y[i] - z[i] / rho;
    }
    if (a->anderson > 0) {
      tribo_sol_anderson_step(&memory, n, t);
    }
    tribo_sol_project(sc, t, y);
    for (int i = 0; i < n; ++i) {
      z[i] = rho * (y[i] - t[i]);
    }
    s->iterations++;
    double primal = biggest_change(x, y, n), dual = rho * biggest_change(y, y0, n);
    if (!(fmax(primal, dual) >= 1e-14)) {
      break;
    }
    if (a->check_every > 0 && it % a->check_every == a->check_every - 1) {
      tribo_sol_velocity(s, y, u);
      tribo_sol_record(s, y, u);
      if (tribo_sol_stop(s)) {
        break;
      }
    }
    // rho: keep the relative residuals together
    if ((changes < a->max_rho_changes && it - last >= 5) || a->tolerance > 0) {
      double rp = primal / fmax(fmax(tribo_max_abs(x, n), tribo_max_abs(y, n)), 1e-12);
      double rd = dual / fmax(fmax(tribo_max_abs(z, n), q_size), 1e-12);
      if (fmax(rp, rd) < a->tolerance) {
        break;
      }
      double f = sqrt(rp / fmax(rd, 1e-300)), next = rho;
      if (a->rho_rule == 1 && (f > 4 || f < 0.25)) {
        next = rho * fmin(fmax(f, 0.05), 20);
      } else if (a->rho_rule == 3 && (rp > 10 * rd || rd > 10 * rp)) {
        next = rp > rd ? 1.5 * rho : rho / 1.5;
      } else if (a->rho_rule == 2 && L > 0 && (rp > 10 * rd || rd > 10 * rp)) {
        exponent += rp > rd ? 0.05 : -0.05;
        next = sqrt(least * L) * pow(L / least, exponent);
      }
      if (next != rho && changes < a->max_rho_changes && it - last >= 5) {
        a->rho = next;
        tribo_sol_anderson_restart(&memory);
        failed = tribo_sol_system_factor_shifted(&s->system, a->prox + next);
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
  tribo_sol_record(s, y, u);
  s->scratch.used = pool_mark;
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
                 .max_rho_changes = set->rho_rule == 3  ? 50
                                    : set->rho_rule > 0 ? 10
                                                        : 0,
                 .rho_rule = set->rho_rule,
                 .check_every = set->check_every,
                 .relaxed = set->relaxed,
                 .anderson = set->anderson};
  memset(a.y, 0, sizeof(double) * (size_t)n);
  memset(a.z, 0, sizeof(double) * (size_t)n);
  tribo_sol_enter_stage(s, TRIBO_RUNG_ADMM);
  if (tribo_sol_warm_is_better(s)) {
    memcpy(a.y, s->warm_x, sizeof(double) * (size_t)n);
    if (set->relaxed) {
      memcpy(a.z, s->warm_u, sizeof(double) * (size_t)n);
    } else {
      tribo_sol_shift(&s->scaled, s->warm_u, a.z);
    }
  }
  if (!tribo_sol_done(s)) {
    tribo_sol_admm(s, &a);
  }
}
