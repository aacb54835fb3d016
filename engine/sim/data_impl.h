// Everything that changes during a simulation.
#pragma once

#include "controllers.h"
#include "model_impl.h"
#include "task.h"
#include "timer.h"

// What is remembered of a constraint from one step to the next, in the order of the rows: contacts by
// (geom_a, geom_b, feature), then limits, joint friction and closures by index.
typedef struct WarmKey {
  int kind;  // TriboRowKind
  int a, b;  // geometries; all others: index, 0
  uint32_t feature;
} WarmKey;

typedef struct WarmEntry {
  WarmKey key;
  int dim;
  uint32_t place;    // of a contact
  double frame[9];   // rows t1 t2 n in the world
  double lambda[6];  // [N·s]
  double sigma[6];   // [m/s]
} WarmEntry;

// The problem split into independent parts. Jacobians and masses stay where they are; only indices, g and R are copied,
// all islands one behind the other.  set by: islands
typedef struct IslandEnd {
  int cone, row, term;
} IslandEnd;

typedef struct Islands {
  int count;
  char* slab;            // all arrays below, in one piece of memory that only grows
  int sizes[4];          // what they are laid out for: blocks, cones (0: not yet), rows, terms
  int* root;             // (nblock) union-find
  int* island_of_block;  // (nblock)
  int* local;            // (nblock) index within its island
  int* island_of_cone;   // (ncone) by the whole problem's cone
  int* cone_of;          // (ncone) island order → cone of the whole problem
  int* first_cone;       // (count + 1)
  int* first_row;        // (count + 1)
  int* first_block;      // (count + 1)
  int* first_term;       // (count + 1)
  int* block_dim;        // (blocks in islands)
  size_t* block_at;
  const int** dof_parent;
  TriboCone* cones;      // (ncone) rows counted from the island's first
  unsigned char* known;  // (ncone)
  int has_new_g_only;    // 1: all but g is that of the last solve
  int is_again;          // 1: warm_lambda are impulses found a moment ago, and warm_sigma does not belong to them
  int* term_first;       // (ncone + count) each island has one entry more than cones
  int* term_block;       // (nterm)
  size_t* term_at;       // (nterm)
  double *g, *R;         // (nrow)
  double *warm_lambda, *warm_sigma;
  double* lambda;          // (nrow) the answers
  IslandEnd* end;          // (count) how far an island is filled
  TriboSolveStats* stats;  // (count)
  TriboStatus* status;     // (count)
  char (*error)[256];      // (count) why a solve failed: the text of another thread would be lost
} Islands;

// How a step is divided: its parts are fractions of it, the first one this long before anything was halved.
typedef struct StepDivision {
  double fraction, first;
} StepDivision;

// Where a step, or a substep, sets out from and how far it goes.
typedef struct StepStart {
  double time, h;         // [s]
  double deadline;        // wall clock at which the answer at hand is used [s]; 0: none
  const double *q, *v;    // (nq), (nv)
  const WarmEntry* warm;  // (nwarm) constraints of the step before
  int nwarm;
  double warm_dt;                // [s] the step that their impulses belong to
  const TriboLoopMemory* loops;  // (nclosure)
  struct MotionState* state;     // the whole of it; its energies are evaluated where they are not known
} StepStart;

// A state that the user has named.
typedef struct NamedState {
  char* name;
  TriboState* state;
} NamedState;

// What a pair of shapes did to each other so far in a step.
typedef struct Touch {
  int a, b;           // shapes
  double impulse[3];  // on b [N·s]
  double point[3];    // sum of the places, weighted by pressure
  double pressure;    // along the normals [N·s]
} Touch;

// A rigid body that moves, as the balance of a step sees it, in world axes. A link counts with all that is welded to
// it.
typedef struct BodyMotion {
  double R[9];  // body → world
  double x[3];  // centre of mass [m]
  double u[3];  // its velocity [m/s]
  double w[3];  // [rad/s]
  double l[3];  // angular momentum about x [N·m·s]
} BodyMotion;

// How far the energy of a part that moves by itself, less what explains it, is above the least of late; what kicks gave
// of that, and by how much ½ h F·v has grown since; and the energy that this is measured by: energy_ledger.c.
typedef struct EnergyLedger {
  double gained, kicked, lead, size;  // [J]
} EnergyLedger;

