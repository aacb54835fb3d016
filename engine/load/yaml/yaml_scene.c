// Reading a YAML scene: every section of the format turned into calls of the public scene interface, so that a file can
// say nothing a program could not.
#include "yaml_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math3.h"
#include "urdf.h"

static TriboStatus add_shape(Loader* l, const YamlNode* node, int body) {
  TriboShapeDef def;
  int found = 0;
  TRIBO_TRY(tribo_load_shape(l, node, "shape", NULL, &def, &found));
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_shape(l->scene, body, &def, NULL));
}

// ---- sections, one function each

// The solver by its name, or as a map of its name and settings.
static TriboStatus load_solver(Loader* l, const YamlNode* node, TriboWorldDef* world) {
  const YamlNode* id = node->kind == YAML_MAP ? tribo_yaml_get(node, "id") : node;
  const char* text = world->solver;
  if (id != NULL) {
    TRIBO_TRY(tribo_yaml_text(id, "solver", &text));
    snprintf(world->solver, sizeof world->solver, "%.31s", text);
  }
  const TriboSolverInfo* info = tribo_solver_find(text);
  if (info == NULL) {
    return tribo_yaml_fail(id != NULL ? id : node, "solver: there is no solver '%.40s'; tribo solvers lists them",
                           text);
  }
  if (node->kind == YAML_MAP) {
    for (int i = 0; i < node->count; ++i) {
      const YamlNode* key = tribo_yaml_key(node, i);
      if (strcmp(key->text, "id") == 0) {
        continue;
      }
      double value;
      char name[96];
      TRIBO_TRY(tribo_yaml_real(tribo_yaml_value(node, i), key->text, &value));
      snprintf(name, sizeof name, "solver.%.80s", key->text);
      TRIBO_TRY(tribo_load_at(l, key));
      // a trial on a solver of that kind tells unknown settings and wrong values at this line
      TriboSolver* trial;
      TRIBO_TRY(tribo_solver_create(text, &trial));
      TriboStatus status = tribo_solver_set(trial, key->text, value);
      tribo_solver_destroy(trial);
      TRIBO_TRY(tribo_load_added(l, status));
      TRIBO_TRY(tribo_load_added(l, tribo_scene_set(l->scene, name, value)));
    }
  }
  return TRIBO_OK;
}

static TriboStatus load_world(Loader* l, const YamlNode* node) {
  TriboWorldDef def = l->scene->world;
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("world"), NULL, &def));
  const YamlNode* solver = tribo_yaml_get(node, "solver");
  if (solver != NULL) {
    TRIBO_TRY(load_solver(l, solver, &def));
  }
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_set_world(l->scene, &def));
}

static TriboStatus load_materials(Loader* l, const YamlNode* node) {
  if (node->kind != YAML_MAP) {
    return tribo_yaml_fail(node, "materials: %s; accepted is a mapping from names to materials", tribo_yaml_what(node));
  }
  for (int i = 0; i < node->count; ++i) {
    TriboMaterialDef def = tribo_material_default();
    TRIBO_TRY(tribo_format_read(&l->pool, tribo_yaml_value(node, i), tribo_format_section("material"), NULL, &def));
    def.name = tribo_yaml_key(node, i)->text;
    TRIBO_TRY(tribo_load_at(l, tribo_yaml_key(node, i)));
    TRIBO_TRY(tribo_load_added(l, tribo_scene_add_material(l->scene, &def, NULL)));
  }
  return TRIBO_OK;
}

static TriboStatus load_textures(Loader* l, const YamlNode* node) {
  if (node->kind != YAML_MAP) {
    return tribo_yaml_fail(node, "textures: %s; accepted is a mapping from names to textures", tribo_yaml_what(node));
  }
  for (int i = 0; i < node->count; ++i) {
    TriboTextureDef def = tribo_texture_default();
    TRIBO_TRY(tribo_format_read(&l->pool, tribo_yaml_value(node, i), tribo_format_section("texture"), NULL, &def));
    def.name = tribo_yaml_key(node, i)->text;
    TRIBO_TRY(tribo_load_at(l, tribo_yaml_key(node, i)));
    TRIBO_TRY(tribo_load_added(l, tribo_scene_add_texture(l->scene, &def, NULL)));
  }
  return TRIBO_OK;
}

static TriboStatus load_pair(Loader* l, const YamlNode* node) {
  TriboMaterialDef def = tribo_material_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("pair"), NULL, &def));
  const YamlNode* between = tribo_yaml_get(node, "between");
  if (between == NULL || between->kind != YAML_LIST || between->count != 2) {
    return tribo_yaml_fail(between != NULL ? between : node, "between: accepted is a list of two material names");
  }
  const char *a, *b;
  TRIBO_TRY(tribo_yaml_text(&between->items[0], "between", &a));
  TRIBO_TRY(tribo_yaml_text(&between->items[1], "between", &b));
  TRIBO_TRY(tribo_load_at(l, between));
  return tribo_load_added(l, tribo_scene_add_pair(l->scene, a, b, &def));
}

