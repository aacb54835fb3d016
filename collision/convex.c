// Convex pairs without a closed form.
//
// For a unit direction n let f(n) = −(h_A(n) + h_B(−n)), the separation along n. The signed distance of two convex
// solids is the largest f(n), over all n when they are apart and near the right n when they overlap. Coal's GJK and EPA
// find that n to about 1e-4; here it is polished, and f itself is the judge of every step:
//
//   faces   n is tried as the normal of a face that almost looks along it;
//   lines   n is tried perpendicular to a straight line of the surface (an edge, the mantle of a cylinder or cone);
//   Newton  in the directions left free: with x_A, x_B the support points, K the sum of both Hessians of h and t an
//           orthonormal basis, the gradient of −f on the sphere is tᵀ(x_A − x_B) and its Hessian tᵀKt + f·1.
//
// EPA fails about once in a thousand deep overlaps and once in 1e5 shallow ones: it returns nothing, or a poor
// direction. f tells, because then some simple direction is better, and the search climbs from that.
//
// Then the patches that face each other say where the contact points are.
#include "manifold.h"

#include "status.h"

typedef struct Search {
  const TriboSolid *a, *b;
  double size;          // of the smaller solid, scales the tolerances
  double start[3];      // direction to polish
  double seen[3];       // where Coal saw the contact
  double n[3], f;       // best direction so far and its separation
  double xa[3], xb[3];  // support points there
  int face;             // 1: n is a face normal of a, 2: of b
  double line[2][3];    // of a, of b
  int has_line[2];      // whether n is kept perpendicular to it
} Search;

static double separation(const TriboSolid* a, const TriboSolid* b, const double n[3], double xa[3], double xb[3]) {
  double back[3] = {-n[0], -n[1], -n[2]};
  double ha = tribo_col_support(a, n, xa);
  return -(ha + tribo_col_support(b, back, xb));
}

// Takes n when its separation is not below the best by more than `slack`.
static int try_direction(Search* s, const double n[3], double slack) {
  double xa[3], xb[3], f = separation(s->a, s->b, n, xa, xb);
  if (!(f >= s->f - slack)) {
    return 0;
  }
  s->f = f;
  tribo_copy3(s->n, n);
  tribo_copy3(s->xa, xa);
  tribo_copy3(s->xb, xb);
  return 1;
}

static void try_faces(Search* s) {
  double start[3] = {s->n[0], s->n[1], s->n[2]};
  for (int k = 0; k < 2; ++k) {
    TriboPatch patch;
    double n[3];
    tribo_scale3(n, k == 0 ? 1 : -1, start);
    tribo_col_patch(k == 0 ? s->a : s->b, n, &patch);
    if (patch.count < 3 || tribo_dot3(patch.normal, n) < 0.999) {
      continue;
    }
    tribo_scale3(n, k == 0 ? 1 : -1, patch.normal);
    // faces are preferred by a hair, so that what rests on a face stays there; a over b
    if (try_direction(s, n, s->face ? -1e-6 * s->size : 1e-6 * s->size)) {
      s->face = k + 1;
    }
  }
}

// The straight line of the surface at the support point of n that is most nearly perpendicular to n; 0: none is.
static int support_line(const TriboSolid* solid, const double n[3], double line[3]) {
  double d[3], local[3] = {0, 0, 0}, best = 1e-2;
  tribo_mul33tv(d, solid->pose.R, n);
  if (solid->kind == TRIBO_SHAPE_CAPSULE || solid->kind == TRIBO_SHAPE_CYLINDER) {
    local[2] = fabs(d[2]) < best;
  } else if (solid->kind == TRIBO_SHAPE_CONE) {
    double rim = sqrt(d[0] * d[0] + d[1] * d[1]),
           slant = sqrt(solid->radius * solid->radius + 4 * solid->half[2] * solid->half[2]);
    if (rim > 0) {
      tribo_set3(local, -solid->radius * d[0] / (rim * slant), -solid->radius * d[1] / (rim * slant),
                 2 * solid->half[2] / slant);
      if (fabs(tribo_dot3(local, d)) > best) {
        return 0;
      }
    }
  } else if (solid->kind == TRIBO_SHAPE_BOX) {
    for (int k = 0; k < 3; ++k) {
      if (fabs(d[k]) < best) {
        best = fabs(d[k]);
        tribo_set3(local, k == 0, k == 1, k == 2);
      }
    }
  } else if (solid->kind == TRIBO_SHAPE_HULL) {
    // both edges that each face around the support vertex has there
    const TriboHull* hull = solid->hull;
    int vertex = tribo_col_hull_support(hull, d);
    for (int k = hull->around_first[vertex]; k < hull->around_first[vertex + 1]; ++k) {
      int first = hull->face_first[hull->around[k]], length = hull->face_first[hull->around[k] + 1] - first, at = 0;
      while (hull->face_vertex[first + at] != vertex) {
        at++;
      }
      double edge[3];
      tribo_sub3(edge, hull->points + 3 * hull->face_vertex[first + (at + 1) % length], hull->points + 3 * vertex);
      tribo_normalize3(edge);
      if (fabs(tribo_dot3(edge, d)) < best) {
        best = fabs(tribo_dot3(edge, d));
        tribo_copy3(local, edge);
      }
    }
  }
  tribo_mul33v(line, solid->pose.R, local);
  return tribo_dot3(local, local) > 0;
}

