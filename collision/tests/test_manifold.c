// Manifolds of the closed forms: where the points are, their gaps, and names that stay.
#include "geometry.h"
#include "narrow.h"

static TriboSolid solid_of(TriboShapeKind kind, double x, double y, double z, TriboPose pose) {
  TriboGeom geom = geom_of(kind, x, y, z, TRIBO_WORLD_BODY);
  TriboSolid solid = tribo_col_solid(&geom);
  solid.pose = pose;
  return solid;
}

static int collide(const TriboSolid* a, const TriboSolid* b, double reach, TriboManifold* m) {
  int by_coal;
  CHECK_OK(tribo_col_collide(NULL, a, b, reach, m, &by_coal));
  assert_int_equal(by_coal, 0);
  return tribo_col_reduce(m->points, m->count, NULL, 0);
}

static int has_feature(const TriboManifold* m, int count, uint32_t feature) {
  for (int i = 0; i < count; ++i) {
    if (m->points[i].feature == feature) {
      return 1;
    }
  }
  return 0;
}

static void aligned_cubes_touch_in_four_corners(void** state) {
  (void)state;
  TriboSolid a = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, pose_at(0, 0, 0.5));
  uint32_t names[4] = {0};
  TriboManifold m;
  // at rest, slid to all sides, apart by half a millimetre, turned by rounding and by more
  for (int k = 0; k < 200; ++k) {
    double dx = (k % 5 - 2) * 0.01, dy = (k / 5 % 5 - 2) * 1e-7, rise = k / 25 % 2 * 5e-4;
    double turn = k / 50 == 0 ? 0 : pow(10, -16 + 4.5 * (k / 50));
    TriboSolid b = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, turned(pose_at(dx, dy, 1.5 + rise), 2, turn));
    assert_int_equal(collide(&a, &b, 1e-3, &m), 4);
    for (int i = 0; i < 4; ++i) {
      const TriboColPoint* p = m.points + i;
      CHECK_NEAR(p->gap, rise, 2e-16);
      CHECK_NEAR(p->normal[2], 1, 1e-16);
      CHECK_NEAR(fabs(p->a[0] - dx / 2), 0.5 - fabs(dx) / 2, 1e-15 + turn);
      CHECK_NEAR(fabs(p->a[1] - dy / 2), 0.5 - fabs(dy) / 2, 1e-15 + turn);
      if (k == 0) {
        names[i] = p->feature;
      }
      assert_true(has_feature(&m, 4, names[i]));
    }
  }
}

static void tilted_cubes_have_their_own_gaps(void** state) {
  (void)state;
  TriboSolid a = solid_of(TRIBO_SHAPE_BOX, 4, 4, 1, pose_at(0, 0, -0.5));
  TriboManifold m;
  uint32_t names[4];
  for (int k = 0; k < 10; ++k) {
    double tilt = k == 0 ? 0 : pow(10, -11 + k);
    TriboSolid b = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, turned(pose_at(0.1, 0.2, 0.5), 0, tilt));
    int count = collide(&a, &b, 1, &m);
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; ++i) {
      double side = m.points[i].b[1] > 0.2 ? 1 : -1;
      // exact height of that corner; against b's face the normal is tilted instead
      double height = 0.5 + 0.5 * side * sin(tilt) - 0.5 * cos(tilt);
      CHECK_NEAR(m.points[i].gap, height, 1e-15 + tilt * tilt);
      if (k == 0) {
        names[i] = m.points[i].feature;
      }
      assert_true(has_feature(&m, 4, names[i]));
    }
  }
}

// Area of the convex quadrilateral over four points: of the three ways to choose its diagonals the largest.
static double quad_area(const TriboColPoint* p, const int i[4]) {
  double area = 0;
  for (int k = 1; k < 4; ++k) {
    double u[3], v[3], c[3];
    tribo_sub3(u, p[i[k]].a, p[i[0]].a);
    tribo_sub3(v, p[i[k % 3 + 1]].a, p[i[(k + 1) % 3 + 1]].a);
    tribo_cross3(c, u, v);
    area = fmax(area, 0.5 * tribo_norm3(c));
  }
  return area;
}

