// `tribo render`: a picture or a film of a scene, without a screen.
#include <math.h>
#include <string.h>

#include "interrupt.h"
#include "paths.h"
#include "stopwatch.h"
#include "studio.h"

#if TRIBO_VIEWER
#include <unistd.h>
#endif

static const Flag flags[] = {
    {"--out", "FILE", "the picture (.png) or film (.mp4, made by ffmpeg) to write"},
    {"--html", "FILE", "instead: a page that plays the motion in a browser (WebGL 2), all in one file"},
    {"--at", "T", "simulated time of the picture, or where the film starts [s]; 0"},
    {"--every", "S", "a picture every S simulated seconds instead of one: FILE-0000.png, FILE-0001.png …"},
    {"--fps", "N", "frames per second of a film; 30"},
    {"--duration", "S", "simulated seconds of a film or of --every, instead of the scene's"},
    {"--size", "WxH", "pixels; 960x540"},
    {"--supersample", "N", "draw N times as large and shrink: smoother edges; 1"},
    STUDIO_FLAGS,
    REPLAY_FLAGS,
    {"--stats", NULL, "print what the picture cost: draw calls and time"},
    {"--quiet", NULL, "no progress"},
    {0},
};

#if TRIBO_VIEWER

// Everything a picture needs besides the simulation.
typedef struct Studio {
  const char *out, *html;  // files
  const char* which;       // camera, NULL: the first one
  double at, fps, every;
  int width, height, supersample, quiet, film, stats;
  TriboDrawOptions options;
  TriboDrawList* list;
  TriboTrails* trails;
  TriboOffscreen* context;
  TriboRenderer* renderer;
  TriboImage large, image;
  int recorded;  // 1: the motion is read, not simulated
  Motion motion;
} Studio;

// The flags, with those refused that do not go together.
static int parse(const Args* args, Studio* studio) {
  double supersample = 1;
  *studio = (Studio){.out = cli_value(args, "--out"),
                     .html = cli_value(args, "--html"),
                     .which = cli_value(args, "--camera"),
                     .fps = 30};
  studio->width = 960, studio->height = 540;
  studio->quiet = cli_value(args, "--quiet") != NULL;
  studio->stats = cli_value(args, "--stats") != NULL;
  if ((studio->out == NULL) == (studio->html == NULL)) {
    return cli_wrong("render needs --out FILE.png, --out FILE.mp4 or --html FILE.html");
  }
  studio->film = studio->out != NULL && path_ends_in(studio->out, ".mp4");
  if (studio->out != NULL && !studio->film && !path_ends_in(studio->out, ".png")) {
    return cli_wrong("--out %s: accepted are names that end with .png or .mp4", studio->out);
  }
  int code = studio_parse(args, &studio->width, &studio->height, &studio->options);
  if (code != EXIT_WELL) {
    return code;
  }
  if (studio->film && (studio->width % 2 != 0 || studio->height % 2 != 0)) {
    return cli_wrong("--size %dx%d: a film needs even numbers", studio->width, studio->height);
  }
  if (!cli_number(args, "--at", 0, 1e9, &studio->at) || !cli_number(args, "--fps", 0.01, 1000, &studio->fps) ||
      !cli_number(args, "--every", 1e-9, 1e9, &studio->every) ||
      !cli_number(args, "--supersample", 1, 8, &supersample)) {
    return EXIT_INPUT;
  }
  if (studio->film && studio->every > 0) {
    return cli_wrong("--every makes pictures; a film has --fps");
  }
  studio->supersample = (int)supersample;
  return EXIT_WELL;
}

static TriboStatus open(Studio* studio, const Simulation* sim) {
  int n = studio->supersample;
  TriboStatus status = tribo_view_list_create(sim->model, &studio->list);
  status = status == TRIBO_OK ? tribo_view_trails_create(sim->model, &studio->trails) : status;
  if (studio->html != NULL) {
    return status;
  }
  status = status == TRIBO_OK ? tribo_view_offscreen_create(&studio->context) : status;
  status = status == TRIBO_OK ? tribo_view_renderer_create(studio->list, &studio->renderer) : status;
  status = status == TRIBO_OK ? tribo_view_image_create(studio->width, studio->height, &studio->image) : status;
  return status == TRIBO_OK ? tribo_view_image_create(n * studio->width, n * studio->height, &studio->large) : status;
}

