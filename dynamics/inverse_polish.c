// The last digits of inverse dynamics: Newton's method for F(λ) = (Jᵀλ − p(λ))_u = 0 on the ways the constraints leave.
//
// A contact solver is content when velocities are right to its tolerance; divided by h and multiplied by a robot's mass
// that is not yet a torque. And where the contacts cannot hold every motion of what is not driven (a biped on two
// points turns about the line between them) F = 0 asks something of the wish: then only p's own dependence on λ,
// through the mean velocity in the bias, can meet it.
//
//     A δ = −F,   A = (JᵀE + ½h ∂b/∂v M̃⁻¹JᵀE)_u,   λ ← λ + E δ,   ‖δ‖ least
//
// The columns of E are the directions in which impulses may move; those that leave their cones are put back, and the
// next step sets out from there (projection onto two sets in turn). b is quadratic in v, so a central
// difference is its derivative exactly; it is taken only where A without it leaves something of F.
#include "internal.h"

enum { MOST_STEPS = 60, MOST_ENTRIES = 1 << 18 };

// A direction of λ: within a cone, one row or several.
typedef struct Way {
  int cone;
  int row;  // of the cone, −1: along `along`
  double along[6];
} Way;

// An impulse that has left its cone is put back a little inside, so that the next step need not be the last but one.
static const double INSIDE = 1e-3;

// ‖D⁻¹ x_f‖
static double friction_size(const TriboCone* cone, const double* x) {
  double sum = 0;
  for (int i = 0; i < cone->dim - 1; ++i) {
    sum = hypot(sum, cone->mu[i] > 0 ? x[i] / cone->mu[i] : x[i] != 0 ? INFINITY : 0);
  }
  return sum;
}

static void shrink_friction(const TriboCone* cone, double size, double* x) {
  const double most = (1 - INSIDE) * x[cone->dim - 1];
  for (int i = 0; i < cone->dim - 1; ++i) {
    x[i] *= isfinite(size) ? most / size : 0;
  }
}

// Puts one impulse back into its cone; returns 1 when it had left by more than rounding.
static int put_back(const TriboCone* cone, int way, const double* given, double* x) {
  const int n = cone->dim - 1;
  const double rounding = 1e-13;
  if (cone->kind == TRIBO_CONE_BOX) {
    const double out = fmax(cone->lo - x[0], x[0] - cone->hi), size = fmin(-cone->lo, cone->hi);
    x[0] = tribo_clamp(x[0], cone->lo, cone->hi);
    return out > rounding * size;
  }
  if (way == TRIBO_DYN_WAY_RAY) {
    if (x[n] < 0) {
      memset(x, 0, (size_t)cone->dim * sizeof *x);
      return 1;
    }
    for (int i = 0; i < n; ++i) {
      x[i] = x[n] * given[i];
    }
    return 0;
  }
  if (cone->kind != TRIBO_CONE_FRICTION) {
    return 0;
  }
  const double size = friction_size(cone, x);
  if (size <= x[n] * (1 + rounding)) {
    return 0;
  }
  // nearest point of a cone of revolution; of another one at least a point of it
  const double mu = cone->mu[0];
  if (way == TRIBO_DYN_WAY_CONE) {
    x[n] = fmax(0, (x[n] + mu * mu * size) / (1 + mu * mu));
  }
  shrink_friction(cone, size, x);
  return 1;
}

static int put_all_back(const TriboDynData* data, double* lambda) {
  const Inverse* inv = &data->inverse;
  int any = 0;
  for (int k = 0; k < inv->rows.ncone; ++k) {
    const int c = inv->cone_of[k];
    const TriboCone* cone = data->rows.cones + c;
    any |= put_back(cone, inv->way[c], inv->given + cone->row, lambda + cone->row);
  }
  return any;
}

// The directions in which impulses may move; returns their count.
static int find_ways(const TriboDynData* data, Way* ways) {
  const Inverse* inv = &data->inverse;
  int m = 0;
  for (int k = 0; k < inv->rows.ncone; ++k) {
    const int c = inv->cone_of[k], way = inv->way[c];
    const TriboCone* cone = data->rows.cones + c;
    if (way == TRIBO_DYN_WAY_RAY) {
      ways[m] = (Way){.cone = c, .row = -1};
      memcpy(ways[m++].along, inv->given + cone->row, (size_t)cone->dim * sizeof *inv->given);
      continue;
    }
    for (int i = 0; i < (way == TRIBO_DYN_WAY_DISK ? cone->dim - 1 : cone->dim); ++i) {
      ways[m++] = (Way){.cone = c, .row = i};
    }
  }
  return m;
}

