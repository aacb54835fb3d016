// Bodies, joints and shapes of the scene.
//
// The poses that scenes give are those of joint values 0, while a file's are those of the values `ref`: each joint is
// turned back by its ref, and starts there. A body with several joints becomes a chain of bodies, the last of which has
// the mass and the shapes; the ones before it are called <body>.<joint>. Bodies that nothing moves are part of the
// world.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjcf.h"

// ---- shapes

static const MjField* find_field(const Mjcf* m, const char* name) {
  if (name != NULL) {
    for (int i = 0; i < m->nfield; ++i) {
      if (m->fields[i].name != NULL && strcmp(m->fields[i].name, name) == 0) {
        return &m->fields[i];
      }
    }
  }
  return NULL;
}

// A point p of the file stands at S Rᵀ(p − ref). A mesh that is not turned, or scaled alike along all axes, stays the
// file it is and is placed there; others are points.
static TriboStatus mesh_shape(Mjcf* m, const MjGeom* geom, TriboShapeDef* def) {
  MjMesh* mesh = tribo_mjcf_find_mesh(m, geom->mesh);
  if (mesh == NULL) {
    return tribo_xml_fail(geom->node, "geom '%s': there is no mesh '%.60s'", geom->name,
                          geom->mesh != NULL ? geom->mesh : "");
  }
  TRIBO_TRY(tribo_mjcf_need_mesh(m, mesh));
  def->kind = TRIBO_SHAPE_HULL;
  const double *q = mesh->refquat, *s = mesh->scale;
  const int turned = q[1] != 0 || q[2] != 0 || q[3] != 0, uniform = s[0] == s[1] && s[1] == s[2];
  TRIBO_TRY(tribo_mjcf_load_vertices(mesh));
  if (mesh->file != NULL && !tribo_mjcf_is_msh(mesh->file) && mesh->cloud < 0 && (uniform || !turned)) {
    double unit[4] = {q[1], q[2], q[3], q[0]}, back[3];
    const double none[3] = {0};
    tribo_quat_normalize(unit);
    const TriboPose ref = tribo_pose(none, unit), identity = tribo_pose_identity();
    TriboPose own = tribo_pose_between(&ref, &identity);
    tribo_mul33v(back, own.R, mesh->refpos);
    for (int k = 0; k < 3; ++k) {
      own.p[k] = -s[k] * back[k];
    }
    const TriboPose placed = tribo_pose_mul(&geom->pose, &own);
    tribo_copy3(def->position, placed.p);
    tribo_quat_from_mat(def->quaternion, placed.R);
    tribo_copy3(def->scale, s);
    def->mesh = mesh->file;
    return TRIBO_OK;
  }
  double* points;
  int *triangles, ntriangle = 0;
  TriboStatus status = tribo_mjcf_triangles(mesh, &points, &def->npoint, &triangles, &ntriangle);
  if (status == TRIBO_OK) {
    def->points = tribo_pool_copy(&m->pool, points, (size_t)def->npoint, 3 * sizeof *points);
    status = def->points == NULL ? tribo_no_memory("to read the model") : TRIBO_OK;
  }
  tribo_free(points);
  tribo_free(triangles);
  return status;
}

TriboStatus tribo_mjcf_shape(Mjcf* m, const MjGeom* geom, TriboShapeDef* def) {
  static const TriboShapeKind kinds[] = {
      [MJ_PLANE] = TRIBO_SHAPE_HALFSPACE, [MJ_SPHERE] = TRIBO_SHAPE_SPHERE,       [MJ_CAPSULE] = TRIBO_SHAPE_CAPSULE,
      [MJ_BOX] = TRIBO_SHAPE_BOX,         [MJ_ELLIPSOID] = TRIBO_SHAPE_ELLIPSOID, [MJ_CYLINDER] = TRIBO_SHAPE_CYLINDER,
      [MJ_SDF] = TRIBO_SHAPE_COUNT};
  // half lengths of the file are full ones here, but for ellipsoids
  static const struct {
    int n;
    double scale[3];
  } sizes[] = {[MJ_SPHERE] = {1, {1, 0, 0}},    [MJ_CAPSULE] = {2, {1, 2, 0}},  [MJ_BOX] = {3, {2, 2, 2}},
               [MJ_ELLIPSOID] = {3, {1, 1, 1}}, [MJ_CYLINDER] = {2, {1, 2, 0}}, [MJ_SDF] = {0, {0}}};
  *def = tribo_shape_default();
  def->name = geom->name;
  tribo_mjcf_paint(m, geom, def);
  tribo_copy3(def->position, geom->pose.p);
  tribo_quat_from_mat(def->quaternion, geom->pose.R);
  if (geom->type == MJ_MESH) {
    return mesh_shape(m, geom, def);
  }
  if (geom->type == MJ_HFIELD) {
    const MjField* field = find_field(m, geom->hfield);
    def->kind = TRIBO_SHAPE_HEIGHTFIELD;
    def->size[0] = 2 * field->size[0];
    def->size[1] = 2 * field->size[1];
    def->heights = field->heights;
    def->nx = field->ncol;
    def->ny = field->nrow;
    return TRIBO_OK;
  }
  def->kind = kinds[geom->type];
  for (int i = 0; i < sizes[geom->type].n; ++i) {
    def->size[i] = sizes[geom->type].scale[i] * geom->size[i];
    if (!(def->size[i] > 0)) {
      return tribo_xml_fail(geom->node, "geom '%s': size[%d] = %g must be above 0", geom->name, i, geom->size[i]);
    }
  }
  return TRIBO_OK;
}

