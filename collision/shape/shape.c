// Shapes: checks, support points and their curvature, bounds.
#include "shape.h"

#include "sdf_field.h"

#include "status.h"

const char* tribo_col_shape_name(TriboShapeKind kind) {
  static const char* const names[TRIBO_SHAPE_COUNT] = {"sphere",     "box",         "capsule", "cylinder",
                                                       "cone",       "ellipsoid",   "hull",    "distance field",
                                                       "half-space", "height field"};
  return (unsigned)kind < TRIBO_SHAPE_COUNT ? names[kind] : "unknown shape";
}

// How many numbers of size[] a shape uses.
static int size_count(TriboShapeKind kind) {
  static const int counts[TRIBO_SHAPE_COUNT] = {1, 3, 2, 2, 2, 3, 0, 0, 0, 0};
  return counts[kind];
}

static TriboStatus check_shape(const char* where, TriboShapeKind kind, const double size[3], const TriboHull* hull) {
  if ((unsigned)kind >= TRIBO_SHAPE_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: shape kind %d is not one of 0 … %d", where, (int)kind, TRIBO_SHAPE_COUNT - 1);
  }
  for (int i = 0; i < size_count(kind); ++i) {
    // the bounds keep squares and volumes finite and normal
    if (!(size[i] >= 1e-9 && size[i] <= 1e9)) {
      return tribo_fail(TRIBO_INVALID, "%s: size[%d] of a %s is %g, it must be within 1e-9 … 1e9 m", where, i,
                        tribo_col_shape_name(kind), size[i]);
    }
  }
  if (kind == TRIBO_SHAPE_HULL && hull == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: a hull shape needs its hull, which is NULL", where);
  }
  return TRIBO_OK;
}

TriboStatus tribo_col_geom_validate(const TriboGeom* geom) {
  const char* where = "tribo_col_geom_validate";
  if (geom == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: geom is NULL", where);
  }
  TRIBO_TRY(check_shape(where, geom->kind, geom->size, geom->hull));
  if (geom->body < TRIBO_WORLD_BODY) {
    return tribo_fail(TRIBO_INVALID, "%s: body is %d, it must be %d (world) or above", where, geom->body,
                      TRIBO_WORLD_BODY);
  }
  if (geom->kind >= TRIBO_SHAPE_HALFSPACE && geom->body != TRIBO_WORLD_BODY) {
    return tribo_fail(TRIBO_INVALID, "%s: a %s is on body %d, it must be on the world (%d)", where,
                      tribo_col_shape_name(geom->kind), geom->body, TRIBO_WORLD_BODY);
  }
  if (geom->kind == TRIBO_SHAPE_HEIGHTFIELD && geom->field == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: a height field shape needs its field, which is NULL", where);
  }
  if (geom->kind == TRIBO_SHAPE_SDF && geom->sdf == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: a distance field shape needs its field, which is NULL", where);
  }
  if (!tribo_finite(geom->local.p, 3) || !tribo_finite(geom->local.R, 9)) {
    return tribo_fail(TRIBO_INVALID, "%s: the local pose of a %s is not finite", where,
                      tribo_col_shape_name(geom->kind));
  }
  double gram[9];
  tribo_mul33t(gram, geom->local.R, geom->local.R);
  for (int i = 0; i < 9; ++i) {
    if (fabs(gram[i] - (i % 4 == 0)) > 1e-9) {
      return tribo_fail(TRIBO_INVALID, "%s: local.R of a %s is not a rotation: R Rᵀ has %g at [%d][%d]", where,
                        tribo_col_shape_name(geom->kind), gram[i], i / 3, i % 3);
    }
  }
  if (!(geom->contact_offset >= 0 && geom->contact_offset <= 1e6)) {
    return tribo_fail(TRIBO_INVALID, "%s: contact_offset of a %s is %g, it must be within 0 … 1e6 m", where,
                      tribo_col_shape_name(geom->kind), geom->contact_offset);
  }
  if (tribo_det33(geom->local.R) < 0) {
    return tribo_fail(TRIBO_INVALID, "%s: local.R of a %s is a reflection", where, tribo_col_shape_name(geom->kind));
  }
  return TRIBO_OK;
}

