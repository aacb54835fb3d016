// Which modes: starts, each with its own program, then changes of one contact and of two while they help.
//
// Jumps to any mode are what finds the optimum: on random problems with the shape of robots the modes of the augmented
// Lagrangian alone are the global ones in 8 to 80 % of the cases, after single flips in 88 to 100 %. What multipliers
// can see (flips to a mode whose closure holds the present point) reaches 35 to 65 %.
#include <math.h>
#include <string.h>

#include "qpcc_impl.h"
#include "small_dense.h"

// Newton steps on slip directions while modes are compared, and for the answer.
enum { SCREEN = 3, FINAL = 20 };
static const double PI = 3.14159265358979323846, SAME_DIRECTION = 0.5;  // [rad] Newton's steps find their own minimum

int tribo_sol_qpcc_late(TriboQpccSolver* s) {
  if (s->settings.max_time > 0 && tribo_now() - s->started > s->settings.max_time) {
    s->out_of_time = 1;
  }
  return s->out_of_time;
}

// ---- comparing

// Sticking before sliding before breaking.
static int rank_of(const TriboQpccSolver* s, const ModePoint* p) {
  int sum = 0;
  for (int i = 0; i < s->ncon; ++i) {
    sum += p->mode[i];
  }
  return sum;
}

// The combination's place among all; −1: it has a slip direction in space, or there are too many contacts.
static int place_of(const TriboQpccSolver* s, const ModePoint* p) {
  int place = 0;
  if (s->ncon > SEEN) {
    return -1;
  }
  for (int i = 0; i < s->ncon; ++i) {
    const int slides = p->mode[i] == TRIBO_QPCC_SLIDE && s->problem->mu[i] > 0;
    if (slides && s->problem->dim[i] == 3) {
      return -1;
    }
    place = 4 * place + (slides && cos(p->angle[i]) < 0 ? 3 : p->mode[i] % 3);
  }
  return place;
}

int tribo_sol_qpcc_offer(TriboQpccSolver* s, int rounds) {
  ModePoint *trial = &s->point[1], *best = &s->point[0];
  const int place = place_of(s, trial);
  if (place >= 0) {
    const unsigned char bit = (unsigned char)(1 << (place & 7));
    if (s->seen[place >> 3] & bit) {
      return 0;
    }
    s->seen[place >> 3] |= bit;
  }
  tribo_sol_mode_solve(s, trial, rounds);
  if (trial->f == INFINITY) {
    return 0;
  }
  const double equal = s->settings.margin * fmin(trial->f, best->f) + s->f_floor;
  const int better = trial->f < best->f - equal || (trial->f < best->f + equal && rank_of(s, trial) < rank_of(s, best));
  if (better) {
    tribo_sol_mode_copy(s, trial, best);
  }
  return better;
}

// ---- starts

static int can_slide(const TriboQpccSolver* s, int contact) {
  return s->problem->dim[contact] > 1;
}

static void all(TriboQpccSolver* s, ModePoint* p, int mode) {
  for (int i = 0; i < s->ncon; ++i) {
    p->mode[i] = (unsigned char)(tribo_sol_qpcc_held(s->problem, i) ? TRIBO_QPCC_HELD : mode);
    p->angle[i] = 0;
    p->ncut[i] = 0;
  }
}

static void start_last(TriboQpccSolver* s, const TriboQpccWarm* warm, ModePoint* p) {
  all(s, p, TRIBO_QPCC_STICK);
  for (int i = 0; i < s->ncon; ++i) {
    const TriboQpccMode mode = warm->mode[i];
    const int known =
        mode == TRIBO_QPCC_STICK || mode == TRIBO_QPCC_BREAK || (mode == TRIBO_QPCC_SLIDE && can_slide(s, i));
    if (p->mode[i] != TRIBO_QPCC_HELD) {
      p->mode[i] = (unsigned char)(known ? mode : TRIBO_QPCC_BREAK);
    }
    if (warm->slip != NULL) {
      p->angle[i] = atan2(warm->slip[2 * i + 1], warm->slip[2 * i]);
    }
  }
}

