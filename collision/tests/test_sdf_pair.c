// Contacts of distance fields: against the closed forms of the same solids as convex ones, against a search for the
// deepest place of a nut on a bolt, and from step to step.
#include "geometry.h"
#include "sdf_pair.h"

static const double PI = 3.14159265358979323846;

static TriboSdfDef leaf(TriboSdfKind kind, double x, double y, double z) {
  return (TriboSdfDef){.kind = kind, .size = {x, y, z}, .sides = 6, .starts = 1, .quaternion = {0, 0, 0, 1}};
}

static TriboSdf* made(const TriboSdfDef* def) {
  TriboSdf* sdf;
  CHECK_OK(tribo_col_sdf_create(def, 0, NAN, &sdf));
  return sdf;
}

static TriboSdf* bolt(double length) {
  TriboSdfDef def = leaf(TRIBO_SDF_THREAD, 0.016, length, 0);
  def.pitch = 0.002;
  return made(&def);
}

static TriboSdf* nut(void) {
  TriboSdfDef def = leaf(TRIBO_SDF_THREAD, 0.016, 0.013, 0);
  def.pitch = 0.002;
  def.clearance = 1e-4;
  def.across = 0.024;
  return made(&def);
}

// The distance of a convex solid as a field to others is that of the closed forms.
static void fields_of_convex_solids_meet_as_such(void** state) {
  (void)state;
  static const struct {
    TriboSdfKind sdf;
    TriboShapeKind shape;
  } kinds[] = {{TRIBO_SDF_BOX, TRIBO_SHAPE_BOX},
               {TRIBO_SDF_CYLINDER, TRIBO_SHAPE_CYLINDER},
               {TRIBO_SDF_CAPSULE, TRIBO_SHAPE_CAPSULE},
               {TRIBO_SDF_ELLIPSOID, TRIBO_SHAPE_ELLIPSOID}};
  static const TriboShapeKind others[] = {TRIBO_SHAPE_SPHERE, TRIBO_SHAPE_CAPSULE, TRIBO_SHAPE_HALFSPACE,
                                          TRIBO_SHAPE_BOX};
  KitRandom r = {7};
  for (int k = 0; k < 4; ++k) {
    const double size[3] = {0.3, 0.4, 0.2};
    const TriboSdfDef def = leaf(kinds[k].sdf, size[0], size[1], size[2]);
    TriboSdf* sdf = made(&def);
    for (int o = 0; o < 4; ++o) {
      double worst = 0;
      for (int i = 0; i < 200; ++i) {
        TriboGeom convex = geom_of(kinds[k].shape, size[0], size[1], size[2], 0), field = convex;
        TriboGeom other = geom_of(others[o], 0.15, 0.25, 0.2, others[o] == TRIBO_SHAPE_HALFSPACE ? -1 : 1);
        field.kind = TRIBO_SHAPE_SDF;
        field.sdf = sdf;
        TriboPose at = random_pose(&r, 0.1), there = random_pose(&r, 0.1);
        // next to each other, along some direction
        TriboSolid a = tribo_col_solid(&convex), b = tribo_col_solid(&other);
        a.pose = at, b.pose = there;
        const double gap = kit_uniform(&r, -2e-3, 2e-3);
        if (others[o] == TRIBO_SHAPE_HALFSPACE) {
          double down[3], x[3];
          tribo_col_axis(down, &b, 2);
          tribo_scale3(down, -1, down);
          const double reach = tribo_col_support(&a, down, x);
          tribo_axpy3(b.pose.p, x, gap, down);
          (void)reach;
        } else {
          double n[3] = {kit_normal(&r), kit_normal(&r), kit_normal(&r)};
          tribo_normalize3(n);
          face_each_other(&a, &b, n, gap);
        }
        double expected, normal[3], point[3], found, m[3];
        CHECK_OK(tribo_col_distance(&convex, &a.pose, &other, &b.pose, &expected, normal, point));
        CHECK_OK(tribo_col_distance(&field, &a.pose, &other, &b.pose, &found, m, point));
        worst = fmax(worst, fabs(found - expected));
        if (fabs(expected) > 1e-4 && o < 3 && fabs(found - expected) < 1e-7) {
          CHECK_LE(angle_between(normal, m), 2e-2);
        }
      }
      // between two boxes edges cross, and the field of one knows the other by samples that slide
      CHECK_LE(worst, others[o] == TRIBO_SHAPE_BOX ? 3e-3 : 1e-5);
    }
    tribo_col_sdf_destroy(sdf);
  }
}

