// Closures in time.
//
// Where nothing but closures acts on a cluster of bodies, it moves by RATTLE, in the form that fits any symmetric free
// step Φ_h (Hairer, Lubich, Wanner, Geometric Numerical Integration, VII.1.4): an impulse at the start, the free step,
// an impulse at the end,
//
//     v̂ = v + M(q)⁻¹ J(q)ᵀ λ,     (q⁺, v̂⁺) = Φ_h(q, v̂),     v⁺ = v̂⁺ + M(q⁺)⁻¹ J(q⁺)ᵀ μ
//     λ so that φ(q⁺) = 0,                                    μ so that J(q⁺) v⁺ = 0.
//
// With Φ_h of second order and symmetric so is the whole: closures do not open, and energy does not drift. Both
// impulses act at places where the closures are shut, so they make no momentum. (Projecting positions after an Euler
// step has neither property.)
//
// An impulse at the start moves the end by h M⁻¹Jᵀλ, so φ(q⁺(λ)) ≈ φ(q⁺(0)) + hGλ: the rows of the problem are Gλ + g =
// 0 with g = φ(q⁺(0))/h, and Newton's method with the matrix kept goes on with g ← g + φ(q⁺(λ))/h. Each pass wins a
// factor of about h|v| per length of a body. Where that is little, because a stiff spring lets the end move by half of
// hM⁻¹Jᵀλ, what the passes before have shown helps: with x = g, f = φ/h and the changes of both from pass to pass in
// the columns of X and F, x ← x + f − (X + F)θ with the θ that makes f − Fθ least (Anderson 1965).
//
// Where nothing else can act, the first g may come from predicted impulses instead: predict_impulses.c.
//
// Where contacts, limits or dry friction act too, the cluster moves as bodies in contact do, q⁺ = q ⊕ h v⁺ with
// v⁺ = v_f + M⁻¹Jᵀλ. Then q⁺ moves by the same h M⁻¹Jᵀλ, the passes are the same, and μ = 0.
//
// Rows of joints (motors, stops, dry friction) are asked there about w, by which the joints really move in the step,
// and not about J v: a joint of a loop is then held, driven and stopped alike whether it is one of a tree or stands
// opposite the closure, and a stop is met exactly. w − u, u the velocity that rows see, is known after a pass and is an
// unknown of these passes like the openings: x = g of these rows, f = γ + J w − x (pass_memory.c).
//
// Where nothing but closures acts on what they tie, and they are few or redundant, all of this is linear algebra of
// their own rows: one factor of G serves the passes, which go on without a solver (`alone`), and one of G(q⁺) the last
// impulse.
//
// A closure that gives way (solref) has rows of its own kind, those of a spring-damper: they do not count as shut or
// open, and their cluster moves as bodies in contact do.
//
// Under semi-implicit Euler, Baumgarte: g = J v_f + ERP φ(q)/h, once. The same is the way out where the passes part
// instead of meeting: the step is too long for the motion (a bar that turns by a radian), and being open for a while is
// better than flying apart. The step then says how far.
#include "dyn_data.h"

enum { PASSES_MAX = 20 };

// A pass that leaves more than this share of an opening does not count as one that meets.
static const double CONVERGING = 0.9;

int tribo_dyn_moves_smoothly(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                             int block) {
  const int cluster = system->cluster[block];
  return options->scheme != TRIBO_SCHEME_EULER && cluster >= 0 && !data->cluster_in_contact[cluster];
}

// ---- the start of a step -------------------------------------------------------------------------------------------

