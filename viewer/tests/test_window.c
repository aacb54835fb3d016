// The window on a screen (of Xvfb): every key, the mouse, another size, and closing. Keys and mouse come in where GLFW
// would bring them, so that the widgets see them too.
#include <stdlib.h>
#include <unistd.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "worlds.h"

static World world;
static TriboWindow* window;

static int open_window(void** state) {
  (void)state;
  world = world_begin();
  world_ground(&world);
  TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 1, 1, 1);
  world_body(&world, &box, 0, 0, 0.5, NULL);
  TriboCameraDef camera = tribo_camera_default();
  CHECK_OK(tribo_scene_add_camera(world.scene, &camera));
  camera.eye[2] = 9;
  CHECK_OK(tribo_scene_add_camera(world.scene, &camera));
  world_end(&world, NULL);
  const TriboWindowDef def = {.title = "test", .width = 320, .height = 240, .paused = 1};
  if (tribo_view_window_open(world.model, world.data, &def, &window) != TRIBO_OK) {
    print_message("skipped: %s\n", tribo_view_error());
    exit(77);
  }
  return 0;
}

static int close_window(void** state) {
  (void)state;
  tribo_view_window_close(window);
  world_destroy(&world);
  return 0;
}

static void frames(int n) {
  for (int i = 0, open; i < n; ++i) {
    VIEW_OK(tribo_view_window_frame(window, &open));
    assert_true(open);
  }
}

static void press(int key) {
  GLFWwindow* glfw = glfwGetCurrentContext();
  GLFWkeyfun on_key = glfwSetKeyCallback(glfw, NULL);
  glfwSetKeyCallback(glfw, on_key);
  on_key(glfw, key, 0, GLFW_PRESS, 0);
  on_key(glfw, key, 0, GLFW_RELEASE, 0);
  frames(1);
}

static void move(double x, double y) {
  GLFWwindow* glfw = glfwGetCurrentContext();
  GLFWcursorposfun on_move = glfwSetCursorPosCallback(glfw, NULL);
  glfwSetCursorPosCallback(glfw, on_move);
  glfwSetCursorPos(glfw, x, y);  // for the widgets, which ask; GLFW does not report what it was told
  on_move(glfw, x, y);
}

static void button(int which, int pressed, int mods) {
  GLFWwindow* glfw = glfwGetCurrentContext();
  GLFWmousebuttonfun on_button = glfwSetMouseButtonCallback(glfw, NULL);
  glfwSetMouseButtonCallback(glfw, on_button);
  on_button(glfw, which, pressed, mods);
}

static void scroll(double dy) {
  GLFWwindow* glfw = glfwGetCurrentContext();
  GLFWscrollfun on_scroll = glfwSetScrollCallback(glfw, NULL);
  glfwSetScrollCallback(glfw, on_scroll);
  on_scroll(glfw, 0, dy);
}

static TriboPlayerStatus settled(void) {
  TriboPlayer* player = tribo_view_window_player(window);
  for (int i = 0; i < 20000 && tribo_view_player_status(player).busy; ++i) {
    usleep(1000);
  }
  TriboPlayerStatus status = tribo_view_player_status(player);
  assert_false(status.busy);
  assert_string_equal(status.failure, "");
  return status;
}

static double distance(void) {
  const TriboCameraDef* c = tribo_view_window_camera(window);
  return sqrt(pow(c->eye[0] - c->target[0], 2) + pow(c->eye[1] - c->target[1], 2) + pow(c->eye[2] - c->target[2], 2));
}

