// The list of problems, and a TriboPlan of one.
#include "plan_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const PlanKind* const kinds[] = {&plan_cartpole, &plan_push_box, &plan_transport,
                                        &plan_push_t,   &plan_hopper,   &plan_waiter};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

int plan_kind_count(void) {
  return KINDS;
}
const PlanKind* plan_kind(int index) {
  return kinds[index];
}
const PlanKind* plan_kind_find(const char* name) {
  for (int i = 0; i < KINDS; ++i) {
    if (strcmp(kinds[i]->name, name) == 0) {
      return kinds[i];
    }
  }
  return NULL;
}

// ---- callbacks ----

// the lists of stage k: first, middle or last
static PlanRowList* lists_of(const PlanProblem* p, int k) {
  return p->list + 2 * (k == 0 ? 0 : k + 1 < p->stages ? 1 : 2);
}

static void write_rows(const PlanProblem* p, int k, const double* z, const double* next, PlanRows r) {
  r.eq = lists_of(p, k), r.in = r.eq + 1;
  r.eq->count = r.eq->written = r.in->count = r.in->written = 0;
  p->kind->rows(p, k, z, next, &r);
}

static TriboStatus values(void* user, int k, const double* z, const double* next, double* eq, double* in) {
  write_rows(user, k, z, next, (PlanRows){.eq_value = eq, .in_value = in});
  return TRIBO_OK;
}

static TriboStatus jacobian(void* user, int k, const double* z, const double* next, double* eq, double* in) {
  const PlanRowList* list = lists_of(user, k);
  memset(eq, 0, (size_t)list[0].entries * sizeof(double));
  memset(in, 0, (size_t)list[1].entries * sizeof(double));
  write_rows(user, k, z, next, (PlanRows){.eq_by = eq, .in_by = in});
  return TRIBO_OK;
}

static TriboStatus cost(void* user, int k, const double* z, double* f, double* grad, double* hess) {
  const PlanProblem* p = user;
  double weight[PLAN_WIDEST] = {0}, aim[PLAN_WIDEST] = {0};
  p->kind->cost(p, k, weight, aim);
  *f = 0;
  for (int j = 0; j < p->kind->nz; ++j) {
    const double e = z[j] - aim[j];
    *f += weight[j] * e * e;
    if (grad != NULL) {
      grad[j] = 2 * weight[j] * e;
      hess[j * (p->kind->nz + 1)] = 2 * weight[j];
    }
  }
  return TRIBO_OK;
}

// ---- life ----

static void write_patterns(PlanProblem* p) {
  const double zero[2 * PLAN_WIDEST] = {0};
  const int which[3] = {0, 1, p->stages - 1};
  for (int i = 0; i < 3; ++i) {
    PlanRows r = {.eq = p->list + 2 * i, .in = p->list + 2 * i + 1, .is_pattern = 1};
    p->kind->rows(p, which[i], zero, which[i] + 1 < p->stages ? zero : NULL, &r);
  }
}

static TriboStatus make_plan(PlanProblem* p) {
  TriboPlanStage* stages = calloc((size_t)p->stages, sizeof *stages);
  if (stages == NULL) {
    return TRIBO_NOMEM;
  }
  for (int k = 0; k < p->stages; ++k) {
    const PlanRowList *eq = lists_of(p, k), *in = eq + 1;
    stages[k] = (TriboPlanStage){p->kind->nz, p->kind->ns, eq->count, in->count, eq->start, eq->col, in->start, in->col,
                                 in->kind,    eq->name,    in->name,  values,    jacobian,  cost,    p};
  }
  const TriboStatus status = tribo_plan_create(stages, p->stages, &p->plan);
  free(stages);
  return status;
}

TriboStatus plan_problem_create(const PlanKind* kind, int stages, double h, PlanProblem** out) {
  *out = NULL;
  PlanProblem* p = calloc(1, sizeof *p);
  PlanRowList* list = calloc(6, sizeof *list);
  if (p == NULL || list == NULL) {
    free(p);
    free(list);
    return TRIBO_NOMEM;
  }
  *p =
      (PlanProblem){.kind = kind, .stages = stages > 0 ? stages : kind->stages, .h = h > 0 ? h : kind->h, .list = list};
  memcpy(p->start, kind->start, sizeof p->start);
  memcpy(p->goal, kind->goal, sizeof p->goal);
  write_patterns(p);
  const TriboStatus status = make_plan(p);
  if (status != TRIBO_OK) {
    plan_problem_destroy(p);
    return status;
  }
  *out = p;
  return TRIBO_OK;
}

void plan_problem_destroy(PlanProblem* p) {
  if (p != NULL) {
    tribo_plan_destroy(p->plan);
    free(p->list);
    free(p);
  }
}

void plan_problem_guess(const PlanProblem* p, double* z) {
  memset(z, 0, (size_t)(p->stages * p->kind->nz) * sizeof(double));
  if (p->kind->guess != NULL) {
    p->kind->guess(p, z);
  }
}

// The paper's limits; its "6" for the angle is read as degrees.
int plan_problem_success(const PlanProblem* p, const double* z, double violation, PlanError* error) {
  *error = p->kind->error(p, z + (p->stages - 1) * p->kind->nz);
  return violation < 1e-5 && error->position < 0.1 && error->angle < 6 * M_PI / 180 && error->velocity < 0.5 &&
         error->turning < 0.1;
}
