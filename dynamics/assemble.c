// Contacts, joint limits, dry friction and motors become rows of the problem  σ = J v⁺ + γ + Rλ.
//
// Contact rows. Frame [t1 t2 n], n from A to B; the rows are t1, t2, [torsion], [rolling 1, 2], n: components of the
// velocity of B against A at the point, or of the angular velocity for torsion (about n) and rolling (about t1, t2).
//
// Bias γ of a normal row with gap φ, so that σ_N ≥ 0 ⊥ λ_N ≥ 0 says the right thing:
//   open, φ > 0      γ = φ/h: the gap may close exactly, φ + h c_N ≥ 0, and nothing acts at a distance
//   inside, φ ≤ 0    γ = max(ERP · min(0, φ + slop)/h, −v_max): a share of the violation is undone, not too fast
//   impact           e > 0, c_N⁻ < −v_min and φ + h c_N(v_f) ≤ 0, instead of φ/h. In flight c_N runs from c⁻ to
//                    c_N(v_f) = c⁻ + a, so the bodies meet after the share θ of the step with φ + h(c⁻θ + aθ²/2) = 0,
//                    at c* = c⁻ + θa; they part with −e c* and fly on: c_N⁺ = −e c* + (1 − θ)a. That is σ_N = 0 with
//                    γ = e c* − (1 − θ)a; but never less than what undoes a penetration. Between two moving bodies
//                    θ = 0: point and normal are those of q, and only there do equal and opposite impulses at the
//                    point keep the angular momentum
//   spring k, d      an implicit spring-damper is λ = h(−k(φ + h c) − d c), that is c + γ + Rλ = 0 with
//                    R = 1/(h(hk + d)) and γ = kφ/(hk + d) for φ ≤ 0. It rebounds by itself: no impact row.
//   solref, solimp   MuJoCo's spring-damper in units of acceleration (001 (103)–(110)): with the impedance d(φ) between
//                    d₀ and d₁, (c⁺ − c⁻)/h + R λ/h = −b c⁻ − kφ, b = 2/(d₁ τ), k = d/(d₁ τ ζ)² or given, and
//                    R = (1 − d)/d · J M⁻¹ Jᵀ. So γ = (hb − 1) c⁻ + h k φ, φ ≤ 0. τ is at least 2h
//
// A motor is such a spring-damper too, λ = −h(k(q + h q̇⁺ − q*) + d(q̇⁺ − q̇*)): the same R, γ = (k(q − q*) − d q̇*)/(hk +
// d), and its impulse is bounded by h times its effort.
#include "internal.h"

// Corners of one face differ by rounding (1e-12 … 1e-10 m); divided by h these differences would be nearly
// contradictory demands on one rigid body, which solvers pay for. Below this a gap is 0. [m]
static const double GAP_DEAD_BAND = 1e-9;

// ---- contacts ------------------------------------------------------------------------------------------------------

static int contact_axes(const double frame[9], int dim, RowAxis axes[6]) {
  const double *t1 = frame, *t2 = frame + 3, *n = frame + 6;
  int count = 0;
#define AXIS(d, turns)              \
  axes[count++] = (RowAxis) {       \
    {(d)[0], (d)[1], (d)[2]}, turns \
  }
  if (dim >= 3) {
    AXIS(t1, 0);
    AXIS(t2, 0);
  }
  if (dim >= 4) {
    AXIS(n, 1);
  }
  if (dim >= 6) {
    AXIS(t1, 1);
    AXIS(t2, 1);
  }
  AXIS(n, 0);
#undef AXIS
  return count;
}

int tribo_dyn_are_welded(const TriboSystem* system, int body_a, int body_b) {
  const int block = tribo_dyn_block_of(system, body_a);
  if (block != tribo_dyn_block_of(system, body_b)) {
    return 0;
  }
  if (block < system->info.nfree) {
    return 1;
  }
  const TreePart* part = system->trees + (block - system->info.nfree);
  return part->info->links[body_a - part->body].carrier == part->info->links[body_b - part->body].carrier;
}

