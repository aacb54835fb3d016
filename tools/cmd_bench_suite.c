// `tribo bench suite`: every solver on problems that arise in simulations of mechanisms. The scene's own solver makes
// the steps; at samples spread over the run each solver gets the problem of a step, from nothing, and that of the next
// step, from its own answer.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_suite.h"
#include "grow.h"
#include "own_scenes.h"
#include "paths.h"
#include "plain_residuals.h"
#include "simulate.h"
#include "stopwatch.h"
#include "studio.h"

const double suite_tolerances[SUITE_TOLERANCES] = {1e-4, 1e-6, 1e-8};

typedef struct Bench {
  const Args* args;
  Suite suite;
  TriboSolver* solver[SUITE_MOST_SOLVERS];
  double* answer[SUITE_MOST_SOLVERS];  // (nrow) of the cold start, then σ
  char** paths;
  int npath, samples, quiet, has_pictures;
  int bar;        // 1: progress is shown
  double budget;  // [s] of one solve
  // of the scene that runs
  int taken;  // samples
  double mass_ratio;
  double *lambda, *sigma;
  TriboCone* cones;  // of the cold problem, by which rows of the next one are known
  int ncone, room, cone_room;
} Bench;

// ---- what there is to do

static int add_path(Bench* b, const char* folder, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s%s", folder, *folder != '\0' ? "/" : "", name);
  if (!GROW(&b->paths, b->npath) || (b->paths[b->npath] = strdup(path)) == NULL) {
    return EXIT_INTERNAL;
  }
  b->npath++;
  return EXIT_WELL;
}

// The scenes of a folder by name, or one scene.
static int add_scenes(Bench* b, const char* path) {
  struct dirent** entries;
  if (!is_folder(path)) {
    return add_path(b, "", path);
  }
  const int count = scandir(path, &entries, is_scene_entry, alphasort);
  int code = count >= 0 ? EXIT_WELL : cli_wrong("%s: cannot be read", path);
  for (int i = 0; i < count; ++i) {
    code = code == EXIT_WELL ? add_path(b, path, entries[i]->d_name) : code;
    free(entries[i]);
  }
  if (count >= 0) {
    free(entries);
  }
  return code;
}

// What is named, or the suite that comes with the program.
static int list_scenes(Bench* b) {
  const char* own = b->args->npositional == 1 ? own_scenes("suite") : NULL;
  int code = own != NULL ? add_scenes(b, own) : EXIT_WELL;
  for (int i = 1; i < b->args->npositional && code == EXIT_WELL; ++i) {
    code = add_scenes(b, b->args->positional[i]);
  }
  return code != EXIT_WELL || b->npath > 0 ? code
                                           : cli_wrong("bench suite: the scenes of the suite are not there; name them");
}

// Each solver is made once.
static int make_solvers(Bench* b) {
  Suite* s = &b->suite;
  const int code = cli_solvers(b->args, s->solvers, SUITE_MOST_SOLVERS, &s->nsolver);
  for (int i = 0; i < s->nsolver && code == EXIT_WELL; ++i) {
    TriboStatus status = tribo_solver_create(s->solvers[i], &b->solver[i]);
    status = status == TRIBO_OK ? tribo_solver_set(b->solver[i], "max_time", b->budget) : status;
    if (status != TRIBO_OK) {
      return cli_complain(status);
    }
  }
  return code;
}

// ---- one solve

// When a solve has reached each tolerance.
typedef struct Watch {
  Clock begin;
  double time_to[SUITE_TOLERANCES];
} Watch;

static void watch(int iteration, TriboRung rung, double nat, double natmap_unit, void* user) {
  (void)iteration, (void)rung, (void)nat;
  Watch* w = user;
  for (int i = 0; i < SUITE_TOLERANCES && natmap_unit <= suite_tolerances[i]; ++i) {
    w->time_to[i] = fmin(w->time_to[i], stop_clock(w->begin));
  }
}

