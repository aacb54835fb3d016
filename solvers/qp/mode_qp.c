// The best point of given modes: convex programs, within two loops over angles.
//
// Cones of contacts that stick are outer tangents t, the program's value V(t) is below that of the cone and is largest
// where the tangent touches at the answer. Slip directions u of contacts that slide are fixed in a program; V(u) is to
// be smallest. Both are Newton's method on V with the exact second derivative. With the Lagrangian L = ½‖y − y0‖² − Σ
// u_j r_j, rows r_j whose tangential coefficients turn with the angle θ,
//
//     V'  = −Σ u_j r_j',       V''_ik = [i = k] Σ u_j r_j^T + c_i·y'_k − e_i·u'_k
//
// r' the row turned by a quarter, r^T its tangential part (r'' = −r^T), c = −Σ u_j row_j' (∂L'/∂y), e = r' and (y'_k,
// u'_k) how the answer follows angle k while its active rows stay (tribo_sol_ldp_respond). All programs of a point that
// are solved obey the contact law, so that a search that ends early costs f, never feasibility.
#include <math.h>
#include <string.h>

#include "la.h"
#include "qpcc_impl.h"
#include "small_dense.h"

enum { MOST_CONE_ROUNDS = 40, MOST_HALVINGS = 6, COMPARING = 3, REFINEMENTS = 3, MOST_TURNS = 25 };
static const double NEARLY = 1e4;  // [slacks] off the contact law: three corrections, each squaring it, end at rounding
static const double RATIO_LEAST = 1e-9;   // s/(μ n), and its inverse: beyond, one of the two is zero
static const double FARTHEST_TURN = 0.5;  // [rad] of one step: V is smooth over less than a mode's quadrant
// Relative gain below which a better direction is not worth a program: modes are compared to 1e-6; of the answer
// Newton's last step, which squares what is left.
static const double GAIN_COMPARED = 1e-8, GAIN_FINAL = 1e-15;

void tribo_sol_mode_copy(const TriboQpccSolver* s, const ModePoint* from, ModePoint* to) {
  const size_t n = (size_t)s->ncon;
  memcpy(to->mode, from->mode, n);
  memcpy(to->angle, from->angle, n * sizeof *to->angle);
  memcpy(to->cut, from->cut, MOST_CUTS * n * sizeof *to->cut);
  memcpy(to->ncut, from->ncut, n);
  memcpy(to->ratio, from->ratio, n * sizeof *to->ratio);
  to->turns = from->turns;
  memcpy(to->z, from->z, (size_t)s->ld * sizeof *to->z);
  to->f = from->f;
}

static int in_space(const TriboQpccSolver* s, const ModePoint* p, int contact, int mode) {
  return p->mode[contact] == mode && s->problem->dim[contact] == 3 && s->problem->mu[contact] > 0;
}

// ---- derivatives

