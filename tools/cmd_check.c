// `tribo check`: run scenes and judge what they expect.
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "simulate.h"

static const Flag flags[] = {
    {"--residuals", NULL, "also a table: steps, certified fraction and worst residual of every scene, and of all"},
    CLI_SCENE_FLAGS,
    {0},
};

// How well the steps of all scenes were solved, line by line for --residuals.
typedef struct Residuals {
  char* text;  // (size) lines of the table
  size_t size;
  FILE* lines;  // NULL: not asked for
  long long steps, certified;
  double nat;
} Residuals;

static void note(Residuals* r, const Simulation* sim) {
  const Totals* t = &sim->totals;
  r->steps += t->steps;
  r->certified += t->certified;
  r->nat = t->residual.nat > r->nat ? t->residual.nat : r->nat;
  if (r->lines != NULL) {
    fprintf(r->lines, "%-36s %8lld %9lld %8.3f %% %9lld %10.2e  %s\n", sim->path, t->steps, t->certified,
            100.0 * (double)t->certified / (double)(t->steps > 0 ? t->steps : 1), t->substepped, t->residual.nat,
            t->worst);
  }
}

static void print_residuals(Residuals* r) {
  if (r->lines == NULL) {
    return;
  }
  fclose(r->lines);
  printf("%-36s %8s %9s %10s %9s %10s  %s\n%s", "scene", "steps", "certified", "fraction", "substeps", "worst nat",
         "where, m/s", r->text);
  printf("%-36s %8lld %9lld %8.3f %% %9s %10.2e\n", "all", r->steps, r->certified,
         100.0 * (double)r->certified / (double)(r->steps > 0 ? r->steps : 1), "", r->nat);
  free(r->text);
}

// 0 held, 1 not; also writes the verdicts.
static int judge_scene(const Simulation* sim, int quiet, Json* json) {
  int failed = 0;
  for (int i = 0; i < tribo_judge_count(sim->judge); ++i) {
    TriboVerdict v;
    if (tribo_judge_verdict(sim->judge, i, &v) != TRIBO_OK) {
      return EXIT_INTERNAL;
    }
    failed |= !v.held;
    if (!quiet) {
      printf("  %s %-58s expected %-26s measured %.9g\n", v.held ? "held  " : "FAILED", v.quantity, v.expected,
             v.measured);
    } else if (!v.held) {
      // what went wrong is said also to those who asked for quiet
      fprintf(stderr, "tribo: %s: %s: expected %s, measured %.9g\n", sim->path, v.quantity, v.expected, v.measured);
    }
    if (json != NULL) {
      json_begin(json, NULL, '{');
      json_text(json, "scene", sim->path);
      json_text(json, "quantity", v.quantity);
      json_text(json, "expected", v.expected);
      json_real(json, "measured", v.measured);
      json_real(json, "tolerance", v.tolerance);
      json_bool(json, "held", v.held);
      json_end(json, '}');
    }
  }
  return failed ? EXIT_FAILED : EXIT_WELL;
}

static int check_scene(const Args* args, const char* path, Json* json, Residuals* residuals) {
  Simulation sim;
  int quiet = cli_value(args, "--quiet") != NULL || (json != NULL && json->file == stdout);
  int code = simulation_open(args, path, &sim);
  if (code == EXIT_WELL && tribo_model_size(sim.model).nexpect == 0) {
    code = cli_wrong("%s: the scene expects nothing (no expect: section), so there is nothing to check", path);
  }
  if (code == EXIT_WELL && tribo_judge_create(sim.model, &sim.judge) != TRIBO_OK) {
    code = EXIT_INTERNAL;
  }
  code = code == EXIT_WELL ? simulation_run(&sim, !quiet) : code;
  if (code == EXIT_WELL) {
    const Totals* t = &sim.totals;
    if (!quiet) {
      printf("%s  %.3g s simulated in %.2f s\n", path, t->time, t->wall);
    }
    code = t->interrupted ? EXIT_INTERRUPTED : judge_scene(&sim, quiet, json);
    note(residuals, &sim);
    if (code == EXIT_WELL && cli_value(args, "--strict") != NULL && t->certified < t->steps) {
      code = EXIT_FAILED;
    }
  }
  simulation_close(&sim);
  return code;
}

// Runs every scene and judges its expectations; the worst outcome is the exit code.
static int run(const Args* args) {
  const char* path = cli_value(args, "--json");
  Json json;
  if (path != NULL && !json_open(&json, path)) {
    return EXIT_INPUT;
  }
  if (path != NULL) {
    json_begin(&json, NULL, '[');
  }
  const int words = cli_value(args, "--quiet") == NULL && (path == NULL || strcmp(path, "-") != 0);
  Residuals residuals = {0};
  if (words && cli_value(args, "--residuals") != NULL) {
    residuals.lines = open_memstream(&residuals.text, &residuals.size);
  }
  // the worst outcome counts, but every scene is run
  int worst = EXIT_WELL, failed = 0;
  for (int i = 0; i < args->npositional && worst != EXIT_INTERRUPTED; ++i) {
    int code = check_scene(args, args->positional[i], path != NULL ? &json : NULL, &residuals);
    failed += code != EXIT_WELL;
    worst = code > worst ? code : worst;
  }
  print_residuals(&residuals);
  if (args->npositional > 1 && words) {
    printf("%d of %d scenes held\n", args->npositional - failed, args->npositional);
  }
  if (path != NULL) {
    json_end(&json, ']');
    worst = json_close(&json, path) ? worst : EXIT_INPUT;
  }
  return worst;
}

const Command command_check = {"check", "SCENE… [flags]", "run scenes and judge what they expect", flags, 1, 1 << 20,
                               run};
