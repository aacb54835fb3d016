// Trees in motion: kick, drift, kick. tree_drift.c has the drift.
//
// Forces act half at the start and half at the end of the step: with the weight g, springs K at the mean of both ends
// and dampers D on a velocity v_D,
//
//     j⁻ = ½h(τ − g(q) − K y(q) − ½hK w − D v_D)          j⁺ = ½h(τ − g(q⁺) − K y(q) − ½hK w − D v_D)
//
// v_D is the mean velocity w, but where damping stops a joint within one step, z = h d/M_kk > 2: it would ring for
// ever. There v_D leans on the velocity at the end, which is 2w − v to second order:
//
//     v_D = (1−θ) v + θ (2w − v) = 2θ w − (2θ−1) v,     θ = 1 − 1/z for the largest z of the tree.
//
// Then a force f alone makes v⁺ go to f/d at once, however large z is. What falls freely has no w along its joints and
// does not feel D, and the energy E + ½(θ−½) h v·Dv only falls. One θ for the tree, so that M̃⁻¹ stays symmetric. The
// terms in w go to the left side of the drift's equation: M̃ = M + θhD + ¼h²K.
//
// Impulses of joint rows (motors, dry friction, stops) are divided likewise. Their law is on the velocity at the end to
// second order, and linear in all that acts,
//
//     u = v + M̃⁻¹(h(τ − g(q) − K y − (D + ½hK) v) + Jᵀλ) + 2δ,     δ = −½h M̃⁻¹c(q, v),
//
// c the Coriolis and centrifugal forces: 2δ is what the turning of joints bends in the step. At rest δ = 0.
//
// A tree that something touches is kicked in full at q, where contacts are found, and drifts without forces:
//
//     M̃ = M + hD + ½h²K,     v_f = v + M̃⁻¹ h(τ − g(q) − Dv − K(y + ½hv)),     v_a = v_f + M̃⁻¹Jᵀλ,
//     J(q)ᵀP + (A + hD + ½h²K) w = M̃ v_a                for w.
//
// v_a depends on impulses and torques linearly, rows take energy and give none but what ERP adds, and impulses inside
// the tree are equal and opposite at one point, so that they make no momentum. Dampers and springs act by w. What
// carries points of the tree through the step is not v_a but the mean velocity w of the drift, to first order v_a + δ.
// So rows that last are asked about v_a + δ: they slip or sink by O(h²) a step and not by O(h). What only touches is
// asked about v_a: then its work is never positive, λ·J v_a ≤ 0, however fast the joints turn; but what the turning
// would push into something is held off it (contact_rows.c).
//
// An impact inside the step, at its fraction θ, divides it: a smooth step of θh, the jump of velocity M̃⁻¹Jᵀλ, and a
// smooth step of (1 − θ)h. A floating root gets the force of the impulse at q, with the lever that it has there.
//
// Semi-implicit Euler kicks in full at q, with springs at q + hv⁺, the velocity with which the tree coasts by itself
// (tree_coast.c), and q⁺ = q ⊕ hv⁺.
#include "dyn_data.h"
#include "small_dense.h"

// Where the drift stops: as a fraction of the velocities, in the metric of the mass. Momentum does not depend on it,
// but what a step read backwards says of torques does: 1e-12 leaves 1.2e-8 N·m of Cassie's. A body alone goes to
// rounding.
static const double DRIFT_TOL = 1e-13, ALONE_TOL = 1e-15;

// Closures' impulses of a smooth step act on M alone, before its drift; where the step is known to be one of impulses,
// they act as all others do.
static int is_tied(const TriboSystem* system, const TriboDynData* data, int block) {
  const int cluster = system->cluster[block];
  return cluster >= 0 && !data->cluster_kicked[cluster];
}

TreeAt tribo_dyn_tree_at(const TriboSystem* system, TriboDynData* data, int tree) {
  const TreePart* part = system->trees + tree;
  return (TreeAt){.index = tree,
                  .part = part,
                  .info = part->info,
                  .pin = data->pin[tree],
                  .q = system->block_q[part->block],
                  .v = system->block_v[part->block],
                  .n = part->info->nv,
                  .m = system->block_at[part->block],
                  .is_tied = is_tied(system, data, part->block)};
}

