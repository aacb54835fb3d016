// Sensors.
#include <string.h>

#include "mjcf.h"

typedef struct MjSensor {
  const char *name, *joint, *tendon, *actuator, *site, *body, *objname, *refname;
  int objtype, reftype;
  double cutoff;
} MjSensor;

enum { OBJ_BODY, OBJ_XBODY, OBJ_GEOM, OBJ_SITE, OBJ_CAMERA };
static const char* const objects[] = {"body", "xbody", "geom", "site", "camera", NULL};

#define AT(field) offsetof(MjSensor, field)
static const MjAttr sensor_attrs[] = {
    {"name", MJ_TEXT, AT(name), 1, 1, NULL},
    {"joint", MJ_TEXT, AT(joint), 1, 1, NULL},
    {"tendon", MJ_TEXT, AT(tendon), 1, 1, NULL},
    {"actuator", MJ_TEXT, AT(actuator), 1, 1, NULL},
    {"site", MJ_TEXT, AT(site), 1, 1, NULL},
    {"body", MJ_TEXT, AT(body), 1, 1, NULL},
    {"objtype", MJ_WORD, AT(objtype), 1, 1, objects},
    {"objname", MJ_TEXT, AT(objname), 1, 1, NULL},
    {"reftype", MJ_WORD, AT(reftype), 1, 1, objects},
    {"refname", MJ_TEXT, AT(refname), 1, 1, NULL},
    {"cutoff", MJ_REAL, AT(cutoff), 1, 1, NULL},
    {"noise", MJ_VISUAL_ONLY, 0, 0, 0, NULL},  // a remark: MuJoCo adds none either
    {"user", MJ_VISUAL_ONLY, 0, 0, 0, NULL},
    {"nsample", MJ_WARN, 0, 0, 0, NULL},
    {"interp", MJ_WARN, 0, 0, 0, NULL},
    {"delay", MJ_WARN, 0, 0, 0, NULL},
    {"interval", MJ_WARN, 0, 0, 0, NULL},
};
#undef AT
static const MjElement sensor_element = {"sensor", sensor_attrs, sizeof sensor_attrs / sizeof *sensor_attrs};

static const struct {
  const char* name;
  TriboSensorKind kind;
} kinds[] = {
    {"jointpos", TRIBO_SENSOR_JOINT_POSITION},
    {"jointvel", TRIBO_SENSOR_JOINT_VELOCITY},
    {"ballquat", TRIBO_SENSOR_JOINT_POSITION},
    {"ballangvel", TRIBO_SENSOR_JOINT_VELOCITY},
    {"tendonpos", TRIBO_SENSOR_TENDON_LENGTH},
    {"tendonvel", TRIBO_SENSOR_TENDON_SPEED},
    {"actuatorpos", TRIBO_SENSOR_ACTUATOR_LENGTH},
    {"actuatorvel", TRIBO_SENSOR_ACTUATOR_SPEED},
    {"actuatorfrc", TRIBO_SENSOR_ACTUATOR_FORCE},
    {"framepos", TRIBO_SENSOR_POSITION},
    {"framequat", TRIBO_SENSOR_ORIENTATION},
    {"framexaxis", TRIBO_SENSOR_X_AXIS},
    {"frameyaxis", TRIBO_SENSOR_Y_AXIS},
    {"framezaxis", TRIBO_SENSOR_Z_AXIS},
    {"framelinvel", TRIBO_SENSOR_VELOCITY},
    {"frameangvel", TRIBO_SENSOR_ANGULAR_VELOCITY},
    {"gyro", TRIBO_SENSOR_GYROSCOPE},
    {"velocimeter", TRIBO_SENSOR_VELOCIMETER},
    {"magnetometer", TRIBO_SENSOR_COMPASS},
    {"accelerometer", TRIBO_SENSOR_ACCELEROMETER},
    {"force", TRIBO_SENSOR_FORCE},
    {"torque", TRIBO_SENSOR_TORQUE},
    {"touch", TRIBO_SENSOR_TOUCH},
    {"subtreecom", TRIBO_SENSOR_SUBTREE_COM},
    {"subtreelinvel", TRIBO_SENSOR_SUBTREE_VELOCITY},
    {"clock", TRIBO_SENSOR_CLOCK},
};

