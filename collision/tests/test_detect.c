// Detection of a world: which contacts, where, how many; groups and exclusions; wrong input; equal bits.
#include "geometry.h"
#include "hash.h"
#include "memory.h"

enum { MOST = 200 };
static TriboPose poses[MOST];
static TriboTwist twists[MOST];
static TriboGeom geoms[2 * MOST];

static TriboColQuery query_of(double h, double margin) {
  return (TriboColQuery){.poses = poses, .twists = twists, .h = h, .margin = margin};
}

static uint64_t hash_contacts(const TriboContact* c, int n) {
  uint64_t hash = TRIBO_HASH_START;
  for (int i = 0; i < n; ++i) {
    hash = tribo_hash(hash, &c[i].geom_a, 4 * sizeof(int));
    hash = tribo_hash(hash, &c[i].feature, sizeof c[i].feature);
    hash = tribo_hash(hash, c[i].point, 7 * sizeof(double));
  }
  return hash;
}

static TriboColWorld* make_world(int ngeom, int nbody, const int (*excluded)[2], int nexcluded) {
  TriboColWorld* world;
  TriboColWorldDef def = {geoms, ngeom, nbody, excluded, nexcluded};
  CHECK_OK(tribo_col_world_create(&def, &world));
  return world;
}

// A tower of cubes on a half-space: four contacts at each level, in order, normals up.
static void a_tower(void** state) {
  (void)state;
  geoms[0] = geom_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, TRIBO_WORLD_BODY);
  for (int i = 0; i < 5; ++i) {
    geoms[i + 1] = geom_of(TRIBO_SHAPE_BOX, 1, 1, 1, i);
    poses[i] = pose_at(0, 0, 0.5 + i);
    twists[i] = (TriboTwist){{0, 0, -0.01}, {0, 0, 0}};
  }
  TriboColWorld* world = make_world(6, 5, NULL, 0);
  TriboColData* data;
  CHECK_OK(tribo_col_data_create(world, &data));
  TriboColQuery query = query_of(1e-3, 1e-3);
  const TriboContact* c;
  TriboColStats stats;
  int n;
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &n, &stats));
  assert_int_equal(n, 20);
  assert_int_equal(stats.pairs, 5);
  assert_int_equal(stats.coal_pairs, 0);
  for (int i = 0; i < n; ++i) {
    assert_int_equal(c[i].geom_a, i / 4);
    assert_int_equal(c[i].geom_b, i / 4 + 1);
    assert_int_equal(c[i].body_a, i / 4 - 1);
    assert_int_equal(c[i].body_b, i / 4);
    CHECK_NEAR(c[i].gap, 0, 1e-15);
    CHECK_NEAR(c[i].normal[2], 1, 1e-15);
    CHECK_NEAR(fabs(c[i].point[0]), 0.5, 1e-15);
    CHECK_NEAR(c[i].point[2], i / 4, 1e-15);
    assert_true(i % 4 == 0 || c[i].feature > c[i - 1].feature);
  }
  // lifted above the margin and not falling, nothing touches
  for (int i = 0; i < 5; ++i) {
    poses[i].p[2] += 1.1e-3 * (i + 1);
    twists[i].v[2] = 0;
  }
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &n, NULL));
  assert_int_equal(n, 0);
  // falling fast enough to close it in one step, the lowest comes back
  for (int i = 0; i < 5; ++i) {
    twists[i].v[2] = -0.2;
  }
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &n, NULL));
  assert_int_equal(n, 4);
  tribo_col_data_destroy(data);
  tribo_col_world_destroy(world);
}

// A prism with twelve sides, 10 cm high.
enum { SIDES = 12 };
static TriboHull* make_prism(void) {
  double points[3 * 2 * SIDES];
  for (int i = 0; i < 2 * SIDES; ++i) {
    const double angle = 2 * 3.14159265358979323846 * (i % SIDES) / SIDES;
    points[3 * i] = 0.1 * cos(angle);
    points[3 * i + 1] = 0.1 * sin(angle);
    points[3 * i + 2] = i < SIDES ? -0.05 : 0.05;
  }
  TriboHull* hull;
  CHECK_OK(tribo_col_hull_create(points, 2 * SIDES, &hull));
  return hull;
}

