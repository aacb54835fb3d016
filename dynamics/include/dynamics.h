// Dynamics: the motion side of one step. A system is a set of subsystems, each its own block of M: free rigid bodies
// in closed form, articulated trees by kernels of our own, which Pinocchio judges.
//
//   update    q, v, forces ──► poses, M, M⁻¹, free velocity v_f
//   assemble  contacts, limits ──► rows J, bias γ, compliance R, cones: a TriboProblem
//   advance   λ ──► v⁺ = v_f + M⁻¹Jᵀλ, q⁺ on the manifold
//   close     q⁺ ──► how far loops (closures, loop-closing joints) are open; project_velocity: v⁺ onto them
//
// Coordinates. Free body: q = (centre of mass in the world [3], quaternion x y z w of the body frame [4]),
// v = (velocity of the centre of mass in world axes [3], angular velocity in body axes [3]); so M = diag(m, I) is
// constant. Tree: Pinocchio's own q and v. The system's q and v are the free bodies' in order, then the trees'.
// Bodies are indexed likewise: free bodies, then the links of tree 0, tree 1, …
#pragma once

#include <tribo/problem.h>
#include <tribo/types.h>

#include "exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- trees ---------------------------------------------------------------------------------------------------------

const char* tribo_dyn_joint_name(TriboJointKind kind);
// How many coordinates of a joint, the first ones, its limits hold for: all of revolute, prismatic, helical, universal,
// translation, Euler and ellipsoid joints, the way along the axis of a cylindrical one, x and y of a planar one. A
// spherical one has 1, its angle away from the zero configuration, which only an upper limit bounds. None of the
// others.
int tribo_dyn_joint_limits(TriboJointKind kind);

// One link and the joint that carries it.
typedef struct TriboLinkDef {
  const char* name;
  const char* joint_name;  // NULL: the link's name
  int parent;              // index of an earlier link of the tree, −1 for the world
  TriboJointKind kind;
  TriboPose placement;       // joint frame in the parent link's frame at zero configuration; it is the link's frame
  double axis[3], axis2[3];  // in the joint frame, any length but 0; UNIVERSAL: at right angles
  double pitch;              // HELICAL [m/rad]
  double radii[3];           // ELLIPSOID, along the placement's axes; its centre is radii[2] below the origin [m]
  double mass;               // [kg] ≥ 0
  double com[3];             // in the link frame [m]
  double inertia[9];         // about the centre of mass, link axes [kg·m²]
  double armature;           // added to the diagonal of M [kg·m², kg]
  double damping;            // viscous [N·m·s/rad, N·s/m]
  double friction;           // dry [N·m, N]
  double stiffness, rest;    // spring of a joint with one coordinate, and where it is slack [N·m/rad, N/m; rad, m]
  double lower, upper;       // position limits, ±INFINITY: none; see tribo_dyn_joint_limits
  double restitution;        // share of the speed that comes back from a limit, 0 … 1
  TriboSoftness soft;        // of its limits
  double effort;             // bound of the motor [N·m, N]; INFINITY: none
  int file;                  // which of several robot files it comes from
} TriboLinkDef;

// A link at its parent's origin that is welded to it: axes z and x, no mass, no limits. Start from this.
TriboLinkDef tribo_dyn_link_def(void);

typedef struct TriboTree TriboTree;  // const after creation, shareable
// A tree has at most 300 degrees of freedom.
TRIBO_NODISCARD TriboStatus tribo_dyn_tree_build(const TriboLinkDef* links, int nlink, TriboTree** out);

