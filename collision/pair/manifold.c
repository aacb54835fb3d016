// Contact points of one pair: clipping of two patches, names of points, reduction to a few.
#include "manifold.h"

#include <limits.h>
#include <stdlib.h>

// The way round a patch, by quarters.
enum { QUARTER_TURN = 65536 };

// As fractions of how far apart a pair's points are: what differs by less is equal; what is deeper by more has to be
// among the kept; a tilt of 1/1000 brings a near one down.
static const double EQUAL = 1e-6, DEEPER = 1e-5, NEAR = 1e-3;

// A point that was there stays until another adds 1/STAYS of what it adds to the area. Of falling and standing robots
// 0.5, 0.7 and 0.9 let 0.35, 0.48 and 0.53 points come and go in a step (talos_fall); the solves cost the same.
static const double STAYS = 0.5;

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

// Quarter 0 … 3 of x around the centre, in the axes of the patch, and its place on the way round.
static int quarter(const TriboPatch* patch, const double centre[3], const double x[3], uint32_t* place) {
  double d[3];
  tribo_sub3(d, x, centre);
  const double u = tribo_dot3(d, patch->u), v = tribo_dot3(d, patch->v), sum = fabs(u) + fabs(v);
  // what it is turned from the first axis towards the second, and which quarters come before its own
  const double turned = sum > 0 ? (v < 0 ? -v : v) / sum : 0;
  const double round = u < 0 ? (v < 0 ? 2 + turned : 2 - turned) : (v < 0 ? 4 - turned : turned);
  *place = (uint32_t)(QUARTER_TURN * round) % (4 * QUARTER_TURN);
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
      int label = i;
      if (other->count <= 2) {
        place = (uint32_t)(2 * QUARTER_TURN * i);
      } else {
        label = quarter(axes, centre, p.x[i], &place);
      }
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

// What the choice of a pair's points goes by.
typedef struct Choice {
  int count;                     // points
  double x[TRIBO_POINT_MAX][3];  // where they are, seen along the normal
  double n[3];                   // the normal
  double spread;                 // how far apart they are [m]
  double tie;                    // what differs by less is equal [m]
  const unsigned char* was;      // (count) 1: it was there in the last step, 2: and carried
} Choice;

// Of the points whose score is the best within `tie`, the one that the tie break prefers.
static int pick_best(const Choice* c, const double* score, double tie) {
  int best = 0, chosen = -1;
  for (int i = 1; i < c->count; ++i) {
    best = score[i] > score[best] ? i : best;
  }
  for (int i = 0; i < c->count; ++i) {
    if (score[i] >= score[best] - tie && (chosen < 0 || tie_break(c->x[i]) > tie_break(c->x[chosen]))) {
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
static void score_beyond(const Choice* c, int i, int j, int k, double* score) {
  const int corner[4] = {i, j, k, i};
  double sense = area(c->x[i], c->x[j], c->x[k], c->n) < 0 ? -1 : 1;
  for (int p = 0; p < c->count; ++p) {
    score[p] = 0;
    for (int side = 0; side < 3; ++side) {
      score[p] = fmax(score[p], -sense * area(c->x[corner[side]], c->x[corner[side + 1]], c->x[p], c->n));
    }
  }
}

static void open_choice(Choice* c, const TriboColPoint* points, int count, const unsigned char* was) {
  c->count = count, c->was = was, c->spread = 0;
  tribo_copy3(c->n, points[0].normal);
  for (int i = 0; i < count; ++i) {
    midpoint(points + i, c->n, c->x[i]);
    double d[3];
    tribo_sub3(d, c->x[i], c->x[0]);
    c->spread = fmax(c->spread, tribo_norm3(d));
  }
  c->tie = EQUAL * c->spread;
}

// How much each point adds to what the n chosen ones span: a length, then areas. −∞ for those that are not open.
static void score_span(const Choice* c, const int* kept, int n, const unsigned char* open, double* score) {
  if (n >= 3) {
    score_beyond(c, kept[0], kept[1], kept[2], score);
  }
  for (int i = 0; i < c->count; ++i) {
    double d[3];
    if (n == 1) {
      tribo_sub3(d, c->x[i], c->x[kept[0]]);
      score[i] = tribo_norm3(d);
    } else if (n == 2) {
      score[i] = fabs(area(c->x[kept[0]], c->x[kept[1]], c->x[i], c->n));
    }
    score[i] = open == NULL || open[i] ? score[i] : -INFINITY;
  }
}

// The point that adds most; one that was there in the last step, where it adds nearly as much.
static int pick_span(const Choice* c, const int* kept, int n, const unsigned char* open) {
  double score[TRIBO_POINT_MAX], most = 0, stayed = -INFINITY;
  score_span(c, kept, n, open, score);
  for (int i = 0; i < c->count; ++i) {
    most = fmax(most, score[i]);
    stayed = c->was[i] ? fmax(stayed, score[i]) : stayed;
  }
  if (stayed >= STAYS * most) {
    for (int i = 0; i < c->count; ++i) {
      score[i] = c->was[i] ? score[i] : -INFINITY;
    }
  }
  return pick_best(c, score, n == 1 ? c->tie : c->tie * c->spread);
}

// Of the deepest open points the one farthest from the centre of all.
static int pick_deepest(const Choice* c, const TriboColPoint* points, const unsigned char* open) {
  double deepest = INFINITY, centre[3] = {0}, score[TRIBO_POINT_MAX];
  for (int i = 0; i < c->count; ++i) {
    deepest = open == NULL || open[i] ? fmin(deepest, points[i].gap) : deepest;
    tribo_axpy3(centre, centre, 1.0 / c->count, c->x[i]);
  }
  for (int i = 0; i < c->count; ++i) {
    double d[3];
    tribo_sub3(d, c->x[i], centre);
    const int equal = (open == NULL || open[i]) && points[i].gap <= deepest + c->tie;
    score[i] = equal ? tribo_norm3(d) : -INFINITY;
  }
  return pick_best(c, score, c->tie);
}

// Four of the open points, for depth and area; the second choice is made once more, with the others known.
static void choose_four(const Choice* c, const TriboColPoint* points, const unsigned char* open, int* kept) {
  kept[0] = pick_deepest(c, points, open);
  for (int n = 1; n < TRIBO_KEPT_MAX; ++n) {
    kept[n] = pick_span(c, kept, n, open);
  }
  const int others[3] = {kept[0], kept[2], kept[3]};
  kept[1] = pick_span(c, others, 3, open);
}

// Adds the members of a set to the chosen ones: all, where they fit, else those that span most.
static int add_members(const Choice* c, const unsigned char* set, int count, int* kept, int n) {
  if (n + count > TRIBO_KEPT_MAX) {
    for (; n < TRIBO_KEPT_MAX; ++n) {
      kept[n] = pick_span(c, kept, n, set);
    }
    return n;
  }
  for (int i = 0; i < c->count; ++i) {
    if (set[i]) {
      kept[n++] = i;
    }
  }
  return n;
}

// First come the points that carried, and the deepest where it is deeper by a little; then those that were there and
// that a small tilt brings down; the others for what they span.
static void choose(const Choice* c, const TriboColPoint* points, int* kept) {
  unsigned char carry[TRIBO_POINT_MAX], near[TRIBO_POINT_MAX];
  int ncarry = 0, nnear = 0, deepest = 0;
  double least = INFINITY;
  for (int i = 0; i < c->count; ++i) {
    carry[i] = c->was[i] == 2;
    least = carry[i] ? fmin(least, points[i].gap) : least;
    deepest = points[i].gap < points[deepest].gap ? i : deepest;
  }
  if (least < INFINITY && points[deepest].gap < least - DEEPER * c->spread) {
    carry[deepest] = 1;
  }
  for (int i = 0; i < c->count; ++i) {
    ncarry += carry[i];
    near[i] = c->was[i] && !carry[i] && points[i].gap <= points[deepest].gap + NEAR * c->spread;
    nnear += near[i];
  }
  if (ncarry == 0 || ncarry > TRIBO_KEPT_MAX) {
    choose_four(c, points, ncarry > 0 ? carry : NULL, kept);
    return;
  }
  int n = add_members(c, carry, ncarry, kept, 0);
  n = add_members(c, near, nnear, kept, n);
  for (; n < TRIBO_KEPT_MAX; ++n) {
    kept[n] = pick_span(c, kept, n, NULL);
  }
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

// How far a point is from a known one, as names and places say: on the way round for faces; −1: it is another.
static int distance_to(const TriboColPoint* p, const TriboContactName* name) {
  if (p->feature >> 30 != TRIBO_FEATURE_FACE) {
    return p->feature == name->feature ? 0 : -1;
  }
  if (p->feature >> 4 != name->feature >> 4) {
    return -1;
  }
  const int away = abs((int)p->place - (int)name->place);
  const int round = away < 2 * QUARTER_TURN ? away : 4 * QUARTER_TURN - away;
  return round < QUARTER_TURN / 2 ? round : -1;
}

// Finds known points again, the nearest first; they keep their names. was[i]: 1 for such a point, 2: it carried.
static void recognise(TriboColPoint* points, int count, const TriboContactName* known, int nknown, unsigned char* was) {
  unsigned char found[TRIBO_POINT_MAX] = {0};
  nknown = nknown < TRIBO_POINT_MAX ? nknown : TRIBO_POINT_MAX;
  memset(was, 0, (size_t)count);
  for (int round = 0; round < nknown; ++round) {
    int point = -1, name = -1, nearest = INT_MAX;
    for (int at = 0; at < nknown * count; ++at) {
      const int k = at / count, i = at % count;
      const int away = found[k] || was[i] ? -1 : distance_to(points + i, known + k);
      if (away >= 0 && away < nearest) {
        nearest = away, point = i, name = k;
      }
    }
    if (point < 0) {
      break;
    }
    found[name] = 1;
    was[point] = known[name].carries ? 2 : 1;
    points[point].feature = known[name].feature;
  }
}

// Whether a known point has this name.
static int is_taken(const TriboColPoint* points, int count, const unsigned char* was, uint32_t feature) {
  for (int k = 0; k < count; ++k) {
    if (was[k] && points[k].feature == feature) {
      return 1;
    }
  }
  return 0;
}

// New points get names that none of the known has.
static void name_new(TriboColPoint* points, int count, const unsigned char* was) {
  for (int i = 0; i < count; ++i) {
    while (!was[i] && is_taken(points, count, was, points[i].feature)) {
      points[i].feature++;
    }
  }
}

int tribo_col_reduce(TriboColPoint* points, int count, const TriboContactName* known, int nknown) {
  unsigned char was[TRIBO_POINT_MAX] = {0};
  recognise(points, count, known, nknown, was);
  if (count > TRIBO_KEPT_MAX) {
    Choice choice;
    unsigned char stays[TRIBO_POINT_MAX] = {0};
    int four[TRIBO_KEPT_MAX], kept = 0;
    open_choice(&choice, points, count, was);
    choose(&choice, points, four);
    for (int k = 0; k < TRIBO_KEPT_MAX; ++k) {
      stays[four[k]] = 1;
    }
    for (int i = 0; i < count; ++i) {
      if (stays[i]) {
        was[kept] = was[i];
        points[kept++] = points[i];
      }
    }
    count = kept;
  }
  name_new(points, count, was);
  tribo_col_sort(points, count);
  return count;
}
