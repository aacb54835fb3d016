// Closures are joints: a mechanism moves alike to 1e-8 whichever joint of a loop is the closure, with all that joints
// have. What closures carry is what statics says.
#include "math3.h"
#include "scene_impl.h"
#include "scenes.h"

// ---- the same mechanism, cut open elsewhere

enum { MOST = 40 };

// A joint of a mechanism, that of a tree or a closure.
typedef struct Tie {
  char name[32];
  TriboClosureKind kind;
  int a, b;
  double anchor[3], axis[3];
  TriboClosureDef has;  // of which only what joints have counts
} Tie;

typedef struct Mechanism {
  TriboBodyDef bodies[MOST];
  char names[MOST][32];
  int nbody;
  Tie ties[MOST];
  int ntie;
  double gravity[3];
  TriboMotorDef motor;  // on every joint, or on motor.joint; none without stiffness
} Mechanism;

static void add_bar(Mechanism* m, const char* name, const double p[2], const double q[2], double mass) {
  TriboBodyDef* b = &m->bodies[m->nbody];
  const double x = q[0] - p[0], z = q[1] - p[1], l = hypot(x, z), w = 0.02, d = 0.03, angle = -atan2(z, x);
  *b = tribo_body_default();
  snprintf(m->names[m->nbody], sizeof m->names[0], "%s", name);
  b->name = m->names[m->nbody++];
  tribo_set3(b->position, 0.5 * (p[0] + q[0]), 0, 0.5 * (p[1] + q[1]));
  b->quaternion[1] = sin(0.5 * angle), b->quaternion[3] = cos(0.5 * angle);
  b->mass = mass;
  tribo_set3(b->com, 0, 0, 0);
  const double inertia[6] = {mass / 12 * (w * w + d * d), mass / 12 * (l * l + d * d), mass / 12 * (l * l + w * w)};
  memcpy(b->inertia, inertia, sizeof inertia);
}

static Tie* add_tie(Mechanism* m, const char* name, TriboClosureKind kind, int a, int b, double x, double z) {
  Tie* t = &m->ties[m->ntie++];
  snprintf(t->name, sizeof t->name, "%s", name);
  t->kind = kind, t->a = a, t->b = b;
  tribo_set3(t->anchor, x, 0, z);
  tribo_set3(t->axis, kind == TRIBO_CLOSURE_SLIDER, kind != TRIBO_CLOSURE_SLIDER, 0);
  t->has = tribo_closure_default();
  return t;
}

// Crank 0.2 m, coupler 0.55 m, rocker 0.4 m, pivots 0.5 m apart.
static Mechanism four_bar(void) {
  const double A[2] = {0, 0}, B[2] = {0.10000000000000003, 0.17320508075688773},
               C[2] = {0.60746240152727538, 0.38529447473068013}, D[2] = {0.5, 0};
  Mechanism m = {.gravity = {0, 0, -9.81}};
  add_bar(&m, "crank", A, B, 1);
  add_bar(&m, "coupler", B, C, 1.5);
  add_bar(&m, "rocker", D, C, 0.7);
  add_tie(&m, "A", TRIBO_CLOSURE_HINGE, -1, 0, A[0], A[1]);
  add_tie(&m, "B", TRIBO_CLOSURE_HINGE, 0, 1, B[0], B[1]);
  add_tie(&m, "C", TRIBO_CLOSURE_HINGE, 1, 2, C[0], C[1]);
  add_tie(&m, "D", TRIBO_CLOSURE_HINGE, -1, 2, D[0], D[1]);
  return m;
}

static Mechanism slider_crank(void) {
  const double A[2] = {0, 0}, B[2] = {0.12, 0.16}, C[2] = {0.12 + sqrt(0.25 - 0.0256), 0}, E[2] = {C[0] + 0.1, 0};
  Mechanism m = {.gravity = {0, 0, -9.81}};
  add_bar(&m, "crank", A, B, 1);
  add_bar(&m, "rod", B, C, 0.4);
  add_bar(&m, "piston", C, E, 2);
  add_tie(&m, "A", TRIBO_CLOSURE_HINGE, -1, 0, A[0], A[1]);
  add_tie(&m, "B", TRIBO_CLOSURE_HINGE, 0, 1, B[0], B[1]);
  add_tie(&m, "C", TRIBO_CLOSURE_HINGE, 1, 2, C[0], C[1]);
  add_tie(&m, "D", TRIBO_CLOSURE_SLIDER, -1, 2, C[0], C[1]);
  return m;
}

