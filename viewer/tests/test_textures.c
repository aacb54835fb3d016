// Textures off screen: known pixels of pictures and patterns where they belong on shapes, on the ground and in the sky.
#include <stdlib.h>
#include <unistd.h>

#include "worlds.h"

static TriboOffscreen* context;

static int open_context(void** state) {
  (void)state;
  context = offscreen_or_skip();
  enter_scratch();
  return 0;
}

static int close_context(void** state) {
  (void)state;
  tribo_view_offscreen_destroy(context);
  leave_scratch();
  return 0;
}

// 2 × 2 fields of 32 pixels: red and green above, blue and white below.
static void write_fields(const char* path) {
  static const unsigned char colors[4][3] = {{230, 20, 20}, {20, 200, 20}, {20, 20, 230}, {240, 240, 240}};
  TriboImage image;
  VIEW_OK(tribo_view_image_create(64, 64, &image));
  for (int i = 0; i < 64 * 64; ++i) {
    memcpy(image.rgb + 3 * (size_t)i, colors[(i / 64 >= 32) * 2 + (i % 64 >= 32)], 3);
  }
  VIEW_OK(tribo_view_image_write(&image, path));
  tribo_view_image_destroy(&image);
}

// Looks along y at the origin from 10 m away; the picture is 10 m high there.
static TriboCameraDef frontal(void) {
  const double eye[3] = {0, -10, 0}, target[3] = {0};
  TriboCameraDef camera = tribo_camera_default();
  memcpy(camera.eye, eye, sizeof eye);
  memcpy(camera.target, target, sizeof target);
  camera.fov = 2 * atan(0.5);
  return camera;
}

static TriboImage picture(const World* world, const TriboCameraDef* camera, int size) {
  TriboImage image;
  TriboRenderer* renderer;
  VIEW_OK(tribo_view_image_create(size, size, &image));
  VIEW_OK(tribo_view_renderer_create(world->list, &renderer));
  VIEW_OK(tribo_view_renderer_draw(renderer, world->list, camera, &image));
  tribo_view_renderer_destroy(renderer);
  return image;
}

// r, g, b: one is at least twice the others; w: all alike.
static char color_at(const TriboImage* image, int x, int y) {
  const unsigned char* p = image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
  for (int k = 0; k < 3; ++k) {
    if (p[k] > 2 * p[(k + 1) % 3] && p[k] > 2 * p[(k + 2) % 3]) {
      return "rgb"[k];
    }
  }
  return abs(p[0] - p[1]) < 30 && abs(p[1] - p[2]) < 40 ? 'w' : '?';
}

static void check_fields(const TriboImage* image, int from, int to, const char* expected) {
  const int at[4][2] = {{from, from}, {to, from}, {from, to}, {to, to}};
  for (int i = 0; i < 4; ++i) {
    const char seen = color_at(image, at[i][0], at[i][1]);
    if (seen != expected[i]) {
      print_error("at (%d, %d): '%c', expected '%c'\n", at[i][0], at[i][1], seen, expected[i]);
      fail();
    }
  }
}

static World world_of(const char* text) {
  World world = {0};
  world_write(text, "scene.yaml");
  CHECK_OK(world_load("scene.yaml", &world.scene));
  world_end(&world, NULL);
  return world;
}

// A mesh file with texture points and a material that names the picture; a part without one has its colour.
static void mesh_files_bring_their_pictures(void** state) {
  (void)state;
  write_fields("my fields.png");
  world_write(
      "mtllib card.mtl\nv -2 0 -2\nv 2 0 -2\nv 2 0 2\nv -2 0 2\nv 3 0 -1\nv 4 0 -1\nv 4 0 1\n"
      "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl pictured\nf 1/1 2/2 3/3 4/4\nusemtl green\nf 5/1 6/1 7/1\n",
      "card.obj");
  world_write("newmtl pictured\nKd 0 0 0\nmap_Kd my fields.png\nnewmtl green\nKd 0.1 0.8 0.1\n", "card.mtl");
  World world = world_of("visuals: [{mesh: card.obj, use_file_colors: true}]\n");
  int n;
  const TriboVisualInfo* visuals = tribo_model_visuals(world.model, &n);
  assert_int_equal(n, 2);
  assert_int_equal(tribo_model_size(world.model).ntexture, 1);
  assert_int_equal(visuals[0].texture + visuals[1].texture, -1);
  TriboCameraDef camera = frontal();
  TriboImage image = picture(&world, &camera, 200);
  // 20 pixels a metre: the card reaches from 60 to 140
  check_fields(&image, 75, 125, "rgbw");
  assert_int_equal(color_at(&image, 178, 110), 'g');
  tribo_view_image_destroy(&image);
  world_destroy(&world);
  // without `painted` the scene says the colour
  world = world_of("visuals: [{mesh: card.obj, color: [0.8, 0.1, 0.1]}]\n");
  image = picture(&world, &camera, 200);
  check_fields(&image, 75, 125, "rrrr");
  tribo_view_image_destroy(&image);
  world_destroy(&world);
  // a picture that is not there: the colour of the material
  unlink("my fields.png");
  world = world_of("visuals: [{mesh: card.obj, use_file_colors: true}]\n");
  assert_int_equal(tribo_model_size(world.model).ntexture, 0);
  world_destroy(&world);
}

