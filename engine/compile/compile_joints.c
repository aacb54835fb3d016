// Anchors and axes of the joints, for those who draw or list them. The origin of a link's frame lies on its joint. The
// axis is read off the motion: when every one-dof joint runs at speed 1, a link turns and slides against its parent
// just as its own joint says.
#include <math.h>

#include "model_impl.h"
#include "pose.h"

static TriboPose pose_of(const TriboPose* poses, int body) {
  return body == TRIBO_WORLD ? tribo_pose_identity() : poses[body];
}

// What a joint adds to the motion of its parent, in world axes: it turns, or else it slides.
static void relative_motion(const TriboJointInfo* joint, const TriboPose* poses, const TriboTwist* twists,
                            double out[3]) {
  const TriboPose parent = pose_of(poses, joint->parent);
  const TriboTwist at_parent = joint->parent == TRIBO_WORLD ? (TriboTwist){0} : twists[joint->parent];
  double arm[3], carried[3], slide[3];
  tribo_sub3(arm, poses[joint->body].p, parent.p);
  tribo_cross3(carried, at_parent.w, arm);
  tribo_add3(carried, carried, at_parent.v);
  tribo_sub3(slide, twists[joint->body].v, carried);
  tribo_sub3(out, twists[joint->body].w, at_parent.w);
  if (tribo_norm3(out) < 0.5) {
    tribo_copy3(out, slide);
  }
}

static void place(TriboModel* model, TriboJointInfo* joint, const TriboPose* poses, const TriboTwist* twists) {
  const TriboPose origin = tribo_pose_identity();
  const TriboPose seen = tribo_pose_between(&model->mechanism.body_offset[joint->body], &origin);
  tribo_copy3(joint->anchor, seen.p);
  if (joint->nv == 1) {
    double motion[3];
    const TriboPose body = tribo_pose_mul(&poses[joint->body], &model->mechanism.body_offset[joint->body]);
    relative_motion(joint, poses, twists, motion);
    tribo_mul33tv(joint->axis, body.R, motion);
    tribo_normalize3(joint->axis);
  }
}

TriboStatus tribo_compile_joints(TriboModel* model) {
  if (model->njoint == 0) {
    return TRIBO_OK;
  }
  TriboPose* poses = tribo_alloc((size_t)model->nbody, sizeof *poses);
  TriboTwist* twists = tribo_alloc((size_t)model->nbody, sizeof *twists);
  double* v = tribo_alloc((size_t)model->nv, sizeof *v);
  TriboDynData* scratch = NULL;
  TriboStatus status = poses == NULL || twists == NULL || v == NULL
                           ? tribo_no_memory("for the model")
                           : tribo_dyn_data_create(model->mechanism.system, &scratch);
  for (int i = 0; i < model->njoint && status == TRIBO_OK; ++i) {
    v[model->mechanism.joints[i].v_at] = model->mechanism.joints[i].nv == 1;
  }
  status = status == TRIBO_OK
               ? tribo_dyn_kinematics(model->mechanism.system, scratch, model->initial.q, v, poses, twists)
               : status;
  for (int i = 0; i < model->njoint && status == TRIBO_OK; ++i) {
    place(model, &model->mechanism.joints[i], poses, twists);
  }
  tribo_dyn_data_destroy(scratch);
  tribo_free(v);
  tribo_free(poses);
  tribo_free(twists);
  return status;
}
