// Contact modes, the active set of an active-set method: which contacts are open, stick or slip; and the unknowns a
// cone has in each of them.
#pragma once

#include "linear_system.h"

typedef enum TriboMode { TRIBO_OPEN, TRIBO_STICK, TRIBO_SLIP } TriboMode;

// Mode of a round cone at y = x − ρ u.
TriboMode tribo_sol_mode(const TriboScaledCone* k, const double* y);

// Sets k, identity, B and E of a cone; C is cleared.
//     open   no unknown
//     stick  all rows
//     slip   x = a (μ t, 1) + T b:  E picks the normal row and Tᵀ, with t = y_f/‖y_f‖ and T completing it
// Returns c = (‖y_f‖ − μ y_N)/(ρ μ y_N), what stands on the diagonal of b beside the matrix (0 unless slip).
double tribo_sol_local_round(const TriboScaledCone* k, const double* y, double rho, TriboLocal* l);
// The part of it for a cone that slips: k, identity, B and E. Returns ‖y_f‖.
double tribo_sol_local_slip(const TriboScaledCone* k, const double* y, TriboLocal* l);
// Rows with bounds: those with lo < y < hi have an unknown. fixed gets the bound of the others and 0 for those.
void tribo_sol_local_rows(const TriboScaled* sc, const TriboScaledCone* k, const double* y, TriboLocal* l,
                          double* fixed);
