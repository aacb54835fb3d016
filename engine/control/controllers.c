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
#include <math.h>
#include <string.h>

#include "data.h"
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
static void wanted(const ModelController* c, int i, double time, double out[3]) {
  out[0] = c->start[i];
  out[1] = out[2] = 0;
  if (c->column[i] >= 0) {
    sample(c, c->column[i], time, out);
  }
}

TriboStatus tribo_model_wanted(const TriboModel* model, int controller, int joint, double time, double* position,
                               double* velocity, double* acceleration) {
  TRIBO_REQUIRE(model);
  if (controller < 0 || controller >= model->ncontroller || !isfinite(time)) {
    return tribo_fail(TRIBO_INVALID,
                      "tribo_model_wanted: controller = %d, time = %g; accepted are 0 … %d and finite times",
                      controller, time, model->ncontroller - 1);
  }
  const ModelController* c = &model->controllers[controller];
  for (int i = 0; i < c->njoint; ++i) {
    if (c->joint[i] == joint) {
      double out[3], *const to[3] = {position, velocity, acceleration};
      wanted(c, i, time, out);
      for (int k = 0; k < 3; ++k) {
        if (to[k] != NULL) {
          *to[k] = out[k];
        }
      }
      return TRIBO_OK;
    }
  }
  return tribo_fail(TRIBO_NOT_FOUND, "tribo_model_wanted: joint %d is none of the %d joints of controller %d", joint,
                    c->njoint, controller);
}

// ---- laws

static double position_of(const TriboJointInfo* joint, const double* q) {
  return joint->nq == 1 ? q[joint->q_at] : atan2(q[joint->q_at + 1], q[joint->q_at]);
}

// Motors go for the end of the step.
static void steer_motors(const ModelController* c, TriboData* data, double time) {
  for (int i = 0; i < c->njoint; ++i) {
    if (c->column[i] >= 0) {
      double want[3];
      wanted(c, i, time, want);
      data->motors[c->motor + i].target = want[0];
      data->motors[c->motor + i].velocity = want[1];
    }
  }
}

// A trajectory of efforts is followed in the mean of the step.
static void give_efforts(const TriboModel* model, TriboData* data, const ModelController* c, double time) {
  for (int i = 0; i < c->njoint; ++i) {
    double want[3];
    wanted(c, i, time, want);
    data->control[model->joints[c->joint[i]].v_at] += tribo_clamp(want[0], -c->effort[i], c->effort[i]);
  }
}

static TriboStatus carry_weight(const TriboModel* model, TriboData* data, const ModelController* c, const double* q) {
  double *bias = data->control_bias, *rest = data->control_v;
  memset(rest, 0, (size_t)model->nv * sizeof *rest);
  TRIBO_TRY(tribo_dyn_terms(model->system, data->dynamics, model->world.gravity, q, rest, NULL, bias, NULL));
  for (int i = 0; i < c->njoint; ++i) {
    const int v = model->joints[c->joint[i]].v_at;
    data->control[v] += tribo_clamp(bias[v], -c->effort[i], c->effort[i]);
  }
  return TRIBO_OK;
}

static TriboStatus compute(const TriboModel* model, TriboData* data, const ModelController* c, const StepStart* start) {
  double *M = data->control_mass, *bias = data->control_bias, *passive = bias + model->nv, *want = data->control_v;
  TRIBO_TRY(tribo_dyn_terms(model->system, data->dynamics, model->world.gravity, start->q, start->v, M, bias, passive));
  // accelerations that the errors ask for; all coordinates of the trees are the controller's
  memset(want, 0, (size_t)model->nv * sizeof *want);
  for (int i = 0; i < c->njoint; ++i) {
    const TriboJointInfo* joint = &model->joints[c->joint[i]];
    double goal[3];
    wanted(c, i, start->time, goal);
    double error = goal[0] - position_of(joint, start->q);
    error = joint->nq == 1 ? error : remainder(error, 2 * PI);
    want[joint->v_at] = goal[2] + c->damping * (goal[1] - start->v[joint->v_at]) + c->stiffness * error;
  }
  for (int i = 0; i < c->njoint; ++i) {
    const int v = model->joints[c->joint[i]].v_at;
    double effort = bias[v] - passive[v];
    for (int k = 0; k < model->nv; ++k) {
      effort += M[(size_t)v * (size_t)model->nv + (size_t)k] * want[k];
    }
    data->control[v] += tribo_clamp(effort, -c->effort[i], c->effort[i]);
  }
  return TRIBO_OK;
}

TriboStatus tribo_data_steer(const TriboModel* model, TriboData* data, const StepStart* start, double* tau) {
  if (model->ncontroller == 0) {
    return TRIBO_OK;
  }
  memset(data->control, 0, (size_t)model->nv * sizeof *data->control);
  for (int i = 0; i < model->ncontroller; ++i) {
    const ModelController* c = &model->controllers[i];
    switch (c->law) {
      case TRIBO_LAW_PD: steer_motors(c, data, start->time + start->h); break;
      case TRIBO_LAW_EFFORT: give_efforts(model, data, c, start->time + 0.5 * start->h); break;
      case TRIBO_LAW_GRAVITY: TRIBO_TRY(carry_weight(model, data, c, start->q)); break;
      default: TRIBO_TRY(compute(model, data, c, start)); break;
    }
  }
  for (int k = 0; k < model->nv; ++k) {
    tau[k] += data->control[k];
  }
  return TRIBO_OK;
}

// ---- looking, and calling back

double tribo_data_effort(const TriboModel* model, const TriboData* data, int joint) {
  const TriboJointInfo* info = &model->joints[joint];
  if (data->info.substeps == 0) {
    return 0;  // no step yet
  }
  double sum = model->ncontroller > 0 ? data->control[info->v_at] : 0;
  sum += tribo_clamp(data->effort[info->v_at], -info->effort, info->effort);
  for (int i = 0; i < data->problem.ncone; ++i) {
    const TriboRowInfo* row = &data->rows[i];
    if (row->kind == TRIBO_ROW_MOTOR && model->motors[row->index].v == info->v_at) {
      sum += data->lambda[data->problem.cones[i].row] / data->warm_dt;
    }
  }
  return sum;
}

TriboStatus tribo_data_set_control(const TriboModel* model, TriboData* data, TriboControlFn* fn, void* user) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_set_control"));
  data->control_fn = fn;
  data->control_user = user;
  return TRIBO_OK;
}
