// The order of the scheme, measured: 2 where the motion is smooth, 1 through contacts.
#include "scenes.h"

// A coordinate of a body after `time` with step dt.
static double end_of(const char* text, double dt, double time, const char* body, const char* name) {
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(load_text(text, &scene));
  CHECK_OK(tribo_scene_set(scene, "dt", dt));
  CHECK_OK(tribo_model_create(scene, &model));
  TriboData* data = data_of(model);
  for (int i = 0; i < (int)(time / dt + 0.5); ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
  TriboQuantity what;
  double x;
  CHECK_OK(tribo_quantity_find(model, name, body, &what));
  CHECK_OK(tribo_quantity_value(model, data, what, &x));
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
  return x;
}

static double order_of(const char* text, double dt, double time, const char* body, const char* name, double exact) {
  double coarse = end_of(text, dt, time, body, name) - exact, fine = end_of(text, dt / 2, time, body, name) - exact;
  return log2(coarse / fine);
}

static const char* pendulum =
    "bodies:\n"
    "  - {name: upper, position: [0.5, 0, 0], box: [1, 0.05, 0.1], mass: 1, group: 0, mask: 0}\n"
    "  - {name: lower, position: [1, 0.3, 0], box: [0.08, 0.6, 0.05], mass: 0.5, group: 0, mask: 0}\n"
    "%s:\n"
    "  - {name: a, kind: %s, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: b, kind: %s, anchor: [1, 0, 0], axis: [1, 0, 0]}\n";

static void smooth_motion_is_of_second_order(void** state) {
  (void)state;
  static const char* ways[][3] = {
      {"joints", "revolute, parent: world, child: upper", "revolute, parent: upper, child: lower"},
      {"closures", "hinge, body_b: upper", "hinge, body_a: upper, body_b: lower"},
  };
  for (int i = 0; i < 2; ++i) {
    char text[1024];
    snprintf(text, sizeof text, pendulum, ways[i][0], ways[i][1], ways[i][2]);
    const double exact = end_of(text, 6.25e-5, 1, "lower", "position.x");
    CHECK_NEAR(order_of(text, 2e-3, 1, "lower", "position.x", exact), 2, 0.05);
  }
}

static void contact_is_of_first_order(void** state) {
  (void)state;
  // a block stops on a table after v²/(2μg)
  static const char* block =
      "materials: {default: {friction: 0.3}}\n"
      "static: [{plane: [0, 0, 1]}]\n"
      "bodies: [{name: b, position: [0, 0, 0.05], velocity: [2, 0, 0], box: [0.3, 0.3, 0.1], mass: 2}]\n";
  CHECK_NEAR(order_of(block, 2e-3, 1, "b", "position.x", 4 / (2 * 0.3 * 9.81)), 1, 0.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(smooth_motion_is_of_second_order),
      cmocka_unit_test(contact_is_of_first_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
