// The quadratic program of fixed modes, row by row.
//
//     break   λ = 0                                       σ_N ≥ 0
//     stick   σ = 0                                       λ ∈ K: in space tangents μ λ_N − t·λ_T ≥ 0, more as needed
//     slide   σ_N = 0, w·σ_T = 0, w·λ_T = 0, μ λ_N + u·λ_T = 0     λ_N ≥ 0, u·σ_T ≥ 0      w = u turned by a quarter
//     held    σ = 0
//
// A slip direction that turns by δ is linearised: λ_T = n μ (−u − δ w), σ_T = s (u + δ w), so that the two rows across
// become one without δ, w·σ_T + s/(μ n) w·λ_T = 0.
#include <math.h>
#include <string.h>

#include "qpcc_impl.h"
#include "small_dense.h"

double tribo_sol_mode_slack(const TriboQpccSolver* s, int contact) {
  // a tenth of the tolerance, not below rounding
  return fmin(fmax(0.1 * s->settings.tol / s->xs[contact], 1e-12), 1e-10);
}

// ---- rows

void tribo_sol_mode_whitened(const TriboQpccSolver* s, const ModeRow* row, double* out) {
  const size_t ld = (size_t)s->ld;
  memset(out, 0, ld * sizeof *out);
  if (row->contact < 0) {
    tribo_add_scaled(s->ld, row->lambda[0], s->row_lambda + (size_t)row->actuator * ld, out);
    return;
  }
  const size_t at = (size_t)s->at[row->contact];
  for (size_t k = 0; k < (size_t)s->problem->dim[row->contact]; ++k) {
    if (row->sigma[k] != 0) {
      tribo_add_scaled(s->ld, row->sigma[k], s->row_sigma + (at + k) * ld, out);
    }
    if (row->lambda[k] != 0) {
      tribo_add_scaled(s->ld, row->lambda[k], s->row_lambda + ((size_t)s->na + at + k) * ld, out);
    }
  }
}

double tribo_sol_mode_value(const TriboQpccSolver* s, const ModeRow* row, const double* z, const double* sigma) {
  if (row->contact < 0) {
    return row->lambda[0] * z[row->actuator] + row->constant;
  }
  const int at = s->at[row->contact];
  double sum = 0;
  for (int k = 0; k < s->problem->dim[row->contact]; ++k) {
    sum += row->sigma[k] * sigma[at + k] + row->lambda[k] * z[s->na + at + k];
  }
  return sum;
}

ModeRow tribo_sol_mode_turned(const TriboQpccSolver* s, const ModeRow* row) {
  ModeRow t = *row;
  const int normal = s->problem->dim[row->contact] - 1;
  t.sigma[0] = -row->sigma[1];
  t.sigma[1] = row->sigma[0];
  t.lambda[0] = -row->lambda[1];
  t.lambda[1] = row->lambda[0];
  t.sigma[normal] = t.lambda[normal] = 0;
  return t;
}

// A row of the bank where it is one, else one made for this program.
static const double* row_of(TriboQpccSolver* s, const ModeRow* row) {
  const size_t ld = (size_t)s->ld;
  if (row->contact < 0) {
    return (row->lambda[0] > 0 ? s->row_lambda : s->row_upper) + (size_t)row->actuator * ld;
  }
  int count = 0, which = 0;
  for (int k = 0; k < 3; ++k) {
    count += (row->sigma[k] != 0) + (row->lambda[k] != 0);
    which = row->sigma[k] == 1 ? k : row->lambda[k] == 1 ? k + 3 : which;
  }
  const size_t at = (size_t)s->at[row->contact];
  if (count == 1 && which < 3 && row->sigma[which] == 1) {
    return s->row_sigma + (at + (size_t)which) * ld;
  }
  if (count == 1 && which >= 3) {
    return s->row_lambda + ((size_t)s->na + at + (size_t)which - 3) * ld;
  }
  double* made = s->pool + (size_t)s->npool++ * ld;
  tribo_sol_mode_whitened(s, row, made);
  return made;
}

