// Siconos' solvers on one contact problem, for `tribo bench solvers --peers`: a program of its own, because the library
// must not know Siconos, and because Siconos ends the process when it meets trouble.
//   tribo-siconos FILE TOL SECONDS
// prints a line per solver: name, time [s], iterations, natmap_unit. The problem is scaled (W/d, q/s) so that Siconos'
// own criterion is nearly natmap_unit; where it is not, the tolerance given to Siconos shrinks until our judge agrees,
// and only the last run counts.
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problem_file.h"
#include "stopwatch.h"

enum { REPEATS = 3 };

typedef struct Peer {
  const char* name;
  int id;
  int blocks;  // matrix as blocks, otherwise as sparse columns
} Peer;
static const Peer peers[] = {
    {"nsgs", SICONOS_FRICTION_3D_NSGS, 1},     {"nsn_ac", SICONOS_FRICTION_3D_NSN_AC, 0},
    {"nsn_fb", SICONOS_FRICTION_3D_NSN_FB, 0}, {"nsn_nm", SICONOS_FRICTION_3D_NSN_NM, 0},
    {"admm", SICONOS_FRICTION_3D_ADMM, 0},     {"nsn_ac_dense", SICONOS_FRICTION_3D_NSN_AC, -1},
    {"prox", SICONOS_FRICTION_3D_PROX, 0},     {"prox_dense", SICONOS_FRICTION_3D_PROX, -1},
};
enum { PEERS = sizeof peers / sizeof *peers };

typedef struct Result {
  double time, natmap_unit;
  int iterations;
} Result;

typedef struct Case {
  const TriboProblem* problem;
  const int* place;  // row of ours that holds a row of the file's
  double *lambda, *sigma, *reaction, *velocity, *q, *mu;
  double d, s;  // scales of W and q
} Case;

// the scaled matrix in the file's order of rows: blocks 1, sparse 0, dense −1
static NumericsMatrix* make_matrix(const Case* c, int blocks) {
  const TriboProblem* p = c->problem;
  int n = p->nrow, *file_row = calloc((size_t)n, sizeof(int));
  NumericsMatrix* M = NM_create(blocks < 0 ? NM_DENSE : NM_SPARSE, n, n);
  for (int i = 0; i < n; ++i) {
    file_row[c->place[i]] = i;
  }
  if (blocks >= 0) {
    NM_triplet_alloc(M, p->G_col[n]);
    M->matrix2->origin = NSM_TRIPLET;
  }
  for (int j = 0; j < n; ++j) {
    for (int e = p->G_col[j]; e < p->G_col[j + 1]; ++e) {
      int row = file_row[p->G_row[e]], col = file_row[j];
      if (blocks < 0) {
        M->matrix0[row + (size_t)n * (size_t)col] = p->G_val[e] / c->d;
      } else {
        NM_entry(M, row, col, p->G_val[e] / c->d);
      }
    }
  }
  free(file_row);
  if (blocks <= 0) {
    return M;
  }
  NumericsMatrix* B = NM_create(NM_SPARSE_BLOCK, n, n);
  SBM_from_csparse(3, NM_csc(M), B->matrix1);
  NM_free(M);
  return B;
}

// one run with a tolerance for Siconos; the answer is judged in our own units
static Result run(const Case* c, const Peer* peer, NumericsMatrix* M, double tol) {
  const TriboProblem* p = c->problem;
  size_t bytes = sizeof(double) * (size_t)p->nrow;
  FrictionContactProblem problem = {.dimension = 3, .numberOfContacts = p->ncone, .M = M, .q = c->q, .mu = c->mu};
  SolverOptions* options = solver_options_create(peer->id);
  options->dparam[SICONOS_DPARAM_TOL] = tol;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = 1000000;
  memset(c->reaction, 0, bytes);
  memset(c->velocity, 0, bytes);
  double begin = read_clock(CLOCK_MONOTONIC);
  fc3d_driver(&problem, c->reaction, c->velocity, options);
  Result result = {.time = read_clock(CLOCK_MONOTONIC) - begin,
                   .iterations = options->iparam[SICONOS_IPARAM_ITER_DONE]};
  solver_options_delete(options);
  free(options);
  for (int i = 0; i < p->nrow; ++i) {
    c->lambda[c->place[i]] = c->reaction[i] * c->s / c->d;
  }
  TriboResiduals r;
  result.natmap_unit = tribo_problem_residuals(p, c->lambda, c->sigma, &r) == TRIBO_OK ? r.natmap_unit : INFINITY;
  return result;
}

