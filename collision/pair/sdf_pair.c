// Contacts between fields: samples of each surface looked up in the other's field.
//
//   cull     balls of samples whose middle is farther than Lip·radius + reach from the other surface
//   slide    a sample along its edge or face to where it is deepest, halfway to its neighbours at most: Newton's method
//   accept   gap ≤ h max(0, −c_N) + margin, gap = φ, where −∇φ is a normal that the surface has at the sample: else
//            what slides past an edge would be stopped by it
//   reduce   the deepest sample of every cell of the cloud. A cell keeps the sample that it had in the step before
//   while
//            that is as deep to 0.2 µm: the normal turns with the sample, and contacts that change places rattle
//   name     which cloud and cell is the feature, which sample the place
//
// Normals are ∇φ of the field, from a to b; points lie midway; the gap is φ, never its linearisation. What is round
// (ball, capsule) has its middle line as samples, with all their feet in the other field.
#include "sdf_pair.h"

#include "field.h"
#include "memory.h"
#include "status.h"

// A cell keeps its sample while no other is deeper by more than this [m].
static const double KEEPS = 2e-7;
// A sample does not slide for less [m].
static const double GAIN = 1e-10;
// Cosine: nor does one that faces elsewhere; its neighbours, or edges and corners of the field, are nearer.
static const double FACES = 0.2;
// How far a sample may slide, of its spacing: not, along a line, along the surface.
static const double SLACK[3] = {0, 0.5, 0.70710678};

// Features: which cloud, then a cell, or the foot of a round one.
enum { CLOUD_SHIFT = 29, ROUND_SHIFT = 28, FOOT_SHIFT = 10, SLIDES = 6 };
// A capsule has two ends.
enum { MOST_ROUND = 2 };

void tribo_col_sdf_work_free(TriboSdfWork* work) {
  tribo_free(work->found);
  tribo_free(work->best);
  tribo_free(work->known);
  tribo_free(work->points);
  tribo_free(work->order);
  tribo_free(work->heap);
}

static int is_round(const TriboSolid* s) {
  return s->kind == TRIBO_SHAPE_SPHERE || s->kind == TRIBO_SHAPE_CAPSULE;
}

int tribo_col_is_sdf_pair(const TriboSolid* a, const TriboSolid* b) {
  return a->kind == TRIBO_SHAPE_SDF || b->kind == TRIBO_SHAPE_SDF;
}

int tribo_col_sdf_most(const TriboSolid* a, const TriboSolid* b) {
  if (a->kind == TRIBO_SHAPE_SPHERE || b->kind == TRIBO_SHAPE_SPHERE) {
    return SDF_FEET;
  }
  const int x = a->kind == TRIBO_SHAPE_SDF ? a->sdf->contacts : 0,
            y = b->kind == TRIBO_SHAPE_SDF ? b->sdf->contacts : 0;
  return x > y ? x : y;
}

double tribo_col_sdf_margin(const TriboSolid* a, const TriboSolid* b, double margin) {
  for (int k = 0; k < 2; ++k) {
    const TriboSolid* s = k ? b : a;
    margin = s->kind == TRIBO_SHAPE_SDF ? fmin(margin, s->sdf->margin) : margin;
  }
  return margin;
}

double tribo_col_sdf_lipschitz(const TriboSolid* a, const TriboSolid* b) {
  return fmax(a->sdf != NULL ? a->sdf->lip : 1, b->sdf != NULL ? b->sdf->lip : 1);
}

// One solid's samples in the other's field.
typedef struct Probe {
  TriboSdfWork* work;
  const TriboSolid* field;
  const TriboSdf* cloud;
  TriboPose pose;     // of the cloud in the field's frame
  double v[3], w[3];  // how the cloud moves against the field, there: v + w×x
  double h, margin, reach, lip;
  int field_is_b;
  int count;
} Probe;