// Positions and velocities with what the next step sets out with. A data has three of them: the current one, the one
// that a step writes, and the one from which the next substep sets out. A step that holds swaps the first two.
typedef struct MotionState {
  double *q, *v;    // (nq), (nv) [m, rad], [m/s, rad/s], in the order of dynamics
  WarmEntry* warm;  // (nwarm) constraints of the step that led here, with their impulses
  int nwarm;
  TriboLoopMemory* loops;  // (nclosure) what closures carry from step to step
  BodyMotion* bodies;      // (balance.nbody) how q and v move each  set by: balance.c
  double* kinetic;         // (nblock) energy of each block [J]  set by: balance.c
  EnergyLedger* ledgers;   // (nblock) of the part that begins with the block  set by: energy_ledger.c
  int has_bodies;          // 1: these two belong to q and v
} MotionState;

// What the user sets; stays until it is set again.
typedef struct UserInput {
  TriboMotor* motors;  // (nmotor) with the user's targets; controllers of the scene set theirs in each step
  double* tau;         // (nv) generalized forces [N·m, N]
  double* ctrl;        // (nactuator) controls of the actuators
  double* wrench;  // (nbody × 6) force and torque about the centre of mass, world axes [N, N·m]; cleared after a step
  TriboControlFn* control_fn;  // called at the beginning of each step
  void* control_user;
} UserInput;

// Forces that depend on the state.  set by: forces.c at the beginning of a step and of each substep
typedef struct ForceWork {
  const double *q, *v;          // the state at which forces are taken, set by: tribo_forces_at
  TriboPose* poses;             // (nbody) world poses there; nothing without tendons, actuators and medium
  TriboTwist* twists;           // (nbody) [m/s, rad/s], world axes
  double* tau;                  // (nv) input.tau plus the scene's efforts [N·m, N]
  double* wrench;               // (nbody × 6) input.wrench plus the scene's forces [N, N·m], as input.wrench
  double* actuation;            // (nactuator) forces of the actuators [N, N·m], on demand and in each step
  double* effort;               // (nv) sum of the actuators [N·m, N]
  double* damping;              // (nv) of actuators that drive joints, taken implicitly [N·m·s/rad, N·s/m]
  double* length;               // (ntendon) [m] on demand
  TriboBound* bounds;           // (nbound) limits of tendons
  double* bound_jac;            // (nbound × nv) change of a tendon's length with v [m/rad, 1]
  double* gravity_comp_wrench;  // (nbody × 6) gravity compensation that joint actuators provide [N, N·m]
  double* gravity_comp_tau;     // (nv) the same, as efforts [N·m, N]
} ForceWork;

// The solvers of the islands, and how much a solve may cost.  set by: solve_islands.c
typedef struct SolveWork {
  TriboSolver** solvers;  // (nsolver) one per worker
  int nsolver;
  int is_auto;                   // 1: by the solver `auto`, which relaxes contradictions and reads old impulses
  int is_exact;                  // 1: the solvers may not end early, nor relax rows, set by: tribo_data_solve_exactly
  int most_relaxed;              // cone of the row that was relaxed most, −1: none, set by: tribo_data_solve
  double most_effort;            // floating-point operations that the last solve was allowed, set by: tribo_data_solve
  int closures_known;            // 1: closures have their impulses before the solve, set by: find_impulses
  TriboSolver* velocity_solver;  // projects velocities onto closures; NULL without any
  Islands islands;
} SolveWork;

// The contacts of a step, in the world [m].  set by: contacts.c
typedef struct ContactWork {
  const TriboContact* list;  // (count) as detected, or `redetected`
  int count;
  TriboContactLaw* laws;    // (count) friction, restitution, softness
  TriboContactName* known;  // (nknown) those of the last step
  int nknown;
  TriboContact* redetected;  // with those that only the impulses of the step bring about
  TriboContact* merged;      // scratch of `redetected`
  TriboTwist* twists;        // (nbody) velocities with the impulses found so far [m/s, rad/s]
  TriboPose* poses;          // (nbody) scratch
} ContactWork;

