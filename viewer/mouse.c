// The mouse: it turns, moves and zooms the camera, selects bodies, pulls and pushes them.
#include "window.h"

double tribo_view_window_aspect(const TriboWindow* window) {
  int width, height;
  glfwGetFramebufferSize(window->glfw, &width, &height);
  return width > 0 && height > 0 ? (double)width / height : 1;
}

static void turn_about(const double axis[3], double angle, double v[3]) {
  const double s = sin(angle / 2), q[4] = {s * axis[0], s * axis[1], s * axis[2], cos(angle / 2)};
  tribo_quat_rotate(v, q, v);
}

// Around the target: sideways about what is up, up and down about the picture's own axis, never over the pole.
static void orbit(TriboCameraDef* camera, double sideways, double upwards) {
  double forward[3], right[3], above[3], up[3], arm[3];
  double distance = tribo_view_camera_axes(camera, forward, right, above, NULL);
  memcpy(up, camera->up, sizeof up);
  tribo_normalize3(up);
  for (int i = 0; i < 3; ++i) {
    arm[i] = camera->eye[i] - camera->target[i];
  }
  double height = asin(fmin(fmax(tribo_dot3(arm, up) / distance, -1), 1)), most = 1.5;
  turn_about(right, -(fmin(fmax(height + upwards, -most), most) - height), arm);
  turn_about(up, sideways, arm);
  for (int i = 0; i < 3; ++i) {
    camera->eye[i] = camera->target[i] + arm[i];
  }
}

// ---- what the mouse points at

static void mouse_ray(const TriboWindow* window, double direction[3]) {
  int width, height;
  glfwGetWindowSize(window->glfw, &width, &height);
  double x = 2 * window->mouse[0] / (width > 0 ? width : 1) - 1,
         y = 1 - 2 * window->mouse[1] / (height > 0 ? height : 1);
  tribo_view_camera_ray(&window->camera, tribo_view_window_aspect(window), x, y, direction);
}

int tribo_view_mouse_pick(const TriboWindow* window, TriboHit* hit) {
  double direction[3];
  mouse_ray(window, direction);
  return tribo_view_pick(window->list, window->camera.eye, direction, hit);
}

// The point under the mouse as deep in the picture as what is pulled. The ray's direction is 1 long along the view.
static void pull_target(const TriboWindow* window, double target[3]) {
  mouse_ray(window, target);
  for (int i = 0; i < 3; ++i) {
    target[i] = window->camera.eye[i] + window->depth * target[i];
  }
}

static void send_pull(TriboWindow* window, TriboPlayerCommand command, const TriboHit* hit) {
  TriboOrder order = {.command = command};
  if (hit != NULL) {
    order.index = hit->body;
    memcpy(order.point, hit->point, sizeof order.point);
  }
  pull_target(window, order.vector);
  tribo_view_player_order(window->player, &order);
}

// A push: along the line of sight, as fast as a metre a second for a picture of a metre.
static void push(TriboWindow* window, const TriboHit* hit) {
  TriboOrder order = {.command = TRIBO_PLAYER_PUSH, .index = hit->body};
  double direction[3];
  mouse_ray(window, direction);
  tribo_normalize3(direction);
  memcpy(order.point, hit->point, sizeof order.point);
  for (int i = 0; i < 3; ++i) {
    order.vector[i] = 0.5 * window->options.size * direction[i];
  }
  tribo_view_player_order(window->player, &order);
}

static void select_hit(TriboWindow* window) {
  TriboHit hit;
  window->panel.contact = -1;
  if (!tribo_view_mouse_pick(window, &hit)) {
    window->panel.selected = -1;
  } else if (hit.contact >= 0) {
    window->panel.contact = hit.contact;
  } else {
    window->panel.selected = hit.body == TRIBO_WORLD ? -1 : hit.body;
  }
}

// ---- what GLFW reports

