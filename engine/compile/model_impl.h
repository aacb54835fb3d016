// The compiled model: const after tribo_model_create, shared by any number of data.
#pragma once

#include "collision.h"
#include "dynamics.h"
#include "scene_impl.h"
#include "tendon.h"

// A force of the scene with its names resolved.
typedef struct ModelForce {
  TriboForceDef def;
  int body;  // −1: effort on a joint
  int v_at;  // of the joint
} ModelForce;

// A controller with its names resolved.
// A task with its names resolved.
typedef struct ModelTask {
  const char* name;
  TriboTaskKind kind;
  int at;           // among all tasks of the model
  int body;         // TRIBO_WORLD: the whole robot
  double point[3];  // in its frame [m]
  int axes;         // bits as in TriboTaskDef
  double stiffness, damping, weight;
  double normal, start, ramp;
  int relative;
  double* times;   // (nframe)
  double* frames;  // (nframe × TRIBO_TASK_COLUMNS) values may be NAN: as at the start
  int nframe;
} ModelTask;

typedef struct ModelController {
  const char* name;
  TriboLaw law;
  TriboInterpolation interpolation;
  double stiffness, damping;  // COMPUTED: [1/s²], [1/s]; PD: [N·m/rad, N/m], [N·m·s/rad, N·s/m]
  int njoint;
  int* joint;      // (njoint)
  double* effort;  // (njoint) bounds [N·m, N]
  double* start;   // (njoint) positions at the start [rad, m]; EFFORT: 0
  int* column;     // (njoint) of the frames, −1: none
  int motor;       // PD: that of the first joint, the others follow
  double* times;   // (nframe) [s]
  double* frames;  // (nframe × ncolumn) [rad, m]; EFFORT: [N·m, N]
  double* slopes;  // (nframe × ncolumn) of the frames over the time, CUBIC
  int nframe, ncolumn;
  ModelTask* tasks;  // (ntask) TASK
  int ntask;
  TriboTaskContacts contacts;
  double horizon, torque_weight;  // [m]
  double mode_margin;
  int flips, programs;
} ModelController;

// A sensor with its names resolved.
typedef struct ModelSensor {
  TriboSensorDef def;  // without names
  int at;              // joint, tendon or actuator
  int body, ref_body;  // TRIBO_WORLD: the world
} ModelSensor;

// A state of the scene, in full.
typedef struct ModelState {
  const char* name;
  double time;         // [s]
  double *q, *v;       // (nq), (nv) as in TriboData
  double *ctrl, *act;  // (nactuator) controls and activations
} ModelState;

// How the medium sees a body.
typedef struct ModelDrag {
  int body;
  double axes[4];  // of the box, in the body frame
  double box[3];   // full lengths [m]
} ModelDrag;

// An expectation with its quantity resolved.
typedef struct ModelExpect {
  TriboExpectDef def;
  TriboQuantity quantity;
} ModelExpect;

typedef struct ModelTree {
  TriboTree* tree;
  int robot;       // index in the scene, −1: built from joints
  int* robots;     // (files of the tree) index in the scene of the robot and of its tools
  int first_body;  // its links are bodies first_body …
  int q_at, v_at;  // its coordinates
} ModelTree;

// A closure that is a joint: cut_closures.c.
typedef struct ModelCut {
  int closure, joint;
  int piece, rest;  // bodies: the piece of one that hangs on the joint, and what is left of it
  int is_turned;    // 1: body_a of the closure was cut, not body_b
  TriboPose frame;  // of the closure, z along its axis, in the frame of the piece
} ModelCut;

// The bodies and what holds them together.  set by: compile_bodies.c, compile_joints.c, compile_closures.c
typedef struct ModelMechanism {
  TriboBodyInfo* bodies;       // (nbody) free bodies, then links
  TriboPose* body_offset;      // (nbody) the user's body frame in the frame that dynamics moves
  double* body_com;            // (nbody × 3) centre of mass in the user's body frame [m]
  TriboJointInfo* joints;      // (njoint)
  TriboClosureInfo* closures;  // (nclosure)
  ModelCut* cuts;              // (ncut)
  int ncut;
  TriboNames body_names, joint_names;
  ModelTree* trees;  // (ntree) owned
  int ntree, nfree;  // nfree: bodies without a tree
  TriboSystem* system;
} ModelMechanism;

