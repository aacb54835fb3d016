// Algorithm 1 of Ménager et al.: an augmented Lagrangian with alternating minimisation between the quadratic part (one
// factor) and the contact law (tribo_qpcc_project), with the penalties and tolerances of bound-constrained Lagrangians.
//
//     [EᵀE + diag(ξ, η) + ρ SᵀS] z = −Eᵀe + (ξ λ̂_a − y_a, η λ̂_c − y_c) + ρ Sᵀ(σ̂ − y_σ/ρ − g)
//     λ̂_a = clip(λ_a + y_a/ξ),  (λ̂_c, σ̂) = projection of (λ_c + y_c/η, σ + y_σ/ρ)
//
// Its answers are modest where contacts compete for a task (a share of 0.08 … 0.8 at the global optimum, residuals of
// 1e-6 … 1e-3 m/s), and may miss feasible points: here it gives modes to start from.
#include <math.h>
#include <string.h>

#include "la.h"
#include "qpcc_impl.h"
#include "small_dense.h"

enum { INNER = 10 };  // steps for one set of multipliers
static const double FIRST = 0.1, SHRINK = 0.3, PENALTY_MOST = 1e4, ENOUGH = 1e-4;

typedef struct Alm {
  double *EE, *SS, *H;             // (n × n)
  double *Ee, *x, *st;             // (n), (n), (nc)
  double *hat, *y;                 // (n + nc): λ̂_a, λ̂_c, σ̂ and their multipliers
  double *value, *next, *shifted;  // (n + nc) what the quadratic part gives, and the projection
  double xi, eta, rho;
} Alm;

size_t tribo_sol_alm_size(int na, int nc, int nres) {
  const size_t n = (size_t)(na + nc), m = n + (size_t)nc;
  (void)nres;
  return 3 * n * n + 2 * n + (size_t)nc + 5 * m;
}

static void lay_out(const TriboQpccSolver* s, Alm* a) {
  const size_t n = (size_t)s->n, nc = (size_t)s->nc, m = n + nc;
  double* at = s->alm;
  a->EE = at, at += n * n;
  a->SS = at, at += n * n;
  a->H = at, at += n * n;
  a->Ee = at, at += n;
  a->x = at, at += n;
  a->st = at, at += nc;
  a->hat = at, at += m;
  a->y = at, at += m;
  a->value = at, at += m;
  a->next = at, at += m;
  a->shifted = at;
}

static void products(const TriboQpccSolver* s, Alm* a) {
  const size_t n = (size_t)s->n;
  memset(a->SS, 0, n * n * sizeof *a->SS);
  for (int r = 0; r < s->nc; ++r) {
    const double* row = s->S + (size_t)r * (size_t)s->ld;
    for (size_t j = 0; j < n; ++j) {
      tribo_add_scaled(s->n - (int)j, row[j], row + j, a->SS + j * n + j);
    }
  }
  for (size_t j = 0; j < n; ++j) {
    const double* column = s->E + j * (size_t)s->ldr;
    for (size_t i = j; i < n; ++i) {
      a->EE[j * n + i] = tribo_four_dot(s->E + i * (size_t)s->ldr, column, s->ldr);
    }
    a->Ee[j] = tribo_four_dot(column, s->e, s->ldr);
  }
}

static int factor(TriboQpccSolver* s, Alm* a) {
  const size_t n = (size_t)s->n;
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = j; i < n; ++i) {
      a->H[j * n + i] = a->EE[j * n + i] + a->rho * a->SS[j * n + i];
    }
    a->H[j * n + j] += j < (size_t)s->na ? a->xi : a->eta;
  }
  s->factorisations++;
  return tribo_la_cholesky(s->n, a->H, s->n) == 0;
}

static double penalty_of(const TriboQpccSolver* s, const Alm* a, int k) {
  return k < s->na ? a->xi : k < s->n ? a->eta : a->rho;
}

// value ← (z, σ) of the quadratic part
static void minimise(TriboQpccSolver* s, Alm* a) {
  for (int k = 0; k < s->n; ++k) {
    a->x[k] = penalty_of(s, a, k) * a->hat[k] - a->y[k] - a->Ee[k];
  }
  for (int r = 0; r < s->nc; ++r) {
    const double t = a->rho * (a->hat[s->n + r] - s->g[r]) - a->y[s->n + r];
    tribo_add_scaled(s->n, t, s->S + (size_t)r * (size_t)s->ld, a->x);
  }
  tribo_la_cholesky_solve(s->n, a->H, s->n, a->x);
  memcpy(a->value, a->x, (size_t)s->n * sizeof *a->x);
  for (int r = 0; r < s->nc; ++r) {
    a->value[s->n + r] = s->g[r] + tribo_dot(s->S + (size_t)r * (size_t)s->ld, a->x, s->n);
  }
}

