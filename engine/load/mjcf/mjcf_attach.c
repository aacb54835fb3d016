// Expansion of <attach> and <replicate>, done on the tree of the file before it is read.
//
// Both put copies of elements into a place, under other names. What stands outside of the bodies and refers to a copy
// (tendons, actuators, sensors and so on) is copied along. A model of another file brings its assets, and stays in a
// scope of its own: its compiler and its default classes hold for its own elements only.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjcf.h"

enum { COPIES_MAX = 1000000, MODELS_DEEP = 16 };

typedef struct Expansion {
  Mjcf* m;
  XmlNode* root;  // that what is copied hangs on
  const char *prefix, *suffix;
  int foreign;         // it is of another file: all its assets come along
  TriboNames names;    // "kind name" of all that is copied
  XmlNode** touched;   // elements outside of the bodies that are copied along
  int ntouched;        //
  XmlNode*** section;  // where the next section of the grown file goes
} Expansion;

static void end_expansion(Expansion* g) {
  tribo_names_clear(&g->names);
  tribo_free((void*)g->touched);
}

// ---- names

static const char* kind_of(const XmlNode* node) {
  const char* above = node->parent != NULL ? node->parent->name : "";
  if (strcmp(above, "tendon") == 0 || strcmp(above, "actuator") == 0) {
    return above;
  }
  return strcmp(node->name, "freejoint") == 0 ? "joint" : node->name;
}

// What an attribute names, "asset" for all kinds of them; NULL: nothing.
static const char* reference_of(const XmlNode* node, const char* attribute) {
  static const struct {
    const char *attribute, *kind;
  } known[] = {
      {"body", "body"},         {"body1", "body"},      {"body2", "body"},     {"target", "body"},
      {"subtree1", "body"},     {"subtree2", "body"},   {"geom", "geom"},      {"geom1", "geom"},
      {"geom2", "geom"},        {"joint", "joint"},     {"joint1", "joint"},   {"joint2", "joint"},
      {"site", "site"},         {"site1", "site"},      {"site2", "site"},     {"jointinparent", "joint"},
      {"refsite", "site"},      {"slidersite", "site"}, {"cranksite", "site"}, {"sidesite", "site"},
      {"tendon", "tendon"},     {"tendon1", "tendon"},  {"tendon2", "tendon"}, {"camera", "camera"},
      {"actuator", "actuator"}, {"mesh", "asset"},      {"material", "asset"}, {"hfield", "asset"},
      {"texture", "asset"},
  };
  const int object = strcmp(attribute, "objname") == 0;
  if (object || strcmp(attribute, "refname") == 0) {
    const char* kind = tribo_xml_get(node, object ? "objtype" : "reftype");
    return kind == NULL || strcmp(kind, "xbody") == 0 ? "body" : kind;
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (strcmp(known[i].attribute, attribute) == 0) {
      return known[i].kind;
    }
  }
  return NULL;
}

static int is_copied(const Expansion* g, const char* kind, const char* name) {
  char key[320];
  snprintf(key, sizeof key, "%.30s %.280s", kind, name);
  return tribo_names_find(&g->names, key) >= 0;
}

static TriboStatus collect(Expansion* g, const XmlNode* node) {
  const char* name = tribo_xml_get(node, "name");
  if (name != NULL && !is_copied(g, kind_of(node), name)) {
    const char* key = tribo_pool_format(&g->m->pool, "%.30s %.280s", kind_of(node), name);
    TRIBO_TRY(key == NULL ? tribo_no_memory("to read the model") : tribo_names_add(&g->names, key, 1));
  }
  for (const XmlNode* child = node->children; child != NULL; child = child->next) {
    TRIBO_TRY(collect(g, child));
  }
  return TRIBO_OK;
}

static TriboStatus set_value(Mjcf* m, XmlNode* node, const char* name, const char* value) {
  XmlAttribute** at = &node->attributes;
  while (*at != NULL && strcmp((*at)->name, name) != 0) {
    at = &(*at)->next;
  }
  if (*at == NULL) {
    *at = tribo_pool_alloc(&m->pool, 1, sizeof **at);
  }
  if (*at == NULL || value == NULL) {
    return tribo_no_memory("to read the model");
  }
  (*at)->name = name;
  (*at)->value = value;
  return TRIBO_OK;
}

