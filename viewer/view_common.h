// What the files of the viewer share: messages, growing arrays, sets of textures and meshes.
#pragma once

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view_math.h"
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

// Bytes in base64.
void tribo_view_write_base64(FILE* file, const unsigned char* bytes, size_t n);

// Unit axes of a camera: along the view, to the right and upwards in the picture. Returns the distance from eye to
// target; *sine (may be NULL) how far `up` is from the line of sight: 0 where the camera looks straight up or down.
double tribo_view_camera_axes(const TriboCameraDef* camera, double forward[3], double right[3], double above[3],
                              double* sine);

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
TRIBO_NODISCARD TriboStatus tribo_view_meshes_triangles(MeshSet* set, const TriboVisualInfo* visual, int open);
void tribo_view_meshes_free(MeshSet* set);
