// Closures: their rows, the factor of these, and how they are kept shut in time.
#pragma once

#include "rows/rows.h"

// The factor of the closure rows, and the combinations of them that move nothing: L and S N in closure_factor.c.
typedef struct ClosureFactor {
  int rank, count;           // of the n rows: independent ones, and what is left
  double* N;                 // (count × n) orthonormal
  double* scale;             // (n) S
  double* W;                 // (n × n) G, then its factor L
  int* order;                // (n) of the pivots
  int* list;                 // (n) scratch
  double* y;                 // (6 × dofs of the largest block)
  unsigned char* dependent;  // (n) 1: the row is not among the independent ones
  unsigned char* before;     // (n) 1: nor was it when the last decision was made
} ClosureFactor;

// Up to so many closure rows their matrix is factored in every step, here; more of them, where some are redundant.
enum { TRIBO_DYN_DENSE_ROWS_MAX = 48 };

// What the passes that shut closures have shown so far, for Anderson mixing of the next one: pass_memory.c. x is g of
// the closure rows, then of rows of joints on what they tie [m/s, rad/s], f what these miss.
enum { TRIBO_DYN_ANDERSON_DEPTH = 4 };
typedef struct AndersonMemory {
  int n, count;                 // unknowns, changes in the memory
  int njoint;                   // the last ones of the unknowns: of rows of joints
  int* joint;                   // (njoint) their cones
  double* law;                  // (njoint) their g without what passes add
  double* now;                  // (n) x of this pass
  double *X, *F;                // (ANDERSON_DEPTH × n) changes from pass to pass
  double *x, *f;                // (n) of the last one
  double* f_new;                // (n) f of this one
  double* d;                    // (n) scratch
  double* Q;                    // (ANDERSON_DEPTH × n) scratch
  double *first_dx, *first_df;  // (n) the first change of x in this step, or the last one that had one, and that of f
} AndersonMemory;

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

int tribo_dyn_ties_joints(const TriboClosure* closure);  // 1: coordinates of two joints, and not bodies
int tribo_dyn_is_soft(const TriboClosure* closure);      // 1: it has rows of a spring-damper

// ---- closure_factor.c

// What is left of a row when the rows before it are taken out, as a fraction of its scale in G: below this it depends
// on them. closure_factor.c has the derivation.
#define TRIBO_DYN_DEPENDENT 1e-10

// W (nrow × nrow) = J M⁻¹ Jᵀ + R of the closure rows, which are the last rows; y (6 × largest block) is scratch.
void tribo_dyn_closure_delassus(const TriboSystem* system, const Rows* rows, const double* minv, double* W, double* y);

// Whether it is decided in every step which closure rows depend on others.
int tribo_dyn_closures_are_ranked(const TriboSystem* system);
// Factors the closure rows, the last ones of `rows`, with the M⁻¹ of the blocks, and decides which are independent;
// factor->before says which ones were not.
void tribo_dyn_closure_factor(const TriboSystem* system, const Rows* rows, const double* minv, ClosureFactor* factor);
// lambda (closure rows): of the independent ones, so that Gλ = −g in these; of the others 0.
void tribo_dyn_closure_solve(const TriboSystem* system, const ClosureFactor* factor, const double* g, double* lambda);
// Projects g (closure rows) onto the range of G: takes out what no motion can answer.
void tribo_dyn_closure_project(const TriboSystem* system, const ClosureFactor* factor, double* g);
// lambda (closure rows) becomes the least that does the same.
void tribo_dyn_closure_spread(const TriboSystem* system, const ClosureFactor* factor, double* lambda);
// Empties row r of cone c: it asks for λ = 0 and nothing else; scale is that of its diagonal.
void tribo_dyn_closure_empty_row(const TriboSystem* system, Rows* rows, int c, int r, double scale);

// ---- closure_place.c

// Poses of all bodies that closures tie, at q; jac (6 × nv) for trees.
TriboStatus tribo_dyn_closures_place(const TriboSystem* system, TriboDynData* data, const double* q, TriboPose* poses,
                                     double* jac);
// Masses of a tree at q, where tribo_dyn_closures_place has been.
TriboStatus tribo_dyn_closures_mass(const TriboSystem* system, TriboDynData* data, int tree, const double* q);
// The factor of the rows at q: from now on all of it is at q, in the data's own buffers.
void tribo_dyn_closures_factor(const TriboSystem* system, TriboDynData* data, const double* q);
// Places, masses, rows and factor of all that closures tie, at data->q, as a step leaves them at its end.
TriboStatus tribo_dyn_closures_evaluate(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options);
// Whether the last step has ended at data->q, with the memory of the closures: what was found there still holds.
int tribo_dyn_loops_start_is_known(const TriboSystem* system, const TriboDynData* data,
                                   const TriboStepOptions* options);

// ---- loops.c

// Appends the rows of all closures, with their first g.
TriboStatus tribo_dyn_closures_assemble(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                        const double* v);
// The blocks of smooth clusters: kick, then flow; Jᵀλ is in data->impulse.
TriboStatus tribo_dyn_loops_advance(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                    const double* v, double* q_next, double* v_next);
// Which rows of the closures were left out in the step before, from options->loops.
void tribo_dyn_loops_left_out_before(const TriboSystem* system, const TriboStepOptions* options,
                                     unsigned char* left_out);
// 1: closures tie the block, and nothing else acts on its cluster: it moves by RATTLE.
int tribo_dyn_moves_smoothly(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                             int block);

// ---- pass_memory.c

// After the rows of joints, before those of closures: which of them are unknowns of the passes; all is forgotten.
TriboStatus tribo_dyn_passes_begin(const TriboSystem* system, TriboDynData* data);
// What the rows of joints miss, into f of the memory behind the closures; returns the largest [m/s, rad/s].
double tribo_dyn_passes_measure_joints(const TriboSystem* system, TriboDynData* data);
// x (n) from the rows, and to them.
void tribo_dyn_passes_gather(const TriboSystem* system, const TriboDynData* data, double* x);
void tribo_dyn_passes_scatter(const TriboSystem* system, TriboDynData* data, const double* x);
// Rows of joints ask for what they did before the first pass.
void tribo_dyn_passes_forget_joints(TriboDynData* data);
// Takes the change since the last pass into the memory; the first one of a step, for the next step; and x to the next
// pass. All of them read x in `now` and f in `f_new`.
void tribo_dyn_passes_append(AndersonMemory* memory);
void tribo_dyn_passes_keep_first_change(AndersonMemory* memory);
void tribo_dyn_passes_mix(AndersonMemory* memory);

// ---- predict_impulses.c

// Before update: predicts the impulses of the closures, and the change of velocity that they make.
TriboStatus tribo_dyn_loops_predict(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options);
// Whether the passes may start from predicted impulses in this step.
int tribo_dyn_loops_predictable(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                                const TriboContact* contacts, int ncontact);
// g of the closures from what they carried, and what the last step says about the passes.
void tribo_dyn_loops_use_prediction(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options);
