// How a surface bends at a point: the Hessian H of its support function there, by which the point with the outward
// normal n moves, dx = H dn. It is the matrix of the radii of curvature: r on a sphere, 0 at a corner, and as good as
// infinite where the surface is straight: STRAIGHT [m] along an edge and FLAT in a face, which so decides about n
// alone.
//
// Smooth shapes have it by their normal, and along the straight lines of a capsule, a cylinder or a cone by the place.
// So has a polyhedron: of the faces that meet at a point one alone is flat, two leave an edge, more a corner. A flat
// end that lies on something touches by points that are fixed in its rim.
#include <string.h>

#include "pose.h"
#include "sdf_field.h"
#include "world.h"

static const double STRAIGHT = 1e9, FLAT = 1e15;
// What counts as at a face, as a fraction of the shape's size; sines of angles at which a round shape lies on its side
// or its end.
static const double NEAR = 1e-5, LIES = 1e-3;

// Adds s times what is at right angles to n.
static void add_across(double H[9], double s, const double n[3]) {
  for (int i = 0; i < 9; ++i) {
    H[i] += s * ((i % 4 == 0) - n[i / 3] * n[i % 3]);
  }
}

// Faces that meet at a point, so far: how many, counted up to three, and the direction of the edge that two leave.
typedef struct Meeting {
  int count;
  double first[3], edge[3];
} Meeting;

static void add_face(Meeting* m, const double n[3]) {
  double across[3];
  if (m->count == 0) {
    tribo_copy3(m->first, n);
    m->count = 1;
    return;
  }
  tribo_cross3(across, m->first, n);
  if (m->count == 1) {
    // (of two opposite faces a thin plate has only one there)
    if (tribo_normalize3(across) > NEAR) {
      tribo_copy3(m->edge, across);
      m->count = 2;
    }
  } else if (fabs(tribo_dot3(m->edge, n)) > NEAR) {
    m->count = 3;
  }
}

// H in the frame of the polyhedron.
static void bend_polyhedron(const TriboSolid* s, const double at[3], double reach, double H[9]) {
  Meeting m = {0};
  const double* half = s->kind == TRIBO_SHAPE_BOX ? s->half : s->hull->half;
  const double near = reach + NEAR * (half[0] + half[1] + half[2]);
  if (s->kind == TRIBO_SHAPE_BOX) {
    for (int k = 0; k < 3; ++k) {
      double n[3] = {0, 0, 0};
      n[k] = 1;
      if (fabs(at[k]) >= s->half[k] - near) {
        add_face(&m, n);
      }
    }
  } else {
    for (int f = 0; f < s->hull->nface && m.count < 3; ++f) {
      const double* plane = s->hull->planes + 4 * f;
      if (tribo_dot3(plane, at) >= plane[3] - near) {
        add_face(&m, plane);
      }
    }
  }
  if (m.count == 2) {
    for (int i = 0; i < 9; ++i) {
      H[i] = STRAIGHT * m.edge[i / 3] * m.edge[i % 3];
    }
  } else if (m.count < 2) {
    add_across(H, FLAT, m.first);
  }
}

// H in the frame of a capsule, a cylinder or a cone, from what its normal says.
static void bend_turned(const TriboSolid* s, const double at[3], const double n[3], double reach, double H[9]) {
  const double across = sqrt(n[0] * n[0] + n[1] * n[1]), near = reach + NEAR * (s->half[2] + s->radius);
  if (s->kind != TRIBO_SHAPE_CAPSULE && across < LIES) {
    memset(H, 0, 9 * sizeof *H);
    if (at[0] * at[0] + at[1] * at[1] < (s->radius - near) * (s->radius - near)) {
      add_across(H, FLAT, n);
    }
    return;
  }
  // the line along its side: that of a cone leans by its half angle
  const double rise = 2 * s->half[2], run = s->kind == TRIBO_SHAPE_CONE ? s->radius : 0, length = hypot(rise, run);
  const double line[3] = {-run / length * n[0] / across, -run / length * n[1] / across, rise / length};
  if (fabs(at[2]) < s->half[2] - near && fabs(tribo_dot3(line, n)) < LIES) {
    for (int i = 0; i < 9; ++i) {
      H[i] += STRAIGHT * line[i / 3] * line[i % 3];
    }
  }
}

