// SubADMM, alternating directions over subsystems (Lee, Lee, Park, Yun, Lee 2025, Algorithm 2), on the row-scaled
// problem. Equation numbers are the paper's; its multiplier is −λ.
//
// Every cone i has a copy z_ij of the velocity of its rows for every part j of the motion that it acts on
// (system/subsystems.h). With a penalty β_i an iteration is
//
//     H_j w_j = Σ_i J_ijᵀ (β_i z_ij + λ_i)                         block by block                            (34)
//     y_ij = β_i (ω J_ij w_j + (1 − ω) z_ij) − λ_i                 cone by cone, ω the over-relaxation
//     λ_i = T(−(Σ_j y_ij + β_i g_i)/(|Z_i| + β_i R_i))             T: normal first, then its disc            (36), (38)
//     z_ij = (y_ij + λ_i)/β_i                                                                                (35)
//
// so λ lies in its cone at any time. In the units of √β_i, with f_i = √β_i, z̄ = f z, λ̄ = λ/f, ḡ = f g, and with the
// velocities v = L w of the factors H = LᵀL, K = f J L⁻¹, all that is left to do is
//
//     v_j = Σ_i K_ijᵀ s_ij,   ȳ_ij = ω K_ij v_j − (ω − 1)(s_ij − λ̄_i) − λ̄_i,   s_ij = ȳ_ij + 2 λ̄_i               (1)
//
// with s = z̄ + λ̄ the whole state beside λ̄: one product with K and one with Kᵀ, no division, no system.
//
// β_i is β/d_i with d_i the mean diagonal of the cone's block of W, 1 in scaled coordinates: a light and a heavy body
// are not tied by one number. With `scaling: none` β is the paper's, one for all: the geometric mean of the mass per
// contact on a subsystem. Every ten iterations the relative residuals ‖K v − z̄‖ and ‖z̄⁺ − z̄‖ are compared, and β moves
// where one is five times the other (43; the paper's mixes m/s and N·s).
//
// Blocks and cones are shared out among the workers of a team, in order; each writes its own numbers alone, and sums
// are made cone by cone, then in order by one: the same bits for any number of workers. Two barriers an iteration.
//
// The start of β, its rule, and `split: none` are in subadmm_whole.c.
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "math3.h"
#include "memory.h"
#include "methods.h"
#include "parallel.h"
#include "subadmm.h"

enum {
  S = TRIBO_CONE_ROWS,
  LEAST_WORK = 2500  // products of four numbers that a worker should have in an iteration: 2 µs
};

// What the workers share.
typedef struct Split {
  TriboSolver* s;
  TriboSubadmm* m;
  double beta;
  double flops;       // of an iteration
  int changes;        // of β
  int is_over;        // what worker 0 has decided
  int is_alone;       // it goes on without the others, which are held up
  int is_stiff;       // β has changed
  atomic_int failed;  // a pivot broke down
} Split;

void tribo_sol_subadmm_free(TriboSubadmm* m) {
  tribo_sol_subsystems_free(&m->cut);
  void* all[] = {m->cone, m->at, m->factor, m->lambda, m->g, m->weight, m->state, m->old, m->v, m->sums};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    tribo_free(all[i]);
  }
}

static TriboStatus reserve(TriboSubadmm* m, const TriboScaled* sc) {
  size_t at = 0;
  TRIBO_TRY(TRIBO_RESERVE(&m->at, sc->ncone));
  TRIBO_TRY(TRIBO_RESERVE(&m->cone, sc->ncone));
  for (int c = 0; c < sc->ncone; ++c) {
    m->cone[c] = sc->cone[m->cut.order[c]];
    m->at[c] = at;
    at += (size_t)tribo_four_up(m->cone[c].dim);
  }
  TRIBO_TRY(TRIBO_RESERVE(&m->factor, sc->ncone));
  TRIBO_TRY(TRIBO_RESERVE(&m->lambda, at));
  TRIBO_TRY(TRIBO_RESERVE(&m->g, at));
  TRIBO_TRY(TRIBO_RESERVE(&m->weight, at));
  TRIBO_TRY(TRIBO_RESERVE(&m->state, m->cut.numbers));
  TRIBO_TRY(TRIBO_RESERVE(&m->old, 2 * m->cut.numbers));
  TRIBO_TRY(TRIBO_RESERVE(&m->v, 4 * (size_t)m->cut.ncell));
  memset(m->lambda, 0, sizeof(double) * at);
  memset(m->g, 0, sizeof(double) * at);
  memset(m->weight, 0, sizeof(double) * at);
  memset(m->state, 0, sizeof(double) * m->cut.numbers);
  return TRIBO_RESERVE(&m->sums, TRIBO_ADMM_SUMS * (size_t)sc->ncone);
}

