// Task control through contact, the law `task`: in each step the efforts, and the contact forces that come with them,
// that serve the tasks best under the contact law, by a QPCC (<tribo/qpcc.h>) of the step's own rows.
#pragma once

#include <tribo/qpcc.h>

#include "model_impl.h"

// What the simulation knows of a step without the efforts of tasks.
typedef struct TaskInput {
  TriboDynData* dynamics;
  double time, h;               // [s]
  const double *q, *v;          // (nq), (nv)
  const double* v_free;         // (nv) velocity at the end of the step without constraints and tasks
  const TriboPose* poses;       // (nbody) as dynamics moves bodies
  const TriboTwist* twists;     // (nbody) of v, world axes
  const TriboProblem* problem;  // rows of all constraints
  const TriboRowInfo* rows;     // (ncone)
  const TriboContact* contacts;
  const double *warm_lambda, *warm_sigma;  // (nrow) impulses and velocities of the last step; 0 where not known
  const unsigned char* warm_known;         // (ncone)
} TaskInput;

// How a task fares.
typedef struct TaskState {
  double error;   // [m, rad, m/s; FORCE: N] distance from what is wanted, of the axes it has
  double wanted;  // FORCE: [N]; else the size of what is wanted
  double value;   // FORCE: [N] what it is
} TaskState;

typedef struct TaskWork {
  int room;                  // contacts that there is memory for
  TriboQpccSolver** solver;  // (ncontroller) NULL of other laws
  double *wrench, *row;      // (nbody × 6), (nv)
  double *Jt, *MJt;          // (nres × nv) tasks, and M⁻¹Jᵀ
  double *Jc, *MJc;          // (rows × nv) constraints
  double *A, *B, *b, *C, *D, *g, *lower, *upper, *mu, *slip;
  double* want;                      // (nres)
  int *dim, *group, *cone, *row_of;  // (items); (rows) of the problem
  unsigned char* held;
  TriboQpccMode* mode;
  unsigned char* in_reach;  // (nblock) it moves with the robot
  TaskState* states;        // (ntask)
  double* origin;           // (ntask × 12) places of bodies at the start: position, rotation
  TriboPose* poses;         // (nbody) scratch
  TriboTwist* twists;
  double* v_plan;          // (nv) velocity after the step as planned
  unsigned char* planned;  // (nv) 1: v_plan knows it
  double plan_error;       // [m/s, rad/s] largest difference between plan and step
  double time;             // [s] of the last solves
  int programs, modes;     // quadratic programs; modes of the first contacts, a digit each: 1 break, 2 slide, 3 stick
  double nat;              // [m/s] the largest residual of the plans
  int is_told, told;       // 1: TriboTaskContacts `told` instead of the controllers' own
  int outcome;             // the worst TriboQpccOutcome
} TaskWork;

TriboStatus tribo_task_create(const TriboModel* model, TriboDynData* dynamics, TaskWork* work);
void tribo_task_free(const TriboModel* model, TaskWork* work);
// Efforts of all task controllers, added to tau (nv).
TriboStatus tribo_task_apply(const TriboModel* model, const TaskInput* in, TaskWork* work, double* tau);
// After a step: plan against step, and the errors of tasks at its end. forces: contacts with forces of the step.
TriboStatus tribo_task_measure(const TriboModel* model, const TaskInput* end, const TriboContactView* views, int nview,
                               TaskWork* work);

// Value, rate and bend of a column of a task's path. origin: where it is at the start.
void tribo_task_path(const ModelTask* task, int column, double origin, double time, double out[3]);
double tribo_task_force(const ModelTask* task, double time);

// ---- task_rows.c
// Rows of a task from `at` on: Jacobian (J, rows of nv) and the velocity that is wanted after the step. FORCE has none.
TriboStatus tribo_task_rows(const TriboModel* model, const TaskInput* in, TaskWork* work, const ModelController* c,
                            const ModelTask* task, int* at);
int tribo_task_row_count(const ModelController* c, const ModelTask* task);
// Is the body of a force task the one of this contact? +1: b, −1: a, 0: neither.
int tribo_task_side(const ModelTask* task, const TriboContact* contact);
TriboStatus tribo_task_origins(const TriboModel* model, TriboDynData* dynamics, TaskWork* work);
