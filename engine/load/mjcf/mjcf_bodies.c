// worldbody: every body, joint, geom and site, with the poses that frames give them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjcf.h"

enum { ELEMENTS_MAX = 200000 };

// Where the children of an element stand.
typedef struct Place {
  int body;
  TriboPose frame;  // in the body
  const char* cls;  // childclass
  int depth;
  int pass;  // what is read now: joints, other parts of the body, bodies that hang on it
} Place;
enum { PASS_JOINTS, PASS_PARTS, PASS_BODIES, PASSES };

static TriboStatus read_children(Mjcf* m, const XmlNode* parent, const Place* place);

static TriboStatus bounded(const Mjcf* m, const XmlNode* node) {
  return m->nbody + m->njoint + m->ngeom + m->nsite < ELEMENTS_MAX
             ? TRIBO_OK
             : tribo_xml_fail(node, "the model has more than %d elements", ELEMENTS_MAX);
}

static TriboStatus pose_of(const Mjcf* m, const XmlNode* node, const double pos[3], const MjOrient* orient,
                           const TriboPose* frame, TriboPose* out) {
  double quat[4];
  TRIBO_TRY(tribo_mjcf_quaternion(m, node, orient, quat));
  const TriboPose own = tribo_pose(pos, quat);
  *out = tribo_pose_mul(frame, &own);
  return TRIBO_OK;
}

// Without a name, what and its number in the file.
static TriboStatus full_name(Mjcf* m, const char* what, int number, const char** name) {
  if (*name == NULL) {
    *name = tribo_pool_format(&m->pool, "%s%d", what, number);
  }
  return *name == NULL ? tribo_no_memory("to read the model") : TRIBO_OK;
}

// ---- elements

static TriboStatus read_inertial(Mjcf* m, const XmlNode* node, const Place* place) {
  if (m->bodys[place->body].inertial != NULL) {
    return tribo_xml_fail(node, "a body has one <inertial>");
  }
  m->bodys[place->body].inertial = node;
  return TRIBO_OK;
}

// A joint with its axis, range and stiffness in the units of the scene.
static TriboStatus read_joint(Mjcf* m, const XmlNode* node, const Place* place) {
  MjBody* body = &m->bodys[place->body];
  if (place->body == 0) {
    return tribo_xml_fail(node, "the world has no joints");
  }
  if (body->first_joint + body->njoint != m->njoint) {
    return tribo_xml_fail(node, "joints must come before the bodies that hang on them");
  }
  TRIBO_TRY(bounded(m, node));
  TRIBO_TRY(MJ_GROW(m, joint));
  MjJoint* joint = &m->joints[m->njoint];
  *joint = tribo_mjcf_joint_default();
  if (strcmp(node->name, "freejoint") == 0) {
    // a free joint of this kind has no defaults
    joint->type = MJ_FREE;
    TRIBO_TRY(tribo_mjcf_apply(m, node, &tribo_mjcf_freejoint, joint));
  } else {
    TRIBO_TRY(tribo_mjcf_read(m, node, "joint", place->cls, &tribo_mjcf_joint, joint));
  }
  joint->node = node;
  TRIBO_TRY(full_name(m, "joint", m->njoint, &joint->name));
  double moved[3], axis[3];
  tribo_mul33v(moved, place->frame.R, joint->pos);
  tribo_add3(joint->pos, place->frame.p, moved);
  tribo_mul33v(axis, place->frame.R, joint->axis);
  tribo_copy3(joint->axis, axis);
  if (!(tribo_normalize3(joint->axis) > 1e-12)) {
    return tribo_xml_fail(node, "the axis of joint '%s' has length 0", joint->name);
  }
  if ((joint->type == MJ_FREE) && (body->njoint > 0 || body->parent != 0)) {
    return tribo_xml_fail(node, "free joint '%s': its body must be a child of the world and have no other joint",
                          joint->name);
  }
  if (body->njoint > 0 && m->joints[body->first_joint].type == MJ_FREE) {
    return tribo_xml_fail(node, "joint '%s': its body has a free joint already", joint->name);
  }
  // angles of hinges and balls are in the file's unit
  if (tribo_mjcf_rules(m, node)->degree && (joint->type == MJ_HINGE || joint->type == MJ_BALL)) {
    const double unit = 3.14159265358979323846 / 180;
    joint->range[0] *= unit, joint->range[1] *= unit;
    joint->ref *= unit;
    joint->springref *= unit;
  }
  body->njoint++;
  m->njoint++;
  return TRIBO_OK;
}

