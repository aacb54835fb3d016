// Reading and writing QPCCs. Nothing is believed: every size is compared with the others.
#include "qpcc_file.h"

#include <hdf5.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 10000 };

static int failed(QpccFile* f, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(f->reason, sizeof f->reason, format, args);
  va_end(args);
  return 0;
}

// A dataset of at most two dimensions as it lies in the file, row by row. rows, cols −1: any; then they are filled.
static int read_set(QpccFile* f, hid_t file, const char* name, int* rows, int* cols, double** out) {
  hsize_t size[2] = {1, 1};
  hid_t set = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
  hid_t space = set >= 0 ? H5Dget_space(set) : -1, type = set >= 0 ? H5Dget_type(set) : -1;
  const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  const H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
  int good = rank >= 0 && rank <= 2 && (class == H5T_FLOAT || class == H5T_INTEGER);
  if (!good) {
    good = failed(f, "%s is missing, or no array of numbers", name);
  } else if (rank > 0) {
    H5Sget_simple_extent_dims(space, size, NULL);
  }
  if (good && (size[0] > MOST || size[1] > MOST)) {
    good = failed(f, "%s is larger than %d × %d", name, MOST, MOST);
  }
  *rows = good && *rows < 0 ? (int)size[0] : *rows;
  *cols = good && *cols < 0 ? (int)size[1] : *cols;
  if (good && ((int)size[0] != *rows || (int)size[1] != *cols)) {
    good = failed(f, "%s is %d × %d, expected %d × %d", name, (int)size[0], (int)size[1], *rows, *cols);
  }
  *out = good ? malloc(((size_t)*rows * (size_t)*cols + 1) * sizeof **out) : NULL;
  good = good && (*out != NULL || failed(f, "no memory for %s", name));
  if (good && *rows > 0 && *cols > 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0) {
    good = failed(f, "%s cannot be read: the file is damaged", name);
  }
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(set);
  return good;
}

static int read_vector(QpccFile* f, hid_t file, const char* name, int size, double** out) {
  int cols = 1;
  return read_set(f, file, name, &size, &cols, out);
}

// Rows become columns.
static int read_matrix(QpccFile* f, hid_t file, const char* name, int rows, int cols, double** out) {
  double* from = NULL;
  int good = read_set(f, file, name, &rows, &cols, &from);
  *out = good ? malloc(((size_t)rows * (size_t)cols + 1) * sizeof **out) : NULL;
  good = good && (*out != NULL || failed(f, "no memory for %s", name));
  for (int i = 0; i < (good ? rows : 0); ++i) {
    for (int j = 0; j < cols; ++j) {
      (*out)[(size_t)j * (size_t)rows + (size_t)i] = from[(size_t)i * (size_t)cols + (size_t)j];
    }
  }
  free(from);
  return good;
}

// dim of every contact, and how many rows they have.
static int read_dims(QpccFile* f, hid_t file, int ncon, int* nc) {
  double* dims = NULL;
  int count = -1, cols = 1;
  int good = read_set(f, file, "dim", &count, &cols, &dims) &&
             (count == ncon || count == 1 || failed(f, "dim has %d entries for %d contacts", count, ncon));
  f->dim = good ? malloc(((size_t)ncon + 1) * sizeof *f->dim) : NULL;
  *nc = 0;
  for (int i = 0; good && i < ncon; ++i) {
    const double dim = dims[count == 1 ? 0 : i];
    f->dim[i] = dim == 1 || dim == 2 || dim == 3 ? (int)dim : 0;
    good = f->dim[i] > 0 || failed(f, "dim[%d] = %g; accepted are 1, 2, 3", i, dim);
    *nc += f->dim[i];
  }
  free(dims);
  return good;
}

// held and group, where they are there.
static int read_options(QpccFile* f, hid_t file, int ncon) {
  double* values = NULL;
  int good = 1;
  if (H5Lexists(file, "held", H5P_DEFAULT) > 0) {
    good = read_vector(f, file, "held", ncon, &values);
    f->held = good ? malloc((size_t)ncon + 1) : NULL;
    for (int i = 0; i < (good ? ncon : 0); ++i) {
      f->held[i] = values[i] != 0;
    }
    free(values);
    values = NULL;
  }
  if (good && H5Lexists(file, "group", H5P_DEFAULT) > 0) {
    good = read_vector(f, file, "group", ncon, &values);
    f->group = good ? malloc(((size_t)ncon + 1) * sizeof *f->group) : NULL;
    for (int i = 0; i < (good ? ncon : 0); ++i) {
      f->group[i] = (int)values[i];
    }
    free(values);
  }
  return good;
}

