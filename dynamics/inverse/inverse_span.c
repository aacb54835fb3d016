// Which torques are left open by a motion: the span of { J_aᵀλ : J_uᵀλ = 0 } over the modes that the constraints leave
// to λ. Adding one of them to the torques of inverse dynamics presses contacts more or less, and moves nothing as long
// as the impulses stay in their cones: two feet that push against each other through the ground.
//
// The rows of A = [J_u J_a] are eliminated on the undriven columns with full pivoting; rows that are left when these
// are empty are combinations with J_uᵀλ = 0, and their driven columns span the set. Gram and Schmidt, the longest row
// first, make them orthonormal.
#include "dyn_data.h"
#include "small_dense.h"

// Below this share of the largest entry a row counts as nothing.
static const double NOTHING = 1e-9;

// One generator of what a cone's mode leaves open as a row of A, scaled to largest entry 1; returns 0 when it is empty.
static int fill_row(const TriboSystem* system, TriboDynData* data, int c, const double* weights, double* row) {
  const Rows* rows = &data->rows;
  const int nv = system->info.nv;
  double most = 0;
  memset(row, 0, (size_t)nv * sizeof *row);
  for (int t = rows->term_first[c]; t < rows->term_first[c + 1]; ++t) {
    const int block = rows->term_block[t], n = system->block_dim[block], at = system->block_v[block];
    for (int i = 0; i < rows->cones[c].dim; ++i) {
      for (int k = 0; k < n; ++k) {
        row[at + k] += weights[i] * rows->term_jac[rows->term_at[t] + (size_t)(i * n + k)];
      }
    }
    tribo_dyn_inverse_carry(system, data, block, row + at, data->work);
  }
  for (int k = 0; k < nv; ++k) {
    most = fmax(most, fabs(row[k]));
  }
  if (most > 0) {
    for (int k = 0; k < nv; ++k) {
      row[k] /= most;
    }
  }
  return most > 0;
}

// All generators, one after the other; returns their count.
static int fill_rows(const TriboSystem* system, TriboDynData* data, double* A) {
  const Inverse* inv = &data->inverse;
  int m = 0;
  for (int c = 0; c < data->rows.ncone; ++c) {
    const TriboCone* cone = data->rows.cones + c;
    if (inv->mode[c] == TRIBO_DYN_MODE_RAY) {
      m += fill_row(system, data, c, inv->lambda_known + cone->row, A + (size_t)m * (size_t)system->info.nv);
    }
    const int count = inv->mode[c] == TRIBO_DYN_MODE_CONE   ? cone->dim
                      : inv->mode[c] == TRIBO_DYN_MODE_DISK ? cone->dim - 1
                                                            : 0;
    for (int i = 0; i < count; ++i) {
      double unit[6] = {0};
      unit[i] = 1;
      m += fill_row(system, data, c, unit, A + (size_t)m * (size_t)system->info.nv);
    }
  }
  return m;
}

static void swap_rows(double* A, int nv, int i, int k) {
  if (i != k) {
    for (int j = 0; j < nv; ++j) {
      const double x = A[i * nv + j];
      A[i * nv + j] = A[k * nv + j];
      A[k * nv + j] = x;
    }
  }
}

// Eliminates the undriven columns of the m rows; returns how many rows that took.
static int eliminate(const int* place, double* A, int m, int nv) {
  int done = 0;
  for (; done < m; ++done) {
    int row = done, column = -1;
    double most = NOTHING;
    for (int i = done; i < m; ++i) {
      for (int j = 0; j < nv; ++j) {
        if (place[j] >= 0 && fabs(A[i * nv + j]) > most) {
          most = fabs(A[i * nv + j]);
          row = i;
          column = j;
        }
      }
    }
    if (column < 0) {
      break;
    }
    swap_rows(A, nv, done, row);
    for (int i = done + 1; i < m; ++i) {
      const double factor = A[i * nv + column] / A[done * nv + column];
      if (factor != 0) {
        for (int j = 0; j < nv; ++j) {
          A[i * nv + j] -= factor * A[done * nv + j];
        }
      }
      A[i * nv + column] = 0;
    }
  }
  return done;
}

// Orthonormal rows of what is left, the longest first; returns their count.
static int make_orthonormal(double* A, int m, int nv) {
  for (int k = 0; k < m; ++k) {
    int longest = k;
    double most = 0;
    for (int i = k; i < m; ++i) {
      double length = 0;
      for (int j = 0; j < nv; ++j) {
        length = hypot(length, A[i * nv + j]);
      }
      if (length > most) {
        most = length;
        longest = i;
      }
    }
    if (!(most > NOTHING)) {
      return k;
    }
    swap_rows(A, nv, k, longest);
    for (int j = 0; j < nv; ++j) {
      A[k * nv + j] /= most;
    }
    for (int i = k + 1; i < m; ++i) {
      tribo_add_scaled(nv, -tribo_dot(A + i * nv, A + k * nv, nv), A + k * nv, A + i * nv);
    }
  }
  return m;
}

TriboStatus tribo_dyn_inverse_span(const TriboSystem* system, TriboDynData* data, const double** span, int* count) {
  Inverse* inv = &data->inverse;
  const int nv = system->info.nv;
  TRIBO_TRY(TRIBO_RESERVE(&inv->span, (size_t)data->rows.nrow * (size_t)nv));
  const int m = fill_rows(system, data, inv->span), used = eliminate(inv->place, inv->span, m, nv);
  double* rest = inv->span + (size_t)used * (size_t)nv;
  for (int i = 0; i < (m - used) * nv; ++i) {
    rest[i] = inv->place[i % nv] >= 0 ? 0 : rest[i];
  }
  *count = make_orthonormal(rest, m - used, nv);
  *span = rest;
  return TRIBO_OK;
}
