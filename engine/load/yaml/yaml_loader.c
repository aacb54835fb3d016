// Where in the file an item of the scene comes from.
#include "yaml_scene.h"

TriboStatus tribo_load_at(Loader* l, const YamlNode* node) {
  l->scene->where = tribo_pool_format(&l->scene->pool, "%s:%d:%d", node->path, node->line, node->column);
  return l->scene->where == NULL ? tribo_no_memory("to read %s", node->path) : TRIBO_OK;
}

TriboStatus tribo_load_added(Loader* l, TriboStatus status) {
  return tribo_located(status, l->scene->where);
}
