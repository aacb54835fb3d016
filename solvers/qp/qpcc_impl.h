// The inside of the QPCC solver: the scaled problem, its whitened rows, points of fixed modes, and scratch.
//
// z = (λ_a, λ_c) in scaled units; f's Hessian EᵀE + ε = L Lᵀ; in y = Lᵀ z the quadratic program of fixed modes is one
// of least distance, and a linear function pᵀz has the row L⁻¹ p. The rows of all λ and σ are made once per solve;
// every mode is a choice among them.
#pragma once

#include <tribo/qpcc.h>

#include "least_distance.h"
#include "timer.h"

// Cone tangents that a contact keeps, and rows that it may need in one program beyond those of its λ and σ.
enum { MOST_CUTS = 6, MOST_POOL = 16, MOST_ROWS = 24, SEEN = 8, ROUND = 8, POINTS = 4 };

// A mode of programs that only look: closed, without friction, free to slide.
enum { MODE_PROBE = TRIBO_QPCC_HELD + 1 };

// Modes with their directions and, after tribo_sol_mode_solve, the best point of them.
typedef struct ModePoint {
  unsigned char* mode;  // (ncon) TriboQpccMode
  double* angle;        // (ncon) slip direction; in the plane 0 or π
  double* cut;          // (ncon × MOST_CUTS) tangents of cones of contacts that stick, by angle
  unsigned char* ncut;  // (ncon)
  int turns;            // 1: slip directions in space are unknowns of the program, linearised at angle
  double* ratio;        // (ncon) then: s/(μ n) of contacts that slide
  double* z;            // (n) scaled
  double f;             // scaled objective, +∞: the modes are infeasible
} ModePoint;

// A row of a program: a bound of an actuator, or a linear function of one contact's λ and σ. Its tangential
// coefficients turn with an angle: by a quarter turn they are its derivative.
typedef enum ModeAngle { ANGLE_NONE, ANGLE_SLIP, ANGLE_CONE } ModeAngle;
typedef struct ModeRow {
  int contact, actuator;       // one of them is −1
  ModeAngle turns;             // with the slip direction of the contact, or by itself
  double sigma[3], lambda[3];  // coefficients, tangents first; of a bound lambda[0] = ±1
  double constant;             // value = coefficients · (σ, λ) + constant, σ with its g
} ModeRow;

struct TriboQpccSolver {
  int max_na, max_ncon, max_nres;
  TriboQpccSettings settings;
  const TriboQpcc* problem;

  // scaled problem
  int na, ncon, nc, n, ld, nres, ldr;
  int* at;               // (ncon) first row of a contact
  double *xa, *xc, *xs;  // (na), (ncon), (ncon): λ = x · scaled, σ = xs · scaled
  double f_scale;        // f = f_scale · scaled
  double *E, *e;         // (ldr × n) columns, (ldr)
  double *S, *g;         // (nc × ld) rows of [C D], (nc)
  double *lo, *hi;       // (na)
  double f_floor;        // objectives closer than this are equal

  // whitened rows
  double *L, *y0;                  // (n × ld) columns; (ld)
  double *row_lambda, *row_sigma;  // (n × ld), (nc × ld)
  double* row_upper;               // (na × ld)
  double* pool;                    // (MOST_POOL max_ncon × ld) rows made for one program
  int npool;
  ModeRow* rows;  // what the rows of `ldp` are
  TriboLeastDistance ldp;
  unsigned char* at_bound;  // (2 na) bounds that were active in the last program

  ModePoint point[POINTS];  // 0 best, 1 trial, 2 base of pairs, 3 before a change of slip directions
  double *z, *dz, *dy, *gradient, *residual, *sigma, *value;
  double *angle_c, *angle_dy, *angle_e, *angle_du, *hessian, *slope;  // of angles: derivatives
  int *angle_of, *pivot, *order;
  double *gain, *sector;  // (ncon), (2 ncon) middle and half width
  unsigned char* status;  // (ncon) of a node of a proof
  unsigned char* seen;    // bit per combination of modes that has been solved, up to SEEN contacts
  double* cuts;           // (8) tangents all round

