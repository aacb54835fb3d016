// What is drawn and nothing else: textures, the scene's visuals, then those of the robots' files. Mesh files are loaded
// once; each of their parts becomes a visual.
#include <stdio.h>
#include <string.h>

#include "model_impl.h"
#include "pose.h"

// ---- textures

static TriboStatus add_texture(TriboModel* model, const TriboTextureDef* def) {
  TRIBO_TRY(TRIBO_APPEND(&model->scenery.textures, model->scenery.ntexture, 1));
  TriboTextureDef* copy = &model->scenery.textures[model->scenery.ntexture];
  *copy = *def;
  copy->name = tribo_pool_strdup(&model->pool, def->name);
  copy->file = tribo_pool_strdup(&model->pool, def->file);
  if (copy->name == NULL || (def->file != NULL && copy->file == NULL)) {
    return tribo_no_memory("for the model");
  }
  model->scenery.ntexture++;
  return TRIBO_OK;
}

int tribo_compile_texture(const TriboModel* model, const char* name) {
  if (name != NULL) {
    for (int i = 0; i < model->scenery.ntexture; ++i) {
      if (strcmp(model->scenery.textures[i].name, name) == 0) {
        return i;
      }
    }
  }
  return -1;
}

TriboStatus tribo_compile_textures(const TriboScene* scene, TriboModel* model) {
  for (int i = 0; i < scene->ntexture; ++i) {
    TRIBO_TRY(add_texture(model, &scene->textures[i]));
  }
  return TRIBO_OK;
}

// A picture that a file names is a texture of its path.
static TriboStatus file_texture(TriboModel* model, const char* path, int* id) {
  *id = tribo_compile_texture(model, path);
  if (path != NULL && *id < 0) {
    TriboTextureDef def = tribo_texture_default();
    def.name = def.file = path;
    TRIBO_TRY(add_texture(model, &def));
    *id = model->scenery.ntexture - 1;
  }
  return TRIBO_OK;
}

// ---- meshes

// A file that has been loaded.
typedef struct Loaded {
  const char* path;
  double scale[3];
  const TriboTexturedMesh* textured;
} Loaded;

typedef struct Drawing {
  TriboModel* model;
  Loaded* loaded;  // (nloaded)
  int nloaded;
} Drawing;

static TriboStatus load_textured_mesh(Drawing* d, const TriboShapeDef* def, const TriboTexturedMesh** out) {
  for (int i = 0; i < d->nloaded; ++i) {
    const Loaded* l = &d->loaded[i];
    if (strcmp(l->path, def->mesh) == 0 && tribo_equal(l->scale, def->scale, 3)) {
      *out = l->textured;
      return TRIBO_OK;
    }
  }
  TriboModel* model = d->model;
  TRIBO_TRY(TRIBO_APPEND(&d->loaded, d->nloaded, 1));
  TRIBO_TRY(TRIBO_APPEND(&model->scenery.textured_meshes, model->scenery.ntextured_mesh, 1));
  TRIBO_TRY(tribo_col_textured_mesh_load(def->mesh, def->scale,
                                         &model->scenery.textured_meshes[model->scenery.ntextured_mesh]));
  *out = model->scenery.textured_meshes[model->scenery.ntextured_mesh++];
  Loaded* l = &d->loaded[d->nloaded++];
  *l = (Loaded){.path = def->mesh, .textured = *out};
  tribo_copy3(l->scale, def->scale);
  return TRIBO_OK;
}

// The hull of a list of points.
static TriboStatus make_hull(TriboModel* model, const TriboShapeDef* def, TriboVisualInfo* out) {
  TRIBO_TRY(TRIBO_APPEND(&model->geometry.hulls, model->geometry.nhull, 1));
  TRIBO_TRY(tribo_col_hull_create(def->points, def->npoint, &model->geometry.hulls[model->geometry.nhull]));
  const TriboHull* hull = model->geometry.hulls[model->geometry.nhull++];
  out->npoint = tribo_col_hull_vertices(hull, &out->points);
  out->ntriangle = tribo_col_hull_triangles(hull, &out->triangles);
  return TRIBO_OK;
}

