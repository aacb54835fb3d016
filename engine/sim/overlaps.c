// Overlaps are undone in positions, after the step: velocities know nothing of it, so that no speed and no energy of
// motion remains.
//
// The velocity rows of a contact undo what little the weight may undo, g·h² in a step (dynamics/rows/normal_row.c):
// what drifts while bodies rest. What is deeper than that decays away in their way has come about otherwise: bodies
// were placed so. With φ the gap at the end of the step, such a contact asks for the displacement Δ of the tangent
//
//     J_N Δ ≥ d,   d = min(½ max(0, −φ − slop), v_max h),     all others   J_N Δ ≥ −max(0, φ),
//
// and limits that carry for J Δ ≥ 0. Of all Δ it takes the least in the metric of the mass, min ½ΔᵀMΔ, so that Δ =
// M⁻¹Jᵀμ with μ ≥ 0 ⊥ J_N Δ − d: pushes are equal and opposite, and leave the centre of mass of what floats where it
// was, to second order in Δ. Rows are solved one after the other, back and forth (projected Gauss–Seidel); what is not
// done after the last sweep is done in the next step.
//
// A robot whose root floats is moved as a whole: to bend a leg takes less than to lift the body, but that is another
// posture, and the drives would throw the body up. Its joints move only where that is not enough: links of one robot
// that overlap, or a robot that is squeezed. What closures tie is not moved, but for a floating robot with its own
// closures, as a whole; contacts of the others are pushed out by velocities alone.
//
// The work against weight and springs of joints is told as push_out_work.
#include "data_impl.h"

#include <string.h>

#include "math3.h"
#include "small_dense.h"

enum { MOST_SWEEPS = 60 };

// How much of an overlap is undone in a step. All of it leaves a stack that rises tilted by what sweeps leave (0.12 m/s
// in test_overlaps.c, 0.05 with half); a fifth takes 0.24 s for 100 mm at 5 ms, half 0.19 s.
static const double UNDONE = 0.5;

// Sweeps end when no row changes by more than this part of the largest demand.
static const double CHANGE = 1e-3;

// Each row gives way by this part of what its own push does: what contradicts meets in the middle. What is pushed out
// above presses what rests below into the ground by as much; with 0.05, 0.01 and 0.002 two boxes of 3 kg so come to
// press with 33, 19 and 14 N.
static const double GIVE = 0.002;

// ---- who may be moved ----------------------------------------------------------------------------------------------

TriboStatus tribo_overlaps_prepare(const TriboModel* model, TriboData* data) {
  const BalanceWork* work = &data->balance;
  OverlapWork* o = &data->overlaps;
  TRIBO_TRY(TRIBO_RESERVE(&o->blocks, work->nblock));
  TRIBO_TRY(TRIBO_RESERVE(&o->delta, model->nv));
  TRIBO_TRY(TRIBO_RESERVE(&o->last, model->nv));
  TRIBO_TRY(TRIBO_RESERVE(&o->q, model->nq));
  for (int i = 0; i < work->nblock; ++i) {
    const BalanceBlock* b = &work->blocks[i];
    int tied = 0;
    for (int k = 0; k < work->nblock; ++k) {
      tied += b->tie >= 0 && work->blocks[k].tie == b->tie;
    }
    OverlapBlock* out = &o->blocks[b->block];
    *out =
        (OverlapBlock){.v_at = b->v_at, .nv = b->nv, .root = b->tree >= 0 && b->root >= 0 ? b->root_v - b->v_at : -1};
    out->freedom = tied == 0                                     ? OVERLAP_MOVES
                   : tied == 1 && b->is_closed && out->root >= 0 ? OVERLAP_MOVES_AS_WHOLE
                                                                 : OVERLAP_STAYS;
  }
  return TRIBO_OK;
}

int tribo_overlaps_are_undone(const TriboModel* model, const TriboData* data, const TriboContact* c) {
  const int* block = tribo_dyn_system_info(model->mechanism.system)->body_block;
  const int a = c->body_a < 0 ? -1 : block[c->body_a], b = c->body_b < 0 ? -1 : block[c->body_b];
  const OverlapFreedom least = a == b ? OVERLAP_MOVES : OVERLAP_MOVES_AS_WHOLE;
  return (a < 0 || data->overlaps.blocks[a].freedom >= least) && (b < 0 || data->overlaps.blocks[b].freedom >= least);
}

// ---- rows ----------------------------------------------------------------------------------------------------------

// What undoes overlaps in one step.
typedef struct Undo {
  const TriboModel* model;
  TriboData* data;
  const TriboProblem* problem;
  const TriboStepOptions* options;
  OverlapWork* work;
  int nrow;
  double most;  // largest demand [m]
} Undo;

