// Inverse dynamics through contact (Algorithm 2 of "From compliant to rigid contact simulation", with what it leaves
// open: motion that nothing drives).
//
// Given is the target velocity v⁺. A step with the impulses λ and the generalized forces τ of the driven joints a makes
// it when
//
//     p = Jᵀλ + h Sᵀτ                                                                                        (1)
//     K ∋ λ ⊥ σ + Γ(σ) ∈ K*,     σ = Rλ + c,     c = J u + γ                                                 (2)
//
// with p, the impulse that the target velocity needs, and u, the velocity that rows have seen, both read from q, v and
// v⁺ (tree_reading.c, free_body.c). They do not depend on λ, but p in trees that closures tie does a little, where
// impulses act on M instead of M̃: the problem below is solved with p of no impulse, and Newton's method
// (inverse_polish.c) does the rest.
//
// In (2) c is given, and there each constraint stands alone:
//
//     c_N > 0                 open, λ = 0
//     c_N = 0, c_T ≠ 0        slides, λ = λ_N (−D² c_T/‖D c_T‖, 1), a ray
//     c = 0                   sticks, any λ of the cone
//     R_N > 0                 a spring: λ_N = max(0, −c_N/R_N); c_T decides about λ_T as above
//     dry friction, motors    c ≠ 0 or R > 0 decide; at c = 0 any λ between the bounds
//     closures                any λ
//
// (speeds below a tolerance count as 0, because the noise of a recorded motion must not decide who carries the load).
// Algorithm 2 stops here: its proximal iteration takes of these the λ nearest to where it starts. But a floating base
// and a free body have no motor: on the undriven velocities u, (1) says J_uᵀλ = p_u, and of all λ that (2) allows those
// are wanted that satisfy it. With the metric of their kinetic energy that is a contact problem again,
//
//     C ∋ λ ⊥ ς ∈ C*,     ς = J_u y,     y = M_uu⁻¹(J_uᵀλ − p_u)                                             (3)
//
// of the size of what is not driven, C being the product of the sets above, and y the error of velocity that the
// target would suffer: 0 when it is feasible. Constraints that act on driven joints only are not in (3): any choice of
// theirs is answered by torques, and the smallest is taken.
//
// The motion nearest to a target that is not feasible: the undriven part moves as contacts make it while the driven
// joints do as they are told. That is (3) with the whole of (2), σ = Rλ + c + J_u y. In the norm yᵀM y no motion with
// these impulses is nearer, since of all y with M y = J ᵀλ − p on u the shortest is 0 on a.
#include "dyn_data.h"
#include "small_dense.h"

// ---- the target velocity -------------------------------------------------------------------------------------------

static TriboStatus reserve(const TriboSystem* system, Inverse* inv) {
  const size_t nq = (size_t)system->info.nq, nv = (size_t)system->info.nv, nblock = (size_t)system->info.nblock,
               nmass = system->nmass;
#define X(array, count) TRIBO_TRY(TRIBO_RESERVE(&inv->array, count));
  TRIBO_DYN_INVERSE_ARRAYS(X)
#undef X
  return TRIBO_OK;
}

void tribo_dyn_inverse_free(Inverse* inv) {
#define X(array, count) tribo_free(inv->array);
  TRIBO_DYN_INVERSE_ARRAYS(X)
#undef X
  tribo_free(inv->mode);
  tribo_free(inv->cone_of);
  tribo_free(inv->lambda_known);
  tribo_free(inv->span);
  tribo_free(inv->polish);
  tribo_free(inv->directions);
  tribo_dyn_rows_free(&inv->rows);
}

