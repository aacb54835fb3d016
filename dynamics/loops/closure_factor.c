// Redundant rows: closures that say a thing twice.
//
// Where rows depend on each other, G = J M⁻¹ Jᵀ is singular: there are combinations n ≠ 0 of impulses with Jᵀn = 0,
// which move nothing, and Gλ = −g has an answer only when nᵀg = 0. Shut closures satisfy that exactly, but the rows of
// a step are their linearisation: nᵀφ(q⁺) is of second order, not 0, and impulses that try to meet it grow without
// bound. So before anything else joins them, rows are sorted once for a configuration into independent ones and others,
// and the others are left out of all that the step does: of the passes that shut positions, of the problem with
// contacts and of the last impulses. Nothing is lost: where the independent rows are shut so are the others, since
// their φ are functions of these. They stay in the problem as rows that ask for λ = 0, so that nothing is renumbered.
//
// The sorting is Cholesky with pivots of the scaled matrix, P SGS Pᵀ = [L₁; L₂][L₁; L₂]ᵀ, which ends where the largest
// pivot left is below TRIBO_DYN_DEPENDENT. The scale S is decisive. A row that is 0 in theory, two axes of a planar
// loop that stay parallel, is 1e-17 after a rotation, and compared with itself it looks as good as any. So a row is
// compared with how far the two bodies would move each other's frame if no closure and no axis were asked for: S⁻² is
// the mobility of the point in all directions, or of the angle about all axes, of both sides together (redundant.c).
//
// The threshold. Pivots are squares: s² = 1e-10 is a row whose own part is s = 1e-5 of its size. G is known to some n ε
// of the scale, so that own parts below 1e-7 are rounding: no smaller s² could be told from 0. And what a step demands
// is known to rounding as well, φ/h to ε ℓ/h with lengths ℓ: a row with own part s answers that by velocities of ε ℓ/(h
// s) and by impulses that are s times less effective, m ε ℓ/(h s²) in all: at 1 ms, 1 m and s = 1e-5, 2e-8 m/s and 2 N
// per kg; at 1e-7, 2e-6 m/s and 2e4 N. A mechanism that is redundant to 1e-7 (a rounded drawing) so opens by some 1e-7
// of its motion where rigid rows would lock it. That is told as `opening`.
//
// So that rows do not come and go, those left out before count as 16 times smaller than they are.
//
// Independent rows are asked for what can be answered of all, g − S⁻¹NNᵀSg, the answer in the sense of least squares.
// (By their own g alone they lead elsewhere near a dead point, where they can be shut and the others not: legs that
// fold stayed open by 1e-3 m.)
//
// The impulses of independent rows are one answer of many. Where they are read, they are spread over all rows, the
// least that do the same: λ ← S(1 − NNᵀ)S⁻¹λ, N an orthonormal basis of the null space of SGS, from Pᵀ[−L₁⁻ᵀL₂ᵀ; 1].
// That is a smooth function of the state, whichever rows are the independent ones.
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

// How much less a row counts that was left out before.
static const double RETURNING = 1.0 / 16;

// What is left of W when the pivot, the k-th of order[], is taken out: only rows that meet it change, and most
// mechanisms are chains. Its column becomes that of L; list (n) is scratch.
static void eliminate(int n, double* W, const int* order, int k, int* list) {
  const int pivot = order[k];
  const double root = sqrt(W[(size_t)pivot * (size_t)(n + 1)]);
  int count = 0;
  W[(size_t)pivot * (size_t)(n + 1)] = root;
  for (int i = k + 1; i < n; ++i) {
    double* entry = W + (size_t)order[i] * (size_t)n + pivot;
    if (*entry != 0) {
      *entry /= root;
      list[count++] = order[i];
    }
  }
  for (int i = 0; i < count; ++i) {
    double* row = W + (size_t)list[i] * (size_t)n;
    const double x = row[pivot];
    for (int j = 0; j < i; ++j) {
      double* other = W + (size_t)list[j] * (size_t)n;
      row[list[j]] -= x * other[pivot];
      other[list[i]] = row[list[j]];
    }
    row[list[i]] -= x * x;
  }
}

// Cholesky with pivots of SGS in place: rows of W end up as L by order[]. Returns the rank.
static int factor_pivoted(int n, double* W, const unsigned char* before, int* order, int* list) {
  for (int i = 0; i < n; ++i) {
    order[i] = i;
  }
  for (int k = 0; k < n; ++k) {
    // the largest diagonal left
    int best = k;
    double most = -INFINITY;
    for (int i = k; i < n; ++i) {
      const double diagonal = W[(size_t)order[i] * (size_t)(n + 1)] * (before[order[i]] ? RETURNING : 1);
      best = diagonal > most ? i : best;
      most = fmax(most, diagonal);
    }
    const int swap = order[k];
    order[k] = order[best];
    order[best] = swap;
    if (!(most > TRIBO_DYN_DEPENDENT)) {
      return k;
    }
    eliminate(n, W, order, k, list);
  }
  return n;
}

void tribo_dyn_closure_factor(const TriboSystem* system, const Rows* rows, const double* minv, ClosureFactor* s) {
  const int n = (int)system->closure_size.nrow;
  double* W = s->W;
  tribo_dyn_closure_delassus(system, rows, minv, W, s->y);
  for (int i = 0; i < n; ++i) {
    const double own = W[(size_t)i * (size_t)(n + 1)];
    const double size =
        system->closure_mobility != NULL ? system->closure_mobility[i] + rows->R[rows->nrow - n + i] : own;
    s->scale[i] = size > 0 ? 1 / sqrt(size) : 0;
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      W[(size_t)i * (size_t)n + (size_t)k] *= s->scale[i] * s->scale[k];
    }
  }
  const int rank = factor_pivoted(n, W, s->before, s->order, s->list);
  s->rank = rank;
  s->count = n - rank;
  for (int k = 0; k < n; ++k) {
    s->dependent[s->order[k]] = k >= rank;
  }

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
  for (int i = 0; i < n; ++i) {
    lambda[i] *= s->scale[i];
  }
}

void tribo_dyn_closure_spread(const TriboSystem* system, const ClosureFactor* s, double* lambda) {
  const int n = (int)system->closure_size.nrow;
  for (int j = 0; j < s->count; ++j) {
    const double* vector = s->N + (size_t)j * (size_t)n;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += s->scale[i] > 0 ? vector[i] * lambda[i] / s->scale[i] : 0;
    }
    for (int i = 0; i < n; ++i) {
      lambda[i] -= sum * vector[i] * s->scale[i];
    }
  }
}

void tribo_dyn_closure_project(const TriboSystem* system, const ClosureFactor* s, double* g) {
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

int tribo_dyn_closures_are_ranked(const TriboSystem* system) {
  return system->has_redundant_rows || system->closure_size.nrow <= TRIBO_DYN_DENSE_ROWS_MAX;
}

void tribo_dyn_closure_empty_row(const TriboSystem* system, Rows* rows, int c, int r, double scale) {
  const int row = rows->cones[c].row + r;
  for (int t = rows->term_first[c]; t < rows->term_first[c + 1]; ++t) {
    const size_t n = (size_t)system->block_dim[rows->term_block[t]];
    memset(rows->term_jac + rows->term_at[t] + (size_t)r * n, 0, n * sizeof *rows->term_jac);
  }
  rows->g[row] = 0;
  rows->R[row] = scale > 0 ? 1 / (scale * scale) : 1;
}
