// QPCCs of made-up robots: random masses and Jacobians, with what each family adds.
#include "qpcc_families.h"

#include <math.h>
#include <string.h>

#include "kit.h"

enum { MOST_V = QPCC_MOST_ROWS + 8 };

// A made-up robot: masses, Jacobians of contacts and tasks, and which velocities have an actuator.
typedef struct Body {
  int nv, na, nc, ne;
  double M[MOST_V * MOST_V], Jc[QPCC_MOST_ROWS * MOST_V], Je[4 * MOST_V], X[MOST_V * MOST_V];
  int driven[MOST_V];
} Body;

static Body body;

// X ← M⁻¹, by Gauss and Jordan
static void invert(Body* b) {
  const int n = b->nv;
  static double T[MOST_V * MOST_V];
  memcpy(T, b->M, sizeof T);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      b->X[i * n + j] = i == j;
    }
  }
  for (int k = 0; k < n; ++k) {
    const double pivot = T[k * n + k];
    for (int j = 0; j < n; ++j) {
      T[k * n + j] /= pivot;
      b->X[k * n + j] /= pivot;
    }
    for (int i = 0; i < n; ++i) {
      const double a = i != k ? T[i * n + k] : 0;
      for (int j = 0; j < n; ++j) {
        T[i * n + j] -= a * T[k * n + j];
        b->X[i * n + j] -= a * b->X[k * n + j];
      }
    }
  }
}

// Masses and Jacobians, and which velocities have an actuator.
static void make_body(KitRandom* r, int nv, int na, int nc, int ne) {
  static double Q[MOST_V * MOST_V];
  body.nv = nv;
  body.na = na;
  body.nc = nc;
  body.ne = ne;
  for (int i = 0; i < nv * nv; ++i) {
    Q[i] = kit_normal(r);
  }
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j < nv; ++j) {
      double sum = i == j ? 0.3 : 0;
      for (int k = 0; k < nv; ++k) {
        sum += Q[i * nv + k] * Q[j * nv + k] / nv;
      }
      body.M[i * nv + j] = sum;
    }
    body.driven[i] = i;
  }
  for (int i = nv - 1; i > 0; --i) {
    const int k = kit_int(r, i + 1), t = body.driven[i];
    body.driven[i] = body.driven[k];
    body.driven[k] = t;
  }
  for (int i = 0; i < nc * nv; ++i) {
    body.Jc[i] = kit_normal(r);
  }
  for (int i = 0; i < ne * nv; ++i) {
    body.Je[i] = kit_normal(r);
  }
  invert(&body);
}

// xᵀ M⁻¹ y
static double product(const double* x, const double* y) {
  double sum = 0;
  for (int i = 0; i < body.nv; ++i) {
    for (int j = 0; j < body.nv; ++j) {
      sum += x[i] * body.X[i * body.nv + j] * y[j];
    }
  }
  return sum;
}

// All that does not depend on the state.
static void fill_columns(int d, double box, double keep, QpccCase* c) {
  const int nv = body.nv, na = body.na, nc = body.nc, ne = body.ne, nres = ne + na;
  for (int j = 0; j < na; ++j) {
    double e[MOST_V] = {0};
    e[body.driven[j]] = 1;
    for (int i = 0; i < nres; ++i) {
      c->A[j * nres + i] = i < ne ? product(e, body.Je + i * nv) : i - ne == j ? keep : 0;
    }
    for (int i = 0; i < nc; ++i) {
      c->C[j * nc + i] = product(e, body.Jc + i * nv);
    }
    c->lower[j] = -box;
    c->upper[j] = box;
  }
  for (int j = 0; j < nc; ++j) {
    for (int i = 0; i < nres; ++i) {
      c->B[j * nres + i] = i < ne ? product(body.Je + i * nv, body.Jc + j * nv) : 0;
    }
    for (int i = 0; i < nc; ++i) {
      c->D[j * nc + i] = product(body.Jc + i * nv, body.Jc + j * nv);
    }
  }
  c->problem = (TriboQpcc){.na = na,
                           .ncon = nc / d,
                           .nres = nres,
                           .A = c->A,
                           .B = c->B,
                           .b = c->b,
                           .C = c->C,
                           .D = c->D,
                           .g = c->g,
                           .lower = c->lower,
                           .upper = c->upper,
                           .mu = c->mu,
                           .dim = c->dim};
}

