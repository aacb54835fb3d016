// The system in the size of the motion: each cone is eliminated by its own small block, what remains has one node per
// body or tree and an edge wherever a cone acts on two of them (linear_system.h).
#include <math.h>
#include <string.h>

#include "cone_block.h"
#include "lanes.h"
#include "linear_system.h"

enum { S = TRIBO_CONE_ROWS };

// inverse of three rows (stride 6), by cofactors: most contacts have them; 0, or 1 when it is singular
static int invert_3(const double* A, double* Z) {
  const double *a = A, *b = A + S, *c = A + 2 * S;
  double x = b[1] * c[2] - b[2] * c[1], y = b[2] * c[0] - b[0] * c[2], z = b[0] * c[1] - b[1] * c[0];
  double det = a[0] * x + a[1] * y + a[2] * z, f = 1 / det;
  Z[0] = f * x;
  Z[1] = f * (a[2] * c[1] - a[1] * c[2]);
  Z[2] = f * (a[1] * b[2] - a[2] * b[1]);
  Z[S] = f * y;
  Z[S + 1] = f * (a[0] * c[2] - a[2] * c[0]);
  Z[S + 2] = f * (a[2] * b[0] - a[0] * b[2]);
  Z[2 * S] = f * z;
  Z[2 * S + 1] = f * (a[1] * c[0] - a[0] * c[1]);
  Z[2 * S + 2] = f * (a[0] * b[1] - a[1] * b[0]);
  return !(isfinite(f) && f != 0);
}

// the same for any small matrix
static int invert_small(int k, const double* A, double* Z) {
  double t[S * S];
  int pivot[S];
  for (int i = 0; i < k; ++i) {
    for (int j = 0; j < k; ++j) {
      t[i + k * j] = A[S * i + j];
    }
  }
  if (k == 1) {
    Z[0] = 1 / t[0];
    return !(fabs(t[0]) > 0);
  }
  if (tribo_la_lu(k, t, k, pivot) != 0) {
    return 1;
  }
  for (int j = 0; j < k; ++j) {
    double e[S] = {0};
    e[j] = 1;
    tribo_la_lu_solve(k, t, k, pivot, e);
    for (int i = 0; i < k; ++i) {
      Z[S * i + j] = e[i];
    }
  }
  return 0;
}

// K = B Z Eᵀ (dim × dim, stride 6) of a cone, Z = (C + Eᵀ R B)⁻¹
static int compliance(const TriboLinearSystem* sys, int c, double* K) {
  const TriboScaledCone* k = &sys->sc->cone[c];
  const TriboLocal* l = &sys->local[c];
  const double* R = sys->sc->R + k->row;
  double* Z = sys->Z + S * S * (size_t)c;
  double A[S * S], t[S * S];
  memcpy(A, l->C, sizeof A);
  for (int i = 0; i < l->k; ++i) {
    for (int j = 0; j < l->k; ++j) {
      for (int m = 0; m < k->dim; ++m) {
        A[S * i + j] += l->identity ? (double)(m == i && m == j) * R[m] : l->E[S * m + i] * R[m] * l->B[S * m + j];
      }
    }
  }
  // the interior point's blocks are too ill-conditioned for cofactors, and not symmetric
  if (l->k == 3 && l->symmetric ? invert_3(A, Z) : invert_small(l->k, A, Z)) {
    return 1;
  }
  if (l->identity) {
    memcpy(K, Z, sizeof A);
    return 0;
  }
  for (int i = 0; i < k->dim; ++i) {
    tribo_sol_small_transposed(Z, l->k, l->k, l->B + S * i, t + S * i);
  }
  for (int i = 0; i < k->dim; ++i) {
    for (int j = 0; j < k->dim; ++j) {
      double sum = 0;
      for (int m = 0; m < l->k; ++m) {
        sum += t[S * i + m] * l->E[S * j + m];
      }
      K[S * i + j] = sum;
    }
  }
  return 0;
}

