// A tree as the kernels of a step see it: its joints, its dofs in depth-first order, and what they compute from q and
// v. None of them knows a system or its data.
#pragma once

#include "dynamics.h"
#include "math3.h"
#include "memory.h"
#include "shim/pinocchio_shim.h"

// The dofs of a tree in depth-first order.
typedef struct DofTree {
  int nv;
  int* parent;  // (nv) next dof on the way to the root, −1 at the root
  int* start;   // (nv) of the dofs start … k all on the way to the root are ancestors of k; the next ones end at its
                // parent
} DofTree;

// A joint that moves: parents first.
typedef struct TreeJoint {
  int link, parent;  // link behind it; joint before it, −1: none
  int q_at, v_at, nv;
  int axes_are_carried;  // 1: each of its axes is carried by the ones before
  const double* radii;   // of an ellipsoid joint, else NULL
  double wheel_inertia;  // about its axis, of a body that looks the same however it has turned; else 0 [kg·m²]
} TreeJoint;

// What a joint that turns about an axis a adds to its placement C: tree_place.c.
typedef struct TreeTurn {
  double sine[9], versine[9];  // C[a]×, C[a]×²
  double axis[3];              // C a
} TreeTurn;

// Inertia at the world origin, along the world's axes: tree_inertia.c.
typedef struct TreeInertia {
  double mass, moment[3];  // m [kg], m c [kg·m]
  double about[6];         // xx xy xz yy yz zz [kg·m²]
} TreeInertia;

// How what a joint moves goes on without joint accelerations, in world axes.
typedef struct TreeMotion {
  double omega[3], alpha[3];  // angular velocity [rad/s] and acceleration [rad/s²]
  double acc[3];              // acceleration of its point at the world origin [m/s²]
  double force[6];            // that this takes, linear part first [N, N·m]
} TreeMotion;

// A tree inside a system.
typedef struct TreePart {
  const TriboTree* tree;
  const TriboTreeInfo* info;
  DofTree dofs;
  TreeJoint* joints;  // (njoint)
  int njoint;
  int* joint_of;        // (nlink) joint that moves a link, −1: none
  TreeTurn* turns;      // (nlink) of joints that turn about an axis
  int has_own_kernels;  // 1: all its joints are of the kinds that tree_place.c knows
  int q_is_vector;      // 1: q is a vector, as v is
  int has_springs;      // 1: some joint has one
  int has_ellipsoids;   // 1: some joint is one
  int is_floating;      // 1: all of it hangs on a floating root
  int block, body;      // its block, its first body
} TreePart;

// out = a b, the pose b seen through a; out is neither.
static inline void tribo_dyn_compose(const TriboPose* a, const TriboPose* b, TriboPose* out) {
  tribo_mul33(out->R, a->R, b->R);
  tribo_mul33v(out->p, a->R, b->p);
  tribo_add3(out->p, out->p, a->p);
}

// ---- joint_kinds.c

int tribo_dyn_joint_nv(TriboJointKind kind);        // how many velocities
int tribo_dyn_joint_has_axis(TriboJointKind kind);  // 1: `axis` of its definition counts

// ---- link_check.c

// The pose is finite and its R a rotation; `what` begins the message.
TriboStatus tribo_dyn_check_pose(const char* what, const TriboPose* pose);
// The links make a tree that can be computed with.
TriboStatus tribo_dyn_check_links(const TriboLinkDef* links, int nlink);

// ---- tree_factor.c

void tribo_dyn_dof_starts(DofTree* tree);  // from the parents
// L (nv × nv) receives the factor of a mass matrix; TRIBO_NUMERIC when that is not positive definite.
TriboStatus tribo_dyn_factor(const DofTree* tree, const double* mass, double* L);
void tribo_dyn_factor_solve(const DofTree* tree, const double* L, double* x);  // x (nv) ← M⁻¹ x
// minv (nv × nv) ← M⁻¹
void tribo_dyn_factor_inverse(const DofTree* tree, const double* L, double* minv);

// ---- tree_place.c

int tribo_dyn_joint_has_own_kernel(TriboJointKind kind);
TreeTurn tribo_dyn_tree_turn(const TriboLinkInfo* link);
// q_next = q ⊕ dv
TriboStatus tribo_dyn_tree_integrate(const TreePart* part, TriboPinData* pin, const double* q, const double* dv,
                                     double* q_next);
// Poses of the links (nlink) and jac (6 × nv) at q; pin is for trees that are not plain.
TriboStatus tribo_dyn_tree_place(const TreePart* part, TriboPinData* pin, const double* q, TriboPose* poses,
                                 double* jac);

// ---- tree_inertia.c

// inertias (njoint) of what the joints move, from the poses of the links (nlink).
void tribo_dyn_tree_inertias(const TreePart* part, const TriboPose* poses, TreeInertia* inertias);
// M (nv × nv), armature included; sums (njoint) receives the inertias of what hangs on each joint.
void tribo_dyn_tree_mass(const TreePart* part, const double* jac, const TreeInertia* inertias, TreeInertia* sums,
                         double* mass);
// The bias (nv) that gravity alone makes; sums: what tribo_dyn_tree_mass has left there, the inertias of subtrees.
void tribo_dyn_tree_weight(const TreePart* part, const double gravity[3], const double* jac, const TreeInertia* sums,
                           double* weight);
// b(q, v) (nv): Coriolis, centrifugal and gravity forces; jac and inertias at q; motions (njoint) scratch.
void tribo_dyn_tree_bias(const TreePart* part, const double gravity[3], const double* q, const double* jac,
                         const TreeInertia* inertias, const double* v, TreeMotion* motions, double* bias);
