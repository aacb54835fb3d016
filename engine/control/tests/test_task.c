// Tasks against closed forms: errors with an equation of their own, forces, slip and lift-off that nobody ordered,
// bounds; and what is refused.
#include "arm.h"

static void run(const TriboModel* model, TriboData* data, double time) {
  const int steps = (int)lround(time / tribo_model_world(model)->dt);
  for (int i = 0; i < steps; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
}

// two bars of an arm in the x-z plane, under gravity; its end is at (1.8, 0, 0)

// a block of 2 kg on the floor, on rails along x and z: drives "x" and "z"
#define BLOCK                                                                                   \
  "materials: {default: {friction: 0.5}}\n"                                                     \
  "static: [{plane: [0, 0, 1]}]\n"                                                              \
  "bodies:\n"                                                                                   \
  "  - {name: cart, position: [0, 0, 0.1], box: [0.1, 0.1, 0.1], mass: 1, group: 0, mask: 0}\n" \
  "  - {name: block, position: [0, 0, 0.1], sphere: 0.1, mass: 1}\n"                            \
  "joints:\n"                                                                                   \
  "  - {name: x, kind: prismatic, parent: world, child: cart, axis: [1, 0, 0]}\n"               \
  "  - {name: z, kind: prismatic, parent: cart, child: block, axis: [0, 0, 1]}\n"

static double distance_after(const char* text, double time, const char* body, const char* axis) {
  TriboModel* model = model_of(text);
  TriboData* data = data_of(model);
  run(model, data, time);
  const double at = scene_value(model, data, axis, body);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  return at;
}

// e = e₀ (1 + ω t) exp(−ω t) for damping 2ω and stiffness ω², of the arm's end in x and z
static void errors_have_an_equation_of_their_own(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {dt: 0.0005}\n" ARM
      "controllers: [{law: task, effort: 1000, tasks: [{kind: position, of: lower, stiffness: 25, damping: 10, "
      "axes: [x, z], relative: true, keyframes: [{at: 0, position: [-0.1, 0, 0.2]}]}]}]\n");
  TriboData* data = data_of(model);
  const double x = scene_value(model, data, "position.x", "lower"), z = scene_value(model, data, "position.z", "lower");
  run(model, data, 0.3);
  const double left = (1 + 5 * 0.3) * exp(-5 * 0.3);
  CHECK_NEAR(scene_value(model, data, "position.x", "lower"), x - 0.1 * (1 - left), 3e-3);
  CHECK_NEAR(scene_value(model, data, "position.z", "lower"), z + 0.2 * (1 - left), 3e-3);
  CHECK_NEAR(scene_value(model, data, "task.error", "controller0/position"), hypot(0.1, 0.2) * left, 3e-3);
  CHECK_LE(scene_value(model, data, "plan_error", NULL), 2e-2);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void a_centre_of_mass_and_a_speed_follow(void** state) {
  (void)state;
  TriboModel* model =
      model_of("world: {dt: 0.001, gravity: [0, 0, 0]}\n" ARM
               "controllers: [{law: task, effort: 1000, tasks: [{kind: com, stiffness: 400, damping: 40, axes: [x, z], "
               "relative: true, keyframes: [{at: 0}, {at: 0.5, position: [-0.1, 0, 0.1]}]}]}]\n");
  TriboData* data = data_of(model);
  const double x = scene_value(model, data, "com.x", NULL), z = scene_value(model, data, "com.z", NULL);
  run(model, data, 0.8);
  CHECK_NEAR(scene_value(model, data, "com.x", NULL), x - 0.1, 1e-4);
  CHECK_NEAR(scene_value(model, data, "com.z", NULL), z + 0.1, 1e-4);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  const char* fast = "world: {dt: 0.001}\n" ARM
                     "controllers: [{law: task, effort: 1000, tasks: [{kind: velocity, of: lower, damping: 200, axes: "
                     "[x, z], keyframes: "
                     "[{at: 0, linear: [0, 0, 0.5]}]}]}]\n";
  model = model_of(fast);
  data = data_of(model);
  run(model, data, 0.2);
  CHECK_NEAR(scene_value(model, data, "velocity.z", "lower"), 0.5, 5e-3);
  CHECK_NEAR(scene_value(model, data, "velocity.x", "lower"), 0, 5e-3);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// wanted: 3 m/s² along x. Sliding costs μ m g = 4.905 N for the block's own weight, and no schedule says that it
// slides.
static void a_block_slides_when_told_to_move(void** state) {
  (void)state;
  const char* text = "world: {dt: 0.001}\n" BLOCK
                     "controllers: [{law: task, joints: [x], effort: 100, tasks: [{kind: position, of: block, axes: "
                     "[x], stiffness: 100, "
                     "damping: 20, relative: true, keyframes: [{at: 0}, {at: 1, position: [0.5, 0, 0]}]}]}]\n";
  TriboModel* model = model_of(text);
  TriboData* data = data_of(model);
  run(model, data, 0.5);
  CHECK_NEAR(scene_value(model, data, "qpcc.modes", NULL), 2, 0);
  CHECK_NEAR(scene_value(model, data, "contact_force.x", "block"), -0.5 * 9.81, 1e-9);
  run(model, data, 1);
  CHECK_NEAR(scene_value(model, data, "position.x", "block"), 0.5, 1e-3);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  // told that contacts stick, it stays; with less effort than friction it stays too
  char stick[2048];
  snprintf(stick, sizeof stick, "%s", text);
  memcpy(strstr(stick, "effort: 100,"), "effort: 004,", 12);
  CHECK_NEAR(distance_after(stick, 1, "block", "position.x"), 0, 1e-9);
  model = model_of(text);
  data = data_of(model);
  CHECK_OK(tribo_data_set_task_contacts(model, data, TRIBO_TASK_CONTACTS_STICK));
  run(model, data, 1);
  CHECK_NEAR(scene_value(model, data, "position.x", "block"), 0, 1e-9);
  CHECK_FAILS(tribo_data_set_task_contacts(model, data, (TriboTaskContacts)9), TRIBO_INVALID, "contacts = 9");
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A force that is asked for is there, and a height above the floor is reached: the contact breaks by itself.
static void a_force_is_pressed_and_a_height_reached(void** state) {
  (void)state;
  TriboModel* model =
      model_of("world: {dt: 0.001}\n" BLOCK
               "controllers: [{law: task, effort: 100, tasks: [{kind: force, of: block, normal: 30, ramp: 0.1}, "
               "{kind: posture, stiffness: 100, damping: 20, weight: 1.0e-2}]}]\n");
  TriboData* data = data_of(model);
  run(model, data, 0.3);
  CHECK_NEAR(scene_value(model, data, "task.force", "controller0/force"), 30, 1e-3);
  CHECK_NEAR(scene_value(model, data, "contact_force.z", "block"), 30, 1e-3);
  CHECK_NEAR(scene_value(model, data, "qpcc.modes", NULL), 3, 0);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  model = model_of("world: {dt: 0.001}\n" BLOCK
                   "controllers: [{law: task, effort: 100, tasks: [{kind: position, of: block, axes: [x, z], "
                   "stiffness: 400, damping: 40, "
                   "relative: true, keyframes: [{at: 0}, {at: 0.5, position: [0, 0, 0.2]}]}]}]\n");
  data = data_of(model);
  run(model, data, 1);
  CHECK_NEAR(scene_value(model, data, "position.z", "block"), 0.3, 1e-3);
  CHECK_NEAR(scene_value(model, data, "contact_force", NULL), 0, 0);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void efforts_stay_within_their_bounds(void** state) {
  (void)state;
  TriboModel* model =
      model_of("world: {dt: 0.001}\n" ARM
               "controllers: [{law: task, effort: 12, tasks: [{kind: position, of: lower, stiffness: 400, damping: 40, "
               "axes: [x, z], relative: true, keyframes: [{at: 0, position: [0, 0, 5]}]}]}]\n");
  TriboData* data = data_of(model);
  double most = 0;
  for (int i = 0; i < 100; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
    most = fmax(most, fabs(scene_value(model, data, "effort", "shoulder")));
    most = fmax(most, fabs(scene_value(model, data, "effort", "elbow")));
  }
  CHECK_NEAR(most, 12, 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void wrong_tasks_are_refused_at_their_line(void** state) {
  (void)state;
  refuses("{law: task}", "needs tasks");
  refuses("{law: pd, stiffness: 1, tasks: [{kind: com}]}", "the others have none");
  refuses("{law: task, stiffness: 1, tasks: [{kind: com}]}", "have none");
  refuses("{law: task, tasks: [{kind: dance}]}", "dance");
  refuses("{law: task, tasks: [{kind: pose}]}", "needs `of`");
  refuses("{law: task, tasks: [{kind: com, of: lower}]}", "has no `of`");
  refuses("{law: task, tasks: [{kind: pose, of: hand}]}", "no body 'hand'");
  refuses("{law: task, tasks: [{kind: com}, {kind: com}]}", "two tasks are called 'com'");
  refuses("{law: task, tasks: [{kind: com, axes: [up]}]}", "'up'");
  refuses("{law: task, tasks: [{kind: com, weight: -1}]}", "weight");
  refuses("{law: task, tasks: [{kind: com, keyframes: [{at: 1}, {at: 1}]}]}", "later");
  refuses("{law: task, tasks: [{kind: com, keyframes: [{at: 1, place: [0, 0, 0]}]}]}", "'place' is no key");
  refuses("{law: task, tasks: [{kind: com, keyframes: [{at: 1, position: [0, 0]}]}]}", "3 numbers");
  refuses("{law: task, tasks: [{kind: posture, keyframes: [{at: 1}]}]}", "no keyframes");
  refuses("{law: task, flips: 7, tasks: [{kind: com}]}", "flips");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_have_an_equation_of_their_own), cmocka_unit_test(a_centre_of_mass_and_a_speed_follow),
      cmocka_unit_test(a_block_slides_when_told_to_move),     cmocka_unit_test(a_force_is_pressed_and_a_height_reached),
      cmocka_unit_test(efforts_stay_within_their_bounds),     cmocka_unit_test(wrong_tasks_are_refused_at_their_line)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
