// Mechanisms with redundant rows: what they do depends neither on where they are and how they are turned, nor on which
// of their rows are kept.
#include <stdarg.h>

#include "math3.h"
#include "scenes.h"

// A rigid motion of the whole world: everything goes from x to p + R x.
typedef struct Frame {
  double p[3], turn[4], R[9];
} Frame;

static Frame frame_at(KitRandom* random, double far) {
  Frame f = {.turn = {0, 0, 0, 1}};
  if (random != NULL) {
    for (int k = 0; k < 4; ++k) {
      f.turn[k] = kit_normal(random);
    }
    for (int k = 0; k < 3; ++k) {
      f.p[k] = far * kit_normal(random);
    }
  }
  tribo_quat_normalize(f.turn);
  tribo_quat_to_mat(f.R, f.turn);
  return f;
}

static void place(const Frame* f, double x, double y, double z, double out[3]) {
  const double local[3] = {x, y, z};
  tribo_mul33v(out, f->R, local);
  tribo_add3(out, out, f->p);
}

static void point_to(const Frame* f, double x, double y, double z, double out[3]) {
  const double local[3] = {x, y, z};
  tribo_mul33v(out, f->R, local);
}

#define XYZ "[%.17g, %.17g, %.17g]"
#define OF(a) (a)[0], (a)[1], (a)[2]

static char* add(char* at, const char* format, ...) __attribute__((format(printf, 2, 3)));
static char* add(char* at, const char* format, ...) {
  va_list args;
  va_start(args, format);
  at += vsprintf(at, format, args);
  va_end(args);
  return at;
}

// Four bars of 1 kg, pins 0.112 m apart, a parallelogram that is about to fold, on the ground. Its lowest bar floats,
// or (is_planar) has a planar joint to the world; the loop is shut by a closure of a kind. Three, two or one rows of it
// are redundant: a hinge keeps the plane twice, a ball or a planar joint do in part.
static void write_fourbar(char* at, const Frame* f, const char* closure, int is_planar) {
  static const double bars[4][2] = {{0, 0.005}, {0.056, 0.061}, {0, 0.117}, {-0.056, 0.061}};
  static const double pins[4][2] = {{0.056, 0.005}, {0.056, 0.117}, {-0.056, 0.117}, {-0.056, 0.005}};
  double x[3], y[3];
  point_to(f, 0, -9.81, 0, x);
  at = add(at, "world: {dt: 0.001, gravity: " XYZ "}\n", OF(x));
  point_to(f, 0, 1, 0, y);
  at = add(at, "static: [{plane: " XYZ ", position: " XYZ "}]\nbodies:\n", OF(y), OF(f->p));
  for (int i = 0; i < 4; ++i) {
    const int is_level = i % 2 == 0;
    place(f, bars[i][0], bars[i][1], 0, x);
    at = add(at, "  - {name: link%d, position: " XYZ ", quaternion: [%.17g, %.17g, %.17g, %.17g], mass: 1, ", i + 1,
             OF(x), OF(f->turn), f->turn[3]);
    at = add(at, "box: [%g, %g, 0.01]}\n", is_level ? 0.1 : 0.01, is_level ? 0.01 : 0.1);
  }
  point_to(f, 0, 0, 1, y);
  at = add(at, "joints:\n");
  if (is_planar) {
    place(f, 0, 0.005, 0, x);
    at = add(at, "  - {name: base, kind: planar, parent: world, child: link1, anchor: " XYZ ", axis: " XYZ "}\n", OF(x),
             OF(y));
  }
  for (int i = 0; i < 3; ++i) {
    place(f, pins[i][0], pins[i][1], 0, x);
    at = add(at, "  - {name: j%d, kind: revolute, parent: link%d, child: link%d, anchor: " XYZ ", axis: " XYZ, i + 1,
             i + 1, i + 2, OF(x), OF(y));
    at = add(at, ", velocity: %g}\n", i == 1 ? -3.0 : 3.0);
  }
  place(f, pins[3][0], pins[3][1], 0, x);
  at = add(at, "closures:\n  - {name: j4, kind: %s, body_a: link4, body_b: link1, anchor: " XYZ, closure, OF(x));
  at = strcmp(closure, "ball") != 0 ? add(at, ", axis: " XYZ, OF(y)) : at;
  add(at, "}\n");
}