static int body_of(const Mechanism* m, const char* name) {
  int i = 0;
  while (strcmp(m->names[i], name) != 0) {
    i++;
  }
  return i;
}

// scenes/mechanisms/legs.yaml in flight, tumbling: 31 bodies, 36 hinges, 6 loops.
static Mechanism legs(void) {
  Mechanism m = {.gravity = {0, 0, -9.81}};
  TriboScene* s;
  CHECK_OK(tribo_scene_load(SCENES "mechanisms/legs.yaml", NULL, &s));
  m.nbody = s->nbody;
  for (int i = 0; i < s->nbody; ++i) {
    m.bodies[i] = s->bodys[i];
    snprintf(m.names[i], sizeof m.names[i], "%s", s->bodys[i].name);
    tribo_set3(m.bodies[i].com, 0, 0, 0);
  }
  for (int i = 0; i < s->njoint; ++i) {
    const TriboJointDef* j = &s->joints[i];
    Tie* t = add_tie(&m, j->name, TRIBO_CLOSURE_HINGE, j->parent, j->child, 0, 0);
    tribo_copy3(t->anchor, j->anchor);
    tribo_copy3(t->axis, j->axis);
  }
  for (int i = 0; i < s->nclosure; ++i) {
    const TriboClosureDef* c = &s->closures[i];
    Tie* t = add_tie(&m, c->name, TRIBO_CLOSURE_HINGE, body_of(&m, c->body_a), body_of(&m, c->body_b), 0, 0);
    tribo_copy3(t->anchor, c->anchor);
    tribo_copy3(t->axis, c->axis);
  }
  tribo_scene_destroy(s);
  tribo_set3(m.bodies[0].omega, 3, 2, 1);
  return m;
}

static int find(const int* above, int i) {
  while (above[i] != i) {
    i = above[i];
  }
  return i;
}

// Which ties are closures when all others come first: 0 where that one is in no loop.
static int choose_closures(const Mechanism* m, int last, unsigned char* is_closure) {
  int above[MOST + 1];
  for (int i = 0; i <= m->nbody; ++i) {
    above[i] = i;
  }
  for (int k = 0; k < m->ntie; ++k) {
    const int i = k + 1 < m->ntie ? k + (k >= last) : last;
    const int a = find(above, m->ties[i].a + 1), b = find(above, m->ties[i].b + 1);
    is_closure[i] = a == b;
    above[a < b ? b : a] = a < b ? a : b;
  }
  return is_closure[last];
}

static void add_joint(TriboScene* scene, const Mechanism* m, const Tie* t, int turned) {
  TriboJointDef j = tribo_joint_default();
  j.name = t->name;
  j.kind = t->kind == TRIBO_CLOSURE_SLIDER        ? TRIBO_JOINT_PRISMATIC
           : t->kind == TRIBO_CLOSURE_CYLINDRICAL ? TRIBO_JOINT_CYLINDRICAL
           : t->kind == TRIBO_CLOSURE_BALL        ? TRIBO_JOINT_SPHERICAL
                                                  : TRIBO_JOINT_REVOLUTE;
  j.parent = turned ? t->b : t->a;
  j.child = turned ? t->a : t->b;
  tribo_copy3(j.anchor, t->anchor);
  tribo_scale3(j.axis, turned ? -1 : 1, t->axis);
  j.armature = t->has.armature, j.damping = t->has.damping, j.friction = t->has.friction;
  j.stiffness = t->has.stiffness, j.rest = t->has.rest;
  j.lower = t->has.lower, j.upper = t->has.upper;
  (void)m;
  CHECK_OK(tribo_scene_add_joint(scene, &j, NULL));
}

static void add_closure(TriboScene* scene, const Mechanism* m, const Tie* t) {
  TriboClosureDef c = t->has;
  c.name = t->name;
  c.kind = t->kind;
  c.body_a = t->a < 0 ? NULL : m->names[t->a];
  c.body_b = t->b < 0 ? NULL : m->names[t->b];
  tribo_copy3(c.anchor, t->anchor);
  tribo_copy3(c.axis, t->axis);
  CHECK_OK(tribo_scene_add_closure(scene, &c, NULL));
}

