// Tribo, public: the scene, what the user says. Built call by call or loaded from a file, then compiled into a model.
//
// Ownership. A scene belongs to whoever created or loaded it, until tribo_scene_destroy (NULL is allowed). Every add
// and set call copies the def and all that it points to (texts, points, heights, trajectories): nothing of the
// caller's is kept. A def from a default function has no name and nothing to free. Ids count up from 0 in the order of
// the calls; the id arguments of the add calls may be NULL.
//
// Threads. A scene is used by one thread at a time; different scenes by different threads. The default functions and
// the tables of settings and of the format may be called from everywhere.
//
// Units are SI and frames the world's where a field does not say another. solref and solimp are MuJoCo's softness, a
// spring-damper in units of acceleration.
#pragma once

#include <tribo/base.h>
#include <tribo/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TRIBO_WORLD = -1 };  // the body id of everything that never moves

typedef struct TriboScene TriboScene;
// *out is NULL after a failure, here and in the loading calls; the log is used during the call only.
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
  X(REAL, erp, 0.2, 0, 1, 0, "", "fraction of a penetration or limit violation undone per step")                       \
  X(REAL, slop, 1e-6, 0, 1, 0, "m", "penetration that is left alone")                                                  \
  X(REAL, depenetration_max, 1, 0, 1e6, 0, "m/s", "fastest push-out of an overlap or limit violation")                 \
  X(REAL, bounce_min, 0.01, 0, 1e6, 0, "m/s", "impact speed below which nothing rebounds; at least 2 g dt is used")    \
  X(REAL, margin, 1e-3, 0, 1, 1, "m", "contacts are created this far ahead of touching")                               \
  X(REAL, tol, 1e-10, 0, 1, 1, "m/s", "natural-map residual that a solve aims at")                                     \
  X(REAL, accept, 1e-6, 0, 1, 0, "m/s",                                                                                \
    "largest residual of a certified step, with which a solve by auto ends that comes no nearer to tol")               \
  X(REAL, effort, 0, 0, 1e300, 0, "flop",                                                                              \
    "most floating-point operations of a solve by auto before its best answer is used; 0: 400 factorisations of it")   \
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
  double gravity[3];  // acceleration, world axes [m/s²]
  double wind[3];     // velocity of the medium, world axes [m/s]
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
// Belongs to the scene, and shows what is set later too.
TRIBO_API const TriboWorldDef* tribo_scene_world(const TriboScene* scene);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_set_world(TriboScene* scene, const TriboWorldDef* def);
// A setting by name: a world setting, `solver.KEY` for one of the chosen solver's, `material.NAME.KEY` for a number of
// a material.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_set(TriboScene* scene, const char* key, double value);

