// Pairs that go through Coal: the polished answer against configurations whose answer is known.
#include "geometry.h"
#include "narrow.h"

static TriboCoalQuery* query;
static TriboHull *rock, *cube;
static TriboCoalShape* shapes[64];
static int nshape;
enum { KINDS = TRIBO_SHAPE_HULL + 1 };

static int open_query(void** state) {
  (void)state;
  KitRandom r = {1};
  double points[60], corners[24];
  for (int i = 0; i < 60; ++i) {
    points[i] = kit_uniform(&r, -0.3, 0.3);
  }
  box_corners(1, 1, 1, corners);
  return tribo_coal_query_create(&query) != TRIBO_OK || tribo_col_hull_create(points, 20, &rock) != TRIBO_OK ||
         tribo_col_hull_create(corners, 8, &cube) != TRIBO_OK;
}

static void forget_shapes(void) {
  while (nshape > 0) {
    tribo_coal_shape_destroy(shapes[--nshape]);
  }
}

static int close_query(void** state) {
  (void)state;
  forget_shapes();
  tribo_coal_query_destroy(query);
  tribo_col_hull_destroy(rock);
  tribo_col_hull_destroy(cube);
  return 0;
}

// The Coal object lives until forget_shapes().
static TriboSolid solid_of(TriboGeom geom, TriboPose pose) {
  TriboSolid solid = tribo_col_solid(&geom);
  solid.pose = pose;
  if (geom.kind == TRIBO_SHAPE_HULL) {
    solid.coal = geom.hull->coal;
  } else {
    CHECK_OK(tribo_coal_shape_create(geom.kind, geom.size, shapes + nshape));
    solid.coal = shapes[nshape++];
  }
  return solid;
}

static TriboSolid random_solid(KitRandom* r, int kind) {
  TriboGeom geom = random_geom(r, (TriboShapeKind)kind, 0.1, 0.5);
  geom.hull = rock;
  return solid_of(geom, random_pose(r, 0.5));
}

// How far x, with n the outward normal there, lies off the surface: a ball that rests on it 10 cm away is as far.
static double off_surface(const TriboSolid* solid, const double x[3], const double n[3], double sign) {
  TriboSolid ball = solid_of(geom_of(TRIBO_SHAPE_SPHERE, 0.05, 0, 0, 0), pose_at(x[0], x[1], x[2]));
  TriboManifold m;
  tribo_axpy3(ball.pose.p, x, 0.15 * sign, n);
  CHECK_OK(tribo_col_collide(query, solid, &ball, INFINITY, &m, NULL));
  return fabs(m.gap - 0.1);
}

// The closest or deepest point lies on both surfaces.
static void check_place(const TriboSolid* a, const TriboSolid* b, const TriboManifold* m) {
  int low = 0;
  for (int i = 1; i < m->count; ++i) {
    low = m->points[i].gap < m->points[low].gap ? i : low;
  }
  assert_true(m->count > 0);
  const TriboColPoint* p = m->points + low;
  CHECK_NEAR(p->gap, m->gap, 1e-6);
  CHECK_LE(off_surface(a, p->a, p->normal, 1), 1e-5);
  CHECK_LE(off_surface(b, p->b, p->normal, -1), 1e-5);
}

