// Tribo, public: inverse dynamics through contact: which torques and contact forces make a target motion.
//
// Ownership. What is passed in is only read during the call. All arrays of the answer belong to the data and are valid
// until its next step, reset, restore or inverse dynamics.
//
// Threads. As for a step: one thread at a time for a data.
#pragma once

#include <tribo/observe.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TriboInverseOptions {
  const unsigned char* driven;  // (nv) 1: a torque acts there; NULL: on all joints but floating bases. Free bodies: 0
  double tol;                   // speeds below are 0: what touches and what slides [m/s, rad/s]
  int acceleration;             // 1: the target is an acceleration [m/s², rad/s²], v⁺ = v + dt · target
  int use_actuators;            // 1: the scene's motors and actuators act too, and torques are what they leave to do
  int nearest;                  // 1: a target that is not feasible gives way to the nearest motion that is
  int find_free_torques;        // 1: tell which torques the motion leaves open
  // 1: the next step starts from these impulses: of several answers it finds this one (changes the warm start)
  int set_warm_start;
} TriboInverseOptions;
TRIBO_API TriboInverseOptions tribo_inverse_default(void);

typedef struct TriboInverse {
  int feasible;       // 1: a step with these torques reaches the target velocity, within tol
  const double* tau;  // (nv) on driven velocities; 0 on the others [N·m, N]
  // (nv) on velocities without drive: the effort that the target would need there [N·m, N]
  const double* effort_missing;
  const double* v_next;  // (nv) the target velocity, or the one that took its place [m/s, rad/s]
  double v_error;      // velocity error: largest difference between the target and what a step makes of it [m/s, rad/s]
  double distance;     // of the two in the norm √(yᵀM y) [√J]
  double penetration;  // fastest approach of what cannot come closer: contacts and limits [m/s, rad/s]
  double opening;      // speed at which the target opens closures [m/s, rad/s]
  const TriboContactView* contacts;  // (ncontact) forces and modes
  int ncontact;
  TriboResiduals residual;     // of the forward problem of a step with these torques, computed as a step's is
  int passes, iterations;      // solves, and iterations of any kind in them
  int nfree_torque;            // dimension of the set of torques that can be added without moving anything, cones aside
  const double* free_torques;  // (nfree_torque × nv) orthonormal directions of torque
} TriboInverse;
// From the present state; it does not change, but for the impulses a step starts from if `set_warm_start` is set.
// v_target (nv): the target velocity after the model's dt. The problem of the last step is forgotten, and its contacts
// give way to those of the target, so that the viewer draws their forces.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_inverse_dynamics(const TriboModel* model, TriboData* data,
                                                             const double* v_target, const TriboInverseOptions* options,
                                                             TriboInverse* out);

#ifdef __cplusplus
}
#endif
