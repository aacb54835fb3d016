// Dynamics, private: what a system and its data are made of, and what the files of this room call in each other.
//
// Motion is split into blocks: one per free body, then one per tree. A block owns a range of q, a range of v and a
// dense block of M. Everything a step needs after `update` is copied into the arrays below, so that the trees'
// Pinocchio workspaces are pure scratch and a look at another state disturbs nothing.
#pragma once

#include "dynamics.h"
#include "math3.h"
#include "memory.h"
#include "shim/pinocchio_shim.h"

typedef struct FreeBody {
  double mass;        // [kg]
  double com[3];      // in the body frame [m]
  double inertia[9];  // about the centre of mass, body axes [kg·m²]
  double inverse[9];  // of the inertia
} FreeBody;

// A stretch of q that has length 1: a quaternion (4) or a cosine and a sine (2).
typedef struct UnitPart {
  int at, count;
} UnitPart;

// A velocity index of a tree on which a limit or dry friction may act.
typedef struct BoundDof {
  int q, v;  // in the system's q and v
  int block;
  TriboJointKind kind;
  int part;             // which velocity of its joint
  double lower, upper;  // limits of q; SPHERICAL: of the angle
  double restitution;   // at these
  TriboSoftness soft;   // of these
  double friction;      // [N·m, N]
} BoundDof;

// The dofs of a tree in depth-first order.
typedef struct DofTree {
  int nv;
  int* parent;  // (nv) next dof on the way to the root, −1 at the root
  int* start;   // (nv) of the dofs start … k all on the way to the root are ancestors of k; the next ones end at its
                // parent
} DofTree;

// A joint that moves: parents first.
typedef struct TreeJoint {
  int link, parent;  // link behind it; joint before it, −1: none
  int q_at, v_at, nv;
  int in_turn;          // 1: each of its axes is carried by the ones before
  const double* radii;  // of an ellipsoid joint, else NULL
} TreeJoint;

// What a joint that turns about an axis a adds to its placement C: tree_place.c.
typedef struct TreeTurn {
  double sine[9], versine[9];  // C[a]×, C[a]×²
  double axis[3];              // C a
} TreeTurn;

// Inertia at the world origin, along the world's axes: tree_inertia.c.
typedef struct TreeInertia {
  double mass, moment[3];
  double about[6];  // xx xy xz yy yz zz
} TreeInertia;

// How what a joint moves goes on without joint accelerations: angular velocity and acceleration, the acceleration of
// its point at the world origin, and the force that takes, linear part first.
typedef struct TreeMotion {
  double spin[3], turn[3], rise[3], force[6];
} TreeMotion;

// A tree inside a system.
typedef struct TreePart {
  const TriboTree* tree;
  const TriboTreeInfo* info;
  DofTree dofs;
  TreeJoint* joints;  // (njoint)
  int njoint;
  int* joint_of;    // (nlink) joint that moves a link, −1: none
  TreeTurn* turns;  // (nlink) of joints that turn about an axis
  int plain;        // 1: all its joints are of the kinds that tree_place.c knows
  int flat;         // 1: q is a vector, as v is
  int springs;      // 1: some joint has one
  int block, body;  // its block, its first body
} TreePart;

// What the closures need of a problem.
typedef struct ClosureSize {
  size_t ncone, nrow, nterm, njac;
} ClosureSize;

struct TriboSystem {
  TriboSystemInfo info;
  int* block_dim;    // (nblock)
  int* block_q;      // (nblock)
  int* block_v;      // (nblock)
  int* body_block;   // (nbody)
  size_t* block_at;  // (nblock) in mass and minv
  size_t nmass;      // doubles in mass
  FreeBody* bodies;  // (nfree)
  UnitPart* units;   // (nunit)
  int nunit;
  TreePart* trees;   // (ntree)
  BoundDof* bounds;  // (nbound) by v: dofs with a finite limit or friction
  int nbound;
  int nv_max;  // of one tree

