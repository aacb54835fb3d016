// The variational step of a tree: kick, drift, kick. tree_drift.c has the drift.
//
// Forces act with the fraction θ = ½ at the start and the rest at the end of the step: with the weight g, springs K at
// the mean of both ends and dampers D on w,
//
//     j⁻ = θh(τ − g(q) − K y(q)) − θ(hD + ½h²K) w          j⁺ = (1−θ)h(τ − g(q⁺) − K y(q)) − (1−θ)(hD + ½h²K) w
//
// The terms in w go to the left side of the drift's equation: M̃ = M + θ(hD + ½h²K). A joint that damping stops within
// one step, z = h d/M_kk > 2, would ring for ever with θ = ½; there θ = 1 − 1/z, for all that acts on the joint. Then a
// force f alone makes w and v⁺ go to f/d at once, however large z is.
//
// Impulses of joint rows (motors, dry friction, stops) are divided likewise. Their law is on u = w/θ − (1/θ−1) v, which
// is v⁺ where M does not change: u = u_f + M̃⁻¹Jᵀλ, with the w_f of the step without rows. (For θ = ½, u = 2w − v.)
//
// A tree that something touches is kicked in full at q, where contacts are found, and drifts without forces:
//
//     M̃ = M + hD + ½h²K,     v_f = v + M̃⁻¹ h(τ − g(q) − Dv − K(y + ½hv)),     v_a = v_f + M̃⁻¹Jᵀλ,
//     J(q)ᵀP + (A + hD + ½h²K) w = M̃ v_a                for w.
//
// v_a depends on impulses and torques linearly, rows take energy and give none but what ERP adds, and impulses inside
// the tree are equal and opposite at one point, so that they make no momentum. Dampers and springs act by w. What
// carries points of the tree through the step is not v_a but the mean velocity w of the drift, which differs by what
// the turning of joints bends: to first order by δ = −½h M̃⁻¹c(q, v), c the Coriolis and centrifugal forces. So rows are
// asked about v_a + δ: a contact that lasts then slips or sinks by O(h²) a step and not by O(h). At rest δ = 0.
//
// An impact inside the step, at its fraction θ, divides it: a smooth step of θh, the jump of velocity M̃⁻¹Jᵀλ, and a
// smooth step of (1 − θ)h. A floating root gets of it what makes its momentum that of the impulses at q.
#include "dyn_data.h"
#include "small_dense.h"

// Where the drift stops: as a fraction of the velocities, in the metric of the mass. A body alone goes to rounding.
static const double SMOOTH_TOL = 1e-10, TOUCHED_TOL = 1e-8, ALONE_TOL = 1e-15;

// One tree of a system, and where its part of the data is.
typedef struct Flight {
  const TreePart* part;
  const TriboTreeInfo* info;
  TriboPinData* pin;
  int at_q, at_v, n;
  size_t at_m;
  int is_tied;  // 1: closures tie it; its mass is M, where their impulses act
} Flight;

static Flight flight_of(const TriboSystem* system, TriboDynData* data, int tree) {
  const TreePart* part = system->trees + tree;
  return (Flight){.part = part,
                  .info = part->info,
                  .pin = data->pin[tree],
                  .at_q = system->block_q[part->block],
                  .at_v = system->block_v[part->block],
                  .n = part->info->nv,
                  .at_m = system->block_at[part->block],
                  .is_tied = system->cluster[part->block] >= 0};
}

// The tree at the start of the step.
static TreeInstant start_of(const Flight* f, TriboDynData* data) {
  return (TreeInstant){.q = data->q + f->at_q,
                       .poses = data->poses + f->part->body,
                       .jac = data->jac + 6 * f->at_v,
                       .bodies = data->flight.bodies + f->at_v,
                       .mass = data->mass + f->at_m,
                       .factor = data->factor + f->at_m,
                       .diagonal = data->flight.diagonal + f->at_v,
                       .extra = data->flight.extra + f->at_v,
                       .theta = data->flight.theta + f->at_v,
                       .force = data->force + f->at_v,
                       .weight = data->weight + f->at_v};
}