static int read_all(QpccFile* f, hid_t file) {
  int na = -1, ncon = -1, nres = -1, nc = 0, one = 1;
  int good = read_set(f, file, "lower", &na, &one, &f->lower) && read_set(f, file, "mu", &ncon, &one, &f->mu) &&
             read_set(f, file, "b", &nres, &one, &f->b) && read_dims(f, file, ncon, &nc) &&
             read_vector(f, file, "upper", na, &f->upper) && read_vector(f, file, "g", nc, &f->g) &&
             read_matrix(f, file, "A", nres, na, &f->A) && read_matrix(f, file, "B", nres, nc, &f->B) &&
             read_matrix(f, file, "C", nc, na, &f->C) && read_matrix(f, file, "D", nc, nc, &f->D) &&
             read_options(f, file, ncon);
  f->problem = (TriboQpcc){.na = na,
                           .ncon = ncon,
                           .nres = nres,
                           .A = f->A,
                           .B = f->B,
                           .b = f->b,
                           .C = f->C,
                           .D = f->D,
                           .g = f->g,
                           .lower = f->lower,
                           .upper = f->upper,
                           .mu = f->mu,
                           .dim = f->dim,
                           .held = f->held,
                           .group = f->group};
  return good;
}

int qpcc_file_read(const char* path, QpccFile* out) {
  *out = (QpccFile){0};
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) {
    return failed(out, "cannot be opened, or is no HDF5 file");
  }
  const int good = read_all(out, file);
  H5Fclose(file);
  return good;
}

void qpcc_file_free(QpccFile* f) {
  void* const owned[] = {f->A, f->B, f->b, f->C, f->D, f->g, f->lower, f->upper, f->mu, f->dim, f->group, f->held};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) {
    free(owned[i]);
  }
}

// ---- writing

static int put(hid_t file, const char* name, const double* values, int rows, int cols) {
  const hsize_t size[2] = {(hsize_t)rows, (hsize_t)cols};
  double* turned = malloc(((size_t)rows * (size_t)cols + 1) * sizeof *turned);
  if (turned == NULL) {
    return 0;
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      turned[(size_t)i * (size_t)cols + (size_t)j] = values[(size_t)j * (size_t)rows + (size_t)i];
    }
  }
  hid_t space = H5Screate_simple(cols == 1 ? 1 : 2, size, NULL);
  hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const int good = set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, turned) >= 0;
  H5Dclose(set);
  H5Sclose(space);
  free(turned);
  return good;
}

static int put_ints(hid_t file, const char* name, const int* values, int count) {
  const hsize_t size = (hsize_t)count;
  hid_t space = H5Screate_simple(1, &size, NULL);
  hid_t set = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const int good = set >= 0 && H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  H5Dclose(set);
  H5Sclose(space);
  return good;
}

int qpcc_file_write(const TriboQpcc* p, const TriboQpccSolution* x, const char* path, char* reason) {
  int nc = 0;
  for (int i = 0; i < p->ncon; ++i) {
    nc += p->dim[i];
  }
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  int good = file >= 0 && put(file, "A", p->A, p->nres, p->na) && put(file, "B", p->B, p->nres, nc) &&
             put(file, "b", p->b, p->nres, 1) && put(file, "C", p->C, nc, p->na) && put(file, "D", p->D, nc, nc) &&
             put(file, "g", p->g, nc, 1) && put(file, "lower", p->lower, p->na, 1) &&
             put(file, "upper", p->upper, p->na, 1) && put(file, "mu", p->mu, p->ncon, 1) &&
             put_ints(file, "dim", p->dim, p->ncon);
  if (good && x != NULL) {
    good = put(file, "lambda_a", x->lambda_a, p->na, 1) && put(file, "lambda_c", x->lambda_c, nc, 1) &&
           put(file, "sigma", x->sigma, nc, 1) && put(file, "nu", x->nu, nc, 1) &&
           put(file, "slip", x->slip, 2 * p->ncon, 1) && put_ints(file, "mode", (const int*)x->mode, p->ncon);
  }
  good = (file < 0 || H5Fclose(file) >= 0) && good;
  if (!good) {
    snprintf(reason, 320, "cannot be written");
  }
  return good;
}
