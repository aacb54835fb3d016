// Task control: the QPCC of a step, and the efforts that come out of it.
//
// The step's own rows are the contact law: with J its constraints, v_f the free velocity without the efforts of tasks,
// S the driven joints and M⁻¹ the masses that the step uses,
//
//     v⁺ = v_f + M⁻¹(Sᵀ λ_a + Jᵀ λ_c),   σ = J v⁺ + γ = C λ_a + D λ_c + g,   C = J M⁻¹ Sᵀ, D = J M⁻¹ Jᵀ + R
//     A = √w J_t M⁻¹ Sᵀ,  B = √w J_t M⁻¹ Jᵀ,  b = √w (J_t v_f − wanted),  λ_a = h τ within h · effort
//
// so that the plan is what the step will find, as far as that has one answer. All constraints take part that move with
// the robot, through whatever it touches. Contacts are to be decided; closures and implicit drives are held rows,
// limits contacts without friction. Dry friction of joints is not known to the plan.
#include "task.h"

#include <math.h>
#include <string.h>

#include "math3.h"
#include "memory.h"
#include "small_dense.h"

// Contacts that near may be said to touch where they are told to stick [m/s of the gap within the step].
static const double TOUCHES = 0.5;
static const double SLOW = 1e-4;  // [m/s]
enum { FIRST_ROOM = 16, MOST_DIGITS = 9 };

// ---- memory

static int residuals_of(const ModelController* c) {
  int n = c->njoint;
  for (int i = 0; i < c->ntask; ++i) {
    n += tribo_task_row_count(c, &c->tasks[i]);
  }
  return n;
}

static int most_residuals(const TriboModel* model) {
  int most = 0;
  for (int i = 0; i < model->actuation.ncontroller; ++i) {
    const int n = residuals_of(&model->actuation.controllers[i]);
    most = n > most ? n : most;
  }
  return most;
}

// Memory for so many constraints.
static TriboStatus make_room(const TriboModel* model, TaskWork* w, int room) {
  const size_t nv = (size_t)model->nv, rows = 3 * (size_t)room, nres = (size_t)most_residuals(model);
  TRIBO_TRY(TRIBO_RESERVE(&w->Jc, rows * nv));
  TRIBO_TRY(TRIBO_RESERVE(&w->MJc, rows * nv));
  TRIBO_TRY(TRIBO_RESERVE(&w->B, nres * rows));
  TRIBO_TRY(TRIBO_RESERVE(&w->C, rows * nv));
  TRIBO_TRY(TRIBO_RESERVE(&w->D, rows * rows));
  TRIBO_TRY(TRIBO_RESERVE(&w->g, rows));
  TRIBO_TRY(TRIBO_RESERVE(&w->mu, room));
  TRIBO_TRY(TRIBO_RESERVE(&w->slip, 2 * room));
  TRIBO_TRY(TRIBO_RESERVE(&w->dim, room));
  TRIBO_TRY(TRIBO_RESERVE(&w->cone, room));
  TRIBO_TRY(TRIBO_RESERVE(&w->group, room));
  TRIBO_TRY(TRIBO_RESERVE(&w->row_of, rows));
  TRIBO_TRY(TRIBO_RESERVE(&w->held, room));
  TRIBO_TRY(TRIBO_RESERVE(&w->mode, room));
  for (int i = 0; i < model->actuation.ncontroller; ++i) {
    const ModelController* c = &model->actuation.controllers[i];
    if (c->law == TRIBO_LAW_TASK) {
      tribo_qpcc_destroy(w->solver[i]);
      TRIBO_TRY(tribo_qpcc_create(c->njoint, room, residuals_of(c), &w->solver[i]));
    }
  }
  w->room = room;
  return TRIBO_OK;
}

