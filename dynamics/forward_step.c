// The stages around a solve that move things, update before it and advance after it, and evaluations at any state.
// The stage between them is assemble.c.
#include "dyn_data.h"
#include "small_dense.h"

// ---- update --------------------------------------------------------------------------------------------------------

// A copy of what may be missing, which is 0 then.
static void keep(double* to, const double* from, size_t count) {
  if (from == NULL) {
    memset(to, 0, count * sizeof *to);
  } else {
    memcpy(to, from, count * sizeof *to);
  }
}

void tribo_dyn_keep_forces(const TriboSystem* system, TriboDynData* data, const double* tau, const double* wrench) {
  keep(data->tau, tau, (size_t)system->info.nv);
  keep(data->wrench, wrench, 6 * (size_t)system->info.nbody);
}

TriboStatus tribo_dyn_update(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                             const double* q, const double* v, const double* tau, const double* wrench) {
  const char* where = "tribo_dyn_update";
  if (system == NULL || data == NULL || options == NULL || q == NULL || v == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: system, data, options, q or v is NULL", where);
  }
  const TriboSystemInfo* info = &system->info;
  data->flight.is_unresolved = 0;
  TRIBO_TRY(tribo_dyn_begin_step(system, data, options, where, q, v));
  data->is_inverse = 0;

  if (system->nclosure + info->ntree > 0) {
    tribo_dyn_keep_forces(system, data, tau, wrench);
  }
  if (system->nclosure > 0) {
    TRIBO_TRY(tribo_dyn_loops_predict(system, data, options));
  }
  for (int b = 0; b < info->nfree; ++b) {
    const FreeBody* body = system->bodies + b;
    const double* body_q = data->q + info->block_q[b];
    const int at = info->block_v[b];
    tribo_dyn_body_pose(body, body_q, data->poses + b);
    tribo_dyn_body_free_velocity(body, options, body_q, v + at, tau == NULL ? NULL : tau + at,
                                 wrench == NULL ? NULL : wrench + 6 * b, data->v_free + at);
    tribo_dyn_body_twist(body, data->poses + b, data->v_free + at, data->twists + b);
  }

  for (int t = 0; t < info->ntree; ++t) {
    const TreePart* part = system->trees + t;
    const int at = info->block_v[part->block];
    const TriboStatus status = tribo_dyn_tree_update(system, data, t, options, v + at, tau == NULL ? NULL : tau + at,
                                                     wrench == NULL ? NULL : wrench + 6 * part->body);
    if (status != TRIBO_OK) {
      tribo_fail_prefix("%s: tree %d: ", where, t);
      return status;
    }
  }

  // forces that are not finite, or too large, show here
  TRIBO_TRY(tribo_dyn_check_finite(where, "free velocity", data->v_free, info->nv));
  data->stage = STAGE_UPDATED;
  return TRIBO_OK;
}

// ---- advance -------------------------------------------------------------------------------------------------------

// How each block moves: smoothly unless a contact or a limit pushes it; with v⁺ when one does; with the old velocity up
// to the earliest impact when one of these is an impact. The smallest of the three wins. A block that only impacts push
// is in flight before and after. Blocks that closures tie move alike.
static void choose_motion(const TriboSystem* system, TriboDynData* data, TriboScheme scheme, const double* lambda) {
  const double untouched = 3, pushed = 2;
  const TriboSystemInfo* info = &system->info;
  const Rows* rows = &data->rows;
  for (int b = 0; b < info->nblock; ++b) {
    data->split[b] = untouched;
    data->is_ballistic[b] = system->cluster[b] < 0;
  }
  for (int c = 0; c < rows->ncone; ++c) {
    const TriboRowInfo* row = rows->infos + c;
    if ((row->kind != TRIBO_ROW_CONTACT && row->kind != TRIBO_ROW_LIMIT && row->kind != TRIBO_ROW_BOUND) ||
        !(lambda[rows->cones[c].row + rows->cones[c].dim - 1] > 0)) {
      continue;
    }
    for (int t = rows->term_first[c]; t < rows->term_first[c + 1]; ++t) {
      const int block = rows->term_block[t];
      data->split[block] = fmin(data->split[block], row->impact ? rows->impact[c] : pushed);
      data->is_ballistic[block] &= row->impact != 0;
    }
  }
  // what acts on one block of a cluster acts on all; a cluster stays hard for the rest of the step
  for (int k = 0; k < system->ncluster; ++k) {
    data->cluster_split[k] = data->cluster_in_contact[k] ? pushed : untouched;
  }
  if (system->ncluster > 0) {
    for (int b = 0; b < info->nblock; ++b) {
      if (system->cluster[b] >= 0) {
        double* split = data->cluster_split + system->cluster[b];
        *split = fmin(*split, data->split[b]);
        data->cluster_in_contact[system->cluster[b]] |= *split < untouched;
      }
    }
  }
  for (int b = 0; b < info->nblock; ++b) {
    double* split = data->split + b;
    *split = system->cluster[b] < 0 ? *split : data->cluster_split[system->cluster[b]];
    *split = scheme == TRIBO_SCHEME_EULER || *split == pushed ? 0 : *split == untouched ? TRIBO_DYN_SMOOTH : *split;
  }
}

