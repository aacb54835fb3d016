// Above the methods: what is tried, in which order, and the warm start.
#pragma once

#include "methods.h"

// Scores the impulses of the warm start before anything is scaled or factorised; 1 when they solve the measured problem
// far better than asked: they are in lambda (nrow).
int tribo_sol_accept_warm(TriboSolver* s, const TriboWarmStart* warm, int again, double* lambda);

// `auto`: stage after stage until one solves the problem.
void tribo_sol_run_auto(TriboSolver* s);