TreeInstant tribo_dyn_tree_start(const TreeAt* tree, TriboDynData* data) {
  TreeInstant at = {.q = data->flight.q + tree->q,
                    .poses = data->flight.poses + tree->part->body,
                    .jac = data->flight.jac + 6 * tree->v,
                    .bodies = data->flight.bodies + tree->v,
                    .inertias = data->inertias + tree->v,
                    .mass = data->mass + tree->m,
                    .factor = data->factor + tree->m,
                    .diagonal = data->flight.diagonal + tree->v,
                    .extra = data->flight.extra + tree->v,
                    .split = data->flight.split + tree->index,
                    .force = data->force + tree->v,
                    .weight = data->weight + tree->v};
  tribo_dyn_instant_set(tree, data->q + tree->q, &at);
  return at;
}

TreeInstant tribo_dyn_tree_later(const TreeAt* tree, TriboDynData* data) {
  TreeInstant later = data->flight.later;
  later.poses += tree->part->body;
  return later;
}

TriboStatus tribo_dyn_tree_run(const TreeAt* tree, TriboDynData* data, const TreeInstant* at, double h, double tol,
                               const double* extra, const double* momentum, int* converged) {
  const TreeStart start = {at->q, at->poses, at->jac, at->bodies, at->factor, at->diagonal};
  return tribo_dyn_tree_drift(tree->part, tree->pin, &start, h, tree->part->njoint == 1 ? fmin(tol, ALONE_TOL) : tol,
                              extra, momentum, &data->flight.drift, converged);
}

// Why a step cannot be taken.
static TriboStatus fail_unresolved(const TreeAt* tree, TriboDynData* data, double h) {
  const double turn = sqrt(data->flight.drift.turn) / h;
  data->flight.is_unresolved = 1;
  return tribo_fail(TRIBO_NUMERIC,
                    "the motion of '%s' cannot be resolved: a link turns by %.3g rad/s, too far in one step of %g s; a "
                    "step of %.1g s would do",
                    tree->info->links[0].name, turn, h, fmin(0.3 / turn, 0.5 * h));
}

// ---- drifts --------------------------------------------------------------------------------------------------------

// The drift of a smooth step of h from v, with an impulse (may be NULL): half of it at the start, or all. bent: 2δ, for
// the first guess, or NULL.
static TriboStatus drift_smoothly(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                                  const TreeInstant* at, double h, const double* v, const double* impulse, int all,
                                  const double* bent) {
  double *w = data->flight.drift.w, *p = data->flight.momentum;
  tribo_dyn_instant_times_mass(tree, at, v, p);
  for (int k = 0; k < tree->n; ++k) {
    const double pushed = impulse == NULL ? 0 : (all ? 1 : 0.5) * impulse[k];
    const double start =
        0.5 * h * (at->force[k] - at->weight[k]) + pushed + tribo_dyn_instant_early(tree, options, h, at, k) * v[k];
    p[k] += start;
    w[k] = start - at->extra[k] * v[k];
  }
  tribo_dyn_factor_solve(&tree->part->dofs, at->factor, w);
  for (int k = 0; k < tree->n; ++k) {
    w[k] += v[k] + (bent == NULL ? 0 : 0.5 * bent[k]);
  }
  int converged;
  TRIBO_TRY(tribo_dyn_tree_run(tree, data, at, h, DRIFT_TOL, at->extra, p, &converged));
  return converged ? TRIBO_OK : fail_unresolved(tree, data, h);
}

// The tree at the end of the step: kept, since the next one begins there.
static TreeInstant end_of(const TreeAt* tree, TriboDynData* data) {
  const TreeInstant* end = &data->flight.end;
  return (TreeInstant){.q = end->q + tree->q,
                       .poses = end->poses + tree->part->body,
                       .jac = end->jac + 6 * tree->v,
                       .inertias = end->inertias + tree->v,
                       .mass = end->mass + tree->m,
                       .factor = end->factor + tree->m,
                       .weight = end->weight + tree->v};
}

// Whether the last step has ended at q (nq): what was found there still holds, to the bit.
static int end_is_at(const TreeAt* tree, const TriboDynData* data, const double* q, const double gravity[3]) {
  const FlightData* flight = &data->flight;
  return flight->end_is_known[tree->index] && tribo_equal(flight->end_gravity, gravity, 3) &&
         memcmp(flight->end_q + tree->q, q, (size_t)tree->info->nq * sizeof *q) == 0;
}

