// The balance of energy and momentum: against closed forms, as small as the scheme's order says, with the same bits.
#include "scenes.h"

#include <math.h>

static TriboStepInfo step(const TriboModel* model, TriboData* data) {
  TriboStepInfo info;
  CHECK_OK(tribo_step(model, data, &info));
  return info;
}

// All steps are certified; returns the last one.
static TriboStepInfo steps(const TriboModel* model, TriboData* data, int count) {
  TriboStepInfo info = {0};
  for (int i = 0; i < count; ++i) {
    info = step(model, data);
    assert_int_equal(info.reason, TRIBO_REASON_NONE);
    assert_true(info.certified && info.substeps == 1);
  }
  return info;
}

// A block slides with forces F along its way, by itself or on rails: while the contact lasts, weight, force and
// friction explain all.
static void sliding_blocks_balance_to_their_order(void** state) {
  (void)state;
  for (int run = 0; run < 4; ++run) {
    const int uphill = run % 2, on_rails = run / 2;
    char text[800];
    snprintf(text, sizeof text,
             "world: {gravity: [4, 0, -9], dt: 1e-3}\n"
             "materials: {default: {friction: 0.2}}\n"
             "static: [{plane: [0, 0, 1]}]\n"
             "bodies:\n%s"
             "  - {name: block, position: [0, 0, 0.5], %sbox: [1, 1, 1], mass: 2}\n%s"
             "forces: [{body: block, force: [%g, 0, 0]}]\n",
             on_rails ? "  - {name: cart, position: [0, 0, 0.5], mass: 0}\n" : "",
             on_rails ? "" : "velocity: [1, 0, 0], ",
             on_rails ? "joints:\n"
                        "  - {name: x, kind: prismatic, parent: world, child: cart, axis: [1, 0, 0], velocity: 1}\n"
                        "  - {name: z, kind: prismatic, parent: cart, child: block, axis: [0, 0, 1]}\n"
                      : "",
             uphill ? -20.0 : 0.0);
    TriboModel* model = model_of(text);
    TriboData* data = data_of(model);
    for (int i = 0; i < 100; ++i) {
      const TriboStepInfo info = steps(model, data, 1);
      CHECK_NEAR(info.balance, 0, 1e-12);
      CHECK_LE(info.momentum_error, 1e-14);
      CHECK_NEAR(info.push_out_work, 0, 1e-12);
    }
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
}

static const char* links =
    "world: {gravity: [0, 0, 0], dt: 2e-3}\n"
    "bodies:\n"
    "  - {name: a, position: [0, 0, 0], box: [0.4, 0.1, 0.1], mass: 2, group: 0, mask: 0}\n"
    "  - {name: b, position: [0.5, 0, 0], box: [0.5, 0.08, 0.06], mass: 1, group: 0, mask: 0}\n"
    "joints:\n"
    "  - {name: root, kind: free, parent: world, child: a}\n"
    "  - {name: hinge, kind: revolute, parent: a, child: b, anchor: [0.22, 0, 0], axis: [0.3, 1, 0.2], velocity: 20}\n";

// Two links in flight: nothing acts, so all that the energy changes by is unexplained: the balance sums up to it, and
// that stays small. Momentum is kept.
static void a_free_tree_keeps_energy_and_momentum(void** state) {
  (void)state;
  TriboModel* model = model_of(links);
  TriboData* data = data_of(model);
  const double before = scene_value(model, data, "energy", NULL);
  double most = 0;
  for (int i = 0; i < 2000; ++i) {
    const TriboStepInfo info = steps(model, data, 1);
    CHECK_LE(fabs(info.balance_relative), 1e-5);
    CHECK_LE(info.momentum_error, 1e-12);
    const double sum = scene_value(model, data, "energy_error", NULL);
    CHECK_NEAR(sum, scene_value(model, data, "energy", NULL) - before, 1e-11 * before);
    most = fmax(most, fabs(sum));
  }
  CHECK_LE(most, 1e-4 * before);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A pendulum with a damper: what it takes is d Δ²/h of each step, the rest of ΔE is balance.
static void a_damper_explains_its_loss(void** state) {
  (void)state;
  const double h = 1e-3, d = 0.05;
  TriboModel* model = model_of(
      "world: {dt: 1e-3}\n"
      "bodies: [{name: bob, position: [1, 0, 0], sphere: 0.1, mass: 1}]\n"
      "joints: [{name: hinge, kind: revolute, parent: world, child: bob, anchor: [0, 0, 0], axis: [0, 1, 0],"
      " damping: 0.05}]\n");
  TriboData* data = data_of(model);
  for (int i = 0; i < 2000; ++i) {
    const double q = scene_value(model, data, "q", "hinge"), E = scene_value(model, data, "energy", NULL);
    const TriboStepInfo info = steps(model, data, 1);
    const double way = scene_value(model, data, "q", "hinge") - q;
    CHECK_NEAR(info.balance, scene_value(model, data, "energy", NULL) - E + d * way * way / h, 1e-13);
    CHECK_LE(fabs(info.balance), 1e-6);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A flywheel: motors, efforts and dry friction work along its turn, and nothing is left.
// A body falls with an arm that a damper holds so fast that it stops within a step: all falls as one, to the order of
// rounding, and no energy comes of it. A spin of the arm is gone within a few steps.
static void stiff_dampers_let_go_of_what_falls(void** state) {
  (void)state;
  for (int spins = 0; spins < 2; ++spins) {
    char text[600];
    snprintf(text, sizeof text,
             "world: {dt: 2e-3}\n"
             "bodies:\n"
             "  - {name: base, box: [0.4, 0.4, 0.2], mass: 10}\n"
             "  - {name: arm, position: [0.5, 0, 0], box: [0.6, 0.05, 0.05], mass: 3, group: 0, mask: 0}\n"
             "joints:\n"
             "  - {name: root, kind: free, parent: world, child: base}\n"
             "  - {name: hinge, kind: revolute, parent: base, child: arm, anchor: [0.2, 0, 0], axis: [0, 1, 0],\n"
             "     damping: 1e3, velocity: %d}\n",
             spins);
    TriboModel* model = model_of(text);
    TriboData* data = data_of(model);
    double before = scene_value(model, data, "energy", NULL);
    for (int i = 0; i < 250; ++i) {
      steps(model, data, 1);
      CHECK_NEAR(scene_value(model, data, "v", "hinge"), 0, spins ? pow(0.3, i + 1) + 1e-6 : 1e-12);
      const double now = scene_value(model, data, "energy", NULL);
      assert_true(now <= before + 1e-9);
      before = now;
    }
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
}

static void motors_and_efforts_explain_what_they_give(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "bodies: [{name: wheel, cylinder: [0.5, 0.1], mass: 3}]\n"
      "joints: [{name: axle, kind: revolute, parent: world, child: wheel, anchor: [0, 0, 0], axis: [0, 0, 1],"
      " friction: 0.2}]\n"
      "motors: [{joint: axle, damping: 4, velocity: 10, effort: 3}]\n");
  TriboData* data = data_of(model);
  const double tau = 0.7;
  CHECK_OK(tribo_data_set_tau(model, data, &tau));
  for (int i = 0; i < 3000; ++i) {
    CHECK_LE(fabs(steps(model, data, 1).balance), 1e-12);
  }
  CHECK_LE(9, scene_value(model, data, "v", "axle"));
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A ball that begins 1 mm deep is pushed out: the contact's work is that of its impulse m(v⁺ + gh) on the mean velocity
// v⁺/2. One that falls and rebounds gets nothing: its contact takes energy.
static void pushing_out_is_told(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {dt: 1e-3}\n"
      "materials: {default: {restitution: 0.8}}\n"
      "static: [{plane: [0, 0, 1]}]\n"
      "bodies: [{name: ball, position: [0, 0, 0.099], sphere: 0.1, mass: 2}]\n");
  TriboData* data = data_of(model);
  TriboStepInfo info = steps(model, data, 1);
  // what is deep is lifted in positions: that is work against weight alone
  double v = scene_value(model, data, "velocity.z", "ball");
  double lifted = scene_value(model, data, "position.z", "ball") - 0.099 - 1e-3 * v;
  assert_true(lifted > 1e-4 && fabs(v) < 1e-4);
  CHECK_NEAR(info.push_out_work, 2 * 9.81 * lifted, 1e-6);
  // the rest by velocities, as long as g h in a step is enough
  const double near[3] = {0, 0, 0.1 - 4e-5}, upright[4] = {0, 0, 0, 1};
  CHECK_OK(tribo_data_teleport(model, data, 0, near, upright, NULL, NULL));
  info = steps(model, data, 1);
  v = scene_value(model, data, "velocity.z", "ball");
  CHECK_NEAR(v, 0.2 * (4e-5 - 1e-6) / 1e-3, 1e-6);
  CHECK_NEAR(info.push_out_work, 2 * (v + 9.81e-3) * 0.5 * v, 1e-12);
  CHECK_NEAR(info.balance, 0.5 * 1e-3 * 2 * 9.81 * v, 1e-12);
  const double position[3] = {0, 0, 1}, turn[4] = {0, 0, 0, 1};
  int hits = 0;
  CHECK_OK(tribo_data_teleport(model, data, 0, position, turn, NULL, NULL));
  for (int i = 0; i < 1500; ++i) {
    const double fall = scene_value(model, data, "velocity.z", "ball");
    info = steps(model, data, 1);
    // (an impact inside the step is known up to the weight's work in it)
    CHECK_LE(fabs(info.balance), 1e-3 * 2 * 9.81 * 5);
    CHECK_LE(info.push_out_work, 1e-9);
    hits += fall < 0 && scene_value(model, data, "velocity.z", "ball") > 0;
  }
  assert_true(hits >= 1);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Energies are kept with the state they belong to: looked at again, after a restore or where the user has set the
// state, they are the same to the bit. No step takes memory.
static void the_same_bits_wherever_it_starts(void** state) {
  (void)state;
  TriboModel* model = model_of(links);
  TriboData *a = data_of(model), *b = data_of(model);
  TriboState* saved;
  CHECK_OK(tribo_state_create(&saved));
  steps(model, a, 50);
  CHECK_OK(tribo_state_save(model, a, saved));
  CHECK_OK(tribo_state_restore(model, b, saved));
  TriboView q, v;
  CHECK_OK(tribo_data_view(model, a, TRIBO_FIELD_Q, &q));
  CHECK_OK(tribo_data_view(model, a, TRIBO_FIELD_V, &v));
  for (int i = 0; i < 50; ++i) {
    const TriboStepInfo x = steps(model, a, 1), y = steps(model, b, 1);
    assert_true(x.balance == y.balance && x.momentum_error == y.momentum_error);
    assert_true(x.balance_relative == y.balance_relative && x.growths == 0);
    // (the same state, set)
    CHECK_OK(tribo_data_view(model, a, TRIBO_FIELD_Q, &q));
    CHECK_OK(tribo_data_view(model, a, TRIBO_FIELD_V, &v));
    CHECK_OK(tribo_data_set_state(model, b, q.values, v.values));
  }
  assert_true(scene_value(model, a, "energy_error", NULL) == scene_value(model, b, "energy_error", NULL));
  assert_true(tribo_data_hash(model, a) == tribo_data_hash(model, b));
  tribo_data_reset(model, a);
  CHECK_NEAR(scene_value(model, a, "energy_error", NULL), 0, 0);
  tribo_state_destroy(saved);
  tribo_data_destroy(a);
  tribo_data_destroy(b);
  tribo_model_destroy(model);
}

// Far from the origin no digits are lost.
static void far_from_the_origin_it_balances_too(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {dt: 2e-3}\n"
      "static: [{plane: [0, 0, 1]}]\n"
      "bodies: [{name: stone, position: [1.0e4, -2.0e4, 0.5], velocity: [1, 0, 0], omega: [3, 4, 5], box: [0.3, 0.2, "
      "0.1]}]\n");
  TriboData* data = data_of(model);
  for (int i = 0; i < 600; ++i) {
    CHECK_LE(steps(model, data, 1).momentum_error, 1e-11);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A step that is far too long for the motion is divided, with any solver; where 1/256 of it is too long still, it fails
// by the body's name and the state stays.
static void too_fast_a_motion_is_divided_or_refused(void** state) {
  (void)state;
  const double spin[2] = {200, 4e5};
  for (int hopeless = 0; hopeless < 2; ++hopeless) {
    TriboScene* scene;
    TriboModel* model;
    char text[900];
    snprintf(text, sizeof text,
             "world: {gravity: [0, 0, 0], dt: 2e-2, solver: admm}\n"
             "bodies:\n"
             "  - {name: a, position: [0, 0, 0], box: [0.4, 0.1, 0.1], mass: 2, group: 0, mask: 0}\n"
             "  - {name: b, position: [0.5, 0, 0], box: [0.5, 0.08, 0.06], mass: 1, group: 0, mask: 0}\n"
             "joints:\n"
             "  - {name: root, kind: free, parent: world, child: a}\n"
             "  - {name: hinge, kind: revolute, parent: a, child: b, anchor: [0.22, 0, 0], axis: [0.3, 1, 0.2],"
             " velocity: %g}\n",
             spin[hopeless]);
    CHECK_OK(load_text(text, &scene));
    CHECK_OK(tribo_model_create(scene, &model));
    TriboData* data = data_of(model);
    const uint64_t before = tribo_data_hash(model, data);
    TriboStepInfo info;
    if (hopeless) {
      CHECK_FAILS(tribo_step(model, data, &info), TRIBO_NUMERIC, "the motion of 'a' cannot be resolved");
      assert_int_equal(info.reason, TRIBO_REASON_DIVERGENCE);
      assert_false(info.certified);
      assert_true(before == tribo_data_hash(model, data));
    } else {
      info = step(model, data);
      assert_true(info.substeps > 1 && info.certified);
      CHECK_LE(info.momentum_error, 1e-9);
    }
    tribo_data_destroy(data);
    tribo_model_destroy(model);
    tribo_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sliding_blocks_balance_to_their_order),
      cmocka_unit_test(a_free_tree_keeps_energy_and_momentum),
      cmocka_unit_test(a_damper_explains_its_loss),
      cmocka_unit_test(stiff_dampers_let_go_of_what_falls),
      cmocka_unit_test(motors_and_efforts_explain_what_they_give),
      cmocka_unit_test(pushing_out_is_told),
      cmocka_unit_test(the_same_bits_wherever_it_starts),
      cmocka_unit_test(far_from_the_origin_it_balances_too),
      cmocka_unit_test(too_fast_a_motion_is_divided_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
