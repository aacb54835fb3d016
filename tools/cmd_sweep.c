// `tribo sweep`: many runs of one scene over ranges of settings and over seeds, on all cores, into one table.
//
// A row is one run with a scene, a model and data of its own; nothing is shared, so that its bits do not depend on
// which rows run beside it. The table holds only what the run itself says, no times of the machine.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"

static const Flag flags[] = {
    {"--vary", "KEY=A..B:N", "N values of a setting from A to B, as --set names it; may be repeated: all combinations"},
    {"--seeds", "N", "runs with 0 … N−1 added to the seeds of the scene"},
    {"--out", "DIR", "where results.csv goes; made when it is not there"},
    {"--only", "ROW", "run one row alone"},
    {"--threads", "N", "rows at a time; as many as there are cores unless given"},
    {"--duration", "S", "simulated seconds, instead of the scene's"},
    {"--set", "KEY=VALUE", "any world setting, solver.KEY or material.NAME.KEY, in all rows; may be repeated"},
    {"--quiet", NULL, "no text for people"},
    {0},
};

enum { MOST_ROWS = 1000000, DEFAULT_VALUES = 5 };

typedef struct Vary {
  char key[80];
  double from, to;
  int count;
} Vary;

// What a run says at its end: the columns behind the settings.
#define QUANTITIES(X) X(energy) X(speed_max) X(speed_rms) X(height_min)

typedef struct Row {
  TriboStatus status;
  char error[256];
  int done;
  long long steps, certified;
  double time, nat, penetration, contacts;
#define X(name) double name;
  QUANTITIES(X)
#undef X
  int held, expected;
  uint64_t hash;
} Row;

typedef struct Sweep {
  const Args* args;
  const char* path;
  Vary vary[MOST_VARIES];
  int nvary, seeds, count, only;
  Row* rows;
  atomic_int next, finished;
} Sweep;

// ---- what is to be run

// A number that takes all of the text up to `end`.
static int parse_number(const char* text, const char* end, double* out) {
  char copy[64], *stop;
  if (end <= text || end - text >= (long)sizeof copy) {
    return 0;
  }
  snprintf(copy, sizeof copy, "%.*s", (int)(end - text), text);
  *out = strtod(copy, &stop);
  return *stop == '\0' && isfinite(*out);
}

// KEY=A, KEY=A..B or KEY=A..B:N
static int parse_vary(const char* text, Vary* vary) {
  const char* equals = strchr(text, '=');
  if (equals == NULL || equals == text || (size_t)(equals - text) >= sizeof vary->key) {
    return 0;
  }
  snprintf(vary->key, sizeof vary->key, "%.*s", (int)(equals - text), text);
  const char *first = equals + 1, *dots = strstr(first, ".."), *colon = strchr(first, ':');
  const char* end = colon != NULL ? colon : text + strlen(text);
  double count = dots != NULL ? DEFAULT_VALUES : 1;
  if (colon != NULL && (dots == NULL || !parse_number(colon + 1, text + strlen(text), &count))) {
    return 0;
  }
  vary->count = count >= 1 && count <= MOST_ROWS ? (int)count : 0;
  if (dots == NULL) {
    return parse_number(first, end, &vary->from) && parse_number(first, end, &vary->to);
  }
  return vary->count == count && parse_number(first, dots, &vary->from) && parse_number(dots + 2, end, &vary->to);
}

static double vary_value(const Vary* vary, int k) {
  return k == 0                 ? vary->from
         : k == vary->count - 1 ? vary->to
                                : vary->from + (vary->to - vary->from) * k / (vary->count - 1);
}

// Row → values: the last setting changes fastest, seeds faster still.
static int row_values(const Sweep* sweep, int row, double values[MOST_VARIES]) {
  const int seed = row % sweep->seeds;
  row /= sweep->seeds;
  for (int i = sweep->nvary - 1; i >= 0; --i) {
    values[i] = vary_value(&sweep->vary[i], row % sweep->vary[i].count);
    row /= sweep->vary[i].count;
  }
  return seed;
}

// What is varied, how often, and so the number of rows.
static int plan(const Args* args, Sweep* sweep) {
  double seeds = 1, only = -1;
  *sweep = (Sweep){.args = args, .path = args->positional[0], .count = 1};
  for (int i = 0; i < args->nvary; ++i) {
    if (!parse_vary(args->varies[i], &sweep->vary[i])) {
      return cli_wrong("--vary %s: accepted is KEY=A..B:N, N from 1 to %d, or KEY=A", args->varies[i], MOST_ROWS);
    }
  }
  sweep->nvary = args->nvary;
  if (!cli_number(args, "--seeds", 1, MOST_ROWS, &seeds)) {
    return EXIT_INPUT;
  }
  sweep->seeds = (int)seeds;
  double count = sweep->seeds;
  for (int i = 0; i < sweep->nvary; ++i) {
    count *= sweep->vary[i].count;
  }
  if (count > MOST_ROWS) {
    return cli_wrong("sweep: %.0f rows; accepted are up to %d", count, MOST_ROWS);
  }
  sweep->count = (int)count;
  if (!cli_number(args, "--only", 0, sweep->count - 1, &only)) {
    return EXIT_INPUT;
  }
  sweep->only = (int)only;
  if (cli_value(args, "--out") == NULL) {
    return cli_wrong("sweep needs --out DIR");
  }
  return EXIT_WELL;
}

