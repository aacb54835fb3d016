// Dense and sparse factorisations against the product they came from.
#include <stdlib.h>

#include "kit.h"
#include "la.h"

enum { MAX = 200 };

// largest entry of b − A x, relative to |A| |x|
static double residual(int n, const double* A, const double* x, const double* b) {
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    double sum = b[i], scale = fabs(b[i]);
    for (int j = 0; j < n; ++j) {
      sum -= A[i + (size_t)j * (size_t)n] * x[j];
      scale += fabs(A[i + (size_t)j * (size_t)n] * x[j]);
    }
    worst = fmax(worst, fabs(sum) / scale);
  }
  return worst;
}

static void dense_factors_solve(void** state) {
  (void)state;
  KitRandom rng = {1};
  static const int sizes[] = {1, 2, 3, 6, 12, 19, 20, 21, 33, 60, 130};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
    int n = sizes[s], pivot[MAX];
    size_t m = (size_t)n * (size_t)n;
    double *A = malloc(m * 8), *S = malloc(m * 8), *F = malloc(m * 8), b[MAX] = {0}, x[MAX];
    for (size_t i = 0; i < m; ++i) {
      A[i] = kit_normal(&rng);
    }
    for (int i = 0; i < n; ++i) {
      b[i] = kit_normal(&rng);
      for (int j = 0; j < n; ++j) {
        double sum = i == j;
        for (int k = 0; k < n; ++k) {
          sum += A[i + k * n] * A[j + k * n];
        }
        S[i + j * n] = sum;
      }
    }
    memcpy(F, A, m * 8);
    memcpy(x, b, sizeof b);
    assert_int_equal(tribo_la_lu(n, F, n, pivot), 0);
    tribo_la_lu_solve(n, F, n, pivot, x);
    CHECK_LE(residual(n, A, x, b), 1e-13);
    memcpy(F, S, m * 8);
    memcpy(x, b, sizeof b);
    assert_int_equal(tribo_la_cholesky(n, F, n), 0);
    tribo_la_cholesky_solve(n, F, n, x);
    CHECK_LE(residual(n, S, x, b), 1e-13);
    // a matrix that is not positive definite is refused
    memcpy(F, S, m * 8);
    F[m - 1] = -1;
    assert_int_equal(tribo_la_cholesky(n, F, n), n);
    free(A);
    free(S);
    free(F);
  }
}

static void random_graph(KitRandom* rng, int nnode, int degree, int* dim, int* edge, int* nedge) {
  *nedge = 0;
  for (int i = 0; i < nnode; ++i) {
    dim[i] = 1 + kit_int(rng, 7);
  }
  for (int i = 1; i < nnode; ++i) {
    for (int k = 0; k < degree; ++k) {
      int j = k == 0 ? i - 1 : kit_int(rng, i), known = 0;
      for (int e = 0; e < *nedge; ++e) {
        known |= (edge[2 * e] == i && edge[2 * e + 1] == j) || (edge[2 * e] == j && edge[2 * e + 1] == i);
      }
      if (!known && (k == 0 ? kit_int(rng, 5) > 0 : 1)) {
        int flip = kit_int(rng, 2);
        edge[2 * *nedge] = flip ? i : j;
        edge[2 * *nedge + 1] = flip ? j : i;
        (*nedge)++;
      }
    }
  }
}

static void put(double* value, TriboSlot slot, const double* A, int n, int row, int col, int rows, int cols) {
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i) {
      value[slot.at + (size_t)i + (size_t)j * (size_t)slot.ld] = A[row + i + (size_t)(col + j) * (size_t)n];
    }
  }
}