// A ball in a corner of a jar touches its floor and its wall.
static void a_ball_has_all_its_feet(void** state) {
  (void)state;
  const double profile[6] = {0, 0, 0.06, 0, 0.06, 0.1};
  TriboSdfDef def = leaf(TRIBO_SDF_REVOLVED, 0, 0, 0);
  def.profile = profile, def.nprofile = 3, def.pad = 0.003;
  TriboSdf* jar = made(&def);
  SdfFoot feet[SDF_FEET];
  const double x[3] = {0.6 * 0.052, 0.8 * 0.052, 0.008};
  const int count = tribo_col_sdf_feet(jar, x, 0.0062, feet);
  assert_int_equal(count, 2);
  const int floor = feet[0].n[2] > 0.5 ? 0 : 1;
  CHECK_NEAR(feet[floor].phi, 0.005, 1e-15);
  CHECK_NEAR(feet[1 - floor].phi, 0.005, 1e-15);
  CHECK_NEAR(feet[1 - floor].n[0], -0.6, 1e-12);
  CHECK_NEAR(feet[1 - floor].n[1], -0.8, 1e-12);
  tribo_col_sdf_destroy(jar);
}

// ---- a nut on a bolt

typedef struct Nut {
  TriboSolid a, b;
  TriboSdfWork work;
  TriboColPoint* points;
  int count;
  TriboContactName known[256];
  int nknown;
} Nut;

static void detect(Nut* n) {
  const SdfApproach p = {.h = 1e-3, .margin = 2e-5, .reach = 2e-5};
  CHECK_OK(tribo_col_sdf_contacts(&n->work, &n->a, &n->b, &p, n->known, n->nknown, &n->points, &n->count));
}

static double deepest(const Nut* n) {
  double gap = INFINITY;
  for (int i = 0; i < n->count; ++i) {
    gap = fmin(gap, n->points[i].gap);
  }
  return gap;
}

static void remember(Nut* n) {
  n->nknown = n->count;
  for (int i = 0; i < n->count; ++i) {
    n->known[i] = (TriboContactName){0, 1, n->points[i].feature, n->points[i].place, 1};
  }
}

static void turn_a_bit(KitRandom* r, TriboPose* pose, double angle) {
  double w[3], q[4], E[9], R[9];
  for (int k = 0; k < 3; ++k) {
    w[k] = kit_uniform(r, -angle, angle);
  }
  tribo_quat_exp(q, w);
  tribo_quat_to_mat(E, q);
  tribo_mul33(R, E, pose->R);
  memcpy(pose->R, R, sizeof R);
}

// A nut off its axis by 30 µm and 3 mrad, lowered until it is 1 µm deep.
static void lower(Nut* n, KitRandom* r) {
  n->b.pose = pose_at(kit_uniform(r, -3e-5, 3e-5), kit_uniform(r, -3e-5, 3e-5), 0.004);
  turn_a_bit(r, &n->b.pose, 2e-3);
  double low = -4e-4, high = 0;
  n->nknown = 0;
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (low + high);
    n->b.pose.p[2] = 0.004 + middle;
    detect(n);
    // (at half a pitch down it is free again)
    if (n->count > 0 && deepest(n) < -1e-6) {
      low = middle;
    } else {
      high = middle;
    }
  }
}