static TriboStatus check_contact(const TriboSystem* system, int index, const TriboContact* c,
                                 const TriboContactLaw* law) {
  const char* where = "tribo_dyn_assemble";
  const int nbody = system->info.nbody;
  if (c->body_a < -1 || c->body_a >= nbody || c->body_b < -1 || c->body_b >= nbody) {
    return tribo_fail(TRIBO_INVALID, "%s: contact %d is between bodies %d and %d, must be −1 … %d", where, index,
                      c->body_a, c->body_b, nbody - 1);
  }
  if (tribo_dyn_are_welded(system, c->body_a, c->body_b)) {
    return tribo_fail(TRIBO_INTERNAL, "%s: contact %d is between bodies %d and %d, which never move against each other",
                      where, index, c->body_a, c->body_b);
  }
  if (!tribo_finite(c->point, 3) || !(fabs(tribo_dot3(c->normal, c->normal) - 1) <= 1e-6) || !isfinite(c->gap)) {
    return tribo_fail(TRIBO_NUMERIC, "%s: contact %d has a point, gap (%g) or unit normal (length %g) that is none",
                      where, index, c->gap, tribo_norm3(c->normal));
  }
  if (law->dim != 1 && law->dim != 3 && law->dim != 4 && law->dim != 6) {
    return tribo_fail(TRIBO_INVALID, "%s: law %d has dim %d, must be 1, 3, 4 or 6", where, index, law->dim);
  }
  for (int i = 0; i < law->dim - 1; ++i) {
    if (!(law->mu[i] >= 0) || !isfinite(law->mu[i])) {
      return tribo_fail(TRIBO_INVALID, "%s: law %d has mu[%d] = %g, must be finite and ≥ 0", where, index, i,
                        law->mu[i]);
    }
  }
  if (!(law->restitution >= 0 && law->restitution <= 1)) {
    return tribo_fail(TRIBO_INVALID, "%s: law %d has restitution %g, must be in 0 … 1", where, index, law->restitution);
  }
  if (!(law->compliance >= 0) || !isfinite(law->compliance) || !(law->damping >= 0) || !isfinite(law->damping) ||
      !tribo_finite(law->surface, 3) || !tribo_finite(law->grain, 3)) {
    return tribo_fail(
        TRIBO_INVALID,
        "%s: law %d has stiffness %g, damping %g (must be finite, ≥ 0) or a surface velocity or grain that is "
        "not finite",
        where, index, law->compliance, law->damping);
  }
  return TRIBO_OK;
}

// The part of γ that a distance alone decides.
static double distance_bias(const TriboStepOptions* o, double gap) {
  if (fabs(gap) <= GAP_DEAD_BAND) {
    return 0;
  }
  return gap > 0 ? gap / o->h : fmax(o->erp * fmin(0, gap + o->slop) / o->h, -o->depen_max);
}

// The share θ of the step before an impact: smaller root of gap/h + old θ + (free − old) θ²/2, 1 when there is none.
static double impact_share(double gap, double h, double old, double free) {
  const double c = fmax(gap, 0) / h, half = 0.5 * (free - old), root = old * old - 4 * half * c;
  return root < 0 ? 1 : tribo_clamp(2 * c / (-old + sqrt(root)), 0, 1);
}

// J M⁻¹ Jᵀ of one row of a cone
static double mobility(const TriboSystem* system, const TriboDynData* data, int c, int i) {
  const Rows* r = &data->rows;
  double sum = 0;
  for (int t = r->term_first[c]; t < r->term_first[c + 1]; ++t) {
    const int block = r->term_block[t], n = system->info.block_dim[block];
    const double *jac = r->term_jac + r->term_at[t] + (size_t)(i * n), *minv = data->minv + system->block_at[block];
    for (int k = 0; k < n; ++k) {
      for (int l = 0; l < n; ++l) {
        sum += jac[k] * minv[k * n + l] * jac[l];
      }
    }
  }
  return sum;
}

