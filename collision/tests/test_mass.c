// Mass properties against closed forms and against each other.
#include "geometry.h"
#include "shape.h"

static const double pi = 3.14159265358979323846;

static void closed_forms(void** state) {
  (void)state;
  double v, c[3], I[9], size[3] = {2, 3, 4};
  CHECK_OK(tribo_col_shape_mass(TRIBO_SHAPE_BOX, size, NULL, &v, c, I));
  CHECK_NEAR(v, 24, 1e-13);
  CHECK_NEAR(I[0], 24 * 25 / 12.0, 1e-12);
  CHECK_OK(tribo_col_shape_mass(TRIBO_SHAPE_SPHERE, size, NULL, &v, c, I));
  CHECK_NEAR(v, 32 * pi / 3, 1e-12);
  CHECK_NEAR(I[4], 0.4 * v * 4, 1e-12);
  CHECK_OK(tribo_col_shape_mass(TRIBO_SHAPE_CONE, size, NULL, &v, c, I));
  CHECK_NEAR(v, 4 * pi, 1e-12);
  CHECK_NEAR(c[2], -0.75, 1e-14);
  // equal half axes: a ball
  double ball[3] = {2, 2, 2}, vs, Is[9];
  CHECK_OK(tribo_col_shape_mass(TRIBO_SHAPE_ELLIPSOID, ball, NULL, &vs, c, Is));
  CHECK_NEAR(vs, 32 * pi / 3, 1e-12);
  CHECK_NEAR(Is[8], 0.4 * vs * 4, 1e-11);
}

static int inside(const TriboGeom* g, const double x[3]) {
  double rho = sqrt(x[0] * x[0] + x[1] * x[1]), r = g->size[0], half = 0.5 * g->size[1];
  switch (g->kind) {
    case TRIBO_SHAPE_SPHERE: return tribo_norm3(x) <= r;
    case TRIBO_SHAPE_BOX: return fabs(x[0]) <= r / 2 && fabs(x[1]) <= half && fabs(x[2]) <= g->size[2] / 2;
    case TRIBO_SHAPE_CAPSULE: {
      double over = fmax(0, fabs(x[2]) - half);
      return rho * rho + over * over <= r * r;
    }
    case TRIBO_SHAPE_CYLINDER: return rho <= r && fabs(x[2]) <= half;
    case TRIBO_SHAPE_CONE: return fabs(x[2]) <= half && rho <= r * (half - x[2]) / g->size[1];
    case TRIBO_SHAPE_ELLIPSOID: {
      double y[3] = {x[0] / r, x[1] / g->size[1], x[2] / g->size[2]};
      return tribo_norm3(y) <= 1;
    }
    default: return 0;
  }
}

// Sums over a fine grid inside the shape. Each error is of the order of the surface cells, far below the difference a
// wrong factor would make.
static void sums_over_a_grid(void** state) {
  (void)state;
  enum { CELLS = 120 };
  for (int kind = 0; kind < TRIBO_SHAPE_HULL; ++kind) {
    TriboGeom g = geom_of((TriboShapeKind)kind, 0.5, 0.7, 0.9, 0);
    double box = 1.0, cell = 2 * box / CELLS, v = 0, first[3] = {0}, second[9] = {0};
    for (int i = 0; i < CELLS * CELLS * CELLS; ++i) {
      double x[3] = {-box + cell * (i % CELLS + 0.5), -box + cell * (i / CELLS % CELLS + 0.5),
                     -box + cell * (i / CELLS / CELLS + 0.5)};
      if (!inside(&g, x)) {
        continue;
      }
      v += 1;
      tribo_add3(first, first, x);
      for (int k = 0; k < 9; ++k) {
        second[k] += x[k / 3] * x[k % 3];
      }
    }
    double volume, centre[3], inertia[9];
    CHECK_OK(tribo_col_shape_mass(g.kind, g.size, NULL, &volume, centre, inertia));
    double dv = cell * cell * cell;
    CHECK_NEAR(volume / (v * dv), 1, 5e-3);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(centre[k], first[k] / v, 2e-3);
    }
    double trace = second[0] + second[4] + second[8];
    for (int k = 0; k < 9; ++k) {
      int r = k / 3, c = k % 3;
      double shift = (r == c) * tribo_dot3(centre, centre) - centre[r] * centre[c];
      CHECK_NEAR(inertia[k], dv * ((r == c) * trace - second[k] - v * shift), 1e-2 * inertia[0]);
    }
  }
}