// A URDF robot. Joints keep Pinocchio's order; a free base is the joint "root_joint". Fixed joints keep their links as
// bodies. A mimic joint is a joint of its own; whom it follows is told. Files above 50 MB are refused.
typedef struct TriboUrdfDef {
  const char* urdf;                 // path
  const char* srdf;                 // path or NULL: reference poses and disabled pairs
  int free_base;                    // 1: a free flyer carries the root link; 2: it does when the root link has mass
  TriboPose base;                   // of the root link (fixed base: built in; free base: initial)
  const char* const* package_dirs;  // where package:// is looked for, before ROS_PACKAGE_PATH and AMENT_PREFIX_PATH
  int npackage_dir;
  const char* prefix;  // of the names of links, joints and poses; NULL: none
  const char* parent;  // of a tool: the link of an earlier file, by its name with its prefix, that carries its root at
                       // `base`; free_base counts not
  int without_joint_friction;  // 1: without the friction and damping that it gives to joints
} TriboUrdfDef;
TRIBO_NODISCARD TriboStatus tribo_dyn_tree_load_urdf(const TriboUrdfDef* def, TriboTree** out);
// A robot and its tools as one tree: the first file has no parent, all others have one.
TRIBO_NODISCARD TriboStatus tribo_dyn_tree_load_urdfs(const TriboUrdfDef* defs, int ndef, TriboTree** out);
void tribo_dyn_tree_destroy(TriboTree* tree);

// A collision shape of a loaded tree, or one that is drawn, as the file states it.
typedef struct TriboTreeGeom {
  int link;
  int shape;         // 0 sphere, 1 box, 2 capsule, 3 cylinder, 4 mesh
  double size[3];    // as in collision.h
  const char* mesh;  // absolute path, shape 4
  double scale[3];
  TriboPose local;      // in the link frame
  double color[4];      // drawn ones
  int colored;          // 1: the file says the colour, or the picture
  const char* texture;  // path of a picture, NULL: none
} TriboTreeGeom;

// A joint that follows another: q = ratio q_of + offset.
typedef struct TriboTreeMimic {
  const char *joint, *of;
  double ratio, offset;
} TriboTreeMimic;

typedef struct TriboLinkInfo {
  const char* name;
  const char* joint_name;
  TriboJointKind kind;
  const char* joint_kind;  // word for people, "revolute"
  int parent;              // link, −1 world
  int carrier;             // link whose joint moves this one: itself unless fixed, −1: it never moves. Two links of
                           // one carrier must not collide with each other
  int q_at, nq, v_at, nv;  // where the joint stands in the tree's q and v
  TriboPose place;         // of the joint, or of a fixed link, in the frame of the joint before it, or in the world
  double axis[3];          // of the joint, where it has one; unit
  double radii[3];         // of an ellipsoid joint [m]
  double mass, com[3], inertia[9];
  double moved_mass, moved_com[3], moved_inertia[9];  // with all that is welded to it, in its frame; 0 of fixed links
  int file;                                           // of the robot files, which one it comes from
} TriboLinkInfo;

typedef struct TriboTreeInfo {
  int nq, nv, nlink;
  const TriboLinkInfo* links;  // (nlink)
  const double* lower;         // (nq) position limits, ±INFINITY: none; SPHERICAL: of the angle, at its first q
  const double* upper;
  const double* effort;       // (nv)
  const double* damping;      // (nv)
  const double* stiffness;    // (nv)
  const double* rest;         // (nv)
  const double* friction;     // (nv)
  const double* restitution;  // (nv)
  const TriboSoftness* soft;  // (nv)
  const double* armature;     // (nv)
  const double* neutral;      // (nq) zero configuration
  int nreference;             // reference poses
  const char* const* reference_names;
  const double* references;  // (nreference × nq)
  int ngeom;
  const TriboTreeGeom* geoms;
  int nvisual;
  const TriboTreeGeom* visuals;
  int nmimic;
  const TriboTreeMimic* mimics;
  int ndisabled;  // link pairs that must not collide (SRDF)
  const int (*disabled)[2];
} TriboTreeInfo;
const TriboTreeInfo* tribo_dyn_tree_info(const TriboTree* tree);

// ---- system --------------------------------------------------------------------------------------------------------

typedef struct TriboFreeBodyDef {
  double mass;        // [kg] > 0
  double com[3];      // centre of mass in the body frame [m]
  double inertia[9];  // about the centre of mass, body axes, symmetric positive definite [kg·m²]
} TriboFreeBodyDef;

