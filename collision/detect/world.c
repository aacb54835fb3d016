// Making a collision world: checks, solids with their Coal objects, and who may touch whom.
#include "world.h"

#include <stdlib.h>

#include "memory.h"
#include "sdf_field.h"

static uint64_t body_pair(int x, int y) {
  return x < y ? (uint64_t)x << 32 | (uint32_t)y : (uint64_t)y << 32 | (uint32_t)x;
}

static int compare_keys(const void* x, const void* y) {
  uint64_t a = *(const uint64_t*)x, b = *(const uint64_t*)y;
  return (a > b) - (a < b);
}

// Refuses a definition that lacks an array or has a wrong geometry or body, naming it.
static TriboStatus check_def(const TriboColWorldDef* def) {
  const char* where = "tribo_col_world_create";
  if (def == NULL || def->ngeom < 0 || def->nbody < 0 || def->nexcluded < 0 || (def->ngeom > 0 && def->geoms == NULL) ||
      (def->nexcluded > 0 && def->excluded == NULL)) {
    return tribo_fail(TRIBO_INVALID, "%s: def, an array of it or a count is missing or negative", where);
  }
  for (int i = 0; i < def->ngeom; ++i) {
    TriboStatus status = tribo_col_geom_validate(def->geoms + i);
    if (status == TRIBO_OK && def->geoms[i].body >= def->nbody) {
      status = tribo_fail(TRIBO_INVALID, "%s: body is %d, it must be below %d", where, def->geoms[i].body, def->nbody);
    }
    if (status != TRIBO_OK) {
      tribo_fail_prefix("geom %d: ", i);
      return status;
    }
  }
  for (int i = 0; i < def->nexcluded; ++i) {
    for (int k = 0; k < 2; ++k) {
      int body = def->excluded[i][k];
      if (body < TRIBO_WORLD_BODY || body >= def->nbody) {
        return tribo_fail(TRIBO_INVALID, "%s: excluded[%d][%d] is %d, it must be within %d … %d", where, i, k, body,
                          TRIBO_WORLD_BODY, def->nbody - 1);
      }
    }
  }
  return TRIBO_OK;
}

static TriboStatus world_alloc(TriboColWorld* w, const TriboColWorldDef* def) {
  size_t n = (size_t)def->ngeom;
  w->geoms = tribo_alloc(n, sizeof *w->geoms);
  w->solids = tribo_alloc(n, sizeof *w->solids);
  w->moving = tribo_alloc(n, sizeof *w->moving);
  w->fixed = tribo_alloc(n, sizeof *w->fixed);
  w->planes = tribo_alloc(n, sizeof *w->planes);
  w->excluded = tribo_alloc((size_t)def->nexcluded, sizeof *w->excluded);
  if (!w->geoms || !w->solids || !w->moving || !w->fixed || !w->planes || !w->excluded) {
    return tribo_fail(TRIBO_NOMEM, "tribo_col_world_create: no memory for %zu geometries", n);
  }
  return TRIBO_OK;
}

// Whether groups and masks keep a geometry from all others.
static int is_idle(const TriboGeom* geom, uint32_t groups, uint32_t masks) {
  return !(geom->group & masks) || !(geom->mask & groups);
}

// Geometries with their solids, sorted by their part in the broad phase, and the excluded pairs of bodies.
static TriboStatus world_fill(TriboColWorld* w, const TriboColWorldDef* def) {
  uint32_t groups = 0, masks = 0;
  for (int i = 0; i < def->ngeom; ++i) {
    groups |= def->geoms[i].group;
    masks |= def->geoms[i].mask;
  }
  w->ngeom = def->ngeom, w->nbody = def->nbody, w->nexcluded = def->nexcluded;
  for (int i = 0; i < def->ngeom; ++i) {
    const TriboGeom* geom = def->geoms + i;
    w->geoms[i] = *geom;
    TRIBO_TRY(tribo_col_solid_open(geom, &geom->local, w->solids + i));
    const int idle = is_idle(geom, groups, masks);
    if (geom->kind == TRIBO_SHAPE_HALFSPACE) {
      w->planes[w->nplane] = i;
      w->nplane += !idle;
      continue;
    }
    if (geom->body == TRIBO_WORLD_BODY) {
      w->fixed[w->nfixed] = i;
      w->nfixed += !idle;
    } else {
      w->moving[w->nmoving] = i;
      w->nmoving += !idle;
    }
  }
  for (int i = 0; i < def->nexcluded; ++i) {
    // the world is −1: shift all bodies by one
    w->excluded[i] = body_pair(def->excluded[i][0] + 1, def->excluded[i][1] + 1);
  }
  qsort(w->excluded, (size_t)w->nexcluded, sizeof *w->excluded, compare_keys);
  return TRIBO_OK;
}

