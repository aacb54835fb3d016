// Making systems and their data, and the checks that every stage shares.
#include "internal.h"

// ---- checks --------------------------------------------------------------------------------------------------------

TriboStatus tribo_dyn_check_finite(const char* where, const char* what, const double* x, int count) {
  if (tribo_finite(x, (size_t)count)) {
    return TRIBO_OK;
  }
  int i = 0;
  while (isfinite(x[i])) {
    ++i;
  }
  return tribo_fail(TRIBO_NUMERIC, "%s: %s[%d] is %g, must be finite", where, what, i, x[i]);
}

TriboStatus tribo_dyn_check_options(const char* where, const TriboStepOptions* options) {
  if (!(options->h > 0) || !isfinite(options->h)) {
    return tribo_fail(TRIBO_INVALID, "%s: h is %g, must be finite and > 0", where, options->h);
  }
  if (!tribo_finite(options->gravity, 3)) {
    return tribo_fail(TRIBO_INVALID, "%s: gravity is (%g, %g, %g), must be finite", where, options->gravity[0],
                      options->gravity[1], options->gravity[2]);
  }
  if (options->scheme != TRIBO_SCHEME_MIDPOINT && options->scheme != TRIBO_SCHEME_EULER) {
    return tribo_fail(TRIBO_INVALID, "%s: scheme is %d, must be MIDPOINT (0) or EULER (1)", where, options->scheme);
  }
  if (!(options->erp >= 0 && options->erp <= 1)) {
    return tribo_fail(TRIBO_INVALID, "%s: erp is %g, must be in 0 … 1", where, options->erp);
  }
  if (!(options->slop >= 0) || !(options->depen_max >= 0) || !(options->bounce_min >= 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: slop %g, depen_max %g and bounce_min %g must be ≥ 0", where, options->slop,
                      options->depen_max, options->bounce_min);
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_unit_state(const TriboSystem* system, const char* where, const double* q, double* out) {
  TRIBO_TRY(tribo_dyn_check_finite(where, "q", q, system->info.nq));
  if (out != q) {
    memcpy(out, q, (size_t)system->info.nq * sizeof *q);
  }
  for (int u = 0; u < system->nunit; ++u) {
    double* x = out + system->units[u].at;
    double square = 0;
    for (int i = 0; i < system->units[u].count; ++i) {
      square += x[i] * x[i];
    }
    if (!(square > 1e-12) || !isfinite(square)) {
      return tribo_fail(TRIBO_NUMERIC, "%s: q[%d…%d] has length %g, must be a unit %s", where, system->units[u].at,
                        system->units[u].at + system->units[u].count - 1, sqrt(square),
                        system->units[u].count == 4 ? "quaternion" : "pair (cos, sin)");
    }
    // what has length 1 to rounding keeps its bits: a body at rest does not creep
    if (fabs(square - 1) > 1e-15) {
      for (int i = 0; i < system->units[u].count; ++i) {
        x[i] /= sqrt(square);
      }
    }
  }
  return TRIBO_OK;
}

// ---- system --------------------------------------------------------------------------------------------------------

static TriboStatus allocate_system(TriboSystem* s) {
  size_t nblock = (size_t)s->info.nblock;
  s->block_dim = tribo_alloc(nblock, sizeof *s->block_dim);
  s->block_q = tribo_alloc(nblock, sizeof *s->block_q);
  s->block_v = tribo_alloc(nblock, sizeof *s->block_v);
  s->block_at = tribo_alloc(nblock, sizeof *s->block_at);
  s->body_block = tribo_alloc((size_t)s->info.nbody, sizeof *s->body_block);
  s->cluster = tribo_alloc(nblock, sizeof *s->cluster);
  s->looked = tribo_alloc(nblock, sizeof *s->looked);
  s->bodies = tribo_alloc((size_t)s->info.nfree, sizeof *s->bodies);
  s->units = tribo_alloc((size_t)s->nunit, sizeof *s->units);
  s->trees = tribo_alloc((size_t)s->info.ntree, sizeof *s->trees);
  s->bounds = tribo_alloc((size_t)s->nbound, sizeof *s->bounds);
  if (s->trees == NULL || s->bounds == NULL || s->block_dim == NULL || s->block_q == NULL || s->block_v == NULL ||
      s->block_at == NULL || s->cluster == NULL || s->looked == NULL || s->body_block == NULL || s->bodies == NULL ||
      s->units == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_dyn_system_create: no memory for %d bodies", s->info.nbody);
  }
  s->info.block_dim = s->block_dim;
  s->info.block_q = s->block_q;
  s->info.block_v = s->block_v;
  s->info.body_block = s->body_block;
  for (size_t b = 0; b < nblock; ++b) {
    s->cluster[b] = -1;
  }
  return TRIBO_OK;
}

// Appends a block of nq coordinates and nv velocities.
static void add_block(TriboSystem* s, int block, int nq, int nv) {
  s->block_dim[block] = nv;
  s->block_q[block] = s->info.nq;
  s->block_v[block] = s->info.nv;
  s->block_at[block] = s->nmass;
  s->info.nq += nq;
  s->info.nv += nv;
  s->nmass += (size_t)nv * (size_t)nv;
}

// The leading minors of a symmetric matrix are positive exactly when it is positive definite (Sylvester).
static TriboStatus check_free_body(int index, const TriboFreeBodyDef* def) {
  const char* where = "tribo_dyn_system_create";
  const double* I = def->inertia;
  if (!(def->mass > 0) || !isfinite(def->mass)) {
    return tribo_fail(TRIBO_INVALID, "%s: mass of body %d is %g, must be finite and > 0", where, index, def->mass);
  }
  if (!tribo_finite(def->com, 3) || !tribo_finite(I, 9)) {
    return tribo_fail(TRIBO_INVALID, "%s: body %d has a centre of mass or an inertia that is not finite", where, index);
  }
  const double size = fabs(I[0]) + fabs(I[4]) + fabs(I[8]);
  if (!(fabs(I[1] - I[3]) + fabs(I[2] - I[6]) + fabs(I[5] - I[7]) <= 1e-9 * size)) {
    return tribo_fail(TRIBO_INVALID, "%s: inertia of body %d is not symmetric", where, index);
  }
  if (!(I[0] > 0 && I[0] * I[4] - I[1] * I[3] > 0 && tribo_det33(I) > 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: inertia of body %d (diagonal %g, %g, %g) is not positive definite", where,
                      index, I[0], I[4], I[8]);
  }
  return TRIBO_OK;
}

static TriboStatus add_free_body(TriboSystem* s, int index, const TriboFreeBodyDef* def) {
  TRIBO_TRY(check_free_body(index, def));
  FreeBody* body = s->bodies + index;
  body->mass = def->mass;
  tribo_copy3(body->com, def->com);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      body->inertia[3 * i + j] = 0.5 * (def->inertia[3 * i + j] + def->inertia[3 * j + i]);
    }
  }
  tribo_inv33(body->inverse, body->inertia);
  s->units[s->nunit++] = (UnitPart){s->info.nq + 3, 4};
  s->body_block[index] = index;
  add_block(s, index, 7, 6);
  return TRIBO_OK;
}

