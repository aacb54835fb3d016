// What ties the bodies of a scene: joints, motors, closures; and robots from files.
#include "scene_add.h"

#include <string.h>

#include "math3.h"
#include "package.h"

// ---- joints ---------------------------------------------------------------------------------------------------------

TriboJointDef tribo_joint_default(void) {
  return (TriboJointDef){.kind = TRIBO_JOINT_REVOLUTE,
                         .parent = TRIBO_WORLD,
                         .child = TRIBO_WORLD,
                         .axis = {0, 0, 1},
                         .axis2 = {1, 0, 0},
                         .radii = {NAN, NAN, NAN},
                         .lower = -INFINITY,
                         .upper = INFINITY,
                         .solimp = TRIBO_SOLIMP,
                         .effort = INFINITY};
}

// Refuses a joint between wrong bodies, or with a wrong axis, range, spring or friction.
static TriboStatus check_joint(const TriboScene* scene, const TriboJointDef* def) {
  const char* who = def->name != NULL ? def->name : "joint";
  if ((int)def->kind < 0 || def->kind >= TRIBO_JOINT_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: kind = %d is no joint", who, (int)def->kind);
  }
  if (def->kind == TRIBO_JOINT_FREE && (def->parent != TRIBO_WORLD || def->position != 0 || def->velocity != 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: a free joint has the world for its parent, and its body says where it is",
                      who);
  }
  if (def->child < 0 || def->child >= scene->nbody || def->parent < TRIBO_WORLD || def->parent >= scene->nbody ||
      def->parent == def->child) {
    return tribo_fail(
        TRIBO_INVALID,
        "%s: parent = %d, child = %d; accepted are two different bodies of 0 … %d, the parent may be the world", who,
        def->parent, def->child, scene->nbody - 1);
  }
  for (int i = 0; i < scene->njoint; ++i) {
    if (scene->joints[i].child == def->child) {
      return tribo_fail(TRIBO_INVALID, "%s: body '%s' already hangs on joint '%s'", who, scene->bodys[def->child].name,
                        scene->joints[i].name);
    }
  }
  TRIBO_TRY(tribo_check_finite(who, "anchor", def->anchor, 3));
  TRIBO_TRY(tribo_check_finite(who, "axis", def->axis, 3));
  TRIBO_TRY(tribo_check_finite(who, "axis2", def->axis2, 3));
  if (!(tribo_norm3(def->axis) > 1e-9) || !(tribo_norm3(def->axis2) > 1e-9)) {
    return tribo_fail(TRIBO_INVALID, "%s: axis [%g %g %g] must not be zero", who, def->axis[0], def->axis[1],
                      def->axis[2]);
  }
  TRIBO_TRY(tribo_check_finite(who, "pitch", &def->pitch, 1));
  if (def->kind == TRIBO_JOINT_ELLIPSOID) {
    for (int i = 0; i < 3; ++i) {
      if (!(def->radii[i] > 0 && def->radii[i] <= TRIBO_RADIUS_MAX)) {
        return tribo_fail(TRIBO_INVALID, "%s: an ellipsoid joint needs radii, each in (0, %g] m; they are [%g %g %g]",
                          who, TRIBO_RADIUS_MAX, def->radii[0], def->radii[1], def->radii[2]);
      }
    }
  }
  TRIBO_TRY(tribo_check_range(who, "armature", def->armature, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "damping", def->damping, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "friction", def->friction, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "stiffness", def->stiffness, 0, 1e100));
  TRIBO_TRY(tribo_check_finite(who, "rest", &def->rest, 1));
  TRIBO_TRY(tribo_check_range(who, "restitution", def->restitution, 0, 1));
  TRIBO_TRY(tribo_check_softness(who, def->solref, def->solimp));
  if (!(def->lower <= def->upper)) {
    return tribo_fail(TRIBO_INVALID, "%s: lower = %g must not be above upper = %g", who, def->lower, def->upper);
  }
  if (!(def->effort >= 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: effort = %g must be ≥ 0", who, def->effort);
  }
  TRIBO_TRY(tribo_check_finite(who, "position", &def->position, 1));
  TRIBO_TRY(tribo_check_finite(who, "velocity", &def->velocity, 1));
  return TRIBO_OK;
}

TriboStatus tribo_scene_add_joint(TriboScene* scene, const TriboJointDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_joint(scene, def));
  GROW(scene, joint);
  TriboJointDef copy = *def;
  TRIBO_TRY(tribo_scene_take_name(scene, &scene->joint_names, "joint", def->name, scene->njoint, &copy.name));
  if (id != NULL) {
    *id = scene->njoint;
  }
  scene->joints[scene->njoint++] = copy;
  return TRIBO_OK;
}

