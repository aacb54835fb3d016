// Timings of the narrow and the broad phase, for people: `meson test --benchmark --suite collision -v`.
#include <stdio.h>
#include <stdlib.h>

#include "broad.h"
#include "geometry.h"
#include "narrow.h"
#include "timer.h"

enum { REPEATS = 7 };

static void quit(TriboStatus status) {
  if (status != TRIBO_OK) {
    fprintf(stderr, "%s\n", tribo_last_error());
    exit(3);
  }
}

static TriboSolid solid_of(TriboShapeKind kind, double x, double y, double z, TriboPose pose) {
  TriboGeom geom = geom_of(kind, x, y, z, 0);
  TriboSolid solid = tribo_col_solid(&geom);
  TriboCoalShape* coal;
  quit(tribo_coal_shape_create(kind, geom.size, &coal));  // kept until the program ends
  solid.coal = coal;
  solid.pose = pose;
  return solid;
}

static void time_pair(TriboCoalQuery* query, const char* name, TriboSolid a, TriboSolid b) {
  enum { CALLS = 20000 };
  double best = INFINITY;
  int points = 0;
  for (int k = 0; k < REPEATS; ++k) {
    double start = tribo_now();
    for (int i = 0; i < CALLS; ++i) {
      TriboManifold m;
      b.pose.p[0] += 1e-9;
      quit(tribo_col_collide(query, &a, &b, 1e-3, &m, NULL));
      points = tribo_col_reduce(m.points, m.count, NULL, 0);
    }
    best = fmin(best, (tribo_now() - start) / CALLS);
  }
  printf("%-28s %7.3f us  %d points\n", name, 1e6 * best, points);
}

// A heap of boxes of 0.2 m, side by side with 0.5 mm between, turned a little, on a floor box and a half-space.
static void time_heap(int side, int layers) {
  int n = side * side * layers;
  TriboGeom* geoms = calloc((size_t)n + 2, sizeof *geoms);
  TriboPose* poses = calloc((size_t)n, sizeof *poses);
  TriboTwist* twists = calloc((size_t)n, sizeof *twists);
  KitRandom r = {1};
  geoms[0] = geom_of(TRIBO_SHAPE_HALFSPACE, 0, 0, 0, TRIBO_WORLD_BODY);
  geoms[1] = geom_of(TRIBO_SHAPE_BOX, 100, 100, 1, TRIBO_WORLD_BODY);
  geoms[1].local = pose_at(0, 0, -0.5);
  for (int i = 0; i < n; ++i) {
    geoms[i + 2] = geom_of(TRIBO_SHAPE_BOX, 0.2, 0.2, 0.2, i);
    poses[i] = turned(pose_at(0.2005 * (i % side), 0.2005 * (i / side % side), 0.1 + 0.2 * (i / side / side)), 2,
                      kit_uniform(&r, -1e-3, 1e-3));
    twists[i].v[2] = -0.01;
  }
  TriboColWorld* world;
  TriboColData* data;
  TriboColWorldDef def = {geoms, n + 2, n, NULL, 0};
  TriboColQuery query = {.poses = poses, .twists = twists, .h = 1e-3, .margin = 1e-3};
  TriboColStats stats;
  const TriboContact* contacts;
  int ncontact;
  double broad = INFINITY, narrow = INFINITY;
  quit(tribo_col_world_create(&def, &world));
  quit(tribo_col_data_create(world, &data));
  for (int k = 0; k < REPEATS; ++k) {
    const double start = tribo_now();
    const uint64_t first = query.start = tribo_tick();
    quit(tribo_col_detect(world, data, &query, &contacts, &ncontact, &stats));
    const double tick = (tribo_now() - start) / (double)(tribo_tick() - first);
    broad = fmin(broad, tick * (double)stats.broad_ticks);
    narrow = fmin(narrow, tick * (double)stats.narrow_ticks);
  }
  printf("%5d boxes: %6d pairs, %6d contacts, broad %8.1f us (%.3f per box), narrow %8.1f us (%.3f per box)\n", n,
         stats.pairs, ncontact, 1e6 * broad, 1e6 * broad / n, 1e6 * narrow, 1e6 * narrow / n);
  tribo_col_data_destroy(data);
  tribo_col_world_destroy(world);
  free(geoms);
  free(poses);
  free(twists);
}

int main(void) {
  TriboCoalQuery* query;
  quit(tribo_coal_query_create(&query));
  TriboSolid box = solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, pose_at(0, 0, 0.5));
  double eighth = 0.7853981633974483;
  time_pair(query, "box-box, face on face", box, solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, pose_at(0.1, 0.2, 1.4999)));
  time_pair(query, "box-box, turned 45 degrees", box,
            solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, turned(pose_at(0.01, 0.02, 1.4999), 2, eighth)));
  time_pair(query, "box-box, edge on edge", solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, turned(pose_at(0, 0, 0), 0, eighth)),
            solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, turned(pose_at(0.2, 0.1, 1.4142), 1, eighth)));
  time_pair(query, "box-box, apart", box, solid_of(TRIBO_SHAPE_BOX, 1, 1, 1, pose_at(0.1, 0.2, 1.6)));
  time_pair(query, "sphere-box", solid_of(TRIBO_SHAPE_SPHERE, 0.5, 0, 0, pose_at(0.1, 0.2, 1.4999)), box);
  time_pair(query, "sphere-sphere", solid_of(TRIBO_SHAPE_SPHERE, 0.5, 0, 0, pose_at(0.1, 0.2, 1.4)),
            solid_of(TRIBO_SHAPE_SPHERE, 0.5, 0, 0, pose_at(0, 0.2, 0.45)));
  time_pair(query, "box-capsule, lying", box,
            solid_of(TRIBO_SHAPE_CAPSULE, 0.2, 0.5, 0, turned(pose_at(0, 0, 1.1999), 1, 2 * eighth)));
  time_pair(query, "box-cylinder, standing", box, solid_of(TRIBO_SHAPE_CYLINDER, 0.3, 1, 0, pose_at(0, 0, 1.4999)));
  time_pair(query, "cylinder-cylinder, crossed",
            solid_of(TRIBO_SHAPE_CYLINDER, 0.3, 1, 0, turned(pose_at(0, 0, 0), 0, 2 * eighth)),
            solid_of(TRIBO_SHAPE_CYLINDER, 0.3, 1, 0, turned(pose_at(0.1, 0.1, 0.5999), 1, 2 * eighth)));
  time_pair(query, "ellipsoid-ellipsoid", solid_of(TRIBO_SHAPE_ELLIPSOID, 0.5, 0.4, 0.3, pose_at(0, 0, 0)),
            solid_of(TRIBO_SHAPE_ELLIPSOID, 0.5, 0.4, 0.3, pose_at(0.1, 0.1, 0.59)));
  const int heaps[][2] = {{5, 1}, {5, 2}, {5, 4}, {10, 2}, {10, 10}, {20, 20}};
  for (size_t i = 0; i < sizeof heaps / sizeof *heaps; ++i) {
    time_heap(heaps[i][0], heaps[i][1]);
  }
  tribo_coal_query_destroy(query);
  return 0;
}
