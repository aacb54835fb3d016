// Building a scene call by call. Each call checks its def in full, so that a scene never holds a wrong one and the
// message names the field, the value and what would be accepted.
#include "scene.h"

#include <stdio.h>
#include <string.h>

#include "collision.h"
#include "math3.h"
#include "settings.h"

// ---- small checks ---------------------------------------------------------------------------------------------------

static TriboStatus check_finite(const char* who, const char* field, const double* x, int n) {
  for (int i = 0; i < n; ++i) {
    if (!isfinite(x[i])) {
      return tribo_fail(TRIBO_INVALID, "%s: %s[%d] = %g must be finite", who, field, i, x[i]);
    }
  }
  return TRIBO_OK;
}

static TriboStatus check_range(const char* who, const char* field, double x, double min, double max) {
  if (!(x >= min && x <= max)) {
    return tribo_fail(TRIBO_INVALID, "%s: %s = %g is outside the accepted range [%g, %g]", who, field, x, min, max);
  }
  return TRIBO_OK;
}

static TriboStatus check_quaternion(const char* who, const double q[4]) {
  TRIBO_TRY(check_finite(who, "quaternion", q, 4));
  double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(n > 0.5 && n < 2)) {
    return tribo_fail(TRIBO_INVALID, "%s: quaternion has length %g; it must be a rotation (length 1)", who, n);
  }
  return TRIBO_OK;
}

static TriboStatus no_memory(void) {
  return tribo_fail(TRIBO_NOMEM, "no memory for the scene");
}

