// Which camera: one of the scene's by name or number, mounted on a body or not, or one that sees everything.
#include "view_common.h"

// Stands in front, to the right and above, looks at the middle and is just so far away that the box around everything
// fits into the picture with a rim: a corner at (x, y) across and z towards the camera asks for a distance of at least
// z + |x| / tangent.
static void automatic(const TriboDrawList* list, double aspect, TriboCameraDef* camera) {
  double lo[3], hi[3];
  if (!tribo_view_list_bounds(list, lo, hi)) {
    lo[0] = lo[1] = -1, lo[2] = 0, hi[0] = hi[1] = hi[2] = 1;
  }
  const double* up = tribo_view_list_up(list);
  double side[3], front[3], toward[3], right[3], above[3];
  axes_from_up(up, side, front);
  for (int i = 0; i < 3; ++i) {
    toward[i] = 0.52 * side[i] + 0.80 * front[i] + 0.38 * up[i];
    camera->up[i] = up[i];
  }
  tribo_normalize3(toward);
  tribo_cross3(right, up, toward);
  tribo_normalize3(right);
  tribo_cross3(above, toward, right);
  double tangent = 0.88 * tan(camera->fov / 2), distance = 1e-6;
  for (int corner = 0; corner < 8; ++corner) {
    double d[3];
    for (int i = 0; i < 3; ++i) {
      d[i] = (corner >> i & 1 ? 0.5 : -0.5) * (hi[i] - lo[i]);
    }
    double across = fmax(fabs(tribo_dot3(right, d)) / (aspect * tangent), fabs(tribo_dot3(above, d)) / tangent);
    distance = fmax(distance, tribo_dot3(toward, d) + across);
  }
  for (int i = 0; i < 3; ++i) {
    camera->target[i] = (lo[i] + hi[i]) / 2;
    camera->eye[i] = camera->target[i] + distance * toward[i];
  }
}

double tribo_view_camera_axes(const TriboCameraDef* camera, double forward[3], double right[3], double above[3],
                              double* sine) {
  for (int i = 0; i < 3; ++i) {
    forward[i] = camera->target[i] - camera->eye[i];
  }
  const double distance = tribo_normalize3(forward);
  tribo_cross3(right, forward, camera->up);
  const double across = tribo_normalize3(right);
  tribo_cross3(above, right, forward);
  if (sine != NULL) {
    *sine = across;
  }
  return distance;
}

// ---- mounted cameras

// A point (origin 1) or a direction (origin 0) of a body in the world; `turns` 0: in its axes at the start.
static void place_on_body(const TriboDrawFacts* facts, int body, int turns, const double local[3], double origin,
                          double out[3]) {
  if (turns) {
    tribo_quat_rotate(out, facts->quaternion + 4 * body, local);
  } else {
    memmove(out, local, 3 * sizeof(double));
  }
  for (int i = 0; i < 3; ++i) {
    out[i] += origin * facts->position[3 * body + i];
  }
}

void tribo_view_camera_place_mounted(const TriboDrawFacts* facts, const TriboCameraDef* mounted, TriboCameraDef* out) {
  int body, aim;
  *out = *mounted;
  out->body = out->aim = NULL;
  out->follow = 0;
  if (mounted->body != NULL && tribo_model_body_id(facts->model, mounted->body, &body) == TRIBO_OK) {
    const int turns = !mounted->follow;
    place_on_body(facts, body, turns, mounted->eye, 1, out->eye);
    place_on_body(facts, body, turns, mounted->target, 1, out->target);
    place_on_body(facts, body, turns && mounted->aim == NULL, mounted->up, 0, out->up);
  }
  if (mounted->aim != NULL && tribo_model_body_id(facts->model, mounted->aim, &aim) == TRIBO_OK) {
    tribo_view_body_centre(facts, aim, out->target);
  }
}

int tribo_view_camera_is_mounted(const TriboCameraDef* camera) {
  return camera->body != NULL || camera->aim != NULL;
}

// ---- which one

TriboStatus tribo_view_camera_find(const TriboModel* model, const char* which, int* index) {
  const int n = tribo_model_size(model).ncamera;
  which = which != NULL ? which : n > 0 ? "0" : "auto";
  // names first: a camera may be called 1
  for (*index = 0; *index < n; ++*index) {
    const char* name = tribo_model_camera(model, *index)->name;
    if (name != NULL && strcmp(name, which) == 0) {
      return TRIBO_OK;
    }
  }
  char* end;
  const long number = strtol(which, &end, 10);
  *index = -1;
  if (end != which && *end == '\0' && number >= 0 && number < n) {
    *index = (int)number;
    return TRIBO_OK;
  }
  return strcmp(which, "auto") == 0
             ? TRIBO_OK
             : tribo_view_fail(TRIBO_NOT_FOUND, "there is no camera '%s'; the scene has %d, and 'auto' sees everything",
                               which, n);
}

TriboStatus tribo_view_camera(const TriboModel* model, const TriboDrawList* list, const char* which, double aspect,
                              TriboCameraDef* camera) {
  int index;
  *camera = tribo_camera_default();
  VIEW_TRY(tribo_view_camera_find(model, which, &index));
  if (index < 0) {
    automatic(list, aspect, camera);
  } else {
    tribo_view_camera_place_mounted(tribo_view_list_facts(list), tribo_model_camera(model, index), camera);
  }
  return TRIBO_OK;
}
