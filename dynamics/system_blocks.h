// A system: what moves, split into blocks, one per free body, then one per tree. A block owns a range of q, a range of
// v and a dense block of M. Const after creation.
#pragma once

#include "free_body.h"
#include "tree/tree_model.h"

// A stretch of q that has length 1: a quaternion (4) or a cosine and a sine (2).
typedef struct UnitPart {
  int at, count;
} UnitPart;

// A velocity index of a tree on which a limit or dry friction may act.
typedef struct BoundDof {
  int q, v;   // in the system's q and v
  int block;  // its tree's
  TriboJointKind kind;
  int part;             // which velocity of its joint
  double lower, upper;  // limits of q, ±INFINITY: none; SPHERICAL: of the angle [rad, m]
  double restitution;   // at these
  TriboSoftness soft;   // of these
  double friction;      // dry [N·m, N]
} BoundDof;

// How much room the closures need in a problem: cones, rows, terms, doubles of Jacobian.
typedef struct ClosureSize {
  size_t ncone, nrow, nterm, njac;
} ClosureSize;

struct TriboSystem {
  TriboSystemInfo info;
  int* block_dim;          // (nblock) velocities of a block
  int* block_q;            // (nblock) its first q
  int* block_v;            // (nblock) its first v
  int* body_block;         // (nbody) the block that moves a body, −1: none
  size_t* block_at;        // (nblock) in mass and minv
  size_t nmass;            // doubles in mass
  const int** dof_parent;  // (nblock) of a tree, its dofs' parents; NULL of a free body
  FreeBody* bodies;        // (nfree)
  UnitPart* units;         // (nunit)
  int nunit;
  TreePart* trees;   // (ntree)
  BoundDof* bounds;  // (nbound) by v: dofs with a finite limit or friction
  int nbound;
  int nv_max;  // of one tree

  TriboClosure* closures;  // (nclosure)
  int nclosure;
  ClosureSize closure_size;
  unsigned char* closure_needs_pose;  // (nblock) closures name a body of the block, moving or not
  int has_redundant_rows;             // 1: some rows of closures depend on others
  double* closure_mobility;           // (rows of the closures) what their diagonals in G are compared with, or NULL
  int* cluster;                       // (nblock) blocks that closures tie share a number, −1: none does
  int ncluster;
};

// ---- blocks and bodies

// The block that moves a body, −1: nothing does.
static inline int tribo_dyn_block_of(const TriboSystem* system, int body) {
  return body == TRIBO_WORLD_BODY ? -1 : system->info.body_block[body];
}
int tribo_dyn_block_of_v(const TriboSystem* system, int v);
// 1: both static, the same one, or links welded to the same joint
int tribo_dyn_are_welded(const TriboSystem* system, int body_a, int body_b);

// ---- state_check.c

// Copies q and scales its unit parts to length 1; TRIBO_NUMERIC for what is not finite or has length 0.
TriboStatus tribo_dyn_unit_state(const TriboSystem* system, const char* where, const double* q, double* out);
TriboStatus tribo_dyn_check_finite(const char* where, const char* what, const double* x, int count);
TriboStatus tribo_dyn_check_options(const char* where, const TriboStepOptions* options);