static const double* jacobian(const TriboProblem* p, int term, int row, int n) {
  return p->jac + p->term_at[term] + row * n;
}

// J x of the last row of a cone, x in the tangent.
static double along(const Undo* u, int cone, const double* x) {
  const TriboProblem* p = u->problem;
  double sum = 0;
  for (int t = p->term_first[cone]; t < p->term_first[cone + 1]; ++t) {
    const OverlapBlock* b = &u->work->blocks[p->term_block[t]];
    sum += tribo_dot(jacobian(p, t, p->cones[cone].dim - 1, b->nv), x + b->v_at, b->nv);
  }
  return sum;
}

// Whether a contact is deeper than what velocities undo.
static int is_deep(const TriboData* data, const TriboStepOptions* o, int index) {
  return data->contacts.laws[index].by_position && -data->contacts.list[index].gap > tribo_dyn_deepest_by_velocity(o);
}

// Whether a row is between links of one tree, or of a limit: a motion as a whole does not change it.
static int is_inside(const Undo* u, int cone) {
  const TriboRowInfo* row = &u->data->result.rows[cone];
  if (row->kind != TRIBO_ROW_CONTACT) {
    return 1;
  }
  const int* block = tribo_dyn_system_info(u->model->mechanism.system)->body_block;
  const TriboContact* c = &u->data->contacts.list[row->index];
  return c->body_a >= 0 && c->body_b >= 0 && block[c->body_a] == block[c->body_b];
}

static TriboStatus collect_rows(Undo* u) {
  const TriboProblem* p = u->problem;
  const TriboStepOptions* o = u->options;
  TRIBO_TRY(TRIBO_RESERVE(&u->work->rows, p->ncone));
  for (int c = 0; c < p->ncone; ++c) {
    const TriboRowInfo* row = &u->data->result.rows[c];
    OverlapRow out = {.cone = c};
    if (row->kind == TRIBO_ROW_CONTACT && u->data->contacts.laws[row->index].by_position) {
      const double gap = u->data->contacts.list[row->index].gap + o->h * along(u, c, u->data->next.v);
      out.need =
          is_deep(u->data, o, row->index) ? fmin(UNDONE * fmax(0, -gap - o->slop), o->depen_max * o->h) : -fmax(0, gap);
    } else if (row->kind != TRIBO_ROW_LIMIT || !(u->data->result.lambda[p->cones[c].row] > 0)) {
      continue;
    }
    out.is_inside = is_inside(u, c);
    u->most = fmax(u->most, out.need);
    u->work->rows[u->nrow++] = out;
  }
  return TRIBO_OK;
}

// M⁻¹Jᵀ of one term, into `out`: of the whole block, or (root ≥ 0) of its six directions as a whole alone.
static void mobility(const Undo* u, const OverlapBlock* b, int block, const double* J, int root, double* out) {
  const TriboProblem* p = u->problem;
  if (root < 0) {
    tribo_mat_vec(b->nv, b->nv, p->minv + p->block_at[block], J, out);
    return;
  }
  double L[36];
  memset(out, 0, (size_t)b->nv * sizeof *out);
  for (int i = 0; i < 6; ++i) {
    memcpy(L + 6 * i, p->mass + p->block_at[block] + (size_t)((root + i) * b->nv + root), 6 * sizeof *L);
    out[root + i] = J[root + i];
  }
  tribo_small_cholesky(6, L, 6, 1e-300);
  tribo_small_forward(6, L, 6, out + root);
  tribo_small_backward(6, L, 6, out + root);
}

// M⁻¹Jᵀ and J M⁻¹Jᵀ of all rows that take part.
static TriboStatus set_mobilities(Undo* u, int as_whole) {
  const TriboProblem* p = u->problem;
  size_t size = 0;
  for (int i = 0; i < u->nrow; ++i) {
    const int c = u->work->rows[i].cone;
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      size += (size_t)u->work->blocks[p->term_block[t]].nv;
    }
  }
  TRIBO_TRY(TRIBO_RESERVE(&u->work->moved, size));
  size = 0;
  for (int i = 0; i < u->nrow; ++i) {
    OverlapRow* r = &u->work->rows[i];
    r->mu = r->diagonal = 0;
    r->moved_at = size;
    for (int t = p->term_first[r->cone]; t < p->term_first[r->cone + 1]; ++t) {
      const OverlapBlock* b = &u->work->blocks[p->term_block[t]];
      const double* J = jacobian(p, t, p->cones[r->cone].dim - 1, b->nv);
      double* moved = u->work->moved + size;
      const int stays = b->freedom == OVERLAP_STAYS || (as_whole && r->is_inside) ||
                        (!as_whole && b->freedom == OVERLAP_MOVES_AS_WHOLE && r->is_inside);
      memset(moved, 0, (size_t)b->nv * sizeof *moved);
      if (!stays) {
        const int root = as_whole || b->freedom == OVERLAP_MOVES_AS_WHOLE ? b->root : -1;
        mobility(u, b, p->term_block[t], J, root, moved);
      }
      r->diagonal += tribo_dot(J, moved, b->nv);
      size += (size_t)b->nv;
    }
  }
  return TRIBO_OK;
}

