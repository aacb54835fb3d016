// Overlaps that a scene starts with: undone in time, at a bounded speed, by the least motion; no speed, no energy and
// no force beyond weights comes of it, the centre of mass stays, and what rests feels nothing.
#include "scenes.h"

#define HULL "[[0.1, 0, 0], [-0.1, 0.05, 0], [0, 0.12, 0.02], [0, -0.1, 0.03], [0, 0, 0.12], [0.02, 0.01, -0.1]]"

typedef struct Run {
  double depth[2];  // at the start, at the end [m]
  double fastest;  // most that the deepest overlap shrank in a step, over dt; where it turns, more than its point [m/s]
  double speed;    // largest of all velocities over all steps [m/s, rad/s]
  double force;    // largest of a contact [N]
  double work;     // of pushing out [J]
  int uncertified, growths;
} Run;

static double largest(const TriboModel* model, TriboData* data, TriboField field) {
  TriboView x;
  double most = 0;
  CHECK_OK(tribo_data_view(model, data, field, &x));
  for (int i = 0; i < x.count; ++i) {
    most = fmax(most, fabs(x.values[i]));
  }
  return most;
}

static Run run(const TriboModel* model, TriboData* data, int steps) {
  const double dt = tribo_model_world(model)->dt;
  Run r = {.growths = 0};
  double before = 0;
  for (int i = 0; i < steps; ++i) {
    TriboStepInfo info;
    const TriboContactView* contacts;
    int count;
    CHECK_OK(tribo_step(model, data, &info));
    r.uncertified += !info.certified;
    r.growths += info.growths > 0;
    r.work += info.push_out_work;
    r.fastest = i > 0 ? fmax(r.fastest, (before - info.penetration) / dt) : 0;
    before = info.penetration;
    r.depth[i > 0] = info.penetration;
    r.speed = fmax(r.speed, largest(model, data, TRIBO_FIELD_V));
    CHECK_OK(tribo_data_contacts(model, data, &contacts, &count));
    for (int c = 0; c < count; ++c) {
      const double* f = contacts[c].force;
      r.force = fmax(r.force, sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]));
    }
  }
  return r;
}

// Pairs that float, up to 100 mm deep, boxes and hulls and what has no edges: free of each other within 0.2 s. Nothing
// moves them in the sense of mechanics, and their centre of mass stays.
static void pairs_part_without_moving(void** state) {
  (void)state;
  const char* shapes[][2] = {{"box: [0.2, 0.2, 0.2]", "box: [0.2, 0.15, 0.2]"},
                             {"hull: " HULL, "hull: " HULL},
                             {"hull: " HULL, "box: [0.1, 0.1, 0.1]"},
                             {"sphere: 0.1", "capsule: [0.08, 0.2]"},
                             {"cylinder: [0.1, 0.2]", "ellipsoid: [0.1, 0.08, 0.06]"}};
  for (int k = 0; k < 5; ++k) {
    for (int turn = 0; turn < 4; ++turn) {
      char text[1024];
      snprintf(text, sizeof text,
               "world: {gravity: [0, 0, 0]}\nbodies:\n"
               "  - {name: a, %s, mass: 2, position: [0, 0, 0]}\n"
               "  - {name: b, %s, mass: 1, position: [0.03, %g, 0.09], rpy: [%g, 0.2, 0.5]}\n",
               shapes[k][0], shapes[k][1], 0.01 * turn, 0.7 * turn);
      TriboModel* model = model_of(text);
      TriboData* data = data_of(model);
      const char* along[3] = {"com.x", "com.y", "com.z"};
      double centre[3];
      for (int i = 0; i < 3; ++i) {
        centre[i] = scene_value(model, data, along[i], NULL);
      }
      const Run r = run(model, data, 200);
      CHECK_LE(1e-2, r.depth[0]);
      CHECK_LE(r.depth[1], 2e-5);
      CHECK_LE(r.fastest, 1.5);
      assert_true(r.speed == 0 && r.work == 0);
      assert_int_equal(r.uncertified, 0);
      for (int i = 0; i < 3; ++i) {
        CHECK_NEAR(scene_value(model, data, along[i], NULL), centre[i], 1e-14);
      }
      tribo_data_destroy(data);
      tribo_model_destroy(model);
    }
  }
}