static void try_lines(Search* s) {
  double start[3] = {s->n[0], s->n[1], s->n[2]}, back[3] = {-s->n[0], -s->n[1], -s->n[2]}, n[3];
  int known[2] = {support_line(s->a, start, s->line[0]), support_line(s->b, back, s->line[1])};
  double slack = 1e-10 * s->size;
  for (int k = 0; k < 2; ++k) {
    if (known[k]) {
      tribo_axpy3(n, start, -tribo_dot3(start, s->line[k]), s->line[k]);
      tribo_normalize3(n);
      if (try_direction(s, n, slack)) {
        s->has_line[k] = 1, s->has_line[1 - k] = 0;
      }
    }
  }
  if (known[0] && known[1]) {
    tribo_cross3(n, s->line[0], s->line[1]);
    if (tribo_norm3(n) > 1e-3) {
      tribo_scale3(n, tribo_dot3(n, start) < 0 ? -1 : 1, n);
      tribo_normalize3(n);
      if (try_direction(s, n, slack)) {
        s->has_line[0] = s->has_line[1] = 1;
      }
    } else {
      // parallel lines: being perpendicular to one is being perpendicular to both
      s->has_line[0] = s->has_line[1] = s->has_line[0] || s->has_line[1];
    }
  }
}

// Gradient of −f in the free directions; returns how many there are.
static int free_gradient(const Search* s, double t[2][3], double g[2]) {
  double r[3], cross[3];
  int count = 2;
  tribo_tangents(t[0], t[1], s->n);
  if (s->has_line[0] || s->has_line[1]) {
    tribo_cross3(t[0], s->line[!s->has_line[0]], s->n);
    tribo_normalize3(t[0]);
    tribo_cross3(cross, s->line[0], s->line[1]);
    count = s->has_line[0] && s->has_line[1] && tribo_norm3(cross) > 1e-3 ? 0 : 1;
  }
  tribo_sub3(r, s->xa, s->xb);
  g[0] = tribo_dot3(t[0], r);
  g[1] = count == 2 ? tribo_dot3(t[1], r) : 0;
  return count;
}

static void newton(Search* s) {
  double t[2][3], g[2], last = INFINITY;
  for (int iteration = 0; iteration < 10; ++iteration) {
    int count = free_gradient(s, t, g);
    double size = sqrt(g[0] * g[0] + g[1] * g[1]);
    if (count == 0 || !(size > 1e-15 * s->size) || !(size < 0.5 * last)) {
      return;
    }
    last = size;
    double K[9] = {0}, Kt[2][3], H[3], step[2], back[3] = {-s->n[0], -s->n[1], -s->n[2]};
    tribo_col_curvature(s->a, s->n, K);
    tribo_col_curvature(s->b, back, K);
    tribo_mul33v(Kt[0], K, t[0]);
    tribo_mul33v(Kt[1], K, t[1]);
    H[0] = tribo_dot3(t[0], Kt[0]) + s->f;
    H[1] = count == 2 ? tribo_dot3(t[0], Kt[1]) : 0;
    H[2] = count == 2 ? tribo_dot3(t[1], Kt[1]) + s->f : 1;
    double det = H[0] * H[2] - H[1] * H[1];
    if (!(H[0] > 0) || !(det > 1e-12 * s->size * s->size)) {
      return;  // flat or not a minimum: Coal's answer stands
    }
    step[0] = -(H[2] * g[0] - H[1] * g[1]) / det;
    step[1] = -(H[0] * g[1] - H[1] * g[0]) / det;
    double n[3];
    tribo_axpy3(n, s->n, step[0], t[0]);
    if (count == 2) {
      tribo_axpy3(n, n, step[1], t[1]);
    }
    tribo_normalize3(n);
    if (!try_direction(s, n, 1e-14 * s->size)) {
      return;
    }
  }
}

