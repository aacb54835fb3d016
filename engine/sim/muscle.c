// Muscles, by the model that MuJoCo documents (Computation, "Muscle actuators"), after Zajac 1989 and Millard et al.
// 2013.
//
// The length l of what is pulled is measured in optimal lengths L₀, its speed in vmax L₀ per second: with the lengths
// l₀ … l₁ between which the muscle works in r₀ … r₁ optimal lengths,
//
//     L₀ = (l₁ − l₀)/(r₁ − r₀),   L = r₀ + (l − l₀)/L₀,   V = l̇/(vmax L₀),   f = −peak (F_L(L) F_V(V) a + F_P(L)).
//
// F_L is a bump of four parabolas from lmin over 1 to lmax; F_V grows from 0 at V = −1 over 1 at rest to fvmax; F_P
// begins at 1 and reaches half of fpmax in the middle between 1 and lmax, straight from there.
//
// The activation a follows the control u: ȧ = (u − a)/τ, with τ = τ_up (½ + 3/2 a) where it rises and
// τ_down/(½ + 3/2 a) where it falls, one fading into the other within a width.
#include "muscle.h"

#include <math.h>

#include "math3.h"

static double bump(double x) {
  return x <= 0 ? 0 : x <= 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x);
}

double tribo_muscle_force(const TriboMuscleDef* m, double length, double speed, double activation) {
  const double unit = (m->lengths[1] - m->lengths[0]) / (m->range[1] - m->range[0]);
  const double L = m->range[0] + (length - m->lengths[0]) / unit, V = speed / (unit * m->vmax), y = m->fvmax - 1;
  const double by_length = L <= 1 ? bump((L - m->lmin) / (1 - m->lmin)) : bump((m->lmax - L) / (m->lmax - 1));
  const double by_speed = V <= -1  ? 0
                          : V <= 0 ? (V + 1) * (V + 1)
                          : V < y  ? m->fvmax - (y - V) * (y - V) / y
                                   : m->fvmax;
  const double x = 2 * (L - 1) / (m->lmax - 1);
  const double passive = x <= 0 ? 0 : m->fpmax * (x <= 1 ? 0.5 * x * x : x - 0.5);
  return -m->peak * (by_length * by_speed * activation + passive);
}

double tribo_muscle_rate(const TriboActuatorDef* def, double activation, double ctrl) {
  const double level = 0.5 + 1.5 * tribo_clamp(activation, 0, 1), up = def->time_constant * level,
               down = def->time_constant_down / level, excess = tribo_clamp(ctrl, 0, 1) - activation;
  double rising = excess > 0;
  if (def->smoothing > 0) {
    const double x = tribo_clamp(excess / def->smoothing + 0.5, 0, 1);
    rising = x * x * x * (10 + x * (6 * x - 15));
  }
  return excess / (down + (up - down) * rising);
}