// Contacts stick that the tasks would go through if no contact were there.
static int start_pressed(TriboQpccSolver* s, ModePoint* p) {
  all(s, p, TRIBO_QPCC_BREAK);
  tribo_sol_mode_begin(s);
  for (int i = 0; i < s->ncon; ++i) {
    tribo_sol_mode_equalities(s, i, p->mode[i], 0, -1);
  }
  tribo_sol_mode_bounds(s);
  if (!tribo_sol_mode_run(s, p->z)) {
    return 0;
  }
  tribo_sol_qpcc_sigma(s, p->z, s->sigma);
  for (int i = 0; i < s->ncon; ++i) {
    if (p->mode[i] == TRIBO_QPCC_BREAK && s->sigma[s->at[i] + s->problem->dim[i] - 1] < 0) {
      p->mode[i] = TRIBO_QPCC_STICK;
    }
  }
  return 1;
}

static void starts(TriboQpccSolver* s, const TriboQpccWarm* warm) {
  ModePoint* p = &s->point[1];
  const int bits = s->settings.starts;
  if ((bits & TRIBO_QPCC_START_LAST) && warm != NULL && warm->mode != NULL) {
    start_last(s, warm, p);
    tribo_sol_qpcc_offer(s, SCREEN);
  }
  const int warmed = s->point[0].f < INFINITY;
  if (bits & TRIBO_QPCC_START_STICK) {
    if (start_pressed(s, p)) {
      tribo_sol_qpcc_offer(s, SCREEN);
    }
    all(s, p, TRIBO_QPCC_STICK);
    tribo_sol_qpcc_offer(s, SCREEN);
  }
  if (bits & TRIBO_QPCC_START_BREAK) {
    all(s, p, TRIBO_QPCC_BREAK);
    tribo_sol_qpcc_offer(s, SCREEN);
  }
  if ((bits & TRIBO_QPCC_START_ALM) && !warmed && s->ncon > 0) {
    int solved;
    tribo_sol_alm(s, warm, p, &solved);
    tribo_sol_qpcc_offer(s, SCREEN);
  }
}

// ---- flips

// Where a contact would slide: as it moves, or against its friction where it does not.
static double direction_of(const TriboQpccSolver* s, const ModePoint* p, const double* sigma, int i) {
  const double *l = p->z + s->na + s->at[i], *v = sigma + s->at[i];
  return hypot(v[0], v[1]) > 1e-9 ? atan2(v[1], v[0]) : hypot(l[0], l[1]) > 1e-12 ? atan2(-l[1], -l[0]) : 0;
}

// Directions to try for a contact that is to slide; the modes of point[1] are those of the rest.
static int slip_directions(TriboQpccSolver* s, int i, double out[3]) {
  ModePoint* p = &s->point[1];
  if (s->problem->dim[i] == 2) {
    out[0] = 0;
    out[1] = PI;
    return 2;
  }
  int count = 0;
  tribo_sol_qpcc_sigma(s, s->point[0].z, s->sigma);
  const double along = direction_of(s, &s->point[0], s->sigma, i);
  const unsigned char mode = p->mode[i];
  p->mode[i] = MODE_PROBE;
  tribo_sol_mode_rows(s, p);
  if (tribo_sol_mode_run(s, p->z)) {
    tribo_sol_qpcc_sigma(s, p->z, s->sigma);
    const double* v = s->sigma + s->at[i];
    if (hypot(v[0], v[1]) > 1e-12) {
      out[count++] = atan2(v[1], v[0]);
    }
  }
  p->mode[i] = mode;
  out[count++] = along;
  out[count++] = along + PI;
  return count;
}

// Does the mode's closure hold the present point?
static int is_adjacent(const TriboQpccSolver* s, const ModePoint* p, int i, int mode) {
  const int dim = s->problem->dim[i], at = s->at[i], normal = dim - 1;
  const double *l = p->z + s->na + at, *v = s->sigma + at, small = 1e3 * tribo_sol_mode_slack(s, i);
  const double side = s->problem->mu[i] * l[normal] - tribo_norm(l, normal);
  switch (mode) {
    case TRIBO_QPCC_STICK: return tribo_max_abs(v, dim) <= small;
    case TRIBO_QPCC_BREAK: return tribo_max_abs(l, dim) <= small;
    default: return fabs(v[normal]) <= small && fabs(side) <= small;
  }
}

