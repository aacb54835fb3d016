// Tribo, public: the model, a scene compiled. It never changes.
//
// Ownership. A model belongs to whoever created it, until tribo_model_destroy (NULL is allowed), and must outlive
// every data, recorder and set of expectations (TriboJudge) made of it. It keeps nothing of the scene, which may be
// changed or destroyed at once. Every pointer and text that a call below returns belongs to the model and is valid as
// long as the model is.
//
// Threads. Any number of threads may read a model at the same time, each with a data of its own.
//
// Units are SI and frames the world's where a field does not say another. Ids out of range give NULL.
#pragma once

#include <tribo/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TriboModel TriboModel;
// *out is NULL after a failure.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_model_create(const TriboScene* scene, TriboModel** out);
TRIBO_API void tribo_model_destroy(TriboModel* model);

typedef struct TriboModelSize {
  int nq, nv;               // coordinates, velocities
  int nbody, nfree, ntree;  // moving bodies; free ones come first
  int njoint, nmotor, nclosure, nshape, nmaterial;
  int ntendon, nactuator, ncontroller, nvisual;
  int ncamera, nexpect, nrecord, nstate, nsensor, ntexture;
  int nforce;     // forces that the scene schedules
  size_t memory;  // bytes of the model's own arrays
} TriboModelSize;
TRIBO_API TriboModelSize tribo_model_size(const TriboModel* model);
TRIBO_API const TriboWorldDef* tribo_model_world(const TriboModel* model);

typedef struct TriboBodyInfo {
  const char* name;
  double mass;        // [kg]
  double com[3];      // centre of mass in the body frame [m]
  double inertia[6];  // xx yy zz xy xz yz about the centre of mass, axes of the body frame [kg·m²]
  int q_at, v_at;     // first coordinate of its joint or of the free body
  int block;          // motion block, the same for all bodies of one tree
  int parent;         // the link that it is welded to or hangs on by its joint, TRIBO_WORLD
} TriboBodyInfo;
typedef struct TriboJointInfo {
  const char* name;
  const char* kind;             // "revolute"
  int parent;                   // the link it hangs on, TRIBO_WORLD
  int body;                     // the link it carries
  int q_at, nq, v_at, nv;       // its part of q and of v
  double lower, upper, effort;  // one-dof joints [rad, m; N·m, N]
  double armature, damping, friction, stiffness,
      rest;                           // one-dof joints: at its first coordinate, units as in TriboJointDef
  int actuator_gravity_compensation;  // as in TriboJointDef
  double anchor[3], axis[3];  // where it turns or slides and about or along what, in the frame of the link it carries
                              // [m]; axis: unit, one-dof joints, 0 for the others
} TriboJointInfo;
// A task of a controller with the law TASK; its quantities are those of "<controller>/<name>".
typedef struct TriboTaskInfo {
  const char *controller, *name;
  TriboTaskKind kind;
} TriboTaskInfo;
TRIBO_API int tribo_model_task_count(const TriboModel* model);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_model_task_info(const TriboModel* model, int task, TriboTaskInfo* out);
typedef struct TriboMotorInfo {
  int joint;                                            // id
  double stiffness, damping, target, velocity, effort;  // as in TriboMotorDef, at the start
} TriboMotorInfo;
typedef struct TriboClosureInfo {
  const char* name;
  const char* kind;
  int body_a, body_b;  // TRIBO_WORLD: the world, or joints are tied
  double anchor_a[3],
      anchor_b[3];     // the points it holds together (or apart: distance), in the frames of the bodies [m]
  int joint;           // that it is, with coordinates of its own; −1: none
  int rows;            // those along axes come first; of a joint, of all six directions
  int nforce;          // how many these are
  char redundant[80];  // rows that say nothing new at the initial state, "along y, about x"; "" for none. They are
                       // harmless: among the impulses that hold, the smallest are found
} TriboClosureInfo;
typedef struct TriboShapeInfo {
  const char* name;
  TriboShapeKind kind;
  double size[3];                     // see TriboShapeKind [m]
  int body;                           // TRIBO_WORLD: static
  double position[3], quaternion[4];  // of the shape frame, in the body frame [m]
  double color[4];                    // r g b a in [0, 1]
  int texture;                        // −1: none
  double repeat[2];                   // as in TriboShapeDef, like the next two
  int per_metre, hidden;
  int material;          // id
  double surface[3];     // velocity of the surface, body axes [m/s]
  double spin[3];        // turning of the surface about the position, body axes [rad/s]
  double grain[3];       // direction of `friction` where there is a friction2, body axes
  const double* points;  // HULL, SDF, HEIGHTFIELD: (npoint × 3) in the shape frame [m]
  const int* triangles;  // HULL, SDF, HEIGHTFIELD: (ntriangle × 3), outward
  int npoint, ntriangle;
  const char* field;             // SDF: what the root of its tree is, "thread"; NULL: another kind
  int samples, cells, contacts;  // SDF: of its surface; parts of it that give a contact each; most of a pair
  double margin;                 // SDF: how far ahead of touching contacts are made; INFINITY: the world's [m]
} TriboShapeInfo;
// What is drawn beside the shapes: pose in the body frame, and for meshes all their triangles.
typedef struct TriboVisualInfo {
  const char* name;
  TriboShapeKind kind;                // HULL: the triangles below, which need not be convex
  double size[3];                     // see TriboShapeKind [m]
  int body;                           // TRIBO_WORLD: static
  double position[3], quaternion[4];  // in the body frame [m]
  double color[4];                    // r g b a in [0, 1]
  int texture;                        // −1: none
  double repeat[2];                   // as in TriboShapeDef, like per_metre
  int per_metre;
  const double* points;  // HULL: (npoint × 3) in the frame of the visual [m]
  const double* uv;      // HULL: (npoint × 2) points of the texture, (0, 0) is its lower left corner; NULL: none
  const int* triangles;  // HULL: (ntriangle × 3), as the file has them
  int npoint, ntriangle;
} TriboVisualInfo;
TRIBO_API const TriboVisualInfo* tribo_model_visuals(const TriboModel* model, int* count);
typedef struct TriboTendonInfo {
  const char* name;
  double stiffness, damping, rest[2], lower, upper;  // as in TriboTendonDef, with the lengths found
} TriboTendonInfo;
TRIBO_API const TriboTendonInfo* tribo_model_tendon(const TriboModel* model, int id);
typedef struct TriboActuatorInfo {
  const char* name;
  int joint, tendon, body;                          // −1: not this one
  double ctrl_min, ctrl_max, force_min, force_max;  // as in TriboActuatorDef
} TriboActuatorInfo;
TRIBO_API const TriboActuatorInfo* tribo_model_actuator(const TriboModel* model, int id);
TRIBO_API const TriboBodyInfo* tribo_model_body(const TriboModel* model, int id);  // NULL: no such id
TRIBO_API const TriboJointInfo* tribo_model_joint(const TriboModel* model, int id);
TRIBO_API const TriboMotorInfo* tribo_model_motor(const TriboModel* model, int id);
TRIBO_API const TriboClosureInfo* tribo_model_closure(const TriboModel* model, int id);
TRIBO_API const TriboShapeInfo* tribo_model_shape(const TriboModel* model, int id);
// Whether two shapes may touch: groups and masks, excluded pairs, links of one joint. 0 also where there is no such id.
TRIBO_API int tribo_model_may_touch(const TriboModel* model, int shape_a, int shape_b);
TRIBO_API const TriboMaterialDef* tribo_model_material(const TriboModel* model, int id);
// What holds between two shapes: their materials mixed by rule, or as the scene gives it for the pair. It has no name.
TRIBO_API const TriboMaterialDef* tribo_model_pair(const TriboModel* model, int shape_a, int shape_b);
TRIBO_API const TriboTextureDef* tribo_model_texture(const TriboModel* model, int id);
TRIBO_API const TriboCameraDef* tribo_model_camera(const TriboModel* model, int id);
TRIBO_API const TriboRecordDef* tribo_model_record(const TriboModel* model, int id);
typedef struct TriboSensorInfo {
  const char* name;
  TriboSensorKind kind;
  int n;  // numbers it reads
} TriboSensorInfo;
TRIBO_API const TriboSensorInfo* tribo_model_sensor(const TriboModel* model, int id);
TRIBO_API const char* tribo_model_state(const TriboModel* model, int id);  // name of a state of the scene

