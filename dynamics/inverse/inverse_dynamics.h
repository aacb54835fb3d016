// What inverse dynamics through contact keeps: inverse_dynamics.c has the equations.
#pragma once

#include "rows/rows.h"

// X(array, count): what inverse dynamics keeps per velocity and per block, taken when it is first asked for
#define TRIBO_DYN_INVERSE_ARRAYS(X) \
  X(need, nv)                       \
  X(v_free, nv)                     \
  X(mean, nv)                       \
  X(lack, nv)                       \
  X(low, nv)                        \
  X(place, nv)                      \
  X(chain_parent, nv)               \
  X(chain_start, nv)                \
  X(block, nblock)                  \
  X(dim, nblock)                    \
  X(at, nblock)                     \
  X(mass, nmass)                    \
  X(minv, nmass)

// What the wish leaves to the impulse of a cone.
enum {
  TRIBO_DYN_WAY_GIVEN,  // nothing: its λ is known, 0 when it is open
  TRIBO_DYN_WAY_RAY,    // one number ≥ 0 along a direction
  TRIBO_DYN_WAY_DISK,   // friction under a known normal impulse
  TRIBO_DYN_WAY_CONE,   // all of it
};

// Inverse dynamics; the equations are those of inverse.c.
typedef struct Inverse {
  double* need;    // (nv) p [N·s]  set by: inverse_update (free bodies), inverse_balance (trees)
  double* v_free;  // (nv) v_f  set by: the same
  double* mean;    // (nv) of the bias, trees that something touches  set by: assemble
  double* lack;    // (nv) y, 0 on driven velocities

  // set by: inverse_reduce
  int whole;                        // 1: contacts answer to the motion they make, not to the wish
  int* place;                       // (nv) of an undriven velocity in its reduced block, −1: driven
  int *chain_parent, *chain_start;  // (nv) scratch
  int nblock, *block, *dim;         // blocks with undriven velocities: their number, −1: none; their size
  size_t* at;                       // (nblock) in mass and minv
  double *mass, *minv;              // M_uu
  int *way, *cone_of;               // (ncone) what is left to a cone; reduced cone → cone
  double* given;                    // (nrow) what is known of λ
  double scale;                     // of the terms that `need` is the sum of [N·s, N·m·s], set by: inverse_need
  double* span;                     // (nrow × nv) set by: inverse_span
  double* polish;                   // scratch of: inverse_polish
  char* ways;
  double* low;  // (nv) scratch: a bias
  Rows rows;    // the reduced problem
  size_t need_capacity, v_free_capacity, mean_capacity, lack_capacity, place_capacity, chain_parent_capacity,
      chain_start_capacity, block_capacity, dim_capacity, at_capacity, mass_capacity, minv_capacity, way_capacity,
      cone_of_capacity, given_capacity, span_capacity, polish_capacity, ways_capacity, low_capacity;
} Inverse;

void tribo_dyn_inverse_free(Inverse* inverse);
// Jᵀλ (in data->impulse), and with it v_f and p of the trees; free bodies' are known.
TriboStatus tribo_dyn_inverse_need(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                   const double* v, const double* lambda);
// inverse_polish.c: what an impulse asks of the step's forces. column (block's nv): Jᵀe, and where closures tie
// M̃M⁻¹Jᵀe; d: M⁻¹Jᵀe.
void tribo_dyn_inverse_carry(const TriboSystem* system, const TriboDynData* data, int block, double* column, double* d);
