// Tasks as rows: the Jacobian of what a task is about, and the velocity that it wants at the end of the step,
//
//     J v⁺ = J v + h (a* + d (ẏ* − J v) + k (y* − y)),
//
// so that an error obeys ë + d ė + k e = 0. A row of a Jacobian is the generalized force of a unit force or torque.
#include <math.h>
#include <string.h>

#include "math3.h"
#include "pose.h"
#include "task.h"

static const double TURN_STEP = 1e-5;  // [s] over which wanted turns are differentiated

int tribo_task_side(const ModelTask* task, const TriboContact* contact) {
  return contact->body_b == task->body ? 1 : contact->body_a == task->body ? -1 : 0;
}

int tribo_task_row_count(const ModelController* c, const ModelTask* task) {
  switch (task->kind) {
    case TRIBO_TASK_POSITION:
    case TRIBO_TASK_ORIENTATION:
    case TRIBO_TASK_COM: return 3;
    case TRIBO_TASK_POSTURE: return c->njoint;
    case TRIBO_TASK_FORCE: return 1;
    default: return 6;
  }
}

// ---- places

static TriboPose body_pose(const TriboModel* model, const TriboPose* poses, int body) {
  return tribo_pose_mul(&poses[body], &model->mechanism.body_offset[body]);
}

static void point_of(const TriboModel* model, const TriboPose* poses, const ModelTask* task, double p[3]) {
  const TriboPose pose = body_pose(model, poses, task->body);
  tribo_mul33v(p, pose.R, task->point);
  tribo_add3(p, p, pose.p);
}

static void centre_of(const TriboModel* model, const TriboPose* poses, int body, double com[3]) {
  const TriboPose pose = body_pose(model, poses, body);
  tribo_mul33v(com, pose.R, model->mechanism.body_com + 3 * body);
  tribo_add3(com, com, pose.p);
}

static int is_own(const TriboModel* model, const ModelController* c, int body) {
  const int block = model->mechanism.bodies[model->mechanism.joints[c->joint[0]].body].block;
  return model->mechanism.bodies[body].block == block;
}

// Mass and centre of mass of the robot.
static double robot_centre(const TriboModel* model, const ModelController* c, const TriboPose* poses, double com[3]) {
  double mass = 0;
  tribo_set3(com, 0, 0, 0);
  for (int i = 0; i < model->nbody; ++i) {
    if (is_own(model, c, i)) {
      double x[3];
      centre_of(model, poses, i, x);
      tribo_axpy3(com, com, model->mechanism.bodies[i].mass, x);
      mass += model->mechanism.bodies[i].mass;
    }
  }
  tribo_scale3(com, mass > 0 ? 1 / mass : 0, com);
  return mass;
}

static void rotation_of_rpy(const double a[3], double R[9]) {
  const double cr = cos(a[0]), sr = sin(a[0]), cp = cos(a[1]), sp = sin(a[1]), cy = cos(a[2]), sy = sin(a[2]);
  const double M[9] = {cy * cp,
                       cy * sp * sr - sy * cr,
                       cy * sp * cr + sy * sr,
                       sy * cp,
                       sy * sp * sr + cy * cr,
                       sy * sp * cr - cy * sr,
                       -sp,
                       cp * sr,
                       cp * cr};
  memcpy(R, M, sizeof M);
}

// The rotation vector of A Bᵀ.
static void turn_between(const double A[9], const double B[9], double w[3]) {
  double D[9];
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      D[3 * i + k] = A[3 * i] * B[3 * k] + A[3 * i + 1] * B[3 * k + 1] + A[3 * i + 2] * B[3 * k + 2];
    }
  }
  tribo_set3(w, 0.5 * (D[7] - D[5]), 0.5 * (D[2] - D[6]), 0.5 * (D[3] - D[1]));
  const double s = tribo_norm3(w), angle = atan2(s, 0.5 * (D[0] + D[4] + D[8] - 1));
  tribo_scale3(w, s > 1e-12 ? angle / s : 1, w);
}

