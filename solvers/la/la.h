// Linear algebra: the only door to BLAS, LAPACK and SuiteSparse, always on one thread.
// Dense matrices are column-major where LAPACK works on them, as each function says.
#pragma once

#include "status.h"