// Which stretches of a joint's q have length 1.
static UnitPart unit_part(const TriboLinkInfo* link) {
  switch (link->kind) {
    case TRIBO_JOINT_CONTINUOUS: return (UnitPart){link->q_at, 2};
    case TRIBO_JOINT_PLANAR: return (UnitPart){link->q_at + 2, 2};
    case TRIBO_JOINT_SPHERICAL: return (UnitPart){link->q_at, 4};
    case TRIBO_JOINT_FREE: return (UnitPart){link->q_at + 3, 4};
    default: return (UnitPart){0, 0};
  }
}

// The joints of a tree, parents first.
static TriboStatus make_joints(const TriboTreeInfo* info, TreePart* part) {
  int* joint_of = part->joint_of = tribo_alloc((size_t)info->nlink, sizeof *joint_of);
  part->joints = tribo_alloc((size_t)info->nlink, sizeof *part->joints);
  part->turns = tribo_alloc((size_t)info->nlink, sizeof *part->turns);
  if (joint_of == NULL || part->joints == NULL || part->turns == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_dyn_system_create: no memory for a tree");
  }
  part->plain = part->flat = 1;
  for (int i = 0; i < info->nlink; ++i) {
    const TriboLinkInfo* link = info->links + i;
    const int before = link->parent < 0 ? -1 : joint_of[link->parent];
    part->plain &= tribo_dyn_is_plain(link->kind);
    part->flat &= link->kind == TRIBO_JOINT_FIXED || link->kind == TRIBO_JOINT_REVOLUTE ||
                  link->kind == TRIBO_JOINT_PRISMATIC || link->kind == TRIBO_JOINT_TRANSLATION;
    part->springs |= link->nv > 0 && info->stiffness[link->v_at] != 0;
    if (link->kind == TRIBO_JOINT_REVOLUTE || link->kind == TRIBO_JOINT_CONTINUOUS) {
      part->turns[i] = tribo_dyn_tree_turn(link);
    }
    joint_of[i] = link->nv > 0 ? part->njoint : before;
    if (link->nv > 0) {
      part->joints[part->njoint++] =
          (TreeJoint){.link = i,
                      .parent = before,
                      .q_at = link->q_at,
                      .v_at = link->v_at,
                      .nv = link->nv,
                      .in_turn = link->kind == TRIBO_JOINT_UNIVERSAL || link->kind == TRIBO_JOINT_EULER ||
                                 link->kind == TRIBO_JOINT_ELLIPSOID,
                      .radii = link->kind == TRIBO_JOINT_ELLIPSOID ? link->radii : NULL};
    }
  }
  return TRIBO_OK;
}