TriboSolid tribo_col_solid(const TriboGeom* geom) {
  TriboSolid solid = {.kind = geom->kind,
                      .hull = geom->hull,
                      .field = geom->field,
                      .sdf = geom->sdf,
                      .contact_offset = geom->contact_offset};
  const double* size = geom->size;
  switch (geom->kind) {
    case TRIBO_SHAPE_SPHERE: solid.radius = size[0]; break;
    case TRIBO_SHAPE_BOX: tribo_scale3(solid.half, 0.5, size); break;
    case TRIBO_SHAPE_ELLIPSOID: tribo_copy3(solid.half, size); break;
    case TRIBO_SHAPE_CAPSULE:
    case TRIBO_SHAPE_CYLINDER:
    case TRIBO_SHAPE_CONE:
      solid.radius = size[0];
      solid.half[2] = 0.5 * size[1];
      break;
    default: break;
  }
  return solid;
}

TriboStatus tribo_col_solid_open(const TriboGeom* geom, const TriboPose* pose, TriboSolid* out) {
  *out = tribo_col_solid(geom);
  out->pose = *pose;
  if (geom->kind == TRIBO_SHAPE_HULL) {
    out->coal = geom->hull->coal;
  } else if (geom->kind < TRIBO_SHAPE_SDF) {
    TRIBO_TRY(tribo_coal_shape_create(geom->kind, geom->size, &out->coal));
  }
  return TRIBO_OK;
}

void tribo_col_solid_close(TriboSolid* solid) {
  if (solid->kind != TRIBO_SHAPE_HULL) {  // (hulls keep theirs)
    tribo_coal_shape_destroy(solid->coal);
  }
  solid->coal = NULL;
}

// ---- the support of a hull
//
// A small hull looks at all its vertices. A large one climbs along its edges, from a vertex that is right for the
// middle of a cell of directions: each of the six sides of a cube has 4 × 4 cells. Faces may be merged of triangles
// that are coplanar only to rounding, so at the end all vertices of the faces around are looked at too.

static int highest(const TriboHull* hull, const double n[3]) {
  int best = 0;
  double most = -INFINITY;
  for (int i = 0; i < hull->nvertex; ++i) {
    double h = tribo_dot3(n, hull->points + 3 * i);
    if (h > most) {
      most = h, best = i;
    }
  }
  return best;
}

void tribo_col_hull_starts(TriboHull* hull) {
  for (int k = 0; k < TRIBO_HULL_STARTS; ++k) {
    const int side = k / 16, axis = side / 2;
    double n[3];
    n[axis] = side % 2 ? -1 : 1;
    n[(axis + 1) % 3] = 0.5 * (k / 4 % 4) - 0.75;
    n[(axis + 2) % 3] = 0.5 * (k % 4) - 0.75;
    hull->start[k] = highest(hull, n);
  }
}

static int cell_along(double x, double most) {
  const int cell = (int)(2 * x / most + 2);
  return cell < 0 ? 0 : cell > 3 ? 3 : cell;
}

static int cell_of(const double n[3]) {
  const int axis = tribo_col_longest_axis(n);
  const double most = fabs(n[axis]);
  if (!(most > 0)) {
    return 0;
  }
  return 16 * (2 * axis + (n[axis] < 0)) + 4 * cell_along(n[(axis + 1) % 3], most) +
         cell_along(n[(axis + 2) % 3], most);
}

// Goes up edges as long as there is a way.
static int climb(const TriboHull* hull, const double n[3], int vertex, double* height) {
  for (int last = -1; last != vertex;) {
    last = vertex;
    for (int k = hull->around_first[last]; k < hull->around_first[last + 1]; ++k) {
      const double h = tribo_dot3(n, hull->points + 3 * hull->next[k]);
      if (h > *height) {
        *height = h;
        vertex = hull->next[k];
      }
    }
  }
  return vertex;
}