// Room for one more item of an array of the scene, and where it comes from.
#define GROW(scene, name)                                                                                  \
  do {                                                                                                     \
    TRIBO_TRY(TRIBO_APPEND(&(scene)->name##s, &(scene)->name##_capacity, (scene)->n##name, 1));            \
    TRIBO_TRY(TRIBO_APPEND(&(scene)->name##_where, &(scene)->name##_where_capacity, (scene)->n##name, 1)); \
    (scene)->name##_where[(scene)->n##name] = (scene)->where;                                              \
  } while (0)

// A copy of the user's name, or "<prefix><n>"; refuses empty, overlong and taken names.
static TriboStatus take_name(TriboScene* scene, TriboNames* names, const char* who, const char* name, int n,
                             const char** out) {
  char* copy = name != NULL ? tribo_pool_strdup(&scene->pool, name) : tribo_pool_format(&scene->pool, "%s%d", who, n);
  if (copy == NULL) {
    return no_memory();
  }
  if (copy[0] == '\0' || strlen(copy) > 80) {
    return tribo_fail(TRIBO_INVALID, "%s: name '%.90s' must have 1 to 80 characters", who, copy);
  }
  if (tribo_names_find(names, copy) >= 0) {
    return tribo_fail(TRIBO_INVALID, "%s: the name '%s' is taken", who, copy);
  }
  TRIBO_TRY(tribo_names_add(names, copy, n));
  *out = copy;
  return TRIBO_OK;
}

static TriboStatus not_found(const TriboNames* names, const char* what, const char* name) {
  const char* near = tribo_names_nearest(names, name);
  return tribo_fail(TRIBO_NOT_FOUND, "there is no %s '%s'%s%s%s", what, name, near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
}

// ---- life -----------------------------------------------------------------------------------------------------------

TriboStatus tribo_scene_create(TriboScene** out) {
  TRIBO_REQUIRE(out);
  *out = NULL;
  TriboScene* scene = tribo_alloc(1, sizeof *scene);
  if (scene == NULL) {
    return no_memory();
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
  TriboWorldDef def = {.gravity = {0, 0, -9.81}, .scheme = TRIBO_SCHEME_MIDPOINT, .solver = "auto"};
  tribo_settings_default(world_settings, WORLD_SETTINGS, &def);
  return def;
}

const TriboWorldDef* tribo_scene_world(const TriboScene* scene) {
  return &scene->world;
}

TriboStatus tribo_scene_set_world(TriboScene* scene, const TriboWorldDef* def) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_finite("world", "gravity", def->gravity, 3));
  TRIBO_TRY(tribo_settings_validate(world_settings, WORLD_SETTINGS, def, "world"));
  if (def->scheme != TRIBO_SCHEME_MIDPOINT && def->scheme != TRIBO_SCHEME_EULER) {
    return tribo_fail(TRIBO_INVALID, "world: scheme = %d; accepted are midpoint and euler", (int)def->scheme);
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

TriboStatus tribo_scene_set(TriboScene* scene, const char* key, double value) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(key);
  if (strncmp(key, "solver.", 7) != 0) {
    return tribo_settings_set(world_settings, WORLD_SETTINGS, &scene->world, "world", key, value);
  }
  // checked against the solver itself when the model is made: the solver may still be chosen
  GROW(scene, solver_value);
  char* name = tribo_pool_strdup(&scene->pool, key + 7);
  if (name == NULL) {
    return no_memory();
  }
  scene->solver_values[scene->nsolver_value++] = (SceneValue){name, value, 0};
  return TRIBO_OK;
}

// ---- materials ------------------------------------------------------------------------------------------------------

TriboMaterialDef tribo_material_default(void) {
  return (TriboMaterialDef){.friction = 0.5};
}

static TriboStatus check_material(const char* who, const TriboMaterialDef* def) {
  TRIBO_TRY(check_range(who, "friction", def->friction, 0, 1e6));
  TRIBO_TRY(check_range(who, "friction2", def->friction2, 0, 1e6));
  if (def->friction2 > 0 && !(def->friction > 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: friction2 = %g needs a friction above 0 along the grain", who,
                      def->friction2);
  }
  TRIBO_TRY(check_range(who, "torsion", def->torsion, 0, 1e6));
  TRIBO_TRY(check_range(who, "rolling", def->rolling, 0, 1e6));
  TRIBO_TRY(check_range(who, "restitution", def->restitution, 0, 1));
  TRIBO_TRY(check_range(who, "stiffness", def->stiffness, 0, 1e300));
  TRIBO_TRY(check_range(who, "damping", def->damping, 0, 1e300));
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
    TRIBO_TRY(take_name(scene, &scene->material_names, "material", def->name, at, &copy.name));
    scene->nmaterial++;
  }
  scene->materials[at] = copy;
  if (id != NULL) {
    *id = at;
  }
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
    return not_found(&scene->material_names, "material", a < 0 ? material_a : material_b);
  }
  GROW(scene, pair);
  ScenePair* pair = &scene->pairs[scene->npair++];
  *pair = (ScenePair){a < b ? a : b, a < b ? b : a, *def};
  pair->def.name = NULL;
  return TRIBO_OK;
}

// ---- bodies and shapes ----------------------------------------------------------------------------------------------

TriboBodyDef tribo_body_default(void) {
  return (TriboBodyDef){
      .quaternion = {0, 0, 0, 1}, .mass = NAN, .com = {NAN, NAN, NAN}, .inertia = {NAN, NAN, NAN, NAN, NAN, NAN}};
}

// A symmetric matrix given as xx yy zz xy xz yz: all leading minors positive.
static int positive_definite(const double s[6]) {
  double xx = s[0], yy = s[1], zz = s[2], xy = s[3], xz = s[4], yz = s[5];
  double full[9] = {xx, xy, xz, xy, yy, yz, xz, yz, zz};
  return xx > 0 && xx * yy - xy * xy > 0 && tribo_det33(full) > 0;
}

TriboStatus tribo_scene_add_body(TriboScene* scene, const TriboBodyDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  const char* who = def->name != NULL ? def->name : "body";
  TRIBO_TRY(check_finite(who, "position", def->position, 3));
  TRIBO_TRY(check_quaternion(who, def->quaternion));
  TRIBO_TRY(check_finite(who, "velocity", def->velocity, 3));
  TRIBO_TRY(check_finite(who, "omega", def->omega, 3));
  if (!isnan(def->mass) && !(def->mass > 0 && def->mass <= 1e100)) {
    return tribo_fail(TRIBO_INVALID, "%s: mass = %g kg must be in (0, 1e100]", who, def->mass);
  }
  if (!isnan(def->com[0])) {
    TRIBO_TRY(check_finite(who, "com", def->com, 3));
  }
  if (!isnan(def->inertia[0])) {
    TRIBO_TRY(check_finite(who, "inertia", def->inertia, 6));
    if (isnan(def->mass)) {
      return tribo_fail(TRIBO_INVALID, "%s: an inertia needs a mass beside it", who);
    }
    if (!positive_definite(def->inertia)) {
      return tribo_fail(TRIBO_INVALID, "%s: inertia [%g %g %g %g %g %g] must be positive definite", who,
                        def->inertia[0], def->inertia[1], def->inertia[2], def->inertia[3], def->inertia[4],
                        def->inertia[5]);
    }
  }
  GROW(scene, body);
  TriboBodyDef copy = *def;
  TRIBO_TRY(take_name(scene, &scene->body_names, "body", def->name, scene->nbody, &copy.name));
  tribo_quat_normalize(copy.quaternion);
  if (id != NULL) {
    *id = scene->nbody;
  }
  scene->bodys[scene->nbody++] = copy;
  return TRIBO_OK;
}

TriboShapeDef tribo_shape_default(void) {
  return (TriboShapeDef){.kind = TRIBO_SHAPE_BOX,
                         .scale = {1, 1, 1},
                         .quaternion = {0, 0, 0, 1},
                         .density = 1000,
                         .color = {0.62, 0.66, 0.72, 1},
                         .group = 1,
                         .mask = ~0u};
}

// How many entries of size a shape uses.
static int size_count(TriboShapeKind kind) {
  switch (kind) {
    case TRIBO_SHAPE_SPHERE: return 1;
    case TRIBO_SHAPE_BOX:
    case TRIBO_SHAPE_ELLIPSOID: return 3;
    case TRIBO_SHAPE_CAPSULE:
    case TRIBO_SHAPE_CYLINDER:
    case TRIBO_SHAPE_CONE:
    case TRIBO_SHAPE_HEIGHTFIELD: return 2;
    default: return 0;
  }
}

static TriboStatus check_shape(const TriboShapeDef* def, int body) {
  const char* who = def->name != NULL ? def->name : "shape";
  if ((int)def->kind < 0 || def->kind >= TRIBO_SHAPE_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: kind = %d is no shape", who, (int)def->kind);
  }
  for (int i = 0; i < size_count(def->kind); ++i) {
    if (!(def->size[i] > 0 && def->size[i] <= 1e6)) {
      return tribo_fail(TRIBO_INVALID, "%s: size[%d] = %g m must be in (0, 1e6]", who, i, def->size[i]);
    }
  }
  if (def->kind == TRIBO_SHAPE_HULL && (def->mesh != NULL) == (def->npoint > 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: a hull needs either points or a mesh file", who);
  }
  if (def->npoint < 0 || (def->npoint > 0 && def->points == NULL)) {
    return tribo_fail(TRIBO_INVALID, "%s: npoint = %d without points", who, def->npoint);
  }
  if (def->kind >= TRIBO_SHAPE_HALFSPACE && body != TRIBO_WORLD) {
    return tribo_fail(TRIBO_INVALID, "%s: a %s is static and cannot belong to a body", who,
                      tribo_col_shape_name(def->kind));
  }
  if (def->kind == TRIBO_SHAPE_HEIGHTFIELD &&
      (def->heights == NULL || def->nx < 2 || def->ny < 2 || (int64_t)def->nx * def->ny > 1 << 24)) {
    return tribo_fail(TRIBO_INVALID, "%s: a height field needs heights, nx × ny = %d × %d of them, 2 × 2 … 2^24", who,
                      def->nx, def->ny);
  }
  TRIBO_TRY(check_finite(who, "points", def->points, 3 * def->npoint));
  TRIBO_TRY(check_finite(who, "scale", def->scale, 3));
  TRIBO_TRY(check_finite(who, "position", def->position, 3));
  TRIBO_TRY(check_quaternion(who, def->quaternion));
  TRIBO_TRY(check_finite(who, "surface", def->surface, 3));
  TRIBO_TRY(check_finite(who, "grain", def->grain, 3));
  TRIBO_TRY(check_range(who, "density", def->density, 0, 1e9));
  for (int i = 0; i < 4; ++i) {
    TRIBO_TRY(check_range(who, "color", def->color[i], 0, 1));
  }
  return TRIBO_OK;
}

// One hull per part of the mesh; id receives the first.
static TriboStatus add_pieces(TriboScene* scene, int body, const TriboShapeDef* def, int* id) {
  double* points;
  int *first, npiece;
  TRIBO_TRY(tribo_col_mesh_pieces(def->mesh, def->scale, &points, &first, &npiece));
  TriboStatus status = TRIBO_OK;
  for (int k = 0; k < npiece && status == TRIBO_OK; ++k) {
    char name[128];
    TriboShapeDef piece = *def;
    piece.pieces = 0;
    piece.mesh = NULL;
    piece.points = points + 3 * (size_t)first[k];
    piece.npoint = first[k + 1] - first[k];
    if (def->name != NULL) {
      snprintf(name, sizeof name, "%.100s.%d", def->name, k);
      piece.name = name;
    }
    status = tribo_scene_add_shape(scene, body, &piece, k == 0 ? id : NULL);
  }
  tribo_free(points);
  tribo_free(first);
  return status;
}

TriboStatus tribo_scene_add_shape(TriboScene* scene, int body, const TriboShapeDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  if (body != TRIBO_WORLD && (body < 0 || body >= scene->nbody)) {
    return tribo_fail(TRIBO_INVALID, "tribo_scene_add_shape: body = %d; accepted are TRIBO_WORLD and 0 … %d", body,
                      scene->nbody - 1);
  }
  TRIBO_TRY(check_shape(def, body));
  if (def->pieces) {
    return def->mesh != NULL ? add_pieces(scene, body, def, id)
                             : tribo_fail(TRIBO_INVALID, "%s: only a mesh has pieces", def->name ? def->name : "shape");
  }
  const char* material = def->material != NULL ? def->material : "default";
  if (tribo_names_find(&scene->material_names, material) < 0) {
    return not_found(&scene->material_names, "material", material);
  }
  GROW(scene, shape);
  TriboShapeDef copy = *def;
  copy.name = def->name != NULL
                  ? tribo_pool_strdup(&scene->pool, def->name)
                  : tribo_pool_format(&scene->pool, "%s.shape%d",
                                      body == TRIBO_WORLD ? "world" : scene->bodys[body].name, scene->nshape);
  copy.material = tribo_pool_strdup(&scene->pool, material);
  copy.mesh = tribo_pool_strdup(&scene->pool, def->mesh);
  copy.points = tribo_pool_copy(&scene->pool, def->points, (size_t)def->npoint, 3 * sizeof(double));
  const int field = def->kind == TRIBO_SHAPE_HEIGHTFIELD;
  if (field) {
    copy.heights = tribo_pool_copy(&scene->pool, def->heights, (size_t)(def->nx * def->ny), sizeof(double));
  }
  if ((field && copy.heights == NULL) || copy.name == NULL || copy.material == NULL || copy.points == NULL ||
      (def->mesh != NULL && copy.mesh == NULL)) {
    return no_memory();
  }
  tribo_quat_normalize(copy.quaternion);
  if (id != NULL) {
    *id = scene->nshape;
  }
  scene->shapes[scene->nshape++] = (SceneShape){copy, body};
  return TRIBO_OK;
}

// ---- joints ---------------------------------------------------------------------------------------------------------

TriboJointDef tribo_joint_default(void) {
  return (TriboJointDef){.kind = TRIBO_JOINT_REVOLUTE,
                         .parent = TRIBO_WORLD,
                         .child = TRIBO_WORLD,
                         .axis = {0, 0, 1},
                         .axis2 = {1, 0, 0},
                         .lower = -INFINITY,
                         .upper = INFINITY,
                         .effort = INFINITY};
}

static TriboStatus check_joint(const TriboScene* scene, const TriboJointDef* def) {
  const char* who = def->name != NULL ? def->name : "joint";
  if ((int)def->kind < 0 || def->kind >= TRIBO_JOINT_FREE) {
    return tribo_fail(TRIBO_INVALID, "%s: kind = %d is no joint between two bodies", who, (int)def->kind);
  }
  if (def->child < 0 || def->child >= scene->nbody || def->parent < TRIBO_WORLD || def->parent >= scene->nbody ||
      def->parent == def->child) {
    return tribo_fail(
        TRIBO_INVALID,
        "%s: parent = %d, child = %d; accepted are two different bodies of 0 … %d, the parent may be the world", who,
        def->parent, def->child, scene->nbody - 1);
  }
  for (int i = 0; i < scene->njoint; ++i) {
    if (scene->joints[i].child == def->child) {
      return tribo_fail(TRIBO_INVALID, "%s: body '%s' already hangs on joint '%s'", who, scene->bodys[def->child].name,
                        scene->joints[i].name);
    }
  }
  TRIBO_TRY(check_finite(who, "anchor", def->anchor, 3));
  TRIBO_TRY(check_finite(who, "axis", def->axis, 3));
  TRIBO_TRY(check_finite(who, "axis2", def->axis2, 3));
  if (!(tribo_norm3(def->axis) > 1e-9) || !(tribo_norm3(def->axis2) > 1e-9)) {
    return tribo_fail(TRIBO_INVALID, "%s: axis [%g %g %g] must not be zero", who, def->axis[0], def->axis[1],
                      def->axis[2]);
  }
  TRIBO_TRY(check_finite(who, "pitch", &def->pitch, 1));
  TRIBO_TRY(check_range(who, "armature", def->armature, 0, 1e100));
  TRIBO_TRY(check_range(who, "damping", def->damping, 0, 1e100));
  TRIBO_TRY(check_range(who, "friction", def->friction, 0, 1e100));
  TRIBO_TRY(check_range(who, "stiffness", def->stiffness, 0, 1e100));
  TRIBO_TRY(check_finite(who, "rest", &def->rest, 1));
  TRIBO_TRY(check_range(who, "restitution", def->restitution, 0, 1));
  if (!(def->lower <= def->upper)) {
    return tribo_fail(TRIBO_INVALID, "%s: lower = %g must not be above upper = %g", who, def->lower, def->upper);
  }
  if (!(def->effort >= 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: effort = %g must be ≥ 0", who, def->effort);
  }
  TRIBO_TRY(check_finite(who, "position", &def->position, 1));
  TRIBO_TRY(check_finite(who, "velocity", &def->velocity, 1));
  return TRIBO_OK;
}

TriboStatus tribo_scene_add_joint(TriboScene* scene, const TriboJointDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_joint(scene, def));
  GROW(scene, joint);
  TriboJointDef copy = *def;
  TRIBO_TRY(take_name(scene, &scene->joint_names, "joint", def->name, scene->njoint, &copy.name));
  if (id != NULL) {
    *id = scene->njoint;
  }
  scene->joints[scene->njoint++] = copy;
  return TRIBO_OK;
}

TriboMotorDef tribo_motor_default(void) {
  return (TriboMotorDef){.effort = NAN};
}

TriboStatus tribo_scene_add_motor(TriboScene* scene, const TriboMotorDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  if (def->joint == NULL) {
    return tribo_fail(TRIBO_INVALID, "motor: it needs a joint");
  }
  TRIBO_TRY(check_range(def->joint, "stiffness", def->stiffness, 0, 1e100));
  TRIBO_TRY(check_range(def->joint, "damping", def->damping, 0, 1e100));
  if (!(def->stiffness + def->damping > 0)) {
    return tribo_fail(TRIBO_INVALID, "motor of '%s': stiffness and damping must not both be 0", def->joint);
  }
  TRIBO_TRY(check_finite(def->joint, "target", &def->target, 1));
  TRIBO_TRY(check_finite(def->joint, "velocity", &def->velocity, 1));
  if (def->effort < 0) {
    return tribo_fail(TRIBO_INVALID, "motor of '%s': effort = %g must be ≥ 0", def->joint, def->effort);
  }
  GROW(scene, motor);
  TriboMotorDef copy = *def;
  copy.joint = tribo_pool_strdup(&scene->pool, def->joint);
  if (copy.joint == NULL) {
    return no_memory();
  }
  if (id != NULL) {
    *id = scene->nmotor;
  }
  scene->motors[scene->nmotor++] = copy;
  return TRIBO_OK;
}

// ---- closures -------------------------------------------------------------------------------------------------------

TriboClosureDef tribo_closure_default(void) {
  return (TriboClosureDef){
      .kind = TRIBO_CLOSURE_HINGE, .axis = {0, 0, 1}, .axis2 = {1, 0, 0}, .length = NAN, .ratio = 1};
}

static TriboStatus check_closure(const TriboClosureDef* def) {
  const char* who = def->name != NULL ? def->name : "closure";
  if ((int)def->kind < 0 || def->kind >= TRIBO_CLOSURE_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: kind = %d is no closure", who, (int)def->kind);
  }
  const int joints = def->kind == TRIBO_CLOSURE_GEAR || def->kind == TRIBO_CLOSURE_MIMIC;
  if (joints && (def->joint_a == NULL || def->joint_b == NULL || def->body_a != NULL || def->body_b != NULL)) {
    return tribo_fail(TRIBO_INVALID, "%s: it ties joints, so it needs joint_a and joint_b and no bodies", who);
  }
  if (!joints && ((def->body_a == NULL && def->body_b == NULL) || def->joint_a != NULL || def->joint_b != NULL)) {
    return tribo_fail(TRIBO_INVALID,
                      "%s: it ties bodies, so it needs body_a or body_b (one may be the world) and no "
                      "joints",
                      who);
  }
  TRIBO_TRY(check_finite(who, "anchor", def->anchor, 3));
  TRIBO_TRY(check_finite(who, "anchor2", def->anchor2, 3));
  TRIBO_TRY(check_finite(who, "axis", def->axis, 3));
  TRIBO_TRY(check_finite(who, "axis2", def->axis2, 3));
  const double along = tribo_norm3(def->axis), across = tribo_norm3(def->axis2);
  if (!(along > 1e-9) || !(across > 1e-9)) {
    return tribo_fail(TRIBO_INVALID, "%s: axis [%g %g %g] and axis2 [%g %g %g] must not be zero", who, def->axis[0],
                      def->axis[1], def->axis[2], def->axis2[0], def->axis2[1], def->axis2[2]);
  }
  if (def->kind == TRIBO_CLOSURE_UNIVERSAL && !(fabs(tribo_dot3(def->axis, def->axis2)) <= 1e-6 * along * across)) {
    return tribo_fail(TRIBO_INVALID, "%s: axis2 [%g %g %g] must be at a right angle to axis", who, def->axis2[0],
                      def->axis2[1], def->axis2[2]);
  }
  if (!isnan(def->length) && !(def->length > 0 && def->length <= 1e9)) {
    return tribo_fail(TRIBO_INVALID, "%s: length = %g m must be in (0, 1e9]", who, def->length);
  }
  TRIBO_TRY(check_finite(who, "offset", &def->offset, 1));
  if (!isfinite(def->ratio) || def->ratio == 0) {
    return tribo_fail(TRIBO_INVALID, "%s: ratio = %g must be finite and not 0", who, def->ratio);
  }
  return TRIBO_OK;
}

TriboStatus tribo_scene_add_closure(TriboScene* scene, const TriboClosureDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_closure(def));
  GROW(scene, closure);
  TriboClosureDef copy = *def;
  const char** names[] = {&copy.body_a, &copy.body_b, &copy.joint_a, &copy.joint_b};
  for (int i = 0; i < 4; ++i) {
    const char* given = *names[i];
    *names[i] = tribo_pool_strdup(&scene->pool, given);
    if (given != NULL && *names[i] == NULL) {
      return no_memory();
    }
  }
  TRIBO_TRY(take_name(scene, &scene->closure_names, "closure", def->name, scene->nclosure, &copy.name));
  if (id != NULL) {
    *id = scene->nclosure;
  }
  scene->closures[scene->nclosure++] = copy;
  return TRIBO_OK;
}

// ---- robots ---------------------------------------------------------------------------------------------------------

TriboRobotDef tribo_robot_default(void) {
  return (TriboRobotDef){.quaternion = {0, 0, 0, 1}, .self_collision = 1};
}

TriboStatus tribo_scene_add_robot(TriboScene* scene, const TriboRobotDef* def) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  const char* who = def->name != NULL ? def->name : "robot";
  if (def->urdf == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: a robot needs a URDF file", who);
  }
  TRIBO_TRY(check_finite(who, "position", def->position, 3));
  TRIBO_TRY(check_quaternion(who, def->quaternion));
  const char* material = def->material != NULL ? def->material : "default";
  if (tribo_names_find(&scene->material_names, material) < 0) {
    return not_found(&scene->material_names, "material", material);
  }
  GROW(scene, robot);
  TriboRobotDef copy = *def;
  TRIBO_TRY(take_name(scene, &scene->robot_names, "robot", def->name, scene->nrobot, &copy.name));
  copy.urdf = tribo_pool_strdup(&scene->pool, def->urdf);
  copy.srdf = tribo_pool_strdup(&scene->pool, def->srdf);
  copy.reference = tribo_pool_strdup(&scene->pool, def->reference);
  copy.material = tribo_pool_strdup(&scene->pool, material);
  if (copy.urdf == NULL || copy.material == NULL || (def->srdf != NULL && copy.srdf == NULL) ||
      (def->reference != NULL && copy.reference == NULL)) {
    return no_memory();
  }
  tribo_quat_normalize(copy.quaternion);
  scene->robots[scene->nrobot++] = copy;
  return TRIBO_OK;
}

TriboStatus tribo_scene_set_joint(TriboScene* scene, const char* joint, double position, double velocity) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(joint);
  TRIBO_TRY(check_finite(joint, "position", &position, 1));
  TRIBO_TRY(check_finite(joint, "velocity", &velocity, 1));
  GROW(scene, joint_value);
  char* name = tribo_pool_strdup(&scene->pool, joint);
  if (name == NULL) {
    return no_memory();
  }
  scene->joint_values[scene->njoint_value++] = (SceneValue){name, position, velocity};
  return TRIBO_OK;
}

TriboStatus tribo_scene_exclude(TriboScene* scene, const char* body_a, const char* body_b) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(body_a);
  TRIBO_REQUIRE(body_b);
  GROW(scene, exclusion);
  SceneExclusion e = {tribo_pool_strdup(&scene->pool, body_a), tribo_pool_strdup(&scene->pool, body_b)};
  if (e.a == NULL || e.b == NULL) {
    return no_memory();
  }
  scene->exclusions[scene->nexclusion++] = e;
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
  TRIBO_TRY(check_finite("force", "force", def->force, 3));
  TRIBO_TRY(check_finite("force", "torque", def->torque, 3));
  TRIBO_TRY(check_finite("force", "effort", &def->effort, 1));
  TRIBO_TRY(check_finite("force", "start", &def->start, 1));
  if (!(def->end > def->start)) {
    return tribo_fail(TRIBO_INVALID, "force: end = %g s must be after start = %g s", def->end, def->start);
  }
  GROW(scene, force);
  TriboForceDef copy = *def;
  copy.body = tribo_pool_strdup(&scene->pool, def->body);
  copy.joint = tribo_pool_strdup(&scene->pool, def->joint);
  if (copy.body == NULL && copy.joint == NULL) {
    return no_memory();
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
    return no_memory();
  }
  for (int i = 0; i < def->nquantity; ++i) {
    quantities[i] = tribo_pool_strdup(&scene->pool, def->quantities[i]);
    if (quantities[i] == NULL) {
      return no_memory();
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
  TRIBO_TRY(check_finite("camera", "eye", def->eye, 3));
  TRIBO_TRY(check_finite("camera", "target", def->target, 3));
  TRIBO_TRY(check_finite("camera", "up", def->up, 3));
  TRIBO_TRY(check_range("camera", "fov", def->fov, 0.01, 3.1));
  GROW(scene, camera);
  TriboCameraDef copy = *def;
  copy.name = def->name != NULL ? tribo_pool_strdup(&scene->pool, def->name)
                                : tribo_pool_format(&scene->pool, "camera%d", scene->ncamera);
  if (copy.name == NULL) {
    return no_memory();
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
    return no_memory();
  }
  scene->expects[scene->nexpect++] = copy;
  return TRIBO_OK;
}
