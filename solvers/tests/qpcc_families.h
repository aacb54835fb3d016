// Random QPCCs shaped like rigid-body problems, and the proof that an answer to one is the best of all modes.
#pragma once

#include <tribo/qpcc.h>

typedef enum QpccFamily {
  QPCC_RIGID,  // D = Jc M⁻¹ Jcᵀ, C = Jc M⁻¹ Jaᵀ, A = Je M⁻¹ Jaᵀ, B = Je M⁻¹ Jcᵀ, all of full rank
  QPCC_FORCE,  // the same, and a normal force is wanted at the first contact
  QPCC_BOX,    // the same with tight bounds of the actuators
  QPCC_SINGULAR,    // fewer velocities than contact rows
  QPCC_INFEASIBLE,  // the first two contacts are opposed, and both told to close
} QpccFamily;

enum {
  QPCC_MOST_CON = 32,
  QPCC_MOST_ROWS = 3 * QPCC_MOST_CON,
  QPCC_MOST_A = QPCC_MOST_ROWS + 4,
  QPCC_MOST_RES = QPCC_MOST_A + 8
};

typedef struct QpccCase {
  TriboQpcc problem;
  double A[QPCC_MOST_RES * QPCC_MOST_A], B[QPCC_MOST_RES * QPCC_MOST_ROWS], b[QPCC_MOST_RES];
  double C[QPCC_MOST_ROWS * QPCC_MOST_A], D[QPCC_MOST_ROWS * QPCC_MOST_ROWS], g[QPCC_MOST_ROWS];
  double lower[QPCC_MOST_A], upper[QPCC_MOST_A], mu[QPCC_MOST_CON];
  int dim[QPCC_MOST_CON];
} QpccCase;

// n contacts of d rows.
void qpcc_make(QpccFamily family, int d, int n, unsigned seed, QpccCase* out);

// A singular one whose g makes a random point of the contact law within the bounds feasible.
void qpcc_make_feasible(unsigned seed, int d, int n, QpccCase* out);

// 1: no modes and no slip directions give less than f (1 − gap); 0: some do; −1: the programs ran out.
int qpcc_is_global(const TriboQpcc* problem, double f, double gap, long most);
