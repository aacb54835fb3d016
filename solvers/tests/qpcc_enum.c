// All modes of a small QPCC by exhaustive descent, in coordinates and rows of its own: nothing of the solver's search,
// scaling or mode programs is used, only the core for least distances, which solvers/tests/test_least_distance.c judges
// by itself.
//
// Contacts are decided one after another. Undecided ones have σ_N ≥ 0 and λ in a polyhedral cone around K; those that
// slide in space a sector of directions, halved while its value lies below the one to be beaten, down to 5 mrad. Each
// time the direction in its middle is tried: only a point of the contact law counts as better.
#include <math.h>
#include <string.h>

#include "kit.h"
#include "least_distance.h"
#include "qpcc_families.h"

enum {
  MOST_Z = QPCC_MOST_A + QPCC_MOST_ROWS,
  LD = (MOST_Z + 3) & ~3,
  MOST_ROW = 2 * QPCC_MOST_A + 48 * QPCC_MOST_CON,
  CUTS = 24
};

typedef struct Enum {
  const TriboQpcc* p;
  TriboLeastDistance q;
  int n, na, nc, ld, at[QPCC_MOST_CON];
  double L[MOST_Z][MOST_Z], S[QPCC_MOST_ROWS][MOST_Z], y0[LD], constant;
  double made[MOST_ROW][LD];
  int state[QPCC_MOST_CON];  // 0 open, 1 closed and sticking, 2 sliding, 3 not decided
  double mid[QPCC_MOST_CON], half[QPCC_MOST_CON], below;
  double cut[QPCC_MOST_CON][CUTS];  // tangents where points have left cones, of all nodes
  int ncut[QPCC_MOST_CON];
  long left;
  int beaten, exact;
} Enum;

static Enum all;

// The Hessian with a small diagonal, the linear term, and the rows of σ.
static void factor(Enum* e) {
  const TriboQpcc* p = e->p;
  static double E[QPCC_MOST_RES][MOST_Z];
  double c[MOST_Z];
  for (int r = 0; r < p->nres; ++r) {
    for (int j = 0; j < e->n; ++j) {
      E[r][j] = j < e->na ? p->A[j * p->nres + r] : p->B[(j - e->na) * p->nres + r];
    }
  }
  e->constant = 0;
  for (int r = 0; r < p->nres; ++r) {
    e->constant += 0.5 * p->b[r] * p->b[r];
  }
  for (int i = 0; i < e->n; ++i) {
    c[i] = 0;
    for (int r = 0; r < p->nres; ++r) {
      c[i] += E[r][i] * p->b[r];
    }
    for (int j = 0; j <= i; ++j) {
      double sum = i == j ? 1e-9 : 0;
      for (int r = 0; r < p->nres; ++r) {
        sum += E[r][i] * E[r][j];
      }
      for (int k = 0; k < j; ++k) {
        sum -= e->L[i][k] * e->L[j][k];
      }
      e->L[i][j] = i == j ? sqrt(sum) : sum / e->L[j][j];
    }
  }
  for (int i = 0; i < e->n; ++i) {
    double x = -c[i];
    for (int k = 0; k < i; ++k) {
      x -= e->L[i][k] * e->y0[k];
    }
    e->y0[i] = x / e->L[i][i];
  }
  for (int r = 0; r < e->nc; ++r) {
    for (int j = 0; j < e->n; ++j) {
      e->S[r][j] = j < e->na ? p->C[j * e->nc + r] : p->D[(j - e->na) * e->nc + r];
    }
  }
}

// a row of coefficients on z, ≥ b or = b
static void add(Enum* e, const double* row, double b, int equal) {
  double* x = e->made[e->q.nrow];
  memset(x, 0, LD * sizeof *x);
  for (int i = 0; i < e->n; ++i) {
    double t = row[i];
    for (int k = 0; k < i; ++k) {
      t -= e->L[i][k] * x[k];
    }
    x[i] = t / e->L[i][i];
  }
  e->q.nequal += equal;
  tribo_sol_ldp_add(&e->q, x, b, 1e-9, 0);
}