// φ of a solid in its own frame.
static double value(const TriboSolid* s, const double x[3], double g[3]) {
  if (s->sdf != NULL) {
    return tribo_col_sdf_value(s->sdf, x, g);
  }
  if (s->kind == TRIBO_SHAPE_HEIGHTFIELD) {
    // below or above the triangle of its column: exact on the surface
    const int t = tribo_col_field_triangle(s->field, x[0], x[1]);
    tribo_set3(g, 0, 0, 1);
    if (t < 0) {
      return INFINITY;
    }
    double d[3];
    tribo_copy3(g, s->field->normals + 3 * t);
    tribo_sub3(d, x, s->field->points + 3 * s->field->triangles[3 * t]);
    return tribo_dot3(g, d);
  }
  tribo_set3(g, 0, 0, 1);
  return x[2];
}

static double evaluate(Probe* l, const double x[3], double g[3]) {
  l->work->evaluations++;
  return value(l->field, x, g);
}

// At a point of the cloud; x is where it is in the field's frame.
static double evaluate_at(Probe* l, const double in_cloud[3], double x[3], double g[3]) {
  tribo_col_to_world(x, &l->pose, in_cloud);
  return evaluate(l, x, g);
}

// Whether a point is farther than `away` from the box of the field: that is told without its φ.
static int is_outside(const Probe* l, const double x[3], double away) {
  const TriboSdf* field = l->field->sdf;
  if (field == NULL) {
    return 0;
  }
  int outside = 0;
  for (int k = 0; k < 3; ++k) {
    outside |= fabs(x[k] - field->centre[k]) > field->half[k] + away;
  }
  return outside;
}

// Whether a place with this gap may become a contact within the step.
static int is_wanted(const Probe* l, const double x[3], const double n[3], double gap) {
  double v[3];
  if (gap <= l->margin) {
    return 1;
  }
  tribo_cross3(v, l->w, x);
  tribo_add3(v, v, l->v);
  return gap <= l->margin - l->h * fmin(0, tribo_dot3(n, v));
}

// ---- sliding

// The sample moved along its curve by the length s.
static void along_curve(const SdfCurve* c, const double from[3], double s, double x[3], double t[3]) {
  if (c->is_straight) {
    tribo_axpy3(x, from, s, c->axis);
    tribo_copy3(t, c->axis);
    return;
  }
  double arm[3], across[3], w[3], q[4], R[9];
  tribo_sub3(arm, from, c->origin);
  tribo_cross3(across, c->axis, arm);
  const double r = tribo_norm3(across), angle = s / sqrt(r * r + c->lead * c->lead);
  tribo_scale3(w, angle, c->axis);
  tribo_quat_exp(q, w);
  tribo_quat_to_mat(R, q);
  tribo_mul33v(x, R, arm);
  tribo_add3(x, x, c->origin);
  tribo_axpy3(x, x, c->lead * angle, c->axis);
  tribo_mul33v(t, R, across);
  tribo_axpy3(t, t, c->lead, c->axis);
  tribo_normalize3(t);
}

// ∇φ in the frame of the cloud.
static double evaluate_from_cloud(Probe* l, const double in_cloud[3], double g[3]) {
  double x[3], n[3];
  const double phi = evaluate_at(l, in_cloud, x, n);
  tribo_mul33tv(g, l->pose.R, n);
  return phi;
}

static int is_on_surface(const TriboSdf* sdf, const double x[3], double radius) {
  double g[3];
  return sdf->nnode == 1 || fabs(tribo_col_sdf_value(sdf, x, g) - radius) <= 1e-9 * sdf->size;
}

