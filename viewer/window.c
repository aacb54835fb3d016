// The window: GLFW for the screen, keys and mouse; the renderer for the picture; a player for the simulation; panels.
#include "window.h"

#include <X11/Xlib.h>
#include <stdio.h>

enum { FILM_FPS = 30 };

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

static const TriboModel* model_of(const TriboWindow* window) {
  return tribo_view_list_facts(window->list)->model;
}

static void set_notice(TriboWindow* window, TriboStatus status, const char* good) {
  snprintf(window->panel.notice, sizeof window->panel.notice, "%s", status == TRIBO_OK ? good : tribo_view_error());
  window->panel.notice_wrong = status != TRIBO_OK;
}

// The camera of the scene that was chosen moves with its body, until the mouse takes it elsewhere.
static void move_mounted_camera(TriboWindow* window) {
  const TriboDrawFacts* facts = tribo_view_list_facts(window->list);
  const TriboCameraDef* mounted = tribo_model_camera(facts->model, window->camera_index);
  if (window->is_mounted && mounted != NULL) {
    tribo_view_camera_place_mounted(facts, mounted, &window->camera);
    window->camera.name = NULL;  // it may live shorter than the window
    window->is_mounted = tribo_view_camera_is_mounted(mounted);
  }
}

static void set_camera(TriboWindow* window, int index) {
  if (index >= 0 && index < tribo_model_size(model_of(window)).ncamera) {
    window->camera_index = index;
    window->is_mounted = 1;
    window->tracked = -1;
    move_mounted_camera(window);
  }
}

static void next_camera(TriboWindow* window) {
  int n = tribo_model_size(model_of(window)).ncamera;
  set_camera(window, n > 0 ? (window->camera_index + 1) % n : -1);
}

static void fit_camera(TriboWindow* window) {
  TriboCameraDef camera;
  double aspect = tribo_view_window_aspect(window);
  if (tribo_view_camera(model_of(window), window->list, "auto", aspect, &camera) == TRIBO_OK) {
    window->camera = camera;
    window->is_mounted = 0;
  }
}

static void track(TriboWindow* window) {
  window->tracked = window->tracked >= 0 ? -1 : window->panel.selected;
  window->is_mounted = 0;
  if (window->tracked >= 0) {
    tribo_view_body_centre(tribo_view_list_facts(window->list), window->tracked, window->followed);
  }
}

// Above the point under the mouse, or above what the camera looks at.
static void drop(TriboWindow* window, TriboShapeKind kind) {
  TriboOrder order = {.command = TRIBO_PLAYER_DROP, .index = kind, .value = 0.07 * window->options.size};
  TriboHit hit;
  const double* up = tribo_view_list_up(window->list);
  const double* at = tribo_view_mouse_pick(window, &hit) ? hit.point : window->camera.target;
  for (int i = 0; i < 3; ++i) {
    order.point[i] = at[i] + 0.2 * window->options.size * up[i];
  }
  tribo_view_player_order(window->player, &order);
}

// ---- pictures, films, states

// "tower_1.250s.png", in the folder the program runs in.
static void file_name(const TriboWindow* window, const char* ending, char* out, size_t size) {
  snprintf(out, size, "%s_%.3fs.%s", window->stem, tribo_view_player_status(window->player).time, ending);
}

static void save_state(TriboWindow* window) {
  TriboOrder order = {.command = TRIBO_PLAYER_SAVE};
  file_name(window, "state", order.text, sizeof order.text);
  tribo_view_player_order(window->player, &order);
}

static TriboStatus take_picture(TriboWindow* window, const char* path) {
  int width, height;
  TriboImage image;
  glfwGetFramebufferSize(window->glfw, &width, &height);
  VIEW_TRY(tribo_view_image_create(width, height, &image));
  TriboStatus status = tribo_view_renderer_draw(window->renderer, window->list, &window->camera, &image);
  status = status == TRIBO_OK ? tribo_view_image_write(&image, path) : status;
  tribo_view_image_destroy(&image);
  return status;
}

static void save_picture(TriboWindow* window) {
  char path[300], text[340];
  file_name(window, "png", path, sizeof path);
  snprintf(text, sizeof text, "wrote %s", path);
  set_notice(window, take_picture(window, path), text);
}