// ---- a tree at an instant ------------------------------------------------------------------------------------------

// Places, bodies, M and weight at at->q; inertias is scratch that keeps those of the joints.
static TriboStatus place(const Flight* f, TriboDynData* data, const TriboStepOptions* options, TreeInertia* inertias,
                         const TreeInstant* at) {
  TRIBO_TRY(tribo_dyn_tree_place(f->part, f->pin, at->q, at->poses, at->jac));
  tribo_dyn_tree_bodies(f->part, at->poses, at->bodies);
  tribo_dyn_tree_inertias(f->part, at->poses, inertias);
  tribo_dyn_tree_mass(f->part, at->jac, inertias, data->scratch_sums, at->mass);
  tribo_dyn_tree_weight(f->part, options->gravity, at->jac, data->scratch_sums, at->weight);
  for (int k = 0; k < f->n; ++k) {
    at->diagonal[k] = at->mass[k * (f->n + 1)];
    at->extra[k] = 0;
  }
  return TRIBO_OK;
}

// Damping of a joint and of what drives it, whose force at v is in τ.
static double damping_of(const Flight* f, const TriboStepOptions* options, int k) {
  return f->info->damping[k] + (options->resist != NULL ? options->resist[f->at_v + k] : 0);
}

// Forces that are known at an instant: torques, wrenches, springs. tau (nv) and wrench (nlink × 6) may be NULL.
static void collect_force(const Flight* f, const TriboStepOptions* options, const double* v, const double* tau,
                          const double* wrench, const TreeInstant* at) {
  for (int k = 0; k < f->n; ++k) {
    // (what drives a joint has its damping at v in τ: it goes to the other dampers)
    at->force[k] = (tau == NULL ? 0 : tau[k]) + (damping_of(f, options, k) - f->info->damping[k]) * v[k];
  }
  if (wrench != NULL) {
    tribo_dyn_tree_wrenches(f->part, at->poses, at->jac, wrench, at->force);
  }
  for (int i = 0; f->part->has_springs && i < f->info->nlink; ++i) {
    double stretch[3];
    const int n = tribo_dyn_spring_stretch(f->info, f->info->links + i, at->q, stretch);
    for (int k = f->info->links[i].v_at; k < f->info->links[i].v_at + n; ++k) {
      at->force[k] -= f->info->stiffness[k] * stretch[k - f->info->links[i].v_at];
    }
  }
}

// M̃ of a tree that something touches, or of one that nothing does, and its factor, where the factor is not there yet.
// The mass of a tree that closures tie stays M.
static TriboStatus set_mass(const Flight* f, const TriboStepOptions* options, double h, int touched, int has_factor,
                            const TreeInstant* at) {
  for (int k = 0; k < f->n; ++k) {
    const double M = at->diagonal[k], hd = h * damping_of(f, options, k);
    at->theta[k] = touched ? 1 : hd > 2 * M ? 1 - M / hd : 0.5;
    const double extra = at->theta[k] * (hd + 0.5 * h * h * f->info->stiffness[k]);
    has_factor &= extra == at->extra[k];
    at->extra[k] = extra;
    at->mass[k * (f->n + 1)] = M + extra;
  }
  if (!has_factor) {
    TRIBO_TRY(tribo_dyn_factor(&f->part->dofs, at->mass, at->factor));
  }
  if (f->is_tied) {
    for (int k = 0; k < f->n; ++k) {
      at->mass[k * (f->n + 1)] = at->diagonal[k];
    }
  }
  return TRIBO_OK;
}

// M v.
static void momentum_of(const Flight* f, const TreeInstant* at, const double* v, double* out) {
  tribo_mat_vec(f->n, f->n, at->mass, v, out);
  if (!f->is_tied) {
    for (int k = 0; k < f->n; ++k) {
      out[k] -= at->extra[k] * v[k];
    }
  }
}

