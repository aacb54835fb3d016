// Events and sensors: what the step leaves for them, and what they share.
#pragma once

#include "data.h"

// Called by the step: before its first part, after each part that is used (of length h), and at the end.
void tribo_events_begin(TriboData* data);
TriboStatus tribo_events_part(const TriboModel* model, TriboData* data, double h);
TriboStatus tribo_events_finish(const TriboModel* model, TriboData* data);

// The centre of mass in the world of a body whose frame, as dynamics moves it, is at `pose`.
void tribo_body_com(const TriboModel* model, int body, const TriboPose* pose, double com[3]);
// What its parent exerts on a body and all that hangs on it over the last step, about a point of its frame; world axes.
TriboStatus tribo_body_wrench(const TriboModel* model, TriboData* data, int body, const double point[3],
                              double force[3], double torque[3]);
// Whether a body is the root, or hangs on it.
int tribo_body_hangs_on(const TriboModel* model, int body, int root);
