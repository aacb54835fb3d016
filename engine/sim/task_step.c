// Controllers of tasks in a step: the step is prepared without their efforts, with all contacts within their horizon,
// and its rows are what they plan with.
#include <string.h>

#include "data_impl.h"
#include "task.h"

// What is known of the last step, in the order of the problem's rows.
static TriboStatus match_warm(TriboData* data, const StepStart* start) {
  const TriboProblem* p = &data->result.problem;
  const Islands* is = &data->solve.islands;
  TRIBO_TRY(TRIBO_RESERVE(&data->task_warm.lambda, p->nrow));
  TRIBO_TRY(TRIBO_RESERVE(&data->task_warm.sigma, p->nrow));
  TRIBO_TRY(TRIBO_RESERVE(&data->task_warm.known, p->ncone));
  TRIBO_TRY(tribo_islands_build(&data->solve.islands, p));
  tribo_warm_match(data, start);
  for (int i = 0, k = 0, row = 0; i < is->count; ++i) {
    for (; k < is->first_cone[i + 1]; ++k) {
      const TriboCone* cone = &p->cones[is->cone_of[k]];
      memcpy(data->task_warm.lambda + cone->row, is->warm_lambda + row, (size_t)cone->dim * sizeof(double));
      memcpy(data->task_warm.sigma + cone->row, is->warm_sigma + row, (size_t)cone->dim * sizeof(double));
      data->task_warm.known[is->cone_of[k]] = is->known[k];
      row += cone->dim;
    }
  }
  return TRIBO_OK;
}

static double widest_horizon(const TriboModel* model) {
  double most = 0;
  for (int i = 0; i < model->actuation.ncontroller; ++i) {
    const ModelController* c = &model->actuation.controllers[i];
    most = c->law == TRIBO_LAW_TASK && c->horizon > most ? c->horizon : most;
  }
  return most;
}

TriboStatus tribo_data_control_tasks(const TriboModel* model, TriboData* data, const StepStart* start,
                                     const TriboStepOptions* options) {
  if (model->actuation.ntask == 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_dyn_update(model->mechanism.system, data->dynamics, options, start->q, start->v, data->forces.tau,
                             data->forces.wrench));
  TRIBO_TRY(tribo_data_detect_within(model, data, start, widest_horizon(model)));
  TRIBO_TRY(tribo_dyn_assemble(model->mechanism.system, data->dynamics, options, start->q, start->v,
                               data->contacts.list, data->contacts.laws, data->contacts.count, &data->result.problem,
                               &data->result.rows));
  TRIBO_TRY(match_warm(data, start));
  const TaskInput in = {.dynamics = data->dynamics,
                        .time = start->time,
                        .h = start->h,
                        .q = start->q,
                        .v = start->v,
                        .v_free = tribo_dyn_free_velocity(data->dynamics),
                        .poses = tribo_dyn_poses(data->dynamics),
                        .twists = tribo_dyn_twists(data->dynamics),
                        .problem = &data->result.problem,
                        .rows = data->result.rows,
                        .contacts = data->contacts.list,
                        .warm_lambda = data->task_warm.lambda,
                        .warm_sigma = data->task_warm.sigma,
                        .warm_known = data->task_warm.known};
  memcpy(data->control.v, data->forces.tau, (size_t)model->nv * sizeof *data->control.v);
  TRIBO_TRY(tribo_task_apply(model, &in, &data->tasks, data->forces.tau));
  for (int k = 0; k < model->nv; ++k) {
    data->control.effort[k] += data->forces.tau[k] - data->control.v[k];
  }
  return TRIBO_OK;
}

TriboStatus tribo_data_measure_tasks(const TriboModel* model, TriboData* data, const StepStart* start) {
  if (model->actuation.ntask == 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_dyn_kinematics(model->mechanism.system, data->dynamics, data->next.q, data->next.v, data->tasks.poses,
                                 data->tasks.twists));
  const TaskInput end = {.dynamics = data->dynamics,
                         .time = start->time + start->h,
                         .h = start->h,
                         .q = data->next.q,
                         .v = data->next.v,
                         .poses = data->tasks.poses,
                         .twists = data->tasks.twists};
  return tribo_task_measure(model, &end, data->result.views, data->result.nview, &data->tasks);
}

TriboStatus tribo_data_set_task_contacts(const TriboModel* model, TriboData* data, TriboTaskContacts contacts) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_set_task_contacts"));
  if ((int)contacts < 0 || contacts > TRIBO_TASK_CONTACTS_COUNT) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_set_task_contacts: contacts = %d; see TriboTaskContacts",
                      (int)contacts);
  }
  data->tasks.is_told = contacts != TRIBO_TASK_CONTACTS_COUNT;
  data->tasks.told = (int)contacts;
  return TRIBO_OK;
}