typedef struct TriboMaterialDef {
  const char* name;    // unique among materials; "default" is there from the start and may be given new values
  double friction;     // μ ≥ 0, default 0.5
  double friction2;    // μ across the direction `grain` of the shape; 0: as friction
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
  const char* name;      // unique; NULL: "body<n>"
  double position[3];    // of the body frame, world [m]
  double quaternion[4];  // of the body frame, body → world (x, y, z, w)
  double velocity[3];    // of the centre of mass, world axes [m/s]
  double omega[3];       // angular velocity, world axes [rad/s]
  double mass;           // [kg] ≥ 0; NAN: from the shapes' densities; 0: a part of a mechanism that others hang on
  double com[3];         // centre of mass in the body frame [m]; NAN: from the shapes
  double inertia[6];  // xx yy zz xy xz yz about the centre of mass, in `axes` [kg·m²]; NAN: from the shapes, scaled to
                      // mass
  double axes[4];               // quaternion, in the body frame, of the axes that inertia is given in
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
// What is drawn over the pattern.
typedef enum TriboPatternMark {
  TRIBO_PATTERN_MARK_NONE,
  TRIBO_PATTERN_MARK_EDGE,   // a line along the rim
  TRIBO_PATTERN_MARK_CROSS,  // two lines through the middle
  TRIBO_PATTERN_MARK_DOTS    // one pixel of a hundred
} TriboPatternMark;
typedef struct TriboTextureDef {
  const char* name;  // unique among textures
  TriboTextureKind kind;
  const char* file;  // PNG or JPEG; NULL: the pattern
  TriboPattern pattern;
  TriboPatternMark pattern_mark;
  double color[3], color2[3], pattern_mark_color[3];  // r g b in [0, 1]
  int width, height;                                  // pixels of the pattern, 1 … 8192
} TriboTextureDef;
TRIBO_API TriboTextureDef tribo_texture_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_texture(TriboScene* scene, const TriboTextureDef* def, int* id);

typedef struct TriboShapeDef {
  const char* name;  // NULL: "<body>.shape<n>"
  TriboShapeKind kind;
  double size[3];        // see TriboShapeKind [m]
  const double* points;  // HULL: (npoint × 3) in the shape frame [m], copied
  int npoint;
  const double* heights;  // HEIGHTFIELD: (ny × nx) along z of the shape [m], row by row towards +y, x fastest; copied
  int nx, ny;
  const TriboSdfDef* sdf;  // SDF: its tree, copied
  int contacts;            // SDF: most contacts with another shape, 24 … 1024; 0: 64, with a thread 128
  double margin;           // SDF: how far ahead of touching its contacts are made, if less than the world's margin [m];
                           // NAN: the world's, with a thread a hundredth of its pitch
  const char* mesh;        // HULL: an STL, OBJ or DAE file instead of points
  int split_components;    // of a mesh: 1 takes every part that no triangle joins as a convex shape of its own
  int vertices;            // HULL: at most so many, those that lie far apart; 0: all
  double scale[3];         // of the mesh, along its axes
  double position[3];      // of the shape frame, in the body frame [m]
  double quaternion[4];    // shape → body
  const char* material;    // NULL: "default"
  double contact_offset;   // contacts act this far outside of it: bodies rest at the sum of their offsets [m]
  double surface[3];       // velocity of the surface against its body, in body axes: a conveyor belt [m/s]
  double spin[3];          // and its turning about the position of the shape: a turntable [rad/s]
  double grain[3];         // direction in body axes along which `friction` acts, where the material has a friction2
  double density;          // [kg/m³] ≥ 0, for bodies without a mass
  double color[4];         // r g b a in [0, 1]
  const char* texture;     // that the colour is multiplied with; NULL: none
  double repeat[2];        // of a flat texture: how often it fits across the shape, 1 when not given
  int per_metre;           // 1: into a metre
  int use_file_colors;     // of a visual mesh, 1: colours and textures are those of its file
  int hidden;              // 1: something else is there to be looked at; drawn among what collides only
  unsigned group, mask;    // two shapes collide when each one's group is in the other's mask
} TriboShapeDef;
TRIBO_API TriboShapeDef tribo_shape_default(void);
TRIBO_API TriboSdfDef tribo_sdf_default(void);  // a sphere of 1 m; of threads one start, of prisms six sides
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_shape(TriboScene* scene, int body, const TriboShapeDef* def,
                                                            int* id);

// A shape that is drawn and nothing else: it has no mass and touches nothing. A mesh is drawn as it is, not as its
// hull.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_visual(TriboScene* scene, int body, const TriboShapeDef* def,
                                                             int* id);