// ---- bodies and joints

// The pose of a body after a joint has gone from its ref to 0; pose comes in as before the joint.
static void turn_back(const MjJoint* joint, const double anchor[3], const double axis[3], TriboPose* pose) {
  if (joint->type == MJ_SLIDE) {
    tribo_axpy3(pose->p, pose->p, -joint->ref, axis);
  } else if (joint->type == MJ_HINGE && joint->ref != 0) {
    double w[3], quat[4], R[9], turned[9], arm[3], moved[3];
    tribo_scale3(w, -joint->ref, axis);
    tribo_quat_exp(quat, w);
    tribo_quat_to_mat(R, quat);
    tribo_mul33(turned, R, pose->R);
    memcpy(pose->R, turned, sizeof turned);
    tribo_sub3(arm, pose->p, anchor);
    tribo_mul33v(moved, R, arm);
    tribo_add3(pose->p, anchor, moved);
  }
}

static void set_body_def(TriboBodyDef* def, const TriboPose* pose, const MjBody* body) {
  *def = tribo_body_default();
  tribo_copy3(def->position, pose->p);
  tribo_quat_from_mat(def->quaternion, pose->R);
  def->mass = 0;
  memset(def->com, 0, sizeof def->com);
  memset(def->inertia, 0, sizeof def->inertia);
  if (body != NULL) {
    def->mass = body->mass;
    def->gravity_compensation = body->gravcomp;
    tribo_copy3(def->com, body->com);
    tribo_copy3(def->inertia, body->inertia);
    memcpy(def->axes, body->axes, sizeof def->axes);
  }
}

static TriboStatus check_springs(Mjcf* m, const MjJoint* joint) {
  if (joint->stiffness[1] != 0 || joint->stiffness[2] != 0 || joint->damping[1] != 0 || joint->damping[2] != 0) {
    TRIBO_TRY(tribo_mjcf_warn(m, joint->node, "polynomial stiffness or damping of a joint", "counts as linear"));
  }
  return TRIBO_OK;
}

// The scene's definition of a joint.
static TriboStatus fill_joint(Mjcf* m, const MjJoint* joint, TriboJointDef* def) {
  static const TriboJointKind kinds[] = {TRIBO_JOINT_FREE, TRIBO_JOINT_SPHERICAL, TRIBO_JOINT_PRISMATIC,
                                         TRIBO_JOINT_REVOLUTE};
  TRIBO_TRY(check_springs(m, joint));
  def->name = joint->name;
  def->kind = kinds[joint->type];
  def->armature = joint->armature;
  def->damping = m->option.damper ? joint->damping[0] : 0;
  def->friction = m->option.constraint && m->option.frictionloss ? joint->frictionloss : 0;
  def->stiffness = m->option.spring ? joint->stiffness[0] : 0;
  tribo_mjcf_softness(joint->solref, joint->solimp, def->solref, def->solimp);
  const int single = joint->type == MJ_SLIDE || joint->type == MJ_HINGE;
  const int given = !isnan(joint->range[0]) && (joint->range[0] != 0 || joint->range[1] != 0);
  int limited =
      joint->limited == MJ_TRUE || (joint->limited == MJ_AUTO && tribo_mjcf_rules(m, joint->node)->autolimits && given);
  if (joint->limited == MJ_TRUE && !given) {
    return tribo_xml_fail(joint->node, "joint '%s' is limited but has no range", joint->name);
  }
  if (!single) {
    if (limited && m->option.constraint && m->option.limit && joint->type == MJ_BALL) {
      def->upper = joint->range[1];  // the largest angle
    }
    return TRIBO_OK;
  }
  def->rest = joint->springref;
  def->actuator_gravity_compensation = joint->actuator_gravity_compensation && m->option.actuation;
  const double* range = joint->force_range;
  if (!isnan(range[0]) && (joint->force_limited == MJ_TRUE ||
                           (joint->force_limited == MJ_AUTO && tribo_mjcf_rules(m, joint->node)->autolimits))) {
    if (range[0] != -range[1]) {
      TRIBO_TRY(tribo_mjcf_warn(m, joint->node, "actuatorfrcrange of a joint", "counts as wide to both sides"));
    }
    def->effort = fmax(fabs(range[0]), fabs(range[1]));
  }
  def->position = joint->ref;
  if (limited && m->option.constraint && m->option.limit) {
    def->lower = joint->range[0];
    def->upper = joint->range[1];
    if (!(def->lower <= def->upper)) {
      return tribo_xml_fail(joint->node, "joint '%s': range %g … %g, the lower must not be above the upper",
                            joint->name, def->lower, def->upper);
    }
  }
  return TRIBO_OK;
}

