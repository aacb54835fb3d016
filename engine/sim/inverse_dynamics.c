// Inverse dynamics of whole scenes: the stages of a step with the end given and the forces sought. dynamics/inverse.c
// has the equations.
#include "data.h"

#include <string.h>

#include "math3.h"

enum { MOST_PASSES = 3, MOST_ROUNDS = 10 };

// Forces are found when what the wish needs no longer changes.
static const double SETTLED = 1e-14;

TriboInverseOptions tribo_inverse_default(void) {
  return (TriboInverseOptions){.tol = 1e-9};
}

// All joints have a drive, except what floats.
static void choose_driven(const TriboModel* model, const TriboInverseOptions* options, unsigned char* driven) {
  if (options->driven != NULL) {
    memcpy(driven, options->driven, (size_t)model->nv);
    return;
  }
  memset(driven, 0, (size_t)model->nv);
  for (int j = 0; j < model->njoint; ++j) {
    const TriboJointInfo* joint = &model->joints[j];
    memset(driven + joint->v_at, strcmp(joint->kind, tribo_dyn_joint_name(TRIBO_JOINT_FREE)) != 0, (size_t)joint->nv);
  }
}

static TriboStatus check(const TriboModel* model, const double* wish, const TriboInverseOptions* options) {
  if (!tribo_finite(wish, (size_t)model->nv)) {
    return tribo_fail(TRIBO_INVALID, "tribo_inverse_dynamics: wish must be finite");
  }
  if (!(options->tol >= 0 && options->tol < INFINITY)) {
    return tribo_fail(TRIBO_INVALID, "tribo_inverse_dynamics: tol = %g; accepted are finite numbers ≥ 0", options->tol);
  }
  for (int i = 0; options->driven != NULL && i < 6 * model->nfree; ++i) {
    if (options->driven[i]) {
      return tribo_fail(TRIBO_INVALID, "tribo_inverse_dynamics: driven[%d] is of the free body %s, must be 0", i,
                        model->bodies[i / 6].name);
    }
  }
  return TRIBO_OK;
}

static TriboStatus reserve(const TriboModel* model, TriboData* data) {
  TRIBO_TRY(TRIBO_RESERVE(&data->has_drive, &data->has_drive_capacity, model->nv));
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse_tau, &data->inverse_tau_capacity, model->nv));
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse_missing, &data->inverse_missing_capacity, model->nv));
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse_v, &data->inverse_v_capacity, model->nv));
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse_y, &data->inverse_y_capacity, model->nv));
  return TRIBO_RESERVE(&data->opening, &data->opening_capacity, 6 * model->nclosure);
}

// What the wish asks of constraints that do not give: how fast it closes what is closed.
static double approach(const TriboData* data) {
  double most = 0;
  for (int c = 0; c < data->problem.ncone; ++c) {
    const TriboCone* cone = &data->problem.cones[c];
    const int row = cone->row + cone->dim - 1;
    if ((cone->kind == TRIBO_CONE_FRICTION || cone->kind == TRIBO_CONE_NONNEG) && data->problem.R[row] == 0) {
      most = fmax(most, -data->problem.g[row]);
    }
  }
  return most;
}

// How fast the wish opens closures. Euler's step asks for velocities, the rows of the problem say which; the other one
// for positions: with the wish all through the step, as at contacts, or with the mean velocity.
static TriboStatus opening(const TriboModel* model, TriboData* data, double h, const double* wish, double* out) {
  double most[2] = {0, 0};
  for (int c = 0; c < data->problem.ncone; ++c) {
    const TriboCone* cone = &data->problem.cones[c];
    for (int i = cone->row; i < cone->row + cone->dim && data->rows[c].kind == TRIBO_ROW_CLOSURE; ++i) {
      most[0] = fmax(most[0], fabs(data->problem.g[i]));
    }
  }
  *out = most[0];
  if (model->nclosure == 0 || model->world.scheme == TRIBO_SCHEME_EULER) {
    return TRIBO_OK;
  }
  most[0] = 0;
  for (int smooth = 0; smooth < 2; ++smooth) {
    for (int i = 0; i < model->nv; ++i) {
      data->inverse_y[i] = smooth ? 0.5 * h * (data->v[i] + wish[i]) : h * wish[i];
    }
    TRIBO_TRY(tribo_dyn_integrate(model->system, data->dynamics, data->q, data->inverse_y, data->q_next));
    TRIBO_TRY(tribo_dyn_closure_error(model->system, data->dynamics, data->q_next, data->opening));
    for (int i = 0; i < 6 * model->nclosure; ++i) {
      most[smooth] = fmax(most[smooth], fabs(data->opening[i]) / h);
    }
  }
  *out = fmin(most[0], most[1]);
  return TRIBO_OK;
}

