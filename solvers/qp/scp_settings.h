// The settings of a plan's solve: X(type, name, house, min, max, open_min, unit, doc), and what Algorithm 1 with Table
// I of the paper has where the house differs.
#pragma once

#include "settings.h"

#define TRIBO_PLAN_SETTINGS(X)                                                                        \
  X(INT, max_iterations, 1000, 1, 10000, 0, "", "steps tried before giving up")                       \
  X(REAL, max_time, 0, 0, 1e6, 0, "s", "time budget; 0: none")                                        \
  X(REAL, radius, 1, 0, 1e6, 1, "", "trust radius at the start, of the largest component of a step")  \
  X(REAL, radius_max, 10, 0, 1e6, 1, "", "largest trust radius")                                      \
  X(REAL, low, 0.25, 0, 1, 0, "", "actual over predicted decrease below which the radius shrinks")    \
  X(REAL, high, 0.75, 0, 1, 0, "", "the same, above which a radius that binds expands")               \
  X(REAL, shrink, 0.25, 0, 1, 1, "", "by which the radius shrinks")                                   \
  X(REAL, expand, 2, 1, 100, 0, "", "by which the radius expands")                                    \
  X(BOOL, correction, 1, 0, 1, 0, "", "second-order correction of steps that raise the merit")        \
  X(REAL, correct_below, 0.25, 0, 1, 0, "",                                                           \
    "actual over predicted decrease below which also a good step is corrected")                       \
  X(REAL, penalty, 10, 0, 1e9, 1, "", "penalty of every row at the start")                            \
  X(REAL, penalty_max, 1e6, 0, 1e12, 1, "", "largest penalty")                                        \
  X(REAL, grow, 10, 1, 1e6, 0, "", "by which penalties of violated rows grow")                        \
  X(REAL, grow_kind, 10, 1, 1e6, 0, "", "the same for rows of a violated row's kind at other stages") \
  X(REAL, grow_rest, 1, 1, 1e6, 0, "", "the same for all other rows")                                 \
  X(REAL, reset_radius, 1, 0, 1e6, 0, "", "least trust radius after penalties grew; 0: as it was")    \
  X(INT, window, 8, 1, 1000, 0, "", "iterations over which stall and tail look")                      \
  X(REAL, stall, 0.01, 0, 1, 0, "",                                                                   \
    "part of the penalty term by which the merit must fall, or penalties grow; 0: off")               \
  X(REAL, tail, 1e-3, 0, 1, 0, "",                                                                    \
    "part of the cost by which the merit of a feasible plan must fall, or it ends; 0: off")           \
  X(REAL, tol_violation, 1e-6, 0, 1, 1, "", "violation below which a plan is feasible")               \
  X(REAL, tol_step, 1e-3, 0, 1, 0, "", "step below which the merit has converged")                    \
  X(REAL, tol_radius, 1e-3, 0, 1, 0, "", "trust radius below which the merit has converged")          \
  X(REAL, tol_qp, 1e-9, 0, 1e-3, 1, "", "duality gap of the convex problems, relative to 1 and the objective")

// (name, value) of the paper's rules where they differ from the house's
#define TRIBO_PLAN_PAPER_RULES(X) \
  X(correct_below, 0)             \
  X(grow_kind, 1)                 \
  X(reset_radius, 0)              \
  X(stall, 0)                     \
  X(tail, 0)

typedef struct TriboPlanSettings {
  TRIBO_PLAN_SETTINGS(TRIBO_SETTING_FIELD)
} TriboPlanSettings;
