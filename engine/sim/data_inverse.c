// Inverse dynamics of whole scenes: the stages of a step with the end given and the forces sought. The equations are in
// inverse_dynamics.c.
#include "data_impl.h"

#include <string.h>

#include "math3.h"

enum { MOST_PASSES = 3, MOST_ROUNDS = 10 };

// Forces are found when the impulses that v_target needs change by no more than this part of themselves.
static const double UNCHANGED = 1e-14;

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
    const TriboJointInfo* joint = &model->mechanism.joints[j];
    memset(driven + joint->v_at, strcmp(joint->kind, tribo_dyn_joint_name(TRIBO_JOINT_FREE)) != 0, (size_t)joint->nv);
  }
}

static TriboStatus check(const TriboModel* model, const double* v_target, const TriboInverseOptions* options) {
  if (!tribo_finite(v_target, (size_t)model->nv)) {
    return tribo_fail(TRIBO_INVALID, "tribo_inverse_dynamics: v_target must be finite");
  }
  if (!(options->tol >= 0 && options->tol < INFINITY)) {
    return tribo_fail(TRIBO_INVALID, "tribo_inverse_dynamics: tol = %g; accepted are finite numbers ≥ 0", options->tol);
  }
  if (options->driven != NULL) {
    for (int i = 0; i < 6 * model->mechanism.nfree; ++i) {
      if (options->driven[i]) {
        return tribo_fail(TRIBO_INVALID, "tribo_inverse_dynamics: driven[%d] is of the free body %s, must be 0", i,
                          model->mechanism.bodies[i / 6].name);
      }
    }
  }
  return TRIBO_OK;
}

static TriboStatus reserve(const TriboModel* model, TriboData* data) {
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse.has_drive, model->nv));
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse.tau, model->nv));
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse.effort_missing, model->nv));
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse.v, model->nv));
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse.y, model->nv));
  return TRIBO_RESERVE(&data->inverse.opening, 6 * model->nclosure);
}

// What the v_target asks of constraints that do not give: how fast it closes what is closed.
static double approach(const TriboData* data) {
  double most = 0;
  for (int c = 0; c < data->result.problem.ncone; ++c) {
    const TriboCone* cone = &data->result.problem.cones[c];
    const int row = cone->row + cone->dim - 1;
    if ((cone->kind == TRIBO_CONE_FRICTION || cone->kind == TRIBO_CONE_NONNEG) && data->result.problem.R[row] == 0) {
      most = fmax(most, -data->result.problem.g[row]);
    }
  }
  return most;
}

// How fast the v_target opens closures. Euler's step asks for velocities, the rows of the problem say which; the other
// one for positions, with free bodies as at contacts or as in flight.
static TriboStatus opening(const TriboModel* model, TriboData* data, const TriboStepOptions* step,
                           const double* v_target, double* out) {
  const double h = step->h;
  double most[2] = {0, 0};
  for (int c = 0; c < data->result.problem.ncone; ++c) {
    const TriboCone* cone = &data->result.problem.cones[c];
    if (data->result.rows[c].kind == TRIBO_ROW_CLOSURE) {
      for (int i = cone->row; i < cone->row + cone->dim; ++i) {
        most[0] = fmax(most[0], fabs(data->result.problem.g[i]));
      }
    }
  }
  *out = most[0];
  if (model->nclosure == 0 || model->world.scheme == TRIBO_SCHEME_EULER) {
    return TRIBO_OK;
  }
  most[0] = 0;
  for (int smooth = 0; smooth < 2; ++smooth) {
    TRIBO_TRY(tribo_dyn_inverse_end(model->mechanism.system, data->dynamics, step, data->now.v, v_target, smooth,
                                    data->next.q));
    TRIBO_TRY(tribo_dyn_closure_error(model->mechanism.system, data->dynamics, data->next.q, data->inverse.opening));
    for (int i = 0; i < 6 * model->nclosure; ++i) {
      most[smooth] = fmax(most[smooth], fabs(data->inverse.opening[i]) / h);
    }
  }
  *out = fmin(most[0], most[1]);
  return TRIBO_OK;
}