// p (nv) += what acts at the end of a step from v: the other half of the forces and of `impulse` (may be NULL).
static void add_late_forces(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                            const TreeInstant* at, double h, const double* v, const TreeInstant* end,
                            const double* impulse, double* p) {
  const double *wrench = data->wrench + 6 * tree->part->body, *w = data->flight.drift.w;
  double *change = data->scratch_force, *before = data->work;
  const size_t bytes = (size_t)tree->n * sizeof *p;
  // wrenches act where their links are: at q⁺ their columns are other ones
  memset(change, 0, bytes);
  tribo_dyn_tree_wrenches(tree->part, end->poses, end->jac, wrench, change);
  memset(before, 0, bytes);
  tribo_dyn_tree_wrenches(tree->part, at->poses, at->jac, wrench, before);
  for (int k = 0; k < tree->n; ++k) {
    const double resisted = at->extra[k] * w[k] - tribo_dyn_instant_early(tree, options, h, at, k) * v[k];
    p[k] += 0.5 * h * (at->force[k] + change[k] - before[k] - end->weight[k]) - resisted;
  }
  if (impulse != NULL) {
    tribo_dyn_instant_carry(tree, at, end, impulse, change);
    for (int k = 0; k < tree->n; ++k) {
      p[k] += 0.5 * change[k];
    }
  }
}

// Euler joints near their singularity, second angle ±90°, turn about one axis by two coordinates: their mass is known
// to ε/cos² of itself only, and nothing they do means anything. They are refused before that matters.
static TriboStatus check_regular(const TreeAt* tree, const double* q) {
  static const double NEAREST = 1e-4;  // cos, at which mass has 8 digits left
  if (tree->part->has_own_kernels) {
    return TRIBO_OK;
  }
  for (int i = 0; i < tree->info->nlink; ++i) {
    const TriboLinkInfo* link = tree->info->links + i;
    if (link->kind == TRIBO_JOINT_EULER && fabs(cos(q[link->q_at + 1])) < NEAREST) {
      return tribo_fail(
          TRIBO_NUMERIC,
          "joint '%s' reaches the singularity of its Euler angles (second angle %.7g rad, at %g from ±π/2); a "
          "spherical joint has none",
          link->joint_name, q[link->q_at + 1], NEAREST);
    }
  }
  return TRIBO_OK;
}

// The end of a drift: q⁺ from w, v⁺ from the momenta and from what acts there in a step from v (NULL: nothing does).
static TriboStatus end_drift(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                             const TreeInstant* at, double h, const double* v, const double* impulse, double* q_next,
                             double* v_next) {
  DriftWork* drift = &data->flight.drift;
  TreeInstant end = end_of(tree, data);
  double shift[3];
  TRIBO_TRY(tribo_dyn_tree_move(tree->part, tree->pin, at->q, h, drift->w, drift->step, q_next));
  TRIBO_TRY(check_regular(tree, q_next));
  tribo_dyn_instant_set(tree, q_next, &end);
  tribo_copy3(shift, end.origin);
  tribo_add3(end.origin, end.origin, at->origin);
  tribo_dyn_instant_to_world(tree, at, q_next);
  TRIBO_TRY(tribo_dyn_tree_place(tree->part, tree->pin, end.q, end.poses, end.jac));
  tribo_dyn_tree_inertias(tree->part, end.poses, end.inertias);
  tribo_dyn_tree_mass(tree->part, end.jac, end.inertias, data->scratch_sums, end.mass);
  tribo_dyn_tree_weight(tree->part, options->gravity, end.jac, data->scratch_sums, end.weight);
  tribo_dyn_tree_momentum(tree->part, end.jac, shift, drift, v_next);
  if (v != NULL) {
    add_late_forces(tree, data, options, at, h, v, &end, impulse, v_next);
  }
  TRIBO_TRY(tribo_dyn_factor(&tree->part->dofs, end.mass, end.factor));
  tribo_dyn_factor_solve(&tree->part->dofs, end.factor, v_next);
  memcpy(data->flight.end_q + tree->q, q_next, (size_t)tree->info->nq * sizeof *q_next);
  tribo_copy3(data->flight.end_gravity, options->gravity);
  data->flight.end_is_known[tree->index] = 1;
  return TRIBO_OK;
}

