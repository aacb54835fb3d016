// Stage 2 of a step: contacts, joint limits, dry friction, motors and closures become the rows of one problem,
// σ = J v⁺ + γ + Rλ. What touches what is known here, so the free velocities of trees become final first.
#include "dyn_data.h"
#include "union_find.h"

static const char* const where = "tribo_dyn_assemble";

// How fast the bodies of a contact part along its normal, by their velocities before the step [m/s].
static double parting_speed(const TriboPose* poses, const TriboTwist* twists, const TriboContact* contact) {
  double along = 0;
  for (int side = 0; side < 2; ++side) {
    const int body = side == 0 ? contact->body_a : contact->body_b;
    if (body != TRIBO_WORLD_BODY) {
      double arm[3], velocity[3];
      tribo_sub3(arm, contact->point, poses[body].p);
      tribo_cross3(velocity, twists[body].w, arm);
      tribo_add3(velocity, velocity, twists[body].v);
      along += (side == 0 ? -1 : 1) * tribo_dot3(contact->normal, velocity);
    }
  }
  return along;
}

// Whether a joint of a tree has a damper that would stop it within the step. Its impulse answers to what closures do by
// more than M⁻¹ knows: they must meet both.
static int is_overdamped(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                         int tree) {
  const TreePart* part = system->trees + tree;
  const int at = system->block_v[part->block];
  int found = 0;
  for (int k = 0; k < part->info->nv; ++k) {
    const double d = part->info->damping[k] + (options->resist != NULL ? options->resist[at + k] : 0);
    found |= options->h * d > 2 * data->flight.diagonal[at + k];
  }
  return found;
}

// Dry friction, motors, closures that give way and strong dampers act on a cluster of closures in every step, contacts
// and limits when they push: only the first ones are known here. What touches one block of a cluster touches all of it.
static void mark_clusters(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options) {
  memset(data->cluster_in_contact, 0, (size_t)system->ncluster);
  for (int i = 0; i < system->nbound; ++i) {
    const int cluster = system->cluster[system->bounds[i].block];
    if (cluster >= 0 && system->bounds[i].friction > 0) {
      data->cluster_in_contact[cluster] = 1;
    }
  }
  for (int i = 0; i < options->nmotor; ++i) {
    const int cluster = system->cluster[tribo_dyn_block_of_v(system, options->motors[i].v)];
    if (cluster >= 0) {
      data->cluster_in_contact[cluster] = 1;
    }
  }
  for (int i = 0; i < system->nclosure; ++i) {
    int blocks[2];
    if (tribo_dyn_is_soft(system->closures + i) && tribo_dyn_closure_blocks(system, system->closures + i, blocks) > 0) {
      data->cluster_in_contact[system->cluster[blocks[0]]] = 1;
    }
  }
  for (int t = 0; t < system->info.ntree; ++t) {
    const int cluster = system->cluster[system->trees[t].block];
    if (cluster >= 0 && is_overdamped(system, data, options, t)) {
      data->cluster_in_contact[cluster] = 1;
    }
  }
  memcpy(data->cluster_touched, data->cluster_in_contact, (size_t)system->ncluster);
  memcpy(data->cluster_kicked, data->cluster_in_contact, (size_t)system->ncluster);
  for (int b = 0; b < system->info.nblock; ++b) {
    if (system->cluster[b] >= 0) {
      data->cluster_touched[system->cluster[b]] |= data->touched[b];
    }
  }
  for (int b = 0; b < system->info.nblock; ++b) {
    if (system->cluster[b] >= 0) {
      data->touched[b] = data->cluster_touched[system->cluster[b]];
    }
  }
}

// Whether the columns of a block go on with its links: not those of ellipsoid joints.
static int columns_are_carried(const TriboSystem* system, int block) {
  const TreePart* part = block < system->info.nfree ? NULL : system->trees + (block - system->info.nfree);
  return part == NULL || !part->has_ellipsoids;
}

