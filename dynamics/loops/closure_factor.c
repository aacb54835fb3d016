// Redundant rows: closures that say a thing twice.
//
// Where rows depend on each other, G = J M⁻¹ Jᵀ is singular: there are combinations n ≠ 0 of impulses with Jᵀn = 0,
// which move nothing, and Gλ = −g has an answer only when nᵀg = 0. Shut closures satisfy that exactly, but the rows of
// a step are their linearisation: nᵀφ(q⁺) is of second order, not 0, and impulses that try to meet it grow without
// bound. Newton's steps are therefore taken in the range of G alone, g ← g − S⁻¹N(NᵀN)⁻¹Nᵀ S g, with S = diag(G)^−½
// since rows have different units, and N a basis of the null space of SGS. Nothing is lost: J does not see what is left
// out, and the passes end when φ(q⁺) = 0 in full.
//
// N comes from Cholesky with pivots: P SGS Pᵀ = [L₁; L₂][L₁; L₂]ᵀ gives N = Pᵀ [−L₁⁻ᵀL₂ᵀ; 1]. The same factor solves
// Gλ = −g where nothing but closures acts, with the least impulses: λ = S(1 − NNᵀ)Pᵀ[−L₁⁻ᵀL₁⁻¹(PSg)₁; 0].
#include "dyn_data.h"
#include "small_dense.h"

// y (dim × n) = J M⁻¹ of one term; its block has n dofs.
static void spread(const TriboSystem* system, const Rows* rows, const double* all_minv, int c, int term, double* y) {
  const int block = rows->term_block[term], n = system->block_dim[block];
  const double *jac = rows->term_jac + rows->term_at[term], *minv = all_minv + system->block_at[block];
  for (int r = 0; r < rows->cones[c].dim; ++r) {
    tribo_mat_vec(n, n, minv, jac + r * n, y + r * n);
  }
}

// W (nrow × nrow) = J M⁻¹ Jᵀ + R of the closure rows, which are the last rows; y (6 × largest block) is scratch.
void tribo_dyn_closure_delassus(const TriboSystem* system, const Rows* rows, const double* minv, double* W, double* y) {
  const int n = (int)system->closure_size.nrow, first = rows->nrow - n, begin = rows->ncone - system->nclosure;
  memset(W, 0, (size_t)n * (size_t)n * sizeof *W);
  for (int c = begin; c < rows->ncone; ++c) {
    for (int t = rows->term_first[c]; t < rows->term_first[c + 1]; ++t) {
      spread(system, rows, minv, c, t, y);
      // every term on the same block
      for (int d = begin; d < rows->ncone; ++d) {
        for (int u = rows->term_first[d]; u < rows->term_first[d + 1]; ++u) {
          if (rows->term_block[u] != rows->term_block[t]) {
            continue;
          }
          const int dim = system->block_dim[rows->term_block[u]], columns = rows->cones[c].dim;
          const double* jac = rows->term_jac + rows->term_at[u];
          double* out = W + (size_t)(rows->cones[d].row - first) * (size_t)n + (rows->cones[c].row - first);
          for (int r = 0; r < rows->cones[d].dim; ++r, out += n, jac += dim) {
            for (int q = 0; q < columns; ++q) {
              double sum = out[q];
              for (int k = 0; k < dim; ++k) {
                sum += jac[k] * y[q * dim + k];
              }
              out[q] = sum;
            }
          }
        }
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    W[(size_t)i * (size_t)(n + 1)] += rows->R[first + i];
  }
}

// Cholesky with pivots of SGS in place: rows of W end up as L by order[]. Returns the rank.
static int factor_pivoted(int n, double* W, int* order) {
  for (int i = 0; i < n; ++i) {
    order[i] = i;
  }
  for (int k = 0; k < n; ++k) {
    // the largest diagonal left; diagonals are kept up to date
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      best = W[(size_t)order[i] * (size_t)(n + 1)] > W[(size_t)order[best] * (size_t)(n + 1)] ? i : best;
    }
    const int swap = order[k];
    order[k] = order[best];
    order[best] = swap;
    double* pivot = W + (size_t)order[k] * (size_t)n;
    if (!(pivot[order[k]] > TRIBO_DYN_DEPENDENT)) {
      return k;
    }
    const double root = sqrt(pivot[order[k]]);
    // column k of L stands in the column of its pivot
    for (int i = k + 1; i < n; ++i) {
      double* row = W + (size_t)order[i] * (size_t)n;
      double sum = row[order[k]];
      for (int m = 0; m < k; ++m) {
        sum -= row[order[m]] * pivot[order[m]];
      }
      row[order[k]] = sum / root;
      row[order[i]] -= row[order[k]] * row[order[k]];
    }
    pivot[order[k]] = root;
  }
  return n;
}

void tribo_dyn_closure_factor(const TriboSystem* system, const Rows* rows, const double* minv, ClosureFactor* s) {
  const int n = (int)system->closure_size.nrow;
  double* W = s->W;
  tribo_dyn_closure_delassus(system, rows, minv, W, s->y);
  for (int i = 0; i < n; ++i) {
    const double diagonal = W[(size_t)i * (size_t)(n + 1)];
    s->scale[i] = diagonal > 0 ? 1 / sqrt(diagonal) : 0;
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      W[(size_t)i * (size_t)n + (size_t)k] *= s->scale[i] * s->scale[k];
    }
  }
  const int rank = factor_pivoted(n, W, s->order);
  s->rank = rank;
  s->count = n - rank;

  // each vector of N: −L₁⁻ᵀ of a row of L₂, and 1 in its own place; made orthonormal on the way (Gram and Schmidt,
  // twice)
  for (int j = 0; j < s->count; ++j) {
    double* vector = s->N + (size_t)j * (size_t)n;
    const int* order = s->order;
    memset(vector, 0, (size_t)n * sizeof *vector);
    vector[order[rank + j]] = 1;
    for (int k = rank - 1; k >= 0; --k) {
      double sum = -W[(size_t)order[rank + j] * (size_t)n + (size_t)order[k]];
      for (int m = k + 1; m < rank; ++m) {
        sum -= W[(size_t)order[m] * (size_t)n + (size_t)order[k]] * vector[order[m]];
      }
      vector[order[k]] = sum / W[(size_t)order[k] * (size_t)(n + 1)];
    }
    for (int other = 0; other < 2 * j; ++other) {
      const double* known = s->N + (size_t)(other % j) * (size_t)n;
      tribo_add_scaled(n, -tribo_dot(known, vector, n), known, vector);
    }
    const double length = tribo_norm(vector, n);
    for (int i = 0; i < n; ++i) {
      vector[i] /= length;
    }
  }
}

