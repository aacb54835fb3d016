// What the sensors share.
#pragma once

#include "data_impl.h"

// What its parent exerts on a body and all that hangs on it over the last step, about a point of its frame; world axes.
TriboStatus tribo_body_wrench(const TriboModel* model, TriboData* data, int body, const double point[3],
                              double force[3], double torque[3]);
// Whether a body is the root, or hangs on it.
int tribo_body_hangs_on(const TriboModel* model, int body, int root);
