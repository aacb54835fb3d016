// A tree in flight: link momenta by finite displacement, between two kicks.
//
// When the joints move by hw, q⁺ = q ⊕ hw, a link makes a displacement: its centre of mass goes from x to x + Δx, and
// it turns by R⁺ = Cay(g) R with the Gibbs vector g = 2 tan(θ/2) · axis. Let the action of a step be, summed over
// links,
//
//     L = (1/2h) (m |Δx|² + g·I g),     I the inertia about x along the world's axes, at q.
//
// Its derivative by a displacement of the end is a spatial momentum; the action does not change when start and end are
// displaced alike, so its derivative by a displacement of the start is minus the same one. About an origin, the root's
// at q where the tree floats (far from the world's, moments about that one would lose their digits),
//
//     P = (f, x×f + n),     f = mΔx/h,     n = l + ½ g×l + ¼ (g·l) g,     l = I g/h.
//
// The discrete Lagrange-d'Alembert principle then says, with the columns J(q) of jac and the armature A,
//
//     J(q)ᵀP + A w  = M(q) v + j⁻                  for w,                                      (2)
//     M(q⁺) v⁺ = J(q⁺)ᵀP + A w + j⁺                for v⁺, one solve,                          (3)
//
// with the impulses j⁻, j⁺ of the forces, half at each end. The columns of a floating root span all twists, so its rows
// say that ΣP is the momentum before plus what acts from outside, and likewise after: linear and angular momentum are
// kept for any h and any joints. The map is symplectic and time-symmetric: second order, and the energy does not drift.
// At rest w = v⁺ = 0 bit for bit.
//
// (2) is solved by w ← w − M̃⁻¹r with M̃ = M + diag(d): springs and dampers add d w to the left side. Each pass wins a
// factor of about h|ω|; mixing with the last two changes (Anderson) wins more. Passes that part are never hidden: the
// tree turns too far in one step.
//
// Displacements go down the tree without differences of large numbers. With swing(g, r) = Cay(g) r − r, a joint at p
// behind a link that turns by g' and whose point p' moves by d',
//
//     d = d' + swing(g', p − p')                        what it carries along
//     turning about a:  s = 2 tan(½hw) a                ball, free:  s = h R w
//     sliding along a:  d += hw (a + swing(g', a))
//     g = (g' + s + ½ g'×s)/(1 − ¼ g'·s)                Δx = d + swing(g, x − p)
//
// where p, a, R, x are those at q. Trees with rarer joints are placed at q ⊕ hw by Pinocchio and compared with q.
//
// Wheels. What looks the same however it has turned about its hinge, centre of mass on the axis e and inertia Iₑ about
// it, moves as if it were fixed to the link before it, which turns by g', and spins besides: its share of the action is
// that of a rigid part of that link and I_e (w e·g' + ½hw²). So its momentum belongs to the link before it, with
// I_e w (e + ½ g'×e + ¼ (g'·e) g') besides, and its hinge has I_e (w + e·g'/h) of its own. A wheel on a fixed axle goes
// on with w = v exactly, and however fast it turns, the passes do not mind.
//
// A body alone. Without the term ¼ (g·l) g, (2) and (3) are the midpoint rule of free_body.c, which keeps the energy of
// a single body exactly: that is what a tree of one floating link takes.
#include "tree/tree_drift.h"

#include <float.h>

#include "mixing.h"

enum { PASSES_MAX = 25 };

// Changes of w, as a fraction of it: below the first one passes that no longer shrink have met, as far as rounding lets
// them; below the second one they are not mixed, and do where nothing more is won.
static const double STALLED = 1e-11, NOISY = 1e-9;

// Cay(g) r − r
static inline void swing(double out[3], const double g[3], const double r[3]) {
  double once[3], twice[3];
  tribo_cross3(once, g, r);
  tribo_cross3(twice, g, once);
  const double scale = 1 / (1 + 0.25 * tribo_dot3(g, g));
  for (int i = 0; i < 3; ++i) {
    out[i] = scale * (once[i] + 0.5 * twice[i]);
  }
}