// Velocity after a full kick of the forces at q and of dampers and springs that M̃ takes in part: where things are
// expected to go, and v_f of a tree that something touches.
static void kick_free(const Flight* f, TriboDynData* data, const TriboStepOptions* options, const TreeInstant* at,
                      const double* v, double* v_free) {
  const double h = options->h;
  double* work = data->work;
  for (int k = 0; k < f->n; ++k) {
    work[k] =
        h * (at->force[k] - at->weight[k] - damping_of(f, options, k) * v[k] - 0.5 * h * f->info->stiffness[k] * v[k]);
  }
  tribo_dyn_factor_solve(&f->part->dofs, at->factor, work);
  for (int k = 0; k < f->n; ++k) {
    v_free[k] = v[k] + work[k];
  }
}

// ---- drifts --------------------------------------------------------------------------------------------------------

static TriboStatus drift(const Flight* f, TriboDynData* data, const TreeInstant* at, double h, double tol,
                         const double* extra, const double* momentum, int* converged) {
  const TreeStart start = {at->q, at->poses, at->jac, at->bodies, at->factor};
  return tribo_dyn_tree_drift(f->part, f->pin, &start, h, f->part->njoint == 1 ? fmin(tol, ALONE_TOL) : tol, extra,
                              momentum, &data->flight.drift, converged);
}

// The drift of a smooth step of h from v, with an impulse (may be NULL): θ of it at the start, or all.
static TriboStatus drift_smoothly(const Flight* f, TriboDynData* data, const TreeInstant* at, double h, const double* v,
                                  const double* impulse, int all, int* converged) {
  double *w = data->flight.drift.w, *p = data->flight.momentum;
  momentum_of(f, at, v, p);
  for (int k = 0; k < f->n; ++k) {
    const double theta = at->theta[k], pushed = impulse == NULL ? 0 : (all ? 1 : theta) * impulse[k];
    const double start = theta * h * (at->force[k] - at->weight[k]) + pushed;
    p[k] += start;
    w[k] = start - at->extra[k] * v[k];
  }
  tribo_dyn_factor_solve(&f->part->dofs, at->factor, w);
  for (int k = 0; k < f->n; ++k) {
    w[k] += v[k];
  }
  return drift(f, data, at, h, SMOOTH_TOL, at->extra, p, converged);
}

// What an impulse (nv) on the tree is after it has moved: on a floating root, the same in the world.
static void carry_impulse(const Flight* f, const TriboPose* from, const TriboPose* to, const double* impulse,
                          double* out) {
  memcpy(out, impulse, (size_t)f->n * sizeof *out);
  const int root = f->part->joints->link;
  if (f->info->links[root].kind == TRIBO_JOINT_FREE) {
    double force[3], torque[3], shift[3], lever[3];
    tribo_mul33v(force, from[root].R, impulse);
    tribo_mul33v(torque, from[root].R, impulse + 3);
    tribo_sub3(shift, from[root].p, to[root].p);
    tribo_cross3(lever, shift, force);
    tribo_add3(torque, torque, lever);
    tribo_mul33tv(out, to[root].R, force);
    tribo_mul33tv(out + 3, to[root].R, torque);
  }
}

