// Scene files: what is wrong is said with file, line, column, key, value and what would be accepted.
#include "scenes.h"

static const struct {
  const char* text;
  TriboStatus status;
  const char* message;
} wrong[] = {
    // the file itself
    {"", TRIBO_INVALID, ":1:1: the file is empty"},
    {"robots: [{name: r, urdf: /nowhere/r.urdf}]\n", TRIBO_IO, "/nowhere/r.urdf: cannot be opened"},
    {"world: {dt: 1", TRIBO_INVALID, "did not find expected"},
    {"world: {dt: 0.01}\n---\nworld: {}\n", TRIBO_INVALID, "a second document"},
    {"world: &a {dt: 0.01}\n", TRIBO_INVALID, "anchors"},
    {"world: *a\n", TRIBO_INVALID, "alias"},
    {"world: !!map {dt: 0.01}\n", TRIBO_INVALID, "tags"},
    {"- a list\n", TRIBO_INVALID, ":1:1: section scene must be a mapping, not a list"},
    {"world: \xff\xfe\n", TRIBO_INVALID, "UTF-8"},
    // keys
    {"wordl: {}\n", TRIBO_INVALID, ":1:1: unknown key 'wordl' in section scene; did you mean 'world'?"},
    {"world:\n  dtt: 0.01\n", TRIBO_INVALID, ":2:3: unknown key 'dtt' in section world; did you mean 'dt'?"},
    {"world: {dt: 0.01, dt: 0.02}\n", TRIBO_INVALID, ":1:19: the key 'dt' stands here a second time"},
    {"world: {[1]: 2}\n", TRIBO_INVALID, "a key must be a word"},
    // values
    {"world: {dt: fast}\n", TRIBO_INVALID, ":1:13: dt: 'fast' is not a number"},
    {"world: {dt: '0.01'}\n", TRIBO_INVALID, "dt: '0.01' is not a number"},
    {"world: {dt: nan}\n", TRIBO_INVALID, "dt: 'nan' is not a number"},
    {"world: {dt: 0x10}\n", TRIBO_INVALID, "is not a number"},
    {"world: {dt: 0}\n", TRIBO_INVALID, ":1:13: dt: 0 s is outside the accepted range (0, 1]"},
    {"world: {dt: -1}\n", TRIBO_INVALID, "dt: -1 s is outside the accepted range (0, 1]"},
    {"world: {dt: inf}\n", TRIBO_INVALID, "outside the accepted range"},
    {"world: {dt: 1e999}\n", TRIBO_INVALID, "is not a number"},
    {"world: {threads: 1.5}\n", TRIBO_INVALID, "threads: '1.5' is not a whole number"},
    {"world: {gravity: [0, 0]}\n", TRIBO_INVALID, "gravity: a list; accepted is a list of 3 numbers"},
    {"world: {gravity: 9.81}\n", TRIBO_INVALID, "gravity: '9.81'; accepted is a list of 3 numbers"},
    {"world: {scheme: rk4}\n", TRIBO_INVALID, "scheme: 'rk4'; accepted are variational, euler"},
    {"world: {solver: magic}\n", TRIBO_INVALID, "there is no solver 'magic'"},
    {"world: {solver: {id: admm, rhoo: 1}}\n", TRIBO_NOT_FOUND, "did you mean 'rho'?"},
    {"world: {solver: {id: admm, tol: -1}}\n", TRIBO_INVALID, ":1:28: "},
    // materials
    {"materials: {a: {friction: -1}}\n", TRIBO_INVALID, "friction: -1 is outside the accepted range [0, 1e+06]"},
    {"materials: {a: {restitution: 1.5}}\n", TRIBO_INVALID, "[0, 1]"},
    {"materials: {a: {damping: 3}}\n", TRIBO_INVALID, "needs a stiffness"},
    {"pairs: [{between: [a, b]}]\n", TRIBO_NOT_FOUND, "there is no material 'a'"},
    {"pairs: [{friction: 1}]\n", TRIBO_INVALID, "between"},
    // bodies and shapes
    {"bodies: []\n", TRIBO_INVALID, "bodies: an empty list; accepted is a list with at least one item"},
    {"bodies:\n  - {name: a, sphere: 1, mass: -1}\n", TRIBO_INVALID,
     ":2:32: mass: -1 kg is outside the accepted range [0,"},
    {"bodies: [{sphere: -1}]\n", TRIBO_INVALID, "sphere: -1 m is outside the accepted range (0, 1e6]"},
    {"bodies: [{box: [1, 0, 1]}]\n", TRIBO_INVALID, "box: 0 m"},
    {"bodies: [{box: [1, 1, 1], sphere: 1}]\n", TRIBO_INVALID, "'box' beside 'sphere'"},
    {"bodies: [{name: a, sphere: 1}, {name: a, sphere: 1}]\n", TRIBO_INVALID, ":1:32: body: the name 'a' is taken"},
    {"bodies: [{sphere: 1, quaternion: [0, 0, 0, 0]}]\n", TRIBO_INVALID, "quaternion has length 0"},
    {"bodies: [{sphere: 1, quaternion: [0, 0, 0, 1], rpy: [0, 0, 0]}]\n", TRIBO_INVALID, "say the same"},
    {"bodies: [{mass: 1, inertia: [1, 1, -1, 0, 0, 0]}]\n", TRIBO_INVALID, "must be positive definite"},
    {"bodies: [{sphere: 1, inertia: [1, 1, 1, 0, 0, 0]}]\n", TRIBO_INVALID, "needs a mass"},
    {"bodies: [{plane: [0, 0, 1]}]\n", TRIBO_INVALID, "half-space is static"},
    {"bodies: [{sphere: 1, material: steel}]\n", TRIBO_NOT_FOUND, "there is no material 'steel'"},
    {"bodies: [{shapes: [{position: [0, 0, 0]}]}]\n", TRIBO_INVALID, "a shape needs one of sphere"},
    {"static: [{plane: [0, 0, 0]}]\n", TRIBO_INVALID, "the normal must have a length above 0"},
    {"static: [{box: [1, 1, 1], color: [2, 0, 0]}]\n", TRIBO_INVALID, "color: 2 is outside the accepted range [0, 1]"},
    {"bodies: [{mesh: part.stl, as: concave}]\n", TRIBO_INVALID, "accepted are hull and components"},
    // joints
    {"bodies: [{name: a, sphere: 1}]\njoints: [{parent: world}]\n", TRIBO_INVALID, ":2:10: a joint needs a child"},
    {"bodies: [{name: arm, sphere: 1}]\njoints: [{parent: world, child: amr}]\n", TRIBO_INVALID, "did you mean 'arm'?"},
    {"bodies: [{name: a, sphere: 1}]\njoints: [{parent: world, child: a, axis: [0, 0, 0]}]\n", TRIBO_INVALID,
     "must not be zero"},
    {"bodies: [{name: a, sphere: 1}]\njoints: [{parent: world, child: a, lower: 1, upper: 0}]\n", TRIBO_INVALID,
     "lower = 1 must not be above upper = 0"},
    {"bodies: [{name: a, sphere: 1}]\njoints: [{parent: world, child: a, kind: glue}]\n", TRIBO_INVALID,
     "kind: 'glue'"},
    {"bodies: [{name: a, sphere: 1}]\njoints:\n  - {parent: world, child: a, kind: ellipsoid, radii: [1, 0, 2]}\n",
     TRIBO_INVALID, ":3:59: radii: 0 m is outside the accepted range (0, 1e+06]"},
    {"bodies: [{name: a, sphere: 1}]\njoints:\n  - {parent: world, child: a, kind: ellipsoid, radii: [1, 2, inf]}\n",
     TRIBO_INVALID, ":3:62: radii: inf m is outside the accepted range (0, 1e+06]"},
    {"bodies: [{name: a, sphere: 1}]\njoints: [{parent: world, child: a, kind: ellipsoid, radii: [1, nan, 1]}]\n",
     TRIBO_INVALID, "radii: 'nan' is not a number"},
    {"bodies: [{name: a, sphere: 1}]\njoints: [{parent: world, child: a, kind: ellipsoid, radii: 1}]\n", TRIBO_INVALID,
     "radii: '1'; accepted is a list of 3 numbers"},
    {"bodies: [{name: a, sphere: 1}]\njoints:\n  - {parent: world, child: a, kind: ellipsoid}\n", TRIBO_INVALID,
     ":3:5: joint: an ellipsoid joint needs radii, each in (0, 1e+06] m"},
    // generators
    {"grid: [{count: [1, 1, 2]}]\n", TRIBO_INVALID, "needs a shape"},
    {"grid: [{count: [1, 1, 0.5], sphere: 1}]\n", TRIBO_INVALID, "whole number in [1, 100000]"},
    {"grid: [{count: [1000, 1000, 1000], sphere: 1}]\n", TRIBO_INVALID, "are more than 100000"},
    {"grid: [{sphere: 1, mass: {min: 2, max: 1}}]\n", TRIBO_INVALID, "min ≤ max"},
    {"grid: [{sphere: 1, mass: {first: -1}}]\n", TRIBO_INVALID, "mass = -1"},
    {"wall: [{box: [1, 1, 1], rows: 0}]\n", TRIBO_INVALID, "rows: 0 is outside the accepted range [1, 1000]"},
    // observers
    {"expect: []\n", TRIBO_INVALID, "expect: an empty list"},
    {"expect: [{quantity: energy}]\n", TRIBO_INVALID, "it needs a value, a min or a max"},
    {"expect: [{quantity: energy, value: 1, abs: -1}]\n", TRIBO_INVALID, "abs: -1"},
    {"record: [{every: 2}]\n", TRIBO_INVALID, "it needs a file"},
    {"forces: [{force: [1, 0, 0]}]\n", TRIBO_INVALID, "either a body or a joint"},
    {"include: nowhere.yaml\n", TRIBO_INVALID, ":1:10: include: "},
};

