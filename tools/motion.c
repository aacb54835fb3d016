// Columns of a CSV file matched with those a recorder would write; rows read one by one, kept and inverted.
#include "motion.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

static int next_line(Motion* m) {
  do {
    m->line++;
    if (getline(&m->text, &m->size, m->file) < 0) {
      return 0;
    }
    m->text[strcspn(m->text, "\r\n")] = '\0';
  } while (*m->text == '\0' || *m->text == '#');
  return 1;
}

// Finds the place of each column by its name; all of q and v must be there.
static int read_header(const Simulation* sim, Motion* m) {
  if (!next_line(m)) {
    return cli_wrong("%s: is empty; columns t, q.* and v.* are needed", m->path);
  }
  m->nslot = tribo_recorder_size(m->names);
  m->ncolumn = 1;
  for (const char* c = m->text; *c != '\0'; ++c) {
    m->ncolumn += *c == ',';
  }
  m->slot = calloc((size_t)m->ncolumn, sizeof *m->slot);
  m->width = m->nslot + tribo_model_size(sim->model).nv;
  m->now = calloc((size_t)m->width, sizeof *m->now);
  m->next = calloc((size_t)m->width, sizeof *m->next);
  char* seen = calloc(1, (size_t)m->width);
  int code = m->slot != NULL && m->now != NULL && m->next != NULL && seen != NULL ? EXIT_WELL : EXIT_INTERNAL;
  char* word = m->text;
  for (int i = 0; i < m->ncolumn && code == EXIT_WELL; ++i) {
    char* end = word + strcspn(word, ",");
    *end = '\0';
    m->slot[i] = -1;
    for (int k = 0; k < m->nslot && m->slot[i] < 0; ++k) {
      m->slot[i] = strcmp(word, tribo_recorder_column(m->names, k)) == 0 ? k : -1;
    }
    // "tau.elbow" stands as far behind them as "v.elbow" stands among the velocities
    const int nv = m->width - m->nslot;
    if (strncmp(word, "tau.", 4) == 0) {
      for (int k = 0; k < nv && m->slot[i] < 0; ++k) {
        m->slot[i] = strcmp(word + 4, tribo_recorder_column(m->names, m->nslot - nv + k) + 2) == 0 ? m->nslot + k : -1;
        m->driven_by |= m->slot[i] >= 0;
      }
    }
    if (m->slot[i] >= 0 && seen[m->slot[i]]++) {
      code = cli_wrong("%s:%ld:%d: column '%s' stands there twice", m->path, m->line, i + 1, word);
    } else if (m->slot[i] < 0 && (strncmp(word, "q.", 2) == 0 || strncmp(word, "v.", 2) == 0)) {
      code = cli_wrong("%s:%ld:%d: column '%s' is of no joint or body of %s", m->path, m->line, i + 1, word, sim->path);
    }
    word = end + 1;
  }
  for (int k = 0; k < m->nslot && code == EXIT_WELL; ++k) {
    if (!seen[k]) {
      code = cli_wrong("%s:%ld: column '%s' is missing", m->path, m->line, tribo_recorder_column(m->names, k));
    }
  }
  free(seen);
  return code;
}

// One row into `next`; *more: there was one.
static int read_row(Motion* m, int* more) {
  *more = next_line(m);
  char* at = m->text;
  for (int i = 0; i < m->ncolumn && *more; ++i) {
    char* end;
    const double x = strtod(at, &end);
    if (end == at || (*end != ',' && *end != '\0')) {
      return cli_wrong("%s:%ld:%d: '%.*s' is no number", m->path, m->line, i + 1, (int)strcspn(at, ","), at);
    }
    if (!isfinite(x) && m->slot[i] >= 0) {
      return cli_wrong("%s:%ld:%d: %s is %g, must be finite", m->path, m->line, i + 1,
                       m->slot[i] < m->nslot ? tribo_recorder_column(m->names, m->slot[i]) : "an effort", x);
    }
    if ((*end == '\0') != (i + 1 == m->ncolumn)) {
      return cli_wrong("%s:%ld:%d: the row has %s than the header's %d columns", m->path, m->line, i + 1,
                       *end == '\0' ? "fewer" : "more", m->ncolumn);
    }
    if (m->slot[i] >= 0) {
      m->next[m->slot[i]] = x;
    }
    at = end + 1;
  }
  return EXIT_WELL;
}

