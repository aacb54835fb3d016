// Making, resetting and looking at the data of a simulation.
#include "forces.h"

#include <string.h>

#include "hash.h"
#include "math3.h"
#include "pose.h"

// X(field, count): the arrays whose size the model fixes
#define DATA_ARRAYS(X)                                                                           \
  X(now.q, model->nq)                                                                            \
  X(now.v, model->nv)                                                                            \
  X(next.q, model->nq)                                                                           \
  X(next.v, model->nv)                                                                           \
  X(mid.q, model->nq)                                                                            \
  X(now.loops, model->nclosure)                                                                  \
  X(next.loops, model->nclosure)                                                                 \
  X(mid.loops, model->nclosure)                                                                  \
  X(mid.v, model->nv)                                                                            \
  X(now.bodies, model->nbody)                                                                    \
  X(next.bodies, model->nbody)                                                                   \
  X(mid.bodies, model->nbody)                                                                    \
  X(now.kinetic, model->nbody)                                                                   \
  X(next.kinetic, model->nbody)                                                                  \
  X(mid.kinetic, model->nbody)                                                                   \
  X(now.ledgers, model->nbody)                                                                   \
  X(next.ledgers, model->nbody)                                                                  \
  X(mid.ledgers, model->nbody)                                                                   \
  X(balance.bodies, model->nbody)                                                                \
  X(balance.blocks, model->nbody)                                                                \
  X(balance.poses, model->nbody)                                                                 \
  X(balance.twists, model->nbody)                                                                \
  X(balance.impulse, model->nv)                                                                  \
  X(balance.mean, model->nv)                                                                     \
  X(balance.delta, model->nv)                                                                    \
  X(balance.force, model->nv)                                                                    \
  X(balance.size, model->nbody)                                                                  \
  X(balance.tied, model->nbody)                                                                  \
  X(balance.fitted, model->nbody)                                                                \
  X(contacts.twists, model->nbody)                                                               \
  X(contacts.poses, model->nbody)                                                                \
  X(input.tau, model->nv)                                                                        \
  X(forces.tau, model->nv)                                                                       \
  X(input.wrench, 6 * model->nbody)                                                              \
  X(forces.wrench, 6 * model->nbody)                                                             \
  X(forces.gravity_comp_wrench, model->actuation.ngravity_comp_joint > 0 ? 6 * model->nbody : 0) \
  X(forces.gravity_comp_tau, model->actuation.ngravity_comp_joint > 0 ? model->nv : 0)           \
  X(view.poses, model->nbody)                                                                    \
  X(view.twists, model->nbody)                                                                   \
  X(view.position, 3 * model->nbody)                                                             \
  X(view.quaternion, 4 * model->nbody)                                                           \
  X(view.velocity, 3 * model->nbody)                                                             \
  X(view.omega, 3 * model->nbody)                                                                \
  X(result.closure_force, 6 * model->nclosure)                                                   \
  X(result.closure_wrench, model->nclosure > 0 ? 6 * model->nbody : 0)                           \
  X(events.contact_wrench, 6 * model->nbody)                                                     \
  X(events.applied, 6 * model->nbody)                                                            \
  X(absent, model->nbody)                                                                        \
  X(sleep.asleep, model->nbody)                                                                  \
  X(sleep.asleep_in_step, model->nbody)                                                          \
  X(sleep.is_slow, model->nbody)                                                                 \
  X(sleep.rest_steps, model->nbody)                                                              \
  X(sleep.force, model->world.sleep > 0 ? 12 * model->nbody : 0)                                 \
  X(forces.poses, model->nbody)                                                                  \
  X(forces.twists, model->nbody)                                                                 \
  X(input.ctrl, model->actuation.nactuator)                                                      \
  X(act, model->actuation.nactuator)                                                             \
  X(act_next, model->actuation.nactuator)                                                        \
  X(forces.actuation, model->actuation.nactuator)                                                \
  X(forces.bounds, model->actuation.nbound)                                                      \
  X(forces.bound_jac, model->actuation.nbound * model->nv)                                       \
  X(forces.effort, model->nv)                                                                    \
  X(forces.damping, model->nv)                                                                   \
  X(forces.length, model->actuation.ntendon)                                                     \
  X(control.effort, model->actuation.ncontroller > 0 ? model->nv : 0)                            \
  X(control.v, model->actuation.ncontroller > 0 ? model->nv : 0)                                 \
  X(control.mass, model->actuation.computes ? model->nv * model->nv : 0)                         \
  X(control.bias, model->actuation.ncontroller > 0 ? 2 * model->nv : 0)                          \
  X(input.motors, model->actuation.nmotor)

