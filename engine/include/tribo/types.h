// Tribo, public: the enumerations that scenes, models and rooms share.
#pragma once

#include <tribo/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// Shapes; sizes in metres.
typedef enum TriboShapeKind {
  TRIBO_SHAPE_SPHERE,       // size: radius
  TRIBO_SHAPE_BOX,          // size: full lengths x, y, z
  TRIBO_SHAPE_CAPSULE,      // size: radius, length without caps; axis z, centred
  TRIBO_SHAPE_CYLINDER,     // size: radius, length; axis z, centred
  TRIBO_SHAPE_CONE,         // size: radius, length; axis z, centred, apex at +length/2
  TRIBO_SHAPE_ELLIPSOID,    // size: half axes x, y, z
  TRIBO_SHAPE_HULL,         // convex hull of points or of a mesh file
  TRIBO_SHAPE_SDF,          // by its signed distance field, of any form: TriboSdfDef
  TRIBO_SHAPE_HALFSPACE,    // solid where z ≤ 0 of its frame; never moves
  TRIBO_SHAPE_HEIGHTFIELD,  // size: lengths x, y; heights over that rectangle, centred, solid below; never moves
  TRIBO_SHAPE_COUNT
} TriboShapeKind;

// Signed distance fields: solids by the distance φ of a point to their surface, φ < 0 inside. A field is a tree of
// them.
typedef enum TriboSdfKind {
  TRIBO_SDF_SPHERE,        // size: radius
  TRIBO_SDF_BOX,           // size: full lengths x, y, z
  TRIBO_SDF_CAPSULE,       // size: radius, length without caps; axis z, centred
  TRIBO_SDF_CYLINDER,      // size: radius, length; axis z, centred
  TRIBO_SDF_CONE,          // size: radius, length; axis z, centred, apex at +length/2
  TRIBO_SDF_ELLIPSOID,     // size: half axes x, y, z
  TRIBO_SDF_PLANE,         // solid where z ≤ 0; a part of an intersection or of what is subtracted
  TRIBO_SDF_PRISM,         // size: width across flats, length; axis z, centred, a flat at +x; sides: how many
  TRIBO_SDF_THREAD,        // size: diameter, length; axis z, centred: a bolt. With `across`, a nut around it
  TRIBO_SDF_REVOLVED,      // what lies within `pad` of a polyline in the half plane (r, z), turned about z
  TRIBO_SDF_UNION,         // what is in any of its parts
  TRIBO_SDF_INTERSECTION,  // what is in all of them
  TRIBO_SDF_SUBTRACT,      // what is in the first and in no other
  TRIBO_SDF_OFFSET,        // its part with the surface moved outwards by `by`, inwards if negative
  TRIBO_SDF_COUNT
} TriboSdfKind;

typedef struct TriboSdfDef TriboSdfDef;
struct TriboSdfDef {
  TriboSdfKind kind;
  double size[3];         // as TriboSdfKind says [m]
  double round;           // BOX, CYLINDER, PRISM: radius of all edges, which the size contains [m]
  int sides;              // PRISM: 3 … 64
  double pitch;           // THREAD: from crest to crest [m]
  double clearance;       // THREAD: the profile is grown by it, for the hole of a nut [m]
  double across;          // THREAD: > 0 makes it the hole of a hexagon nut of this width across flats [m]
  int starts;             // THREAD: how many helices, 1 … 8; a turn leads by starts × pitch
  int left_hand;          // THREAD: 1: turned the other way
  const double* profile;  // REVOLVED: (nprofile × 2) r ≥ 0 and z [m], copied
  int nprofile;
  double pad;                // REVOLVED [m]
  double by;                 // OFFSET [m]
  double position[3];        // in the frame of the tree above it, or of the shape [m]
  double quaternion[4];      // of its frame
  const TriboSdfDef* parts;  // (npart) UNION, INTERSECTION, SUBTRACT, OFFSET: copied
  int npart;
};

