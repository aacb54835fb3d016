// How a contact that lasts goes on within a step: its point and its normal move, and its rows J with them.
//
// Surfaces a and b touch at p, n from a to b. By how much a point of a surface moves when its outward normal turns is
// the Hessian H of its support function there, the radii of curvature: r on a sphere, 0 at a corner, as good as
// infinite where it is flat. Bodies whose material at p has the velocities V, and which turn with ω, carry p and n with
//
//     ṗ = V_a + H_a (ṅ − ω_a×n) = V_b − H_b (ṅ − ω_b×n)         along the tangents, so that
//     (H_a + H_b + φ) ṅ = V_b − V_a + H_a (ω_a×n) + H_b (ω_b×n)
//
// with the gap φ. A wheel's point so runs along the ground with its hub, a corner's stays at the corner, and what lies
// on a turning face keeps that face's normal. A row J v is the velocity u = V_b − V_a along an axis f of the frame,
// which turns with Ω = n×ṅ. When joints and bodies go on as they do, v̇ = 0, it changes by
//
//     h J̇v = h f·(A_b + ω_b×(ṗ − V_b) − A_a − ω_a×(ṗ − V_a) + u×Ω),
//
// A the accelerations of the material there; likewise for rows about an axis. That is the turn δ of the rows.
//
// About n the frame turns with a body whose corner it is: points of a face and what acts at them then turn alike, and
// impulses that cancel at the start do so at the end.
//
// Impulses of contacts that only last act half at q and half at q⁺, there at p + hṗ and turned by hΩ. So the rows of
// the problem are the mean of both ends, J̄ = J + ½hJ̇, and the law, on J⁺v⁺ = J̄v⁺ + (J + hJ̇ − J̄)v, is that of the
// velocity with which the step ends: with constant masses ΔE = ½λ·J̄(v + v⁺), which the law keeps from rising. (With J
// alone it is met up to ½ J M⁻¹(J⁺ − J)ᵀλ only: a block that slides down a wedge then turns the wedge.) Columns of a
// tree go on with the links that carry them, by V×s. What floats has its forces and torques along its axes at the
// start, torques about the origin of a root or the centre of a body, which goes on. So J̄ᵀλ is all that the step has to
// know: half of it acts at either end, and force and torque stay there in the world what they were (tree_instant.c,
// free_body.c).
//
// Of two bodies that lean on each other alone this keeps the angular momentum up to O(h³) only: they have a step of
// impulses (assemble.c).
#include <float.h>

#include "dyn_data.h"
#include "small_dense.h"

// Slower than this nothing turns that a step could show [m/s, rad/s].
static const double STILL = 1e-9;
// A normal that turns farther in a step [rad], a point that runs farther along its surface [m], or two surfaces that
// both are sharper than this radius [m], are not followed.
static const double FARTHEST = 0.5, LONGEST = 0.1, SHARPEST = 1e-4;
// Edges and faces, by their radius [m]; faces that turn less against each other in a step [rad] lie on each other.
static const double LARGEST = 1e6, LEVEL = 1e-7;

// The bodies of a contact: velocities of their material at the point, and how they turn.
typedef struct Sides {
  double V[2][3], w[2][3];
  int moves[2];
} Sides;

static Sides find_sides(const TriboDynData* data, const TriboTwist* twists, const TriboContact* contact) {
  Sides s = {0};
  for (int k = 0; k < 2; ++k) {
    const int body = k == 0 ? contact->body_a : contact->body_b;
    if (body != TRIBO_WORLD_BODY) {
      double arm[3];
      tribo_sub3(arm, contact->point, data->poses[body].p);
      tribo_cross3(s.V[k], twists[body].w, arm);
      tribo_add3(s.V[k], s.V[k], twists[body].v);
      tribo_copy3(s.w[k], twists[body].w);
      s.moves[k] = 1;
    }
  }
  return s;
}

static int is_still(const Sides* s) {
  return tribo_max_abs(s->V[0], 6) <= STILL && tribo_max_abs(s->w[0], 6) <= STILL;
}

