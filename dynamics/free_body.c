// Free rigid bodies in closed form.
//
// State: x centre of mass in the world, R body → world; u = ẋ in world axes, ω in body axes; so M = diag(m 1, I) is
// constant. Newton and Euler:
//
//     m u̇ = F + m g,      I ω̇ = τ − ω × Iω        (τ in body axes)
//
// The translation has constant forces within a step, so u_f = u + h (F/m + g) and x⁺ = x + h ½(u + u⁺) are exact.
// The rotation is the implicit midpoint rule in the body frame with the Cayley map:
//
//     I (ω_f − ω) = h (τ − ω̄ × Iω̄),   ω̄ = ½(ω + ω_f),   R⁺ = R Cay(hω̄),   Cay(a) = (1 − â/2)⁻¹ (1 + â/2)
//
// Without torque it keeps both invariants of the free top:
//   energy     ω̄ · I(ω_f − ω) = 0, and the left side is the change of ½ ωᵀIω;
//   momentum   with Π = Iω: Π_f − Π = −(h/2) ω̄ × (Π + Π_f), that is Π_f = Cay(hω̄)ᵀ Π, so R⁺Π_f = RΠ.
// Torques given in the world are turned into body axes half-way, at R exp(hω/2): second order.
//
// Under Euler's scheme the gyroscopic term is that of ω_f: I(ω_f − ω) = h (τ − ω_f × Iω_f). Then a spin never grows
// without a torque, ½ω_f·Iω_f − ½ω·Iω = −½(ω_f − ω)·I(ω_f − ω), at any h; with the term of ω it grows for ever.
//
// An impulse with the angular part T (body axes at R) changes the momentum by RT, and where the body ends, R⁺, depends
// on the velocity it then has. ω_f + I⁻¹T would put the new momentum into axes that have turned meanwhile: an error of
// order h. Instead ω⁺ solves the balance in the world,
//
//     R⁺(ω⁺) I ω⁺ = R_f I ω_f + R T,     R_f = R Cay(hω̄),
//
// with R⁺(ω⁺) the rotation that advance will make. Two bodies that push each other at one point then keep their common
// angular momentum to rounding.
#include "free_body.h"
#include "small_dense.h"

#include <float.h>

enum { NEWTON_MAX = 30 };

void tribo_dyn_body_pose(const FreeBody* body, const double q[7], TriboPose* pose) {
  double arm[3];
  tribo_quat_to_mat(pose->R, q + 3);
  tribo_mul33v(arm, pose->R, body->com);
  tribo_sub3(pose->p, q, arm);
}

void tribo_dyn_body_twist(const FreeBody* body, const TriboPose* pose, const double v[6], TriboTwist* twist) {
  double arm[3], swing[3];
  tribo_mul33v(twist->w, pose->R, v + 3);
  tribo_mul33v(arm, pose->R, body->com);
  tribo_cross3(swing, twist->w, arm);
  tribo_sub3(twist->v, v, swing);
}

// q ⊗ the rotation `turn`; a turn of exactly nothing changes no bit, so a body at rest stays where it is.
static void rotate(double q_next[4], const double q[4], const double turn[4]) {
  if (turn[0] == 0 && turn[1] == 0 && turn[2] == 0) {
    memmove(q_next, q, 4 * sizeof *q);
    return;
  }
  double product[4];
  tribo_quat_mul(product, q, turn);
  tribo_quat_normalize(product);
  memcpy(q_next, product, sizeof product);
}

// Newton for x with  I(x − ω) + s (x × Ix − τ) = 0; its derivative is I + s (x^ I − (Ix)^). Returns 0 where it does not
// converge, which was only seen above 2 rad per step.
static int find_spin(const FreeBody* body, double s, const double w[3], const double torque[3], double x[3]) {
  const double* I = body->inertia;
  double last = INFINITY;
  tribo_copy3(x, w);
  for (int pass = 0; pass < NEWTON_MAX; ++pass) {
    double change[3], spin[3], gyro[3], residual[3], A[9], inverse[9], step[3];
    tribo_sub3(change, x, w);
    tribo_mul33v(residual, I, change);
    tribo_mul33v(spin, I, x);
    tribo_cross3(gyro, x, spin);
    for (int i = 0; i < 3; ++i) {
      residual[i] += s * (gyro[i] - torque[i]);
    }
    double S[9], L[9];
    tribo_skew33(S, x);
    tribo_skew33(L, spin);
    tribo_mul33(A, S, I);
    for (int i = 0; i < 9; ++i) {
      A[i] = I[i] + s * (A[i] - L[i]);
    }
    if (tribo_inv33(inverse, A) == 0) {
      return 0;
    }
    tribo_mul33v(step, inverse, residual);
    tribo_sub3(x, x, step);

    // done when the step is at rounding, or no longer shrinks there
    const double size = tribo_norm3(step), scale = tribo_norm3(x);
    if (size <= DBL_EPSILON * scale || (size <= 1e-12 * scale && size >= 0.5 * last)) {
      return 1;
    }
    last = size;
  }
  return 0;
}