// ---- β

// Numbers of the cones first … last − 1 for the present β; λ̄ and s for it from those of `ratio` times its root.
static void set_factors(Split* a, int first, int last, double ratio) {
  const TriboScaled* sc = &a->s->scaled;
  TriboSubadmm* m = a->m;
  for (int c = first; c < last; ++c) {
    const TriboScaledCone* k = &m->cone[c];
    const int copies = m->cut.first_part[c + 1] - m->cut.first_part[c];
    const double f = sqrt(a->beta) * tribo_sol_unit_factor(a->s, k);
    double* lambda = m->lambda + m->at[c];
    m->factor[c] = f;
    for (int i = m->cut.first_part[c]; i < m->cut.first_part[c + 1]; ++i) {
      double* s = m->state + m->cut.part[i].at;
      for (int r = 0; r < k->dim; ++r) {
        s[r] = (s[r] - lambda[r]) / ratio + lambda[r] * ratio;
      }
    }
    for (int r = 0; r < k->dim; ++r) {
      lambda[r] *= ratio;
      m->g[m->at[c] + (size_t)r] = f * sc->q[k->row + r];
      m->weight[m->at[c] + (size_t)r] = 1 / ((copies > 0 ? copies : 1) + f * f * sc->R[k->row + r]);
    }
  }
}

// ---- an iteration

// Kᵀ s of a part with `dim` rows on `ncell` cells, which the callers below know, on top of v
static inline __attribute__((always_inline)) void add_part(int dim, int ncell, const double* K, const int* path,
                                                           const double* s, double* v) {
  for (int c = 0; c < ncell; ++c, K += 4 * dim) {
    TriboFour sum = TRIBO_FOUR_CONST(v + 4 * path[c]);
    for (int r = 0; r < dim; ++r) {
      sum += s[r] * TRIBO_FOUR_CONST(K + 4 * r);
    }
    TRIBO_FOUR(v + 4 * path[c]) = sum;
  }
}

// v of the blocks first … last − 1
TRIBO_LANES static void gather(TriboSubadmm* m, int first, int last) {
  const TriboSubsystems* cut = &m->cut;
  const TriboFour none = {0};
  for (int i = cut->first_cell[first]; i < cut->first_cell[last]; ++i) {
    TRIBO_FOUR(m->v + 4 * i) = none;
  }
  for (int i = cut->first_of_block[first]; i < cut->first_of_block[last]; ++i) {
    const TriboPart* part = &cut->part[cut->of_block[i]];
    const double *K = cut->K + part->K, *s = m->state + part->at;
    const int* path = cut->paths + part->path;
    if (part->dim == 3 && part->ncell == 2) {
      add_part(3, 2, K, path, s, m->v);
    } else if (part->dim == 3 && part->ncell == 3) {
      add_part(3, 3, K, path, s, m->v);
    } else if (part->dim == 3) {
      add_part(3, part->ncell, K, path, s, m->v);
    } else {
      add_part(part->dim, part->ncell, K, path, s, m->v);
    }
  }
}

// K v of a part with three rows
static inline __attribute__((always_inline)) void velocity_3(const double* K, const int* path, int ncell,
                                                             const double* v, TriboFour* u) {
  TriboFour x = {0}, y = {0}, z = {0};
  for (int c = 0; c < ncell; ++c, K += 12) {
    const TriboFour w = TRIBO_FOUR_CONST(v + 4 * path[c]);
    x += TRIBO_FOUR_CONST(K) * w;
    y += TRIBO_FOUR_CONST(K + 4) * w;
    z += TRIBO_FOUR_CONST(K + 8) * w;
  }
  const TriboFour none = {0};
  const TriboFour xy = __builtin_shufflevector(x, y, 0, 4, 2, 6) + __builtin_shufflevector(x, y, 1, 5, 3, 7);
  const TriboFour zz = __builtin_shufflevector(z, none, 0, 4, 2, 6) + __builtin_shufflevector(z, none, 1, 5, 3, 7);
  *u = __builtin_shufflevector(xy, zz, 0, 1, 4, 5) + __builtin_shufflevector(xy, zz, 2, 3, 6, 7);
}

