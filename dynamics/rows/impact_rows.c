// The rows of an impact between two free bodies, where it happens.
//
// Bodies that rebound from each other divide the step at the fraction θ at which they meet (normal_row.c). The impulse
// acts there, at x + θh ū of each body, ū = u + ½θ(u_f − u) the mean velocity up to then, at the point and along the
// normal that they have by then: contact_turn.c says how these go on in θh, or the collision knows. Equal and opposite
// impulses at one point keep momentum and angular momentum. Rows at q would let the balls part up to h before they
// touch, along a line of centres that still turns.
//
// For that both must meet nothing else in the step: there is one θ for all that pushes a body, and the others' rows are
// those of q. So it is with the first impact only, between bodies with one contact each.
#include "dyn_data.h"

// The velocity of b against a along the normal of a contact; mean: that of both at its point.
static double parting(const TriboDynData* data, const TriboTwist* twists, const TriboContact* contact, double mean[3]) {
  double speed = 0;
  tribo_set3(mean, 0, 0, 0);
  for (int k = 0; k < 2; ++k) {
    const int body = k == 0 ? contact->body_a : contact->body_b;
    double arm[3], velocity[3];
    tribo_sub3(arm, contact->point, data->poses[body].p);
    tribo_cross3(velocity, twists[body].w, arm);
    tribo_add3(velocity, velocity, twists[body].v);
    tribo_axpy3(mean, mean, 0.5, velocity);
    speed += (k == 0 ? -1 : 1) * tribo_dot3(contact->normal, velocity);
  }
  return speed;
}

int tribo_dyn_impact_rows(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                          const double* v, const TriboContact* contact, const TriboContactLaw* law,
                          const double frame[9]) {
  const int blocks[2] = {tribo_dyn_block_of(system, contact->body_a), tribo_dyn_block_of(system, contact->body_b)};
  if (options->scheme == TRIBO_SCHEME_EULER || data->is_inverse || !(law->restitution > 0) || !(contact->gap > 0)) {
    return 0;
  }
  for (int k = 0; k < 2; ++k) {
    if (blocks[k] < 0 || blocks[k] >= system->info.nfree || system->cluster[blocks[k]] >= 0 ||
        data->contacts_at[blocks[k]] != 1) {
      return 0;
    }
  }
  double mean[3];
  const double free = parting(data, data->twists, contact, mean);
  const double old = parting(data, data->scratch_twists, contact, mean);
  if (!(old < -options->bounce_min && contact->gap + options->h * free <= 0)) {
    return 0;
  }
  const double fraction = tribo_dyn_impact_fraction(contact->gap, options->h, old, free);
  ContactTurn turn = {0};
  TriboStepOptions until = *options;
  until.h = fraction * options->h;
  if (contact->is_ahead) {
    tribo_scale3(turn.way, until.h, mean);
  } else {
    tribo_dyn_contact_turn(system, data, &until, contact, contact, &turn);
  }

  Rows* rows = &data->rows;
  const int c = rows->ncone - 1, dim = rows->cones[c].dim;
  const Place place = {data->ahead_q, data->poses, data->jac};
  RowAxis axes[6];
  double point[3], R[9], half[4];
  for (int k = 0; k < 2; ++k) {
    const int q = system->info.block_q[blocks[k]], at = system->info.block_v[blocks[k]];
    for (int i = 0; i < 3; ++i) {
      const double flight = data->v_free[at + i] - v[at + i];
      data->ahead_q[q + i] = data->q[q + i] + until.h * (v[at + i] + 0.5 * fraction * flight);
    }
  }
  tribo_quat_cayley(half, turn.turn);
  tribo_quat_to_mat(R, half);
  tribo_add3(point, contact->point, turn.way);
  tribo_dyn_contact_axes(frame, dim, axes);
  for (int i = 0; i < dim; ++i) {
    double turned[3];
    tribo_mul33v(turned, R, axes[i].direction);
    tribo_copy3(axes[i].direction, turned);
  }
  tribo_dyn_rows_pair(system, &place, rows, contact->body_a, contact->body_b, point, axes);
  rows->impact[c] = fraction;
  return 1;
}
