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
// the next one's end at the parent of start: loops over them are loops over arrays. Stretches that are close are taken
// as one: L is 0 in between, and to run over a few zeros costs less than to begin anew.
#include "tree/tree_model.h"

#include "lanes.h"

enum { BRIDGE = 12 };  // dofs between two stretches that are run over

void tribo_dyn_dof_starts(DofTree* tree) {
  for (int k = 0; k < tree->nv; ++k) {
    const int parent = tree->parent[k];
    tree->start[k] = parent >= 0 && k - parent <= BRIDGE ? tree->start[parent] : k;
  }
}

// to −= scale · from
static inline void subtract_scaled(double* restrict to, const double* restrict from, double scale, int n) {
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    TRIBO_FOUR(to + j) -= scale * TRIBO_FOUR_CONST(from + j);
  }
  for (; j < n; ++j) {
    to[j] -= scale * from[j];
  }
}

// 0, or 1 + the dof whose pivot is not positive
TRIBO_LANES static int eliminate(const DofTree* tree, double* L) {
  const int n = tree->nv, *parent = tree->parent, *start = tree->start;
  for (int k = n - 1; k >= 0; --k) {
    double* row = L + k * n;
    if (!(row[k] > 0)) {
      return k + 1;
    }
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      const double a = row[i] / row[k];
      for (int end = i; end >= 0; end = parent[start[end]]) {
        subtract_scaled(L + i * n + start[end], row + start[end], a, end + 1 - start[end]);
      }
      row[i] = a;
    }
  }
  return 0;
}

TriboStatus tribo_dyn_factor(const DofTree* tree, const double* mass, double* L) {
  memcpy(L, mass, (size_t)tree->nv * (size_t)tree->nv * sizeof *L);
  const int failed = eliminate(tree, L);
  if (failed != 0) {
    return tribo_fail(TRIBO_NUMERIC, "the mass matrix is not positive definite at v[%d] (pivot %g)", failed - 1,
                      L[(failed - 1) * (tree->nv + 1)]);
  }
  return TRIBO_OK;
}

TRIBO_LANES void tribo_dyn_factor_solve(const DofTree* tree, const double* L, double* x) {
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
      int i = start[end];
      if (i + 3 <= end) {
        TriboFour sums = {0};
        for (; i + 3 <= end; i += 4) {
          sums += TRIBO_FOUR_CONST(row + i) * TRIBO_FOUR_CONST(x + i);
        }
        sum -= (sums[0] + sums[1]) + (sums[2] + sums[3]);
      }
      for (; i <= end; ++i) {
        sum -= row[i] * x[i];
      }
    }
    x[k] = sum;
  }
}

// Four rows at once: the sums come and go less often.
static inline void subtract_four(double* restrict to, const double* const from[4], const double scale[4], int n) {
  const double *a = from[0], *b = from[1], *c = from[2], *d = from[3];
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    TRIBO_FOUR(to + j) = TRIBO_FOUR(to + j) - scale[0] * TRIBO_FOUR_CONST(a + j) - scale[1] * TRIBO_FOUR_CONST(b + j) -
                         scale[2] * TRIBO_FOUR_CONST(c + j) - scale[3] * TRIBO_FOUR_CONST(d + j);
  }
  for (; j < n; ++j) {
    to[j] = to[j] - scale[0] * a[j] - scale[1] * b[j] - scale[2] * c[j] - scale[3] * d[j];
  }
}

TRIBO_LANES void tribo_dyn_factor_inverse(const DofTree* tree, const double* L, double* minv) {
  const int n = tree->nv, *parent = tree->parent;
  for (int i = 0; i < n; ++i) {
    double *row = minv + i * n, scale[4], last = 1 / L[i * (n + 1)];
    const double* from[4];
    int count = 0;
    // whole fours where there is room: what stands right of the diagonal is written by the rows below
    const int width = tribo_four_up(i) <= n ? tribo_four_up(i) : i;
    memset(row, 0, (size_t)width * sizeof *row);
    for (int p = parent[i]; p >= 0; p = parent[p]) {
      from[count] = minv + p * n;
      scale[count++] = L[i * n + p];
      if (count == 4) {
        subtract_four(row, from, scale, width);
        count = 0;
      }
    }
    for (int k = 0; k < count; ++k) {
      subtract_scaled(row, from[k], scale[k], width);
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
