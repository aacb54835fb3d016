// Controllers in a step: where their joints should be, and the efforts that follow from it.
//
// PD is left to motors, which are constraints with a compliance: implicit, so that no gain is too stiff. They steer
// towards the trajectory at the end of the step. The other laws are efforts at its beginning:
//
//     computed:  τ = M(q) (q̈* + d (q̇* − q̇) + k (q* − q)) + b(q, q̇) − p(q, q̇)       so that  ë + d ė + k e = 0
//     gravity:   τ = b(q, 0)
//
// with the mass matrix M, Coriolis, centrifugal and gravity forces b, and the springs and dampers p of the joints.
//
// Between two frames a cubic trajectory is Hermite's polynomial with the slopes of Fritsch and Butland (SIAM J. Sci.
// Stat. Comput. 5, 1984): the harmonic mean of the two neighbouring secants, 0 where they point opposite ways. So it
// never goes beyond the frames it lies between.
#include "controllers.h"

#include <math.h>
#include <string.h>

#include "math3.h"

static const double PI = 3.14159265358979323846;

// ---- trajectories

// Value, slope and curvature of a column at a time.
static void sample(const ModelController* c, int column, double time, double out[3]) {
  const int n = c->nframe, stride = c->ncolumn;
  const double* y = c->frames + column;
  out[1] = out[2] = 0;
  if (time < c->times[0] || time >= c->times[n - 1]) {
    out[0] = time < c->times[0] ? y[0] : y[(n - 1) * stride];
    return;
  }
  // the last frame that has begun
  int low = 0, high = n - 1;
  while (high - low > 1) {
    const int mid = (low + high) / 2;
    *(c->times[mid] <= time ? &low : &high) = mid;
  }
  const double a = y[low * stride], b = y[high * stride], h = c->times[high] - c->times[low];
  const double s = (time - c->times[low]) / h, secant = (b - a) / h;
  out[0] = a;
  if (c->interpolation == TRIBO_INTERPOLATION_LINEAR) {
    out[0] = a + s * (b - a);
    out[1] = secant;
  } else if (c->interpolation == TRIBO_INTERPOLATION_CUBIC) {
    // y = a + h (m₀ s + (3 Δ − 2 m₀ − m₁) s² + (m₀ + m₁ − 2 Δ) s³)
    const double m0 = c->slopes[low * stride + column], m1 = c->slopes[high * stride + column];
    const double p = 3 * secant - 2 * m0 - m1, r = m0 + m1 - 2 * secant;
    out[0] = a + h * s * (m0 + s * (p + s * r));
    out[1] = m0 + s * (2 * p + s * 3 * r);
    out[2] = (2 * p + s * 6 * r) / h;
  }
}

// The same of a joint of the controller; one without a column stays.
static void target_of(const ModelController* c, int i, double time, double out[3]) {
  out[0] = c->start[i];
  out[1] = out[2] = 0;
  if (c->column[i] >= 0) {
    sample(c, c->column[i], time, out);
  }
}

TriboStatus tribo_controller_reference(const TriboModel* model, int controller, int joint, double time,
                                       double* position, double* velocity, double* acceleration) {
  TRIBO_REQUIRE(model);
  if (controller < 0 || controller >= model->actuation.ncontroller || !isfinite(time)) {
    return tribo_fail(TRIBO_INVALID,
                      "tribo_controller_reference: controller = %d, time = %g; accepted are 0 … %d and finite times",
                      controller, time, model->actuation.ncontroller - 1);
  }
  const ModelController* c = &model->actuation.controllers[controller];
  for (int i = 0; i < c->njoint; ++i) {
    if (c->joint[i] == joint) {
      double out[3], *const to[3] = {position, velocity, acceleration};
      target_of(c, i, time, out);
      for (int k = 0; k < 3; ++k) {
        if (to[k] != NULL) {
          *to[k] = out[k];
        }
      }
      return TRIBO_OK;
    }
  }
  return tribo_fail(TRIBO_NOT_FOUND, "tribo_controller_reference: joint %d is none of the %d joints of controller %d",
                    joint, c->njoint, controller);
}

// ---- laws

static double position_of(const TriboJointInfo* joint, const double* q) {
  return joint->nq == 1 ? q[joint->q_at] : atan2(q[joint->q_at + 1], q[joint->q_at]);
}