// the first tolerance our judge agrees with; its best time of a few
static Result best_run(const Case* c, const Peer* peer, double tol) {
  Result best = {.natmap_unit = INFINITY};
  for (double fraction = 1; fraction > 1e-4; fraction *= 0.1) {
    NumericsMatrix* M = make_matrix(c, peer->blocks);
    best = run(c, peer, M, fraction * tol);
    if (best.natmap_unit <= tol) {
      for (int i = 1; best.time < 0.2 && i < REPEATS; ++i) {
        NumericsMatrix* again = make_matrix(c, peer->blocks);
        Result r = run(c, peer, again, fraction * tol);
        best.time = fmin(best.time, r.time);
        NM_free(again);
      }
    }
    NM_free(M);
    if (best.natmap_unit <= tol) {
      break;
    }
  }
  return best;
}

// in a process of its own, which may die or take too long
static int run_apart(const Case* c, const Peer* peer, double tol, double seconds, Result* result) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 0;
  }
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL) {
      _exit(1);
    }
    alarm((unsigned)ceil(seconds));
    Result r = best_run(c, peer, tol);
    _exit(write(ends[1], &r, sizeof r) == (ssize_t)sizeof r ? 0 : 1);
  }
  close(ends[1]);
  int good = child > 0 && read(ends[0], result, sizeof *result) == (ssize_t)sizeof *result;
  close(ends[0]);
  if (child > 0) {
    waitpid(child, NULL, 0);
  }
  return good;
}

int main(int argc, char** argv) {
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  ProblemFile file = {0};
  if (argc != 4 || !problem_read(argv[1], &file)) {
    fprintf(stderr, "tribo-siconos: %s\n", argc == 4 ? file.reason : "usage: tribo-siconos FILE TOL SECONDS");
    return 2;
  }
  const TriboProblem* p = &file.problem;
  if (p->G_col == NULL || p->nrow != 3 * p->ncone) {
    fprintf(stderr, "tribo-siconos: %s is not a local problem of Coulomb contacts\n", argv[1]);
    return 2;
  }
  size_t n = (size_t)p->nrow;
  Case c = {.problem = p, .place = file.place, .lambda = calloc(6 * n, sizeof(double))};
  if (c.lambda == NULL) {
    return 3;
  }
  c.sigma = c.lambda + n, c.reaction = c.lambda + 2 * n, c.velocity = c.lambda + 3 * n, c.q = c.lambda + 4 * n;
  c.mu = c.lambda + 5 * n;
  for (int j = 0; j < p->nrow; ++j) {
    c.s = fmax(c.s, fabs(p->g[j]));
    for (int e = p->G_col[j]; e < p->G_col[j + 1]; ++e) {
      c.d += p->G_row[e] == j ? p->G_val[e] / p->nrow : 0;
    }
  }
  c.s = c.s > 0 ? c.s : 1;
  for (int i = 0; i < p->nrow; ++i) {
    c.q[i] = p->g[file.place[i]] / c.s;
    c.mu[i / 3] = p->cones[i / 3].mu[0];
  }
  numerics_set_verbose(0);
  for (int k = 0; k < PEERS; ++k) {
    Result r;
    if (run_apart(&c, &peers[k], atof(argv[2]), atof(argv[3]), &r)) {
      printf("%s,%.9g,%d,%.9g\n", peers[k].name, r.time, r.iterations, r.natmap_unit);
    } else {
      printf("%s,inf,0,inf\n", peers[k].name);
    }
  }
  free(c.lambda);
  problem_free(&file);
  return 0;
}
