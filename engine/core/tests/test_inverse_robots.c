// Inverse dynamics of robots, there and back: a step with known torques makes a motion; from the motion come torques;
// a step with these makes the motion again. Prints the table.
#include <math.h>

#include "scenes.h"

typedef struct Case {
  const char* name;
  TriboScene* (*build)(int compliant);
  int compliant;
  TriboScheme scheme;
  double effort;      // amplitude of the torques on top of the motors
  double stiffness;   // of the motors, per unit of inertia seen
  int settle, steps;  // steps before the first comparison, and from there
  double contacts;    // at least as many on the average
  double sliding;     // of these
  int dim;            // of the torques left open, at least: joints come to their limits and leave
  double dv;          // largest difference of the motion that comes back [m/s, rad/s]
  double dtau;        // and of the torques, but for what is left open [N·m]
} Case;

// ---- scenes

static void add_material(TriboScene* scene, int compliant) {
  TriboMaterialDef material = tribo_material_default();
  material.name = "ground";
  material.friction = 0.7;
  material.stiffness = compliant ? 1e6 : 0;
  material.damping = compliant ? 1e3 : 0;
  CHECK_OK(tribo_scene_add_material(scene, &material, NULL));
}

static void add_box(TriboScene* scene, int body, double x, double y, double z, double wide, double high) {
  TriboShapeDef box = tribo_shape_default();
  box.kind = TRIBO_SHAPE_BOX;
  box.material = "ground";
  box.density = 300;
  box.size[0] = box.size[1] = wide;
  box.size[2] = high;
  box.position[0] = x;
  box.position[1] = y;
  box.position[2] = z;
  CHECK_OK(tribo_scene_add_shape(scene, body, &box, NULL));
}

static void add_cube(TriboScene* scene, double x, double y, double z, double size) {
  TriboBodyDef body = tribo_body_default();
  int id;
  body.position[0] = x;
  body.position[1] = y;
  body.position[2] = z;
  CHECK_OK(tribo_scene_add_body(scene, &body, &id));
  add_box(scene, id, 0, 0, 0, size, size);
}

static TriboScene* with_turned(const char* urdf, const char* srdf, const char* reference, int floats, double z,
                               double turn, int compliant) {
  TriboScene* scene;
  CHECK_OK(tribo_scene_create(&scene));
  add_material(scene, compliant);
  TriboRobotDef robot = tribo_robot_default();
  robot.name = "robot";
  robot.urdf = urdf;
  robot.srdf = srdf;
  robot.reference = reference;
  robot.free_base = floats;
  robot.position[2] = z;
  robot.quaternion[1] = sin(0.5 * turn);
  robot.quaternion[3] = cos(0.5 * turn);
  robot.material = "ground";
  robot.self_collision = 0;
  CHECK_OK(tribo_scene_add_robot(scene, &robot));
  return scene;
}

static TriboScene* with_robot(const char* urdf, const char* srdf, const char* reference, int floats, double z,
                              int compliant) {
  return with_turned(urdf, srdf, reference, floats, z, 0, compliant);
}

static void add_ground(TriboScene* scene) {
  TriboShapeDef ground = tribo_shape_default();
  ground.kind = TRIBO_SHAPE_HALFSPACE;
  ground.material = "ground";
  CHECK_OK(tribo_scene_add_shape(scene, TRIBO_WORLD, &ground, NULL));
}

// The meshes of Talos's feet are not flat: hulls of them stand on a point. This one wears soles, 2 mm below its own.
static const char* talos_file(void) {
  static char path[256];
  if (path[0] != '\0') {
    return path;
  }
  FILE* file = fopen(ROBOTS "talos_data/robots/talos_reduced.urdf", "r");
  assert_non_null(file);
  char* text = calloc(1, 1 << 20);
  const size_t size = fread(text, 1, (1 << 20) - 1, file);
  fclose(file);
  // a joint that dry friction holds has no torque of its own
  for (char* at = text; (at = strstr(at, "friction=\"")) != NULL;) {
    for (at += 10; *at != '"'; ++at) {
      *at = *at == '.' ? '.' : '0';
    }
  }
  char* out = calloc(1, size + 4096);
  const char* names[2] = {"<link name=\"left_sole_link\">", "<link name=\"right_sole_link\">"};
  const char sole[] =
      "<collision><origin xyz=\"0 0 0.008\"/><geometry><box size=\"0.2 0.12 0.02\"/></geometry></collision>";
  char* from = text;
  while (*from != '\0') {
    char* next = NULL;
    for (int i = 0; i < 2; ++i) {
      char* at = strstr(from, names[i]);
      next = at != NULL && (next == NULL || at < next) ? strchr(at, '>') + 1 : next;
    }
    if (next == NULL) {
      strcat(out, from);
      break;
    }
    strncat(out, from, (size_t)(next - from));
    strcat(out, sole);
    from = next;
  }
  char* written = text_file(out, strlen(out), ".urdf");
  snprintf(path, sizeof path, "%s", written);
  free(written);
  free(out);
  free(text);
  return path;
}

