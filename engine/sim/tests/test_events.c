// Events and sensors against what mechanics says they must be.
#include "scenes.h"

static const double G = 9.81, centre[3] = {0}, upright[4] = {0, 0, 0, 1};

static void step(const TriboModel* model, TriboData* data, int count) {
  for (int i = 0; i < count; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
}

static int body_of(const TriboModel* model, const char* name) {
  int id;
  CHECK_OK(tribo_model_body_id(model, name, &id));
  return id;
}

static void check3(const double a[3], double x, double y, double z, double tol) {
  CHECK_NEAR(a[0], x, tol);
  CHECK_NEAR(a[1], y, tol);
  CHECK_NEAR(a[2], z, tol);
}

// The only event, or NULL when there is none.
static const TriboContactEvent* event_of(const TriboModel* model, const TriboData* data) {
  const TriboContactEvent* events;
  int count;
  CHECK_OK(tribo_data_events(model, data, &events, &count));
  CHECK_LE(count, 1);
  return count == 1 ? events : NULL;
}

static const char* drop =
    "static: [{plane: [0, 0, 1]}]\n"
    "bodies: [{name: box, position: [0, 0, 0.6], box: [1, 1, 1], mass: 2}]\n";

// A box falls 0.1 m: one event begins, with its momentum; then it carries the weight; then it is taken away.
static void a_box_lands_stays_and_leaves(void** state) {
  (void)state;
  TriboModel* model = model_of(drop);
  TriboData* data = data_of(model);
  TriboState* saved;
  CHECK_OK(tribo_state_create(&saved));
  assert_null(event_of(model, data));
  int steps = 0;
  while (event_of(model, data) == NULL && steps < 1000) {
    step(model, data, 1);
    steps++;
  }
  const TriboContactEvent* e = event_of(model, data);
  assert_true(e->began && !e->ended);
  assert_int_equal(e->body_a, TRIBO_WORLD);
  assert_int_equal(e->body_b, 0);
  CHECK_NEAR(e->pressure, e->impulse[2], 1e-12);
  // fallen 0.1 m, its speed is √(2 g s); it is slowed so as to touch at the end of a step, and stopped in the next one
  const double first = e->impulse[2];
  step(model, data, 1);
  CHECK_NEAR(first + event_of(model, data)->impulse[2], 2 * sqrt(2 * G * 0.1), 2 * 2 * G * 1e-3);
  CHECK_OK(tribo_state_save(model, data, saved));
  step(model, data, 200);
  e = event_of(model, data);
  assert_true(!e->began && !e->ended);
  check3(e->impulse, 0, 0, 2 * G * 1e-3, 1e-9);
  check3(e->point, 0, 0, 0, 1e-6);
  // what was restored has no last step, and goes on as it was: nothing begins anew
  CHECK_OK(tribo_state_restore(model, data, saved));
  assert_null(event_of(model, data));
  step(model, data, 1);
  assert_false(event_of(model, data)->began);
  step(model, data, 1);
  CHECK_OK(tribo_data_teleport(model, data, 0, (const double[]){0, 0, 5}, upright, NULL, NULL));
  step(model, data, 1);
  // (its contact was forgotten with its place)
  assert_null(event_of(model, data));
  TriboView p;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &p));
  check3(p.values, 0, 0, 5 - 0.5 * G * 1e-6, 1e-12);
  tribo_state_destroy(saved);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A ball that bounces: the pair ends when it has left.
static void a_ball_that_bounces_ends_its_contact(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "materials: {default: {restitution: 1, friction: 0}}\nstatic: [{plane: [0, 0, 1]}]\n"
      "bodies: [{name: ball, position: [0, 0, 0.6], sphere: 0.5, mass: 3}]\n");
  TriboData* data = data_of(model);
  double given = 0;
  int began = 0, ended = 0;
  for (int i = 0; i < 260; ++i) {
    step(model, data, 1);
    const TriboContactEvent* e = event_of(model, data);
    if (e != NULL) {
      began += e->began;
      ended += e->ended;
      given += e->impulse[2];
    }
  }
  assert_int_equal(began, 1);
  assert_int_equal(ended, 1);
  // it turns its momentum around
  CHECK_NEAR(given, 2 * 3 * sqrt(2 * G * 0.1), 2 * 3 * G * 2e-3);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Two boxes on each other, the upper one off the middle: forces and torques balance gravity, body by body.
