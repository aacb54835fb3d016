// The field of an ISO 68-1 thread about the z axis.
//
// In the half plane (r, ζ), ζ = z − lθ with the lead l per radian, the profile has the period P and is symmetric in ζ:
// folded to |ζ| ∈ [0, P/2] it is a crest P/8 wide at d/2, a flank of 30° and a root P/4 wide at d/2 − 5H/8, H = √3 P/2.
// Let δ be the distance to these three segments there, negative on the axis' side. The section is not at right angles
// to the helix: ∇δ = δ_r e_r − δ_ζ (l/r) e_θ + δ_ζ e_z has the length
//
//     N = √(1 + (δ_ζ l/r)²),   so that   φ = δ/N,   ∇φ = ∇δ/N
//
// is the distance to first order at the surface, and exact on it. A nut's hole is the thread grown by its clearance.
#include "sdf_field.h"

static const double PI = 3.14159265358979323846;

SdfThread tribo_col_sdf_thread_of(const TriboSdfDef* def) {
  const double P = def->pitch, H = 0.5 * sqrt(3) * P;
  SdfThread t = {.pitch = P,
                 .crest = 0.5 * def->size[0],
                 .root = 0.5 * def->size[0] - 0.625 * H,
                 .lead = (def->left_hand ? -1 : 1) * def->starts * P / (2 * PI),
                 .grow = def->clearance,
                 .half = def->across > 0 ? INFINITY : 0.5 * def->size[1],
                 .flank = {0.5, 0.5 * sqrt(3)}};
  return t;
}

double tribo_col_sdf_thread_edge(const SdfThread* t, double zeta) {
  const double a = fabs(zeta - t->pitch * nearbyint(zeta / t->pitch));
  // where the grown flank and the grown lines across meet
  const double g = t->grow, flank = t->root + (0.375 * t->pitch - a) * t->flank[1] / t->flank[0] + g / t->flank[0];
  return fmax(t->root + g, fmin(t->crest + g, flank));
}

// δ and its gradient at (r, a), 0 ≤ a ≤ P/2.
static double section(const SdfThread* t, double r, double a, double g[2]) {
  const double P = t->pitch, from = P / 16, to = 0.375 * P;
  // along the flank, from its crest end
  const double dr = r - t->crest, da = a - from;
  const double along = -dr * t->flank[1] + da * t->flank[0], length = (to - from) / t->flank[0];
  const double across = dr * t->flank[0] + da * t->flank[1];
  double best;
  if (along >= 0 && along <= length) {
    best = across;
    g[0] = t->flank[0], g[1] = t->flank[1];
  } else {
    // the nearer end of the flank, an end of the line next to it as well
    const double x = along < 0 ? dr : r - t->root, y = along < 0 ? da : a - to, d = sqrt(x * x + y * y);
    const double inside = across < 0 ? -1 : 1;
    best = inside * d;
    g[0] = d > 0 ? inside * x / d : t->flank[0], g[1] = d > 0 ? inside * y / d : t->flank[1];
  }
  if (a <= from && fabs(dr) <= fabs(best)) {
    best = dr;
    g[0] = 1, g[1] = 0;
  }
  if (a >= to && fabs(r - t->root) <= fabs(best)) {
    best = r - t->root;
    g[0] = 1, g[1] = 0;
  }
  return best;
}

// The nearest whole number of turns; of no more than fit into an int64, and then any.
static double nearest(double turns) {
  return fabs(turns) < 1e15 ? (double)(int64_t)(turns + (turns < 0 ? -0.5 : 0.5)) : 0;
}

double tribo_col_sdf_thread(const SdfThread* t, const double x[3], double gradient[3]) {
  const double square = x[0] * x[0] + x[1] * x[1], r = sqrt(square);
  double g[2];
  // near the axis the section would be bent: there the core is what counts
  if (r < 0.5 * t->root) {
    tribo_set3(gradient, r > 0 ? x[0] / r : 1, r > 0 ? x[1] / r : 0, 0);
    return r - t->root - t->grow;
  }
  const double zeta = x[2] - t->lead * atan2(x[1], x[0]);
  const double u = zeta - t->pitch * nearest(zeta / t->pitch);
  const double delta = section(t, r, fabs(u), g) - t->grow;
  const double slope = u < 0 ? -g[1] : g[1], bent = slope * t->lead / r;
  const double scale = 1 / sqrt(g[0] * g[0] + g[1] * g[1] + bent * bent), ex = x[0] / r, ey = x[1] / r;
  tribo_set3(gradient, scale * (g[0] * ex + bent * ey), scale * (g[0] * ey - bent * ex), scale * slope);
  return scale * delta;
}
