// Fast pairs: what is hit is hit with the right normal and gap, what is passed is passed.
#include "geometry.h"

enum { MOST = 4 };
static TriboPose poses[MOST];
static TriboTwist twists[MOST];
static TriboGeom geoms[MOST];
static TriboContact found[64];

// Contacts of ngeom geometries, geometry i on body i unless it is static.
static int detect(int ngeom, double h) {
  TriboColWorld* world;
  TriboColData* data;
  TriboColWorldDef def = {geoms, ngeom, MOST, NULL, 0};
  TriboColQuery query = {.poses = poses, .twists = twists, .h = h, .margin = 1e-3};
  const TriboContact* c;
  int n;
  CHECK_OK(tribo_col_world_create(&def, &world));
  CHECK_OK(tribo_col_data_create(world, &data));
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &n, NULL));
  assert_true(n <= 64);
  memcpy(found, c, (size_t)n * sizeof *c);
  tribo_col_data_destroy(data);
  tribo_col_world_destroy(world);
  return n;
}

static double normal_velocity(const TriboContact* c) {
  double v[3] = {0, 0, 0};
  for (int side = 0; side < 2; ++side) {
    int body = side ? c->body_b : c->body_a;
    if (body >= 0) {
      double arm[3], turn[3];
      tribo_sub3(arm, c->point, poses[body].p);
      tribo_cross3(turn, twists[body].w, arm);
      tribo_add3(turn, turn, twists[body].v);
      tribo_axpy3(v, v, side ? 1 : -1, turn);
    }
  }
  return tribo_dot3(v, c->normal);
}

// Contacts that would act: their linearised gap closes within the step.
static int acting(int n, double h) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    count += found[i].gap + h * normal_velocity(found + i) < 0;
  }
  return count;
}

static void rest(void) {
  memset(twists, 0, sizeof twists);
  for (int i = 0; i < MOST; ++i) {
    poses[i] = pose_at(0, 0, 0);
  }
}

// A ball of 1 cm at 100 m/s against a plate of 1 cm at h = 1 ms, from every starting distance, against plates of all
// makes. Stopped at the gap it never passes.
static void a_ball_does_not_pass_a_plate(void** state) {
  (void)state;
  double corners[24];
  TriboHull* slab;
  box_corners(1, 1, 0.01, corners);
  CHECK_OK(tribo_col_hull_create(corners, 8, &slab));
  for (int make = 0; make < 3; ++make) {
    for (int k = 0; k <= 200; ++k) {
      rest();
      double gap = 0.12 * k / 200, h = 1e-3;
      geoms[0] = geom_of(make == 0   ? TRIBO_SHAPE_BOX
                         : make == 1 ? TRIBO_SHAPE_HULL
                                     : TRIBO_SHAPE_CYLINDER,
                         make == 2 ? 0.6 : 1, make == 2 ? 0.01 : 1, 0.01, TRIBO_WORLD_BODY);
      geoms[0].hull = slab;
      geoms[1] = geom_of(TRIBO_SHAPE_SPHERE, 0.005, 0, 0, 1);
      poses[1] = pose_at(0.1, 0.2, 0.005 + 0.005 + gap);
      twists[1].v[0] = 20;
      twists[1].v[2] = -100;
      int n = detect(2, h);
      if (gap > 0.1 + 1e-3) {
        assert_int_equal(acting(n, h), 0);
        continue;
      }
      if (gap > 0.1) {
        continue;
      }
      assert_int_equal(n, 1);
      CHECK_NEAR(found[0].gap, gap, 1e-9);
      CHECK_NEAR(found[0].normal[2], 1, 1e-9);
      // with the normal velocity −gap/h the ball ends on the plate
      CHECK_NEAR(normal_velocity(found), -100, 1e-6);
    }
  }
  tribo_col_hull_destroy(slab);
}

