// The compiled model as its users see it: sizes, items by id, ids by name.
#include "model_impl.h"

#include <string.h>

#include "pose.h"

TriboModelSize tribo_model_size(const TriboModel* model) {
  return (TriboModelSize){.nq = model->nq,
                          .nv = model->nv,
                          .nbody = model->nbody,
                          .nfree = model->mechanism.nfree,
                          .ntree = model->mechanism.ntree,
                          .njoint = model->njoint,
                          .nmotor = model->actuation.nmotor,
                          .nclosure = model->nclosure,
                          .nshape = model->geometry.ngeom,
                          .nmaterial = model->geometry.nmaterial,
                          .ntendon = model->actuation.ntendon,
                          .nactuator = model->actuation.nactuator,
                          .ncontroller = model->actuation.ncontroller,
                          .nvisual = model->scenery.nvisual,
                          .ncamera = model->scenery.ncamera,
                          .nexpect = model->output.nexpect,
                          .nrecord = model->output.nrecord,
                          .nstate = model->initial.nstate,
                          .nsensor = model->output.nsensor,
                          .nforce = model->loads.nforce,
                          .ntexture = model->scenery.ntexture,
                          .memory = sizeof *model + model->pool.bytes};
}

const TriboWorldDef* tribo_model_world(const TriboModel* model) {
  return &model->world;
}

int tribo_model_may_touch(const TriboModel* model, int shape_a, int shape_b) {
  return shape_a >= 0 && shape_a < model->geometry.ngeom && shape_b >= 0 && shape_b < model->geometry.ngeom &&
         tribo_col_may_touch(model->geometry.collision, shape_a, shape_b);
}

const TriboMaterialDef* tribo_model_pair(const TriboModel* model, int shape_a, int shape_b) {
  const ModelGeometry* g = &model->geometry;
  if (shape_a < 0 || shape_a >= g->ngeom || shape_b < 0 || shape_b >= g->ngeom) {
    return NULL;
  }
  return &g->mixed[g->shapes[shape_a].material * g->nmaterial + g->shapes[shape_b].material];
}

#define ACCESSOR(type, name, array, count)                          \
  const type* tribo_model_##name(const TriboModel* model, int id) { \
    return id >= 0 && id < model->count ? &model->array[id] : NULL; \
  }
ACCESSOR(TriboBodyInfo, body, mechanism.bodies, nbody)
ACCESSOR(TriboJointInfo, joint, mechanism.joints, njoint)
ACCESSOR(TriboMotorInfo, motor, actuation.motor_infos, actuation.nmotor)
ACCESSOR(TriboClosureInfo, closure, mechanism.closures, nclosure)
ACCESSOR(TriboShapeInfo, shape, geometry.shapes, geometry.ngeom)
ACCESSOR(TriboMaterialDef, material, geometry.materials, geometry.nmaterial)
ACCESSOR(TriboTendonInfo, tendon, actuation.tendon_infos, actuation.ntendon)
ACCESSOR(TriboActuatorInfo, actuator, actuation.actuator_infos, actuation.nactuator)
ACCESSOR(TriboTextureDef, texture, scenery.textures, scenery.ntexture)
ACCESSOR(TriboCameraDef, camera, scenery.cameras, scenery.ncamera)
ACCESSOR(TriboRecordDef, record, output.records, output.nrecord)
ACCESSOR(TriboSensorInfo, sensor, output.sensor_infos, output.nsensor)

void tribo_body_com(const TriboModel* model, int body, const TriboPose* pose, double com[3]) {
  const TriboPose frame = tribo_pose_mul(pose, &model->mechanism.body_offset[body]);
  tribo_mul33v(com, frame.R, model->mechanism.bodies[body].com);
  tribo_add3(com, com, frame.p);
}

TriboStatus tribo_model_body_id(const TriboModel* model, const char* name, int* id) {
  TRIBO_REQUIRE(model);
  TRIBO_REQUIRE(name);
  *id = tribo_names_find(&model->mechanism.body_names, name);
  return *id >= 0 ? TRIBO_OK : tribo_not_found(&model->mechanism.body_names, "body", name);
}

