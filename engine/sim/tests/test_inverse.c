// Inverse dynamics against closed forms, and against the proximal iteration of the paper.
#include "proximal.h"
#include "scenes.h"

static const double G = 9.81;

static TriboInverse inverse_of(const TriboModel* model, TriboData* data, const double* v_target,
                               const TriboInverseOptions* options) {
  TriboInverse out;
  CHECK_OK(tribo_inverse_dynamics(model, data, v_target, options, &out));
  return out;
}

// A 2 kg block that two rails let move along x (driven) and z (not driven), on a floor with μ = 0.4.
#define BLOCK(material)                                                                        \
  "materials: {floor: {friction: 0.4" material                                                 \
  "}}\n"                                                                                       \
  "static: [{name: ground, plane: [0, 0, 1], material: floor}]\n"                              \
  "bodies:\n"                                                                                  \
  "  - {name: cart, position: [0, 0, 0.1], mass: 0}\n"                                         \
  "  - {name: block, position: [0, 0, 0.1], mass: 2, box: [0.2, 0.2, 0.2], material: floor}\n" \
  "joints:\n"                                                                                  \
  "  - {name: x, kind: prismatic, parent: world, child: cart, axis: [1, 0, 0]}\n"              \
  "  - {name: z, kind: prismatic, parent: cart, child: block, axis: [0, 0, 1]}\n"

static void blocks_are_pushed(void** state) {
  (void)state;
  TriboModel* model = model_of(BLOCK(""));
  TriboData* data = data_of(model);
  const double q[2] = {0, 0}, slow[2] = {0.3, 0}, rest[2] = {0, 0};
  const unsigned char driven[2] = {1, 0};
  TriboInverseOptions options = tribo_inverse_default();
  options.driven = driven;
  options.find_free_torques = 1;

  // sliding on at the same speed takes μ m g, and nothing is left open
  CHECK_OK(tribo_data_set_state(model, data, q, slow));
  TriboInverse out = inverse_of(model, data, slow, &options);
  assert_true(out.feasible);
  CHECK_NEAR(out.tau[0], 0.4 * 2 * G, 1e-10);
  assert_int_equal(out.nfree_torque, 0);
  double normal = 0;
  for (int i = 0; i < out.ncontact; ++i) {
    assert_int_equal(out.contacts[i].mode, TRIBO_CONTACT_SLIDE);
    normal += out.contacts[i].force[2];
  }
  CHECK_NEAR(normal, 2 * G, 1e-10);

  // an acceleration of 3 m/s² takes m a more
  options.acceleration = 1;
  out = inverse_of(model, data, (double[2]){3, 0}, &options);
  CHECK_NEAR(out.tau[0], 2 * 3 + 0.4 * 2 * G, 1e-10);
  options.acceleration = 0;

  // at rest any push up to μ m g will do: the least is none, and one dimension is left open
  CHECK_OK(tribo_data_set_state(model, data, q, rest));
  out = inverse_of(model, data, rest, &options);
  assert_true(out.feasible);
  CHECK_NEAR(out.tau[0], 0, 1e-10);
  assert_int_equal(out.nfree_torque, 1);
  CHECK_NEAR(fabs(out.free_torques[0]), 1, 1e-12);

  // upwards: nothing drives it there, and the missing force is m(g + a)
  out = inverse_of(model, data, (double[2]){0, 0.01}, &options);
  assert_false(out.feasible);
  CHECK_NEAR(out.effort_missing[1], 2 * (G + 10), 1e-9);
  CHECK_NEAR(out.tau[0], 0, 1e-10);
  CHECK_NEAR(out.v_error, 0.01 + G * 1e-3, 1e-12);

  // the nearest motion that is feasible stays on the floor
  options.nearest = 1;
  out = inverse_of(model, data, (double[2]){0.2, 0.01}, &options);
  CHECK_NEAR(out.v_next[0], 0.2, 1e-12);
  CHECK_NEAR(out.v_next[1], 0, 1e-12);
  CHECK_NEAR(out.v_error, 0.01, 1e-12);
  CHECK_NEAR(out.distance, 0.01 * sqrt(2), 1e-12);
  CHECK_NEAR(out.tau[0], 2 * 0.2 / 1e-3 + 0.4 * 2 * G, 1e-8);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// An arm on a shoulder that is an ellipsoid: the torques of a v_target, put into a step, make it, under both schemes.
static void shoulders_move_as_asked(void** state) {
  (void)state;
  for (int scheme = 0; scheme < 2; ++scheme) {
    char text[640];
    snprintf(text, sizeof text,
             "world: {scheme: %s}\n"
             "bodies:\n"
             "  - {name: upper, position: [0, 0, -0.3], rpy: [180 deg, 0, 0], capsule: [0.05, 0.4], mass: 2}\n"
             "  - {name: fore, position: [0, 0, -0.8], capsule: [0.05, 0.4], mass: 1, mask: 0}\n"
             "joints:\n"
             "  - {name: shoulder, kind: ellipsoid, parent: world, child: upper, radii: [0.04, 0.02, 0.06]}\n"
             "  - {name: elbow, kind: revolute, parent: upper, child: fore, anchor: [0, 0, -0.55], axis: [0, 1, 0]}\n",
             scheme ? "euler" : "variational");
    TriboModel* model = model_of(text);
    TriboData* data = data_of(model);
    const double q[4] = {0.4, -0.6, 0.3, 0.5}, v[4] = {3, -2, 4, 1}, v_target[4] = {3.01, -2.03, 3.98, 1.02};
    TriboInverseOptions options = tribo_inverse_default();
    CHECK_OK(tribo_data_set_state(model, data, q, v));
    const TriboInverse out = inverse_of(model, data, v_target, &options);
    assert_true(out.feasible);
    CHECK_OK(tribo_data_set_tau(model, data, out.tau));
    CHECK_OK(tribo_step(model, data, NULL));
    TriboView next;
    CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_V, &next));
    for (int k = 0; k < 4; ++k) {
      CHECK_NEAR(next.values[k], v_target[k], 1e-12);
    }
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
}

