// The draw list: a model's shapes as instances of meshes at the poses of the current state, and what is drawn over
// them.
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
  if (visual.kind != TRIBO_SHAPE_HULL && visual.kind != TRIBO_SHAPE_HEIGHTFIELD) {
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
  if (normalize3(list->up) == 0) {
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

TriboStatus tribo_view_list_add(TriboDrawList* list, const TriboDrawInstance* instance) {
  VIEW_TRY(tribo_view_reserve((void**)&list->instances, &list->capacity, list->ninstance + 1, sizeof *instance));
  list->instances[list->ninstance] = *instance;
  list->instances[list->ninstance].body = instance->overlay ? TRIBO_WORLD : instance->body;
  list->ninstance++;
  return TRIBO_OK;
}

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
  out->skin = def->kind != TRIBO_TEXTURE_FLAT ? (gradient ? TRIBO_SKIN_HEIGHT : TRIBO_SKIN_CUBE)
              : visual->uv != NULL            ? TRIBO_SKIN_POINTS
                                              : TRIBO_SKIN_ABOVE;
  for (int i = 0; i < 2; ++i) {
    out->repeat[i] = out->skin == TRIBO_SKIN_POINTS ? (float)visual->repeat[i] : repeat_of(list, visual, shape, i);
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
    quat_multiply(poses->quaternion + 4 * visual->body, visual->quaternion, instance.quaternion);
  }
  return instance;
}

void tribo_view_list_shape(const TriboDrawList* list, const TriboModel* model, int shape, const Poses* poses,
                           TriboDrawInstance* out) {
  const TriboVisualInfo visual = visual_info(model, shape);
  *out = instance_of(list, model, &visual, shape, poses);
}

// Bodies that have visuals show either these or what collides; the world shows both, but for shapes that are hidden.
static int is_hidden(const TriboDrawList* list, const TriboModel* model, int id, int body, int collision) {
  const int visual = id >= list->nshape;
  if (body != TRIBO_WORLD) {
    return list->has_visuals[body] && visual == collision;
  }
  return visual ? collision : tribo_model_shape(model, id)->hidden && !collision;
}

// Poses, velocities and contacts of the current state, copied.
static TriboStatus gather_facts(TriboDrawList* list, const TriboModel* model, TriboData* data,
                                const TriboDrawOptions* options) {
  static const TriboField fields[] = {TRIBO_FIELD_POSITION, TRIBO_FIELD_QUATERNION, TRIBO_FIELD_VELOCITY,
                                      TRIBO_FIELD_OMEGA};
  TriboDrawFacts* facts = &list->facts;
  const double** out[] = {&facts->position, &facts->quaternion, &facts->velocity, &facts->omega};
  const TriboContactView* contacts;
  int nbody = tribo_model_size(model).nbody, n;
  if (options->contacts != NULL) {
    contacts = options->contacts, n = options->ncontact;
  } else {
    VIEW_TRY_ENGINE(tribo_data_contacts(model, data, &contacts, &n));
  }
  VIEW_TRY(tribo_view_reserve((void**)&list->numbers, &list->number_capacity, 20 * nbody + 1, sizeof(double)));
  VIEW_TRY(tribo_view_reserve((void**)&list->contacts, &list->contact_capacity, n + 1, sizeof *contacts));
  *facts = (TriboDrawFacts){.model = model,
                            .time = tribo_data_time(data),
                            .hash = tribo_data_hash(model, data),
                            .contacts = list->contacts,
                            .ncontact = n};
  if (n > 0) {
    memcpy(list->contacts, contacts, (size_t)n * sizeof *contacts);
  }
  for (int i = 0, at = 0; i < 4; ++i) {
    TriboView view;
    VIEW_TRY_ENGINE(tribo_data_view(model, data, fields[i], &view));
    *out[i] = memcpy(list->numbers + at, view.values, (size_t)view.count * sizeof(double));
    at += view.count;
  }
  list->depths = list->numbers + 13 * nbody;
  if (options->net != NULL) {
    facts->net = memcpy(list->numbers + 14 * nbody, options->net, 6 * (size_t)nbody * sizeof(double));
  }
  return TRIBO_OK;
}

TriboStatus tribo_view_list_fill(TriboDrawList* list, const TriboModel* model, TriboData* data,
                                 const TriboDrawOptions* options) {
  if (list->nshape != tribo_model_size(model).nshape || list->nvisual != tribo_model_size(model).nvisual) {
    return tribo_view_fail(TRIBO_INVALID, "tribo_view_list_fill: the list was made for another model");
  }
  static const TriboDrawOptions plain = {0};
  options = options != NULL ? options : &plain;
  VIEW_TRY(gather_facts(list, model, data, options));
  const Poses poses = {list->facts.position, list->facts.quaternion};
  list->ninstance = 0;
  list->wireframe = options->overlays >> TRIBO_OVERLAY_WIREFRAME & 1;
  const int collision = options->overlays >> TRIBO_OVERLAY_COLLISION & 1;
  for (int i = 0; i < list->nshape + list->nvisual; ++i) {
    const TriboVisualInfo visual = visual_info(model, i);
    if (!is_hidden(list, model, i, visual.body, collision)) {
      const TriboDrawInstance instance = instance_of(list, model, &visual, i, &poses);
      VIEW_TRY(tribo_view_list_add(list, &instance));
    }
  }
  VIEW_TRY(tribo_view_list_paint(list, model, data, options));
  return tribo_view_list_overlay(list, model, data, &poses, options);
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

// ---- bounds

enum { LARGE = 1000 };  // vertices

void tribo_view_list_box(const TriboDrawList* list, const TriboDrawInstance* instance, double lo[3], double hi[3]) {
  const float* s = instance->scale;
  double rows[3][3];  // of the rotation: rows[i][j] is how much of axis j points along i
  for (int j = 0; j < 3; ++j) {
    double e[3] = {0}, r[3];
    e[j] = 1;
    quat_rotate(instance->quaternion, e, r);
    for (int i = 0; i < 3; ++i) {
      rows[i][j] = r[i];
    }
  }
  const TriboDrawMesh* mesh = &list->set.meshes[instance->mesh];
  for (int i = 0; i < 3; ++i) {
    const double x = rows[i][0], y = rows[i][1], z = rows[i][2];
    double below = 0, above = 0;
    if (instance->mesh == TRIBO_MESH_SPHERE) {
      above = sqrt(x * x * s[0] * s[0] + y * y * s[1] * s[1] + z * z * s[2] * s[2]);
      below = -above;
    } else if (instance->mesh == TRIBO_MESH_BOX) {
      above = fabs(x) * s[0] + fabs(y) * s[1] + fabs(z) * s[2];
      below = -above;
    } else if (instance->mesh == TRIBO_MESH_CAPSULE) {
      above = fabs(z) * s[3] + s[0];
      below = -above;
    } else if (instance->mesh == TRIBO_MESH_CYLINDER || instance->mesh == TRIBO_MESH_CONE) {
      // the rim below, and above it the other rim or the apex
      double rim = s[0] * sqrt(x * x + y * y), tip = instance->mesh == TRIBO_MESH_CONE ? 0 : rim;
      above = fmax(-z * s[2] + rim, z * s[2] + tip);
      below = fmin(-z * s[2] - rim, z * s[2] - tip);
    } else if (mesh->nvertex > LARGE) {
      // many triangles: the box around them is good enough
      for (int k = 0; k < 3; ++k) {
        double u = rows[i][k] * s[k] * mesh->lo[k], v = rows[i][k] * s[k] * mesh->hi[k];
        below += fmin(u, v), above += fmax(u, v);
      }
    } else {
      below = INFINITY, above = -INFINITY;
      for (int v = 0; v < mesh->nvertex; ++v) {
        const float* p = list->set.vertices[mesh->first_vertex + v].xyz;
        double along = x * p[0] * s[0] + y * p[1] * s[1] + z * p[2] * s[2];
        below = fmin(below, along), above = fmax(above, along);
      }
    }
    lo[i] = instance->position[i] + below;
    hi[i] = instance->position[i] + above;
  }
}

int tribo_view_list_bounds(const TriboDrawList* list, double lo[3], double hi[3]) {
  int found = 0;
  for (int i = 0; i < 3; ++i) {
    lo[i] = INFINITY, hi[i] = -INFINITY;
  }
  for (int k = 0; k < list->ninstance; ++k) {
    const TriboDrawInstance* instance = &list->instances[k];
    if (instance->mesh == TRIBO_MESH_PLANE || instance->overlay) {
      continue;
    }
    double a[3], b[3];
    tribo_view_list_box(list, instance, a, b);
    for (int i = 0; i < 3; ++i) {
      lo[i] = fmin(lo[i], a[i]), hi[i] = fmax(hi[i], b[i]);
    }
    found = 1;
  }
  return found;
}
