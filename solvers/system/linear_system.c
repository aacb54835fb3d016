// The linear system of all methods (linear_system.h): the choice between the dense and the sparse form, the dense form
// and that of an explicit G; the form in the size of the motion is in motion_form.c.
#include "linear_system.h"

#include <math.h>
#include <string.h>

#include "memory.h"
#include "cone_block.h"
#include "small_dense.h"

enum { S = TRIBO_CONE_ROWS, MOST_DENSE = 3000 };

TriboStatus tribo_sol_system_create(TriboLinearSystem* sys) {
  TRIBO_TRY(tribo_la_factor_create(&sys->dense));
  return tribo_la_factor_create(&sys->sparse);
}

void tribo_sol_system_free(TriboLinearSystem* sys) {
  tribo_la_factor_destroy(sys->dense);
  tribo_la_factor_destroy(sys->sparse);
  void* all[] = {sys->local,   sys->offset, sys->key, sys->edge,     sys->pair_edge, sys->node_dim,
                 sys->scratch, sys->Z,      sys->y,   sys->blockval, sys->r,         sys->dy,
                 sys->x2,      sys->wx,     sys->v,   sys->moved};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    tribo_free(all[i]);
  }
}

static TriboStatus reserve(TriboLinearSystem* sys, const TriboScaled* sc) {
  size_t n = (size_t)sc->n, nc = (size_t)sc->ncone;
  TRIBO_TRY(TRIBO_RESERVE(&sys->local, nc));
  TRIBO_TRY(TRIBO_RESERVE(&sys->offset, nc + 1));
  TRIBO_TRY(TRIBO_RESERVE(&sys->Z, S * S * nc));
  // room for the padded unknowns of the sparse explicit form
  TRIBO_TRY(TRIBO_RESERVE(&sys->y, n));
  TRIBO_TRY(TRIBO_RESERVE(&sys->r, n));
  TRIBO_TRY(TRIBO_RESERVE(&sys->dy, n));
  TRIBO_TRY(TRIBO_RESERVE(&sys->x2, n));
  TRIBO_TRY(TRIBO_RESERVE(&sys->wx, n));
  TRIBO_TRY(TRIBO_RESERVE(&sys->moved, sc->wide ? (2 * S + 1) * (size_t)sc->nv : 0));
  // a velocity, or K J of one term
  return TRIBO_RESERVE(&sys->v, S * (size_t)sc->nv);
}

TriboStatus tribo_sol_system_begin(TriboLinearSystem* sys, TriboScaled* sc, TriboForm wanted) {
  sys->sc = sc;
  sys->wanted = wanted;
  sys->factorisations = 0;
  TRIBO_TRY(reserve(sys, sc));
  TRIBO_TRY(tribo_sol_system_graph(sys, sc));
  // the dense form is prepared for its largest size where it may be chosen at all; its memory is the square of that
  if (wanted != TRIBO_FORM_SPARSE) {
    const double dense = 2.0 / 3 * pow(sc->n, 3);
    const int cheap = dense < 64 * tribo_la_factor_flops(sys->sparse) && sc->n <= MOST_DENSE;
    if (wanted == TRIBO_FORM_DENSE || cheap || sc->n <= 60) {
      TRIBO_TRY(TRIBO_RESERVE(&sc->W, (size_t)sc->n * (size_t)sc->n));
      TRIBO_TRY(tribo_la_factor_analyse_dense(sys->dense, sc->n));
    } else {
      sys->wanted = TRIBO_FORM_SPARSE;
    }
  }
  return TRIBO_OK;
}

// ---- which form ----

// Jᵀ K J of every cone, or the blocks of an explicit G; a product of small blocks costs more per operation
static double assembly_flops(const TriboLinearSystem* sys) {
  const TriboScaled* sc = sys->sc;
  const TriboProblem* p = sc->problem;
  if (p->G_col != NULL) {
    return 100.0 * sys->nedge;
  }
  return 2 * sc->assembly;
}

static TriboForm choose_form(const TriboLinearSystem* sys, int unknowns) {
  if (sys->wanted != TRIBO_FORM_CHEAPEST) {
    return sys->wanted;
  }
  const double u = unknowns;
  // factorisation, and picking the reduced matrix out of W
  double dense = 2.0 / 3 * u * u * u + 4 * u * u;
  double sparse = tribo_la_factor_flops(sys->sparse) + assembly_flops(sys);
  // (products with W cost less beside it, and need no refinement: preferring it up to 1.5 times the operations makes
  // steps of four robots up to a tenth dearer)
  return dense <= 5 * sparse ? TRIBO_FORM_DENSE : TRIBO_FORM_SPARSE;
}

