// `tribo bench scenes PATH…`: what a step costs, stage by stage; with --peers MuJoCo on the same model files, in the
// same run. Every scene runs several times; of each step the fastest run counts, and the mean over the steps is told.
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_scenes.h"
#include "json.h"
#include "simulate.h"
#include "svg.h"

enum { MOST_SCENES = 256, MOST_PEERS = 4 };

typedef struct Peer {
  char name[24];
  double time, contacts, penetration;
} Peer;

typedef struct Result {
  char* path;
  int steps;
  double time, stage[TRIBO_STAGE_COUNT];  // mean per step [s]
  double contacts, penetration, certified;
  Peer peers[MOST_PEERS];
  int npeer;
} Result;

typedef struct Bench {
  const Args* args;
  Result results[MOST_SCENES];
  int count, repeats;
} Bench;

// ---- what there is to do

static int ends_in(const char* path, const char* ending) {
  const size_t n = strlen(path), k = strlen(ending);
  return n > k && strcmp(path + n - k, ending) == 0;
}

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
    if (ends_in(e->d_name, ".yaml") || ends_in(e->d_name, ".xml")) {
      code = add_path(b, path, e->d_name);
    }
  }
  closedir(dir);
  qsort(b->results + first, (size_t)(b->count - first), sizeof *b->results, by_path);
  return code;
}

// ---- running

// All steps once more; costs keeps the least of each step and stage.
static TriboStatus run_once(Simulation* sim, Result* r, int first, double* costs) {
  const int width = TRIBO_STAGE_COUNT + 1;
  r->contacts = r->certified = 0;
  tribo_data_reset(sim->model, sim->data);
  for (int i = 0; i < r->steps; ++i) {
    TriboStepInfo info;
    TriboStatus status = tribo_step(sim->model, sim->data, &info);
    if (status != TRIBO_OK) {
      return status;
    }
    double* cost = costs + (size_t)i * (size_t)width;
    for (int s = 0; s < width; ++s) {
      const double time = s < TRIBO_STAGE_COUNT ? info.stage[s] : info.time;
      cost[s] = first ? time : fmin(cost[s], time);
    }
    r->contacts += info.contacts;
    r->certified += info.certified;
    const TriboContactView* contacts;
    int count;
    if (first && (status = tribo_data_contacts(sim->model, sim->data, &contacts, &count)) != TRIBO_OK) {
      return status;
    }
    for (int k = 0; first && k < count; ++k) {
      r->penetration = fmax(r->penetration, -contacts[k].gap);
    }
  }
  return TRIBO_OK;
}

static int run_own(Bench* b, Result* r, Simulation* sim) {
  const int width = TRIBO_STAGE_COUNT + 1;
  double* costs = malloc((size_t)r->steps * (size_t)width * sizeof *costs);
  TriboStatus status = TRIBO_OK;
  for (int i = 0; costs != NULL && status == TRIBO_OK && i < b->repeats; ++i) {
    status = run_once(sim, r, i == 0, costs);
  }
  for (int i = 0; costs != NULL && status == TRIBO_OK && i < r->steps * width; ++i) {
    const int s = i % width;
    *(s < TRIBO_STAGE_COUNT ? &r->stage[s] : &r->time) += costs[i] / r->steps;
  }
  r->contacts /= r->steps;
  r->certified /= r->steps;
  free(costs);
  return status != TRIBO_OK ? cli_complain(status) : costs != NULL ? EXIT_WELL : EXIT_INTERNAL;
}

// Where Tribo has put the ground of a robot without a world.
static double ground_height(const TriboModel* model) {
  for (int i = 0; i < tribo_model_size(model).nshape; ++i) {
    const TriboShapeInfo* shape = tribo_model_shape(model, i);
    if (shape->body == TRIBO_WORLD && shape->kind == TRIBO_SHAPE_HALFSPACE) {
      return shape->position[2];
    }
  }
  return 0;
}

