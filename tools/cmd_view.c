// `tribo view`: a window in which a scene runs.
#include <string.h>

#include "studio.h"

#if TRIBO_VIEWER
#include <unistd.h>
#endif

static const Flag flags[] = {
    {"--size", "WxH", "pixels; 1280x720"},
    STUDIO_FLAGS,
    REPLAY_FLAGS,
    {"--panels", NULL, "open all panels"},
    {"--paused", NULL, "do not start by itself"},
    {"--frames", "N", "close after this many pictures"},
    {0},
};

#if TRIBO_VIEWER

typedef struct Source {
  const Args* args;
  int wrong;       // the command line is, and it was complained about already
  int recorded;    // 1: the motion is read, not simulated
  Simulation sim;  // what its columns are called
  Motion motion;   // all of it
} Source;

// The scene as the command line wants it, at the start and whenever its file has changed.
static TriboStatus load(void* user, TriboScene** out) {
  Source* source = user;
  TriboStatus status = simulation_scene(source->args, source->args->positional[0], out, &source->wrong);
  if (status == TRIBO_OK) {
    status = cli_configure(source->args, *out, &source->wrong);
    // a motion says itself how long its steps are
    status = status == TRIBO_OK && source->recorded ? tribo_scene_set(*out, "dt", source->motion.dt) : status;
    if (status != TRIBO_OK) {
      tribo_scene_destroy(*out);
    }
  }
  return status;
}

static TriboStatus replay(void* user, const TriboModel* model, TriboData* data, long long row, TriboReplay* out) {
  Motion* motion = &((Source*)user)->motion;
  const TriboModelSize size = tribo_model_size(model);
  if (1 + size.nq + size.nv != motion->nslot) {
    snprintf(out->text, sizeof out->text, "the scene has %d coordinates and %d velocities, the motion %d together",
             size.nq, size.nv, motion->nslot - 1);
    return TRIBO_INVALID;
  }
  out->last = motion->nrow - 2;
  motion_go(motion, (long)row);
  MotionForces forces;
  const TriboStatus status = motion_show(model, data, motion, &forces, out->text, sizeof out->text);
  out->contacts = forces.contacts;
  out->ncontact = forces.ncontact;
  out->efforts = forces.efforts;
  return status;
}

// Reads all of the motion, and what its columns are from the scene.
static int open_motion(Source* source) {
  int code = simulation_open(source->args, source->args->positional[0], &source->sim);
  code = code == EXIT_WELL ? motion_open(source->args, &source->sim, &source->motion) : code;
  return code == EXIT_WELL ? motion_keep(&source->motion) : code;
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

// Opens the scene, or a recorded motion of it, in a window.
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
  if (code == EXIT_WELL && !cli_number(args, "--frames", 1, 1e15, &frames)) {
    code = EXIT_INPUT;
  }
  source.recorded = cli_value(args, "--motion") != NULL;
  if (code == EXIT_WELL && !source.recorded && cli_value(args, "--contacts") != NULL) {
    code = cli_wrong("--contacts needs --motion FILE");
  }
  if (code == EXIT_WELL && source.recorded) {
    def.player.replay = replay;
    code = open_motion(&source);
  }
  code = code == EXIT_WELL ? show(&def, frames) : code;
  motion_close(&source.motion);
  simulation_close(&source.sim);
  return code;
}

#else

static int run(const Args* args) {
  (void)args;
  return studio_missing();
}

#endif

const Command command_view = {"view", "SCENE [flags]", "watch a scene in a window; F1 tells the keys", flags, 1, 1,
                              run};