// A free body has no motor: its free velocity is known. The impulse that the target needs depends on what contacts do
// to it; until that is known, as if they pushed.
static void target_body(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options, int b,
                        const double* v, const double* v_target, const double* tau, const double* wrench) {
  Inverse* inv = &data->inverse;
  const FreeBody* body = system->bodies + b;
  const int at = system->block_v[b];
  const double* q = data->q + system->block_q[b];
  memcpy(inv->v_target + at, v_target + at, 6 * sizeof *v_target);
  tribo_dyn_body_pose(body, q, data->poses + b);
  tribo_dyn_body_free_velocity(body, options, q, v + at, tau == NULL ? NULL : tau + at,
                               wrench == NULL ? NULL : wrench + 6 * b, inv->v_free + at);
  data->lasts[b] = 0;
  tribo_dyn_inverse_read_body(system, data, b, options, v);
  tribo_dyn_body_twist(body, data->poses + b, data->v_free + at, data->twists + b);
}

void tribo_dyn_inverse_read_body(const TriboSystem* system, TriboDynData* data, int b, const TriboStepOptions* options,
                                 const double* v) {
  Inverse* inv = &data->inverse;
  const FreeBody* body = system->bodies + b;
  const int at = system->block_v[b];
  const double *v_free = inv->v_free + at, *v_target = inv->v_target + at;
  double *impulse_needed = inv->impulse_needed + at, *seen = data->v_free + at;
  double change[3], size = 0, most = 0;
  for (int i = 0; i < 6; ++i) {
    most = fmax(most, fabs(v_target[i] - v_free[i]));
    size = fmax(size, fabs(v[at + i]) + fabs(v_free[i]));
  }
  tribo_sub3(change, v_target, v_free);
  tribo_scale3(impulse_needed, body->mass, change);
  // in flight nothing is needed; what else differs from the free motion was pushed
  if (options->scheme == TRIBO_SCHEME_EULER || most <= 1e-13 * size) {
    tribo_sub3(change, v_target + 3, v_free + 3);
    tribo_mul33v(impulse_needed + 3, body->inertia, change);
  } else {
    tribo_dyn_body_torque(body, options->h, data->lasts[b] ? BODY_LASTS : BODY_PUSHED, v + at + 3, v_free + 3,
                          v_target + 3, impulse_needed + 3);
  }
  // rows see v_f + M⁻¹p, as they do when they are solved
  tribo_axpy3(seen, v_free, 1 / body->mass, impulse_needed);
  tribo_mul33v(seen + 3, body->inverse, impulse_needed + 3);
  tribo_add3(seen + 3, seen + 3, v_free + 3);
}

// What acts on a tree is read from the step when it is known what touches it (tree_reading.c).
static TriboStatus target_tree(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options, int tree,
                               const double* v, const double* v_target, const double* tau, const double* wrench) {
  const TreeAt at_tree = tribo_dyn_tree_at(system, data, tree);
  const TreeInstant at = tribo_dyn_tree_start(&at_tree, data);
  const int n = at_tree.n, body = at_tree.part->body;
  memcpy(data->inverse.v_target + at_tree.v, v_target + at_tree.v, (size_t)n * sizeof *v_target);
  memcpy(data->v_free + at_tree.v, v_target + at_tree.v, (size_t)n * sizeof *v_target);
  TRIBO_TRY(tribo_dyn_tree_begin(&at_tree, data, options, v + at_tree.v, tau == NULL ? NULL : tau + at_tree.v,
                                 wrench == NULL ? NULL : wrench + 6 * body, &at));
  tribo_dyn_tree_twists(at_tree.info, at.jac, data->v_free + at_tree.v, at.poses, data->twists + body);
  return TRIBO_OK;
}

