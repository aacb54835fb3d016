// A string around a sphere or a cylinder: the shortest way from p to q that does not pass through it.
//
// A geodesic of a sphere lies in the plane of its centre, p and q; that of a cylinder is a straight line when the
// cylinder is unrolled. So both are the way around a circle of radius r in a plane: straight to a tangent point, along
// the circle, straight on. Seen from the centre, p is θ = acos(r/|p|) away from its tangent points. Of the two ways
// around it is the shorter one, or none at all when the circle is not in the way; but a side point behind the centre,
// in the sector opposite to that of p and q, asks for the longer one.
//
// A side point inside of the circle asks for a string that passes through the circle, as through a ring. One that
// misses it is bent over the rim in one point x, where |p − x| + |x − q| is least: both parts make the same angle u
// with the radius. By the law of sines the angles at the centre are u − asin(r sin u/|p|) and likewise for q; their sum
// is the angle between p and q.
#include "tendon/wrap.h"

#include <math.h>
#include <string.h>

#include "math3.h"

static const double PI = 3.14159265358979323846;
static const double TINY = 1e-15;

static double dot2(const double a[2], const double b[2]) {
  return a[0] * b[0] + a[1] * b[1];
}

static double cross2(const double a[2], const double b[2]) {
  return a[0] * b[1] - a[1] * b[0];
}

static double norm2(const double a[2]) {
  return sqrt(dot2(a, a));
}

static void turn2(double out[2], const double a[2], double angle, double length) {
  const double scale = length / norm2(a), c = scale * cos(angle), s = scale * sin(angle);
  out[0] = c * a[0] - s * a[1];
  out[1] = s * a[0] + c * a[1];
}

// The point of the stretch p q that is nearest to the centre; 0: there is no stretch.
static int nearest(const double p[2], const double q[2], double out[2]) {
  const double along[2] = {q[0] - p[0], q[1] - p[1]}, square = dot2(along, along);
  if (square < TINY) {
    return 0;
  }
  const double fraction = tribo_clamp(-dot2(along, p) / square, 0, 1);
  out[0] = p[0] + fraction * along[0];
  out[1] = p[1] + fraction * along[1];
  return 1;
}

// Whether the way around is the far one: the centre lies between p, q and the side.
static int is_far(const double p[2], const double q[2], const double side[2]) {
  const double area = cross2(p, q);
  return cross2(side, q) * area < 0 && cross2(p, side) * area < 0;
}

// Around the circle; the length of the arc, −1: the string goes straight.
static double around(const double p[2], const double q[2], double r, const double* side, double touch[2][2]) {
  const double far[2] = {norm2(p), norm2(q)};
  double mid[2];
  if (far[0] < r || far[1] < r || !nearest(p, q, mid)) {
    return -1;
  }
  const int outer = side != NULL && is_far(p, q, side);
  if (!outer && norm2(mid) > r) {
    return -1;
  }
  const double between = atan2(fabs(cross2(p, q)), dot2(p, q)), tangent[2] = {acos(r / far[0]), acos(r / far[1])};
  const double sense = (cross2(p, q) > 0) != outer ? 1 : -1;
  turn2(touch[0], p, sense * tangent[0], r);
  turn2(touch[1], q, -sense * tangent[1], r);
  return r * fmax((outer ? 2 * PI - between : between) - tangent[0] - tangent[1], 0);
}

// Through the circle; 0: bent over the rim, −1: the string goes straight.
static double through(const double p[2], const double q[2], double r, double touch[2][2]) {
  const double far[2] = {norm2(p), norm2(q)};
  double mid[2];
  if (far[0] <= r || far[1] <= r || (nearest(p, q, mid) && norm2(mid) <= r)) {
    return -1;
  }
  const double between = atan2(fabs(cross2(p, q)), dot2(p, q)), A = r / far[0], B = r / far[1];
  if (PI - between < 1e-7) {
    return -1;
  }
  // f(u) = asin(A sin u) + asin(B sin u) − 2u + between falls from there to below 0 where the string is bent; beside
  // that it only grazes the rim, in the middle
  double low = 0, high = 0.5 * PI, u = high;
  const double sum[2] = {p[0] + q[0], p[1] + q[1]};
  const int grazes = asin(A) + asin(B) - PI + between > 0;
  if (!grazes) {
    for (int i = 0; i < 60 && high - low > 1e-16; ++i) {
      const double s = sin(u), f = asin(A * s) + asin(B * s) - 2 * u + between;
      const double slope = cos(u) * (A / sqrt(1 - A * A * s * s) + B / sqrt(1 - B * B * s * s)) - 2;
      *(f > 0 ? &low : &high) = u;
      const double next = u - f / slope;
      if (fabs(next - u) < 1e-16) {
        break;
      }
      u = next > low && next < high ? next : 0.5 * (low + high);
    }
  }
  if (grazes || between < 1e-7) {
    turn2(touch[0], sum, 0, r);
  } else {
    turn2(touch[0], p, copysign(u - asin(A * sin(u)), cross2(p, q)), r);
  }
  memcpy(touch[1], touch[0], sizeof touch[0]);
  return 0;
}

