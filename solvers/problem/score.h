// The score of a point: the solvers' own estimate of its residuals, in units of the tolerances.
#pragma once

#include <tribo/problem.h>

typedef struct TriboScore {
  double nat, unit;  // r_nat [m/s]; natmap_unit, 0 where it is not asked for
  double value;      // how many times the tolerance; the larger of the two
} TriboScore;

// Sums over the cones of a problem. Begins with the first three, all else 0.
typedef struct TriboTally {
  double mean;            // diagonal of G + R, over all rows
  int relaxed;            // without De Saxcé's term
  int has_unit;           // natmap_unit is asked for, too
  double nat;             // of the worst cone [m/s]
  double most;            // largest (dᵢ‖λᵢ‖)², by which rounding is measured
  double square;          // of the natural map for the scale `mean`
  double norm_l, norm_s;  // squares of λ and σ
} TriboTally;

// Adds a cone with its mean diagonal, λ and σ (cone->dim); both are 0 in rows whose friction coefficient is 0.
void tribo_sol_tally(TriboTally* tally, const TriboCone* cone, double mean, const double* lambda, const double* sigma);
// The score for a tolerance [m/s] of the worst cone, or, with `whole`, one of natmap_unit; ‖g‖ = norm_g.
TriboScore tribo_sol_score(const TriboTally* tally, double norm_g, double tol, int whole);
