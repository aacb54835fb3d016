// Instances of a draw list: adding balls, arrows and bars, places on bodies, boxes around what is drawn.
#include "list.h"

// ---- adding

TriboStatus tribo_view_list_add(TriboDrawList* list, const TriboDrawInstance* instance) {
  VIEW_TRY(tribo_view_reserve((void**)&list->instances, &list->capacity, list->ninstance + 1, sizeof *instance));
  list->instances[list->ninstance] = *instance;
  list->instances[list->ninstance].body = instance->overlay ? TRIBO_WORLD : instance->body;
  list->ninstance++;
  return TRIBO_OK;
}

TriboStatus tribo_view_list_ball(TriboDrawList* list, const double at[3], double radius, const float color[4], int of) {
  const float r = (float)radius;
  TriboDrawInstance ball = {
      .mesh = TRIBO_MESH_SPHERE, .overlay = 1, .of = of, .quaternion = {0, 0, 0, 1}, .scale = {r, r, r, 0}};
  memcpy(ball.position, at, sizeof ball.position);
  memcpy(ball.color, color, sizeof ball.color);
  return tribo_view_list_add(list, &ball);
}

TriboStatus tribo_view_list_arrow(TriboDrawList* list, const double from[3], const double arrow[3], double thickness,
                                  const float color[4], int of) {
  double direction[3];
  memcpy(direction, arrow, sizeof direction);
  double length = tribo_normalize3(direction);
  // a short arrow is thinner, so that its head fits into it
  const float t = (float)fmin(thickness, length / 12);
  if (t <= 0) {
    return TRIBO_OK;
  }
  TriboDrawInstance instance = {.mesh = TRIBO_MESH_ARROW, .overlay = 1, .of = of, .scale = {t, t, t, (float)length}};
  memcpy(instance.position, from, sizeof instance.position);
  memcpy(instance.color, color, sizeof instance.color);
  quat_from_z(direction, instance.quaternion);
  return tribo_view_list_add(list, &instance);
}

TriboStatus tribo_view_list_bar(TriboDrawList* list, const double from[3], const double to[3], double thickness,
                                const float color[4]) {
  double direction[3];
  TriboDrawInstance bar = {.mesh = TRIBO_MESH_BOX, .overlay = 1, .of = -1};
  for (int i = 0; i < 3; ++i) {
    direction[i] = to[i] - from[i];
    bar.position[i] = (from[i] + to[i]) / 2;
  }
  double length = tribo_normalize3(direction);
  if (length <= 0) {
    return TRIBO_OK;
  }
  memcpy(bar.color, color, sizeof bar.color);
  bar.scale[0] = bar.scale[1] = (float)(thickness / 2);
  bar.scale[2] = (float)(length / 2);
  quat_from_z(direction, bar.quaternion);
  return tribo_view_list_add(list, &bar);
}

// ---- places on bodies

void tribo_view_list_direction(const Poses* poses, int body, const double local[3], double out[3]) {
  if (body == TRIBO_WORLD) {
    memcpy(out, local, 3 * sizeof(double));
  } else {
    tribo_quat_rotate(out, poses->quaternion + 4 * body, local);
  }
}

void tribo_view_list_point(const Poses* poses, int body, const double local[3], double out[3]) {
  tribo_view_list_direction(poses, body, local, out);
  if (body != TRIBO_WORLD) {
    for (int i = 0; i < 3; ++i) {
      out[i] += poses->position[3 * body + i];
    }
  }
}

void tribo_view_body_centre(const TriboDrawFacts* facts, int body, double centre[3]) {
  tribo_quat_rotate(centre, facts->quaternion + 4 * body, tribo_model_body(facts->model, body)->com);
  for (int i = 0; i < 3; ++i) {
    centre[i] += facts->position[3 * body + i];
  }
}

// ---- bounds

enum { LARGE = 1000 };  // vertices

void tribo_view_list_box(const TriboDrawList* list, const TriboDrawInstance* instance, double lo[3], double hi[3]) {
  const float* s = instance->scale;
  double rows[3][3];  // of the rotation: rows[i][j] is how much of axis j points along i
  for (int j = 0; j < 3; ++j) {
    double e[3] = {0}, r[3];
    e[j] = 1;
    tribo_quat_rotate(r, instance->quaternion, e);
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
