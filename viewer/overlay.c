// What is drawn over the bodies, and the colours of the bodies other than their own.
#include <stdio.h>

#include "list.h"

static const char* const names[] = {
#define X(id, key, key_name, name, doc) name,
    TRIBO_OVERLAYS(X)
#undef X
};

const char* tribo_view_overlay_name(TriboOverlay overlay) {
  return names[overlay];
}

TriboStatus tribo_view_overlay_parse(const char* text, unsigned* overlays) {
  unsigned bits = 0;
  for (const char* word = text; *word != '\0';) {
    int n = (int)strcspn(word, ","), found = -1;
    for (int i = 0; i < TRIBO_OVERLAY_COUNT; ++i) {
      found = (int)strlen(names[i]) == n && strncmp(names[i], word, (size_t)n) == 0 ? i : found;
    }
    if (found < 0) {
      char all[240] = "";
      for (int i = 0, at = 0; i < TRIBO_OVERLAY_COUNT; ++i) {
        at += snprintf(all + at, sizeof all - (size_t)at, "%s%s", i > 0 ? ", " : "", names[i]);
      }
      return tribo_view_fail(TRIBO_INVALID, "there is no overlay '%.*s'; accepted are %s", n, word, all);
    }
    bits |= 1u << found;
    word += n + (word[n] == ',');
  }
  *overlays = bits;
  return TRIBO_OK;
}

// ---- contacts

static TriboStatus add_contacts(TriboDrawList* list, double size) {
  static const float colors[][4] = {[TRIBO_CONTACT_OPEN] = {0.62f, 0.62f, 0.62f, 1},
                                    [TRIBO_CONTACT_STICK] = {0, 0.70f, 0.38f, 1},
                                    [TRIBO_CONTACT_SLIDE] = {0.98f, 0.60f, 0, 1}};
  for (int i = 0; i < list->facts.ncontact; ++i) {
    const TriboContactView* c = &list->facts.contacts[i];
    VIEW_TRY(tribo_view_list_ball(list, c->point, 0.006 * size, colors[c->mode], i));
  }
  return TRIBO_OK;
}

static TriboStatus add_forces(TriboDrawList* list, double size, double scale) {
  static const float color[4] = {0.86f, 0.12f, 0.42f, 1};
  double largest = 0;
  for (int i = 0; i < list->facts.ncontact; ++i) {
    const double* force = list->facts.contacts[i].force;
    largest = fmax(largest, tribo_norm3(force));
  }
  scale = scale > 0 ? scale : 0.25 * size / fmax(largest, 1e-300);
  for (int i = 0; i < list->facts.ncontact; ++i) {
    const TriboContactView* c = &list->facts.contacts[i];
    double arrow[3] = {scale * c->force[0], scale * c->force[1], scale * c->force[2]};
    VIEW_TRY(tribo_view_list_arrow(list, c->point, arrow, 0.003 * size, color, i));
  }
  return TRIBO_OK;
}

static TriboStatus add_normals(TriboDrawList* list, double size) {
  static const float color[4] = {0.10f, 0.55f, 0.85f, 1};
  for (int i = 0; i < list->facts.ncontact; ++i) {
    const TriboContactView* c = &list->facts.contacts[i];
    double arrow[3] = {0.06 * size * c->normal[0], 0.06 * size * c->normal[1], 0.06 * size * c->normal[2]};
    VIEW_TRY(tribo_view_list_arrow(list, c->point, arrow, 0.002 * size, color, i));
  }
  return TRIBO_OK;
}

// The tip stands on the contact, the opening is towards where the force may point.
static TriboStatus add_cones(TriboDrawList* list, double size) {
  const double height = 0.05 * size;
  for (int i = 0; i < list->facts.ncontact; ++i) {
    const TriboContactView* c = &list->facts.contacts[i];
    if (c->mode == TRIBO_CONTACT_OPEN || !(c->friction > 0)) {
      continue;
    }
    const double down[3] = {-c->normal[0], -c->normal[1], -c->normal[2]};
    const float radius = (float)(c->friction * height);
    TriboDrawInstance cone = {.mesh = TRIBO_MESH_CONE,
                              .overlay = 1,
                              .of = i,
                              .scale = {radius, radius, (float)(height / 2), 0},
                              .color = {0.95f, 0.78f, 0.20f, 0.5f}};
    for (int k = 0; k < 3; ++k) {
      cone.position[k] = c->point[k] - 0.5 * height * down[k];
    }
    quat_from_z(down, cone.quaternion);
    VIEW_TRY(tribo_view_list_add(list, &cone));
  }
  return TRIBO_OK;
}

// ---- bodies