// How a body is wanted to stand at a time.
static void wanted_rotation(const ModelTask* task, const double origin[9], double time, double R[9]) {
  double a[3], out[3];
  int given = 0;
  for (int k = 0; k < 3; ++k) {
    given = given || (task->nframe > 0 && !isnan(task->frames[(task->nframe - 1) * TRIBO_TASK_COLUMNS + 3 + k]));
    tribo_task_path(task, 3 + k, 0, time, out);
    a[k] = out[0];
  }
  memcpy(R, origin, 9 * sizeof *R);
  if (given) {
    double turn[9];
    rotation_of_rpy(a, turn);
    if (task->relative) {
      tribo_mul33(R, turn, origin);
    } else {
      memcpy(R, turn, sizeof turn);
    }
  }
}

TriboStatus tribo_task_origins(const TriboModel* model, TriboDynData* dynamics, TaskWork* work) {
  TriboPose* poses = work->poses;
  TRIBO_TRY(
      tribo_dyn_kinematics(model->mechanism.system, dynamics, model->initial.q, model->initial.v, poses, work->twists));
  for (int i = 0; i < model->actuation.ncontroller; ++i) {
    const ModelController* c = &model->actuation.controllers[i];
    for (int k = 0; k < c->ntask; ++k) {
      double* to = work->origin + 12 * c->tasks[k].at;
      if (c->tasks[k].body != TRIBO_WORLD) {
        const TriboPose pose = body_pose(model, poses, c->tasks[k].body);
        point_of(model, poses, &c->tasks[k], to);
        memcpy(to + 3, pose.R, sizeof pose.R);
      } else if (c->tasks[k].kind == TRIBO_TASK_COM) {
        robot_centre(model, c, poses, to);
      }
    }
  }
  return TRIBO_OK;
}

// ---- rows

// J row `at` ← Jᵀ wrench; the velocity it has now.
static TriboStatus take_row(const TriboModel* model, const TaskInput* in, TaskWork* work, int at, double* speed) {
  double* row = work->Jt + (size_t)at * (size_t)model->nv;
  memset(row, 0, (size_t)model->nv * sizeof *row);
  TRIBO_TRY(tribo_dyn_generalize(model->mechanism.system, in->dynamics, in->q, work->wrench, row));
  *speed = 0;
  for (int k = 0; k < model->nv; ++k) {
    *speed += row[k] * in->v[k];
  }
  return TRIBO_OK;
}

static void clear(const TriboModel* model, TaskWork* work) {
  memset(work->wrench, 0, 6 * (size_t)model->nbody * sizeof *work->wrench);
}

// A unit force at the task's point, or a unit torque on its body.
static void unit_wrench(const TriboModel* model, const TaskInput* in, TaskWork* work, const ModelTask* task, int axis) {
  double* w = work->wrench + 6 * task->body;
  clear(model, work);
  if (axis >= 3) {
    w[axis] = 1;
    return;
  }
  double p[3], com[3], force[3] = {axis == 0, axis == 1, axis == 2};
  point_of(model, in->poses, task, p);
  centre_of(model, in->poses, task->body, com);
  tribo_sub3(p, p, com);
  tribo_copy3(w, force);
  tribo_cross3(w + 3, p, force);
}

// Momentum of the robot along an axis, or about one through its centre of mass; with mass 1 the centre's velocity.
static void momentum_wrench(const TriboModel* model, const TaskInput* in, TaskWork* work, const ModelController* c,
                            int axis, double divide) {
  double centre[3];
  robot_centre(model, c, in->poses, centre);
  clear(model, work);
  for (int i = 0; i < model->nbody; ++i) {
    if (!is_own(model, c, i)) {
      continue;
    }
    const TriboBodyInfo* body = &model->mechanism.bodies[i];
    double e[3] = {axis % 3 == 0, axis % 3 == 1, axis % 3 == 2}, *w = work->wrench + 6 * i;
    if (axis < 3) {
      tribo_scale3(w, body->mass / divide, e);
      continue;
    }
    // e·(r × m v) = m v·(e × r), e·I ω with the inertia in world axes
    double r[3], local[3], turned[3];
    const TriboPose pose = body_pose(model, in->poses, i);
    centre_of(model, in->poses, i, r);
    tribo_sub3(r, r, centre);
    tribo_cross3(w, e, r);
    tribo_scale3(w, body->mass, w);
    tribo_mul33tv(local, pose.R, e);
    const double* I = body->inertia;  // xx yy zz xy xz yz
    tribo_set3(turned, I[0] * local[0] + I[3] * local[1] + I[4] * local[2],
               I[3] * local[0] + I[1] * local[1] + I[5] * local[2],
               I[4] * local[0] + I[5] * local[1] + I[2] * local[2]);
    tribo_mul33v(w + 3, pose.R, turned);
  }
}

