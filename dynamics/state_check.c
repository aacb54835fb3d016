// The checks of states and options that every stage shares.
#include "dyn_data.h"

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
  if ((unsigned)options->scheme >= TRIBO_SCHEME_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: scheme is %d, must be VARIATIONAL (0) or EULER (1)", where, options->scheme);
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

TriboStatus tribo_dyn_begin_step(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                 const char* where, const double* q, const double* v) {
  data->stage = STAGE_NONE;
  TRIBO_TRY(tribo_dyn_check_options(where, options));
  TRIBO_TRY(tribo_dyn_unit_state(system, where, q, data->q));
  TRIBO_TRY(tribo_dyn_check_finite(where, "v", v, system->info.nv));
  memset(data->limit_row, 0, 2 * (size_t)system->nbound);
  data->nslip_turn = data->has_known = 0;
  memset(data->slip_turn, 0, (size_t)system->nbound * sizeof *data->slip_turn);
  memset(data->cluster_kicked, 0, (size_t)system->ncluster);
  return TRIBO_OK;
}