// ---- the displacement ----------------------------------------------------------------------------------------------

// One row asks for what it lacks; returns by how much it moved.
static double solve_row(Undo* u, OverlapRow* r) {
  const TriboProblem* p = u->problem;
  if (!(r->diagonal > 0)) {
    return 0;
  }
  const double misses = r->need - along(u, r->cone, u->work->delta) - GIVE * r->diagonal * r->mu;
  const double change = fmax(-r->mu, misses / ((1 + GIVE) * r->diagonal));
  r->mu += change;
  size_t at = r->moved_at;
  for (int t = p->term_first[r->cone]; t < p->term_first[r->cone + 1]; ++t) {
    const OverlapBlock* b = &u->work->blocks[p->term_block[t]];
    tribo_add_scaled(b->nv, change, u->work->moved + at, u->work->delta + b->v_at);
    at += (size_t)b->nv;
  }
  return fabs(change) * r->diagonal;
}

// Forth and back, until little changes. Demands that contradict each other leave Δ where the last of them had it: the
// mean of both directions takes no side.
static void sweep(Undo* u) {
  double* delta = u->work->delta;
  double moved = INFINITY;
  for (int k = 0; k < MOST_SWEEPS && moved > CHANGE * u->most; ++k) {
    moved = 0;
    memcpy(u->work->last, delta, (size_t)u->model->nv * sizeof *delta);
    for (int i = 0; i < u->nrow; ++i) {
      moved = fmax(moved, solve_row(u, &u->work->rows[k % 2 == 0 ? i : u->nrow - 1 - i]));
    }
  }
  for (int i = 0; i < u->model->nv; ++i) {
    delta[i] = 0.5 * (delta[i] + u->work->last[i]);
  }
}

// How much the row that lacks most still lacks.
static double lacking(const Undo* u) {
  double most = 0;
  for (int i = 0; i < u->nrow; ++i) {
    most = fmax(most, u->work->rows[i].need - along(u, u->work->rows[i].cone, u->work->delta));
  }
  return most;
}

static TriboStatus apply(const Undo* u, TriboStepInfo* info) {
  const TriboModel* model = u->model;
  TriboData* data = u->data;
  TriboEnergy before, after;
  TRIBO_TRY(tribo_dyn_energy(model->mechanism.system, data->dynamics, model->world.gravity, data->next.q, data->next.v,
                             &before));
  memcpy(u->work->q, data->next.q, (size_t)model->nq * sizeof *data->next.q);
  TRIBO_TRY(tribo_dyn_integrate(model->mechanism.system, data->dynamics, u->work->q, u->work->delta, data->next.q));
  TRIBO_TRY(tribo_dyn_energy(model->mechanism.system, data->dynamics, model->world.gravity, data->next.q, data->next.v,
                             &after));
  for (int b = 0; b < tribo_dyn_system_info(model->mechanism.system)->nblock; ++b) {
    OverlapBlock* block = &u->work->blocks[b];
    block->is_moved |= tribo_max_abs(u->work->delta + block->v_at, block->nv) > 0;
  }
  info->push_out_work += after.kinetic + after.potential - before.kinetic - before.potential;
  data->next.has_bodies = 0;
  return TRIBO_OK;
}

TriboStatus tribo_overlaps_undo(const TriboModel* model, TriboData* data, const TriboStepOptions* options,
                                TriboStepInfo* info) {
  int deep = 0;
  for (int i = 0; i < data->contacts.count && !deep; ++i) {
    deep = is_deep(data, options, i);
  }
  if (!deep) {
    return TRIBO_OK;
  }
  Undo u = {
      .model = model, .data = data, .problem = &data->result.problem, .options = options, .work = &data->overlaps};
  TRIBO_TRY(collect_rows(&u));
  if (!(u.most > 0)) {
    return TRIBO_OK;
  }
  memset(u.work->delta, 0, (size_t)model->nv * sizeof *u.work->delta);
  TRIBO_TRY(set_mobilities(&u, 1));
  sweep(&u);
  if (lacking(&u) > 0.1 * u.most) {
    TRIBO_TRY(set_mobilities(&u, 0));
    sweep(&u);
  }
  return apply(&u, info);
}
