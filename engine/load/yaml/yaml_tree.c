// From the events of libyaml to a tree in a pool, and the readers of its scalars.
#include "yaml_tree.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum {
  LARGEST_FILE = 16 << 20,
  DEEPEST = 32,
  MOST_NODES = 1 << 20,
  LONGEST_TEXT = 4096,
  LARGEST_MAP = 4096,
  CHUNK = 1 << 16
};

typedef struct Reader {
  TriboPool* pool;
  yaml_parser_t parser;
  const char* path;
  int nodes;
} Reader;

TriboStatus tribo_yaml_fail(const YamlNode* node, const char* format, ...) {
  char text[768];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return tribo_fail(TRIBO_INVALID, "%s:%d:%d: %s", node->path, node->line, node->column, text);
}

const char* tribo_yaml_what(const YamlNode* node) {
  static _Thread_local char text[64];
  switch (node->kind) {
    case YAML_LIST: return "a list";
    case YAML_MAP: return "a mapping";
    case YAML_SCALAR: break;
  }
  snprintf(text, sizeof text, strlen(node->text) > 40 ? "'%.40s…'" : "'%.40s'", node->text);
  return text;
}

// ---- events to nodes

static TriboStatus fail_at(const Reader* r, yaml_mark_t mark, const char* text) {
  return tribo_fail(TRIBO_INVALID, "%s:%zu:%zu: %s", r->path, mark.line + 1, mark.column + 1, text);
}

static TriboStatus next_event(Reader* r, yaml_event_t* event) {
  if (yaml_parser_parse(&r->parser, event)) {
    return TRIBO_OK;
  }
  const yaml_parser_t* p = &r->parser;
  if (p->error == YAML_MEMORY_ERROR) {
    return tribo_no_memory("to read %s", r->path);
  }
  if (p->error == YAML_READER_ERROR) {
    return tribo_fail(TRIBO_INVALID, "%s: byte %zu: %s; accepted is UTF-8 text", r->path, p->problem_offset,
                      p->problem != NULL ? p->problem : "cannot be read");
  }
  char text[256];
  snprintf(text, sizeof text, "%s%s%s", p->problem != NULL ? p->problem : "not YAML", p->context != NULL ? " " : "",
           p->context != NULL ? p->context : "");
  return fail_at(r, p->problem_mark, text);
}

static TriboStatus read_node(Reader* r, const yaml_event_t* event, int depth, YamlNode* node);

static TriboStatus check_key(const YamlNode* items, int pairs, const YamlNode* key) {
  if (key->kind != YAML_SCALAR) {
    return tribo_yaml_fail(key, "a key must be a word, not %s", tribo_yaml_what(key));
  }
  if (pairs >= LARGEST_MAP) {
    return tribo_yaml_fail(key, "more than %d keys in one mapping", LARGEST_MAP);
  }
  for (int i = 0; i < pairs; ++i) {
    if (strcmp(items[2 * i].text, key->text) == 0) {
      return tribo_yaml_fail(key, "the key '%s' stands here a second time (first in line %d)", key->text,
                             items[2 * i].line);
    }
  }
  return TRIBO_OK;
}

// Items of a list or keys and values of a map, up to the event that ends it.
static TriboStatus read_items(Reader* r, yaml_event_type_t end, int depth, YamlNode* node) {
  YamlNode* items = NULL;
  int used = 0;
  TriboStatus status = TRIBO_OK;
  for (int done = 0; !done && status == TRIBO_OK;) {
    yaml_event_t event;
    status = next_event(r, &event);
    if (status != TRIBO_OK) {
      break;
    }
    if (event.type == end) {
      done = 1;
    } else {
      status = TRIBO_APPEND(&items, used, 1);
      status = status == TRIBO_OK ? read_node(r, &event, depth + 1, &items[used]) : status;
      if (status == TRIBO_OK && node->kind == YAML_MAP && used % 2 == 0) {
        status = check_key(items, used / 2, &items[used]);
      }
      used++;
    }
    yaml_event_delete(&event);
  }
  if (status == TRIBO_OK) {
    node->items = tribo_pool_copy(r->pool, items, (size_t)used, sizeof *items);
    node->count = node->kind == YAML_MAP ? used / 2 : used;
    status = node->items == NULL ? tribo_no_memory("to read %s", r->path) : TRIBO_OK;
  }
  tribo_free(items);
  return status;
}

