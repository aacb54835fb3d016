// Contact points of one pair: clipping of two patches, names of points, reduction to a few.
#include "manifold.h"

#include <stdlib.h>

void tribo_col_add_point(TriboManifold* m, const double a[3], const double normal[3], double gap, uint32_t feature) {
  TriboColPoint* p = m->points + m->count++;
  tribo_copy3(p->a, a);
  tribo_copy3(p->normal, normal);
  tribo_axpy3(p->b, a, gap, normal);
  p->gap = gap;
  p->feature = feature;
  p->place = 0;
}

int tribo_col_shallowest(const TriboManifold* m) {
  int shallowest = 0;
  for (int k = 1; k < m->count; ++k) {
    shallowest = m->points[k].gap > m->points[shallowest].gap ? k : shallowest;
  }
  return shallowest;
}

void tribo_col_exchange_sides(TriboManifold* m) {
  tribo_scale3(m->normal, -1, m->normal);
  for (int i = 0; i < m->count; ++i) {
    TriboColPoint* p = m->points + i;
    double a[3] = {p->a[0], p->a[1], p->a[2]};
    tribo_copy3(p->a, p->b);
    tribo_copy3(p->b, a);
    tribo_scale3(p->normal, -1, p->normal);
  }
}

void tribo_col_segments(const double p[3], const double d[3], double l, const double q[3], const double e[3], double m,
                        double* s, double* t) {
  double r[3], cross[3];
  tribo_sub3(r, q, p);
  tribo_cross3(cross, d, e);
  double b = tribo_dot3(d, e), c = tribo_dot3(d, r), f = tribo_dot3(e, r), sin2 = tribo_dot3(cross, cross);
  if (sin2 > 1e-20) {
    *s = tribo_clamp((c - b * f) / sin2, -l, l);
  } else {
    // parallel: the other segment covers c ± m on this one
    *s = tribo_clamp(0.5 * (fmax(-l, c - m) + fmin(l, c + m)), -l, l);
  }
  // the best t for s, and the best s again when t had to be clamped
  *t = tribo_clamp(b * *s - f, -m, m);
  *s = tribo_clamp(b * *t + c, -l, l);
}

// ---- clipping

typedef struct Polygon {
  int count;
  double x[TRIBO_POINT_MAX][3];
} Polygon;

// Cuts away what lies beyond the plane side·x = offset. Corners within eps of the plane count as inside and are kept
// as they are, so that aligned boxes give their four corners and nothing else.
static void cut(Polygon* p, const double side[3], double offset, double eps) {
  double depth[TRIBO_POINT_MAX];
  int outside = 0;
  for (int i = 0; i < p->count; ++i) {
    depth[i] = tribo_dot3(side, p->x[i]) - offset;
    outside += depth[i] > eps;
  }
  if (outside == 0) {
    return;
  }
  Polygon out;  // (not zeroed: it is large)
  out.count = 0;
  int corners = p->count, last = corners == 2 ? 1 : corners;  // a segment has one edge, a polygon closes
  for (int i = 0; i < corners; ++i) {
    int j = (i + 1) % corners;
    if (depth[i] <= eps) {
      tribo_copy3(out.x[out.count++], p->x[i]);
    }
    int crosses = (depth[i] > eps && depth[j] < -eps) || (depth[j] > eps && depth[i] < -eps);
    if (i < last && crosses && out.count < TRIBO_POINT_MAX) {
      double w = depth[i] / (depth[i] - depth[j]), step[3];
      tribo_sub3(step, p->x[j], p->x[i]);
      tribo_axpy3(out.x[out.count++], p->x[i], w, step);
    }
  }
  p->count = out.count;
  memcpy(p->x, out.x, (size_t)out.count * sizeof *out.x);
}

// Quarter 0 … 3 of x around the centre, in the axes of the patch; place: how far it is turned from the first axis
// towards the second, 0 … 65535.
static int quarter(const TriboPatch* patch, const double centre[3], const double x[3], uint32_t* place) {
  double d[3];
  tribo_sub3(d, x, centre);
  const double u = tribo_dot3(d, patch->u), v = tribo_dot3(d, patch->v), sum = fabs(u) + fabs(v);
  *place = sum > 0 ? (uint32_t)(65535 * (fabs(v) / sum)) : 0;
  return (u < 0) | (v < 0) << 1;
}

