// Above the methods: what is tried, in which order, and the warm start.
#pragma once

#include "methods.h"

// Scores the impulses of the warm start before anything is scaled or factorised; 1 when they solve the measured problem
// far better than asked: they are in lambda (nrow).
int tribo_sol_accept_warm(TriboSolver* s, const TriboWarmStart* warm, double* lambda);

// Solves with the modes of the warm start, near its impulses, once accept_warm has scored them. Of its passes one in
// `turns`, 1 or 2, has to halve what is left.
void tribo_sol_warm_modes(TriboSolver* s, int turns);
// Are there no more unknowns than motions at the modes of the last factors, so that these leave no choice of impulses?
int tribo_sol_is_determined(const TriboSolver* s);

// `auto`: stage after stage until one solves the problem.
void tribo_sol_run_auto(TriboSolver* s);
