// The six planning problems: derivatives, the optima that other methods find, closed forms, symmetry; with `all`, every
// task.
#include "kit.h"
#include "plan_check.h"

enum { MOST = 3000 };

static PlanProblem* make(const PlanKind* kind) {
  PlanProblem* p;
  CHECK_OK(plan_problem_create(kind, 0, 0, &p));
  assert_true(tribo_plan_unknowns(p->plan) <= MOST);
  return p;
}

// Solves the problem as it is set up from its own guess with noise. Whatever the outcome, a result is what it says.
static TriboPlanResult run(PlanProblem* p, KitRandom* noise) {
  static double z[MOST];
  TriboPlanResult r;
  TriboPlanResidual judged;
  plan_problem_guess(p, z);
  const double size = noise != NULL ? p->kind->noise : 0;
  KitRandom none = {1};
  for (int i = 0; i < tribo_plan_unknowns(p->plan); ++i) {
    z[i] += size * kit_normal(noise != NULL ? noise : &none);
  }
  CHECK_OK(tribo_plan_solve(p->plan, z, NULL, NULL, &r));
  CHECK_OK(tribo_plan_residual(p->plan, r.z, &judged));
  CHECK_NEAR(judged.cost, r.cost, 1e-12 * (1 + r.cost));
  CHECK_NEAR(judged.violation, r.violation, 1e-15);
  assert_true(judged.is_convex);
  return r;
}

// Solves task `index`; 0 when there is none.
static int run_task(PlanProblem* p, int index, TriboPlanResult* r, PlanError* error, int* is_success) {
  char name[64];
  if (!p->kind->task(index, p->start, p->goal, name)) {
    return 0;
  }
  *r = run(p, NULL);
  *is_success = plan_problem_success(p, r->z, r->violation, error);
  return 1;
}

static void derivatives_are_right(void** state) {
  (void)state;
  static double z[MOST];
  KitRandom random = {3};
  for (int i = 0; i < plan_kind_count(); ++i) {
    PlanProblem* p;
    CHECK_OK(plan_problem_create(plan_kind(i), 5, 0, &p));
    for (int run = 0; run < 20; ++run) {
      for (int j = 0; j < tribo_plan_unknowns(p->plan); ++j) {
        z[j] = kit_normal(&random);
      }
      CHECK_OK(tribo_plan_check_derivatives(p->plan, z, 1e-6));
    }
    plan_problem_destroy(p);
  }
}

// What Ipopt finds: 2.7201677, 5.42393 and 2.96434. Local optima: the cart-pole's is the same, ours of the other two
// may be another one, not worse by more than this.
static void defaults_reach_known_optima(void** state) {
  (void)state;
  const struct {
    const PlanKind* kind;
    double optimum, above;
  } known[] = {{&plan_cartpole, 2.7201677, 1e-4}, {&plan_push_box, 5.42393, 0.01}, {&plan_transport, 2.96434, 0.05}};
  for (int i = 0; i < 3; ++i) {
    PlanProblem* p = make(known[i].kind);
    PlanError error;
    const TriboPlanResult r = run(p, NULL);
    assert_int_equal(r.outcome, TRIBO_PLAN_SOLVED);
    CHECK_LE(r.violation, 1e-8);
    CHECK_LE(r.cost, known[i].optimum * (1 + known[i].above));
    CHECK_LE(known[i].optimum * (1 - 1e-4), r.cost);
    assert_true(plan_problem_success(p, r.z, r.violation, &error));
    plan_problem_destroy(p);
  }
}

// Cargo and cart with equal offsets move together and friction is not reached: one mass m₁ + m₂, a linear-quadratic
// problem of its own. Only the last stage is not tied: 1e-4.
static void equal_offsets_are_linear_quadratic(void** state) {
  (void)state;
  PlanProblem* p = make(&plan_transport);
  PlanError error;
  TriboPlanResult r = {0};
  int is_success = 0;
  assert_true(run_task(p, 0, &r, &error, &is_success));
  CHECK_NEAR(r.cost, 0.0854929, 1e-4);
  assert_true(run_task(p, 9, &r, &error, &is_success));
  CHECK_NEAR(r.cost, 0.1953123, 1e-4);
  plan_problem_destroy(p);
}