// A joint makes its two bodies links of one tree (reduced coordinates). The poses of the bodies are the zero
// configuration; anchor and axes are given in the world at that pose. A body has at most one parent joint.
typedef struct TriboJointDef {
  const char* name;          // unique among joints; NULL: "joint<n>"
  TriboJointKind kind;       // FREE: of a child of the world that floats, for its damping, friction and armature
  int parent, child;         // body ids; parent may be TRIBO_WORLD
  double anchor[3];          // a point of the joint, world, at the zero configuration [m]
  double axis[3], axis2[3];  // of any length, world, at the zero configuration
  double pitch;              // HELICAL [m/rad]
  double radii[3];  // ELLIPSOID [m]: it belongs to the parent and lies along the axes that the child has at the start;
                    // the anchor is its point farthest along z, where the child's point that stays on it begins
  double armature;  // rotor inertia reflected at the joint [kg·m², kg]
  double damping;   // [N·m·s/rad, N·s/m]
  double friction;  // dry friction: largest effort [N·m, N]
  double stiffness, rest;  // a spring, and the position at which it is slack [N·m/rad, N/m; rad, m]; SPHERICAL: rest 0
  double lower, upper;     // limits [rad, m], ±INFINITY: none. UNIVERSAL, TRANSLATION, EULER, ELLIPSOID: of each
                           // coordinate; CYLINDRICAL: along the axis; PLANAR: of x and y each; SPHERICAL: upper is the
                           // largest angle away from the zero configuration; CONTINUOUS: none
  double restitution;      // fraction of the speed that comes back from a limit, 0 … 1
  double solref[2], solimp[5];  // MuJoCo's softness of the limits, as of a material; solref[0] = 0: rigid
  double effort;  // largest one of its actuators together, and of a motor or controller that says none [N·m, N]
  int actuator_gravity_compensation;  // 1: its actuators bring that of the bodies that it carries, within `effort`
  double position, velocity;          // initial, one-dof joints [rad, m], [rad/s, m/s]
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
  double anchor[3];               // world [m]; DISTANCE: the point on body_a
  double anchor2[3];              // world [m]; DISTANCE: the point on body_b
  double axis[3];                 // world, of any length: HINGE, SLIDER, CYLINDRICAL, PLANAR (its normal), UNIVERSAL
  double axis2[3];                // UNIVERSAL: of body_b, at a right angle to axis
  double length;                  // DISTANCE [m]; NAN: as far as the points are apart
  const char *joint_a, *joint_b;  // GEAR, MIMIC: one-dof joints
  double ratio, offset;           // q_b = ratio q_a + offset; GEAR: the offset is taken from the start
  double curve[3];                // MIMIC: and curve[0] q_a² + curve[1] q_a³ + curve[2] q_a⁴
  double solref[2], solimp[5];    // MuJoCo's softness, as of a material; solref[0] = 0: it never opens
  // HINGE, SLIDER, CYLINDRICAL, PLANAR, UNIVERSAL, BALL, CARTESIAN, GIMBAL: all that a joint has, as in TriboJointDef.
  // A closure with any of it, or whose name is a joint's elsewhere (in a motor, actuator, controller, sensor, force,
  // tendon, state, gear, or in a quantity q, v or effort), is a joint of that name. Its coordinates count from the
  // start, those of body_b against body_a.
  double armature, damping, friction;
  double stiffness, rest;
  double lower, upper;
  double restitution;
  double limit_solref[2], limit_solimp[5];  // of its limits
  double effort;
  double position;  // HINGE, SLIDER: what its coordinate is at the start [rad, m]
} TriboClosureDef;
TRIBO_API TriboClosureDef tribo_closure_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_closure(TriboScene* scene, const TriboClosureDef* def, int* id);

