// Building a scene call by call: its life, the world, materials, and what acts on and looks at it. Each call checks its
// def in full, so that a scene never holds a wrong one and the message names the field, the value and what would be
// accepted.
#include "scene_add.h"

#include <string.h>

#include "math3.h"
#include "settings.h"

// ---- life -----------------------------------------------------------------------------------------------------------

TriboStatus tribo_scene_create(TriboScene** out) {
  TRIBO_REQUIRE(out);
  *out = NULL;
  TriboScene* scene = tribo_alloc(1, sizeof *scene);
  if (scene == NULL) {
    return tribo_no_memory("for the scene");
  }
  scene->world = tribo_world_default();
  // the material that shapes have when they name none
  TriboMaterialDef material = tribo_material_default();
  material.name = "default";
  TriboStatus status = tribo_scene_add_material(scene, &material, NULL);
  if (status != TRIBO_OK) {
    tribo_scene_destroy(scene);
    return status;
  }
  *out = scene;
  return TRIBO_OK;
}

void tribo_scene_destroy(TriboScene* scene) {
  if (scene == NULL) {
    return;
  }
#define X(type, name)         \
  tribo_free(scene->name##s); \
  tribo_free(scene->name##_where);
  SCENE_ARRAYS(X)
#undef X
  tribo_names_clear(&scene->material_names);
  tribo_names_clear(&scene->body_names);
  tribo_names_clear(&scene->joint_names);
  tribo_names_clear(&scene->closure_names);
  tribo_names_clear(&scene->robot_names);
  tribo_names_clear(&scene->tendon_names);
  tribo_names_clear(&scene->actuator_names);
  tribo_names_clear(&scene->controller_names);
  tribo_names_clear(&scene->state_names);
  tribo_names_clear(&scene->sensor_names);
  tribo_names_clear(&scene->texture_names);
  tribo_pool_clear(&scene->pool);
  tribo_free(scene);
}

// ---- world ----------------------------------------------------------------------------------------------------------

#define ROW(...) TRIBO_SETTING_ROW(TriboWorldDef, __VA_ARGS__)
static const TriboSetting world_settings[] = {TRIBO_WORLD_SETTINGS(ROW)};
#undef ROW
enum { WORLD_SETTINGS = sizeof world_settings / sizeof world_settings[0] };

const TriboSetting* tribo_world_settings(int* count) {
  *count = WORLD_SETTINGS;
  return world_settings;
}

TriboWorldDef tribo_world_default(void) {
  TriboWorldDef def = {.gravity = {0, 0, -9.81}, .scheme = TRIBO_SCHEME_VARIATIONAL, .solver = "auto"};
  tribo_settings_default(world_settings, WORLD_SETTINGS, &def);
  return def;
}

const TriboWorldDef* tribo_scene_world(const TriboScene* scene) {
  return &scene->world;
}

TriboStatus tribo_scene_set_world(TriboScene* scene, const TriboWorldDef* def) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(tribo_check_finite("world", "gravity", def->gravity, 3));
  TRIBO_TRY(tribo_check_finite("world", "wind", def->wind, 3));
  TRIBO_TRY(tribo_settings_validate(world_settings, WORLD_SETTINGS, def, "world"));
  if ((unsigned)def->scheme >= TRIBO_SCHEME_COUNT) {
    return tribo_fail(TRIBO_INVALID, "world: scheme = %d; accepted are variational and euler", (int)def->scheme);
  }
  if (memchr(def->solver, '\0', sizeof def->solver) == NULL || tribo_solver_find(def->solver) == NULL) {
    const char* ids[64];
    int n = tribo_solver_count() < 64 ? tribo_solver_count() : 64;
    for (int i = 0; i < n; ++i) {
      ids[i] = tribo_solver_info(i)->id;
    }
    char word[TRIBO_SOLVER_ID + 1] = {0};
    memcpy(word, def->solver, sizeof def->solver);
    const char* near = tribo_nearest_word(word, ids, n);
    return tribo_fail(TRIBO_NOT_FOUND, "world: there is no solver '%s'%s%s%s; tribo solvers lists them", word,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  scene->world = *def;
  return TRIBO_OK;
}

// ---- materials ------------------------------------------------------------------------------------------------------

TriboMaterialDef tribo_material_default(void) {
  return (TriboMaterialDef){.friction = 0.5, .solimp = TRIBO_SOLIMP};
}

static TriboStatus check_material(const char* who, const TriboMaterialDef* def) {
  TRIBO_TRY(tribo_check_range(who, "friction", def->friction, 0, 1e6));
  TRIBO_TRY(tribo_check_range(who, "friction2", def->friction2, 0, 1e6));
  if (def->friction2 > 0 && !(def->friction > 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: friction2 = %g needs a friction above 0 along the grain", who,
                      def->friction2);
  }
  TRIBO_TRY(tribo_check_range(who, "torsion", def->torsion, 0, 1e6));
  TRIBO_TRY(tribo_check_range(who, "rolling", def->rolling, 0, 1e6));
  TRIBO_TRY(tribo_check_range(who, "restitution", def->restitution, 0, 1));
  TRIBO_TRY(tribo_check_range(who, "stiffness", def->stiffness, 0, 1e300));
  TRIBO_TRY(tribo_check_range(who, "damping", def->damping, 0, 1e300));
  TRIBO_TRY(tribo_check_softness(who, def->solref, def->solimp));
  if (def->solref[0] != 0 && def->stiffness > 0) {
    return tribo_fail(TRIBO_INVALID, "%s: a stiffness and solref; accepted is one of them", who);
  }
  if (def->damping > 0 && def->stiffness == 0) {
    return tribo_fail(TRIBO_INVALID, "%s: damping = %g needs a stiffness above 0 (0 is rigid)", who, def->damping);
  }
  return TRIBO_OK;
}

TriboStatus tribo_scene_add_material(TriboScene* scene, const TriboMaterialDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_material("material", def));
  // "default" exists from the start and may be given new values
  int known = def->name != NULL && strcmp(def->name, "default") == 0 && scene->nmaterial > 0;
  int at = known ? 0 : scene->nmaterial;
  TriboMaterialDef copy = *def;
  if (known) {
    copy.name = scene->materials[0].name;
  } else {
    GROW(scene, material);
    TRIBO_TRY(tribo_scene_take_name(scene, &scene->material_names, "material", def->name, at, &copy.name));
    scene->nmaterial++;
  }
  scene->materials[at] = copy;
  if (id != NULL) {
    *id = at;
  }
  return TRIBO_OK;
}

// `material.NAME.KEY`: one number of a material; the name may hold dots itself.
static TriboStatus set_material(TriboScene* scene, const char* key, double value) {
  static const struct {
    const char* key;
    size_t offset;
  } numbers[] = {
#define NUMBER(field) {#field, offsetof(TriboMaterialDef, field)}
      NUMBER(friction),    NUMBER(friction2), NUMBER(torsion), NUMBER(rolling),
      NUMBER(restitution), NUMBER(stiffness), NUMBER(damping),
#undef NUMBER
  };
  const char *name = key + strlen("material."), *dot = strrchr(name, '.');
  if (dot != NULL) {
    for (int i = 0; i < scene->nmaterial; ++i) {
      TriboMaterialDef changed = scene->materials[i];
      if (strlen(changed.name) != (size_t)(dot - name) || strncmp(changed.name, name, (size_t)(dot - name)) != 0) {
        continue;
      }
      for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k) {
        if (strcmp(numbers[k].key, dot + 1) == 0) {
          *(double*)((char*)&changed + numbers[k].offset) = value;
          TRIBO_TRY(check_material(key, &changed));
          scene->materials[i] = changed;
          return TRIBO_OK;
        }
      }
    }
  }
  return tribo_fail(TRIBO_NOT_FOUND,
                    "there is no '%s'; accepted is material.NAME.KEY with a material of the scene and friction, "
                    "friction2, torsion, rolling, restitution, stiffness or damping",
                    key);
}

TriboStatus tribo_scene_set(TriboScene* scene, const char* key, double value) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(key);
  if (strncmp(key, "material.", 9) == 0) {
    return set_material(scene, key, value);
  }
  if (strncmp(key, "solver.", 7) != 0) {
    return tribo_settings_set(world_settings, WORLD_SETTINGS, &scene->world, "world", key, value);
  }
  // checked against the solver itself when the model is made: the solver may still be chosen
  GROW(scene, solver_value);
  char* name = tribo_pool_strdup(&scene->pool, key + 7);
  if (name == NULL) {
    return tribo_no_memory("for the scene");
  }
  scene->solver_values[scene->nsolver_value++] = (SceneValue){name, value, 0};
  return TRIBO_OK;
}