TriboStatus tribo_task_create(const TriboModel* model, TriboDynData* dynamics, TaskWork* w) {
  if (model->actuation.ntask == 0) {
    return TRIBO_OK;
  }
  const size_t nv = (size_t)model->nv, nbody = (size_t)model->nbody, nres = (size_t)most_residuals(model);
  const size_t ntask = (size_t)model->actuation.ntask;
  TRIBO_TRY(TRIBO_RESERVE(&w->solver, model->actuation.ncontroller));
  TRIBO_TRY(TRIBO_RESERVE(&w->wrench, 6 * nbody));
  TRIBO_TRY(TRIBO_RESERVE(&w->row, nv));
  TRIBO_TRY(TRIBO_RESERVE(&w->Jt, nres * nv));
  TRIBO_TRY(TRIBO_RESERVE(&w->MJt, nres * nv));
  TRIBO_TRY(TRIBO_RESERVE(&w->A, nres * nv));
  TRIBO_TRY(TRIBO_RESERVE(&w->b, nres));
  TRIBO_TRY(TRIBO_RESERVE(&w->want, nres));
  TRIBO_TRY(TRIBO_RESERVE(&w->lower, nv));
  TRIBO_TRY(TRIBO_RESERVE(&w->upper, nv));
  TRIBO_TRY(TRIBO_RESERVE(&w->in_reach, nbody + 1));
  TRIBO_TRY(TRIBO_RESERVE(&w->states, ntask));
  TRIBO_TRY(TRIBO_RESERVE(&w->origin, 12 * ntask));
  TRIBO_TRY(TRIBO_RESERVE(&w->poses, nbody));
  TRIBO_TRY(TRIBO_RESERVE(&w->twists, nbody));
  TRIBO_TRY(TRIBO_RESERVE(&w->v_plan, nv));
  TRIBO_TRY(TRIBO_RESERVE(&w->planned, nv));
  TRIBO_TRY(make_room(model, w, FIRST_ROOM));
  return tribo_task_origins(model, dynamics, w);
}

void tribo_task_free(const TriboModel* model, TaskWork* w) {
  const int count = w->solver != NULL ? model->actuation.ncontroller : 0;
  for (int i = 0; i < count; ++i) {
    tribo_qpcc_destroy(w->solver[i]);
  }
  void* const owned[] = {w->solver,   w->wrench, w->row,    w->Jt,    w->MJt,    w->Jc,     w->MJc,    w->A,
                         w->B,        w->b,      w->C,      w->D,     w->g,      w->lower,  w->upper,  w->mu,
                         w->slip,     w->group,  w->want,   w->dim,   w->cone,   w->row_of, w->held,   w->mode,
                         w->in_reach, w->states, w->origin, w->poses, w->twists, w->v_plan, w->planned};
  for (size_t i = 0; i < sizeof owned / sizeof owned[0]; ++i) {
    tribo_free(owned[i]);
  }
  *w = (TaskWork){0};
}

// ---- which constraints

static TriboTaskContacts contacts_of(const TaskWork* w, const ModelController* c) {
  return w->is_told ? (TriboTaskContacts)w->told : c->contacts;
}

// The robot's block, and all that constraints tie to it.
static void mark_reach(const TriboModel* model, const TaskInput* in, TaskWork* w, const ModelController* c) {
  const TriboProblem* p = in->problem;
  memset(w->in_reach, 0, (size_t)model->nbody + 1);
  for (int i = 0; i < c->njoint; ++i) {
    w->in_reach[model->mechanism.bodies[model->mechanism.joints[c->joint[i]].body].block] = 1;
  }
  for (int changed = 1; changed;) {
    changed = 0;
    for (int k = 0; k < p->ncone; ++k) {
      int any = 0, all = 1;
      for (int t = p->term_first[k]; t < p->term_first[k + 1]; ++t) {
        any = any || w->in_reach[p->term_block[t]];
        all = all && w->in_reach[p->term_block[t]];
      }
      if (any && !all) {
        for (int t = p->term_first[k]; t < p->term_first[k + 1]; ++t) {
          w->in_reach[p->term_block[t]] = 1;
        }
        changed = 1;
      }
    }
  }
}

