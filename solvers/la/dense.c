// Dense factorisations and kernels. Up to OWN unknowns (or SMALL_WORK multiplications) own loops beat the cost of a
// BLAS call; above, OpenBLAS does the work. Own factorisations eliminate four columns at a time, so that what is right
// of them comes and goes once for four products; each entry sees its products in the order of the columns.
#include <cblas.h>
#include <lapacke.h>
#include <math.h>

#include "kernels.h"
#include "la.h"
#include "lanes.h"

enum { OWN = 80, SMALL_WORK = 2000 };

const char* tribo_la_version(void) {
  return openblas_get_config();
}

TriboStatus tribo_la_init(void) {
  openblas_set_num_threads(1);
  int threads = openblas_get_num_threads();
  if (threads != 1) {
    return tribo_fail(TRIBO_INTERNAL, "tribo_la_init: BLAS runs on %d threads though 1 was asked for", threads);
  }
  return TRIBO_OK;
}

// to −= f₀ a₀ + f₁ a₁ + … of four neighbouring columns
static inline void subtract_four(int n, const double* a, size_t ld, const double f[4], double* to) {
  const double *b = a + ld, *c = b + ld, *d = c + ld;
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    TRIBO_FOUR(to + i) = TRIBO_FOUR(to + i) - f[0] * TRIBO_FOUR_CONST(a + i) - f[1] * TRIBO_FOUR_CONST(b + i) -
                         f[2] * TRIBO_FOUR_CONST(c + i) - f[3] * TRIBO_FOUR_CONST(d + i);
  }
  for (; i < n; ++i) {
    to[i] = to[i] - f[0] * a[i] - f[1] * b[i] - f[2] * c[i] - f[3] * d[i];
  }
}

// to −= f a
static inline void subtract(int n, const double* a, double f, double* to) {
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    TRIBO_FOUR(to + i) -= f * TRIBO_FOUR_CONST(a + i);
  }
  for (; i < n; ++i) {
    to[i] -= f * a[i];
  }
}

// the same for the first `count` columns, count ≤ 4
static inline void subtract_some(int n, int count, const double* a, size_t ld, const double f[4], double* to) {
  if (count == 4) {
    subtract_four(n, a, ld, f, to);
    return;
  }
  for (int m = 0; m < count; ++m) {
    subtract(n, a + (size_t)m * ld, f[m], to);
  }
}

// A = L Lᵀ by own loops, four columns at a time; returns as tribo_la_cholesky does.
TRIBO_LANES static int own_cholesky(int n, double* A, size_t ld) {
  for (int first = 0; first < n; first += 4) {
    const int count = n - first < 4 ? n - first : 4, next = first + count;
    double* panel = A + (size_t)first * ld;
    for (int k = first; k < next; ++k) {
      double* a = A + (size_t)k * ld;
      for (int m = first; m < k; ++m) {
        subtract(n - k, A + (size_t)m * ld + k, A[(size_t)m * ld + (size_t)k], a + k);
      }
      if (!(a[k] > 0)) {
        return k + 1;
      }
      double d = sqrt(a[k]);
      a[k] = d;
      for (int i = k + 1; i < n; ++i) {
        a[i] /= d;
      }
    }
    for (int j = next; j < n; ++j) {
      double f[4] = {0};
      for (int m = 0; m < count; ++m) {
        f[m] = panel[(size_t)m * ld + (size_t)j];
      }
      subtract_some(n - j, count, panel + j, ld, f, A + (size_t)j * ld + j);
    }
  }
  return 0;
}

int tribo_la_cholesky(int n, double* A, int ld) {
  if (n > OWN) {
    lapack_int info, size = n, lda = ld;
    LAPACK_dpotrf("L", &size, A, &lda, &info);
    return info;
  }
  return own_cholesky(n, A, (size_t)ld);
}

void tribo_la_cholesky_solve(int n, const double* L, int ld, double* x) {
  tribo_la_trsv_l(n, L, ld, 0, x);
  tribo_la_trsv_lt(n, L, ld, x);
}

// exchanges two rows of all columns
static inline void exchange(int n, double* A, size_t ld, int i, int k) {
  for (int j = 0; j < n; ++j, A += ld) {
    double t = A[k];
    A[k] = A[i];
    A[i] = t;
  }
}

