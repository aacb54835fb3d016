// The number of threads changes no bit: walls that are hit, piles of all shapes, robots among bodies, and saved states.
// Runs under the thread sanitizer too.
#include "scenes.h"

// Two walls of cubes, each hit by a ball: a few large islands whose contacts change.
static const char* walls =
    "static: [{plane: [0, 0, 1]}]\n"
    "grid:\n"
    "  - {name: a, count: [3, 1, 3], spacing: [1.05, 1, 1], origin: [0, 0, 0.5], box: [1, 1, 1]}\n"
    "  - {name: b, count: [3, 1, 3], spacing: [1.05, 1, 1], origin: [9, 0, 0.5], box: [1, 1, 1]}\n"
    "bodies:\n"
    "  - {name: u, position: [0, -1.2, 1.4], velocity: [0, 8, 0], sphere: 0.5, mass: 5}\n"
    "  - {name: v, position: [9, -1.3, 1.7], velocity: [0, 6, 0], sphere: 0.5, mass: 5}\n";

// Bodies of all kinds that fall on each other: closed forms and Coal, more pairs than one share holds.
static const char* pile =
    "static: [{plane: [0, 0, 1]}]\n"
    "pile: [{name: p, number: 72, columns: 6, pitch: 0.15, layer: 0.13, origin: [0, 0, 0.08], jitter: 0.01, seed: 3,\n"
    "  shapes: [{box: [0.1, 0.1, 0.1]}, {sphere: 0.06}, {capsule: [0.04, 0.06]}, {cylinder: [0.05, 0.1]},\n"
    "    {ellipsoid: [0.06, 0.05, 0.04]}, {cone: [0.05, 0.1]}], mass: 1}]\n";

static const char* cabinet =
    "static: [{plane: [0, 0, 1]}]\n"
    "robots: [{name: left, urdf: %s, position: [-0.5, 0, 0.1]}, {name: right, urdf: %s, position: [0.5, 0, 0.1]}]\n"
    "pile: [{name: p, number: 18, columns: 3, pitch: 0.4, layer: 0.15, origin: [0, 0, 0.3], box: [0.1, 0.1, 0.1]}]\n";

static TriboModel* model_with(const char* text, int threads) {
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(load_text(text, &scene));
  CHECK_OK(tribo_scene_set(scene, "threads", threads));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  return model;
}

// The hash after the steps, with the state taken out and put back into other data half-way; the most islands.
static uint64_t run(const char* text, int threads, int steps, int* islands) {
  TriboModel* model = model_with(text, threads);
  TriboData *data = data_of(model), *other = data_of(model);
  TriboState* half;
  CHECK_OK(tribo_state_create(&half));
  for (int i = 0; i < steps; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, i < steps / 2 ? data : other, &info));
    *islands = info.islands > *islands ? info.islands : *islands;
    if (i + 1 == steps / 2) {
      CHECK_OK(tribo_state_save(model, data, half));
      CHECK_OK(tribo_state_restore(model, other, half));
    }
  }
  const uint64_t hash = tribo_data_hash(model, other);
  tribo_state_destroy(half);
  tribo_data_destroy(data);
  tribo_data_destroy(other);
  tribo_model_destroy(model);
  return hash;
}

static void compare(const char* text, int steps, int least_islands) {
  int islands = 0;
  const uint64_t alone = run(text, 1, steps, &islands);
  CHECK_LE(least_islands, islands);
  assert_true(alone == run(text, 1, steps, &islands));
  for (int threads = 2; threads <= 4; ++threads) {
    assert_true(alone == run(text, threads, steps, &islands));
  }
}

static void walls_that_are_hit(void** state) {
  (void)state;
  compare(walls, 120, 2);
}

static void a_pile_of_all_shapes(void** state) {
  (void)state;
  compare(pile, 160, 6);
}

static char* robot;
static void robots_among_boxes(void** state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, cabinet, robot, robot);
  compare(text, 300, 4);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    return 2;
  }
  robot = realpath(argv[1], NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(walls_that_are_hit),
      cmocka_unit_test(a_pile_of_all_shapes),
      cmocka_unit_test(robots_among_boxes),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(robot);
  return failed;
}