  TriboClosure* closures;  // (nclosure)
  int nclosure;
  ClosureSize closure_size;
  unsigned char* looked;  // (nblock) closures name a body of the block, moving or not
  int slack;              // 1: some rows are redundant
  int* cluster;           // (nblock) blocks that closures tie share a number, −1: none does
  int ncluster;
};

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
  TriboCone* cones;
  TriboRowInfo* infos;
  int* term_first;  // (ncone + 1)
  int* term_block;
  size_t* term_at;
  double* term_jac;
  double* g;
  double* R;
  double* impact;  // (ncone) share of the step before the impact, 0 for rows that are none
  size_t cone_capacity, info_capacity, first_capacity, block_capacity, at_capacity, jac_capacity, g_capacity,
      R_capacity, impact_capacity;
} Rows;

// A tree half-way through a step, where its forces and masses are taken.
typedef struct Halfway {
  double* q;              // (nq) q ⊕ (h/2) v
  double* jac;            // (6 × nv) there
  TreeInertia* inertias;  // (njoint) there
  double* mass;           // (nv × nv) M̃
  double* factor;         // (nv × nv) of M̃
  double* force;          // (nv) all known forces but the bias
  double* weight;         // (nv) the part of the bias that gravity makes
} Halfway;

// Which velocity the bias of a tree belongs to: see tree_motion.c.
enum { MEAN_START, MEAN_FREE, MEAN_TOUCHED };

// How a block turns v and v⁺ into q⁺: the share of the step that still runs with the old velocity, or SMOOTH, the mean.
#define TRIBO_DYN_SMOOTH (-1.0)

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

typedef enum Stage { STAGE_NONE, STAGE_UPDATED, STAGE_ASSEMBLED } Stage;

// Directions found so far, by a table of slots.
typedef struct Directions {
  int *slot, size, count;
  double* normal;      // (count × 3)
  double asked[3];     // the last question, and its answer
  const double* last;  // NULL: none yet
  size_t slot_capacity, normal_capacity;
} Directions;

struct TriboDynData {
  Stage stage;

  // set by: update
  double* q;              // (nq) the caller's, with unit parts of length 1
  double* v_free;         // (nv)
  TriboPose* poses;       // (nbody) at q
  TriboTwist* twists;     // (nbody) of v_free at q
  double* mass;           // (nmass) per block, free bodies' at creation
  double* minv;           // (nmass)
  double* jac;            // (6 × nv) trees: world twist per unit velocity, at q, columns by v; free bodies': unused
  double* q_half;         // (nq) trees: the point half-way, q ⊕ (h/2) v
  double* jac_half;       // (6 × nv) there
  TreeInertia* inertias;  // (nv) there, per block as many as it has joints
  TreeMotion* motions;    // (nv) there, likewise, at the velocity v and without weight
  double* force;          // (nv) trees: all known forces but the bias, there
  double* weight;         // (nv) trees: the part of the bias that gravity makes, there
  double* calm;           // (nv) trees: the rest of the bias, at the velocity v
  double* factor;         // (nmass) trees: of M̃

  // set by: assemble
  Directions directions;  // of the contacts
  Rows rows;
  unsigned char* chased;   // (2 × bounds) lower, upper limit: 1: it has a row, 2: it must have one
  unsigned char* hard;     // (ncluster) more than its closures acts on a cluster: it moves as at contacts
  unsigned char* touched;  // (nblock) at q a contact or a limit is reached
  unsigned char* leans;    // (ncluster) some block of a cluster is touched
  unsigned char* mean_of;  // (ntree) MEAN_…: where v_free has its bias from
  int wish;                // 1: v_free is a wanted velocity, from inverse_update

  // scratch of: advance
  double* impulse;  // (nv) Jᵀλ
  double* split;    // (nblock) share of the step with the old velocity, or TRIBO_DYN_SMOOTH

  unsigned char* flies;        // (nblock) nothing but impacts pushes it
  double *v_before, *v_after;  // (nv) what carries the blocks before and after an impact

