// Where the links of a tree are, and what its joints move.
//
// A joint's frame follows from the one before it, its placement there and its own motion X(q). Velocity k moves all
// that hangs on it with the twist s_k (column k of jac: velocity of the point at the world's origin, then angular
// velocity, along the world's axes), which is, with the frame R, p behind the joint and a unit vector a along its axis,
//
//     turning about a:   ω = R a,   u = p × ω          sliding along a:   u = R a,   ω = 0
//
// and along the three axes of the frame for joints with more freedom; their velocities are Pinocchio's, of the frame in
// its own axes. Trees with rarer joints are Pinocchio's altogether.
//
// A joint that turns about a by θ stands at C(1 + sin θ [a]× + (1 − cos θ)[a]×²), C its placement: C, C[a]× and C[a]×²
// are known beforehand.
#include "tree/tree_model.h"
#include "small_dense.h"

int tribo_dyn_joint_has_own_kernel(TriboJointKind kind) {
  return kind == TRIBO_JOINT_FIXED || kind == TRIBO_JOINT_REVOLUTE || kind == TRIBO_JOINT_CONTINUOUS ||
         kind == TRIBO_JOINT_PRISMATIC || kind == TRIBO_JOINT_SPHERICAL || kind == TRIBO_JOINT_TRANSLATION ||
         kind == TRIBO_JOINT_FREE;
}

// C [a]×
static void times_cross(const double C[9], const double a[3], double out[9]) {
  double X[9];
  tribo_skew33(X, a);
  tribo_mul33(out, C, X);
}

TreeTurn tribo_dyn_tree_turn(const TriboLinkInfo* link) {
  TreeTurn turn;
  times_cross(link->place.R, link->axis, turn.sine);
  times_cross(turn.sine, link->axis, turn.versine);
  tribo_mul33v(turn.axis, link->place.R, link->axis);
  return turn;
}

static void turn_by_quaternion(double R[9], const double q[4]) {
  double X[9], from[9];
  memcpy(from, R, sizeof from);
  tribo_quat_to_mat(X, q);
  tribo_mul33(R, from, X);
}

// p ← p + R x
static void slide(TriboPose* pose, const double x[3]) {
  double step[3];
  tribo_mul33v(step, pose->R, x);
  tribo_add3(pose->p, pose->p, step);
}

// The frame before a joint becomes the one behind it; of joints that do not turn about an axis.
static void move(const TriboLinkInfo* link, const double* q, TriboPose* pose) {
  double along[3];
  switch (link->kind) {
    case TRIBO_JOINT_PRISMATIC:
      tribo_scale3(along, q[0], link->axis);
      slide(pose, along);
      break;
    case TRIBO_JOINT_SPHERICAL: turn_by_quaternion(pose->R, q); break;
    case TRIBO_JOINT_TRANSLATION: slide(pose, q); break;
    default:
      slide(pose, q);
      turn_by_quaternion(pose->R, q + 3);
      break;
  }
}

// The link behind a joint that turns by an angle with sine s and cosine c, and the joint's column. The axis is the same
// on both sides of the joint.
static void turn_link(const TriboPose* before, const TriboLinkInfo* link, const TreeTurn* turn, double s, double c,
                      TriboPose* pose, double* jac) {
  TriboPose local;
  double axis[3];
  for (int i = 0; i < 9; ++i) {
    local.R[i] = link->place.R[i] + s * turn->sine[i] + (1 - c) * turn->versine[i];
  }
  tribo_copy3(local.p, link->place.p);
  if (before == NULL) {
    *pose = local;
    tribo_copy3(axis, turn->axis);
  } else {
    tribo_dyn_compose(before, &local, pose);
    tribo_mul33v(axis, before->R, turn->axis);
  }
  tribo_cross3(jac, pose->p, axis);
  tribo_copy3(jac + 3, axis);
}

// Columns of jac for sliding and turning along a direction of the world.
static void column(const TriboPose* pose, const double direction[3], int turns, double* out) {
  static const double NONE[3] = {0, 0, 0};
  if (turns) {
    tribo_cross3(out, pose->p, direction);
  } else {
    tribo_copy3(out, direction);
  }
  tribo_copy3(out + 3, turns ? direction : NONE);
}

static void columns(const TriboLinkInfo* link, const TriboPose* pose, double* jac) {
  const int slides = link->kind == TRIBO_JOINT_PRISMATIC || link->kind == TRIBO_JOINT_TRANSLATION;
  double direction[3];
  if (link->nv == 1) {
    tribo_mul33v(direction, pose->R, link->axis);
    column(pose, direction, !slides, jac);
    return;
  }
  for (int k = 0; k < link->nv; ++k) {
    const int axis = k % 3;
    tribo_set3(direction, pose->R[axis], pose->R[3 + axis], pose->R[6 + axis]);
    column(pose, direction, link->nv == 6 ? k >= 3 : !slides, jac + 6 * k);
  }
}

TriboStatus tribo_dyn_tree_place(const TreePart* part, TriboPinData* pin, const double* q, TriboPose* poses,
                                 double* jac) {
  if (!part->has_own_kernels) {
    return tribo_pin_kinematics(pin, q, poses, jac);
  }
  for (int i = 0; i < part->info->nlink; ++i) {
    const TriboLinkInfo* link = part->info->links + i;
    const int carrier = link->parent < 0 ? -1 : part->info->links[link->parent].carrier;
    const TriboPose* before = carrier < 0 ? NULL : poses + carrier;
    if (link->kind == TRIBO_JOINT_REVOLUTE) {
      turn_link(before, link, part->turns + i, sin(q[link->q_at]), cos(q[link->q_at]), poses + i, jac + 6 * link->v_at);
      continue;
    }
    if (link->kind == TRIBO_JOINT_CONTINUOUS) {
      turn_link(before, link, part->turns + i, q[link->q_at + 1], q[link->q_at], poses + i, jac + 6 * link->v_at);
      continue;
    }
    if (before == NULL) {
      poses[i] = link->place;
    } else {
      tribo_dyn_compose(before, &link->place, poses + i);
    }
    if (link->nv > 0) {
      move(link, q + link->q_at, poses + i);
      columns(link, poses + i, jac + 6 * link->v_at);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_tree_integrate(const TreePart* part, TriboPinData* pin, const double* q, const double* dv,
                                     double* q_next) {
  if (!part->q_is_vector) {
    return tribo_pin_integrate(pin, q, dv, q_next);
  }
  for (int k = 0; k < part->info->nv; ++k) {
    q_next[k] = q[k] + dv[k];
  }
  return TRIBO_OK;
}