static int touches(const TriboProblem* p, const TaskWork* w, int cone) {
  const int t = p->term_first[cone];
  return t < p->term_first[cone + 1] && w->in_reach[p->term_block[t]];
}

typedef struct Items {
  int n, rows;
} Items;

static void add_item(TaskWork* w, Items* items, int cone, int dim, int held, double mu) {
  w->dim[items->n] = dim;
  w->cone[items->n] = cone;
  w->held[items->n] = (unsigned char)held;
  w->mu[items->n++] = mu;
}

// The constraints of the robot as contacts of the QPCC. −1: there is no room.
static int choose_items(const TaskInput* in, TaskWork* w, const ModelController* c, Items* items) {
  const TriboProblem* p = in->problem;
  *items = (Items){0, 0};
  for (int k = 0; k < p->ncone; ++k) {
    const TriboCone* cone = &p->cones[k];
    const TriboRowKind kind = in->rows[k].kind;
    const int dry = kind == TRIBO_ROW_FRICTION,
              ignored = kind == TRIBO_ROW_CONTACT && contacts_of(w, c) == TRIBO_TASK_CONTACTS_NONE;
    if (dry || ignored || !touches(p, w, k)) {
      continue;
    }
    if (items->n + cone->dim > w->room) {
      return -1;
    }
    if (cone->kind == TRIBO_CONE_FRICTION) {
      // sliding friction alone: what torsion and rolling friction add is not planned with
      w->row_of[items->rows++] = cone->row;
      w->row_of[items->rows++] = cone->row + 1;
      w->row_of[items->rows++] = cone->row + cone->dim - 1;
      add_item(w, items, k, 3, 0, 0.5 * (cone->mu[0] + cone->mu[1]));
      continue;
    }
    for (int r = 0; r < cone->dim; ++r) {
      w->row_of[items->rows++] = cone->row + r;
      add_item(w, items, k, 1, cone->kind != TRIBO_CONE_NONNEG, 0);
    }
  }
  return items->n;
}

// ---- matrices

// M⁻¹ times a row, block by block.
static void divide_by_mass(const TriboModel* model, const TaskInput* in, const double* row, double* out) {
  const TriboProblem* p = in->problem;
  const TriboSystemInfo* info = tribo_dyn_system_info(model->mechanism.system);
  for (int b = 0; b < p->nblock; ++b) {
    const int n = p->block_dim[b], at = info->block_v[b];
    const double* minv = p->minv + p->block_at[b];
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int k = 0; k < n; ++k) {
        sum += minv[i * n + k] * row[at + k];
      }
      out[at + i] = sum;
    }
  }
}

static void constraint_row(const TriboModel* model, const TaskInput* in, TaskWork* w, int cone, int row_of, int at) {
  const TriboProblem* p = in->problem;
  const TriboSystemInfo* info = tribo_dyn_system_info(model->mechanism.system);
  double* row = w->Jc + (size_t)at * (size_t)model->nv;
  const int local = row_of - p->cones[cone].row;
  memset(row, 0, (size_t)model->nv * sizeof *row);
  for (int t = p->term_first[cone]; t < p->term_first[cone + 1]; ++t) {
    const int b = p->term_block[t], n = p->block_dim[b];
    memcpy(row + info->block_v[b], p->jac + p->term_at[t] + (size_t)local * (size_t)n, (size_t)n * sizeof *row);
  }
  divide_by_mass(model, in, row, w->MJc + (size_t)at * (size_t)model->nv);
  w->row_of[at] = row_of;
  w->g[at] = p->g[row_of];
}

// Can twice the efforts of the drives close the contact within the step?
static int is_within_reach(const TriboModel* model, const TaskInput* in, const TaskWork* w, const ModelController* c,
                           int normal) {
  const double* MJ = w->MJc + (size_t)normal * (size_t)model->nv;
  double reach = 0;
  for (int k = 0; k < c->njoint; ++k) {
    reach += fabs(MJ[model->mechanism.joints[c->joint[k]].v_at]) * in->h * c->effort[k];
  }
  return w->g[normal] <= 2 * reach;
}

