// The life of a plan: stages are checked, copied and laid out; settings and names.
#include <string.h>

#include "la.h"
#include "memory.h"
#include "plan_impl.h"

#define ROW(...) TRIBO_SETTING_ROW(TriboPlanSettings, __VA_ARGS__)
static const TriboSetting table[] = {TRIBO_PLAN_SETTINGS(ROW)};
enum { SETTINGS = sizeof table / sizeof table[0], MOST_UNKNOWNS = 50000000 };

// ---- checks ----

static TriboStatus check_pattern(int k, const char* what, int nrow, int columns, const int* start, const int* col) {
  if (nrow == 0) {
    return TRIBO_OK;
  }
  if (start == NULL || start[0] != 0) {
    return tribo_fail(TRIBO_INVALID, "tribo_plan_create: stage %d: %s_start must begin with 0", k, what);
  }
  for (int i = 0; i < nrow; ++i) {
    if (start[i + 1] < start[i]) {
      return tribo_fail(TRIBO_INVALID, "tribo_plan_create: stage %d: %s_start falls after row %d", k, what, i);
    }
    if (start[i + 1] > start[i] && col == NULL) {
      return tribo_fail(TRIBO_INVALID, "tribo_plan_create: stage %d: %s_col is NULL", k, what);
    }
    for (int e = start[i]; e < start[i + 1]; ++e) {
      if (col[e] < 0 || col[e] >= columns || (e > start[i] && col[e] <= col[e - 1])) {
        return tribo_fail(
            TRIBO_INVALID,
            "tribo_plan_create: stage %d: %s row %d has the column %d, columns increase and lie in 0 … %d", k, what, i,
            col[e], columns - 1);
      }
    }
  }
  return TRIBO_OK;
}

static TriboStatus check_sizes(const TriboPlanStage* s, int k) {
  if (s->nz < 1 || s->ns < 0 || s->ns > s->nz) {
    return tribo_fail(TRIBO_INVALID, "tribo_plan_create: stage %d has nz = %d, ns = %d, wanted nz ≥ 1 and 0 ≤ ns ≤ nz",
                      k, s->nz, s->ns);
  }
  if (s->neq < 0 || s->nin < 0) {
    return tribo_fail(TRIBO_INVALID, "tribo_plan_create: stage %d has neq = %d, nin = %d, wanted ≥ 0", k, s->neq,
                      s->nin);
  }
  if (s->cost == NULL || (s->values == NULL && s->neq + s->nin > 0)) {
    return tribo_fail(TRIBO_INVALID, "tribo_plan_create: stage %d has no function for its %s", k,
                      s->cost == NULL ? "cost" : "rows' values");
  }
  return TRIBO_OK;
}

static TriboStatus check_patterns(const TriboPlanStage* s, int k, const TriboPlanStage* next) {
  const int columns = s->nz + (next != NULL ? next->ns : 0);
  TRIBO_TRY(check_pattern(k, "eq", s->neq, columns, s->eq_start, s->eq_col));
  return check_pattern(k, "in", s->nin, columns, s->in_start, s->in_col);
}

// ---- copies ----

// a stage whose patterns and names are the plan's own
static TriboStatus copy_stage(TriboPool* pool, const TriboPlanStage* from, TriboPlanStage* to) {
  *to = *from;
  const size_t neq = (size_t)from->neq, nin = (size_t)from->nin;
  const size_t eq = neq > 0 ? (size_t)from->eq_start[neq] : 0, in = nin > 0 ? (size_t)from->in_start[nin] : 0;
  to->eq_start = neq > 0 ? tribo_pool_copy(pool, from->eq_start, neq + 1, sizeof(int)) : NULL;
  to->in_start = nin > 0 ? tribo_pool_copy(pool, from->in_start, nin + 1, sizeof(int)) : NULL;
  to->eq_col = eq > 0 ? tribo_pool_copy(pool, from->eq_col, eq, sizeof(int)) : NULL;
  to->in_col = in > 0 ? tribo_pool_copy(pool, from->in_col, in, sizeof(int)) : NULL;
  to->kind = from->kind != NULL ? tribo_pool_copy(pool, from->kind, nin + 1, 1) : NULL;
  to->eq_name = from->eq_name != NULL ? tribo_pool_names(pool, from->eq_name, from->neq) : NULL;
  to->in_name = from->in_name != NULL ? tribo_pool_names(pool, from->in_name, from->nin) : NULL;
  const int failed = (neq > 0 && to->eq_start == NULL) || (nin > 0 && to->in_start == NULL) ||
                     (eq > 0 && to->eq_col == NULL) || (in > 0 && to->in_col == NULL) ||
                     (from->kind != NULL && to->kind == NULL) || (from->eq_name != NULL && to->eq_name == NULL) ||
                     (from->in_name != NULL && to->in_name == NULL);
  return failed ? tribo_no_memory("for the stages of a plan") : TRIBO_OK;
}