int tribo_col_may_touch(const TriboColWorld* world, int a, int b) {
  const TriboGeom *x = world->geoms + a, *y = world->geoms + b;
  if (x->body == y->body || !(x->group & y->mask) || !(y->group & x->mask)) {
    return 0;
  }
  uint64_t key = body_pair(x->body + 1, y->body + 1);
  return world->nexcluded == 0 ||
         bsearch(&key, world->excluded, (size_t)world->nexcluded, sizeof key, compare_keys) == NULL;
}

// Whether two geometries are a pair for the broad phase: at least one of them moves, and none is a half-space.
static int is_pair(const TriboColWorld* w, int a, int b) {
  return (w->geoms[a].body != TRIBO_WORLD_BODY || w->geoms[b].body != TRIBO_WORLD_BODY) &&
         w->geoms[a].kind != TRIBO_SHAPE_HALFSPACE && w->geoms[b].kind != TRIBO_SHAPE_HALFSPACE &&
         tribo_col_may_touch(w, a, b);
}

// How many pairs the world has for the broad phase; they are written down unless `out` is NULL.
static int count_pairs(const TriboColWorld* w, TriboGeomPair* out) {
  int count = 0;
  for (int a = 0; a < w->ngeom; ++a) {
    for (int b = a + 1; b < w->ngeom; ++b) {
      if (!is_pair(w, a, b)) {
        continue;
      }
      if (out != NULL) {
        out[count] = (TriboGeomPair){a, b};
      }
      count++;
    }
  }
  return count;
}

// Lists the pairs of a world that has so few per geometry that a look at each is faster than a tree (measured on boxes;
// half of a robot's pairs or more can never touch).
static TriboStatus list_pairs(TriboColWorld* w) {
  enum { MOST_GEOMS = 512, MOST_PAIRS = 24 };
  if (w->ngeom > MOST_GEOMS) {
    return TRIBO_OK;
  }
  w->npair = count_pairs(w, NULL);
  if (w->npair > MOST_PAIRS * w->ngeom) {
    return TRIBO_OK;
  }
  w->pairs = tribo_alloc((size_t)w->npair + 1, sizeof *w->pairs);
  if (w->pairs == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_col_world_create: no memory for %d pairs", w->npair);
  }
  count_pairs(w, w->pairs);
  return TRIBO_OK;
}

static int has_same_field(const TriboGeom* a, const TriboGeom* b) {
  return a->kind == b->kind && a->hull == b->hull && tribo_equal(a->size, b->size, 3);
}

// Fields of all convex solids that may meet a distance field; equal ones share theirs.
static TriboStatus make_fields(TriboColWorld* w) {
  for (int i = 0; i < w->ngeom; ++i) {
    int hits = 0;
    for (int k = 0; k < w->ngeom && w->geoms[i].kind < TRIBO_SHAPE_SDF && !hits; ++k) {
      hits = w->geoms[k].kind == TRIBO_SHAPE_SDF && tribo_col_may_touch(w, i, k);
    }
    if (!hits) {
      continue;
    }
    TriboSolid* solid = &w->solids[i];
    for (int k = 0; k < i && solid->sdf == NULL; ++k) {
      solid->sdf = has_same_field(&w->geoms[i], &w->geoms[k]) ? w->solids[k].sdf : NULL;
    }
    if (solid->sdf == NULL) {
      TRIBO_TRY(TRIBO_APPEND(&w->fields, w->nfield, 1));
      TRIBO_TRY(tribo_col_sdf_of_geom(&w->geoms[i], &w->fields[w->nfield]));
      solid->sdf = w->fields[w->nfield++];
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_col_world_create(const TriboColWorldDef* def, TriboColWorld** out) {
  TRIBO_TRY(check_def(def));
  TriboColWorld* world = tribo_alloc(1, sizeof *world);
  if (world == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_col_world_create: no memory");
  }
  TriboStatus status = world_alloc(world, def);
  if (status == TRIBO_OK) {
    status = world_fill(world, def);
  }
  if (status == TRIBO_OK) {
    status = make_fields(world);
  }
  if (status == TRIBO_OK) {
    status = list_pairs(world);
  }
  if (status != TRIBO_OK) {
    tribo_col_world_destroy(world);
    return status;
  }
  *out = world;
  return TRIBO_OK;
}

void tribo_col_world_destroy(TriboColWorld* world) {
  if (world == NULL) {
    return;
  }
  if (world->solids != NULL) {
    for (int i = 0; i < world->ngeom; ++i) {
      tribo_col_solid_close(world->solids + i);
    }
  }
  for (int i = 0; i < world->nfield; ++i) {
    tribo_col_sdf_destroy(world->fields[i]);
  }
  tribo_free(world->fields);
  void* all[] = {world->geoms,  world->solids,   world->moving, world->fixed,
                 world->planes, world->excluded, world->pairs};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    tribo_free(all[i]);
  }
  tribo_free(world);
}
