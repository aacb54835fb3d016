// Inverse dynamics that choose their contacts: against enumeration of all modes, the contact solvers, a box QP, closed
// forms and symmetries; and how calmly bad input is met. test_qpcc_study.c has the long runs.
#include <tribo/solver.h>

#include "kit.h"
#include "qpcc_families.h"
#include "qpcc_projection.h"

static QpccCase c;
static TriboQpccSolver* solver;

static int setup(void** state) {
  (void)state;
  return tribo_qpcc_create(QPCC_MOST_A, QPCC_MOST_CON, QPCC_MOST_RES, &solver) != TRIBO_OK;
}

static int teardown(void** state) {
  (void)state;
  tribo_qpcc_destroy(solver);
  return 0;
}

static TriboQpccSolution solve(const TriboQpcc* p, int flips, const TriboQpccWarm* warm) {
  TriboQpccSettings settings = tribo_qpcc_settings_default();
  TriboQpccSolution x;
  settings.flips = flips;
  CHECK_OK(tribo_qpcc_solve(solver, p, &settings, warm, &x));
  return x;
}

static TriboQpccResiduals judge(const TriboQpcc* p, const TriboQpccSolution* x) {
  TriboQpccResiduals r;
  CHECK_OK(tribo_qpcc_residual(p, x->lambda_a, x->lambda_c, &r));
  return r;
}

// ---- against enumeration

static void small_problems_end_at_the_best_of_all_modes(void** state) {
  (void)state;
  static const int sizes[][2] = {{1, 4}, {2, 3}, {3, 2}};
  for (int family = QPCC_RIGID; family < QPCC_INFEASIBLE; ++family) {
    for (int k = 0; k < 3; ++k) {
      for (unsigned seed = 0; seed < 6; ++seed) {
        qpcc_make((QpccFamily)family, sizes[k][0], sizes[k][1], seed, &c);
        const TriboQpccSolution x = solve(&c.problem, 4, NULL);
        const TriboQpccResiduals r = judge(&c.problem, &x);
        assert_int_equal(x.outcome, TRIBO_QPCC_SOLVED);
        CHECK_LE(r.nat, 1e-10);
        CHECK_LE(r.box, 0);
        CHECK_LE(x.bound, r.f * (1 + 1e-9));
        assert_int_equal(qpcc_is_global(&c.problem, r.f, 1e-4, 200000), 1);
        if (sizes[k][0] < 3) {
          double kkt;
          CHECK_OK(tribo_qpcc_kkt(&c.problem, &x, &kkt));
          CHECK_LE(kkt, 1e-8);
        }
      }
    }
  }
}

// the enumeration finds what is wrong with a point that is not the best
static void enumeration_sees_a_worse_point(void** state) {
  (void)state;
  for (int d = 1; d <= 3; ++d) {
    qpcc_make(QPCC_RIGID, d, 2, 3, &c);
    const TriboQpccSolution x = solve(&c.problem, 4, NULL);
    assert_int_equal(qpcc_is_global(&c.problem, 1.01 * judge(&c.problem, &x).f + 1e-6, 1e-4, 200000), 0);
  }
}

// ---- feasibility

static void feasible_problems_are_never_called_infeasible(void** state) {
  (void)state;
  int exact = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    qpcc_make_feasible(seed, 1 + (int)(seed % 3), 2 + (int)(seed % 2), &c);
    const TriboQpccSolution x = solve(&c.problem, 2, NULL);
    const double nat = judge(&c.problem, &x).nat;
    assert_int_not_equal(x.outcome, TRIBO_QPCC_INFEASIBLE);
    assert_int_equal(x.outcome == TRIBO_QPCC_SOLVED, nat <= 1e-10);
    CHECK_LE(nat, 1e-7);
    exact += nat <= 1e-10;
  }
  assert_in_range(exact, 298, 300);
}

static void opposed_walls_are_infeasible_and_named(void** state) {
  (void)state;
  for (int d = 1; d <= 3; ++d) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      qpcc_make(QPCC_INFEASIBLE, d, 3, seed, &c);
      const TriboQpccSolution x = solve(&c.problem, 2, NULL);
      assert_int_equal(x.outcome, TRIBO_QPCC_INFEASIBLE);
      assert_in_range(x.worst, 0, 1);
    }
  }
}

// ---- against other solvers