// A finely meshed hull tends to its smooth shape at second order; a box is exact, wherever it lies.
static void hulls(void** state) {
  (void)state;
  double points[24], v, c[3], I[9], vb, cb[3], Ib[9], size[3] = {0.3, 0.5, 0.7};
  box_corners(size[0], size[1], size[2], points);
  for (int i = 0; i < 8; ++i) {
    points[3 * i] += 100;
  }
  TriboHull* hull;
  CHECK_OK(tribo_col_hull_create(points, 8, &hull));
  CHECK_OK(tribo_col_shape_mass(TRIBO_SHAPE_HULL, NULL, hull, &v, c, I));
  CHECK_OK(tribo_col_shape_mass(TRIBO_SHAPE_BOX, size, NULL, &vb, cb, Ib));
  CHECK_NEAR(v, vb, 1e-13);
  CHECK_NEAR(c[0], 100, 1e-12);
  for (int k = 0; k < 9; ++k) {
    CHECK_NEAR(I[k], Ib[k], 1e-13);
  }
  tribo_col_hull_destroy(hull);
  enum { RINGS = 40, STEPS = 80 };
  static double globe[3 * RINGS * STEPS];
  for (int i = 0; i < RINGS * STEPS; ++i) {
    double polar = pi * (i / STEPS + 0.5) / RINGS, turn = 2 * pi * (i % STEPS) / STEPS;
    tribo_set3(globe + 3 * i, 0.3 * sin(polar) * cos(turn), 0.5 * sin(polar) * sin(turn), 0.7 * cos(polar));
  }
  CHECK_OK(tribo_col_hull_create(globe, RINGS * STEPS, &hull));
  CHECK_OK(tribo_col_shape_mass(TRIBO_SHAPE_HULL, NULL, hull, &v, c, I));
  CHECK_OK(tribo_col_shape_mass(TRIBO_SHAPE_ELLIPSOID, size, NULL, &vb, cb, Ib));
  CHECK_NEAR(v / vb, 1, 4e-3);
  for (int k = 0; k < 9; k += 4) {
    CHECK_NEAR(I[k] / Ib[k], 1, 7e-3);
  }
  tribo_col_hull_destroy(hull);
}

// Divergence theorem on a random tetrahedron: volume by the determinant, inertia by its closed form through the
// covariance of the four corners, ∫(x−c)(x−c)ᵀ = V/20 Σ (p−c)(p−c)ᵀ.
static void tetrahedra(void** state) {
  (void)state;
  KitRandom r = {3};
  for (int round = 0; round < 200; ++round) {
    double p[12], e[9], mean[3] = {0}, C[9] = {0};
    for (int i = 0; i < 12; ++i) {
      p[i] = kit_uniform(&r, -1, 1);
    }
    for (int k = 0; k < 3; ++k) {
      tribo_sub3(e + 3 * k, p + 3 + 3 * k, p);
    }
    double expected = fabs(tribo_det33(e)) / 6;
    if (expected < 1e-3) {
      continue;
    }
    for (int i = 0; i < 4; ++i) {
      tribo_axpy3(mean, mean, 0.25, p + 3 * i);
    }
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 9; ++k) {
        C[k] += expected / 20 * (p[3 * i + k / 3] - mean[k / 3]) * (p[3 * i + k % 3] - mean[k % 3]);
      }
    }
    TriboHull* hull;
    double v, c[3], I[9];
    CHECK_OK(tribo_col_hull_create(p, 4, &hull));
    CHECK_OK(tribo_col_shape_mass(TRIBO_SHAPE_HULL, NULL, hull, &v, c, I));
    CHECK_NEAR(v, expected, 1e-14);
    for (int k = 0; k < 9; ++k) {
      CHECK_NEAR(I[k], (k % 4 == 0) * (C[0] + C[4] + C[8]) - C[k], 1e-14);
      CHECK_NEAR(c[k / 3], mean[k / 3], 1e-14);
    }
    tribo_col_hull_destroy(hull);
  }
}

