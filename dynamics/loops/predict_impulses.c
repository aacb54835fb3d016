// What the last steps tell about the next one, where closures are alone with what they tie.
//
// Impulses of smooth motion are smooth functions of time. The polynomial through the last ones, continued by a step,
// misses the next by a share of about (h|v|)^k per length of a body, k the number of steps it goes through: closer than
// the first pass from nothing, and q⁺(0) and v_f are not needed at all. And since what is missed has much the same
// direction in every step, how the opening answered to the first correction in the last step tells how it will now: the
// passes set out with that in their memory (Anderson's, loops.c).
//
// All but contacts is known before update; where a contact comes in, the passes start from nothing.
//
// The caller keeps this memory, as state. What was found at the end of the last step, places, masses, rows and their
// factor, is kept here, by the q it belongs to: whether it is there or is found again makes no difference of a bit.
#include "dyn_data.h"
#include "small_dense.h"

// More passes than this to shut closures: the motion is too rough to be continued.
enum { FEW_PASSES = 8 };

int tribo_dyn_loops_predictable(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                                const TriboContact* contacts, int ncontact) {
  int predictable = system->nclosure > 0 && options->loops != NULL && options->scheme != TRIBO_SCHEME_EULER &&
                    options->direct && !data->is_inverse && tribo_dyn_closures_are_ranked(system) &&
                    options->nmotor + options->nbound == 0;
  for (int i = 0; i < system->nclosure && predictable; ++i) {
    const TriboLoopMemory* loop = options->loops + i;
    predictable = loop->known > 0 && loop->h == options->h && !tribo_dyn_is_soft(system->closures + i);
  }
  for (int i = 0; i < system->nbound && predictable; ++i) {
    predictable = system->cluster[system->bounds[i].block] < 0;
  }
  for (int i = 0; i < ncontact && predictable; ++i) {
    const int a = tribo_dyn_block_of(system, contacts[i].body_a), b = tribo_dyn_block_of(system, contacts[i].body_b);
    predictable = (a < 0 || system->cluster[a] < 0) && (b < 0 || system->cluster[b] < 0);
  }
  return predictable;
}

// The polynomial through what is known, one step on.
static double extrapolate(const TriboLoopMemory* loop, int k) {
  const double x = loop->lambda[0][k], y = loop->lambda[1][k], z = loop->lambda[2][k], w = loop->lambda[3][k];
  switch (loop->known) {
    case 1: return x;
    case 2: return 2 * x - y;
    case 3: return 3 * (x - y) + z;
    default: return 4 * (x + z) - 6 * y - w;
  }
}

TriboStatus tribo_dyn_loops_predict(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options) {
  data->start_is_known = tribo_dyn_loops_start_is_known(system, data, options);
  data->has_prediction = tribo_dyn_loops_predictable(system, data, options, NULL, 0);
  if (!data->has_prediction) {
    return TRIBO_OK;
  }
  if (!data->start_is_known) {
    TRIBO_TRY(tribo_dyn_closures_evaluate(system, data, options));
  }
  for (int i = 0, n = 0; i < system->nclosure; ++i) {
    for (int k = 0; k < data->projection.cones[i].dim; ++k) {
      data->guess[n++] = extrapolate(options->loops + i, k);
    }
  }
  tribo_dyn_rows_impulse(system, &data->projection, 0, data->guess, data->impulse);
  for (int b = 0; b < system->info.nblock; ++b) {
    const int n = system->block_dim[b], at = system->block_v[b];
    const double* minv = data->next_minv + system->block_at[b];
    if (system->cluster[b] >= 0) {
      tribo_mat_vec(n, n, minv, data->impulse + at, data->predicted_dv + at);
    }
  }
  return TRIBO_OK;
}

void tribo_dyn_loops_use_prediction(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options) {
  const Rows* rows = &data->rows;
  const int first = rows->ncone - system->nclosure;
  AndersonMemory* memory = &data->anderson;
  int n = 0, any = 0;
  for (int i = 0; i < system->nclosure; ++i) {
    // g = −Gλ
    double* g = rows->g + rows->cones[first + i].row;
    tribo_dyn_rows_apply(system, rows, first + i, data->predicted_dv, g);
    for (int k = 0; k < rows->cones[first + i].dim; ++k, ++n) {
      g[k] = -g[k];
      memory->X[n] = memory->first_dx[n] = options->loops[i].turn[k];
      memory->F[n] = memory->first_df[n] = options->loops[i].reply[k];
      any |= memory->F[n] != 0;
    }
  }
  memory->count = any;
}

void tribo_dyn_loops_store_memory(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                                  const double* lambda, TriboLoopMemory* next) {
  const Rows* rows = &data->rows;
  const int first = rows->ncone - system->nclosure;
  memset(next, 0, (size_t)system->nclosure * sizeof *next);
  for (int i = 0, n = 0; i < system->nclosure; ++i) {
    for (int r = 0; r < rows->cones[first + i].dim; ++r, ++n) {
      next[i].left_out |= (uint32_t)data->left_out[n] << r;
    }
  }
  if (!data->closures_only || data->passes > FEW_PASSES) {
    return;
  }
  for (int i = 0, n = 0; i < system->nclosure; ++i) {
    const TriboCone* cone = rows->cones + first + i;
    const TriboLoopMemory* last = options->loops + i;
    const int on = last->h == options->h;
    next[i].h = options->h;
    next[i].known = on && last->known < 4 ? last->known + 1 : on ? 4 : 1;
    memcpy(next[i].lambda[0], lambda + cone->row, (size_t)cone->dim * sizeof *lambda);
    memcpy(next[i].lambda[1], last->lambda[0], sizeof last->lambda - sizeof last->lambda[0]);
    for (int k = 0; k < cone->dim; ++k, ++n) {
      next[i].turn[k] = data->anderson.first_dx[n];
      next[i].reply[k] = data->anderson.first_df[n];
    }
  }
}
