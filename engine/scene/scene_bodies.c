// Bodies and shapes of a scene.
#include "scene_add.h"

#include <stdio.h>
#include <string.h>

#include "collision.h"
#include "math3.h"

TriboBodyDef tribo_body_default(void) {
  return (TriboBodyDef){.quaternion = {0, 0, 0, 1},
                        .mass = NAN,
                        .com = {NAN, NAN, NAN},
                        .inertia = {NAN, NAN, NAN, NAN, NAN, NAN},
                        .axes = {0, 0, 0, 1}};
}

// A symmetric matrix given as xx yy zz xy xz yz: all leading minors positive.
static int positive_definite(const double s[6]) {
  double xx = s[0], yy = s[1], zz = s[2], xy = s[3], xz = s[4], yz = s[5];
  double full[9] = {xx, xy, xz, xy, yy, yz, xz, yz, zz};
  return xx > 0 && xx * yy - xy * xy > 0 && tribo_det33(full) > 0;
}

static TriboStatus check_mass(const char* who, const TriboBodyDef* def) {
  const double* I = def->inertia;
  if (!isnan(def->mass) && !(def->mass >= 0 && def->mass <= 1e100)) {
    return tribo_fail(TRIBO_INVALID, "%s: mass = %g kg must be in [0, 1e100]", who, def->mass);
  }
  TRIBO_TRY(tribo_check_quaternion(who, def->axes));
  if (isnan(I[0])) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_check_finite(who, "inertia", I, 6));
  if (isnan(def->mass)) {
    return tribo_fail(TRIBO_INVALID, "%s: an inertia needs a mass beside it", who);
  }
  // a part without mass, or a point, may be without inertia: what must not be is judged where joints move it
  const int none = I[0] == 0 && I[1] == 0 && I[2] == 0 && I[3] == 0 && I[4] == 0 && I[5] == 0;
  if (!none && !positive_definite(I)) {
    return tribo_fail(TRIBO_INVALID, "%s: inertia [%g %g %g %g %g %g] must be positive definite", who, I[0], I[1], I[2],
                      I[3], I[4], I[5]);
  }
  return TRIBO_OK;
}

TriboStatus tribo_scene_add_body(TriboScene* scene, const TriboBodyDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  const char* who = def->name != NULL ? def->name : "body";
  TRIBO_TRY(tribo_check_finite(who, "position", def->position, 3));
  TRIBO_TRY(tribo_check_quaternion(who, def->quaternion));
  TRIBO_TRY(tribo_check_finite(who, "velocity", def->velocity, 3));
  TRIBO_TRY(tribo_check_finite(who, "omega", def->omega, 3));
  TRIBO_TRY(check_mass(who, def));
  TRIBO_TRY(tribo_check_finite(who, "gravity_compensation", &def->gravity_compensation, 1));
  if (!isnan(def->com[0])) {
    TRIBO_TRY(tribo_check_finite(who, "com", def->com, 3));
  }
  GROW(scene, body);
  TriboBodyDef copy = *def;
  TRIBO_TRY(tribo_scene_take_name(scene, &scene->body_names, "body", def->name, scene->nbody, &copy.name));
  tribo_quat_normalize(copy.quaternion);
  tribo_quat_normalize(copy.axes);
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
                         .repeat = {1, 1},
                         .margin = NAN,
                         .group = 1,
                         .mask = ~0u};
}

TriboSdfDef tribo_sdf_default(void) {
  return (TriboSdfDef){
      .kind = TRIBO_SDF_SPHERE, .size = {1, 1, 1}, .sides = 6, .starts = 1, .quaternion = {0, 0, 0, 1}};
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

// Refuses a tree of distance fields that makes no solid, and numbers of its contacts out of range.
static TriboStatus check_sdf(const char* who, const TriboShapeDef* def) {
  if (def->sdf == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: a distance field needs its sdf, which is NULL", who);
  }
  if (def->contacts != 0 && (def->contacts < TRIBO_SDF_CONTACTS_LEAST || def->contacts > TRIBO_SDF_CONTACTS_MOST)) {
    return tribo_fail(TRIBO_INVALID, "%s: contacts = %d must be 0 or within %d … %d", who, def->contacts,
                      TRIBO_SDF_CONTACTS_LEAST, TRIBO_SDF_CONTACTS_MOST);
  }
  if (!isnan(def->margin)) {
    TRIBO_TRY(tribo_check_range(who, "margin", def->margin, 1e-9, 1));
  }
  TriboStatus status = tribo_col_sdf_check(def->sdf);
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s: ", who);
  }
  return status;
}

// Refuses a shape whose sizes, pose or points make no solid.
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
  if (def->kind == TRIBO_SHAPE_SDF) {
    TRIBO_TRY(check_sdf(who, def));
  }
  if (def->vertices < 0 || (def->vertices > 0 && def->vertices < 4)) {
    return tribo_fail(TRIBO_INVALID, "%s: vertices = %d must be 0 for all, or at least 4", who, def->vertices);
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
  TRIBO_TRY(tribo_check_finite(who, "points", def->points, 3 * def->npoint));
  TRIBO_TRY(tribo_check_finite(who, "scale", def->scale, 3));
  TRIBO_TRY(tribo_check_finite(who, "position", def->position, 3));
  TRIBO_TRY(tribo_check_quaternion(who, def->quaternion));
  TRIBO_TRY(tribo_check_range(who, "contact_offset", def->contact_offset, 0, 1e6));
  TRIBO_TRY(tribo_check_finite(who, "surface", def->surface, 3));
  TRIBO_TRY(tribo_check_finite(who, "spin", def->spin, 3));
  TRIBO_TRY(tribo_check_finite(who, "grain", def->grain, 3));
  for (int i = 0; i < 2; ++i) {
    TRIBO_TRY(tribo_check_range(who, "repeat", def->repeat[i], 1e-6, 1e6));
  }
  TRIBO_TRY(tribo_check_range(who, "density", def->density, 0, 1e9));
  for (int i = 0; i < 4; ++i) {
    TRIBO_TRY(tribo_check_range(who, "color", def->color[i], 0, 1));
  }
  return TRIBO_OK;
}