// All arrays whose sizes the model knows.
static TriboStatus allocate(const TriboModel* model, TriboData* data) {
#define X(name, count)                                           \
  data->name = tribo_alloc((size_t)(count), sizeof *data->name); \
  if (data->name == NULL) {                                      \
    return tribo_no_memory("for the data");                      \
  }
  DATA_ARRAYS(X)
#undef X
  data->solve.solvers = tribo_alloc((size_t)model->world.threads, sizeof(TriboSolver*));
  if (data->solve.solvers == NULL) {
    return tribo_no_memory("for the data");
  }
  for (int i = 0; i < model->world.threads; ++i) {
    TRIBO_TRY(tribo_model_solver(model, &data->solve.solvers[i]));
    data->solve.nsolver++;
  }
  data->solve.is_auto = strcmp(model->world.solver, "auto") == 0;
  if (model->nclosure > 0) {
    TRIBO_TRY(tribo_model_solver(model, &data->solve.velocity_solver));
  }
  TRIBO_TRY(tribo_dyn_data_create(model->mechanism.system, &data->dynamics));
  TRIBO_TRY(tribo_task_create(model, data->dynamics, &data->tasks));
  TRIBO_TRY(tribo_balance_prepare(model, data));
  TRIBO_TRY(tribo_overlaps_prepare(model, data));
  TRIBO_TRY(tribo_col_data_create(model->geometry.collision, &data->collision));
  return tribo_col_data_workers(data->collision, model->world.threads);
}

TriboStatus tribo_data_create(const TriboModel* model, TriboData** out) {
  TRIBO_REQUIRE(model);
  TRIBO_REQUIRE(out);
  *out = NULL;
  TriboData* data = tribo_alloc(1, sizeof *data);
  if (data == NULL) {
    return tribo_no_memory("for the data");
  }
  data->model = model;
  TriboStatus status = allocate(model, data);
  if (status != TRIBO_OK) {
    tribo_data_destroy(data);
    return status;
  }
  tribo_data_reset(model, data);
  *out = data;
  return TRIBO_OK;
}

void tribo_data_destroy(TriboData* data) {
  if (data == NULL) {
    return;
  }
#define X(name, count) tribo_free(data->name);
  DATA_ARRAYS(X)
#undef X
  for (int i = 0; i < data->solve.nsolver; ++i) {
    tribo_solver_destroy(data->solve.solvers[i]);
  }
  tribo_solver_destroy(data->solve.velocity_solver);
  tribo_task_free(data->model, &data->tasks);
  tribo_dyn_data_destroy(data->dynamics);
  tribo_col_data_destroy(data->collision);
  tribo_islands_free(&data->solve.islands);
  for (int i = 0; i < data->nnamed; ++i) {
    tribo_free(data->named[i].name);
    tribo_state_destroy(data->named[i].state);
  }
  void* owned[] = {data->named,
                   data->events.touch,
                   data->events.touch_spare,
                   data->events.list,
                   data->solve.solvers,
                   data->now.warm,
                   data->next.warm,
                   data->mid.warm,
                   data->contacts.laws,
                   data->result.lambda,
                   data->result.sigma,
                   data->result.closure_lambda,
                   data->result.views,
                   data->contacts.redetected,
                   data->contacts.known,
                   data->overlaps.blocks,
                   data->overlaps.rows,
                   data->overlaps.moved,
                   data->overlaps.delta,
                   data->overlaps.last,
                   data->overlaps.q,
                   data->contacts.merged,
                   data->result.residual_work,
                   data->task_warm.lambda,
                   data->task_warm.sigma,
                   data->task_warm.known,
                   data->inverse.has_drive,
                   data->inverse.tau,
                   data->inverse.effort_missing,
                   data->inverse.v,
                   data->inverse.y,
                   data->inverse.opening,
                   data->inverse.lambda};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) {
    tribo_free(owned[i]);
  }
  tribo_free(data);
}