// The wish is what it is: nothing may be levelled in its problem. The next step sets its own tolerance again.
static TriboStatus level_nothing(TriboData* data) {
  for (int i = 0; i < data->nsolver && data->most_factorisations > 0 && data->solve_h != 0; ++i) {
    TRIBO_TRY(tribo_solver_set(data->solvers[i], "level", 0));
  }
  data->solve_h = 0;
  return TRIBO_OK;
}

// Solves for the impulses and renews what the wish needs, until both agree or for the given number of passes.
static TriboStatus find_impulses(const TriboModel* model, TriboData* data, const TriboStepOptions* options,
                                 const TriboProblem* reduced, int most, TriboInverse* out) {
  const TriboProblem full = data->problem;
  double change;
  data->alone = 0;
  TRIBO_TRY(level_nothing(data));
  TRIBO_TRY(tribo_dyn_inverse_balance(model->system, data->dynamics, options, data->v, NULL, data->lambda, &change));
  for (out->passes = 0; out->passes < most; ++out->passes) {
    TriboStepInfo info = {0};
    data->problem = *reduced;
    if (out->passes == 0) {
      // nothing is known yet
      TRIBO_TRY(tribo_islands_build(&data->islands, reduced));
      if (reduced->ncone > 0) {
        memset(data->islands.known, 0, (size_t)reduced->ncone);
        memset(data->islands.warm_lambda, 0, (size_t)reduced->nrow * sizeof(double));
        memset(data->islands.warm_sigma, 0, (size_t)reduced->nrow * sizeof(double));
      }
    } else {
      tribo_islands_again(&data->islands, reduced);
    }
    double* whole = data->lambda;
    data->lambda = data->inverse_lambda;
    const TriboStatus status = tribo_data_solve(data, 0, &info);
    data->lambda = whole;
    data->problem = full;
    TRIBO_TRY(status);
    out->iterations += info.iterations;
    TRIBO_TRY(tribo_dyn_inverse_balance(model->system, data->dynamics, options, data->v, data->inverse_lambda,
                                        data->lambda, &change));
    if (change <= SETTLED) {
      break;
    }
  }
  return TRIBO_OK;
}

// The contacts with their forces take the place of the last step's; speeds decide what slides.
static TriboStatus publish(TriboData* data, double h, double tol, TriboInverse* out) {
  TRIBO_TRY(TRIBO_RESERVE(&data->views, &data->view_capacity, data->ncontact));
  data->nview = data->ncontact;
  for (int c = 0; c < data->problem.ncone; ++c) {
    const TriboRowInfo* row = &data->rows[c];
    const TriboCone* cone = &data->problem.cones[c];
    if (row->kind != TRIBO_ROW_CONTACT) {
      continue;
    }
    TriboContactView* view = &data->views[row->index];
    tribo_contact_view(&data->contacts[row->index], row, cone, data->lambda + cone->row, h, view);
    double slip = 0;
    for (int i = cone->row; i < cone->row + cone->dim - 1; ++i) {
      slip = fmax(slip, fabs(data->problem.g[i]));
    }
    if (view->mode != TRIBO_CONTACT_OPEN && cone->dim > 1) {
      view->mode = slip > tol ? TRIBO_CONTACT_SLIDE : TRIBO_CONTACT_STICK;
    }
  }
  out->contacts = data->views;
  out->ncontact = data->ncontact;
  return TRIBO_OK;
}