// For spins that a step cannot resolve: the momentum is turned by the start velocity, Π_f = exp(−hω) Π + hτ. It keeps
// its length, so the energy stays bounded for any h.
static void frozen_spin(const FreeBody* body, double h, const double w[3], const double torque[3], double w_next[3]) {
  double turn[4], back[3], R[9], spin[3], turned[3];
  tribo_scale3(back, -h, w);
  tribo_quat_exp(turn, back);
  tribo_quat_to_mat(R, turn);
  tribo_mul33v(spin, body->inertia, w);
  tribo_mul33v(turned, R, spin);
  tribo_axpy3(turned, turned, h, torque);
  tribo_mul33v(w_next, body->inverse, turned);
}

// The spin at the end of a step: by the midpoint rule, or by Euler's scheme with the gyroscopic term at the end.
static void next_spin(const FreeBody* body, const TriboStepOptions* options, const double w[3], const double torque[3],
                      double w_next[3]) {
  const int is_euler = options->scheme == TRIBO_SCHEME_EULER;
  double x[3];
  if (!find_spin(body, (is_euler ? 1 : 0.5) * options->h, w, torque, x)) {
    frozen_spin(body, options->h, w, torque, w_next);
    return;
  }
  for (int i = 0; i < 3; ++i) {
    w_next[i] = is_euler ? x[i] : 2 * x[i] - w[i];
  }
}

void tribo_dyn_body_free_velocity(const FreeBody* body, const TriboStepOptions* options, const double q[7],
                                  const double v[6], const double* tau, const double* wrench, double v_free[6]) {
  const double h = options->h, *w = v + 3;
  double force[3] = {0, 0, 0}, torque[3] = {0, 0, 0};
  if (tau != NULL) {
    tribo_copy3(force, tau);
    tribo_copy3(torque, tau + 3);
  }
  if (wrench != NULL) {
    tribo_add3(force, force, wrench);
  }
  if (wrench != NULL && (wrench[3] != 0 || wrench[4] != 0 || wrench[5] != 0)) {
    // the orientation in which a world torque is felt: half-way for the midpoint rule
    double lead = options->scheme == TRIBO_SCHEME_EULER ? 0 : 0.5 * h;
    double half[3], turn[4], middle[4], R[9], local[3];
    tribo_scale3(half, lead, w);
    tribo_quat_exp(turn, half);
    rotate(middle, q + 3, turn);
    tribo_quat_to_mat(R, middle);
    tribo_mul33tv(local, R, wrench + 3);
    tribo_add3(torque, torque, local);
  }
  for (int i = 0; i < 3; ++i) {
    v_free[i] = v[i] + h * (options->gravity[i] + force[i] / body->mass);
  }
  next_spin(body, options, w, torque, v_free + 3);
}

// How far a body turns within a step, relative to where it was: with `before` up to the share `split`, then `after`.
static void turn_in_step(double h, double split, const double before[3], const double after[3], double E[9]) {
  double part[3], first[4], second[4], both[4];
  tribo_scale3(part, split * h, before);
  tribo_quat_exp(first, part);
  tribo_scale3(part, (1 - split) * h, after);
  tribo_quat_exp(second, part);
  tribo_quat_mul(both, first, second);
  tribo_quat_normalize(both);
  tribo_quat_to_mat(E, both);
}