// A body that floats. Free joints with damping or armature of their own are joints of the scene.
static TriboStatus add_free(Mjcf* m, MjBody* body, const MjJoint* joint) {
  TriboBodyDef def;
  set_body_def(&def, &body->pose, body);
  def.name = body->name;
  TRIBO_TRY(tribo_mjcf_added(m, tribo_scene_add_body(m->scene, &def, &body->id)));
  if (joint->damping[0] == 0 && joint->armature == 0 && joint->frictionloss == 0 && joint->stiffness[0] == 0) {
    return TRIBO_OK;
  }
  TriboJointDef free = tribo_joint_default();
  TRIBO_TRY(tribo_mjcf_at(m, joint->node));
  TRIBO_TRY(fill_joint(m, joint, &free));
  if (free.stiffness > 0) {
    TRIBO_TRY(tribo_mjcf_warn(m, joint->node, "stiffness of a free joint", "is not honoured"));
    free.stiffness = 0;
  }
  if (free.armature > 0) {
    TRIBO_TRY(tribo_mjcf_warn(m, joint->node, "armature of a free joint", "counts along the axes of the body"));
  }
  free.child = body->id;
  tribo_copy3(free.anchor, body->pose.p);
  return tribo_mjcf_added(m, tribo_scene_add_joint(m->scene, &free, NULL));
}

// One joint after the other, from the parent to the body.
static TriboStatus add_chain(Mjcf* m, MjBody* body, int parent) {
  TriboPose pose = body->pose;
  for (int k = 0; k < (body->njoint > 0 ? body->njoint : 1); ++k) {
    const MjJoint* joint = body->njoint > 0 ? &m->joints[body->first_joint + k] : NULL;
    const int last = k + 1 >= body->njoint;
    TriboJointDef link = tribo_joint_default();
    link.kind = TRIBO_JOINT_FIXED;
    tribo_copy3(link.anchor, pose.p);
    TRIBO_TRY(tribo_mjcf_at(m, joint != NULL ? joint->node : body->node));
    char name[256];
    if (joint != NULL) {
      TRIBO_TRY(fill_joint(m, joint, &link));
      double arm[3];
      tribo_mul33v(arm, pose.R, joint->pos);
      tribo_add3(link.anchor, pose.p, arm);
      tribo_mul33v(link.axis, pose.R, joint->axis);
      turn_back(joint, link.anchor, link.axis, &pose);
      snprintf(name, sizeof name, "%s.%s", body->name, joint->name);
    } else {
      snprintf(name, sizeof name, "%s.weld", body->name);
      link.name = name;
    }
    TriboBodyDef def;
    set_body_def(&def, &pose, last ? body : NULL);
    def.name = last ? body->name : name;
    link.parent = parent;
    TRIBO_TRY(tribo_mjcf_added(m, tribo_scene_add_body(m->scene, &def, &link.child)));
    TRIBO_TRY(tribo_mjcf_added(m, tribo_scene_add_joint(m->scene, &link, NULL)));
    parent = link.child;
  }
  body->pose = pose;
  body->id = parent;
  return TRIBO_OK;
}

// The surface turns about the origin of the geom, which need not be where the shape has its own.
static void set_surface(const MjGeom* geom, const MjBody* body, TriboShapeDef* def) {
  const TriboPose frame = body->id == TRIBO_WORLD ? tribo_pose_mul(&body->pose, &geom->pose) : geom->pose;
  double arm[3], turn[3];
  tribo_mul33v(def->spin, frame.R, geom->surface + 3);
  tribo_mul33v(def->surface, frame.R, geom->surface);
  tribo_sub3(arm, def->position, frame.p);
  tribo_cross3(turn, def->spin, arm);
  tribo_add3(def->surface, def->surface, turn);
}

// Groups from here on MuJoCo does not show.
enum { SHOWN = 3 };

