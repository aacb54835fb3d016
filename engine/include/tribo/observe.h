// Tribo, public: what a simulation shows. Contacts, events, frames, sensors, energy; quantities by name, recorders and
// expectations.
//
// Ownership. Arrays that a call returns belong to the data and are valid until its next step, reset, restore or
// inverse dynamics; structs and numbers are copied to the caller. Recorders and sets of expectations (TriboJudge)
// belong to whoever created them and need their model until they are closed or destroyed.
//
// Threads. As for a data: one thread at a time for a data and all that observes it; calls that take a const TriboData
// may run beside each other. The list of quantities belongs to the library, lasts for ever and is for everybody.
//
// Units are SI and frames the world's where a field does not say another.
#pragma once

#include <tribo/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of the contact law: no impulse; inside the friction cone; on its boundary.
typedef enum TriboContactMode { TRIBO_CONTACT_OPEN, TRIBO_CONTACT_STICK, TRIBO_CONTACT_SLIDE } TriboContactMode;
typedef struct TriboContactView {
  int body_a, body_b, shape_a, shape_b;
  double point[3], normal[3];  // world [m]; unit, from a to b
  double gap;                  // [m]
  double force[3];             // on b, world axes [N]
  double friction;             // μ of the pair
  TriboContactMode mode;
  int island;  // as tribo_data_island; −1: none
} TriboContactView;
// The contacts of the last step, or of inverse dynamics after it.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_contacts(const TriboModel* model, const TriboData* data,
                                                          const TriboContactView** contacts, int* count);

// What two shapes did to each other in the last step. A pair that touched at its end and does so still has neither
// began nor ended; one that touched only within the step has both.
typedef struct TriboContactEvent {
  int body_a, body_b, shape_a, shape_b;
  int began;          // 1: they did not touch at the end of the step before
  int ended;          // 1: they do not touch at the end of this one
  double impulse[3];  // on b, over the whole step, world axes [N·s]
  double pressure;    // of it, along the normals of the contacts [N·s]
  double point[3];    // the middle of their contacts, weighted by pressure, world [m]; 0 when there was none
} TriboContactEvent;
// Sorted by shapes. None after a reset, a restore or a step that failed.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_events(const TriboModel* model, const TriboData* data,
                                                        const TriboContactEvent** events, int* count);
// The mean force of all contacts on a body in the last step [N], and their torque about its centre of mass [N·m], world
// axes.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_contact_wrench(const TriboModel* model, const TriboData* data,
                                                                int body, double force[3], double torque[3]);

// The group of coupled constraints a body was in in the last step; −1: nothing touched it.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_island(const TriboModel* model, const TriboData* data, int body,
                                                        int* island);
// Residuals iteration by iteration of the steps to come, as tribo_solver_set_history: island by island in each step,
// and from any worker thread, so that fn must bear calls from several at once. It costs an evaluation per iteration; fn
// NULL ends it.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_set_history(const TriboModel* model, TriboData* data,
                                                             TriboSolverHistoryFn* fn, void* user);

// What a closure carried in the last step, by row (TriboClosureInfo.rows of 6): forces along its axes, then torques
// [N, N·m], of body_a on body_b. Of closures that are joints, all six of the axes x, y, z of the closure, as they turn
// with the body that was cut, with what drives it. Where rows depend on others, the least that does the same.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_closure_force(const TriboModel* model, TriboData* data, int closure,
                                                               const double** force);

// ---- sensors. A mount is a point and an orientation in the frame of a body.

typedef struct TriboFrame {
  double position[3], quaternion[4];  // of the mount, in the world [m]
  double velocity[3], omega[3];       // of its point, world axes [m/s, rad/s]
} TriboFrame;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_frame(const TriboModel* model, TriboData* data, int body,
                                                       const double point[3], const double quaternion[4],
                                                       TriboFrame* out);
typedef struct TriboImu {
  double accelerometer[3];  // acceleration minus gravity, mean over the last step, axes of the mount [m/s²]
  double gyroscope[3];      // angular velocity, axes of the mount [rad/s]
} TriboImu;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_imu(const TriboModel* model, TriboData* data, int body,
                                                     const double point[3], const double quaternion[4], TriboImu* out);