// What collides, and how it rubs.  set by: compile_shapes.c
typedef struct ModelGeometry {
  TriboShapeInfo* shapes;  // (ngeom) as the scene tells them
  TriboGeom* geoms;        // (ngeom) the same, as collision sees them
  int ngeom;
  TriboHeightField** fields;  // (nfield) owned
  int nfield;
  TriboHull** hulls;  // (nhull) owned
  int nhull;
  TriboSdf** sdfs;  // (nsdf) owned
  int nsdf;
  const TriboHull** scene_hulls;  // (shapes of the scene) while compiling: the hull of each, once made
  TriboSdf** scene_sdfs;          // (shapes of the scene) and its distance field
  TriboMaterialDef* materials;    // (nmaterial)
  int nmaterial;
  TriboMaterialDef* mixed;  // (nmaterial × nmaterial) by rule or as given for the pair, symmetric
  TriboContactLaw* laws;    // (nmaterial × nmaterial) of these
  int soft;                 // 1: some of them are compliant
  int (*excluded)[2];       // (nexcluded) pairs of bodies that do not collide
  int nexcluded;
  TriboColWorld* collision;
} ModelGeometry;

// Where a simulation begins, and the named states of the scene.  set by: compile_bodies.c, compile_states.c
typedef struct ModelInitial {
  double *q, *v;       // (nq), (nv) [m, rad], [m/s, rad/s], in the order of dynamics
  double* act;         // (nactuator) activations
  double time;         // [s]
  ModelState* states;  // (nstate)
  int nstate;
} ModelInitial;

// Motors, tendons, actuators and the controllers that command them.  set by: compile_actuators.c, compile_muscles.c,
// compile_controllers.c
typedef struct ModelActuation {
  TriboTendon* tendons;           // (ntendon)
  TriboTendonInfo* tendon_infos;  // (ntendon)
  int ntendon;
  int nbound;                         // limits of tendons
  TriboActuatorDef* actuators;        // (nactuator) without names
  TriboActuatorInfo* actuator_infos;  // (nactuator)
  int* sliders;                       // (nactuator) bodies of their slider axes, TRIBO_WORLD: the world
  int nactuator, nthruster;
  TriboMotor* motors;           // (nmotor) as at the start
  TriboMotorInfo* motor_infos;  // (nmotor)
  int nmotor;
  ModelController* controllers;  // (ncontroller)
  int ncontroller;
  int computes;                  // 1: a controller needs the mass matrix
  int ntask;                     // of all controllers
  double* gravity_compensation;  // (nbody) fraction of the weight that is compensated; NULL: of none
  int ngravity_comp_joint;       // joints whose actuators do it
} ModelActuation;

// Forces that act whatever the robot does.  set by: compile_actuators.c, compile.c
typedef struct ModelLoads {
  ModelDrag* drags;  // (ndrag) none without a medium
  int ndrag;
  ModelForce* forces;  // (nforce)
  int nforce;
} ModelLoads;

// What is drawn and from where.  set by: compile_visuals.c, compile.c
typedef struct ModelScenery {
  TriboVisualInfo* visuals;  // (nvisual)
  int nvisual;
  TriboTextureDef* textures;  // (ntexture) the scene's, then those that mesh files name
  int ntexture;
  TriboTexturedMesh** textured_meshes;  // (ntextured_mesh) of mesh files, owned
  int ntextured_mesh;
  TriboCameraDef* cameras;  // (ncamera)
  int ncamera;
} ModelScenery;

// What is measured, recorded and expected.  set by: compile_sensors.c, compile.c
typedef struct ModelOutput {
  ModelSensor* sensors;           // (nsensor)
  TriboSensorInfo* sensor_infos;  // (nsensor)
  int nsensor;
  TriboRecordDef* records;  // (nrecord)
  int nrecord;
  ModelExpect* expects;  // (nexpect)
  int nexpect;
} ModelOutput;

// All of it is filled by tribo_model_create and never changes afterwards: any number of threads may read it.
struct TriboModel {
  TriboPool pool;  // strings and arrays of the parts
  TriboWorldDef world;
  uint64_t fingerprint;  // of what a state must fit
  int nq, nv, nbody, njoint, nclosure;
  ModelMechanism mechanism;
  ModelGeometry geometry;
  ModelInitial initial;
  ModelActuation actuation;
  ModelLoads loads;
  ModelScenery scenery;
  ModelOutput output;
  SceneValue* solver_values;  // (nsolver_value) the scene's settings of its solver
  int nsolver_value;
};

