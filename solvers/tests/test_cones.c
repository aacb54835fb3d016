// Projections on cones: what makes them projections, and brute force.
#include "cones.h"
#include "kit.h"

enum { TRIALS = 4000 };

static double dist2(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return sum;
}

// a random cone (equal coefficients when round), and its projection
typedef struct Cone {
  int dim, round;
  double mu[5];
} Cone;

static Cone random_cone(KitRandom* r) {
  Cone c = {.dim = 2 + kit_int(r, 5), .round = kit_int(r, 2)};
  for (int i = 0; i < 5; ++i) {
    c.mu[i] = c.round && i > 0 ? c.mu[0] : pow(10, kit_uniform(r, -2, 0.7));
    c.mu[i] = !c.round && kit_int(r, 8) == 0 ? 0 : c.mu[i];
  }
  return c;
}

static void project(const Cone* c, const double* x, double* p) {
  if (c->round) {
    tribo_sol_project_round(c->dim, c->mu[0], x, p);
  } else {
    tribo_sol_project_elliptic(c->dim, c->mu, x, p);
  }
}

// how far p is outside the cone, 0 inside
static double outside(const Cone* c, const double* p) {
  double sum = 0, zero_rows = 0;
  for (int i = 0; i < c->dim - 1; ++i) {
    sum += c->mu[i] > 0 ? p[i] * p[i] / (c->mu[i] * c->mu[i]) : 0;
    zero_rows = fmax(zero_rows, c->mu[i] > 0 ? 0 : fabs(p[i]));
  }
  return fmax(zero_rows, fmax(0, sqrt(sum) - p[c->dim - 1]));
}

static void random_point(KitRandom* r, int dim, double* x) {
  for (int i = 0; i < dim; ++i) {
    x[i] = kit_normal(r) * pow(10, kit_uniform(r, -2, 1));
  }
}

static void projections_land_in_the_cone_and_stay(void** state) {
  (void)state;
  KitRandom r = {1};
  for (int t = 0; t < TRIALS; ++t) {
    Cone c = random_cone(&r);
    double x[6], p[6], again[6];
    random_point(&r, c.dim, x);
    project(&c, x, p);
    double size = sqrt(dist2(c.dim, x, (double[6]){0}));
    CHECK_LE(outside(&c, p), 1e-12 * size);
    project(&c, p, again);
    CHECK_LE(sqrt(dist2(c.dim, p, again)), 1e-12 * size);
  }
}

static void projections_are_firmly_non_expansive(void** state) {
  (void)state;
  KitRandom r = {2};
  for (int t = 0; t < TRIALS; ++t) {
    Cone c = random_cone(&r);
    double x[6], y[6], p[6], q[6], inner = 0;
    random_point(&r, c.dim, x);
    random_point(&r, c.dim, y);
    project(&c, x, p);
    project(&c, y, q);
    for (int i = 0; i < c.dim; ++i) {
      inner += (p[i] - q[i]) * (x[i] - y[i]);
    }
    CHECK_LE(dist2(c.dim, p, q), inner + 1e-12 * dist2(c.dim, x, y));
  }
}

static void remainder_is_in_the_polar_cone(void** state) {
  (void)state;
  // x − p is orthogonal to p and has no positive product with any point of the cone: then p is the nearest point
  KitRandom r = {3};
  for (int t = 0; t < TRIALS; ++t) {
    Cone c = random_cone(&r);
    double x[6], p[6], orthogonal = 0, push = 0, slip = 0;
    random_point(&r, c.dim, x);
    project(&c, x, p);
    for (int i = 0; i < c.dim; ++i) {
      orthogonal += p[i] * (x[i] - p[i]);
      push = i == c.dim - 1 ? x[i] - p[i] : push;
      slip += i < c.dim - 1 ? c.mu[i] * (x[i] - p[i]) * c.mu[i] * (x[i] - p[i]) : 0;
    }
    double size = sqrt(dist2(c.dim, x, (double[6]){0}));
    CHECK_NEAR(orthogonal, 0, 1e-11 * size * size);
    CHECK_LE(push + sqrt(slip), 1e-11 * size);
  }
}

static void projections_beat_brute_force(void** state) {
  (void)state;
  KitRandom r = {4};
  for (int t = 0; t < 200; ++t) {
    Cone c = random_cone(&r);
    c.dim = 3;
    double x[6], p[6];
    random_point(&r, 3, x);
    project(&c, x, p);
    double best = dist2(3, x, p);
    for (int i = 0; i < 500; ++i) {
      double h = 3 * fabs(kit_normal(&r)) * sqrt(best + 1), a = kit_uniform(&r, 0, 6.2831853),
             f = kit_uniform(&r, 0, 1);
      double y[3] = {f * c.mu[0] * h * cos(a), f * c.mu[1] * h * sin(a), h};
      CHECK_LE(best, dist2(3, x, y) * (1 + 1e-12));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(projections_land_in_the_cone_and_stay),
      cmocka_unit_test(projections_are_firmly_non_expansive),
      cmocka_unit_test(remainder_is_in_the_polar_cone),
      cmocka_unit_test(projections_beat_brute_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
