// Controllers of a YAML scene.
#include <math.h>
#include <string.h>

#include "yaml_scene.h"

static TriboStatus read_names(Loader* l, const YamlNode* node, TriboControllerDef* def) {
  if (node->kind != YAML_LIST || node->count == 0) {
    return tribo_yaml_fail(node, "joints: %s; accepted is a list of names or patterns", tribo_yaml_what(node));
  }
  const char** names = tribo_pool_alloc(&l->pool, (size_t)node->count, sizeof *names);
  if (names == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int i = 0; i < node->count; ++i) {
    TRIBO_TRY(tribo_yaml_text(&node->items[i], "joints", &names[i]));
  }
  def->joints = names;
  def->njoint = node->count;
  return TRIBO_OK;
}

// The mapping of one keyframe, and that it has its keys.
static TriboStatus frame_parts(const YamlNode* frame, const YamlNode** at, const YamlNode** joints) {
  const int map = frame->kind == YAML_MAP;
  *at = map ? tribo_yaml_get(frame, "at") : NULL;
  *joints = map ? tribo_yaml_get(frame, "joints") : NULL;
  if (*at == NULL || *joints == NULL || frame->count != 2 || (*joints)->kind != YAML_MAP) {
    return tribo_yaml_fail(frame, "keyframes: accepted is a list of mappings with `at` and `joints`, a mapping");
  }
  return TRIBO_OK;
}

static int column_of(const char* const* names, int count, const char* name) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(names[i], name) == 0) {
      return i;
    }
  }
  return -1;
}

// A trajectory as rows of times and joint values.
static TriboStatus read_keyframes(Loader* l, const YamlNode* node, TriboControllerDef* def) {
  if (node->kind != YAML_LIST || node->count == 0) {
    return tribo_yaml_fail(node, "keyframes: %s; accepted is a list of frames", tribo_yaml_what(node));
  }
  // every joint that is named anywhere gets a column
  size_t most = 0;
  const YamlNode *at, *joints;
  for (int i = 0; i < node->count; ++i) {
    TRIBO_TRY(frame_parts(&node->items[i], &at, &joints));
    most += (size_t)joints->count;
  }
  const char** names = tribo_pool_alloc(&l->pool, most, sizeof *names);
  double* times = tribo_pool_alloc(&l->pool, (size_t)node->count, sizeof *times);
  if (names == NULL || times == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  int ncolumn = 0;
  for (int i = 0; i < node->count; ++i) {
    TRIBO_TRY(frame_parts(&node->items[i], &at, &joints));
    TRIBO_TRY(tribo_yaml_real(at, "at", &times[i]));
    for (int k = 0; k < joints->count; ++k) {
      const char* name = tribo_yaml_key(joints, k)->text;
      if (column_of(names, ncolumn, name) < 0) {
        names[ncolumn++] = name;
      }
    }
  }
  double* frames = tribo_pool_alloc(&l->pool, (size_t)node->count * (size_t)ncolumn, sizeof *frames);
  if (frames == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int i = 0; i < node->count; ++i) {
    double* row = frames + (size_t)i * (size_t)ncolumn;
    TRIBO_TRY(frame_parts(&node->items[i], &at, &joints));
    for (int k = 0; k < ncolumn; ++k) {
      row[k] = NAN;
    }
    for (int k = 0; k < joints->count; ++k) {
      const char* name = tribo_yaml_key(joints, k)->text;
      TRIBO_TRY(tribo_yaml_real(tribo_yaml_value(joints, k), name, &row[column_of(names, ncolumn, name)]));
    }
  }
  def->columns = names;
  def->times = times;
  def->frames = frames;
  def->nframe = node->count;
  def->ncolumn = ncolumn;
  return TRIBO_OK;
}

TriboStatus tribo_load_controller(Loader* l, const YamlNode* node) {
  TriboControllerDef def = tribo_controller_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("controller"), NULL, &def));
  const YamlNode *joints = tribo_yaml_get(node, "joints"), *file = tribo_yaml_get(node, "trajectory"),
                 *keyframes = tribo_yaml_get(node, "keyframes");
  if (file != NULL && keyframes != NULL) {
    return tribo_yaml_fail(keyframes, "keyframes: the controller has a trajectory already");
  }
  const YamlNode* tasks = tribo_yaml_get(node, "tasks");
  if (tasks != NULL) {
    TRIBO_TRY(tribo_load_tasks(l, tasks, &def));
  }
  if (joints != NULL) {
    TRIBO_TRY(read_names(l, joints, &def));
  }
  if (keyframes != NULL) {
    TRIBO_TRY(read_keyframes(l, keyframes, &def));
  }
  if (file != NULL) {
    const char* path;
    TRIBO_TRY(tribo_format_path(&l->pool, file, "trajectory", &path));
    TRIBO_TRY(tribo_scene_read_trajectory(l->scene, path, &def));
  }
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_controller(l->scene, &def, NULL));
}
