// `tribo id`: the torques and contact forces of a recorded motion, step by step.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "simulate.h"

static const Flag flags[] = {
    {"--motion", "FILE", "the motion: CSV with t, q.* and v.* as `tribo run --record` writes it, evenly in time"},
    {"--out", "FILE", "torques and contacts of every step, as CSV"},
    {"--slow", "V", "speeds below are 0: what touches, what slides, what is feasible [m/s], 1e-9 when not given"},
    {"--depth", "D", "the deepest overlap a motion may have [m], 1e-3 when not given"},
    {"--passive", "A,B", "joints that nothing drives, besides floating bases"},
    {"--drives", NULL, "motors and actuators of the scene act too; torques are what they leave to do"},
    {"--nearest", NULL, "where the motion is not feasible, take the nearest one that is"},
    {"--set", "KEY=VALUE", "any world setting, or solver.KEY; may be repeated"},
    {"--strict", NULL, "exit 1 when a step is not feasible, 2 when the file was not taken in full"},
    {"--no-ground", NULL, "no ground under a robot file that has no world"},
    {"--json", "FILE", "results for machines; - is standard output"},
    {"--quiet", NULL, "no text for people"},
    {0},
};

typedef struct Motion {
  const char* path;
  FILE* file;
  char* text;  // the present line
  size_t size;
  long line;
  int ncolumn;
  int* slot;  // (ncolumn) where a column belongs in t, q …, v …; −1: nowhere
  int nslot;
  double *now, *next;  // (nslot) two rows
} Motion;

typedef struct Run {
  Simulation sim;
  Motion motion;
  TriboRecorder* names;  // knows what the columns are called
  TriboInverseOptions options;
  double depth;
  FILE* out;
  long steps, infeasible, slipping;
  double first_infeasible, first_slip;  // [s]
  double deviation;
  double *tau_max, *missing_max;  // (nv)
  TriboResiduals residual;        // worst of each
  unsigned char* driven;          // (nv)
} Run;

// ---- the motion's file

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
static int read_header(Run* run) {
  Motion* m = &run->motion;
  if (!next_line(m)) {
    return cli_wrong("%s: is empty; columns t, q.* and v.* are needed", m->path);
  }
  m->nslot = tribo_recorder_size(run->names);
  m->ncolumn = 1;
  for (const char* c = m->text; *c != '\0'; ++c) {
    m->ncolumn += *c == ',';
  }
  m->slot = calloc((size_t)m->ncolumn, sizeof *m->slot);
  m->now = calloc((size_t)m->nslot, sizeof *m->now);
  m->next = calloc((size_t)m->nslot, sizeof *m->next);
  char* seen = calloc(1, (size_t)m->nslot);
  int code = m->slot != NULL && m->now != NULL && m->next != NULL && seen != NULL ? EXIT_WELL : EXIT_INTERNAL;
  char* word = m->text;
  for (int i = 0; i < m->ncolumn && code == EXIT_WELL; ++i) {
    char* end = word + strcspn(word, ",");
    *end = '\0';
    m->slot[i] = -1;
    for (int k = 0; k < m->nslot && m->slot[i] < 0; ++k) {
      m->slot[i] = strcmp(word, tribo_recorder_column(run->names, k)) == 0 ? k : -1;
    }
    if (m->slot[i] >= 0 && seen[m->slot[i]]++) {
      code = cli_wrong("%s:%ld:%d: column '%s' stands there twice", m->path, m->line, i + 1, word);
    } else if (m->slot[i] < 0 && (strncmp(word, "q.", 2) == 0 || strncmp(word, "v.", 2) == 0)) {
      code = cli_wrong("%s:%ld:%d: column '%s' is of no joint or body of %s", m->path, m->line, i + 1, word,
                       run->sim.path);
    }
    word = end + 1;
  }
  for (int k = 0; k < m->nslot && code == EXIT_WELL; ++k) {
    if (!seen[k]) {
      code = cli_wrong("%s:%ld: column '%s' is missing", m->path, m->line, tribo_recorder_column(run->names, k));
    }
  }
  free(seen);
  return code;
}

// One row into `next`; *more: there was one.
static int read_row(Run* run, int* more) {
  Motion* m = &run->motion;
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
                       tribo_recorder_column(run->names, m->slot[i]), x);
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
static int check_time(const Motion* m, double dt) {
  const double step = m->next[0] - m->now[0];
  if (!(step > 0)) {
    return cli_wrong("%s:%ld: t = %.9g comes after t = %.9g, must grow", m->path, m->line, m->next[0], m->now[0]);
  }
  if (dt > 0 && fabs(step - dt) > 1e-6 * dt + 1e-12 * fabs(m->next[0])) {
    return cli_wrong("%s:%ld: t grows by %.9g s, before by %.9g s; must be even", m->path, m->line, step, dt);
  }
  return EXIT_WELL;
}

