// A row that may not be passed: a contact's normal, a stop of a joint, the end of a tendon. It says
// σ = c + γ + Rλ ≥ 0 ⊥ λ ≥ 0 with the velocity c at which its distance φ grows.
//
// Bias γ, so that it says the right thing:
//   open, φ > 0      (a speculative contact) γ = φ/h: the gap may close exactly, φ + h c_N ≥ 0, and nothing acts at a
//                    distance. One that lasts, whose impulse acts half at either end, closes by γ = cφ/h: the gaps
//                    of its steps go as z² − (1 − ½c) z + ½c, fastest without swinging at c = 6 − 4√2. Where it
//                    turns by δ and its bodies by an angle φ', its law misses about φ'|δ|: penetration within the slop
//                    that comes of it is undone likewise, by that and by slop/100 a step at most. (Beyond, a grip would
//                    creep for ever, one side pushing out the other)
//   inside, φ ≤ 0    γ = max(ERP · min(0, φ + slop)/h, −v_max): a fraction of the violation is undone, not too fast.
//                    Where overlaps are undone in positions (by_position), that is for drifts alone, up to the depth
//                    that takes |g|h, what weight gives in a step. What is deeper has γ = 0, it carries, and forces
//                    stay of the size of weights; it gives way by R = J M⁻¹Jᵀ/1000, or the force on a body that is
//                    squeezed would be any. Where nothing can move along the row, J = 0, nothing is undone either
//   turning joints   a point of a tree bends into what stands still by ½h²a: φ is taken at the end of the bend, where
//                    that alone would close the gap (assemble.c)
//   impact           e > 0, c_N⁻ < −v_min and φ + h c_N(v_f) ≤ 0, instead of φ/h. In flight c_N runs from c⁻ to
//                    c_N(v_f) = c⁻ + a, so the bodies meet after the fraction θ of the step with φ + h(c⁻θ + aθ²/2) =
//                    0, at c* = c⁻ + θa; they part with −e c* and fly on: c_N⁺ = −e c* + (1 − θ)a. That is σ_N = 0 with
//                    γ = e c* − (1 − θ)a; but never less than what undoes a penetration. Between two free bodies
//                    point and normal are those at θ (impact_rows.c). Else between moving bodies θ = 0: only at q do
//                    equal and opposite impulses at the point keep the angular momentum then
//   spring k, d      an implicit spring-damper is λ = h(−k(φ + h c) − d c), that is c + γ + Rλ = 0 with
//                    R = 1/(h(hk + d)) and γ = kφ/(hk + d) for φ ≤ 0. It rebounds by itself: no impact row.
//   solref, solimp   MuJoCo's spring-damper in units of acceleration (001 (103)–(110)): with the impedance d(φ) between
//                    d₀ and d₁, (c⁺ − c⁻)/h + R λ/h = −b c⁻ − kφ, b = 2/(d₁ τ), k = d/(d₁ τ ζ)² or given, and
//                    R = (1 − d)/d · J M⁻¹ Jᵀ. So γ = (hb − 1) c⁻ + h k φ, φ ≤ 0. τ is at least 2h
#include "dyn_data.h"

// How much a contact gives way whose overlap is undone in positions, of its mobility.
static const double GIVES = 1e-3;

double tribo_dyn_deepest_by_velocity(const TriboStepOptions* o) {
  const double fastest = fmin(o->depen_max, tribo_norm3(o->gravity) * o->h);
  return o->erp > 0 ? o->slop + fastest * o->h / o->erp : INFINITY;
}

// The part of γ that a distance alone decides.
static double distance_bias(const TriboStepOptions* o, double gap) {
  if (fabs(gap) <= TRIBO_DYN_DEAD_BAND) {
    return 0;
  }
  return gap > 0 ? gap / o->h : fmax(o->erp * fmin(0, gap + o->slop) / o->h, -o->depen_max);
}

// The same of a row that lasts, which may miss so much. (Its own gap may cross the dead band: no jump there.)
static double lasting_bias(const TriboStepOptions* o, double gap, double miss) {
  static const double TAKEN_OUT = 0.01, UNSWUNG = 0.34314575050762;  // 6 − 4√2
  const double beyond = gap - copysign(TRIBO_DYN_DEAD_BAND, gap);
  if (fabs(gap) <= TRIBO_DYN_DEAD_BAND) {
    return 0;
  }
  const double least = -fmin(miss, TAKEN_OUT * o->slop / o->h);
  return gap > 0 ? UNSWUNG * beyond / o->h : fmin(distance_bias(o, gap), fmax(o->erp * beyond / o->h, least));
}

// The fraction θ of the step before an impact: smaller root of gap/h + old θ + (free − old) θ²/2, 1 when there is none.
double tribo_dyn_impact_fraction(double gap, double h, double old, double free) {
  const double c = fmax(gap, 0) / h, half = 0.5 * (free - old), root = old * old - 4 * half * c;
  return root < 0 ? 1 : tribo_clamp(2 * c / (-old + sqrt(root)), 0, 1);
}

