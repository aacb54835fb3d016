// Trees in motion.
//
// M(q) v̇ + b(q, v) + D v = τ, with D the viscous damping of the joints. The default scheme is a position Verlet: half a
// step of q, a whole step of v there, half a step of q:
//
//     q½ = q ⊕ (h/2) v
//     M(q½)(v_f − v) = h (τ − b(q½, v̄) − D((1−θ) v + θ v_f)),   v̄ = ½(v + v_f)
//     q⁺ = q½ ⊕ (h/2) v⁺
//
// With θ = ½ exchanging (q, v) with (q⁺, −v⁺) gives the same equations: the scheme is time-symmetric, so it is of
// second order and the energy does not drift. Collecting v_f on the left,
//
//     (M + θhD)(v_f − v) = h (τ − b(q½, v̄) − D v),
//
// so the mass block that impulses meet is M + θhD, and v_f is found by iterating on v̄: each pass wins a factor of
// about h|v|. A joint that damping stops within one step, z = h d/M_ii > 2, would ring for ever with θ = ½ (factor
// (1 − z/2)/(1 + z/2) → −1); there θ = 1 − 1/z, which stops it.
//
// Where something touches the tree, v_f is not near v⁺: the ground holds against weight and motors, and half of what
// they would do alone is a velocity that never is. There q moves with v⁺ and the step is of first order anyway, and the
// bias is taken at the mean of the motion that no force acts on,
//
//     v̄ = v − ½h M̃⁻¹ c(q½, v),     c = b without gravity.
//
// So a robot at rest feels no bias but its weight; and v⁺ − v depends on forces and impulses linearly, through the same
// M̃⁻¹, which makes a torque at a joint and an impulse of its motor the same thing, and the step one that can be read
// backwards (inverse_dynamics.c). What counts as touching is where things are at q, which no force or impulse changes.
//
// A spring k of a joint acts at the mean of q and q⁺, which is q½ + (h/4)(v⁺ − v): a force −k(q½ − rest) and h²k/4 more
// mass. That is the implicit midpoint rule: no step is too long for it, and it keeps the energy of a linear spring.
//
// Semi-implicit Euler takes everything at (q, v), θ = 1, and springs at q + h v⁺.
#include "dyn_data.h"

enum { PASSES_MAX = 20 };

// How far from its end the iteration on v̄ stops.
static const double EXACT = 1e-15, INEXACT = 1e-12;

// Velocities go down the tree: a link moves as its parent does, plus what its own joint adds. Twists at the world
// origin first, then moved to the links' origins.
void tribo_dyn_tree_twists(const TriboTreeInfo* info, const double* jac, const double* v, const TriboPose* poses,
                           TriboTwist* twists) {
  for (int i = 0; i < info->nlink; ++i) {
    const TriboLinkInfo* link = info->links + i;
    twists[i] = link->parent < 0 ? (TriboTwist){{0}, {0}} : twists[link->parent];
    for (int k = link->v_at; k < link->v_at + link->nv; ++k) {
      tribo_axpy3(twists[i].v, twists[i].v, v[k], jac + 6 * k);
      tribo_axpy3(twists[i].w, twists[i].w, v[k], jac + 6 * k + 3);
    }
  }
  for (int i = 0; i < info->nlink; ++i) {
    double swing[3];
    tribo_cross3(swing, twists[i].w, poses[i].p);
    tribo_add3(twists[i].v, twists[i].v, swing);
  }
}

TriboStatus tribo_dyn_tree_kinematics(const TreePart* part, TriboPinData* pin, const double* q, const double* v,
                                      TriboPose* poses, TriboTwist* twists, double* jac) {
  TRIBO_TRY(tribo_dyn_tree_place(part, pin, q, poses, jac));
  tribo_dyn_tree_twists(part->info, jac, v, poses, twists);
  return TRIBO_OK;
}