// Adds a slide along a direction that turns with g.
static inline void add_slide(double d[3], const double g[3], double scale, const double along[3]) {
  double turned[3];
  swing(turned, g, along);
  for (int i = 0; i < 3; ++i) {
    d[i] += scale * (along[i] + turned[i]);
  }
}

void tribo_dyn_tree_bodies(const TreePart* part, const TriboPose* poses, TreeBody* bodies) {
  for (int j = 0; j < part->njoint; ++j) {
    const TriboLinkInfo* link = part->info->links + part->joints[j].link;
    const TriboPose* pose = poses + part->joints[j].link;
    double turned[9], about[9];
    bodies[j].mass = link->moved_mass;
    tribo_mul33v(bodies[j].arm, pose->R, link->moved_com);
    tribo_add3(bodies[j].centre, pose->p, bodies[j].arm);
    tribo_mul33(turned, pose->R, link->moved_inertia);
    tribo_mul33t(about, turned, pose->R);
    memcpy(bodies[j].inertia, about, sizeof about);
  }
}

// What the joint itself adds to the motion that it is carried along with: turn s and slide, in d.
static inline void move_joint(const TriboLinkInfo* link, const TriboPose* pose, const double* jac, double h,
                              const double* w, const double carried[3], double s[3], double d[3]) {
  double turned[3], along[3];
  tribo_set3(s, 0, 0, 0);
  switch (link->kind) {
    case TRIBO_JOINT_REVOLUTE:
    case TRIBO_JOINT_CONTINUOUS: tribo_scale3(s, 2 * tan(0.5 * h * w[0]), jac + 3); break;
    case TRIBO_JOINT_PRISMATIC: add_slide(d, carried, h * w[0], jac); break;
    case TRIBO_JOINT_SPHERICAL:
      tribo_mul33v(s, pose->R, w);
      tribo_scale3(s, h, s);
      break;
    case TRIBO_JOINT_TRANSLATION:
      tribo_mul33v(along, pose->R, w);
      add_slide(d, carried, h, along);
      break;
    default:
      // free: its origin moves by ½(R + R⁺) h u
      tribo_mul33v(s, pose->R, w + 3);
      tribo_scale3(s, h, s);
      tribo_mul33v(along, pose->R, w);
      swing(turned, s, along);
      tribo_axpy3(along, along, 0.5, turned);
      add_slide(d, carried, h, along);
      break;
  }
}

// Turns g and displacements d of the joints' frames when the joints move by hw.
static void displace(const TreePart* part, const TriboPose* poses, const double* jac, double h, const double* w,
                     TreeDisplacement* out) {
  for (int j = 0; j < part->njoint; ++j) {
    const TreeJoint* joint = part->joints + j;
    const TriboPose* pose = poses + joint->link;
    TreeDisplacement* to = out + j;
    double carried[3] = {0}, s[3], arm[3], cross[3];
    tribo_set3(to->d, 0, 0, 0);
    if (joint->parent >= 0) {
      const TreeDisplacement* from = out + joint->parent;
      tribo_copy3(carried, from->g);
      tribo_sub3(arm, pose->p, poses[part->joints[joint->parent].link].p);
      swing(to->d, carried, arm);
      tribo_add3(to->d, to->d, from->d);
    }
    move_joint(part->info->links + joint->link, pose, jac + 6 * joint->v_at, h, w + joint->v_at, carried, s, to->d);
    tribo_cross3(cross, carried, s);
    const double scale = 1 / (1 - 0.25 * tribo_dot3(carried, s));
    for (int i = 0; i < 3; ++i) {
      to->g[i] = scale * (carried[i] + s[i] + 0.5 * cross[i]);
    }
  }
}

// The same from where links are at both ends.
static void compare_poses(const TreePart* part, const TriboPose* poses, const TriboPose* next, TreeDisplacement* out) {
  for (int j = 0; j < part->njoint; ++j) {
    const TriboPose *a = poses + part->joints[j].link, *b = next + part->joints[j].link;
    double E[9];
    tribo_mul33t(E, b->R, a->R);
    const double scale = 2 / (1 + E[0] + E[4] + E[8]);
    tribo_set3(out[j].g, scale * (E[7] - E[5]), scale * (E[2] - E[6]), scale * (E[3] - E[1]));
    tribo_sub3(out[j].d, b->p, a->p);
  }
}