// ---- update and assemble -------------------------------------------------------------------------------------------

// The end of the last step becomes the start of this one.
static void begin_at_end(const TreeAt* tree, TriboDynData* data, const TreeInstant* at) {
  const TreeInstant end = end_of(tree, data);
  const size_t nv = (size_t)tree->n, square = nv * nv * sizeof *at->mass;
  memcpy(at->poses, end.poses, (size_t)tree->info->nlink * sizeof *at->poses);
  memcpy(at->jac, end.jac, 6 * nv * sizeof *at->jac);
  memcpy(at->inertias, end.inertias, (size_t)tree->part->njoint * sizeof *at->inertias);
  memcpy(at->mass, end.mass, square);
  memcpy(at->factor, end.factor, square);
  memcpy(at->weight, end.weight, nv * sizeof *at->weight);
  tribo_dyn_tree_bodies(tree->part, at->poses, at->bodies);
  for (int k = 0; k < tree->n; ++k) {
    at->diagonal[k] = at->mass[k * (tree->n + 1)];
    at->extra[k] = 0;
  }
}

// Poses and columns as contacts see them, from the world's origin.
static void show_in_world(const TreeAt* tree, TriboDynData* data, const TreeInstant* at) {
  TriboPose* poses = data->poses + tree->part->body;
  double* jac = data->jac + 6 * tree->v;
  memcpy(poses, at->poses, (size_t)tree->info->nlink * sizeof *poses);
  memcpy(jac, at->jac, 6 * (size_t)tree->n * sizeof *jac);
  if (tree->part->is_floating) {
    for (int i = 0; i < tree->info->nlink; ++i) {
      tribo_add3(poses[i].p, poses[i].p, at->origin);
    }
    for (int k = 0; k < tree->n; ++k) {
      double lever[3];
      tribo_cross3(lever, at->origin, jac + 6 * k + 3);
      tribo_add3(jac + 6 * k, jac + 6 * k, lever);
    }
  }
}

// What a tree sets out with, as long as nobody knows what touches it: with what flies or stands, and needs no other
// factor then; of what closures tie, in full.
static TreeKick first_kick(const TreeAt* tree, const TriboStepOptions* options) {
  return options->scheme == TRIBO_SCHEME_EULER ? KICK_EULER : tree->is_tied ? KICK_FULL : KICK_DIVIDED;
}

// What it takes to coast is a force of Euler's scheme like others.
static TriboStatus add_coasting(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                                const double* v, const TreeInstant* at) {
  double *change = data->flight.drift.w, *momentum = data->flight.momentum;
  int converged;
  TRIBO_TRY(tribo_dyn_tree_coast(tree, data, options->h, at, v, &converged));
  if (!converged) {
    return fail_unresolved(tree, data, options->h);
  }
  tribo_add_scaled(tree->n, -1, v, change);
  tribo_dyn_instant_times_mass(tree, at, change, momentum);
  tribo_add_scaled(tree->n, 1 / options->h, momentum, at->force);
  return TRIBO_OK;
}

