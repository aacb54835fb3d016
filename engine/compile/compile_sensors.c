// Sensors with their names resolved.
#include "model_impl.h"
#include "scene_add.h"

static TriboStatus find_body(const TriboModel* model, const char* name, int* id) {
  *id = TRIBO_WORLD;
  return name == NULL ? TRIBO_OK : tribo_model_body_id(model, name, id);
}

// A sensor with what it is mounted on and refers to as ids.
static TriboStatus compile_sensor(const TriboScene* scene, TriboModel* model, const TriboSensorDef* def,
                                  ModelSensor* out, TriboSensorInfo* info) {
  *out = (ModelSensor){.def = *def, .at = -1};
  out->def.name = out->def.joint = out->def.tendon = out->def.actuator = out->def.body = out->def.ref_body = NULL;
  TRIBO_TRY(find_body(model, def->body, &out->body));
  TRIBO_TRY(find_body(model, def->ref_body, &out->ref_body));
  const TriboNames* names = tribo_sensor_kind(def->kind)->needs == 't' ? &scene->tendon_names : &scene->actuator_names;
  const char* name = tribo_sensor_kind(def->kind)->needs == 't' ? def->tendon : def->actuator;
  if (def->joint != NULL) {
    TRIBO_TRY(tribo_model_joint_id(model, def->joint, &out->at));
  } else if (name != NULL) {
    out->at = tribo_names_find(names, name);
    if (out->at < 0) {
      return tribo_not_found(names, tribo_sensor_kind(def->kind)->needs == 't' ? "tendon" : "actuator", name);
    }
  }
  const TriboJointInfo* joint = def->joint != NULL ? &model->mechanism.joints[out->at] : NULL;
  *info = (TriboSensorInfo){.name = tribo_pool_strdup(&model->pool, def->name), .kind = def->kind, .n = 3};
  if (joint != NULL) {
    info->n = joint->nv == 1 ? 1 : def->kind == TRIBO_SENSOR_JOINT_POSITION ? joint->nq : joint->nv;
    if (info->n > 4) {
      return tribo_fail(TRIBO_INVALID, "sensor '%s': joint '%s' has %d coordinates; a sensor of the body reads them",
                        def->name, def->joint, info->n);
    }
  } else if (name != NULL || def->kind == TRIBO_SENSOR_TOUCH || def->kind == TRIBO_SENSOR_CLOCK) {
    info->n = 1;
  } else if (def->kind == TRIBO_SENSOR_ORIENTATION) {
    info->n = 4;
  }
  const int needs_parent = def->kind == TRIBO_SENSOR_FORCE || def->kind == TRIBO_SENSOR_TORQUE;
  if ((needs_parent && out->body < model->mechanism.nfree) ||
      (def->kind == TRIBO_SENSOR_ACCELEROMETER && out->body < 0)) {
    return tribo_fail(TRIBO_INVALID, "sensor '%s': a sensor of the kind %s needs a body that %s", def->name,
                      tribo_sensor_kind(def->kind)->word, needs_parent ? "hangs on another" : "moves");
  }
  return info->name == NULL ? tribo_no_memory("for the scene") : TRIBO_OK;
}

TriboStatus tribo_compile_sensors(const TriboScene* scene, TriboModel* model) {
  model->output.sensors = tribo_pool_alloc(&model->pool, (size_t)scene->nsensor, sizeof *model->output.sensors);
  model->output.sensor_infos =
      tribo_pool_alloc(&model->pool, (size_t)scene->nsensor, sizeof *model->output.sensor_infos);
  if (model->output.sensors == NULL || model->output.sensor_infos == NULL) {
    return tribo_no_memory("for the scene");
  }
  for (int i = 0; i < scene->nsensor; ++i) {
    TRIBO_TRY(tribo_located(
        compile_sensor(scene, model, &scene->sensors[i], &model->output.sensors[i], &model->output.sensor_infos[i]),
        scene->sensor_where[i]));
  }
  model->output.nsensor = scene->nsensor;
  return TRIBO_OK;
}