// The deepest place along all four crest edges, by many points.
static double search(const Nut* n) {
  enum { FINE = 3000 };
  double gap = INFINITY, x[3], y[3], g[3];
  for (int way = 0; way < 2; ++way) {
    const TriboSolid *cloud = way ? &n->a : &n->b, *field = way ? &n->b : &n->a;
    const SdfThread* t = &cloud->sdf->nodes[way ? 0 : 2].thread;
    const double r = way ? t->crest : t->root + t->grow,
                 a = way ? t->pitch / 16 : 0.375 * t->pitch + t->grow * tan(PI / 6);
    for (int side = -1; side <= 1; side += 2) {
      for (int i = 0; i < 20 * FINE; ++i) {
        const double angle = 2 * PI * (i - 10 * FINE) / FINE;
        tribo_set3(x, r * cos(angle), r * sin(angle), side * a + t->lead * angle);
        // inside of both
        tribo_col_to_world(y, &cloud->pose, x);
        tribo_col_to_local(y, &n->b.pose, y);
        if (fabs(y[2]) > 0.0065 || (!way && fabs(x[2]) > 0.0065)) {
          continue;
        }
        tribo_col_to_world(y, &cloud->pose, x);
        tribo_col_to_local(x, &field->pose, y);
        gap = fmin(gap, tribo_col_sdf_value(field->sdf, x, g));
      }
    }
  }
  return gap;
}

// The deepest gap is missed by no more than 0.2 µm, and 95 % of the contacts keep their names over a move of 0.5 µm and
// 0.1 mrad, their samples too.
static void nuts_are_met_where_they_are_deepest(void** state) {
  (void)state;
  Nut n = {.a = {.kind = TRIBO_SHAPE_SDF, .sdf = bolt(0.03)}, .b = {.kind = TRIBO_SHAPE_SDF, .sdf = nut()}};
  KitRandom r = {5};
  double missed = 0;
  int kept = 0, all = 0, same = 0;
  n.a.pose = pose_at(0, 0, 0);
  for (int i = 0; i < 12; ++i) {
    lower(&n, &r);
    CHECK_NEAR(deepest(&n), -1e-6, 1e-8);
    missed = fmax(missed, deepest(&n) - search(&n));
    remember(&n);
    for (int k = 0; k < 3; ++k) {
      n.b.pose.p[k] += kit_uniform(&r, -1, 1) * 0.5e-6 / sqrt(3);
    }
    turn_a_bit(&r, &n.b.pose, 1e-4 / sqrt(3));
    detect(&n);
    for (int k = 0; k < n.nknown; ++k) {
      for (int j = 0; j < n.count; ++j) {
        kept += n.known[k].feature == n.points[j].feature;
        same += n.known[k].feature == n.points[j].feature && n.known[k].place == n.points[j].place;
      }
    }
    all += n.nknown;
  }
  print_message("missed %.3f µm; kept %.1f %% of the names and %.1f %% of the samples of %d\n", 1e6 * missed,
                100.0 * kept / all, 100.0 * same / all, all);
  CHECK_LE(missed, 2e-7);
  CHECK_LE(0.95 * all, kept);
  tribo_col_sdf_work_free(&n.work);
  tribo_col_sdf_destroy((TriboSdf*)n.a.sdf);
  tribo_col_sdf_destroy((TriboSdf*)n.b.sdf);
}

// Gaps are φ, normals go from a to b, and points lie midway; exchanged solids give the same with the normals turned.
static void contacts_fit_together(void** state) {
  (void)state;
  Nut n = {.a = {.kind = TRIBO_SHAPE_SDF, .sdf = bolt(0.03)}, .b = {.kind = TRIBO_SHAPE_SDF, .sdf = nut()}};
  KitRandom r = {9};
  n.a.pose = random_pose(&r, 1);
  const TriboPose on = pose_at(0, 0, 0.004 - 1e-4 / cos(PI / 6));
  n.b.pose = tribo_pose_mul(&n.a.pose, &on);
  detect(&n);
  assert_true(n.count >= 60 && n.count <= 128);
  double sum[3] = {0, 0, 0};
  for (int i = 0; i < n.count; ++i) {
    double d[3];
    const TriboColPoint* p = &n.points[i];
    tribo_sub3(d, p->b, p->a);
    CHECK_NEAR(tribo_dot3(d, p->normal), p->gap, 1e-12);
    CHECK_NEAR(tribo_norm3(p->normal), 1, 1e-12);
    CHECK_NEAR(p->gap, 0, 1e-9);
    tribo_add3(sum, sum, p->normal);
    assert_true(i == 0 || p->feature > n.points[i - 1].feature);
  }
  // the nut stands on the flanks: the normals point up along the bolt
  double axis[3];
  tribo_col_axis(axis, &n.a, 2);
  CHECK_LE(0.8 * n.count, tribo_dot3(sum, axis));
  const int count = n.count;
  TriboSolid swap = n.a;
  n.a = n.b, n.b = swap;
  detect(&n);
  assert_int_equal(n.count, count);
  double back[3] = {0, 0, 0};
  for (int i = 0; i < n.count; ++i) {
    tribo_add3(back, back, n.points[i].normal);
  }
  tribo_add3(back, back, sum);
  CHECK_NEAR(tribo_norm3(back), 0, 1e-9);
  tribo_col_sdf_work_free(&n.work);
  tribo_col_sdf_destroy((TriboSdf*)n.a.sdf);
  tribo_col_sdf_destroy((TriboSdf*)n.b.sdf);
}

