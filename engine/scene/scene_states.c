// States that a scene names: positions, velocities and controls of some of its bodies, joints and actuators.
#include "scene_add.h"

static TriboStatus check_value(const char* who, const TriboStateValue* value) {
  if ((int)value->kind < 0 || value->kind >= TRIBO_VALUE_COUNT || value->of == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: a value has kind %d, must be one of TriboValueKind, and names what it is of",
                      who, (int)value->kind);
  }
  const int most = value->kind == TRIBO_VALUE_POSITION ? 7 : value->kind == TRIBO_VALUE_VELOCITY ? 6 : 1;
  if (value->n < 1 || value->n > most) {
    return tribo_fail(TRIBO_INVALID, "%s: '%.80s' has %d numbers, must be 1 … %d", who, value->of, value->n, most);
  }
  return tribo_check_finite(who, value->of, value->x, value->n);
}

TriboStatus tribo_scene_add_state(TriboScene* scene, const TriboStateDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  const char* who = def->name != NULL ? def->name : "state";
  if (def->nvalue < 0 || (def->nvalue > 0 && def->values == NULL)) {
    return tribo_fail(TRIBO_INVALID, "%s: nvalue = %d, values %s", who, def->nvalue,
                      def->values == NULL ? "are NULL" : "are given");
  }
  TRIBO_TRY(tribo_check_range(who, "time", def->time, 0, 1e9));
  for (int i = 0; i < def->nvalue; ++i) {
    TRIBO_TRY(check_value(who, &def->values[i]));
  }
  GROW(scene, state);
  TriboStateDef copy = *def;
  TriboStateValue* values = tribo_pool_copy(&scene->pool, def->values, (size_t)def->nvalue, sizeof *def->values);
  copy.values = values;
  for (int i = 0; values != NULL && i < def->nvalue; ++i) {
    values[i].of = tribo_pool_strdup(&scene->pool, def->values[i].of);
    values = values[i].of == NULL ? NULL : values;
  }
  if (values == NULL) {
    return tribo_no_memory("for the scene");
  }
  TRIBO_TRY(tribo_scene_take_name(scene, &scene->state_names, "state", def->name, scene->nstate, &copy.name));
  if (id != NULL) {
    *id = scene->nstate;
  }
  scene->states[scene->nstate++] = copy;
  return TRIBO_OK;
}

TriboStatus tribo_scene_start_at(TriboScene* scene, const char* state) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(state);
  const int at = tribo_names_find(&scene->state_names, state);
  if (at < 0) {
    return tribo_not_found(&scene->state_names, "state", state);
  }
  scene->start = scene->states[at].name;
  return TRIBO_OK;
}