TriboStatus tribo_scene_add_pair(TriboScene* scene, const char* material_a, const char* material_b,
                                 const TriboMaterialDef* def) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(material_a);
  TRIBO_REQUIRE(material_b);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_material("pair", def));
  int a = tribo_names_find(&scene->material_names, material_a);
  int b = tribo_names_find(&scene->material_names, material_b);
  if (a < 0 || b < 0) {
    return tribo_not_found(&scene->material_names, "material", a < 0 ? material_a : material_b);
  }
  GROW(scene, pair);
  ScenePair* pair = &scene->pairs[scene->npair++];
  *pair = (ScenePair){a < b ? a : b, a < b ? b : a, *def};
  pair->def.name = NULL;
  return TRIBO_OK;
}

TriboTextureDef tribo_texture_default(void) {
  return (TriboTextureDef){.color = {0.8, 0.8, 0.8}, .color2 = {0.5, 0.5, 0.5}, .width = 512, .height = 512};
}

TriboStatus tribo_scene_add_texture(TriboScene* scene, const TriboTextureDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  for (int i = 0; i < 3; ++i) {
    TRIBO_TRY(tribo_check_range("texture", "color", def->color[i], 0, 1));
    TRIBO_TRY(tribo_check_range("texture", "color2", def->color2[i], 0, 1));
    TRIBO_TRY(tribo_check_range("texture", "mark_color", def->pattern_mark_color[i], 0, 1));
  }
  TRIBO_TRY(tribo_check_range("texture", "width", def->width, 1, 8192));
  TRIBO_TRY(tribo_check_range("texture", "height", def->height, 1, 8192));
  GROW(scene, texture);
  TriboTextureDef copy = *def;
  copy.file = tribo_pool_strdup(&scene->pool, def->file);
  TRIBO_TRY(tribo_scene_take_name(scene, &scene->texture_names, "texture", def->name, scene->ntexture, &copy.name));
  if (def->file != NULL && copy.file == NULL) {
    return tribo_no_memory("for the scene");
  }
  if (id != NULL) {
    *id = scene->ntexture;
  }
  scene->textures[scene->ntexture++] = copy;
  return TRIBO_OK;
}

