// Free rigid bodies in closed form: free_body.c has the equations.
#pragma once

#include "dynamics.h"
#include "math3.h"

typedef struct FreeBody {
  double mass;        // [kg]
  double com[3];      // in the body frame [m]
  double inertia[9];  // about the centre of mass, body axes [kg·m²]
  double inverse[9];  // of the inertia
} FreeBody;

// How a body goes through a step in which impulses act on it: with its velocity after them, in flight before and after
// an impact, or with the mean of the velocities before and after, where contacts only last.
typedef enum TriboBodyMotion { BODY_PUSHED, BODY_BALLISTIC, BODY_LASTS } TriboBodyMotion;

// How a block turns v and v⁺ into q⁺: the share of the step that still runs with the old velocity, or SMOOTH, the mean.
#define TRIBO_DYN_SMOOTH (-1.0)

void tribo_dyn_body_pose(const FreeBody* body, const double q[7], TriboPose* pose);
void tribo_dyn_body_twist(const FreeBody* body, const TriboPose* pose, const double v[6], TriboTwist* twist);
// tau (6), wrench (6) may be NULL
void tribo_dyn_body_free_velocity(const FreeBody* body, const TriboStepOptions* options, const double q[7],
                                  const double v[6], const double* tau, const double* wrench, double v_free[6]);
// The angular velocity after an impulse with the angular part `torque` (body axes), at the end of a step that is split
// as for advance; w_next comes in as w_free + I⁻¹ torque.
void tribo_dyn_body_spin(const FreeBody* body, double h, double split, TriboBodyMotion motion, const double w[3],
                         const double w_free[3], const double torque[3], double w_next[3]);
// The other way round: the torque that ends in w_next, of a body that contacts push all through the step.
void tribo_dyn_body_torque(const FreeBody* body, double h, TriboBodyMotion motion, const double w[3],
                           const double w_free[3], const double w_next[3], double torque[3]);
// split: TRIBO_DYN_SMOOTH or the share of the step with the old velocity
void tribo_dyn_body_advance(double h, double split, const double q[7], const double v[6], const double v_next[6],
                            double q_next[7]);
void tribo_dyn_body_integrate(const double q[7], const double dv[6], double q_next[7]);
void tribo_dyn_body_difference(const double q0[7], const double q1[7], double dv[6]);