typedef struct TriboSystem TriboSystem;    // const after creation
typedef struct TriboDynData TriboDynData;  // one per thread of simulation
typedef struct TriboSystemDef {
  const TriboFreeBodyDef* bodies;
  int nbody;
  TriboTree* const* trees;  // must outlive the system
  int ntree;
} TriboSystemDef;
TRIBO_NODISCARD TriboStatus tribo_dyn_system_create(const TriboSystemDef* def, TriboSystem** out);
void tribo_dyn_system_destroy(TriboSystem* system);

// A closure ties two bodies by frames that are fixed in them, z along the axis, x along the second one; or two joints.
typedef struct TriboClosure {
  TriboClosureKind kind;
  int body_a, body_b;          // TRIBO_WORLD_BODY: the world; GEAR, MIMIC: not used
  TriboPose frame_a, frame_b;  // in the frame of its body
  double length;               // DISTANCE: between the frames' origins [m] > 0
  int q_a, v_a, q_b, v_b;      // GEAR, MIMIC: coordinates and velocities of two joints with one velocity each
  int nq_a, nq_b;              // 1, or 2 for a cosine and a sine
  double ratio, offset;        // q_b = offset + ratio q_a + curve[0] q_a² + curve[1] q_a³ + curve[2] q_a⁴
  double curve[3];             // MIMIC, of a joint a with one coordinate
  TriboSoftness soft;          // solref[0] ≠ 0: it gives way
  double period;               // full turns make q_b − ratio q_a known only up to multiples of this; 0: exactly
} TriboClosure;
// GEAR, MIMIC: where q_b belongs by q_a, and how fast it goes against it; slope may be NULL.
double tribo_dyn_closure_follow(const TriboClosure* closure, double q_a, double* slope);
// Once, before the first data is made; the closures are copied.
TRIBO_NODISCARD TriboStatus tribo_dyn_system_close(TriboSystem* system, const TriboClosure* closures, int nclosure);
const char* tribo_dyn_closure_name(TriboClosureKind kind);
int tribo_dyn_closure_dim(TriboClosureKind kind);
int tribo_dyn_closure_forces(TriboClosureKind kind);  // how many of its rows, the first ones, are along an axis
const char* tribo_dyn_closure_row_name(TriboClosureKind kind, int row);  // "along x", "about y": of the closure frame
// Which rows say nothing new at q: redundant (nclosure) receives a bit per row that depends on the rows before it.
// Belongs to the making of a system: data that is made later knows that there are any.
TRIBO_NODISCARD TriboStatus tribo_dyn_closure_redundant(TriboSystem* system, TriboDynData* data, const double* q,
                                                        unsigned* redundant);
// How far the closures are open at any state: out (6 × nclosure) [m, rad], unused rows 0.
TRIBO_NODISCARD TriboStatus tribo_dyn_closure_error(const TriboSystem* system, TriboDynData* data, const double* q,
                                                    double* out);

typedef struct TriboSystemInfo {
  int nq, nv, nbody;  // bodies: free ones and all links
  int nfree, ntree;
  int nblock;             // nfree + ntree
  const int* block_dim;   // (nblock)
  const int* block_q;     // (nblock) first q of a block
  const int* block_v;     // (nblock) first v of a block
  const int* body_block;  // (nbody) the block that moves a body, −1: nothing does (a link welded to the world)
} TriboSystemInfo;
const TriboSystemInfo* tribo_dyn_system_info(const TriboSystem* system);

// A drive that holds or turns one joint as a spring and a damper would, within its effort:
// τ = −k (q − target) − d (q̇ − velocity), |τ| ≤ effort, with q and q̇ at the end of the step.
typedef struct TriboMotor {
  int q, nq, v;               // its coordinate (nq 1, or 2 for a cosine and a sine) and velocity in the system
  double stiffness, damping;  // k, d ≥ 0, not both 0
  double target, velocity;    // [rad, m], [rad/s, m/s]
  double effort;              // INFINITY: no bound
} TriboMotor;

