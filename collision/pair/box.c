// Box against box.
//
// For a unit direction n let f(n) = −(h_A(n) + h_B(−n)), the separation along n; the signed distance is the largest
// f(n). Overlapping boxes have it at one of 15 axes: the face normals of A and of B, and the products of their edges.
// Separated boxes have it there too, unless the closest features are a vertex and an edge or vertex: then f at the best
// axis is below the distance between any two points of the boxes, and the closest points are found by going through
// the vertices and edges.
#include "narrow.h"

typedef struct Axes {
  double C[9];       // axes of B in the frame of A: C[3i + j] = a_i · b_j
  double t[3];       // middle of B in the frame of A
  double face;       // best separation over the six face normals …
  int face_axis;     // … 0 … 2 of A, 3 … 5 of B
  double edge;       // best separation over the nine edge products …
  int edge_axis;     // … 3i + j, −1 without any
  double edge_n[3];  // its direction, from A to B, in the frame of A
} Axes;

// All 15 separations; stops early with 0 when one is above reach.
static int separations(const TriboSolid* A, const TriboSolid* B, double reach, double tie, Axes* x) {
  double d[3], Rt[9];
  for (int i = 0; i < 9; ++i) {
    Rt[i] = A->pose.R[3 * (i % 3) + i / 3];
  }
  tribo_mul33(x->C, Rt, B->pose.R);
  tribo_sub3(d, B->pose.p, A->pose.p);
  tribo_mul33v(x->t, Rt, d);
  const double *a = A->half, *b = B->half, *C = x->C, *t = x->t;
  x->face = -INFINITY;
  for (int k = 0; k < 6; ++k) {
    int i = k % 3;
    double s = k < 3 ? fabs(t[i]) - a[i] - fabs(C[3 * i]) * b[0] - fabs(C[3 * i + 1]) * b[1] - fabs(C[3 * i + 2]) * b[2]
                     : fabs(t[0] * C[i] + t[1] * C[3 + i] + t[2] * C[6 + i]) - b[i] - fabs(C[i]) * a[0] -
                           fabs(C[3 + i]) * a[1] - fabs(C[6 + i]) * a[2];
    if (s > reach) {
      x->face = s;
      return 0;
    }
    if (s > x->face + tie) {
      x->face = s, x->face_axis = k;
    }
  }
  x->edge = -INFINITY, x->edge_axis = -1;
  for (int k = 0; k < 9; ++k) {
    int i = k / 3, j = k % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    // n = a_i × b_j in the frame of A; its length is the sine of the angle between the edges
    double n[3] = {0, 0, 0};
    n[i1] = -C[3 * i2 + j], n[i2] = C[3 * i1 + j];
    double sine = sqrt(n[i1] * n[i1] + n[i2] * n[i2]);
    if (sine < 1e-6) {
      continue;  // parallel edges: the face normals say all
    }
    double along = t[i1] * n[i1] + t[i2] * n[i2];
    double s = (fabs(along) - fabs(n[i1]) * a[i1] - fabs(n[i2]) * a[i2] - fabs(C[3 * i + j2]) * b[j1] -
                fabs(C[3 * i + j1]) * b[j2]) /
               sine;
    if (s > reach) {
      x->face = s;
      return 0;
    }
    if (s > x->edge + tie) {
      x->edge = s, x->edge_axis = k;
      tribo_scale3(x->edge_n, (along < 0 ? -1 : 1) / sine, n);
    }
  }
  return 1;
}

// Middle of the edge along `axis` that lies farthest in direction d, both in the box's own frame.
static int support_edge(const TriboSolid* box, int axis, const double d[3], double x[3]) {
  int id = axis;
  for (int k = 0; k < 3; ++k) {
    x[k] = k == axis ? 0 : copysign(box->half[k], d[k]);
    id |= (k != axis && d[k] < 0) << (2 + k);
  }
  return id;
}

// The one point where two edges cross; 0 when the boxes are apart and the crossing is beyond the end of an edge.
static int edge_contact(const TriboSolid* A, const TriboSolid* B, const Axes* x, TriboManifold* m) {
  int i = x->edge_axis / 3, j = x->edge_axis % 3;
  double n[3], db[3], local[3], p[3], q[3], d[3], e[3], s, t;
  tribo_mul33v(n, A->pose.R, x->edge_n);
  tribo_mul33tv(db, B->pose.R, n);
  tribo_scale3(db, -1, db);
  int ia = support_edge(A, i, x->edge_n, local);
  tribo_col_to_world(p, &A->pose, local);
  int ib = support_edge(B, j, db, local);
  tribo_col_to_world(q, &B->pose, local);
  tribo_col_axis(d, A, i);
  tribo_col_axis(e, B, j);
  tribo_col_segments(p, d, A->half[i], q, e, B->half[j], &s, &t);
  if (x->edge > 0 && (fabs(s) >= A->half[i] || fabs(t) >= B->half[j])) {
    return 0;
  }
  tribo_axpy3(p, p, s, d);
  m->gap = x->edge;
  tribo_copy3(m->normal, n);
  tribo_col_add_point(m, p, n, x->edge, tribo_col_feature(TRIBO_FEATURE_EDGE, ia, ib, 0));
  return 1;
}

