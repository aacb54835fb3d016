// The solvers' own estimate of the residuals of an answer: r_nat and natmap_unit as tribo_problem_residuals defines
// them, and how many times the tolerance they are. Cone by cone in problem units, wherever λ and σ come from.
#include "score.h"

#include <float.h>
#include <math.h>

#include "cones.h"
#include "lanes.h"
#include "math3.h"

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

// P_K(y) with the bounds of a box multiplied by d; `circular`: Coulomb's cone of three rows
static inline void project(const TriboCone* k, int circular, double d, const double* y, double* p) {
  if (circular) {
    tribo_sol_project_round(3, k->mu[0], y, p);
  } else if (k->kind == TRIBO_CONE_FRICTION) {
    int same = k->mu[0] > 0;
    for (int i = 1; i < k->dim - 1; ++i) {
      same &= k->mu[i] == k->mu[0];
    }
    if (same) {
      tribo_sol_project_round(k->dim, k->mu[0], y, p);
    } else {
      tribo_sol_project_elliptic(k->dim, k->mu, y, p);
    }
  } else {
    double lo = k->kind == TRIBO_CONE_NONNEG ? 0 : k->kind == TRIBO_CONE_BOX ? k->lo : -INFINITY;
    double hi = k->kind == TRIBO_CONE_BOX ? k->hi : INFINITY;
    for (int i = 0; i < k->dim; ++i) {
      p[i] = tribo_clamp(y[i], lo > -INFINITY ? d * lo : lo, hi < INFINITY ? d * hi : hi);
    }
  }
}

// Natural map of one cone for the scale d: o = dλ − P_K(dλ − σ̂)
static inline void natural_map(const TriboCone* k, int circular, double d, const double* lambda, const double* s,
                               double* o) {
  const int dim = circular ? 3 : k->dim;
  double y[TRIBO_CONE_ROWS], p[TRIBO_CONE_ROWS];
  for (int i = 0; i < dim; ++i) {
    y[i] = d * lambda[i] - s[i];
  }
  project(k, circular, d, y, p);
  for (int i = 0; i < dim; ++i) {
    o[i] = d * lambda[i] - p[i];
  }
}

// Adds one cone to the sums; `circular`: its three rows are known to be Coulomb's cone.
static inline void add(TriboTally* t, const TriboCone* k, int circular, double mean, const double* lambda,
                       const double* sigma) {
  const int dim = circular ? 3 : k->dim;
  double s[TRIBO_CONE_ROWS], o[TRIBO_CONE_ROWS], size = 0, speed = 0, slip = 0;
  for (int i = 0; i < dim; ++i) {
    s[i] = sigma[i];
    size += lambda[i] * lambda[i];
    speed += sigma[i] * sigma[i];
  }
  t->norm_l += size;
  t->norm_s += speed;
  // σ̂ = σ + Γ(σ)
  if ((circular || k->kind == TRIBO_CONE_FRICTION) && !t->relaxed) {
    for (int i = 0; i < dim - 1; ++i) {
      slip += k->mu[i] * s[i] * k->mu[i] * s[i];
    }
  }
  s[dim - 1] += sqrt(slip);
  t->most = larger(t->most, mean * mean * size);
  natural_map(k, circular, mean, lambda, s, o);
  for (int i = 0; i < dim; ++i) {
    t->nat = larger(t->nat, fabs(o[i]));
  }
  if (t->has_unit) {
    natural_map(k, circular, t->mean, lambda, s, o);
    for (int i = 0; i < dim; ++i) {
      t->square += o[i] * o[i];
    }
  }
}

TRIBO_LANES void tribo_sol_tally(TriboTally* t, const TriboCone* k, double mean, const double* lambda,
                                 const double* sigma) {
  if (k->kind == TRIBO_CONE_FRICTION && k->dim == 3 && k->mu[0] == k->mu[1] && k->mu[0] > 0) {
    add(t, k, 1, mean, lambda, sigma);
  } else {
    add(t, k, 0, mean, lambda, sigma);
  }
}

TriboScore tribo_sol_score(const TriboTally* t, double norm_g, double asked, int whole) {
  if (!isfinite(t->norm_l + t->norm_s)) {
    return (TriboScore){INFINITY, INFINITY, INFINITY};
  }
  double scale = larger(norm_g, larger(t->mean * sqrt(t->norm_l), sqrt(t->norm_s)));
  TriboScore score = {t->nat, scale > 0 ? sqrt(t->square) / scale : 0, 0};
  // beyond 1e-8 impulses are so large that the problem has no proper answer: rounding is no excuse for that
  const double tol = whole ? asked : larger(asked, fmin(50 * DBL_EPSILON * sqrt(t->most), 1e-8));
  const double reached = whole ? score.unit : t->nat;
  // half the tolerance: the independent residuals (residuals.c) round differently
  score.value = tol > 0 ? 2 * reached / tol : reached > 0 ? INFINITY : 0;
  return score;
}
