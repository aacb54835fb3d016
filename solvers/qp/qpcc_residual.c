// How good an answer of a QPCC is, from the raw problem alone: the contact law, the bounds, and first-order optimality
// of the program that its modes leave. Nothing here is shared with the solver.
//
// Optimality. With multipliers ν of σ, the rest of the gradient falls to the actuators and to the contacts:
// π_a = Aᵀr − Cᵀν, π = Bᵀr − Dᵀν, r = A λ_a + B λ_c + b. Then
//
//     actuators   π_a = 0 inside the bounds, ≥ 0 at the lower, ≤ 0 at the upper
//     break       ν_T = 0, 0 ≤ ν_N ⊥ σ_N ≥ 0
//     stick       K* ∋ π ⊥ λ ∈ K
//     slide       0 ≤ (−μu, 1)·π ⊥ n ≥ 0,  0 ≤ u·ν ⊥ s ≥ 0,  and of the angle  s w·ν = n μ w·π
//     held        π = 0
#include <math.h>

#include <tribo/qpcc.h>

#include "status.h"

static double entry(const double* M, int rows, int r, int c) {
  return M[(size_t)c * (size_t)rows + (size_t)r];
}

static int rows_of(const TriboQpcc* p) {
  int nc = 0;
  for (int i = 0; i < p->ncon; ++i) {
    nc += p->dim[i];
  }
  return nc;
}

static double residual_row(const TriboQpcc* p, int nc, const double* la, const double* lc, int r) {
  double sum = p->b[r];
  for (int j = 0; j < p->na; ++j) {
    sum += entry(p->A, p->nres, r, j) * la[j];
  }
  for (int j = 0; j < nc; ++j) {
    sum += entry(p->B, p->nres, r, j) * lc[j];
  }
  return sum;
}

static double velocity_row(const TriboQpcc* p, int nc, const double* la, const double* lc, int r) {
  double sum = p->g[r];
  for (int j = 0; j < p->na; ++j) {
    sum += entry(p->C, nc, r, j) * la[j];
  }
  for (int j = 0; j < nc; ++j) {
    sum += entry(p->D, nc, r, j) * lc[j];
  }
  return sum;
}

// ‖λ − P_K(λ − σ̂/d)‖∞ of one contact
static double miss_of(int dim, double mu, int held, double d, const double* l, const double* v) {
  double x[3], speed = 0, t = 0, miss = 0;
  for (int k = 0; k + 1 < dim; ++k) {
    speed += v[k] * v[k];
  }
  speed = sqrt(speed);
  for (int k = 0; k < dim; ++k) {
    x[k] = l[k] - (v[k] + (k == dim - 1 ? mu * speed : 0)) / d;
    t += k < dim - 1 ? x[k] * x[k] : 0;
    miss = fmax(miss, fabs(v[k]) / d);
  }
  if (held) {
    return miss;
  }
  t = sqrt(t);
  const double n = x[dim - 1], on = (n + mu * t) / (1 + mu * mu);
  const int inside = t <= mu * n && n >= 0, polar = mu * t <= -n;
  miss = 0;
  for (int k = 0; k < dim; ++k) {
    const double edge = k == dim - 1 ? on : t > 0 ? x[k] * (mu * on / t) : 0;
    miss = fmax(miss, fabs(l[k] - (inside ? x[k] : polar ? 0 : edge)));
  }
  return miss;
}

TriboStatus tribo_qpcc_residual(const TriboQpcc* p, const double* la, const double* lc, TriboQpccResiduals* out) {
  TRIBO_REQUIRE(p);
  TRIBO_REQUIRE(out);
  *out = (TriboQpccResiduals){.worst = -1};
  const int nc = rows_of(p);
  for (int r = 0; r < p->nres; ++r) {
    const double value = residual_row(p, nc, la, lc, r);
    out->f += 0.5 * value * value;
  }
  for (int j = 0; j < p->na; ++j) {
    out->box = fmax(out->box, fmax(p->lower[j] - la[j], la[j] - p->upper[j]));
  }
  for (int i = 0, at = 0; i < p->ncon; at += p->dim[i++]) {
    double v[3], d = 0;
    for (int k = 0; k < p->dim[i]; ++k) {
      v[k] = velocity_row(p, nc, la, lc, at + k);
      d += entry(p->D, nc, at + k, at + k) / p->dim[i];
    }
    d = d > 0 ? d : 1;
    const double nat = d * miss_of(p->dim[i], p->mu[i], p->held != NULL && p->held[i], d, lc + at, v);
    if (!(nat <= out->nat) || out->worst < 0) {
      out->nat = nat;
      out->worst = i;
    }
  }
  return TRIBO_OK;
}

// ---- optimality

// A number that should be zero, or not negative, beside the sum of magnitudes it is made of.
typedef struct Sum {
  double value, terms;
} Sum;

static void put(Sum* s, double term) {
  s->value += term;
  s->terms += fabs(term);
}

static Sum gradient_row(const TriboQpcc* p, int nc, const TriboQpccSolution* x, int of_contact, int j) {
  Sum s = {0, 0};
  for (int r = 0; r < p->nres; ++r) {
    put(&s, entry(of_contact ? p->B : p->A, p->nres, r, j) * residual_row(p, nc, x->lambda_a, x->lambda_c, r));
  }
  for (int r = 0; r < nc; ++r) {
    put(&s, -entry(of_contact ? p->D : p->C, nc, r, j) * x->nu[r]);
  }
  return s;
}