// The strict law for three rows (38).
static inline __attribute__((always_inline)) void law_3(double mu, TriboFour* x) {
  const double n = (*x)[2] > 0 ? (*x)[2] : 0, most = mu * n, slip = (*x)[0] * (*x)[0] + (*x)[1] * (*x)[1];
  const double f = slip > most * most ? most / sqrt(slip) : 1;
  *x = (TriboFour){f * (*x)[0], f * (*x)[1], n, 0};
}

// What the residuals of ADMM are made of, from the velocities u of a cone's copies, their new state and old z̄.
static void add_sums(TriboSubadmm* m, int c, int dim) {
  const double* lambda = m->lambda + m->at[c];
  double* sum = m->sums + TRIBO_ADMM_SUMS * c;
  memset(sum, 0, sizeof(double) * TRIBO_ADMM_SUMS);
  for (int i = m->cut.first_part[c]; i < m->cut.first_part[c + 1]; ++i) {
    const size_t at = m->cut.part[i].at;
    const double *u = m->old + at, *before = m->old + m->cut.numbers + at;
    for (int r = 0; r < dim; ++r) {
      const double z = m->state[at + (size_t)r] - lambda[r];
      sum[0] += (u[r] - z) * (u[r] - z);
      sum[1] += u[r] * u[r];
      sum[2] += z * z;
      sum[3] += (z - before[r]) * (z - before[r]);
      sum[4] += lambda[r] * lambda[r];
    }
  }
}

// One contact of three rows; `keep`: remember what the residuals need.
static inline __attribute__((always_inline)) void update_3(TriboSubadmm* m, int c, double mu, double omega, int keep) {
  const TriboSubsystems* cut = &m->cut;
  const TriboFour lambda = TRIBO_FOUR_CONST(m->lambda + m->at[c]);
  TriboFour sum = TRIBO_FOUR_CONST(m->g + m->at[c]);
  for (int i = cut->first_part[c]; i < cut->first_part[c + 1]; ++i) {
    const TriboPart* part = &cut->part[i];
    const TriboFour s = TRIBO_FOUR_CONST(m->state + part->at);
    const double* K = cut->K + part->K;
    const int* path = cut->paths + part->path;
    TriboFour u;
    if (part->ncell == 2) {
      velocity_3(K, path, 2, m->v, &u);
    } else if (part->ncell == 3) {
      velocity_3(K, path, 3, m->v, &u);
    } else {
      velocity_3(K, path, part->ncell, m->v, &u);
    }
    const TriboFour y = omega * u - (omega - 1) * s + (omega - 2) * lambda;
    if (keep) {
      TRIBO_FOUR(m->old + part->at) = u;
      TRIBO_FOUR(m->old + cut->numbers + part->at) = s - lambda;
    }
    TRIBO_FOUR(m->state + part->at) = y;
    sum += y;
  }
  TriboFour next = -sum * TRIBO_FOUR_CONST(m->weight + m->at[c]);
  law_3(mu, &next);
  TRIBO_FOUR(m->lambda + m->at[c]) = next;
  for (int i = cut->first_part[c]; i < cut->first_part[c + 1]; ++i) {
    TRIBO_FOUR(m->state + cut->part[i].at) += 2 * next;
  }
}

// The strict law for any cone, in the units of λ̄.
static void law(const TriboScaled* sc, const TriboScaledCone* k, double unit, double* x) {
  const int m = k->dim - 1;
  if (!k->round) {
    for (int r = 0; r < k->dim; ++r) {
      x[r] = tribo_clamp(x[r], sc->lo[k->row + r] / unit, sc->hi[k->row + r] / unit);
    }
    return;
  }
  x[m] = x[m] > 0 ? x[m] : 0;
  const double slip = tribo_norm(x, m), most = k->mu * x[m];
  const double f = slip > most ? most / slip : 1;
  for (int r = 0; r < m; ++r) {
    x[r] *= f;
  }
}