static TriboScene* talos_alone(int compliant) {
  return with_robot(talos_file(), ROBOTS "talos_data/srdf/talos.srdf", "half_sitting", 1, 0.002, compliant);
}

static TriboScene* talos(int compliant) {
  TriboScene* scene = talos_alone(compliant);
  add_ground(scene);
  return scene;
}

// Ground under the left foot alone.
static TriboScene* one_foot(int compliant) {
  TriboScene* scene = talos_alone(compliant);
  add_box(scene, TRIBO_WORLD, 0, 0.5, -0.5, 1, 1);
  return scene;
}

static TriboScene* solo(int compliant) {
  TriboScene* scene = with_robot(ROBOTS "solo_description/robots/solo12.urdf", ROBOTS "solo_description/srdf/solo.srdf",
                                 "standing", 1, 0.02, compliant);
  add_ground(scene);
  return scene;
}

static TriboScene* arm(int compliant) {
  TriboScene* scene = with_robot(ROBOTS "ur_description/urdf/ur5_robot.urdf", NULL, NULL, 0, 0, compliant);
  CHECK_OK(tribo_scene_set_joint(scene, "robot/shoulder_lift_joint", -1.2, 0));
  CHECK_OK(tribo_scene_set_joint(scene, "robot/elbow_joint", 1.6, 0));
  CHECK_OK(tribo_scene_set_joint(scene, "robot/wrist_1_joint", -2, 0));
  CHECK_OK(tribo_scene_set_joint(scene, "robot/wrist_2_joint", -1.5, 0));
  return scene;
}

// A wall in front of the arm, x ≤ at is free.
static void add_wall(TriboScene* scene, double at) {
  TriboShapeDef wall = tribo_shape_default();
  wall.kind = TRIBO_SHAPE_HALFSPACE;
  wall.material = "ground";
  wall.position[0] = at;
  wall.quaternion[1] = -sqrt(0.5);
  wall.quaternion[3] = sqrt(0.5);
  CHECK_OK(tribo_scene_add_shape(scene, TRIBO_WORLD, &wall, NULL));
}

// Where the wall touches the arm.
static double reach_of_arm(void) {
  static double far = 0;
  for (double low = 0, high = 2; far == 0;) {
    const double at = 0.5 * (low + high);
    TriboScene* scene = arm(0);
    add_wall(scene, at);
    TriboModel* model;
    CHECK_OK(tribo_model_create(scene, &model));
    TriboData* data = data_of(model);
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    *(info.penetration > 0 ? &low : &high) = at;
    tribo_data_destroy(data);
    tribo_model_destroy(model);
    tribo_scene_destroy(scene);
    far = high - low < 1e-5 ? low : 0;
  }
  return far;
}

static TriboScene* arm_at_wall(int compliant) {
  TriboScene* scene = arm(compliant);
  add_wall(scene, reach_of_arm() - 2e-3);
  return scene;
}

// A box on a table, in front of the arm.
static TriboScene* arm_and_box(int compliant) {
  TriboScene* scene = arm(compliant);
  add_ground(scene);
  add_cube(scene, reach_of_arm() + 0.5 - 1e-3, 0.1, 0.5, 1);
  return scene;
}

static TriboScene* tower(int compliant) {
  TriboScene* scene;
  CHECK_OK(tribo_scene_create(&scene));
  add_material(scene, compliant);
  add_ground(scene);
  for (int i = 0; i < 5; ++i) {
    add_cube(scene, 0.02 * i, 0.01 * i, 0.25 + 0.5 * i, 0.5);
  }
  return scene;
}

// A hand, palm up, with two cubes in it.
static TriboScene* allegro(int compliant) {
  TriboScene* scene = with_turned(ROBOTS "allegro_hand_description/urdf/allegro_right_hand.urdf", NULL, NULL, 0, 0.3,
                                  -1.5707963267948966, compliant);
  add_ground(scene);
  add_cube(scene, 0.05, 0, 0.35, 0.04);
  add_cube(scene, 0.05, 0.005, 0.395, 0.04);
  return scene;
}