// ---- one row

static TriboStatus make_scene(const Sweep* sweep, int index, TriboScene** scene) {
  double values[MOST_VARIES];
  const int seed = row_values(sweep, index, values);
  TriboStatus status = tribo_scene_load_seed(sweep->path, NULL, seed, scene);
  double duration = 0;
  if (status == TRIBO_OK && cli_value(sweep->args, "--duration") != NULL) {
    status = cli_number(sweep->args, "--duration", 1e-12, 1e9, &duration)
                 ? tribo_scene_set(*scene, "duration", duration)
                 : TRIBO_INVALID;
  }
  for (int i = 0; i < sweep->args->nset && status == TRIBO_OK; ++i) {
    char key[80];
    double value;
    status = cli_set(sweep->args, i, key, sizeof key, &value) ? tribo_scene_set(*scene, key, value) : TRIBO_INVALID;
  }
  for (int i = 0; i < sweep->nvary && status == TRIBO_OK; ++i) {
    status = tribo_scene_set(*scene, sweep->vary[i].key, values[i]);
  }
  return status;
}

static TriboStatus final_values(const TriboModel* model, TriboData* data, Row* row) {
  TriboQuantity what;
  TriboStatus status;
#define X(name)                                                                               \
  status = tribo_quantity_find(model, #name, NULL, &what);                                    \
  status = status == TRIBO_OK ? tribo_quantity_value(model, data, what, &row->name) : status; \
  if (status != TRIBO_OK) {                                                                   \
    return status;                                                                            \
  }
  QUANTITIES(X)
#undef X
  row->time = tribo_data_time(data);
  row->hash = tribo_data_hash(model, data);
  return TRIBO_OK;
}

static TriboStatus judge_row(const TriboJudge* judge, Row* row) {
  row->expected = tribo_judge_count(judge);
  for (int i = 0; i < row->expected; ++i) {
    TriboVerdict verdict;
    TriboStatus status = tribo_judge_verdict(judge, i, &verdict);
    if (status != TRIBO_OK) {
      return status;
    }
    row->held += verdict.held;
  }
  return TRIBO_OK;
}

static TriboStatus simulate(const TriboModel* model, TriboData* data, TriboJudge* judge, Row* row) {
  const TriboWorldDef* world = tribo_model_world(model);
  const long long steps = llround(world->duration / world->dt);
  TriboStatus status = tribo_judge_observe(judge, data);
  while (status == TRIBO_OK && row->steps < steps && !interrupt_seen()) {
    TriboStepInfo info;
    status = tribo_step(model, data, &info);
    if (status == TRIBO_OK) {
      row->steps++;
      row->certified += info.certified;
      row->nat = fmax(row->nat, info.residual.nat);
      row->penetration = fmax(row->penetration, info.penetration);
      row->contacts += info.contacts;
      status = tribo_judge_observe(judge, data);
    }
  }
  row->contacts /= fmax(1, (double)row->steps);
  status = status == TRIBO_OK ? final_values(model, data, row) : status;
  return status == TRIBO_OK ? judge_row(judge, row) : status;
}

static void run_row(const Sweep* sweep, int index, Row* row) {
  TriboScene* scene = NULL;
  TriboModel* model = NULL;
  TriboData* data = NULL;
  TriboJudge* judge = NULL;
  TriboStatus status = make_scene(sweep, index, &scene);
  status = status == TRIBO_OK ? tribo_model_create(scene, &model) : status;
  status = status == TRIBO_OK ? tribo_data_create(model, &data) : status;
  status = status == TRIBO_OK ? tribo_judge_create(model, &judge) : status;
  row->status = status == TRIBO_OK ? simulate(model, data, judge, row) : status;
  if (row->status != TRIBO_OK) {
    snprintf(row->error, sizeof row->error, "%s", tribo_last_error());
  }
  row->done = !interrupt_seen();
  tribo_judge_destroy(judge);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
}

// What is wrong with all rows is told before any of them runs.
static int try_first(const Sweep* sweep) {
  TriboScene* scene = NULL;
  TriboModel* model = NULL;
  TriboStatus status = make_scene(sweep, 0, &scene);
  status = status == TRIBO_OK ? tribo_model_create(scene, &model) : status;
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
  return status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
}

// ---- all rows

static void* work(void* context) {
  Sweep* sweep = context;
  for (int i; !interrupt_seen() && (i = atomic_fetch_add(&sweep->next, 1)) < sweep->count;) {
    if (sweep->only < 0 || sweep->only == i) {
      run_row(sweep, i, &sweep->rows[i]);
    }
    atomic_fetch_add(&sweep->finished, 1);
  }
  return NULL;
}

static void draw(const Sweep* sweep, int done) {
  enum { WIDTH = 30 };
  const int full = (int)((double)WIDTH * done / sweep->count);
  fprintf(stderr, "\r[%.*s%*s] %d of %d rows ", full, "##############################", WIDTH - full, "", done,
          sweep->count);
  fflush(stderr);
}

// All rows on so many threads, with a progress bar, until Ctrl-C.
static int run_all(Sweep* sweep, int workers, int progress) {
  pthread_t* threads = calloc((size_t)workers, sizeof *threads);
  int started = 0;
  if (threads == NULL) {
    return EXIT_INTERNAL;
  }
  interrupt_watch();
  while (started < workers && pthread_create(&threads[started], NULL, work, sweep) == 0) {
    started++;
  }
  if (started == 0) {
    work(sweep);
  }
  if (progress) {
    for (int done; !interrupt_seen() && (done = atomic_load(&sweep->finished)) < sweep->count;) {
      draw(sweep, done);
      nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
  }
  for (int i = 0; i < started; ++i) {
    pthread_join(threads[i], NULL);
  }
  if (progress) {
    fputs("\r\033[K", stderr);
  }
  interrupt_unwatch();
  free(threads);
  return EXIT_WELL;
}

// ---- the table

static void write_row(FILE* file, const Sweep* sweep, int index) {
  const Row* r = &sweep->rows[index];
  double values[MOST_VARIES];
  const int seed = row_values(sweep, index, values);
  fprintf(file, "%d", index);
  for (int i = 0; i < sweep->nvary; ++i) {
    fprintf(file, ",%.17g", values[i]);
  }
  fprintf(file, ",%d,%s,%lld,%lld,%.17g,%.17g,%.17g,%.17g", seed, tribo_status_name(r->status), r->steps, r->certified,
          r->time, r->nat, r->penetration, r->contacts);
#define X(name) fprintf(file, ",%.17g", r->name);
  QUANTITIES(X)
#undef X
  fprintf(file, ",%d,%d,%016" PRIx64 "\n", r->held, r->expected, r->hash);
}

// results.csv: a line per row that was done.
static int write_table(const Sweep* sweep, const char* folder) {
  char path[4096];
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return cli_wrong("%s: %s", folder, strerror(errno));
  }
  snprintf(path, sizeof path, "%s/results.csv", folder);
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    return cli_wrong("%s: %s", path, strerror(errno));
  }
  fputs("row", file);
  for (int i = 0; i < sweep->nvary; ++i) {
    fprintf(file, ",%s", sweep->vary[i].key);
  }
  fputs(",seed,status,steps,certified_steps,time,nat,penetration,contacts", file);
#define X(name) fputs("," #name, file);
  QUANTITIES(X)
#undef X
  fputs(",held,expected,state_hash\n", file);
  for (int i = 0; i < sweep->count; ++i) {
    if (sweep->rows[i].done) {
      write_row(file, sweep, i);
    }
  }
  return fclose(file) == 0 ? EXIT_WELL : cli_wrong("%s: %s", path, strerror(errno));
}