// The mechanism with these ties as closures and the others as joints of trees.
static TriboModel* cut_open(const Mechanism* m, const unsigned char* is_closure) {
  TriboScene* scene;
  TriboModel* model;
  unsigned char reached[MOST + 1] = {0}, done[MOST] = {0};
  CHECK_OK(tribo_scene_create(&scene));
  TriboWorldDef world = tribo_world_default();
  tribo_copy3(world.gravity, m->gravity);
  CHECK_OK(tribo_scene_set_world(scene, &world));
  for (int i = 0; i < m->nbody; ++i) {
    TriboBodyDef def = m->bodies[i];
    def.name = m->names[i];
    CHECK_OK(tribo_scene_add_body(scene, &def, NULL));
  }
  // from the world, or from the first body where nothing hangs on the world
  reached[0] = 1;
  for (int i = 0; i < m->ntie; ++i) {
    reached[1] |= m->ties[0].a >= 0;
  }
  for (int more = 1; more;) {
    more = 0;
    for (int i = 0; i < m->ntie; ++i) {
      const Tie* t = &m->ties[i];
      if (!is_closure[i] && !done[i] && (reached[t->a + 1] || reached[t->b + 1])) {
        add_joint(scene, m, t, !reached[t->a + 1]);
        reached[t->a + 1] = reached[t->b + 1] = done[i] = 1;
        more = 1;
      }
    }
  }
  for (int i = 0; i < m->ntie; ++i) {
    if (is_closure[i]) {
      add_closure(scene, m, &m->ties[i]);
    }
  }
  if (m->motor.stiffness > 0) {
    for (int i = 0; i < m->ntie; ++i) {
      TriboMotorDef motor = m->motor;
      motor.joint = m->ties[i].name;
      if (m->motor.joint == NULL || strcmp(m->motor.joint, motor.joint) == 0) {
        CHECK_OK(tribo_scene_add_motor(scene, &motor, NULL));
      }
    }
  }
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  return model;
}

// Where the bodies are (nbody × 3) every tenth step; every step is certified.
static void run(const Mechanism* m, const TriboModel* model, int steps, double* path) {
  TriboData* data = data_of(model);
  TriboView x;
  for (int i = 0; i < steps; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    if (i % 10 == 9) {
      CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &x));
      for (int b = 0; b < m->nbody; ++b) {
        int id;
        CHECK_OK(tribo_model_body_id(model, m->names[b], &id));
        tribo_copy3(path, x.values + 3 * id);
        path += 3;
      }
    }
  }
  tribo_data_destroy(data);
}

// All closures of a mechanism, one after the other: the motion is the same. Returns how far it went.
static double compare(const char* what, const Mechanism* m, int steps) {
  const size_t n = (size_t)(steps / 10 * m->nbody * 3);
  double *first = calloc(2 * n, sizeof *first), *path = first + n, moved = 0;
  int known = 0, choices = 0;
  unsigned char covered[MOST] = {0};
  for (int i = 0; i < m->ntie; ++i) {
    unsigned char is_closure[MOST];
    if (covered[i] || !choose_closures(m, i, is_closure)) {
      continue;
    }
    TriboModel* model = cut_open(m, is_closure);
    run(m, model, steps, known ? path : first);
    tribo_model_destroy(model);
    double worst = 0;
    const size_t count = known ? n : 0;
    for (size_t k = 0; k < count; ++k) {
      worst = fmax(worst, fabs(path[k] - first[k]));
    }
    if (!(worst <= 1e-8)) {
      print_error("%s: with '%s' as the closure it is off by %g m\n", what, m->ties[i].name, worst);
      fail();
    }
    for (int k = 0; k < m->ntie; ++k) {
      covered[k] |= is_closure[k];
    }
    known = 1;
    choices++;
  }
  for (size_t k = n - 3 * (size_t)m->nbody, i = 0; k < n; ++k, ++i) {
    moved = fmax(moved, fabs(first[k] - m->bodies[i / 3].position[i % 3]));
  }
  assert_true(choices >= 2);
  free(first);
  return moved;
}