typedef enum TriboJointKind {
  TRIBO_JOINT_FIXED,        // welded
  TRIBO_JOINT_REVOLUTE,     // about axis
  TRIBO_JOINT_CONTINUOUS,   // about axis, unbounded: nq 2 (cos, sin)
  TRIBO_JOINT_PRISMATIC,    // along axis
  TRIBO_JOINT_HELICAL,      // about and along axis, pitch
  TRIBO_JOINT_UNIVERSAL,    // about axis, then about axis2
  TRIBO_JOINT_CYLINDRICAL,  // along axis, then about axis: nq 2
  TRIBO_JOINT_PLANAR,       // x, y, angle (cos, sin): nq 4, nv 3
  TRIBO_JOINT_SPHERICAL,    // quaternion: nq 4, nv 3
  TRIBO_JOINT_TRANSLATION,  // x, y, z
  TRIBO_JOINT_EULER,        // three angles: about z, then the new y, then the new x; singular at ±π/2 of the second
  TRIBO_JOINT_ELLIPSOID,  // on an ellipsoid: about x, then the new y, then the new z; singular at ±π/2 of the second
  TRIBO_JOINT_FREE,       // free flyer: nq 7, nv 6
  TRIBO_JOINT_COUNT
} TriboJointKind;

// What ties two bodies, or two joints, beyond the trees: loops, and mechanisms of free bodies.
typedef enum TriboClosureKind {
  TRIBO_CLOSURE_WELD,         // 6 rows: no motion
  TRIBO_CLOSURE_BALL,         // 3: any rotation about the anchor
  TRIBO_CLOSURE_HINGE,        // 5: rotation about axis
  TRIBO_CLOSURE_SLIDER,       // 5: translation along axis
  TRIBO_CLOSURE_CYLINDRICAL,  // 4: translation along axis and rotation about it
  TRIBO_CLOSURE_PLANAR,       // 3: translation across axis and rotation about it
  TRIBO_CLOSURE_UNIVERSAL,    // 4: rotation about axis of a, then about axis2 of b
  TRIBO_CLOSURE_CARTESIAN,    // 3: any translation, along the axes that body_b has at the start
  TRIBO_CLOSURE_GIMBAL,       // 3: any rotation about the anchor, told by three angles: see TRIBO_JOINT_EULER
  TRIBO_CLOSURE_DISTANCE,     // 1: two points keep their distance, a rod
  TRIBO_CLOSURE_GEAR,         // 1: q_b = ratio q_a + what it is at the start
  TRIBO_CLOSURE_MIMIC,        // 1: q_b = ratio q_a + offset
  TRIBO_CLOSURE_COUNT
} TriboClosureKind;

// How the activation of an actuator follows its control.
typedef enum TriboActivation {
  TRIBO_ACTIVATION_NONE,        // it is the control
  TRIBO_ACTIVATION_INTEGRATOR,  // its rate is the control
  TRIBO_ACTIVATION_FILTER,      // it runs after the control with a time constant, explicit Euler
  TRIBO_ACTIVATION_EXACT,       // the same, exactly
  TRIBO_ACTIVATION_MUSCLE,      // the same, with other time constants for the way up and down
  TRIBO_ACTIVATION_COUNT
} TriboActivation;

// X(id, word, needs, doc): what a sensor reads. Needs: 'j' a joint, 't' a tendon, 'a' an actuator, 'm' a mount, 'b' a
// body.
#define TRIBO_SENSORS(X)                                                                                               \
  X(JOINT_POSITION, "joint_position", 'j', "coordinates of a joint [rad, m]")                                          \
  X(JOINT_VELOCITY, "joint_velocity", 'j', "velocities of a joint [rad/s, m/s]")                                       \
  X(TENDON_LENGTH, "tendon_length", 't', "[m, rad]")                                                                   \
  X(TENDON_SPEED, "tendon_speed", 't', "[m/s, rad/s]")                                                                 \
  X(ACTUATOR_LENGTH, "actuator_length", 'a', "gear times position of what it drives")                                  \
  X(ACTUATOR_SPEED, "actuator_speed", 'a', "its rate")                                                                 \
  X(ACTUATOR_FORCE, "actuator_force", 'a', "before the gear [N, N m]")                                                 \
  X(POSITION, "position", 'm', "of the mount, seen from the reference [m]")                                            \
  X(ORIENTATION, "orientation", 'm', "of the mount, seen from the reference: quaternion")                              \
  X(X_AXIS, "x_axis", 'm', "of the mount, seen from the reference")                                                    \
  X(Y_AXIS, "y_axis", 'm', "of the mount, seen from the reference")                                                    \
  X(Z_AXIS, "z_axis", 'm', "of the mount, seen from the reference")                                                    \
  X(VELOCITY, "velocity", 'm', "of the mount, seen from the reference [m/s]")                                          \
  X(ANGULAR_VELOCITY, "angular_velocity", 'm', "of the mount, seen from the reference [rad/s]")                        \
  X(GYROSCOPE, "gyroscope", 'm', "angular velocity, axes of the mount [rad/s]")                                        \
  X(VELOCIMETER, "velocimeter", 'm', "velocity, axes of the mount [m/s]")                                              \
  X(COMPASS, "compass", 'm', "the vector `field` of the world, axes of the mount")                                     \
  X(ACCELEROMETER, "accelerometer", 'm', "acceleration minus gravity over the last step, axes of the mount [m/s²]")    \
  X(FORCE, "force", 'm', "what the parent of the mount's body exerts on it over the last step, axes of the mount [N]") \
  X(TORQUE, "torque", 'm', "the same about the mount [N m]")                                                           \
  X(TOUCH, "touch", 'm', "normal forces on the mount's body that act within its volume [N]")                           \
  X(SUBTREE_COM, "subtree_com", 'b', "centre of mass of a body and all that hangs on it [m]")                          \
  X(SUBTREE_VELOCITY, "subtree_velocity", 'b', "of that centre [m/s]")                                                 \
  X(CLOCK, "clock", ' ', "simulated time [s]")