double tribo_sol_system_least(const TriboLinearSystem* sys, int unknowns) {
  return choose_form(sys, unknowns) == TRIBO_FORM_DENSE ? 1e-13 : 1e-11;
}

// to = Eᵀ from, for the cones from `first` on
static void reduce(const TriboLinearSystem* sys, int first, const double* from, double* to) {
  if (sys->all_identity) {
    const int row = sys->sc->cone[first].row;
    memcpy(to + row, from + row, sizeof(double) * (size_t)(sys->sc->n - row));
    return;
  }
  for (int c = first; c < sys->sc->ncone; ++c) {
    const TriboScaledCone* k = &sys->sc->cone[c];
    const TriboLocal* l = &sys->local[c];
    const double* b = from + k->row;
    double* out = to + sys->offset[c];
    if (l->identity && k->dim == 3) {
      out[0] = b[0], out[1] = b[1], out[2] = b[2];
    } else if (l->identity) {
      memcpy(out, b, sizeof(double) * (size_t)k->dim);
    } else {
      tribo_sol_small_transposed(l->E, k->dim, l->k, b, out);
    }
  }
}

// x = B y
static void expand(const TriboLinearSystem* sys, const double* y, double* x) {
  if (sys->all_identity) {
    memcpy(x, y, sizeof(double) * (size_t)sys->sc->n);
    return;
  }
  for (int c = 0; c < sys->sc->ncone; ++c) {
    const TriboScaledCone* k = &sys->sc->cone[c];
    const TriboLocal* l = &sys->local[c];
    const double* from = y + sys->offset[c];
    if (l->identity) {
      memcpy(x + k->row, from, sizeof(double) * (size_t)k->dim);
    } else {
      tribo_sol_small_times(l->B, k->dim, l->k, from, x + k->row);
    }
  }
}

// out (k_a × k_b, stride 6) = E_aᵀ A B_b for a block A at stride 6
static void reduce_block(const TriboLocal* a, int dim_a, const TriboLocal* b, int dim_b, const double* A, double* out) {
  double t[S * S];
  // the product with B, straight into its place where E is the identity
  double* AB = a->identity ? out : t;
  if (b->identity) {
    memcpy(AB, A, sizeof(double) * (size_t)(S * dim_a));
  } else {
    for (int i = 0; i < dim_a; ++i) {
      for (int j = 0; j < b->k; ++j) {
        double sum = 0;
        for (int m = 0; m < dim_b; ++m) {
          sum += A[S * i + m] * b->B[S * m + j];
        }
        AB[S * i + j] = sum;
      }
    }
  }
  if (a->identity) {
    return;
  }
  for (int i = 0; i < a->k; ++i) {
    for (int j = 0; j < b->k; ++j) {
      double sum = 0;
      for (int m = 0; m < dim_a; ++m) {
        sum += a->E[S * m + i] * t[S * m + j];
      }
      out[S * i + j] = sum;
    }
  }
}

// ---- dense form ----

// to = W B_c e_j for the rows from those of cone `first` on
static void column_of(const TriboLinearSystem* sys, int c, int j, int first, double* to) {
  const TriboScaled* sc = sys->sc;
  const TriboScaledCone* k = &sc->cone[c];
  const int from = sc->cone[first].row;
  int any = 0;
  for (int m = 0; m < k->dim; ++m) {
    const double f = sys->local[c].B[S * m + j], *w = sc->W + (size_t)(k->row + m) * (size_t)sc->n;
    if (f == 0) {
      continue;
    }
    if (any) {
      for (int i = from; i < sc->n; ++i) {
        to[i] += f * w[i];
      }
    } else {
      for (int i = from; i < sc->n; ++i) {
        to[i] = f * w[i];
      }
    }
    any = 1;
  }
  if (!any) {
    memset(to + from, 0, sizeof(double) * (size_t)(sc->n - from));
  }
}

// Picks the reduced matrix Eᵀ W B + C out of the dense W and factorises it; 0, or 1 when a pivot broke down.
static int factor_dense(TriboLinearSystem* sys, int unknowns, int symmetric) {
  const TriboScaled* sc = sys->sc;
  if (!sc->has_W) {
    tribo_sol_make_W(sys->sc);
  }
  if (tribo_la_factor_analyse_dense(sys->dense, unknowns) != TRIBO_OK) {
    return 1;
  }
  double* A = tribo_la_factor_values(sys->dense);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboLocal* l = &sys->local[c];
    const int first = symmetric ? c : 0;
    for (int j = 0; j < l->k; ++j) {
      // a column of W B, then of Eᵀ W B
      double* column = A + (size_t)(sys->offset[c] + j) * (size_t)unknowns;
      const double* w = sc->W + (size_t)(sc->cone[c].row + j) * (size_t)sc->n;
      if (!l->identity) {
        column_of(sys, c, j, first, sys->wx);
        w = sys->wx;
      }
      reduce(sys, first, w, column);
      for (int i = 0; i < l->k; ++i) {
        column[sys->offset[c] + i] += l->C[S * i + j];
      }
    }
  }
  return tribo_la_factor_run(sys->dense, symmetric);
}

