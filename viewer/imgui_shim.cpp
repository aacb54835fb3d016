// Dear ImGui behind C functions: the panels of the window. What is clicked is written into the Panel; nothing else is
// decided here.
#include <imgui.h>

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "panel.h"

extern "C" int tribo_view_panel_open(void* window) {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // no file is left behind
  ImGui::StyleColorsLight();
  ImGui::GetStyle().WindowRounding = 4;
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

extern "C" int tribo_view_panel_has_keys(void) {
  return ImGui::GetIO().WantTextInput ? 1 : 0;
}

static const char* const panel_names[PANEL_COUNT] = {"solver", "timing", "contacts", "plots", "motors"};

// Where each panel opens: from the left if x is positive, from the right otherwise.
static const struct {
  float x, y, width, height;
} places[PANEL_COUNT] = {
    {-350, 10, 340, 330}, {-350, 345, 340, 195}, {10, 235, 412, 240}, {-350, 545, 340, 170}, {10, 480, 412, 120}};

static bool begin(Panel* panel, PanelId id) {
  if (!(panel->open >> id & 1)) return false;
  bool open = true;
  const auto& place = places[id];
  const float right = std::fmax(ImGui::GetIO().DisplaySize.x + place.x, 0.f);
  ImGui::SetNextWindowPos(ImVec2(place.x > 0 ? place.x : right, place.y), ImGuiCond_FirstUseEver);
  ImGui::SetNextWindowSize(ImVec2(place.width, place.height), ImGuiCond_FirstUseEver);
  ImGui::SetNextWindowBgAlpha(0.85f);
  ImGui::Begin(panel_names[id], &open);
  if (!open) panel->open &= ~(1u << id);
  return true;
}

static ImVec2 wide(float height) {
  return ImVec2(ImGui::GetContentRegionAvail().x, height);
}

static void give_order(Panel* panel, TriboPlayerCommand command, int index, double value, const char* text) {
  panel->order = TriboOrder();
  panel->order.command = command;
  panel->order.index = index;
  panel->order.value = value;
  std::strncpy(panel->order.text, text, sizeof panel->order.text - 1);
  panel->ordered = 1;
}

static void colored(int wrong, const char* text) {
  ImGui::PushTextWrapPos(400);
  ImGui::TextColored(wrong ? ImVec4(0.8f, 0, 0, 1) : ImVec4(0.1f, 0.4f, 0.1f, 1), "%s", text);
  ImGui::PopTextWrapPos();
}

// ---- simulation

static void button(Panel* panel, const char* text, int action, bool next = true) {
  if (ImGui::Button(text)) panel->action = action;
  if (next) ImGui::SameLine();
}

static void speed_of(const TriboPlayerStatus& s, char* text, size_t size) {
  if (std::isinf(s.speed)) {
    std::snprintf(text, size, "as fast as it goes (x%.2g)", s.rate);
  } else if (s.speed < 1) {
    std::snprintf(text, size, "speed x1/%g", 1 / s.speed);
  } else {
    std::snprintf(text, size, "speed x%g", s.speed);
  }
}

static void cameras(Panel* panel) {
  const TriboModel* model = panel->facts->model;
  const int n = tribo_model_size(model).ncamera;
  if (n == 0) return;
  if (ImGui::BeginCombo("camera", "of the scene")) {
    for (int i = 0; i < n; ++i) {
      const char* name = tribo_model_camera(model, i)->name;
      char text[80];
      std::snprintf(text, sizeof text, "%d %s", i, name != nullptr ? name : "");
      if (ImGui::Selectable(text)) panel->camera = i;
    }
    ImGui::EndCombo();
  }
}

static void film(Panel* panel) {
  if (panel->progress >= 0) {
    ImGui::ProgressBar(static_cast<float>(panel->progress), ImVec2(-60, 0));
    ImGui::SameLine();
    button(panel, "end", TRIBO_ACTION_FILM, false);
    return;
  }
  float seconds = static_cast<float>(panel->film);
  ImGui::SetNextItemWidth(120);
  if (ImGui::SliderFloat("s", &seconds, 0.1f, 60, "%.1f", ImGuiSliderFlags_Logarithmic)) panel->film = seconds;
  ImGui::SameLine();
  button(panel, "film (F4)", TRIBO_ACTION_FILM);
  button(panel, "picture (F3)", TRIBO_ACTION_PICTURE);
  button(panel, "state (F2)", TRIBO_ACTION_SAVE, false);
}

static void overlays(Panel* panel) {
  for (int i = 0; i < TRIBO_OVERLAY_COUNT; ++i) {
    bool on = panel->overlays >> i & 1;
    if (i % 4 != 0) ImGui::SameLine(static_cast<float>(8 + 101 * (i % 4)));
    if (ImGui::Checkbox(tribo_view_overlay_name(static_cast<TriboOverlay>(i)), &on)) {
      panel->action = TRIBO_ACTION_OVERLAY + i;
    }
    if (ImGui::IsItemHovered()) {
      ImGui::SetTooltip("%s: %s", tribo_view_action_key(TRIBO_ACTION_OVERLAY + i),
                        tribo_view_action_doc(TRIBO_ACTION_OVERLAY + i));
    }
  }
  bool automatic = panel->force_scale <= 0;
  if (ImGui::Checkbox("automatic arrows", &automatic)) panel->force_scale = automatic ? 0 : 1e-3;
  if (!automatic) {
    float scale = static_cast<float>(panel->force_scale);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(150);
    if (ImGui::SliderFloat("m/N", &scale, 1e-7f, 10, "%.2g", ImGuiSliderFlags_Logarithmic)) panel->force_scale = scale;
  }
}

// The panel that is always open: time, pace, notices, buttons, overlays.
static void simulation(Panel* panel) {
  const TriboPlayerStatus& s = panel->status;
  const TriboStepInfo& info = s.info;
  char speed[64];
  speed_of(s, speed, sizeof speed);
  ImGui::SetNextWindowPos(ImVec2(10, 10), ImGuiCond_FirstUseEver);
  ImGui::SetNextWindowBgAlpha(0.85f);
  ImGui::Begin("simulation", nullptr, ImGuiWindowFlags_AlwaysAutoResize);
  if (s.rows > 0) {
    int row = static_cast<int>(s.steps);
    ImGui::Text("%.3f s of a recorded motion, %s", s.time, speed);
    if (ImGui::SliderInt("row", &row, 0, static_cast<int>(s.rows) - 1)) {
      give_order(panel, TRIBO_PLAYER_SEEK, 0, row, "");
    }
    ImGui::Text("%d contacts", panel->facts->ncontact);
  } else {
    ImGui::Text("%.3f s, step %lld, %s", s.time, s.steps, speed);
    ImGui::Text("%d contacts, %d islands, %.2f ms a step", info.contacts, info.islands, 1e3 * info.time);
    ImGui::Text("residual %.1e m/s, %s", info.residual.nat, info.certified ? "certified" : "NOT certified: ");
    if (!info.certified) {
      ImGui::SameLine(0, 0);
      ImGui::TextUnformatted(tribo_reason_word(info.reason));
    }
  }
  ImGui::Text("%.0f frames per second", panel->frame > 0 ? 1 / panel->frame : 0.0);
  if (s.failure[0] != '\0') colored(1, s.failure);
  if (s.notice[0] != '\0') colored(s.wrong, s.notice);
  if (panel->notice[0] != '\0') colored(panel->notice_wrong, panel->notice);
  button(panel, s.paused ? "continue" : "pause", TRIBO_ACTION_PAUSE);
  button(panel, "<", TRIBO_ACTION_BACK);
  button(panel, ">", TRIBO_ACTION_STEP);
  button(panel, "slower", TRIBO_ACTION_SLOWER);
  button(panel, "faster", TRIBO_ACTION_FASTER);
  button(panel, "reset", TRIBO_ACTION_RESET);
  button(panel, "keys (F1)", TRIBO_ACTION_HELP, false);
  film(panel);
  cameras(panel);
  if (ImGui::CollapsingHeader("show")) overlays(panel);
  for (int i = 0; i < PANEL_COUNT; ++i) {
    bool on = panel->open >> i & 1;
    if (i > 0) ImGui::SameLine();
    if (ImGui::Checkbox(panel_names[i], &on)) panel->open ^= 1u << i;
  }
  ImGui::End();
}

// ---- what is selected

static void row3(const char* name, const double* v, const char* unit) {
  ImGui::Text("%-9s %10.4g %10.4g %10.4g %s", name, v[0], v[1], v[2], unit);
}

// Mass, pose, velocity and forces of the selected body.
static void selection(Panel* panel) {
  const TriboDrawFacts* f = panel->facts;
  const int b = panel->selected;
  if (b < 0) return;
  const TriboBodyInfo* body = tribo_model_body(f->model, b);
  const double* q = f->quaternion + 4 * b;
  TriboBodyForces forces;
  int touching = 0;
  for (int i = 0; i < f->ncontact; ++i) {
    touching += f->contacts[i].body_a == b || f->contacts[i].body_b == b;
  }
  const bool known = tribo_view_body_forces(f, b, &forces) != 0;
  // on the left, unless other panels are there
  const float x = panel->open & (1u << PANEL_CONTACTS | 1u << PANEL_MOTORS) ? 430 : 10;
  ImGui::SetNextWindowPos(ImVec2(x, ImGui::GetIO().DisplaySize.y - 310), ImGuiCond_FirstUseEver);
  ImGui::SetNextWindowBgAlpha(0.85f);
  ImGui::Begin("selected", nullptr, ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::Text("%s, %.6g kg, %d contacts", body->name, body->mass, touching);
  row3("position", f->position + 3 * b, "m");
  ImGui::Text("%-9s %10.4g %10.4g %10.4g %10.4g", "rotation", q[0], q[1], q[2], q[3]);
  row3("velocity", f->velocity + 3 * b, "m/s");
  row3("spin", f->omega + 3 * b, "rad/s");
  ImGui::Separator();
  row3("gravity", forces.gravity, "N");
  row3("contacts", forces.contacts, "N");
  row3(" torque", forces.contacts + 3, "N m");
  if (known) {
    row3("others", forces.others, "N");
    if (ImGui::IsItemHovered()) {
      ImGui::SetTooltip("joints, motors, closures, drag, forces of the scene, the mouse");
    }
    row3(" torque", forces.others + 3, "N m");
    row3("net", forces.net, "N");
    row3(" torque", forces.net + 3, "N m");
  } else {
    ImGui::TextUnformatted("others, net: after the next step");
  }
  button(panel, "follow (G)", TRIBO_ACTION_TRACK);
  if (ImGui::Button("let go")) panel->selected = -1;
  ImGui::End();
}

// ---- panels

static void choose_solver(Panel* panel) {
  const TriboWorldDef* world = tribo_model_world(panel->facts->model);
  if (ImGui::BeginCombo("solver", world->solver)) {
    for (int i = 0; i < tribo_solver_count(); ++i) {
      const TriboSolverInfo* info = tribo_solver_info(i);
      if (ImGui::Selectable(info->id, std::strcmp(info->id, world->solver) == 0)) {
        give_order(panel, TRIBO_PLAYER_SOLVER, 0, 0, info->id);
      }
      if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", info->summary);
    }
    ImGui::EndCombo();
  }
  double tol = world->tol, dt = world->dt;
  const ImGuiInputTextFlags enter = ImGuiInputTextFlags_EnterReturnsTrue;
  if (ImGui::InputDouble("tol m/s", &tol, 0, 0, "%.2e", enter)) {
    give_order(panel, TRIBO_PLAYER_SET, 0, tol, "tol");
  }
  if (ImGui::InputDouble("step s", &dt, 0, 0, "%.3e", enter)) give_order(panel, TRIBO_PLAYER_SET, 0, dt, "dt");
}

// Choice of the solver, residuals and iterations.
static void solver(Panel* panel) {
  const TriboCharts& c = panel->charts;
  const TriboStepInfo& info = panel->status.info;
  if (!begin(panel, PANEL_SOLVER)) return;
  choose_solver(panel);
  char rungs[200] = "";
  for (int i = 0; i < TRIBO_RUNG_COUNT; ++i) {
    if (info.rungs >> i & 1) {
      std::strncat(rungs, " ", sizeof rungs - std::strlen(rungs) - 1);
      std::strncat(rungs, tribo_rung_name(static_cast<TriboRung>(i)), sizeof rungs - std::strlen(rungs) - 1);
    }
  }
  ImGui::Text("%d iterations, %d factorisations", info.iterations, info.factorisations);
  ImGui::Text("answered by:%s", rungs[0] != '\0' ? rungs : " nothing to solve");
  if (info.worst[0] != '\0') {
    // the font has no dashes
    char worst[sizeof info.worst];
    std::memcpy(worst, info.worst, sizeof worst);
    if (char* dash = std::strstr(worst, "\u2013")) {
      *dash = '-';
      std::memmove(dash + 1, dash + 3, std::strlen(dash + 3) + 1);
    }
    ImGui::TextWrapped("worst: %s", worst);
  }
  ImGui::Text("energy unexplained %.1e J, pushing out %.1e J", info.balance, info.push_out_work);
  ImGui::Text("log10 residual by iteration, longest solve");
  ImGui::PlotLines("##by iteration", c.iteration, c.niteration, 0, nullptr, -18, 2, wide(70));
  ImGui::Text("log10 residual, step by step");
  ImGui::PlotLines("##residual", c.residual, c.nstep, c.nstep == TRIBO_CHART_STEPS ? c.step_at : 0, nullptr, -18, 0,
                   wide(50));
  ImGui::Text("iterations, step by step");
  ImGui::PlotHistogram("##iterations", c.iterations, c.nstep, c.nstep == TRIBO_CHART_STEPS ? c.step_at : 0, nullptr, 0,
                       FLT_MAX, wide(50));
  ImGui::End();
}

static ImU32 stage_color(int stage) {
  const ImVec4 c = ImColor::HSV(static_cast<float>(stage) / TRIBO_STAGE_COUNT, 0.6f, 0.8f);
  return ImGui::ColorConvertFloat4ToU32(c);
}

// One bar per step, one colour per stage, stacked.
static void timing(Panel* panel) {
  const TriboCharts& c = panel->charts;
  if (!begin(panel, PANEL_TIMING)) return;
  float all = 0, mean[TRIBO_STAGE_COUNT] = {0};
  for (int k = 0; k < TRIBO_STAGE_COUNT; ++k) {
    for (int i = 0; i < c.nstep; ++i) mean[k] += c.stage[k][i] / static_cast<float>(c.nstep);
    all += mean[k];
  }
  // a step that was held up by others would make all the rest invisible
  const float most = std::fmax(3 * all, 1e-6f);
  const ImVec2 at = ImGui::GetCursorScreenPos(), size = wide(90);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float pitch = size.x / TRIBO_CHART_STEPS;
  for (int i = 0; i < c.nstep; ++i) {
    const int from = c.nstep == TRIBO_CHART_STEPS ? (c.step_at + i) % TRIBO_CHART_STEPS : i;
    float y = at.y + size.y, x = at.x + pitch * static_cast<float>(i);
    for (int k = 0; k < TRIBO_STAGE_COUNT; ++k) {
      const float high = std::fmin(size.y * c.stage[k][from] / most, y - at.y);
      draw->AddRectFilled(ImVec2(x, y - high), ImVec2(x + std::fmax(pitch, 1.f), y), stage_color(k));
      y -= high;
    }
  }
  ImGui::Dummy(size);
  ImGui::Text("the last %d steps; up to %.3g ms", c.nstep, most);
  for (int k = 0; k < TRIBO_STAGE_COUNT; ++k) {
    if (k % 3 != 0) ImGui::SameLine(static_cast<float>(10 + 110 * (k % 3)));
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(stage_color(k)), "%s %.0f us",
                       tribo_stage_name(static_cast<TriboStage>(k)), 1e3f * mean[k]);
  }
  ImGui::End();
}

static void contact_row(Panel* panel, int i) {
  static const char* const modes[] = {"breaks away", "sticks", "slides"};
  const TriboDrawFacts* f = panel->facts;
  const TriboContactView* c = &f->contacts[i];
  const double* n = c->normal;
  char text[200];
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  std::snprintf(text, sizeof text, "%s - %s##%d", tribo_view_contact_name(f->model, c->body_a, c->shape_a),
                tribo_view_contact_name(f->model, c->body_b, c->shape_b), i);
  if (ImGui::Selectable(text, panel->contact == i, ImGuiSelectableFlags_SpanAllColumns)) {
    panel->contact = i;
    panel->selected = c->body_b != TRIBO_WORLD ? c->body_b : c->body_a;
  }
  ImGui::TableNextColumn();
  ImGui::TextUnformatted(modes[c->mode]);
  ImGui::TableNextColumn();
  ImGui::Text("%.4g", std::sqrt(c->force[0] * c->force[0] + c->force[1] * c->force[1] + c->force[2] * c->force[2]));
  ImGui::TableNextColumn();
  ImGui::Text("%.4g", c->force[0] * n[0] + c->force[1] * n[1] + c->force[2] * n[2]);
  ImGui::TableNextColumn();
  ImGui::Text("%.2e", c->gap);
  ImGui::TableNextColumn();
  ImGui::Text("%d", c->island);
}

// The table of contacts, sorted by a column.
static void contacts(Panel* panel) {
  static const char* const columns[TRIBO_COLUMN_COUNT] = {"bodies", "mode", "N", "normal N", "gap m", "island"};
  const TriboDrawFacts* f = panel->facts;
  if (!begin(panel, PANEL_CONTACTS)) return;
  const ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY | ImGuiTableFlags_Resizable |
                                ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerV;
  if (ImGui::BeginTable("table", TRIBO_COLUMN_COUNT, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* name : columns) ImGui::TableSetupColumn(name);
    ImGui::TableHeadersRow();
    const ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs();
    int column = TRIBO_COLUMN_BODIES, down = 0;
    if (sort != nullptr && sort->SpecsCount > 0) {
      column = sort->Specs[0].ColumnIndex;
      down = sort->Specs[0].SortDirection == ImGuiSortDirection_Descending;
    }
    std::vector<int> order(static_cast<size_t>(f->ncontact));
    tribo_view_contacts_sort(f, static_cast<TriboContactColumn>(column), down, order.data());
    // thousands of rows: only those in sight are made
    ImGuiListClipper clipper;
    clipper.Begin(f->ncontact);
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) contact_row(panel, order[static_cast<size_t>(i)]);
    }
    ImGui::EndTable();
  }
  ImGui::End();
}