// With control: left pulls the body under the mouse, right pushes it.
static int pull_or_push(TriboWindow* window, int button) {
  TriboHit hit;
  if (!tribo_view_mouse_pick(window, &hit) || hit.body == TRIBO_WORLD) {
    return 0;
  }
  if (button == GLFW_MOUSE_BUTTON_LEFT) {
    window->drag = DRAG_PULL;
    window->depth = hit.distance;
    send_pull(window, TRIBO_PLAYER_GRAB, &hit);
  } else {
    push(window, &hit);
  }
  return 1;
}

// Pressing decides what a drag does; one that starts on a panel is the panel's. A click without a drag selects.
static void on_button(GLFWwindow* glfw, int button, int pressed, int mods) {
  TriboWindow* window = glfwGetWindowUserPointer(glfw);
  window->last_activity = glfwGetTime();
  if (pressed != GLFW_PRESS) {
    const double dx = window->mouse[0] - window->pressed[0], dy = window->mouse[1] - window->pressed[1];
    if (window->drag == DRAG_PULL) {
      tribo_view_player_send(window->player, TRIBO_PLAYER_RELEASE, 0);
    } else if (window->drag == DRAG_ORBIT && hypot(dx, dy) < 4) {
      select_hit(window);
    }
    window->drag = DRAG_NONE;
    return;
  }
  if (tribo_view_panel_has_mouse()) {
    return;
  }
  memcpy(window->pressed, window->mouse, sizeof window->pressed);
  if (mods & GLFW_MOD_CONTROL && pull_or_push(window, button)) {
    return;
  }
  window->drag = button == GLFW_MOUSE_BUTTON_LEFT && !(mods & GLFW_MOD_SHIFT) ? DRAG_ORBIT : DRAG_PAN;
}

static void on_move(GLFWwindow* glfw, double x, double y) {
  TriboWindow* window = glfwGetWindowUserPointer(glfw);
  window->last_activity = glfwGetTime();
  TriboCameraDef* camera = &window->camera;
  double dx = x - window->mouse[0], dy = y - window->mouse[1];
  window->mouse[0] = x, window->mouse[1] = y;
  window->is_mounted = window->is_mounted && window->drag != DRAG_ORBIT && window->drag != DRAG_PAN;
  if (window->drag == DRAG_ORBIT) {
    orbit(camera, -0.006 * dx, 0.006 * dy);
  } else if (window->drag == DRAG_PULL) {
    send_pull(window, TRIBO_PLAYER_PULL, NULL);
  } else if (window->drag == DRAG_PAN) {
    // what is under the mouse stays there
    int width, height;
    double forward[3], right[3], above[3], distance = tribo_view_camera_axes(camera, forward, right, above, NULL);
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
  window->last_activity = glfwGetTime();
  TriboCameraDef* camera = &window->camera;
  double factor = pow(0.9, dy), forward[3], right[3], above[3];
  double distance = tribo_view_camera_axes(camera, forward, right, above, NULL) * factor;
  if (tribo_view_panel_has_mouse() || !(distance > 1e-5 && distance < 1e7)) {
    return;
  }
  window->is_mounted = 0;
  for (int i = 0; i < 3; ++i) {
    camera->eye[i] = camera->target[i] + factor * (camera->eye[i] - camera->target[i]);
  }
}

void tribo_view_mouse_connect(TriboWindow* window) {
  glfwSetMouseButtonCallback(window->glfw, on_button);
  glfwSetCursorPosCallback(window->glfw, on_move);
  glfwSetScrollCallback(window->glfw, on_scroll);
}

void tribo_view_camera_track(TriboWindow* window) {
  const TriboDrawFacts* facts = tribo_view_list_facts(window->list);
  double centre[3];
  if (window->tracked < 0) {
    return;
  }
  tribo_view_body_centre(facts, window->tracked, centre);
  for (int i = 0; i < 3; ++i) {
    window->camera.eye[i] += centre[i] - window->followed[i];
    window->camera.target[i] += centre[i] - window->followed[i];
    window->followed[i] = centre[i];
  }
}
