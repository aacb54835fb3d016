// What a scene compiles to: masses, trees, names, materials.
#include "scenes.h"

static void shapes_add_up_to_a_body(void** state) {
  (void)state;
  // a dumb-bell: two spheres of density 1000 at ±0.5 m; a third shape without density does not count
  TriboModel* model = model_of(
      "bodies:\n"
      "  - name: bell\n"
      "    shapes:\n"
      "      - {sphere: 0.1, position: [0.5, 0, 0]}\n"
      "      - {sphere: 0.1, position: [-0.5, 0, 0]}\n"
      "      - {cylinder: [0.01, 1], rpy: [0, 90 deg, 0], density: 0}\n"
      "  - {name: half, mass: 4, shapes: [{box: [1, 1, 1], position: [0.5, 0, 0], rpy: [0.3, 0.2, 0.1]}]}\n");
  const TriboBodyInfo* bell = tribo_model_body(model, 0);
  double m = 1000 * 4.0 / 3 * M_PI * 1e-3, own = 0.4 * m * 0.01;
  CHECK_NEAR(bell->mass, 2 * m, 1e-12);
  CHECK_NEAR(bell->com[0], 0, 1e-15);
  CHECK_NEAR(bell->inertia[0], 2 * own, 1e-12);
  CHECK_NEAR(bell->inertia[1], 2 * (own + m * 0.25), 1e-12);
  // a given mass scales the shapes' inertia; a cube's is the same in every direction
  const TriboBodyInfo* half = tribo_model_body(model, 1);
  CHECK_NEAR(half->com[0], 0.5, 1e-15);
  for (int i = 0; i < 6; ++i) {
    CHECK_NEAR(half->inertia[i], i < 3 ? 4.0 / 6 : 0, 1e-14);
  }
  tribo_model_destroy(model);
}

static const char* arm =
    "bodies:\n"
    "  - {name: free, position: [5, 0, 0], sphere: 0.1}\n"
    "  - {name: upper, position: [0.5, 0, 0], box: [1, 0.1, 0.1], mass: 2}\n"
    "  - {name: lower, position: [1.5, 0, 0], box: [1, 0.1, 0.1], mass: 1}\n"
    "  - {name: root, position: [0, 3, 1], sphere: 0.2, velocity: [1, 0, 0]}\n"
    "  - {name: tail, position: [0, 3, 0], sphere: 0.1}\n"
    "joints:\n"
    "  - {name: elbow, parent: upper, child: lower, anchor: [1, 0, 0], axis: [0, 1, 0], position: 90 deg}\n"
    "  - {name: shoulder, parent: world, child: upper, anchor: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  - {name: hinge, parent: root, child: tail, anchor: [0, 3, 1], axis: [1, 0, 0]}\n";