// column k of a panel that began at `first`, whose other columns are done: 0, or 1 without a pivot
static inline int lu_column(int n, double* A, size_t ld, int first, int k, int* pivot) {
  double* a = A + (size_t)k * ld;
  for (int m = first; m < k; ++m) {
    subtract(n - m - 1, A + (size_t)m * ld + m + 1, a[m], a + m + 1);
  }
  int best = k;
  double most = fabs(a[k]);
  for (int i = k + 1; i < n; ++i) {
    if (fabs(a[i]) > most) {
      most = fabs(a[i]);
      best = i;
    }
  }
  pivot[k] = best;
  if (!(most > 0)) {
    return 1;
  }
  if (best != k) {
    exchange(n, A, ld, best, k);
  }
  for (int i = k + 1; i < n; ++i) {
    a[i] /= a[k];
  }
  return 0;
}

TRIBO_LANES static int own_lu(int n, double* A, size_t ld, int* pivot) {
  int failed = 0;
  for (int first = 0; first < n; first += 4) {
    const int count = n - first < 4 ? n - first : 4, next = first + count;
    const double* panel = A + (size_t)first * ld;
    for (int k = first; k < next; ++k) {
      if (lu_column(n, A, ld, first, k, pivot) && !failed) {
        failed = k + 1;
      }
    }
    for (int j = next; j < n; ++j) {
      double f[4] = {0}, *b = A + (size_t)j * ld;
      for (int m = 0; m < count; ++m) {
        f[m] = b[first + m];
        for (int l = 0; l < m; ++l) {
          f[m] -= f[l] * panel[(size_t)l * ld + (size_t)(first + m)];
        }
        b[first + m] = f[m];
      }
      subtract_some(n - next, count, panel + next, ld, f, b + next);
    }
  }
  return failed;
}

int tribo_la_lu(int n, double* A, int ld, int* pivot) {
  if (n > OWN) {
    lapack_int info, size = n, lda = ld;
    LAPACK_dgetrf(&size, &size, A, &lda, pivot, &info);
    for (int i = 0; i < n; ++i) {
      pivot[i]--;
    }
    return info;
  }
  return own_lu(n, A, (size_t)ld, pivot);
}

void tribo_la_lu_solve(int n, const double* LU, int ld, const int* pivot, double* x) {
  for (int i = 0; i < n; ++i) {
    double t = x[i];
    x[i] = x[pivot[i]];
    x[pivot[i]] = t;
  }
  tribo_la_trsv_l(n, LU, ld, 1, x);
  tribo_la_trsv_u(n, LU, ld, x);
}

static int small(int a, int b, int c) {
  return (long)a * b * c < SMALL_WORK;
}

void tribo_la_solve_right_lt(int r, int p, const double* L, int ldl, double* B, int ldb) {
  if (!small(r, p, p)) {
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, r, p, 1, L, ldl, B, ldb);
    return;
  }
  for (int k = 0; k < p; ++k) {
    double* b = B + (size_t)k * ldb;
    for (int j = 0; j < k; ++j) {
      double f = L[k + (size_t)j * ldl];
      const double* c = B + (size_t)j * ldb;
      for (int i = 0; i < r; ++i) {
        b[i] -= f * c[i];
      }
    }
    double d = L[k + (size_t)k * ldl];
    for (int i = 0; i < r; ++i) {
      b[i] /= d;
    }
  }
}

void tribo_la_solve_right_u(int r, int p, const double* U, int ldu, double* B, int ldb) {
  if (!small(r, p, p)) {
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, r, p, 1, U, ldu, B, ldb);
    return;
  }
  for (int k = 0; k < p; ++k) {
    double* b = B + (size_t)k * ldb;
    for (int j = 0; j < k; ++j) {
      double f = U[j + (size_t)k * ldu];
      const double* c = B + (size_t)j * ldb;
      for (int i = 0; i < r; ++i) {
        b[i] -= f * c[i];
      }
    }
    double d = U[k + (size_t)k * ldu];
    for (int i = 0; i < r; ++i) {
      b[i] /= d;
    }
  }
}

