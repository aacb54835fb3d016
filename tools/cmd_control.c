// `tribo control`: a scene whose controllers have tasks: how well these are met, what the contacts did, and what the
// plans cost.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "json.h"
#include "simulate.h"

static const Flag flags[] = {
    {"--modes", "FILE", "the modes of the contacts over the time, as CSV: a line whenever they change"},
    {"--compare", "CONTACTS", "the same again with contacts that stick, or none: stick or none"},
    {"--record", "FILE", "write q and v of every step: .csv, or .h5 for HDF5"},
    CLI_SCENE_FLAGS,
    {0},
};

enum { MOST_TASKS = 64, MOST_NAME = 300, FEW = 12 };

// A stretch of steps with the same modes.
typedef struct Stretch {
  double from;  // [s]
  int modes;    // as the quantity qpcc.modes
  int steps;
} Stretch;

typedef struct TaskFigures {
  char name[MOST_NAME];
  TriboTaskKind kind;
  TriboQuantity error;
  double square, most;
} TaskFigures;

typedef struct Control {
  TaskFigures tasks[MOST_TASKS];
  int ntask;
  TriboQuantity modes, programs, outcome, time, nat, plan_error;
  Stretch* stretches;
  int nstretch;
  double* times;  // (nstep) wall time of each step's plans [s]
  int nstep;
  double programs_sum, most_nat, most_plan_error;
  int unsolved;  // steps whose plan is not solved
} Control;

static TriboStatus find(const TriboModel* model, Control* c) {
  const struct {
    const char* name;
    TriboQuantity* to;
  } world[] = {{"qpcc.modes", &c->modes}, {"qpcc.programs", &c->programs}, {"qpcc.outcome", &c->outcome},
               {"qpcc.time", &c->time},   {"qpcc.nat", &c->nat},           {"plan_error", &c->plan_error}};
  TriboStatus status = TRIBO_OK;
  for (size_t i = 0; i < sizeof world / sizeof world[0] && status == TRIBO_OK; ++i) {
    status = tribo_quantity_find(model, world[i].name, NULL, world[i].to);
  }
  c->ntask = tribo_model_task_count(model) < MOST_TASKS ? tribo_model_task_count(model) : MOST_TASKS;
  for (int i = 0; i < c->ntask && status == TRIBO_OK; ++i) {
    TriboTaskInfo info;
    status = tribo_model_task_info(model, i, &info);
    if (status == TRIBO_OK) {
      snprintf(c->tasks[i].name, sizeof c->tasks[i].name, "%s/%s", info.controller, info.name);
      c->tasks[i].kind = info.kind;
      status = tribo_quantity_find(model, "task.error", c->tasks[i].name, &c->tasks[i].error);
    }
  }
  return status;
}

static double value_of(Simulation* sim, TriboQuantity what) {
  double value = NAN;
  return tribo_quantity_value(sim->model, sim->data, what, &value) == TRIBO_OK ? value : NAN;
}

// After every step; the first state has no step behind it.
static TriboStatus see(Simulation* sim, void* user) {
  Control* c = user;
  const double time = tribo_data_time(sim->data);
  if (sim->totals.steps == 0) {
    return TRIBO_OK;
  }
  for (int i = 0; i < c->ntask; ++i) {
    const double error = value_of(sim, c->tasks[i].error);
    c->tasks[i].square += error * error;
    c->tasks[i].most = fmax(c->tasks[i].most, error);
  }
  c->programs_sum += value_of(sim, c->programs);
  c->most_nat = fmax(c->most_nat, value_of(sim, c->nat));
  c->most_plan_error = fmax(c->most_plan_error, value_of(sim, c->plan_error));
  c->unsolved += value_of(sim, c->outcome) > 1;
  const int modes = (int)value_of(sim, c->modes);
  const int changed = c->nstretch == 0 || c->stretches[c->nstretch - 1].modes != modes;
  if (!GROW(&c->times, c->nstep) || (changed && !GROW(&c->stretches, c->nstretch))) {
    return TRIBO_NOMEM;
  }
  c->times[c->nstep++] = value_of(sim, c->time);
  if (changed) {
    c->stretches[c->nstretch++] = (Stretch){time, modes, 0};
  }
  c->stretches[c->nstretch - 1].steps++;
  return TRIBO_OK;
}

