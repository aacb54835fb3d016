// Tribo: rigid multibody simulation with exact frictional contact. This header is the whole programming interface
// (with <tribo/problem.h> for those who only want to solve a contact problem).
//
//     TriboScene* scene;  tribo_scene_load("tower.yaml", NULL, &scene);   // or built call by call
//     TriboModel* model;  tribo_model_create(scene, &model);              // compiled, const, shared between threads
//     TriboData* data;    tribo_data_create(model, &data);                // everything that changes
//     tribo_step(model, data, &info);                                     // one step; info says how well it went
//
// Conventions. SI units, right-handed, z up by default, quaternions (x, y, z, w), world axes unless said otherwise.
// Every fallible call returns a TriboStatus; tribo_last_error() then holds one sentence. Nothing here exits, aborts or
// prints. Names are looked up once and become integer ids.
#pragma once

#include <tribo/base.h>
#include <tribo/problem.h>
#include <tribo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- scene: what the user says ------------------------------------------------------------------------------------

enum { TRIBO_WORLD = -1 };  // the body id of everything that never moves

typedef struct TriboScene TriboScene;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_create(TriboScene** out);
// Reads a YAML scene, or makes one of a robot file: a URDF robot (.urdf), a whole MJCF model (.xml) or the
// models of an SDF file (.sdf). Complaints start with path:line:column (XML: path:line). What a file says and Tribo
// cannot do is a warning to the log (may be NULL).
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_load(const char* path, const TriboLog* log, TriboScene** out);
// The same, with `seed` ≥ 0 added to the seeds of everything random in a YAML scene: 0 is the scene as it stands.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_load_seed(const char* path, const TriboLog* log, int seed,
                                                            TriboScene** out);
// Writes the scene as YAML that loads back to the same model; robots stay the files they are.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_save(const TriboScene* scene, const char* path);
TRIBO_API void tribo_scene_destroy(TriboScene* scene);

// X(type, name, default, min, max, open_min, unit, doc)
#define TRIBO_WORLD_SETTINGS(X)                                                                                        \
  X(REAL, dt, 1e-3, 0, 1, 1, "s", "time step")                                                                         \
  X(REAL, duration, 5, 0, 1e9, 1, "s", "how long run and check simulate")                                              \
  X(REAL, erp, 0.2, 0, 1, 0, "", "share of a penetration or limit violation undone per step")                          \
  X(REAL, slop, 1e-6, 0, 1, 0, "m", "penetration that is left alone")                                                  \
  X(REAL, depenetration_max, 1, 0, 1e6, 0, "m/s", "fastest push-out of a penetration")                                 \
  X(REAL, bounce_min, 0.01, 0, 1e6, 0, "m/s", "impact speed below which nothing rebounds; at least 2 g dt is used")    \
  X(REAL, margin, 1e-3, 0, 1, 1, "m", "contacts are created this far ahead of touching")                               \
  X(REAL, tol, 1e-10, 0, 1, 1, "m/s", "largest natural-map residual of a certified step")                              \
  X(REAL, step_budget, 0, 0, 1e9, 0, "s",                                                                              \
    "wall time one step may take before the best answer so far is used; 0: no limit")                                  \
  X(REAL, density, 0, 0, 1e9, 0, "kg/m³", "of the medium the bodies move in: drag that grows with the speed squared")  \
  X(REAL, viscosity, 0, 0, 1e9, 0, "Pa s", "of the medium: drag that grows with the speed")                            \
  X(REAL, sleep, 0, 0, 1e9, 0, "s",                                                                                    \
    "free bodies that touch and have all been slow for so long are left out of the steps until reached; 0: never")     \
  X(REAL, sleep_speed, 0.01, 0, 1e6, 1, "m/s", "what counts as slow there: the root mean square over a body's matter") \
  X(INT, halvings, 3, 0, 10, 0, "", "how often a step that the solver auto cannot certify is halved")                  \
  X(INT, must_certify, 0, 0, 1, 0, "",                                                                                 \
    "1: a step that cannot be certified fails and leaves the state as it was; 0: its best answer is used")             \
  X(INT, threads, 1, 1, 256, 0, "", "worker threads; the result does not depend on it")

enum { TRIBO_SOLVER_ID = 32 };
typedef struct TriboWorldDef {
  double gravity[3];  // [m/s²]
  double wind[3];     // velocity of the medium [m/s]
  TriboScheme scheme;
  char solver[TRIBO_SOLVER_ID];  // id as listed by tribo_solver_info
#define TRIBO_X_REAL double
#define TRIBO_X_INT int
#define X(type, name, ...) TRIBO_X_##type name;
  TRIBO_WORLD_SETTINGS(X)
#undef X
#undef TRIBO_X_REAL
#undef TRIBO_X_INT
} TriboWorldDef;
TRIBO_API const TriboSetting* tribo_world_settings(int* count);
TRIBO_API TriboWorldDef tribo_world_default(void);
TRIBO_API const TriboWorldDef* tribo_scene_world(const TriboScene* scene);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_set_world(TriboScene* scene, const TriboWorldDef* def);
// A setting by name: a world setting, `solver.KEY` for one of the chosen solver's, `material.NAME.KEY` for a number of
// a material.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_set(TriboScene* scene, const char* key, double value);

typedef struct TriboMaterialDef {
  const char* name;
  double friction;     // μ ≥ 0, default 0.5
  double friction2;    // μ across the grain of the shape; 0: as friction
  double torsion;      // torsional friction [m], ≥ 0
  double rolling;      // rolling friction [m], ≥ 0
  double restitution;  // e in [0, 1]
  double stiffness;    // [N/m] > 0: compliant; 0: rigid
  double damping;      // [N·s/m] with stiffness
  // MuJoCo's softness instead of stiffness and damping: time constant [s] and damping ratio, or −stiffness and −damping
  // per mass; impedance at touch and at depth `width`, width [m], midpoint, power. solref[0] = 0: rigid
  double solref[2], solimp[5];
} TriboMaterialDef;
TRIBO_API TriboMaterialDef tribo_material_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_material(TriboScene* scene, const TriboMaterialDef* def, int* id);
// Pairs mix by rule (friction, torsion, rolling: geometric mean; restitution: larger; compliance: springs in series;
// solref, solimp: mean) unless they are given here; the name of def is not used.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_pair(TriboScene* scene, const char* material_a,
                                                           const char* material_b, const TriboMaterialDef* def);