// Solves for the impulses and renews what the v_target needs, until both agree or for the given number of passes.
static TriboStatus find_impulses(const TriboModel* model, TriboData* data, const TriboProblem* reduced, int most,
                                 TriboInverse* out) {
  const TriboProblem full = data->result.problem;
  double change;
  data->solve.closures_known = 0;
  // the wanted velocity is what it is
  TRIBO_TRY(tribo_data_solve_exactly(data, 1));
  TRIBO_TRY(tribo_dyn_inverse_balance(model->mechanism.system, data->dynamics, NULL, data->result.lambda, &change));
  for (out->passes = 0; out->passes < most; ++out->passes) {
    TriboStepInfo info = {0};
    data->result.problem = *reduced;
    if (out->passes == 0) {
      // nothing is known yet
      TRIBO_TRY(tribo_islands_build(&data->solve.islands, reduced));
      if (reduced->ncone > 0) {
        memset(data->solve.islands.known, 0, (size_t)reduced->ncone);
        memset(data->solve.islands.warm_lambda, 0, (size_t)reduced->nrow * sizeof(double));
        memset(data->solve.islands.warm_sigma, 0, (size_t)reduced->nrow * sizeof(double));
      }
    } else {
      tribo_islands_again(&data->solve.islands, reduced, 0);
    }
    double* whole = data->result.lambda;
    data->result.lambda = data->inverse.lambda;
    const TriboStatus status = tribo_data_solve(data, model->world.dt, 0, &info);
    data->result.lambda = whole;
    data->result.problem = full;
    TRIBO_TRY(status);
    out->iterations += info.iterations;
    TRIBO_TRY(tribo_dyn_inverse_balance(model->mechanism.system, data->dynamics, data->inverse.lambda,
                                        data->result.lambda, &change));
    if (change <= UNCHANGED) {
      break;
    }
  }
  return TRIBO_OK;
}

// The contacts with their forces take the place of the last step's; speeds decide what slides.
static TriboStatus publish(TriboData* data, double h, double tol, TriboInverse* out) {
  TRIBO_TRY(TRIBO_RESERVE(&data->result.views, data->contacts.count));
  data->result.nview = data->contacts.count;
  for (int c = 0; c < data->result.problem.ncone; ++c) {
    const TriboRowInfo* row = &data->result.rows[c];
    const TriboCone* cone = &data->result.problem.cones[c];
    if (row->kind != TRIBO_ROW_CONTACT) {
      continue;
    }
    TriboContactView* view = &data->result.views[row->index];
    tribo_contact_view(&data->contacts.list[row->index], row, cone, data->result.lambda + cone->row, h, view);
    double slip = 0;
    for (int i = cone->row; i < cone->row + cone->dim - 1; ++i) {
      slip = fmax(slip, fabs(data->result.problem.g[i]));
    }
    if (view->mode != TRIBO_CONTACT_OPEN && cone->dim > 1) {
      view->mode = slip > tol ? TRIBO_CONTACT_SLIDE : TRIBO_CONTACT_STICK;
    }
  }
  out->contacts = data->result.views;
  out->ncontact = data->contacts.count;
  return TRIBO_OK;
}