void tribo_la_solve_left_l1(int p, int r, const double* L, int ldl, double* B, int ldb) {
  if (!small(r, p, p)) {
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, p, r, 1, L, ldl, B, ldb);
    return;
  }
  for (int j = 0; j < r; ++j) {
    double* b = B + (size_t)j * ldb;
    for (int k = 0; k < p; ++k) {
      for (int i = k + 1; i < p; ++i) {
        b[i] -= L[i + (size_t)k * ldl] * b[k];
      }
    }
  }
}

void tribo_la_gemm_sub(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C, int ldc) {
  if (!small(m, n, k)) {
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, -1, A, lda, B, ldb, 1, C, ldc);
    return;
  }
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l < k; ++l) {
      double f = B[l + (size_t)j * ldb];
      const double* a = A + (size_t)l * lda;
      double* c = C + (size_t)j * ldc;
      for (int i = 0; i < m; ++i) {
        c[i] -= a[i] * f;
      }
    }
  }
}

void tribo_la_syrk_sub(int n, int k, const double* A, int lda, double* C, int ldc) {
  if (!small(n, n, k)) {
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, -1, A, lda, 1, C, ldc);
    return;
  }
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l < k; ++l) {
      double f = A[j + (size_t)l * lda];
      const double* a = A + (size_t)l * lda;
      double* c = C + (size_t)j * ldc;
      for (int i = j; i < n; ++i) {
        c[i] -= a[i] * f;
      }
    }
  }
}

TRIBO_LANES void tribo_la_gemv_sub(int m, int n, const double* A, int lda, const double* x, double* y) {
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    subtract_four(m, A + (size_t)j * lda, (size_t)lda, x + j, y);
  }
  for (; j < n; ++j) {
    subtract(m, A + (size_t)j * lda, x[j], y);
  }
}

TRIBO_LANES void tribo_la_gemtv_sub(int m, int n, const double* A, int lda, const double* x, double* y) {
  for (int j = 0; j < n; ++j) {
    y[j] -= tribo_la_dot(m, A + (size_t)j * lda, x);
  }
}

TRIBO_LANES static void own_trsv_l(int n, const double* L, size_t ld, int unit, double* x) {
  for (int first = 0; first < n; first += 4) {
    const int count = n - first < 4 ? n - first : 4, next = first + count;
    const double* panel = L + (size_t)first * ld;
    for (int k = 0; k < count; ++k) {
      double sum = x[first + k];
      for (int m = 0; m < k; ++m) {
        sum -= panel[(size_t)m * ld + (size_t)(first + k)] * x[first + m];
      }
      x[first + k] = unit ? sum : sum / panel[(size_t)k * ld + (size_t)(first + k)];
    }
    subtract_some(n - next, count, panel + next, ld, x + first, x + next);
  }
}

void tribo_la_trsv_l(int n, const double* L, int ld, int unit, double* x) {
  if (n > OWN) {
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, unit ? CblasUnit : CblasNonUnit, n, L, ld, x, 1);
    return;
  }
  own_trsv_l(n, L, (size_t)ld, unit, x);
}

TRIBO_LANES static void own_trsv_lt(int n, const double* L, size_t ld, double* x) {
  for (int j = n - 1; j >= 0; --j) {
    const double* a = L + (size_t)j * ld;
    x[j] = (x[j] - tribo_la_dot(n - j - 1, a + j + 1, x + j + 1)) / a[j];
  }
}

void tribo_la_trsv_lt(int n, const double* L, int ld, double* x) {
  if (n > OWN) {
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, L, ld, x, 1);
    return;
  }
  own_trsv_lt(n, L, (size_t)ld, x);
}

TRIBO_LANES static void own_trsv_u(int n, const double* U, size_t ld, double* x) {
  for (int end = n; end > 0; end -= 4) {
    const int first = end < 4 ? 0 : end - 4, count = end - first;
    const double* panel = U + (size_t)first * ld;
    for (int k = count - 1; k >= 0; --k) {
      double sum = x[first + k];
      for (int m = count - 1; m > k; --m) {
        sum -= panel[(size_t)m * ld + (size_t)(first + k)] * x[first + m];
      }
      x[first + k] = sum / panel[(size_t)k * ld + (size_t)(first + k)];
    }
    subtract_some(first, count, panel, ld, x + first, x);
  }
}

void tribo_la_trsv_u(int n, const double* U, int ld, double* x) {
  if (n > OWN) {
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, n, U, ld, x, 1);
    return;
  }
  own_trsv_u(n, U, (size_t)ld, x);
}