// a random matrix on the graph, diagonally dominant so that no pivoting is needed
static void random_blocks(KitRandom* rng, int nnode, const int* dim, int nedge, const int* edge, const int* start,
                          int n, int symmetric, double* A) {
  memset(A, 0, sizeof(double) * (size_t)n * (size_t)n);
  for (int e = -nnode; e < nedge; ++e) {
    int a = e < 0 ? e + nnode : edge[2 * e], b = e < 0 ? a : edge[2 * e + 1];
    for (int i = 0; i < dim[a]; ++i) {
      for (int j = 0; j < dim[b]; ++j) {
        int r = start[a] + i, c = start[b] + j;
        A[r + (size_t)c * (size_t)n] = kit_normal(rng);
        A[c + (size_t)r * (size_t)n] = symmetric ? A[r + (size_t)c * (size_t)n] : kit_normal(rng);
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    double sum = 1;
    for (int j = 0; j < n; ++j) {
      sum += i == j ? 0 : fabs(A[i + (size_t)j * (size_t)n]) + fabs(A[j + (size_t)i * (size_t)n]);
    }
    A[i + (size_t)i * (size_t)n] = sum;
  }
}

static void sparse_factor_solves(void** state) {
  (void)state;
  KitRandom rng = {7};
  TriboFactor* f;
  CHECK_OK(tribo_la_factor_create(&f));
  enum { NODES = 60 };
  static double A[(7 * NODES) * (7 * NODES)], b[7 * NODES], x[7 * NODES];
  for (int trial = 0; trial < 60; ++trial) {
    int dim[NODES], edge[8 * NODES], start[NODES], nedge, n = 0, nnode = 1 + kit_int(&rng, NODES),
                                                          symmetric = trial % 2;
    random_graph(&rng, nnode, 1 + trial % 3, dim, edge, &nedge);
    for (int i = 0; i < nnode; ++i) {
      start[i] = n;
      n += dim[i];
    }
    random_blocks(&rng, nnode, dim, nedge, edge, start, n, symmetric, A);
    TriboGraph graph = {nnode, nedge, dim, edge};
    CHECK_OK(tribo_la_factor_analyse(f, &graph));
    double* value = tribo_la_factor_begin(f);
    for (int i = 0; i < nnode; ++i) {
      put(value, tribo_la_factor_diagonal(f, i), A, n, start[i], start[i], dim[i], dim[i]);
    }
    for (int e = 0; e < nedge; ++e) {
      TriboSlot ij, ji;
      int lower, i = edge[2 * e], j = edge[2 * e + 1];
      tribo_la_factor_edge(f, e, &ij, &ji, &lower);
      if (!symmetric || lower) {
        put(value, ij, A, n, start[i], start[j], dim[i], dim[j]);
      }
      if (!symmetric || !lower) {
        put(value, ji, A, n, start[j], start[i], dim[j], dim[i]);
      }
    }
    assert_int_equal(tribo_la_factor_run(f, symmetric), 0);
    for (int i = 0; i < n; ++i) {
      x[i] = b[i] = kit_normal(&rng);
    }
    tribo_la_factor_solve(f, x);
    CHECK_LE(residual(n, A, x, b), 1e-13);
  }
  tribo_la_factor_destroy(f);
}

static void order_keeps_chains_and_stars_cheap(void** state) {
  (void)state;
  // a star of 100 leaves eliminated from its centre would cost as much as a dense matrix
  TriboFactor* f;
  CHECK_OK(tribo_la_factor_create(&f));
  enum { LEAVES = 100 };
  int dim[LEAVES + 1], edge[2 * LEAVES];
  for (int i = 0; i <= LEAVES; ++i) {
    dim[i] = 6;
  }
  for (int i = 0; i < LEAVES; ++i) {
    edge[2 * i] = 0;
    edge[2 * i + 1] = i + 1;
  }
  TriboGraph graph = {LEAVES + 1, LEAVES, dim, edge};
  CHECK_OK(tribo_la_factor_analyse(f, &graph));
  CHECK_LE(tribo_la_factor_flops(f), 1e6);
  CHECK_OK(tribo_la_factor_analyse_dense(f, 6 * (LEAVES + 1)));
  CHECK_NEAR(tribo_la_factor_flops(f), 2.0 / 3 * pow(6 * (LEAVES + 1), 3), 1);
  tribo_la_factor_destroy(f);
}

// A pile: bodies at random places in a box touch those within reach.
static int pile_graph(KitRandom* rng, int nnode, double reach, int* dim, int* edge) {
  double(*at)[3] = malloc(sizeof *at * (size_t)nnode);
  int nedge = 0;
  for (int i = 0; i < nnode; ++i) {
    dim[i] = 6;
    for (int k = 0; k < 3; ++k) {
      at[i][k] = kit_uniform(rng, 0, 1);
    }
    for (int j = 0; j < i; ++j) {
      const double x = at[i][0] - at[j][0], y = at[i][1] - at[j][1], z = at[i][2] - at[j][2];
      if (x * x + y * y + z * z < reach * reach) {
        edge[2 * nedge] = j;
        edge[2 * nedge++ + 1] = i;
      }
    }
  }
  free(at);
  return nedge;
}

// Merging takes about 1.5e8 operations; with zeros added level after level they were 8e9.
static void fronts_of_piles_stay_small(void** state) {
  (void)state;
  enum { NODES = 1000, EDGES = 8 * NODES };
  KitRandom rng = {3};
  int *dim = malloc(sizeof(int) * NODES), *edge = malloc(2 * sizeof(int) * EDGES);
  for (int trial = 0; trial < 5; ++trial) {
    const int nedge = pile_graph(&rng, NODES, 0.12, dim, edge);
    assert_true(nedge < EDGES);
    TriboFactor* f;
    CHECK_OK(tribo_la_factor_create(&f));
    TriboGraph graph = {NODES, nedge, dim, edge};
    CHECK_OK(tribo_la_factor_analyse(f, &graph));
    CHECK_LE(tribo_la_factor_flops(f), 4e8);
    tribo_la_factor_destroy(f);
  }
  free(dim);
  free(edge);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dense_factors_solve),
      cmocka_unit_test(sparse_factor_solves),
      cmocka_unit_test(order_keeps_chains_and_stars_cheap),
      cmocka_unit_test(fronts_of_piles_stay_small),
  };
  return tribo_la_init() != TRIBO_OK || cmocka_run_group_tests(tests, NULL, NULL);
}