// ---- sparse form ----

static void add_slot(double* value, TriboSlot slot, const double* block, int rows, int cols) {
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i) {
      value[slot.at + (size_t)i + (size_t)j * (size_t)slot.ld] += block[S * i + j];
    }
  }
}

static void add_slot_transposed(double* value, TriboSlot slot, const double* block, int rows, int cols) {
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i) {
      value[slot.at + (size_t)i + (size_t)j * (size_t)slot.ld] += block[S * j + i];
    }
  }
}

// explicit G: nodes are cones; a cone with fewer unknowns than rows is filled up with ones
static int factor_explicit(TriboLinearSystem* sys, int symmetric) {
  const TriboScaled* sc = sys->sc;
  double* value = tribo_la_factor_begin(sys->sparse);
  double t[S * S];
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboLocal* l = &sys->local[c];
    int dim = sc->cone[c].dim;
    TriboSlot slot = tribo_la_factor_diagonal(sys->sparse, c);
    reduce_block(l, dim, l, dim, sys->blockval + S * S * (size_t)c, t);
    add_slot(value, slot, t, l->k, l->k);
    add_slot(value, slot, l->C, l->k, l->k);
    for (int i = l->k; i < dim; ++i) {
      value[slot.at + (size_t)i + (size_t)i * (size_t)slot.ld] = 1;
    }
  }
  for (int e = 0; e < sys->nedge; ++e) {
    // the stored block has the rows of the later cone b
    int a = sys->edge[2 * e], b = sys->edge[2 * e + 1], ab_is_lower;
    const TriboLocal *la = &sys->local[a], *lb = &sys->local[b];
    if (la->k == 0 || lb->k == 0) {
      continue;
    }
    const double* block = sys->blockval + S * S * (size_t)(sc->ncone + e);
    TriboSlot ab, ba;
    tribo_la_factor_edge(sys->sparse, e, &ab, &ba, &ab_is_lower);
    reduce_block(lb, sc->cone[b].dim, la, sc->cone[a].dim, block, t);
    if (symmetric && ab_is_lower) {
      add_slot_transposed(value, ab, t, la->k, lb->k);
      continue;
    }
    add_slot(value, ba, t, lb->k, la->k);
    if (!symmetric) {
      double back[S * S];
      for (int i = 0; i < S; ++i) {
        for (int j = 0; j < S; ++j) {
          back[S * i + j] = block[S * j + i];
        }
      }
      reduce_block(la, sc->cone[a].dim, lb, sc->cone[b].dim, back, t);
      add_slot(value, ab, t, la->k, lb->k);
    }
  }
  return tribo_la_factor_run(sys->sparse, symmetric);
}

// ---- factorise and solve ----

// Floating-point operations of a factorisation, assembly included, and of a solve with it.
static double factor_effort(const TriboLinearSystem* sys, TriboForm form, int unknowns, int symmetric) {
  const double u = unknowns, half = symmetric ? 0.5 : 1;
  return form == TRIBO_FORM_DENSE ? half * (2.0 / 3 * u * u * u + 4 * u * sys->sc->n)
                                  : half * (tribo_la_factor_flops(sys->sparse) + assembly_flops(sys));
}

static double solve_effort(const TriboLinearSystem* sys, int unknowns) {
  return sys->form == TRIBO_FORM_DENSE ? 2.0 * unknowns * unknowns
                                       : 2.0 * (double)tribo_la_factor_entries(sys->sparse) + 2 * sys->sc->product;
}

double tribo_sol_system_effort(const TriboLinearSystem* sys) {
  const int n = sys->sc->n;
  return factor_effort(sys, choose_form(sys, n), n, 0) + 20 * sys->sc->product;
}