// Ids by name, and back. Everything that a scene names can be found once and then be used by its id. A motor goes by
// the name of its joint. NOT_FOUND: there is none of that name; the name is NULL where there is no such id.
typedef enum TriboItemKind {
  TRIBO_ITEM_BODY,
  TRIBO_ITEM_JOINT,
  TRIBO_ITEM_CLOSURE,
  TRIBO_ITEM_SHAPE,
  TRIBO_ITEM_MATERIAL,
  TRIBO_ITEM_TENDON,
  TRIBO_ITEM_ACTUATOR,
  TRIBO_ITEM_MOTOR,
  TRIBO_ITEM_CONTROLLER,
  TRIBO_ITEM_SENSOR,
  TRIBO_ITEM_CAMERA,
  TRIBO_ITEM_STATE,
  TRIBO_ITEM_COUNT
} TriboItemKind;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_model_find(const TriboModel* model, TriboItemKind kind, const char* name,
                                                       int* id);
TRIBO_API const char* tribo_model_name(const TriboModel* model, TriboItemKind kind, int id);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_model_body_id(const TriboModel* model, const char* name, int* id);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_model_joint_id(const TriboModel* model, const char* name, int* id);

// Where a controller wants a joint of its own to be at a time, how fast, and with what acceleration [rad, m; …/s;
// …/s²]. Any may be NULL.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_controller_reference(const TriboModel* model, int controller, int joint,
                                                                 double time, double* position, double* velocity,
                                                                 double* acceleration);

#ifdef __cplusplus
}
#endif
