// The scene as it is kept: the user's defs, copied, checked one by one, in the order they came.
#pragma once

#include <tribo/tribo.h>

#include "pool.h"

// MuJoCo's impedance where a file does not say another.
#define TRIBO_SOLIMP \
  { 0.9, 0.95, 0.001, 0.5, 2 }

// Of an ellipsoid joint [m].
#define TRIBO_RADIUS_MAX 1e6

typedef struct SceneShape {
  TriboShapeDef def;
  int body;
} SceneShape;

typedef struct ScenePair {
  int a, b;  // material ids, a ≤ b
  TriboMaterialDef def;
} ScenePair;

typedef struct SceneValue {
  const char* name;
  double value, rate;
} SceneValue;

typedef struct SceneExclusion {
  const char *a, *b;
} SceneExclusion;

// X(item type, plural): the arrays of a scene
#define SCENE_ARRAYS(X)             \
  X(TriboMaterialDef, material)     \
  X(TriboTextureDef, texture)       \
  X(ScenePair, pair)                \
  X(TriboBodyDef, body)             \
  X(SceneShape, shape)              \
  X(SceneShape, visual)             \
  X(TriboJointDef, joint)           \
  X(TriboTendonDef, tendon)         \
  X(TriboActuatorDef, actuator)     \
  X(TriboMotorDef, motor)           \
  X(TriboControllerDef, controller) \
  X(TriboClosureDef, closure)       \
  X(TriboRobotDef, robot)           \
  X(SceneValue, joint_value)        \
  X(SceneValue, solver_value)       \
  X(SceneExclusion, exclusion)      \
  X(TriboStateDef, state)           \
  X(TriboSensorDef, sensor)         \
  X(TriboForceDef, force)           \
  X(TriboRecordDef, record)         \
  X(TriboCameraDef, camera)         \
  X(TriboExpectDef, expect)

struct TriboScene {
  TriboPool pool;     // strings and point lists
  const char* where;  // "path:line:column" of what a loader is adding; NULL: the program adds it
  TriboWorldDef world;
#define X(type, name)        \
  type* name##s;             \
  const char** name##_where; \
  int n##name;
  SCENE_ARRAYS(X)
#undef X
  TriboNames material_names, body_names, joint_names, closure_names, robot_names, tendon_names, actuator_names,
      controller_names, state_names, sensor_names, texture_names;
  const char* start;  // name of the state it begins in, NULL: none
};

// Puts the place an item came from in front of the error, if it came from a file.
static inline TriboStatus tribo_located(TriboStatus status, const char* where) {
  if (status != TRIBO_OK && where != NULL) {
    tribo_fail_prefix("%s: ", where);
  }
  return status;
}

// The joint that a closure is when it has what joints have; 0: it has no coordinate.
int tribo_closure_joint(TriboClosureKind kind, TriboJointKind* joint);
// Whether that joint may also be seen from its other body, with its axis turned round.
int tribo_closure_turns_round(TriboClosureKind kind);
// Whether a closure says something that only joints have.
int tribo_closure_has_drive(const TriboClosureDef* def);

// "there is no body 'cub'; did you mean 'cube'?"
TriboStatus tribo_not_found(const TriboNames* names, const char* what, const char* name);

// What a kind of sensor is called, and what it is mounted on: 'j' a joint, 't' a tendon, 'a' an actuator, 'b' a body
// that must be named; any other letter: a body or the world.
typedef struct SceneSensorKind {
  const char* word;
  char needs;
} SceneSensorKind;
const SceneSensorKind* tribo_sensor_kind(TriboSensorKind kind);