static const char* renamed(const Expansion* g, const char* name) {
  return tribo_pool_format(&g->m->pool, "%s%s%s", g->prefix, name, g->suffix);
}

static TriboStatus rename_all(const Expansion* g, XmlNode* node) {
  const char* file = tribo_xml_get(node, "file");
  const int asset = node->parent != NULL && strcmp(node->parent->name, "asset") == 0;
  if (asset && file != NULL && tribo_xml_get(node, "name") == NULL) {
    // called by its file
    const char* stem;
    TRIBO_TRY(tribo_mjcf_file_name(g->m, file, &stem));
    TRIBO_TRY(set_value(g->m, node, "name", stem));
  }
  for (XmlAttribute* a = node->attributes; a != NULL; a = a->next) {
    const char* kind = reference_of(node, a->name);
    const int own = strcmp(a->name, "name") == 0 && a->value[0] != '\0';
    if (own || (kind != NULL && (strcmp(kind, "asset") == 0 ? g->foreign : is_copied(g, kind, a->value)))) {
      a->value = renamed(g, a->value);
      if (a->value == NULL) {
        return tribo_no_memory("to read the model");
      }
    }
  }
  for (XmlNode* child = node->children; child != NULL; child = child->next) {
    TRIBO_TRY(rename_all(g, child));
  }
  return TRIBO_OK;
}

// ---- copies

static TriboStatus copy(Mjcf* m, const XmlNode* from, XmlNode* parent, XmlNode** out) {
  XmlNode* node = tribo_pool_copy(&m->pool, from, 1, sizeof *from);
  if (m->ncopied++ >= COPIES_MAX) {
    return tribo_xml_fail(from, "copies make more than %d elements", COPIES_MAX);
  }
  if (node == NULL) {
    return tribo_no_memory("to read the model");
  }
  node->parent = parent;
  node->next = node->children = NULL;
  node->attributes = NULL;
  for (const XmlAttribute* a = from->attributes; a != NULL; a = a->next) {
    TRIBO_TRY(set_value(m, node, a->name, a->value));
  }
  XmlNode** last = &node->children;
  for (const XmlNode* child = from->children; child != NULL; child = child->next) {
    TRIBO_TRY(copy(m, child, node, last));
    last = &(*last)->next;
  }
  *out = node;
  return TRIBO_OK;
}

// An element of no file, where another stands.
static XmlNode* make(Mjcf* m, const XmlNode* where, XmlNode* parent, const char* name) {
  XmlNode* node = tribo_pool_copy(&m->pool, where, 1, sizeof *where);
  if (node != NULL) {
    node->name = name;
    node->parent = parent;
    node->next = node->children = NULL;
    node->attributes = NULL;
  }
  return node;
}

// How many names of an element are of what is copied, and how many of anything else.
static void survey(const Expansion* g, const XmlNode* node, int* found, int* lost) {
  for (const XmlAttribute* a = node->attributes; a != NULL; a = a->next) {
    const char* kind = reference_of(node, a->name);
    if (kind != NULL && strcmp(kind, "asset") != 0 && strcmp(a->value, "world") != 0) {
      ++*(is_copied(g, kind, a->value) ? found : lost);
    }
  }
  for (const XmlNode* child = node->children; child != NULL; child = child->next) {
    survey(g, child, found, lost);
  }
}

// Of another model comes all that refers to nothing else; of the same one, all that refers to a copy.
static TriboStatus find_touched(Expansion* g, XmlNode* home) {
  static const char* const order[] = {"tendon", "contact", "equality", "actuator", "sensor"};
  for (size_t i = 0; i < sizeof order / sizeof *order; ++i) {
    for (XmlNode* section = home->children; section != NULL; section = section->next) {
      if (strcmp(section->name, order[i]) == 0) {
        for (XmlNode* node = section->children; node != NULL; node = node->next) {
          int found = 0, lost = 0;
          survey(g, node, &found, &lost);
          if (g->foreign ? lost == 0 : found > 0) {
            TRIBO_TRY(TRIBO_APPEND(&g->touched, g->ntouched, 1));
            g->touched[g->ntouched++] = node;
            TRIBO_TRY(collect(g, node));
          }
        }
      }
    }
  }
  return TRIBO_OK;
}

