// What is drawn over the bodies: contacts, forces, frames, centres of mass, bounding boxes.
#include <stdio.h>

#include "list.h"

static const char* const names[] = {
#define X(id, name, doc) name,
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
      char all[80] = "";
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

// ---- building blocks

static TriboStatus add_ball(TriboDrawList* list, const double at[3], double radius, const float color[4]) {
  const float r = (float)radius;
  TriboDrawInstance ball = {.mesh = TRIBO_MESH_SPHERE, .overlay = 1, .quaternion = {0, 0, 0, 1}, .scale = {r, r, r, 0}};
  memcpy(ball.position, at, sizeof ball.position);
  memcpy(ball.color, color, sizeof ball.color);
  return tribo_view_list_add(list, &ball);
}

static TriboStatus add_arrow(TriboDrawList* list, const double from[3], const double arrow[3], double thickness,
                             const float color[4]) {
  double direction[3];
  memcpy(direction, arrow, sizeof direction);
  double length = normalize3(direction);
  // a short arrow is thinner, so that its head fits into it
  const float t = (float)fmin(thickness, length / 12);
  if (t <= 0) {
    return TRIBO_OK;
  }
  TriboDrawInstance instance = {.mesh = TRIBO_MESH_ARROW, .overlay = 1, .scale = {t, t, t, (float)length}};
  memcpy(instance.position, from, sizeof instance.position);
  memcpy(instance.color, color, sizeof instance.color);
  quat_from_z(direction, instance.quaternion);
  return tribo_view_list_add(list, &instance);
}

// ---- the overlays

static TriboStatus add_contacts(TriboDrawList* list, const TriboContactView* contacts, int n, double size) {
  static const float colors[][4] = {[TRIBO_CONTACT_OPEN] = {0.62f, 0.62f, 0.62f, 1},
                                    [TRIBO_CONTACT_STICK] = {0, 0.70f, 0.38f, 1},
                                    [TRIBO_CONTACT_SLIDE] = {0.98f, 0.60f, 0, 1}};
  for (int i = 0; i < n; ++i) {
    VIEW_TRY(add_ball(list, contacts[i].point, 0.006 * size, colors[contacts[i].mode]));
  }
  return TRIBO_OK;
}

static TriboStatus add_forces(TriboDrawList* list, const TriboContactView* contacts, int n, double size, double scale) {
  static const float color[4] = {0.86f, 0.12f, 0.42f, 1};
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    largest = fmax(largest, sqrt(dot3(contacts[i].force, contacts[i].force)));
  }
  scale = scale > 0 ? scale : 0.25 * size / fmax(largest, 1e-300);
  for (int i = 0; i < n; ++i) {
    double arrow[3];
    for (int k = 0; k < 3; ++k) {
      arrow[k] = scale * contacts[i].force[k];
    }
    VIEW_TRY(add_arrow(list, contacts[i].point, arrow, 0.003 * size, color));
  }
  return TRIBO_OK;
}

static TriboStatus add_frames(TriboDrawList* list, int nbody, const Poses* poses, double size) {
  for (int b = 0; b < nbody; ++b) {
    for (int axis = 0; axis < 3; ++axis) {
      double e[3] = {0}, arrow[3];
      float color[4] = {0.12f, 0.12f, 0.12f, 1};
      e[axis] = 0.1 * size;
      color[axis] = 0.86f;
      quat_rotate(poses->quaternion + 4 * b, e, arrow);
      VIEW_TRY(add_arrow(list, poses->position + 3 * b, arrow, 0.0025 * size, color));
    }
  }
  return TRIBO_OK;
}

static TriboStatus add_centres(TriboDrawList* list, const TriboModel* model, const Poses* poses, double size) {
  static const float color[4] = {0.95f, 0.80f, 0.10f, 1};
  for (int b = 0; b < tribo_model_size(model).nbody; ++b) {
    double at[3];
    quat_rotate(poses->quaternion + 4 * b, tribo_model_body(model, b)->com, at);
    for (int i = 0; i < 3; ++i) {
      at[i] += poses->position[3 * b + i];
    }
    VIEW_TRY(add_ball(list, at, 0.008 * size, color));
  }
  return TRIBO_OK;
}

// The twelve edges of a box as thin bars.
static TriboStatus add_edges(TriboDrawList* list, const double lo[3], const double hi[3], double size) {
  for (int edge = 0; edge < 12; ++edge) {
    int axis = edge / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
    TriboDrawInstance bar = {.mesh = TRIBO_MESH_BOX, .overlay = 1, .quaternion = {0, 0, 0, 1}};
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

static TriboStatus add_boxes(TriboDrawList* list, double size) {
  int n = list->ninstance;
  for (int i = 0; i < n; ++i) {
    double lo[3], hi[3];
    if (list->instances[i].mesh == TRIBO_MESH_PLANE || list->instances[i].overlay) {
      continue;
    }
    tribo_view_list_box(list, &list->instances[i], lo, hi);
    VIEW_TRY(add_edges(list, lo, hi, size));
  }
  return TRIBO_OK;
}

TriboStatus tribo_view_list_overlay(TriboDrawList* list, const TriboModel* model, TriboData* data, const Poses* poses,
                                    const TriboDrawOptions* options) {
  if (options == NULL || options->overlays == 0) {
    return TRIBO_OK;
  }
  double lo[3], hi[3], size = options->size > 0 ? options->size : 1;
  if (!(options->size > 0) && tribo_view_list_bounds(list, lo, hi)) {
    double d[3] = {hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]};
    size = sqrt(dot3(d, d));
  }
  const TriboContactView* contacts;
  int n;
  VIEW_TRY_ENGINE(tribo_data_contacts(model, data, &contacts, &n));
  const unsigned on = options->overlays;
  if (on & 1u << TRIBO_OVERLAY_AABB) {
    VIEW_TRY(add_boxes(list, size));
  }
  if (on & 1u << TRIBO_OVERLAY_CONTACTS) {
    VIEW_TRY(add_contacts(list, contacts, n, size));
  }
  if (on & 1u << TRIBO_OVERLAY_FORCES) {
    VIEW_TRY(add_forces(list, contacts, n, size, options->force_scale));
  }
  if (on & 1u << TRIBO_OVERLAY_FRAMES) {
    VIEW_TRY(add_frames(list, tribo_model_size(model).nbody, poses, size));
  }
  return on & 1u << TRIBO_OVERLAY_COM ? add_centres(list, model, poses, size) : TRIBO_OK;
}
