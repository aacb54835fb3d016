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

// A block slides over a table, exactly while that lasts, and stops after v²/(2μg), but for what is left of the last
// step.
static void lasting_contact_is_of_second_order(void** state) {
  (void)state;
  static const char* block =
      "materials: {default: {friction: 0.3}}\n"
      "static: [{plane: [0, 0, 1]}]\n"
      "bodies: [{name: b, position: [0, 0, 0.05], velocity: [2, 0, 0], box: [0.3, 0.3, 0.1], mass: 2}]\n";
  const double a = 0.3 * 9.81;
  for (double h = 1e-3; h < 5e-3; h *= 2) {
    CHECK_NEAR(end_of(block, h, 0.4, "b", "position.x"), 2 * 0.4 - 0.5 * a * 0.16, 1e-10);
    CHECK_NEAR(end_of(block, h, 1, "b", "position.x"), 4 / (2 * a), 0.5 * a * h * h);
  }
}

// A rope of n beads over a quarter of a turning drum, as in scenes/lab/capstan.yaml, pulled with 1 N: what its held end
// carries.
static double capstan(int n) {
  const double quarter = 0.5 * M_PI, wrap = quarter / n, radius = 0.51;
  char text[8192];
  int at = snprintf(text, sizeof text,
                    "world: {gravity: [0, 0, 0]}\nmaterials: {default: {friction: 0.3}}\n"
                    "joints: [{name: axle, kind: revolute, parent: world, child: drum, axis: [0, 1, 0], velocity: 2}]\n"
                    "motors: [{joint: axle, damping: 1.0e6, velocity: 2}]\n"
                    "forces: [{body: n%d, force: [%.17g, 0, %.17g]}]\n"
                    "bodies:\n  - {name: drum, rpy: [90 deg, 0, 0], cylinder: [0.5, 0.3], mass: 10}\n",
                    n, sqrt(0.5), -sqrt(0.5));
  double x[2] = {0, 0}, z[2] = {0, 0};
  for (int closures = 0; closures < 2; ++closures) {
    at += closures ? snprintf(text + at, sizeof text - (size_t)at, "closures:\n") : 0;
    for (int k = 0; k <= n; ++k) {
      const double angle = 1.5 * quarter + (0.5 - k) * wrap;
      x[1] = x[0], z[1] = z[0];
      x[0] = radius * cos(angle), z[0] = radius * sin(angle);
      if (k == 0) {
        continue;  // where the rope is held
      }
      at += closures
                ? snprintf(text + at, sizeof text - (size_t)at,
                           "  - {name: rod%d, kind: distance, %s%.0d%sbody_b: n%d, anchor: [%.17g, 0, %.17g], anchor2: "
                           "[%.17g, 0, %.17g]}\n",
                           k - 1, k > 1 ? "body_a: n" : "", k - 1, k > 1 ? ", " : "", k, x[1], z[1], x[0], z[0])
                : snprintf(text + at, sizeof text - (size_t)at,
                           "  - {name: n%d, position: [%.17g, 0, %.17g], sphere: 0.01, mass: 0.01, inertia: [1, 1, 1, "
                           "0, 0, 0]}\n",
                           k, x[0], z[0]);
    }
  }
  return end_of(text, 1e-3, 0.1, "rod0", "force");
}

static void a_rope_of_beads_becomes_a_rope(void** state) {
  (void)state;
  const double mu = 0.3, smooth = exp(mu * 0.5 * M_PI);
  double excess[3];
  for (int i = 0; i < 3; ++i) {
    const int n = 4 << i;
    const double bead = mu * tan(0.25 * M_PI / n), force = capstan(n);
    CHECK_NEAR(force, pow((1 + bead) / (1 - bead), n), 1e-6);
    excess[i] = force - smooth;
  }
  // of second order in the wrap of a bead
  CHECK_NEAR(log2(excess[0] / excess[1]), 2, 0.05);
  CHECK_NEAR(log2(excess[1] / excess[2]), 2, 0.02);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(smooth_motion_is_of_second_order),
      cmocka_unit_test(lasting_contact_is_of_second_order),
      cmocka_unit_test(a_rope_of_beads_becomes_a_rope),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
