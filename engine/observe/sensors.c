// Sensors: what could be measured on the bodies, from the present state and from the one before the last step.
//
// An accelerometer shows the mean over the step, a = (v⁺ − v)/h, minus gravity. The wrench that a joint carries follows
// from the momentum of all that hangs on it: what gravity, contacts and applied forces have not given, the joint has,
//
//     F = (p⁺ − p)/h − Σ (m g + f),      T = (L⁺ − L)/h − Σ ((c − x) × (m g + f) + t)     about the joint's anchor x.
#include "sensors.h"

#include <string.h>

#include "math3.h"
#include "pose.h"

static TriboStatus check_body(const TriboModel* model, const TriboData* data, int body, const char* who) {
  TRIBO_TRY(tribo_data_check(model, data, who));
  if (body < 0 || body >= model->nbody) {
    return tribo_fail(TRIBO_INVALID, "%s: body = %d; accepted are 0 … %d", who, body, model->nbody - 1);
  }
  return TRIBO_OK;
}

static TriboStatus check_stepped(const TriboData* data, const char* who) {
  return data->events.has_before
             ? TRIBO_OK
             : tribo_fail(TRIBO_STATE, "%s: there was no step yet since the state was set: it is a mean over one", who);
}

// A point of the user's body frame: where it is and how fast.
static void follow(const TriboModel* model, int body, const TriboPose* pose, const TriboTwist* twist,
                   const double point[3], double x[3], double v[3]) {
  const TriboPose frame = tribo_pose_mul(pose, &model->mechanism.body_offset[body]);
  double arm[3], swing[3];
  tribo_mul33v(x, frame.R, point);
  tribo_add3(x, x, frame.p);
  tribo_sub3(arm, x, pose->p);
  tribo_cross3(swing, twist->w, arm);
  tribo_add3(v, twist->v, swing);
}

// Kinematics of the state before the last step, into scratch. (The step left that state in the spare buffers.)
static TriboStatus evaluate_accelerations(const TriboModel* model, TriboData* data) {
  return tribo_dyn_kinematics(model->mechanism.system, data->dynamics, data->next.q, data->next.v, data->contacts.poses,
                              data->contacts.twists);
}

TriboStatus tribo_data_frame(const TriboModel* model, TriboData* data, int body, const double point[3],
                             const double quaternion[4], TriboFrame* out) {
  TRIBO_TRY(check_body(model, data, body, "tribo_data_frame"));
  TRIBO_REQUIRE(point);
  TRIBO_REQUIRE(quaternion);
  TRIBO_REQUIRE(out);
  TRIBO_TRY(tribo_data_kinematics(model, data));
  follow(model, body, &data->view.poses[body], &data->view.twists[body], point, out->position, out->velocity);
  tribo_quat_mul(out->quaternion, data->view.quaternion + 4 * body, quaternion);
  tribo_copy3(out->omega, data->view.omega + 3 * body);
  return TRIBO_OK;
}

TriboStatus tribo_data_imu(const TriboModel* model, TriboData* data, int body, const double point[3],
                           const double quaternion[4], TriboImu* out) {
  TriboFrame now;
  double x[3], before[3], a[3], R[9];
  TRIBO_REQUIRE(out);
  TRIBO_TRY(tribo_data_frame(model, data, body, point, quaternion, &now));
  TRIBO_TRY(check_stepped(data, "tribo_data_imu"));
  TRIBO_TRY(evaluate_accelerations(model, data));
  follow(model, body, &data->contacts.poses[body], &data->contacts.twists[body], point, x, before);
  tribo_sub3(a, now.velocity, before);
  tribo_scale3(a, 1 / model->world.dt, a);
  tribo_sub3(a, a, model->world.gravity);
  tribo_quat_to_mat(R, now.quaternion);
  tribo_mul33tv(out->accelerometer, R, a);
  tribo_mul33tv(out->gyroscope, R, now.omega);
  return TRIBO_OK;
}

