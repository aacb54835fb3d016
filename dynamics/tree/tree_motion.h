// A tree in time, inside a system: tree_motion.c has the equations.
#pragma once

#include "system_blocks.h"
#include "tree/tree_drift.h"

// A tree half-way through a step, where its forces and masses are taken.
typedef struct Halfway {
  double* q;              // (nq) q ⊕ (h/2) v
  double* jac;            // (6 × nv) there
  TreeInertia* inertias;  // (njoint) there
  double* mass;           // (nv × nv) M̃
  double* factor;         // (nv × nv) of M̃
  double* force;          // (nv) all known forces but the bias
  double* weight;         // (nv) the part of the bias that gravity makes
} Halfway;

// Which velocity the bias of a tree belongs to: see tree_motion.c.
enum { MEAN_START, MEAN_FREE, MEAN_TOUCHED };

// How far the spring of a link's joint is stretched: its components; returns their count, 0 without a spring.
int tribo_dyn_spring_stretch(const TriboTreeInfo* info, const TriboLinkInfo* link, const double* q, double out[3]);

// force += Jᵀ w for a wrench per link (force, torque about the link's centre of mass, world axes) where poses and jac
// are.
void tribo_dyn_tree_wrenches(const TreePart* part, const TriboPose* poses, const double* jac, const double* wrench,
                             double* force);

// Velocities of links (nlink) from the columns of jac (6 × nv, of the world) and where the links are.
void tribo_dyn_tree_twists(const TriboTreeInfo* info, const double* jac, const double* v, const TriboPose* poses,
                           TriboTwist* twists);
// Poses (nlink) at q, and twists (nlink) of v; jac (6 × nv) is filled too.
TriboStatus tribo_dyn_tree_kinematics(const TreePart* part, TriboPinData* pin, const double* q, const double* v,
                                      TriboPose* poses, TriboTwist* twists, double* jac);
// Fills all of the half-way point of a tree.
TriboStatus tribo_dyn_tree_prepare(const TriboSystem* system, TriboDynData* data, int tree,
                                   const TriboStepOptions* options, const double* v, const double* tau,
                                   const double* wrench, const Halfway* half);
// Where update keeps it; mass: where M̃ goes.
Halfway tribo_dyn_tree_half(const TriboSystem* system, TriboDynData* data, int tree, double* mass);
// Trees that went half-way with predicted impulses go back: half-way and free velocity without impulses.
TriboStatus tribo_dyn_trees_restart(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                    const double* v);
// The free velocity (v: of this tree) with its final bias, which depends on whether something touches the tree.
void tribo_dyn_tree_finish(const TriboSystem* system, TriboDynData* data, int tree, const TriboStepOptions* options,
                           const double* v);
// Mass, free velocity, half-way point, poses, twists and jac of one tree; tau (nv), wrench (nlink × 6) may be NULL.
TriboStatus tribo_dyn_tree_update(const TriboSystem* system, TriboDynData* data, int tree,
                                  const TriboStepOptions* options, const double* v, const double* tau,
                                  const double* wrench);
// One smooth step of a tree from v: its end goes to q_next and v_next. flow_dv (nv): v_next − v, in as a guess.
TriboStatus tribo_dyn_tree_flow(const TriboSystem* system, TriboDynData* data, int tree,
                                const TriboStepOptions* options, const double* v, const double* tau,
                                const double* wrench, double* flow_dv, double* q_next, double* v_next);
// A tree at an instant of a variational step.
typedef struct TreeInstant {
  double* q;         // (nq)
  TriboPose* poses;  // (nlink)
  double* jac;       // (6 × nv)
  TreeBody* bodies;  // (njoint)
  double* mass;      // (nv × nv) M̃; of a tree that closures tie M
  double* factor;    // (nv × nv) of M̃
  double* diagonal;  // (nv) of M
  double* extra;     // (nv) diagonal of M̃ − M
  double* theta;     // (nv) fraction of forces and impulses that acts at the start
  double* force;     // (nv) known forces but weight and dampers [N, N·m]
  double* weight;    // (nv) the bias that gravity alone makes [N, N·m]
} TreeInstant;

// What the variational step of trees keeps from stage to stage: tree_flight.c.
typedef struct FlightData {
  TreeBody* bodies;                // (nv) at q, per block as many as it has joints  set by: update
  double *diagonal, *extra;        // (nv) of M, of M̃ − M  set by: update, assemble
  double* theta;                   // (nv) fraction of what acts that acts at the start  set by: the same
  double* delta;                   // (nv) mean velocity of a touched tree's drift − v_a  set by: assemble
  double* w;                       // (nv) of the drift without rows  set by: assemble, as the next four
  double (*P)[6];                  // (nv) its momenta
  double* spin;                    // (nv) of its wheels
  double* r;                       // (nv) what its passes left
  unsigned char* converged;        // (ntree) 1: they have met
  int is_unresolved;               // 1: passes of the last advance did not meet, which is why it failed
  double *momentum, *kick, *jump;  // (nv_max) scratch, as all below
  double* mass;                    // (nv_max²)
  TreeInstant mid;                 // at an impact; poses (nbody)
  DriftWork drift;
} FlightData;

// Stages of a variational step, as those of the other schemes below.
TriboStatus tribo_dyn_flight_update(const TriboSystem* system, TriboDynData* data, int tree,
                                    const TriboStepOptions* options, const double* v, const double* tau,
                                    const double* wrench);
TriboStatus tribo_dyn_flight_finish(const TriboSystem* system, TriboDynData* data, int tree,
                                    const TriboStepOptions* options, const double* v);
// One smooth step from v: its end goes to q_next and v_next.
TriboStatus tribo_dyn_flight_flow(const TriboSystem* system, TriboDynData* data, int tree,
                                  const TriboStepOptions* options, const double* v, double* q_next, double* v_next);
// v: of this tree. v_next holds v_f + M̃⁻¹Jᵀλ and becomes the next velocity.
TriboStatus tribo_dyn_flight_advance(const TriboSystem* system, TriboDynData* data, int tree,
                                     const TriboStepOptions* options, const double* v, double* q_next, double* v_next);

// M of one tree, without damping, and its inverse (nv × nv each), where poses (nlink) and jac (6 × nv) are.
TriboStatus tribo_dyn_tree_masses(const TreePart* part, TriboDynData* data, const TriboPose* poses, const double* jac,
                                  double* mass, double* minv);
// q_next from the v before and the v_next after the split of the step, in data->split.
TriboStatus tribo_dyn_tree_advance(const TriboSystem* system, TriboDynData* data, int tree, double h, const double* v,
                                   const double* v_next, double* q_next);