  // closures only
  double *tau, *wrench;           // (nv), (nbody × 6) the forces of update
  double *kick, *cluster_split;   // (nv), (ncluster) scratch of advance
  double* gain;                   // (nv) v_f − v of the last flow: where the next one starts
  double* q_trial;                // (nq) scratch of assemble
  TriboPose* next_poses;          // (nbody) at the next state
  double* next_jac;               // (6 × nv)
  double *next_mass, *next_minv;  // (nmass) set by: settle_assemble
  double* guess;                  // (rows of the closures) set by: settle_assemble
  int *next_block, *next_dim;     // (nblock) blocks the last problem acts on: their numbers there, their sizes
  size_t* next_at;                // (nblock) where they start
  int* next_term;                 // (terms of the closures) in the last problem's numbers
  Rows settle;                    // set by: settle_assemble
  Slack slack;                    // set by: assemble, where rows are redundant or alone; settle_assemble
  int alone;                      // 1: nothing but closures acts on what they tie, and the factor is there
  int foreseen;                   // 1: they are, whatever v_free is, and set out from foreseen impulses
  int ahead;                      // 1: update foresees that, and trees were half-way with these  set by: update
  int halfway;                    // 1: that is where the first flow starts  set by: assemble
  int rough;                      // 1: the last flow lacks its last digits
  double* push;                   // (nv) M⁻¹Jᵀλ of the foreseen impulses  set by: update
  double* settled_q;              // (nq) where next_…, settle and slack are
  int settled;                    // 1: they are there  set by: settle_alone
  int known;                      // 1: that is where this step sets out from  set by: update
  Passes memory;                  // set by: close
  double last_error;              // of the pass before, set by: close
  int passes;                     // so far

  Inverse inverse;

  // scratch of: trees
  TriboPinData** pin;  // (npin = ntree)
  int npin;
  double* mean;         // (nv_max)
  double* work;         // (nv_max)
  double* look_force;   // (nv_max)
  double* look_weight;  // (nv_max)
  double* look_factor;  // (nv_max²)

  // scratch of: kinematics, energy, integrate, difference
  double* look_q[2];                       // (nq)
  TriboPose* look_poses;                   // (nbody)
  TriboTwist* look_twists;                 // (nbody)
  double* look_jac;                        // (6 × nv_max)
  TreeInertia *look_inertias, *look_sums;  // (nv_max)
  TreeMotion* look_motions;                // (nv_max)
};

// ---- state_check.c

// Copies q and scales its unit parts to length 1; TRIBO_NUMERIC for what is not finite or has length 0.
TriboStatus tribo_dyn_unit_state(const TriboSystem* system, const char* where, const double* q, double* out);
TriboStatus tribo_dyn_check_finite(const char* where, const char* what, const double* x, int count);
TriboStatus tribo_dyn_check_options(const char* where, const TriboStepOptions* options);

// ---- free_body.c

void tribo_dyn_body_pose(const FreeBody* body, const double q[7], TriboPose* pose);
void tribo_dyn_body_twist(const FreeBody* body, const TriboPose* pose, const double v[6], TriboTwist* twist);
// tau (6), wrench (6) may be NULL
void tribo_dyn_body_free_velocity(const FreeBody* body, const TriboStepOptions* options, const double q[7],
                                  const double v[6], const double* tau, const double* wrench, double v_free[6]);
// The angular velocity after an impulse with the angular part `torque` (body axes), at the end of a step that is split
// as for advance; w_next comes in as w_free + I⁻¹ torque.
void tribo_dyn_body_spin(const FreeBody* body, double h, double split, int flies, const double w[3],
                         const double w_free[3], const double torque[3], double w_next[3]);
// The other way round: the torque that ends in w_next, of a body that contacts push all through the step.
void tribo_dyn_body_torque(const FreeBody* body, double h, const double w[3], const double w_free[3],
                           const double w_next[3], double torque[3]);
// split: TRIBO_DYN_SMOOTH or the share of the step with the old velocity
void tribo_dyn_body_advance(double h, double split, const double q[7], const double v[6], const double v_next[6],
                            double q_next[7]);