// The cargo brakes with at most a = μg. Its displacement in T, with end speed v: two ramps up to v_p and down, plus
// what the semi-implicit rule adds; the speed at which that equals the distance is the least error a plan from −4 to −2
// m/s can have.
static double least_speed_error(double distance) {
  const double a = 0.2 * 9.81, T = 199 * 0.02, v0 = 4;
  double low = -4, high = 4;  // forwards: signs of speed and distance turned
  for (int i = 0; i < 60; ++i) {
    const double v = 0.5 * (low + high), t1 = 0.5 * (T + (v0 - v) / a), t2 = T - t1, peak = v0 - a * t1;
    // braking first, then speeding up: the least distance that ends with speed v
    const double least = 0.5 * (v0 + peak) * t1 + 0.5 * (peak + v) * t2 + 0.5 * 0.02 * (v - v0);
    *(least > distance ? &high : &low) = v;
  }
  return 2 - 0.5 * (low + high);
}

// Boxes whose targets mirror each other cost the same.
static void mirrored_boxes_cost_the_same(void** state) {
  (void)state;
  PlanProblem* p = make(&plan_push_box);
  double cost[2];
  for (int i = 0; i < 2; ++i) {
    const double a = (i == 0 ? 1 : -1) * M_PI / 9;
    p->goal[0] = 3 * cos(a), p->goal[1] = 3 * sin(a), p->goal[2] = a;
    const TriboPlanResult r = run(p, NULL);
    assert_int_equal(r.outcome, TRIBO_PLAN_SOLVED);
    cost[i] = r.cost;
  }
  // both are local optima, found on different ways
  CHECK_NEAR(cost[0], cost[1], 0.05 * cost[0]);
  plan_problem_destroy(p);
}

// The engine knows nothing of a plan's equations: what its efforts make there differs from the plan by what the plan's
// step is coarse, first order. A sign, a mass or a lever arm that is wrong would be off whatever the step.
static void plans_move_the_exact_engine(void** state) {
  (void)state;
  double off[2];
  for (int i = 0; i < 2; ++i) {
    PlanProblem* p;
    PlanCheck found;
    static double z[MOST];
    TriboPlanResult r;
    CHECK_OK(plan_problem_create(&plan_cartpole, i ? 199 : 100, i ? 0.01 : 0.02, &p));
    plan_problem_guess(p, z);
    CHECK_OK(tribo_plan_solve(p->plan, z, NULL, NULL, &r));
    assert_int_equal(r.outcome, TRIBO_PLAN_SOLVED);
    const PlanMotion motion = plan_problem_motion(p, r.z);
    CHECK_OK(plan_check(&motion, PLAN_SCENES "/cartpole.yaml", 0, 0, NULL, &found));
    assert_int_equal(found.certified, found.steps);
    off[i] = found.position;
    plan_problem_destroy(p);
  }
  CHECK_LE(off[0], 0.15);
  CHECK_LE(off[1], 0.7 * off[0]);
  CHECK_LE(0.3 * off[0], off[1]);
}

// A cargo that slides, in both directions: the exact engine's friction takes it where the plan does.
static void friction_is_the_engines(void** state) {
  (void)state;
  PlanProblem* p = make(&plan_transport);
  char name[64];
  for (int index = 1; index <= 3; index += 2) {
    PlanCheck found;
    assert_true(plan_transport.task(index, p->start, p->goal, name));
    const TriboPlanResult r = run(p, NULL);
    const PlanMotion motion = plan_problem_motion(p, r.z);
    CHECK_OK(plan_check(&motion, PLAN_SCENES "/transport.yaml", 0, 0, NULL, &found));
    assert_int_equal(found.certified, found.steps);
    CHECK_LE(found.position, 0.06);
    CHECK_LE(found.velocity, 0.1);
  }
  plan_problem_destroy(p);
}