static void wrong_files_are_refused_with_a_place(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    TriboScene* scene = NULL;
    TriboStatus status = load_text(wrong[i].text, &scene);
    assert_null(scene);
    if (status != wrong[i].status || strstr(tribo_last_error(), wrong[i].message) == NULL ||
        strstr(tribo_last_error(), ".yaml") == NULL) {
      print_error("case %zu: %s: \"%s\"\nexpected %s with \"%s\"\nfor: %s\n", i, tribo_status_name(status),
                  tribo_last_error(), tribo_status_name(wrong[i].status), wrong[i].message, wrong[i].text);
      fail();
    }
  }
}

// Names that can only be resolved when the whole scene is known still point to their line.
static const struct {
  const char* text;
  const char* message;
} late[] = {
    {"bodies: [{name: a, sphere: 1}]\nexpect: [{quantity: speed, of: b, max: 1}]\n", ":2:10: there is no body 'b'"},
    {"bodies: [{name: a, sphere: 1}]\nexpect: [{quantity: sped, of: a, max: 1}]\n", "did you mean 'speed'?"},
    {"bodies: [{name: a, sphere: 1}]\nforces: [{body: c}]\n", ":2:10: there is no body 'c'"},
    {"bodies: [{name: a, sphere: 1}]\nexclude: [[a, z]]\n", ":2:11: there is no body 'z'"},
    {"bodies: [{name: a, sphere: 1}]\nrecord: [{file: x.csv, columns: ['a: heat']}]\n",
     ":2:10: there is no quantity 'heat'"},
    {"bodies:\n  - {name: ghost}\n", ":2:5: body 'ghost' has no mass"},
    {"bodies:\n  - {name: a, sphere: 1, mass: 0}\n", ":2:5: body 'a' has mass 0 kg"},
    {"bodies:\n  - {name: a, mass: 0}\njoints: [{parent: world, child: a}]\n", "moves no mass"},
    {"bodies: [{name: a, sphere: 1}]\njoints: [{child: a, parent: world}]\ntendons:\n  - {joints: {elbow: 1}}\n",
     ":4:5: there is no joint 'elbow'"},
    {"bodies: [{name: a, sphere: 1}]\nactuators:\n  - {tendon: t}\n", ":3:5: there is no tendon 't'"},
    {"bodies:\n  - {name: point, mass: 1}\n", "has mass 1 kg but no inertia"},
    {"bodies:\n  - {sphere: 1, density: 0}\n", "has no mass"},
    {"bodies: [{name: a, mass: 1, hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}]\n", "flat"},
    {"bodies: [{name: a, mass: 1, mesh: /nowhere/part.stl}]\n", "/nowhere/part.stl"},
    {"bodies: [{name: a, sphere: 1}, {name: b, sphere: 1}]\njoints: [{parent: a, child: b}, {parent: b, child: a}]\n",
     "closed loop"},
};