typedef struct TriboBodyDef {
  const char* name;    // unique; NULL: "body<n>"
  double position[3];  // of the body frame
  double quaternion[4];
  double velocity[3];  // of the centre of mass
  double omega[3];     // angular velocity, world axes
  double mass;         // [kg] ≥ 0; NAN: from the shapes' densities; 0: a part of a mechanism that others hang on
  double com[3];       // centre of mass in the body frame; NAN: from the shapes
  double inertia[6];   // xx yy zz xy xz yz about the centre of mass; NAN: from the shapes, scaled to mass
  double axes[4];      // orientation in the body of the axes that inertia is given in
  double gravity_compensation;  // fraction of its weight that a force at its centre of mass compensates
} TriboBodyDef;
TRIBO_API TriboBodyDef tribo_body_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_body(TriboScene* scene, const TriboBodyDef* def, int* id);

// What shapes are painted with: a picture, or a pattern of two colours. Only whoever draws looks at it.
typedef enum TriboTextureKind {
  TRIBO_TEXTURE_FLAT,  // by the texture points of a mesh; on shapes without any, as seen along z
  TRIBO_TEXTURE_CUBE,  // around the shape: the same on all six sides
  TRIBO_TEXTURE_SKY    // around the scene
} TriboTextureKind;
typedef enum TriboPattern {
  TRIBO_PATTERN_PLAIN,    // color
  TRIBO_PATTERN_CHECKER,  // two by two fields
  TRIBO_PATTERN_GRADIENT  // from color to color2: from the middle outwards; of a cube or the sky, from top to bottom
} TriboPattern;
typedef enum TriboMark {
  TRIBO_MARK_NONE,
  TRIBO_MARK_EDGE,   // a line along the rim
  TRIBO_MARK_CROSS,  // two lines through the middle
  TRIBO_MARK_DOTS    // one pixel of a hundred
} TriboMark;
typedef struct TriboTextureDef {
  const char* name;  // unique among textures
  TriboTextureKind kind;
  const char* file;  // PNG or JPEG; NULL: the pattern
  TriboPattern pattern;
  TriboMark mark;
  double color[3], color2[3], mark_color[3];
  int width, height;  // pixels of the pattern, 1 … 8192
} TriboTextureDef;
TRIBO_API TriboTextureDef tribo_texture_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_texture(TriboScene* scene, const TriboTextureDef* def, int* id);

typedef struct TriboShapeDef {
  const char* name;  // NULL: "<body>.shape<n>"
  TriboShapeKind kind;
  double size[3];        // see TriboShapeKind
  const double* points;  // HULL: (npoint × 3), copied
  int npoint;
  const double* heights;  // HEIGHTFIELD: (ny × nx), row by row towards +y, x fastest; copied
  int nx, ny;
  const char* mesh;      // HULL: an STL, OBJ or DAE file instead of points
  int split_components;  // of a mesh: 1 takes every part that no triangle joins as a convex shape of its own
  int vertices;          // HULL: at most so many, those that lie far apart; 0: all
  double scale[3];       // of the mesh
  double position[3];    // in the body frame
  double quaternion[4];
  const char* material;   // NULL: "default"
  double contact_offset;  // contacts act this far outside of it: bodies rest at the sum of their offsets [m]
  double surface[3];      // velocity of the surface against its body, in body axes: a conveyor belt [m/s]
  double spin[3];         // and its turning about the position of the shape: a turntable [rad/s]
  double grain[3];        // direction in body axes along which `friction` acts, where the material has a friction2
  double density;         // [kg/m³] ≥ 0, for bodies without a mass
  double color[4];        // r g b a in [0, 1]
  const char* texture;    // that the colour is multiplied with; NULL: none
  double repeat[2];       // of a flat texture: how often it fits across the shape, 1 when not given
  int per_metre;          // 1: into a metre
  int painted;            // of a visual mesh, 1: colours and textures are those of its file
  int hidden;             // 1: something else is there to be looked at; drawn among what collides only
  unsigned group, mask;   // two shapes collide when each one's group is in the other's mask
} TriboShapeDef;
TRIBO_API TriboShapeDef tribo_shape_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_shape(TriboScene* scene, int body, const TriboShapeDef* def,
                                                            int* id);

// A shape that is drawn and nothing else: it has no mass and touches nothing. A mesh is drawn as it is, not as its
// hull.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_visual(TriboScene* scene, int body, const TriboShapeDef* def,
                                                             int* id);

// A joint makes its two bodies links of one tree (reduced coordinates). The poses of the bodies are the zero
// configuration; anchor and axes are given in the world at that pose. A body has at most one parent joint.
typedef struct TriboJointDef {
  const char* name;     // unique among joints; NULL: "joint<n>"
  TriboJointKind kind;  // FREE: of a child of the world that floats, for its damping, friction and armature
  int parent, child;    // body ids; parent may be TRIBO_WORLD
  double anchor[3];
  double axis[3], axis2[3];
  double pitch;     // HELICAL [m/rad]
  double radii[3];  // ELLIPSOID [m]: it belongs to the parent and lies along the axes that the child has at the start;
                    // the anchor is its point farthest along z, where the child's point that stays on it begins
  double armature, damping, friction;
  double stiffness, rest;  // a spring, and the position at which it is slack [N·m/rad, N/m; rad, m]; SPHERICAL: rest 0
  double lower, upper;     // limits, ±INFINITY: none. UNIVERSAL, TRANSLATION, EULER, ELLIPSOID: of each coordinate;
                        // CYLINDRICAL: along the axis; PLANAR: of x and y each; SPHERICAL: upper is the largest angle
                        // away from the zero configuration; CONTINUOUS: none
  double restitution;           // share of the speed that comes back from a limit, 0 … 1
  double solref[2], solimp[5];  // MuJoCo's softness of the limits, as of a material; solref[0] = 0: rigid
  double effort;
  int actuator_gravity_compensation;  // 1: its actuators bring that of the bodies that it carries, within `effort`
  double position, velocity;          // initial, one-dof joints
} TriboJointDef;
TRIBO_API TriboJointDef tribo_joint_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_joint(TriboScene* scene, const TriboJointDef* def, int* id);

