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

// How a contact goes on within a step: contact_turn.c.
typedef struct ContactTurn {
  int lasts;                 // 1: it was there before and stays, as far as it alone can tell
  int is_known;              // 1: the rest is there, for something moves
  double H[2][9];            // how round its two surfaces are [m]
  double slip[3], spin[3];   // velocities of body b against a at its point [m/s, rad/s]
  double bend[3], twist[3];  // what the step changes velocity and turning at it by, besides Jv̇ [m/s, rad/s]
  double way[3], turn[3];    // how far its point and its frame go in the step [m, rad]
  double angle;              // and its surfaces tilt against each other [rad]
} ContactTurn;

// A contact whose slip turns round within the step: slip_turn.c.
typedef struct SlipTurn {
  int geom_a, geom_b;
  uint32_t feature;
  double fraction, force[3];  // of the step up to then, 0: it does not; friction up to then, world [N·s]
} SlipTurn;

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
// The mean of the rows of two places, each with its own point and axes, which are halved.
void tribo_dyn_rows_mean(const TriboSystem* system, const Place place[2], Rows* rows, int body_a, int body_b,
                         double point[2][3], RowAxis axes[2][6]);
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
// lasts 1: of a row whose impulse acts half at either end of the step, and whose law may miss so much [m/s].
void tribo_dyn_normal_row(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* o, int c,
                          const TriboContactLaw* law, int lasts, double miss, double gap, double free, double old);

// The fraction of a step of h after which something at `gap` is met, whose speed along the normal goes from old to
// free.
double tribo_dyn_impact_fraction(double gap, double h, double old, double free);

// ---- impact_rows.c

// The rows of two free bodies that rebound from each other alone, in a fresh cone; returns 0, and does nothing, where
// they do not.
int tribo_dyn_impact_rows(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                          const double* v, const TriboContact* contact, const TriboContactLaw* law,
                          const double frame[9]);

// ---- joint_rows.c

void tribo_dyn_joint_rows(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                          const double* v);
// Whether what is at a distance that changes at a rate was there before the step and stays: neither apart nor deep, and
// changing by no more than weight and the turn of its row do in half a step.
int tribo_dyn_lasts(const TriboStepOptions* options, double distance, double rate, double turn);
// Blocks with a joint or a tendon no farther than `close` from a limit, or that v takes there in a step, are touched;
// blocks that a tendon's limit holds are together.
void tribo_dyn_mark_limits(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options, double close,
                           const double* v);
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

// The axes (dim) of a contact's rows.
void tribo_dyn_contact_axes(const double frame[9], int dim, RowAxis axes[6]);

// ---- contact_turn.c

// How much velocities at a contact change in the step by themselves, from the twists in data->scratch_twists; 0 of what
// is still. first: of the points of its pair with that normal.
void tribo_dyn_contact_turn(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                            const TriboContact* contact, const TriboContact* first, ContactTurn* turn);
// Where the bodies of such contacts will be when they go on as they do, for these rows: once in a step.
void tribo_dyn_contacts_ahead(const TriboSystem* system, TriboDynData* data, double h, const double* v);
// Its rows as the mean of those at the start and at the end of the step, in a fresh cone; bent (dim): by how much they
// miss the velocities of v at the end.
void tribo_dyn_contact_mean_rows(const TriboSystem* system, TriboDynData* data, const TriboContact* contact,
                                 const ContactTurn* turn, const double frame[9], const double* v, double* bent);

// ---- slip_turn.c

// After the rows of a step: those of contacts whose slip turns round ask for the rest of the step alone.
TriboStatus tribo_dyn_slips_assemble(const TriboSystem* system, TriboDynData* data);
// After advance: which these are, *turned of them; lambda answers the problem.
TriboStatus tribo_dyn_contact_slips(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                    const TriboContactLaw* laws, const double* lambda, int* turned);
// The same after the answer of inverse dynamics; and for cone c the fraction that it has found, 0: none.
double tribo_dyn_inverse_slip_turn(const TriboDynData* data, int c);
// Dry joints: joint_rows.c. And τ from the speeds before and after, c = 2GF.
double tribo_dyn_slip_turn_between(double v, double v_next, double c);
int tribo_dyn_joint_slips(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                          const double* v, const double* lambda);

// ---- directions.c

// Forgets all and makes room for `most`.
TriboStatus tribo_dyn_directions_begin(Directions* d, int most);
// The first of all directions that are the same as this one; valid until the next begin.
const double* tribo_dyn_directions_find(Directions* d, const double n[3]);
void tribo_dyn_directions_free(Directions* d);
