// The C face of the two C++ files of this room: pinocchio_shim.cpp (trees) and urdf_shim.cpp (files).
// Every function is a barrier: no exception leaves it, and none allocates after the data is made. Pinocchio checks
// little of what it is given, so callers check names, masses, axes and states first.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "dynamics.h"
#include "status.h"

// ---- files (urdf_shim.cpp) -----------------------------------------------------------------------------------------

// The values one reference pose gives to one joint.
typedef struct TriboRobotValue {
  int state;             // index into states
  const char* joint;     // may name a joint the robot does not have
  const double* values;  // (count)
  int count;
} TriboRobotValue;

// What a URDF file and an SRDF file say, unchecked; links are parents first, depth first.
typedef struct TriboRobotFile {
  const TriboLinkDef* links;
  int nlink;
  const TriboTreeGeom* geoms;
  int ngeom;
  const TriboTreeGeom* visuals;
  int nvisual;
  const TriboTreeMimic* mimics;
  int nmimic;
  const int (*disabled)[2];
  int ndisabled;
  const char* const* states;
  int nstate;
  const TriboRobotValue* values;
  int nvalue;
  TriboPose base;  // where a free flyer starts
} TriboRobotFile;

TRIBO_NODISCARD TriboStatus tribo_pin_robot_read(const TriboUrdfDef* def, const TriboRobotFile** out);
void tribo_pin_robot_free(const TriboRobotFile* robot);

// ---- trees ---------------------------------------------------------------------------------------------------------

// robot: NULL, or the file the links come from: its geometries, pairs and poses are copied.
TRIBO_NODISCARD TriboStatus tribo_pin_tree_create(const TriboLinkDef* links, int nlink, const TriboRobotFile* robot,
                                                  TriboTree** out);
void tribo_pin_tree_destroy(TriboTree* tree);
const TriboTreeInfo* tribo_pin_tree_info(const TriboTree* tree);

// A workspace of one tree for one thread. It keeps its own copy of the model, whose gravity each call sets.
typedef struct TriboPinData TriboPinData;
TRIBO_NODISCARD TriboStatus tribo_pin_data_create(const TriboTree* tree, TriboPinData** out);
void tribo_pin_data_destroy(TriboPinData* data);

// Poses of the links (nlink) and jac (6 × nv, one column after the other): column k is the twist of everything that
// joint velocity k carries, as velocity of the point at the world origin, then angular velocity, in world axes.
TRIBO_NODISCARD TriboStatus tribo_pin_kinematics(TriboPinData* data, const double* q, TriboPose* poses, double* jac);

// Mass matrix (nv × nv, both triangles), armature included.
TRIBO_NODISCARD TriboStatus tribo_pin_mass(TriboPinData* data, const double* q, double* mass);

// b(q, v): Coriolis, centrifugal and gravity forces.
TRIBO_NODISCARD TriboStatus tribo_pin_bias(TriboPinData* data, const double gravity[3], const double* q,
                                           const double* v, double* bias);
// M a + b = τ, solved for τ and for a.
TRIBO_NODISCARD TriboStatus tribo_pin_rnea(TriboPinData* data, const double gravity[3], const double* q,
                                           const double* v, const double* a, double* tau);
TRIBO_NODISCARD TriboStatus tribo_pin_aba(TriboPinData* data, const double gravity[3], const double* q, const double* v,
                                          const double* tau, double* a);

// q ⊕ dv and its inverse; q_next may be q.
TRIBO_NODISCARD TriboStatus tribo_pin_integrate(TriboPinData* data, const double* q, const double* dv, double* q_next);
TRIBO_NODISCARD TriboStatus tribo_pin_difference(TriboPinData* data, const double* q0, const double* q1, double* dv);

// As Pinocchio computes them: a second opinion for tribo_dyn_energy. Never-moving links count neither as mass nor as
// potential energy.
TRIBO_NODISCARD TriboStatus tribo_pin_energy(TriboPinData* data, const double gravity[3], const double* q,
                                             const double* v, TriboEnergy* out);

#ifdef __cplusplus
}
#endif