static void late_errors_keep_their_place(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof late / sizeof *late; ++i) {
    TriboScene* scene;
    TriboModel* model;
    CHECK_OK(load_text(late[i].text, &scene));
    TriboStatus status = tribo_model_create(scene, &model);
    assert_null(model);
    if (status == TRIBO_OK || strstr(tribo_last_error(), late[i].message) == NULL) {
      print_error("case %zu: \"%s\"\nexpected \"%s\"\n", i, tribo_last_error(), late[i].message);
      fail();
    }
    tribo_scene_destroy(scene);
  }
}

static void hostile_sizes_are_refused_quickly(void** state) {
  (void)state;
  TriboScene* scene;
  // a file above the limit, a deep one, one with too many keys
  size_t n = (size_t)20 << 20;
  char* text = malloc(n + 1);
  memset(text, '#', n);
  text[n] = '\0';
  CHECK_FAILS(load_text(text, &scene), TRIBO_INVALID, "larger than 16 MiB");
  memset(text, '[', 100000);
  text[100000] = '\0';
  CHECK_FAILS(load_text(text, &scene), TRIBO_INVALID, "nested more than 32 deep");
  size_t at = 0;
  for (int i = 0; i < 6000; ++i) {
    at += (size_t)sprintf(text + at, "k%d: 1\n", i);
  }
  CHECK_FAILS(load_text(text, &scene), TRIBO_INVALID, "more than 4096 keys");
  free(text);
  CHECK_FAILS(tribo_scene_load("/nowhere/scene.yaml", NULL, &scene), TRIBO_IO, "/nowhere/scene.yaml: cannot be read");
  CHECK_FAILS(tribo_scene_load("/tmp", NULL, &scene), TRIBO_IO, "/tmp: cannot be read");
}

