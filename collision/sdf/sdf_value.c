// φ and ∇φ of every kind of node. Leaves are distances to a section where they are turned or drawn out: in the half
// plane (r, z) of a body of revolution, or d across and |z| − h along for one that is drawn out along z.
#include "sdf_field.h"
#include "shape.h"

// What is drawn out along z: d2 with its gradient g2 in the plane, made a solid of half length h with rounded edges.
static double drawn_out(double d2, const double g2[2], double z, double h, double round, double g[3]) {
  const double dz = fabs(z) - h, up = z < 0 ? -1 : 1;
  if (d2 > 0 && dz > 0) {
    const double d = sqrt(d2 * d2 + dz * dz);
    tribo_set3(g, d2 / d * g2[0], d2 / d * g2[1], dz / d * up);
    return d - round;
  }
  if (d2 >= dz) {
    tribo_set3(g, g2[0], g2[1], 0);
    return d2 - round;
  }
  tribo_set3(g, 0, 0, up);
  return dz - round;
}

static double box(const SdfNode* n, const double x[3], double g[3]) {
  double out[3], square = 0;
  int deepest = 0;
  for (int k = 0; k < 3; ++k) {
    const double d = fabs(x[k]) - (n->half[k] - n->round);
    out[k] = d;
    square += d > 0 ? d * d : 0;
    deepest = d > out[deepest] ? k : deepest;
  }
  tribo_set3(g, 0, 0, 0);
  if (!(square > 0)) {
    g[deepest] = x[deepest] < 0 ? -1 : 1;
    return out[deepest] - n->round;
  }
  const double d = sqrt(square);
  for (int k = 0; k < 3; ++k) {
    g[k] = out[k] > 0 ? copysign(out[k] / d, x[k]) : 0;
  }
  return d - n->round;
}

// Away from the nearest point of a segment of the z axis.
static double capsule(const SdfNode* n, const double x[3], double g[3]) {
  tribo_set3(g, x[0], x[1], x[2] - tribo_clamp(x[2], -n->half[2], n->half[2]));
  const double d = tribo_normalize3(g);
  if (d == 0) {
    tribo_set3(g, 1, 0, 0);
  }
  return d - n->radius;
}

static double cylinder(const SdfNode* n, const double x[3], double g[3]) {
  const double r = sqrt(x[0] * x[0] + x[1] * x[1]);
  const double g2[2] = {r > 0 ? x[0] / r : 1, r > 0 ? x[1] / r : 0};
  return drawn_out(r - (n->radius - n->round), g2, x[2], n->half[2] - n->round, n->round, g);
}

// Seen from the side that is nearest.
static double prism(const SdfNode* n, const double x[3], double g[3]) {
  const double flat = n->radius - n->round;
  double most = -INFINITY, c = 1, s = 0;
  for (int i = 0; i < n->nprofile; ++i) {
    const double along = n->profile[2 * i] * x[0] + n->profile[2 * i + 1] * x[1];
    if (along > most) {
      most = along;
      c = n->profile[2 * i], s = n->profile[2 * i + 1];
    }
  }
  const double u = most - flat, v = c * x[1] - s * x[0], beyond = fabs(v) - n->half[0];
  double d2 = u, gu = 1, gv = 0;
  if (u > 0 && beyond > 0) {
    d2 = sqrt(u * u + beyond * beyond);
    gu = u / d2, gv = copysign(beyond / d2, v);
  }
  const double g2[2] = {c * gu - s * gv, s * gu + c * gv};
  return drawn_out(d2, g2, x[2], n->half[2] - n->round, n->round, g);
}

// From a segment in the half plane: the distance, and the way from it (not of unit length).
static double from_segment(const double a[2], const double b[2], double r, double z, double way[2]) {
  const double dr = b[0] - a[0], dz = b[1] - a[1], square = dr * dr + dz * dz;
  const double t = square > 0 ? tribo_clamp(((r - a[0]) * dr + (z - a[1]) * dz) / square, 0, 1) : 0;
  way[0] = r - a[0] - t * dr, way[1] = z - a[1] - t * dz;
  return sqrt(way[0] * way[0] + way[1] * way[1]);
}