static void put_section(Expansion* g, XmlNode* section) {
  section->parent = g->root;
  section->next = **g->section;
  **g->section = section;
  *g->section = &section->next;
}

static TriboStatus copy_touched(Expansion* g) {
  for (int i = 0; i < g->ntouched; ++i) {
    const XmlNode* node = g->touched[i];
    XmlNode* section = make(g->m, node->parent, g->root, node->parent->name);
    if (section == NULL) {
      return tribo_no_memory("to read the model");
    }
    TRIBO_TRY(copy(g->m, node, section, &section->children));
    TRIBO_TRY(rename_all(g, section->children));
    put_section(g, section);
  }
  return TRIBO_OK;
}

// ---- attach

typedef struct Walk {
  Mjcf* m;
  XmlNode* root;
  XmlNode **first, **last;  // sections: where those of other models go, and those of this one
  int models;               // how deep
} Walk;

static TriboStatus walk(Walk* w, XmlNode* parent, int depth);

static TriboStatus expand_model(Mjcf* m, XmlNode* root, int models) {
  Walk w = {m, root, &root->children, &root->children, models};
  while (*w.last != NULL) {
    w.last = &(*w.last)->next;
  }
  for (XmlNode* node = root->children; node != NULL; node = node->next) {
    if (strcmp(node->name, "worldbody") == 0) {
      TRIBO_TRY(walk(&w, node, 0));
    }
  }
  return TRIBO_OK;
}

static TriboStatus read_model(Walk* w, const XmlNode* node, const char* name, XmlNode** out) {
  for (const XmlNode* assets = w->root->children; assets != NULL; assets = assets->next) {
    if (strcmp(assets->name, "asset") == 0) {
      for (const XmlNode* a = assets->children; a != NULL; a = a->next) {
        const char *own = tribo_xml_get(a, "name"), *file = tribo_xml_get(a, "file");
        if (strcmp(a->name, "model") != 0 || (own != NULL && strcmp(own, name) != 0)) {
          continue;
        }
        const char* path = file != NULL ? tribo_xml_beside(&w->m->pool, a, NULL, file) : NULL;
        if (path == NULL) {
          return tribo_xml_fail(a, "<model> needs a file");
        }
        TRIBO_TRY(tribo_mjcf_read_tree(w->m, a, path, out));
        own = own != NULL ? own : tribo_xml_get(*out, "model");
        if (own != NULL && strcmp(own, name) == 0) {
          return w->models < MODELS_DEEP
                     ? expand_model(w->m, *out, w->models + 1)
                     : tribo_xml_fail(node, "models are attached more than %d deep, or in a circle", MODELS_DEEP);
        }
      }
    }
  }
  return tribo_xml_fail(node, "<attach>: there is no <model> '%.60s'", name);
}

static XmlNode* find_element(XmlNode* parent, const char* element, const char* name) {
  for (XmlNode* node = parent->children; node != NULL; node = node->next) {
    const char* own = tribo_xml_get(node, "name");
    if (strcmp(node->name, element) == 0 && own != NULL && strcmp(own, name) == 0) {
      return node;
    }
    XmlNode* below = find_element(node, element, name);
    if (below != NULL) {
      return below;
    }
  }
  return NULL;
}

// Moves all that is in the world of a model into one frame.
static XmlNode* take_world_children(Mjcf* m, XmlNode* root) {
  XmlNode *frame = make(m, root, NULL, "frame"), **last = frame != NULL ? &frame->children : NULL;
  if (frame != NULL) {
    for (XmlNode* node = root->children; node != NULL; node = node->next) {
      if (strcmp(node->name, "worldbody") == 0) {
        *last = node->children;
        for (; *last != NULL; last = &(*last)->next) {
          (*last)->parent = frame;
        }
      }
    }
  }
  return frame;
}