// Without actuators it is a forward contact problem: its impulses are those of `auto`.
static void without_actuators_it_is_the_contact_problem(void** state) {
  (void)state;
  enum { N = 4, ROWS = 3 * N };
  TriboSolver* autosolver;
  CHECK_OK(tribo_solver_create("auto", &autosolver));
  for (unsigned seed = 0; seed < 20; ++seed) {
    static double B[ROWS * ROWS];
    int col[ROWS + 1], row[ROWS * ROWS];
    TriboCone cones[N];
    double R[ROWS] = {0}, zero[ROWS] = {0}, lambda[ROWS];
    qpcc_make(QPCC_RIGID, 3, N, seed, &c);
    for (int k = 0; k < ROWS * ROWS; ++k) {
      B[k] = k % (ROWS + 1) == 0;
      row[k] = k % ROWS;
      col[k / ROWS] = k / ROWS * ROWS;
    }
    col[ROWS] = ROWS * ROWS;
    for (int i = 0; i < N; ++i) {
      cones[i] = (TriboCone){.kind = TRIBO_CONE_FRICTION, .row = 3 * i, .dim = 3, .mu = {c.mu[i], c.mu[i]}};
    }
    const TriboProblem forward = {
        .nrow = ROWS, .ncone = N, .cones = cones, .g = c.g, .R = R, .G_col = col, .G_row = row, .G_val = c.D};
    TriboSolveStats stats;
    CHECK_OK(tribo_solver_solve(autosolver, &forward, NULL, lambda, &stats));
    assert_int_equal(stats.outcome, TRIBO_SOLVED);
    TriboQpcc p = c.problem;
    p.na = 0;
    p.nres = ROWS;
    p.B = B;
    p.b = zero;
    const TriboQpccSolution x = solve(&p, 3, NULL);
    assert_int_equal(x.outcome, TRIBO_QPCC_SOLVED);
    for (int k = 0; k < ROWS; ++k) {
      CHECK_NEAR(x.lambda_c[k], lambda[k], 1e-7);
    }
  }
  tribo_solver_destroy(autosolver);
}

// Without friction only normals count: a contact of three rows is one of one.
static void without_friction_it_is_complementary(void** state) {
  (void)state;
  enum { N = 3 };
  for (unsigned seed = 0; seed < 20; ++seed) {
    qpcc_make(QPCC_RIGID, 3, N, seed, &c);
    const int na = c.problem.na, nres = c.problem.nres;
    double B[QPCC_MOST_RES * N], C[N * QPCC_MOST_A], D[N * N], g[N], mu[N] = {0};
    const int dim[N] = {1, 1, 1};
    for (int i = 0; i < N; ++i) {
      c.mu[i] = 0;
      memcpy(B + i * nres, c.B + (3 * i + 2) * nres, (size_t)nres * sizeof *B);
      g[i] = c.g[3 * i + 2];
      for (int j = 0; j < na; ++j) {
        C[j * N + i] = c.C[j * 3 * N + 3 * i + 2];
      }
      for (int k = 0; k < N; ++k) {
        D[k * N + i] = c.D[(3 * k + 2) * 3 * N + 3 * i + 2];
      }
    }
    TriboQpcc lcp = c.problem;
    lcp.B = B;
    lcp.C = C;
    lcp.D = D;
    lcp.g = g;
    lcp.mu = mu;
    lcp.dim = dim;
    const TriboQpccSolution x = solve(&lcp, 4, NULL);
    const double f = x.f;
    const TriboQpccSolution y = solve(&c.problem, 4, NULL);
    assert_int_equal(y.outcome, TRIBO_QPCC_SOLVED);
    CHECK_NEAR(y.f, f, 1e-6 * f + 1e-12);
  }
}

// With contacts out of reach it is min ½‖Ax + b‖² on a box: the gradient is 0 inside, and points outwards at bounds.
static void far_contacts_leave_a_box_problem(void** state) {
  (void)state;
  for (unsigned seed = 0; seed < 10; ++seed) {
    qpcc_make(QPCC_BOX, 3, 3, seed, &c);
    const int na = c.problem.na, nres = c.problem.nres;
    double r[QPCC_MOST_RES];
    int bounded = 0;
    for (int i = 0; i < 3; ++i) {
      c.g[3 * i + 2] = 1e3;
    }
    const TriboQpccSolution x = solve(&c.problem, 2, NULL);
    assert_int_equal(x.outcome, TRIBO_QPCC_SOLVED);
    for (int i = 0; i < 3; ++i) {
      assert_int_equal(x.mode[i], TRIBO_QPCC_BREAK);
    }
    for (int i = 0; i < nres; ++i) {
      r[i] = c.b[i];
      for (int j = 0; j < na; ++j) {
        r[i] += c.A[j * nres + i] * x.lambda_a[j];
      }
    }
    for (int j = 0; j < na; ++j) {
      double slope = 0;
      for (int i = 0; i < nres; ++i) {
        slope += c.A[j * nres + i] * r[i];
      }
      const int low = x.lambda_a[j]<c.lower[j] + 1e-9, high = x.lambda_a[j]> c.upper[j] - 1e-9;
      bounded += low || high;
      CHECK_LE(low ? 0 : slope, 1e-9);
      CHECK_LE(high ? 0 : -slope, 1e-9);
    }
    assert_true(bounded > 0);
  }
}

