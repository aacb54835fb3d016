// Height field: heights over a rectangular grid, two triangles per cell, solid below. Triangles of a cell, seen from
// above: the diagonal runs from its corner of least x and y to the opposite one. Pairs with it: pair/over_field.c.
#pragma once

#include "shape.h"

// An edge of the grid in which two triangles meet from below, or which is the border: a solid can rest on it.
typedef struct TriboRidge {
  TriboSolid solid;   // a segment: a capsule of radius 0, in the field's frame
  int vertex[2];      // its ends
  double into[2][3];  // unit directions along each of its triangles, away from the edge
  int nface;          // triangles that meet in it; 1: it is on the border
} TriboRidge;

struct TriboHeightField {
  int nx, ny;              // heights along x, along y
  double low[2], step[2];  // first corner and cell size, x and y [m]
  double bottom, top;      // least and largest height [m]
  double* points;          // (nx·ny × 3) x fastest, field frame [m]
  int* triangles;          // (ntriangle × 3) two per cell, x fastest
  double* normals;         // (ntriangle × 3) unit, upward
  int ntriangle;
  TriboRidge* ridges;  // by the cell of the triangle that owns them
  int* cell_first;     // (cells + 1) into ridges
};

static inline int tribo_col_field_vertex(const TriboHeightField* f, int i, int j) {
  return j * f->nx + i;
}

// The triangle below or above (x, y) of the field's frame, −1 beyond the border; a border belongs to the field.
int tribo_col_field_triangle(const TriboHeightField* f, double x, double y);

// The triangle on the other side of side k (from corner k to the next), −1 on the border.
int tribo_col_field_neighbour(const TriboHeightField* f, int t, int k);

// How far the corners of one triangle rise above the plane of another, as a fraction of a cell; within ± this number
// the two triangles are in one plane.
#define TRIBO_FIELD_FLAT 1e-9
double tribo_col_field_rise(const TriboHeightField* f, int plane, int other);