// To where φ is least on the sample's edge; φ and its gradient g at the sample are known. Returns whether it moved.
static int slide_along_line(Probe* l, const SdfSample* sample, double phi, const double g0[3], double x[3]) {
  const SdfCurve* curve = l->cloud->curves + sample->curve;
  const double most = SLACK[SDF_ALONG_LINE] * sample->spacing, nudge = 1e-4 * sample->spacing;
  double s = 0, g[3], t[3], y[3], ahead[3], at_ahead[3];
  along_curve(curve, sample->x, 0, x, t);
  double slope = tribo_dot3(g0, t);
  for (int i = 0; i < SLIDES; ++i) {
    if (fabs(slope) * (most + fabs(s)) < GAIN) {
      return i > 0;
    }
    along_curve(curve, sample->x, s + nudge, ahead, t);
    evaluate_from_cloud(l, ahead, at_ahead);
    const double bend = (tribo_dot3(at_ahead, t) - slope) / nudge;
    const double step = bend > 0 ? -slope / bend : -copysign(most, slope), to = tribo_clamp(s + step, -most, most);
    along_curve(curve, sample->x, to, y, t);
    const double lower = evaluate_from_cloud(l, y, g);
    if (!(lower < phi) || !is_on_surface(l->cloud, y, sample->radius)) {
      return i > 0;
    }
    s = to, phi = lower, slope = tribo_dot3(g, t);
    tribo_copy3(x, y);
  }
  return 1;
}

// Back onto the surface.
static void project(const TriboSdf* sdf, double x[3], double n[3]) {
  for (int i = 0; i < 2; ++i) {
    const double phi = tribo_col_sdf_value(sdf, x, n);
    tribo_axpy3(x, x, -phi, n);
  }
}

// The same on the surface around the sample, along the way down; n becomes the normal there.
static int slide_along_surface(Probe* l, const SdfSample* sample, double phi, const double g0[3], double x[3],
                               double n[3]) {
  const double nudge = 1e-3 * sample->spacing;
  // (as far as the middle of four of them)
  double g[3], left = SLACK[SDF_ALONG_SURFACE] * sample->spacing;
  tribo_copy3(g, g0);
  for (int i = 0; i < SLIDES; ++i) {
    double down[3], y[3], m[3], at[3], t[3];
    tribo_axpy3(down, g, -tribo_dot3(g, n), n);
    const double slope = tribo_normalize3(down);
    if (slope * left < GAIN) {
      return i > 0;
    }
    tribo_axpy3(y, x, -nudge, down);
    project(l->cloud, y, m);
    evaluate_from_cloud(l, y, at);
    tribo_axpy3(t, down, -tribo_dot3(down, m), m);
    tribo_normalize3(t);
    const double bend = (slope - tribo_dot3(at, t)) / nudge, step = bend > 0 ? fmin(slope / bend, left) : left;
    tribo_axpy3(y, x, -step, down);
    project(l->cloud, y, m);
    const double lower = evaluate_from_cloud(l, y, at);
    if (!(lower < phi) || !is_on_surface(l->cloud, y, 0)) {
      return i > 0;
    }
    left -= step, phi = lower;
    tribo_copy3(x, y);
    tribo_copy3(n, m);
    tribo_copy3(g, at);
  }
  return 1;
}

// ---- candidates

// Keeps a sample if it is the deepest of its cell so far, or the one that was there and is as deep.
static void offer(Probe* l, int sample, const double x[3], const double n[3], double gap) {
  TriboSdfWork* w = l->work;
  const int cell = l->cloud->samples[sample].cell, known = w->known[cell];
  int at = w->best[cell];
  if (at >= 0) {
    const SdfCandidate* old = &w->found[at];
    const double favour = (known == old->sample ? KEEPS : 0) - (known == sample ? KEEPS : 0);
    if (!(gap < old->gap - favour)) {
      return;
    }
  } else {
    at = w->best[cell] = l->count++;
  }
  SdfCandidate* c = &w->found[at];
  c->gap = gap;
  c->sample = sample;
  c->feature = (uint32_t)l->field_is_b << CLOUD_SHIFT | (uint32_t)cell;
  c->was_there = known >= 0;
  tribo_copy3(c->x, x);
  tribo_copy3(c->n, n);
}

