// Making the mutable data of a system, and reading what update has left in it.
#include "dyn_data.h"

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
#define DATA_ARRAYS(X)                                \
  X(q, nq)                                            \
  X(v_free, nv)                                       \
  X(poses, nbody)                                     \
  X(twists, nbody)                                    \
  X(mass, system->nmass)                              \
  X(minv, system->nmass)                              \
  X(jac, ntree > 0 ? 6 * nv : 0)                      \
  X(inertias, ntree > 0 ? nv : 0)                     \
  X(motions, ntree > 0 ? nv : 0)                      \
  X(force, ntree > 0 ? nv : 0)                        \
  X(weight, ntree > 0 ? nv : 0)                       \
  X(factor, ntree > 0 ? system->nmass : 0)            \
  X(touched, nblock)                                  \
  X(lasts, nblock)                                    \
  X(together, nblock)                                 \
  X(is_held, nblock)                                  \
  X(contacts_at, nblock)                              \
  X(ahead_q, nq)                                      \
  X(ahead_jac, ntree > 0 ? 6 * nv : 0)                \
  X(cluster_touched, ncluster)                        \
  X(motion_kind, ntree)                               \
  X(impulse, nv)                                      \
  X(split, nblock)                                    \
  X(is_ballistic, nblock)                             \
  X(v_before, nv)                                     \
  X(v_after, nv)                                      \
  X(cluster_in_contact, ncluster)                     \
  X(cluster_kicked, ncluster)                         \
  X(limit_row, 2 * (size_t)system->nbound)            \
  X(slip_turn, system->nbound)                        \
  X(known_impulse, nv)                                \
  X(slip_change, nv)                                  \
  X(cluster_split, ncluster)                          \
  X(tau, ntree > 0 || loops ? nv : 0)                 \
  X(wrench, ntree > 0 || loops ? 6 * nbody : 0)       \
  X(kick, loops ? nv : 0)                             \
  X(predicted_dv, loops ? nv : 0)                     \
  X(q_trial, loops ? nq : 0)                          \
  X(end_q, loops ? nq : 0)                            \
  X(next_poses, loops ? nbody : 0)                    \
  X(next_jac, loops ? 6 * nv : 0)                     \
  X(next_mass, loops ? system->nmass : 0)             \
  X(next_minv, loops ? system->nmass : 0)             \
  X(next_block, loops ? nblock : 0)                   \
  X(next_dim, loops ? nblock : 0)                     \
  X(next_at, loops ? nblock : 0)                      \
  X(next_term, system->closure_size.nterm)            \
  X(guess, nclosed)                                   \
  X(anderson.X, TRIBO_DYN_ANDERSON_DEPTH* nclosed)    \
  X(anderson.F, TRIBO_DYN_ANDERSON_DEPTH* nclosed)    \
  X(anderson.Q, TRIBO_DYN_ANDERSON_DEPTH* nclosed)    \
  X(anderson.x, nclosed)                              \
  X(anderson.f, nclosed)                              \
  X(anderson.f_new, nclosed)                          \
  X(anderson.d, nclosed)                              \
  X(anderson.now, nclosed)                            \
  X(anderson.joint, 0)                                \
  X(anderson.law, 0)                                  \
  X(anderson.first_dx, nclosed)                       \
  X(anderson.first_df, nclosed)                       \
  X(closure_factor.N, factors ? nsquare : 0)          \
  X(closure_factor.W, factors ? nsquare : 0)          \
  X(closure_factor.scale, factors ? nclosed : 0)      \
  X(closure_factor.order, factors ? nclosed : 0)      \
  X(closure_factor.first, factors ? nclosed + 1 : 0)  \
  X(closure_factor.row, factors ? nsquare / 2 : 0)    \
  X(closure_factor.value, factors ? nsquare / 2 : 0)  \
  X(closure_factor.diagonal, factors ? nclosed : 0)   \
  X(closure_factor.rest, factors ? nclosed : 0)       \
  X(closure_factor.degree, factors ? nclosed : 0)     \
  X(closure_factor.y, 6 * widest)                     \
  X(closure_factor.dependent, nclosed)                \
  X(closure_factor.before, nclosed)                   \
  X(left_out, nclosed)                                \
  X(carried, nclosed)                                 \
  X(pin, ntree)                                       \
  X(work, widest)                                     \
  X(scratch_q[0], nq)                                 \
  X(scratch_q[1], nq)                                 \
  X(scratch_poses, nbody)                             \
  X(scratch_twists, nbody)                            \
  X(scratch_jac, 6 * nv_max)                          \
  X(scratch_inertias, nv_max)                         \
  X(scratch_sums, nv_max)                             \
  X(scratch_motions, nv_max)                          \
  X(scratch_force, nv_max)                            \
  X(scratch_weight, nv_max)                           \
  X(scratch_factor, nfactor)                          \
  X(flight.q, ntree > 0 ? nq : 0)                     \
  X(flight.poses, ntree > 0 ? nbody : 0)              \
  X(flight.jac, ntree > 0 ? 6 * nv : 0)               \
  X(flight.end_q, ntree > 0 ? nq : 0)                 \
  X(flight.bodies, ntree > 0 ? nv : 0)                \
  X(flight.diagonal, ntree > 0 ? nv : 0)              \
  X(flight.extra, ntree > 0 ? nv : 0)                 \
  X(flight.split, ntree)                              \
  X(flight.inertial, ntree > 0 ? nv : 0)              \
  X(flight.bent, ntree > 0 ? nv : 0)                  \
  X(flight.touch_bent, ntree > 0 ? nv : 0)            \
  X(flight.missed, nv)                                \
  X(flight.momentum, nv_max)                          \
  X(flight.kick, nv_max)                              \
  X(flight.jump, nv_max)                              \
  X(flight.end.q, ntree > 0 ? nq : 0)                 \
  X(flight.end.poses, ntree > 0 ? nbody : 0)          \
  X(flight.end.jac, ntree > 0 ? 6 * nv : 0)           \
  X(flight.end.inertias, ntree > 0 ? nv : 0)          \
  X(flight.end.mass, ntree > 0 ? system->nmass : 0)   \
  X(flight.end.factor, ntree > 0 ? system->nmass : 0) \
  X(flight.end.weight, ntree > 0 ? nv : 0)            \
  X(flight.end_is_known, ntree)                       \
  X(flight.coasting, nv_max)                          \
  X(flight.later.q, nq)                               \
  X(flight.later.poses, nbody)                        \
  X(flight.later.jac, 6 * nv_max)                     \
  X(flight.later.bodies, nv_max)                      \
  X(flight.later.inertias, nv_max)                    \
  X(flight.later.mass, nfactor)                       \
  X(flight.later.factor, nfactor)                     \
  X(flight.later.diagonal, nv_max)                    \
  X(flight.later.extra, nv_max)                       \
  X(flight.later.split, 1)                            \
  X(flight.later.force, nv_max)                       \
  X(flight.later.weight, nv_max)                      \
  X(flight.drift.spin, nv_max)                        \
  X(flight.drift.w, nv_max)                           \
  X(flight.drift.P, nv_max)                           \
  X(flight.drift.r, nv_max)                           \
  X(flight.drift.f, nv_max)                           \
  X(flight.drift.step, nv_max)                        \
  X(flight.drift.X[0], nv_max)                        \
  X(flight.drift.X[1], nv_max)                        \
  X(flight.drift.F[0], nv_max)                        \
  X(flight.drift.F[1], nv_max)                        \
  X(flight.drift.Q[0], nv_max)                        \
  X(flight.drift.Q[1], nv_max)                        \
  X(flight.drift.scaled, nv_max)                      \
  X(flight.drift.last_w, nv_max)                      \
  X(flight.drift.last_f, nv_max)                      \
  X(flight.drift.last_scaled, nv_max)                 \
  X(flight.drift.sums, nv_max)                        \
  X(flight.drift.moved, nv_max)                       \
  X(flight.drift.q_trial, nq)                         \
  X(flight.drift.poses, nbody)                        \
  X(flight.drift.jac, 6 * nv_max)

// Takes them all; 0 when there is no memory.
static int allocate_data(const TriboSystem* system, TriboDynData* d) {
  const TriboSystemInfo* info = &system->info;
  const size_t nq = (size_t)info->nq, nv = (size_t)info->nv, nbody = (size_t)info->nbody, ntree = (size_t)info->ntree;
  const size_t nblock = (size_t)info->nblock, nv_max = (size_t)system->nv_max;
  const size_t nclosure = (size_t)system->nclosure, ncluster = (size_t)system->ncluster;
  const size_t nclosed = system->closure_size.nrow, nsquare = nclosed * nclosed, nfactor = nv_max * nv_max;
  const size_t widest = nv_max > 6 ? nv_max : 6;
  const int loops = nclosure > 0, factors = tribo_dyn_closures_are_ranked(system);
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
  tribo_free(d->turns);
  tribo_free(d->slip_turns);
  tribo_free(d->known);
  tribo_dyn_rows_free(&d->projection);
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