void tribo_dyn_tree_wrenches(const TreePart* part, const TriboPose* poses, const double* jac, const double* wrench,
                             double* force) {
  static const double NONE[6] = {0};
  const TriboTreeInfo* info = part->info;
  for (int i = 0; i < info->nlink; ++i, wrench += 6) {
    if (tribo_equal(wrench, NONE, 6)) {
      continue;
    }
    // torque about the world origin, as the columns of jac want it
    double centre[3], torque[3];
    tribo_mul33v(centre, poses[i].R, info->links[i].com);
    tribo_add3(centre, centre, poses[i].p);
    tribo_cross3(torque, centre, wrench);
    tribo_add3(torque, torque, wrench + 3);
    for (int link = i; link >= 0; link = info->links[link].parent) {
      const TriboLinkInfo* at = info->links + link;
      for (int k = at->v_at; k < at->v_at + at->nv; ++k) {
        force[k] += tribo_dot3(jac + 6 * k, wrench) + tribo_dot3(jac + 6 * k + 3, torque);
      }
    }
  }
}

// Adds θhD to the mass matrix; the derivation above says why θ depends on the joint. resist (nv, may be NULL) is the
// damping in what drives it, whose force at v is in τ.
static void add_damping(const TriboTreeInfo* info, const TriboStepOptions* options, const double* resist,
                        double* mass) {
  for (int k = 0; k < info->nv; ++k) {
    double* diagonal = mass + k * (info->nv + 1);
    const double hd = options->h * (info->damping[k] + (resist != NULL ? resist[k] : 0));
    if (hd > 0) {
      const double z = hd / *diagonal, theta = options->scheme == TRIBO_SCHEME_EULER ? 1 : z > 2 ? 1 - 1 / z : 0.5;
      *diagonal += theta * hd;
    }
  }
}

int tribo_dyn_spring_stretch(const TriboTreeInfo* info, const TriboLinkInfo* link, const double* q, double out[3]) {
  if (link->nv == 0 || info->stiffness[link->v_at] == 0) {
    return 0;
  }
  if (link->kind != TRIBO_JOINT_SPHERICAL) {
    out[0] = q[link->q_at] - info->rest[link->v_at];
    return 1;
  }
  // the rotation as a vector, by the shorter way round
  const double* x = q + link->q_at;
  const double sign = x[3] < 0 ? -1 : 1, s = tribo_norm3(x), angle = 2 * atan2(s, sign * x[3]);
  tribo_scale3(out, sign * (s > 1e-10 ? angle / s : 2), x);
  return 3;
}

// Adds the springs: their force at the configuration q, and the mass that makes them implicit.
static void add_springs(const TriboTreeInfo* info, const TriboStepOptions* options, const double* q, const double* v,
                        double* force, double* mass) {
  const double h = options->h, lead = options->scheme == TRIBO_SCHEME_EULER ? h : 0;
  for (int i = 0; i < info->nlink; ++i) {
    double stretch[3];
    const int n = tribo_dyn_spring_stretch(info, info->links + i, q, stretch), at = info->links[i].v_at;
    for (int k = at; k < at + n; ++k) {
      force[k] -= info->stiffness[k] * (stretch[k - at] + lead * v[k]);
      mass[k * (info->nv + 1)] += (lead > 0 ? 1 : 0.25) * h * h * info->stiffness[k];
    }
  }
}

static const double WEIGHTLESS[3] = {0, 0, 0};

// c(q½, mean), the bias without gravity
static void coriolis_bias(const TreePart* part, TreeMotion* motions, const Halfway* half, const double* mean,
                          double* out) {
  tribo_dyn_tree_bias(part, WEIGHTLESS, half->q, half->jac, half->inertias, mean, motions, out);
}

// v_f = v + h M̃⁻¹(force − b) with the bias b = weight + `coriolis`, `force` being τ − D v. Returns the largest change
// of v_f in *change and its size in *size.
static void take_bias(const TreePart* part, TriboDynData* data, const TriboStepOptions* options, const Halfway* half,
                      const double* coriolis, const double* v, double* v_free, double* change, double* size) {
  const int n = part->info->nv;
  double* work = data->work;
  for (int k = 0; k < n; ++k) {
    work[k] = half->force[k] - (half->weight[k] + coriolis[k]);
  }
  tribo_dyn_factor_solve(&part->dofs, half->factor, work);
  double most = 0, longest = 0;
  for (int k = 0; k < n; ++k) {
    const double next = v[k] + options->h * work[k];
    const double moved = fabs(next - v_free[k]), length = fabs(v[k]) + fabs(next);
    most = moved > most ? moved : most;
    longest = length > longest ? length : longest;
    v_free[k] = next;
  }
  *change = most;
  *size = longest;
}

