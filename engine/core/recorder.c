// Recorders: a CSV file with the time and chosen quantities, or all of q and v by name.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "quantity.h"

struct TriboRecorder {
  const TriboModel* model;
  char* path;
  FILE* file;
  int every;
  uint64_t seen;
  TriboQuantity* quantities;  // (nquantity) none: all of q and v
  int nquantity;
};

static TriboStatus write_error(const TriboRecorder* r) {
  return tribo_fail(TRIBO_IO, "%s: writing failed: %s", r->path, strerror(errno));
}

static void free_recorder(TriboRecorder* r) {
  tribo_free(r->quantities);
  tribo_free(r->path);
  tribo_free(r);
}

// Columns of a joint or free body: the bare name for one coordinate, numbered parts otherwise.
static void print_columns(FILE* file, const char* prefix, const char* name, const char* const* parts, int n) {
  for (int i = 0; i < n; ++i) {
    if (parts != NULL) {
      fprintf(file, ",%s.%s.%s", prefix, name, parts[i]);
    } else if (n == 1) {
      fprintf(file, ",%s.%s", prefix, name);
    } else {
      fprintf(file, ",%s.%s.%d", prefix, name, i);
    }
  }
}

static void print_header(const TriboRecorder* r, const TriboRecordDef* def) {
  static const char* const pose[] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
  static const char* const twist[] = {"x", "y", "z", "wx", "wy", "wz"};
  const TriboModel* m = r->model;
  fputs("t", r->file);
  for (int i = 0; i < r->nquantity; ++i) {
    fprintf(r->file, ",%s", def->quantities[i]);
  }
  if (r->nquantity == 0) {
    for (int i = 0; i < m->nfree; ++i) {
      print_columns(r->file, "q", m->bodies[i].name, pose, 7);
    }
    for (int i = 0; i < m->njoint; ++i) {
      print_columns(r->file, "q", m->joints[i].name, NULL, m->joints[i].nq);
    }
    for (int i = 0; i < m->nfree; ++i) {
      print_columns(r->file, "v", m->bodies[i].name, twist, 6);
    }
    for (int i = 0; i < m->njoint; ++i) {
      print_columns(r->file, "v", m->joints[i].name, NULL, m->joints[i].nv);
    }
  }
  fputc('\n', r->file);
}

TriboStatus tribo_recorder_open(const TriboModel* model, const TriboRecordDef* def, TriboRecorder** out) {
  TRIBO_REQUIRE(model);
  TRIBO_REQUIRE(def);
  TRIBO_REQUIRE(out);
  *out = NULL;
  if (def->file == NULL || def->every < 1 || def->nquantity < 0) {
    return tribo_fail(TRIBO_INVALID, "tribo_recorder_open: it needs a file and every ≥ 1 (every = %d)", def->every);
  }
  TriboRecorder* r = tribo_alloc(1, sizeof *r);
  if (r == NULL) {
    return tribo_fail(TRIBO_NOMEM, "no memory for a recorder");
  }
  r->model = model;
  r->every = def->every;
  r->path = tribo_strdup(def->file);
  r->quantities = tribo_alloc((size_t)def->nquantity, sizeof *r->quantities);
  TriboStatus status =
      r->path == NULL || r->quantities == NULL ? tribo_fail(TRIBO_NOMEM, "no memory for a recorder") : TRIBO_OK;
  for (int i = 0; status == TRIBO_OK && i < def->nquantity; ++i) {
    status = tribo_quantity_parse(model, def->quantities[i], &r->quantities[r->nquantity++]);
  }
  if (status == TRIBO_OK && (r->file = fopen(r->path, "w")) == NULL) {
    status = tribo_fail(TRIBO_IO, "%s: cannot be written: %s", r->path, strerror(errno));
  }
  if (status != TRIBO_OK) {
    free_recorder(r);
    return status;
  }
  print_header(r, def);
  *out = r;
  return TRIBO_OK;
}

TriboStatus tribo_recorder_observe(TriboRecorder* r, TriboData* data) {
  TRIBO_REQUIRE(r);
  TRIBO_REQUIRE(data);
  TRIBO_TRY(tribo_data_check(r->model, data, "tribo_recorder_observe"));
  if (r->seen++ % (uint64_t)r->every != 0) {
    return TRIBO_OK;
  }
  fprintf(r->file, "%.17g", data->time);
  for (int i = 0; i < r->nquantity; ++i) {
    double value;
    TRIBO_TRY(tribo_quantity_value(r->model, data, r->quantities[i], &value));
    fprintf(r->file, ",%.17g", value);
  }
  for (int i = 0; r->nquantity == 0 && i < r->model->nq; ++i) {
    fprintf(r->file, ",%.17g", data->q[i]);
  }
  for (int i = 0; r->nquantity == 0 && i < r->model->nv; ++i) {
    fprintf(r->file, ",%.17g", data->v[i]);
  }
  return fputc('\n', r->file) == EOF || ferror(r->file) ? write_error(r) : TRIBO_OK;
}

TriboStatus tribo_recorder_close(TriboRecorder* r) {
  if (r == NULL) {
    return TRIBO_OK;
  }
  int bad = ferror(r->file) != 0;
  bad |= fclose(r->file) != 0;
  TriboStatus status = bad ? write_error(r) : TRIBO_OK;
  free_recorder(r);
  return status;
}