static void end_film(TriboWindow* window, TriboStatus status) {
  Film* film = &window->film;
  char text[340];
  snprintf(text, sizeof text, "wrote %s, %d frames", film->path, film->at);
  TriboStatus closed = film->video != NULL ? tribo_view_video_close(film->video) : TRIBO_OK;
  set_notice(window, status != TRIBO_OK ? status : closed, text);
  tribo_view_image_destroy(&film->image);
  *film = (Film){0};
}

static void begin_film(TriboWindow* window) {
  Film* film = &window->film;
  int width, height;
  glfwGetFramebufferSize(window->glfw, &width, &height);
  tribo_view_player_send(window->player, TRIBO_PLAYER_PAUSE, 1);
  *film = (Film){.frames = (int)lround(window->panel.film * FILM_FPS) + 1};
  file_name(window, "mp4", film->path, sizeof film->path);
  // films have even sizes
  width -= width % 2, height -= height % 2;
  TriboStatus status = tribo_view_image_create(width, height, &film->image);
  status = status == TRIBO_OK ? tribo_view_video_open(film->path, width, height, FILM_FPS, &film->video) : status;
  film->start = tribo_view_list_facts(tribo_view_player_wait(window->player, &window->options))->time;
  if (status != TRIBO_OK) {
    end_film(window, status);
  }
}

// The next frame: simulates up to its time, waits for that, and draws it.
static void take_film_frame(TriboWindow* window) {
  Film* film = &window->film;
  const double time = tribo_view_player_status(window->player).time, dt = tribo_model_world(model_of(window))->dt;
  const double steps = round((film->start + (double)film->at / FILM_FPS - time) / dt);
  if (steps > 0) {
    tribo_view_player_send(window->player, TRIBO_PLAYER_STEP, steps);
  }
  window->list = tribo_view_player_wait(window->player, &window->options);
  move_mounted_camera(window);
  tribo_view_camera_track(window);
  TriboStatus status = tribo_view_renderer_draw(window->renderer, window->list, &window->camera, &film->image);
  status = status == TRIBO_OK ? tribo_view_video_add(film->video, &film->image) : status;
  film->at++;
  if (status != TRIBO_OK || film->at == film->frames) {
    end_film(window, status);
  }
}

// What a key or a button of the panels asks for.
static void do_action(TriboWindow* window, int action) {
  TriboPlayer* player = window->player;
  const TriboPlayerStatus s = tribo_view_player_status(player);
  if (window->film.video != NULL && action < TRIBO_ACTION_CAMERA) {
    return;  // the film moves time on, nobody else
  }
  switch (action) {
    case TRIBO_ACTION_PAUSE:
      // a recorded motion that is over begins again
      if (s.paused && s.rows > 0 && s.steps == s.rows - 1) {
        tribo_view_player_send(player, TRIBO_PLAYER_RESET, 0);
      }
      tribo_view_player_send(player, TRIBO_PLAYER_PAUSE, !s.paused);
      return;
    case TRIBO_ACTION_STEP: tribo_view_player_send(player, TRIBO_PLAYER_STEP, 1); return;
    case TRIBO_ACTION_STEPS: tribo_view_player_send(player, TRIBO_PLAYER_STEP, 100); return;
    case TRIBO_ACTION_BACK: tribo_view_player_send(player, TRIBO_PLAYER_BACK, 1); return;
    case TRIBO_ACTION_BACKS: tribo_view_player_send(player, TRIBO_PLAYER_BACK, 100); return;
    case TRIBO_ACTION_FASTER: tribo_view_player_send(player, TRIBO_PLAYER_SPEED, 2 * s.speed); return;
    case TRIBO_ACTION_SLOWER:
      tribo_view_player_send(player, TRIBO_PLAYER_SPEED, isinf(s.speed) ? 16 : 0.5 * s.speed);
      return;
    case TRIBO_ACTION_FASTEST:
      tribo_view_player_send(player, TRIBO_PLAYER_SPEED, isinf(s.speed) ? 1 : INFINITY);
      return;
    case TRIBO_ACTION_RESET: tribo_view_player_send(player, TRIBO_PLAYER_RESET, 0); return;
    case TRIBO_ACTION_RELOAD: tribo_view_player_send(player, TRIBO_PLAYER_RELOAD, 0); return;
    case TRIBO_ACTION_CAMERA: next_camera(window); return;
    case TRIBO_ACTION_FIT: fit_camera(window); return;
    case TRIBO_ACTION_TRACK: track(window); return;
    case TRIBO_ACTION_BOX: drop(window, TRIBO_SHAPE_BOX); return;
    case TRIBO_ACTION_BALL: drop(window, TRIBO_SHAPE_SPHERE); return;
    case TRIBO_ACTION_SAVE: save_state(window); return;
    case TRIBO_ACTION_PICTURE: save_picture(window); return;
    case TRIBO_ACTION_FILM: window->film.video != NULL ? end_film(window, TRIBO_OK) : begin_film(window); return;
    case TRIBO_ACTION_PANELS: window->panel.open = window->panel.open != 0 ? 0 : (1u << PANEL_COUNT) - 1; return;
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
  ((TriboWindow*)glfwGetWindowUserPointer(glfw))->last_activity = glfwGetTime();
  if (pressed == GLFW_RELEASE || tribo_view_panel_has_keys()) {
    return;
  }
  for (int i = 0; i < TRIBO_ACTION_COUNT; ++i) {
    if (actions[i].key == key) {
      do_action(glfwGetWindowUserPointer(glfw), i);
    }
  }
}

// ---- life

static void (*on_lost)(void);

static int display_lost(Display* display) {
  (void)display;
  on_lost();
  return 0;
}

void tribo_view_window_on_lost(void (*lost)(void)) {
  on_lost = lost;
  XSetIOErrorHandler(lost != NULL ? display_lost : NULL);
}

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
  tribo_view_mouse_connect(window);
  window->panel_open = tribo_view_panel_open(window->glfw);
  return window->panel_open ? TRIBO_OK : tribo_view_fail(TRIBO_INTERNAL, "the widgets of the window do not start");
}

