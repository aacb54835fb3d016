// MJCF: the file as a whole. See mjcf.h for the way through.
#include "mjcf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INCLUDES_MAX = 256 };

TriboStatus tribo_mjcf_no_memory(void) {
  return tribo_fail(TRIBO_NOMEM, "no memory to read the model");
}

TriboStatus tribo_mjcf_warn(Mjcf* m, const XmlNode* node, const char* key, const char* what) {
  for (int i = 0; i < m->nwarned; ++i) {
    if (strcmp(m->warneds[i], key) == 0) {
      return TRIBO_OK;
    }
  }
  TRIBO_TRY(MJ_GROW(m, warned));
  m->warneds[m->nwarned] = tribo_pool_strdup(&m->pool, key);
  if (m->warneds[m->nwarned++] == NULL) {
    return tribo_mjcf_no_memory();
  }
  tribo_log(m->log, TRIBO_LOG_WARNING, "%s:%d: %s %s", node->path, node->line, key, what);
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_at(Mjcf* m, const XmlNode* node) {
  m->scene->where = tribo_pool_format(&m->scene->pool, "%s:%d", node->path, node->line);
  return m->scene->where == NULL ? tribo_mjcf_no_memory() : TRIBO_OK;
}

TriboStatus tribo_mjcf_added(const Mjcf* m, TriboStatus status) {
  return tribo_located(status, m->scene->where);
}

TriboStatus tribo_mjcf_each(Mjcf* m, const char* section, TriboStatus (*read)(Mjcf*, const XmlNode*)) {
  for (const XmlNode* s = m->root->children; s != NULL; s = s->next) {
    for (const XmlNode* node = s->children; strcmp(s->name, section) == 0 && node != NULL; node = node->next) {
      TRIBO_TRY(read(m, node));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_leave_out(Mjcf* m, const XmlNode* node, const char* why) {
  char key[96];
  snprintf(key, sizeof key, "<%.30s>: <%.40s>", node->parent->name, node->name);
  return tribo_mjcf_warn(m, node, key, why);
}

TriboStatus tribo_mjcf_missing(Mjcf* m, const XmlNode* node, const char* what, const char* name) {
  if (m->incomplete) {
    return tribo_mjcf_leave_out(m, node, "of what is left out is left out");
  }
  return tribo_xml_fail(node, "there is no %s '%.60s'", what, name != NULL ? name : "");
}

// ---- includes

typedef struct Included {
  char* path[INCLUDES_MAX];  // from realpath
  int count;
} Included;

// No file comes twice: that refuses circles and bombs alike, as MuJoCo does.
static TriboStatus remember(Included* seen, const XmlNode* node, const char* path) {
  char* real = realpath(path, NULL);
  if (real == NULL) {
    return node != NULL ? tribo_xml_fail(node, "%s: no such file", path)
                        : tribo_fail(TRIBO_IO, "%s: cannot be opened", path);
  }
  for (int i = 0; i < seen->count; ++i) {
    if (strcmp(seen->path[i], real) == 0) {
      free(real);
      return tribo_xml_fail(node, "%s is included a second time", path);
    }
  }
  if (seen->count == INCLUDES_MAX) {
    free(real);
    return tribo_xml_fail(node, "more than %d files are included", INCLUDES_MAX - 1);
  }
  seen->path[seen->count++] = real;
  return TRIBO_OK;
}

// Puts the content of included files in the place of the include elements.
static TriboStatus expand(Mjcf* m, const XmlNode* root, XmlNode* parent, Included* seen, int depth) {
  if (depth > 400) {
    return tribo_xml_fail(parent, "elements are nested too deep");
  }
  for (XmlNode** at = &parent->children; *at != NULL;) {
    XmlNode* node = *at;
    if (strcmp(node->name, "include") != 0) {
      TRIBO_TRY(expand(m, root, node, seen, depth + 1));
      at = &node->next;
      continue;
    }
    const char* file = tribo_xml_get(node, "file");
    if (file == NULL) {
      return tribo_xml_fail(node, "<include> needs a file");
    }
    // names are relative to the main file, or else to the one that includes
    const char* path = tribo_xml_beside(&m->pool, root, NULL, file);
    if (path != NULL && access(path, F_OK) != 0) {
      path = tribo_xml_beside(&m->pool, node, NULL, file);
    }
    XmlNode* other;
    if (path == NULL) {
      return tribo_mjcf_no_memory();
    }
    TRIBO_TRY(remember(seen, node, path));
    TRIBO_TRY(tribo_xml_read(&m->pool, path, &other));
    XmlNode* last = other->children;
    if (last == NULL) {
      *at = node->next;
      continue;
    }
    for (XmlNode* child = other->children; child != NULL; child = child->next) {
      child->parent = parent;
      last = child;
    }
    last->next = node->next;
    *at = other->children;
  }
  return TRIBO_OK;
}

static TriboStatus read_compiler(Mjcf* m, const XmlNode* node) {
  MjCompiler* compiler = &m->scopes[node->scope].compiler;
  TRIBO_TRY(tribo_mjcf_apply(m, node, &tribo_mjcf_compiler, compiler));
  if (compiler->coordinate != NULL && strcmp(compiler->coordinate, "local") != 0) {
    return tribo_xml_fail(node, "coordinate=\"%.20s\": only local coordinates are known", compiler->coordinate);
  }
  return TRIBO_OK;
}

static void set_scope(XmlNode* node, int scope) {
  node->scope = scope;
  for (XmlNode* child = node->children; child != NULL; child = child->next) {
    set_scope(child, scope);
  }
}

static TriboStatus open_scope(Mjcf* m, XmlNode* root) {
  TRIBO_TRY(MJ_GROW(m, scope));
  m->scopes[m->nscope] = (MjScope){.root = root,
                                   .compiler = {.autolimits = 1,
                                                .degree = 1,
                                                .inertia_from_geom = MJ_AUTO,
                                                .euler_order = "xyz",
                                                .total_mass = -1,
                                                .group_range = {0, 5}}};
  set_scope(root, m->nscope++);
  for (const XmlNode* node = root->children; node != NULL; node = node->next) {
    if (strcmp(node->name, "compiler") == 0) {
      TRIBO_TRY(read_compiler(m, node));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_read_tree(Mjcf* m, const XmlNode* from, const char* path, XmlNode** root) {
  Included seen = {.count = 0};
  TriboStatus status = remember(&seen, from, path);
  if (status == TRIBO_OK) {
    status = tribo_xml_read(&m->pool, path, root);
  }
  if (status == TRIBO_OK) {
    status = strcmp((*root)->name, "mujoco") == 0
                 ? expand(m, *root, *root, &seen, 0)
                 : tribo_xml_fail(*root, "<%.40s>: an MJCF file has the root <mujoco>", (*root)->name);
  }
  for (int i = 0; i < seen.count; ++i) {
    free(seen.path[i]);
  }
  return status == TRIBO_OK ? open_scope(m, *root) : status;
}

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
    return TRIBO_OK;  // brought by grafts
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
  TRIBO_TRY(tribo_mjcf_graft(m));
  TRIBO_TRY(tribo_mjcf_classes(m));
  TRIBO_TRY(read_sections(m));
  if (m->nmissing > 0) {
    return tribo_fail(TRIBO_NOT_FOUND, "%s: %d mesh%s not found: %s", m->root->path, m->nmissing,
                      m->nmissing == 1 ? " was" : "es were", m->missing);
  }
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