// ---- telling

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static double fraction_of(Control* c, double fraction) {
  if (c->nstep == 0) {
    return 0;
  }
  qsort(c->times, (size_t)c->nstep, sizeof *c->times, by_size);
  return c->times[(int)(fraction * (c->nstep - 1))];
}

// "slide stick break" of the digits 2, 3, 1; "none" without contacts.
static void words_of(int modes, char* text, size_t size) {
  static const char* const words[] = {"?", "break", "slide", "stick"};
  int digits[10], n = 0;
  size_t used = 0;
  for (; modes > 0 && n < 10; modes /= 10) {
    digits[n++] = modes % 10;
  }
  snprintf(text, size, n == 0 ? "none" : "");
  while (n > 0 && used < size) {
    const int d = digits[--n];
    used +=
        (size_t)snprintf(text + used, size - used, "%s%s", d >= 1 && d <= 3 ? words[d] : words[0], n > 0 ? " " : "");
  }
}

static const char* unit_of(TriboTaskKind kind) {
  switch (kind) {
    case TRIBO_TASK_FORCE: return "N";
    case TRIBO_TASK_POSTURE:
    case TRIBO_TASK_ORIENTATION: return "rad";
    case TRIBO_TASK_POSE: return "m, rad";
    case TRIBO_TASK_VELOCITY: return "m/s";
    case TRIBO_TASK_MOMENTUM: return "N s";
    default: return "m";
  }
}

static double rms_of(const Control* c, int task) {
  return sqrt(c->tasks[task].square / (c->nstep > 0 ? c->nstep : 1));
}

// The figures for people.
static void print(Control* c, const Simulation* sim) {
  printf("%s  %.3g s simulated, %lld of %lld steps certified\n", sim->path, sim->totals.time, sim->totals.certified,
         sim->totals.steps);
  printf("  %-32s %12s %12s\n", "task", "rms error", "max error");
  for (int i = 0; i < c->ntask; ++i) {
    printf("  %-32s %12.4g %12.4g %s\n", c->tasks[i].name, rms_of(c, i), c->tasks[i].most, unit_of(c->tasks[i].kind));
  }
  printf("  modes: %d changes%s\n", c->nstretch > 0 ? c->nstretch - 1 : 0,
         c->nstretch > FEW ? "; the longest stretches" : "");
  int least = 0;
  for (int n = c->nstretch; n > FEW; ++least) {
    n = 0;
    for (int i = 0; i < c->nstretch; ++i) {
      n += c->stretches[i].steps > least;
    }
  }
  for (int i = 0; i < c->nstretch; ++i) {
    if (c->stretches[i].steps >= least) {
      char text[128];
      words_of(c->stretches[i].modes, text, sizeof text);
      printf("    from %8.3f s  %-40s %d steps\n", c->stretches[i].from, text, c->stretches[i].steps);
    }
  }
  printf("  plans: %.1f programs a step; median %.1f µs, 99 of 100 up to %.1f µs; nat up to %.1e m/s, %d not solved\n",
         c->programs_sum / (c->nstep > 0 ? c->nstep : 1), 1e6 * fraction_of(c, 0.5), 1e6 * fraction_of(c, 0.99),
         c->most_nat, c->unsolved);
  printf("  plan against step: up to %.2e m/s or rad/s\n", c->most_plan_error);
}