// √(yᵀM y) over the mass blocks of the problem.
static double kinetic_norm(const TriboData* data, const double* y) {
  const TriboProblem* p = &data->result.problem;
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

// The state and the contacts of a step that ends with the v_target.
static TriboStatus prepare(const TriboModel* model, TriboData* data, const double* v_target,
                           const TriboInverseOptions* options, TriboStepOptions* step) {
  const double h = model->world.dt;
  const StepStart start = {
      .time = data->time, .h = h, .q = data->now.q, .v = data->now.v, .warm = data->now.warm, .nwarm = data->now.nwarm};
  TriboStepInfo info = {0};
  TRIBO_TRY(tribo_data_collect_forces(model, data, &start, options->use_actuators));
  *step = tribo_data_options(&model->world, data, h);
  step->nmotor = options->use_actuators ? step->nmotor : 0;
  for (int i = 0; i < model->nv; ++i) {
    data->forces.tau[i] -= data->inverse.has_drive[i] ? data->input.tau[i] : 0;
  }
  TRIBO_TRY(tribo_dyn_inverse_update(model->mechanism.system, data->dynamics, step, data->now.q, data->now.v, v_target,
                                     data->forces.tau, data->forces.wrench));
  uint64_t t0 = 0;
  return tribo_data_detect(model, data, &start, &info, &t0);
}

// Rows and impulses for one v_target; whole: the undriven part moves as it does.
static TriboStatus find_rows(const TriboModel* model, TriboData* data, const double* v_target,
                             const TriboInverseOptions* options, const TriboStepOptions* step, int whole,
                             TriboInverse* out) {
  TRIBO_TRY(tribo_dyn_assemble(model->mechanism.system, data->dynamics, step, data->now.q, data->now.v,
                               data->contacts.list, data->contacts.laws, data->contacts.count, &data->result.problem,
                               &data->result.rows));
  TRIBO_TRY(TRIBO_RESERVE(&data->result.lambda, data->result.problem.nrow));
  TRIBO_TRY(TRIBO_RESERVE(&data->result.sigma, data->result.problem.nrow));
  TRIBO_TRY(TRIBO_RESERVE(&data->inverse.lambda, data->result.problem.nrow));
  out->penetration = approach(data);
  TRIBO_TRY(opening(model, data, step, v_target, &out->opening));
  TriboProblem reduced;
  TRIBO_TRY(tribo_dyn_inverse_reduce(model->mechanism.system, data->dynamics, data->inverse.has_drive, options->tol,
                                     whole, &reduced));
  const int polish = !whole && tribo_dyn_inverse_polishes(model->mechanism.system, data->dynamics);
  TRIBO_TRY(find_impulses(model, data, &reduced, polish ? 1 : MOST_PASSES, out));
  if (polish) {
    TRIBO_TRY(tribo_dyn_inverse_polish(model->mechanism.system, data->dynamics, data->result.lambda));
  }
  return TRIBO_OK;
}

// The inverse of one v_target; whole: the undriven part moves as it does, and v_error tells how far off that is.
static TriboStatus invert(const TriboModel* model, TriboData* data, const double* v_target,
                          const TriboInverseOptions* options, const TriboStepOptions* step, int whole,
                          TriboInverse* out) {
  int turned = 0;
  TRIBO_TRY(find_rows(model, data, v_target, options, step, whole, out));
  if (!whole && step->scheme != TRIBO_SCHEME_EULER) {
    TRIBO_TRY(tribo_dyn_inverse_slips(model->mechanism.system, data->dynamics, step, data->contacts.laws,
                                      data->result.lambda, &turned));
  }
  if (turned > 0) {
    TRIBO_TRY(find_rows(model, data, v_target, options, step, whole, out));
  }
  TRIBO_TRY(publish(data, step->h, options->tol, out));
  out->nfree_torque = 0;
  if (options->find_free_torques && !whole) {
    TRIBO_TRY(tribo_dyn_inverse_span(model->mechanism.system, data->dynamics, &out->free_torques, &out->nfree_torque));
  }
  TRIBO_TRY(tribo_dyn_inverse_finish(model->mechanism.system, data->dynamics, step, data->result.lambda,
                                     data->inverse.tau, data->inverse.y));
  tribo_dyn_add_known(data->dynamics, -1, data->result.lambda);
  out->v_error = 0;
  for (int i = 0; i < model->nv; ++i) {
    data->inverse.effort_missing[i] = data->inverse.has_drive[i] ? 0 : data->inverse.tau[i];
    data->inverse.tau[i] = data->inverse.has_drive[i] ? data->inverse.tau[i] : 0;
    out->v_error = fmax(out->v_error, fabs(data->inverse.y[i]));
  }
  out->distance = kinetic_norm(data, data->inverse.y);
  out->feasible = fmax(out->v_error, fmax(out->penetration, out->opening)) <= options->tol;
  return TRIBO_OK;
}

static TriboStatus judge(TriboData* data, TriboInverse* out) {
  out->residual = (TriboResiduals){.worst = -1};
  if (data->result.problem.ncone == 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&data->result.residual_work, tribo_problem_workspace(&data->result.problem)));
  return tribo_problem_residuals_in(&data->result.problem, data->result.lambda, data->result.sigma,
                                    data->result.residual_work, &out->residual);
}