// Solids put at a known gap: distance and normal come back to rounding.
static void apart(void** state) {
  (void)state;
  KitRandom r = {5};
  double ordered[KINDS][KINDS];
  for (int ka = 0; ka < KINDS; ++ka) {
    for (int kb = 0; kb < KINDS; ++kb) {
      ordered[ka][kb] = 0;
      for (int i = 0; i < 300; ++i) {
        TriboSolid a = random_solid(&r, ka), b = random_solid(&r, kb);
        double n[3] = {kit_normal(&r), kit_normal(&r), kit_normal(&r)}, gap = pow(10, kit_uniform(&r, -3, 0));
        tribo_normalize3(n);
        face_each_other(&a, &b, n, gap);
        TriboManifold m;
        CHECK_OK(tribo_col_convex(query, &a, &b, INFINITY, (m.count = 0, &m)));
        CHECK_NEAR(m.gap, gap, 1e-9);
        check_place(&a, &b, &m);
        ordered[ka][kb] = fmax(ordered[ka][kb], angle_between(m.normal, n));
        forget_shapes();
      }
      // (a face that almost looks along n is preferred by a hair)
      int flat = (ka == TRIBO_SHAPE_BOX || ka == TRIBO_SHAPE_HULL) && (kb == TRIBO_SHAPE_BOX || kb == TRIBO_SHAPE_HULL);
      CHECK_LE(ordered[ka][kb], flat ? 1e-4 : 1e-9);
    }
  }
  print_message("worst of 300 poses, apart, polished: normal [rad]\n");
  for (int ka = 0; ka < KINDS; ++ka) {
    for (int kb = 0; kb < KINDS; ++kb) {
      print_message(" %8.1e", ordered[ka][kb]);
    }
    print_message("  %s\n", tribo_col_shape_name((TriboShapeKind)ka));
  }
}

// Just touching: nothing in Coal is reliable there, neither the normal when apart nor the depth when not.
static void touching(void** state) {
  (void)state;
  KitRandom r = {14};
  for (int i = 0; i < 20000; ++i) {
    TriboSolid a = random_solid(&r, kit_int(&r, KINDS)), b = random_solid(&r, kit_int(&r, KINDS));
    double n[3] = {kit_normal(&r), kit_normal(&r), kit_normal(&r)};
    double gap = (i % 3 - 1) * pow(10, kit_uniform(&r, -14, -4));
    tribo_normalize3(n);
    face_each_other(&a, &b, n, gap);
    for (int way = 0; way < 2; ++way) {
      // by closed form where there is one, and by Coal in any case
      TriboManifold m = {.count = 0};
      CHECK_OK(way ? tribo_col_convex(query, &a, &b, INFINITY, &m)
                   : tribo_col_collide(query, &a, &b, INFINITY, &m, NULL));
      // the direction n shows that the distance is at least the gap
      CHECK_LE(gap, m.gap + 1e-6);
      CHECK_LE(m.gap, fabs(gap) + 1e-9);
      check_place(&a, &b, &m);
    }
    forget_shapes();
  }
}

// Overlapping a little: the depth is real, for moved out by it along the normal the pair just touches.
static void overlapping(void** state) {
  (void)state;
  KitRandom r = {15};
  int inside = 0;
  for (int i = 0; i < 20000; ++i) {
    TriboSolid a = random_solid(&r, kit_int(&r, KINDS)), b = random_solid(&r, kit_int(&r, KINDS));
    double n[3] = {kit_normal(&r), kit_normal(&r), kit_normal(&r)}, gap = -kit_uniform(&r, 1e-4, 1e-2);
    tribo_normalize3(n);
    face_each_other(&a, &b, n, gap);
    TriboManifold m, out;
    CHECK_OK(tribo_col_collide(query, &a, &b, INFINITY, &m, NULL));
    CHECK_LE(gap, m.gap + 1e-6);
    if (m.gap < 0) {
      inside++;
      check_place(&a, &b, &m);
      tribo_axpy3(b.pose.p, b.pose.p, 1e-3 - m.gap, m.normal);
      CHECK_OK(tribo_col_collide(query, &a, &b, INFINITY, &out, NULL));
      CHECK_NEAR(out.gap, 1e-3, 2e-6);
    }
    forget_shapes();
  }
  assert_true(inside > 5000);
}

