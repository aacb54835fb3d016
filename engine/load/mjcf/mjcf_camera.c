// Cameras: those that stand in the world, those mounted on a body, and those that follow one.
#include <math.h>
#include <string.h>

#include "mjcf.h"

// The lens looks along −z, y is up in the picture.
static void set_view(const TriboPose* at, TriboCameraDef* def) {
  for (int i = 0; i < 3; ++i) {
    def->eye[i] = at->p[i];
    def->target[i] = at->p[i] - at->R[3 * i + 2];
    def->up[i] = at->R[3 * i + 1];
  }
}

// A camera of the file as one of the scene, fixed or mounted.
static TriboStatus add_camera(Mjcf* m, const MjCamera* camera) {
  const double degree = 3.14159265358979323846 / 180;
  const MjBody* body = &m->bodys[camera->body];
  TriboPose at = camera->pose;
  TriboCameraDef def = tribo_camera_default();
  def.name = camera->name;
  if (body->id == TRIBO_WORLD) {
    at = tribo_pose_mul(&body->start, &camera->pose);
  } else {
    def.body = body->name;
    def.follow = camera->mode == MJ_TRACK || camera->mode == MJ_TRACKCOM;
  }
  // what follows looks the way it does at the start
  if (def.follow) {
    TriboPose turned = body->start;
    memset(turned.p, 0, sizeof turned.p);
    at = tribo_pose_mul(&turned, &camera->pose);
  }
  if (def.follow && camera->mode == MJ_TRACKCOM) {
    TRIBO_TRY(tribo_mjcf_warn(m, camera->node, "camera mode=\"trackcom\"",
                              "follows the body itself, not the centre of mass of all that hangs on it"));
  }
  set_view(&at, &def);
  if (camera->mode > MJ_TRACKCOM && camera->target != NULL) {
    const int target = tribo_mjcf_find_body(m, camera->target);
    if (target < 0) {
      return m->incomplete ? TRIBO_OK : tribo_mjcf_missing(m, camera->node, "body", camera->target);
    }
    if (m->bodys[target].id != TRIBO_WORLD) {
      def.aim = m->bodys[target].name;
      tribo_set3(def.up, 0, 0, 1);
    } else if (def.body == NULL) {
      tribo_copy3(def.target, m->bodys[target].start.p);
      tribo_set3(def.up, 0, 0, 1);
    } else {
      TRIBO_TRY(tribo_mjcf_warn(m, camera->node, "camera that moves and looks at what does not", "looks ahead"));
    }
  }
  const int lens = camera->sensor[1] > 0 && camera->focal[1] > 0;
  def.fov = lens ? 2 * atan(0.5 * camera->sensor[1] / camera->focal[1]) : camera->fovy * degree;
  def.fov = tribo_clamp(def.fov, 0.01, 3.1);
  TRIBO_TRY(tribo_mjcf_at(m, camera->node));
  return tribo_mjcf_added(m, tribo_scene_add_camera(m->scene, &def));
}

TriboStatus tribo_mjcf_cameras(Mjcf* m) {
  for (int i = 0; i < m->ncamera; ++i) {
    TRIBO_TRY(add_camera(m, &m->cameras[i]));
  }
  return TRIBO_OK;
}