// The angles of the program that was solved: slip directions, then active tangents. Fills angle_of with the contact, or
// −1 − (place among the active rows); slope with V', and hessian (column-major) with V''.
static int derivatives(TriboQpccSolver* s, const ModePoint* p, int slips) {
  TriboLeastDistance* q = &s->ldp;
  const size_t ld = (size_t)s->ld, na = (size_t)q->nactive;
  int count = 0;
  const int fixed = slips && !p->turns;
  for (int i = 0; i < s->ncon; ++i) {
    if (fixed && in_space(s, p, i, TRIBO_QPCC_SLIDE)) {
      s->angle_of[count++] = i;
    }
  }
  for (int j = 0; j < q->nactive; ++j) {
    if (s->rows[q->active[j]].turns == ANGLE_CONE && q->u[j] > 0 && count < 2 * s->ncon) {
      s->angle_of[count++] = -1 - j;
    }
  }
  tribo_sol_qpcc_sigma(s, p->z, s->sigma);
  for (int k = 0; k < count; ++k) {
    double *c = s->angle_c + (size_t)k * ld, *e = s->angle_e + (size_t)k * ld;
    memset(c, 0, ld * sizeof *c);
    memset(e, 0, ld * sizeof *e);
    s->slope[k] = s->hessian[(size_t)k * (size_t)count + (size_t)k] = 0;
    for (int j = 0; j < q->nactive; ++j) {
      const ModeRow* row = &s->rows[q->active[j]];
      const int mine =
          s->angle_of[k] < 0 ? -1 - s->angle_of[k] == j : row->contact == s->angle_of[k] && row->turns == ANGLE_SLIP;
      if (!mine) {
        continue;
      }
      ModeRow turned = tribo_sol_mode_turned(s, row), tangential = *row;
      const int normal = s->problem->dim[row->contact] - 1;
      tangential.sigma[normal] = tangential.lambda[normal] = 0;
      tribo_sol_mode_whitened(s, &turned, s->dy);
      tribo_subtract(s->ld, q->u[j], s->dy, c);
      e[j] = tribo_sol_mode_value(s, &turned, p->z, s->sigma);
      s->slope[k] -= q->u[j] * e[j];
      s->hessian[(size_t)k * (size_t)count + (size_t)k] +=
          q->u[j] * tribo_sol_mode_value(s, &tangential, p->z, s->sigma);
    }
    tribo_sol_ldp_respond(q, e, c, s->angle_dy + (size_t)k * ld, s->angle_du + (size_t)k * ld);
  }
  for (int k = 0; k < count; ++k) {
    for (int i = 0; i < count; ++i) {
      double* h = &s->hessian[(size_t)k * (size_t)count + (size_t)i];
      *h = (i == k ? *h : 0) + tribo_dot(s->angle_c + (size_t)i * ld, s->angle_dy + (size_t)k * ld, s->ld) -
           tribo_dot(s->angle_e + (size_t)i * ld, s->angle_du + (size_t)k * ld, (int)na);
    }
  }
  return count;
}

// slope ← −V''⁻¹ V', at most a turn; an angle that nothing depends on stays. 0: no matrix to solve with.
static int newton_step(TriboQpccSolver* s, int count) {
  for (int k = 0; k < count; ++k) {
    double* h = &s->hessian[(size_t)k * (size_t)count + (size_t)k];
    s->slope[k] = -s->slope[k];
    if (*h == 0) {
      *h = 1;
    }
  }
  if (tribo_la_lu(count, s->hessian, count, s->pivot) != 0) {
    return 0;
  }
  tribo_la_lu_solve(count, s->hessian, count, s->pivot, s->slope);
  for (int k = 0; k < count; ++k) {
    if (!isfinite(s->slope[k])) {
      return 0;
    }
    s->slope[k] = fmax(-FARTHEST_TURN, fmin(FARTHEST_TURN, s->slope[k]));
  }
  return 1;
}

// ---- cones

static double outside_cone(const TriboQpccSolver* s, const ModePoint* p, int i) {
  const double* l = p->z + s->na + s->at[i];
  return hypot(l[0], l[1]) - s->problem->mu[i] * l[2];
}

// A tangent joins those of a contact; the one that is farthest from it makes room.
static void add_cut(ModePoint* p, int i, double angle) {
  double* cut = p->cut + (size_t)i * MOST_CUTS;
  int at = p->ncut[i];
  if (at == MOST_CUTS) {
    double far = -1;
    for (int k = 0; k < MOST_CUTS; ++k) {
      const double away = fabs(remainder(cut[k] - angle, 6.283185307179586));
      at = away > far ? k : at;
      far = fmax(far, away);
    }
  } else {
    p->ncut[i]++;
  }
  cut[at] = angle;
}

