// Tendons: lengths of strings through points of bodies, and of weighted sums of joint positions; and what a tension in
// them does to the bodies and joints.
#pragma once

#include "exchange.h"

// The bodies of a system at a state, as far as forces at points of them need them.
typedef struct TriboBodyFrames {
  const TriboPose* poses;    // (nbody) of the frames that dynamics moves
  const TriboTwist* twists;  // (nbody)
  const TriboPose* offset;   // (nbody) the user's body frame in these
  const double* com;         // (nbody × 3) centre of mass in the user's body frame [m]
} TriboBodyFrames;

// Where a point of a body is [m] and how fast it moves [m/s], world axes; body may be TRIBO_WORLD_BODY. velocity takes
// the point in the world.
void tribo_dyn_point_position(const TriboPose* poses, int body, const double local[3], double out[3]);
void tribo_dyn_point_velocity(int body, const TriboPose* poses, const TriboTwist* twists, const double point[3],
                              double out[3]);
// Adds a force of this size along a direction at a point of the world to the wrench (nbody × 6) of a body, about its
// centre of mass.
void tribo_dyn_apply_force(const TriboBodyFrames* frames, int body, const double point[3], double size,
                           const double direction[3], double* wrench);

// What a segment of a string wraps around; frames and points are in those that dynamics moves.
typedef struct TriboWrap {
  int is_cylinder;  // 1: a cylinder along the z axis of the frame; 0: a sphere
  double radius;    // 0: nothing [m]
  int body;
  TriboPose frame;
  int side_body;
  double side[3];  // NAN: none
} TriboWrap;

// A tendon: a weighted sum of joint positions, or a string through points, or both.
typedef struct TriboTendon {
  int njoint, npoint;
  int *q_at, *v_at;             // (njoint) coordinate and velocity of each joint in the system
  double* coef;                 // (njoint) weight of its position [m/rad, 1]
  int* body;                    // (npoint) TRIBO_WORLD_BODY: of the world
  double* point;                // (npoint × 3) in the frame that dynamics moves [m]
  double* weight;               // (npoint) of the segment from here to the next point
  TriboWrap* wrap;              // (npoint) what that segment wraps around
  TriboSoftness soft;           // of its limits
  double force_min, force_max;  // bounds of the sum of its actuators' forces [N]
  int has_force_bounds;         // 1: one of these is finite
} TriboTendon;

// Its length [m] and the rate of it [m/s] at a state.
void tribo_dyn_tendon_measure(const TriboTendon* tendon, const double* q, const double* v, const TriboPose* poses,
                              const TriboTwist* twists, double* length, double* speed);
// tau (nv) and wrench (nbody × 6) += Jᵀ force, J being the gradient of its length.
void tribo_dyn_tendon_pull(const TriboTendon* tendon, const TriboBodyFrames* frames, double force, double* tau,
                           double* wrench);
