// What a picture costs: filling the draw list and drawing 640 × 480 pixels off screen, for crowds of boxes and balls.
// Times are of the processor, all threads together: the best of five, whatever else the machine does.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "worlds.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Times the parts of a picture with so many bodies.
static void measure(int bodies) {
  enum { TIMES = 5 };
  World world = world_begin();
  world_ground(&world);
  TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 0.5, 0.5, 0.5), ball = world_shape(TRIBO_SHAPE_SPHERE, 0.25, 0, 0);
  int side = (int)ceil(sqrt(bodies));
  for (int i = 0; i < bodies; ++i) {
    world_body(&world, i % 2 ? &box : &ball, i % side - side / 2, (double)(i / side) - side / 2, 0.25, NULL);
  }
  world_end(&world, NULL);
  TriboImage image;
  TriboRenderer* renderer;
  TriboCameraDef camera;
  VIEW_OK(tribo_view_image_create(640, 480, &image));
  VIEW_OK(tribo_view_renderer_create(world.list, &renderer));
  VIEW_OK(tribo_view_camera(world.model, world.list, NULL, 640.0 / 480, &camera));
  double fill = INFINITY, draw = INFINITY;
  for (int i = 0; i < TIMES; ++i) {
    double t0 = now();
    VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, NULL));
    double t1 = now();
    VIEW_OK(tribo_view_renderer_draw(renderer, world.list, &camera, &image));
    fill = fmin(fill, t1 - t0), draw = fmin(draw, now() - t1);
  }
  printf("%6d bodies  %2d draw calls  list %6.2f ms  picture %7.1f ms of processor time\n", bodies,
         tribo_view_renderer_calls(renderer), 1e3 * fill, 1e3 * draw);
  tribo_view_renderer_destroy(renderer);
  tribo_view_image_destroy(&image);
  world_destroy(&world);
}

int main(void) {
  TriboOffscreen* context;
  if (tribo_view_offscreen_create(&context) != TRIBO_OK) {
    fprintf(stderr, "%s\n", tribo_view_error());
    return 77;
  }
  measure(200);
  measure(1000);
  measure(5000);
  tribo_view_offscreen_destroy(context);
  return 0;
}