static TriboStatus add_frames(TriboDrawList* list, int nbody, const Poses* poses, double size) {
  for (int b = 0; b < nbody; ++b) {
    for (int axis = 0; axis < 3; ++axis) {
      double e[3] = {0}, arrow[3];
      float color[4] = {0.12f, 0.12f, 0.12f, 1};
      e[axis] = 0.1 * size;
      color[axis] = 0.86f;
      tribo_quat_rotate(arrow, poses->quaternion + 4 * b, e);
      VIEW_TRY(tribo_view_list_arrow(list, poses->position + 3 * b, arrow, 0.0025 * size, color, -1));
    }
  }
  return TRIBO_OK;
}

static TriboStatus add_centres(TriboDrawList* list, int nbody, double size) {
  static const float color[4] = {0.95f, 0.80f, 0.10f, 1};
  for (int b = 0; b < nbody; ++b) {
    double at[3];
    tribo_view_body_centre(&list->facts, b, at);
    VIEW_TRY(tribo_view_list_ball(list, at, 0.008 * size, color, -1));
  }
  return TRIBO_OK;
}

// The twelve edges of a box as thin bars.
static TriboStatus add_edges(TriboDrawList* list, const double lo[3], const double hi[3], double size) {
  for (int edge = 0; edge < 12; ++edge) {
    int axis = edge / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
    TriboDrawInstance bar = {.mesh = TRIBO_MESH_BOX, .overlay = 1, .of = -1, .quaternion = {0, 0, 0, 1}};
    const float color[4] = {0.15f, 0.35f, 0.85f, 1};
    memcpy(bar.color, color, sizeof color);
    bar.position[axis] = (lo[axis] + hi[axis]) / 2;
    bar.position[u] = edge & 1 ? hi[u] : lo[u];
    bar.position[v] = edge & 2 ? hi[v] : lo[v];
    bar.scale[axis] = (float)((hi[axis] - lo[axis]) / 2 + 0.001 * size);
    bar.scale[u] = bar.scale[v] = (float)(0.001 * size);
    VIEW_TRY(tribo_view_list_add(list, &bar));
  }
  return TRIBO_OK;
}

