// Mechanisms built of free bodies and closures move as the same mechanisms built as trees do, and as closed forms say.
#include "scenes.h"

static void watch(const TriboModel* model, TriboData* data, const char* name, const char* of, double* out) {
  TriboQuantity what;
  CHECK_OK(tribo_quantity_find(model, name, of, &what));
  CHECK_OK(tribo_quantity_value(model, data, what, out));
}

static double value(const TriboModel* model, TriboData* data, const char* name, const char* of) {
  double x;
  watch(model, data, name, of, &x);
  return x;
}

// Runs a scene for a time; every step certified and shut.
static TriboData* run_for(const TriboModel* model, double time) {
  TriboData* data = data_of(model);
  const double dt = tribo_model_world(model)->dt;
  for (int i = 0; i < (int)(time / dt + 0.5); ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    CHECK_LE(info.opening, 1e-12);
  }
  return data;
}

static TriboModel* timed_model(const char* text, double dt) {
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(load_text(text, &scene));
  CHECK_OK(tribo_scene_set(scene, "dt", dt));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  return model;
}

// Where a body is after `time`, with step dt.
static void end_of(const char* text, double dt, double time, const char* body, double p[3]) {
  TriboModel* model = timed_model(text, dt);
  TriboData* data = run_for(model, time);
  watch(model, data, "position.x", body, p);
  watch(model, data, "position.y", body, p + 1);
  watch(model, data, "position.z", body, p + 2);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static double apart(const double a[3], const double b[3]) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

// Two ways to build one mechanism end in the same place; the difference falls with the square of the step.
static void same_motion(const char* one, const char* other, const char* body, double time, double tol) {
  double coarse[2][3], fine[2][3];
  end_of(one, 2e-3, time, body, coarse[0]);
  end_of(other, 2e-3, time, body, coarse[1]);
  end_of(one, 5e-4, time, body, fine[0]);
  end_of(other, 5e-4, time, body, fine[1]);
  CHECK_LE(apart(fine[0], fine[1]), tol);
  // order 2 gives 16, order 1 gives 4
  CHECK_LE(10 * apart(fine[0], fine[1]), apart(coarse[0], coarse[1]) + 1e-11);
  // and each one converges, to the common limit, at order 2
  for (int k = 0; k < 2; ++k) {
    CHECK_LE(apart(coarse[k], fine[k]), 20 * tol);
  }
}

#define PENDULUM_BODIES                                                                         \
  "bodies:\n"                                                                                   \
  "  - {name: upper, position: [0.5, 0, 0], box: [1, 0.05, 0.1], mass: 1, group: 0, mask: 0}\n" \
  "  - {name: lower, position: [1, 0.3, 0], box: [0.08, 0.6, 0.05], mass: 0.5, group: 0, mask: 0}\n"

// The second axis is across the first: the motion is spatial, both bars feel gyroscopic torques.
static const char* pendulum_tree = PENDULUM_BODIES
    "joints:\n"
    "  - {name: a, kind: revolute, parent: world, child: upper, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: b, kind: revolute, parent: upper, child: lower, anchor: [1, 0, 0], axis: [1, 0, 0]}\n";
static const char* pendulum_free = PENDULUM_BODIES
    "closures:\n"
    "  - {name: a, kind: hinge, body_b: upper, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: b, kind: hinge, body_a: upper, body_b: lower, anchor: [1, 0, 0], axis: [1, 0, 0]}\n";
static const char* pendulum_mixed = PENDULUM_BODIES
    "joints:\n"
    "  - {name: a, kind: revolute, parent: world, child: upper, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "closures:\n"
    "  - {name: b, kind: hinge, body_a: upper, body_b: lower, anchor: [1, 0, 0], axis: [1, 0, 0]}\n";

static void double_pendulum_three_ways(void** state) {
  (void)state;
  same_motion(pendulum_tree, pendulum_free, "lower", 1.5, 1e-5);
  same_motion(pendulum_tree, pendulum_mixed, "lower", 1.5, 1e-5);
}

#define FOURBAR_BODIES                                                                                            \
  "bodies:\n"                                                                                                     \
  "  - {name: crank, position: [0.05, 0, 0.0866025403784438647], rpy: [0, -60 deg, 0], box: [0.2, 0.02, 0.02],"   \
  " mass: 1, group: 0, mask: 0}\n"                                                                                \
  "  - {name: coupler, position: [0.35373120076363773, 0, 0.2792497777437839], rpy: [0, -0.3958765353043746, 0]," \
  " box: [0.55, 0.02, 0.02], mass: 1, group: 0, mask: 0}\n"                                                       \
  "  - {name: rocker, position: [0.5537312007636377, 0, 0.19264723736534], rpy: [0, -1.2987988598356468, 0],"     \
  " box: [0.4, 0.02, 0.02], mass: 1, group: 0, mask: 0}\n"
#define HINGE_B "anchor: [0.1, 0, 0.17320508075688773], axis: [0, 1, 0]}\n"
#define HINGE_C "anchor: [0.6074624015272754, 0, 0.38529447473068], axis: [0, 1, 0]}\n"

static const char* fourbar_free = FOURBAR_BODIES
    "closures:\n"
    "  - {name: A, kind: hinge, body_b: crank, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: B, kind: hinge, body_a: crank, body_b: coupler, " HINGE_B
    "  - {name: C, kind: hinge, body_a: coupler, body_b: rocker, " HINGE_C
    "  - {name: D, kind: hinge, body_a: rocker, anchor: [0.5, 0, 0], axis: [0, 1, 0]}\n";
// one tree with a loop of its own links
static const char* fourbar_tree = FOURBAR_BODIES
    "joints:\n"
    "  - {name: A, kind: revolute, parent: world, child: crank, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: B, kind: revolute, parent: crank, child: coupler, " HINGE_B
    "  - {name: C, kind: revolute, parent: coupler, child: rocker, " HINGE_C
    "closures:\n"
    "  - {name: D, kind: hinge, body_a: rocker, anchor: [0.5, 0, 0], axis: [0, 1, 0]}\n";
// two trees that a closure ties; a rod of 1 m above the plane's need says the same as the hinge within the plane
static const char* fourbar_trees = FOURBAR_BODIES
    "joints:\n"
    "  - {name: A, kind: revolute, parent: world, child: crank, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: B, kind: revolute, parent: crank, child: coupler, " HINGE_B
    "  - {name: D, kind: revolute, parent: world, child: rocker, anchor: [0.5, 0, 0], axis: [0, 1, 0]}\n"
    "closures:\n"
    "  - {name: C, kind: ball, body_a: coupler, body_b: rocker, anchor: [0.6074624015272754, 0, 0.38529447473068]}\n";

static void fourbar_three_ways(void** state) {
  (void)state;
  same_motion(fourbar_free, fourbar_tree, "coupler", 1, 1e-5);
  same_motion(fourbar_free, fourbar_trees, "coupler", 1, 1e-5);
}

// Loops that nothing else acts on are shut without a solver, and move as with one; redundant rows among them, too.
static void loops_need_no_solver(void** state) {
  (void)state;
  for (int which = 0; which < 2; ++which) {
    TriboScene* scene;
    TriboModel* models[2];
    TriboData* data[2];
    TriboView q[2];
    CHECK_OK(load_text(which ? fourbar_trees : fourbar_free, &scene));
    for (int i = 0; i < 2; ++i) {
      TriboWorldDef world = *tribo_scene_world(scene);
      strcpy(world.solver, i ? "newton" : "auto");
      CHECK_OK(tribo_scene_set_world(scene, &world));
      CHECK_OK(tribo_model_create(scene, &models[i]));
      data[i] = data_of(models[i]);
      for (int step = 0; step < 300; ++step) {
        TriboStepInfo info;
        CHECK_OK(tribo_step(models[i], data[i], &info));
        assert_true(info.certified);
        assert_true((info.factorisations == 0) == (i == 0));
        assert_true(info.passes > (i == 1 || step == 0));
      }
      CHECK_OK(tribo_data_view(models[i], data[i], TRIBO_FIELD_Q, &q[i]));
    }
    for (int k = 0; k < tribo_model_size(models[0]).nq; ++k) {
      CHECK_NEAR(q[0].values[k], q[1].values[k], 1e-10);
    }
    for (int i = 0; i < 2; ++i) {
      tribo_data_destroy(data[i]);
      tribo_model_destroy(models[i]);
    }
    tribo_scene_destroy(scene);
  }
}

static int steps_of(const TriboModel* model, TriboData* data, int steps, int observe) {
  int passes = 0;
  for (int i = 0; i < steps; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    passes += info.passes;
    if (observe) {
      value(model, data, "opening", NULL);
      value(model, data, "energy", NULL);
    }
  }
  return passes;
}

// What a step has found where it ends serves the next one, and what closures carried tells where it will go. Neither
// changes a bit: not after a restore into data that has seen nothing, nor when somebody looks in between.
static void loops_go_on_as_they_were(void** state) {
  (void)state;
  const char* texts[] = {fourbar_free, fourbar_tree, fourbar_trees};
  for (int which = 0; which < 3; ++which) {
    TriboModel* model = timed_model(texts[which], 1e-3);
    TriboData *a = data_of(model), *b = data_of(model), *c = data_of(model);
    TriboState* saved;
    CHECK_OK(tribo_state_create(&saved));
    steps_of(model, a, 100, 0);
    CHECK_OK(tribo_state_save(model, a, saved));
    // (from nothing, it takes three and more)
    CHECK_LE(steps_of(model, a, 100, 0), 240);
    const uint64_t hash = tribo_data_hash(model, a);
    CHECK_OK(tribo_state_restore(model, b, saved));
    steps_of(model, b, 100, 0);
    assert_true(tribo_data_hash(model, b) == hash);
    steps_of(model, c, 200, 1);
    assert_true(tribo_data_hash(model, c) == hash);
    tribo_state_destroy(saved);
    tribo_data_destroy(a);
    tribo_data_destroy(b);
    tribo_data_destroy(c);
    tribo_model_destroy(model);
  }
}

// The rocker falls onto a wall: what was foreseen without it is taken back, and the bits are the same after a restore
// shortly before. While nothing touches, the four-bar moves as one without a wall does.
static void loops_meet_a_wall(void** state) {
  (void)state;
  static const char* tail =
      "joints:\n"
      "  - {name: A, kind: revolute, parent: world, child: crank, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
      "  - {name: B, kind: revolute, parent: crank, child: coupler, " HINGE_B
      "  - {name: D, kind: revolute, parent: world, child: rocker, anchor: [0.5, 0, 0], axis: [0, 1, 0]}\n"
      "closures: [{name: C, kind: ball, body_a: coupler, body_b: rocker, anchor: [0.6074624015272754, 0, "
      "0.38529447473068]}]\n";
  static const char* tip =
      "  - {name: bob, position: [0.6074624015272754, 0, 0.38529447473068], sphere: 0.05, mass: 1}\n";
  static const char* held =
      "  - {name: E, kind: fixed, parent: rocker, child: bob, anchor: [0.6074624015272754, 0, 0.38529447473068]}\n";
  char text[2][4096];
  TriboModel* models[2];
  TriboData *a[2], *b;
  for (int wall = 0; wall < 2; ++wall) {
    const char* closures = strstr(tail, "closures");
    snprintf(text[wall], sizeof text[wall], "%s%s%s%.*s%s%s",
             wall ? "static: [{plane: [-1, 0, 0], position: [0.7, 0, 0]}]\n" : "", FOURBAR_BODIES, tip,
             (int)(closures - tail), tail, held, closures);
    models[wall] = timed_model(text[wall], 1e-3);
    a[wall] = data_of(models[wall]);
  }
  TriboState* saved;
  CHECK_OK(tribo_state_create(&saved));
  int met = 0;
  for (int step = 0; step < 600; ++step) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(models[1], a[1], &info));
    assert_true(info.certified);
    CHECK_LE(info.opening, 1e-9);
    if (!met && info.contacts == 0) {
      CHECK_OK(tribo_step(models[0], a[0], NULL));
      CHECK_NEAR(value(models[0], a[0], "position.x", "coupler"), value(models[1], a[1], "position.x", "coupler"),
                 1e-12);
      CHECK_OK(tribo_state_save(models[1], a[1], saved));
    }
    met += info.contacts > 0;
  }
  assert_true(met > 0);
  b = data_of(models[1]);
  CHECK_OK(tribo_state_restore(models[1], b, saved));
  while (tribo_data_time(b) < tribo_data_time(a[1]) - 1e-6) {
    CHECK_OK(tribo_step(models[1], b, NULL));
  }
  assert_true(tribo_data_hash(models[1], a[1]) == tribo_data_hash(models[1], b));
  tribo_state_destroy(saved);
  tribo_data_destroy(b);
  for (int wall = 0; wall < 2; ++wall) {
    tribo_data_destroy(a[wall]);
    tribo_model_destroy(models[wall]);
  }
}

