// The step as a user sees it: certified, repeatable to the bit, and without effect when it fails.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "scenes.h"
#include "timer.h"

static const char* tower =
    "static: [{plane: [0, 0, 1]}]\n"
    "grid: [{name: c, count: [1, 1, 4], spacing: [1, 1, 1], origin: [0, 0, 0.5], box: [1, 1, 1],"
    " mass: {first: 1, factor: 10, by: layer}}]\n"
    "bodies: [{name: ball, position: [0, 3, 4.6], velocity: [0, -4, 0], sphere: 0.4, mass: 500}]\n";

static uint64_t run(const TriboModel* model, TriboData* data, int steps) {
  TriboStepInfo info;
  for (int i = 0; i < steps; ++i) {
    CHECK_OK(tribo_step(model, data, &info));
  }
  return tribo_data_hash(model, data);
}

static void same_bits_again_and_after_restore(void** state) {
  (void)state;
  TriboModel* model = model_of(tower);
  TriboData *a = data_of(model), *b = data_of(model);
  TriboState* saved;
  CHECK_OK(tribo_state_create(&saved));
  // the ball hits in between: warm starts and modes matter
  run(model, a, 500);
  CHECK_OK(tribo_state_save(model, a, saved));
  uint64_t hash = run(model, a, 300);
  assert_true(hash == run(model, b, 800));
  // into used data, and after a reset
  CHECK_OK(tribo_state_restore(model, b, saved));
  CHECK_NEAR(tribo_data_time(b), 0.5, 1e-12);
  assert_true(hash == run(model, b, 300));
  tribo_data_reset(model, b);
  assert_true(hash == run(model, b, 800));
  tribo_state_destroy(saved);
  tribo_data_destroy(a);
  tribo_data_destroy(b);
  tribo_model_destroy(model);
}

static void stages_share_the_time(void** state) {
  (void)state;
  TriboModel* model = model_of(tower);
  TriboData* data = data_of(model);
  for (int step = 0; step < 20; ++step) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    double sum = 0;
    for (int i = 0; i < TRIBO_STAGE_COUNT; ++i) {
      CHECK_LE(0, info.stage[i]);
      sum += info.stage[i];
    }
    CHECK_LE(sum, info.time * (1 + 1e-9));
    CHECK_LE(1e-8, sum);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Steps are timed by ticks whose length the clock tells now and then: together they take what the clock says.
static void times_are_those_of_the_clock(void** state) {
  (void)state;
  TriboModel* model = model_of(tower);
  TriboData* data = data_of(model);
  double sum = 0, begin = tribo_now();
  for (int step = 0; step < 1000; ++step) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    sum += info.time;
  }
  const double all = tribo_now() - begin;
  CHECK_LE(sum, 2 * all);
  CHECK_LE(0.1 * all, sum);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void thread_count_changes_nothing(void** state) {
  (void)state;
  // nine towers: nine islands
  uint64_t first = 0;
  for (int threads = 1; threads <= 4; ++threads) {
    TriboScene* scene;
    TriboModel* model;
    CHECK_OK(
        load_text("static: [{plane: [0, 0, 1]}]\n"
                  "grid: [{name: c, count: [3, 3, 3], spacing: [2, 2, 1.01], origin: [0, 0, 0.5], box: [1, 1, 1]}]\n",
                  &scene));
    CHECK_OK(tribo_scene_set(scene, "threads", threads));
    CHECK_OK(tribo_model_create(scene, &model));
    TriboData* data = data_of(model);
    uint64_t hash = run(model, data, 100);
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_int_equal(info.islands, 9);
    first = threads == 1 ? hash : first;
    assert_true(hash == first);
    tribo_data_destroy(data);
    tribo_model_destroy(model);
    tribo_scene_destroy(scene);
  }
}

// A tower that is all there is, and one beside a ball in flight, are the same island.
static void what_is_apart_changes_nothing(void** state) {
  (void)state;
  static const char* const flights[] = {"", "bodies: [{name: ball, position: [9, 9, 9], sphere: 0.1}]\n"};
  double q[2][28];
  for (int i = 0; i < 2; ++i) {
    char text[400];
    snprintf(text, sizeof text,
             "static: [{plane: [0, 0, 1]}]\n"
             "grid: [{name: c, count: [1, 1, 4], spacing: [1, 1, 1.01], origin: [0, 0, 0.5], box: [1, 1, 1]}]\n%s",
             flights[i]);
    TriboModel* model = model_of(text);
    TriboData* data = data_of(model);
    TriboView view;
    run(model, data, 200);
    CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_Q, &view));
    for (int body = 0, n = 0; n < 4; ++body) {
      const TriboBodyInfo* info = tribo_model_body(model, body);
      if (strcmp(info->name, "ball") != 0) {
        memcpy(q[i] + 7 * n++, view.values + info->q_at, 7 * sizeof(double));
      }
    }
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
  assert_memory_equal(q[0], q[1], sizeof q[0]);
}