// One hull per part of the mesh; id receives the first.
static TriboStatus add_components(TriboScene* scene, int body, const TriboShapeDef* def, int* id) {
  double* points;
  int *first, npiece;
  TRIBO_TRY(tribo_col_mesh_components(def->mesh, def->scale, &points, &first, &npiece));
  TriboStatus status = TRIBO_OK;
  for (int k = 0; k < npiece && status == TRIBO_OK; ++k) {
    char name[128];
    TriboShapeDef piece = *def;
    piece.split_components = 0;
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

// A copy of `count` trees; NULL when there is no memory.
static const TriboSdfDef* keep_trees(TriboPool* pool, const TriboSdfDef* trees, int count) {
  TriboSdfDef* copy = tribo_pool_copy(pool, trees, (size_t)count, sizeof *trees);
  for (int i = 0; i < count && copy != NULL; ++i) {
    TriboSdfDef* t = &copy[i];
    t->profile = t->profile == NULL ? NULL : tribo_pool_copy(pool, t->profile, 2 * (size_t)t->nprofile, sizeof(double));
    t->parts = t->parts == NULL ? NULL : keep_trees(pool, t->parts, t->npart);
    if ((trees[i].profile != NULL && t->profile == NULL) || (trees[i].parts != NULL && t->parts == NULL)) {
      return NULL;
    }
  }
  return copy;
}

// A copy of all that a def points to.
static TriboStatus keep_shape(TriboScene* scene, int body, const TriboShapeDef* def, const char* material,
                              TriboShapeDef* copy) {
  if (def->texture != NULL && tribo_names_find(&scene->texture_names, def->texture) < 0) {
    return tribo_not_found(&scene->texture_names, "texture", def->texture);
  }
  *copy = *def;
  copy->texture = tribo_pool_strdup(&scene->pool, def->texture);
  copy->name = def->name != NULL
                   ? tribo_pool_strdup(&scene->pool, def->name)
                   : tribo_pool_format(&scene->pool, "%s.shape%d",
                                       body == TRIBO_WORLD ? "world" : scene->bodys[body].name, scene->nshape);
  copy->material = tribo_pool_strdup(&scene->pool, material);
  copy->mesh = tribo_pool_strdup(&scene->pool, def->mesh);
  copy->points = tribo_pool_copy(&scene->pool, def->points, (size_t)def->npoint, 3 * sizeof(double));
  tribo_quat_normalize(copy->quaternion);
  const int field = def->kind == TRIBO_SHAPE_HEIGHTFIELD;
  if (field) {
    copy->heights = tribo_pool_copy(&scene->pool, def->heights, (size_t)(def->nx * def->ny), sizeof(double));
  }
  copy->sdf = def->kind == TRIBO_SHAPE_SDF ? keep_trees(&scene->pool, def->sdf, 1) : NULL;
  return (def->kind == TRIBO_SHAPE_SDF && copy->sdf == NULL) || (field && copy->heights == NULL) ||
                 copy->name == NULL || copy->material == NULL || copy->points == NULL ||
                 (def->mesh != NULL && copy->mesh == NULL) || (def->texture != NULL && copy->texture == NULL)
             ? tribo_no_memory("for the scene")
             : TRIBO_OK;
}

static TriboStatus check_owner(const TriboScene* scene, const char* where, int body) {
  return body == TRIBO_WORLD || (body >= 0 && body < scene->nbody)
             ? TRIBO_OK
             : tribo_fail(TRIBO_INVALID, "%s: body = %d; accepted are TRIBO_WORLD and 0 … %d", where, body,
                          scene->nbody - 1);
}

TriboStatus tribo_scene_add_shape(TriboScene* scene, int body, const TriboShapeDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_owner(scene, "tribo_scene_add_shape", body));
  TRIBO_TRY(check_shape(def, body));
  if (def->split_components) {
    return def->mesh != NULL
               ? add_components(scene, body, def, id)
               : tribo_fail(TRIBO_INVALID, "%s: only a mesh has components", def->name ? def->name : "shape");
  }
  const char* material = def->material != NULL ? def->material : "default";
  if (tribo_names_find(&scene->material_names, material) < 0) {
    return tribo_not_found(&scene->material_names, "material", material);
  }
  GROW(scene, shape);
  SceneShape* shape = &scene->shapes[scene->nshape];
  shape->body = body;
  TRIBO_TRY(keep_shape(scene, body, def, material, &shape->def));
  if (id != NULL) {
    *id = scene->nshape;
  }
  scene->nshape++;
  return TRIBO_OK;
}

TriboStatus tribo_scene_add_visual(TriboScene* scene, int body, const TriboShapeDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_owner(scene, "tribo_scene_add_visual", body));
  if (def->kind == TRIBO_SHAPE_HEIGHTFIELD) {
    return tribo_fail(TRIBO_UNSUPPORTED, "%s: a height field is drawn where it collides",
                      def->name ? def->name : "visual");
  }
  TRIBO_TRY(check_shape(def, body));
  GROW(scene, visual);
  SceneShape* visual = &scene->visuals[scene->nvisual];
  visual->body = body;
  TRIBO_TRY(keep_shape(scene, body, def, "default", &visual->def));
  if (id != NULL) {
    *id = scene->nvisual;
  }
  scene->nvisual++;
  return TRIBO_OK;
}