void tribo_data_reset(const TriboModel* model, TriboData* data) {
  data->steps = (uint64_t)round(model->initial.time / model->world.dt);
  data->time = (double)data->steps * model->world.dt;
  data->now.nwarm = 0;
  data->warm_dt = 0;
  memset(data->now.loops, 0, (size_t)model->nclosure * sizeof *data->now.loops);
  data->result.nview = 0;
  data->nabsent = 0;
  memset(data->absent, 0, (size_t)model->nbody);
  tribo_sleep_wake_all(model, data);
  data->solve.islands.count = 0;
  data->view.is_current = data->now.has_bodies = 0;
  data->balance.scale = data->balance.total = 0;
  data->balance.pace = data->balance.steps_at_pace = 0;
  tribo_ledgers_begin(model, &data->now);
  tribo_events_begin(data);
  memset(&data->result.info, 0, sizeof data->result.info);
  data->result.info.certified = 1;
  data->result.info.residual.worst = -1;
  memcpy(data->now.q, model->initial.q, (size_t)model->nq * sizeof *data->now.q);
  memcpy(data->now.v, model->initial.v, (size_t)model->nv * sizeof *data->now.v);
  memcpy(data->input.motors, model->actuation.motors, (size_t)model->actuation.nmotor * sizeof *data->input.motors);
  for (int i = 0; i < model->actuation.nactuator; ++i) {
    data->input.ctrl[i] = model->actuation.actuators[i].ctrl;
    data->act[i] = model->initial.act[i];
  }
  memset(data->result.closure_force, 0, 6 * (size_t)model->nclosure * sizeof *data->result.closure_force);
  if (model->actuation.ncontroller > 0) {
    memset(data->control.effort, 0, (size_t)model->nv * sizeof *data->control.effort);
  }
  memset(data->forces.effort, 0, (size_t)model->nv * sizeof *data->forces.effort);
  memset(data->input.tau, 0, (size_t)model->nv * sizeof *data->input.tau);
  memset(data->input.wrench, 0, 6 * (size_t)model->nbody * sizeof *data->input.wrench);
}

const char* tribo_reason_word(TriboReason reason) {
  static const char* const words[TRIBO_REASON_COUNT] = {
#define X(id, word, doc) word,
      TRIBO_REASONS(X)
#undef X
  };
  return (unsigned)reason < TRIBO_REASON_COUNT ? words[reason] : "";
}

const char* tribo_level_word(TriboLevel level) {
  static const char* const words[TRIBO_LEVEL_COUNT] = {
#define X(id, word, doc) word,
      TRIBO_LEVELS(X)
#undef X
  };
  return (unsigned)level < TRIBO_LEVEL_COUNT ? words[level] : "";
}

double tribo_data_time(const TriboData* data) {
  return data->time;
}

uint64_t tribo_data_hash(const TriboModel* model, const TriboData* data) {
  uint64_t h = tribo_hash(TRIBO_HASH_START, &data->time, sizeof data->time);
  h = tribo_hash(h, data->now.q, (size_t)model->nq * sizeof *data->now.q);
  h = tribo_hash(h, data->now.v, (size_t)model->nv * sizeof *data->now.v);
  if (model->world.sleep > 0) {
    h = tribo_hash(h, data->sleep.asleep, (size_t)model->nbody);
    h = tribo_hash(h, data->sleep.rest_steps, (size_t)model->nbody * sizeof *data->sleep.rest_steps);
  }
  return tribo_hash(h, data->act, (size_t)model->actuation.nactuator * sizeof *data->act);
}

// Body frames and velocities of the current state, in the user's terms.
TriboStatus tribo_data_kinematics(const TriboModel* model, TriboData* data) {
  if (data->view.is_current) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_dyn_kinematics(model->mechanism.system, data->dynamics, data->now.q, data->now.v, data->view.poses,
                                 data->view.twists));
  for (int i = 0; i < model->nbody; ++i) {
    TriboPose pose = tribo_pose_mul(&data->view.poses[i], &model->mechanism.body_offset[i]);
    tribo_copy3(data->view.position + 3 * i, pose.p);
    if (i < model->mechanism.nfree) {
      memcpy(data->view.quaternion + 4 * i, data->now.q + 7 * i + 3, 4 * sizeof(double));
    } else {
      tribo_quat_from_mat(data->view.quaternion + 4 * i, pose.R);
    }
    // velocity of the centre of mass: that of the origin dynamics uses, plus ω × arm
    double com[3], arm[3], spin[3];
    tribo_mul33v(com, pose.R, model->mechanism.bodies[i].com);
    tribo_add3(com, com, pose.p);
    tribo_sub3(arm, com, data->view.poses[i].p);
    tribo_cross3(spin, data->view.twists[i].w, arm);
    tribo_add3(data->view.velocity + 3 * i, data->view.twists[i].v, spin);
    tribo_copy3(data->view.omega + 3 * i, data->view.twists[i].w);
  }
  data->view.is_current = 1;
  return TRIBO_OK;
}