// The least time of a few solves, and what they come to.
static TriboStatus solve(TriboSolver* solver, const TriboProblem* p, const TriboWarmStart* warm, double* lambda,
                         double* sigma, SuiteRun* run) {
  enum { REPEATS = 3 };
  static const double SHORT = 0.02;  // [s]
  TriboStatus status = TRIBO_OK;
  *run = (SuiteRun){.time = INFINITY, .time_to = {INFINITY, INFINITY, INFINITY}, .jump = NAN};
  for (int i = 0; i < REPEATS && status == TRIBO_OK && (i == 0 || run->time < SHORT); ++i) {
    TriboSolveStats stats;
    Watch w = {start_clock(), {INFINITY, INFINITY, INFINITY}};
    tribo_solver_set_history(solver, watch, &w);
    status = tribo_solver_solve(solver, p, warm, lambda, &stats);
    run->time = fmin(run->time, stop_clock(w.begin));
    run->iterations = stats.iterations;
    for (int k = 0; k < SUITE_TOLERANCES; ++k) {
      run->time_to[k] = fmin(run->time_to[k], w.time_to[k]);
    }
  }
  TriboResiduals r;
  status = status == TRIBO_OK ? tribo_problem_residuals(p, lambda, sigma, &r) : status;
  if (status == TRIBO_OK) {
    run->dual = r.dual, run->comp = r.comp, run->nat = r.nat, run->natmap_unit = r.natmap_unit;
    run->natmap_raw = plain_natmap(p, lambda, sigma);
    run->objective = plain_objective(p, lambda, sigma);
    for (int k = 0; k < SUITE_TOLERANCES; ++k) {
      // (what was noted on the way counts where the answer holds it)
      run->time_to[k] = !(r.natmap_unit <= suite_tolerances[k]) ? INFINITY : fmin(run->time_to[k], run->time);
    }
  }
  return status;
}

// ---- samples

static int make_room(Bench* b, const TriboProblem* p) {
  if (b->room < p->nrow) {
    b->room = 2 * p->nrow;
    for (int i = 0; i < b->suite.nsolver; ++i) {
      free(b->answer[i]);
      if ((b->answer[i] = calloc(2 * (size_t)b->room, sizeof **b->answer)) == NULL) {
        return 0;
      }
    }
    free(b->lambda);
    b->lambda = calloc(2 * (size_t)b->room, sizeof *b->lambda);
  }
  b->sigma = b->lambda != NULL ? b->lambda + b->room : NULL;
  if (b->cone_room < p->ncone) {
    b->cone_room = 2 * p->ncone;
    free(b->cones);
    b->cones = calloc((size_t)b->cone_room, sizeof *b->cones);
  }
  return b->lambda != NULL && b->cones != NULL;
}

// The problem of a step, from nothing.
static TriboStatus take_cold(Bench* b, Simulation* sim, const TriboProblem* p) {
  if (!GROW(&b->suite.samples, b->suite.nsample) || !make_room(b, p)) {
    return TRIBO_NOMEM;
  }
  SuiteSample* sample = &b->suite.samples[b->suite.nsample++];
  const SuiteRun none = {
      .natmap_unit = INFINITY, .time = INFINITY, .time_to = {INFINITY, INFINITY, INFINITY}, .jump = NAN};
  *sample = (SuiteSample){.system = b->suite.nsystem - 1, .step = sim->totals.steps};
  if (!suite_describe(p, b->suite.systems[sample->system].bodies, b->mass_ratio, &sample->problem)) {
    return TRIBO_NOMEM;
  }
  b->ncone = p->ncone;
  memcpy(b->cones, p->cones, (size_t)p->ncone * sizeof *b->cones);
  TriboStatus status = TRIBO_OK;
  for (int i = 0; i < b->suite.nsolver && status == TRIBO_OK; ++i) {
    sample->runs[SUITE_WARM][i] = none;
    status = solve(b->solver[i], p, NULL, b->answer[i], b->answer[i] + b->room, &sample->runs[SUITE_COLD][i]);
  }
  return status;
}

// Whether the rows of a problem are those of the one before, one by one.
static int has_same_rows(const Bench* b, const TriboProblem* p) {
  int same = p->ncone == b->ncone;
  for (int c = 0; same && c < p->ncone; ++c) {
    same = p->cones[c].kind == b->cones[c].kind && p->cones[c].dim == b->cones[c].dim;
  }
  return same;
}

