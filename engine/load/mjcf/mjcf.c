// MJCF: the file as a whole. See mjcf.h for the way through.
#include "mjcf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- sections

static TriboStatus read_asset(Mjcf* m, const XmlNode* node) {
  if (strcmp(node->name, "material") == 0) {
    return tribo_mjcf_read_material(m, node);
  }
  if (strcmp(node->name, "mesh") == 0) {
    return tribo_mjcf_read_mesh(m, node);
  }
  if (strcmp(node->name, "hfield") == 0) {
    return tribo_mjcf_read_field(m, node);
  }
  if (strcmp(node->name, "texture") == 0) {
    return tribo_mjcf_read_texture(m, node);
  }
  if (strcmp(node->name, "model") == 0) {
    return TRIBO_OK;  // brought in by <attach>
  }
  char key[64];
  snprintf(key, sizeof key, "<asset>: <%.40s>", node->name);
  return tribo_mjcf_warn(m, node, key, "is left out");
}

static TriboStatus read_option(Mjcf* m, const XmlNode* node) {
  for (int i = 0; i < 10; ++i) {
    m->option.groups[i] = NAN;
  }
  TRIBO_TRY(tribo_mjcf_apply(m, node, &tribo_mjcf_option, &m->option));
  for (int i = 0; i < 10 && m->option.groups[i] >= 0 && m->option.groups[i] < 31; ++i) {
    m->option.groups_off |= 1 << (int)m->option.groups[i];
  }
  const XmlNode* flag = tribo_xml_child(node, "flag");
  return flag != NULL ? tribo_mjcf_apply(m, flag, &tribo_mjcf_flag, &m->option) : TRIBO_OK;
}

static TriboStatus read_assets(Mjcf* m, const XmlNode* node) {
  for (const XmlNode* child = node->children; child != NULL; child = child->next) {
    TRIBO_TRY(read_asset(m, child));
  }
  return TRIBO_OK;
}

static TriboStatus read_nothing(Mjcf* m, const XmlNode* node) {
  (void)m, (void)node;
  return TRIBO_OK;
}

static TriboStatus leave_out(Mjcf* m, const XmlNode* node) {
  for (const XmlNode* child = node->children; child != NULL; child = child->next) {
    TRIBO_TRY(tribo_mjcf_leave_out(m, child, "is left out"));
  }
  return TRIBO_OK;
}

// In the order in which they need each other. Sections that others read later are named here so that a section of no
// name is an error.
static const struct {
  const char* name;
  TriboStatus (*read)(Mjcf* m, const XmlNode* node);
} sections[] = {
    {"compiler", read_nothing},  {"option", read_option},    {"asset", read_assets},      {"default", read_nothing},
    {"size", read_nothing},      {"visual", read_nothing},   {"statistic", read_nothing}, {"custom", read_nothing},
    {"worldbody", read_nothing}, {"contact", read_nothing},  {"equality", read_nothing},  {"tendon", read_nothing},
    {"actuator", read_nothing},  {"keyframe", read_nothing}, {"sensor", read_nothing},    {"extension", leave_out},
    {"deformable", leave_out},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static TriboStatus read_sections(Mjcf* m) {
  for (const XmlNode* node = m->root->children; node != NULL; node = node->next) {
    int known = 0;
    for (int i = 0; i < SECTIONS; ++i) {
      known |= strcmp(node->name, sections[i].name) == 0;
    }
    if (!known) {
      return tribo_xml_fail(node, "<%.40s> is no section of an MJCF file", node->name);
    }
  }
  for (int i = 0; i < SECTIONS; ++i) {
    for (const XmlNode* node = m->root->children; node != NULL; node = node->next) {
      if (strcmp(node->name, sections[i].name) == 0) {
        TRIBO_TRY(sections[i].read(m, node));
      }
    }
  }
  return TRIBO_OK;
}

static TriboStatus set_world(Mjcf* m) {
  const MjOption* o = &m->option;
  TriboWorldDef world = m->scene->world;
  world.dt = o->timestep;
  world.density = o->density;
  world.viscosity = o->viscosity;
  for (int i = 0; i < 3; ++i) {
    world.gravity[i] = o->has_gravity ? o->gravity[i] : 0;
    world.wind[i] = o->wind[i];
  }
  TRIBO_TRY(tribo_mjcf_at(m, m->root));
  return tribo_mjcf_added(m, tribo_scene_set_world(m->scene, &world));
}

static TriboStatus load(Mjcf* m, const char* path) {
  TRIBO_TRY(tribo_mjcf_read_tree(m, NULL, path, &m->root));
  TRIBO_TRY(tribo_mjcf_expand(m));
  TRIBO_TRY(tribo_mjcf_classes(m));
  TRIBO_TRY(read_sections(m));
  TRIBO_TRY(set_world(m));
  TRIBO_TRY(tribo_mjcf_bodies(m));
  TRIBO_TRY(tribo_mjcf_masses(m));
  TRIBO_TRY(tribo_mjcf_contacts(m));
  TRIBO_TRY(tribo_mjcf_build(m));
  TRIBO_TRY(tribo_mjcf_springs(m));
  TRIBO_TRY(tribo_mjcf_shapes(m));
  TRIBO_TRY(tribo_mjcf_filter(m));
  TRIBO_TRY(tribo_mjcf_tendons(m));
  TRIBO_TRY(tribo_mjcf_equalities(m));
  TRIBO_TRY(tribo_mjcf_actuators(m));
  TRIBO_TRY(tribo_mjcf_sensors(m));
  TRIBO_TRY(tribo_mjcf_cameras(m));
  return tribo_mjcf_keyframes(m);
}

TriboStatus tribo_mjcf_load(TriboScene* scene, const char* path, const TriboLog* log) {
  Mjcf m = {.scene = scene,
            .log = log,
            .option = {.timestep = 0.002,
                       .gravity = {0, 0, -9.81},
                       .magnetic = {0, -0.5, 0},
                       .constraint = 1,
                       .contact = 1,
                       .limit = 1,
                       .frictionloss = 1,
                       .equality = 1,
                       .has_gravity = 1,
                       .spring = 1,
                       .damper = 1,
                       .actuation = 1,
                       .filter_parent = 1}};
  TriboStatus status = load(&m, path);
  scene->where = NULL;
#define X(type, name) tribo_free((void*)m.name##s);
  MJ_ARRAYS(X)
#undef X
  tribo_pool_clear(&m.pool);
  return status;
}