// One step of inverse dynamics: rows, solve, and the forces that give the wanted velocity.
static TriboStatus run(const TriboModel* model, TriboData* data, const double* v_target,
                       const TriboInverseOptions* options, TriboInverse* out) {
  double* v_next = data->inverse.v;
  for (int i = 0; i < model->nv; ++i) {
    v_next[i] = options->acceleration ? data->now.v[i] + model->world.dt * v_target[i] : v_target[i];
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
    // each round moves the v_target to where its undriven part would go; the last one finds nothing left to do
    TriboInverse round = *out;
    for (int i = 0; i < MOST_ROUNDS; ++i) {
      TRIBO_TRY(prepare(model, data, v_next, options, &step));
      TRIBO_TRY(invert(model, data, v_next, options, &step, 1, &round));
      for (int k = 0; k < model->nv; ++k) {
        v_next[k] += data->inverse.y[k];
      }
      if (round.v_error <= 1e-3 * options->tol) {
        break;
      }
    }
    TRIBO_TRY(prepare(model, data, v_next, options, &step));
    TRIBO_TRY(invert(model, data, v_next, options, &step, 0, &round));
    round.v_error = 0;
    for (int k = 0; k < model->nv; ++k) {
      data->inverse.y[k] =
          v_next[k] - (options->acceleration ? data->now.v[k] + model->world.dt * v_target[k] : v_target[k]);
      round.v_error = fmax(round.v_error, fabs(data->inverse.y[k]));
    }
    round.distance = kinetic_norm(data, data->inverse.y);
    round.feasible = 0;
    *out = round;
  }
  return judge(data, out);
}

// The impulses become what the next step of these joints and contacts starts from.
static TriboStatus lead(const TriboModel* model, TriboData* data) {
  const StepStart start = {.h = model->world.dt};
  TRIBO_TRY(tribo_warm_renew(model, data, &start));
  TRIBO_TRY(TRIBO_RESERVE(&data->now.warm, data->next.nwarm));
  memcpy(data->now.warm, data->next.warm, (size_t)data->next.nwarm * sizeof *data->now.warm);
  data->now.nwarm = data->next.nwarm;
  data->warm_dt = start.h;
  return TRIBO_OK;
}

TriboStatus tribo_inverse_dynamics(const TriboModel* model, TriboData* data, const double* v_target,
                                   const TriboInverseOptions* options, TriboInverse* out) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_inverse_dynamics"));
  TRIBO_REQUIRE(v_target);
  TRIBO_REQUIRE(options);
  TRIBO_REQUIRE(out);
  TRIBO_TRY(check(model, v_target, options));
  TRIBO_TRY(reserve(model, data));
  choose_driven(model, options, data->inverse.has_drive);
  *out = (TriboInverse){
      .tau = data->inverse.tau, .effort_missing = data->inverse.effort_missing, .v_next = data->inverse.v};
  TriboStatus status = run(model, data, v_target, options, out);
  if (status == TRIBO_OK && options->set_warm_start) {
    status = lead(model, data);
  }
  // the arrays of the last step's problem hold something else now, and so may the state before it
  data->events.has_before = 0;
  data->result.problem = (TriboProblem){0};
  data->solve.islands.count = 0;
  return status;
}