// H of a distance field: ∇φ turns by the curvatures 1/(R + d) of the surface that is d further out. Seen from there a
// corner is as round as it is far. (A thread's flanks bear on edges, that turn with their bodies.)
static void bend_field(const TriboSolid* s, const double point[3], const double outward[3], double reach, double H[9]) {
  const TriboSdf* sdf = s->sdf;
  const double d = reach + NEAR * sdf->size, step = 0.5 * d;
  double away[3], at[3], n[3], t[2][3], x[3], up[3], down[3], S[3] = {0, 0, 0};
  if (sdf->has_thread) {
    return;
  }
  tribo_col_to_local(at, &s->pose, point);
  tribo_mul33tv(n, s->pose.R, outward);
  tribo_axpy3(at, at, d, n);
  tribo_tangents(t[0], t[1], n);
  for (int i = 0; i < 2; ++i) {
    tribo_axpy3(x, at, step, t[i]);
    tribo_col_sdf_distance(sdf, x, up);
    tribo_axpy3(x, at, -step, t[i]);
    tribo_col_sdf_distance(sdf, x, down);
    tribo_sub3(away, up, down);
    S[2 * i] = tribo_dot3(away, t[i]) / (2 * step);
    S[1] += tribo_dot3(away, t[1 - i]) / (4 * step);
  }
  // along its two principal directions
  const double turn = 0.5 * atan2(2 * S[1], S[0] - S[2]), c = cos(turn), sn = sin(turn);
  const double bent[2] = {S[0] * c * c + 2 * S[1] * c * sn + S[2] * sn * sn,
                          S[0] * sn * sn - 2 * S[1] * c * sn + S[2] * c * c};
  const double flat = NEAR / sdf->size;
  for (int k = 0; k < 2; ++k) {
    const double u = k == 0 ? c : -sn, v = k == 0 ? sn : c;
    const double radius = fabs(bent[k]) > flat ? 1 / bent[k] - d : fabs(bent[1 - k]) > flat ? STRAIGHT : FLAT;
    double axis[3], world[3];
    tribo_scale3(axis, u, t[0]);
    tribo_axpy3(axis, axis, v, t[1]);
    tribo_mul33v(world, s->pose.R, axis);
    for (int i = 0; i < 9; ++i) {
      H[i] += radius * world[i / 3] * world[i % 3];
    }
  }
}

void tribo_col_roundness(const TriboColWorld* world, int geom, const TriboPose* body, const double point[3],
                         const double outward[3], double reach, double H[9]) {
  TriboSolid solid = world->solids[geom];
  solid.pose = tribo_pose_mul(body, &world->geoms[geom].local);
  memset(H, 0, 9 * sizeof *H);
  reach += solid.contact_offset;
  if (solid.kind == TRIBO_SHAPE_HALFSPACE || solid.kind == TRIBO_SHAPE_HEIGHTFIELD) {
    add_across(H, FLAT, outward);
    return;
  }
  if (solid.kind == TRIBO_SHAPE_SDF) {
    bend_field(&solid, point, outward, reach, H);
    return;
  }
  if (solid.kind == TRIBO_SHAPE_SPHERE || solid.kind == TRIBO_SHAPE_ELLIPSOID) {
    tribo_col_curvature(&solid, outward, H);
  } else {
    const TriboPose place = solid.pose;
    double away[3], at[3], n[3], local[9] = {0}, half[9];
    tribo_sub3(away, point, place.p);
    tribo_mul33tv(at, place.R, away);
    tribo_mul33tv(n, place.R, outward);
    solid.pose = tribo_pose_identity();
    if (solid.kind == TRIBO_SHAPE_BOX || solid.kind == TRIBO_SHAPE_HULL) {
      bend_polyhedron(&solid, at, reach, local);
    } else {
      tribo_col_curvature(&solid, n, local);
      bend_turned(&solid, at, n, reach, local);
    }
    tribo_mul33(half, place.R, local);
    tribo_mul33t(H, half, place.R);
  }
  add_across(H, solid.contact_offset, outward);
}