static double relative(double value, double terms) {
  return terms > 0 ? value / terms : 0;
}

static double actuator_error(const TriboQpcc* p, int nc, const TriboQpccSolution* x, int j) {
  const Sum s = gradient_row(p, nc, x, 0, j);
  const double span = 1e-9 * fmax(1e-300, p->upper[j] < INFINITY && p->lower[j] > -INFINITY ? p->upper[j] - p->lower[j]
                                                                                            : fabs(x->lambda_a[j]));
  const int low = x->lambda_a[j] <= p->lower[j] + span, high = x->lambda_a[j] >= p->upper[j] - span;
  const double wrong = low && high ? 0 : low ? fmax(0, -s.value) : high ? fmax(0, s.value) : fabs(s.value);
  return relative(wrong, s.terms);
}

// One contact, and the sizes of all by which its signs and its complementarity are judged.
typedef struct Pull {
  double pi[3], nu[3], l[3], v[3], pi_size, nu_size, l_size, v_size;
} Pull;

static double largest(const double* x, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

static double slide_error(const TriboQpcc* p, int i, const double* u, const Pull* c) {
  const int dim = p->dim[i], normal = dim - 1;
  const double mu = p->mu[i], n = c->l[normal];
  if (mu == 0) {
    return relative(fmax(0, -c->pi[normal]), c->pi_size);
  }
  double ray = c->pi[normal], along = 0, across = 0, side = 0, speed = 0;
  for (int k = 0; k < normal; ++k) {
    ray -= mu * u[k] * c->pi[k];
    along += u[k] * c->nu[k];
    speed += u[k] * c->v[k];
  }
  if (dim == 3) {
    across = -u[1] * c->nu[0] + u[0] * c->nu[1];
    side = -u[1] * c->pi[0] + u[0] * c->pi[1];
  }
  double error = relative(fmax(0, -ray), c->pi_size);
  error = fmax(error, relative(fabs(ray) * n, c->pi_size * c->l_size));
  error = fmax(error, relative(fmax(0, -along), c->nu_size));
  error = fmax(error, relative(fabs(along) * speed, c->nu_size * c->v_size));
  return fmax(error, relative(fabs(speed * across - mu * n * side), c->v_size * c->nu_size + c->l_size * c->pi_size));
}

static double stick_error(const TriboQpcc* p, int i, const Pull* c) {
  const int dim = p->dim[i], normal = dim - 1;
  double t = 0, work = 0;
  for (int k = 0; k < dim; ++k) {
    t += k < normal ? c->pi[k] * c->pi[k] : 0;
    work += c->pi[k] * c->l[k];
  }
  // K* of friction μ: π_N ≥ μ ‖π_T‖
  const double error = relative(fmax(0, p->mu[i] * sqrt(t) - c->pi[normal]), c->pi_size);
  return fmax(error, relative(fabs(work), c->pi_size * c->l_size));
}

// The largest violation of one contact's conditions.
static double contact_error(const TriboQpcc* p, int nc, const TriboQpccSolution* x, int i, int at) {
  // velocities as large as the free ones, and impulses that stop them, are no rounding
  Pull c = {.nu_size = largest(x->nu, nc), .v_size = fmax(largest(x->sigma, nc), largest(p->g, nc))};
  double d = 0;
  for (int k = 0; k < nc; ++k) {
    d += entry(p->D, nc, k, k) / nc;
  }
  c.l_size = fmax(largest(x->lambda_c, nc), d > 0 ? c.v_size / d : 0);
  const int dim = p->dim[i], normal = dim - 1;
  for (int k = 0; k < dim; ++k) {
    const Sum s = gradient_row(p, nc, x, 1, at + k);
    c.pi[k] = s.value;
    c.nu[k] = x->nu[at + k];
    c.l[k] = x->lambda_c[at + k];
    c.v[k] = x->sigma[at + k];
    c.pi_size = fmax(c.pi_size, s.terms);
  }
  double error = 0;
  switch (x->mode[i]) {
    case TRIBO_QPCC_HELD:
      for (int k = 0; k < dim; ++k) {
        error = fmax(error, relative(fabs(c.pi[k]), c.pi_size));
      }
      return error;
    case TRIBO_QPCC_BREAK:
      for (int k = 0; k < normal; ++k) {
        error = fmax(error, relative(fabs(c.nu[k]), c.nu_size));
      }
      error = fmax(error, relative(fmax(0, -c.nu[normal]), c.nu_size));
      return fmax(error, relative(fabs(c.nu[normal] * c.v[normal]), c.nu_size * c.v_size));
    case TRIBO_QPCC_SLIDE: return slide_error(p, i, x->slip + 2 * i, &c);
    default: return stick_error(p, i, &c);
  }
}

TriboStatus tribo_qpcc_kkt(const TriboQpcc* p, const TriboQpccSolution* x, double* out) {
  TRIBO_REQUIRE(p);
  TRIBO_REQUIRE(x);
  TRIBO_REQUIRE(out);
  const int nc = rows_of(p);
  *out = 0;
  for (int j = 0; j < p->na; ++j) {
    *out = fmax(*out, actuator_error(p, nc, x, j));
  }
  for (int i = 0, at = 0; i < p->ncon; at += p->dim[i++]) {
    *out = fmax(*out, contact_error(p, nc, x, i, at));
  }
  return TRIBO_OK;
}