// The same at the velocity `mean`.
static void pass_free_velocity(const TreePart* part, TriboDynData* data, const TriboStepOptions* options,
                               const Halfway* half, const double* mean, const double* v, double* v_free, double* change,
                               double* size) {
  coriolis_bias(part, data->scratch_motions, half, mean, data->work);
  take_bias(part, data, options, half, data->work, v, v_free, change, size);
}

// A first free velocity, the bias taken at v; `coriolis` (nv) keeps what of it is not weight, `motions` how links go
// on.
static void first_free_velocity(const TreePart* part, TriboDynData* data, const TriboStepOptions* options,
                                const Halfway* half, const double* v, double* coriolis, TreeMotion* motions,
                                double* v_free) {
  double change, size;
  coriolis_bias(part, motions, half, v, coriolis);
  take_bias(part, data, options, half, coriolis, v, v_free, &change, &size);
}

// The free velocity of a tree that nothing touches, from a first one: iterated on the mean. The passes
// converge linearly; the ratio of two changes tells how far the last one is from the end. They stop at tol, as a share
// of the velocities; 1: what is left is rounding.
static int iterate_free_velocity(const TreePart* part, TriboDynData* data, const TriboStepOptions* options,
                                 const Halfway* half, double tol, const double* v, double* v_free) {
  double change, size, last = INFINITY;
  for (int pass = 1; pass < PASSES_MAX; ++pass) {
    for (int k = 0; k < part->info->nv; ++k) {
      data->mean[k] = 0.5 * (v[k] + v_free[k]);
    }
    pass_free_velocity(part, data, options, half, data->mean, v, v_free, &change, &size);
    const double ratio = pass == 1 ? 1 : change / last;
    const double left = change * (ratio < 1 ? ratio : 1);
    if (left <= tol * size || (ratio >= 0.5 && change <= 1e-13 * size)) {
      return left <= EXACT * size || tol == EXACT;
    }
    // the passes part instead of meeting: the tree turns too far in one step to be resolved, go on explicitly
    if (pass > 1 && !(ratio < 1)) {
      pass_free_velocity(part, data, options, half, v, v, v_free, &change, &size);
      return 1;
    }
    last = change;
  }
  return 1;
}

// The mean velocity of a tree that something touches: v̄ = v − ½h M̃⁻¹ c(q½, v), from `mean` = c.
static void touched_mean(const TreePart* part, double h, const Halfway* half, const double* v, double* mean) {
  tribo_dyn_factor_solve(&part->dofs, half->factor, mean);
  for (int k = 0; k < part->info->nv; ++k) {
    mean[k] = v[k] - 0.5 * h * mean[k];
  }
}

Halfway tribo_dyn_tree_half(const TriboSystem* system, TriboDynData* data, int tree, double* mass) {
  const int block = system->trees[tree].block;
  return (Halfway){.q = data->q_half + system->block_q[block],
                   .jac = data->jac_half + 6 * system->block_v[block],
                   .inertias = data->inertias + system->block_v[block],
                   .mass = mass,
                   .factor = data->factor + system->block_at[block],
                   .force = data->force + system->block_v[block],
                   .weight = data->weight + system->block_v[block]};
}

// M̃ = M + θhD, and what springs add.
TriboStatus tribo_dyn_tree_prepare(const TriboSystem* system, TriboDynData* data, int tree,
                                   const TriboStepOptions* options, const double* v, const double* tau,
                                   const double* wrench, const Halfway* half) {
  const TreePart* part = system->trees + tree;
  const TriboTreeInfo* info = part->info;
  TriboPinData* pin = data->pin[tree];

  // where masses and forces are taken: half-way, or at q itself
  const double lead = options->scheme == TRIBO_SCHEME_MIDPOINT ? 0.5 * options->h : 0;
  for (int k = 0; k < info->nv; ++k) {
    data->work[k] = lead * v[k];
    half->force[k] = (tau == NULL ? 0 : tau[k]) - info->damping[k] * v[k];
  }
  TRIBO_TRY(tribo_dyn_tree_integrate(part, pin, data->q + system->block_q[part->block], data->work, half->q));
  TriboPose* poses = data->scratch_poses + part->body;
  TRIBO_TRY(tribo_dyn_tree_place(part, pin, half->q, poses, half->jac));
  tribo_dyn_tree_inertias(part, poses, half->inertias);
  if (wrench != NULL) {
    tribo_dyn_tree_wrenches(part, poses, half->jac, wrench, half->force);
  }
  tribo_dyn_tree_mass(part, half->jac, half->inertias, data->scratch_sums, half->mass);
  tribo_dyn_tree_weight(part, options->gravity, half->jac, data->scratch_sums, half->weight);
  add_damping(info, options, options->resist != NULL ? options->resist + system->block_v[part->block] : NULL,
              half->mass);
  if (part->has_springs) {
    add_springs(info, options, half->q, v, half->force, half->mass);
  }
  return tribo_dyn_factor(&part->dofs, half->mass, half->factor);
}