static void bad_shapes_are_refused(void** state) {
  (void)state;
  double v, c[3], I[9], size[3] = {1, 1, 1};
  CHECK_FAILS(tribo_col_shape_mass(TRIBO_SHAPE_HALFSPACE, size, NULL, &v, c, I), TRIBO_INVALID, "half-space");
  CHECK_FAILS(tribo_col_shape_mass(TRIBO_SHAPE_HULL, size, NULL, &v, c, I), TRIBO_INVALID, "hull");
  CHECK_FAILS(tribo_col_shape_mass(TRIBO_SHAPE_BOX, NULL, NULL, &v, c, I), TRIBO_INVALID, "size[0]");
  CHECK_FAILS(tribo_col_shape_mass((TriboShapeKind)99, size, NULL, &v, c, I), TRIBO_INVALID, "99");
  double bad[] = {0, -1, NAN, INFINITY};
  for (int i = 0; i < 4; ++i) {
    size[1] = bad[i];
    CHECK_FAILS(tribo_col_shape_mass(TRIBO_SHAPE_CAPSULE, size, NULL, &v, c, I), TRIBO_INVALID, "size[1] of a capsule");
  }
  TriboGeom g = geom_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, 0);
  CHECK_FAILS(tribo_col_geom_validate(&g), TRIBO_INVALID, "world");
  g = geom_of(TRIBO_SHAPE_SPHERE, 1, 0, 0, -2);
  CHECK_FAILS(tribo_col_geom_validate(&g), TRIBO_INVALID, "body is -2");
  g = geom_of(TRIBO_SHAPE_SPHERE, 1, 0, 0, 0);
  g.local.R[0] = 1.1;
  CHECK_FAILS(tribo_col_geom_validate(&g), TRIBO_INVALID, "rotation");
  g.local.R[0] = -1;
  CHECK_FAILS(tribo_col_geom_validate(&g), TRIBO_INVALID, "reflection");
  g.local.p[1] = NAN;
  CHECK_FAILS(tribo_col_geom_validate(&g), TRIBO_INVALID, "finite");
}

// The support point maximises n·x over the shape: checked against inside() by stepping in and out.
static void supports_and_bounds(void** state) {
  (void)state;
  KitRandom r = {11};
  for (int kind = 0; kind < TRIBO_SHAPE_HULL; ++kind) {
    for (int round = 0; round < 2000; ++round) {
      TriboGeom g = random_geom(&r, (TriboShapeKind)kind, 0.2, 1);
      TriboSolid solid = tribo_col_solid(&g);
      solid.pose = random_pose(&r, 2);
      double n[3] = {kit_normal(&r), kit_normal(&r), kit_normal(&r)}, x[3], y[3], local[3], low[3], high[3];
      tribo_normalize3(n);
      double h = tribo_col_support(&solid, n, x);
      CHECK_NEAR(h, tribo_dot3(n, x), 1e-14);
      tribo_col_bounds(&solid, low, high);
      // slightly towards the middle is inside; no random inside point lies beyond
      tribo_sub3(y, x, solid.pose.p);
      CHECK_LE(tribo_norm3(y), tribo_col_reach(&solid) * (1 + 1e-12));
      for (int k = 0; k < 3; ++k) {
        assert_true(x[k] >= low[k] - 1e-12 && x[k] <= high[k] + 1e-12);
      }
      tribo_axpy3(y, solid.pose.p, 1 - 1e-9, y);
      tribo_col_to_local(local, &solid.pose, y);
      assert_true(inside(&g, local));
      for (int i = 0; i < 20; ++i) {
        double p[3] = {kit_uniform(&r, -1.5, 1.5), kit_uniform(&r, -1.5, 1.5), kit_uniform(&r, -1.5, 1.5)};
        if (inside(&g, p)) {
          tribo_col_to_world(y, &solid.pose, p);
          CHECK_LE(tribo_dot3(n, y), h + 1e-12);
        }
      }
      // the Hessian of h against differences of its gradient, the support point
      double K[9] = {0}, t[2][3], Kt[3];
      tribo_col_curvature(&solid, n, K);
      tribo_tangents(t[0], t[1], n);
      double e = 1e-6, ahead[3], behind[3], m[3];
      tribo_axpy3(m, n, e, t[0]);
      tribo_col_support(&solid, m, ahead);
      tribo_axpy3(m, n, -e, t[0]);
      tribo_col_support(&solid, m, behind);
      tribo_sub3(y, ahead, behind);
      tribo_mul33v(Kt, K, t[0]);
      for (int k = 0; k < 3 && tribo_norm3(y) < 1e-3; ++k) {
        CHECK_NEAR(y[k] / (2 * e), Kt[k], 1e-3 * (1 + tribo_norm3(Kt)));
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closed_forms), cmocka_unit_test(sums_over_a_grid),       cmocka_unit_test(hulls),
      cmocka_unit_test(tetrahedra),   cmocka_unit_test(bad_shapes_are_refused), cmocka_unit_test(supports_and_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
