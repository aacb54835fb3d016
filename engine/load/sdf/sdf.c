// SDF models as scenes. Links are bodies at the poses of the file, which are those of joint values 0. A joint whose
// child hangs on nothing yet becomes a joint of the tree, balls and gearboxes last; every other one closes a loop.
#include "sdf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

TriboStatus tribo_sdf_warn(Sdf* s, const XmlNode* node, const char* what) {
  char* key =
      tribo_pool_format(&s->pool, "<%.40s>: <%.40s>", node->parent != NULL ? node->parent->name : "", node->name);
  if (key == NULL) {
    return tribo_no_memory("to read the model");
  }
  for (int i = 0; i < s->nwarned; ++i) {
    if (strcmp(s->warned[i], key) == 0) {
      return TRIBO_OK;
    }
  }
  TRIBO_TRY(TRIBO_APPEND(&s->warned, s->nwarned, 1));
  s->warned[s->nwarned++] = key;
  tribo_log(s->log, TRIBO_LOG_WARNING, "%s:%d: %s %s", node->path, node->line, key, what);
  return TRIBO_OK;
}

TriboStatus tribo_sdf_at(Sdf* s, const XmlNode* node) {
  s->scene->where = tribo_pool_format(&s->scene->pool, "%s:%d", node->path, node->line);
  return s->scene->where == NULL ? tribo_no_memory("to read the model") : TRIBO_OK;
}

static TriboStatus added(const Sdf* s, TriboStatus status) {
  return tribo_located(status, s->scene->where);
}

// ---- values

TriboStatus tribo_sdf_numbers(const XmlNode* node, const char* child, double* out, int min, int max) {
  const XmlNode* value = tribo_xml_child(node, child);
  double x[6];
  if (value == NULL) {
    return TRIBO_OK;
  }
  const int n = tribo_xml_numbers(value->text, x, max);
  if (n < min) {
    return tribo_xml_fail(value, "<%s>%.40s</%s>: accepted are %d finite numbers", child, value->text, child, min);
  }
  memcpy(out, x, (size_t)n * sizeof *x);
  return TRIBO_OK;
}

TriboStatus tribo_sdf_number(const XmlNode* node, const char* child, double* out) {
  return tribo_sdf_numbers(node, child, out, 1, 1);
}

TriboStatus tribo_sdf_flag(const XmlNode* node, const char* child, int* out) {
  const XmlNode* value = tribo_xml_child(node, child);
  if (value == NULL) {
    return TRIBO_OK;
  }
  *out = strcmp(value->text, "1") == 0 || strcmp(value->text, "true") == 0;
  return *out || strcmp(value->text, "0") == 0 || strcmp(value->text, "false") == 0
             ? TRIBO_OK
             : tribo_xml_fail(value, "<%s>%.40s</%s>: accepted are true, false, 1, 0", child, value->text, child);
}

TriboStatus tribo_sdf_pose(const XmlNode* node, TriboPose* out) {
  *out = tribo_pose_identity();
  double x[6] = {0};
  const XmlNode* pose = tribo_xml_child(node, "pose");
  if (pose == NULL) {
    return TRIBO_OK;
  }
  const char *frame = tribo_xml_get(pose, "frame"), *relative = tribo_xml_get(pose, "relative_to");
  if ((frame != NULL && frame[0] != '\0') || (relative != NULL && relative[0] != '\0')) {
    return tribo_xml_fail(pose, "<pose> relative to '%.60s': only poses relative to the element's parent are known",
                          frame != NULL && frame[0] != '\0' ? frame : relative);
  }
  if (pose->text[0] != '\0') {
    TRIBO_TRY(tribo_sdf_numbers(node, "pose", x, 6, 6));
  }
  // roll, pitch, yaw about fixed axes
  double quat[4] = {0, 0, 0, 1};
  for (int i = 0; i < 3; ++i) {
    double w[3] = {0}, step[4], next[4];
    w[i] = x[3 + i];
    tribo_quat_exp(step, w);
    tribo_quat_mul(next, step, quat);
    memcpy(quat, next, sizeof next);
  }
  *out = tribo_pose(x, quat);
  return TRIBO_OK;
}

// ---- a model

typedef struct Link {
  const XmlNode* node;
  const char *name, *full;  // in the file, in the scene
  TriboPose pose;           // in the world
  int id;                   // in the scene
  int parent;               // link, −1: none yet, −2: the world
  const XmlNode* joint;     // that carries it
} Link;

