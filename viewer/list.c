// The draw list of a model: the meshes of its shapes and visuals, its sky, and each shape as an instance at a pose.
#include "list.h"

// ---- meshes of a model

static int same_triangles(const TriboVisualInfo* a, const TriboVisualInfo* b) {
  return a->npoint == b->npoint && a->ntriangle == b->ntriangle && a->uv == b->uv &&
         (a->points == b->points || memcmp(a->points, b->points, 3 * (size_t)a->npoint * sizeof(double)) == 0) &&
         (a->triangles == b->triangles ||
          memcmp(a->triangles, b->triangles, 3 * (size_t)a->ntriangle * sizeof(int)) == 0);
}

// What is drawn of a shape.
static TriboVisualInfo visual_of_shape(const TriboShapeInfo* shape) {
  TriboVisualInfo visual = {.name = shape->name,
                            .kind = shape->kind,
                            .body = shape->body,
                            .points = shape->points,
                            .triangles = shape->triangles,
                            .npoint = shape->npoint,
                            .ntriangle = shape->ntriangle};
  memcpy(visual.size, shape->size, sizeof visual.size);
  memcpy(visual.position, shape->position, sizeof visual.position);
  memcpy(visual.quaternion, shape->quaternion, sizeof visual.quaternion);
  memcpy(visual.color, shape->color, sizeof visual.color);
  memcpy(visual.repeat, shape->repeat, sizeof visual.repeat);
  visual.texture = shape->texture;
  visual.per_metre = shape->per_metre;
  return visual;
}

// Shapes and visuals, numbered through: shapes first.
static TriboVisualInfo visual_info(const TriboModel* model, int i) {
  int n, nshape = tribo_model_size(model).nshape;
  return i < nshape ? visual_of_shape(tribo_model_shape(model, i)) : tribo_model_visuals(model, &n)[i - nshape];
}

// The mesh and the scale of a shape or visual; unknown triangles become a new mesh.
static TriboStatus choose_mesh(TriboDrawList* list, const TriboModel* model, int id) {
  const TriboVisualInfo visual = visual_info(model, id);
  const float a = (float)visual.size[0], b = (float)visual.size[1], c = (float)visual.size[2];
  ShapeMesh* out = &list->shape_meshes[id];
  switch (visual.kind) {
    case TRIBO_SHAPE_SPHERE: *out = (ShapeMesh){TRIBO_MESH_SPHERE, {a, a, a, 0}}; return TRIBO_OK;
    case TRIBO_SHAPE_ELLIPSOID: *out = (ShapeMesh){TRIBO_MESH_SPHERE, {a, b, c, 0}}; return TRIBO_OK;
    case TRIBO_SHAPE_BOX: *out = (ShapeMesh){TRIBO_MESH_BOX, {a / 2, b / 2, c / 2, 0}}; return TRIBO_OK;
    case TRIBO_SHAPE_CAPSULE: *out = (ShapeMesh){TRIBO_MESH_CAPSULE, {a, a, a, b / 2}}; return TRIBO_OK;
    case TRIBO_SHAPE_CYLINDER: *out = (ShapeMesh){TRIBO_MESH_CYLINDER, {a, a, b / 2, 0}}; return TRIBO_OK;
    case TRIBO_SHAPE_CONE: *out = (ShapeMesh){TRIBO_MESH_CONE, {a, a, b / 2, 0}}; return TRIBO_OK;
    case TRIBO_SHAPE_HALFSPACE: *out = (ShapeMesh){TRIBO_MESH_PLANE, {1, 1, 1, 0}}; return TRIBO_OK;
    default: break;
  }
  if (visual.kind != TRIBO_SHAPE_HULL && visual.kind != TRIBO_SHAPE_SDF && visual.kind != TRIBO_SHAPE_HEIGHTFIELD) {
    return tribo_view_fail(TRIBO_UNSUPPORTED, "shape %s: its kind (%d) cannot be drawn", visual.name, (int)visual.kind);
  }
  for (int i = 0; i < id; ++i) {
    const TriboVisualInfo other = visual_info(model, i);
    if (other.kind == visual.kind && (i < list->nshape) == (id < list->nshape) && same_triangles(&visual, &other)) {
      *out = list->shape_meshes[i];
      return TRIBO_OK;
    }
  }
  *out = (ShapeMesh){list->set.nmesh, {1, 1, 1, 0}};
  // a hull is closed and faces outwards; of a file nobody knows, and a field has two sides
  const int open = id >= list->nshape || visual.kind == TRIBO_SHAPE_HEIGHTFIELD;
  return tribo_view_meshes_triangles(&list->set, &visual, open);
}

