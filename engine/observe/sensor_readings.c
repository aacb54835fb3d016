// What the sensors of a scene read; sensors.c has the physics of accelerometers and of wrenches in joints.
#include <math.h>
#include <string.h>

#include "forces.h"
#include "pose.h"
#include "sensors.h"

static TriboStatus mount_frame(const TriboModel* model, TriboData* data, int body, const double point[3],
                               const double quaternion[4], TriboFrame* out) {
  if (body != TRIBO_WORLD) {
    return tribo_data_frame(model, data, body, point, quaternion, out);
  }
  *out = (TriboFrame){.velocity = {0}};
  tribo_copy3(out->position, point);
  memcpy(out->quaternion, quaternion, sizeof out->quaternion);
  return TRIBO_OK;
}

// Pose and motion of the mount, seen from the reference; velocities in the axes of the reference, or of the mount.
static TriboStatus read_frame(const TriboModel* model, TriboData* data, const ModelSensor* s, double out[4]) {
  const TriboSensorDef* def = &s->def;
  TriboFrame own, ref;
  TRIBO_TRY(mount_frame(model, data, s->body, def->point, def->quaternion, &own));
  TRIBO_TRY(mount_frame(model, data, s->ref_body, def->ref_point, def->ref_quaternion, &ref));
  double R[9], Q[9], arm[3], swing[3], x[3];
  tribo_quat_to_mat(R, own.quaternion);
  tribo_quat_to_mat(Q, ref.quaternion);
  tribo_sub3(arm, own.position, ref.position);
  const double back[4] = {-ref.quaternion[0], -ref.quaternion[1], -ref.quaternion[2], ref.quaternion[3]};
  const int axis = (int)def->kind - TRIBO_SENSOR_X_AXIS;
  switch (def->kind) {
    case TRIBO_SENSOR_POSITION: tribo_mul33tv(out, Q, arm); break;
    case TRIBO_SENSOR_ORIENTATION: tribo_quat_mul(out, back, own.quaternion); break;
    case TRIBO_SENSOR_X_AXIS:
    case TRIBO_SENSOR_Y_AXIS:
    case TRIBO_SENSOR_Z_AXIS:
      tribo_set3(x, R[axis], R[3 + axis], R[6 + axis]);
      tribo_mul33tv(out, Q, x);
      break;
    case TRIBO_SENSOR_VELOCITY:
      tribo_cross3(swing, ref.omega, arm);
      tribo_sub3(x, own.velocity, ref.velocity);
      tribo_sub3(x, x, swing);
      tribo_mul33tv(out, Q, x);
      break;
    case TRIBO_SENSOR_ANGULAR_VELOCITY:
      tribo_sub3(x, own.omega, ref.omega);
      tribo_mul33tv(out, Q, x);
      break;
    case TRIBO_SENSOR_GYROSCOPE: tribo_mul33tv(out, R, own.omega); break;
    case TRIBO_SENSOR_VELOCIMETER: tribo_mul33tv(out, R, own.velocity); break;
    default: tribo_mul33tv(out, R, def->field); break;
  }
  return TRIBO_OK;
}

static TriboStatus read_wrench(const TriboModel* model, TriboData* data, const ModelSensor* s, double out[4]) {
  double force[3], torque[3], R[9];
  TriboFrame own;
  TRIBO_TRY(tribo_body_wrench(model, data, s->body, s->def.point, force, torque));
  TRIBO_TRY(tribo_data_frame(model, data, s->body, s->def.point, s->def.quaternion, &own));
  tribo_quat_to_mat(R, own.quaternion);
  tribo_mul33tv(out, R, s->def.kind == TRIBO_SENSOR_FORCE ? force : torque);
  return TRIBO_OK;
}

static int is_within(const TriboSensorDef* def, const double at[3]) {
  const double *s = def->size, across = hypot(at[0], at[1]), along = fabs(at[2]);
  double away = 0;
  if (!(s[0] > 0)) {
    return 1;
  }
  switch (def->volume) {
    case TRIBO_VOLUME_BOX: return fabs(at[0]) <= s[0] && fabs(at[1]) <= s[1] && along <= s[2];
    case TRIBO_VOLUME_CYLINDER: return across <= s[0] && along <= s[1];
    case TRIBO_VOLUME_CAPSULE: return hypot(across, fmax(along - s[1], 0)) <= s[0];
    default: break;
  }
  for (int k = 0; k < 3; ++k) {
    away += at[k] * at[k] / (s[k] * s[k]);
  }
  return away <= 1;
}

static TriboStatus read_touch(const TriboModel* model, TriboData* data, const ModelSensor* s, double out[4]) {
  TriboFrame own;
  double R[9], arm[3], at[3];
  TRIBO_TRY(mount_frame(model, data, s->body, s->def.point, s->def.quaternion, &own));
  tribo_quat_to_mat(R, own.quaternion);
  for (int i = 0; i < data->result.nview; ++i) {
    const TriboContactView* c = &data->result.views[i];
    if (c->body_a != s->body && c->body_b != s->body) {
      continue;
    }
    tribo_sub3(arm, c->point, own.position);
    tribo_mul33tv(at, R, arm);
    out[0] += is_within(&s->def, at) ? tribo_dot3(c->force, c->normal) : 0;
  }
  return TRIBO_OK;
}

