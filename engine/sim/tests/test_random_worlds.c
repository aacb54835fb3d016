// Random worlds with one tree each, half of them over a ground, and 400 whose joints have dampers, weak ones and such
// as stop them within a step: no step that is certified gains energy, no tree is lost, and a step that cannot be taken
// says whose motion it is and which step would do.
//
// Nothing drives a tree, so its energy can only fall. Flights keep a modified energy E + h²E₂, so that E comes
// and goes by O(h²), and steps of impulses, at whose start all weight acts, keep one of first order, E + ½h g·p: so 1 %
// of the largest kinetic energy so far is allowed, against the least energy so far, and ½h g·Δp where something
// touches.
//
// What undoing overlaps gives is told by the step and taken out; what a step gains that is not certified it has told,
// too. Steps that are too long are divided, and few are left that cannot be taken.
#include <stdlib.h>

#include "scenes.h"

enum { WORLDS = 1000, DAMPED = 400, STEPS = 200, LINKS_MAX = 8, FAILED_MAX = 20 };
static const double ALLOWED = 0.01;
// Kicks of dampers come and go by ½h v·Dv, which is not taken out: that much more.
static const double ALLOWED_DAMPED = 0.02;

// What became of the worlds.
typedef struct Tally {
  int worlds, steps, certified;  // taken
  int finished, divided;         // worlds that went through; steps taken in substeps
  int failed, helped;            // that ended with a failed step; that the step named there helped
  int gaining;                   // worlds that gain more than is allowed
  double gain;                   // largest, of the largest kinetic energy so far
} Tally;

static const TriboJointKind OWN[] = {TRIBO_JOINT_REVOLUTE, TRIBO_JOINT_CONTINUOUS, TRIBO_JOINT_PRISMATIC,
                                     TRIBO_JOINT_SPHERICAL, TRIBO_JOINT_TRANSLATION};
static const TriboJointKind RARE[] = {TRIBO_JOINT_HELICAL, TRIBO_JOINT_UNIVERSAL, TRIBO_JOINT_CYLINDRICAL,
                                      TRIBO_JOINT_PLANAR,  TRIBO_JOINT_EULER,     TRIBO_JOINT_ELLIPSOID};

// A world by its number: even ones fly without gravity and contacts, odd ones fall onto a ground and onto themselves.
typedef struct WorldKind {
  int contact;  // 1: with the ground; 2: and among the links
  int floating, rare, damped, links;
  double h, spin;  // [s], [rad/s]
} WorldKind;

static WorldKind kind_of(int number, KitRandom* rng) {
  return (WorldKind){.contact = number % 2,
                     .floating = number / 2 % 2,
                     .rare = number / 4 % 2,
                     .damped = number >= WORLDS,
                     .links = 2 + kit_int(rng, LINKS_MAX - 1),
                     .h = 1e-3 * pow(50, kit_uniform(rng, 0, 1)),
                     .spin = pow(40, kit_uniform(rng, 0, 1))};
}

static void add_link(TriboScene* scene, const WorldKind* kind, KitRandom* rng, int i, const double position[3]) {
  TriboBodyDef body = tribo_body_default();
  TriboShapeDef shape = tribo_shape_default();
  int id;
  memcpy(body.position, position, sizeof body.position);
  kit_rotation(rng, body.quaternion);
  if (i == 0 && kind->floating) {
    for (int k = 0; k < 3; ++k) {
      body.velocity[k] = 0.3 * kit_uniform(rng, -0.6, 0.6) * kind->spin;
      body.omega[k] = kit_uniform(rng, -0.6, 0.6) * kind->spin;
    }
  }
  body.mass = pow(10, kit_uniform(rng, -2, 2));
  shape.kind = kit_int(rng, 2) ? TRIBO_SHAPE_BOX : TRIBO_SHAPE_CAPSULE;
  shape.size[0] = kit_uniform(rng, 0.05, 0.1);
  shape.size[1] = shape.size[2] = kit_uniform(rng, 0.1, 0.2);
  shape.group = kind->contact ? 2 : 0;
  shape.mask = kind->contact == 2 ? 3 : 1;
  CHECK_OK(tribo_scene_add_body(scene, &body, &id));
  assert_int_equal(id, i);
  CHECK_OK(tribo_scene_add_shape(scene, id, &shape, NULL));
}