TriboStatus tribo_dyn_inverse_update(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                     const double* q, const double* v, const double* v_target, const double* tau,
                                     const double* wrench) {
  const char* where = "tribo_dyn_inverse_update";
  if (system == NULL || data == NULL || options == NULL || q == NULL || v == NULL || v_target == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: system, data, options, q, v or v_target is NULL", where);
  }
  const TriboSystemInfo* info = &system->info;
  TRIBO_TRY(tribo_dyn_begin_step(system, data, options, where, q, v));
  TRIBO_TRY(tribo_dyn_check_finite(where, "target v", v_target, info->nv));
  data->is_inverse = 1;
  data->start_is_known = data->end_is_known = data->has_prediction = 0;
  if (info->ntree > 0) {
    memset(data->motion_kind, MOTION_START, (size_t)info->ntree);
    tribo_dyn_keep_forces(system, data, tau, wrench);
  }
  TRIBO_TRY(reserve(system, &data->inverse));
  data->inverse.scale = 0;
  for (int b = 0; b < info->nfree; ++b) {
    target_body(system, data, options, b, v, v_target, tau, wrench);
  }
  for (int t = 0; t < info->ntree; ++t) {
    const TriboStatus status = target_tree(system, data, options, t, v, v_target, tau, wrench);
    if (status != TRIBO_OK) {
      tribo_fail_prefix("%s: tree %d: ", where, t);
      return status;
    }
  }
  data->stage = STAGE_UPDATED;
  return TRIBO_OK;
}

TriboStatus tribo_dyn_inverse_end(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                                  const double* v, const double* v_target, int smooth, double* q_next) {
  const TriboSystemInfo* info = &system->info;
  if (data->stage != STAGE_ASSEMBLED || !data->is_inverse || options->scheme == TRIBO_SCHEME_EULER) {
    return tribo_fail(TRIBO_STATE, "tribo_dyn_inverse_end: inverse_update and assemble must come first, not by Euler");
  }
  memcpy(q_next, data->inverse.q_read, (size_t)info->nq * sizeof *q_next);
  for (int b = 0; b < info->nfree; ++b) {
    const int at_q = info->block_q[b], at_v = info->block_v[b];
    tribo_dyn_body_advance(options->h, smooth ? TRIBO_DYN_SMOOTH : 0, data->q + at_q, v + at_v, v_target + at_v,
                           q_next + at_q);
  }
  return TRIBO_OK;
}

// ---- what each constraint leaves open: (2) -------------------------------------------------------------------------

// The direction of sliding friction: −D² c_f/‖D c_f‖, and 1 on the normal row; 0 where there is nothing to rub.
static void slide_along(const TriboCone* cone, const double* c, double* mode) {
  double length = 0;
  for (int i = 0; i < cone->dim - 1; ++i) {
    length = hypot(length, cone->mu[i] * c[i]);
  }
  for (int i = 0; i < cone->dim - 1; ++i) {
    mode[i] = length > 0 ? -cone->mu[i] * cone->mu[i] * c[i] / length : 0;
  }
  mode[cone->dim - 1] = 1;
}

// The mode of a cone: what is left to its λ; lambda_known (dim) receives what is known of it: the whole λ, the
// direction of a ray, or the normal impulse of a disk.
static int classify(const TriboCone* cone, const double* c, const double* R, double tol, double* lambda_known) {
  const int n = cone->dim - 1;
  memset(lambda_known, 0, (size_t)cone->dim * sizeof *lambda_known);
  if (cone->kind == TRIBO_CONE_FREE) {
    return TRIBO_DYN_MODE_CONE;
  }
  if (cone->kind == TRIBO_CONE_BOX) {
    if (R[0] > 0) {
      lambda_known[0] = tribo_clamp(-c[0] / R[0], cone->lo, cone->hi);
      return TRIBO_DYN_MODE_KNOWN;
    }
    lambda_known[0] = c[0] > tol ? cone->lo : c[0] < -tol ? cone->hi : 0;
    return fabs(c[0]) <= tol ? TRIBO_DYN_MODE_CONE : TRIBO_DYN_MODE_KNOWN;
  }
  double slip = 0;
  for (int i = 0; i < n; ++i) {
    slip = fmax(slip, fabs(c[i]));
  }
  const double normal = R[n] > 0 ? fmax(0, -c[n] / R[n]) : 0;
  if (R[n] > 0 ? normal == 0 : c[n] > tol) {
    return TRIBO_DYN_MODE_KNOWN;
  }
  if (slip <= tol && n > 0) {
    lambda_known[n] = normal;
    return R[n] > 0 ? TRIBO_DYN_MODE_DISK : TRIBO_DYN_MODE_CONE;
  }
  slide_along(cone, c, lambda_known);
  if (R[n] > 0) {
    for (int i = 0; i <= n; ++i) {
      lambda_known[i] *= normal;
    }
  }
  return R[n] > 0 ? TRIBO_DYN_MODE_KNOWN : TRIBO_DYN_MODE_RAY;
}

