// A tree in time, inside a system: tree_motion.c has the equations.
#pragma once

#include "tree/tree_instant.h"

// How a tree moves through a step: not known yet, with nothing near it, kicked in full at q, by Euler's scheme.
enum { MOTION_START, MOTION_FREE, MOTION_TOUCHED, MOTION_EULER };

// What trees keep from stage to stage of a step.
typedef struct FlightData {
  double* q;                 // (nq) at the start, from the trees' own origins, as the next two  set by: update
  TriboPose* poses;          // (nbody)
  double* jac;               // (6 × nv)
  TreeBody* bodies;          // (nv) at q, per block as many as it has joints  set by: update
  double *diagonal, *extra;  // (nv) of M, of M̃ − M  set by: update, assemble
  TreeSplit* split;          // (ntree) how what acts is divided over the step  set by: the same
  double* inertial;          // (nv) Coriolis and centrifugal forces at (q, v)  set by: assemble
  double* bent;           // (nv) δ of a touched tree, 2δ of others: what rows see beyond the kick  set by: assemble
  TreeInstant end;        // (nv …) where trees were at the end of the last step  set by: advance
  double* end_q;          // (nq) the same in the world
  double end_gravity[3];  // the weight there is of it
  unsigned char* end_is_known;  // (ntree)
  double* touch_bent;  // (nv) the same of touched trees, 0 of others: what touches that does not last is not asked
  double* missed;      // (nv) w − u of trees that closures tie, kicked in full, and 0 of others  set by: advance
  int is_unresolved;   // 1: passes of the last advance did not meet, which is why it failed
  double *momentum, *kick, *jump;  // (nv_max) scratch, as all below
  double (*coasting)[6];           // (nv_max) velocities of links
  TreeInstant later;               // inside the step, or at its end; poses (nbody)
  DriftWork drift;
} FlightData;

// ---- stages of a step; v, v_next, q_next: of this tree

// Mass, first free velocity, poses, twists and jac of one tree; tau (nv), wrench (nlink × 6) may be NULL.
TriboStatus tribo_dyn_tree_update(const TriboSystem* system, TriboDynData* data, int tree,
                                  const TriboStepOptions* options, const double* v, const double* tau,
                                  const double* wrench);
// How links go on at v without joint accelerations, in data->motions, and the forces that this takes: once in a step.
void tribo_dyn_tree_glide(const TriboSystem* system, TriboDynData* data, int tree, const double* v);
// The free velocity and M̃ as rows see them, which depend on whether something touches the tree.
TriboStatus tribo_dyn_tree_finish(const TriboSystem* system, TriboDynData* data, int tree,
                                  const TriboStepOptions* options, const double* v);
// v_next holds v_free + M̃⁻¹Jᵀλ and becomes the next velocity.
TriboStatus tribo_dyn_tree_advance(const TriboSystem* system, TriboDynData* data, int tree,
                                   const TriboStepOptions* options, const double* v, double* q_next, double* v_next);
// One smooth step from v: its end goes to q_next and v_next.
TriboStatus tribo_dyn_tree_flow(const TriboSystem* system, TriboDynData* data, int tree,
                                const TriboStepOptions* options, const double* v, double* q_next, double* v_next);
// M of one tree at its q, without damping, and its inverse (nv × nv each), where poses (nlink) and jac (6 × nv) are.
TriboStatus tribo_dyn_tree_masses(const TriboSystem* system, TriboDynData* data, int tree, const double* q,
                                  const TriboPose* poses, const double* jac, double* mass, double* minv);

// ---- what reading a step backwards shares with it

TreeAt tribo_dyn_tree_at(const TriboSystem* system, TriboDynData* data, int tree);
TreeInstant tribo_dyn_tree_start(const TreeAt* tree, TriboDynData* data);  // at the start of the step
TreeInstant tribo_dyn_tree_later(const TreeAt* tree, TriboDynData* data);  // scratch for another instant
// The start of the step, all but v_free.
TriboStatus tribo_dyn_tree_begin(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                                 const double* v, const double* tau, const double* wrench, const TreeInstant* at);
// Into data->flight.drift.w: the velocity with which the tree ends a step of h of Euler's scheme when nothing acts
// (tree_coast.c); converged 0: it turns too far in one step.
TriboStatus tribo_dyn_tree_coast(const TreeAt* tree, TriboDynData* data, double h, const TreeInstant* at,
                                 const double* v, int* converged);
// bent (nv): δ for a full kick, else 2δ, from what glide has found.
void tribo_dyn_tree_bend(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options, TreeKick kick,
                         const TreeInstant* at, double* bent);
// A drift into data->flight.drift, which holds a guess of w.
TriboStatus tribo_dyn_tree_run(const TreeAt* tree, TriboDynData* data, const TreeInstant* at, double h, double tol,
                               const double* extra, const double* momentum, int* converged);
