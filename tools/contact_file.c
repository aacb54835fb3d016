// Writing the lines of a file of contact forces, and reading them back with every number checked.
#include "contact_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

enum { NUMBERS = 15 };  // columns before the names, which are for people
static const char header[] = "t,a,b,mode,x,y,z,nx,ny,nz,fx,fy,fz,gap,friction,shape_a,shape_b";

// ---- writing

void forces_write_header(FILE* file) {
  fprintf(file, "%s\n", header);
}

void forces_write(FILE* file, const TriboModel* model, double time, const TriboContactView* contacts, int count) {
  for (int i = 0; i < count; ++i) {
    const TriboContactView* c = &contacts[i];
    if (c->mode == TRIBO_CONTACT_OPEN) {
      continue;
    }
    fprintf(file, "%.17g,%d,%d,%d", time, c->shape_a, c->shape_b, (int)c->mode);
    const double* vectors[] = {c->point, c->normal, c->force};
    for (int k = 0; k < 9; ++k) {
      fprintf(file, ",%.17g", vectors[k / 3][k % 3]);
    }
    fprintf(file, ",%.17g,%.17g,%s,%s\n", c->gap, c->friction, tribo_model_shape(model, c->shape_a)->name,
            tribo_model_shape(model, c->shape_b)->name);
  }
}

// ---- reading

// The numbers of a line; returns the column of the first that is none, 0 when all are.
static int numbers_of(const char* text, double* out) {
  for (int i = 0; i < NUMBERS; ++i) {
    char* end;
    out[i] = strtod(text, &end);
    if (end == text || *end != ',' || !isfinite(out[i])) {
      return i + 1;
    }
    text = end + 1;
  }
  return 0;
}

static int is_shape(const TriboModel* model, double x) {
  return x >= 0 && x < tribo_model_size(model).nshape && x == floor(x);
}

// A line as a contact, with its shapes and mode checked.
static int add(const char* path, long line, const TriboModel* model, const double x[NUMBERS], ForceFile* out) {
  if (!is_shape(model, x[1]) || !is_shape(model, x[2])) {
    return cli_wrong("%s:%ld:2: there are no shapes %g and %g; the scene has %d", path, line, x[1], x[2],
                     tribo_model_size(model).nshape);
  }
  if (x[3] != TRIBO_CONTACT_STICK && x[3] != TRIBO_CONTACT_SLIDE) {
    return cli_wrong("%s:%ld:4: mode %g; accepted are %d (sticks) and %d (slides)", path, line, x[3],
                     TRIBO_CONTACT_STICK, TRIBO_CONTACT_SLIDE);
  }
  if (out->count > 0 && x[0] < out->times[out->count - 1]) {
    return cli_wrong("%s:%ld:1: t = %.9g comes after t = %.9g", path, line, x[0], out->times[out->count - 1]);
  }
  if (!GROW(&out->times, out->count) || !GROW(&out->contacts, out->count)) {
    return cli_complain(TRIBO_NOMEM);
  }
  TriboContactView* c = &out->contacts[out->count];
  *c = (TriboContactView){.shape_a = (int)x[1], .shape_b = (int)x[2], .gap = x[13], .friction = x[14]};
  c->body_a = tribo_model_shape(model, c->shape_a)->body;
  c->body_b = tribo_model_shape(model, c->shape_b)->body;
  c->mode = (TriboContactMode)x[3];
  memcpy(c->point, x + 4, sizeof c->point);
  memcpy(c->normal, x + 7, sizeof c->normal);
  memcpy(c->force, x + 10, sizeof c->force);
  out->times[out->count++] = x[0];
  return EXIT_WELL;
}

static int read_all(const char* path, FILE* file, const TriboModel* model, ForceFile* out) {
  char* text = NULL;
  size_t size = 0;
  int code = EXIT_WELL;
  for (long line = 1; code == EXIT_WELL && getline(&text, &size, file) >= 0; ++line) {
    double x[NUMBERS];
    text[strcspn(text, "\r\n")] = '\0';
    const int wrong = line == 1 || *text == '\0' || *text == '#' ? 0 : numbers_of(text, x);
    if (line == 1 && strcmp(text, header) != 0) {
      code = cli_wrong("%s:1: no file of contact forces, as `tribo id --contacts` writes it", path);
    } else if (wrong > 0) {
      code = cli_wrong("%s:%ld:%d: a finite number is needed here", path, line, wrong);
    } else if (line > 1 && *text != '\0' && *text != '#') {
      code = add(path, line, model, x, out);
    }
  }
  free(text);
  return code;
}

int forces_open(const char* path, const TriboModel* model, ForceFile* out) {
  *out = (ForceFile){0};
  FILE* file = fopen(path, "r");
  if (file == NULL) {
    return cli_wrong("%s: cannot be read: %s", path, strerror(errno));
  }
  const int code = read_all(path, file, model, out);
  fclose(file);
  return code;
}

// The first contact at or after a time.
static int first_at(const ForceFile* file, double time) {
  int low = 0, high = file->count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (file->times[middle] < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void forces_at(const ForceFile* file, double time, double dt, const TriboContactView** contacts, int* count) {
  static const TriboContactView none;
  const int first = first_at(file, time - 0.5 * dt);
  *count = first_at(file, time + 0.5 * dt) - first;
  *contacts = *count > 0 ? file->contacts + first : &none;
}

void forces_close(ForceFile* file) {
  free(file->times);
  free(file->contacts);
}
