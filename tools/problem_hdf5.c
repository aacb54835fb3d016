// Reading and writing HDF5. Nothing is believed: every size is compared with the others, every dataset with its type.
#include "problem_file.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "grow.h"
#include "paths.h"

enum { PATH = 128, MOST_ENTRIES = 500000000 };

// ---- reading

typedef struct Source {
  ProblemFile* p;
  hid_t file;
} Source;

static int exists(const Source* s, const char* path) {
  // every group on the way has to be asked for
  char part[PATH];
  for (const char* slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
    snprintf(part, sizeof part, "%.*s", slash ? (int)(slash - path) : (int)strlen(path), path);
    if (H5Lexists(s->file, part, H5P_DEFAULT) <= 0) {
      return 0;
    }
    if (slash == NULL) {
      return 1;
    }
  }
}

// A dataset of whole numbers or reals; *n is its size.
static int read_array(const Source* s, const char* path, int whole, void** out, size_t* n) {
  if (!exists(s, path)) {
    return problem_fail(s->p, "%s is missing", path);
  }
  hid_t set = H5Dopen2(s->file, path, H5P_DEFAULT), type = set >= 0 ? H5Dget_type(set) : -1;
  hid_t space = set >= 0 ? H5Dget_space(set) : -1;
  hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
  int good = class == H5T_INTEGER || (!whole && class == H5T_FLOAT);
  if (!good || count < 0 || count > MOST_ENTRIES) {
    good = problem_fail(s->p, "%s is not an array of %s", path, whole ? "whole numbers" : "numbers");
  }
  *n = good ? (size_t)count : 0;
  *out = good ? problem_alloc(s->p, *n, whole ? sizeof(int) : sizeof(double)) : NULL;
  good = good && *out != NULL;
  if (good && *n > 0 &&
      H5Dread(set, whole ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0) {
    good = problem_fail(s->p, "%s cannot be read: the file is damaged", path);
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(set);
  return good;
}

static int read_int(const Source* s, const char* group, const char* name, int least, int* out) {
  char path[PATH];
  void* values = NULL;
  size_t n;
  snprintf(path, sizeof path, "%s/%s", group, name);
  int good = read_array(s, path, 1, &values, &n);
  if (good && (n < 1 || *(int*)values < least)) {
    good = n < 1 ? problem_fail(s->p, "%s is empty", path)
                 : problem_fail(s->p, "%s = %d must be at least %d", path, *(int*)values, least);
  }
  *out = good ? *(int*)values : 0;
  free(values);
  return good;
}

static int read_sized(const Source* s, const char* group, const char* name, int whole, size_t size, void** out) {
  char path[PATH];
  size_t n;
  snprintf(path, sizeof path, "%s/%s", group, name);
  if (!read_array(s, path, whole, out, &n)) {
    return 0;
  }
  return n == size ? 1 : problem_fail(s->p, "%s has %zu entries, expected %zu", path, n, size);
}

static int read_reals(const Source* s, const char* group, const char* name, size_t size, double** out) {
  return read_sized(s, group, name, 0, size, (void**)out);
}

// are these indices all below `size`?
static int in_range(const int* index, size_t n, int size) {
  for (size_t i = 0; i < n; ++i) {
    if (index[i] < 0 || index[i] >= size) {
      return 0;
    }
  }
  return 1;
}

// starts of compressed columns or rows, unfolded into one index per entry
static int unfold(const Source* s, const char* group, const int* start, int size, int entries, int* out) {
  for (int j = 0; j < size; ++j) {
    if (start[0] != 0 || start[j + 1] < start[j] || start[j + 1] > entries) {
      return problem_fail(s->p, "%s/p[%d] = %d is out of order", group, j + 1, start[j + 1]);
    }
    for (int e = start[j]; e < start[j + 1]; ++e) {
      out[e] = j;
    }
  }
  return 1;
}

// nz: −1 compressed columns, −2 compressed rows, otherwise the number of triplets
static int read_matrix(const Source* s, const char* group, Triplets* t) {
  char path[PATH];
  int nzmax, nz, *start = NULL, *index = NULL;
  size_t n;
  if (!read_int(s, group, "m", 0, &t->rows) || !read_int(s, group, "n", 0, &t->cols) ||
      !read_int(s, group, "nzmax", 0, &nzmax) || !read_int(s, group, "nz", -2, &nz)) {
    return 0;
  }
  int size = nz == -1 ? t->cols : t->rows;
  int entries = nz >= 0 ? nz : nzmax;
  snprintf(path, sizeof path, "%s/i", group);
  int good = read_array(s, path, 1, (void**)&index, &n) &&
             (n >= (size_t)entries || problem_fail(s->p, "%s has %zu entries, expected %d", path, n, entries));
  snprintf(path, sizeof path, "%s/x", group);
  good = good && read_array(s, path, 0, (void**)&t->value, &n) &&
         (n >= (size_t)entries || problem_fail(s->p, "%s has %zu entries, expected %d", path, n, entries));
  if (good && nz < 0) {
    good = read_sized(s, group, "p", 1, (size_t)size + 1, (void**)&start);
    int* unfolded = good ? problem_alloc(s->p, (size_t)entries, sizeof(int)) : NULL;
    good = unfolded != NULL && unfold(s, group, start, size, entries, unfolded);
    entries = good ? start[size] : 0;
    t->row = nz == -1 ? index : unfolded;
    t->col = nz == -1 ? unfolded : index;
    free(start);
  } else if (good) {
    snprintf(path, sizeof path, "%s/p", group);
    good = read_array(s, path, 1, (void**)&start, &n) &&
           (n >= (size_t)entries || problem_fail(s->p, "%s has %zu entries, expected %d", path, n, entries));
    // what writers do (i are rows) and what the format's documentation says (p are rows) differ: what fits is right
    int fits = good && in_range(index, (size_t)entries, t->rows) && in_range(start, (size_t)entries, t->cols);
    t->row = fits ? index : start;
    t->col = fits ? start : index;
  } else {
    t->row = index;
  }
  t->count = (size_t)entries;
  if (good && !(in_range(t->row, t->count, t->rows) && in_range(t->col, t->count, t->cols))) {
    good = problem_fail(s->p, "%s: an index lies outside %d × %d", group, t->rows, t->cols);
  }
  return good;
}

static int read_contacts(const Source* s, const char* group, RawProblem* raw) {
  char path[PATH];
  int dim;
  size_t n;
  if (!read_int(s, group, "spacedim", 1, &dim)) {
    return 0;
  }
  if (dim != 3) {
    return problem_fail(s->p, "%s/spacedim = %d; accepted is 3", group, dim);
  }
  snprintf(path, sizeof path, "%s/vectors/mu", group);
  int good = read_array(s, path, 0, (void**)&raw->mu, &n);
  raw->contacts = (int)n;
  return good && n <= MOST_ENTRIES / 3 ? good : problem_fail(s->p, "%s", good ? "too many contacts" : s->p->reason);
}

static int read_local(const Source* s, RawProblem* raw) {
  return read_contacts(s, "/fclib_local", raw) && read_matrix(s, "/fclib_local/W", &raw->W) &&
         read_reals(s, "/fclib_local/vectors", "q", 3 * (size_t)raw->contacts, &raw->q);
}

static int read_global(const Source* s, RawProblem* raw) {
  raw->global = 1;
  const char* vectors = "/fclib_global/vectors";
  return read_contacts(s, "/fclib_global", raw) && read_matrix(s, "/fclib_global/M", &raw->W) &&
         read_matrix(s, "/fclib_global/H", &raw->H) &&
         (!exists(s, "/fclib_global/G") ||
          (read_matrix(s, "/fclib_global/G", &raw->G) && read_reals(s, vectors, "b", (size_t)raw->G.cols, &raw->b))) &&
         read_reals(s, vectors, "f", (size_t)raw->W.rows, &raw->q) &&
         read_reals(s, vectors, "w", 3 * (size_t)raw->contacts, &raw->w);
}

static int read_dumped(const Source* s, RawProblem* raw) {
  const char* cones = "/tribo_local/cones";
  int *kind = NULL, *dim = NULL;
  double *mu = NULL, *lo = NULL, *hi = NULL;
  size_t n = 0;
  int good = read_matrix(s, "/tribo_local/W", &raw->W) &&
             read_reals(s, "/tribo_local/vectors", "q", (size_t)raw->W.rows, &raw->q) &&
             read_array(s, "/tribo_local/cones/kind", 1, (void**)&kind, &n) &&
             read_sized(s, cones, "dim", 1, n, (void**)&dim) && read_reals(s, cones, "mu", 5 * n, &mu) &&
             read_reals(s, cones, "lo", n, &lo) && read_reals(s, cones, "hi", n, &hi);
  raw->cones = good ? problem_alloc(s->p, n, sizeof *raw->cones) : NULL;
  good = good && raw->cones != NULL;
  raw->ncone = good ? (int)n : 0;
  for (int c = 0; c < raw->ncone; ++c) {
    raw->cones[c] = (TriboCone){.kind = (TriboConeKind)kind[c], .dim = dim[c], .lo = lo[c], .hi = hi[c]};
    memcpy(raw->cones[c].mu, mu + 5 * c, sizeof raw->cones[c].mu);
  }
  free(kind);
  free(dim);
  free(mu);
  free(lo);
  free(hi);
  return good;
}

static int read_hdf5(ProblemFile* p, const char* path, RawProblem* raw) {
  Source s = {p, H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)};
  if (s.file < 0) {
    return problem_fail(p, "is damaged: HDF5 cannot open it");
  }
  int good =
      exists(&s, "/fclib_local")    ? read_local(&s, raw)
      : exists(&s, "/fclib_global") ? read_global(&s, raw)
      : exists(&s, "/tribo_local")
          ? read_dumped(&s, raw)
          : problem_fail(p, "holds no contact problem: there is no group /fclib_local, /fclib_global or /tribo_local");
  H5Fclose(s.file);
  return good;
}

// HDF5 by its signature, whatever the file is called
static int is_hdf5(const char* path) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char head[8] = {0};
  FILE* file = fopen(path, "rb");
  size_t n = file != NULL ? fread(head, 1, sizeof head, file) : 0;
  if (file != NULL) {
    fclose(file);
  }
  return n == sizeof head && memcmp(head, signature, sizeof head) == 0;
}