// Two axes across the plane of a circle: x and y of a cylinder; of a sphere, p and one that spans p and q with it.
static void span(int cylinder, const double p[3], const double q[3], double axes[2][3]) {
  tribo_set3(axes[0], 1, 0, 0);
  tribo_set3(axes[1], 0, 1, 0);
  if (!cylinder) {
    double normal[3];
    tribo_copy3(axes[0], p);
    tribo_normalize3(axes[0]);
    tribo_cross3(normal, p, q);
    if (!(tribo_normalize3(normal) >= TINY)) {
      // one of many planes: across the axis to which p is least near
      const int least = fabs(p[0]) <= fabs(p[1]) && fabs(p[0]) <= fabs(p[2]) ? 0 : fabs(p[1]) <= fabs(p[2]) ? 1 : 2;
      double other[3] = {least == 0, least == 1, least == 2};
      tribo_cross3(normal, axes[0], other);
      tribo_normalize3(normal);
    }
    tribo_cross3(axes[1], normal, axes[0]);
  }
}

double tribo_dyn_wrap(int cylinder, double radius, const TriboPose* frame, const double p[3], const double q[3],
                      const double* side, double out[2][3]) {
  double own[2][3], axes[2][3], flat[2][2], touch[2][2], s[3], flat_side[2], arm[3];
  const double* const ends[2] = {p, q};
  for (int i = 0; i < 2; ++i) {
    tribo_sub3(arm, ends[i], frame->p);
    tribo_mul33tv(own[i], frame->R, arm);
    if (tribo_norm3(own[i]) < TINY) {
      return -1;
    }
  }
  span(cylinder, own[0], own[1], axes);
  for (int i = 0; i < 2; ++i) {
    flat[i][0] = tribo_dot3(own[i], axes[0]);
    flat[i][1] = tribo_dot3(own[i], axes[1]);
  }
  int inside = 0;
  if (side != NULL) {
    tribo_sub3(arm, side, frame->p);
    tribo_mul33tv(s, frame->R, arm);
    flat_side[0] = tribo_dot3(s, axes[0]);
    flat_side[1] = tribo_dot3(s, axes[1]);
    inside = tribo_norm3(s) < radius;
  }
  double arc = inside ? through(flat[0], flat[1], radius, touch)
                      : around(flat[0], flat[1], radius, side != NULL ? flat_side : NULL, touch);
  if (arc < 0) {
    return -1;
  }
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 3; ++k) {
      s[k] = touch[i][0] * axes[0][k] + touch[i][1] * axes[1][k];
    }
    tribo_copy3(own[i], s);
  }
  if (cylinder) {
    // unrolled, the string climbs evenly
    double height[2], straight[2];
    for (int i = 0; i < 2; ++i) {
      tribo_sub3(arm, ends[i], frame->p);
      height[i] = arm[0] * frame->R[2] + arm[1] * frame->R[5] + arm[2] * frame->R[8];
      const double gap[2] = {flat[i][0] - touch[i][0], flat[i][1] - touch[i][1]};
      straight[i] = norm2(gap);
    }
    const double all = straight[0] + arc + straight[1], slope = all > 0 ? (height[1] - height[0]) / all : 0;
    own[0][2] = height[0] + slope * straight[0];
    own[1][2] = height[0] + slope * (straight[0] + arc);
    arc *= sqrt(1 + slope * slope);
  }
  for (int i = 0; i < 2; ++i) {
    tribo_mul33v(out[i], frame->R, own[i]);
    tribo_add3(out[i], out[i], frame->p);
  }
  return arc;
}
