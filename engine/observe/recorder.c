// Recorders: rows of numbers by name, the time and chosen quantities, or all of q and v; as a CSV file or for a caller
// who writes another format.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "data_impl.h"
#include "quantity.h"

struct TriboRecorder {
  const TriboModel* model;
  TriboPool pool;  // path and names
  const char* path;
  FILE* file;  // NULL: none
  int every;
  uint64_t seen;
  TriboQuantity* quantities;  // (nquantity) none: all of q and v
  int nquantity;
  const char** columns;  // (ncolumn)
  double* row;           // (ncolumn)
  int ncolumn;
};

static TriboStatus write_error(const TriboRecorder* r) {
  return tribo_fail(TRIBO_IO, "%s: writing failed: %s", r->path, strerror(errno));
}

static void free_recorder(TriboRecorder* r) {
  tribo_pool_clear(&r->pool);
  tribo_free(r);
}

// ---- columns

// Columns of a joint or free body: the bare name for one coordinate, numbered or named parts otherwise.
static void add_columns(TriboRecorder* r, const char* prefix, const char* name, const char* const* parts, int n) {
  for (int i = 0; i < n; ++i) {
    r->columns[r->ncolumn++] = parts != NULL ? tribo_pool_format(&r->pool, "%s.%s.%s", prefix, name, parts[i])
                               : n == 1      ? tribo_pool_format(&r->pool, "%s.%s", prefix, name)
                                             : tribo_pool_format(&r->pool, "%s.%s.%d", prefix, name, i);
  }
}

// Names of the columns: what was asked for, or else the whole state.
static TriboStatus name_columns(TriboRecorder* r, const TriboRecordDef* def) {
  static const char* const pose[] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
  static const char* const twist[] = {"x", "y", "z", "wx", "wy", "wz"};
  const TriboModel* m = r->model;
  const size_t most = 1 + (size_t)(r->nquantity > 0 ? r->nquantity : m->nq + m->nv);
  r->columns = tribo_pool_alloc(&r->pool, most, sizeof *r->columns);
  r->row = tribo_pool_alloc(&r->pool, most, sizeof *r->row);
  if (r->columns == NULL || r->row == NULL) {
    return tribo_no_memory("for a recorder");
  }
  r->columns[r->ncolumn++] = "t";
  for (int i = 0; i < r->nquantity; ++i) {
    r->columns[r->ncolumn++] = tribo_pool_strdup(&r->pool, def->quantities[i]);
  }
  if (r->nquantity == 0) {
    for (int velocity = 0; velocity < 2; ++velocity) {
      const char* prefix = velocity ? "v" : "q";
      for (int i = 0; i < m->mechanism.nfree; ++i) {
        add_columns(r, prefix, m->mechanism.bodies[i].name, velocity ? twist : pose, velocity ? 6 : 7);
      }
      for (int i = 0; i < m->njoint; ++i) {
        add_columns(r, prefix, m->mechanism.joints[i].name, NULL,
                    velocity ? m->mechanism.joints[i].nv : m->mechanism.joints[i].nq);
      }
    }
  }
  for (int i = 0; i < r->ncolumn; ++i) {
    if (r->columns[i] == NULL) {
      return tribo_no_memory("for a recorder");
    }
  }
  return TRIBO_OK;
}

// ---- opening

static TriboStatus fill(TriboRecorder* r, const TriboRecordDef* def) {
  r->path = tribo_pool_strdup(&r->pool, def->file != NULL ? def->file : "");
  r->quantities = tribo_pool_alloc(&r->pool, (size_t)def->nquantity, sizeof *r->quantities);
  if (r->path == NULL || r->quantities == NULL) {
    return tribo_no_memory("for a recorder");
  }
  for (int i = 0; i < def->nquantity; ++i) {
    TRIBO_TRY(tribo_quantity_parse(r->model, def->quantities[i], &r->quantities[r->nquantity++]));
  }
  TRIBO_TRY(name_columns(r, def));
  if (def->file == NULL) {
    return TRIBO_OK;
  }
  r->file = fopen(r->path, "w");
  if (r->file == NULL) {
    return tribo_fail(TRIBO_IO, "%s: cannot be written: %s", r->path, strerror(errno));
  }
  for (int i = 0; i < r->ncolumn; ++i) {
    fprintf(r->file, "%s%s", i > 0 ? "," : "", r->columns[i]);
  }
  fputc('\n', r->file);
  return TRIBO_OK;
}

TriboStatus tribo_recorder_open(const TriboModel* model, const TriboRecordDef* def, TriboRecorder** out) {
  TRIBO_REQUIRE(model);
  TRIBO_REQUIRE(def);
  TRIBO_REQUIRE(out);
  *out = NULL;
  if (def->every < 1 || def->nquantity < 0) {
    return tribo_fail(TRIBO_INVALID, "tribo_recorder_open: every = %d must be ≥ 1 and nquantity = %d ≥ 0", def->every,
                      def->nquantity);
  }
  TriboRecorder* r = tribo_alloc(1, sizeof *r);
  if (r == NULL) {
    return tribo_no_memory("for a recorder");
  }
  r->model = model;
  r->every = def->every;
  TriboStatus status = fill(r, def);
  if (status != TRIBO_OK) {
    free_recorder(r);
    return status;
  }
  *out = r;
  return TRIBO_OK;
}

// ---- rows

int tribo_recorder_size(const TriboRecorder* r) {
  return r != NULL ? r->ncolumn : 0;
}

const char* tribo_recorder_column(const TriboRecorder* r, int index) {
  return r != NULL && index >= 0 && index < r->ncolumn ? r->columns[index] : NULL;
}

TriboStatus tribo_recorder_row(TriboRecorder* r, TriboData* data, double* row) {
  TRIBO_REQUIRE(r);
  TRIBO_REQUIRE(data);
  TRIBO_REQUIRE(row);
  TRIBO_TRY(tribo_data_check(r->model, data, "tribo_recorder_row"));
  row[0] = data->time;
  for (int i = 0; i < r->nquantity; ++i) {
    TRIBO_TRY(tribo_quantity_value(r->model, data, r->quantities[i], &row[1 + i]));
  }
  if (r->nquantity == 0) {
    memcpy(row + 1, data->now.q, (size_t)r->model->nq * sizeof *row);
    memcpy(row + 1 + r->model->nq, data->now.v, (size_t)r->model->nv * sizeof *row);
  }
  return TRIBO_OK;
}

TriboStatus tribo_recorder_observe(TriboRecorder* r, TriboData* data) {
  TRIBO_REQUIRE(r);
  TRIBO_REQUIRE(data);
  if (r->file == NULL) {
    return tribo_fail(TRIBO_STATE,
                      "tribo_recorder_observe: the recorder has no file; tribo_recorder_row gives its rows");
  }
  TRIBO_TRY(tribo_data_check(r->model, data, "tribo_recorder_observe"));
  if (r->seen++ % (uint64_t)r->every != 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_recorder_row(r, data, r->row));
  for (int i = 0; i < r->ncolumn; ++i) {
    fprintf(r->file, "%s%.17g", i > 0 ? "," : "", r->row[i]);
  }
  return fputc('\n', r->file) == EOF || ferror(r->file) ? write_error(r) : TRIBO_OK;
}

TriboStatus tribo_recorder_close(TriboRecorder* r) {
  if (r == NULL) {
    return TRIBO_OK;
  }
  int bad = 0;
  if (r->file != NULL) {
    bad = ferror(r->file) != 0;
    bad |= fclose(r->file) != 0;
  }
  TriboStatus status = bad ? write_error(r) : TRIBO_OK;
  free_recorder(r);
  return status;
}
