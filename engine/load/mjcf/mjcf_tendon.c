// Tendons.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjcf.h"

// ---- tendons

enum { PARTS_MAX = 256 };

typedef struct Parts {
  const char* names[PARTS_MAX];
  double numbers[3 * PARTS_MAX];
  double weights[PARTS_MAX];
  TriboWrapDef wraps[PARTS_MAX];
  int count;
} Parts;

static TriboStatus read_coefs(Mjcf* m, const XmlNode* tendon, Parts* parts) {
  for (const XmlNode* node = tendon->children; node != NULL; node = node->next) {
    const char *name = tribo_xml_get(node, "joint"), *coef = tribo_xml_get(node, "coef");
    const int joint = tribo_mjcf_find_joint(m, name);
    double* number = &parts->numbers[parts->count];
    if (joint < 0 || coef == NULL || tribo_xml_numbers(coef, number, 1) != 1) {
      return tribo_xml_fail(node,
                            "a fixed tendon is made of <joint joint=\"…\" coef=\"…\"/>; joint '%.40s', coef '%.40s'",
                            name != NULL ? name : "", coef != NULL ? coef : "");
    }
    if (parts->count == PARTS_MAX) {
      return tribo_xml_fail(node, "a tendon of more than %d parts", PARTS_MAX);
    }
    parts->names[parts->count++] = name;
  }
  return TRIBO_OK;
}

// A pose of a body as the scene has it: the body's name, NULL where it is part of the world.
static const char* stand(const Mjcf* m, int index, const TriboPose* own, TriboPose* out) {
  const MjBody* body = &m->bodys[index];
  *out = body->id == TRIBO_WORLD ? tribo_pose_mul(&body->pose, own) : *own;
  return body->id == TRIBO_WORLD ? NULL : body->name;
}

// The geom that the stretch behind the last site goes around.
static TriboStatus read_wrap(Mjcf* m, const XmlNode* node, Parts* parts, int* known) {
  const char *name = tribo_xml_get(node, "geom"), *side = tribo_xml_get(node, "sidesite");
  const int at = tribo_mjcf_find_geom(m, name), on = tribo_mjcf_find_site(m, side);
  if (at < 0 || (side != NULL && on < 0)) {
    *known = 0;
    return tribo_mjcf_missing(m, node, at < 0 ? "geom" : "site", at < 0 ? name : side);
  }
  const MjGeom* geom = &m->geoms[at];
  if (geom->type != MJ_SPHERE && geom->type != MJ_CYLINDER) {
    return tribo_xml_fail(node, "geom '%s': tendons go around spheres and cylinders", geom->name);
  }
  if (parts->count == 0 || parts->wraps[parts->count - 1].radius > 0 || node->next == NULL ||
      strcmp(node->next->name, "site") != 0) {
    return tribo_xml_fail(node, "a geom of a tendon stands between two sites");
  }
  TriboWrapDef* wrap = &parts->wraps[parts->count - 1];
  TriboPose pose;
  wrap->kind = geom->type == MJ_SPHERE ? TRIBO_WRAP_SPHERE : TRIBO_WRAP_CYLINDER;
  wrap->radius = geom->size[0];
  wrap->body = stand(m, geom->body, &geom->pose, &pose);
  tribo_copy3(wrap->position, pose.p);
  tribo_quat_from_mat(wrap->quaternion, pose.R);
  if (on >= 0) {
    wrap->side_body = stand(m, m->sites[on].body, &m->sites[on].pose, &pose);
    tribo_copy3(wrap->side, pose.p);
  }
  return TRIBO_OK;
}

// 0: a part that is not known here makes the tendon one that is left out.
static TriboStatus read_points(Mjcf* m, const XmlNode* tendon, Parts* parts, int* known) {
  double weight = 1;
  for (const XmlNode* node = tendon->children; node != NULL; node = node->next) {
    if (strcmp(node->name, "pulley") == 0) {
      // another branch begins, which counts by its divisor
      double divisor = 0;
      const char* text = tribo_xml_get(node, "divisor");
      if (text == NULL || tribo_xml_numbers(text, &divisor, 1) != 1 || !(divisor > 0)) {
        return tribo_xml_fail(node, "<pulley> divisor=\"%.40s\": accepted is a number above 0",
                              text != NULL ? text : "");
      }
      weight = 1 / divisor;
      if (parts->count > 0) {
        parts->weights[parts->count - 1] = 0;
      }
      continue;
    }
    if (strcmp(node->name, "geom") == 0) {
      TRIBO_TRY(read_wrap(m, node, parts, known));
      continue;
    }
    if (strcmp(node->name, "site") != 0) {
      return tribo_xml_fail(node, "<%.40s> has no place in a spatial tendon", node->name);
    }
    const char* name = tribo_xml_get(node, "site");
    const int at = tribo_mjcf_find_site(m, name);
    if (at < 0) {
      *known = 0;
      return tribo_mjcf_missing(m, node, "site", name);
    }
    if (parts->count == PARTS_MAX) {
      return tribo_xml_fail(node, "a tendon of more than %d parts", PARTS_MAX);
    }
    const MjSite* site = &m->sites[at];
    TriboPose pose;
    parts->wraps[parts->count] = tribo_wrap_default();
    parts->names[parts->count] = stand(m, site->body, &site->pose, &pose);
    tribo_copy3(parts->numbers + 3 * parts->count, pose.p);
    parts->weights[parts->count++] = weight;
  }
  return TRIBO_OK;
}