// The same solid under two names: a ball as ellipsoid, a box as hull. One name has a closed form.
static void two_names(void** state) {
  (void)state;
  static const TriboShapeKind others[] = {TRIBO_SHAPE_SPHERE, TRIBO_SHAPE_BOX, TRIBO_SHAPE_CAPSULE,
                                          TRIBO_SHAPE_CYLINDER};
  KitRandom r = {8};
  for (int name = 0; name < 2; ++name) {
    for (int k = 0; k < (name == 0 ? 4 : 3); ++k) {
      int ties = 0, inside = 0;
      double worst = 0;
      for (int i = 0; i < 3000; ++i) {
        double radius = kit_uniform(&r, 0.1, 0.5);
        TriboPose pose = random_pose(&r, 0.3), pose_b = random_pose(&r, name == 0 ? 0.3 : 0.8);
        TriboGeom plain = geom_of(name == 0 ? TRIBO_SHAPE_SPHERE : TRIBO_SHAPE_BOX, name == 0 ? radius : 1, 1, 1, 0);
        TriboGeom other = geom_of(name == 0 ? TRIBO_SHAPE_ELLIPSOID : TRIBO_SHAPE_HULL, radius, radius, radius, 0);
        other.hull = cube;
        TriboSolid x = solid_of(plain, pose), y = solid_of(other, pose);
        TriboSolid b = solid_of(random_geom(&r, others[k], 0.1, 0.5), pose_b);
        TriboManifold closed, polished;
        int by_coal;
        CHECK_OK(tribo_col_collide(query, &x, &b, INFINITY, &closed, &by_coal));
        assert_int_equal(by_coal, 0);
        CHECK_OK(tribo_col_collide(query, &y, &b, INFINITY, &polished, &by_coal));
        assert_int_equal(by_coal, 1);
        inside += closed.gap < 0;
        double angle = angle_between(closed.normal, polished.normal), off = fabs(closed.gap - polished.gap);
        if (angle > 1e-6 || off > 1e-6) {
          ties++;
        } else {
          worst = fmax(worst, off);
        }
        forget_shapes();
      }
      print_message("%s-%s: %d inside, gap within %.1e, %d ties\n", name == 0 ? "ball" : "box",
                    tribo_col_shape_name(others[k]), inside, worst, ties);
      CHECK_LE(ties, 30);
      assert_true(inside > 300);
    }
  }
}

// Two overlaps of a few centimetres, found among 1e5, for which Coal returns nothing.
static void where_coal_fails(void** state) {
  (void)state;
  static const struct {
    uint64_t seed;
    TriboShapeKind kind;
  } cases[] = {{0x5a0b606c3f70cac5, TRIBO_SHAPE_BOX}, {0x1b72eee0bca6838b, TRIBO_SHAPE_CYLINDER}};
  for (int k = 0; k < 2; ++k) {
    KitRandom r = {cases[k].seed};
    double radius = kit_uniform(&r, 0.1, 0.5);
    TriboGeom other = random_geom(&r, cases[k].kind, 0.1, 0.5);
    TriboPose pose = random_pose(&r, 0.4), pose_b = random_pose(&r, 0.4);
    TriboSolid sphere = solid_of(geom_of(TRIBO_SHAPE_SPHERE, radius, 0, 0, 0), pose);
    TriboSolid ball = solid_of(geom_of(TRIBO_SHAPE_ELLIPSOID, radius, radius, radius, 0), pose);
    TriboSolid b = solid_of(other, pose_b);
    TriboManifold closed, polished;
    TriboCoalAnswer coal;
    CHECK_OK(tribo_coal_distance(query, ball.coal, &ball.pose, b.coal, &b.pose, &coal));
    assert_true(isnan(coal.gap) && isnan(coal.normal[0]) && isnan(coal.point[2]));
    CHECK_OK(tribo_col_collide(query, &sphere, &b, INFINITY, &closed, NULL));
    CHECK_OK(tribo_col_collide(query, &ball, &b, INFINITY, &polished, NULL));
    CHECK_NEAR(polished.gap, closed.gap, 1e-12);
    CHECK_LE(angle_between(polished.normal, closed.normal), 1e-9);
    forget_shapes();
  }
}

// Points of the pair after the reduction to at most four.
static int manifold(TriboSolid a, TriboSolid b, TriboManifold* m) {
  CHECK_OK(tribo_col_collide(query, &a, &b, 1e-2, m, NULL));
  int count = tribo_col_reduce(m->points, m->count, NULL, 0);
  forget_shapes();
  return count;
}

