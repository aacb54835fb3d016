// Small worlds for the viewer's tests, built through the public interface.
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kit.h"
#include "viewer.h"

#define VIEW_OK(call)                                                                     \
  do {                                                                                    \
    TriboStatus status_ = (call);                                                         \
    if (status_ != TRIBO_OK) {                                                            \
      print_error("%s: %s: %s\n", #call, tribo_status_name(status_), tribo_view_error()); \
      fail();                                                                             \
    }                                                                                     \
  } while (0)

#define VIEW_FAILS(call, expected, text)                                                                               \
  do {                                                                                                                 \
    TriboStatus status_ = (call);                                                                                      \
    if (status_ != (expected) || strstr(tribo_view_error(), (text)) == NULL) {                                         \
      print_error("%s: %s: \"%s\", expected \"%s\"\n", #call, tribo_status_name(status_), tribo_view_error(), (text)); \
      fail();                                                                                                          \
    }                                                                                                                  \
  } while (0)

typedef struct World {
  TriboScene* scene;
  TriboModel* model;
  TriboData* data;
  TriboDrawList* list;
} World;

// Waits for something to become true; a minute is far more than it takes anywhere.
#define WAIT_FOR(condition)                   \
  do {                                        \
    int patience_ = 60000;                    \
    while (!(condition) && --patience_ > 0) { \
      usleep(1000);                           \
    }                                         \
    assert_true(patience_ > 0);               \
  } while (0)

static inline void world_write(const char* text, const char* path) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static inline TriboScene* scene_of_text(const char* text) {
  TriboScene* scene;
  char path[] = "/tmp/tribo-view-XXXXXX.yaml";
  close(mkstemps(path, 5));
  world_write(text, path);
  CHECK_OK(tribo_scene_load(path, NULL, &scene));
  unlink(path);
  return scene;
}

// A folder of its own to work in, and its end with all that is in it.
static inline void enter_scratch(void) {
  char folder[] = "/tmp/tribo-view-XXXXXX";
  assert_true(mkdtemp(folder) != NULL && chdir(folder) == 0);
}
static inline void leave_scratch(void) {
  char folder[4096];
  DIR* files = opendir(".");
  assert_true(files != NULL && getcwd(folder, sizeof folder) != NULL);
  for (struct dirent* file; (file = readdir(files)) != NULL;) {
    unlink(file->d_name);
  }
  closedir(files);
  assert_true(chdir("/") == 0 && rmdir(folder) == 0);
}

// Without OpenGL all tests of a program are skipped, with a word.
static inline TriboOffscreen* offscreen_or_skip(void) {
  TriboOffscreen* context;
  if (tribo_view_offscreen_create(&context) != TRIBO_OK) {
    print_message("skipped: %s\n", tribo_view_error());
    exit(77);
  }
  return context;
}

static inline TriboStatus world_load(void* path, TriboScene** out) {
  return tribo_scene_load(path, NULL, out);
}

static inline World world_begin(void) {
  World world = {0};
  CHECK_OK(tribo_scene_create(&world.scene));
  return world;
}

static inline TriboShapeDef world_shape(TriboShapeKind kind, double a, double b, double c) {
  TriboShapeDef shape = tribo_shape_default();
  shape.kind = kind;
  shape.size[0] = a, shape.size[1] = b, shape.size[2] = c;
  return shape;
}

static inline void world_paint(TriboShapeDef* shape, double r, double g, double b, double alpha) {
  shape->color[0] = r, shape->color[1] = g, shape->color[2] = b, shape->color[3] = alpha;
}

// A body at a place with one shape.
static inline void world_body(World* world, const TriboShapeDef* shape, double x, double y, double z,
                              const double quaternion[4]) {
  TriboBodyDef body = tribo_body_default();
  body.position[0] = x, body.position[1] = y, body.position[2] = z;
  if (quaternion != NULL) {
    memcpy(body.quaternion, quaternion, sizeof body.quaternion);
  }
  int id;
  CHECK_OK(tribo_scene_add_body(world->scene, &body, &id));
  CHECK_OK(tribo_scene_add_shape(world->scene, id, shape, NULL));
}

static inline void world_ground(World* world) {
  TriboShapeDef ground = world_shape(TRIBO_SHAPE_HALFSPACE, 0, 0, 0);
  world_paint(&ground, 0.5, 0.5, 0.5, 1);
  CHECK_OK(tribo_scene_add_shape(world->scene, TRIBO_WORLD, &ground, NULL));
}

// Compiles what was described and fills a draw list with it.
static inline void world_end(World* world, const TriboDrawOptions* options) {
  CHECK_OK(tribo_model_create(world->scene, &world->model));
  CHECK_OK(tribo_data_create(world->model, &world->data));
  VIEW_OK(tribo_view_list_create(world->model, &world->list));
  VIEW_OK(tribo_view_list_fill(world->list, world->model, world->data, options));
}

static inline void world_destroy(World* world) {
  tribo_view_list_destroy(world->list);
  tribo_data_destroy(world->data);
  tribo_model_destroy(world->model);
  tribo_scene_destroy(world->scene);
}