// A stack that starts 10, 40 and 50 mm in itself and the ground: in 0.2 s it stands. What that took is the work against
// weight; velocities and forces stay of the size that weight gives.
static void a_stack_rises_and_rests(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "static: [{plane: [0, 0, 1]}]\nbodies:\n"
      "  - {name: a, box: [0.2, 0.2, 0.2], mass: 2, position: [0, 0, 0.09]}\n"
      "  - {name: b, box: [0.2, 0.2, 0.2], mass: 1, position: [0.02, 0.01, 0.25], rpy: [0, 0, 0.3]}\n"
      "  - {name: c, box: [0.2, 0.2, 0.2], mass: 4, position: [0, 0.01, 0.40], rpy: [0, 0, 0.7]}\n");
  TriboData* data = data_of(model);
  const Run r = run(model, data, 200);
  CHECK_NEAR(r.depth[0], 0.05, 1e-12);
  CHECK_LE(r.depth[1], 5e-6);
  CHECK_LE(r.fastest, 1.5);
  CHECK_LE(r.speed, 0.1);
  CHECK_LE(r.force, 3 * 7 * 9.81);
  assert_int_equal(r.uncertified, 0);
  CHECK_NEAR(r.work, 9.81 * (2 * 0.01 + 1 * 0.05 + 4 * 0.10), 2e-3);
  CHECK_NEAR(scene_value(model, data, "position.z", "c"), 0.5, 1e-5);
  CHECK_LE(largest(model, data, TRIBO_FIELD_V), 1e-6);
  // a second run has the same bits and takes no memory
  const uint64_t hash = tribo_data_hash(model, data);
  tribo_data_reset(model, data);
  assert_int_equal(run(model, data, 200).growths, 0);
  assert_true(hash == tribo_data_hash(model, data));
  // and so has one from a state that was saved on the way
  TriboState* saved;
  CHECK_OK(tribo_state_create(&saved));
  tribo_data_reset(model, data);
  run(model, data, 20);
  CHECK_OK(tribo_state_save(model, data, saved));
  TriboData* other = data_of(model);
  CHECK_OK(tribo_state_restore(model, other, saved));
  run(model, other, 180);
  assert_true(hash == tribo_data_hash(model, other));
  tribo_state_destroy(saved);
  tribo_data_destroy(other);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A box between a floor and a roof that leave it 80 mm too little: it stays in the middle, carries its weight, and
// every step is certified. Where velocities had to part them no step was, and impulses had no bound.
static void what_is_squeezed_stays_calm(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "static: [{plane: [0, 0, 1]}, {box: [1, 1, 0.1], position: [0, 0, 0.17]}]\n"
      "bodies: [{name: box, box: [0.2, 0.2, 0.2], mass: 2, position: [0, 0, 0.06]}]\n");
  TriboData* data = data_of(model);
  const Run r = run(model, data, 500);
  assert_int_equal(r.uncertified, 0);
  CHECK_NEAR(scene_value(model, data, "position.z", "box"), 0.06, 2e-3);
  CHECK_LE(r.force, 2 * 9.81);
  CHECK_LE(r.speed, 1e-2);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static const char* const legs =
    "bodies:\n"
    "  - {name: trunk, box: [0.4, 0.2, 0.1], mass: 8, position: [0, 0, %g]}\n"
    "  - {name: left, box: [0.05, 0.05, 0.3], mass: 1, position: [0, 0.15, %g]}\n"
    "  - {name: right, box: [0.05, 0.05, 0.3], mass: 1, position: [0, -0.15, %g]}\n"
    "joints:\n"
    "  - {name: float, kind: free, parent: world, child: trunk}\n"
    "  - {name: hip_left, kind: revolute, parent: trunk, child: left, anchor: [0, 0.15, %g], axis: [0, 1, 0]}\n"
    "  - {name: hip_right, kind: prismatic, parent: trunk, child: right, anchor: [0, -0.15, %g], axis: [0, 0, 1]}\n"
    "static: [{plane: [0, 0, 1]}]\n";

