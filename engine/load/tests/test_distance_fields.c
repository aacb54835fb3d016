// Distance fields in YAML: every kind is read, written and read again to the same solid, and complaints say where.
#include <stdlib.h>
#include <tribo/tribo.h>
#include <unistd.h>

#include "kit.h"

static const char everything[] =
    "materials: {default: {friction: 0.2}}\n"
    "bodies:\n"
    "  - {name: bolt, thread: {diameter: 0.016, pitch: 0.002, length: 0.03, starts: 2, left_hand: true}, contacts: "
    "200}\n"
    "  - {name: nut, position: [0.1, 0, 0], thread: {diameter: 0.016, pitch: 0.002, length: 0.013, clearance: 1.0e-4,\n"
    "     across: 0.024}, margin: 1.0e-5}\n"
    "  - {name: bowl, position: [0.2, 0, 0], revolved: {points: [[0, 0], [0.035, 0], [0.07, 0.045]], pad: 0.002}}\n"
    "  - {name: pen, position: [0.3, 0, 0], prism: {sides: 5, across: 0.01, length: 0.1, round: 0.001}}\n"
    "  - name: tree\n"
    "    position: [0.5, 0, 0]\n"
    "    union:\n"
    "      - {subtract: [{box: [0.1, 0.1, 0.1], round: 0.01}, {cylinder: [0.02, 0.2], rpy: [0.1, 0, 0]}]}\n"
    "      - {intersection: [{sphere: 0.05}, {plane: [1, 0, 1]}], position: [0, 0, 0.05]}\n"
    "      - {offset: {of: {capsule: [0.01, 0.1]}, by: 0.005}, position: [0.05, 0, 0]}\n"
    "      - {cone: [0.02, 0.05], position: [0, 0.05, 0]}\n"
    "      - {ellipsoid: [0.02, 0.03, 0.04], position: [0, -0.05, 0]}\n";

static TriboStatus load(const char* text, TriboScene** scene) {
  char path[] = "/tmp/tribo-distance-XXXXXX.yaml";
  const int file = mkstemps(path, 5);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), (int)strlen(text));
  close(file);
  TriboStatus status = tribo_scene_load(path, NULL, scene);
  unlink(path);
  return status;
}

// A model of it; the scene is gone.
static TriboModel* model_of(TriboScene* scene) {
  TriboModel* model;
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  return model;
}

static void fields_are_written_as_they_are_read(void** state) {
  (void)state;
  TriboScene *scene, *again;
  char path[] = "/tmp/tribo-distance-XXXXXX.yaml";
  CHECK_OK(load(everything, &scene));
  const int file = mkstemps(path, 5);
  assert_true(file >= 0);
  close(file);
  CHECK_OK(tribo_scene_save(scene, path));
  CHECK_OK(tribo_scene_load(path, NULL, &again));
  unlink(path);
  TriboModel *a = model_of(scene), *b = model_of(again);
  const TriboModelSize size = tribo_model_size(a);
  assert_int_equal(size.nbody, 5);
  assert_int_equal(tribo_model_size(b).nbody, 5);
  for (int i = 0; i < size.nbody; ++i) {
    const TriboBodyInfo *x = tribo_model_body(a, i), *y = tribo_model_body(b, i);
    const TriboShapeInfo *s = tribo_model_shape(a, i), *t = tribo_model_shape(b, i);
    assert_true(x->mass > 0);
    CHECK_NEAR(x->mass, y->mass, 1e-12 * x->mass);
    CHECK_NEAR(x->inertia[0], y->inertia[0], 1e-12 * x->inertia[0]);
    assert_int_equal(s->kind, TRIBO_SHAPE_SDF);
    assert_true(s->ntriangle > 100);
    assert_int_equal(s->ntriangle, t->ntriangle);
    assert_int_equal(s->npoint, t->npoint);
  }
  tribo_model_destroy(a);
  tribo_model_destroy(b);
}

// Every complaint: the line and column of the scene, and the number.
static void complaints_say_where(void** state) {
  (void)state;
  static const struct {
    const char *text, *where, *what;
  } wrong[] = {
      {"static:\n  - {thread: {diameter: 0.016, pitch: 0.02, length: 0.01}}\n",
       ":2:14: ", "more than its length = 0.01 m"},
      {"bodies:\n  - {name: n, thread: {diameter: 0.016, pitch: 0.002, length: 0.01, clearance: 1.0e-4, across: "
       "0.01}}\n",
       ":2:23: ", "across = 0.01 m"},
      {"bodies:\n  - {name: b, revolved: {points: [[0, 0], [0.1, 0.1]], pad: 0}}\n", ":2:61: ", "pad: 0 m"},
      {"bodies:\n  - {name: b, revolved: {points: [[0, 0], [-0.1, 0.1]], pad: 0.01}}\n", ":2:43: ", "r = -0.1 m"},
      {"bodies:\n  - {name: b, revolved: {pad: 0.01}}\n", ":2:25: ", "needs `points`"},
      {"bodies:\n  - {name: b, union: [{box: [1, 1, 1]}]}\n", ":2:22: ", "two parts or more"},
      {"bodies:\n  - {name: b, union: [{box: [1, 1, 1]}, {round: 1}]}\n", ":2:41: ", "a part needs one of"},
      {"bodies:\n  - {name: b, subtract: [{box: [1, 1, 1]}, {box: [2, 2, 2]}]}\n", ":2:5: ", "nothing is left"},
      {"bodies:\n  - {name: b, prism: {sides: 2, across: 1, length: 1}}\n", ":2:30: ", "sides"},
      {"bodies:\n  - {name: b, contacts: 12, prism: {across: 1, length: 1}}\n", ":2:5: ", "contacts = 12"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    TriboScene* scene = NULL;
    TriboModel* model = NULL;
    TriboStatus status = load(wrong[i].text, &scene);
    status = status == TRIBO_OK ? tribo_model_create(scene, &model) : status;
    tribo_scene_destroy(scene);
    CHECK_FAILS(status, TRIBO_INVALID, wrong[i].what);
    CHECK_FAILS(status, TRIBO_INVALID, wrong[i].where);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_are_written_as_they_are_read),
      cmocka_unit_test(complaints_say_where),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