static void keys_do_what_the_list_says(void** state) {
  (void)state;
  assert_true(settled().paused);
  press(GLFW_KEY_RIGHT);
  assert_int_equal(settled().steps, 1);
  press(GLFW_KEY_PAGE_DOWN);
  assert_int_equal(settled().steps, 101);
  press(GLFW_KEY_R);
  assert_int_equal(settled().steps, 0);
  press(GLFW_KEY_UP);
  press(GLFW_KEY_UP);
  CHECK_NEAR(settled().speed, 4, 0);
  press(GLFW_KEY_DOWN);
  CHECK_NEAR(settled().speed, 2, 0);
  press(GLFW_KEY_SPACE);
  assert_false(settled().paused);
  press(GLFW_KEY_SPACE);
  assert_true(settled().paused);
  for (int i = 0; i < TRIBO_OVERLAY_COUNT; ++i) {
    press(tribo_view_action_code(TRIBO_ACTION_OVERLAY + i));
    assert_int_equal(tribo_view_window_overlays(window), (2u << i) - 1);
  }
  press(GLFW_KEY_1);
  assert_int_equal(tribo_view_window_overlays(window), (1u << TRIBO_OVERLAY_COUNT) - 2);
  press(GLFW_KEY_C);
  CHECK_NEAR(tribo_view_window_camera(window)->eye[2], 9, 0);
  press(GLFW_KEY_C);
  CHECK_NEAR(tribo_view_window_camera(window)->eye[2], 3, 0);
  press(GLFW_KEY_F);
  CHECK_NEAR(tribo_view_window_camera(window)->target[2], 0.5, 1e-3);
  press(GLFW_KEY_F1);
  frames(2);
  press(GLFW_KEY_F1);
  for (int i = 0; i < TRIBO_ACTION_COUNT; ++i) {
    assert_true(strlen(tribo_view_action_key(i)) > 0 && strlen(tribo_view_action_doc(i)) > 0);
  }
}

static void the_mouse_turns_moves_and_zooms(void** state) {
  (void)state;
  TriboCameraDef before;
  glfwFocusWindow(glfwGetCurrentContext());
  frames(2);
  move(300, 230);
  frames(2);
  // turning keeps target and distance, and never goes over the pole
  before = *tribo_view_window_camera(window);
  double d = distance();
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0);
  move(250, 180);
  for (int i = 0; i < 20; ++i) {
    move(250, 180 + 40 * i);
  }
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  move(300, 230);
  const TriboCameraDef* now = tribo_view_window_camera(window);
  CHECK_NEAR(distance(), d, 1e-9 * d);
  assert_true(fabs(now->eye[0] - before.eye[0]) > 0.01 * d);
  CHECK_NEAR(now->target[0], before.target[0], 0);
  CHECK_NEAR((now->eye[2] - now->target[2]) / d, sin(1.5), 1e-6);
  frames(2);
  // moving shifts eye and target alike
  before = *now;
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, GLFW_MOD_SHIFT);
  move(280, 230);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  double shift = 0;
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(now->eye[i] - before.eye[i], now->target[i] - before.target[i], 1e-12);
    shift += pow(now->eye[i] - before.eye[i], 2);
  }
  CHECK_NEAR(sqrt(shift), 20 * 2 * d * tan(now->fov / 2) / 240, 1e-6);
  scroll(1);
  CHECK_NEAR(distance(), 0.9 * d, 1e-9);
  scroll(-1);
  CHECK_NEAR(distance(), d, 1e-9);
  // a drag that starts on the panel is not for the camera
  move(40, 30);
  frames(2);
  before = *now;
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0);
  move(60, 60);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  CHECK_NEAR(now->eye[0], before.eye[0], 0);
  frames(2);
}

static void another_size_and_the_end(void** state) {
  (void)state;
  int width = 0, height = 0, open = 1;
  glfwSetWindowSize(glfwGetCurrentContext(), 200, 300);
  for (int i = 0; i < 50 && width != 200; ++i) {
    frames(1);
    glfwGetFramebufferSize(glfwGetCurrentContext(), &width, &height);
  }
  assert_true(width == 200 && height == 300);
  frames(2);
  GLFWwindow* glfw = glfwGetCurrentContext();
  GLFWkeyfun on_key = glfwSetKeyCallback(glfw, NULL);
  on_key(glfw, GLFW_KEY_ESCAPE, 0, GLFW_PRESS, 0);
  VIEW_OK(tribo_view_window_frame(window, &open));
  assert_false(open);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_do_what_the_list_says),
      cmocka_unit_test(the_mouse_turns_moves_and_zooms),
      cmocka_unit_test(another_size_and_the_end),
  };
  return cmocka_run_group_tests(tests, open_window, close_window);
}
