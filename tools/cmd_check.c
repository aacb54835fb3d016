// `tribo check`: run scenes and judge what they expect.
#include <string.h>

#include "json.h"
#include "simulate.h"

static const Flag flags[] = {
    {"--residuals", NULL, "list the certified steps and the worst residual of every scene"},
    CLI_SCENE_FLAGS,
    {0},
};

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

static int check_scene(const Args* args, const char* path, Json* json) {
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
    if (!quiet && cli_value(args, "--residuals") != NULL) {
      printf("  certified %lld of %lld steps, worst nat %.2e m/s in step %lld: %s\n", t->certified, t->steps,
             t->residual.nat, t->worst_step, t->worst);
    }
    if (code == EXIT_WELL && cli_value(args, "--strict") != NULL && t->certified < t->steps) {
      code = EXIT_FAILED;
    }
  }
  simulation_close(&sim);
  return code;
}

static int run(const Args* args) {
  const char* path = cli_value(args, "--json");
  Json json;
  if (path != NULL && !json_open(&json, path)) {
    return EXIT_INPUT;
  }
  if (path != NULL) {
    json_begin(&json, NULL, '[');
  }
  // the worst outcome counts, but every scene is run
  int worst = EXIT_WELL, failed = 0;
  for (int i = 0; i < args->npositional && worst != EXIT_INTERRUPTED; ++i) {
    int code = check_scene(args, args->positional[i], path != NULL ? &json : NULL);
    failed += code != EXIT_WELL;
    worst = code > worst ? code : worst;
  }
  if (args->npositional > 1 && cli_value(args, "--quiet") == NULL && (path == NULL || strcmp(path, "-") != 0)) {
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
