// The factor of a mass matrix: it must give the matrix back, on trees of every joint kind and on a long chain.
#include "dyn_data.h"
#include "trees.h"

// M times the inverse from its factor is the identity, and a solve undoes a product.
static void check_factor(const DofTree* dofs, const double* mass, double tolerance) {
  const int n = dofs->nv;
  double L[MAX_V * MAX_V], minv[MAX_V * MAX_V], x[MAX_V], y[MAX_V] = {0};
  CHECK_OK(tribo_dyn_factor(dofs, mass, L));
  tribo_dyn_factor_inverse(dofs, L, minv);
  for (int i = 0; i < n; ++i) {
    x[i] = sin(i);
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) {
        sum += mass[i * n + k] * minv[k * n + j];
      }
      CHECK_NEAR(sum, i == j, tolerance);
      assert_true(minv[i * n + j] == minv[j * n + i]);
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      y[i] += mass[i * n + j] * x[j];
    }
  }
  tribo_dyn_factor_solve(dofs, L, y);
  for (int i = 0; i < n; ++i) {
    CHECK_NEAR(y[i], x[i], tolerance);
  }
}

static void inverse_and_solve_undo_mass(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed < 6; ++seed) {
    TriboTree* tree = tree_of_every_kind(seed);
    World w = world_of(NULL, 0, &tree, 1);
    KitRandom random = {seed};
    world_randomize(&w, &random, 1);
    double mass[MAX_V * MAX_V];
    CHECK_OK(tribo_pin_mass(w.data->pin[0], w.q, mass));
    mass[0] += 0.7;  // a diagonal term, as damping adds it
    check_factor(&w.system->trees[0].dofs, mass, 1e-11);

    // a matrix that is not positive definite is named by its first bad pivot
    double L[MAX_V * MAX_V];
    mass[(w.info->nv - 1) * (w.info->nv + 1)] = -1;
    CHECK_FAILS(tribo_dyn_factor(&w.system->trees[0].dofs, mass, L), TRIBO_NUMERIC,
                "not positive definite at v[57] (pivot -1)");
    world_end(&w);
    tribo_dyn_tree_destroy(tree);
  }
}

// Without zeros to skip the factor is that of any dense symmetric matrix.
static void chain_is_a_dense_matrix(void** state) {
  (void)state;
  enum { N = 12 };
  KitRandom random = {3};
  int parent[N], start[N];
  double A[N * N], mass[N * N];
  for (int i = 0; i < N; ++i) {
    parent[i] = i - 1;
    for (int j = 0; j < N; ++j) {
      A[i * N + j] = kit_normal(&random);
    }
  }
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      mass[i * N + j] = i == j;
      for (int k = 0; k < N; ++k) {
        mass[i * N + j] += A[i * N + k] * A[j * N + k];
      }
    }
  }
  DofTree chain = {N, parent, start};
  tribo_dyn_dof_starts(&chain);
  check_factor(&chain, mass, 1e-11);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inverse_and_solve_undo_mass),
      cmocka_unit_test(chain_is_a_dense_matrix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