// Where a block would be without impulses; what leans on something is expected to stay there.
static TriboStatus move_freely(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                               const double* v, int block) {
  const int at_q = system->block_q[block], at_v = system->block_v[block], tree = block - system->info.nfree;
  const int smooth =
      tribo_dyn_moves_smoothly(system, data, options, block) && !data->cluster_touched[system->cluster[block]];
  const double *q = data->q + at_q, *v_free = data->v_free + at_v;
  if (tree < 0) {
    tribo_dyn_body_advance(options->h, smooth ? TRIBO_DYN_SMOOTH : 0, q, v + at_v, v_free, data->q_trial + at_q);
    return TRIBO_OK;
  }
  // with the mean velocity
  for (int k = 0; k < system->block_dim[block]; ++k) {
    const double early = data->flight.split[tree].start;
    data->scratch_force[k] = v[at_v + k] + early * (v_free[k] - v[at_v + k]);
  }
  return tribo_dyn_tree_move(system->trees + tree, data->pin[tree], q, options->h, data->scratch_force, data->work,
                             data->q_trial + at_q);
}

// g = J v_f + ERP φ(q)/h
static void set_baumgarte(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options) {
  const int first = data->rows.ncone - system->nclosure;
  for (int i = 0; i < system->nclosure; ++i) {
    const TriboCone* cone = data->rows.cones + first + i;
    double error[6], *g = data->rows.g + cone->row;
    if (tribo_dyn_is_soft(system->closures + i)) {
      continue;
    }
    tribo_dyn_closure_open(system->closures + i, data->q, data->poses, error);
    tribo_dyn_rows_apply(system, &data->rows, first + i, data->v_free, g);
    for (int k = 0; k < cone->dim; ++k) {
      g[k] += options->erp * error[k] / options->h;
    }
  }
}

// g = J v_f + γ and R of a closure that gives way. A row along which nothing can move gives way as one that moves a
// little: that costs nothing, and no two rows say the same.
static void set_soft(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options, const double* v,
                     int index) {
  Rows* rows = &data->rows;
  const TriboClosure* closure = system->closures + index;
  const int c = rows->ncone - system->nclosure + index, at = rows->cones[c].row;
  double old[6], error[6];
  tribo_dyn_closure_open(closure, data->q, data->poses, error);
  tribo_dyn_rows_apply(system, rows, c, data->v_free, rows->g + at);
  tribo_dyn_rows_apply(system, rows, c, v, old);
  double mobility[6], most = 0;
  for (int k = 0; k < rows->cones[c].dim; ++k) {
    mobility[k] = tribo_dyn_mobility(system, data, rows, c, k);
    most = fmax(most, mobility[k]);
  }
  for (int k = 0; k < rows->cones[c].dim; ++k) {
    rows->g[at + k] +=
        tribo_dyn_soft_row(options, &closure->soft, error[k], old[k], fmax(mobility[k], 1e-3 * most), rows->R + at + k);
  }
}

// Whether the rows before those of the closures leave what these tie alone.
static int only_closures_act(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options) {
  const Rows* rows = &data->rows;
  int closures_only = options->scheme != TRIBO_SCHEME_EULER && options->direct && !data->is_inverse &&
                      tribo_dyn_closures_are_ranked(system);
  for (int t = 0; t < rows->term_first[rows->ncone - system->nclosure] && closures_only; ++t) {
    closures_only = system->cluster[rows->term_block[t]] < 0;
  }
  for (int k = 0; k < system->ncluster && closures_only; ++k) {
    closures_only = !data->cluster_in_contact[k];
  }
  return closures_only;
}

// g = φ(q⁺(0))/h: how far closures would be open after a step without their impulses.
static TriboStatus set_free(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                            const double* v) {
  const int first = data->rows.ncone - system->nclosure;
  memcpy(data->q_trial, data->q, (size_t)system->info.nq * sizeof *data->q);
  for (int b = 0; b < system->info.nblock; ++b) {
    if (system->cluster[b] >= 0) {
      TRIBO_TRY(move_freely(system, data, options, v, b));
    }
  }
  TRIBO_TRY(tribo_dyn_closures_place(system, data, data->q_trial, data->next_poses, data->next_jac));
  for (int i = 0; i < system->nclosure; ++i) {
    double ahead[6];
    const TriboCone* cone = data->rows.cones + first + i;
    tribo_dyn_closure_open(system->closures + i, data->q_trial, data->next_poses, ahead);
    for (int k = 0; k < cone->dim; ++k) {
      data->rows.g[cone->row + k] = ahead[k] / options->h;
    }
  }
  return TRIBO_OK;
}