// A primitive takes the place of the mesh it names.
static TriboStatus fit_geom(Mjcf* m, MjGeom* geom) {
  MjMesh* mesh = tribo_mjcf_find_mesh(m, geom->mesh);
  if (mesh == NULL || !isnan(geom->fromto[0])) {
    return tribo_xml_fail(geom->node, "geom '%s': there is no mesh '%.60s', or fromto beside it", geom->name,
                          geom->mesh);
  }
  TriboPose frame;
  TRIBO_TRY(tribo_mjcf_need_mesh(m, mesh));
  TRIBO_TRY(tribo_mjcf_fit(m, mesh, geom->type, geom->fit_scale, &frame, geom->size));
  const TriboPose placed = tribo_pose_mul(&geom->pose, &frame);
  geom->pose = placed;
  return TRIBO_OK;
}

// A geom with its pose in the body's frame and its size, from `fromto` or a mesh where they say so.
static TriboStatus read_geom(Mjcf* m, const XmlNode* node, const Place* place) {
  TRIBO_TRY(bounded(m, node));
  TRIBO_TRY(MJ_GROW(m, geom));
  MjGeom* geom = &m->geoms[m->ngeom];
  *geom = tribo_mjcf_geom_default();
  TRIBO_TRY(tribo_mjcf_read(m, node, "geom", place->cls, &tribo_mjcf_geom, geom));
  TRIBO_TRY(full_name(m, "geom", m->ngeom, &geom->name));
  geom->node = node;
  geom->body = place->body;
  double quat[4], length = tribo_mjcf_fromto(geom->fromto, geom->pos, quat);
  if (!isnan(geom->fromto[0])) {
    if (geom->type != MJ_CAPSULE && geom->type != MJ_CYLINDER && geom->type != MJ_BOX && geom->type != MJ_ELLIPSOID) {
      return tribo_xml_fail(node, "geom '%s': fromto is for capsules, cylinders, boxes and ellipsoids", geom->name);
    }
    // the length along z; the other sizes stand before it
    const int at = geom->type == MJ_CAPSULE || geom->type == MJ_CYLINDER ? 1 : 2;
    geom->size[at] = 0.5 * length;
    if (at == 2) {
      geom->size[1] = geom->size[0];
    }
    const TriboPose own = tribo_pose(geom->pos, quat);
    geom->pose = tribo_pose_mul(&place->frame, &own);
  } else {
    TRIBO_TRY(pose_of(m, node, geom->pos, &geom->orient, &place->frame, &geom->pose));
  }
  if (geom->mesh != NULL && geom->type != MJ_MESH && geom->type != MJ_SDF) {
    TRIBO_TRY(fit_geom(m, geom));
  }
  m->ngeom++;
  return TRIBO_OK;
}

static TriboStatus read_site(Mjcf* m, const XmlNode* node, const Place* place) {
  TRIBO_TRY(bounded(m, node));
  TRIBO_TRY(MJ_GROW(m, site));
  MjSite* site = &m->sites[m->nsite];
  *site = tribo_mjcf_site_default();
  TRIBO_TRY(tribo_mjcf_read(m, node, "site", place->cls, &tribo_mjcf_site, site));
  TRIBO_TRY(full_name(m, "site", m->nsite, &site->name));
  site->body = place->body;
  double quat[4];
  const double length = tribo_mjcf_fromto(site->fromto, site->pos, quat);
  if (isnan(site->fromto[0])) {
    TRIBO_TRY(tribo_mjcf_quaternion(m, node, &site->orient, quat));
  }
  if (!isnan(site->fromto[0])) {
    site->size[1] = 0.5 * length;
  }
  const TriboPose own = tribo_pose(site->pos, quat);
  site->pose = tribo_pose_mul(&place->frame, &own);
  m->nsite++;
  return TRIBO_OK;
}

static TriboStatus read_camera(Mjcf* m, const XmlNode* node, const Place* place) {
  TRIBO_TRY(bounded(m, node));
  TRIBO_TRY(MJ_GROW(m, camera));
  MjCamera* camera = &m->cameras[m->ncamera];
  *camera = (MjCamera){.fovy = 45, .orient = tribo_mjcf_orient_default()};
  TRIBO_TRY(tribo_mjcf_read(m, node, "camera", place->cls, &tribo_mjcf_camera, camera));
  TRIBO_TRY(full_name(m, "camera", m->ncamera, &camera->name));
  camera->node = node;
  camera->body = place->body;
  TRIBO_TRY(pose_of(m, node, camera->pos, &camera->orient, &place->frame, &camera->pose));
  m->ncamera++;
  return TRIBO_OK;
}