// Rows of all items; contacts that no drive can close in this step are left out.
static void constraint_rows(const TriboModel* model, const TaskInput* in, TaskWork* w, const ModelController* c,
                            Items* items) {
  const TriboProblem* p = in->problem;
  const size_t nv = (size_t)model->nv;
  const Items found = *items;
  *items = (Items){0, 0};
  for (int i = 0, from = 0; i < found.n; from += w->dim[i++]) {
    const int dim = w->dim[i];
    for (int r = 0; r < dim; ++r) {
      constraint_row(model, in, w, w->cone[i], w->row_of[from + r], items->rows + r);
    }
    const int contact = in->rows[w->cone[i]].kind == TRIBO_ROW_CONTACT;
    if (!contact || is_within_reach(model, in, w, c, items->rows + dim - 1)) {
      items->rows += dim;
      add_item(w, items, w->cone[i], dim, w->held[i], w->mu[i]);
    }
  }
  for (int i = 0; i < items->rows; ++i) {
    for (int k = 0; k <= i; ++k) {
      double d = tribo_dot(w->Jc + (size_t)i * nv, w->MJc + (size_t)k * nv, model->nv);
      d += i == k ? p->R[w->row_of[i]] : 0;
      w->D[i * items->rows + k] = w->D[k * items->rows + i] = d;
    }
  }
}

// Rows of tasks, then of the drives' own impulses. Columns of A and C are the driven joints.
static TriboStatus task_matrices(const TriboModel* model, const TaskInput* in, TaskWork* w, const ModelController* c,
                                 const Items* items, int nres) {
  const size_t nv = (size_t)model->nv;
  memset(w->A, 0, (size_t)(nres * c->njoint) * sizeof *w->A);
  memset(w->B, 0, (size_t)(nres * items->rows) * sizeof *w->B);
  memset(w->b, 0, (size_t)nres * sizeof *w->b);
  int at = 0;
  for (int i = 0; i < c->ntask; ++i) {
    const ModelTask* task = &c->tasks[i];
    const double root = sqrt(task->weight);
    if (task->kind == TRIBO_TASK_FORCE) {
      for (int k = 0, r = 0; k < items->n; r += w->dim[k++]) {
        const TriboRowInfo* row = &in->rows[w->cone[k]];
        if (row->kind == TRIBO_ROW_CONTACT && tribo_task_side(task, &in->contacts[row->index]) != 0) {
          w->B[(r + w->dim[k] - 1) * nres + at] = root;
        }
      }
      w->b[at++] = -root * in->h * tribo_task_force(task, in->time);
      continue;
    }
    const int first = at;
    TRIBO_TRY(tribo_task_rows(model, in, w, c, task, &at));
    for (int r = first; r < at; ++r) {
      double *J = w->Jt + (size_t)r * nv, *MJ = w->MJt + (size_t)r * nv;
      divide_by_mass(model, in, J, MJ);
      for (int k = 0; k < c->njoint; ++k) {
        w->A[k * nres + r] = root * MJ[model->mechanism.joints[c->joint[k]].v_at];
      }
      for (int k = 0; k < items->rows; ++k) {
        w->B[k * nres + r] = root * tribo_dot(MJ, w->Jc + (size_t)k * nv, model->nv);
      }
      w->b[r] = root * (tribo_dot(J, in->v_free, model->nv) - w->want[r]);
    }
  }
  for (int k = 0; k < c->njoint; ++k) {
    const int v = model->mechanism.joints[c->joint[k]].v_at;
    w->A[k * nres + at + k] = c->torque_weight;
    for (int r = 0; r < items->rows; ++r) {
      w->C[k * items->rows + r] = w->MJc[(size_t)r * nv + (size_t)v];
    }
    w->lower[k] = -in->h * c->effort[k];
    w->upper[k] = in->h * c->effort[k];
  }
  return TRIBO_OK;
}

