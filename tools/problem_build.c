// From what a file holds to the problem a solver takes: symmetric, normal rows last, global problems by their motion.
#include "problem_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDEST_BLOCK = 2000 };  // degrees of freedom that M may couple; its blocks are inverted as dense matrices

int problem_fail(ProblemFile* p, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(p->reason, sizeof p->reason, format, args);
  va_end(args);
  return 0;
}

void* problem_alloc(ProblemFile* p, size_t count, size_t size) {
  void* memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    problem_fail(p, "no memory for %zu entries", count);
  }
  return memory;
}

void problem_raw_free(RawProblem* raw) {
  Triplets* all[] = {&raw->W, &raw->H, &raw->G};
  for (int i = 0; i < 3; ++i) {
    free(all[i]->row);
    free(all[i]->col);
    free(all[i]->value);
  }
  free(raw->q);
  free(raw->w);
  free(raw->b);
  free(raw->mu);
  free(raw->cones);
}

void problem_free(ProblemFile* p) {
  void* all[] = {p->place,     p->cones,      p->g,          p->mass,  p->minv,  p->jac,      p->G_val,
                 p->block_dim, p->term_first, p->term_block, p->G_col, p->G_row, p->block_at, p->term_at};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    free(all[i]);
  }
}

// ---- sparse matrices

typedef struct Entry {
  int row, col;
  double even, odd;  // halves of the symmetric and the antisymmetric part
} Entry;

// stable counting sort by row or by column
static int sort_entries(ProblemFile* p, const Entry* from, Entry* to, size_t n, int size, int by_column) {
  size_t* at = problem_alloc(p, (size_t)size + 1, sizeof *at);
  if (at == NULL) {
    return 0;
  }
  for (size_t e = 0; e < n; ++e) {
    at[(by_column ? from[e].col : from[e].row) + 1]++;
  }
  for (int i = 0; i < size; ++i) {
    at[i + 1] += at[i];
  }
  for (size_t e = 0; e < n; ++e) {
    to[at[by_column ? from[e].col : from[e].row]++] = from[e];
  }
  free(at);
  return 1;
}

// adds up what stands in one place, leaves out zeros, measures the asymmetry
static int compress(ProblemFile* p, const Entry* e, size_t n, int size, int** col, int** row, double** val) {
  double most = 0, odd_most = 0;
  size_t kept = 0;
  *col = problem_alloc(p, (size_t)size + 1, sizeof **col);
  *row = problem_alloc(p, n, sizeof **row);
  *val = problem_alloc(p, n, sizeof **val);
  if (*col == NULL || *row == NULL || *val == NULL) {
    return 0;
  }
  for (size_t i = 0; i < n;) {
    double even = 0, odd = 0;
    size_t j = i;
    for (; j < n && e[j].row == e[i].row && e[j].col == e[i].col; ++j) {
      even += e[j].even;
      odd += e[j].odd;
    }
    most = fmax(most, fabs(even));
    odd_most = fmax(odd_most, 2 * fabs(odd));
    if (even != 0) {
      (*row)[kept] = e[i].row;
      (*val)[kept++] = even;
      (*col)[e[i].col + 1]++;
    }
    i = j;
  }
  for (int i = 0; i < size; ++i) {
    (*col)[i + 1] += (*col)[i];
  }
  p->asymmetry = most > 0 ? odd_most / most : 0;
  return 1;
}

int problem_symmetric(ProblemFile* p, const Triplets* t, const int* place, int** col, int** row, double** val) {
  size_t n = 2 * t->count;
  Entry *a = problem_alloc(p, n, sizeof *a), *b = problem_alloc(p, n, sizeof *b);
  int good = a != NULL && b != NULL;
  if (good) {
    for (size_t k = 0; k < t->count; ++k) {
      int i = place ? place[t->row[k]] : t->row[k], j = place ? place[t->col[k]] : t->col[k];
      double half = 0.5 * t->value[k];
      a[2 * k] = (Entry){i, j, half, half};
      a[2 * k + 1] = (Entry){j, i, half, -half};
    }
  }
  good = good && n / 2 <= 1000000000 && sort_entries(p, a, b, n, t->rows, 0) && sort_entries(p, b, a, n, t->rows, 1) &&
         compress(p, a, n, t->rows, col, row, val);
  free(a);
  free(b);
  return good;
}

