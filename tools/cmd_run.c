// `tribo run`: simulate a scene and say how it went.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "json.h"
#include "simulate.h"

static const Flag flags[] = {
    {"--steps", "N", "number of steps, instead of a duration"},
    {"--record", "FILE", "write q and v of every step: .csv, or .h5 for HDF5"},
    {"--load", "FILE", "start from a saved state"},
    {"--save", "FILE", "save the state at the end"},
    {"--twice", NULL, "run, reset, run again and report the second run: warm caches, no growth"},
    CLI_SCENE_FLAGS,
    {0},
};

// Why steps are not certified.
static void print_reasons(const Totals* t) {
  if (t->certified == t->steps) {
    return;
  }
  const char* between = "; not:";
  for (int i = TRIBO_REASON_NONE + 1; i < TRIBO_REASON_COUNT; ++i) {
    if (t->uncertified[i] > 0) {
      printf("%s %lld %s", between, t->uncertified[i], tribo_reason_word((TriboReason)i));
      between = ",";
    }
  }
  if (t->unbalanced_step > 0) {
    printf("; first motion in step %lld: %s", t->unbalanced_step, t->unbalanced);
  }
  if (t->uncertified[TRIBO_REASON_LAW] + t->uncertified[TRIBO_REASON_LOOPS] +
          t->uncertified[TRIBO_REASON_CONTRADICTION] >
      0) {
    printf("; worst in step %lld: %s", t->worst_step, t->worst);
  }
}

// What the run took and how good it was, for people.
static void print_table(const Simulation* sim) {
  const Totals* t = &sim->totals;
  double steps = fmax(1, (double)t->steps);
  printf("%-14s %lld of %.6g s each%s\n", "steps", t->steps, tribo_model_world(sim->model)->dt,
         t->interrupted ? ", interrupted" : "");
  printf("%-14s %.3f s, %.1f µs per step, %.1f× real time; 99 of 100 steps up to %.1f µs, the longest %.1f µs\n",
         "wall time", t->wall, 1e6 * t->wall / steps, t->time / fmax(t->wall, 1e-12), 1e6 * costs_p99_time(&t->costs),
         1e6 * t->costs.longest);
  printf("%-14s", "stages");
  for (int i = 0; i < TRIBO_STAGE_COUNT; ++i) {
    printf("%s%s %.0f %%", i > 0 ? ", " : " ", tribo_stage_name(i), 100 * t->stage[i] / fmax(t->wall, 1e-12));
  }
  printf("\n%-14s %.1f mean, %d max\n", "contacts", t->contacts / steps, t->contacts_max);
  printf("%-14s %.2f mean, %d max; %.2f factorisations per step, 99 of 100 steps up to %d, at most %d\n", "iterations",
         t->iterations / steps, t->iterations_max, t->factorisations / steps, costs_p99_factorisations(&t->costs),
         t->costs.most);
  printf("%-14s %.3g Mflop per step in the solver, %.3g at most\n", "effort", 1e-6 * t->costs.effort / steps,
         1e-6 * t->costs.effort_max);
  printf("%-14s nat %.2e m/s, prim %.2e N s, dual %.2e m/s, comp %.2e J (worst of the run)\n", "residuals",
         t->residual.nat, t->residual.prim, t->residual.dual, t->residual.comp);
  printf("%-14s %.2e m\n", "penetration", t->penetration);
  printf("%-14s balance %.1e J in all, %.1e relative at worst; momentum %.1e; pushing out %.1e J\n", "motion",
         t->energy_error, t->balance, t->momentum_error, t->push_out_work);
  printf("%-14s", "levels");
  for (int i = 0; i < TRIBO_LEVEL_COUNT; ++i) {
    printf("%s %lld %s", i > 0 ? "," : "", t->levels[i], tribo_level_word((TriboLevel)i));
  }
  printf("\n%-14s %lld of %lld steps", "certified", t->certified, t->steps);
  print_reasons(t);
  if (t->substepped > 0) {
    printf("; %lld taken in substeps", t->substepped);
  }
  if (t->relaxed > 0) {
    printf("; %lld with rows that contradict each other, relaxed by at most %.1e m", t->relaxed, t->most_relaxation);
  }
  printf("\n%-14s %016llx\n", "state", (unsigned long long)tribo_data_hash(sim->model, sim->data));
}

static void json_pair(Json* json, const char* key, double mean, double max) {
  json_begin(json, key, '{');
  json_real(json, "mean", mean);
  json_real(json, "max", max);
  json_end(json, '}');
}

