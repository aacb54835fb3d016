// One step, as the data sees it. Each stage has a timer; nothing of the state changes before the last line.
//
// Where the solver does not certify the answer, the step is divided: it is taken in halves, these in halves again where
// they need it. Shorter steps have smaller demands on the same constraints, so what was out of reach comes into reach.
// So is a step whose motion is not certified (balance.c), or cannot even be computed in one part; it fails by name
// where the shortest part is still too long. Whether and how often is policy.c's to say. Parts live in spare buffers;
// the state changes only when the last one is done.
#include "forces.h"

#include <string.h>

#include "math3.h"
#include "solvers.h"
#include "timer.h"

// ---- stages

// The user's inputs, the forces the scene schedules for this moment, and those that depend on the state.
TriboStatus tribo_data_collect_forces(const TriboModel* model, TriboData* data, const StepStart* start, int drives) {
  const double time = start->time;
  TRIBO_TRY(tribo_forces_at(model, data, start->q, start->v));
  TRIBO_TRY(tribo_forces_tendon_limits(model, data, data->forces.tau, data->forces.wrench));
  memcpy(data->forces.tau, data->input.tau, (size_t)model->nv * sizeof *data->input.tau);
  memcpy(data->forces.wrench, data->input.wrench, 6 * (size_t)model->nbody * sizeof *data->input.wrench);
  for (int i = 0; i < model->loads.nforce; ++i) {
    const ModelForce* force = &model->loads.forces[i];
    if (time < force->def.start || time >= force->def.end) {
      continue;
    }
    // (its mean over the step)
    const double part =
        force->def.ramp ? (time + 0.5 * start->h - force->def.start) / (force->def.end - force->def.start) : 1;
    if (force->body < 0) {
      data->forces.tau[force->v_at] += part * force->def.effort;
      continue;
    }
    double f[3], t[3];
    tribo_scale3(f, part, force->def.force);
    tribo_scale3(t, part, force->def.torque);
    if (force->def.local) {
      double R[9], own[3];
      TRIBO_TRY(tribo_data_kinematics(model, data));
      tribo_quat_to_mat(R, data->view.quaternion + 4 * force->body);
      tribo_copy3(own, f);
      tribo_mul33v(f, R, own);
      tribo_copy3(own, t);
      tribo_mul33v(t, R, own);
    }
    double* w = data->forces.wrench + 6 * force->body;
    tribo_add3(w, w, f);
    tribo_add3(w + 3, w + 3, t);
  }
  const ControlInput control = {data->dynamics, start->time, start->h, start->q, start->v};
  TRIBO_TRY(tribo_controllers_apply(model, &control, &data->control, data->input.motors, data->forces.tau));
  tribo_forces_passive(model, data, data->forces.tau, data->forces.wrench);
  memset(data->forces.damping, 0, (size_t)model->nv * sizeof *data->forces.damping);
  if (drives) {
    tribo_forces_actuators(model, data, data->forces.tau, data->forces.wrench);
  }
  return TRIBO_OK;
}

TriboStepOptions tribo_data_options(const TriboWorldDef* world, const TriboData* data, double h) {
  TriboStepOptions o = {.h = h,
                        .scheme = world->scheme,
                        .erp = world->erp,
                        .slop = world->slop,
                        .depen_max = world->depenetration_max,
                        .resist = data->forces.damping,
                        .motors = data->input.motors,
                        .nmotor = data->model->actuation.nmotor,
                        .bounds = data->forces.bounds,
                        .nbound = data->model->actuation.nbound,
                        .direct = data->solve.is_auto,
                        .roundness = tribo_contact_roundness,
                        .surfaces = data->model->geometry.collision,
                        .shut = world->tol * world->dt};
  tribo_copy3(o.gravity, world->gravity);
  // below 2 g h a rebound is only what gravity adds in two steps: noise
  o.bounce_min = fmax(world->bounce_min, 2 * tribo_norm3(world->gravity) * world->dt);
  return o;
}

