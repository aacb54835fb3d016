// Closures at one configuration: the places and masses of what they tie, their rows and the factor of these. The end of
// a step is found here, and kept with the q that it belongs to, since the next step starts from it.
#include "dyn_data.h"

// Poses of all bodies that closures tie, at q; jac (6 × nv) for trees.
TriboStatus tribo_dyn_closures_place(const TriboSystem* system, TriboDynData* data, const double* q, TriboPose* poses,
                                     double* jac) {
  const TriboSystemInfo* info = &system->info;
  data->end_is_known = 0;
  for (int b = 0; b < info->nblock; ++b) {
    if (!system->closure_needs_pose[b]) {
      continue;
    }
    if (b < info->nfree) {
      tribo_dyn_body_pose(system->bodies + b, q + info->block_q[b], poses + b);
    } else {
      const TreePart* part = system->trees + (b - info->nfree);
      TRIBO_TRY(tribo_dyn_tree_place(part, data->pin[b - info->nfree], q + info->block_q[b], poses + part->body,
                                     jac + 6 * info->block_v[b]));
    }
  }
  return TRIBO_OK;
}

// Masses of a tree at q, where tribo_dyn_closures_place has been.
TriboStatus tribo_dyn_closures_mass(const TriboSystem* system, TriboDynData* data, int tree, const double* q) {
  const TreePart* part = system->trees + tree;
  const size_t at = system->block_at[part->block];
  TriboPose* poses = data->next_poses + part->body;
  double* jac = data->next_jac + 6 * system->block_v[part->block];
  if (!system->closure_needs_pose[part->block]) {
    TRIBO_TRY(tribo_dyn_tree_place(part, data->pin[tree], q + system->block_q[part->block], poses, jac));
  }
  return tribo_dyn_tree_masses(system, data, tree, q + system->block_q[part->block], poses, jac, data->next_mass + at,
                               data->next_minv + at);
}

// All of it is at q, in the data's own buffers.
void tribo_dyn_closures_factor(const TriboSystem* system, TriboDynData* data, const double* q) {
  tribo_dyn_closure_factor(system, &data->projection, data->next_minv, &data->closure_factor);
  memcpy(data->end_q, q, (size_t)system->info.nq * sizeof *q);
  data->end_is_known = 1;
}

TriboStatus tribo_dyn_closures_evaluate(const TriboSystem* system, TriboDynData* data,
                                        const TriboStepOptions* options) {
  const ClosureSize* size = &system->closure_size;
  const Place place = {data->q, data->next_poses, data->next_jac};
  TRIBO_TRY(tribo_dyn_closures_place(system, data, data->q, data->next_poses, data->next_jac));
  TRIBO_TRY(tribo_dyn_rows_reserve(&data->projection, size->ncone, size->nrow, size->nterm, size->njac));
  for (int t = 0; t < system->info.ntree; ++t) {
    if (system->cluster[system->trees[t].block] >= 0) {
      TRIBO_TRY(tribo_dyn_closures_mass(system, data, t, data->q));
    }
  }
  for (int i = 0; i < system->nclosure; ++i) {
    double error[6];
    tribo_dyn_closure_append(system, &place, &data->projection, i, error);
  }
  tribo_dyn_loops_left_out_before(system, options, data->closure_factor.before);
  tribo_dyn_closures_factor(system, data, data->q);
  data->start_is_known = 1;
  return TRIBO_OK;
}

int tribo_dyn_loops_start_is_known(const TriboSystem* system, const TriboDynData* data,
                                   const TriboStepOptions* options) {
  int known = data->end_is_known;
  for (int i = 0, n = 0; i < system->nclosure && known; ++i) {
    for (int r = 0; r < data->projection.cones[i].dim; ++r, ++n) {
      known &= data->closure_factor.before[n] == (options->loops != NULL && (options->loops[i].left_out >> r & 1));
    }
  }
  for (int b = 0; b < system->info.nblock && known; ++b) {
    const int at = system->block_q[b], end = b + 1 < system->info.nblock ? system->block_q[b + 1] : system->info.nq;
    known = system->cluster[b] < 0 || memcmp(data->q + at, data->end_q + at, (size_t)(end - at) * sizeof *data->q) == 0;
  }
  return known;
}