static void includes_stand_before_and_never_loop(void** state) {
  (void)state;
  const char* content = "world: {dt: 0.01, duration: 2}\nbodies: [{name: a, sphere: 1}]\n";
  char* inner = scene_file(content, strlen(content));
  char text[256];
  snprintf(text, sizeof text, "include: %s\nworld: {dt: 0.02}\n", inner);
  TriboScene* scene;
  CHECK_OK(load_text(text, &scene));
  CHECK_NEAR(tribo_scene_world(scene)->dt, 0.02, 0);
  CHECK_NEAR(tribo_scene_world(scene)->duration, 2, 0);
  tribo_scene_destroy(scene);
  unlink(inner);
  // a file that includes itself
  FILE* file = fopen(inner, "w");
  fprintf(file, "include: %s\n", inner);
  fclose(file);
  CHECK_FAILS(tribo_scene_load(inner, NULL, &scene), TRIBO_INVALID, "includes itself");
  unlink(inner);
  free(inner);
}

static void degrees_and_rules_mean_what_they_say(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "grid: [{name: c, count: [2, 1, 3], spacing: [2, 1, 1], origin: [0, 0, 0.5], box: [1, 1, 1],"
      " mass: {first: 1, factor: 10, by: layer}, size: {list: [1, 0.5], by: column}}]\n"
      "bodies: [{name: t, sphere: 1, rpy: [0, 0, 90 deg]}]\n");
  static const double mass[] = {1, 1, 10, 10, 100, 100};
  TriboData* data = data_of(model);
  TriboView x, q;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &x));
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_QUATERNION, &q));
  for (int i = 0; i < 6; ++i) {
    char name[8];
    int id;
    snprintf(name, sizeof name, "c%d", i);
    CHECK_OK(tribo_model_body_id(model, name, &id));
    CHECK_NEAR(tribo_model_body(model, id)->mass, mass[i], 1e-12);
    CHECK_NEAR(x.values[3 * id], i % 2 ? 1 : -1, 1e-15);
    CHECK_NEAR(x.values[3 * id + 2], 0.5 + i / 2, 1e-15);
    // inertia of a cube: m a²/6
    CHECK_NEAR(tribo_model_body(model, id)->inertia[0], mass[i] * (i % 2 ? 0.25 : 1) / 6, 1e-12 * mass[i]);
  }
  int t;
  CHECK_OK(tribo_model_body_id(model, "t", &t));
  CHECK_NEAR(q.values[4 * t + 2], sqrt(0.5), 1e-15);
  CHECK_NEAR(q.values[4 * t + 3], sqrt(0.5), 1e-15);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// The page of the format is printed whole: the longest lists of words end with their last one.
static void rows_of_the_page_are_not_cut(void** state) {
  (void)state;
  static const char* const ends[][2] = {{"joint", ", free"}, {"sensor", ", clock"}};
  TriboFormatRow row;
  int seen = 0;
  for (int i = 0; tribo_scene_format(i, &row); ++i) {
    assert_true(strlen(row.range) < sizeof row.range - 1);
    for (int k = 0; k < 2; ++k) {
      if (strcmp(row.section, ends[k][0]) == 0 && strcmp(row.key, "kind") == 0) {
        assert_string_equal(row.range + strlen(row.range) - strlen(ends[k][1]), ends[k][1]);
        seen++;
      }
    }
  }
  assert_int_equal(seen, 2);
}

// Every joint kind has its word, by which a file names it; what is saved is read as the same.
static void joint_kinds_have_words(void** state) {
  (void)state;
  static const char* const words[TRIBO_JOINT_COUNT] = {[TRIBO_JOINT_FIXED] = "fixed",
                                                       [TRIBO_JOINT_REVOLUTE] = "revolute",
                                                       [TRIBO_JOINT_CONTINUOUS] = "continuous",
                                                       [TRIBO_JOINT_PRISMATIC] = "prismatic",
                                                       [TRIBO_JOINT_HELICAL] = "helical",
                                                       [TRIBO_JOINT_UNIVERSAL] = "universal",
                                                       [TRIBO_JOINT_CYLINDRICAL] = "cylindrical",
                                                       [TRIBO_JOINT_PLANAR] = "planar",
                                                       [TRIBO_JOINT_SPHERICAL] = "spherical",
                                                       [TRIBO_JOINT_TRANSLATION] = "translation",
                                                       [TRIBO_JOINT_EULER] = "euler",
                                                       [TRIBO_JOINT_ELLIPSOID] = "ellipsoid",
                                                       [TRIBO_JOINT_FREE] = "free"};
  for (int kind = 0; kind < TRIBO_JOINT_COUNT; ++kind) {
    TriboScene* scene;
    TriboModel* model[2];
    double q[2][7] = {{0}};
    char text[256], *copy = scene_file("", 0);
    snprintf(text, sizeof text,
             "bodies: [{name: a, sphere: 0.1, position: [0, 0, -1]}]\n"
             "joints: [{name: j, parent: world, child: a, kind: %s, pitch: 0.1, radii: [0.3, 0.2, 0.4]}]\n",
             words[kind]);
    CHECK_OK(load_text(text, &scene));
    CHECK_OK(tribo_scene_save(scene, copy));
    CHECK_OK(tribo_model_create(scene, &model[0]));
    tribo_scene_destroy(scene);
    CHECK_OK(tribo_scene_load(copy, NULL, &scene));
    CHECK_OK(tribo_model_create(scene, &model[1]));
    tribo_scene_destroy(scene);
    for (int i = 0; i < 2; ++i) {
      TriboData* data = data_of(model[i]);
      TriboView view;
      const int moves = kind != TRIBO_JOINT_FIXED;
      assert_int_equal(tribo_model_size(model[i]).njoint, moves);
      assert_true(!moves || strcmp(tribo_model_joint(model[i], 0)->kind, words[kind]) == 0);
      for (int k = 0; k < 20; ++k) {
        CHECK_OK(tribo_step(model[i], data, NULL));
      }
      CHECK_OK(tribo_data_view(model[i], data, TRIBO_FIELD_POSITION, &view));
      memcpy(q[i], view.values, 3 * sizeof *q[i]);
      tribo_data_destroy(data);
      tribo_model_destroy(model[i]);
    }
    assert_memory_equal(q[0], q[1], sizeof q[0]);
    unlink(copy);
    free(copy);
  }
}

