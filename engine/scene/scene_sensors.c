// Sensors that a scene names.
#include "math3.h"
#include "scene_add.h"

const SceneSensorKind* tribo_sensor_kind(TriboSensorKind kind) {
  static const SceneSensorKind kinds[] = {
#define X(id, word, needs, doc) {word, needs},
      TRIBO_SENSORS(X)
#undef X
  };
  return &kinds[kind];
}

TriboSensorDef tribo_sensor_default(void) {
  return (TriboSensorDef){.quaternion = {0, 0, 0, 1}, .ref_quaternion = {0, 0, 0, 1}};
}

// Refuses a sensor without what its kind needs, or with a wrong frame, volume or cutoff.
static TriboStatus check_sensor(const TriboSensorDef* def) {
  const char* who = def->name != NULL ? def->name : "sensor";
  if ((int)def->kind < 0 || def->kind >= TRIBO_SENSOR_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: kind = %d is none of TriboSensorKind", who, (int)def->kind);
  }
  const char needs = tribo_sensor_kind(def->kind)->needs;
  if ((needs == 'j') != (def->joint != NULL) || (needs == 't') != (def->tendon != NULL) ||
      (needs == 'a') != (def->actuator != NULL) || (needs == 'b' && def->body == NULL)) {
    return tribo_fail(TRIBO_INVALID, "%s: a sensor of the kind %s needs %s, and nothing of another kind", who,
                      tribo_sensor_kind(def->kind)->word,
                      needs == 'j'   ? "a joint"
                      : needs == 't' ? "a tendon"
                      : needs == 'a' ? "an actuator"
                      : needs == 'b' ? "a body"
                                     : "no joint, tendon or actuator");
  }
  TRIBO_TRY(tribo_check_finite(who, "point", def->point, 3));
  TRIBO_TRY(tribo_check_finite(who, "ref_point", def->ref_point, 3));
  TRIBO_TRY(tribo_check_finite(who, "field", def->field, 3));
  for (int i = 0; i < 3; ++i) {
    TRIBO_TRY(tribo_check_range(who, "size", def->size[i], 0, 1e9));
  }
  const int three = def->volume == TRIBO_VOLUME_ELLIPSOID || def->volume == TRIBO_VOLUME_BOX;
  if ((int)def->volume < 0 || def->volume >= TRIBO_VOLUME_COUNT ||
      (def->size[0] > 0 && three && !(def->size[1] > 0 && def->size[2] > 0))) {
    return tribo_fail(TRIBO_INVALID, "%s: volume = %d of size %g, %g, %g is none", who, (int)def->volume, def->size[0],
                      def->size[1], def->size[2]);
  }
  TRIBO_TRY(tribo_check_range(who, "cutoff", def->cutoff, 0, 1e100));
  TRIBO_TRY(tribo_check_quaternion(who, def->quaternion));
  return tribo_check_quaternion(who, def->ref_quaternion);
}

TriboStatus tribo_scene_add_sensor(TriboScene* scene, const TriboSensorDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_sensor(def));
  GROW(scene, sensor);
  TriboSensorDef copy = *def;
  const char* const from[] = {def->joint, def->tendon, def->actuator, def->body, def->ref_body};
  const char** const to[] = {&copy.joint, &copy.tendon, &copy.actuator, &copy.body, &copy.ref_body};
  for (size_t i = 0; i < sizeof from / sizeof *from; ++i) {
    *to[i] = tribo_pool_strdup(&scene->pool, from[i]);
    if (from[i] != NULL && *to[i] == NULL) {
      return tribo_no_memory("for the scene");
    }
  }
  tribo_quat_normalize(copy.quaternion);
  tribo_quat_normalize(copy.ref_quaternion);
  TRIBO_TRY(tribo_scene_take_name(scene, &scene->sensor_names, "sensor", def->name, scene->nsensor, &copy.name));
  if (id != NULL) {
    *id = scene->nsensor;
  }
  scene->sensors[scene->nsensor++] = copy;
  return TRIBO_OK;
}
