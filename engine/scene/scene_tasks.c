// Tasks of controllers with the law TASK.
#include <math.h>
#include <string.h>

#include "scene_add.h"

TriboTaskDef tribo_task_default(void) {
  return (TriboTaskDef){.weight = 1};
}

static const char* word_of(TriboTaskKind kind) {
  static const char* const words[] = {
#define X(id, word, doc) word,
      TRIBO_TASKS(X)
#undef X
  };
  return words[kind];
}

static int has_body(TriboTaskKind kind) {
  return kind != TRIBO_TASK_COM && kind != TRIBO_TASK_POSTURE && kind != TRIBO_TASK_MOMENTUM;
}

static TriboStatus check_frames(const char* who, const TriboTaskDef* task) {
  if (task->nframe < 0 || (task->nframe > 0 && (task->times == NULL || task->frames == NULL))) {
    return tribo_fail(TRIBO_INVALID, "%s: nframe = %d; keyframes have times and frames", who, task->nframe);
  }
  if (task->nframe > 0 && task->kind == TRIBO_TASK_POSTURE) {
    return tribo_fail(TRIBO_INVALID, "%s: a posture has no keyframes; it is the one at the start", who);
  }
  TRIBO_TRY(tribo_check_finite(who, "times", task->times, task->nframe));
  for (int i = 0; i + 1 < task->nframe; ++i) {
    if (!(task->times[i] < task->times[i + 1])) {
      return tribo_fail(TRIBO_INVALID, "%s: frame %d is at %g s, the one before at %g s; each must be later", who,
                        i + 1, task->times[i + 1], task->times[i]);
    }
  }
  for (int i = 0; i < task->nframe * TRIBO_TASK_COLUMNS; ++i) {
    if (isinf(task->frames[i])) {
      return tribo_fail(TRIBO_INVALID, "%s: frame %d has an infinite number", who, i / TRIBO_TASK_COLUMNS);
    }
  }
  return TRIBO_OK;
}

static TriboStatus check_task(const char* who, const TriboTaskDef* task) {
  if ((int)task->kind < 0 || task->kind >= TRIBO_TASK_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: kind = %d of a task; see TriboTaskKind", who, (int)task->kind);
  }
  if (has_body(task->kind) != (task->of != NULL && task->of[0] != '\0')) {
    return tribo_fail(TRIBO_INVALID, "%s: a task %s %s", who, word_of(task->kind),
                      has_body(task->kind) ? "needs `of`, the body it is about" : "has no `of`: it is the robot's");
  }
  TRIBO_TRY(tribo_check_range(who, "stiffness", task->stiffness, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "damping", task->damping, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "weight", task->weight, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "normal", task->normal, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "ramp", task->ramp, 0, 1e100));
  TRIBO_TRY(tribo_check_finite(who, "start", &task->start, 1));
  TRIBO_TRY(tribo_check_finite(who, "point", task->point, 3));
  if (task->axes < 0 || task->axes > 63) {
    return tribo_fail(TRIBO_INVALID, "%s: axes = %d; accepted are the bits 1 … 32", who, task->axes);
  }
  return check_frames(who, task);
}

TriboStatus tribo_scene_check_tasks(const char* who, const TriboControllerDef* def) {
  const int is_task = def->law == TRIBO_LAW_TASK;
  if (is_task != (def->ntask > 0) || def->ntask < 0 || (def->ntask > 0 && def->tasks == NULL)) {
    return tribo_fail(TRIBO_INVALID, "%s: ntask = %d; the law task needs tasks, the others have none", who, def->ntask);
  }
  if (!is_task) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_check_range(who, "horizon", def->horizon, 0, 1e6));
  TRIBO_TRY(tribo_check_range(who, "torque_weight", def->torque_weight, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "mode_margin", def->mode_margin, 0, 1));
  if ((int)def->contacts < 0 || def->contacts >= TRIBO_TASK_CONTACTS_COUNT || def->flips < 0 || def->flips > 4 ||
      def->programs < 1) {
    return tribo_fail(TRIBO_INVALID,
                      "%s: contacts = %d, flips = %d, programs = %d; accepted are TriboTaskContacts, 0 … 4 and ≥ 1",
                      who, (int)def->contacts, def->flips, def->programs);
  }
  for (int i = 0; i < def->ntask; ++i) {
    TRIBO_TRY(check_task(who, &def->tasks[i]));
  }
  return TRIBO_OK;
}

TriboStatus tribo_scene_copy_tasks(TriboPool* pool, const TriboControllerDef* def, TriboControllerDef* copy) {
  TriboTaskDef* tasks = tribo_pool_copy(pool, def->tasks, (size_t)def->ntask, sizeof *def->tasks);
  if (tasks == NULL) {
    return tribo_no_memory("for the scene");
  }
  for (int i = 0; i < def->ntask; ++i) {
    const TriboTaskDef* task = &def->tasks[i];
    const size_t frames = (size_t)task->nframe;
    tasks[i].name = tribo_pool_strdup(pool, task->name != NULL ? task->name : word_of(task->kind));
    tasks[i].of = tribo_pool_strdup(pool, task->of);
    tasks[i].times = tribo_pool_copy(pool, task->times, frames, sizeof *task->times);
    tasks[i].frames = tribo_pool_copy(pool, task->frames, frames * TRIBO_TASK_COLUMNS, sizeof *task->frames);
    if (tasks[i].name == NULL || (task->of != NULL && tasks[i].of == NULL) || tasks[i].times == NULL ||
        tasks[i].frames == NULL) {
      return tribo_no_memory("for the scene");
    }
    for (int k = 0; k < i; ++k) {
      if (strcmp(tasks[k].name, tasks[i].name) == 0) {
        return tribo_fail(TRIBO_INVALID, "%s: two tasks are called '%s'; give one a name",
                          def->name != NULL ? def->name : "controller", tasks[i].name);
      }
    }
  }
  copy->tasks = tasks;
  return TRIBO_OK;
}