// A bound on something that is no coordinate, a tendon's length: distance ≥ 0, and its rate is jac · v.
typedef struct TriboBound {
  int index;        // for names and warm starts
  double distance;  // to the bound, negative beyond it [m, rad]
  TriboSoftness soft;
  const double* jac;  // (nv)
  int is_straight;    // 1: jac is the same wherever joints are
} TriboBound;

// What a closure carries from step to step (loops/predict_impulses.c). The caller keeps it; all 0 where a motion
// begins.
typedef struct TriboLoopMemory {
  double h;             // of these steps [s]
  int32_t known;        // how many impulses are known, 0 … 4
  uint32_t left_out;    // a bit per row that depended on others
  double lambda[4][6];  // the latest first [N·s, N·m·s]
  double turn[6];       // the first correction of g in the last step [m/s, rad/s]
  double reply[6];      // and by how much the opening over h changed
} TriboLoopMemory;

// How round the two surfaces of a contact are where they touch: a and b (9 each) with dx = H dn in the world, the radii
// of curvature [m], 0 at corners. poses (nbody).
typedef void (*TriboRoundness)(const void* surfaces, const TriboContact* contact, const TriboPose* poses, double a[9],
                               double b[9]);

typedef struct TriboStepOptions {
  double h;           // [s]
  double gravity[3];  // [m/s²]
  TriboScheme scheme;
  double erp;         // share of a violation undone per step, 0 … 1
  double slop;        // penetration that is left alone [m]
  double depen_max;   // fastest push-out [m/s]
  double bounce_min;  // impact speed below which nothing rebounds [m/s]
  const double*
      resist;  // (nv) ≥ 0, or NULL: by how much tau falls with each velocity, as a damper's force does. tau holds
               // its value at v; the step takes the change until its end into account. Not of free bodies
  const TriboMotor* motors;
  int nmotor;
  const TriboBound* bounds;  // of assemble
  int nbound;
  int direct;                    // 1: closures that are alone with what they tie need no solver
  double shut;                   // closures count as shut below this [m, rad]
  TriboRoundness roundness;      // NULL: nobody knows
  const void* surfaces;          // for that
  const TriboLoopMemory* loops;  // (nclosure) what closures carry over from the last step, or NULL
} TriboStepOptions;

// Contacts whose overlap is undone in positions leave to velocities what is no deeper than this [m].
double tribo_dyn_deepest_by_velocity(const TriboStepOptions* options);

TRIBO_NODISCARD TriboStatus tribo_dyn_data_create(const TriboSystem* system, TriboDynData** out);
void tribo_dyn_data_destroy(TriboDynData* data);

// Stage 1. tau (nv) generalized forces, wrench (nbody × 6: force, torque about the centre of mass, world axes), both or
// either NULL. Checks that q and v are finite and quaternions are not 0: TRIBO_NUMERIC.
TRIBO_NODISCARD TriboStatus tribo_dyn_update(const TriboSystem* system, TriboDynData* data,
                                             const TriboStepOptions* options, const double* q, const double* v,
                                             const double* tau, const double* wrench);
const TriboPose* tribo_dyn_poses(const TriboDynData* data);    // (nbody) of q
const TriboTwist* tribo_dyn_twists(const TriboDynData* data);  // (nbody) of v_f as update knows it, at frames' origins
const double* tribo_dyn_free_velocity(const TriboDynData* data);  // (nv) v_f; of trees final after assemble
// twists (nbody) of another v (nv), at the same poses
void tribo_dyn_twists_of(const TriboSystem* system, const TriboDynData* data, const double* v, TriboTwist* twists);