// ---- mounts

// The frame of an object in its body, which is −1 when the file does not have it.
static TriboStatus find_object(Mjcf* m, const XmlNode* node, int type, const char* name, int* body, TriboPose* frame) {
  int at = -1;
  *frame = tribo_pose_identity();
  *body = -1;
  if (type == OBJ_SITE) {
    at = tribo_mjcf_find_site(m, name);
    *body = at >= 0 ? m->sites[at].body : -1;
    *frame = at >= 0 ? m->sites[at].pose : *frame;
  } else if (type == OBJ_GEOM) {
    at = tribo_mjcf_find_geom(m, name);
    *body = at >= 0 ? m->geoms[at].body : -1;
    *frame = at >= 0 ? m->geoms[at].pose : *frame;
    MjMesh* mesh = at >= 0 && m->geoms[at].type == MJ_MESH ? tribo_mjcf_find_mesh(m, m->geoms[at].mesh) : NULL;
    if (mesh != NULL) {
      // a mesh stands at its centre, along its principal axes
      TRIBO_TRY(tribo_mjcf_measure(mesh));
      const TriboPose own = tribo_pose(mesh->centre, mesh->axes), geom = *frame;
      *frame = tribo_pose_mul(&geom, &own);
    }
  } else if (type == OBJ_CAMERA) {
    for (at = m->ncamera - 1; at >= 0 && (name == NULL || strcmp(m->cameras[at].name, name) != 0);) {
      --at;
    }
    *body = at >= 0 && m->cameras[at].mode == MJ_FIXED ? m->cameras[at].body : -1;
    *frame = at >= 0 ? m->cameras[at].pose : *frame;
  } else if (type == OBJ_BODY || type == OBJ_XBODY) {
    *body = tribo_mjcf_find_body(m, name);
    if (*body > 0 && type == OBJ_BODY) {
      *frame = tribo_pose(m->bodys[*body].com, m->bodys[*body].axes);
    }
  }
  return *body >= 0 ? TRIBO_OK : tribo_mjcf_missing(m, node, objects[type], name);
}

// What is part of the world stands there.
static void set_mount(const Mjcf* m, int body, const TriboPose* frame, const char** name, double point[3],
                      double quaternion[4]) {
  const MjBody* own = &m->bodys[body];
  const TriboPose placed = own->id == TRIBO_WORLD ? tribo_pose_mul(&own->pose, frame) : *frame;
  *name = own->id == TRIBO_WORLD ? NULL : own->name;
  tribo_copy3(point, placed.p);
  tribo_quat_from_mat(quaternion, placed.R);
}

// ---- elements

// What a sensor is mounted on, and in which frame it tells.
static TriboStatus mount_sensor(Mjcf* m, const XmlNode* node, const MjSensor* s, TriboSensorDef* def, int* known) {
  int body, ref;
  TriboPose frame;
  const int type = s->site != NULL ? OBJ_SITE : s->body != NULL ? OBJ_XBODY : s->objtype;
  const char* name = s->site != NULL ? s->site : s->body != NULL ? s->body : s->objname;
  TRIBO_TRY(find_object(m, node, type, name, &body, &frame));
  *known = body >= 0;
  if (body < 0) {
    return TRIBO_OK;
  }
  set_mount(m, body, &frame, &def->body, def->point, def->quaternion);
  if (s->refname != NULL) {
    TRIBO_TRY(find_object(m, node, s->reftype, s->refname, &ref, &frame));
    *known = ref >= 0;
    if (ref >= 0) {
      set_mount(m, ref, &frame, &def->ref_body, def->ref_point, def->ref_quaternion);
    }
  }
  const int moving = def->body != NULL;
  const int wrench = def->kind == TRIBO_SENSOR_FORCE || def->kind == TRIBO_SENSOR_TORQUE;
  const int floats = moving && m->bodys[body].njoint > 0 && m->joints[m->bodys[body].first_joint].type == MJ_FREE;
  if (wrench && (!moving || floats)) {
    *known = 0;
    return tribo_mjcf_leave_out(m, node, "of a body without a joint is left out");
  }
  if (!moving && (def->kind == TRIBO_SENSOR_ACCELEROMETER || s->body != NULL)) {
    *known = 0;
    return tribo_mjcf_leave_out(m, node, "of what never moves is left out");
  }
  return TRIBO_OK;
}