// Which rows of the closures were left out in the step before.
void tribo_dyn_loops_left_out_before(const TriboSystem* system, const TriboStepOptions* options,
                                     unsigned char* left_out) {
  for (int i = 0, n = 0; i < system->nclosure; ++i) {
    const int dim = tribo_dyn_closure_dim(system->closures[i].kind);
    for (int r = 0; r < dim; ++r, ++n) {
      left_out[n] = options->loops != NULL && (options->loops[i].left_out >> r & 1);
    }
  }
}

// Empties the rows of cone c that are left out, of which the first is `at` among the closure rows.
static void empty_left_out(const TriboSystem* system, const TriboDynData* data, Rows* rows, int c, int at) {
  for (int r = 0; r < rows->cones[c].dim; ++r) {
    if (data->left_out[at + r]) {
      tribo_dyn_closure_empty_row(system, rows, c, r, data->closure_factor.scale[at + r]);
    }
  }
}

// Sorts the rows at q, unless the end of the last step has done it, and empties those that depend on others.
static void leave_out(const TriboSystem* system, TriboDynData* data) {
  Rows* rows = &data->rows;
  ClosureFactor* factor = &data->closure_factor;
  const int n = (int)system->closure_size.nrow;
  if (!data->start_is_known) {
    tribo_dyn_closure_factor(system, rows, data->minv, factor);
  }
  memcpy(data->left_out, factor->dependent, (size_t)n);
  tribo_dyn_closure_project(system, factor, rows->g + rows->nrow - n);
  for (int c = rows->ncone - system->nclosure, at = 0; c < rows->ncone; at += rows->cones[c++].dim) {
    empty_left_out(system, data, rows, c, at);
  }
  for (int i = 0; i < n; ++i) {
    data->anderson.X[i] = data->left_out[i] ? 0 : data->anderson.X[i];
    data->anderson.F[i] = data->left_out[i] ? 0 : data->anderson.F[i];
  }
}

TriboStatus tribo_dyn_closures_assemble(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                        const double* v) {
  if (system->nclosure == 0) {
    return TRIBO_OK;
  }
  const Place place = {data->q, data->poses, data->jac};
  double error[6];
  data->last_error = INFINITY;
  data->passes = 0;
  TRIBO_TRY(tribo_dyn_passes_begin(system, data));
  memset(data->left_out, 0, system->closure_size.nrow);
  if (!data->start_is_known) {
    tribo_dyn_loops_left_out_before(system, options, data->closure_factor.before);
  }
  for (int i = 0; i < system->nclosure; ++i) {
    if (data->start_is_known) {
      tribo_dyn_rows_repeat(system, &data->rows, &data->projection, i);
    } else {
      tribo_dyn_closure_append(system, &place, &data->rows, i, error);
    }
  }
  if (data->is_predicted) {
    tribo_dyn_loops_use_prediction(system, data, options);
  } else if (options->scheme == TRIBO_SCHEME_EULER) {
    set_baumgarte(system, data, options);
  } else {
    TRIBO_TRY(set_free(system, data, options, v));
  }
  for (int i = 0; i < system->nclosure; ++i) {
    if (tribo_dyn_is_soft(system->closures + i)) {
      set_soft(system, data, options, v, i);
    }
  }
  data->closures_only = only_closures_act(system, data, options);
  if (tribo_dyn_closures_are_ranked(system)) {
    leave_out(system, data);
  }
  return TRIBO_OK;
}

int tribo_dyn_closures_only(const TriboSystem* system, const TriboDynData* data, double* lambda) {
  const size_t first = (size_t)data->rows.nrow - system->closure_size.nrow;
  if (system->nclosure == 0 || !data->closures_only) {
    return 0;
  }
  tribo_dyn_closure_solve(system, &data->closure_factor, data->rows.g + first, lambda + first);
  return 1;
}

// ---- after a solve -------------------------------------------------------------------------------------------------