// Motors that hold each joint where it is; stiff against what it moves.
static void add_motors(TriboScene* scene, double stiffness) {
  TriboModel* model;
  TriboData* data;
  CHECK_OK(tribo_model_create(scene, &model));
  CHECK_OK(tribo_data_create(model, &data));
  const TriboModelSize size = tribo_model_size(model);
  double* mass = calloc((size_t)size.nv * (size_t)size.nv, sizeof *mass);
  CHECK_OK(tribo_data_terms(model, data, &(TriboTerms){.mass = mass}));
  TriboView q;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_Q, &q));
  for (int j = 0; j < size.njoint; ++j) {
    const TriboJointInfo* joint = tribo_model_joint(model, j);
    if (joint->nv == 1 && joint->nq == 1) {
      TriboMotorDef motor = tribo_motor_default();
      motor.joint = joint->name;
      motor.stiffness = stiffness * mass[(size_t)joint->v_at * (size_t)(size.nv + 1)];
      motor.damping = 2 * sqrt(stiffness) * mass[(size_t)joint->v_at * (size_t)(size.nv + 1)];
      motor.target = q.values[joint->q_at];
      motor.effort = INFINITY;
      CHECK_OK(tribo_scene_add_motor(scene, &motor, NULL));
    }
  }
  free(mass);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// ---- there and back

typedef struct Table {
  int steps, contacts, sliding, dim_min, dim_max, feasible;
  double v, tau, nat, motion;
} Table;

static double largest(const double* a, const double* b, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    most = fmax(most, fabs(a[i] - (b == NULL ? 0 : b[i])));
  }
  return most;
}

// Takes out of x what the orthonormal rows span.
static void project_out(double* x, const double* rows, int count, int n) {
  for (int r = 0; r < count; ++r) {
    double dot = 0;
    for (int i = 0; i < n; ++i) {
      dot += rows[r * n + i] * x[i];
    }
    for (int i = 0; i < n; ++i) {
      x[i] -= dot * rows[r * n + i];
    }
  }
}

static void compare(const TriboModel* model, TriboData* there, TriboData* back, const double* q, const double* v,
                    const double* tau, Table* t) {
  const int nv = tribo_model_size(model).nv;
  TriboInverseOptions options = tribo_inverse_default();
  TriboInverse inverse;
  TriboView wish, again;
  double* left = calloc((size_t)nv, sizeof *left);
  options.drives = options.span = 1;
  options.tol = 2e-10;
  CHECK_OK(tribo_data_view(model, there, TRIBO_FIELD_V, &wish));
  CHECK_OK(tribo_data_set_state(model, back, q, v));
  CHECK_OK(tribo_inverse_dynamics(model, back, wish.values, &options, &inverse));
  t->feasible += inverse.feasible;
  t->nat = fmax(t->nat, inverse.residual.nat);
  t->dim_min = inverse.nspan < t->dim_min ? inverse.nspan : t->dim_min;
  t->dim_max = inverse.nspan > t->dim_max ? inverse.nspan : t->dim_max;
  for (int i = 0; i < nv; ++i) {
    left[i] = tau[i] - inverse.tau[i];
  }
  project_out(left, inverse.span, inverse.nspan, nv);
  if (inverse.nspan == 0 || tribo_model_world(model)->scheme == TRIBO_SCHEME_EULER) {
    t->tau = fmax(t->tau, largest(left, NULL, nv));
  }
  for (int i = 0; i < inverse.ncontact; ++i) {
    t->sliding += inverse.contacts[i].mode == TRIBO_CONTACT_SLIDE;
    t->contacts += inverse.contacts[i].mode != TRIBO_CONTACT_OPEN;
  }
  CHECK_OK(tribo_data_set_tau(model, back, inverse.tau));
  CHECK_OK(tribo_step(model, back, NULL));
  CHECK_OK(tribo_data_view(model, back, TRIBO_FIELD_V, &again));
  t->v = fmax(t->v, largest(wish.values, again.values, nv));
  t->motion = fmax(t->motion, largest(wish.values, NULL, nv));
  t->steps++;
  free(left);
}

static Table there_and_back(const Case* c) {
  TriboScene* scene = c->build(c->compliant);
  add_motors(scene, c->stiffness);
  TriboModel* model;
  TriboWorldDef world = *tribo_scene_world(scene);
  world.scheme = c->scheme;
  CHECK_OK(tribo_scene_set_world(scene, &world));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  TriboData *there = data_of(model), *back = data_of(model);
  const TriboModelSize size = tribo_model_size(model);
  double *q = calloc((size_t)size.nq, sizeof *q), *v = calloc((size_t)size.nv, sizeof *v),
         *tau = calloc((size_t)size.nv, sizeof *tau);
  Table t = {.dim_min = 1000};
  for (int i = 0; i < c->settle + c->steps; ++i) {
    TriboView view;
    CHECK_OK(tribo_data_view(model, there, TRIBO_FIELD_Q, &view));
    memcpy(q, view.values, (size_t)size.nq * sizeof *q);
    CHECK_OK(tribo_data_view(model, there, TRIBO_FIELD_V, &view));
    memcpy(v, view.values, (size_t)size.nv * sizeof *v);
    for (int j = 0; j < size.njoint; ++j) {
      const TriboJointInfo* joint = tribo_model_joint(model, j);
      for (int k = 0; k < joint->nv && joint->nv < 6; ++k) {
        tau[joint->v_at + k] = c->effort * sin(0.03 * i + joint->v_at + k);
      }
    }
    CHECK_OK(tribo_data_set_tau(model, there, tau));
    CHECK_OK(tribo_step(model, there, NULL));
    if (i >= c->settle && i % 10 == 0) {
      compare(model, there, back, q, v, tau, &t);
    }
  }
  free(q);
  free(v);
  free(tau);
  tribo_data_destroy(there);
  tribo_data_destroy(back);
  tribo_model_destroy(model);
  return t;
}