// Where the tangent should have been: Newton's step of the contact's only active one, or the point's own direction
// where that tangent would not cut the point off.
static void add_cuts(TriboQpccSolver* s, ModePoint* p) {
  int count = derivatives(s, p, 0);
  count = count > 0 && newton_step(s, count) ? count : 0;
  for (int i = 0; i < s->ncon; ++i) {
    if (!in_space(s, p, i, TRIBO_QPCC_STICK) || outside_cone(s, p, i) <= tribo_sol_mode_slack(s, i)) {
      continue;
    }
    const double* l = p->z + s->na + s->at[i];
    double angle = atan2(l[1], l[0]);
    int found = -1, active = 0;
    for (int k = 0; k < count; ++k) {
      const ModeRow* row = &s->rows[s->ldp.active[-1 - s->angle_of[k]]];
      if (row->contact == i) {
        found = k;
        active++;
      }
    }
    if (active == 1) {
      const ModeRow* row = &s->rows[s->ldp.active[-1 - s->angle_of[found]]];
      const double turned = atan2(-row->lambda[1], -row->lambda[0]) + s->slope[found];
      const double cut_off = cos(turned) * l[0] + sin(turned) * l[1] - s->problem->mu[i] * l[2];
      angle = cut_off > 0 ? turned : angle;
    }
    add_cut(p, i, angle);
  }
}

// The program of the modes and slip directions with tangents until the cones hold.
static void solve_cones(TriboQpccSolver* s, ModePoint* p) {
  p->f = INFINITY;
  for (int round = 0; round < MOST_CONE_ROUNDS; ++round) {
    tribo_sol_mode_rows(s, p);
    if (!tribo_sol_mode_run(s, p->z)) {
      return;
    }
    int outside = 0;
    for (int i = 0; i < s->ncon; ++i) {
      outside = outside || (in_space(s, p, i, TRIBO_QPCC_STICK) && outside_cone(s, p, i) > tribo_sol_mode_slack(s, i));
    }
    if (!outside) {
      p->f = tribo_sol_qpcc_objective(s, p->z);
      return;
    }
    add_cuts(s, p);
  }
}

// ---- slip directions

// One Newton step on the slip directions, halved until f falls. 0: no further gain; −1: the step promised one, but f
// has an edge here, beyond which fixed directions are infeasible.
static int improve_slips(TriboQpccSolver* s, ModePoint* p, ModePoint* spare, double least) {
  const int count = derivatives(s, p, 1);
  int nslip = 0;
  while (nslip < count && s->angle_of[nslip] >= 0) {
    nslip++;
  }
  if (nslip == 0) {
    return 0;
  }
  double* first = s->gradient;
  double steepest = 0, gain = 0;
  for (int k = 0; k < nslip; ++k) {
    first[k] = s->slope[k];
    first[nslip + k] = fabs(s->hessian[(size_t)k * (size_t)count + (size_t)k]);
    steepest = fmax(steepest, fabs(first[k]));
  }
  const int solved = newton_step(s, count);
  for (int k = 0; k < nslip; ++k) {
    gain -= solved ? s->slope[k] * first[k] : 0;
  }
  if (!(gain > 0)) {
    // not towards a minimum: downhill, as far as the curvature of each angle says
    gain = 0;
    for (int k = 0; k < nslip; ++k) {
      s->slope[k] = -first[k] / fmax(first[nslip + k], 2 * steepest);
      gain -= s->slope[k] * first[k];
    }
  }
  if (0.5 * gain <= least * (p->f + s->f_floor)) {
    return 0;
  }
  double* turn = s->gradient + 2 * nslip;
  memcpy(turn, s->slope, (size_t)nslip * sizeof *turn);
  tribo_sol_mode_copy(s, p, spare);
  for (int halving = 0; halving < MOST_HALVINGS; ++halving) {
    for (int k = 0, i = 0; i < s->ncon; ++i) {
      if (in_space(s, p, i, TRIBO_QPCC_SLIDE)) {
        p->angle[i] = spare->angle[i] + ldexp(turn[k++], -2 * halving);
      }
    }
    solve_cones(s, p);
    if (p->f < spare->f) {
      return spare->f - p->f > least * (p->f + s->f_floor);
    }
  }
  tribo_sol_mode_copy(s, spare, p);
  return 0.5 * gain > GAIN_COMPARED * (p->f + s->f_floor) ? -1 : 0;
}

