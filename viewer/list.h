// Inside the draw list: what its files share.
#pragma once

#include "internal.h"

typedef struct ShapeMesh {
  int mesh;
  float scale[4];
} ShapeMesh;

struct TriboDrawList {
  MeshSet set;
  ShapeMesh* shapes;  // (nshape) of the model
  int nshape;
  double up[3];
  TriboDrawInstance* instances;  // shapes first, overlays after them
  int ninstance, capacity;
};

// Body frames of the current state.
typedef struct Poses {
  const double* position;    // (nbody × 3)
  const double* quaternion;  // (nbody × 4)
} Poses;

TRIBO_NODISCARD TriboStatus tribo_view_list_add(TriboDrawList* list, const TriboDrawInstance* instance);
// Appends what is drawn over the bodies.
TRIBO_NODISCARD TriboStatus tribo_view_list_overlay(TriboDrawList* list, const TriboModel* model, TriboData* data,
                                                    const Poses* poses, const TriboDrawOptions* options);
// The box around one instance, as tight as it can be; not for planes.
void tribo_view_list_box(const TriboDrawList* list, const TriboDrawInstance* instance, double lo[3], double hi[3]);
