// Forces that depend on the state: tendons, actuators and the medium. They are taken at the beginning of a step, or of
// a part of one; activations go on once per step.
//
// The damping of an actuator that drives a joint is told to the dynamics, which takes it as implicitly as that of the
// joint: gains that would stop a light joint within a step do no harm.
//
// The medium (density ρ, viscosity β) sees a body as the box b of the same mass and inertia, in principal axes, with
// the velocity v, ω of the centre of mass against the medium:
//
//     f_i = −½ ρ b_j b_k |v_i| v_i − 3π β d v_i                d = (b_x + b_y + b_z)/3
//     t_i = −ρ/64 b_i (b_j⁴ + b_k⁴) |ω_i| ω_i − π β d³ ω_i
//
// (flow across the box faces, and a sphere of its mean diameter by Stokes's law).
#include "forces.h"

#include <math.h>
#include <string.h>

#include "muscle.h"
#include "pose.h"

static const double PI = 3.14159265358979323846;

static void add_gravity_compensation(const TriboModel* model, double* wrench) {
  if (model->actuation.gravity_compensation != NULL) {
    for (int i = 0; i < model->nbody; ++i) {
      tribo_axpy3(wrench + 6 * i, wrench + 6 * i,
                  -model->actuation.gravity_compensation[i] * model->mechanism.bodies[i].mass, model->world.gravity);
    }
  }
}

// Efforts of the gravity compensation that actuators of joints bring, times a factor.
static void move_gravity_compensation(const TriboModel* model, const TriboData* data, double factor, double* tau) {
  if (model->actuation.ngravity_comp_joint > 0) {
    for (int j = 0; j < model->njoint; ++j) {
      const int at = model->mechanism.joints[j].v_at;
      tau[at] +=
          model->mechanism.joints[j].actuator_gravity_compensation ? factor * data->forces.gravity_comp_tau[at] : 0;
    }
  }
}

TriboStatus tribo_forces_at(const TriboModel* model, TriboData* data, const double* q, const double* v) {
  data->forces.q = q;
  data->forces.v = v;
  // tendons over joints need no places
  int places = model->loads.ndrag > 0 || model->actuation.nthruster > 0;
  for (int i = 0; i < model->actuation.ntendon && !places; ++i) {
    places = model->actuation.tendons[i].npoint > 0;
  }
  if (places) {
    TRIBO_TRY(
        tribo_dyn_kinematics(model->mechanism.system, data->dynamics, q, v, data->forces.poses, data->forces.twists));
  }
  if (model->actuation.ngravity_comp_joint > 0) {
    memset(data->forces.gravity_comp_wrench, 0, 6 * (size_t)model->nbody * sizeof *data->forces.gravity_comp_wrench);
    memset(data->forces.gravity_comp_tau, 0, (size_t)model->nv * sizeof *data->forces.gravity_comp_tau);
    add_gravity_compensation(model, data->forces.gravity_comp_wrench);
    TRIBO_TRY(tribo_dyn_generalize(model->mechanism.system, data->dynamics, q, data->forces.gravity_comp_wrench,
                                   data->forces.gravity_comp_tau));
  }
  return TRIBO_OK;
}

static TriboBodyFrames frames_of(const TriboModel* model, const TriboData* data) {
  return (TriboBodyFrames){data->forces.poses, data->forces.twists, model->mechanism.body_offset,
                           model->mechanism.body_com};
}

// ---- tendons

// The limits of tendons: the Jacobian of a length is the generalized force of a unit tension.
TriboStatus tribo_forces_tendon_limits(const TriboModel* model, TriboData* data, double* tau, double* wrench) {
  const TriboBodyFrames frames = frames_of(model, data);
  int count = 0;
  if (model->actuation.nbound > 0) {
    for (int i = 0; i < model->actuation.ntendon; ++i) {
      const TriboTendonInfo* info = &model->actuation.tendon_infos[i];
      const double stops[2] = {info->lower, info->upper};
      if (!isfinite(info->lower) && !isfinite(info->upper)) {
        continue;
      }
      double length, speed;
      tribo_dyn_tendon_measure(&model->actuation.tendons[i], data->forces.q, data->forces.v, data->forces.poses,
                               data->forces.twists, &length, &speed);
      memset(tau, 0, (size_t)model->nv * sizeof *tau);
      memset(wrench, 0, 6 * (size_t)model->nbody * sizeof *wrench);
      tribo_dyn_tendon_pull(&model->actuation.tendons[i], &frames, 1, tau, wrench);
      TRIBO_TRY(tribo_dyn_generalize(model->mechanism.system, data->dynamics, data->forces.q, wrench, tau));
      for (int upper = 0; upper < 2; ++upper) {
        if (!isfinite(stops[upper])) {
          continue;
        }
        const double sign = upper ? -1 : 1;
        double* jac = data->forces.bound_jac + (size_t)count * (size_t)model->nv;
        for (int k = 0; k < model->nv; ++k) {
          jac[k] = sign * tau[k];
        }
        data->forces.bounds[count++] =
            (TriboBound){2 * i + upper, sign * (length - stops[upper]), model->actuation.tendons[i].soft, jac,
                         model->actuation.tendons[i].npoint == 0};
      }
    }
  }
  return TRIBO_OK;
}

