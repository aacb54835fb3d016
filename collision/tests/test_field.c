// Height fields against what they are equal to: a plane when they are flat, a convex prism when they are a roof.
#include "geometry.h"
#include "narrow.h"

enum { N = 9 };

static TriboHeightField* field_of(double size, int nx, int ny, const double* heights) {
  const double lengths[2] = {size, size};
  TriboHeightField* field;
  CHECK_OK(tribo_col_field_create(lengths, nx, ny, heights, &field));
  return field;
}

static TriboGeom geom_of_field(const TriboHeightField* field) {
  TriboGeom geom = geom_of(TRIBO_SHAPE_HEIGHTFIELD, 0, 0, 0, TRIBO_WORLD_BODY);
  geom.field = field;
  return geom;
}

// Every shape at random poses over a flat, sloped field: the gap, the normal and the place of the half-space.
static void a_flat_field_is_a_plane(void** state) {
  (void)state;
  double heights[N * N];
  for (int i = 0; i < N * N; ++i) {
    heights[i] = 0.25 * (i % N) - 0.1 * (i / N);
  }
  // cells of 0.5 m: slopes 0.5 and −0.2, the middle at 0.6
  TriboHeightField* field = field_of(4, N, N, heights);
  TriboGeom ground = geom_of_field(field), plane = geom_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, TRIBO_WORLD_BODY);
  TriboPose frame = pose_at(0, 0, 0.6), origin = pose_at(0, 0, 0);
  double n[3] = {-0.5, 0.2, 1}, t1[3], t2[3];
  tribo_normalize3(n);
  tribo_tangents(t1, t2, n);
  for (int r = 0; r < 3; ++r) {
    tribo_set3(frame.R + 3 * r, t1[r], t2[r], n[r]);
  }
  KitRandom r = {5};
  double corners[24];
  box_corners(0.3, 0.2, 0.1, corners);
  TriboHull* hull;
  CHECK_OK(tribo_col_hull_create(corners, 8, &hull));
  for (int trial = 0; trial < 2000; ++trial) {
    TriboGeom geom = random_geom(&r, (TriboShapeKind)(trial % TRIBO_SHAPE_SDF), 0.05, 0.3);
    geom.hull = geom.kind == TRIBO_SHAPE_HULL ? hull : NULL;
    TriboPose pose = random_pose(&r, 0.5);
    pose.p[2] += 0.8;
    double gap[2], normal[2][3], point[2][3];
    CHECK_OK(tribo_col_distance(&geom, &pose, &ground, &origin, &gap[0], normal[0], point[0]));
    CHECK_OK(tribo_col_distance(&geom, &pose, &plane, &frame, &gap[1], normal[1], point[1]));
    CHECK_NEAR(gap[0], gap[1], 1e-14);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(normal[0][k], normal[1][k], 1e-14);
      CHECK_NEAR(point[0][k], point[1][k], 1e-13);
    }
  }
  tribo_col_hull_destroy(hull);
  tribo_col_field_destroy(field);
}