// d(φ): from d₀ at touch to d₁ at the width, by two parabolas of the given power that meet at the midpoint
static double impedance(const double* d, double depth) {
  const double x = d[2] > 0 ? fmin(depth / d[2], 1) : 1, mid = d[3], p = d[4];
  double y = x;
  if (p > 1 && x < 1) {
    y = x <= mid ? pow(x, p) / pow(mid, p - 1) : 1 - pow(1 - x, p) / pow(1 - mid, p - 1);
  }
  return tribo_clamp(d[0] + y * (d[1] - d[0]), 1e-4, 0.9999);
}

// Bias and compliance of a softened normal row, for a gap that is closed.
static double soften(const TriboStepOptions* o, const TriboContactLaw* law, double gap, double old, double mobility,
                     double* R) {
  const double *ref = law->solref, d = impedance(law->solimp, -gap), most = law->solimp[1];
  const double tau = fmax(ref[0], 2 * o->h);
  const double b = ref[0] > 0 ? 2 / (most * tau) : -ref[1] / most;
  const double k = ref[0] > 0 ? d / (most * most * tau * tau * ref[1] * ref[1]) : -ref[0] * d / (most * most);
  *R = (1 - d) / d * mobility;
  return (fmin(o->h * b, 1) - 1) * old + o->h * k * gap;
}

// Bias, compliance and impact of a contact's normal row; free and old are c_N of v_f and of v.
static void set_normal_row(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* o, int c,
                           const TriboContactLaw* law, double gap, double free, double old) {
  Rows* d = &data->rows;
  const int row = d->cones[c].row + d->cones[c].dim - 1;
  double bias = distance_bias(o, gap);
  if (law->compliance > 0) {
    const double stiff = o->h * law->compliance + law->damping;
    d->R[row] = 1 / (o->h * stiff);
    bias = gap > 0 ? bias : gap * law->compliance / stiff;
  } else if (law->solref[0] != 0) {
    // what is reached in this step is met as at touch
    const double soft = soften(o, law, fmin(gap, 0), old, mobility(system, data, c, d->cones[c].dim - 1), d->R + row);
    bias = gap + o->h * free > 0 && gap > 0 ? bias : soft;
  } else if (law->restitution > 0 && old < -o->bounce_min && gap + o->h * free <= 0) {
    const double share = d->infos[c].block_b >= 0 ? 0 : impact_share(gap, o->h, old, free), flight = free - old;
    bias = fmin(law->restitution * (old + share * flight) - (1 - share) * flight, gap > 0 ? 0 : bias);
    d->infos[c].impact = 1;
    d->impact[c] = share;
  }
  d->g[row] = free + bias;
}

static void add_contact(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options, const double* v,
                        int index, const TriboContact* contact, const TriboContactLaw* law) {
  Rows* d = &data->rows;
  const Place place = {data->q, data->poses, data->jac};
  const int c = tribo_dyn_rows_begin(d, law->dim == 1 ? TRIBO_CONE_NONNEG : TRIBO_CONE_FRICTION, law->dim,
                                     TRIBO_ROW_CONTACT, index);
  double* frame = d->infos[c].frame;
  tribo_copy3(frame + 6, tribo_dyn_directions_find(&data->directions, contact->normal));
  tribo_tangents(frame, frame + 3, frame + 6);
  // friction with a grain: the first tangent lies along it
  double along[3];
  tribo_axpy3(along, law->grain, -tribo_dot3(law->grain, frame + 6), frame + 6);
  if (tribo_normalize3(along) > 1e-6 * tribo_norm3(law->grain)) {
    tribo_copy3(frame, along);
    tribo_cross3(frame + 3, frame + 6, frame);
  }
  memcpy(d->cones[c].mu, law->mu, (size_t)(law->dim - 1) * sizeof *law->mu);

  RowAxis axes[6];
  const int dim = contact_axes(frame, law->dim, axes);
  tribo_dyn_rows_pair(system, &place, d, contact->body_a, contact->body_b, contact->point, axes);

  // g = J v_f + γ
  double free[6], old[6], *g = d->g + d->cones[c].row;
  tribo_dyn_rows_apply(system, d, c, data->v_free, free);
  tribo_dyn_rows_apply(system, d, c, v, old);
  memcpy(g, free, (size_t)dim * sizeof *g);
  if (dim >= 3) {
    g[0] += tribo_dot3(frame, law->surface);
    g[1] += tribo_dot3(frame + 3, law->surface);
  }
  set_normal_row(system, data, options, c, law, contact->gap, free[dim - 1], old[dim - 1]);
}