// By how much its gap can fall where a sample slides: along φ's slope, whose field is convex to a solid about as round
// as the cloud is large. g is in the frame of the cloud.
static double most_gained(const Probe* l, const SdfSample* sample, const double own[3]) {
  const double range = SLACK[sample->slide] * sample->spacing;
  double axis[3], t[3], slope;
  if (sample->slide == SDF_ALONG_LINE) {
    along_curve(l->cloud->curves + sample->curve, sample->x, 0, axis, t);
    slope = fabs(tribo_dot3(own, t));
  } else {
    const double along = tribo_dot3(own, sample->n);
    slope = sqrt(fmax(0, 1 - along * along));
  }
  return l->lip * range * fmin(1, slope + range / l->cloud->size);
}

// Offers a sample to its cell where it is deep enough, after it has slid.
static void try_sample(Probe* l, int index) {
  const SdfSample* sample = &l->cloud->samples[index];
  double at[3], x[3], g[3], n[3], out[3], own[3];
  tribo_col_to_world(x, &l->pose, sample->x);
  if (is_outside(l, x, l->reach + sample->radius + SLACK[sample->slide] * sample->spacing)) {
    return;
  }
  double gap = evaluate(l, x, g) - sample->radius;
  const int best = l->work->best[sample->cell];
  tribo_copy3(n, sample->n);
  if (sample->slide != SDF_STAYS) {
    tribo_mul33tv(own, l->pose.R, g);
    const double least = gap - most_gained(l, sample, own);
    // neither near enough, nor deeper than another of its cell, wherever it slides
    if (!(least <= l->reach) || (best >= 0 && least - KEEPS > l->work->found[best].gap) ||
        (gap > 0 && sample->facing > 0 && tribo_dot3(n, own) > -FACES)) {
      return;
    }
    tribo_copy3(at, sample->x);
    const int moved = sample->slide == SDF_ALONG_LINE ? slide_along_line(l, sample, gap, own, at)
                                                      : slide_along_surface(l, sample, gap, own, at, n);
    gap = moved ? evaluate_at(l, at, x, g) - sample->radius : gap;
  }
  if (!(gap <= l->reach) || !is_wanted(l, x, g, gap)) {
    return;
  }
  // (of an edge that is inside the normal is that of the nearest face)
  tribo_mul33v(out, l->pose.R, n);
  if (tribo_dot3(out, g) <= -sample->facing || (gap < 0 && sample->slide != SDF_ALONG_SURFACE)) {
    offer(l, index, x, g, gap);
  }
}

// All feet of what is round about a point.
static void try_feet(Probe* l, int index) {
  const SdfSample* sample = &l->cloud->samples[index];
  SdfFoot feet[SDF_FEET];
  double x[3];
  tribo_col_to_world(x, &l->pose, sample->x);
  const int count = tribo_col_sdf_feet(l->field->sdf, x, l->reach + sample->radius, feet);
  l->work->evaluations += 1 + count;
  for (int i = 0; i < count; ++i) {
    const double gap = feet[i].phi - sample->radius;
    if (!is_wanted(l, x, feet[i].n, gap)) {
      continue;
    }
    SdfCandidate* c = &l->work->found[l->count++];
    *c = (SdfCandidate){.gap = gap, .sample = index, .was_there = 1};
    c->feature = (uint32_t)l->field_is_b << CLOUD_SHIFT | 1u << ROUND_SHIFT | (uint32_t)index << FOOT_SHIFT |
                 (uint32_t)(feet[i].feature & ((1 << FOOT_SHIFT) - 1));
    tribo_copy3(c->x, x);
    tribo_copy3(c->n, feet[i].n);
  }
}

