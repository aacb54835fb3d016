// Writes convex problems from the solves of the six planning problems, with the answers and times of the solver by
// stages, for plan_piqp.py to judge:  plan_qps FOLDER
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan_impl.h"
#include "plan_problem.h"

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void put(FILE* file, const void* data, size_t count, size_t size) {
  if (fwrite(data, size, count, file) != count) {
    fprintf(stderr, "plan_qps: cannot write\n");
    exit(1);
  }
}

// The problem that the plan would solve next, and its answer; the shortest of some runs counts.
static void record(TriboPlan* plan, double radius, const char* path) {
  const TriboStageData data = {plan->hess, plan->grad, plan->jac, plan->c, plan->above, plan->mu, radius};
  TriboStageStats stats = {0};
  double best = 1e300;
  for (int run = 0; run < 5; ++run) {
    const double before = processor_time();
    stats = tribo_sol_stage_qp_solve(plan->qp, &data, 1e-9, TRIBO_PLAN_QP_ITERATIONS, plan->p, plan->y);
    const double time = processor_time() - before;
    best = time < best ? time : best;
  }
  FILE* file = fopen(path, "wb");
  if (file == NULL) {
    fprintf(stderr, "plan_qps: cannot write %s\n", path);
    exit(1);
  }
  const TriboStageShape* s = &plan->shape;
  const int head[] = {s->nstage,       plan->n, plan->m, plan->start[plan->m], (int)plan->hess_at[s->nstage],
                      stats.iterations};
  const double numbers[] = {radius, stats.objective, stats.gap, best};
  put(file, head, 6, sizeof(int));
  put(file, s->z_at, (size_t)s->nstage + 1, sizeof(int));
  put(file, s->start, (size_t)plan->m + 1, sizeof(int));
  put(file, s->col, (size_t)head[3], sizeof(int));
  put(file, numbers, 4, sizeof(double));
  put(file, plan->hess, (size_t)head[4], sizeof(double));
  put(file, plan->grad, (size_t)plan->n, sizeof(double));
  put(file, plan->jac, (size_t)head[3], sizeof(double));
  put(file, plan->c, (size_t)plan->m, sizeof(double));
  put(file, plan->above, (size_t)plan->m, sizeof(double));
  put(file, plan->mu, (size_t)plan->m, sizeof(double));
  put(file, plan->p, (size_t)plan->n, sizeof(double));
  put(file, plan->y, (size_t)plan->m, sizeof(double));
  fclose(file);
}

static void record_kind(const PlanKind* kind, const char* folder, double penalty) {
  static const int after[] = {1, 12};
  PlanProblem* p;
  TriboPlanResult result;
  if (plan_problem_create(kind, 0, 0, &p) != TRIBO_OK || tribo_plan_set(p->plan, "penalty", penalty) != TRIBO_OK) {
    fprintf(stderr, "plan_qps: %s\n", tribo_last_error());
    exit(1);
  }
  double* z = malloc((size_t)p->plan->n * sizeof(double));
  plan_problem_guess(p, z);
  for (int i = 0; i < 2; ++i) {
    char path[512];
    if (tribo_plan_set(p->plan, "max_iterations", after[i]) != TRIBO_OK ||
        tribo_plan_solve(p->plan, z, NULL, NULL, &result) != TRIBO_OK) {
      fprintf(stderr, "plan_qps: %s\n", tribo_last_error());
      exit(1);
    }
    snprintf(path, sizeof path, "%s/%s-%g-%d.qp", folder, kind->name, penalty, after[i]);
    record(p->plan, result.radius, path);
  }
  free(z);
  plan_problem_destroy(p);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: plan_qps FOLDER\n");
    return 2;
  }
  for (int i = 0; i < plan_kind_count(); ++i) {
    record_kind(plan_kind(i), argv[1], 10);
    record_kind(plan_kind(i), argv[1], 1e6);
  }
  return 0;
}