// s·σ_i + l·λ_i
static void add_contact(Enum* e, int i, const double* s, const double* l, int equal) {
  double row[MOST_Z] = {0}, b = 0;
  for (int k = 0; k < e->p->dim[i]; ++k) {
    for (int j = 0; j < e->n; ++j) {
      row[j] += s[k] * e->S[e->at[i] + k][j];
    }
    row[e->na + e->at[i] + k] += l[k];
    b -= s[k] * e->p->g[e->at[i] + k];
  }
  add(e, row, b, equal);
}

static const double none[3] = {0, 0, 0};

static void component(Enum* e, int i, int sigma, int k, int equal) {
  double x[3] = {0, 0, 0};
  x[k] = 1;
  add_contact(e, i, sigma ? x : none, sigma ? none : x, equal);
}

static void add_equalities(Enum* e, int i) {
  const int d = e->p->dim[i], state = e->state[i];
  for (int k = 0; k < d; ++k) {
    if (state < 2 || (state == 2 && k == d - 1)) {
      component(e, i, state > 0, k, 1);
    }
  }
  if (state == 2 && d == 2) {
    const double l[3] = {cos(e->mid[i]) > 0 ? 1 : -1, e->p->mu[i], 0};
    add_contact(e, i, none, l, 1);
  }
  if (state == 2 && d == 3 && e->exact) {
    const double u[3] = {cos(e->mid[i]), sin(e->mid[i]), e->p->mu[i]}, w[3] = {-u[1], u[0], 0};
    add_contact(e, i, w, none, 1);
    add_contact(e, i, none, w, 1);
    add_contact(e, i, none, u, 1);
  }
}

static void add_polyhedral_cone(Enum* e, int i) {
  const int d = e->p->dim[i], count = d == 1 ? 0 : d == 2 ? 2 : 12;
  component(e, i, 0, d - 1, 0);
  for (int k = 0; k < count; ++k) {
    const double angle = 6.283185307179586 * k / count;
    const double l[3] = {-cos(angle), d == 2 ? e->p->mu[i] : -sin(angle), e->p->mu[i]};
    add_contact(e, i, none, l, 0);
  }
  for (int k = 0; k < e->ncut[i] && k < CUTS; ++k) {
    const double l[3] = {-cos(e->cut[i][k]), -sin(e->cut[i][k]), e->p->mu[i]};
    add_contact(e, i, none, l, 0);
  }
}

// One more tangent where λ of a sticking contact has left its cone. 0: none has.
static int add_cuts(Enum* e) {
  double z[MOST_Z];
  int any = 0;
  for (int i = e->n - 1; i >= 0; --i) {
    z[i] = e->q.y[i];
    for (int k = i + 1; k < e->n; ++k) {
      z[i] -= e->L[k][i] * z[k];
    }
    z[i] /= e->L[i][i];
  }
  for (int i = 0; i < e->p->ncon; ++i) {
    const double* l = z + e->na + e->at[i];
    if (e->state[i] == 1 && e->p->dim[i] == 3 && hypot(l[0], l[1]) > e->p->mu[i] * l[2] + 1e-7) {
      e->cut[i][e->ncut[i]++ % CUTS] = atan2(l[1], l[0]);
      any = 1;
    }
  }
  return any;
}

static void add_sector(Enum* e, int i) {
  const double m = e->mid[i], w = e->half[i], mu = e->p->mu[i];
  for (int side = -1; side <= 1; side += 2) {
    const double a = m + side * w, x[3] = {side * sin(a), -side * cos(a), 0}, y[3] = {-x[0], -x[1], 0};
    add_contact(e, i, x, none, 0);
    add_contact(e, i, none, y, 0);
  }
  const double wide[3] = {-cos(m), -sin(m), -mu * cos(w)};
  add_contact(e, i, none, wide, 0);
  for (int k = -2; k <= 2; ++k) {
    const double l[3] = {cos(m + 0.5 * k * w), sin(m + 0.5 * k * w), mu};
    add_contact(e, i, none, l, 0);
  }
  component(e, i, 0, 2, 0);
}