// ---- the problem of what is not driven: (3) ------------------------------------------------------------------------

// Numbers the undriven velocities block by block and inverts their part of the mass.
static TriboStatus reduce_motion(const TriboSystem* system, TriboDynData* data, const unsigned char* driven) {
  Inverse* inv = &data->inverse;
  const TriboSystemInfo* info = &system->info;
  size_t at = 0;
  inv->nblock = 0;
  for (int b = 0; b < info->nblock; ++b) {
    const int n = info->block_dim[b], first = info->block_v[b];
    int count = 0;
    for (int k = 0; k < n; ++k) {
      inv->place[first + k] = driven[first + k] ? -1 : count++;
    }
    inv->block[b] = count > 0 ? inv->nblock : -1;
    if (count == 0) {
      continue;
    }
    const double* mass = data->mass + system->block_at[b];
    double *part = inv->mass + at, *minv = inv->minv + at;
    for (int i = 0; i < n; ++i) {
      if (inv->place[first + i] >= 0) {
        for (int k = 0; k < n; ++k) {
          if (inv->place[first + k] >= 0) {
            part[inv->place[first + i] * count + inv->place[first + k]] = mass[i * n + k];
          }
        }
      }
    }
    if (count == n) {
      memcpy(minv, data->minv + system->block_at[b], (size_t)(n * n) * sizeof *minv);
    } else {
      // a tree without branches has a full factor
      for (int k = 0; k < count; ++k) {
        inv->chain_parent[k] = k - 1;
      }
      DofTree chain = {count, inv->chain_parent, inv->chain_start};
      tribo_dyn_dof_starts(&chain);
      TRIBO_TRY(tribo_dyn_factor(&chain, part, data->scratch_factor));
      tribo_dyn_factor_inverse(&chain, data->scratch_factor, minv);
    }
    inv->dim[inv->nblock] = count;
    inv->at[inv->nblock++] = at;
    at += (size_t)count * (size_t)count;
  }
  return TRIBO_OK;
}

// The part of a term that acts on undriven velocities, with its rows combined as the mode asks; 0: nothing does.
static int reduce_term(const TriboSystem* system, const TriboDynData* data, int c, int term, double* out) {
  const Inverse* inv = &data->inverse;
  const Rows* rows = &data->rows;
  const int block = rows->term_block[term], n = system->block_dim[block], first = system->block_v[block];
  const int count = inv->dim[inv->block[block]], dim = rows->cones[c].dim, mode = inv->mode[c];
  const double *jac = rows->term_jac + rows->term_at[term], *lambda_known = inv->lambda_known + rows->cones[c].row;
  int any = 0;
  memset(out, 0, (size_t)((mode == TRIBO_DYN_MODE_RAY ? 1 : dim) * count) * sizeof *out);
  for (int i = 0; i < dim; ++i) {
    for (int k = 0; k < n; ++k) {
      const int place = inv->place[first + k];
      if (place < 0 || (mode == TRIBO_DYN_MODE_DISK && i == dim - 1)) {
        continue;
      }
      const double x = (mode == TRIBO_DYN_MODE_RAY ? lambda_known[i] : 1) * jac[i * n + k];
      out[(mode == TRIBO_DYN_MODE_RAY ? 0 : i * count) + place] += x;
      any |= x != 0;
    }
  }
  return any;
}

