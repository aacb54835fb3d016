// Rows of joints and tendons: limits, dry friction, motors.
//
// A motor is an implicit spring-damper, λ = −h(k(q + h q̇⁺ − q*) + d(q̇⁺ − q̇*)), that is R = 1/(h(hk + d)) and
// γ = (k(q − q*) − d q̇*)/(hk + d); its impulse is bounded by h times its effort.
#include "dyn_data.h"
#include "small_dense.h"
#include "union_find.h"

// A limit row exists when the joint is near its stop or may reach it in this step: its distance φ and the free velocity
// towards it, both seen from inside. [rad or m]
static const double LIMIT_MARGIN = 1e-3;

static int near_limit(const TriboStepOptions* o, double distance, double speed) {
  return distance <= o->h * fmax(0, -speed) + LIMIT_MARGIN;
}

// One row on one velocity of a tree, with the given sign.
static int add_joint_row(const TriboSystem* system, TriboDynData* data, const BoundDof* bound, TriboConeKind kind,
                         TriboRowKind row_kind, int index, double sign) {
  Rows* rows = &data->rows;
  const int c = tribo_dyn_rows_begin(rows, kind, 1, row_kind, index);
  double* jac = tribo_dyn_rows_term(system, rows, bound->block);
  jac[bound->v - system->info.block_v[bound->block]] = sign;
  rows->g[rows->cones[c].row] = sign * data->v_free[bound->v];
  return c;
}

// What a limit is about: a coordinate and the joint velocities that change it. In a plane these turn with the body; the
// angle of a ball joint grows with the velocity about the axis of its rotation, which both bodies see alike.
typedef struct LimitedCoordinate {
  double at;
  int v, n;  // first velocity, count
  double along[3];
} LimitedCoordinate;

static LimitedCoordinate limited_coordinate(const BoundDof* bound, const double* q_all) {
  const double* q = q_all + bound->q;
  LimitedCoordinate coord = {.at = q[0], .v = bound->v, .n = 1, .along = {1, 0, 0}};
  if (bound->kind == TRIBO_JOINT_PLANAR) {
    const double c = q[2 - bound->part], s = q[3 - bound->part];
    coord.v -= bound->part;
    coord.n = 2;
    tribo_set3(coord.along, bound->part == 0 ? c : s, bound->part == 0 ? -s : c, 0);
  } else if (bound->kind == TRIBO_JOINT_SPHERICAL) {
    const double sine = tribo_norm3(q);
    coord.at = 2 * atan2(sine, fabs(q[3]));
    coord.n = 3;
    tribo_scale3(coord.along, sine > 0 ? copysign(1 / sine, q[3]) : 0, q);
  }
  return coord;
}

double tribo_dyn_limit_violation(const TriboSystem* system, const TriboDynData* data) {
  double most = 0;
  for (int i = 0; i < system->nbound; ++i) {
    const BoundDof* bound = system->bounds + i;
    if (isfinite(bound->lower) || isfinite(bound->upper)) {
      const double at = limited_coordinate(bound, data->q).at;
      most = fmax(most, fmax(bound->lower - at, at - bound->upper));
    }
  }
  return most;
}

