// All that is mutable: one per thread of simulation. Everything a step needs after `update` is copied into the arrays
// below, so that the trees' Pinocchio workspaces are pure scratch and an evaluation at another state disturbs nothing.
#pragma once

#include "inverse/inverse_dynamics.h"
#include "loops/loops.h"
#include "tree/tree_motion.h"

typedef enum Stage { STAGE_NONE, STAGE_UPDATED, STAGE_ASSEMBLED } Stage;

struct TriboDynData {
  Stage stage;

  // set by: update
  double* q;              // (nq) the caller's, with unit parts of length 1
  double* v_free;         // (nv)
  TriboPose* poses;       // (nbody) at q
  TriboTwist* twists;     // (nbody) of v_free at q
  double* mass;           // (nmass) per block, free bodies' at creation
  double* minv;           // (nmass)
  double* jac;            // (6 × nv) trees: world twist per unit velocity, at q, columns by v; free bodies': unused
  double* q_half;         // (nq) trees: the point half-way, q ⊕ (h/2) v
  double* jac_half;       // (6 × nv) there
  TreeInertia* inertias;  // (nv) there, per block as many as it has joints
  TreeMotion* motions;    // (nv) there, likewise, at the velocity v and without weight
  double* force;          // (nv) trees: all known forces but the bias, there
  double* weight;         // (nv) trees: the part of the bias that gravity makes, there
  double* calm;           // (nv) trees: the rest of the bias, at the velocity v
  double* factor;         // (nmass) trees: of M̃

  // set by: assemble
  Directions directions;  // of the contacts
  Rows rows;
  unsigned char* chased;   // (2 × bounds) lower, upper limit: 1: it has a row, 2: it must have one
  unsigned char* hard;     // (ncluster) more than its closures acts on a cluster: it moves as at contacts
  unsigned char* touched;  // (nblock) at q a contact or a limit is reached
  unsigned char* leans;    // (ncluster) some block of a cluster is touched
  unsigned char* mean_of;  // (ntree) MEAN_…: where v_free has its bias from
  int wish;                // 1: v_free is a wanted velocity, from inverse_update

  // scratch of: advance
  double* impulse;  // (nv) Jᵀλ
  double* split;    // (nblock) share of the step with the old velocity, or TRIBO_DYN_SMOOTH

  unsigned char* flies;        // (nblock) nothing but impacts pushes it
  double *v_before, *v_after;  // (nv) what carries the blocks before and after an impact

  // closures only
  double *tau, *wrench;           // (nv), (nbody × 6) the forces of update
  double *kick, *cluster_split;   // (nv), (ncluster) scratch of advance
  double* gain;                   // (nv) v_f − v of the last flow: where the next one starts
  double* q_trial;                // (nq) scratch of assemble
  TriboPose* next_poses;          // (nbody) at the next state
  double* next_jac;               // (6 × nv)
  double *next_mass, *next_minv;  // (nmass) set by: settle_assemble
  double* guess;                  // (rows of the closures) set by: settle_assemble
  int *next_block, *next_dim;     // (nblock) blocks the last problem acts on: their numbers there, their sizes
  size_t* next_at;                // (nblock) where they start
  int* next_term;                 // (terms of the closures) in the last problem's numbers
  Rows settle;                    // set by: settle_assemble
  Slack slack;                    // set by: assemble, where rows are redundant or alone; settle_assemble
  int alone;                      // 1: nothing but closures acts on what they tie, and the factor is there
  int foreseen;                   // 1: they are, whatever v_free is, and set out from foreseen impulses
  int ahead;                      // 1: update foresees that, and trees were half-way with these  set by: update
  int halfway;                    // 1: that is where the first flow starts  set by: assemble
  int rough;                      // 1: the last flow lacks its last digits
  double* push;                   // (nv) M⁻¹Jᵀλ of the foreseen impulses  set by: update
  double* settled_q;              // (nq) where next_…, settle and slack are
  int settled;                    // 1: they are there  set by: settle_alone
  int known;                      // 1: that is where this step sets out from  set by: update
  Passes memory;                  // set by: close
  double last_error;              // of the pass before, set by: close
  int passes;                     // so far

  Inverse inverse;

  // scratch of: trees
  TriboPinData** pin;  // (npin = ntree)
  int npin;
  double* mean;         // (nv_max)
  double* work;         // (nv_max)
  double* look_force;   // (nv_max)
  double* look_weight;  // (nv_max)
  double* look_factor;  // (nv_max²)

  // scratch of: kinematics, energy, integrate, difference
  double* look_q[2];                       // (nq)
  TriboPose* look_poses;                   // (nbody)
  TriboTwist* look_twists;                 // (nbody)
  double* look_jac;                        // (6 × nv_max)
  TreeInertia *look_inertias, *look_sums;  // (nv_max)
  TreeMotion* look_motions;                // (nv_max)
};
