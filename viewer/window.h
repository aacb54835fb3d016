// Inside the window: what its files share.
#pragma once

#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "view_common.h"
#include "panel.h"

// A film in the making: every frame waits for its state, however long that takes.
typedef struct Film {
  TriboVideo* video;  // NULL: none
  TriboImage image;
  char path[300];
  double start;  // simulated time of the first frame [s]
  int frames, at;
} Film;

struct TriboWindow {
  GLFWwindow* glfw;
  TriboPlayer* player;
  TriboRenderer* renderer;
  const TriboDrawList* list;  // shown last
  TriboCameraDef camera;
  TriboDrawOptions options;
  Panel panel;
  Film film;
  char stem[200];
  int panel_open, watching;
  int camera_index;             // of the scene's cameras
  int is_mounted;               // 1: the camera is that one, and moves with its body
  int tracked;                  // body, −1: none
  double followed[3];           // where it was
  double mouse[2], pressed[2];  // where it is, where a button went down [screen coordinates]
  enum { DRAG_NONE, DRAG_ORBIT, DRAG_PAN, DRAG_PULL } drag;  // what moving the mouse does now
  double depth;                                              // of what is pulled, along the direction of view [m]
  double shown;                                              // when the last picture was shown [s]
  double last_activity;  // when something last moved: the simulation, a key, the mouse [s]
};

// mouse.c: mouse and camera.
void tribo_view_mouse_connect(TriboWindow* window);
double tribo_view_window_aspect(const TriboWindow* window);
// What is under the mouse; 0: nothing.
int tribo_view_mouse_pick(const TriboWindow* window, TriboHit* hit);
// The camera goes where the body that is followed has gone.
void tribo_view_camera_track(TriboWindow* window);
