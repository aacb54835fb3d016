// Cameras. Those of a scene stand still: where those of moving bodies are at the start.
#include <math.h>
#include <string.h>

#include "mjcf.h"

static TriboStatus add_camera(Mjcf* m, const MjCamera* camera) {
  const double degree = 3.14159265358979323846 / 180;
  const TriboPose at = tribo_pose_mul(&m->bodys[camera->body].start, &camera->pose);
  TriboCameraDef def = tribo_camera_default();
  def.name = camera->name;
  // the lens looks along −z, y is up in the picture
  for (int i = 0; i < 3; ++i) {
    def.eye[i] = at.p[i];
    def.target[i] = at.p[i] - at.R[3 * i + 2];
    def.up[i] = at.R[3 * i + 1];
  }
  const int aims = camera->mode > MJ_TRACKCOM && camera->target != NULL;
  if (aims) {
    const int body = tribo_mjcf_find_body(m, camera->target);
    if (body < 0) {
      return m->incomplete ? TRIBO_OK : tribo_mjcf_missing(m, camera->node, "body", camera->target);
    }
    tribo_copy3(def.target, m->bodys[body].start.p);
    tribo_set3(def.up, 0, 0, 1);
  }
  if (m->bodys[camera->body].weld != 0 || aims) {
    TRIBO_TRY(tribo_mjcf_warn(m, camera->node, "camera of a body that moves, or that looks at one",
                              "stands where it is at the start"));
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
