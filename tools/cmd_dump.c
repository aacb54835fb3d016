// `tribo dump`: the contact problem of one simulated step as a file, so that any hard step becomes a case.
#include <string.h>

#include "problem_file.h"
#include "simulate.h"

static const Flag flags[] = {
    {"--step", "N", "the step whose problem is written, from 1 on"},
    {"--load", "FILE", "start from a saved state"},
    {"--out", "FILE.hdf5", "where it goes"},
    {"--dt", "S", "time step, instead of the scene's"},
    {"--solver", "ID", "solver that takes the steps before, instead of the scene's"},
    {"--set", "KEY=VALUE", "any world setting, or solver.KEY; may be repeated"},
    {"--quiet", NULL, "no text for people"},
    {0},
};

// Runs up to the step that was asked for and writes its contact problem.
static int dump(const Args* args, Simulation* sim) {
  double step = 0;
  const char* out = cli_value(args, "--out");
  if (out == NULL || cli_value(args, "--step") == NULL) {
    return cli_wrong("dump needs --step N and --out FILE.hdf5");
  }
  if (!cli_number(args, "--step", 1, 1e15, &step)) {
    return EXIT_INPUT;
  }
  sim->steps = (long long)step;
  int code = simulation_run(sim, cli_value(args, "--quiet") == NULL);
  if (code != EXIT_WELL || sim->totals.interrupted) {
    return code != EXIT_WELL ? code : EXIT_INTERRUPTED;
  }
  TriboProblem problem;
  TriboStatus status = tribo_data_problem(sim->model, sim->data, &problem);
  if (status != TRIBO_OK) {
    return cli_complain(status);
  }
  if (problem.nrow == 0) {
    return cli_wrong("%s: step %lld has no contact and no other constraint", sim->path, sim->steps);
  }
  char reason[320];
  if (!problem_write(&problem, out, reason)) {
    return cli_wrong("%s: %s", out, reason);
  }
  if (cli_value(args, "--quiet") == NULL) {
    printf("%s: %d constraints, %d rows of step %lld\n", out, problem.ncone, problem.nrow, sim->steps);
  }
  return EXIT_WELL;
}

static int run(const Args* args) {
  Simulation sim;
  int code = simulation_open(args, args->positional[0], &sim);
  code = code == EXIT_WELL ? simulation_load(&sim, cli_value(args, "--load")) : code;
  code = code == EXIT_WELL ? dump(args, &sim) : code;
  simulation_close(&sim);
  return code;
}

const Command command_dump = {
    "dump", "SCENE --step N --out FILE.hdf5 [flags]", "write the contact problem of a step", flags, 1, 1, run};
