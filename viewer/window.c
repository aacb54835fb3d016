// The window: GLFW for the screen, keys and mouse; the renderer for the picture; a player for the simulation.
#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "internal.h"
#include "panel.h"

struct TriboWindow {
  GLFWwindow* glfw;
  const TriboModel* model;
  TriboPlayer* player;
  TriboRenderer* renderer;
  const TriboDrawList* list;  // shown last
  TriboCameraDef camera;
  TriboDrawOptions options;
  Panel panel;
  int panel_open;
  int camera_index;  // of the scene's cameras
  double mouse[2];   // where it was last
  enum { HAND_FREE, HAND_TURNS, HAND_MOVES } hand;
  double shown;  // when the last picture was shown [s]
};

// ---- actions

static const struct {
  int key;
  const char *name, *doc;
} actions[] = {
#define X(id, code, name, doc) {GLFW_KEY_##code, name, doc},
    TRIBO_ACTIONS(X)
#undef X
#define X(id, code, key_name, name, doc) {GLFW_KEY_##code, key_name, doc},
        TRIBO_OVERLAYS(X)
#undef X
};

int tribo_view_action_code(int action) {
  return actions[action].key;
}
const char* tribo_view_action_key(int action) {
  return actions[action].name;
}
const char* tribo_view_action_doc(int action) {
  return actions[action].doc;
}

static double aspect_of(const TriboWindow* window) {
  int width, height;
  glfwGetFramebufferSize(window->glfw, &width, &height);
  return width > 0 && height > 0 ? (double)width / height : 1;
}

static void next_camera(TriboWindow* window) {
  int n = tribo_model_size(window->model).ncamera;
  if (n > 0) {
    window->camera_index = (window->camera_index + 1) % n;
    window->camera = *tribo_model_camera(window->model, window->camera_index);
  }
}

static void fit_camera(TriboWindow* window) {
  TriboCameraDef camera;
  if (tribo_view_camera(window->model, window->list, "auto", aspect_of(window), &camera) == TRIBO_OK) {
    window->camera = camera;
  }
}

static void act(TriboWindow* window, int action) {
  TriboPlayer* player = window->player;
  const TriboPlayerStatus status = tribo_view_player_status(player);
  switch (action) {
    case TRIBO_ACTION_PAUSE: tribo_view_player_send(player, TRIBO_PLAYER_PAUSE, !status.paused); return;
    case TRIBO_ACTION_STEP: tribo_view_player_send(player, TRIBO_PLAYER_STEP, 1); return;
    case TRIBO_ACTION_STEPS: tribo_view_player_send(player, TRIBO_PLAYER_STEP, 100); return;
    case TRIBO_ACTION_FASTER: tribo_view_player_send(player, TRIBO_PLAYER_SPEED, 2 * status.speed); return;
    case TRIBO_ACTION_SLOWER: tribo_view_player_send(player, TRIBO_PLAYER_SPEED, 0.5 * status.speed); return;
    case TRIBO_ACTION_RESET: tribo_view_player_send(player, TRIBO_PLAYER_RESET, 0); return;
    case TRIBO_ACTION_CAMERA: next_camera(window); return;
    case TRIBO_ACTION_FIT: fit_camera(window); return;
    case TRIBO_ACTION_HELP: window->panel.help = !window->panel.help; return;
    case TRIBO_ACTION_CLOSE: glfwSetWindowShouldClose(window->glfw, GLFW_TRUE); return;
    default: break;
  }
  if (action >= TRIBO_ACTION_OVERLAY && action < TRIBO_ACTION_COUNT) {
    window->options.overlays ^= 1u << (action - TRIBO_ACTION_OVERLAY);
  }
}

static void on_key(GLFWwindow* glfw, int key, int scancode, int pressed, int mods) {
  (void)scancode, (void)mods;
  for (int i = 0; i < TRIBO_ACTION_COUNT && pressed != GLFW_RELEASE; ++i) {
    if (actions[i].key == key) {
      act(glfwGetWindowUserPointer(glfw), i);
    }
  }
}