enum { LINKS_MAX = 5000, NO_PARENT = -1, THE_WORLD = -2 };

typedef struct Model {
  Sdf* s;
  const XmlNode* node;
  TriboPose pose;
  Link* links;
  int nlink, is_static, self_collide;
} Model;

static int find_link(const Model* m, const char* name) {
  for (int i = 0; i < m->nlink; ++i) {
    if (strcmp(m->links[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

// A link as a body at its pose, with inertia.
static TriboStatus add_link(Model* m, const XmlNode* node) {
  Link* link = &m->links[m->nlink];
  const char* name = tribo_xml_get(node, "name");
  if (name == NULL || find_link(m, name) >= 0) {
    return tribo_xml_fail(node, name == NULL ? "a link needs a name" : "two links are called '%.60s'", name);
  }
  *link = (Link){.node = node, .name = name, .id = TRIBO_WORLD, .parent = NO_PARENT};
  link->full = tribo_pool_format(&m->s->pool, "%s%s", m->s->prefix, name);
  if (link->full == NULL) {
    return tribo_no_memory("to read the model");
  }
  TriboPose own;
  TRIBO_TRY(tribo_sdf_pose(node, &own));
  link->pose = tribo_pose_mul(&m->pose, &own);
  m->nlink++;
  if (!m->is_static) {
    TriboBodyDef def = tribo_body_default();
    def.name = link->full;
    tribo_copy3(def.position, link->pose.p);
    tribo_quat_from_mat(def.quaternion, link->pose.R);
    TRIBO_TRY(tribo_sdf_inertial(m->s, node, &def));
    TRIBO_TRY(tribo_sdf_at(m->s, node));
    TRIBO_TRY(added(m->s, tribo_scene_add_body(m->s->scene, &def, &link->id)));
  }
  return tribo_sdf_shapes(m->s, node, link->id, &link->pose);
}

// The links a joint names: THE_WORLD for the world.
static TriboStatus joint_links(const Model* m, const XmlNode* joint, int* parent, int* child) {
  static const char* const keys[] = {"parent", "child"};
  int* const out[] = {parent, child};
  for (int i = 0; i < 2; ++i) {
    const XmlNode* node = tribo_xml_child(joint, keys[i]);
    if (node == NULL) {
      return tribo_xml_fail(joint, "a joint needs a <%s>", keys[i]);
    }
    *out[i] = strcmp(node->text, "world") == 0 ? THE_WORLD : find_link(m, node->text);
    if (*out[i] == -1) {
      return tribo_xml_fail(node, "<%s>: there is no link '%.60s'", keys[i], node->text);
    }
  }
  return *child == THE_WORLD || *child == *parent
             ? tribo_xml_fail(joint, "a joint ties two different links, the child is not the world")
             : TRIBO_OK;
}

// Gives each link the joint that carries it: those with an axis first, so that loops are closed by balls.
static TriboStatus find_tree(Model* m) {
  for (int balls = 0; balls < 2; ++balls) {
    for (const XmlNode* joint = m->node->children; joint != NULL; joint = joint->next) {
      const char* type = strcmp(joint->name, "joint") == 0 ? tribo_xml_get(joint, "type") : "gearbox";
      if (type == NULL) {
        return tribo_xml_fail(joint, "a joint needs a type");
      }
      int parent, child;
      if (strcmp(type, "gearbox") == 0 || (strcmp(type, "ball") == 0) != balls) {
        continue;
      }
      TRIBO_TRY(joint_links(m, joint, &parent, &child));
      int above = parent;
      while (above >= 0 && above != child) {
        above = m->links[above].parent;
      }
      if (m->links[child].parent == NO_PARENT && above != child) {
        m->links[child].parent = parent;
        m->links[child].joint = joint;
      }
    }
  }
  return TRIBO_OK;
}

// Where a joint is, and an axis of it (may be missing), in the world.
static TriboStatus joint_frame(const Model* m, const XmlNode* joint, int child, const char* key, double anchor[3],
                               double axis[3]) {
  TriboPose own;
  TRIBO_TRY(tribo_sdf_pose(joint, &own));
  const TriboPose frame = tribo_pose_mul(&m->links[child].pose, &own);
  tribo_copy3(anchor, frame.p);
  const XmlNode* node = tribo_xml_child(joint, key);
  if (node == NULL) {
    return TRIBO_OK;
  }
  double xyz[3] = {0, 0, 1};
  int in_model = 0;
  TRIBO_TRY(tribo_sdf_numbers(node, "xyz", xyz, 3, 3));
  TRIBO_TRY(tribo_sdf_flag(node, "use_parent_model_frame", &in_model));
  if (!(tribo_norm3(xyz) > 1e-9)) {
    return tribo_xml_fail(node, "<xyz>: the axis has length 0");
  }
  tribo_mul33v(axis, in_model ? m->pose.R : frame.R, xyz);
  return TRIBO_OK;
}

static const struct {
  const char* type;
  TriboJointKind joint;
  TriboClosureKind closure;
} types[] = {
    {"revolute", TRIBO_JOINT_REVOLUTE, TRIBO_CLOSURE_HINGE},
    {"continuous", TRIBO_JOINT_REVOLUTE, TRIBO_CLOSURE_HINGE},
    {"prismatic", TRIBO_JOINT_PRISMATIC, TRIBO_CLOSURE_SLIDER},
    {"ball", TRIBO_JOINT_SPHERICAL, TRIBO_CLOSURE_BALL},
    {"universal", TRIBO_JOINT_UNIVERSAL, TRIBO_CLOSURE_UNIVERSAL},
    {"fixed", TRIBO_JOINT_FIXED, TRIBO_CLOSURE_WELD},
};

static TriboStatus read_axis(const XmlNode* joint, TriboJointDef* def) {
  const XmlNode* axis = tribo_xml_child(joint, "axis");
  const XmlNode* limit = axis != NULL ? tribo_xml_child(axis, "limit") : NULL;
  const XmlNode* dynamics = axis != NULL ? tribo_xml_child(axis, "dynamics") : NULL;
  if (limit != NULL) {
    double low = -INFINITY, high = INFINITY, effort = -1;
    TRIBO_TRY(tribo_sdf_number(limit, "lower", &low));
    TRIBO_TRY(tribo_sdf_number(limit, "upper", &high));
    TRIBO_TRY(tribo_sdf_number(limit, "effort", &effort));
    // the format writes 1e16 for no limit, −1 for no bound
    def->lower = low <= -1e16 ? -INFINITY : low;
    def->upper = high >= 1e16 ? INFINITY : high;
    def->effort = effort < 0 ? INFINITY : effort;
    if (!(low <= high)) {
      return tribo_xml_fail(limit, "lower = %g is above upper = %g", low, high);
    }
  }
  if (dynamics != NULL) {
    TRIBO_TRY(tribo_sdf_number(dynamics, "damping", &def->damping));
    TRIBO_TRY(tribo_sdf_number(dynamics, "friction", &def->friction));
    TRIBO_TRY(tribo_sdf_number(dynamics, "spring_stiffness", &def->stiffness));
    TRIBO_TRY(tribo_sdf_number(dynamics, "spring_reference", &def->rest));
  }
  return TRIBO_OK;
}

static TriboStatus add_joint(Model* m, const XmlNode* joint, size_t type, int parent, int child) {
  TriboJointDef def = tribo_joint_default();
  def.kind = types[type].joint;
  def.name = tribo_pool_format(&m->s->pool, "%s%s", m->s->prefix, tribo_xml_get(joint, "name"));
  def.parent = parent == THE_WORLD ? TRIBO_WORLD : m->links[parent].id;
  def.child = m->links[child].id;
  TRIBO_TRY(joint_frame(m, joint, child, "axis", def.anchor, def.axis));
  TRIBO_TRY(joint_frame(m, joint, child, "axis2", def.anchor, def.axis2));
  if (def.kind == TRIBO_JOINT_REVOLUTE || def.kind == TRIBO_JOINT_PRISMATIC) {
    TRIBO_TRY(read_axis(joint, &def));
  }
  return added(m->s, tribo_scene_add_joint(m->s->scene, &def, NULL));
}

static TriboStatus add_loop(Model* m, const XmlNode* joint, size_t type, int parent, int child) {
  TriboClosureDef def = tribo_closure_default();
  def.kind = types[type].closure;
  def.name = tribo_pool_format(&m->s->pool, "%s%s", m->s->prefix, tribo_xml_get(joint, "name"));
  def.body_a = parent == THE_WORLD ? NULL : m->links[parent].full;
  def.body_b = m->links[child].full;
  TRIBO_TRY(joint_frame(m, joint, child, "axis", def.anchor, def.axis));
  TRIBO_TRY(joint_frame(m, joint, child, "axis2", def.anchor, def.axis2));
  if (def.kind == TRIBO_CLOSURE_HINGE || def.kind == TRIBO_CLOSURE_SLIDER) {
    TriboJointDef has = tribo_joint_default();
    TRIBO_TRY(read_axis(joint, &has));
    def.lower = has.lower;
    def.upper = has.upper;
    def.effort = has.effort;
    def.damping = has.damping;
    def.friction = has.friction;
    def.stiffness = has.stiffness;
    def.rest = has.rest;
  }
  return added(m->s, tribo_scene_add_closure(m->s->scene, &def, NULL));
}

// A gearbox ties the angles of two links about a third one: θ_child = −ratio θ_parent.
static TriboStatus add_gearbox(Model* m, const XmlNode* joint, int parent, int child) {
  const XmlNode* base = tribo_xml_child(joint, "gearbox_reference_body");
  const int reference = base != NULL ? find_link(m, base->text) : -1;
  const int pair[2] = {parent, child};
  static const char* const keys[] = {"axis", "axis2"};
  double ratio = 1, sign = 1;
  TRIBO_TRY(tribo_sdf_number(joint, "gearbox_ratio", &ratio));
  for (int i = 0; i < 2; ++i) {
    const Link* link = pair[i] >= 0 ? &m->links[pair[i]] : NULL;
    const char* type = link != NULL && link->joint != NULL ? tribo_xml_get(link->joint, "type") : "";
    if (reference < 0 || link == NULL || link->parent != reference || strcmp(type, "revolute") != 0) {
      return tribo_sdf_warn(m->s, joint, "that ties other than two revolute joints of its reference body is left out");
    }
    double anchor[3], gear[3] = {0, 0, 1}, own[3] = {0, 0, 1};
    TRIBO_TRY(joint_frame(m, joint, child, keys[i], anchor, gear));
    TRIBO_TRY(joint_frame(m, link->joint, pair[i], "axis", anchor, own));
    sign *= tribo_dot3(gear, own) < 0 ? -1 : 1;
  }
  TriboClosureDef def = tribo_closure_default();
  def.kind = TRIBO_CLOSURE_GEAR;
  def.name = tribo_pool_format(&m->s->pool, "%s%s", m->s->prefix, tribo_xml_get(joint, "name"));
  def.joint_a = tribo_pool_format(&m->s->pool, "%s%s", m->s->prefix, tribo_xml_get(m->links[parent].joint, "name"));
  def.joint_b = tribo_pool_format(&m->s->pool, "%s%s", m->s->prefix, tribo_xml_get(m->links[child].joint, "name"));
  def.ratio = -sign * ratio;
  return added(m->s, tribo_scene_add_closure(m->s->scene, &def, NULL));
}

static TriboStatus read_joint(Model* m, const XmlNode* joint) {
  const char* type = tribo_xml_get(joint, "type");
  int parent, child;
  if (tribo_xml_get(joint, "name") == NULL || type == NULL) {
    return tribo_xml_fail(joint, "a joint needs a name and a type");
  }
  TRIBO_TRY(joint_links(m, joint, &parent, &child));
  TRIBO_TRY(tribo_sdf_at(m->s, joint));
  if (strcmp(type, "gearbox") == 0) {
    return add_gearbox(m, joint, parent, child);
  }
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (strcmp(type, types[i].type) == 0) {
      return m->links[child].joint == joint ? add_joint(m, joint, i, parent, child)
                                            : add_loop(m, joint, i, parent, child);
    }
  }
  return tribo_xml_fail(joint, "joint of type '%.40s' is not known here", type);
}

static TriboStatus exclude_links(const Model* m) {
  if (!m->self_collide) {
    for (int i = 0; i < m->nlink; ++i) {
      for (int k = 0; k < i; ++k) {
        TRIBO_TRY(tribo_scene_exclude(m->s->scene, m->links[i].full, m->links[k].full));
      }
    }
  }
  return TRIBO_OK;
}

// Bodies, then joints of the tree, then what closes loops.
static TriboStatus build_model(Model* m) {
  TRIBO_TRY(tribo_sdf_pose(m->node, &m->pose));
  TRIBO_TRY(tribo_sdf_flag(m->node, "static", &m->is_static));
  TRIBO_TRY(tribo_sdf_flag(m->node, "self_collide", &m->self_collide));
  static const char* const known[] = {"link", "joint", "pose", "static", "self_collide", "allow_auto_disable"};
  for (const XmlNode* node = m->node->children; node != NULL; node = node->next) {
    int found = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
      found |= strcmp(node->name, known[i]) == 0;
    }
    if (!found) {
      TRIBO_TRY(tribo_sdf_warn(m->s, node, "is left out"));
    } else if (strcmp(node->name, "link") == 0) {
      TRIBO_TRY(add_link(m, node));
    }
  }
  if (m->is_static) {
    return TRIBO_OK;
  }
  TRIBO_TRY(find_tree(m));
  for (const XmlNode* node = m->node->children; node != NULL; node = node->next) {
    if (strcmp(node->name, "joint") == 0) {
      TRIBO_TRY(read_joint(m, node));
    }
  }
  return exclude_links(m);
}

static TriboStatus read_model(Sdf* s, const XmlNode* node) {
  Model m = {.s = s, .node = node};
  int count = 0;
  for (const XmlNode* child = node->children; child != NULL; child = child->next) {
    count += strcmp(child->name, "link") == 0;
  }
  if (count > LINKS_MAX) {
    return tribo_xml_fail(node, "the model has more than %d links", LINKS_MAX);
  }
  m.links = tribo_pool_alloc(&s->pool, (size_t)count, sizeof *m.links);
  return m.links == NULL ? tribo_no_memory("to read the model") : build_model(&m);
}

// ---- the file

// Models of the file itself, and of its world.
static TriboStatus read_models(Sdf* s, const XmlNode* parent, int count) {
  for (const XmlNode* node = parent->children; node != NULL; node = node->next) {
    if (strcmp(node->name, "model") == 0) {
      const char* name = tribo_xml_get(node, "name");
      s->prefix = count > 1 ? tribo_pool_format(&s->pool, "%s/", name != NULL ? name : "model") : "";
      TRIBO_TRY(s->prefix == NULL ? tribo_no_memory("to read the model") : read_model(s, node));
    } else if (strcmp(node->name, "world") == 0) {
      TriboWorldDef world = s->scene->world;
      TRIBO_TRY(tribo_sdf_numbers(node, "gravity", world.gravity, 3, 3));
      TRIBO_TRY(tribo_scene_set_world(s->scene, &world));
      TRIBO_TRY(read_models(s, node, count));
    } else if (strcmp(node->name, "gravity") != 0) {
      TRIBO_TRY(tribo_sdf_warn(s, node, "is left out"));
    }
  }
  return TRIBO_OK;
}

static int count_models(const XmlNode* parent) {
  int count = 0;
  for (const XmlNode* node = parent->children; node != NULL; node = node->next) {
    count += strcmp(node->name, "model") == 0 ? 1 : strcmp(node->name, "world") == 0 ? count_models(node) : 0;
  }
  return count;
}

static TriboStatus load(Sdf* s, const char* path) {
  XmlNode* root;
  TRIBO_TRY(tribo_xml_read(&s->pool, path, &root));
  if (strcmp(root->name, "sdf") != 0) {
    return tribo_xml_fail(root, "<%.40s>: an SDF file has the root <sdf>", root->name);
  }
  const int count = count_models(root);
  if (count == 0) {
    return tribo_xml_fail(root, "there is no <model> in it");
  }
  TRIBO_TRY(read_models(s, root, count));
  return s->nmissing == 0 ? TRIBO_OK
                          : tribo_fail(TRIBO_NOT_FOUND,
                                       "%s: %d mesh%s not found beside it, in SDF_PATH, "
                                       "GAZEBO_MODEL_PATH or the example robots: %s",
                                       path, s->nmissing, s->nmissing == 1 ? " was" : "es were", s->missing);
}

TriboStatus tribo_sdf_load(TriboScene* scene, const char* path, const TriboLog* log) {
  Sdf s = {.scene = scene, .log = log, .prefix = ""};
  TriboStatus status = load(&s, path);
  scene->where = NULL;
  tribo_free((void*)s.warned);
  tribo_pool_clear(&s.pool);
  return status;
}
