// `tribo id`: the torques and contact forces of a recorded motion, step by step.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contact_file.h"
#include "json.h"
#include "motion.h"

static const Flag flags[] = {
    {"--motion", "FILE", "the motion: CSV with t, q.* and v.* as `tribo run --record` writes it, evenly in time"},
    {"--out", "FILE", "torques of every step, as CSV, with the motion itself"},
    {"--contacts", "FILE", "contact forces of every step, as CSV: a line for each contact; render and view draw them"},
    MOTION_FLAGS,
    {"--nearest", NULL, "where the motion is not feasible, take the nearest one that is"},
    {"--set", "KEY=VALUE", "any world setting, or solver.KEY; may be repeated"},
    {"--strict", NULL, "exit 1 when a step is not feasible, 2 when the file was not taken in full"},
    {"--no-ground", NULL, "no ground under a robot file that has no world"},
    {"--json", "FILE", "results for machines; - is standard output"},
    {"--quiet", NULL, "no text for people"},
    {0},
};

typedef struct Run {
  Simulation sim;
  Motion motion;
  FILE *out, *contacts;
  long steps, infeasible, slipping;
  double first_infeasible, first_slip;  // [s]
  double v_error, distance;
  double *tau_max, *missing_max;  // (nv)
  TriboResiduals residual;        // worst of each
} Run;

// ---- one step

static void write_header(const Run* run) {
  const int nq = tribo_model_size(run->sim.model).nq, nv = tribo_model_size(run->sim.model).nv;
  fputs("t", run->out);
  for (int i = 0; i < nq + nv; ++i) {
    fprintf(run->out, ",%s", tribo_recorder_column(run->motion.names, 1 + i));
  }
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < nv; ++i) {
      // "v.arm/elbow" → "tau.arm/elbow"
      fprintf(run->out, ",%s%s", pass ? "missing" : "tau", tribo_recorder_column(run->motion.names, 1 + nq + i) + 1);
    }
  }
  fputs(",contacts,sliding,feasible,deviation,nat,distance\n", run->out);
}

static void write_row(const Run* run, const TriboInverse* inverse, int contacts, int sliding) {
  const int nq = tribo_model_size(run->sim.model).nq, nv = tribo_model_size(run->sim.model).nv;
  fprintf(run->out, "%.17g", run->motion.now[0]);
  for (int i = 0; i < nq + nv; ++i) {
    fprintf(run->out, ",%.17g", run->motion.now[1 + i]);
  }
  for (int i = 0; i < nv; ++i) {
    fprintf(run->out, ",%.17g", inverse->tau[i]);
  }
  for (int i = 0; i < nv; ++i) {
    fprintf(run->out, ",%.17g", inverse->effort_missing[i]);
  }
  fprintf(run->out, ",%d,%d,%d,%.17g,%.17g,%.17g\n", contacts, sliding, inverse->feasible, inverse->v_error,
          inverse->residual.nat, inverse->distance);
}

static void add(Run* run, const TriboInverse* inverse, int sliding) {
  const int nv = tribo_model_size(run->sim.model).nv;
  const TriboResiduals* r = &inverse->residual;
  run->steps++;
  for (int i = 0; i < nv; ++i) {
    run->tau_max[i] = fmax(run->tau_max[i], fabs(inverse->tau[i]));
    run->missing_max[i] = fmax(run->missing_max[i], fabs(inverse->effort_missing[i]));
  }
  run->residual.prim = fmax(run->residual.prim, r->prim);
  run->residual.dual = fmax(run->residual.dual, r->dual);
  run->residual.comp = fmax(run->residual.comp, r->comp);
  run->residual.nat = fmax(run->residual.nat, r->nat);
  run->v_error = fmax(run->v_error, inverse->v_error);
  run->distance = fmax(run->distance, inverse->distance);
  if (!inverse->feasible && run->infeasible++ == 0) {
    run->first_infeasible = run->motion.now[0];
  }
  if (sliding > 0 && run->slipping++ == 0) {
    run->first_slip = run->motion.now[0];
  }
}

