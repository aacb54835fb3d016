// The step of a tree read backwards: given q, v and v⁺, the velocity that rows have seen, and the impulse p that all
// that acts besides the known forces has made. tree_motion.c has the step.
//
// A tree that something touches has been kicked at q and has drifted freely since. The drift is time-symmetric: from
// the end, with the velocity −v⁺, it leads back, so
//
//     q⁺ = q ⊕ hw,     −w the drift from (q⁺, −v⁺)
//
// is solved by turns. Then M̃ v_a = J(q)ᵀP(w) + (A + hD + ½h²K) w, and p = M̃(v_a − v_f).
//
// One that nothing touches has what acts divided between both ends. With X = p, (2) and (3) are
//
//     ½ X        = J(q)ᵀP + (A + extra) w − M v − (θ−½)hD v − ½h(f − g)
//     M⁺v⁺       = J(q⁺)ᵀP + A w − extra w + (θ−½)hD v + ½(X + h(f⁺ − g⁺)),
//
// and X out of the first one into the second leaves an equation for w whose derivative is about 2M: at q⁺ = q ⊕ hw
// that is held, w ← w − ½M⁻¹F, then q⁺ anew. (Both at once part for long chains.)
//
// Either way p does not depend on how impulses and torques share it, but where closures tie a tree that has dampers:
// there impulses act on M and torques on M̃.
#include "dyn_data.h"
#include "small_dense.h"

enum { ROUNDS_MAX = 60 };

// Rounds stop when w moves by less than this, as a fraction, or no longer shrinks near it.
static const double SETTLED = 1e-15, ROUNDING = 1e-12;

// Where rounds stand: how much w (n) has moved since the last one, and whether that is enough.
static int has_settled(int n, const double* w, double* last_w, double* last_change) {
  double change = 0, size = 0;
  for (int k = 0; k < n; ++k) {
    change = fmax(change, fabs(w[k] - last_w[k]));
    size = fmax(size, fabs(w[k]));
    last_w[k] = w[k];
  }
  const int settled = change <= SETTLED * size || (change <= ROUNDING * size && change >= 0.5 * *last_change);
  *last_change = change;
  return settled;
}

static TreeStart start_at(const TreeInstant* at) {
  return (TreeStart){at->q, at->poses, at->jac, at->bodies, at->factor, at->diagonal};
}

// The tree at q ⊕ hw with its mass and factor M.
static TriboStatus place_later(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                               const TreeInstant* at, const double* w, TreeInstant* later) {
  TRIBO_TRY(tribo_dyn_tree_move(tree->part, tree->pin, at->q, options->h, w, data->flight.drift.step, later->q));
  tribo_dyn_instant_set(tree, later->q, later);
  tribo_add3(later->origin, later->origin, at->origin);
  TRIBO_TRY(tribo_dyn_instant_place(tree, options->gravity, data->scratch_sums, later));
  return tribo_dyn_factor(&tree->part->dofs, later->mass, later->factor);
}

// w, in the drift's scratch, of a drift without forces that ends with v⁺.
static TriboStatus read_drift(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                              const TreeInstant* at, const double* v_next) {
  TreeInstant later = tribo_dyn_tree_later(tree, data);
  FlightData* flight = &data->flight;
  double *w = flight->jump, *p = flight->momentum, *last = flight->kick, change = INFINITY;
  memcpy(w, v_next, (size_t)tree->n * sizeof *w);
  memset(last, 0, (size_t)tree->n * sizeof *last);
  for (int round = 0; round < ROUNDS_MAX && !has_settled(tree->n, w, last, &change); ++round) {
    int converged;
    TRIBO_TRY(place_later(tree, data, options, at, w, &later));
    tribo_dyn_instant_times_mass(tree, &later, v_next, p);
    for (int k = 0; k < tree->n; ++k) {
      p[k] = -p[k];
      flight->drift.w[k] = -w[k];
    }
    TRIBO_TRY(tribo_dyn_tree_run(tree, data, &later, options->h, SETTLED, later.extra, p, &converged));
    if (!converged) {
      return tribo_fail(TRIBO_NUMERIC,
                        "the step of '%s' cannot be read backwards: at its target velocity a link turns by %.3g rad/s, "
                        "too far in one step of %g s",
                        tree->info->links[0].name, sqrt(flight->drift.turn) / options->h, options->h);
    }
    for (int k = 0; k < tree->n; ++k) {
      w[k] = -flight->drift.w[k];
    }
  }
  memcpy(flight->drift.w, w, (size_t)tree->n * sizeof *w);
  return TRIBO_OK;
}