// The problem of the next step, from each solver's own answer. One whose rows have come or gone has no such start.
static TriboStatus take_warm(Bench* b, const Simulation* sim, const TriboProblem* p) {
  SuiteSample* sample = &b->suite.samples[b->suite.nsample - 1];
  const double h = tribo_model_world(sim->model)->dt;
  TriboStatus status = TRIBO_OK;
  if (!has_same_rows(b, p)) {
    return TRIBO_OK;
  }
  for (int i = 0; i < b->suite.nsolver && status == TRIBO_OK; ++i) {
    const TriboWarmStart warm = {.lambda = b->answer[i], .sigma = b->answer[i] + b->room};
    SuiteRun* run = &sample->runs[SUITE_WARM][i];
    status = solve(b->solver[i], p, &warm, b->lambda, b->sigma, run);
    run->jump = 0;
    for (int r = 0; r < p->nrow; ++r) {
      run->jump = fmax(run->jump, fabs(b->lambda[r] - b->answer[i][r]) / h);
    }
  }
  return status;
}

// After every step: the middle of each of `samples` stretches of the run is taken, and the step after it.
static TriboStatus take_step(Simulation* sim, void* user) {
  Bench* b = user;
  const long long middle = (long long)((b->taken + 0.5) * (double)sim->steps / b->samples),
                  at = middle > 0 ? middle : 1;
  TriboProblem p;
  if (sim->totals.steps != at && sim->totals.steps != at + 1) {
    return TRIBO_OK;
  }
  const int is_warm = sim->totals.steps == at + 1;
  TriboStatus status = tribo_data_problem(sim->model, sim->data, &p);
  const int has_cold = b->suite.nsample > 0 && b->suite.samples[b->suite.nsample - 1].step == at &&
                       b->suite.samples[b->suite.nsample - 1].system == b->suite.nsystem - 1;
  if (status == TRIBO_OK && p.nrow > 0 && (!is_warm || has_cold)) {
    status = is_warm ? take_warm(b, sim, &p) : take_cold(b, sim, &p);
  }
  b->taken += is_warm;
  if (is_warm && b->bar) {
    fprintf(stderr, "\r%-24s %3d of %d samples", b->suite.systems[b->suite.nsystem - 1].name, b->taken, b->samples);
  }
  return status;
}

// ---- systems

// The comment that a scene begins with.
static void read_comment(const char* path, char* says, size_t size) {
  FILE* f = fopen(path, "r");
  char* line = NULL;
  size_t room = 0, n = 0;
  says[0] = '\0';
  while (f != NULL && n + 1 < size && getline(&line, &room, f) > 0 && line[0] == '#') {
    line[strcspn(line, "\n")] = '\0';
    n += (size_t)snprintf(says + n, size - n, "%s%s", n > 0 ? " " : "", line + 1 + (line[1] == ' '));
  }
  free(line);
  if (f != NULL) {
    fclose(f);
  }
}

// The start of a scene as a PNG in memory; none where there is no OpenGL.
static void take_picture(Bench* b, Simulation* sim, SuiteSystem* system) {
#if TRIBO_VIEWER
  TriboDrawList* list = NULL;
  TriboOffscreen* context = NULL;
  TriboRenderer* renderer = NULL;
  TriboImage image = {0};
  TriboCameraDef camera;
  TriboStatus status = tribo_view_list_create(sim->model, &list);
  status = status == TRIBO_OK ? tribo_view_offscreen_create(&context) : status;
  status = status == TRIBO_OK ? tribo_view_renderer_create(list, &renderer) : status;
  status = status == TRIBO_OK ? tribo_view_image_create(320, 240, &image) : status;
  status = status == TRIBO_OK ? tribo_view_list_fill(list, sim->model, sim->data, NULL) : status;
  status = status == TRIBO_OK ? tribo_view_camera(sim->model, list, NULL, 320.0 / 240, &camera) : status;
  status = status == TRIBO_OK ? tribo_view_renderer_draw(renderer, list, &camera, &image) : status;
  status = status == TRIBO_OK ? tribo_view_image_embed(&image, &system->picture) : status;
  b->has_pictures &= status == TRIBO_OK;
  tribo_view_renderer_destroy(renderer);
  tribo_view_offscreen_destroy(context);
  tribo_view_list_destroy(list);
  tribo_view_image_destroy(&image);
#else
  (void)sim, (void)system;
  b->has_pictures = 0;
#endif
}