// Newton for the balance above in the axes of R:  F = Iω⁺ − Eᵀ L,  L = Cay(hω̄) Iω_f + T;  F' ≈ I − (1 − θ)h (EᵀL)^.
// w_next comes in as ω_f + I⁻¹T and stays so where the turn is too small to matter or too large to be resolved.
void tribo_dyn_body_spin(const FreeBody* body, double h, double split, TriboBodyMotion motion, const double w[3],
                         const double w_free[3], const double torque[3], double w_next[3]) {
  const double turn = h * (tribo_norm3(w) + tribo_norm3(w_free) + tribo_norm3(w_next));
  if (!(turn > 1e-8 && turn < 1)) {
    return;
  }
  double mean[3], cayley[4], C[9], spin[3], L[3], x[3], last = INFINITY;
  for (int i = 0; i < 3; ++i) {
    mean[i] = 0.5 * h * (w[i] + w_free[i]);
  }
  tribo_quat_cayley(cayley, mean);
  tribo_quat_to_mat(C, cayley);
  tribo_mul33v(spin, body->inertia, w_free);
  tribo_mul33v(L, C, spin);
  tribo_add3(L, L, torque);
  tribo_copy3(x, w_next);
  for (int pass = 0; pass < NEWTON_MAX; ++pass) {
    double before[3], after[3], E[9], y[3], F[3], A[9], inverse[9], step[3];
    for (int i = 0; i < 3; ++i) {
      const double flight = motion == BODY_BALLISTIC ? 0.5 * (w_free[i] - w[i]) : 0;
      before[i] = w[i] + split * flight;
      after[i] = motion == BODY_LASTS ? 0.5 * (w[i] + x[i]) : x[i] - (1 - split) * flight;
    }
    turn_in_step(h, split, before, after, E);
    tribo_mul33tv(y, E, L);
    tribo_mul33v(F, body->inertia, x);
    tribo_sub3(F, F, y);
    double S[9];
    tribo_skew33(S, y);
    for (int i = 0; i < 9; ++i) {
      A[i] = body->inertia[i] - (motion == BODY_LASTS ? 0.5 : 1 - split) * h * S[i];
    }
    if (tribo_inv33(inverse, A) == 0) {
      return;
    }
    tribo_mul33v(step, inverse, F);
    tribo_sub3(x, x, step);
    const double size = tribo_norm3(step), scale = tribo_norm3(x);
    if (size <= DBL_EPSILON * scale || (size <= 1e-12 * scale && size >= 0.5 * last)) {
      tribo_copy3(w_next, x);
      return;
    }
    last = size;
  }
}

// T = E(ω⁺) Iω⁺ − Cay(hω̄) Iω_f, or I(ω⁺ − ω_f) where the turn is left out above.
void tribo_dyn_body_torque(const FreeBody* body, double h, TriboBodyMotion motion, const double w[3],
                           const double w_free[3], const double w_next[3], double torque[3]) {
  double next[3], free[3];
  tribo_mul33v(next, body->inertia, w_next);
  tribo_mul33v(free, body->inertia, w_free);
  const double turn = h * (tribo_norm3(w) + tribo_norm3(w_free) + tribo_norm3(w_next));
  if (turn > 1e-8 && turn < 1) {
    double mean[3], after[3], cayley[4], C[9], E[9], turned[3];
    for (int i = 0; i < 3; ++i) {
      mean[i] = 0.5 * h * (w[i] + w_free[i]);
    }
    tribo_quat_cayley(cayley, mean);
    tribo_quat_to_mat(C, cayley);
    for (int i = 0; i < 3; ++i) {
      after[i] = motion == BODY_LASTS ? 0.5 * (w[i] + w_next[i]) : w_next[i];
    }
    turn_in_step(h, 0, w, after, E);
    tribo_mul33v(turned, E, next);
    tribo_copy3(next, turned);
    tribo_mul33v(turned, C, free);
    tribo_copy3(free, turned);
  }
  tribo_sub3(torque, next, free);
}

void tribo_dyn_body_integrate(const double q[7], const double dv[6], double q_next[7]) {
  double turn[4];
  tribo_quat_exp(turn, dv + 3);
  tribo_add3(q_next, q, dv);
  rotate(q_next + 3, q + 3, turn);
}

void tribo_dyn_body_difference(const double q0[7], const double q1[7], double dv[6]) {
  const double back[4] = {-q0[3], -q0[4], -q0[5], q0[6]};
  double turn[4];
  tribo_sub3(dv, q1, q0);
  tribo_quat_mul(turn, back, q1 + 3);

  // logarithm of the shorter way round: the angle 2 atan2(|xyz|, w) about xyz
  double sign = turn[3] < 0 ? -1.0 : 1.0, s = tribo_norm3(turn);
  double factor = s > 1e-8 ? 2 * atan2(s, sign * turn[3]) / s : 2;
  tribo_scale3(dv + 3, sign * factor, turn);
}

// Smooth motion uses the maps of the derivation above. Through a contact v⁺ holds for all the time after the impact,
// and then the exponential is the exact rotation: a wheel that rolls with ω turns by hω per step, not by 2 atan(hω/2).
void tribo_dyn_body_advance(double h, double split, const double q[7], const double v[6], const double v_next[6],
                            double q_next[7]) {
  double part[6];
  if (split == TRIBO_DYN_SMOOTH) {
    double turn[4];
    for (int i = 0; i < 6; ++i) {
      part[i] = 0.5 * h * (v[i] + v_next[i]);
    }
    tribo_quat_cayley(turn, part + 3);
    tribo_add3(q_next, q, part);
    rotate(q_next + 3, q + 3, turn);
    return;
  }
  memmove(q_next, q, 7 * sizeof *q);
  if (split > 0) {
    for (int i = 0; i < 6; ++i) {
      part[i] = split * h * v[i];
    }
    tribo_dyn_body_integrate(q_next, part, q_next);
  }
  for (int i = 0; i < 6; ++i) {
    part[i] = (1 - split) * h * v_next[i];
  }
  tribo_dyn_body_integrate(q_next, part, q_next);
}
