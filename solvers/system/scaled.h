// The problem in scaled coordinates, where every cone is one of two and every scale is about 1.
//
//     λ = g S x,   u = S σ / g = W x + q,   W = S (G + R) S,   q = S g_problem / g
//
// S has one scalar per frictional contact, so that cones stay cones and the mean diagonal of its block of W is 1, and
// one per other row. Rows whose friction coefficient is 0 have no unknown. Unequal coefficients are folded into S: the
// cone ‖D⁻¹ λ_f‖ ≤ λ_N becomes ‖x_f‖ ≤ μ x_N with μ the first of them. So two kinds remain: round cones of 2 to 6 rows,
// normal last, and rows with bounds.
#pragma once

#include <math.h>

#include <tribo/problem.h>

enum { TRIBO_CONE_ROWS = 6, TRIBO_NARROW = 6 };  // most rows of a cone; velocities of a free body

typedef struct TriboScaledCone {
  int row, dim;
  int round;    // 1: ‖x_f‖ ≤ mu x_N; 0: lo ≤ x ≤ hi row by row
  double mu;    // > 0 when round
  double mean;  // mean diagonal of the cone's block of G + R, problem units
} TriboScaledCone;

// Which velocities of a wide block a term moves (delassus.c).
typedef struct TriboMoved {
  int column;            // of its first row in the block's response
  int count;             // velocities that it moves
  int only;              // the one that its one row moves, as that of a joint; −1: there are more
  size_t which, packed;  // where they are listed, and where its columns are without the zeros
} TriboMoved;

typedef struct TriboScaled {
  const TriboProblem* problem;
  int n, ncone;           // rows that have an unknown; cones
  int nround, nv;         // round cones; degrees of freedom
  double g;               // overall scale, root mean square of S g_problem [velocity · s]
  double mean;            // mean diagonal of G + R over the problem's rows
  double norm_g;          // ‖g‖ of the problem
  TriboScaledCone* cone;  // (ncone) cone c is the problem's cone c
  int* source;            // (n) row of the problem
  double *s, *q, *R;      // (n) scale of a row, scaled g, scaled compliance
  double *lo, *hi;        // (n) bounds; of use only outside round cones
  double* diagonal;       // (nrow) of G + R, problem units

  // motion form: W = J M⁻¹ Jᵀ + R, J scaled, row-major per term
  double* jac;
  size_t* term_at;   // (nterm)
  int* var;          // (nblock + 1) first degree of freedom of a block
  double* velocity;  // (2 nv) scratch of a product
  double product;    // multiplications of a product by J, M⁻¹ and Jᵀ, or of the explicit form
  double assembly;   // multiplications of Jᵀ K J of all cones

  int no_response;  // wide blocks are measured by their M⁻¹ alone
  // blocks of more than six velocities: their response M⁻¹ Jᵀ to the rows that act on them, in problem units
  int wide;           // whether there are such blocks; nothing else is set without
  TriboMoved* moved;  // (nterm)
  int* which;
  double *packed, *response, *rows;  // rows: scratch of a product
  int* acting;                       // (nblock) rows that act on it; a row of the response has up to three zeros more
  size_t* response_at;               // (nblock)

  // W with R as a dense matrix, column-major
  double* W;         // (n × n) when has_W; room is made by the linear system
  int has_W;         // made since the problem was scaled
  int W_is_cheaper;  // a product with it costs less than one by the motion, and is as good

  // explicit form: W without R in compressed columns
  int* own;  // (nrow) own row of a problem row, −1 when it has none
  int *col, *row;
  double* val;

  double* effort;  // floating-point operations of the solve so far, the solver's  set by: every product and factor
} TriboScaled;

// What bounds a row has; of use only outside round cones.
static inline int tribo_sol_has_lo(const TriboScaled* sc, int i) {
  return sc->lo[i] > -INFINITY;
}
static inline int tribo_sol_has_hi(const TriboScaled* sc, int i) {
  return sc->hi[i] < INFINITY;
}
static inline int tribo_sol_is_fixed(const TriboScaled* sc, int i) {
  return sc->lo[i] == sc->hi[i];
}