static void joints_make_trees(void** state) {
  (void)state;
  TriboModel* model = model_of(arm);
  TriboModelSize n = tribo_model_size(model);
  assert_int_equal(n.nfree, 1);
  assert_int_equal(n.ntree, 2);
  assert_int_equal(n.nbody, 5);
  assert_int_equal(n.nv, 6 + 2 + 7);
  TriboData* data = data_of(model);
  TriboView x, v;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &x));
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_VELOCITY, &v));
  int lower, root, tail;
  CHECK_OK(tribo_model_body_id(model, "lower", &lower));
  CHECK_OK(tribo_model_body_id(model, "root", &root));
  CHECK_OK(tribo_model_body_id(model, "tail", &tail));
  // the elbow bent by 90° about y points the forearm down
  CHECK_NEAR(x.values[3 * lower], 1, 1e-14);
  CHECK_NEAR(x.values[3 * lower + 2], -0.5, 1e-14);
  CHECK_NEAR(x.values[3 * root + 1], 3, 1e-14);
  CHECK_NEAR(v.values[3 * root], 1, 1e-14);
  CHECK_NEAR(v.values[3 * tail], 1, 1e-14);
  // the forces of a joint keep the upper arm's end where it is pinned
  for (int i = 0; i < 200; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &x));
  int upper;
  CHECK_OK(tribo_model_body_id(model, "upper", &upper));
  CHECK_NEAR(hypot(x.values[3 * upper], x.values[3 * upper + 2]), 0.5, 1e-12);
  TriboMechanics m;
  CHECK_OK(tribo_data_mechanics(model, data, &m));
  CHECK_NEAR(m.momentum[0] > 0, 1, 0);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void materials_mix_by_rule_or_by_pair(void** state) {
  (void)state;
  // three boxes pushed by the same force: the middle one has a pair of its own with the ground
  TriboModel* model = model_of(
      "materials: {ground: {friction: 0.9}, ice: {friction: 0.1}, rubber: {friction: 0.4}}\n"
      "pairs: [{between: [rubber, ground], friction: 0.2}]\n"
      "static: [{plane: [0, 0, 1], material: ground}]\n"
      "bodies:\n"
      "  - {name: ice, position: [0, 0, 0.05], box: [0.2, 0.2, 0.1], mass: 1, material: ice}\n"
      "  - {name: rubber, position: [0, 1, 0.05], box: [0.2, 0.2, 0.1], mass: 1, material: rubber}\n"
      "forces: [{body: ice, force: [5, 0, 0]}, {body: rubber, force: [5, 0, 0], end: 0.5}]\n");
  // shapes: the ground, ice, rubber
  CHECK_NEAR(tribo_model_pair(model, 0, 1)->friction, 0.3, 1e-15);
  CHECK_NEAR(tribo_model_pair(model, 2, 0)->friction, 0.2, 0);
  assert_null(tribo_model_pair(model, 0, 2)->name);
  assert_null(tribo_model_pair(model, 0, 3));
  assert_null(tribo_model_pair(model, -1, 0));
  TriboData* data = data_of(model);
  for (int i = 0; i < 500; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
  TriboView v;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_VELOCITY, &v));
  // v = (F/m − μ g) t with μ = √(0.9 · 0.1) = 0.3 and μ = 0.2
  CHECK_NEAR(v.values[0], (5 - 0.3 * 9.81) * 0.5, 1e-8);
  CHECK_NEAR(v.values[3], (5 - 0.2 * 9.81) * 0.5, 1e-8);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void exclusions_and_groups_let_bodies_pass(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0]}\n"
      "bodies:\n"
      "  - {name: a, position: [0, 0, 0], sphere: 0.5, mass: 1}\n"
      "  - {name: b, position: [0.6, 0, 0], sphere: 0.5, mass: 1}\n"
      "  - {name: c, position: [0, 0.6, 0], sphere: 0.5, mass: 1, group: 2, mask: 4}\n"
      "exclude: [[a, b]]\n");
  TriboData* data = data_of(model);
  TriboStepInfo info;
  CHECK_OK(tribo_step(model, data, &info));
  assert_int_equal(info.contacts, 0);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void recorders_write_what_was_asked(void** state) {
  (void)state;
  TriboModel* model = model_of("bodies: [{name: a, position: [0, 0, 2], sphere: 0.5, mass: 1}]\n");
  TriboData* data = data_of(model);
  char path[] = "/tmp/tribo-record-XXXXXX";
  close(mkstemp(path));
  const char* columns[] = {"energy", "a: position.z"};
  TriboRecordDef def = {.file = path, .every = 10, .quantities = columns, .nquantity = 2};
  TriboRecorder* recorder;
  CHECK_OK(tribo_recorder_open(model, &def, &recorder));
  for (int i = 0; i <= 100; ++i) {
    CHECK_OK(tribo_recorder_observe(recorder, data));
    CHECK_OK(tribo_step(model, data, NULL));
  }
  CHECK_OK(tribo_recorder_close(recorder));
  FILE* file = fopen(path, "r");
  char line[256];
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "t,energy,a: position.z\n");
  double t, energy, z;
  int rows = 0;
  while (fscanf(file, "%lf,%lf,%lf\n", &t, &energy, &z) == 3) {
    CHECK_NEAR(t, 0.01 * rows, 1e-14);
    CHECK_NEAR(z, 2 - 0.5 * 9.81 * t * t, 1e-13);
    CHECK_NEAR(energy, 2 * 9.81, 1e-12);
    rows++;
  }
  assert_int_equal(rows, 11);
  fclose(file);
  unlink(path);
  def.file = "/nowhere/x.csv";
  CHECK_FAILS(tribo_recorder_open(model, &def, &recorder), TRIBO_IO, "/nowhere/x.csv: cannot be written");
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void judges_see_every_kind_of_fact(void** state) {
  (void)state;
  // free fall from 2 m for 0.5 s: z = 2 − g t²/2, v = −g t
  TriboModel* model = model_of(
      "bodies: [{name: a, position: [0, 0, 2], sphere: 0.1, mass: 1}]\n"
      "expect:\n"
      "  - {quantity: position.z, of: a, value: 0.77375, abs: 1.0e-12}\n"
      "  - {quantity: position.z, of: a, when: at, from: 0.2, value: 1.8038, abs: 1.0e-12}\n"
      "  - {quantity: velocity.z, of: a, when: max, from: 0.1, max: -0.98, min: -0.982}\n"
      "  - {quantity: velocity.z, of: a, when: min, value: -4.905, rel: 1.0e-12}\n"
      "  - {quantity: velocity.z, of: a, when: mean, value: -2.4525, abs: 1.0e-9}\n"
      "  - {quantity: energy, when: always, change: true, value: 0, abs: 1.0e-12}\n"
      "  - {quantity: position.z, of: a, when: always, min: 1}\n"
      "  - {quantity: time, when: at, from: 9, min: 0}\n");
  static const int held[] = {1, 1, 1, 1, 1, 1, 0, 0};
  TriboData* data = data_of(model);
  TriboJudge* judge;
  CHECK_OK(tribo_judge_create(model, &judge));
  CHECK_OK(tribo_judge_observe(judge, data));
  for (int i = 0; i < 500; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
    CHECK_OK(tribo_judge_observe(judge, data));
  }
  assert_int_equal(tribo_judge_count(judge), 8);
  for (int i = 0; i < 8; ++i) {
    TriboVerdict v;
    CHECK_OK(tribo_judge_verdict(judge, i, &v));
    if (v.held != held[i]) {
      print_error("%s: expected %s, measured %.17g\n", v.quantity, v.expected, v.measured);
      fail();
    }
  }
  TriboVerdict v;
  CHECK_FAILS(tribo_judge_verdict(judge, 8, &v), TRIBO_INVALID, "index = 8");
  tribo_judge_destroy(judge);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void everything_is_found_by_its_name(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "materials: {rubber: {friction: 1}}\n"
      "bodies: [{name: link, position: [0, 0, 1], sphere: 0.1}, {name: ball, position: [3, 0, 1], sphere: 0.1}]\n"
      "joints: [{name: hinge, parent: world, child: link, anchor: [0, 0, 2], axis: [0, 1, 0]}]\n"
      "motors: [{joint: hinge, stiffness: 1, damping: 1}]\n"
      "tendons: [{name: cord, joints: {hinge: 1}}]\n"
      "actuators: [{name: pull, tendon: cord}]\n"
      "controllers: [{name: hold, joints: [hinge], law: gravity}]\n"
      "closures: [{name: rod, kind: distance, body_a: link, body_b: ball, anchor: [0, 0, 1], anchor2: [3, 0, 1]}]\n"
      "sensors: [{name: gyro, kind: gyroscope, body: link}]\n"
      "cameras: [{name: side}]\n"
      "states: [{name: bent, positions: {hinge: 1}}]\n");
  const struct {
    TriboItemKind kind;
    const char* name;
  } items[] = {
      {TRIBO_ITEM_BODY, "ball"},       {TRIBO_ITEM_JOINT, "hinge"},     {TRIBO_ITEM_CLOSURE, "rod"},
      {TRIBO_ITEM_MATERIAL, "rubber"}, {TRIBO_ITEM_TENDON, "cord"},     {TRIBO_ITEM_ACTUATOR, "pull"},
      {TRIBO_ITEM_MOTOR, "hinge"},     {TRIBO_ITEM_CONTROLLER, "hold"}, {TRIBO_ITEM_SENSOR, "gyro"},
      {TRIBO_ITEM_CAMERA, "side"},     {TRIBO_ITEM_STATE, "bent"},      {TRIBO_ITEM_SHAPE, "link.shape0"},
  };
  assert_int_equal(sizeof items / sizeof *items, TRIBO_ITEM_COUNT);
  for (size_t i = 0; i < sizeof items / sizeof *items; ++i) {
    int id = -1;
    CHECK_OK(tribo_model_find(model, items[i].kind, items[i].name, &id));
    assert_string_equal(tribo_model_name(model, items[i].kind, id), items[i].name);
    CHECK_FAILS(tribo_model_find(model, items[i].kind, "nobody", &id), TRIBO_NOT_FOUND, "nobody");
    assert_int_equal(id, -1);
    assert_null(tribo_model_name(model, items[i].kind, 1000));
    assert_null(tribo_model_name(model, items[i].kind, -1));
  }
  int id;
  CHECK_FAILS(tribo_model_find(model, TRIBO_ITEM_COUNT, "x", &id), TRIBO_INVALID, "kind = 12");
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_add_up_to_a_body),          cmocka_unit_test(joints_make_trees),
      cmocka_unit_test(materials_mix_by_rule_or_by_pair), cmocka_unit_test(exclusions_and_groups_let_bodies_pass),
      cmocka_unit_test(recorders_write_what_was_asked),   cmocka_unit_test(judges_see_every_kind_of_fact),
      cmocka_unit_test(everything_is_found_by_its_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