// Closures: solve and advance again until they are shut in the next state, then make the velocities follow them. Rows
// that contradict each other leave them open.
static TriboStatus close_loops(const TriboModel* model, TriboData* data, const StepStart* start,
                               const TriboStepOptions* options, TriboStepInfo* info) {
  int again;
  if (model->nclosure == 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_dyn_close(model->mechanism.system, data->dynamics, options, start->v, data->result.lambda,
                            data->next.q, data->next.v, &info->opening, &info->passes, &again));
  for (; again && tribo_policy_may_close_again(data, start, info); info->passes++) {
    data->solve.closures_known = 0;
    tribo_islands_again(&data->solve.islands, &data->result.problem, again == 1);
    TRIBO_TRY(tribo_data_solve(data, start->h, start->deadline, info));
    TRIBO_TRY(tribo_dyn_advance(model->mechanism.system, data->dynamics, options, start->q, start->v,
                                data->result.lambda, data->next.q, data->next.v));
    TRIBO_TRY(tribo_dyn_close(model->mechanism.system, data->dynamics, options, start->v, data->result.lambda,
                              data->next.q, data->next.v, &info->opening, &info->passes, &again));
  }
  TriboProblem last;
  TriboSolveStats stats;
  TriboWarmStart guess = {0};
  TRIBO_TRY(tribo_dyn_project_velocity_assemble(model->mechanism.system, data->dynamics, options, data->next.q,
                                                data->next.v, data->result.lambda, &last, &guess.lambda));
  TRIBO_TRY(TRIBO_RESERVE(&data->result.closure_lambda, last.nrow));
  if (last.nrow > 0) {
    if (!tribo_dyn_project_velocity_closures_only(model->mechanism.system, data->dynamics, data->next.q,
                                                  data->result.closure_lambda)) {
      TRIBO_TRY(
          tribo_solver_solve_built(data->solve.velocity_solver, &last, &guess, data->result.closure_lambda, &stats));
    }
    TRIBO_TRY(
        tribo_dyn_project_velocity(model->mechanism.system, data->dynamics, data->result.closure_lambda, data->next.v));
  }
  tribo_dyn_closure_impulses(model->mechanism.system, data->dynamics, data->result.closure_lambda,
                             data->result.closure_force);
  for (int i = 0; i < 6 * model->nclosure; ++i) {
    data->result.closure_force[i] /= options->h;
  }
  memset(data->result.closure_wrench, 0, 6 * (size_t)model->nbody * sizeof *data->result.closure_wrench);
  tribo_dyn_closure_wrenches(model->mechanism.system, data->dynamics, data->result.closure_lambda,
                             data->result.closure_wrench);
  return TRIBO_OK;
}

// Bodies that are not there, or sleep, stay where they are.
static void keep_still(const TriboModel* model, TriboData* data, const StepStart* start) {
  if (data->nabsent > 0 || data->sleep.nasleep_in_step > 0) {
    for (int i = 0; i < model->mechanism.nfree; ++i) {
      if (data->absent[i] || (data->sleep.nasleep_in_step > 0 && data->sleep.asleep_in_step[i])) {
        const TriboBodyInfo* body = &model->mechanism.bodies[i];
        memcpy(data->next.q + body->q_at, start->q + body->q_at, 7 * sizeof *data->now.q);
        memset(data->next.v + body->v_at, 0, 6 * sizeof *data->now.v);
      }
    }
  }
}

// The ticks since t0 go to a stage; 0: this step is not measured.
static void lap(TriboStepInfo* info, TriboStage stage, uint64_t* t0) {
  if (*t0 == 0) {
    return;
  }
  const uint64_t now = tribo_tick();
  info->stage[stage] += (double)(now - *t0);
  *t0 = now;
}

// The impulses of all constraints.
static TriboStatus find_impulses(TriboData* data, const StepStart* start, TriboStepInfo* info, uint64_t* t0) {
  const int rows = data->result.problem.nrow;
  TRIBO_TRY(tribo_islands_build(&data->solve.islands, &data->result.problem));
  if (rows == 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&data->result.lambda, rows));
  TRIBO_TRY(TRIBO_RESERVE(&data->result.sigma, rows));
  tribo_warm_match(data, start);
  data->solve.closures_known =
      tribo_dyn_closures_only(data->model->mechanism.system, data->dynamics, data->result.lambda);
  lap(info, TRIBO_STAGE_ISLANDS, t0);
  TRIBO_TRY(tribo_data_solve(data, start->h, start->deadline, info));
  lap(info, TRIBO_STAGE_SOLVE, t0);
  return TRIBO_OK;
}