// A wheel that rolls with the angular acceleration α: τ = (I + m r²) α, friction m r α.
static void wheels_roll(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "static: [{name: ground, plane: [0, 0, 1]}]\n"
      "bodies:\n"
      "  - {name: a, position: [0, 0, 0.3], mass: 0}\n"
      "  - {name: b, position: [0, 0, 0.3], mass: 0}\n"
      "  - {name: wheel, position: [0, 0, 0.3], mass: 5, com: [0, 0, 0], inertia: [0.2, 0.2, 0.2, 0, 0, 0],"
      " sphere: 0.3}\n"
      "joints:\n"
      "  - {name: x, kind: prismatic, parent: world, child: a, axis: [1, 0, 0]}\n"
      "  - {name: z, kind: prismatic, parent: a, child: b, axis: [0, 0, 1]}\n"
      "  - {name: axle, kind: revolute, parent: b, child: wheel, axis: [0, 1, 0], anchor: [0, 0, 0.3]}\n");
  TriboData* data = data_of(model);
  const unsigned char driven[3] = {0, 0, 1};
  TriboInverseOptions options = tribo_inverse_default();
  options.driven = driven;
  options.acceleration = 1;
  CHECK_OK(tribo_data_set_state(model, data, (double[3]){0, 0, 0}, (double[3]){0.3, 0, 1}));
  const double alpha = 4;
  const TriboInverse out = inverse_of(model, data, (double[3]){0.3 * alpha, 0, alpha}, &options);
  assert_true(out.feasible);
  CHECK_NEAR(out.tau[2], (0.2 + 5 * 0.09) * alpha, 1e-9);
  assert_int_equal(out.ncontact, 1);
  assert_int_equal(out.contacts[0].mode, TRIBO_CONTACT_STICK);
  CHECK_NEAR(out.contacts[0].force[0], 5 * 0.3 * alpha, 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A ladder on a rough floor against a smooth wall: moments about its foot give the wall's force.
static void ladders_lean(void** state) {
  (void)state;
  const double r = 0.05, length = 2, angle = 1.1, s = sin(angle), c = cos(angle);
  char text[1024];
  snprintf(text, sizeof text,
           "materials: {rough: {friction: 1}, smooth: {friction: 0}}\n"
           "static:\n"
           "  - {name: floor, plane: [0, 0, 1], material: rough}\n"
           "  - {name: wall, plane: [-1, 0, 0], position: [%.17g, 0, 0], material: smooth}\n"
           "bodies:\n"
           "  - {name: ladder, position: [%.17g, 0, %.17g], quaternion: [0, %.17g, 0, %.17g], mass: 10,"
           " capsule: [%.17g, %.17g], material: rough}\n",
           c * length + r, 0.5 * c * length, 0.5 * s * length + r, sin(0.5 * (1.5707963267948966 - angle)),
           cos(0.5 * (1.5707963267948966 - angle)), r, length);
  TriboModel* model = model_of(text);
  TriboData* data = data_of(model);
  const TriboInverseOptions options = tribo_inverse_default();
  const TriboInverse out = inverse_of(model, data, (double[6]){0}, &options);
  assert_true(out.feasible);
  double foot[3] = {0}, wall[3] = {0};
  for (int i = 0; i < out.ncontact; ++i) {
    double* sum = fabs(out.contacts[i].normal[2]) > 0.5 ? foot : wall;
    const double sign = out.contacts[i].body_a == TRIBO_WORLD ? 1 : -1;
    for (int k = 0; k < 3; ++k) {
      sum[k] += sign * out.contacts[i].force[k];
    }
  }
  const double push = 10 * G * 0.5 * c * length / (s * length + r);
  CHECK_NEAR(wall[0], -push, 1e-8);
  CHECK_NEAR(foot[0], push, 1e-8);
  CHECK_NEAR(foot[2], 10 * G, 1e-8);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// On a soft floor the motion decides all forces; the paper's iteration finds the same ones. The convex relaxation lets
// a sliding block rise (c_N = μ|c_T|), so for a block that stays down its forces are others, and where the floor is
// rigid they grow without end.
static void proximal_iteration_agrees(void** state) {
  (void)state;
  const double h = 1e-3, k = 1e5, d = 500, v = 0.3, mu = 0.4, rho = 1e-8;
  TriboModel* model = model_of(BLOCK(", stiffness: 1.0e+5, damping: 500"));
  TriboData* data = data_of(model);
  // four corners share the weight; in series two equal springs are half as stiff
  const double stiff = 0.5 * k, damp = 0.5 * d, gap = -2 * G / (4 * stiff);
  CHECK_OK(tribo_data_set_state(model, data, (double[2]){0, gap}, (double[2]){v, 0}));
  TriboInverseOptions options = tribo_inverse_default();
  options.driven = (const unsigned char[2]){1, 0};
  const TriboInverse out = inverse_of(model, data, (double[2]){v, 0}, &options);
  assert_true(out.feasible);
  assert_int_equal(out.ncontact, 4);

  const double R = 1 / (h * (h * stiff + damp)), c[3] = {v, 0, gap * stiff / (h * stiff + damp)};
  double lambda[3] = {0};
  for (int i = 0; i < 10; ++i) {
    proximal_step(mu, 0, R, rho, 0, c, lambda);
  }
  for (int i = 0; i < 4; ++i) {
    const double sign = out.contacts[i].body_a == TRIBO_WORLD ? 1 : -1;
    CHECK_NEAR(sign * out.contacts[i].force[2], lambda[2] / h, 1e-6);
    CHECK_NEAR(sign * out.contacts[i].force[0], lambda[0] / h, 1e-6);
  }
  CHECK_NEAR(out.tau[0], mu * 2 * G, 1e-8);

  // rigid, touching: with Γ the iteration rests, without it each pass adds as much again
  const double flat[3] = {v, 0, 0};
  double ours[3] = {0}, convex[3] = {0}, last = 0, growth = 0;
  for (int i = 0; i < 50; ++i) {
    proximal_step(mu, 0, 0, rho, 0, flat, ours);
    proximal_step(mu, 0, 0, rho, 1, flat, convex);
    growth = convex[2] - last;
    last = convex[2];
  }
  CHECK_NEAR(ours[2], 0, 1e-9);
  CHECK_LE(1e6, growth);
  CHECK_LE(49 * growth, last * 1.01);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A look at the forces leaves no trace: the same bits come out with and without it.
static void steps_do_not_notice(void** state) {
  (void)state;
  TriboModel* model = model_of(BLOCK(
      "") "motors: [{joint: x, damping: 1.0e+3, velocity: 0.2}]\n"
          "grid: [{name: cube, count: [1, 1, 3], spacing: [1, 1, 0.2], origin: [0.6, 0.05, 0.1], box: [0.2, 0.2, 0.2],"
          " mass: 1}]\n");
  TriboData *plain = data_of(model), *looked = data_of(model);
  TriboInverseOptions options = tribo_inverse_default();
  options.use_actuators = 1;
  for (int i = 0; i < 50; ++i) {
    TriboView v;
    CHECK_OK(tribo_step(model, plain, NULL));
    CHECK_OK(tribo_data_view(model, plain, TRIBO_FIELD_V, &v));
    TriboInverse out;
    CHECK_OK(tribo_inverse_dynamics(model, looked, v.values, &options, &out));
    assert_true(out.feasible);
    TriboProblem problem;
    CHECK_OK(tribo_data_problem(model, looked, &problem));
    assert_int_equal(problem.nrow, 0);
    CHECK_OK(tribo_step(model, looked, NULL));
    assert_true(tribo_data_hash(model, plain) == tribo_data_hash(model, looked));
  }
  tribo_data_destroy(plain);
  tribo_data_destroy(looked);
  tribo_model_destroy(model);
}

static void wrong_arguments_are_refused(void** state) {
  (void)state;
  TriboModel* model = model_of("bodies: [{name: ball, sphere: 0.1, mass: 1}]\n");
  TriboData* data = data_of(model);
  TriboInverseOptions options = tribo_inverse_default();
  TriboInverse out;
  double v_target[6] = {0};
  CHECK_FAILS(tribo_inverse_dynamics(model, data, NULL, &options, &out), TRIBO_INVALID, "v_target is NULL");
  v_target[2] = NAN;
  CHECK_FAILS(tribo_inverse_dynamics(model, data, v_target, &options, &out), TRIBO_INVALID, "v_target must be finite");
  v_target[2] = 0;
  options.tol = -1;
  CHECK_FAILS(tribo_inverse_dynamics(model, data, v_target, &options, &out), TRIBO_INVALID, "tol = -1");
  options.tol = 1e-9;
  options.driven = (const unsigned char[6]){0, 1, 0, 0, 0, 0};
  CHECK_FAILS(tribo_inverse_dynamics(model, data, v_target, &options, &out), TRIBO_INVALID,
              "driven[1] is of the free body ball");
  // in the air the missing force is the weight
  options.driven = NULL;
  CHECK_OK(tribo_inverse_dynamics(model, data, v_target, &options, &out));
  assert_false(out.feasible);
  CHECK_NEAR(out.effort_missing[2], G, 1e-12);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_pushed),
      cmocka_unit_test(shoulders_move_as_asked),
      cmocka_unit_test(wheels_roll),
      cmocka_unit_test(ladders_lean),
      cmocka_unit_test(proximal_iteration_agrees),
      cmocka_unit_test(steps_do_not_notice),
      cmocka_unit_test(wrong_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