// A contact that was there before the step and stays lasts: bodies that are neither apart nor deep in each other, and
// move along each other but for what weight and their turning make of half a step. What only lasts makes no impulse
// that ends with the step: it acts half at either end, and the motion is of second order. What else comes or has come
// close touches; one touch makes the step one of impulses for all that hangs together (forward_step.c). Springs always
// touch, and so does what closures tie. (Blocks that float and lean on each other alone keep their angular momentum
// only in a step of impulses: those at q are at one point.)
static void mark_contact(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                         const TriboContact* contact, const TriboContact* first, const TriboContactLaw* law,
                         ContactTurn* turn) {
  const double h = options->h, g = tribo_norm3(options->gravity), close = options->slop + TRIBO_DYN_DEAD_BAND;
  const double parting = parting_speed(data->poses, data->scratch_twists, contact);
  const int blocks[2] = {tribo_dyn_block_of(system, contact->body_a), tribo_dyn_block_of(system, contact->body_b)};
  if (contact->gap > close + h * fmax(0, h * g - parting)) {
    return;
  }
  int lasts =
      law->compliance == 0 && law->soft.solref[0] == 0 && !(law->restitution > 0 && parting < -options->bounce_min);
  for (int k = 0; k < 2; ++k) {
    lasts = lasts && (blocks[k] < 0 || (system->cluster[blocks[k]] < 0 && columns_are_carried(system, blocks[k])));
  }
  if (lasts) {
    tribo_dyn_contact_turn(system, data, options, contact, first, turn);
    // a step of impulses leaves a free body's contact with as much as its row has turned, to rounding and a little; on
    // a tree its law asks about that (tree_motion.c)
    const int is_of_tree = blocks[0] >= system->info.nfree || blocks[1] >= system->info.nfree;
    lasts = tribo_dyn_lasts(options, contact->gap, parting,
                            (is_of_tree ? 0.5 : 1.1) * tribo_dot3(contact->normal, turn->bend));
  }
  turn->lasts = lasts;
  for (int k = 0; k < 2; ++k) {
    if (blocks[k] >= 0) {
      data->touched[blocks[k]] = data->touched[blocks[k]] || !lasts;
      data->lasts[blocks[k]] = data->lasts[blocks[k]] || lasts;
    }
  }
  if (blocks[0] >= 0 && blocks[1] >= 0) {
    tribo_sets_join(data->together, blocks[0], blocks[1]);
  } else {
    data->is_held[blocks[0] >= 0 ? blocks[0] : blocks[1]] = 1;
  }
}

// Which blocks something touches, or is about to: they are kicked in full. That depends on where things are and how
// they move, and on nothing that forces or impulses change.
static void mark_touched(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                         const double* v, const TriboContact* contacts, const TriboContactLaw* laws, int ncontact) {
  const int nblock = system->info.nblock;
  memset(data->touched, 0, (size_t)nblock);
  memset(data->lasts, 0, (size_t)nblock);
  memset(data->contacts_at, 0, (size_t)nblock * sizeof *data->contacts_at);
  for (int b = 0; b < nblock; ++b) {
    data->is_held[b] = b >= system->info.nfree && !system->trees[b - system->info.nfree].is_floating;
  }
  tribo_sets_init(data->together, nblock);
  if (ncontact > 0) {
    tribo_dyn_twists_of(system, data, v, data->scratch_twists);
  }
  for (int i = 0, first = 0; i < ncontact; ++i) {
    const TriboContact *c = contacts + i, *f = contacts + first;
    first = c->geom_a == f->geom_a && c->geom_b == f->geom_b && tribo_equal(c->normal, f->normal, 3) ? first : i;
    mark_contact(system, data, options, c, contacts + first, laws + i, data->turns + i);
    for (int k = 0; k < 2; ++k) {
      const int block = tribo_dyn_block_of(system, k == 0 ? c->body_a : c->body_b);
      if (block >= 0) {
        data->contacts_at[block]++;
      }
    }
  }
  tribo_dyn_mark_limits(system, data, options, options->slop + TRIBO_DYN_DEAD_BAND, v);
  mark_clusters(system, data, options);
  // one touch in an island: none of it only lasts. (The root of a set stands for it.)
  for (int b = 0; b < nblock; ++b) {
    const int root = tribo_sets_find(data->together, b);
    data->touched[root] = data->touched[root] || data->touched[b];
    data->is_held[root] = data->is_held[root] || data->is_held[b];
  }
  for (int b = 0; b < nblock; ++b) {
    const int root = tribo_sets_find(data->together, b);
    data->touched[b] = data->touched[root] || (data->lasts[b] && !data->is_held[root]);
    data->lasts[b] = data->lasts[b] && !data->touched[b];
  }
  if (ncontact > 0) {
    tribo_dyn_contacts_ahead(system, data, options->h, v);
  }
}