static TriboStatus load_static(Loader* l, const YamlNode* node) {
  return add_shape(l, node, TRIBO_WORLD);
}

// A body with its shapes.
static TriboStatus load_body(Loader* l, const YamlNode* node) {
  TriboBodyDef def = tribo_body_default();
  const Section *body = tribo_format_section("body"), *inner = tribo_format_section("inner_shape");
  TRIBO_TRY(tribo_format_read(&l->pool, node, body, inner, &def));
  int id;
  TRIBO_TRY(tribo_load_at(l, node));
  TRIBO_TRY(tribo_load_added(l, tribo_scene_add_body(l->scene, &def, &id)));
  // a single shape in the body itself, or a list of them
  TriboShapeDef shape;
  int found = 0;
  TRIBO_TRY(tribo_load_shape(l, node, "inner_shape", "body", &shape, &found));
  const YamlNode* shapes = tribo_yaml_get(node, "shapes");
  if (found && shapes != NULL) {
    return tribo_yaml_fail(shapes, "shapes: the body has a shape of its own already; put all of them in the list");
  }
  if (found) {
    TRIBO_TRY(tribo_load_at(l, node));
    return tribo_load_added(l, tribo_scene_add_shape(l->scene, id, &shape, NULL));
  }
  if (shapes != NULL && shapes->kind != YAML_LIST) {
    return tribo_yaml_fail(shapes, "shapes: %s; accepted is a list of shapes", tribo_yaml_what(shapes));
  }
  if (shapes != NULL) {
    for (int i = 0; i < shapes->count; ++i) {
      TRIBO_TRY(add_shape(l, &shapes->items[i], id));
    }
  }
  return TRIBO_OK;
}

// The id of the body that a key names.
static TriboStatus body_of(Loader* l, const YamlNode* parent, const char* key, int* id) {
  const YamlNode* node = tribo_yaml_get(parent, key);
  const char* name;
  if (node == NULL) {
    return tribo_yaml_fail(parent, "a joint needs a %s", key);
  }
  TRIBO_TRY(tribo_yaml_text(node, key, &name));
  *id = strcmp(name, "world") == 0 ? TRIBO_WORLD : tribo_names_find(&l->scene->body_names, name);
  if (*id < 0 && strcmp(name, "world") != 0) {
    const char* near = tribo_names_nearest(&l->scene->body_names, name);
    return tribo_yaml_fail(node, "%s: there is no body '%.60s'%s%s%s", key, name, near ? "; did you mean '" : "",
                           near ? near : "", near ? "'?" : "");
  }
  return TRIBO_OK;
}

static TriboStatus load_visual(Loader* l, const YamlNode* node) {
  TriboShapeDef def;
  int found = 0, body = TRIBO_WORLD;
  TRIBO_TRY(tribo_load_shape(l, node, "visual", NULL, &def, &found));
  if (tribo_yaml_get(node, "body") != NULL) {
    TRIBO_TRY(body_of(l, node, "body", &body));
  }
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_visual(l->scene, body, &def, NULL));
}

static TriboStatus load_joint(Loader* l, const YamlNode* node) {
  TriboJointDef def = tribo_joint_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("joint"), NULL, &def));
  TRIBO_TRY(body_of(l, node, "parent", &def.parent));
  TRIBO_TRY(body_of(l, node, "child", &def.child));
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_joint(l->scene, &def, NULL));
}

static TriboStatus load_motor(Loader* l, const YamlNode* node) {
  TriboMotorDef def = tribo_motor_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("motor"), NULL, &def));
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_motor(l->scene, &def, NULL));
}

static TriboStatus load_closure(Loader* l, const YamlNode* node) {
  TriboClosureDef def = tribo_closure_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("closure"), NULL, &def));
  const char** bodies[] = {&def.body_a, &def.body_b};
  for (int i = 0; i < 2; ++i) {
    *bodies[i] = *bodies[i] != NULL && strcmp(*bodies[i], "world") == 0 ? NULL : *bodies[i];
  }
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_closure(l->scene, &def, NULL));
}

