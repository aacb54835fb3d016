// Convex pairs without a closed form.
//
// For a unit direction n let f(n) = −(h_A(n) + h_B(−n)), the separation along n. The signed distance of two convex
// solids is the largest f(n), over all n when they are apart and near the right n when they overlap. Coal's GJK and EPA
// find that n to about 1e-4; here it is polished, and every step is accepted or refused by f itself:
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
#include "narrow.h"
#include "memory.h"
#include "status.h"

typedef struct Search {
  const TriboSolid *a, *b;
  double size;           // of the smaller solid, scales the tolerances
  double start[3];       // direction to polish
  double coal_point[3];  // where Coal saw the contact
  double n[3], f;        // best direction so far and its separation
  double xa[3], xb[3];   // support points there
  int face;              // 1: n is a face normal of a, 2: of b
  double line[2][3];     // of a, of b
  int has_line[2];       // whether n is kept perpendicular to it
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

// Tries the normals of the faces that almost look along n.
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

// A straight piece of the surface that starts at the support point of n: unit direction and length.
typedef struct Line {
  double d[3], length;
} Line;

// The edge at the support vertex that is most nearly perpendicular to d, in the hull's frame.
static Line hull_line(const TriboHull* hull, const double d[3], double slack) {
  Line best = {.length = 0};
  int vertex = tribo_col_hull_support(hull, d);
  for (int k = hull->around_first[vertex]; k < hull->around_first[vertex + 1]; ++k) {
    Line edge;
    tribo_sub3(edge.d, hull->points + 3 * hull->next[k], hull->points + 3 * vertex);
    edge.length = tribo_normalize3(edge.d);
    if (fabs(tribo_dot3(edge.d, d)) < slack) {
      slack = fabs(tribo_dot3(edge.d, d));
      best = edge;
    }
  }
  return best;
}

// The line at the support point of n that is perpendicular to n within `slack`, in the world; 0: there is none.
static int support_line(const TriboSolid* solid, const double n[3], double slack, Line* line) {
  double d[3], rim, slant;
  Line local = {.length = 0};
  tribo_mul33tv(d, solid->pose.R, n);
  switch (solid->kind) {
    case TRIBO_SHAPE_BOX:
    case TRIBO_SHAPE_CAPSULE:
    case TRIBO_SHAPE_CYLINDER:
      // along an axis, away from the side the support point is on
      for (int k = solid->kind == TRIBO_SHAPE_BOX ? 0 : 2; k < 3; ++k) {
        if (fabs(d[k]) < slack) {
          slack = fabs(d[k]);
          local = (Line){{0, 0, 0}, 2 * solid->half[k]};
          local.d[k] = -copysign(1, d[k]);
        }
      }
      break;
    case TRIBO_SHAPE_CONE:
      // from the rim up to the apex, or down
      rim = sqrt(d[0] * d[0] + d[1] * d[1]);
      slant = sqrt(solid->radius * solid->radius + 4 * solid->half[2] * solid->half[2]);
      if (rim > 0) {
        double across = -solid->radius / (rim * slant), sign = 2 * solid->half[2] * d[2] > solid->radius * rim ? -1 : 1;
        tribo_set3(local.d, sign * across * d[0], sign * across * d[1], sign * 2 * solid->half[2] / slant);
        local.length = fabs(tribo_dot3(local.d, d)) < slack ? slant : 0;
      }
      break;
    case TRIBO_SHAPE_HULL: local = hull_line(solid->hull, d, slack); break;
    default: break;
  }
  tribo_mul33v(line->d, solid->pose.R, local.d);
  line->length = local.length;
  return line->length > 0;
}

// Tries n perpendicular to the straight line of a, to that of b, and to both.
static void try_lines(Search* s) {
  double start[3] = {s->n[0], s->n[1], s->n[2]}, back[3] = {-s->n[0], -s->n[1], -s->n[2]}, n[3];
  Line lines[2];
  int exists[2] = {support_line(s->a, start, 1e-2, lines), support_line(s->b, back, 1e-2, lines + 1)};
  tribo_copy3(s->line[0], lines[0].d);
  tribo_copy3(s->line[1], lines[1].d);
  double slack = 1e-10 * s->size;
  s->has_line[0] = s->has_line[1] = 0;
  for (int k = 0; k < 2; ++k) {
    if (exists[k]) {
      tribo_axpy3(n, start, -tribo_dot3(start, s->line[k]), s->line[k]);
      tribo_normalize3(n);
      if (try_direction(s, n, slack)) {
        s->has_line[k] = 1, s->has_line[1 - k] = 0;
      }
    }
  }
  if (exists[0] && exists[1]) {
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

// Newton on the sphere, in the directions that lines leave free.
static void polish_by_newton(Search* s) {
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
  if (!(high > low)) {
    return;
  }
  for (int k = 0; k < 2; ++k) {
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

// The place on the solid's line at the support point x that is closest to y; x itself without a line.
static void slide_along_line(const TriboSolid* solid, const double n[3], const double y[3], double x[3]) {
  Line line;
  if (support_line(solid, n, 1e-5, &line)) {
    double d[3];
    tribo_sub3(d, y, x);
    tribo_axpy3(x, x, tribo_clamp(tribo_dot3(d, line.d), 0, line.length), line.d);
  }
}

// One point: where the lines of both solids come closest, or at the support point of the one that has no line. A face
// without a point of the other patch over it leaves its place to the other solid and to what Coal saw.
static void add_single(const Search* s, TriboManifold* m) {
  double a[3], b[3], back[3] = {-s->n[0], -s->n[1], -s->n[2]};
  Line la, lb;
  tribo_copy3(a, s->xa);
  tribo_copy3(b, s->xb);
  if (s->face == 1) {
    slide_along_line(s->b, back, s->coal_point, b);
    tribo_axpy3(a, b, -s->f, s->n);
  } else if (s->face == 2) {
    slide_along_line(s->a, s->n, s->coal_point, a);
  } else if (support_line(s->a, s->n, 1e-5, &la) && support_line(s->b, back, 1e-5, &lb)) {
    double p[3], q[3], t, u;
    tribo_axpy3(p, a, 0.5 * la.length, la.d);
    tribo_axpy3(q, b, 0.5 * lb.length, lb.d);
    tribo_col_segments(p, la.d, 0.5 * la.length, q, lb.d, 0.5 * lb.length, &t, &u);
    tribo_axpy3(a, p, t, la.d);
  } else {
    slide_along_line(s->a, s->n, b, a);
  }
  tribo_col_add_point(m, a, s->n, s->f, tribo_col_feature(TRIBO_FEATURE_POINT, 0, 0, 0));
}

// The reference face again, when it is the cap of a cylinder or cone, with its corners turned: towards the tilt of the
// face on the other side, or (to_point) so that one corner lies over the other solid's support point.
static void turn_cap(const Search* s, const TriboPatch* other, int to_point, TriboPatch* face) {
  const TriboSolid* solid = s->face == 1 ? s->a : s->b;
  if (solid->kind != TRIBO_SHAPE_CYLINDER && solid->kind != TRIBO_SHAPE_CONE) {
    return;
  }
  double n[3];
  if (to_point) {
    tribo_sub3(n, s->face == 1 ? s->xb : s->xa, solid->pose.p);
    tribo_axpy3(n, n, -tribo_dot3(n, face->normal), face->normal);
    tribo_normalize3(n);
    tribo_axpy3(n, face->normal, 0.1, n);
    tribo_normalize3(n);
  } else if (other->count >= 3 && tribo_dot3(other->normal, face->normal) < -0.99) {
    tribo_scale3(n, -1, other->normal);
  } else {
    return;
  }
  tribo_col_patch(solid, n, face);
}

// Points of a face against the patch on the other side; returns their least gap.
static double add_face(const Search* s, int to_point, double reach, TriboManifold* m) {
  TriboPatch pa, pb, *face = s->face == 1 ? &pa : &pb, *other = s->face == 1 ? &pb : &pa;
  double back[3] = {-s->n[0], -s->n[1], -s->n[2]};
  tribo_col_patch(s->a, s->n, &pa);
  tribo_col_patch(s->b, back, &pb);
  turn_cap(s, other, to_point, face);
  m->count = 0;
  return tribo_col_clip(face, other, s->n, s->face == 1, reach, m);
}

// Polishes the start; without faces when one has been tried and found to lie beside the contact.
static void polish(Search* s, int with_faces) {
  s->f = -INFINITY;
  s->face = s->has_line[0] = s->has_line[1] = 0;
  try_direction(s, s->start, 0);
  if (with_faces) {
    try_faces(s);
  }
  // the line of a cone turns with n, so that it takes a few rounds to get perpendicular
  int cones = s->a->kind == TRIBO_SHAPE_CONE || s->b->kind == TRIBO_SHAPE_CONE;
  if (!s->face) {
    for (int round = 0; round < (cones ? 4 : 1); ++round) {
      try_lines(s);
      polish_by_newton(s);
    }
  }
}

static void middle_of(const TriboSolid* solid, double x[3]) {
  const double origin[3] = {0, 0, 0};
  tribo_col_to_world(x, &solid->pose, solid->kind == TRIBO_SHAPE_HULL ? solid->hull->centre : origin);
}

// The best direction among the one found, the line of the middles and the axes of both solids; returns its separation.
static double best_seed(const Search* s, double n[3]) {
  double best = s->f + 1e-6 * s->size, x[3], xa[3], xb[3];
  tribo_copy3(n, s->n);
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
        best = f;
        tribo_copy3(n, x);
      }
    }
  }
  return separation(s->a, s->b, n, xa, xb);
}

// Coal's own heap calls are counted on its account.
static TriboStatus coal_distance(TriboCoalQuery* query, const TriboSolid* a, const TriboSolid* b,
                                 TriboCoalAnswer* out) {
  TriboHeapOwner before = tribo_heap_enter(TRIBO_HEAP_COAL);
  TriboStatus status = tribo_coal_distance(query, a->coal, &a->pose, b->coal, &b->pose, out);
  tribo_heap_leave(before);
  return status;
}

// Climbs by distances, which Coal finds reliably: b is moved out along n until it is clearly apart, and the direction
// of closest approach there is tried, as long as it is better. A direction is its own answer exactly when the support
// points lie along it, that is when f is stationary.
static TriboStatus climb_by_distance(TriboCoalQuery* query, Search* s) {
  double n[3], xa[3], xb[3], f = best_seed(s, n);
  for (int i = 0; i < 16; ++i) {
    TriboSolid moved = *s->b;
    TriboCoalAnswer coal;
    tribo_axpy3(moved.pose.p, moved.pose.p, 1e-2 * s->size - f, n);
    TRIBO_TRY(coal_distance(query, s->a, &moved, &coal));
    double better = separation(s->a, s->b, coal.normal, xa, xb);
    if (!(better > f + 1e-9 * s->size)) {
      break;
    }
    f = better;
    tribo_copy3(n, coal.normal);
    tribo_copy3(s->coal_point, coal.point);
  }
  if (f > s->f + 1e-9 * s->size) {
    tribo_copy3(s->start, n);
    polish(s, 1);
  }
  return TRIBO_OK;
}

// A face counts when a point over it is as close as it says. If not, the contact is beside the face, and the direction
// without faces is taken unless it is worse.
static void confirm_face(Search* s, double reach, TriboManifold* m) {
  double enough = s->f + 2e-6 * s->size;
  if (add_face(s, 0, reach, m) <= enough || add_face(s, 1, reach, m) <= enough) {
    return;
  }
  Search without = *s;
  polish(&without, 0);
  m->count = 0;
  if (without.f >= s->f - 1e-6 * s->size) {
    *s = without;
  }
}

// What touches at a point may turn, within the step that `reach` looks ahead, until faces that almost look at each
// other meet on their far side: a disc that rocks from one edge to the other. So where the tilt of a face is no more
// than the reach, the points of that face far from the one found are told too, with the face's normal and their own
// gaps.
static void add_far_side(const Search* s, double reach, TriboManifold* m) {
  const TriboColPoint near = m->points[0];
  for (int k = 0; k < 2 && m->count == 1; ++k) {
    const TriboSolid *own = k == 0 ? s->a : s->b, *facing = k == 0 ? s->b : s->a;
    TriboPatch face, other;
    TriboManifold far = {.count = 0};
    double out[3], back[3], n[3], tilt[3];
    tribo_scale3(out, k == 0 ? 1 : -1, s->n);
    tribo_col_patch(own, out, &face);
    if (face.count < 3) {
      continue;
    }
    tribo_cross3(tilt, face.normal, out);
    if (!(tribo_norm3(tilt) * s->size <= reach)) {
      continue;
    }
    tribo_scale3(back, -1, face.normal);
    tribo_scale3(n, k == 0 ? 1 : -1, face.normal);
    tribo_col_patch(facing, back, &other);
    tribo_col_clip(&face, &other, n, k == 0, reach, &far);
    for (int i = 0; i < far.count && m->count < TRIBO_POINT_MAX; ++i) {
      double d[3];
      tribo_sub3(d, far.points[i].a, near.a);
      if (tribo_norm3(d) > 0.5 * s->size) {
        m->points[m->count++] = far.points[i];
      }
    }
  }
}

static void add_points(Search* s, double reach, TriboManifold* m) {
  if (s->face) {
    confirm_face(s, reach, m);
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
    add_far_side(s, reach, m);
  }
  m->gap = s->f;
  tribo_copy3(m->normal, s->n);
}

// Whether some direction shows that the solids are farther apart than `reach`; *n and *f are that direction and its
// separation, which is less than the distance. Differences b − a of their points are a convex set, and v, one of them,
// comes closer to the origin on the segment to the support point against it (Gilbert, 1966). A few steps tell most
// pairs whose boxes meet and that do not; the others are left to Coal.
static int is_beyond(const TriboSolid* a, const TriboSolid* b, double reach, double n[3], double* f) {
  enum { STEPS = 6 };
  double xa[3], xb[3], v[3], w[3], d[3];
  middle_of(a, xa);
  middle_of(b, xb);
  tribo_sub3(v, xb, xa);
  for (int i = 0; i < STEPS; ++i) {
    tribo_copy3(n, v);
    if (!(tribo_normalize3(n) > reach)) {
      return 0;
    }
    *f = separation(a, b, n, xa, xb);
    if (*f > reach) {
      return 1;
    }
    tribo_sub3(w, xb, xa);
    tribo_sub3(d, w, v);
    const double length2 = tribo_dot3(d, d), fraction = length2 > 0 ? -tribo_dot3(v, d) / length2 : 0;
    tribo_axpy3(v, v, tribo_clamp(fraction, 0, 1), d);
  }
  return 0;
}

TriboStatus tribo_col_convex(TriboCoalQuery* query, const TriboSolid* a, const TriboSolid* b, double reach,
                             TriboManifold* m) {
  TriboCoalAnswer coal;
  if (is_beyond(a, b, reach, m->normal, &m->gap)) {
    return TRIBO_OK;
  }
  TRIBO_TRY(coal_distance(query, a, b, &coal));
  Search s = {.a = a, .b = b, .size = fmin(tribo_col_reach(a), tribo_col_reach(b))};
  if (!(tribo_norm3(coal.normal) > 0.5)) {
    // nothing came back: any direction will do, better ones are looked for below
    tribo_set3(coal.normal, 0, 0, 1);
    tribo_copy3(coal.point, a->pose.p);
  }
  tribo_copy3(s.coal_point, coal.point);
  tribo_copy3(s.start, coal.normal);
  tribo_normalize3(s.start);
  polish(&s, 1);
  // touching or overlapping, or a direction that does not reach the distance it came with: look again
  if (s.f < 1e-6 * s.size || s.f < coal.gap - 1e-6 * s.size) {
    TRIBO_TRY(climb_by_distance(query, &s));
  }
  m->gap = s.f;
  tribo_copy3(m->normal, s.n);
  if (m->gap <= reach) {
    add_points(&s, reach, m);
  }
  return TRIBO_OK;
}