// ---- forces, recorders, cameras, expectations -----------------------------------------------------------------------

TriboForceDef tribo_force_default(void) {
  return (TriboForceDef){.end = INFINITY};
}

TriboStatus tribo_scene_add_force(TriboScene* scene, const TriboForceDef* def) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  if ((def->body == NULL) == (def->joint == NULL)) {
    return tribo_fail(TRIBO_INVALID, "force: it must name either a body or a joint");
  }
  TRIBO_TRY(tribo_check_finite("force", "force", def->force, 3));
  TRIBO_TRY(tribo_check_finite("force", "torque", def->torque, 3));
  TRIBO_TRY(tribo_check_finite("force", "effort", &def->effort, 1));
  TRIBO_TRY(tribo_check_finite("force", "start", &def->start, 1));
  if (!(def->end > def->start)) {
    return tribo_fail(TRIBO_INVALID, "force: end = %g s must be after start = %g s", def->end, def->start);
  }
  if (def->ramp && !isfinite(def->end)) {
    return tribo_fail(TRIBO_INVALID, "force: a ramp needs an end, at which all of it is there");
  }
  GROW(scene, force);
  TriboForceDef copy = *def;
  copy.body = tribo_pool_strdup(&scene->pool, def->body);
  copy.joint = tribo_pool_strdup(&scene->pool, def->joint);
  if (copy.body == NULL && copy.joint == NULL) {
    return tribo_no_memory("for the scene");
  }
  scene->forces[scene->nforce++] = copy;
  return TRIBO_OK;
}

