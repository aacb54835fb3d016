// Planning through contact on a bead and a wall: what a solve promises, both sets of rules, derivatives that are wrong,
// and input that is.
#include "bead.h"

// ---- what a solve promises ----

// The merit never rises while the penalties stay.
static void merit_falls(const TriboPlanResult* r) {
  for (int i = 1; i < r->iterations; ++i) {
    if (r->history[i].penalty == r->history[i - 1].penalty) {
      CHECK_LE(r->history[i].merit, r->history[i - 1].merit + 1e-12 * (1 + fabs(r->history[i].merit)));
    }
  }
}

// The least violation of the rows, by the callbacks alone.
static double violation(Bead* b, const double* z) {
  double most = 0, eq[ROWS_EQ], in[ROWS_IN];
  for (int k = 0; k < N; ++k) {
    CHECK_OK(values(b, k, z + k * NZ, k + 1 < N ? z + (k + 1) * NZ : NULL, eq, in));
    for (int i = 0; i < (k == 0 ? 4 : k < N - 1 ? 2 : 0); ++i) {
      most = fmax(most, fabs(eq[i]));
    }
    for (int i = 0; i < ROWS_IN; ++i) {
      most = fmax(most, -in[i]);
    }
  }
  return most;
}

// What any step of at most `radius` can lower the merit's model by is at most the gap that the multipliers prove:
// Σ φ_i(c_i) − y_i c_i + radius Σ |∇f + Aᵀ y|, with penalties known to bound y.
static double promise(Bead* b, const TriboPlanResult* r, double radius) {
  double gap = 0, d[N * NZ + NZ] = {0};
  const double* y = r->multipliers;
  for (int k = 0; k < N; ++k) {
    const double *z = r->z + k * NZ, *next = k + 1 < N ? z + NZ : NULL;
    const int neq = k == 0 ? 4 : k < N - 1 ? 2 : 0;
    double eq[ROWS_EQ], in[ROWS_IN], eq_by[9], in_by[4], f, grad[NZ] = {0}, hess[NZ * NZ] = {0};
    CHECK_OK(values(b, k, z, next, eq, in));
    CHECK_OK(jacobian(b, k, z, next, eq_by, in_by));
    CHECK_OK(cost(b, k, z, &f, grad, hess));
    for (int j = 0; j < NZ; ++j) {
      d[k * NZ + j] += grad[j];
    }
    const int *start = k == 0 ? first_start : eq_start, *col = k == 0 ? first_col : first_col + 2;
    for (int i = 0; i < neq; ++i, ++y) {
      gap += r->penalty * fabs(eq[i]) - *y * eq[i];
      for (int e = start[i]; e < start[i + 1]; ++e) {
        d[k * NZ + col[e]] += *y * eq_by[e];
      }
    }
    for (int i = 0; i < ROWS_IN; ++i, ++y) {
      CHECK_LE(*y, 1e-9);
      gap += r->penalty * fmax(0, -in[i]) - *y * in[i];
      for (int e = in_start[i]; e < in_start[i + 1]; ++e) {
        d[k * NZ + in_col[e]] += *y * in_by[e];
      }
    }
  }
  for (int j = 0; j < N * NZ; ++j) {
    gap += radius * fabs(d[j]);
  }
  return gap;
}

static void finds_the_wall(void** state) {
  (void)state;
  for (int rules = TRIBO_PLAN_HOUSE; rules <= TRIBO_PLAN_PAPER; ++rules) {
    Bead b = plain;
    TriboPlan* plan = make(&b);
    TriboPlanResult r;
    TriboPlanResidual judged;
    double z0[N * NZ] = {0}, before[N * NZ];
    CHECK_OK(tribo_plan_use_rules(plan, (TriboPlanRules)rules));
    CHECK_OK(tribo_plan_solve(plan, z0, NULL, NULL, &r));
    assert_int_equal(r.outcome, TRIBO_PLAN_SOLVED);
    CHECK_LE(violation(&b, r.z), 1e-8);
    CHECK_LE(fabs(r.z[(N - 1) * NZ + X] - 0.5), 0.02);
    CHECK_LE(promise(&b, &r, 1e-3), 1e-6 * fmax(1, r.merit));
    CHECK_LE(r.stationarity, 1e-6);
    assert_int_equal(r.qp_failures, 0);
    merit_falls(&r);
    CHECK_OK(tribo_plan_residual(plan, r.z, &judged));
    CHECK_NEAR(judged.cost, r.cost, 1e-12);
    CHECK_NEAR(judged.violation, violation(&b, r.z), 1e-15);
    assert_true(judged.is_convex);
    // the bead falls onto the wall, which must push
    double push = 0;
    for (int k = 0; k < N; ++k) {
      push = fmax(push, r.z[k * NZ + L]);
    }
    CHECK_LE(1e-3, push);
    // the same bits again
    memcpy(before, r.z, sizeof before);
    CHECK_OK(tribo_plan_solve(plan, z0, NULL, NULL, &r));
    assert_memory_equal(before, r.z, sizeof before);
    tribo_plan_destroy(plan);
  }
}