// Contacts, limits and joints to impulses and the next state; once more, from these impulses on, where they bring new
// contacts about.
static TriboStatus solve_step(const TriboModel* model, TriboData* data, const StepStart* start,
                              const TriboStepOptions* options, TriboStepInfo* info, uint64_t* t0) {
  StepStart known = *start;
  for (int more = 1; more;) {
    TRIBO_TRY(tribo_dyn_assemble(model->mechanism.system, data->dynamics, options, start->q, start->v,
                                 data->contacts.list, data->contacts.laws, data->contacts.count, &data->result.problem,
                                 &data->result.rows));
    lap(info, TRIBO_STAGE_ROWS, t0);
    TRIBO_TRY(find_impulses(data, &known, info, t0));
    TRIBO_TRY(tribo_dyn_advance(model->mechanism.system, data->dynamics, options, start->q, start->v,
                                data->result.lambda, data->next.q, data->next.v));
    keep_still(model, data, start);
    TRIBO_TRY(tribo_data_redetect(model, data, start, options, info, t0, &more));
    lap(info, TRIBO_STAGE_ADVANCE, t0);
    if (more) {
      known.warm = data->next.warm, known.nwarm = data->next.nwarm, known.warm_dt = start->h;
    }
  }
  if (model->nclosure > 0) {
    TRIBO_TRY(close_loops(model, data, start, options, info));
    lap(info, TRIBO_STAGE_LOOPS, t0);
  }
  TRIBO_TRY(tribo_data_certify(model, data, info));
  tribo_dyn_add_known(data->dynamics, 1, data->result.lambda);
  TRIBO_TRY(tribo_balance_part(model, data, start, options, info));
  return tribo_overlaps_undo(model, data, options, info);
}

// One step, or a part of one, into the spare buffers. The ticks since the t0 that it leaves are still to be booked.
static TriboStatus run_part(const TriboModel* model, TriboData* data, const StepStart* start, uint64_t* t0,
                            TriboStepInfo* info) {
  TriboStepOptions options = tribo_data_options(&model->world, data, start->h);
  options.loops = start->loops;
  info->outcome = TRIBO_SOLVED;
  info->residual.worst = -1;
  info->passes = 1;
  TRIBO_TRY(tribo_data_solve_exactly(data, 0));
  do {
    TRIBO_TRY(tribo_data_collect_forces(model, data, start, 1));
    TRIBO_TRY(tribo_data_control_tasks(model, data, start, &options));
    tribo_sleep_wake_by_force(model, data, start);
    TRIBO_TRY(tribo_dyn_update(model->mechanism.system, data->dynamics, &options, start->q, start->v, data->forces.tau,
                               data->forces.wrench));
    lap(info, TRIBO_STAGE_DYNAMICS, t0);
    TRIBO_TRY(tribo_data_detect(model, data, start, info, t0));
    tribo_sleep_wake_by_contact(model, data, start, data->contacts.list, data->contacts.count);
    if (!data->sleep.has_woken) {
      TRIBO_TRY(solve_step(model, data, start, &options, info, t0));
    }
  } while (data->sleep.has_woken);
  info->asleep = data->sleep.nasleep_in_step;
  info->rows = data->result.problem.nrow;
  info->islands = data->solve.islands.count;
  TRIBO_TRY(tribo_data_publish(data, start->h));
  TRIBO_TRY(tribo_data_measure_tasks(model, data, start));
  tribo_dyn_loops_store_memory(model->mechanism.system, data->dynamics, &options, data->result.lambda,
                               data->next.loops);
  return tribo_warm_renew(model, data, start);
}

// The stage that the end of a step belongs to.
static TriboStage last_stage(const TriboStepInfo* info) {
  return info->rows > 0 ? TRIBO_STAGE_CERTIFY : TRIBO_STAGE_ADVANCE;
}

// ---- the parts of a divided step

// What the work of a part adds to a step, also where its answer is not used.
static void add_work(TriboStepInfo* info, const TriboStepInfo* part) {
  info->iterations += part->iterations;
  info->factorisations += part->factorisations;
  info->effort += part->effort;
  for (int i = 0; i < TRIBO_STAGE_COUNT; ++i) {
    info->stage[i] += part->stage[i];
  }
}