// √(yᵀM y) over the mass blocks of the problem.
static double kinetic_norm(const TriboData* data, const double* y) {
  const TriboProblem* p = &data->problem;
  double sum = 0;
  for (int b = 0, at = 0; b < p->nblock; at += p->block_dim[b++]) {
    const int n = p->block_dim[b];
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < n; ++k) {
        sum += y[at + i] * p->mass[p->block_at[b] + (size_t)(i * n + k)] * y[at + k];
      }
    }
  }
  return sqrt(fmax(sum, 0));
}

// The state and the contacts of a step that ends with the wish.
static TriboStatus prepare(const TriboModel* model, TriboData* data, const double* wish,
                           const TriboInverseOptions* options, TriboStepOptions* step) {
  const double h = model->world.dt;
  const StepStart start = {
      .time = data->time, .h = h, .q = data->q, .v = data->v, .warm = data->warm, .nwarm = data->nwarm};
  TriboStepInfo info = {0};
  TRIBO_TRY(tribo_data_gather(model, data, &start, options->drives));
  *step = tribo_data_options(&model->world, data, h);
  step->nmotor = options->drives ? step->nmotor : 0;
  for (int i = 0; i < model->nv; ++i) {
    data->tau_step[i] -= data->has_drive[i] ? data->tau[i] : 0;
  }
  TRIBO_TRY(tribo_dyn_inverse_update(model->system, data->dynamics, step, data->q, data->v, wish, data->tau_step,
                                     data->wrench_step));
  uint64_t mark = 0;
  return tribo_data_detect(model, data, &start, &info, &mark);
}

// The inverse of one wish; whole: the undriven part goes its own way, which lack then tells.
static TriboStatus invert(const TriboModel* model, TriboData* data, const double* wish,
                          const TriboInverseOptions* options, const TriboStepOptions* step, int whole,
                          TriboInverse* out) {
  TRIBO_TRY(tribo_dyn_assemble(model->system, data->dynamics, step, data->q, data->v, data->contacts, data->laws,
                               data->ncontact, &data->problem, &data->rows));
  TRIBO_TRY(TRIBO_RESERVE(&data->lambda, &data->lambda_capacity, data->problem.nrow));
  TRIBO_TRY(TRIBO_RESERVE(&data->sigma, &data->sigma_capacity, data->problem.nrow));
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse_lambda, &data->inverse_lambda_capacity, data->problem.nrow));
  out->penetration = approach(data);
  TRIBO_TRY(opening(model, data, step->h, wish, &out->opening));
  TriboProblem reduced;
  TRIBO_TRY(tribo_dyn_inverse_reduce(model->system, data->dynamics, data->has_drive, options->tol, whole, &reduced));
  const int polish = !whole && tribo_dyn_inverse_polishes(model->system, data->dynamics);
  TRIBO_TRY(find_impulses(model, data, step, &reduced, polish ? 1 : MOST_PASSES, out));
  if (polish) {
    TRIBO_TRY(tribo_dyn_inverse_polish(model->system, data->dynamics, step, data->v, data->lambda));
  }
  TRIBO_TRY(publish(data, step->h, options->tol, out));
  out->nspan = 0;
  if (options->span && !whole) {
    TRIBO_TRY(tribo_dyn_inverse_span(model->system, data->dynamics, &out->span, &out->nspan));
  }
  TRIBO_TRY(tribo_dyn_inverse_finish(model->system, data->dynamics, step, data->v, data->lambda, data->inverse_tau,
                                     data->inverse_y));
  out->deviation = 0;
  for (int i = 0; i < model->nv; ++i) {
    data->inverse_missing[i] = data->has_drive[i] ? 0 : data->inverse_tau[i];
    data->inverse_tau[i] = data->has_drive[i] ? data->inverse_tau[i] : 0;
    out->deviation = fmax(out->deviation, fabs(data->inverse_y[i]));
  }
  out->distance = kinetic_norm(data, data->inverse_y);
  out->feasible = fmax(out->deviation, fmax(out->penetration, out->opening)) <= options->tol;
  return TRIBO_OK;
}