static int stop_at(const TriboPlanIteration* now, void* user) {
  return now->iteration >= *(const int*)user;
}

static void ends_early_and_says_so(void** state) {
  (void)state;
  Bead b = plain;
  TriboPlan* plan = make(&b);
  TriboPlanResult r;
  double z0[N * NZ] = {0};
  int at = 2;
  CHECK_OK(tribo_plan_solve(plan, z0, stop_at, &at, &r));
  assert_int_equal(r.outcome, TRIBO_PLAN_USER);
  assert_int_equal(r.iterations, 3);
  CHECK_OK(tribo_plan_set(plan, "max_iterations", 2));
  CHECK_OK(tribo_plan_solve(plan, z0, NULL, NULL, &r));
  assert_int_equal(r.outcome, TRIBO_PLAN_MAX_ITER);
  assert_string_equal(tribo_plan_outcome_name(r.outcome), "max_iter");
  CHECK_OK(tribo_plan_set(plan, "max_iterations", 1000));
  CHECK_OK(tribo_plan_set(plan, "max_time", 1e-9));
  CHECK_OK(tribo_plan_solve(plan, z0, NULL, NULL, &r));
  assert_int_equal(r.outcome, TRIBO_PLAN_MAX_TIME);
  // a bead that starts inside the wall: no plan, and the row that stays violated has a name
  b.start[0] = -1;
  CHECK_OK(tribo_plan_set(plan, "max_time", 0));
  CHECK_OK(tribo_plan_solve(plan, z0, NULL, NULL, &r));
  assert_int_equal(r.outcome, TRIBO_PLAN_PENALTY_MAX);
  assert_true(r.violation > 0.4);
  assert_int_equal(r.worst_stage, 0);
  assert_non_null(r.worst_row);
  tribo_plan_destroy(plan);
}

// ---- derivatives ----

static void differences_do_as_well(void** state) {
  (void)state;
  Bead b = plain;
  TriboPlanStage stages[N];
  TriboPlan *plan, *by_differences;
  TriboPlanResult r, s;
  double z0[N * NZ] = {0};
  fill(stages, &b);
  CHECK_OK(tribo_plan_create(stages, N, &plan));
  for (int k = 0; k < N; ++k) {
    stages[k].jacobian = NULL;
  }
  CHECK_OK(tribo_plan_create(stages, N, &by_differences));
  CHECK_OK(tribo_plan_solve(plan, z0, NULL, NULL, &r));
  CHECK_OK(tribo_plan_solve(by_differences, z0, NULL, NULL, &s));
  assert_int_equal(s.outcome, TRIBO_PLAN_SOLVED);
  CHECK_NEAR(s.cost, r.cost, 1e-4 * r.cost);
  tribo_plan_destroy(plan);
  tribo_plan_destroy(by_differences);
}

static void names_a_wrong_derivative(void** state) {
  (void)state;
  Bead b = plain;
  TriboPlan* plan = make(&b);
  KitRandom r = {1};
  double z[N * NZ];
  for (int j = 0; j < N * NZ; ++j) {
    z[j] = kit_normal(&r);
  }
  CHECK_OK(tribo_plan_check_derivatives(plan, z, 1e-6));
  b.wrong = 1e-4;
  CHECK_FAILS(tribo_plan_check_derivatives(plan, z, 1e-6), TRIBO_INVALID, "contact of the wall (row 6) by unknown 0");
  tribo_plan_destroy(plan);
  // a column that the pattern forgets
  TriboPlanStage stages[N];
  b.wrong = 0;
  fill(stages, &b);
  static const int short_start[] = {0, 3, 6}, short_col[] = {X, NZ + X, NZ + V, V, L, NZ + V};
  stages[3].eq_start = short_start, stages[3].eq_col = short_col, stages[3].jacobian = NULL;
  CHECK_OK(tribo_plan_create(stages, N, &plan));
  CHECK_FAILS(tribo_plan_check_derivatives(plan, z, 1e-6), TRIBO_INVALID, "stage 3: the derivative of an equality");
  tribo_plan_destroy(plan);
}

// ---- input that is wrong ----