// Any cone: rows one after the other.
static inline __attribute__((always_inline)) void update_any(TriboSubadmm* m, int c, double omega) {
  const TriboSubsystems* cut = &m->cut;
  const TriboScaledCone* k = &m->cone[c];
  double *lambda = m->lambda + m->at[c], x[S];
  memcpy(x, m->g + m->at[c], sizeof(double) * (size_t)k->dim);
  for (int i = cut->first_part[c]; i < cut->first_part[c + 1]; ++i) {
    const TriboPart* part = &cut->part[i];
    double *s = m->state + part->at, *u = m->old + part->at, *z = u + cut->numbers;
    for (int r = 0; r < k->dim; ++r) {
      TriboFour sum = {0};
      const double* K = cut->K + part->K + 4 * r;
      for (int j = 0; j < part->ncell; ++j, K += 4 * k->dim) {
        sum += TRIBO_FOUR_CONST(K) * TRIBO_FOUR_CONST(m->v + 4 * cut->paths[part->path + j]);
      }
      u[r] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
      z[r] = s[r] - lambda[r];
      s[r] = omega * u[r] - (omega - 1) * s[r] + (omega - 2) * lambda[r];
      x[r] += s[r];
    }
  }
  for (int r = 0; r < k->dim; ++r) {
    x[r] *= -m->weight[m->at[c] + (size_t)r];
  }
  law(cut->sc, k, m->factor[c], x);
  memcpy(lambda, x, sizeof(double) * (size_t)k->dim);
  for (int i = cut->first_part[c]; i < cut->first_part[c + 1]; ++i) {
    for (int r = 0; r < k->dim; ++r) {
      m->state[cut->part[i].at + (size_t)r] += 2 * lambda[r];
    }
  }
}

// One row with bounds, as of joint limits.
static inline __attribute__((always_inline)) void update_1(TriboSubadmm* m, int c, double omega) {
  const TriboSubsystems* cut = &m->cut;
  const int row = m->cone[c].row;
  double* lambda = m->lambda + m->at[c];
  double sum = m->g[m->at[c]];
  for (int i = cut->first_part[c]; i < cut->first_part[c + 1]; ++i) {
    const TriboPart* part = &cut->part[i];
    const double* K = cut->K + part->K;
    const int* path = cut->paths + part->path;
    double* s = m->state + part->at;
    TriboFour dot = {0};
    for (int j = 0; j < part->ncell; ++j) {
      dot += TRIBO_FOUR_CONST(K + 4 * j) * TRIBO_FOUR_CONST(m->v + 4 * path[j]);
    }
    const double u = (dot[0] + dot[1]) + (dot[2] + dot[3]);
    m->old[part->at] = u;
    m->old[cut->numbers + part->at] = *s - *lambda;
    *s = omega * u - (omega - 1) * *s + (omega - 2) * *lambda;
    sum += *s;
  }
  const double f = m->factor[c];
  *lambda = tribo_clamp(-sum * m->weight[m->at[c]] * f, cut->sc->lo[row], cut->sc->hi[row]) / f;
  for (int i = cut->first_part[c]; i < cut->first_part[c + 1]; ++i) {
    m->state[cut->part[i].at] += 2 * *lambda;
  }
}

// λ̄ and s of the cones first … last − 1; `keep`: and the sums for the residuals
TRIBO_LANES static void update(TriboSubadmm* m, int first, int last, double omega, int keep) {
  for (int c = first; c < last; ++c) {
    const TriboScaledCone* k = &m->cone[c];
    if (k->round && k->dim == 3 && !keep) {
      update_3(m, c, k->mu, omega, 0);
    } else if (k->round && k->dim == 3) {
      update_3(m, c, k->mu, omega, 1);
    } else if (k->dim == 1) {
      update_1(m, c, omega);
    } else {
      update_any(m, c, omega);
    }
  }
  for (int c = keep ? first : last; c < last; ++c) {
    add_sums(m, c, m->cone[c].dim);
  }
}

// ---- decisions, by worker 0 alone

