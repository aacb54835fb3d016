// The viewer in two layers: a draw list says what is to be seen (meshes, instances, no OpenGL), a renderer turns it
// into a picture (OpenGL 3.3 core, on screen or off). Both know the simulation through <tribo/tribo.h> only.
//
//     tribo_view_list_create(model, &list);  tribo_view_list_fill(list, model, data, &options);
//     tribo_view_offscreen_create(&context); tribo_view_renderer_create(list, &renderer);
//     tribo_view_renderer_draw(renderer, list, &camera, &image);   tribo_view_image_write(&image, "out.png");
//
// A call that fails leaves one sentence in tribo_view_error(), whether the cause lies here or in the engine.
#pragma once

#include <tribo/tribo.h>

// Never NULL; valid until the next failing call of the same thread.
const char* tribo_view_error(void);

// ---- what is to be seen --------------------------------------------------------------------------------------------

// Things drawn over the bodies; hidden parts shine through.
#define TRIBO_OVERLAYS(X)                                                            \
  X(CONTACTS, "contacts", "contact points: green sticks, orange slides, grey opens") \
  X(FORCES, "forces", "contact forces on the body the normal points to")             \
  X(FRAMES, "frames", "body frames: x red, y green, z blue")                         \
  X(COM, "com", "centres of mass")                                                   \
  X(AABB, "aabb", "bounding boxes of the shapes")
typedef enum TriboOverlay {
#define X(id, name, doc) TRIBO_OVERLAY_##id,
  TRIBO_OVERLAYS(X)
#undef X
      TRIBO_OVERLAY_COUNT
} TriboOverlay;
const char* tribo_view_overlay_name(TriboOverlay overlay);
// "contacts,forces" → bits 1 << TRIBO_OVERLAY_…
TRIBO_NODISCARD TriboStatus tribo_view_overlay_parse(const char* text, unsigned* overlays);

// A vertex of a unit mesh lands at  position + rotation (xyz ∘ scale.xyz + (0, 0, w scale.w)):  w lets capsules and
// arrows grow longer without growing thicker.
typedef struct TriboDrawVertex {
  float xyz[3], w;
  float normal[3];
  float edge[2];  // reaches ±1 at the sharp edges of the face, 0 where there are none
} TriboDrawVertex;

typedef enum TriboDrawMeshId {
  TRIBO_MESH_SPHERE,    // radius 1
  TRIBO_MESH_BOX,       // half lengths 1
  TRIBO_MESH_CAPSULE,   // radius 1, half length w
  TRIBO_MESH_CYLINDER,  // radius 1, half length 1
  TRIBO_MESH_CONE,      // radius 1 at z = −1, apex at z = 1
  TRIBO_MESH_ARROW,     // from the origin along z, thickness 1, length w
  TRIBO_MESH_PLANE,     // solid below z = 0, without end
  TRIBO_MESH_BUILTIN    // hulls follow
} TriboDrawMeshId;

typedef struct TriboDrawMesh {
  int first_vertex, nvertex;
  int first_index, nindex;  // triangles, counter-clockwise from outside, indices from the mesh's first vertex
} TriboDrawMesh;

typedef struct TriboDrawInstance {
  int mesh;
  int overlay;                        // 1: drawn over the bodies, without a shadow
  double position[3], quaternion[4];  // world
  float scale[4];
  float color[4];  // as the screen shows it (sRGB); alpha < 1 is drawn last
} TriboDrawInstance;

typedef struct TriboDrawList TriboDrawList;
// Takes the meshes of a model's shapes; equal hulls share one.
TRIBO_NODISCARD TriboStatus tribo_view_list_create(const TriboModel* model, TriboDrawList** out);
void tribo_view_list_destroy(TriboDrawList* list);

typedef struct TriboDrawOptions {
  unsigned overlays;
  double size;         // how much of the world the picture shows, for the size of marks [m]; 0: the scene's diagonal
  double force_scale;  // [m/N]; 0: the largest force of the frame is a quarter of size
} TriboDrawOptions;
// Replaces the instances by those of the current state.
TRIBO_NODISCARD TriboStatus tribo_view_list_fill(TriboDrawList* list, const TriboModel* model, TriboData* data,
                                                 const TriboDrawOptions* options);

const TriboDrawInstance* tribo_view_list_instances(const TriboDrawList* list, int* count);
const TriboDrawMesh* tribo_view_list_meshes(const TriboDrawList* list, int* count);
const TriboDrawVertex* tribo_view_list_vertices(const TriboDrawList* list, int* count);
const unsigned* tribo_view_list_indices(const TriboDrawList* list, int* count);
// The box around everything that is neither a plane nor an overlay; 0: there is nothing.
int tribo_view_list_bounds(const TriboDrawList* list, double lo[3], double hi[3]);
// Where the sky is: against gravity, or z.
const double* tribo_view_list_up(const TriboDrawList* list);

// A camera of the scene by name or index ("0"), NULL: the first one, or one that sees everything when there is none.
TRIBO_NODISCARD TriboStatus tribo_view_camera(const TriboModel* model, const TriboDrawList* list, const char* which,
                                              double aspect, TriboCameraDef* camera);

// ---- the picture ---------------------------------------------------------------------------------------------------

typedef struct TriboImage {
  int width, height;
  unsigned char* rgb;  // (height × width × 3) rows from the top
} TriboImage;
TRIBO_NODISCARD TriboStatus tribo_view_image_create(int width, int height, TriboImage* image);
void tribo_view_image_destroy(TriboImage* image);
// The mean of factor × factor pixels, taken in linear light. small has the size wanted.
TRIBO_NODISCARD TriboStatus tribo_view_image_shrink(const TriboImage* large, int factor, TriboImage* small);
TRIBO_NODISCARD TriboStatus tribo_view_image_write(const TriboImage* image, const char* path);  // PNG

// An OpenGL context without window or display (EGL surfaceless), current in this thread until it is destroyed.
typedef struct TriboOffscreen TriboOffscreen;
TRIBO_NODISCARD TriboStatus tribo_view_offscreen_create(TriboOffscreen** out);
void tribo_view_offscreen_destroy(TriboOffscreen* context);

// All calls need the context in which the renderer was created to be current.
typedef struct TriboRenderer TriboRenderer;
TRIBO_NODISCARD TriboStatus tribo_view_renderer_create(const TriboDrawList* list, TriboRenderer** out);
void tribo_view_renderer_destroy(TriboRenderer* renderer);
// Draws the list into the image, which says the size.
TRIBO_NODISCARD TriboStatus tribo_view_renderer_draw(TriboRenderer* renderer, const TriboDrawList* list,
                                                     const TriboCameraDef* camera, TriboImage* image);
int tribo_view_renderer_calls(const TriboRenderer* renderer);  // draw calls of the last picture

// ---- film ----------------------------------------------------------------------------------------------------------

// Frames go to ffmpeg through a pipe and become an H.264 MP4. Width and height must be even.
typedef struct TriboVideo TriboVideo;
TRIBO_NODISCARD TriboStatus tribo_view_video_open(const char* path, int width, int height, double fps,
                                                  TriboVideo** out);
TRIBO_NODISCARD TriboStatus tribo_view_video_add(TriboVideo* video, const TriboImage* image);
TRIBO_NODISCARD TriboStatus tribo_view_video_close(TriboVideo* video);  // waits for ffmpeg; frees also on failure