// A closure ties two bodies of any trees, free bodies or the world without making them a tree: it closes loops, and
// builds mechanisms of free bodies. Bodies and joints are named, robots' links too ("arm/hand"); anchor and axes are
// given in the world at the initial state, where every closure is shut by definition.
typedef struct TriboClosureDef {
  const char* name;  // unique among closures; NULL: "closure<n>"
  TriboClosureKind kind;
  const char *body_a, *body_b;    // NULL: the world
  double anchor[3];               // DISTANCE: the point on body_a
  double anchor2[3];              // DISTANCE: the point on body_b
  double axis[3];                 // HINGE, SLIDER, CYLINDRICAL, PLANAR (its normal), UNIVERSAL
  double axis2[3];                // UNIVERSAL: of body_b, at a right angle to axis
  double length;                  // DISTANCE; NAN: as far as the points are apart
  const char *joint_a, *joint_b;  // GEAR, MIMIC: one-dof joints
  double ratio, offset;           // q_b = ratio q_a + offset; GEAR: the offset is taken from the start
  double curve[3];                // MIMIC: and curve[0] q_a² + curve[1] q_a³ + curve[2] q_a⁴
  double solref[2], solimp[5];    // MuJoCo's softness, as of a material; solref[0] = 0: it never opens
} TriboClosureDef;
TRIBO_API TriboClosureDef tribo_closure_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_closure(TriboScene* scene, const TriboClosureDef* def, int* id);

// A motor holds or turns a joint as a spring and a damper would, within its effort, implicitly:
// τ = −k (q − target) − d (q̇ − velocity), |τ| ≤ effort. Stiff gains are no danger; k = 0 controls the velocity.
typedef struct TriboMotorDef {
  const char* joint;          // one-dof joint, by full name
  double stiffness, damping;  // k, d [N·m/rad, N·m·s/rad or N/m, N·s/m], not both 0
  double target, velocity;    // [rad, m], [rad/s, m/s]
  double effort;              // [N·m, N]; NAN: the joint's
} TriboMotorDef;
TRIBO_API TriboMotorDef tribo_motor_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_motor(TriboScene* scene, const TriboMotorDef* def, int* id);

// What a stretch of a string goes around, without friction: a sphere, or a cylinder without ends along z.
typedef enum TriboWrapKind { TRIBO_WRAP_SPHERE, TRIBO_WRAP_CYLINDER, TRIBO_WRAP_COUNT } TriboWrapKind;
typedef struct TriboWrapDef {
  TriboWrapKind kind;
  double radius;     // [m]; 0: the stretch is straight
  const char* body;  // that it is part of; NULL: the world
  double position[3], quaternion[4];
  const char* side_body;
  double side[3];  // a point on whose side the string passes; inside of the shape: the string passes inside. NAN: none
} TriboWrapDef;
TRIBO_API TriboWrapDef tribo_wrap_default(void);

// A tendon has a length: a weighted sum of joint positions, or that of a string through points of bodies. It is a
// spring and a damper along that length, and actuators may pull on it.
typedef struct TriboTendonDef {
  const char* name;           // unique among tendons; NULL: "tendon<n>"
  const char* const* joints;  // (njoint) one-dof joints, by full name: length = Σ coefs[i] q_i
  const double* coefs;        // (njoint)
  int njoint;
  const char* const* bodies;  // (npoint) or a string through these points, NULL: of the world
  const double* points;       // (npoint × 3) in the body frames
  int npoint;                 // 0, or at least 2
  const double* weights;  // (npoint) or NULL: what the segment from a point to the next counts, 1 by default. Behind a
                          // pulley with n branches 1/n, between two branches 0; the last one means nothing
  const TriboWrapDef* wraps;    // (npoint) or NULL: what the stretch from a point to the next goes around
  double stiffness, damping;    // [N/m, N·s/m, or per rad]
  double rest[2];               // slack between these two lengths; NAN: the length at the start
  double lower, upper;          // limits of its length, ±INFINITY: none
  double solref[2], solimp[5];  // MuJoCo's softness of the limits, as of a material; solref[0] = 0: rigid
  double force_min, force_max;  // what the sum of the forces of its actuators is cut off to
} TriboTendonDef;
TRIBO_API TriboTendonDef tribo_tendon_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_tendon(TriboScene* scene, const TriboTendonDef* def, int* id);

// A muscle pulls with −peak (F_L F_V a + F_P): curves of its length and speed, in optimal lengths.
typedef struct TriboMuscleDef {
  double peak;              // active force at rest [N]; below 0: scale over the acceleration that a unit force makes
  double scale;             // [m/s², rad/s²]
  double lengths[2];        // of what it pulls, between which it works [m, rad]; NAN: found from limits
  double range[2];          // the same in optimal lengths
  double lmin, lmax, vmax;  // between which lengths and up to which speed it pulls [L₀, L₀/s]
  double fpmax, fvmax;      // twice the passive force halfway to lmax, active force when stretched fast [peak]
} TriboMuscleDef;