static void contacts_hold_what_gravity_pulls(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "static: [{name: floor, plane: [0, 0, 1]}]\n"
      "bodies: [{name: low, position: [0, 0, 0.5], box: [1, 1, 1], mass: 2},"
      " {name: top, position: [0.2, 0, 1.5], box: [1, 1, 1], mass: 5}]\n");
  TriboData* data = data_of(model);
  step(model, data, 50);
  for (int i = 0; i < 2; ++i) {
    double force[3], torque[3];
    CHECK_OK(tribo_data_contact_wrench(model, data, i, force, torque));
    check3(force, 0, 0, G * tribo_model_body(model, i)->mass, 1e-6);
    check3(torque, 0, 0, 0, 1e-6);
  }
  double press;
  CHECK_OK(tribo_data_touch(model, data, 0, &press));
  CHECK_NEAR(press, 7 * G, 1e-6);
  CHECK_FAILS(tribo_data_touch(model, data, 9, &press), TRIBO_INVALID, "shape = 9");
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// At rest an accelerometer shows −g, in free fall nothing, on a wheel the way to its axis.
static void an_imu_shows_what_it_feels(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "static: [{plane: [0, 0, 1]}]\n"
      "bodies: [{name: box, position: [0, 0, 0.5], box: [1, 1, 1], mass: 2},"
      " {name: wheel, position: [0, 0, 50], box: [1, 1, 1], mass: 2, omega: [0, 0, 4]}]\n");
  TriboData* data = data_of(model);
  TriboImu imu;
  const double r[3] = {0.3, 0, 0}, turned[4] = {0, sqrt(0.5), 0, sqrt(0.5)};
  CHECK_FAILS(tribo_data_imu(model, data, 0, centre, upright, &imu), TRIBO_STATE, "no step yet");
  step(model, data, 20);
  CHECK_OK(tribo_data_imu(model, data, body_of(model, "box"), centre, turned, &imu));
  check3(imu.accelerometer, -G, 0, 0, 1e-6);
  check3(imu.gyroscope, 0, 0, 0, 1e-9);
  CHECK_OK(tribo_data_imu(model, data, body_of(model, "wheel"), centre, upright, &imu));
  check3(imu.accelerometer, 0, 0, 0, 1e-9);
  CHECK_OK(tribo_data_imu(model, data, body_of(model, "wheel"), r, upright, &imu));
  // a mean over the step, in axes of its end: the direction lags by half of the step's turn
  check3(imu.accelerometer, -16 * 0.3, 0, 0, 16 * 0.3 * 4 * 1e-3);
  check3(imu.gyroscope, 0, 0, 4, 1e-9);
  TriboFrame frame;
  CHECK_OK(tribo_data_frame(model, data, body_of(model, "wheel"), r, upright, &frame));
  const double angle = 4 * 0.02;
  check3(frame.position, 0.3 * cos(angle), 0.3 * sin(angle), 50 - 0.5 * G * 4e-4, 1e-6);
  check3(frame.velocity, -1.2 * sin(angle), 1.2 * cos(angle), -G * 0.02, 1e-5);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A bob on a rod: the pin carries m (g cos θ + l θ̇²) along it. A beam on a vertical axis: its weight, and its moment.
static void a_joint_carries_what_hangs_on_it(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "bodies: [{name: bob, position: [0, 0, -1], sphere: 0.1, mass: 3},"
      " {name: beam, position: [5.5, 0, 0], box: [1, 0.1, 0.1], mass: 4},"
      " {name: load, position: [6, 0, 0.1], box: [0.1, 0.1, 0.1], mass: 1}]\n"
      "joints: [{name: pin, kind: revolute, parent: world, child: bob, anchor: [0, 0, 0], axis: [0, 1, 0],"
      " velocity: 2}, {name: post, kind: revolute, parent: world, child: beam, anchor: [5, 0, 0], axis: [0, 0, 1]},"
      " {name: hook, kind: revolute, parent: beam, child: load, anchor: [6, 0, 0], axis: [0, 0, 1]}]\n"
      "world: {dt: 1.0e-4}\n");
  TriboData* data = data_of(model);
  double force[3], torque[3];
  int pin, post;
  CHECK_OK(tribo_model_joint_id(model, "pin", &pin));
  CHECK_OK(tribo_model_joint_id(model, "post", &post));
  step(model, data, 1);
  CHECK_OK(tribo_data_joint_wrench(model, data, pin, force, torque));
  check3(force, 0, 0, 3 * (G + 4), 0.02);
  check3(torque, 0, 0, 0, 0.01);
  CHECK_OK(tribo_data_joint_wrench(model, data, post, force, torque));
  check3(force, 0, 0, 5 * G, 1e-6);
  // r × F of the weights, taken up by the post: m g l about −y
  check3(torque, 0, -(4 * 0.5 + 1 * 1) * G, 0, 1e-6);
  // a push on the beam's end is felt too
  const double push[3] = {0, 0, -7}, end[3] = {6, 0, 0};
  CHECK_OK(tribo_data_apply_force(model, data, body_of(model, "beam"), push, end));
  step(model, data, 1);
  CHECK_OK(tribo_data_joint_wrench(model, data, post, force, torque));
  check3(force, 0, 0, 5 * G + 7, 1e-6);
  check3(torque, 0, -3 * G - 7, 0, 1e-6);
  CHECK_FAILS(tribo_data_teleport(model, data, body_of(model, "beam"), centre, upright, NULL, NULL), TRIBO_UNSUPPORTED,
              "held by joints");
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void a_force_at_a_point_turns(void** state) {
  (void)state;
  TriboModel* model = model_of("bodies: [{name: box, position: [1, 2, 3], box: [1, 1, 1], mass: 2}]\n");
  TriboData *a = data_of(model), *b = data_of(model);
  const double f[3] = {0, 3, 0}, t[3] = {0, 0, 1.5}, at[3] = {1.5, 2, 3};
  CHECK_OK(tribo_data_apply_force(model, a, 0, f, at));
  CHECK_OK(tribo_data_apply_wrench(model, b, 0, f, t));
  step(model, a, 1);
  step(model, b, 1);
  assert_true(tribo_data_hash(model, a) == tribo_data_hash(model, b));
  tribo_data_destroy(a);
  tribo_data_destroy(b);
  tribo_model_destroy(model);
}

