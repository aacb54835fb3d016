// Forces that depend on the state, added to generalized forces tau (nv) and wrenches (nbody × 6).
#pragma once

#include "data_impl.h"

// The state at which the functions below take them; q and v must stay until then.
TriboStatus tribo_forces_at(const TriboModel* model, TriboData* data, const double* q, const double* v);
void tribo_forces_passive(const TriboModel* model, const TriboData* data, double* tau, double* wrench);
// Fills data->forces.actuation and data->act_next too.
void tribo_forces_actuators(const TriboModel* model, TriboData* data, double* tau, double* wrench);
// data->forces.bounds there; tau and wrench are scratch
TriboStatus tribo_forces_tendon_limits(const TriboModel* model, TriboData* data, double* tau, double* wrench);
// position and speed of what an actuator drives, there
void tribo_actuator_measure(const TriboModel* model, const TriboData* data, int actuator, double* length,
                            double* speed);
// data->forces.length there
void tribo_forces_tendon_lengths(const TriboModel* model, TriboData* data);
