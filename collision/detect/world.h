// What a collision world holds: geometries, and which of them may touch.
#pragma once

#include "broad.h"
#include "shape.h"

struct TriboColWorld {
  int ngeom, nbody;
  TriboGeom* geoms;
  TriboSolid* solids;            // (ngeom) with Coal objects, at their place for static ones
  int *moving, *fixed, *planes;  // geometries by their part in the broad phase; not those that meet nothing
  int nmoving, nfixed, nplane;
  uint64_t* excluded;  // sorted keys of body pairs
  int nexcluded;
  // of a small world all pairs that may touch, half-spaces left out, sorted by (a, b): there it is quicker to look at
  // each of them than to make a tree. NULL: a large world
  TriboGeomPair* pairs;
  int npair;
  TriboSdf** fields;  // (nfield) of geometries that are none, but may meet one: what detection needs of them
  int nfield;
};