TriboStatus tribo_view_window_open(const TriboWindowDef* def, TriboWindow** out) {
  TriboWindow* window = calloc(1, sizeof *window);
  if (window == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a window");
  }
  *window = (TriboWindow){.options = def->options, .tracked = -1};
  window->panel = (Panel){.selected = -1, .contact = -1, .film = 5, .force_scale = def->options.force_scale};
  window->panel.open = def->panels ? (1u << PANEL_COUNT) - 1 : 0;
  snprintf(window->stem, sizeof window->stem, "%s", def->stem != NULL ? def->stem : "tribo");
  // the scene first: what is wrong with it does not need a window to be told
  TriboStatus status = tribo_view_player_create(&def->player, &window->player);
  status = status == TRIBO_OK ? open_window(window, def) : status;
  if (status == TRIBO_OK) {
    window->list = tribo_view_player_list(window->player, &window->options);
    int index;
    status = tribo_view_camera_find(model_of(window), def->camera, &index);
    fit_camera(window);
    set_camera(window, status == TRIBO_OK ? index : -1);
  }
  status = status == TRIBO_OK ? tribo_view_renderer_create(window->list, &window->renderer) : status;
  if (status != TRIBO_OK) {
    tribo_view_window_close(window);
    return status;
  }
  *out = window;
  return TRIBO_OK;
}