// The problem of the last step and its answer.  set by: step.c, certificate.c
typedef struct StepResult {
  TriboProblem problem;      // J, M⁻¹, g, R and cones of the whole scene
  const TriboRowInfo* rows;  // (ncone) what each cone stands for
  double *lambda, *sigma;    // (nrow) impulses [N·s] and velocities [m/s] of the whole problem
  double* closure_lambda;    // (rows of the closures) impulses of the velocity projection
  double* closure_force;     // (nclosure × 6) of the last step [N, N·m]
  double* closure_wrench;    // (nbody × 6) impulses of closures, about the centres of mass [N·s, N·m·s]
  double* residual_work;     // scratch of the residuals
  TriboContactView* views;   // (nview) the contacts with their forces, as the user sees them
  int nview;
  TriboStepInfo info;
  // the contact that was named last as the worst, and how: often it is the worst one again
  int worst_a, worst_b;
  uint32_t worst_feature;
  char worst_name[sizeof((TriboStepInfo*)0)->worst];
} StepResult;

// A body of the balance.
typedef struct BalanceBody {
  int body;           // whose frame it moves with
  double mass;        // [kg]
  double com[3];      // in that frame [m]
  double inertia[9];  // about it [kg·m²]
} BalanceBody;

// A block of the balance. Blocks that closures tie come one after the other: they are judged as one.
typedef struct BalanceBlock {
  int block;         // as the dynamics numbers it
  int tree;          // −1: a free body
  int first, count;  // its bodies
  int q_at, nq, v_at, nv;
  int tie;        // blocks that closures tie share it, −1: none does
  int root;       // body of the joint that lets it float, −1: it stands on something
  int root_v;     // where the velocities of that joint are, in v
  int is_closed;  // 1: it, and all that closures tie it to, floats: momentum must balance
} BalanceBlock;

// A motion is divided down to parts of dt/2^TRIBO_PACE_MAX.
enum { TRIBO_PACE_MAX = 8 };

// The balance of energy and momentum: balance.c.
typedef struct BalanceWork {
  BalanceBody* bodies;   // (nbody)
  BalanceBlock* blocks;  // (nblock)
  int nbody, nblock;
  TriboPose* poses;                   // (nbody of the model) at the end of the step
  TriboTwist* twists;                 // (nbody of the model)
  double* impulse;                    // (nv) of all rows [N·s, N·m·s]
  double* mean;                       // (nv) velocity that an impulse works at: mean of those before and after it
  double* delta;                      // (nv) from the start to the end of the step, in the tangent
  double* force;                      // (nv) of joints: scratch
  double* size;                       // (nblock) Σ of the sizes of impulses on each, which may cancel [N·s, N·m·s]
  double* tied;                       // (nblock, as the dynamics numbers them) work of ties on each [J]
  double* fitted;                     // (nblock, likewise) of ties on velocities that do not fit them at the start [J]
  double scale;                       // kinetic energy of late, at least that of a step's fall [J]  state
  double total;                       // sum of all balances since the start [J]  state
  double part_kinetic;                // kinetic energy in the part of the step that was taken last [J]
  double next_scale;                  // `scale` at the end of the step
  int pace;                           // steps begin with parts of dt/2^pace  state
  int steps_at_pace;                  // steps since the pace has changed  state
  int next_pace, next_steps_at_pace;  // at the end of the step
  int is_too_fast;                    // 1: the energy of a mechanism in flight did not balance in the part taken last
} BalanceWork;

// How a block may be moved where it overlaps others.
typedef enum OverlapFreedom { OVERLAP_STAYS, OVERLAP_MOVES_AS_WHOLE, OVERLAP_MOVES } OverlapFreedom;

typedef struct OverlapBlock {
  OverlapFreedom freedom;
  int v_at, nv;
  int root;      // of a tree that floats: where in its velocities those of the joint are that lets it; −1
  int is_moved;  // 1: it was, in this step
} OverlapBlock;