// What the parent's side of a joint exerts on the child's at the joint's anchor: mean over the last step, world axes,
// with what drives the joint in it, without the inertia of its rotor. Closures act on the bodies they tie; where some
// of their rows depend on others, they carry the least impulses that do the same, in the metric of the mobility.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_joint_wrench(const TriboModel* model, TriboData* data, int joint,
                                                              double force[3], double torque[3]);
// How hard others press on a shape: the sum of the normal forces, mean over the last step [N].
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_touch(const TriboModel* model, const TriboData* data, int shape,
                                                       double* force);

// A sensor of the scene. Those that read means over a step read 0 before the first.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_sensor(const TriboModel* model, TriboData* data, int sensor,
                                                        double reading[4]);

// The contact problem of the last step, as the solvers saw it before it was split into islands; it points into the data
// and is valid until the next step. A data that has not stepped has none: nrow is 0.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_problem(const TriboModel* model, const TriboData* data,
                                                         TriboProblem* out);

typedef struct TriboMechanics {
  double kinetic, potential;       // [J]
  double momentum[3], angular[3];  // world axes [N·s]; about the world's origin [N·m·s]
  double com[3], mass;             // of all bodies, world [m]; [kg]
} TriboMechanics;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_mechanics(const TriboModel* model, TriboData* data,
                                                           TriboMechanics* out);

// The terms of M(q) v̇ + b(q, v) = passive + actuation + …  at the present state, without constraints.
// Each may be NULL; the arrays are the caller's, and are filled.
typedef struct TriboTerms {
  double* mass;       // (nv × nv) armature included [kg, kg·m, kg·m²]
  double* bias;       // (nv) Coriolis, centrifugal and gravity forces [N, N·m]
  double* passive;    // (nv) springs, dampers, tendons, drag
  double* actuation;  // (nv) of the actuators; motors are constraints
} TriboTerms;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_data_terms(const TriboModel* model, TriboData* data, const TriboTerms* out);

// ---- quantities, recorders, expectations ---------------------------------------------------------------------------

typedef struct TriboQuantityInfo {
  const char* name;  // "position.z"
  const char* of;    // "world", "body", "joint", "closure" or "sensor"
  const char* unit;
  const char* doc;
} TriboQuantityInfo;
TRIBO_API const TriboQuantityInfo* tribo_quantity_list(int* count);
typedef struct TriboQuantity {
  int kind, id;  // filled by tribo_quantity_find; means something to its model only
} TriboQuantity;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_quantity_find(const TriboModel* model, const char* name, const char* of,
                                                          TriboQuantity* out);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_quantity_value(const TriboModel* model, TriboData* data, TriboQuantity what,
                                                           double* value);

// A recorder copies its def. It looks at a data, which it does not keep.
typedef struct TriboRecorder TriboRecorder;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_recorder_open(const TriboModel* model, const TriboRecordDef* def,
                                                          TriboRecorder** out);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_recorder_observe(TriboRecorder* recorder, TriboData* data);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_recorder_close(TriboRecorder* recorder);  // flushes; also frees on failure
// For other formats: a recorder without a file only knows its columns. The first one is t.
TRIBO_API int tribo_recorder_size(const TriboRecorder* recorder);
TRIBO_API const char* tribo_recorder_column(const TriboRecorder* recorder, int index);  // NULL: no such column
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_recorder_row(TriboRecorder* recorder, TriboData* data, double* row);

// The expectations of a scene, and how far they hold.
typedef struct TriboJudge TriboJudge;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_judge_create(const TriboModel* model, TriboJudge** out);
TRIBO_API void tribo_judge_destroy(TriboJudge* judge);
// To be called with the initial state and after every step.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_judge_observe(TriboJudge* judge, TriboData* data);
typedef struct TriboVerdict {
  char quantity[160];  // "cube4: speed, max over [1, 5] s"
  char expected[96];   // "≤ 1e-08"
  double measured;     // the value furthest from what is expected
  double error;        // how far it is from the expected value, or outside the bounds
  double tolerance;    // all three in the unit of the quantity
  int held;            // 1: as expected
} TriboVerdict;
TRIBO_API int tribo_judge_count(const TriboJudge* judge);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_judge_verdict(const TriboJudge* judge, int index, TriboVerdict* out);

#ifdef __cplusplus
}
#endif