// What a part that is used says about the step: the worst of all parts counts.
static void add_part(TriboStepInfo* info, const TriboStepInfo* part) {
  const int first = info->substeps == 0;
  info->substeps++;
  info->outcome = first || part->outcome > info->outcome ? part->outcome : info->outcome;
  info->level = first || part->level > info->level ? part->level : info->level;
  info->certified = part->certified && (first || info->certified);
  info->balance += part->balance;
  info->push_out_work += part->push_out_work;
  info->momentum_error = fmax(info->momentum_error, part->momentum_error);
  if (first || part->residual.nat > info->residual.nat) {
    info->residual = part->residual;
    if (!tribo_policy_is_of_motion(info->reason)) {
      memcpy(info->worst, part->worst, sizeof info->worst);
    }
  }
  // the first reason stands, with the body that it speaks of
  if (info->reason == TRIBO_REASON_NONE && part->reason != TRIBO_REASON_NONE) {
    info->reason = part->reason;
    if (tribo_policy_is_of_motion(part->reason)) {
      memcpy(info->worst, part->worst, sizeof info->worst);
    }
  }
  info->penetration = fmax(info->penetration, part->penetration);
  info->opening = part->opening;
  info->passes = part->passes > info->passes ? part->passes : info->passes;
  info->redetections += part->redetections;
  info->contacts = part->contacts > info->contacts ? part->contacts : info->contacts;
  info->rows = part->rows > info->rows ? part->rows : info->rows;
  info->islands = part->islands > info->islands ? part->islands : info->islands;
  info->pairs = part->pairs > info->pairs ? part->pairs : info->pairs;
  info->relaxed += part->relaxed;
  info->relaxation = fmax(info->relaxation, part->relaxation);
  info->asleep = part->asleep;
  info->rungs |= part->rungs;
}

#define SWAP(type, a, b) \
  do {                   \
    type swap_ = a;      \
    a = b;               \
    b = swap_;           \
  } while (0)

// The spare buffers become the start of the next part.
static StepStart next_substep(TriboData* data, const StepStart* from) {
  SWAP(MotionState, data->mid, data->next);
  return (StepStart){.time = from->time + from->h,
                     .h = from->h,
                     .deadline = from->deadline,
                     .q = data->mid.q,
                     .v = data->mid.v,
                     .warm = data->mid.warm,
                     .nwarm = data->mid.nwarm,
                     .warm_dt = from->h,
                     .loops = data->mid.loops,
                     .state = &data->mid};
}

// A part; where its motion cannot be computed in one, that is the reason, and no failure yet.
static TriboStatus try_part(const TriboModel* model, TriboData* data, const StepStart* start, uint64_t* t0,
                            TriboStepInfo* part) {
  const TriboStatus status = run_part(model, data, start, t0, part);
  if (status == TRIBO_NUMERIC && tribo_dyn_is_unresolved(data->dynamics)) {
    part->certified = 0;
    part->reason = TRIBO_REASON_DIVERGENCE;
  }
  return status;
}

// A step that must be certified and is not.
static TriboStatus fail_uncertified(const TriboModel* model, const TriboData* data, const TriboStepInfo* info) {
  const char* worst = info->worst[0] != '\0' ? info->worst : "a closure";
  if (tribo_policy_is_of_motion(info->reason)) {
    return tribo_fail(TRIBO_NUMERIC,
                      "tribo_step: the motion of %s is not certified (%s: balance %.3g J, momentum %.3g) in the step "
                      "from t = %g s (%d substeps); the state is as it was",
                      worst, tribo_reason_word(info->reason), info->balance, info->momentum_error, data->time,
                      info->substeps);
  }
  if (info->reason == TRIBO_REASON_CONTRADICTION) {
    return tribo_fail(TRIBO_NUMERIC,
                      "tribo_step: %s and other constraints contradict each other: they had to be relaxed by %.3g m or "
                      "rad in the step from t = %g s; the state is as it was",
                      worst, info->relaxation, data->time);
  }
  return tribo_fail(TRIBO_NUMERIC,
                    "tribo_step: %s keeps a residual of %.3g m/s, above the accepted %g, in the step from t = %g s "
                    "(%d substeps); the state is as it was",
                    worst, info->residual.nat, fmax(model->world.tol, model->world.accept), data->time, info->substeps);
}