static void add_joint(TriboScene* scene, const WorldKind* kind, KitRandom* rng, int parent, int child,
                      const double anchor[3]) {
  TriboJointDef joint = tribo_joint_default();
  joint.kind = kind->rare && kit_int(rng, 2) ? RARE[kit_int(rng, 6)] : OWN[kit_int(rng, 5)];
  joint.parent = parent;
  joint.child = child;
  joint.pitch = 0.1;
  for (int k = 0; k < 3; ++k) {
    joint.anchor[k] = anchor[k];
    joint.axis[k] = kit_normal(rng);
    joint.radii[k] = kit_uniform(rng, 0.2, 0.4);
  }
  joint.damping = kind->damped ? pow(10, kit_uniform(rng, -3, 3)) : 0;
  // at a right angle to it
  joint.axis2[0] = joint.axis[1], joint.axis2[1] = -joint.axis[0], joint.axis2[2] = 0;
  CHECK_OK(tribo_scene_add_joint(scene, &joint, NULL));
}

// How many velocities a joint has, the first `slides` of them along its axes.
static int count_velocities(const char* kind, int* slides) {
  static const struct {
    const char* kind;
    int nv, slides;
  } COUNTS[] = {{"prismatic", 1, 1}, {"cylindrical", 2, 1}, {"planar", 3, 2}, {"translation", 3, 3},
                {"universal", 2, 0}, {"spherical", 3, 0},   {"euler", 3, 0},  {"ellipsoid", 3, 0}};
  *slides = 0;
  for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; ++i) {
    if (strcmp(COUNTS[i].kind, kind) == 0) {
      *slides = COUNTS[i].slides;
      return COUNTS[i].nv;
    }
  }
  return 1;
}

// Velocities of the joints up to `spin`; what slides moves as the end of an arm of 0.3 m does that turns so fast.
static void set_velocities(TriboScene* scene, const WorldKind* kind, KitRandom* rng) {
  TriboModel* model;
  TriboStateValue values[LINKS_MAX];
  TriboStateDef state = {.name = "start", .values = values};
  CHECK_OK(tribo_model_create(scene, &model));
  const TriboModelSize size = tribo_model_size(model);
  for (int j = 0; j < size.njoint; ++j) {
    const TriboJointInfo* joint = tribo_model_joint(model, j);
    TriboStateValue* value = values + state.nvalue;
    int slides;
    if (strcmp(joint->kind, "free") != 0) {
      *value = (TriboStateValue){.kind = TRIBO_VALUE_VELOCITY, .of = joint->name};
      value->n = count_velocities(joint->kind, &slides);
      assert_int_equal(value->n, joint->nv);
      for (int k = 0; k < value->n; ++k) {
        value->x[k] = (k < slides ? 0.3 : 1) * kit_uniform(rng, -0.6, 0.6) * kind->spin;
      }
      ++state.nvalue;
    }
  }
  CHECK_OK(tribo_scene_add_state(scene, &state, NULL));
  CHECK_OK(tribo_scene_start_at(scene, "start"));
  tribo_model_destroy(model);
}

