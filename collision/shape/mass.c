// Mass properties of solids of density 1.
//
// Polyhedra: the integral over the solid is the sum over its outward triangles (a, b, c) of the integrals over the
// signed tetrahedra (o, a, b, c), with o any point and x = o + u, D = det(a, b, c):
//     ∫ 1 = Σ D/6,   ∫ u = Σ D/24 (a+b+c),   ∫ u uᵀ = Σ D/120 [(a+b+c)(a+b+c)ᵀ + aaᵀ + bbᵀ + ccᵀ]
// Inertia from the second moment C about the centre: I = tr(C) E − C.
#include "shape.h"
#include "status.h"

// The sums over the triangles of a hull.
static void hull_mass(const TriboHull* hull, double* volume, double centre[3], double inertia[9]) {
  // integrate about the middle of the bounding box: no cancellation for hulls far from their origin
  const double* o = hull->centre;
  double v = 0, first[3] = {0}, second[9] = {0};
  for (int t = 0; t < hull->ntriangle; ++t) {
    double x[3][3], sum[3] = {0}, cross[3];
    for (int k = 0; k < 3; ++k) {
      tribo_sub3(x[k], hull->points + 3 * hull->triangles[3 * t + k], o);
      tribo_add3(sum, sum, x[k]);
    }
    tribo_cross3(cross, x[1], x[2]);
    double det = tribo_dot3(x[0], cross);
    v += det / 6;
    tribo_axpy3(first, first, det / 24, sum);
    for (int i = 0; i < 9; ++i) {
      int r = i / 3, c = i % 3;
      second[i] += det / 120 * (sum[r] * sum[c] + x[0][r] * x[0][c] + x[1][r] * x[1][c] + x[2][r] * x[2][c]);
    }
  }
  double shift[3];
  tribo_scale3(shift, 1 / v, first);
  for (int i = 0; i < 9; ++i) {
    second[i] -= v * shift[i / 3] * shift[i % 3];
  }
  double trace = second[0] + second[4] + second[8];
  for (int i = 0; i < 9; ++i) {
    inertia[i] = (i % 4 == 0) * trace - second[i];
  }
  tribo_add3(centre, o, shift);
  *volume = v;
}

TriboStatus tribo_col_shape_mass(TriboShapeKind kind, const double size[3], const TriboHull* hull, double* volume,
                                 double centre[3], double inertia[9]) {
  TriboGeom geom = {.kind = kind, .hull = hull, .body = TRIBO_WORLD_BODY, .local.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  if (size != NULL) {
    tribo_copy3(geom.size, size);
  }
  TRIBO_TRY(tribo_col_geom_validate(&geom));
  if (kind == TRIBO_SHAPE_HULL) {
    hull_mass(hull, volume, centre, inertia);
    return TRIBO_OK;
  }
  const double pi = 3.14159265358979323846;
  double r = geom.size[0], l = geom.size[1], v = 0, ix = 0, iy = 0, iz = 0, z = 0;
  switch (kind) {
    case TRIBO_SHAPE_SPHERE:
      v = 4 * pi / 3 * r * r * r;
      ix = iy = iz = 0.4 * v * r * r;
      break;
    case TRIBO_SHAPE_BOX: {
      double x = geom.size[0], y = geom.size[1], w = geom.size[2];
      v = x * y * w;
      ix = v * (y * y + w * w) / 12, iy = v * (x * x + w * w) / 12, iz = v * (x * x + y * y) / 12;
      break;
    }
    case TRIBO_SHAPE_CAPSULE: {
      // cylinder and two half balls, each with its centroid 3r/8 beyond the cylinder's end
      double vc = pi * r * r * l, vs = 4 * pi / 3 * r * r * r;
      v = vc + vs;
      iz = vc * r * r / 2 + 0.4 * vs * r * r;
      ix = iy = vc * (r * r / 4 + l * l / 12) + vs * (0.4 * r * r + l * l / 4 + 3 * l * r / 8);
      break;
    }
    case TRIBO_SHAPE_CYLINDER:
      v = pi * r * r * l;
      iz = v * r * r / 2;
      ix = iy = v * (3 * r * r + l * l) / 12;
      break;
    case TRIBO_SHAPE_CONE:
      v = pi * r * r * l / 3;
      z = -l / 4;  // the centroid is a quarter of the height above the base
      iz = 0.3 * v * r * r;
      ix = iy = v * (0.15 * r * r + 0.0375 * l * l);
      break;
    case TRIBO_SHAPE_ELLIPSOID: {
      double x = geom.size[0], y = geom.size[1], w = geom.size[2];
      v = 4 * pi / 3 * x * y * w;
      ix = v * (y * y + w * w) / 5, iy = v * (x * x + w * w) / 5, iz = v * (x * x + y * y) / 5;
      break;
    }
    default: return tribo_fail(TRIBO_INVALID, "tribo_col_shape_mass: a %s has no volume", tribo_col_shape_name(kind));
  }
  *volume = v;
  tribo_set3(centre, 0, 0, z);
  memset(inertia, 0, 9 * sizeof *inertia);
  inertia[0] = ix, inertia[4] = iy, inertia[8] = iz;
  return TRIBO_OK;
}