// What an axis of a body's or the robot's place wants: error, wanted rate and acceleration.
static void place_goal(const TriboModel* model, const TaskInput* in, const TaskWork* work, const ModelController* c,
                       const ModelTask* task, double error[6], double rate[6], double bend[6]) {
  const double* origin = work->origin + 12 * task->at;
  double p[3], out[3];
  if (task->kind == TRIBO_TASK_COM) {
    robot_centre(model, c, in->poses, p);
  } else {
    point_of(model, in->poses, task, p);
  }
  for (int k = 0; k < 3; ++k) {
    tribo_task_path(task, k, origin[k], in->time, out);
    error[k] = out[0] - p[k];
    rate[k] = out[1];
    bend[k] = out[2];
  }
  if (task->kind == TRIBO_TASK_POSE || task->kind == TRIBO_TASK_ORIENTATION) {
    double R[9], before[9], after[9], w0[3], w1[3];
    const TriboPose pose = body_pose(model, in->poses, task->body);
    wanted_rotation(task, origin + 3, in->time, R);
    wanted_rotation(task, origin + 3, in->time - TURN_STEP, before);
    wanted_rotation(task, origin + 3, in->time + TURN_STEP, after);
    turn_between(R, pose.R, error + 3);
    turn_between(R, before, w0);
    turn_between(after, R, w1);
    for (int k = 0; k < 3; ++k) {
      rate[3 + k] = (w0[k] + w1[k]) / (2 * TURN_STEP);
      bend[3 + k] = (w1[k] - w0[k]) / (TURN_STEP * TURN_STEP);
    }
  }
}

static TriboStatus add_place(const TriboModel* model, const TaskInput* in, TaskWork* work, const ModelController* c,
                             const ModelTask* task, int* at) {
  double error[6] = {0}, rate[6] = {0}, bend[6] = {0};
  const int first = task->kind == TRIBO_TASK_ORIENTATION ? 3 : 0;
  const int last = task->kind == TRIBO_TASK_POSE || task->kind == TRIBO_TASK_ORIENTATION ? 6 : 3;
  place_goal(model, in, work, c, task, error, rate, bend);
  for (int k = first; k < last; ++k) {
    if (!(task->axes >> k & 1)) {
      continue;
    }
    double speed;
    if (task->kind == TRIBO_TASK_COM) {
      double centre[3];
      momentum_wrench(model, in, work, c, k, robot_centre(model, c, in->poses, centre));
    } else {
      unit_wrench(model, in, work, task, k);
    }
    TRIBO_TRY(take_row(model, in, work, *at, &speed));
    work->want[(*at)++] = speed + in->h * (bend[k] + task->damping * (rate[k] - speed) + task->stiffness * error[k]);
  }
  return TRIBO_OK;
}

static TriboStatus add_speed(const TriboModel* model, const TaskInput* in, TaskWork* work, const ModelController* c,
                             const ModelTask* task, int* at) {
  for (int k = 0; k < 6; ++k) {
    if (!(task->axes >> k & 1)) {
      continue;
    }
    double speed, out[3];
    if (task->kind == TRIBO_TASK_MOMENTUM) {
      momentum_wrench(model, in, work, c, k, 1);
    } else {
      unit_wrench(model, in, work, task, k);
    }
    tribo_task_path(task, k, 0, in->time, out);
    TRIBO_TRY(take_row(model, in, work, *at, &speed));
    work->want[(*at)++] = speed + in->h * (out[1] + task->damping * (out[0] - speed));
  }
  return TRIBO_OK;
}