static void refuses_wrong_stages(void** state) {
  (void)state;
  static const int outside[] = {X, NZ + X, NZ + 2, V, U, L, NZ + V}, falls[] = {0, 3, 2}, late[] = {1, 3, 7};
  static const int unsorted[] = {NZ + X, X, NZ + V, V, U, L, NZ + V};
  const struct {
    const char* text;
    int nz, ns, neq;
    const int *start, *col;
  } wrong[] = {
      {"stage 3 has nz = 0", 0, 0, 2, eq_start, first_col + 2}, {"ns = 5", NZ, 5, 2, eq_start, first_col + 2},
      {"neq = -1", NZ, 2, -1, eq_start, first_col + 2},         {"row 0 has the column 6", NZ, 2, 2, eq_start, outside},
      {"falls after row 1", NZ, 2, 2, falls, first_col + 2},    {"must begin with 0", NZ, 2, 2, late, first_col + 2},
      {"row 0 has the column 0", NZ, 2, 2, eq_start, unsorted}, {"eq_col is NULL", NZ, 2, 2, eq_start, NULL},
  };
  Bead b = plain;
  TriboPlanStage stages[N];
  TriboPlan* plan;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    fill(stages, &b);
    TriboPlanStage* s = &stages[3];
    s->nz = wrong[i].nz, s->ns = wrong[i].ns, s->neq = wrong[i].neq, s->eq_start = wrong[i].start,
    s->eq_col = wrong[i].col;
    CHECK_FAILS(tribo_plan_create(stages, N, &plan), TRIBO_INVALID, wrong[i].text);
    assert_null(plan);
  }
  fill(stages, &b);
  stages[2].cost = NULL;
  CHECK_FAILS(tribo_plan_create(stages, N, &plan), TRIBO_INVALID, "stage 2 has no function for its cost");
  fill(stages, &b);
  CHECK_FAILS(tribo_plan_create(stages, 1, &plan), TRIBO_INVALID, "1 stages, a plan has at least 2");
}

static void refuses_wrong_numbers(void** state) {
  (void)state;
  Bead b = plain;
  TriboPlan* plan = make(&b);
  TriboPlanResult r;
  double z0[N * NZ] = {0}, value;
  z0[5 * NZ + V] = NAN;
  CHECK_FAILS(tribo_plan_solve(plan, z0, NULL, NULL, &r), TRIBO_INVALID, "unknown 1 of stage 5 is nan");
  z0[5 * NZ + V] = 0;
  b.curvature = -1;
  CHECK_FAILS(tribo_plan_solve(plan, z0, NULL, NULL, &r), TRIBO_INVALID, "the cost of stage 0 is not convex");
  b.curvature = NAN;
  CHECK_FAILS(tribo_plan_solve(plan, z0, NULL, NULL, &r), TRIBO_NUMERIC, "the cost of the given point is nan");
  b = plain;
  b.start[0] = INFINITY;
  CHECK_FAILS(tribo_plan_solve(plan, z0, NULL, NULL, &r), TRIBO_NUMERIC, "row 0 of stage 0) is -inf");
  b = plain;
  b.fail_stage = 4;
  assert_int_equal(tribo_plan_solve(plan, z0, NULL, NULL, &r), TRIBO_NUMERIC);
  CHECK_FAILS(tribo_plan_set(plan, "radius", -1), TRIBO_INVALID, "radius");
  CHECK_FAILS(tribo_plan_set(plan, "radiuss", 1), TRIBO_NOT_FOUND, "radius");
  CHECK_FAILS(tribo_plan_use_rules(plan, (TriboPlanRules)7), TRIBO_INVALID, "rules 7");
  CHECK_OK(tribo_plan_use_rules(plan, TRIBO_PLAN_PAPER));
  CHECK_OK(tribo_plan_get(plan, "grow_kind", &value));
  CHECK_NEAR(value, 1, 0);
  CHECK_FAILS(tribo_plan_solve(NULL, z0, NULL, NULL, &r), TRIBO_INVALID, "plan is NULL");
  // none of this has harmed the plan
  b = plain;
  CHECK_OK(tribo_plan_solve(plan, z0, NULL, NULL, &r));
  assert_int_equal(r.outcome, TRIBO_PLAN_SOLVED);
  tribo_plan_destroy(plan);
  tribo_plan_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_the_wall),         cmocka_unit_test(ends_early_and_says_so),
      cmocka_unit_test(differences_do_as_well), cmocka_unit_test(names_a_wrong_derivative),
      cmocka_unit_test(refuses_wrong_stages),   cmocka_unit_test(refuses_wrong_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