static void close_studio(Studio* studio) {
  tribo_view_renderer_destroy(studio->renderer);
  tribo_view_offscreen_destroy(studio->context);
  tribo_view_list_destroy(studio->list);
  tribo_view_trails_destroy(studio->trails);
  tribo_view_image_destroy(&studio->image);
  tribo_view_image_destroy(&studio->large);
}

// The camera goes where the body goes that it is mounted on.
static void mounted(const Studio* studio, const Simulation* sim, TriboCameraDef* camera) {
  int index;
  if (tribo_view_camera_find(sim->model, studio->which, &index) == TRIBO_OK && index >= 0) {
    tribo_view_camera_place_mounted(tribo_view_list_facts(studio->list), tribo_model_camera(sim->model, index), camera);
  }
}

// The current state as a picture.
static TriboStatus take_picture(Studio* studio, Simulation* sim, TriboCameraDef* camera) {
  TriboStatus status = tribo_view_list_fill(studio->list, sim->model, sim->data, &studio->options);
  if (status == TRIBO_OK) {
    mounted(studio, sim, camera);
  }
  status =
      status == TRIBO_OK ? tribo_view_renderer_draw(studio->renderer, studio->list, camera, &studio->large) : status;
  return status == TRIBO_OK ? tribo_view_image_shrink(&studio->large, studio->supersample, &studio->image) : status;
}

// The camera, and the size of the marks that fits it; an automatic one sees the whole current state.
static TriboStatus place(Studio* studio, Simulation* sim, TriboCameraDef* camera) {
  TriboStatus status = tribo_view_list_fill(studio->list, sim->model, sim->data, NULL);
  double aspect = (double)studio->width / studio->height, d = 0;
  status = status == TRIBO_OK ? tribo_view_camera(sim->model, studio->list, studio->which, aspect, camera) : status;
  for (int i = 0; i < 3 && status == TRIBO_OK; ++i) {
    d += (camera->eye[i] - camera->target[i]) * (camera->eye[i] - camera->target[i]);
  }
  studio->options.size = status == TRIBO_OK ? 2 * sqrt(d) * tan(camera->fov / 2) : 0;
  studio->options.trails = studio->trails;
  return status;
}

static int run_until(Simulation* sim, double time, int progress) {
  sim->steps = llround((time - tribo_data_time(sim->data)) / tribo_model_world(sim->model)->dt);
  int code = sim->steps > 0 ? simulation_run(sim, progress) : EXIT_WELL;
  return code == EXIT_WELL && interrupt_seen() ? EXIT_INTERRUPTED : code;
}

// The row of a recorded motion nearest to a time, or the last one, with its forces.
static int seek(Studio* studio, Simulation* sim, double time) {
  Motion* m = &studio->motion;
  char text[600];
  int code = EXIT_WELL;
  for (int more = 1; code == EXIT_WELL && more && m->now[0] < time - 0.5 * m->dt;) {
    code = motion_next(m, &more);
  }
  MotionForces forces = {0};
  if (code == EXIT_WELL && motion_show(sim->model, sim->data, m, &forces, text, sizeof text) != TRIBO_OK) {
    code = cli_wrong("%s", text);
  }
  studio->options.contacts = forces.contacts;
  studio->options.ncontact = forces.ncontact;
  studio->options.efforts = forces.efforts;
  return code;
}

