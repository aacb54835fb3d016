// Dense factorisations and kernels. Below SMALL unknowns (or SMALL_WORK multiplications) plain column loops beat the
// cost of a BLAS call; above, OpenBLAS does the work.
#include <cblas.h>
#include <lapacke.h>
#include <math.h>

#include "kernels.h"
#include "la.h"

enum { SMALL = 20, SMALL_WORK = 2000, SMALL_VECTOR = 32 };

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

int tribo_la_cholesky(int n, double* A, int ld) {
  if (n > SMALL) {
    lapack_int info, size = n, lda = ld;
    LAPACK_dpotrf("L", &size, A, &lda, &info);
    return info;
  }
  for (int k = 0; k < n; ++k) {
    double* a = A + (size_t)k * ld;
    if (!(a[k] > 0)) {
      return k + 1;
    }
    double d = sqrt(a[k]);
    a[k] = d;
    for (int i = k + 1; i < n; ++i) {
      a[i] /= d;
    }
    for (int j = k + 1; j < n; ++j) {
      double* b = A + (size_t)j * ld;
      double f = a[j];
      for (int i = j; i < n; ++i) {
        b[i] -= a[i] * f;
      }
    }
  }
  return 0;
}

void tribo_la_cholesky_solve(int n, const double* L, int ld, double* x) {
  tribo_la_trsv_l(n, L, ld, 0, x);
  tribo_la_trsv_lt(n, L, ld, x);
}

int tribo_la_lu(int n, double* A, int ld, int* pivot) {
  if (n > SMALL) {
    lapack_int info, size = n, lda = ld;
    LAPACK_dgetrf(&size, &size, A, &lda, pivot, &info);
    for (int i = 0; i < n; ++i) {
      pivot[i]--;
    }
    return info;
  }
  int failed = 0;
  for (int k = 0; k < n; ++k) {
    double* a = A + (size_t)k * ld;
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      best = fabs(a[i]) > fabs(a[best]) ? i : best;
    }
    pivot[k] = best;
    if (!(fabs(a[best]) > 0)) {
      failed = failed ? failed : k + 1;
      continue;
    }
    if (best != k) {
      for (int j = 0; j < n; ++j) {
        double t = A[k + (size_t)j * ld];
        A[k + (size_t)j * ld] = A[best + (size_t)j * ld];
        A[best + (size_t)j * ld] = t;
      }
    }
    for (int i = k + 1; i < n; ++i) {
      a[i] /= a[k];
    }
    for (int j = k + 1; j < n; ++j) {
      double* b = A + (size_t)j * ld;
      double f = b[k];
      for (int i = k + 1; i < n; ++i) {
        b[i] -= a[i] * f;
      }
    }
  }
  return failed;
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

void tribo_la_gemv_sub(int m, int n, const double* A, int lda, const double* x, double* y) {
  for (int j = 0; j < n; ++j) {
    const double* a = A + (size_t)j * lda;
    for (int i = 0; i < m; ++i) {
      y[i] -= a[i] * x[j];
    }
  }
}

void tribo_la_gemtv_sub(int m, int n, const double* A, int lda, const double* x, double* y) {
  if (m > SMALL_VECTOR) {
    cblas_dgemv(CblasColMajor, CblasTrans, m, n, -1, A, lda, x, 1, 1, y, 1);
    return;
  }
  for (int j = 0; j < n; ++j) {
    const double* a = A + (size_t)j * lda;
    double sum = 0;
    for (int i = 0; i < m; ++i) {
      sum += a[i] * x[i];
    }
    y[j] -= sum;
  }
}

void tribo_la_trsv_l(int n, const double* L, int ld, int unit, double* x) {
  if (n > SMALL_VECTOR) {
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, unit ? CblasUnit : CblasNonUnit, n, L, ld, x, 1);
    return;
  }
  for (int j = 0; j < n; ++j) {
    const double* a = L + (size_t)j * ld;
    x[j] = unit ? x[j] : x[j] / a[j];
    for (int i = j + 1; i < n; ++i) {
      x[i] -= a[i] * x[j];
    }
  }
}

void tribo_la_trsv_lt(int n, const double* L, int ld, double* x) {
  if (n > SMALL_VECTOR) {
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, L, ld, x, 1);
    return;
  }
  for (int j = n - 1; j >= 0; --j) {
    const double* a = L + (size_t)j * ld;
    double sum = x[j];
    for (int i = j + 1; i < n; ++i) {
      sum -= a[i] * x[i];
    }
    x[j] = sum / a[j];
  }
}

void tribo_la_trsv_u(int n, const double* U, int ld, double* x) {
  if (n > SMALL_VECTOR) {
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, n, U, ld, x, 1);
    return;
  }
  for (int j = n - 1; j >= 0; --j) {
    const double* a = U + (size_t)j * ld;
    x[j] /= a[j];
    for (int i = 0; i < j; ++i) {
      x[i] -= a[i] * x[j];
    }
  }
}
