// Making systems: free bodies and trees become blocks of q, v and M.
#include "system_blocks.h"

// Takes the arrays of a system, whose counts are upper bounds so far; no block belongs to a cluster yet.
static TriboStatus allocate_system(TriboSystem* s) {
  size_t nblock = (size_t)s->info.nblock;
  s->block_dim = tribo_alloc(nblock, sizeof *s->block_dim);
  s->block_q = tribo_alloc(nblock, sizeof *s->block_q);
  s->block_v = tribo_alloc(nblock, sizeof *s->block_v);
  s->block_at = tribo_alloc(nblock, sizeof *s->block_at);
  s->dof_parent = tribo_alloc(nblock, sizeof *s->dof_parent);
  s->body_block = tribo_alloc((size_t)s->info.nbody, sizeof *s->body_block);
  s->cluster = tribo_alloc(nblock, sizeof *s->cluster);
  s->closure_needs_pose = tribo_alloc(nblock, sizeof *s->closure_needs_pose);
  s->bodies = tribo_alloc((size_t)s->info.nfree, sizeof *s->bodies);
  s->units = tribo_alloc((size_t)s->nunit, sizeof *s->units);
  s->trees = tribo_alloc((size_t)s->info.ntree, sizeof *s->trees);
  s->bounds = tribo_alloc((size_t)s->nbound, sizeof *s->bounds);
  if (s->trees == NULL || s->bounds == NULL || s->block_dim == NULL || s->block_q == NULL || s->block_v == NULL ||
      s->block_at == NULL || s->dof_parent == NULL || s->cluster == NULL || s->closure_needs_pose == NULL ||
      s->body_block == NULL || s->bodies == NULL || s->units == NULL) {
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

// The inertia about the axis of what a hinge turns, where turning it changes nothing: its centre of mass lies on the
// axis and its other two principal moments are equal; 0 otherwise. What hangs on it by joints does not count.
static double wheel_inertia(const TriboLinkInfo* link) {
  static const double SAME = 1e-9;  // as a fraction
  const double *a = link->axis, *I = link->moved_inertia, *com = link->moved_com;
  double off[3], along[3], axial, across, most = 0;
  tribo_cross3(off, a, com);
  tribo_mul33v(along, I, a);
  axial = tribo_dot3(a, along);
  across = 0.5 * (I[0] + I[4] + I[8] - axial);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      const double symmetric = (axial - across) * a[i] * a[k] + (i == k ? across : 0);
      most = fmax(most, fabs(I[3 * i + k] - symmetric));
    }
  }
  const double trace = I[0] + I[4] + I[8];
  const int is_wheel = most <= SAME * trace && link->moved_mass * tribo_dot3(off, off) <= SAME * SAME * trace;
  return is_wheel && trace > 0 ? axial : 0;
}

// The joints of a tree, parents first.
static TriboStatus make_joints(const TriboTreeInfo* info, TreePart* part) {
  int* joint_of = part->joint_of = tribo_alloc((size_t)info->nlink, sizeof *joint_of);
  part->joints = tribo_alloc((size_t)info->nlink, sizeof *part->joints);
  part->turns = tribo_alloc((size_t)info->nlink, sizeof *part->turns);
  if (joint_of == NULL || part->joints == NULL || part->turns == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_dyn_system_create: no memory for a tree");
  }
  part->has_own_kernels = part->q_is_vector = 1;
  for (int i = 0; i < info->nlink; ++i) {
    const TriboLinkInfo* link = info->links + i;
    const int before = link->parent < 0 ? -1 : joint_of[link->parent];
    part->has_own_kernels &= tribo_dyn_joint_has_own_kernel(link->kind);
    part->q_is_vector &= link->kind == TRIBO_JOINT_FIXED || link->kind == TRIBO_JOINT_REVOLUTE ||
                         link->kind == TRIBO_JOINT_PRISMATIC || link->kind == TRIBO_JOINT_TRANSLATION;
    part->has_springs |= link->nv > 0 && info->stiffness[link->v_at] != 0;
    part->has_ellipsoids |= link->kind == TRIBO_JOINT_ELLIPSOID;
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
                      .axes_are_carried = link->kind == TRIBO_JOINT_UNIVERSAL || link->kind == TRIBO_JOINT_EULER ||
                                          link->kind == TRIBO_JOINT_ELLIPSOID,
                      .radii = link->kind == TRIBO_JOINT_ELLIPSOID ? link->radii : NULL};
    }
  }
  part->is_floating = part->njoint > 0 && info->links[part->joints->link].kind == TRIBO_JOINT_FREE;
  for (int i = 0; i < info->nlink; ++i) {
    part->is_floating &= joint_of[i] >= 0 && (joint_of[i] == 0 || part->joints[joint_of[i]].parent >= 0);
  }
  if (part->has_own_kernels) {
    for (int j = 0; j < part->njoint; ++j) {
      const TriboLinkInfo* link = info->links + part->joints[j].link;
      const int is_hinge = link->kind == TRIBO_JOINT_REVOLUTE || link->kind == TRIBO_JOINT_CONTINUOUS;
      part->joints[j].wheel_inertia = is_hinge ? wheel_inertia(link) : 0;
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

// Appends a tree: its block, its links as bodies from *body on, its unit parts of q, its dofs with a limit or friction.
static TriboStatus add_tree(TriboSystem* s, int index, const TriboTree* tree, int* body) {
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree);
  const int block = s->info.nfree + index, at_q = s->info.nq, at_v = s->info.nv;
  s->trees[index] = (TreePart){.tree = tree, .info = info, .block = block, .body = *body};
  TRIBO_TRY(make_dof_tree(info, &s->trees[index].dofs));
  s->dof_parent[block] = s->trees[index].dofs.parent;
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
  if (s->trees != NULL) {
    for (int t = 0; t < s->info.ntree; ++t) {
      tribo_free(s->trees[t].dofs.parent);
      tribo_free(s->trees[t].dofs.start);
      tribo_free(s->trees[t].joints);
      tribo_free(s->trees[t].joint_of);
      tribo_free(s->trees[t].turns);
    }
  }
  tribo_free(s->block_dim);
  tribo_free(s->block_q);
  tribo_free(s->block_v);
  tribo_free(s->block_at);
  tribo_free(s->dof_parent);
  tribo_free(s->body_block);
  tribo_free(s->bodies);
  tribo_free(s->units);
  tribo_free(s->trees);
  tribo_free(s->bounds);
  tribo_free(s->cluster);
  tribo_free(s->closure_needs_pose);
  tribo_free(s->closures);
  tribo_free(s->closure_mobility);
  tribo_free(s);
}

const TriboSystemInfo* tribo_dyn_system_info(const TriboSystem* system) {
  return &system->info;
}
