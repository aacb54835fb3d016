// The last digits of inverse dynamics: Newton's method for F(λ) = (Jᵀλ − p(λ))_u = 0 in the modes that the constraints
// leave.
//
// A contact solver is content when velocities are right to its tolerance; divided by h and multiplied by a robot's mass
// that is not yet a torque.
//
//     A δ = −F,   A = (JᵀE)_u,   λ ← λ + α E δ,   ‖S⁻¹δ‖ least
//
// (with M̃M⁻¹Jᵀ for Jᵀ where closures tie a tree: there impulses act on M and torques on M̃).
// The columns of E are the directions in which impulses may move. Each cone's share of S is how far its λ is from its
// boundary, so that impulses stay inside without being pushed back: what is at the boundary stays there, what has room
// moves (affine scaling). α ends a step before the first boundary.
#include "dyn_data.h"
#include "small_dense.h"

enum { MOST_STEPS = 60, PATIENCE = 6, MOST_ENTRIES = 1 << 18 };

// A residual above this fraction of the impulses that are needed, after a second start, counts as infeasible.
static const double INFEASIBLE = 1e-3;

// A direction of λ: within a cone, one row or several.
typedef struct ImpulseDirection {
  int cone;
  int row;  // of the cone, −1: along `along`
  double along[6];
} ImpulseDirection;

// How much of the way to its boundary an impulse goes in one step, and how far inside it sets out when it must move.
static const double REACH = 0.9, INSIDE = 1e-2;

// ‖D⁻¹ x_f‖, without the directions that have no friction.
static double friction_size(const TriboCone* cone, const double* x) {
  double sum = 0;
  for (int i = 0; i < cone->dim - 1; ++i) {
    sum += cone->mu[i] > 0 ? x[i] / cone->mu[i] * (x[i] / cone->mu[i]) : 0;
  }
  return sqrt(sum);
}

// How far an impulse is from the boundary of what it may be.
static double boundary_distance(const TriboCone* cone, int mode, const double* x) {
  const int n = cone->dim - 1;
  if (cone->kind == TRIBO_CONE_FREE) {
    return 1;
  }
  if (cone->kind == TRIBO_CONE_BOX) {
    const double least = fmin(x[0] - cone->lo, cone->hi - x[0]);
    return isfinite(least) ? fmax(0, least) : 1;
  }
  if (cone->kind != TRIBO_CONE_FRICTION || mode == TRIBO_DYN_MODE_RAY) {
    return fmax(0, x[n]);
  }
  double least = INFINITY;
  for (int i = 0; i < n; ++i) {
    least = cone->mu[i] > 0 ? fmin(least, cone->mu[i]) : least;
  }
  return fmax(0, x[n] - friction_size(cone, x)) * fmin(least, 1);
}

// The largest share of the change d that keeps x (dim) where it may be; x is there.
static double step_to_boundary(const TriboCone* cone, int mode, const double* x, const double* d) {
  const int n = cone->dim - 1;
  if (cone->kind == TRIBO_CONE_FREE) {
    return INFINITY;
  }
  if (cone->kind == TRIBO_CONE_BOX) {
    return d[0] > 0 ? (cone->hi - x[0]) / d[0] : d[0] < 0 ? (cone->lo - x[0]) / d[0] : INFINITY;
  }
  double most = d[n] < 0 ? x[n] / -d[n] : INFINITY;
  if (cone->kind != TRIBO_CONE_FRICTION || mode == TRIBO_DYN_MODE_RAY) {
    return most;
  }
  // ‖D⁻¹(x + s d)_f‖² = (x + s d)_N²: a s² + 2 b s − c = 0 with c ≥ 0, its first root above 0
  double a = -d[n] * d[n], b = -x[n] * d[n], c = x[n] * x[n];
  for (int i = 0; i < n; ++i) {
    const double w = cone->mu[i] > 0 ? 1 / (cone->mu[i] * cone->mu[i]) : 0;
    a += w * d[i] * d[i];
    b += w * x[i] * d[i];
    c -= w * x[i] * x[i];
  }
  c = fmax(c, 0);
  const double root = b * b + a * c;
  if (b > 0 && root >= 0) {
    return fmin(most, c / (b + sqrt(root)));
  }
  return b <= 0 && a > 0 ? fmin(most, (sqrt(root) - b) / a) : most;
}

