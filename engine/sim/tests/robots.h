// Robots with something to touch, for tests and benchmarks; the files are those of example-robot-data.
#pragma once

#include <math.h>
#include <stdio.h>

#include "scenes.h"

// What everything is made of: rigid with μ = 0.7, unless flags say otherwise.
enum { SOFT = 1, SLIPPERY = 2 };

static inline void add_material(TriboScene* scene, int flags) {
  TriboMaterialDef material = tribo_material_default();
  material.name = "ground";
  material.friction = flags & SLIPPERY ? 0.05 : 0.7;
  material.stiffness = flags & SOFT ? 1e6 : 0;
  material.damping = flags & SOFT ? 1e3 : 0;
  CHECK_OK(tribo_scene_add_material(scene, &material, NULL));
}

static inline void add_box(TriboScene* scene, int body, double x, double y, double z, double wide, double high) {
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

static inline void add_cube(TriboScene* scene, double x, double y, double z, double size, double speed) {
  TriboBodyDef body = tribo_body_default();
  int id;
  body.velocity[0] = speed;
  body.position[0] = x;
  body.position[1] = y;
  body.position[2] = z;
  CHECK_OK(tribo_scene_add_body(scene, &body, &id));
  add_box(scene, id, 0, 0, 0, size, size);
}

static inline TriboScene* with_turned(const char* urdf, const char* srdf, const char* reference, int floats, double z,
                                      double turn, int flags) {
  TriboScene* scene;
  CHECK_OK(tribo_scene_create(&scene));
  add_material(scene, flags);
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

static inline TriboScene* with_robot(const char* urdf, const char* srdf, const char* reference, int floats, double z,
                                     int flags) {
  return with_turned(urdf, srdf, reference, floats, z, 0, flags);
}

static inline void add_ground(TriboScene* scene) {
  TriboShapeDef ground = tribo_shape_default();
  ground.kind = TRIBO_SHAPE_HALFSPACE;
  ground.material = "ground";
  CHECK_OK(tribo_scene_add_shape(scene, TRIBO_WORLD, &ground, NULL));
}

// The meshes of Talos's feet are not flat: hulls of them stand on a point. This one wears soles, 2 mm below its own,
// each of 1 or 3 parts with four corners; and its joints have no dry friction, which would hold them without a torque.
// The file lives until robots_forget.
enum { SOLES_MOST = 3 };
static char talos_files[SOLES_MOST + 1][64];

// A copy of Talos's URDF file without joint friction, its soles in so many parts.
static inline const char* talos_file(int parts) {
  char* path = talos_files[parts];
  if (path[0] != '\0') {
    return path;
  }
  FILE* file = fopen(ROBOTS "talos_data/robots/talos_reduced.urdf", "r");
  assert_non_null(file);
  enum { ROOM = 1 << 20 };
  char *text = calloc(1, ROOM), *out = calloc(1, ROOM + 4096);
  assert_true(fread(text, 1, ROOM - 1, file) < ROOM - 1);
  fclose(file);
  for (char* at = text; (at = strstr(at, "friction=\"")) != NULL;) {
    for (at += 10; *at != '"'; ++at) {
      *at = *at == '.' ? '.' : '0';
    }
  }
  char* from = text;
  for (char* next; (next = strstr(from, "_sole_link\">")) != NULL; from = next) {
    next += strlen("_sole_link\">");
    strncat(out, from, (size_t)(next - from));
    for (int i = 0; i < parts; ++i) {
      char sole[256];
      snprintf(sole, sizeof sole,
               "<collision><origin xyz=\"%g 0 0.008\"/><geometry><box size=\"%g 0.12 0.02\"/></geometry></collision>",
               (i - 0.5 * (parts - 1)) * 0.2 / parts, 0.2 / parts - (parts > 1 ? 0.01 : 0));
      strcat(out, sole);
    }
  }
  strcat(out, from);
  char* written = text_file(out, strlen(out), ".urdf");
  snprintf(path, sizeof talos_files[0], "%s", written);
  free(written);
  free(out);
  free(text);
  return path;
}

static inline void robots_forget(void) {
  for (int i = 0; i <= SOLES_MOST; ++i) {
    if (talos_files[i][0] != '\0') {
      unlink(talos_files[i]);
      talos_files[i][0] = '\0';
    }
  }
}

static inline TriboScene* talos_alone(int parts, int flags) {
  return with_robot(talos_file(parts), ROBOTS "talos_data/srdf/talos.srdf", "half_sitting", 1, 0.002, flags);
}

static inline TriboScene* talos(int flags) {
  TriboScene* scene = talos_alone(1, flags);
  add_ground(scene);
  return scene;
}

static inline TriboScene* talos_of_24(int flags) {
  TriboScene* scene = talos_alone(SOLES_MOST, flags);
  add_ground(scene);
  return scene;
}

// Ground under the left foot alone.
static inline TriboScene* one_foot(int flags) {
  TriboScene* scene = talos_alone(1, flags);
  add_box(scene, TRIBO_WORLD, 0, 0.5, -0.5, 1, 1);
  return scene;
}

static inline TriboScene* solo(int flags) {
  TriboScene* scene = with_robot(ROBOTS "solo_description/robots/solo12.urdf", ROBOTS "solo_description/srdf/solo.srdf",
                                 "standing", 1, 0.02, flags);
  add_ground(scene);
  return scene;
}

static inline TriboScene* arm(int flags) {
  TriboScene* scene = with_robot(ROBOTS "ur_description/urdf/ur5_robot.urdf", NULL, NULL, 0, 0, flags);
  CHECK_OK(tribo_scene_set_joint(scene, "robot/shoulder_lift_joint", -1.2, 0));
  CHECK_OK(tribo_scene_set_joint(scene, "robot/elbow_joint", 1.6, 0));
  CHECK_OK(tribo_scene_set_joint(scene, "robot/wrist_1_joint", -2, 0));
  CHECK_OK(tribo_scene_set_joint(scene, "robot/wrist_2_joint", -1.5, 0));
  return scene;
}

// A wall in front of the arm, x ≤ at is free.
static inline void add_wall(TriboScene* scene, double at) {
  TriboShapeDef wall = tribo_shape_default();
  wall.kind = TRIBO_SHAPE_HALFSPACE;
  wall.material = "ground";
  wall.position[0] = at;
  wall.quaternion[1] = -sqrt(0.5);
  wall.quaternion[3] = sqrt(0.5);
  CHECK_OK(tribo_scene_add_shape(scene, TRIBO_WORLD, &wall, NULL));
}

// Where the wall touches the arm.
static inline double reach_of_arm(void) {
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

static inline TriboScene* arm_at_wall(int flags) {
  TriboScene* scene = arm(flags);
  add_wall(scene, reach_of_arm() - 2e-3);
  return scene;
}

// A box on a table, in front of the arm.
static inline TriboScene* arm_and_box(int flags) {
  TriboScene* scene = arm(flags);
  add_ground(scene);
  add_cube(scene, reach_of_arm() + 0.5 - 1e-3, 0.1, 0.5, 1, 0);
  return scene;
}

// Five cubes; on slippery ground each one slides over the one below.
static inline TriboScene* tower(int flags) {
  TriboScene* scene;
  CHECK_OK(tribo_scene_create(&scene));
  add_material(scene, flags);
  add_ground(scene);
  for (int i = 0; i < 5; ++i) {
    add_cube(scene, 0.02 * i, 0.01 * i, 0.25 + 0.5 * i, 0.5, flags & SLIPPERY ? 0.1 * (i + 1) : 0);
  }
  return scene;
}

// A hand, palm up, with two cubes in it.
static inline TriboScene* allegro(int flags) {
  TriboScene* scene = with_turned(ROBOTS "allegro_hand_description/urdf/allegro_right_hand.urdf", NULL, NULL, 0, 0.3,
                                  -1.5707963267948966, flags);
  add_ground(scene);
  add_cube(scene, 0.05, 0, 0.35, 0.04, flags & SLIPPERY ? 0.1 : 0);
  add_cube(scene, 0.05, 0.005, 0.395, 0.04, flags & SLIPPERY ? 0.2 : 0);
  return scene;
}

// A scene file with one piece of its text exchanged.
static inline TriboScene* scene_with(const char* path, const char* piece, const char* other) {
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  enum { ROOM = 1 << 14 };
  char *text = calloc(1, ROOM), *changed = calloc(1, ROOM + strlen(other));
  assert_true(fread(text, 1, ROOM - 1, file) < ROOM - 1);
  fclose(file);
  char* at = strstr(text, piece);
  assert_non_null(at);
  sprintf(changed, "%.*s%s%s", (int)(at - text), text, other, at + strlen(piece));
  TriboScene* scene;
  CHECK_OK(load_text(changed, &scene));
  free(text);
  free(changed);
  return scene;
}

// Cassie with its loops, its feet 3 cm above the ground.
static inline TriboScene* cassie(int flags) {
  char ground[256];
  snprintf(ground, sizeof ground, "materials: {ground: {friction: %g%s}}\nstatic: [{material: ground, ",
           flags & SLIPPERY ? 0.001 : 0.7, flags & SOFT ? ", stiffness: 1.0e+6, damping: 1.0e+3" : "");
  return scene_with(SCENES "robots/cassie.yaml", "static: [{", ground);
}

// The inertia that each velocity sees (nv), to be freed.
static inline double* inertias(const TriboModel* model, TriboData* data) {
  const size_t nv = (size_t)tribo_model_size(model).nv;
  double *mass = calloc(nv * nv, sizeof *mass), *out = calloc(nv, sizeof *out);
  CHECK_OK(tribo_data_terms(model, data, &(TriboTerms){.mass = mass}));
  for (size_t i = 0; i < nv; ++i) {
    out[i] = mass[i * (nv + 1)];
  }
  free(mass);
  return out;
}

// Motors that hold each joint where it is; stiff against what it moves.
static inline void add_motors(TriboScene* scene, double stiffness) {
  TriboModel* model;
  TriboData* data;
  CHECK_OK(tribo_model_create(scene, &model));
  CHECK_OK(tribo_data_create(model, &data));
  const TriboModelSize size = tribo_model_size(model);
  double* mass = inertias(model, data);
  TriboView q;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_Q, &q));
  for (int j = 0; j < size.njoint; ++j) {
    const TriboJointInfo* joint = tribo_model_joint(model, j);
    if (joint->nv == 1 && joint->nq == 1) {
      TriboMotorDef motor = tribo_motor_default();
      motor.joint = joint->name;
      motor.stiffness = stiffness * mass[joint->v_at];
      motor.damping = 2 * sqrt(stiffness) * mass[joint->v_at];
      motor.target = q.values[joint->q_at];
      motor.effort = INFINITY;
      CHECK_OK(tribo_scene_add_motor(scene, &motor, NULL));
    }
  }
  free(mass);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}
