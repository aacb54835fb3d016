// The settings of the solvers, one table each: fields, defaults, bounds, units and texts.
#pragma once

#include "settings.h"

// Settings every solver has: X(type, name, default, min, max, open_min, unit, doc)
#define TRIBO_COMMON_SETTINGS(X, max_it)                                                                           \
  X(REAL, tol, 1e-10, 0, 1e300, 0, "m/s", "natural-map residual of the worst cone at which the solve ends")        \
  X(BOOL, whole, 0, 0, 1, 0, "", "tol is of natmap_unit, the residual of the whole problem over its size")         \
  X(INT, max_iterations, max_it, 1, 1e9, 0, "", "iterations of any kind before giving up")                         \
  X(REAL, effort, 0, 0, 1e300, 0, "flop", "floating-point operations before giving up; 0: the solver's own limit") \
  X(REAL, max_time, 0, 0, 1e6, 0, "s", "time budget; 0: none")                                                     \
  X(INT, form, 0, 0, 2, 0, "", "linear algebra: 0 cheapest, 1 dense constraints, 2 sparse motion")                 \
  X(INT, threads, 1, 1, 256, 0, "", "threads inside one solve, where the method has work for them: subadmm")
#define TRIBO_ADMM_SETTINGS(X, omega_, prox_, rho_, rule_, relaxed_, anderson_)                                      \
  TRIBO_COMMON_SETTINGS(X, 1000)                                                                                     \
  X(REAL, over_relaxation, omega_, 1, 1.9, 0, "", "omega; 1: none")                                                  \
  X(REAL, prox, prox_, 0, 1, 0, "", "proximal term eta, for row-scaled problems")                                    \
  X(REAL, rho, rho_, 0, 1e9, 0, "", "penalty at the start; 0: from the spectrum")                                    \
  X(INT, rho_rule, rule_, 0, 3, 0, "", "0 fixed, 1 balances the residuals, 2 moves the spectral exponent, 3 linear") \
  X(INT, anderson, anderson_, 0, 10, 0, "", "steps that Anderson acceleration looks back; 0: none")                  \
  X(BOOL, relaxed, relaxed_, 0, 1, 0, "", "without De Saxce's term: the convex relaxation")                          \
  X(INT, check_every, 5, 1, 1e6, 0, "", "iterations between two looks at the residual")
#define TRIBO_PGS_SETTINGS(X, saxce_, stop_)                                                                   \
  TRIBO_COMMON_SETTINGS(X, 5000)                                                                               \
  X(REAL, relaxation, 1, 0, 1.9, 1, "", "omega of the first sweep")                                            \
  X(REAL, relaxation_decay, 1, 0, 1, 1, "", "by which omega is multiplied after a sweep")                      \
  X(REAL, relaxation_min, 0.1, 0, 1.9, 1, "", "smallest omega")                                                \
  X(BOOL, de_saxce, saxce_, 0, 1, 0, "", "De Saxce's term in the contacts' own problems")                      \
  X(REAL, early_stop, stop_, 0, 1, 0, "", "change of the objective per row at which the solve ends; 0: never") \
  X(INT, check_every, 5, 1, 1e6, 0, "", "sweeps between two looks at the residual")
#define TRIBO_PLAIN_SETTINGS(X) TRIBO_COMMON_SETTINGS(X, 100)
#define TRIBO_AUTO_SETTINGS(X)                                                                                     \
  TRIBO_COMMON_SETTINGS(X, 1e5)                                                                                    \
  X(REAL, accept, 0, 0, 1, 0, "m/s", "r_nat with which a solve ends that comes no nearer to tol; 0: all is tried") \
  X(BOOL, relax, 1, 0, 1, 0, "", "rows that contradict each other are relaxed by the least that has an answer")

#define TRIBO_CANAL_SETTINGS(X)                                                                                       \
  TRIBO_COMMON_SETTINGS(X, 500)                                                                                       \
  X(REAL, beta, 1, 0, 1e9, 1, "", "penalty beta at the start and at least, for row-scaled problems")                  \
  X(REAL, beta_factor, 5, 1, 1e3, 1, "", "kappa: by which beta changes")                                              \
  X(REAL, beta_max, 1e5, 0, 1e12, 1, "", "largest beta")                                                              \
  X(REAL, reduction, 0.25, 0, 1, 1, "", "zeta: beta rises where an iteration leaves more of the multiplier's change") \
  X(INT, easy, 3, 0, 1e6, 0, "", "Newton steps of an iteration up to which beta may rise")                            \
  X(INT, hard, 6, 0, 1e6, 0, "", "Newton steps of an iteration above which beta falls")                               \
  X(INT, inner, 0, 0, 2, 0, "", "0 cascade, then damped and so on; 1 damped, the strict law; 2 cascade alone")        \
  X(INT, check_every, 1, 1, 1e6, 0, "", "iterations between two looks at the residual")

#define TRIBO_SUBADMM_SETTINGS(X)                                                                                \
  TRIBO_COMMON_SETTINGS(X, 100)                                                                                  \
  X(REAL, over_relaxation, 1.6, 1, 1.9, 0, "", "omega; 1: none")                                                 \
  X(REAL, beta, 0, 0, 1e12, 0, "", "penalty beta at the start; 0: 10, and the mass per contact without scaling") \
  X(BOOL, adapt, 1, 0, 1, 0, "", "beta balances the residuals")                                                  \
  X(INT, split, 2, 0, 2, 0, "",                                                                                  \
    "0 none: one system for all; 1 by subsystem; 2 by body: also by the branches of a tree")                     \
  X(INT, scaling, 1, 0, 1, 0, "", "0 none: one beta for all; 1 by cone")                                         \
  X(INT, check_every, 25, 0, 1e6, 0, "", "iterations between two looks at the residual; 0: only the last")

typedef struct TriboCommonSettings {
  TRIBO_PLAIN_SETTINGS(TRIBO_SETTING_FIELD)
} TriboCommonSettings;
typedef struct TriboAdmmSettings {
  TRIBO_ADMM_SETTINGS(TRIBO_SETTING_FIELD, 0, 0, 0, 0, 0, 0)
} TriboAdmmSettings;
typedef struct TriboPgsSettings {
  TRIBO_PGS_SETTINGS(TRIBO_SETTING_FIELD, 0, 0)
} TriboPgsSettings;
typedef struct TriboAutoSettings {
  TRIBO_AUTO_SETTINGS(TRIBO_SETTING_FIELD)
} TriboAutoSettings;
typedef struct TriboCanalSettings {
  TRIBO_CANAL_SETTINGS(TRIBO_SETTING_FIELD)
} TriboCanalSettings;
typedef struct TriboSubadmmSettings {
  TRIBO_SUBADMM_SETTINGS(TRIBO_SETTING_FIELD)
} TriboSubadmmSettings;