static void record(Split* a) {
  TriboSolver* s = a->s;
  const TriboScaled* sc = &s->scaled;
  const size_t pool_mark = s->scratch.used;
  double *x = tribo_sol_take(s), *u = tribo_sol_take(s);
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &a->m->cone[c];
    for (int r = 0; r < k->dim; ++r) {
      x[k->row + r] = a->m->factor[c] * a->m->lambda[a->m->at[c] + (size_t)r];
    }
  }
  // what rounding of the units leaves outside
  tribo_sol_alart_curnier(sc, x, x);
  tribo_sol_velocity(s, x, u);
  tribo_sol_record(s, x, u);
  s->scratch.used = pool_mark;
}

static void decide(Split* a, int iteration, int is_due) {
  TriboSolver* s = a->s;
  const TriboSubadmmSettings* set = &s->settings.subadmm;
  a->is_stiff = 0;
  s->effort += a->flops * (iteration - s->iterations);
  s->iterations = iteration;
  if (is_due && set->adapt && a->changes < TRIBO_BETA_CHANGES && iteration < set->max_iterations) {
    double sum[TRIBO_ADMM_SUMS] = {0};
    for (int c = 0; c < s->scaled.ncone; ++c) {
      for (int i = 0; i < TRIBO_ADMM_SUMS; ++i) {
        sum[i] += a->m->sums[TRIBO_ADMM_SUMS * c + i];
      }
    }
    const double step = tribo_sol_step_of_beta(sum);
    a->is_stiff = step != 1;
    s->system.factorisations += a->is_stiff;
    a->beta *= step;
    a->changes += a->is_stiff;
  }
  if (iteration >= set->max_iterations || (set->check_every > 0 && iteration % set->check_every == 0)) {
    record(a);
  }
  a->is_over = tribo_sol_stop(s) || a->failed;
}

// ---- the workers

static void wait(TriboTeam* team, int worker) {
  if (team != NULL) {
    tribo_team_wait(team, worker);
  }
}

// first item of a worker, of items whose work before them is in `before`
static int first_item(const int* before, int count, int size, int worker) {
  const long work = (long)before[count] * worker / size;
  int lo = 0, hi = count;
  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;
    if (before[mid] < work) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return worker == size ? count : lo;
}

// What a worker does: blocks and cones from `first` to `end` − 1.
typedef struct Range {
  int block, end_block, cone, end_cone;
} Range;

static Range range_of(const TriboSubsystems* cut, int size, int worker) {
  const int block = first_item(cut->first_of_block, cut->nblock, size, worker);
  const int end = first_item(cut->first_of_block, cut->nblock, size, worker + 1);
  return (Range){block, end, cut->first_owned[block], cut->first_owned[end]};
}

static void factor(Split* a, const Range* own) {
  for (int b = own->block; b < own->end_block; ++b) {
    if (tribo_sol_subsystems_factor(&a->m->cut, b, a->m->factor) != 0) {
      a->failed = 1;
    }
  }
}

// All iterations of one worker. When worker 0 is held up the others leave, and it does the rest: team is NULL then.
static void iterate(TriboTeam* team, int worker, void* context) {
  Split* a = context;
  TriboSubadmm* m = a->m;
  const TriboSubadmmSettings* set = &a->s->settings.subadmm;
  Range own = range_of(&m->cut, tribo_team_size(team), worker);
  double beta = a->beta;
  int is_stiff = 1;
  for (int it = 1; !a->is_over; ++it) {
    if (is_stiff) {
      factor(a, &own);
    }
    gather(m, own.block, own.end_block);
    wait(team, worker);
    const int is_due = it % TRIBO_ADAPT_EVERY == 0, decides = is_due || it >= set->max_iterations || a->failed ||
                                                              (set->check_every > 0 && it % set->check_every == 0);
    update(m, own.cone, own.end_cone, set->over_relaxation, is_due);
    if (worker == 0 && team != NULL) {
      a->is_alone = tribo_team_is_held_up(team);
    }
    wait(team, worker);
    if (team != NULL && a->is_alone) {
      if (worker > 0) {
        return;
      }
      team = NULL;
      own = range_of(&m->cut, 1, 0);
    }
    is_stiff = 0;
    if (decides) {
      if (worker == 0) {
        decide(a, it, is_due);
      }
      wait(team, worker);
      is_stiff = a->is_stiff;
    }
    if (is_stiff) {
      set_factors(a, own.cone, own.end_cone, sqrt(beta / a->beta));
      beta = a->beta;
      wait(team, worker);
    }
  }
}