// ---- local problems

static int all_finite(ProblemFile* p, const double* x, size_t n, const char* name) {
  for (size_t i = 0; i < n; ++i) {
    if (!isfinite(x[i])) {
      return problem_fail(p, "%s[%zu] = %g is not finite", name, i, x[i]);
    }
  }
  return 1;
}

static int sizes(ProblemFile* p, const char* name, const Triplets* t, int rows, int cols) {
  if (t->rows != rows || t->cols != cols) {
    return problem_fail(p, "%s is %d × %d, expected %d × %d", name, t->rows, t->cols, rows, cols);
  }
  return all_finite(p, t->value, t->count, name);
}

// Coulomb's cones for the contacts, then one free row for every bilateral one; the file's normal row comes first.
static int make_cones(ProblemFile* p, const RawProblem* raw, int bilateral) {
  int n = 3 * raw->contacts + bilateral;
  p->contacts = raw->contacts;
  p->nr = 3 * raw->contacts;
  p->cones = problem_alloc(p, (size_t)(raw->contacts + bilateral), sizeof *p->cones);
  p->place = problem_alloc(p, (size_t)n, sizeof *p->place);
  p->g = problem_alloc(p, (size_t)n, sizeof *p->g);
  if (p->cones == NULL || p->place == NULL || p->g == NULL) {
    return 0;
  }
  for (int c = 0; c < raw->contacts; ++c) {
    double mu = raw->mu[c];
    if (!(mu >= 0 && mu < INFINITY)) {
      return problem_fail(p, "mu[%d] = %g must be finite and at least 0", c, mu);
    }
    p->cones[c] = (TriboCone){.kind = TRIBO_CONE_FRICTION, .row = 3 * c, .dim = 3, .mu = {mu, mu}};
    p->place[3 * c] = 3 * c + 2;
    p->place[3 * c + 1] = 3 * c;
    p->place[3 * c + 2] = 3 * c + 1;
  }
  for (int i = 0; i < bilateral; ++i) {
    p->cones[raw->contacts + i] = (TriboCone){.kind = TRIBO_CONE_FREE, .row = p->nr + i, .dim = 1};
    p->place[p->nr + i] = p->nr + i;
  }
  p->problem = (TriboProblem){.nrow = n, .ncone = raw->contacts + bilateral, .cones = p->cones, .g = p->g};
  return 1;
}

// the cones of a dumped step, in the library's own order
static int take_cones(ProblemFile* p, const RawProblem* raw) {
  int n = 0;
  for (int c = 0; c < raw->ncone; ++c) {
    p->contacts += raw->cones[c].kind == TRIBO_CONE_FRICTION;
    if (raw->cones[c].dim < 1 || raw->cones[c].dim > 6) {
      return problem_fail(p, "cones/dim[%d] = %d is outside [1, 6]", c, raw->cones[c].dim);
    }
    n += raw->cones[c].dim;
  }
  p->nr = n;
  p->cones = problem_alloc(p, (size_t)raw->ncone, sizeof *p->cones);
  p->place = problem_alloc(p, (size_t)n, sizeof *p->place);
  p->g = problem_alloc(p, (size_t)n, sizeof *p->g);
  if (p->cones == NULL || p->place == NULL || p->g == NULL) {
    return 0;
  }
  for (int c = 0, row = 0; c < raw->ncone; row += raw->cones[c++].dim) {
    p->cones[c] = raw->cones[c];
    p->cones[c].row = row;
  }
  for (int i = 0; i < n; ++i) {
    p->place[i] = i;
  }
  p->problem = (TriboProblem){.nrow = n, .ncone = raw->ncone, .cones = p->cones, .g = p->g};
  return 1;
}

static int build_local(ProblemFile* p, const RawProblem* raw) {
  if (!(raw->cones ? take_cones(p, raw) : make_cones(p, raw, 0))) {
    return 0;
  }
  int n = p->problem.nrow;
  if (!sizes(p, "W", &raw->W, n, n) || !all_finite(p, raw->q, (size_t)n, "q") ||
      !problem_symmetric(p, &raw->W, p->place, &p->G_col, &p->G_row, &p->G_val)) {
    return 0;
  }
  for (int i = 0; i < n; ++i) {
    p->g[p->place[i]] = raw->q[i];
  }
  p->problem.G_col = p->G_col;
  p->problem.G_row = p->G_row;
  p->problem.G_val = p->G_val;
  return 1;
}