// An actuator pushes a joint or pulls a tendon, of position l = gear · q or gear · length, with the force
// (gain · (1, l, l̇)) a + bias · (1, l, l̇) within its bounds; a is the control, or what follows the control in time.
// A thruster pushes a body, with gear times the wrench for each unit of that force; its l is 0, and l̇ is the velocity
// of the mount along the wrench. With a rod, a slider on a rail is driven that a crank, the body, holds by the rod.
typedef struct TriboActuatorDef {
  const char* name;                   // unique among actuators; NULL: "actuator<n>"
  const char *joint, *tendon, *body;  // one of them: a joint with one coordinate, a tendon, or a body
  double point[3], quaternion[4];     // of a body: the mount, in its frame
  double wrench[6];                   // of a body: force and torque, in axes of the mount
  double crank_length;  // of a body, above 0: a rod of this length joins the mount to a slider [m], l is where that is
  const char* slider_body;                 // the body on which the slider runs, NULL: the world
  double slider_point[3], slider_axis[3];  // a point and the direction of its line there
  double gear;
  double gain[3], bias[3];
  double ctrl;                // at the start
  double ctrl_min, ctrl_max;  // what a control is cut off to
  double force_min, force_max;
  TriboActivation activation;
  double time_constant;                  // FILTER, EXACT, MUSCLE [s] > 0
  double time_constant_down, smoothing;  // MUSCLE: where it falls [s] > 0; width of the change between the two
  double act_min, act_max;               // what the activation is cut off to
  int act_early;                         // 1: the activation of the end of the step acts
  int has_muscle;                        // 1: the force is that of the muscle, not of gain and bias
  TriboMuscleDef muscle;
} TriboActuatorDef;
TRIBO_API TriboActuatorDef tribo_actuator_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_actuator(TriboScene* scene, const TriboActuatorDef* def, int* id);

// A controller drives joints of one coordinate, along a trajectory or where they are at the start. Efforts stay within
// bounds; those of several controllers add up.
typedef struct TriboControllerDef {
  const char* name;  // unique among controllers; NULL: "controller<n>"
  TriboLaw law;
  const char* robot;          // names below are those of its joints, without "<robot>/"; NULL: full names
  const char* const* joints;  // (njoint) names or shell patterns ("leg_*"); none: all joints that follow no other one
  int njoint;
  double stiffness, damping;   // PD [N·m/rad, N·m·s/rad or N/m, N·s/m]; COMPUTED [1/s², 1/s]
  double effort;               // largest one [N·m, N]; NAN: the joint's
  const double* times;         // (nframe) of the trajectory, each after the one before [s]
  const char* const* columns;  // (ncolumn) joints that it moves; the others stay where they are at the start
  const double*
      frames;  // (nframe × ncolumn) [rad, m; EFFORT: N·m, N]; NAN: as before, in the first one as at the start
  int nframe, ncolumn;
  TriboInterpolation interpolation;  // outside of the times, the first or last frame holds
} TriboControllerDef;
TRIBO_API TriboControllerDef tribo_controller_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_controller(TriboScene* scene, const TriboControllerDef* def,
                                                                 int* id);
// The trajectory of a controller from a CSV file: a head line "t, joint, joint, …", then a line per frame. The scene
// keeps what it reads, so that def stays good as long as the scene does.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_read_trajectory(TriboScene* scene, const char* path,
                                                                  TriboControllerDef* def);

typedef struct TriboRobotDef {
  const char* name;    // its bodies and joints are called "<name>/<link>"
  const char* urdf;    // a file, or package://… of the example robots and of ROS_PACKAGE_PATH
  const char* srdf;    // NULL: none
  const char* attach;  // a link of another robot that carries it as a tool, "arm/wrist"; NULL: none
  double position[3];  // of the base, in the world or in the link that carries it
  double quaternion[4];
  int free_base;          // 0: the base is fixed; 1: it floats; 2: it floats when the root link has a mass of its own
  const char* reference;  // reference pose of the SRDF; NULL: zero configuration
  const char* material;
  int self_collision;
  int split_components;    // 1: a mesh collides as its parts that no triangle joins, each as its hull; 0: as one hull
  int vertices;            // of each hull at most so many, those that lie far apart; 0: all
  int use_joint_friction;  // 0: without the friction and damping that the file gives to joints
} TriboRobotDef;
TRIBO_API TriboRobotDef tribo_robot_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_robot(TriboScene* scene, const TriboRobotDef* def);
// Initial value of one joint coordinate, by full name ("arm/elbow").
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_set_joint(TriboScene* scene, const char* joint, double position,
                                                            double velocity);

TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_exclude(TriboScene* scene, const char* body_a, const char* body_b);

// A state with a name: where it differs from the start. A scene may start there, and tribo_data_restore_snapshot goes
// there.
typedef enum TriboValueKind {
  TRIBO_VALUE_POSITION,  // of a joint: its coordinate, or a quaternion; of a body that floats: position and quaternion
  TRIBO_VALUE_VELOCITY,  // of a joint; of a body that floats: of its centre of mass, and angular, world axes
  TRIBO_VALUE_CTRL,      // of an actuator: its control
  TRIBO_VALUE_ACT,       // of an actuator: its activation
  TRIBO_VALUE_COUNT
} TriboValueKind;
typedef struct TriboStateValue {
  TriboValueKind kind;
  const char* of;  // full name
  int n;           // numbers: 7 and 6 of a body that floats
  double x[7];
} TriboStateValue;
typedef struct TriboStateDef {
  const char* name;  // unique among states; NULL: "state<n>"
  double time;       // [s]
  const TriboStateValue* values;
  int nvalue;
} TriboStateDef;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_state(TriboScene* scene, const TriboStateDef* def, int* id);
// The scene begins in a state of its own. What is measured at the start (closures, slack of tendons) is not moved by
// it.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_start_at(TriboScene* scene, const char* state);

// A sensor reads up to four numbers. A mount is a point and an orientation in the frame of a body.
typedef struct TriboSensorDef {
  const char* name;  // unique among sensors; NULL: "sensor<n>"
  TriboSensorKind kind;
  const char *joint, *tendon, *actuator;  // by full name, where the kind needs one
  const char* body;                       // of the mount, or whose subtree; NULL: the world
  double point[3], quaternion[4];
  const char* ref_body;  // POSITION … ANGULAR_VELOCITY: the mount they are seen from; NULL: the world
  double ref_point[3], ref_quaternion[4];
  double field[3];  // COMPASS
  TriboVolume volume;
  double size[3];  // TOUCH: half axes of an ellipsoid, half sides of a box, radius and half length of the others [m];
                   // 0: all of the body
  double cutoff;   // readings are cut off here, to both sides; 0: nowhere
} TriboSensorDef;
TRIBO_API TriboSensorDef tribo_sensor_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_sensor(TriboScene* scene, const TriboSensorDef* def, int* id);

