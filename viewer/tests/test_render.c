// Pictures off screen: known colours and silhouettes at known pixels. Without OpenGL every test is skipped, with a
// word.
#include <stdlib.h>

#include "worlds.h"

static TriboOffscreen* context;

static int open_context(void** state) {
  (void)state;
  context = offscreen_or_skip();
  return 0;
}

static int close_context(void** state) {
  (void)state;
  tribo_view_offscreen_destroy(context);
  return 0;
}

// Looks along y at the origin from 10 m away; the picture is 10 m high there.
static TriboCameraDef frontal(void) {
  TriboCameraDef camera = tribo_camera_default();
  const double eye[3] = {0, -10, 0}, target[3] = {0, 0, 0};
  memcpy(camera.eye, eye, sizeof eye);
  memcpy(camera.target, target, sizeof target);
  camera.fov = 2 * atan(0.5);
  return camera;
}

static TriboImage picture(const World* world, const TriboCameraDef* camera, int width, int height, int* calls) {
  TriboImage image;
  TriboRenderer* renderer;
  VIEW_OK(tribo_view_image_create(width, height, &image));
  VIEW_OK(tribo_view_renderer_create(world->list, &renderer));
  VIEW_OK(tribo_view_renderer_draw(renderer, world->list, camera, &image));
  if (calls != NULL) {
    *calls = tribo_view_renderer_calls(renderer);
  }
  tribo_view_renderer_destroy(renderer);
  return image;
}

static const unsigned char* pixel(const TriboImage* image, int x, int y) {
  return image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
}

static int is_red(const unsigned char* p) {
  return p[0] > 2 * p[1] && p[0] > 2 * p[2] && p[0] > 60;
}

static int is_sky(const unsigned char* p) {
  return p[2] > 215 && p[1] > 200 && p[0] > 180 && p[2] >= p[0];
}

static int brightness(const unsigned char* p) {
  return p[0] + p[1] + p[2];
}

static int count_red(const TriboImage* image) {
  int red = 0;
  for (int i = 0; i < image->width * image->height; ++i) {
    red += is_red(image->rgb + 3 * (size_t)i);
  }
  return red;
}

static World one_red(TriboShapeDef shape, double x, double y, double z, int ground) {
  World world = world_begin();
  if (ground) {
    world_ground(&world);
  }
  world_paint(&shape, 0.9, 0.1, 0.1, 1);
  world_body(&world, &shape, x, y, z, NULL);
  world_end(&world, NULL);
  return world;
}

static void a_box_covers_what_perspective_says(void** state) {
  (void)state;
  // its front face, 3 × 2 m, lies 9.5 m away: 200 pixels for 9.5 m there
  World world = one_red(world_shape(TRIBO_SHAPE_BOX, 3, 1, 2), 0, 0, 0, 0);
  TriboCameraDef camera = frontal();
  TriboImage image = picture(&world, &camera, 300, 200, NULL);
  const double scale = 200 / 9.5, wide = 3 * scale, high = 2 * scale;
  CHECK_NEAR(count_red(&image), wide * high, 0.03 * wide * high);
  const int x0 = (int)(150 - wide / 2), x1 = (int)(150 + wide / 2), y0 = (int)(100 - high / 2),
            y1 = (int)(100 + high / 2);
  assert_true(is_red(pixel(&image, 150, 100)));
  assert_true(is_red(pixel(&image, x0 + 2, y0 + 2)) && is_red(pixel(&image, x1 - 2, y1 - 2)));
  assert_true(is_sky(pixel(&image, x0 - 2, 100)) && is_sky(pixel(&image, x1 + 2, 100)));
  assert_true(is_sky(pixel(&image, 150, y0 - 2)) && is_sky(pixel(&image, 150, y1 + 2)));
  tribo_view_image_destroy(&image);
  world_destroy(&world);
}