static void add_posture(const TriboModel* model, const TaskInput* in, TaskWork* work, const ModelController* c,
                        const ModelTask* task, int* at) {
  for (int i = 0; i < c->njoint; ++i) {
    const TriboJointInfo* joint = &model->mechanism.joints[c->joint[i]];
    double* row = work->Jt + (size_t)*at * (size_t)model->nv;
    const double* q = in->q + joint->q_at;
    const double error =
        joint->nq == 1 ? c->start[i] - q[0] : remainder(c->start[i] - atan2(q[1], q[0]), 6.283185307179586);
    memset(row, 0, (size_t)model->nv * sizeof *row);
    row[joint->v_at] = 1;
    const double speed = in->v[joint->v_at];
    work->want[(*at)++] = speed + in->h * (task->stiffness * error - task->damping * speed);
  }
}

TriboStatus tribo_task_rows(const TriboModel* model, const TaskInput* in, TaskWork* work, const ModelController* c,
                            const ModelTask* task, int* at) {
  switch (task->kind) {
    case TRIBO_TASK_POSTURE: add_posture(model, in, work, c, task, at); return TRIBO_OK;
    case TRIBO_TASK_FORCE: return TRIBO_OK;
    case TRIBO_TASK_MOMENTUM:
    case TRIBO_TASK_VELOCITY: return add_speed(model, in, work, c, task, at);
    default: return add_place(model, in, work, c, task, at);
  }
}

// ---- how tasks fare

static void measure(const TriboModel* model, const TaskInput* in, const TaskWork* work, const ModelController* c,
                    const ModelTask* task, TaskState* state) {
  double error[6] = {0}, rate[6] = {0}, bend[6] = {0}, sum = 0;
  switch (task->kind) {
    case TRIBO_TASK_POSTURE:
      for (int i = 0; i < c->njoint; ++i) {
        const TriboJointInfo* joint = &model->mechanism.joints[c->joint[i]];
        const double* q = in->q + joint->q_at;
        const double off =
            joint->nq == 1 ? c->start[i] - q[0] : remainder(c->start[i] - atan2(q[1], q[0]), 6.283185307179586);
        sum += off * off;
      }
      break;
    case TRIBO_TASK_VELOCITY:
    case TRIBO_TASK_MOMENTUM: return;
    default:
      place_goal(model, in, work, c, task, error, rate, bend);
      for (int k = 0; k < 6; ++k) {
        const int counts = task->axes >> k & 1 && (task->kind == TRIBO_TASK_ORIENTATION ? k >= 3 : 1);
        sum += counts ? error[k] * error[k] : 0;
      }
  }
  state->error = sqrt(sum);
  state->value = state->error;
}

TriboStatus tribo_task_measure(const TriboModel* model, const TaskInput* in, const TriboContactView* views, int nview,
                               TaskWork* work) {
  work->plan_error = 0;
  for (int k = 0; k < model->nv; ++k) {
    if (work->planned[k]) {
      work->plan_error = fmax(work->plan_error, fabs(in->v[k] - work->v_plan[k]));
    }
  }
  for (int i = 0; i < model->actuation.ncontroller; ++i) {
    const ModelController* c = &model->actuation.controllers[i];
    for (int k = 0; k < c->ntask; ++k) {
      const ModelTask* task = &c->tasks[k];
      TaskState* state = &work->states[task->at];
      *state = (TaskState){0};
      if (task->kind != TRIBO_TASK_FORCE) {
        measure(model, in, work, c, task, state);
        continue;
      }
      // the force of the step that ends now was wanted at its beginning
      state->wanted = tribo_task_force(task, in->time - in->h);
      for (int v = 0; v < nview; ++v) {
        const int own = views[v].body_a == task->body || views[v].body_b == task->body;
        state->value += own ? tribo_dot3(views[v].force, views[v].normal) : 0;
      }
      state->error = fabs(state->value - state->wanted);
    }
  }
  return TRIBO_OK;
}
