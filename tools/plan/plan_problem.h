// Six problems of planning through contact, each a C example of <tribo/plan.h>: sizes, rows with their derivatives,
// costs, a guess and the tasks they are judged by. `tribo plan NAME` solves one; docs/planning.md tells them apart.
//
// A problem writes the rows of a stage one after another, a value and then its derivatives. The same function thus
// gives the pattern (once), the values and the Jacobian, and they cannot disagree.
#pragma once

#include <tribo/plan.h>

typedef struct PlanProblem PlanProblem;

enum { PLAN_STATES = 8, PLAN_WIDEST = 32, PLAN_ROWS = 300, PLAN_ENTRIES = 16000, PLAN_TERM = 12, PLAN_JOINTS = 3 };

// A value with its derivatives by a few columns; columns ≥ nz are the next stage's states.
typedef struct PlanTerm {
  double value;
  int count, col[PLAN_TERM];
  double by[PLAN_TERM];
} PlanTerm;

// Rows of one sort, as they are written.
typedef struct PlanRowList {
  int count, entries, written;  // rows, entries of the pattern, entries written so far
  int start[PLAN_ROWS + 1], col[PLAN_ENTRIES];
  int slot[PLAN_ENTRIES];  // where the e-th written derivative goes
  const char* name[PLAN_ROWS];
  unsigned char kind[PLAN_ROWS];
} PlanRowList;

// Where a problem writes to: a pattern, values, or derivatives; what is not wanted is NULL.
typedef struct PlanRows {
  PlanRowList *eq, *in, *at;
  int is_pattern;
  double *eq_value, *in_value, *eq_by, *in_by;
} PlanRows;

void plan_eq(PlanRows* r, const char* name, double value);                      // value = 0
void plan_ge(PlanRows* r, const char* name, TriboPlanKind kind, double value);  // value ≥ 0
void plan_by(PlanRows* r, int col, double derivative);                          // of the row just begun
void plan_ge_term(PlanRows* r, const char* name, TriboPlanKind kind, const PlanTerm* t);
void plan_product(PlanRows* r, const char* name, const PlanTerm* a, const PlanTerm* b);  // −a·b ≥ 0

// At stage 0: the unknowns `columns` (nstart) are what the task starts from; columns NULL: the first ones.
void plan_start(const PlanProblem* p, int k, const double* z, const int* columns, PlanRows* r);

static inline PlanTerm plan_constant(double value) {
  return (PlanTerm){.value = value};
}
// t += factor z[col]
static inline PlanTerm plan_plus(PlanTerm t, double factor, const double* z, int col) {
  t.value += factor * z[col];
  t.col[t.count] = col, t.by[t.count] = factor;
  t.count++;
  return t;
}
static inline PlanTerm plan_unknown(double factor, const double* z, int col) {
  return plan_plus(plan_constant(0), factor, z, col);
}

// How far a plan ends from its goal, as the paper measures success.
typedef struct PlanError {
  double position, angle, velocity, turning;  // [m, rad, m/s, rad/s]
} PlanError;

// A joint of the scene that a plan is played in, and the unknowns that are its position, its velocity and its effort.
typedef struct PlanJoint {
  const char* name;                // NULL: none
  int position, velocity, effort;  // effort −1: it is not driven
} PlanJoint;

typedef struct PlanKind {
  const char *name, *summary;
  int nz, ns, stages, long_stages;  // unknowns and states of a stage; stages here and in the paper
  double h, long_h;                 // [s]
  const char* unknowns;             // their names, separated by blanks
  int nstart, ngoal;                // numbers that a task sets
  double start[PLAN_STATES], goal[PLAN_STATES];
  PlanJoint joints[PLAN_JOINTS];  // of the scene that --check plays it in; none: it has no scene
  double noise;                   // of the guesses by which robustness is judged
  void (*rows)(const PlanProblem* p, int k, const double* z, const double* next, PlanRows* r);
  // cost of stage k: Σ weight_j (z_j − aim_j)², both come in as zeros
  void (*cost)(const PlanProblem* p, int k, double* weight, double* aim);
  void (*guess)(const PlanProblem* p, double* z);  // z comes in as zeros; NULL: they are the guess
  PlanError (*error)(const PlanProblem* p, const double* last);
  // Fills start and goal of task `index` and its name; 0 when there is none. NULL: one task, with noisy guesses.
  int (*task)(int index, double* start, double* goal, char name[64]);
} PlanKind;

// A problem with its task.
struct PlanProblem {
  const PlanKind* kind;
  int stages;
  double h;
  double start[PLAN_STATES], goal[PLAN_STATES];
  PlanRowList* list;  // (2 · 3) rows of the first, a middle and the last stage: equalities, inequalities
  TriboPlan* plan;
};

extern const PlanKind plan_cartpole, plan_push_box, plan_transport, plan_push_t, plan_hopper, plan_waiter;
int plan_kind_count(void);
const PlanKind* plan_kind(int index);
const PlanKind* plan_kind_find(const char* name);  // NULL: there is none

// stages 0: those of the kind. *out is NULL after a failure.
TriboStatus plan_problem_create(const PlanKind* kind, int stages, double h, PlanProblem** out);
void plan_problem_destroy(PlanProblem* p);
void plan_problem_guess(const PlanProblem* p, double* z);
int plan_problem_success(const PlanProblem* p, const double* z, double violation, PlanError* error);