// A direction (r, z) of the half plane of x, in space.
static void turn_out(const double x[3], double r, const double way[2], double scale, double g[3]) {
  tribo_set3(g, r > 0 ? scale * way[0] * x[0] / r : scale * way[0], r > 0 ? scale * way[0] * x[1] / r : 0,
             scale * way[1]);
}

static double cone(const SdfNode* n, const double x[3], double g[3]) {
  const double r = sqrt(x[0] * x[0] + x[1] * x[1]), h = n->half[2];
  const double foot[2] = {0, -h}, rim[2] = {n->radius, -h}, apex[2] = {0, h};
  double way[2], other[2];
  double d = from_segment(rim, apex, r, x[2], way);
  const double base = from_segment(foot, rim, r, x[2], other);
  // outside of its slant, or below
  const int outside = 2 * h * (r - n->radius) + n->radius * (x[2] + h) > 0 || x[2] < -h;
  if (base < d) {
    d = base;
    way[0] = other[0], way[1] = other[1];
  }
  if (!(d > 1e-14 * (h + n->radius))) {
    const double length = sqrt(4 * h * h + n->radius * n->radius);
    const double out[2] = {base <= 0 && r < n->radius ? 0 : 2 * h / length,
                           base <= 0 && r < n->radius ? -1 : n->radius / length};
    turn_out(x, r, out, 1, g);
    return 0;
  }
  turn_out(x, r, way, (outside ? 1 : -1) / d, g);
  return outside ? d : -d;
}

// The nearest point y has y_i = a_i² x_i/(t + a_i²) with Σ (y_i/a_i)² = 1: a falling convex function of t, by Newton's
// method from its left, which is −a² of the shortest axis at least. Where the sum is below 1 even there, x lies in the
// middle plane of that axis, and y off it.
static double ellipsoid(const SdfNode* n, const double x[3], double g[3]) {
  const double* a = n->half;
  double y[3] = {0, 0, 0}, away[3], square = 0;
  int shortest = 0;
  for (int k = 0; k < 3; ++k) {
    square += x[k] / a[k] * (x[k] / a[k]);
    shortest = a[k] < a[shortest] ? k : shortest;
  }
  const double least = a[shortest] * a[shortest];
  double t = -least;
  for (int k = 0; k < 3; ++k) {
    t = fmax(t, a[k] * fabs(x[k]) - a[k] * a[k]);
  }
  for (int i = 0; i < 60; ++i) {
    double f = -1, slope = 0;
    for (int k = 0; k < 3; ++k) {
      const double below = t + a[k] * a[k];
      y[k] = below > 1e-12 * least ? a[k] * a[k] * x[k] / below : 0;
      f += y[k] / a[k] * (y[k] / a[k]);
      slope -= below > 1e-12 * least ? 2 * y[k] / a[k] * (y[k] / a[k]) / below : 0;
    }
    if (t == -least && f < 0) {
      y[shortest] = copysign(a[shortest] * sqrt(-f), x[shortest]);
      break;
    }
    const double step = slope < 0 ? -f / slope : 0;
    t += step;
    if (!(step > 1e-15 * (least + fabs(t)))) {
      break;
    }
  }
  for (int k = 0; k < 3; ++k) {
    g[k] = y[k] / (a[k] * a[k]);
  }
  tribo_normalize3(g);
  tribo_sub3(away, x, y);
  return square < 1 ? -tribo_norm3(away) : tribo_norm3(away);
}

