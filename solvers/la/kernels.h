// Dense kernels of a partial factorisation, column-major: own loops where a call would cost more than the work.
#pragma once

#include "lanes.h"

// a · x, by four sums side by side
static inline double tribo_la_dot(int n, const double* a, const double* x) {
  TriboFour sums = {0};
  double rest = 0;
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    sums += TRIBO_FOUR_CONST(a + i) * TRIBO_FOUR_CONST(x + i);
  }
  for (; i < n; ++i) {
    rest += a[i] * x[i];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
}

// B ← B L⁻ᵀ (L lower, p×p), B is r×p
void tribo_la_solve_right_lt(int r, int p, const double* L, int ldl, double* B, int ldb);
// B ← B U⁻¹ (U upper, p×p), B is r×p
void tribo_la_solve_right_u(int r, int p, const double* U, int ldu, double* B, int ldb);
// B ← L⁻¹ B (L unit lower, p×p), B is p×r
void tribo_la_solve_left_l1(int p, int r, const double* L, int ldl, double* B, int ldb);
// C ← C − A B, A m×k, B k×n
void tribo_la_gemm_sub(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C, int ldc);
// lower triangle of C ← C − A Aᵀ, A n×k
void tribo_la_syrk_sub(int n, int k, const double* A, int lda, double* C, int ldc);

// y ← y − A x and y ← y − Aᵀ x, A m×n
void tribo_la_gemv_sub(int m, int n, const double* A, int lda, const double* x, double* y);
void tribo_la_gemtv_sub(int m, int n, const double* A, int lda, const double* x, double* y);
// x ← T⁻¹ x for the triangles of a factor
void tribo_la_trsv_l(int n, const double* L, int ld, int unit, double* x);
void tribo_la_trsv_lt(int n, const double* L, int ld, double* x);
void tribo_la_trsv_u(int n, const double* U, int ld, double* x);
