// Events and sensors: what the step leaves for them, and what they share.
#pragma once

#include "data.h"

// Called by the step: before its first part, after each part that is used (of length h), and at the end.
void tribo_events_begin(TriboData* data);
TriboStatus tribo_events_part(const TriboModel* model, TriboData* data, double h);
TriboStatus tribo_events_finish(const TriboModel* model, TriboData* data);

// The centre of mass in the world of a body whose frame, as dynamics moves it, is at `pose`.
void tribo_body_com(const TriboModel* model, int body, const TriboPose* pose, double com[3]);
