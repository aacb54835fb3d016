// The Delassus matrix W = J M⁻¹ Jᵀ + R as a dense matrix, and the way there for trees.
//
// A tree has one wide block of velocities, of which a contact moves those on the way to the root and a limit one. So
// the columns of a term that are not 0 are listed once, and M⁻¹ is multiplied by them alone:
//
//     response of a block:  M⁻¹ Jᵀ, one column per row of the problem that acts on it
//
// It gives the diagonal before anything is scaled, then W as J times it, again by the listed columns; and with W a
// product costs n², where J, M⁻¹ and Jᵀ one after the other cost several times as much.
//
// Both products are right to what rounding leaves, which is more than usual where large impulses on light links nearly
// cancel. The problem is posed by J and M⁻¹, so an answer that W calls good is scored once more by these
// (tribo_sol_record); where they disagree the rest of the solve goes without W.
#include <stdint.h>
#include <string.h>

#include "kernels.h"
#include "lanes.h"
#include "memory.h"
#include "scaled.h"

// ---- rows with few columns times a matrix ----

// One stretch of `fours` times four columns of the product below, from column `at` on.
static inline void multiply_columns(int dim, int fours, int n, const int* which, const double* P, const double* A,
                                    int stride, int at, double* to, int ld) {
  TriboFour sum[3][2] = {{{0}}};
  for (int k = 0; k < n; ++k) {
    const double* a = A + (size_t)which[k] * (size_t)stride + at;
    for (int f = 0; f < fours; ++f) {
      for (int i = 0; i < dim; ++i) {
        sum[i][f] += P[i * n + k] * TRIBO_FOUR_CONST(a + 4 * f);
      }
    }
  }
  for (int f = 0; f < fours; ++f) {
    for (int i = 0; i < dim; ++i) {
      TRIBO_FOUR(to + i * ld + at + 4 * f) = sum[i][f];
    }
  }
}

// to (dim × count, row stride ld) = P A by the n columns `which` that are not 0; P (dim × n) holds only these, A is
// row-major with the given stride. count is at least four; where it is no multiple of it some are made twice.
static inline void multiply_n(int dim, int n, const int* which, const double* P, const double* A, int stride, int count,
                              double* to, int ld) {
  int j = 0;
  for (; j + 8 <= count; j += 8) {
    multiply_columns(dim, 2, n, which, P, A, stride, j, to, ld);
  }
  for (; j < count; j += 4) {
    multiply_columns(dim, 1, n, which, P, A, stride, j + 4 <= count ? j : count - 4, to, ld);
  }
}

TRIBO_LANES static void multiply_3(int n, const int* which, const double* P, const double* A, int stride, int count,
                                   double* to, int ld) {
  multiply_n(3, n, which, P, A, stride, count, to, ld);
}

TRIBO_LANES static void multiply_1(int n, const int* which, const double* P, const double* A, int stride, int count,
                                   double* to, int ld) {
  multiply_n(1, n, which, P, A, stride, count, to, ld);
}

static void multiply(int dim, int n, const int* which, const double* P, const double* A, int stride, int count,
                     double* to, int ld) {
  if (dim == 3) {
    multiply_3(n, which, P, A, stride, count, to, ld);
    return;
  }
  for (int i = 0; i < dim; ++i) {
    multiply_1(n, which, P + i * n, A, stride, count, to + i * ld, ld);
  }
}

// ---- response of wide blocks ----

// Which columns of a term are not 0, and the term by these alone. Returns how many there are.
static inline int pack(int dim, int n, const double* J, int* which, double* packed) {
  int count = 0;
  for (int j = 0; j < n; ++j) {
    // not 0 or −0: some bit other than the sign's is set
    uint64_t any = 0;
    for (int i = 0; i < dim; ++i) {
      uint64_t bits;
      memcpy(&bits, &J[i * n + j], sizeof bits);
      any |= bits;
    }
    which[count] = j;
    count += (any << 1) != 0;
  }
  for (int i = 0; i < dim; ++i) {
    for (int k = 0; k < count; ++k) {
      packed[i * count + k] = J[i * n + which[k]];
    }
  }
  return count;
}

// The response to one term, whose rows start at `row`; the number of rows is known for contacts.
static inline void response_of_term(TriboScaled* sc, int dim, int t, int row) {
  const TriboProblem* p = sc->problem;
  const int b = p->term_block[t], n = p->block_dim[b], ld = tribo_four_up(sc->acting[b]);
  TriboMoved* m = &sc->moved[t];
  int* which = sc->which + m->which;
  double *packed = sc->packed + m->packed, *rows = sc->rows;
  const int count = m->count = pack(dim, n, p->jac + p->term_at[t], which, packed);
  m->only = dim == 1 && count == 1 ? which[0] : -1;
  multiply(dim, count, which, packed, p->minv + p->block_at[b], n, n, rows, n);
  for (int i = 0; i < dim; ++i) {
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      sum += packed[i * count + k] * rows[i * n + which[k]];
    }
    sc->diagonal[row + i] += sum;
  }
  double* to = sc->response + sc->response_at[b] + m->column;
  for (int j = 0; j < n; ++j, to += ld) {
    for (int i = 0; i < dim; ++i) {
      to[i] = rows[i * n + j];
    }
  }
}

