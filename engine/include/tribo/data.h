// Tribo, public: the data, all that changes, and the step that changes it.
//
// Ownership. A data belongs to whoever created it, until tribo_data_destroy (NULL is allowed), which comes before its
// model's end. It is used with the model that it was made for: any other is refused. What is passed in is copied; what
// is passed out as a pointer belongs to the data.
//
// Threads. A data is used by one thread at a time; only calls that take a const TriboData may run beside each other,
// the others compute on demand. Different data of one model may be used by different threads. Within a step the
// library uses the world's `threads` by itself.
//
// Units are SI and frames the world's where a field does not say another.
#pragma once

#include <tribo/model.h>
#include <tribo/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TriboData TriboData;
// *out is NULL after a failure.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_create(const TriboModel* model, TriboData** out);
TRIBO_API void tribo_data_destroy(TriboData* data);
// Back to the scene's initial state and inputs; memory, snapshots and the control function stay.
TRIBO_API void tribo_data_reset(const TriboModel* model, TriboData* data);

// The stages of a step, in order.
#define TRIBO_STAGES(X)                                          \
  X(DYNAMICS, "dynamics", "poses, mass matrices, free velocity") \
  X(BROAD, "broad", "which shapes may touch")                    \
  X(NARROW, "narrow", "where they do")                           \
  X(ROWS, "rows", "Jacobians, bias, cones")                      \
  X(ISLANDS, "islands", "independent groups, warm start")        \
  X(SOLVE, "solve", "the contact problem")                       \
  X(ADVANCE, "advance", "the next state")                        \
  X(LOOPS, "loops", "closures shut in the next state")           \
  X(CERTIFY, "certify", "residuals from raw data, what is told")
typedef enum TriboStage {
#define X(id, name, doc) TRIBO_STAGE_##id,
  TRIBO_STAGES(X)
#undef X
      TRIBO_STAGE_COUNT
} TriboStage;
TRIBO_API const char* tribo_stage_name(TriboStage stage);

// Why a step is not certified: X(id, word, doc). docs/certificate.md says what each means.
#define TRIBO_REASONS(X)                                                                    \
  X(NONE, "none", "it is certified")                                                        \
  X(LAW, "contact law", "the impulses miss the law of contact by more than the tolerance")  \
  X(LOOPS, "loops open", "closures are not shut at the end")                                \
  X(ENERGY, "energy", "energy was gained that nothing explains, beyond the scheme's order") \
  X(MOMENTUM, "momentum", "momentum changed by more than what acts from outside")           \
  X(DIVERGENCE, "divergence", "the motion turns too far in one step to be resolved")        \
  X(CONTRADICTION, "contradiction", "rows contradict each other: they were relaxed by more than 1e-7 m or rad")
typedef enum TriboReason {
#define X(id, word, doc) TRIBO_REASON_##id,
  TRIBO_REASONS(X)
#undef X
      TRIBO_REASON_COUNT
} TriboReason;
TRIBO_API const char* tribo_reason_word(TriboReason reason);

// How exactly a step keeps the law of contact, by its natural-map residual: X(id, word, doc)
#define TRIBO_LEVELS(X)                                                                \
  X(EXACT, "exact", "up to the world's tol, 1e-10 m/s, or what rounding leaves of it") \
  X(FINE, "fine", "up to 1e-8 m/s")                                                    \
  X(HELD, "held", "up to the world's accept, 1e-6 m/s: a micrometre per second")       \
  X(OPEN, "open", "beyond it: not certified")
typedef enum TriboLevel {
#define X(id, word, doc) TRIBO_LEVEL_##id,
  TRIBO_LEVELS(X)
#undef X
      TRIBO_LEVEL_COUNT
} TriboLevel;
TRIBO_API const char* tribo_level_word(TriboLevel level);

typedef struct TriboStepInfo {
  TriboOutcome outcome;  // worst over the islands
  TriboLevel level;      // how exactly the law of contact holds
  int certified;       // the level is not open, the state is finite, closures are shut (1e-9, not Euler's), energy and
                       // momentum balance as far as the scheme's order says
  TriboReason reason;  // why it is not
  TriboResiduals residual;  // of the whole step, recomputed from raw data
  double penetration;       // deepest overlap or limit violation of the state the step began with [m, rad]
  double opening;           // of the widest open closure at the end of the step [m, rad]
  double balance;           // energy gained that no force, impulse or spring explains; negative: lost [J]
  double balance_relative;  // the same over the largest kinetic energy of late
  double momentum_error;    // momentum that nothing from outside explains, over that of the parts: of bodies and trees
                            // that float, the worst
  double push_out_work;     // of overlap undone, in positions or by velocities, and rebounds' share of it [J]
  int passes;               // solves that the closures needed, 1 without any
  int substeps;      // 1: the step was taken in one; more: it had to be divided, what follows is the worst of all
  int redetections;  // re-detections: it was solved again because its impulses brought new contacts about
  int contacts, rows, islands, pairs;  // how many; pairs: of shapes that may touch
  int asleep;                          // bodies that were left out because they rest
  int iterations, factorisations;      // summed over the islands
  double effort;                       // floating-point operations of the solver, summed over the islands
  int relaxed;        // islands whose rows contradict each other: solved with the least relaxation that has an answer
  double relaxation;  // largest change of a gap or an angle by it [m, rad]
  unsigned rungs;     // bit per TriboRung that gave an island its answer
  double stage[TRIBO_STAGE_COUNT];  // wall time [s]; of short steps every eighth is measured
  double time;                      // of the whole step [s]
  uint64_t growths;                 // buffers that had to grow in this step
  char worst[96];                   // name of the constraint with the largest residual, "" without any
} TriboStepInfo;