// An impulse that a solver left outside its cone, or a spring's friction outside the disk that its length allows, goes
// to the boundary.
static void project_onto_cones(const TriboDynData* data, double* lambda) {
  for (int c = 0; c < data->rows.ncone; ++c) {
    const TriboCone* cone = data->rows.cones + c;
    const int mode = data->inverse.mode[c], n = cone->dim - 1;
    double* x = lambda + cone->row;
    if (cone->kind == TRIBO_CONE_FREE || mode == TRIBO_DYN_MODE_KNOWN) {
      continue;
    }
    if (cone->kind == TRIBO_CONE_BOX) {
      x[0] = tribo_clamp(x[0], cone->lo, cone->hi);
      continue;
    }
    const double size = friction_size(cone, x);
    x[n] = fmax(0, x[n]);
    if (mode != TRIBO_DYN_MODE_RAY) {
      for (int i = 0; i < n; ++i) {
        x[i] = cone->mu[i] > 0 ? x[i] * (size > x[n] ? x[n] / size : 1) : 0;
      }
    }
    if (mode == TRIBO_DYN_MODE_RAY) {
      for (int i = 0; i < n; ++i) {
        x[i] = x[n] * data->inverse.lambda_known[cone->row + i];
      }
    }
  }
}

// Another place to start from: each impulse goes a fraction of the way to a point of its cone, friction turned by the
// golden angle from one to the next; the first share is small, from the middle.
static void start_inside(const TriboDynData* data, double typical, int start, double* lambda) {
  const Inverse* inv = &data->inverse;
  const double golden = 2.399963229728653, fraction = start == 0 ? INSIDE : 0.7, wide = start == 0 ? 0 : 0.5;
  for (int c = 0; c < data->rows.ncone; ++c) {
    const int mode = inv->mode[c];
    const TriboCone* cone = data->rows.cones + c;
    const int n = cone->dim - 1;
    const double angle = golden * (c + 1) * start;
    double* x = lambda + cone->row;
    if (cone->kind == TRIBO_CONE_FREE || mode == TRIBO_DYN_MODE_KNOWN) {
      continue;
    }
    if (cone->kind == TRIBO_CONE_BOX) {
      x[0] += isfinite(cone->hi - cone->lo) ? fraction * (0.5 * (cone->lo + cone->hi) - x[0]) : 0;
      continue;
    }
    x[n] += mode == TRIBO_DYN_MODE_DISK ? 0 : INSIDE * fmax(0, typical - x[n]);
    for (int i = 0; i < n; ++i) {
      const double aim = wide * cone->mu[i] * x[n] * (i == 0 ? cos(angle) : i == 1 ? sin(angle) : 0);
      x[i] = mode == TRIBO_DYN_MODE_RAY ? x[n] * inv->lambda_known[cone->row + i] : x[i] + fraction * (aim - x[i]);
    }
  }
}

static double largest_impulse(const Rows* rows, const double* lambda) {
  double most = 0;
  for (int i = 0; i < rows->nrow; ++i) {
    most = fmax(most, fabs(lambda[i]));
  }
  return most;
}