// block += Jaᵀ T, Ja dim × na, T dim × nb, both row-major
static inline __attribute__((always_inline)) void add_product_n(double* to, int ld, int dim, const double* Ja, int na,
                                                                const double* T, int nb) {
  for (int j = 0; j < nb; ++j, to += ld) {
    for (int d = 0; d < dim; ++d) {
      double f = T[d * nb + j];
      const double* a = Ja + d * na;
      for (int i = 0; i < na; ++i) {
        to[i] += a[i] * f;
      }
    }
  }
}

static inline __attribute__((always_inline)) void add_product(double* value, TriboSlot slot, int dim, const double* Ja,
                                                              int na, const double* T, int nb) {
  if (dim == 3 && na == 6 && nb == 6) {
    add_product_n(value + slot.at, slot.ld, 3, Ja, 6, T, 6);
  } else {
    add_product_n(value + slot.at, slot.ld, dim, Ja, na, T, nb);
  }
}

// T = K J, dim × n row-major
static inline __attribute__((always_inline)) void times_jacobian_n(const double* K, int dim, const double* J, int n,
                                                                   double* T) {
  for (int i = 0; i < dim; ++i) {
    double* t = T + i * n;
    for (int j = 0; j < n; ++j) {
      t[j] = K[S * i] * J[j];
    }
    for (int m = 1; m < dim; ++m) {
      double f = K[S * i + m];
      for (int j = 0; j < n; ++j) {
        t[j] += f * J[m * n + j];
      }
    }
  }
}

static inline void times_jacobian(const double* K, int dim, const double* J, int n, double* T) {
  if (dim == 3 && n == 6) {
    times_jacobian_n(K, 3, J, 6, T);
  } else {
    times_jacobian_n(K, dim, J, n, T);
  }
}

// The same of a term of a wide block against itself, by the columns that it moves: block += Jᵀ K J, the lower triangle
// of it where that is all that is asked for.
static inline void add_moved(double* to, int ld, int lower, const double* K, int dim, const double* J, int n,
                             const int* which, int count, double* scratch) {
  double *packed = scratch, *T = packed + dim * count, *sum = T + dim * count;
  for (int d = 0; d < dim; ++d) {
    for (int i = 0; i < count; ++i) {
      packed[d * count + i] = J[d * n + which[i]];
    }
  }
  times_jacobian_n(K, dim, packed, count, T);
  for (int j = 0; j < count; ++j) {
    const int from = lower ? j : 0;
    double* column = to + (size_t)which[j] * (size_t)ld;
    for (int i = from; i < count; ++i) {
      sum[i] = packed[i] * T[j];
    }
    for (int d = 1; d < dim; ++d) {
      const double f = T[d * count + j], *a = packed + d * count;
      for (int i = from; i < count; ++i) {
        sum[i] += a[i] * f;
      }
    }
    for (int i = from; i < count; ++i) {
      column[which[i]] += sum[i];
    }
  }
}

