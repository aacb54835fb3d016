// What the files of the viewer share: messages, growing arrays, small vectors.
#pragma once

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "viewer.h"

// Keeps the sentence for tribo_view_error() and returns the status.
TRIBO_NODISCARD TriboStatus tribo_view_fail(TriboStatus status, const char* format, ...) TRIBO_PRINTF(2, 3);

#define VIEW_TRY(call)            \
  do {                            \
    TriboStatus status_ = (call); \
    if (status_ != TRIBO_OK) {    \
      return status_;             \
    }                             \
  } while (0)

// The same for a call into the engine: its sentence becomes ours.
#define VIEW_TRY_ENGINE(call)                                    \
  do {                                                           \
    TriboStatus status_ = (call);                                \
    if (status_ != TRIBO_OK) {                                   \
      return tribo_view_fail(status_, "%s", tribo_last_error()); \
    }                                                            \
  } while (0)

// Room for `need` items in an array that was made by malloc; grows by doubling.
TRIBO_NODISCARD TriboStatus tribo_view_reserve(void** items, int* capacity, int need, size_t item);

// Pictures in memory, shared by the lists of one model.
typedef struct TextureSet {
  atomic_int users;
  int count;
  TriboTexture* items;
} TextureSet;
TRIBO_NODISCARD TriboStatus tribo_view_textures_create(const TriboModel* model, TextureSet** out);
void tribo_view_textures_release(TextureSet* set);  // the last one to let go frees it

// The unit meshes and the hulls, all in one array of vertices and one of indices.
typedef struct MeshSet {
  TriboDrawMesh* meshes;
  TriboDrawVertex* vertices;
  unsigned* indices;
  int nmesh, nvertex, nindex;
  int mesh_capacity, vertex_capacity, index_capacity;
} MeshSet;
TRIBO_NODISCARD TriboStatus tribo_view_meshes_builtin(MeshSet* set);
// Vertices where faces meet at less than 30° are smooth.
TRIBO_NODISCARD TriboStatus tribo_view_meshes_triangles(MeshSet* set, const TriboVisualInfo* look, int open);
void tribo_view_meshes_free(MeshSet* set);

// ---- vectors, in double

static inline double dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void cross3(const double a[3], const double b[3], double out[3]) {
  double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  memcpy(out, c, sizeof c);
}
// Returns the length; a vector without one stays as it is.
static inline double normalize3(double a[3]) {
  double n = sqrt(dot3(a, a));
  for (int i = 0; i < 3 && n > 0; ++i) {
    a[i] /= n;
  }
  return n;
}
// Any unit vector at a right angle to the unit vector a.
static inline void across3(const double a[3], double out[3]) {
  double e[3] = {0};
  e[fabs(a[0]) < 0.6 ? 0 : 1] = 1;
  cross3(a, e, out);
  normalize3(out);
}
// What is to the right and in front of someone who looks along y when the sky is at `up`.
static inline void axes_from_up(const double up[3], double side[3], double front[3]) {
  const double x[3] = {1, 0, 0};
  if (fabs(up[0]) < 0.9) {
    cross3(x, up, front);
    normalize3(front);
  } else {
    across3(up, front);
  }
  cross3(up, front, side);
}
static inline void quat_rotate(const double q[4], const double v[3], double out[3]) {
  double t[3], u[3];
  cross3(q, v, t);
  for (int i = 0; i < 3; ++i) {
    t[i] += q[3] * v[i];
  }
  cross3(q, t, u);
  for (int i = 0; i < 3; ++i) {
    out[i] = v[i] + 2 * u[i];
  }
}
static inline void quat_multiply(const double a[4], const double b[4], double out[4]) {
  double v[3];
  cross3(a, b, v);
  for (int i = 0; i < 3; ++i) {
    v[i] += a[3] * b[i] + b[3] * a[i];
  }
  out[3] = a[3] * b[3] - dot3(a, b);
  memcpy(out, v, sizeof v);
}
// The rotation that turns z into the unit vector d.
static inline void quat_from_z(const double d[3], double out[4]) {
  double q[4] = {-d[1], d[0], 0, 1 + d[2]};
  if (q[3] < 1e-9) {
    q[0] = 1, q[1] = 0, q[3] = 0;
  }
  double n = sqrt(dot3(q, q) + q[3] * q[3]);
  for (int i = 0; i < 4; ++i) {
    out[i] = q[i] / n;
  }
}
