// What a step does when it is hard: divide itself, look again where impulses drive things elsewhere, or fail cleanly.
#include "scenes.h"

#include <math.h>
#include <time.h>

// A four-bar of free bars, with a step so long that it turns by radians in one.
static const char* fourbar =
    "bodies:\n"
    "  - {name: crank, position: [0.05, 0, 0.0866025403784438647], rpy: [0, -60 deg, 0], box: [0.2, 0.02, 0.02], mass: "
    "1,\n"
    "     group: 0, mask: 0}\n"
    "  - {name: coupler, position: [0.35373120076363773, 0, 0.2792497777437839], rpy: [0, -0.3958765353043746, 0],\n"
    "     box: [0.55, 0.02, 0.02], mass: 1, group: 0, mask: 0}\n"
    "  - {name: rocker, position: [0.5537312007636377, 0, 0.19264723736534], rpy: [0, -1.2987988598356468, 0],\n"
    "     box: [0.4, 0.02, 0.02], mass: 1, group: 0, mask: 0}\n"
    "closures:\n"
    "  - {name: A, kind: hinge, body_b: crank, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: B, kind: hinge, body_a: crank, body_b: coupler, anchor: [0.1, 0, 0.17320508075688773], axis: [0, 1, "
    "0]}\n"
    "  - {name: C, kind: hinge, body_a: coupler, body_b: rocker, anchor: [0.6074624015272754, 0, 0.38529447473068],\n"
    "     axis: [0, 1, 0]}\n"
    "  - {name: D, kind: hinge, body_b: rocker, anchor: [0.5, 0, 0], axis: [0, 1, 0]}\n";

static TriboModel* model_with(const char* text, double dt, double halvings, double must_certify) {
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(load_text(text, &scene));
  CHECK_OK(tribo_scene_set(scene, "dt", dt));
  CHECK_OK(tribo_scene_set(scene, "halvings", halvings));
  CHECK_OK(tribo_scene_set(scene, "must_certify", must_certify));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  return model;
}

typedef struct Run {
  int missed, divided, growths;
  uint64_t hash;
} Run;

static Run run(const TriboModel* model, TriboData* data, int steps) {
  Run r = {0};
  for (int i = 0; i < steps; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.substeps >= 1);
    CHECK_LE(info.opening, 1e-9);
    r.missed += !info.certified;
    r.divided += info.substeps > 1;
    r.growths += (int)info.growths;
  }
  r.hash = tribo_data_hash(model, data);
  return r;
}

// Steps of 0.5 s are far too long for the hinges and for the energy of the bars: for the sake of its motion a step is
// divided whatever `halvings` says, and all are certified.
static void a_hard_step_is_divided(void** state) {
  (void)state;
  TriboModel *whole = model_with(fourbar, 0.5, 0, 0), *parts = model_with(fourbar, 0.5, 4, 0);
  TriboData *one = data_of(whole), *many = data_of(parts);
  Run r = run(whole, one, 200);
  assert_int_equal(r.missed, 0);
  Run first = run(parts, many, 200);
  assert_int_equal(first.missed, 0);
  assert_true(first.divided > 0);
  // time is that of whole steps, and a second run has the same bits and takes no memory
  CHECK_NEAR(tribo_data_time(many), 100, 1e-12);
  tribo_data_reset(parts, many);
  Run again = run(parts, many, 200);
  assert_true(again.hash == first.hash);
  assert_int_equal(again.growths, 0);
  tribo_data_destroy(one);
  tribo_data_destroy(many);
  tribo_model_destroy(whole);
  tribo_model_destroy(parts);
}

// Where nothing certifies a step and that is asked for, it fails by its name and changes nothing.
static void a_step_that_must_be_certified_fails_cleanly(void** state) {
  (void)state;
  TriboModel* model = model_with(
      "static: [{name: left, box: [1, 1, 1], position: [-0.9, 0, 0]}, {name: right, box: [1, 1, 1], position: [0.9, 0, "
      "0]}]\n"
      "bodies: [{name: ball, sphere: 0.5, mass: 1}, {name: bob, sphere: 0.1, mass: 0.1, position: [0, 0, -1]}]\n"
      "closures: [{kind: ball, body_a: ball, body_b: bob, anchor: [0, 0, -0.8]}]\n",
      1e-3, 2, 1);
  TriboData* data = data_of(model);
  const uint64_t before = tribo_data_hash(model, data);
  TriboStepInfo info;
  CHECK_FAILS(tribo_step(model, data, &info), TRIBO_NUMERIC, "– ball");
  assert_non_null(strstr(tribo_last_error(), "the state is as it was"));
  assert_true(before == tribo_data_hash(model, data));
  CHECK_NEAR(tribo_data_time(data), 0, 0);
  assert_false(info.certified);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A heavy ball at 20 m/s hits the first of two cubes, 8 mm before the second: within that step the first would be
// thrown 12 mm into it.
static void impulses_bring_contacts_about(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0]}\n"
      "bodies:\n"
      "  - {name: ball, position: [-1.005, 0, 0], velocity: [20, 0, 0], sphere: 0.5, mass: 1000}\n"
      "  - {name: near, position: [0, 0, 0], box: [1, 1, 1], mass: 1}\n"
      "  - {name: far, position: [1.008, 0, 0], box: [1, 1, 1], mass: 1}\n");
  TriboData* data = data_of(model);
  int redetections = 0;
  for (int i = 0; i < 20; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    CHECK_LE(info.penetration, 1e-6);
    redetections += info.redetections;
  }
  assert_true(redetections >= 1);
  // all three go on together: 1000 · 20 / 1002
  TriboView v;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_VELOCITY, &v));
  for (int k = 0; k < 3; ++k) {
    CHECK_NEAR(v.values[3 * k], 20000.0 / 1002, 1e-9);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hard_step_is_divided),
      cmocka_unit_test(a_step_that_must_be_certified_fails_cleanly),
      cmocka_unit_test(impulses_bring_contacts_about),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