// From the row that is kept to the next one.
static int invert(Run* run) {
  TriboInverse inverse;
  const int code = motion_invert(&run->sim, &run->motion, &inverse);
  int contacts = 0, sliding = 0;
  for (int i = 0; code == EXIT_WELL && i < inverse.ncontact; ++i) {
    contacts += inverse.contacts[i].mode != TRIBO_CONTACT_OPEN;
    sliding += inverse.contacts[i].mode == TRIBO_CONTACT_SLIDE;
  }
  if (code == EXIT_WELL) {
    add(run, &inverse, sliding);
  }
  if (code == EXIT_WELL && run->out != NULL) {
    write_row(run, &inverse, contacts, sliding);
  }
  if (code == EXIT_WELL && run->contacts != NULL) {
    forces_write(run->contacts, run->sim.model, run->motion.now[0], inverse.contacts, inverse.ncontact);
  }
  return code;
}

// ---- all of it

// The bar follows the place in the file.
static void draw(const Run* run, long end) {
  enum { WIDTH = 30 };
  const int full = end > 0 ? (int)((double)ftell(run->motion.file) / (double)end * WIDTH) : 0;
  fprintf(stderr, "\r[%.*s%*s] %6.2f s  %ld infeasible ", full, "##############################", WIDTH - full, "",
          run->motion.now[0], run->infeasible);
}

// Inverse dynamics row by row of the motion.
static int go_through(Run* run, int progress) {
  const int bar = progress && isatty(STDERR_FILENO);
  const long place = ftell(run->motion.file);
  fseek(run->motion.file, 0, SEEK_END);
  const long end = ftell(run->motion.file);
  fseek(run->motion.file, place, SEEK_SET);
  int code = EXIT_WELL;
  for (int more = 1; code == EXIT_WELL && more;) {
    code = invert(run);
    code = code == EXIT_WELL ? motion_next(&run->motion, &more) : code;
    if (bar && run->steps % 64 == 0) {
      draw(run, end);
    }
  }
  if (bar) {
    fputs("\r\033[K", stderr);
  }
  FILE* const files[] = {run->out, run->contacts};
  for (int i = 0; i < 2; ++i) {
    if (code != EXIT_WELL && files[i] != NULL) {
      fprintf(files[i], "# incomplete: %s stopped at t = %.9g after %ld steps\n", run->motion.path, run->motion.now[0],
              run->steps);
    }
  }
  return code;
}

// ---- results

static void print_summary(const Run* run) {
  const int nq = tribo_model_size(run->sim.model).nq, nv = tribo_model_size(run->sim.model).nv;
  printf("steps          %ld\n", run->steps);
  printf("infeasible     %ld", run->infeasible);
  printf(run->infeasible > 0 ? ", the first at %.6g s; motions miss by up to %.2e m/s, in energy %.2e J\n" : "\n",
         run->first_infeasible, run->v_error, 0.5 * run->distance * run->distance);
  printf("slipping       %ld", run->slipping);
  printf(run->slipping > 0 ? ", the first at %.6g s\n" : "\n", run->first_slip);
  printf("residuals      nat %.2e m/s, prim %.2e N s, dual %.2e m/s, comp %.2e J (worst of the motion)\n",
         run->residual.nat, run->residual.prim, run->residual.dual, run->residual.comp);
  printf("\npeak torques and missing forces [N m, N]\n");
  for (int i = 0; i < nv; ++i) {
    if (run->tau_max[i] > 0 || run->missing_max[i] > 1e-9) {
      printf("  %-32s %12.6g%s\n", tribo_recorder_column(run->motion.names, 1 + nq + i) + 2,
             fmax(run->tau_max[i], run->missing_max[i]), run->tau_max[i] > 0 ? "" : "  missing");
    }
  }
}