// What one block adds to a column beyond Jᵀe (in column): where closures tie, the flow has another mass than impulses;
// and, where that is asked for, ½h ∂b/∂v d with d = M⁻¹Jᵀe.
static TriboStatus add_change(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options, int block,
                              int bias, const double* v, double* column) {
  const int n = system->block_dim[block], at = system->block_v[block], tree = block - system->info.nfree;
  const int tied = system->cluster[block] >= 0;
  if (tree < 0 || !(tied || bias)) {
    return TRIBO_OK;
  }
  const double *minv = data->minv + system->block_at[block], *q = data->q_half + system->block_q[block];
  double *d = data->force, *low = data->inverse.low, most = 0;
  for (int i = 0; i < n; ++i) {
    d[i] = 0;
    for (int k = 0; k < n; ++k) {
      d[i] += minv[i * n + k] * column[at + k];
    }
    most = fmax(most, fabs(d[i]));
  }
  for (int i = 0; i < n && tied; ++i) {
    column[at + i] = 0;
    for (int k = 0; k < n; ++k) {
      column[at + i] += data->next_mass[system->block_at[block] + (size_t)(i * n + k)] * d[k];
    }
  }
  for (int side = 0; side < 2 && bias && most > 0; ++side) {
    for (int i = 0; i < n; ++i) {
      data->mean[i] = 0.5 * (v[at + i] + data->inverse.v_free[at + i]) + (side ? 1 : -1) * d[i] / most;
    }
    TRIBO_TRY(tribo_pin_bias(data->pin[tree], options->gravity, q, data->mean, side ? data->work : low));
  }
  for (int i = 0; i < n && bias && most > 0; ++i) {
    column[at + i] += 0.25 * options->h * most * (data->work[i] - low[i]);
  }
  return TRIBO_OK;
}

// column (nv): how F moves with one direction.
static TriboStatus fill_column(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                               const Way* way, int bias, const double* v, double* column) {
  const Rows* rows = &data->rows;
  memset(column, 0, (size_t)system->info.nv * sizeof *column);
  for (int t = rows->term_first[way->cone]; t < rows->term_first[way->cone + 1]; ++t) {
    const int block = rows->term_block[t], n = system->block_dim[block], at = system->block_v[block];
    const double* jac = rows->term_jac + rows->term_at[t];
    for (int i = 0; i < rows->cones[way->cone].dim; ++i) {
      const double weight = way->row < 0 ? way->along[i] : way->row == i;
      for (int k = 0; k < n && weight != 0; ++k) {
        column[at + k] += weight * jac[i * n + k];
      }
    }
    TRIBO_TRY(add_change(system, data, options, block, bias, v, column));
  }
  return TRIBO_OK;
}

// F at λ; returns its largest entry, and that of p in *size.
static TriboStatus find_lack(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                             const double* v, const double* lambda, double* F, double* most, double* size) {
  const Inverse* inv = &data->inverse;
  TRIBO_TRY(tribo_dyn_inverse_need(system, data, options, v, lambda));
  *size = *most = 0;
  for (int i = 0, k = 0; i < system->info.nv; ++i) {
    *size = fmax(*size, fabs(inv->need[i]));
    if (inv->place[i] >= 0) {
      F[k] = data->impulse[i] - inv->need[i];
      *most = fmax(*most, fabs(F[k++]));
    }
  }
  return TRIBO_OK;
}

// λ += E δ; p is quadratic in λ, so with its derivative in play no step is longer than `limit` of what is there.
static void move(const Rows* rows, const Way* ways, int m, const double* delta, double limit, double* lambda) {
  double length = 0, whole = 0;
  for (int j = 0; j < m; ++j) {
    length = fmax(length, fabs(delta[j]));
  }
  for (int i = 0; i < rows->nrow; ++i) {
    whole = fmax(whole, fabs(lambda[i]));
  }
  const double share = length > limit * whole ? limit * whole / length : 1;
  for (int j = 0; j < m; ++j) {
    const TriboCone* cone = rows->cones + ways[j].cone;
    for (int i = 0; i < cone->dim; ++i) {
      lambda[cone->row + i] += share * delta[j] * (ways[j].row < 0 ? ways[j].along[i] : ways[j].row == i);
    }
  }
}

