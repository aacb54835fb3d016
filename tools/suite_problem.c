// What a contact problem of the suite is like: rank and condition of its rows, its category.
//
// With M = L Lᵀ the rows of joints are the columns of B = L⁻¹ Jᵀ, and G = Bᵀ B. QR with column pivoting, by modified
// Gram–Schmidt, gives the rank of J (columns of length 1, 1e-10 of the first pivot) and an estimate of the condition of
// G where it is not singular, (r₁/r_k)².
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_suite.h"

static const double RANK = 1e-10;

const char* const suite_category_names[SUITE_CATEGORIES] = {"independent joints", "redundant joints", "dense joints",
                                                            "single contact",     "sparse contacts",  "dense contacts",
                                                            "dense constraints"};

SuiteCategory suite_category(const SuiteProblem* p) {
  if (p->contacts >= 1 && p->joints >= 1 && p->djlc > 1) {
    return SUITE_DENSE_CONSTRAINTS;
  }
  if (p->contacts == 0) {
    return p->joint_rank == p->joint_rows ? SUITE_INDEPENDENT_JOINTS
           : p->dj < 1                    ? SUITE_REDUNDANT_JOINTS
                                          : SUITE_DENSE_JOINTS;
  }
  return p->contacts == 1               ? SUITE_SINGLE_CONTACT
         : p->contacts <= 2 * p->bodies ? SUITE_SPARSE_CONTACTS
                                        : SUITE_DENSE_CONTACTS;
}

// L (n × n row-major) of a symmetric positive matrix.
static void cholesky(int n, const double* M, double* L) {
  memset(L, 0, sizeof *L * (size_t)(n * n));
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = M[i * n + j];
      for (int k = 0; k < j; ++k) {
        sum -= L[i * n + k] * L[j * n + k];
      }
      L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
    }
  }
}

// Columns x of B, nv apart: L x = a row of J.
static void solve_rows(int n, const double* L, int dim, const double* J, int nv, double* x) {
  for (int r = 0; r < dim; ++r, J += n, x += nv) {
    for (int i = 0; i < n; ++i) {
      double sum = J[i];
      for (int k = 0; k < i; ++k) {
        sum -= L[i * n + k] * x[k];
      }
      x[i] = sum / L[i * n + i];
    }
  }
}

// B (nv of a column, one column per row of the problem).
static int make_columns(const TriboProblem* p, int nv, double* B) {
  double* L = calloc((size_t)nv * (size_t)nv, sizeof *L);
  if (L == NULL) {
    return 0;
  }
  for (int b = 0, at = 0; b < p->nblock; at += p->block_dim[b++]) {
    const int n = p->block_dim[b];
    cholesky(n, p->mass + p->block_at[b], L);
    for (int c = 0; c < p->ncone; ++c) {
      for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
        if (p->term_block[t] == b) {
          solve_rows(n, L, p->cones[c].dim, p->jac + p->term_at[t], nv, B + (size_t)p->cones[c].row * (size_t)nv + at);
        }
      }
    }
  }
  free(L);
  return 1;
}

// The rank of the columns (count of nv), which are lost; *least the last pivot over the first.
static int factor_columns(int nv, int count, double** column, double* least) {
  double first = 0;
  *least = 1;
  for (int k = 0; k < count; ++k) {
    int best = k;
    double longest = -1;
    for (int j = k; j < count; ++j) {
      double sum = 0;
      for (int i = 0; i < nv; ++i) {
        sum += column[j][i] * column[j][i];
      }
      if (sum > longest) {
        longest = sum, best = j;
      }
    }
    double *pivot = column[best], length = sqrt(longest);
    column[best] = column[k];
    first = k == 0 ? length : first;
    if (!(length > RANK * first)) {
      return k;
    }
    *least = length / first;
    for (int j = k + 1; j < count; ++j) {
      double along = 0;
      for (int i = 0; i < nv; ++i) {
        along += pivot[i] * column[j][i];
      }
      for (int i = 0; i < nv; ++i) {
        column[j][i] -= along / longest * pivot[i];
      }
    }
  }
  return count;
}

// Counts the cones. The columns of joints' rows, with length 1, go to `unit`; returns how many they are.
static int list_joint_rows(const TriboProblem* p, int nv, const double* B, double* unit, double** column,
                           SuiteProblem* out) {
  int count = 0;
  for (int c = 0; c < p->ncone; ++c) {
    const TriboCone* k = &p->cones[c];
    const int rows = k->kind == TRIBO_CONE_FREE ? k->dim : 0;
    out->joints += k->kind == TRIBO_CONE_FREE;
    out->contacts += k->kind == TRIBO_CONE_FRICTION;
    out->limits += k->kind == TRIBO_CONE_NONNEG;
    for (int r = k->row; r < k->row + rows; ++r) {
      const double* from = B + (size_t)r * (size_t)nv;
      double sum = 0, *to = unit + (size_t)count * (size_t)nv;
      for (int i = 0; i < nv; ++i) {
        sum += from[i] * from[i];
      }
      for (int i = 0; i < nv; ++i) {
        to[i] = sum > 0 ? from[i] / sqrt(sum) : 0;
      }
      column[count++] = to;
    }
  }
  return count;
}

int suite_describe(const TriboProblem* p, int bodies, double mass_ratio, SuiteProblem* out) {
  int nv = 0;
  *out = (SuiteProblem){.bodies = bodies, .rows = p->nrow, .mass_ratio = mass_ratio};
  for (int b = 0; b < p->nblock; ++b) {
    nv += p->block_dim[b];
  }
  const size_t size = (size_t)nv * (size_t)p->nrow;
  double *B = calloc(size + 1, sizeof *B), *unit = calloc(size + 1, sizeof *unit), least;
  double** column = calloc((size_t)p->nrow + 1, sizeof *column);
  const int good = B != NULL && unit != NULL && column != NULL && make_columns(p, nv, B);
  if (good) {
    out->joint_rows = list_joint_rows(p, nv, B, unit, column, out);
    out->joint_rank = factor_columns(nv, out->joint_rows, column, &least);
    for (int r = 0; r < p->nrow; ++r) {
      column[r] = B + (size_t)r * (size_t)nv;
    }
    factor_columns(nv, p->nrow, column, &least);
    out->condition = 1 / (least * least);
    out->dj = out->joint_rows / (6.0 * bodies);
    out->dc = 3 * out->contacts / (6.0 * bodies);
    out->djlc = p->nrow / (6.0 * bodies);
    out->category = suite_category(out);
  }
  free(B);
  free(unit);
  free(column);
  return good;
}
