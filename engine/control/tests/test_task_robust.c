// The sanding Panda with a plant that is not what the controller believes: friction 20 % off, and efforts that come two
// steps late. The nominal scene is only asked for its efforts; the plant has no task controller. Prints what it
// measured.
#include "scenes.h"

enum { TEXT = 8192, JOINTS = 7, MOST_V = 16 };

// The scene with its pen found, its friction, and with or without the task controller.
static TriboModel* sanding(double friction, int controlled) {
  char text[TEXT], out[TEXT];
  FILE* file = fopen(SCENES "control/panda_sanding.yaml", "r");
  assert_non_null(file);
  const size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = '\0';
  char *pen = strstr(text, "urdf: pen.urdf"), *sand = strstr(text, "  - {name: sand"),
       *cameras = strstr(text, "cameras:");
  assert_true(pen != NULL && sand != NULL && cameras != NULL);
  *strstr(text, "expect:") = '\0';
  const int before = (int)(pen - text), between = (int)(sand - pen - 14);
  snprintf(out, sizeof out, "%.*surdf: " SCENES "control/pen.urdf%.*s%.*s%s", before, text, between, pen + 14,
           controlled ? (int)(cameras - sand) : 0, sand, cameras);
  char* mu = strstr(out, "friction: 0.4}");
  assert_non_null(mu);
  char value[8];
  snprintf(value, sizeof value, "%.2f}", friction);
  memmove(mu + 10 + 5, mu + 10 + 4, strlen(mu + 10 + 4) + 1);
  memcpy(mu + 10, value, 5);
  return model_of(out);
}

// Largest and root mean square force error after the ramp, and whether the contact was ever lost.
typedef struct Run {
  double worst, rms, reached;
  int lost;
} Run;

// The robot goes on with the efforts that the nominal scene would have from its state.
static Run simulate(double friction, int delay) {
  TriboModel *nominal = sanding(0.4, 1), *plant = sanding(friction, 0);
  TriboData *controller = data_of(nominal), *robot = data_of(plant);
  double late[3][MOST_V] = {{0}};
  Run run = {0};
  int count = 0;
  const int nq = tribo_model_size(plant).nq, nv = tribo_model_size(plant).nv;
  assert_true(nv <= MOST_V);
  for (int step = 0; step < 1800; ++step) {
    const double *q, *v;
    TriboView view;
    CHECK_OK(tribo_data_view(plant, robot, TRIBO_FIELD_Q, &view));
    q = view.values;
    assert_int_equal(view.count, nq);
    CHECK_OK(tribo_data_view(plant, robot, TRIBO_FIELD_V, &view));
    v = view.values;
    CHECK_OK(tribo_data_set_state(nominal, controller, q, v));
    CHECK_OK(tribo_data_set_time(nominal, controller, tribo_data_time(robot)));
    CHECK_OK(tribo_step(nominal, controller, NULL));
    double* now = late[step % 3];
    memset(now, 0, sizeof late[0]);
    for (int j = 0; j < JOINTS; ++j) {
      char name[32];
      int id;
      snprintf(name, sizeof name, "panda/panda_joint%d", j + 1);
      CHECK_OK(tribo_model_joint_id(nominal, name, &id));
      now[tribo_model_joint(nominal, id)->v_at] = scene_value(nominal, controller, "effort", name);
    }
    CHECK_OK(tribo_data_set_tau(plant, robot, late[(step >= delay ? step - delay : step) % 3]));
    CHECK_OK(tribo_step(plant, robot, NULL));
    if (tribo_data_time(robot) > 0.85) {
      const double force = scene_value(plant, robot, "contact_force.z", "pen/pen");
      run.worst = fmax(run.worst, fabs(force - 20));
      run.rms += (force - 20) * (force - 20);
      run.lost += force <= 0;
      count++;
    }
  }
  run.rms = sqrt(run.rms / count);
  run.reached = scene_value(plant, robot, "position.y", "pen/pen");
  tribo_data_destroy(controller);
  tribo_data_destroy(robot);
  tribo_model_destroy(nominal);
  tribo_model_destroy(plant);
  return run;
}

static void force_stays_with_wrong_friction_and_late_efforts(void** state) {
  (void)state;
  static const struct {
    double friction;
    int delay;
  } cases[] = {{0.4, 0}, {0.32, 0}, {0.48, 0}, {0.4, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const Run r = simulate(cases[i].friction, cases[i].delay);
    print_message(
        "friction %.2f instead of 0.40, %d ms late: force off by %.4f N rms, %.4f N at most; contact lost in %d steps; "
        "y = %.4f m\n",
        cases[i].friction, cases[i].delay, r.rms, r.worst, r.lost, r.reached);
    assert_int_equal(r.lost, 0);
    // without force feedback the friction that is not there, or comes too late, goes into the force: 3 % of 20 N
    CHECK_LE(r.rms, 0.05 * 20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(force_stays_with_wrong_friction_and_late_efforts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