static void every_kind_has_its_silhouette(void** state) {
  (void)state;
  // seen from far away along y: areas of the outlines, flat ones of the shapes that stand along z
  const double octahedron[] = {1, 0, 0, -1, 0, 0, 0, 2, 0, 0, -2, 0, 0, 0, 1.5, 0, 0, -1.5};
  TriboShapeDef hull = tribo_shape_default();
  hull.kind = TRIBO_SHAPE_HULL, hull.points = octahedron, hull.npoint = 6;
  const double pi = 3.14159265358979;
  const struct {
    TriboShapeDef shape;
    double area;
  } kinds[] = {{world_shape(TRIBO_SHAPE_SPHERE, 1, 0, 0), pi},
               {world_shape(TRIBO_SHAPE_CAPSULE, 0.5, 2, 0), 2 + pi / 4},
               {world_shape(TRIBO_SHAPE_CYLINDER, 0.5, 2, 0), 2},
               {world_shape(TRIBO_SHAPE_CONE, 1, 2, 0), 2},
               {world_shape(TRIBO_SHAPE_ELLIPSOID, 1, 0.2, 0.5), pi / 2},
               {hull, 3}};
  for (int i = 0; i < 6; ++i) {
    World world = one_red(kinds[i].shape, 0, 0, 0, 0);
    TriboCameraDef camera = frontal();
    camera.eye[1] = -200, camera.fov = 2 * atan(2.0 / 200);
    TriboImage image = picture(&world, &camera, 200, 200, NULL);
    CHECK_NEAR(count_red(&image) / 2500.0, kinds[i].area, 0.03 * kinds[i].area);
    tribo_view_image_destroy(&image);
    world_destroy(&world);
  }
}

static void the_shadow_falls_where_the_sun_says(void** state) {
  (void)state;
  // the sun stands at (−0.42, −0.50, 0.76): a ball 2 m above the ground shades the point 2·(0.42, 0.50)/0.76 away
  World world = one_red(world_shape(TRIBO_SHAPE_SPHERE, 0.5, 0, 0), 0, 0, 2, 1);
  TriboCameraDef camera = frontal();
  camera.eye[1] = -0.001, camera.eye[2] = 20;  // from above: x to the right, y upwards, 20 m high at the ground
  TriboImage image = picture(&world, &camera, 200, 200, NULL);
  const int x = (int)(100 + 10 * 2 * 0.42 / 0.76 + 0.5), y = (int)(100 - 10 * 2 * 0.50 / 0.76 + 0.5);
  int shade = brightness(pixel(&image, x, y)), lit = brightness(pixel(&image, 200 - x, 200 - y));
  assert_true(is_red(pixel(&image, 100, 100)));
  CHECK_LE(shade, 0.75 * lit);
  CHECK_LE(100, shade);  // no black
  CHECK_NEAR(brightness(pixel(&image, x + 13, y)), lit, 0.1 * lit);
  CHECK_NEAR(brightness(pixel(&image, x, y - 13)), lit, 0.1 * lit);
  tribo_view_image_destroy(&image);
  world_destroy(&world);
}

static void glass_shows_what_is_behind_it(void** state) {
  (void)state;
  World world = world_begin();
  TriboShapeDef ball = world_shape(TRIBO_SHAPE_SPHERE, 1, 0, 0), pane = world_shape(TRIBO_SHAPE_BOX, 2, 0.1, 4);
  world_paint(&ball, 0.9, 0.1, 0.1, 1);
  world_paint(&pane, 0.1, 0.1, 0.9, 0.3);
  world_body(&world, &ball, 0, 0, 0, NULL);
  world_body(&world, &pane, 1, -2, 0, NULL);  // covers the right half of the ball
  world_end(&world, NULL);
  TriboCameraDef camera = frontal();
  TriboImage image = picture(&world, &camera, 200, 200, NULL);
  const unsigned char *bare = pixel(&image, 92, 100), *behind = pixel(&image, 108, 100), *pure = pixel(&image, 140, 60);
  assert_true(is_red(bare));
  assert_true(behind[2] > bare[2] + 20 && behind[0] < bare[0] && behind[0] > 80);
  assert_true(pure[2] > pure[0] + 10 && pure[0] > 100);
  tribo_view_image_destroy(&image);
  world_destroy(&world);
}

