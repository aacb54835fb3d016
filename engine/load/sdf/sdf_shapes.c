// What a link of an SDF model is made of: its inertial, its collisions and its visuals.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inertia.h"
#include "package.h"
#include "sdf.h"

TriboStatus tribo_sdf_inertial(const Sdf* s, const XmlNode* link, TriboBodyDef* def) {
  // the format's own defaults: 1 kg, 1 kg m²
  double I[6] = {1, 1, 1, 0, 0, 0}, quat[4] = {0, 0, 0, 1};
  static const char* const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  TriboPose pose = tribo_pose_identity();
  def->mass = 1;
  const XmlNode* inertial = tribo_xml_child(link, "inertial");
  if (inertial != NULL) {
    TRIBO_TRY(tribo_sdf_number(inertial, "mass", &def->mass));
    TRIBO_TRY(tribo_sdf_pose(inertial, &pose));
    tribo_quat_from_mat(quat, pose.R);
    const XmlNode* inertia = tribo_xml_child(inertial, "inertia");
    if (inertia != NULL) {
      for (int i = 0; i < 6; ++i) {
        TRIBO_TRY(tribo_sdf_number(inertia, names[i], &I[i]));
      }
    }
  }
  if (tribo_inertia_check(I) == TRIBO_INERTIA_BROKEN) {
    tribo_log(s->log, TRIBO_LOG_WARNING,
              "%s:%d: inertia of link '%.60s' breaks the triangle inequality: no solid body has it", inertial->path,
              inertial->line, def->name);
  }
  tribo_copy3(def->com, pose.p);
  memcpy(def->inertia, I, sizeof I);
  memcpy(def->axes, quat, sizeof quat);
  return TRIBO_OK;
}

// ---- meshes

// The file behind model://, package://, file:// or a name beside the model; NULL: not found, and noted.
static const char* find_mesh(Sdf* s, const XmlNode* node, const char* uri) {
  const char* scheme = strstr(uri, "://");
  const char* rest = scheme != NULL ? scheme + 3 : uri;
  const char* found = NULL;
  if (scheme == NULL || strncmp(uri, "file://", 7) == 0) {
    found = tribo_xml_beside(&s->pool, node, NULL, rest);
    found = found != NULL && access(found, R_OK) == 0 ? found : NULL;
  } else {
    found = tribo_package_find(&s->pool, uri);
  }
  if (found == NULL) {
    const size_t used = strlen(s->missing);
    snprintf(s->missing + used, sizeof s->missing - used, "%s'%s'", used > 0 ? ", " : "", uri);
    s->nmissing++;
  }
  return found;
}

// ---- shapes

static const struct {
  const char *name, *numbers[2];
  TriboShapeKind kind;
} kinds[] = {
    {"sphere", {"radius", NULL}, TRIBO_SHAPE_SPHERE},
    {"box", {"size", NULL}, TRIBO_SHAPE_BOX},
    {"cylinder", {"radius", "length"}, TRIBO_SHAPE_CYLINDER},
    {"capsule", {"radius", "length"}, TRIBO_SHAPE_CAPSULE},
    {"ellipsoid", {"radii", NULL}, TRIBO_SHAPE_ELLIPSOID},
    {"plane", {"normal", NULL}, TRIBO_SHAPE_HALFSPACE},
    {"mesh", {"uri", NULL}, TRIBO_SHAPE_HULL},
};

static TriboStatus read_primitive(const XmlNode* shape, const char* const numbers[2], TriboShapeDef* def) {
  const int many = def->kind == TRIBO_SHAPE_BOX || def->kind == TRIBO_SHAPE_ELLIPSOID;
  TRIBO_TRY(tribo_sdf_numbers(shape, numbers[0], def->size, many ? 3 : 1, many ? 3 : 1));
  return numbers[1] != NULL ? tribo_sdf_number(shape, numbers[1], &def->size[1]) : TRIBO_OK;
}

static TriboStatus read_plane(const XmlNode* shape, TriboShapeDef* def) {
  double n[3] = {0, 0, 1}, t1[3], t2[3];
  TRIBO_TRY(tribo_sdf_numbers(shape, "normal", n, 3, 3));
  if (!(tribo_normalize3(n) > 1e-9)) {
    return tribo_xml_fail(shape, "<plane>: the normal has length 0");
  }
  tribo_tangents(t1, t2, n);
  const double R[9] = {t1[0], t2[0], n[0], t1[1], t2[1], n[1], t1[2], t2[2], n[2]};
  const TriboPose own = tribo_pose(def->position, def->quaternion);
  double turned[9];
  tribo_mul33(turned, own.R, R);
  tribo_quat_from_mat(def->quaternion, turned);
  return TRIBO_OK;
}