// Directions of the point's own speeds and forces. Returns how far these are from the contact law along them, in
// slacks.
static double turn_once(TriboQpccSolver* s, ModePoint* p) {
  double off = 0;
  tribo_sol_qpcc_sigma(s, p->z, s->sigma);
  for (int i = 0; i < s->ncon; ++i) {
    if (!in_space(s, p, i, TRIBO_QPCC_SLIDE)) {
      continue;
    }
    const double *l = p->z + s->na + s->at[i], *v = s->sigma + s->at[i], mu = s->problem->mu[i];
    const double x = v[0] - l[0] / mu, y = v[1] - l[1] / mu, length = hypot(x, y);
    if (length > tribo_sol_mode_slack(s, i)) {
      const double turn = remainder(atan2(y, x) - p->angle[i], 6.283185307179586);
      p->angle[i] += fmax(-FARTHEST_TURN, fmin(FARTHEST_TURN, turn));
      const double c = cos(p->angle[i]), sn = sin(p->angle[i]), slip = c * v[0] + sn * v[1];
      const double across = fmax(fabs(c * l[1] - sn * l[0]), fabs(c * v[1] - sn * v[0]));
      off = fmax(off, fmax(across, fabs(mu * l[2] + c * l[0] + sn * l[1])) / tribo_sol_mode_slack(s, i));
      p->ratio[i] = fmin(fmax(slip, 0) / (mu * fmax(l[2], RATIO_LEAST)), 1 / RATIO_LEAST);
    }
  }
  return off;
}

// Where directions follow from the rest (few actuators) a fixed one is infeasible. Then they are unknowns: programs
// linearised in the directions, each from the point of the one before. Newton's method on the contact law where
// nothing is left to choose, Gauss and Newton's on f where something is. Starts with s = μ n in scaled units.
static void turn_slips(TriboQpccSolver* s, ModePoint* p) {
  double last = INFINITY, off = INFINITY;
  p->turns = 1;
  for (int round = 0; round < MOST_TURNS; ++round) {
    solve_cones(s, p);
    if (p->f == INFINITY) {
      break;
    }
    off = turn_once(s, p);
    // the directions agree, and f has come to rest
    if (off <= 1 && fabs(last - p->f) <= GAIN_COMPARED * (p->f + s->f_floor)) {
      return;
    }
    last = p->f;
  }
  // close enough for tribo_sol_mode_refine, which converges on the law alone
  if (p->f < INFINITY && off <= NEARLY) {
    return;
  }
  p->turns = 0;
  p->f = INFINITY;
}

static int slips_in_space(const TriboQpccSolver* s, const ModePoint* p) {
  int any = 0;
  for (int i = 0; i < s->ncon; ++i) {
    any = any || in_space(s, p, i, TRIBO_QPCC_SLIDE);
  }
  return any;
}

// From an edge of what fixed directions allow: programs in which they turn, from the point's own speeds and forces.
static void leave_edge(TriboQpccSolver* s, ModePoint* p, ModePoint* spare) {
  tribo_sol_mode_copy(s, p, spare);
  tribo_sol_qpcc_sigma(s, p->z, s->sigma);
  for (int i = 0; i < s->ncon; ++i) {
    const double *l = p->z + s->na + s->at[i], *v = s->sigma + s->at[i], mu = fmax(s->problem->mu[i], RATIO_LEAST);
    if (in_space(s, p, i, TRIBO_QPCC_SLIDE)) {
      p->ratio[i] = fmin(hypot(v[0], v[1]) / (mu * fmax(l[2], RATIO_LEAST)), 1 / RATIO_LEAST);
    }
  }
  turn_slips(s, p);
  if (!(p->f <= spare->f * (1 + GAIN_COMPARED) + s->f_floor)) {
    tribo_sol_mode_copy(s, spare, p);
  }
}

