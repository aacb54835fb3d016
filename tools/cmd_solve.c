// `tribo solve`: contact problems from files, without a world.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "solve_qpcc.h"
#include "cli.h"
#include "grow.h"
#include "json.h"
#include "paper_003.h"
#include "paths.h"
#include "plain_residuals.h"
#include "problem_file.h"
#include "svg.h"

static const Flag flags[] = {
    {"--solver", "ID", "solver; `tribo solvers` lists them"},
    {"--tol", "T", "natmap_unit at which a problem counts as solved, 1e-8"},
    {"--max-time", "S", "time budget of one solve"},
    {"--set", "KEY=VALUE", "any setting of the solver; may be repeated"},
    {"--out", "FILE", "write the problem with /solution/r; a folder for several problems"},
    {"--history", "FILE.csv", "residuals iteration by iteration"},
    {"--plot", "FILE.svg", "draw natmap_unit iteration by iteration"},
    {"--strict", NULL, "exit 1 when a problem was not solved"},
    {"--json", "FILE", "results for machines; - is standard output"},
    {"--quiet", NULL, "no text for people"},
    {0},
};

// natmap_unit of every iteration, for the plot
typedef struct Trace {
  double *x, *y;
  int count;
} Trace;

typedef struct Solve {
  const Args* args;
  TriboSolver* solver;
  const char* id;
  double tol;
  FILE* history;
  Trace* traces;  // (files) NULL: no plot
  int at;
  const char* file;  // at work
  Json* json;        // NULL: none
  int quiet, solved;
} Solve;

static void remember(int iteration, TriboRung rung, double nat, double natmap_unit, void* user) {
  const Solve* s = user;
  if (s->history != NULL) {
    fprintf(s->history, "%s,%d,%s,%.17g,%.17g\n", s->file, iteration, tribo_rung_name(rung), nat, natmap_unit);
  }
  Trace* t = s->traces != NULL ? &s->traces[s->at] : NULL;
  if (t != NULL && GROW(&t->x, t->count) && GROW(&t->y, t->count)) {
    t->x[t->count] = iteration;
    t->y[t->count++] = natmap_unit;
  }
}

static TriboStatus make_solver(Solve* s, int* wrong) {
  TriboStatus status = tribo_solver_create(s->id, &s->solver);
  // the problem as a whole is judged
  status = status == TRIBO_OK ? tribo_solver_set(s->solver, "whole", 1) : status;
  status = status == TRIBO_OK ? tribo_solver_set(s->solver, "tol", s->tol) : status;
  double budget = 0;
  if (!cli_number(s->args, "--max-time", 1e-9, 1e6, &budget)) {
    *wrong = 1;
    return TRIBO_INVALID;
  }
  status = status == TRIBO_OK ? tribo_solver_set(s->solver, "max_time", budget) : status;
  for (int i = 0; status == TRIBO_OK && i < s->args->nset; ++i) {
    char key[80];
    double value;
    if (!cli_set(s->args, i, key, sizeof key, &value)) {
      *wrong = 1;
      return TRIBO_INVALID;
    }
    status = tribo_solver_set(s->solver, key, value);
  }
  return status;
}

static void print_line(const ProblemFile* p, const Solve* s, const TriboSolveStats* stats, const TriboResiduals* r) {
  const char* slash = strrchr(s->file, '/');
  printf("%-42s %8d %6d  %-10s %9.2f ms %9.1e %9.1e %9.1e %9.1e ", slash ? slash + 1 : s->file, p->contacts,
         p->problem.nrow, tribo_outcome_name(stats->outcome), 1e3 * stats->time, r->natmap_unit, r->prim, r->dual,
         r->comp);
  // iterations and factorisations, rung by rung
  for (int i = 0; i < TRIBO_RUNG_COUNT; ++i) {
    if (stats->rungs_tried >> i & 1) {
      printf(" %s %d/%d", tribo_rung_name(i), stats->by_rung[i].iterations, stats->by_rung[i].factorisations);
    }
  }
  printf("%s\n", p->asymmetry > 1e-14 ? "  (symmetrised)" : "");
}

