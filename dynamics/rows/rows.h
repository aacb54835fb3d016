// The rows of a problem, cone by cone, and those who append to them: contacts, joints, closures.
#pragma once

#include "system_blocks.h"

// One row between two bodies: the component of their relative velocity along a world direction.
typedef struct RowAxis {
  double direction[3];
  int angular;  // 1: of the angular velocity
} RowAxis;

// A configuration, as Jacobians need it.
typedef struct Place {
  const double* q;
  const TriboPose* poses;  // (nbody)
  const double* jac;       // (6 × nv) trees, as in TriboDynData
} Place;

// Rows of a problem, cone by cone.
typedef struct Rows {
  int nrow, ncone, nterm;
  size_t njac;
  TriboCone* cones;     // (ncone)
  TriboRowInfo* infos;  // (ncone) what they are
  int* term_first;      // (ncone + 1) first term of a cone
  int* term_block;      // (nterm) block that a term acts on
  size_t* term_at;      // (nterm) where it stands in term_jac
  double* term_jac;     // (njac) J of a term, dim × dofs of its block
  double* g;            // (nrow) J v_f + γ [m/s, rad/s]
  double* R;            // (nrow) compliance [1/kg, 1/(kg·m²)]
  double* impact;       // (ncone) fraction of the step before the impact, 0 for rows that are none
} Rows;

// Directions found so far, by a table of slots.
typedef struct Directions {
  int *slot, size, count;
  double* normal;      // (count × 3)
  double asked[3];     // the last question, and its answer
  const double* last;  // NULL: none yet
} Directions;

// ---- rows.c

// Empties the rows and makes room for ncone cones with nrow rows, nterm terms and njac doubles of Jacobian.
TriboStatus tribo_dyn_rows_reserve(Rows* rows, size_t ncone, size_t nrow, size_t nterm, size_t njac);
void tribo_dyn_rows_free(Rows* rows);
// Starts the next cone and returns its index; terms are added to it next.
int tribo_dyn_rows_begin(Rows* rows, TriboConeKind kind, int dim, TriboRowKind row_kind, int index);
// Adds a zero term on a block to the newest cone; increasing blocks.
double* tribo_dyn_rows_term(const TriboSystem* system, Rows* rows, int block);
// Adds the terms of two bodies to the newest cone, one axis per row: velocity of b against a at the point.
void tribo_dyn_rows_pair(const TriboSystem* system, const Place* place, Rows* rows, int body_a, int body_b,
                         const double point[3], const RowAxis* axes);
// The same for a contact with three rows, along the axes t1, t2, n of its frame.
void tribo_dyn_rows_contact(const TriboSystem* system, const Place* place, Rows* rows, int body_a, int body_b,
                            const double point[3], const double frame[9]);
// Appends a cone of other rows, g = 0.
void tribo_dyn_rows_repeat(const TriboSystem* system, Rows* rows, const Rows* from, int c);
// out (dim) = Σ over the terms of cone c of J x
void tribo_dyn_rows_apply(const TriboSystem* system, const Rows* rows, int c, const double* x, double* out);
// Row i of a cone alone.
double tribo_dyn_rows_speed(const TriboSystem* system, const Rows* rows, int c, int i, const double* x);
// impulse (nv) = Jᵀλ of the cones from the given one on, lambda beginning there
void tribo_dyn_rows_impulse(const TriboSystem* system, const Rows* rows, int first, const double* lambda,
                            double* impulse);
TriboProblem tribo_dyn_rows_problem(const TriboSystem* system, const Rows* rows, const double* mass,
                                    const double* minv);

// ---- normal_row.c

// Corners of one face differ by rounding (1e-12 … 1e-10 m); divided by h these differences would be nearly
// contradictory demands on one rigid body, which solvers pay for. Below this a gap is 0. [m]
#define TRIBO_DYN_DEAD_BAND 1e-9

// J M⁻¹ Jᵀ of row i of cone c
double tribo_dyn_mobility(const TriboSystem* system, const TriboDynData* data, const Rows* rows, int c, int i);
// Bias γ and compliance R of a soft row (solref, solimp) that is open or passed by `gap`; old: c of v.
double tribo_dyn_soft_row(const TriboStepOptions* o, const TriboSoftness* soft, double gap, double old, double mobility,
                          double* R);
// Bias, compliance and impact of the last row of cone c; free and old are its velocities of v_f and of v.
void tribo_dyn_normal_row(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* o, int c,
                          const TriboContactLaw* law, double gap, double free, double old);

// ---- joint_rows.c

void tribo_dyn_joint_rows(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                          const double* v);
// Whether what is at a distance that changes at a rate was there before the step and stays: neither apart nor deep, and
// changing by no more than weight does in half a step.
int tribo_dyn_lasts(const TriboStepOptions* options, double distance, double rate);
// Marks blocks (nblock) with a joint or a tendon no farther than `close` from a limit, or that v takes there in a step.
void tribo_dyn_mark_limits(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                           double close, const double* v, unsigned char* marks);
TriboStatus tribo_dyn_check_motors(const TriboSystem* system, const TriboStepOptions* o);

// ---- contact_rows.c

// How much room the contacts need, after checking each of them; adds to the counts.
TriboStatus tribo_dyn_contacts_measure(const TriboSystem* system, const TriboContact* contacts,
                                       const TriboContactLaw* laws, int ncontact, size_t* nrow, size_t* nterm,
                                       size_t* njac);
// Appends the rows of all contacts.
TriboStatus tribo_dyn_contact_rows(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                   const double* v, const TriboContact* contacts, const TriboContactLaw* laws,
                                   int ncontact);

// ---- directions.c

// Forgets all and makes room for `most`.
TriboStatus tribo_dyn_directions_begin(Directions* d, int most);
// The first of all directions that are the same as this one; valid until the next begin.
const double* tribo_dyn_directions_find(Directions* d, const double n[3]);
void tribo_dyn_directions_free(Directions* d);
