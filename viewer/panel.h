// The widgets over the picture, made by Dear ImGui in imgui_shim.cpp. No C++ type shows here, and nothing is thrown.
#pragma once

#include "viewer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PanelId { PANEL_SOLVER, PANEL_TIMING, PANEL_CONTACTS, PANEL_PLOTS, PANEL_MOTORS, PANEL_COUNT } PanelId;

typedef struct Panel {
  // what is shown
  TriboPlayerStatus status;
  const TriboDrawFacts* facts;
  TriboCharts charts;
  double frame;      // time between pictures [s]
  double progress;   // of a film, −1: none is made
  char hover[160];   // at the mouse
  char notice[512];  // of the window: what was written
  int notice_wrong;
  // what both may change
  unsigned overlays, open;  // bits of TriboOverlay, of PanelId
  int help;                 // the list of keys is open
  int selected, contact;    // −1: none
  double force_scale;       // [m/N], 0: automatic
  double film;              // seconds of the next film
  // what was clicked
  int action;   // TriboAction, −1: none
  int camera;   // of the scene, −1: none
  int ordered;  // 1: there is an order
  TriboOrder order;
} Panel;

// 0: it could not be made. The window is a GLFWwindow whose context is current.
int tribo_view_panel_open(void* window);
void tribo_view_panel_close(void);
int tribo_view_panel_has_mouse(void);
int tribo_view_panel_has_keys(void);
void tribo_view_panel_draw(Panel* panel);

#ifdef __cplusplus
}
#endif
