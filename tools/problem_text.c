// The plain text of Siconos: dimension, number of contacts, a matrix, then q and mu; or, for global problems, M, H, q,
// b and mu. A matrix is its storage (0 dense, 1 blocks in compressed rows), its sizes, its entries column by column.
#include "problem_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Words {
  ProblemFile* p;
  char *text, *at;
} Words;

static int load(Words* w, const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return problem_fail(w->p, "cannot be read: %s", strerror(errno));
  }
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  w->text = size >= 0 ? problem_alloc(w->p, (size_t)size + 1, 1) : NULL;
  rewind(file);
  int good = w->text != NULL && fread(w->text, 1, (size_t)size, file) == (size_t)size;
  fclose(file);
  w->at = w->text;
  return good ? 1 : problem_fail(w->p, "cannot be read");
}

static int next_real(Words* w, double* out, const char* what) {
  char* end;
  *out = strtod(w->at, &end);
  if (end == w->at) {
    w->at += strspn(w->at, " \t\r\n");
    return problem_fail(w->p, "%s: %s '%.12s'", what,
                        *w->at == '\0' ? "the file ends early" : "expected a number, found", w->at);
  }
  w->at = end;
  return 1;
}

static int next_int(Words* w, int least, int most, int* out, const char* what) {
  double x;
  if (!next_real(w, &x, what)) {
    return 0;
  }
  *out = x >= least && x <= most ? (int)x : least;
  return *out == x ? 1 : problem_fail(w->p, "%s = %g; accepted is a whole number in [%d, %d]", what, x, least, most);
}

static int next_reals(Words* w, size_t n, double** out, const char* what) {
  *out = problem_alloc(w->p, n, sizeof **out);
  int good = *out != NULL;
  for (size_t i = 0; good && i < n; ++i) {
    good = next_real(w, &(*out)[i], what);
  }
  return good;
}

static int next_ints(Words* w, int n, int least, int most, int** out, const char* what) {
  *out = problem_alloc(w->p, (size_t)n, sizeof **out);
  int good = *out != NULL;
  for (int i = 0; good && i < n; ++i) {
    good = next_int(w, least, most, &(*out)[i], what);
  }
  return good;
}

// numbers that are still to come
static size_t left(const Words* w) {
  size_t n = 0;
  for (const char* c = w->at; *c != '\0';) {
    c += strspn(c, " \t\r\n");
    n += *c != '\0';
    c += strcspn(c, " \t\r\n");
  }
  return n;
}

static int reserve(Words* w, Triplets* t, size_t count) {
  t->row = problem_alloc(w->p, count, sizeof *t->row);
  t->col = problem_alloc(w->p, count, sizeof *t->col);
  t->value = problem_alloc(w->p, count, sizeof *t->value);
  return t->row && t->col && t->value;
}

// a dense rectangle at (row, col), column by column
static int rectangle(Words* w, Triplets* t, int row, int col, int rows, int cols, const char* name) {
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i, ++t->count) {
      t->row[t->count] = row + i;
      t->col[t->count] = col + j;
      if (!next_real(w, &t->value[t->count], name)) {
        return 0;
      }
    }
  }
  return 1;
}

typedef struct BlockRows {
  int blocks, rows, cols;
  int *row_end, *col_end;  // running sums of the sizes
  int *start, *column;     // compressed rows
} BlockRows;

static int check_ends(Words* w, const int* end, int count, int size, const char* name) {
  for (int i = 0; i < count; ++i) {
    if (end[i] <= (i > 0 ? end[i - 1] : 0) || (i == count - 1 && end[i] != size)) {
      return problem_fail(w->p, "%s: block sizes do not add up to %d", name, size);
    }
  }
  return 1;
}