// The result of one problem for machines.
static void write_json(const ProblemFile* p, const Solve* s, const TriboSolveStats* stats, const TriboResiduals* r,
                       const double* lambda, const double* sigma) {
  Json* json = s->json;
  json_begin(json, NULL, '{');
  json_text(json, "file", s->file);
  json_int(json, "contacts", p->contacts);
  json_int(json, "rows", p->problem.nrow);
  json_text(json, "solver", s->id);
  json_text(json, "status", tribo_outcome_name(stats->outcome));
  json_int(json, "iterations", stats->iterations);
  json_int(json, "factorisations", stats->factorisations);
  json_begin(json, "rungs", '{');
  for (int i = 0; i < TRIBO_RUNG_COUNT; ++i) {
    if (stats->rungs_tried >> i & 1) {
      json_begin(json, tribo_rung_name(i), '{');
      json_int(json, "iterations", stats->by_rung[i].iterations);
      json_int(json, "factorisations", stats->by_rung[i].factorisations);
      json_end(json, '}');
    }
  }
  json_end(json, '}');
  json_real(json, "time_s", stats->time);
  json_real(json, "natmap_unit", r->natmap_unit);
  json_real(json, "natmap_raw", plain_natmap(&p->problem, lambda, sigma));
  json_real(json, "paper003", paper_003_residual(&p->problem, lambda, sigma));
  json_real(json, "objective", plain_objective(&p->problem, lambda, sigma));
  json_real(json, "prim", r->prim);
  json_real(json, "dual", r->dual);
  json_real(json, "comp", r->comp);
  json_real(json, "nat", r->nat);
  json_real(json, "asymmetry", p->asymmetry);
  json_end(json, '}');
}

// the solution's file: as given for one problem, inside a folder for several
static int write_solution(const Solve* s, ProblemFile* p, const double* lambda, const double* sigma) {
  const char *out = cli_value(s->args, "--out"), *slash = strrchr(s->file, '/');
  char path[4096];
  struct stat st;
  int folder = s->args->npositional > 1 || (stat(out, &st) == 0 && S_ISDIR(st.st_mode));
  if (folder) {
    if (mkdir(out, 0777) != 0 && errno != EEXIST) {
      return cli_wrong("%s: cannot be made: %s", out, strerror(errno));
    }
    const char* name = slash ? slash + 1 : s->file;
    size_t n = strlen(name);
    int text = path_ends_in(name, ".dat");
    snprintf(path, sizeof path, "%s/%.*s%s", out, (int)(text ? n - 4 : n), name, text ? ".hdf5" : "");
    out = path;
  }
  return problem_write_solution(p, s->file, out, lambda, sigma) ? EXIT_WELL : cli_wrong("%s: %s", out, p->reason);
}

static int solve_problem(Solve* s, ProblemFile* p) {
  size_t n = (size_t)p->problem.nrow;
  double *lambda = calloc(2 * n, sizeof *lambda), *sigma = lambda != NULL ? lambda + n : NULL;
  TriboSolveStats stats;
  TriboResiduals r;
  if (lambda == NULL) {
    return cli_wrong("%s: no memory for %zu rows", s->file, n);
  }
  TriboStatus status = tribo_solver_solve(s->solver, &p->problem, NULL, lambda, &stats);
  status = status == TRIBO_OK ? tribo_problem_residuals(&p->problem, lambda, sigma, &r) : status;
  int code = status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
  if (code == EXIT_WELL) {
    s->solved += r.natmap_unit <= s->tol;
    if (!s->quiet) {
      print_line(p, s, &stats, &r);
    }
    if (s->json != NULL) {
      write_json(p, s, &stats, &r, lambda, sigma);
    }
    code = cli_value(s->args, "--out") != NULL ? write_solution(s, p, lambda, sigma) : code;
  }
  free(lambda);
  return code;
}

static int draw(const Solve* s, const char* path) {
  int n = s->args->npositional;
  SvgCurve* curves = calloc((size_t)n, sizeof *curves);
  if (curves == NULL) {
    return EXIT_INTERNAL;
  }
  for (int i = 0; i < n; ++i) {
    const char* slash = strrchr(s->args->positional[i], '/');
    curves[i] =
        (SvgCurve){slash ? slash + 1 : s->args->positional[i], s->traces[i].x, s->traces[i].y, s->traces[i].count};
  }
  SvgPanel panel = {
      .title = s->id, .x_label = "iteration", .y_label = "natmap_unit", .log_y = 1, .curves = curves, .count = n};
  int good = svg_write(path, &panel, 1);
  free(curves);
  return good ? EXIT_WELL : cli_wrong("%s: cannot be written: %s", path, strerror(errno));
}