// *found: 0 for a shape that is left out with a warning, or whose mesh is missing.
static TriboStatus read_geometry(Sdf* s, const XmlNode* node, TriboShapeDef* def, int* found) {
  const XmlNode* geometry = tribo_xml_child(node, "geometry");
  const XmlNode* shape = geometry != NULL ? geometry->children : NULL;
  *found = 0;
  if (shape == NULL) {
    return tribo_xml_fail(node, "<%s> has no <geometry>", node->name);
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strcmp(shape->name, kinds[i].name) != 0) {
      continue;
    }
    def->kind = kinds[i].kind;
    *found = 1;
    if (def->kind == TRIBO_SHAPE_HALFSPACE) {
      return read_plane(shape, def);
    }
    if (def->kind != TRIBO_SHAPE_HULL) {
      return read_primitive(shape, kinds[i].numbers, def);
    }
    const XmlNode* uri = tribo_xml_child(shape, "uri");
    if (uri == NULL) {
      return tribo_xml_fail(shape, "<mesh> has no <uri>");
    }
    TRIBO_TRY(tribo_sdf_numbers(shape, "scale", def->scale, 3, 3));
    def->mesh = find_mesh(s, uri, uri->text);
    *found = def->mesh != NULL;
    return TRIBO_OK;
  }
  return tribo_sdf_warn(s, shape, "is left out");
}

static TriboStatus read_color(const XmlNode* visual, double color[4]) {
  const XmlNode* material = tribo_xml_child(visual, "material");
  if (material != NULL) {
    TRIBO_TRY(tribo_sdf_numbers(material, "ambient", color, 3, 4));
    TRIBO_TRY(tribo_sdf_numbers(material, "diffuse", color, 3, 4));
  }
  for (int i = 0; i < 4; ++i) {
    color[i] = tribo_clamp(color[i], 0, 1);
  }
  return TRIBO_OK;
}

// Friction of a collision as a material of its own, once per value.
static TriboStatus read_friction(Sdf* s, const XmlNode* collision, const char** name) {
  const XmlNode* at = tribo_xml_child(collision, "surface");
  at = at != NULL ? tribo_xml_child(at, "friction") : NULL;
  at = at != NULL ? tribo_xml_child(at, "ode") : NULL;
  double mu = NAN;
  if (at == NULL) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_sdf_number(at, "mu", &mu));
  if (isnan(mu)) {
    return TRIBO_OK;
  }
  *name = tribo_pool_format(&s->pool, "friction %g", mu);
  if (*name == NULL) {
    return tribo_no_memory("to read the model");
  }
  if (tribo_names_find(&s->scene->material_names, *name) >= 0) {
    return TRIBO_OK;
  }
  TriboMaterialDef def = tribo_material_default();
  def.name = *name;
  def.friction = mu;
  return tribo_located(tribo_scene_add_material(s->scene, &def, NULL), s->scene->where);
}

TriboStatus tribo_sdf_shapes(Sdf* s, const XmlNode* link, int body, const TriboPose* link_pose) {
  for (const XmlNode* node = link->children; node != NULL; node = node->next) {
    const int drawn = strcmp(node->name, "visual") == 0;
    if (!drawn && strcmp(node->name, "collision") != 0) {
      continue;
    }
    TriboShapeDef def = tribo_shape_default();
    TriboPose own;
    int found;
    TRIBO_TRY(tribo_sdf_pose(node, &own));
    const TriboPose pose = body == TRIBO_WORLD ? tribo_pose_mul(link_pose, &own) : own;
    tribo_copy3(def.position, pose.p);
    tribo_quat_from_mat(def.quaternion, pose.R);
    TRIBO_TRY(tribo_sdf_at(s, node));
    TRIBO_TRY(read_geometry(s, node, &def, &found));
    if (!found) {
      continue;
    }
    const char* name = tribo_xml_get(node, "name");
    def.name = tribo_pool_format(&s->pool, "%s%s.%s", s->prefix, tribo_xml_get(link, "name"),
                                 name != NULL ? name : node->name);
    if (drawn) {
      TRIBO_TRY(read_color(node, def.color));
      def.use_file_colors = tribo_xml_child(node, "material") == NULL;
    } else {
      TRIBO_TRY(read_friction(s, node, &def.material));
    }
    TRIBO_TRY(tribo_located(
        drawn ? tribo_scene_add_visual(s->scene, body, &def, NULL) : tribo_scene_add_shape(s->scene, body, &def, NULL),
        s->scene->where));
  }
  return TRIBO_OK;
}
