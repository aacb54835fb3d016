// Tendons: length, rate and forces.
//
// A tendon of length l(q) and a force f along it act as Jᵀf, J = ∂l/∂q. Of a weighted sum of joint positions that is
// f · coef on each joint; of a string, f u on the far end and −f u on the near end of each straight part of direction
// u. (Where a string slides over a body it touches it along its tangent: that does no work.)
#include "tendon.h"

#include <math.h>
#include <string.h>

#include "pose.h"
#include "tendon/wrap.h"

void tribo_dyn_point_position(const TriboPose* poses, int body, const double local[3], double out[3]) {
  tribo_copy3(out, local);
  if (body != TRIBO_WORLD_BODY) {
    tribo_mul33v(out, poses[body].R, local);
    tribo_add3(out, out, poses[body].p);
  }
}

void tribo_dyn_point_velocity(int body, const TriboPose* poses, const TriboTwist* twists, const double point[3],
                              double out[3]) {
  memset(out, 0, 3 * sizeof *out);
  if (body != TRIBO_WORLD_BODY) {
    double arm[3];
    tribo_sub3(arm, point, poses[body].p);
    tribo_cross3(out, twists[body].w, arm);
    tribo_add3(out, out, twists[body].v);
  }
}

void tribo_dyn_apply_force(const TriboBodyFrames* frames, int body, const double point[3], double size,
                           const double direction[3], double* wrench) {
  if (body == TRIBO_WORLD_BODY) {
    return;
  }
  const TriboPose frame = tribo_pose_mul(&frames->poses[body], &frames->offset[body]);
  double com[3], arm[3], force[3], torque[3];
  tribo_mul33v(com, frame.R, frames->com + 3 * body);
  tribo_add3(com, com, frame.p);
  tribo_sub3(arm, point, com);
  tribo_scale3(force, size, direction);
  tribo_cross3(torque, arm, force);
  tribo_add3(wrench + 6 * body, wrench + 6 * body, force);
  tribo_add3(wrench + 6 * body + 3, wrench + 6 * body + 3, torque);
}

// A segment of a string, from one of its points to the next: one straight part, or two with an arc in between.
typedef struct Segment {
  int nend;     // 2 or 4
  int body[4];  // of the ends of the straight parts
  double at[4][3];
  double arc;  // length of the arc [m]
} Segment;

static Segment segment_of(const TriboTendon* t, int i, const TriboPose* poses) {
  const TriboWrap* wrap = &t->wrap[i];
  Segment out = {.nend = 2, .body = {t->body[i], t->body[i + 1]}};
  double p[3], q[3], side[3];
  tribo_dyn_point_position(poses, t->body[i], t->point + 3 * i, p);
  tribo_dyn_point_position(poses, t->body[i + 1], t->point + 3 * (i + 1), q);
  tribo_copy3(out.at[0], p);
  if (wrap->radius > 0) {
    const TriboPose frame =
        wrap->body == TRIBO_WORLD_BODY ? wrap->frame : tribo_pose_mul(&poses[wrap->body], &wrap->frame);
    tribo_dyn_point_position(poses, wrap->side_body, wrap->side, side);
    out.arc =
        tribo_dyn_wrap(wrap->is_cylinder, wrap->radius, &frame, p, q, isnan(wrap->side[0]) ? NULL : side, out.at + 1);
    out.nend = out.arc >= 0 ? 4 : 2;
    out.arc = fmax(out.arc, 0);
  }
  if (out.nend == 4) {
    out.body[1] = out.body[2] = wrap->body;
    out.body[3] = t->body[i + 1];
  }
  tribo_copy3(out.at[out.nend - 1], q);
  return out;
}

void tribo_dyn_tendon_measure(const TriboTendon* t, const double* q, const double* v, const TriboPose* poses,
                              const TriboTwist* twists, double* length, double* speed) {
  *length = *speed = 0;
  for (int i = 0; i < t->njoint; ++i) {
    *length += t->coef[i] * q[t->q_at[i]];
    *speed += t->coef[i] * v[t->v_at[i]];
  }
  for (int i = 0; i + 1 < t->npoint; ++i) {
    const Segment s = segment_of(t, i, poses);
    *length += t->weight[i] * s.arc;
    for (int k = 0; k < s.nend; k += 2) {
      double va[3], vb[3], along[3];
      tribo_dyn_point_velocity(s.body[k], poses, twists, s.at[k], va);
      tribo_dyn_point_velocity(s.body[k + 1], poses, twists, s.at[k + 1], vb);
      tribo_sub3(along, s.at[k + 1], s.at[k]);
      *length += t->weight[i] * tribo_normalize3(along);
      tribo_sub3(vb, vb, va);
      *speed += t->weight[i] * tribo_dot3(along, vb);
    }
  }
}

void tribo_dyn_tendon_pull(const TriboTendon* t, const TriboBodyFrames* frames, double force, double* tau,
                           double* wrench) {
  for (int i = 0; i < t->njoint; ++i) {
    tau[t->v_at[i]] += t->coef[i] * force;
  }
  for (int i = 0; i + 1 < t->npoint; ++i) {
    const Segment s = segment_of(t, i, frames->poses);
    for (int k = 0; k < s.nend; k += 2) {
      double along[3];
      tribo_sub3(along, s.at[k + 1], s.at[k]);
      tribo_normalize3(along);
      tribo_dyn_apply_force(frames, s.body[k], s.at[k], -t->weight[i] * force, along, wrench);
      tribo_dyn_apply_force(frames, s.body[k + 1], s.at[k + 1], t->weight[i] * force, along, wrench);
    }
  }
}
