// Inside the draw list: what its files share.
#pragma once

#include "view_common.h"

// Which mesh a shape or visual is drawn with.
typedef struct ShapeMesh {
  int mesh;        // of the set
  float scale[4];  // as TriboDrawVertex says
} ShapeMesh;

// A list that shares the textures of another one of the same model; NULL: it reads them.
TRIBO_NODISCARD TriboStatus tribo_view_list_make(const TriboModel* model, TextureSet* textures, TriboDrawList** out);

struct TriboDrawList {
  MeshSet set;
  TextureSet* textures;
  TriboDrawSky sky;
  ShapeMesh* shape_meshes;     // (nshape + nvisual) of the model's shapes, then of its visuals
  unsigned char* has_visuals;  // (nbody) 1: it has visuals
  int nshape, nvisual;
  double up[3];                  // unit vector against gravity
  TriboDrawInstance* instances;  // shapes first, overlays after them
  int ninstance, capacity;
  int wireframe;     // 1: bodies are drawn as wires
  long long serial;  // of the mesh set: lists with the same one share what the renderer has uploaded
  TriboDrawFacts facts;
  double* numbers;  // of the facts
  double* depths;   // (nbody) penetration of each, behind them
  TriboContactView* contacts;
  int number_capacity, contact_capacity;
  void* keep;  // what must live as long as the list; NULL: the caller sees to it
  void (*release)(void* keep);
};

// Body frames of the current state.
typedef struct Poses {
  const double* position;    // (nbody × 3)
  const double* quaternion;  // (nbody × 4)
} Poses;

// list.c: a shape of the model where it is, drawn or not; visuals are numbered after the shapes.
void tribo_view_list_shape(const TriboDrawList* list, const TriboModel* model, int shape, const Poses* poses,
                           TriboDrawInstance* out);
// instances.c
TRIBO_NODISCARD TriboStatus tribo_view_list_add(TriboDrawList* list, const TriboDrawInstance* instance);
TRIBO_NODISCARD TriboStatus tribo_view_list_ball(TriboDrawList* list, const double at[3], double radius,
                                                 const float color[4], int of);
TRIBO_NODISCARD TriboStatus tribo_view_list_arrow(TriboDrawList* list, const double from[3], const double arrow[3],
                                                  double thickness, const float color[4], int of);
TRIBO_NODISCARD TriboStatus tribo_view_list_bar(TriboDrawList* list, const double from[3], const double to[3],
                                                double thickness, const float color[4]);
// A point or a direction of a body in the world; body may be TRIBO_WORLD.
void tribo_view_list_point(const Poses* poses, int body, const double local[3], double out[3]);
void tribo_view_list_direction(const Poses* poses, int body, const double local[3], double out[3]);
// mechanism.c: inertia, joints, closures.
TRIBO_NODISCARD TriboStatus tribo_view_list_inertia(TriboDrawList* list, const TriboModel* model, const Poses* poses);
TRIBO_NODISCARD TriboStatus tribo_view_list_joints(TriboDrawList* list, const TriboModel* model, const double* q,
                                                   const Poses* poses, double size);
TRIBO_NODISCARD TriboStatus tribo_view_list_efforts(TriboDrawList* list, const TriboModel* model, TriboData* data,
                                                    const double* efforts, const Poses* poses, double size);
TRIBO_NODISCARD TriboStatus tribo_view_list_closures(TriboDrawList* list, const TriboModel* model, const Poses* poses,
                                                     double size);
// wrench.c: (nbody × 6) momentum of every body, and spin about its centre of mass, world axes.
TRIBO_NODISCARD TriboStatus tribo_view_momenta(const TriboModel* model, TriboData* data, double* out);
// trails.c
TRIBO_NODISCARD TriboStatus tribo_view_list_trails(TriboDrawList* list, const TriboTrails* trails, double size);
// overlay.c: colours of the bodies other than their own: islands, penetration, glass, the selected one.
TRIBO_NODISCARD TriboStatus tribo_view_list_paint(TriboDrawList* list, const TriboModel* model, const TriboData* data,
                                                  const TriboDrawOptions* options);
// Appends what is drawn over the bodies.
TRIBO_NODISCARD TriboStatus tribo_view_list_overlay(TriboDrawList* list, const TriboModel* model, TriboData* data,
                                                    const Poses* poses, const TriboDrawOptions* options);
// The box around one instance, as tight as it can be; not for planes.
void tribo_view_list_box(const TriboDrawList* list, const TriboDrawInstance* instance, double lo[3], double hi[3]);
