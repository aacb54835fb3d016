// Plans of scenes: the rows of a plan made from a scene's own mechanics, by the public interface alone.
//
// Unknowns of a stage: q, v, then the efforts τ of the driven joints, and for each candidate point a normal force λ,
// friction forces β ≥ 0 along ± tangents, and the slip γ. Rows, with the mass matrix M, the forces b without
// constraints and the points' Jacobian J, all at q:
//
//     q⁺ = q + h v⁺,     M (v⁺ − v) = h (τ − b + Jᵀ f),     f = λ n + Σ β_i d_i
//     0 ≤ λ ⟂ gap(q⁺) ≥ 0,   0 ≤ β_i ⟂ γ + d_i·J v⁺ ≥ 0,   0 ≤ γ ⟂ μ λ − Σ β_i ≥ 0,     limits of joints and efforts
//
// Friction is a polygon of two or four directions, where the engine has a cone: --check tells what that costs. Joints
// are revolute and prismatic; candidate points are spheres, ends of capsules and corners of boxes against half-spaces.
#pragma once

#include <tribo/tribo.h>

#include "plan_check.h"

typedef struct ScenePlanDef {
  const char *start, *goal;           // names of states; start NULL: as the scene begins
  const char* motors;                 // joints that are driven, separated by commas
  const char* contacts;               // bodies whose shapes may touch the half-spaces, separated by commas
  int stages, facets;                 // facets 2: friction along the first tangent (planar robots), or 4
  double h;                           // [s]
  double position, velocity, effort;  // weights: of the goal's q and v at the last stage, of τ² at each
} ScenePlanDef;

typedef struct ScenePlan ScenePlan;
TriboStatus scene_plan_create(const TriboModel* model, const ScenePlanDef* def, ScenePlan** out, char error[256]);
void scene_plan_destroy(ScenePlan* plan);
TriboPlan* scene_plan_of(ScenePlan* plan);
// What plan_check plays; valid as long as the plan, z is the caller's.
PlanMotion scene_plan_motion(const ScenePlan* plan, const double* z);
// z (unknowns) ← the start at rest at every stage.
void scene_plan_guess(const ScenePlan* plan, double* z);
// Errors of z's last stage from the goal: largest of positions and of velocities.
void scene_plan_error(const ScenePlan* plan, const double* last, double* position, double* velocity);
// t, q.*, v.*, tau.*, and the normal forces lambda.* of all stages, as CSV.
int scene_plan_write(const ScenePlan* plan, const double* z, const char* path);
