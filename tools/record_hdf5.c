// Rows gathered in a chunk and written when it is full.
#include "record_hdf5.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { CHUNK = 256 };  // rows

struct RecordFile {
  char* path;
  TriboRecorder* columns;
  hid_t file, data;
  hsize_t written;  // rows in the file
  int ncolumn, held;
  double* rows;  // (CHUNK × ncolumn) those that are not
};

int record_is_hdf5(const char* path) {
  const char* dot = path != NULL ? strrchr(path, '.') : NULL;
  return dot != NULL && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
}

static int complain(const RecordFile* r, const char* what) {
  cli_wrong("%s: %s", r->path, what);
  return 0;
}

// The names of the columns, as an attribute of the dataset.
static int write_columns(RecordFile* r) {
  const char** names = malloc((size_t)r->ncolumn * sizeof *names);
  if (names == NULL) {
    return 0;
  }
  for (int i = 0; i < r->ncolumn; ++i) {
    names[i] = tribo_recorder_column(r->columns, i);
  }
  hsize_t count = (hsize_t)r->ncolumn;
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, NULL);
  int good = H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
  hid_t attribute = H5Acreate2(r->data, "columns", type, space, H5P_DEFAULT, H5P_DEFAULT);
  good = good && attribute >= 0 && H5Awrite(attribute, type, names) >= 0;
  if (attribute >= 0) {
    H5Aclose(attribute);
  }
  H5Sclose(space);
  H5Tclose(type);
  free(names);
  return good;
}

static int create(RecordFile* r) {
  hsize_t size[2] = {0, (hsize_t)r->ncolumn}, most[2] = {H5S_UNLIMITED, size[1]}, chunk[2] = {CHUNK, size[1]};
  r->file = H5Fcreate(r->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (r->file < 0) {
    return complain(r, "cannot be written");
  }
  hid_t space = H5Screate_simple(2, size, most), layout = H5Pcreate(H5P_DATASET_CREATE);
  if (H5Pset_chunk(layout, 2, chunk) >= 0 && H5Pset_deflate(layout, 4) >= 0) {
    r->data = H5Dcreate2(r->file, "data", H5T_IEEE_F64LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
  }
  H5Pclose(layout);
  H5Sclose(space);
  return r->data >= 0 && write_columns(r) ? 1 : complain(r, "the dataset cannot be made");
}

RecordFile* record_hdf5_open(const TriboModel* model, const char* path) {
  // errors are told by us, not printed by the library
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const TriboRecordDef def = {.every = 1};
  RecordFile* r = calloc(1, sizeof *r);
  if (r == NULL) {
    return NULL;
  }
  r->file = r->data = -1;
  r->path = strdup(path);
  if (r->path == NULL || tribo_recorder_open(model, &def, &r->columns) != TRIBO_OK) {
    cli_wrong("%s: %s", path, tribo_last_error());
    record_hdf5_close(r);
    return NULL;
  }
  r->ncolumn = tribo_recorder_size(r->columns);
  r->rows = malloc((size_t)(CHUNK * r->ncolumn) * sizeof *r->rows);
  if (r->rows == NULL || !create(r)) {
    record_hdf5_close(r);
    return NULL;
  }
  return r;
}

// Appends the rows that are held.
static int flush(RecordFile* r) {
  if (r->held == 0) {
    return 1;
  }
  hsize_t from[2] = {r->written, 0}, count[2] = {(hsize_t)r->held, (hsize_t)r->ncolumn};
  hsize_t size[2] = {from[0] + count[0], count[1]};
  int good = H5Dset_extent(r->data, size) >= 0;
  hid_t space = H5Dget_space(r->data), memory = H5Screate_simple(2, count, NULL);
  good = good && H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, count, NULL) >= 0 &&
         H5Dwrite(r->data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, r->rows) >= 0;
  H5Sclose(memory);
  H5Sclose(space);
  r->written = size[0];
  r->held = 0;
  return good ? 1 : complain(r, "writing failed");
}

int record_hdf5_observe(RecordFile* r, TriboData* data) {
  if (tribo_recorder_row(r->columns, data, r->rows + (size_t)(r->held * r->ncolumn)) != TRIBO_OK) {
    return complain(r, tribo_last_error());
  }
  return ++r->held < CHUNK || flush(r);
}

int record_hdf5_close(RecordFile* r) {
  if (r == NULL) {
    return 1;
  }
  int good = r->data < 0 || flush(r);
  if (r->data >= 0) {
    H5Dclose(r->data);
  }
  if (r->file >= 0 && H5Fclose(r->file) < 0) {
    good = complain(r, "writing failed");
  }
  if (tribo_recorder_close(r->columns) != TRIBO_OK) {
    good = 0;
  }
  free(r->rows);
  free(r->path);
  free(r);
  return good;
}
