// The window on a screen (of Xvfb): every key, the mouse, another size, and closing. Keys and mouse come in where GLFW
// would bring them, so that the widgets see them too.
#include <stdlib.h>
#include <unistd.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "worlds.h"

static TriboWindow* window;

// A red box on the ground, and two cameras.
static TriboStatus build(void* user, TriboScene** out) {
  (void)user;
  World world = world_begin();
  world_ground(&world);
  TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 1, 1, 1);
  world_paint(&box, 0.9, 0.1, 0.1, 1);
  world_body(&world, &box, 0, 0, 0.5, NULL);
  TriboCameraDef camera = tribo_camera_default();
  CHECK_OK(tribo_scene_add_camera(world.scene, &camera));
  camera.eye[2] = 9;
  CHECK_OK(tribo_scene_add_camera(world.scene, &camera));
  *out = world.scene;
  return TRIBO_OK;
}

static int open_window(void** state) {
  (void)state;
  const TriboWindowDef def = {
      .title = "test", .stem = "test", .width = 640, .height = 480, .player = {.scene = build, .paused = 1}};
  // what the window saves goes where it runs
  enter_scratch();
  if (tribo_view_window_open(&def, &window) != TRIBO_OK) {
    leave_scratch();
    print_message("skipped: %s\n", tribo_view_error());
    exit(77);
  }
  return 0;
}

static int close_window(void** state) {
  (void)state;
  tribo_view_window_close(window);
  leave_scratch();
  return 0;
}

static void frames(int n) {
  for (int i = 0, open; i < n; ++i) {
    VIEW_OK(tribo_view_window_frame(window, &open));
    assert_true(open);
  }
}