// Motors go for the end of the step.
static void set_motor_targets(const ModelController* c, double time, TriboMotor* motors) {
  for (int i = 0; i < c->njoint; ++i) {
    if (c->column[i] >= 0) {
      double want[3];
      target_of(c, i, time, want);
      motors[c->motor + i].target = want[0];
      motors[c->motor + i].velocity = want[1];
    }
  }
}

// A trajectory of efforts is followed in the mean of the step.
static void add_trajectory_efforts(const TriboModel* model, ControlWork* work, const ModelController* c, double time) {
  for (int i = 0; i < c->njoint; ++i) {
    double want[3];
    target_of(c, i, time, want);
    work->effort[model->mechanism.joints[c->joint[i]].v_at] += tribo_clamp(want[0], -c->effort[i], c->effort[i]);
  }
}

// Gravity compensation: what holds the joints against their weight.
static TriboStatus add_gravity_compensation(const TriboModel* model, const ControlInput* in, ControlWork* work,
                                            const ModelController* c) {
  double *bias = work->bias, *rest = work->v;
  memset(rest, 0, (size_t)model->nv * sizeof *rest);
  TRIBO_TRY(
      tribo_dyn_terms(model->mechanism.system, in->dynamics, model->world.gravity, in->q, rest, NULL, bias, NULL));
  for (int i = 0; i < c->njoint; ++i) {
    const int v = model->mechanism.joints[c->joint[i]].v_at;
    work->effort[v] += tribo_clamp(bias[v], -c->effort[i], c->effort[i]);
  }
  return TRIBO_OK;
}

// Computed torque.
static TriboStatus add_computed_torque(const TriboModel* model, const ControlInput* in, ControlWork* work,
                                       const ModelController* c) {
  double *M = work->mass, *bias = work->bias, *passive = bias + model->nv, *want = work->v;
  TRIBO_TRY(
      tribo_dyn_terms(model->mechanism.system, in->dynamics, model->world.gravity, in->q, in->v, M, bias, passive));
  // accelerations that the errors ask for; all coordinates of the trees are the controller's
  memset(want, 0, (size_t)model->nv * sizeof *want);
  for (int i = 0; i < c->njoint; ++i) {
    const TriboJointInfo* joint = &model->mechanism.joints[c->joint[i]];
    double goal[3];
    target_of(c, i, in->time, goal);
    double error = goal[0] - position_of(joint, in->q);
    error = joint->nq == 1 ? error : remainder(error, 2 * PI);
    want[joint->v_at] = goal[2] + c->damping * (goal[1] - in->v[joint->v_at]) + c->stiffness * error;
  }
  for (int i = 0; i < c->njoint; ++i) {
    const int v = model->mechanism.joints[c->joint[i]].v_at;
    double effort = bias[v] - passive[v];
    for (int k = 0; k < model->nv; ++k) {
      effort += M[(size_t)v * (size_t)model->nv + (size_t)k] * want[k];
    }
    work->effort[v] += tribo_clamp(effort, -c->effort[i], c->effort[i]);
  }
  return TRIBO_OK;
}

TriboStatus tribo_controllers_apply(const TriboModel* model, const ControlInput* in, ControlWork* work,
                                    TriboMotor* motors, double* tau) {
  if (model->actuation.ncontroller == 0) {
    return TRIBO_OK;
  }
  memset(work->effort, 0, (size_t)model->nv * sizeof *work->effort);
  for (int i = 0; i < model->actuation.ncontroller; ++i) {
    const ModelController* c = &model->actuation.controllers[i];
    switch (c->law) {
      case TRIBO_LAW_PD: set_motor_targets(c, in->time + in->h, motors); break;
      case TRIBO_LAW_EFFORT: add_trajectory_efforts(model, work, c, in->time + 0.5 * in->h); break;
      case TRIBO_LAW_TASK: break;  // sim/task_step.c: it needs the rows of the step
      case TRIBO_LAW_GRAVITY: TRIBO_TRY(add_gravity_compensation(model, in, work, c)); break;
      default: TRIBO_TRY(add_computed_torque(model, in, work, c)); break;
    }
  }
  for (int k = 0; k < model->nv; ++k) {
    tau[k] += work->effort[k];
  }
  return TRIBO_OK;
}
