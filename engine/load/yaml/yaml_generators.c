// Generators: many bodies from a few lines. Each knows, for body i, its place and its layer and column; rules turn
// these into a mass, a size factor and a colour.
#include <stdio.h>
#include <string.h>

#include "math3.h"
#include "random.h"
#include "yaml_scene.h"

enum { MOST_BODIES = 100000 };
typedef enum CountBy { BY_INDEX, BY_LAYER, BY_COLUMN } CountBy;

typedef struct Rule {
  RuleDef def;
  const double* list;  // values that take turns
  int nlist;
  int at;  // the last count asked for, and its value
  double value;
} Rule;

typedef struct Generator {
  Loader* loader;
  const YamlNode* node;
  GeneratorDef def;
  TriboShapeDef* shapes;  // take turns
  int nshape;
  int has_mass;
  Rule mass, size;
  double (*colors)[4];
  int ncolor, colors_by;
  TriboRandom random;
  int made;
} Generator;

// ---- rules

static TriboStatus read_list(Generator* g, const YamlNode* node, const char* key, Rule* rule) {
  double* list = tribo_pool_alloc(&g->loader->pool, (size_t)node->count, sizeof *list);
  if (list == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  if (node->kind != YAML_LIST || node->count == 0) {
    return tribo_yaml_fail(node, "%s: %s; accepted is a list of numbers", key, tribo_yaml_what(node));
  }
  for (int i = 0; i < node->count; ++i) {
    TRIBO_TRY(tribo_yaml_real(&node->items[i], key, &list[i]));
  }
  rule->list = list;
  rule->nlist = node->count;
  return TRIBO_OK;
}

static TriboStatus read_rule(Generator* g, const char* key, Rule* rule, int* found) {
  const YamlNode* node = tribo_yaml_get(g->node, key);
  const Section* section = tribo_format_section("rule");
  section->init(&rule->def);
  *found = node != NULL;
  if (node == NULL) {
    return TRIBO_OK;
  }
  if (node->kind == YAML_SCALAR) {
    return tribo_yaml_real(node, key, &rule->def.first);
  }
  if (node->kind == YAML_LIST) {
    return read_list(g, node, key, rule);
  }
  TRIBO_TRY(tribo_format_read(&g->loader->pool, node, section, NULL, &rule->def));
  const YamlNode* list = tribo_yaml_get(node, "list");
  if (list != NULL) {
    TRIBO_TRY(read_list(g, list, key, rule));
  }
  if (isnan(rule->def.min) != isnan(rule->def.max) || rule->def.min > rule->def.max) {
    return tribo_yaml_fail(node, "%s: min and max go together, min ≤ max", key);
  }
  return TRIBO_OK;
}

static double rule_value(Rule* rule, TriboRandom* random, const int count[3]) {
  int n = count[rule->def.by];
  if (rule->nlist > 0) {
    return rule->list[n % rule->nlist];
  }
  if (!isnan(rule->def.min)) {
    return tribo_random(random, rule->def.min, rule->def.max);
  }
  // repeated multiplication, so that powers of ten stay exact as long as they can; on from the last one
  if (n < rule->at || rule->at == 0) {
    rule->at = 0;
    rule->value = rule->def.first;
  }
  for (; rule->at < n; ++rule->at) {
    rule->value = rule->value * rule->def.factor + rule->def.step;
  }
  return rule->value;
}

static TriboStatus read_colors(Generator* g) {
  const YamlNode* node = tribo_yaml_get(g->node, "colors");
  if (node != NULL && node->kind == YAML_MAP) {
    RuleDef by = {0};
    TRIBO_TRY(tribo_format_read(&g->loader->pool, node, tribo_format_section("rule"), NULL, &by));
    g->colors_by = by.by;
    node = tribo_yaml_get(node, "list");
  }
  if (node == NULL) {
    return TRIBO_OK;
  }
  if (node->kind != YAML_LIST || node->count == 0) {
    return tribo_yaml_fail(node, "colors: %s; accepted is a list of colours [r, g, b]", tribo_yaml_what(node));
  }
  g->colors = tribo_pool_alloc(&g->loader->pool, (size_t)node->count, sizeof *g->colors);
  if (g->colors == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  for (int i = 0; i < node->count; ++i) {
    g->colors[i][3] = 1;
    TRIBO_TRY(tribo_yaml_reals(&node->items[i], "colors", g->colors[i], 3));
  }
  g->ncolor = node->count;
  return TRIBO_OK;
}

// ---- reading

static TriboStatus read_shapes(Generator* g, const char* section) {
  const YamlNode* list = strcmp(section, "pile") == 0 ? tribo_yaml_get(g->node, "shapes") : NULL;
  int n = list != NULL && list->kind == YAML_LIST ? list->count : 1;
  if (list != NULL && (list->kind != YAML_LIST || n == 0)) {
    return tribo_yaml_fail(list, "shapes: %s; accepted is a list of shapes", tribo_yaml_what(list));
  }
  g->shapes = tribo_pool_alloc(&g->loader->pool, (size_t)n, sizeof *g->shapes);
  if (g->shapes == NULL) {
    return tribo_no_memory("to read %s", g->node->path);
  }
  int found = 1;
  if (list != NULL) {
    for (int i = 0; i < n; ++i) {
      TRIBO_TRY(tribo_load_shape(g->loader, &list->items[i], "shape", NULL, &g->shapes[i], &found));
    }
  } else {
    TRIBO_TRY(tribo_load_shape(g->loader, g->node, "inner_shape", section, &g->shapes[0], &found));
  }
  g->nshape = n;
  return found ? TRIBO_OK : tribo_yaml_fail(g->node, "section %s needs a shape (box: [1, 1, 1])", section);
}

static TriboStatus read_generator(Loader* l, const YamlNode* node, const char* name, Generator* g) {
  *g = (Generator){.loader = l, .node = node};
  const Section* section = tribo_format_section(name);
  section->init(&g->def);
  g->def.name = name;
  TRIBO_TRY(tribo_format_read(&l->pool, node, section, tribo_format_section("inner_shape"), &g->def));
  g->random.state = (uint64_t)g->def.seed + (uint64_t)g->loader->seed;
  int unused;
  TRIBO_TRY(read_rule(g, "mass", &g->mass, &g->has_mass));
  TRIBO_TRY(read_rule(g, "size", &g->size, &unused));
  TRIBO_TRY(read_colors(g));
  TRIBO_TRY(read_shapes(g, name));
  return tribo_load_at(l, node);
}

// ---- making

// One body at a place; count: its index, layer and column.
static TriboStatus make_body(Generator* g, const double position[3], double yaw, int layer, int column) {
  const int count[3] = {g->made, layer, column};
  Loader* l = g->loader;
  char name[128];
  snprintf(name, sizeof name, "%.100s%d", g->def.name, g->made);
  TriboBodyDef body = tribo_body_default();
  body.name = name;
  tribo_add3(body.position, g->def.origin, position);
  tribo_copy3(body.velocity, g->def.velocity);
  tribo_quat_exp(body.quaternion, (const double[3]){0, 0, yaw});
  if (g->has_mass) {
    body.mass = rule_value(&g->mass, &g->random, count);
  }
  TriboShapeDef shape = g->shapes[g->made % g->nshape];
  double factor = rule_value(&g->size, &g->random, count);
  for (int i = 0; i < 3; ++i) {
    shape.size[i] *= factor;
    shape.scale[i] *= factor;
  }
  if (g->ncolor > 0) {
    memcpy(shape.color, g->colors[count[g->colors_by] % g->ncolor], sizeof shape.color);
  }
  int id;
  TRIBO_TRY(tribo_load_added(l, tribo_scene_add_body(l->scene, &body, &id)));
  TRIBO_TRY(tribo_load_added(l, tribo_scene_add_shape(l->scene, id, &shape, NULL)));
  g->made++;
  return TRIBO_OK;
}

TriboStatus tribo_load_grid(Loader* l, const YamlNode* node) {
  Generator g;
  TRIBO_TRY(read_generator(l, node, "grid", &g));
  int n[3];
  for (int i = 0; i < 3; ++i) {
    n[i] = (int)g.def.count[i];
    if (!(g.def.count[i] >= 1 && g.def.count[i] <= MOST_BODIES) || n[i] != g.def.count[i]) {
      return tribo_yaml_fail(tribo_yaml_get(node, "count"), "count: %g must be a whole number in [1, %d]",
                             g.def.count[i], MOST_BODIES);
    }
  }
  if ((double)n[0] * n[1] * n[2] > MOST_BODIES) {
    return tribo_yaml_fail(node, "count: %d × %d × %d bodies are more than %d", n[0], n[1], n[2], MOST_BODIES);
  }
  // x runs fastest, layers come last; centred in x and y
  for (int z = 0; z < n[2]; ++z) {
    for (int y = 0; y < n[1]; ++y) {
      for (int x = 0; x < n[0]; ++x) {
        const double p[3] = {(x - 0.5 * (n[0] - 1)) * g.def.spacing[0], (y - 0.5 * (n[1] - 1)) * g.def.spacing[1],
                             z * g.def.spacing[2]};
        TRIBO_TRY(make_body(&g, p, 0, z, x));
      }
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_load_wall(Loader* l, const YamlNode* node) {
  Generator g;
  TRIBO_TRY(read_generator(l, node, "wall", &g));
  for (int row = 0; row < g.def.rows; ++row) {
    int n = g.def.rows - row;
    for (int k = 0; k < n; ++k) {
      const double p[3] = {(k - 0.5 * (n - 1)) * g.def.pitch, 0, row * g.def.layer};
      TRIBO_TRY(make_body(&g, p, 0, row, k));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_load_pile(Loader* l, const YamlNode* node) {
  Generator g;
  TRIBO_TRY(read_generator(l, node, "pile", &g));
  int columns = g.def.columns;
  for (int i = 0; i < g.def.number; ++i) {
    int layer = i / (columns * columns), x = i % columns, y = i / columns % columns;
    double jx = tribo_random(&g.random, -g.def.jitter, g.def.jitter);
    double jy = tribo_random(&g.random, -g.def.jitter, g.def.jitter);
    double yaw = tribo_random(&g.random, 0, 3.141592653589793);
    const double p[3] = {(x - 0.5 * (columns - 1)) * g.def.pitch + jx, (y - 0.5 * (columns - 1)) * g.def.pitch + jy,
                         layer * g.def.layer};
    TRIBO_TRY(make_body(&g, p, yaw, layer, x));
  }
  return TRIBO_OK;
}
