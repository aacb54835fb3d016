// A scene from a file of any kind that can be read, by its ending.

#include "mjcf.h"
#include "sdf.h"
#include "text.h"
#include "urdf.h"
#include "yaml_scene.h"

TriboStatus tribo_load_file(Loader* l, const char* path, int depth) {
  return tribo_text_ends_in(path, ".urdf")  ? tribo_urdf_load(l->scene, path, l->log)
         : tribo_text_ends_in(path, ".xml") ? tribo_mjcf_load(l->scene, path, l->log)
         : tribo_text_ends_in(path, ".sdf") ? tribo_sdf_load(l->scene, path, l->log)
                                            : tribo_yaml_load(l, path, depth);
}

TriboStatus tribo_scene_load(const char* path, const TriboLog* log, TriboScene** out) {
  TRIBO_REQUIRE(path);
  TRIBO_REQUIRE(out);
  return tribo_scene_load_seed(path, log, 0, out);
}

TriboStatus tribo_scene_load_seed(const char* path, const TriboLog* log, int seed, TriboScene** out) {
  TRIBO_REQUIRE(path);
  TRIBO_REQUIRE(out);
  *out = NULL;
  if (seed < 0) {
    return tribo_fail(TRIBO_INVALID, "tribo_scene_load_seed: seed = %d; accepted is 0 or more", seed);
  }
  Loader l = {.log = log, .seed = seed};
  const char* open[LOAD_DEEPEST_INCLUDE];
  l.open = open;
  TRIBO_TRY(tribo_scene_create(&l.scene));
  TriboStatus status = tribo_load_file(&l, path, 0);
  l.scene->where = NULL;
  tribo_pool_clear(&l.pool);
  if (status != TRIBO_OK) {
    tribo_scene_destroy(l.scene);
    return status;
  }
  *out = l.scene;
  return TRIBO_OK;
}