// The impulses of a box at rest are found once and then stay, bit for bit.
static void what_rests_keeps_its_forces(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [1, 0.5, -9.81]}\n"
      "static: [{plane: [0, 0, 1]}]\n"
      "bodies: [{name: a, position: [0, 0, 0.1], box: [1, 1, 0.2]}]\n");
  TriboData* data = data_of(model);
  double first[12] = {0};
  for (int step = 0; step < 220; ++step) {
    const TriboContactView* views;
    int count;
    run(model, data, 1);
    CHECK_OK(tribo_data_contacts(model, data, &views, &count));
    if (step >= 200) {
      for (int i = 0; i < 4; ++i) {
        assert_int_equal(count, 4);
        if (step == 200) {
          memcpy(first + 3 * i, views[i].force, 3 * sizeof(double));
        }
        assert_memory_equal(first + 3 * i, views[i].force, 3 * sizeof(double));
      }
    }
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void second_run_grows_nothing(void** state) {
  (void)state;
  TriboModel* model = model_of(tower);
  TriboData* data = data_of(model);
  run(model, data, 700);
  tribo_data_reset(model, data);
  for (int i = 0; i < 700; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_int_equal(info.growths, 0);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void a_failed_step_leaves_the_state(void** state) {
  (void)state;
  TriboModel* model = model_of(tower);
  TriboData* data = data_of(model);
  run(model, data, 10);
  uint64_t before = tribo_data_hash(model, data);
  // a force that leaves the finite numbers
  int ball;
  CHECK_OK(tribo_model_body_id(model, "ball", &ball));
  const double huge[3] = {1e308, 0, 0}, none[3] = {0, 0, 0};
  CHECK_OK(tribo_data_apply_wrench(model, data, ball, huge, none));
  CHECK_OK(tribo_data_apply_wrench(model, data, ball, huge, none));
  assert_int_equal(tribo_step(model, data, NULL), TRIBO_NUMERIC);
  assert_true(before == tribo_data_hash(model, data));
  CHECK_NEAR(tribo_data_time(data), 0.01, 1e-15);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void wrong_arguments_are_refused(void** state) {
  (void)state;
  TriboModel *model = model_of(tower), *other = model_of("bodies: [{name: a, sphere: 1}]\n");
  TriboData* data = data_of(model);
  TriboView view;
  const double nan3[3] = {NAN, 0, 0}, none[3] = {0, 0, 0};
  CHECK_FAILS(tribo_step(other, data, NULL), TRIBO_INVALID, "not made for this model");
  CHECK_FAILS(tribo_data_view(model, data, (TriboField)99, &view), TRIBO_INVALID, "field = 99");
  CHECK_FAILS(tribo_data_apply_wrench(model, data, 17, none, none), TRIBO_INVALID, "body = 17");
  CHECK_FAILS(tribo_data_apply_wrench(model, data, 0, nan3, none), TRIBO_INVALID, "finite");
  double* tau = calloc((size_t)tribo_model_size(model).nv, sizeof *tau);
  tau[3] = INFINITY;
  CHECK_FAILS(tribo_data_set_tau(model, data, tau), TRIBO_INVALID, "finite");
  free(tau);
  // a missing pointer is named
  TriboScene* scene = NULL;
  CHECK_FAILS(tribo_scene_load(NULL, NULL, &scene), TRIBO_INVALID, "tribo_scene_load: path is NULL");
  CHECK_FAILS(tribo_scene_add_body(NULL, NULL, NULL), TRIBO_INVALID, "scene is NULL");
  CHECK_FAILS(tribo_model_create(NULL, NULL), TRIBO_INVALID, "scene is NULL");
  CHECK_FAILS(tribo_step(model, NULL, NULL), TRIBO_INVALID, "not made for this model");
  CHECK_FAILS(tribo_data_view(model, data, TRIBO_FIELD_Q, NULL), TRIBO_INVALID, "view is NULL");
  int id;
  CHECK_FAILS(tribo_model_body_id(model, NULL, &id), TRIBO_INVALID, "name is NULL");
  CHECK_FAILS(tribo_model_body_id(model, "bal", &id), TRIBO_NOT_FOUND, "did you mean 'ball'?");
  assert_null(tribo_model_body(model, -1));
  assert_null(tribo_model_shape(model, 1000));
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  tribo_model_destroy(other);
}

static void a_budget_is_honoured(void** state) {
  (void)state;
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(load_text(tower, &scene));
  CHECK_OK(tribo_scene_set(scene, "step_budget", 1e-9));
  CHECK_OK(tribo_model_create(scene, &model));
  TriboData* data = data_of(model);
  TriboStepInfo info;
  CHECK_OK(tribo_step(model, data, &info));
  // nothing can be solved in a nanosecond: the step says so instead of pretending
  assert_int_equal(info.outcome, TRIBO_TIME_OUT);
  assert_false(info.certified);
  assert_true(info.worst[0] != '\0');
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
}

// Writes a number at a place behind the header of a state file, and the checksum that fits.
static void forge(const char* path, size_t at, int32_t number) {
  enum { HEADER = 120, CHECKSUM = 112 };
  static char bytes[1 << 16];
  FILE* file = fopen(path, "r+b");
  const size_t count = fread(bytes, 1, sizeof bytes, file);
  assert_true(count > HEADER + at && count < sizeof bytes);
  memcpy(bytes + HEADER + at, &number, sizeof number);
  const uint64_t hash = tribo_hash(TRIBO_HASH_START, bytes + HEADER, count - HEADER);
  memcpy(bytes + CHECKSUM, &hash, sizeof hash);
  rewind(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  fclose(file);
}

static void states_are_checked(void** state) {
  (void)state;
  TriboModel *model = model_of(tower), *other = model_of("bodies: [{name: a, sphere: 1}]\n");
  TriboData *data = data_of(model), *alien = data_of(other);
  TriboState* saved;
  CHECK_OK(tribo_state_create(&saved));
  CHECK_FAILS(tribo_state_restore(model, data, saved), TRIBO_INVALID, "empty");
  run(model, data, 20);
  CHECK_OK(tribo_state_save(model, data, saved));
  CHECK_FAILS(tribo_state_restore(other, alien, saved), TRIBO_INVALID, "another model");
  char path[] = "/tmp/tribo-state-XXXXXX";
  close(mkstemp(path));
  CHECK_OK(tribo_state_write(saved, path));
  uint64_t hash = run(model, data, 20);
  CHECK_OK(tribo_state_read(path, saved));
  CHECK_OK(tribo_state_restore(model, data, saved));
  assert_true(hash == run(model, data, 20));
  // every damaged byte, every cut is seen; the state in memory stays what it was
  FILE* file = fopen(path, "r+b");
  fseek(file, 200, SEEK_SET);
  int byte = fgetc(file);
  fseek(file, 200, SEEK_SET);
  fputc(byte ^ 1, file);
  fclose(file);
  CHECK_FAILS(tribo_state_read(path, saved), TRIBO_INVALID, "checksum");
  assert_int_equal(truncate(path, 150), 0);
  CHECK_FAILS(tribo_state_read(path, saved), TRIBO_INVALID, "cut short");
  file = fopen(path, "wb");
  fprintf(file, "%200s", "not a state");
  fclose(file);
  CHECK_FAILS(tribo_state_read(path, saved), TRIBO_INVALID, "not a Tribo state");
  CHECK_OK(tribo_state_restore(model, data, saved));
  assert_true(hash == run(model, data, 20));
  CHECK_FAILS(tribo_state_write(saved, "/nowhere/state"), TRIBO_IO, "/nowhere/state");
  // one that is whole, and in its first contact speaks of a shape that is not there
  CHECK_OK(tribo_state_write(saved, path));
  const TriboModelSize size = tribo_model_size(model);
  forge(path, 8 * (size_t)(size.nq + size.nv) + 8, 1 << 20);
  CHECK_OK(tribo_state_read(path, saved));
  CHECK_FAILS(tribo_state_restore(model, data, saved), TRIBO_INVALID, "constraint 0");
  unlink(path);
  tribo_state_destroy(saved);
  tribo_data_destroy(data);
  tribo_data_destroy(alien);
  tribo_model_destroy(model);
  tribo_model_destroy(other);
}

// A ball between two walls that both demand to push it out by velocities, because a closure ties it to another body: no
// rigid answer exists. The step says so, and stays calm.
static void contradictions_are_told_and_bounded(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "static: [{box: [1, 1, 1], position: [-0.9, 0, 0]}, {box: [1, 1, 1], position: [0.9, 0, 0]}]\n"
      "bodies: [{name: ball, sphere: 0.5, mass: 1}, {name: bob, sphere: 0.1, mass: 0.1, position: [0, 0, -1]}]\n"
      "closures: [{kind: ball, body_a: ball, body_b: bob, anchor: [0, 0, -0.8]}]\n");
  TriboData* data = data_of(model);
  TriboStepInfo info;
  CHECK_OK(tribo_step(model, data, &info));
  assert_false(info.certified);
  assert_int_equal(info.relaxed, 1);
  assert_int_equal(info.outcome, TRIBO_RELAXED);
  assert_int_equal(info.reason, TRIBO_REASON_CONTRADICTION);
  CHECK_LE(info.factorisations, 30);
  for (int i = 0; i < 200; ++i) {
    CHECK_OK(tribo_step(model, data, &info));
    TriboView v;
    CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_VELOCITY, &v));
    CHECK_LE(fabs(v.values[0]) + fabs(v.values[2]), 10);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// One model serves several threads, each with its own data.
static void* run_thread(void* argument) {
  void** pair = argument;
  static _Thread_local uint64_t hash;
  TriboData* data = pair[1];
  for (int i = 0; i < 300; ++i) {
    if (tribo_step(pair[0], data, NULL) != TRIBO_OK) {
      return NULL;
    }
  }
  hash = tribo_data_hash(pair[0], data);
  pair[2] = (void*)(uintptr_t)hash;
  return pair;
}

static void a_model_is_shared_between_threads(void** state) {
  (void)state;
  TriboModel* model = model_of(tower);
  void* work[3][3];
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    work[i][0] = model;
    work[i][1] = data_of(model);
    work[i][2] = NULL;
    assert_int_equal(pthread_create(&threads[i], NULL, run_thread, work[i]), 0);
  }
  for (int i = 0; i < 3; ++i) {
    pthread_join(threads[i], NULL);
    assert_true(work[i][2] != NULL && work[i][2] == work[0][2]);
    tribo_data_destroy(work[i][1]);
  }
  tribo_model_destroy(model);
}

static void contacts_carry_the_weight(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "static: [{plane: [0, 0, 1]}]\nbodies: [{name: b, position: [0, 0, 0.25], box: [1, 1, 0.5], mass: 3}]\n");
  TriboData* data = data_of(model);
  run(model, data, 20);
  const TriboContactView* contacts;
  int n;
  CHECK_OK(tribo_data_contacts(model, data, &contacts, &n));
  assert_int_equal(n, 4);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    assert_int_equal(contacts[i].mode, TRIBO_CONTACT_STICK);
    CHECK_NEAR(fabs(contacts[i].point[0]), 0.5, 1e-9);
    CHECK_NEAR(contacts[i].normal[2], 1, 1e-15);
    sum += contacts[i].force[2];
  }
  CHECK_NEAR(sum, 3 * 9.81, 1e-9);
  TriboMechanics m;
  CHECK_OK(tribo_data_mechanics(model, data, &m));
  CHECK_NEAR(m.mass, 3, 1e-15);
  CHECK_NEAR(m.potential, 3 * 9.81 * 0.25, 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// a cart is hit; what slides on it has a stop 1 cm away, which only the blow of this very step makes it reach
static void a_blow_does_not_carry_a_joint_through_its_stop(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0]}\n"
      "bodies:\n"
      "  - {name: cart, box: [0.2, 0.2, 0.2], mass: 1}\n"
      "  - {name: load, position: [0, 0, 0.5], box: [0.1, 0.1, 0.1], mass: 1}\n"
      "  - {name: ball, position: [-0.25, 0, 0], sphere: 0.1, mass: 5, velocity: [40, 0, 0]}\n"
      "joints:\n"
      "  - {name: rail, kind: prismatic, parent: world, child: cart, axis: [1, 0, 0]}\n"
      "  - {name: slide, kind: prismatic, parent: cart, child: load, axis: [1, 0, 0], lower: -0.01, upper: 0.01}\n");
  TriboData* data = data_of(model);
  int id, redetections = 0;
  CHECK_OK(tribo_model_joint_id(model, "slide", &id));
  for (int i = 0; i < 20; ++i) {
    TriboStepInfo info;
    TriboView q;
    CHECK_OK(tribo_step(model, data, &info));
    CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_Q, &q));
    CHECK_LE(fabs(q.values[tribo_model_joint(model, id)->q_at]), 0.01 + 1e-12);
    assert_true(info.certified);
    redetections += info.redetections;
  }
  assert_true(redetections > 0);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A foot whose leg turns below the ground it stands on lifts the rail that carries the leg. In every step it bends away