// Appends a row for every joint limit that is near, or that the step before has shown to be needed.
static void add_limits(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                       const double* v) {
  Rows* rows = &data->rows;
  for (int i = 0; i < system->nbound; ++i) {
    const BoundDof* bound = system->bounds + i;
    if (!isfinite(bound->lower) && !isfinite(bound->upper)) {
      continue;
    }
    const LimitedCoordinate coord = limited_coordinate(bound, data->q);
    const TriboContactLaw stop = {.restitution = bound->restitution, .soft = bound->soft};
    double free = 0, old = 0;
    for (int k = 0; k < coord.n; ++k) {
      free += coord.along[k] * data->v_free[coord.v + k];
      old += coord.along[k] * v[coord.v + k];
    }
    // (in a loop v_f depends on where it was cut: when and how fast a stop is met, v says)
    const double flown = system->cluster[bound->block] >= 0 ? old : free;
    for (int upper = 0; upper < 2; ++upper) {
      const double sign = upper ? -1 : 1, distance = sign * (coord.at - (upper ? bound->upper : bound->lower));
      unsigned char* row = &data->limit_row[2 * i + upper];
      *row = *row == 2 ? 2 : (unsigned char)near_limit(options, distance, sign * free);
      if (*row == 0) {
        continue;
      }
      const int c = tribo_dyn_rows_begin(rows, TRIBO_CONE_NONNEG, 1, TRIBO_ROW_LIMIT, 2 * bound->v + upper);
      double* jac = tribo_dyn_rows_term(system, rows, bound->block) + coord.v - system->info.block_v[bound->block];
      for (int k = 0; k < coord.n; ++k) {
        jac[k] = sign * coord.along[k];
      }
      tribo_dyn_normal_row(system, data, options, c, &stop, 0, 0, distance, sign * flown, sign * old);
      rows->g[rows->cones[c].row] += sign * (free - flown);
    }
  }
}

int tribo_dyn_redetect_limits(const TriboSystem* system, TriboDynData* data, const double* q_next) {
  int added = 0;
  for (int i = 0; i < system->nbound; ++i) {
    const BoundDof* bound = system->bounds + i;
    if ((!isfinite(bound->lower) && !isfinite(bound->upper)) || bound->restitution > 0) {
      continue;
    }
    const double at = limited_coordinate(bound, q_next).at, beyond[2] = {bound->lower - at, at - bound->upper};
    for (int upper = 0; upper < 2; ++upper) {
      unsigned char* row = &data->limit_row[2 * i + upper];
      if (*row == 0 && beyond[upper] > 0) {
        *row = 2;
        added++;
      }
    }
  }
  return added;
}

// Dry friction F that acts half at either end of a step opposes the velocity v⁺ of its end. Where slip turns round
// after the fraction τ of the step it was f = −F sign v up to then, and the law is left for the rest: λ ∈ τf + (1 −
// τ)[−F, F]. With the velocity σ_f that f would lead to, v(t) = v + (σ_f − v) t/h crosses 0 at τ = v/(v − σ_f).
//
// A step read backwards knows v⁺ = σ_f − 2(1 − τ)Gf instead, with the mobility G: then cτ² − bτ + |v| = 0, c = 2GF, b =
// |v| + |v⁺| + c.
double tribo_dyn_slip_turn_between(double v, double v_next, double c) {
  const double b = fabs(v) + fabs(v_next) + c;
  return 2 * fabs(v) / (b + sqrt(b * b - 4 * c * fabs(v)));
}

// Whether impulses of a block act half at either end of the step.
static int acts_at_both_ends(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                             int block) {
  return options->scheme != TRIBO_SCHEME_EULER && system->cluster[block] < 0 && !data->touched[block];
}

// Whether slip is worth the second solve that its turning round costs: what is much slower than friction brakes it in a
// step is as good as at rest.
static int is_fast(double v, double braked) {
  static const double SLOWEST = 1e-2;
  return fabs(v) > SLOWEST * braked;
}

static void add_friction(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                         const double* v) {
  for (int i = 0; i < system->nbound; ++i) {
    const BoundDof* bound = system->bounds + i;
    if (bound->friction > 0) {
      const int c = add_joint_row(system, data, bound, TRIBO_CONE_BOX, TRIBO_ROW_FRICTION, bound->v, 1);
      TriboCone* cone = data->rows.cones + c;
      const double most = options->h * bound->friction, next = data->rows.g[cone->row];
      double turn = data->slip_turn[i];
      if (data->is_inverse && v[bound->v] * next < 0 && acts_at_both_ends(system, data, options, bound->block)) {
        const double mobility = tribo_dyn_mobility(system, data, &data->rows, c, 0);
        turn = is_fast(v[bound->v], most * mobility)
                   ? tribo_dyn_slip_turn_between(v[bound->v], next, 2 * most * mobility)
                   : 0;
      }
      cone->hi = (1 - turn) * most - turn * copysign(most, v[bound->v]);
      cone->lo = -(1 - turn) * most - turn * copysign(most, v[bound->v]);
    }
  }
}