// Each joint in turn has something, and each joint in turn is the closure.
static void compare_all(const char* name, Mechanism (*build)(void), int steps) {
  char what[64];
  const int n = build().ntie;
  Mechanism m = build();
  CHECK_LE(0.01, compare(name, &m, steps));
  for (int i = 0; i < n; ++i) {
    snprintf(what, sizeof what, "%s, motor at %d", name, i);
    m = build();
    m.motor = (TriboMotorDef){.joint = m.ties[i].name, .stiffness = 50, .damping = 2, .target = 0.1, .effort = 6};
    compare(what, &m, steps);
    snprintf(what, sizeof what, "%s, stop at %d", name, i);
    m = build();
    m.ties[i].has.lower = -0.05, m.ties[i].has.upper = 0.05;
    CHECK_LE(compare(what, &m, steps), 0.2);
    snprintf(what, sizeof what, "%s, friction at %d", name, i);
    m = build();
    m.ties[i].has.friction = 0.3;
    compare(what, &m, steps);
    snprintf(what, sizeof what, "%s, damper at %d", name, i);
    m = build();
    m.ties[i].has.damping = 0.5;
    compare(what, &m, steps);
    snprintf(what, sizeof what, "%s, spring and rotor at %d", name, i);
    m = build();
    m.ties[i].has.stiffness = 5, m.ties[i].has.rest = -0.2, m.ties[i].has.armature = 0.02;
    compare(what, &m, steps);
  }
}

static void any_joint_of_a_four_bar_may_be_the_closure(void** state) {
  (void)state;
  compare_all("four-bar", four_bar, 300);
}

static void any_joint_of_a_slider_crank_may_be_the_closure(void** state) {
  (void)state;
  compare_all("slider-crank", slider_crank, 300);
}

static void any_hinge_of_the_legs_may_be_the_closure(void** state) {
  (void)state;
  Mechanism m = legs();
  CHECK_LE(0.01, compare("legs", &m, 50));
  for (int i = 0; i < m.ntie; ++i) {
    m.ties[i].has.friction = 0.01;
  }
  compare("legs, friction", &m, 50);
  for (int i = 0; i < m.ntie; ++i) {
    m.ties[i].has.friction = 0;
    m.ties[i].has.lower = -0.02, m.ties[i].has.upper = 0.02;
  }
  compare("legs, stops", &m, 50);
  m = legs();
  m.motor = (TriboMotorDef){.stiffness = 50, .damping = 1, .effort = INFINITY};
  for (int i = 0; i < m.ntie; ++i) {
    m.ties[i].has.armature = 1e-5;
  }
  compare("legs, motors", &m, 50);
}

// ---- what closures carry