// A state gives a joint its coordinates as they are; only those of a ball joint are a quaternion.
static void states_give_joints_their_coordinates(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "bodies: [{name: a, sphere: 0.1}, {name: b, sphere: 0.1}, {name: c, sphere: 0.1}]\n"
      "joints:\n"
      "  - {name: table, kind: planar, parent: world, child: a}\n"
      "  - {name: hip, kind: ellipsoid, parent: world, child: b, radii: [0.3, 0.2, 0.5]}\n"
      "  - {name: neck, kind: spherical, parent: world, child: c, anchor: [0, 0, 1]}\n"
      "states: [{name: s, positions: {table: [3, -4, 0.6, 0.8], hip: [0.3, -0.2, 7], neck: [0, 0, 2, 0]}}]\n"
      "start: s\n");
  TriboData* data = data_of(model);
  CHECK_NEAR(scene_value(model, data, "position.x", "a"), 3, 1e-15);
  CHECK_NEAR(scene_value(model, data, "position.y", "a"), -4, 1e-15);
  CHECK_NEAR(scene_value(model, data, "position.x", "b"), 0.3 * sin(-0.2), 1e-15);
  CHECK_NEAR(scene_value(model, data, "position.y", "b"), -0.2 * sin(0.3) * cos(0.2), 1e-15);
  CHECK_NEAR(scene_value(model, data, "position.z", "b"), 0.5 * cos(0.3) * cos(0.2) - 0.5, 1e-15);
  CHECK_NEAR(scene_value(model, data, "position.z", "c"), 0, 1e-15);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Two tetrahedra in one file: as a hull one shape, as pieces two.
static void a_mesh_falls_into_its_pieces(void** state) {
  (void)state;
  char path[] = "/tmp/tribo-mesh-XXXXXX.obj";
  int fd = mkstemps(path, 4);
  FILE* file = fdopen(fd, "w");
  for (int k = 0; k < 2; ++k) {
    fprintf(file, "v %d 0 0\nv %d 0 0\nv %d 1 0\nv %d 0 1\n", 3 * k, 3 * k + 1, 3 * k, 3 * k);
  }
  for (int k = 0; k < 2; ++k) {
    int a = 4 * k + 1;
    fprintf(file, "f %d %d %d\nf %d %d %d\nf %d %d %d\nf %d %d %d\n", a, a + 2, a + 1, a, a + 1, a + 3, a, a + 3, a + 2,
            a + 1, a + 2, a + 3);
  }
  fclose(file);
  for (int split = 0; split < 2; ++split) {
    char text[256];
    snprintf(text, sizeof text, "bodies: [{name: m, mesh: %s, as: %s, density: 6}]\n", path, split ? "pieces" : "hull");
    TriboModel* model = model_of(text);
    assert_int_equal(tribo_model_size(model).nshape, split ? 2 : 1);
    // a unit tetrahedron has volume 1/6; the hull of both is a prism-like body with 1.5 + 1/6
    CHECK_NEAR(tribo_model_body(model, 0)->mass, split ? 2 : 6 * (1.5 + 1.0 / 6), 1e-12);
    tribo_model_destroy(model);
  }
  unlink(path);
}

#define LINK(name, mass, z)                                                       \
  "<link name='" name "'><inertial><origin xyz='0 .01 " z "'/><mass value='" mass \
  "'/>"                                                                           \
  "<inertia ixx='.02' iyy='.03' izz='.04' ixy='0.001' ixz='0' iyz='0'/></inertial></link>"
#define JOINT(name, type, parent, child, at, axis)                                        \
  "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child \
  "'/>"                                                                                   \
  "<origin " at "/><axis xyz='" axis "'/><limit lower='-2' upper='2' effort='9' velocity='9'/></joint>"
