// Tribo, public: the enumerations that scenes, models and rooms share.
#pragma once

#include <tribo/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TriboShapeKind {
  TRIBO_SHAPE_SPHERE,     // size: radius
  TRIBO_SHAPE_BOX,        // size: full lengths x, y, z
  TRIBO_SHAPE_CAPSULE,    // size: radius, length without caps; axis z, centred
  TRIBO_SHAPE_CYLINDER,   // size: radius, length; axis z, centred
  TRIBO_SHAPE_CONE,       // size: radius, length; axis z, centred, apex at +length/2
  TRIBO_SHAPE_ELLIPSOID,  // size: half axes x, y, z
  TRIBO_SHAPE_HULL,       // convex hull of points or of a mesh file
  TRIBO_SHAPE_HALFSPACE,  // solid where z ≤ 0 of its frame; never moves
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
  TRIBO_JOINT_FREE,         // free flyer: nq 7, nv 6
  TRIBO_JOINT_COUNT
} TriboJointKind;

typedef enum TriboScheme {
  TRIBO_SCHEME_MIDPOINT,  // second order where the motion is smooth, Moreau's at contacts (the default)
  TRIBO_SCHEME_EULER,     // semi-implicit Euler, q⁺ = q ⊕ h v⁺
} TriboScheme;

#ifdef __cplusplus
}
#endif
