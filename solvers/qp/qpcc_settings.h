// The settings of the QPCC solver: fields, defaults, bounds, units and texts.
#pragma once

#include "settings.h"

#define TRIBO_QPCC_SETTINGS(X)                                                                                     \
  X(REAL, tol, 1e-10, 0, 1, 0, "m/s", "natural-map residual of an answer")                                         \
  X(INT, alm_iterations, 100, 0, 1e6, 0, "", "iterations of the augmented Lagrangian")                             \
  X(REAL, xi, 0.01, 0, 1e9, 1, "", "its penalty of actuator impulses at the start, for scaled problems")           \
  X(REAL, eta, 0.1, 0, 1e9, 1, "", "its penalty of contact impulses at the start")                                 \
  X(REAL, rho, 0.1, 0, 1e9, 1, "", "its penalty of contact velocities at the start")                               \
  X(REAL, grow, 2, 1, 1e3, 1, "", "by which the penalties grow")                                                   \
  X(INT, flips, 2, 0, 4, 0, "",                                                                                    \
    "modes that are tried: 0 none, 1 adjacent, 2 all single, 3 also pairs, 4 until proved")                        \
  X(INT, starts, 15, 1, 15, 0, "", "sum of 1 last modes, 2 augmented Lagrangian, 4 all stick, 8 all break")        \
  X(INT, nodes, 20000, 1, 1e9, 0, "", "most quadratic programs of a proof, or of a search for any feasible modes") \
  X(REAL, margin, 1e-6, 0, 1, 0, "", "relative gain of f below which other modes are not better")                  \
  X(REAL, max_time, 0, 0, 1e6, 0, "s", "time budget; 0: none")
