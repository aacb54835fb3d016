// MJCF: what the readers of its sections share: where an item comes from, and what is said of what is left out.
#include "mjcf.h"

#include <stdio.h>
#include <string.h>

TriboStatus tribo_mjcf_warn(Mjcf* m, const XmlNode* node, const char* key, const char* what) {
  for (int i = 0; i < m->nwarned; ++i) {
    if (strcmp(m->warneds[i], key) == 0) {
      return TRIBO_OK;
    }
  }
  TRIBO_TRY(MJ_GROW(m, warned));
  m->warneds[m->nwarned] = tribo_pool_strdup(&m->pool, key);
  if (m->warneds[m->nwarned++] == NULL) {
    return tribo_no_memory("to read the model");
  }
  tribo_log(m->log, TRIBO_LOG_WARNING, "%s:%d: %s %s", node->path, node->line, key, what);
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_at(Mjcf* m, const XmlNode* node) {
  m->scene->where = tribo_pool_format(&m->scene->pool, "%s:%d", node->path, node->line);
  return m->scene->where == NULL ? tribo_no_memory("to read the model") : TRIBO_OK;
}

TriboStatus tribo_mjcf_added(const Mjcf* m, TriboStatus status) {
  return tribo_located(status, m->scene->where);
}

TriboStatus tribo_mjcf_each(Mjcf* m, const char* section, TriboStatus (*read)(Mjcf*, const XmlNode*)) {
  for (const XmlNode* s = m->root->children; s != NULL; s = s->next) {
    if (strcmp(s->name, section) != 0) {
      continue;
    }
    for (const XmlNode* node = s->children; node != NULL; node = node->next) {
      TRIBO_TRY(read(m, node));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_leave_out(Mjcf* m, const XmlNode* node, const char* why) {
  char key[96];
  snprintf(key, sizeof key, "<%.30s>: <%.40s>", node->parent->name, node->name);
  return tribo_mjcf_warn(m, node, key, why);
}

TriboStatus tribo_mjcf_missing(Mjcf* m, const XmlNode* node, const char* what, const char* name) {
  if (m->incomplete) {
    return tribo_mjcf_leave_out(m, node, "of what is left out is left out");
  }
  return tribo_xml_fail(node, "there is no %s '%.60s'", what, name != NULL ? name : "");
}