// A motor holds or turns a joint, or a closure of one coordinate, as a spring and a damper would, within its effort,
// implicitly: τ = −k (q − target) − d (q̇ − velocity), |τ| ≤ effort. Stiff gains are no danger; k = 0 controls the
// velocity.
typedef struct TriboMotorDef {
  const char* joint;          // one-dof joint or closure, by full name
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
  double radius;                      // [m]; 0: the stretch is straight
  const char* body;                   // that it is part of; NULL: the world
  double position[3], quaternion[4];  // in the frame of that body [m]
  const char* side_body;              // in whose frame `side` is; NULL: the world
  double
      side[3];  // [m] a point on whose side the string passes; inside of the shape: the string passes inside. NAN: none
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
  const double* points;       // (npoint × 3) in the body frames [m]
  int npoint;                 // 0, or at least 2
  const double* weights;  // (npoint) or NULL: what the segment from a point to the next counts, 1 by default. Behind a
                          // pulley with n branches 1/n, between two branches 0; the last one means nothing
  const TriboWrapDef* wraps;    // (npoint) or NULL: what the stretch from a point to the next goes around
  double stiffness, damping;    // [N/m, N·s/m, or per rad]
  double rest[2];               // slack between these two lengths [m, rad]; NAN: the length at the start
  double lower, upper;          // limits of its length [m, rad], ±INFINITY: none
  double solref[2], solimp[5];  // MuJoCo's softness of the limits, as of a material; solref[0] = 0: rigid
  double force_min, force_max;  // what the sum of the forces of its actuators is cut off to [N, N·m]
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
  double point[3], quaternion[4];     // of a body: the mount, in its frame [m]
  double wrench[6];                   // of a body: force and torque per unit, in axes of the mount
  double crank_length;  // of a body, above 0: a rod of this length joins the mount to a slider [m], l is where that is
  const char* slider_body;                 // the body on which the slider runs, NULL: the world
  double slider_point[3], slider_axis[3];  // a point and the direction of its line in that frame [m]
  double gear;                             // l over q or length
  double gain[3], bias[3];                 // of (1, l, l̇), see above
  double ctrl;                             // control at the start, in units of its own
  double ctrl_min, ctrl_max;               // what a control is cut off to
  double force_min, force_max;             // what the force is cut off to, before the gear [N, N·m]
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

// A task of a controller with the law TASK. Errors obey ë + damping ė + stiffness e = 0 where nothing is in the way and
// no other task asks for more.
enum { TRIBO_TASK_COLUMNS = 18 };  // of a keyframe: six values, their rates, the rates of these
typedef struct TriboTaskDef {
  TriboTaskKind kind;
  const char* name;           // unique within the controller; NULL: the word of its kind
  const char* of;             // the body, by full name; COM, MOMENTUM, POSTURE: NULL
  double point[3];            // of it, in its frame [m]
  int axes;                   // bits: 1 x, 2 y, 4 z, 8 about x, 16 about y, 32 about z, of the world; 0: all
  double stiffness, damping;  // [1/s²], [1/s]; VELOCITY, MOMENTUM: damping alone
  double weight;              // of its squared error; FORCE: of an impulse [N·s] against speeds [m/s]
  double normal;              // FORCE: wanted normal force, without keyframes [N]
  double start, ramp;         // FORCE: when it begins to rise, and for how long [s]
  int relative;               // 1: positions and angles count from where the body is at the start
  const double* times;        // (nframe) each after the one before [s]
  const double* frames;       // (nframe × TRIBO_TASK_COLUMNS) x, y, z [m] and roll, pitch, yaw [rad]; FORCE: the force
                              // first [N]; VELOCITY, MOMENTUM: linear, then angular. NAN: as at the start. In between
                              // polynomials of degree five
  int nframe;
} TriboTaskDef;
TRIBO_API TriboTaskDef tribo_task_default(void);

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
  const TriboTaskDef* tasks;         // (ntask) TASK
  int ntask;
  TriboTaskContacts contacts;  // TASK
  double horizon;              // TASK: contacts closer than this are reckoned with [m]
  double torque_weight;        // TASK: factor of the impulses of the drives, beside the roots of the tasks' weights
  double mode_margin;          // TASK: relative gain below which other modes are not better
  int flips, programs;         // TASK: as TriboQpccSettings has them; programs of one step at most
} TriboControllerDef;
TRIBO_API TriboControllerDef tribo_controller_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_controller(TriboScene* scene, const TriboControllerDef* def,
                                                                 int* id);
// The trajectory of a controller from a CSV file: a head line "t, joint, joint, …", then a line per frame. The scene
// owns what def points to afterwards: it is valid as long as the scene is.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_read_trajectory(TriboScene* scene, const char* path,
                                                                  TriboControllerDef* def);

typedef struct TriboRobotDef {
  const char* name;        // its bodies and joints are called "<name>/<link>"
  const char* urdf;        // a file, or package://… of the example robots and of ROS_PACKAGE_PATH
  const char* srdf;        // NULL: none
  const char* attach;      // a link of another robot that carries it as a tool, "arm/wrist"; NULL: none
  double position[3];      // of the base, in the world or in the link that carries it [m]
  double quaternion[4];    // of the base, there
  int free_base;           // 0: the base is fixed; 1: it floats; 2: it floats when the root link has a mass of its own
  const char* reference;   // reference pose of the SRDF; NULL: zero configuration
  const char* material;    // of all its shapes; NULL: "default"
  int self_collision;      // 1: its links collide with each other
  int split_components;    // 1: a mesh collides as its parts that no triangle joins, each as its hull; 0: as one hull
  int vertices;            // of each hull at most so many, those that lie far apart; 0: all
  int use_joint_friction;  // 0: without the friction and damping that the file gives to joints
} TriboRobotDef;
TRIBO_API TriboRobotDef tribo_robot_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_robot(TriboScene* scene, const TriboRobotDef* def);
// Initial value of one joint coordinate [rad, m; rad/s, m/s], by full name ("arm/elbow").
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_set_joint(TriboScene* scene, const char* joint, double position,
                                                            double velocity);