static TriboStatus read_subtree(const TriboModel* model, TriboData* data, const ModelSensor* s, double out[4]) {
  TRIBO_TRY(tribo_data_kinematics(model, data));
  double mass = 0;
  for (int i = 0; i < model->nbody; ++i) {
    if (tribo_body_hangs_on(model, i, s->body)) {
      double com[3];
      tribo_body_com(model, i, &data->view.poses[i], com);
      mass += model->mechanism.bodies[i].mass;
      tribo_axpy3(out, out, model->mechanism.bodies[i].mass,
                  s->def.kind == TRIBO_SENSOR_SUBTREE_COM ? com : data->view.velocity + 3 * i);
    }
  }
  tribo_scale3(out, mass > 0 ? 1 / mass : 0, out);
  return TRIBO_OK;
}

static TriboStatus read_drive(const TriboModel* model, TriboData* data, const ModelSensor* s, double out[4]) {
  double length, speed;
  if (s->def.kind == TRIBO_SENSOR_ACTUATOR_FORCE) {
    TriboView view;
    TRIBO_TRY(tribo_data_view(model, data, TRIBO_FIELD_ACTUATION, &view));
    out[0] = view.values[s->at];
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_forces_at(model, data, data->now.q, data->now.v));
  if (tribo_sensor_kind(s->def.kind)->needs == 'a') {
    tribo_actuator_measure(model, data, s->at, &length, &speed);
  } else {
    tribo_dyn_tendon_measure(&model->actuation.tendons[s->at], data->now.q, data->now.v, data->forces.poses,
                             data->forces.twists, &length, &speed);
  }
  out[0] = s->def.kind == TRIBO_SENSOR_TENDON_LENGTH || s->def.kind == TRIBO_SENSOR_ACTUATOR_LENGTH ? length : speed;
  return TRIBO_OK;
}

static TriboStatus read_joint(const TriboModel* model, const TriboData* data, const ModelSensor* s, int n,
                              double out[4]) {
  const TriboJointInfo* joint = &model->mechanism.joints[s->at];
  const double *q = data->now.q + joint->q_at, *v = data->now.v + joint->v_at;
  memcpy(out, s->def.kind == TRIBO_SENSOR_JOINT_POSITION ? q : v, (size_t)n * sizeof *out);
  if (s->def.kind == TRIBO_SENSOR_JOINT_POSITION && joint->nq == 2 && joint->nv == 1) {
    out[0] = atan2(q[1], q[0]);
  }
  return TRIBO_OK;
}

static TriboStatus read_imu(const TriboModel* model, TriboData* data, const ModelSensor* s, double out[4]) {
  TriboImu imu;
  TRIBO_TRY(tribo_data_imu(model, data, s->body, s->def.point, s->def.quaternion, &imu));
  tribo_copy3(out, imu.accelerometer);
  return TRIBO_OK;
}

static TriboStatus ask(const TriboModel* model, TriboData* data, const ModelSensor* s, int n, double out[4]) {
  switch (s->def.kind) {
    case TRIBO_SENSOR_CLOCK: out[0] = data->time; return TRIBO_OK;
    case TRIBO_SENSOR_TOUCH: return read_touch(model, data, s, out);
    case TRIBO_SENSOR_FORCE:
    case TRIBO_SENSOR_TORQUE: return data->events.has_before ? read_wrench(model, data, s, out) : TRIBO_OK;
    case TRIBO_SENSOR_ACCELEROMETER: return data->events.has_before ? read_imu(model, data, s, out) : TRIBO_OK;
    default: break;
  }
  switch (tribo_sensor_kind(s->def.kind)->needs) {
    case 'j': return read_joint(model, data, s, n, out);
    case 't':
    case 'a': return read_drive(model, data, s, out);
    case 'b': return read_subtree(model, data, s, out);
    default: return read_frame(model, data, s, out);
  }
}

TriboStatus tribo_data_sensor(const TriboModel* model, TriboData* data, int sensor, double reading[4]) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_sensor"));
  TRIBO_REQUIRE(reading);
  if (sensor < 0 || sensor >= model->output.nsensor) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_sensor: sensor = %d; accepted are 0 … %d", sensor,
                      model->output.nsensor - 1);
  }
  const ModelSensor* s = &model->output.sensors[sensor];
  memset(reading, 0, 4 * sizeof *reading);
  TRIBO_TRY(ask(model, data, s, model->output.sensor_infos[sensor].n, reading));
  if (s->def.cutoff > 0) {
    for (int i = 0; i < 4; ++i) {
      reading[i] = tribo_clamp(reading[i], -s->def.cutoff, s->def.cutoff);
    }
  }
  return TRIBO_OK;
}