// Contacts in the order of what their rows hold back in the best point's program.
static void order_contacts(TriboQpccSolver* s) {
  const TriboLeastDistance* q = &s->ldp;
  memset(s->gain, 0, (size_t)s->ncon * sizeof *s->gain);
  tribo_sol_mode_rows(s, &s->point[0]);
  if (tribo_sol_mode_run(s, s->z)) {
    for (int j = 0; j < q->nactive; ++j) {
      const ModeRow* row = &s->rows[q->active[j]];
      if (row->contact >= 0) {
        const double* r = q->row[q->active[j]];
        s->gain[row->contact] += q->u[j] * q->u[j] * tribo_four_dot(r, r, s->ld);
      }
    }
  }
  for (int i = 0; i < s->ncon; ++i) {
    int at = i;
    for (; at > 0 && s->gain[s->order[at - 1]] < s->gain[i]; --at) {
      s->order[at] = s->order[at - 1];
    }
    s->order[at] = i;
  }
}

// All modes of contact i (and, where j ≥ 0, of j) but its present one. 1: one was better.
static int try_modes(TriboQpccSolver* s, int i, int j) {
  ModePoint *best = &s->point[0], *trial = &s->point[1];
  int improved = 0;
  for (int m = TRIBO_QPCC_STICK; m <= TRIBO_QPCC_BREAK; ++m) {
    if ((m == TRIBO_QPCC_SLIDE && !can_slide(s, i)) || (m == best->mode[i] && (j >= 0 || m != TRIBO_QPCC_SLIDE))) {
      continue;
    }
    tribo_sol_qpcc_sigma(s, best->z, s->sigma);
    if (s->settings.flips == 1 && !is_adjacent(s, best, i, m)) {
      continue;
    }
    double angle[3] = {0};
    int count = 1;
    tribo_sol_mode_copy(s, j < 0 ? best : &s->point[2], trial);
    if (m == TRIBO_QPCC_SLIDE && s->problem->mu[i] > 0) {
      count = slip_directions(s, i, angle);
    }
    for (int k = 0; k < count && !tribo_sol_qpcc_late(s); ++k) {
      const int slides_so = m == best->mode[i] && fabs(remainder(angle[k] - best->angle[i], 2 * PI)) < SAME_DIRECTION;
      if (slides_so) {
        continue;
      }
      tribo_sol_mode_copy(s, j < 0 ? best : &s->point[2], trial);
      trial->mode[i] = (unsigned char)m;
      trial->angle[i] = angle[k];
      trial->ncut[i] = 0;
      improved |= tribo_sol_qpcc_offer(s, SCREEN);
    }
  }
  return improved;
}

static int is_free(const TriboQpccSolver* s, int contact) {
  return !tribo_sol_qpcc_held(s->problem, contact);
}

// Single flips until none helps. 0: the time ended before.
static int flip_singles(TriboQpccSolver* s) {
  int improved = 1;
  while (improved) {
    improved = 0;
    order_contacts(s);
    for (int k = 0; k < s->ncon && !(improved && s->ncon > SEEN); ++k) {
      if (is_free(s, s->order[k])) {
        improved |= try_modes(s, s->order[k], -1);
      }
      if (tribo_sol_qpcc_late(s)) {
        return 0;
      }
    }
  }
  return 1;
}

// Is the contact the first of a group of several?
static int leads_group(const TriboQpccSolver* s, int i) {
  const int* group = s->problem->group;
  int more = 0;
  for (int k = 0; k < s->ncon; ++k) {
    if (group[k] == group[i] && is_free(s, k)) {
      if (k < i) {
        return 0;
      }
      more += k > i;
    }
  }
  return more > 0 && is_free(s, i);
}

// The best point with another mode for all contacts of a group.
static void set_group(TriboQpccSolver* s, int of, int mode) {
  ModePoint* p = &s->point[1];
  tribo_sol_mode_copy(s, &s->point[0], p);
  for (int k = 0; k < s->ncon; ++k) {
    if (s->problem->group[k] == s->problem->group[of] && is_free(s, k)) {
      p->mode[k] = (unsigned char)(mode == TRIBO_QPCC_SLIDE && !can_slide(s, k) ? TRIBO_QPCC_STICK : mode);
      p->ncut[k] = 0;
    }
  }
}