#define CRANK_BODIES                                                                                              \
  "world: {gravity: [-3, 0, -9.81]}\n"                                                                            \
  "bodies:\n"                                                                                                     \
  "  - {name: crank, position: [0, 0, 0.1], box: [0.03, 0.03, 0.2], mass: 1, group: 0, mask: 0}\n"                \
  "  - {name: rod, position: [0.25, 0, 0.1], rpy: [0, 0.38050637711236490, 0], box: [0.53851648071345040, 0.02, " \
  "0.02],"                                                                                                        \
  " mass: 0.4, group: 0, mask: 0}\n"                                                                              \
  "  - {name: piston, position: [0.5, 0, 0], box: [0.1, 0.1, 0.1], mass: 2, group: 0, mask: 0}\n"

static const char* crank_free = CRANK_BODIES
    "closures:\n"
    "  - {name: main, kind: hinge, body_b: crank, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: big, kind: hinge, body_a: crank, body_b: rod, anchor: [0, 0, 0.2], axis: [0, 1, 0]}\n"
    "  - {name: small, kind: hinge, body_a: rod, body_b: piston, anchor: [0.5, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: bore, kind: slider, body_b: piston, anchor: [0.5, 0, 0], axis: [1, 0, 0]}\n";
static const char* crank_tree = CRANK_BODIES
    "joints:\n"
    "  - {name: main, kind: revolute, parent: world, child: crank, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: bore, kind: prismatic, parent: world, child: piston, anchor: [0.5, 0, 0], axis: [1, 0, 0]}\n"
    "closures:\n"
    "  - {name: big, kind: hinge, body_a: crank, body_b: rod, anchor: [0, 0, 0.2], axis: [0, 1, 0]}\n"
    "  - {name: small, kind: universal, body_a: rod, body_b: piston, anchor: [0.5, 0, 0], axis: [0, 1, 0],"
    " axis2: [1, 0, 0]}\n";