TriboStatus tribo_data_contact_wrench(const TriboModel* model, const TriboData* data, int body, double force[3],
                                      double torque[3]) {
  TRIBO_TRY(check_body(model, data, body, "tribo_data_contact_wrench"));
  TRIBO_REQUIRE(force);
  TRIBO_REQUIRE(torque);
  tribo_scale3(force, 1 / model->world.dt, data->events.contact_wrench + 6 * body);
  tribo_scale3(torque, 1 / model->world.dt, data->events.contact_wrench + 6 * body + 3);
  return TRIBO_OK;
}

TriboStatus tribo_data_touch(const TriboModel* model, const TriboData* data, int shape, double* force) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_touch"));
  TRIBO_REQUIRE(force);
  if (shape < 0 || shape >= model->geometry.ngeom) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_touch: shape = %d; accepted are 0 … %d", shape,
                      model->geometry.ngeom - 1);
  }
  *force = 0;
  for (int i = 0; i < data->events.count; ++i) {
    const TriboContactEvent* e = &data->events.list[i];
    *force += e->shape_a == shape || e->shape_b == shape ? e->pressure / model->world.dt : 0;
  }
  return TRIBO_OK;
}

// ---- the wrench in a joint

// The link a body hangs on, by a joint or welded to it.
static int parent_of(const TriboModel* model, int body) {
  for (int t = 0; t < model->mechanism.ntree; ++t) {
    const TriboTreeInfo* info = tribo_dyn_tree_info(model->mechanism.trees[t].tree);
    const int link = body - model->mechanism.trees[t].first_body;
    if (link >= 0 && link < info->nlink) {
      return info->links[link].parent < 0 ? TRIBO_WORLD
                                          : model->mechanism.trees[t].first_body + info->links[link].parent;
    }
  }
  return TRIBO_WORLD;
}

int tribo_body_hangs_on(const TriboModel* model, int body, int root) {
  while (body != TRIBO_WORLD && body != root) {
    body = parent_of(model, body);
  }
  return body == root;
}

// Adds a body's momentum, and its moment about x, times `sign`.
static void add_momentum(const TriboModel* model, int body, const TriboPose* pose, const TriboTwist* twist,
                         const double x[3], double sign, double p[3], double L[3]) {
  const TriboBodyInfo* info = &model->mechanism.bodies[body];
  const TriboPose frame = tribo_pose_mul(pose, &model->mechanism.body_offset[body]);
  const double* I = info->inertia;
  const double inertia[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  double com[3], v[3], w[3], spin[3], arm[3], moment[3];
  follow(model, body, pose, twist, info->com, com, v);
  tribo_mul33tv(w, frame.R, twist->w);
  tribo_mul33v(spin, inertia, w);
  tribo_mul33v(moment, frame.R, spin);
  tribo_axpy3(L, L, sign, moment);
  tribo_axpy3(p, p, sign * info->mass, v);
  tribo_sub3(arm, com, x);
  tribo_cross3(moment, arm, v);
  tribo_axpy3(L, L, sign * info->mass, moment);
}

// Takes off what acts on a body from outside over the step: impulses at its centre of mass.
static void take_off(const TriboModel* model, const TriboData* data, int body, const double x[3], double p[3],
                     double L[3]) {
  double impulse[3], com[3], arm[3], moment[3];
  const double *contact = data->events.contact_wrench + 6 * body, *applied = data->events.applied + 6 * body;
  tribo_add3(impulse, contact, applied);
  tribo_axpy3(impulse, impulse, model->world.dt * model->mechanism.bodies[body].mass, model->world.gravity);
  tribo_body_com(model, body, &data->contacts.poses[body], com);
  tribo_sub3(arm, com, x);
  tribo_cross3(moment, arm, impulse);
  tribo_sub3(p, p, impulse);
  tribo_sub3(L, L, moment);
  tribo_sub3(L, L, contact + 3);
  tribo_sub3(L, L, applied + 3);
}

TriboStatus tribo_body_wrench(const TriboModel* model, TriboData* data, int body, const double point[3],
                              double force[3], double torque[3]) {
  TRIBO_TRY(check_stepped(data, "tribo_data_joint_wrench"));
  TRIBO_TRY(tribo_data_kinematics(model, data));
  TRIBO_TRY(evaluate_accelerations(model, data));
  double x[3], v[3], p[3] = {0}, L[3] = {0};
  follow(model, body, &data->view.poses[body], &data->view.twists[body], point, x, v);
  for (int i = model->mechanism.nfree; i < model->nbody; ++i) {
    if (tribo_body_hangs_on(model, i, body)) {
      add_momentum(model, i, &data->view.poses[i], &data->view.twists[i], x, 1, p, L);
      add_momentum(model, i, &data->contacts.poses[i], &data->contacts.twists[i], x, -1, p, L);
      take_off(model, data, i, x, p, L);
    }
  }
  tribo_scale3(force, 1 / model->world.dt, p);
  tribo_scale3(torque, 1 / model->world.dt, L);
  return TRIBO_OK;
}

TriboStatus tribo_data_joint_wrench(const TriboModel* model, TriboData* data, int joint, double force[3],
                                    double torque[3]) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_joint_wrench"));
  TRIBO_REQUIRE(force);
  TRIBO_REQUIRE(torque);
  if (joint < 0 || joint >= model->njoint) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_joint_wrench: joint = %d; accepted are 0 … %d", joint,
                      model->njoint - 1);
  }
  const TriboJointInfo* info = &model->mechanism.joints[joint];
  return tribo_body_wrench(model, data, info->body, info->anchor, force, torque);
}