// ---- one step

static void write_header(const Run* run) {
  const int nq = tribo_model_size(run->sim.model).nq, nv = tribo_model_size(run->sim.model).nv;
  fputs("t", run->out);
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < nv; ++i) {
      // "v.arm/elbow" → "tau.arm/elbow"
      fprintf(run->out, ",%s%s", pass ? "missing" : "tau", tribo_recorder_column(run->names, 1 + nq + i) + 1);
    }
  }
  fputs(",contacts,sliding,feasible,deviation,nat\n", run->out);
}

static void write_row(const Run* run, const TriboInverse* inverse, int contacts, int sliding) {
  const int nv = tribo_model_size(run->sim.model).nv;
  fprintf(run->out, "%.17g", run->motion.now[0]);
  for (int i = 0; i < nv; ++i) {
    fprintf(run->out, ",%.17g", inverse->tau[i]);
  }
  for (int i = 0; i < nv; ++i) {
    fprintf(run->out, ",%.17g", inverse->missing[i]);
  }
  fprintf(run->out, ",%d,%d,%d,%.17g,%.17g\n", contacts, sliding, inverse->feasible, inverse->deviation,
          inverse->residual.nat);
}

static void add(Run* run, const TriboInverse* inverse, int sliding) {
  const int nv = tribo_model_size(run->sim.model).nv;
  const TriboResiduals* r = &inverse->residual;
  run->steps++;
  for (int i = 0; i < nv; ++i) {
    run->tau_max[i] = fmax(run->tau_max[i], fabs(inverse->tau[i]));
    run->missing_max[i] = fmax(run->missing_max[i], fabs(inverse->missing[i]));
  }
  run->residual.prim = fmax(run->residual.prim, r->prim);
  run->residual.dual = fmax(run->residual.dual, r->dual);
  run->residual.comp = fmax(run->residual.comp, r->comp);
  run->residual.nat = fmax(run->residual.nat, r->nat);
  run->deviation = fmax(run->deviation, inverse->deviation);
  if (!inverse->feasible && run->infeasible++ == 0) {
    run->first_infeasible = run->motion.now[0];
  }
  if (sliding > 0 && run->slipping++ == 0) {
    run->first_slip = run->motion.now[0];
  }
}

static const char* shape_name(const Run* run, int shape) {
  return tribo_model_shape(run->sim.model, shape)->name;
}

// From the row that is kept to the next one.
static int invert(Run* run) {
  const Simulation* sim = &run->sim;
  const int nq = tribo_model_size(sim->model).nq;
  const double *q = run->motion.now + 1, *v = q + nq, *wish = run->motion.next + 1 + nq;
  TriboInverse inverse;
  TriboStatus status = tribo_data_set_state(sim->model, sim->data, q, v);
  status = status == TRIBO_OK ? tribo_data_set_time(sim->model, sim->data, fmax(run->motion.now[0], 0)) : status;
  status = status == TRIBO_OK ? tribo_inverse_dynamics(sim->model, sim->data, wish, &run->options, &inverse) : status;
  if (status != TRIBO_OK) {
    return cli_wrong("%s:%ld: %s", run->motion.path, run->motion.line - 1, tribo_last_error());
  }
  int contacts = 0, sliding = 0;
  for (int i = 0; i < inverse.ncontact; ++i) {
    const TriboContactView* c = &inverse.contacts[i];
    if (-c->gap > run->depth) {
      return cli_wrong("%s:%ld: %s and %s overlap by %.3g m, more than %g (--depth)", run->motion.path,
                       run->motion.line - 1, shape_name(run, c->shape_a), shape_name(run, c->shape_b), -c->gap,
                       run->depth);
    }
    contacts += c->mode != TRIBO_CONTACT_OPEN;
    sliding += c->mode == TRIBO_CONTACT_SLIDE;
  }
  add(run, &inverse, sliding);
  if (run->out != NULL) {
    write_row(run, &inverse, contacts, sliding);
  }
  return EXIT_WELL;
}

// ---- all of it

// The bar follows the place in the file.
static void draw(const Run* run, long end) {
  enum { WIDTH = 30 };
  const int full = end > 0 ? (int)((double)ftell(run->motion.file) / (double)end * WIDTH) : 0;
  fprintf(stderr, "\r[%.*s%*s] %6.2f s  %ld infeasible ", full, "##############################", WIDTH - full, "",
          run->motion.now[0], run->infeasible);
}