// from its tangent by ½h²ω²r = 0.1 mm, into the ground. (Half of that at most where it begins to last.)
static void a_turning_leg_stays_above_the_ground(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "materials: {default: {friction: 0}}\n"
      "static: [{plane: [0, 0, 1]}]\n"
      "bodies:\n"
      "  - {name: rail, position: [0, 0, -0.49], mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
      "  - {name: leg, position: [0, 0, -0.49], mass: 1, com: [0, 0, 0], inertia: [50, 50, 50, 0, 0, 0],"
      " shapes: [{box: [0.02, 0.02, 0.02], position: [0, 0, 0.5]}]}\n"
      "joints:\n"
      "  - {name: up, kind: prismatic, parent: world, child: rail, axis: [0, 0, 1]}\n"
      "  - {name: hip, kind: revolute, parent: rail, child: leg, anchor: [0, 0, -0.49], axis: [0, 1, 0],"
      " velocity: 20}\n");
  TriboData* data = data_of(model);
  double deepest = 0;
  for (int i = 0; i < 45; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    deepest = fmax(deepest, info.penetration);
    assert_true(info.certified);
  }
  CHECK_LE(deepest, 5e-5);
  // it has stood on it all the time: the rail is as high as the leg is tilted
  const double angle = scene_value(model, data, "q", "hip");
  CHECK_LE(0.7, angle);
  CHECK_NEAR(scene_value(model, data, "position.z", "rail"), 0.01 * (cos(angle) + sin(angle)) - 0.5 * cos(angle), 1e-4);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_blow_does_not_carry_a_joint_through_its_stop),
      cmocka_unit_test(same_bits_again_and_after_restore),
      cmocka_unit_test(stages_share_the_time),
      cmocka_unit_test(times_are_those_of_the_clock),
      cmocka_unit_test(thread_count_changes_nothing),
      cmocka_unit_test(what_is_apart_changes_nothing),
      cmocka_unit_test(what_rests_keeps_its_forces),
      cmocka_unit_test(second_run_grows_nothing),
      cmocka_unit_test(a_failed_step_leaves_the_state),
      cmocka_unit_test(wrong_arguments_are_refused),
      cmocka_unit_test(a_budget_is_honoured),
      cmocka_unit_test(states_are_checked),
      cmocka_unit_test(a_model_is_shared_between_threads),
      cmocka_unit_test(a_turning_leg_stays_above_the_ground),
      cmocka_unit_test(contacts_carry_the_weight),
      cmocka_unit_test(contradictions_are_told_and_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
