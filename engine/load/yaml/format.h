// The scene format as tables: one row per key. The parser reads by them, the documentation is printed from them.
#pragma once

#include "scene_impl.h"
#include "yaml_tree.h"

typedef enum FieldType {
  FIELD_REAL,     // double
  FIELD_INT,      // int
  FIELD_BOOL,     // int
  FIELD_TEXT,     // const char*
  FIELD_PATH,     // const char*, taken relative to the file it stands in
  FIELD_VEC2,     // double[2]
  FIELD_VEC3,     // double[3]
  FIELD_VEC4,     // double[4]
  FIELD_VEC5,     // double[5]
  FIELD_VEC6,     // double[6]
  FIELD_RPY,      // double[4] quaternion, written as roll, pitch, yaw about the fixed x, y, z axes
  FIELD_WORD,     // int, index of a word
  FIELD_SECTION,  // a nested section, list or rule: read by the section's own code
} FieldType;

typedef struct Field {
  const char* key;
  FieldType type;
  size_t offset;
  double min, max;  // REAL, INT: accepted range; VEC*: of each number
  int open_min;
  const char* unit;
  const char* doc;
  const char* const* words;  // WORD: accepted words, NULL-terminated
} Field;

typedef struct Section {
  const char* name;  // "body"
  const char* doc;
  const Field* fields;
  int nfield;
  size_t size;                // of the struct the offsets point into
  void (*init)(void* strct);  // its defaults
} Section;

// Reads the scalar fields of a mapping into strct. A key of neither section is refused with the nearest known one; keys
// of `other` (may be NULL) are left for another reading of the same mapping.
TriboStatus tribo_format_read(TriboPool* pool, const YamlNode* node, const Section* section, const Section* other,
                              void* strct);

// A text that names a file, taken from the folder of the file it stands in.
TriboStatus tribo_format_path(TriboPool* pool, const YamlNode* node, const char* key, const char** out);

const Section* tribo_format_section(const char* name);

// The structs behind sections that are not public defs.
typedef struct GeneratorDef {
  const char* name;
  double origin[3];
  double count[3];    // grid: along x, y, z
  double spacing[3];  // grid
  int rows;           // wall
  double pitch;       // wall, pile: between neighbours
  double layer;       // pile: height of a layer
  int number;         // pile
  int columns;        // pile
  double jitter;      // pile
  int seed;
  double velocity[3];
} GeneratorDef;

typedef struct RuleDef {
  double first, factor, step, min, max;
  int by;  // index, layer, column
} RuleDef;