// twice the signed area of a triangle seen against n
static double area(const double n[3], const double* x, const double* y, const double* z) {
  double a[3], b[3], c[3];
  tribo_sub3(a, y, x);
  tribo_sub3(b, z, x);
  tribo_cross3(c, a, b);
  return tribo_dot3(n, c);
}

// Four contacts in one plane with one normal: a rigid motion moves them by an affine function of their place, and four
// values are one too many for that. Biases have kinks (gap 0, slop), where they leave it by a little; all four can then
// close only by a force that leaves one corner, for a mismatch of no size. What is less than the dead band is taken
// out: Σ cᵢ gᵢ = 0 with the plane's cᵢ, Σ cᵢ = Σ cᵢ xᵢ = 0, the areas opposite to the corners.
static void level_face(const TriboStepOptions* o, Rows* d, const TriboContact* contacts, int first) {
  const TriboContact* k = contacts + first;
  const double* n = k->normal;
  double* g[4];
  for (int i = 0; i < 4; ++i) {
    const TriboCone* cone = d->cones + first + i;
    if (d->infos[first + i].impact || !tribo_equal(k[i].normal, n, 3)) {
      return;
    }
    g[i] = d->g + cone->row + cone->dim - 1;
  }
  const double c[4] = {area(n, k[1].point, k[2].point, k[3].point), -area(n, k[0].point, k[2].point, k[3].point),
                       area(n, k[0].point, k[1].point, k[3].point), -area(n, k[0].point, k[1].point, k[2].point)};
  double mismatch = 0, square = 0, most = 0;
  for (int i = 0; i < 4; ++i) {
    mismatch += c[i] * *g[i];
    square += c[i] * c[i];
    most = fmax(most, fabs(c[i]));
  }
  if (fabs(mismatch) * most <= GAP_DEAD_BAND / o->h * square) {
    for (int i = 0; square > 0 && i < 4; ++i) {
      *g[i] -= mismatch / square * c[i];
    }
  }
}

static void level_faces(const TriboStepOptions* o, Rows* d, const TriboContact* contacts, int ncontact) {
  for (int first = 0, next = 0; first < ncontact; first = next) {
    const TriboContact* k = contacts + first;
    while (next < ncontact && contacts[next].geom_a == k->geom_a && contacts[next].geom_b == k->geom_b) {
      ++next;
    }
    if (next - first == 4) {
      level_face(o, d, contacts, first);
    }
  }
}

// ---- limits, dry friction and motors of joints
// -----------------------------------------------------------------------------

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
typedef struct LimitedWay {
  double at;
  int v, n;  // first velocity, count
  double along[3];
} LimitedWay;