static inline TriboSoftness tribo_softness(const double solref[2], const double solimp[5]) {
  TriboSoftness soft = {{solref[0], solref[1]}, {solimp[0], solimp[1], solimp[2], solimp[3], solimp[4]}};
  return soft;
}

// The centre of mass in the world of a body whose frame, as dynamics moves it, is at `pose`.
void tribo_body_com(const TriboModel* model, int body, const TriboPose* pose, double com[3]);

// A solver with the model's settings.
TriboStatus tribo_model_solver(const TriboModel* model, TriboSolver** out);

// cut_closures.c: the frame of a closure in the world at the start, z along its axis, x along the second one where it
// has one.
TriboPose tribo_closure_frame(const TriboClosureDef* def);
// The scene with closures that are joints cut open: bodies and joints behind its own ones. What it
// points to is in its pool. Then what the model knows of them, and their joints' coordinates and velocities where the
// rest of the bodies is: q (nq; NULL: they fit) and v (nv).
typedef struct CutClosure {
  int closure;
  TriboClosureKind kind;
  int body, carrier;  // of the scene: that is cut, that the piece hangs on
  int is_turned;      // as in ModelCut
  int other;          // body at the other end of the closure
  double anchor[3];   // in its frame [m]
  TriboPose frame;    // as in ModelCut
  int piece, joint;   // of the cut scene
} CutClosure;
typedef struct CutScene {
  TriboPool pool;
  TriboScene scene;
  CutClosure* cuts;
  int ncut;
} CutScene;
TriboStatus tribo_compile_cut(const TriboScene* scene, CutScene* out);
TriboStatus tribo_compile_cuts(const CutScene* cut, const int* scene_body, TriboModel* model);
TriboStatus tribo_compile_fit(const TriboModel* model, double* q, double* v);
// compile.c: what moves and what ties it, without all that acts on it.
TriboStatus tribo_compile_mechanism(const TriboScene* scene, TriboModel* model, int* scene_body);
// compile_bodies.c: free bodies, trees, system, initial state. scene_body receives the model id of each scene body.
TriboStatus tribo_compile_bodies(const TriboScene* scene, TriboModel* model, int* scene_body);
// compile_joints.c: anchors and axes of the joints, at the initial state.
TriboStatus tribo_compile_joints(TriboModel* model);
// compile_closures.c: closures at the initial state; excludes what they tie from collision.
TriboStatus tribo_compile_closures(const TriboScene* scene, TriboModel* model);
// compile_shapes.c: hulls, geometries, exclusions, materials, collision world.
TriboStatus tribo_compile_shapes(const TriboScene* scene, TriboModel* model, const int* scene_body);
// Mass, centre and inertia (row-major, about the centre) of a scene body from its def and its shapes.
TriboStatus tribo_compile_mass(const TriboScene* scene, TriboModel* model, int body, double* mass, double com[3],
                               double inertia[9]);
// compile_actuators.c: tendons, actuators, the medium
TriboStatus tribo_compile_actuators(const TriboScene* scene, TriboModel* model, const int* scene_body);
// compile_muscles.c: peak forces and lengths that the definition of a muscle leaves open
TriboStatus tribo_compile_muscles(const TriboScene* scene, TriboModel* model);
// compile_sensors.c
TriboStatus tribo_compile_sensors(const TriboScene* scene, TriboModel* model);
// compile_states.c: states of the scene; after all that is measured at the start, before what begins there
TriboStatus tribo_compile_states(const TriboScene* scene, TriboModel* model);
// compile_controllers.c: controllers, with the motors that they are made of
// compile_tasks.c
TriboStatus tribo_compile_tasks(TriboModel* model, const TriboControllerDef* def, ModelController* c);
// "<controller>/<task>" among all tasks, −1: there is none.
int tribo_model_find_task(const TriboModel* model, const char* name);
TriboStatus tribo_compile_control(const TriboScene* scene, TriboModel* model);
// compile_visuals.c
TriboStatus tribo_compile_textures(const TriboScene* scene, TriboModel* model);
int tribo_compile_texture(const TriboModel* model, const char* name);  // −1: none of that name
TriboStatus tribo_compile_visuals(const TriboScene* scene, TriboModel* model, const int* scene_body);
// compile_shapes.c: a shape of a robot's file as a shape of a scene
void tribo_compile_tree_geom(const TriboTreeGeom* geom, TriboShapeDef* def);
TriboStatus tribo_compile_exclude(TriboModel* model, int body_a, int body_b);