// The acceleration of the material of a body at a point when velocities stay as they are, and that of its turn.
static void accelerate(const TriboSystem* system, const TriboDynData* data, int body, const double point[3],
                       const double w[3], double A[3], double alpha[3]) {
  const int block = tribo_dyn_block_of(system, body);
  double arm[3], across[3];
  tribo_set3(A, 0, 0, 0);
  tribo_set3(alpha, 0, 0, 0);
  if (block < 0) {
    return;
  }
  if (block < system->info.nfree) {
    tribo_sub3(arm, point, data->q + system->info.block_q[block]);
  } else {
    const TreePart* part = system->trees + (block - system->info.nfree);
    const TreeMotion* m = data->motions + system->block_v[block] + part->joint_of[body - part->body];
    // (seen from the tree's own origin)
    tribo_dyn_tree_origin(part, data->q + system->block_q[block], arm);
    tribo_sub3(arm, point, arm);
    tribo_copy3(alpha, m->alpha);
    tribo_cross3(A, alpha, arm);
    tribo_add3(A, A, m->acc);
  }
  tribo_cross3(across, w, arm);
  tribo_cross3(arm, w, across);
  tribo_add3(A, A, arm);
}

// ṗ and Ω of what the surfaces say; 0: nothing.
static int follow(const TriboStepOptions* options, const TriboContact* contact, const ContactTurn* turn, const Sides* s,
                  double rate[3], double omega[3]) {
  const double* n = contact->normal;
  const double size[2] = {turn->H[0][0] + turn->H[0][4] + turn->H[0][8], turn->H[1][0] + turn->H[1][4] + turn->H[1][8]};
  const int flat = size[0] > size[1] ? 0 : 1, round = 1 - flat;
  // seen from the flatter body: ṅ − ω×n, of digits that its size does not swallow
  double t[2][3], spin[3], sweep[3], rhs[3], M[4], away[3], run[3];
  tribo_tangents(t[0], t[1], n);
  tribo_sub3(spin, s->w[round], s->w[flat]);
  tribo_cross3(sweep, spin, n);
  // what lies flat goes as one, all points of a face alike: else they contradict each other
  const int is_sharp = size[round] == 0 || size[round] > LARGEST;
  if (is_sharp && options->h * tribo_norm3(sweep) < LEVEL) {
    return 0;
  }
  tribo_mul33v(rhs, turn->H[round], sweep);
  tribo_add3(rhs, rhs, s->V[1]);
  tribo_sub3(rhs, rhs, s->V[0]);
  for (int i = 0; i < 4; ++i) {
    double column[2][3];
    tribo_mul33v(column[0], turn->H[0], t[i / 2]);
    tribo_mul33v(column[1], turn->H[1], t[i / 2]);
    M[i] = tribo_dot3(t[i % 2], column[0]) + tribo_dot3(t[i % 2], column[1]);
  }
  const double gap = fmax(contact->gap, 0), a = M[0] + gap, b = M[1], c = M[3] + gap, det = a * c - b * b;
  if (!(det > SHARPEST * (a + c))) {
    return 0;
  }
  const double x = tribo_dot3(t[0], rhs), y = tribo_dot3(t[1], rhs);
  for (int i = 0; i < 3; ++i) {
    away[i] = ((c * x - b * y) * t[0][i] + (a * y - b * x) * t[1][i]) / det;
  }
  tribo_sub3(sweep, away, sweep);
  tribo_mul33v(run, turn->H[round], sweep);
  tribo_axpy3(rate, s->V[round], round == 0 ? 1 : -1, run);
  // Ω = n × (away + ω×n)
  tribo_cross3(omega, n, away);
  tribo_add3(omega, omega, s->w[flat]);
  tribo_axpy3(omega, omega, (is_sharp ? tribo_dot3(s->w[round], n) : 0) - tribo_dot3(omega, n), n);
  if (options->h * tribo_norm3(run) >= LONGEST) {
    // (an edge tips up from a face: from now on it is one of its ends)
    tribo_copy3(rate, s->V[round]);
  }
  return options->h * tribo_norm3(away) < FARTHEST;
}