// ---- sky

// A clear one, or the last that the scene has: its colours above, below and between them, or its picture, whose mean
// is then where things fade away to.
static void choose_sky(TriboDrawList* list, const TriboModel* model) {
  list->sky = (TriboDrawSky){{0.412f, 0.578f, 0.81f}, {0.86f, 0.89f, 0.93f}, {0.86f, 0.89f, 0.93f}, 0};
  for (int i = 0; i < list->textures->count; ++i) {
    const TriboTextureDef* def = tribo_model_texture(model, i);
    const TriboTexture* picture = &list->textures->items[i];
    const int pixels = picture->width * picture->height;
    if (def->kind != TRIBO_TEXTURE_SKY) {
      continue;
    }
    for (int k = 0; k < 3; ++k) {
      const int gradient = def->pattern == TRIBO_PATTERN_GRADIENT;
      list->sky.zenith[k] = (float)from_srgb(def->color[k]);
      list->sky.nadir[k] = (float)from_srgb(gradient ? def->color2[k] : def->color[k]);
      list->sky.horizon[k] = (list->sky.zenith[k] + list->sky.nadir[k]) / 2;
      list->sky.texture = def->file != NULL ? 1 + i : 0;
      if (def->file != NULL) {
        double sum = 0;
        for (int p = 0; p < pixels; ++p) {
          sum += (float)from_srgb(picture->rgba[4 * (size_t)p + (size_t)k] / 255.0);
        }
        list->sky.horizon[k] = (float)(sum / pixels);
      }
    }
  }
}

const TriboDrawSky* tribo_view_list_sky(const TriboDrawList* list) {
  return &list->sky;
}

// ---- life

TriboStatus tribo_view_list_create(const TriboModel* model, TriboDrawList** out) {
  return tribo_view_list_make(model, NULL, out);
}

TriboStatus tribo_view_list_make(const TriboModel* model, TextureSet* textures, TriboDrawList** out) {
  TriboDrawList* list = calloc(1, sizeof *list);
  if (list == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a draw list");
  }
  static atomic_llong serials;
  list->serial = ++serials;
  list->nshape = tribo_model_size(model).nshape;
  list->nvisual = tribo_model_size(model).nvisual;
  list->shape_meshes = calloc((size_t)list->nshape + (size_t)list->nvisual + 1, sizeof *list->shape_meshes);
  list->has_visuals = calloc((size_t)tribo_model_size(model).nbody + 1, 1);
  TriboStatus status = list->shape_meshes == NULL || list->has_visuals == NULL
                           ? tribo_view_fail(TRIBO_NOMEM, "no memory for %d shapes", list->nshape + list->nvisual)
                           : tribo_view_meshes_builtin(&list->set);
  if (textures != NULL) {
    atomic_fetch_add(&textures->users, 1);
    list->textures = textures;
  } else if (status == TRIBO_OK) {
    status = tribo_view_textures_create(model, &list->textures);
  }
  for (int i = 0; i < list->nshape + list->nvisual && status == TRIBO_OK; ++i) {
    status = choose_mesh(list, model, i);
    const int body = visual_info(model, i).body;
    if (i >= list->nshape && body != TRIBO_WORLD) {
      list->has_visuals[body] = 1;
    }
  }
  if (status != TRIBO_OK) {
    tribo_view_list_destroy(list);
    return status;
  }
  choose_sky(list, model);
  const double* gravity = tribo_model_world(model)->gravity;
  for (int i = 0; i < 3; ++i) {
    list->up[i] = -gravity[i];
  }
  if (tribo_normalize3(list->up) == 0) {
    list->up[2] = 1;
  }
  *out = list;
  return TRIBO_OK;
}

