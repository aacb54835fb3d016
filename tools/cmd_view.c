// `tribo view`: a window in which a scene runs.
#include <string.h>

#include "simulate.h"

#if TRIBO_VIEWER
#include "viewer.h"
#endif

static const Flag flags[] = {
    {"--size", "WxH", "pixels; 1280x720"},
    {"--camera", "NAME", "a camera of the scene by name or number, or auto; the first one"},
    {"--overlay", "LIST", "what is drawn over the bodies: contacts,forces,frames,com,aabb"},
    {"--force-scale", "S", "length of force arrows [m/N]; the largest takes a quarter of the picture"},
    {"--paused", NULL, "do not start by itself"},
    {"--load", "FILE", "start from a saved state"},
    {"--frames", "N", "close after this many pictures"},
    {"--dt", "S", "time step, instead of the scene's"},
    {"--solver", "ID", "solver, instead of the scene's; `tribo solvers` lists them"},
    {"--threads", "N", "worker threads"},
    {"--set", "KEY=VALUE", "any world setting, or solver.KEY; may be repeated"},
    {0},
};

#if TRIBO_VIEWER

static int complain(TriboStatus status) {
  cli_wrong("%s", tribo_view_error());
  return status == TRIBO_INTERNAL || status == TRIBO_NOMEM ? EXIT_INTERNAL : EXIT_INPUT;
}

static int show(const Simulation* sim, const TriboWindowDef* def, long long frames) {
  TriboWindow* window;
  TriboStatus status = tribo_view_window_open(sim->model, sim->data, def, &window);
  if (status != TRIBO_OK) {
    return complain(status);
  }
  for (int open = 1; open && frames != 0 && status == TRIBO_OK; --frames) {
    status = tribo_view_window_frame(window, &open);
  }
  int code = status == TRIBO_OK ? EXIT_WELL : complain(status);
  tribo_view_window_close(window);
  return code;
}

static int run(const Args* args) {
  double frames = -1;
  char rest;
  const char *size = cli_value(args, "--size"), *overlay = cli_value(args, "--overlay");
  TriboWindowDef def = {.title = args->positional[0],
                        .width = 1280,
                        .height = 720,
                        .paused = cli_value(args, "--paused") != NULL,
                        .camera = cli_value(args, "--camera")};
  if (size != NULL && (sscanf(size, "%dx%d%c", &def.width, &def.height, &rest) != 2 || def.width < 1 ||
                       def.height < 1 || def.width > 16384 || def.height > 16384)) {
    return cli_wrong("--size %s: accepted is WIDTHxHEIGHT, 1 to 16384 pixels each", size);
  }
  if (!cli_number(args, "--frames", 1, 1e15, &frames) ||
      !cli_number(args, "--force-scale", 1e-12, 1e12, &def.options.force_scale)) {
    return EXIT_INPUT;
  }
  if (overlay != NULL && tribo_view_overlay_parse(overlay, &def.options.overlays) != TRIBO_OK) {
    return complain(TRIBO_INVALID);
  }
  Simulation sim;
  int code = simulation_open(args, args->positional[0], &sim);
  code = code == EXIT_WELL ? simulation_load(&sim, cli_value(args, "--load")) : code;
  code = code == EXIT_WELL ? show(&sim, &def, (long long)frames) : code;
  simulation_close(&sim);
  return code;
}

#else

static int run(const Args* args) {
  (void)args;
  return cli_wrong("this build has no viewer: a package was missing, or it was built with -Dviewer=disabled");
}

#endif

const Command command_view = {"view", "SCENE [flags]", "watch a scene in a window; F1 tells the keys", flags, 1, 1,
                              run};
