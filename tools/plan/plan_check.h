// Playing a plan in the exact engine: the efforts of its stages act in a scene, and the motion they make is compared
// with the planned one.
#pragma once

#include "plan_problem.h"

// How far the simulated motion is from the plan.
typedef struct PlanCheck {
  double position, velocity;            // largest errors at the stages' times [m, rad; m/s, rad/s]
  double last_position, last_velocity;  // at the last stage
  PlanError error;                      // of the simulated end from the goal
  long steps, certified;
} PlanCheck;

// Feedback on driven joints, effort += stiffness (planned − simulated position) + damping (the same of velocities); 0,
// 0 plays the efforts alone.
TriboStatus plan_check(const PlanProblem* p, const double* z, const char* scene, double stiffness, double damping,
                       PlanCheck* out);