// What a closure that is a joint carries: that joint does, along the axes that the piece has carried with it.
static TriboStatus measure_cut(const TriboModel* model, TriboData* data, const ModelCut* cut, double out[6]) {
  double force[3], torque[3];
  if (!data->events.has_before) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_body_wrench(model, data, cut->piece, cut->frame.p, force, torque));
  const TriboPose body = tribo_pose_mul(&data->view.poses[cut->piece], &model->mechanism.body_offset[cut->piece]);
  double R[9];
  tribo_mul33(R, body.R, cut->frame.R);
  tribo_mul33tv(out, R, force);
  tribo_mul33tv(out + 3, R, torque);
  tribo_scale3(out, cut->is_turned ? -1 : 1, out);
  tribo_scale3(out + 3, cut->is_turned ? -1 : 1, out + 3);
  return TRIBO_OK;
}

TriboStatus tribo_data_closure_force(const TriboModel* model, TriboData* data, int closure, const double** force) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_closure_force"));
  TRIBO_REQUIRE(force);
  if (closure < 0 || closure >= model->nclosure) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_closure_force: closure = %d; accepted are 0 … %d", closure,
                      model->nclosure - 1);
  }
  *force = data->result.closure_force + 6 * closure;
  for (int i = 0; i < model->mechanism.ncut; ++i) {
    if (model->mechanism.cuts[i].closure == closure) {
      TRIBO_TRY(measure_cut(model, data, &model->mechanism.cuts[i], data->result.closure_force + 6 * closure));
    }
  }
  return TRIBO_OK;
}

// ---- inputs that belong to a place

TriboStatus tribo_data_apply_force(const TriboModel* model, TriboData* data, int body, const double force[3],
                                   const double point[3]) {
  TRIBO_TRY(check_body(model, data, body, "tribo_data_apply_force"));
  TRIBO_REQUIRE(force);
  TRIBO_REQUIRE(point);
  double com[3], arm[3], torque[3];
  TRIBO_TRY(tribo_data_kinematics(model, data));
  tribo_body_com(model, body, &data->view.poses[body], com);
  tribo_sub3(arm, point, com);
  tribo_cross3(torque, arm, force);
  return tribo_data_apply_wrench(model, data, body, force, torque);
}

// Forgets the impulses of a body's contacts: where it is now they mean nothing.
static void forget_contacts(const TriboModel* model, TriboData* data, int body) {
  int kept = 0;
  for (int i = 0; i < data->now.nwarm; ++i) {
    const WarmEntry* e = &data->now.warm[i];
    if (e->key.kind != TRIBO_ROW_CONTACT ||
        (model->geometry.shapes[e->key.a].body != body && model->geometry.shapes[e->key.b].body != body)) {
      data->now.warm[kept++] = *e;
    }
  }
  data->now.nwarm = kept;
}

// ---- bodies that come and go