typedef struct OverlapRow {
  int cone;
  int is_inside;    // 1: between links of one tree, or a limit: a motion as a whole does not change it
  double need;      // least displacement along the normal [m]
  double mu;        // push so far [kg·m]
  double diagonal;  // J M⁻¹Jᵀ [1/kg]
  size_t moved_at;  // M⁻¹Jᵀ in `moved`, block after block
} OverlapRow;

// The displacement that undoes overlaps: overlaps.c.
typedef struct OverlapWork {
  OverlapBlock* blocks;  // (nblock) as the dynamics numbers them
  OverlapRow* rows;
  double* moved;
  double* delta;  // (nv) displacement in the tangent
  double* last;   // (nv) the same before the last sweep
  double* q;      // (nq) before it
} OverlapWork;

// Where the time of a step goes.
typedef struct StageTimes {
  TriboTickRate tick_rate;             // how long a tick is, as the steps before have seen it
  double fraction[TRIBO_STAGE_COUNT];  // of the last step whose stages were measured
  int steps_until_measured;            // so many steps go by before the next one is
} StageTimes;

// What controllers of tasks know of the last step, in the rows of this one.  set by: task_step.c
typedef struct TaskWarm {
  double *lambda, *sigma;  // (nrow) [N·s], [m/s]
  unsigned char* known;    // (ncone)
} TaskWarm;

// The last call of inverse dynamics; its problem takes the place of the last step's.  set by: data_inverse.c
typedef struct InverseWork {
  unsigned char* has_drive;      // (nv) 1: a drive may act there
  double *tau, *effort_missing;  // (nv) [N·m, N] of the drives; of what has none
  double *v, *y;                 // (nv) scratch
  double* opening;               // (6 × nclosure) [m, rad]
  double* lambda;                // (rows of the reduced problem) [N·s, N·m·s]
} InverseWork;

// What the last step did, for events and sensors.  set by: events.c
typedef struct EventWork {
  int has_before;              // 1: next.q, next.v hold the state before the last step
  Touch *touch, *touch_spare;  // (ntouch) pairs of the step; scratch
  int ntouch;
  TriboContactEvent* list;  // (count) what began and what ended
  int count;
  double* contact_wrench;  // (nbody × 6) impulses of the contacts, about the centres of mass [N·s, N·m·s]
  double* applied;         // (nbody × 6) of all other forces but gravity and those in joints [N·s, N·m·s]
} EventWork;

// Bodies that sleep, see sleep.c.
typedef struct SleepWork {
  unsigned char* asleep;          // (nbody) state
  unsigned char* asleep_in_step;  // (nbody) the same within a step, as far as nobody has been woken
  int nasleep, nasleep_in_step;   // nasleep_in_step: 0 between steps
  int has_woken;                  // 1: somebody was woken, so that a substep has to begin again
  int* rest_steps;                // (nbody) for how many steps it has been slow: state
  double* force;                  // (nbody × 12) what acts on a sleeper besides gravity and contacts [N, N·m]: state
  unsigned char* is_slow;         // (nbody) scratch, by island
} SleepWork;

// Views of the current state, computed on demand.  set by: data.c
typedef struct Kinematics {
  int is_current;                                    // 1: the arrays below belong to the current state
  TriboPose* poses;                                  // (nbody) as dynamics moves them
  TriboTwist* twists;                                // (nbody) [m/s, rad/s], world axes
  double *position, *quaternion, *velocity, *omega;  // (nbody × 3 or 4) the user's body frames in the world
} Kinematics;

struct TriboData {
  const TriboModel* model;  // that it was made for

  // state
  double time;  // [s]
  uint64_t steps;
  double warm_dt;              // [s] step that the impulses of `now.warm` belong to
  double *act, *act_next;      // (nactuator) activations, now and at the end of the step
  MotionState now, next, mid;  // current; written by a step; start of the next substep
  unsigned char* absent;       // (nbody) 1: taken out; such a body keeps its place, weightless, and touches nothing
  int nabsent;

  UserInput input;
  TriboDynData* dynamics;   // masses, rows, work arrays of dynamics
  TriboColData* collision;  // boxes, pairs, contacts of collision
  TaskWork tasks;           // of controllers with the law task
  TaskWarm task_warm;
  ForceWork forces;
  ControlWork control;  // efforts of the scene's controllers
  ContactWork contacts;
  SolveWork solve;
  StepResult result;
  BalanceWork balance;
  OverlapWork overlaps;
  StageTimes stages;
  InverseWork inverse;
  EventWork events;
  SleepWork sleep;
  Kinematics view;