// The same for machines.
static void tell(Control* c, const Simulation* sim, const char* contacts, Json* json) {
  json_begin(json, NULL, '{');
  json_text(json, "scene", sim->path);
  json_text(json, "contacts", contacts);
  json_int(json, "steps", c->nstep);
  json_int(json, "certified_steps", sim->totals.certified);
  json_begin(json, "tasks", '[');
  for (int i = 0; i < c->ntask; ++i) {
    json_begin(json, NULL, '{');
    json_text(json, "name", c->tasks[i].name);
    json_text(json, "unit", unit_of(c->tasks[i].kind));
    json_real(json, "rms", rms_of(c, i));
    json_real(json, "max", c->tasks[i].most);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_begin(json, "modes", '[');
  for (int i = 0; i < c->nstretch; ++i) {
    char text[128];
    words_of(c->stretches[i].modes, text, sizeof text);
    json_begin(json, NULL, '{');
    json_real(json, "from", c->stretches[i].from);
    json_text(json, "modes", text);
    json_int(json, "steps", c->stretches[i].steps);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_real(json, "programs_per_step", c->programs_sum / (c->nstep > 0 ? c->nstep : 1));
  json_real(json, "median_s", fraction_of(c, 0.5));
  json_real(json, "p99_s", fraction_of(c, 0.99));
  json_real(json, "nat", c->most_nat);
  json_int(json, "unsolved_steps", c->unsolved);
  json_real(json, "plan_error", c->most_plan_error);
  json_end(json, '}');
}

static int write_modes(const Control* c, const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    return cli_wrong("%s: cannot be written", path);
  }
  fputs("t,steps,modes\n", file);
  for (int i = 0; i < c->nstretch; ++i) {
    char text[128];
    words_of(c->stretches[i].modes, text, sizeof text);
    fprintf(file, "%.17g,%d,%s\n", c->stretches[i].from, c->stretches[i].steps, text);
  }
  return cli_close(file, path);
}

// ---- running

// One run of the scene, with the contacts as told.
static int run_once(const Args* args, TriboTaskContacts contacts, const char* word, int words, Json* json) {
  Simulation sim;
  Control c = {0};
  int code = simulation_open(args, args->positional[0], &sim);
  if (code == EXIT_WELL && tribo_model_task_count(sim.model) == 0) {
    code = cli_wrong("%s: the scene has no controller with the law task", args->positional[0]);
  }
  if (code == EXIT_WELL) {
    const TriboStatus status = find(sim.model, &c);
    code = status != TRIBO_OK ? cli_complain(status) : code;
  }
  if (code == EXIT_WELL) {
    const TriboStatus status = tribo_data_set_task_contacts(sim.model, sim.data, contacts);
    code = status != TRIBO_OK ? cli_complain(status) : code;
  }
  const int compared = contacts != TRIBO_TASK_CONTACTS_COUNT;
  code = code == EXIT_WELL ? simulation_record(&sim, compared ? NULL : cli_value(args, "--record")) : code;
  if (code == EXIT_WELL) {
    sim.seen = see;
    sim.user = &c;
    code = simulation_run(&sim, words);
  }
  if (code == EXIT_WELL) {
    if (words) {
      printf("%scontacts: %s\n", compared ? "\n" : "", word);
      print(&c, &sim);
    }
    if (json != NULL) {
      tell(&c, &sim, word, json);
    }
    const char* modes = cli_value(args, "--modes");
    code = modes != NULL && !compared ? write_modes(&c, modes) : code;
    code = sim.totals.interrupted ? EXIT_INTERRUPTED : code;
    if (code == EXIT_WELL && cli_value(args, "--strict") != NULL && sim.totals.certified < sim.totals.steps) {
      code = EXIT_FAILED;
    }
  }
  free(c.stretches);
  free(c.times);
  simulation_close(&sim);
  return code;
}

static int run(const Args* args) {
  const char *path = cli_value(args, "--json"), *compare = cli_value(args, "--compare");
  const int words = cli_value(args, "--quiet") == NULL && (path == NULL || strcmp(path, "-") != 0);
  if (compare != NULL && strcmp(compare, "stick") != 0 && strcmp(compare, "none") != 0) {
    return cli_wrong("--compare %s; accepted are stick and none", compare);
  }
  Json json;
  if (path != NULL && !json_open(&json, path)) {
    return EXIT_INPUT;
  }
  if (path != NULL) {
    json_begin(&json, NULL, '[');
  }
  int code = run_once(args, TRIBO_TASK_CONTACTS_COUNT, "as the scene says", words, path != NULL ? &json : NULL);
  if (code == EXIT_WELL && compare != NULL) {
    const TriboTaskContacts contacts =
        strcmp(compare, "stick") == 0 ? TRIBO_TASK_CONTACTS_STICK : TRIBO_TASK_CONTACTS_NONE;
    code = run_once(args, contacts, compare, words, path != NULL ? &json : NULL);
  }
  if (path != NULL) {
    json_end(&json, ']');
    code = json_close(&json, path) ? code : EXIT_INPUT;
  }
  return code;
}

const Command command_control = {"control",
                                 "SCENE [flags]",
                                 "run controllers of tasks: errors, modes of the contacts, cost of the plans",
                                 flags,
                                 1,
                                 1,
                                 run};
