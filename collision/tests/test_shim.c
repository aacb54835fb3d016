// Coal through the shim, against configurations whose answer is known.
#include "geometry.h"

static TriboCoalQuery* query;
static TriboHull* hull;
enum { KINDS = TRIBO_SHAPE_HULL + 1 };

static int open_query(void** state) {
  (void)state;
  KitRandom r = {1};
  double points[60];
  for (int i = 0; i < 60; ++i) {
    points[i] = kit_uniform(&r, -0.3, 0.3);
  }
  return tribo_coal_query_create(&query) != TRIBO_OK || tribo_col_hull_create(points, 20, &hull) != TRIBO_OK;
}

static int close_query(void** state) {
  (void)state;
  tribo_coal_query_destroy(query);
  tribo_col_hull_destroy(hull);
  return 0;
}

typedef struct Body {
  TriboSolid solid;
  TriboCoalShape* own;
} Body;

static Body make_body(KitRandom* r, int kind) {
  TriboGeom geom = random_geom(r, (TriboShapeKind)kind, 0.1, 0.5);
  geom.hull = hull;
  Body body = {tribo_col_solid(&geom), NULL};
  body.solid.pose = random_pose(r, 0.5);
  if (kind == TRIBO_SHAPE_HULL) {
    body.solid.coal = hull->coal;
  } else {
    CHECK_OK(tribo_coal_shape_create(geom.kind, geom.size, &body.own));
    body.solid.coal = body.own;
  }
  return body;
}

// Coal on every pair of shapes: gap and normal of solids put at a known distance.
static void distances_of_all_pairs(void** state) {
  (void)state;
  KitRandom r = {5};
  print_message("worst of 300 poses, apart: normal [rad]\n");
  for (int ka = 0; ka < KINDS; ++ka) {
    for (int kb = 0; kb < KINDS; ++kb) {
      double worst = 0;
      for (int i = 0; i < 300; ++i) {
        Body a = make_body(&r, ka), b = make_body(&r, kb);
        double n[3] = {kit_normal(&r), kit_normal(&r), kit_normal(&r)}, gap = pow(10, kit_uniform(&r, -3, 0));
        tribo_normalize3(n);
        face_each_other(&a.solid, &b.solid, n, gap);
        TriboCoalAnswer out, contact;
        int found;
        CHECK_OK(tribo_coal_distance(query, a.solid.coal, &a.solid.pose, b.solid.coal, &b.solid.pose, &out));
        CHECK_NEAR(out.gap, gap, 1e-8);
        worst = fmax(worst, angle_between(out.normal, n));
        // the contact query sees it within a wider margin and not within a narrower one
        CHECK_OK(tribo_coal_contact(query, a.solid.coal, &a.solid.pose, b.solid.coal, &b.solid.pose, gap + 1e-4, &found,
                                    &contact, NULL, NULL));
        assert_int_equal(found, 1);
        CHECK_NEAR(contact.gap, gap, 1e-8);
        CHECK_OK(tribo_coal_contact(query, a.solid.coal, &a.solid.pose, b.solid.coal, &b.solid.pose, gap - 1e-4, &found,
                                    &contact, NULL, NULL));
        assert_int_equal(found, 0);
        tribo_coal_shape_destroy(a.own);
        tribo_coal_shape_destroy(b.own);
      }
      print_message(" %8.1e", worst);
      CHECK_LE(worst, 1e-3);
    }
    print_message("  %s\n", tribo_col_shape_name((TriboShapeKind)ka));
  }
}

// Overlapping: moved apart along the normal by the depth and a millimetre they are one millimetre apart.
static void depths_of_all_pairs(void** state) {
  (void)state;
  KitRandom r = {6};
  for (int ka = 0; ka < KINDS; ++ka) {
    for (int kb = 0; kb < KINDS; ++kb) {
      int inside = 0;
      for (int i = 0; i < 100; ++i) {
        Body a = make_body(&r, ka), b = make_body(&r, kb);
        double n[3] = {kit_normal(&r), kit_normal(&r), kit_normal(&r)};
        tribo_normalize3(n);
        // (vertices that pass each other by stay apart)
        face_each_other(&a.solid, &b.solid, n, -kit_uniform(&r, 1e-3, 2e-2));
        TriboCoalAnswer in, out;
        CHECK_OK(tribo_coal_distance(query, a.solid.coal, &a.solid.pose, b.solid.coal, &b.solid.pose, &in));
        inside += in.gap < 0;
        tribo_axpy3(b.solid.pose.p, b.solid.pose.p, 1e-3 - in.gap, in.normal);
        CHECK_OK(tribo_coal_distance(query, a.solid.coal, &a.solid.pose, b.solid.coal, &b.solid.pose, &out));
        CHECK_NEAR(out.gap, 1e-3, 1e-6);
        tribo_coal_shape_destroy(a.own);
        tribo_coal_shape_destroy(b.own);
      }
      assert_true(inside > 20);
    }
  }
}