// ---- start

// s and λ̄ of the impulses before: z = J w, M w = Jᵀ λ.
static void start_warm(TriboSolver* s, TriboSubadmm* m) {
  const TriboScaled* sc = &s->scaled;
  const TriboProblem* p = sc->problem;
  const double* x = s->warm_x;
  double *momentum = sc->velocity, *w = sc->velocity + sc->nv;
  memset(sc->velocity, 0, 2 * sizeof(double) * (size_t)sc->nv);
  for (int c = 0; c < sc->ncone; ++c) {
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      const int b = p->term_block[t];
      tribo_sol_add_momentum(sc->cone[c].dim, p->block_dim[b], sc->jac + sc->term_at[t], x + sc->cone[c].row,
                             momentum + sc->var[b]);
    }
  }
  for (int b = 0; b < p->nblock; ++b) {
    const int n = p->block_dim[b];
    tribo_sol_add_velocity(n, n, p->minv + p->block_at[b], momentum + sc->var[b], w + sc->var[b]);
  }
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &m->cone[c];
    for (int r = 0; r < k->dim; ++r) {
      m->lambda[m->at[c] + (size_t)r] = x[k->row + r] / m->factor[c];
    }
    for (int i = m->cut.first_part[c]; i < m->cut.first_part[c + 1]; ++i) {
      const TriboPart* part = &m->cut.part[i];
      for (int r = 0; r < k->dim; ++r) {
        double z = 0;
        for (int j = part->tip; j >= 0; j = m->cut.parent[j]) {
          z += m->cut.J[part->J + 4 * (size_t)(k->dim * (m->cut.place[j] / 4) + r) + (size_t)(m->cut.place[j] % 4)] *
               w[j];
        }
        m->state[part->at + (size_t)r] = m->factor[c] * z + x[k->row + r] / m->factor[c];
      }
    }
  }
}

// Fours of numbers in K: each counts one product and one sum of fours in either stage.
static size_t fours(const TriboSubsystems* cut) {
  size_t sum = 0;
  for (int i = 0; i < cut->npart; ++i) {
    sum += (size_t)(cut->part[i].dim * cut->part[i].ncell);
  }
  return sum;
}

// How many workers an iteration is worth.
static int worth(const TriboSubadmm* m, int threads) {
  const size_t most = 2 * fours(&m->cut) / LEAST_WORK;
  return most < 1 ? 1 : most < (size_t)threads ? (int)most : threads;
}

static TriboStatus run_split(TriboSolver* s) {
  TriboSubadmm* m = &s->subadmm;
  const TriboSubadmmSettings* set = &s->settings.subadmm;
  Split a = {.s = s, .m = m, .beta = tribo_sol_first_beta(s)};
  TRIBO_TRY(tribo_sol_subsystems_cut(&m->cut, &s->scaled, (TriboSplit)set->split));
  TRIBO_TRY(reserve(m, &s->scaled));
  a.flops = 16.0 * (double)fours(&m->cut);
  set_factors(&a, 0, s->scaled.ncone, 1);
  if (tribo_sol_warm_is_better(s)) {
    start_warm(s, m);
  }
  if (!tribo_sol_stop(s)) {
    s->system.factorisations++;
    tribo_team_run(worth(m, set->threads), iterate, &a);
  }
  s->penalty = a.beta;
  return TRIBO_OK;
}

void tribo_sol_run_subadmm(TriboSolver* s) {
  tribo_sol_enter_stage(s, TRIBO_RUNG_SUBADMM);
  if (s->has_system) {
    tribo_sol_run_whole(s);
    return;
  }
  const TriboStatus status = run_split(s);
  s->scratch.status = s->scratch.status == TRIBO_OK ? status : s->scratch.status;
}

int tribo_sol_subadmm_needs_system(const TriboSolver* s, const TriboProblem* problem) {
  return s->settings.subadmm.split == TRIBO_SPLIT_NONE || problem->G_col != NULL;
}