void tribo_view_list_destroy(TriboDrawList* list) {
  if (list != NULL) {
    tribo_view_meshes_free(&list->set);
    tribo_view_textures_release(list->textures);
    free(list->shape_meshes);
    free(list->has_visuals);
    free(list->instances);
    free(list->numbers);
    free(list->contacts);
    if (list->release != NULL) {
      list->release(list->keep);
    }
    free(list);
  }
}

// ---- instances

// How often a flat texture goes into a metre: as it is told, or so that it fits across the shape.
static float repeat_of(const TriboDrawList* list, const TriboVisualInfo* visual, const ShapeMesh* shape, int axis) {
  const TriboDrawMesh* mesh = &list->set.meshes[shape->mesh];
  const double width = shape->mesh < TRIBO_MESH_BUILTIN ? 2 * shape->scale[axis] : mesh->hi[axis] - mesh->lo[axis];
  return (float)(visual->per_metre ? visual->repeat[axis] : visual->repeat[axis] / fmax(width, 1e-9));
}

// The texture of a visual and how it lies on the shape.
static void set_texture(const TriboDrawList* list, const TriboModel* model, const TriboVisualInfo* visual,
                        const ShapeMesh* shape, TriboDrawInstance* out) {
  if (visual->texture < 0) {
    return;
  }
  const TriboTextureDef* def = tribo_model_texture(model, visual->texture);
  const int gradient = def->file == NULL && def->pattern == TRIBO_PATTERN_GRADIENT;
  out->texture = 1 + visual->texture;
  out->mapping = def->kind != TRIBO_TEXTURE_FLAT ? (gradient ? TRIBO_MAPPING_HEIGHT : TRIBO_MAPPING_CUBE)
                 : visual->uv != NULL            ? TRIBO_MAPPING_POINTS
                                                 : TRIBO_MAPPING_ABOVE;
  for (int i = 0; i < 2; ++i) {
    out->repeat[i] =
        out->mapping == TRIBO_MAPPING_POINTS ? (float)visual->repeat[i] : repeat_of(list, visual, shape, i);
  }
}

// A shape or visual where it is.
static TriboDrawInstance instance_of(const TriboDrawList* list, const TriboModel* model, const TriboVisualInfo* visual,
                                     int id, const Poses* poses) {
  const ShapeMesh* mesh = &list->shape_meshes[id];
  TriboDrawInstance instance = {.mesh = mesh->mesh, .of = id < list->nshape ? id : -1, .body = visual->body};
  memcpy(instance.scale, mesh->scale, sizeof instance.scale);
  for (int i = 0; i < 4; ++i) {
    instance.color[i] = (float)visual->color[i];
  }
  set_texture(list, model, visual, mesh, &instance);
  memcpy(instance.quaternion, visual->quaternion, sizeof visual->quaternion);
  tribo_view_list_point(poses, visual->body, visual->position, instance.position);
  if (visual->body != TRIBO_WORLD) {
    tribo_quat_mul(instance.quaternion, poses->quaternion + 4 * visual->body, visual->quaternion);
  }
  return instance;
}

void tribo_view_list_shape(const TriboDrawList* list, const TriboModel* model, int shape, const Poses* poses,
                           TriboDrawInstance* out) {
  const TriboVisualInfo visual = visual_info(model, shape);
  *out = instance_of(list, model, &visual, shape, poses);
}

const TriboDrawFacts* tribo_view_list_facts(const TriboDrawList* list) {
  return &list->facts;
}

const TriboDrawInstance* tribo_view_list_instances(const TriboDrawList* list, int* count) {
  *count = list->ninstance;
  return list->instances;
}
const TriboDrawMesh* tribo_view_list_meshes(const TriboDrawList* list, int* count) {
  *count = list->set.nmesh;
  return list->set.meshes;
}
const TriboDrawVertex* tribo_view_list_vertices(const TriboDrawList* list, int* count) {
  *count = list->set.nvertex;
  return list->set.vertices;
}
const unsigned* tribo_view_list_indices(const TriboDrawList* list, int* count) {
  *count = list->set.nindex;
  return list->set.indices;
}
const TriboTexture* tribo_view_list_textures(const TriboDrawList* list, int* count) {
  *count = list->textures->count;
  return list->textures->items;
}
const double* tribo_view_list_up(const TriboDrawList* list) {
  return list->up;
}