static void keep_row(Motion* m) {
  double* now = m->now;
  m->now = m->next;
  m->next = now;
}

// The time between two rows must be that of the first two.
static int check_time(const Motion* m) {
  const double step = m->next[0] - m->now[0];
  int column = 1;
  while (m->slot[column - 1] != 0) {
    column++;
  }
  if (!(step > 0)) {
    return cli_wrong("%s:%ld:%d: t = %.9g comes after t = %.9g, must grow", m->path, m->line, column, m->next[0],
                     m->now[0]);
  }
  if (m->dt > 0 && fabs(step - m->dt) > 1e-6 * m->dt + 1e-12 * fabs(m->next[0])) {
    return cli_wrong("%s:%ld:%d: t grows by %.9g s, before by %.9g s; must be even", m->path, m->line, column, step,
                     m->dt);
  }
  return EXIT_WELL;
}

// Every joint that does not float is driven, unless it is named.
static int choose_driven(const Args* args, const TriboModel* model, Motion* m) {
  const char* word = cli_value(args, "--passive");
  const TriboModelSize size = tribo_model_size(model);
  m->driven = calloc((size_t)size.nv + 1, 1);
  if (m->driven == NULL) {
    return EXIT_INTERNAL;
  }
  for (int j = 0; j < size.njoint; ++j) {
    const TriboJointInfo* joint = tribo_model_joint(model, j);
    memset(m->driven + joint->v_at, strcmp(joint->kind, "free") != 0, (size_t)joint->nv);
  }
  while (word != NULL && *word != '\0') {
    char name[256];
    const size_t length = strcspn(word, ",");
    int id;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const TriboStatus status = tribo_model_joint_id(model, name, &id);
    if (status != TRIBO_OK) {
      return cli_complain(status);
    }
    const TriboJointInfo* joint = tribo_model_joint(model, id);
    memset(m->driven + joint->v_at, 0, (size_t)joint->nv);
    word += length + (word[length] == ',');
  }
  m->options.driven = m->driven;
  return EXIT_WELL;
}

// The model takes over the time between rows, where that is not its own.
static int adopt_dt(Simulation* sim, Motion* m) {
  // times are written with all digits, differences of them are not that exact: as the scene says where it is the same
  const double own = tribo_model_world(sim->model)->dt, dt = m->next[0] - m->now[0];
  m->dt = fabs(dt - own) <= 1e-9 * own ? own : dt;
  if (m->dt == own) {
    return EXIT_WELL;
  }
  tribo_data_destroy(sim->data);
  tribo_model_destroy(sim->model);
  sim->data = NULL;
  sim->model = NULL;
  TriboStatus status = tribo_scene_set(sim->scene, "dt", m->dt);
  status = status == TRIBO_OK ? tribo_model_create(sim->scene, &sim->model) : status;
  status = status == TRIBO_OK ? tribo_data_create(sim->model, &sim->data) : status;
  return status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
}

int motion_open(const Args* args, Simulation* sim, Motion* m) {
  const TriboRecordDef all = {.every = 1};
  int more;
  *m = (Motion){.path = cli_value(args, "--motion"), .depth = 1e-3, .options = tribo_inverse_default()};
  m->options.use_actuators = cli_value(args, "--drives") != NULL;
  if (!cli_number(args, "--slow", 0, 1, &m->options.tol) || !cli_number(args, "--depth", 0, 1e9, &m->depth)) {
    return EXIT_INPUT;
  }
  m->file = fopen(m->path, "r");
  if (m->file == NULL) {
    return cli_wrong("%s: cannot be read: %s", m->path, strerror(errno));
  }
  TriboStatus status = tribo_recorder_open(sim->model, &all, &m->names);
  int code = status == TRIBO_OK ? read_header(sim, m) : cli_complain(status);
  for (int i = 0; i < 2 && code == EXIT_WELL; ++i) {
    keep_row(m);
    code = read_row(m, &more);
    if (code == EXIT_WELL && !more) {
      code = cli_wrong("%s: there are fewer than two rows", m->path);
    }
  }
  code = code == EXIT_WELL ? check_time(m) : code;
  code = code == EXIT_WELL ? adopt_dt(sim, m) : code;
  const char* contacts = cli_value(args, "--contacts");
  m->given = contacts != NULL && args->command != &command_id;
  code = code == EXIT_WELL && m->given ? forces_open(contacts, sim->model, &m->forces) : code;
  return code == EXIT_WELL ? choose_driven(args, sim->model, m) : code;
}