// ---- global problems

// M's degrees of freedom in groups that M does not couple
typedef struct Groups {
  int n, count, widest;
  int *group, *index;   // (n) group of a degree of freedom, and its place there
  int *member, *first;  // (n) degrees of freedom group by group; (count) where a group starts there
} Groups;

static int root_of(int* parent, int i) {
  while (parent[i] != i) {
    i = parent[i] = parent[parent[i]];
  }
  return i;
}

// Diagonal blocks of the mass matrix: rows that entries couple are one group.
static int find_groups(ProblemFile* p, const Triplets* M, Groups* g) {
  g->n = M->rows;
  g->group = problem_alloc(p, (size_t)g->n, sizeof(int));
  g->index = problem_alloc(p, (size_t)g->n, sizeof(int));
  g->member = problem_alloc(p, (size_t)g->n, sizeof(int));
  g->first = problem_alloc(p, (size_t)g->n, sizeof(int));
  int* parent = problem_alloc(p, (size_t)g->n, sizeof(int));
  p->block_dim = problem_alloc(p, (size_t)g->n, sizeof(int));
  p->block_at = problem_alloc(p, (size_t)g->n, sizeof(size_t));
  int good = g->group && g->index && g->member && g->first && parent && p->block_dim && p->block_at;
  if (good) {
    for (int i = 0; i < g->n; ++i) {
      parent[i] = i;
    }
  }
  if (good) {
    for (size_t e = 0; e < M->count; ++e) {
      if (M->value[e] != 0) {
        int a = root_of(parent, M->row[e]), b = root_of(parent, M->col[e]);
        parent[a > b ? a : b] = a > b ? b : a;
      }
    }
  }
  // a root is the smallest of its group, so groups are numbered in the order of their first member
  if (good) {
    for (int i = 0; i < g->n; ++i) {
      int r = root_of(parent, i);
      g->group[i] = r == i ? g->count++ : g->group[r];
      g->index[i] = p->block_dim[g->group[i]]++;
    }
  }
  size_t at = 0;
  for (int b = 0, first = 0; good && b < g->count; first += p->block_dim[b++]) {
    g->first[b] = first;
    g->widest = p->block_dim[b] > g->widest ? p->block_dim[b] : g->widest;
    if (p->block_dim[b] > WIDEST_BLOCK) {
      good = problem_fail(p, "M couples %d degrees of freedom; accepted are at most %d", p->block_dim[b], WIDEST_BLOCK);
    }
    p->block_at[b] = at;
    at += (size_t)p->block_dim[b] * (size_t)p->block_dim[b];
  }
  if (good) {
    for (int i = 0; i < g->n; ++i) {
      g->member[g->first[g->group[i]] + g->index[i]] = i;
    }
  }
  free(parent);
  p->mass = good ? problem_alloc(p, at, sizeof(double)) : NULL;
  p->minv = good ? problem_alloc(p, at, sizeof(double)) : NULL;
  return good && p->mass && p->minv;
}

// inverse by Gauss and Jordan with row pivots; 0 when singular. A is overwritten.
static int invert(double* A, double* inverse, int n) {
  for (int i = 0; i < n * n; ++i) {
    inverse[i] = i % (n + 1) == 0;
  }
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i) {
      pivot = fabs(A[i * n + k]) > fabs(A[pivot * n + k]) ? i : pivot;
    }
    double d = A[pivot * n + k];
    if (!(fabs(d) > 0)) {
      return 0;
    }
    for (int j = 0; j < n; ++j) {
      double a = A[pivot * n + j], b = inverse[pivot * n + j];
      A[pivot * n + j] = A[k * n + j], inverse[pivot * n + j] = inverse[k * n + j];
      A[k * n + j] = a / d, inverse[k * n + j] = b / d;
    }
    for (int i = 0; i < n; ++i) {
      double f = i != k ? A[i * n + k] : 0;
      if (f != 0) {
        for (int j = 0; j < n; ++j) {
          A[i * n + j] -= f * A[k * n + j];
          inverse[i * n + j] -= f * inverse[k * n + j];
        }
      }
    }
  }
  return 1;
}