// Two parallel lines: a point at each end of their overlap.
static void add_parallel(const Search* s, const TriboPatch* pa, const TriboPatch* pb, double reach, TriboManifold* m) {
  double d[3], x[3], ends[4], offset[3];
  tribo_sub3(d, pa->points[1], pa->points[0]);
  double length = tribo_normalize3(d);
  for (int k = 0; k < 2; ++k) {
    tribo_sub3(x, pb->points[k], pa->points[0]);
    ends[k] = tribo_dot3(x, d);
  }
  double low = fmax(0, fmin(ends[0], ends[1])), high = fmin(length, fmax(ends[0], ends[1]));
  for (int k = 0; k < 2 && high > low; ++k) {
    double at = k ? high : low, w = (at - ends[0]) / (ends[1] - ends[0]);
    double p[3], q[3];
    tribo_axpy3(p, pa->points[0], at, d);
    tribo_axpy3(p, p, pa->radius, s->n);
    tribo_sub3(x, pb->points[1], pb->points[0]);
    tribo_axpy3(q, pb->points[0], w, x);
    tribo_axpy3(q, q, -pb->radius, s->n);
    tribo_sub3(offset, q, p);
    double gap = tribo_dot3(offset, s->n);
    if (gap <= reach) {
      tribo_col_add_point(m, p, s->n, gap, tribo_col_feature(TRIBO_FEATURE_EDGE, 0, 0, k));
    }
  }
}

// One point. The support point of a solid is the place unless a whole line or face of it supports n.
static void add_single(const Search* s, TriboManifold* m) {
  double a[3];
  int many_a = s->has_line[0] || s->face == 1, many_b = s->has_line[1] || s->face == 2;
  if (!many_a) {
    tribo_copy3(a, s->xa);
  } else if (!many_b) {
    tribo_axpy3(a, s->xb, -s->f, s->n);
  } else if (s->has_line[0] && s->has_line[1]) {
    double t, u;
    tribo_col_segments(s->xa, s->line[0], INFINITY, s->xb, s->line[1], INFINITY, &t, &u);
    tribo_axpy3(a, s->xa, t, s->line[0]);
  } else {
    tribo_axpy3(a, s->seen, tribo_dot3(s->n, s->xa) - tribo_dot3(s->n, s->seen), s->n);
  }
  tribo_col_add_point(m, a, s->n, s->f, tribo_col_feature(TRIBO_FEATURE_POINT, 0, 0, 0));
}

// Turns the rim points of a cap, which is the reference face, towards the tilt of the face on the other side.
static void turn_cap(const TriboSolid* solid, const TriboPatch* other, TriboPatch* face) {
  if ((solid->kind == TRIBO_SHAPE_CYLINDER || solid->kind == TRIBO_SHAPE_CONE) && other->count >= 3 &&
      tribo_dot3(other->normal, face->normal) < -0.99) {
    double n[3];
    tribo_scale3(n, -1, other->normal);
    tribo_col_patch(solid, n, face);
  }
}

// Points of a face against the patch on the other side; returns their least gap.
static double add_face(const Search* s, double reach, TriboManifold* m) {
  TriboPatch pa, pb;
  double back[3] = {-s->n[0], -s->n[1], -s->n[2]};
  tribo_col_patch(s->a, s->n, &pa);
  tribo_col_patch(s->b, back, &pb);
  if (s->face == 1) {
    turn_cap(s->a, &pb, &pa);
    return tribo_col_clip(&pa, &pb, s->n, 1, reach, m);
  }
  turn_cap(s->b, &pa, &pb);
  return tribo_col_clip(&pb, &pa, s->n, 0, reach, m);
}

// Polishes the start; without faces when one has been tried and found to lie beside the contact.
static void polish(Search* s, int with_faces) {
  s->f = -INFINITY;
  s->face = s->has_line[0] = s->has_line[1] = 0;
  try_direction(s, s->start, 0);
  if (with_faces) {
    try_faces(s);
  }
  if (!s->face) {
    try_lines(s);
    newton(s);
  }
}

static void middle_of(const TriboSolid* solid, double x[3]) {
  const double origin[3] = {0, 0, 0};
  tribo_col_to_world(x, &solid->pose, solid->kind == TRIBO_SHAPE_HULL ? solid->hull->centre : origin);
}

