// Maps onto cones, one cone at a time, friction rows first and normal last.
#pragma once

#include "scaled.h"

// Euclidean projection on the round cone ‖p_f‖ ≤ mu p_N.
void tribo_sol_project_round(int dim, double mu, const double* x, double* p);
// Euclidean projection on ‖D⁻¹ p_f‖ ≤ p_N, D = diag(mu).
void tribo_sol_project_elliptic(int dim, const double* mu, const double* x, double* p);

// On whole vectors in own coordinates; x and p may be the same.
void tribo_sol_project(const TriboScaled* sc, const double* x, double* p);
// Alart and Curnier's map: p_N = max(x_N, 0), p_f = x_f cut to the disc of radius mu p_N.
void tribo_sol_alart_curnier(const TriboScaled* sc, const double* x, double* p);
// s = z + Γ(z): mu ‖z_f‖ more on the normal rows.
void tribo_sol_shift(const TriboScaled* sc, const double* z, double* s);