// A roof along y is a prism, which Coal knows: same distance for every shape that is apart from it.
static void a_roof_is_a_prism(void** state) {
  (void)state;
  const double heights[6] = {0, 1, 0, 0, 1, 0};
  const double prism[18] = {-2, -2, 0, 2, -2, 0, 0, -2, 1, -2, 2, 0, 2, 2, 0, 0, 2, 1};
  TriboHeightField* field = field_of(4, 3, 2, heights);
  TriboHull* hull;
  CHECK_OK(tribo_col_hull_create(prism, 6, &hull));
  TriboGeom ground = geom_of_field(field), solid = geom_of(TRIBO_SHAPE_HULL, 0, 0, 0, TRIBO_WORLD_BODY);
  solid.hull = hull;
  TriboPose origin = pose_at(0, 0, 0);
  KitRandom r = {6};
  int ridge = 0, face = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    TriboGeom geom = random_geom(&r, (TriboShapeKind)(trial % TRIBO_SHAPE_HULL), 0.05, 0.4);
    TriboPose pose = random_pose(&r, 0.7);
    pose.p[2] += 1.2;
    double gap[2], normal[2][3], point[2][3];
    CHECK_OK(tribo_col_distance(&geom, &pose, &solid, &origin, &gap[1], normal[1], point[1]));
    if (gap[1] < 1e-3) {
      continue;
    }
    CHECK_OK(tribo_col_distance(&geom, &pose, &ground, &origin, &gap[0], normal[0], point[0]));
    CHECK_NEAR(gap[0], gap[1], 1e-6);
    CHECK_NEAR(tribo_dot3(normal[0], normal[1]), 1, 1e-6);
    const double steep = fabs(normal[0][0] / normal[0][2]);
    ridge += steep < 0.49;
    face += steep >= 0.49;
  }
  assert_true(ridge > 100 && face > 100);
  tribo_col_hull_destroy(hull);
  tribo_col_field_destroy(field);
}

// A ball in a valley of 45° touches both sides, a point each, at the distance a plane would give.
static void a_ball_in_a_valley_has_two_points(void** state) {
  (void)state;
  const double heights[6] = {1, 0, 1, 1, 0, 1};
  const double size[2] = {2, 4};
  TriboHeightField* field;
  CHECK_OK(tribo_col_field_create(size, 3, 2, heights, &field));
  TriboGeom ground = geom_of_field(field), ball = geom_of(TRIBO_SHAPE_SPHERE, 0.25, 0, 0, 0);
  TriboSolid a = tribo_col_solid(&ball), b = tribo_col_solid(&ground);
  a.pose = pose_at(0, 0.3, 0.25 * sqrt(2) + 1e-4);
  b.pose = pose_at(0, 0, 0);
  TriboCoalQuery* query;
  CHECK_OK(tribo_coal_query_create(&query));
  TriboManifold m;
  CHECK_OK(tribo_col_collide(query, &a, &b, 1e-3, &m, NULL));
  assert_int_equal(tribo_col_reduce(m.points, m.count, NULL, 0), 2);
  for (int i = 0; i < 2; ++i) {
    CHECK_NEAR(m.points[i].gap, 1e-4 / sqrt(2), 1e-15);
    CHECK_NEAR(fabs(m.points[i].normal[0]), sqrt(0.5), 1e-15);
  }
  CHECK_NEAR(m.points[0].normal[0] + m.points[1].normal[0], 0, 1e-15);
  tribo_coal_query_destroy(query);
  tribo_col_field_destroy(field);
}

static void wrong_fields_say_why(void** state) {
  (void)state;
  const double size[2] = {1, 1}, flat[2] = {1, 0}, heights[4] = {0, 1, 2, NAN};
  TriboHeightField* field;
  CHECK_FAILS(tribo_col_field_create(size, 1, 4, heights, &field), TRIBO_INVALID, "1 × 4");
  CHECK_FAILS(tribo_col_field_create(flat, 2, 2, heights, &field), TRIBO_INVALID, "size[1] is 0");
  CHECK_FAILS(tribo_col_field_create(size, 2, 2, heights, &field), TRIBO_INVALID, "height 1 of row 1 is nan");
  CHECK_FAILS(tribo_col_field_create(size, 2, 2, NULL, &field), TRIBO_INVALID, "NULL");
  TriboGeom geom = geom_of(TRIBO_SHAPE_HEIGHTFIELD, 0, 0, 0, TRIBO_WORLD_BODY);
  CHECK_FAILS(tribo_col_geom_validate(&geom), TRIBO_INVALID, "needs its field");
  geom.body = 0;
  CHECK_FAILS(tribo_col_geom_validate(&geom), TRIBO_INVALID, "must be on the world");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flat_field_is_a_plane),
      cmocka_unit_test(a_roof_is_a_prism),
      cmocka_unit_test(a_ball_in_a_valley_has_two_points),
      cmocka_unit_test(wrong_fields_say_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