TriboMotorDef tribo_motor_default(void) {
  return (TriboMotorDef){.effort = NAN};
}

TriboStatus tribo_scene_add_motor(TriboScene* scene, const TriboMotorDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  if (def->joint == NULL) {
    return tribo_fail(TRIBO_INVALID, "motor: it needs a joint");
  }
  TRIBO_TRY(tribo_check_range(def->joint, "stiffness", def->stiffness, 0, 1e100));
  TRIBO_TRY(tribo_check_range(def->joint, "damping", def->damping, 0, 1e100));
  if (!(def->stiffness + def->damping > 0)) {
    return tribo_fail(TRIBO_INVALID, "motor of '%s': stiffness and damping must not both be 0", def->joint);
  }
  TRIBO_TRY(tribo_check_finite(def->joint, "target", &def->target, 1));
  TRIBO_TRY(tribo_check_finite(def->joint, "velocity", &def->velocity, 1));
  if (def->effort < 0) {
    return tribo_fail(TRIBO_INVALID, "motor of '%s': effort = %g must be ≥ 0", def->joint, def->effort);
  }
  GROW(scene, motor);
  TriboMotorDef copy = *def;
  copy.joint = tribo_pool_strdup(&scene->pool, def->joint);
  if (copy.joint == NULL) {
    return tribo_no_memory("for the scene");
  }
  if (id != NULL) {
    *id = scene->nmotor;
  }
  scene->motors[scene->nmotor++] = copy;
  return TRIBO_OK;
}

// ---- closures -------------------------------------------------------------------------------------------------------

TriboClosureDef tribo_closure_default(void) {
  return (TriboClosureDef){.kind = TRIBO_CLOSURE_HINGE,
                           .axis = {0, 0, 1},
                           .axis2 = {1, 0, 0},
                           .length = NAN,
                           .ratio = 1,
                           .solimp = TRIBO_SOLIMP,
                           .lower = -INFINITY,
                           .upper = INFINITY,
                           .limit_solimp = TRIBO_SOLIMP,
                           .effort = INFINITY};
}

int tribo_closure_joint(TriboClosureKind kind, TriboJointKind* joint) {
  switch (kind) {
    case TRIBO_CLOSURE_HINGE: *joint = TRIBO_JOINT_REVOLUTE; return 1;
    case TRIBO_CLOSURE_SLIDER: *joint = TRIBO_JOINT_PRISMATIC; return 1;
    case TRIBO_CLOSURE_CYLINDRICAL: *joint = TRIBO_JOINT_CYLINDRICAL; return 1;
    case TRIBO_CLOSURE_PLANAR: *joint = TRIBO_JOINT_PLANAR; return 1;
    case TRIBO_CLOSURE_UNIVERSAL: *joint = TRIBO_JOINT_UNIVERSAL; return 1;
    case TRIBO_CLOSURE_BALL: *joint = TRIBO_JOINT_SPHERICAL; return 1;
    case TRIBO_CLOSURE_CARTESIAN: *joint = TRIBO_JOINT_TRANSLATION; return 1;
    case TRIBO_CLOSURE_GIMBAL: *joint = TRIBO_JOINT_EULER; return 1;
    default: return 0;
  }
}

int tribo_closure_turns_round(TriboClosureKind kind) {
  return kind == TRIBO_CLOSURE_HINGE || kind == TRIBO_CLOSURE_SLIDER || kind == TRIBO_CLOSURE_CYLINDRICAL ||
         kind == TRIBO_CLOSURE_BALL;
}

int tribo_closure_has_drive(const TriboClosureDef* def) {
  return def->armature != 0 || def->damping != 0 || def->friction != 0 || def->stiffness != 0 ||
         def->lower != -INFINITY || def->upper != INFINITY || def->effort != INFINITY || def->position != 0;
}