// Around what collides, also where a body shows something else.
static TriboStatus add_boxes(TriboDrawList* list, const TriboModel* model, const Poses* poses, double size) {
  for (int i = 0; i < list->nshape; ++i) {
    double lo[3], hi[3];
    TriboDrawInstance shape;
    tribo_view_list_shape(list, model, i, poses, &shape);
    if (shape.mesh != TRIBO_MESH_PLANE) {
      tribo_view_list_box(list, &shape, lo, hi);
      VIEW_TRY(add_edges(list, lo, hi, size));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_view_list_overlay(TriboDrawList* list, const TriboModel* model, TriboData* data, const Poses* poses,
                                    const TriboDrawOptions* options) {
  const int chosen = options->contact > 0 && options->contact <= list->facts.ncontact ? options->contact - 1 : -1;
  if (options->overlays == 0 && chosen < 0) {
    return TRIBO_OK;
  }
  double lo[3], hi[3], size = options->size > 0 ? options->size : 1;
  if (!(options->size > 0) && tribo_view_list_bounds(list, lo, hi)) {
    double d[3] = {hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]};
    size = tribo_norm3(d);
  }
  TriboView q;
  VIEW_TRY_ENGINE(tribo_data_view(model, data, TRIBO_FIELD_Q, &q));
  const int nbody = tribo_model_size(model).nbody;
#define SHOW(id, call)                                  \
  do {                                                  \
    if (options->overlays & 1u << TRIBO_OVERLAY_##id) { \
      VIEW_TRY(call);                                   \
    }                                                   \
  } while (0)
  SHOW(AABB, add_boxes(list, model, poses, size));
  SHOW(CONES, add_cones(list, size));
  SHOW(INERTIA, tribo_view_list_inertia(list, model, poses));
  SHOW(CONTACTS, add_contacts(list, size));
  SHOW(NORMALS, add_normals(list, size));
  SHOW(FORCES, add_forces(list, size, options->force_scale));
  SHOW(FRAMES, add_frames(list, nbody, poses, size));
  SHOW(COM, add_centres(list, nbody, size));
  SHOW(JOINTS, tribo_view_list_joints(list, model, q.values, poses, size));
  SHOW(EFFORTS, tribo_view_list_efforts(list, model, data, options->efforts, poses, size));
  SHOW(CLOSURES, tribo_view_list_closures(list, model, poses, size));
  SHOW(TRAILS, options->trails != NULL ? tribo_view_list_trails(list, options->trails, size) : TRIBO_OK);
#undef SHOW
  static const float bright[4] = {1, 0.85f, 0.25f, 1};
  return chosen < 0 ? TRIBO_OK
                    : tribo_view_list_ball(list, list->facts.contacts[chosen].point, 0.01 * size, bright, chosen);
}

// ---- colours

// Saturated colours, far from each other for neighbouring numbers: hues turn by the golden section.
static void island_color(int island, float rgb[3]) {
  const double hue = 6 * fmod(0.13 + 0.61803398875 * island, 1);
  for (int i = 0; i < 3; ++i) {
    double d = fabs(fmod(hue + 6 - 2 * i, 6) - 3);  // 3 at the pure colour, 0 opposite to it
    rgb[i] = (float)(0.25 + 0.6 * fmin(fmax(d - 1, 0), 1));
  }
}

// Blue at 1 µm, green at 0.1 mm, red at 1 cm, by the logarithm.
static void depth_color(double depth, float rgb[3]) {
  const double x = fmin(fmax((log10(fmax(depth, 1e-12)) + 6) / 4, 0), 1);
  rgb[0] = (float)(0.15 + 0.75 * fmax(2 * x - 1, 0));
  rgb[1] = (float)(0.20 + 0.60 * (1 - fabs(2 * x - 1)));
  rgb[2] = (float)(0.15 + 0.75 * fmax(1 - 2 * x, 0));
}

// The deepest contact of every body.
static void measure_depths(TriboDrawList* list, int nbody) {
  memset(list->depths, 0, (size_t)nbody * sizeof(double));
  for (int i = 0; i < list->facts.ncontact; ++i) {
    const TriboContactView* c = &list->facts.contacts[i];
    const int bodies[2] = {c->body_a, c->body_b};
    for (int k = 0; k < 2; ++k) {
      if (bodies[k] != TRIBO_WORLD) {
        list->depths[bodies[k]] = fmax(list->depths[bodies[k]], -c->gap);
      }
    }
  }
}

// The colours of one instance that overlays ask for.
static TriboStatus paint(const TriboDrawList* list, const TriboModel* model, const TriboData* data, unsigned overlays,
                         TriboDrawInstance* instance) {
  const int body = instance->body;
  if (body == TRIBO_WORLD) {
    return TRIBO_OK;
  }
  if (overlays & 1u << TRIBO_OVERLAY_ISLANDS) {
    int island;
    VIEW_TRY_ENGINE(tribo_data_island(model, data, body, &island));
    instance->color[0] = instance->color[1] = instance->color[2] = 0.6f;
    if (island >= 0) {
      island_color(island, instance->color);
    }
  }
  if (overlays & 1u << TRIBO_OVERLAY_PENETRATION) {
    depth_color(list->depths[body], instance->color);
  }
  if (overlays & (1u << TRIBO_OVERLAY_ISLANDS | 1u << TRIBO_OVERLAY_PENETRATION)) {
    instance->texture = 0;
    instance->mapping = TRIBO_MAPPING_NONE;
  }
  if (overlays & 1u << TRIBO_OVERLAY_TRANSPARENT) {
    instance->color[3] *= 0.35f;
  }
  return TRIBO_OK;
}

// Bodies that sleep are darker.
static TriboStatus dim_sleeper(const TriboModel* model, const TriboData* data, TriboDrawInstance* instance) {
  int asleep = 0;
  if (instance->body != TRIBO_WORLD) {
    VIEW_TRY_ENGINE(tribo_data_asleep(model, data, instance->body, &asleep));
  }
  if (asleep) {
    for (int k = 0; k < 3; ++k) {
      instance->color[k] *= 0.45f;
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_view_list_paint(TriboDrawList* list, const TriboModel* model, const TriboData* data,
                                  const TriboDrawOptions* options) {
  const unsigned painted =
      1u << TRIBO_OVERLAY_ISLANDS | 1u << TRIBO_OVERLAY_PENETRATION | 1u << TRIBO_OVERLAY_TRANSPARENT;
  measure_depths(list, tribo_model_size(model).nbody);
  for (int i = 0; i < list->ninstance; ++i) {
    TriboDrawInstance* instance = &list->instances[i];
    if (options->overlays & painted) {
      VIEW_TRY(paint(list, model, data, options->overlays, instance));
    }
    VIEW_TRY(dim_sleeper(model, data, instance));
    if (options->selected > 0 && instance->body == options->selected - 1) {
      // half way to a warm yellow
      const float warm[3] = {1, 0.85f, 0.25f};
      for (int k = 0; k < 3; ++k) {
        instance->color[k] = 0.45f * instance->color[k] + 0.55f * warm[k];
      }
    }
  }
  return TRIBO_OK;
}
