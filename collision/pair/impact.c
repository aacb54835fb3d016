// Conservative advancement. At time t the pair has distance d along n. The plane between them stays a separating plane
// for as long as the supports along n do not eat up d; they grow at most by
//
//     μ = n·(v_A − v_B) + ρ_A |n × ω_A| + ρ_B |n × ω_B|
//
// per second, because n·(ω × r) = r·(n × ω) and |r| ≤ ρ; a turn about an axis of revolution does not count. So t may
// advance by d/μ without passing anything; μ ≤ 0 means that they never meet.
#include "impact.h"

#include "status.h"

static void rotation(const TriboTwist* twist, double t, double E[9]) {
  double w[3], q[4];
  tribo_scale3(w, t, twist->w);
  tribo_quat_exp(q, w);
  tribo_quat_to_mat(E, q);
}

// The solid after time t: turned about the body's origin, which moves along a line.
static TriboSolid advanced(const TriboSolid* solid, const TriboMotion* motion, double t) {
  TriboSolid moved = *solid;
  double E[9], r[3];
  rotation(&motion->twist, t, E);
  tribo_sub3(r, solid->pose.p, motion->origin);
  tribo_mul33v(moved.pose.p, E, r);
  tribo_add3(moved.pose.p, moved.pose.p, motion->origin);
  tribo_axpy3(moved.pose.p, moved.pose.p, t, motion->twist.v);
  tribo_mul33(moved.pose.R, E, solid->pose.R);
  return moved;
}

// Where the material point that is at x after time t was at the start.
static void carry_back(const TriboMotion* motion, double t, double x[3]) {
  double E[9], r[3], start[3];
  rotation(&motion->twist, t, E);
  tribo_sub3(r, x, motion->origin);
  tribo_axpy3(r, r, -t, motion->twist.v);
  tribo_mul33tv(start, E, r);
  tribo_add3(x, start, motion->origin);
}

// Bound of the speed along n at which a turn moves the solid's points from time t on, for the rest of the step. A
// point at r from the origin has (ω × r)·n = r·(n × ω) of it, most at a support point; and r turns by less than |ω|
// times the rest. For fast turns that is much: then the ball around the solid bounds it better.
static double turning_speed(const TriboSolid* solid, const TriboMotion* motion, double t, double rest,
                            const double n[3]) {
  double d[3], x[3], origin[3];
  tribo_cross3(d, n, motion->twist.w);
  const double w = tribo_normalize3(d), size = motion->offset + motion->reach;
  const double ball = motion->offset * w + motion->reach * fmin(motion->spin, w);
  if (!(w > 0)) {
    return 0;
  }
  tribo_axpy3(origin, motion->origin, t, motion->twist.v);
  const double far = tribo_col_support(solid, d, x) - tribo_dot3(d, origin);
  return fmin(ball, w * far + w * tribo_norm3(motion->twist.w) * rest * size);
}

TriboStatus tribo_col_impact(TriboCoalQuery* query, const TriboSolid* a, const TriboMotion* motion_a,
                             const TriboSolid* b, const TriboMotion* motion_b, double h, double touch, double margin,
                             TriboManifold* m, int* hit) {
  enum { MOST_ITERATIONS = 200 };
  double t = 0, relative[3];
  TriboSolid at_a = *a, at_b = *b;
  tribo_sub3(relative, motion_a->twist.v, motion_b->twist.v);
  double bound = tribo_norm3(relative) + tribo_col_turning_speed(motion_a) + tribo_col_turning_speed(motion_b);
  *hit = 0;
  for (int i = 0; i < MOST_ITERATIONS; ++i) {
    if (i > 0) {
      at_a = advanced(a, motion_a, t), at_b = advanced(b, motion_b, t);
      // points farther than the rest of the step could bring them are of no interest
      TRIBO_TRY(tribo_col_collide(query, &at_a, &at_b, margin + (h - t) * bound, m, NULL));
    }
    if (m->count == 0) {
      return TRIBO_OK;
    }
    if (m->gap <= touch) {
      break;
    }
    // a height field is not convex: something else of it than what is nearest now may be met first
    const int field = a->kind == TRIBO_SHAPE_HEIGHTFIELD || b->kind == TRIBO_SHAPE_HEIGHTFIELD;
    const double *n = m->normal, back[3] = {-n[0], -n[1], -n[2]};
    const double closing = field ? bound
                                 : tribo_dot3(relative, n) + turning_speed(&at_a, motion_a, t, h - t, n) +
                                       turning_speed(&at_b, motion_b, t, h - t, back);
    if (closing <= 0 || t + (m->gap - 0.5 * touch) / closing >= h) {
      return TRIBO_OK;
    }
    t += (m->gap - 0.5 * touch) / closing;
  }
  // (out of iterations the pair is close all along: that counts as well, better a contact than a passage)
  *hit = 1;
  for (int i = 0; i < m->count; ++i) {
    TriboColPoint* p = m->points + i;
    double d[3];
    carry_back(motion_a, t, p->a);
    carry_back(motion_b, t, p->b);
    tribo_sub3(d, p->b, p->a);
    p->gap = tribo_dot3(d, p->normal) - (a->contact_offset + b->contact_offset);
  }
  return TRIBO_OK;
}

// Points at time t within the margin, carried back to the start; returns how many.
static int carry_near(const TriboMotion* motion_a, const TriboMotion* motion_b, double t, double margin,
                      TriboColPoint* points, int count) {
  int near = 0;
  for (int i = 0; i < count; ++i) {
    TriboColPoint p = points[i];
    double d[3];
    if (p.gap <= margin) {
      carry_back(motion_a, t, p.a);
      carry_back(motion_b, t, p.b);
      tribo_sub3(d, p.b, p.a);
      p.gap = tribo_dot3(d, p.normal);
      points[near++] = p;
    }
  }
  return near;
}

TriboStatus tribo_col_sdf_impact(TriboSdfWork* work, const TriboSolid* a, const TriboMotion* motion_a,
                                 const TriboSolid* b, const TriboMotion* motion_b, double h, double offset,
                                 double margin, TriboColPoint** points, int* count, int* hit) {
  enum { MOST_ITERATIONS = 200 };
  const double touch = 0.1 * margin, lip = tribo_col_sdf_lipschitz(a, b);
  double t = 0, relative[3];
  TriboSolid at_a = *a, at_b = *b;
  tribo_sub3(relative, motion_a->twist.v, motion_b->twist.v);
  // (no field is convex: something else of it than what is nearest now may be touched first)
  const double bound = tribo_norm3(relative) + tribo_col_turning_speed(motion_a) + tribo_col_turning_speed(motion_b);
  *hit = 0;
  for (int i = 0; i < MOST_ITERATIONS; ++i) {
    const double reach = offset + margin + (h - t) * bound;
    const SdfApproach near = {.h = h, .margin = reach, .reach = reach};
    double gap = INFINITY;
    TRIBO_TRY(tribo_col_sdf_contacts(work, &at_a, &at_b, &near, NULL, 0, points, count));
    for (int k = 0; k < *count; ++k) {
      gap = fmin(gap, (*points)[k].gap - offset);
    }
    if (*count > 0 && gap <= touch) {
      break;
    }
    t += (gap - 0.5 * touch) / (lip * bound);
    if (!(t < h)) {
      return TRIBO_OK;
    }
    at_a = advanced(a, motion_a, t), at_b = advanced(b, motion_b, t);
  }
  *hit = 1;
  *count = carry_near(motion_a, motion_b, t, offset + margin, *points, *count);
  return TRIBO_OK;
}