// ---- layout ----

// appends the rows of one pattern to the plan's, with columns counted over all stages
static int append_rows(TriboPlan* plan, int row, int first, int count, const int* start, const int* col,
                       int inequality) {
  for (int i = 0; i < count; ++i, ++row) {
    int at = plan->start[row];
    for (int e = start[i]; e < start[i + 1]; ++e) {
      plan->col[at++] = first + col[e];
    }
    plan->start[row + 1] = at;
    plan->is_inequality[row] = (unsigned char)inequality;
  }
  return row;
}

static void lay_out_rows(TriboPlan* plan) {
  int row = 0;
  for (int k = 0; k < plan->shape.nstage; ++k) {
    const TriboPlanStage* s = &plan->stage[k];
    plan->row_at[k] = row;
    row = append_rows(plan, row, plan->z_at[k], s->neq, s->eq_start, s->eq_col, 0);
    row = append_rows(plan, row, plan->z_at[k], s->nin, s->in_start, s->in_col, 1);
  }
  plan->row_at[plan->shape.nstage] = row;
}

// Whether two rows, of stages that begin at `first`, touch the same columns of their stages and are both equalities, or
// inequalities of one kind.
static int same_kind(const TriboPlan* plan, int a, int first_a, int b, int first_b) {
  const int count = plan->start[a + 1] - plan->start[a];
  if (plan->is_inequality[a] != plan->is_inequality[b] || count != plan->start[b + 1] - plan->start[b]) {
    return 0;
  }
  for (int e = 0; e < count; ++e) {
    if (plan->col[plan->start[a] + e] - first_a != plan->col[plan->start[b] + e] - first_b) {
      return 0;
    }
  }
  return 1;
}

static unsigned char tag(const TriboPlanStage* s, int row) {
  return row < s->neq || s->kind == NULL ? TRIBO_PLAN_SMOOTH : s->kind[row - s->neq];
}

// Kinds are numbered as they come up; `seen` holds a row and its stage for each.
static void number_kinds(TriboPlan* plan, int* seen_row, int* seen_stage) {
  for (int k = 0; k < plan->shape.nstage; ++k) {
    for (int i = plan->row_at[k]; i < plan->row_at[k + 1]; ++i) {
      int kind = 0;
      for (; kind < plan->nkind; ++kind) {
        const int j = seen_row[kind], l = seen_stage[kind];
        if (tag(&plan->stage[k], i - plan->row_at[k]) == tag(&plan->stage[l], j - plan->row_at[l]) &&
            same_kind(plan, i, plan->z_at[k], j, plan->z_at[l])) {
          break;
        }
      }
      if (kind == plan->nkind) {
        seen_row[kind] = i, seen_stage[kind] = k;
        plan->nkind++;
      }
      plan->kind[i] = kind;
    }
  }
}

// marks the colours that columns before `j` of the rows with column j have
static void mark_colours(const TriboPlan* plan, int k, int j, int* taken) {
  const int* colour = plan->colour + plan->colour_at[k];
  const int first = plan->z_at[k];
  for (int i = plan->row_at[k]; i < plan->row_at[k + 1]; ++i) {
    const int *begin = plan->col + plan->start[i], *end = plan->col + plan->start[i + 1], *at = begin;
    while (at < end && *at - first != j) {
      at++;
    }
    if (at < end) {
      for (const int* c = begin; c < at; ++c) {
        taken[colour[*c - first]] = 1;
      }
    }
  }
}

// Gives the columns of stage k the smallest colours that no column of a common row has; `taken` (columns) is scratch.
static void colour_stage(TriboPlan* plan, int k, int columns, int* taken) {
  for (int j = 0; j < columns; ++j) {
    int free = 0;
    memset(taken, 0, (size_t)(columns + 1) * sizeof(int));
    mark_colours(plan, k, j, taken);
    while (taken[free]) {
      free++;
    }
    plan->colour[plan->colour_at[k] + j] = free;
    plan->colours[k] = plan->colours[k] > free + 1 ? plan->colours[k] : free + 1;
  }
}