double tribo_col_clip(const TriboPatch* face, const TriboPatch* other, const double n[3], int face_is_a, double reach,
                      TriboManifold* m) {
  Polygon p;
  p.count = other->count;
  memcpy(p.x, other->points, (size_t)other->count * sizeof *p.x);
  // the sides of the face, outward: edge × normal
  double eps = 0;
  for (int i = 0; i < face->count && p.count > 0; ++i) {
    const double* from = face->points[i];
    double edge[3], side[3];
    tribo_sub3(edge, face->points[(i + 1) % face->count], from);
    tribo_cross3(side, edge, face->normal);
    eps = fmax(eps, 1e-9 * tribo_normalize3(side));
    cut(&p, side, tribo_dot3(side, from), eps);
  }
  double centre[3] = {0, 0, 0}, least = INFINITY;
  for (int i = 0; i < p.count; ++i) {
    tribo_axpy3(centre, centre, 1.0 / p.count, p.x[i]);
  }
  // quarters in the axes of b, whichever face is the reference: ids survive a change of reference
  const TriboPatch *a = face_is_a ? face : other, *b = face_is_a ? other : face;
  const TriboPatch* axes = b->count >= 3 ? b : a;
  for (int i = 0; i < p.count; ++i) {
    double gap = tribo_dot3(face->normal, p.x[i]) - face->offset - other->radius;
    least = fmin(least, gap);
    if (gap <= reach && m->count < TRIBO_POINT_MAX) {
      uint32_t place = 0;
      int label = other->count <= 2 ? i : quarter(axes, centre, p.x[i], &place);
      double start[3];
      tribo_axpy3(start, p.x[i], face_is_a ? -(gap + other->radius) : other->radius, n);
      tribo_col_add_point(m, start, n, gap, tribo_col_feature(TRIBO_FEATURE_FACE, a->id, b->id, label << 2));
      m->points[m->count - 1].place = place;
    }
  }
  return least;
}

// ---- reduction

// Midpoint of a contact, projected into the plane of n.
static void midpoint(const TriboColPoint* p, const double n[3], double x[3]) {
  tribo_add3(x, p->a, p->b);
  tribo_scale3(x, 0.5, x);
  tribo_axpy3(x, x, -tribo_dot3(x, n), n);
}

// How far a point lies in a direction of no meaning. It decides among equals alike in every step, where rounding, a
// tilt of no size or the order of the points would choose now this one and now that.
static double tie_break(const double x[3]) {
  return 0.62 * x[0] + 0.71 * x[1] + 0.33 * x[2];
}

// Of the points whose score is the best within `tie`, the one that the tie break prefers.
static int pick_best(double (*x)[3], const double* score, int count, double tie) {
  int best = 0, chosen = -1;
  for (int i = 1; i < count; ++i) {
    best = score[i] > score[best] ? i : best;
  }
  for (int i = 0; i < count; ++i) {
    if (score[i] >= score[best] - tie && (chosen < 0 || tie_break(x[i]) > tie_break(x[chosen]))) {
      chosen = i;
    }
  }
  return chosen;
}

static double area(const double x[3], const double y[3], const double z[3], const double n[3]) {
  double u[3], v[3], c[3];
  tribo_sub3(u, y, x);
  tribo_sub3(v, z, x);
  tribo_cross3(c, u, v);
  return tribo_dot3(c, n);
}

// How much area each point adds to the triangle (i, j, k) beyond one of its sides.
static void score_beyond(double (*x)[3], int count, int i, int j, int k, const double n[3], double* score) {
  const int corner[4] = {i, j, k, i};
  double sense = area(x[i], x[j], x[k], n) < 0 ? -1 : 1;
  for (int p = 0; p < count; ++p) {
    score[p] = 0;
    for (int c = 0; c < 3; ++c) {
      score[p] = fmax(score[p], -sense * area(x[corner[c]], x[corner[c + 1]], x[p], n));
    }
  }
}

