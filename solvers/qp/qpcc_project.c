// The point of one contact's law nearest to given λ̃ and σ̃, (22) of Ménager et al., with weights η and ρ.
//
// Stick projects λ̃ on the cone, break clips σ̃_N at 0. Slide along u has n = (λ̃_N − μ u·λ̃_T)₊/(1 + μ²) and
// s = (u·σ̃_T)₊, so that u maximises on the circle
//
//     F(u) = a (λ̃_N − μ u·λ̃_T)₊² + ρ (u·σ̃_T)₊²,      a = η/(1 + μ²)
//
// Where both brackets are positive, z = e^{iθ} of a maximum is a root of q z⁴ + p z³ − p̄ z − q̄ with p = a μ λ̃_N L̄,
// q = −½(a μ² L̄² + ρ S̄²), L and S the tangential parts as complex numbers; where one is, u is −λ̃_T or σ̃_T. The roots
// come from Aberth's simultaneous iteration and are polished on F'; the greatest F of all wins, which the alternation
// between (n, s) and u of the paper may miss.
#include <complex.h>
#include <math.h>
#include <string.h>

#include <tribo/qpcc.h>

#include "small_dense.h"

enum { ABERTH = 40, POLISH = 4 };

typedef double complex Complex;

typedef struct Slide {
  double a, rho, mu, normal, l[2], s[2];
} Slide;

static double gain_of(const Slide* f, double x, double y) {
  const double n = fmax(0, f->normal - f->mu * (x * f->l[0] + y * f->l[1])), t = fmax(0, x * f->s[0] + y * f->s[1]);
  return f->a * n * n + f->rho * t * t;
}

static void offer(const Slide* f, double x, double y, double best[3]) {
  const double length = hypot(x, y);
  if (length > 0) {
    const double gain = gain_of(f, x / length, y / length);
    if (gain > best[2]) {
      best[0] = x / length;
      best[1] = y / length;
      best[2] = gain;
    }
  }
}

// Newton on F' where F is concave, then offered.
static void offer_root(const Slide* f, double angle, double best[3]) {
  offer(f, cos(angle), sin(angle), best);
  for (int k = 0; k < POLISH; ++k) {
    const double c = cos(angle), s = sin(angle);
    const double ul = c * f->l[0] + s * f->l[1], wl = c * f->l[1] - s * f->l[0];
    const double us = c * f->s[0] + s * f->s[1], ws = c * f->s[1] - s * f->s[0], n = f->normal - f->mu * ul;
    const double slope = f->rho * us * ws - f->a * f->mu * n * wl;
    const double bend = f->a * f->mu * (f->mu * wl * wl + n * ul) + f->rho * (ws * ws - us * us);
    if (!(bend < 0) || fabs(slope) > -0.5 * bend) {
      return;
    }
    angle -= slope / bend;
  }
  offer(f, cos(angle), sin(angle), best);
}

// The roots of the quartic, all at once.
static void offer_roots(const Slide* f, double best[3]) {
  const Complex L = f->l[0] - I * f->l[1], S = f->s[0] - I * f->s[1];
  const Complex p = f->a * f->mu * f->normal * L, q = -0.5 * (f->a * f->mu * f->mu * L * L + f->rho * S * S);
  const double size = cabs(p) + cabs(q);
  if (!(size > 0)) {
    return;
  }
  if (cabs(q) < 1e-14 * size) {
    const double angle = -carg(p);
    offer_root(f, angle, best);
    offer_root(f, angle + 3.14159265358979323846, best);
    return;
  }
  Complex z[4];
  for (int k = 0; k < 4; ++k) {
    z[k] = cexp(I * (0.4 + 1.5707963267948966 * k));
  }
  for (int round = 0; round < ABERTH; ++round) {
    double moved = 0;
    for (int k = 0; k < 4; ++k) {
      const Complex x = z[k], value = ((q * x + p) * x * x - conj(p)) * x - conj(q);
      const Complex slope = (4 * q * x + 3 * p) * x * x - conj(p);
      Complex others = 0;
      for (int i = 0; i < 4; ++i) {
        others += i != k && z[i] != x ? 1 / (x - z[i]) : 0;
      }
      const Complex step = value / (slope - value * others);
      if (isfinite(creal(step)) && isfinite(cimag(step))) {
        z[k] -= step;
        moved = fmax(moved, cabs(step) / (1 + cabs(x)));
      }
    }
    if (moved < 1e-15) {
      break;
    }
  }
  for (int k = 0; k < 4; ++k) {
    offer_root(f, carg(z[k]), best);
  }
}