// Least δ (m) with A δ = −F for the rows (n × m) of A, which become orthonormal: Gram and Schmidt, twice, the longest
// row that is left first. Rows below `tiny` of their own length depend on the others. scale (n) and F are changed.
static void solve_least(double* A, double* F, double* scale, int n, int m, double tiny, double* delta) {
  memset(delta, 0, (size_t)m * sizeof *delta);
  for (int i = 0; i < n; ++i) {
    scale[i] = 0;
    for (int j = 0; j < m; ++j) {
      scale[i] = hypot(scale[i], A[(size_t)i * (size_t)m + (size_t)j]);
    }
  }
  for (int done = 0; done < n; ++done) {
    // what is left of each row, relative to what it was
    int best = -1;
    double most = tiny;
    for (int i = 0; i < n; ++i) {
      double length = 0;
      for (int j = 0; j < m && scale[i] > 0; ++j) {
        length = hypot(length, A[(size_t)i * (size_t)m + (size_t)j]);
      }
      if (scale[i] > 0 && length / scale[i] > most) {
        most = length / scale[i];
        best = i;
      }
    }
    if (best < 0) {
      return;
    }
    double *row = A + (size_t)best * (size_t)m, length = 0;
    for (int j = 0; j < m; ++j) {
      length = hypot(length, row[j]);
    }
    const double value = -F[best] / length;
    for (int j = 0; j < m; ++j) {
      row[j] /= length;
      delta[j] += value * row[j];
    }
    scale[best] = 0;
    for (int i = 0; i < n; ++i) {
      double dot = 0, *other = A + (size_t)i * (size_t)m;
      for (int j = 0; j < m && scale[i] > 0; ++j) {
        dot += other[j] * row[j];
      }
      for (int j = 0; j < m && scale[i] > 0; ++j) {
        other[j] -= dot * row[j];
      }
      F[i] += scale[i] > 0 ? dot * value : 0;
    }
  }
}

TriboStatus tribo_dyn_inverse_polish(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                     const double* v, double* lambda) {
  Inverse* inv = &data->inverse;
  const Rows* rows = &data->rows;
  const int nv = system->info.nv;
  int n = 0;
  for (int i = 0; i < nv; ++i) {
    n += inv->place[i] >= 0;
  }
  const size_t room = (size_t)rows->nrow * (size_t)n;
  if (n == 0 || inv->rows.ncone == 0 || room > MOST_ENTRIES) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&inv->polish, &inv->polish_capacity, room + 2 * (size_t)rows->nrow + (size_t)(3 * nv)));
  TRIBO_TRY(TRIBO_RESERVE(&inv->ways, &inv->ways_capacity, (size_t)rows->nrow * sizeof(Way)));
  double *A = inv->polish, *delta = A + room, *F = delta + rows->nrow, *scale = F + nv, *column = scale + nv,
         *best = column + nv;
  Way* ways = (Way*)(void*)inv->ways;
  const int m = find_ways(data, ways);
  double last = INFINITY, least = INFINITY;
  memcpy(best, lambda, (size_t)rows->nrow * sizeof *best);
  for (int pass = 0, bias = 0, left = 0; pass < MOST_STEPS; ++pass) {
    double most, size;
    TRIBO_TRY(find_lack(system, data, options, v, lambda, F, &most, &size));
    if (most < least) {
      least = most;
      memcpy(best, lambda, (size_t)rows->nrow * sizeof *best);
    }
    // at rounding, or no longer shrinking there
    if (!left && (most <= 4e-15 * size || (most <= 1e-13 * size && most > 0.5 * last))) {
      break;
    }
    // no progress without the derivative of the bias: with it
    bias |= pass > 0 && !left && most > 0.1 * last && options->scheme == TRIBO_SCHEME_MIDPOINT;
    last = most;
    for (int j = 0; j < m; ++j) {
      TRIBO_TRY(fill_column(system, data, options, ways + j, bias, v, column));
      for (int i = 0, k = 0; i < nv; ++i) {
        if (inv->place[i] >= 0) {
          A[(size_t)k++ * (size_t)m + (size_t)j] = column[i];
        }
      }
    }
    solve_least(A, F, scale, n, m, bias ? 1e-11 : 1e-9, delta);
    move(rows, ways, m, delta, bias ? 0.3 : INFINITY, lambda);
    left = put_all_back(data, lambda);
  }
  memcpy(lambda, best, (size_t)rows->nrow * sizeof *best);
  return TRIBO_OK;
}
