// All that is mutable: one per thread of simulation. Everything a step needs after `update` is copied into the arrays
// below, so that the trees' Pinocchio workspaces are pure scratch and an evaluation at another state disturbs nothing.
#pragma once

#include "inverse/inverse_dynamics.h"
#include "loops/loops.h"
#include "tree/tree_motion.h"

// Which stage of a step the data has behind it.
typedef enum Stage { STAGE_NONE, STAGE_UPDATED, STAGE_ASSEMBLED } Stage;

struct TriboDynData {
  Stage stage;

  // set by: update. Velocities in [m/s, rad/s], forces in [N, N·m], masses in SI
  double* q;              // (nq) the caller's, with unit parts of length 1
  double* v_free;         // (nv) of trees final after assemble; with is_inverse the target velocity
  TriboPose* poses;       // (nbody) at q
  TriboTwist* twists;     // (nbody) of v_free at q
  double* mass;           // (nmass) per block, free bodies' at creation
  double* minv;           // (nmass) its inverse
  double* jac;            // (6 × nv) trees: world twist per unit velocity, at q, columns by v; free bodies': unused
  TreeInertia* inertias;  // (nv) at q, per block as many as it has joints
  TreeMotion* motions;    // (nv) likewise, at the velocity v and without weight  set by: assemble
  double* force;          // (nv) trees: known forces but weight and dampers
  double* weight;         // (nv) trees: the part of the bias that gravity makes
  double* factor;         // (nmass) trees: of M̃
  int is_inverse;         // 1: v_free is a target velocity  set by: inverse_update

  // set by: assemble
  Directions directions;  // of the contacts
  Rows rows;
  unsigned char* limit_row;             // (2 × bounds) lower, upper limit: 1: it has a row, 2: it must have one
  double* slip_turn;                    // (bounds) fraction of the step before dry friction turns round, 0: it does not
  SlipTurn* slip_turns;                 // (nslip_turn) of contacts, likewise; nslip_turn 0: nobody has asked
  int nslip_turn, has_known;            // has_known 1: these three hold what is known of impulses, and what it changes
  double* known;                        // (nrow) [N·s]
  double *known_impulse, *slip_change;  // (nv) [N·s], [m/s]
  unsigned char* cluster_in_contact;    // (ncluster) more than its closures acts on a cluster: it moves as at contacts
  unsigned char* cluster_kicked;        // (ncluster) the same, known before any impulse: motors, dry friction, springs
  unsigned char* touched;               // (nblock) at q a contact or a limit is reached
  unsigned char* lasts;                 // (nblock) contacts are at it, and all that hangs together there lasts
  int* contacts_at;                     // (nblock) how many contacts are at it
  unsigned char* is_held;               // (nblock) scratch: something that stands still is at it
  int* together;                        // (nblock) scratch: blocks that contacts hold together
  unsigned char* cluster_touched;       // (ncluster) some block of a cluster is touched
  unsigned char* motion_kind;           // (ntree) MOTION_…: what v_free and M̃ are for

  const TriboContact* contacts;  // (ncontact) the caller's, of the rows that come first
  int ncontact;
  ContactTurn* turns;           // (ncontact) how they go on
  double *ahead_q, *ahead_jac;  // (nq), (6 × nv) places and columns at the end, of blocks whose contacts last

  // scratch of: advance
  double* impulse;              // (nv) Jᵀλ [N·s, N·m·s]
  double* split;                // (nblock) fraction of the step with the old velocity, or TRIBO_DYN_SMOOTH
  unsigned char* is_ballistic;  // (nblock) nothing but impacts pushes it
  double *v_before, *v_after;   // (nv) what carries the blocks before and after an impact

  // closures only: the forces of update, and the step's flow
  double *tau, *wrench;          // (nv), (nbody × 6) the forces of update
  double *kick, *cluster_split;  // (nv), (ncluster) scratch of advance
  double* q_trial;               // (nq) scratch of assemble

  // closures only: at the next state, or, between steps, at the end of the last one
  TriboPose* next_poses;          // (nbody)
  double* next_jac;               // (6 × nv)
  double *next_mass, *next_minv;  // (nmass) set by: project_velocity_assemble
  Rows projection;                // rows of the velocity projection  set by: project_velocity_assemble
  double* guess;  // (rows of the closures) start of the projection's impulses  set by: project_velocity_assemble
  int *next_block, *next_dim;  // (nblock) blocks the projection acts on: their numbers there, their sizes
  size_t* next_at;             // (nblock) where they start
  int* next_term;              // (terms of the closures) in the projection's numbers
  double* end_q;               // (nq) where next_…, projection and closure_factor are
  int end_is_known;            // 1: they are there  set by: project_velocity_closures_only
  int start_is_known;          // 1: this step starts from there  set by: update

  // closures only: how they are kept shut
  ClosureFactor
      closure_factor;  // set by: assemble, where rows are few or redundant; at the end of a step, where closures_only
  int closures_only;   // 1: nothing but closures acts on what they tie, and the factor is there
  unsigned char* left_out;  // (rows of the closures) 1: the row depends on others  set by: assemble
  double* carried;          // (rows of the closures) impulses of assemble's problem, spread over all  set by: close
  double* predicted_dv;     // (nv) M⁻¹Jᵀλ of the predicted impulses  set by: update
  int has_prediction;       // 1: predicted_dv is there  set by: update
  int is_predicted;         // 1: the passes start from predicted impulses  set by: assemble
  AndersonMemory anderson;  // set by: close
  double last_error;        // of the pass before [m, rad]  set by: close
  double kept_open;         // how far rows that are not left out are open [m, rad]  set by: close
  int passes;               // so far

  FlightData flight;
  Inverse inverse;

  // scratch of: trees
  TriboPinData** pin;  // (npin = ntree)
  int npin;
  double* work;            // (nv_max, at least 6)
  double* scratch_force;   // (nv_max)
  double* scratch_weight;  // (nv_max)
  double* scratch_factor;  // (nv_max²)

  // scratch of: kinematics, energy, integrate, difference
  double* scratch_q[2];                          // (nq)
  TriboPose* scratch_poses;                      // (nbody)
  TriboTwist* scratch_twists;                    // (nbody)
  double* scratch_jac;                           // (6 × nv_max)
  TreeInertia *scratch_inertias, *scratch_sums;  // (nv_max)
  TreeMotion* scratch_motions;                   // (nv_max)
};

// What every step begins with: checks, and q with its unit parts of length 1 into the data.  state_check.c
TriboStatus tribo_dyn_begin_step(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                 const char* where, const double* q, const double* v);
// Copies the forces (either may be NULL), which act at the end of the step too.  forward_step.c
void tribo_dyn_keep_forces(const TriboSystem* system, TriboDynData* data, const double* tau, const double* wrench);
