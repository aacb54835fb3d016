// MJCF: a file with all that it includes as one tree, and the scopes of <compiler> settings in it.
#include "mjcf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INCLUDES_MAX = 256 };

typedef struct Included {
  char* path[INCLUDES_MAX];  // from realpath
  int count;
} Included;

// No file comes twice: that refuses circles and bombs alike, as MuJoCo does.
static TriboStatus remember(Included* seen, const XmlNode* node, const char* path) {
  char* real = realpath(path, NULL);
  if (real == NULL) {
    return node != NULL ? tribo_xml_fail(node, "%s: no such file", path)
                        : tribo_fail(TRIBO_IO, "%s: cannot be opened", path);
  }
  for (int i = 0; i < seen->count; ++i) {
    if (strcmp(seen->path[i], real) == 0) {
      free(real);
      return tribo_xml_fail(node, "%s is included a second time", path);
    }
  }
  if (seen->count == INCLUDES_MAX) {
    free(real);
    return tribo_xml_fail(node, "more than %d files are included", INCLUDES_MAX - 1);
  }
  seen->path[seen->count++] = real;
  return TRIBO_OK;
}

// Puts the content of included files in the place of the include elements.
static TriboStatus expand(Mjcf* m, const XmlNode* root, XmlNode* parent, Included* seen, int depth) {
  if (depth > 400) {
    return tribo_xml_fail(parent, "elements are nested too deep");
  }
  for (XmlNode** at = &parent->children; *at != NULL;) {
    XmlNode* node = *at;
    if (strcmp(node->name, "include") != 0) {
      TRIBO_TRY(expand(m, root, node, seen, depth + 1));
      at = &node->next;
      continue;
    }
    const char* file = tribo_xml_get(node, "file");
    if (file == NULL) {
      return tribo_xml_fail(node, "<include> needs a file");
    }
    // names are relative to the main file, or else to the one that includes
    const char* path = tribo_xml_beside(&m->pool, root, NULL, file);
    if (path != NULL && access(path, F_OK) != 0) {
      path = tribo_xml_beside(&m->pool, node, NULL, file);
    }
    XmlNode* other;
    if (path == NULL) {
      return tribo_no_memory("to read the model");
    }
    TRIBO_TRY(remember(seen, node, path));
    TRIBO_TRY(tribo_xml_read(&m->pool, path, &other));
    XmlNode* last = other->children;
    if (last == NULL) {
      *at = node->next;
      continue;
    }
    for (XmlNode* child = other->children; child != NULL; child = child->next) {
      child->parent = parent;
      last = child;
    }
    last->next = node->next;
    *at = other->children;
  }
  return TRIBO_OK;
}

static TriboStatus read_compiler(Mjcf* m, const XmlNode* node) {
  MjCompiler* compiler = &m->scopes[node->scope].compiler;
  TRIBO_TRY(tribo_mjcf_apply(m, node, &tribo_mjcf_compiler, compiler));
  if (compiler->coordinate != NULL && strcmp(compiler->coordinate, "local") != 0) {
    return tribo_xml_fail(node, "coordinate=\"%.20s\": only local coordinates are known", compiler->coordinate);
  }
  return TRIBO_OK;
}

static void set_scope(XmlNode* node, int scope) {
  node->scope = scope;
  for (XmlNode* child = node->children; child != NULL; child = child->next) {
    set_scope(child, scope);
  }
}

static TriboStatus open_scope(Mjcf* m, XmlNode* root) {
  TRIBO_TRY(MJ_GROW(m, scope));
  m->scopes[m->nscope] = (MjScope){.root = root,
                                   .compiler = {.autolimits = 1,
                                                .degree = 1,
                                                .inertia_from_geom = MJ_AUTO,
                                                .euler_order = "xyz",
                                                .total_mass = -1,
                                                .group_range = {0, 5}}};
  set_scope(root, m->nscope++);
  for (const XmlNode* node = root->children; node != NULL; node = node->next) {
    if (strcmp(node->name, "compiler") == 0) {
      TRIBO_TRY(read_compiler(m, node));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_read_tree(Mjcf* m, const XmlNode* from, const char* path, XmlNode** root) {
  Included seen = {.count = 0};
  TriboStatus status = remember(&seen, from, path);
  if (status == TRIBO_OK) {
    status = tribo_xml_read(&m->pool, path, root);
  }
  if (status == TRIBO_OK) {
    status = strcmp((*root)->name, "mujoco") == 0
                 ? expand(m, *root, *root, &seen, 0)
                 : tribo_xml_fail(*root, "<%.40s>: an MJCF file has the root <mujoco>", (*root)->name);
  }
  for (int i = 0; i < seen.count; ++i) {
    free(seen.path[i]);
  }
  return status == TRIBO_OK ? open_scope(m, *root) : status;
}
