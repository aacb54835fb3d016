// Writing the rows of a stage: patterns, values and derivatives by the same calls.
#include <string.h>

#include "plan_problem.h"

static void begin_row(PlanRows* r, PlanRowList* list, double* values, const char* name, TriboPlanKind kind,
                      double value) {
  r->at = list;
  if (r->is_pattern) {
    list->name[list->count] = name;
    list->kind[list->count] = (unsigned char)kind;
    list->start[list->count + 1] = list->entries;
  } else if (values != NULL) {
    values[list->count] = value;
  }
  list->count++;
}
void plan_eq(PlanRows* r, const char* name, double value) {
  begin_row(r, r->eq, r->eq_value, name, TRIBO_PLAN_SMOOTH, value);
}
void plan_ge(PlanRows* r, const char* name, TriboPlanKind kind, double value) {
  begin_row(r, r->in, r->in_value, name, kind, value);
}

// In a pattern: the column goes to its place among those of the row, once; later, the derivative is added there.
void plan_by(PlanRows* r, int col, double derivative) {
  PlanRowList* list = r->at;
  double* by = list == r->eq ? r->eq_by : r->in_by;
  if (!r->is_pattern) {
    if (by != NULL) {
      by[list->slot[list->written]] += derivative;
    }
    list->written++;
    return;
  }
  const int begin = list->start[list->count - 1];
  int at = list->entries;
  while (at > begin && list->col[at - 1] >= col) {
    at--;
  }
  if (at == list->entries || list->col[at] != col) {
    memmove(list->col + at + 1, list->col + at, (size_t)(list->entries - at) * sizeof(int));
    list->col[at] = col;
    list->entries++;
    for (int e = 0; e < list->written; ++e) {
      list->slot[e] += list->slot[e] >= at;
    }
    list->start[list->count] = list->entries;
  }
  list->slot[list->written++] = at;
}

static void write_term(PlanRows* r, double factor, const PlanTerm* t) {
  for (int i = 0; i < t->count; ++i) {
    plan_by(r, t->col[i], factor * t->by[i]);
  }
}
void plan_ge_term(PlanRows* r, const char* name, TriboPlanKind kind, const PlanTerm* t) {
  plan_ge(r, name, kind, t->value);
  write_term(r, 1, t);
}
void plan_product(PlanRows* r, const char* name, const PlanTerm* a, const PlanTerm* b) {
  plan_ge(r, name, TRIBO_PLAN_PRODUCT, -a->value * b->value);
  write_term(r, -b->value, a);
  write_term(r, -a->value, b);
}

void plan_start(const PlanProblem* p, int k, const double* z, const int* columns, PlanRows* r) {
  if (k > 0) {
    return;
  }
  for (int i = 0; i < p->kind->nstart; ++i) {
    const int col = columns != NULL ? columns[i] : i;
    plan_eq(r, "start", z[col] - p->start[i]);
    plan_by(r, col, 1);
  }
}