#define MIDPOINT TRIBO_SCHEME_MIDPOINT
#define EULER TRIBO_SCHEME_EULER
static const Case CASES[] = {
    {"tower", tower, 0, MIDPOINT, 0, 0, 0, 300, 20, 0, 0, 1e-8, 1e-6},
    {"tower, compliant", tower, 1, MIDPOINT, 0, 0, 0, 300, 20, 0, 0, 1e-8, 1e-6},
    {"talos, two feet", talos, 0, MIDPOINT, 2, 2500, 300, 200, 8, 0, 6, 1e-8, 1e-6},
    {"talos, two feet, euler", talos, 0, EULER, 2, 2500, 300, 200, 8, 0, 6, 1e-8, 1e-6},
    {"talos, soft, euler", talos, 1, EULER, 2, 2500, 300, 200, 8, 0, 1, 1e-8, 1},
    {"talos, soft", talos, 1, MIDPOINT, 2, 2500, 300, 200, 8, 0, 1, 1e-5, 1},
    {"talos, one foot", one_foot, 0, MIDPOINT, 2, 2500, 100, 200, 4, 0, 0, 1e-8, 1e-6},
    {"solo", solo, 0, MIDPOINT, 0.02, 400, 300, 200, 7, 1, 2, 1e-8, 1e-6},
    {"solo, soft, euler", solo, 1, EULER, 0.02, 400, 300, 200, 7, 1, 0, 1e-6, 1},
    {"solo, soft", solo, 1, MIDPOINT, 0.02, 400, 300, 200, 7, 1, 0, 1e-4, 1e-6},
    {"ur5 along a wall", arm_at_wall, 0, MIDPOINT, 10, 2500, 20, 200, 0, 0, 0, 1e-8, 1e-6},
    {"ur5 along a wall, euler", arm_at_wall, 0, EULER, 10, 2500, 20, 200, 0, 0, 0, 1e-8, 1e-6},
    {"ur5 along a soft wall", arm_at_wall, 1, MIDPOINT, 10, 2500, 20, 200, 1, 1, 0, 1e-8, 1e-6},
    {"ur5 touching a box", arm_and_box, 0, MIDPOINT, 10, 2500, 20, 200, 4, 0.1, 0, 1e-8, 1e-6},
    {"allegro with cubes", allegro, 0, MIDPOINT, 0.001, 400, 200, 300, 7, 0, 16, 1e-8, 1e-6},
};

// What is asked of all: the motion comes back; torques are the recorded ones where the motion decides them, and with
// a bias that does not depend on impulses (Euler) they differ by what is left open. Under the default scheme the bias
// is taken at a mean with the velocity before impulses. On soft contacts, whose forces the motion decides, that lets
// only the recorded distribution of friction give back all digits; and on a sole whose points lie in one plane to 1e-5
// m, that motion decides the torques only through these 1e-5.
static void robots_there_and_back(void** state) {
  (void)state;
  printf("%-24s %5s %8s %7s %9s %9s %9s %9s %7s\n", "scene", "steps", "contacts", "slide", "|v+|", "dv", "dtau", "nat",
         "open");
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
    const Case* c = CASES + i;
    const Table t = there_and_back(c);
    printf("%-24s %5d %8.1f %7.1f %9.1e %9.1e %9.1e %9.1e %3d … %d\n", c->name, t.steps, (double)t.contacts / t.steps,
           (double)t.sliding / t.steps, t.motion, t.v, t.tau, t.nat, t.dim_min, t.dim_max);
    fflush(stdout);
    CHECK_LE(t.v, c->dv);
    CHECK_LE(t.tau, c->dtau);
    CHECK_LE(t.nat, 1e-9);
    assert_true(c->dv > 1e-8 || t.feasible == t.steps);
    assert_true(t.contacts >= c->contacts * t.steps && t.sliding >= c->sliding * t.steps);
    assert_int_equal(t.dim_min, c->dim);
  }
  unlink(talos_file());
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(robots_there_and_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