void tribo_view_window_close(TriboWindow* window) {
  if (window == NULL) {
    return;
  }
  if (window->film.video != NULL) {
    end_film(window, TRIBO_OK);
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

// ---- a picture

// "cube3", or what a contact carries.
static void describe(const TriboWindow* window, char* out, size_t size) {
  TriboHit hit;
  out[0] = '\0';
  if (window->drag != DRAG_NONE || tribo_view_panel_has_mouse() || !tribo_view_mouse_pick(window, &hit)) {
    return;
  }
  const TriboDrawFacts* facts = tribo_view_list_facts(window->list);
  if (hit.contact >= 0) {
    const TriboContactView* c = &facts->contacts[hit.contact];
    snprintf(out, size, "%s - %s: %.4g N", tribo_view_contact_name(facts->model, c->body_a, c->shape_a),
             tribo_view_contact_name(facts->model, c->body_b, c->shape_b), tribo_norm3(c->force));
  } else {
    snprintf(out, size, "%s", tribo_view_contact_name(facts->model, hit.body, hit.shape));
  }
}

// What was selected may be gone: the scene is another one, the contact has opened.
static void drop_stale_selection(TriboWindow* window) {
  const TriboDrawFacts* facts = tribo_view_list_facts(window->list);
  const int nbody = tribo_model_size(facts->model).nbody;
  Panel* panel = &window->panel;
  panel->selected = panel->selected < nbody ? panel->selected : -1;
  panel->contact = panel->contact < facts->ncontact ? panel->contact : -1;
  window->tracked = window->tracked < nbody ? window->tracked : -1;
}

// The panels with the newest status, and what was clicked in them.
static void draw_panels(TriboWindow* window) {
  Panel* panel = &window->panel;
  const double now = glfwGetTime();
  panel->status = tribo_view_player_status(window->player);
  panel->facts = tribo_view_list_facts(window->list);
  tribo_view_player_charts(window->player, &panel->charts);
  panel->overlays = window->options.overlays;
  panel->frame = 0.9 * panel->frame + 0.1 * (now - window->shown);
  panel->progress = window->film.video != NULL ? (double)window->film.at / window->film.frames : -1;
  window->shown = now;
  describe(window, panel->hover, sizeof panel->hover);
  panel->action = panel->camera = -1;
  panel->ordered = 0;
  tribo_view_panel_draw(panel);
  window->options.force_scale = panel->force_scale;
  set_camera(window, panel->camera);
  if (panel->ordered) {
    tribo_view_player_order(window->player, &panel->order);
  }
  if (panel->action >= 0) {
    do_action(window, panel->action);
  }
  // residuals by iteration cost something: only while someone looks
  const int watching = panel->open >> PANEL_SOLVER & 1;
  if (window->watching != watching) {
    window->watching = watching;
    tribo_view_player_send(window->player, TRIBO_PLAYER_HISTORY, watching);
  }
}

// The picture with its panels, not yet on the screen.
static TriboStatus draw(TriboWindow* window, int width, int height) {
  double forward[3], right[3], above[3];
  const double distance = tribo_view_camera_axes(&window->camera, forward, right, above, NULL);
  window->options.size = 2 * distance * tan(window->camera.fov / 2);
  window->options.selected = 1 + window->panel.selected;
  window->options.contact = 1 + window->panel.contact;
  if (window->film.video != NULL) {
    take_film_frame(window);
  } else {
    window->list = tribo_view_player_list(window->player, &window->options);
  }
  drop_stale_selection(window);
  move_mounted_camera(window);
  tribo_view_camera_track(window);
  VIEW_TRY(tribo_view_renderer_show(window->renderer, window->list, &window->camera, width, height));
  draw_panels(window);
  GLenum error = glGetError();
  return error == GL_NO_ERROR ? TRIBO_OK : tribo_view_fail(TRIBO_INTERNAL, "OpenGL error 0x%x in the panels", error);
}

TriboStatus tribo_view_window_frame(TriboWindow* window, int* open) {
  int width, height;
  const TriboPlayerStatus* status = &window->panel.status;
  // when all has stood still for a second, a few frames per second are enough
  if (!status->paused || status->busy || window->film.video != NULL) {
    window->last_activity = glfwGetTime();
  }
  if (glfwGetTime() - window->last_activity < 1) {
    glfwPollEvents();
  } else {
    glfwWaitEventsTimeout(0.2);
  }
  *open = !glfwWindowShouldClose(window->glfw);
  glfwGetFramebufferSize(window->glfw, &width, &height);
  if (width < 1 || height < 1) {
    // nothing to see of it: do not spin
    glfwWaitEventsTimeout(0.05);
    return TRIBO_OK;
  }
  VIEW_TRY(draw(window, width, height));
  glfwSwapBuffers(window->glfw);
  return TRIBO_OK;
}

TriboStatus tribo_view_window_read(TriboWindow* window, int x, int y, unsigned char rgb[3]) {
  int width, height;
  glfwGetFramebufferSize(window->glfw, &width, &height);
  VIEW_TRY(draw(window, width, height));
  glReadPixels(x, height - 1 - y, 1, 1, GL_RGB, GL_UNSIGNED_BYTE, rgb);
  GLenum error = glGetError();
  return error == GL_NO_ERROR ? TRIBO_OK : tribo_view_fail(TRIBO_INTERNAL, "OpenGL error 0x%x while reading", error);
}

TriboPlayer* tribo_view_window_player(TriboWindow* window) {
  return window->player;
}

TriboWindowState tribo_view_window_state(const TriboWindow* window) {
  const Panel* panel = &window->panel;
  TriboWindowState state = {.camera = window->camera,
                            .overlays = window->options.overlays,
                            .selected = panel->selected,
                            .tracked = window->tracked,
                            .contact = panel->contact,
                            .filming = window->film.video != NULL,
                            .panels = panel->open};
  memcpy(state.hover, panel->hover, sizeof state.hover);
  memcpy(state.notice, panel->notice, sizeof state.notice);
  return state;
}
