// Dynamics, private: what a system and its data are made of, and what the files of this room call in each other.
//
// Motion is split into blocks: one per free body, then one per tree. A block owns a range of q, a range of v and a
// dense block of M. Everything a step needs after `update` is copied into the arrays below, so that the trees'
// Pinocchio workspaces are pure scratch and a look at another state disturbs nothing.
#pragma once

#include "dynamics.h"
#include "math3.h"
#include "memory.h"
#include "pinocchio_shim.h"

typedef struct FreeBody {
  double mass;        // [kg]
  double com[3];      // in the body frame [m]
  double inertia[9];  // about the centre of mass, body axes [kg·m²]
  double inverse[9];  // of the inertia
} FreeBody;

// A stretch of q that has length 1: a quaternion (4) or a cosine and a sine (2).
typedef struct UnitPart {
  int at, count;
} UnitPart;

// A velocity index of a tree on which a limit or dry friction may act.
typedef struct BoundDof {
  int q, v;  // in the system's q and v
  int block;
  double lower, upper;  // limits of q
  double friction;      // [N·m, N]
} BoundDof;

// The dofs of a tree in depth-first order.
typedef struct DofTree {
  int nv;
  int* parent;  // (nv) next dof on the way to the root, −1 at the root
  int* end;     // (nv) one past the last dof of the subtree
} DofTree;

// A tree inside a system.
typedef struct TreePart {
  const TriboTree* tree;
  const TriboTreeInfo* info;
  DofTree dofs;
  int block, body;  // its block, its first body
} TreePart;

struct TriboSystem {
  TriboSystemInfo info;
  int* block_dim;    // (nblock)
  int* block_q;      // (nblock)
  int* block_v;      // (nblock)
  int* body_block;   // (nbody)
  size_t* block_at;  // (nblock) in mass and minv
  size_t nmass;      // doubles in mass
  FreeBody* bodies;  // (nfree)
  UnitPart* units;   // (nunit)
  int nunit;
  TreePart* trees;   // (ntree)
  BoundDof* bounds;  // (nbound) by v: dofs with a finite limit or friction
  int nbound;
  int nv_max;  // of one tree
};

// How a block turns v and v⁺ into q⁺: the share of the step that still runs with the old velocity, or SMOOTH, the mean.
#define TRIBO_DYN_SMOOTH (-1.0)

typedef enum Stage { STAGE_NONE, STAGE_UPDATED, STAGE_ASSEMBLED } Stage;

struct TriboDynData {
  Stage stage;

  // set by: update
  double* q;           // (nq) the caller's, with unit parts of length 1
  double* v_free;      // (nv)
  TriboPose* poses;    // (nbody) at q
  TriboTwist* twists;  // (nbody) of v_free at q
  double* mass;        // (nmass) per block, free bodies' at creation
  double* minv;        // (nmass)
  double* jac;         // (6 × nv) trees: world twist per unit velocity, at q, columns by v; free bodies': unused
  double* q_half;      // (nq) trees: the point half-way, q ⊕ (h/2) v

  // set by: assemble
  int nrow, ncone, nterm;
  TriboCone* cones;
  TriboRowInfo* rows;
  int* term_first;  // (ncone + 1)
  int* term_block;
  size_t* term_at;
  double* term_jac;
  double* g;
  double* R;
  double* impact;  // (ncone) share of the step before the impact, 0 for rows that are none
  size_t cone_capacity, info_capacity, first_capacity, block_capacity, at_capacity, jac_capacity, g_capacity,
      R_capacity, impact_capacity;

  // scratch of: advance
  double* impulse;  // (nv) Jᵀλ
  double* split;    // (nblock) share of the step with the old velocity, or TRIBO_DYN_SMOOTH

  unsigned char* flies;        // (nblock) nothing but impacts pushes it
  double *v_before, *v_after;  // (nv) what carries the blocks before and after an impact

  // scratch of: trees
  TriboPinData** pin;  // (npin = ntree)
  int npin;
  double* force;   // (nv_max) generalized forces
  double* mean;    // (nv_max)
  double* work;    // (nv_max)
  double* factor;  // (nv_max²) of the mass matrix

  // scratch of: kinematics, energy, integrate, difference
  double* look_q[2];        // (nq)
  TriboPose* look_poses;    // (nbody)
  TriboTwist* look_twists;  // (nbody)
  double* look_jac;         // (6 × nv_max)
};

// ---- system.c

// Copies q and scales its unit parts to length 1; TRIBO_NUMERIC for what is not finite or has length 0.
TriboStatus tribo_dyn_unit_state(const TriboSystem* system, const char* where, const double* q, double* out);
TriboStatus tribo_dyn_check_finite(const char* where, const char* what, const double* x, int count);
TriboStatus tribo_dyn_check_options(const char* where, const TriboStepOptions* options);

// ---- free_body.c

void tribo_dyn_body_pose(const FreeBody* body, const double q[7], TriboPose* pose);
void tribo_dyn_body_twist(const FreeBody* body, const TriboPose* pose, const double v[6], TriboTwist* twist);
// tau (6), wrench (6) may be NULL
void tribo_dyn_body_free_velocity(const FreeBody* body, const TriboStepOptions* options, const double q[7],
                                  const double v[6], const double* tau, const double* wrench, double v_free[6]);
// split: TRIBO_DYN_SMOOTH or the share of the step with the old velocity
void tribo_dyn_body_advance(double h, double split, const double q[7], const double v[6], const double v_next[6],
                            double q_next[7]);
void tribo_dyn_body_integrate(const double q[7], const double dv[6], double q_next[7]);
void tribo_dyn_body_difference(const double q0[7], const double q1[7], double dv[6]);

// ---- tree_factor.c

// L (nv × nv) receives the factor of a mass matrix; TRIBO_NUMERIC when that is not positive definite.
TriboStatus tribo_dyn_factor(const DofTree* tree, const double* mass, double* L);
void tribo_dyn_factor_solve(const DofTree* tree, const double* L, double* x);  // x (nv) ← M⁻¹ x
// minv (nv × nv) ← M⁻¹; scratch (nv)
void tribo_dyn_factor_inverse(const DofTree* tree, const double* L, double* scratch, double* minv);

// ---- tree_motion.c

// Poses (nlink) at q, and twists (nlink) of v; jac (6 × nv) is filled too.
TriboStatus tribo_dyn_tree_look(const TreePart* part, TriboPinData* pin, const double* q, const double* v,
                                TriboPose* poses, TriboTwist* twists, double* jac);
// Mass, free velocity, half-way point, poses, twists and jac of one tree; tau (nv), wrench (nlink × 6) may be NULL.
TriboStatus tribo_dyn_tree_update(const TriboSystem* system, TriboDynData* data, int tree,
                                  const TriboStepOptions* options, const double* v, const double* tau,
                                  const double* wrench);
TriboStatus tribo_dyn_tree_advance(const TriboSystem* system, TriboDynData* data, int tree, double h, const double* v,
                                   const double* v_next, double* q_next);