// ---- symmetries

// Turns the tangents of all contacts by an angle.
static void turn(QpccCase* p, double angle) {
  const int nc = 3 * p->problem.ncon, co = nc, nres = p->problem.nres;
  const double a = cos(angle), b = sin(angle);
  for (int i = 0; i < nc; i += 3) {
    double* columns[2] = {p->B + i * nres, p->D + i * co};
    const int rows[2] = {nres, co};
    for (int m = 0; m < 2; ++m) {
      for (int k = 0; k < rows[m]; ++k) {
        const double x = columns[m][k], y = columns[m][rows[m] + k];
        columns[m][k] = a * x + b * y;
        columns[m][rows[m] + k] = a * y - b * x;
      }
    }
  }
  for (int i = 0; i < nc; i += 3) {
    for (int k = -p->problem.na - 1; k < nc; ++k) {
      double* at = k >= 0 ? p->D + k * co + i : k == -1 ? p->g + i : p->C + (-k - 2) * co + i;
      const double x = at[0], y = at[1];
      at[0] = a * x + b * y;
      at[1] = a * y - b * x;
    }
  }
}

static void turned_frames_turn_the_answer(void** state) {
  (void)state;
  const double angle = 0.7;
  for (unsigned seed = 0; seed < 8; ++seed) {
    double la[QPCC_MOST_A], lc[QPCC_MOST_ROWS];
    qpcc_make(QPCC_RIGID, 3, 2, seed, &c);
    TriboQpccSolution x = solve(&c.problem, 4, NULL);
    const double f = x.f;
    memcpy(la, x.lambda_a, (size_t)c.problem.na * sizeof *la);
    memcpy(lc, x.lambda_c, 6 * sizeof *lc);
    turn(&c, angle);
    x = solve(&c.problem, 4, NULL);
    CHECK_NEAR(x.f, f, 1e-6 * f + 1e-12);
    for (int i = 0; i < 6; i += 3) {
      CHECK_NEAR(x.lambda_c[i], cos(angle) * lc[i] + sin(angle) * lc[i + 1], 1e-3);
      CHECK_NEAR(x.lambda_c[i + 1], cos(angle) * lc[i + 1] - sin(angle) * lc[i], 1e-3);
      CHECK_NEAR(x.lambda_c[i + 2], lc[i + 2], 1e-3);
    }
  }
}

// Units of impulses, of velocities and of the objective change nothing but units.
static void scaling_leaves_the_modes(void** state) {
  (void)state;
  for (unsigned seed = 0; seed < 8; ++seed) {
    for (int k = 0; k < 2; ++k) {
      const double impulse = k ? 1e3 : 1e-3, speed = k ? 1e-3 : 1e3, goal = k ? 1e2 : 1e-2;
      TriboQpccMode mode[3];
      qpcc_make(QPCC_FORCE, 2, 3, seed, &c);
      TriboQpccSolution x = solve(&c.problem, 4, NULL);
      const double f = x.f;
      memcpy(mode, x.mode, sizeof mode);
      const int na = c.problem.na, nres = c.problem.nres, nc = 6;
      for (int i = 0; i < nres * na; ++i) {
        c.A[i] *= goal / impulse;
      }
      for (int i = 0; i < nres * nc; ++i) {
        c.B[i] *= goal / impulse;
      }
      for (int i = 0; i < nres; ++i) {
        c.b[i] *= goal;
      }
      for (int i = 0; i < nc * na; ++i) {
        c.C[i] *= speed / impulse;
      }
      for (int i = 0; i < nc * nc; ++i) {
        c.D[i] *= speed / impulse;
      }
      for (int i = 0; i < nc; ++i) {
        c.g[i] *= speed;
      }
      for (int i = 0; i < na; ++i) {
        c.lower[i] *= impulse;
        c.upper[i] *= impulse;
      }
      x = solve(&c.problem, 4, NULL);
      CHECK_NEAR(x.f, goal * goal * f, 1e-6 * goal * goal * f);
      for (int i = 0; i < 3; ++i) {
        assert_int_equal(x.mode[i], mode[i]);
      }
    }
  }
}

