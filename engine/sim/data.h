// Everything that changes during a simulation.
#pragma once

#include "controllers.h"
#include "model.h"
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
  char* slab;    // all arrays below, in one piece of memory that only grows
  int sizes[4];  // what they are laid out for: blocks, cones (0: not yet), rows, terms
  size_t slab_capacity;
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
  TriboCone* cones;      // (ncone) rows counted from the island's first
  unsigned char* known;  // (ncone)
  int* term_first;       // (ncone + count) each island has one entry more than cones
  int* term_block;       // (nterm)
  size_t* term_at;       // (nterm)
  double *g, *R;         // (nrow)
  double *warm_lambda, *warm_sigma;
  double* lambda;          // (nrow) the answers
  IslandEnd* end;          // (count) how far an island is filled
  TriboSolveStats* stats;  // (count)
  unsigned char* soft;     // (count) 1: solved with compliance, the rigid problem has no answer in reach
  TriboStatus* status;     // (count)
  char (*error)[256];      // (count) why a solve failed: the text of another thread would be lost
} Islands;

// Where a step, or a part of one, sets out from and how far it goes.
typedef struct StepStart {
  double time, h;  // [s]
  int divisible;   // 1: it can still be halved, so that a hard solve is given up early
  const double *q, *v;
  const WarmEntry* warm;
  int nwarm;
  double warm_dt;
  const TriboLoopMemory* loops;  // (nclosure)
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

struct TriboData {
  const TriboModel* model;  // that it was made for

  // state
  double time;
  uint64_t steps;
  double *q, *v;            // (nq), (nv) current
  double *q_next, *v_next;  // spare: written by a step, swapped in when it holds
  WarmEntry* warm;          // (nwarm) of the last step
  WarmEntry* warm_next;
  int nwarm, nwarm_next;
  double warm_dt;  // step the impulses belong to
  size_t warm_capacity, warm_next_capacity;
  TriboLoopMemory *loops, *loops_next, *loops_mid;  // (nclosure) as warm, warm_next and warm_mid
  double *q_mid, *v_mid;                            // where the next part of a divided step sets out from
  WarmEntry* warm_mid;
  size_t warm_mid_capacity;

  // inputs
  TriboMotor* motors;               // (nmotor) with the user's targets
  double* tau;                      // (nv) set by the user, stays
  double* tau_step;                 // (nv) plus the scene's efforts
  const double *drive_q, *drive_v;  // the state at which forces are taken, set by: drive_look
  TriboPose* drive_poses;           // (nbody) there; nothing without tendons, actuators and medium
  TriboTwist* drive_twists;
  double* ctrl;         // (nactuator) set by the user, stays
  double* act;          // (nactuator) activations: state
  double* act_next;     // (nactuator)
  double* actuation;    // (nactuator) forces at the present state, on demand and in each step
  TriboBound* bounds;   // (nbound) set by each step
  double* bound_jac;    // (nbound × nv)
  double* effort;       // (nv) scratch: sum of the actuators
  double* resist;       // (nv) damping in these, of joints that are driven directly
  double* length;       // (ntendon) on demand
  ControlWork control;  // efforts of the scene's controllers
  TriboControlFn* control_fn;
  void* control_user;
  double* wrench;       // (nbody × 6) of the next step; cleared after it
  double* wrench_step;  // (nbody × 6) plus the scene's forces
  double* lift_wrench;  // (nbody × 6) what lifts bodies, where actuators of joints do it
  double* lift_tau;     // (nv) the same, as efforts

  // rooms
  TriboDynData* dynamics;
  TriboColData* collision;
  TriboSolver** solvers;  // (nsolver) one per worker
  int nsolver;
  double most_factorisations;  // of one solve, as the user allows it; 0: the solver knows no such limit
  double solve_h;              // [s] of the part at work, set likewise
  int early;                   // 1: less than that for now, set by: tribo_data_budget
  int alone;                   // 1: closures have their impulses before the solve, set by: find_impulses
  TriboSolver* settler;        // of the last small problem that closures leave; NULL without any
  Islands islands;

  // the last step
  TriboProblem problem;
  const TriboRowInfo* rows;
  const TriboContact* contacts;  // as detected, or `chased`
  int ncontact;
  TriboContactName* loaded;  // (nloaded) those that carried something in the last step
  int nloaded;
  size_t loaded_capacity;
  TriboContact* chased;  // with those that only the impulses of the step bring about
  TriboContact* merged;  // (spare)
  size_t chased_capacity, merged_capacity;
  TriboTwist* driven;     // (nbody) velocities with these impulses
  TriboPose* look;        // (nbody) scratch
  TriboContactLaw* laws;  // (ncontact)
  size_t law_capacity;
  double *lambda, *sigma;  // (nrow) whole problem
  double* settle;          // (rows of the closures)
  double* closure_force;   // (nclosure × 6) of the last step [N, N·m]
  size_t lambda_capacity, sigma_capacity, settle_capacity;
  double* judge_work;  // scratch of the residuals
  size_t judge_capacity;
  TriboContactView* views;  // (nview)
  int nview;
  size_t view_capacity;
  TriboStepInfo info;
  TriboTickRate tick_rate;  // how long a tick is, as the steps before have seen it
  // how the last step whose stages were measured has shared its time out; so many steps go by before the next one is
  double stage_share[TRIBO_STAGE_COUNT];
  int stage_rest;
  // the contact that was named last, and how: often it is the worst one again
  int worst_a, worst_b;
  uint32_t worst_feature;
  char worst_name[sizeof((TriboStepInfo*)0)->worst];

  // the last call of inverse dynamics; its problem takes the place of the last step's
  unsigned char* has_drive;                                                 // (nv)
  double *inverse_tau, *inverse_missing, *inverse_v, *inverse_y, *opening;  // (nv); opening (6 × nclosure)
  double* inverse_lambda;                                                   // (rows of the reduced problem)
  size_t has_drive_capacity, inverse_tau_capacity, inverse_missing_capacity, inverse_v_capacity, inverse_y_capacity,
      opening_capacity, inverse_lambda_capacity;

  // what it did, for events and sensors
  int before_known;  // 1: q_next, v_next hold the state before it
  Touch *touch, *touch_spare;
  int ntouch;
  size_t touch_capacity, touch_spare_capacity;
  TriboContactEvent* events;
  int nevent;
  size_t event_capacity;
  double* contact_wrench;  // (nbody × 6) impulses of the contacts, about the centres of mass
  double* applied;         // (nbody × 6) of all other forces but gravity and those in joints

  // bodies that were taken out: they keep their place, weightless, and touch nothing
  unsigned char* absent;  // (nbody)
  int nabsent;

  // bodies that sleep, see sleep.c
  unsigned char* asleep;  // (nbody) state
  unsigned char* dozing;  // (nbody) the same within a step, as far as nobody has been woken
  int nasleep, ndozing;   // ndozing: 0 between steps
  int woken;              // 1: somebody was, so that a part of a step has to begin again
  int* rest;              // (nbody) for how many steps it has been slow: state
  double* sleep_force;    // (nbody × 12) what acts on a sleeper besides gravity and contacts: state
  unsigned char* calm;    // (nbody) scratch, by island

  // states by name
  NamedState* named;  // (nnamed)
  int nnamed;
  size_t named_capacity;

  // views of the current state, computed on demand
  int kinematics_known;
  TriboPose* poses;  // (nbody) as dynamics moves them
  TriboTwist* twists;
  double *position, *quaternion, *velocity, *omega;  // user's body frames
};

// islands.c
TriboStatus tribo_islands_build(Islands* islands, const TriboProblem* problem);
// The same problem with another g: it is copied again, and the last answers become the start of the next solve.
void tribo_islands_again(Islands* islands, const TriboProblem* problem);
TriboProblem tribo_islands_problem(const Islands* islands, const TriboProblem* whole, int island);
void tribo_islands_scatter(const Islands* islands, const TriboProblem* whole, double* lambda);
void tribo_islands_free(Islands* islands);

// warm.c: the memory of the last step, matched to the rows of this one and into island order; and its renewal.
void tribo_warm_match(TriboData* data, const StepStart* start);
TriboStatus tribo_warm_renew(const TriboModel* model, TriboData* data, const StepStart* start);
// The same of a step that has to be solved again, before its constraints change.
TriboStatus tribo_warm_between(const TriboModel* model, TriboData* data, const StepStart* start);

// Rounding may excuse a residual up to here [m/s]: beyond, impulses are so large that the problem has no proper answer.
#define TRIBO_FLOOR_LIMIT 1e-6

// step.c: the forces of a step, without those of actuators unless drives is set; and what dynamics has to know.
TriboStatus tribo_data_gather(const TriboModel* model, TriboData* data, const StepStart* start, int drives);
TriboStepOptions tribo_data_options(const TriboWorldDef* world, const TriboData* data, double h);

// solve.c: all islands. deadline [s]: 0 for none. tribo_data_budget says how long each may take.
TriboStatus tribo_data_budget(TriboData* data, double h, int divisible);
TriboStatus tribo_data_solve(TriboData* data, double deadline, TriboStepInfo* info);

// report.c: what a step was like. Residuals of the whole from raw data, and whether they certify it; the contacts.
TriboStatus tribo_data_certify(const TriboModel* model, TriboData* data, TriboStepInfo* info);
TriboStatus tribo_data_publish(TriboData* data, double h);
// One contact with its impulses, of no island.
void tribo_contact_view(const TriboContact* contact, const TriboRowInfo* row, const TriboCone* cone,
                        const double* lambda, double h, TriboContactView* view);

// contacts.c: the contacts of a step with their laws, with the tick from which on their time counts (0: nobody asks)
// and, afterwards, the next stage's; and those that the impulses found so far bring about: *more says
// whether there are any, so that the step has to be solved once more.
TriboStatus tribo_data_detect(const TriboModel* model, TriboData* data, const StepStart* start, TriboStepInfo* info,
                              uint64_t* mark);
TriboStatus tribo_data_chase(const TriboModel* model, TriboData* data, const StepStart* start, TriboStepInfo* info,
                             uint64_t* mark, int* more);

// After a detect along a wanted motion: the points that pairs left out and that touch at its end; *added of them.
TriboStatus tribo_data_touching(const TriboModel* model, TriboData* data, double h, int* added);
// sleep.c. A step begins with those who sleep; feels the forces of a part, which wake some and leave the others without
// weight; meets contacts, which may wake more (data->woken); and ends with who sleeps from now on. A warm entry that
// sleepers hold stays as it is. Outside of a step: wakes a body and all that lean on it.
void tribo_sleep_begin(TriboData* data);
void tribo_sleep_feel(const TriboModel* model, TriboData* data, const StepStart* start);
void tribo_sleep_meet(const TriboModel* model, TriboData* data, const StepStart* start, const TriboContact* contacts,
                      int count);
int tribo_sleep_holds(const TriboModel* model, const TriboData* data, const WarmEntry* entry);
void tribo_sleep_end(const TriboModel* model, TriboData* data);
void tribo_sleep_wake(const TriboModel* model, TriboData* data, int body);
void tribo_sleep_wake_all(const TriboModel* model, TriboData* data);

// data.c: What motors, controllers and actuators gave a joint in the last step.
double tribo_data_effort(const TriboModel* model, const TriboData* data, int joint);

// events.c: called by the step before its first part, after each part that is used (of length h), and at the end.
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
