// Flags to options of drawing.
#include "studio.h"

#if TRIBO_VIEWER

int studio_complain(TriboStatus status) {
  cli_wrong("%s", tribo_view_error());
  return status == TRIBO_INTERNAL || status == TRIBO_NOMEM ? EXIT_INTERNAL : EXIT_INPUT;
}

int studio_parse(const Args* args, int* width, int* height, TriboDrawOptions* options) {
  char rest;
  const char *size = cli_value(args, "--size"), *overlay = cli_value(args, "--overlay");
  if (size != NULL && (sscanf(size, "%dx%d%c", width, height, &rest) != 2 || *width < 1 || *height < 1 ||
                       *width > 16384 || *height > 16384)) {
    return cli_wrong("--size %s: accepted is WIDTHxHEIGHT, 1 to 16384 pixels each", size);
  }
  if (!cli_number(args, "--force-scale", 1e-12, 1e12, &options->force_scale)) {
    return EXIT_INPUT;
  }
  TriboStatus status = overlay != NULL ? tribo_view_overlay_parse(overlay, &options->overlays) : TRIBO_OK;
  return status == TRIBO_OK ? EXIT_WELL : studio_complain(status);
}

#endif

int studio_missing(void) {
  return cli_wrong("this build has no viewer: a package was missing, or it was built with -Dviewer=disabled");
}