// Free velocities as rows see them, of trees that something touches and of those that nothing does.
static TriboStatus finish_trees(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                const double* v, const TriboContact* contacts, const TriboContactLaw* laws,
                                int ncontact) {
  const int is_euler = options->scheme == TRIBO_SCHEME_EULER;
  data->is_predicted = 0;
  if (!is_euler) {
    for (int t = 0; t < system->info.ntree; ++t) {
      tribo_dyn_tree_glide(system, data, t, v + system->block_v[system->trees[t].block]);
    }
    mark_touched(system, data, options, v, contacts, laws, ncontact);
    data->is_predicted = data->has_prediction && tribo_dyn_loops_predictable(system, data, options, contacts, ncontact);
  }
  if (data->is_inverse && !is_euler) {
    for (int b = 0; b < system->info.nfree; ++b) {
      tribo_dyn_inverse_read_body(system, data, b, options, v);
    }
  }
  for (int t = 0; t < system->info.ntree; ++t) {
    const double* tree_v = v + system->block_v[system->trees[t].block];
    if (data->is_inverse) {
      TRIBO_TRY(tribo_dyn_inverse_read_tree(system, data, t, options, tree_v));
    } else if (!is_euler) {
      TRIBO_TRY(tribo_dyn_tree_finish(system, data, t, options, tree_v));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_assemble(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                               const double* q, const double* v, const TriboContact* contacts,
                               const TriboContactLaw* laws, int ncontact, TriboProblem* problem,
                               const TriboRowInfo** rows) {
  if (system == NULL || data == NULL || options == NULL || q == NULL || v == NULL || problem == NULL || rows == NULL ||
      ncontact < 0 || (ncontact > 0 && (contacts == NULL || laws == NULL))) {
    return tribo_fail(TRIBO_INVALID, "%s: an argument is NULL or ncontact (%d) is negative", where, ncontact);
  }
  if (data->stage == STAGE_NONE) {
    return tribo_fail(TRIBO_STATE, "%s: tribo_dyn_update must come first", where);
  }
  data->stage = STAGE_UPDATED;
  TRIBO_TRY(tribo_dyn_check_options(where, options));

  // measure, make room, fill
  size_t nrow = 0, nterm = 0, njac = 0;
  TRIBO_TRY(tribo_dyn_contacts_measure(system, contacts, laws, ncontact, &nrow, &nterm, &njac));
  TRIBO_TRY(tribo_dyn_check_motors(system, options));
  // at most two limits and one friction row each
  const size_t njoint = 3 * (size_t)system->nbound + (size_t)options->nmotor, nbound = (size_t)options->nbound;
  const ClosureSize* loops = &system->closure_size;
  TRIBO_TRY(tribo_dyn_rows_reserve(
      &data->rows, (size_t)ncontact + njoint + nbound + loops->ncone, nrow + njoint + nbound + loops->nrow,
      nterm + njoint + nbound * (size_t)system->info.nblock + loops->nterm,
      njac + njoint * (size_t)system->nv_max + nbound * (size_t)system->info.nv + loops->njac));
  TRIBO_TRY(TRIBO_RESERVE(&data->turns, (size_t)ncontact));
  memset(data->turns, 0, (size_t)ncontact * sizeof *data->turns);
  data->contacts = contacts, data->ncontact = ncontact;
  TRIBO_TRY(finish_trees(system, data, options, v, contacts, laws, ncontact));
  TRIBO_TRY(tribo_dyn_contact_rows(system, data, options, v, contacts, laws, ncontact));
  tribo_dyn_joint_rows(system, data, options, v);
  TRIBO_TRY(tribo_dyn_closures_assemble(system, data, options, v));
  if (!data->is_inverse) {
    // (what slides there is a ray: inverse_dynamics.c)
    TRIBO_TRY(tribo_dyn_slips_assemble(system, data));
  }

  *problem = tribo_dyn_rows_problem(system, &data->rows, data->mass, data->minv);
  *rows = data->rows.infos;
  data->stage = STAGE_ASSEMBLED;
  return TRIBO_OK;
}

void tribo_dyn_relax_rows(TriboDynData* data, int row, int n, const double* g) {
  memcpy(data->rows.g + row, g, (size_t)n * sizeof *g);
}
