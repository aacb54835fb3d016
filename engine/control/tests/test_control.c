// Controllers against closed forms: trajectories, computed torques, gravity, efforts, callbacks.
#include "arm.h"

static void run(const TriboModel* model, TriboData* data, int steps) {
  for (int i = 0; i < steps; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
}

// two bars of an arm in the x-z plane, under gravity

// ë + 2ω ė + ω² e = 0 from e₀ at rest: e = e₀ (1 + ω t) exp(−ω t), in each joint by itself
static void computed_torques_leave_the_error_its_own_equation(void** state) {
  (void)state;
  double last = 0;
  for (int halves = 0; halves < 2; ++halves) {
    TriboModel* model = model_of(halves == 0 ? "world: {dt: 0.002}\n" ARM
                                               "controllers: [{law: computed, stiffness: 25, damping: 10, keyframes: "
                                               "[{at: 0, joints: {shoulder: 1.3, elbow: -0.3}}]}]\n"
                                             : "world: {dt: 0.001}\n" ARM
                                               "controllers: [{law: computed, stiffness: 25, damping: 10, keyframes: "
                                               "[{at: 0, joints: {shoulder: 1.3, elbow: -0.3}}]}]\n");
    TriboData* data = data_of(model);
    run(model, data, halves == 0 ? 150 : 300);
    const double t = 0.3, fraction = (1 + 5 * t) * exp(-5 * t);
    const double error = fabs(scene_value(model, data, "q", "shoulder") - (1.3 - fraction)) +
                         fabs(scene_value(model, data, "q", "elbow") - (-0.3 - 0.5 * fraction));
    CHECK_LE(error, halves == 0 ? 6e-3 : 3e-3);
    // efforts are held over a step: of first order
    if (halves == 1) {
      CHECK_LE(error, 0.6 * last);
    }
    last = error;
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
}

// weight about the shoulder and the elbow, by hand
static void carrying_its_weight_an_arm_stays(void** state) {
  (void)state;
  TriboModel* model = model_of(ARM "controllers: [{law: gravity}]\n");
  TriboData* data = data_of(model);
  run(model, data, 1000);
  CHECK_NEAR(scene_value(model, data, "q", "shoulder"), 0.3, 1e-12);
  CHECK_NEAR(scene_value(model, data, "q", "elbow"), -0.8, 1e-12);
  const double fore = 9.81 * 1 * 0.4 * cos(0.3 - 0.8), up = 9.81 * (2 * 0.5 + 1 * 1) * cos(0.3) + fore;
  CHECK_NEAR(scene_value(model, data, "effort", "elbow"), fore, 1e-10);
  CHECK_NEAR(scene_value(model, data, "effort", "shoulder"), up, 1e-10);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

#define RAIL                                                                    \
  "world: {gravity: [0, 0, 0]}\n"                                               \
  "bodies: [{name: a, mass: 2, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}]\n" \
  "joints: [{name: r, kind: prismatic, parent: world, child: a, axis: [1, 0, 0], effort: 5}]\n"

// a force that grows with the time, 0 … 4 N in a second, then stays: v = t²/m·…, cut off at the joint's 5 N
static void efforts_follow_their_trajectory(void** state) {
  (void)state;
  TriboModel* model =
      model_of(RAIL
               "controllers: [{law: effort, interpolation: linear, keyframes: [{at: 0, joints: {r: 0}}, "
               "{at: 1, joints: {r: 4}}, {at: 2, joints: {r: 4}}, {at: 2.001, joints: {r: 50}}]}]\n");
  TriboData* data = data_of(model);
  run(model, data, 1000);
  CHECK_NEAR(scene_value(model, data, "v", "r"), 0.5 * 4 / 2, 1e-12);
  run(model, data, 1000);
  CHECK_NEAR(scene_value(model, data, "v", "r"), 0.5 * 4 / 2 + 4 / 2, 1e-12);
  run(model, data, 1001);
  CHECK_NEAR(scene_value(model, data, "effort", "r"), 5, 1e-12);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// a cubic stays between its frames, is flat where they are, and its rates are those of its values
static void a_cubic_goes_through_its_frames_and_not_beyond(void** state) {
  (void)state;
  TriboModel* model =
      model_of(RAIL
               "controllers: [{stiffness: 1, damping: 1, keyframes: [{at: 0, joints: {r: 0}}, {at: 1, "
               "joints: {r: 1}}, {at: 2.5, joints: {r: 5}}, {at: 3, joints: {}}, {at: 4, joints: {r: 2}}]}]\n");
  const double times[] = {0, 1, 2.5, 3, 4}, frames[] = {0, 1, 5, 5, 2};
  for (int i = 0; i < 5; ++i) {
    double x, v, low;
    CHECK_OK(tribo_controller_reference(model, 0, 0, times[i], &x, &v, NULL));
    CHECK_NEAR(x, frames[i], 1e-14);
    if (i != 1) {
      CHECK_NEAR(v, 0, 1e-14);
    }
    if (i > 0) {
      for (int k = 1; k < 20; ++k) {
        const double t = times[i - 1] + (times[i] - times[i - 1]) * k / 20, h = 1e-5;
        double a, b, va, vb, c;
        CHECK_OK(tribo_controller_reference(model, 0, 0, t, &x, &v, &c));
        CHECK_OK(tribo_controller_reference(model, 0, 0, t - h, &a, &va, NULL));
        CHECK_OK(tribo_controller_reference(model, 0, 0, t + h, &b, &vb, NULL));
        CHECK_NEAR(v, (b - a) / (2 * h), 1e-8);
        CHECK_NEAR(c, (vb - va) / (2 * h), 1e-6);
        low = fmin(frames[i - 1], frames[i]);
        CHECK_LE(low - x, 1e-14);
        CHECK_LE(x - fmax(frames[i - 1], frames[i]), 1e-14);
      }
    }
  }
  // before and after, it stands
  double x, v;
  CHECK_OK(tribo_controller_reference(model, 0, 0, -1, &x, &v, NULL));
  CHECK_NEAR(x, 0, 0);
  CHECK_OK(tribo_controller_reference(model, 0, 0, 9, &x, &v, NULL));
  CHECK_NEAR(x, 2, 0);
  CHECK_NEAR(v, 0, 0);
  CHECK_FAILS(tribo_controller_reference(model, 1, 0, 0, &x, NULL, NULL), TRIBO_INVALID, "controller = 1");
  CHECK_FAILS(tribo_controller_reference(model, 0, 7, 0, &x, NULL, NULL), TRIBO_NOT_FOUND, "joint 7");
  tribo_model_destroy(model);
}

// stiff motors are where the trajectory is at the end of a step
static void stiff_motors_are_where_the_trajectory_is(void** state) {
  (void)state;
  TriboModel* model =
      model_of(ARM
               "controllers: [{joints: [sh*], stiffness: 1.0e+8, damping: 1, keyframes: [{at: 0, joints: "
               "{shoulder: 0.3}}, {at: 1, joints: {shoulder: 1}}]}, {joints: [elbow], stiffness: 1.0e+8}]\n");
  TriboData* data = data_of(model);
  assert_int_equal(tribo_model_size(model).nmotor, 2);
  for (int i = 1; i <= 1000; ++i) {
    double x;
    run(model, data, 1);
    CHECK_OK(tribo_controller_reference(model, 0, 0, 1e-3 * i, &x, NULL, NULL));
    CHECK_NEAR(scene_value(model, data, "q", "shoulder"), x, 1e-5);
    CHECK_NEAR(scene_value(model, data, "q", "elbow"), -0.8, 1e-5);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static TriboStatus pull(const TriboModel* model, TriboData* data, void* user) {
  int* calls = user;
  TriboView v;
  TriboStatus status = tribo_data_view(model, data, TRIBO_FIELD_V, &v);
  const double tau = -2 * v.values[0];
  (*calls)++;
  status = *calls > 1000 ? TRIBO_INVALID : status;
  return status == TRIBO_OK ? tribo_data_set_tau(model, data, &tau) : status;
}

// a damper by callback: v⁺ = v − h d v/m; where it fails, the step fails and nothing has happened
static void a_callback_steers_every_step(void** state) {
  (void)state;
  TriboModel* model = model_of(RAIL);
  TriboData* data = data_of(model);
  const double q = 0, v = 1;
  int calls = 0;
  CHECK_OK(tribo_data_set_state(model, data, &q, &v));
  CHECK_OK(tribo_data_set_control(model, data, pull, &calls));
  run(model, data, 1000);
  CHECK_NEAR(scene_value(model, data, "v", "r"), pow(1 - 1e-3, 1000), 1e-12);
  assert_int_equal(calls, 1000);
  const uint64_t before = tribo_data_hash(model, data);
  assert_int_equal(tribo_step(model, data, NULL), TRIBO_INVALID);
  assert_true(tribo_data_hash(model, data) == before);
  CHECK_OK(tribo_data_set_control(model, data, NULL, NULL));
  run(model, data, 1);
  assert_int_equal(calls, 1001);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static uint64_t hash_after(TriboScene* scene, int steps) {
  TriboModel* model;
  CHECK_OK(tribo_model_create(scene, &model));
  TriboData* data = data_of(model);
  run(model, data, steps);
  const uint64_t hash = tribo_data_hash(model, data);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  return hash;
}

// a trajectory of a file is that of the same keyframes, and what is written reads back to the same
static void files_and_keyframes_say_the_same(void** state) {
  (void)state;
  static const char table[] = "t, shoulder, elbow  # two joints\n0, 0.3, -0.8\n\n0.5, 0.6, -0.2\n";
  char *csv = text_file(table, sizeof table - 1, ".csv"), *copy = text_file("", 0, ".yaml"), text[2048];
  snprintf(text, sizeof text, ARM "controllers: [{stiffness: 900, damping: 30, trajectory: %s}]\n", csv);
  TriboScene *from_file, *from_frames, *read_back;
  CHECK_OK(load_text(text, &from_file));
  CHECK_OK(load_text(ARM
                     "controllers: [{stiffness: 900, damping: 30, keyframes: [{at: 0, joints: {}}, {at: 0.5, joints: "
                     "{shoulder: 0.6, elbow: -0.2}}]}]\n",
                     &from_frames));
  CHECK_OK(tribo_scene_save(from_frames, copy));
  CHECK_OK(tribo_scene_load(copy, NULL, &read_back));
  const uint64_t hash = hash_after(from_file, 600);
  assert_true(hash_after(from_frames, 600) == hash);
  assert_true(hash_after(read_back, 600) == hash);
  // what is wrong in a file is told with its line
  TriboControllerDef def = tribo_controller_default();
  static const char* const wrong[][2] = {{"t, a\n0, 1\n1, x\n", ":3: 'x'"},
                                         {"t, a\n0, 1, 2\n", ":2: 3 numbers under 2 names"},
                                         {"time, a\n", ":1: column 1"},
                                         {"t, a\n", "no frame"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    char* bad = text_file(wrong[i][0], strlen(wrong[i][0]), ".csv");
    CHECK_FAILS(tribo_scene_read_trajectory(from_file, bad, &def), TRIBO_INVALID, wrong[i][1]);
    unlink(bad);
    free(bad);
  }
  tribo_scene_destroy(from_file);
  tribo_scene_destroy(from_frames);
  tribo_scene_destroy(read_back);
  unlink(csv);
  unlink(copy);
  free(csv);
  free(copy);
}

static void wrong_controllers_are_refused_at_their_line(void** state) {
  (void)state;
  refuses("{stiffness: 0}", "need one of them");
  refuses("{law: gravity, stiffness: 3}", "have none");
  refuses("{law: effort}", "needs a trajectory");
  refuses("{joints: [knee], stiffness: 1}", "no joint 'knee'");
  refuses("{robot: talos, stiffness: 1}", "talos");
  refuses("{law: computed, joints: [elbow], stiffness: 1}", "'shoulder'");
  refuses("{stiffness: 1, keyframes: [{at: 1, joints: {elbow: 0}}, {at: 1, joints: {elbow: 0}}]}", "later");
  refuses("{stiffness: 1, joints: [elbow], keyframes: [{at: 1, joints: {shoulder: 0}}]}", "does not drive");
  refuses("{stiffness: 1, keyframes: [{joints: {elbow: 0}}]}", "`at`");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(computed_torques_leave_the_error_its_own_equation),
      cmocka_unit_test(carrying_its_weight_an_arm_stays),
      cmocka_unit_test(efforts_follow_their_trajectory),
      cmocka_unit_test(a_cubic_goes_through_its_frames_and_not_beyond),
      cmocka_unit_test(stiff_motors_are_where_the_trajectory_is),
      cmocka_unit_test(a_callback_steers_every_step),
      cmocka_unit_test(files_and_keyframes_say_the_same),
      cmocka_unit_test(wrong_controllers_are_refused_at_their_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