// hat ← the projection of value + y/θ. Returns its largest change times θ.
static double project(TriboQpccSolver* s, Alm* a, ModePoint* p) {
  double most = 0;
  for (int k = 0; k < s->n + s->nc; ++k) {
    a->shifted[k] = a->value[k] + a->y[k] / penalty_of(s, a, k);
  }
  for (int k = 0; k < s->na; ++k) {
    a->next[k] = fmin(fmax(a->shifted[k], s->lo[k]), s->hi[k]);
  }
  for (int i = 0; i < s->ncon; ++i) {
    const int l = s->na + s->at[i], v = s->n + s->at[i], dim = s->problem->dim[i];
    TriboQpccMode mode = TRIBO_QPCC_HELD;
    if (tribo_sol_qpcc_held(s->problem, i)) {
      memcpy(a->next + l, a->shifted + l, (size_t)dim * sizeof *a->next);
      memset(a->next + v, 0, (size_t)dim * sizeof *a->next);
    } else {
      tribo_qpcc_project(dim, s->problem->mu[i], a->eta, a->rho, a->shifted + l, a->shifted + v,
                         (TriboQpccMode)p->mode[i], a->next + l, a->next + v, &mode);
    }
    p->mode[i] = (unsigned char)mode;
  }
  for (int k = 0; k < s->n + s->nc; ++k) {
    most = fmax(most, penalty_of(s, a, k) * fabs(a->next[k] - a->hat[k]));
    a->hat[k] = a->next[k];
  }
  return most;
}

static void begin(TriboQpccSolver* s, Alm* a, const TriboQpccWarm* warm, ModePoint* p) {
  lay_out(s, a);
  products(s, a);
  memset(a->hat, 0, (size_t)(s->n + s->nc) * sizeof *a->hat);
  memset(a->y, 0, (size_t)(s->n + s->nc) * sizeof *a->y);
  for (int k = 0; k < s->na; ++k) {
    a->hat[k] = warm != NULL && warm->lambda_a != NULL ? warm->lambda_a[k] / s->xa[k] : 0;
    a->hat[k] = fmin(fmax(a->hat[k], s->lo[k]), s->hi[k]);
  }
  for (int i = 0; i < s->ncon; ++i) {
    p->mode[i] = TRIBO_QPCC_STICK;
    p->ncut[i] = 0;
    const double* known = warm != NULL ? warm->lambda_c : NULL;
    for (int k = s->at[i]; k < s->at[i] + s->problem->dim[i]; ++k) {
      a->hat[s->na + k] = known != NULL ? known[k] / s->xc[i] : 0;
    }
  }
  a->xi = s->settings.xi;
  a->eta = s->settings.eta;
  a->rho = s->settings.rho;
}

// Slip directions from velocities, or against the friction where nothing slips; z becomes the projected point.
static void finish(TriboQpccSolver* s, const Alm* a, ModePoint* p) {
  memcpy(p->z, a->hat, (size_t)s->n * sizeof *p->z);
  memset(p->z + s->n, 0, (size_t)(s->ld - s->n) * sizeof *p->z);
  p->f = tribo_sol_qpcc_objective(s, p->z);
  for (int i = 0; i < s->ncon; ++i) {
    const double *l = a->hat + s->na + s->at[i], *v = a->hat + s->n + s->at[i];
    const int dim = s->problem->dim[i];
    if (dim > 1) {
      const double vy = dim == 3 ? v[1] : 0, ly = dim == 3 ? l[1] : 0;
      p->angle[i] = hypot(v[0], vy) > 1e-12 ? atan2(vy, v[0]) : atan2(-ly, -l[0]);
    }
  }
}

// Multipliers are taken where the quadratic part and the contact law have come together, else penalties grow.
void tribo_sol_alm(TriboQpccSolver* s, const TriboQpccWarm* warm, ModePoint* p, int* solved) {
  Alm a;
  begin(s, &a, warm, p);
  // alone it is to reach the tolerance; for modes to start from the paper's will do
  const int alone = s->settings.flips == 0 && s->settings.starts == TRIBO_QPCC_START_ALM;
  double enough = ENOUGH, eps = FIRST, bcl = FIRST;
  for (int i = 0; i < s->ncon; ++i) {
    enough = alone ? fmin(enough, fmax(0.1 * s->settings.tol / s->xs[i], 1e-13)) : enough;
  }
  *solved = 0;
  int factored = 0;
  while (s->alm_iterations < s->settings.alm_iterations && !*solved && !tribo_sol_qpcc_late(s)) {
    if (!factored && !factor(s, &a)) {
      break;
    }
    factored = 1;
    double inner = 0, primal = 0;
    for (int k = 0; k < INNER && s->alm_iterations < s->settings.alm_iterations; ++k) {
      minimise(s, &a);
      inner = project(s, &a, p);
      s->alm_iterations++;
      if (inner <= fmax(eps, enough)) {
        break;
      }
    }
    for (int k = 0; k < s->n + s->nc; ++k) {
      const double miss = a.value[k] - a.hat[k];
      primal = fmax(primal, fabs(miss));
      a.y[k] += penalty_of(s, &a, k) * miss;
    }
    *solved = fmax(primal, inner) <= enough;
    if (primal <= fmax(bcl, enough)) {
      bcl = fmax(bcl * SHRINK, enough);
      eps = fmax(eps * SHRINK, enough);
    } else if (a.rho < PENALTY_MOST) {
      a.xi *= s->settings.grow;
      a.eta *= s->settings.grow;
      a.rho *= s->settings.grow;
      factored = 0;
    }
  }
  finish(s, &a, p);
}
