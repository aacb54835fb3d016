// Tasks of controllers: names become bodies, and keyframes are filled with where things are at the start.
#include <math.h>
#include <string.h>

#include "math3.h"
#include "model_impl.h"
#include "pose.h"

// What keyframes leave open is as in the one before, and at the start in the first one; rates are 0.
static void fill_frames(const TriboTaskDef* def, ModelTask* task) {
  for (int i = 0; i < def->nframe; ++i) {
    double* row = task->frames + i * TRIBO_TASK_COLUMNS;
    for (int k = 0; k < TRIBO_TASK_COLUMNS; ++k) {
      const double before = k >= 6 ? 0 : i > 0 ? row[k - TRIBO_TASK_COLUMNS] : NAN;
      row[k] = isnan(row[k]) ? before : row[k];
    }
  }
}

// A task with its body and its keyframes.
static TriboStatus compile_task(TriboModel* model, const TriboControllerDef* def, const TriboTaskDef* from,
                                ModelTask* task) {
  TriboPool* pool = &model->pool;
  *task = (ModelTask){.kind = from->kind,
                      .body = TRIBO_WORLD,
                      .axes = from->axes != 0 ? from->axes : 63,
                      .stiffness = from->stiffness,
                      .damping = from->damping,
                      .weight = from->weight,
                      .normal = from->normal,
                      .start = from->start,
                      .ramp = from->ramp,
                      .relative = from->relative,
                      .nframe = from->nframe};
  tribo_copy3(task->point, from->point);
  task->name = tribo_pool_strdup(pool, from->name);
  task->times = tribo_pool_copy(pool, from->times, (size_t)from->nframe, sizeof *from->times);
  task->frames = tribo_pool_copy(pool, from->frames, (size_t)from->nframe * TRIBO_TASK_COLUMNS, sizeof *from->frames);
  if (task->name == NULL || task->times == NULL || task->frames == NULL) {
    return tribo_no_memory("for the model");
  }
  if (from->of != NULL) {
    task->body = tribo_names_find(&model->mechanism.body_names, from->of);
    if (task->body < 0) {
      return tribo_fail(TRIBO_NOT_FOUND, "%s: task %s: there is no body '%s'", def->name, from->name, from->of);
    }
  }
  fill_frames(from, task);
  return TRIBO_OK;
}

TriboStatus tribo_compile_tasks(TriboModel* model, const TriboControllerDef* def, ModelController* c) {
  c->tasks = tribo_pool_alloc(&model->pool, (size_t)def->ntask, sizeof *c->tasks);
  if (c->tasks == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < def->ntask; ++i) {
    TRIBO_TRY(compile_task(model, def, &def->tasks[i], &c->tasks[i]));
    c->tasks[i].at = model->actuation.ntask++;
    c->ntask++;
  }
  c->contacts = def->contacts;
  c->horizon = def->horizon;
  c->torque_weight = def->torque_weight;
  c->mode_margin = def->mode_margin;
  c->flips = def->flips;
  c->programs = def->programs;
  return TRIBO_OK;
}

// The controller and the task that is the i-th of all.
static const ModelTask* task_at(const TriboModel* model, int task, const ModelController** of) {
  for (int i = 0; i < model->actuation.ncontroller; ++i) {
    const ModelController* c = &model->actuation.controllers[i];
    if (c->ntask > 0 && task >= c->tasks[0].at && task < c->tasks[0].at + c->ntask) {
      *of = c;
      return &c->tasks[task - c->tasks[0].at];
    }
  }
  return NULL;
}

int tribo_model_task_count(const TriboModel* model) {
  return model != NULL ? model->actuation.ntask : 0;
}

TriboStatus tribo_model_task_info(const TriboModel* model, int task, TriboTaskInfo* out) {
  TRIBO_REQUIRE(model);
  TRIBO_REQUIRE(out);
  const ModelController* c = NULL;
  const ModelTask* t = task_at(model, task, &c);
  if (t == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_model_task_info: task = %d; accepted are 0 … %d", task,
                      model->actuation.ntask - 1);
  }
  *out = (TriboTaskInfo){.controller = c->name, .name = t->name, .kind = t->kind};
  return TRIBO_OK;
}

int tribo_model_find_task(const TriboModel* model, const char* name) {
  for (int i = 0; i < model->actuation.ncontroller; ++i) {
    const ModelController* c = &model->actuation.controllers[i];
    const size_t n = strlen(c->name);
    for (int k = 0; k < c->ntask; ++k) {
      const int own = strncmp(name, c->name, n) == 0 && name[n] == '/' && strcmp(name + n + 1, c->tasks[k].name) == 0;
      if (own) {
        return c->tasks[k].at;
      }
    }
  }
  return -1;
}