static TriboStatus find_source(Walk* w, const XmlNode* node, XmlNode* home, XmlNode** out) {
  const char *body = tribo_xml_get(node, "body"), *frame = tribo_xml_get(node, "frame");
  if (body != NULL && frame != NULL) {
    return tribo_xml_fail(node, "<attach>: give one of body and frame");
  }
  const int world = (body == NULL && frame == NULL) || (body != NULL && strcmp(body, "world") == 0);
  if (world && home == w->root) {
    return tribo_xml_fail(node, "<attach> within the model needs a body or a frame");
  }
  *out = world ? take_world_children(w->m, home)
               : find_element(home, body != NULL ? "body" : "frame", body != NULL ? body : frame);
  if (*out == NULL) {
    return tribo_xml_fail(node, "<attach>: there is no %s '%.60s'", body != NULL ? "body" : "frame",
                          body != NULL    ? body
                          : frame != NULL ? frame
                                          : "");
  }
  for (const XmlNode* above = node; above != NULL; above = above->parent) {
    if (above == *out) {
      return tribo_xml_fail(node, "<attach> stands in what it attaches");
    }
  }
  return TRIBO_OK;
}

// The class that elements of the source have where it stands goes with it; that of its new place is not theirs.
static TriboStatus keep_class(Mjcf* m, const XmlNode* source, XmlNode* copied) {
  const char* cls = NULL;
  for (const XmlNode* above = source; cls == NULL && above != NULL; above = above->parent) {
    cls = tribo_xml_get(above, "childclass");
  }
  return set_value(m, copied, "childclass", cls != NULL ? cls : "main");
}

static TriboStatus bring_assets(Expansion* g, XmlNode* home) {
  for (XmlNode *node = home->children, *next; node != NULL; node = next) {
    next = node->next;
    if (strcmp(node->name, "keyframe") == 0 && node->children != NULL) {
      TRIBO_TRY(tribo_mjcf_warn(g->m, node, "<keyframe> of an attached model", "is left out"));
    }
    if (strcmp(node->name, "asset") == 0 || strcmp(node->name, "default") == 0) {
      TRIBO_TRY(rename_all(g, node));
      put_section(g, node);
    }
  }
  return TRIBO_OK;
}

static TriboStatus expand_attach(Walk* w, Expansion* g, XmlNode** at) {
  XmlNode *node = *at, *home = w->root, *source = NULL, *copied = NULL;
  const char *model = tribo_xml_get(node, "model"), *prefix = tribo_xml_get(node, "prefix");
  if (model != NULL) {
    TRIBO_TRY(read_model(w, node, model, &home));
  }
  g->foreign = model != NULL;
  g->section = g->foreign ? &w->first : &w->last;
  g->prefix = prefix != NULL ? prefix : "";
  TRIBO_TRY(find_source(w, node, home, &source));
  TRIBO_TRY(copy(w->m, source, node->parent, &copied));
  TRIBO_TRY(keep_class(w->m, source, copied));
  TRIBO_TRY(collect(g, copied));
  TRIBO_TRY(find_touched(g, home));
  TRIBO_TRY(rename_all(g, copied));
  TRIBO_TRY(copy_touched(g));
  copied->next = node->next;
  *at = copied;
  return g->foreign ? bring_assets(g, home) : TRIBO_OK;
}

// ---- replicate

static TriboStatus set_numbers(Mjcf* m, XmlNode* node, const char* name, const double* x, int n) {
  char text[128];
  for (int i = 0, used = 0; i < n; ++i) {
    used += snprintf(text + used, sizeof text - (size_t)used, "%.17g ", x[i]);
  }
  return set_value(m, node, name, tribo_pool_strdup(&m->pool, text));
}

