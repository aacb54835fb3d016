// The flight of a tree between two kicks: tree_drift.c has the equations.
#pragma once

#include "tree/tree_model.h"

// What a joint moves, as one rigid body, along the world's axes.
typedef struct TreeBody {
  double mass, arm[3], centre[3];  // [kg]; centre of mass from the joint's frame, and from the origin [m]
  double inertia[9];               // about the centre [kg·m²]
} TreeBody;

// The displacement of a joint's frame in a step: Gibbs vector of its turn, and way of its origin [m].
typedef struct TreeDisplacement {
  double g[3], d[3];
} TreeDisplacement;

// A tree at the start of a step.
typedef struct TreeStart {
  const double* q;         // (nq)
  const TriboPose* poses;  // (nlink)
  const double* jac;       // (6 × nv)
  const TreeBody* bodies;  // (njoint)
  const double* factor;    // (nv × nv) of M̃ = M + diag(extra)
  const double* diagonal;  // (nv) of M
} TreeStart;

// Scratch of a drift, and its answer.
typedef struct DriftWork {
  double* w;                              // (nv) in: a guess; out: q⁺ = q ⊕ hw
  double (*P)[6];                         // (njoint) momenta of what the joints move, about the start's origin
  int passes;                             // that were needed
  double turn;                            // largest |g|²: how far a link turns
  double* spin;                           // (njoint) momenta of wheels about their axes
  double *r, *f, *step;                   // (nv)
  double *X[2], *F[2], *Q[2], *scaled;    // (nv) of the mixing: changes of w + f and of scaled f, the newest first
  double *last_w, *last_f, *last_scaled;  // (nv) of the pass before
  double (*sums)[6];                      // (njoint)
  TreeDisplacement* moved;                // (njoint)
  double* q_trial;                        // (nq) of trees with rarer joints, as the next two
  TriboPose* poses;                       // (nlink)
  double* jac;                            // (6 × nv)
} DriftWork;

void tribo_dyn_tree_bodies(const TreePart* part, const TriboPose* poses, TreeBody* bodies);
// q_next = q ⊕ hw, by a map that −w undoes; step (nv) is scratch.
TriboStatus tribo_dyn_tree_move(const TreePart* part, TriboPinData* pin, const double* q, double h, const double* w,
                                double* step, double* q_next);
// Finds w with J(q)ᵀP(w) + (A + extra) w = impulse, the momenta of the links in work->P; converged 0: the tree turns
// too far in one step, or the passes part.
TriboStatus tribo_dyn_tree_drift(const TreePart* part, TriboPinData* pin, const TreeStart* at, double h, double tol,
                                 const double* extra, const double* impulse, DriftWork* work, int* converged);
// w ← w + f, mixed with the last two changes of the passes (base/mixing.h). Lengths are those of √M̃_kk f_k, near the
// metric of M̃ = M + diag(extra), of which diagonal is M's; extra (nv) may be NULL.
void tribo_dyn_drift_mix(int n, const double* diagonal, const double* extra, DriftWork* work, int is_mixed);
// out (nv) = J(q)ᵀP(w) + (A + extra) w for the w in work.
TriboStatus tribo_dyn_tree_departure(const TreePart* part, TriboPinData* pin, const TreeStart* at, double h,
                                     const double* extra, DriftWork* work, double* out);
// out (nv) = J(q⁺)ᵀP + A w with the columns jac (6 × nv) at q⁺, about an origin that is away from the start's by
// `shift`.
void tribo_dyn_tree_momentum(const TreePart* part, const double* jac, const double shift[3], DriftWork* work,
                             double* out);