// The bodies and joints of a world, its start, gravity and dt.
static TriboScene* build(const WorldKind* kind, KitRandom* rng) {
  TriboScene* scene;
  double at[LINKS_MAX][3] = {{0, 0, 0.4}};
  CHECK_OK(tribo_scene_create(&scene));
  if (kind->contact) {
    TriboShapeDef ground = tribo_shape_default();
    ground.kind = TRIBO_SHAPE_HALFSPACE;
    CHECK_OK(tribo_scene_add_shape(scene, TRIBO_WORLD, &ground, NULL));
  }
  for (int i = 0; i < kind->links; ++i) {
    const int parent = i == 0 ? TRIBO_WORLD : kit_int(rng, i);
    double anchor[3];
    for (int k = 0; k < 3; ++k) {
      // upwards, so that hardly anything overlaps at the start
      const double way = kit_uniform(rng, -0.3, 0.3), rise = k == 2 ? fabs(way) + 0.3 : way;
      at[i][k] = i == 0 ? at[0][k] : at[parent][k] + rise;
      anchor[k] = at[i][k] - 0.5 * rise;
    }
    add_link(scene, kind, rng, i, at[i]);
    if (i > 0 || !kind->floating) {
      add_joint(scene, kind, rng, parent, i, anchor);
    }
  }
  set_velocities(scene, kind, rng);
  TriboWorldDef world = *tribo_scene_world(scene);
  world.gravity[2] = kind->contact ? -9.81 : 0;
  world.dt = kind->h;
  world.duration = STEPS * kind->h;
  CHECK_OK(tribo_scene_set_world(scene, &world));
  return scene;
}

static TriboModel* compile(TriboScene* scene, double h) {
  TriboModel* model;
  CHECK_OK(tribo_scene_set(scene, "dt", h));
  CHECK_OK(tribo_model_create(scene, &model));
  return model;
}

// The scene of a world; links that overlap at the start do not see one another.
static TriboScene* world_scene(int number, WorldKind* kind) {
  TriboScene* scene = NULL;
  double depth = 1;
  for (int see = 2; see > 0 && depth > 1e-6; --see) {
    KitRandom rng = {1000 + (uint64_t)number};
    TriboStepInfo info = {.penetration = 0};
    tribo_scene_destroy(scene);
    *kind = kind_of(number, &rng);
    kind->contact = kind->contact ? see : 0;
    scene = build(kind, &rng);
    TriboModel* model = compile(scene, kind->h);
    TriboData* data = data_of(model);
    depth = tribo_step(model, data, &info) == TRIBO_OK ? info.penetration : 0;
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
  return scene;
}

// The least energy so far, and what weight has to do with it.
typedef struct Least {
  double energy, falling;  // [J], momentum along gravity [N·s]
} Least;

static Least energy_of(const TriboModel* model, TriboData* data, double* kinetic) {
  TriboMechanics now;
  CHECK_OK(tribo_data_mechanics(model, data, &now));
  *kinetic = now.kinetic;
  return (Least){now.kinetic + now.potential, -now.momentum[2]};
}

// The step that a message says would do, 0 when it names none, or no link of the world.
static double step_of(const char* said, int links) {
  const char *name = strstr(said, "'body"), *step = strstr(said, "a step of ");
  const int named = name != NULL && atoi(name + 5) < links;
  return named && step != NULL && strstr(step, "would do") != NULL ? atof(step + 10) : 0;
}

// Whether the step that failed can be taken in substeps of `h`.
static int helps(TriboScene* scene, double dt, const double* q, const double* v, double h) {
  TriboModel* model = compile(scene, h);
  TriboData* data = data_of(model);
  TriboStatus status = tribo_data_set_state(model, data, q, v);
  for (int k = 0; k < 100 && k * h < dt && status == TRIBO_OK; ++k) {
    status = tribo_step(model, data, NULL);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  return status == TRIBO_OK;
}

// Runs a world to its end or to a step that fails; returns how often it broke a rule, counts the rest.
static int run_world(int number, Tally* tally) {
  WorldKind kind;
  TriboScene* scene = world_scene(number, &kind);
  TriboModel* model = compile(scene, kind.h);
  TriboData* data = data_of(model);
  double kinetic, most, worst = 0;
  Least least = energy_of(model, data, &most);
  const double weight = kind.contact ? 9.81 : 0;
  int steps = 0, bad = 0;
  double pushed = 0;  // what undoing overlaps has given [J]
  for (TriboStatus status = TRIBO_OK; steps < STEPS && status == TRIBO_OK; ++steps) {
    TriboStepInfo info;
    status = tribo_step(model, data, &info);
    if (status != TRIBO_OK) {
      const char* said = tribo_last_error();
      const double h = step_of(said, kind.links);
      const int is_singular = strstr(said, "singularity of its Euler angles") != NULL;
      if (status != TRIBO_NUMERIC || strstr(said, "moves by more than") != NULL ||
          !(is_singular || (h > 0 && h < kind.h))) {
        print_error("world %d, %d links, %g ms, step %d: %s\n", number, kind.links, 1e3 * kind.h, steps, said);
        ++bad;
      }
      TriboView q, v;
      CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_Q, &q));
      CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_V, &v));
      ++tally->failed;
      tally->helped += h > 0 && helps(scene, kind.h, q.values, v.values, h);
      break;
    }
    pushed += info.push_out_work;
    Least now = energy_of(model, data, &kinetic);
    now.energy -= pushed;
    most = fmax(most, kinetic);
    const double comes_back = 0.5 * kind.h * weight * fabs(now.falling - least.falling);
    worst = info.certified ? fmax(worst, (now.energy - least.energy - comes_back) / most) : worst;
    tally->divided += info.substeps > 1;
    tally->certified += info.certified;
    least = !info.certified || now.energy < least.energy ? now : least;
  }
  if (worst > (kind.damped ? ALLOWED_DAMPED : ALLOWED)) {
    printf(
        "world %d (%s, %s, %s joints%s, %d links, %.3g ms, %.3g rad/s) gains %.3g of its largest energy while "
        "certified\n",
        number, kind.contact ? "contact" : "flight", kind.floating ? "floating" : "fixed", kind.rare ? "all" : "own",
        kind.damped ? " with dampers" : "", kind.links, 1e3 * kind.h, kind.spin, worst);
    ++tally->gaining;
  }
  tally->gain = fmax(tally->gain, worst);
  tally->finished += steps == STEPS;
  tally->steps += steps;
  ++tally->worlds;
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
  return bad;
}