// Takes the plan's arrays and fills those that depend on the patterns alone.
static TriboStatus lay_out(TriboPlan* plan, int nonzeros) {
  TriboPool* pool = &plan->pool;
  const size_t n = (size_t)plan->n, m = (size_t)plan->m, stages = (size_t)plan->shape.nstage, nz = (size_t)nonzeros;
  size_t columns = n, largest = 0;
  for (size_t k = 0; k < stages; ++k) {
    columns += k > 0 ? (size_t)plan->stage[k].ns : 0;
    largest = (size_t)plan->stage[k].nz > largest ? (size_t)plan->stage[k].nz : largest;
  }
  const struct {
    void* array;
    size_t count, size;
  } take[] = {
      {&plan->row_at, stages + 1, sizeof(int)},
      {&plan->start, m + 1, sizeof(int)},
      {&plan->col, nz, sizeof(int)},
      {&plan->is_inequality, m, 1},
      {&plan->kind, m, sizeof(int)},
      {&plan->colour, columns, sizeof(int)},
      {&plan->colour_at, stages + 1, sizeof(int)},
      {&plan->colours, stages, sizeof(int)},
      {&plan->z, n, sizeof(double)},
      {&plan->trial, n, sizeof(double)},
      {&plan->first_trial, n, sizeof(double)},
      {&plan->c_first, m, sizeof(double)},
      {&plan->c, m, sizeof(double)},
      {&plan->c_trial, m, sizeof(double)},
      {&plan->c_model, m, sizeof(double)},
      {&plan->grad, n, sizeof(double)},
      {&plan->hess, plan->hess_at[stages], sizeof(double)},
      {&plan->jac, nz, sizeof(double)},
      {&plan->scratch, largest * largest, sizeof(double)},
      {&plan->mu, m, sizeof(double)},
      {&plan->above, m, sizeof(double)},
      {&plan->p, n, sizeof(double)},
      {&plan->y, m, sizeof(double)},
      {&plan->work, 2 * (n + m), sizeof(double)},
      {&plan->kind_is_violated, m, 1},
      {&plan->history, TRIBO_PLAN_HISTORY, sizeof(TriboPlanIteration)},
  };
  for (size_t i = 0; i < sizeof take / sizeof take[0]; ++i) {
    void** array = take[i].array;
    *array = tribo_pool_alloc(pool, take[i].count + 1, take[i].size);
    if (*array == NULL) {
      return tribo_no_memory("for a plan of %d unknowns", plan->n);
    }
  }
  lay_out_rows(plan);
  int *a = tribo_alloc(2 * (m + columns + 1), sizeof(int)), most = 0;
  if (a == NULL) {
    return tribo_no_memory("for the kinds of a plan's rows");
  }
  number_kinds(plan, a, a + m);
  for (size_t k = 0; k < stages; ++k) {
    most = plan->stage[k].nz + (k + 1 < stages ? plan->stage[k + 1].ns : 0);
    plan->colour_at[k + 1] = plan->colour_at[k] + most;
    colour_stage(plan, (int)k, most, a);
  }
  tribo_free(a);
  return TRIBO_OK;
}

// Copies the stages, counts what they have, and lays it out.
static TriboStatus build(TriboPlan* plan, const TriboPlanStage* stages, int count) {
  TriboPool* pool = &plan->pool;
  plan->stage = tribo_pool_alloc(pool, (size_t)count, sizeof *stages);
  plan->z_at = tribo_pool_alloc(pool, (size_t)count + 1, sizeof(int));
  plan->ns = tribo_pool_alloc(pool, (size_t)count, sizeof(int));
  plan->hess_at = tribo_pool_alloc(pool, (size_t)count + 1, sizeof(size_t));
  if (plan->stage == NULL || plan->z_at == NULL || plan->ns == NULL || plan->hess_at == NULL) {
    return tribo_no_memory("for a plan of %d stages", count);
  }
  double nonzeros = 0;
  for (int k = 0; k < count; ++k) {
    const TriboPlanStage* s = &stages[k];
    TRIBO_TRY(copy_stage(pool, s, &plan->stage[k]));
    plan->ns[k] = s->ns;
    plan->z_at[k + 1] = plan->z_at[k] + s->nz;
    plan->hess_at[k + 1] = plan->hess_at[k] + (size_t)s->nz * (size_t)s->nz;
    plan->m += s->neq + s->nin;
    nonzeros += (s->neq > 0 ? s->eq_start[s->neq] : 0) + (s->nin > 0 ? s->in_start[s->nin] : 0);
    if (plan->z_at[k + 1] > MOST_UNKNOWNS || plan->m > MOST_UNKNOWNS || nonzeros > MOST_UNKNOWNS) {
      return tribo_fail(TRIBO_INVALID, "tribo_plan_create: at stage %d the plan has more than %d unknowns or entries",
                        k, MOST_UNKNOWNS);
    }
  }
  plan->n = plan->z_at[count];
  plan->shape.nstage = count;
  TRIBO_TRY(lay_out(plan, (int)nonzeros));
  plan->shape = (TriboStageShape){count, plan->z_at, plan->ns, plan->row_at, plan->start, plan->col};
  return tribo_sol_stage_qp_create(&plan->shape, &plan->qp);
}