// J M⁻¹ Jᵀ of one row of a cone
double tribo_dyn_mobility(const TriboSystem* system, const TriboDynData* data, const Rows* r, int c, int i) {
  double sum = 0;
  for (int t = r->term_first[c]; t < r->term_first[c + 1]; ++t) {
    const int block = r->term_block[t], n = system->info.block_dim[block];
    const double *jac = r->term_jac + r->term_at[t] + (size_t)(i * n), *minv = data->minv + system->block_at[block];
    for (int k = 0; k < n; ++k) {
      for (int l = 0; l < n; ++l) {
        sum += jac[k] * minv[k * n + l] * jac[l];
      }
    }
  }
  return sum;
}

// d(φ): from d₀ at touch to d₁ at the width, by two parabolas of the given power that meet at the midpoint
static double impedance(const double* d, double depth) {
  const double x = d[2] > 0 ? fmin(depth / d[2], 1) : 1, mid = d[3], p = d[4];
  double y = x;
  if (p > 1 && x < 1) {
    y = x <= mid ? pow(x, p) / pow(mid, p - 1) : 1 - pow(1 - x, p) / pow(1 - mid, p - 1);
  }
  return tribo_clamp(d[0] + y * (d[1] - d[0]), 1e-4, 0.9999);
}

// Bias γ and compliance R of a row with MuJoCo's spring-damper, see solref, solimp above.
double tribo_dyn_soft_row(const TriboStepOptions* o, const TriboSoftness* soft, double gap, double old, double mobility,
                          double* R) {
  const double *ref = soft->solref, d = impedance(soft->solimp, fabs(gap)), most = soft->solimp[1];
  const double tau = fmax(ref[0], 2 * o->h);
  const double b = ref[0] > 0 ? 2 / (most * tau) : -ref[1] / most;
  const double k = ref[0] > 0 ? d / (most * most * tau * tau * ref[1] * ref[1]) : -ref[0] * d / (most * most);
  *R = (1 - d) / d * mobility;
  return (fmin(o->h * b, 1) - 1) * old + o->h * k * gap;
}

// Whether nothing moves along a row: a link that turns about the normal of what it stands in.
static int is_stuck(const TriboSystem* system, const Rows* r, int c, int i) {
  double most = 0;
  for (int t = r->term_first[c]; t < r->term_first[c + 1]; ++t) {
    const int n = system->info.block_dim[r->term_block[t]];
    for (int k = 0; k < n; ++k) {
      most = fmax(most, fabs(r->term_jac[r->term_at[t] + (size_t)(i * n + k)]));
    }
  }
  return most < 1e-9;
}

// Writes g = c_N(v_f) + γ and R of the normal row of cone c, by the cases above.
void tribo_dyn_normal_row(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* o, int c,
                          const TriboContactLaw* law, int lasts, double miss, double gap, double free, double old) {
  Rows* d = &data->rows;
  const int row = d->cones[c].row + d->cones[c].dim - 1;
  double bias = lasts ? lasting_bias(o, gap, miss) : distance_bias(o, gap);
  if (bias < 0 && is_stuck(system, d, c, d->cones[c].dim - 1)) {
    bias = 0;
  }
  if (law->by_position && -gap > tribo_dyn_deepest_by_velocity(o)) {
    bias = 0;
    d->R[row] = GIVES * tribo_dyn_mobility(system, data, d, c, d->cones[c].dim - 1);
  }
  if (law->compliance > 0) {
    const double stiff = o->h * law->compliance + law->damping;
    d->R[row] = 1 / (o->h * stiff);
    bias = gap > 0 ? bias : gap * law->compliance / stiff;
  } else if (law->soft.solref[0] != 0) {
    // what is reached in this step is met as at touch
    const double soft =
        tribo_dyn_soft_row(o, &law->soft, fmin(gap, 0), old,
                           tribo_dyn_mobility(system, data, &data->rows, c, d->cones[c].dim - 1), d->R + row);
    bias = gap + o->h * free > 0 && gap > 0 ? bias : soft;
  } else if (law->restitution > 0 && old < -o->bounce_min && gap + o->h * free <= 0) {
    const double fraction = d->infos[c].block_b >= 0 ? d->impact[c] : tribo_dyn_impact_fraction(gap, o->h, old, free);
    const double flight = free - old;
    bias = fmin(law->restitution * (old + fraction * flight) - (1 - fraction) * flight, gap > 0 ? 0 : bias);
    d->infos[c].impact = 1;
    d->impact[c] = fraction;
  }
  d->g[row] = free + bias;
}

int tribo_dyn_lasts(const TriboStepOptions* o, double distance, double rate, double turn) {
  // (what rounding leaves of a rate makes no way that counts)
  const double g = tribo_norm3(o->gravity), close = o->slop + TRIBO_DYN_DEAD_BAND;
  return fabs(distance) <= fmax(2 * close, 0.5 * g * o->h * o->h) + 0.5 * o->h * fabs(turn) &&
         fabs(rate) <= 0.5 * g * o->h + fabs(turn) + TRIBO_DYN_DEAD_BAND / o->h;
}
