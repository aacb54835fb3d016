// Tribo, public: the enumerations that scenes, models and rooms share.
#pragma once

#include <tribo/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TriboShapeKind {
  TRIBO_SHAPE_SPHERE,       // size: radius
  TRIBO_SHAPE_BOX,          // size: full lengths x, y, z
  TRIBO_SHAPE_CAPSULE,      // size: radius, length without caps; axis z, centred
  TRIBO_SHAPE_CYLINDER,     // size: radius, length; axis z, centred
  TRIBO_SHAPE_CONE,         // size: radius, length; axis z, centred, apex at +length/2
  TRIBO_SHAPE_ELLIPSOID,    // size: half axes x, y, z
  TRIBO_SHAPE_HULL,         // convex hull of points or of a mesh file
  TRIBO_SHAPE_HALFSPACE,    // solid where z ≤ 0 of its frame; never moves
  TRIBO_SHAPE_HEIGHTFIELD,  // size: lengths x, y; heights over that rectangle, centred, solid below; never moves
  TRIBO_SHAPE_COUNT
} TriboShapeKind;

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
  TRIBO_JOINT_FREE,         // free flyer: nq 7, nv 6
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
  TRIBO_ACTIVATION_COUNT
} TriboActivation;

typedef enum TriboScheme {
  TRIBO_SCHEME_MIDPOINT,  // second order where the motion is smooth, Moreau's at contacts (the default)
  TRIBO_SCHEME_EULER,     // semi-implicit Euler, q⁺ = q ⊕ h v⁺
} TriboScheme;

#ifdef __cplusplus
}
#endif