static TriboStatus read_body(Mjcf* m, const XmlNode* node, const Place* place) {
  TRIBO_TRY(bounded(m, node));
  TRIBO_TRY(MJ_GROW(m, body));
  const int at = m->nbody;
  MjBody* body = &m->bodys[at];
  *body = (MjBody){.orient = tribo_mjcf_orient_default(), .node = node, .parent = place->body};
  TRIBO_TRY(tribo_mjcf_apply(m, node, &tribo_mjcf_body, body));
  TRIBO_TRY(full_name(m, "body", at, &body->name));
  TRIBO_TRY(pose_of(m, node, body->pos, &body->orient, &place->frame, &body->local));
  body->first_joint = m->njoint;
  m->nbody++;
  if (body->mocap) {
    TRIBO_TRY(tribo_mjcf_warn(m, node, "mocap body", "stands still"));
  }
  Place inside = {at, tribo_pose_identity(), body->cls != NULL ? body->cls : place->cls, place->depth + 1, 0};
  for (; inside.pass < PASSES; ++inside.pass) {
    TRIBO_TRY(read_children(m, node, &inside));
  }
  return TRIBO_OK;
}

static TriboStatus read_frame(Mjcf* m, const XmlNode* node, const Place* place) {
  MjBody frame = {.orient = tribo_mjcf_orient_default()};
  TRIBO_TRY(tribo_mjcf_apply(m, node, &tribo_mjcf_frame, &frame));
  Place inside = *place;
  TRIBO_TRY(pose_of(m, node, frame.pos, &frame.orient, &place->frame, &inside.frame));
  inside.cls = frame.cls != NULL ? frame.cls : place->cls;
  inside.depth++;
  return read_children(m, node, &inside);
}

static const struct {
  const char* name;
  TriboStatus (*read)(Mjcf* m, const XmlNode* node, const Place* place);
} elements[] = {
    {"inertial", read_inertial}, {"joint", read_joint},   {"freejoint", read_joint}, {"geom", read_geom},
    {"site", read_site},         {"camera", read_camera}, {"body", read_body},       {"frame", read_frame},
};
static const char* const left_out[] = {"plugin", "composite", "flexcomp"};

static TriboStatus read_child(Mjcf* m, const XmlNode* node, const Place* place) {
  for (size_t i = 0; i < sizeof elements / sizeof *elements; ++i) {
    if (strcmp(node->name, elements[i].name) == 0) {
      return elements[i].read(m, node, place);
    }
  }
  for (size_t i = 0; i < sizeof left_out / sizeof *left_out; ++i) {
    if (strcmp(node->name, left_out[i]) == 0) {
      char key[64];
      snprintf(key, sizeof key, "<%s>", node->name);
      m->incomplete |= strcmp(node->name, "plugin") != 0;
      return tribo_mjcf_warn(m, node, key, "is left out");
    }
  }
  if (strcmp(node->name, "light") == 0) {
    return TRIBO_OK;  // the viewer has its own
  }
  return tribo_xml_fail(node, "<%.40s> has no place in a body", node->name);
}

// One pass over the children: everything is numbered by body, wherever it stands. Frames are gone through in every
// pass.
static TriboStatus read_children(Mjcf* m, const XmlNode* parent, const Place* place) {
  if (place->depth > 300) {
    return tribo_xml_fail(parent, "bodies are nested too deep");
  }
  for (const XmlNode* node = parent->children; node != NULL; node = node->next) {
    const int is_joint = strcmp(node->name, "joint") == 0 || strcmp(node->name, "freejoint") == 0;
    const int is_body = strcmp(node->name, "body") == 0;
    const int is_frame = strcmp(node->name, "frame") == 0;
    if (is_frame || place->pass == (is_joint ? PASS_JOINTS : is_body ? PASS_BODIES : PASS_PARTS)) {
      TRIBO_TRY(read_child(m, node, place));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_bodies(Mjcf* m) {
  TRIBO_TRY(MJ_GROW(m, body));
  m->bodys[m->nbody++] = (MjBody){.name = "world", .node = m->root, .parent = -1, .id = TRIBO_WORLD};
  m->bodys[0].local = m->bodys[0].pose = m->bodys[0].start = tribo_pose_identity();
  // all parts of the world come before all bodies, however many sections there are
  for (int pass = 0; pass < PASSES; ++pass) {
    for (const XmlNode* node = m->root->children; node != NULL; node = node->next) {
      if (strcmp(node->name, "worldbody") == 0) {
        const Place place = {0, tribo_pose_identity(), tribo_xml_get(node, "childclass"), 0, pass};
        TRIBO_TRY(read_children(m, node, &place));
      }
    }
  }
  for (int i = 1; i < m->nbody; ++i) {
    MjBody* body = &m->bodys[i];
    body->weld = body->njoint > 0 ? i : m->bodys[body->parent].weld;
  }
  return TRIBO_OK;
}