static void add_inequalities(Enum* e, int i) {
  const int d = e->p->dim[i], state = e->state[i];
  if (state == 0 || state == 3) {
    component(e, i, 1, d - 1, 0);
  }
  if (state == 1 || state == 3) {
    add_polyhedral_cone(e, i);
  }
  if (state == 2 && d == 3) {
    add_sector(e, i);
  }
  if (state == 2 && d == 2) {
    const double s[3] = {cos(e->mid[i]) > 0 ? 1 : -1, 0, 0};
    component(e, i, 0, 1, 0);
    add_contact(e, i, s, none, 0);
  }
}

// What no decision of the rest can be below, with the tangents so far; infinity: none is feasible.
static double relaxed_value(Enum* e) {
  tribo_sol_ldp_begin(&e->q, e->n);
  memcpy(e->q.y0, e->y0, (size_t)e->q.ld * sizeof *e->y0);
  for (int i = 0; i < e->p->ncon; ++i) {
    add_equalities(e, i);
  }
  for (int i = 0; i < e->p->ncon; ++i) {
    add_inequalities(e, i);
  }
  for (int j = 0; j < e->na; ++j) {
    double row[MOST_Z] = {0};
    row[j] = 1;
    add(e, row, e->p->lower[j], 0);
    row[j] = -1;
    add(e, row, -e->p->upper[j], 0);
  }
  if (!tribo_sol_ldp_solve(&e->q)) {
    return INFINITY;
  }
  // ½‖y − y0‖² − ½‖y0‖² = ½ zᵀHz + cᵀz
  double f = e->constant;
  for (int k = 0; k < e->n; ++k) {
    f += e->q.y[k] * (0.5 * e->q.y[k] - e->y0[k]);
  }
  return f;
}

// The same with cones.
static double value_of(Enum* e) {
  double f = relaxed_value(e);
  for (int round = 0; round < 60 && f < e->below && add_cuts(e); ++round) {
    f = relaxed_value(e);
  }
  return f;
}

static void descend(Enum* e, int next);

static void halve(Enum* e) {
  int widest = -1;
  for (int i = 0; i < e->p->ncon; ++i) {
    if (e->state[i] == 2 && e->p->dim[i] == 3 && (widest < 0 || e->half[i] > e->half[widest])) {
      widest = i;
    }
  }
  // the directions in the middle, as they are: slipping along them is a point of the contact law
  e->exact = 1;
  e->beaten = value_of(e) < e->below;
  e->exact = 0;
  if (e->beaten || widest < 0 || e->half[widest] < 5e-3) {
    return;
  }
  const double m = e->mid[widest], w = e->half[widest];
  for (int side = -1; side <= 1; side += 2) {
    e->mid[widest] = m + 0.5 * side * w;
    e->half[widest] = 0.5 * w;
    descend(e, e->p->ncon);
  }
  e->mid[widest] = m;
  e->half[widest] = w;
}

static void descend(Enum* e, int next) {
  if (e->beaten || --e->left < 0 || value_of(e) >= e->below) {
    return;
  }
  if (next == e->p->ncon) {
    halve(e);
    return;
  }
  const int sectors = e->p->dim[next] == 1 ? 0 : e->p->dim[next] == 2 ? 2 : 4;
  for (int state = 0; state < 2; ++state) {
    e->state[next] = state;
    descend(e, next + 1);
  }
  e->state[next] = 2;
  for (int k = 0; k < sectors; ++k) {
    e->mid[next] = 6.283185307179586 * k / sectors;
    e->half[next] = 3.14159265358979 / sectors;
    descend(e, next + 1);
  }
  e->state[next] = 3;
}

int qpcc_is_global(const TriboQpcc* p, double f, double gap, long most) {
  Enum* e = &all;
  if (e->q.most_n == 0 && tribo_sol_ldp_create(&e->q, MOST_Z, MOST_ROW) != TRIBO_OK) {
    return -1;
  }
  e->p = p;
  e->na = p->na;
  e->nc = 0;
  for (int i = 0; i < p->ncon; ++i) {
    e->at[i] = e->nc;
    e->nc += p->dim[i];
    e->state[i] = 3;
    e->ncut[i] = 0;
  }
  e->n = e->na + e->nc;
  e->below = f * (1 - gap) - 1e-9;
  e->left = most;
  e->beaten = 0;
  memset(e->y0, 0, sizeof e->y0);
  factor(e);
  descend(e, 0);
  return e->beaten ? 0 : e->left < 0 ? -1 : 1;
}