static void set_volume(const Mjcf* m, const MjSensor* s, TriboSensorDef* def) {
  const MjSite* site = &m->sites[tribo_mjcf_find_site(m, s->site)];
  tribo_copy3(def->size, site->size);
  def->volume = site->type == MJ_BOX        ? TRIBO_VOLUME_BOX
                : site->type == MJ_CAPSULE  ? TRIBO_VOLUME_CAPSULE
                : site->type == MJ_CYLINDER ? TRIBO_VOLUME_CYLINDER
                                            : TRIBO_VOLUME_ELLIPSOID;
  if (site->type == MJ_SPHERE) {
    tribo_set3(def->size, site->size[0], site->size[0], site->size[0]);
  }
}

static const char* find_control(const Mjcf* m, const char* name) {
  if (name != NULL) {
    for (int i = 0; i < m->ncontrol; ++i) {
      if (m->controls[i].name != NULL && strcmp(m->controls[i].name, name) == 0 && m->controls[i].id >= 0) {
        return m->scene->actuators[m->controls[i].id].name;
      }
    }
  }
  return NULL;
}

// 0: what it reads is not in the scene, and that is said.
static TriboStatus find_subject(Mjcf* m, const XmlNode* node, const MjSensor* s, TriboSensorDef* def, int* known) {
  if (s->joint != NULL) {
    const int at = tribo_mjcf_find_joint(m, s->joint);
    *known = at >= 0 && m->joints[at].type != MJ_FREE;
    def->joint = s->joint;
    return at < 0 ? tribo_mjcf_missing(m, node, "joint", s->joint) : TRIBO_OK;
  }
  if (s->tendon != NULL || s->actuator != NULL) {
    def->tendon = s->tendon;
    def->actuator = find_control(m, s->actuator);
    *known = s->tendon != NULL ? tribo_names_find(&m->scene->tendon_names, s->tendon) >= 0 : def->actuator != NULL;
    return *known ? TRIBO_OK : tribo_mjcf_leave_out(m, node, "of what is left out is left out");
  }
  return def->kind == TRIBO_SENSOR_CLOCK ? TRIBO_OK : mount_sensor(m, node, s, def, known);
}

// A sensor by the name of its element; what has no counterpart is warned of.
static TriboStatus read_sensor(Mjcf* m, const XmlNode* node) {
  TriboSensorDef def = tribo_sensor_default();
  int known = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strcmp(node->name, kinds[i].name) == 0) {
      def.kind = kinds[i].kind;
      known = 1;
    }
  }
  if (!known) {
    return tribo_mjcf_leave_out(m, node, "is left out");
  }
  MjSensor s = {.objtype = OBJ_XBODY, .reftype = OBJ_XBODY};
  TRIBO_TRY(tribo_mjcf_apply(m, node, &sensor_element, &s));
  TRIBO_TRY(find_subject(m, node, &s, &def, &known));
  if (!known) {
    return TRIBO_OK;
  }
  def.name = s.name;
  def.cutoff = s.cutoff;
  if (def.kind == TRIBO_SENSOR_TOUCH) {
    set_volume(m, &s, &def);
  }
  if (def.kind == TRIBO_SENSOR_COMPASS) {
    tribo_copy3(def.field, m->option.magnetic);
  }
  TRIBO_TRY(tribo_mjcf_at(m, node));
  return tribo_mjcf_added(m, tribo_scene_add_sensor(m->scene, &def, NULL));
}

TriboStatus tribo_mjcf_sensors(Mjcf* m) {
  return tribo_mjcf_each(m, "sensor", read_sensor);
}
