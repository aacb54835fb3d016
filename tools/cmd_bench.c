// `tribo bench`, and `tribo bench solvers DIR`: every solver on every problem of a folder at three tolerances, judged
// alike; with --peers Siconos' solvers too, in the same run.
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_scenes.h"
#include "bench_suite.h"
#include "cli.h"
#include "grow.h"
#include "json.h"
#include "paths.h"
#include "problem_file.h"
#include "svg.h"

enum { TOLERANCES = 3, MOST_SOLVERS = 48, MANY = 20, NAME = CLI_SOLVER_NAME };
static const double tolerances[TOLERANCES] = {1e-4, 1e-6, 1e-8};

static const Flag flags[] = {
    {"--solvers", "A,B",
     "solvers to compare, all when not given; the first is compared with the peers. steps: with settings, as in "
     "subadmm:split=1"},
    {"--max-time", "S", "solvers, suite: time budget of one solve; 1 s, suite 0.25 s"},
    {"--samples", "N", "suite: steps of a scene whose problems are solved, 50"},
    {"--html", "FILE", "suite: one page with the systems, tables and performance profiles by category"},
    {"--strict", NULL,
     "suite: exit 1 unless the first solver solves all, and is best on as many problems as any, by every residual and "
     "the time to 1e-8"},
    {"--repeats", "N", "scenes, steps: runs of which the fastest counts, step by step; 5"},
    {"--every", "N", "steps: every n-th step's problem is solved; 10"},
    {"--steps", "N", "scenes: steps to measure, instead of the scene's duration"},
    {"--window", "A:B", "scenes, steps: the seconds whose steps count, all when not given"},
    {"--settle", "S", "scenes: seconds that Tribo simulates first; every engine sets out from there"},
    {"--load", "FILE", "scenes: a saved state to set out from"},
    {"--peers", NULL, "also Siconos' solvers; scenes: MuJoCo on the same bodies, with its defaults and hardened"},
    {"--csv", "FILE", "every run as a line"},
    {"--svg", "FILE",
     "solvers: fraction of the problems solved within a multiple of the best time; scenes: cost by stage"},
    {"--duration", "S", "scenes: simulated seconds, instead of the scene's"},
    {"--dt", "S", "scenes: time step, instead of the scene's"},
    {"--solver", "ID", "scenes: solver, instead of the scene's"},
    {"--set", "KEY=VALUE", "scenes: any world setting, or solver.KEY; may be repeated"},
    {"--json", "FILE", "results for machines; - is standard output"},
    {"--quiet", NULL, "no text for people"},
    {0},
};

typedef struct Run {
  double time, natmap_unit;
  int iterations, solved;
} Run;

typedef struct Bench {
  const Args* args;
  const char* dir;
  char** names;  // (nproblem) sorted
  int* contacts;
  int nproblem;
  char solvers[MOST_SOLVERS][NAME];
  int nown, nsolver;  // our own come first
  Run* runs;          // (nproblem × TOLERANCES × MOST_SOLVERS)
  double budget;
} Bench;

static Run* at(const Bench* b, int problem, int tol, int solver) {
  return &b->runs[(problem * TOLERANCES + tol) * MOST_SOLVERS + solver];
}

// ---- what there is to do

