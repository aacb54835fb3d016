// A tree of distance fields in a YAML scene: the key that names what it is, and its numbers or parts.
#include <string.h>

#include "collision.h"
#include "math3.h"
#include "yaml_scene.h"

static const struct {
  const char* key;
  TriboSdfKind kind;
  int numbers;          // of its size, where it is a list or a number
  const char* section;  // where it is a mapping
} words[] = {
    {"sphere", TRIBO_SDF_SPHERE, 1, NULL},     {"box", TRIBO_SDF_BOX, 3, NULL},
    {"capsule", TRIBO_SDF_CAPSULE, 2, NULL},   {"cylinder", TRIBO_SDF_CYLINDER, 2, NULL},
    {"cone", TRIBO_SDF_CONE, 2, NULL},         {"ellipsoid", TRIBO_SDF_ELLIPSOID, 3, NULL},
    {"plane", TRIBO_SDF_PLANE, 0, NULL},       {"prism", TRIBO_SDF_PRISM, 0, "prism"},
    {"thread", TRIBO_SDF_THREAD, 0, "thread"}, {"revolved", TRIBO_SDF_REVOLVED, 0, "revolved"},
    {"union", TRIBO_SDF_UNION, 0, NULL},       {"intersection", TRIBO_SDF_INTERSECTION, 0, NULL},
    {"subtract", TRIBO_SDF_SUBTRACT, 0, NULL}, {"offset", TRIBO_SDF_OFFSET, 0, "offset"},
};
enum { WORDS = sizeof words / sizeof *words, DEEPEST = 16 };

static TriboStatus read_part(Loader* l, const YamlNode* node, int depth, TriboSdfDef* def);

// The polyline of a revolved solid.
static TriboStatus read_profile(Loader* l, const YamlNode* revolved, TriboSdfDef* def) {
  const YamlNode* node = tribo_yaml_get(revolved, "points");
  if (node == NULL || node->kind != YAML_LIST || node->count < 2) {
    return tribo_yaml_fail(node != NULL ? node : revolved, "revolved: needs `points`, a list of two [r, z] or more");
  }
  double* points = tribo_pool_alloc(&l->pool, (size_t)node->count, 2 * sizeof *points);
  if (points == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int i = 0; i < node->count; ++i) {
    TRIBO_TRY(tribo_yaml_reals(&node->items[i], "points", points + 2 * i, 2));
    if (!(points[2 * i] >= 0)) {
      return tribo_yaml_fail(&node->items[i], "points: r = %g m is below 0", points[2 * i]);
    }
  }
  def->profile = points;
  def->nprofile = node->count;
  return TRIBO_OK;
}

static TriboStatus read_parts(Loader* l, const char* key, const YamlNode* node, int depth, TriboSdfDef* def) {
  if (node->kind != YAML_LIST || node->count < 2) {
    return tribo_yaml_fail(node, "%s: %s; accepted is a list of two parts or more", key, tribo_yaml_what(node));
  }
  TriboSdfDef* parts = tribo_pool_alloc(&l->pool, (size_t)node->count, sizeof *parts);
  if (parts == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int i = 0; i < node->count; ++i) {
    TRIBO_TRY(read_part(l, &node->items[i], depth + 1, &parts[i]));
  }
  def->parts = parts;
  def->npart = node->count;
  return TRIBO_OK;
}

static TriboStatus read_offset(Loader* l, const YamlNode* node, int depth, TriboSdfDef* def) {
  const YamlNode* of = tribo_yaml_get(node, "of");
  TriboSdfDef* part = tribo_pool_alloc(&l->pool, 1, sizeof *part);
  if (of == NULL) {
    return tribo_yaml_fail(node, "offset: needs `of`, a part");
  }
  if (part == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  TRIBO_TRY(read_part(l, of, depth + 1, part));
  def->parts = part;
  def->npart = 1;
  return TRIBO_OK;
}

static TriboStatus read_normal(const YamlNode* part, const YamlNode* node, TriboSdfDef* def) {
  double n[3];
  TRIBO_TRY(tribo_yaml_reals(node, "plane", n, 3));
  return part == NULL ? TRIBO_OK : tribo_yaml_plane(part, node, n, def->quaternion);
}

// What stands behind the word number `i`.
static TriboStatus read_value(Loader* l, int i, const YamlNode* part, const YamlNode* node, int depth,
                              TriboSdfDef* def) {
  def->kind = words[i].kind;
  if (depth > DEEPEST) {
    return tribo_yaml_fail(node, "%s: a field is deeper than %d", words[i].key, DEEPEST);
  }
  if (words[i].numbers > 0) {
    return tribo_yaml_reals(node, words[i].key, def->size, words[i].numbers);
  }
  if (words[i].section != NULL) {
    TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section(words[i].section), NULL, def));
  }
  TriboStatus status = TRIBO_OK;
  switch (def->kind) {
    case TRIBO_SDF_PLANE: return read_normal(part, node, def);
    case TRIBO_SDF_REVOLVED: status = read_profile(l, node, def); break;
    case TRIBO_SDF_OFFSET: status = read_offset(l, node, depth, def); break;
    case TRIBO_SDF_UNION:
    case TRIBO_SDF_INTERSECTION:
    case TRIBO_SDF_SUBTRACT: return read_parts(l, words[i].key, node, depth, def);
    default: break;
  }
  // (its numbers belong together: the complaint names the whole)
  TRIBO_TRY(status);
  status = tribo_col_sdf_check(def);
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s:%d:%d: ", node->path, node->line, node->column);
  }
  return status;
}

static TriboStatus read_part(Loader* l, const YamlNode* node, int depth, TriboSdfDef* def) {
  *def = tribo_sdf_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("part"), NULL, def));
  const char* first = NULL;
  for (int i = 0; i < WORDS; ++i) {
    const YamlNode* value = tribo_yaml_get(node, words[i].key);
    if (value != NULL && first != NULL) {
      return tribo_yaml_fail(value, "'%s' beside '%s': a part is one of them", words[i].key, first);
    }
    if (value != NULL) {
      first = words[i].key;
      TRIBO_TRY(read_value(l, i, node, value, depth, def));
    }
  }
  return first != NULL ? TRIBO_OK
                       : tribo_yaml_fail(node,
                                         "a part needs one of sphere, box, capsule, cylinder, cone, ellipsoid, plane, "
                                         "prism, thread, revolved, union, intersection, subtract, offset");
}

TriboStatus tribo_load_sdf(Loader* l, const char* key, const YamlNode* node, TriboShapeDef* def) {
  TriboSdfDef* sdf = tribo_pool_alloc(&l->pool, 1, sizeof *sdf);
  if (sdf == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  *sdf = tribo_sdf_default();
  def->sdf = sdf;
  for (int i = 0; i < WORDS; ++i) {
    if (strcmp(words[i].key, key) == 0) {
      return read_value(l, i, NULL, node, 0, sdf);
    }
  }
  return TRIBO_INTERNAL;
}