TriboStatus tribo_data_view(const TriboModel* model, TriboData* data, TriboField field, TriboView* view) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_view"));
  TRIBO_REQUIRE(view);
  TRIBO_TRY(tribo_data_kinematics(model, data));
  switch (field) {
    case TRIBO_FIELD_Q: *view = (TriboView){data->now.q, model->nq}; return TRIBO_OK;
    case TRIBO_FIELD_V: *view = (TriboView){data->now.v, model->nv}; return TRIBO_OK;
    case TRIBO_FIELD_TAU: *view = (TriboView){data->input.tau, model->nv}; return TRIBO_OK;
    case TRIBO_FIELD_POSITION: *view = (TriboView){data->view.position, 3 * model->nbody}; return TRIBO_OK;
    case TRIBO_FIELD_QUATERNION: *view = (TriboView){data->view.quaternion, 4 * model->nbody}; return TRIBO_OK;
    case TRIBO_FIELD_VELOCITY: *view = (TriboView){data->view.velocity, 3 * model->nbody}; return TRIBO_OK;
    case TRIBO_FIELD_OMEGA: *view = (TriboView){data->view.omega, 3 * model->nbody}; return TRIBO_OK;
    case TRIBO_FIELD_CTRL: *view = (TriboView){data->input.ctrl, model->actuation.nactuator}; return TRIBO_OK;
    case TRIBO_FIELD_ACT: *view = (TriboView){data->act, model->actuation.nactuator}; return TRIBO_OK;
    case TRIBO_FIELD_ACTUATION:
      TRIBO_TRY(tribo_forces_at(model, data, data->now.q, data->now.v));
      tribo_forces_actuators(model, data, data->forces.tau, data->forces.wrench);
      *view = (TriboView){data->forces.actuation, model->actuation.nactuator};
      return TRIBO_OK;
    case TRIBO_FIELD_TENDON:
      TRIBO_TRY(tribo_forces_at(model, data, data->now.q, data->now.v));
      tribo_forces_tendon_lengths(model, data);
      *view = (TriboView){data->forces.length, model->actuation.ntendon};
      return TRIBO_OK;
  }
  return tribo_fail(TRIBO_INVALID, "tribo_data_view: field = %d is none of TriboField", (int)field);
}

TriboStatus tribo_data_set_state(const TriboModel* model, TriboData* data, const double* q, const double* v) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_set_state"));
  TRIBO_REQUIRE(q);
  TRIBO_REQUIRE(v);
  if (!tribo_finite(q, (size_t)model->nq) || !tribo_finite(v, (size_t)model->nv)) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_set_state: q and v must be finite");
  }
  memcpy(data->now.q, q, (size_t)model->nq * sizeof *q);
  memcpy(data->now.v, v, (size_t)model->nv * sizeof *v);
  tribo_sleep_wake_all(model, data);
  tribo_ledgers_begin(model, &data->now);
  data->view.is_current = data->events.has_before = data->now.has_bodies = 0;
  return TRIBO_OK;
}

TriboStatus tribo_data_set_time(const TriboModel* model, TriboData* data, double time) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_set_time"));
  const double steps = round(time / model->world.dt);
  if (!(steps >= 0 && steps <= 9e15)) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_set_time: time = %g s; accepted are 0 … 9e15 steps of %g s", time,
                      model->world.dt);
  }
  data->steps = (uint64_t)steps;
  data->time = steps * model->world.dt;
  return TRIBO_OK;
}

TriboStatus tribo_data_set_tau(const TriboModel* model, TriboData* data, const double* tau) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_set_tau"));
  TRIBO_REQUIRE(tau);
  if (!tribo_finite(tau, (size_t)model->nv)) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_set_tau: tau must be finite");
  }
  memcpy(data->input.tau, tau, (size_t)model->nv * sizeof *tau);
  return TRIBO_OK;
}

TriboStatus tribo_data_set_motor(const TriboModel* model, TriboData* data, int motor, double target, double velocity) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_set_motor"));
  if (motor < 0 || motor >= model->actuation.nmotor) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_set_motor: motor = %d; accepted are 0 … %d", motor,
                      model->actuation.nmotor - 1);
  }
  if (!isfinite(target) || !isfinite(velocity)) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_set_motor: target = %g and velocity = %g must be finite", target,
                      velocity);
  }
  data->input.motors[motor].target = target;
  data->input.motors[motor].velocity = velocity;
  return TRIBO_OK;
}