void tribo_forces_add_stops(const TriboModel* model, TriboData* data, double* wrench) {
  const TriboBodyFrames frames = frames_of(model, data);
  const int ncone = model->actuation.nbound > 0 ? data->result.problem.ncone : 0;
  for (int c = 0; c < ncone; ++c) {
    const TriboRowInfo* row = &data->result.rows[c];
    if (row->kind == TRIBO_ROW_BOUND) {
      const double pull = (row->index % 2 ? -1 : 1) * data->result.lambda[data->result.problem.cones[c].row];
      tribo_dyn_tendon_pull(&model->actuation.tendons[row->index / 2], &frames, pull, data->balance.force, wrench);
    }
  }
}

// ---- the medium

// The wrench of the fluid around a body that moves in it.
static void add_drag(const TriboModel* model, const TriboData* data, const ModelDrag* drag, double* wrench) {
  const double rho = model->world.density, beta = model->world.viscosity, *b = drag->box;
  const double d = (b[0] + b[1] + b[2]) / 3;
  const TriboPose body = tribo_pose_mul(&data->forces.poses[drag->body], &model->mechanism.body_offset[drag->body]);
  const TriboTwist* twist = &data->forces.twists[drag->body];
  double R[9], axes[9], arm[3], against[3], v[3], w[3], f[3], t[3], world[3];
  tribo_quat_to_mat(axes, drag->axes);
  tribo_mul33(R, body.R, axes);
  // of the centre of mass against the medium
  tribo_mul33v(arm, body.R, model->mechanism.bodies[drag->body].com);
  tribo_add3(arm, arm, body.p);
  tribo_sub3(arm, arm, data->forces.poses[drag->body].p);
  tribo_cross3(against, twist->w, arm);
  tribo_add3(against, against, twist->v);
  tribo_sub3(against, against, model->world.wind);
  tribo_mul33tv(v, R, against);
  tribo_mul33tv(w, R, twist->w);
  for (int i = 0; i < 3; ++i) {
    const double j = b[(i + 1) % 3], k = b[(i + 2) % 3];
    f[i] = -0.5 * rho * j * k * fabs(v[i]) * v[i] - 3 * PI * beta * d * v[i];
    t[i] = -rho / 64 * b[i] * (j * j * j * j + k * k * k * k) * fabs(w[i]) * w[i] - PI * beta * d * d * d * w[i];
  }
  double* out = wrench + 6 * drag->body;
  tribo_mul33v(world, R, f);
  tribo_add3(out, out, world);
  tribo_mul33v(world, R, t);
  tribo_add3(out + 3, out + 3, world);
}

void tribo_forces_passive(const TriboModel* model, const TriboData* data, double* tau, double* wrench) {
  const TriboBodyFrames frames = frames_of(model, data);
  add_gravity_compensation(model, wrench);
  move_gravity_compensation(model, data, -1, tau);
  for (int i = 0; i < model->actuation.ntendon; ++i) {
    const TriboTendonInfo* info = &model->actuation.tendon_infos[i];
    double length, speed;
    if (info->stiffness > 0 || info->damping > 0) {
      tribo_dyn_tendon_measure(&model->actuation.tendons[i], data->forces.q, data->forces.v, data->forces.poses,
                               data->forces.twists, &length, &speed);
      const double stretch = length - tribo_clamp(length, info->rest[0], info->rest[1]);
      tribo_dyn_tendon_pull(&model->actuation.tendons[i], &frames, -info->stiffness * stretch - info->damping * speed,
                            tau, wrench);
    }
  }
  for (int i = 0; i < model->loads.ndrag; ++i) {
    add_drag(model, data, &model->loads.drags[i], wrench);
  }
}

// ---- actuators