// The directions in which impulses may move; returns their count.
static int find_directions(const TriboDynData* data, ImpulseDirection* dirs) {
  const Inverse* inv = &data->inverse;
  int m = 0;
  for (int c = 0; c < data->rows.ncone; ++c) {
    const int mode = inv->mode[c];
    const TriboCone* cone = data->rows.cones + c;
    if (mode == TRIBO_DYN_MODE_KNOWN) {
      continue;
    }
    if (mode == TRIBO_DYN_MODE_RAY) {
      dirs[m] = (ImpulseDirection){.cone = c, .row = -1};
      memcpy(dirs[m++].along, inv->lambda_known + cone->row, (size_t)cone->dim * sizeof *inv->lambda_known);
      continue;
    }
    for (int i = 0; i < (mode == TRIBO_DYN_MODE_DISK ? cone->dim - 1 : cone->dim); ++i) {
      if (cone->kind != TRIBO_CONE_FRICTION || i == cone->dim - 1 || cone->mu[i] > 0) {
        dirs[m++] = (ImpulseDirection){.cone = c, .row = i};
      }
    }
  }
  return m;
}

void tribo_dyn_inverse_carry(const TriboSystem* system, const TriboDynData* data, int block, double* column,
                             double* work) {
  const int n = system->block_dim[block], tree = block - system->info.nfree;
  if (tree >= 0 && system->cluster[block] >= 0 && data->motion_kind[tree] != MOTION_FREE) {
    const double* extra = data->flight.extra + system->block_v[block];
    tribo_mat_vec(n, n, data->minv + system->block_at[block], column, work);
    for (int i = 0; i < n; ++i) {
      column[i] += extra[i] * work[i];
    }
  }
}

// column (nv): how F moves with one direction.
static void fill_column(const TriboSystem* system, TriboDynData* data, const ImpulseDirection* dir, double* column) {
  const Rows* rows = &data->rows;
  memset(column, 0, (size_t)system->info.nv * sizeof *column);
  for (int t = rows->term_first[dir->cone]; t < rows->term_first[dir->cone + 1]; ++t) {
    const int block = rows->term_block[t], n = system->block_dim[block], at = system->block_v[block];
    const double* jac = rows->term_jac + rows->term_at[t];
    for (int i = 0; i < rows->cones[dir->cone].dim; ++i) {
      const double weight = dir->row < 0 ? dir->along[i] : dir->row == i;
      if (weight != 0) {
        for (int k = 0; k < n; ++k) {
          column[at + k] += weight * jac[i * n + k];
        }
      }
    }
    tribo_dyn_inverse_carry(system, data, block, column + at, data->work);
  }
}

// F at λ; returns its largest entry, and the size of what it is the difference of.
static TriboStatus find_residual(const TriboSystem* system, TriboDynData* data, const double* lambda, double* F,
                                 double* most, double* size) {
  const Inverse* inv = &data->inverse;
  TRIBO_TRY(tribo_dyn_inverse_impulse(system, data, lambda));
  *most = 0;
  *size = fmax(inv->scale, largest_impulse(&data->rows, lambda));
  for (int i = 0, k = 0; i < system->info.nv; ++i) {
    *size = fmax(*size, fabs(inv->impulse_needed[i]));
    if (inv->place[i] >= 0) {
      F[k] = data->impulse[i] - inv->impulse_needed[i];
      *most = fmax(*most, fabs(F[k++]));
    }
  }
  return TRIBO_OK;
}

// λ += α E δ, α as large as the cones allow.
static void move(const TriboDynData* data, const ImpulseDirection* dirs, int m, const double* delta, double* change,
                 double* lambda) {
  const Rows* rows = &data->rows;
  const Inverse* inv = &data->inverse;
  memset(change, 0, (size_t)rows->nrow * sizeof *change);
  for (int j = 0; j < m; ++j) {
    const TriboCone* cone = rows->cones + dirs[j].cone;
    for (int i = 0; i < cone->dim; ++i) {
      change[cone->row + i] += delta[j] * (dirs[j].row < 0 ? dirs[j].along[i] : dirs[j].row == i);
    }
  }
  double fraction = 1;
  for (int c = 0; c < rows->ncone; ++c) {
    const int row = rows->cones[c].row;
    if (inv->mode[c] != TRIBO_DYN_MODE_KNOWN) {
      fraction = fmin(fraction, REACH * step_to_boundary(rows->cones + c, inv->mode[c], lambda + row, change + row));
    }
  }
  for (int i = 0; i < rows->nrow; ++i) {
    lambda[i] += fraction * change[i];
  }
}