static TriboStatus judge(TriboData* data, TriboInverse* out) {
  out->residual = (TriboResiduals){.worst = -1};
  if (data->problem.ncone == 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&data->judge_work, &data->judge_capacity, tribo_problem_workspace(&data->problem)));
  return tribo_problem_residuals_in(&data->problem, data->lambda, data->sigma, data->judge_work, &out->residual);
}

static TriboStatus run(const TriboModel* model, TriboData* data, const double* wish, const TriboInverseOptions* options,
                       TriboInverse* out) {
  double* v_next = data->inverse_v;
  for (int i = 0; i < model->nv; ++i) {
    v_next[i] = options->acceleration ? data->v[i] + model->world.dt * wish[i] : wish[i];
  }
  TriboStepOptions step;
  TRIBO_TRY(prepare(model, data, v_next, options, &step));
  TRIBO_TRY(invert(model, data, v_next, options, &step, 0, out));
  if (!out->feasible) {
    // points that pairs leave out may carry it, as they do in a step that would let them sink
    int added;
    TRIBO_TRY(tribo_data_touching(model, data, step.h, &added));
    if (added > 0) {
      TRIBO_TRY(invert(model, data, v_next, options, &step, 0, out));
    }
  }
  if (!out->feasible && options->nearest) {
    // each round moves the wish to where its undriven part would go; the last one finds nothing left to do
    TriboInverse round = *out;
    for (int i = 0; i < MOST_ROUNDS; ++i) {
      TRIBO_TRY(prepare(model, data, v_next, options, &step));
      TRIBO_TRY(invert(model, data, v_next, options, &step, 1, &round));
      for (int k = 0; k < model->nv; ++k) {
        v_next[k] += data->inverse_y[k];
      }
      if (round.deviation <= 1e-3 * options->tol) {
        break;
      }
    }
    TRIBO_TRY(prepare(model, data, v_next, options, &step));
    TRIBO_TRY(invert(model, data, v_next, options, &step, 0, &round));
    round.deviation = 0;
    for (int k = 0; k < model->nv; ++k) {
      data->inverse_y[k] = v_next[k] - (options->acceleration ? data->v[k] + model->world.dt * wish[k] : wish[k]);
      round.deviation = fmax(round.deviation, fabs(data->inverse_y[k]));
    }
    round.distance = kinetic_norm(data, data->inverse_y);
    round.feasible = 0;
    *out = round;
  }
  return judge(data, out);
}

// The impulses become what the next step of these joints and contacts starts from.
static TriboStatus lead(const TriboModel* model, TriboData* data) {
  const StepStart start = {.h = model->world.dt};
  TRIBO_TRY(tribo_warm_renew(model, data, &start));
  TRIBO_TRY(TRIBO_RESERVE(&data->warm, &data->warm_capacity, data->nwarm_next));
  memcpy(data->warm, data->warm_next, (size_t)data->nwarm_next * sizeof *data->warm);
  data->nwarm = data->nwarm_next;
  data->warm_dt = start.h;
  return TRIBO_OK;
}

TriboStatus tribo_inverse_dynamics(const TriboModel* model, TriboData* data, const double* wish,
                                   const TriboInverseOptions* options, TriboInverse* out) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_inverse_dynamics"));
  TRIBO_REQUIRE(wish);
  TRIBO_REQUIRE(options);
  TRIBO_REQUIRE(out);
  TRIBO_TRY(check(model, wish, options));
  TRIBO_TRY(reserve(model, data));
  choose_driven(model, options, data->has_drive);
  *out = (TriboInverse){.tau = data->inverse_tau, .missing = data->inverse_missing, .v_next = data->inverse_v};
  TriboStatus status = run(model, data, wish, options, out);
  if (status == TRIBO_OK && options->lead) {
    status = lead(model, data);
  }
  // the arrays of the last step's problem hold something else now, and so may the state before it
  data->before_known = 0;
  data->problem = (TriboProblem){0};
  data->islands.count = 0;
  return status;
}