static void worlds_keep_or_lose_energy(void** state) {
  (void)state;
  int bad = 0, failed = 0, gaining = 0;
  Tally kinds[16] = {{0}};
  for (int i = 0; i < WORLDS + DAMPED; ++i) {
    bad += run_world(i, kinds + i % 8 + (i < WORLDS ? 0 : 8)) > 0;
  }
  for (int k = 0; k < 16; ++k) {
    const Tally* t = kinds + k;
    printf(
        "%-8s %-8s %-4s joints%s: %d worlds, %d steps of which %d certified and %d taken in substeps; %d went through, "
        "%d "
        "stopped with a step that cannot be taken, "
        "of which %d can in the parts it names; %d gain, at most %.1e\n",
        k % 2 ? "contact" : "flight", k / 2 % 2 ? "floating" : "fixed", k / 4 % 2 ? "all" : "own",
        k / 8 ? " with dampers" : "", t->worlds, t->steps, t->certified, t->divided, t->finished, t->failed, t->helped,
        t->gaining, t->gain);
    failed += t->failed, gaining += t->gaining;
  }
  assert_int_equal(bad, 0);
  assert_int_equal(gaining, 0);
  CHECK_LE(failed, FAILED_MAX);
}

// With a number and a path: writes the scene of that world.
int main(int argc, char** argv) {
  if (argc == 3) {
    WorldKind kind;
    TriboScene* scene = world_scene(atoi(argv[1]), &kind);
    CHECK_OK(tribo_scene_set(scene, "dt", kind.h));
    CHECK_OK(tribo_scene_save(scene, argv[2]));
    tribo_scene_destroy(scene);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(worlds_keep_or_lose_energy)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
