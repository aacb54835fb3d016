// The problem in scaled coordinates (scaled.h): scales, bounds, Jacobians, and products with W by the motion.
#include "scaled.h"

#include <math.h>
#include <string.h>

#include "lanes.h"
#include "memory.h"
#include "small_dense.h"

// Where each block's velocities are, and room for the diagonal and a product in problem units.
static TriboStatus reserve_measures(TriboScaled* sc, const TriboProblem* p) {
  TRIBO_TRY(TRIBO_RESERVE(&sc->diagonal, p->nrow));
  TRIBO_TRY(TRIBO_RESERVE(&sc->var, p->nblock + 1));
  sc->var[0] = 0;
  for (int b = 0; b < p->nblock; ++b) {
    sc->var[b + 1] = sc->var[b] + p->block_dim[b];
  }
  sc->nv = sc->var[p->nblock];
  return TRIBO_RESERVE(&sc->velocity, 2 * sc->nv);
}

static TriboStatus reserve(TriboScaled* sc, const TriboProblem* p) {
  size_t n = (size_t)p->nrow;
  TRIBO_TRY(TRIBO_RESERVE(&sc->cone, p->ncone));
  TRIBO_TRY(TRIBO_RESERVE(&sc->source, n));
  TRIBO_TRY(TRIBO_RESERVE(&sc->s, n));
  TRIBO_TRY(TRIBO_RESERVE(&sc->q, n));
  TRIBO_TRY(TRIBO_RESERVE(&sc->R, n));
  TRIBO_TRY(TRIBO_RESERVE(&sc->lo, n));
  TRIBO_TRY(TRIBO_RESERVE(&sc->hi, n));
  if (p->G_col) {
    size_t nnz = (size_t)p->G_col[p->nrow];
    TRIBO_TRY(TRIBO_RESERVE(&sc->own, n));
    TRIBO_TRY(TRIBO_RESERVE(&sc->col, n + 1));
    TRIBO_TRY(TRIBO_RESERVE(&sc->row, nnz));
    return TRIBO_RESERVE(&sc->val, nnz);
  }
  size_t njac = 0;
  for (int c = 0; c < p->ncone; ++c) {
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      njac += (size_t)p->cones[c].dim * (size_t)p->block_dim[p->term_block[t]];
    }
  }
  TRIBO_TRY(TRIBO_RESERVE(&sc->jac, njac));
  return TRIBO_RESERVE(&sc->term_at, p->term_first[p->ncone]);
}

// xᵀ B x for a symmetric row-major block of a body or a short chain
static inline double quadratic_n(const double* B, const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    double y = 0;
    if (x[i] == 0) {
      continue;
    }
    for (int j = 0; j < i; ++j) {
      y += B[i * n + j] * x[j];
    }
    sum += x[i] * (2 * y + B[i * n + i] * x[i]);
  }
  return sum;
}
// Whether six velocities come in two threes with nothing between them in M⁻¹, as those of a free body about its centre.
static int is_parted(const double* B, int n) {
  int zeros = 0;
  if (n != 6) {
    return 0;
  }
  for (int i = 3; i < 6; ++i) {
    zeros += (B[6 * i] == 0) + (B[6 * i + 1] == 0) + (B[6 * i + 2] == 0);
  }
  return zeros == 9;
}

// xᵀ B x of three velocities, B at stride 6, on top of sum
static inline double add_quadratic_3(double sum, const double* B, const double* x) {
  sum += x[0] * (B[0] * x[0]);
  sum += x[1] * (2 * (B[6] * x[0]) + B[7] * x[1]);
  return sum + x[2] * (2 * (B[12] * x[0] + B[13] * x[1]) + B[14] * x[2]);
}

// what a term adds to the diagonal, row by row
static inline void add_diagonal(int dim, int n, const double* restrict B, int parted, const double* restrict J,
                                double* restrict diagonal) {
  if (parted && dim == 3) {
    for (int i = 0; i < 3; ++i) {
      diagonal[i] += add_quadratic_3(add_quadratic_3(0, B, J + 6 * i), B + 21, J + 6 * i + 3);
    }
    return;
  }
  for (int i = 0; i < dim; ++i, J += n) {
    diagonal[i] += n == 6 ? quadratic_n(B, J, 6) : quadratic_n(B, J, n);
  }
}