// Contacts with a margin against half-spaces, and the corners of patches.
static void half_spaces_and_patches(void** state) {
  (void)state;
  double size[3] = {1, 1, 1}, none[3] = {0, 0, 0}, patch[16][3];
  TriboCoalShape *box, *plane;
  CHECK_OK(tribo_coal_shape_create(TRIBO_SHAPE_BOX, size, &box));
  CHECK_OK(tribo_coal_shape_create(TRIBO_SHAPE_HALFSPACE, none, &plane));
  TriboPose ground = pose_at(0, 0, 0), above = pose_at(0.2, 0.1, 0.49), upper = pose_at(0.3, 0.2, 1.48);
  TriboCoalAnswer out;
  int found, count = 16;
  CHECK_OK(tribo_coal_contact(query, plane, &ground, box, &above, 1e-3, &found, &out, patch, &count));
  assert_int_equal(found, 1);
  CHECK_NEAR(out.gap, -0.01, 1e-9);
  CHECK_NEAR(out.normal[2], 1, 1e-12);
  assert_int_equal(count, 4);
  count = 16;
  CHECK_OK(tribo_coal_contact(query, box, &above, box, &upper, 1e-3, &found, &out, patch, &count));
  CHECK_NEAR(out.gap, -0.01, 1e-9);
  assert_int_equal(count, 4);
  for (int i = 0; i < 4; ++i) {
    // the corners of the overlap, halfway into it
    CHECK_NEAR(fabs(patch[i][0] - 0.25), 0.45, 1e-9);
    CHECK_NEAR(fabs(patch[i][1] - 0.15), 0.45, 1e-9);
    CHECK_NEAR(patch[i][2], 0.985, 1e-9);
  }
  // a small array is filled, not overrun
  count = 2;
  CHECK_OK(tribo_coal_contact(query, box, &above, box, &upper, 1e-3, &found, &out, patch, &count));
  assert_int_equal(count, 2);
  upper.p[2] = 3;
  count = 16;
  CHECK_OK(tribo_coal_contact(query, box, &above, box, &upper, 1e-3, &found, &out, patch, &count));
  assert_int_equal(found + count, 0);
  tribo_coal_shape_destroy(box);
  tribo_coal_shape_destroy(plane);
}

// The same question gives the same bits, whatever was asked in between. The globe is large enough for Coal to climb
// along its edges from a remembered vertex.
static void no_memory_of_earlier_queries(void** state) {
  (void)state;
  KitRandom r = {9};
  double points[900];
  for (int i = 0; i < 300; ++i) {
    double* x = points + 3 * i;
    tribo_set3(x, kit_normal(&r), kit_normal(&r), kit_normal(&r));
    tribo_normalize3(x);
  }
  TriboHull* globe;
  CHECK_OK(tribo_col_hull_create(points, 300, &globe));
  for (int i = 0; i < 300; ++i) {
    TriboPose a = random_pose(&r, 1.2), b = random_pose(&r, 1.2), c = random_pose(&r, 1.2);
    TriboCoalAnswer first, second;
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    CHECK_OK(tribo_coal_distance(query, globe->coal, &a, globe->coal, &b, &first));
    CHECK_OK(tribo_coal_distance(query, globe->coal, &c, hull->coal, &b, &second));
    CHECK_OK(tribo_coal_distance(query, globe->coal, &a, globe->coal, &b, &second));
    assert_memory_equal(&first, &second, sizeof first);
  }
  tribo_col_hull_destroy(globe);
}

static void exceptions_become_a_status(void** state) {
  (void)state;
  double size[3] = {1, 1, 1};
  TriboCoalShape* shape = NULL;
  CHECK_FAILS(tribo_coal_shape_create(TRIBO_SHAPE_HULL, size, &shape), TRIBO_INVALID, "no Coal counterpart");
  TriboCoalMesh* mesh = NULL;
  CHECK_FAILS(tribo_coal_mesh_load("/nowhere/cup.dae", size, &mesh), TRIBO_INVALID, "/nowhere/cup.dae");
  double points[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  CHECK_FAILS(tribo_coal_hull(points, 3, &mesh), TRIBO_INVALID, "tribo_coal_hull");
  assert_null(shape);
  assert_null(mesh);
  assert_string_equal(tribo_coal_version(), "3.0.3");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_of_all_pairs),     cmocka_unit_test(depths_of_all_pairs),
      cmocka_unit_test(half_spaces_and_patches),    cmocka_unit_test(no_memory_of_earlier_queries),
      cmocka_unit_test(exceptions_become_a_status),
  };
  return cmocka_run_group_tests(tests, open_query, close_query);
}