// Appends what is left of cone c, unless it acts on driven joints alone.
static void reduce_cone(const TriboSystem* system, TriboDynData* data, int c) {
  Inverse* inv = &data->inverse;
  const Rows* rows = &data->rows;
  const TriboCone* cone = rows->cones + c;
  Rows* out = &inv->rows;
  const int mode = inv->mode[c], ray = mode == TRIBO_DYN_MODE_RAY, n = out->ncone, row = out->nrow, terms = out->nterm;
  const size_t njac = out->njac;
  tribo_dyn_rows_begin(out, ray ? TRIBO_CONE_NONNEG : cone->kind, ray ? 1 : cone->dim, rows->infos[c].kind,
                       rows->infos[c].index);
  memcpy(out->cones[n].mu, cone->mu, sizeof cone->mu);
  out->cones[n].lo = cone->lo;
  out->cones[n].hi = cone->hi;
  for (int t = rows->term_first[c]; t < rows->term_first[c + 1]; ++t) {
    const int block = inv->block[rows->term_block[t]];
    if (block < 0 || !reduce_term(system, data, c, t, out->term_jac + out->njac)) {
      continue;
    }
    out->term_block[out->nterm] = block;
    out->term_at[out->nterm++] = out->njac;
    out->njac += (size_t)(out->cones[n].dim * inv->dim[block]);
  }
  if (out->nterm == terms) {
    out->ncone = n;
    out->nrow = row;
    out->njac = njac;
    return;
  }
  out->term_first[n + 1] = out->nterm;
  if (!ray) {
    for (int i = 0; i < cone->dim; ++i) {
      out->R[row + i] = inv->whole || mode == TRIBO_DYN_MODE_DISK ? rows->R[cone->row + i] : 0;
    }
  }
  inv->cone_of[n] = c;
}

TriboStatus tribo_dyn_inverse_reduce(const TriboSystem* system, TriboDynData* data, const unsigned char* driven,
                                     double tol, int whole, TriboProblem* problem) {
  if (system == NULL || data == NULL || driven == NULL || problem == NULL || !(tol >= 0)) {
    return tribo_fail(TRIBO_INVALID, "tribo_dyn_inverse_reduce: an argument is NULL, or tol = %g is negative", tol);
  }
  if (data->stage != STAGE_ASSEMBLED) {
    return tribo_fail(TRIBO_STATE, "tribo_dyn_inverse_reduce: tribo_dyn_assemble must come first");
  }
  Inverse* inv = &data->inverse;
  Rows* rows = &data->rows;
  inv->whole = whole;
  // how far the target opens closures is a fault of its own (core asks for it); they carry whatever is needed
  if (!whole) {
    for (int c = rows->ncone - system->nclosure; c < rows->ncone; ++c) {
      memset(rows->g + rows->cones[c].row, 0, (size_t)rows->cones[c].dim * sizeof *rows->g);
    }
  }
  TRIBO_TRY(TRIBO_RESERVE(&inv->mode, rows->ncone));
  TRIBO_TRY(TRIBO_RESERVE(&inv->cone_of, rows->ncone));
  TRIBO_TRY(TRIBO_RESERVE(&inv->lambda_known, rows->nrow));
  TRIBO_TRY(reduce_motion(system, data, driven));
  TRIBO_TRY(
      tribo_dyn_rows_reserve(&inv->rows, (size_t)rows->ncone, (size_t)rows->nrow, (size_t)rows->nterm, rows->njac));
  for (int c = 0; c < rows->ncone; ++c) {
    const TriboCone* cone = rows->cones + c;
    const int mode = classify(cone, rows->g + cone->row, rows->R + cone->row, tol, inv->lambda_known + cone->row);
    const int known = inv->rows.ncone;
    if (mode == TRIBO_DYN_MODE_RAY) {
      // (friction is against the slip for as long as that lasts, and turns round with it: slip_turn.c)
      const double now = 1 - 2 * tribo_dyn_inverse_slip_turn(data, c);
      for (int i = cone->row; i < cone->row + cone->dim - 1; ++i) {
        inv->lambda_known[i] *= now;
      }
    }
    inv->mode[c] = whole ? TRIBO_DYN_MODE_CONE : mode;
    if (inv->mode[c] != TRIBO_DYN_MODE_KNOWN) {
      reduce_cone(system, data, c);
    }
    // on driven joints alone: the target decides, whatever the others do
    inv->mode[c] = inv->rows.ncone == known ? mode : inv->mode[c];
  }
  *problem = tribo_dyn_rows_problem(system, &inv->rows, inv->mass, inv->minv);
  problem->nblock = inv->nblock;
  problem->block_dim = inv->dim;
  problem->block_at = inv->at;
  problem->dof_parent = NULL;
  return TRIBO_OK;
}