static void tap(int key) {
  GLFWwindow* glfw = glfwGetCurrentContext();
  GLFWkeyfun on_key = glfwSetKeyCallback(glfw, NULL);
  glfwSetKeyCallback(glfw, on_key);
  on_key(glfw, key, 0, GLFW_PRESS, 0);
  on_key(glfw, key, 0, GLFW_RELEASE, 0);
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

static TriboWindowState window_state(void) {
  return tribo_view_window_state(window);
}

static double distance(void) {
  const TriboCameraDef c = window_state().camera;
  return sqrt(pow(c.eye[0] - c.target[0], 2) + pow(c.eye[1] - c.target[1], 2) + pow(c.eye[2] - c.target[2], 2));
}

static void pixel(int x, int y, unsigned char rgb[3]) {
  VIEW_OK(tribo_view_window_read(window, x, y, rgb));
}

static void do_action(int action) {
  tap(tribo_view_action_code(action));
  frames(1);
}

static void keys_do_what_the_list_says(void** state) {
  (void)state;
  assert_true(settled().paused);
  do_action(TRIBO_ACTION_STEP);
  assert_int_equal(settled().steps, 1);
  do_action(TRIBO_ACTION_STEPS);
  assert_int_equal(settled().steps, 101);
  do_action(TRIBO_ACTION_BACK);
  assert_int_equal(settled().steps, 100);
  do_action(TRIBO_ACTION_BACKS);
  assert_int_equal(settled().steps, 0);
  do_action(TRIBO_ACTION_STEP);
  do_action(TRIBO_ACTION_RESET);
  assert_int_equal(settled().steps, 0);
  do_action(TRIBO_ACTION_FASTER);
  do_action(TRIBO_ACTION_FASTER);
  CHECK_NEAR(settled().speed, 4, 0);
  do_action(TRIBO_ACTION_SLOWER);
  CHECK_NEAR(settled().speed, 2, 0);
  do_action(TRIBO_ACTION_FASTEST);
  assert_true(isinf(settled().speed));
  do_action(TRIBO_ACTION_SLOWER);
  CHECK_NEAR(settled().speed, 16, 0);
  do_action(TRIBO_ACTION_FASTER);
  assert_true(isinf(settled().speed));
  do_action(TRIBO_ACTION_FASTEST);
  CHECK_NEAR(settled().speed, 1, 0);
  do_action(TRIBO_ACTION_PAUSE);
  assert_false(settled().paused);
  do_action(TRIBO_ACTION_PAUSE);
  assert_true(settled().paused);
  for (int i = 0; i < TRIBO_OVERLAY_COUNT; ++i) {
    do_action(TRIBO_ACTION_OVERLAY + i);
    assert_int_equal(window_state().overlays, (2u << i) - 1);
  }
  for (int i = 0; i < TRIBO_OVERLAY_COUNT; ++i) {
    tap(tribo_view_action_code(TRIBO_ACTION_OVERLAY + i));
  }
  assert_int_equal(window_state().overlays, 0);
  do_action(TRIBO_ACTION_CAMERA);
  CHECK_NEAR(window_state().camera.eye[2], 9, 0);
  do_action(TRIBO_ACTION_CAMERA);
  CHECK_NEAR(window_state().camera.eye[2], 3, 0);
  do_action(TRIBO_ACTION_FIT);
  CHECK_NEAR(window_state().camera.target[2], 0.5, 1e-3);
  do_action(TRIBO_ACTION_RELOAD);
  assert_non_null(strstr(settled().notice, "reloaded"));
  do_action(TRIBO_ACTION_HELP);
  frames(2);
  do_action(TRIBO_ACTION_HELP);
  // no key twice, and every one is told
  for (int i = 0; i < TRIBO_ACTION_COUNT; ++i) {
    assert_true(strlen(tribo_view_action_key(i)) > 0 && strlen(tribo_view_action_doc(i)) > 0);
    for (int k = 0; k < i; ++k) {
      assert_true(tribo_view_action_code(i) != tribo_view_action_code(k));
    }
  }
}

static void panels_stand_over_the_picture(void** state) {
  (void)state;
  unsigned char bare[3], covered[3], box[3];
  do_action(TRIBO_ACTION_FIT);
  do_action(TRIBO_ACTION_STEPS);
  settled();
  frames(3);
  pixel(290, 270, box);
  assert_true(box[0] > 2 * box[1] && box[0] > 2 * box[2]);
  pixel(600, 100, bare);
  assert_int_equal(window_state().panels, 0);
  do_action(TRIBO_ACTION_PANELS);
  assert_int_equal(window_state().panels, 31);
  do_action(TRIBO_ACTION_STEPS);
  settled();
  frames(5);
  // light panels over a dark ground
  pixel(600, 100, covered);
  assert_true(covered[0] + covered[1] + covered[2] > bare[0] + bare[1] + bare[2] + 60);
  TriboCharts charts;
  tribo_view_player_charts(tribo_view_window_player(window), &charts);
  assert_true(charts.niteration > 0);  // the solver's panel has asked for it
  do_action(TRIBO_ACTION_PANELS);
  frames(2);
  pixel(600, 100, covered);
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(covered[i], bare[i], 3);
  }
}

static void click(double x, double y) {
  move(x, y);
  frames(1);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0);
  frames(1);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  frames(1);
}

// The panel of the simulation has a checkbox for each overlay, four in a row below "show"; a line of the table of
// contacts selects what it tells of.
static void widgets_do_what_keys_do(void** state) {
  (void)state;
  // without a notice, which would take a line
  do_action(TRIBO_ACTION_RESET);
  settled();
  frames(2);
  click(200, 190);
  // the first and the last of each row
  for (int i = 0; i < TRIBO_OVERLAY_COUNT; i += i % 4 == 0 ? 3 : 1) {
    const double x = 28 + 101 * (i % 4), y = 213 + 23 * (i / 4);
    click(x, y);
    if (window_state().overlays != 1u << i) {
      print_error("a click at (%g, %g) gave overlays %x, expected %x\n", x, y, window_state().overlays, 1u << i);
      fail();
    }
    tap(tribo_view_action_code(TRIBO_ACTION_OVERLAY + i));
    assert_int_equal(window_state().overlays, 0);
  }
  click(200, 190);
  do_action(TRIBO_ACTION_RESET);
  do_action(TRIBO_ACTION_STEPS);
  do_action(TRIBO_ACTION_PANELS);
  settled();
  frames(3);
  assert_int_equal(window_state().contact, -1);
  click(60, 288);
  assert_int_equal(window_state().contact, 0);
  assert_int_equal(window_state().selected, 0);
  frames(1);  // what is selected is told beside the panels
  do_action(TRIBO_ACTION_PANELS);
}

