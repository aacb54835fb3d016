// The factor of a matrix by stages: its derivation is in stage_factor.h.
#include "stage_factor.h"

#include <math.h>
#include <string.h>

#include "kernels.h"
#include "la.h"
#include "memory.h"

// Above this, next to Hessians of the size of 1, a weight would cost the factor more than five digits.
static const double STIFF = 1e5;

static int width(const TriboStageShape* s, int k) {
  return s->z_at[k + 1] - s->z_at[k];
}
static int below(const TriboStageShape* s, int k) {
  return k + 1 < s->nstage ? s->ns[k + 1] : 0;
}

// the largest stack: its rows and their width
static void largest_stack(const TriboStageShape* s, size_t* rows, size_t* columns) {
  *rows = *columns = 0;
  for (int k = 0; k < s->nstage; ++k) {
    const size_t high = (size_t)(s->ns[k] + width(s, k) + s->row_at[k + 1] - s->row_at[k]);
    const size_t wide = (size_t)(width(s, k) + below(s, k));
    *rows = high > *rows ? high : *rows;
    *columns = wide > *columns ? wide : *columns;
  }
}

TriboStatus tribo_sol_stage_factor_create(const TriboStageShape* shape, TriboStageFactor* out) {
  memset(out, 0, sizeof *out);
  out->shape = shape;
  size_t rows, columns;
  largest_stack(shape, &rows, &columns);
  out->panel_at = tribo_alloc((size_t)shape->nstage + 1, sizeof(size_t));
  out->rows = tribo_alloc(rows * columns, sizeof(double));
  out->row = tribo_alloc(rows, sizeof(double*));
  out->active = tribo_alloc(rows, sizeof(int));
  out->carry = tribo_alloc(columns * columns, sizeof(double));
  out->sum = tribo_alloc(columns, sizeof(double));
  if (out->panel_at == NULL || out->rows == NULL || out->row == NULL || out->active == NULL || out->carry == NULL ||
      out->sum == NULL) {
    return tribo_no_memory("for a plan's factor");
  }
  for (int k = 0; k < shape->nstage; ++k) {
    const int nz = width(shape, k);
    out->panel_at[k + 1] = out->panel_at[k] + (size_t)nz * (size_t)(nz + below(shape, k));
  }
  out->panel = tribo_alloc(out->panel_at[shape->nstage], sizeof(double));
  return out->panel != NULL ? TRIBO_OK : tribo_no_memory("for a plan's factor");
}

void tribo_sol_stage_factor_destroy(TriboStageFactor* f) {
  tribo_free(f->panel_at);
  tribo_free(f->panel);
  tribo_free(f->rows);
  tribo_free(f->row);
  tribo_free(f->active);
  tribo_free(f->carry);
  tribo_free(f->sum);
}

// A row is stiff when it couples unknowns: w times the square of its second largest entry says by how much.
static int is_stiff(const TriboStageShape* s, int i, const double* jac, double weight) {
  double first = 0, second = 0;
  for (int e = s->start[i]; e < s->start[i + 1]; ++e) {
    const double a = fabs(jac[e]);
    second = a > first ? first : a > second ? a : second;
    first = a > first ? a : first;
  }
  return weight * second * second > STIFF;
}

// H and the diagonal of all stages into the panels, nothing else
static void begin(TriboStageFactor* f, const double* hess, const double* diagonal) {
  const TriboStageShape* s = f->shape;
  memset(f->panel, 0, f->panel_at[s->nstage] * sizeof(double));
  for (int k = 0; k < s->nstage; ++k) {
    const int nz = width(s, k), ld = nz + below(s, k);
    double* M = f->panel + f->panel_at[k];
    for (int j = 0; j < nz; ++j, M += ld, hess += nz) {
      for (int i = j; i < nz; ++i) {
        M[i] = hess[i];
      }
      M[j] += diagonal[s->z_at[k] + j];
    }
  }
}

// adds w a aᵀ for the rows of stage k: to its own panel, and what lies among the next states to the next one
TRIBO_LANES static void add_rows(TriboStageFactor* f, int k, const double* jac, const double* weight) {
  const TriboStageShape* s = f->shape;
  const int first = s->z_at[k], nz = width(s, k), ld = nz + below(s, k);
  double *own = f->panel + f->panel_at[k], *next = f->panel + f->panel_at[k + 1];
  const int next_ld = k + 1 < s->nstage ? width(s, k + 1) + below(s, k + 1) : 0;
  for (int i = s->row_at[k]; i < s->row_at[k + 1]; ++i) {
    if (is_stiff(s, i, jac, weight[i])) {
      continue;
    }
    const int end = s->start[i + 1];
    for (int e = s->start[i]; e < end; ++e) {
      const int j = s->col[e] - first;
      const double a = weight[i] * jac[e];
      double* column = j < nz ? own + (size_t)j * ld - first : next + (size_t)(j - nz) * next_ld - first - nz;
      for (int l = e; l < end; ++l) {
        column[s->col[l]] += a * jac[l];
      }
    }
  }
}

// ---- stiff rows ----