typedef enum TriboSensorKind {
#define X(id, word, needs, doc) TRIBO_SENSOR_##id,
  TRIBO_SENSORS(X)
#undef X
      TRIBO_SENSOR_COUNT
} TriboSensorKind;

// The volume around its mount within which a sensor of touch counts contacts.
typedef enum TriboVolume {
  TRIBO_VOLUME_ELLIPSOID,
  TRIBO_VOLUME_BOX,
  TRIBO_VOLUME_CAPSULE,
  TRIBO_VOLUME_CYLINDER,
  TRIBO_VOLUME_COUNT
} TriboVolume;

// What a controller makes of where its joints are and where they should be.
typedef enum TriboLaw {
  TRIBO_LAW_PD,        // a motor per joint: a spring and a damper towards the trajectory, implicit
  TRIBO_LAW_COMPUTED,  // computed torque: the equations of motion, so that the error e obeys ë + damping ė + stiffness
                       // e = 0
  TRIBO_LAW_EFFORT,   // the trajectory is one of efforts
  TRIBO_LAW_GRAVITY,  // what the weight of the joint's tree asks for
  TRIBO_LAW_TASK,     // efforts and contact forces that serve tasks best: a QPCC in each step
  TRIBO_LAW_COUNT
} TriboLaw;

// What a task of TRIBO_LAW_TASK wants.
#define TRIBO_TASKS(X)                                                                         \
  X(POSITION, "position", "a point of a body follows a path")                                  \
  X(ORIENTATION, "orientation", "a body turns as told")                                        \
  X(POSE, "pose", "both")                                                                      \
  X(COM, "com", "the centre of mass of the robot follows a path")                              \
  X(POSTURE, "posture", "the joints stay where they are at the start")                         \
  X(FORCE, "force", "the contacts of a body press with a normal force")                        \
  X(MOMENTUM, "momentum", "linear and angular momentum of the robot about its centre of mass") \
  X(VELOCITY, "velocity", "a point of a body moves, and the body turns, this fast")
typedef enum TriboTaskKind {
#define X(id, word, doc) TRIBO_TASK_##id,
  TRIBO_TASKS(X)
#undef X
      TRIBO_TASK_COUNT
} TriboTaskKind;

// Which contacts TRIBO_LAW_TASK reckons with.
typedef enum TriboTaskContacts {
  TRIBO_TASK_CONTACTS_AUTO,   // they break, stick or slide as the tasks need
  TRIBO_TASK_CONTACTS_STICK,  // those that touch stick: the schedule-bound baseline
  TRIBO_TASK_CONTACTS_NONE,   // none
  TRIBO_TASK_CONTACTS_COUNT
} TriboTaskContacts;

// How a trajectory goes from one frame to the next.
typedef enum TriboInterpolation {
  TRIBO_INTERPOLATION_CUBIC,   // smooth, and nowhere beyond the frames it lies between
  TRIBO_INTERPOLATION_LINEAR,  // straight
  TRIBO_INTERPOLATION_HOLD,    // the frame before
  TRIBO_INTERPOLATION_COUNT
} TriboInterpolation;

// How a step goes from one state to the next.
typedef enum TriboScheme {
  TRIBO_SCHEME_VARIATIONAL,  // second order where the motion is smooth; keeps momentum, and energy without drift;
                             // Moreau's at contacts (the default)
  TRIBO_SCHEME_EULER,        // semi-implicit Euler, q⁺ = q ⊕ h v⁺
  TRIBO_SCHEME_COUNT
} TriboScheme;

#ifdef __cplusplus
}
#endif