// Two bars of 2 kg lean on each other at 45°: each foot carries W upwards and W/2 inwards. The right foot is a hinge of
// a tree, a closure, or a closure that is a joint.
static void a_three_hinged_arch_stands(void** state) {
  (void)state;
#define ARCH(right)                                                                                           \
  "bodies: [{name: left, position: [-0.5, 0, 0.5], mass: 2, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]},\n"  \
  " {name: right, position: [0.5, 0, 0.5], mass: 2, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}]\n"          \
  "joints: [{name: foot, kind: revolute, parent: world, child: left, anchor: [-1, 0, 0], axis: [0, 1, 0]},\n" \
  " {name: apex, kind: revolute, parent: left, child: right, anchor: [0, 0, 1], axis: [0, 1, 0]}]\n"          \
  "closures: [{name: other, kind: hinge, anchor: [1, 0, 0], axis: [0, 1, 0], " right "}]\n"
  static const char* const texts[] = {ARCH("body_b: right"), ARCH("body_b: right, damping: 0.1"),
                                      ARCH("body_a: right, damping: 0.1")};
  const double W = 2 * 9.81;
  for (int i = 0; i < 3; ++i) {
    TriboModel* model = model_of(texts[i]);
    TriboData* data = data_of(model);
    int foot, apex;
    double force[3], torque[3];
    CHECK_OK(tribo_step(model, data, NULL));
    CHECK_OK(tribo_model_joint_id(model, "foot", &foot));
    CHECK_OK(tribo_model_joint_id(model, "apex", &apex));
    CHECK_OK(tribo_data_joint_wrench(model, data, foot, force, torque));
    CHECK_NEAR(force[0], 0.5 * W, 1e-9);
    CHECK_NEAR(force[2], W, 1e-9);
    CHECK_NEAR(tribo_norm3(torque), 0, 1e-9);
    CHECK_OK(tribo_data_joint_wrench(model, data, apex, force, torque));
    CHECK_NEAR(force[0], 0.5 * W, 1e-9);
    CHECK_NEAR(force[2], 0, 1e-9);
    CHECK_NEAR(scene_value(model, data, "force", "other"), sqrt(1.25) * W, 1e-9);
    CHECK_NEAR(scene_value(model, data, "torque", "other"), 0, 1e-9);
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
}

// A beam on three props, of which one is too many: statics leaves open who carries what. The least impulses that do it
// share the load alike, and their sum is the weight.
static void a_beam_on_too_many_props_shares_its_load(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "bodies: [{name: beam, position: [0, 0, 1], mass: 3, com: [0, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0]}]\n"
      "closures: [{name: a, kind: ball, body_b: beam, anchor: [-1, 0, 1]}, {name: b, kind: ball, body_b: beam,"
      " anchor: [0, 0, 1]}, {name: c, kind: ball, body_b: beam, anchor: [1, 0, 1]}]\n");
  TriboData* data = data_of(model);
  const double *a, *b, *c;
  CHECK_OK(tribo_step(model, data, NULL));
  CHECK_OK(tribo_data_closure_force(model, data, 0, &a));
  CHECK_OK(tribo_data_closure_force(model, data, 1, &b));
  CHECK_OK(tribo_data_closure_force(model, data, 2, &c));
  CHECK_NEAR(tribo_norm3(a), tribo_norm3(c), 1e-9);
  CHECK_NEAR(tribo_norm3(a) + tribo_norm3(b) + tribo_norm3(c), 3 * 9.81, 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// The largest change from step to step of what the hinge D of a four-bar carries, over its largest value.
static double jump_of(Mechanism* m) {
  unsigned char is_closure[MOST] = {0, 0, 0, 1};
  TriboModel* model = cut_open(m, is_closure);
  TriboData* data = data_of(model);
  double before[6] = {0}, jump = 0, most = 0;
  for (int i = 0; i < 1000; ++i) {
    const double* force;
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_true(info.certified);
    CHECK_OK(tribo_data_closure_force(model, data, 0, &force));
    for (int k = 0; k < 6; ++k) {
      jump = fmax(jump, i > 0 ? fabs(force[k] - before[k]) : 0);
      most = fmax(most, fabs(force[k]));
      before[k] = force[k];
    }
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  print_message("largest force %.4g N, largest jump %.4g N\n", most, jump);
  return jump;
}

// Three rows of a planar four-bar say nothing new. What its closure carries changes from step to step by no more than
// where a cylindrical joint and a ball leave no row redundant.
static void redundant_reactions_do_not_jump(void** state) {
  (void)state;
  Mechanism redundant = four_bar(), independent = four_bar();
  independent.ties[1].kind = TRIBO_CLOSURE_CYLINDRICAL;
  independent.ties[2].kind = TRIBO_CLOSURE_BALL;
  CHECK_LE(jump_of(&redundant), 1.5 * jump_of(&independent));
}

// Fingers that follow each other are no hindrance: a Panda at rest carries its hand in its wrist, and nothing else.
static void a_wrist_feels_the_weight_of_its_hand(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "robots: [{name: panda, urdf: \"package://example-robot-data/robots/panda_description/urdf/panda.urdf\","
      " joints: {panda_joint2: 0.3, panda_joint4: -2, panda_joint6: 2, panda_finger_joint1: 0.02,"
      " panda_finger_joint2: 0.02}}]\n"
      "controllers: [{robot: panda, law: gravity}, {robot: panda, joints: [panda_joint*], stiffness: 1000,"
      " damping: 100}]\n"
      "sensors: [{name: wrist, kind: force, body: panda/panda_hand}]\n");
  TriboData* data = data_of(model);
  static const char* const parts[] = {"panda/panda_hand", "panda/panda_leftfinger", "panda/panda_rightfinger"};
  double reading[4], mass = 0;
  for (int i = 0; i < 3; ++i) {
    int id;
    CHECK_OK(tribo_model_body_id(model, parts[i], &id));
    mass += tribo_model_body(model, id)->mass;
  }
  for (int i = 0; i < 200; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
  CHECK_OK(tribo_data_sensor(model, data, 0, reading));
  CHECK_NEAR(tribo_norm3(reading), 9.81 * mass, 1e-6);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// ---- the kinds

// What a closure leaves free: a body on it, pulled and turned, moves by these directions and no others.
static void each_kind_leaves_free_what_its_joint_does(void** state) {
  (void)state;
  static const struct {
    const char* kind;
    int moves, turns;  // bits: along x, y, z of the world; about them
  } cases[] = {{"hinge", 0, 4}, {"slider", 4, 0}, {"cylindrical", 4, 4}, {"planar", 3, 4},
               {"ball", 0, 7},  {"gimbal", 0, 7}, {"cartesian", 7, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int is_joint = 0; is_joint < 2; ++is_joint) {
      char text[512];
      snprintf(
          text, sizeof text,
          "world: {gravity: [0, 0, 0]}\nbodies: [{name: b, mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}]\n"
          "closures: [{name: c, kind: %s, body_b: b, axis: [0, 0, 1]%s}]\n",
          cases[i].kind, is_joint ? ", damping: 1.0e-9" : "");
      TriboModel* model = model_of(text);
      TriboData* data = data_of(model);
      const double force[3] = {1, 1, 1};
      TriboView v, w;
      CHECK_OK(tribo_data_apply_wrench(model, data, 0, force, force));
      CHECK_OK(tribo_step(model, data, NULL));
      CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_VELOCITY, &v));
      CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_OMEGA, &w));
      for (int k = 0; k < 3; ++k) {
        CHECK_NEAR(v.values[k], cases[i].moves >> k & 1 ? 1e-3 : 0, 2e-6);
        CHECK_NEAR(w.values[k], cases[i].turns >> k & 1 ? 1e-3 : 0, 2e-6);
      }
      tribo_data_destroy(data);
      tribo_model_destroy(model);
    }
  }
}