// Goes to the step nearest to a time, with stops on the way where a trail needs its points.
static int advance(Studio* studio, Simulation* sim, double time, int progress) {
  const int trails = studio->options.overlays >> TRIBO_OVERLAY_TRAILS & 1;
  double now = tribo_data_time(sim->data);
  int code = EXIT_WELL;
  if (trails) {
    for (; code == EXIT_WELL && now < time; now += 1.0 / 60) {
      code = studio->recorded ? seek(studio, sim, now) : run_until(sim, now, 0);
      if (code == EXIT_WELL) {
        TriboStatus status = tribo_view_trails_add(studio->trails, sim->model, sim->data);
        code = status == TRIBO_OK ? EXIT_WELL : studio_complain(status);
      }
    }
  }
  if (code != EXIT_WELL) {
    return code;
  }
  return studio->recorded ? seek(studio, sim, time) : run_until(sim, time, progress);
}

// The best of five pictures.
static TriboStatus measure(Studio* studio, Simulation* sim, const TriboCameraDef* camera) {
  double list = INFINITY, picture = INFINITY;
  for (int i = 0; i < 5; ++i) {
    double t0 = read_clock(CLOCK_MONOTONIC);
    TriboStatus status = tribo_view_list_fill(studio->list, sim->model, sim->data, &studio->options);
    double t1 = read_clock(CLOCK_MONOTONIC);
    status =
        status == TRIBO_OK ? tribo_view_renderer_draw(studio->renderer, studio->list, camera, &studio->large) : status;
    if (status != TRIBO_OK) {
      return status;
    }
    list = fmin(list, t1 - t0), picture = fmin(picture, read_clock(CLOCK_MONOTONIC) - t1);
  }
  int instances;
  tribo_view_list_instances(studio->list, &instances);
  printf("%d bodies, %d instances, %d draw calls; list %.2f ms, picture %.1f ms for %d x %d pixels\n",
         tribo_model_size(sim->model).nbody, instances, tribo_view_renderer_calls(studio->renderer), 1e3 * list,
         1e3 * picture, studio->large.width, studio->large.height);
  return TRIBO_OK;
}

static int still(Studio* studio, Simulation* sim) {
  TriboCameraDef camera;
  TriboStatus status = place(studio, sim, &camera);
  status = status == TRIBO_OK ? take_picture(studio, sim, &camera) : status;
  status = status == TRIBO_OK ? tribo_view_image_write(&studio->image, studio->out) : status;
  status = status == TRIBO_OK && studio->stats ? measure(studio, sim, &camera) : status;
  return status == TRIBO_OK ? EXIT_WELL : studio_complain(status);
}

// "a.png" → "a-0007.png", as long as the scene lasts.
static int series(Studio* studio, Simulation* sim) {
  TriboCameraDef camera;
  const double duration = tribo_model_world(sim->model)->duration;
  int code = EXIT_WELL;
  TriboStatus status = place(studio, sim, &camera);
  for (int i = 0; code == EXIT_WELL && status == TRIBO_OK && i * studio->every <= duration * (1 + 1e-12); ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%.*s-%04d.png", (int)strlen(studio->out) - 4, studio->out, i);
    code = advance(studio, sim, studio->at + i * studio->every, 0);
    status = code == EXIT_WELL ? take_picture(studio, sim, &camera) : TRIBO_OK;
    status = code == EXIT_WELL && status == TRIBO_OK ? tribo_view_image_write(&studio->image, path) : status;
  }
  return status == TRIBO_OK ? code : studio_complain(status);
}

static void show_progress(const Studio* studio, int done, int all) {
  enum { WIDTH = 30 };
  if (studio->quiet || !isatty(STDERR_FILENO)) {
    return;
  }
  int full = done * WIDTH / all;
  if (done == all) {
    fputs("\r\033[K", stderr);
  } else {
    fprintf(stderr, "\r[%.*s%*s] frame %d of %d ", full, "##############################", WIDTH - full, "", done, all);
  }
}