// A direction that is plainly better than the best so far, among the line of the middles and the axes of both solids:
// proof that Coal's search for the depth has failed. 0 when there is none.
static int find_better(const Search* s, double n[3]) {
  double best = s->f + 1e-6 * s->size, x[3], xa[3], xb[3];
  int found = 0;
  for (int k = 0; k < 13; ++k) {
    const TriboSolid* solid = k < 6 ? s->a : s->b;
    if (k == 12) {
      middle_of(s->a, xa);
      middle_of(s->b, xb);
      tribo_sub3(x, xb, xa);
    } else if (solid->kind == TRIBO_SHAPE_HULL) {
      continue;  // its axes mean nothing
    } else {
      tribo_col_axis(x, solid, k % 3);
      tribo_scale3(x, k % 6 < 3 ? 1 : -1, x);
    }
    if (tribo_normalize3(x) > 0) {
      double f = separation(s->a, s->b, x, xa, xb);
      if (f > best) {
        best = f, found = 1;
        tribo_copy3(n, x);
      }
    }
  }
  return found;
}

// Climbs from a direction by distances, which Coal finds reliably: b is moved out along n until it is just apart, and
// the direction of closest approach there is tried, as long as it is better.
static TriboStatus climb(TriboCoalQuery* query, Search* s, double n[3]) {
  double xa[3], xb[3], f = separation(s->a, s->b, n, xa, xb);
  for (int i = 0; i < 16; ++i) {
    TriboSolid moved = *s->b;
    TriboCoalAnswer coal;
    tribo_axpy3(moved.pose.p, moved.pose.p, 1e-3 * s->size - f, n);
    TRIBO_TRY(tribo_coal_distance(query, s->a->coal, &s->a->pose, moved.coal, &moved.pose, &coal));
    double better = separation(s->a, s->b, coal.normal, xa, xb);
    if (!(better > f + 1e-12 * s->size)) {
      break;
    }
    f = better;
    tribo_copy3(n, coal.normal);
    tribo_copy3(s->seen, coal.point);
  }
  return TRIBO_OK;
}

static void add_points(Search* s, double reach, TriboManifold* m) {
  // a face counts when a point over it is as close as it says; apart, the contact may be beside it
  if (s->face && !(add_face(s, reach, m) <= s->f + 2e-6 * s->size) && s->f > 0) {
    m->count = 0;
    polish(s, 0);
  }
  if (!s->face && s->has_line[0] && s->has_line[1]) {
    TriboPatch pa, pb;
    double back[3] = {-s->n[0], -s->n[1], -s->n[2]}, cross[3];
    tribo_col_patch(s->a, s->n, &pa);
    tribo_col_patch(s->b, back, &pb);
    tribo_cross3(cross, s->line[0], s->line[1]);
    if (pa.count == 2 && pb.count == 2 && tribo_norm3(cross) < 1e-3) {
      add_parallel(s, &pa, &pb, reach, m);
    }
  }
  if (m->count == 0 && s->f <= reach) {
    add_single(s, m);
  }
  m->gap = s->f;
  tribo_copy3(m->normal, s->n);
}

TriboStatus tribo_col_convex(TriboCoalQuery* query, const TriboSolid* a, const TriboSolid* b, double reach,
                             TriboManifold* m) {
  TriboCoalAnswer coal;
  TRIBO_TRY(tribo_coal_distance(query, a->coal, &a->pose, b->coal, &b->pose, &coal));
  Search s = {.a = a, .b = b, .size = fmin(tribo_col_reach(a), tribo_col_reach(b))};
  if (!tribo_finite(coal.normal, 3) || !tribo_finite(coal.point, 3) || !(tribo_norm3(coal.normal) > 0.5)) {
    // nothing came back: any direction will do, better ones are looked for below
    tribo_set3(coal.normal, 0, 0, 1);
    tribo_copy3(coal.point, a->pose.p);
  }
  tribo_copy3(s.seen, coal.point);
  tribo_copy3(s.start, coal.normal);
  tribo_normalize3(s.start);
  polish(&s, 1);
  if (s.f < 0 && find_better(&s, s.start)) {
    TRIBO_TRY(climb(query, &s, s.start));
    polish(&s, 1);
  }
  m->gap = s.f;
  tribo_copy3(m->normal, s.n);
  if (m->gap <= reach) {
    add_points(&s, reach, m);
  }
  return TRIBO_OK;
}