TriboStatus tribo_dyn_tree_update(const TriboSystem* system, TriboDynData* data, int tree,
                                  const TriboStepOptions* options, const double* v, const double* tau,
                                  const double* wrench) {
  const TreePart* part = system->trees + tree;
  const TriboTreeInfo* info = part->info;
  const int at_q = system->block_q[part->block], at_v = system->block_v[part->block];
  double* mass = data->mass + system->block_at[part->block];
  double* minv = data->minv + system->block_at[part->block];
  const Halfway half = tribo_dyn_tree_half(system, data, tree, mass);
  double* v_free = data->v_free + at_v;
  if (data->predicted_in_update && system->cluster[part->block] >= 0) {
    // it will start with the predicted impulses
    for (int k = 0; k < info->nv; ++k) {
      data->kick[at_v + k] = v[k] + data->predicted_dv[at_v + k];
    }
    v = data->kick + at_v;
  }
  TRIBO_TRY(tribo_dyn_tree_prepare(system, data, tree, options, v, tau, wrench, &half));
  // what touches it is not known yet: a first free velocity, good enough to look ahead
  first_free_velocity(part, data, options, &half, v, data->coriolis + at_v, data->motions + at_v, v_free);
  data->mean_kind[tree] = MEAN_START;

  // what contacts see is at q
  TriboPose* poses = data->poses + part->body;
  double* jac = data->jac + 6 * at_v;
  if (data->start_is_known && system->cluster[part->block] >= 0) {
    // the last step has been there
    const size_t nlink = (size_t)info->nlink, nv = (size_t)info->nv, at = system->block_at[part->block];
    memcpy(poses, data->next_poses + part->body, nlink * sizeof *poses);
    memcpy(jac, data->next_jac + 6 * at_v, 6 * nv * sizeof *jac);
    memcpy(mass, data->next_mass + at, nv * nv * sizeof *mass);
    memcpy(minv, data->next_minv + at, nv * nv * sizeof *minv);
    tribo_dyn_tree_twists(info, jac, v_free, poses, data->twists + part->body);
    return TRIBO_OK;
  }
  TRIBO_TRY(
      tribo_dyn_tree_kinematics(part, data->pin[tree], data->q + at_q, v_free, poses, data->twists + part->body, jac));
  if (system->cluster[part->block] >= 0) {
    // the impulses of closures act at q, before the flow
    return tribo_dyn_tree_masses(part, data, poses, jac, mass, minv);
  }
  tribo_dyn_factor_inverse(&part->dofs, half.factor, minv);
  return TRIBO_OK;
}

TriboStatus tribo_dyn_trees_restart(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                    const double* v) {
  if (data->predicted_in_update) {
    for (int t = 0; t < system->info.ntree; ++t) {
      const TreePart* part = system->trees + t;
      const int at = system->block_v[part->block];
      const Halfway half = tribo_dyn_tree_half(system, data, t, data->next_mass + system->block_at[part->block]);
      if (system->cluster[part->block] >= 0) {
        TRIBO_TRY(tribo_dyn_tree_prepare(system, data, t, options, v + at, data->tau + at,
                                         data->wrench + 6 * part->body, &half));
        first_free_velocity(part, data, options, &half, v + at, data->coriolis + at, data->motions + at,
                            data->v_free + at);
      }
    }
  }
  data->end_is_known = data->end_is_known && !data->predicted_in_update;
  data->predicted_in_update = 0;
  return TRIBO_OK;
}