// Eight points of crossed squares become four that hold the deepest and most of the area.
static void crossed_squares_are_reduced(void** state) {
  (void)state;
  TriboSolid a = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, pose_at(0, 0, 0.5));
  TriboManifold m;
  for (int k = 1; k < 90; ++k) {
    double tilt = 1e-5 * (k % 7), deepest = INFINITY, best = 0, kept = INFINITY;
    TriboPose pose = turned(turned(pose_at(0.01, 0.02, 1.4999), 2, k * 0.0174533), 0, tilt);
    TriboSolid b = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, pose);
    CHECK_OK(tribo_col_collide(NULL, &a, &b, 1e-2, &m, NULL));
    int count = m.count;
    assert_true(count >= 4 && count <= 8);
    int low = 0;
    for (int i = 1; i < count; ++i) {
      low = m.points[i].gap < m.points[low].gap - 1e-8 ? i : low;
    }
    deepest = m.points[low].gap;
    // the best quadrilateral that has the deepest point
    for (int i = 0; i < 512; ++i) {
      int four[4] = {low, (i & 7) % count, (i >> 3 & 7) % count, (i >> 6) % count};
      best = fmax(best, quad_area(m.points, four));
    }
    assert_int_equal(tribo_col_reduce(m.points, m.count, NULL, 0), 4);
    for (int i = 0; i < 4; ++i) {
      kept = fmin(kept, m.points[i].gap);
      assert_true(i == 0 || m.points[i].feature > m.points[i - 1].feature);
    }
    CHECK_NEAR(kept, deepest, 2e-6);
    CHECK_LE(0.9 * best, quad_area(m.points, (int[]){0, 1, 2, 3}));
  }
}

// The eight points of a cube on a cube, turned by `turn` and tilted about the axis at `angle`.
static int crossed_squares(double turn, double tilt, double angle, TriboManifold* m) {
  TriboSolid a = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, pose_at(0, 0, 0.5));
  TriboPose pose = turned(turned(turned(pose_at(0.01, 0.02, 1.4999), 2, turn - angle), 0, tilt), 2, angle);
  TriboSolid b = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, pose);
  CHECK_OK(tribo_col_collide(NULL, &a, &b, 1e-2, m, NULL));
  assert_true(m->count >= 4 && m->count <= 8);
  return m->count;
}

// The points that were loaded: they stay, wherever a tilt of no size leads, and nothing joins them. So does one alone,
// among four.
static void what_is_loaded_stays(void** state) {
  (void)state;
  for (int k = 20; k < 70; k += 7) {
    const double turn = k * 0.0174533;
    TriboManifold all, four, m;
    TriboContactName loaded[4];
    crossed_squares(turn, 0, 0, &all);
    assert_int_equal(all.count, 8);
    four = all;
    assert_int_equal(tribo_col_reduce(four.points, four.count, NULL, 0), 4);
    for (int i = 0; i < 4; ++i) {
      loaded[i] = (TriboContactName){0, 1, four.points[i].feature, four.points[i].place, 1};
    }
    for (int side = 0; side < 12; ++side) {
      crossed_squares(turn, 1e-6, side, &m);
      assert_int_equal(tribo_col_reduce(m.points, m.count, loaded, 4), 4);
      for (int i = 0; i < 4; ++i) {
        assert_int_equal(m.points[i].feature, four.points[i].feature);
        CHECK_NEAR(m.points[i].a[0], four.points[i].a[0], 1e-5);
        CHECK_NEAR(m.points[i].a[1], four.points[i].a[1], 1e-5);
      }
      for (int j = 0; j < 8; ++j) {
        const TriboColPoint* p = all.points + j;
        const TriboContactName one = {0, 1, p->feature, p->place, 1};
        int found = 0;
        crossed_squares(turn, 1e-6, side, &m);
        const int count = tribo_col_reduce(m.points, m.count, &one, 1);
        for (int i = 0; i < count; ++i) {
          found |= hypot(m.points[i].a[0] - p->a[0], m.points[i].a[1] - p->a[1]) < 1e-5;
        }
        assert_true(found && count == 4);
      }
    }
  }
}