int tribo_col_hull_support(const TriboHull* hull, const double n[3]) {
  if (hull->start == NULL) {
    return highest(hull, n);
  }
  int vertex = hull->start[cell_of(n)];
  double height = tribo_dot3(n, hull->points + 3 * vertex);
  for (int last = -1; last != vertex;) {
    vertex = last = climb(hull, n, vertex, &height);
    for (int k = hull->around_first[last]; k < hull->around_first[last + 1]; ++k) {
      const int face = hull->around[k];
      for (int i = hull->face_first[face]; i < hull->face_first[face + 1]; ++i) {
        const double h = tribo_dot3(n, hull->points + 3 * hull->face_vertex[i]);
        if (h > height) {
          height = h;
          vertex = hull->face_vertex[i];
        }
      }
    }
  }
  return vertex;
}

double tribo_col_support(const TriboSolid* s, const double n[3], double x[3]) {
  double d[3], local[3] = {0, 0, 0};
  tribo_mul33tv(d, s->pose.R, n);
  double rim = sqrt(d[0] * d[0] + d[1] * d[1]);
  switch (s->kind) {
    case TRIBO_SHAPE_SPHERE: break;
    case TRIBO_SHAPE_BOX:
      for (int i = 0; i < 3; ++i) {
        local[i] = copysign(s->half[i], d[i]);
      }
      break;
    case TRIBO_SHAPE_CAPSULE: local[2] = copysign(s->half[2], d[2]); break;
    case TRIBO_SHAPE_CYLINDER:
    case TRIBO_SHAPE_CONE:
      // the apex of a cone wins over its rim when d points above the normal of the slant line
      if (s->kind == TRIBO_SHAPE_CONE && 2 * s->half[2] * d[2] > s->radius * rim) {
        local[2] = s->half[2];
        break;
      }
      local[2] = s->kind == TRIBO_SHAPE_CONE ? -s->half[2] : copysign(s->half[2], d[2]);
      if (rim > 0) {
        local[0] = s->radius * d[0] / rim;
        local[1] = s->radius * d[1] / rim;
      }
      break;
    case TRIBO_SHAPE_ELLIPSOID: {
      double scaled[3] = {s->half[0] * d[0], s->half[1] * d[1], s->half[2] * d[2]};
      tribo_normalize3(scaled);
      for (int i = 0; i < 3; ++i) {
        local[i] = s->half[i] * scaled[i];
      }
      break;
    }
    case TRIBO_SHAPE_HULL: tribo_copy3(local, s->hull->points + 3 * tribo_col_hull_support(s->hull, d)); break;
    default: break;
  }
  tribo_col_to_world(x, &s->pose, local);
  if (s->kind == TRIBO_SHAPE_SPHERE || s->kind == TRIBO_SHAPE_CAPSULE) {
    tribo_axpy3(x, x, s->radius, n);
  }
  return tribo_dot3(n, x);
}

void tribo_col_curvature(const TriboSolid* s, const double n[3], double hessian[9]) {
  double local[9] = {0}, d[3];
  tribo_mul33tv(d, s->pose.R, n);
  switch (s->kind) {
    case TRIBO_SHAPE_SPHERE:
    case TRIBO_SHAPE_CAPSULE:
      // h = r |n| + a piecewise linear part
      for (int i = 0; i < 9; ++i) {
        local[i] = s->radius * ((i % 4 == 0) - d[i / 3] * d[i % 3]);
      }
      break;
    case TRIBO_SHAPE_CYLINDER:
    case TRIBO_SHAPE_CONE: {
      // h = r √(d_x² + d_y²) + …: bends only around the axis, and not at all at the apex
      double rim = sqrt(d[0] * d[0] + d[1] * d[1]);
      if (rim > 0 && !(s->kind == TRIBO_SHAPE_CONE && 2 * s->half[2] * d[2] > s->radius * rim)) {
        double t[2] = {-d[1] / rim, d[0] / rim}, k = s->radius / rim;
        local[0] = k * t[0] * t[0], local[1] = local[3] = k * t[0] * t[1], local[4] = k * t[1] * t[1];
      }
      break;
    }
    case TRIBO_SHAPE_ELLIPSOID: {
      // h = √(dᵀ D² d): Hessian (D² − D²d dᵀD²/h²)/h
      double e[3], h = 0;
      for (int i = 0; i < 3; ++i) {
        e[i] = s->half[i] * s->half[i] * d[i];
        h += e[i] * d[i];
      }
      h = sqrt(h);
      for (int i = 0; i < 9; ++i) {
        local[i] = ((i % 4 == 0) * s->half[i % 3] * s->half[i % 3] - e[i / 3] * e[i % 3] / (h * h)) / h;
      }
      break;
    }
    default: return;
  }
  double half[9], world[9];
  tribo_mul33(half, s->pose.R, local);
  tribo_mul33t(world, half, s->pose.R);
  for (int i = 0; i < 9; ++i) {
    hessian[i] += world[i];
  }
}

