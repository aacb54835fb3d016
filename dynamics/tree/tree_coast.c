// How a tree coasts under Euler's scheme: the velocity v' with which it ends a step when nothing acts.
//
// With the bias of (q, v) for all of a step a spinning tree gains energy for ever. Here it is that of the end, and each
// link moves as a free body does (free_body.c): with u and ω of its centre, ω in its own axes, and the joints' virtual
// velocities at the end,
//
//     Σ m (u' − u)·δu + (I (ω' − ω) + h ω' × Iω')·δω + A (v' − v)·δv = 0,     q' = q ⊕ h v',     A the armature.
//
// Put δ = ', and the energy only falls, T' = T − ½Σ |V' − V|², at any h; put δu = const, and a floating tree keeps its
// linear momentum. No force has a part in it: forces add to v' as to any velocity, v⁺ = v' + M̃⁻¹(hF + Jᵀλ), so rows
// stay linear and steps are read backwards as before.
//
// v' is found by passes with M(q')⁻¹, mixed like those of the drift (tree_drift.c).
#include "dyn_data.h"
#include "small_dense.h"

// u and ω of what the joints move, ω in its own axes; sums receives its twists.
static void find_velocities(const TreeAt* tree, const TriboPose* poses, const double* jac, const TreeBody* bodies,
                            const double* v, double (*twists)[6], double (*out)[6]) {
  for (int j = 0; j < tree->part->njoint; ++j) {
    const TreeJoint* joint = tree->part->joints + j;
    double *twist = twists[j], swing[3];
    memset(twist, 0, 6 * sizeof *twist);
    if (joint->parent >= 0) {
      memcpy(twist, twists[joint->parent], 6 * sizeof *twist);
    }
    for (int k = joint->v_at; k < joint->v_at + joint->nv; ++k) {
      tribo_add_scaled(6, v[k], jac + 6 * k, twist);
    }
    tribo_cross3(swing, twist + 3, bodies[j].centre);
    tribo_add3(out[j], twist, swing);
    tribo_mul33tv(out[j] + 3, poses[joint->link].R, twist + 3);
  }
}

// What misses in the equation, at `later` with the velocities w: r.
static void find_residual(const TreeAt* tree, const TreeInstant* later, double h, double (*before)[6], const double* v,
                          DriftWork* work) {
  double(*sums)[6] = work->sums;
  find_velocities(tree, later->poses, later->jac, later->bodies, work->w, sums, work->P);
  for (int j = 0; j < tree->part->njoint; ++j) {
    const TriboLinkInfo* link = tree->info->links + tree->part->joints[j].link;
    const double *now = work->P[j], *R = later->poses[tree->part->joints[j].link].R;
    double change[3], spin[3], gyro[3], turned[3], *f = sums[j];
    tribo_sub3(f, now, before[j]);
    tribo_scale3(f, later->bodies[j].mass, f);
    tribo_sub3(change, now + 3, before[j] + 3);
    tribo_mul33v(turned, link->moved_inertia, change);
    tribo_mul33v(spin, link->moved_inertia, now + 3);
    tribo_cross3(gyro, now + 3, spin);
    tribo_axpy3(turned, turned, h, gyro);
    tribo_mul33v(f + 3, R, turned);
    tribo_cross3(turned, later->bodies[j].centre, f);
    tribo_add3(f + 3, f + 3, turned);
  }
  for (int j = tree->part->njoint - 1; j >= 0; --j) {
    const TreeJoint* joint = tree->part->joints + j;
    for (int k = joint->v_at; k < joint->v_at + joint->nv; ++k) {
      work->r[k] = tribo_dot(later->jac + 6 * k, sums[j], 6) + tree->info->armature[k] * (work->w[k] - v[k]);
    }
    if (joint->parent >= 0) {
      tribo_add_scaled(6, 1, sums[j], sums[joint->parent]);
    }
  }
}

TriboStatus tribo_dyn_tree_coast(const TreeAt* tree, TriboDynData* data, double h, const TreeInstant* at,
                                 const double* v, int* converged) {
  enum { PASSES_MAX = 30 };
  static const double TOL = 1e-13, NOISY = 1e-9, WEIGHTLESS[3] = {0, 0, 0};
  DriftWork* work = &data->flight.drift;
  TreeInstant later = tribo_dyn_tree_later(tree, data);
  double size = 0, last = INFINITY;
  work->turn = 0;
  memcpy(work->w, v, (size_t)tree->n * sizeof *v);
  *converged = 1;
  for (int k = 0; k < tree->n; ++k) {
    size += at->diagonal[k] * v[k] * v[k];
  }
  if (size == 0) {
    return TRIBO_OK;
  }
  find_velocities(tree, at->poses, at->jac, at->bodies, v, work->sums, data->flight.coasting);
  for (int j = 0; j < tree->part->njoint; ++j) {
    const double* omega = data->flight.coasting[j] + 3;
    work->turn = fmax(work->turn, h * h * tribo_dot3(omega, omega));
  }
  for (work->passes = 1; work->passes <= PASSES_MAX; ++work->passes) {
    double change = 0;
    for (int k = 0; k < tree->n; ++k) {
      work->step[k] = h * work->w[k];
    }
    TRIBO_TRY(tribo_dyn_tree_integrate(tree->part, tree->pin, at->q, work->step, later.q));
    TRIBO_TRY(tribo_dyn_instant_place(tree, WEIGHTLESS, data->scratch_sums, &later));
    TRIBO_TRY(tribo_dyn_factor(&tree->part->dofs, later.mass, later.factor));
    find_residual(tree, &later, h, data->flight.coasting, v, work);
    for (int k = 0; k < tree->n; ++k) {
      work->f[k] = -work->r[k];
    }
    tribo_dyn_factor_solve(&tree->part->dofs, later.factor, work->f);
    for (int k = 0; k < tree->n; ++k) {
      change -= work->f[k] * work->r[k];
    }
    change = sqrt(fmax(change, 0) / size);
    if (change <= TOL || (change <= NOISY && change >= 0.5 * last)) {
      tribo_add_scaled(tree->n, 1, work->f, work->w);
      return TRIBO_OK;
    }
    if (!(change < 10) || (work->passes > 3 && !(change < 10 * last))) {
      break;
    }
    last = change;
    tribo_dyn_drift_mix(tree->n, at->diagonal, NULL, work, change > NOISY);
  }
  *converged = 0;
  return TRIBO_OK;
}