// The sole of a foot, 24 points around an oval, that rocks by 1e-4 rad about a direction that goes round. Two points at
// most carry, the deepest. Four are kept; what carried is among them, what is deepest enters, and once all that carry
// in turn have been there, few change.
static void a_rocking_sole_keeps_its_points(void** state) {
  (void)state;
  enum { POINTS = 24, STEPS = 400 };
  TriboContactName known[TRIBO_KEPT_MAX];
  int nknown = 0, changes = 0;
  for (int step = 0; step < STEPS; ++step) {
    TriboManifold m = {.count = 0};
    const double n[3] = {0, 0, 1}, turn = 0.3 * sin(0.05 * step), tilt = 1e-4 * sin(0.7 * step);
    double deepest = INFINITY, kept = INFINITY;
    for (int i = 0; i < POINTS; ++i) {
      const double angle = 2 * M_PI * i / POINTS, x[3] = {0.1 * cos(angle), 0.04 * sin(angle), 0};
      const double gap = tilt * (x[0] * cos(turn) + x[1] * sin(turn));
      tribo_col_add_point(&m, x, n, gap, tribo_col_feature(TRIBO_FEATURE_VERTEX, 0, i, 0));
      deepest = fmin(deepest, gap);
    }
    assert_int_equal(tribo_col_reduce(m.points, m.count, known, nknown), 4);
    int found = 0;
    for (int i = 0; i < 4; ++i) {
      kept = fmin(kept, m.points[i].gap);
      assert_true(i == 0 || m.points[i].feature > m.points[i - 1].feature);
    }
    CHECK_LE(kept, deepest + 1e-5 * 0.2);
    for (int k = 0; k < nknown; ++k) {
      int stayed = 0;
      for (int i = 0; i < 4; ++i) {
        stayed |= m.points[i].feature == known[k].feature;
      }
      found += stayed;
      assert_true(stayed || !known[k].carries);
    }
    changes += step > STEPS / 2 ? nknown - found : 0;
    nknown = 4;
    for (int i = 0; i < 4; ++i) {
      known[i] = (TriboContactName){0, 1, m.points[i].feature, m.points[i].place, m.points[i].gap <= kept + 1e-7};
    }
  }
  CHECK_LE(changes, STEPS / 20);
}

// A square that turns on another: its eight points go round through all quarters, and keep the names they began with.
static void names_stay_while_points_go_round(void** state) {
  (void)state;
  TriboContactName known[TRIBO_KEPT_MAX];
  double place[TRIBO_KEPT_MAX][2];
  for (int step = 0; step < 200; ++step) {
    TriboManifold m;
    crossed_squares(0.3 + 0.005 * step, 0, 0, &m);
    const int count = tribo_col_reduce(m.points, m.count, known, step > 0 ? 4 : 0);
    assert_int_equal(count, 4);
    for (int i = 0; i < count; ++i) {
      if (step > 0) {
        assert_int_equal(m.points[i].feature, known[i].feature);
        CHECK_LE(hypot(m.points[i].a[0] - place[i][0], m.points[i].a[1] - place[i][1]), 0.02);
      }
      known[i] = (TriboContactName){0, 1, m.points[i].feature, m.points[i].place, 1};
      place[i][0] = m.points[i].a[0], place[i][1] = m.points[i].a[1];
    }
  }
}

static void crossed_edges_touch_in_one_point(void** state) {
  (void)state;
  double quarter = 0.7853981633974483;
  // a roof ridge along x under a roof ridge along y
  TriboSolid a = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, turned(pose_at(0, 0, 0), 0, quarter));
  TriboManifold m;
  for (int k = -1; k <= 1; ++k) {
    double gap = 1e-3 * k;
    TriboSolid b = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, turned(pose_at(0.2, 0.1, sqrt(2) + gap), 1, quarter));
    assert_int_equal(collide(&a, &b, 1e-2, &m), 1);
    CHECK_NEAR(m.points[0].gap, gap, 1e-15);
    CHECK_NEAR(m.points[0].a[0], 0.2, 1e-15);
    CHECK_NEAR(m.points[0].a[1], 0, 1e-15);
    CHECK_NEAR(m.points[0].b[1], 0, 1e-15);
    CHECK_NEAR(m.points[0].normal[2], 1, 1e-15);
  }
}

