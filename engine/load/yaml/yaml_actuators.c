// Tendons and actuators of a YAML scene.
#include <math.h>
#include <string.h>

#include "yaml_scene.h"

static TriboStatus read_joints(Loader* l, const YamlNode* node, TriboTendonDef* def) {
  if (node->kind != YAML_MAP || node->count == 0) {
    return tribo_yaml_fail(node, "joints: %s; accepted is a mapping from joints to coefficients",
                           tribo_yaml_what(node));
  }
  const char** names = tribo_pool_alloc(&l->pool, (size_t)node->count, sizeof *names);
  double* coefs = tribo_pool_alloc(&l->pool, (size_t)node->count, sizeof *coefs);
  if (names == NULL || coefs == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int i = 0; i < node->count; ++i) {
    names[i] = tribo_yaml_key(node, i)->text;
    TRIBO_TRY(tribo_yaml_real(tribo_yaml_value(node, i), names[i], &coefs[i]));
  }
  def->joints = names;
  def->coefs = coefs;
  def->njoint = node->count;
  return TRIBO_OK;
}

// The points a tendon runs through, with weights and wraps.
static TriboStatus read_points(Loader* l, const YamlNode* node, TriboTendonDef* def) {
  if (node->kind != YAML_LIST) {
    return tribo_yaml_fail(node, "points: %s; accepted is a list of points", tribo_yaml_what(node));
  }
  const char** bodies = tribo_pool_alloc(&l->pool, (size_t)node->count, sizeof *bodies);
  double* points = tribo_pool_alloc(&l->pool, (size_t)node->count, 3 * sizeof *points);
  double* weights = tribo_pool_alloc(&l->pool, (size_t)node->count, sizeof *weights);
  TriboWrapDef* wraps = tribo_pool_alloc(&l->pool, (size_t)node->count, sizeof *wraps);
  if (bodies == NULL || points == NULL || weights == NULL || wraps == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int i = 0; i < node->count; ++i) {
    const YamlNode* point = &node->items[i];
    if (point->kind != YAML_MAP) {
      return tribo_yaml_fail(point, "points: %s; accepted is {body: NAME, at: [x, y, z]}", tribo_yaml_what(point));
    }
    weights[i] = 1;
    wraps[i] = tribo_wrap_default();
    for (int k = 0; k < point->count; ++k) {
      const YamlNode *key = tribo_yaml_key(point, k), *value = tribo_yaml_value(point, k);
      if (strcmp(key->text, "body") == 0) {
        TRIBO_TRY(tribo_yaml_text(value, "body", &bodies[i]));
      } else if (strcmp(key->text, "at") == 0) {
        TRIBO_TRY(tribo_yaml_reals(value, "at", points + 3 * i, 3));
      } else if (strcmp(key->text, "weight") == 0) {
        TRIBO_TRY(tribo_yaml_real(value, "weight", &weights[i]));
      } else if (strcmp(key->text, "around") == 0) {
        TRIBO_TRY(tribo_format_read(&l->pool, value, tribo_format_section("wrap"), NULL, &wraps[i]));
      } else {
        return tribo_yaml_fail(key, "unknown key '%.40s' of a point; accepted are body, at, weight and around",
                               key->text);
      }
    }
  }
  def->bodies = bodies;
  def->points = points;
  def->weights = weights;
  def->wraps = wraps;
  def->npoint = node->count;
  return TRIBO_OK;
}

TriboStatus tribo_load_tendon(Loader* l, const YamlNode* node) {
  TriboTendonDef def = tribo_tendon_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("tendon"), NULL, &def));
  const YamlNode *joints = tribo_yaml_get(node, "joints"), *points = tribo_yaml_get(node, "points");
  if (joints != NULL) {
    TRIBO_TRY(read_joints(l, joints, &def));
  }
  if (points != NULL) {
    TRIBO_TRY(read_points(l, points, &def));
  }
  def.rest[1] = isnan(def.rest[1]) ? def.rest[0] : def.rest[1];
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_tendon(l->scene, &def, NULL));
}

TriboStatus tribo_load_actuator(Loader* l, const YamlNode* node) {
  TriboActuatorDef def = tribo_actuator_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("actuator"), NULL, &def));
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_actuator(l->scene, &def, NULL));
}
