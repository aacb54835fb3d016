// A tree at an instant: velocities and forces of its links, mass and what damping and springs add to it.
#include "tree/tree_instant.h"

#include "small_dense.h"

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

void tribo_dyn_tree_origin(const TreePart* part, const double* q, double origin[3]) {
  tribo_set3(origin, 0, 0, 0);
  if (part->is_floating) {
    // (its q is along the axes of its placement)
    tribo_mul33v(origin, part->info->links[part->joints->link].place.R, q + part->joints->q_at);
  }
}

void tribo_dyn_instant_set(const TreeAt* tree, const double* q, TreeInstant* at) {
  memmove(at->q, q, (size_t)tree->info->nq * sizeof *q);
  tribo_dyn_tree_origin(tree->part, q, at->origin);
  if (tree->part->is_floating) {
    double* root = at->q + tree->part->joints->q_at;
    tribo_copy3(at->root, root);
    tribo_set3(root, 0, 0, 0);
  }
}

void tribo_dyn_instant_to_world(const TreeAt* tree, const TreeInstant* at, double* q) {
  if (tree->part->is_floating) {
    double* root = q + tree->part->joints->q_at;
    tribo_add3(root, root, at->root);
  }
}

TriboStatus tribo_dyn_instant_place(const TreeAt* tree, const double gravity[3], TreeInertia* sums,
                                    const TreeInstant* at) {
  TRIBO_TRY(tribo_dyn_tree_place(tree->part, tree->pin, at->q, at->poses, at->jac));
  tribo_dyn_tree_bodies(tree->part, at->poses, at->bodies);
  tribo_dyn_tree_inertias(tree->part, at->poses, at->inertias);
  tribo_dyn_tree_mass(tree->part, at->jac, at->inertias, sums, at->mass);
  tribo_dyn_tree_weight(tree->part, gravity, at->jac, sums, at->weight);
  for (int k = 0; k < tree->n; ++k) {
    at->diagonal[k] = at->mass[k * (tree->n + 1)];
    at->extra[k] = 0;
  }
  return TRIBO_OK;
}

double tribo_dyn_instant_damping(const TreeAt* tree, const TriboStepOptions* options, int k) {
  return tree->info->damping[k] + (options->resist != NULL ? options->resist[tree->v + k] : 0);
}

void tribo_dyn_instant_forces(const TreeAt* tree, const TriboStepOptions* options, const double* v, const double* tau,
                              const double* wrench, const TreeInstant* at) {
  for (int k = 0; k < tree->n; ++k) {
    // (what drives a joint has its damping at v in τ: it goes to the other dampers)
    at->force[k] = (tau == NULL ? 0 : tau[k]) + (options->resist != NULL ? options->resist[tree->v + k] * v[k] : 0);
  }
  if (wrench != NULL) {
    tribo_dyn_tree_wrenches(tree->part, at->poses, at->jac, wrench, at->force);
  }
  if (tree->part->has_springs) {
    for (int i = 0; i < tree->info->nlink; ++i) {
      double stretch[3];
      const int n = tribo_dyn_spring_stretch(tree->info, tree->info->links + i, at->q, stretch);
      const int first = tree->info->links[i].v_at;
      for (int k = first; k < first + n; ++k) {
        at->force[k] -= tree->info->stiffness[k] * stretch[k - first];
      }
    }
  }
}

TriboStatus tribo_dyn_instant_mass(const TreeAt* tree, const TriboStepOptions* options, double h, TreeKick kick,
                                   int has_factor, const TreeInstant* at) {
  const double spring = kick == KICK_EULER ? h : 0.5 * h;
  TreeSplit* split = at->split;
  *split = kick == KICK_DIVIDED ? (TreeSplit){0.5, 0.5} : (TreeSplit){1, 1};
  for (int k = 0; k < tree->n; ++k) {
    const double M = at->diagonal[k], d = tribo_dyn_instant_damping(tree, options, k);
    split->theta = h * d > 2 * M ? fmax(split->theta, 1 - M / (h * d)) : split->theta;
  }
  for (int k = 0; k < tree->n; ++k) {
    const double d = tribo_dyn_instant_damping(tree, options, k);
    const double extra = h * (split->theta * d + split->start * spring * tree->info->stiffness[k]);
    has_factor &= extra == at->extra[k];
    at->extra[k] = extra;
    at->mass[k * (tree->n + 1)] = at->diagonal[k] + extra;
  }
  if (!has_factor) {
    TRIBO_TRY(tribo_dyn_factor(&tree->part->dofs, at->mass, at->factor));
  }
  if (tree->is_tied) {
    for (int k = 0; k < tree->n; ++k) {
      at->mass[k * (tree->n + 1)] = at->diagonal[k];
    }
  }
  return TRIBO_OK;
}

double tribo_dyn_instant_early(const TreeAt* tree, const TriboStepOptions* options, double h, const TreeInstant* at,
                               int k) {
  return (at->split->theta - 0.5) * h * tribo_dyn_instant_damping(tree, options, k);
}

// (M + s diag(extra)) v, s = 0 or 1
static void times_mass(const TreeAt* tree, const TreeInstant* at, int whole, const double* v, double* out) {
  const double sign = whole - !tree->is_tied;
  tribo_mat_vec(tree->n, tree->n, at->mass, v, out);
  for (int k = 0; k < tree->n; ++k) {
    out[k] += sign * at->extra[k] * v[k];
  }
}

void tribo_dyn_instant_times_mass(const TreeAt* tree, const TreeInstant* at, const double* v, double* out) {
  times_mass(tree, at, 0, v, out);
}

void tribo_dyn_instant_times_whole(const TreeAt* tree, const TreeInstant* at, const double* v, double* out) {
  times_mass(tree, at, 1, v, out);
}

void tribo_dyn_instant_kick(const TreeAt* tree, const TriboStepOptions* options, TreeKick kick, const TreeInstant* at,
                            const double* v, double* v_free) {
  const double h = options->h, spring = kick == KICK_EULER ? h : 0.5 * h;
  for (int k = 0; k < tree->n; ++k) {
    const double resisted = tribo_dyn_instant_damping(tree, options, k) + spring * tree->info->stiffness[k];
    v_free[k] = h * (at->force[k] - at->weight[k] - resisted * v[k]);
  }
  tribo_dyn_factor_solve(&tree->part->dofs, at->factor, v_free);
  for (int k = 0; k < tree->n; ++k) {
    v_free[k] += v[k];
  }
}

void tribo_dyn_instant_carry(const TreeAt* tree, const TreeInstant* from, const TreeInstant* to, const double* impulse,
                             double* out) {
  memmove(out, impulse, (size_t)tree->n * sizeof *out);
  const int root = tree->part->joints->link;
  if (tree->info->links[root].kind == TRIBO_JOINT_FREE) {
    double force[3], torque[3];
    const double *R = from->poses[root].R, *R_to = to->poses[root].R;
    tribo_mul33v(force, R, impulse);
    tribo_mul33v(torque, R, impulse + 3);
    tribo_mul33tv(out, R_to, force);
    tribo_mul33tv(out + 3, R_to, torque);
  }
}