static double follow(const TriboActuatorDef* def, double act, double ctrl, double h) {
  double next = act;
  switch (def->activation) {
    case TRIBO_ACTIVATION_INTEGRATOR: next = act + h * ctrl; break;
    case TRIBO_ACTIVATION_FILTER: next = act + h * (ctrl - act) / def->time_constant; break;
    case TRIBO_ACTIVATION_EXACT: next = ctrl + (act - ctrl) * exp(-h / def->time_constant); break;
    case TRIBO_ACTIVATION_MUSCLE: next = act + h * tribo_muscle_rate(def, act, ctrl); break;
    default: break;
  }
  return tribo_clamp(next, def->act_min, def->act_max);
}

// The mount of a thruster: where it is, its wrench per unit of force in world axes, and its velocity along that.
static double hold(const TriboModel* model, const TriboData* data, const TriboActuatorDef* def, int body,
                   double point[3], double wrench[6]) {
  const TriboPose own = tribo_pose(def->point, def->quaternion);
  const TriboPose frame = tribo_pose_mul(&data->forces.poses[body], &model->mechanism.body_offset[body]);
  const TriboPose mount = tribo_pose_mul(&frame, &own);
  const TriboTwist* twist = &data->forces.twists[body];
  double arm[3], velocity[3];
  tribo_copy3(point, mount.p);
  tribo_mul33v(wrench, mount.R, def->wrench);
  tribo_mul33v(wrench + 3, mount.R, def->wrench + 3);
  tribo_sub3(arm, point, data->forces.poses[body].p);
  tribo_cross3(velocity, twist->w, arm);
  tribo_add3(velocity, velocity, twist->v);
  return tribo_dot3(velocity, wrench) + tribo_dot3(twist->w, wrench + 3);
}

// A slider-crank: the slider runs along the direction a through s, held by a crank rod of length r from the point c:
// with v = c − s,
//
//     l = a·v − √D,   D = (a·v)² + r² − v·v,   ∂l/∂v = a (1 − a·v/√D) + v/√D,   ∂l/∂a = v (1 − a·v/√D).
//
// A rod that is too short to reach stands across the slider's axis: l = a·v.
typedef struct Crank {
  TriboPose slider_frame;  // frame of the body that the slider runs on
  double point[3], at[3], axis[3], by_point[3], by_axis[3], length;
} Crank;

// Where a slider-crank stands, its length, and how that changes with the point and the axis.
static Crank crank_of(const TriboModel* model, const TriboData* data, int actuator) {
  const TriboActuatorDef* def = &model->actuation.actuators[actuator];
  const int crank = model->actuation.actuator_infos[actuator].body, slider = model->actuation.sliders[actuator];
  const TriboPose own = tribo_pose_mul(&data->forces.poses[crank], &model->mechanism.body_offset[crank]);
  Crank c = {.slider_frame = tribo_pose_identity()};
  if (slider != TRIBO_WORLD) {
    c.slider_frame = tribo_pose_mul(&data->forces.poses[slider], &model->mechanism.body_offset[slider]);
  }
  double v[3];
  tribo_mul33v(c.point, own.R, def->point);
  tribo_add3(c.point, c.point, own.p);
  tribo_mul33v(c.at, c.slider_frame.R, def->slider_point);
  tribo_add3(c.at, c.at, c.slider_frame.p);
  tribo_mul33v(c.axis, c.slider_frame.R, def->slider_axis);
  tribo_sub3(v, c.point, c.at);
  const double along = tribo_dot3(c.axis, v),
               D = along * along + def->crank_length * def->crank_length - tribo_dot3(v, v);
  const double root = D > 0 ? sqrt(D) : 0, w = D > 0 ? 1 - along / root : 1;
  c.length = along - root;
  tribo_scale3(c.by_point, w, c.axis);
  tribo_scale3(c.by_axis, w, v);
  if (D > 0) {
    tribo_axpy3(c.by_point, c.by_point, 1 / root, v);
  }
  return c;
}

static double crank_speed(const TriboModel* model, const TriboData* data, int actuator, const Crank* c) {
  const int slider = model->actuation.sliders[actuator];
  double ends[2][3], turn[3];
  tribo_dyn_point_velocity(model->actuation.actuator_infos[actuator].body, data->forces.poses, data->forces.twists,
                           c->point, ends[0]);
  tribo_dyn_point_velocity(slider, data->forces.poses, data->forces.twists, c->at, ends[1]);
  double speed = tribo_dot3(c->by_point, ends[0]) - tribo_dot3(c->by_point, ends[1]);
  if (slider != TRIBO_WORLD) {
    tribo_cross3(turn, data->forces.twists[slider].w, c->axis);
    speed += tribo_dot3(c->by_axis, turn);
  }
  return speed;
}