// A free velocity, gaps, and what the tasks want.
static void fill_velocities(KitRandom* r, int d, QpccCase* c) {
  const int nv = body.nv, nc = body.nc, ne = body.ne;
  double vf[MOST_V];
  for (int i = 0; i < nv; ++i) {
    vf[i] = kit_normal(r);
  }
  for (int j = 0; j < nc; ++j) {
    double speed = 0;
    for (int k = 0; k < nv; ++k) {
      speed += body.Jc[j * nv + k] * vf[k];
    }
    // gaps: the normal rows may close by an exponential amount
    c->g[j] = speed + (j % d == d - 1 ? -0.3 * log(1 - kit_uniform(r, 0, 1)) : 0);
  }
  for (int i = 0; i < c->problem.nres; ++i) {
    double speed = 0;
    const double* row = body.Je + (i < ne ? i : 0) * nv;
    for (int k = 0; k < nv; ++k) {
      speed += row[k] * vf[k];
    }
    c->b[i] = i < ne ? speed - 2 * kit_normal(r) : 0;
  }
  for (int i = 0; i < nc / d; ++i) {
    c->mu[i] = d == 1 ? 0 : kit_uniform(r, 0.2, 1);
    c->dim[i] = d;
  }
}

// One more residual: a normal impulse of 1 at the first contact.
static void want_force(int d, QpccCase* c) {
  static double A[QPCC_MOST_RES * QPCC_MOST_A], B[QPCC_MOST_RES * QPCC_MOST_ROWS];
  const int na = c->problem.na, nc = d * c->problem.ncon, old = c->problem.nres, now = old + 1;
  for (int j = 0; j < na; ++j) {
    memcpy(A + j * now, c->A + j * old, (size_t)old * sizeof *A);
    A[j * now + old] = 0;
  }
  for (int j = 0; j < nc; ++j) {
    memcpy(B + j * now, c->B + j * old, (size_t)old * sizeof *B);
    B[j * now + old] = j == d - 1;
  }
  memcpy(c->A, A, sizeof A);
  memcpy(c->B, B, sizeof B);
  c->b[old] = -1;
  c->problem.nres = now;
}

// The second contact's normal is the first's turned round, and both are to close by more than there is.
static void oppose(int d, QpccCase* c) {
  const int na = c->problem.na, nc = d * c->problem.ncon, k = d - 1, o = k + d;
  for (int j = 0; j < na; ++j) {
    c->C[j * nc + o] = -c->C[j * nc + k];
  }
  for (int j = 0; j < nc; ++j) {
    c->D[j * nc + o] = -c->D[j * nc + k];
  }
  for (int j = 0; j < nc; ++j) {
    c->D[o * nc + j] = -c->D[k * nc + j];
  }
  c->g[o] = -c->g[k] - 2;
}

void qpcc_make(QpccFamily family, int d, int n, unsigned seed, QpccCase* out) {
  KitRandom r = {1000u * (unsigned)n + seed + 100000u * (unsigned)d};
  const int rows = n * d, singular = family == QPCC_SINGULAR;
  const int nv = singular ? (rows - 2 > 3 ? rows - 2 : 3) : rows + 4;
  const int na = singular ? (rows - 4 > 2 ? rows - 4 : 2) : nv - 3;
  make_body(&r, nv, na, rows, 3);
  fill_columns(d, family == QPCC_BOX ? 0.3 : 5, 0.02, out);
  fill_velocities(&r, d, out);
  if (family == QPCC_FORCE) {
    want_force(d, out);
  }
  if (family == QPCC_INFEASIBLE) {
    oppose(d, out);
  }
}

// g such that a random point of the contact law within the bounds is feasible.
void qpcc_make_feasible(unsigned seed, int d, int n, QpccCase* out) {
  KitRandom r = {seed};
  qpcc_make(QPCC_SINGULAR, d, n, seed, out);
  const int na = out->problem.na, nc = d * n;
  double la[QPCC_MOST_A], lc[QPCC_MOST_ROWS] = {0}, sigma[QPCC_MOST_ROWS] = {0};
  for (int j = 0; j < na; ++j) {
    la[j] = kit_uniform(&r, -5, 5);
  }
  for (int i = 0; i < n; ++i) {
    const int mode = kit_int(&r, d == 1 ? 2 : 3), at = i * d;
    const double angle = d == 2 ? 3.14159265358979 * kit_int(&r, 2) : kit_uniform(&r, 0, 6.28);
    const double push = kit_uniform(&r, 0, 2), speed = kit_uniform(&r, 0, 2), u[2] = {cos(angle), sin(angle)};
    (mode == 0 ? sigma : lc)[at + d - 1] = push;
    for (int k = 0; k + 1 < d; ++k) {
      sigma[at + k] = mode == 0 ? kit_normal(&r) : mode == 2 ? speed * u[k] : 0;
      lc[at + k] = mode == 0 ? 0 : -(mode == 2 ? 1 : kit_uniform(&r, 0, 0.7)) * out->mu[i] * push * u[k];
    }
  }
  for (int i = 0; i < nc; ++i) {
    out->g[i] = sigma[i];
    for (int j = 0; j < na; ++j) {
      out->g[i] -= out->C[j * nc + i] * la[j];
    }
    for (int j = 0; j < nc; ++j) {
      out->g[i] -= out->D[j * nc + i] * lc[j];
    }
  }
}