// P of the links that make these displacements in the time h, with joints that move by hw, and the spins of wheels;
// returns the largest |g|² of what is no wheel.
static double find_momenta(const TreePart* part, const TreeStart* at, double h, DriftWork* work) {
  static const double NONE[3] = {0, 0, 0};
  const double quarter = part->njoint == 1 && part->joints->nv == 6 ? 0 : 0.25;
  double most = 0;
  for (int j = 0; j < part->njoint; ++j) {
    const TreeJoint* joint = part->joints + j;
    const TreeBody* body = at->bodies + j;
    const int is_wheel = joint->wheel_inertia > 0;
    const double* g = !is_wheel ? work->moved[j].g : joint->parent >= 0 ? work->moved[joint->parent].g : NONE;
    double shift[3], l[3], across[3], orbit[3], *f = work->P[j];
    // (the way of a point on the axle is the same by either turn)
    swing(shift, work->moved[j].g, body->arm);
    tribo_add3(shift, shift, work->moved[j].d);
    tribo_scale3(f, body->mass / h, shift);
    tribo_mul33v(l, body->inertia, g);
    if (is_wheel) {
      const double w = work->w[joint->v_at], *axis = at->jac + 6 * joint->v_at + 3;
      tribo_axpy3(l, l, h * joint->wheel_inertia * w, axis);
      work->spin[j] = joint->wheel_inertia * (w + tribo_dot3(axis, g) / h);
    }
    tribo_cross3(across, g, l);
    tribo_cross3(orbit, body->centre, f);
    const double along = quarter * tribo_dot3(g, l), size = tribo_dot3(g, g);
    for (int i = 0; i < 3; ++i) {
      f[3 + i] = orbit[i] + (l[i] + 0.5 * across[i] + along * g[i]) / h;
    }
    most = size > most ? size : most;
  }
  return most;
}

// out = JᵀP: sums over subtrees.
static void project(const TreePart* part, const double* jac, DriftWork* work, double* out) {
  double(*sums)[6] = work->sums;
  memcpy(sums, work->P, (size_t)part->njoint * sizeof *sums);
  for (int j = part->njoint - 1; j >= 0; --j) {
    const TreeJoint* joint = part->joints + j;
    for (int k = joint->v_at; k < joint->v_at + joint->nv; ++k) {
      out[k] = tribo_dot3(jac + 6 * k, sums[j]) + tribo_dot3(jac + 6 * k + 3, sums[j] + 3);
    }
    if (joint->wheel_inertia > 0) {
      // its own momentum is that of the link before it, but for the spin
      const double *column = jac + 6 * joint->v_at, *own = work->P[j];
      out[joint->v_at] += work->spin[j] - tribo_dot3(column, own) - tribo_dot3(column + 3, own + 3);
    }
    if (joint->parent >= 0) {
      for (int i = 0; i < 6; ++i) {
        sums[joint->parent][i] += sums[j][i];
      }
    }
  }
}

