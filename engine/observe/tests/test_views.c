// What viewers and tools look at: joint axes, motors, closures' anchors, islands, the clock, residuals as they fall.
#include "scenes.h"

static const TriboJointInfo* joint_of(const TriboModel* model, const char* name) {
  int id;
  CHECK_OK(tribo_model_joint_id(model, name, &id));
  return tribo_model_joint(model, id);
}

static void check3(const double a[3], double x, double y, double z) {
  CHECK_NEAR(a[0], x, 1e-12);
  CHECK_NEAR(a[1], y, 1e-12);
  CHECK_NEAR(a[2], z, 1e-12);
}

// A shoulder about y that starts turned, a slider on the arm along (3, 4, 0)/5 and a ball at its end; the slider's body
// stands on its side, so that its axes are not the world's.
static void joints_say_where_they_turn(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "bodies:\n"
      "  - {name: arm, position: [1, 0, 0], box: [0.1, 0.1, 0.1]}\n"
      "  - {name: cart, position: [2, 0, 0], rpy: [0, 0, 1.5707963267948966], box: [0.1, 0.1, 0.1]}\n"
      "  - {name: tip, position: [3, 0, 0], box: [0.1, 0.1, 0.1]}\n"
      "joints:\n"
      "  - {name: shoulder, kind: revolute, parent: world, child: arm, anchor: [0.5, 0, 0], axis: [0, 2, 0],"
      " position: 0.7}\n"
      "  - {name: rail, kind: prismatic, parent: arm, child: cart, anchor: [2, 0, 0.25], axis: [3, 4, 0]}\n"
      "  - {name: ball, kind: spherical, parent: cart, child: tip, anchor: [2.5, 0, 0]}\n"
      "motors: [{joint: rail, stiffness: 7, damping: 2, target: 0.3}]\n");
  const TriboJointInfo *shoulder = joint_of(model, "shoulder"), *rail = joint_of(model, "rail"),
                       *ball = joint_of(model, "ball");
  assert_int_equal(shoulder->parent, TRIBO_WORLD);
  assert_int_equal(rail->parent, shoulder->body);
  check3(shoulder->anchor, -0.5, 0, 0);
  check3(shoulder->axis, 0, 1, 0);
  // a quarter turn about z: the body's x is the world's y
  check3(rail->anchor, 0, 0, 0.25);
  check3(rail->axis, 0.8, -0.6, 0);
  check3(ball->anchor, -0.5, 0, 0);
  check3(ball->axis, 0, 0, 0);
  const TriboMotorInfo* motor = tribo_model_motor(model, 0);
  assert_ptr_equal(tribo_model_joint(model, motor->joint), rail);
  CHECK_NEAR(motor->target, 0.3, 0);
  CHECK_NEAR(motor->stiffness, 7, 0);
  assert_null(tribo_model_motor(model, 1));
  tribo_model_destroy(model);
}

static void closures_say_what_they_hold(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "bodies: [{name: a, position: [0, 0, 1], box: [0.1, 0.1, 0.1]}, {name: b, position: [3, 0, 1], sphere: 0.1}]\n"
      "closures: [{name: rod, kind: distance, body_a: a, body_b: b, anchor: [0.5, 0, 1], anchor2: [3, 0, 1.1]},"
      " {name: pin, kind: ball, body_a: b, anchor: [3, 2, 1]}]\n");
  const TriboClosureInfo *rod = tribo_model_closure(model, 0), *pin = tribo_model_closure(model, 1);
  check3(rod->anchor_a, 0.5, 0, 0);
  check3(rod->anchor_b, 0, 0, 0.1);
  check3(pin->anchor_a, 0, 2, 0);
  assert_int_equal(pin->body_b, TRIBO_WORLD);
  check3(pin->anchor_b, 3, 2, 1);
  tribo_model_destroy(model);
}

static int island_of(const TriboModel* model, const TriboData* data, const char* name) {
  int body, island;
  CHECK_OK(tribo_model_body_id(model, name, &body));
  CHECK_OK(tribo_data_island(model, data, body, &island));
  return island;
}

static int calls, most;

static void count(int iteration, TriboRung rung, double nat, double natmap_unit, void* user) {
  (void)rung, (void)natmap_unit;
  assert_ptr_equal(user, &calls);
  assert_true(nat >= 0);
  calls++;
  most = iteration > most ? iteration : most;
}

static void islands_friction_and_history(void** state) {
  (void)state;
  // two boxes on each other, one apart, one in the air
  TriboModel* model = model_of(
      "materials: {default: {friction: 0.3}}\nstatic: [{plane: [0, 0, 1]}]\nbodies:\n"
      "  - {name: low, position: [0, 0, 0.1], box: [0.2, 0.2, 0.2]}\n"
      "  - {name: high, position: [0, 0, 0.3], box: [0.2, 0.2, 0.2]}\n"
      "  - {name: apart, position: [5, 0, 0.1], box: [0.2, 0.2, 0.2], velocity: [1, 0, 0]}\n"
      "  - {name: flies, position: [9, 0, 3], box: [0.2, 0.2, 0.2]}\n");
  TriboData* data = data_of(model);
  assert_int_equal(island_of(model, data, "low"), -1);
  CHECK_OK(tribo_data_set_history(model, data, count, &calls));
  TriboStepInfo info;
  CHECK_OK(tribo_step(model, data, &info));
  assert_true(calls > 0 && most <= info.iterations);
  CHECK_OK(tribo_data_set_history(model, data, NULL, NULL));
  calls = 0;
  CHECK_OK(tribo_step(model, data, &info));
  assert_int_equal(calls, 0);
  assert_int_equal(island_of(model, data, "low"), island_of(model, data, "high"));
  assert_true(island_of(model, data, "low") >= 0 && island_of(model, data, "apart") >= 0);
  assert_true(island_of(model, data, "low") != island_of(model, data, "apart"));
  assert_int_equal(island_of(model, data, "flies"), -1);
  const TriboContactView* contacts;
  int n;
  CHECK_OK(tribo_data_contacts(model, data, &contacts, &n));
  for (int i = 0; i < n; ++i) {
    CHECK_NEAR(contacts[i].friction, 0.3, 1e-15);
  }
  CHECK_FAILS(tribo_data_island(model, data, 4, &n), TRIBO_INVALID, "body = 4");
  tribo_data_reset(model, data);
  assert_int_equal(island_of(model, data, "low"), -1);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void the_clock_can_be_set(void** state) {
  (void)state;
  TriboModel* model = model_of("world: {dt: 0.01}\nbodies: [{name: a, sphere: 1}]\n");
  TriboData* data = data_of(model);
  CHECK_OK(tribo_data_set_time(model, data, 2.004));
  CHECK_NEAR(tribo_data_time(data), 2, 1e-15);
  CHECK_OK(tribo_step(model, data, NULL));
  CHECK_NEAR(tribo_data_time(data), 2.01, 1e-15);
  CHECK_FAILS(tribo_data_set_time(model, data, -1), TRIBO_INVALID, "time = -1");
  CHECK_FAILS(tribo_data_set_time(model, data, NAN), TRIBO_INVALID, "accepted are");
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joints_say_where_they_turn),
      cmocka_unit_test(closures_say_what_they_hold),
      cmocka_unit_test(islands_friction_and_history),
      cmocka_unit_test(the_clock_can_be_set),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
