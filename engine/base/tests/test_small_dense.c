// Small dense algebra against the matrix it came from.
#include "kit.h"
#include "small_dense.h"

enum { MOST = 8, STRIDE = MOST + 1 };

// A = Bᵀ B of a random B with `rank` rows
static void random_gram(TriboRandom* r, int n, int rank, double* A) {
  double B[MOST][MOST];
  for (int i = 0; i < rank; ++i) {
    for (int j = 0; j < n; ++j) {
      B[i][j] = tribo_random(r, -1, 1);
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      A[STRIDE * i + j] = 0;
      for (int k = 0; k < rank; ++k) {
        A[STRIDE * i + j] += B[k][i] * B[k][j];
      }
    }
  }
}

static void cholesky_solves(void** state) {
  (void)state;
  TriboRandom r = {7};
  for (int n = 1; n <= MOST; ++n) {
    double A[MOST * STRIDE], L[MOST * STRIDE], b[MOST], x[MOST], Ax[MOST];
    random_gram(&r, n, n, A);
    for (int i = 0; i < n; ++i) {
      A[STRIDE * i + i] += 0.1;
      b[i] = x[i] = tribo_random(&r, -1, 1);
    }
    for (int i = 0; i < n * STRIDE; ++i) {
      L[i] = A[i];
    }
    tribo_small_cholesky(n, L, STRIDE, 1e-300);
    const double square = tribo_small_forward(n, L, STRIDE, x);
    tribo_small_backward(n, L, STRIDE, x);
    for (int i = 0; i < n; ++i) {
      Ax[i] = tribo_dot(A + STRIDE * i, x, n);
      CHECK_NEAR(Ax[i], b[i], 1e-12);
    }
    CHECK_NEAR(square, tribo_dot(b, x, n), 1e-11);
  }
}

// A pivot that rounding has made nothing is raised: the factor is finite.
static void cholesky_of_a_singular_matrix_is_finite(void** state) {
  (void)state;
  TriboRandom r = {8};
  double A[MOST * STRIDE], b[MOST];
  random_gram(&r, 6, 2, A);
  tribo_small_cholesky(6, A, STRIDE, 1e-13);
  for (int i = 0; i < 6; ++i) {
    b[i] = 1;
  }
  assert_true(isfinite(tribo_small_forward(6, A, STRIDE, b)));
}

static void sums_over_vectors(void** state) {
  (void)state;
  const double a[] = {3, -4, 12}, b[] = {1, 2, -5};
  double y[] = {1, 1, 1};
  CHECK_NEAR(tribo_dot(a, b, 3), -65, 0);
  CHECK_NEAR(tribo_norm(a, 2), 5, 0);
  CHECK_NEAR(tribo_norm(a, 3), 13, 0);
  CHECK_NEAR(tribo_max_abs(b, 3), 5, 0);
  CHECK_NEAR(tribo_max_abs(b, 0), 0, 0);
  tribo_subtract(3, 2, b, y);
  CHECK_NEAR(y[0] + 10 * y[1] + 100 * y[2], -1 - 30 + 1100, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cholesky_solves),
      cmocka_unit_test(cholesky_of_a_singular_matrix_is_finite),
      cmocka_unit_test(sums_over_vectors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