// The face of the best face normal, which looks at the other box; n runs from A to B.
static void face_towards(const TriboSolid* A, const TriboSolid* B, const Axes* x, double n[3], TriboPatch* face) {
  int of_a = x->face_axis < 3, axis = x->face_axis % 3;
  double along = of_a ? x->t[axis] : -(x->t[0] * x->C[axis] + x->t[1] * x->C[3 + axis] + x->t[2] * x->C[6 + axis]);
  tribo_col_box_face(of_a ? A : B, axis, along < 0, face);
  tribo_scale3(n, of_a ? 1 : -1, face->normal);
}

// A face on a face; 0 when the boxes are apart and no point over the face is as close as the separation says.
static int face_contact(const TriboSolid* A, const TriboSolid* B, const Axes* x, double reach, double tie,
                        TriboManifold* m) {
  TriboPatch face, incident;
  double n[3], back[3];
  face_towards(A, B, x, n, &face);
  int of_a = x->face_axis < 3;
  const TriboSolid* other = of_a ? B : A;
  tribo_scale3(back, -1, face.normal);
  tribo_col_patch(other, back, &incident);
  double least = tribo_col_clip(&face, &incident, n, of_a, reach, m);
  if (x->face > 0 && least > x->face + 2 * tie) {
    m->count = 0;
    return 0;
  }
  m->gap = x->face;
  tribo_copy3(m->normal, n);
  if (m->count == 0) {
    // overlap without a point over the face: the deepest vertex alone
    double p[3];
    tribo_col_support(other, back, p);
    tribo_axpy3(p, p, of_a ? -x->face : 0, n);
    tribo_col_add_point(m, p, n, x->face, tribo_col_feature(TRIBO_FEATURE_FACE, face.id, incident.id, 0));
  }
  return 1;
}

// Boxes that lie almost flat on each other and touch first where two edges cross: the crossing alone would leave them
// free to tilt into each other, so all points of the faces count, the crossing among them; at such angles and distances
// it makes no difference along which of the two normals they are measured. 0 when they are not flat.
static int flat_contact(const TriboSolid* A, const TriboSolid* B, const Axes* x, double reach, TriboManifold* m) {
  const double flat = 0.9998;  // 0.02 rad
  TriboPatch face, incident;
  double n[3], edge[3], back[3];
  face_towards(A, B, x, n, &face);
  tribo_mul33v(edge, A->pose.R, x->edge_n);
  if (tribo_dot3(n, edge) < flat) {
    return 0;
  }
  int of_a = x->face_axis < 3;
  tribo_scale3(back, -1, face.normal);
  tribo_col_patch(of_a ? B : A, back, &incident);
  tribo_col_clip(&face, &incident, n, of_a, reach, m);
  m->gap = x->edge;
  tribo_copy3(m->normal, edge);
  return m->count > 0;
}

typedef struct Closest {
  double distance2, a[3], b[3];  // squared [m²]; the points [m]
  uint32_t feature;
} Closest;

static void offer(Closest* c, const double a[3], const double b[3], uint32_t feature) {
  double d[3];
  tribo_sub3(d, b, a);
  double distance2 = tribo_dot3(d, d);
  if (distance2 < c->distance2) {
    c->distance2 = distance2, c->feature = feature;
    tribo_copy3(c->a, a);
    tribo_copy3(c->b, b);
  }
}

// Which signs of each axis the closest point of a box may lie at: bit i for −half[i], bit 3 + i for +half[i]. The
// closest point is the other box's closest point clamped to this one, so a side counts only if the other box, which
// covers middle ± extent in this frame, sticks out beyond it.
static int open_sides(const double half[3], const double middle[3], const double extent[3]) {
  int sides = 0;
  for (int i = 0; i < 3; ++i) {
    double side = (1 - 1e-9) * half[i];  // (aligned boxes count as sticking out)
    sides |= (middle[i] - extent[i] <= -side) << i | (middle[i] + extent[i] >= side) << (3 + i);
  }
  return sides;
}

static int is_open(int sides, int axis, int positive) {
  return sides >> (axis + 3 * positive) & 1;
}

// The edges of a box between open sides: middles and directions in the world, names 4·axis + signs.
typedef struct Edges {
  int count, id[12];
  double middle[12][3], direction[12][3], half[12];
} Edges;