static void textures_lie_on_shapes(void** state) {
  (void)state;
  write_fields("fields.png");
  TriboCameraDef camera = frontal();
  // seen along z: from above the box shows the picture once, or twice each way, its middle in the middle
  const struct {
    const char *paint, *expected;
    int from, to;
  } flat[] = {{"texture: f", "rgbw", 75, 125},
              {"texture: f, repeat: [2, 2]", "wwww", 65, 105},
              {"texture: f, repeat: [0.5, 0.5], per_metre: true", "wwww", 65, 105}};
  for (int i = 0; i < 3; ++i) {
    char text[300];
    snprintf(text, sizeof text,
             "textures: {f: {file: fields.png}}\nbodies: [{name: a, box: [4, 4, 4], color: [1, 1, 1], %s}]\n",
             flat[i].paint);
    World world = world_of(text);
    TriboCameraDef above = camera;
    const double eye[3] = {0, 0, 12}, up[3] = {0, 1, 0};
    memcpy(above.eye, eye, sizeof eye);
    memcpy(above.up, up, sizeof up);
    // the top lies 10 m below
    above.fov = 2 * atan(0.5);
    TriboImage image = picture(&world, &above, 200);
    check_fields(&image, flat[i].from, flat[i].to, flat[i].expected);
    tribo_view_image_destroy(&image);
    world_destroy(&world);
  }
  // around it: every side has the whole picture, upright
  World world = world_of(
      "textures: {f: {file: fields.png, kind: cube}}\nbodies: [{name: a, box: [4, 4, 4], texture: f, color: [1, 1, "
      "1]}]\n");
  for (int side = 0; side < 4; ++side) {
    const double angle = side * 1.5707963267948966, eye[3] = {-12 * sin(angle), -12 * cos(angle), 0};
    memcpy(camera.eye, eye, sizeof eye);
    TriboImage image = picture(&world, &camera, 200);
    check_fields(&image, 80, 120, "rgbw");
    tribo_view_image_destroy(&image);
  }
  // the colours of islands hide it
  const TriboDrawOptions islands = {.overlays = 1u << TRIBO_OVERLAY_ISLANDS};
  VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &islands));
  TriboImage image = picture(&world, &camera, 200);
  check_fields(&image, 80, 120, "wwww");
  tribo_view_image_destroy(&image);
  world_destroy(&world);
}

static void patterns_cover_ground_and_sky(void** state) {
  (void)state;
  // fields of half a metre: red where x and y have different signs near the origin
  World world = world_of(
      "textures:\n"
      "  check: {pattern: checker, color: [0.8, 0.05, 0.05], color2: [0.05, 0.05, 0.8]}\n"
      "  heaven: {kind: sky, pattern: gradient, color: [0.05, 0.5, 0.05], color2: [0.5, 0.05, 0.05]}\n"
      "static: [{plane: [0, 0, 1], texture: check, per_metre: true, color: [1, 1, 1]}]\n");
  TriboCameraDef camera = frontal();
  const double eye[3] = {0, 0, 2}, up[3] = {0, 1, 0};
  memcpy(camera.eye, eye, sizeof eye);
  memcpy(camera.up, up, sizeof up);
  TriboImage image = picture(&world, &camera, 200);
  // 100 pixels a metre
  check_fields(&image, 75, 125, "rbbr");
  check_fields(&image, 25, 75, "rbbr");
  tribo_view_image_destroy(&image);
  // the sky is green above; the ground hides what is below
  const double out[3] = {0, 0, 1}, there[3] = {0, 1, 5}, z[3] = {0, 0, 1};
  memcpy(camera.eye, out, sizeof out);
  memcpy(camera.target, there, sizeof there);
  memcpy(camera.up, z, sizeof z);
  image = picture(&world, &camera, 100);
  assert_int_equal(color_at(&image, 50, 20), 'g');
  tribo_view_image_destroy(&image);
  world_destroy(&world);
  // a sky of a file: its picture on the side one looks at
  write_fields("fields.png");
  world = world_of("textures: {around: {kind: sky, file: fields.png}}\n");
  camera = frontal();
  image = picture(&world, &camera, 100);
  check_fields(&image, 25, 75, "rgbw");
  tribo_view_image_destroy(&image);
  world_destroy(&world);
}

static void wrong_pictures_are_named(void** state) {
  (void)state;
  const struct {
    const char *file, *content, *text;
  } wrong[] = {{"none.png", NULL, "none.png: cannot be read"},
               {"none.jpg", NULL, "none.jpg: cannot be read: No such file"},
               {"bad.png", "rubbish", "bad.png: cannot be read"},
               {"bad.jpg", "rubbish", "bad.jpg: cannot be read"},
               {"bad.bmp", "rubbish", "ends in .png, .jpg or .jpeg"}};
  for (int i = 0; i < 5; ++i) {
    char text[200];
    if (wrong[i].content != NULL) {
      world_write(wrong[i].content, wrong[i].file);
    }
    snprintf(text, sizeof text, "textures: {f: {file: %s}}\nbodies: [{name: a, sphere: 1, texture: f}]\n",
             wrong[i].file);
    World world = {0};
    world_write(text, "scene.yaml");
    CHECK_OK(world_load("scene.yaml", &world.scene));
    CHECK_OK(tribo_model_create(world.scene, &world.model));
    assert_true(tribo_view_list_create(world.model, &world.list) != TRIBO_OK);
    assert_non_null(strstr(tribo_view_error(), wrong[i].text));
    world_destroy(&world);
  }
  TriboScene* scene;
  world_write("bodies: [{name: a, sphere: 1, texture: g}]\n", "scene.yaml");
  CHECK_FAILS(world_load("scene.yaml", &scene), TRIBO_NOT_FOUND, "there is no texture 'g'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mesh_files_bring_their_pictures),
      cmocka_unit_test(textures_lie_on_shapes),
      cmocka_unit_test(patterns_cover_ground_and_sky),
      cmocka_unit_test(wrong_pictures_are_named),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