void tribo_dyn_closure_project(const TriboSystem* system, const TriboDynData* data, double* g) {
  const ClosureFactor* s = &data->closure_factor;
  const int n = (int)system->closure_size.nrow;
  for (int j = 0; j < s->count; ++j) {
    const double* vector = s->N + (size_t)j * (size_t)n;
    double dot = 0;
    for (int i = 0; i < n; ++i) {
      dot += vector[i] * s->scale[i] * g[i];
    }
    for (int i = 0; i < n; ++i) {
      g[i] -= s->scale[i] > 0 ? dot * vector[i] / s->scale[i] : 0;
    }
  }
}

void tribo_dyn_closure_solve(const TriboSystem* system, const ClosureFactor* s, const double* g, double* lambda) {
  const int n = (int)system->closure_size.nrow, *order = s->order;
  const double* W = s->W;
  memset(lambda, 0, (size_t)n * sizeof *lambda);
  for (int k = 0; k < s->rank; ++k) {
    const double* row = W + (size_t)order[k] * (size_t)n;
    double sum = -s->scale[order[k]] * g[order[k]];
    for (int m = 0; m < k; ++m) {
      sum -= row[order[m]] * lambda[order[m]];
    }
    lambda[order[k]] = sum / row[order[k]];
  }
  for (int k = s->rank - 1; k >= 0; --k) {
    double sum = lambda[order[k]];
    for (int m = k + 1; m < s->rank; ++m) {
      sum -= W[(size_t)order[m] * (size_t)n + (size_t)order[k]] * lambda[order[m]];
    }
    lambda[order[k]] = sum / W[(size_t)order[k] * (size_t)(n + 1)];
  }
  for (int j = 0; j < s->count; ++j) {
    const double* vector = s->N + (size_t)j * (size_t)n;
    tribo_add_scaled(n, -tribo_dot(vector, lambda, n), vector, lambda);
  }
  for (int i = 0; i < n; ++i) {
    lambda[i] *= s->scale[i];
  }
}
