// Connected components of a triangle mesh.
#pragma once

#include "shape.h"

// The points (npoint × 3) grouped by component into grouped (npoint × 3): component k is first[k] … first[k+1]−1.
// first (npoint + 2) comes as zeros.
TRIBO_NODISCARD TriboStatus tribo_col_components(const double* points, int npoint, const int* triangles, int ntriangle,
                                                 double* grouped, int* first, int* ncomponent);
