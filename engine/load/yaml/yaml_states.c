// The states: and start: sections of a YAML scene.
#include "yaml_scene.h"

static const char* const keys[TRIBO_VALUE_COUNT] = {
    [TRIBO_VALUE_POSITION] = "positions",
    [TRIBO_VALUE_VELOCITY] = "velocities",
    [TRIBO_VALUE_CTRL] = "ctrl",
    [TRIBO_VALUE_ACT] = "act",
};

// A number, or a list of them.
static TriboStatus read_numbers(const YamlNode* node, TriboStateValue* value) {
  value->n = node->kind == YAML_LIST ? node->count : 1;
  if (value->n < 1 || value->n > 7) {
    return tribo_yaml_fail(node, "%.60s: %d numbers; accepted are 1 to 7", value->of, value->n);
  }
  return node->kind == YAML_LIST ? tribo_yaml_reals(node, value->of, value->x, value->n)
                                 : tribo_yaml_real(node, value->of, value->x);
}

TriboStatus tribo_load_state(Loader* l, const YamlNode* node) {
  TriboStateDef def = {.time = 0};
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("state"), NULL, &def));
  int count = 0;
  for (int kind = 0; kind < TRIBO_VALUE_COUNT; ++kind) {
    const YamlNode* map = tribo_yaml_get(node, keys[kind]);
    if (map != NULL && map->kind != YAML_MAP) {
      return tribo_yaml_fail(map, "%s: %s; accepted is a mapping from names to numbers", keys[kind],
                             tribo_yaml_what(map));
    }
    count += map != NULL ? map->count : 0;
  }
  TriboStateValue* values = tribo_pool_alloc(&l->pool, (size_t)count, sizeof *values);
  if (values == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int kind = 0; kind < TRIBO_VALUE_COUNT; ++kind) {
    const YamlNode* map = tribo_yaml_get(node, keys[kind]);
    if (map != NULL) {
      for (int i = 0; i < map->count; ++i) {
        TriboStateValue* value = &values[def.nvalue++];
        value->kind = (TriboValueKind)kind;
        value->of = tribo_yaml_key(map, i)->text;
        TRIBO_TRY(read_numbers(tribo_yaml_value(map, i), value));
      }
    }
  }
  def.values = values;
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_state(l->scene, &def, NULL));
}

TriboStatus tribo_load_start(Loader* l, const YamlNode* node) {
  const char* name;
  TRIBO_TRY(tribo_yaml_text(node, "start", &name));
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_start_at(l->scene, name));
}
