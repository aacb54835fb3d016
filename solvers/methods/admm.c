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

#include "methods.h"

enum { MOST_DEPTH = 10 };

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
    size = tribo_sol_norm(w, n);
    for (int i = 0; i < n; ++i) {
      v[i] = size > 0 ? w[i] / size : 0;
    }
  }
  s->scratch.used = pool_mark;
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

// Anderson acceleration of t ← F(t): the combination of the last steps whose residuals f = F(t) − t nearly cancel. When
// an accelerated point has a larger residual than the one before, the plain step from there is taken back and the
// memory cleared.
typedef struct Memory {
  int depth, count;               // differences kept at most, and now
  int started, known;             // there is a last t; there are a last f and F
  int accelerated;                // the last t is not what F gave
  double norm;                    // of the last residual
  double* v[2 * MOST_DEPTH + 3];  // (n) differences of f, then of F; last f, last F, last t
} Memory;

static double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

// coefficients that minimise ‖f − Σ γ_k Δf_k‖; 0 when the differences do not tell
static int combine(const Memory* m, const double* f, int n, double* gamma) {
  double A[MOST_DEPTH][MOST_DEPTH + 1], trace = 0;
  for (int i = 0; i < m->count; ++i) {
    for (int j = 0; j < m->count; ++j) {
      A[i][j] = dot(m->v[i], m->v[j], n);
    }
    A[i][m->count] = dot(m->v[i], f, n);
    trace += A[i][i];
  }
  for (int i = 0; i < m->count; ++i) {
    A[i][i] += 1e-12 * trace;
  }
  for (int k = 0; k < m->count; ++k) {
    if (!(A[k][k] > 0)) {
      return 0;
    }
    for (int i = k + 1; i < m->count; ++i) {
      double r = A[i][k] / A[k][k];
      for (int j = k; j <= m->count; ++j) {
        A[i][j] -= r * A[k][j];
      }
    }
  }
  for (int i = m->count - 1; i >= 0; --i) {
    gamma[i] = A[i][m->count];
    for (int j = i + 1; j < m->count; ++j) {
      gamma[i] -= A[i][j] * gamma[j];
    }
    gamma[i] /= A[i][i];
  }
  return 1;
}

// t holds F of the last t and becomes the next one
static void accelerate(Memory* m, double* t, int n) {
  double **df = m->v, **dF = m->v + m->depth, *f = m->v[2 * m->depth], *F = m->v[2 * m->depth + 1];
  double *last = m->v[2 * m->depth + 2], gamma[MOST_DEPTH], norm = 0;
  size_t bytes = sizeof(double) * (size_t)n;
  if (!m->started) {
    m->started = 1;
    memcpy(last, t, bytes);
    return;
  }
  for (int i = 0; i < n; ++i) {
    norm += (t[i] - last[i]) * (t[i] - last[i]);
  }
  norm = sqrt(norm);
  if (m->accelerated && !(norm <= 2 * m->norm)) {
    // worse: go on from the plain step of the point before
    memcpy(t, F, bytes);
    memcpy(last, t, bytes);
    m->count = m->accelerated = m->known = 0;
    return;
  }
  if (m->known) {
    // the oldest difference makes room
    m->count = m->count < m->depth ? m->count + 1 : m->depth;
    double *df_new = df[m->depth - 1], *dF_new = dF[m->depth - 1];
    for (int i = m->depth - 1; i > 0; --i) {
      df[i] = df[i - 1], dF[i] = dF[i - 1];
    }
    df[0] = df_new, dF[0] = dF_new;
    for (int i = 0; i < n; ++i) {
      df[0][i] = t[i] - last[i] - f[i];
      dF[0][i] = t[i] - F[i];
    }
  }
  for (int i = 0; i < n; ++i) {
    f[i] = t[i] - last[i];
    F[i] = t[i];
  }
  m->known = 1;
  m->norm = norm;
  m->accelerated = m->count > 0 && combine(m, f, n, gamma);
  for (int k = 0; m->accelerated && k < m->count; ++k) {
    for (int i = 0; i < n; ++i) {
      t[i] -= gamma[k] * dF[k][i];
    }
  }
  memcpy(last, t, bytes);
}

void tribo_sol_admm(TriboSolver* s, TriboAdmm* a) {
  const TriboScaled* sc = &s->scaled;
  int n = sc->n, changes = 0, last = 0;
  const size_t pool_mark = s->scratch.used;
  double *x = tribo_sol_take(s), *b = tribo_sol_take(s), *y0 = tribo_sol_take(s), *u = tribo_sol_take(s);
  double* t = tribo_sol_take(s);
  Memory memory = {.depth = a->anderson};
  for (int i = 0; i < 2 * a->anderson + 3 && a->anderson > 0; ++i) {
    memory.v[i] = tribo_sol_take(s);
  }
  double *y = a->y, *z = a->z, L = 0, exponent = 0.2, least = fmax(a->prox, 1e-12);
  memcpy(x, y, sizeof(double) * (size_t)n);
  if (a->rho <= 0) {
    L = fmax(largest_eigenvalue(s), least);
    a->rho = sqrt(least * L) * pow(L / least, exponent);
  }
  int failed = factorise(s, a->prox + a->rho);
  double q_size = tribo_sol_max(sc->q, n), stalled = INFINITY, sprinted = INFINITY;
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
      accelerate(&memory, t, n);
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
    if (a->check > 0 && it % a->check == a->check - 1) {
      tribo_sol_velocity(s, y, u);
      tribo_sol_note(s, y, u);
      if (tribo_sol_stop(s)) {
        break;
      }
    }
    // rho: keep the relative residuals together
    if ((changes < a->refactor && it - last >= 5) || a->enough > 0 || a->sprint > 0) {
      double rp = primal / fmax(fmax(tribo_sol_max(x, n), tribo_sol_max(y, n)), 1e-12);
      double rd = dual / fmax(fmax(tribo_sol_max(z, n), q_size), 1e-12);
      if (fmax(rp, rd) < a->enough) {
        break;
      }
      if (a->sprint > 0 && it % a->sprint == a->sprint - 1) {
        if (it >= a->least && !(fmax(rp, rd) < 0.7 * sprinted)) {
          break;
        }
        sprinted = fmax(rp, rd);
      }
      double f = sqrt(rp / fmax(rd, 1e-300)), next = rho;
      if (a->rule == 1 && (f > 4 || f < 0.25)) {
        next = rho * fmin(fmax(f, 0.05), 20);
      } else if (a->rule == 3 && (rp > 10 * rd || rd > 10 * rp)) {
        next = rp > rd ? 1.5 * rho : rho / 1.5;
      } else if (a->rule == 2 && L > 0 && (rp > 10 * rd || rd > 10 * rp)) {
        exponent += rp > rd ? 0.05 : -0.05;
        next = sqrt(least * L) * pow(L / least, exponent);
      }
      if (next != rho && changes < a->refactor && it - last >= 5) {
        a->rho = next;
        memory.started = memory.known = memory.count = memory.accelerated = 0;
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
                 .refactor = set->rho_rule == 3  ? 50
                             : set->rho_rule > 0 ? 10
                                                 : 0,
                 .rule = set->rho_rule,
                 .check = set->check_every,
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