TriboStatus tribo_dyn_loops_advance(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                    const double* v, double* q_next, double* v_next) {
  data->end_is_known = 0;
  for (int b = 0; b < system->info.nblock; ++b) {
    if (!tribo_dyn_moves_smoothly(system, data, options, b)) {
      continue;
    }
    const int n = system->block_dim[b], at_q = system->block_q[b], at_v = system->block_v[b];
    const int tree = b - system->info.nfree;
    const double *minv = data->minv + system->block_at[b], *impulse = data->impulse + at_v;
    double* kick = data->kick + at_v;
    for (int i = 0; i < n; ++i) {
      kick[i] = v[at_v + i];
      for (int k = 0; k < n; ++k) {
        kick[i] += minv[i * n + k] * impulse[k];
      }
    }
    if (tree < 0) {
      tribo_dyn_body_free_velocity(system->bodies + b, options, data->q + at_q, kick, data->tau + at_v,
                                   data->wrench + 6 * b, v_next + at_v);
      tribo_dyn_body_advance(options->h, TRIBO_DYN_SMOOTH, data->q + at_q, kick, v_next + at_v, q_next + at_q);
    } else {
      TRIBO_TRY(tribo_dyn_tree_flow(system, data, tree, options, kick, q_next + at_q, v_next + at_v));
    }
  }
  return TRIBO_OK;
}

// What the independent rows can answer of g (closure rows), as seen by them.
static void keep_answerable(const TriboSystem* system, const TriboDynData* data, double* g) {
  if (tribo_dyn_closures_are_ranked(system)) {
    tribo_dyn_closure_project(system, &data->closure_factor, g);
    for (int i = 0; i < (int)system->closure_size.nrow; ++i) {
      g[i] = data->left_out[i] ? 0 : g[i];
    }
  }
}

// How far closures are open at q_next: what can be answered of it into f of the memory, the largest of these into
// *error, and that of all rows into *open. What rows of joints miss goes to f behind them, the largest of it over a
// step to *missed.
static TriboStatus measure(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                           const double* q_next, double* error, double* open, double* missed) {
  TRIBO_TRY(tribo_dyn_closures_place(system, data, q_next, data->next_poses, data->next_jac));
  const int first = data->rows.ncone - system->nclosure;
  double* f = data->anderson.f_new;
  *error = *open = 0;
  int n = 0;
  for (int i = 0; i < system->nclosure; ++i) {
    double gaps[6];
    const TriboCone* cone = data->rows.cones + first + i;
    tribo_dyn_closure_open(system->closures + i, q_next, data->next_poses, gaps);
    for (int k = 0; k < cone->dim; ++k, ++n) {
      const double gap = tribo_dyn_is_soft(system->closures + i) ? 0 : gaps[k];
      *open = fmax(*open, fabs(gap));
      f[n] = gap / options->h;
    }
  }
  keep_answerable(system, data, f);
  for (int k = 0; k < n; ++k) {
    *error = fmax(*error, options->h * fabs(f[k]));
  }
  *missed = options->h * tribo_dyn_passes_measure_joints(system, data);
  return TRIBO_OK;
}

