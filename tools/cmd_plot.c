// `tribo plot`: columns of a recorded run over the time, as an SVG picture.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "grow.h"
#include "svg.h"

enum { MOST_CURVES = 10 };

static const Flag flags[] = {
    {"--out", "FILE", "the picture, RUN.svg beside the run when not given"},
    {"--columns", "A,B", "what to draw, the first ten that change when not given; a name, or the start of several"},
    {"--log", NULL, "a logarithmic axis of the values"},
    {0},
};

typedef struct Table {
  char** names;  // (ncolumn) the first is the time
  double** columns;
  int ncolumn;
  int nrow;
} Table;

static void table_free(Table* t) {
  for (int i = 0; i < t->ncolumn; ++i) {
    free(t->names[i]);
    free(t->columns[i]);
  }
  free(t->names);
  free(t->columns);
}

// ---- reading

static int read_header(Table* t, const char* path, char* text) {
  int n = 1;
  for (const char* c = text; *c != '\0'; ++c) {
    n += *c == ',';
  }
  t->names = calloc((size_t)n, sizeof *t->names);
  t->columns = calloc((size_t)n, sizeof *t->columns);
  if (t->names == NULL || t->columns == NULL) {
    return EXIT_INTERNAL;
  }
  for (char* word = text; word != NULL && t->ncolumn < n;) {
    char* comma = strchr(word, ',');
    if (comma != NULL) {
      *comma = '\0';
    }
    t->names[t->ncolumn++] = strdup(word);
    word = comma != NULL ? comma + 1 : NULL;
  }
  return n >= 2 ? EXIT_WELL : cli_wrong("%s:1: one column; a time and at least one more are needed", path);
}

static int read_row(Table* t, const char* path, long line, char* text) {
  for (int i = 0; i < t->ncolumn; ++i) {
    char* end;
    if (!GROW(&t->columns[i], t->nrow)) {
      return EXIT_INTERNAL;
    }
    t->columns[i][t->nrow] = strtod(text, &end);
    if (end == text || *end != (i + 1 < t->ncolumn ? ',' : '\0')) {
      return cli_wrong("%s:%ld: column %d ('%s') is no number, or there are not %d of them", path, line, i + 1,
                       t->names[i], t->ncolumn);
    }
    text = end + 1;
  }
  t->nrow++;
  return EXIT_WELL;
}

static int read_table(Table* t, const char* path) {
  FILE* file = fopen(path, "r");
  if (file == NULL) {
    return cli_wrong("%s: cannot be read: %s", path, strerror(errno));
  }
  char* text = NULL;
  size_t size = 0;
  int code = EXIT_WELL;
  for (long line = 1; code == EXIT_WELL && getline(&text, &size, file) >= 0; ++line) {
    text[strcspn(text, "\r\n")] = '\0';
    // a line that starts with # is a remark
    const int row = *text != '\0' && *text != '#';
    code = line == 1 ? read_header(t, path, text) : row ? read_row(t, path, line, text) : EXIT_WELL;
  }
  if (code == EXIT_WELL && t->nrow == 0) {
    code = cli_wrong("%s: there are no rows", path);
  }
  free(text);
  fclose(file);
  return code;
}

// ---- choosing

static int changes(const Table* t, int column) {
  for (int i = 1; i < t->nrow; ++i) {
    if (t->columns[column][i] != t->columns[column][0]) {
      return 1;
    }
  }
  return 0;
}

static void add_curve(const Table* t, int column, SvgCurve* curves, int* n) {
  if (*n < MOST_CURVES) {
    curves[(*n)++] = (SvgCurve){t->names[column], t->columns[0], t->columns[column], t->nrow};
  }
}

// The columns that a list of names or beginnings of names asks for.
static int choose(const Table* t, const char* path, const char* list, SvgCurve* curves, int* n) {
  for (const char* word = list; word != NULL && *word != '\0';) {
    const char* comma = strchr(word, ',');
    size_t length = comma != NULL ? (size_t)(comma - word) : strlen(word);
    int found = 0;
    for (int exact = 1; exact >= 0 && !found; --exact) {
      for (int i = 1; i < t->ncolumn; ++i) {
        if (strncmp(t->names[i], word, length) == 0 && (exact ? t->names[i][length] == '\0' : changes(t, i))) {
          add_curve(t, i, curves, n);
          found = 1;
        }
      }
    }
    if (!found) {
      return cli_wrong("%s: no column is called '%.*s', and none that starts so changes", path, (int)length, word);
    }
    word = comma != NULL ? comma + 1 : NULL;
  }
  if (list == NULL) {
    for (int i = 1; i < t->ncolumn; ++i) {
      if (changes(t, i)) {
        add_curve(t, i, curves, n);
      }
    }
  }
  return *n > 0 ? EXIT_WELL : cli_wrong("%s: no column changes; --columns says which to draw", path);
}

// Reads the table, picks the columns and draws them.
static int run(const Args* args) {
  const char *path = args->positional[0], *out = cli_value(args, "--out"), *dot = strrchr(path, '.');
  char own[4096];
  Table table = {0};
  SvgCurve curves[MOST_CURVES];
  int n = 0, code = read_table(&table, path);
  if (code == EXIT_WELL) {
    code = choose(&table, path, cli_value(args, "--columns"), curves, &n);
  }
  if (code == EXIT_WELL && out == NULL) {
    const char* slash = strrchr(path, '/');
    int stem = dot != NULL && dot > (slash != NULL ? slash : path) ? (int)(dot - path) : (int)strlen(path);
    snprintf(own, sizeof own, "%.*s.svg", stem, path);
    out = own;
  }
  if (code == EXIT_WELL) {
    const char* name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    SvgPanel panel = {.title = name,
                      .x_label = "time [s]",
                      .y_label = n == 1 ? curves[0].name : "",
                      .log_y = cli_value(args, "--log") != NULL,
                      .curves = curves,
                      .count = n,
                      .wide = 1};
    if (!svg_write(out, &panel, 1)) {
      code = cli_wrong("%s: cannot be written: %s", out, strerror(errno));
    }
  }
  table_free(&table);
  return code;
}

const Command command_plot = {"plot", "RUN.csv [flags]", "draw columns of a recorded run over the time", flags, 1, 1,
                              run};