// What the steps took, on average and in the tail.
static void json_totals(Json* json, const Simulation* sim) {
  const Totals* t = &sim->totals;
  double steps = fmax(1, (double)t->steps);
  json_real(json, "wall_s", t->wall);
  json_real(json, "rtf", t->time / fmax(t->wall, 1e-12));
  json_real(json, "us_per_step", 1e6 * t->wall / steps);
  json_begin(json, "stages", '{');
  for (int i = 0; i < TRIBO_STAGE_COUNT; ++i) {
    json_real(json, tribo_stage_name(i), 1e6 * t->stage[i] / steps);
  }
  json_end(json, '}');
  json_int(json, "bodies", tribo_model_size(sim->model).nbody);
  json_int(json, "dofs", tribo_model_size(sim->model).nv);
  json_pair(json, "contacts", t->contacts / steps, t->contacts_max);
  json_pair(json, "iterations", t->iterations / steps, t->iterations_max);
  json_real(json, "factorisations", t->factorisations / steps);
  json_pair(json, "effort", t->costs.effort / steps, t->costs.effort_max);
  json_begin(json, "tail", '{');
  json_real(json, "us_mean", 1e6 * t->costs.sum / steps);
  json_real(json, "us_p99", 1e6 * costs_p99_time(&t->costs));
  json_real(json, "us_max", 1e6 * t->costs.longest);
  json_int(json, "factorisations_p99", costs_p99_factorisations(&t->costs));
  json_int(json, "factorisations_max", t->costs.most);
  json_end(json, '}');
  json_begin(json, "rungs", '{');
  for (int i = 0; i < TRIBO_RUNG_COUNT; ++i) {
    if (t->rungs[i] > 0) {
      json_int(json, tribo_rung_name(i), t->rungs[i]);
    }
  }
  json_end(json, '}');
}

// How good the answers were, and in how many steps more than one solve was needed.
static void json_quality(Json* json, const Simulation* sim) {
  const Totals* t = &sim->totals;
  json_begin(json, "residual", '{');
  json_real(json, "prim", t->residual.prim);
  json_real(json, "dual", t->residual.dual);
  json_real(json, "comp", t->residual.comp);
  json_real(json, "nat", t->residual.nat);
  json_real(json, "pen", t->penetration);
  json_end(json, '}');
  json_int(json, "certified_steps", t->certified);
  json_begin(json, "levels", '{');
  for (int i = 0; i < TRIBO_LEVEL_COUNT; ++i) {
    json_int(json, tribo_level_word((TriboLevel)i), t->levels[i]);
  }
  json_end(json, '}');
  json_begin(json, "uncertified", '{');
  for (int i = TRIBO_REASON_NONE + 1; i < TRIBO_REASON_COUNT; ++i) {
    json_int(json, tribo_reason_word((TriboReason)i), t->uncertified[i]);
  }
  json_end(json, '}');
  json_begin(json, "motion", '{');
  json_real(json, "energy_error", t->energy_error);
  json_real(json, "balance_relative", t->balance);
  json_real(json, "balance_gain", t->gain);
  json_real(json, "momentum_error", t->momentum_error);
  json_real(json, "push_out_work", t->push_out_work);
  json_int(json, "first_step", t->unbalanced_step);
  json_text(json, "first_body", t->unbalanced);
  json_end(json, '}');
  json_int(json, "substepped_steps", t->substepped);
  json_int(json, "relaxed_steps", t->relaxed);
  json_real(json, "relaxed_most", t->most_relaxation);
  json_int(json, "redetected_steps", t->redetected);
  // the same by their names of 0.1: keys of a report are added, never renamed
  json_int(json, "divided_steps", t->substepped);
  json_int(json, "levelled_steps", t->relaxed);
  json_real(json, "levelled_most", t->most_relaxation);
  json_int(json, "chased_steps", t->redetected);
  json_begin(json, "worst", '{');
  json_int(json, "step", t->worst_step);
  json_text(json, "constraint", t->worst);
  json_end(json, '}');
  json_begin(json, "heap_calls", '{');
  json_int(json, "ours", (long long)t->heap[TRIBO_HEAP_OURS]);
  json_int(json, "coal", (long long)t->heap[TRIBO_HEAP_COAL]);
  json_int(json, "sparse", (long long)t->heap[TRIBO_HEAP_SPARSE]);
  json_bool(json, "counted", heap_counted());
  json_end(json, '}');
}

static int write_json(const Simulation* sim, const char* path, const char* hash_first) {
  Json json;
  if (!json_open(&json, path)) {
    return EXIT_INPUT;
  }
  char hash[20];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)tribo_data_hash(sim->model, sim->data));
  json_begin(&json, NULL, '{');
  json_text(&json, "scene", sim->path);
  json_int(&json, "steps", sim->totals.steps);
  json_real(&json, "time", sim->totals.time);
  json_totals(&json, sim);
  json_quality(&json, sim);
  json_text(&json, "state_hash", hash);
  if (hash_first != NULL) {
    json_text(&json, "state_hash_first_run", hash_first);
  }
  json_text(&json, "status", sim->totals.interrupted ? "interrupted" : "done");
  json_end(&json, '}');
  return json_close(&json, path) ? EXIT_WELL : EXIT_INPUT;
}