TriboStatus tribo_data_apply_wrench(const TriboModel* model, TriboData* data, int body, const double force[3],
                                    const double torque[3]) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_apply_wrench"));
  TRIBO_REQUIRE(force);
  TRIBO_REQUIRE(torque);
  if (body < 0 || body >= model->nbody) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_apply_wrench: body = %d; accepted are 0 … %d", body, model->nbody - 1);
  }
  if (!tribo_finite(force, 3) || !tribo_finite(torque, 3)) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_apply_wrench: force and torque must be finite");
  }
  double* w = data->input.wrench + 6 * body;
  tribo_add3(w, w, force);
  tribo_add3(w + 3, w + 3, torque);
  return TRIBO_OK;
}

TriboStatus tribo_data_contacts(const TriboModel* model, const TriboData* data, const TriboContactView** contacts,
                                int* count) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_contacts"));
  TRIBO_REQUIRE(contacts);
  TRIBO_REQUIRE(count);
  *contacts = data->result.views;
  *count = data->result.nview;
  return TRIBO_OK;
}

TriboStatus tribo_data_island(const TriboModel* model, const TriboData* data, int body, int* island) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_island"));
  TRIBO_REQUIRE(island);
  if (body < 0 || body >= model->nbody) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_island: body = %d; accepted are 0 … %d", body, model->nbody - 1);
  }
  const int block = model->mechanism.bodies[body].block;
  *island = data->solve.islands.count > 0 && block >= 0 ? data->solve.islands.island_of_block[block] : -1;
  return TRIBO_OK;
}

TriboStatus tribo_data_set_history(const TriboModel* model, TriboData* data, TriboSolverHistoryFn* fn, void* user) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_set_history"));
  for (int i = 0; i < data->solve.nsolver; ++i) {
    tribo_solver_set_history(data->solve.solvers[i], fn, user);
  }
  return TRIBO_OK;
}

TriboStatus tribo_data_problem(const TriboModel* model, const TriboData* data, TriboProblem* out) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_problem"));
  if (out == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_problem: out is NULL");
  }
  *out = data->steps > 0 ? data->result.problem : (TriboProblem){0};
  return TRIBO_OK;
}

TriboStatus tribo_data_mechanics(const TriboModel* model, TriboData* data, TriboMechanics* out) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_mechanics"));
  TRIBO_REQUIRE(out);
  TriboEnergy e;
  TRIBO_TRY(
      tribo_dyn_energy(model->mechanism.system, data->dynamics, model->world.gravity, data->now.q, data->now.v, &e));
  // who is not there counts for nothing; at rest he only has a weight
  if (data->nabsent > 0) {
    for (int i = 0; i < model->mechanism.nfree; ++i) {
      const double *com = data->now.q + model->mechanism.bodies[i].q_at,
                   mass = data->absent[i] ? model->mechanism.bodies[i].mass : 0;
      tribo_scale3(e.com, e.mass, e.com);
      tribo_axpy3(e.com, e.com, -mass, com);
      e.mass -= mass;
      tribo_scale3(e.com, e.mass > 0 ? 1 / e.mass : 0, e.com);
      e.potential += mass * tribo_dot3(model->world.gravity, com);
    }
  }
  *out = (TriboMechanics){.kinetic = e.kinetic, .potential = e.potential, .mass = e.mass};
  tribo_copy3(out->momentum, e.momentum);
  tribo_copy3(out->angular, e.angular);
  tribo_copy3(out->com, e.com);
  return TRIBO_OK;
}

double tribo_data_effort(const TriboModel* model, const TriboData* data, int joint) {
  const TriboJointInfo* info = &model->mechanism.joints[joint];
  if (data->result.info.substeps == 0) {
    return 0;  // no step yet
  }
  double sum = model->actuation.ncontroller > 0 ? data->control.effort[info->v_at] : 0;
  sum += tribo_clamp(data->forces.effort[info->v_at], -info->effort, info->effort);
  for (int i = 0; i < data->result.problem.ncone; ++i) {
    const TriboRowInfo* row = &data->result.rows[i];
    if (row->kind == TRIBO_ROW_MOTOR && model->actuation.motors[row->index].v == info->v_at) {
      sum += data->result.lambda[data->result.problem.cones[i].row] / data->warm_dt;
    }
  }
  return sum;
}

TriboStatus tribo_data_set_control(const TriboModel* model, TriboData* data, TriboControlFn* fn, void* user) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_set_control"));
  data->input.control_fn = fn;
  data->input.control_user = user;
  return TRIBO_OK;
}