// The end of a drift: q⁺ from w, v⁺ from the momenta, with the rest of the forces and of `impulse` (may be NULL) there.
// `forces` 0: a drift without any.
static TriboStatus end_drift(const Flight* f, TriboDynData* data, const TriboStepOptions* options,
                             const TreeInstant* at, double h, int forces, const double* impulse, double* q_next,
                             double* v_next) {
  DriftWork* drifted = &data->flight.drift;
  TriboPose* poses = data->scratch_poses + f->part->body;
  double *jac = data->scratch_jac, *p = data->flight.momentum, *mass = data->flight.mass;
  TRIBO_TRY(tribo_dyn_tree_move(f->part, f->pin, at->q, h, drifted->w, drifted->step, q_next));
  TRIBO_TRY(tribo_dyn_tree_place(f->part, f->pin, q_next, poses, jac));
  tribo_dyn_tree_inertias(f->part, poses, data->scratch_inertias);
  tribo_dyn_tree_mass(f->part, jac, data->scratch_inertias, data->scratch_sums, mass);
  tribo_dyn_tree_momentum(f->part, jac, drifted, p);
  if (impulse != NULL) {
    double* carried = data->flight.jump;
    carry_impulse(f, at->poses, poses, impulse, carried);
    for (int k = 0; k < f->n; ++k) {
      p[k] += (1 - at->theta[k]) * carried[k];
    }
  }
  if (forces) {
    const double* wrench = data->wrench + 6 * f->part->body;
    double *then = data->scratch_force, *now = data->work;
    tribo_dyn_tree_weight(f->part, options->gravity, jac, data->scratch_sums, data->scratch_weight);
    // wrenches act where their links are: at q⁺ their columns are other ones
    memset(then, 0, (size_t)f->n * sizeof *then);
    tribo_dyn_tree_wrenches(f->part, poses, jac, wrench, then);
    memset(now, 0, (size_t)f->n * sizeof *now);
    tribo_dyn_tree_wrenches(f->part, at->poses, at->jac, wrench, now);
    for (int k = 0; k < f->n; ++k) {
      const double rest = 1 - at->theta[k];
      const double resisted = (damping_of(f, options, k) + 0.5 * h * f->info->stiffness[k]) * drifted->w[k];
      p[k] += rest * h * (at->force[k] + then[k] - now[k] - data->scratch_weight[k] - resisted);
    }
  }
  TRIBO_TRY(tribo_dyn_factor(&f->part->dofs, mass, data->scratch_factor));
  memcpy(v_next, p, (size_t)f->n * sizeof *p);
  tribo_dyn_factor_solve(&f->part->dofs, data->scratch_factor, v_next);
  return TRIBO_OK;
}

// Why a step cannot be taken.
static TriboStatus fail_unresolved(const Flight* f, TriboDynData* data, double h) {
  const double turn = sqrt(data->flight.drift.turn) / h;
  data->flight.is_unresolved = 1;
  return tribo_fail(TRIBO_NUMERIC,
                    "the motion of '%s' cannot be resolved: a link turns by %.3g rad/s, too far in one step of %g s; a "
                    "step of %.1g s would do",
                    f->info->links[0].name, turn, h, fmin(0.3 / turn, 0.5 * h));
}

// ---- the stages of a step ------------------------------------------------------------------------------------------

TriboStatus tribo_dyn_flight_update(const TriboSystem* system, TriboDynData* data, int tree,
                                    const TriboStepOptions* options, const double* v, const double* tau,
                                    const double* wrench) {
  const Flight f = flight_of(system, data, tree);
  const TreeInstant at = start_of(&f, data);
  double* v_free = data->v_free + f.at_v;
  TRIBO_TRY(place(&f, data, options, data->inertias + f.at_v, &at));
  collect_force(&f, options, v, tau, wrench, &at);
  if (f.is_tied) {
    TRIBO_TRY(tribo_dyn_factor(&f.part->dofs, at.mass, at.factor));
    tribo_dyn_factor_inverse(&f.part->dofs, at.factor, data->minv + f.at_m);
  }
  TRIBO_TRY(set_mass(&f, options, options->h, 1, f.is_tied, &at));
  kick_free(&f, data, options, &at, v, v_free);
  tribo_dyn_tree_twists(f.info, at.jac, v_free, at.poses, data->twists + f.part->body);
  data->mean_kind[tree] = MEAN_START;
  return TRIBO_OK;
}

// δ of a tree that something touches, and how its links go on without joint accelerations: contacts look ahead along
// it.
static void bend(const Flight* f, TriboDynData* data, const TriboStepOptions* options, const TreeInstant* at,
                 const double* v, double* delta) {
  static const double WEIGHTLESS[3] = {0, 0, 0};
  tribo_dyn_tree_bias(f->part, WEIGHTLESS, at->q, at->jac, data->inertias + f->at_v, v, data->motions + f->at_v, delta);
  tribo_dyn_factor_solve(&f->part->dofs, at->factor, delta);
  for (int k = 0; k < f->n; ++k) {
    delta[k] *= -0.5 * options->h;
  }
}

