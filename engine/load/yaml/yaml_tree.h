// YAML as a tree of nodes that know where they stand. Strict: one document, no aliases, anchors or tags, no duplicate
// keys, UTF-8 only, bounded size and depth.
#pragma once

#include "pool.h"

typedef enum YamlKind { YAML_SCALAR, YAML_LIST, YAML_MAP } YamlKind;

typedef struct YamlNode {
  YamlKind kind;
  int quoted;              // scalar in quotes: never a number
  const char* path;        // file
  int line, column;        // from 1
  const char* text;        // SCALAR
  struct YamlNode* items;  // LIST: values; MAP: key, value, key, value, …
  int count;               // LIST: values; MAP: pairs
} YamlNode;

// Reads a file; all memory comes from the pool.
TriboStatus tribo_yaml_read(TriboPool* pool, const char* path, YamlNode* root);

// `path:line:column: …`, always TRIBO_INVALID
TriboStatus tribo_yaml_fail(const YamlNode* node, const char* format, ...) TRIBO_PRINTF(2, 3);

// "a mapping", "a list", "'text'": what a node is, for complaints.
const char* tribo_yaml_what(const YamlNode* node);

static inline const YamlNode* tribo_yaml_key(const YamlNode* map, int i) {
  return &map->items[2 * i];
}
static inline const YamlNode* tribo_yaml_value(const YamlNode* map, int i) {
  return &map->items[2 * i + 1];
}
const YamlNode* tribo_yaml_get(const YamlNode* map, const char* key);  // NULL: not there

// Scalars. A number may end in "deg" (then it becomes radians); inf, -inf are numbers, NaN is not.
TriboStatus tribo_yaml_real(const YamlNode* node, const char* key, double* out);
TriboStatus tribo_yaml_int(const YamlNode* node, const char* key, int* out);
TriboStatus tribo_yaml_bool(const YamlNode* node, const char* key, int* out);
TriboStatus tribo_yaml_text(const YamlNode* node, const char* key, const char** out);
TriboStatus tribo_yaml_reals(const YamlNode* node, const char* key, double* out, int count);  // exactly count