// Parents of a tree's dofs. Within a joint each dof hangs on the one before it.
static TriboStatus make_dof_tree(const TriboTreeInfo* info, DofTree* dofs) {
  dofs->nv = info->nv;
  dofs->parent = tribo_alloc((size_t)info->nv, sizeof *dofs->parent);
  dofs->start = tribo_alloc((size_t)info->nv, sizeof *dofs->start);
  if (dofs->parent == NULL || dofs->start == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_dyn_system_create: no memory for a tree");
  }
  for (int i = 0; i < info->nlink; ++i) {
    const TriboLinkInfo* link = info->links + i;
    const int above = link->parent < 0 ? -1 : info->links[link->parent].carrier;
    for (int k = link->v_at; k < link->v_at + link->nv; ++k) {
      const int first = above < 0 ? -1 : info->links[above].v_at + info->links[above].nv - 1;
      dofs->parent[k] = k > link->v_at ? k - 1 : first;
    }
  }
  tribo_dyn_dof_starts(dofs);
  return TRIBO_OK;
}

static TriboStatus add_tree(TriboSystem* s, int index, const TriboTree* tree, int* body) {
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree);
  const int block = s->info.nfree + index, at_q = s->info.nq, at_v = s->info.nv;
  s->trees[index] = (TreePart){.tree = tree, .info = info, .block = block, .body = *body};
  TRIBO_TRY(make_dof_tree(info, &s->trees[index].dofs));
  TRIBO_TRY(make_joints(info, &s->trees[index]));
  s->nv_max = info->nv > s->nv_max ? info->nv : s->nv_max;
  for (int i = 0; i < info->nlink; ++i) {
    const TriboLinkInfo* link = info->links + i;
    const UnitPart unit = unit_part(link);
    s->body_block[(*body)++] = link->carrier < 0 ? -1 : block;
    if (unit.count > 0) {
      s->units[s->nunit++] = (UnitPart){at_q + unit.at, unit.count};
    }
  }

  // dofs with a limit or dry friction, in the order of v; where joints have limits, v is the rate of q
  for (int k = 0; k < info->nv; ++k) {
    BoundDof bound = {.v = at_v + k, .block = block, .lower = -INFINITY, .upper = INFINITY};
    bound.friction = info->friction[k];
    bound.restitution = info->restitution[k];
    bound.soft = info->soft[k];
    for (int i = 0; i < info->nlink; ++i) {
      const TriboLinkInfo* link = info->links + i;
      if (k >= link->v_at && k < link->v_at + tribo_dyn_joint_limits(link->kind)) {
        bound.kind = link->kind;
        bound.part = k - link->v_at;
        bound.q = at_q + link->q_at + k - link->v_at;
        bound.lower = info->lower[link->q_at + k - link->v_at];
        bound.upper = info->upper[link->q_at + k - link->v_at];
      }
    }
    if (bound.friction > 0 || bound.lower > -INFINITY || bound.upper < INFINITY) {
      s->bounds[s->nbound++] = bound;
    }
  }
  add_block(s, block, info->nq, info->nv);
  return TRIBO_OK;
}