// The best slip direction and its gain.
static void find_slip(int dim, const Slide* f, double best[3]) {
  best[0] = 1;
  best[1] = 0;
  best[2] = gain_of(f, 1, 0);
  if (dim == 2) {
    offer(f, -1, 0, best);
    return;
  }
  offer(f, -f->l[0], -f->l[1], best);
  offer(f, f->s[0], f->s[1], best);
  offer_roots(f, best);
}

static void project_cone(int dim, double mu, const double* x, double* y) {
  const double n = x[dim - 1], t = tribo_norm(x, dim - 1), on = (n + mu * t) / (1 + mu * mu);
  const int inside = t <= mu * n && n >= 0, polar = mu * t <= -n;
  for (int k = 0; k < dim; ++k) {
    y[k] = inside ? x[k] : polar ? 0 : k == dim - 1 ? on : x[k] * (mu * on / t);
  }
}

static double apart(int dim, const double* x, const double* y) {
  double sum = 0;
  for (int k = 0; k < dim; ++k) {
    sum += (x[k] - y[k]) * (x[k] - y[k]);
  }
  return sum;
}

double tribo_qpcc_project(int dim, double mu, double eta, double rho, const double* l, const double* s,
                          TriboQpccMode last, double* lambda, double* sigma, TriboQpccMode* mode) {
  const int normal = dim - 1;
  const double ll = tribo_dot(l, l, dim), ss = tribo_dot(s, s, dim), tie = 1e-13 * (1 + 0.5 * (eta * ll + rho * ss));
  double stick[3], cost[3] = {0, INFINITY, 0}, slip[3] = {1, 0, 0};
  project_cone(dim, mu, l, stick);
  const double below = fmin(s[normal], 0);
  cost[TRIBO_QPCC_STICK] = 0.5 * (eta * apart(dim, l, stick) + rho * ss);
  cost[TRIBO_QPCC_BREAK] = 0.5 * (eta * ll + rho * below * below);
  if (dim > 1) {
    const Slide f = {.a = eta / (1 + mu * mu),
                     .rho = rho,
                     .mu = mu,
                     .normal = l[normal],
                     .l = {l[0], dim == 3 ? l[1] : 0},
                     .s = {s[0], dim == 3 ? s[1] : 0}};
    find_slip(dim, &f, slip);
    cost[TRIBO_QPCC_SLIDE] = 0.5 * (eta * ll + rho * ss - slip[2]);
  }
  int best = last <= TRIBO_QPCC_BREAK && (dim > 1 || last != TRIBO_QPCC_SLIDE) ? (int)last : TRIBO_QPCC_STICK;
  for (int k = 0; k < 3; ++k) {
    best = cost[k] < cost[best] - tie ? k : best;
  }
  *mode = (TriboQpccMode)best;
  memset(lambda, 0, (size_t)dim * sizeof *lambda);
  memset(sigma, 0, (size_t)dim * sizeof *sigma);
  if (best == TRIBO_QPCC_STICK) {
    memcpy(lambda, stick, (size_t)dim * sizeof *lambda);
  } else if (best == TRIBO_QPCC_BREAK) {
    memcpy(sigma, s, (size_t)dim * sizeof *sigma);
    sigma[normal] = fmax(s[normal], 0);
  } else {
    const double ul = tribo_dot(slip, l, normal), us = tribo_dot(slip, s, normal);
    lambda[normal] = fmax(0, l[normal] - mu * ul) / (1 + mu * mu);
    for (int k = 0; k < normal; ++k) {
      lambda[k] = -mu * lambda[normal] * slip[k];
      sigma[k] = fmax(0, us) * slip[k];
    }
  }
  return cost[best];
}
