// Least distance: the point nearest to a given one under linear equalities and inequalities. Every convex quadratic
// program is one in coordinates in which its Hessian is the identity.
//
//     min ½ ‖y − y0‖²   with   rowᵢᵀ y = bᵢ (the first `nequal`),   rowᵢᵀ y ≥ bᵢ (the others)
#pragma once

#include "lanes.h"
#include "status.h"

typedef struct TriboLeastDistance {
  int most_n, most_row;
  int n, ld;  // unknowns, and the length of every vector and row: the next multiple of four, the rest is zero

  // the problem: the rows stay the caller's
  int nrow, nequal;
  const double** row;    // (nrow) each of length ld
  double* b;             // (nrow)
  double* slack;         // (nrow) by how much a row may be missed
  unsigned char* first;  // (nrow) 1: believed to be active, looked at before the others
  double* y0;            // (ld)

  // the answer
  double* y;    // (ld)
  double* u;    // (nactive) multipliers, ≥ 0 but for equalities:  y − y0 = Σ u row
  int* active;  // (nactive) rows that hold with equality and are independent of each other
  int nactive;
  int blocked;      // the row that cannot be met, −1: none
  long iterations;  // rows that joined or left, over all solves

  double *Qt, *R, *d, *r, *w;  // orthonormal Q as rows of Qt, [rows of `active`] = Q₁ R; scratch
  unsigned char* is_active;    // (nrow)
} TriboLeastDistance;

TriboStatus tribo_sol_ldp_create(TriboLeastDistance* p, int most_n, int most_row);
void tribo_sol_ldp_free(TriboLeastDistance* p);

// Begins a problem of n unknowns without rows; y0 is to be filled.
void tribo_sol_ldp_begin(TriboLeastDistance* p, int n);
// Equalities before inequalities.
void tribo_sol_ldp_add(TriboLeastDistance* p, const double* row, double b, double slack, int first);

// 0: no point satisfies all rows, `blocked` is one that cannot be met with the others.
int tribo_sol_ldp_solve(TriboLeastDistance* p);

// What the answer becomes when the active rows change by e (nactive) in their values and y0 by −c (ld):
// dy = −Q₁ R⁻ᵀ e − Q₂ Q₂ᵀ c,  du = R⁻¹ Q₁ᵀ (dy + c). dy (ld); du (nactive) may be NULL.
void tribo_sol_ldp_respond(TriboLeastDistance* p, const double* e, const double* c, double* dy, double* du);

// Sum of products of vectors of length ld.
static inline double tribo_four_dot(const double* a, const double* b, int ld) {
  TriboFour sum = {0, 0, 0, 0};
  for (int i = 0; i < ld; i += 4) {
    sum += TRIBO_FOUR_CONST(a + i) * TRIBO_FOUR_CONST(b + i);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
