// SDF files: trees, loops and gearboxes, and which files are refused.   test_sdf FOURBAR
#include "scenes.h"

static const char* fourbar;

static TriboStatus load(const char* text, TriboScene** scene) {
  char* path = text_file(text, strlen(text), ".sdf");
  TriboStatus status = tribo_scene_load(path, NULL, scene);
  unlink(path);
  free(path);
  return status;
}

// The joint that does not fit the tree closes the loop: a parallel four-bar keeps its coupler level.
static void loops_are_closed(void** state) {
  (void)state;
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(tribo_scene_load(fourbar, NULL, &scene));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  const TriboModelSize size = tribo_model_size(model);
  assert_int_equal(size.nbody, 3);
  assert_int_equal(size.nclosure, 1);
  assert_int_equal(size.nv, 3);
  assert_string_equal(tribo_model_closure(model, 0)->name, "bar/loop");
  assert_string_equal(tribo_model_closure(model, 0)->kind, "hinge");
  int nvisual, coupler, crank;
  assert_non_null(tribo_model_visuals(model, &nvisual));
  assert_int_equal(nvisual, 1);
  CHECK_OK(tribo_model_body_id(model, "bar/coupler", &coupler));
  CHECK_OK(tribo_model_body_id(model, "bar/crank", &crank));
  TriboData* data = data_of(model);
  // a push sets it going
  const double push[3] = {20, 0, 0}, none[3] = {0};
  for (int i = 0; i < 300; ++i) {
    CHECK_OK(tribo_data_apply_wrench(model, data, coupler, push, none));
    CHECK_OK(tribo_step(model, data, NULL));
  }
  TriboView q;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_QUATERNION, &q));
  assert_true(fabs(q.values[4 * crank + 1]) > 0.05);
  CHECK_NEAR(q.values[4 * coupler + 1], 0, 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

#define LINK(name) "<link name='" name "'/>"
#define JOINT(name, type, parent, child, more) \
  "<joint name='" name "' type='" type "'><parent>" parent "</parent><child>" child "</child>" more "</joint>"
#define MODEL(inside) "<sdf version='1.6'><model name='m'>" inside "</model></sdf>"

// θ_child = −ratio θ_parent about the reference body
static void gearboxes_turn_the_other_way(void** state) {
  (void)state;
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(load(
      MODEL(LINK("r") LINK("a") LINK("b") JOINT("base", "fixed", "world", "r", "") JOINT("ja", "revolute", "r", "a", "")
                JOINT("jb", "revolute", "r", "b", "") JOINT("g", "gearbox", "a", "b",
                                                            "<gearbox_reference_body>r</gearbox_reference_body>"
                                                            "<gearbox_ratio>3</gearbox_ratio>")),
      &scene));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  TriboData* data = data_of(model);
  const double q[2] = {0, 0}, v[2] = {1, -3};
  CHECK_OK(tribo_data_set_state(model, data, q, v));
  for (int i = 0; i < 100; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
  TriboView now;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_Q, &now));
  CHECK_NEAR(now.values[0], 0.1, 1e-9);
  CHECK_NEAR(now.values[1], -0.3, 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static const struct {
  const char* text;
  const char* message;
} wrong[] = {
    {"<sdf>", ".sdf:1:"},
    {"<robot/>", "the root <sdf>"},
    {"<sdf/>", "there is no <model>"},
    {MODEL("<link/>"), "a link needs a name"},
    {MODEL(LINK("a") LINK("a")), "two links are called 'a'"},
    {MODEL(LINK("a") JOINT("j", "revolute", "world", "b", "")), "there is no link 'b'"},
    {MODEL(LINK("a") JOINT("j", "revolute", "a", "a", "")), "two different links"},
    {MODEL(LINK("a") JOINT("j", "warp", "world", "a", "")), "'warp' is not known"},
    {MODEL(LINK("a") JOINT("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>")), "length 0"},
    {MODEL(LINK("a")
               JOINT("j", "revolute", "world", "a", "<axis><limit><lower>1</lower><upper>0</upper></limit></axis>")),
     "lower = 1 is above upper = 0"},
    {MODEL("<link name='a'><pose>1 2</pose></link>"), "accepted are 6 finite numbers"},
    {MODEL("<link name='a'><pose relative_to='b'>0 0 0 0 0 0</pose></link>"), "relative to 'b'"},
    {MODEL("<link name='a'><inertial><mass>-1</mass></inertial></link>"), "mass = -1"},
    {MODEL("<link name='a'><collision><geometry><mesh><uri>model://x/a.stl</uri></mesh></geometry></collision>"
           "<visual><geometry><mesh><uri>b.stl</uri></mesh></geometry></visual></link>"),
     "2 meshes were not found beside it, in SDF_PATH, GAZEBO_MODEL_PATH or the example robots: 'model://x/a.stl', "
     "'b.stl'"},
};

static void wrong_files_are_refused_with_a_place(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    TriboScene* scene = NULL;
    TriboStatus status = load(wrong[i].text, &scene);
    assert_null(scene);
    if (status == TRIBO_OK || strstr(tribo_last_error(), wrong[i].message) == NULL ||
        strstr(tribo_last_error(), ".sdf") == NULL) {
      print_error("case %zu: %s: \"%s\"\nexpected \"%s\"\nfor: %s\n", i, tribo_status_name(status), tribo_last_error(),
                  wrong[i].message, wrong[i].text);
      fail();
    }
  }
}

// A scene that includes a model may open its loops, close them another way, and change its limits.
static void a_scene_changes_what_it_includes(void** state) {
  (void)state;
  static const struct {
    const char *keys, *refused;
  } cases[] = {
      {"open: [bar/loop]\nlimits: {bar/a: [-0.5, inf]}", NULL},
      {"open: [bar/lop]", "there is no closure 'bar/lop'"},
      {"limits: {bar/q: [0, 1]}", "there is no joint 'bar/q'"},
      {"limits: {bar/a: [2, 1]}", "must not be above"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[1024];
    TriboScene* scene;
    TriboModel* model;
    snprintf(text, sizeof text, "include: %s\n%s\n", fourbar, cases[i].keys);
    if (cases[i].refused != NULL) {
      CHECK_FAILS(load_text(text, &scene), TRIBO_INVALID, cases[i].refused);
      continue;
    }
    CHECK_OK(load_text(text, &scene));
    CHECK_OK(tribo_model_create(scene, &model));
    tribo_scene_destroy(scene);
    assert_int_equal(tribo_model_size(model).nclosure, 0);
    int joint;
    CHECK_OK(tribo_model_joint_id(model, "bar/a", &joint));
    CHECK_NEAR(tribo_model_joint(model, joint)->lower, -0.5, 0);
    tribo_model_destroy(model);
  }
}

int main(int argc, char** argv) {
  if (argc < 2) {
    return 2;
  }
  fourbar = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loops_are_closed),
      cmocka_unit_test(a_scene_changes_what_it_includes),
      cmocka_unit_test(gearboxes_turn_the_other_way),
      cmocka_unit_test(wrong_files_are_refused_with_a_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