int motion_next(Motion* m, int* more) {
  keep_row(m);
  const int code = read_row(m, more);
  if (code == EXIT_WELL && !*more) {
    // the last two rows stay
    keep_row(m);
  }
  return code == EXIT_WELL && *more ? check_time(m) : code;
}

// ---- the state, and its forces

static TriboStatus set_state(const TriboModel* model, TriboData* data, const Motion* m) {
  const double *q = m->now + 1, *v = q + tribo_model_size(model).nq;
  const TriboStatus status = tribo_data_set_state(model, data, q, v);
  return status == TRIBO_OK ? tribo_data_set_time(model, data, fmax(m->now[0], 0)) : status;
}

static TriboStatus invert(const TriboModel* model, TriboData* data, const Motion* m, TriboInverse* out, char* text,
                          size_t size) {
  const double* v_target = m->next + 1 + tribo_model_size(model).nq;
  TriboStatus status = set_state(model, data, m);
  status = status == TRIBO_OK ? tribo_inverse_dynamics(model, data, v_target, &m->options, out) : status;
  if (status != TRIBO_OK) {
    snprintf(text, size, "%s:%ld: %s", m->path, m->line - 1, tribo_last_error());
    return status;
  }
  for (int i = 0; i < out->ncontact; ++i) {
    const TriboContactView* c = &out->contacts[i];
    if (-c->gap > m->depth) {
      snprintf(text, size, "%s:%ld: %s and %s overlap by %.3g m, more than %g (--depth)", m->path, m->line - 1,
               tribo_model_shape(model, c->shape_a)->name, tribo_model_shape(model, c->shape_b)->name, -c->gap,
               m->depth);
      return TRIBO_INVALID;
    }
  }
  return TRIBO_OK;
}

int motion_invert(const Simulation* sim, const Motion* m, TriboInverse* out) {
  char text[600];
  return invert(sim->model, sim->data, m, out, text, sizeof text) == TRIBO_OK ? EXIT_WELL : cli_wrong("%s", text);
}

TriboStatus motion_show(const TriboModel* model, TriboData* data, const Motion* m, MotionForces* out, char* text,
                        size_t size) {
  TriboInverse inverse = {0};
  const TriboStatus status = m->given ? set_state(model, data, m) : invert(model, data, m, &inverse, text, size);
  *out = (MotionForces){inverse.contacts, inverse.ncontact, inverse.tau};
  if (m->given) {
    forces_at(&m->forces, m->now[0], m->dt, &out->contacts, &out->ncontact);
    out->efforts = m->driven_by ? m->now + m->nslot : NULL;
  }
  if (m->given && status != TRIBO_OK) {
    snprintf(text, size, "%s:%ld: %s", m->path, m->line - 1, tribo_last_error());
  }
  return status;
}

// ---- all rows at once

static int keep(Motion* m, const double* row, long line) {
  if (!grow((void**)&m->rows, (size_t)m->nrow, (size_t)m->width * sizeof *m->rows) || !GROW(&m->lines, m->nrow)) {
    return cli_complain(TRIBO_NOMEM);
  }
  memcpy(m->rows + m->nrow * m->width, row, (size_t)m->width * sizeof *row);
  m->lines[m->nrow++] = line;
  return EXIT_WELL;
}

int motion_keep(Motion* m) {
  int code = keep(m, m->now, m->line - 1);
  for (int more = 1; code == EXIT_WELL && more;) {
    code = keep(m, m->next, m->line);
    code = code == EXIT_WELL ? motion_next(m, &more) : code;
  }
  return code;
}

void motion_go(Motion* m, long row) {
  memcpy(m->now, m->rows + row * m->width, (size_t)m->width * sizeof *m->now);
  memcpy(m->next, m->rows + (row + 1) * m->width, (size_t)m->width * sizeof *m->next);
  m->line = m->lines[row + 1];
}

void motion_close(Motion* m) {
  if (m->file != NULL) {
    fclose(m->file);
  }
  if (m->names != NULL && tribo_recorder_close(m->names) != TRIBO_OK) {
    cli_complain(TRIBO_IO);
  }
  free(m->text);
  free(m->slot);
  free(m->now);
  free(m->next);
  free(m->driven);
  free(m->rows);
  free(m->lines);
  forces_close(&m->forces);
}
