// Mass properties of a field by quadrature. Cubes of an octree that φ says lie inside count whole, those outside not at
// all, and what the surface passes is halved down to a 256th of the field's size (128th of it for slender ones). There
// a cube of side s counts by the part of it below the plane φ + ∇φ·u = 0, which Gauss' points in it see as
//
//     w(φ) = clamp(½ − φ/s', 0, 1),   s' = s/2 (|n_x| + |n_y| + |n_z|),
//
// with its centre ½(s'/2 + φ) further in, so that the error is of the order of (s/size)².
#include "sdf_field.h"

#include "status.h"

enum { DEPTH = 8 };

typedef struct Moments {
  double volume, first[3], second[9];
} Moments;

// A cube of density w about x: its own inertia is that of a solid cube.
static void add_cube(Moments* m, const double x[3], double side, double w) {
  const double v = w * side * side * side;
  m->volume += v;
  for (int i = 0; i < 3; ++i) {
    m->first[i] += v * x[i];
    for (int k = 0; k < 3; ++k) {
      m->second[3 * i + k] += v * (x[i] * x[k] + (i == k ? side * side / 12 : 0));
    }
  }
}

// The cube of the given side about a point, in eight; at the last depth by its eight parts.
static void add_part(const TriboSdf* sdf, Moments* m, const double centre[3], double side, int depth) {
  double g[3];
  const double phi = tribo_col_sdf_value(sdf, centre, g), half_diagonal = 0.5 * sqrt(3) * side;
  if (fabs(phi) > sdf->lip * half_diagonal) {
    if (phi < 0) {
      add_cube(m, centre, side, 1);
    }
    return;
  }
  for (int i = 0; i < 8; ++i) {
    const double s = 0.25 * side;
    const double x[3] = {centre[0] + (i & 1 ? s : -s), centre[1] + (i & 2 ? s : -s), centre[2] + (i & 4 ? s : -s)};
    if (depth > 1) {
      add_part(sdf, m, x, 0.5 * side, depth - 1);
    } else {
      const double at = tribo_col_sdf_value(sdf, x, g);
      const double wide = 0.5 * side * (fabs(g[0]) + fabs(g[1]) + fabs(g[2]));
      const double w = tribo_clamp(0.5 - at / wide, 0, 1);
      double inner[3];
      tribo_axpy3(inner, x, w < 1 ? -0.5 * (0.5 * wide + at) : 0, g);
      if (w > 0) {
        add_cube(m, inner, 0.5 * side, w);
      }
    }
  }
}

TriboStatus tribo_col_sdf_mass(const TriboSdf* sdf, double* volume, double centre[3], double inertia[9]) {
  Moments m = {0};
  // cubes along the field, as wide as it is: a slender one has several
  double least = sdf->size;
  for (int k = 0; k < 3; ++k) {
    least = fmin(least, sdf->high[k] - sdf->low[k]);
  }
  const double side = fmax(least, sdf->size / 16);
  int count[3];
  for (int k = 0; k < 3; ++k) {
    count[k] = (int)ceil((sdf->high[k] - sdf->low[k]) / side - 1e-9);
  }
  // (deep enough that all cubes together are a 256th of the size)
  const int depth = DEPTH - (int)floor(log2(sdf->size / side) + 0.5);
  for (int i = 0; i < count[0] * count[1] * count[2]; ++i) {
    const int at[3] = {i % count[0], i / count[0] % count[1], i / count[0] / count[1]};
    double x[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = sdf->centre[k] + (at[k] + 0.5 - 0.5 * count[k]) * side;
    }
    add_part(sdf, &m, x, side, depth);
  }
  if (!(m.volume > 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: nothing is inside of it", tribo_col_sdf_name((TriboSdfKind)sdf->nodes->kind));
  }
  tribo_scale3(centre, 1 / m.volume, m.first);
  for (int i = 0; i < 9; ++i) {
    m.second[i] -= m.volume * centre[i / 3] * centre[i % 3];
  }
  const double trace = m.second[0] + m.second[4] + m.second[8];
  for (int i = 0; i < 9; ++i) {
    inertia[i] = (i % 4 == 0) * trace - m.second[i];
  }
  *volume = m.volume;
  return TRIBO_OK;
}
