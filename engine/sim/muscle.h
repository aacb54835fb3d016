// Muscles: forces by length, speed and activation.
#pragma once

#include <tribo/tribo.h>

// At a length and speed of what it pulls; negative: it pulls.
double tribo_muscle_force(const TriboMuscleDef* muscle, double length, double speed, double activation);
// The rate of the activation.
double tribo_muscle_rate(const TriboActuatorDef* def, double activation, double ctrl);
