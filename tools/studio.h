// What `render` and `view` share: the flags that say how a scene is drawn, and the complaints of the viewer.
#pragma once

#include "motion.h"

#define STUDIO_FLAGS                                                                                                \
  {"--camera", "NAME", "a camera of the scene by name or number, or auto; the first one"},                          \
      {"--overlay", "LIST",                                                                                         \
       "what is drawn over the bodies, by commas: contacts forces normals cones frames com inertia joints "         \
       "closures aabb islands penetration wireframe transparent collision trails"},                                 \
      {"--force-scale", "S", "length of force arrows [m/N]; the largest takes a quarter of the picture"},           \
      {"--load", "FILE", "start from a saved state"}, {"--state", "NAME", "begin in a state that the scene names"}, \
      {"--dt", "S", "time step, instead of the scene's"},                                                           \
      {"--solver", "ID", "solver, instead of the scene's; `tribo solvers` lists them"},                             \
      {"--threads", "N", "worker threads"}, {                                                                       \
    "--set", "KEY=VALUE", "any world setting, or solver.KEY; may be repeated"                                       \
  }

#define REPLAY_FLAGS                                                                                                   \
  {"--motion", "FILE", "show this recorded motion instead of simulating, with the forces that make it (see id)"},      \
      {"--contacts", "FILE", "with --motion: the forces of this file, which id has written, instead of finding them"}, \
      MOTION_FLAGS

#if TRIBO_VIEWER

#include "viewer.h"

// The exit code that fits, after saying what is wrong.
int studio_complain(TriboStatus status);
// --size WxH and the drawing options; 0 or an exit code, complained about already.
int studio_parse(const Args* args, int* width, int* height, TriboDrawOptions* options);

#endif

// What both say in a build without a viewer.
int studio_missing(void);
