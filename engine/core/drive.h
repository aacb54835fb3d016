// Forces that depend on the state, added to generalized forces tau (nv) and wrenches (nbody × 6).
#pragma once

#include "data.h"

TriboStatus tribo_drive_passive(const TriboModel* model, TriboData* data, double* tau, double* wrench);
// Fills data->actuation and data->act_next too.
TriboStatus tribo_drive_actuators(const TriboModel* model, TriboData* data, double* tau, double* wrench);
// data->bounds of the present state; tau and wrench are scratch
TriboStatus tribo_drive_bounds(const TriboModel* model, TriboData* data, double* tau, double* wrench);
// data->length of the present state
TriboStatus tribo_drive_lengths(const TriboModel* model, TriboData* data);