// It stands on the ground on four of its corners. Where it turns about a line through two of these, another corner goes
// down fastest: as far as it lies beyond the line, times the angle.
static void points_left_out_sink(void** state) {
  (void)state;
  TriboHull* hull = make_prism();
  geoms[0] = geom_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, TRIBO_WORLD_BODY);
  geoms[1] = geom_of(TRIBO_SHAPE_HULL, 0, 0, 0, 0);
  geoms[1].hull = hull;
  poses[0] = pose_at(0, 0, 0.05);
  twists[0] = (TriboTwist){{0, 0, 0}, {0, 0, 0}};
  TriboColWorld* world = make_world(2, 1, NULL, 0);
  TriboColData* data;
  CHECK_OK(tribo_col_data_create(world, &data));
  const double h = 1e-3;
  TriboColQuery query = query_of(h, 1e-3);
  const TriboContact *c, *penetrating;
  int n, npenetrating;
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &n, NULL));
  assert_int_equal(n, 4);
  // at rest none sinks; and all that touch are the twelve
  CHECK_OK(tribo_col_penetrating_dropped_points(world, data, &query, 1e-5, 0, &penetrating, &npenetrating));
  assert_int_equal(npenetrating, 0);
  CHECK_OK(tribo_col_penetrating_dropped_points(world, data, &query, -1e-9, 1, &penetrating, &npenetrating));
  assert_int_equal(npenetrating, SIDES);
  // each corner in turn: about the line across its direction, at the distance of the corners beside it
  for (int i = 0; i < SIDES; ++i) {
    const double angle = 2 * 3.14159265358979323846 * i / SIDES, x = cos(angle), y = sin(angle), turn = 2;
    const double line = 0.1 * cos(2 * 3.14159265358979323846 / SIDES);
    twists[0] = (TriboTwist){{0, 0, turn * line}, {-turn * y, turn * x, 0}};
    CHECK_OK(tribo_col_penetrating_dropped_points(world, data, &query, 1e-5, 0, &penetrating, &npenetrating));
    assert_int_equal(npenetrating, 1);
    CHECK_NEAR(penetrating[0].point[0], 0.1 * x, 1e-12);
    CHECK_NEAR(penetrating[0].point[1], 0.1 * y, 1e-12);
    CHECK_NEAR(penetrating[0].gap, 0, 1e-12);
    // it sinks by h · turn · (0.1 − line)
    CHECK_OK(tribo_col_penetrating_dropped_points(world, data, &query, h * turn * (0.1 - line) * 0.999, 0, &penetrating,
                                                  &npenetrating));
    assert_int_equal(npenetrating, 1);
    CHECK_OK(tribo_col_penetrating_dropped_points(world, data, &query, h * turn * (0.1 - line) * 1.001, 0, &penetrating,
                                                  &npenetrating));
    assert_int_equal(npenetrating, 0);
  }
  tribo_col_data_destroy(data);
  tribo_col_world_destroy(world);
  tribo_col_hull_destroy(hull);
}

// More of them than a list begins with: all corners of all prisms, in order.
static void many_points_left_out_sink(void** state) {
  (void)state;
  enum { PRISMS = 9 };
  TriboHull* hull = make_prism();
  geoms[0] = geom_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, TRIBO_WORLD_BODY);
  for (int i = 0; i < PRISMS; ++i) {
    geoms[i + 1] = geom_of(TRIBO_SHAPE_HULL, 0, 0, 0, i);
    geoms[i + 1].hull = hull;
    poses[i] = pose_at(i, 0, 0.05);
    twists[i] = (TriboTwist){{0, 0, 0}, {0, 0, 0}};
  }
  TriboColWorld* world = make_world(PRISMS + 1, PRISMS, NULL, 0);
  TriboColData* data;
  CHECK_OK(tribo_col_data_create(world, &data));
  const TriboColQuery query = query_of(1e-3, 1e-3);
  const TriboContact *c, *penetrating;
  int n, npenetrating;
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &n, NULL));
  CHECK_OK(tribo_col_penetrating_dropped_points(world, data, &query, -1e-9, 1, &penetrating, &npenetrating));
  assert_int_equal(npenetrating, PRISMS * SIDES);
  for (int i = 0; i < npenetrating; ++i) {
    assert_int_equal(penetrating[i].geom_b, 1 + i / SIDES);
    CHECK_NEAR(penetrating[i].point[0], i / SIDES, 0.1 + 1e-12);
    CHECK_NEAR(penetrating[i].normal[2], 1, 1e-12);
  }
  tribo_col_data_destroy(data);
  tribo_col_world_destroy(world);
  tribo_col_hull_destroy(hull);
}