// The surface of a distance field.
static TriboStatus make_sdf(TriboModel* model, const TriboShapeDef* def, TriboVisualInfo* out) {
  TRIBO_TRY(TRIBO_APPEND(&model->geometry.sdfs, model->geometry.nsdf, 1));
  TRIBO_TRY(tribo_col_sdf_create(def->sdf, def->contacts, def->margin, &model->geometry.sdfs[model->geometry.nsdf]));
  TriboSdf* sdf = model->geometry.sdfs[model->geometry.nsdf++];
  return tribo_col_sdf_surface(sdf, &out->points, &out->npoint, &out->triangles, &out->ntriangle);
}

// A part of a mesh, with the paint of the file where the visual is to have it.
static TriboStatus take_part(TriboModel* model, const TriboShapeDef* def, const TriboTexturedPart* part,
                             TriboVisualInfo* out) {
  out->points = part->points;
  out->uv = part->uv;
  out->triangles = part->triangles;
  out->npoint = part->npoint;
  out->ntriangle = part->ntriangle;
  if (def->use_file_colors && part->color != NULL) {
    memcpy(out->color, part->color, sizeof out->color);
  }
  return def->use_file_colors && def->texture == NULL ? file_texture(model, part->texture, &out->texture) : TRIBO_OK;
}

static TriboStatus add_part(TriboModel* model, const TriboShapeDef* def, int body, const TriboTexturedPart* part) {
  TRIBO_TRY(TRIBO_APPEND(&model->scenery.visuals, model->scenery.nvisual, 1));
  TriboVisualInfo* out = &model->scenery.visuals[model->scenery.nvisual];
  *out = (TriboVisualInfo){.name = tribo_pool_strdup(&model->pool, def->name),
                           .kind = def->kind,
                           .body = body,
                           .texture = tribo_compile_texture(model, def->texture),
                           .per_metre = def->per_metre};
  tribo_copy3(out->size, def->size);
  tribo_copy3(out->position, def->position);
  memcpy(out->quaternion, def->quaternion, sizeof out->quaternion);
  memcpy(out->color, def->color, sizeof out->color);
  memcpy(out->repeat, def->repeat, sizeof out->repeat);
  TRIBO_TRY(out->name == NULL               ? tribo_no_memory("for the model")
            : part != NULL                  ? take_part(model, def, part, out)
            : def->kind == TRIBO_SHAPE_HULL ? make_hull(model, def, out)
            : def->kind == TRIBO_SHAPE_SDF  ? make_sdf(model, def, out)
                                            : TRIBO_OK);
  model->scenery.nvisual++;
  return TRIBO_OK;
}

static TriboStatus add_visual(Drawing* d, const TriboShapeDef* def, int body) {
  const TriboTexturedMesh* textured = NULL;
  const TriboTexturedPart* parts = NULL;
  int npart = 1;
  TriboStatus status =
      def->kind == TRIBO_SHAPE_HULL && def->mesh != NULL ? load_textured_mesh(d, def, &textured) : TRIBO_OK;
  if (textured != NULL) {
    parts = tribo_col_textured_mesh_parts(textured, &npart);
  }
  for (int i = 0; i < npart && status == TRIBO_OK; ++i) {
    status = add_part(d->model, def, body, parts != NULL ? &parts[i] : NULL);
  }
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s: ", def->name);
  }
  return status;
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
    def.use_file_colors = !g->colored;
    if (g->texture != NULL) {
      int unused;
      TRIBO_TRY(file_texture(d->model, g->texture, &unused));
      def.texture = g->texture;
    }
    TRIBO_TRY(tribo_located(add_visual(d, &def, tree->first_body + g->link), scene->robot_where[tree->robot]));
  }
  return TRIBO_OK;
}

TriboStatus tribo_compile_visuals(const TriboScene* scene, TriboModel* model, const int* scene_body) {
  Drawing d = {.model = model};
  TriboStatus status = TRIBO_OK;
  for (int i = 0; status == TRIBO_OK && i < scene->nvisual; ++i) {
    const SceneShape* visual = &scene->visuals[i];
    const int body = visual->body == TRIBO_WORLD ? TRIBO_WORLD : scene_body[visual->body];
    status = tribo_located(add_visual(&d, &visual->def, body), scene->visual_where[i]);
  }
  for (int t = 0; status == TRIBO_OK && t < model->mechanism.ntree; ++t) {
    if (model->mechanism.trees[t].robot >= 0) {
      status = add_robot(scene, &d, &model->mechanism.trees[t]);
    }
  }
  tribo_free(d.loaded);
  return status;
}

const TriboVisualInfo* tribo_model_visuals(const TriboModel* model, int* count) {
  *count = model->scenery.nvisual;
  return model->scenery.visuals;
}
