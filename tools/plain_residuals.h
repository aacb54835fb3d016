// Residuals of an answer in plain units, as Tsounis, Grandia, Baecher 2025 have them, beside those of the library.
#pragma once

#include <tribo/problem.h>

// ‖λ − P_K(λ − σ̂)‖∞, the natural map (164) without scaling: N·s and m/s in one.
double plain_natmap(const TriboProblem* problem, const double* lambda, const double* sigma);
// ½ λᵀ(G + R) λ + gᵀλ, what the convex relaxation makes least.
double plain_objective(const TriboProblem* problem, const double* lambda, const double* sigma);
