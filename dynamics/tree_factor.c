// The mass matrix of a tree, factored along its branches.
//
// M_ij is 0 unless one of the dofs i, j is an ancestor of the other. Eliminating from the leaves to the root keeps that
// pattern (Featherstone, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees",
// IJRR 2005):
//
//     M = LᵀDL,   L unit lower triangular,   L_ki ≠ 0 only where i is an ancestor of k
//
// so factor and solve cost Σ depth² and Σ depth instead of n³/6 and n². N = L⁻¹ has the same pattern: its column k
// lives on the subtree of k, which is the stretch k … end_k−1 because dofs are numbered depth first. Hence
//
//     M⁻¹ = N D⁻¹ Nᵀ = Σ_k N_k N_kᵀ / D_k
//
// is a sum of dense rank-one blocks over subtrees.
#include "internal.h"

TriboStatus tribo_dyn_factor(const DofTree* tree, const double* mass, double* L) {
  const int n = tree->nv, *parent = tree->parent;
  memcpy(L, mass, (size_t)n * (size_t)n * sizeof *L);
  for (int k = n - 1; k >= 0; --k) {
    double* row = L + k * n;
    if (!(row[k] > 0)) {
      return tribo_fail(TRIBO_NUMERIC, "the mass matrix is not positive definite at v[%d] (pivot %g)", k, row[k]);
    }
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      const double a = row[i] / row[k];
      for (int j = i; j >= 0; j = parent[j]) {
        L[i * n + j] -= a * row[j];
      }
      row[i] = a;
    }
  }
  return TRIBO_OK;
}

void tribo_dyn_factor_solve(const DofTree* tree, const double* L, double* x) {
  const int n = tree->nv, *parent = tree->parent;
  for (int k = n - 1; k >= 0; --k) {
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      x[i] -= L[k * n + i] * x[k];
    }
  }
  for (int k = 0; k < n; ++k) {
    x[k] /= L[k * n + k];
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      x[k] -= L[k * n + i] * x[i];
    }
  }
}

void tribo_dyn_factor_inverse(const DofTree* tree, const double* L, double* N, double* minv) {
  const int n = tree->nv, *parent = tree->parent;
  memset(minv, 0, (size_t)n * (size_t)n * sizeof *minv);
  for (int k = 0; k < n; ++k) {
    // column k of N = L⁻¹, from the top of the subtree down
    const int end = tree->end[k];
    N[k] = 1;
    for (int i = k + 1; i < end; ++i) {
      double sum = 0;
      for (int p = parent[i]; p >= k; p = parent[p]) {
        sum += L[i * n + p] * N[p];
      }
      N[i] = -sum;
    }
    // its share of the lower triangle
    for (int i = k; i < end; ++i) {
      const double scale = N[i] / L[k * n + k];
      for (int j = k; j <= i; ++j) {
        minv[i * n + j] += scale * N[j];
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      minv[j * n + i] = minv[i * n + j];
    }
  }
}