static int add_system(Bench* b, Simulation* sim, const char* path) {
  const TriboModelSize size = tribo_model_size(sim->model);
  if (!GROW(&b->suite.systems, b->suite.nsystem)) {
    return EXIT_INTERNAL;
  }
  SuiteSystem* system = &b->suite.systems[b->suite.nsystem++];
  const char *name = strrchr(path, '/'), *ending;
  double lightest = INFINITY, heaviest = 0;
  name = name != NULL ? name + 1 : path;
  ending = strrchr(name, '.');
  *system = (SuiteSystem){.bodies = size.nbody};
  snprintf(system->name, sizeof system->name, "%.*s", ending != NULL ? (int)(ending - name) : SUITE_NAME, name);
  read_comment(path, system->says, sizeof system->says);
  for (int i = 0; i < size.nbody; ++i) {
    const double mass = tribo_model_body(sim->model, i)->mass;
    lightest = mass > 0 ? fmin(lightest, mass) : lightest;
    heaviest = fmax(heaviest, mass);
  }
  b->mass_ratio = heaviest / lightest;
  b->taken = 0;
  if (cli_value(b->args, "--html") != NULL) {
    take_picture(b, sim, system);
  }
  return EXIT_WELL;
}

static int run_scene(Bench* b, const char* path) {
  Simulation sim;
  int code = simulation_open(b->args, path, &sim);
  code = code == EXIT_WELL ? add_system(b, &sim, path) : code;
  sim.seen = take_step;
  sim.user = b;
  code = code == EXIT_WELL ? simulation_run(&sim, 0) : code;
  code = code == EXIT_WELL && sim.totals.interrupted ? EXIT_INTERRUPTED : code;
  simulation_close(&sim);
  if (b->bar) {
    fputc('\n', stderr);
  }
  return code;
}

// ---- the command

static int report(Bench* b) {
  const char *csv = cli_value(b->args, "--csv"), *json = cli_value(b->args, "--json"),
             *html = cli_value(b->args, "--html");
  char says[200];
  if (b->suite.nsample == 0) {
    return cli_wrong("bench suite: no step that was sampled has a contact or another constraint");
  }
  if (!b->quiet) {
    suite_print(&b->suite);
  }
  int code = csv != NULL ? suite_write_csv(&b->suite, csv) : EXIT_WELL;
  code = code == EXIT_WELL && json != NULL ? suite_write_json(&b->suite, json) : code;
  code = code == EXIT_WELL && html != NULL ? suite_write_html(&b->suite, html) : code;
  if (code == EXIT_WELL && html != NULL && !b->has_pictures && !b->quiet) {
    fputs("the page has no pictures of the systems: they could not be drawn\n", stderr);
  }
  if (code == EXIT_WELL && cli_value(b->args, "--strict") != NULL && !suite_first_leads(&b->suite, says, sizeof says)) {
    fprintf(stderr, "tribo: %s\n", says);
    code = EXIT_FAILED;
  }
  return code;
}

int bench_suite(const Args* args) {
  const char* json = cli_value(args, "--json");
  Bench b = {.args = args, .budget = 0.25, .has_pictures = 1};
  double samples = 50;
  b.quiet = cli_value(args, "--quiet") != NULL || (json != NULL && strcmp(json, "-") == 0);
  b.bar = !b.quiet && isatty(STDERR_FILENO);
  int code = cli_number(args, "--max-time", 1e-6, 1e6, &b.budget) && cli_number(args, "--samples", 1, 1e5, &samples)
                 ? EXIT_WELL
                 : EXIT_INPUT;
  b.samples = (int)samples;
  code = code == EXIT_WELL ? make_solvers(&b) : code;
  code = code == EXIT_WELL ? list_scenes(&b) : code;
  for (int i = 0; i < b.npath && code == EXIT_WELL; ++i) {
    code = run_scene(&b, b.paths[i]);
  }
  code = code == EXIT_WELL ? report(&b) : code;
  for (int i = 0; i < b.suite.nsolver; ++i) {
    tribo_solver_destroy(b.solver[i]);
    free(b.answer[i]);
  }
  for (int i = 0; i < b.npath; ++i) {
    free(b.paths[i]);
  }
  for (int i = 0; i < b.suite.nsystem; ++i) {
    free(b.suite.systems[i].picture);
  }
  free(b.paths);
  free(b.suite.systems);
  free(b.suite.samples);
  free(b.lambda);
  free(b.cones);
  return code;
}
