// What warm starts save in stacks of 1 m cubes whose load changes at random in every step, by 2 % of the weights:
// factorisations per step through the whole engine.
#include <stdlib.h>

#include "scenes.h"

enum { STEPS = 150, HIT = 20, SEEDS = 6 };
static const double H = 1e-3, WEIGHT = 9.81, NOISE = 0.02, MOST = 1.6, WALL_MOST = 2.6;

static void cube(TriboScene* scene, double mass, double x, double z) {
  TriboBodyDef body = tribo_body_default();
  TriboShapeDef box = tribo_shape_default();
  int id;
  body.mass = mass;
  body.position[0] = x;
  body.position[2] = z;
  box.kind = TRIBO_SHAPE_BOX;
  box.size[0] = box.size[1] = box.size[2] = 1;
  CHECK_OK(tribo_scene_add_body(scene, &body, &id));
  CHECK_OK(tribo_scene_add_shape(scene, id, &box, NULL));
}

// Five cubes, each ten times heavier than the one below; or a pyramid of fifteen, masses 1 … 1e4 in any order, 2 mm
// between the columns. Returns the number of cubes, their masses, the heaviest.
static int build(TriboScene* scene, const char* kind, KitRandom* rng, double* mass, int* heaviest) {
  TriboShapeDef ground = tribo_shape_default();
  int n = 0, order[15];
  ground.kind = TRIBO_SHAPE_HALFSPACE;
  CHECK_OK(tribo_scene_add_shape(scene, TRIBO_WORLD, &ground, NULL));
  for (int i = 0; i < 15; ++i) {
    const int j = kit_int(rng, i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  const int tower = kind[0] == 't';
  for (int r = 0; r < 5; ++r) {
    for (int c = 0; c < (tower ? 1 : 5 - r); ++c, ++n) {
      mass[n] = pow(10, tower ? r : 4 * order[n] / 14.0);
      cube(scene, mass[n], tower ? 0 : (c + .5 * r) * 1.002, .5 + r);
    }
  }
  *heaviest = 0;
  for (int b = 1; b < n; ++b) {
    *heaviest = mass[b] > mass[*heaviest] ? b : *heaviest;
  }
  return n;
}

// The random load of a step; a hit of the heaviest cube is a force that gives it (1, 0.3) m/s in one.
static void load(const TriboModel* model, TriboData* data, KitRandom* rng, int n, const double* mass, int hit) {
  for (int b = 0; b < n; ++b) {
    double f[6];
    for (int i = 0; i < 6; ++i) {
      f[i] = NOISE * WEIGHT * mass[b] * kit_normal(rng);
    }
    f[0] += b == hit ? 1.0 * mass[b] / H : 0;
    f[1] += b == hit ? 0.3 * mass[b] / H : 0;
    CHECK_OK(tribo_data_apply_wrench(model, data, b, f, f + 3));
  }
}

static int compare(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}

// A whole sequence: the mean of its factorisations. The first step, which knows nothing, does not count.
static double run(const char* kind, int hit, int steps, uint64_t seed) {
  KitRandom rng = {seed};
  TriboScene* scene;
  TriboModel* model;
  double mass[15];
  int count[STEPS], sum = 0, heaviest;
  CHECK_OK(tribo_scene_create(&scene));
  const int n = build(scene, kind, &rng, mass, &heaviest);
  CHECK_OK(tribo_scene_set(scene, "dt", H));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  TriboData* data = data_of(model);
  for (int k = 0; k < steps; ++k) {
    TriboStepInfo info;
    load(model, data, &rng, n, mass, hit && k == HIT ? heaviest : -1);
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    CHECK_LE(k > 0 ? info.residual.natmap_unit : 0, 1e-8);
    count[k] = info.factorisations;
    sum += k > 0 ? count[k] : 0;
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  qsort(count + 1, (size_t)steps - 1, sizeof *count, compare);
  printf("%-5s %-4s %2d  factorisations: mean %5.2f  p90 %2d  max %3d\n", kind, hit ? "hit" : "rest", (int)seed,
         (double)sum / (steps - 1), count[1 + (9 * (steps - 1)) / 10], count[steps - 1]);
  return (double)sum / (steps - 1);
}

static void towers_at_rest(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
    CHECK_LE(run("tower", 0, STEPS, seed), MOST);
  }
}

static void towers_hit(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
    CHECK_LE(run("tower", 1, STEPS, seed), MOST);
  }
}

// (masses 1 : 1e4, and one seed is like no other: the mean counts)
static void walls_at_rest(void** state) {
  (void)state;
  double sum = 0;
  for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
    sum += run("wall", 0, 100, seed);
  }
  CHECK_LE(sum / SEEDS, WALL_MOST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(towers_at_rest),
      cmocka_unit_test(towers_hit),
      cmocka_unit_test(walls_at_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