// A cube set down beside the middle of another, turned and tilted by a millirad at most: often two edges cross deepest,
// yet it rests on a patch, and the other points within a millimetre of it count as well.
static void almost_flat_cubes_rest_on_a_patch(void** state) {
  (void)state;
  TriboSolid a = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, pose_at(0, 0, 0));
  KitRandom r = {11};
  int edges = 0;
  for (int k = 0; k < 2000; ++k) {
    TriboPose pose =
        turned(pose_at(kit_uniform(&r, -0.6, 0.6), kit_uniform(&r, -0.6, 0.6), 1), 2, kit_uniform(&r, 0, 6));
    pose = turned(turned(pose, 0, kit_uniform(&r, -4e-4, 4e-4)), 1, kit_uniform(&r, -4e-4, 4e-4));
    TriboSolid b = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, pose);
    TriboManifold m;
    collide(&a, &b, 1, &m);
    b.pose.p[2] -= m.gap + 1e-6;
    assert_true(collide(&a, &b, 1e-3, &m) >= 3);
    CHECK_NEAR(m.gap, -1e-6, 2e-6);
    edges += m.normal[2] != 1;
  }
  assert_true(edges > 100);
}

// Beyond the reach there are no points, and the gap is a lower bound.
static void far_pairs_are_left_early(void** state) {
  (void)state;
  KitRandom r = {2};
  TriboManifold near, wide;
  int none = 0;
  for (int i = 0; i < 20000; ++i) {
    TriboSolid s[2];
    for (int k = 0; k < 2; ++k) {
      TriboShapeKind kind = (TriboShapeKind)kit_int(&r, 3);
      s[k] = solid_of(kind, kit_uniform(&r, 0.1, 0.5), kit_uniform(&r, 0.1, 0.5), kit_uniform(&r, 0.1, 0.5),
                      random_pose(&r, 0.4));
    }
    // a short reach gives the same points below it and nothing else
    double reach = kit_uniform(&r, 0, 0.05);
    CHECK_OK(tribo_col_collide(NULL, s, s + 1, reach, &near, NULL));
    CHECK_OK(tribo_col_collide(NULL, s, s + 1, INFINITY, &wide, NULL));
    int expected = 0;
    for (int k = 0; k < wide.count; ++k) {
      if (wide.points[k].gap <= reach) {
        assert_true(expected < near.count);
        assert_memory_equal(near.points[expected].a, wide.points[k].a, sizeof near.points[0].a);
        expected++;
      }
    }
    assert_int_equal(near.count, expected);
    assert_true(near.count > 0 || (near.gap > reach - 1e-6 && near.gap <= wide.gap + 1e-12));
    none += near.count == 0;
  }
  assert_true(none > 2000 && none < 18000);
}