// A robot 30 mm in the ground: it is lifted as a whole, and its joints keep their angles.
static void a_robot_is_lifted_as_a_whole(void** state) {
  (void)state;
  char text[2048];
  const double z = 0.12;
  snprintf(text, sizeof text, legs, z + 0.2, z, z, z + 0.15, z + 0.15);
  TriboModel* model = model_of(text);
  TriboData* data = data_of(model);
  TriboStepInfo info;
  CHECK_OK(tribo_step(model, data, &info));
  CHECK_NEAR(info.penetration, 0.03, 1e-9);
  for (int i = 0; i < 20; ++i) {
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
  }
  // 20 mm up at 1 m/s; what the slide gave in that time is its weight's
  CHECK_NEAR(scene_value(model, data, "position.z", "left") - z, 0.02, 3e-3);
  CHECK_NEAR(scene_value(model, data, "q", "hip_left"), 0, 1e-3);
  CHECK_LE(fabs(scene_value(model, data, "q", "hip_right")), 5e-3);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Resting contacts, by bits: a box that lies where it should is not touched by another that is pushed out elsewhere.
static void what_rests_feels_nothing(void** state) {
  (void)state;
  const char* resting =
      "static: [{plane: [0, 0, 1]}]\nbodies:\n  - {name: a, box: [0.2, 0.2, 0.2], mass: 2, position: [0, 0, 0.1]}\n";
  char text[512];
  snprintf(text, sizeof text, "%s  - {name: b, box: [0.2, 0.2, 0.2], mass: 2, position: [5, 0, 0.05]}\n", resting);
  TriboModel *one = model_of(resting), *two = model_of(text);
  TriboData *alone = data_of(one), *beside = data_of(two);
  run(one, alone, 150);
  run(two, beside, 150);
  TriboView x, y;
  CHECK_OK(tribo_data_view(one, alone, TRIBO_FIELD_Q, &x));
  CHECK_OK(tribo_data_view(two, beside, TRIBO_FIELD_Q, &y));
  for (int i = 0; i < 7; ++i) {
    assert_true(x.values[i] == y.values[i]);
  }
  CHECK_NEAR(y.values[9], 0.1, 1e-5);
  tribo_data_destroy(alone);
  tribo_data_destroy(beside);
  tribo_model_destroy(one);
  tribo_model_destroy(two);
}

// What a closure ties is pushed out by velocities, and the closure stays shut; who may sleep does not while it is
// moved.
static void closures_stay_shut_and_nobody_sleeps(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "static: [{plane: [0, 0, 1]}]\nbodies:\n"
      "  - {name: a, box: [0.1, 0.1, 0.1], mass: 2, position: [0, 0, 0.04]}\n"
      "  - {name: b, box: [0.1, 0.1, 0.1], mass: 1, position: [0.3, 0, 0.04]}\n"
      "closures: [{kind: hinge, body_a: a, body_b: b, anchor: [0.15, 0, 0.1], axis: [0, 1, 0]}]\n");
  TriboData* data = data_of(model);
  for (int i = 0; i < 200; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    CHECK_LE(info.opening, 1e-9);
  }
  CHECK_LE(0.0999 / 2, scene_value(model, data, "position.z", "a"));
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  model = model_of(
      "world: {sleep: 0.01, sleep_speed: 0.1}\nstatic: [{plane: [0, 0, 1]}]\n"
      "bodies: [{name: box, box: [0.2, 0.2, 0.2], mass: 2, position: [0, 0, 0.05]}]\n");
  data = data_of(model);
  run(model, data, 200);
  CHECK_NEAR(scene_value(model, data, "position.z", "box"), 0.1, 1e-4);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Inverse dynamics reads such steps too: no force is missing, whatever points of a deep face a pair has left out.
static void steps_are_read_backwards(void** state) {
  (void)state;
  char text[2048];
  snprintf(text, sizeof text, legs, 0.32, 0.12, 0.12, 0.27, 0.27);
  const char* scenes[] = {
      text,
      "world: {accept: 1.0e-10}\nstatic: [{plane: [0, 0, 1]}]\nbodies:\n"
      "  - {name: a, box: [0.2, 0.2, 0.2], mass: 2, position: [0, 0, 0.09]}\n"
      "  - {name: b, box: [0.2, 0.2, 0.2], mass: 1, position: [0.02, 0, 0.25], rpy: [0, 0, 0.3]}\n"};
  for (int k = 0; k < 2; ++k) {
    TriboModel* model = model_of(scenes[k]);
    TriboData* data = data_of(model);
    TriboState* before;
    CHECK_OK(tribo_state_create(&before));
    for (int i = 0; i < 30; ++i) {
      double v[18];
      TriboStepInfo info;
      TriboView view;
      TriboInverse inverse;
      const TriboInverseOptions options = tribo_inverse_default();
      CHECK_OK(tribo_state_save(model, data, before));
      CHECK_OK(tribo_step(model, data, &info));
      CHECK_LE(info.residual.nat, 1e-6);
      CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_V, &view));
      assert_true(view.count <= 18);
      memcpy(v, view.values, (size_t)view.count * sizeof *v);
      CHECK_OK(tribo_state_restore(model, data, before));
      CHECK_OK(tribo_inverse_dynamics(model, data, v, &options, &inverse));
      // (deep contacts give way by a thousandth of their mobility, so that forces tell residuals a thousandfold)
      CHECK_LE(inverse.v_error, 1e-7 + 1e4 * info.residual.nat);
      for (int j = 0; j < view.count; ++j) {
        // (speeds below 1e-9 m/s count as none; over the compliance of deep contacts, 1e-4 /kg and a step, that is 0.01
        // N)
        CHECK_NEAR(inverse.tau[j], 0, 0.1);
      }
      CHECK_OK(tribo_state_restore(model, data, before));
      CHECK_OK(tribo_step(model, data, NULL));
    }
    tribo_state_destroy(before);
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_part_without_moving),   cmocka_unit_test(a_stack_rises_and_rests),
      cmocka_unit_test(what_is_squeezed_stays_calm), cmocka_unit_test(a_robot_is_lifted_as_a_whole),
      cmocka_unit_test(what_rests_feels_nothing),    cmocka_unit_test(closures_stay_shut_and_nobody_sleeps),
      cmocka_unit_test(steps_are_read_backwards),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
