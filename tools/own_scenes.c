// Where scenes are that come with the program (own_scenes.h).
#include "own_scenes.h"

#include <stdio.h>
#include <sys/stat.h>

#include "paths.h"

int is_folder(const char* path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

int is_scene_entry(const struct dirent* entry) {
  return path_ends_in(entry->d_name, ".yaml");
}

const char* own_scenes(const char* family) {
  static const char* const places[] = {"scenes", TRIBO_SOURCE_SCENES, TRIBO_INSTALLED_SCENES};
  static char path[4096];
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
    snprintf(path, sizeof path, "%s/%s", places[i], family);
    if (is_folder(path)) {
      return path;
    }
  }
  return NULL;
}
