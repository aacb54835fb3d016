// Coal behind plain C: convex shapes, hulls, mesh files, distance, contact with a margin, contact patch.
// Every function is a barrier: C++ exceptions become a status, nothing is printed, arrays belong to the caller.
//
// What was learned about Coal and is built in: it crashes on flat or non-finite hulls (the callers check first), and a
// solver that is kept remembers its last support vertex even with the default guess (it is reset before each query, so
// that results never depend on history).
#pragma once

#include "collision.h"

#if defined(__cplusplus)
#define TRIBO_NOEXCEPT noexcept
#else
#define TRIBO_NOEXCEPT
#endif

// A convex shape, immutable, shareable between threads. Hulls have their own maker below. Half-spaces are known to
// tribo_coal_contact only.
typedef struct TriboCoalShape TriboCoalShape;
TRIBO_NODISCARD TriboStatus tribo_coal_shape_create(TriboShapeKind kind, const double size[3],
                                                    TriboCoalShape** out) TRIBO_NOEXCEPT;
// From a closed convex surface: points (npoint × 3), outward triangles (ntriangle × 3). The caller has checked both.
TRIBO_NODISCARD TriboStatus tribo_coal_convex_create(const double* points, int npoint, const int* triangles,
                                                     int ntriangle, TriboCoalShape** out) TRIBO_NOEXCEPT;
void tribo_coal_shape_destroy(TriboCoalShape* shape) TRIBO_NOEXCEPT;

// Vertices and triangles on their way to C arrays: measure, then copy.
typedef struct TriboCoalMesh TriboCoalMesh;
// Convex hull. The points must be finite and span a volume: anything else crashes inside.
TRIBO_NODISCARD TriboStatus tribo_coal_hull(const double* points, int npoint, TriboCoalMesh** out) TRIBO_NOEXCEPT;
// Any file the mesh loader knows (STL, OBJ, DAE, …), all its parts in one list.
TRIBO_NODISCARD TriboStatus tribo_coal_mesh_load(const char* path, const double scale[3],
                                                 TriboCoalMesh** out) TRIBO_NOEXCEPT;
void tribo_coal_mesh_size(const TriboCoalMesh* mesh, int* npoint, int* ntriangle) TRIBO_NOEXCEPT;
void tribo_coal_mesh_copy(const TriboCoalMesh* mesh, double* points,
                          int* triangles) TRIBO_NOEXCEPT;  // either may be NULL
void tribo_coal_mesh_destroy(TriboCoalMesh* mesh) TRIBO_NOEXCEPT;

// The scratch of queries: one per thread.
typedef struct TriboCoalQuery TriboCoalQuery;
TRIBO_NODISCARD TriboStatus tribo_coal_query_create(TriboCoalQuery** out) TRIBO_NOEXCEPT;
void tribo_coal_query_destroy(TriboCoalQuery* query) TRIBO_NOEXCEPT;

// The answer of Coal as it is, without any polish: normal from a to b, gap negative inside.
typedef struct TriboCoalAnswer {
  double gap;
  double normal[3];
  double point[3];  // midway between the two witness points
} TriboCoalAnswer;

// Signed distance by GJK and EPA for any two shapes. Their search may fail (about once in 1e5 shallow overlaps): that
// is no error, all numbers of the answer are then NaN.
TRIBO_NODISCARD TriboStatus tribo_coal_distance(TriboCoalQuery* query, const TriboCoalShape* a, const TriboPose* pose_a,
                                                const TriboCoalShape* b, const TriboPose* pose_b,
                                                TriboCoalAnswer* out) TRIBO_NOEXCEPT;

// Coal's own contact within `margin` (*found 0: none) and, when patch is not NULL, the polygon of its contact patch:
// at most *npatch points (in), how many there are (out). Uses Coal's special cases where it has some.
TRIBO_NODISCARD TriboStatus tribo_coal_contact(TriboCoalQuery* query, const TriboCoalShape* a, const TriboPose* pose_a,
                                               const TriboCoalShape* b, const TriboPose* pose_b, double margin,
                                               int* found, TriboCoalAnswer* out, double (*patch)[3],
                                               int* npatch) TRIBO_NOEXCEPT;
