// Closures: their rows, the factor of these, and how they are kept shut in time.
#pragma once

#include "rows/rows.h"

// The factor of the closure rows, and the combinations of them that move nothing: L and S N in redundant.c.
typedef struct Slack {
  int rank, count;
  double* N;      // (count × n) orthonormal
  double* scale;  // (n) S
  double* W;      // (n × n)
  int* order;     // (n)
  double* y;      // (6 × dofs of the largest block)
} Slack;

// Up to so many closure rows their matrix is factored densely, here.
enum { TRIBO_DYN_FEW = 48 };

// What the passes that shut closures have shown so far: loops.c.
enum { TRIBO_DYN_MEMORY = 4 };
typedef struct Passes {
  int count;
  double *X, *F;         // (MEMORY × n) changes from pass to pass
  double *x, *f;         // (n) of the last one
  double* now;           // (n) f of this one
  double* d;             // (n) scratch
  double* Q;             // (MEMORY × n) scratch
  double *turn, *reply;  // (n) the first change of x in this step, or the last one that had one, and that of f
} Passes;

// ---- closure_rows.c

// The rows of a closure at a configuration: their axes, the point they act at, how far they are open. Returns their
// count. Not for joints.
int tribo_dyn_closure_axes(const TriboClosure* closure, const TriboPose* poses, RowAxis axes[6], double point[3],
                           double error[6]);
// Appends the rows of a closure as one cone, g = 0; error (6) as above.
void tribo_dyn_closure_append(const TriboSystem* system, const Place* place, Rows* rows, int index, double error[6]);
// The one or two blocks a closure acts on; returns how many.
int tribo_dyn_closure_blocks(const TriboSystem* system, const TriboClosure* closure, int blocks[2]);
// How far a closure is open; returns the count of rows.
int tribo_dyn_closure_open(const TriboClosure* closure, const double* q, const TriboPose* poses, double error[6]);

int tribo_dyn_gives_way(const TriboClosure* closure);  // 1: it has rows of a spring-damper

// ---- closure_factor.c

// What is left of a row's diagonal when the rows before it are taken out, as a fraction: below this it depends on them.
#define TRIBO_DYN_DEPENDENT 1e-10

// W (nrow × nrow) = J M⁻¹ Jᵀ + R of the closure rows, which are the last rows; y (6 × largest block) is scratch.
void tribo_dyn_closure_delassus(const TriboSystem* system, const Rows* rows, const double* minv, double* W, double* y);

// Finds the slack of the closure rows, the last ones of `rows`, with the M⁻¹ of the blocks.
void tribo_dyn_slack_find(const TriboSystem* system, const Rows* rows, const double* minv, Slack* slack);
// lambda (closure rows): the least with Gλ = −g.
void tribo_dyn_slack_solve(const TriboSystem* system, const Slack* slack, const double* g, double* lambda);
// Takes out of g (closure rows) what no motion can answer.
void tribo_dyn_slack_remove(const TriboSystem* system, const TriboDynData* data, double* g);

// ---- closure_place.c

// Poses of all bodies that closures tie, at q; jac (6 × nv) for trees.
TriboStatus tribo_dyn_closures_place(const TriboSystem* system, TriboDynData* data, const double* q, TriboPose* poses,
                                     double* jac);
// Masses of a tree at q, where tribo_dyn_closures_place has been.
TriboStatus tribo_dyn_closures_mass(const TriboSystem* system, TriboDynData* data, int tree, const double* q);
// The factor of the rows at q: from now on all of it is at q, in the data's own buffers.
void tribo_dyn_closures_factor(const TriboSystem* system, TriboDynData* data, const double* q);
// Places, masses, rows and factor of all that closures tie, at data->q, as a step leaves them at its end.
TriboStatus tribo_dyn_loops_find(const TriboSystem* system, TriboDynData* data);
// Whether the last step has ended at data->q: what was found there still holds.
int tribo_dyn_loops_known(const TriboSystem* system, const TriboDynData* data);

// ---- loops.c

TriboStatus tribo_dyn_closures_assemble(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                        const double* v);
// The blocks of smooth clusters: kick, then flow; Jᵀλ is in data->impulse.
TriboStatus tribo_dyn_loops_advance(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                    const double* v, double* q_next, double* v_next);
int tribo_dyn_flows(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options, int block);

// ---- predict_impulses.c

// Before update: which impulses are foreseen, and how they push.
TriboStatus tribo_dyn_loops_set_out(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options);
// Whether closures set out from foreseen impulses in this step.
int tribo_dyn_loops_foreseen(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                             const TriboContact* contacts, int ncontact);
// g of the closures from what they carried, and what the last step says about the passes.
void tribo_dyn_loops_foresee(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options);