TRIBO_LANES int tribo_sol_motion_factor(TriboLinearSystem* sys, int symmetric) {
  const TriboScaled* sc = sys->sc;
  const TriboProblem* p = sc->problem;
  double* value = tribo_la_factor_begin(sys->sparse);
  for (int b = 0; b < p->nblock; ++b) {
    TriboSlot slot = tribo_la_factor_diagonal(sys->sparse, b);
    int n = p->block_dim[b];
    const double* M = p->mass + p->block_at[b];
    for (int j = 0; j < n; ++j) {
      memcpy(value + slot.at + (size_t)j * (size_t)slot.ld, M + j * n, sizeof(double) * (size_t)n);
    }
  }
  int pair = 0;
  for (int c = 0; c < sc->ncone; ++c) {
    int first = p->term_first[c], last = p->term_first[c + 1], dim = sc->cone[c].dim;
    if (sys->local[c].k == 0) {
      pair += (last - first) * (last - first - 1) / 2;
      continue;
    }
    double K[S * S];
    if (compliance(sys, c, K)) {
      return 1;
    }
    if (last == first + 1 && sc->wide && p->block_dim[p->term_block[first]] > TRIBO_NARROW) {
      const TriboSlot slot = tribo_la_factor_diagonal(sys->sparse, p->term_block[first]);
      const TriboMoved* moved = &sc->moved[first];
      add_moved(value + slot.at, slot.ld, symmetric, K, dim, sc->jac + sc->term_at[first],
                p->block_dim[p->term_block[first]], sc->which + moved->which, moved->count, sys->moved);
      continue;
    }
    int base = pair;
    for (int t = first; t < last; ++t) {
      // K J of term t, against itself and against the terms on either side
      int nt = p->block_dim[p->term_block[t]];
      double* T = sys->v;
      times_jacobian(K, dim, sc->jac + sc->term_at[t], nt, T);
      add_product(value, tribo_la_factor_diagonal(sys->sparse, p->term_block[t]), dim, sc->jac + sc->term_at[t], nt, T,
                  nt);
      for (int s = first; s < last; ++s) {
        if (s == t) {
          continue;
        }
        // pairs are numbered (first, first+1), (first, first+2), …
        int a = s < t ? s - first : t - first, b = s < t ? t - first : s - first, m = last - first;
        int e = sys->pair_edge[base + a * (2 * m - a - 1) / 2 + b - a - 1], ij_is_lower;
        TriboSlot ij, ji;
        tribo_la_factor_edge(sys->sparse, e, &ij, &ji, &ij_is_lower);
        // the block has the rows of s and the columns of t
        int is_lower = s < t ? ij_is_lower : !ij_is_lower;
        if (!symmetric || is_lower) {
          add_product(value, s < t ? ij : ji, dim, sc->jac + sc->term_at[s], p->block_dim[p->term_block[s]], T, nt);
        }
      }
    }
    pair += (last - first) * (last - first - 1) / 2;
  }
  return tribo_la_factor_run(sys->sparse, symmetric);
}

// Z x of a cone whose unknowns are its rows; contacts have three
static inline void times_compliance(const double* Z, int k, const double* x, double* y) {
  if (k == 3) {
    tribo_sol_small_times(Z, 3, 3, x, y);
  } else {
    tribo_sol_small_times(Z, k, k, x, y);
  }
}

// the reduced system without refinement: y from r
TRIBO_LANES void tribo_sol_motion_solve(TriboLinearSystem* sys, const double* r, double* y) {
  const TriboScaled* sc = sys->sc;
  const TriboProblem* p = sc->problem;
  memset(sys->v, 0, sizeof(double) * (size_t)sc->nv);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboLocal* l = &sys->local[c];
    if (l->k == 0) {
      continue;
    }
    double z[S], f[S];
    times_compliance(sys->Z + S * S * (size_t)c, l->k, r + sys->offset[c], z);
    const double* force = z;
    if (!l->identity) {
      tribo_sol_small_times(l->B, sc->cone[c].dim, l->k, z, f);
      force = f;
    }
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      const int b = p->term_block[t], n = p->block_dim[b], only = tribo_sol_only(sc, t);
      const double* jac = sc->jac + sc->term_at[t];
      if (only >= 0) {
        sys->v[sc->var[b] + only] += jac[only] * force[0];
      } else {
        tribo_sol_add_momentum(sc->cone[c].dim, n, jac, force, sys->v + sc->var[b]);
      }
    }
  }
  tribo_la_factor_solve(sys->sparse, sys->v);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboLocal* l = &sys->local[c];
    if (l->k == 0) {
      continue;
    }
    double u[S] = {0}, t[S], z[S];
    for (int s = p->term_first[c]; s < p->term_first[c + 1]; ++s) {
      const int b = p->term_block[s], n = p->block_dim[b], only = tribo_sol_only(sc, s);
      const double* jac = sc->jac + sc->term_at[s];
      if (only >= 0) {
        u[0] += jac[only] * sys->v[sc->var[b] + only];
      } else {
        tribo_sol_add_velocity(sc->cone[c].dim, n, jac, sys->v + sc->var[b], u);
      }
    }
    const double* balance = u;
    if (!l->identity) {
      tribo_sol_small_transposed(l->E, sc->cone[c].dim, l->k, u, t);
      balance = t;
    }
    for (int i = 0; i < l->k; ++i) {
      z[i] = r[sys->offset[c] + i] - balance[i];
    }
    times_compliance(sys->Z + S * S * (size_t)c, l->k, z, y + sys->offset[c]);
  }
}