static void open_edges(const TriboSolid* box, int sides, Edges* out) {
  out->count = 0;
  for (int id = 0; id < 12; ++id) {
    int axis = id / 4, i = (axis + 1) % 3, j = (axis + 2) % 3;
    if (!is_open(sides, i, id & 1) || !is_open(sides, j, id >> 1 & 1)) {
      continue;
    }
    double local[3] = {0, 0, 0};
    local[i] = id & 1 ? box->half[i] : -box->half[i];
    local[j] = id & 2 ? box->half[j] : -box->half[j];
    tribo_col_to_world(out->middle[out->count], &box->pose, local);
    tribo_col_axis(out->direction[out->count], box, axis);
    out->half[out->count] = box->half[axis];
    out->id[out->count++] = id;
  }
}

// Every vertex of `own` between open sides against the other box.
static void offer_vertices(Closest* c, const TriboSolid* own, const TriboSolid* other, int sides, int own_is_a) {
  for (int k = 0; k < 8; ++k) {
    if (!is_open(sides, 0, k & 1) || !is_open(sides, 1, k >> 1 & 1) || !is_open(sides, 2, k >> 2)) {
      continue;
    }
    double x[3], y[3], local[3];
    for (int i = 0; i < 3; ++i) {
      local[i] = k >> i & 1 ? own->half[i] : -own->half[i];
    }
    tribo_col_to_world(x, &own->pose, local);
    tribo_col_to_local(local, &other->pose, x);
    for (int i = 0; i < 3; ++i) {
      local[i] = tribo_clamp(local[i], -other->half[i], other->half[i]);
    }
    tribo_col_to_world(y, &other->pose, local);
    offer(c, own_is_a ? x : y, own_is_a ? y : x, tribo_col_feature(TRIBO_FEATURE_VERTEX, own_is_a, k, 0));
  }
}

// Closest points of separated boxes: every vertex against the other box, every edge against every edge, where open.
static Closest closest_points(const TriboSolid* A, const TriboSolid* B, const Axes* axes) {
  double back[3], extent_a[3], extent_b[3];
  tribo_mul33tv(back, axes->C, axes->t);
  tribo_scale3(back, -1, back);
  for (int i = 0; i < 3; ++i) {
    extent_a[i] = extent_b[i] = 0;
    for (int j = 0; j < 3; ++j) {
      extent_b[i] += fabs(axes->C[3 * i + j]) * B->half[j];
      extent_a[i] += fabs(axes->C[3 * j + i]) * A->half[j];
    }
  }
  int sides_a = open_sides(A->half, axes->t, extent_b), sides_b = open_sides(B->half, back, extent_a);
  Closest c = {.distance2 = INFINITY};
  offer_vertices(&c, A, B, sides_a, 1);
  offer_vertices(&c, B, A, sides_b, 0);
  Edges a, b;
  open_edges(A, sides_a, &a);
  open_edges(B, sides_b, &b);
  for (int i = 0; i < a.count; ++i) {
    for (int j = 0; j < b.count; ++j) {
      double s, t, p[3], q[3];
      tribo_col_segments(a.middle[i], a.direction[i], a.half[i], b.middle[j], b.direction[j], b.half[j], &s, &t);
      tribo_axpy3(p, a.middle[i], s, a.direction[i]);
      tribo_axpy3(q, b.middle[j], t, b.direction[j]);
      offer(&c, p, q, tribo_col_feature(TRIBO_FEATURE_EDGE, 64 + a.id[i], b.id[j], 0));
    }
  }
  return c;
}

void tribo_col_box_box(const TriboSolid* A, const TriboSolid* B, double reach, TriboManifold* m) {
  // faces win over edges, and A over B, by this much: resting faces stay faces
  double tie = 1e-6 * fmin(tribo_norm3(A->half), tribo_norm3(B->half));
  Axes x;
  if (!separations(A, B, reach, tie, &x)) {
    m->gap = x.face;
    return;
  }
  int by_edge = x.edge_axis >= 0 && x.edge > x.face + tie;
  if (by_edge && x.edge < 1e3 * tie && flat_contact(A, B, &x, reach, m)) {
    return;
  }
  if (by_edge ? edge_contact(A, B, &x, m) : face_contact(A, B, &x, reach, tie, m)) {
    return;
  }
  Closest c = closest_points(A, B, &x);
  m->gap = sqrt(c.distance2);
  tribo_sub3(m->normal, c.b, c.a);
  if (tribo_normalize3(m->normal) < tie) {
    // touching at a corner, where many normals are right: that of the separating axis
    TriboPatch face;
    if (by_edge) {
      tribo_mul33v(m->normal, A->pose.R, x.edge_n);
    } else {
      face_towards(A, B, &x, m->normal, &face);
    }
  }
  if (m->gap <= reach) {
    tribo_col_add_point(m, c.a, m->normal, m->gap, c.feature);
  }
}
