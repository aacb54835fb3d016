// The widgets over the picture, made by Dear ImGui in imgui_shim.cpp. No C++ type shows here, and nothing is thrown.
#pragma once

#include "viewer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Panel {
  TriboPlayerStatus status;
  unsigned overlays;
  double frame;  // time between pictures [s]
  int help;      // 1: the list of keys is open
  int action;    // out: what was clicked, −1 for nothing
} Panel;

// 0: it could not be made. The window is a GLFWwindow whose context is current.
int tribo_view_panel_open(void* window);
void tribo_view_panel_close(void);
int tribo_view_panel_has_mouse(void);
void tribo_view_panel_draw(Panel* panel);

#ifdef __cplusplus
}
#endif
