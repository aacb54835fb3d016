// Validation of a contact problem: every error names the field, the index, the value and the accepted range. And the
// names of outcomes and stages.
#include <tribo/solver.h>
#include <limits.h>
#include <math.h>

#include "math3.h"
#include "status.h"

#define WHERE "tribo_problem_validate: "

static TriboStatus all_finite(const double* x, size_t n, const char* name) {
  if (tribo_finite(x, n)) {
    return TRIBO_OK;
  }
  size_t i = 0;
  while (isfinite(x[i])) {
    i++;
  }
  return tribo_fail(TRIBO_INVALID, WHERE "%s[%zu] = %g is not finite", name, i, x[i]);
}

static TriboStatus check_dim(int c, const TriboCone* k) {
  int least = k->kind == TRIBO_CONE_FRICTION ? 3 : 1;
  int most = k->kind == TRIBO_CONE_FRICTION || k->kind == TRIBO_CONE_FREE ? 6 : 1;
  if (k->kind < TRIBO_CONE_FREE || k->kind > TRIBO_CONE_FRICTION) {
    return tribo_fail(TRIBO_INVALID, WHERE "cones[%d].kind = %d is outside [%d, %d]", c, (int)k->kind,
                      (int)TRIBO_CONE_FREE, (int)TRIBO_CONE_FRICTION);
  }
  if (k->dim < least || k->dim > most) {
    return tribo_fail(TRIBO_INVALID, WHERE "cones[%d].dim = %d is outside [%d, %d]", c, k->dim, least, most);
  }
  return TRIBO_OK;
}

static TriboStatus check_cone(const TriboProblem* p, int c, int row) {
  const TriboCone* k = &p->cones[c];
  TRIBO_TRY(check_dim(c, k));
  if (k->row != row) {
    return tribo_fail(TRIBO_INVALID, WHERE "cones[%d].row = %d, expected %d: cones follow each other without holes", c,
                      k->row, row);
  }
  if (k->kind == TRIBO_CONE_FRICTION) {
    for (int i = 0; i < k->dim - 1; ++i) {
      if (!(k->mu[i] >= 0 && k->mu[i] < INFINITY)) {
        return tribo_fail(TRIBO_INVALID, WHERE "cones[%d].mu[%d] = %g must be finite and at least 0", c, i, k->mu[i]);
      }
    }
  }
  if (k->kind == TRIBO_CONE_BOX && !(k->lo <= k->hi && k->lo < INFINITY && k->hi > -INFINITY)) {
    return tribo_fail(TRIBO_INVALID, WHERE "cones[%d]: lo = %g and hi = %g leave nothing between them", c, k->lo,
                      k->hi);
  }
  return TRIBO_OK;
}

// a symmetric matrix with a positive diagonal; positive definiteness is the caller's promise
static TriboStatus check_block(const double* A, int n, const char* name, int b) {
  for (int i = 0; i < n; ++i) {
    if (!(A[i * n + i] > 0 && A[i * n + i] < INFINITY)) {
      return tribo_fail(TRIBO_INVALID, WHERE "%s of block %d has %g on its diagonal, which must be positive", name, b,
                        A[i * n + i]);
    }
    for (int j = 0; j < i; ++j) {
      double gap = fabs(A[i * n + j] - A[j * n + i]);
      if (!(gap <= 1e-8 * sqrt(A[i * n + i] * A[j * n + j]))) {
        return tribo_fail(TRIBO_INVALID, WHERE "%s of block %d is not symmetric: (%d,%d) is %g, (%d,%d) is %g", name, b,
                          i, j, A[i * n + j], j, i, A[j * n + i]);
      }
    }
  }
  return TRIBO_OK;
}