// A ball that flies past an edge or corner of a box: with 0.1 mm to spare nothing acts, 0.1 mm into it it is hit.
static void a_ball_that_passes_a_corner(void** state) {
  (void)state;
  KitRandom r = {3};
  double h = 1e-3, radius = 0.01;
  for (int k = 0; k < 150; ++k) {
    for (int into = 0; into < 2; ++into) {
      rest();
      geoms[0] = geom_of(TRIBO_SHAPE_BOX, 0.2, 0.2, 0.2, TRIBO_WORLD_BODY);
      geoms[1] = geom_of(TRIBO_SHAPE_SPHERE, radius, 0, 0, 1);
      // the outward direction at the corner or edge, and a flight across it
      KitRandom same = r;
      double out[3] = {kit_uniform(&same, 0.1, 1), kit_uniform(&same, 0.1, 1), k % 2 ? kit_uniform(&same, 0.1, 1) : 0};
      double v[3] = {kit_normal(&same), kit_normal(&same), kit_normal(&same)};
      tribo_normalize3(out);
      tribo_axpy3(v, v, -tribo_dot3(v, out), out);
      tribo_normalize3(v);
      tribo_scale3(v, kit_uniform(&same, 20, 100), v);
      double closest[3] = {0.1, 0.1, k % 2 ? 0.1 : 0.02}, when = kit_uniform(&same, 0.1, 0.9) * h;
      tribo_axpy3(closest, closest, radius + (into ? -1e-4 : 1e-4), out);
      tribo_axpy3(poses[1].p, closest, -when, v);
      tribo_copy3(twists[1].v, v);
      double gap, normal[3], point[3];
      CHECK_OK(tribo_col_distance(geoms, poses, geoms + 1, poses + 1, &gap, normal, point));
      if (gap > 1e-4) {
        int n = detect(2, h);
        // the flight may still meet another part of the box: look along it
        double least = INFINITY;
        for (int i = 0; i <= 2000; ++i) {
          TriboPose at = poses[1];
          tribo_axpy3(at.p, at.p, h * i / 2000, v);
          CHECK_OK(tribo_col_distance(geoms, poses, geoms + 1, &at, &gap, normal, point));
          least = fmin(least, gap);
        }
        assert_int_equal(acting(n, h) > 0, least < 1e-6);
      }
      r = into ? same : r;
    }
  }
}

// A box that comes down flat: all four corners, with their gaps at the start; tilted, each with its own.
static void a_box_lands_flat(void** state) {
  (void)state;
  double h = 1e-3;
  for (int k = 0; k < 5; ++k) {
    rest();
    double tilt = k == 0 ? 0 : pow(10, -8 + k), gap = 0.03;
    geoms[0] = geom_of(TRIBO_SHAPE_BOX, 2, 2, 0.02, TRIBO_WORLD_BODY);
    geoms[1] = geom_of(TRIBO_SHAPE_BOX, 0.4, 0.3, 0.2, 1);
    poses[1] = turned(pose_at(0.1, 0.1, 0.01 + 0.1 + gap), 0, tilt);
    twists[1].v[2] = -50;
    twists[1].v[1] = 10;
    int n = detect(2, h);
    assert_int_equal(n, 4);
    for (int i = 0; i < 4; ++i) {
      double side = found[i].point[1] > 0.1 ? 1 : -1;
      CHECK_NEAR(found[i].gap, gap + side * 0.15 * sin(tilt) + 0.1 * (1 - cos(tilt)), 1e-9 + tilt * tilt);
      CHECK_NEAR(found[i].normal[2], 1, 1e-6);
    }
  }
}

// Two moving boxes: only the relative motion counts, and a spinning bar reaches what its middle does not.
static void two_moving_bodies(void** state) {
  (void)state;
  double h = 1e-3;
  rest();
  geoms[0] = geom_of(TRIBO_SHAPE_BOX, 0.1, 0.1, 0.1, 0);
  geoms[1] = geom_of(TRIBO_SHAPE_BOX, 0.1, 0.1, 0.1, 1);
  poses[1] = pose_at(0.15, 0.02, 0);
  twists[0].v[0] = 300, twists[1].v[0] = 220;
  int n = detect(2, h);
  assert_int_equal(n, 4);
  for (int i = 0; i < n; ++i) {
    CHECK_NEAR(found[i].gap, 0.05, 1e-12);
    CHECK_NEAR(found[i].normal[0], 1, 1e-12);
  }
  // side by side at the same great speed, a millimetre and a half apart: nothing
  poses[1] = pose_at(0.1015, 0.02, 0);
  twists[1].v[0] = 300;
  assert_int_equal(detect(2, h), 0);
  // the tip of a bar of 1 m that turns at 100 rad/s moves 5 cm in the step
  rest();
  geoms[0] = geom_of(TRIBO_SHAPE_BOX, 1, 0.02, 0.02, 0);
  geoms[1] = geom_of(TRIBO_SHAPE_SPHERE, 0.01, 0, 0, TRIBO_WORLD_BODY);
  geoms[1].local = pose_at(0.45, 0.045, 0);
  twists[0].w[2] = 100;
  n = detect(2, h);
  assert_int_equal(n, 1);
  CHECK_LE(found[0].gap, 0.026);
  assert_int_equal(acting(n, h), 1);
  twists[0].w[2] = -100;
  assert_int_equal(acting(detect(2, h), h), 0);
}