static int go_through(Run* run, double dt, int progress) {
  const int bar = progress && isatty(STDERR_FILENO);
  int code = EXIT_WELL, more = 1;
  fseek(run->motion.file, 0, SEEK_END);
  const long end = ftell(run->motion.file);
  rewind(run->motion.file);
  run->motion.line = 0;
  free(run->motion.slot);
  free(run->motion.now);
  free(run->motion.next);
  code = read_header(run);
  code = code == EXIT_WELL ? read_row(run, &more) : code;
  while (code == EXIT_WELL && more) {
    keep_row(&run->motion);
    code = read_row(run, &more);
    if (code == EXIT_WELL && more) {
      code = check_time(&run->motion, dt);
      code = code == EXIT_WELL ? invert(run) : code;
    }
    if (bar && run->steps % 64 == 0) {
      draw(run, end);
    }
  }
  if (bar) {
    fputs("\r\033[K", stderr);
  }
  if (code != EXIT_WELL && run->out != NULL) {
    fprintf(run->out, "# incomplete: stopped at %s:%ld after %ld steps\n", run->motion.path, run->motion.line,
            run->steps);
  }
  return code;
}

// The names of the columns come from a model, the model's dt from the first two rows.
static int open_motion(const Args* args, Run* run, double* dt) {
  const TriboRecordDef all = {.every = 1};
  int more;
  run->motion.path = cli_value(args, "--motion");
  if (run->motion.path == NULL) {
    return cli_wrong("id needs --motion FILE");
  }
  run->motion.file = fopen(run->motion.path, "r");
  if (run->motion.file == NULL) {
    return cli_wrong("%s: cannot be read: %s", run->motion.path, strerror(errno));
  }
  int code = simulation_open(args, args->positional[0], &run->sim);
  if (code != EXIT_WELL) {
    return code;
  }
  TriboStatus status = tribo_recorder_open(run->sim.model, &all, &run->names);
  code = status == TRIBO_OK ? read_header(run) : cli_complain(status);
  for (int i = 0; i < 2 && code == EXIT_WELL; ++i) {
    keep_row(&run->motion);
    code = read_row(run, &more);
    if (code == EXIT_WELL && !more) {
      code = cli_wrong("%s: there are fewer than two rows", run->motion.path);
    }
  }
  code = code == EXIT_WELL ? check_time(&run->motion, 0) : code;
  *dt = code == EXIT_WELL ? run->motion.next[0] - run->motion.now[0] : 0;
  // times are written with all digits, differences of them are not that exact: as the scene says where it is the same
  const double own = tribo_model_world(run->sim.model)->dt;
  *dt = fabs(*dt - own) <= 1e-9 * own ? own : *dt;
  if (code != EXIT_WELL || *dt == own) {
    return code;
  }
  tribo_data_destroy(run->sim.data);
  tribo_model_destroy(run->sim.model);
  run->sim.data = NULL;
  run->sim.model = NULL;
  status = tribo_scene_set(run->sim.scene, "dt", *dt);
  status = status == TRIBO_OK ? tribo_model_create(run->sim.scene, &run->sim.model) : status;
  status = status == TRIBO_OK ? tribo_data_create(run->sim.model, &run->sim.data) : status;
  return status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
}

// ---- results

static void print_summary(const Run* run) {
  const int nq = tribo_model_size(run->sim.model).nq, nv = tribo_model_size(run->sim.model).nv;
  printf("steps          %ld\n", run->steps);
  printf("infeasible     %ld", run->infeasible);
  printf(run->infeasible > 0 ? ", the first at %.6g s; motions miss by up to %.2e m/s\n" : "\n", run->first_infeasible,
         run->deviation);
  printf("slipping       %ld", run->slipping);
  printf(run->slipping > 0 ? ", the first at %.6g s\n" : "\n", run->first_slip);
  printf("residuals      nat %.2e m/s, prim %.2e N s, dual %.2e m/s, comp %.2e J (worst of the motion)\n",
         run->residual.nat, run->residual.prim, run->residual.dual, run->residual.comp);
  printf("\npeak torques and missing forces [N m, N]\n");
  for (int i = 0; i < nv; ++i) {
    if (run->tau_max[i] > 0 || run->missing_max[i] > 1e-9) {
      printf("  %-32s %12.6g%s\n", tribo_recorder_column(run->names, 1 + nq + i) + 2,
             fmax(run->tau_max[i], run->missing_max[i]), run->tau_max[i] > 0 ? "" : "  missing");
    }
  }
}

