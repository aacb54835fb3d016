// Which routine serves which convex pair: a table of closed forms, and Coal with its polish for all others.
#include "narrow.h"

#include "status.h"

// Closed forms by kind, lower kind first; NULL goes to Coal.
static TriboPairFn* const table[TRIBO_SHAPE_COUNT][TRIBO_SHAPE_COUNT] = {
    [TRIBO_SHAPE_SPHERE] = {[TRIBO_SHAPE_SPHERE] = tribo_col_sphere_sphere,
                            [TRIBO_SHAPE_BOX] = tribo_col_sphere_box,
                            [TRIBO_SHAPE_CAPSULE] = tribo_col_sphere_capsule,
                            [TRIBO_SHAPE_CYLINDER] = tribo_col_sphere_cylinder,
                            [TRIBO_SHAPE_HALFSPACE] = tribo_col_any_plane},
    [TRIBO_SHAPE_BOX] = {[TRIBO_SHAPE_BOX] = tribo_col_box_box,
                         [TRIBO_SHAPE_CAPSULE] = tribo_col_box_capsule,
                         [TRIBO_SHAPE_HALFSPACE] = tribo_col_any_plane},
    [TRIBO_SHAPE_CAPSULE] =
        {[TRIBO_SHAPE_CAPSULE] = tribo_col_capsule_capsule, [TRIBO_SHAPE_HALFSPACE] = tribo_col_any_plane},
    [TRIBO_SHAPE_CYLINDER] = {[TRIBO_SHAPE_HALFSPACE] = tribo_col_any_plane},
    [TRIBO_SHAPE_CONE] = {[TRIBO_SHAPE_HALFSPACE] = tribo_col_any_plane},
    [TRIBO_SHAPE_ELLIPSOID] = {[TRIBO_SHAPE_HALFSPACE] = tribo_col_any_plane},
    [TRIBO_SHAPE_HULL] = {[TRIBO_SHAPE_HALFSPACE] = tribo_col_any_plane},
};

TriboStatus tribo_col_collide_convex(TriboCoalQuery* query, const TriboSolid* a, const TriboSolid* b, double reach,
                                     TriboManifold* m, int* by_coal) {
  m->count = 0;
  m->gap = INFINITY;
  TriboPairFn* closed = a->kind <= b->kind ? table[a->kind][b->kind] : table[b->kind][a->kind];
  if (by_coal != NULL) {
    *by_coal = closed == NULL;
  }
  if (closed == NULL) {
    return tribo_col_convex(query, a, b, reach, m);
  }
  if (a->kind <= b->kind) {
    closed(a, b, reach, m);
  } else {
    closed(b, a, reach, m);
    tribo_col_exchange_sides(m);
  }
  return TRIBO_OK;
}