// Parallel capsules, and a capsule that lies on a box: a point at each end of the overlap.
static void capsules_lie_on_two_points(void** state) {
  (void)state;
  double flat = 1.5707963267948966;
  TriboManifold m;
  TriboSolid box = solid_of(TRIBO_SHAPE_BOX, 2, 2, 1, pose_at(0, 0, -0.5));
  TriboSolid plane = solid_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, pose_at(0, 0, 0));
  TriboSolid other = solid_of(TRIBO_SHAPE_CAPSULE, 0.2, 1, 0, turned(pose_at(0, 0, -0.2), 1, flat));
  for (int k = 0; k < 7; ++k) {
    double tilt = k == 0 ? 0 : pow(10, -9 + k);
    TriboSolid a = solid_of(TRIBO_SHAPE_CAPSULE, 0.1, 0.6, 0, turned(pose_at(0.05, 0, 0.1), 1, flat + tilt));
    TriboSolid* floors[3] = {&box, &plane, &other};
    for (int j = 0; j < 3; ++j) {
      if (j == 2 && tilt > 5e-4) {
        continue;  // two capsules are parallel up to a milliradian
      }
      assert_int_equal(collide(&a, floors[j], 0.05, &m), 2);
      double middle = 0.5 * (m.points[0].gap + m.points[1].gap);
      CHECK_NEAR(middle, 0, 1e-15 + tilt * tilt);
      CHECK_NEAR(fabs(m.points[0].gap - m.points[1].gap), 0.6 * sin(tilt), 1e-15 + tilt * tilt);
      CHECK_NEAR(fabs(m.points[0].a[0] - m.points[1].a[0]), 0.6, 1e-3);
      CHECK_NEAR(m.points[0].normal[2], -1, 1e-5);
    }
  }
  // hanging over the edge: the end of the face, and the capsule's own end
  TriboSolid over = solid_of(TRIBO_SHAPE_CAPSULE, 0.1, 0.6, 0, turned(pose_at(0.9, 0, 0.1), 1, flat));
  assert_int_equal(collide(&box, &over, 0.05, &m), 2);
  CHECK_NEAR(fmax(m.points[0].a[0], m.points[1].a[0]), 1, 1e-15);
  CHECK_NEAR(fmin(m.points[0].a[0], m.points[1].a[0]), 0.6, 1e-15);
}

// Every shape on a half-space: how many points, and their gaps.
static void solids_on_a_plane(void** state) {
  (void)state;
  TriboManifold m;
  KitRandom r = {4};
  for (int k = 0; k < 2000; ++k) {
    // a tilted plane under every kind of solid: the deepest point is the support point
    TriboPose slope = random_pose(&r, 1);
    TriboSolid plane = solid_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, slope);
    TriboSolid s = solid_of((TriboShapeKind)(k % 6), kit_uniform(&r, 0.1, 0.5), kit_uniform(&r, 0.1, 0.5),
                            kit_uniform(&r, 0.1, 0.5), random_pose(&r, 1));
    double n[3], down[3], x[3];
    tribo_col_axis(n, &plane, 2);
    tribo_scale3(down, -1, n);
    double gap = -tribo_col_support(&s, down, x) - tribo_dot3(n, slope.p);
    CHECK_OK(tribo_col_collide(NULL, &plane, &s, INFINITY, &m, NULL));
    CHECK_NEAR(m.gap, gap, 1e-12);
    for (int i = 0; i < m.count; ++i) {
      CHECK_NEAR(tribo_dot3(n, m.points[i].a), tribo_dot3(n, slope.p), 1e-12);
      CHECK_NEAR(tribo_dot3(n, m.points[i].b) - tribo_dot3(n, slope.p), m.points[i].gap, 1e-12);
      CHECK_NEAR(angle_between(m.points[i].normal, n), 0, 1e-15);
    }
  }
  // a standing can keeps its four points while it slides, spins a little and trembles
  TriboSolid floor = solid_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, pose_at(0, 0, 0));
  uint32_t names[4];
  for (int k = 0; k < 50; ++k) {
    TriboPose pose = turned(turned(pose_at(0.01 * k, 0, 0.5), 2, 0.01 * k), k % 2, 1e-9 * (k % 5));
    TriboSolid can = solid_of(TRIBO_SHAPE_CYLINDER, 0.3, 1, 0, pose);
    assert_int_equal(collide(&floor, &can, 1e-3, &m), 4);
    for (int i = 0; i < 4; ++i) {
      CHECK_NEAR(hypot(m.points[i].b[0] - pose.p[0], m.points[i].b[1]), 0.3, 1e-8);
      names[i] = k == 0 ? m.points[i].feature : names[i];
      assert_int_equal(m.points[i].feature, names[i]);
    }
  }
  // lying it has two, wherever it has rolled to
  for (int k = 0; k < 50; ++k) {
    TriboPose pose = turned(turned(pose_at(0, 0, 0.3), 2, 0.13 * k), 1, 1.5707963267948966);
    TriboSolid can = solid_of(TRIBO_SHAPE_CYLINDER, 0.3, 1, 0, pose);
    assert_int_equal(collide(&floor, &can, 1e-3, &m), 2);
    for (int i = 0; i < 2; ++i) {
      CHECK_NEAR(m.points[i].gap, 0, 1e-15);
      CHECK_NEAR(fabs(m.points[i].b[0]), 0.5, 1e-15);
      names[i] = k == 0 ? m.points[i].feature : names[i];
      assert_int_equal(m.points[i].feature, names[i]);
    }
  }
}