// A = L Q for the rows (n × m) of A, which become those of Q (r × m), orthonormal: Gram and Schmidt, the longest row
// that is left first. Rows below `tiny` of their own length depend on the others, those at the rounding of the longest
// are empty. L (r columns of n), scale (n). Returns r.
static int factor_rows(double* A, int n, int m, double tiny, double* scale, double* L) {
  double longest = 0;
  for (int i = 0; i < n; ++i) {
    scale[i] = tribo_norm(A + (size_t)i * (size_t)m, m);
    longest = fmax(longest, scale[i]);
  }
  for (int i = 0; i < n; ++i) {
    scale[i] = scale[i] > 1e-13 * longest ? scale[i] : 0;
  }
  for (int rank = 0; rank < n; ++rank) {
    // what is left of each row, relative to what it was; rows before `rank` are done
    int best = -1;
    double most = tiny;
    for (int i = 0; i < n; ++i) {
      const double left = scale[i] > 0 ? tribo_norm(A + (size_t)i * (size_t)m, m) / scale[i] : 0;
      if (left > most) {
        most = left;
        best = i;
      }
    }
    if (best < 0) {
      return rank;
    }
    double *row = A + (size_t)best * (size_t)m, *column = L + rank * n;
    const double length = tribo_norm(row, m);
    memset(column, 0, (size_t)n * sizeof *column);
    for (int j = 0; j < m; ++j) {
      row[j] /= length;
    }
    column[best] = length;
    scale[best] = -1 - rank;
    for (int i = 0; i < n; ++i) {
      double* other = A + (size_t)i * (size_t)m;
      if (scale[i] > 0) {
        for (int j = 0; j < m; ++j) {
          column[i] += other[j] * row[j];
        }
      }
      if (scale[i] > 0) {
        for (int j = 0; j < m; ++j) {
          other[j] -= column[i] * row[j];
        }
      }
    }
  }
  return n;
}

// The least δ (m) of those with the least ‖A δ + F‖. A and F are changed; work (2n² + 2n).
static void solve_least(double* A, double* F, int n, int m, double tiny, double* work, double* delta) {
  double *L = work, *T = L + n * n, *scale = T + n * n, *y = scale + n;
  const int rank = factor_rows(A, n, m, tiny, scale, L);
  // L = U T, its columns made orthonormal one after the other; T y = −UᵀF
  for (int k = 0; k < rank; ++k) {
    double* u = L + k * n;
    const double length = tribo_norm(u, n);
    y[k] = 0;
    for (int i = 0; i < n; ++i) {
      u[i] /= length;
      y[k] -= u[i] * F[i];
    }
    T[k * n + k] = length;
    tribo_add_scaled(n, y[k], u, F);
    for (int j = k + 1; j < rank; ++j) {
      double* other = L + j * n;
      T[k * n + j] = tribo_dot(u, other, n);
      tribo_add_scaled(n, -T[k * n + j], u, other);
    }
  }
  memset(delta, 0, (size_t)m * sizeof *delta);
  for (int k = rank - 1; k >= 0; --k) {
    for (int j = k + 1; j < rank; ++j) {
      y[k] -= T[k * n + j] * y[j];
    }
    y[k] /= T[k * n + k];
  }
  for (int i = 0; i < n; ++i) {
    // row i of A is row −1 − scale of Q
    const double* q = A + (size_t)i * (size_t)m;
    if (scale[i] < 0) {
      for (int j = 0; j < m; ++j) {
        delta[j] += y[(int)(-1 - scale[i])] * q[j];
      }
    }
  }
}