// Is there something of this body to be looked at that is no shape that collides: a geom that only looks, or a mesh,
// which collides as a hull? Then its shapes are hidden, and those that MuJoCo would show are drawn as visuals too.
static int is_dressed(const Mjcf* m, int body) {
  int dressed = 0;
  if (body != 0) {
    for (int i = 0; i < m->ngeom; ++i) {
      const MjGeom* geom = &m->geoms[i];
      dressed |= geom->body == body && (geom->collision_class < 0 || geom->type == MJ_MESH) && geom->group < SHOWN;
    }
  }
  return dressed;
}

// A geom as a shape of the scene, a visual, or both.
static TriboStatus add_geom(Mjcf* m, const MjGeom* geom) {
  TriboShapeDef def;
  const MjField* field = geom->type == MJ_HFIELD ? find_field(m, geom->hfield) : NULL;
  if (geom->type == MJ_HFIELD && field == NULL) {
    return tribo_xml_fail(geom->node, "geom '%s': there is no hfield '%.60s'", geom->name,
                          geom->hfield != NULL ? geom->hfield : "");
  }
  if (geom->type == MJ_SDF) {
    return tribo_mjcf_warn(m, geom->node, "signed distance field", "is left out");
  }
  const MjMesh* mesh = geom->type == MJ_MESH ? tribo_mjcf_find_mesh(m, geom->mesh) : NULL;
  if (mesh != NULL && mesh->is_missing && geom->collision_class < 0) {
    return TRIBO_OK;  // it would only be looked at
  }
  TRIBO_TRY(tribo_mjcf_shape(m, geom, &def));
  const MjBody* body = &m->bodys[geom->body];
  if (body->id == TRIBO_WORLD) {
    const TriboPose own = tribo_pose(def.position, def.quaternion), placed = tribo_pose_mul(&body->pose, &own);
    tribo_copy3(def.position, placed.p);
    tribo_quat_from_mat(def.quaternion, placed.R);
  } else if (def.kind == TRIBO_SHAPE_HALFSPACE || def.kind == TRIBO_SHAPE_HEIGHTFIELD) {
    return tribo_xml_fail(geom->node, "geom '%s': a %s cannot move", geom->name,
                          def.kind == TRIBO_SHAPE_HALFSPACE ? "plane" : "height field");
  }
  TRIBO_TRY(tribo_mjcf_at(m, geom->node));
  if (geom->collision_class < 0 && field != NULL) {
    return TRIBO_OK;  // it touches nothing
  }
  def.hidden = field == NULL && is_dressed(m, geom->body);
  if (geom->collision_class < 0 || (def.hidden && geom->group < SHOWN)) {
    TRIBO_TRY(tribo_mjcf_added(m, tribo_scene_add_visual(m->scene, body->id, &def, NULL)));
  }
  if (geom->collision_class < 0) {
    return TRIBO_OK;
  }
  def.contact_offset = geom->margin;
  set_surface(geom, body, &def);
  char material[32];
  snprintf(material, sizeof material, "contact%d", geom->material_id);
  def.material = material;
  def.group = 1u << geom->collision_class;
  def.mask = 0;
  for (int i = 0; i < m->ngeom; ++i) {
    if (m->geoms[i].collision_class >= 0 && tribo_mjcf_collide(m, geom, &m->geoms[i])) {
      def.mask |= 1u << m->geoms[i].collision_class;
    }
  }
  return tribo_mjcf_added(m, tribo_scene_add_shape(m->scene, body->id, &def, NULL));
}

TriboStatus tribo_mjcf_build(Mjcf* m) {
  for (int i = 1; i < m->nbody; ++i) {
    MjBody* body = &m->bodys[i];
    const MjBody* parent = &m->bodys[body->parent];
    body->pose = tribo_pose_mul(&parent->pose, &body->local);
    body->start = tribo_pose_mul(&parent->start, &body->local);
    body->id = TRIBO_WORLD;
    TRIBO_TRY(tribo_mjcf_at(m, body->node));
    if (body->weld == 0) {
      continue;
    }
    const MjJoint* first = body->njoint > 0 ? &m->joints[body->first_joint] : NULL;
    TRIBO_TRY(first != NULL && first->type == MJ_FREE ? add_free(m, body, first) : add_chain(m, body, parent->id));
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_shapes(Mjcf* m) {
  for (int g = 0; g < m->ngeom; ++g) {
    TRIBO_TRY(add_geom(m, &m->geoms[g]));
  }
  // (what has mass or touches something would have failed)
  if (m->nmissing > 0) {
    tribo_log(m->log, TRIBO_LOG_WARNING, "%s: %d mesh%s not found, and what shows %s is not drawn: %s", m->root->path,
              m->nmissing, m->nmissing == 1 ? " was" : "es were", m->nmissing == 1 ? "it" : "them", m->missing);
  }
  return TRIBO_OK;
}
