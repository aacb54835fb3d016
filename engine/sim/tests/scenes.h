// Small scenes for tests: from text, or by name.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <tribo/tribo.h>

#include "kit.h"

// Writes the text to a file of its own and returns its path (to be unlinked and freed).
static inline char* text_file(const char* text, size_t size, const char* ending) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/tribo-test-XXXXXX%s", ending);
  int fd = mkstemps(path, (int)strlen(ending));
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, size), (ssize_t)size);
  close(fd);
  return strdup(path);
}

static inline char* scene_file(const char* text, size_t size) {
  return text_file(text, size, ".yaml");
}

static inline TriboStatus load_text(const char* text, TriboScene** scene) {
  char* path = scene_file(text, strlen(text));
  TriboStatus status = tribo_scene_load(path, NULL, scene);
  unlink(path);
  free(path);
  return status;
}

static inline TriboModel* model_of(const char* text) {
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(load_text(text, &scene));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  return model;
}

static inline TriboData* data_of(const TriboModel* model) {
  TriboData* data;
  CHECK_OK(tribo_data_create(model, &data));
  return data;
}

// A quantity by name, of a body, a joint or (NULL) the world.
static inline double scene_value(const TriboModel* model, TriboData* data, const char* name, const char* of) {
  TriboQuantity what;
  double x;
  CHECK_OK(tribo_quantity_find(model, name, of, &what));
  CHECK_OK(tribo_quantity_value(model, data, what, &x));
  return x;
}