// A group that slides: each contact as it would without friction, and against the friction it has.
static int slide_group(TriboQpccSolver* s, int of) {
  const int* group = s->problem->group;
  int improved = 0;
  for (int way = 0; way < 2; ++way) {
    double* at = s->point[2].z;
    memcpy(at, s->point[0].z, (size_t)s->ld * sizeof *at);
    if (way == 0) {
      set_group(s, of, MODE_PROBE);
      tribo_sol_mode_rows(s, &s->point[1]);
      if (!tribo_sol_mode_run(s, at)) {
        continue;
      }
    }
    tribo_sol_qpcc_sigma(s, at, s->sigma);
    set_group(s, of, TRIBO_QPCC_SLIDE);
    for (int k = 0; k < s->ncon; ++k) {
      if (group[k] == group[of] && can_slide(s, k)) {
        const double *l = at + s->na + s->at[k], *v = s->sigma + s->at[k];
        const int space = s->problem->dim[k] == 3;
        s->point[1].angle[k] = way == 0 ? atan2(space ? v[1] : 0, v[0]) : atan2(space ? -l[1] : 0, -l[0]);
      }
    }
    improved |= tribo_sol_qpcc_offer(s, SCREEN);
  }
  return improved;
}

// All contacts of a pair of bodies together. 1: one was better.
static int flip_groups(TriboQpccSolver* s) {
  int improved = 0;
  if (s->problem->group == NULL) {
    return 0;
  }
  for (int i = 0; i < s->ncon && !tribo_sol_qpcc_late(s); ++i) {
    if (leads_group(s, i)) {
      improved |= slide_group(s, i);
      set_group(s, i, TRIBO_QPCC_STICK);
      improved |= tribo_sol_qpcc_offer(s, SCREEN);
      set_group(s, i, TRIBO_QPCC_BREAK);
      improved |= tribo_sol_qpcc_offer(s, SCREEN);
    }
  }
  return improved;
}

// Pairs: each mode of one contact, with all modes of each other one. 1: one was better.
static int flip_pairs(TriboQpccSolver* s) {
  for (int i = 0; i < s->ncon; ++i) {
    for (int m = TRIBO_QPCC_STICK; is_free(s, i) && m <= TRIBO_QPCC_BREAK; ++m) {
      double angle[3] = {0};
      int count = 1;
      if (m == s->point[0].mode[i] || (m == TRIBO_QPCC_SLIDE && !can_slide(s, i))) {
        continue;
      }
      tribo_sol_mode_copy(s, &s->point[0], &s->point[1]);
      if (m == TRIBO_QPCC_SLIDE && s->problem->mu[i] > 0) {
        count = slip_directions(s, i, angle);
      }
      for (int k = 0; k < count; ++k) {
        tribo_sol_mode_copy(s, &s->point[0], &s->point[2]);
        s->point[2].mode[i] = (unsigned char)m;
        s->point[2].angle[i] = angle[k];
        s->point[2].ncut[i] = 0;
        for (int j = 0; j < s->ncon; ++j) {
          if (j != i && is_free(s, j) && try_modes(s, j, i)) {
            return 1;
          }
          if (tribo_sol_qpcc_late(s)) {
            return 0;
          }
        }
      }
    }
  }
  return 0;
}

int tribo_sol_qpcc_search(TriboQpccSolver* s, const TriboQpccWarm* warm, int* complete) {
  ModePoint* best = &s->point[0];
  best->f = INFINITY;
  *complete = 0;
  if (s->ncon <= SEEN) {
    memset(s->seen, 0, ((size_t)1 << (2 * s->ncon)) / 8 + 1);
  }
  all(s, best, TRIBO_QPCC_BREAK);
  starts(s, warm);
  if (best->f == INFINITY) {
    *complete = tribo_sol_qpcc_prove(s, 1);
    if (best->f == INFINITY) {
      return 0;
    }
  }
  *complete = s->settings.flips >= 2 || s->ncon == 0;
  if (s->settings.flips > 0 && s->ncon > 0) {
    int again = 1;
    while (again && *complete >= 0 && !s->out_of_time) {
      flip_groups(s);
      *complete = flip_singles(s) && s->settings.flips >= 2;
      again = s->settings.flips >= 3 && s->ncon <= SEEN && flip_pairs(s);
    }
  }
  if (s->settings.flips == 4) {
    *complete = tribo_sol_qpcc_prove(s, 0);
  }
  tribo_sol_mode_solve(s, best, FINAL);
  return 1;
}