// Two bodies, by full name, that never collide.
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
  double x[7];     // as in the enum [rad, m, rad/s, m/s], world
} TriboStateValue;
typedef struct TriboStateDef {
  const char* name;               // unique among states; NULL: "state<n>"
  double time;                    // [s]
  const TriboStateValue* values;  // (nvalue)
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
  double point[3], quaternion[4];         // of the mount, in the frame of that body [m]
  const char* ref_body;  // POSITION … ANGULAR_VELOCITY: the mount they are seen from; NULL: the world
  double ref_point[3], ref_quaternion[4];  // of that mount, in the frame of ref_body [m]
  double field[3];                         // COMPASS: world axes, in any unit
  TriboVolume volume;                      // TOUCH: around the mount
  double size[3];  // TOUCH: half axes of an ellipsoid, half sides of a box, radius and half length of the others [m];
                   // 0: all of the body
  double cutoff;   // readings are cut off here, to both sides; 0: nowhere
} TriboSensorDef;
TRIBO_API TriboSensorDef tribo_sensor_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_sensor(TriboScene* scene, const TriboSensorDef* def, int* id);

typedef struct TriboForceDef {
  const char* body;   // force and torque on a body …
  const char* joint;  // … or effort on a one-dof joint
  double force[3];    // at the centre of mass, world axes [N]
  double torque[3];   // world axes [N·m]
  double effort;      // [N·m, N]
  double start, end;  // [s] active while start ≤ t < end
  int local;          // 1: force and torque in body axes
  int ramp;           // 1: it grows from 0 at the start to all of it at the end
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
  const char* name;                 // NULL: "camera<n>"
  double eye[3], target[3], up[3];  // where it is, what it looks at [m], what is up in the picture
  double fov;                       // vertical [rad]
  const char* body;                 // or link that it moves with; NULL: none
  int follow;                       // 1: without turning
  const char* aim;  // body or link whose centre of mass it looks at, with `up` of the world; NULL: the target
} TriboCameraDef;
TRIBO_API TriboCameraDef tribo_camera_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_camera(TriboScene* scene, const TriboCameraDef* def);

// When it must hold, see TriboExpectDef.
typedef enum TriboWhen {
  TRIBO_WHEN_END,
  TRIBO_WHEN_AT,
  TRIBO_WHEN_ALWAYS,
  TRIBO_WHEN_MAX,
  TRIBO_WHEN_MIN,
  TRIBO_WHEN_MEAN
} TriboWhen;
// A physical fact the scene must show.
typedef struct TriboExpectDef {
  const char* quantity;  // "speed", with body or joint where it needs one
  const char* of;        // body, joint or closure; NULL for the world
  TriboWhen when;   // END: last state; AT: at time `from`; ALWAYS: every state of [from, to]; MAX, MIN, MEAN over it
  double from, to;  // [s]
  int change;       // 1: of the change since the start, not of the value
  double value;     // in the unit of the quantity; NAN: no value, only bounds
  double abs, rel;  // |measured − value| ≤ abs + rel |value|; abs in the unit of the quantity
  double min, max;  // in the unit of the quantity; NAN: none
} TriboExpectDef;
TRIBO_API TriboExpectDef tribo_expect_default(void);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_scene_add_expect(TriboScene* scene, const TriboExpectDef* def);

// ---- the scene format, for documentation and editors ---------------------------------------------------------------

typedef struct TriboFormatRow {
  const char* section;
  const char* section_doc;
  const char* key;
  const char* doc;
  char type[32];    // "3 numbers"
  char range[512];  // "(0, 1] s", "variational, euler"
  char init[96];    // default, "" when there is none
} TriboFormatRow;
// Row by row in the order of the documentation; texts last for ever. 0 when index is past the last one.
TRIBO_API int tribo_scene_format(int index, TriboFormatRow* out);

#ifdef __cplusplus
}
#endif