// Places of the responses and of what is listed about the terms.
static TriboStatus lay_out(TriboScaled* sc, const TriboProblem* p) {
  TRIBO_TRY(TRIBO_RESERVE(&sc->moved, p->term_first[p->ncone]));
  TRIBO_TRY(TRIBO_RESERVE(&sc->acting, p->nblock));
  TRIBO_TRY(TRIBO_RESERVE(&sc->response_at, p->nblock));
  memset(sc->acting, 0, sizeof(int) * (size_t)p->nblock);
  size_t packed = 0, which = 0, response = 0, most = 0;
  for (int c = 0; c < p->ncone; ++c) {
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      const int b = p->term_block[t], n = p->block_dim[b];
      sc->moved[t].only = -1;
      if (n > TRIBO_NARROW) {
        sc->moved[t] = (TriboMoved){.column = sc->acting[b], .which = which, .packed = packed};
        sc->acting[b] += p->cones[c].dim;
        which += (size_t)n;
        packed += (size_t)(n * p->cones[c].dim);
      }
    }
  }
  for (int b = 0; b < p->nblock; ++b) {
    sc->response_at[b] = response;
    const int ld = tribo_four_up(sc->acting[b]), wide = ld > p->block_dim[b] ? ld : p->block_dim[b];
    response += (size_t)ld * (size_t)p->block_dim[b];
    most = (size_t)wide > most ? (size_t)wide : most;
  }
  TRIBO_TRY(TRIBO_RESERVE(&sc->which, which));
  TRIBO_TRY(TRIBO_RESERVE(&sc->packed, packed));
  TRIBO_TRY(TRIBO_RESERVE(&sc->response, response));
  return TRIBO_RESERVE(&sc->rows, TRIBO_CONE_ROWS * most);
}

TriboStatus tribo_sol_response(TriboScaled* sc) {
  const TriboProblem* p = sc->problem;
  sc->wide = 0;
  for (int b = 0; b < p->nblock; ++b) {
    sc->wide |= p->block_dim[b] > TRIBO_NARROW && !sc->no_response;
  }
  if (!sc->wide) {
    return TRIBO_OK;
  }
  TRIBO_TRY(lay_out(sc, p));
  for (int c = 0; c < p->ncone; ++c) {
    const int dim = p->cones[c].dim, row = p->cones[c].row;
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      if (p->block_dim[p->term_block[t]] <= TRIBO_NARROW) {
        continue;
      }
      if (dim == 3) {
        response_of_term(sc, 3, t, row);
      } else if (dim == 1) {
        response_of_term(sc, 1, t, row);
      } else {
        response_of_term(sc, dim, t, row);
      }
    }
  }
  // columns that only fill up
  for (int b = 0; b < p->nblock; ++b) {
    const int ld = tribo_four_up(sc->acting[b]);
    double* to = sc->response + sc->response_at[b];
    if (ld == sc->acting[b]) {
      continue;
    }
    for (int j = 0; j < p->block_dim[b]; ++j, to += ld) {
      memset(to + sc->acting[b], 0, sizeof(double) * (size_t)(ld - sc->acting[b]));
    }
  }
  return TRIBO_OK;
}

// ---- products with wide blocks ----

TRIBO_LANES void tribo_sol_add_velocity_wide(int dim, int n, const double* J, const double* v, double* u) {
  for (int i = 0; i < dim; ++i, J += n) {
    u[i] += tribo_la_dot(n, J, v);
  }
}

TRIBO_LANES void tribo_sol_add_momentum_wide(int dim, int n, const double* J, const double* impulse, double* momentum) {
  for (int i = 0; i < dim; ++i, J += n) {
    int j = 0;
    if (impulse[i] == 0) {
      continue;
    }
    for (; j + 4 <= n; j += 4) {
      TRIBO_FOUR(momentum + j) += impulse[i] * TRIBO_FOUR_CONST(J + j);
    }
    for (; j < n; ++j) {
      momentum[j] += impulse[i] * J[j];
    }
  }
}

// ---- W ----

// what an impulse along the row J of a narrow block does to all rows from cone c on; m, the block's size, is known for
// bodies
static inline void narrow_column(const TriboScaled* sc, int c, int b, int m, const double* J, double* column) {
  const TriboProblem* p = sc->problem;
  // velocity of the block, of which B is the symmetric inverse mass
  double v[TRIBO_NARROW] = {0};
  const double* B = p->minv + p->block_at[b];
  for (int s = 0; s < m; ++s, B += m) {
    for (int r = 0; r < m; ++r) {
      v[r] += B[r] * J[s];
    }
  }
  for (int d = c; d < sc->ncone; ++d) {
    for (int u = p->term_first[d]; u < p->term_first[d + 1] && p->term_block[u] <= b; ++u) {
      if (p->term_block[u] == b) {
        tribo_sol_add_velocity_n(sc->cone[d].dim, m, sc->jac + sc->term_at[u], v, column + sc->cone[d].row);
      }
    }
  }
}

