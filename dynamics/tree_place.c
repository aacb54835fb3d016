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
#include "internal.h"

int tribo_dyn_is_plain(TriboJointKind kind) {
  return kind == TRIBO_JOINT_FIXED || kind == TRIBO_JOINT_REVOLUTE || kind == TRIBO_JOINT_CONTINUOUS ||
         kind == TRIBO_JOINT_PRISMATIC || kind == TRIBO_JOINT_SPHERICAL || kind == TRIBO_JOINT_TRANSLATION ||
         kind == TRIBO_JOINT_FREE;
}

// out = a b
static void compose(const TriboPose* a, const TriboPose* b, TriboPose* out) {
  tribo_mul33(out->R, a->R, b->R);
  tribo_mul33v(out->p, a->R, b->p);
  tribo_add3(out->p, out->p, a->p);
}

// R ← R Rot(a, angle), from the angle's sine and cosine: 1 + s[a]× + (1 − c)[a]×²
static void turn(double R[9], const double a[3], double s, double c) {
  const double d = 1 - c, from[9] = {R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]};
  const double X[9] = {c + d * a[0] * a[0],        d * a[0] * a[1] - s * a[2], d * a[0] * a[2] + s * a[1],
                       d * a[0] * a[1] + s * a[2], c + d * a[1] * a[1],        d * a[1] * a[2] - s * a[0],
                       d * a[0] * a[2] - s * a[1], d * a[1] * a[2] + s * a[0], c + d * a[2] * a[2]};
  tribo_mul33(R, from, X);
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

// The frame before a joint becomes the one behind it.
static void move(const TriboLinkInfo* link, const double* q, TriboPose* pose) {
  double along[3];
  switch (link->kind) {
    case TRIBO_JOINT_REVOLUTE: turn(pose->R, link->axis, sin(q[0]), cos(q[0])); break;
    case TRIBO_JOINT_CONTINUOUS: turn(pose->R, link->axis, q[1], q[0]); break;
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
  if (!part->plain) {
    return tribo_pin_kinematics(pin, q, poses, jac);
  }
  for (int i = 0; i < part->info->nlink; ++i) {
    const TriboLinkInfo* link = part->info->links + i;
    const int before = link->parent < 0 ? -1 : part->info->links[link->parent].carrier;
    if (before < 0) {
      poses[i] = link->place;
    } else {
      compose(poses + before, &link->place, poses + i);
    }
    if (link->nv > 0) {
      move(link, q + link->q_at, poses + i);
      columns(link, poses + i, jac + 6 * link->v_at);
    }
  }
  return TRIBO_OK;
}