typedef struct TriboForceDef {
  const char* body;   // force and torque on a body …
  const char* joint;  // … or effort on a one-dof joint
  double force[3];    // [N] at the centre of mass
  double torque[3];   // [N·m]
  double effort;      // [N·m, N]
  double start, end;  // [s] active while start ≤ t < end
  int local;          // 1: force and torque in body axes
} TriboForceDef;
TRIBO_API TriboForceDef tribo_force_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_force(TriboScene* scene, const TriboForceDef* def);

// A quantity names one number of a simulation: "energy", "cube3: position.z", "elbow: q". See tribo_quantity_list.
typedef struct TriboRecordDef {
  const char* file;               // CSV; NULL: none is written, see tribo_recorder_row
  int every;                      // steps between rows, ≥ 1
  const char* const* quantities;  // (n) columns after t; none: all of q and v
  int nquantity;
} TriboRecordDef;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_record(TriboScene* scene, const TriboRecordDef* def);

// It stands in the world; or it is mounted on a body, then eye, target and up are meant in the body's axes; or it
// follows a body without turning with it, then they are meant in the world's axes, from the origin of the body.
typedef struct TriboCameraDef {
  const char* name;
  double eye[3], target[3], up[3];
  double fov;        // vertical [rad]
  const char* body;  // or link that it moves with; NULL: none
  int follow;        // 1: without turning
  const char* aim;   // body or link whose centre of mass it looks at, with `up` of the world; NULL: the target
} TriboCameraDef;
TRIBO_API TriboCameraDef tribo_camera_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_camera(TriboScene* scene, const TriboCameraDef* def);

// A physical fact the scene must show.
typedef enum TriboWhen {
  TRIBO_WHEN_END,
  TRIBO_WHEN_AT,
  TRIBO_WHEN_ALWAYS,
  TRIBO_WHEN_MAX,
  TRIBO_WHEN_MIN,
  TRIBO_WHEN_MEAN
} TriboWhen;
typedef struct TriboExpectDef {
  const char* quantity;  // "speed", with body or joint where it needs one
  const char* of;        // body, joint or closure; NULL for the world
  TriboWhen when;   // END: last state; AT: at time `from`; ALWAYS: every state of [from, to]; MAX, MIN, MEAN over it
  double from, to;  // [s]
  int change;       // 1: judge the change since the start, not the value
  double value;     // NAN: no value, only bounds
  double abs, rel;  // |measured − value| ≤ abs + rel |value|
  double min, max;  // NAN: none
} TriboExpectDef;
TRIBO_API TriboExpectDef tribo_expect_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_expect(TriboScene* scene, const TriboExpectDef* def);

// ---- model: compiled, const ----------------------------------------------------------------------------------------

