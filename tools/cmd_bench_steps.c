// `tribo bench steps SCENE`: the contact problems of simulated steps, as the solvers of the registry get them, with
// mass matrices and Jacobians. Each is solved anew by every solver that is named, from nothing; the scene's own solver
// takes the steps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_scenes.h"
#include "json.h"
#include "paper_003.h"
#include "simulate.h"
#include "stopwatch.h"

enum { MOST = 16, SPEC = 160 };

// A solver with its settings, and what it has done.
typedef struct Contender {
  char spec[SPEC];  // ID:KEY=VALUE:…
  TriboSolver* solver;
  double time, unit, paper;  // sums: [s], −lg of the residuals
  long long iterations, factorisations;
} Contender;

typedef struct Steps {
  Contender contender[MOST];
  int count, repeats, every;
  double from, to;
  double* lambda;  // and σ behind it
  size_t room;
  long long problems, contacts;
} Steps;

// A solver and its settings from ID:KEY=VALUE:…; 0 or an exit code, complained about already.
static int make_contender(const char* spec, int length, Contender* out) {
  char copy[SPEC], *rest, *word;
  if (length >= SPEC) {
    return cli_wrong("--solvers: '%.*s' is too long", length, spec);
  }
  snprintf(out->spec, SPEC, "%.*s", length, spec);
  memcpy(copy, out->spec, SPEC);
  TriboStatus status = tribo_solver_create((word = strtok_r(copy, ":", &rest)) != NULL ? word : "", &out->solver);
  while (status == TRIBO_OK && (word = strtok_r(NULL, ":", &rest)) != NULL) {
    char *value = strchr(word, '='), *end = NULL;
    const double number = value != NULL ? strtod(value + 1, &end) : 0;
    if (value == NULL || end == value + 1 || *end != '\0') {
      return cli_wrong("--solvers: '%s' of '%s' is not KEY=NUMBER", word, out->spec);
    }
    *value = '\0';
    status = tribo_solver_set(out->solver, word, number);
  }
  return status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
}

static int make_contenders(const Args* args, Steps* b) {
  const char* list = cli_value(args, "--solvers");
  list = list != NULL ? list : "auto,subadmm,admm";
  for (int code; *list != '\0';) {
    const int length = (int)strcspn(list, ",");
    if (b->count == MOST) {
      return cli_wrong("--solvers: more than %d of them", MOST);
    }
    if ((code = make_contender(list, length, &b->contender[b->count++])) != EXIT_WELL) {
      return code;
    }
    list += length + (list[length] == ',');
  }
  return b->count > 0 ? EXIT_WELL : cli_wrong("--solvers: none given");
}

// −lg of a residual; what is exact counts as 20
static double digits(double residual) {
  return residual > 1e-20 ? -log10(residual) : 20;
}

static TriboStatus solve(Steps* b, Contender* c, const TriboProblem* p) {
  double best = INFINITY, *sigma = b->lambda + p->nrow;
  TriboSolveStats stats;
  TriboResiduals r;
  TriboStatus status = TRIBO_OK;
  for (int i = 0; status == TRIBO_OK && i < b->repeats; ++i) {
    const Clock begin = start_clock();
    status = tribo_solver_solve(c->solver, p, NULL, b->lambda, &stats);
    best = fmin(best, stop_clock(begin));
  }
  status = status == TRIBO_OK ? tribo_problem_residuals(p, b->lambda, sigma, &r) : status;
  if (status == TRIBO_OK) {
    c->time += best;
    c->iterations += stats.iterations;
    c->factorisations += stats.factorisations;
    c->unit += digits(r.natmap_unit);
    c->paper += digits(paper_003_residual(p, b->lambda, sigma));
  }
  return status;
}

// after every step of the simulation
static TriboStatus take_step(Simulation* sim, void* user) {
  Steps* b = user;
  TriboProblem p;
  const double time = tribo_data_time(sim->data);
  if (sim->totals.steps % b->every != 0 || !(time > b->from && time <= b->to)) {
    return TRIBO_OK;
  }
  TriboStatus status = tribo_data_problem(sim->model, sim->data, &p);
  if (status != TRIBO_OK || p.nrow == 0) {
    return status;
  }
  if (b->room < 2 * (size_t)p.nrow) {
    free(b->lambda);
    b->room = 2 * (size_t)p.nrow;
    b->lambda = calloc(b->room, sizeof *b->lambda);
    if (b->lambda == NULL) {
      b->room = 0;
      return TRIBO_NOMEM;
    }
  }
  b->problems++;
  for (int c = 0; c < p.ncone; ++c) {
    b->contacts += p.cones[c].kind == TRIBO_CONE_FRICTION;
  }
  for (int i = 0; status == TRIBO_OK && i < b->count; ++i) {
    status = solve(b, &b->contender[i], &p);
  }
  return status;
}

