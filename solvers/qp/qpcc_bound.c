// Branch and bound over modes: a proof that no others are better, or that none are feasible.
//
// A contact that is not decided has σ_N ≥ 0, λ in its cone and nothing between them: a convex program whose value no
// decision can go below. Decided contacts have the rows of their mode; one that slides in space has a sector of
// directions |θ − θ_m| ≤ w: σ_T and −λ_T lie in it and −λ_T·u_m ≥ μ λ_N cos w, which holds for every direction inside,
// and is halved until the bound meets the best point. Tangents stand for cones, so that all bounds are below the truth.
// σ_T and λ_T may use opposite sides of a sector, so that a bound errs by the order of w: sectors below NARROW are
// left, after a program with their direction, and what they leave open goes into the bound of the whole.
#include <math.h>
#include <string.h>

#include "qpcc_impl.h"

enum { UNDECIDED = MODE_PROBE + 1, SECTORS = 4, LEAF = 3 };
static const double PI = 3.14159265358979323846;
static const double NARROW = 5e-3, EQUAL = 1e-4;  // [rad], relative

static ModeRow row_at(int contact, double c, double sn, int of_sigma, double normal, int dim) {
  ModeRow row = {.contact = contact, .actuator = -1};
  double* to = of_sigma ? row.sigma : row.lambda;
  to[0] = c;
  to[1] = sn;
  to[dim - 1] = normal;
  return row;
}

static void add(TriboQpccSolver* s, ModeRow row, int equal) {
  tribo_sol_mode_add(s, &row, equal);
}

// Directions within the sector.
static void add_sector(TriboQpccSolver* s, int i) {
  const double mid = s->sector[2 * i], half = s->sector[2 * i + 1], mu = s->problem->mu[i];
  const double a = mid - half, b = mid + half;
  add(s, row_at(i, -sin(a), cos(a), 1, 0, 3), 0);
  add(s, row_at(i, sin(b), -cos(b), 1, 0, 3), 0);
  add(s, row_at(i, sin(a), -cos(a), 0, 0, 3), 0);
  add(s, row_at(i, -sin(b), cos(b), 0, 0, 3), 0);
  add(s, row_at(i, -cos(mid), -sin(mid), 0, -mu * cos(half), 3), 0);
  for (int k = -1; k <= 1; ++k) {
    const double angle = mid + k * half;
    add(s, row_at(i, cos(angle), sin(angle), 0, mu, 3), 0);
  }
  add(s, row_at(i, 0, 0, 0, 1, 3), 0);
}

static int has_sector(const TriboQpccSolver* s, int i) {
  return s->status[i] == TRIBO_QPCC_SLIDE && s->problem->dim[i] == 3 && s->problem->mu[i] > 0;
}

static void add_undecided(TriboQpccSolver* s, int i) {
  const int dim = s->problem->dim[i];
  tribo_sol_mode_inequalities(s, i, TRIBO_QPCC_STICK, 0, s->cuts, ROUND);
  add(s, row_at(i, 0, 0, 1, 1, dim), 0);
  if (dim > 1 && s->problem->mu[i] == 0) {
    for (int k = 0; k + 1 < dim; ++k) {
      for (int sign = -1; sign <= 1; sign += 2) {
        ModeRow row = {.contact = i, .actuator = -1};
        row.lambda[k] = sign;
        add(s, row, 0);
      }
    }
  }
}

// The node's bound; z its point. 0: no decision below it is feasible.
static int relax(TriboQpccSolver* s, double* z, double* f) {
  tribo_sol_mode_begin(s);
  for (int i = 0; i < s->ncon; ++i) {
    if (has_sector(s, i)) {
      add(s, row_at(i, 0, 0, 1, 1, 3), 1);
    } else if (s->status[i] != UNDECIDED) {
      tribo_sol_mode_equalities(s, i, s->status[i], s->sector[2 * i], -1);
    }
  }
  for (int i = 0; i < s->ncon; ++i) {
    if (s->status[i] == UNDECIDED) {
      add_undecided(s, i);
    } else if (has_sector(s, i)) {
      add_sector(s, i);
    } else {
      tribo_sol_mode_inequalities(s, i, s->status[i], s->sector[2 * i], s->cuts, ROUND);
    }
  }
  tribo_sol_mode_bounds(s);
  if (!tribo_sol_mode_run(s, z)) {
    const int row = s->ldp.blocked;
    s->worst = s->worst < 0 && row >= 0 ? s->rows[row].contact : s->worst;
    return 0;
  }
  *f = tribo_sol_qpcc_objective(s, z);
  return 1;
}