TRIBO_LANES static void diagonal_of_delassus(TriboScaled* sc, const TriboProblem* p) {
  for (int i = 0; i < p->nrow; ++i) {
    sc->diagonal[i] = p->R ? p->R[i] : 0;
  }
  if (p->G_col) {
    for (int j = 0; j < p->nrow; ++j) {
      for (int e = p->G_col[j]; e < p->G_col[j + 1]; ++e) {
        sc->diagonal[j] += p->G_row[e] == j ? p->G_val[e] : 0;
      }
    }
    return;
  }
  for (int c = 0, last = -1, parted = 0; c < p->ncone; ++c) {
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      const int b = p->term_block[t], n = p->block_dim[b];
      const double* B = p->minv + p->block_at[b];
      if (n > 6 && !sc->no_response) {
        continue;  // known from the block's response
      }
      parted = b == last ? parted : is_parted(B, n);
      last = b;
      add_diagonal(p->cones[c].dim, n, B, parted, p->jac + p->term_at[t], sc->diagonal + p->cones[c].row);
    }
  }
}

static double inverse_root(double d) {
  return d > 0 ? 1 / sqrt(d) : 1;
}

// rows, kind and scale of one cone
static void scale_cone(TriboScaled* sc, const TriboCone* k, TriboScaledCone* c) {
  const double* d = sc->diagonal + k->row;
  *c = (TriboScaledCone){.row = sc->n};
  for (int i = 0; i < k->dim; ++i) {
    c->mean += d[i] / k->dim;
  }
  if (k->kind != TRIBO_CONE_FRICTION) {
    for (int i = 0; i < k->dim; ++i, ++c->dim, ++sc->n) {
      sc->source[sc->n] = k->row + i;
      sc->s[sc->n] = inverse_root(d[i]);
      sc->lo[sc->n] = k->kind == TRIBO_CONE_NONNEG ? 0 : k->kind == TRIBO_CONE_BOX ? k->lo : -INFINITY;
      sc->hi[sc->n] = k->kind == TRIBO_CONE_BOX ? k->hi : INFINITY;
    }
    return;
  }
  // friction rows with their weight from the anisotropy, then the normal row
  double sum = 0;
  for (int i = 0; i < k->dim; ++i) {
    double mu = i < k->dim - 1 ? k->mu[i] : 1;
    if (mu > 0) {
      c->mu = c->mu > 0 || i == k->dim - 1 ? c->mu : mu;
      double weight = i < k->dim - 1 ? mu / c->mu : 1;
      sum += weight * weight * d[i];
      sc->source[sc->n] = k->row + i;
      sc->s[sc->n] = weight;
      sc->lo[sc->n] = 0;  // of use when the normal row is left alone
      sc->hi[sc->n] = INFINITY;
      sc->n++;
      c->dim++;
    }
  }
  c->round = c->dim > 1;
  sc->nround += c->round;
  double scale = inverse_root(sum / c->dim);
  for (int i = 0; i < c->dim; ++i) {
    sc->s[c->row + i] *= scale;
  }
}

static void scale_motion(TriboScaled* sc, const TriboProblem* p) {
  size_t at = 0;
  for (int c = 0; c < p->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      int n = p->block_dim[p->term_block[t]];
      sc->term_at[t] = at;
      for (int i = 0; i < k->dim; ++i) {
        const double* from = p->jac + p->term_at[t] + (sc->source[k->row + i] - p->cones[c].row) * n;
        for (int j = 0; j < n; ++j) {
          sc->jac[at++] = sc->s[k->row + i] * from[j];
        }
      }
    }
  }
}

