// The plain structs in which collision, dynamics and the engine meet. No room includes another; they all include this.
#pragma once

#include <tribo/base.h>

enum { TRIBO_WORLD_BODY = -1 };  // body index of everything that never moves

// Pose of a body frame in the world.
typedef struct TriboPose {
  double p[3];  // origin [m]
  double R[9];  // rotation, row-major, body → world
} TriboPose;

// Velocity of a body frame: of its origin and of its rotation, in world axes.
typedef struct TriboTwist {
  double v[3];  // [m/s]
  double w[3];  // [rad/s]
} TriboTwist;

// One contact point between geometries a < b.  set by: collision
typedef struct TriboContact {
  int geom_a, geom_b;
  int body_a, body_b;  // TRIBO_WORLD_BODY for static geometry
  uint32_t feature;    // which vertex, edge or face pair; persists while a face stays on a face
  uint32_t place;      // where on the way round a face it lies, a quarter is 65536: by this it is found again
  double point[3];     // between the two surfaces, one plane for all of a face, world [m]
  double normal[3];    // unit, from a to b, world
  double gap;          // signed distance along the normal, negative inside [m]
  int is_ahead;        // 1: normal and gap are those with which bodies that move far will meet in this step
} TriboContact;

// A spring-damper in units of acceleration, as MuJoCo has it.
typedef struct TriboSoftness {
  double solref[2];  // time constant and damping ratio, or −k and −d per mass; [0] = 0: rigid
  double solimp[5];  // impedance at touch, at depth `width`, width [m], midpoint, power
} TriboSoftness;

// How a contact behaves.  set by: engine/sim, from the materials of its two geometries
typedef struct TriboContactLaw {
  double mu[5];        // sliding 1, 2, torsion, rolling 1, 2
  int dim;             // rows: 1 frictionless, 3 Coulomb, 4 with torsion, 6 with rolling
  double restitution;  // e in [0, 1]
  double compliance;   // k > 0: stiffness [N/m], 0: rigid
  double damping;      // [N·s/m]
  int by_position;     // 1: rigid, and its overlap is undone in positions, after the step
  TriboSoftness soft;  // instead of compliance and damping
  double surface[3];   // velocity of surface b against a imposed at the point (conveyor), world [m/s]
  double grain[3];     // direction of the first tangent, world, any length; 0: any will do
} TriboContactLaw;
static inline int tribo_law_is_soft(const TriboContactLaw* law) {
  return law->compliance > 0 || law->damping > 0 || law->soft.solref[0] != 0;
}