static LimitedWay limited_way(const BoundDof* bound, const double* q_all) {
  const double* q = q_all + bound->q;
  LimitedWay way = {.at = q[0], .v = bound->v, .n = 1, .along = {1, 0, 0}};
  if (bound->kind == TRIBO_JOINT_PLANAR) {
    const double c = q[2 - bound->part], s = q[3 - bound->part];
    way.v -= bound->part;
    way.n = 2;
    tribo_set3(way.along, bound->part == 0 ? c : s, bound->part == 0 ? -s : c, 0);
  } else if (bound->kind == TRIBO_JOINT_SPHERICAL) {
    const double sine = tribo_norm3(q);
    way.at = 2 * atan2(sine, fabs(q[3]));
    way.n = 3;
    tribo_scale3(way.along, sine > 0 ? copysign(1 / sine, q[3]) : 0, q);
  }
  return way;
}

double tribo_dyn_limit_violation(const TriboSystem* system, const TriboDynData* data) {
  double most = 0;
  for (int i = 0; i < system->nbound; ++i) {
    const BoundDof* bound = system->bounds + i;
    if (isfinite(bound->lower) || isfinite(bound->upper)) {
      const double at = limited_way(bound, data->q).at;
      most = fmax(most, fmax(bound->lower - at, at - bound->upper));
    }
  }
  return most;
}

static void add_limits(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                       const double* v) {
  Rows* rows = &data->rows;
  for (int i = 0; i < system->nbound; ++i) {
    const BoundDof* bound = system->bounds + i;
    if (!isfinite(bound->lower) && !isfinite(bound->upper)) {
      continue;
    }
    const LimitedWay way = limited_way(bound, data->q);
    const TriboContactLaw stop = {.restitution = bound->restitution};
    double free = 0, old = 0;
    for (int k = 0; k < way.n; ++k) {
      free += way.along[k] * data->v_free[way.v + k];
      old += way.along[k] * v[way.v + k];
    }
    for (int upper = 0; upper < 2; ++upper) {
      const double sign = upper ? -1 : 1, distance = sign * (way.at - (upper ? bound->upper : bound->lower));
      unsigned char* row = &data->chased[2 * i + upper];
      *row = *row == 2 ? 2 : (unsigned char)near_limit(options, distance, sign * free);
      if (*row == 0) {
        continue;
      }
      const int c = tribo_dyn_rows_begin(rows, TRIBO_CONE_NONNEG, 1, TRIBO_ROW_LIMIT, 2 * bound->v + upper);
      double* jac = tribo_dyn_rows_term(system, rows, bound->block) + way.v - system->info.block_v[bound->block];
      for (int k = 0; k < way.n; ++k) {
        jac[k] = sign * way.along[k];
      }
      set_normal_row(system, data, options, c, &stop, distance, sign * free, sign * old);
    }
  }
}

int tribo_dyn_chase_limits(const TriboSystem* system, TriboDynData* data, const double* q_next) {
  int added = 0;
  for (int i = 0; i < system->nbound; ++i) {
    const BoundDof* bound = system->bounds + i;
    if ((!isfinite(bound->lower) && !isfinite(bound->upper)) || bound->restitution > 0) {
      continue;
    }
    const double at = limited_way(bound, q_next).at, beyond[2] = {bound->lower - at, at - bound->upper};
    for (int upper = 0; upper < 2; ++upper) {
      unsigned char* row = &data->chased[2 * i + upper];
      if (*row == 0 && beyond[upper] > 0) {
        *row = 2;
        added++;
      }
    }
  }
  return added;
}