TriboStatus tribo_data_remove_body(const TriboModel* model, TriboData* data, int body) {
  const char* who = "tribo_data_remove_body";
  TRIBO_TRY(check_body(model, data, body, who));
  int held = body >= model->mechanism.nfree;
  for (int i = 0; i < model->nclosure; ++i) {
    held |= model->mechanism.closures[i].body_a == body || model->mechanism.closures[i].body_b == body;
  }
  if (held) {
    return tribo_fail(TRIBO_UNSUPPORTED, "%s: '%s' is held by joints or closures", who,
                      model->mechanism.bodies[body].name);
  }
  if (data->absent[body]) {
    return tribo_fail(TRIBO_STATE, "%s: '%s' is not there", who, model->mechanism.bodies[body].name);
  }
  tribo_sleep_wake(model, data, body);
  data->absent[body] = 1;
  data->nabsent++;
  memset(data->now.v + model->mechanism.bodies[body].v_at, 0, 6 * sizeof *data->now.v);
  memset(data->input.wrench + 6 * body, 0, 6 * sizeof *data->input.wrench);
  forget_contacts(model, data, body);
  tribo_ledgers_begin(model, &data->now);
  data->view.is_current = data->events.has_before = data->now.has_bodies = 0;
  return TRIBO_OK;
}

TriboStatus tribo_data_add_body(const TriboModel* model, TriboData* data, int body, const double position[3],
                                const double quaternion[4], const double velocity[3], const double omega[3]) {
  const char* who = "tribo_data_add_body";
  TRIBO_TRY(check_body(model, data, body, who));
  if (!data->absent[body]) {
    return tribo_fail(TRIBO_STATE, "%s: '%s' is there already", who, model->mechanism.bodies[body].name);
  }
  TRIBO_TRY(tribo_data_teleport(model, data, body, position, quaternion, velocity, omega));
  data->absent[body] = 0;
  data->nabsent--;
  return TRIBO_OK;
}

TriboStatus tribo_data_teleport(const TriboModel* model, TriboData* data, int body, const double position[3],
                                const double quaternion[4], const double velocity[3], const double omega[3]) {
  static const double still[3] = {0};
  const char* who = "tribo_data_teleport";
  TRIBO_TRY(check_body(model, data, body, who));
  TRIBO_REQUIRE(position);
  TRIBO_REQUIRE(quaternion);
  velocity = velocity != NULL ? velocity : still;
  omega = omega != NULL ? omega : still;
  if (body >= model->mechanism.nfree) {
    return tribo_fail(TRIBO_UNSUPPORTED, "%s: '%s' is held by joints; tribo_data_set_state moves those", who,
                      model->mechanism.bodies[body].name);
  }
  const double size = sqrt(quaternion[0] * quaternion[0] + quaternion[1] * quaternion[1] +
                           quaternion[2] * quaternion[2] + quaternion[3] * quaternion[3]);
  if (!tribo_finite(position, 3) || !tribo_finite(velocity, 3) || !tribo_finite(omega, 3) || !(size > 1e-9) ||
      !(size < 1e9)) {
    return tribo_fail(TRIBO_INVALID, "%s: all numbers must be finite and the quaternion not zero", who);
  }
  tribo_sleep_wake(model, data, body);
  data->sleep.rest_steps[body] = 0;
  // a free body's q: centre of mass and orientation; its v: velocity there, and ω in body axes
  double *q = data->now.q + model->mechanism.bodies[body].q_at, *v = data->now.v + model->mechanism.bodies[body].v_at,
         R[9], com[3];
  for (int i = 0; i < 4; ++i) {
    q[3 + i] = quaternion[i] / size;
  }
  tribo_quat_to_mat(R, q + 3);
  tribo_mul33v(com, R, model->mechanism.bodies[body].com);
  tribo_add3(q, position, com);
  tribo_copy3(v, velocity);
  tribo_mul33tv(v + 3, R, omega);
  forget_contacts(model, data, body);
  tribo_ledgers_begin(model, &data->now);
  data->view.is_current = data->events.has_before = data->now.has_bodies = 0;
  return TRIBO_OK;
}