TriboStatus tribo_plan_create(const TriboPlanStage* stages, int count, TriboPlan** out) {
  TRIBO_REQUIRE(stages);
  TRIBO_REQUIRE(out);
  *out = NULL;
  if (count < 2) {
    return tribo_fail(TRIBO_INVALID, "tribo_plan_create: %d stages, a plan has at least 2", count);
  }
  for (int k = 0; k < count; ++k) {
    TRIBO_TRY(check_sizes(&stages[k], k));
  }
  for (int k = 0; k < count; ++k) {
    TRIBO_TRY(check_patterns(&stages[k], k, k + 1 < count ? &stages[k + 1] : NULL));
  }
  TRIBO_TRY(tribo_la_init());
  TriboPlan* plan = tribo_alloc(1, sizeof *plan);
  if (plan == NULL) {
    return tribo_no_memory("for a plan");
  }
  tribo_settings_default(table, SETTINGS, &plan->settings);
  const TriboStatus status = build(plan, stages, count);
  if (status != TRIBO_OK) {
    tribo_plan_destroy(plan);
    return status;
  }
  *out = plan;
  return TRIBO_OK;
}

void tribo_plan_destroy(TriboPlan* plan) {
  if (plan != NULL) {
    tribo_sol_stage_qp_destroy(plan->qp);
    tribo_pool_clear(&plan->pool);
    tribo_free(plan);
  }
}

int tribo_plan_unknowns(const TriboPlan* plan) {
  return plan != NULL ? plan->n : 0;
}

int tribo_plan_stage_at(const TriboPlan* plan, int stage) {
  return plan != NULL && stage >= 0 && stage <= plan->shape.nstage ? plan->z_at[stage] : -1;
}

// ---- settings and names ----

const TriboSetting* tribo_plan_settings(int* count) {
  if (count != NULL) {
    *count = SETTINGS;
  }
  return table;
}

TriboStatus tribo_plan_use_rules(TriboPlan* plan, TriboPlanRules rules) {
  TRIBO_REQUIRE(plan);
  if (rules != TRIBO_PLAN_HOUSE && rules != TRIBO_PLAN_PAPER) {
    return tribo_fail(TRIBO_INVALID, "tribo_plan_use_rules: rules %d, there are 0 (house) and 1 (paper)", (int)rules);
  }
  tribo_settings_default(table, SETTINGS, &plan->settings);
  if (rules == TRIBO_PLAN_PAPER) {
#define PAPER(name, value) plan->settings.name = (value);
    TRIBO_PLAN_PAPER_RULES(PAPER)
#undef PAPER
  }
  return TRIBO_OK;
}

TriboStatus tribo_plan_set(TriboPlan* plan, const char* key, double value) {
  TRIBO_REQUIRE(plan);
  TRIBO_REQUIRE(key);
  return tribo_settings_set(table, SETTINGS, &plan->settings, "tribo_plan_set", key, value);
}

TriboStatus tribo_plan_get(const TriboPlan* plan, const char* key, double* value) {
  TRIBO_REQUIRE(plan);
  TRIBO_REQUIRE(key);
  TRIBO_REQUIRE(value);
  return tribo_settings_get(table, SETTINGS, &plan->settings, "tribo_plan_get", key, value);
}

const char* tribo_plan_outcome_name(TriboPlanOutcome outcome) {
  static const char* const names[] = {"solved", "penalty_max", "max_iter", "max_time", "user"};
  return (unsigned)outcome < sizeof names / sizeof names[0] ? names[outcome] : "unknown";
}