#define ARM \
  LINK("base", "3", ".1") LINK("fore", "2", ".2") JOINT("elbow", "revolute", "base", "fore", "xyz='0 0 .4'", "0 1 0")
#define HAND                 \
  LINK("palm", "0.5", ".05") \
  LINK("finger", "0.1", ".02") JOINT("grip", "prismatic", "palm", "finger", "xyz='0 .05 .06'", "0 1 0")

static void same_terms(const TriboModel* a, const TriboModel* b, int nv) {
  enum { MOST = 12 };
  double q[MOST], v[MOST], mass[2][MOST * MOST], bias[2][MOST];
  const TriboModel* models[2] = {a, b};
  for (int i = 0; i < nv; ++i) {
    q[i] = 0.3 - 0.1 * i;
    v[i] = 1 + 0.5 * i;
  }
  for (int k = 0; k < 2; ++k) {
    assert_int_equal(tribo_model_size(models[k]).nv, nv);
    TriboData* data = data_of((TriboModel*)models[k]);
    CHECK_OK(tribo_data_set_state(models[k], data, q, v));
    const TriboTerms terms = {.mass = mass[k], .bias = bias[k]};
    CHECK_OK(tribo_data_terms(models[k], data, &terms));
    tribo_data_destroy(data);
  }
  for (int i = 0; i < nv * nv; ++i) {
    CHECK_NEAR(mass[0][i], mass[1][i], 1e-14);
  }
  for (int i = 0; i < nv; ++i) {
    CHECK_NEAR(bias[0][i], bias[1][i], 1e-13);
  }
}

// A hand on an arm is the robot whose file has both; a hand on that hand works too. Names stay those of each robot.
static void robots_carry_tools(void** state) {
  (void)state;
  static const char *arm = "<robot name='arm'>" ARM "</robot>", *hand = "<robot name='hand'>" HAND "</robot>",
                    *both = "<robot name='both'>" ARM HAND
                            "<joint name='mount' type='fixed'><parent link='fore'/><child link='palm'/>"
                            "<origin xyz='0 .1 .3' rpy='0 0 .5'/></joint></robot>";
  const char* texts[3] = {arm, hand, both};
  char *files[3], text[800];
  for (int i = 0; i < 3; ++i) {
    files[i] = text_file(texts[i], strlen(texts[i]), ".urdf");
  }
  snprintf(text, sizeof text,
           "robots:\n  - {name: r, urdf: %s}\n"
           "  - {name: tool, urdf: %s, attach: r/fore, position: [0, 0.1, 0.3], rpy: [0, 0, 0.5]}\n",
           files[0], files[1]);
  TriboModel* joined = model_of(text);
  snprintf(text, sizeof text, "robots: [{name: r, urdf: %s}]\n", files[2]);
  TriboModel* whole = model_of(text);
  same_terms(joined, whole, 2);
  int id;
  CHECK_OK(tribo_model_body_id(joined, "tool/finger", &id));
  CHECK_OK(tribo_model_joint_id(joined, "tool/grip", &id));
  tribo_model_destroy(joined);
  tribo_model_destroy(whole);
  TriboScene* scene;
  TriboModel* model;
  snprintf(text, sizeof text, "robots:\n  - {name: r, urdf: %s}\n  - {name: t, urdf: %s, attach: r/hand}\n", files[0],
           files[1]);
  CHECK_OK(load_text(text, &scene));
  CHECK_FAILS(tribo_model_create(scene, &model), TRIBO_NOT_FOUND, "there is no link 'r/hand' to attach it to");
  tribo_scene_destroy(scene);
  snprintf(text, sizeof text, "robots:\n  - {name: t, urdf: %s, attach: r/fore}\n  - {name: r, urdf: %s}\n", files[1],
           files[0]);
  CHECK_OK(load_text(text, &scene));
  CHECK_FAILS(tribo_model_create(scene, &model), TRIBO_NOT_FOUND, "'r/fore' is no link of a robot above");
  tribo_scene_destroy(scene);
  for (int i = 0; i < 3; ++i) {
    unlink(files[i]);
    free(files[i]);
  }
}

