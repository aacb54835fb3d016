// Routines of pairs, from the closed forms up to the narrow phase. Each calls only those to its left:
//
//   closed forms, convex  ◄──  collide_convex (dispatch.c)  ◄──  over_field  ◄──  collide (narrow.c)
#pragma once

#include "manifold.h"

// Closed forms; a is the solid of the lower kind.
typedef void TriboPairFn(const TriboSolid* a, const TriboSolid* b, double reach, TriboManifold* m);
TriboPairFn tribo_col_sphere_sphere, tribo_col_sphere_box, tribo_col_sphere_capsule, tribo_col_sphere_cylinder;
TriboPairFn tribo_col_capsule_capsule, tribo_col_box_capsule, tribo_col_box_box, tribo_col_any_plane;

// Every other convex pair: Coal finds the direction, which is then polished; patches say where.
TRIBO_NODISCARD TriboStatus tribo_col_convex(TriboCoalQuery* query, const TriboSolid* a, const TriboSolid* b,
                                             double reach, TriboManifold* m);

// A convex solid over a height field: exact against a flat one, without bumps where its triangles meet.
TRIBO_NODISCARD TriboStatus tribo_col_over_field(TriboCoalQuery* query, const TriboSolid* solid,
                                                 const TriboSolid* ground, double reach, TriboManifold* m);

// Two convex solids without contact offsets: closed form or Coal. *by_coal (may be NULL) tells which.
TRIBO_NODISCARD TriboStatus tribo_col_collide_convex(TriboCoalQuery* query, const TriboSolid* a, const TriboSolid* b,
                                                     double reach, TriboManifold* m, int* by_coal);

// Any two solids that have a distance, with their contact offsets. *by_coal (may be NULL): no closed form served it.
TRIBO_NODISCARD TriboStatus tribo_col_collide(TriboCoalQuery* query, const TriboSolid* a, const TriboSolid* b,
                                              double reach, TriboManifold* m, int* by_coal);
