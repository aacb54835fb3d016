// Feet: all places of a surface that are nearest to a point among their neighbours. What is round touches each of them:
// a ball in a corner stands on the floor and leans on the wall, though φ of its centre tells of one alone.
#include "sdf_field.h"
#include "shape.h"

typedef struct Feet {
  const TriboSdf* sdf;
  double x[3], reach, tolerance;
  SdfFoot* out;
  int count, feature;
} Feet;

// Takes a foot y if the surface of the whole is there; φ and ∇φ by the sides of x and y.
static void add_foot(Feet* f, const double y[3], const double away[3], double phi) {
  double g[3];
  const int feature = f->feature++;
  // (through the solid nothing is seen)
  if (f->count >= SDF_FEET || phi <= 0 || phi > f->reach || fabs(tribo_col_sdf_value(f->sdf, y, g)) > f->tolerance) {
    return;
  }
  for (int i = 0; i < f->count; ++i) {
    // an end that two sides have in common
    if (fabs(f->out[i].phi - phi) <= f->tolerance && tribo_dot3(f->out[i].n, away) > 1 - 1e-9) {
      return;
    }
  }
  SdfFoot* foot = &f->out[f->count++];
  foot->phi = phi;
  foot->feature = feature;
  tribo_copy3(foot->n, away);
}

// A point of a leaf's surface at p in the half plane through x, seen from (r, z) by the unit way.
static void add_turned(Feet* f, const TriboPose* pose, const double local[3], double r, const double p[2],
                       const double way[2], double phi) {
  const double c = r > 0 ? local[0] / r : 1, s = r > 0 ? local[1] / r : 0;
  const double y[3] = {c * p[0], s * p[0], p[1]}, n[3] = {c * way[0], s * way[0], way[1]};
  double world[3], g[3];
  tribo_col_to_world(world, pose, y);
  tribo_mul33v(g, pose->R, n);
  add_foot(f, world, g, phi);
}

// A foot on each side of every segment that has one, and on its points where the surface bends around them. Those of
// the other half plane are beyond the axis.
static void revolved_feet(Feet* f, const SdfNode* n, const TriboPose* pose, const double local[3]) {
  const double r = hypot(local[0], local[1]);
  for (int half = 0; half < 2; ++half) {
    const double at = half ? -r : r;
    for (int i = 0; i + 1 < n->nprofile; ++i) {
      const double *a = n->profile + 2 * i, *b = a + 2, dr = b[0] - a[0], dz = b[1] - a[1];
      const double t = tribo_clamp(((at - a[0]) * dr + (local[2] - a[1]) * dz) / (dr * dr + dz * dz), 0, 1);
      const double q[2] = {a[0] + t * dr, a[1] + t * dz};
      double way[2] = {at - q[0], local[2] - q[1]};
      const double d = hypot(way[0], way[1]);
      if (d == 0) {
        f->feature++;
        continue;
      }
      way[0] /= d, way[1] /= d;
      const double y[2] = {q[0] + n->pad * way[0], q[1] + n->pad * way[1]};
      const double sign = half ? -1 : 1, p[2] = {sign * y[0], y[1]}, out[2] = {sign * way[0], way[1]};
      add_turned(f, pose, local, r, p, out, d - n->pad);
    }
  }
}

// Feet on a leaf, whose inside is the outside where it is subtracted.
static void leaf_feet(Feet* f, const SdfNode* n, const TriboPose* pose, double sign) {
  double local[3], g[3], world[3], out[3], y[3];
  tribo_col_to_local(local, pose, f->x);
  if (n->kind == TRIBO_SDF_REVOLVED && sign > 0) {
    revolved_feet(f, n, pose, local);
    return;
  }
  if (n->kind == TRIBO_SDF_BOX && sign < 0 && n->round == 0) {
    // in a box: each of its faces
    for (int k = 0; k < 6; ++k) {
      const double face = k % 2 ? n->half[k / 2] : -n->half[k / 2];
      tribo_copy3(y, local);
      y[k / 2] = face;
      tribo_set3(g, 0, 0, 0);
      g[k / 2] = k % 2 ? -1 : 1;
      tribo_col_to_world(world, pose, y);
      tribo_mul33v(out, pose->R, g);
      add_foot(f, world, out, g[k / 2] * (local[k / 2] - face));
    }
    return;
  }
  SdfNode bare = *n;
  bare.is_posed = 0;
  const double phi = tribo_col_sdf_node(f->sdf, &bare, local, g);
  tribo_axpy3(y, local, -phi, g);
  tribo_col_to_world(world, pose, y);
  tribo_mul33v(out, pose->R, g);
  tribo_scale3(out, sign, out);
  add_foot(f, world, out, sign * phi);
}

static void node_feet(Feet* f, const SdfNode* node, const TriboPose* above, double sign) {
  const TriboPose pose = tribo_pose_mul(above, &node->pose);
  if (node->count == 0) {
    leaf_feet(f, node, &pose, sign);
    return;
  }
  for (int i = 0; i < node->count; ++i) {
    node_feet(f, f->sdf->nodes + node->first + i, &pose, node->kind == TRIBO_SDF_SUBTRACT && i > 0 ? -sign : sign);
  }
}

int tribo_col_sdf_feet(const TriboSdf* sdf, const double x[3], double reach, SdfFoot* out) {
  const TriboPose rest = tribo_pose_identity();
  Feet f = {.sdf = sdf, .reach = reach, .tolerance = 1e-9 * sdf->size, .out = out, .feature = 1};
  tribo_copy3(f.x, x);
  // the nearest of all is always one; mostly it is too far
  SdfFoot nearest = {.phi = tribo_col_sdf_value(sdf, x, nearest.n)};
  if (nearest.phi > sdf->lip * reach) {
    return 0;
  }
  node_feet(&f, sdf->nodes, &rest, 1);
  int has_nearest = 0;
  for (int i = 0; i < f.count; ++i) {
    has_nearest |= out[i].phi <= nearest.phi + f.tolerance;
  }
  if (!has_nearest && nearest.phi <= reach && f.count < SDF_FEET) {
    out[f.count++] = nearest;
  }
  return f.count;
}

double tribo_col_sdf_distance(const TriboSdf* sdf, const double x[3], double gradient[3]) {
  return tribo_col_sdf_value(sdf, x, gradient);
}

TriboSdfInfo tribo_col_sdf_info(const TriboSdf* sdf) {
  return (TriboSdfInfo){sdf->nsample, sdf->ncell, sdf->contacts, sdf->margin, sdf->lip, sdf->size};
}