static void states_have_names(void** state) {
  (void)state;
  TriboModel* model = model_of(drop);
  TriboData* data = data_of(model);
  CHECK_OK(tribo_data_snapshot(model, data, "start"));
  step(model, data, 150);
  CHECK_OK(tribo_data_snapshot(model, data, "landed"));
  step(model, data, 50);
  const uint64_t later = tribo_data_hash(model, data);
  CHECK_OK(tribo_data_restore_snapshot(model, data, "landed"));
  CHECK_NEAR(tribo_data_time(data), 0.15, 1e-12);
  step(model, data, 50);
  assert_true(later == tribo_data_hash(model, data));
  CHECK_OK(tribo_data_restore_snapshot(model, data, "start"));
  CHECK_OK(tribo_data_snapshot(model, data, "landed"));
  step(model, data, 200);
  assert_true(later == tribo_data_hash(model, data));
  CHECK_OK(tribo_data_restore_snapshot(model, data, "landed"));
  CHECK_NEAR(tribo_data_time(data), 0, 0);
  CHECK_FAILS(tribo_data_restore_snapshot(model, data, "sunk"), TRIBO_NOT_FOUND, "'sunk'");
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// The lower of two boxes is taken away: the upper one falls; put back on top, it rests there. The same after a restore.
static void bodies_come_and_go(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "static: [{plane: [0, 0, 1]}]\n"
      "bodies: [{name: low, position: [0, 0, 0.5], box: [1, 1, 1], mass: 2},"
      " {name: top, position: [0, 0, 1.5], box: [1, 1, 1], mass: 5}]\n");
  TriboData* data = data_of(model);
  TriboMechanics m;
  TriboView p;
  step(model, data, 20);
  CHECK_FAILS(tribo_data_add_body(model, data, 0, centre, upright, NULL, NULL), TRIBO_STATE, "there already");
  CHECK_OK(tribo_data_remove_body(model, data, 0));
  CHECK_FAILS(tribo_data_remove_body(model, data, 0), TRIBO_STATE, "not there");
  CHECK_OK(tribo_data_mechanics(model, data, &m));
  CHECK_NEAR(m.mass, 5, 1e-12);
  CHECK_NEAR(m.potential, 5 * G * 1.5, 1e-6);
  CHECK_NEAR(m.com[2], 1.5, 1e-6);
  step(model, data, 100);
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &p));
  CHECK_NEAR(p.values[2], 0.5, 1e-9);
  CHECK_NEAR(p.values[5], 1.5 - 0.5 * G * 0.01, 1e-6);
  CHECK_OK(tribo_data_snapshot(model, data, "falling"));
  step(model, data, 500);
  const uint64_t rest = tribo_data_hash(model, data);
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &p));
  CHECK_NEAR(p.values[5], 0.5, 1e-5);
  CHECK_OK(tribo_data_add_body(model, data, 0, (const double[]){0, 0, 1.51}, upright, NULL, NULL));
  step(model, data, 500);
  double force[3], torque[3];
  CHECK_OK(tribo_data_contact_wrench(model, data, 0, force, torque));
  check3(force, 0, 0, 2 * G, 1e-6);
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &p));
  CHECK_NEAR(p.values[2], 1.5, 1e-4);
  // restored, it is gone again
  CHECK_OK(tribo_data_restore_snapshot(model, data, "falling"));
  step(model, data, 500);
  assert_true(rest == tribo_data_hash(model, data));
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_lands_stays_and_leaves),
      cmocka_unit_test(a_ball_that_bounces_ends_its_contact),
      cmocka_unit_test(contacts_hold_what_gravity_pulls),
      cmocka_unit_test(an_imu_shows_what_it_feels),
      cmocka_unit_test(a_joint_carries_what_hangs_on_it),
      cmocka_unit_test(a_force_at_a_point_turns),
      cmocka_unit_test(states_have_names),
      cmocka_unit_test(bodies_come_and_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
