// Forces that depend on the state, added to generalized forces tau (nv) and wrenches (nbody × 6).
#pragma once

#include "data_impl.h"

// Sets the state (q, v) at which the functions below take the forces; q and v must stay until then.
TriboStatus tribo_forces_at(const TriboModel* model, TriboData* data, const double* q, const double* v);
// Adds springs, dampers, tendons, the medium and scheduled forces of the scene.
void tribo_forces_passive(const TriboModel* model, const TriboData* data, double* tau, double* wrench);
// Adds the forces of the actuators. Fills data->forces.actuation and data->act_next too.
void tribo_forces_actuators(const TriboModel* model, TriboData* data, double* tau, double* wrench);
// Fills data->forces.bounds, the limits of tendons at that state; tau and wrench are scratch.
TriboStatus tribo_forces_tendon_limits(const TriboModel* model, TriboData* data, double* tau, double* wrench);
// Adds the impulses of tendons at their limits in the last step to wrench.
void tribo_forces_add_stops(const TriboModel* model, TriboData* data, double* wrench);
// Position and speed of what an actuator drives, at that state.
void tribo_actuator_measure(const TriboModel* model, const TriboData* data, int actuator, double* length,
                            double* speed);
// Fills data->forces.length, the lengths of the tendons at that state [m].
void tribo_forces_tendon_lengths(const TriboModel* model, TriboData* data);