static void files_are_written_where_it_runs(void** state) {
  (void)state;
  do_action(TRIBO_ACTION_RESET);
  do_action(TRIBO_ACTION_STEPS);
  settled();
  frames(1);
  do_action(TRIBO_ACTION_PICTURE);
  assert_string_equal(window_state().notice, "wrote test_0.100s.png");
  do_action(TRIBO_ACTION_SAVE);
  assert_non_null(strstr(settled().notice, "saved test_0.100s.state"));
  assert_true(access("test_0.100s.png", R_OK) == 0 && access("test_0.100s.state", R_OK) == 0);
  unlink("test_0.100s.png");
  unlink("test_0.100s.state");
  // a film: five seconds, ended after three frames
  do_action(TRIBO_ACTION_FILM);
  if (!window_state().filming) {
    print_message("no film: %s\n", window_state().notice);
    return;
  }
  frames(2);
  do_action(TRIBO_ACTION_FILM);
  assert_false(window_state().filming);
  assert_string_equal(window_state().notice, "wrote test_0.100s.mp4, 3 frames");
  assert_int_equal(access("test_0.100s.mp4", R_OK), 0);
  unlink("test_0.100s.mp4");
  // 30 frames a second of simulated time, not of this machine's
  CHECK_NEAR(settled().time, 0.1 + 2.0 / 30, 6e-4);
}

// Where a point of the world shows in the window; z is up.
static void project(const double p[3], double out[2]) {
  const TriboCameraDef c = window_state().camera;
  double f[3], d[3], n = distance(), x = 0, y = 0, z = 0;
  for (int i = 0; i < 3; ++i) {
    f[i] = (c.target[i] - c.eye[i]) / n;
    d[i] = p[i] - c.eye[i];
    z += f[i] * d[i];
  }
  const double side = hypot(f[0], f[1]), right[3] = {f[1] / side, -f[0] / side, 0};
  const double above[3] = {right[1] * f[2], -right[0] * f[2], right[0] * f[1] - right[1] * f[0]};
  for (int i = 0; i < 3; ++i) {
    x += right[i] * d[i], y += above[i] * d[i];
  }
  const double scale = 240 / (z * tan(c.fov / 2));
  out[0] = 320 + scale * x, out[1] = 240 - scale * y;
}

static void the_mouse_takes_and_drops(void** state) {
  (void)state;
  do_action(TRIBO_ACTION_RESET);
  do_action(TRIBO_ACTION_FIT);
  settled();
  frames(2);
  // pointing tells the name, a click selects, one into the sky lets go
  move(320, 250);
  frames(2);
  assert_string_equal(window_state().hover, "body0");
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  frames(3);
  assert_int_equal(window_state().selected, 0);
  do_action(TRIBO_ACTION_TRACK);
  assert_int_equal(window_state().tracked, 0);
  // with control it is pulled: up, and the camera that follows goes with it
  const double eye = window_state().camera.eye[2];
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, GLFW_MOD_CONTROL);
  move(320, 60);
  do_action(TRIBO_ACTION_STEPS);
  do_action(TRIBO_ACTION_STEPS);
  do_action(TRIBO_ACTION_STEPS);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  settled();
  frames(3);
  assert_true(window_state().camera.eye[2] > eye + 0.1);
  do_action(TRIBO_ACTION_TRACK);
  assert_int_equal(window_state().tracked, -1);
  // pushed it flies along the line of sight
  do_action(TRIBO_ACTION_RESET);
  do_action(TRIBO_ACTION_FIT);
  settled();
  frames(3);
  move(320, 250);
  frames(2);
  button(GLFW_MOUSE_BUTTON_RIGHT, GLFW_PRESS, GLFW_MOD_CONTROL);
  button(GLFW_MOUSE_BUTTON_RIGHT, GLFW_RELEASE, GLFW_MOD_CONTROL);
  do_action(TRIBO_ACTION_STEP);
  const TriboDrawOptions options = {0};
  settled();
  const TriboDrawFacts* facts =
      tribo_view_list_facts(tribo_view_player_wait(tribo_view_window_player(window), &options));
  assert_true(hypot(facts->velocity[0], facts->velocity[1]) > 0.1);
  // one into the sky lets go
  move(630, 4);
  frames(2);
  assert_string_equal(window_state().hover, "");
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  assert_int_equal(window_state().selected, -1);
  // a contact tells what it carries
  do_action(TRIBO_ACTION_RESET);
  do_action(TRIBO_ACTION_STEPS);
  do_action(TRIBO_ACTION_OVERLAY + TRIBO_OVERLAY_FORCES);
  settled();
  frames(3);
  facts = tribo_view_list_facts(tribo_view_player_wait(tribo_view_window_player(window), &options));
  const TriboContactView contact = facts->contacts[0];
  double at[2];
  project(contact.point, at);
  move(at[0], at[1] - 3);
  frames(3);
  char expected[80];
  const double* force = contact.force;
  snprintf(expected, sizeof expected, "world.shape0 - body0: %.4g N",
           sqrt(force[0] * force[0] + force[1] * force[1] + force[2] * force[2]));
  assert_string_equal(window_state().hover, expected);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  assert_int_equal(window_state().contact, 0);
  do_action(TRIBO_ACTION_OVERLAY + TRIBO_OVERLAY_FORCES);
  // more bodies
  do_action(TRIBO_ACTION_BOX);
  do_action(TRIBO_ACTION_BALL);
  settled();
  facts = tribo_view_list_facts(tribo_view_player_wait(tribo_view_window_player(window), &options));
  assert_int_equal(tribo_model_size(facts->model).nbody, 3);
  frames(3);
  do_action(TRIBO_ACTION_STEPS);
  settled();
  do_action(TRIBO_ACTION_RELOAD);
  settled();
  frames(3);
}