// Where the upper bar is in the axes of its world after a time, how fast it is, and what the closure carries.
static void run_fourbar(const char* text, const Frame* f, double time, double out[7]) {
  TriboModel* model = model_of(text);
  TriboData* data = data_of(model);
  TriboStepInfo info;
  for (int i = 0; i < (int)(time / 1e-3 + 0.5); ++i) {
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
  }
  const double x[3] = {scene_value(model, data, "position.x", "link3"), scene_value(model, data, "position.y", "link3"),
                       scene_value(model, data, "position.z", "link3")};
  const double v[3] = {scene_value(model, data, "velocity.x", "link3"), scene_value(model, data, "velocity.y", "link3"),
                       scene_value(model, data, "velocity.z", "link3")};
  double way[3];
  tribo_sub3(way, x, f->p);
  tribo_mul33tv(out, f->R, way);
  tribo_mul33tv(out + 3, f->R, v);
  out[6] = scene_value(model, data, "force", "j4");
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// With a base that keeps the plane redundant rows are exactly 0; with one that floats, turned and shifted at random,
// they are rounding. It folds, stands on the ground meanwhile (0.15 s), and hits it (0.3 s).
static void turned_mechanisms_move_alike(void** state) {
  (void)state;
  static const char* const kinds[] = {"hinge", "cylindrical", "ball"};
  KitRandom random = {5};
  char text[4096];
  double planar[7], here[7];
  Frame f = frame_at(NULL, 0);
  write_fourbar(text, &f, "hinge", 1);
  run_fourbar(text, &f, 0.15, planar);
  write_fourbar(text, &f, "hinge", 0);
  run_fourbar(text, &f, 0.3, here);
  // (it has fallen from 0.117 m)
  CHECK_LE(here[1], 0.05);
  for (int trial = 0; trial < 15; ++trial) {
    const char* kind = kinds[trial % 3];
    double floating[7];
    f = frame_at(&random, 1);
    write_fourbar(text, &f, kind, 0);
    run_fourbar(text, &f, 0.15, floating);
    for (int k = 0; k < 6; ++k) {
      CHECK_NEAR(floating[k], planar[k], 1e-9);
    }
    if (trial % 3 == 0) {
      CHECK_NEAR(floating[6], planar[6], 1e-9);
    }
    run_fourbar(text, &f, 0.3, floating);
    for (int k = 0; k < 6; ++k) {
      CHECK_NEAR(floating[k], here[k], 1e-7);
    }
  }
}

// Two bars of 1 kg, pinned to the world 1 m apart and to each other 0.5 m above: an arch that cannot move. It loads and
// stays, as free bodies and as trees, turned at random; the moments of a bar about its foot say that the pin on top
// carries half a bar's weight.
static void what_cannot_move_stays(void** state) {
  (void)state;
  KitRandom random = {9};
  for (int trial = 0; trial < 8; ++trial) {
    const Frame f = frame_at(trial > 1 ? &random : NULL, 1);
    const double half = 0.38268343236508978, whole = 0.92387953251128674;  // of 45°
    char text[4096], *at = text;
    double x[3], y[3], turn[2][4];
    tribo_quat_mul(turn[0], f.turn, (const double[4]){0, 0, half, whole});
    tribo_quat_mul(turn[1], f.turn, (const double[4]){0, 0, -half, whole});
    point_to(&f, 0, -9.81, 0, x);
    at = add(at, "world: {gravity: " XYZ "}\nbodies:\n", OF(x));
    for (int i = 0; i < 2; ++i) {
      place(&f, i == 0 ? 0.25 : 0.75, 0.25, 0, x);
      at = add(at, "  - {name: bar%d, position: " XYZ ", quaternion: [%.17g, %.17g, %.17g, %.17g], mass: 1, ", i, OF(x),
               OF(turn[i]), turn[i][3]);
      at = add(at, "box: [0.7, 0.02, 0.02], group: 0, mask: 0}\n");
    }
    point_to(&f, 0, 0, 1, y);
    at = add(at, trial % 2 == 0 ? "closures:\n" : "joints:\n");
    for (int i = 0; i < 2; ++i) {
      place(&f, i, 0, 0, x);
      at = add(at,
               trial % 2 == 0 ? "  - {name: foot%d, kind: hinge, body_b: bar%d"
                              : "  - {name: foot%d, kind: revolute, parent: world, child: bar%d",
               i, i);
      at = add(at, ", anchor: " XYZ ", axis: " XYZ "}\n", OF(x), OF(y));
    }
    place(&f, 0.5, 0.5, 0, x);
    at = add(at, trial % 2 == 0 ? "" : "closures:\n");
    add(at, "  - {name: top, kind: hinge, body_a: bar0, body_b: bar1, anchor: " XYZ ", axis: " XYZ "}\n", OF(x), OF(y));
    TriboModel* model = model_of(text);
    TriboData* data = data_of(model);
    for (int i = 0; i < 500; ++i) {
      TriboStepInfo info;
      CHECK_OK(tribo_step(model, data, &info));
      assert_true(info.certified);
      CHECK_LE(scene_value(model, data, "speed_max", NULL), 1e-11);
    }
    CHECK_NEAR(scene_value(model, data, "force", "top"), 9.81 / 2, 1e-7);
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
}

// What is remembered of rows and of the parts of steps is state: a run goes on with the same bits.
static void mechanisms_go_on_with_the_same_bits(void** state) {
  (void)state;
  KitRandom random = {13};
  char text[4096];
  const Frame f = frame_at(&random, 1);
  write_fourbar(text, &f, "hinge", 0);
  TriboModel* model = model_of(text);
  TriboData *data = data_of(model), *other = data_of(model);
  TriboState* saved;
  CHECK_OK(tribo_state_create(&saved));
  for (int i = 0; i < 300; ++i) {
    if (i % 30 == 0) {
      // (the other one has been elsewhere meanwhile)
      CHECK_OK(tribo_state_save(model, data, saved));
      CHECK_OK(tribo_step(model, other, NULL));
      CHECK_OK(tribo_state_restore(model, other, saved));
    }
    CHECK_OK(tribo_step(model, data, NULL));
    CHECK_OK(tribo_step(model, other, NULL));
    assert_true(tribo_data_hash(model, data) == tribo_data_hash(model, other));
  }
  tribo_state_destroy(saved);
  tribo_data_destroy(other);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Two tied bodies tumble in free space, after a start whose velocities do not fit the tie: what fitting them costs is
// no fault of the motion, whose momentum is kept without dividing a step.
static void tied_bodies_tumble(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {dt: 0.001, gravity: [0, 0, 0]}\n"
      "bodies:\n"
      "  - {name: a, position: [0, 0, 0], mass: 1, box: [0.1, 0.01, 0.01], omega: [1, 2, 3], group: 0, mask: 0}\n"
      "  - {name: b, position: [0.056, 0, 0.056], mass: 1, box: [0.01, 0.01, 0.1], group: 0, mask: 0}\n"
      "closures: [{name: pin, kind: hinge, body_a: a, body_b: b, anchor: [0.056, 0, 0], axis: [0, 1, 0]}]\n");
  TriboData* data = data_of(model);
  double kinetic = 0;
  for (int i = 0; i < 1000; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    assert_int_equal(info.substeps, 1);
    CHECK_LE(info.momentum_error, 1e-13);
    kinetic = i == 0 ? scene_value(model, data, "kinetic", NULL) : kinetic;
    CHECK_NEAR(scene_value(model, data, "kinetic", NULL), kinetic, 1e-5 * kinetic);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turned_mechanisms_move_alike),
      cmocka_unit_test(what_cannot_move_stays),
      cmocka_unit_test(tied_bodies_tumble),
      cmocka_unit_test(mechanisms_go_on_with_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
