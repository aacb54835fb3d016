// One number of a simulation: what the quantities of compile/quantity.h are at the present state and in the last step.
#include <math.h>

#include "data_impl.h"
#include "math3.h"
#include "quantity.h"

static double mechanics_value(const TriboMechanics* m, int kind) {
  switch (kind) {
    case Q_ENERGY: return m->kinetic + m->potential;
    case Q_KINETIC: return m->kinetic;
    case Q_POTENTIAL: return m->potential;
    case Q_MOMENTUM_X:
    case Q_MOMENTUM_Y:
    case Q_MOMENTUM_Z: return m->momentum[kind - Q_MOMENTUM_X];
    case Q_ANGULAR_X:
    case Q_ANGULAR_Y:
    case Q_ANGULAR_Z: return m->angular[kind - Q_ANGULAR_X];
    default: return m->com[kind - Q_COM_X];
  }
}

// The extreme or mean over all bodies.
static double crowd_value(const TriboModel* model, const TriboData* data, int kind) {
  double max = 0, sum = 0, low = INFINITY;
  for (int i = 0; i < model->nbody; ++i) {
    if (data->absent[i]) {
      continue;
    }
    double v2 = tribo_dot3(data->view.velocity + 3 * i, data->view.velocity + 3 * i);
    max = fmax(max, v2);
    sum += v2;
    low = fmin(low, data->view.position[3 * i + 2]);
  }
  return kind == Q_SPEED_MAX   ? sqrt(max)
         : kind == Q_SPEED_RMS ? sqrt(sum / fmax(1, model->nbody - data->nabsent))
                               : low;
}

// What the last step was like.
static double step_value(const TriboData* data, int kind) {
  const TriboStepInfo* info = &data->result.info;
  double force = 0;
  switch (kind) {
    case Q_CONTACTS: return info->contacts;
    case Q_CONTACT_FORCE:
      for (int i = 0; i < data->result.nview; ++i) {
        force += tribo_dot3(data->result.views[i].force, data->result.views[i].normal);
      }
      return force;
    case Q_PENETRATION: return info->penetration;
    case Q_OPENING: return info->opening;
    case Q_ASLEEP: return data->sleep.nasleep;
    case Q_ITERATIONS: return info->iterations;
    case Q_RELAXATION: return info->relaxation;
    case Q_SUBSTEPS: return info->substeps;
    case Q_CERTIFIED: return info->certified;
    case Q_LEVEL: return info->level;
    case Q_UNCERTIFIED: return info->reason;
    case Q_BALANCE: return info->balance;
    case Q_BALANCE_RELATIVE: return info->balance_relative;
    case Q_ENERGY_ERROR: return data->balance.total;
    case Q_MOMENTUM_ERROR: return info->momentum_error;
    case Q_PUSH_OUT_WORK: return info->push_out_work;
    case Q_RESIDUAL_PEN: return fmax(info->penetration, info->opening);
    case Q_RESIDUAL_NAT: return info->residual.nat;
    case Q_RESIDUAL_PRIM: return info->residual.prim;
    case Q_RESIDUAL_DUAL: return info->residual.dual;
    case Q_PLAN_ERROR: return data->tasks.plan_error;
    case Q_QPCC_MODES: return data->tasks.modes;
    case Q_QPCC_PROGRAMS: return data->tasks.programs;
    case Q_QPCC_OUTCOME: return data->tasks.outcome;
    case Q_QPCC_NAT: return data->tasks.nat;
    case Q_QPCC_TIME: return data->tasks.time;
    default: return info->residual.comp;
  }
}

static double body_force(const TriboData* data, int body, int axis) {
  double sum = 0;
  for (int i = 0; i < data->result.nview; ++i) {
    const TriboContactView* c = &data->result.views[i];
    sum += c->body_b == body ? c->force[axis] : c->body_a == body ? -c->force[axis] : 0;
  }
  return sum;
}