void tribo_dyn_body_integrate(const double q[7], const double dv[6], double q_next[7]);
void tribo_dyn_body_difference(const double q0[7], const double q1[7], double dv[6]);

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
// The block that moves a body, −1: nothing does.
static inline int tribo_dyn_block_of(const TriboSystem* system, int body) {
  return body == TRIBO_WORLD_BODY ? -1 : system->info.body_block[body];
}
int tribo_dyn_block_of_v(const TriboSystem* system, int v);
// 1: both static, the same one, or links welded to the same joint
int tribo_dyn_are_welded(const TriboSystem* system, int body_a, int body_b);

// ---- normal_row.c

// Corners of one face differ by rounding (1e-12 … 1e-10 m); divided by h these differences would be nearly
// contradictory demands on one rigid body, which solvers pay for. Below this a gap is 0. [m]
#define TRIBO_DYN_DEAD_BAND 1e-9

// J M⁻¹ Jᵀ of row i of cone c
double tribo_dyn_mobility(const TriboSystem* system, const TriboDynData* data, const Rows* rows, int c, int i);
// Bias γ and compliance R of a softened row that is open or passed by `gap`; old: c of v.
double tribo_dyn_soften(const TriboStepOptions* o, const TriboSoftness* soft, double gap, double old, double mobility,
                        double* R);
// Bias, compliance and impact of the last row of cone c; free and old are its velocities of v_f and of v.
void tribo_dyn_normal_row(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* o, int c,
                          const TriboContactLaw* law, double gap, double free, double old);

// ---- joint_rows.c

void tribo_dyn_joint_rows(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                          const double* v);
// Marks blocks (nblock) with a joint or a tendon no farther than `close` from a limit.
void tribo_dyn_mark_stops(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                          double close, unsigned char* marks);
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

// ---- inverse_dynamics.c

void tribo_dyn_inverse_free(Inverse* inverse);
// Jᵀλ (in data->impulse), and with it v_f and p of the trees; free bodies' are known.
TriboStatus tribo_dyn_inverse_need(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                   const double* v, const double* lambda);
// inverse_polish.c: what an impulse asks of the step's forces. column (block's nv): Jᵀe, and where closures tie
// M̃M⁻¹Jᵀe; d: M⁻¹Jᵀe.
void tribo_dyn_inverse_carry(const TriboSystem* system, const TriboDynData* data, int block, double* column, double* d);

// ---- joint_kinds.c

int tribo_dyn_joint_nv(TriboJointKind kind);        // how many velocities
int tribo_dyn_joint_has_axis(TriboJointKind kind);  // 1: `axis` of its definition counts

// ---- link_check.c

// The pose is finite and its R a rotation; `what` begins the message.
TriboStatus tribo_dyn_check_pose(const char* what, const TriboPose* pose);
// The links make a tree that can be computed with.
TriboStatus tribo_dyn_check_links(const TriboLinkDef* links, int nlink);

// ---- tree_factor.c

void tribo_dyn_dof_starts(DofTree* tree);  // from the parents
// L (nv × nv) receives the factor of a mass matrix; TRIBO_NUMERIC when that is not positive definite.
TriboStatus tribo_dyn_factor(const DofTree* tree, const double* mass, double* L);
void tribo_dyn_factor_solve(const DofTree* tree, const double* L, double* x);  // x (nv) ← M⁻¹ x
// minv (nv × nv) ← M⁻¹
void tribo_dyn_factor_inverse(const DofTree* tree, const double* L, double* minv);

// ---- tree_place.c

int tribo_dyn_is_plain(TriboJointKind kind);
TreeTurn tribo_dyn_tree_turn(const TriboLinkInfo* link);
// q_next = q ⊕ dv
TriboStatus tribo_dyn_tree_integrate(const TreePart* part, TriboPinData* pin, const double* q, const double* dv,
                                     double* q_next);
// Poses of the links (nlink) and jac (6 × nv) at q; pin is for trees that are not plain.
TriboStatus tribo_dyn_tree_place(const TreePart* part, TriboPinData* pin, const double* q, TriboPose* poses,
                                 double* jac);

// ---- tree_inertia.c