// A dish at 100 m/s meets a plate that is thinner than its way in a step: contacts are found where it will touch, and
// none that would stop it when it passes beside.
static void fast_fields_are_followed(void** state) {
  (void)state;
  const double flat[4] = {0, 0, 0.1, 0}, bowl[6] = {0, 0, 0.035, 0, 0.07, 0.045};
  TriboSdfDef def = leaf(TRIBO_SDF_REVOLVED, 0, 0, 0);
  def.pad = 0.002;
  def.profile = flat, def.nprofile = 2;
  TriboSdf* plate = made(&def);
  def.profile = bowl, def.nprofile = 3;
  TriboSdf* dish = made(&def);
  TriboGeom geoms[2] = {geom_of(TRIBO_SHAPE_SDF, 0, 0, 0, TRIBO_WORLD_BODY), geom_of(TRIBO_SHAPE_SDF, 0, 0, 0, 0)};
  geoms[0].sdf = plate, geoms[1].sdf = dish;
  const TriboColWorldDef world_def = {.geoms = geoms, .ngeom = 2, .nbody = 1};
  TriboColWorld* world;
  TriboColData* data;
  CHECK_OK(tribo_col_world_create(&world_def, &world));
  CHECK_OK(tribo_col_data_create(world, &data));
  TriboPose pose = pose_at(0.02, 0, 0.05);
  TriboTwist twist = {.v = {0, 0, -100}};
  const TriboColQuery query = {.poses = &pose, .twists = &twist, .h = 1e-3, .margin = 1e-3};
  const TriboContact* contacts;
  int n;
  CHECK_OK(tribo_col_detect(world, data, &query, &contacts, &n, NULL));
  assert_true(n > 0);
  for (int i = 0; i < n; ++i) {
    CHECK_NEAR(contacts[i].gap, 0.046, 1e-3);
    CHECK_NEAR(contacts[i].normal[2], 1, 1e-6);
  }
  // its rim passes the plate's edge 1 mm outside: 0.072 + 0.102 + 0.001
  pose.p[0] = 0.175;
  CHECK_OK(tribo_col_detect(world, data, &query, &contacts, &n, NULL));
  for (int i = 0; i < n; ++i) {
    CHECK_LE(0, contacts[i].gap - 1e-3 * 100 * contacts[i].normal[2]);
  }
  // and meets it 1 mm inside
  pose.p[0] = 0.173;
  CHECK_OK(tribo_col_detect(world, data, &query, &contacts, &n, NULL));
  int closing = 0;
  for (int i = 0; i < n; ++i) {
    closing += contacts[i].gap - 1e-3 * 100 * contacts[i].normal[2] < 0;
  }
  assert_true(closing > 0);
  tribo_col_data_destroy(data);
  tribo_col_world_destroy(world);
  tribo_col_sdf_destroy(plate);
  tribo_col_sdf_destroy(dish);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_of_convex_solids_meet_as_such),
      cmocka_unit_test(a_ball_has_all_its_feet),
      cmocka_unit_test(nuts_are_met_where_they_are_deepest),
      cmocka_unit_test(contacts_fit_together),
      cmocka_unit_test(fast_fields_are_followed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
