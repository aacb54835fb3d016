// Dear ImGui behind C functions: one window with the state of the simulation, one with the keys.
#include <imgui.h>

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include "panel.h"

extern "C" int tribo_view_panel_open(void* window) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // no file is left behind
  ImGui::StyleColorsLight();
  if (ImGui_ImplGlfw_InitForOpenGL(static_cast<GLFWwindow*>(window), true)) {
    if (ImGui_ImplOpenGL3_Init("#version 330 core")) {
      return 1;
    }
    ImGui_ImplGlfw_Shutdown();
  }
  ImGui::DestroyContext();
  return 0;
}

extern "C" void tribo_view_panel_close(void) {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

extern "C" int tribo_view_panel_has_mouse(void) {
  return ImGui::GetIO().WantCaptureMouse ? 1 : 0;
}

static void state(Panel* panel) {
  const TriboPlayerStatus& s = panel->status;
  const TriboStepInfo& info = s.info;
  ImGui::SetNextWindowPos(ImVec2(10, 10), ImGuiCond_FirstUseEver);
  ImGui::SetNextWindowBgAlpha(0.8f);
  ImGui::Begin("simulation", nullptr, ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::Text("%.3f s, step %lld, speed x%g", s.time, s.steps, s.speed);
  ImGui::Text("%d contacts, %d islands, %.2f ms a step", info.contacts, info.islands, 1e3 * info.time);
  ImGui::Text("residual %.1e m/s, %s", info.residual.nat,
              info.certified || s.steps == 0 ? "certified" : "NOT certified");
  ImGui::Text("%.0f pictures a second", panel->frame > 0 ? 1 / panel->frame : 0.0);
  if (s.failure[0] != '\0') {
    ImGui::PushTextWrapPos(400);
    ImGui::TextColored(ImVec4(0.8f, 0, 0, 1), "%s", s.failure);
    ImGui::PopTextWrapPos();
  }
  if (ImGui::Button(s.paused ? "go on" : "pause")) panel->action = TRIBO_ACTION_PAUSE;
  ImGui::SameLine();
  if (ImGui::Button("step")) panel->action = TRIBO_ACTION_STEP;
  ImGui::SameLine();
  if (ImGui::Button("reset")) panel->action = TRIBO_ACTION_RESET;
  ImGui::SameLine();
  if (ImGui::Button("keys (F1)")) panel->action = TRIBO_ACTION_HELP;
  for (int i = 0; i < TRIBO_OVERLAY_COUNT; ++i) {
    bool on = panel->overlays >> i & 1;
    if (i > 0) ImGui::SameLine();
    if (ImGui::Checkbox(tribo_view_overlay_name(static_cast<TriboOverlay>(i)), &on)) {
      panel->action = TRIBO_ACTION_OVERLAY + i;
    }
  }
  ImGui::End();
}

static void keys(void) {
  ImGui::SetNextWindowPos(ImVec2(10, 190), ImGuiCond_FirstUseEver);
  ImGui::Begin("keys", nullptr, ImGuiWindowFlags_AlwaysAutoResize);
  for (int i = 0; i < TRIBO_ACTION_COUNT; ++i) {
    ImGui::Text("%-10s %s", tribo_view_action_key(i), tribo_view_action_doc(i));
  }
  ImGui::Text("%-10s %s", "mouse", "left turns, right or shift-left moves, wheel zooms");
  ImGui::End();
}

extern "C" void tribo_view_panel_draw(Panel* panel) {
  panel->action = -1;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  state(panel);
  if (panel->help) keys();
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}