TriboStatus tribo_model_joint_id(const TriboModel* model, const char* name, int* id) {
  TRIBO_REQUIRE(model);
  TRIBO_REQUIRE(name);
  *id = tribo_names_find(&model->mechanism.joint_names, name);
  return *id >= 0 ? TRIBO_OK : tribo_not_found(&model->mechanism.joint_names, "joint", name);
}

const char* tribo_model_name(const TriboModel* model, TriboItemKind kind, int id) {
  if (model == NULL || id < 0) {
    return NULL;
  }
  switch (kind) {
    case TRIBO_ITEM_BODY: return id < model->nbody ? model->mechanism.bodies[id].name : NULL;
    case TRIBO_ITEM_JOINT: return id < model->njoint ? model->mechanism.joints[id].name : NULL;
    case TRIBO_ITEM_CLOSURE: return id < model->nclosure ? model->mechanism.closures[id].name : NULL;
    case TRIBO_ITEM_SHAPE: return id < model->geometry.ngeom ? model->geometry.shapes[id].name : NULL;
    case TRIBO_ITEM_MATERIAL: return id < model->geometry.nmaterial ? model->geometry.materials[id].name : NULL;
    case TRIBO_ITEM_TENDON: return id < model->actuation.ntendon ? model->actuation.tendon_infos[id].name : NULL;
    case TRIBO_ITEM_ACTUATOR: return id < model->actuation.nactuator ? model->actuation.actuator_infos[id].name : NULL;
    case TRIBO_ITEM_MOTOR:
      return id < model->actuation.nmotor ? model->mechanism.joints[model->actuation.motor_infos[id].joint].name : NULL;
    case TRIBO_ITEM_CONTROLLER: return id < model->actuation.ncontroller ? model->actuation.controllers[id].name : NULL;
    case TRIBO_ITEM_SENSOR: return id < model->output.nsensor ? model->output.sensor_infos[id].name : NULL;
    case TRIBO_ITEM_CAMERA: return id < model->scenery.ncamera ? model->scenery.cameras[id].name : NULL;
    case TRIBO_ITEM_STATE: return id < model->initial.nstate ? model->initial.states[id].name : NULL;
    default: return NULL;
  }
}

TriboStatus tribo_model_find(const TriboModel* model, TriboItemKind kind, const char* name, int* id) {
  static const char* const words[TRIBO_ITEM_COUNT] = {
      [TRIBO_ITEM_BODY] = "body",         [TRIBO_ITEM_JOINT] = "joint",       [TRIBO_ITEM_CLOSURE] = "closure",
      [TRIBO_ITEM_SHAPE] = "shape",       [TRIBO_ITEM_MATERIAL] = "material", [TRIBO_ITEM_TENDON] = "tendon",
      [TRIBO_ITEM_ACTUATOR] = "actuator", [TRIBO_ITEM_MOTOR] = "motor",       [TRIBO_ITEM_CONTROLLER] = "controller",
      [TRIBO_ITEM_SENSOR] = "sensor",     [TRIBO_ITEM_CAMERA] = "camera",     [TRIBO_ITEM_STATE] = "state",
  };
  TRIBO_REQUIRE(model);
  TRIBO_REQUIRE(name);
  TRIBO_REQUIRE(id);
  *id = -1;
  if ((int)kind < 0 || kind >= TRIBO_ITEM_COUNT) {
    return tribo_fail(TRIBO_INVALID, "tribo_model_find: kind = %d; accepted are 0 … %d", (int)kind,
                      TRIBO_ITEM_COUNT - 1);
  }
  if (kind == TRIBO_ITEM_BODY) {
    return tribo_model_body_id(model, name, id);
  }
  if (kind == TRIBO_ITEM_JOINT) {
    return tribo_model_joint_id(model, name, id);
  }
  const char* other;
  for (int i = 0; (other = tribo_model_name(model, kind, i)) != NULL; ++i) {
    if (strcmp(other, name) == 0) {
      *id = i;
      return TRIBO_OK;
    }
  }
  return tribo_fail(TRIBO_NOT_FOUND, "there is no %s '%s'", words[kind], name);
}