int tribo_dyn_joint_slips(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                          const double* v, const double* lambda) {
  // (what turns round at once is as good as at rest)
  static const double SOONEST = 1e-3;
  const Rows* rows = &data->rows;
  int turned = 0;
  for (int i = 0, c = 0; i < system->nbound; ++i) {
    const BoundDof* bound = system->bounds + i;
    if (!(bound->friction > 0)) {
      continue;
    }
    while (rows->infos[c].kind != TRIBO_ROW_FRICTION) {
      ++c;
    }
    const int n = system->info.block_dim[bound->block], at = system->info.block_v[bound->block], k = bound->v - at;
    const double *minv = data->minv + system->block_at[bound->block], most = bound->friction * options->h;
    const double force = lambda[rows->cones[c++].row], before = v[bound->v];
    if (data->slip_turn[i] == 0 && is_fast(before, most * minv[k * (n + 1)]) &&
        acts_at_both_ends(system, data, options, bound->block)) {
      const double after = data->v_free[bound->v] + tribo_dot(minv + k * n, data->impulse + at, n);
      const double kept = after - (copysign(most, before) + force) * minv[k * (n + 1)], turn = before / (before - kept);
      // (what comes to rest and has the friction for that may stay as it is)
      const int stays = fabs(force + turn * copysign(most, before)) <= (1 - turn) * most;
      data->slip_turn[i] = turn > SOONEST && turn < 1 && !stays ? turn : 0;
      turned += data->slip_turn[i] > 0;
    }
  }
  return turned;
}

static void add_motors(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* o) {
  Rows* rows = &data->rows;
  for (int i = 0; i < o->nmotor; ++i) {
    const TriboMotor* motor = o->motors + i;
    const double* q = data->q + motor->q;
    // an angle given as cosine and sine is away from its target by the shorter way round
    const double away = motor->nq == 1 ? q[0] - motor->target
                                       : remainder(atan2(q[1], q[0]) - motor->target, 2 * 3.14159265358979323846);
    const BoundDof dof = {.v = motor->v, .block = tribo_dyn_block_of_v(system, motor->v)};
    const int c = add_joint_row(system, data, &dof, TRIBO_CONE_BOX, TRIBO_ROW_MOTOR, i, 1);
    const int row = rows->cones[c].row;
    const double stiff = o->h * motor->stiffness + motor->damping;
    rows->R[row] = 1 / (o->h * stiff);
    rows->g[row] += (motor->stiffness * away - motor->damping * motor->velocity) / stiff;
    rows->cones[c].hi = o->h * motor->effort;
    rows->cones[c].lo = -rows->cones[c].hi;
  }
}

// One row per bound that is near, with a term on every block it depends on.
static void add_bounds(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* o, const double* v) {
  const TriboSystemInfo* info = &system->info;
  Rows* rows = &data->rows;
  for (int i = 0; i < o->nbound; ++i) {
    const TriboBound* bound = o->bounds + i;
    double speed = 0, old = 0;
    for (int k = 0; k < info->nv; ++k) {
      speed += bound->jac[k] * data->v_free[k];
      old += bound->jac[k] * v[k];
    }
    if (!near_limit(o, bound->distance, speed)) {
      continue;
    }
    const int c = tribo_dyn_rows_begin(rows, TRIBO_CONE_NONNEG, 1, TRIBO_ROW_BOUND, bound->index);
    for (int b = 0; b < info->nblock; ++b) {
      const double* part = bound->jac + info->block_v[b];
      int any = 0;
      for (int k = 0; k < info->block_dim[b]; ++k) {
        any |= part[k] != 0;
      }
      if (any) {
        memcpy(tribo_dyn_rows_term(system, rows, b), part, (size_t)info->block_dim[b] * sizeof *part);
      }
    }
    const TriboContactLaw stop = {.soft = bound->soft};
    tribo_dyn_normal_row(system, data, o, c, &stop, 0, 0, bound->distance, speed, old);
  }
}

