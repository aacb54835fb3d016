// Inside the renderer: what lies in the memory of the GPU, and who puts it there.
#pragma once

#include <epoxy/gl.h>

#include "list.h"
#include "shaders.h"

enum { SHADOW_SIZE = 2048, SAMPLES = 4 };

// Instances are drawn in this order.
typedef enum Stage { STAGE_OPAQUE, STAGE_PLANE, STAGE_CLEAR, STAGE_OVERLAY, STAGE_COUNT } Stage;

typedef struct Sorted {
  Stage stage;
  int mesh, texture, index;
  double distance;  // from the eye, for transparent ones
} Sorted;

// Consecutive instances of one mesh and texture in one stage: one draw call.
typedef struct Batch {
  Stage stage;
  int mesh, texture, first, count;
} Batch;

typedef struct GpuInstance {
  float at[4], quaternion[4], scale[4], color[4];
  float mapping[4];  // repeat, how the texture lies
} GpuInstance;

struct TriboRenderer {
  GLuint array, vertices, indices, instances, block;
  GLuint shadow, body[2], plane[2], sky[2];  // programs: without textures, and with
  GLint opacity[2];                          // of the programs body
  GLuint shadow_map, shadow_frame;
  GLuint* textures;  // (ntexture) the first is white
  int ntexture;
  GLuint frame, color, depth;       // several samples per pixel
  GLuint resolved, resolved_color;  // one
  int width, height;                // of the frames
  Sorted* sorted;
  Batch* batches;
  GpuInstance* upload;
  int nbatch, sorted_capacity, batch_capacity, upload_capacity;
  int calls;
  long long serial;  // of the meshes that were uploaded
};

// gpu_upload.c: meshes and textures of a list, unless they are those of the last one; frames of a size.
TRIBO_NODISCARD TriboStatus tribo_view_gpu_upload(TriboRenderer* r, const TriboDrawList* list);
TRIBO_NODISCARD TriboStatus tribo_view_gpu_resize(TriboRenderer* r, int width, int height);