// Refuses what a joint of the closure's kind could not have either.
static TriboStatus check_drive(const char* who, const TriboClosureDef* def) {
  TriboJointKind joint;
  TRIBO_TRY(tribo_check_range(who, "armature", def->armature, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "damping", def->damping, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "friction", def->friction, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "stiffness", def->stiffness, 0, 1e100));
  TRIBO_TRY(tribo_check_finite(who, "rest", &def->rest, 1));
  TRIBO_TRY(tribo_check_range(who, "restitution", def->restitution, 0, 1));
  TRIBO_TRY(tribo_check_finite(who, "position", &def->position, 1));
  TRIBO_TRY(tribo_check_softness(who, def->limit_solref, def->limit_solimp));
  if (!(def->lower <= def->upper)) {
    return tribo_fail(TRIBO_INVALID, "%s: lower = %g must not be above upper = %g", who, def->lower, def->upper);
  }
  if (!(def->effort >= 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: effort = %g must be ≥ 0", who, def->effort);
  }
  if (tribo_closure_has_drive(def) && !tribo_closure_joint(def->kind, &joint)) {
    return tribo_fail(TRIBO_INVALID,
                      "%s: a closure of this kind has no coordinate that could be limited, braked or driven", who);
  }
  if (def->position != 0 && def->kind != TRIBO_CLOSURE_HINGE && def->kind != TRIBO_CLOSURE_SLIDER) {
    return tribo_fail(TRIBO_INVALID, "%s: position = %g; only a hinge or slider can be told its coordinate", who,
                      def->position);
  }
  return TRIBO_OK;
}

// Refuses a closure that ties the wrong things, or has a wrong axis, length, ratio or softness.
static TriboStatus check_closure(const TriboClosureDef* def) {
  const char* who = def->name != NULL ? def->name : "closure";
  TRIBO_TRY(tribo_check_softness(who, def->solref, def->solimp));
  if ((int)def->kind < 0 || def->kind >= TRIBO_CLOSURE_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: kind = %d is no closure", who, (int)def->kind);
  }
  TRIBO_TRY(check_drive(who, def));
  const int joints = def->kind == TRIBO_CLOSURE_GEAR || def->kind == TRIBO_CLOSURE_MIMIC;
  if (joints && (def->joint_a == NULL || def->joint_b == NULL || def->body_a != NULL || def->body_b != NULL)) {
    return tribo_fail(TRIBO_INVALID, "%s: it ties joints, so it needs joint_a and joint_b and no bodies", who);
  }
  if (!joints && ((def->body_a == NULL && def->body_b == NULL) || def->joint_a != NULL || def->joint_b != NULL)) {
    return tribo_fail(TRIBO_INVALID,
                      "%s: it ties bodies, so it needs body_a or body_b (one may be the world) and no "
                      "joints",
                      who);
  }
  TRIBO_TRY(tribo_check_finite(who, "anchor", def->anchor, 3));
  TRIBO_TRY(tribo_check_finite(who, "anchor2", def->anchor2, 3));
  TRIBO_TRY(tribo_check_finite(who, "axis", def->axis, 3));
  TRIBO_TRY(tribo_check_finite(who, "axis2", def->axis2, 3));
  const double along = tribo_norm3(def->axis), across = tribo_norm3(def->axis2);
  if (!(along > 1e-9) || !(across > 1e-9)) {
    return tribo_fail(TRIBO_INVALID, "%s: axis [%g %g %g] and axis2 [%g %g %g] must not be zero", who, def->axis[0],
                      def->axis[1], def->axis[2], def->axis2[0], def->axis2[1], def->axis2[2]);
  }
  if (def->kind == TRIBO_CLOSURE_UNIVERSAL && !(fabs(tribo_dot3(def->axis, def->axis2)) <= 1e-6 * along * across)) {
    return tribo_fail(TRIBO_INVALID, "%s: axis2 [%g %g %g] must be at a right angle to axis", who, def->axis2[0],
                      def->axis2[1], def->axis2[2]);
  }
  if (!isnan(def->length) && !(def->length > 0 && def->length <= 1e9)) {
    return tribo_fail(TRIBO_INVALID, "%s: length = %g m must be in (0, 1e9]", who, def->length);
  }
  TRIBO_TRY(tribo_check_finite(who, "offset", &def->offset, 1));
  const int bent = def->curve[0] != 0 || def->curve[1] != 0 || def->curve[2] != 0;
  TRIBO_TRY(tribo_check_finite(who, "curve", def->curve, 3));
  if (!isfinite(def->ratio) || (def->ratio == 0 && !bent)) {
    return tribo_fail(TRIBO_INVALID, "%s: ratio = %g must be finite and not 0", who, def->ratio);
  }
  return TRIBO_OK;
}

TriboStatus tribo_scene_add_closure(TriboScene* scene, const TriboClosureDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_closure(def));
  GROW(scene, closure);
  TriboClosureDef copy = *def;
  const char** names[] = {&copy.body_a, &copy.body_b, &copy.joint_a, &copy.joint_b};
  for (int i = 0; i < 4; ++i) {
    const char* given = *names[i];
    *names[i] = tribo_pool_strdup(&scene->pool, given);
    if (given != NULL && *names[i] == NULL) {
      return tribo_no_memory("for the scene");
    }
  }
  TRIBO_TRY(tribo_scene_take_name(scene, &scene->closure_names, "closure", def->name, scene->nclosure, &copy.name));
  if (id != NULL) {
    *id = scene->nclosure;
  }
  scene->closures[scene->nclosure++] = copy;
  return TRIBO_OK;
}