// ---- closed forms

// A block of mass m on a table, pushed along x and z by actuators, at rest, step h: λ_a and λ_c in the plane.
typedef struct Block {
  TriboQpcc problem;
  double A[6], B[6], b[3], C[4], D[4], g[2], lower[2], upper[2], mu;
  int dim;
} Block;

// Below the friction of its weight nothing moves it, above it slides against just that.
static void make_block(double m, double h, double wanted_x, double wanted_z, double most, Block* k) {
  const double gravity = 9.81;
  *k = (Block){.A = {1 / m, 0, 0, 0, 1 / m, 0},
               .B = {1 / m, 0, 0, 0, 1 / m, 0},
               .b = {-wanted_x, -gravity * h - wanted_z, 0},
               .C = {1 / m, 0, 0, 1 / m},
               .D = {1 / m, 0, 0, 1 / m},
               .g = {0, -gravity * h},
               .lower = {-most, -most},
               .upper = {most, most},
               .mu = 0.5,
               .dim = 2};
  k->problem = (TriboQpcc){.na = 2,
                           .ncon = 1,
                           .nres = 3,
                           .A = k->A,
                           .B = k->B,
                           .b = k->b,
                           .C = k->C,
                           .D = k->D,
                           .g = k->g,
                           .lower = k->lower,
                           .upper = k->upper,
                           .mu = &k->mu,
                           .dim = &k->dim};
}

static void block_slides_against_its_weight_times_friction(void** state) {
  (void)state;
  const double m = 2, h = 1e-3, weight = m * 9.81 * h;
  Block k;
  // no force along z: the actuator has none there
  make_block(m, h, 0.1, 0, 1, &k);
  k.A[4] = k.C[3] = 0;
  TriboQpccSolution x = solve(&k.problem, 2, NULL);
  assert_int_equal(x.mode[0], TRIBO_QPCC_SLIDE);
  CHECK_NEAR(x.lambda_c[1], weight, 1e-13);
  CHECK_NEAR(x.lambda_c[0], -0.5 * weight, 1e-13);
  CHECK_NEAR(x.lambda_a[0], m * 0.1 + 0.5 * weight, 1e-11);
  CHECK_NEAR(x.sigma[0], 0.1, 1e-9);
  // below μ m g it sticks whatever is wanted
  k.lower[0] = -0.4 * weight;
  k.upper[0] = 0.4 * weight;
  x = solve(&k.problem, 2, NULL);
  assert_int_equal(x.mode[0], TRIBO_QPCC_STICK);
  CHECK_NEAR(judge(&k.problem, &x).nat, 0, 1e-14);
}

static void mass_leaves_the_table_when_pressing_would_be_pulling(void** state) {
  (void)state;
  for (int up = -1; up <= 1; up += 2) {
    Block k;
    // wanted: falling faster than gravity cannot be had; rising can, and the table is left
    make_block(1, 1e-3, 0, up * 1e-3, 1, &k);
    const TriboQpccSolution x = solve(&k.problem, 2, NULL);
    assert_int_equal(x.mode[0], up > 0 ? TRIBO_QPCC_BREAK : TRIBO_QPCC_STICK);
    CHECK_NEAR(x.sigma[1], up > 0 ? 1e-3 : 0, 1e-12);
  }
}

static void finger_presses_with_the_wanted_force(void** state) {
  (void)state;
  const double f = 0.02;
  Block k;
  make_block(1, 1e-3, 0, 0, 10, &k);
  // third residual: λ_N − f
  k.B[5] = 1;
  k.b[2] = -f;
  const TriboQpccSolution x = solve(&k.problem, 2, NULL);
  assert_int_equal(x.mode[0], TRIBO_QPCC_STICK);
  CHECK_NEAR(x.lambda_c[1], f, 1e-12);
}

