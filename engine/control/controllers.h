// Controllers of a scene: laws that turn the state at the beginning of a step, or of a part of one, into targets of
// motors and efforts on joints. They see the compiled model and the dynamics; the simulation calls them in each step.
#pragma once

#include "model_impl.h"

// The state that the controllers act on.
typedef struct ControlInput {
  TriboDynData* dynamics;
  double time, h;       // [s]
  const double *q, *v;  // (nq), (nv)
} ControlInput;

// What the controllers give, and their scratch. Nothing without controllers.
typedef struct ControlWork {
  double* effort;  // (nv) of the last step, without their motors [N·m, N]
  double* v;       // (nv) scratch: a velocity of zero, then the target accelerations
  double* mass;    // (nv × nv) where a controller computes torques
  double* bias;    // (2 × nv) there: bias and passive forces
} ControlWork;

// Targets of the motors (nmotor) for the end of the step, and efforts added to tau (nv).
TriboStatus tribo_controllers_apply(const TriboModel* model, const ControlInput* in, ControlWork* work,
                                    TriboMotor* motors, double* tau);
