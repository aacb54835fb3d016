// XML as a tree of elements that know where they stand. Bounded in size and depth; a DOCTYPE is refused, so there are
// no entities, bombs or outside files. Text between elements and comments are left out.
#pragma once

#include "pool.h"

typedef struct XmlAttribute {
  const char *name, *value;
  struct XmlAttribute* next;
} XmlAttribute;

typedef struct XmlNode {
  const char* path;  // file
  int line;          // from 1
  int scope;         // for the reader: which rules hold here
  const char* name;
  const char* text;  // between its tags, without the space around it; "" for none
  XmlAttribute* attributes;
  struct XmlNode *parent, *children, *next;
} XmlNode;

// Reads a file; all memory comes from the pool.
TriboStatus tribo_xml_read(TriboPool* pool, const char* path, XmlNode** root);

// `path:line: …`, always TRIBO_INVALID
TriboStatus tribo_xml_fail(const XmlNode* node, const char* format, ...) TRIBO_PRINTF(2, 3);

const char* tribo_xml_get(const XmlNode* node, const char* attribute);  // NULL: not there
const XmlNode* tribo_xml_child(const XmlNode* node, const char* name);  // the first of that name, NULL: none

// Numbers with spaces between them. Reads up to max of them; -1: something is no finite number or there are more.
int tribo_xml_numbers(const char* text, double* out, int max);

// A path beside the file of a node: `folder` (may be NULL) and `name`, each of which may be absolute.
char* tribo_xml_beside(TriboPool* pool, const XmlNode* node, const char* folder, const char* name);
