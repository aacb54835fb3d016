// An arm of two links in the plane, and what is refused of its controllers: shared by their tests.
#pragma once

#include "scenes.h"

#define ARM                                                                                                 \
  "bodies:\n"                                                                                               \
  "  - {name: upper, position: [0.5, 0, 0], box: [1, 0.1, 0.1], mass: 2, group: 0, mask: 0}\n"              \
  "  - {name: lower, position: [1.4, 0, 0], box: [0.8, 0.1, 0.1], mass: 1, group: 0, mask: 0}\n"            \
  "joints:\n"                                                                                               \
  "  - {name: shoulder, parent: world, child: upper, anchor: [0, 0, 0], axis: [0, -1, 0], position: 0.3}\n" \
  "  - {name: elbow, parent: upper, child: lower, anchor: [1, 0, 0], axis: [0, -1, 0], position: -0.8}\n"

// A controller that is wrong is refused with a word, at its line.
static inline void refuses(const char* controllers, const char* word) {
  char text[2048];
  snprintf(text, sizeof text, ARM "controllers: [%s]\n", controllers);
  TriboScene* scene = NULL;
  TriboModel* model = NULL;
  TriboStatus status = load_text(text, &scene);
  status = status == TRIBO_OK ? tribo_model_create(scene, &model) : status;
  assert_true(status != TRIBO_OK);
  if (strstr(tribo_last_error(), word) == NULL || strstr(tribo_last_error(), ".yaml:7:") == NULL) {
    fail_msg("'%s' does not say '%s' at line 7", tribo_last_error(), word);
  }
  tribo_scene_destroy(scene);
}
