// Slip that turns round within a step.
//
// Friction of what lasts acts half at either end of a step and opposes the velocity with which it ends. Where slip goes
// through 0 within the step that is the wrong way up to then: an impulse that is off by 2 τ μ λ_N, first order, each
// time. So after a solve it is asked where that happens. Up to the fraction τ friction was f, against the slip s at the
// start; with the slip σ_f that f would lead to in the whole step, s(t) = s + (σ_f − s) t/h, and
//
//     τ = |s|² / s·(s − σ_f)         where s·σ_f < 0.
//
// Then the step is solved once more, with the law for the rest of it alone: λ_T = τf + λ', |λ'| ≤ (1 − τ) μ λ_N. The
// impulse τf is known, so it moves g by J M⁻¹Jᵀ τf; the unknowns of the problem are λ'. Whether what has come to rest
// starts the other way, or sticks, is up to the law. (Brüls, Acary, Cardona 2014 do without. A block on a spring
// is 5.7e-6 m off after 2 s at 1 ms, and 1.3e-4 m without: scenes/lab/dry_spring.yaml.) A dry joint has bounds that are
// shifted: joint_rows.c.
#include "dyn_data.h"
#include "small_dense.h"

// What turns round sooner [of the step], or slips slower [of what weight gives in one], is as good as at rest [m/s].
static const double SOONEST = 1e-3, SLOWEST = 1e-3, STILL = 1e-9;

static int is_same(const SlipTurn* turn, const TriboContact* c) {
  return turn->geom_a == c->geom_a && turn->geom_b == c->geom_b && turn->feature == c->feature;
}

// M⁻¹ times an impulse (nv) of all blocks.
static void change_velocity(const TriboSystem* system, const TriboDynData* data, const double* impulse, double* out) {
  for (int b = 0; b < system->info.nblock; ++b) {
    const int n = system->info.block_dim[b], at = system->info.block_v[b];
    tribo_mat_vec(n, n, data->minv + system->block_at[b], impulse + at, out + at);
  }
}

TriboStatus tribo_dyn_slips_assemble(const TriboSystem* system, TriboDynData* data) {
  Rows* rows = &data->rows;
  int any = 0;
  data->has_known = 0;
  for (int i = 0; i < data->ncontact && i < data->nslip_turn; ++i) {
    any |= data->slip_turns[i].fraction > 0 && is_same(data->slip_turns + i, data->contacts + i);
  }
  if (!any) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&data->known, rows->nrow));
  memset(data->known, 0, (size_t)rows->nrow * sizeof *data->known);
  for (int i = 0; i < data->ncontact && i < data->nslip_turn; ++i) {
    const SlipTurn* turn = data->slip_turns + i;
    if (turn->fraction > 0 && is_same(turn, data->contacts + i)) {
      TriboCone* cone = rows->cones + i;
      for (int k = 0; k < 2; ++k) {
        data->known[cone->row + k] = turn->fraction * tribo_dot3(rows->infos[i].frame + 3 * k, turn->force);
        cone->mu[k] *= 1 - turn->fraction;
      }
    }
  }
  tribo_dyn_rows_impulse(system, rows, 0, data->known, data->known_impulse);
  change_velocity(system, data, data->known_impulse, data->slip_change);
  for (int c = 0; c < rows->ncone; ++c) {
    double change[6];
    tribo_dyn_rows_apply(system, rows, c, data->slip_change, change);
    for (int k = 0; k < rows->cones[c].dim; ++k) {
      rows->g[rows->cones[c].row + k] += change[k];
    }
  }
  data->has_known = 1;
  return TRIBO_OK;
}

void tribo_dyn_add_known(const TriboDynData* data, double sign, double* lambda) {
  if (data->has_known) {
    tribo_add_scaled(data->rows.nrow, sign, data->known, lambda);
  }
}

// The slip of a contact at the start of the step, 0: it does not last, or slips by nothing that counts; and the
// friction against it.
static int find_slip(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                     const TriboContactLaw* laws, int i, const double* lambda, double slip[2], double force[2]) {
  const TriboContact* contact = data->contacts + i;
  const ContactTurn* turn = data->turns + i;
  const TriboCone* cone = data->rows.cones + i;
  const int a = tribo_dyn_block_of(system, contact->body_a),
            block = a >= 0 ? a : tribo_dyn_block_of(system, contact->body_b);
  if (cone->dim < 3 || !turn->lasts || !turn->is_known || !data->lasts[block] || cone->mu[0] != cone->mu[1]) {
    return 0;
  }
  for (int k = 0; k < 2; ++k) {
    const double* axis = data->rows.infos[i].frame + 3 * k;
    slip[k] = tribo_dot3(axis, turn->slip) + tribo_dot3(axis, laws[i].surface);
  }
  const double size = hypot(slip[0], slip[1]), most = cone->mu[0] * lambda[cone->row + cone->dim - 1];
  for (int k = 0; k < 2; ++k) {
    force[k] = size > 0 ? -most * slip[k] / size : 0;
  }
  return size > fmax(STILL, SLOWEST * options->h * tribo_norm3(options->gravity)) && most > 0;
}

static void set_force(SlipTurn* turn, const double frame[9], const double force[2]) {
  tribo_scale3(turn->force, force[0], frame);
  tribo_axpy3(turn->force, turn->force, force[1], frame + 3);
}

