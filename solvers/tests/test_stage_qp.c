// The convex problems inside a plan: against all active sets of small ones, by duality from raw data on large ones,
// with penalties from 1 to 1e6, and rows that contradict or repeat each other.
#include "kit.h"

#include "stage_qp.h"

enum { STAGES = 12, NZ = 5, NS = 2, ROWS = 9, WIDE = NZ + NS, MOST = STAGES * ROWS * WIDE };

// A random problem: sizes, patterns, numbers.
typedef struct Problem {
  TriboStageShape shape;
  TriboStageData data;
  int z_at[STAGES + 1], ns[STAGES], row_at[STAGES + 1], start[STAGES * ROWS + 1], col[MOST];
  double hess[STAGES * NZ * NZ], grad[STAGES * NZ], jac[MOST], c[STAGES * ROWS], above[STAGES * ROWS],
      below[STAGES * ROWS];
} Problem;

// A random problem; the last row of a stage repeats its first.
static void make(Problem* p, KitRandom* r, int stages, int nz, int ns, int rows, double penalty, double curvature) {
  int entries = 0, row = 0;
  for (int k = 0; k <= stages; ++k) {
    p->z_at[k] = k * nz;
    p->row_at[k] = row;
    if (k == stages) {
      break;
    }
    p->ns[k] = ns;
    for (int i = 0; i < rows; ++i, ++row) {
      p->start[row] = entries;
      for (int j = 0; j < nz + (k + 1 < stages ? ns : 0); ++j) {
        // the last row repeats the first
        if (i + 1 == rows && j == 0 && rows > 2) {
          const int begin = p->start[p->row_at[k]], count = p->start[p->row_at[k] + 1] - begin;
          for (int e = 0; e < count; ++e, ++entries) {
            p->col[entries] = p->col[begin + e], p->jac[entries] = p->jac[begin + e];
          }
          break;
        }
        if (kit_uniform(r, 0, 1) < 0.5 || j == i % nz) {
          p->col[entries] = k * nz + j, p->jac[entries] = kit_normal(r);
          entries++;
        }
      }
      p->c[row] = kit_uniform(r, -1, 1);
      p->below[row] = penalty;
      p->above[row] = i % 2 ? penalty : 0;
    }
    double* H = p->hess + k * nz * nz;
    memset(H, 0, (size_t)(nz * nz) * sizeof(double));
    for (int a = 0; a < 2; ++a) {
      double v[NZ];
      for (int j = 0; j < nz; ++j) {
        v[j] = kit_normal(r);
        H[j * nz + j] += curvature;
        p->grad[k * nz + j] = kit_normal(r);
      }
      for (int j = 0; j < nz * nz; ++j) {
        H[j] += v[j / nz] * v[j % nz];
      }
    }
  }
  p->start[row] = entries;
  p->shape = (TriboStageShape){stages, p->z_at, p->ns, p->row_at, p->start, p->col};
  p->data = (TriboStageData){p->hess, p->grad, p->jac, p->c, p->above, p->below, 0.7};
}

static double row_value(const Problem* p, int i, const double* x) {
  double sum = p->c[i];
  for (int e = p->start[i]; e < p->start[i + 1]; ++e) {
    sum += p->jac[e] * x[p->col[e]];
  }
  return sum;
}

static double objective(const Problem* p, const double* x) {
  const int nz = p->z_at[1], stages = p->shape.nstage;
  double sum = 0;
  for (int k = 0; k < stages; ++k) {
    for (int i = 0; i < nz; ++i) {
      sum += p->grad[k * nz + i] * x[k * nz + i];
      for (int j = 0; j < nz; ++j) {
        sum += 0.5 * x[k * nz + i] * p->hess[(k * nz + i) * nz + j] * x[k * nz + j];
      }
    }
  }
  for (int i = 0; i < p->row_at[stages]; ++i) {
    const double v = row_value(p, i, x);
    sum += v > 0 ? p->above[i] * v : -p->below[i] * v;
  }
  return sum;
}