// every file is tried; the worst exit code wins
static int solve_files(Solve* s) {
  int worst = EXIT_WELL;
  if (!s->quiet) {
    printf("%-42s %8s %6s  %-10s %12s %9s %9s %9s %9s  %s\n", "problem", "contacts", "rows", "status", "time", "natmap",
           "primal", "dual", "comp", "rungs (iterations/factorisations)");
  }
  for (int i = 0; i < s->args->npositional; ++i) {
    ProblemFile p;
    s->file = s->args->positional[s->at = i];
    int code = problem_read(s->file, &p) ? solve_problem(s, &p) : cli_wrong("%s: %s", s->file, p.reason);
    problem_free(&p);
    worst = code > worst ? code : worst;
  }
  if (!s->quiet && s->args->npositional > 1) {
    printf("%d of %d solved to %g\n", s->solved, s->args->npositional, s->tol);
  }
  return worst == EXIT_WELL && s->solved < s->args->npositional && cli_value(s->args, "--strict") != NULL ? EXIT_FAILED
                                                                                                          : worst;
}

static int open_history(Solve* s) {
  const char* history = cli_value(s->args, "--history");
  if (history != NULL) {
    s->history = fopen(history, "w");
    if (s->history == NULL) {
      return cli_wrong("%s: cannot be written: %s", history, strerror(errno));
    }
    fputs("file,iteration,rung,nat,natmap_unit\n", s->history);
  }
  if (cli_value(s->args, "--plot") != NULL) {
    s->traces = calloc((size_t)s->args->npositional, sizeof *s->traces);
    if (s->traces == NULL) {
      return EXIT_INTERNAL;
    }
  }
  if (s->history != NULL || s->traces != NULL) {
    tribo_solver_set_history(s->solver, remember, s);
  }
  return EXIT_WELL;
}

static int close_history(Solve* s, int code) {
  const char *history = cli_value(s->args, "--history"), *plot = cli_value(s->args, "--plot");
  if (s->history != NULL && fclose(s->history) != 0) {
    code = cli_wrong("%s: writing failed: %s", history, strerror(errno));
  }
  if (s->traces != NULL) {
    int drawn = draw(s, plot);
    code = drawn > code ? drawn : code;
    for (int i = 0; i < s->args->npositional; ++i) {
      free(s->traces[i].x);
      free(s->traces[i].y);
    }
    free(s->traces);
  }
  return code;
}

// Solves every file that is named.
static int run(const Args* args) {
  int qpcc = 0;
  for (int i = 0; i < args->npositional; ++i) {
    qpcc += is_qpcc_file(args->positional[i]);
  }
  if (qpcc > 0) {
    return qpcc == args->npositional ? solve_qpcc_files(args)
                                     : cli_wrong("contact problems and .qpcc files are not solved in one run");
  }
  const char* json = cli_value(args, "--json");
  Solve s = {.args = args, .id = cli_value(args, "--solver"), .tol = 1e-8};
  Json writer;
  int wrong = 0, code = EXIT_WELL;
  s.id = s.id != NULL ? s.id : "auto";
  s.quiet = cli_value(args, "--quiet") != NULL || (json != NULL && strcmp(json, "-") == 0);
  if (!cli_number(args, "--tol", 1e-300, 1, &s.tol)) {
    return EXIT_INPUT;
  }
  TriboStatus status = make_solver(&s, &wrong);
  if (status != TRIBO_OK) {
    code = wrong ? EXIT_INPUT : cli_complain(status);
  }
  code = code == EXIT_WELL ? open_history(&s) : code;
  if (code == EXIT_WELL && json != NULL) {
    code = json_open(&writer, json) ? EXIT_WELL : EXIT_INPUT;
    s.json = code == EXIT_WELL ? &writer : NULL;
  }
  if (s.json != NULL) {
    json_begin(s.json, NULL, '[');
  }
  code = code == EXIT_WELL ? solve_files(&s) : code;
  if (s.json != NULL) {
    json_end(s.json, ']');
    code = json_close(s.json, json) ? code : EXIT_INPUT;
  }
  code = close_history(&s, code);
  tribo_solver_destroy(s.solver);
  return code;
}

const Command command_solve = {
    "solve", "FILE… [flags]", "solve contact problems from files (FCLIB, Siconos), or QPCCs (.qpcc)", flags, 1, 1 << 20,
    run};