void tribo_dyn_tree_finish(const TriboSystem* system, TriboDynData* data, int tree, const TriboStepOptions* options,
                           const double* v) {
  const TreePart* part = system->trees + tree;
  const int at = system->block_v[part->block];
  const Halfway half = tribo_dyn_tree_half(system, data, tree, NULL);
  const unsigned char kind = data->touched[part->block] ? MEAN_TOUCHED : MEAN_FREE;
  double change, size, *v_free = data->v_free + at, *mean = data->is_inverse ? data->inverse.mean + at : data->mean;
  if (data->is_inverse) {
    coriolis_bias(part, data->motions + at, &half, v, data->coriolis + at);
  }
  // (what moves by predicted impulses is not touched, and its flow starts elsewhere)
  if (data->mean_kind[tree] == kind || (data->is_predicted && system->cluster[part->block] >= 0)) {
    return;
  }
  if (kind == MEAN_TOUCHED) {
    memcpy(mean, data->coriolis + at, (size_t)part->info->nv * sizeof *mean);
    touched_mean(part, options->h, &half, v, mean);
  }
  if (!data->is_inverse && kind == MEAN_TOUCHED) {
    pass_free_velocity(part, data, options, &half, mean, v, v_free, &change, &size);
  } else if (!data->is_inverse) {
    iterate_free_velocity(part, data, options, &half, EXACT, v, v_free);
  }
  data->mean_kind[tree] = kind;
}

TriboStatus tribo_dyn_tree_masses(const TreePart* part, TriboDynData* data, const TriboPose* poses, const double* jac,
                                  double* mass, double* minv) {
  tribo_dyn_tree_inertias(part, poses, data->scratch_inertias);
  tribo_dyn_tree_mass(part, jac, data->scratch_inertias, data->scratch_sums, mass);
  TRIBO_TRY(tribo_dyn_factor(&part->dofs, mass, data->scratch_factor));
  tribo_dyn_factor_inverse(&part->dofs, data->scratch_factor, minv);
  return TRIBO_OK;
}

TriboStatus tribo_dyn_tree_flow(const TriboSystem* system, TriboDynData* data, int tree,
                                const TriboStepOptions* options, const double* v, const double* tau,
                                const double* wrench, double* flow_dv, double* q_next, double* v_next) {
  const TreePart* part = system->trees + tree;
  TriboPinData* pin = data->pin[tree];
  Halfway half = {.q = q_next,
                  .jac = data->scratch_jac,
                  .inertias = data->scratch_inertias,
                  .mass = data->next_mass + system->block_at[part->block],
                  .factor = data->scratch_factor,
                  .force = data->scratch_force,
                  .weight = data->scratch_weight};
  if (data->flow_is_halfway) {
    half = tribo_dyn_tree_half(system, data, tree, NULL);
  } else {
    TRIBO_TRY(tribo_dyn_tree_prepare(system, data, tree, options, v, tau, wrench, &half));
  }
  for (int k = 0; k < part->info->nv; ++k) {
    v_next[k] = v[k] + flow_dv[k];
  }
  // a pass that another one follows need not know its last digits
  data->flow_is_inexact |=
      !iterate_free_velocity(part, data, options, &half, data->flow_is_halfway ? INEXACT : EXACT, v, v_next);
  for (int k = 0; k < part->info->nv; ++k) {
    flow_dv[k] = v_next[k] - v[k];
    data->work[k] = 0.5 * options->h * v_next[k];
  }
  return tribo_dyn_tree_integrate(part, pin, half.q, data->work, q_next);
}

TriboStatus tribo_dyn_tree_advance(const TriboSystem* system, TriboDynData* data, int tree, double h, const double* v,
                                   const double* v_next, double* q_next) {
  const TreePart* part = system->trees + tree;
  const int n = part->info->nv, at_q = system->block_q[part->block];
  const double split = data->split[part->block];
  TriboPinData* pin = data->pin[tree];
  const double* from = data->q + at_q;
  double rest = (1 - split) * h;
  if (split == TRIBO_DYN_SMOOTH) {
    // the second half of the Verlet step
    from = data->q_half + at_q;
    rest = 0.5 * h;
  } else if (split > 0) {
    // the old velocity up to the impact
    for (int k = 0; k < n; ++k) {
      data->work[k] = split * h * v[k];
    }
    TRIBO_TRY(tribo_dyn_tree_integrate(part, pin, from, data->work, q_next));
    from = q_next;
  }
  for (int k = 0; k < n; ++k) {
    data->work[k] = rest * v_next[k];
  }
  return tribo_dyn_tree_integrate(part, pin, from, data->work, q_next);
}