// ---- the camera in the hand

// Axes of the picture and the distance from eye to target.
static double picture_axes(const TriboCameraDef* camera, double right[3], double above[3]) {
  double back[3];
  for (int i = 0; i < 3; ++i) {
    back[i] = camera->eye[i] - camera->target[i];
  }
  double distance = normalize3(back);
  cross3(camera->up, back, right);
  normalize3(right);
  cross3(back, right, above);
  return distance;
}

static void turn_about(const double axis[3], double angle, double v[3]) {
  const double s = sin(angle / 2), q[4] = {s * axis[0], s * axis[1], s * axis[2], cos(angle / 2)};
  quat_rotate(q, v, v);
}

// Around the target: sideways about what is up, up and down about the picture's own axis, never over the pole.
static void orbit(TriboCameraDef* camera, double sideways, double upwards) {
  double right[3], above[3], up[3], arm[3];
  double distance = picture_axes(camera, right, above);
  memcpy(up, camera->up, sizeof up);
  normalize3(up);
  for (int i = 0; i < 3; ++i) {
    arm[i] = camera->eye[i] - camera->target[i];
  }
  double height = asin(fmin(fmax(dot3(arm, up) / distance, -1), 1)), most = 1.5;
  turn_about(right, -(fmin(fmax(height + upwards, -most), most) - height), arm);
  turn_about(up, sideways, arm);
  for (int i = 0; i < 3; ++i) {
    camera->eye[i] = camera->target[i] + arm[i];
  }
}

// Pressing decides what a drag does; one that starts on the panel is the panel's.
static void on_button(GLFWwindow* glfw, int button, int pressed, int mods) {
  TriboWindow* window = glfwGetWindowUserPointer(glfw);
  int turns = button == GLFW_MOUSE_BUTTON_LEFT && !(mods & GLFW_MOD_SHIFT);
  window->hand = pressed != GLFW_PRESS || tribo_view_panel_has_mouse() ? HAND_FREE : turns ? HAND_TURNS : HAND_MOVES;
}

static void on_move(GLFWwindow* glfw, double x, double y) {
  TriboWindow* window = glfwGetWindowUserPointer(glfw);
  TriboCameraDef* camera = &window->camera;
  double dx = x - window->mouse[0], dy = y - window->mouse[1];
  window->mouse[0] = x, window->mouse[1] = y;
  if (window->hand == HAND_TURNS) {
    orbit(camera, -0.006 * dx, 0.006 * dy);
  } else if (window->hand == HAND_MOVES) {
    // what is under the mouse stays there
    int width, height;
    double right[3], above[3], distance = picture_axes(camera, right, above);
    glfwGetWindowSize(glfw, &width, &height);
    double metres = 2 * distance * tan(camera->fov / 2) / (height > 0 ? height : 1);
    for (int i = 0; i < 3; ++i) {
      double by = metres * (-dx * right[i] + dy * above[i]);
      camera->eye[i] += by, camera->target[i] += by;
    }
  }
}

static void on_scroll(GLFWwindow* glfw, double dx, double dy) {
  (void)dx;
  TriboWindow* window = glfwGetWindowUserPointer(glfw);
  TriboCameraDef* camera = &window->camera;
  double factor = pow(0.9, dy), right[3], above[3], distance = picture_axes(camera, right, above) * factor;
  if (tribo_view_panel_has_mouse() || !(distance > 1e-5 && distance < 1e7)) {
    return;
  }
  for (int i = 0; i < 3; ++i) {
    camera->eye[i] = camera->target[i] + factor * (camera->eye[i] - camera->target[i]);
  }
}

// ---- life

static TriboStatus no_window(const char* what) {
  const char* why = NULL;
  glfwGetError(&why);
  return tribo_view_fail(TRIBO_UNSUPPORTED, "%s: %s; `tribo render` needs no screen", what,
                         why != NULL ? why : "no reason given");
}