// The program beside this one.
static int run_peer(Bench* b, Result* r, const TriboModel* model) {
  char self[3000], command[8192], line[256], ground[32] = "";
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = '\0';
  char* slash = strrchr(self, '/');
  if (slash == NULL || strchr(r->path, '\'') != NULL) {
    return cli_wrong("%s: a name the peer cannot be given", r->path);
  }
  snprintf(slash, sizeof self - (size_t)(slash - self), "/tribo-mujoco");
  if (access(self, X_OK) != 0) {
    return cli_wrong("--peers: %s is not there; run tools/setup --test, configure and build again", self);
  }
  if (ends_in(r->path, ".urdf")) {
    snprintf(ground, sizeof ground, "%.17g", ground_height(model));
  }
  snprintf(command, sizeof command, "'%s' '%s' %.17g %d %d %s", self, r->path, tribo_model_world(model)->dt, r->steps,
           b->repeats, ground);
  FILE* peer = popen(command, "r");
  if (peer == NULL) {
    return cli_wrong("--peers: %s cannot be started", self);
  }
  while (r->npeer < MOST_PEERS && fgets(line, sizeof line, peer) != NULL) {
    Peer* p = &r->peers[r->npeer];
    r->npeer += sscanf(line, "%23[^,],%lf,%lf,%lf", p->name, &p->time, &p->contacts, &p->penetration) == 4;
  }
  return pclose(peer) == 0 ? EXIT_WELL : cli_wrong("--peers: %s failed on %s", self, r->path);
}

static int run_scene(Bench* b, Result* r) {
  Simulation sim;
  int code = simulation_open(b->args, r->path, &sim);
  if (code == EXIT_WELL) {
    r->steps = (int)sim.steps;
    code = run_own(b, r, &sim);
  }
  const int shared = ends_in(r->path, ".xml") || ends_in(r->path, ".urdf");
  if (code == EXIT_WELL && shared && cli_value(b->args, "--peers") != NULL) {
    code = run_peer(b, r, sim.model);
  }
  simulation_close(&sim);
  return code;
}

// ---- results

static const char* short_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
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
    for (int k = 0; k < r->npeer; ++k) {
      const Peer* p = &r->peers[k];
      printf("  mujoco:%-12s %6s %9.2f  Tribo takes %.2f times that%*s %9.1f %6.3f mm\n", p->name, "", 1e6 * p->time,
             r->time / p->time, 62, "", p->contacts, 1e3 * p->penetration);
    }
  }
}

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
  const int bad = ferror(f);
  return fclose(f) == 0 && !bad ? EXIT_WELL : cli_wrong("%s: writing failed", path);
}

static void write_json(const Bench* b, Json* json) {
  json_begin(json, NULL, '[');
  for (int i = 0; i < b->count; ++i) {
    const Result* r = &b->results[i];
    for (int k = -1; k < r->npeer; ++k) {
      const Peer* p = k < 0 ? NULL : &r->peers[k];
      json_begin(json, NULL, '{');
      json_text(json, "work", r->path);
      json_text(json, "engine", p != NULL ? "mujoco" : "tribo");
      json_text(json, "settings", p != NULL ? p->name : tribo_version());
      json_real(json, "us", 1e6 * (p != NULL ? p->time : r->time));
      json_real(json, "ratio", p != NULL ? p->time / r->time : 1);
      json_begin(json, "accuracy", '{');
      json_real(json, "penetration", p != NULL ? p->penetration : r->penetration);
      json_end(json, '}');
      json_real(json, "contacts", p != NULL ? p->contacts : r->contacts);
      for (int s = 0; p == NULL && s < TRIBO_STAGE_COUNT; ++s) {
        json_real(json, tribo_stage_name(s), 1e6 * r->stage[s]);
      }
      json_end(json, '}');
    }
  }
  json_end(json, ']');
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
  if (code == EXIT_WELL && json != NULL) {
    Json writer;
    if (!json_open(&writer, json)) {
      return EXIT_INPUT;
    }
    write_json(b, &writer);
    code = json_close(&writer, json) ? EXIT_WELL : EXIT_INPUT;
  }
  return code;
}

int bench_scenes(const Args* args) {
  Bench* b = calloc(1, sizeof *b);
  double repeats = 3;
  if (b == NULL) {
    return EXIT_INTERNAL;
  }
  b->args = args;
  int code = cli_number(args, "--repeats", 1, 1000, &repeats) ? EXIT_WELL : EXIT_INPUT;
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