// How far the joint farthest beyond its limit is beyond it at the q of update [m, rad], 0: none is.
double tribo_dyn_limit_violation(const TriboSystem* system, const TriboDynData* data);
// After advance: limits without a row that the impulses of the step, a blow on another link, drove a joint beyond. They
// have one when the same step is assembled again; returns how many they are.
int tribo_dyn_redetect_limits(const TriboSystem* system, TriboDynData* data, const double* q_next);
// After advance, likewise: contacts that last and dry joints whose slip turns round within the step, v being that of
// its start; *turned of them. From then on lambda of the problem lacks what friction did before it turned: add_known
// adds it (sign 1), or takes it away (−1).
TRIBO_NODISCARD TriboStatus tribo_dyn_redetect_slips(const TriboSystem* system, TriboDynData* data,
                                                     const TriboStepOptions* options, const TriboContactLaw* laws,
                                                     const double* v, const double* lambda, int* turned);
void tribo_dyn_add_known(const TriboDynData* data, double sign, double* lambda);

// Body frames and their velocities at any state: for views, recorders and drawing. Uses the data as scratch only:
// it must not disturb what update has left for assemble and advance.
TRIBO_NODISCARD TriboStatus tribo_dyn_kinematics(const TriboSystem* system, TriboDynData* data, const double* q,
                                                 const double* v, TriboPose* poses, TriboTwist* twists);

// The terms of M v̇ + b = passive + … at any state, each may be NULL: mass (nv × nv), bias (nv), passive (nv): springs
// and damping of joints. Scratch only, as above.
TRIBO_NODISCARD TriboStatus tribo_dyn_terms(const TriboSystem* system, TriboDynData* data, const double gravity[3],
                                            const double* q, const double* v, double* mass, double* bias,
                                            double* passive);
// force (nv) += Jᵀ wrench (nbody × 6, as for update)
TRIBO_NODISCARD TriboStatus tribo_dyn_generalize(const TriboSystem* system, TriboDynData* data, const double* q,
                                                 const double* wrench, double* force);

// What a constraint of the assembled problem is, for names, warm starts and events.
typedef enum TriboRowKind {
  TRIBO_ROW_CONTACT,
  TRIBO_ROW_LIMIT,
  TRIBO_ROW_FRICTION,
  TRIBO_ROW_MOTOR,
  TRIBO_ROW_BOUND,
  TRIBO_ROW_CLOSURE
} TriboRowKind;
typedef struct TriboRowInfo {
  TriboRowKind kind;
  int index;  // contact, motor, closure; BOUND: its own; LIMIT, FRICTION: v index in the system (limits: 2·v + (upper ?
              // 1 : 0))
  int block_a, block_b;  // motion blocks, −1 for none; block_a < block_b unless one is −1 (then block_b is −1)
  double frame[9];       // CONTACT: rows t1, t2, n in the world: to turn a warm start into the new tangents
  int impact;            // 1: a restitution row
} TriboRowInfo;

// Stage 2, after update. contacts (n) with their laws (n). The problem's arrays belong to the data and stay until the
// next assemble; contacts between bodies that cannot move against each other (static, or links of one carrier) are
// refused as INTERNAL.
TRIBO_NODISCARD TriboStatus tribo_dyn_assemble(const TriboSystem* system, TriboDynData* data,
                                               const TriboStepOptions* options, const double* q, const double* v,
                                               const TriboContact* contacts, const TriboContactLaw* laws, int ncontact,
                                               TriboProblem* problem, const TriboRowInfo** rows);
// The rows from `row` on, of which there are n, ask for g instead: a solver found that they contradict others by next
// to nothing. The problem sees it.
void tribo_dyn_relax_rows(TriboDynData* data, int row, int n, const double* g);

// Stage 3, after assemble: next state into q_next, v_next (not q, v). Fails with TRIBO_NUMERIC when it is not finite.
TRIBO_NODISCARD TriboStatus tribo_dyn_advance(const TriboSystem* system, TriboDynData* data,
                                              const TriboStepOptions* options, const double* q, const double* v,
                                              const double* lambda, double* q_next, double* v_next);

// Stage 4, after advance, where there are closures (loops/loops.c says why). How far they are open in the next state
// goes to *error [m, rad]; where that is too far, the problem's g is corrected, *again is 1 (2: the masses of the
// problem have changed, too), and solve and advance are
// to be repeated. Loops that are alone (below) are shut at once: lambda, q_next and v_next change, and *passes counts.
TRIBO_NODISCARD TriboStatus tribo_dyn_close(const TriboSystem* system, TriboDynData* data,
                                            const TriboStepOptions* options, const double* v, double* lambda,
                                            double* q_next, double* v_next, double* error, int* passes, int* again);