// One pass on: how far closures are open at q_next, and, where that is too far, the next g.
static TriboStatus next_g(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                          const double* v, const double* q_next, double* open, int* again) {
  double error, missed;
  TRIBO_TRY(measure(system, data, options, q_next, &error, open, &missed));
  data->kept_open = error;
  error = fmax(error, missed);
  AndersonMemory* memory = &data->anderson;
  tribo_dyn_passes_gather(system, data, memory->now);
  if (data->passes == 1) {
    tribo_dyn_passes_keep_first_change(memory);
  }
  // shut, or rounding keeps them from it, or there is nothing more to try
  const int stuck = error > 0.5 * data->last_error;
  if (options->scheme == TRIBO_SCHEME_EULER || error <= options->shut || (error <= 1e-10 && stuck) ||
      data->passes > PASSES_MAX || (data->passes == PASSES_MAX && error <= 1e-9)) {
    return TRIBO_OK;
  }
  // what passes show helps where they meet; where they do not, it may lead elsewhere
  if (!(error < CONVERGING * data->last_error)) {
    memory->count = 0;
  } else if (data->passes > 0) {
    tribo_dyn_passes_append(memory);
  }
  if (!(error < 4 * data->last_error) || data->passes++ == PASSES_MAX) {
    // the passes part, or do not meet: one last solve, as at contacts
    data->passes = PASSES_MAX + 1;
    data->closures_only = 0;
    memset(data->cluster_in_contact, 1, (size_t)system->ncluster);
    data->has_prediction = data->is_predicted = 0;
    for (int t = 0; t < system->info.ntree; ++t) {
      const int block = system->trees[t].block;
      if (system->cluster[block] >= 0) {
        TRIBO_TRY(tribo_dyn_tree_finish(system, data, t, options, v + system->block_v[block]));
      }
    }
    set_baumgarte(system, data, options);
    keep_answerable(system, data, data->rows.g + data->rows.nrow - (int)system->closure_size.nrow);
    tribo_dyn_passes_forget_joints(data);
    *again = 2;
  } else {
    *again = 1;
    tribo_dyn_passes_mix(memory);
    tribo_dyn_passes_scatter(system, data, memory->now);
  }
  data->last_error = error;
  return TRIBO_OK;
}

TriboStatus tribo_dyn_close(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                            const double* v, double* lambda, double* q_next, double* v_next, double* error, int* passes,
                            int* again) {
  *error = 0;
  *again = 0;
  if (system->nclosure == 0) {
    return TRIBO_OK;
  }
  if (data->stage != STAGE_ASSEMBLED) {
    return tribo_fail(TRIBO_STATE, "tribo_dyn_close: tribo_dyn_advance must come first");
  }
  const size_t n = system->closure_size.nrow;
  TRIBO_TRY(next_g(system, data, options, v, q_next, error, again));
  for (; *again && data->closures_only; ++*passes) {
    tribo_dyn_closures_only(system, data, lambda);
    tribo_dyn_rows_impulse(system, &data->rows, 0, lambda, data->impulse);
    TRIBO_TRY(tribo_dyn_loops_advance(system, data, options, v, q_next, v_next));
    *again = 0;
    TRIBO_TRY(next_g(system, data, options, v, q_next, error, again));
  }
  memcpy(data->carried, lambda + data->rows.nrow - n, n * sizeof *lambda);
  if (tribo_dyn_closures_are_ranked(system)) {
    tribo_dyn_closure_spread(system, &data->closure_factor, data->carried);
  }
  return tribo_dyn_check_finite("tribo_dyn_close", "next q", q_next, system->info.nq);
}

double tribo_dyn_closures_kept_open(const TriboSystem* system, const TriboDynData* data) {
  return system->nclosure > 0 ? data->kept_open : 0;
}

// ---- the end of a step ---------------------------------------------------------------------------------------------

// The last problem knows only the blocks it acts on, by numbers of its own.
static void number_blocks(const TriboSystem* system, TriboDynData* data, TriboProblem* problem) {
  const Rows* rows = &data->projection;
  memset(data->next_block, 0, (size_t)system->info.nblock * sizeof *data->next_block);
  for (int t = 0; t < rows->nterm; ++t) {
    data->next_block[rows->term_block[t]] = 1;
  }
  problem->nblock = 0;
  for (int b = 0; b < system->info.nblock; ++b) {
    if (data->next_block[b]) {
      data->next_dim[problem->nblock] = system->block_dim[b];
      data->next_at[problem->nblock] = system->block_at[b];
      data->next_block[b] = problem->nblock++;
    }
  }
  for (int t = 0; t < rows->nterm; ++t) {
    data->next_term[t] = data->next_block[rows->term_block[t]];
  }
  problem->block_dim = data->next_dim;
  problem->block_at = data->next_at;
  problem->term_block = data->next_term;
}

