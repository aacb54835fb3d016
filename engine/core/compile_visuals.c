// What is drawn and nothing else: the scene's visuals, then those of the robots' files. Meshes are loaded once.
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "pose.h"

static TriboStatus no_memory(void) {
  return tribo_fail(TRIBO_NOMEM, "no memory for the model");
}

// A mesh that has been loaded.
typedef struct Loaded {
  const char* path;
  double scale[3];
  const double* points;
  const int* triangles;
  int npoint, ntriangle;
} Loaded;

typedef struct Drawing {
  TriboModel* model;
  Loaded* loaded;  // (nloaded) at most one per visual
  int nloaded;
} Drawing;

static TriboStatus load_mesh(Drawing* d, const TriboShapeDef* def, TriboVisualInfo* out) {
  const Loaded* found = NULL;
  for (int i = 0; i < d->nloaded && found == NULL; ++i) {
    const Loaded* l = &d->loaded[i];
    found = strcmp(l->path, def->mesh) == 0 && tribo_equal(l->scale, def->scale, 3) ? l : NULL;
  }
  if (found == NULL) {
    TriboModel* model = d->model;
    double* points;
    int* triangles;
    Loaded* l = &d->loaded[d->nloaded];
    TRIBO_TRY(TRIBO_APPEND(&model->meshes, &model->mesh_capacity, model->nmesh, 2));
    TRIBO_TRY(tribo_col_mesh_load(def->mesh, def->scale, &points, &l->npoint, &triangles, &l->ntriangle));
    model->meshes[model->nmesh++] = points;
    model->meshes[model->nmesh++] = triangles;
    l->path = def->mesh;
    tribo_copy3(l->scale, def->scale);
    l->points = points;
    l->triangles = triangles;
    d->nloaded++;
    found = l;
  }
  out->points = found->points;
  out->triangles = found->triangles;
  out->npoint = found->npoint;
  out->ntriangle = found->ntriangle;
  return TRIBO_OK;
}

// The hull of a list of points.
static TriboStatus make_hull(Drawing* d, const TriboShapeDef* def, TriboVisualInfo* out) {
  TriboModel* model = d->model;
  TRIBO_TRY(TRIBO_APPEND(&model->hulls, &model->hull_capacity, model->nhull, 1));
  TRIBO_TRY(tribo_col_hull_create(def->points, def->npoint, &model->hulls[model->nhull]));
  const TriboHull* hull = model->hulls[model->nhull++];
  out->npoint = tribo_col_hull_vertices(hull, &out->points);
  out->ntriangle = tribo_col_hull_triangles(hull, &out->triangles);
  return TRIBO_OK;
}

static TriboStatus add_visual(Drawing* d, const TriboShapeDef* def, int body) {
  TriboModel* model = d->model;
  TriboVisualInfo* out = &model->visuals[model->nvisual];
  *out = (TriboVisualInfo){.name = tribo_pool_strdup(&model->pool, def->name), .kind = def->kind, .body = body};
  tribo_copy3(out->size, def->size);
  tribo_copy3(out->position, def->position);
  memcpy(out->quaternion, def->quaternion, sizeof out->quaternion);
  memcpy(out->color, def->color, sizeof out->color);
  TriboStatus status = out->name == NULL               ? no_memory()
                       : def->kind != TRIBO_SHAPE_HULL ? TRIBO_OK
                       : def->mesh != NULL             ? load_mesh(d, def, out)
                                                       : make_hull(d, def, out);
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s: ", def->name);
    return status;
  }
  model->nvisual++;
  return TRIBO_OK;
}

static TriboStatus add_robot(const TriboScene* scene, Drawing* d, const ModelTree* tree) {
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree->tree);
  for (int i = 0; i < info->nvisual; ++i) {
    const TriboTreeGeom* g = &info->visuals[i];
    TriboShapeDef def;
    char name[320];
    tribo_compile_tree_geom(g, &def);
    snprintf(name, sizeof name, "%s.visual%d", info->links[g->link].name, i);
    def.name = name;
    TRIBO_TRY(tribo_located(add_visual(d, &def, tree->first_body + g->link), scene->robot_where[tree->robot]));
  }
  return TRIBO_OK;
}

TriboStatus tribo_compile_visuals(const TriboScene* scene, TriboModel* model, const int* scene_body) {
  int count = scene->nvisual;
  for (int t = 0; t < model->ntree; ++t) {
    count += tribo_dyn_tree_info(model->trees[t].tree)->nvisual;
  }
  model->visuals = tribo_pool_alloc(&model->pool, (size_t)count, sizeof *model->visuals);
  Drawing d = {.model = model, .loaded = tribo_alloc((size_t)count, sizeof *d.loaded)};
  TriboStatus status = model->visuals == NULL || d.loaded == NULL ? no_memory() : TRIBO_OK;
  for (int i = 0; status == TRIBO_OK && i < scene->nvisual; ++i) {
    const SceneShape* visual = &scene->visuals[i];
    const int body = visual->body == TRIBO_WORLD ? TRIBO_WORLD : scene_body[visual->body];
    status = tribo_located(add_visual(&d, &visual->def, body), scene->visual_where[i]);
  }
  for (int t = 0; status == TRIBO_OK && t < model->ntree; ++t) {
    if (model->trees[t].robot >= 0) {
      status = add_robot(scene, &d, &model->trees[t]);
    }
  }
  tribo_free(d.loaded);
  return status;
}

const TriboVisualInfo* tribo_model_visuals(const TriboModel* model, int* count) {
  *count = model->nvisual;
  return model->visuals;
}