// The samples of all balls that may be near.
static void search_cloud(Probe* l) {
  const TriboSdf* cloud = l->cloud;
  for (int i = 0; i < cloud->nball;) {
    const SdfBall* ball = &cloud->balls[i];
    double x[3], g[3];
    tribo_col_to_world(x, &l->pose, ball->centre);
    if (is_outside(l, x, l->reach + ball->radius) || !(evaluate(l, x, g) <= l->reach + l->lip * ball->radius)) {
      i = ball->skip;
      continue;
    }
    for (int k = ball->first; k < ball->last && ball->skip == i + 1; ++k) {
      if (cloud->samples[k].radius > 0 && cloud->samples[k].slide == SDF_STAYS && l->field->sdf != NULL) {
        try_feet(l, k);
      } else {
        try_sample(l, k);
      }
    }
    i++;
  }
}

// ---- reduction

static uint32_t reversed(uint32_t x) {
  uint32_t y = 0;
  for (int i = 0; i < 32; ++i, x >>= 1) {
    y = y << 1 | (x & 1);
  }
  return y;
}

// The deepest first; those that were there are not let go for others as deep. Equals go all over the surface.
static int is_before(const SdfCandidate* a, const SdfCandidate* b) {
  const double x = a->gap - (a->was_there ? KEEPS : 0), y = b->gap - (b->was_there ? KEEPS : 0);
  return x != y ? x < y : reversed(a->feature) < reversed(b->feature);
}

// Leaves the `most` that come first of a list of candidates, in the order in which they are. (A heap of the chosen, the
// last of them on top.)
static int choose(SdfCandidate* found, int* order, int* heap, int count, int most) {
  for (int i = 0; i < count; ++i) {
    int at = i < most ? i : 0, c = order[i];
    if (i >= most && !is_before(&found[c], &found[heap[0]])) {
      continue;
    }
    if (i < most) {
      // up from the end
      for (; at > 0 && is_before(&found[heap[(at - 1) / 2]], &found[c]); at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
      }
    } else {
      // down from the top
      for (int next = 1; next < most; next = 2 * at + 1) {
        next += next + 1 < most && is_before(&found[heap[next]], &found[heap[next + 1]]);
        if (!is_before(&found[c], &found[heap[next]])) {
          break;
        }
        heap[at] = heap[next];
        at = next;
      }
    }
    heap[at] = c;
  }
  const SdfCandidate last = found[heap[0]];
  int n = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_before(&last, &found[order[i]])) {
      order[n++] = order[i];
    }
  }
  return n;
}

// What a candidate is in the world.
static void finish(const Probe* l, const SdfCandidate* c, TriboColPoint* out) {
  const SdfSample* sample = &l->cloud->samples[c->sample];
  double own[3], n[3], far[3];
  tribo_axpy3(own, c->x, -sample->radius, c->n);
  tribo_axpy3(far, own, -c->gap, c->n);
  tribo_mul33v(n, l->field->pose.R, c->n);
  tribo_scale3(out->normal, l->field_is_b ? -1 : 1, n);
  tribo_col_to_world(l->field_is_b ? out->a : out->b, &l->field->pose, own);
  tribo_col_to_world(l->field_is_b ? out->b : out->a, &l->field->pose, far);
  out->gap = c->gap;
  out->feature = c->feature;
  out->place = (uint32_t)c->sample;
}

// Which samples the cells had.
static void set_known(Probe* l, const TriboContactName* known, int nknown, int is_there) {
  for (int i = 0; i < nknown; ++i) {
    const uint32_t f = known[i].feature, cell = f & ((1u << ROUND_SHIFT) - 1);
    if (f >> CLOUD_SHIFT == (uint32_t)l->field_is_b && !(f >> ROUND_SHIFT & 1) && cell < (uint32_t)l->cloud->ncell) {
      l->work->known[cell] = is_there ? (int)known[i].place : -1;
    }
  }
}

// Room for so many cells, all empty.
static TriboStatus make_room(TriboSdfWork* work, int cells) {
  const size_t old = tribo_array_bytes(work->best) / sizeof *work->best;
  if (work->best != NULL && old >= (size_t)cells) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&work->best, cells));
  TRIBO_TRY(TRIBO_RESERVE(&work->known, tribo_array_bytes(work->best) / sizeof *work->best));
  memset(work->best, -1, tribo_array_bytes(work->best));
  memset(work->known, -1, tribo_array_bytes(work->known));
  return TRIBO_OK;
}