// ṗ and Ω. Where the surfaces do not say how the normal turns, 0: both are the means of the bodies that move.
static int find_rates(const TriboStepOptions* options, const TriboContact* contact, const ContactTurn* turn,
                      const Sides* s, double rate[3], double omega[3]) {
  if (follow(options, contact, turn, s, rate, omega)) {
    return 1;
  }
  const double fraction = 1.0 / (s->moves[0] + s->moves[1]);
  for (int i = 0; i < 3; ++i) {
    rate[i] = fraction * (s->V[0][i] + s->V[1][i]);
    omega[i] = fraction * (s->w[0][i] + s->w[1][i]);
  }
  return 0;
}

// How far the point goes at this rate, from a body's own. Its lever there turns, and about itself as the body does: so
// a corner goes round with the body, and the lever of a wheel stands still. Where it is carried along, that is by
// `omega`: all points of a face as by one rigid body.
static void find_way(const TriboSystem* system, const TriboDynData* data, double h, const TriboContact* contact,
                     const Sides* s, const double rate[3], const double* omega, double way[3]) {
  const int k = s->moves[1] ? 1 : 0, body = k == 0 ? contact->body_a : contact->body_b;
  const int block = tribo_dyn_block_of(system, body);
  const double* x = block < system->info.nfree ? data->q + system->info.block_q[block] : data->poses[body].p;
  double lever[3], hub[3], goes[3], about[3], half[4], R[9], next[3], grows = 0;
  tribo_sub3(lever, contact->point, x);
  if (omega != NULL) {
    tribo_cross3(goes, omega, lever);
    tribo_sub3(hub, rate, goes);
    tribo_scale3(about, h, omega);
  } else {
    const double square = fmax(tribo_dot3(lever, lever), DBL_MIN);
    tribo_cross3(about, s->w[k], lever);
    tribo_sub3(hub, s->V[k], about);
    tribo_sub3(goes, rate, hub);
    grows = h * tribo_dot3(lever, goes) / square;
    tribo_cross3(about, lever, goes);
    tribo_axpy3(about, about, tribo_dot3(s->w[k], lever), lever);
    tribo_scale3(about, h / square, about);
  }
  tribo_quat_cayley(half, about);
  tribo_quat_to_mat(R, half);
  tribo_mul33v(next, R, lever);
  for (int i = 0; i < 3; ++i) {
    way[i] = h * hub[i] + (1 + grows) * next[i] - lever[i];
  }
}

// Where a contact counts for its turn: points of a face in one plane, however they lie to 1e-5 m. Their rows are
// affine in their places then, as those of a rigid body have to be.
static TriboContact level(const TriboContact* contact, const TriboContact* first) {
  TriboContact out = *contact;
  double away[3];
  tribo_sub3(away, first->point, contact->point);
  tribo_axpy3(out.point, out.point, tribo_dot3(away, contact->normal), contact->normal);
  return out;
}

void tribo_dyn_contact_turn(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                            const TriboContact* own, const TriboContact* first, ContactTurn* turn) {
  const TriboContact leveled = level(own, first), *contact = &leveled;
  const Sides lead = find_sides(data, data->scratch_twists, first), s = find_sides(data, data->scratch_twists, contact);
  if (is_still(&lead)) {
    return;
  }
  double rate[3], omega[3], A[3], alpha[3], slip[3], spin[3], ahead[3], across[3];
  turn->is_known = 1;
  if (options->roundness != NULL) {
    options->roundness(options->surfaces, own, data->poses, turn->H[0], turn->H[1]);
  }
  const int is_followed = find_rates(options, contact, turn, &s, rate, omega);
  tribo_sub3(slip, s.V[1], s.V[0]);
  tribo_cross3(turn->bend, slip, omega);
  tribo_sub3(spin, s.w[1], s.w[0]);
  tribo_cross3(turn->twist, spin, omega);
  for (int k = 0; k < 2; ++k) {
    const double sign = k == 0 ? -1 : 1;
    accelerate(system, data, k == 0 ? contact->body_a : contact->body_b, contact->point, s.w[k], A, alpha);
    tribo_sub3(ahead, rate, s.V[k]);
    tribo_cross3(across, s.w[k], ahead);
    tribo_add3(A, A, across);
    tribo_axpy3(turn->bend, turn->bend, sign, A);
    tribo_axpy3(turn->twist, turn->twist, sign, alpha);
  }
  tribo_scale3(turn->bend, options->h, turn->bend);
  tribo_scale3(turn->twist, options->h, turn->twist);
  tribo_copy3(turn->slip, slip);
  tribo_copy3(turn->spin, spin);
  find_way(system, data, options->h, contact, &s, rate, is_followed ? NULL : omega, turn->way);
  tribo_scale3(turn->turn, options->h, omega);
  tribo_cross3(across, spin, contact->normal);
  turn->angle = options->h * tribo_norm3(across);
}