// Hulls on a plane: the deepest vertex is the support point, also with more vertices within reach than fit; a cube made
// of points rests on its four lower corners.
static void hulls_on_a_plane(void** state) {
  (void)state;
  KitRandom r = {6};
  double points[900], corners[24];
  for (int i = 0; i < 300; ++i) {
    tribo_set3(points + 3 * i, kit_normal(&r), kit_normal(&r), kit_normal(&r));
    tribo_normalize3(points + 3 * i);
  }
  box_corners(1, 1, 1, corners);
  TriboHull *globe, *cube;
  CHECK_OK(tribo_col_hull_create(points, 300, &globe));
  CHECK_OK(tribo_col_hull_create(corners, 8, &cube));
  TriboManifold m;
  for (int k = 0; k < 2000; ++k) {
    TriboSolid plane = solid_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, random_pose(&r, 1));
    TriboSolid s = solid_of(TRIBO_SHAPE_HULL, 0, 0, 0, random_pose(&r, 1));
    s.hull = k % 2 ? globe : cube;
    double n[3], down[3], x[3], least = INFINITY, reach = k % 4 < 2 ? INFINITY : 0.2;
    tribo_col_axis(n, &plane, 2);
    tribo_scale3(down, -1, n);
    double gap = -tribo_col_support(&s, down, x) - tribo_dot3(n, plane.pose.p);
    int by_coal;
    CHECK_OK(tribo_col_collide(NULL, &s, &plane, reach, &m, &by_coal));
    assert_int_equal(by_coal, 0);
    CHECK_NEAR(m.gap, gap, 1e-12);
    for (int i = 0; i < m.count; ++i) {
      least = fmin(least, m.points[i].gap);
      CHECK_LE(m.points[i].gap, reach);
    }
    assert_true(m.count <= TRIBO_POINT_MAX && (m.count > 0) == (gap <= reach));
    CHECK_NEAR(m.count > 0 ? least : gap, gap, 1e-12);
  }
  TriboSolid floor = solid_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, pose_at(0, 0, 0));
  TriboSolid block = solid_of(TRIBO_SHAPE_HULL, 0, 0, 0, pose_at(0.3, 0, 0.5));
  block.hull = cube;
  assert_int_equal(collide(&floor, &block, 1e-3, &m), 4);
  for (int i = 0; i < 4; ++i) {
    CHECK_NEAR(m.points[i].gap, 0, 1e-15);
    CHECK_NEAR(fabs(m.points[i].b[0] - 0.3), 0.5, 1e-15);
  }
  tribo_col_hull_destroy(globe);
  tribo_col_hull_destroy(cube);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aligned_cubes_touch_in_four_corners),
      cmocka_unit_test(tilted_cubes_have_their_own_gaps),
      cmocka_unit_test(crossed_squares_are_reduced),
      cmocka_unit_test(what_is_loaded_stays),
      cmocka_unit_test(a_rocking_sole_keeps_its_points),
      cmocka_unit_test(names_stay_while_points_go_round),
      cmocka_unit_test(crossed_edges_touch_in_one_point),
      cmocka_unit_test(almost_flat_cubes_rest_on_a_patch),
      cmocka_unit_test(far_pairs_are_left_early),
      cmocka_unit_test(capsules_lie_on_two_points),
      cmocka_unit_test(solids_on_a_plane),
      cmocka_unit_test(hulls_on_a_plane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