void tribo_sol_mode_solve(TriboQpccSolver* s, ModePoint* p, int rounds) {
  ModePoint* spare = &s->point[3];
  p->turns = 0;
  solve_cones(s, p);
  const int overdetermined = s->ldp.blocked >= 0 && s->ldp.blocked < s->ldp.nequal;
  if (p->f == INFINITY && s->may_turn && (overdetermined || s->point[0].f == INFINITY) && slips_in_space(s, p)) {
    for (int i = 0; i < s->ncon; ++i) {
      p->ratio[i] = 1 / fmax(s->problem->mu[i], RATIO_LEAST);
    }
    turn_slips(s, p);
    return;
  }
  const int final = rounds > COMPARING;
  int gained = 1;
  for (int k = 0; k < rounds && p->f < INFINITY && gained > 0; ++k) {
    gained = improve_slips(s, p, spare, final ? GAIN_FINAL : GAIN_COMPARED);
  }
  if (final && gained < 0 && s->may_turn) {
    leave_edge(s, p, spare);
  }
}

// ---- the last digits

// gradient ← L⁻¹ ∇f(z)
static void whitened_gradient(TriboQpccSolver* s, const double* z) {
  tribo_sol_qpcc_objective(s, z);
  memset(s->gradient, 0, (size_t)s->ld * sizeof *s->gradient);
  for (int k = 0; k < s->n; ++k) {
    const double* column = s->L + (size_t)k * (size_t)s->ld;
    const double slope = tribo_four_dot(s->E + (size_t)k * (size_t)s->ldr, s->residual, s->ldr);
    const double x = (s->gradient[k] + slope) / column[k];
    s->gradient[k] = x;
    tribo_subtract(s->n - k - 1, x, column + k + 1, s->gradient + k + 1);
  }
}

// λ_i and σ_i exactly as the mode has them, where rounding and the factor's ε have left 1e-10 of it: Newton on the KKT
// system of the active rows, with residuals from the problem itself.
static void correct(TriboQpccSolver* s, ModePoint* p, int with_objective) {
  TriboLeastDistance* q = &s->ldp;
  tribo_sol_qpcc_sigma(s, p->z, s->sigma);
  for (int j = 0; j < q->nactive; ++j) {
    s->value[j] = tribo_sol_mode_value(s, &s->rows[q->active[j]], p->z, s->sigma);
  }
  if (with_objective) {
    whitened_gradient(s, p->z);
  } else {
    memset(s->gradient, 0, (size_t)s->ld * sizeof *s->gradient);
  }
  tribo_sol_ldp_respond(q, s->value, s->gradient, s->dy, NULL);
  tribo_sol_mode_unwhiten(s, s->dy, s->dz);
  tribo_add_scaled(s->n, 1, s->dz, p->z);
}

// The program again, for what is missing of z: its numbers are as small as what they repair. 0: rounding makes it
// infeasible.
static int recentre(TriboQpccSolver* s, ModePoint* p) {
  TriboLeastDistance* q = &s->ldp;
  tribo_sol_qpcc_sigma(s, p->z, s->sigma);
  for (int j = 0; j < q->nrow; ++j) {
    q->b[j] = -tribo_sol_mode_value(s, &s->rows[j], p->z, s->sigma);
    q->first[j] = q->is_active[j];
  }
  whitened_gradient(s, p->z);
  for (int k = 0; k < s->ld; ++k) {
    q->y0[k] = -s->gradient[k];
  }
  if (!tribo_sol_mode_run(s, s->dz)) {
    return 0;
  }
  tribo_add_scaled(s->n, 1, s->dz, p->z);
  return 1;
}