static void scale_explicit(TriboScaled* sc, const TriboProblem* p) {
  for (int i = 0; i < p->nrow; ++i) {
    sc->own[i] = -1;
  }
  for (int i = 0; i < sc->n; ++i) {
    sc->own[sc->source[i]] = i;
  }
  int at = 0;
  for (int j = 0; j < sc->n; ++j) {
    sc->col[j] = at;
    for (int e = p->G_col[sc->source[j]]; e < p->G_col[sc->source[j] + 1]; ++e) {
      int i = sc->own[p->G_row[e]];
      if (i >= 0) {
        sc->row[at] = i;
        sc->val[at++] = sc->s[i] * sc->s[j] * p->G_val[e];
      }
    }
  }
  sc->col[sc->n] = at;
}

TriboStatus tribo_sol_measure(TriboScaled* sc, const TriboProblem* p) {
  sc->problem = p;
  sc->ncone = p->ncone;
  TRIBO_TRY(reserve_measures(sc, p));
  diagonal_of_delassus(sc, p);
  TRIBO_TRY(tribo_sol_response(sc));
  sc->mean = 0;
  for (int i = 0; i < p->nrow; ++i) {
    sc->mean += sc->diagonal[i];
  }
  sc->mean /= p->nrow;
  tribo_sol_measure_g(sc, p);
  return TRIBO_OK;
}

void tribo_sol_measure_g(TriboScaled* sc, const TriboProblem* p) {
  sc->problem = p;
  sc->norm_g = tribo_norm(p->g, p->nrow);
}

void tribo_sol_scale_g(TriboScaled* sc) {
  for (int i = 0; i < sc->n; ++i) {
    sc->q[i] = sc->s[i] * sc->problem->g[sc->source[i]] / sc->g;
  }
}

// What a product costs by J, M⁻¹ and Jᵀ, in multiplications.
static double motion_product(const TriboProblem* p) {
  double cost = 0;
  for (int b = 0; b < p->nblock; ++b) {
    cost += (double)p->block_dim[b] * p->block_dim[b];
  }
  for (int c = 0; c < p->ncone; ++c) {
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      cost += 2.0 * p->cones[c].dim * p->block_dim[p->term_block[t]];
    }
  }
  return cost;
}

// What Jᵀ K J of all cones costs, in multiplications: of a wide block's terms by the columns that they move.
static double motion_assembly(const TriboScaled* sc) {
  const TriboProblem* p = sc->problem;
  double cost = 0;
  for (int c = 0; c < p->ncone; ++c) {
    const int first = p->term_first[c], last = p->term_first[c + 1];
    double width = 0;
    for (int t = first; t < last; ++t) {
      const int n = p->block_dim[p->term_block[t]];
      width += last == first + 1 && sc->wide && n > TRIBO_NARROW ? sc->moved[t].count : n;
    }
    cost += sc->cone[c].dim * width * width;
  }
  return cost;
}

TriboStatus tribo_sol_scale(TriboScaled* sc) {
  const TriboProblem* p = sc->problem;
  sc->n = sc->nround = sc->has_W = 0;
  TRIBO_TRY(reserve(sc, p));
  for (int c = 0; c < p->ncone; ++c) {
    scale_cone(sc, &p->cones[c], &sc->cone[c]);
  }
  // one overall factor, so that q has root mean square 1
  double sum = 0;
  for (int i = 0; i < sc->n; ++i) {
    sc->q[i] = sc->s[i] * p->g[sc->source[i]];
    sum += sc->q[i] * sc->q[i];
  }
  sc->g = sum > 0 ? sqrt(sum / sc->n) : 1;
  double unit = 1 / sc->g;
  for (int i = 0; i < sc->n; ++i) {
    sc->q[i] /= sc->g;
    sc->R[i] = p->R ? sc->s[i] * sc->s[i] * p->R[sc->source[i]] : 0;
    if (sc->lo[i] != 0 || sc->hi[i] < INFINITY) {
      double impulse = unit / sc->s[i];
      sc->lo[i] *= impulse;
      sc->hi[i] *= impulse;
    }
  }
  if (p->G_col) {
    scale_explicit(sc, p);
    sc->product = sc->col[sc->n];
  } else {
    scale_motion(sc, p);
    sc->product = motion_product(p);
    sc->assembly = motion_assembly(sc);
  }
  return TRIBO_OK;
}