static void nothing_to_decide_is_least_squares(void** state) {
  (void)state;
  const double A[2] = {2, 0}, b[2] = {-1, 3}, lower = -INFINITY, upper = INFINITY;
  const TriboQpcc p = {.na = 1, .nres = 2, .A = A, .b = b, .lower = &lower, .upper = &upper};
  TriboQpccSolution x = solve(&p, 2, NULL);
  assert_int_equal(x.outcome, TRIBO_QPCC_SOLVED);
  CHECK_NEAR(x.lambda_a[0], 0.5, 1e-13);
  CHECK_NEAR(x.f, 4.5, 1e-13);
  const TriboQpcc nothing = {0};
  x = solve(&nothing, 2, NULL);
  assert_int_equal(x.outcome, TRIBO_QPCC_SOLVED);
}

// A bilateral row: the block hangs on it and is pulled as well as pushed.
static void held_rows_stay(void** state) {
  (void)state;
  const unsigned char held = 1;
  Block k;
  make_block(1, 1e-3, 0.2, 0.3, 0, &k);
  k.problem.held = &held;
  const TriboQpccSolution x = solve(&k.problem, 2, NULL);
  assert_int_equal(x.outcome, TRIBO_QPCC_SOLVED);
  assert_int_equal(x.mode[0], TRIBO_QPCC_HELD);
  CHECK_NEAR(x.sigma[0], 0, 1e-13);
  CHECK_NEAR(x.sigma[1], 0, 1e-13);
  CHECK_NEAR(x.lambda_c[1], 9.81e-3, 1e-13);
}

// ---- the paper's projection

static void projection_is_the_nearest_of_all_directions(void** state) {
  (void)state;
  KitRandom r = {5};
  for (int k = 0; k < 3000; ++k) {
    qpcc_check_projection(&r, 3600);
  }
}

// ---- behaviour

static void the_papers_method_alone_says_how_far_it_came(void** state) {
  (void)state;
  TriboQpccSettings settings = tribo_qpcc_settings_default();
  TriboQpccSolution x;
  settings.flips = 0;
  settings.starts = TRIBO_QPCC_START_ALM;
  settings.alm_iterations = 600;
  settings.tol = 1e-3;
  int solved = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    qpcc_make(QPCC_RIGID, 3, 2, seed, &c);
    CHECK_OK(tribo_qpcc_solve(solver, &c.problem, &settings, NULL, &x));
    assert_int_equal(x.outcome == TRIBO_QPCC_LOCAL || x.outcome == TRIBO_QPCC_MAX_ITER, 1);
    assert_int_equal(x.qps, 0);
    assert_true(x.alm_iterations > 0 && x.factorisations > 0);
    solved += x.outcome == TRIBO_QPCC_LOCAL && judge(&c.problem, &x).nat <= 1e-3;
  }
  assert_in_range(solved, 5, 20);
}

static void a_warm_start_costs_less_and_ends_at_the_same(void** state) {
  (void)state;
  qpcc_make(QPCC_RIGID, 2, 5, 1, &c);
  TriboQpccSolution x = solve(&c.problem, 2, NULL);
  TriboQpccMode mode[5];
  double slip[10];
  const double f = x.f;
  const int qps = x.qps;
  memcpy(mode, x.mode, sizeof mode);
  memcpy(slip, x.slip, sizeof slip);
  const TriboQpccWarm warm = {.mode = mode, .slip = slip};
  x = solve(&c.problem, 2, &warm);
  CHECK_NEAR(x.f, f, 1e-9 * f);
  assert_true(x.qps < qps);
  assert_int_equal(x.alm_iterations, 0);
}

static void answers_do_not_depend_on_history(void** state) {
  (void)state;
  double la[QPCC_MOST_A], lc[QPCC_MOST_ROWS];
  static QpccCase other;
  qpcc_make(QPCC_BOX, 3, 4, 2, &c);
  qpcc_make(QPCC_SINGULAR, 2, 5, 9, &other);
  TriboQpccSolution x = solve(&c.problem, 2, NULL);
  memcpy(la, x.lambda_a, (size_t)c.problem.na * sizeof *la);
  memcpy(lc, x.lambda_c, 12 * sizeof *lc);
  solve(&other.problem, 2, NULL);
  x = solve(&c.problem, 2, NULL);
  assert_memory_equal(la, x.lambda_a, (size_t)c.problem.na * sizeof *la);
  assert_memory_equal(lc, x.lambda_c, 12 * sizeof *lc);
}

static void a_time_budget_ends_it_with_a_point_of_the_contact_law(void** state) {
  (void)state;
  TriboQpccSettings settings = tribo_qpcc_settings_default();
  TriboQpccSolution x;
  settings.flips = 4;
  settings.max_time = 0.02;
  qpcc_make(QPCC_RIGID, 3, 20, 1, &c);
  CHECK_OK(tribo_qpcc_solve(solver, &c.problem, &settings, NULL, &x));
  assert_int_equal(x.outcome, TRIBO_QPCC_MAX_TIME);
  CHECK_LE(judge(&c.problem, &x).nat, 1e-8);
}