// Contacts of one pair of shapes are a group; all other items are by themselves.
static void group_items(const TaskInput* in, TaskWork* w, const Items* items) {
  for (int i = 0; i < items->n; ++i) {
    const TriboRowInfo* row = &in->rows[w->cone[i]];
    w->group[i] = i;
    for (int k = 0; k < i; ++k) {
      const TriboRowInfo* other = &in->rows[w->cone[k]];
      if (row->kind == TRIBO_ROW_CONTACT && other->kind == TRIBO_ROW_CONTACT) {
        const TriboContact *a = &in->contacts[row->index], *b = &in->contacts[other->index];
        w->group[i] = a->body_a == b->body_a && a->body_b == b->body_b ? w->group[k] : w->group[i];
      }
    }
  }
}

// ---- modes

// What the contacts did in the last step; told to stick, what touches sticks.
static void warm_modes(const TaskInput* in, TaskWork* w, const ModelController* c, const Items* items) {
  for (int i = 0, r = 0; i < items->n; r += w->dim[i++]) {
    const int normal = r + w->dim[i] - 1;
    const double* l = in->warm_lambda + w->row_of[r];
    const double push = in->warm_lambda[w->row_of[normal]];
    double slip[2] = {0, 0};
    w->mode[i] = TRIBO_QPCC_BREAK;
    if (contacts_of(w, c) == TRIBO_TASK_CONTACTS_STICK) {
      w->mode[i] = w->g[normal] < TOUCHES ? TRIBO_QPCC_STICK : TRIBO_QPCC_BREAK;
    } else if (in->warm_known[w->cone[i]] && push > 0) {
      const double across = w->dim[i] == 3 ? hypot(l[0], l[1]) : 0;
      const int slides = w->dim[i] == 3 && across >= (1 - 1e-6) * w->mu[i] * push && across > 0;
      w->mode[i] = slides ? TRIBO_QPCC_SLIDE : TRIBO_QPCC_STICK;
      slip[0] = slides ? -l[0] / across : 0;
      slip[1] = slides ? -l[1] / across : 0;
    }
    w->slip[2 * i] = slip[0];
    w->slip[2 * i + 1] = slip[1];
  }
}

// The modes of the first contacts in one number: 1 break, 2 slide, 3 stick, a digit each. An error that dies out moves
// a contact ever more slowly: below SLOW that counts as sticking.
static void tell_modes(const TaskInput* in, TaskWork* w, const Items* items, const TriboQpccSolution* x) {
  int digits = 0;
  for (int i = 0, at = 0; i < items->n; at += w->dim[i++]) {
    if (in->rows[w->cone[i]].kind == TRIBO_ROW_CONTACT && w->dim[i] == 3 && digits++ < MOST_DIGITS) {
      const int slides = x->mode[i] == TRIBO_QPCC_SLIDE && hypot(x->sigma[at], x->sigma[at + 1]) > SLOW;
      w->modes = 10 * w->modes + (x->mode[i] == TRIBO_QPCC_BREAK ? 1 : slides ? 2 : 3);
    }
  }
}

// ---- the law

// The QPCC of the matrices at hand.
static TriboStatus solve(const TriboModel* model, TaskWork* w, int controller, const Items* items, int nres,
                         TriboQpccSolution* x) {
  const ModelController* c = &model->actuation.controllers[controller];
  const TriboQpcc problem = {.na = c->njoint,
                             .ncon = items->n,
                             .nres = nres,
                             .A = w->A,
                             .B = w->B,
                             .b = w->b,
                             .C = w->C,
                             .D = w->D,
                             .g = w->g,
                             .lower = w->lower,
                             .upper = w->upper,
                             .mu = w->mu,
                             .dim = w->dim,
                             .held = w->held,
                             .group = w->group};
  TriboQpccSettings settings = tribo_qpcc_settings_default();
  settings.margin = c->mode_margin;
  settings.flips = c->flips;
  settings.nodes = c->programs;
  const TriboQpccWarm warm = {.mode = w->mode, .slip = w->slip};
  if (contacts_of(w, c) == TRIBO_TASK_CONTACTS_STICK) {
    settings.flips = 0;
    settings.starts = TRIBO_QPCC_START_LAST;
  }
  return tribo_qpcc_solve(w->solver[controller], &problem, &settings, &warm, x);
}