// How far they are open, as far as their independent rows can tell: those that depend on others follow from these, but
// for what their drawing is rounded to.
double tribo_dyn_closures_kept_open(const TriboSystem* system, const TriboDynData* data);
// After assemble: whether closures are alone with what they tie, so that no solver is needed for their rows. Then these
// are filled in lambda (nrow). project_velocity_closures_only: the same for the problem of project_velocity_assemble.
int tribo_dyn_closures_only(const TriboSystem* system, const TriboDynData* data, double* lambda);
int tribo_dyn_project_velocity_closures_only(const TriboSystem* system, TriboDynData* data, const double* q_next,
                                             double* lambda);
// Stage 5: a last small problem whose impulses make the next velocities fit the closures at the next positions. It may
// be empty. Its arrays belong to the data; project_velocity then adds its answer to v_next. The impulses at the two
// ends of a step are much alike: from lambda, the answer of assemble's problem, comes guess (rows of the closures), a
// start.
TRIBO_NODISCARD TriboStatus tribo_dyn_project_velocity_assemble(const TriboSystem* system, TriboDynData* data,
                                                                const TriboStepOptions* options, const double* q_next,
                                                                const double* v_next, const double* lambda,
                                                                TriboProblem* problem, const double** guess);
TRIBO_NODISCARD TriboStatus tribo_dyn_project_velocity(const TriboSystem* system, TriboDynData* data,
                                                       const double* lambda, double* v_next);

// After a step: the memory of the closures (nclosure) that the next one sets out with, from options->loops.
void tribo_dyn_loops_store_memory(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                                  const double* lambda, TriboLoopMemory* next);

// What each closure carried in the step, all its impulses summed by row: out (6 × nclosure) [N·s, N·m·s]. last answers
// the problem of project_velocity_assemble.
void tribo_dyn_closure_impulses(const TriboSystem* system, TriboDynData* data, const double* last, double* out);
// The same on the bodies that they tie: wrench (nbody × 6) += impulses and their moments about the centres of mass, in
// world axes [N·s, N·m·s].
void tribo_dyn_closure_wrenches(const TriboSystem* system, TriboDynData* data, const double* last, double* wrench);

// Inverse dynamics, instead of update … advance (inverse/inverse_dynamics.c has the equations). inverse_update takes
// the place of update: the velocity after the step is `v_target`, and assemble then makes rows with g = c = J v_target
// + γ. reduce makes the problem of the velocities that are not driven (driven: nv), speeds below tol being 0; whole:
// contacts answer to the motion they make, not to the target. balance fills its g, from the impulses so far (reduced
// NULL: none); lambda (nrow of assemble's problem) receives them all, *change the relative change of the impulse that
// is needed: solve and balance are repeated until it is nothing. finish: force (nv) is what driven joints must give and
// what the others lack, v_error (nv) the velocity by which the others miss the target; assemble's problem becomes that
// of the forward step with these forces, for its residuals.
TRIBO_NODISCARD TriboStatus tribo_dyn_inverse_update(const TriboSystem* system, TriboDynData* data,
                                                     const TriboStepOptions* options, const double* q, const double* v,
                                                     const double* v_target, const double* tau, const double* wrench);
// After assemble, not under Euler's scheme: where the step that is read backwards ends, q_next (nq). smooth: free
// bodies move as they do where nothing touches them.
TRIBO_NODISCARD TriboStatus tribo_dyn_inverse_end(const TriboSystem* system, const TriboDynData* data,
                                                  const TriboStepOptions* options, const double* v,
                                                  const double* v_target, int smooth, double* q_next);
TRIBO_NODISCARD TriboStatus tribo_dyn_inverse_reduce(const TriboSystem* system, TriboDynData* data,
                                                     const unsigned char* driven, double tol, int whole,
                                                     TriboProblem* problem);
