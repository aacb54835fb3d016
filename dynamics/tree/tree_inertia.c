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
// An ellipsoid joint turns likewise, about x, the new y = e and the new z = n(q₀, q₁), while its link's origin runs on
// p = E n with E = diag(a, b, c) in the frame before the joint. No column is carried there: those of q₀ and q₁ hold the
// tangents p₀ = ∂p/∂q₀ and p₁, which follow the ellipsoid's curvature. With ω = v₀ x + v₁ e + v₂ n and the linear part
// u = ṗ + p × ω of the twist, the rate of u less the sum above is, p and v₂ cancelling by Jacobi's identity,
//
//     d = v₀² (p₀₀ − x × p₀) + 2 v₀ v₁ (p₀₁ − x × p₁) + v₁² (p₁₁ − e × p₁)
//
// a plain acceleration of all that the joint moves. On a sphere p₀ = x × p and p₁ = e × p turn as they should: d = 0.
//
// What depends on q alone is found once and serves M and b of any number of velocities.
#include "tree/tree_model.h"

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

void tribo_dyn_tree_weight(const TreePart* part, const double gravity[3], const double* jac, const TreeInertia* sums,
                           double* weight) {
  for (int j = 0; j < part->njoint; ++j) {
    const TreeJoint* joint = part->joints + j;
    double force[6];
    tribo_scale3(force, -sums[j].mass, gravity);
    tribo_cross3(force + 3, gravity, sums[j].moment);
    for (int k = joint->v_at; k < joint->v_at + joint->nv; ++k) {
      weight[k] = dot6(jac + 6 * k, force);
    }
  }
}

// The motion behind a joint that adds the twist x.
static inline void add_motion(TreeMotion* m, const double x[6]) {
  double change[3], twice[3];
  tribo_cross3(change, m->omega, x + 3);
  tribo_add3(m->alpha, m->alpha, change);
  tribo_axpy3(twice, x + 3, 2, m->omega);
  tribo_cross3(change, twice, x);
  tribo_add3(m->acc, m->acc, change);
  tribo_add3(m->omega, m->omega, x + 3);
}

// acc += d of the derivation, with the derivatives of n = (s₁, −s₀c₁, c₀c₁) put in and sorted by the radii. The axes
// of the frame before the joint are found from the columns: x is the first one's, and y and z turn to e and e' = x × e.
static void add_curvature(const double radii[3], const double* q, const double* jac, const double* v, double acc[3]) {
  const double a = radii[0], b = radii[1], c = radii[2];
  const double s0 = sin(q[0]), c0 = cos(q[0]), s1 = sin(q[1]), c1 = cos(q[1]);
  const double v00 = v[0] * v[0], v01 = 2 * v[0] * v[1], v11 = v[1] * v[1];
  const double along_x = v11 * s1 * (b * s0 * s0 + c * c0 * c0 - a);
  const double along_y = (b - c) * (v00 * c1 * s0 + v01 * s1 * c0) + v11 * (b - a) * c1 * s0;
  const double along_z = (b - c) * (v00 * c1 * c0 - v01 * s1 * s0) + v11 * (a - c) * c1 * c0;
  const double *x = jac + 3, *e = jac + 9;
  double across[3];
  tribo_cross3(across, x, e);
  tribo_axpy3(acc, acc, along_x, x);
  tribo_axpy3(acc, acc, along_y * c0 + along_z * s0, e);
  tribo_axpy3(acc, acc, along_z * c0 - along_y * s0, across);
}

static inline void pass_joint(const TreeJoint* joint, const double* q, const double* jac, const double* v,
                              TreeMotion* m) {
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
      x[i] = (joint->axes_are_carried ? 0 : x[i]) + v[k] * jac[6 * k + i];
    }
    if (joint->axes_are_carried) {
      add_motion(m, x);
    }
  }
  if (!joint->axes_are_carried) {
    add_motion(m, x);
  }
  if (joint->radii != NULL) {
    add_curvature(joint->radii, q + joint->q_at, jac + 6 * joint->v_at, v + joint->v_at, m->acc);
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
  tribo_cross3(a, m->alpha, I->moment);
  tribo_cross3(turned, m->omega, I->moment);
  tribo_cross3(b, m->omega, turned);
  for (int i = 0; i < 3; ++i) {
    m->force[i] = I->mass * m->acc[i] + (a[i] + b[i]);
  }
  tribo_cross3(a, I->moment, m->acc);
  turn_inertia(I->about, m->omega, turned);
  tribo_cross3(b, m->omega, turned);
  turn_inertia(I->about, m->alpha, turned);
  for (int i = 0; i < 3; ++i) {
    m->force[3 + i] = a[i] + turned[i] + b[i];
  }
}

void tribo_dyn_tree_bias(const TreePart* part, const double gravity[3], const double* q, const double* jac,
                         const TreeInertia* inertias, const double* v, TreeMotion* motions, double* bias) {
  const TreeMotion root = {.acc = {-gravity[0], -gravity[1], -gravity[2]}};
  for (int j = 0; j < part->njoint; ++j) {
    const TreeJoint* joint = part->joints + j;
    const TreeMotion* before = joint->parent < 0 ? &root : motions + joint->parent;
    TreeMotion m;
    tribo_copy3(m.omega, before->omega);
    tribo_copy3(m.alpha, before->alpha);
    tribo_copy3(m.acc, before->acc);
    pass_joint(joint, q, jac, v, &m);
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