typedef struct TriboModel TriboModel;
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
  double mass, com[3], inertia[6];  // in the body frame
  int q_at, v_at;                   // first coordinate of its joint or of the free body
  int block;                        // motion block: bodies of one tree share it
  int parent;                       // the link that it is welded to or hangs on by its joint, TRIBO_WORLD
} TriboBodyInfo;
typedef struct TriboJointInfo {
  const char* name;
  const char* kind;
  int parent;  // the link it hangs on, TRIBO_WORLD
  int body;    // the link it carries
  int q_at, nq, v_at, nv;
  double lower, upper, effort;                          // one-dof joints
  double armature, damping, friction, stiffness, rest;  // one-dof joints: at its first coordinate
  int actuator_gravity_compensation;                    // as in TriboJointDef
  double anchor[3], axis[3];  // where it turns or slides and about or along what, in the frame of the link it carries;
                              // axis: unit, one-dof joints, 0 for the others
} TriboJointInfo;
typedef struct TriboMotorInfo {
  int joint;
  double stiffness, damping, target, velocity, effort;  // as in TriboMotorDef, at the start
} TriboMotorInfo;
typedef struct TriboClosureInfo {
  const char* name;
  const char* kind;
  int body_a, body_b;               // TRIBO_WORLD: the world, or joints are tied
  double anchor_a[3], anchor_b[3];  // the points it holds together (or apart: distance), in the frames of the bodies
  int rows;                         // those along axes come first
  int nforce;                       // how many these are
  char redundant[80];  // rows that say nothing new at the initial state, "along y, about x"; "" for none. They are
                       // harmless: among the impulses that hold, the smallest are found
} TriboClosureInfo;
typedef struct TriboShapeInfo {
  const char* name;
  TriboShapeKind kind;
  double size[3];
  int body;                           // TRIBO_WORLD: static
  double position[3], quaternion[4];  // in the body frame
  double color[4];
  int texture;  // −1: none
  double repeat[2];
  int per_metre, hidden;
  int material;
  double surface[3];     // velocity of the surface, body axes [m/s]
  double spin[3];        // turning of the surface about the position, body axes [rad/s]
  double grain[3];       // of its friction, body axes
  const double* points;  // HULL, HEIGHTFIELD: (npoint × 3)
  const int* triangles;  // HULL, HEIGHTFIELD: (ntriangle × 3), outward
  int npoint, ntriangle;
} TriboShapeInfo;
// What is drawn beside the shapes: pose in the body frame, and for meshes all their triangles.
typedef struct TriboVisualInfo {
  const char* name;
  TriboShapeKind kind;  // HULL: the triangles below, which need not be convex
  double size[3];
  int body;  // TRIBO_WORLD: static
  double position[3], quaternion[4];
  double color[4];
  int texture;  // −1: none
  double repeat[2];
  int per_metre;
  const double* points;  // HULL: (npoint × 3)
  const double* uv;      // HULL: (npoint × 2) points of the texture, (0, 0) is its lower left corner; NULL: none
  const int* triangles;  // HULL: (ntriangle × 3), as the file has them
  int npoint, ntriangle;
} TriboVisualInfo;
TRIBO_API const TriboVisualInfo* tribo_model_visuals(const TriboModel* model, int* count);
typedef struct TriboTendonInfo {
  const char* name;
  double stiffness, damping, rest[2], lower, upper;
} TriboTendonInfo;
TRIBO_API const TriboTendonInfo* tribo_model_tendon(const TriboModel* model, int id);
typedef struct TriboActuatorInfo {
  const char* name;
  int joint, tendon, body;  // −1: not this one
  double ctrl_min, ctrl_max, force_min, force_max;
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

// ---- data: all that changes ----------------------------------------------------------------------------------------

typedef struct TriboData TriboData;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_create(const TriboModel* model, TriboData** out);
TRIBO_API void tribo_data_destroy(TriboData* data);
// Back to the scene's initial state; memory stays.
TRIBO_API void tribo_data_reset(const TriboModel* model, TriboData* data);

// The stages of a step, in order.
#define TRIBO_STAGES(X)                                          \
  X(DYNAMICS, "dynamics", "poses, mass matrices, free velocity") \
  X(BROAD, "broad", "which shapes may touch")                    \
  X(NARROW, "narrow", "where they do")                           \
  X(ROWS, "rows", "Jacobians, bias, cones")                      \
  X(ISLANDS, "islands", "independent groups, warm start")        \
  X(SOLVE, "solve", "the contact problem")                       \
  X(ADVANCE, "advance", "the next state")                        \
  X(LOOPS, "loops", "closures shut in the next state")           \
  X(CERTIFY, "certify", "residuals from raw data, what is told")
typedef enum TriboStage {
#define X(id, name, doc) TRIBO_STAGE_##id,
  TRIBO_STAGES(X)
#undef X
      TRIBO_STAGE_COUNT
} TriboStage;
TRIBO_API const char* tribo_stage_name(TriboStage stage);

typedef struct TriboStepInfo {
  TriboOutcome outcome;  // worst over the islands
  int certified;         // residual.nat ≤ max(tol, floor), the state is finite, closures are shut (1e-9, not Euler's)
  TriboResiduals residual;  // of the whole step, recomputed from raw data
  double penetration;       // deepest overlap or limit violation of the state the step began with [m, rad]
  double opening;           // of the widest open closure at the end of the step [m, rad]
  int passes;               // solves that the closures needed, 1 without any
  int substeps;  // 1: the step was taken in one; more: it had to be divided, what follows is the worst of all
  int chases;    // times it was solved again because its impulses brought new contacts about
  int contacts, rows, islands, pairs;
  int asleep;                       // bodies that were left out because they rest
  int iterations, factorisations;   // summed over the islands
  int softened;                     // islands whose rigid problem had no answer in reach: solved with a little give
  double levelled;                  // largest distance by which supports that contradict each other were changed [m]
  unsigned rungs;                   // bit per TriboRung that gave an island its answer
  double stage[TRIBO_STAGE_COUNT];  // wall time [s]; of short steps every eighth is asked
  double time;                      // of the whole step [s]
  uint64_t growths;                 // buffers that had to grow in this step
  char worst[96];                   // name of the constraint with the largest residual, "" without any
} TriboStepInfo;

// One step of the model's dt. On failure the state is as it was. info may be NULL.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_step(const TriboModel* model, TriboData* data, TriboStepInfo* info);

TRIBO_API double tribo_data_time(const TriboData* data);
TRIBO_API uint64_t tribo_data_hash(const TriboModel* model, const TriboData* data);  // of q, v and time

typedef enum TriboField {
  TRIBO_FIELD_Q,           // (nq)
  TRIBO_FIELD_V,           // (nv)
  TRIBO_FIELD_TAU,         // (nv) generalized forces applied at each step, set by tribo_data_set_tau
  TRIBO_FIELD_POSITION,    // (nbody × 3) of the body frames
  TRIBO_FIELD_QUATERNION,  // (nbody × 4)
  TRIBO_FIELD_VELOCITY,    // (nbody × 3) of the centres of mass
  TRIBO_FIELD_OMEGA,       // (nbody × 3) world axes
  TRIBO_FIELD_CTRL,        // (nactuator) controls, set by tribo_data_set_ctrl
  TRIBO_FIELD_ACT,         // (nactuator) activations, 0 where the control acts at once
  TRIBO_FIELD_ACTUATION,   // (nactuator) forces of the actuators at this state
  TRIBO_FIELD_TENDON,      // (ntendon) lengths at this state
} TriboField;
typedef struct TriboView {
  const double* values;
  int count;
} TriboView;
// Valid until the next step, reset or restore.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_view(const TriboModel* model, TriboData* data, TriboField field,
                                                      TriboView* view);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_state(const TriboModel* model, TriboData* data, const double* q,
                                                           const double* v);
// Moves the clock, by which the scene's forces are scheduled, to the step nearest to this time.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_time(const TriboModel* model, TriboData* data, double time);
// Where a motor is to be and how fast; stays until it is changed. Motors are numbered as they were added.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_motor(const TriboModel* model, TriboData* data, int motor,
                                                           double target, double velocity);
// A control; stays until it is changed.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_ctrl(const TriboModel* model, TriboData* data, int actuator,
                                                          double ctrl);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_act(const TriboModel* model, TriboData* data, int actuator,
                                                         double act);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_tau(const TriboModel* model, TriboData* data, const double* tau);
// A force and a torque about the centre of mass, world axes, added to the next step only.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_apply_wrench(const TriboModel* model, TriboData* data, int body,
                                                              const double force[3], const double torque[3]);

// Called at the beginning of every step, to look at the state and set inputs (tau, wrenches, motors, controls). A
// status other than OK is the step's, and nothing has happened. It stays over resets; fn NULL ends it.
typedef TriboStatus TriboControlFn(const TriboModel* model, TriboData* data, void* user);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_control(const TriboModel* model, TriboData* data,
                                                             TriboControlFn* fn, void* user);
// Where a controller wants a joint of its own to be at a time, how fast, and with what acceleration. Any may be NULL.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_model_wanted(const TriboModel* model, int controller, int joint,
                                                         double time, double* position, double* velocity,
                                                         double* acceleration);