  NamedState* named;  // (nnamed) snapshots
  int nnamed;
};

// islands.c
TriboStatus tribo_islands_build(Islands* islands, const TriboProblem* problem);
// The same problem with another g: it is copied again, and the last answers become the start of the next solve.
void tribo_islands_again(Islands* islands, const TriboProblem* problem, int only_g);
TriboProblem tribo_islands_problem(const Islands* islands, const TriboProblem* whole, int island);
void tribo_islands_scatter(const Islands* islands, const TriboProblem* whole, double* lambda);
void tribo_islands_free(Islands* islands);

// warm_start.c: the memory of the last step, matched to the rows of this one and into island order; and its renewal.
void tribo_warm_match(TriboData* data, const StepStart* start);
TriboStatus tribo_warm_renew(const TriboModel* model, TriboData* data, const StepStart* start);
// The same of a step that has to be solved again, before its constraints change.
TriboStatus tribo_warm_between(const TriboModel* model, TriboData* data, const StepStart* start);

// step.c: the forces of a step, without those of actuators unless drives is set; and what dynamics has to know.
TriboStatus tribo_data_collect_forces(const TriboModel* model, TriboData* data, const StepStart* start, int drives);
TriboStepOptions tribo_data_options(const TriboWorldDef* world, const TriboData* data, double h);

// policy.c: what is tried again, and when that ends. The deadline of a step that begins now; whether a part may be
// solved once more, with more contacts or to shut closures; whether one is to be tried in halves, after what the step
// has spent so far; whether it is the motion that is not certified; the length of the parts that the next step begins
// with.
double tribo_policy_deadline(const TriboWorldDef* world);
int tribo_policy_may_redetect(const TriboData* data, const StepStart* start, const TriboStepInfo* part);
int tribo_policy_may_close_again(const TriboData* data, const StepStart* start, const TriboStepInfo* part);
int tribo_policy_may_divide(const TriboData* data, const StepStart* start, const StepDivision* at,
                            const TriboStepInfo* part, const TriboStepInfo* step);
int tribo_policy_is_of_motion(TriboReason reason);
void tribo_policy_choose_pace(BalanceWork* work, int is_too_fast);

// solve_islands.c: all islands of a substep h [s]. deadline [s]: 0 for none. tribo_data_solve_exactly says whether
// nothing but the tolerance counts from here on: no answer up to `accept`, no relaxed rows.
TriboStatus tribo_data_solve_exactly(TriboData* data, int exactly);
TriboStatus tribo_data_solve(TriboData* data, double h, double deadline, TriboStepInfo* info);

// balance_bodies.c: what the model fixes; the bodies and energies of a state, q and v being its own.
TriboStatus tribo_balance_prepare(const TriboModel* model, TriboData* data);
TriboStatus tribo_balance_evaluate(const TriboModel* model, TriboData* data, const double* q, const double* v,
                                   MotionState* state);
// balance.c: the balance of a step or a part of one, after advance: energy and momentum that its forces and impulses do
// not explain. info->reason says which of them is beyond what the scheme's order allows.
TriboStatus tribo_balance_part(const TriboModel* model, TriboData* data, const StepStart* start,
                               const TriboStepOptions* options, TriboStepInfo* info);

// energy_ledger.c: a part's ledger after a step, or a part of one, of so many dt; returns whether it has gained too
// much. And all ledgers of a state that somebody has set.
int tribo_ledger_add(const EnergyLedger* from, double steps, const EnergyLedger* step, EnergyLedger* to);
void tribo_ledgers_begin(const TriboModel* model, MotionState* state);

// overlaps.c: who may be moved, after the balance was prepared; whether a contact's overlap is undone in positions; and
// that, after a step or a part of one.
TriboStatus tribo_overlaps_prepare(const TriboModel* model, TriboData* data);
int tribo_overlaps_are_undone(const TriboModel* model, const TriboData* data, const TriboContact* contact);
TriboStatus tribo_overlaps_undo(const TriboModel* model, TriboData* data, const TriboStepOptions* options,
                                TriboStepInfo* info);