void tribo_sol_mode_begin(TriboQpccSolver* s) {
  tribo_sol_ldp_begin(&s->ldp, s->n);
  memcpy(s->ldp.y0, s->y0, (size_t)s->ld * sizeof *s->y0);
  s->npool = 0;
}

void tribo_sol_mode_add(TriboQpccSolver* s, const ModeRow* row, int equal) {
  TriboLeastDistance* p = &s->ldp;
  double b = -row->constant, slack = 1e-12;
  int first = equal;
  if (row->contact >= 0) {
    b = 0;
    slack = tribo_sol_mode_slack(s, row->contact);
    for (int k = 0; k < s->problem->dim[row->contact]; ++k) {
      b -= row->sigma[k] * s->g[s->at[row->contact] + k];
    }
  } else {
    first = s->at_bound[2 * row->actuator + (row->lambda[0] < 0)];
  }
  s->rows[p->nrow] = *row;
  p->nequal += equal;
  tribo_sol_ldp_add(p, row_of(s, row), b, slack, first);
}

// ---- modes

static ModeRow of_contact(int contact) {
  return (ModeRow){.contact = contact, .actuator = -1};
}

static void add_component(TriboQpccSolver* s, int contact, int of_sigma, int k, int equal) {
  ModeRow row = of_contact(contact);
  (of_sigma ? row.sigma : row.lambda)[k] = 1;
  tribo_sol_mode_add(s, &row, equal);
}

// Rows of a contact that slides.
static void add_slip_equalities(TriboQpccSolver* s, int i, int mode, double angle, double ratio) {
  const int dim = s->problem->dim[i], normal = dim - 1;
  add_component(s, i, 1, normal, 1);
  if (s->problem->mu[i] == 0 || mode == MODE_PROBE) {
    for (int k = 0; k < normal; ++k) {
      add_component(s, i, 0, k, 1);
    }
    return;
  }
  const double c = cos(angle), sn = sin(angle);
  if (dim == 3 && ratio >= 0) {
    // both terms of the same size, whichever is small
    const double size = 1 / (1 + ratio);
    ModeRow both = of_contact(i);
    both.sigma[0] = -sn * size;
    both.sigma[1] = c * size;
    both.lambda[0] = -sn * size * ratio;
    both.lambda[1] = c * size * ratio;
    tribo_sol_mode_add(s, &both, 1);
  } else if (dim == 3) {
    ModeRow across = of_contact(i), side = of_contact(i);
    across.turns = side.turns = ANGLE_SLIP;
    across.sigma[0] = side.lambda[0] = -sn;
    across.sigma[1] = side.lambda[1] = c;
    tribo_sol_mode_add(s, &across, 1);
    tribo_sol_mode_add(s, &side, 1);
  }
  ModeRow slip = of_contact(i);
  slip.turns = dim == 3 && ratio < 0 ? ANGLE_SLIP : ANGLE_NONE;
  slip.lambda[0] = dim == 3 ? c : c > 0 ? 1 : -1;
  slip.lambda[1] = sn;
  slip.lambda[normal] = s->problem->mu[i];
  tribo_sol_mode_add(s, &slip, 1);
}

void tribo_sol_mode_equalities(TriboQpccSolver* s, int i, int mode, double angle, double ratio) {
  const int dim = s->problem->dim[i];
  if (mode == TRIBO_QPCC_SLIDE || mode == MODE_PROBE) {
    add_slip_equalities(s, i, mode, angle, ratio);
    return;
  }
  for (int k = 0; k < dim; ++k) {
    add_component(s, i, mode != TRIBO_QPCC_BREAK, k, 1);
  }
  if (mode == TRIBO_QPCC_STICK && s->problem->mu[i] == 0) {
    for (int k = 0; k + 1 < dim; ++k) {
      add_component(s, i, 0, k, 1);
    }
  }
}