static void push_crank(const TriboModel* model, const TriboData* data, int actuator, double force, double* wrench) {
  const TriboBodyFrames frames = frames_of(model, data);
  const Crank c = crank_of(model, data, actuator);
  const int slider = model->actuation.sliders[actuator];
  tribo_dyn_apply_force(&frames, model->actuation.actuator_infos[actuator].body, c.point, force, c.by_point, wrench);
  tribo_dyn_apply_force(&frames, slider, c.at, -force, c.by_point, wrench);
  if (slider != TRIBO_WORLD) {
    double turn[3];
    tribo_cross3(turn, c.axis, c.by_axis);
    tribo_axpy3(wrench + 6 * slider + 3, wrench + 6 * slider + 3, force, turn);
  }
}

// Position and speed of what an actuator drives, times its gear; of a thruster, its mount too.
static void measure(const TriboModel* model, const TriboData* data, int actuator, double* length, double* speed,
                    double point[3], double unit[6]) {
  const TriboActuatorDef* def = &model->actuation.actuators[actuator];
  const TriboActuatorInfo* info = &model->actuation.actuator_infos[actuator];
  *length = 0;
  if (info->body >= 0 && def->crank_length > 0) {
    const Crank c = crank_of(model, data, actuator);
    *length = c.length;
    *speed = crank_speed(model, data, actuator, &c);
  } else if (info->body >= 0) {
    *speed = hold(model, data, def, info->body, point, unit);
  } else if (info->joint >= 0) {
    *length = data->forces.q[model->mechanism.joints[info->joint].q_at];
    *speed = data->forces.v[model->mechanism.joints[info->joint].v_at];
  } else {
    tribo_dyn_tendon_measure(&model->actuation.tendons[info->tendon], data->forces.q, data->forces.v,
                             data->forces.poses, data->forces.twists, length, speed);
  }
  *length *= def->gear;
  *speed *= def->gear;
}

void tribo_actuator_measure(const TriboModel* model, const TriboData* data, int actuator, double* length,
                            double* speed) {
  double point[3], unit[6];
  measure(model, data, actuator, length, speed, point, unit);
}

// Actuators of a tendon whose forces together are beyond its own bounds pull less, all in the same proportion; then
// each stays within its own.
static void pull_tendons(const TriboModel* model, TriboData* data, double* sum, double* wrench) {
  const TriboBodyFrames frames = frames_of(model, data);
  for (int t = 0; t < model->actuation.ntendon; ++t) {
    const TriboTendon* tendon = &model->actuation.tendons[t];
    double all = 0;
    if (tendon->has_force_bounds) {
      for (int i = 0; i < model->actuation.nactuator; ++i) {
        all += model->actuation.actuator_infos[i].tendon == t ? data->forces.actuation[i] : 0;
      }
    }
    if (all != 0) {
      for (int i = 0; i < model->actuation.nactuator; ++i) {
        const double kept = tribo_clamp(all, tendon->force_min, tendon->force_max) / all;
        data->forces.actuation[i] *= model->actuation.actuator_infos[i].tendon == t ? kept : 1;
      }
    }
  }
  for (int i = 0; i < model->actuation.nactuator; ++i) {
    const TriboActuatorDef* def = &model->actuation.actuators[i];
    const int t = model->actuation.actuator_infos[i].tendon;
    if (t >= 0) {
      data->forces.actuation[i] = tribo_clamp(data->forces.actuation[i], def->force_min, def->force_max);
      tribo_dyn_tendon_pull(&model->actuation.tendons[t], &frames, def->gear * data->forces.actuation[i], sum, wrench);
    }
  }
}