TriboStatus tribo_dyn_project_velocity_assemble(const TriboSystem* system, TriboDynData* data,
                                                const TriboStepOptions* options, const double* q_next,
                                                const double* v_next, const double* lambda, TriboProblem* problem,
                                                const double** guess) {
  const ClosureSize* size = &system->closure_size;
  const Place place = {q_next, data->next_poses, data->next_jac};
  const int first = data->rows.nrow - (int)size->nrow;
  TRIBO_TRY(tribo_dyn_rows_reserve(&data->projection, size->ncone, size->nrow, size->nterm, size->njac));
  for (int t = 0; t < system->info.ntree; ++t) {
    if (tribo_dyn_moves_smoothly(system, data, options, system->trees[t].block)) {
      TRIBO_TRY(tribo_dyn_closures_mass(system, data, t, q_next));
    }
  }
  // places and masses are those of the next state, which close has just looked at
  for (int i = 0; i < system->nclosure; ++i) {
    const int c = data->rows.ncone - system->nclosure + i;
    if (tribo_dyn_moves_smoothly(system, data, options, data->rows.infos[c].block_a)) {
      double error[6];
      tribo_dyn_closure_append(system, &place, &data->projection, i, error);
      const TriboCone* cone = data->projection.cones + data->projection.ncone - 1;
      tribo_dyn_rows_apply(system, &data->projection, data->projection.ncone - 1, v_next,
                           data->projection.g + cone->row);
      memcpy(data->guess + cone->row, lambda + data->rows.cones[c].row, (size_t)cone->dim * sizeof *lambda);
      if (!data->closures_only) {
        empty_left_out(system, data, &data->projection, data->projection.ncone - 1, data->rows.cones[c].row - first);
      }
    }
  }
  *guess = data->guess;
  *problem = tribo_dyn_rows_problem(system, &data->projection, data->next_mass, data->next_minv);
  number_blocks(system, data, problem);
  return TRIBO_OK;
}

int tribo_dyn_project_velocity_closures_only(const TriboSystem* system, TriboDynData* data, const double* q_next,
                                             double* lambda) {
  if (!data->closures_only) {
    return 0;
  }
  memcpy(data->closure_factor.before, data->left_out, system->closure_size.nrow);
  tribo_dyn_closures_factor(system, data, q_next);
  tribo_dyn_closure_solve(system, &data->closure_factor, data->projection.g, lambda);
  return 1;
}

TriboStatus tribo_dyn_project_velocity(const TriboSystem* system, TriboDynData* data, const double* lambda,
                                       double* v_next) {
  const Rows* rows = &data->projection;
  TRIBO_TRY(tribo_dyn_check_finite("tribo_dyn_project_velocity", "lambda", lambda, rows->nrow));
  tribo_dyn_rows_impulse(system, rows, 0, lambda, data->impulse);
  for (int b = 0; b < system->info.nblock; ++b) {
    const int n = system->block_dim[b], at = system->block_v[b];
    for (int i = 0; i < n; ++i) {
      if (system->cluster[b] >= 0) {
        for (int k = 0; k < n; ++k) {
          v_next[at + i] += data->next_minv[system->block_at[b] + (size_t)(i * n + k)] * data->impulse[at + k];
        }
      }
    }
  }
  return tribo_dyn_check_finite("tribo_dyn_project_velocity", "next v", v_next, system->info.nv);
}

// ---- evaluations at any state --------------------------------------------------------------------------------------

TriboStatus tribo_dyn_closure_error(const TriboSystem* system, TriboDynData* data, const double* q, double* out) {
  TRIBO_TRY(tribo_dyn_unit_state(system, "tribo_dyn_closure_error", q, data->q_trial));
  TRIBO_TRY(tribo_dyn_closures_place(system, data, data->q_trial, data->next_poses, data->next_jac));
  memset(out, 0, 6 * (size_t)system->nclosure * sizeof *out);
  for (int i = 0; i < system->nclosure; ++i) {
    tribo_dyn_closure_open(system->closures + i, data->q_trial, data->next_poses, out + 6 * i);
  }
  return TRIBO_OK;
}
