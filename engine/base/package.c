// Files of robot packages, looked for in the folders that the usual environment variables name.
#include "package.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char* tribo_package_examples(void) {
  return TRIBO_PACKAGE_DIR;
}

const char* tribo_package_find(TriboPool* pool, const char* uri) {
  static const char* const variables[][2] = {{"SDF_PATH", ""},
                                             {"GAZEBO_MODEL_PATH", ""},
                                             {"GZ_SIM_RESOURCE_PATH", ""},
                                             {"ROS_PACKAGE_PATH", ""},
                                             {"AMENT_PREFIX_PATH", "/share"}};
  const char* scheme = strstr(uri, "://");
  const char* rest = scheme != NULL ? scheme + 3 : uri;
  const char* found = tribo_pool_format(pool, "%s/%s", tribo_package_examples(), rest);
  found = found != NULL && access(found, R_OK) == 0 ? found : NULL;
  for (size_t v = 0; found == NULL && v < sizeof variables / sizeof *variables; ++v) {
    const char* list = getenv(variables[v][0]);
    while (found == NULL && list != NULL && *list != '\0') {
      const int n = (int)strcspn(list, ":");
      found = tribo_pool_format(pool, "%.*s%s/%s", n, list, variables[v][1], rest);
      found = found != NULL && access(found, R_OK) == 0 ? found : NULL;
      list += n + (list[n] == ':');
    }
  }
  return found;
}