static void add_narrow(TriboScaled* sc, int c, int t) {
  const TriboScaledCone* k = &sc->cone[c];
  const int b = sc->problem->term_block[t], m = sc->problem->block_dim[b];
  const double* J = sc->jac + sc->term_at[t];
  for (int i = 0; i < k->dim; ++i, J += m) {
    double* column = sc->W + (size_t)(k->row + i) * (size_t)sc->n;
    if (m == 6) {
      narrow_column(sc, c, b, 6, J, column);
    } else {
      narrow_column(sc, c, b, m, J, column);
    }
  }
}

// column[j] += s · scale[j] · from[j]
static inline void add_scaled(int n, double s, const double* restrict scale, const double* restrict from,
                              double* restrict column) {
  for (int j = 0; j < n; ++j) {
    column[j] += s * scale[j] * from[j];
  }
}

// the same for a wide block: J times its response, from the term's own columns on
static void add_wide(TriboScaled* sc, int c, int t) {
  const TriboProblem* p = sc->problem;
  const TriboScaledCone* k = &sc->cone[c];
  const TriboMoved* m = &sc->moved[t];
  const int b = p->term_block[t], ld = tribo_four_up(sc->acting[b]), from = m->column & ~3, count = ld - from;
  multiply(p->cones[c].dim, m->count, sc->which + m->which, sc->packed + m->packed,
           sc->response + sc->response_at[b] + from, ld, count, sc->rows, count);
  for (int i = k->row; i < k->row + k->dim; ++i) {
    const double* row = sc->rows + (sc->source[i] - p->cones[c].row) * count - from;
    double* column = sc->W + (size_t)i * (size_t)sc->n;
    // all rows act on one block: it counts them as the problem does
    if (p->nblock == 1 && sc->n == p->nrow) {
      add_scaled(sc->n - k->row, sc->s[i], sc->s + k->row, row + k->row, column + k->row);
      continue;
    }
    for (int d = c; d < sc->ncone; ++d) {
      for (int u = p->term_first[d]; u < p->term_first[d + 1] && p->term_block[u] <= b; ++u) {
        if (p->term_block[u] == b) {
          for (int j = sc->cone[d].row; j < sc->cone[d].row + sc->cone[d].dim; ++j) {
            column[j] += sc->s[i] * sc->s[j] * row[sc->moved[u].column + sc->source[j] - p->cones[d].row];
          }
        }
      }
    }
  }
}

void tribo_sol_make_W(TriboScaled* sc) {
  const TriboProblem* p = sc->problem;
  size_t n = (size_t)sc->n;
  memset(sc->W, 0, sizeof(double) * n * n);
  if (p->G_col != NULL) {
    for (int j = 0; j < sc->n; ++j) {
      for (int e = sc->col[j]; e < sc->col[j + 1]; ++e) {
        sc->W[(size_t)sc->row[e] + (size_t)j * n] = sc->val[e];
      }
    }
  } else {
    for (int c = 0; c < sc->ncone; ++c) {
      for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
        if (p->block_dim[p->term_block[t]] > TRIBO_NARROW) {
          add_wide(sc, c, t);
        } else {
          add_narrow(sc, c, t);
        }
      }
    }
  }
  for (size_t j = 0; j < n; ++j) {
    sc->W[j + j * n] += sc->R[j];
    for (size_t i = j + 1; i < n; ++i) {
      sc->W[j + i * n] = sc->W[i + j * n];
    }
  }
  sc->has_W = 1;
  sc->W_is_cheaper = sc->wide && p->G_col == NULL && (double)sc->n * sc->n <= sc->product;
  // a column is half a product
  *sc->effort += sc->n * sc->product;
}

// y += a row of columns of W times four numbers
static inline void add_columns(int n, const double* W, const double* x, double* y) {
  const double *a = W, *b = a + n, *c = b + n, *d = c + n;
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    TRIBO_FOUR(y + i) = TRIBO_FOUR(y + i) + x[0] * TRIBO_FOUR_CONST(a + i) + x[1] * TRIBO_FOUR_CONST(b + i) +
                        x[2] * TRIBO_FOUR_CONST(c + i) + x[3] * TRIBO_FOUR_CONST(d + i);
  }
  for (; i < n; ++i) {
    y[i] = y[i] + x[0] * a[i] + x[1] * b[i] + x[2] * c[i] + x[3] * d[i];
  }
}

TRIBO_LANES void tribo_sol_times_W(int n, const double* W, const double* x, double* y) {
  int j = 0;
  memset(y, 0, sizeof(double) * (size_t)n);
  for (; j + 4 <= n; j += 4) {
    add_columns(n, W + (size_t)j * (size_t)n, x + j, y);
  }
  for (; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      y[i] += x[j] * W[(size_t)i + (size_t)j * (size_t)n];
    }
  }
}