// A tree that is kicked in full: u = v_a + δ, p = M̃(v_a − v_f).
static TriboStatus read_touched(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                                const TreeInstant* at, const double* v, const double* v_next, double* u, double* p) {
  const TreeStart start = start_at(at);
  double *free = data->scratch_force, *bent = data->flight.bent + tree->v;
  TRIBO_TRY(tribo_dyn_instant_mass(tree, options, options->h, KICK_FULL, 1, at));
  TRIBO_TRY(read_drift(tree, data, options, at, v_next));
  TRIBO_TRY(tribo_dyn_tree_departure(tree->part, tree->pin, &start, options->h, at->extra, &data->flight.drift, p));
  memcpy(u, p, (size_t)tree->n * sizeof *u);
  tribo_dyn_factor_solve(&tree->part->dofs, at->factor, u);
  tribo_dyn_instant_kick(tree, options, KICK_FULL, at, v, free);
  tribo_dyn_instant_times_whole(tree, at, free, data->work);
  tribo_dyn_tree_bend(tree, data, options, KICK_FULL, at, bent);
  for (int k = 0; k < tree->n; ++k) {
    p[k] -= data->work[k];
    u[k] += bent[k];
  }
  return TRIBO_OK;
}

// F at the w in the drift's scratch, and X: see above; v_momentum: M v + (θ−½)hD v; target: M⁺v⁺.
static TriboStatus find_free_residual(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                                      const TreeInstant* at, const TreeInstant* later, const double* v,
                                      const double* v_momentum, const double* target, double* X, double* F) {
  const TreeStart start = start_at(at);
  const double h = options->h, *w = data->flight.drift.w;
  double *carried = data->flight.momentum, shift[3];
  tribo_sub3(shift, later->origin, at->origin);
  TRIBO_TRY(tribo_dyn_tree_departure(tree->part, tree->pin, &start, h, at->extra, &data->flight.drift, X));
  for (int k = 0; k < tree->n; ++k) {
    X[k] = 2 * (X[k] - v_momentum[k]) - h * (at->force[k] - at->weight[k]);
  }
  tribo_dyn_tree_momentum(tree->part, later->jac, shift, &data->flight.drift, F);
  tribo_dyn_instant_carry(tree, at, later, X, carried);
  for (int k = 0; k < tree->n; ++k) {
    const double resisted = at->extra[k] * w[k] - tribo_dyn_instant_early(tree, options, h, at, k) * v[k];
    F[k] += 0.5 * (carried[k] + h * (later->force[k] - later->weight[k])) - resisted - target[k];
  }
  return TRIBO_OK;
}

// A tree in flight: u = v_f + 2δ + M̃⁻¹X, p = X.
static TriboStatus read_free(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options,
                             const TreeInstant* at, const double* v, const double* v_next, double* u, double* p) {
  TreeInstant later = tribo_dyn_tree_later(tree, data);
  FlightData* flight = &data->flight;
  double *w = flight->drift.w, *last = flight->kick, *inner_last = data->scratch_weight, *F = flight->jump;
  double *target = data->inverse.target_momentum + tree->v, *momentum = data->inverse.start_momentum + tree->v;
  double change = INFINITY;
  TRIBO_TRY(tribo_dyn_instant_mass(tree, options, options->h, KICK_DIVIDED, 1, at));
  tribo_dyn_instant_times_mass(tree, at, v, momentum);
  for (int k = 0; k < tree->n; ++k) {
    momentum[k] += tribo_dyn_instant_early(tree, options, options->h, at, k) * v[k];
    w[k] = v[k] + 0.5 * (v_next[k] - v[k]);
    last[k] = INFINITY;
  }
  for (int round = 0; round < ROUNDS_MAX && !has_settled(tree->n, w, last, &change); ++round) {
    double inner_change = INFINITY;
    TRIBO_TRY(place_later(tree, data, options, at, w, &later));
    tribo_dyn_instant_times_mass(tree, &later, v_next, target);
    // what is known acts at q⁺ as it does there; springs as at q, which extra accounts for
    memcpy(later.force, at->force, (size_t)tree->n * sizeof *later.force);
    memset(F, 0, (size_t)tree->n * sizeof *F);
    tribo_dyn_tree_wrenches(tree->part, at->poses, at->jac, data->wrench + 6 * tree->part->body, F);
    for (int k = 0; k < tree->n; ++k) {
      later.force[k] -= F[k];
    }
    tribo_dyn_tree_wrenches(tree->part, later.poses, later.jac, data->wrench + 6 * tree->part->body, later.force);
    // (what is at rest is read once)
    memcpy(inner_last, last, (size_t)tree->n * sizeof *inner_last);
    inner_last[0] = INFINITY;
    for (int pass = 0; pass < ROUNDS_MAX && !has_settled(tree->n, w, inner_last, &inner_change); ++pass) {
      TRIBO_TRY(find_free_residual(tree, data, options, at, &later, v, momentum, target, p, F));
      for (int k = 0; k < tree->n; ++k) {
        F[k] *= 0.5;
      }
      tribo_dyn_factor_solve(&tree->part->dofs, later.factor, F);
      tribo_add_scaled(tree->n, -1, F, w);
    }
  }
  double *bent = flight->bent + tree->v, *pushed = flight->jump;
  tribo_dyn_instant_kick(tree, options, KICK_DIVIDED, at, v, u);
  tribo_dyn_tree_bend(tree, data, options, KICK_DIVIDED, at, bent);
  memcpy(pushed, p, (size_t)tree->n * sizeof *pushed);
  tribo_dyn_factor_solve(&tree->part->dofs, at->factor, pushed);
  for (int k = 0; k < tree->n; ++k) {
    u[k] += bent[k] + pushed[k];
  }
  return TRIBO_OK;
}

