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
//
// Numbers run depth first, so the ancestors of a dof are a few stretches of neighbouring numbers, each start … end with
// the next one's end at the parent of start: loops over them are loops over arrays.
#include "internal.h"

void tribo_dyn_dof_starts(DofTree* tree) {
  for (int k = 0; k < tree->nv; ++k) {
    tree->start[k] = k > 0 && tree->parent[k] == k - 1 ? tree->start[k - 1] : k;
  }
}

static void subtract_scaled(double* restrict to, const double* restrict from, double scale, int n) {
  for (int j = 0; j < n; ++j) {
    to[j] -= scale * from[j];
  }
}

TriboStatus tribo_dyn_factor(const DofTree* tree, const double* mass, double* L) {
  const int n = tree->nv, *parent = tree->parent, *start = tree->start;
  memcpy(L, mass, (size_t)n * (size_t)n * sizeof *L);
  for (int k = n - 1; k >= 0; --k) {
    double* row = L + k * n;
    if (!(row[k] > 0)) {
      return tribo_fail(TRIBO_NUMERIC, "the mass matrix is not positive definite at v[%d] (pivot %g)", k, row[k]);
    }
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      const double a = row[i] / row[k];
      for (int end = i; end >= 0; end = parent[start[end]]) {
        subtract_scaled(L + i * n + start[end], row + start[end], a, end + 1 - start[end]);
      }
      row[i] = a;
    }
  }
  return TRIBO_OK;
}

void tribo_dyn_factor_solve(const DofTree* tree, const double* L, double* x) {
  const int n = tree->nv, *parent = tree->parent, *start = tree->start;
  for (int k = n - 1; k >= 0; --k) {
    for (int end = parent[k]; end >= 0; end = parent[start[end]]) {
      subtract_scaled(x + start[end], L + k * n + start[end], x[k], end + 1 - start[end]);
    }
  }
  for (int k = 0; k < n; ++k) {
    const double* row = L + k * n;
    double sum = x[k] / row[k];
    for (int end = parent[k]; end >= 0; end = parent[start[end]]) {
      for (int i = start[end]; i <= end; ++i) {
        sum -= row[i] * x[i];
      }
    }
    x[k] = sum;
  }
}

// Four rows at once: the sums come and go less often.
static void subtract_four(double* restrict to, const double* const from[4], const double scale[4], int n) {
  const double* restrict a = from[0], * restrict b = from[1], * restrict c = from[2], * restrict d = from[3];
  for (int j = 0; j < n; ++j) {
    to[j] = to[j] - scale[0] * a[j] - scale[1] * b[j] - scale[2] * c[j] - scale[3] * d[j];
  }
}

void tribo_dyn_factor_inverse(const DofTree* tree, const double* L, double* minv) {
  const int n = tree->nv, *parent = tree->parent;
  for (int i = 0; i < n; ++i) {
    double *row = minv + i * n, scale[4], last = 1 / L[i * (n + 1)];
    const double* from[4];
    int count = 0;
    memset(row, 0, (size_t)i * sizeof *row);
    for (int p = parent[i]; p >= 0; p = parent[p]) {
      from[count] = minv + p * n;
      scale[count++] = L[i * n + p];
      if (count == 4) {
        subtract_four(row, from, scale, i);
        count = 0;
      }
    }
    for (int k = 0; k < count; ++k) {
      subtract_scaled(row, from[k], scale[k], i);
    }
    for (int p = parent[i]; p >= 0; p = parent[p]) {
      last -= L[i * n + p] * row[p];
    }
    row[i] = last;
    for (int j = 0; j < i; ++j) {
      minv[j * n + i] = row[j];
    }
  }
}
