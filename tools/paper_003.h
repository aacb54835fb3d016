// The contact residual of Lee et al. 2025, section VII: ‖λ − T(λ − J v⁺ − γ)‖ over the number of contacts, T the strict
// law, which puts the normal first and cuts friction to the disc that it allows. It adds impulses and velocities as if
// every mass were 1 kg, and a sum over contacts divided by their number flatters problems with many: for comparison
// with that paper alone.
#pragma once

#include <tribo/problem.h>

double paper_003_residual(const TriboProblem* problem, const double* lambda, const double* sigma);