static void add_friction(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options) {
  for (int i = 0; i < system->nbound; ++i) {
    const BoundDof* bound = system->bounds + i;
    if (bound->friction > 0) {
      const int c = add_joint_row(system, data, bound, TRIBO_CONE_BOX, TRIBO_ROW_FRICTION, bound->v, 1);
      TriboCone* cone = data->rows.cones + c;
      cone->hi = options->h * bound->friction;
      cone->lo = -cone->hi;
    }
  }
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
static void add_bounds(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* o) {
  const TriboSystemInfo* info = &system->info;
  Rows* rows = &data->rows;
  for (int i = 0; i < o->nbound; ++i) {
    const TriboBound* bound = o->bounds + i;
    double speed = 0;
    for (int k = 0; k < info->nv; ++k) {
      speed += bound->jac[k] * data->v_free[k];
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
    rows->g[rows->cones[c].row] = speed + distance_bias(o, bound->distance);
  }
}

static TriboStatus check_motors(const TriboSystem* system, const TriboStepOptions* o) {
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

// ---- the stage -----------------------------------------------------------------------------------------------------

// How much room the contacts need, after checking each of them.
static TriboStatus measure_contacts(const TriboSystem* system, const TriboContact* contacts,
                                    const TriboContactLaw* laws, int ncontact, size_t* nrow, size_t* nterm,
                                    size_t* njac) {
  for (int i = 0; i < ncontact; ++i) {
    TRIBO_TRY(check_contact(system, i, contacts + i, laws + i));
    const int block[2] = {tribo_dyn_block_of(system, contacts[i].body_a),
                          tribo_dyn_block_of(system, contacts[i].body_b)};
    *nrow += (size_t)laws[i].dim;
    for (int k = 0; k < 2; ++k) {
      if (block[k] >= 0 && (k == 0 || block[0] != block[1])) {
        *nterm += 1;
        *njac += (size_t)(laws[i].dim * system->info.block_dim[block[k]]);
      }
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_assemble(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                               const double* q, const double* v, const TriboContact* contacts,
                               const TriboContactLaw* laws, int ncontact, TriboProblem* problem,
                               const TriboRowInfo** rows) {
  const char* where = "tribo_dyn_assemble";
  if (system == NULL || data == NULL || options == NULL || q == NULL || v == NULL || problem == NULL || rows == NULL ||
      ncontact < 0 || (ncontact > 0 && (contacts == NULL || laws == NULL))) {
    return tribo_fail(TRIBO_INVALID, "%s: an argument is NULL or ncontact (%d) is negative", where, ncontact);
  }
  if (data->stage == STAGE_NONE) {
    return tribo_fail(TRIBO_STATE, "%s: tribo_dyn_update must come first", where);
  }
  data->stage = STAGE_UPDATED;
  TRIBO_TRY(tribo_dyn_check_options(where, options));

  // measure, make room, fill
  size_t nrow = 0, nterm = 0, njac = 0;
  TRIBO_TRY(measure_contacts(system, contacts, laws, ncontact, &nrow, &nterm, &njac));
  TRIBO_TRY(check_motors(system, options));
  // at most two limits and one friction row each
  const size_t njoint = 3 * (size_t)system->nbound + (size_t)options->nmotor, nbound = (size_t)options->nbound;
  const ClosureSize* loops = &system->closure_size;
  TRIBO_TRY(tribo_dyn_rows_reserve(
      &data->rows, (size_t)ncontact + njoint + nbound + loops->ncone, nrow + njoint + nbound + loops->nrow,
      nterm + njoint + nbound * (size_t)system->info.nblock + loops->nterm,
      njac + njoint * (size_t)system->nv_max + nbound * (size_t)system->info.nv + loops->njac));
  TRIBO_TRY(tribo_dyn_directions_begin(&data->directions, ncontact));
  for (int i = 0; i < ncontact; ++i) {
    add_contact(system, data, options, v, i, contacts + i, laws + i);
  }
  level_faces(options, &data->rows, contacts, ncontact);
  add_limits(system, data, options, v);
  add_friction(system, data, options);
  add_motors(system, data, options);
  add_bounds(system, data, options);
  TRIBO_TRY(tribo_dyn_closures_assemble(system, data, options, v));

  *problem = tribo_dyn_rows_problem(system, &data->rows, data->mass, data->minv);
  *rows = data->rows.infos;
  data->stage = STAGE_ASSEMBLED;
  return TRIBO_OK;
}

void tribo_dyn_level(TriboDynData* data, int row, int n, const double* g) {
  memcpy(data->rows.g + row, g, (size_t)n * sizeof *g);
}