// A closure of an included file goes; its name stays taken.
static TriboStatus load_open(Loader* l, const YamlNode* node) {
  TriboScene* scene = l->scene;
  const char* name;
  int at = 0;
  TRIBO_TRY(tribo_yaml_text(node, "open", &name));
  while (at < scene->nclosure && strcmp(scene->closures[at].name, name) != 0) {
    at++;
  }
  if (at == scene->nclosure) {
    return tribo_yaml_fail(node, "open: there is no closure '%.60s' in the included files", name);
  }
  const size_t rest = (size_t)(--scene->nclosure - at);
  memmove(&scene->closures[at], &scene->closures[at + 1], rest * sizeof *scene->closures);
  memmove(&scene->closure_where[at], &scene->closure_where[at + 1], rest * sizeof *scene->closure_where);
  return TRIBO_OK;
}

static TriboStatus load_limits(Loader* l, const YamlNode* node) {
  if (node->kind != YAML_MAP) {
    return tribo_yaml_fail(node, "limits: %s; accepted is a mapping from joints to [lower, upper]",
                           tribo_yaml_what(node));
  }
  for (int i = 0; i < node->count; ++i) {
    const YamlNode *key = tribo_yaml_key(node, i), *value = tribo_yaml_value(node, i);
    const int id = tribo_names_find(&l->scene->joint_names, key->text);
    double limits[2];
    if (id < 0) {
      return tribo_yaml_fail(key, "limits: there is no joint '%.60s' in the included files", key->text);
    }
    TRIBO_TRY(tribo_yaml_reals(value, key->text, limits, 2));
    if (!(limits[0] <= limits[1])) {
      return tribo_yaml_fail(value, "limits: lower = %g must not be above upper = %g", limits[0], limits[1]);
    }
    l->scene->joints[id].lower = limits[0];
    l->scene->joints[id].upper = limits[1];
  }
  return TRIBO_OK;
}

static TriboStatus load_robot(Loader* l, const YamlNode* node) {
  TriboRobotDef def = tribo_robot_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("robot"), NULL, &def));
  TRIBO_TRY(tribo_load_at(l, node));
  TRIBO_TRY(tribo_load_added(l, tribo_scene_add_robot(l->scene, &def)));
  TRIBO_TRY(tribo_load_added(l, tribo_urdf_check(l->scene->robots[l->scene->nrobot - 1].urdf, l->log)));
  const char* robot = l->scene->robots[l->scene->nrobot - 1].name;
  const YamlNode* joints = tribo_yaml_get(node, "joints");
  if (joints != NULL && joints->kind != YAML_MAP) {
    return tribo_yaml_fail(joints, "joints: %s; accepted is a mapping from joint names to positions",
                           tribo_yaml_what(joints));
  }
  if (joints != NULL) {
    for (int i = 0; i < joints->count; ++i) {
      double position;
      char name[256];
      TRIBO_TRY(tribo_yaml_real(tribo_yaml_value(joints, i), tribo_yaml_key(joints, i)->text, &position));
      snprintf(name, sizeof name, "%s/%.160s", robot, tribo_yaml_key(joints, i)->text);
      TRIBO_TRY(tribo_load_at(l, tribo_yaml_key(joints, i)));
      TRIBO_TRY(tribo_load_added(l, tribo_scene_set_joint(l->scene, name, position, 0)));
    }
  }
  return TRIBO_OK;
}

static TriboStatus load_exclusion(Loader* l, const YamlNode* node) {
  const char *a, *b;
  if (node->kind != YAML_LIST || node->count != 2) {
    return tribo_yaml_fail(node, "exclude: %s; accepted is a list of two body names", tribo_yaml_what(node));
  }
  TRIBO_TRY(tribo_yaml_text(&node->items[0], "exclude", &a));
  TRIBO_TRY(tribo_yaml_text(&node->items[1], "exclude", &b));
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_exclude(l->scene, a, b));
}

static TriboStatus load_force(Loader* l, const YamlNode* node) {
  TriboForceDef def = tribo_force_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("force"), NULL, &def));
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_force(l->scene, &def));
}

static TriboStatus load_record(Loader* l, const YamlNode* node) {
  TriboRecordDef def = {.every = 1};
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("record"), NULL, &def));
  const YamlNode* columns = tribo_yaml_get(node, "columns");
  if (columns != NULL) {
    if (columns->kind != YAML_LIST || columns->count == 0) {
      return tribo_yaml_fail(columns, "columns: %s; accepted is a list of quantities", tribo_yaml_what(columns));
    }
    const char** names = tribo_pool_alloc(&l->pool, (size_t)columns->count, sizeof *names);
    if (names != NULL) {
      for (int i = 0; i < columns->count; ++i) {
        TRIBO_TRY(tribo_yaml_text(&columns->items[i], "columns", &names[i]));
      }
    }
    def.quantities = names;
    def.nquantity = names != NULL ? columns->count : 0;
  }
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_record(l->scene, &def));
}