static void print_table(const Steps* b) {
  const double n = (double)b->problems;
  printf("%lld problems, %.1f contacts each; least of %d\n", b->problems, (double)b->contacts / n, b->repeats);
  printf("%-44s %10s %7s %11s %15s %10s %10s\n", "solver", "us", "ratio", "iterations", "factorisations", "-lg natmap",
         "-lg paper");
  for (int i = 0; i < b->count; ++i) {
    const Contender* c = &b->contender[i];
    printf("%-44s %10.1f %7.2f %11.1f %15.1f %10.2f %10.2f\n", c->spec, 1e6 * c->time / n,
           c->time / b->contender[0].time, (double)c->iterations / n, (double)c->factorisations / n, c->unit / n,
           c->paper / n);
  }
}

// The table for machines.
static int write_json(const Steps* b, const char* path) {
  Json json;
  const double n = (double)b->problems;
  if (!json_open(&json, path)) {
    return EXIT_INPUT;
  }
  json_begin(&json, NULL, '{');
  json_int(&json, "problems", b->problems);
  json_real(&json, "contacts", (double)b->contacts / n);
  json_begin(&json, "solvers", '[');
  for (int i = 0; i < b->count; ++i) {
    const Contender* c = &b->contender[i];
    json_begin(&json, NULL, '{');
    json_text(&json, "solver", c->spec);
    json_real(&json, "us", 1e6 * c->time / n);
    json_real(&json, "ratio", c->time / b->contender[0].time);
    json_real(&json, "iterations", (double)c->iterations / n);
    json_real(&json, "factorisations", (double)c->factorisations / n);
    json_real(&json, "digits_natmap_unit", c->unit / n);
    json_real(&json, "digits_paper003", c->paper / n);
    json_end(&json, '}');
  }
  json_end(&json, ']');
  json_end(&json, '}');
  return json_close(&json, path) ? EXIT_WELL : EXIT_INPUT;
}

static int read_window(const Args* args, Steps* b) {
  const char* window = cli_value(args, "--window");
  char rest;
  if (window != NULL && (sscanf(window, "%lf:%lf%c", &b->from, &b->to, &rest) != 2 || !(b->from < b->to))) {
    return cli_wrong("--window %s: from:to in seconds is accepted, as in 0.5:1.5", window);
  }
  return EXIT_WELL;
}

static int simulate(const Args* args, Steps* b) {
  const char* json = cli_value(args, "--json");
  const int quiet = cli_value(args, "--quiet") != NULL || (json != NULL && strcmp(json, "-") == 0);
  Simulation sim;
  int code = simulation_open(args, args->positional[1], &sim);
  sim.seen = take_step;
  sim.user = b;
  code = code == EXIT_WELL ? simulation_load(&sim, cli_value(args, "--load")) : code;
  code = code == EXIT_WELL ? simulation_run(&sim, !quiet) : code;
  code = code == EXIT_WELL && sim.totals.interrupted ? EXIT_INTERRUPTED : code;
  simulation_close(&sim);
  if (code == EXIT_WELL && b->problems == 0) {
    return cli_wrong("%s: no step that counts has a contact or another constraint", args->positional[1]);
  }
  if (code == EXIT_WELL && !quiet) {
    print_table(b);
  }
  return code == EXIT_WELL && json != NULL ? write_json(b, json) : code;
}

int bench_steps(const Args* args) {
  double repeats = 5, every = 10;
  Steps b = {.from = -1, .to = INFINITY};
  int code = args->npositional == 2 ? EXIT_WELL : cli_wrong("bench steps needs one scene");
  if (code == EXIT_WELL &&
      (!cli_number(args, "--repeats", 1, 1e6, &repeats) || !cli_number(args, "--every", 1, 1e9, &every))) {
    code = EXIT_INPUT;
  }
  b.repeats = (int)repeats;
  b.every = (int)every;
  code = code == EXIT_WELL ? read_window(args, &b) : code;
  code = code == EXIT_WELL ? make_contenders(args, &b) : code;
  code = code == EXIT_WELL ? simulate(args, &b) : code;
  for (int i = 0; i < b.count; ++i) {
    tribo_solver_destroy(b.contender[i].solver);
  }
  free(b.lambda);
  return code;
}