// The drift that nothing pushes: kept for advance, where nothing does.
static void keep_drift(const Flight* f, TriboDynData* data, int back) {
  FlightData* flight = &data->flight;
  const size_t nv = (size_t)f->n, njoint = (size_t)f->part->njoint;
  double *w = flight->w + f->at_v, *r = flight->r + f->at_v, *spin = flight->spin + f->at_v;
  double(*P)[6] = flight->P + f->at_v;
  memcpy(back ? flight->drift.w : w, back ? w : flight->drift.w, nv * sizeof *w);
  memcpy(back ? flight->drift.r : r, back ? r : flight->drift.r, nv * sizeof *r);
  memcpy(back ? flight->drift.spin : spin, back ? spin : flight->drift.spin, njoint * sizeof *spin);
  memcpy(back ? flight->drift.P : P, back ? P : flight->drift.P, njoint * sizeof *P);
}

TriboStatus tribo_dyn_flight_finish(const TriboSystem* system, TriboDynData* data, int tree,
                                    const TriboStepOptions* options, const double* v) {
  const Flight f = flight_of(system, data, tree);
  const TreeInstant at = start_of(&f, data);
  const unsigned char kind = data->touched[f.part->block] ? MEAN_TOUCHED : MEAN_FREE;
  double *v_free = data->v_free + f.at_v, *delta = data->flight.delta + f.at_v;
  if (data->mean_kind[tree] == kind) {
    return TRIBO_OK;
  }
  TRIBO_TRY(set_mass(&f, options, options->h, kind == MEAN_TOUCHED, 1, &at));
  memset(delta, 0, (size_t)f.n * sizeof *delta);
  kick_free(&f, data, options, &at, v, v_free);
  if (kind == MEAN_TOUCHED) {
    bend(&f, data, options, &at, v, delta);
    for (int k = 0; k < f.n; ++k) {
      v_free[k] += delta[k];
    }
  } else {
    int converged;
    TRIBO_TRY(drift_smoothly(&f, data, &at, options->h, v, NULL, 0, &converged));
    data->flight.converged[tree] = (unsigned char)converged;
    if (converged) {
      for (int k = 0; k < f.n; ++k) {
        v_free[k] = v[k] + (data->flight.drift.w[k] - v[k]) / at.theta[k];
      }
    }
    keep_drift(&f, data, 0);
  }
  if (!f.is_tied) {
    tribo_dyn_factor_inverse(&f.part->dofs, at.factor, data->minv + f.at_m);
  }
  data->mean_kind[tree] = kind;
  return TRIBO_OK;
}

// A tree that is kicked in full at q: v_next is v_a + δ, and becomes v⁺.
static TriboStatus advance_touched(const Flight* f, TriboDynData* data, const TriboStepOptions* options,
                                   const TreeInstant* at, double* q_next, double* v_next, int* converged) {
  const double* delta = data->flight.delta + f->at_v;
  double* p = data->flight.momentum;
  memcpy(data->flight.drift.w, v_next, (size_t)f->n * sizeof *v_next);
  for (int k = 0; k < f->n; ++k) {
    v_next[k] -= delta[k];
  }
  tribo_mat_vec(f->n, f->n, at->mass, v_next, p);
  for (int k = 0; f->is_tied && k < f->n; ++k) {
    p[k] += at->extra[k] * v_next[k];
  }
  TRIBO_TRY(drift(f, data, at, options->h, TOUCHED_TOL, at->extra, p, converged));
  return end_drift(f, data, options, at, options->h, 0, NULL, q_next, v_next);
}

