// Tasks of controllers in a YAML scene.
#include <math.h>
#include <string.h>

#include "yaml_scene.h"

static TriboStatus read_axes(const YamlNode* node, int* axes) {
  static const char* const words[] = {"x", "y", "z", "rx", "ry", "rz"};
  if (node->kind != YAML_LIST || node->count == 0) {
    return tribo_yaml_fail(node, "axes: %s; accepted is a list of x, y, z, rx, ry, rz", tribo_yaml_what(node));
  }
  for (int i = 0; i < node->count; ++i) {
    const char* word;
    int found = -1;
    TRIBO_TRY(tribo_yaml_text(&node->items[i], "axes", &word));
    for (int k = 0; k < 6; ++k) {
      found = strcmp(word, words[k]) == 0 ? k : found;
    }
    if (found < 0) {
      return tribo_yaml_fail(&node->items[i], "axes: '%s'; accepted are x, y, z, rx, ry, rz", word);
    }
    *axes |= 1 << found;
  }
  return TRIBO_OK;
}

// What a keyframe may say, and in which columns that goes.
static const struct {
  const char* key;
  int column, count;
} parts[] = {{"position", 0, 3}, {"linear", 0, 3},   {"normal", 0, 1}, {"rpy", 3, 3},
             {"angular", 3, 3},  {"velocity", 6, 3}, {"spin", 9, 3},   {"acceleration", 12, 3}};
enum { PARTS = sizeof parts / sizeof parts[0] };

static TriboStatus read_part(const YamlNode* node, const char* key, int count, double* out) {
  if (count == 1) {
    return tribo_yaml_real(node, key, out);
  }
  if (node->kind != YAML_LIST || node->count != count) {
    return tribo_yaml_fail(node, "%s: %s; accepted are %d numbers", key, tribo_yaml_what(node), count);
  }
  for (int i = 0; i < count; ++i) {
    TRIBO_TRY(tribo_yaml_real(&node->items[i], key, &out[i]));
  }
  return TRIBO_OK;
}

// One keyframe: its time, and what it says in its columns.
static TriboStatus read_frame(const YamlNode* frame, double* time, double* row) {
  if (frame->kind != YAML_MAP || tribo_yaml_get(frame, "at") == NULL) {
    return tribo_yaml_fail(frame, "keyframes: accepted is a list of mappings with `at`");
  }
  for (int k = 0; k < TRIBO_TASK_COLUMNS; ++k) {
    row[k] = NAN;
  }
  for (int i = 0; i < frame->count; ++i) {
    const YamlNode *key = tribo_yaml_key(frame, i), *value = tribo_yaml_value(frame, i);
    int known = strcmp(key->text, "at") == 0;
    if (known) {
      TRIBO_TRY(tribo_yaml_real(value, "at", time));
    }
    for (int k = 0; k < PARTS; ++k) {
      if (strcmp(key->text, parts[k].key) == 0) {
        known = 1;
        TRIBO_TRY(read_part(value, parts[k].key, parts[k].count, row + parts[k].column));
      }
    }
    if (!known) {
      return tribo_yaml_fail(key,
                             "keyframes: '%s' is no key; accepted are at, position, rpy, linear, angular, normal, "
                             "velocity, spin, acceleration",
                             key->text);
    }
  }
  return TRIBO_OK;
}

static TriboStatus read_keyframes(Loader* l, const YamlNode* node, TriboTaskDef* task) {
  if (node->kind != YAML_LIST || node->count == 0) {
    return tribo_yaml_fail(node, "keyframes: %s; accepted is a list of frames", tribo_yaml_what(node));
  }
  double* times = tribo_pool_alloc(&l->pool, (size_t)node->count, sizeof *times);
  double* frames = tribo_pool_alloc(&l->pool, (size_t)node->count * TRIBO_TASK_COLUMNS, sizeof *frames);
  if (times == NULL || frames == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int i = 0; i < node->count; ++i) {
    TRIBO_TRY(read_frame(&node->items[i], &times[i], frames + i * TRIBO_TASK_COLUMNS));
  }
  task->times = times;
  task->frames = frames;
  task->nframe = node->count;
  return TRIBO_OK;
}

TriboStatus tribo_load_tasks(Loader* l, const YamlNode* node, TriboControllerDef* def) {
  if (node->kind != YAML_LIST || node->count == 0) {
    return tribo_yaml_fail(node, "tasks: %s; accepted is a list of tasks", tribo_yaml_what(node));
  }
  TriboTaskDef* tasks = tribo_pool_alloc(&l->pool, (size_t)node->count, sizeof *tasks);
  if (tasks == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int i = 0; i < node->count; ++i) {
    const YamlNode* item = &node->items[i];
    tasks[i] = tribo_task_default();
    TRIBO_TRY(tribo_format_read(&l->pool, item, tribo_format_section("task"), NULL, &tasks[i]));
    const YamlNode *axes = tribo_yaml_get(item, "axes"), *keyframes = tribo_yaml_get(item, "keyframes");
    if (axes != NULL) {
      TRIBO_TRY(read_axes(axes, &tasks[i].axes));
    }
    if (keyframes != NULL) {
      TRIBO_TRY(read_keyframes(l, keyframes, &tasks[i]));
    }
  }
  def->tasks = tasks;
  def->ntask = node->count;
  return TRIBO_OK;
}
