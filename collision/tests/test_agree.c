// Closed forms against Coal on random poses, apart and overlapping. Two algorithms that share nothing must agree on
// the gap, and on the normal unless there are two equally good ones (a tie), which are counted.
#include "geometry.h"
#include "narrow.h"

enum { POSES = 20000 };

typedef struct Count {
  int apart, inside, ties, touching, coal_worse;
  double gap_error, normal_error;
} Count;

// The separation along n, from support points: any unit vector gives a lower bound of the signed distance, so the one
// with the larger value is the better normal, whoever found it.
static double separation(const TriboSolid* a, const TriboSolid* b, const double n[3]) {
  double x[3], back[3] = {-n[0], -n[1], -n[2]};
  if (b->kind == TRIBO_SHAPE_HALFSPACE) {
    tribo_col_axis(back, b, 2);
    return -tribo_col_support(a, n, x) - tribo_dot3(back, b->pose.p);
  }
  return -tribo_col_support(a, n, x) - tribo_col_support(b, back, x);
}

// One pair of shapes on random poses: distances, normals and points of the closed form against those of Coal.
static void compare(TriboShapeKind ka, TriboShapeKind kb, double normal_limit, Count* count) {
  KitRandom r = {(uint64_t)(100 * ka + kb + 1)};
  TriboCoalQuery* query;
  CHECK_OK(tribo_coal_query_create(&query));
  *count = (Count){0};
  for (int i = 0; i < POSES; ++i) {
    TriboGeom ga = random_geom(&r, ka, 0.1, 0.5), gb = random_geom(&r, kb, 0.1, 0.5);
    TriboSolid a = tribo_col_solid(&ga), b = tribo_col_solid(&gb);
    TriboCoalShape *ca, *cb;
    CHECK_OK(tribo_coal_shape_create(ka, ga.size, &ca));
    CHECK_OK(tribo_coal_shape_create(kb, gb.size, &cb));
    a.pose = random_pose(&r, 0.3);
    b.pose = random_pose(&r, 0.3);
    TriboManifold m;
    TriboCoalAnswer coal;
    CHECK_OK(tribo_col_collide(query, &a, &b, INFINITY, &m, NULL));
    if (kb == TRIBO_SHAPE_HALFSPACE) {
      int found;
      CHECK_OK(tribo_coal_contact(query, ca, &a.pose, cb, &b.pose, 100, &found, &coal, NULL, NULL));
      assert_true(found);
    } else {
      CHECK_OK(tribo_coal_distance(query, ca, &a.pose, cb, &b.pose, &coal));
    }
    tribo_coal_shape_destroy(ca);
    tribo_coal_shape_destroy(cb);
    count->apart += m.gap > 0;
    count->inside += m.gap <= 0;
    double off = fabs(m.gap - coal.gap), angle = angle_between(m.normal, coal.normal);
    // points: on their surfaces, along their normals, none deeper than the pair
    double least = INFINITY;
    assert_true(m.count >= 1);
    for (int k = 0; k < m.count; ++k) {
      double d[3];
      tribo_sub3(d, m.points[k].b, m.points[k].a);
      CHECK_NEAR(tribo_dot3(d, m.points[k].normal), m.points[k].gap, 1e-12);
      CHECK_NEAR(tribo_norm3(d), fabs(m.points[k].gap), 1e-12);
      least = fmin(least, m.points[k].gap);
    }
    CHECK_LE(fabs(least - m.gap), m.gap > 0 ? 2e-6 : 1);
    // every direction bounds the distance from below: where ours gives more, Coal's search has stopped too early
    if (off > 1e-6 && fabs(separation(&a, &b, m.normal) - m.gap) < 1e-9 && m.gap > coal.gap) {
      count->coal_worse++;
      continue;
    }
    if (off > 1e-6) {
      print_error("%s-%s pose %d: gap %.12g, Coal %.12g (its normal gives %.12g), angle %g\n", tribo_col_shape_name(ka),
                  tribo_col_shape_name(kb), i, m.gap, coal.gap, separation(&a, &b, coal.normal), angle);
      fail();
    }
    count->gap_error = fmax(count->gap_error, off);
    if (angle <= normal_limit) {
      count->normal_error = fmax(count->normal_error, angle);
      continue;
    }
    // normals of shapes that just touch are not defined; otherwise both must be equally good
    if (fabs(m.gap) < 1e-6) {
      count->touching++;
      continue;
    }
    double better = separation(&a, &b, coal.normal) - separation(&a, &b, m.normal);
    if (fabs(better) > 1e-6) {
      print_error("%s-%s pose %d: gap %.12g, Coal %.12g, angle %g, separations differ by %g\n",
                  tribo_col_shape_name(ka), tribo_col_shape_name(kb), i, m.gap, coal.gap, angle, better);
      fail();
    }
    count->ties++;
  }
  tribo_coal_query_destroy(query);
}

// All pairs with a closed form; prints the table of the largest differences.
static void closed_forms_agree_with_coal(void** state) {
  (void)state;
  static const struct {
    TriboShapeKind a, b;
    double normal;
  } pairs[] = {
      {TRIBO_SHAPE_SPHERE, TRIBO_SHAPE_SPHERE, 1e-3},       {TRIBO_SHAPE_SPHERE, TRIBO_SHAPE_BOX, 1e-3},
      {TRIBO_SHAPE_SPHERE, TRIBO_SHAPE_CAPSULE, 1e-3},      {TRIBO_SHAPE_SPHERE, TRIBO_SHAPE_CYLINDER, 1e-3},
      {TRIBO_SHAPE_CAPSULE, TRIBO_SHAPE_CAPSULE, 1e-3},     {TRIBO_SHAPE_BOX, TRIBO_SHAPE_CAPSULE, 1e-3},
      {TRIBO_SHAPE_CAPSULE, TRIBO_SHAPE_BOX, 1e-3},         {TRIBO_SHAPE_BOX, TRIBO_SHAPE_BOX, 1e-8},
      {TRIBO_SHAPE_CYLINDER, TRIBO_SHAPE_SPHERE, 1e-3},     {TRIBO_SHAPE_SPHERE, TRIBO_SHAPE_HALFSPACE, 1e-8},
      {TRIBO_SHAPE_BOX, TRIBO_SHAPE_HALFSPACE, 1e-8},       {TRIBO_SHAPE_CAPSULE, TRIBO_SHAPE_HALFSPACE, 1e-8},
      {TRIBO_SHAPE_CYLINDER, TRIBO_SHAPE_HALFSPACE, 1e-8},  {TRIBO_SHAPE_CONE, TRIBO_SHAPE_HALFSPACE, 1e-8},
      {TRIBO_SHAPE_ELLIPSOID, TRIBO_SHAPE_HALFSPACE, 1e-8},
  };
  print_message("%-20s %6s %6s %5s %9s %11s %9s %9s\n", "pair", "apart", "inside", "ties", "touching", "Coal worse",
                "gap [m]", "normal");
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) {
    Count c;
    char name[40];
    compare(pairs[k].a, pairs[k].b, pairs[k].normal, &c);
    snprintf(name, sizeof name, "%s-%s", tribo_col_shape_name(pairs[k].a), tribo_col_shape_name(pairs[k].b));
    print_message("%-20s %6d %6d %5d %9d %11d %9.1e %9.1e\n", name, c.apart, c.inside, c.ties, c.touching, c.coal_worse,
                  c.gap_error, c.normal_error);
    assert_true(c.apart > POSES / 20 && c.inside > POSES / 20);
    CHECK_LE(c.ties + c.touching + c.coal_worse, POSES / 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(closed_forms_agree_with_coal)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