// λ of all rows from that of the reduced problem, or what is known before it is solved.
static void expand(const TriboDynData* data, const double* reduced, double* lambda) {
  const Inverse* inv = &data->inverse;
  const Rows* rows = &data->rows;
  for (int c = 0; c < rows->ncone; ++c) {
    const TriboCone* cone = rows->cones + c;
    const int known = inv->mode[c] == TRIBO_DYN_MODE_KNOWN || inv->mode[c] == TRIBO_DYN_MODE_DISK;
    for (int i = cone->row; i < cone->row + cone->dim; ++i) {
      lambda[i] = known ? inv->lambda_known[i] : 0;
    }
  }
  if (reduced != NULL) {
    for (int k = 0; k < inv->rows.ncone; ++k) {
      const TriboCone *cone = rows->cones + inv->cone_of[k], *part = inv->rows.cones + k;
      const int mode = inv->mode[inv->cone_of[k]], count = mode == TRIBO_DYN_MODE_DISK ? cone->dim - 1 : cone->dim;
      for (int i = 0; i < count; ++i) {
        lambda[cone->row + i] =
            mode == TRIBO_DYN_MODE_RAY ? reduced[part->row] * inv->lambda_known[cone->row + i] : reduced[part->row + i];
      }
    }
  }
}

TriboStatus tribo_dyn_inverse_impulse(const TriboSystem* system, TriboDynData* data, const double* lambda) {
  Inverse* inv = &data->inverse;
  tribo_dyn_rows_impulse(system, &data->rows, 0, lambda, data->impulse);
  for (int t = 0; t < system->info.ntree; ++t) {
    const TreeAt tree = tribo_dyn_tree_at(system, data, t);
    const TreeInstant at = tribo_dyn_tree_start(&tree, data);
    const double *seen = data->v_free + tree.v, *impulse = data->impulse + tree.v;
    double *v_free = inv->v_free + tree.v, *needed = inv->impulse_needed + tree.v, *dv = data->work;
    tribo_mat_vec(tree.n, tree.n, data->minv + tree.m, impulse, dv);
    memcpy(needed, inv->impulse_read + tree.v, (size_t)tree.n * sizeof *needed);
    for (int i = 0; i < tree.n; ++i) {
      v_free[i] = seen[i] - dv[i];
      // where closures tie a tree, impulses act on M and torques on M̃
      needed[i] -= tree.is_tied && data->motion_kind[t] != MOTION_FREE ? at.extra[i] * dv[i] : 0;
    }
  }
  return TRIBO_OK;
}