static double body_value(const TriboData* data, int kind, int id) {
  const double *p = data->view.position + 3 * id, *q = data->view.quaternion + 4 * id,
               *v = data->view.velocity + 3 * id, *w = data->view.omega + 3 * id;
  if (kind >= Q_POSITION_X && kind <= Q_POSITION_Z) return p[kind - Q_POSITION_X];
  if (kind >= Q_QUATERNION_X && kind <= Q_QUATERNION_W) return q[kind - Q_QUATERNION_X];
  if (kind >= Q_VELOCITY_X && kind <= Q_VELOCITY_Z) return v[kind - Q_VELOCITY_X];
  if (kind >= Q_OMEGA_X && kind <= Q_OMEGA_Z) return w[kind - Q_OMEGA_X];
  if (kind >= Q_FORCE_X && kind <= Q_FORCE_Z) return body_force(data, id, kind - Q_FORCE_X);
  if (kind == Q_SPEED) return tribo_norm3(v);
  if (kind == Q_SPIN) return tribo_norm3(w);
  if (kind == Q_TURN) return 2 * atan2(q[3] < 0 ? -q[2] : q[2], fabs(q[3]));
  if (kind == Q_BODY_ASLEEP) return data->sleep.asleep[id];
  // tilt from the half-angle form, exact for small angles where acos is not
  double s = hypot(q[0], q[1]), c = hypot(q[2], q[3]);
  return 2 * atan2(s, c);
}

static double joint_value(const TriboModel* model, const TriboData* data, int kind, int id) {
  const TriboJointInfo* joint = &model->mechanism.joints[id];
  if (kind == Q_JOINT_EFFORT) {
    return tribo_data_effort(model, data, id);
  }
  if (kind == Q_JOINT_V) {
    return data->now.v[joint->v_at];
  }
  const double* q = data->now.q + joint->q_at;
  return joint->nq == 1 ? q[0] : atan2(q[1], q[0]);
}

static TriboStatus closure_value(const TriboModel* model, TriboData* data, int kind, int id, double* value) {
  const TriboClosureInfo* closure = &model->mechanism.closures[id];
  const int first = kind == Q_CLOSURE_FORCE ? 0 : closure->nforce;
  const int end = kind == Q_CLOSURE_FORCE ? closure->nforce : closure->rows;
  const double* force;
  double sum = 0;
  TRIBO_TRY(tribo_data_closure_force(model, data, id, &force));
  for (int r = first; r < end; ++r) {
    sum += force[r] * force[r];
  }
  *value = sqrt(sum);
  return TRIBO_OK;
}

TriboStatus tribo_quantity_value(const TriboModel* model, TriboData* data, TriboQuantity what, double* value) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_quantity_value"));
  TRIBO_REQUIRE(value);
  if (what.kind < 0 || what.kind >= Q_COUNT) {
    return tribo_fail(TRIBO_INVALID, "tribo_quantity_value: kind = %d was not made by tribo_quantity_find", what.kind);
  }
  if (what.kind == Q_TIME) {
    *value = data->time;
    return TRIBO_OK;
  }
  if (what.kind <= Q_COM_Z) {
    TriboMechanics m;
    TRIBO_TRY(tribo_data_mechanics(model, data, &m));
    *value = mechanics_value(&m, what.kind);
    return TRIBO_OK;
  }
  if (what.kind >= Q_READING) {
    double reading[4];
    TRIBO_TRY(tribo_data_sensor(model, data, what.id, reading));
    *value = reading[tribo_quantity_component(what.kind)];
    return TRIBO_OK;
  }
  if (what.kind >= Q_TASK_ERROR) {
    const TaskState* task = &data->tasks.states[what.id];
    *value = what.kind == Q_TASK_ERROR ? task->error : what.kind == Q_TASK_FORCE ? task->value : task->wanted;
    return TRIBO_OK;
  }
  if (what.kind > Q_JOINT_EFFORT) {
    return closure_value(model, data, what.kind, what.id, value);
  }
  TRIBO_TRY(tribo_data_kinematics(model, data));
  *value = what.kind <= Q_HEIGHT_MIN  ? crowd_value(model, data, what.kind)
           : what.kind < Q_POSITION_X ? step_value(data, what.kind)
           : what.kind < Q_JOINT_Q    ? body_value(data, what.kind, what.id)
                                      : joint_value(model, data, what.kind, what.id);
  return TRIBO_OK;
}
