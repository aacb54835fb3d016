// Solvers: the contact problem in, impulses out. The interface is public: <tribo/problem.h>. This header adds what only
// the engine itself needs.
#pragma once

#include <tribo/problem.h>

// Names and versions of the linear algebra in use ("OpenBLAS 0.3.21"), for `tribo version`.
const char* tribo_la_version(void);