static void marks_shine_through(void** state) {
  (void)state;
  World world = world_begin();
  TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 2, 2, 2);
  world_paint(&box, 0.2, 0.2, 0.8, 1);
  world_body(&world, &box, 0, 0, 0, NULL);
  TriboDrawOptions options = {.size = 40, .overlays = 1u << TRIBO_OVERLAY_COM};
  world_end(&world, &options);
  TriboCameraDef camera = frontal();
  TriboImage image = picture(&world, &camera, 200, 200, NULL);
  const unsigned char *mark = pixel(&image, 100, 100), *face = pixel(&image, 112, 112);
  assert_true(mark[0] > face[0] + 40 && mark[1] > face[1] + 40);
  tribo_view_image_destroy(&image);
  world_destroy(&world);
}

static void an_empty_world_is_sky(void** state) {
  (void)state;
  World world = world_begin();
  world_end(&world, NULL);
  TriboCameraDef camera;
  VIEW_OK(tribo_view_camera(world.model, world.list, NULL, 1, &camera));
  TriboImage image = picture(&world, &camera, 64, 64, NULL);
  for (int i = 0; i < 64 * 64; ++i) {
    assert_true(is_sky(image.rgb + 3 * (size_t)i));
  }
  tribo_view_image_destroy(&image);
  world_destroy(&world);
}

// n boxes and n balls on a square.
static World crowd(int n) {
  World world = world_begin();
  world_ground(&world);
  TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 0.5, 0.5, 0.5), ball = world_shape(TRIBO_SHAPE_SPHERE, 0.25, 0, 0);
  int side = (int)ceil(sqrt(2.0 * n));
  for (int i = 0; i < 2 * n; ++i) {
    world_body(&world, i % 2 ? &box : &ball, i % side - side / 2, (double)(i / side) - side / 2, 0.25, NULL);
  }
  world_end(&world, NULL);
  return world;
}

static void draw_calls_do_not_grow_with_bodies(void** state) {
  (void)state;
  int few = 0, many = 0;
  World small = crowd(1), large = crowd(2500);
  TriboCameraDef camera;
  VIEW_OK(tribo_view_camera(small.model, small.list, NULL, 1, &camera));
  TriboImage image = picture(&small, &camera, 64, 64, &few);
  tribo_view_image_destroy(&image);
  VIEW_OK(tribo_view_camera(large.model, large.list, NULL, 1, &camera));
  image = picture(&large, &camera, 64, 64, &many);
  tribo_view_image_destroy(&image);
  // the sky, the ground, and each of two meshes in the shadow map and in the picture
  assert_int_equal(few, 6);
  assert_int_equal(many, 6);
  world_destroy(&small);
  world_destroy(&large);
}

static void the_same_scene_gives_the_same_picture(void** state) {
  (void)state;
  World world = crowd(50);
  TriboCameraDef camera;
  VIEW_OK(tribo_view_camera(world.model, world.list, NULL, 1.5, &camera));
  TriboImage a = picture(&world, &camera, 96, 64, NULL), b = picture(&world, &camera, 96, 64, NULL);
  assert_memory_equal(a.rgb, b.rgb, 96 * 64 * 3);
  tribo_view_image_destroy(&a);
  tribo_view_image_destroy(&b);
  world_destroy(&world);
}

