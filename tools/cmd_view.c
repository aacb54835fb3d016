// `tribo view`: a window in which a scene runs.
#include <string.h>

#include "simulate.h"
#include "studio.h"

#if TRIBO_VIEWER
#include <unistd.h>
#endif

static const Flag flags[] = {
    {"--size", "WxH", "pixels; 1280x720"},
    STUDIO_FLAGS,
    {"--panels", NULL, "open all panels"},
    {"--paused", NULL, "do not start by itself"},
    {"--frames", "N", "close after this many pictures"},
    {0},
};

#if TRIBO_VIEWER

typedef struct Source {
  const Args* args;
  int wrong;  // the command line is, and it was complained about already
} Source;

// The scene as the command line wants it, at the start and whenever its file has changed.
static TriboStatus load(void* user, TriboScene** out) {
  Source* source = user;
  TriboStatus status = simulation_scene(source->args, source->args->positional[0], out, &source->wrong);
  if (status == TRIBO_OK) {
    status = cli_configure(source->args, *out, &source->wrong);
    if (status != TRIBO_OK) {
      tribo_scene_destroy(*out);
    }
  }
  return status;
}

// "scenes/cubes/tower.yaml" → "tower"
static void stem_of(const char* path, char* out, size_t size) {
  const char* slash = strrchr(path, '/');
  snprintf(out, size, "%s", slash != NULL ? slash + 1 : path);
  out[strcspn(out, ".")] = '\0';
}

static void display_lost(void) {
  fputs("tribo: error: the display is gone\n", stderr);
  _exit(EXIT_INPUT);
}

static int show(const TriboWindowDef* def, double frames) {
  TriboWindow* window;
  tribo_view_window_on_lost(display_lost);
  TriboStatus status = tribo_view_window_open(def, &window);
  if (status != TRIBO_OK) {
    return ((const Source*)def->player.user)->wrong ? EXIT_INPUT : studio_complain(status);
  }
  for (int open = 1; open && frames != 0 && status == TRIBO_OK; --frames) {
    status = tribo_view_window_frame(window, &open);
  }
  int code = status == TRIBO_OK ? EXIT_WELL : studio_complain(status);
  tribo_view_window_close(window);
  return code;
}

static int run(const Args* args) {
  double frames = -1;
  char stem[128];
  Source source = {.args = args};
  TriboWindowDef def = {.title = args->positional[0],
                        .stem = stem,
                        .width = 1280,
                        .height = 720,
                        .panels = cli_value(args, "--panels") != NULL,
                        .camera = cli_value(args, "--camera"),
                        .player = {.scene = load,
                                   .user = &source,
                                   .watch = args->positional[0],
                                   .state = cli_value(args, "--load"),
                                   .paused = cli_value(args, "--paused") != NULL}};
  stem_of(args->positional[0], stem, sizeof stem);
  int code = studio_parse(args, &def.width, &def.height, &def.options);
  if (code != EXIT_WELL) {
    return code;
  }
  return cli_number(args, "--frames", 1, 1e15, &frames) ? show(&def, frames) : EXIT_INPUT;
}

#else

static int run(const Args* args) {
  (void)args;
  return studio_missing();
}

#endif

const Command command_view = {"view", "SCENE [flags]", "watch a scene in a window; F1 tells the keys", flags, 1, 1,
                              run};