TriboStatus tribo_dyn_tree_move(const TreePart* part, TriboPinData* pin, const double* q, double h, const double* w,
                                double* step, double* q_next) {
  if (part->q_is_vector || !part->has_own_kernels) {
    for (int k = 0; k < part->info->nv; ++k) {
      step[k] = h * w[k];
    }
    return tribo_dyn_tree_integrate(part, pin, q, step, q_next);
  }
  for (int j = 0; j < part->njoint; ++j) {
    const TreeJoint* joint = part->joints + j;
    const TriboJointKind kind = part->info->links[joint->link].kind;
    const double *from = q + joint->q_at, *v = w + joint->v_at;
    double *to = q_next + joint->q_at, turn[4], half[3], R[9], R_next[9], a[3], b[3];
    switch (kind) {
      case TRIBO_JOINT_CONTINUOUS:
        to[0] = from[0] * cos(h * v[0]) - from[1] * sin(h * v[0]);
        to[1] = from[1] * cos(h * v[0]) + from[0] * sin(h * v[0]);
        break;
      case TRIBO_JOINT_SPHERICAL:
        tribo_scale3(half, h, v);
        tribo_quat_cayley(turn, half);
        tribo_quat_mul(to, from, turn);
        tribo_quat_normalize(to);
        break;
      case TRIBO_JOINT_FREE:
        tribo_scale3(half, h, v + 3);
        tribo_quat_cayley(turn, half);
        tribo_quat_mul(to + 3, from + 3, turn);
        tribo_quat_normalize(to + 3);
        tribo_quat_to_mat(R, from + 3);
        tribo_quat_to_mat(R_next, to + 3);
        tribo_mul33v(a, R, v);
        tribo_mul33v(b, R_next, v);
        for (int i = 0; i < 3; ++i) {
          to[i] = from[i] + 0.5 * h * (a[i] + b[i]);
        }
        break;
      default:
        for (int i = 0; i < joint->nv; ++i) {
          to[i] = from[i] + h * v[i];
        }
        break;
    }
  }
  return TRIBO_OK;
}

