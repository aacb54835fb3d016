// What an inertia may be: xx yy zz xy xz yz, about the centre of mass.
#pragma once

#include "eigen3.h"

typedef enum TriboInertiaVerdict {
  TRIBO_INERTIA_FINE,
  TRIBO_INERTIA_BROKEN,      // one moment is above the sum of the two others: no solid body has it
  TRIBO_INERTIA_INDEFINITE,  // a turn about some axis would have a negative energy
} TriboInertiaVerdict;

static inline TriboInertiaVerdict tribo_inertia_check(const double s[6]) {
  const double full[9] = {s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]};
  double I[3], axes[4];
  tribo_eigen3(full, 1e-15, I, axes);
  const double most = fmax(I[0], fmax(I[1], I[2])), least = fmin(I[0], fmin(I[1], I[2]));
  return least < -fmax(1e-9 * most, 1e-20)                       ? TRIBO_INERTIA_INDEFINITE
         : I[0] + I[1] + I[2] - most < most * (1 - 1e-6) - 1e-20 ? TRIBO_INERTIA_BROKEN
                                                                 : TRIBO_INERTIA_FINE;
}