// One replica, in a frame of its own.
static TriboStatus add_replica(Expansion* g, const XmlNode* node, const TriboPose* pose, const char* cls,
                               XmlNode** out) {
  Mjcf* m = g->m;
  XmlNode* frame = make(m, node, node->parent, "frame");
  double q[4];
  tribo_quat_from_mat(q, pose->R);
  const double quat[4] = {q[3], q[0], q[1], q[2]};
  if (frame == NULL) {
    return tribo_no_memory("to read the model");
  }
  TRIBO_TRY(set_numbers(m, frame, "pos", pose->p, 3));
  TRIBO_TRY(set_numbers(m, frame, "quat", quat, 4));
  if (cls != NULL) {
    TRIBO_TRY(set_value(m, frame, "childclass", cls));
  }
  XmlNode** last = &frame->children;
  for (const XmlNode* child = node->children; child != NULL; child = child->next) {
    TRIBO_TRY(copy(m, child, frame, last));
    TRIBO_TRY(rename_all(g, *last));
    last = &(*last)->next;
  }
  *out = frame;
  return copy_touched(g);
}

static void remove_touched(const Expansion* g) {
  for (int i = 0; i < g->ntouched; ++i) {
    XmlNode** at = &g->touched[i]->parent->children;
    while (*at != g->touched[i]) {
      at = &(*at)->next;
    }
    *at = (*at)->next;
  }
}

// Puts the copies of a <replicate> in its place, each turned and moved on from the last.
static TriboStatus expand_replicate(Walk* w, Expansion* g, XmlNode** at) {
  XmlNode* node = *at;
  Mjcf* m = w->m;
  MjReplicate step = {.sep = "", .prefix = "", .count = -1, .orient = tribo_mjcf_orient_default()};
  TRIBO_TRY(tribo_mjcf_apply(m, node, &tribo_mjcf_replicate, &step));
  if (step.count < 1) {
    return tribo_xml_fail(node, "<replicate> count: accepted is a whole number ≥ 1");
  }
  g->prefix = step.prefix;
  double quat[4];
  TRIBO_TRY(tribo_mjcf_quaternion(m, node, &step.orient, quat));
  const TriboPose by = tribo_pose(step.offset, quat);
  TriboPose pose = tribo_pose_identity();
  for (const XmlNode* child = node->children; child != NULL; child = child->next) {
    TRIBO_TRY(collect(g, child));
  }
  TRIBO_TRY(find_touched(g, w->root));
  char digits[16];
  const int width = snprintf(digits, sizeof digits, "%d", step.count);
  for (int i = 0; i < step.count; ++i) {
    g->suffix = tribo_pool_format(&m->pool, "%s%0*d", step.sep, width, i);
    if (g->suffix == NULL) {
      return tribo_no_memory("to read the model");
    }
    TRIBO_TRY(add_replica(g, node, &pose, step.cls, at));
    at = &(*at)->next;
    pose = tribo_pose_mul(&pose, &by);
  }
  *at = node->next;
  remove_touched(g);
  return TRIBO_OK;
}

// ---- the tree

// Expands <attach> and <replicate> below a node.
static TriboStatus walk(Walk* w, XmlNode* parent, int depth) {
  if (depth > 400) {
    return tribo_xml_fail(parent, "bodies are nested too deep");
  }
  for (XmlNode** at = &parent->children; *at != NULL;) {
    XmlNode* node = *at;
    Expansion g = {.m = w->m, .root = w->root, .prefix = "", .suffix = "", .section = &w->last};
    if (strcmp(node->name, "attach") == 0) {
      // what comes in its place is looked at in its turn
      const TriboStatus status = expand_attach(w, &g, at);
      end_expansion(&g);
      TRIBO_TRY(status);
      continue;
    }
    TRIBO_TRY(walk(w, node, depth + 1));
    if (strcmp(node->name, "replicate") == 0) {
      XmlNode* rest = node->next;
      const TriboStatus status = expand_replicate(w, &g, at);
      end_expansion(&g);
      TRIBO_TRY(status);
      while (*at != rest) {
        at = &(*at)->next;
      }
      continue;
    }
    at = &node->next;
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_expand(Mjcf* m) {
  return expand_model(m, m->root, 0);
}