  double *alm, *alm_lambda;  // scratch of the augmented Lagrangian

  double *out_a, *out_c, *out_sigma, *out_slip, *out_nu;
  TriboQpccMode* out_mode;
  int may_turn;  // 1: slip directions in space may be unknowns of programs
  int qps, alm_iterations, factorisations, worst, out_of_time;
  double bound;    // scaled
  double started;  // [s]
};

static inline int tribo_sol_qpcc_held(const TriboQpcc* p, int contact) {
  return p->held != NULL && p->held[contact];
}

// ---- qpcc_scale.c
TriboStatus tribo_sol_qpcc_check(const TriboQpccSolver* s, const TriboQpcc* p);
// The problem in scaled units, and all its rows whitened. 0: the matrices left the finite numbers.
int tribo_sol_qpcc_scale(TriboQpccSolver* s, const TriboQpcc* p);
// σ at z, and f.
void tribo_sol_qpcc_sigma(const TriboQpccSolver* s, const double* z, double* sigma);
double tribo_sol_qpcc_objective(TriboQpccSolver* s, const double* z);

// ---- mode_rows.c
// The program of the modes, of those contacts for which `open` is not set.
void tribo_sol_mode_rows(TriboQpccSolver* s, const ModePoint* p);
double tribo_sol_mode_value(const TriboQpccSolver* s, const ModeRow* row, const double* z, const double* sigma);
// The function of (z, σ) as a whitened row.
void tribo_sol_mode_whitened(const TriboQpccSolver* s, const ModeRow* row, double* out);
// Pieces of a program: equalities of all contacts first, then the others and the bounds.
void tribo_sol_mode_begin(TriboQpccSolver* s);
void tribo_sol_mode_add(TriboQpccSolver* s, const ModeRow* row, int equal);
// ratio < 0: the direction is fixed.
void tribo_sol_mode_equalities(TriboQpccSolver* s, int contact, int mode, double angle, double ratio);
void tribo_sol_mode_inequalities(TriboQpccSolver* s, int contact, int mode, double angle, const double* cut, int ncut);
void tribo_sol_mode_bounds(TriboQpccSolver* s);
// z = L⁻ᵀ y
void tribo_sol_mode_unwhiten(const TriboQpccSolver* s, const double* y, double* z);
// Solves it; z receives the point. 0: infeasible.
int tribo_sol_mode_run(TriboQpccSolver* s, double* z);
ModeRow tribo_sol_mode_turned(const TriboQpccSolver* s, const ModeRow* row);
double tribo_sol_mode_slack(const TriboQpccSolver* s, int contact);

// ---- mode_qp.c
// The best point of the modes near their slip directions, which are improved `rounds` times at most.
void tribo_sol_mode_solve(TriboQpccSolver* s, ModePoint* p, int rounds);
// Removes what the factor's rounding and ε have left, and gives the multipliers of σ. After tribo_sol_mode_solve of the
// same point.
void tribo_sol_mode_refine(TriboQpccSolver* s, ModePoint* p, double* nu);
void tribo_sol_mode_copy(const TriboQpccSolver* s, const ModePoint* from, ModePoint* to);

// ---- qpcc_alm.c
size_t tribo_sol_alm_size(int na, int nc, int nres);
// Algorithm 1 of the paper. The modes and slip directions of its last point, and the point itself.
void tribo_sol_alm(TriboQpccSolver* s, const TriboQpccWarm* warm, ModePoint* p, int* solved);

// ---- qpcc_search.c
// Starts, flips and proof; the best point is point[0]. 0: there is none.
int tribo_sol_qpcc_search(TriboQpccSolver* s, const TriboQpccWarm* warm, int* complete);
int tribo_sol_qpcc_late(TriboQpccSolver* s);

// ---- qpcc_bound.c
// The modes that no others beat, by branch and bound from the best point on. 1: all have been looked at.
int tribo_sol_qpcc_prove(TriboQpccSolver* s, int any);
// Offers the modes of point[1], solved with that many rounds, to point[0]. 1: they are better.
int tribo_sol_qpcc_offer(TriboQpccSolver* s, int rounds);