static void the_mouse_turns_moves_and_zooms(void** state) {
  (void)state;
  TriboCameraDef before;
  glfwFocusWindow(glfwGetCurrentContext());
  frames(2);
  move(320, 440);
  frames(2);
  // turning keeps target and distance, and never goes over the pole
  before = window_state().camera;
  double d = distance();
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0);
  move(250, 180);
  for (int i = 0; i < 20; ++i) {
    move(250, 180 + 40 * i);
  }
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  move(320, 440);
  TriboCameraDef now = window_state().camera;
  CHECK_NEAR(distance(), d, 1e-9 * d);
  assert_true(fabs(now.eye[0] - before.eye[0]) > 0.01 * d);
  CHECK_NEAR(now.target[0], before.target[0], 0);
  CHECK_NEAR((now.eye[2] - now.target[2]) / d, sin(1.5), 1e-6);
  frames(2);
  // moving shifts eye and target alike
  before = window_state().camera;
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, GLFW_MOD_SHIFT);
  move(300, 440);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  now = window_state().camera;
  double shift = 0;
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(now.eye[i] - before.eye[i], now.target[i] - before.target[i], 1e-12);
    shift += pow(now.eye[i] - before.eye[i], 2);
  }
  CHECK_NEAR(sqrt(shift), 20 * 2 * d * tan(now.fov / 2) / 480, 1e-6);
  scroll(1);
  CHECK_NEAR(distance(), 0.9 * d, 1e-9);
  scroll(-1);
  CHECK_NEAR(distance(), d, 1e-9);
  // a drag that starts on the panel is not for the camera
  move(40, 30);
  frames(2);
  before = window_state().camera;
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_PRESS, 0);
  move(60, 60);
  button(GLFW_MOUSE_BUTTON_LEFT, GLFW_RELEASE, 0);
  now = window_state().camera;
  CHECK_NEAR(now.eye[0], before.eye[0], 0);
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
      cmocka_unit_test(keys_do_what_the_list_says), cmocka_unit_test(panels_stand_over_the_picture),
      cmocka_unit_test(widgets_do_what_keys_do),    cmocka_unit_test(files_are_written_where_it_runs),
      cmocka_unit_test(the_mouse_takes_and_drops),  cmocka_unit_test(the_mouse_turns_moves_and_zooms),
      cmocka_unit_test(another_size_and_the_end),
  };
  return cmocka_run_group_tests(tests, open_window, close_window);
}