// ---- robots ---------------------------------------------------------------------------------------------------------

TriboRobotDef tribo_robot_default(void) {
  return (TriboRobotDef){.quaternion = {0, 0, 0, 1}, .self_collision = 1, .use_joint_friction = 1};
}

// A copy of a file's name; one of a package becomes the file it stands for.
static TriboStatus keep_file(TriboScene* scene, const char* who, const char* name, const char** out) {
  const int package = name != NULL && strstr(name, "://") != NULL;
  *out = package ? tribo_package_find(&scene->pool, name) : tribo_pool_strdup(&scene->pool, name);
  if (package && *out == NULL) {
    return tribo_fail(TRIBO_NOT_FOUND,
                      "%s: '%.160s' is in no folder of ROS_PACKAGE_PATH or AMENT_PREFIX_PATH, and is "
                      "none of the example robots",
                      who, name);
  }
  return name != NULL && *out == NULL ? tribo_no_memory("for the scene") : TRIBO_OK;
}

TriboStatus tribo_scene_add_robot(TriboScene* scene, const TriboRobotDef* def) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  const char* who = def->name != NULL ? def->name : "robot";
  if (def->free_base < 0 || def->free_base > 2) {
    return tribo_fail(TRIBO_INVALID, "%s: free_base = %d; accepted are 0, 1 and 2", who, def->free_base);
  }
  if (def->urdf == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: a robot needs a URDF file", who);
  }
  if (def->vertices < 0 || (def->vertices > 0 && def->vertices < 4)) {
    return tribo_fail(TRIBO_INVALID, "%s: vertices = %d must be 0 for all, or at least 4", who, def->vertices);
  }
  TRIBO_TRY(tribo_check_finite(who, "position", def->position, 3));
  TRIBO_TRY(tribo_check_quaternion(who, def->quaternion));
  const char* material = def->material != NULL ? def->material : "default";
  if (tribo_names_find(&scene->material_names, material) < 0) {
    return tribo_not_found(&scene->material_names, "material", material);
  }
  GROW(scene, robot);
  TriboRobotDef copy = *def;
  TRIBO_TRY(keep_file(scene, who, def->urdf, &copy.urdf));
  TRIBO_TRY(keep_file(scene, who, def->srdf, &copy.srdf));
  copy.attach = tribo_pool_strdup(&scene->pool, def->attach);
  if (copy.attach == NULL && def->attach != NULL) {
    return tribo_no_memory("for the scene");
  }
  TRIBO_TRY(tribo_scene_take_name(scene, &scene->robot_names, "robot", def->name, scene->nrobot, &copy.name));
  copy.reference = tribo_pool_strdup(&scene->pool, def->reference);
  copy.material = tribo_pool_strdup(&scene->pool, material);
  if (copy.material == NULL || (def->reference != NULL && copy.reference == NULL)) {
    return tribo_no_memory("for the scene");
  }
  tribo_quat_normalize(copy.quaternion);
  scene->robots[scene->nrobot++] = copy;
  return TRIBO_OK;
}

TriboStatus tribo_scene_set_joint(TriboScene* scene, const char* joint, double position, double velocity) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(joint);
  TRIBO_TRY(tribo_check_finite(joint, "position", &position, 1));
  TRIBO_TRY(tribo_check_finite(joint, "velocity", &velocity, 1));
  GROW(scene, joint_value);
  char* name = tribo_pool_strdup(&scene->pool, joint);
  if (name == NULL) {
    return tribo_no_memory("for the scene");
  }
  scene->joint_values[scene->njoint_value++] = (SceneValue){name, position, velocity};
  return TRIBO_OK;
}

TriboStatus tribo_scene_exclude(TriboScene* scene, const char* body_a, const char* body_b) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(body_a);
  TRIBO_REQUIRE(body_b);
  GROW(scene, exclusion);
  SceneExclusion e = {tribo_pool_strdup(&scene->pool, body_a), tribo_pool_strdup(&scene->pool, body_b)};
  if (e.a == NULL || e.b == NULL) {
    return tribo_no_memory("for the scene");
  }
  scene->exclusions[scene->nexclusion++] = e;
  return TRIBO_OK;
}