static int write_json(const Run* run, const char* path, int code) {
  const int nq = tribo_model_size(run->sim.model).nq, nv = tribo_model_size(run->sim.model).nv;
  Json json;
  if (!json_open(&json, path)) {
    return EXIT_INPUT;
  }
  json_begin(&json, NULL, '{');
  json_text(&json, "scene", run->sim.path);
  json_text(&json, "motion", run->motion.path);
  json_int(&json, "steps", run->steps);
  json_int(&json, "infeasible_steps", run->infeasible);
  json_int(&json, "slip_steps", run->slipping);
  json_real(&json, "deviation_max", run->deviation);
  json_begin(&json, "residual", '{');
  json_real(&json, "prim", run->residual.prim);
  json_real(&json, "dual", run->residual.dual);
  json_real(&json, "comp", run->residual.comp);
  json_real(&json, "nat", run->residual.nat);
  json_end(&json, '}');
  for (int pass = 0; pass < 2; ++pass) {
    const double* most = pass ? run->missing_max : run->tau_max;
    json_begin(&json, pass ? "missing_max" : "tau_max", '{');
    for (int i = 0; i < nv; ++i) {
      if (most[i] > 0) {
        json_real(&json, tribo_recorder_column(run->names, 1 + nq + i) + 2, most[i]);
      }
    }
    json_end(&json, '}');
  }
  json_text(&json, "status", code == EXIT_WELL ? "done" : "incomplete");
  json_end(&json, '}');
  return json_close(&json, path) ? code : EXIT_INPUT;
}

// Every joint that does not float is driven, unless it is named.
static int choose_driven(const Args* args, Run* run) {
  const TriboModel* model = run->sim.model;
  const char* word = cli_value(args, "--passive");
  const TriboModelSize size = tribo_model_size(model);
  run->driven = calloc((size_t)size.nv + 1, 1);
  if (run->driven == NULL) {
    return EXIT_INTERNAL;
  }
  for (int j = 0; j < size.njoint; ++j) {
    const TriboJointInfo* joint = tribo_model_joint(model, j);
    memset(run->driven + joint->v_at, strcmp(joint->kind, "free") != 0, (size_t)joint->nv);
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
    memset(run->driven + joint->v_at, 0, (size_t)joint->nv);
    word += length + (word[length] == ',');
  }
  run->options.driven = run->driven;
  return EXIT_WELL;
}

static int work(const Args* args, Run* run) {
  const char *out = cli_value(args, "--out"), *json = cli_value(args, "--json");
  const int quiet = cli_value(args, "--quiet") != NULL;
  double dt = 0;
  run->options = tribo_inverse_default();
  run->options.drives = cli_value(args, "--drives") != NULL;
  run->options.nearest = cli_value(args, "--nearest") != NULL;
  run->depth = 1e-3;
  if (!cli_number(args, "--slow", 0, 1, &run->options.tol) || !cli_number(args, "--depth", 0, 1e9, &run->depth)) {
    return EXIT_INPUT;
  }
  int code = open_motion(args, run, &dt);
  code = code == EXIT_WELL ? choose_driven(args, run) : code;
  if (code != EXIT_WELL) {
    return code;
  }
  const size_t nv = (size_t)tribo_model_size(run->sim.model).nv;
  run->tau_max = calloc(nv + 1, sizeof *run->tau_max);
  run->missing_max = calloc(nv + 1, sizeof *run->missing_max);
  if (run->tau_max == NULL || run->missing_max == NULL) {
    return EXIT_INTERNAL;
  }
  run->out = out != NULL ? fopen(out, "w") : NULL;
  if (out != NULL && run->out == NULL) {
    return cli_wrong("%s: cannot be written: %s", out, strerror(errno));
  }
  if (run->out != NULL) {
    write_header(run);
  }
  code = go_through(run, dt, !quiet);
  if (run->out != NULL && (ferror(run->out) | fclose(run->out)) != 0) {
    code = cli_wrong("%s: cannot be written", out);
  }
  if (!quiet && (json == NULL || strcmp(json, "-") != 0)) {
    print_summary(run);
  }
  code = json != NULL ? write_json(run, json, code) : code;
  return code == EXIT_WELL && run->infeasible > 0 && cli_value(args, "--strict") != NULL ? EXIT_FAILED : code;
}

static int run_id(const Args* args) {
  Run run = {0};
  const int code = work(args, &run);
  if (run.motion.file != NULL) {
    fclose(run.motion.file);
  }
  if (run.names != NULL && tribo_recorder_close(run.names) != TRIBO_OK) {
    cli_complain(TRIBO_IO);
  }
  free(run.motion.text);
  free(run.motion.slot);
  free(run.motion.now);
  free(run.motion.next);
  free(run.tau_max);
  free(run.missing_max);
  free(run.driven);
  simulation_close(&run.sim);
  return code;
}

const Command command_id = {
    "id", "SCENE --motion FILE [flags]", "torques and contact forces of a recorded motion", flags, 1, 1, run_id};