// The columns of a tree after a step of h: ṡ = V × s, V the twist of the link that carries them.
static void carry_columns(const TreePart* part, const TriboPose* poses, const TriboTwist* twists, const double* jac,
                          double h, const double* v, double* out) {
  for (int j = 0; j < part->njoint; ++j) {
    const TreeJoint* joint = part->joints + j;
    const TriboTwist* twist = twists + joint->link;
    double V[6], lever[3];
    tribo_cross3(lever, twist->w, poses[joint->link].p);
    tribo_sub3(V, twist->v, lever);
    tribo_copy3(V + 3, twist->w);
    if (joint->parent < 0 && part->info->links[joint->link].kind == TRIBO_JOINT_FREE) {
      // (along its axes at the start, about its origin)
      tribo_copy3(V, twist->v);
      tribo_set3(V + 3, 0, 0, 0);
    }
    for (int k = joint->v_at + joint->nv - 1; k >= joint->v_at; --k) {
      const double* s = jac + 6 * k;
      double a[3], b[3];
      tribo_cross3(a, V + 3, s);
      tribo_cross3(b, V, s + 3);
      for (int i = 0; i < 3; ++i) {
        out[6 * k + i] = s[i] + h * (a[i] + b[i]);
      }
      tribo_cross3(a, V + 3, s + 3);
      tribo_axpy3(out + 6 * k + 3, s + 3, h, a);
      // (of axes that carry each other the one before goes without this one)
      const double own = joint->axes_are_carried ? v[k] : 0;
      for (int i = 0; i < 6; ++i) {
        V[i] -= own * s[i];
      }
    }
  }
}

void tribo_dyn_contacts_ahead(const TriboSystem* system, TriboDynData* data, double h, const double* v) {
  const TriboSystemInfo* info = &system->info;
  for (int b = 0; b < info->nblock; ++b) {
    const int at = info->block_v[b];
    if (!data->lasts[b]) {
      continue;
    }
    if (b < info->nfree) {
      tribo_axpy3(data->ahead_q + info->block_q[b], data->q + info->block_q[b], h, v + at);
    } else {
      const TreePart* part = system->trees + (b - info->nfree);
      carry_columns(part, data->poses + part->body, data->scratch_twists + part->body, data->jac + 6 * at, h, v + at,
                    data->ahead_jac + 6 * at);
    }
  }
}

void tribo_dyn_contact_mean_rows(const TriboSystem* system, TriboDynData* data, const TriboContact* contact,
                                 const ContactTurn* turn, const double frame[9], const double* v, double* bent) {
  Rows* rows = &data->rows;
  const int c = rows->ncone - 1, dim = rows->cones[c].dim;
  const Place place[2] = {{data->q, data->poses, data->jac}, {data->ahead_q, data->poses, data->ahead_jac}};
  double point[2][3], R[9], half[4], mean[6];
  RowAxis axes[2][6];
  tribo_quat_cayley(half, turn->turn);
  tribo_quat_to_mat(R, half);
  tribo_copy3(point[0], contact->point);
  tribo_add3(point[1], contact->point, turn->way);
  tribo_dyn_contact_axes(frame, dim, axes[0]);
  for (int i = 0; i < dim; ++i) {
    const RowAxis* axis = &axes[0][i];
    axes[1][i].angular = axis->angular;
    tribo_mul33v(axes[1][i].direction, R, axis->direction);
    bent[i] = tribo_dot3(axis->direction, axis->angular ? turn->spin : turn->slip) +
              tribo_dot3(axis->direction, axis->angular ? turn->twist : turn->bend);
  }
  tribo_dyn_rows_mean(system, place, rows, contact->body_a, contact->body_b, point, axes);
  tribo_dyn_rows_apply(system, rows, c, v, mean);
  for (int i = 0; i < dim; ++i) {
    bent[i] -= mean[i];
  }
}