// A sensor, a controller or an expectation that names a closure finds its coordinate there: turns are counted.
static void a_closure_that_is_named_as_a_joint_is_one(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0]}\n"
      "bodies: [{name: wheel, position: [1, 0, 0], omega: [0, 0, 10], mass: 2, com: [0, 0, 0],"
      " inertia: [1, 1, 1, 0, 0, 0]}]\n"
      "closures: [{name: axle, kind: hinge, body_b: wheel, anchor: [1, 0, 0], axis: [0, 0, 1], position: 0.5}]\n"
      "sensors: [{name: angle, kind: joint_position, joint: axle}]\n"
      "states: [{name: turned, positions: {wheel: [1, 0, 0, 0, 0, 0.479425538604203, 0.8775825618903728]}}]\n");
  TriboData* data = data_of(model);
  double reading[4];
  const TriboClosureInfo* info = tribo_model_closure(model, 0);
  assert_string_equal(info->kind, "hinge");
  assert_true(info->joint >= 0);
  CHECK_NEAR(scene_value(model, data, "q", "axle"), 0.5, 1e-15);
  CHECK_NEAR(scene_value(model, data, "v", "axle"), 10, 1e-12);
  for (int i = 0; i < 2000; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
  CHECK_OK(tribo_data_sensor(model, data, 0, reading));
  CHECK_NEAR(reading[0], 20.5, 1e-3);
  // a state that moves bodies moves its coordinate, too
  CHECK_OK(tribo_data_restore_snapshot(model, data, "turned"));
  CHECK_NEAR(scene_value(model, data, "q", "axle"), 1.5, 1e-12);
  CHECK_NEAR(scene_value(model, data, "v", "axle"), 10, 1e-12);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// ---- what is refused

static void bad_drives_are_refused(void** state) {
  (void)state;
#define BODY "bodies: [{name: b, box: [1, 1, 1]}]\n"
  static const struct {
    const char *text, *says;
  } cases[] = {
      {BODY "closures:\n  - {kind: weld, body_b: b, friction: 1}\n", ":3:"},
      {BODY "closures:\n  - {kind: weld, body_b: b, friction: 1}\n", "has no coordinate"},
      {BODY "closures:\n  - {kind: hinge, body_b: b, damping: -1}\n", ":3:39: damping"},
      {BODY "closures:\n  - {kind: hinge, body_b: b, lower: 2, upper: 1}\n", "lower = 2 must not be above upper = 1"},
      {BODY "closures:\n  - {kind: ball, body_b: b, position: 1}\n", "only a hinge or slider"},
      {BODY "closures:\n  - {kind: hinge, body_b: b, restitution: 2}\n", "restitution"},
      {BODY "closures:\n  - {kind: universal, body_a: b, damping: 1}\n", "needs a body_b with mass"},
      {BODY "closures:\n  - {name: c, kind: weld, body_b: b}\nmotors: [{joint: c, damping: 1}]\n", "'c'"},
      {BODY "joints: [{name: j, kind: revolute, parent: world, child: b}]\nclosures:\n"
            "  - {name: j, kind: hinge, body_b: b, axis: [0, 0, 1], damping: 1}\n",
       "a joint is called so, too"},
      {BODY "closures: [{name: c, kind: ball, body_b: b, damping: 1}]\nmotors:\n  - {joint: c, damping: 1}\n",
       "3 degrees of freedom"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    TriboScene* scene = NULL;
    TriboModel* model = NULL;
    TriboStatus status = load_text(cases[i].text, &scene);
    status = status == TRIBO_OK ? tribo_model_create(scene, &model) : status;
    assert_true(status != TRIBO_OK && model == NULL);
    if (strstr(tribo_last_error(), cases[i].says) == NULL) {
      print_error("case %zu: '%s' does not say '%s'\n", i, tribo_last_error(), cases[i].says);
      fail();
    }
    tribo_scene_destroy(scene);
  }
}

// Saved and loaded it is the same model; saved in the middle and restored it goes on bit for bit.
static void driven_closures_are_saved_and_restored(void** state) {
  (void)state;
  TriboScene *scene, *again;
  TriboModel *model, *copy;
  char* path = scene_file("", 0);
  CHECK_OK(load_text(
      "bodies: [{name: b, position: [0.3, 0, 0], box: [0.6, 0.1, 0.1]}]\n"
      "closures: [{name: c, kind: hinge, body_b: b, axis: [0, 1, 0], upper: 0.4, friction: 0.1, armature: 0.01,"
      " restitution: 0.3}]\nmotors: [{joint: c, stiffness: 30, damping: 1, target: 1}]\n",
      &scene));
  CHECK_OK(tribo_scene_save(scene, path));
  CHECK_OK(tribo_scene_load(path, NULL, &again));
  CHECK_OK(tribo_model_create(scene, &model));
  CHECK_OK(tribo_model_create(again, &copy));
  TriboData *one = data_of(model), *two = data_of(copy);
  TriboState* middle;
  TriboView x, y;
  CHECK_OK(tribo_state_create(&middle));
  for (int i = 0; i < 400; ++i) {
    if (i == 200) {
      CHECK_OK(tribo_state_save(model, one, middle));
      tribo_data_destroy(two);
      two = data_of(model);
      CHECK_OK(tribo_state_restore(model, two, middle));
    }
    CHECK_OK(tribo_step(model, one, NULL));
    CHECK_OK(tribo_step(i < 200 ? copy : model, two, NULL));
    CHECK_OK(tribo_data_view(model, one, TRIBO_FIELD_Q, &x));
    CHECK_OK(tribo_data_view(i < 200 ? copy : model, two, TRIBO_FIELD_Q, &y));
    assert_memory_equal(x.values, y.values, (size_t)tribo_model_size(model).nq * sizeof *x.values);
  }
  tribo_state_destroy(middle);
  tribo_data_destroy(one);
  tribo_data_destroy(two);
  tribo_model_destroy(model);
  tribo_model_destroy(copy);
  tribo_scene_destroy(scene);
  tribo_scene_destroy(again);
  unlink(path);
  free(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_joint_of_a_four_bar_may_be_the_closure),
      cmocka_unit_test(any_joint_of_a_slider_crank_may_be_the_closure),
      cmocka_unit_test(any_hinge_of_the_legs_may_be_the_closure),
      cmocka_unit_test(a_three_hinged_arch_stands),
      cmocka_unit_test(a_beam_on_too_many_props_shares_its_load),
      cmocka_unit_test(redundant_reactions_do_not_jump),
      cmocka_unit_test(a_wrist_feels_the_weight_of_its_hand),
      cmocka_unit_test(each_kind_leaves_free_what_its_joint_does),
      cmocka_unit_test(a_closure_that_is_named_as_a_joint_is_one),
      cmocka_unit_test(bad_drives_are_refused),
      cmocka_unit_test(driven_closures_are_saved_and_restored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