// Plan and efforts of one answer.
static void take(const TriboModel* model, const TaskInput* in, TaskWork* w, const ModelController* c,
                 const Items* items, const TriboQpccSolution* x, double* tau) {
  const TriboProblem* p = in->problem;
  const TriboSystemInfo* info = tribo_dyn_system_info(model->mechanism.system);
  double* kick = w->row;
  memset(kick, 0, (size_t)model->nv * sizeof *kick);
  for (int k = 0; k < c->njoint; ++k) {
    const int v = model->mechanism.joints[c->joint[k]].v_at;
    kick[v] = x->lambda_a[k];
    tau[v] += x->lambda_a[k] / in->h;
  }
  for (int b = 0; b < p->nblock; ++b) {
    const int at = info->block_v[b];
    memset(w->planned + at, w->in_reach[b], (size_t)p->block_dim[b]);
  }
  double* change = w->Jt;
  divide_by_mass(model, in, kick, change);
  for (int r = 0; r < items->rows; ++r) {
    tribo_add_scaled(model->nv, x->lambda_c[r], w->MJc + (size_t)r * (size_t)model->nv, change);
  }
  for (int k = 0; k < model->nv; ++k) {
    if (w->planned[k]) {
      w->v_plan[k] = in->v_free[k] + change[k];
    }
  }
}

// One controller: its constraints, its tasks, its QPCC.
static TriboStatus apply_one(const TriboModel* model, const TaskInput* in, TaskWork* w, int controller, double* tau) {
  const ModelController* c = &model->actuation.controllers[controller];
  Items items;
  TriboQpccSolution x;
  mark_reach(model, in, w, c);
  while (choose_items(in, w, c, &items) < 0) {
    TRIBO_TRY(make_room(model, w, 2 * w->room));
  }
  int nres = c->njoint;
  for (int i = 0; i < c->ntask; ++i) {
    int rows = tribo_task_row_count(c, &c->tasks[i]);
    if (c->tasks[i].kind != TRIBO_TASK_FORCE && c->tasks[i].kind != TRIBO_TASK_POSTURE) {
      rows = 0;
      const int first = c->tasks[i].kind == TRIBO_TASK_ORIENTATION ? 3 : 0;
      const int last = c->tasks[i].kind == TRIBO_TASK_POSITION || c->tasks[i].kind == TRIBO_TASK_COM ? 3 : 6;
      for (int k = first; k < last; ++k) {
        rows += c->tasks[i].axes >> k & 1;
      }
    }
    nres += rows;
  }
  constraint_rows(model, in, w, c, &items);
  TRIBO_TRY(task_matrices(model, in, w, c, &items, nres));
  group_items(in, w, &items);
  warm_modes(in, w, c, &items);
  TRIBO_TRY(solve(model, w, controller, &items, nres, &x));
  w->time += x.time;
  w->programs += x.qps;
  w->nat = fmax(w->nat, x.nat);
  w->outcome = (int)x.outcome > w->outcome ? (int)x.outcome : w->outcome;
  tell_modes(in, w, &items, &x);
  take(model, in, w, c, &items, &x, tau);
  return TRIBO_OK;
}

TriboStatus tribo_task_apply(const TriboModel* model, const TaskInput* in, TaskWork* w, double* tau) {
  w->time = w->nat = 0;
  w->programs = w->modes = w->outcome = 0;
  memset(w->planned, 0, (size_t)model->nv);
  for (int i = 0; i < model->actuation.ncontroller; ++i) {
    if (model->actuation.controllers[i].law == TRIBO_LAW_TASK) {
      TRIBO_TRY(apply_one(model, in, w, i, tau));
    }
  }
  return TRIBO_OK;
}