// One direction: its candidates join the list, sorted by their features.
static TriboStatus search_one_way(Probe* l, const TriboContactName* known, int nknown, int first) {
  const int cells = l->cloud->ncell, most = first + cells + MOST_ROUND * SDF_FEET;
  TriboSdfWork* w = l->work;
  TRIBO_TRY(make_room(w, cells));
  TRIBO_TRY(TRIBO_APPEND(&w->found, first, most - first));
  TRIBO_TRY(TRIBO_APPEND(&w->order, first, most - first));
  l->count = first;
  set_known(l, known, nknown, 1);
  search_cloud(l);
  set_known(l, known, nknown, 0);
  int n = first;
  for (int cell = 0; cell < (l->count > first ? cells : 0); ++cell) {
    if (w->best[cell] >= 0) {
      w->order[n++] = w->best[cell];
      w->best[cell] = -1;
    }
  }
  // few feet
  const int feet = n;
  for (int i = first; i < l->count; ++i) {
    if (w->found[i].feature >> ROUND_SHIFT & 1) {
      int at = n++;
      for (; at > feet && w->found[w->order[at - 1]].feature > w->found[i].feature; --at) {
        w->order[at] = w->order[at - 1];
      }
      w->order[at] = i;
    }
  }
  return TRIBO_OK;
}

// How b's samples lie and move in a's field, or the other way round.
static Probe probe_of(TriboSdfWork* work, const TriboSolid* field, const TriboSolid* solid, int field_is_b,
                      const SdfApproach* p) {
  Probe l = {.work = work,
             .field = field,
             .cloud = solid->sdf,
             .h = p->h,
             .margin = p->margin,
             .reach = p->reach,
             .lip = field->sdf != NULL ? field->sdf->lip : 1,
             .field_is_b = field_is_b};
  double arm[3], turn[3], v[3];
  const double sign = field_is_b ? -1 : 1;
  l.pose = tribo_pose_between(&field->pose, &solid->pose);
  tribo_sub3(arm, field->pose.p, p->origin);
  tribo_cross3(turn, p->w, arm);
  tribo_add3(v, p->v, turn);
  tribo_mul33tv(l.v, field->pose.R, v);
  tribo_mul33tv(l.w, field->pose.R, p->w);
  tribo_scale3(l.v, sign, l.v);
  tribo_scale3(l.w, sign, l.w);
  return l;
}

TriboStatus tribo_col_sdf_contacts(TriboSdfWork* work, const TriboSolid* a, const TriboSolid* b,
                                   const SdfApproach* approach, const TriboContactName* known, int nknown,
                                   TriboColPoint** points, int* count) {
  Probe probes[2] = {probe_of(work, a, b, 0, approach), probe_of(work, b, a, 1, approach)};
  const int most = tribo_col_sdf_most(a, b);
  int n = 0;
  work->evaluations = 0;
  for (int k = 0; k < 2; ++k) {
    // of a round solid the middle says all
    if (probes[k].cloud == NULL || is_round(probes[k].field)) {
      continue;
    }
    TRIBO_TRY(search_one_way(&probes[k], known, nknown, n));
    n = probes[k].count;
  }
  if (n > most) {
    TRIBO_TRY(TRIBO_RESERVE(&work->heap, most));
    n = choose(work->found, work->order, work->heap, n, most);
  }
  TRIBO_TRY(TRIBO_RESERVE(&work->points, n));
  for (int i = 0; i < n; ++i) {
    SdfCandidate* c = &work->found[work->order[i]];
    finish(&probes[c->feature >> CLOUD_SHIFT & 1], c, &work->points[i]);
  }
  *points = work->points;
  *count = n;
  return TRIBO_OK;
}