// What residuals are measured by: the diagonal of G + R, its mean, the size of g. The problem is not copied.
TriboStatus tribo_sol_measure(TriboScaled* sc, const TriboProblem* problem);
// The rest, of the problem that was measured last.
TriboStatus tribo_sol_scale(TriboScaled* sc);
// The same problem with another g: measured, and scaled by what it was scaled by before.
void tribo_sol_measure_g(TriboScaled* sc, const TriboProblem* problem);
void tribo_sol_scale_g(TriboScaled* sc);
void tribo_sol_scaled_free(TriboScaled* sc);

// The response M⁻¹ Jᵀ of every block of more than six velocities to the rows that act on it; part of measuring.
TriboStatus tribo_sol_response(TriboScaled* sc);
// Fills W, for which there is room; products are made with it from then on where that pays.
void tribo_sol_make_W(TriboScaled* sc);
// y = W x of a dense n × n matrix
void tribo_sol_times_W(int n, const double* W, const double* x, double* y);

// σ = (G + R) λ + g in problem units; a measured problem is enough
void tribo_sol_sigma(const TriboScaled* sc, const double* lambda, double* sigma);
// y = W x
void tribo_sol_apply(const TriboScaled* sc, const double* x, double* y);
// The same from the problem's own data, also where there is a dense W.
void tribo_sol_apply_raw(const TriboScaled* sc, const double* x, double* y);

// ---- products with one Jacobian term, J row-major dim × n; contacts (dim = 3) of free bodies (n = 6) get loops of
// known length, wide blocks loops over several numbers at once ----

void tribo_sol_add_momentum_wide(int dim, int n, const double* J, const double* impulse, double* momentum);
void tribo_sol_add_velocity_wide(int dim, int n, const double* J, const double* v, double* u);

static inline void tribo_sol_add_momentum_n(int dim, int n, const double* J, const double* impulse, double* momentum) {
  for (int i = 0; i < dim; ++i, J += n) {
    for (int j = 0; j < n; ++j) {
      momentum[j] += J[j] * impulse[i];
    }
  }
}
// (the same sums, two velocities at once)
static inline void tribo_sol_add_momentum_3x6(const double* restrict J, const double* restrict impulse,
                                              double* restrict momentum) {
  for (int j = 0; j < 6; ++j) {
    momentum[j] = momentum[j] + J[j] * impulse[0] + J[6 + j] * impulse[1] + J[12 + j] * impulse[2];
  }
}
// momentum += Jᵀ impulse
static inline void tribo_sol_add_momentum(int dim, int n, const double* J, const double* impulse, double* momentum) {
  if (n == 6 && dim == 3) {
    tribo_sol_add_momentum_3x6(J, impulse, momentum);
  } else if (n == 6) {
    tribo_sol_add_momentum_n(dim, 6, J, impulse, momentum);
  } else if (n > 6) {
    tribo_sol_add_momentum_wide(dim, n, J, impulse, momentum);
  } else {
    tribo_sol_add_momentum_n(dim, n, J, impulse, momentum);
  }
}

// The velocity that the one row of term t moves, as that of a joint; −1 where it has several, or moves several.
static inline int tribo_sol_only(const TriboScaled* sc, int t) {
  return sc->wide ? sc->moved[t].only : -1;
}

static inline void tribo_sol_add_velocity_n(int dim, int n, const double* restrict J, const double* restrict v,
                                            double* restrict u) {
  for (int i = 0; i < dim; ++i, J += n) {
    // two sums, so that they can be made side by side
    double even = 0, odd = 0;
    int j = 0;
    for (; j + 1 < n; j += 2) {
      even += J[j] * v[j];
      odd += J[j + 1] * v[j + 1];
    }
    u[i] += even + odd + (j < n ? J[j] * v[j] : 0);
  }
}
// u += J v
static inline void tribo_sol_add_velocity(int dim, int n, const double* J, const double* v, double* u) {
  if (n == 6 && dim == 3) {
    tribo_sol_add_velocity_n(3, 6, J, v, u);
  } else if (n == 6) {
    tribo_sol_add_velocity_n(dim, 6, J, v, u);
  } else if (n > 6) {
    tribo_sol_add_velocity_wide(dim, n, J, v, u);
  } else {
    tribo_sol_add_velocity_n(dim, n, J, v, u);
  }
}