// What the objective exceeds its least value by, at most: by duality, with loops of its own.
static double excess(const Problem* p, const double* x, const double* y) {
  const int nz = p->z_at[1], stages = p->shape.nstage, n = stages * nz;
  double gap = 0, d[STAGES * NZ];
  for (int j = 0; j < n; ++j) {
    d[j] = p->grad[j];
    for (int i = 0; i < nz; ++i) {
      d[j] += p->hess[(j * nz) + i] * x[j / nz * nz + i];
    }
  }
  for (int i = 0; i < p->row_at[stages]; ++i) {
    const double v = row_value(p, i, x);
    CHECK_LE(y[i], p->above[i] * (1 + 1e-12));
    CHECK_LE(-y[i], p->below[i] * (1 + 1e-12));
    gap += (v > 0 ? p->above[i] * v : -p->below[i] * v) - y[i] * v;
    for (int e = p->start[i]; e < p->start[i + 1]; ++e) {
      d[p->col[e]] += p->jac[e] * y[i];
    }
  }
  for (int j = 0; j < n; ++j) {
    CHECK_LE(fabs(x[j]), p->data.radius);
    gap += p->data.radius * fabs(d[j]) + d[j] * x[j];
  }
  return gap;
}

// ---- all active sets of a small problem ----

enum { SMALL = 4, SMALL_ROWS = 4 };

// Solves A x = b by elimination with pivoting; 0 when it is singular.
static int solve(int n, double A[8][9]) {
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k; i < n; ++i) {
      best = fabs(A[i][k]) > fabs(A[best][k]) ? i : best;
    }
    if (fabs(A[best][k]) < 1e-9) {
      return 0;
    }
    for (int j = 0; j <= n; ++j) {
      const double t = A[k][j];
      A[k][j] = A[best][j], A[best][j] = t;
    }
    for (int i = 0; i < n; ++i) {
      const double f = i == k ? 0 : A[i][k] / A[k][k];
      for (int j = k; j <= n; ++j) {
        A[i][j] -= f * A[k][j];
      }
    }
  }
  for (int k = 0; k < n; ++k) {
    A[k][n] /= A[k][k];
  }
  return 1;
}

// The stationary point of one pattern: each unknown free or at a bound, each row negative, zero or positive. Only the
// value at the point counts afterwards, so that wrong patterns do no harm. 0 when there is none in the box.
static int candidate(const Problem* p, int pattern, double x[SMALL]) {
  const int nz = p->z_at[1];
  int place[SMALL], held[SMALL_ROWS], nfree = 0, nheld = 0;
  double A[8][9] = {{0}}, slope[SMALL] = {0};
  for (int j = 0; j < SMALL; ++j, pattern /= 3) {
    place[j] = pattern % 3 == 1 ? nfree++ : -1;
    x[j] = (pattern % 3 - 1) * p->data.radius;
  }
  for (int i = 0; i < SMALL_ROWS; ++i, pattern /= 3) {
    if (pattern % 3 == 1) {
      held[nheld++] = i;
    }
    for (int e = p->start[i]; e < p->start[i + 1] && pattern % 3 != 1; ++e) {
      slope[p->col[e]] += (pattern % 3 ? p->above[i] : -p->below[i]) * p->jac[e];
    }
  }
  const int n = nfree + nheld;
  for (int j = 0; j < SMALL; ++j) {
    if (place[j] >= 0) {
      A[place[j]][n] = -p->grad[j] - slope[j];
      for (int i = j / nz * nz; i < j / nz * nz + nz; ++i) {
        const double h = p->hess[j * nz + i % nz];
        *(place[i] >= 0 ? &A[place[j]][place[i]] : &A[place[j]][n]) += place[i] >= 0 ? h : -h * x[i];
      }
    }
  }
  for (int a = 0; a < nheld; ++a) {
    A[nfree + a][n] = -row_value(p, held[a], x);
    for (int e = p->start[held[a]]; e < p->start[held[a] + 1]; ++e) {
      if (place[p->col[e]] >= 0) {
        A[nfree + a][place[p->col[e]]] = A[place[p->col[e]]][nfree + a] = p->jac[e];
      }
    }
  }
  if (!solve(n, A)) {
    return 0;
  }
  for (int j = 0; j < SMALL; ++j) {
    x[j] = place[j] >= 0 ? A[place[j]][n] : x[j];
    if (fabs(x[j]) > p->data.radius) {
      return 0;
    }
  }
  return 1;
}

