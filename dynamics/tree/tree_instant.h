// A tree at an instant of a step: where it is, its mass and the forces that are known there.
#pragma once

#include "system_blocks.h"
#include "tree/tree_drift.h"

// One tree of a system, and where its part of the data is.
typedef struct TreeAt {
  int index;
  const TreePart* part;
  const TriboTreeInfo* info;
  TriboPinData* pin;
  int q, v, n;  // its first q and v, and how many v it has
  size_t m;     // where its masses are
  int is_tied;  // 1: closures tie it; its mass is M, where their impulses act
} TreeAt;

// How what acts on a tree is divided over a step: the fraction of forces and impulses at its start, and the weight θ of
// the velocity at its end in that by which dampers act.
typedef struct TreeSplit {
  double start, theta;
} TreeSplit;

// Places are relative to an origin: that of the root where the tree floats, so that nothing is lost far away from the
// world's.
typedef struct TreeInstant {
  double origin[3], root[3];  // in the world, and as the root's q has it [m]
  double* q;                  // (nq)
  TriboPose* poses;           // (nlink)
  double* jac;                // (6 × nv)
  TreeBody* bodies;           // (njoint)
  TreeInertia* inertias;      // (njoint)
  double* mass;               // (nv × nv) M̃; of a tree that closures tie M
  double* factor;             // (nv × nv) of M̃
  double* diagonal;           // (nv) of M
  double* extra;              // (nv) diagonal of M̃ − M
  TreeSplit* split;           // how what acts is divided over the step
  double* force;              // (nv) known forces but weight and dampers [N, N·m]
  double* weight;             // (nv) the bias that gravity alone makes [N, N·m]
} TreeInstant;

// How what acts on a tree is divided over a step, which decides M̃: tree_motion.c.
typedef enum TreeKick { KICK_DIVIDED, KICK_FULL, KICK_EULER } TreeKick;

// How far the spring of a link's joint is stretched: its components; returns their count, 0 without a spring.
int tribo_dyn_spring_stretch(const TriboTreeInfo* info, const TriboLinkInfo* link, const double* q, double out[3]);
// force += Jᵀ w for a wrench per link (force, torque about the link's centre of mass, world axes) where poses and jac
// are.
void tribo_dyn_tree_wrenches(const TreePart* part, const TriboPose* poses, const double* jac, const double* wrench,
                             double* force);
// Velocities of links (nlink) from the columns of jac (6 × nv, of the world) and where the links are.
void tribo_dyn_tree_twists(const TriboTreeInfo* info, const double* jac, const double* v, const TriboPose* poses,
                           TriboTwist* twists);
// Poses (nlink) at q, and twists (nlink) of v; jac (6 × nv) is filled too.
TriboStatus tribo_dyn_tree_kinematics(const TreePart* part, TriboPinData* pin, const double* q, const double* v,
                                      TriboPose* poses, TriboTwist* twists, double* jac);

// The place where the root of a tree at q (nq) has moved to, and its own q there as from nowhere; 0 of a tree that does
// not float.
void tribo_dyn_tree_origin(const TreePart* part, const double* q, double origin[3]);
// The configuration q (nq) becomes that of the instant: its origin, and its own q as seen from there.
void tribo_dyn_instant_set(const TreeAt* tree, const double* q, TreeInstant* at);
// q (nq), as seen from the instant's origin, as the world sees it.
void tribo_dyn_instant_to_world(const TreeAt* tree, const TreeInstant* at, double* q);
// Places, bodies, M and weight at at->q; sums (njoint) is scratch.
TriboStatus tribo_dyn_instant_place(const TreeAt* tree, const double gravity[3], TreeInertia* sums,
                                    const TreeInstant* at);
// Damping of a joint and of what drives it, whose force at v is in τ.
double tribo_dyn_instant_damping(const TreeAt* tree, const TriboStepOptions* options, int k);
// (θ − ½) h d of a joint: what a divided kick's dampers give back of the velocity at the start.
double tribo_dyn_instant_early(const TreeAt* tree, const TriboStepOptions* options, double h, const TreeInstant* at,
                               int k);
// Forces that are known there: torques, wrenches, springs. tau (nv) and wrench (nlink × 6) may be NULL.
void tribo_dyn_instant_forces(const TreeAt* tree, const TriboStepOptions* options, const double* v, const double* tau,
                              const double* wrench, const TreeInstant* at);
// M̃ for a step of h and its factor, where that is not there yet (has_factor: for what `extra` says).
TriboStatus tribo_dyn_instant_mass(const TreeAt* tree, const TriboStepOptions* options, double h, TreeKick kick,
                                   int has_factor, const TreeInstant* at);
void tribo_dyn_instant_times_mass(const TreeAt* tree, const TreeInstant* at, const double* v, double* out);   // M v
void tribo_dyn_instant_times_whole(const TreeAt* tree, const TreeInstant* at, const double* v, double* out);  // M̃ v
// v_free (nv) after a kick of all forces at q, of dampers and springs as M̃ takes them.
void tribo_dyn_instant_kick(const TreeAt* tree, const TriboStepOptions* options, TreeKick kick, const TreeInstant* at,
                            const double* v, double* v_free);
// An impulse (nv) on the tree after it has moved: on a floating root force and torque about its origin are the same in
// the world; elsewhere it stays what it is.
void tribo_dyn_instant_carry(const TreeAt* tree, const TreeInstant* from, const TreeInstant* to, const double* impulse,
                             double* out);
