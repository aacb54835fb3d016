// What SubADMM has in common with and without its cut (subadmm.c, subadmm_whole.c).
#pragma once

#include "methods.h"

enum {
  TRIBO_ADAPT_EVERY = 10,  // iterations between two looks at the residuals of ADMM
  TRIBO_BETA_CHANGES = 5,  // at most: each costs two to five iterations
  TRIBO_ADMM_SUMS = 5  // ‖K v − z̄‖², ‖K v‖², ‖z̄‖², ‖z̄⁺ − z̄‖², ‖λ̄‖² of a cone
};

// β at the start: of the step before, as set, or as measured.
double tribo_sol_first_beta(const TriboSolver* s);
// f of a cone for β = 1.
double tribo_sol_unit_factor(const TriboSolver* s, const TriboScaledCone* k);
// By which to multiply β (43), from the sums of all cones; 1: it stays.
double tribo_sol_step_of_beta(const double* sum);

// `split: none`.
void tribo_sol_run_whole(TriboSolver* s);