TriboStatus tribo_dyn_tree_begin(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                                 const double* v, const double* tau, const double* wrench, const TreeInstant* at) {
  const int is_known = end_is_at(tree, data, data->q + tree->q, options->gravity);
  if (is_known) {
    begin_at_end(tree, data, at);
  } else {
    TRIBO_TRY(check_regular(tree, at->q));
    TRIBO_TRY(tribo_dyn_instant_place(tree, options->gravity, data->scratch_sums, at));
  }
  show_in_world(tree, data, at);
  tribo_dyn_instant_forces(tree, options, v, tau, wrench, at);
  if (tree->is_tied) {
    // the impulses of closures act at q, before the drift
    if (!is_known) {
      TRIBO_TRY(tribo_dyn_factor(&tree->part->dofs, at->mass, at->factor));
    }
    if (data->start_is_known) {
      memcpy(data->minv + tree->m, data->next_minv + tree->m, (size_t)(tree->n * tree->n) * sizeof *data->minv);
    } else {
      tribo_dyn_factor_inverse(&tree->part->dofs, at->factor, data->minv + tree->m);
    }
  }
  const TreeKick kick = first_kick(tree, options);
  TRIBO_TRY(tribo_dyn_instant_mass(tree, options, options->h, kick, is_known || tree->is_tied, at));
  if (kick == KICK_EULER) {
    TRIBO_TRY(add_coasting(tree, data, options, v, at));
    if (!tree->is_tied) {
      tribo_dyn_factor_inverse(&tree->part->dofs, at->factor, data->minv + tree->m);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_tree_update(const TriboSystem* system, TriboDynData* data, int tree,
                                  const TriboStepOptions* options, const double* v, const double* tau,
                                  const double* wrench) {
  const TreeAt at_tree = tribo_dyn_tree_at(system, data, tree);
  const TreeInstant at = tribo_dyn_tree_start(&at_tree, data);
  const TreeKick kick = first_kick(&at_tree, options);
  double* v_free = data->v_free + at_tree.v;
  TRIBO_TRY(tribo_dyn_tree_begin(&at_tree, data, options, v, tau, wrench, &at));
  // what touches it is not known yet: a first free velocity, good enough to look ahead
  tribo_dyn_instant_kick(&at_tree, options, kick, &at, v, v_free);
  tribo_dyn_tree_twists(at_tree.info, at.jac, v_free, at.poses, data->twists + at_tree.part->body);
  data->motion_kind[tree] = MOTION_START;
  return TRIBO_OK;
}

void tribo_dyn_tree_glide(const TriboSystem* system, TriboDynData* data, int tree, const double* v) {
  static const double WEIGHTLESS[3] = {0, 0, 0};
  if (data->motion_kind[tree] == MOTION_START) {
    const TreeAt at_tree = tribo_dyn_tree_at(system, data, tree);
    const TreeInstant at = tribo_dyn_tree_start(&at_tree, data);
    tribo_dyn_tree_bias(at_tree.part, WEIGHTLESS, at.q, at.jac, at.inertias, v, data->motions + at_tree.v,
                        data->flight.inertial + at_tree.v);
  }
}

void tribo_dyn_tree_bend(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options, TreeKick kick,
                         const TreeInstant* at, double* bent) {
  const double half = kick == KICK_FULL ? 0.5 : 1;
  memcpy(bent, data->flight.inertial + tree->v, (size_t)tree->n * sizeof *bent);
  tribo_dyn_factor_solve(&tree->part->dofs, at->factor, bent);
  for (int k = 0; k < tree->n; ++k) {
    bent[k] *= -half * options->h;
    data->flight.touch_bent[tree->v + k] = kick == KICK_FULL ? bent[k] : 0;
  }
}

TriboStatus tribo_dyn_tree_finish(const TriboSystem* system, TriboDynData* data, int tree,
                                  const TriboStepOptions* options, const double* v) {
  const TreeAt at_tree = tribo_dyn_tree_at(system, data, tree);
  const TreeInstant at = tribo_dyn_tree_start(&at_tree, data);
  const unsigned char kind = data->touched[at_tree.part->block] ? MOTION_TOUCHED : MOTION_FREE;
  double *v_free = data->v_free + at_tree.v, *bent = data->flight.bent + at_tree.v;
  // (what moves by predicted impulses is not touched, and its drift starts elsewhere)
  if (data->motion_kind[tree] == kind || (data->is_predicted && at_tree.is_tied)) {
    return TRIBO_OK;
  }
  const TreeKick kick = kind == MOTION_TOUCHED ? KICK_FULL : KICK_DIVIDED;
  TRIBO_TRY(tribo_dyn_instant_mass(&at_tree, options, options->h, kick, 1, &at));
  tribo_dyn_instant_kick(&at_tree, options, kick, &at, v, v_free);
  tribo_dyn_tree_bend(&at_tree, data, options, kick, &at, bent);
  tribo_add_scaled(at_tree.n, 1, bent, v_free);
  if (!at_tree.is_tied) {
    tribo_dyn_factor_inverse(&at_tree.part->dofs, at.factor, data->minv + at_tree.m);
  }
  data->motion_kind[tree] = kind;
  return TRIBO_OK;
}

// ---- advance -------------------------------------------------------------------------------------------------------

// A tree that is kicked in full at q: v_next is v_a + δ, and becomes v⁺.
static TriboStatus advance_touched(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                                   const TreeInstant* at, const double* v, double* q_next, double* v_next) {
  double *p = data->flight.momentum, *u = data->flight.kick;
  memcpy(u, v_next, (size_t)tree->n * sizeof *v_next);
  memcpy(data->flight.drift.w, v_next, (size_t)tree->n * sizeof *v_next);
  tribo_add_scaled(tree->n, -1, data->flight.bent + tree->v, v_next);
  tribo_dyn_instant_times_whole(tree, at, v_next, p);
  if (tree->part->is_floating) {
    // the root's momentum from what acts, not by way of M̃⁻¹, which costs a long chain its digits
    const double* impulse = data->impulse + tree->v;
    for (int k = 0; k < 6; ++k) {
      p[k] = at->extra[k] != 0 ? p[k]
                               : tribo_dot(at->mass + k * tree->n, v, tree->n) +
                                     options->h * (at->force[k] - at->weight[k]) + impulse[k];
    }
  }
  int converged;
  TRIBO_TRY(tribo_dyn_tree_run(tree, data, at, options->h, DRIFT_TOL, at->extra, p, &converged));
  if (!converged) {
    return fail_unresolved(tree, data, options->h);
  }
  memcpy(data->flight.missed + tree->v, data->flight.drift.w, (size_t)tree->n * sizeof *v_next);
  tribo_add_scaled(tree->n, -1, u, data->flight.missed + tree->v);
  return end_drift(tree, data, options, at, options->h, NULL, NULL, q_next, v_next);
}

// A step with an impact after its fraction `split`.
static TriboStatus advance_impact(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                                  const TreeInstant* at, double split, const double* v, const double* impulse,
                                  double* q_next, double* v_next) {
  const double h[2] = {split * options->h, (1 - split) * options->h};
  TreeInstant later = tribo_dyn_tree_later(tree, data);
  // the part before it, with a mass of its own
  TreeInstant first = *at;
  first.mass = later.mass, first.factor = later.factor, first.extra = later.extra, first.split = later.split;
  memcpy(first.mass, at->mass, (size_t)(tree->n * tree->n) * sizeof *first.mass);
  memcpy(first.extra, at->extra, (size_t)tree->n * sizeof *first.extra);
  TRIBO_TRY(tribo_dyn_instant_mass(tree, options, h[0], KICK_DIVIDED, 0, &first));
  TRIBO_TRY(drift_smoothly(tree, data, options, &first, h[0], v, NULL, 0, NULL));
  TRIBO_TRY(end_drift(tree, data, options, &first, h[0], v, NULL, later.q, v_next));
  tribo_dyn_instant_set(tree, later.q, &later);

  // the jump of velocity, M̃⁻¹Jᵀλ; a floating root has what acts from outside
  double *jump = data->flight.jump, *kick = data->flight.kick;
  TRIBO_TRY(tribo_dyn_instant_place(tree, options->gravity, data->scratch_sums, &later));
  tribo_mat_vec(tree->n, tree->n, data->minv + tree->m, impulse, jump);
  tribo_add_scaled(tree->n, 1, jump, v_next);
  memset(kick, 0, (size_t)tree->n * sizeof *kick);
  if (tree->info->links[tree->part->joints->link].kind == TRIBO_JOINT_FREE) {
    // (what it hits stands still, and the point with the body: the lever is that of q)
    tribo_mat_vec(6, tree->n, later.mass, jump, kick);
    tribo_dyn_instant_carry(tree, at, &later, impulse, jump);
    for (int k = 0; k < 6; ++k) {
      kick[k] = jump[k] - kick[k];
    }
  }

  // the part after it
  tribo_dyn_instant_forces(tree, options, v_next, data->tau + tree->v, data->wrench + 6 * tree->part->body, &later);
  if (options->resist != NULL) {
    for (int k = 0; k < tree->n; ++k) {
      // (τ has the damping of drives at v)
      later.force[k] += options->resist[tree->v + k] * (v[k] - v_next[k]);
    }
  }
  TRIBO_TRY(tribo_dyn_instant_mass(tree, options, h[1], KICK_DIVIDED, 0, &later));
  double* start = data->flight.jump;
  memcpy(start, v_next, (size_t)tree->n * sizeof *start);
  TRIBO_TRY(drift_smoothly(tree, data, options, &later, h[1], start, kick, 1, NULL));
  return end_drift(tree, data, options, &later, h[1], start, NULL, q_next, v_next);
}

TriboStatus tribo_dyn_tree_flow(const TriboSystem* system, TriboDynData* data, int tree,
                                const TriboStepOptions* options, const double* v, double* q_next, double* v_next) {
  const TreeAt at_tree = tribo_dyn_tree_at(system, data, tree);
  const TreeInstant at = tribo_dyn_tree_start(&at_tree, data);
  memset(data->flight.missed + at_tree.v, 0, (size_t)at_tree.n * sizeof *data->flight.missed);
  TRIBO_TRY(tribo_dyn_instant_mass(&at_tree, options, options->h, KICK_DIVIDED, 1, &at));
  TRIBO_TRY(drift_smoothly(&at_tree, data, options, &at, options->h, v, NULL, 0, NULL));
  return end_drift(&at_tree, data, options, &at, options->h, v, NULL, q_next, v_next);
}

TriboStatus tribo_dyn_tree_advance(const TriboSystem* system, TriboDynData* data, int tree,
                                   const TriboStepOptions* options, const double* v, double* q_next, double* v_next) {
  const TreeAt at_tree = tribo_dyn_tree_at(system, data, tree);
  const TreeInstant at = tribo_dyn_tree_start(&at_tree, data);
  const double *impulse = data->impulse + at_tree.v, split = data->split[at_tree.part->block];
  if (options->scheme == TRIBO_SCHEME_EULER) {
    for (int k = 0; k < at_tree.n; ++k) {
      data->work[k] = options->h * v_next[k];
    }
    return tribo_dyn_tree_integrate(at_tree.part, at_tree.pin, data->q + at_tree.q, data->work, q_next);
  }
  int pushed = 0;
  for (int k = 0; k < at_tree.n; ++k) {
    pushed |= impulse[k] != 0;
  }
  if (pushed && split > 0 && split < 1 && system->cluster[at_tree.part->block] < 0) {
    return advance_impact(&at_tree, data, options, &at, split, v, impulse, q_next, v_next);
  }
  if (data->motion_kind[tree] == MOTION_TOUCHED) {
    return advance_touched(&at_tree, data, options, &at, v, q_next, v_next);
  }
  const double* bent = data->motion_kind[tree] == MOTION_FREE ? data->flight.bent + at_tree.v : NULL;
  TRIBO_TRY(tribo_dyn_instant_mass(&at_tree, options, options->h, KICK_DIVIDED, 1, &at));
  TRIBO_TRY(drift_smoothly(&at_tree, data, options, &at, options->h, v, pushed ? impulse : NULL, 0, bent));
  return end_drift(&at_tree, data, options, &at, options->h, v, pushed ? impulse : NULL, q_next, v_next);
}

// ---- M alone -------------------------------------------------------------------------------------------------------

TriboStatus tribo_dyn_tree_masses(const TriboSystem* system, TriboDynData* data, int tree, const double* q,
                                  const TriboPose* poses, const double* jac, double* mass, double* minv) {
  const TreeAt at_tree = tribo_dyn_tree_at(system, data, tree);
  const TreePart* part = at_tree.part;
  const TreeInstant end = end_of(&at_tree, data);
  if (end_is_at(&at_tree, data, q, data->flight.end_gravity)) {
    memcpy(mass, end.mass, (size_t)(at_tree.n * at_tree.n) * sizeof *mass);
    tribo_dyn_factor_inverse(&part->dofs, end.factor, minv);
    return TRIBO_OK;
  }
  tribo_dyn_tree_inertias(part, poses, data->scratch_inertias);
  tribo_dyn_tree_mass(part, jac, data->scratch_inertias, data->scratch_sums, mass);
  TRIBO_TRY(tribo_dyn_factor(&part->dofs, mass, data->scratch_factor));
  tribo_dyn_factor_inverse(&part->dofs, data->scratch_factor, minv);
  return TRIBO_OK;
}