TRIBO_NODISCARD TriboStatus tribo_dyn_inverse_balance(const TriboSystem* system, TriboDynData* data,
                                                      const double* reduced, double* lambda, double* change);
TRIBO_NODISCARD TriboStatus tribo_dyn_inverse_finish(const TriboSystem* system, TriboDynData* data,
                                                     const TriboStepOptions* options, const double* lambda,
                                                     double* force, double* v_error);
// Before finish: the last digits of lambda (inverse/inverse_polish.c), from those of one solve; not for huge problems,
// which solve and balance can bring there too.
int tribo_dyn_inverse_polishes(const TriboSystem* system, const TriboDynData* data);
TRIBO_NODISCARD TriboStatus tribo_dyn_inverse_polish(const TriboSystem* system, TriboDynData* data, double* lambda);
// After polish: contacts whose slip turns round within the step; *turned of them. Then all begins again with assemble.
TRIBO_NODISCARD TriboStatus tribo_dyn_inverse_slips(const TriboSystem* system, TriboDynData* data,
                                                    const TriboStepOptions* options, const TriboContactLaw* laws,
                                                    const double* lambda, int* turned);
// The torques that are left open (inverse/inverse_span.c), after reduce: count orthonormal rows of nv.
TRIBO_NODISCARD TriboStatus tribo_dyn_inverse_span(const TriboSystem* system, TriboDynData* data, const double** span,
                                                   int* count);

// Kinetic and potential energy [J], linear momentum and angular momentum about the world origin, at any state.
typedef struct TriboEnergy {
  double kinetic, potential;
  double momentum[3], angular[3];
  double com[3], mass;
} TriboEnergy;
TRIBO_NODISCARD TriboStatus tribo_dyn_energy(const TriboSystem* system, TriboDynData* data, const double gravity[3],
                                             const double* q, const double* v, TriboEnergy* out);

// q ⊕ dv, and its inverse: the tangent that leads from q0 to q1.
TRIBO_NODISCARD TriboStatus tribo_dyn_integrate(const TriboSystem* system, TriboDynData* data, const double* q,
                                                const double* dv, double* q_next);
TRIBO_NODISCARD TriboStatus tribo_dyn_difference(const TriboSystem* system, TriboDynData* data, const double* q0,
                                                 const double* q1, double* dv);

// What a certificate has to know. After a step that failed as TRIBO_NUMERIC: whether a shorter one would do, because
// the motion turns too far in one. After advance: how a block was carried through the step: with half of the forces at
// each end; kicked in full where it began; or divided by an impact inside it. The number that blocks tied by closures
// share, −1: none ties it. Whether a closure is a spring rather than a tie. What the joints' springs of a tree hold at
// its q [J]; their forces are added to its `force` (nv of the tree).
typedef enum TriboBlockMotion { TRIBO_MOTION_SMOOTH, TRIBO_MOTION_KICKED, TRIBO_MOTION_IMPACT } TriboBlockMotion;
int tribo_dyn_is_unresolved(const TriboDynData* data);
TriboBlockMotion tribo_dyn_block_motion(const TriboSystem* system, const TriboDynData* data,
                                        const TriboStepOptions* options, int block);
// Whether impulses on a tree have met M alone, without what its dampers and springs add.
int tribo_dyn_block_lags(const TriboSystem* system, const TriboDynData* data, int block);
// θ of a tree with half of the forces at each end: its dampers act by the mean velocity and (θ − ½) of its change.
double tribo_dyn_tree_theta(const TriboDynData* data, int tree);
int tribo_dyn_block_cluster(const TriboSystem* system, int block);
int tribo_dyn_closure_gives_way(const TriboSystem* system, int closure);
double tribo_dyn_springs(const TriboSystem* system, int tree, const double* q, double* force);

// Version of the Pinocchio library in use, "4.1.0".
const char* tribo_pin_version(void);

#ifdef __cplusplus
}
#endif