static TriboStatus load_camera(Loader* l, const YamlNode* node) {
  TriboCameraDef def = tribo_camera_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("camera"), NULL, &def));
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_camera(l->scene, &def));
}

static TriboStatus load_expect(Loader* l, const YamlNode* node) {
  TriboExpectDef def = tribo_expect_default();
  TRIBO_TRY(tribo_format_read(&l->pool, node, tribo_format_section("expect"), NULL, &def));
  TRIBO_TRY(tribo_load_at(l, node));
  return tribo_load_added(l, tribo_scene_add_expect(l->scene, &def));
}

// ---- the file

static TriboStatus load_include(Loader* l, const YamlNode* node, int depth) {
  const char* path;
  TRIBO_TRY(tribo_format_path(&l->pool, node, "include", &path));
  if (depth + 1 >= LOAD_DEEPEST_INCLUDE) {
    return tribo_yaml_fail(node, "include: files that include files more than %d deep", LOAD_DEEPEST_INCLUDE);
  }
  TriboStatus status = tribo_load_file(l, path, depth + 1);
  if (status == TRIBO_IO) {
    return tribo_yaml_fail(node, "include: %s", tribo_last_error());
  }
  return status;
}

// The sections in the order in which they may refer to each other, whatever their order in the file.
static const struct {
  const char* key;
  TriboStatus (*load)(Loader* l, const YamlNode* node);
  int list;  // 1: the key holds a list, and load reads one item
} parts[] = {
    {"open", load_open, 1},
    {"limits", load_limits, 0},
    {"world", load_world, 0},
    {"materials", load_materials, 0},
    {"pairs", load_pair, 1},
    {"textures", load_textures, 0},
    {"static", load_static, 1},
    {"bodies", load_body, 1},
    {"grid", tribo_load_grid, 1},
    {"wall", tribo_load_wall, 1},
    {"pile", tribo_load_pile, 1},
    {"visuals", load_visual, 1},
    {"joints", load_joint, 1},
    {"tendons", tribo_load_tendon, 1},
    {"actuators", tribo_load_actuator, 1},
    {"motors", load_motor, 1},
    {"closures", load_closure, 1},
    {"robots", load_robot, 1},
    {"exclude", load_exclusion, 1},
    {"forces", load_force, 1},
    {"record", load_record, 1},
    {"cameras", load_camera, 1},
    {"expect", load_expect, 1},
    {"controllers", tribo_load_controller, 1},
    {"sensors", tribo_load_sensor, 1},
    {"states", tribo_load_state, 1},
    {"start", tribo_load_start, 0},
};

// The sections of a file in the order in which they refer to each other.
static TriboStatus load_root(Loader* l, const YamlNode* root, int depth) {
  TRIBO_TRY(tribo_format_read(&l->pool, root, tribo_format_section("scene"), NULL, NULL));
  const YamlNode* include = tribo_yaml_get(root, "include");
  if (include != NULL && include->kind == YAML_LIST) {
    for (int i = 0; i < include->count; ++i) {
      TRIBO_TRY(load_include(l, &include->items[i], depth));
    }
  } else if (include != NULL) {
    TRIBO_TRY(load_include(l, include, depth));
  }
  for (size_t p = 0; p < sizeof parts / sizeof *parts; ++p) {
    const YamlNode* node = tribo_yaml_get(root, parts[p].key);
    if (node == NULL) {
      continue;
    }
    if (!parts[p].list) {
      TRIBO_TRY(parts[p].load(l, node));
      continue;
    }
    if (node->kind != YAML_LIST || node->count == 0) {
      return tribo_yaml_fail(node, "%s: %s; accepted is a list with at least one item", parts[p].key,
                             node->kind == YAML_LIST ? "an empty list" : tribo_yaml_what(node));
    }
    for (int i = 0; i < node->count; ++i) {
      TRIBO_TRY(parts[p].load(l, &node->items[i]));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_yaml_load(Loader* l, const char* path, int depth) {
  // a file that is still being read includes itself
  char* real = realpath(path, NULL);
  if (real != NULL) {
    for (int i = 0; i < depth; ++i) {
      if (strcmp(l->open[i], real) == 0) {
        free(real);
        return tribo_fail(TRIBO_INVALID, "%s: includes itself", path);
      }
    }
  }
  l->open[depth] = real != NULL ? tribo_pool_strdup(&l->pool, real) : "";
  free(real);
  YamlNode root;
  TRIBO_TRY(tribo_yaml_read(&l->pool, path, &root));
  tribo_yaml_rename(l->log, "", &root);
  return load_root(l, &root, depth);
}