// (that of the nearest segment is the only root)
static double revolved(const SdfNode* n, const double x[3], double g[3]) {
  const double r = sqrt(x[0] * x[0] + x[1] * x[1]);
  double square = INFINITY, way[2] = {1, 0};
  for (int i = 0; i + 1 < n->nprofile; ++i) {
    const double *a = n->profile + 2 * i, dr = a[2] - a[0], dz = a[3] - a[1];
    const double t = tribo_clamp(((r - a[0]) * dr + (x[2] - a[1]) * dz) * n->scale[i], 0, 1);
    const double u = r - a[0] - t * dr, v = x[2] - a[1] - t * dz, away = u * u + v * v;
    if (away < square) {
      square = away;
      way[0] = u, way[1] = v;
    }
  }
  const double d = sqrt(square);
  turn_out(x, r, way, d > 0 ? 1 / d : 1, g);
  return d - n->pad;
}

static double hull(const SdfNode* n, const double x[3], double g[3]) {
  double most = -INFINITY;
  const double* best = n->hull->planes;
  for (int i = 0; i < n->hull->nface; ++i) {
    const double* plane = n->hull->planes + 4 * i;
    const double d = tribo_dot3(plane, x) - plane[3];
    if (d > most) {
      most = d, best = plane;
    }
  }
  tribo_copy3(g, best);
  return most;
}

static double sphere(const SdfNode* n, const double x[3], double g[3]) {
  tribo_copy3(g, x);
  const double d = tribo_normalize3(g);
  if (d == 0) {
    g[0] = 1;
  }
  return d - n->radius;
}

static double thread(const SdfNode* n, const double x[3], double g[3]) {
  const double phi = tribo_col_sdf_thread(&n->thread, x, g), end = fabs(x[2]) - n->thread.half;
  if (end <= phi) {
    return phi;
  }
  tribo_set3(g, 0, 0, x[2] < 0 ? -1 : 1);
  return end;
}

// Of all parts the least, or the greatest; those after the first turned inside out, for a difference.
static double combine(const TriboSdf* sdf, const SdfNode* n, const double x[3], double g[3]) {
  double best = tribo_col_sdf_node(sdf, sdf->nodes + n->first, x, g), other[3];
  for (int i = 1; i < n->count; ++i) {
    double phi = tribo_col_sdf_node(sdf, sdf->nodes + n->first + i, x, other);
    if (n->kind == TRIBO_SDF_UNION ? phi < best : (n->kind == TRIBO_SDF_SUBTRACT ? -phi : phi) > best) {
      const double sign = n->kind == TRIBO_SDF_SUBTRACT ? -1 : 1;
      best = sign * phi;
      tribo_scale3(g, sign, other);
    }
  }
  return best;
}

static double value(const TriboSdf* sdf, const SdfNode* n, const double x[3], double g[3]) {
  switch (n->kind) {
    case TRIBO_SDF_SPHERE: return sphere(n, x, g);
    case TRIBO_SDF_BOX: return box(n, x, g);
    case TRIBO_SDF_CAPSULE: return capsule(n, x, g);
    case TRIBO_SDF_CYLINDER: return cylinder(n, x, g);
    case TRIBO_SDF_CONE: return cone(n, x, g);
    case TRIBO_SDF_ELLIPSOID: return ellipsoid(n, x, g);
    case TRIBO_SDF_PRISM: return prism(n, x, g);
    case TRIBO_SDF_THREAD: return thread(n, x, g);
    case TRIBO_SDF_REVOLVED: return revolved(n, x, g);
    case TRIBO_SDF_HULL: return hull(n, x, g);
    case TRIBO_SDF_PLANE: tribo_set3(g, 0, 0, 1); return x[2];
    case TRIBO_SDF_OFFSET: return tribo_col_sdf_node(sdf, sdf->nodes + n->first, x, g) - n->by;
    default: return combine(sdf, n, x, g);
  }
}

double tribo_col_sdf_node(const TriboSdf* sdf, const SdfNode* node, const double x[3], double gradient[3]) {
  if (!node->is_posed) {
    return value(sdf, node, x, gradient);
  }
  double local[3], g[3], away[3];
  tribo_sub3(away, x, node->pose.p);
  tribo_mul33tv(local, node->pose.R, away);
  const double phi = value(sdf, node, local, g);
  tribo_mul33v(gradient, node->pose.R, g);
  return phi;
}