// A sparse matrix of blocks, row by row.
static int read_block_rows(Words* w, BlockRows* b, Triplets* t, const char* name) {
  int nstart, ncolumn;
  if (!next_int(w, 0, 100000000, &b->blocks, name) || !next_int(w, 1, t->rows, &b->rows, name) ||
      !next_int(w, 1, t->cols, &b->cols, name) || !next_ints(w, b->rows, 1, t->rows, &b->row_end, name) ||
      !next_ints(w, b->cols, 1, t->cols, &b->col_end, name) || !check_ends(w, b->row_end, b->rows, t->rows, name) ||
      !check_ends(w, b->col_end, b->cols, t->cols, name) || !next_int(w, b->rows + 1, b->rows + 1, &nstart, name) ||
      !next_int(w, b->blocks, b->blocks, &ncolumn, name) || !next_ints(w, nstart, 0, b->blocks, &b->start, name) ||
      !next_ints(w, ncolumn, 0, b->cols - 1, &b->column, name)) {
    return 0;
  }
  size_t entries = 0;
  for (int r = 0; r < b->rows; ++r) {
    if (b->start[r + 1] < b->start[r] || b->start[0] != 0 || b->start[b->rows] != b->blocks) {
      return problem_fail(w->p, "%s: the rows of blocks do not follow each other", name);
    }
    for (int k = b->start[r]; k < b->start[r + 1]; ++k) {
      int c = b->column[k];
      entries += (size_t)(b->row_end[r] - (r > 0 ? b->row_end[r - 1] : 0)) *
                 (size_t)(b->col_end[c] - (c > 0 ? b->col_end[c - 1] : 0));
    }
  }
  int good = entries <= left(w) ? reserve(w, t, entries) : problem_fail(w->p, "%s: the file ends early", name);
  for (int r = 0; good && r < b->rows; ++r) {
    int row = r > 0 ? b->row_end[r - 1] : 0;
    for (int k = b->start[r]; good && k < b->start[r + 1]; ++k) {
      int c = b->column[k], col = c > 0 ? b->col_end[c - 1] : 0, number;
      good =
          next_int(w, k, k, &number, name) && rectangle(w, t, row, col, b->row_end[r] - row, b->col_end[c] - col, name);
    }
  }
  return good;
}

// A matrix in any of the storages of the format.
static int read_matrix(Words* w, Triplets* t, const char* name) {
  int storage, rows, cols;
  if (!next_int(w, 0, 2, &storage, name) || !next_int(w, 1, 100000000, &t->rows, name) ||
      !next_int(w, 1, 100000000, &t->cols, name)) {
    return 0;
  }
  if (storage == 2) {
    return problem_fail(w->p, "%s: storage 2 is not read; accepted are 0 (dense) and 1 (blocks)", name);
  }
  if (storage == 0) {
    // the sizes stand there twice
    size_t entries = (size_t)t->rows * (size_t)t->cols;
    if (!next_int(w, t->rows, t->rows, &rows, name) || !next_int(w, t->cols, t->cols, &cols, name)) {
      return 0;
    }
    return entries <= left(w) ? reserve(w, t, entries) && rectangle(w, t, 0, 0, t->rows, t->cols, name)
                              : problem_fail(w->p, "%s: the file ends early", name);
  }
  BlockRows b = {0};
  int good = read_block_rows(w, &b, t, name);
  free(b.row_end);
  free(b.col_end);
  free(b.start);
  free(b.column);
  return good;
}

int problem_read_text(ProblemFile* p, const char* path, RawProblem* raw) {
  Words w = {.p = p};
  int dim, good = load(&w, path) && next_int(&w, 3, 3, &dim, "dimension") &&
                  next_int(&w, 1, 30000000, &raw->contacts, "contacts") && read_matrix(&w, &raw->W, "W");
  if (good) {
    size_t nr = 3 * (size_t)raw->contacts, n = (size_t)raw->W.rows, tail = left(&w);
    // a global problem has a second matrix before its vectors
    raw->global = tail > n + (size_t)raw->contacts;
    good = (!raw->global || read_matrix(&w, &raw->H, "H")) && next_reals(&w, n, &raw->q, "q") &&
           (!raw->global || next_reals(&w, nr, &raw->w, "b")) &&
           next_reals(&w, (size_t)raw->contacts, &raw->mu, "mu") &&
           (left(&w) == 0 || problem_fail(p, "%zu numbers are left over at its end", left(&w)));
  }
  free(w.text);
  return good;
}