// The results for machines.
static int write_json(const Run* run, const char* path, int code) {
  const int nq = tribo_model_size(run->sim.model).nq, nv = tribo_model_size(run->sim.model).nv;
  Json json;
  if (!json_open(&json, path)) {
    return EXIT_INPUT;
  }
  json_begin(&json, NULL, '{');
  json_text(&json, "scene", run->sim.path);
  json_text(&json, "motion", run->motion.path);
  json_int(&json, "steps", run->steps);
  json_int(&json, "infeasible_steps", run->infeasible);
  json_int(&json, "slip_steps", run->slipping);
  json_real(&json, "deviation_max", run->v_error);
  json_real(&json, "distance_max", run->distance);
  json_begin(&json, "residual", '{');
  json_real(&json, "prim", run->residual.prim);
  json_real(&json, "dual", run->residual.dual);
  json_real(&json, "comp", run->residual.comp);
  json_real(&json, "nat", run->residual.nat);
  json_end(&json, '}');
  for (int pass = 0; pass < 2; ++pass) {
    const double* most = pass ? run->missing_max : run->tau_max;
    json_begin(&json, pass ? "missing_max" : "tau_max", '{');
    for (int i = 0; i < nv; ++i) {
      if (most[i] > 0) {
        json_real(&json, tribo_recorder_column(run->motion.names, 1 + nq + i) + 2, most[i]);
      }
    }
    json_end(&json, '}');
  }
  json_text(&json, "status", code == EXIT_WELL ? "done" : "incomplete");
  json_end(&json, '}');
  return json_close(&json, path) ? code : EXIT_INPUT;
}

// A file to write, NULL when it is not wanted.
static int open_output(const char* path, FILE** out) {
  *out = path != NULL ? fopen(path, "w") : NULL;
  return path == NULL || *out != NULL ? EXIT_WELL : cli_wrong("%s: cannot be written: %s", path, strerror(errno));
}

static int close_output(const char* path, FILE** file, int code) {
  const int bad = *file != NULL && (ferror(*file) | fclose(*file)) != 0;
  *file = NULL;
  return bad ? cli_wrong("%s: cannot be written", path) : code;
}

// Opens what is read and written, goes through the motion and tells what was found.
static int work(const Args* args, Run* run) {
  const char *out = cli_value(args, "--out"), *json = cli_value(args, "--json"),
             *contacts = cli_value(args, "--contacts");
  const int quiet = cli_value(args, "--quiet") != NULL;
  if (cli_value(args, "--motion") == NULL) {
    return cli_wrong("id needs --motion FILE");
  }
  int code = simulation_open(args, args->positional[0], &run->sim);
  code = code == EXIT_WELL ? motion_open(args, &run->sim, &run->motion) : code;
  if (code != EXIT_WELL) {
    return code;
  }
  run->motion.options.nearest = cli_value(args, "--nearest") != NULL;
  const size_t nv = (size_t)tribo_model_size(run->sim.model).nv;
  run->tau_max = calloc(nv + 1, sizeof *run->tau_max);
  run->missing_max = calloc(nv + 1, sizeof *run->missing_max);
  if (run->tau_max == NULL || run->missing_max == NULL) {
    return EXIT_INTERNAL;
  }
  code = open_output(out, &run->out);
  code = code == EXIT_WELL ? open_output(contacts, &run->contacts) : code;
  if (code != EXIT_WELL) {
    return close_output(out, &run->out, code);
  }
  if (run->out != NULL) {
    write_header(run);
  }
  if (run->contacts != NULL) {
    forces_write_header(run->contacts);
  }
  code = go_through(run, !quiet);
  code = close_output(out, &run->out, code);
  code = close_output(contacts, &run->contacts, code);
  if (!quiet && (json == NULL || strcmp(json, "-") != 0)) {
    print_summary(run);
  }
  code = json != NULL ? write_json(run, json, code) : code;
  return code == EXIT_WELL && run->infeasible > 0 && cli_value(args, "--strict") != NULL ? EXIT_FAILED : code;
}

static int run_id(const Args* args) {
  Run run = {0};
  const int code = work(args, &run);
  motion_close(&run.motion);
  free(run.tau_max);
  free(run.missing_max);
  simulation_close(&run.sim);
  return code;
}

const Command command_id = {
    "id", "SCENE --motion FILE [flags]", "torques and contact forces of a recorded motion", flags, 1, 1, run_id};