// r = 0.2 m, l = √(0.5² + 0.2²): the piston is at r sin α + √(l² − r² cos² α), α from the vertical.
static void slider_crank_follows_its_kinematics(void** state) {
  (void)state;
  same_motion(crank_free, crank_tree, "piston", 1, 1e-5);
  TriboModel* model = model_of(crank_free);
  TriboData* data = data_of(model);
  double low = 1, high = 0;
  for (int i = 0; i < 2000; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    const double alpha =
        2 * atan2(value(model, data, "quaternion.y", "crank"), value(model, data, "quaternion.w", "crank"));
    const double x = value(model, data, "position.x", "piston");
    CHECK_NEAR(x, 0.2 * sin(alpha) + sqrt(0.29 - 0.04 * cos(alpha) * cos(alpha)), 1e-12);
    CHECK_NEAR(value(model, data, "position.z", "piston"), 0, 1e-13);
    low = fmin(low, x);
    high = fmax(high, x);
  }
  CHECK_LE(0.05, high - low);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A driven gear pair turns as one flywheel: α_a = τ / (I_a + r² I_b), and momentum passes through the teeth.
static void gears_share_inertia(void** state) {
  (void)state;
  static const char* text =
      "world: {gravity: [0, 0, 0]}\n"
      "bodies:\n"
      "  - {name: small, position: [0, 0, 0], mass: 1, com: [0, 0, 0], inertia: [1, 1, 0.02, 0, 0, 0]}\n"
      "  - {name: large, position: [1, 0, 0], mass: 1, com: [0, 0, 0], inertia: [1, 1, 0.5, 0, 0, 0]}\n"
      "joints:\n"
      "  - {name: a, kind: revolute, parent: world, child: small, anchor: [0, 0, 0], axis: [0, 0, 1], position: 0.3}\n"
      "  - {name: b, kind: revolute, parent: world, child: large, anchor: [1, 0, 0], axis: [0, 0, 1]}\n"
      "closures:\n"
      "  - {name: teeth, kind: gear, joint_a: a, joint_b: b, ratio: -0.25}\n"
      "forces:\n"
      "  - {joint: a, effort: 0.3}\n";
  TriboModel* model = model_of(text);
  TriboData* data = run_for(model, 1);
  const double alpha = 0.3 / (0.02 + 0.5 / 16);
  CHECK_NEAR(value(model, data, "v", "a"), alpha, 1e-10);
  CHECK_NEAR(value(model, data, "v", "b"), -alpha / 4, 1e-10);
  CHECK_NEAR(value(model, data, "q", "a"), 0.3 + alpha / 2, 1e-10);
  CHECK_NEAR(value(model, data, "q", "b"), -alpha / 8, 1e-10);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A follower starts where its leader says.
// Gears go round: continuous joints, many turns, a ratio of −3/2. A torque τ on a turns both with
// (I_a + r² I_b) α = τ; after 20 s a has made about 60 turns, and b is where the ratio says.
static void gears_turn_for_ever(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0]}\n"
      "bodies:\n"
      "  - {name: a, mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
      "  - {name: b, position: [1, 0, 0], mass: 1, com: [0, 0, 0], inertia: [2, 2, 2, 0, 0, 0]}\n"
      "joints:\n"
      "  - {name: x, kind: continuous, parent: world, child: a, axis: [0, 0, 1], position: 0.3}\n"
      "  - {name: y, kind: continuous, parent: world, child: b, anchor: [1, 0, 0], axis: [0, 0, 1], position: -1}\n"
      "closures: [{name: gear, kind: gear, joint_a: x, joint_b: y, ratio: -1.5}]\n"
      "forces: [{joint: x, effort: 11}]\n");
  TriboData* data = data_of(model);
  for (int i = 0; i < 20000; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    CHECK_LE(info.opening, 1e-9);
  }
  const double rate = 11 / (1 + 2.25 * 2);
  CHECK_NEAR(value(model, data, "v", "x"), 20 * rate, 1e-6);
  CHECK_NEAR(value(model, data, "v", "y"), -30 * rate, 1e-6);
  const double turned = 0.5 * rate * 400;
  CHECK_NEAR(remainder(value(model, data, "q", "x") - 0.3 - turned, 2 * M_PI), 0, 1e-6);
  CHECK_NEAR(remainder(value(model, data, "q", "y") + 1 + 1.5 * turned, 2 * M_PI), 0, 1e-6);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void mimic_follows_from_the_start(void** state) {
  (void)state;
  static const char* text =
      "bodies:\n"
      "  - {name: l, position: [0, 0, -1], sphere: 0.1, mass: 1, group: 0, mask: 0}\n"
      "  - {name: f, position: [3, 0, -1], sphere: 0.1, mass: 1, group: 0, mask: 0}\n"
      "joints:\n"
      "  - {name: lead, kind: revolute, parent: world, child: l, anchor: [0, 0, 0], axis: [0, 1, 0], position: 0.5}\n"
      "  - {name: follow, kind: revolute, parent: world, child: f, anchor: [3, 0, 0], axis: [0, 1, 0]}\n"
      "closures:\n"
      "  - {name: m, kind: mimic, joint_a: lead, joint_b: follow, ratio: 2, offset: -0.1}\n";
  TriboModel* model = model_of(text);
  TriboData* data = data_of(model);
  CHECK_NEAR(value(model, data, "q", "follow"), 0.9, 1e-15);
  for (int i = 0; i < 500; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
    CHECK_NEAR(value(model, data, "q", "follow"), 2 * value(model, data, "q", "lead") - 0.1, 1e-13);
    CHECK_NEAR(value(model, data, "v", "follow"), 2 * value(model, data, "v", "lead"), 1e-12);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Two boxes welded together land, tip and rest as one box does, and the floor carries their weight.
static void welded_boxes_rest_on_the_floor(void** state) {
  (void)state;
  static const char* text =
      "static: [{plane: [0, 0, 1]}]\n"
      "bodies:\n"
      "  - {name: l, position: [-0.1, 0, 0.3], velocity: [0.3, 0, 0], box: [0.2, 0.2, 0.2], mass: 1}\n"
      "  - {name: r, position: [0.1, 0, 0.3], velocity: [0.3, 0, 0], box: [0.2, 0.2, 0.2], mass: 3}\n"
      "closures:\n"
      "  - {name: glue, kind: weld, body_a: l, body_b: r, anchor: [0, 0, 0.3]}\n";
  TriboModel* model = model_of(text);
  TriboData* data = run_for(model, 1.5);
  CHECK_LE(value(model, data, "speed_max", NULL), 1e-9);
  CHECK_NEAR(value(model, data, "contact_force", NULL), 4 * 9.81, 1e-6);
  CHECK_NEAR(value(model, data, "position.z", "l"), 0.1, 1e-6);
  CHECK_NEAR(value(model, data, "position.z", "r"), 0.1, 1e-6);
  CHECK_NEAR(value(model, data, "position.x", "r") - value(model, data, "position.x", "l"), 0.2, 1e-12);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A plank welded to the world at both ends: six rows too many. Each end carries half of it and the moment of a
// clamped beam's symmetric share, and nothing creeps in 2 s.
static void redundant_rows_are_named_and_carry_their_share(void** state) {
  (void)state;
  static const char* text =
      "bodies: [{name: plank, position: [0, 0, 1], box: [2, 0.2, 0.1], mass: 3}]\n"
      "closures:\n"
      "  - {name: left, kind: weld, body_b: plank, anchor: [-1, 0, 1]}\n"
      "  - {name: right, kind: weld, body_b: plank, anchor: [1, 0, 1]}\n";
  TriboModel* model = model_of(text);
  assert_string_equal(tribo_model_closure(model, 0)->redundant, "");
  assert_string_equal(tribo_model_closure(model, 1)->redundant, "along x, along y, along z, about y, about x, about z");
  TriboData* data = data_of(model);
  double first[12];  // of the first step that starts warm
  for (int i = 0; i < 2000; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    const double *left, *right;
    CHECK_OK(tribo_data_closure_force(model, data, 0, &left));
    CHECK_OK(tribo_data_closure_force(model, data, 1, &right));
    for (int r = 0; r < 6; ++r) {
      first[r] = i <= 1 ? left[r] : first[r];
      first[6 + r] = i <= 1 ? right[r] : first[6 + r];
      CHECK_NEAR(left[r], first[r], 1e-8);
      CHECK_NEAR(right[r], first[6 + r], 1e-8);
    }
    CHECK_NEAR(fabs(left[2]), 1.5 * 9.81, 1e-6);
    CHECK_NEAR(fabs(right[2]), 1.5 * 9.81, 1e-6);
  }
  CHECK_LE(value(model, data, "speed_max", NULL), 1e-12);
  CHECK_NEAR(value(model, data, "position.z", "plank"), 1, 1e-13);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Euler pulls a closure shut by and by instead.
static void euler_stays_nearly_shut(void** state) {
  (void)state;
  char text[2048];
  snprintf(text, sizeof text, "world: {scheme: euler}\n%s", pendulum_free);
  TriboModel* model = model_of(text);
  TriboData* data = data_of(model);
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_int_equal(info.passes, 1);
    worst = fmax(worst, info.opening);
  }
  CHECK_LE(worst, 1e-3);
  CHECK_LE(1e-8, worst);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A link that is welded to the world is as good as the world.
static void bases_that_never_move_hold_closures(void** state) {
  (void)state;
  static const char* text =
      "bodies:\n"
      "  - {name: base, position: [0.2, 0.1, 1], rpy: [0.3, 0.2, 0.1], box: [0.1, 0.1, 0.1], mass: 1, group: 0, mask: "
      "0}\n"
      "  - {name: bar, position: [0.5, 0, 0], box: [1, 0.05, 0.1], mass: 1, group: 0, mask: 0}\n"
      "joints: [{name: bolt, kind: fixed, parent: world, child: base}]\n"
      "closures: [{kind: hinge, body_a: %s, body_b: bar, anchor: [0, 0, 0], axis: [0, 1, 0]}]\n";
  char on_base[512], on_world[512];
  double p[2][3];
  snprintf(on_base, sizeof on_base, text, "base");
  snprintf(on_world, sizeof on_world, text, "world");
  end_of(on_base, 1e-3, 1, "bar", p[0]);
  end_of(on_world, 1e-3, 1, "bar", p[1]);
  CHECK_LE(apart(p[0], p[1]), 1e-12);
}

static void wrong_closures_say_why(void** state) {
  (void)state;
#define BALLS "bodies: [{name: a, sphere: 0.1}, {name: b, position: [1, 0, 0], sphere: 0.1}]\n"
  static const struct {
    const char *text, *message;
  } cases[] = {
      {BALLS "closures: [{kind: ball}]\n", "needs body_a or body_b"},
      {BALLS "closures: [{kind: ball, body_a: c}]\n", "there is no body 'c'"},
      {BALLS "closures: [{kind: ball, body_a: a, body_b: a}]\n", "never move against each other"},
      {BALLS "closures: [{kind: bolt, body_a: a}]\n", "accepted are weld, ball, hinge"},
      {BALLS "closures: [{kind: hinge, body_a: a, axis: [0, 0, 0]}]\n", "must not be zero"},
      {BALLS "closures: [{kind: universal, body_a: a, axis: [1, 0, 1]}]\n", "right angle"},
      {BALLS "closures: [{kind: distance, body_a: a, body_b: b}]\n", "in one place"},
      {BALLS "closures: [{kind: distance, body_a: a, body_b: b, anchor2: [1, 0, 0], length: 2}]\n", "1 m apart"},
      {BALLS "closures:\n  - {name: rod, kind: distance, body_a: a, body_b: b, anchor2: [1, 0, 0], length: 1.001}\n",
       ":3:5: closure 'rod': length = 1.001 m, but its ends are 1 m apart"},
      {BALLS "closures: [{kind: gear, joint_a: x, joint_b: y}]\n", "there is no joint 'x'"},
      {BALLS "closures: [{kind: gear, body_a: a}]\n", "needs joint_a and joint_b"},
      {BALLS "closures: [{name: k, kind: ball, body_a: a}, {name: k, kind: ball, body_a: b}]\n", "is taken"},
      {"bodies: [{name: a, sphere: 0.1}, {name: b, position: [1, 0, 0], sphere: 0.1}]\n"
       "joints: [{name: x, kind: revolute, parent: world, child: a}, {name: y, kind: revolute, parent: world, child: "
       "b}]\n"
       "closures: [{kind: mimic, joint_a: x, joint_b: y}, {kind: mimic, joint_a: x, joint_b: y, offset: 1}]\n",
       "open by 1 at the start: another one contradicts it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    TriboScene* scene;
    TriboModel* model;
    TriboStatus status = load_text(cases[i].text, &scene);
    if (status == TRIBO_OK) {
      status = tribo_model_create(scene, &model);
      tribo_scene_destroy(scene);
    }
    assert_true(status != TRIBO_OK);
    if (strstr(tribo_last_error(), cases[i].message) == NULL) {
      print_error("'%s' does not say '%s'\n", tribo_last_error(), cases[i].message);
      fail();
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(double_pendulum_three_ways),
      cmocka_unit_test(fourbar_three_ways),
      cmocka_unit_test(loops_need_no_solver),
      cmocka_unit_test(loops_go_on_as_they_were),
      cmocka_unit_test(loops_meet_a_wall),
      cmocka_unit_test(slider_crank_follows_its_kinematics),
      cmocka_unit_test(gears_share_inertia),
      cmocka_unit_test(gears_turn_for_ever),
      cmocka_unit_test(mimic_follows_from_the_start),
      cmocka_unit_test(welded_boxes_rest_on_the_floor),
      cmocka_unit_test(redundant_rows_are_named_and_carry_their_share),
      cmocka_unit_test(euler_stays_nearly_shut),
      cmocka_unit_test(bases_that_never_move_hold_closures),
      cmocka_unit_test(wrong_closures_say_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