// A box that has turned a little above another: its four contacts lie in one plane across the normal.
static void contacts_of_a_face_share_a_plane(void** state) {
  (void)state;
  KitRandom random = {5};
  for (int k = 0; k < 100; ++k) {
    for (int i = 0; i < 2; ++i) {
      geoms[i] = geom_of(TRIBO_SHAPE_BOX, i ? 0.8 : 1, i ? 0.8 : 1, 1, i);
      poses[i] = pose_at(0.01 * i, 0.02 * i, 1.0002 * i);
      twists[i] = (TriboTwist){{0, 0, 0}, {0, 0, 0}};
    }
    double tilt[3] = {kit_uniform(&random, -2e-4, 2e-4), kit_uniform(&random, -2e-4, 2e-4), 0};
    double q[4];
    tribo_quat_exp(q, tilt);
    tribo_quat_to_mat(poses[1].R, q);
    TriboColWorld* world = make_world(2, 2, NULL, 0);
    TriboColData* data;
    CHECK_OK(tribo_col_data_create(world, &data));
    TriboColQuery query = query_of(1e-3, 1e-3);
    const TriboContact* c;
    int n;
    CHECK_OK(tribo_col_detect(world, data, &query, &c, &n, NULL));
    assert_int_equal(n, 4);
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < n; ++i) {
      CHECK_NEAR(tribo_dot3(c[0].normal, c[i].point), tribo_dot3(c[0].normal, c[0].point), 1e-15);
      least = fmin(least, c[i].gap);
      most = fmax(most, c[i].gap);
    }
    assert_true(most > least + 1e-9);  // the gaps are still each point's own
    tribo_col_data_destroy(data);
    tribo_col_world_destroy(world);
  }
}

static int contact_count(TriboColWorld* world) {
  TriboColData* data;
  TriboColQuery query = query_of(1e-3, 1e-3);
  const TriboContact* c;
  int n;
  CHECK_OK(tribo_col_data_create(world, &data));
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &n, NULL));
  tribo_col_data_destroy(data);
  tribo_col_world_destroy(world);
  return n;
}

// Two discs touch where their rims cross, and one rocks: its far edge meets the other within the step, and is told
// before, with its height over the other's face.
static void the_far_side_of_a_rocking_face(void** state) {
  (void)state;
  const double tilt = 0.08, radius = 0.05, h = 5e-3, turn = 40;
  geoms[0] = geom_of(TRIBO_SHAPE_CYLINDER, radius, 0.1, 0, 0);
  geoms[1] = geom_of(TRIBO_SHAPE_CYLINDER, radius, 0.1, 0, 1);
  poses[0] = pose_at(0, 0, 0);
  // turned about y, its edge at −x is low; beside the middle, so that neither edge lies over the other's face
  poses[1] = pose_at(-0.01, 0.06, 0.11);
  tribo_quat_to_mat(poses[1].R, (const double[4]){0, sin(-0.5 * tilt), 0, cos(0.5 * tilt)});
  for (int i = 0; i < 20; ++i) {
    double gap, normal[3], point[3];
    CHECK_OK(tribo_col_distance(&geoms[0], &poses[0], &geoms[1], &poses[1], &gap, normal, point));
    poses[1].p[2] -= gap / normal[2];
  }
  for (int rocks = 0; rocks < 2; ++rocks) {
    // about the edge that touches
    twists[0] = (TriboTwist){{0, 0, 0}, {0, 0, 0}};
    twists[1] = (TriboTwist){{0, 0, rocks ? -turn * radius : 0}, {0, rocks ? turn : 0, 0}};
    TriboColWorld* world = make_world(2, 2, NULL, 0);
    TriboColData* data;
    CHECK_OK(tribo_col_data_create(world, &data));
    const TriboColQuery query = query_of(h, 1e-3);
    const TriboContact* c;
    int n, far = 0;
    CHECK_OK(tribo_col_detect(world, data, &query, &c, &n, NULL));
    for (int i = 0; i < n; ++i) {
      // the lower face of the upper disc, over the upper face of the lower one
      const double x = c[i].point[0] - poses[1].p[0];
      const double height = poses[1].p[2] - 0.05 / cos(tilt) + x * tan(tilt) - 0.05;
      CHECK_NEAR(c[i].gap, height, 1e-4);
      far += x > 0;
    }
    assert_true(n >= 1 && (rocks ? far >= 1 : far == 0));
    tribo_col_data_destroy(data);
    tribo_col_world_destroy(world);
  }
}