// A force at a point of the world, added to the next step only.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_apply_force(const TriboModel* model, TriboData* data, int body,
                                                             const double force[3], const double point[3]);
// Puts a free body elsewhere, at the velocities given (of its centre of mass, and angular; NULL: at rest).
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_teleport(const TriboModel* model, TriboData* data, int body,
                                                          const double position[3], const double quaternion[4],
                                                          const double velocity[3], const double omega[3]);

// Bodies come and go between steps: a free body that is removed keeps its id and its place, weighs nothing and touches
// nothing until it is added again, somewhere. A scene holds as many spare bodies as it will ever need.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_remove_body(const TriboModel* model, TriboData* data, int body);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_add_body(const TriboModel* model, TriboData* data, int body,
                                                          const double position[3], const double quaternion[4],
                                                          const double velocity[3], const double omega[3]);

// With the world's `sleep`, free bodies at rest fall asleep: their state stays as it is, and until they wake they take
// no part in contacts, so that those among them show no force. Contact with a body that is awake, a force that changes,
// and the calls above wake a body together with all it leans on or carries; so does this one.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_wake(const TriboModel* model, TriboData* data, int body);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_asleep(const TriboModel* model, const TriboData* data, int body,
                                                        int* asleep);

typedef enum TriboContactMode { TRIBO_CONTACT_OPEN, TRIBO_CONTACT_STICK, TRIBO_CONTACT_SLIDE } TriboContactMode;
typedef struct TriboContactView {
  int body_a, body_b, shape_a, shape_b;
  double point[3], normal[3];  // normal from a to b
  double gap;                  // [m]
  double force[3];             // on b [N]
  double friction;             // μ of the pair
  TriboContactMode mode;
  int island;
} TriboContactView;
// The contacts of the last step, or of inverse dynamics after it.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_contacts(const TriboModel* model, const TriboData* data,
                                                          const TriboContactView** contacts, int* count);

// What two shapes did to each other in the last step. A pair that touched at its end and does so still has neither
// began nor ended; one that touched only within the step has both.
typedef struct TriboContactEvent {
  int body_a, body_b, shape_a, shape_b;
  int began;          // 1: they did not touch at the end of the step before
  int ended;          // 1: they do not touch at the end of this one
  double impulse[3];  // on b, over the whole step [N·s]
  double pressure;    // of it, along the normals of the contacts [N·s]
  double point[3];    // the middle of their contacts, by pressure; 0 when there was none
} TriboContactEvent;
// Sorted by shapes. None after a reset, a restore or a step that failed.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_events(const TriboModel* model, const TriboData* data,
                                                        const TriboContactEvent** events, int* count);
// The mean force of all contacts on a body in the last step, and their torque about its centre of mass, world axes.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_contact_wrench(const TriboModel* model, const TriboData* data,
                                                                int body, double force[3], double torque[3]);

// The group of coupled constraints a body was in in the last step; −1: nothing touched it.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_island(const TriboModel* model, const TriboData* data, int body,
                                                        int* island);
// Residuals iteration by iteration of the steps to come, as tribo_solver_set_history: island by island in each step,
// and from any worker thread. It costs an evaluation per iteration; fn NULL ends it.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_history(const TriboModel* model, TriboData* data,
                                                             TriboSolverHistoryFn* fn, void* user);

// What a closure carried in the last step, by row (TriboClosureInfo.rows of 6): forces along its axes, then torques
// [N, N·m].
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_closure_force(const TriboModel* model, const TriboData* data,
                                                               int closure, const double** force);

// ---- sensors. A mount is a point and an orientation in the frame of a body.

typedef struct TriboFrame {
  double position[3], quaternion[4];  // of the mount
  double velocity[3], omega[3];       // of its point; world axes
} TriboFrame;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_frame(const TriboModel* model, TriboData* data, int body,
                                                       const double point[3], const double quaternion[4],
                                                       TriboFrame* out);
typedef struct TriboImu {
  double accelerometer[3];  // acceleration minus gravity, mean over the last step, axes of the mount [m/s²]
  double gyroscope[3];      // angular velocity, axes of the mount [rad/s]
} TriboImu;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_imu(const TriboModel* model, TriboData* data, int body,
                                                     const double point[3], const double quaternion[4], TriboImu* out);
// What the parent's side of a joint exerts on the child's at the joint's anchor: mean over the last step, world axes,
// with what drives the joint in it, without the inertia of its rotor. Not for models with closures or limited tendons.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_joint_wrench(const TriboModel* model, TriboData* data, int joint,
                                                              double force[3], double torque[3]);
// How hard others press on a shape: the sum of the normal forces, mean over the last step [N].
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_touch(const TriboModel* model, const TriboData* data, int shape,
                                                       double* force);

// A sensor of the scene. Those that read means over a step read 0 before the first.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_sensor(const TriboModel* model, TriboData* data, int sensor,
                                                        double reading[4]);

// The contact problem of the last step, as the solvers saw it before it was split into islands; it points into the data
// and lives until the next step. A data that has not stepped has none: nrow is 0.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_problem(const TriboModel* model, const TriboData* data,
                                                         TriboProblem* out);

typedef struct TriboMechanics {
  double kinetic, potential;       // [J]
  double momentum[3], angular[3];  // about the world's origin
  double com[3], mass;
} TriboMechanics;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_mechanics(const TriboModel* model, TriboData* data,
                                                           TriboMechanics* out);

// The terms of M(q) v̇ + b(q, v) = passive + actuation + …  at the present state, without constraints. Each may be NULL.
typedef struct TriboTerms {
  double* mass;       // (nv × nv) armature included
  double* bias;       // (nv) Coriolis, centrifugal and gravity forces
  double* passive;    // (nv) springs, dampers, tendons, drag
  double* actuation;  // (nv) of the actuators; motors are constraints
} TriboTerms;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_terms(const TriboModel* model, TriboData* data, const TriboTerms* out);

// ---- inverse dynamics: which torques and contact forces make a wanted motion
// -----------------------------------------