// Two cubes in one mesh collide as one hull, with the room between them, or as two.
static void meshes_of_robots_come_in_pieces(void** state) {
  (void)state;
  char obj[2000] = "", text[900];
  for (int cube = 0; cube < 2; ++cube) {
    for (int i = 0; i < 8; ++i) {
      const size_t used = strlen(obj);
      snprintf(obj + used, sizeof obj - used, "v %d %d %d\n", 3 * cube + (i & 1), (i >> 1) & 1, i >> 2);
    }
  }
  static const int sides[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5}, {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
  for (int k = 0; k < 12; ++k) {
    const size_t used = strlen(obj);
    const int *s = sides[k % 6], up = 8 * (k / 6);
    snprintf(obj + used, sizeof obj - used, "f %d %d %d %d\n", s[0] + up, s[1] + up, s[2] + up, s[3] + up);
  }
  char* mesh = text_file(obj, strlen(obj), ".obj");
  snprintf(text, sizeof text,
           "<robot name='r'>" LINK("a", "1", "0") "<link name='b'><collision><geometry><mesh filename='%s'/></geometry>"
           "</collision></link><joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint></robot>",
           mesh);
  char* urdf = text_file(text, strlen(text), ".urdf");
  for (int split = 0; split < 2; ++split) {
    snprintf(text, sizeof text, "robots: [{name: r, urdf: %s, split_components: %s}]\n", urdf,
             split ? "true" : "false");
    TriboModel* model = model_of(text);
    assert_int_equal(tribo_model_size(model).nshape, 1 + split);
    double longest = 0;
    for (int i = 0; i < tribo_model_shape(model, 0)->npoint; ++i) {
      longest = fmax(longest, tribo_model_shape(model, 0)->points[3 * i]);
    }
    CHECK_NEAR(longest, split ? 1 : 4, 1e-12);
    tribo_model_destroy(model);
  }
  unlink(mesh);
  unlink(urdf);
  free(mesh);
  free(urdf);
}

typedef struct Said {
  int count;
  char text[800];
} Said;

static void listen(TriboLogLevel level, const char* text, void* user) {
  Said* said = user;
  if (level == TRIBO_LOG_WARNING) {
    const size_t used = strlen(said->text);
    snprintf(said->text + used, sizeof said->text - used, "%s\n", text);
    said->count++;
  }
}

// A scene with names of an earlier version is the scene with today's, and every old name is told with its place.
static void old_keys_are_read_with_a_warning(void** state) {
  (void)state;
  static const char *old =
                        "bodies:\n  - name: a\n    sphere: 0.1\n    mass: 1\n"
                        "    lift: 0.5\n    skin: 0.002\n",
                    *now =
                        "bodies:\n  - name: a\n    sphere: 0.1\n    mass: 1\n"
                        "    gravity_compensation: 0.5\n    contact_offset: 0.002\n";
  Said said[2] = {{0}};
  char saved[2][2000] = {{0}};
  for (int i = 0; i < 2; ++i) {
    char* path = text_file(i ? now : old, strlen(i ? now : old), ".yaml");
    const TriboLog log = {listen, &said[i]};
    TriboScene* scene;
    CHECK_OK(tribo_scene_load(path, &log, &scene));
    CHECK_OK(tribo_scene_save(scene, path));
    FILE* file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(saved[i], 1, sizeof saved[i] - 1, file) < sizeof saved[i] - 1);
    fclose(file);
    tribo_scene_destroy(scene);
    unlink(path);
    free(path);
  }
  assert_int_equal(said[0].count, 2);
  assert_non_null(strstr(said[0].text, ".yaml:5:5: 'lift' is called 'gravity_compensation' now"));
  assert_non_null(strstr(said[0].text, ".yaml:6:5: 'skin' is called 'contact_offset' now"));
  assert_int_equal(said[1].count, 0);
  assert_string_equal(saved[0], saved[1]);
}

#define PAIR(mass, inertia, limit)                                                                         \
  "<robot name='r'><link name='a'/><link name='b'><inertial>\n<mass value='" mass "'/>\n<inertia " inertia \
  " ixy='0' ixz='0' iyz='0'/></inertial></link>\n<joint name='j' type='revolute'>"                         \
  "<parent link='a'/><child link='b'/><axis xyz='0 0 1'/>\n<limit " limit " effort='1' velocity='1'/></joint></robot>"
#define UNIT "ixx='1' iyy='1' izz='1'"

// What is wrong in a URDF file is refused with its line, and what urdfdom would pass over is said.
static void wrong_urdf_files_are_refused_with_a_place(void** state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } files[] = {
      {PAIR("-1", UNIT, "lower='0' upper='1'"), ".urdf:2: link 'b': mass is -1 kg"},
      {PAIR("x", UNIT, "lower='0' upper='1'"), ".urdf:2: <mass> value=\"x\": accepted is a finite number"},
      {PAIR("1", UNIT, "lower='2' upper='1'"), ".urdf:5: joint 'j': limits are 2 … 1"},
      {"<robot name='r'><link name='a'></robot>", ".urdf:1:"},
      {"<sdf/>", ".urdf:1: <sdf>: a URDF file has the root <robot>"},
      {"<!DOCTYPE a [<!ENTITY b 'c'>]><robot>&b;</robot>", "DOCTYPE"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    char* path = text_file(files[i].text, strlen(files[i].text), ".urdf");
    TriboScene* scene = NULL;
    CHECK_FAILS(tribo_scene_load(path, NULL, &scene), TRIBO_INVALID, files[i].message);
    assert_null(scene);
    unlink(path);
    free(path);
  }
  static const char* odd = PAIR("1", "ixx='1' iyy='1' izz='5'", "lower='0' upper='1'") "\n";
  char text[900];
  snprintf(text, sizeof text, "%.*s<wheel/><wheel/></robot>", (int)(strlen(odd) - strlen("</robot>\n")), odd);
  char* path = text_file(text, strlen(text), ".urdf");
  Said said = {0};
  const TriboLog log = {listen, &said};
  TriboScene* scene;
  CHECK_OK(tribo_scene_load(path, &log, &scene));
  assert_int_equal(said.count, 2);
  assert_non_null(strstr(said.text, ".urdf:3: inertia of link 'b' breaks the triangle inequality"));
  assert_non_null(strstr(said.text, ".urdf:5: <robot>: <wheel> is not known"));
  tribo_scene_destroy(scene);
  unlink(path);
  free(path);
}