int tribo_sol_system_factor(TriboLinearSystem* sys) {
  const TriboScaled* sc = sys->sc;
  int symmetric = 1, unknowns = 0;
  sys->all_identity = 1;
  for (int c = 0; c < sc->ncone; ++c) {
    symmetric &= sys->local[c].symmetric;
    sys->all_identity &= sys->local[c].identity;
    sys->offset[c] = unknowns;
    unknowns += sys->local[c].k;
  }
  sys->offset[sc->ncone] = unknowns;
  sys->form = choose_form(sys, unknowns);
  if (unknowns == 0) {
    return 0;
  }
  sys->factorisations++;
  sys->generation++;
  // a symmetric matrix that rounding has made indefinite gets a second chance
  for (int sym = symmetric; sym >= 0; --sym) {
    *sc->effort += factor_effort(sys, sys->form, unknowns, sym);
    int failed = sys->form == TRIBO_FORM_DENSE ? factor_dense(sys, unknowns, sym)
                 : sc->problem->G_col          ? factor_explicit(sys, sym)
                                               : tribo_sol_motion_factor(sys, sym);
    if (!failed) {
      return 0;
    }
  }
  return 1;
}

int tribo_sol_system_factor_shifted(TriboLinearSystem* sys, double shift) {
  for (int c = 0; c < sys->sc->ncone; ++c) {
    TriboLocal* l = &sys->local[c];
    l->k = sys->sc->cone[c].dim;
    l->identity = l->symmetric = 1;
    memset(l->C, 0, sizeof l->C);
    for (int i = 0; i < l->k; ++i) {
      l->C[(S + 1) * i] = shift;
    }
  }
  return tribo_sol_system_factor(sys);
}

static void solve_explicit(TriboLinearSystem* sys, const double* r, double* y) {
  const TriboScaled* sc = sys->sc;
  double* padded = sys->wx;
  memset(padded, 0, sizeof(double) * (size_t)sc->n);
  for (int c = 0; c < sc->ncone; ++c) {
    memcpy(padded + sc->cone[c].row, r + sys->offset[c], sizeof(double) * (size_t)sys->local[c].k);
  }
  tribo_la_factor_solve(sys->sparse, padded);
  for (int c = 0; c < sc->ncone; ++c) {
    memcpy(y + sys->offset[c], padded + sc->cone[c].row, sizeof(double) * (size_t)sys->local[c].k);
  }
}

static void solve_once(TriboLinearSystem* sys, const double* r, double* y) {
  *sys->sc->effort += solve_effort(sys, sys->offset[sys->sc->ncone]);
  if (sys->form == TRIBO_FORM_DENSE) {
    memcpy(y, r, sizeof(double) * (size_t)sys->offset[sys->sc->ncone]);
    tribo_la_factor_solve(sys->dense, y);
  } else if (sys->sc->problem->G_col) {
    solve_explicit(sys, r, y);
  } else {
    tribo_sol_motion_solve(sys, r, y);
  }
}

// r = Eᵀ (b − W x) − C y; returns its norm
static double residual(TriboLinearSystem* sys, const double* b, const double* x, const double* y, double* r) {
  const TriboScaled* sc = sys->sc;
  double sum = 0;
  tribo_sol_apply(sc, x, sys->wx);
  for (int i = 0; i < sc->n; ++i) {
    sys->wx[i] = b[i] - sys->wx[i];
  }
  reduce(sys, 0, sys->wx, r);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboLocal* l = &sys->local[c];
    double t[S];
    tribo_sol_small_times(l->C, l->k, l->k, y + sys->offset[c], t);
    for (int i = 0; i < l->k; ++i) {
      double* at = &r[sys->offset[c] + i];
      *at -= t[i];
      sum += *at * *at;
    }
  }
  return sqrt(sum);
}

void tribo_sol_system_solve(TriboLinearSystem* sys, const double* b, double* x, int refine) {
  const TriboScaled* sc = sys->sc;
  int unknowns = sys->offset[sc->ncone];
  memset(x, 0, sizeof(double) * (size_t)sc->n);
  if (unknowns == 0) {
    return;
  }
  reduce(sys, 0, b, sys->r);
  solve_once(sys, sys->r, sys->y);
  expand(sys, sys->y, x);
  double last = refine > 0 ? residual(sys, b, x, sys->y, sys->r) : 0;
  // what rounding leaves of a product with W, whose diagonal is about 1
  double enough = refine > 0 ? 1e-15 * (tribo_norm(b, sc->n) + tribo_norm(x, sc->n)) : 0;
  for (int it = 0; it < refine && last > enough; ++it) {
    solve_once(sys, sys->r, sys->dy);
    for (int i = 0; i < unknowns; ++i) {
      sys->dy[i] += sys->y[i];
    }
    expand(sys, sys->dy, sys->x2);
    // the last step is taken on trust when no further one needs its residual
    double next = it + 1 < refine ? residual(sys, b, sys->x2, sys->dy, sys->r) : 0;
    if (!(next < last)) {
      return;
    }
    memcpy(sys->y, sys->dy, sizeof(double) * (size_t)unknowns);
    memcpy(x, sys->x2, sizeof(double) * (size_t)sc->n);
    last = next > 0.25 * last ? 0 : next;
  }
}