static int by_name(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

static int is_problem(const char* name) {
  return path_ends_in(name, ".hdf5") || path_ends_in(name, ".dat");
}

// The problems to be solved: files as named, and all of a folder in order.
static int list_problems(Bench* b) {
  DIR* dir = opendir(b->dir);
  if (dir == NULL) {
    return cli_wrong("%s: cannot be read: %s", b->dir, strerror(errno));
  }
  int code = EXIT_WELL;
  for (struct dirent* e; code == EXIT_WELL && (e = readdir(dir)) != NULL;) {
    if (!is_problem(e->d_name)) {
      continue;
    }
    code = GROW(&b->names, b->nproblem) ? EXIT_WELL : EXIT_INTERNAL;
    if (code == EXIT_WELL) {
      b->names[b->nproblem++] = strdup(e->d_name);
    }
  }
  closedir(dir);
  if (code == EXIT_WELL && b->nproblem == 0) {
    return cli_wrong("%s: there is no .hdf5 or .dat file in it", b->dir);
  }
  qsort(b->names, (size_t)b->nproblem, sizeof *b->names, by_name);
  b->contacts = calloc((size_t)b->nproblem, sizeof *b->contacts);
  b->runs = calloc((size_t)(b->nproblem * TOLERANCES * MOST_SOLVERS), sizeof *b->runs);
  return b->contacts != NULL && b->runs != NULL ? code : EXIT_INTERNAL;
}

static int list_solvers(Bench* b) {
  const int code = cli_solvers(b->args, b->solvers, MOST_SOLVERS / 2, &b->nown);
  b->nsolver = b->nown;
  return code;
}

// ---- running

// best time of a few; more of them when they are short
static TriboStatus run_own(const Bench* b, const char* id, const TriboProblem* p, double tol, double* lambda,
                           Run* out) {
  TriboSolver* s;
  TriboStatus status = tribo_solver_create(id, &s);
  status = status == TRIBO_OK ? tribo_solver_set(s, "whole", 1) : status;
  status = status == TRIBO_OK ? tribo_solver_set(s, "tol", tol) : status;
  status = status == TRIBO_OK ? tribo_solver_set(s, "max_time", b->budget) : status;
  *out = (Run){.time = INFINITY};
  double spent = 0;
  for (int i = 0; status == TRIBO_OK && i < 10 && (i < 3 || spent < 0.02) && spent < b->budget; ++i) {
    TriboSolveStats stats;
    TriboResiduals r;
    status = tribo_solver_solve(s, p, NULL, lambda, &stats);
    status = status == TRIBO_OK ? tribo_problem_residuals(p, lambda, lambda + p->nrow, &r) : status;
    if (status == TRIBO_OK) {
      spent += stats.time;
      out->time = fmin(out->time, stats.time);
      out->iterations = stats.iterations;
      out->natmap_unit = r.natmap_unit;
      out->solved = r.natmap_unit <= tol;
    }
  }
  tribo_solver_destroy(s);
  return status;
}

// a solver's place by its name, a new one at the end
static int peer_index(Bench* b, const char* name) {
  char full[NAME];
  snprintf(full, sizeof full, "siconos:%s", name);
  for (int i = b->nown; i < b->nsolver; ++i) {
    if (strcmp(b->solvers[i], full) == 0) {
      return i;
    }
  }
  snprintf(b->solvers[b->nsolver], NAME, "%s", full);
  return b->nsolver < MOST_SOLVERS - 1 ? b->nsolver++ : b->nsolver;
}

// the program beside this one
static int run_peers(Bench* b, const char* path, int problem, int tol) {
  char self[3000], command[8192], line[256];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = '\0';
  char* slash = strrchr(self, '/');
  if (slash == NULL || strchr(path, '\'') != NULL) {
    return cli_wrong("%s: a name the peer cannot be given", path);
  }
  snprintf(slash, sizeof self - (size_t)(slash - self), "/tribo-siconos");
  if (access(self, X_OK) != 0) {
    return cli_wrong("--peers: %s is not there; install libsiconos-numerics-dev and build again", self);
  }
  snprintf(command, sizeof command, "'%s' '%s' %g %g", self, path, tolerances[tol], b->budget);
  FILE* peer = popen(command, "r");
  if (peer == NULL) {
    return cli_wrong("--peers: %s cannot be started", self);
  }
  while (fgets(line, sizeof line, peer) != NULL) {
    char name[NAME - 10];
    Run r = {0};
    if (sscanf(line, "%53[^,],%lf,%d,%lf", name, &r.time, &r.iterations, &r.natmap_unit) == 4) {
      r.solved = r.natmap_unit <= tolerances[tol];
      *at(b, problem, tol, peer_index(b, name)) = r;
    }
  }
  return pclose(peer) == 0 ? EXIT_WELL : cli_wrong("--peers: %s failed on %s", self, path);
}

static int run_problem(Bench* b, int i) {
  char path[4096];
  ProblemFile p;
  snprintf(path, sizeof path, "%s/%s", b->dir, b->names[i]);
  if (!problem_read(path, &p)) {
    cli_wrong("%s: %s", path, p.reason);
    problem_free(&p);
    return EXIT_INPUT;
  }
  b->contacts[i] = p.contacts;
  double* lambda = calloc(2 * (size_t)p.problem.nrow, sizeof *lambda);
  int code = lambda != NULL ? EXIT_WELL : EXIT_INTERNAL;
  for (int t = 0; t < TOLERANCES && code == EXIT_WELL; ++t) {
    for (int s = 0; s < b->nown && code == EXIT_WELL; ++s) {
      TriboStatus status = run_own(b, b->solvers[s], &p.problem, tolerances[t], lambda, at(b, i, t, s));
      code = status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
    }
    if (code == EXIT_WELL && cli_value(b->args, "--peers") != NULL) {
      code = run_peers(b, path, i, t);
    }
  }
  free(lambda);
  problem_free(&p);
  return code;
}

// ---- results

// fastest of solvers first … last − 1 that solved it; −1: none
static int fastest(const Bench* b, int problem, int tol, int first, int last) {
  int best = -1;
  for (int s = first; s < last; ++s) {
    const Run* r = at(b, problem, tol, s);
    if (r->solved && (best < 0 || r->time < at(b, problem, tol, best)->time)) {
      best = s;
    }
  }
  return best;
}

static void print_solvers(const Bench* b) {
  printf("%-24s", "solved, total time");
  for (int t = 0; t < TOLERANCES; ++t) {
    printf("%22g", tolerances[t]);
  }
  printf("\n");
  for (int s = 0; s < b->nsolver; ++s) {
    printf("%-24s", b->solvers[s]);
    for (int t = 0; t < TOLERANCES; ++t) {
      int solved = 0;
      double time = 0;
      for (int i = 0; i < b->nproblem; ++i) {
        solved += at(b, i, t, s)->solved;
        time += at(b, i, t, s)->solved ? at(b, i, t, s)->time : 0;
      }
      printf("%6d of %-4d %8.2f ms", solved, b->nproblem, 1e3 * time);
    }
    printf("\n");
  }
}

// geometric mean of our first solver against the best peer, over problems with many contacts that both solve
static double mean_ratio(const Bench* b, int tol, int* counted) {
  double sum = 0;
  *counted = 0;
  for (int i = 0; i < b->nproblem; ++i) {
    int peer = fastest(b, i, tol, b->nown, b->nsolver);
    if (b->contacts[i] >= MANY && peer >= 0 && at(b, i, tol, 0)->solved) {
      sum += log(at(b, i, tol, 0)->time / at(b, i, tol, peer)->time);
      ++*counted;
    }
  }
  return *counted > 0 ? exp(sum / *counted) : NAN;
}

// Our time, the best peer's and their ratio, problem by problem.
static void print_ratios(const Bench* b) {
  printf("\n%s against the best peer, ms, ms, ratio\n%-42s", b->solvers[0], "problem");
  for (int t = 0; t < TOLERANCES; ++t) {
    printf("%30g", tolerances[t]);
  }
  printf("\n");
  for (int i = 0; i < b->nproblem; ++i) {
    printf("%-36s %5d", b->names[i], b->contacts[i]);
    for (int t = 0; t < TOLERANCES; ++t) {
      const Run* own = at(b, i, t, 0);
      int peer = fastest(b, i, t, b->nown, b->nsolver);
      printf("  %8.3f%s", 1e3 * own->time, own->solved ? " " : "!");
      if (peer >= 0) {
        const Run* r = at(b, i, t, peer);
        printf(" %8.3f %7.3f ", 1e3 * r->time, own->time / r->time);
      } else {
        printf(" %17s", "none ");
      }
    }
    printf("\n");
  }
  printf("%-42s", "geometric mean, 20 contacts or more");
  for (int t = 0; t < TOLERANCES; ++t) {
    int counted;
    double mean = mean_ratio(b, t, &counted);
    printf("  %14.3f over %3d       ", mean, counted);
  }
  printf("\n");
}

static int write_csv(const Bench* b, const char* path) {
  FILE* f = fopen(path, "w");
  if (f == NULL) {
    return cli_wrong("%s: cannot be written: %s", path, strerror(errno));
  }
  fputs("problem,contacts,solver,tolerance,solved,time_s,iterations,natmap_unit\n", f);
  for (int i = 0; i < b->nproblem; ++i) {
    for (int t = 0; t < TOLERANCES; ++t) {
      for (int s = 0; s < b->nsolver; ++s) {
        const Run* r = at(b, i, t, s);
        fprintf(f, "%s,%d,%s,%g,%d,%.9g,%d,%.9g\n", b->names[i], b->contacts[i], b->solvers[s], tolerances[t],
                r->solved, r->time, r->iterations, r->natmap_unit);
      }
    }
  }
  return cli_close(f, path);
}

// The report as JSON: what was solved, and by whom, how fast.
static int write_json(const Bench* b, const char* path) {
  Json json;
  if (!json_open(&json, path)) {
    return EXIT_INPUT;
  }
  json_begin(&json, NULL, '[');
  for (int i = 0; i < b->nproblem; ++i) {
    for (int t = 0; t < TOLERANCES; ++t) {
      int best = fastest(b, i, t, 0, b->nsolver);
      for (int s = 0; s < b->nsolver; ++s) {
        const Run* r = at(b, i, t, s);
        json_begin(&json, NULL, '{');
        json_text(&json, "work", b->names[i]);
        json_text(&json, "engine", b->solvers[s]);
        json_real(&json, "settings", tolerances[t]);
        json_real(&json, "us", 1e6 * r->time);
        json_real(&json, "ratio", best >= 0 ? r->time / at(b, i, t, best)->time : NAN);
        json_begin(&json, "accuracy", '{');
        json_real(&json, "natmap_unit", r->natmap_unit);
        json_bool(&json, "solved", r->solved);
        json_end(&json, '}');
        json_int(&json, "contacts", b->contacts[i]);
        json_int(&json, "iterations", r->iterations);
        json_end(&json, '}');
      }
    }
  }
  json_end(&json, ']');
  return json_close(&json, path) ? EXIT_WELL : EXIT_INPUT;
}

static int by_size(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// for each solver the share of problems it solves within a multiple of the best time
static int write_profiles(const Bench* b, const char* path) {
  size_t points = 2 * (size_t)b->nproblem + 2;
  double* memory = calloc(TOLERANCES * (size_t)b->nsolver * 2 * points, sizeof *memory);
  SvgCurve* curves = calloc(TOLERANCES * (size_t)b->nsolver, sizeof *curves);
  SvgPanel panels[TOLERANCES];
  char titles[TOLERANCES][32];
  if (memory == NULL || curves == NULL) {
    free(memory);
    free(curves);
    return EXIT_INTERNAL;
  }
  for (int t = 0; t < TOLERANCES; ++t) {
    snprintf(titles[t], sizeof titles[t], "natmap_unit <= %g", tolerances[t]);
    panels[t] = (SvgPanel){.title = titles[t],
                           .x_label = "time / best time",
                           .y_label = "fraction solved",
                           .log_x = 1,
                           .curves = curves + t * b->nsolver,
                           .count = b->nsolver};
    for (int s = 0; s < b->nsolver; ++s) {
      double *x = memory + 2 * points * (size_t)(t * b->nsolver + s), *y = x + points;
      int n = 0;
      for (int i = 0; i < b->nproblem; ++i) {
        if (at(b, i, t, s)->solved) {
          x[n++] = at(b, i, t, s)->time / at(b, i, t, fastest(b, i, t, 0, b->nsolver))->time;
        }
      }
      qsort(x, (size_t)n, sizeof *x, by_size);
      // a staircase, from the last step down so that it can be made in place
      for (int i = n - 1; i >= 0; --i) {
        x[2 * i] = x[2 * i + 1] = x[i];
        y[2 * i] = (double)i / b->nproblem;
        y[2 * i + 1] = (double)(i + 1) / b->nproblem;
      }
      curves[t * b->nsolver + s] = (SvgCurve){b->solvers[s], x, y, 2 * n};
    }
  }
  int good = svg_write(path, panels, TOLERANCES);
  free(memory);
  free(curves);
  return good ? EXIT_WELL : cli_wrong("%s: cannot be written: %s", path, strerror(errno));
}

static int report(const Bench* b) {
  const char *csv = cli_value(b->args, "--csv"), *svg = cli_value(b->args, "--svg"),
             *json = cli_value(b->args, "--json");
  int code = EXIT_WELL;
  if (cli_value(b->args, "--quiet") == NULL && (json == NULL || strcmp(json, "-") != 0)) {
    print_solvers(b);
    if (b->nsolver > b->nown) {
      print_ratios(b);
    }
  }
  code = csv != NULL ? write_csv(b, csv) : code;
  code = code == EXIT_WELL && svg != NULL ? write_profiles(b, svg) : code;
  return code == EXIT_WELL && json != NULL ? write_json(b, json) : code;
}

// One of the four benches.
static int run(const Args* args) {
  Bench b = {.args = args, .dir = args->npositional > 1 ? args->positional[1] : NULL, .budget = 1};
  if (strcmp(args->positional[0], "scenes") == 0) {
    return args->npositional > 1 ? bench_scenes(args) : cli_wrong("bench scenes needs a scene or a folder");
  }
  if (strcmp(args->positional[0], "steps") == 0) {
    return bench_steps(args);
  }
  if (strcmp(args->positional[0], "suite") == 0) {
    return bench_suite(args);
  }
  if (strcmp(args->positional[0], "solvers") != 0 || args->npositional != 2) {
    return cli_wrong(
        "bench %s: accepted are `bench solvers DIR`, `bench steps SCENE`, `bench suite` and `bench scenes PATH…`",
        args->positional[0]);
  }
  if (!cli_number(args, "--max-time", 1e-6, 1e6, &b.budget)) {
    return EXIT_INPUT;
  }
  int code = list_solvers(&b);
  code = code == EXIT_WELL ? list_problems(&b) : code;
  for (int i = 0; i < b.nproblem && code == EXIT_WELL; ++i) {
    code = run_problem(&b, i);
  }
  code = code == EXIT_WELL ? report(&b) : code;
  for (int i = 0; i < b.nproblem; ++i) {
    free(b.names[i]);
  }
  free(b.names);
  free(b.contacts);
  free(b.runs);
  return code;
}

const Command command_bench = {"bench",
                               "solvers DIR | steps SCENE | suite [PATH…] | scenes PATH… [flags]",
                               "compare solvers on contact problems of files, of a scene's steps or of the suite of "
                               "mechanisms, or time the steps of scenes",
                               flags,
                               1,
                               1000,
                               run};
