// M and b of a tree, from where its joints are.
//
// Everything is written at the origin of the world and along its axes. The columns s_k of jac are the twists that unit
// joint velocities make, linear part first; V is the twist of what a joint moves, and its inertia is
//
//     I = | m 1      −[m c]×  |         m, m c and the moments about the origin are ten numbers; those of a subtree
//         | [m c]×    I_o     |         are sums
//
// so that (Featherstone, Rigid Body Dynamics Algorithms, §5.3 and §6.2, in one frame)
//
//     M_kl = s_l · I_sub(k) s_k                                for l on the way from k to the root, armature on top
//     b_k  = s_k · Σ_sub(k) (I A + V ×* I V),                  A = A_parent + V_parent × s v + …, −g at the root
//
// In A each column changes with what carries it. Columns of most joints stand still in the link behind the joint; since
// V × s v = V_parent × s v for the joint as a whole, that is the form above. The axes of a universal joint and of Euler
// angles are carried one by the other: there the sum runs over the columns, each with the ones before it.
//
// What depends on q alone is found once and serves M and b of any number of velocities.
#include "internal.h"

// V × s: how a twist that stands still in what moves with V changes.
static void cross_motion(const double V[6], const double s[6], double out[6]) {
  double turned[3];
  tribo_cross3(out, V + 3, s);
  tribo_cross3(turned, V, s + 3);
  tribo_add3(out, out, turned);
  tribo_cross3(out + 3, V + 3, s + 3);
}

// I x: a force, linear part first.
static void apply(const TreeInertia* I, const double x[6], double out[6]) {
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

// V and A behind a joint from those before it: V' = V + x, A' = A + V × x with the twist x that is added at once.
static void add_motion(TreeMotion* m, const double x[6]) {
  double change[6];
  cross_motion(m->V, x, change);
  for (int i = 0; i < 6; ++i) {
    m->V[i] += x[i];
    m->A[i] += change[i];
  }
}

static void pass_joint(const TreeJoint* joint, const double* jac, const double* v, TreeMotion* m) {
  double x[6] = {0};
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

void tribo_dyn_tree_bias(const TreePart* part, const double gravity[3], const double* jac, const TreeInertia* inertias,
                         const double* v, TreeMotion* motions, double* bias) {
  const TreeMotion root = {.A = {-gravity[0], -gravity[1], -gravity[2]}};
  for (int j = 0; j < part->njoint; ++j) {
    const TreeJoint* joint = part->joints + j;
    TreeMotion* m = motions + j;
    *m = joint->parent < 0 ? root : motions[joint->parent];
    pass_joint(joint, jac, v, m);
    // V ×* p with the momentum p: ω × its linear part; ω × its angular part and v × its linear one
    double momentum[6], turned[3];
    apply(inertias + j, m->A, m->force);
    apply(inertias + j, m->V, momentum);
    tribo_cross3(turned, m->V + 3, momentum);
    tribo_add3(m->force, m->force, turned);
    tribo_cross3(turned, m->V + 3, momentum + 3);
    tribo_add3(m->force + 3, m->force + 3, turned);
    tribo_cross3(turned, m->V, momentum);
    tribo_add3(m->force + 3, m->force + 3, turned);
  }
  for (int j = part->njoint - 1; j >= 0; --j) {
    const TreeJoint* joint = part->joints + j;
    for (int k = joint->v_at; k < joint->v_at + joint->nv; ++k) {
      bias[k] = dot6(jac + 6 * k, motions[j].force);
    }
    for (int i = 0; i < 6 && joint->parent >= 0; ++i) {
      motions[joint->parent].force[i] += motions[j].force[i];
    }
  }
}
