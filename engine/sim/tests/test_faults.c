// Input that cannot be meant, or only just: a typed error that says why, or a certified answer. Never a NaN, never a
// hang.
#include "scenes.h"

#include <math.h>

// Loading or compiling refuses the scene with these words.
static void refused(const char* text, const char* words) {
  TriboScene* scene = NULL;
  TriboModel* model;
  TriboStatus status = load_text(text, &scene);
  if (status == TRIBO_OK) {
    status = tribo_model_create(scene, &model);
    tribo_scene_destroy(scene);
  }
  CHECK_FAILS(status, TRIBO_INVALID, words);
}

static void nonsense_is_refused(void** state) {
  (void)state;
  refused("bodies: [{name: b, sphere: 1}]\nforces: [{body: b, force: [1.0e300, 0, 0]}]\n", "1e+300 N is outside");
  refused("world: {dt: 0}\n", "dt");
  refused("world: {dt: .nan}\n", "dt");
  refused("world: {dt: -1}\n", "dt");
  refused("bodies: [{name: a, sphere: 0}]\n", "outside the accepted range");
  refused("bodies: [{name: a, box: [1, 1, 0]}]\n", "outside the accepted range");
  refused("bodies: [{name: a, mass: 1, hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}]\n", "flat");
  refused("bodies: [{name: a, sphere: 1, mass: 0}]\n", "mass");
  refused("bodies: [{name: a, sphere: 1, heightfield: [1, 1]}]\n", "'heightfield' beside 'sphere'");
  refused("static: [{heightfield: [1, 1]}]\n", "needs `heights`");
  refused("static: [{heightfield: [1, 1], heights: [[0, 1], [2]]}]\n", "a row of 1, the first one has 2");
  refused("static: [{heightfield: [1, 1], heights: [[0, 1]]}]\n", "at least 2 of 2");
  refused("bodies: [{name: a, mass: 1, heightfield: [1, 1], heights: [[0, 1], [0, 1]]}]\n", "static");
  refused("materials: {skate: {friction: 0, friction2: 0.5}}\n", "friction2 = 0.5 needs a friction above 0");
  // closures that contradict each other
  refused(
      "bodies: [{name: a, sphere: 0.1}, {name: b, position: [1, 0, 0], sphere: 0.1}]\n"
      "joints: [{name: x, kind: revolute, parent: world, child: a}, {name: y, kind: revolute, parent: world, child: "
      "b}]\n"
      "closures: [{kind: mimic, joint_a: x, joint_b: y}, {kind: mimic, joint_a: x, joint_b: y, offset: 1}]\n",
      "contradicts");
  // a step that is none, through the interface
  TriboScene* scene;
  CHECK_OK(tribo_scene_create(&scene));
  CHECK_FAILS(tribo_scene_set(scene, "dt", 0), TRIBO_INVALID, "dt");
  CHECK_FAILS(tribo_scene_set(scene, "dt", NAN), TRIBO_INVALID, "dt");
  tribo_scene_destroy(scene);
}

static void all_finite(const TriboModel* model, TriboData* data) {
  for (int f = TRIBO_FIELD_Q; f <= TRIBO_FIELD_OMEGA; ++f) {
    TriboView view;
    CHECK_OK(tribo_data_view(model, data, (TriboField)f, &view));
    for (int i = 0; i < view.count; ++i) {
      assert_true(isfinite(view.values[i]));
    }
  }
}

// A force that no finite step can follow is an error with the state untouched.
static void a_force_of_1e300_is_told(void** state) {
  (void)state;
  TriboModel* model =
      model_of("static: [{plane: [0, 0, 1]}]\nbodies: [{name: b, position: [0, 0, 0.5], box: [1, 1, 1], mass: 1}]\n");
  TriboData* data = data_of(model);
  const double huge[3] = {1e300, 0, 0}, none[3] = {0, 0, 0};
  CHECK_OK(tribo_step(model, data, NULL));
  CHECK_OK(tribo_data_apply_wrench(model, data, 0, huge, none));
  const uint64_t before = tribo_data_hash(model, data);
  CHECK_FAILS(tribo_step(model, data, NULL), TRIBO_NUMERIC, "1e+297");
  assert_true(before == tribo_data_hash(model, data));
  all_finite(model, data);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// 1 µg under 1000 kg: a velocity of the small one is a difference of impulses that are 1e12 times larger, so rounding
// alone leaves 1e-5 m/s. The answer is as good as that. It is not called certified for being so, as rounding excuses no
// more than 1e-9 m/s, and who insists gets an error.
static void a_mass_ratio_of_1e12(void** state) {
  (void)state;
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(
      load_text("world: {halvings: 0, accept: 1.0e-10}\nstatic: [{plane: [0, 0, 1]}]\n"
                "bodies: [{name: a, position: [0, 0, 0.5], box: [1, 1, 1], mass: 1.0e-9},\n"
                "         {name: b, position: [0, 0, 1.5], box: [1, 1, 1], mass: 1000}]\n",
                &scene));
  CHECK_OK(tribo_model_create(scene, &model));
  TriboData* data = data_of(model);
  int missed = 0;
  for (int i = 0; i < 50; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    missed += !info.certified;
    CHECK_LE(info.residual.nat, 2e-5);
    CHECK_LE(info.residual.floor, 1e-8);
    assert_true(info.residual.nat <= 1e-9 || info.level > TRIBO_LEVEL_EXACT);
  }
  all_finite(model, data);
  TriboView p;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &p));
  assert_true(missed > 0);
  CHECK_NEAR(p.values[5], 1.5, 2e-6);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  CHECK_OK(tribo_scene_set(scene, "must_certify", 1));
  CHECK_OK(tribo_model_create(scene, &model));
  data = data_of(model);
  TriboStatus status = TRIBO_OK;
  for (int i = 0; i < 50 && status == TRIBO_OK; ++i) {
    status = tribo_step(model, data, NULL);
  }
  assert_int_equal(status, TRIBO_NUMERIC);
  assert_non_null(strstr(tribo_last_error(), "the state is as it was"));
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
}

// A box that starts 30 cm in the ground comes out no faster than it may, and rests on it.
static void deep_starts_come_out_gently(void** state) {
  (void)state;
  TriboModel* model =
      model_of("static: [{plane: [0, 0, 1]}]\nbodies: [{name: b, position: [0, 0, 0.2], box: [1, 1, 1], mass: 1}]\n");
  TriboData* data = data_of(model);
  TriboView v;
  for (int i = 0; i < 2000; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_VELOCITY, &v));
    CHECK_LE(v.values[2], 1 + 1e-9);
  }
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &v));
  CHECK_NEAR(v.values[2], 0.5, 2e-6);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A joint that starts beyond its stop is brought back, no faster than a penetration, and stays within.
static void limits_crossed_at_the_start(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0]}\nbodies: [{name: b, box: [1, 1, 1], mass: 1}]\n"
      "joints: [{name: rail, kind: prismatic, parent: world, child: b, axis: [0, 0, 1], upper: 0.5, position: 0.7}]\n");
  TriboData* data = data_of(model);
  TriboView v;
  for (int i = 0; i < 1000; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_V, &v));
    CHECK_LE(fabs(v.values[0]), 1 + 1e-9);
  }
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_Q, &v));
  CHECK_LE(v.values[0], 0.5 + 2e-6);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nonsense_is_refused),         cmocka_unit_test(a_force_of_1e300_is_told),
      cmocka_unit_test(a_mass_ratio_of_1e12),        cmocka_unit_test(deep_starts_come_out_gently),
      cmocka_unit_test(limits_crossed_at_the_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