TriboStatus tribo_dyn_system_create(const TriboSystemDef* def, TriboSystem** out) {
  if (def == NULL || out == NULL || def->nbody < 0 || def->ntree < 0 || (def->nbody > 0 && def->bodies == NULL) ||
      (def->ntree > 0 && def->trees == NULL)) {
    return tribo_fail(TRIBO_INVALID, "tribo_dyn_system_create: def, out or an array with a count above 0 is missing");
  }
  *out = NULL;
  TriboSystem* s = tribo_alloc(1, sizeof *s);
  if (s == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_dyn_system_create: no memory");
  }
  s->info.nfree = def->nbody;
  s->info.ntree = def->ntree;
  s->info.nblock = def->nbody + def->ntree;
  s->info.nbody = s->nunit = def->nbody;

  // room for all that the trees may bring; the counts start again from 0 when it is filled
  TriboStatus status = TRIBO_OK;
  for (int t = 0; t < def->ntree && status == TRIBO_OK; ++t) {
    if (def->trees[t] == NULL) {
      status = tribo_fail(TRIBO_INVALID, "tribo_dyn_system_create: trees[%d] is NULL", t);
      break;
    }
    const TriboTreeInfo* info = tribo_dyn_tree_info(def->trees[t]);
    s->info.nbody += info->nlink;
    s->nunit += info->nlink;
    s->nbound += info->nv;
  }
  if (status == TRIBO_OK) {
    status = allocate_system(s);
  }
  s->nunit = s->nbound = 0;
  for (int i = 0; i < def->nbody && status == TRIBO_OK; ++i) {
    status = add_free_body(s, i, def->bodies + i);
  }
  int body = def->nbody;
  for (int t = 0; t < def->ntree && status == TRIBO_OK; ++t) {
    status = add_tree(s, t, def->trees[t], &body);
  }
  if (status != TRIBO_OK) {
    tribo_dyn_system_destroy(s);
    return status;
  }
  *out = s;
  return TRIBO_OK;
}

void tribo_dyn_system_destroy(TriboSystem* s) {
  if (s == NULL) {
    return;
  }
  for (int t = 0; s->trees != NULL && t < s->info.ntree; ++t) {
    tribo_free(s->trees[t].dofs.parent);
    tribo_free(s->trees[t].dofs.start);
    tribo_free(s->trees[t].joints);
    tribo_free(s->trees[t].joint_of);
    tribo_free(s->trees[t].turns);
  }
  tribo_free(s->block_dim);
  tribo_free(s->block_q);
  tribo_free(s->block_v);
  tribo_free(s->block_at);
  tribo_free(s->body_block);
  tribo_free(s->bodies);
  tribo_free(s->units);
  tribo_free(s->trees);
  tribo_free(s->bounds);
  tribo_free(s->cluster);
  tribo_free(s->looked);
  tribo_free(s->closures);
  tribo_free(s);
}