static void filters(void** state) {
  (void)state;
  memset(twists, 0, sizeof twists);
  // two balls of body 0, one of body 1, a static one and a floor, all overlapping in one place
  for (int i = 0; i < 4; ++i) {
    geoms[i] = geom_of(TRIBO_SHAPE_SPHERE, 0.5, 0, 0, i < 2 ? 0 : i == 2 ? 1 : TRIBO_WORLD_BODY);
    geoms[i].local = pose_at(0.1 * i, 0, 0);
  }
  geoms[4] = geom_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, TRIBO_WORLD_BODY);
  poses[0] = pose_at(0, 0, 0);
  poses[1] = pose_at(0, 0.1, 0);
  // 0–2, 1–2, 0–3, 1–3, 2–3, and three moving ones with the floor; not 0–1 (one body), 3–4 (static)
  assert_int_equal(contact_count(make_world(5, 2, NULL, 0)), 8);
  const int pair[2][2] = {{1, 0}, {TRIBO_WORLD_BODY, 1}};
  assert_int_equal(contact_count(make_world(5, 2, pair, 1)), 6);
  assert_int_equal(contact_count(make_world(5, 2, pair, 2)), 4);
  // a collides with b only if each one's group is in the other's mask
  geoms[2].group = 2;
  assert_int_equal(contact_count(make_world(5, 2, NULL, 0)), 4);
  for (int i = 0; i < 5; ++i) {
    geoms[i].mask = 3;
  }
  assert_int_equal(contact_count(make_world(5, 2, NULL, 0)), 8);
  geoms[2].mask = 0;
  assert_int_equal(contact_count(make_world(5, 2, NULL, 0)), 4);
}

// A heap of every kind of shape on a floor of boxes and a half-space, moving.
static TriboHull* rock;
static int fill_heap(KitRandom* r, int nbody) {
  int n = 0;
  geoms[n++] = geom_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, TRIBO_WORLD_BODY);
  geoms[n] = geom_of(TRIBO_SHAPE_BOX, 3, 3, 0.1, TRIBO_WORLD_BODY);
  geoms[n++].local = pose_at(0.3, 0, 0.1);
  for (int i = 0; i < nbody; ++i) {
    geoms[n] = random_geom(r, (TriboShapeKind)(i % 7), 0.1, 0.3);
    geoms[n].body = i;
    geoms[n].hull = rock;
    geoms[n++].local = i % 3 ? pose_at(0, 0, 0) : random_pose(r, 0.1);
    poses[i] = random_pose(r, 1);
    poses[i].p[2] += 1;
    twists[i] = (TriboTwist){{kit_normal(r), kit_normal(r), -1}, {kit_normal(r), kit_normal(r), 0}};
  }
  return n;
}