// r of (2) at w, from the momenta that w makes.
static TriboStatus find_residual(const TreePart* part, TriboPinData* pin, const TreeStart* at, double h,
                                 const double* extra, const double* impulse, DriftWork* work) {
  if (part->has_own_kernels) {
    displace(part, at->poses, at->jac, h, work->w, work->moved);
  } else {
    TRIBO_TRY(tribo_dyn_tree_move(part, pin, at->q, h, work->w, work->step, work->q_trial));
    TRIBO_TRY(tribo_dyn_tree_place(part, pin, work->q_trial, work->poses, work->jac));
    compare_poses(part, at->poses, work->poses, work->moved);
  }
  work->turn = find_momenta(part, at, h, work);
  project(part, at->jac, work, work->r);
  for (int k = 0; k < part->info->nv; ++k) {
    work->r[k] += (part->info->armature[k] + extra[k]) * work->w[k] - impulse[k];
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_tree_departure(const TreePart* part, TriboPinData* pin, const TreeStart* at, double h,
                                     const double* extra, DriftWork* work, double* out) {
  memset(out, 0, (size_t)part->info->nv * sizeof *out);
  TRIBO_TRY(find_residual(part, pin, at, h, extra, out, work));
  memcpy(out, work->r, (size_t)part->info->nv * sizeof *out);
  memset(work->r, 0, (size_t)part->info->nv * sizeof *out);
  return TRIBO_OK;
}

void tribo_dyn_drift_mix(int n, const double* diagonal, const double* extra, DriftWork* work, int is_mixed) {
  double theta[2] = {0};
  for (int k = 0; k < n; ++k) {
    work->scaled[k] = sqrt(diagonal[k] + (extra == NULL ? 0 : extra[k])) * work->f[k];
  }
  if (work->passes > 1) {
    // the change since the last pass takes the place of the oldest
    double *X = work->X[1], *F = work->F[1];
    work->X[1] = work->X[0], work->F[1] = work->F[0];
    work->X[0] = X, work->F[0] = F;
    for (int k = 0; k < n; ++k) {
      X[k] = work->w[k] - work->last_w[k] + work->f[k] - work->last_f[k];
      F[k] = work->scaled[k] - work->last_scaled[k];
    }
  }
  const int count = !is_mixed ? 0 : work->passes - 1 < 2 ? work->passes - 1 : 2;
  tribo_anderson_weights(n, count, work->F, work->scaled, work->Q, theta);
  const size_t bytes = (size_t)n * sizeof *work->w;
  memcpy(work->last_w, work->w, bytes);
  memcpy(work->last_f, work->f, bytes);
  memcpy(work->last_scaled, work->scaled, bytes);
  tribo_add_scaled(n, 1, work->f, work->w);
  for (int j = 0; j < count; ++j) {
    tribo_add_scaled(n, -theta[j], work->X[j], work->w);
  }
}

// What rounding leaves of the momenta of links whose displacements are differences of places, as a velocity in the
// metric of the mass.
static double rounding_of(const TreePart* part, const TreeBody* bodies, double h) {
  double sum = 0;
  if (!part->has_own_kernels) {
    for (int j = 0; j < part->njoint; ++j) {
      const double* I = bodies[j].inertia;
      sum += bodies[j].mass * tribo_dot3(bodies[j].centre, bodies[j].centre) + I[0] + I[4] + I[8];
    }
  }
  return DBL_EPSILON * sqrt(sum) / h;
}

TriboStatus tribo_dyn_tree_drift(const TreePart* part, TriboPinData* pin, const TreeStart* at, double h, double tol,
                                 const double* extra, const double* impulse, DriftWork* work, int* converged) {
  const int n = part->info->nv;
  const double rounding = rounding_of(part, at->bodies, h);
  double last = INFINITY;
  *converged = 0;
  for (work->passes = 1; work->passes <= PASSES_MAX; ++work->passes) {
    TRIBO_TRY(find_residual(part, pin, at, h, extra, impulse, work));
    double change = 0, size = 0, before = 0;
    for (int k = 0; k < n; ++k) {
      work->f[k] = -work->r[k];
    }
    tribo_dyn_factor_solve(&part->dofs, at->factor, work->f);
    // |f|² in the metric of M̃ is −f·r; |w|² there will be about (w + f)·(M v + j)
    for (int k = 0; k < n; ++k) {
      change -= work->f[k] * work->r[k];
      size += (work->w[k] + work->f[k]) * impulse[k];
      before += work->w[k] * (work->r[k] + impulse[k]);
    }
    change = sqrt(fmax(change, 0)), size = sqrt(fabs(size)), before = sqrt(fabs(before));
    if (change <= tol * size || (change <= STALLED * size + 10 * rounding && change >= 0.5 * last)) {
      *converged = work->turn <= 1;
      break;
    }
    const int parts =
        !(change < 10 * (fmax(size, before) + 10 * rounding)) || (work->passes > 3 && !(change < 10 * last));
    if (parts || work->passes == PASSES_MAX) {
      // near enough for all but the last digits: momentum does not depend on them, and r goes to the joints
      *converged = change <= NOISY * size && work->turn <= 1;
      break;
    }
    last = change;
    // (near rounding the differences that mixing lives on are noise)
    tribo_dyn_drift_mix(n, at->diagonal, extra, work, change > NOISY * size);
  }
  // what a floating root still lacks goes to it: momentum is kept to rounding, whatever tol
  const TreeJoint* root = part->joints;
  if (*converged && n > 0 && root->nv == 6 && part->info->links[root->link].kind == TRIBO_JOINT_FREE) {
    const TriboPose* pose = at->poses + root->link;
    double f[3], torque[3], orbit[3];
    tribo_mul33v(f, pose->R, work->r);
    tribo_mul33v(torque, pose->R, work->r + 3);
    tribo_cross3(orbit, pose->p, f);
    for (int i = 0; i < 3; ++i) {
      work->P[0][i] -= f[i];
      work->P[0][3 + i] -= orbit[i] + torque[i];
    }
    memset(work->r, 0, 6 * sizeof *work->r);
  }
  return TRIBO_OK;
}

void tribo_dyn_tree_momentum(const TreePart* part, const double* jac, const double shift[3], DriftWork* work,
                             double* out) {
  double(*P)[6] = work->P;
  for (int j = 0; j < part->njoint; ++j) {
    double lever[3];
    tribo_cross3(lever, shift, P[j]);
    tribo_sub3(P[j] + 3, P[j] + 3, lever);
  }
  project(part, jac, work, out);
  for (int k = 0; k < part->info->nv; ++k) {
    // (what the passes have left of r: impulses in joints, which make no momentum)
    out[k] += part->info->armature[k] * work->w[k] - work->r[k];
  }
}