static TriboStatus read_scalar(Reader* r, const yaml_event_t* event, YamlNode* node) {
  size_t n = event->data.scalar.length;
  if (n > LONGEST_TEXT) {
    return fail_at(r, event->start_mark, "a text longer than 4096 characters");
  }
  if (memchr(event->data.scalar.value, '\0', n) != NULL) {
    return fail_at(r, event->start_mark, "a text with a zero byte");
  }
  node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  node->text = tribo_pool_copy(r->pool, event->data.scalar.value, n + 1, 1);
  return node->text == NULL ? tribo_no_memory("to read %s", r->path) : TRIBO_OK;
}

// A scalar, a list or a map, with its place in the file.
static TriboStatus read_node(Reader* r, const yaml_event_t* event, int depth, YamlNode* node) {
  *node =
      (YamlNode){.path = r->path, .line = (int)event->start_mark.line + 1, .column = (int)event->start_mark.column + 1};
  if (depth > DEEPEST) {
    return fail_at(r, event->start_mark, "nested more than 32 deep");
  }
  if (++r->nodes > MOST_NODES) {
    return fail_at(r, event->start_mark, "more than 1048576 values in one file");
  }
  const yaml_char_t *anchor = NULL, *tag = NULL;
  switch (event->type) {
    case YAML_SCALAR_EVENT: anchor = event->data.scalar.anchor, tag = event->data.scalar.tag; break;
    case YAML_SEQUENCE_START_EVENT:
      anchor = event->data.sequence_start.anchor, tag = event->data.sequence_start.tag;
      break;
    case YAML_MAPPING_START_EVENT:
      anchor = event->data.mapping_start.anchor, tag = event->data.mapping_start.tag;
      break;
    default: return fail_at(r, event->start_mark, "aliases (*name) are not accepted in scenes");
  }
  if (anchor != NULL || tag != NULL) {
    return fail_at(r, event->start_mark, "anchors (&name) and tags (!name) are not accepted in scenes");
  }
  if (event->type == YAML_SCALAR_EVENT) {
    node->kind = YAML_SCALAR;
    return read_scalar(r, event, node);
  }
  node->kind = event->type == YAML_SEQUENCE_START_EVENT ? YAML_LIST : YAML_MAP;
  return read_items(r, node->kind == YAML_LIST ? YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT, depth, node);
}

// stream start, document start, the root, document end, stream end: nothing else
static TriboStatus read_document(Reader* r, YamlNode* root) {
  static const yaml_event_type_t order[] = {YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT, YAML_NO_EVENT,
                                            YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT};
  for (size_t i = 0; i < sizeof order / sizeof order[0]; ++i) {
    yaml_event_t event;
    TRIBO_TRY(next_event(r, &event));
    TriboStatus status = TRIBO_OK;
    if (order[i] == YAML_NO_EVENT) {
      status = read_node(r, &event, 0, root);
    } else if (event.type != order[i]) {
      status =
          fail_at(r, event.start_mark, i == 1 ? "the file is empty" : "a second document; accepted is one per file");
    }
    yaml_event_delete(&event);
    TRIBO_TRY(status);
  }
  return TRIBO_OK;
}

// The whole file in memory; reading stops as soon as it is too large.
static TriboStatus slurp(const char* path, char** bytes, size_t* size) {
  *bytes = NULL;
  *size = 0;
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return tribo_fail(TRIBO_IO, "%s: cannot be read: %s", path, strerror(errno));
  }
  TriboStatus status = TRIBO_OK;
  for (size_t n = 1; n > 0 && status == TRIBO_OK;) {
    status = TRIBO_APPEND(bytes, *size, CHUNK);
    n = status == TRIBO_OK ? fread(*bytes + *size, 1, CHUNK, file) : 0;
    *size += n;
    if (*size > LARGEST_FILE) {
      status = tribo_fail(TRIBO_INVALID, "%s: larger than 16 MiB, the most a scene file may have", path);
    }
  }
  if (status == TRIBO_OK && ferror(file)) {
    status = tribo_fail(TRIBO_IO, "%s: cannot be read: %s", path, strerror(errno));
  }
  fclose(file);
  return status;
}