// Tells of what went wrong, once for each sentence that follows another.
static int tell(const Sweep* sweep, int quiet) {
  int done = 0, failed = 0, broken = 0;
  const char* last = "";
  for (int i = 0; i < sweep->count; ++i) {
    const Row* r = &sweep->rows[i];
    done += r->done;
    failed += r->done && r->status != TRIBO_OK;
    broken += r->done && r->status == TRIBO_OK && r->held < r->expected;
    if (r->status != TRIBO_OK && strcmp(last, r->error) != 0) {
      cli_wrong("row %d: %s", i, r->error);
      last = r->error;
    }
  }
  if (!quiet) {
    printf("%d of %d rows, %d failed, %d with expectations that do not hold: %s/results.csv\n", done, sweep->count,
           failed, broken, cli_value(sweep->args, "--out"));
  }
  return interrupt_seen() ? EXIT_INTERRUPTED : failed > 0 ? EXIT_FAILED : EXIT_WELL;
}

static int run(const Args* args) {
  Sweep sweep;
  const int quiet = cli_value(args, "--quiet") != NULL;
  int code = plan(args, &sweep);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  double workers = cores > 0 ? (double)cores : 1;
  if (code != EXIT_WELL || !cli_number(args, "--threads", 1, 256, &workers)) {
    return EXIT_INPUT;
  }
  if ((code = try_first(&sweep)) != EXIT_WELL) {
    return code;
  }
  sweep.rows = calloc((size_t)sweep.count, sizeof *sweep.rows);
  if (sweep.rows == NULL) {
    return EXIT_INTERNAL;
  }
  code = run_all(&sweep, (int)fmin(workers, sweep.count), !quiet && isatty(STDERR_FILENO));
  code = code == EXIT_WELL ? write_table(&sweep, cli_value(args, "--out")) : code;
  code = code == EXIT_WELL ? tell(&sweep, quiet) : code;
  free(sweep.rows);
  return code;
}

const Command command_sweep = {"sweep",
                               "SCENE --vary KEY=A..B:N --out DIR [flags]",
                               "many runs over ranges of settings and seeds, into one table",
                               flags,
                               1,
                               1,
                               run};