void tribo_sol_scaled_free(TriboScaled* sc) {
  void* all[] = {sc->cone,  sc->source,  sc->s,      sc->q,        sc->R,    sc->lo,     sc->hi,          sc->diagonal,
                 sc->jac,   sc->term_at, sc->var,    sc->velocity, sc->own,  sc->col,    sc->row,         sc->val,
                 sc->moved, sc->which,   sc->packed, sc->response, sc->rows, sc->acting, sc->response_at, sc->W};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    tribo_free(all[i]);
  }
}

// y += J M⁻¹ Jᵀ x, in scaled coordinates or, with `own` NULL, in the problem's
TRIBO_LANES static void apply_motion(const TriboScaled* sc, const TriboScaledCone* own, const double* x, double* y) {
  const TriboProblem* p = sc->problem;
  const double* jac = own ? sc->jac : p->jac;
  const size_t* at = own ? sc->term_at : p->term_at;
  double *momentum = sc->velocity, *velocity = sc->velocity + sc->nv;
  memset(momentum, 0, 2 * sizeof(double) * (size_t)sc->nv);
  for (int c = 0; c < sc->ncone; ++c) {
    const int row = own ? own[c].row : p->cones[c].row, dim = own ? own[c].dim : p->cones[c].dim;
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      const int b = p->term_block[t], n = p->block_dim[b], only = tribo_sol_only(sc, t);
      if (only >= 0) {
        momentum[sc->var[b] + only] += jac[at[t] + (size_t)only] * x[row];
      } else {
        tribo_sol_add_momentum(dim, n, jac + at[t], x + row, momentum + sc->var[b]);
      }
    }
  }
  for (int b = 0; b < p->nblock; ++b) {
    int n = p->block_dim[b];
    tribo_sol_add_velocity(n, n, p->minv + p->block_at[b], momentum + sc->var[b], velocity + sc->var[b]);
  }
  for (int c = 0; c < sc->ncone; ++c) {
    const int row = own ? own[c].row : p->cones[c].row, dim = own ? own[c].dim : p->cones[c].dim;
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      const int b = p->term_block[t], n = p->block_dim[b], only = tribo_sol_only(sc, t);
      if (only >= 0) {
        y[row] += jac[at[t] + (size_t)only] * velocity[sc->var[b] + only];
      } else {
        tribo_sol_add_velocity(dim, n, jac + at[t], velocity + sc->var[b], y + row);
      }
    }
  }
}

void tribo_sol_apply(const TriboScaled* sc, const double* x, double* y) {
  if (sc->has_W && sc->W_is_cheaper) {
    tribo_sol_times_W(sc->n, sc->W, x, y);
    *sc->effort += 2.0 * sc->n * sc->n;
  } else {
    tribo_sol_apply_raw(sc, x, y);
  }
}

void tribo_sol_apply_raw(const TriboScaled* sc, const double* x, double* y) {
  *sc->effort += 2 * sc->product;
  for (int i = 0; i < sc->n; ++i) {
    y[i] = sc->R[i] * x[i];
  }
  if (sc->problem->G_col == NULL) {
    apply_motion(sc, sc->cone, x, y);
    return;
  }
  for (int j = 0; j < sc->n; ++j) {
    for (int e = sc->col[j]; e < sc->col[j + 1]; ++e) {
      y[sc->row[e]] += sc->val[e] * x[j];
    }
  }
}

void tribo_sol_sigma(const TriboScaled* sc, const double* lambda, double* sigma) {
  const TriboProblem* p = sc->problem;
  for (int i = 0; i < p->nrow; ++i) {
    sigma[i] = p->g[i] + (p->R ? p->R[i] * lambda[i] : 0);
  }
  if (p->G_col == NULL) {
    apply_motion(sc, NULL, lambda, sigma);
    return;
  }
  for (int j = 0; j < p->nrow; ++j) {
    for (int e = p->G_col[j]; e < p->G_col[j + 1]; ++e) {
      sigma[p->G_row[e]] += p->G_val[e] * lambda[j];
    }
  }
}
