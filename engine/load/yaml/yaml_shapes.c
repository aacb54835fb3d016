// A shape of a YAML scene: its kind is the key that names its size.
#include <string.h>

#include "math3.h"
#include "yaml_scene.h"

static const struct {
  const char* key;
  TriboShapeKind kind;
  int numbers;
} shape_words[] = {
    {"sphere", TRIBO_SHAPE_SPHERE, 1},    {"box", TRIBO_SHAPE_BOX, 3},
    {"capsule", TRIBO_SHAPE_CAPSULE, 2},  {"cylinder", TRIBO_SHAPE_CYLINDER, 2},
    {"cone", TRIBO_SHAPE_CONE, 2},        {"ellipsoid", TRIBO_SHAPE_ELLIPSOID, 3},
    {"hull", TRIBO_SHAPE_HULL, 0},        {"mesh", TRIBO_SHAPE_HULL, 0},
    {"plane", TRIBO_SHAPE_HALFSPACE, 0},  {"heightfield", TRIBO_SHAPE_HEIGHTFIELD, 2},
    {"thread", TRIBO_SHAPE_SDF, 0},       {"revolved", TRIBO_SHAPE_SDF, 0},
    {"prism", TRIBO_SHAPE_SDF, 0},        {"union", TRIBO_SHAPE_SDF, 0},
    {"intersection", TRIBO_SHAPE_SDF, 0}, {"subtract", TRIBO_SHAPE_SDF, 0},
    {"offset", TRIBO_SHAPE_SDF, 0},
};
enum { SHAPE_WORDS = sizeof shape_words / sizeof *shape_words };

static TriboStatus read_points(Loader* l, const YamlNode* node, TriboShapeDef* def) {
  if (node->kind != YAML_LIST) {
    return tribo_yaml_fail(node, "hull: %s; accepted is a list of points [x, y, z]", tribo_yaml_what(node));
  }
  double* points = tribo_pool_alloc(&l->pool, (size_t)node->count, 3 * sizeof *points);
  if (points == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int i = 0; i < node->count; ++i) {
    TRIBO_TRY(tribo_yaml_reals(&node->items[i], "hull", points + 3 * i, 3));
  }
  def->points = points;
  def->npoint = node->count;
  return TRIBO_OK;
}

static TriboStatus read_mesh(Loader* l, const YamlNode* shape, const YamlNode* node, TriboShapeDef* def) {
  const YamlNode* as = tribo_yaml_get(shape, "as");
  const char* word = "hull";
  if (as != NULL) {
    TRIBO_TRY(tribo_yaml_text(as, "as", &word));
  }
  def->split_components = strcmp(word, "components") == 0;
  if (!def->split_components && strcmp(word, "hull") != 0) {
    return tribo_yaml_fail(as, "as: '%.20s'; accepted are hull and components: a concave mesh cannot collide as it is",
                           word);
  }
  return tribo_format_path(&l->pool, node, "mesh", &def->mesh);
}

TriboStatus tribo_yaml_plane(const YamlNode* shape, const YamlNode* node, double n[3], double quaternion[4]) {
  double t1[3], t2[3];
  if (!(tribo_normalize3(n) > 1e-9) || !tribo_finite(n, 3)) {
    return tribo_yaml_fail(node, "plane: the normal must have a length above 0");
  }
  if (tribo_yaml_get(shape, "quaternion") != NULL || tribo_yaml_get(shape, "rpy") != NULL) {
    return tribo_yaml_fail(node, "plane: its normal is its orientation; quaternion and rpy have no place here");
  }
  tribo_tangents(t1, t2, n);
  const double R[9] = {t1[0], t2[0], n[0], t1[1], t2[1], n[1], t1[2], t2[2], n[2]};
  tribo_quat_from_mat(quaternion, R);
  return TRIBO_OK;
}

// The frame whose z axis is the normal.
static TriboStatus read_plane(const YamlNode* shape, const YamlNode* node, TriboShapeDef* def) {
  double n[3];
  TRIBO_TRY(tribo_yaml_reals(node, "plane", n, 3));
  return tribo_yaml_plane(shape, node, n, def->quaternion);
}

// Which of sphere … plane stands in the mapping. With `optional`, none is fine and *found says so.
static TriboStatus read_kind(Loader* l, const YamlNode* node, TriboShapeDef* def, int* found) {
  const char* first = NULL;
  for (int i = 0; i < SHAPE_WORDS; ++i) {
    const YamlNode* value = tribo_yaml_get(node, shape_words[i].key);
    if (value == NULL) {
      continue;
    }
    if (first != NULL) {
      return tribo_yaml_fail(value, "'%s' beside '%s': a shape is one of them", shape_words[i].key, first);
    }
    first = shape_words[i].key;
    def->kind = shape_words[i].kind;
    if (shape_words[i].numbers > 0) {
      TRIBO_TRY(tribo_yaml_reals(value, first, def->size, shape_words[i].numbers));
      for (int k = 0; k < shape_words[i].numbers; ++k) {
        if (!(def->size[k] > 0 && def->size[k] <= 1e6)) {
          return tribo_yaml_fail(value, "%s: %g m is outside the accepted range (0, 1e6]", first, def->size[k]);
        }
      }
      if (def->kind == TRIBO_SHAPE_HEIGHTFIELD) {
        TRIBO_TRY(tribo_load_heights(l, node, value, def));
      }
    } else if (def->kind == TRIBO_SHAPE_SDF) {
      TRIBO_TRY(tribo_load_sdf(l, first, value, def));
    } else if (strcmp(first, "hull") == 0) {
      TRIBO_TRY(read_points(l, value, def));
    } else if (strcmp(first, "mesh") == 0) {
      TRIBO_TRY(read_mesh(l, node, value, def));
    } else {
      TRIBO_TRY(read_plane(node, value, def));
    }
  }
  *found = first != NULL;
  return TRIBO_OK;
}

TriboStatus tribo_load_shape(Loader* l, const YamlNode* node, const char* section, const char* other,
                             TriboShapeDef* def, int* found) {
  *def = tribo_shape_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section(section),
                              other != NULL ? tribo_format_section(other) : NULL, def));
  TRIBO_TRY(read_kind(l, node, def, found));
  if (!*found && other == NULL) {
    return tribo_yaml_fail(node,
                           "a shape needs one of sphere, box, capsule, cylinder, cone, ellipsoid, hull, mesh, plane, "
                           "heightfield, thread, revolved, prism, union, intersection, subtract, offset");
  }
  return TRIBO_OK;
}