typedef struct TriboInverseOptions {
  const unsigned char* driven;  // (nv) 1: a torque acts there; NULL: on all joints but floating bases. Free bodies: 0
  double tol;                   // speeds below are 0: what touches and what slides [m/s, rad/s]
  int acceleration;             // 1: the wish is an acceleration, v⁺ = v + dt · wish
  int drives;                   // 1: the scene's motors and actuators act too, and torques are what they leave to do
  int nearest;                  // 1: a wish that is not feasible gives way to the nearest motion that is
  int span;                     // 1: tell which torques the motion leaves open
  int lead;                     // 1: the next step starts from these impulses: of several answers it finds this one
} TriboInverseOptions;
TRIBO_API TriboInverseOptions tribo_inverse_default(void);

// Everything points into the data and stays until its next step or inverse.
typedef struct TriboInverse {
  int feasible;                      // 1: a step with these torques makes the wish, within tol
  const double* tau;                 // (nv) on driven velocities; 0 on the others [N·m, N]
  const double* missing;             // (nv) on velocities without drive: what the wish lacks [N·m, N]
  const double* v_next;              // (nv) the wish, or the motion that took its place
  double deviation;                  // largest difference between the wish and what a step makes of it [m/s, rad/s]
  double distance;                   // of the two in the norm √(yᵀM y) [√J]
  double penetration;                // fastest approach of what cannot come closer: contacts and limits [m/s, rad/s]
  double opening;                    // speed at which the wish opens closures [m/s, rad/s]
  const TriboContactView* contacts;  // (ncontact) forces and modes
  int ncontact;
  TriboResiduals residual;  // of the forward problem of a step with these torques, judged as a step's is
  int passes, iterations;
  int nspan;           // dimension of the set of torques that can be added without moving anything, cones aside
  const double* span;  // (nspan × nv) orthonormal
} TriboInverse;
// From the present state; it does not change, but for the impulses a step starts from if `lead` is set. wish (nv): the
// velocity after the model's dt. The problem of the last step is forgotten, and its contacts give way to those of the
// wish, so that the viewer draws their forces.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_inverse_dynamics(const TriboModel* model, TriboData* data,
                                                             const double* wish, const TriboInverseOptions* options,
                                                             TriboInverse* out);

// ---- state ---------------------------------------------------------------------------------------------------------

// Everything a simulation needs to go on with the same bits: time, q, v and the warm start.
typedef struct TriboState TriboState;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_state_create(TriboState** out);
TRIBO_API void tribo_state_destroy(TriboState* state);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_state_save(const TriboModel* model, const TriboData* data,
                                                       TriboState* state);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_state_restore(const TriboModel* model, TriboData* data,
                                                          const TriboState* state);
// The present state under a name, in the data; recall restores it. An old one of the same name is replaced. States of
// the scene are recalled by their names too, with their controls, and everything else as after a reset.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_snapshot(const TriboModel* model, TriboData* data, const char* name);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_restore_snapshot(const TriboModel* model, TriboData* data,
                                                                  const char* name);
// Files carry a version and the model's fingerprint, and are refused where they do not fit.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_state_write(const TriboState* state, const char* path);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_state_read(const char* path, TriboState* state);

// ---- quantities, recorders, expectations ---------------------------------------------------------------------------

typedef struct TriboQuantityInfo {
  const char* name;  // "position.z"
  const char* of;    // "world", "body", "joint", "closure" or "sensor"
  const char* unit;
  const char* doc;
} TriboQuantityInfo;
TRIBO_API const TriboQuantityInfo* tribo_quantity_list(int* count);
typedef struct TriboQuantity {
  int kind, id;  // filled by tribo_quantity_find
} TriboQuantity;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_quantity_find(const TriboModel* model, const char* name, const char* of,
                                                          TriboQuantity* out);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_quantity_value(const TriboModel* model, TriboData* data, TriboQuantity what,
                                                           double* value);

typedef struct TriboRecorder TriboRecorder;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_recorder_open(const TriboModel* model, const TriboRecordDef* def,
                                                          TriboRecorder** out);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_recorder_observe(TriboRecorder* recorder, TriboData* data);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_recorder_close(TriboRecorder* recorder);  // flushes; also frees on failure
// For other formats: a recorder without a file only knows its columns. The first one is t.
TRIBO_API int tribo_recorder_size(const TriboRecorder* recorder);
TRIBO_API const char* tribo_recorder_column(const TriboRecorder* recorder, int index);  // NULL: no such column
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_recorder_row(TriboRecorder* recorder, TriboData* data, double* row);

typedef struct TriboJudge TriboJudge;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_judge_create(const TriboModel* model, TriboJudge** out);
TRIBO_API void tribo_judge_destroy(TriboJudge* judge);
// To be called with the initial state and after every step.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_judge_observe(TriboJudge* judge, TriboData* data);
typedef struct TriboVerdict {
  char quantity[160];  // "cube4: speed, max over [1, 5] s"
  char expected[96];   // "≤ 1e-08"
  double measured;     // the value furthest from what is expected
  double error;        // how far it is from the expected value, or outside the bounds
  double tolerance;
  int held;
} TriboVerdict;
TRIBO_API int tribo_judge_count(const TriboJudge* judge);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_judge_verdict(const TriboJudge* judge, int index, TriboVerdict* out);

// ---- the scene format, for documentation and editors ---------------------------------------------------------------

typedef struct TriboFormatRow {
  const char* section;
  const char* section_doc;
  const char* key;
  const char* doc;
  char type[32];    // "3 numbers"
  char range[512];  // "(0, 1] s", "midpoint, euler"
  char init[96];    // default, "" when there is none
} TriboFormatRow;
// Row by row in the order of the documentation; 0 when index is past the last one.
TRIBO_API int tribo_scene_format(int index, TriboFormatRow* out);

// ---- versions ------------------------------------------------------------------------------------------------------

TRIBO_API const char* tribo_version(void);            // "0.1.0"
TRIBO_API const char* tribo_version_libraries(void);  // one line per library in use

#ifdef __cplusplus
}
#endif
