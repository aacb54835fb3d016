// M and b of a tree, from where its joints are.
//
// Everything is written at the origin of the world and along its axes. The columns s_k of jac are the twists that unit
// joint velocities make, linear part first; what a joint moves has the inertia
//
//     I = | m 1      −[m c]×  |         m, m c and the moments about the origin are ten numbers; those of a subtree
//         | [m c]×    I_o     |         are sums
//
// so that (Featherstone, Rigid Body Dynamics Algorithms, §6.2, in one frame)
//
//     M_kl = s_l · I_sub(k) s_k                                for l on the way from k to the root, armature on top
//
// For b, a body that turns with ω and ω̇ and whose point at the origin has the acceleration a takes the force and torque
//
//     f = m a + ω̇ × m c + ω × (ω × m c)          n = m c × a + I_o ω̇ + ω × I_o ω          b_k = s_k · Σ_sub(k) (f, n)
//
// A joint that adds the twist (u, w), which stands still in the link before it, leaves behind itself
//
//     ω' = ω + w,     ω̇' = ω̇ + ω × w,     a' = a + (2ω + w) × u,          ω = ω̇ = 0 and a = −g at the root.
//
// (With spatial accelerations A = (a − ω × v, ω̇) that is A' = A + V × s v, and v drops out.) Columns of most joints
// stand still in the link behind the joint as well; for the joint as a whole that is the same. The axes of a universal
// joint and of Euler angles are carried one by the other: there the columns are added one by one.
//
// What depends on q alone is found once and serves M and b of any number of velocities.
#include "internal.h"

// I x: a force, linear part first.
static inline void apply(const TreeInertia* I, const double x[6], double out[6]) {
  double a[3];
  const double* J = I->about;
  tribo_cross3(a, x + 3, I->moment);
  tribo_axpy3(out, a, I->mass, x);
  tribo_cross3(a, I->moment, x);
  out[3] = a[0] + J[0] * x[3] + J[1] * x[4] + J[2] * x[5];
  out[4] = a[1] + J[1] * x[3] + J[3] * x[4] + J[4] * x[5];
  out[5] = a[2] + J[2] * x[3] + J[4] * x[4] + J[5] * x[5];
}

static double dot6(const double* a, const double* b) {
  return tribo_dot3(a, b) + tribo_dot3(a + 3, b + 3);
}

void tribo_dyn_tree_inertias(const TreePart* part, const TriboPose* poses, TreeInertia* out) {
  for (int j = 0; j < part->njoint; ++j) {
    const TriboLinkInfo* link = part->info->links + part->joints[j].link;
    const TriboPose* pose = poses + part->joints[j].link;
    const double* R = pose->R;
    double c[3], turned[9];
    tribo_mul33v(c, R, link->moved_com);
    tribo_add3(c, c, pose->p);
    tribo_mul33(turned, R, link->moved_inertia);
    // R I Rᵀ, upper half, and m(c·c 1 − c cᵀ)
    const double m = link->moved_mass, cc = tribo_dot3(c, c);
    for (int i = 0, at = 0; i < 3; ++i) {
      for (int k = i; k < 3; ++k) {
        out[j].about[at++] = tribo_dot3(turned + 3 * i, R + 3 * k) + m * ((i == k ? cc : 0) - c[i] * c[k]);
      }
    }
    out[j].mass = m;
    tribo_scale3(out[j].moment, m, c);
  }
}

void tribo_dyn_tree_mass(const TreePart* part, const double* jac, const TreeInertia* inertias, TreeInertia* sums,
                         double* mass) {
  const int n = part->info->nv;
  memset(mass, 0, (size_t)n * (size_t)n * sizeof *mass);
  memcpy(sums, inertias, (size_t)part->njoint * sizeof *sums);
  for (int j = part->njoint - 1; j >= 0; --j) {
    const TreeJoint* joint = part->joints + j;
    for (int k = joint->v_at; k < joint->v_at + joint->nv; ++k) {
      double force[6];
      apply(sums + j, jac + 6 * k, force);
      for (int l = k; l >= 0; l = part->dofs.parent[l]) {
        mass[k * n + l] = mass[l * n + k] = dot6(jac + 6 * l, force);
      }
      mass[k * (n + 1)] += part->info->armature[k];
    }
    if (joint->parent >= 0) {
      double *to = &sums[joint->parent].mass, *from = &sums[j].mass;
      for (int i = 0; i < 10; ++i) {
        to[i] += from[i];
      }
    }
  }
}