void tribo_col_bounds(const TriboSolid* s, double low[3], double high[3]) {
  double centre[3] = {s->pose.p[0], s->pose.p[1], s->pose.p[2]}, half[3] = {0, 0, 0};
  double box_low[3], box_high[3], field_half[3] = {0, 0, 0};
  if (s->kind == TRIBO_SHAPE_SDF) {
    tribo_sub3(field_half, s->sdf->high, s->sdf->centre);
    tribo_col_to_world(centre, &s->pose, s->sdf->centre);
  } else if (s->kind == TRIBO_SHAPE_HULL) {
    tribo_col_to_world(centre, &s->pose, s->hull->centre);
  } else if (s->kind == TRIBO_SHAPE_HEIGHTFIELD) {
    tribo_col_field_bounds(s->field, box_low, box_high);
    tribo_sub3(field_half, box_high, box_low);
    tribo_scale3(field_half, 0.5, field_half);
    tribo_axpy3(box_low, box_low, 1, field_half);
    tribo_col_to_world(centre, &s->pose, box_low);
  }
  for (int i = 0; i < 3; ++i) {
    const double* row = s->pose.R + 3 * i;
    switch (s->kind) {
      case TRIBO_SHAPE_SPHERE: half[i] = s->radius; break;
      case TRIBO_SHAPE_CAPSULE: half[i] = s->radius + fabs(row[2]) * s->half[2]; break;
      case TRIBO_SHAPE_CYLINDER:
      case TRIBO_SHAPE_CONE:
        half[i] = s->radius * sqrt(row[0] * row[0] + row[1] * row[1]) + fabs(row[2]) * s->half[2];
        break;
      case TRIBO_SHAPE_ELLIPSOID: {
        double e[3] = {row[0] * s->half[0], row[1] * s->half[1], row[2] * s->half[2]};
        half[i] = tribo_norm3(e);
        break;
      }
      default: {
        const double* box = s->kind == TRIBO_SHAPE_HULL                                        ? s->hull->half
                            : s->kind == TRIBO_SHAPE_HEIGHTFIELD || s->kind == TRIBO_SHAPE_SDF ? field_half
                                                                                               : s->half;
        half[i] = fabs(row[0]) * box[0] + fabs(row[1]) * box[1] + fabs(row[2]) * box[2];
        break;
      }
    }
  }
  tribo_sub3(low, centre, half);
  tribo_add3(high, centre, half);
}

double tribo_col_reach(const TriboSolid* s) {
  switch (s->kind) {
    case TRIBO_SHAPE_SPHERE: return s->radius;
    case TRIBO_SHAPE_BOX: return tribo_norm3(s->half);
    case TRIBO_SHAPE_CAPSULE: return s->radius + s->half[2];
    case TRIBO_SHAPE_CYLINDER:
    case TRIBO_SHAPE_CONE: return sqrt(s->radius * s->radius + s->half[2] * s->half[2]);
    case TRIBO_SHAPE_ELLIPSOID: return fmax(s->half[0], fmax(s->half[1], s->half[2]));
    case TRIBO_SHAPE_HULL: {
      double far[3];
      for (int i = 0; i < 3; ++i) {
        far[i] = fabs(s->hull->centre[i]) + s->hull->half[i];
      }
      return tribo_norm3(far);
    }
    case TRIBO_SHAPE_SDF: return s->sdf->reach;
    default: return INFINITY;
  }
}