static TriboStatus check_parents(int b, int n, const int* parent) {
  if (parent == NULL) {
    return TRIBO_OK;
  }
  for (int k = 0; k < n; ++k) {
    if (parent[k] < -1 || parent[k] >= k) {
      return tribo_fail(TRIBO_INVALID, WHERE "dof_parent[%d][%d] = %d is outside [-1, %d]: parents come first", b, k,
                        parent[k], k - 1);
    }
  }
  return TRIBO_OK;
}

// The arrays of the motion form: blocks of the mass matrix, then the terms of every cone in order.
static TriboStatus check_motion(const TriboProblem* p) {
  if (!p->block_dim || !p->block_at || !p->mass || !p->minv || !p->term_first ||
      (p->term_first[p->ncone] > 0 && (!p->term_block || !p->term_at || !p->jac))) {
    return tribo_fail(TRIBO_INVALID, WHERE "nblock = %d but an array of the motion form is NULL", p->nblock);
  }
  for (int b = 0; b < p->nblock; ++b) {
    if (p->block_dim[b] < 1) {
      return tribo_fail(TRIBO_INVALID, WHERE "block_dim[%d] = %d must be at least 1", b, p->block_dim[b]);
    }
    TRIBO_TRY(check_block(p->mass + p->block_at[b], p->block_dim[b], "mass", b));
    TRIBO_TRY(check_block(p->minv + p->block_at[b], p->block_dim[b], "minv", b));
    TRIBO_TRY(check_parents(b, p->block_dim[b], p->dof_parent != NULL ? p->dof_parent[b] : NULL));
  }
  if (p->term_first[0] != 0) {
    return tribo_fail(TRIBO_INVALID, WHERE "term_first[0] = %d must be 0", p->term_first[0]);
  }
  for (int c = 0; c < p->ncone; ++c) {
    if (p->term_first[c + 1] < p->term_first[c]) {
      return tribo_fail(TRIBO_INVALID, WHERE "term_first[%d] = %d is below term_first[%d] = %d", c + 1,
                        p->term_first[c + 1], c, p->term_first[c]);
    }
  }
  for (int c = 0; c < p->ncone; ++c) {
    int last = -1;
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      int b = p->term_block[t];
      if (b <= last || b >= p->nblock) {
        return tribo_fail(TRIBO_INVALID, WHERE "term_block[%d] = %d is outside (%d, %d): blocks increase within a cone",
                          t, b, last, p->nblock);
      }
      last = b;
      TRIBO_TRY(all_finite(p->jac + p->term_at[t], (size_t)(p->cones[c].dim * p->block_dim[b]), "jac"));
    }
  }
  return TRIBO_OK;
}

