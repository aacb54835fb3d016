// `tribo bench scenes PATH…`: what a step costs, stage by stage, and how accurate the run is; with --peers MuJoCo on
// the same bodies, in the same run. Every scene runs several times; of each step the fastest run counts, and the mean
// over the steps is told. Where a scene has to come to rest first, Tribo takes it there and every
// engine sets out from that state.
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_scenes.h"
#include "json.h"
#include "paths.h"
#include "simulate.h"
#include "svg.h"
#include "stopwatch.h"

enum { MOST_SCENES = 256 };

typedef struct Result {
  char* path;
  int steps;
  double time;                      // mean per step [s]
  double stage[TRIBO_STAGE_COUNT];  // of it
  double contacts, penetration, certified;
  Word words[MOST_WORDS];
  int nword;
  Peer peers[MOST_PEERS];
  int npeer;
} Result;

typedef struct Bench {
  const Args* args;
  Result results[MOST_SCENES];
  int count, repeats;
  double settle, steps;  // [s], 0: not at all; 0: as long as the scene lasts
  double from, to;       // the stretch of time that counts [s]
} Bench;

// ---- what there is to do

static int add_path(Bench* b, const char* folder, const char* name) {
  if (b->count == MOST_SCENES) {
    return cli_wrong("bench scenes: more than %d of them", MOST_SCENES);
  }
  char path[4096];
  snprintf(path, sizeof path, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
  b->results[b->count].path = strdup(path);
  return b->results[b->count++].path != NULL ? EXIT_WELL : EXIT_INTERNAL;
}

static int by_path(const void* a, const void* b) {
  return strcmp(((const Result*)a)->path, ((const Result*)b)->path);
}

// The scenes of a folder by name, or a file.
static int list(Bench* b, const char* path) {
  DIR* dir = opendir(path);
  if (dir == NULL) {
    return errno == ENOTDIR ? add_path(b, "", path) : cli_wrong("%s: cannot be read: %s", path, strerror(errno));
  }
  const int first = b->count;
  int code = EXIT_WELL;
  for (struct dirent* e; code == EXIT_WELL && (e = readdir(dir)) != NULL;) {
    if (path_ends_in(e->d_name, ".yaml") || path_ends_in(e->d_name, ".xml")) {
      code = add_path(b, path, e->d_name);
    }
  }
  closedir(dir);
  qsort(b->results + first, (size_t)(b->count - first), sizeof *b->results, by_path);
  return code;
}

// ---- running

// One run of a scene: where it sets out from, and what is kept of it.
typedef struct Run {
  Simulation* sim;
  TriboState* start;
  Sample *first, *bodies;  // (nbody) at the start; scratch
  double* q;               // (nq) at the start
  double begin;            // [s]
  Ruler* ruler;
  double* costs;  // (steps × width) stages and whole of each step, where it was fastest
} Run;

enum { WIDTH = TRIBO_STAGE_COUNT + 1 };

// What a step has done: overlaps of its contacts, and the bodies under the ruler.
static TriboStatus measure_state(Run* run, Result* r) {
  const TriboContactView* contacts;
  int count;
  TriboStatus status = tribo_data_contacts(run->sim->model, run->sim->data, &contacts, &count);
  for (int k = 0; status == TRIBO_OK && k < count; ++k) {
    r->penetration = fmax(r->penetration, -contacts[k].gap);
  }
  status = status == TRIBO_OK ? ruler_sample(run->sim->model, run->sim->data, run->bodies) : status;
  if (status == TRIBO_OK) {
    ruler_add(run->ruler, tribo_data_time(run->sim->data), run->bodies);
  }
  return status;
}

// All steps once more, from the start.
static TriboStatus run_once(Run* run, Result* r, int first) {
  const TriboModel* model = run->sim->model;
  TriboData* data = run->sim->data;
  r->contacts = r->certified = 0;
  TriboStatus status = tribo_state_restore(model, data, run->start);
  for (int i = 0; status == TRIBO_OK && i < r->steps; ++i) {
    TriboStepInfo info;
    const Clock begin = start_clock();
    status = tribo_step(model, data, &info);
    const double time = stop_clock(begin);
    double* costs = run->costs + (size_t)i * WIDTH;
    // the fastest run counts with its own stages, so that they add up
    if (first || time < costs[WIDTH - 1]) {
      for (int s = 0; s < TRIBO_STAGE_COUNT; ++s) {
        // stages are told by the wall's clock: without what others did meanwhile
        costs[s] = info.stage[s] * fmin(1, time / info.time);
      }
    }
    costs[WIDTH - 1] = first ? time : fmin(costs[WIDTH - 1], time);
    r->contacts += info.contacts;
    r->certified += info.certified;
    if (first && status == TRIBO_OK) {
      status = measure_state(run, r);
    }
  }
  return status;
}

// Our own runs of a scene; each step counts with its fastest.
static int run_own(const Bench* b, Result* r, Run* run) {
  const double dt = tribo_model_world(run->sim->model)->dt;
  TriboStatus status = TRIBO_OK;
  ruler_add(run->ruler, run->begin, run->first);
  for (int i = 0; status == TRIBO_OK && i < b->repeats; ++i) {
    status = run_once(run, r, i == 0);
  }
  if (status != TRIBO_OK) {
    return cli_complain(status);
  }
  int counted = 0;
  for (int i = 0; i < r->steps; ++i) {
    const double end = run->begin + (i + 1) * dt, *costs = run->costs + (size_t)i * WIDTH;
    if (end > b->from - 1e-9 && end < b->to + 1e-9) {
      for (int s = 0; s < WIDTH; ++s) {
        *(s < TRIBO_STAGE_COUNT ? &r->stage[s] : &r->time) += costs[s];
      }
      counted++;
    }
  }
  if (counted == 0) {
    return cli_wrong("%s: no step ends within --window", r->path);
  }
  for (int s = 0; s < WIDTH; ++s) {
    *(s < TRIBO_STAGE_COUNT ? &r->stage[s] : &r->time) /= counted;
  }
  r->contacts /= r->steps;
  r->certified /= r->steps;
  r->nword = ruler_words(run->ruler, r->words);
  return EXIT_WELL;
}

// To where the measurement begins: the scene's own start, a saved state, or where it has come to rest.
static int set_out(const Bench* b, Run* run) {
  Simulation* sim = run->sim;
  int code = simulation_load(sim, cli_value(b->args, "--load"));
  const long long settle = llround(b->settle / tribo_model_world(sim->model)->dt);
  if (code == EXIT_WELL && settle > 0) {
    const long long steps = sim->steps;
    sim->steps = settle;
    code = simulation_run(sim, cli_value(b->args, "--quiet") == NULL);
    code = code == EXIT_WELL && sim->totals.interrupted ? EXIT_INTERRUPTED : code;
    sim->steps = steps;
  }
  if (code != EXIT_WELL) {
    return code;
  }
  TriboStatus status = tribo_state_create(&run->start);
  status = status == TRIBO_OK ? tribo_state_save(sim->model, sim->data, run->start) : status;
  status = status == TRIBO_OK ? ruler_sample(sim->model, sim->data, run->first) : status;
  TriboView q;
  status = status == TRIBO_OK ? tribo_data_view(sim->model, sim->data, TRIBO_FIELD_Q, &q) : status;
  if (status == TRIBO_OK) {
    memcpy(run->q, q.values, (size_t)tribo_model_size(sim->model).nq * sizeof *run->q);
  }
  run->begin = tribo_data_time(sim->data);
  return status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
}

// A scene by us and by the peers that are there, with the accuracy of each.
static int measure(const Bench* b, Result* r, Run* run) {
  const TriboModel* model = run->sim->model;
  const size_t nbody = (size_t)tribo_model_size(model).nbody + 1;
  run->first = calloc(2 * nbody, sizeof *run->first);
  run->bodies = run->first + nbody;
  run->q = calloc((size_t)tribo_model_size(model).nq + 1, sizeof *run->q);
  if (run->first == NULL || run->q == NULL) {
    return EXIT_INTERNAL;
  }
  int code = set_out(b, run);
  r->steps = (int)(b->steps > 0 ? b->steps : (double)run->sim->steps);
  if (code != EXIT_WELL) {
    return code;
  }
  run->costs = calloc((size_t)r->steps * WIDTH, sizeof *run->costs);
  run->ruler = ruler_create(model, run->begin, run->begin + r->steps * tribo_model_world(model)->dt);
  if (run->costs == NULL || run->ruler == NULL) {
    return EXIT_INTERNAL;
  }
  code = run_own(b, r, run);
  const PeerRun peer = {.path = r->path,
                        .start = run->first,
                        .q = run->q,
                        .begin = run->begin,
                        .steps = r->steps,
                        .repeats = b->repeats,
                        .from = b->from,
                        .to = b->to};
  if (code == EXIT_WELL && cli_value(b->args, "--peers") != NULL && peer_knows(model, &peer)) {
    code = peer_run(model, &peer, r->peers, &r->npeer);
  }
  return code;
}

static int run_scene(const Bench* b, Result* r) {
  Simulation sim;
  Run run = {.sim = &sim};
  int code = simulation_open(b->args, r->path, &sim);
  code = code == EXIT_WELL ? measure(b, r, &run) : code;
  tribo_state_destroy(run.start);
  free(run.first);
  free(run.q);
  free(run.costs);
  ruler_free(run.ruler);
  simulation_close(&sim);
  return code;
}

// ---- results

static const char* short_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static void print_words(const Word* words, int count) {
  printf(count > 0 ? "   " : "");
  for (int i = 0; i < count; ++i) {
    printf(" %s %.3g%s", words[i].name, words[i].value, i + 1 < count ? "," : "\n");
  }
}

static void print_results(const Bench* b) {
  printf("%-22s %6s %9s", "µs per step", "steps", "all");
  for (int s = 0; s < TRIBO_STAGE_COUNT; ++s) {
    printf(" %9s", tribo_stage_name(s));
  }
  printf(" %9s %9s %10s\n", "contacts", "deepest", "certified");
  for (int i = 0; i < b->count; ++i) {
    const Result* r = &b->results[i];
    printf("%-21.21s %6d %9.2f", short_name(r->path), r->steps, 1e6 * r->time);
    for (int s = 0; s < TRIBO_STAGE_COUNT; ++s) {
      printf(" %9.2f", 1e6 * r->stage[s]);
    }
    printf(" %9.1f %6.3f mm %8.3f %%\n", r->contacts, 1e3 * r->penetration, 100 * r->certified);
    print_words(r->words, r->nword);
    for (int k = 0; k < r->npeer; ++k) {
      const Peer* p = &r->peers[k];
      printf("  mujoco:%-12s %6s %9.2f  Tribo takes %.2f times that%*s %9.1f %6.3f mm\n", p->name, "", 1e6 * p->time,
             r->time / p->time, 62, "", p->contacts, 1e3 * p->penetration);
      print_words(p->words, p->nword);
    }
  }
}

// A line per scene and engine.
static int write_csv(const Bench* b, const char* path) {
  FILE* f = fopen(path, "w");
  if (f == NULL) {
    return cli_wrong("%s: cannot be written: %s", path, strerror(errno));
  }
  fputs("scene,engine,steps,us", f);
  for (int s = 0; s < TRIBO_STAGE_COUNT; ++s) {
    fprintf(f, ",%s_us", tribo_stage_name(s));
  }
  fputs(",contacts,penetration_m,certified\n", f);
  for (int i = 0; i < b->count; ++i) {
    const Result* r = &b->results[i];
    fprintf(f, "%s,tribo,%d,%.6g", r->path, r->steps, 1e6 * r->time);
    for (int s = 0; s < TRIBO_STAGE_COUNT; ++s) {
      fprintf(f, ",%.6g", 1e6 * r->stage[s]);
    }
    fprintf(f, ",%.6g,%.6g,%.6g\n", r->contacts, r->penetration, r->certified);
    for (int k = 0; k < r->npeer; ++k) {
      const Peer* p = &r->peers[k];
      fprintf(f, "%s,mujoco:%s,%d,%.6g", r->path, p->name, r->steps, 1e6 * p->time);
      for (int s = 0; s < TRIBO_STAGE_COUNT; ++s) {
        fputc(',', f);
      }
      fprintf(f, ",%.6g,%.6g,\n", p->contacts, p->penetration);
    }
  }
  return cli_close(f, path);
}

// An object per scene and engine.
static int write_json(const Bench* b, const char* path) {
  Json json;
  if (!json_open(&json, path)) {
    return EXIT_INPUT;
  }
  json_begin(&json, NULL, '[');
  for (int i = 0; i < b->count; ++i) {
    const Result* r = &b->results[i];
    for (int k = -1; k < r->npeer; ++k) {
      const Peer* p = k < 0 ? NULL : &r->peers[k];
      json_begin(&json, NULL, '{');
      json_text(&json, "work", r->path);
      json_text(&json, "engine", p != NULL ? "mujoco" : "tribo");
      json_text(&json, "settings", p != NULL ? p->name : tribo_version());
      json_real(&json, "us", 1e6 * (p != NULL ? p->time : r->time));
      json_real(&json, "ratio", p != NULL ? p->time / r->time : 1);
      json_begin(&json, "accuracy", '{');
      json_real(&json, "penetration", p != NULL ? p->penetration : r->penetration);
      for (int w = 0; w < (p != NULL ? p->nword : r->nword); ++w) {
        const Word* word = p != NULL ? &p->words[w] : &r->words[w];
        json_real(&json, word->name, word->value);
      }
      json_end(&json, '}');
      json_real(&json, "contacts", p != NULL ? p->contacts : r->contacts);
      if (p == NULL) {
        for (int s = 0; s < TRIBO_STAGE_COUNT; ++s) {
          json_real(&json, tribo_stage_name(s), 1e6 * r->stage[s]);
        }
      }
      json_end(&json, '}');
    }
  }
  json_end(&json, ']');
  return json_close(&json, path) ? EXIT_WELL : EXIT_INPUT;
}

// Cost by stage, summed up, over the scenes as they are numbered in the table.
static int write_svg(const Bench* b, const char* path) {
  const size_t n = (size_t)b->count;
  double* memory = calloc((TRIBO_STAGE_COUNT + 1) * n, sizeof *memory);
  if (memory == NULL) {
    return EXIT_INTERNAL;
  }
  SvgCurve curves[TRIBO_STAGE_COUNT];
  double* x = memory + TRIBO_STAGE_COUNT * n;
  for (int s = 0; s < TRIBO_STAGE_COUNT; ++s) {
    double* y = memory + (size_t)s * n;
    for (int i = 0; i < b->count; ++i) {
      x[i] = i + 1;
      y[i] = 1e6 * b->results[i].stage[s] + (s > 0 ? y[i - b->count] : 0);
    }
    curves[s] = (SvgCurve){tribo_stage_name(s), x, y, b->count};
  }
  const SvgPanel panel = {.title = "a step, stage upon stage",
                          .x_label = "scene",
                          .y_label = "µs",
                          .log_y = 1,
                          .curves = curves,
                          .count = TRIBO_STAGE_COUNT,
                          .wide = 1};
  const int good = svg_write(path, &panel, 1);
  free(memory);
  return good ? EXIT_WELL : cli_wrong("%s: cannot be written: %s", path, strerror(errno));
}

static int report(const Bench* b) {
  const char *csv = cli_value(b->args, "--csv"), *svg = cli_value(b->args, "--svg"),
             *json = cli_value(b->args, "--json");
  if (cli_value(b->args, "--quiet") == NULL && (json == NULL || strcmp(json, "-") != 0)) {
    print_results(b);
  }
  int code = csv != NULL ? write_csv(b, csv) : EXIT_WELL;
  code = code == EXIT_WELL && svg != NULL ? write_svg(b, svg) : code;
  return code == EXIT_WELL && json != NULL ? write_json(b, json) : code;
}

int bench_scenes(const Args* args) {
  Bench* b = calloc(1, sizeof *b);
  double repeats = 5;
  if (b == NULL) {
    return EXIT_INTERNAL;
  }
  b->args = args;
  b->from = 0;
  b->to = 1e15;
  const char* window = cli_value(args, "--window");
  char rest;
  int code = cli_number(args, "--repeats", 1, 1000, &repeats) && cli_number(args, "--settle", 0, 1e9, &b->settle) &&
                     cli_number(args, "--steps", 1, 1e9, &b->steps)
                 ? EXIT_WELL
                 : EXIT_INPUT;
  if (code == EXIT_WELL && window != NULL &&
      (sscanf(window, "%lf:%lf%c", &b->from, &b->to, &rest) != 2 || !(b->from < b->to))) {
    code = cli_wrong("--window %s: from:to in seconds is accepted, as in 0.5:1.5", window);
  }
  b->repeats = (int)repeats;
  for (int i = 1; i < args->npositional && code == EXIT_WELL; ++i) {
    code = list(b, args->positional[i]);
  }
  for (int i = 0; i < b->count && code == EXIT_WELL; ++i) {
    code = run_scene(b, &b->results[i]);
  }
  code = code == EXIT_WELL ? report(b) : code;
  for (int i = 0; i < b->count; ++i) {
    free(b->results[i].path);
  }
  free(b);
  return code;
}