static int save_state(const Simulation* sim, const char* path) {
  TriboState* state;
  TriboStatus status = tribo_state_create(&state);
  if (status == TRIBO_OK) {
    status = tribo_state_save(sim->model, sim->data, state);
    status = status == TRIBO_OK ? tribo_state_write(state, path) : status;
    tribo_state_destroy(state);
  }
  return status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
}

// After the first step: which shapes the scene has placed in each other, the deepest first.
static TriboStatus warn_of_overlaps(Simulation* sim, void* unused) {
  enum { NAMED = 3 };
  static const double DEEP = 1e-3;  // [m]
  const TriboContactView *contacts, *worst[NAMED];
  int count, npair = 0;
  (void)unused;
  if (sim->totals.steps != 1 || tribo_data_contacts(sim->model, sim->data, &contacts, &count) != TRIBO_OK) {
    return TRIBO_OK;
  }
  for (int i = 0, next; i < count; i = next) {
    // (the points of a pair come one after the other)
    const TriboContactView* deepest = &contacts[i];
    for (next = i + 1;
         next < count && contacts[next].shape_a == contacts[i].shape_a && contacts[next].shape_b == contacts[i].shape_b;
         ++next) {
      deepest = contacts[next].gap < deepest->gap ? &contacts[next] : deepest;
    }
    if (-deepest->gap <= DEEP) {
      continue;
    }
    for (int k = 0; k < NAMED; ++k) {
      if (k >= npair || deepest->gap < worst[k]->gap) {
        const TriboContactView* other = k < npair ? worst[k] : NULL;
        worst[k] = deepest;
        deepest = other;
      }
      if (deepest == NULL) {
        break;
      }
    }
    npair++;
  }
  for (int k = 0; k < npair && k < NAMED; ++k) {
    fprintf(stderr, "tribo: warning: %s and %s start %.3g mm deep in each other\n",
            tribo_model_name(sim->model, TRIBO_ITEM_SHAPE, worst[k]->shape_a),
            tribo_model_name(sim->model, TRIBO_ITEM_SHAPE, worst[k]->shape_b), -1e3 * worst[k]->gap);
  }
  if (npair > NAMED) {
    fprintf(stderr, "tribo: warning: and %d more pairs\n", npair - NAMED);
  }
  return TRIBO_OK;
}

// Runs the scene with its recorders and tells the totals.
static int simulate(const Args* args, Simulation* sim) {
  const char *load = cli_value(args, "--load"), *save = cli_value(args, "--save"), *json = cli_value(args, "--json");
  int quiet = cli_value(args, "--quiet") != NULL, code = EXIT_WELL;
  char first[20];
  double steps = (double)sim->steps;
  if (!cli_number(args, "--steps", 1, 1e15, &steps)) {
    return EXIT_INPUT;
  }
  sim->steps = (long long)steps;
  sim->seen = load == NULL && !quiet ? warn_of_overlaps : NULL;
  if (cli_value(args, "--twice") != NULL) {
    code = simulation_run(sim, !quiet);
    snprintf(first, sizeof first, "%016llx", (unsigned long long)tribo_data_hash(sim->model, sim->data));
    tribo_data_reset(sim->model, sim->data);
    sim->seen = NULL;
  }
  code = code == EXIT_WELL ? simulation_load(sim, load) : code;
  code = code == EXIT_WELL ? simulation_record(sim, cli_value(args, "--record")) : code;
  code = code == EXIT_WELL ? simulation_run(sim, !quiet) : code;
  if (code != EXIT_WELL) {
    return code;
  }
  if (!quiet && (json == NULL || strcmp(json, "-") != 0)) {
    print_table(sim);
  }
  code = save != NULL ? save_state(sim, save) : EXIT_WELL;
  if (code == EXIT_WELL && json != NULL) {
    code = write_json(sim, json, cli_value(args, "--twice") != NULL ? first : NULL);
  }
  if (code != EXIT_WELL || sim->totals.interrupted) {
    return code != EXIT_WELL ? code : EXIT_INTERRUPTED;
  }
  return cli_value(args, "--strict") != NULL && sim->totals.certified < sim->totals.steps ? EXIT_FAILED : EXIT_WELL;
}

static int run(const Args* args) {
  Simulation sim;
  int code = simulation_open(args, args->positional[0], &sim);
  code = code == EXIT_WELL ? simulate(args, &sim) : code;
  simulation_close(&sim);
  return code;
}

const Command command_run = {"run", "SCENE [flags]", "simulate a scene", flags, 1, 1, run};