// Under Euler's scheme the velocity that rows see is v⁺.
static void read_euler(const TreeAt* tree, TriboDynData* data, const TriboStepOptions* options, const TreeInstant* at,
                       const double* v, const double* v_next, double* u, double* p) {
  double *free = data->scratch_force, *change = data->scratch_weight;
  tribo_dyn_instant_kick(tree, options, KICK_EULER, at, v, free);
  for (int k = 0; k < tree->n; ++k) {
    change[k] = v_next[k] - free[k];
    u[k] = v_next[k];
  }
  tribo_dyn_instant_times_whole(tree, at, change, p);
}

TriboStatus tribo_dyn_inverse_read_tree(const TriboSystem* system, TriboDynData* data, int tree,
                                        const TriboStepOptions* options, const double* v) {
  const TreeAt at_tree = tribo_dyn_tree_at(system, data, tree);
  const TreeInstant at = tribo_dyn_tree_start(&at_tree, data);
  Inverse* inv = &data->inverse;
  const double* v_next = inv->v_target + at_tree.v;
  double *u = data->v_free + at_tree.v, *p = inv->impulse_read + at_tree.v;
  const unsigned char kind = options->scheme == TRIBO_SCHEME_EULER ? MOTION_EULER
                             : data->touched[at_tree.part->block]  ? MOTION_TOUCHED
                                                                   : MOTION_FREE;
  if (data->motion_kind[tree] == kind) {
    return TRIBO_OK;
  }
  memset(data->flight.missed + at_tree.v, 0, (size_t)at_tree.n * sizeof *data->flight.missed);
  if (kind == MOTION_EULER) {
    read_euler(&at_tree, data, options, &at, v, v_next, u, p);
  } else if (kind == MOTION_TOUCHED) {
    TRIBO_TRY(read_touched(&at_tree, data, options, &at, v, v_next, u, p));
    if (system->cluster[at_tree.part->block] >= 0) {
      // (what rows of joints are asked about there: pass_memory.c)
      memcpy(data->flight.missed + at_tree.v, data->flight.drift.w, (size_t)at_tree.n * sizeof *u);
      tribo_add_scaled(at_tree.n, -1, u, data->flight.missed + at_tree.v);
    }
  } else {
    TRIBO_TRY(read_free(&at_tree, data, options, &at, v, v_next, u, p));
  }
  if (!at_tree.is_tied) {
    tribo_dyn_factor_inverse(&at_tree.part->dofs, at.factor, data->minv + at_tree.m);
  }
  for (int k = 0; k < at_tree.n; ++k) {
    inv->scale = fmax(inv->scale, options->h * (fabs(at.force[k]) + fabs(at.weight[k])));
  }
  if (kind != MOTION_EULER) {
    // (its mean velocity is still there)
    TRIBO_TRY(tribo_dyn_tree_move(at_tree.part, at_tree.pin, at.q, options->h, data->flight.drift.w,
                                  data->flight.drift.step, inv->q_read + at_tree.q));
    tribo_dyn_instant_to_world(&at_tree, &at, inv->q_read + at_tree.q);
  }
  data->motion_kind[tree] = kind;
  return TRIBO_OK;
}