// A tendon with its path, or its joints, and its spring.
static TriboStatus read_tendon(Mjcf* m, const XmlNode* node) {
  const int fixed = strcmp(node->name, "fixed") == 0;
  if (!fixed && strcmp(node->name, "spatial") != 0) {
    return tribo_xml_fail(node, "<%.40s> has no place in <tendon>", node->name);
  }
  MjTendon tendon = tribo_mjcf_tendon_default();
  TRIBO_TRY(tribo_mjcf_read(m, node, "tendon", NULL, &tribo_mjcf_tendon, &tendon));
  Parts parts = {.count = 0};
  int known = 1;
  TRIBO_TRY(fixed ? read_coefs(m, node, &parts) : read_points(m, node, &parts, &known));
  if (!known) {
    return TRIBO_OK;
  }
  TRIBO_TRY(MJ_GROW(m, tendon));
  tendon.node = node;
  m->tendons[m->ntendon++] = tendon;
  if (tendon.stiffness[1] != 0 || tendon.stiffness[2] != 0 || tendon.damping[1] != 0 || tendon.damping[2] != 0) {
    TRIBO_TRY(tribo_mjcf_warn(m, node, "polynomial stiffness or damping of a tendon", "counts as linear"));
  }
  const int limited = tendon.limited == MJ_TRUE ||
                      (tendon.limited == MJ_AUTO && tribo_mjcf_rules(m, node)->autolimits && !isnan(tendon.range[0]));
  if (tendon.frictionloss > 0) {
    TRIBO_TRY(tribo_mjcf_warn(m, node, "frictionloss of a tendon", "is not honoured"));
  }
  if (tendon.armature > 0) {
    TRIBO_TRY(tribo_mjcf_warn(m, node, "armature of a tendon", "is not honoured"));
  }
  TriboTendonDef def = tribo_tendon_default();
  def.name = tendon.name;
  def.joints = def.bodies = parts.names;
  def.coefs = def.points = parts.numbers;
  def.weights = fixed ? NULL : parts.weights;
  def.wraps = fixed ? NULL : parts.wraps;
  *(fixed ? &def.njoint : &def.npoint) = parts.count;
  def.stiffness = m->option.spring ? tendon.stiffness[0] : 0;
  def.damping = m->option.damper ? tendon.damping[0] : 0;
  if (tendon.springlength[0] != -1) {
    def.rest[0] = tendon.springlength[0];
    def.rest[1] = isnan(tendon.springlength[1]) ? def.rest[0] : tendon.springlength[1];
  }
  const int given = !isnan(tendon.force_range[0]);
  if (tendon.force_limited == MJ_TRUE ||
      (tendon.force_limited == MJ_AUTO && tribo_mjcf_rules(m, node)->autolimits && given)) {
    def.force_min = given ? tendon.force_range[0] : 0;
    def.force_max = given ? tendon.force_range[1] : 0;
  }
  if (limited && m->option.constraint && m->option.limit) {
    if (isnan(tendon.range[0])) {
      return tribo_xml_fail(node, "the tendon is limited but has no range");
    }
    tribo_mjcf_softness(tendon.solref, tendon.solimp, def.solref, def.solimp);
    def.lower = tendon.range[0];
    def.upper = tendon.range[1];
  }
  TRIBO_TRY(tribo_mjcf_at(m, node));
  return tribo_mjcf_added(m, tribo_scene_add_tendon(m->scene, &def, NULL));
}

TriboStatus tribo_mjcf_tendons(Mjcf* m) {
  return tribo_mjcf_each(m, "tendon", read_tendon);
}
