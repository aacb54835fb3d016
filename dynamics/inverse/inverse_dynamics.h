// What inverse dynamics through contact keeps: inverse_dynamics.c has the equations.
#pragma once

#include "rows/rows.h"

// X(array, count): what inverse dynamics keeps per velocity and per block, taken when it is first asked for
#define TRIBO_DYN_INVERSE_ARRAYS(X) \
  X(impulse_needed, nv)             \
  X(v_free, nv)                     \
  X(q_read, nq)                     \
  X(v_target, nv)                   \
  X(impulse_read, nv)               \
  X(start_momentum, nv)             \
  X(target_momentum, nv)            \
  X(v_error, nv)                    \
  X(place, nv)                      \
  X(chain_parent, nv)               \
  X(chain_start, nv)                \
  X(block, nblock)                  \
  X(dim, nblock)                    \
  X(at, nblock)                     \
  X(mass, nmass)                    \
  X(minv, nmass)

// The contact mode of a cone: what the target velocity leaves to its impulse.
enum {
  TRIBO_DYN_MODE_KNOWN,  // nothing: its λ is known, 0 when it is open
  TRIBO_DYN_MODE_RAY,    // it slides: one number ≥ 0 along a direction
  TRIBO_DYN_MODE_DISK,   // friction under a known normal impulse
  TRIBO_DYN_MODE_CONE,   // it sticks: all of it
};

// Inverse dynamics; the equations are those of inverse_dynamics.c.
typedef struct Inverse {
  double* impulse_needed;  // (nv) p [N·s, N·m·s]  set by: inverse_update (free bodies), inverse_balance (trees)
  double* v_free;          // (nv) v_f [m/s, rad/s]  set by: the same
  double* v_target;        // (nv) v⁺ [m/s, rad/s]  set by: inverse_update
  double* q_read;          // (nq) of trees, q⁺  set by: assemble
  double* impulse_read;    // (nv) of trees, p where impulses and torques act alike [N·s, N·m·s]  set by: assemble
  double *start_momentum, *target_momentum;  // (nv) scratch of: tree_reading
  double* v_error;  // (nv) y, 0 on driven velocities [m/s, rad/s]  set by: inverse_balance, inverse_finish

  // set by: inverse_reduce
  int whole;                        // 1: contacts answer to the motion they make, not to the target velocity
  int* place;                       // (nv) of an undriven velocity in its reduced block, −1: driven
  int *chain_parent, *chain_start;  // (nv) scratch
  int nblock, *block, *dim;         // blocks with undriven velocities: their number, −1: none; their size
  size_t* at;                       // (nblock) in mass and minv
  double *mass, *minv;              // M_uu and its inverse, block by block
  int *mode, *cone_of;              // (ncone) TRIBO_DYN_MODE_…; reduced cone → cone
  double* lambda_known;             // (nrow) what is known of λ: see classify in inverse_dynamics.c [N·s]
  double scale;                     // of the terms that impulse_needed is the sum of [N·s, N·m·s]  set by: assemble
  double* span;                     // (nrow × nv)  set by: inverse_span
  double* polish;                   // scratch of: inverse_polish
  char* directions;                 // scratch of: inverse_polish
  Rows rows;                        // the reduced problem
} Inverse;

void tribo_dyn_inverse_free(Inverse* inverse);
// Jᵀλ (in data->impulse), and with it v_f and p of the trees; free bodies' are known.
TriboStatus tribo_dyn_inverse_impulse(const TriboSystem* system, TriboDynData* data, const double* lambda);
// The velocity that rows see of a free body, in data->v_free, and its impulse_needed.
void tribo_dyn_inverse_read_body(const TriboSystem* system, TriboDynData* data, int b, const TriboStepOptions* options,
                                 const double* v);
// tree_reading.c: the velocity that rows see of a tree, in data->v_free, and its impulse_read.
TriboStatus tribo_dyn_inverse_read_tree(const TriboSystem* system, TriboDynData* data, int tree,
                                        const TriboStepOptions* options, const double* v);
// inverse_polish.c: what an impulse asks of the step's forces. column (block's nv): in Jᵀe, out the same, and M̃M⁻¹Jᵀe
// where closures tie a tree that is kicked in full.
void tribo_dyn_inverse_carry(const TriboSystem* system, const TriboDynData* data, int block, double* column,
                             double* work);