// The same query gives the same bits, whatever came before, and takes no more memory.
static void same_bits_and_no_growth(void** state) {
  (void)state;
  KitRandom r = {12};
  double points[90];
  for (int i = 0; i < 90; ++i) {
    points[i] = kit_uniform(&r, -0.2, 0.2);
  }
  CHECK_OK(tribo_col_hull_create(points, 30, &rock));
  int n = fill_heap(&r, MOST);
  TriboColWorld* world = make_world(n, MOST, NULL, 0);
  TriboColData *data, *fresh;
  CHECK_OK(tribo_col_data_create(world, &data));
  CHECK_OK(tribo_col_data_create(world, &fresh));
  TriboColQuery query = query_of(5e-3, 1e-3), short_step = query_of(1e-4, 1e-4);
  const TriboContact* c;
  TriboColStats stats;
  int count, again, other;
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &count, &stats));
  assert_true(count > 200 && stats.coal_pairs > 50 && stats.pairs > stats.coal_pairs + 50);
  uint64_t first = hash_contacts(c, count);
  for (int i = 0; i < count; ++i) {
    assert_true(c[i].geom_a < c[i].geom_b);
    if (i > 0) {
      int order = c[i].geom_a != c[i - 1].geom_a   ? c[i].geom_a - c[i - 1].geom_a
                  : c[i].geom_b != c[i - 1].geom_b ? c[i].geom_b - c[i - 1].geom_b
                                                   : (c[i].feature > c[i - 1].feature) - 0;
      assert_true(order > 0);
    }
    assert_true(i < 4 || c[i].geom_a != c[i - 4].geom_a || c[i].geom_b != c[i - 4].geom_b);
    CHECK_NEAR(tribo_norm3(c[i].normal), 1, 1e-12);
    assert_true(tribo_finite(c[i].point, 3) && c[i].gap < 1);
  }
  // again, after another query, and on other data: the same bits, and no array has grown
  uint64_t growth = tribo_growth_count();
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &again, NULL));
  assert_int_equal(again, count);
  assert_true(hash_contacts(c, again) == first);
  CHECK_OK(tribo_col_detect(world, data, &short_step, &c, &other, NULL));
  assert_true(other < count);
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &again, NULL));
  assert_true(hash_contacts(c, again) == first);
  assert_int_equal(tribo_growth_count(), growth);
  CHECK_OK(tribo_col_detect(world, fresh, &query, &c, &again, NULL));
  assert_true(hash_contacts(c, again) == first);
  tribo_col_data_destroy(data);
  tribo_col_data_destroy(fresh);
  tribo_col_world_destroy(world);
}

// The rule itself: every contact obeys it, and no pair that overlaps at the start is missed.
static void contacts_obey_the_rule(void** state) {
  (void)state;
  KitRandom r = {13};
  int n = fill_heap(&r, MOST);
  TriboColWorld* world = make_world(n, MOST, NULL, 0);
  TriboColData* data;
  CHECK_OK(tribo_col_data_create(world, &data));
  TriboColQuery query = query_of(2e-3, 1e-3);
  const TriboContact* c;
  int count, overlapping = 0;
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &count, NULL));
  for (int i = 0; i < count; ++i) {
    double v[3] = {0, 0, 0};
    for (int side = 0; side < 2; ++side) {
      int body = side ? c[i].body_b : c[i].body_a;
      if (body >= 0) {
        double arm[3], turn[3];
        tribo_sub3(arm, c[i].point, poses[body].p);
        tribo_cross3(turn, twists[body].w, arm);
        tribo_add3(turn, turn, twists[body].v);
        tribo_axpy3(v, v, side ? 1 : -1, turn);
      }
    }
    CHECK_LE(c[i].gap, query.h * fmax(0, -tribo_dot3(v, c[i].normal)) + query.margin + 1e-12);
  }
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      double gap, normal[3], point[3];
      if (geoms[a].body == geoms[b].body) {
        continue;
      }
      TriboPose at[2];
      for (int k = 0; k < 2; ++k) {
        const TriboGeom* g = geoms + (k ? b : a);
        at[k] = g->local;
        if (g->body >= 0) {
          tribo_col_to_world(at[k].p, poses + g->body, g->local.p);
          tribo_mul33(at[k].R, poses[g->body].R, g->local.R);
        }
      }
      CHECK_OK(tribo_col_distance(geoms + a, at, geoms + b, at + 1, &gap, normal, point));
      int found = 0;
      for (int i = 0; i < count && !found; ++i) {
        found = c[i].geom_a == a && c[i].geom_b == b;
      }
      overlapping += gap < 0;
      assert_true(found || gap > 0);
    }
  }
  assert_true(overlapping > 50);
  tribo_col_data_destroy(data);
  tribo_col_world_destroy(world);
  tribo_col_hull_destroy(rock);
}