// ---- all tasks: slow ----

// Runs all tasks of a kind; at least `wanted` end at their goal.
static void most_tasks_succeed(const PlanKind* kind, int wanted) {
  PlanProblem* p = make(kind);
  PlanError error;
  TriboPlanResult r = {0};
  int count = 0, is_success = 0;
  for (int i = 0; run_task(p, i, &r, &error, &is_success); ++i) {
    count += is_success;
  }
  print_message("%s: %d at their goal\n", kind->name, count);
  assert_true(count >= wanted);
  plan_problem_destroy(p);
}

static void tasks_of_the_cartpole(void** state) {
  (void)state;
  most_tasks_succeed(&plan_cartpole, 10);
}
static void tasks_of_the_box(void** state) {
  (void)state;
  most_tasks_succeed(&plan_push_box, 18);
}
static void tasks_of_the_t(void** state) {
  (void)state;
  most_tasks_succeed(&plan_push_t, 16);
}

// Every task is feasible; the 19 that can end with the wanted speed do, the others miss it by the least they can.
static void tasks_of_the_transport(void** state) {
  (void)state;
  PlanProblem* p = make(&plan_transport);
  PlanError error;
  TriboPlanResult r = {0};
  int count = 0, is_success = 0;
  for (int i = 0; run_task(p, i, &r, &error, &is_success); ++i) {
    const double least = i < 18 ? 0 : least_speed_error(p->start[0] - p->goal[0]);
    CHECK_LE(r.violation, 1e-8);
    CHECK_LE(least, error.velocity + 1e-3);
    CHECK_LE(error.position, 0.01);
    CHECK_LE(error.velocity, least < 0.5 ? 0.5 : least + 0.05);
    count += is_success;
  }
  assert_int_equal(count, 19);
  plan_problem_destroy(p);
}

// The defaults of the hopper and the waiter, and guesses of the hopper with noise. Of nine such guesses seven to eight
// end at the goal (docs/planning.md); two of three must.
static void guesses_with_noise(void** state) {
  (void)state;
  PlanProblem *hopper = make(&plan_hopper), *waiter = make(&plan_waiter);
  PlanError error;
  KitRandom noise = {2};
  int count = 0;
  const TriboPlanResult first = run(hopper, NULL), second = run(waiter, NULL);
  CHECK_LE(first.cost, 3.8);
  CHECK_LE(first.violation, 1e-8);
  CHECK_LE(second.cost, 3);
  CHECK_LE(second.violation, 1e-8);
  for (int i = 0; i < 3; ++i) {
    const TriboPlanResult r = run(hopper, &noise);
    count += plan_problem_success(hopper, r.z, r.violation, &error);
  }
  print_message("hopper: %d of 3 guesses with noise at their goal\n", count);
  assert_true(count >= 2);
  plan_problem_destroy(hopper);
  plan_problem_destroy(waiter);
}

int main(int argc, char** argv) {
  const struct CMUnitTest quick[] = {
      cmocka_unit_test(derivatives_are_right),
      cmocka_unit_test(defaults_reach_known_optima),
      cmocka_unit_test(equal_offsets_are_linear_quadratic),
      cmocka_unit_test(mirrored_boxes_cost_the_same),
      cmocka_unit_test(plans_move_the_exact_engine),
      cmocka_unit_test(friction_is_the_engines),
  };
  const struct CMUnitTest slow[] = {
      cmocka_unit_test(tasks_of_the_cartpole),  cmocka_unit_test(tasks_of_the_box),   cmocka_unit_test(tasks_of_the_t),
      cmocka_unit_test(tasks_of_the_transport), cmocka_unit_test(guesses_with_noise),
  };
  if (argc > 1 && strcmp(argv[1], "all") == 0) {
    return cmocka_run_group_tests(slow, NULL, NULL);
  }
  return cmocka_run_group_tests(quick, NULL, NULL);
}