static TriboStatus open_window(TriboWindow* window, const TriboWindowDef* def) {
  if (!glfwInit()) {
    return no_window("no window");
  }
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  window->glfw = glfwCreateWindow(def->width, def->height, def->title, NULL, NULL);
  if (window->glfw == NULL) {
    return no_window("no window with OpenGL 3.3");
  }
  glfwMakeContextCurrent(window->glfw);
  glfwSwapInterval(1);
  glfwSetWindowUserPointer(window->glfw, window);
  glfwSetKeyCallback(window->glfw, on_key);
  glfwSetMouseButtonCallback(window->glfw, on_button);
  glfwSetCursorPosCallback(window->glfw, on_move);
  glfwSetScrollCallback(window->glfw, on_scroll);
  window->panel_open = tribo_view_panel_open(window->glfw);
  return window->panel_open ? TRIBO_OK : tribo_view_fail(TRIBO_INTERNAL, "the widgets of the window do not start");
}

TriboStatus tribo_view_window_open(const TriboModel* model, TriboData* data, const TriboWindowDef* def,
                                   TriboWindow** out) {
  TriboWindow* window = calloc(1, sizeof *window);
  if (window == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a window");
  }
  *window = (TriboWindow){.model = model, .options = def->options};
  TriboStatus status = open_window(window, def);
  status = status == TRIBO_OK ? tribo_view_player_create(model, data, def->paused, &window->player) : status;
  if (status == TRIBO_OK) {
    window->list = tribo_view_player_list(window->player, &window->options);
    status = tribo_view_camera(model, window->list, def->camera, aspect_of(window), &window->camera);
  }
  status = status == TRIBO_OK ? tribo_view_renderer_create(window->list, &window->renderer) : status;
  if (status != TRIBO_OK) {
    tribo_view_window_close(window);
    return status;
  }
  *out = window;
  return TRIBO_OK;
}

TriboStatus tribo_view_window_frame(TriboWindow* window, int* open) {
  int width, height;
  double right[3], above[3], now = glfwGetTime();
  glfwPollEvents();
  *open = !glfwWindowShouldClose(window->glfw);
  glfwGetFramebufferSize(window->glfw, &width, &height);
  if (width < 1 || height < 1) {
    // nothing to see of it: do not spin
    glfwWaitEventsTimeout(0.05);
    return TRIBO_OK;
  }
  window->options.size = 2 * picture_axes(&window->camera, right, above) * tan(window->camera.fov / 2);
  window->list = tribo_view_player_list(window->player, &window->options);
  VIEW_TRY(tribo_view_renderer_show(window->renderer, window->list, &window->camera, width, height));
  Panel* panel = &window->panel;
  panel->status = tribo_view_player_status(window->player);
  panel->overlays = window->options.overlays;
  panel->frame = 0.9 * panel->frame + 0.1 * (now - window->shown);
  window->shown = now;
  tribo_view_panel_draw(panel);
  if (panel->action >= 0) {
    act(window, panel->action);
  }
  glfwSwapBuffers(window->glfw);
  return TRIBO_OK;
}

void tribo_view_window_close(TriboWindow* window) {
  if (window == NULL) {
    return;
  }
  tribo_view_player_destroy(window->player);
  tribo_view_renderer_destroy(window->renderer);
  if (window->panel_open) {
    tribo_view_panel_close();
  }
  if (window->glfw != NULL) {
    glfwDestroyWindow(window->glfw);
  }
  glfwTerminate();
  free(window);
}

TriboPlayer* tribo_view_window_player(TriboWindow* window) {
  return window->player;
}
const TriboCameraDef* tribo_view_window_camera(const TriboWindow* window) {
  return &window->camera;
}
unsigned tribo_view_window_overlays(const TriboWindow* window) {
  return window->options.overlays;
}
