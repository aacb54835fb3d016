// The passes that shut closures, as a fixed point x = x + f(x) with a memory (Anderson 1965): loops.c has the
// equations. Of the closures x is g and f their opening over h. Rows of joints on what closures tie, where more than
// these act, have x = g too: they are asked about the mean velocity w by which the step moves their joint, which is
// known after a pass, and not about u = v_f + M⁻¹Jᵀλ, so f = γ + J v_f + J (w − u) − x.
#include "dyn_data.h"
#include "mixing.h"
#include "small_dense.h"

// A mixed step is at most this many times the plain one.
static const double STEP_MAX = 5;

// Whether a cone is a joint's, on what closures tie.
static int is_of_tied_joint(const TriboSystem* system, const Rows* rows, int c) {
  const TriboRowKind kind = rows->infos[c].kind;
  return (kind == TRIBO_ROW_LIMIT || kind == TRIBO_ROW_FRICTION || kind == TRIBO_ROW_MOTOR) &&
         system->cluster[rows->term_block[rows->term_first[c]]] >= 0;
}

TriboStatus tribo_dyn_passes_begin(const TriboSystem* system, TriboDynData* data) {
  Rows* rows = &data->rows;
  AndersonMemory* m = &data->anderson;
  m->count = m->njoint = 0;
  if (!data->is_inverse) {
    memset(data->flight.missed, 0, (size_t)system->info.nv * sizeof *data->flight.missed);
  }
  for (int c = 0; c < rows->ncone; ++c) {
    m->njoint += is_of_tied_joint(system, rows, c);
  }
  m->n = (int)system->closure_size.nrow + m->njoint;
  const size_t n = (size_t)m->n;
  TRIBO_TRY(TRIBO_RESERVE(&m->joint, m->njoint));
  TRIBO_TRY(TRIBO_RESERVE(&m->law, m->njoint));
  double** const vectors[] = {&m->now, &m->x, &m->f, &m->f_new, &m->d, &m->first_dx, &m->first_df};
  double** const changes[] = {&m->X, &m->F, &m->Q};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) {
    TRIBO_TRY(TRIBO_RESERVE(vectors[i], n));
  }
  for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
    TRIBO_TRY(TRIBO_RESERVE(changes[i], TRIBO_DYN_ANDERSON_DEPTH * n));
  }
  for (int c = 0, k = 0; k < m->njoint; ++c) {
    if (is_of_tied_joint(system, rows, c)) {
      // (a step that is read backwards knows w already)
      rows->g[rows->cones[c].row] += tribo_dyn_rows_speed(system, rows, c, 0, data->flight.missed);
      m->joint[k] = c;
      m->law[k++] = rows->g[rows->cones[c].row];
    }
  }
  return TRIBO_OK;
}

double tribo_dyn_passes_measure_joints(const TriboSystem* system, TriboDynData* data) {
  const Rows* rows = &data->rows;
  AndersonMemory* m = &data->anderson;
  double most = 0;
  for (int k = 0; k < m->njoint; ++k) {
    const int c = m->joint[k];
    const double missed = tribo_dyn_rows_speed(system, rows, c, 0, data->flight.missed);
    double* f = m->f_new + m->n - m->njoint + k;
    *f = m->law[k] + missed - rows->g[rows->cones[c].row];
    most = fmax(most, fabs(*f));
  }
  return most;
}

void tribo_dyn_passes_gather(const TriboSystem* system, const TriboDynData* data, double* x) {
  const Rows* rows = &data->rows;
  const AndersonMemory* m = &data->anderson;
  const int nclosed = (int)system->closure_size.nrow;
  memcpy(x, rows->g + rows->nrow - nclosed, (size_t)nclosed * sizeof *x);
  for (int k = 0; k < m->njoint; ++k) {
    x[nclosed + k] = rows->g[rows->cones[m->joint[k]].row];
  }
}

void tribo_dyn_passes_scatter(const TriboSystem* system, TriboDynData* data, const double* x) {
  Rows* rows = &data->rows;
  const AndersonMemory* m = &data->anderson;
  const int nclosed = (int)system->closure_size.nrow;
  memcpy(rows->g + rows->nrow - nclosed, x, (size_t)nclosed * sizeof *x);
  for (int k = 0; k < m->njoint; ++k) {
    rows->g[rows->cones[m->joint[k]].row] = x[nclosed + k];
  }
}

void tribo_dyn_passes_forget_joints(TriboDynData* data) {
  AndersonMemory* m = &data->anderson;
  for (int k = 0; k < m->njoint; ++k) {
    data->rows.g[data->rows.cones[m->joint[k]].row] = m->law[k];
  }
}

void tribo_dyn_passes_append(AndersonMemory* m) {
  const int n = m->n;
  if (m->count == TRIBO_DYN_ANDERSON_DEPTH) {
    // the oldest one goes
    const size_t rest = (size_t)((TRIBO_DYN_ANDERSON_DEPTH - 1) * n);
    memmove(m->X, m->X + n, rest * sizeof *m->X);
    memmove(m->F, m->F + n, rest * sizeof *m->F);
    m->count--;
  }
  double *dx = m->X + m->count * n, *df = m->F + m->count * n;
  for (int i = 0; i < n; ++i) {
    dx[i] = m->now[i] - m->x[i];
    df[i] = m->f_new[i] - m->f[i];
  }
  m->count++;
}

void tribo_dyn_passes_keep_first_change(AndersonMemory* m) {
  for (int i = 0; i < m->n; ++i) {
    m->first_dx[i] = m->now[i] - m->x[i];
    m->first_df[i] = m->f_new[i] - m->f[i];
  }
}

void tribo_dyn_passes_mix(AndersonMemory* m) {
  double *F[TRIBO_DYN_ANDERSON_DEPTH], *Q[TRIBO_DYN_ANDERSON_DEPTH], theta[TRIBO_DYN_ANDERSON_DEPTH], *d = m->d;
  const int n = m->n;
  memcpy(m->x, m->now, (size_t)n * sizeof *m->x);
  memcpy(m->f, m->f_new, (size_t)n * sizeof *m->f);
  memcpy(d, m->f, (size_t)n * sizeof *d);
  for (int j = 0; j < m->count; ++j) {
    F[j] = m->F + (m->count - 1 - j) * n;
    Q[j] = m->Q + j * n;
  }
  tribo_anderson_weights(n, m->count, F, m->f, Q, theta);
  // x + d, d = f − (X + F)θ
  for (int j = m->count - 1; j >= 0; --j) {
    tribo_add_scaled(n, -theta[j], m->X + (m->count - 1 - j) * n, d);
    tribo_add_scaled(n, -theta[j], F[j], d);
  }
  // a long leap may end where other closures would be shut
  const int leaps = !(tribo_dot(d, d, n) <= STEP_MAX * STEP_MAX * tribo_dot(m->f, m->f, n));
  tribo_add_scaled(n, 1, leaps ? m->f : d, m->now);
}
