// Playing a plan in the exact engine: the efforts of its stages act in a scene, and the motion they make is compared
// with the planned one.
#pragma once

#include "plan_problem.h"

// How far the simulated motion is from the plan.
typedef struct PlanCheck {
  char trouble[160];                    // why it could not be played, where the engine has no word for it; else empty
  double position, velocity;            // largest errors at the stages' times [m, rad; m/s, rad/s]
  double last_position, last_velocity;  // at the last stage
  long steps, certified;
} PlanCheck;

// A planned motion: nz unknowns a stage, h apart; joints end with one without a name.
typedef struct PlanMotion {
  int stages, nz;
  double h;
  const double* z;
  const PlanJoint* joints;
} PlanMotion;

static inline PlanMotion plan_problem_motion(const PlanProblem* p, const double* z) {
  return (PlanMotion){p->stages, p->kind->nz, p->h, z, p->kind->joints};
}

// Feedback on driven joints, effort += stiffness (planned − simulated position) + damping (the same of velocities); 0,
// 0 plays the efforts alone. last (nz), NULL allowed: the last stage with the simulated state in it.
TriboStatus plan_check(const PlanMotion* motion, const char* scene, double stiffness, double damping, double* last,
                       PlanCheck* out);