// By how much a row is missed, in units of its slack.
static double violation(const TriboQpccSolver* s, const ModePoint* p) {
  const TriboLeastDistance* q = &s->ldp;
  double most = 0;
  tribo_sol_qpcc_sigma(s, p->z, s->sigma);
  for (int j = 0; j < q->nrow; ++j) {
    const double value = tribo_sol_mode_value(s, &s->rows[j], p->z, s->sigma);
    most = fmax(most, (j < q->nequal ? fabs(value) : -value) / q->slack[j]);
  }
  return most;
}

// How far contacts that stick are outside their cones, in slacks.
static double cone_violation(const TriboQpccSolver* s, const ModePoint* p) {
  double most = 0;
  for (int i = 0; i < s->ncon; ++i) {
    if (in_space(s, p, i, TRIBO_QPCC_STICK)) {
      most = fmax(most, outside_cone(s, p, i) / tribo_sol_mode_slack(s, i));
    }
  }
  return most;
}

// Returns what is left of violations, in slacks. Directions in which f is flatter than ε have gone anywhere once ε is
// gone: where that leaves a cone, f stays as ε has it and only the rows are corrected.
static double refine(TriboQpccSolver* s, ModePoint* p) {
  ModePoint* best = &s->point[2];
  double least = INFINITY;
  int with_objective = 1;
  tribo_sol_mode_rows(s, p);
  if (!tribo_sol_mode_run(s, p->z)) {
    return least;
  }
  for (int round = 0; round < REFINEMENTS && least > 1; ++round) {
    for (int k = 0; k < REFINEMENTS; ++k) {
      correct(s, p, with_objective && round < REFINEMENTS - 1);
    }
    const double rows = violation(s, p), cones = cone_violation(s, p);
    if (fmax(rows, cones) < least) {
      least = fmax(rows, cones);
      tribo_sol_mode_copy(s, p, best);
    }
    if (cones > 1) {
      with_objective = 0;
      tribo_sol_mode_rows(s, p);
      if (!tribo_sol_mode_run(s, p->z)) {
        break;
      }
    } else if (rows > 1 && !recentre(s, p)) {
      break;
    }
  }
  tribo_sol_mode_copy(s, best, p);
  return least;
}

void tribo_sol_mode_refine(TriboQpccSolver* s, ModePoint* p, double* nu) {
  TriboLeastDistance* q = &s->ldp;
  memset(nu, 0, (size_t)s->nc * sizeof *nu);
  double least = refine(s, p);
  // directions that turned: onto the contact law from where they are, f follows in second order
  for (int k = 0; k < REFINEMENTS && p->turns && turn_once(s, p) > 0.1; ++k) {
    tribo_sol_mode_rows(s, p);
    if (tribo_sol_mode_run(s, s->dz)) {
      correct(s, p, 0);
    }
  }
  if (least > 1 && slips_in_space(s, p) && !p->turns) {
    // a corner of what fixed directions allow
    ModePoint* turning = &s->point[1];
    tribo_sol_mode_copy(s, p, turning);
    leave_edge(s, turning, &s->point[3]);
    if (refine(s, turning) < least) {
      tribo_sol_mode_copy(s, turning, p);
    } else {
      refine(s, p);
    }
  }
  p->f = tribo_sol_qpcc_objective(s, p->z);
  // multipliers of the rows, by what they are made of
  whitened_gradient(s, p->z);
  memset(s->value, 0, (size_t)s->ld * sizeof *s->value);
  tribo_sol_ldp_respond(q, s->value, s->gradient, s->dy, q->u);
  for (int j = 0; j < q->nactive; ++j) {
    const ModeRow* row = &s->rows[q->active[j]];
    const int dim = row->contact >= 0 ? s->problem->dim[row->contact] : 0;
    for (int k = 0; k < dim; ++k) {
      nu[s->at[row->contact] + k] += row->sigma[k] * q->u[j];
    }
  }
}
