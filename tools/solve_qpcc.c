// `tribo solve FILE.qpcc`: inverse dynamics that choose their contacts, from matrices in a file.
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "qpcc_file.h"
#include "solve_qpcc.h"

int is_qpcc_file(const char* path) {
  const char* ending = strrchr(path, '.');
  return ending != NULL && strcmp(ending, ".qpcc") == 0;
}

// --tol and --max-time, then every --set of a setting of the solver.
static int read_settings(const Args* args, TriboQpccSettings* settings) {
  int count;
  const TriboSetting* table = tribo_qpcc_settings(&count);
  *settings = tribo_qpcc_settings_default();
  if (!cli_number(args, "--tol", 0, 1, &settings->tol) ||
      !cli_number(args, "--max-time", 0, 1e6, &settings->max_time)) {
    return EXIT_INPUT;
  }
  for (int i = 0; i < args->nset; ++i) {
    char key[64];
    double value;
    int found = 0;
    if (!cli_set(args, i, key, sizeof key, &value)) {
      return EXIT_INPUT;
    }
    for (int k = 0; k < count; ++k) {
      if (strcmp(table[k].name, key) == 0) {
        char* field = (char*)settings + table[k].offset;
        const int whole = (int)value;
        memcpy(field, table[k].type == TRIBO_SETTING_REAL ? (const void*)&value : (const void*)&whole,
               table[k].type == TRIBO_SETTING_REAL ? sizeof value : sizeof whole);
        found = 1;
      }
    }
    if (!found) {
      return cli_wrong("--set %s: no setting of the QPCC solver", key);
    }
  }
  return EXIT_WELL;
}

static void print(const char* path, const TriboQpcc* p, const TriboQpccSolution* x, const TriboQpccResiduals* r,
                  double kkt) {
  int modes[4] = {0};
  for (int i = 0; i < p->ncon; ++i) {
    modes[x->mode[i]]++;
  }
  printf("%s  %s: f %.6g, nat %.1e m/s, kkt %.1e, %d programs, %.3f ms\n", path, tribo_qpcc_outcome_name(x->outcome),
         r->f, r->nat, kkt, x->qps, 1e3 * x->time);
  printf("  %d drives, %d contacts: %d stick, %d slide, %d break, %d held", p->na, p->ncon, modes[TRIBO_QPCC_STICK],
         modes[TRIBO_QPCC_SLIDE], modes[TRIBO_QPCC_BREAK], modes[TRIBO_QPCC_HELD]);
  printf(x->outcome == TRIBO_QPCC_INFEASIBLE ? "; contact %d is most in the way\n" : "\n", x->worst);
}

static void tell(Json* json, const char* path, const TriboQpcc* p, const TriboQpccSolution* x,
                 const TriboQpccResiduals* r, double kkt) {
  json_begin(json, NULL, '{');
  json_text(json, "file", path);
  json_int(json, "drives", p->na);
  json_int(json, "contacts", p->ncon);
  json_text(json, "status", tribo_qpcc_outcome_name(x->outcome));
  json_real(json, "f", r->f);
  json_real(json, "bound", x->bound);
  json_real(json, "nat", r->nat);
  json_real(json, "kkt", kkt);
  json_int(json, "worst", x->worst);
  json_int(json, "programs", x->qps);
  json_int(json, "alm_iterations", x->alm_iterations);
  json_real(json, "time_s", x->time);
  json_begin(json, "modes", '[');
  for (int i = 0; i < p->ncon; ++i) {
    json_text(json, NULL, tribo_qpcc_mode_name(x->mode[i]));
  }
  json_end(json, ']');
  json_end(json, '}');
}

// One file. *solved: it is.
static int solve_file(const Args* args, const TriboQpccSettings* settings, const char* path, int words, Json* json,
                      int* solved) {
  QpccFile file;
  if (!qpcc_file_read(path, &file)) {
    qpcc_file_free(&file);
    return cli_wrong("%s: %s", path, file.reason);
  }
  const TriboQpcc* p = &file.problem;
  TriboQpccSolver* solver = NULL;
  TriboQpccSolution x;
  TriboQpccResiduals r;
  double kkt = 0;
  TriboStatus status = tribo_qpcc_create(p->na, p->ncon, p->nres, &solver);
  status = status == TRIBO_OK ? tribo_qpcc_solve(solver, p, settings, NULL, &x) : status;
  status = status == TRIBO_OK ? tribo_qpcc_residual(p, x.lambda_a, x.lambda_c, &r) : status;
  status = status == TRIBO_OK ? tribo_qpcc_kkt(p, &x, &kkt) : status;
  int code = status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
  if (code == EXIT_WELL) {
    *solved = x.outcome <= TRIBO_QPCC_LOCAL;
    if (words) {
      print(path, p, &x, &r, kkt);
    }
    if (json != NULL) {
      tell(json, path, p, &x, &r, kkt);
    }
    const char* out = cli_value(args, "--out");
    char reason[320];
    if (out != NULL && !qpcc_file_write(p, &x, out, reason)) {
      code = cli_wrong("%s: %s", out, reason);
    }
  }
  tribo_qpcc_destroy(solver);
  qpcc_file_free(&file);
  return code;
}

int solve_qpcc_files(const Args* args) {
  static const char* const others[] = {"--solver", "--history", "--plot"};
  const char* path = cli_value(args, "--json");
  const int words = cli_value(args, "--quiet") == NULL && (path == NULL || strcmp(path, "-") != 0);
  TriboQpccSettings settings;
  Json json;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
    if (cli_value(args, others[i]) != NULL) {
      return cli_wrong("%s is not for .qpcc files", others[i]);
    }
  }
  if (cli_value(args, "--out") != NULL && args->npositional > 1) {
    return cli_wrong("--out takes one .qpcc file");
  }
  int code = read_settings(args, &settings);
  if (code == EXIT_WELL && path != NULL && !json_open(&json, path)) {
    return EXIT_INPUT;
  }
  if (code != EXIT_WELL) {
    return code;
  }
  if (path != NULL) {
    json_begin(&json, NULL, '[');
  }
  int all = 1;
  for (int i = 0; i < args->npositional && code == EXIT_WELL; ++i) {
    int solved = 0;
    code = solve_file(args, &settings, args->positional[i], words, path != NULL ? &json : NULL, &solved);
    all = all && solved;
  }
  if (path != NULL) {
    json_end(&json, ']');
    code = json_close(&json, path) ? code : EXIT_INPUT;
  }
  return code == EXIT_WELL && !all && cli_value(args, "--strict") != NULL ? EXIT_FAILED : code;
}