// A step with an impact after its fraction `split`.
static TriboStatus advance_impact(const Flight* f, TriboDynData* data, const TriboStepOptions* options,
                                  const TreeInstant* at, double split, const double* v, const double* impulse,
                                  const double* minv, double* q_next, double* v_next, int* converged) {
  const double h[2] = {split * options->h, (1 - split) * options->h};
  FlightData* flight = &data->flight;
  TreeInstant mid = flight->mid;
  mid.poses += f->part->body;
  // the part before it, with a mass of its own
  TreeInstant first = *at;
  first.mass = mid.mass, first.factor = mid.factor, first.extra = mid.extra, first.theta = mid.theta;
  memcpy(first.mass, at->mass, (size_t)(f->n * f->n) * sizeof *first.mass);
  memcpy(first.extra, at->extra, (size_t)f->n * sizeof *first.extra);
  TRIBO_TRY(set_mass(f, options, h[0], 0, 0, &first));
  TRIBO_TRY(drift_smoothly(f, data, &first, h[0], v, NULL, 0, converged));
  TRIBO_TRY(end_drift(f, data, options, &first, h[0], 1, NULL, mid.q, v_next));

  // the jump, M (v̂ + M̃⁻¹Jᵀλ) − M v̂, of which a floating root has what acts from outside
  double *jump = flight->jump, *kick = flight->kick;
  TRIBO_TRY(place(f, data, options, data->scratch_inertias, &mid));
  tribo_mat_vec(f->n, f->n, minv, impulse, jump);
  tribo_mat_vec(f->n, f->n, mid.mass, jump, kick);
  if (f->info->links[f->part->joints->link].kind == TRIBO_JOINT_FREE) {
    carry_impulse(f, at->poses, mid.poses, impulse, jump);
    memcpy(kick, jump, 6 * sizeof *kick);
  }

  // the part after it
  collect_force(f, options, v_next, data->tau + f->at_v, data->wrench + 6 * f->part->body, &mid);
  for (int k = 0; options->resist != NULL && k < f->n; ++k) {
    // (τ has the damping of drives at v)
    mid.force[k] += options->resist[f->at_v + k] * (v[k] - v_next[k]);
  }
  TRIBO_TRY(set_mass(f, options, h[1], 0, 0, &mid));
  int met;
  TRIBO_TRY(drift_smoothly(f, data, &mid, h[1], v_next, kick, 1, &met));
  *converged = *converged && met;
  return end_drift(f, data, options, &mid, h[1], 1, NULL, q_next, v_next);
}

TriboStatus tribo_dyn_flight_flow(const TriboSystem* system, TriboDynData* data, int tree,
                                  const TriboStepOptions* options, const double* v, double* q_next, double* v_next) {
  const Flight f = flight_of(system, data, tree);
  const TreeInstant at = start_of(&f, data);
  int converged;
  TRIBO_TRY(set_mass(&f, options, options->h, 0, 1, &at));
  TRIBO_TRY(drift_smoothly(&f, data, &at, options->h, v, NULL, 0, &converged));
  return converged ? end_drift(&f, data, options, &at, options->h, 1, NULL, q_next, v_next)
                   : fail_unresolved(&f, data, options->h);
}

TriboStatus tribo_dyn_flight_advance(const TriboSystem* system, TriboDynData* data, int tree,
                                     const TriboStepOptions* options, const double* v, double* q_next, double* v_next) {
  const Flight f = flight_of(system, data, tree);
  const TreeInstant at = start_of(&f, data);
  const double *impulse = data->impulse + f.at_v, split = data->split[f.part->block];
  int pushed = 0, converged = 1;
  for (int k = 0; k < f.n; ++k) {
    pushed |= impulse[k] != 0;
  }
  if (pushed && split > 0 && split < 1 && !f.is_tied) {
    TRIBO_TRY(
        advance_impact(&f, data, options, &at, split, v, impulse, data->minv + f.at_m, q_next, v_next, &converged));
  } else if (data->mean_kind[tree] == MEAN_TOUCHED) {
    TRIBO_TRY(advance_touched(&f, data, options, &at, q_next, v_next, &converged));
  } else {
    if (pushed) {
      TRIBO_TRY(drift_smoothly(&f, data, &at, options->h, v, impulse, 0, &converged));
    } else {
      keep_drift(&f, data, 1);
      converged = data->flight.converged[tree];
    }
    TRIBO_TRY(end_drift(&f, data, options, &at, options->h, 1, pushed ? impulse : NULL, q_next, v_next));
  }
  return converged ? TRIBO_OK : fail_unresolved(&f, data, options->h);
}
