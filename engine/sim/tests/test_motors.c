// Springs, motors and belts against their closed forms.
#include "scenes.h"

static void run(const TriboModel* model, TriboData* data, int steps) {
  for (int i = 0; i < steps; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
  }
}

#define SLIDE(extra)                                                                \
  "world: {gravity: [0, 0, 0]}\n"                                                   \
  "bodies: [{name: block, mass: 2, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}]\n" \
  "joints: [{name: rail, kind: prismatic, parent: world, child: block, axis: [1, 0, 0]" extra "}]\n"

// The implicit midpoint rule turns a linear oscillator by 2 atan(hω/2) per step and keeps its energy.
static void springs_swing_for_ever(void** state) {
  (void)state;
  TriboModel* model = model_of(SLIDE(", stiffness: 50, rest: 0.1, position: 0.4"));
  TriboData* data = data_of(model);
  const double turn = 2 * atan(0.5e-3 * 5), energy = scene_value(model, data, "energy", NULL);
  CHECK_NEAR(energy, 0.5 * 50 * 0.09, 1e-14);
  for (int i = 1; i <= 3000; ++i) {
    run(model, data, 1);
    CHECK_NEAR(scene_value(model, data, "q", "rail"), 0.1 + 0.3 * cos(turn * i), 1e-11);
    CHECK_NEAR(scene_value(model, data, "energy", NULL), energy, 1e-11);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A spring far too stiff for the step: bounded for ever, though each step turns it almost by π.
static void stiff_springs_do_not_explode(void** state) {
  (void)state;
  TriboModel* model = model_of(SLIDE(", stiffness: 1e12, position: 1.0e-3"));
  TriboData* data = data_of(model);
  run(model, data, 2000);
  CHECK_NEAR(scene_value(model, data, "energy", NULL), 0.5e6, 1e-3);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Within its effort an implicit PD goes to its target; beyond it, the effort is all there is.
static void motors_hold_within_their_effort(void** state) {
  (void)state;
  TriboModel* model = model_of(SLIDE(
      "") "motors: [{joint: rail, stiffness: 1.0e5, damping: 2.0e4, target: 0.2,"
          " effort: 10}]\n");
  TriboData* data = data_of(model);
  // full throttle: 5 m/s², and the first step already knows it
  run(model, data, 100);
  CHECK_NEAR(scene_value(model, data, "v", "rail"), 0.5, 1e-12);
  run(model, data, 8000);
  CHECK_NEAR(scene_value(model, data, "q", "rail"), 0.2, 1e-9);
  CHECK_NEAR(scene_value(model, data, "v", "rail"), 0, 1e-9);
  // a new target; a load of half the effort moves it by F/k
  CHECK_OK(tribo_data_set_motor(model, data, 0, -0.3, 0));
  CHECK_OK(tribo_data_set_tau(model, data, &(double){5}));
  run(model, data, 8000);
  CHECK_NEAR(scene_value(model, data, "q", "rail"), -0.3 + 5 / 1e5, 1e-9);
  // a load above the effort wins: (12 − 10)/2 m/s²
  CHECK_OK(tribo_data_set_tau(model, data, &(double){12}));
  run(model, data, 1000);
  CHECK_NEAR(scene_value(model, data, "v", "rail"), 1, 0.02);
  CHECK_FAILS(tribo_data_set_motor(model, data, 1, 0, 0), TRIBO_INVALID, "motor = 1");
  CHECK_FAILS(tribo_data_set_motor(model, data, 0, NAN, 0), TRIBO_INVALID, "must be finite");
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Speed control: q̇ − q̇* falls by 1/(1 + hd/m) per step, whatever the angle, also where it is kept as cosine and sine.
static void motors_control_the_speed(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0]}\n"
      "bodies: [{name: wheel, mass: 1, com: [0, 0, 0], inertia: [1, 1, 0.5, 0, 0, 0]}]\n"
      "joints: [{name: axle, kind: continuous, parent: world, child: wheel}]\n"
      "motors: [{joint: axle, damping: 3, velocity: 20}]\n");
  TriboData* data = data_of(model);
  for (int i = 1; i <= 500; ++i) {
    run(model, data, 1);
    CHECK_NEAR(scene_value(model, data, "v", "axle"), 20 * (1 - pow(1 + 3e-3 / 0.5, -i)), 1e-11);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A box on a belt is dragged with μg until it moves along, and a belt on a moving body pushes that body back.
static void belts_carry_along(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "materials: {default: {friction: 0.2}, slick: {friction: 0}}\n"
      "static: [{name: ice, plane: [0, 0, 1], material: slick}]\n"
      "bodies:\n"
      "  - {name: cart, position: [0, 0, 0.1], box: [4, 1, 0.2], mass: 3, surface: [1, 0, 0]}\n"
      "  - {name: box, position: [0, 0, 0.3], box: [0.2, 0.2, 0.2], mass: 1}\n");
  TriboData* data = data_of(model);
  run(model, data, 100);
  const double a = 0.2 * 9.81, t = 0.1;
  CHECK_NEAR(scene_value(model, data, "velocity.x", "box"), a * t, 1e-9);
  CHECK_NEAR(scene_value(model, data, "velocity.x", "cart"), -a * t / 3, 1e-9);
  // in the end the box moves at 1 m/s against the cart, and their momentum is still 0
  run(model, data, 900);
  CHECK_NEAR(scene_value(model, data, "velocity.x", "box"), 0.75, 1e-9);
  CHECK_NEAR(scene_value(model, data, "velocity.x", "cart"), -0.25, 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Joints with more than one coordinate stop at their limits, each coordinate for itself, and stay there.
static void stops_of_joints_with_more_coordinates(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [3, -2, -9.81]}\n"
      "bodies:\n"
      "  - {name: crate, box: [0.1, 0.1, 0.1], mass: 1}\n"
      "  - {name: sleeve, position: [5, 0, 0], box: [0.1, 0.1, 0.1], omega: [0, 0, 0], mass: 1}\n"
      "  - {name: stick, position: [10, 0, -0.5], box: [0.05, 0.05, 1], mass: 1}\n"
      "joints:\n"
      "  - {name: frame, kind: translation, parent: world, child: crate, lower: -0.3, upper: 0.3}\n"
      "  - {name: pole, kind: cylindrical, parent: world, child: sleeve, anchor: [5, 0, 0], lower: -0.2}\n"
      "  - {name: cross, kind: universal, parent: world, child: stick, anchor: [10, 0, 0], axis: [1, 0, 0],"
      " axis2: [0, 1, 0], lower: -0.1, upper: 0.1}\n");
  TriboData* data = data_of(model);
  run(model, data, 2000);
  CHECK_NEAR(scene_value(model, data, "position.x", "crate"), 0.3, 1e-6);
  CHECK_NEAR(scene_value(model, data, "position.y", "crate"), -0.3, 1e-6);
  CHECK_NEAR(scene_value(model, data, "position.z", "crate"), -0.3, 1e-6);
  CHECK_NEAR(scene_value(model, data, "position.z", "sleeve"), -0.2, 1e-6);
  // gravity pulls the stick to +x and −y: 0.1 rad about both axes
  CHECK_NEAR(scene_value(model, data, "position.x", "stick"), 10 + 0.5 * sin(0.1), 1e-6);
  CHECK_NEAR(scene_value(model, data, "position.y", "stick"), -0.5 * cos(0.1) * sin(0.1), 1e-6);
  CHECK_LE(scene_value(model, data, "speed_max", NULL), 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A ball joint stops at its angle whatever the axis, a planar one at x and y even while it turns.
static void stops_of_ball_and_planar_joints(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [3, -2, -9.81]}\n"
      "bodies:\n"
      "  - {name: stick, position: [0, 0, 0.5], box: [0.05, 0.05, 1], mass: 1}\n"
      "  - {name: puck, position: [5, 0, 0], box: [0.2, 0.1, 0.1], mass: 1, com: [0.05, 0, 0]}\n"
      "joints:\n"
      "  - {name: neck, kind: spherical, parent: world, child: stick, upper: 40 deg}\n"
      "  - {name: table, kind: planar, parent: world, child: puck, anchor: [5, 0, 0], lower: -0.4, upper: 0.3}\n");
  TriboData* data = data_of(model);
  for (int i = 0; i < 4000; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    CHECK_LE(scene_value(model, data, "tilt", "stick"), 40 * M_PI / 180 + 1e-4);
    CHECK_LE(scene_value(model, data, "position.x", "puck"), 5.3 + 1e-4);
    CHECK_LE(-0.4 - 1e-4, scene_value(model, data, "position.y", "puck"));
  }
  // the stick leans on its stop towards where gravity pulls it, with no spin about itself left to gain
  CHECK_NEAR(scene_value(model, data, "tilt", "stick"), 40 * M_PI / 180, 1e-3);
  CHECK_NEAR(scene_value(model, data, "position.x", "puck"), 5.3, 1e-5);
  CHECK_NEAR(scene_value(model, data, "position.y", "puck"), -0.4, 1e-5);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A weight that hangs on an ellipsoid, pulled aside, comes to rest where its three angles stop: the closed form of
// where that is. The pose in which it is given is kept at the start.
static void stops_of_an_ellipsoid_joint(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [3, -2, -9.81]}\n"
      "bodies: [{name: bob, position: [1, 2, 3], rpy: [180 deg, 0, 0], box: [0.1, 0.1, 0.1], mass: 1}]\n"
      "joints: [{name: hip, kind: ellipsoid, parent: world, child: bob, anchor: [1, 2, 3], radii: [0.5, 0.3, 0.4],"
      " lower: -0.1, upper: 0.1, damping: 0.05}]\n");
  TriboData* data = data_of(model);
  CHECK_NEAR(scene_value(model, data, "position.x", "bob"), 1, 1e-14);
  CHECK_NEAR(scene_value(model, data, "position.y", "bob"), 2, 1e-14);
  CHECK_NEAR(scene_value(model, data, "position.z", "bob"), 3, 1e-14);
  for (int i = 0; i < 3000; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
  }
  // its centre is 0.4 m above the bob: y and z of the ellipsoid are turned round. Towards +x it turns about +y; towards
  // −y of the world, +y of the ellipsoid, about −x
  const double s = sin(0.1), c = cos(0.1);
  CHECK_NEAR(scene_value(model, data, "position.x", "bob"), 1 + 0.5 * s, 1e-6);
  CHECK_NEAR(scene_value(model, data, "position.y", "bob"), 2 - 0.3 * s * c, 1e-6);
  CHECK_NEAR(scene_value(model, data, "position.z", "bob"), 3.4 - 0.4 * c * c, 1e-6);
  CHECK_LE(scene_value(model, data, "speed_max", NULL), 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A carriage falls on its stop and rises again to e² of its height.
static void stops_give_back_what_they_should(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "bodies: [{name: box, box: [0.1, 0.1, 0.1], mass: 2}]\n"
      "joints: [{name: rail, kind: prismatic, parent: world, child: box, axis: [0, 0, 1], lower: -0.5037, restitution: "
      "0.6}]\n");
  TriboData* data = data_of(model);
  double top = -1;
  for (int i = 0; i < 700; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
    CHECK_LE(-0.5037 - 1e-9, scene_value(model, data, "q", "rail"));
    if (i > 400) {
      top = fmax(top, scene_value(model, data, "q", "rail"));
    }
  }
  CHECK_NEAR(top, -0.5037 + 0.36 * 0.5037, 1e-5);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(springs_swing_for_ever),
      cmocka_unit_test(stiff_springs_do_not_explode),
      cmocka_unit_test(motors_hold_within_their_effort),
      cmocka_unit_test(motors_control_the_speed),
      cmocka_unit_test(belts_carry_along),
      cmocka_unit_test(stops_of_joints_with_more_coordinates),
      cmocka_unit_test(stops_of_ball_and_planar_joints),
      cmocka_unit_test(stops_of_an_ellipsoid_joint),
      cmocka_unit_test(stops_give_back_what_they_should),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