// What stands on a face touches with several points of that face, all with the right gap.
static void standing_on_a_face(void** state) {
  (void)state;
  TriboGeom floor = geom_of(TRIBO_SHAPE_BOX, 4, 4, 1, TRIBO_WORLD_BODY);
  TriboGeom block = geom_of(TRIBO_SHAPE_HULL, 0, 0, 0, 0);
  block.hull = cube;
  TriboGeom standing[3] = {geom_of(TRIBO_SHAPE_CYLINDER, 0.5, 1, 0, 0), geom_of(TRIBO_SHAPE_CONE, 0.5, 1, 0, 0), block};
  double radius[3] = {0.5, 0.5, sqrt(0.5)};
  TriboManifold m;
  for (int k = 0; k < 3; ++k) {
    // tilts from rounding to a degree: always four points, each with its own gap, the deepest among them
    for (int j = 0; j < 6; ++j) {
      double tilt = j == 0 ? 0 : pow(10, -9 + 1.4 * j);
      TriboPose pose = turned(pose_at(0.3, 0.2, 0.5), 2, 0.3);
      pose = turned(pose, 0, tilt);
      pose.p[2] = 0.5 + 0.5 - 1e-4;
      TriboSolid a = solid_of(floor, pose_at(0, 0, 0)), b = solid_of(standing[k], pose);
      double down[3] = {0, 0, -1}, lowest[3], least = INFINITY;
      tribo_col_support(&b, down, lowest);
      uint32_t features[4];
      assert_int_equal(manifold(a, b, &m), 4);
      for (int i = 0; i < 4; ++i) {
        const TriboColPoint* p = m.points + i;
        double r[3];
        CHECK_NEAR(p->gap, p->b[2] - p->a[2], 1e-3 * tilt + 1e-12);
        tribo_sub3(r, p->b, pose.p);
        CHECK_NEAR(sqrt(tribo_dot3(r, r) - 0.25), radius[k], 1e-3);
        least = fmin(least, p->gap);
        features[i] = p->feature;
      }
      CHECK_NEAR(least, lowest[2] - 0.5, tilt < 1e-4 ? 2e-6 : 4e-6);
      CHECK_NEAR(m.normal[2], 1, 1e-3);
      // the same points after a small slide and turn
      pose.p[0] += 0.01;
      pose = turned(pose, 2, 0.01);
      a = solid_of(floor, pose_at(0, 0, 0)), b = solid_of(standing[k], pose);
      assert_int_equal(manifold(a, b, &m), 4);
      if (tilt < 1e-6) {
        for (int i = 0; i < 4; ++i) {
          assert_int_equal(m.points[i].feature, features[i]);
        }
      }
    }
  }
}