// Which four of the points, and which of these more than once; `equal` is what counts as equal, as a fraction of how
// far apart the points are. Returns that.
static double choose_four(const TriboColPoint* points, int count, double equal, int kept[TRIBO_KEPT_MAX]) {
  double x[TRIBO_POINT_MAX][3] = {{0}}, score[TRIBO_POINT_MAX] = {0}, spread = 0;
  const double* n = points[0].normal;
  for (int i = 0; i < count; ++i) {
    midpoint(points + i, n, x[i]);
    double d[3];
    tribo_sub3(d, x[i], x[0]);
    spread = fmax(spread, tribo_norm3(d));
  }
  const double tie = equal * spread;
  // of the deepest points the one farthest from the centre of all; then the one farthest from that
  double deepest = INFINITY, centre[3] = {0};
  for (int i = 0; i < count; ++i) {
    deepest = fmin(deepest, points[i].gap);
    tribo_axpy3(centre, centre, 1.0 / count, x[i]);
  }
  for (int i = 0; i < count; ++i) {
    double d[3];
    tribo_sub3(d, x[i], centre);
    score[i] = points[i].gap <= deepest + tie ? tribo_norm3(d) : -INFINITY;
  }
  kept[0] = pick_best(x, score, count, tie);
  for (int i = 0; i < count; ++i) {
    double d[3];
    tribo_sub3(d, x[i], x[kept[0]]);
    score[i] = tribo_norm3(d);
  }
  kept[1] = pick_best(x, score, count, tie);
  // the corner of the largest triangle; the one that adds most beyond its sides; the second choice once more
  for (int i = 0; i < count; ++i) {
    score[i] = fabs(area(x[kept[0]], x[kept[1]], x[i], n));
  }
  kept[2] = pick_best(x, score, count, tie * spread);
  const int turn[2][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}};
  for (int k = 0; k < 2; ++k) {
    const int* of = turn[k];
    score_beyond(x, count, kept[of[0]], kept[of[1]], kept[of[2]], n, score);
    kept[of[3]] = pick_best(x, score, count, tie * spread);
  }
  return spread;
}

void tribo_col_sort(TriboColPoint* points, int count) {
  // equal features (two points in one quarter) are told apart by a running number
  for (int i = 1; i < count; ++i) {
    TriboColPoint p = points[i];
    int j = i;
    for (; j > 0 && points[j - 1].feature > p.feature; --j) {
      points[j] = points[j - 1];
    }
    points[j] = p;
  }
  for (int i = 1; i < count; ++i) {
    if (points[i].feature <= points[i - 1].feature) {
      points[i].feature = points[i - 1].feature + 1;
    }
  }
}

// What was loaded stays: the point of its quarter that is nearest to its place. And of that quarter the deepest, where
// it is deeper by `more` than those that stay anyway.
static void keep_loaded(const TriboColPoint* points, int count, const TriboContactName* loaded, int nloaded,
                        double more, unsigned char* stays) {
  for (int k = 0, added = 0; k < nloaded; ++k) {
    int nearest = -1, deepest = -1, nearness = 0;
    double least = INFINITY;
    for (int i = 0; i < count; ++i) {
      const int away = abs((int)points[i].place - (int)loaded[k].place);
      if (points[i].feature >> 2 != loaded[k].feature >> 2) {
        continue;
      }
      if (nearest < 0 || away < nearness) {
        nearest = i, nearness = away;
      }
      deepest = deepest < 0 || points[i].gap < points[deepest].gap ? i : deepest;
      least = stays[i] && points[i].gap < least ? points[i].gap : least;
    }
    if (nearest >= 0 && !stays[nearest] && added < TRIBO_KEPT_MORE) {
      stays[nearest] = 1;
      added++;
      least = points[nearest].gap < least ? points[nearest].gap : least;
    }
    if (deepest >= 0 && points[deepest].gap < least - more && added < TRIBO_KEPT_MORE) {
      stays[deepest] = 1;
      added++;
    }
  }
}

int tribo_col_reduce(TriboColPoint* points, int count, const TriboContactName* loaded, int nloaded) {
  if (count > TRIBO_KEPT_MAX) {
    unsigned char stays[TRIBO_POINT_MAX] = {0};
    int four[TRIBO_KEPT_MAX], kept = 0;
    const double spread = choose_four(points, count, nloaded > 0 ? 1e-3 : 1e-6, four);
    for (int k = 0; k < TRIBO_KEPT_MAX; ++k) {
      stays[four[k]] = 1;
    }
    keep_loaded(points, count, loaded, nloaded, 1e-5 * spread, stays);
    for (int i = 0; i < count; ++i) {
      if (stays[i]) {
        points[kept++] = points[i];
      }
    }
    count = kept;
  }
  tribo_col_sort(points, count);
  return count;
}