static void add_cone(TriboQpccSolver* s, int i, double c, double sn) {
  ModeRow cone = of_contact(i);
  const int dim = s->problem->dim[i];
  cone.turns = dim == 3 ? ANGLE_CONE : ANGLE_NONE;
  cone.lambda[0] = -c;
  cone.lambda[1] = -sn;
  cone.lambda[dim - 1] = s->problem->mu[i];
  tribo_sol_mode_add(s, &cone, 0);
}

// What the mode asks of signs, and of the cone.
void tribo_sol_mode_inequalities(TriboQpccSolver* s, int i, int mode, double angle, const double* cut, int ncut) {
  const int dim = s->problem->dim[i], normal = dim - 1;
  const double mu = s->problem->mu[i];
  if (mode == TRIBO_QPCC_HELD) {
    return;
  }
  add_component(s, i, mode == TRIBO_QPCC_BREAK, normal, 0);
  if (mode == TRIBO_QPCC_STICK && dim == 2 && mu > 0) {
    add_cone(s, i, 1, 0);
    add_cone(s, i, -1, 0);
  }
  const int ntangent = mode == TRIBO_QPCC_STICK && dim == 3 && mu > 0 ? ncut : 0;
  for (int k = 0; k < ntangent; ++k) {
    add_cone(s, i, cos(cut[k]), sin(cut[k]));
  }
  if (mode == TRIBO_QPCC_SLIDE && dim > 1 && mu > 0) {
    ModeRow along = of_contact(i);
    const double c = cos(angle);
    along.turns = dim == 3 ? ANGLE_SLIP : ANGLE_NONE;
    along.sigma[0] = dim == 3 ? c : c > 0 ? 1 : -1;
    along.sigma[1] = dim == 3 ? sin(angle) : 0;
    tribo_sol_mode_add(s, &along, 0);
  }
}

void tribo_sol_mode_bounds(TriboQpccSolver* s) {
  for (int j = 0; j < s->na; ++j) {
    if (s->lo[j] > -INFINITY) {
      const ModeRow row = {.contact = -1, .actuator = j, .lambda = {1}, .constant = -s->lo[j]};
      tribo_sol_mode_add(s, &row, 0);
    }
    if (s->hi[j] < INFINITY) {
      const ModeRow row = {.contact = -1, .actuator = j, .lambda = {-1}, .constant = s->hi[j]};
      tribo_sol_mode_add(s, &row, 0);
    }
  }
}

void tribo_sol_mode_rows(TriboQpccSolver* s, const ModePoint* p) {
  tribo_sol_mode_begin(s);
  for (int i = 0; i < s->ncon; ++i) {
    tribo_sol_mode_equalities(s, i, p->mode[i], p->angle[i], p->turns ? p->ratio[i] : -1);
  }
  for (int i = 0; i < s->ncon; ++i) {
    tribo_sol_mode_inequalities(s, i, p->mode[i], p->angle[i], p->cut + (size_t)i * MOST_CUTS, p->ncut[i]);
  }
  tribo_sol_mode_bounds(s);
}

void tribo_sol_mode_unwhiten(const TriboQpccSolver* s, const double* y, double* z) {
  memcpy(z, y, (size_t)s->ld * sizeof *z);
  for (int k = s->n - 1; k >= 0; --k) {
    const double* column = s->L + (size_t)k * (size_t)s->ld;
    double sum = z[k];
    for (int i = k + 1; i < s->n; ++i) {
      sum -= column[i] * z[i];
    }
    z[k] = sum / column[k];
  }
}

int tribo_sol_mode_run(TriboQpccSolver* s, double* z) {
  TriboLeastDistance* p = &s->ldp;
  s->qps++;
  if (!tribo_sol_ldp_solve(p)) {
    return 0;
  }
  memset(s->at_bound, 0, 2 * (size_t)s->na);
  for (int j = 0; j < p->nactive; ++j) {
    const ModeRow* row = &s->rows[p->active[j]];
    if (row->contact < 0) {
      s->at_bound[2 * row->actuator + (row->lambda[0] < 0)] = 1;
    }
  }
  tribo_sol_mode_unwhiten(s, p->y, z);
  return 1;
}