// What touches already keeps its contacts however fast it slides.
static void sliding_fast(void** state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    rest();
    geoms[0] = geom_of(TRIBO_SHAPE_BOX, 4, 4, 1, TRIBO_WORLD_BODY);
    geoms[1] = geom_of(TRIBO_SHAPE_BOX, 0.2, 0.2, 0.2, 1);
    poses[1] = pose_at(0, 0, 0.6 + (k - 1) * 1e-7);
    twists[1].v[0] = 100;
    twists[1].v[2] = -0.01;
    assert_int_equal(detect(2, 1e-3), 4);
  }
}

// A wheel that spins in place does not move its surface: its contact is the one it has at rest.
static void a_spinning_wheel(void** state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    rest();
    geoms[0] = geom_of(TRIBO_SHAPE_BOX, 4, 4, 1, TRIBO_WORLD_BODY);
    geoms[1] = geom_of(k == 0   ? TRIBO_SHAPE_SPHERE
                       : k == 1 ? TRIBO_SHAPE_CYLINDER
                                : TRIBO_SHAPE_CAPSULE,
                       0.3, 0.1, 0, 1);
    poses[1] = turned(pose_at(0, 0, 0.8 + 5e-6), 0, 1.5707963267948966);
    twists[1] = (TriboTwist){{0, 0, -0.02}, {0, 3000, 0}};
    int n = detect(2, 1e-3);
    assert_int_equal(n, k == 0 ? 1 : 2);
    for (int i = 0; i < n; ++i) {
      CHECK_NEAR(found[i].gap, 5e-6, 1e-9);
      CHECK_NEAR(found[i].normal[2], 1, 1e-9);
    }
  }
}

// Two balls with a contact offset that fly at each other: they meet where the offset surfaces do.
static void contact_offsets_are_met(void** state) {
  (void)state;
  for (int k = 1; k <= 100; ++k) {
    const double gap = 0.09 * k / 100, contact_offset[2] = {1e-3, 2e-3};
    rest();
    for (int i = 0; i < 2; ++i) {
      geoms[i] = geom_of(TRIBO_SHAPE_SPHERE, 0.05, 0, 0, i);
      geoms[i].contact_offset = contact_offset[i];
    }
    tribo_set3(poses[1].p, 0.1 + contact_offset[0] + contact_offset[1] + gap, 0.01, 0);
    tribo_set3(twists[1].v, -100, 0, 0);
    assert_int_equal(detect(2, 1e-3), 1);
    // along the normal of the place where they meet, which is given by the lengths of a triangle
    const double reach = 0.1 + contact_offset[0] + contact_offset[1], across = 0.01,
                 along = sqrt(reach * reach - across * across);
    const double way = poses[1].p[0] - along;
    CHECK_NEAR(found[0].gap + 1e-3 * normal_velocity(found), (way - 0.1) * along / reach, 1e-4);
    CHECK_NEAR(found[0].gap, way * along / reach, 1e-4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_does_not_pass_a_plate),
      cmocka_unit_test(a_ball_that_passes_a_corner),
      cmocka_unit_test(a_box_lands_flat),
      cmocka_unit_test(two_moving_bodies),
      cmocka_unit_test(sliding_fast),
      cmocka_unit_test(a_spinning_wheel),
      cmocka_unit_test(contact_offsets_are_met),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