// inertias (njoint) of what the joints move, from the poses of the links (nlink).
void tribo_dyn_tree_inertias(const TreePart* part, const TriboPose* poses, TreeInertia* inertias);
// M (nv × nv), armature included; sums (njoint) receives the inertias of what hangs on each joint.
void tribo_dyn_tree_mass(const TreePart* part, const double* jac, const TreeInertia* inertias, TreeInertia* sums,
                         double* mass);
// The bias (nv) that gravity alone makes; sums: what tribo_dyn_tree_mass has left there, the inertias of subtrees.
void tribo_dyn_tree_weight(const TreePart* part, const double gravity[3], const double* jac, const TreeInertia* sums,
                           double* weight);
// b(q, v) (nv): Coriolis, centrifugal and gravity forces; jac and inertias at q; motions (njoint) scratch.
void tribo_dyn_tree_bias(const TreePart* part, const double gravity[3], const double* q, const double* jac,
                         const TreeInertia* inertias, const double* v, TreeMotion* motions, double* bias);

// ---- tree_motion.c

// How far the spring of a link's joint is stretched: its components; returns their count, 0 without a spring.
int tribo_dyn_stretch(const TriboTreeInfo* info, const TriboLinkInfo* link, const double* q, double out[3]);

// force += Jᵀ w for a wrench per link (force, torque about the link's centre of mass, world axes) where poses and jac
// are.
void tribo_dyn_tree_wrenches(const TreePart* part, const TriboPose* poses, const double* jac, const double* wrench,
                             double* force);

// Velocities of links (nlink) from the columns of jac (6 × nv, of the world) and where the links are.
void tribo_dyn_tree_twists(const TriboTreeInfo* info, const double* jac, const double* v, const TriboPose* poses,
                           TriboTwist* twists);
// Poses (nlink) at q, and twists (nlink) of v; jac (6 × nv) is filled too.
TriboStatus tribo_dyn_tree_look(const TreePart* part, TriboPinData* pin, const double* q, const double* v,
                                TriboPose* poses, TriboTwist* twists, double* jac);
// Fills all of the half-way point of a tree.
TriboStatus tribo_dyn_tree_prepare(const TriboSystem* system, TriboDynData* data, int tree,
                                   const TriboStepOptions* options, const double* v, const double* tau,
                                   const double* wrench, const Halfway* half);
// Where update keeps it; mass: where M̃ goes.
Halfway tribo_dyn_tree_half(const TriboSystem* system, TriboDynData* data, int tree, double* mass);
// Trees that are ahead go back: half-way and free velocity without impulses.
TriboStatus tribo_dyn_trees_restart(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                    const double* v);
// The free velocity (v: of this tree) with its final bias, which depends on whether something touches the tree.
void tribo_dyn_tree_finish(const TriboSystem* system, TriboDynData* data, int tree, const TriboStepOptions* options,
                           const double* v);
// Mass, free velocity, half-way point, poses, twists and jac of one tree; tau (nv), wrench (nlink × 6) may be NULL.
TriboStatus tribo_dyn_tree_update(const TriboSystem* system, TriboDynData* data, int tree,
                                  const TriboStepOptions* options, const double* v, const double* tau,
                                  const double* wrench);
// One smooth step of a tree from v: its end goes to q_next and v_next. gain (nv): v_next − v, in as a guess.
TriboStatus tribo_dyn_tree_flow(const TriboSystem* system, TriboDynData* data, int tree,
                                const TriboStepOptions* options, const double* v, const double* tau,
                                const double* wrench, double* gain, double* q_next, double* v_next);
// M of one tree, without damping, and its inverse (nv × nv each), where poses (nlink) and jac (6 × nv) are.
TriboStatus tribo_dyn_tree_masses(const TreePart* part, TriboDynData* data, const TriboPose* poses, const double* jac,
                                  double* mass, double* minv);
TriboStatus tribo_dyn_tree_advance(const TriboSystem* system, TriboDynData* data, int tree, double h, const double* v,
                                   const double* v_next, double* q_next);
