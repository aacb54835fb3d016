// Stage 2 of a step: contacts, joint limits, dry friction, motors and closures become the rows of one problem,
// σ = J v⁺ + γ + Rλ. What touches what is known here, so the free velocities of trees become final first.
#include "dyn_data.h"

static const char* const where = "tribo_dyn_assemble";

// Which blocks touch something, or are at a stop.
static void mark_touched(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                         const TriboContact* contacts, int ncontact) {
  const double close = options->slop + TRIBO_DYN_DEAD_BAND;
  memset(data->touched, 0, (size_t)system->info.nblock);
  for (int i = 0; i < ncontact; ++i) {
    const int blocks[2] = {tribo_dyn_block_of(system, contacts[i].body_a),
                           tribo_dyn_block_of(system, contacts[i].body_b)};
    for (int k = 0; k < 2; ++k) {
      if (blocks[k] >= 0 && contacts[i].gap <= close) {
        data->touched[blocks[k]] = 1;
      }
    }
  }
  tribo_dyn_mark_limits(system, data, options, close, data->touched);
}

// Free velocities with their final bias, of trees that contacts touch and of those that nothing does.
static TriboStatus finish_trees(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                const double* v, const TriboContact* contacts, int ncontact) {
  data->is_predicted = 0;
  if (system->info.ntree + system->nclosure == 0 || options->scheme == TRIBO_SCHEME_EULER) {
    return TRIBO_OK;
  }
  mark_touched(system, data, options, contacts, ncontact);
  data->is_predicted =
      data->predicted_in_update && tribo_dyn_loops_predictable(system, data, options, contacts, ncontact);
  if (!data->is_predicted) {
    TRIBO_TRY(tribo_dyn_trees_restart(system, data, options, v));
  }
  for (int t = 0; t < system->info.ntree; ++t) {
    tribo_dyn_tree_finish(system, data, t, options, v + system->block_v[system->trees[t].block]);
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
  TRIBO_TRY(finish_trees(system, data, options, v, contacts, ncontact));
  TRIBO_TRY(tribo_dyn_contact_rows(system, data, options, v, contacts, laws, ncontact));
  tribo_dyn_joint_rows(system, data, options, v);
  TRIBO_TRY(tribo_dyn_closures_assemble(system, data, options, v));

  *problem = tribo_dyn_rows_problem(system, &data->rows, data->mass, data->minv);
  *rows = data->rows.infos;
  data->stage = STAGE_ASSEMBLED;
  return TRIBO_OK;
}

void tribo_dyn_relax_rows(TriboDynData* data, int row, int n, const double* g) {
  memcpy(data->rows.g + row, g, (size_t)n * sizeof *g);
}