static void far_from_the_origin_nothing_trembles(void** state) {
  (void)state;
  // single precision resolves 0.06 m at 1000 km: the picture must not show it
  const double far = 1000000.027;
  TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 0.3, 0.3, 0.3);
  World here = one_red(box, 0, 0, 0, 0), there = one_red(box, far, -far, 0, 0);
  TriboCameraDef camera = frontal();
  camera.eye[0] = 0.5, camera.eye[1] = -0.7, camera.eye[2] = 0.4, camera.target[0] = 0.1;
  TriboImage a = picture(&here, &camera, 100, 100, NULL);
  camera.eye[0] += far, camera.eye[1] -= far, camera.target[0] += far, camera.target[1] -= far;
  TriboImage b = picture(&there, &camera, 100, 100, NULL);
  int worst = 0;
  for (int i = 0; i < 3 * 100 * 100; ++i) {
    worst = abs(a.rgb[i] - b.rgb[i]) > worst ? abs(a.rgb[i] - b.rgb[i]) : worst;
  }
  CHECK_LE(worst, 8);
  tribo_view_image_destroy(&a);
  tribo_view_image_destroy(&b);
  world_destroy(&here);
  world_destroy(&there);
}

static void what_cannot_be_drawn_is_refused(void** state) {
  (void)state;
  World world = crowd(1);
  TriboRenderer* renderer;
  TriboImage image, small;
  TriboCameraDef camera = frontal();
  VIEW_OK(tribo_view_image_create(20, 10, &image));
  VIEW_OK(tribo_view_renderer_create(world.list, &renderer));
  memcpy(camera.target, camera.eye, sizeof camera.eye);
  VIEW_FAILS(tribo_view_renderer_draw(renderer, world.list, &camera, &image), TRIBO_INVALID, "looks nowhere");
  camera = frontal();
  camera.up[1] = 1, camera.up[2] = 0;
  VIEW_FAILS(tribo_view_renderer_draw(renderer, world.list, &camera, &image), TRIBO_INVALID, "straight up or down");
  VIEW_FAILS(tribo_view_image_write(&image, "/nowhere/x.png"), TRIBO_IO, "/nowhere/x.png");
  VIEW_FAILS(tribo_view_image_create(0, 10, &small), TRIBO_INVALID, "0 × 10");
  VIEW_OK(tribo_view_image_create(10, 6, &small));
  VIEW_FAILS(tribo_view_image_shrink(&image, 2, &small), TRIBO_INVALID, "is not 2 times");
  TriboVideo* video;
  VIEW_FAILS(tribo_view_video_open("/nowhere/x.mp4", 20, 10, 30, &video), TRIBO_IO, "/nowhere/x.mp4");
  VIEW_FAILS(tribo_view_video_open("x.mp4", 21, 10, 30, &video), TRIBO_INVALID, "even");
  tribo_view_image_destroy(&small);
  tribo_view_image_destroy(&image);
  tribo_view_renderer_destroy(renderer);
  world_destroy(&world);
}

static void shrinking_keeps_the_light(void** state) {
  (void)state;
  // half black, half white is half the light, which is 188 of 255 on an sRGB screen
  TriboImage large, small;
  VIEW_OK(tribo_view_image_create(4, 2, &large));
  VIEW_OK(tribo_view_image_create(2, 1, &small));
  memset(large.rgb, 255, 6 * 1);
  memset(large.rgb + 6, 40, 6);
  memset(large.rgb + 18, 40, 6);
  VIEW_OK(tribo_view_image_shrink(&large, 2, &small));
  assert_int_equal(small.rgb[0], 188);
  assert_int_equal(small.rgb[3], 40);
  tribo_view_image_destroy(&large);
  tribo_view_image_destroy(&small);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_box_covers_what_perspective_says),
      cmocka_unit_test(every_kind_has_its_silhouette),
      cmocka_unit_test(the_shadow_falls_where_the_sun_says),
      cmocka_unit_test(glass_shows_what_is_behind_it),
      cmocka_unit_test(marks_shine_through),
      cmocka_unit_test(an_empty_world_is_sky),
      cmocka_unit_test(draw_calls_do_not_grow_with_bodies),
      cmocka_unit_test(the_same_scene_gives_the_same_picture),
      cmocka_unit_test(far_from_the_origin_nothing_trembles),
      cmocka_unit_test(what_cannot_be_drawn_is_refused),
      cmocka_unit_test(shrinking_keeps_the_light),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