static void symmetrise(double* A, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      A[i * n + j] = A[j * n + i] = 0.5 * (A[i * n + j] + A[j * n + i]);
    }
  }
}

// is the symmetric matrix positive definite? A is overwritten.
static int positive(double* A, int n) {
  for (int k = 0; k < n; ++k) {
    if (!(A[k * n + k] > 0)) {
      return 0;
    }
    for (int i = k + 1; i < n; ++i) {
      double f = A[i * n + k] / A[k * n + k];
      for (int j = k + 1; j <= i; ++j) {
        A[i * n + j] -= f * A[j * n + k];
      }
    }
  }
  return 1;
}

// v = M⁻¹ f, then mass and minv as the symmetric part of M⁻¹ and its inverse: W = Hᵀ M⁻¹ H is then symmetrised, too.
static int invert_masses(ProblemFile* p, const RawProblem* raw, const Groups* g, double* v) {
  for (size_t e = 0; e < raw->W.count; ++e) {
    int b = g->group[raw->W.row[e]], n = p->block_dim[b];
    p->mass[p->block_at[b] + (size_t)(g->index[raw->W.row[e]] * n + g->index[raw->W.col[e]])] += raw->W.value[e];
  }
  double* scratch = problem_alloc(p, (size_t)g->widest * (size_t)g->widest, sizeof(double));
  if (scratch == NULL) {
    return 0;
  }
  double most = 0, odd = 0;
  int good = 1;
  for (int b = 0; good && b < g->count; ++b) {
    int n = p->block_dim[b];
    double *mass = p->mass + p->block_at[b], *minv = p->minv + p->block_at[b];
    size_t bytes = sizeof(double) * (size_t)n * (size_t)n;
    double block_odd = 0;
    for (int i = 0; i < n * n; ++i) {
      most = fmax(most, fabs(mass[i]));
      block_odd = fmax(block_odd, fabs(mass[i] - mass[i % n * n + i / n]));
    }
    odd = fmax(odd, block_odd);
    memcpy(scratch, mass, bytes);
    good = invert(scratch, minv, n);
    const int* member = g->member + g->first[b];
    for (int i = 0; i < n * n; ++i) {
      v[member[i / n]] += minv[i] * raw->q[member[i % n]];
    }
    symmetrise(minv, n);
    if (good && block_odd > 0) {
      memcpy(scratch, minv, bytes);
      good = invert(scratch, mass, n);
    }
    symmetrise(mass, n);
    memcpy(scratch, mass, bytes);
    good = good && positive(scratch, n);
    if (!good) {
      problem_fail(p, "M is not positive definite");
    }
  }
  p->asymmetry = most > 0 ? odd / most : 0;
  free(scratch);
  return good;
}

// Entries of H by column: those of column j are order[first[j]] … order[first[j + 1] − 1].
static int by_column(ProblemFile* p, const Triplets* t, size_t** first, size_t** order) {
  *first = problem_alloc(p, (size_t)t->cols + 2, sizeof **first);
  *order = problem_alloc(p, t->count, sizeof **order);
  if (*first == NULL || *order == NULL) {
    return 0;
  }
  for (size_t e = 0; e < t->count; ++e) {
    (*first)[t->col[e] + 2]++;
  }
  for (int j = 0; j < t->cols; ++j) {
    (*first)[j + 2] += (*first)[j + 1];
  }
  for (size_t e = 0; e < t->count; ++e) {
    (*order)[(*first)[t->col[e] + 1]++] = e;
  }
  return 1;
}