// The motion behind a joint that adds the twist x.
static inline void add_motion(TreeMotion* m, const double x[6]) {
  double change[3], twice[3];
  tribo_cross3(change, m->spin, x + 3);
  tribo_add3(m->turn, m->turn, change);
  tribo_axpy3(twice, x + 3, 2, m->spin);
  tribo_cross3(change, twice, x);
  tribo_add3(m->rise, m->rise, change);
  tribo_add3(m->spin, m->spin, x + 3);
}

static inline void pass_joint(const TreeJoint* joint, const double* jac, const double* v, TreeMotion* m) {
  double x[6] = {0};
  if (joint->nv == 1) {
    for (int i = 0; i < 6; ++i) {
      x[i] = v[joint->v_at] * jac[6 * joint->v_at + i];
    }
    add_motion(m, x);
    return;
  }
  for (int k = joint->v_at; k < joint->v_at + joint->nv; ++k) {
    for (int i = 0; i < 6; ++i) {
      x[i] = (joint->in_turn ? 0 : x[i]) + v[k] * jac[6 * k + i];
    }
    if (joint->in_turn) {
      add_motion(m, x);
    }
  }
  if (!joint->in_turn) {
    add_motion(m, x);
  }
}

// J x of a symmetric J, upper half.
static inline void turn_inertia(const double J[6], const double x[3], double out[3]) {
  out[0] = J[0] * x[0] + J[1] * x[1] + J[2] * x[2];
  out[1] = J[1] * x[0] + J[3] * x[1] + J[4] * x[2];
  out[2] = J[2] * x[0] + J[4] * x[1] + J[5] * x[2];
}

// f and n of one body.
static inline void find_force(const TreeInertia* I, TreeMotion* m) {
  double a[3], b[3], turned[3];
  tribo_cross3(a, m->turn, I->moment);
  tribo_cross3(turned, m->spin, I->moment);
  tribo_cross3(b, m->spin, turned);
  for (int i = 0; i < 3; ++i) {
    m->force[i] = I->mass * m->rise[i] + (a[i] + b[i]);
  }
  tribo_cross3(a, I->moment, m->rise);
  turn_inertia(I->about, m->spin, turned);
  tribo_cross3(b, m->spin, turned);
  turn_inertia(I->about, m->turn, turned);
  for (int i = 0; i < 3; ++i) {
    m->force[3 + i] = a[i] + turned[i] + b[i];
  }
}

void tribo_dyn_tree_bias(const TreePart* part, const double gravity[3], const double* jac, const TreeInertia* inertias,
                         const double* v, TreeMotion* motions, double* bias) {
  const TreeMotion root = {.rise = {-gravity[0], -gravity[1], -gravity[2]}};
  for (int j = 0; j < part->njoint; ++j) {
    const TreeJoint* joint = part->joints + j;
    const TreeMotion* before = joint->parent < 0 ? &root : motions + joint->parent;
    TreeMotion m;
    tribo_copy3(m.spin, before->spin);
    tribo_copy3(m.turn, before->turn);
    tribo_copy3(m.rise, before->rise);
    pass_joint(joint, jac, v, &m);
    find_force(inertias + j, &m);
    motions[j] = m;
  }
  for (int j = part->njoint - 1; j >= 0; --j) {
    const TreeJoint* joint = part->joints + j;
    for (int k = joint->v_at; k < joint->v_at + joint->nv; ++k) {
      bias[k] = dot6(jac + 6 * k, motions[j].force);
    }
    if (joint->parent >= 0) {
      double *to = motions[joint->parent].force, *from = motions[j].force;
      for (int i = 0; i < 6; ++i) {
        to[i] += from[i];
      }
    }
  }
}