// Whether a distance that changes at a rate closes, or stays closed, in a step: 1; 2: it only lasts, being closed
// before and changing by no more than weight does in half a step.
static int closes(const TriboStepOptions* options, double close, double distance, double rate) {
  if (distance > close + options->h * fmax(0, -rate)) {
    return 0;
  }
  return tribo_dyn_lasts(options, distance, rate, 0) ? 2 : 1;
}

// A bound that closes holds together what it is about. One that only lasts acts half at either end of the step, if its
// row is the same there and closures tie nothing of it.
static void mark_bound(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                       const TriboBound* bound, double close, const double* v) {
  double rate = 0;
  int first = -1, may_last = bound->is_straight && bound->soft.solref[0] == 0;
  for (int k = 0; k < system->info.nv; ++k) {
    rate += bound->jac[k] * v[k];
  }
  const int how = closes(options, close, bound->distance, rate);
  if (how == 0) {
    return;
  }
  for (int k = 0; k < system->info.nv; ++k) {
    if (bound->jac[k] != 0) {
      const int block = tribo_dyn_block_of_v(system, k);
      first = first < 0 ? block : first;
      may_last &= system->cluster[block] < 0;
      tribo_sets_join(data->together, first, block);
    }
  }
  data->touched[first < 0 ? 0 : first] |= first >= 0 && !(may_last && how == 2);
}

void tribo_dyn_mark_limits(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options, double close,
                           const double* v) {
  for (int i = 0; i < system->nbound; ++i) {
    const BoundDof* bound = system->bounds + i;
    if (isfinite(bound->lower) || isfinite(bound->upper)) {
      const LimitedCoordinate coord = limited_coordinate(bound, data->q);
      double rate = 0;
      for (int k = 0; k < coord.n; ++k) {
        rate += coord.along[k] * v[coord.v + k];
      }
      // (a loop that reaches a stop in the step must have been kicked in full: all that may have a row counts)
      const int is_tied = system->cluster[bound->block] >= 0;
      const double reach = close + (is_tied ? 2 * LIMIT_MARGIN + options->h * fabs(rate) : 0);
      const int lower = closes(options, reach, coord.at - bound->lower, rate),
                upper = closes(options, reach, bound->upper - coord.at, -rate);
      // (the row of one coordinate is the same at both ends of the step: what only lasts acts half at each)
      const int may_last = coord.n == 1 && bound->soft.solref[0] == 0 && !is_tied;
      data->touched[bound->block] |= may_last ? lower == 1 || upper == 1 : lower > 0 || upper > 0;
    }
  }
  for (int i = 0; i < options->nbound; ++i) {
    mark_bound(system, data, options, options->bounds + i, close, v);
  }
}

void tribo_dyn_joint_rows(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                          const double* v) {
  add_limits(system, data, options, v);
  add_friction(system, data, options, v);
  add_motors(system, data, options);
  add_bounds(system, data, options, v);
}

TriboStatus tribo_dyn_check_motors(const TriboSystem* system, const TriboStepOptions* o) {
  const TriboSystemInfo* info = &system->info;
  for (int i = 0; i < o->nmotor; ++i) {
    const TriboMotor* m = o->motors + i;
    if (m->v < 6 * info->nfree || m->v >= info->nv || m->q < 0 || m->nq < 1 || m->nq > 2 || m->q + m->nq > info->nq) {
      return tribo_fail(TRIBO_INVALID, "tribo_dyn_assemble: motor %d drives v[%d], must be a joint of a tree", i, m->v);
    }
    if (!(m->stiffness >= 0 && m->damping >= 0 && m->stiffness + m->damping > 0 && m->effort >= 0) ||
        !isfinite(m->stiffness + m->damping) || !isfinite(m->target) || !isfinite(m->velocity)) {
      return tribo_fail(
          TRIBO_INVALID,
          "tribo_dyn_assemble: motor %d has stiffness %g, damping %g (finite, ≥ 0, not both 0), effort %g "
          "(≥ 0), target %g and velocity %g (finite)",
          i, m->stiffness, m->damping, m->effort, m->target, m->velocity);
    }
  }
  return TRIBO_OK;
}