// The terms of `cones` cones from `first_cone` on, `dim` columns of t each, appended to the problem.
static int append_terms(ProblemFile* p, const Triplets* t, const Groups* g, int first_cone, int cones, int dim,
                        const double* v, size_t* njac, int* nterm) {
  size_t *first = NULL, *order = NULL;
  int* term_of = problem_alloc(p, (size_t)g->count, sizeof(int));
  int good = term_of != NULL && by_column(p, t, &first, &order);
  if (good) {
    for (int b = 0; b < g->count; ++b) {
      term_of[b] = -1;
    }
  }
  for (int c = 0; good && c < cones; ++c) {
    int begin = *nterm;
    // which blocks it touches, in increasing order
    for (size_t k = first[c * dim]; k < first[c * dim + dim]; ++k) {
      int b = g->group[t->row[order[k]]];
      if (t->value[order[k]] != 0 && term_of[b] < 0) {
        int at = (*nterm)++;
        for (; at > begin && p->term_block[at - 1] > b; --at) {
          p->term_block[at] = p->term_block[at - 1];
        }
        p->term_block[at] = b;
        term_of[b] = at;
      }
    }
    for (int i = begin; i < *nterm; ++i) {
      term_of[p->term_block[i]] = i;
      p->term_at[i] = *njac;
      *njac += (size_t)(dim * p->block_dim[p->term_block[i]]);
    }
    double* more = realloc(p->jac, sizeof(double) * (*njac + 1));
    good = more != NULL;
    if (!good) {
      problem_fail(p, "no memory for %zu entries", *njac);
      break;
    }
    p->jac = more;
    if (begin < *nterm) {
      memset(p->jac + p->term_at[begin], 0, sizeof(double) * (*njac - p->term_at[begin]));
    }
    for (size_t k = first[c * dim]; k < first[c * dim + dim]; ++k) {
      size_t e = order[k];
      int dof = t->row[e], b = g->group[dof], row = p->place[p->cones[first_cone + c].row + t->col[e] % dim];
      if (t->value[e] != 0) {
        size_t at = (size_t)((row - p->cones[first_cone + c].row) * p->block_dim[b] + g->index[dof]);
        p->jac[p->term_at[term_of[b]] + at] += t->value[e];
        p->g[row] += t->value[e] * v[dof];
      }
    }
    for (int i = begin; i < *nterm; ++i) {
      term_of[p->term_block[i]] = -1;
    }
    p->term_first[first_cone + c + 1] = *nterm;
  }
  free(first);
  free(order);
  free(term_of);
  return good;
}

// A problem of masses, forces and rows, as motion blocks and terms.
static int build_global(ProblemFile* p, const RawProblem* raw) {
  int nv = raw->W.rows, bilateral = raw->G.cols;
  if (!make_cones(p, raw, bilateral) || !sizes(p, "M", &raw->W, nv, nv) || !sizes(p, "H", &raw->H, nv, p->nr) ||
      !sizes(p, "G", &raw->G, bilateral > 0 ? nv : raw->G.rows, bilateral) || !all_finite(p, raw->q, (size_t)nv, "f") ||
      !all_finite(p, raw->w, (size_t)p->nr, "w") || !all_finite(p, raw->b, (size_t)bilateral, "b")) {
    return 0;
  }
  Groups g = {0};
  double* v = problem_alloc(p, (size_t)nv, sizeof *v);
  size_t njac = 0, entries = raw->H.count + raw->G.count;
  int nterm = 0;
  p->term_first = problem_alloc(p, (size_t)p->problem.ncone + 1, sizeof(int));
  p->term_block = problem_alloc(p, entries, sizeof(int));
  p->term_at = problem_alloc(p, entries, sizeof(size_t));
  int good =
      v && p->term_first && p->term_block && p->term_at && find_groups(p, &raw->W, &g) && invert_masses(p, raw, &g, v);
  if (good) {
    for (int i = 0; i < p->problem.nrow; ++i) {
      p->g[p->place[i]] = i < p->nr ? raw->w[i] : raw->b[i - p->nr];
    }
  }
  good = good && append_terms(p, &raw->H, &g, 0, raw->contacts, 3, v, &njac, &nterm) &&
         append_terms(p, &raw->G, &g, raw->contacts, bilateral, 1, v, &njac, &nterm);
  TriboProblem* q = &p->problem;
  q->nblock = g.count;
  q->block_dim = p->block_dim, q->block_at = p->block_at, q->mass = p->mass, q->minv = p->minv;
  q->term_first = p->term_first, q->term_block = p->term_block, q->term_at = p->term_at, q->jac = p->jac;
  free(g.group);
  free(g.index);
  free(g.member);
  free(g.first);
  free(v);
  return good;
}

int problem_build(ProblemFile* p, const RawProblem* raw) {
  if (raw->contacts < 1 && raw->ncone < 1) {
    return problem_fail(p, "there is no contact in it");
  }
  if (!(raw->global ? build_global(p, raw) : build_local(p, raw))) {
    return 0;
  }
  if (tribo_problem_validate(&p->problem) != TRIBO_OK) {
    return problem_fail(p, "%s", tribo_last_error());
  }
  return 1;
}
