// Anderson acceleration on linear iterations, where it ends in as many steps as there are unknowns, give or take two.
#include "anderson.h"

#include <string.h>

#include "kit.h"
#include "small_dense.h"

enum { N = 3 };

// F(t) = A t + b with a spectral radius near 1: the plain iteration needs hundreds of steps
static void iterate(const double* t, double* out) {
  static const double A[N][N] = {{0.9, 0.1, 0}, {-0.2, 0.8, 0.1}, {0, 0.1, 0.95}}, b[N] = {1, -2, 0.5};
  for (int i = 0; i < N; ++i) {
    out[i] = b[i] + tribo_dot(A[i], t, N);
  }
}

static double residual(const double* t) {
  double f[N];
  iterate(t, f);
  tribo_subtract(N, 1, t, f);
  return tribo_max_abs(f, N);
}

static void iterates_end_early(void** state) {
  (void)state;
  TriboScratch scratch = {0};
  CHECK_OK(tribo_sol_scratch_begin(&scratch, N));
  TriboAnderson a;
  tribo_sol_anderson_begin(&a, &scratch, N);
  for (int pass = 0; pass < 2; ++pass) {
    double t[N] = {0}, next[N];
    for (int it = 0; it < N + 3; ++it) {
      iterate(t, next);
      tribo_sol_anderson_step(&a, N, next);
      memcpy(t, next, sizeof t);
    }
    CHECK_LE(residual(t), 1e-8);
    tribo_sol_anderson_restart(&a);
  }
  tribo_sol_scratch_free(&scratch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(iterates_end_early),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