const TriboSystemInfo* tribo_dyn_system_info(const TriboSystem* system) {
  return &system->info;
}

// ---- data ----------------------------------------------------------------------------------------------------------

// The mass blocks of free bodies never change: M = diag(m, m, m, I).
static void fill_free_mass(const TriboSystem* s, double* all_mass, double* all_minv) {
  for (int b = 0; b < s->info.nfree; ++b) {
    const FreeBody* body = s->bodies + b;
    double* mass = all_mass + s->block_at[b];
    double* minv = all_minv + s->block_at[b];
    for (int i = 0; i < 3; ++i) {
      mass[7 * i] = body->mass;
      minv[7 * i] = 1 / body->mass;
      for (int j = 0; j < 3; ++j) {
        mass[6 * (3 + i) + 3 + j] = body->inertia[3 * i + j];
        minv[6 * (3 + i) + 3 + j] = body->inverse[3 * i + j];
      }
    }
  }
}

// X(array, count): the arrays whose size the system fixes; n… are locals of allocate_data
#define DATA_ARRAYS(X)                     \
  X(q, nq)                                 \
  X(v_free, nv)                            \
  X(poses, nbody)                          \
  X(twists, nbody)                         \
  X(mass, system->nmass)                   \
  X(minv, system->nmass)                   \
  X(jac, ntree > 0 ? 6 * nv : 0)           \
  X(q_half, ntree > 0 ? nq : 0)            \
  X(jac_half, ntree > 0 ? 6 * nv : 0)      \
  X(inertias, ntree > 0 ? nv : 0)          \
  X(motions, ntree > 0 ? nv : 0)           \
  X(force, ntree > 0 ? nv : 0)             \
  X(weight, ntree > 0 ? nv : 0)            \
  X(calm, ntree > 0 ? nv : 0)              \
  X(factor, ntree > 0 ? system->nmass : 0) \
  X(touched, nblock)                       \
  X(leans, ncluster)                       \
  X(mean_of, ntree)                        \
  X(impulse, nv)                           \
  X(split, nblock)                         \
  X(flies, nblock)                         \
  X(v_before, nv)                          \
  X(v_after, nv)                           \
  X(hard, ncluster)                        \
  X(chased, 2 * (size_t)system->nbound)    \
  X(cluster_split, ncluster)               \
  X(tau, loops ? nv : 0)                   \
  X(wrench, loops ? 6 * nbody : 0)         \
  X(kick, loops ? nv : 0)                  \
  X(gain, loops ? nv : 0)                  \
  X(push, loops ? nv : 0)                  \
  X(q_trial, loops ? nq : 0)               \
  X(settled_q, loops ? nq : 0)             \
  X(next_poses, loops ? nbody : 0)         \
  X(next_jac, loops ? 6 * nv : 0)          \
  X(next_mass, loops ? system->nmass : 0)  \
  X(next_minv, loops ? system->nmass : 0)  \
  X(next_block, loops ? nblock : 0)        \
  X(next_dim, loops ? nblock : 0)          \
  X(next_at, loops ? nblock : 0)           \
  X(next_term, system->closure_size.nterm) \
  X(guess, nclosed)                        \
  X(memory.X, TRIBO_DYN_MEMORY* nclosed)   \
  X(memory.F, TRIBO_DYN_MEMORY* nclosed)   \
  X(memory.Q, TRIBO_DYN_MEMORY* nclosed)   \
  X(memory.x, nclosed)                     \
  X(memory.f, nclosed)                     \
  X(memory.now, nclosed)                   \
  X(memory.d, nclosed)                     \
  X(memory.turn, nclosed)                  \
  X(memory.reply, nclosed)                 \
  X(slack.N, factors ? nsquare : 0)        \
  X(slack.W, factors ? nsquare : 0)        \
  X(slack.scale, factors ? nclosed : 0)    \
  X(slack.order, factors ? nclosed : 0)    \
  X(slack.y, 6 * widest)                   \
  X(pin, ntree)                            \
  X(mean, nv_max)                          \
  X(work, nv_max)                          \
  X(look_q[0], nq)                         \
  X(look_q[1], nq)                         \
  X(look_poses, nbody)                     \
  X(look_twists, nbody)                    \
  X(look_jac, 6 * nv_max)                  \
  X(look_inertias, nv_max)                 \
  X(look_sums, nv_max)                     \
  X(look_motions, nv_max)                  \
  X(look_force, nv_max)                    \
  X(look_weight, nv_max)                   \
  X(look_factor, nfactor)