TriboStatus tribo_yaml_read(TriboPool* pool, const char* path, YamlNode* root) {
  char* bytes = NULL;
  size_t size = 0;
  Reader r = {.pool = pool, .path = tribo_pool_strdup(pool, path)};
  TriboStatus status = slurp(path, &bytes, &size);
  if (status != TRIBO_OK) {
    tribo_free(bytes);
    return status;
  }
  if (r.path == NULL || !yaml_parser_initialize(&r.parser)) {
    status = tribo_no_memory("to read %s", path);
  } else {
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char*)bytes, size);
    status = read_document(&r, root);
    yaml_parser_delete(&r.parser);
  }
  tribo_free(bytes);
  return status;
}

// ---- nodes to values

const YamlNode* tribo_yaml_get(const YamlNode* map, const char* key) {
  if (map->kind == YAML_MAP) {
    for (int i = 0; i < map->count; ++i) {
      if (strcmp(tribo_yaml_key(map, i)->text, key) == 0) {
        return tribo_yaml_value(map, i);
      }
    }
  }
  return NULL;
}

// Independent of the process's locale: digits, one point, one exponent; the comma of a locale never counts.
static int parse_real(const char* text, double* out) {
  size_t n = strspn(text, "+-0123456789.eE");
  if (text[n] != '\0' || n == 0 || n > 60) {
    int sign = text[0] == '-' ? -1 : 1;
    const char* word = text + (text[0] == '-' || text[0] == '+');
    if (strcmp(word, ".inf") != 0 && strcmp(word, "inf") != 0) {
      return 0;
    }
    *out = sign * (double)INFINITY;
    return 1;
  }
  char local[64];
  memcpy(local, text, n + 1);
  char* point = strchr(local, '.');
  if (point != NULL) {
    *point = localeconv()->decimal_point[0];
  }
  char* end;
  *out = strtod(local, &end);
  return *end == '\0' && isfinite(*out);
}

TriboStatus tribo_yaml_real(const YamlNode* node, const char* key, double* out) {
  if (node->kind == YAML_SCALAR && !node->quoted) {
    char text[80];
    size_t n = strlen(node->text);
    int degrees = n > 3 && n < sizeof text && strcmp(node->text + n - 3, "deg") == 0;
    if (degrees) {
      n -= 3;
      while (n > 0 && node->text[n - 1] == ' ') {
        n--;
      }
      memcpy(text, node->text, n);
      text[n] = '\0';
    }
    if (parse_real(degrees ? text : node->text, out)) {
      *out *= degrees ? 0.017453292519943295 : 1;
      return TRIBO_OK;
    }
  }
  return tribo_yaml_fail(node, "%s: %s is not a number", key, tribo_yaml_what(node));
}

TriboStatus tribo_yaml_int(const YamlNode* node, const char* key, int* out) {
  double x;
  TRIBO_TRY(tribo_yaml_real(node, key, &x));
  if (x != floor(x) || fabs(x) > INT_MAX) {
    return tribo_yaml_fail(node, "%s: %s is not a whole number", key, tribo_yaml_what(node));
  }
  *out = (int)x;
  return TRIBO_OK;
}

TriboStatus tribo_yaml_bool(const YamlNode* node, const char* key, int* out) {
  if (node->kind == YAML_SCALAR && !node->quoted) {
    *out = strcmp(node->text, "true") == 0;
    if (*out || strcmp(node->text, "false") == 0) {
      return TRIBO_OK;
    }
  }
  return tribo_yaml_fail(node, "%s: %s; accepted are true and false", key, tribo_yaml_what(node));
}

TriboStatus tribo_yaml_text(const YamlNode* node, const char* key, const char** out) {
  if (node->kind != YAML_SCALAR || node->text[0] == '\0') {
    return tribo_yaml_fail(node, "%s: %s is not a text", key, tribo_yaml_what(node));
  }
  *out = node->text;
  return TRIBO_OK;
}

TriboStatus tribo_yaml_reals(const YamlNode* node, const char* key, double* out, int count) {
  if (node->kind == YAML_SCALAR && count == 1) {
    return tribo_yaml_real(node, key, out);
  }
  if (node->kind != YAML_LIST || node->count != count) {
    return tribo_yaml_fail(node, "%s: %s; accepted is a list of %d numbers", key, tribo_yaml_what(node), count);
  }
  for (int i = 0; i < count; ++i) {
    TRIBO_TRY(tribo_yaml_real(&node->items[i], key, &out[i]));
  }
  return TRIBO_OK;
}