// certificate.c: what a step was like. Residuals of the whole from raw data, and whether they certify it; the contacts.
TriboStatus tribo_data_certify(const TriboModel* model, TriboData* data, TriboStepInfo* info);
TriboStatus tribo_data_publish(TriboData* data, double h);
// One contact with its impulses, of no island.
void tribo_contact_view(const TriboContact* contact, const TriboRowInfo* row, const TriboCone* cone,
                        const double* lambda, double h, TriboContactView* view);

// contacts.c: the contacts of a step with their laws, with the tick from which on their time counts (0: nobody asks)
// and, afterwards, the next stage's; and those that the impulses found so far bring about: *more says
// whether there are any, so that the step has to be solved once more.
// Contacts within a distance that may be wider than the scene's margin.
TriboStatus tribo_data_detect_within(const TriboModel* model, TriboData* data, const StepStart* start, double horizon);
// task_step.c: efforts of controllers of tasks, before the step; and how they fare, after it.
TriboStatus tribo_data_control_tasks(const TriboModel* model, TriboData* data, const StepStart* start,
                                     const TriboStepOptions* options);
TriboStatus tribo_data_measure_tasks(const TriboModel* model, TriboData* data, const StepStart* start);
TriboStatus tribo_data_detect(const TriboModel* model, TriboData* data, const StepStart* start, TriboStepInfo* info,
                              uint64_t* t0);
TriboStatus tribo_data_redetect(const TriboModel* model, TriboData* data, const StepStart* start,
                                const TriboStepOptions* options, TriboStepInfo* info, uint64_t* t0, int* more);

// How round the surfaces of a contact are, those of a collision world: for the dynamics (TriboRoundness).
void tribo_contact_roundness(const void* surfaces, const TriboContact* contact, const TriboPose* poses, double a[9],
                             double b[9]);

// After a detection along a target motion: the points that pairs left out and that touch at its end; *added of them.
TriboStatus tribo_data_touching(const TriboModel* model, TriboData* data, double h, int* added);
// sleep.c. At the beginning of a step the sleeping bodies are those of the step before. Forces of a substep wake some
// and leave the others without weight, contacts may wake more (data->sleep.has_woken); at the end it is decided who
// sleeps from now on. is_frozen: a warm entry between sleeping bodies stays as it is. Outside of a step: wakes a body
// and all bodies that rest on it.
void tribo_sleep_begin(TriboData* data);
void tribo_sleep_wake_by_force(const TriboModel* model, TriboData* data, const StepStart* start);
void tribo_sleep_wake_by_contact(const TriboModel* model, TriboData* data, const StepStart* start,
                                 const TriboContact* contacts, int count);
int tribo_sleep_is_frozen(const TriboModel* model, const TriboData* data, const WarmEntry* entry);
void tribo_sleep_end(const TriboModel* model, TriboData* data);
void tribo_sleep_wake(const TriboModel* model, TriboData* data, int body);
void tribo_sleep_wake_all(const TriboModel* model, TriboData* data);

// data.c: What motors, controllers and actuators gave a joint in the last step.
double tribo_data_effort(const TriboModel* model, const TriboData* data, int joint);

// events.c: called by the step before its first substep, after each substep that is used (of length h), and at the end.
void tribo_events_begin(TriboData* data);
TriboStatus tribo_events_part(const TriboModel* model, TriboData* data, double h);
TriboStatus tribo_events_finish(const TriboModel* model, TriboData* data);

// data.c
TriboStatus tribo_data_kinematics(const TriboModel* model, TriboData* data);
// state.c: as after a reset, but in a state of the scene
void tribo_data_begin(const TriboModel* model, TriboData* data, const ModelState* state);

// Whether the data belongs to the model, in the name of a public call.
static inline TriboStatus tribo_data_check(const TriboModel* model, const TriboData* data, const char* who) {
  if (model == NULL || data == NULL || data->model != model) {
    return tribo_fail(TRIBO_INVALID, "%s: the data was not made for this model", who);
  }
  return TRIBO_OK;
}