// Takes them all; 0 when there is no memory.
static int allocate_data(const TriboSystem* system, TriboDynData* d) {
  const TriboSystemInfo* info = &system->info;
  const size_t nq = (size_t)info->nq, nv = (size_t)info->nv, nbody = (size_t)info->nbody, ntree = (size_t)info->ntree;
  const size_t nblock = (size_t)info->nblock, nv_max = (size_t)system->nv_max;
  const size_t nclosure = (size_t)system->nclosure, ncluster = (size_t)system->ncluster;
  const size_t nclosed = system->closure_size.nrow, nsquare = nclosed * nclosed, nfactor = nv_max * nv_max;
  const size_t widest = nv_max > 6 ? nv_max : 6;
  const int loops = nclosure > 0, factors = system->slack || nclosed <= TRIBO_DYN_FEW;
#define X(array, count)                                            \
  if ((d->array = tribo_alloc(count, sizeof *d->array)) == NULL) { \
    return 0;                                                      \
  }
  DATA_ARRAYS(X)
#undef X
  return 1;
}

TriboStatus tribo_dyn_data_create(const TriboSystem* system, TriboDynData** out) {
  if (system == NULL || out == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_dyn_data_create: system or out is NULL");
  }
  *out = NULL;
  TriboDynData* d = tribo_alloc(1, sizeof *d);
  if (d == NULL || !allocate_data(system, d)) {
    tribo_dyn_data_destroy(d);
    return tribo_fail(TRIBO_NOMEM, "tribo_dyn_data_create: no memory for %d bodies", system->info.nbody);
  }
  for (; d->npin < system->info.ntree; ++d->npin) {
    const TriboStatus status = tribo_pin_data_create(system->trees[d->npin].tree, d->pin + d->npin);
    if (status != TRIBO_OK) {
      tribo_dyn_data_destroy(d);
      return status;
    }
  }
  fill_free_mass(system, d->mass, d->minv);
  if (system->nclosure > 0) {
    fill_free_mass(system, d->next_mass, d->next_minv);
  }
  *out = d;
  return TRIBO_OK;
}

void tribo_dyn_data_destroy(TriboDynData* d) {
  if (d == NULL) {
    return;
  }
  for (int t = 0; t < d->npin; ++t) {
    tribo_pin_data_destroy(d->pin[t]);
  }
  tribo_dyn_rows_free(&d->rows);
  tribo_dyn_rows_free(&d->settle);
  tribo_dyn_directions_free(&d->directions);
  tribo_dyn_inverse_free(&d->inverse);
#define X(array, count) tribo_free(d->array);
  DATA_ARRAYS(X)
#undef X
  tribo_free(d);
}

const TriboPose* tribo_dyn_poses(const TriboDynData* data) {
  return data->poses;
}
const TriboTwist* tribo_dyn_twists(const TriboDynData* data) {
  return data->twists;
}
const double* tribo_dyn_free_velocity(const TriboDynData* data) {
  return data->v_free;
}