TriboStatus tribo_dyn_contact_slips(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                    const TriboContactLaw* laws, const double* lambda, int* turned) {
  const Rows* rows = &data->rows;
  double slip[2], force[2];
  int any = 0;
  *turned = 0;
  if (data->nslip_turn > 0 || data->is_inverse) {
    // (once in a step)
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&data->known, rows->nrow));
  memset(data->known, 0, (size_t)rows->nrow * sizeof *data->known);
  for (int i = 0; i < data->ncontact; ++i) {
    const double* now = lambda + rows->cones[i].row;
    if (find_slip(system, data, options, laws, i, lambda, slip, force)) {
      // (what slides on has it already)
      const double dx = force[0] - now[0], dy = force[1] - now[1];
      const double mobility =
          tribo_dyn_mobility(system, data, rows, i, 0) + tribo_dyn_mobility(system, data, rows, i, 1);
      if (hypot(dx, dy) > 1e-6 * hypot(force[0], force[1]) &&
          hypot(slip[0], slip[1]) > SOONEST * mobility * hypot(dx, dy)) {
        data->known[rows->cones[i].row] = dx;
        data->known[rows->cones[i].row + 1] = dy;
        any = 1;
      }
    }
  }
  if (!any) {
    return TRIBO_OK;
  }
  // the velocities of the end, were friction what it was at the start
  tribo_dyn_rows_impulse(system, rows, 0, data->known, data->known_impulse);
  tribo_add_scaled(system->info.nv, 1, data->impulse, data->known_impulse);
  change_velocity(system, data, data->known_impulse, data->slip_change);
  TRIBO_TRY(TRIBO_RESERVE(&data->slip_turns, data->ncontact));
  data->nslip_turn = data->ncontact;
  for (int i = 0; i < data->ncontact; ++i) {
    const TriboContact* contact = data->contacts + i;
    const TriboCone* cone = rows->cones + i;
    SlipTurn* turn = data->slip_turns + i;
    *turn = (SlipTurn){.geom_a = contact->geom_a, .geom_b = contact->geom_b, .feature = contact->feature};
    if ((data->known[cone->row] != 0 || (cone->dim > 1 && data->known[cone->row + 1] != 0)) &&
        find_slip(system, data, options, laws, i, lambda, slip, force)) {
      double end[6];
      tribo_dyn_rows_apply(system, rows, i, data->slip_change, end);
      const double x = end[0] + rows->g[cone->row], y = end[1] + rows->g[cone->row + 1];
      const double along = slip[0] * x + slip[1] * y, square = slip[0] * slip[0] + slip[1] * slip[1];
      const double fraction = square / (square - along);
      // (what comes to rest and has the friction for that may stay as it is)
      const double *now = lambda + cone->row, rest = (1 - fraction) * hypot(force[0], force[1]);
      const int stays = hypot(now[0] - fraction * force[0], now[1] - fraction * force[1]) <= rest;
      if (along < 0 && fraction > SOONEST && !stays) {
        turn->fraction = fraction;
        set_force(turn, rows->infos[i].frame, force);
        ++*turned;
      }
    }
  }
  return TRIBO_OK;
}

// A step read backwards knows the slip s⁺ of its end, and the impulses of the law that does not turn round. With f for
// all of the step, and nothing else, slip would end 2c less far along −s, c = −ŝ·J M⁻¹Jᵀf; so τ is that of a dry joint.
TriboStatus tribo_dyn_inverse_slips(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                    const TriboContactLaw* laws, const double* lambda, int* turned) {
  const Rows* rows = &data->rows;
  double slip[2], force[2];
  *turned = 0;
  if (data->nslip_turn > 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&data->known, rows->nrow));
  TRIBO_TRY(TRIBO_RESERVE(&data->slip_turns, data->ncontact));
  memset(data->known, 0, (size_t)rows->nrow * sizeof *data->known);
  for (int i = 0; i < data->ncontact; ++i) {
    const TriboContact* contact = data->contacts + i;
    SlipTurn* turn = data->slip_turns + i;
    const double* end = rows->g + rows->cones[i].row;
    *turn = (SlipTurn){.geom_a = contact->geom_a, .geom_b = contact->geom_b, .feature = contact->feature};
    if (data->inverse.mode[i] == TRIBO_DYN_MODE_RAY && find_slip(system, data, options, laws, i, lambda, slip, force) &&
        slip[0] * end[0] + slip[1] * end[1] < 0) {
      turn->fraction = 1;
      memcpy(data->known + rows->cones[i].row, force, sizeof force);
      ++*turned;
    }
  }
  if (*turned == 0) {
    return TRIBO_OK;
  }
  data->nslip_turn = data->ncontact;
  tribo_dyn_rows_impulse(system, rows, 0, data->known, data->known_impulse);
  change_velocity(system, data, data->known_impulse, data->slip_change);
  for (int i = 0; i < data->ncontact; ++i) {
    SlipTurn* turn = data->slip_turns + i;
    if (turn->fraction > 0 && find_slip(system, data, options, laws, i, lambda, slip, force)) {
      double change[6];
      const double size = hypot(slip[0], slip[1]), *end = rows->g + rows->cones[i].row;
      tribo_dyn_rows_apply(system, rows, i, data->slip_change, change);
      set_force(turn, rows->infos[i].frame, force);
      turn->fraction = tribo_dyn_slip_turn_between(size, (slip[0] * end[0] + slip[1] * end[1]) / size,
                                                   -2 * (slip[0] * change[0] + slip[1] * change[1]) / size);
      turn->fraction = turn->fraction > SOONEST ? turn->fraction : 0;
    }
  }
  return TRIBO_OK;
}

double tribo_dyn_inverse_slip_turn(const TriboDynData* data, int c) {
  const int is_contact = c < data->ncontact && c < data->nslip_turn;
  return is_contact && is_same(data->slip_turns + c, data->contacts + c) ? data->slip_turns[c].fraction : 0;
}