int problem_read(const char* path, ProblemFile* out) {
  *out = (ProblemFile){0};
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  RawProblem raw = {0};
  struct stat st;
  int good = 0;
  if (stat(path, &st) != 0) {
    problem_fail(out, "cannot be read: %s", strerror(errno));
  } else if (S_ISDIR(st.st_mode)) {
    problem_fail(out, "is a folder");
  } else if (is_hdf5(path)) {
    good = read_hdf5(out, path, &raw);
  } else if (path_ends_in(path, ".dat")) {
    good = problem_read_text(out, path, &raw);
  } else {
    problem_fail(out, "is not an HDF5 file, nor a .dat file");
  }
  good = good && problem_build(out, &raw);
  problem_raw_free(&raw);
  return good;
}

// ---- writing

// One dataset; groups on the way are made. Long arrays are packed.
static int write_array(hid_t file, const char* path, int whole, const void* values, size_t n) {
  hsize_t size = n, chunk = n < 65536 ? n : 65536;
  hid_t links = H5Pcreate(H5P_LINK_CREATE), layout = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  if (n > 64) {
    H5Pset_chunk(layout, 1, &chunk);
    H5Pset_shuffle(layout);
    H5Pset_deflate(layout, 6);
  }
  hid_t space = H5Screate_simple(1, &size, NULL), type = whole ? H5T_STD_I32LE : H5T_IEEE_F64LE;
  hid_t set = H5Dcreate2(file, path, type, space, links, layout, H5P_DEFAULT);
  int good = set >= 0 && (n == 0 || H5Dwrite(set, whole ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                                             H5P_DEFAULT, values) >= 0);
  H5Dclose(set);
  H5Sclose(space);
  H5Pclose(layout);
  H5Pclose(links);
  return good;
}