// What a robot is told to leave out: friction and damping of its joints, contacts of its links, vertices of its hulls.
static void robots_can_be_simpler_than_their_files(void** state) {
  (void)state;
  char obj[4000] = "", text[2000];
  for (int i = 0; i < 40; ++i) {
    const size_t used = strlen(obj);
    const double turn = 0.1 * acos(-1) * (i % 20);
    snprintf(obj + used, sizeof obj - used, "v %.6f %.6f %d\n", cos(turn), sin(turn), i / 20);
  }
  for (int i = 1; i + 2 <= 40; ++i) {
    const size_t used = strlen(obj);
    snprintf(obj + used, sizeof obj - used, "f %d %d %d\n", i, i + 1, i + 2);
  }
  char* mesh = text_file(obj, strlen(obj), ".obj");
  const char* link =
      "<link name='%c'><inertial><mass value='1'/><inertia ixx='.02' iyy='.03' izz='.04' ixy='0' ixz='0' "
      "iyz='0'/></inertial><collision><geometry><mesh filename='%s'/></geometry></collision></link>";
  size_t n = (size_t)snprintf(text, sizeof text, "<robot name='r'>");
  for (char name = 'a'; name <= 'c'; ++name) {
    n += (size_t)snprintf(text + n, sizeof text - n, link, name, mesh);
  }
  for (char name = 'a'; name <= 'b'; ++name) {
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "<joint name='%c' type='continuous'><parent link='%c'/><child link='%c'/>"
                          "<dynamics damping='2' friction='3'/></joint>",
                          name, name, name + 1);
  }
  snprintf(text + n, sizeof text - n, "</robot>");
  char* urdf = text_file(text, strlen(text), ".urdf");
  for (int simple = 0; simple < 2; ++simple) {
    snprintf(text, sizeof text, "static: [{plane: [0, 0, 1]}]\nrobots: [{name: r, urdf: %s, free_base: true%s}]\n",
             urdf, simple ? ", vertices: 12, use_joint_friction: false, self_collision: false" : "");
    TriboModel* model = model_of(text);
    const TriboJointInfo* joint = tribo_model_joint(model, 1);
    CHECK_NEAR(joint->damping, simple ? 0 : 2, 0);
    CHECK_NEAR(joint->friction, simple ? 0 : 3, 0);
    assert_int_equal(tribo_model_body(model, 2)->parent, 1);
    assert_int_equal(tribo_model_body(model, 0)->parent, TRIBO_WORLD);
    // shapes: the ground, then the links; neighbours never touch
    assert_int_equal(tribo_model_shape(model, 1)->npoint, simple ? 12 : 40);
    assert_int_equal(tribo_model_may_touch(model, 1, 3), !simple);
    assert_int_equal(tribo_model_may_touch(model, 1, 2), 0);
    assert_int_equal(tribo_model_may_touch(model, 0, 3), 1);
    assert_int_equal(tribo_model_may_touch(model, 0, 4), 0);
    tribo_model_destroy(model);
  }
  snprintf(text, sizeof text, "robots: [{name: r, urdf: %s, vertices: 3}]\n", urdf);
  char* path = text_file(text, strlen(text), ".yaml");
  TriboScene* scene;
  CHECK_FAILS(tribo_scene_load(path, NULL, &scene), TRIBO_INVALID, "vertices = 3 must be 0 for all, or at least 4");
  char* const files[] = {mesh, urdf, path};
  for (int i = 0; i < 3; ++i) {
    unlink(files[i]);
    free(files[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_files_are_refused_with_a_place),
      cmocka_unit_test(late_errors_keep_their_place),
      cmocka_unit_test(hostile_sizes_are_refused_quickly),
      cmocka_unit_test(includes_stand_before_and_never_loop),
      cmocka_unit_test(degrees_and_rules_mean_what_they_say),
      cmocka_unit_test(rows_of_the_page_are_not_cut),
      cmocka_unit_test(joint_kinds_have_words),
      cmocka_unit_test(states_give_joints_their_coordinates),
      cmocka_unit_test(a_mesh_falls_into_its_pieces),
      cmocka_unit_test(robots_carry_tools),
      cmocka_unit_test(old_keys_are_read_with_a_warning),
      cmocka_unit_test(wrong_urdf_files_are_refused_with_a_place),
      cmocka_unit_test(meshes_of_robots_come_in_pieces),
      cmocka_unit_test(robots_can_be_simpler_than_their_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