// The velocities that carry a block before and after an impact. In flight they are the means of the two parts: with
// a = v_f − v the velocity goes from v to v + θa, then from v⁺ − (1 − θ)a to v⁺. Where contacts only last it goes from
// v to v⁺ all through the step. All others keep v and v⁺.
static void mean_velocities(const TriboSystem* system, TriboDynData* data, const double* v, const double* v_next) {
  const TriboSystemInfo* info = &system->info;
  memcpy(data->v_before, v, (size_t)info->nv * sizeof *v);
  memcpy(data->v_after, v_next, (size_t)info->nv * sizeof *v);
  for (int b = 0; b < info->nblock; ++b) {
    const double split = data->split[b];
    if (b < info->nfree && split == 0 && !data->is_ballistic[b] && data->lasts[b]) {
      for (int i = info->block_v[b]; i < info->block_v[b] + 6; ++i) {
        data->v_after[i] = 0.5 * (v[i] + v_next[i]);
      }
    }
    if (split == TRIBO_DYN_SMOOTH || !data->is_ballistic[b]) {
      continue;
    }
    for (int i = info->block_v[b]; i < info->block_v[b] + info->block_dim[b]; ++i) {
      const double flight = data->v_free[i] - v[i];
      data->v_before[i] += 0.5 * split * flight;
      data->v_after[i] -= 0.5 * (1 - split) * flight;
    }
  }
}

