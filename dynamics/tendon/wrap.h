// A string around a sphere or a cylinder.
#pragma once

#include "pose.h"

// The way from p to q around a sphere, or around a cylinder without ends along the z axis of the frame: where it meets
// and leaves it, and the length in between; −1: the way is straight. `side`: a point on whose side it passes, or inside
// which it passes; NULL: none. All in the world.
double tribo_dyn_wrap(int cylinder, double radius, const TriboPose* frame, const double p[3], const double q[3],
                      const double* side, double out[2][3]);