// g of (3), from p and the impulses that are known: −J_u M_uu⁻¹ (p − Jᵀλ)_u; what is to be solved as a whole keeps c.
static void set_reduced_g(const TriboSystem* system, TriboDynData* data) {
  Inverse* inv = &data->inverse;
  Rows* out = &inv->rows;
  memset(inv->v_error, 0, (size_t)system->info.nv * sizeof *inv->v_error);
  for (int b = 0; b < system->info.nblock; ++b) {
    const int block = inv->block[b], n = system->block_dim[b], first = system->block_v[b];
    const double* minv = block < 0 ? NULL : inv->minv + inv->at[block];
    if (block >= 0) {
      for (int i = 0; i < n; ++i) {
        const int row = inv->place[first + i];
        double sum = 0;
        if (row >= 0) {
          for (int k = 0; k < n; ++k) {
            const int column = inv->place[first + k];
            sum += column < 0 ? 0
                              : minv[row * inv->dim[block] + column] *
                                    (data->impulse[first + k] - inv->impulse_needed[first + k]);
          }
        }
        inv->v_error[first + i] = row >= 0 ? sum : 0;
      }
    }
  }
  // J_u y through the unreduced rows, combined as the modes ask
  for (int k = 0; k < out->ncone; ++k) {
    const int c = inv->cone_of[k], mode = inv->mode[c], dim = data->rows.cones[c].dim;
    const double *c0 = data->rows.g + data->rows.cones[c].row,
                 *lambda_known = inv->lambda_known + data->rows.cones[c].row;
    double y[6], *g = out->g + out->cones[k].row;
    tribo_dyn_rows_apply(system, &data->rows, c, inv->v_error, y);
    if (mode == TRIBO_DYN_MODE_RAY) {
      g[0] = 0;
      for (int i = 0; i < dim; ++i) {
        g[0] += lambda_known[i] * y[i];
      }
      continue;
    }
    for (int i = 0; i < dim; ++i) {
      g[i] = y[i] + (inv->whole ? c0[i] : 0);
    }
    if (mode == TRIBO_DYN_MODE_DISK) {
      g[dim - 1] = c0[dim - 1];
    }
  }
}

TriboStatus tribo_dyn_inverse_balance(const TriboSystem* system, TriboDynData* data, const double* reduced,
                                      double* lambda, double* change) {
  const Inverse* inv = &data->inverse;
  const int nv = system->info.nv;
  memcpy(data->v_before, inv->impulse_needed, (size_t)nv * sizeof *inv->impulse_needed);
  // with all impulses: the impulse that is needed, and how far it moved
  expand(data, reduced, lambda);
  TRIBO_TRY(tribo_dyn_inverse_impulse(system, data, lambda));
  double size = 0;
  *change = 0;
  for (int i = 0; i < nv; ++i) {
    size = fmax(size, fabs(inv->impulse_needed[i]));
    *change = fmax(*change, fabs(inv->impulse_needed[i] - data->v_before[i]));
  }
  *change = reduced == NULL ? INFINITY : size > 0 ? *change / size : 0;

  // with the known ones alone: the next problem
  memcpy(data->v_after, data->impulse, (size_t)nv * sizeof *data->impulse);
  expand(data, NULL, lambda);
  tribo_dyn_rows_impulse(system, &data->rows, 0, lambda, data->impulse);
  set_reduced_g(system, data);
  memcpy(data->impulse, data->v_after, (size_t)nv * sizeof *data->impulse);
  expand(data, reduced, lambda);
  return tribo_dyn_check_finite("tribo_dyn_inverse_balance", "needed impulse", inv->impulse_needed, nv);
}

TriboStatus tribo_dyn_inverse_finish(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                     const double* lambda, double* force, double* v_error) {
  Inverse* inv = &data->inverse;
  const TriboSystemInfo* info = &system->info;
  TRIBO_TRY(tribo_dyn_inverse_impulse(system, data, lambda));
  for (int i = 0; i < info->nv; ++i) {
    force[i] = (inv->impulse_needed[i] - data->impulse[i]) / options->h;
  }
  set_reduced_g(system, data);
  memcpy(v_error, inv->v_error, (size_t)info->nv * sizeof *v_error);
  // the forward problem of the step with these torques: g = c − J(v⁺ − v_f)
  for (int i = 0; i < info->nv; ++i) {
    data->v_after[i] = data->v_free[i] - inv->v_free[i];
  }
  for (int c = 0; c < data->rows.ncone; ++c) {
    double moved[6], *g = data->rows.g + data->rows.cones[c].row;
    tribo_dyn_rows_apply(system, &data->rows, c, data->v_after, moved);
    for (int i = 0; i < data->rows.cones[c].dim; ++i) {
      g[i] -= moved[i];
    }
  }
  TRIBO_TRY(tribo_dyn_slips_assemble(system, data));
  return tribo_dyn_check_finite("tribo_dyn_inverse_finish", "force", force, info->nv);
}