static void bad_input_is_refused_in_one_sentence(void** state) {
  (void)state;
  const TriboQpccSettings good = tribo_qpcc_settings_default();
  TriboQpccSettings settings = good;
  TriboQpccSolution x;
  qpcc_make(QPCC_RIGID, 3, 2, 1, &c);
  const TriboQpcc* p = &c.problem;
#define REFUSED(text) CHECK_FAILS(tribo_qpcc_solve(solver, p, &settings, NULL, &x), TRIBO_INVALID, text)
#define WITH(place, value, text) \
  do {                           \
    const double old_ = (place); \
    (place) = (value);           \
    REFUSED(text);               \
    (place) = old_;              \
  } while (0)
  WITH(c.A[3], NAN, "A[3] = nan");
  WITH(c.g[2], INFINITY, "g[2] = inf");
  WITH(c.lower[1], NAN, "actuator 1");
  WITH(c.lower[1], 6, "actuator 1 has bounds [6, 5]");
  WITH(c.mu[1], -0.1, "contact 1 has dim = 3, mu = -0.1");
  WITH(c.D[1], c.D[1] + 1, "not symmetric");
  WITH(c.D[0], -1, "most negative eigenvalue");
  c.dim[0] = 4;
  REFUSED("contact 0 has dim = 4");
  c.dim[0] = 3;
  c.problem.ncon = 1000;
  REFUSED("ncon = 1000");
  c.problem.ncon = 2;
  settings.tol = NAN;
  REFUSED("tol = nan");
  settings = good;
  settings.flips = 5;
  REFUSED("flips = 5");
  TriboQpccSolver* none;
  CHECK_FAILS(tribo_qpcc_create(-1, 0, 0, &none), TRIBO_INVALID, "max_na = -1");
  assert_null(none);
}

static void settings_are_all_set_and_bounded(void** state) {
  (void)state;
  int count;
  const TriboSetting* table = tribo_qpcc_settings(&count);
  TriboQpccSettings settings = tribo_qpcc_settings_default();
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    bytes += table[i].type == TRIBO_SETTING_REAL ? sizeof(double) : sizeof(int);
    if (table[i].type == TRIBO_SETTING_REAL) {
      double value;
      memcpy(&value, (char*)&settings + table[i].offset, sizeof value);
      CHECK_NEAR(value, table[i].init, 0);
    } else {
      int value;
      memcpy(&value, (char*)&settings + table[i].offset, sizeof value);
      assert_int_equal(value, (int)table[i].init);
    }
  }
  // every field is in the table, up to padding
  assert_in_range(sizeof settings - bytes, 0, 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_problems_end_at_the_best_of_all_modes),
                                     cmocka_unit_test(enumeration_sees_a_worse_point),
                                     cmocka_unit_test(feasible_problems_are_never_called_infeasible),
                                     cmocka_unit_test(opposed_walls_are_infeasible_and_named),
                                     cmocka_unit_test(without_actuators_it_is_the_contact_problem),
                                     cmocka_unit_test(without_friction_it_is_complementary),
                                     cmocka_unit_test(far_contacts_leave_a_box_problem),
                                     cmocka_unit_test(turned_frames_turn_the_answer),
                                     cmocka_unit_test(scaling_leaves_the_modes),
                                     cmocka_unit_test(block_slides_against_its_weight_times_friction),
                                     cmocka_unit_test(mass_leaves_the_table_when_pressing_would_be_pulling),
                                     cmocka_unit_test(finger_presses_with_the_wanted_force),
                                     cmocka_unit_test(nothing_to_decide_is_least_squares),
                                     cmocka_unit_test(held_rows_stay),
                                     cmocka_unit_test(projection_is_the_nearest_of_all_directions),
                                     cmocka_unit_test(the_papers_method_alone_says_how_far_it_came),
                                     cmocka_unit_test(a_warm_start_costs_less_and_ends_at_the_same),
                                     cmocka_unit_test(answers_do_not_depend_on_history),
                                     cmocka_unit_test(a_time_budget_ends_it_with_a_point_of_the_contact_law),
                                     cmocka_unit_test(bad_input_is_refused_in_one_sentence),
                                     cmocka_unit_test(settings_are_all_set_and_bounded)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