// A S (n × m): how F moves with each direction, seen from its distance to the boundary.
static void fill_matrix(const TriboSystem* system, TriboDynData* data, const ImpulseDirection* dirs, int m,
                        const double* lambda, double* column, double* scale, double* A) {
  const Inverse* inv = &data->inverse;
  for (int j = 0; j < m; ++j) {
    const int c = dirs[j].cone;
    const TriboCone* cone = data->rows.cones + c;
    scale[j] = boundary_distance(cone, inv->mode[c], lambda + cone->row);
    fill_column(system, data, dirs + j, column);
    for (int i = 0, k = 0; i < system->info.nv; ++i) {
      if (inv->place[i] >= 0) {
        A[(size_t)k++ * (size_t)m + (size_t)j] = scale[j] * column[i];
      }
    }
  }
}

// Velocities that are not driven.
static int count_undriven(const TriboSystem* system, const TriboDynData* data) {
  int n = 0;
  for (int i = 0; i < system->info.nv; ++i) {
    n += data->inverse.place[i] >= 0;
  }
  return n;
}

int tribo_dyn_inverse_polishes(const TriboSystem* system, const TriboDynData* data) {
  const size_t n = (size_t)count_undriven(system, data);
  return n > 0 && n * ((size_t)data->rows.nrow + 2 * (n + 1)) <= MOST_ENTRIES;
}

TriboStatus tribo_dyn_inverse_polish(const TriboSystem* system, TriboDynData* data, double* lambda) {
  Inverse* inv = &data->inverse;
  const Rows* rows = &data->rows;
  const int nv = system->info.nv, n = count_undriven(system, data);
  const size_t nrow = (size_t)rows->nrow, entries = nrow * (size_t)n, square = 2 * (size_t)n * (size_t)(n + 1);
  if (!tribo_dyn_inverse_polishes(system, data)) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&inv->polish, entries + square + 4 * nrow + (size_t)(2 * nv)));
  TRIBO_TRY(TRIBO_RESERVE(&inv->directions, nrow * sizeof(ImpulseDirection)));
  double *A = inv->polish, *delta = A + entries, *scale = delta + nrow, *change = scale + nrow, *best = change + nrow,
         *F = best + nrow, *column = F + nv, *work = column + nv;
  ImpulseDirection* dirs = (ImpulseDirection*)(void*)inv->directions;
  const int m = find_directions(data, dirs);
  double low = INFINITY, least = INFINITY;
  project_onto_cones(data, lambda);
  memcpy(best, lambda, nrow * sizeof *best);
  for (int pass = 0, stalls = 0, starts = 0; pass < MOST_STEPS; ++pass) {
    double most, size;
    TRIBO_TRY(find_residual(system, data, lambda, F, &most, &size));
    if (most < least) {
      least = most;
      memcpy(best, lambda, nrow * sizeof *best);
    }
    // at rounding, or no longer shrinking there
    if (most <= 4e-15 * size || (most <= 1e-13 * size && most > 0.5 * low)) {
      break;
    }
    // no progress: with room to move, then from elsewhere
    stalls = most > (starts == 0 ? 0.1 : 0.5) * low ? stalls + 1 : 0;
    low = fmin(low, most);
    if (stalls == (starts == 0 ? 1 : PATIENCE)) {
      if (starts > 0 && least > INFEASIBLE * size) {
        break;
      }
      memcpy(lambda, best, nrow * sizeof *lambda);
      start_inside(data, largest_impulse(rows, lambda), starts++, lambda);
      TRIBO_TRY(find_residual(system, data, lambda, F, &low, &size));
      stalls = 0;
    }
    fill_matrix(system, data, dirs, m, lambda, column, scale, A);
    solve_least(A, F, n, m, starts > 0 ? 1e-11 : 1e-9, work, delta);
    for (int j = 0; j < m; ++j) {
      delta[j] *= scale[j];
    }
    move(data, dirs, m, delta, change, lambda);
  }
  memcpy(lambda, best, nrow * sizeof *best);
  return TRIBO_OK;
}
