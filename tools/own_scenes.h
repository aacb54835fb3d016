// The scenes that come with the program.
#pragma once

#include <dirent.h>

int is_folder(const char* path);
int is_scene_entry(const struct dirent* entry);  // of a folder, for scandir: a YAML file
// The folder of a family of scenes, "lab": where the program is used, beside the sources it was built from, or where it
// was installed; NULL when it is nowhere. Valid until the next call.
const char* own_scenes(const char* family);