// Every wrong argument is refused with its name.
static void wrong_input(void** state) {
  (void)state;
  geoms[0] = geom_of(TRIBO_SHAPE_SPHERE, 1, 0, 0, 0);
  poses[0] = pose_at(0, 0, 0);
  memset(twists, 0, sizeof twists);
  TriboColWorld *world = NULL, *other;
  TriboColWorldDef def = {geoms, 1, 0, NULL, 0};
  CHECK_FAILS(tribo_col_world_create(NULL, &world), TRIBO_INVALID, "def");
  CHECK_FAILS(tribo_col_world_create(&def, &world), TRIBO_INVALID, "geom 0");
  def.nbody = 1;
  geoms[0].size[0] = -1;
  CHECK_FAILS(tribo_col_world_create(&def, &world), TRIBO_INVALID, "size[0] of a sphere is -1");
  geoms[0].size[0] = 1;
  const int excluded[1][2] = {{0, 7}};
  def.excluded = excluded, def.nexcluded = 1;
  CHECK_FAILS(tribo_col_world_create(&def, &world), TRIBO_INVALID, "excluded[0][1] is 7");
  assert_null(world);
  def.nexcluded = 0;
  CHECK_OK(tribo_col_world_create(&def, &world));
  CHECK_OK(tribo_col_world_create(&def, &other));
  TriboColData* data;
  CHECK_FAILS(tribo_col_data_create(NULL, &data), TRIBO_INVALID, "world");
  CHECK_OK(tribo_col_data_create(world, &data));
  const TriboContact* c;
  int n;
  double bad[] = {0, -1, NAN, INFINITY};
  for (int i = 0; i < 4; ++i) {
    TriboColQuery query = query_of(bad[i], 1e-3);
    CHECK_FAILS(tribo_col_detect(world, data, &query, &c, &n, NULL), TRIBO_INVALID, "h is");
    query = query_of(1e-3, i == 0 ? -1e-3 : bad[i]);
    CHECK_FAILS(tribo_col_detect(world, data, &query, &c, &n, NULL), TRIBO_INVALID, "margin is");
  }
  TriboColQuery query = query_of(1e-3, 1e-3);
  CHECK_FAILS(tribo_col_detect(other, data, &query, &c, &n, NULL), TRIBO_INVALID, "another world");
  twists[0].w[1] = NAN;
  CHECK_FAILS(tribo_col_detect(world, data, &query, &c, &n, NULL), TRIBO_NUMERIC, "body 0");
  twists[0].w[1] = 0;
  poses[0].p[0] = INFINITY;
  CHECK_FAILS(tribo_col_detect(world, data, &query, &c, &n, NULL), TRIBO_NUMERIC, "body 0");
  poses[0].p[0] = 0;
  twists[0].v[2] = 1e300;
  CHECK_FAILS(tribo_col_detect(world, data, &query, &c, &n, NULL), TRIBO_NUMERIC, "body 0");
  twists[0].v[2] = 0;
  poses[0].R[4] = 2;
  CHECK_FAILS(tribo_col_detect(world, data, &query, &c, &n, NULL), TRIBO_NUMERIC, "not a pose");
  query.poses = NULL;
  CHECK_FAILS(tribo_col_detect(world, data, &query, &c, &n, NULL), TRIBO_INVALID, "NULL");
  double gap, normal[3], point[3];
  TriboGeom plane = geom_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, TRIBO_WORLD_BODY);
  TriboPose here = pose_at(0, 0, 0);
  CHECK_FAILS(tribo_col_distance(&plane, &here, &plane, &here, &gap, normal, point), TRIBO_INVALID, "have no distance");
  CHECK_FAILS(tribo_col_distance(&plane, &here, geoms, NULL, &gap, normal, point), TRIBO_INVALID, "pose");
  tribo_col_data_destroy(data);
  tribo_col_world_destroy(world);
  tribo_col_world_destroy(other);
  // an empty world is fine
  def = (TriboColWorldDef){NULL, 0, 0, NULL, 0};
  CHECK_OK(tribo_col_world_create(&def, &world));
  CHECK_OK(tribo_col_data_create(world, &data));
  query = (TriboColQuery){.h = 1e-3, .margin = 1e-3};
  CHECK_OK(tribo_col_detect(world, data, &query, &c, &n, NULL));
  assert_int_equal(n, 0);
  tribo_col_data_destroy(data);
  tribo_col_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tower),
      cmocka_unit_test(contacts_of_a_face_share_a_plane),
      cmocka_unit_test(points_left_out_sink),
      cmocka_unit_test(many_points_left_out_sink),
      cmocka_unit_test(the_far_side_of_a_rocking_face),
      cmocka_unit_test(filters),
      cmocka_unit_test(same_bits_and_no_growth),
      cmocka_unit_test(contacts_obey_the_rule),
      cmocka_unit_test(wrong_input),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