TriboStatus tribo_scene_add_record(TriboScene* scene, const TriboRecordDef* def) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  if (def->file == NULL || def->file[0] == '\0') {
    return tribo_fail(TRIBO_INVALID, "record: it needs a file");
  }
  if (def->every < 1) {
    return tribo_fail(TRIBO_INVALID, "record: every = %d must be at least 1 step", def->every);
  }
  GROW(scene, record);
  TriboRecordDef copy = *def;
  copy.file = tribo_pool_strdup(&scene->pool, def->file);
  const char** quantities = tribo_pool_alloc(&scene->pool, (size_t)def->nquantity, sizeof *quantities);
  if (copy.file == NULL || quantities == NULL) {
    return tribo_no_memory("for the scene");
  }
  for (int i = 0; i < def->nquantity; ++i) {
    quantities[i] = tribo_pool_strdup(&scene->pool, def->quantities[i]);
    if (quantities[i] == NULL) {
      return tribo_no_memory("for the scene");
    }
  }
  copy.quantities = quantities;
  scene->records[scene->nrecord++] = copy;
  return TRIBO_OK;
}

TriboCameraDef tribo_camera_default(void) {
  return (TriboCameraDef){.eye = {4, -6, 3}, .target = {0, 0, 1}, .up = {0, 0, 1}, .fov = 0.8};
}

TriboStatus tribo_scene_add_camera(TriboScene* scene, const TriboCameraDef* def) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(tribo_check_finite("camera", "eye", def->eye, 3));
  TRIBO_TRY(tribo_check_finite("camera", "target", def->target, 3));
  TRIBO_TRY(tribo_check_finite("camera", "up", def->up, 3));
  TRIBO_TRY(tribo_check_range("camera", "fov", def->fov, 0.01, 3.1));
  if (def->follow && def->body == NULL) {
    return tribo_fail(TRIBO_INVALID, "camera: it needs a body to follow");
  }
  GROW(scene, camera);
  TriboCameraDef copy = *def;
  copy.body = tribo_pool_strdup(&scene->pool, def->body);
  copy.aim = tribo_pool_strdup(&scene->pool, def->aim);
  copy.name = def->name != NULL ? tribo_pool_strdup(&scene->pool, def->name)
                                : tribo_pool_format(&scene->pool, "camera%d", scene->ncamera);
  if (copy.name == NULL || (def->body != NULL && copy.body == NULL) || (def->aim != NULL && copy.aim == NULL)) {
    return tribo_no_memory("for the scene");
  }
  scene->cameras[scene->ncamera++] = copy;
  return TRIBO_OK;
}

TriboExpectDef tribo_expect_default(void) {
  return (TriboExpectDef){.to = INFINITY, .value = NAN, .min = NAN, .max = NAN};
}

TriboStatus tribo_scene_add_expect(TriboScene* scene, const TriboExpectDef* def) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  if (def->quantity == NULL) {
    return tribo_fail(TRIBO_INVALID, "expect: it needs a quantity");
  }
  if (isnan(def->value) && isnan(def->min) && isnan(def->max)) {
    return tribo_fail(TRIBO_INVALID, "expect %s: it needs a value, a min or a max", def->quantity);
  }
  if (isinf(def->value) || !(def->abs >= 0) || !(def->rel >= 0) || isinf(def->abs) || isinf(def->rel)) {
    return tribo_fail(TRIBO_INVALID, "expect %s: value = %g, abs = %g, rel = %g must be finite, abs and rel ≥ 0",
                      def->quantity, def->value, def->abs, def->rel);
  }
  if (!(def->to >= def->from)) {
    return tribo_fail(TRIBO_INVALID, "expect %s: to = %g s is before from = %g s", def->quantity, def->to, def->from);
  }
  GROW(scene, expect);
  TriboExpectDef copy = *def;
  copy.quantity = tribo_pool_strdup(&scene->pool, def->quantity);
  copy.of = tribo_pool_strdup(&scene->pool, def->of);
  if (copy.quantity == NULL || (def->of != NULL && copy.of == NULL)) {
    return tribo_no_memory("for the scene");
  }
  scene->expects[scene->nexpect++] = copy;
  return TRIBO_OK;
}