// One step, whole or in substeps, up to the commit.
static TriboStatus run_step(const TriboModel* model, TriboData* data, uint64_t* t0, double* part_dt,
                            TriboStepInfo* info) {
  const double dt = model->world.dt;
  StepStart start = {.time = data->time,
                     .deadline = tribo_policy_deadline(&model->world),
                     .q = data->now.q,
                     .v = data->now.v,
                     .warm = data->now.warm,
                     .nwarm = data->now.nwarm,
                     .warm_dt = data->warm_dt,
                     .loops = data->now.loops,
                     .state = &data->now};
  data->balance.next_scale = 0.999 * data->balance.scale;
  tribo_sleep_begin(data);
  tribo_events_begin(data);
  // fractions are powers of two: their sums are exact
  StepDivision at = {.fraction = ldexp(1, -data->balance.pace), .first = ldexp(1, -data->balance.pace)};
  int is_too_fast = 0;
  for (double done = 0; done < 1;) {
    TriboStepInfo part = {0};
    start.h = *part_dt = at.fraction * dt;
    const TriboStatus status = try_part(model, data, &start, t0, &part);
    add_work(info, &part);
    if ((status == TRIBO_OK || part.reason == TRIBO_REASON_DIVERGENCE) &&
        tribo_policy_may_divide(data, &start, &at, &part, info)) {
      at.fraction *= 0.5;
      is_too_fast |= data->balance.is_too_fast;
      lap(info, last_stage(&part), t0);
      continue;
    }
    info->reason = status != TRIBO_OK ? part.reason : info->reason;
    TRIBO_TRY(status);
    add_part(info, &part);
    data->balance.next_scale = fmax(data->balance.next_scale, data->balance.part_kinetic);
    TRIBO_TRY(tribo_events_part(model, data, start.h));
    done += at.fraction;
    if (done < 1) {
      start = next_substep(data, &start);
      lap(info, last_stage(&part), t0);
    }
  }
  tribo_policy_choose_pace(&data->balance, is_too_fast);
  info->balance_relative = data->balance.next_scale > 0 ? info->balance / data->balance.next_scale : 0;
  if (model->world.must_certify && !info->certified) {
    return fail_uncertified(model, data, info);
  }
  return tribo_events_finish(model, data);
}

// ---- the step

static void commit(const TriboModel* model, TriboData* data, double part_dt, const TriboStepInfo* info) {
  tribo_sleep_end(model, data);
  SWAP(MotionState, data->now, data->next);
  SWAP(double*, data->act, data->act_next);
  data->warm_dt = part_dt;
  data->steps++;
  // time from the count, so that it does not drift by a rounding per step
  data->time = (double)data->steps * model->world.dt;
  data->balance.scale = data->balance.next_scale;
  data->balance.pace = data->balance.next_pace;
  data->balance.steps_at_pace = data->balance.next_steps_at_pace;
  data->balance.total += info->balance;
  data->view.is_current = 0;
  data->events.has_before = 1;
  data->result.info = *info;
  memset(data->input.wrench, 0, 6 * (size_t)model->nbody * sizeof *data->input.wrench);
}
#undef SWAP

// Reading ticks costs 10 ns and more, which is a fraction of a short step: of those only every eighth is measured stage
// by stage, and the time of the others is distributed as that of the last one.
static void distribute_stage_times(TriboData* data, int measured, TriboStepInfo* info) {
  enum { SKIPPED = 7 };
  static const double SHORT = 20e-6;  // [s]
  for (int i = 0; i < TRIBO_STAGE_COUNT; ++i) {
    if (measured) {
      // stages so far count ticks
      info->stage[i] *= data->stages.tick_rate.per_tick;
      data->stages.fraction[i] = info->time > 0 ? info->stage[i] / info->time : 0;
    } else {
      info->stage[i] = data->stages.fraction[i] * info->time;
    }
  }
  data->stages.steps_until_measured = measured ? SKIPPED : data->stages.steps_until_measured - 1;
  data->stages.steps_until_measured = info->time < SHORT ? data->stages.steps_until_measured : 0;
}

TriboStatus tribo_step(const TriboModel* model, TriboData* data, TriboStepInfo* info) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_step"));
  if (data->input.control_fn != NULL) {
    TRIBO_TRY(data->input.control_fn(model, data, data->input.control_user));
  }
  uint64_t growths = tribo_growth_count();
  TriboStepInfo own = {0};
  own.outcome = TRIBO_SOLVED;
  own.residual.worst = -1;
  double part_dt;
  if (data->stages.tick_rate.tick == 0) {
    tribo_tick_ask(&data->stages.tick_rate);
  }
  const uint64_t first = tribo_tick();
  const int measured = data->stages.steps_until_measured <= 0;
  uint64_t t0 = measured ? first : 0;
  TriboStatus status = run_step(model, data, &t0, &part_dt, &own);
  lap(&own, last_stage(&own), &t0);
  own.time = tribo_tick_seconds(&data->stages.tick_rate, first, measured ? t0 : tribo_tick());
  distribute_stage_times(data, measured, &own);
  own.growths = tribo_growth_count() - growths;
  if (status != TRIBO_OK) {
    tribo_events_begin(data);
  } else {
    commit(model, data, part_dt, &own);
  }
  data->sleep.nasleep_in_step = 0;
  if (info != NULL) {
    *info = own;
  }
  return status;
}