TriboStatus tribo_dyn_advance(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                              const double* q, const double* v, const double* lambda, double* q_next, double* v_next) {
  const char* where = "tribo_dyn_advance";
  if (system == NULL || data == NULL || options == NULL || q == NULL || v == NULL || q_next == NULL || v_next == NULL ||
      q_next == q || v_next == v || (lambda == NULL && data->rows.nrow > 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: an argument is NULL, or q_next or v_next is the state itself", where);
  }
  if (data->stage != STAGE_ASSEMBLED) {
    return tribo_fail(TRIBO_STATE, "%s: tribo_dyn_assemble must come first", where);
  }
  TRIBO_TRY(tribo_dyn_check_options(where, options));
  TRIBO_TRY(tribo_dyn_check_finite(where, "lambda", lambda, data->rows.nrow));
  const TriboSystemInfo* info = &system->info;
  choose_motion(system, data, options->scheme, lambda);
  tribo_dyn_rows_impulse(system, &data->rows, 0, lambda, data->impulse);
  if (data->has_known) {
    tribo_add_scaled(info->nv, 1, data->known_impulse, data->impulse);
  }

  // v⁺ = v_f + M⁻¹Jᵀλ
  for (int b = 0; b < info->nblock; ++b) {
    const int n = info->block_dim[b], at = info->block_v[b];
    const double *minv = data->minv + system->block_at[b], *impulse = data->impulse + at;
    if (tribo_dyn_moves_smoothly(system, data, options, b)) {
      // (loops_advance finds it)
      memcpy(v_next + at, v + at, (size_t)n * sizeof *v);
      continue;
    }
    for (int i = 0; i < n; ++i) {
      // (where n is known, the loop has no end to test)
      const double sum = n == 6 ? tribo_dot(minv + i * 6, impulse, 6) : tribo_dot(minv + i * n, impulse, n);
      v_next[at + i] = data->v_free[at + i] + sum;
    }
  }

  // q⁺, from the copy of q that update has made
  if (options->scheme == TRIBO_SCHEME_EULER) {
    memset(data->is_ballistic, 0, (size_t)info->nblock);
    memset(data->lasts, 0, (size_t)info->nblock);
  }
  if (options->scheme != TRIBO_SCHEME_EULER) {
    for (int b = 0; b < info->nfree; ++b) {
      const int at = info->block_v[b] + 3;
      if (data->split[b] != TRIBO_DYN_SMOOTH) {
        const TriboBodyMotion motion = data->is_ballistic[b] ? BODY_BALLISTIC
                                       : data->lasts[b]      ? BODY_LASTS
                                                             : BODY_PUSHED;
        tribo_dyn_body_spin(system->bodies + b, options->h, data->split[b], motion, v + at, data->v_free + at,
                            data->impulse + at, v_next + at);
      }
    }
  }
  mean_velocities(system, data, v, v_next);
  for (int b = 0; b < info->nfree; ++b) {
    const int at_q = info->block_q[b], at_v = info->block_v[b];
    if (!tribo_dyn_moves_smoothly(system, data, options, b)) {
      tribo_dyn_body_advance(options->h, data->split[b], data->q + at_q, data->v_before + at_v, data->v_after + at_v,
                             q_next + at_q);
    }
  }
  for (int t = 0; t < info->ntree; ++t) {
    const int block = system->trees[t].block, at_v = info->block_v[block];
    if (!tribo_dyn_moves_smoothly(system, data, options, block)) {
      TRIBO_TRY(
          tribo_dyn_tree_advance(system, data, t, options, v + at_v, q_next + info->block_q[block], v_next + at_v));
    }
  }
  TRIBO_TRY(tribo_dyn_loops_advance(system, data, options, v, q_next, v_next));
  TRIBO_TRY(tribo_dyn_check_finite(where, "next v", v_next, info->nv));
  return tribo_dyn_check_finite(where, "next q", q_next, info->nq);
}

TriboStatus tribo_dyn_redetect_slips(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                     const TriboContactLaw* laws, const double* v, const double* lambda, int* turned) {
  *turned = 0;
  if (options->scheme != TRIBO_SCHEME_EULER) {
    TRIBO_TRY(tribo_dyn_contact_slips(system, data, options, laws, lambda, turned));
    *turned += tribo_dyn_joint_slips(system, data, options, v, lambda);
  }
  return TRIBO_OK;
}

// ---- evaluations at any state --------------------------------------------------------------------------------------

static TriboStatus null_argument(const char* where) {
  return tribo_fail(TRIBO_INVALID, "%s: an argument is NULL", where);
}

void tribo_dyn_twists_of(const TriboSystem* system, const TriboDynData* data, const double* v, TriboTwist* twists) {
  for (int b = 0; b < system->info.nfree; ++b) {
    tribo_dyn_body_twist(system->bodies + b, data->poses + b, v + system->info.block_v[b], twists + b);
  }
  for (int t = 0; t < system->info.ntree; ++t) {
    const TreePart* part = system->trees + t;
    const int at = system->info.block_v[part->block];
    tribo_dyn_tree_twists(part->info, data->jac + 6 * at, v + at, data->poses + part->body, twists + part->body);
  }
}

TriboStatus tribo_dyn_kinematics(const TriboSystem* system, TriboDynData* data, const double* q, const double* v,
                                 TriboPose* poses, TriboTwist* twists) {
  const char* where = "tribo_dyn_kinematics";
  if (system == NULL || data == NULL || q == NULL || v == NULL || poses == NULL || twists == NULL) {
    return null_argument(where);
  }
  const TriboSystemInfo* info = &system->info;
  double* unit_q = data->scratch_q[0];
  TRIBO_TRY(tribo_dyn_unit_state(system, where, q, unit_q));
  TRIBO_TRY(tribo_dyn_check_finite(where, "v", v, info->nv));
  for (int b = 0; b < info->nfree; ++b) {
    tribo_dyn_body_pose(system->bodies + b, unit_q + info->block_q[b], poses + b);
    tribo_dyn_body_twist(system->bodies + b, poses + b, v + info->block_v[b], twists + b);
  }
  for (int t = 0; t < info->ntree; ++t) {
    const TreePart* part = system->trees + t;
    TRIBO_TRY(tribo_dyn_tree_kinematics(part, data->pin[t], unit_q + info->block_q[part->block],
                                        v + info->block_v[part->block], poses + part->body, twists + part->body,
                                        data->scratch_jac));
  }
  return TRIBO_OK;
}

// Adds one rigid body to the sums; com is Σ m x until the end.
static void add_body_energy(double mass, const double com[3], const double inertia[9], const TriboPose* pose,
                            const TriboTwist* twist, const double gravity[3], TriboEnergy* sum) {
  double arm[3], x[3], velocity[3], local[3], spin[3], spin_world[3], orbit[3];
  tribo_mul33v(arm, pose->R, com);
  tribo_add3(x, pose->p, arm);
  tribo_cross3(velocity, twist->w, arm);
  tribo_add3(velocity, velocity, twist->v);
  tribo_mul33tv(local, pose->R, twist->w);
  tribo_mul33v(spin, inertia, local);
  tribo_mul33v(spin_world, pose->R, spin);
  tribo_cross3(orbit, x, velocity);

  sum->mass += mass;
  sum->kinetic += 0.5 * (mass * tribo_dot3(velocity, velocity) + tribo_dot3(local, spin));
  sum->potential -= mass * tribo_dot3(gravity, x);
  for (int i = 0; i < 3; ++i) {
    sum->momentum[i] += mass * velocity[i];
    sum->angular[i] += mass * orbit[i] + spin_world[i];
    sum->com[i] += mass * x[i];
  }
}

TriboStatus tribo_dyn_energy(const TriboSystem* system, TriboDynData* data, const double gravity[3], const double* q,
                             const double* v, TriboEnergy* out) {
  const char* where = "tribo_dyn_energy";
  if (system == NULL || data == NULL || gravity == NULL || q == NULL || v == NULL || out == NULL) {
    return null_argument(where);
  }
  TRIBO_TRY(tribo_dyn_check_finite(where, "gravity", gravity, 3));
  TRIBO_TRY(tribo_dyn_kinematics(system, data, q, v, data->scratch_poses, data->scratch_twists));
  *out = (TriboEnergy){0};
  for (int b = 0; b < system->info.nfree; ++b) {
    const FreeBody* body = system->bodies + b;
    add_body_energy(body->mass, body->com, body->inertia, data->scratch_poses + b, data->scratch_twists + b, gravity,
                    out);
  }
  for (int t = 0; t < system->info.ntree; ++t) {
    const TreePart* part = system->trees + t;
    const double* tree_v = v + system->info.block_v[part->block];
    for (int i = 0; i < part->info->nlink; ++i) {
      const TriboLinkInfo* link = part->info->links + i;
      add_body_energy(link->mass, link->com, link->inertia, data->scratch_poses + part->body + i,
                      data->scratch_twists + part->body + i, gravity, out);
    }
    const double* tree_q = q + system->info.block_q[part->block];
    for (int i = 0; i < part->info->nlink; ++i) {
      double stretch[3];
      const int n = tribo_dyn_spring_stretch(part->info, part->info->links + i, tree_q, stretch);
      for (int k = 0; k < n; ++k) {
        out->potential += 0.5 * part->info->stiffness[part->info->links[i].v_at] * stretch[k] * stretch[k];
      }
    }
    for (int k = 0; k < part->info->nv; ++k) {
      out->kinetic += 0.5 * part->info->armature[k] * tree_v[k] * tree_v[k];
    }
  }
  if (out->mass > 0) {
    tribo_scale3(out->com, 1 / out->mass, out->com);
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_integrate(const TriboSystem* system, TriboDynData* data, const double* q, const double* dv,
                                double* q_next) {
  const char* where = "tribo_dyn_integrate";
  if (system == NULL || data == NULL || q == NULL || dv == NULL || q_next == NULL) {
    return null_argument(where);
  }
  const TriboSystemInfo* info = &system->info;
  TRIBO_TRY(tribo_dyn_unit_state(system, where, q, data->scratch_q[0]));
  TRIBO_TRY(tribo_dyn_check_finite(where, "dv", dv, info->nv));
  for (int b = 0; b < info->nfree; ++b) {
    tribo_dyn_body_integrate(data->scratch_q[0] + info->block_q[b], dv + info->block_v[b], q_next + info->block_q[b]);
  }
  for (int t = 0; t < info->ntree; ++t) {
    const int at = info->block_q[info->nfree + t];
    TRIBO_TRY(tribo_dyn_tree_integrate(system->trees + t, data->pin[t], data->scratch_q[0] + at,
                                       dv + info->block_v[info->nfree + t], q_next + at));
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_difference(const TriboSystem* system, TriboDynData* data, const double* q0, const double* q1,
                                 double* dv) {
  const char* where = "tribo_dyn_difference";
  if (system == NULL || data == NULL || q0 == NULL || q1 == NULL || dv == NULL) {
    return null_argument(where);
  }
  const TriboSystemInfo* info = &system->info;
  TRIBO_TRY(tribo_dyn_unit_state(system, where, q0, data->scratch_q[0]));
  TRIBO_TRY(tribo_dyn_unit_state(system, where, q1, data->scratch_q[1]));
  for (int b = 0; b < info->nfree; ++b) {
    tribo_dyn_body_difference(data->scratch_q[0] + info->block_q[b], data->scratch_q[1] + info->block_q[b],
                              dv + info->block_v[b]);
  }
  for (int t = 0; t < info->ntree; ++t) {
    const int at = info->block_q[info->nfree + t];
    TRIBO_TRY(tribo_pin_difference(data->pin[t], data->scratch_q[0] + at, data->scratch_q[1] + at,
                                   dv + info->block_v[info->nfree + t]));
  }
  return TRIBO_OK;
}

// ---- what a certificate has to know --------------------------------------------------------------------------------

int tribo_dyn_is_unresolved(const TriboDynData* data) {
  return data->flight.is_unresolved;
}

int tribo_dyn_block_lags(const TriboSystem* system, const TriboDynData* data, int block) {
  return system->cluster[block] >= 0 && !data->cluster_kicked[system->cluster[block]];
}

double tribo_dyn_tree_theta(const TriboDynData* data, int tree) {
  return data->flight.split[tree].theta;
}

int tribo_dyn_block_cluster(const TriboSystem* system, int block) {
  return system->cluster[block];
}

int tribo_dyn_closure_gives_way(const TriboSystem* system, int closure) {
  return tribo_dyn_is_soft(system->closures + closure);
}

TriboBlockMotion tribo_dyn_block_motion(const TriboSystem* system, const TriboDynData* data,
                                        const TriboStepOptions* options, int block) {
  const int tree = block - system->info.nfree;
  const double split = data->split[block];
  if (tribo_dyn_moves_smoothly(system, data, options, block)) {
    return TRIBO_MOTION_SMOOTH;
  }
  if (split > 0 && split < 1 && (tree < 0 || system->cluster[block] < 0)) {
    return TRIBO_MOTION_IMPACT;
  }
  const int is_smooth =
      tree < 0 ? split == TRIBO_DYN_SMOOTH || data->lasts[block] : data->motion_kind[tree] == MOTION_FREE;
  return is_smooth ? TRIBO_MOTION_SMOOTH : TRIBO_MOTION_KICKED;
}

double tribo_dyn_springs(const TriboSystem* system, int tree, const double* q, double* force) {
  const TreePart* part = system->trees + tree;
  double sum = 0;
  if (!part->has_springs) {
    return 0;
  }
  for (int i = 0; i < part->info->nlink; ++i) {
    double stretch[3];
    const int n = tribo_dyn_spring_stretch(part->info, part->info->links + i, q, stretch);
    const int at = part->info->links[i].v_at;
    for (int k = 0; k < n; ++k) {
      const double pull = part->info->stiffness[at] * stretch[k];
      sum += 0.5 * pull * stretch[k];
      force[at + k] -= pull;
    }
  }
  return sum;
}
