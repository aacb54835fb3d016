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
// Pivots need not be the largest ones left. Rounding of what is left of W grows with the root of how much smaller they
// are than rows that they meet, ε √(w/pivot), since no entry is larger than the root of its two diagonals. So of all
// rows down to SMALLER of the largest one that is taken which meets the fewest others, and of these the largest: in
// mechanisms of free bodies, chains and trees with a few loops, few entries of L are filled. (304 rows of 54 bodies: a
// step of 0.8 ms, and of 1.9 ms by the largest ones.) Rounding would allow far less than 0.1, but which rows count as
// independent decides what contacts have to work with: legs whose axes are parallel to 1e-7 took ten times as long to
// solve with 0.03.
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

// How much smaller than the largest pivot left the one that is taken may be.
static const double SMALLER = 0.1;

// What is left of a row, as it counts.
static double rest_of(const ClosureFactor* s, int row) {
  return s->rest[row] * (s->before[row] ? RETURNING : 1);
}

// The row from order[k] on that meets the fewest others, of those with more than `least` left, and of these the one of
// which most is left; −1: there is none.
static int choose_pivot(int n, const ClosureFactor* s, int k, double least) {
  int best = -1, fewest = n;
  double most = least;
  for (int i = k; i < n; ++i) {
    const int row = s->order[i];
    if (s->degree[row] <= fewest) {
      const double rest = rest_of(s, row);
      if (rest > (s->degree[row] < fewest ? least : most)) {
        best = i;
        fewest = s->degree[row];
        most = rest;
      }
    }
  }
  return best;
}

// The largest of what is left from order[k] on.
static double largest_rest(int n, const ClosureFactor* s, int k) {
  double most = -INFINITY;
  for (int i = k; i < n; ++i) {
    const double rest = rest_of(s, s->order[i]);
    most = rest > most ? rest : most;
  }
  return most;
}

// Takes the k-th pivot out of W: its column of L, from `at` on, and what is left of the rows that meet it. Returns the
// end of the column.
static size_t eliminate(int n, ClosureFactor* s, int k, size_t at) {
  const int pivot = s->order[k];
  double *W = s->W, *own = W + (size_t)pivot * (size_t)n, *value = s->value + at;
  const double root = s->diagonal[k] = sqrt(s->rest[pivot]);
  int *list = s->row + at, count = 0;
  // (entries that happen to cancel count in the degree: there are no more than that)
  const int degree = s->degree[pivot];
  for (int i = k + 1; i < n && count < degree; ++i) {
    const int row = s->order[i];
    if (own[row] != 0) {
      list[count] = row;
      value[count++] = own[row] / root;
      s->degree[row]--;
    }
  }
  for (int i = 0; i < count; ++i) {
    double* row = W + (size_t)list[i] * (size_t)n;
    const double x = value[i];
    for (int j = 0; j < i; ++j) {
      double* entry = row + list[j];
      if (*entry == 0) {
        s->degree[list[i]]++;
        s->degree[list[j]]++;
      }
      *entry -= x * value[j];
      W[(size_t)list[j] * (size_t)n + (size_t)list[i]] = *entry;
    }
    s->rest[list[i]] -= x * x;
  }
  return at + (size_t)count;
}

// Cholesky with pivots of SGS, which is in W. Returns the rank.
static int factor_pivoted(int n, ClosureFactor* s) {
  size_t at = 0;
  for (int i = 0; i < n; ++i) {
    s->order[i] = i;
  }
  double least = INFINITY;
  for (int k = 0; k < n; ++k) {
    s->first[k] = at;
    int best = choose_pivot(n, s, k, least);
    if (best < 0) {
      // (what is left only falls: the last bound held until now)
      const double most = largest_rest(n, s, k);
      if (!(most > TRIBO_DYN_DEPENDENT)) {
        return k;
      }
      least = fmax(SMALLER * most, TRIBO_DYN_DEPENDENT);
      best = choose_pivot(n, s, k, least);
    }
    const int swap = s->order[k];
    s->order[k] = s->order[best];
    s->order[best] = swap;
    at = eliminate(n, s, k, at);
  }
  s->first[n] = at;
  return n;
}

// SGS in place of G, symmetric to the bit; its diagonal goes to `rest`, and how many others each row meets to `degree`.
static void scale_rows(int n, ClosureFactor* s) {
  for (int i = 0; i < n; ++i) {
    double* row = s->W + (size_t)i * (size_t)n;
    s->rest[i] = row[i] * s->scale[i] * s->scale[i];
    s->degree[i] = 0;
    for (int k = 0; k < i; ++k) {
      if (row[k] != 0) {
        row[k] *= s->scale[i] * s->scale[k];
        s->degree[i]++;
        s->degree[k]++;
      }
      s->W[(size_t)k * (size_t)n + (size_t)i] = row[k];
    }
  }
}

// x ← L₁⁻ᵀ x: on the independent rows, what is there of others counting as known.
static void solve_back(const ClosureFactor* s, double* x) {
  for (int k = s->rank - 1; k >= 0; --k) {
    double sum = x[s->order[k]];
    for (size_t e = s->first[k]; e < s->first[k + 1]; ++e) {
      sum -= s->value[e] * x[s->row[e]];
    }
    x[s->order[k]] = sum / s->diagonal[k];
  }
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
  scale_rows(n, s);
  const int rank = factor_pivoted(n, s);
  s->rank = rank;
  s->count = n - rank;
  for (int k = 0; k < n; ++k) {
    s->dependent[s->order[k]] = k >= rank;
  }

  // each vector of N: −L₁⁻ᵀ of a row of L₂, and 1 in its own place; made orthonormal on the way (Gram and Schmidt,
  // twice)
  for (int j = 0; j < s->count; ++j) {
    double* vector = s->N + (size_t)j * (size_t)n;
    memset(vector, 0, (size_t)n * sizeof *vector);
    vector[s->order[rank + j]] = 1;
    solve_back(s, vector);
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
  const int n = (int)system->closure_size.nrow;
  for (int i = 0; i < n; ++i) {
    lambda[i] = -s->scale[i] * g[i];
  }
  for (int k = 0; k < s->rank; ++k) {
    const double y = lambda[s->order[k]] /= s->diagonal[k];
    for (size_t e = s->first[k]; e < s->first[k + 1]; ++e) {
      lambda[s->row[e]] -= s->value[e] * y;
    }
  }
  for (int k = s->rank; k < n; ++k) {
    lambda[s->order[k]] = 0;
  }
  solve_back(s, lambda);
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
