// The mass matrix of a tree, factored along its branches.
//
// M_ij is 0 unless one of the dofs i, j is an ancestor of the other. Eliminating from the leaves to the root keeps that
// pattern (Featherstone, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees",
// IJRR 2005):
//
//     M = LᵀDL,   L unit lower triangular,   L_ki ≠ 0 only where i is an ancestor of k
//
// so factor and solve cost Σ depth² and Σ depth instead of n³/6 and n². The inverse W = M⁻¹ satisfies LW = D⁻¹L⁻ᵀ,
// whose row i is 0 but for the dofs that hang on i, with 1/D_i in its own place. Dofs are numbered parents first, so in
// rows from the root down
//
//     W_ij = −Σ_p L_ip W_pj,  j < i,       W_ii = 1/D_i − Σ_p L_ip W_ip,       p the ancestors of i
//
// all that is needed stands above or to the left, by symmetry.
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

static void subtract_scaled(double* restrict to, const double* restrict from, double scale, int n) {
  for (int j = 0; j < n; ++j) {
    to[j] -= scale * from[j];
  }
}

void tribo_dyn_factor_inverse(const DofTree* tree, const double* L, double* minv) {
  const int n = tree->nv, *parent = tree->parent;
  for (int i = 0; i < n; ++i) {
    double* row = minv + i * n;
    memset(row, 0, (size_t)(i + 1) * sizeof *row);
    for (int p = parent[i]; p >= 0; p = parent[p]) {
      subtract_scaled(row, minv + p * n, L[i * n + p], i);
    }
    row[i] = 1 / L[i * (n + 1)];
    for (int p = parent[i]; p >= 0; p = parent[p]) {
      row[i] -= L[i * n + p] * row[p];
    }
    for (int j = 0; j < i; ++j) {
      minv[j * n + i] = row[j];
    }
  }
}