static void plots(Panel* panel) {
  const TriboCharts& c = panel->charts;
  if (!begin(panel, PANEL_PLOTS)) return;
  const int full = c.ncurve_point == TRIBO_CHART_STEPS, last = (c.curve_at + TRIBO_CHART_STEPS - 1) % TRIBO_CHART_STEPS;
  const int ncurve = c.ncurve_point > 0 ? c.ncurve : 0;
  for (int i = 0; i < ncurve; ++i) {
    ImGui::Text("%s = %.6g", c.name[i], c.curve[i][last]);
    ImGui::PushID(i);
    ImGui::PlotLines("##curve", c.curve[i], c.ncurve_point, full ? c.curve_at : 0, nullptr, FLT_MAX, FLT_MAX, wide(50));
    ImGui::PopID();
  }
  if (c.ncurve_point == 0) ImGui::TextUnformatted("nothing yet");
  ImGui::End();
}

// From limit to limit; joints without limits turn once around, or move a metre. Actuators by their control.
static void motors(Panel* panel) {
  const TriboModel* model = panel->facts->model;
  if (!begin(panel, PANEL_MOTORS)) return;
  for (int i = 0; i < panel->charts.nmotor; ++i) {
    const TriboJointInfo* joint = tribo_model_joint(model, tribo_model_motor(model, i)->joint);
    const double reach = std::strcmp(joint->kind, "prismatic") == 0 ? 1 : 3.1416;
    float target = panel->charts.motor[i], lo = static_cast<float>(std::fmax(joint->lower, -reach)),
          hi = static_cast<float>(std::fmin(joint->upper, reach));
    if (ImGui::SliderFloat(joint->name, &target, lo, hi)) give_order(panel, TRIBO_PLAYER_MOTOR, i, target, "");
  }
  for (int i = 0; i < panel->charts.nactuator; ++i) {
    const TriboActuatorInfo* actuator = tribo_model_actuator(model, i);
    float control = panel->charts.control[i], lo = static_cast<float>(std::fmax(actuator->ctrl_min, -3.1416)),
          hi = static_cast<float>(std::fmin(actuator->ctrl_max, 3.1416));
    if (ImGui::SliderFloat(actuator->name, &control, lo, hi)) give_order(panel, TRIBO_PLAYER_CONTROL, i, control, "");
  }
  if (panel->charts.nmotor + panel->charts.nactuator == 0) {
    ImGui::TextUnformatted("the scene has neither motors nor actuators");
  }
  ImGui::End();
}