// The contact to decide: the one whose impulse and velocity are both large, −1 when all are decided.
static int choose(TriboQpccSolver* s, const double* z) {
  int which = -1;
  double most = -1;
  tribo_sol_qpcc_sigma(s, z, s->sigma);
  for (int i = 0; i < s->ncon; ++i) {
    if (s->status[i] == UNDECIDED) {
      double l = 0, v = 0;
      for (int k = s->at[i]; k < s->at[i] + s->problem->dim[i]; ++k) {
        l = fmax(l, fabs(z[s->na + k]));
        v = fmax(v, fabs(s->sigma[k]));
      }
      which = fmin(l, v) > most ? i : which;
      most = fmax(most, fmin(l, v));
    }
  }
  return which;
}

typedef struct Proof {
  int any;        // ends with the first feasible modes
  long most;      // programs that it may take
  int complete;   // no node was given up
  double lowest;  // bound of sectors that were left
} Proof;

static int ended(TriboQpccSolver* s, Proof* proof) {
  if (proof->any && s->point[0].f < INFINITY) {
    return 1;
  }
  if (s->qps >= proof->most || tribo_sol_qpcc_late(s)) {
    proof->complete = 0;
    return 1;
  }
  return 0;
}

static void explore(TriboQpccSolver* s, Proof* proof);

// The node's directions and modes as a point of its own.
static void offer_leaf(TriboQpccSolver* s) {
  ModePoint* trial = &s->point[1];
  int narrow = 0;
  for (int i = 0; i < s->ncon; ++i) {
    narrow = narrow || (has_sector(s, i) && s->sector[2 * i + 1] < PI / SECTORS / 4);
    trial->mode[i] = s->status[i];
    trial->angle[i] = s->sector[2 * i];
    trial->ncut[i] = 0;
  }
  tribo_sol_qpcc_offer(s, narrow ? 0 : LEAF);
}

// Halves the widest sector. The bound's error falls with the square of the width.
static void bisect(TriboQpccSolver* s, Proof* proof, double f) {
  int wide = -1;
  for (int i = 0; i < s->ncon; ++i) {
    if (has_sector(s, i) && (wide < 0 || s->sector[2 * i + 1] > s->sector[2 * wide + 1])) {
      wide = i;
    }
  }
  if (wide < 0 || s->sector[2 * wide + 1] < NARROW) {
    proof->lowest = fmin(proof->lowest, f);
    return;
  }
  const double mid = s->sector[2 * wide], half = s->sector[2 * wide + 1];
  for (int side = -1; side <= 1; side += 2) {
    s->sector[2 * wide] = mid + 0.5 * side * half;
    s->sector[2 * wide + 1] = 0.5 * half;
    explore(s, proof);
  }
  s->sector[2 * wide] = mid;
  s->sector[2 * wide + 1] = half;
}

static void decide(TriboQpccSolver* s, Proof* proof, int i) {
  const int dim = s->problem->dim[i], rubs = s->problem->mu[i] > 0;
  s->sector[2 * i] = 0;
  s->status[i] = TRIBO_QPCC_STICK;
  if (dim == 1 || rubs) {
    explore(s, proof);
  }
  s->status[i] = TRIBO_QPCC_BREAK;
  explore(s, proof);
  s->status[i] = TRIBO_QPCC_SLIDE;
  const int directions = dim == 1 ? 0 : !rubs ? 1 : dim == 2 ? 2 : SECTORS;
  for (int k = 0; k < directions; ++k) {
    s->sector[2 * i] = 2 * PI * k / directions;
    s->sector[2 * i + 1] = PI / SECTORS;
    explore(s, proof);
  }
  s->status[i] = UNDECIDED;
}

static void explore(TriboQpccSolver* s, Proof* proof) {
  if (ended(s, proof)) {
    return;
  }
  double f;
  if (!relax(s, s->z, &f) || f > s->point[0].f * (1 - EQUAL) - s->f_floor) {
    return;
  }
  const int next = choose(s, s->z);
  if (next >= 0) {
    decide(s, proof, next);
    return;
  }
  offer_leaf(s);
  if (f < s->point[0].f * (1 - EQUAL) - s->f_floor && !(proof->any && s->point[0].f < INFINITY)) {
    bisect(s, proof, f);
  }
}

int tribo_sol_qpcc_prove(TriboQpccSolver* s, int any) {
  Proof proof = {.any = any, .most = (long)s->qps + s->settings.nodes, .complete = 1, .lowest = INFINITY};
  for (int i = 0; i < s->ncon; ++i) {
    s->status[i] = tribo_sol_qpcc_held(s->problem, i) ? TRIBO_QPCC_HELD : UNDECIDED;
  }
  s->worst = -1;
  explore(s, &proof);
  if (!any && proof.complete) {
    s->bound = fmin(s->point[0].f * (1 - EQUAL) - s->f_floor, proof.lowest);
  }
  return proof.complete;
}