static void agrees_with_all_active_sets(void** state) {
  (void)state;
  static const double penalties[] = {0.3, 3, 100, 1e6};
  KitRandom r = {5};
  for (int run = 0; run < 12; ++run) {
    static Problem p;
    TriboStageQp* qp;
    double x[SMALL], y[SMALL_ROWS], best = INFINITY;
    make(&p, &r, 2, 2, 1, 2, penalties[run % 4], 0.3);
    CHECK_OK(tribo_sol_stage_qp_create(&p.shape, &qp));
    assert_true(tribo_sol_stage_qp_solve(qp, &p.data, 1e-11, 80, x, y).is_solved);
    for (int pattern = 0; pattern < 6561; ++pattern) {
      double at[SMALL];
      if (candidate(&p, pattern, at)) {
        best = fmin(best, objective(&p, at));
      }
    }
    CHECK_NEAR(objective(&p, x), best, 1e-9 * (1 + fabs(best)));
    tribo_sol_stage_qp_destroy(qp);
  }
}

// ---- large ones, by duality ----

static void proves_its_answers(void** state) {
  (void)state;
  static const double penalties[] = {1, 10, 1e3, 1e6};
  KitRandom r = {6};
  for (int run = 0; run < 24; ++run) {
    static Problem p;
    TriboStageQp* qp;
    double x[STAGES * NZ], y[STAGES * ROWS], again[STAGES * NZ];
    make(&p, &r, STAGES, NZ, NS, 3 + run % (ROWS - 2), penalties[run % 4], run % 3 ? 0 : 1e-3);
    CHECK_OK(tribo_sol_stage_qp_create(&p.shape, &qp));
    const TriboStageStats stats = tribo_sol_stage_qp_solve(qp, &p.data, 1e-9, 80, x, y);
    assert_true(stats.is_solved);
    CHECK_NEAR(stats.objective, objective(&p, x), 1e-12 * (1 + fabs(stats.objective)));
    CHECK_LE(excess(&p, x, y), 1.01e-9 * (1 + fabs(stats.objective)) + 1e-13 * penalties[run % 4]);
    // a problem in between leaves no trace
    p.data.radius = 0.1;
    (void)tribo_sol_stage_qp_solve(qp, &p.data, 1e-9, 80, again, y);
    p.data.radius = 0.7;
    (void)tribo_sol_stage_qp_solve(qp, &p.data, 1e-9, 80, again, y);
    assert_memory_equal(x, again, (size_t)p.z_at[STAGES] * sizeof(double));
    tribo_sol_stage_qp_destroy(qp);
  }
}

// A box that leaves no room for its rows: the answer is the corner that pays least, and the gap says that it is one.
static void solves_contradictions(void** state) {
  (void)state;
  static Problem p;
  KitRandom r = {7};
  TriboStageQp* qp;
  double x[4], y[4];
  make(&p, &r, 2, 2, 1, 2, 1e6, 0.1);
  for (int i = 0; i < 4; ++i) {
    p.c[i] = -100;
  }
  CHECK_OK(tribo_sol_stage_qp_create(&p.shape, &qp));
  assert_true(tribo_sol_stage_qp_solve(qp, &p.data, 1e-9, 80, x, y).is_solved);
  CHECK_LE(excess(&p, x, y), 1e-9 * (1 + fabs(objective(&p, x))));
  tribo_sol_stage_qp_destroy(qp);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_all_active_sets),
      cmocka_unit_test(proves_its_answers),
      cmocka_unit_test(solves_contradictions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