// Cylinders and cones that lie, and caps on caps: a line gives two points, a cap its rim.
static void lying_and_stacked(void** state) {
  (void)state;
  TriboManifold m;
  TriboGeom floor = geom_of(TRIBO_SHAPE_BOX, 4, 4, 1, TRIBO_WORLD_BODY);
  TriboGeom can = geom_of(TRIBO_SHAPE_CYLINDER, 0.2, 1, 0, 0), pill = geom_of(TRIBO_SHAPE_CAPSULE, 0.2, 1, 0, 0);
  TriboPose lying = turned(pose_at(0, 0, 0.699), 1, 1.5707963267948966 + 1e-4);
  // a lying can touches with two points, at the ends of its line, each with its gap
  assert_int_equal(manifold(solid_of(floor, pose_at(0, 0, 0)), solid_of(can, lying), &m), 2);
  CHECK_NEAR(fabs(m.points[0].gap - m.points[1].gap), 1e-4, 1e-9);
  CHECK_NEAR(m.points[0].gap + m.points[1].gap, -2e-3, 1e-8);
  CHECK_NEAR(fabs(m.points[0].b[0] - m.points[1].b[0]), 1, 1e-6);
  // two lying cans side by side, and a can beside a capsule: parallel lines, two points
  TriboPose beside = turned(pose_at(0.3, 0.401, 0.699), 1, 1.5707963267948966 + 1e-4);
  for (int k = 0; k < 2; ++k) {
    assert_int_equal(manifold(solid_of(can, lying), solid_of(k ? pill : can, beside), &m), 2);
    CHECK_NEAR(fabs(m.points[0].a[0] - m.points[1].a[0]), 0.7, 1e-6);
    // (the tilt lowers the second by 0.3 · 1e-4 across the line of middles)
    CHECK_NEAR(m.points[0].gap, hypot(0.401, 3e-5) - 0.4, 1e-12);
    CHECK_NEAR(m.points[1].gap, hypot(0.401, 3e-5) - 0.4, 1e-12);
  }
  // crossed cans: one point where they cross
  TriboPose crossed = turned(pose_at(0.1, 0.2, 1.099), 0, 1.5707963267948966);
  assert_int_equal(manifold(solid_of(can, lying), solid_of(can, crossed), &m), 1);
  CHECK_NEAR(m.points[0].a[0], 0.1, 1e-4);
  CHECK_NEAR(m.points[0].a[1], 0, 1e-4);
  CHECK_NEAR(m.gap, 0, 1e-4);
  // a can on a can, shifted: four points inside both discs
  TriboPose under = pose_at(0, 0, 0), upper = pose_at(0.1, 0, 0.9999);
  assert_int_equal(manifold(solid_of(can, under), solid_of(can, upper), &m), 4);
  for (int i = 0; i < 4; ++i) {
    CHECK_NEAR(m.points[i].gap, -1e-4, 1e-12);
    CHECK_LE(hypot(m.points[i].a[0], m.points[i].a[1]), 0.2 + 1e-9);
    CHECK_LE(hypot(m.points[i].a[0] - 0.1, m.points[i].a[1]), 0.2 + 1e-9);
  }
  // a small cube on a large hull: its corners
  TriboGeom block = geom_of(TRIBO_SHAPE_HULL, 0, 0, 0, 0), dice = geom_of(TRIBO_SHAPE_BOX, 0.1, 0.1, 0.1, 0);
  block.hull = cube;
  assert_int_equal(manifold(solid_of(block, pose_at(0, 0, 0)), solid_of(dice, pose_at(0.2, 0.3, 0.5501)), &m), 4);
  for (int i = 0; i < 4; ++i) {
    CHECK_NEAR(m.points[i].gap, 1e-4, 1e-12);
    CHECK_NEAR(fabs(m.points[i].a[0] - 0.2), 0.05, 1e-12);
    CHECK_NEAR(fabs(m.points[i].a[1] - 0.3), 0.05, 1e-12);
  }
}

// What is out of reach is nothing, what is within reach is there, however little the reach is off the distance.
static void reach_decides(void** state) {
  (void)state;
  KitRandom r = {5};
  for (int i = 0; i < 4000; ++i) {
    TriboSolid a = random_solid(&r, kit_int(&r, KINDS)), b = random_solid(&r, kit_int(&r, KINDS));
    TriboManifold all = {.count = 0}, some = {.count = 0};
    CHECK_OK(tribo_col_convex(query, &a, &b, INFINITY, &all));
    if (all.gap > 1e-3) {
      const double less = all.gap * (1 - pow(10, kit_uniform(&r, -6, 0))), more = all.gap * (1 + 1e-6);
      CHECK_OK(tribo_col_convex(query, &a, &b, less, &some));
      assert_int_equal(some.count, 0);
      assert_true(some.gap > less && some.gap < all.gap + 1e-9);
      CHECK_OK(tribo_col_convex(query, &a, &b, more, &some));
      assert_true(some.count > 0);
      CHECK_NEAR(some.gap, all.gap, 0);
    }
    forget_shapes();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(apart),
                                     cmocka_unit_test(touching),
                                     cmocka_unit_test(overlapping),
                                     cmocka_unit_test(two_names),
                                     cmocka_unit_test(where_coal_fails),
                                     cmocka_unit_test(standing_on_a_face),
                                     cmocka_unit_test(lying_and_stacked),
                                     cmocka_unit_test(reach_decides)};
  return cmocka_run_group_tests(tests, open_query, close_query);
}