// The whole motion as a page; nothing is drawn here, the browser does it.
static int page(Studio* studio, Simulation* sim) {
  TriboCameraDef camera;
  TriboPage* page = NULL;
  int frames = (int)llround(tribo_model_world(sim->model)->duration * studio->fps) + 1, code = EXIT_WELL;
  TriboStatus status = place(studio, sim, &camera);
  if (status == TRIBO_OK) {
    status = tribo_view_page_open(studio->html, sim->path, studio->list, &camera, studio->fps, &page);
  }
  for (int i = 0; i < frames && status == TRIBO_OK && code == EXIT_WELL; ++i) {
    code = advance(studio, sim, studio->at + i / studio->fps, 0);
    if (code == EXIT_WELL) {
      status = tribo_view_list_fill(studio->list, sim->model, sim->data, &studio->options);
      status = status == TRIBO_OK ? tribo_view_page_add(page, studio->list) : status;
    }
    show_progress(studio, i + 1, frames);
  }
  if (status != TRIBO_OK) {
    code = studio_complain(status);
  }
  TriboStatus closed = page != NULL ? tribo_view_page_close(page) : TRIBO_OK;
  return code == EXIT_WELL && closed != TRIBO_OK ? studio_complain(closed) : code;
}

static int film(Studio* studio, Simulation* sim) {
  TriboCameraDef camera;
  TriboVideo* video = NULL;
  int frames = (int)llround(tribo_model_world(sim->model)->duration * studio->fps) + 1, code = EXIT_WELL;
  TriboStatus status = place(studio, sim, &camera);
  if (status == TRIBO_OK) {
    status = tribo_view_video_open(studio->out, studio->width, studio->height, studio->fps, &video);
  }
  for (int i = 0; i < frames && status == TRIBO_OK && code == EXIT_WELL; ++i) {
    code = advance(studio, sim, studio->at + i / studio->fps, 0);
    status = code == EXIT_WELL ? take_picture(studio, sim, &camera) : TRIBO_OK;
    status = code == EXIT_WELL && status == TRIBO_OK ? tribo_view_video_add(video, &studio->image) : status;
    show_progress(studio, i + 1, frames);
  }
  // the first thing that went wrong is the one to tell; an interrupted film is a shorter one
  if (status != TRIBO_OK) {
    code = studio_complain(status);
  }
  TriboStatus closed = video != NULL ? tribo_view_video_close(video) : TRIBO_OK;
  return code == EXIT_WELL && closed != TRIBO_OK ? studio_complain(closed) : code;
}

// Opens the scene and takes a picture, a series, a film or a page of it.
static int run(const Args* args) {
  Studio studio;
  Simulation sim = {0};
  int code = parse(args, &studio);
  if (code != EXIT_WELL) {
    return code;
  }
  interrupt_watch();
  code = simulation_open(args, args->positional[0], &sim);
  studio.recorded = cli_value(args, "--motion") != NULL;
  if (code == EXIT_WELL && !studio.recorded && cli_value(args, "--contacts") != NULL) {
    code = cli_wrong("--contacts needs --motion FILE");
  }
  if (code == EXIT_WELL && studio.recorded) {
    code = motion_open(args, &sim, &studio.motion);
  }
  if (code == EXIT_WELL) {
    TriboStatus status = open(&studio, &sim);
    code = status == TRIBO_OK ? EXIT_WELL : studio_complain(status);
  }
  code = code == EXIT_WELL ? simulation_load(&sim, cli_value(args, "--load")) : code;
  code = code == EXIT_WELL ? advance(&studio, &sim, studio.at, !studio.quiet) : code;
  if (code == EXIT_WELL) {
    code = studio.html != NULL ? page(&studio, &sim)
           : studio.film       ? film(&studio, &sim)
           : studio.every > 0  ? series(&studio, &sim)
                               : still(&studio, &sim);
  }
  close_studio(&studio);
  motion_close(&studio.motion);
  simulation_close(&sim);
  interrupt_unwatch();
  return code;
}

#else

static int run(const Args* args) {
  (void)args;
  return studio_missing();
}

#endif

const Command command_render = {"render",
                                "SCENE --out FILE | --html FILE [flags]",
                                "a picture, a film or a web page of a scene, without a screen",
                                flags,
                                1,
                                1,
                                run};