// stacks the triangle carried from the stage before, the factor's own rows and the stiff ones; 0 when only the factor's
static int stack(TriboStageFactor* f, int k, const double* jac, const double* weight) {
  const TriboStageShape* s = f->shape;
  const int nz = width(s, k), wide = nz + below(s, k);
  int count = 0;
  for (int i = 0; i < f->ncarry; ++i) {
    double* row = f->row[count] = f->rows + (size_t)count * wide;
    memset(row, 0, (size_t)wide * sizeof(double));
    memcpy(row, f->carry + (size_t)i * s->ns[k], (size_t)s->ns[k] * sizeof(double));
    count++;
  }
  for (int i = s->row_at[k]; i < s->row_at[k + 1]; ++i) {
    if (is_stiff(s, i, jac, weight[i])) {
      double* row = f->row[count] = f->rows + (size_t)count * wide;
      const double root = sqrt(weight[i]);
      memset(row, 0, (size_t)wide * sizeof(double));
      for (int e = s->start[i]; e < s->start[i + 1]; ++e) {
        row[s->col[e] - s->z_at[k]] = root * jac[e];
      }
      count++;
    }
  }
  if (count == 0) {
    return 0;
  }
  // a column of the panel is a row of Lᵀ, zero before its diagonal
  double* panel = f->panel + f->panel_at[k];
  for (int j = 0; j < nz; ++j, panel += wide) {
    double* row = f->row[count] = f->rows + (size_t)count * wide;
    memset(row, 0, (size_t)j * sizeof(double));
    memcpy(row + j, panel + j, (size_t)(wide - j) * sizeof(double));
    count++;
  }
  return count;
}

// One reflection makes column j zero in all rows from `done` on but one, the one with the largest entry there, which
// comes to the front: large and small rows then keep their own accuracy. 0 when the column is zero already.
TRIBO_LANES static int reflect(TriboStageFactor* f, int done, int count, int j, int wide) {
  int active = 0, pivot = -1;
  double square = 0, most = 0;
  for (int i = done; i < count; ++i) {
    const double x = f->row[i][j];
    if (x != 0) {
      f->active[active++] = i;
      square += x * x;
      pivot = fabs(x) > most ? i : pivot;
      most = fmax(most, fabs(x));
    }
  }
  if (pivot < 0) {
    return 0;
  }
  double* top = f->row[pivot];
  if (active > 1) {
    const double norm = sqrt(square), head = top[j] > 0 ? -norm : norm, beta = 1 / (norm * (norm + most));
    double* sum = f->sum;
    top[j] -= head;
    memset(sum + j, 0, (size_t)(wide - j) * sizeof(double));
    for (int a = 0; a < active; ++a) {
      const double *row = f->row[f->active[a]], x = row[j];
      for (int l = j + 1; l < wide; ++l) {
        sum[l] += x * row[l];
      }
    }
    for (int a = 0; a < active; ++a) {
      double *row = f->row[f->active[a]], x = beta * row[j];
      for (int l = j + 1; l < wide; ++l) {
        row[l] -= x * sum[l];
      }
      row[j] = 0;
    }
    top[j] = head;
  }
  f->row[pivot] = f->row[done];
  f->row[done] = top;
  return 1;
}

// Makes one triangle of the stack of stage k: its first rows are the panel, those on the next states are carried on.
// 0, or 1 when a column of the panel is zero.
static int triangularise(TriboStageFactor* f, int k, const double* jac, const double* weight) {
  const int nz = width(f->shape, k), ns = below(f->shape, k), wide = nz + ns;
  const int count = stack(f, k, jac, weight);
  f->ncarry = 0;
  if (count == 0) {
    return 0;
  }
  double* panel = f->panel + f->panel_at[k];
  for (int j = 0; j < nz; ++j, panel += wide) {
    if (!reflect(f, j, count, j, wide)) {
      return 1;
    }
    memcpy(panel + j, f->row[j] + j, (size_t)(wide - j) * sizeof(double));
  }
  int done = nz;
  for (int j = 0; j < ns; ++j) {
    if (reflect(f, done, count, nz + j, wide)) {
      memcpy(f->carry + (size_t)f->ncarry * ns, f->row[done] + nz, (size_t)ns * sizeof(double));
      f->ncarry++;
      done++;
    }
  }
  return 0;
}

int tribo_sol_stage_factor_run(TriboStageFactor* f, const double* hess, const double* diagonal, const double* jac,
                               const double* weight) {
  const TriboStageShape* s = f->shape;
  begin(f, hess, diagonal);
  f->ncarry = 0;
  for (int k = 0; k < s->nstage; ++k) {
    add_rows(f, k, jac, weight);
  }
  for (int k = 0; k < s->nstage; ++k) {
    const int nz = width(s, k), ns = below(s, k), ld = nz + ns;
    double* L = f->panel + f->panel_at[k];
    if (tribo_la_cholesky(nz, L, ld) != 0) {
      return k + 1;
    }
    if (ns > 0) {
      tribo_la_solve_right_lt(ns, nz, L, ld, L + nz, ld);
      tribo_la_syrk_sub(ns, nz, L + nz, ld, f->panel + f->panel_at[k + 1], width(s, k + 1) + below(s, k + 1));
    }
    if (triangularise(f, k, jac, weight) != 0) {
      return k + 1;
    }
  }
  return 0;
}

void tribo_sol_stage_factor_solve(const TriboStageFactor* f, double* x) {
  const TriboStageShape* s = f->shape;
  for (int k = 0; k < s->nstage; ++k) {
    const int nz = width(s, k), ns = below(s, k), ld = nz + ns;
    const double* L = f->panel + f->panel_at[k];
    double* z = x + s->z_at[k];
    tribo_la_trsv_l(nz, L, ld, 0, z);
    tribo_la_gemv_sub(ns, nz, L + nz, ld, z, z + nz);
  }
  for (int k = s->nstage - 1; k >= 0; --k) {
    const int nz = width(s, k), ns = below(s, k), ld = nz + ns;
    const double* L = f->panel + f->panel_at[k];
    double* z = x + s->z_at[k];
    tribo_la_gemtv_sub(ns, nz, L + nz, ld, z + nz, z);
    tribo_la_trsv_lt(nz, L, ld, z);
  }
}