void tribo_forces_actuators(const TriboModel* model, TriboData* data, double* tau, double* wrench) {
  const TriboBodyFrames frames = frames_of(model, data);
  double* sum = data->forces.effort;
  memset(sum, 0, (size_t)model->nv * sizeof *sum);
  memset(data->forces.damping, 0, (size_t)model->nv * sizeof *data->forces.damping);
  for (int i = 0; i < model->actuation.nactuator; ++i) {
    const TriboActuatorDef* def = &model->actuation.actuators[i];
    const TriboActuatorInfo* info = &model->actuation.actuator_infos[i];
    double length, speed, point[3], unit[6];
    measure(model, data, i, &length, &speed, point, unit);
    const double ctrl = tribo_clamp(data->input.ctrl[i], def->ctrl_min, def->ctrl_max);
    data->act_next[i] = follow(def, data->act[i], ctrl, model->world.dt);
    const double a = def->activation == TRIBO_ACTIVATION_NONE ? ctrl
                     : def->act_early                         ? data->act_next[i]
                                                              : data->act[i];
    const double* g = def->gain;
    const double* b = def->bias;
    const double wanted = def->has_muscle
                              ? tribo_muscle_force(&def->muscle, length, speed, a)
                              : (g[0] + g[1] * length + g[2] * speed) * a + b[0] + b[1] * length + b[2] * speed;
    const double force = tribo_clamp(wanted, def->force_min, def->force_max);
    if (info->joint >= 0 && force == wanted && !def->has_muscle) {
      data->forces.damping[model->mechanism.joints[info->joint].v_at] -=
          def->gear * def->gear * (def->gain[2] * a + def->bias[2]);
    }
    data->forces.actuation[i] =
        info->tendon >= 0 && model->actuation.tendons[info->tendon].has_force_bounds ? wanted : force;
    if (info->body >= 0 && def->crank_length > 0) {
      push_crank(model, data, i, def->gear * force, wrench);
    } else if (info->body >= 0) {
      tribo_dyn_apply_force(&frames, info->body, point, def->gear * force, unit, wrench);
      tribo_axpy3(wrench + 6 * info->body + 3, wrench + 6 * info->body + 3, def->gear * force, unit + 3);
    } else if (info->joint >= 0) {
      sum[model->mechanism.joints[info->joint].v_at] += def->gear * force;
    }
  }
  pull_tendons(model, data, sum, wrench);
  move_gravity_compensation(model, data, 1, sum);
  // all that acts on a joint stays within the joint's effort
  for (int j = 0; j < model->njoint; ++j) {
    const TriboJointInfo* joint = &model->mechanism.joints[j];
    if (joint->nv == 1) {
      const double effort = tribo_clamp(sum[joint->v_at], -joint->effort, joint->effort);
      tau[joint->v_at] += effort;
      data->forces.damping[joint->v_at] = effort == sum[joint->v_at] ? fmax(data->forces.damping[joint->v_at], 0) : 0;
    }
  }
}

// ---- looking

void tribo_forces_tendon_lengths(const TriboModel* model, TriboData* data) {
  for (int i = 0; i < model->actuation.ntendon; ++i) {
    double speed;
    tribo_dyn_tendon_measure(&model->actuation.tendons[i], data->forces.q, data->forces.v, data->forces.poses,
                             data->forces.twists, &data->forces.length[i], &speed);
  }
}

TriboStatus tribo_data_terms(const TriboModel* model, TriboData* data, const TriboTerms* out) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_terms"));
  TRIBO_REQUIRE(out);
  TriboDynData* dynamics = data->dynamics;
  TRIBO_TRY(tribo_dyn_terms(model->mechanism.system, dynamics, model->world.gravity, data->now.q, data->now.v,
                            out->mass, out->bias, out->passive));
  TRIBO_TRY(tribo_forces_at(model, data, data->now.q, data->now.v));
  double* const forces[2] = {out->passive, out->actuation};
  for (int i = 0; i < 2; ++i) {
    if (forces[i] == NULL) {
      continue;
    }
    if (i == 1) {
      memset(forces[i], 0, (size_t)model->nv * sizeof **forces);
    }
    double* wrench = data->forces.wrench;
    memset(wrench, 0, 6 * (size_t)model->nbody * sizeof *wrench);
    if (i == 0) {
      tribo_forces_passive(model, data, forces[i], wrench);
    } else {
      tribo_forces_actuators(model, data, forces[i], wrench);
    }
    TRIBO_TRY(tribo_dyn_generalize(model->mechanism.system, dynamics, data->now.q, wrench, forces[i]));
  }
  return TRIBO_OK;
}

static TriboStatus set(const TriboModel* model, TriboData* data, const char* who, int actuator, double value,
                       double* values) {
  TRIBO_TRY(tribo_data_check(model, data, who));
  if (actuator < 0 || actuator >= model->actuation.nactuator || !isfinite(value)) {
    return tribo_fail(TRIBO_INVALID, "%s: actuator = %d, value = %g; accepted are 0 … %d and finite values", who,
                      actuator, value, model->actuation.nactuator - 1);
  }
  values[actuator] = value;
  return TRIBO_OK;
}

TriboStatus tribo_data_set_ctrl(const TriboModel* model, TriboData* data, int actuator, double ctrl) {
  return set(model, data, "tribo_data_set_ctrl", actuator, ctrl, data != NULL ? data->input.ctrl : NULL);
}

TriboStatus tribo_data_set_act(const TriboModel* model, TriboData* data, int actuator, double act) {
  return set(model, data, "tribo_data_set_act", actuator, act, data != NULL ? data->act : NULL);
}
