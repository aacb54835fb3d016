// The sensors: section of a YAML scene.
#include "yaml_scene.h"

TriboStatus tribo_load_sensor(Loader* l, const YamlNode* node) {
  TriboSensorDef def = tribo_sensor_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("sensor"), NULL, &def));
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_sensor(l->scene, &def, NULL));
}