// Two columns, or it would be higher than a small screen.
static void keys(void) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos(ImVec2(size.x / 2, size.y / 2), ImGuiCond_Appearing, ImVec2(0.5f, 0.5f));
  ImGui::Begin("keys", nullptr, ImGuiWindowFlags_AlwaysAutoResize);
  ImGui::BeginGroup();
  for (int i = 0; i < TRIBO_ACTION_COUNT; ++i) {
    if (i == TRIBO_ACTION_OVERLAY) {
      ImGui::EndGroup();
      ImGui::SameLine(0, 30);
      ImGui::BeginGroup();
    }
    ImGui::Text(i < TRIBO_ACTION_OVERLAY ? "%-10s %s" : "%-2s %s", tribo_view_action_key(i), tribo_view_action_doc(i));
  }
  ImGui::EndGroup();
  ImGui::Separator();
  ImGui::Text("%-10s %s", "mouse", "left turns, right or shift-left moves, wheel zooms, a click selects");
  ImGui::Text("%-10s %s", "control", "with it, left pulls a body, right pushes it");
  ImGui::End();
}

extern "C" void tribo_view_panel_draw(Panel* panel) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
  simulation(panel);
  selection(panel);
  solver(panel);
  timing(panel);
  contacts(panel);
  plots(panel);
  motors(panel);
  if (panel->help) keys();
  if (panel->hover[0] != '\0') ImGui::SetTooltip("%s", panel->hover);
  ImGui::Render();
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}