// One step of the model's dt. On failure the state is as it was. info may be NULL.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_step(const TriboModel* model, TriboData* data, TriboStepInfo* info);

TRIBO_API double tribo_data_time(const TriboData* data);
TRIBO_API uint64_t tribo_data_hash(const TriboModel* model, const TriboData* data);  // of q, v and time

typedef enum TriboField {
  TRIBO_FIELD_Q,           // (nq) [m, rad, quaternions]
  TRIBO_FIELD_V,           // (nv) [m/s, rad/s]
  TRIBO_FIELD_TAU,         // (nv) generalized forces applied at each step [N, N·m], set by tribo_data_set_tau
  TRIBO_FIELD_POSITION,    // (nbody × 3) of the body frames, world [m]
  TRIBO_FIELD_QUATERNION,  // (nbody × 4) body → world (x, y, z, w)
  TRIBO_FIELD_VELOCITY,    // (nbody × 3) of the centres of mass, world axes [m/s]
  TRIBO_FIELD_OMEGA,       // (nbody × 3) angular, world axes [rad/s]
  TRIBO_FIELD_CTRL,        // (nactuator) controls, set by tribo_data_set_ctrl
  TRIBO_FIELD_ACT,         // (nactuator) activations, 0 where the control acts at once
  TRIBO_FIELD_ACTUATION,   // (nactuator) forces of the actuators at this state, before the gear [N, N·m]
  TRIBO_FIELD_TENDON,      // (ntendon) lengths at this state [m, rad]
} TriboField;
typedef struct TriboView {
  const double* values;
  int count;
} TriboView;
// The values belong to the data and are valid until its next step, reset or restore, or until what they show is set.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_view(const TriboModel* model, TriboData* data, TriboField field,
                                                      TriboView* view);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_state(const TriboModel* model, TriboData* data, const double* q,
                                                           const double* v);
// Moves the clock, by which the scene's forces are scheduled, to the step nearest to this time.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_time(const TriboModel* model, TriboData* data, double time);
// Where a motor is to be and how fast; stays until it is changed. Motors are numbered as they were added.
// All controllers of tasks reckon with contacts so, instead of as the scene says; COUNT: as the scene says. Stays until
// it is called again, also after a reset.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_task_contacts(const TriboModel* model, TriboData* data,
                                                                   TriboTaskContacts contacts);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_motor(const TriboModel* model, TriboData* data, int motor,
                                                           double target, double velocity);
// A control; stays until it is changed.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_ctrl(const TriboModel* model, TriboData* data, int actuator,
                                                          double ctrl);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_act(const TriboModel* model, TriboData* data, int actuator,
                                                         double act);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_tau(const TriboModel* model, TriboData* data, const double* tau);
// A force [N] and a torque [N·m] about the centre of mass, world axes, added to the next step only.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_apply_wrench(const TriboModel* model, TriboData* data, int body,
                                                              const double force[3], const double torque[3]);

// Called at the beginning of every step, to look at the state and set inputs (tau, wrenches, motors, controls). A
// status other than OK is the step's, and nothing has happened. It stays over resets; fn NULL ends it. `user` is passed
// on and stays the caller's; the call comes from the thread that steps.
typedef TriboStatus TriboControlFn(const TriboModel* model, TriboData* data, void* user);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_control(const TriboModel* model, TriboData* data,
                                                             TriboControlFn* fn, void* user);
// A force [N] at a point [m], both in the world, added to the next step only.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_apply_force(const TriboModel* model, TriboData* data, int body,
                                                             const double force[3], const double point[3]);
// Puts a free body elsewhere, at the velocities given (of its centre of mass, and angular; NULL: at rest).
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_teleport(const TriboModel* model, TriboData* data, int body,
                                                          const double position[3], const double quaternion[4],
                                                          const double velocity[3], const double omega[3]);

// Bodies come and go between steps: a free body that is removed keeps its id and its place, weighs nothing and touches
// nothing until it is added again, somewhere. A scene holds as many spare bodies as it will ever need.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_remove_body(const TriboModel* model, TriboData* data, int body);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_add_body(const TriboModel* model, TriboData* data, int body,
                                                          const double position[3], const double quaternion[4],
                                                          const double velocity[3], const double omega[3]);

// With the world's `sleep`, free bodies at rest fall asleep: their state stays as it is, and until they wake they take
// no part in contacts, so that those among them show no force. Contact with a body that is awake, a force that changes,
// and the calls above wake a body together with all it leans on or carries; so does this one.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_wake(const TriboModel* model, TriboData* data, int body);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_asleep(const TriboModel* model, const TriboData* data, int body,
                                                        int* asleep);

// ---- state ---------------------------------------------------------------------------------------------------------

// Everything a simulation needs to go on with the same bits: time, q, v and the warm start. A state is a copy: it
// belongs to whoever created it, and outlives data and model. One thread writes to it at a time.
typedef struct TriboState TriboState;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_state_create(TriboState** out);
TRIBO_API void tribo_state_destroy(TriboState* state);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_state_save(const TriboModel* model, const TriboData* data,
                                                       TriboState* state);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_state_restore(const TriboModel* model, TriboData* data,
                                                          const TriboState* state);
// The present state under a name, kept in the data until its end. An old one of the same name is replaced. States of
// the scene are restored by their names too, with their controls, and everything else as after a reset.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_snapshot(const TriboModel* model, TriboData* data, const char* name);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_restore_snapshot(const TriboModel* model, TriboData* data,
                                                                  const char* name);
// Files carry a version and the model's fingerprint, and are refused where they do not fit.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_state_write(const TriboState* state, const char* path);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_state_read(const char* path, TriboState* state);

#ifdef __cplusplus
}
#endif
