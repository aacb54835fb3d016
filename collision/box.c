// Box against box.
//
// For a unit direction n let f(n) = −(h_A(n) + h_B(−n)), the separation along n; the signed distance is the largest
// f(n). Overlapping boxes have it at one of 15 axes: the face normals of A and of B, and the products of their edges.
// Separated boxes have it there too, unless the closest features are a vertex and an edge or vertex: then f at the best
// axis is below the distance between any two points of the boxes, and the closest points are found by going through
// all vertices and edges.
#include "manifold.h"

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

static void corner(const TriboSolid* box, int k, double x[3]) {
  double local[3];
  for (int i = 0; i < 3; ++i) {
    local[i] = k >> i & 1 ? box->half[i] : -box->half[i];
  }
  tribo_col_to_world(x, &box->pose, local);
}

typedef struct Closest {
  double distance2, a[3], b[3];
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

// Closest points of separated boxes by brute force: every vertex against the other box, every edge against every edge.
static Closest closest_points(const TriboSolid* A, const TriboSolid* B) {
  Closest c = {.distance2 = INFINITY};
  for (int k = 0; k < 16; ++k) {
    const TriboSolid *own = k < 8 ? A : B, *other = k < 8 ? B : A;
    double x[3], local[3], y[3];
    corner(own, k & 7, x);
    tribo_col_to_local(local, &other->pose, x);
    for (int i = 0; i < 3; ++i) {
      local[i] = tribo_clamp(local[i], -other->half[i], other->half[i]);
    }
    tribo_col_to_world(y, &other->pose, local);
    offer(&c, k < 8 ? x : y, k < 8 ? y : x, tribo_col_feature(TRIBO_FEATURE_VERTEX, k, 0, 0));
  }
  for (int k = 0; k < 144; ++k) {
    const TriboSolid* box[2] = {A, B};
    double p[2][3], d[2][3], s[2];
    int id[2] = {k / 12, k % 12};
    for (int o = 0; o < 2; ++o) {
      // 4·axis + the signs along the two other axes
      int axis = id[o] / 4;
      double towards[3] = {0, 0, 0}, local[3];
      towards[(axis + 1) % 3] = id[o] & 1 ? 1 : -1;
      towards[(axis + 2) % 3] = id[o] & 2 ? 1 : -1;
      support_edge(box[o], axis, towards, local);
      tribo_col_to_world(p[o], &box[o]->pose, local);
      tribo_col_axis(d[o], box[o], axis);
    }
    int i = id[0] / 4, j = id[1] / 4;
    tribo_col_segments(p[0], d[0], A->half[i], p[1], d[1], B->half[j], s, s + 1);
    tribo_axpy3(p[0], p[0], s[0], d[0]);
    tribo_axpy3(p[1], p[1], s[1], d[1]);
    offer(&c, p[0], p[1], tribo_col_feature(TRIBO_FEATURE_EDGE, 64 + id[0], id[1], 0));
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
  if (by_edge ? edge_contact(A, B, &x, m) : face_contact(A, B, &x, reach, tie, m)) {
    return;
  }
  Closest c = closest_points(A, B);
  m->gap = sqrt(c.distance2);
  tribo_sub3(m->normal, c.b, c.a);
  if (tribo_normalize3(m->normal) < tie) {
    // touching at a corner, where many normals are right: that of the best face
    TriboPatch face;
    face_towards(A, B, &x, m->normal, &face);
  }
  if (m->gap <= reach) {
    tribo_col_add_point(m, c.a, m->normal, m->gap, c.feature);
  }
}