static int write_named(hid_t file, const char* group, const char* name, int whole, const void* values, size_t n) {
  char path[2 * PATH];
  snprintf(path, sizeof path, "%s/%s", group, name);
  return write_array(file, path, whole, values, n);
}

static int write_text(hid_t file, const char* group, const char* name, const char* text) {
  char path[PATH];
  snprintf(path, sizeof path, "%s/info/%s", group, name);
  hid_t links = H5Pcreate(H5P_LINK_CREATE), type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Pset_create_intermediate_group(links, 1);
  H5Tset_size(type, strlen(text) + 1);
  hid_t set = H5Dcreate2(file, path, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
  int good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
  H5Dclose(set);
  H5Sclose(space);
  H5Tclose(type);
  H5Pclose(links);
  return good;
}

static int write_columns(hid_t file, const char* group, int n, const int* col, const int* row, const double* val) {
  int compressed = -1;
  return write_named(file, group, "m", 1, &n, 1) && write_named(file, group, "n", 1, &n, 1) &&
         write_named(file, group, "nz", 1, &compressed, 1) && write_named(file, group, "nzmax", 1, &col[n], 1) &&
         write_named(file, group, "p", 1, col, (size_t)n + 1) &&
         write_named(file, group, "i", 1, row, (size_t)col[n]) && write_named(file, group, "x", 0, val, (size_t)col[n]);
}

// the cones of a problem that FCLIB has no words for
static int write_cones(hid_t file, const TriboProblem* p, double* scratch) {
  int good = 1, *whole = (int*)scratch;
  const char* group = "/tribo_local/cones";
  size_t n = (size_t)p->ncone;
  for (int field = 0; good && field < 2; ++field) {
    for (size_t c = 0; c < n; ++c) {
      whole[c] = field == 0 ? (int)p->cones[c].kind : p->cones[c].dim;
    }
    good = write_named(file, group, field == 0 ? "kind" : "dim", 1, whole, n);
  }
  for (int field = 0; good && field < 2; ++field) {
    for (size_t c = 0; c < n; ++c) {
      scratch[c] = field == 0 ? p->cones[c].lo : p->cones[c].hi;
    }
    good = write_named(file, group, field == 0 ? "lo" : "hi", 0, scratch, n);
  }
  for (size_t c = 0; c < n; ++c) {
    memcpy(scratch + 5 * c, p->cones[c].mu, 5 * sizeof(double));
  }
  return good && write_named(file, group, "mu", 0, scratch, 5 * n);
}

static int all_coulomb(const TriboProblem* p) {
  for (int c = 0; c < p->ncone; ++c) {
    const TriboCone* k = &p->cones[c];
    if (k->kind != TRIBO_CONE_FRICTION || k->dim != 3 || k->mu[0] != k->mu[1]) {
      return 0;
    }
  }
  return 1;
}

// W and q of any problem as triplets in the file's order of rows, which `to` (nrow) gives
static int condense(ProblemFile* p, const TriboProblem* q, const int* to, Triplets* t);

// Writes W, q and the cones of a problem in the component order of the format.
static int write_condensed(ProblemFile* p, const TriboProblem* q, hid_t file) {
  int coulomb = all_coulomb(q), dim = 3, good = 1;
  size_t n = (size_t)q->nrow;
  const char* group = coulomb ? "/fclib_local" : "/tribo_local";
  char path[PATH];
  int* to = problem_alloc(p, n, sizeof *to);
  double* scratch = problem_alloc(p, n > 5 * (size_t)q->ncone ? n : 5 * (size_t)q->ncone, sizeof *scratch);
  Triplets t = {0};
  good = to != NULL && scratch != NULL;
  if (good) {
    for (int i = 0; i < q->nrow; ++i) {
      to[i] = coulomb ? i - i % 3 + (i % 3 + 1) % 3 : i;
      scratch[to[i]] = q->g[i];
    }
  }
  int *col = NULL, *row = NULL;
  double* val = NULL;
  good = good && condense(p, q, to, &t) && problem_symmetric(p, &t, NULL, &col, &row, &val);
  snprintf(path, sizeof path, "%s/W", group);
  good = good &&
         ((write_columns(file, path, q->nrow, col, row, val) &&
           (snprintf(path, sizeof path, "%s/vectors", group), write_named(file, path, "q", 0, scratch, n)) &&
           write_named(file, group, "spacedim", 1, &dim, 1) && write_text(file, group, "title", "contact problem") &&
           write_text(file, group, "description", "written by tribo") && write_text(file, group, "math_info", "")) ||
          problem_fail(p, "writing failed"));
  if (good && coulomb) {
    for (int c = 0; c < q->ncone; ++c) {
      scratch[c] = q->cones[c].mu[0];
    }
  }
  good = good && ((coulomb ? write_array(file, "/fclib_local/vectors/mu", 0, scratch, (size_t)q->ncone)
                           : write_cones(file, q, scratch)) ||
                  problem_fail(p, "writing failed"));
  RawProblem raw = {.W = t};
  problem_raw_free(&raw);
  free(col);
  free(row);
  free(val);
  free(to);
  free(scratch);
  return good;
}

static int append(Triplets* t, int row, int col, double value) {
  if (!GROW(&t->row, t->count) || !GROW(&t->col, t->count) || !GROW(&t->value, t->count)) {
    return 0;
  }
  t->row[t->count] = row;
  t->col[t->count] = col;
  t->value[t->count++] = value;
  return 1;
}

// J_a M⁻¹ J_bᵀ of two terms on one block
static int add_product(const TriboProblem* q, const int* to, int a, int cone_a, int b, int cone_b, Triplets* t) {
  int block = q->term_block[a], n = q->block_dim[block];
  const double* minv = q->minv + q->block_at[block];
  for (int i = 0; i < q->cones[cone_a].dim; ++i) {
    for (int j = 0; j < q->cones[cone_b].dim; ++j) {
      const double *x = q->jac + q->term_at[a] + i * n, *y = q->jac + q->term_at[b] + j * n;
      double sum = 0;
      for (int k = 0; k < n * n; ++k) {
        sum += x[k / n] * minv[k] * y[k % n];
      }
      if (!append(t, to[q->cones[cone_a].row + i], to[q->cones[cone_b].row + j], sum)) {
        return 0;
      }
    }
  }
  return 1;
}

// W = J M⁻¹ Jᵀ + R, or the given G + R, as triplets.
static int condense(ProblemFile* p, const TriboProblem* q, const int* to, Triplets* t) {
  int good = 1, nterm = q->G_col == NULL ? q->term_first[q->ncone] : 0;
  t->rows = t->cols = q->nrow;
  if (q->R != NULL) {
    for (int i = 0; good && i < q->nrow; ++i) {
      good = append(t, to[i], to[i], q->R[i]);
    }
  }
  if (q->G_col != NULL) {
    for (int j = 0; good && j < q->nrow; ++j) {
      for (int e = q->G_col[j]; good && e < q->G_col[j + 1]; ++e) {
        good = append(t, to[q->G_row[e]], to[j], q->G_val[e]);
      }
    }
  }
  // chains of the terms on one block, latest first
  int *last = problem_alloc(p, (size_t)q->nblock, sizeof(int)), *before = problem_alloc(p, (size_t)nterm, sizeof(int));
  int* cone_of = problem_alloc(p, (size_t)nterm, sizeof(int));
  good = good && last && before && cone_of;
  if (good) {
    for (int b = 0; b < q->nblock; ++b) {
      last[b] = -1;
    }
  }
  if (nterm > 0) {
    for (int c = 0; good && c < q->ncone; ++c) {
      for (int a = q->term_first[c]; good && a < q->term_first[c + 1]; ++a) {
        cone_of[a] = c;
        for (int b = last[q->term_block[a]]; good && b >= 0; b = before[b]) {
          good = add_product(q, to, a, c, b, cone_of[b], t) && add_product(q, to, b, cone_of[b], a, c, t);
        }
        good = good && add_product(q, to, a, c, a, c, t);
        before[a] = last[q->term_block[a]];
        last[q->term_block[a]] = a;
      }
    }
  }
  free(last);
  free(before);
  free(cone_of);
  return good ? 1 : problem_fail(p, "no memory for the matrix of %d rows", q->nrow);
}

int problem_write(const TriboProblem* problem, const char* path, char* reason) {
  ProblemFile p = {0};
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  int good = file >= 0 ? write_condensed(&p, problem, file) : problem_fail(&p, "cannot be written");
  if (file >= 0 && H5Fclose(file) < 0 && good) {
    good = problem_fail(&p, "writing failed");
  }
  memcpy(reason, p.reason, sizeof p.reason);
  return good;
}

static int copy_file(ProblemFile* p, const char* from, const char* to) {
  struct stat a, b;
  if (stat(from, &a) == 0 && stat(to, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
    return problem_fail(p, "is the file of the problem itself");
  }
  FILE *in = fopen(from, "rb"), *out = in != NULL ? fopen(to, "wb") : NULL;
  char buffer[65536];
  int good = out != NULL;
  for (size_t n; good && (n = fread(buffer, 1, sizeof buffer, in)) > 0;) {
    good = fwrite(buffer, 1, n, out) == n;
  }
  good = good && !ferror(in);
  if (in != NULL) {
    fclose(in);
  }
  good = (out == NULL || fclose(out) == 0) && good;
  return good ? 1 : problem_fail(p, "cannot be written: %s", strerror(errno));
}

static int write_answer(const ProblemFile* p, hid_t file, const double* lambda, const double* sigma, double* scratch) {
  static const char* const names[] = {"/solution/r", "/solution/u", "/solution/l"};
  size_t nr = (size_t)p->nr, nl = (size_t)p->problem.nrow - nr;
  int good = 1;
  if (H5Lexists(file, "/solution", H5P_DEFAULT) > 0) {
    good = H5Ldelete(file, "/solution", H5P_DEFAULT) >= 0;
  }
  for (int k = 0; good && k < (nl > 0 ? 3 : 2); ++k) {
    size_t first = k == 2 ? nr : 0, n = k == 2 ? nl : nr;
    for (size_t i = 0; i < n; ++i) {
      scratch[i] = (k == 1 ? sigma : lambda)[p->place[first + i]];
    }
    good = write_array(file, names[k], 0, scratch, n);
  }
  return good;
}

int problem_write_solution(ProblemFile* p, const char* from, const char* to, const double* lambda,
                           const double* sigma) {
  int good = is_hdf5(from) ? copy_file(p, from, to) : problem_write(&p->problem, to, p->reason);
  hid_t file = good ? H5Fopen(to, H5F_ACC_RDWR, H5P_DEFAULT) : -1;
  double* scratch = good ? problem_alloc(p, (size_t)p->problem.nrow, sizeof *scratch) : NULL;
  if (good && (file < 0 || scratch == NULL || !write_answer(p, file, lambda, sigma, scratch))) {
    good = problem_fail(p, "writing failed");
  }
  if (file >= 0 && H5Fclose(file) < 0 && good) {
    good = problem_fail(p, "writing failed");
  }
  free(scratch);
  return good;
}