// G(row, col), 0 where it is not stored
static double entry(const TriboProblem* p, int row, int col) {
  for (int lo = p->G_col[col], hi = p->G_col[col + 1]; lo < hi;) {
    int mid = lo + (hi - lo) / 2;
    if (p->G_row[mid] == row) {
      return p->G_val[mid];
    }
    if (p->G_row[mid] < row) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return 0;
}

// The compressed columns of an explicit G: sorted, finite, symmetric.
static TriboStatus check_explicit(const TriboProblem* p) {
  if (p->G_col[0] != 0) {
    return tribo_fail(TRIBO_INVALID, WHERE "G_col[0] = %d must be 0", p->G_col[0]);
  }
  for (int j = 0; j < p->nrow; ++j) {
    if (p->G_col[j + 1] < p->G_col[j]) {
      return tribo_fail(TRIBO_INVALID, WHERE "G_col[%d] = %d is below G_col[%d] = %d", j + 1, p->G_col[j + 1], j,
                        p->G_col[j]);
    }
  }
  int nnz = p->G_col[p->nrow];
  if (nnz > 0 && (!p->G_row || !p->G_val)) {
    return tribo_fail(TRIBO_INVALID, WHERE "G_col is given but G_row or G_val is NULL");
  }
  if (nnz > 0) {
    TRIBO_TRY(all_finite(p->G_val, (size_t)nnz, "G_val"));
  }
  for (int j = 0; j < p->nrow; ++j) {
    for (int e = p->G_col[j], last = -1; e < p->G_col[j + 1]; ++e) {
      if (p->G_row[e] <= last || p->G_row[e] >= p->nrow) {
        return tribo_fail(TRIBO_INVALID, WHERE "G_row[%d] = %d is outside (%d, %d): rows increase within a column", e,
                          p->G_row[e], last, p->nrow);
      }
      last = p->G_row[e];
    }
  }
  for (int j = 0; j < p->nrow; ++j) {
    double djj = entry(p, j, j);
    if (djj < 0) {
      return tribo_fail(TRIBO_INVALID, WHERE "G(%d,%d) = %g must be at least 0", j, j, djj);
    }
    for (int e = p->G_col[j]; e < p->G_col[j + 1]; ++e) {
      // mostly both triangles hold the same bits, and nothing else has to be looked up
      int i = p->G_row[e];
      double gap = i != j ? fabs(p->G_val[e] - entry(p, j, i)) : 0;
      if (gap != 0 && !(gap <= 1e-8 * fmax(sqrt(djj * fmax(entry(p, i, i), 0)), fabs(p->G_val[e])))) {
        return tribo_fail(TRIBO_INVALID, WHERE "G is not symmetric: (%d,%d) is %g, (%d,%d) is %g", i, j, p->G_val[e], j,
                          i, entry(p, j, i));
      }
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_problem_validate(const TriboProblem* p) {
  if (p == NULL) {
    return tribo_fail(TRIBO_INVALID, WHERE "problem is NULL");
  }
  if (p->nrow < 0 || p->ncone < 0 || p->nblock < 0) {
    return tribo_fail(TRIBO_INVALID, WHERE "nrow = %d, ncone = %d, nblock = %d must be at least 0", p->nrow, p->ncone,
                      p->nblock);
  }
  if ((p->ncone > 0 && !p->cones) || (p->nrow > 0 && !p->g)) {
    return tribo_fail(TRIBO_INVALID, WHERE "cones or g is NULL with nrow = %d, ncone = %d", p->nrow, p->ncone);
  }
  int row = 0;
  for (int c = 0; c < p->ncone; ++c) {
    TRIBO_TRY(check_cone(p, c, row));
    row += p->cones[c].dim;
  }
  if (row != p->nrow) {
    return tribo_fail(TRIBO_INVALID, WHERE "nrow = %d but the cones have %d rows", p->nrow, row);
  }
  if (row == 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(all_finite(p->g, (size_t)row, "g"));
  if (p->R != NULL) {
    for (int i = 0; i < row; ++i) {
      if (!(p->R[i] >= 0 && p->R[i] < INFINITY)) {
        return tribo_fail(TRIBO_INVALID, WHERE "R[%d] = %g must be finite and at least 0", i, p->R[i]);
      }
    }
  }
  if ((p->nblock > 0) == (p->G_col != NULL)) {
    return tribo_fail(TRIBO_INVALID, WHERE "G must be given either by the motion (nblock > 0) or by G_col, not %s",
                      p->G_col ? "by both" : "by neither");
  }
  return p->G_col ? check_explicit(p) : check_motion(p);
}

const char* tribo_outcome_name(TriboOutcome outcome) {
  switch (outcome) {
    case TRIBO_SOLVED: return "solved";
    case TRIBO_MAX_ITER: return "max_iter";
    case TRIBO_STALLED: return "stalled";
    case TRIBO_TIME_OUT: return "time_out";
    case TRIBO_INFEASIBLE: return "infeasible";
    case TRIBO_RELAXED: return "relaxed";
  }
  return "unknown";
}

const char* tribo_rung_name(TriboRung rung) {
  switch (rung) {
#define X(id, name, doc) \
  case TRIBO_RUNG_##id: return name;
    TRIBO_RUNGS(X)
#undef X
    case TRIBO_RUNG_COUNT: break;
  }
  return "unknown";
}
