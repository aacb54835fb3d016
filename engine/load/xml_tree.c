// The only file that names libxml2.
#include "xml_tree.h"

#include <ctype.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 50 << 20 };

TriboStatus tribo_xml_fail(const XmlNode* node, const char* format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return tribo_fail(TRIBO_INVALID, "%s:%d: %s", node->path, node->line, text);
}

// ---- reading

// The whole file; malloc'ed.
static TriboStatus slurp(const char* path, char** content, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return tribo_fail(TRIBO_IO, "%s: cannot be opened", path);
  }
  *content = NULL;
  *size = 0;
  TriboStatus status = TRIBO_OK;
  size_t room = 0;
  while (status == TRIBO_OK && !feof(file) && !ferror(file)) {
    if (*size == room) {
      room = room == 0 ? 1 << 16 : 2 * room;
      char* more = room <= 2 * (size_t)FILE_LIMIT ? realloc(*content, room) : NULL;
      if (more == NULL) {
        status = room > FILE_LIMIT ? tribo_fail(TRIBO_INVALID, "%s: larger than 50 MB", path)
                                   : tribo_no_memory("to read %s", path);
        break;
      }
      *content = more;
    }
    *size += fread(*content + *size, 1, room - *size, file);
  }
  if (status == TRIBO_OK && ferror(file)) {
    status = tribo_fail(TRIBO_IO, "%s: cannot be read", path);
  }
  if (status == TRIBO_OK && *size > FILE_LIMIT) {
    status = tribo_fail(TRIBO_INVALID, "%s: larger than 50 MB", path);
  }
  fclose(file);
  if (status != TRIBO_OK) {
    free(*content);
    *content = NULL;
  }
  return status;
}

// The first complaint of the parser; it prints nothing because each parser context has its own handler.
typedef struct Complaint {
  const char* path;
  char text[320];
} Complaint;

static void hear(void* user, xmlErrorPtr error) {
  Complaint* c = user;
  if (c->text[0] == '\0' && error->message != NULL) {
    const int deep = strstr(error->message, "Excessive depth") != NULL;
    snprintf(c->text, sizeof c->text, "%s:%d:%d: %.240s", c->path, error->line, error->int2,
             deep ? "elements are nested more than 256 deep" : error->message);
    for (size_t n = strlen(c->text); n > 0 && isspace((unsigned char)c->text[n - 1]); --n) {
      c->text[n - 1] = '\0';
    }
  }
}

static TriboStatus parse(const char* path, const char* content, size_t size, xmlDocPtr* out) {
  xmlParserCtxtPtr parser = xmlNewParserCtxt();
  if (parser == NULL) {
    return tribo_no_memory("to read %s", path);
  }
  Complaint complaint = {.path = path};
  // not NOENT, not DTDLOAD, not HUGE: entities stay what they are and depth is bounded
  xmlSetStructuredErrorFunc(&complaint, hear);
  *out = xmlCtxtReadMemory(parser, content, (int)size, path, NULL, XML_PARSE_NONET | XML_PARSE_BIG_LINES);
  xmlSetStructuredErrorFunc(NULL, NULL);
  TriboStatus status = TRIBO_OK;
  if (*out == NULL || !parser->wellFormed) {
    status =
        tribo_fail(TRIBO_INVALID, "%s", complaint.text[0] != '\0' ? complaint.text : "the file is not well-formed XML");
  } else if ((*out)->intSubset != NULL) {
    status = tribo_fail(TRIBO_INVALID, "%s: a DOCTYPE is not accepted", path);
  } else if (xmlDocGetRootElement(*out) == NULL) {
    status = tribo_fail(TRIBO_INVALID, "%s: there is no element in it", path);
  }
  xmlFreeParserCtxt(parser);
  return status;
}

// ---- copying into the pool

static const char* trimmed(TriboPool* pool, const xmlNode* from) {
  const char* text = "";
  for (const xmlNode* child = from->children; child != NULL; child = child->next) {
    const char* c = (const char*)child->content;
    if ((child->type == XML_TEXT_NODE || child->type == XML_CDATA_SECTION_NODE) && c != NULL) {
      c += strspn(c, " \t\r\n");
      size_t n = strlen(c);
      while (n > 0 && isspace((unsigned char)c[n - 1])) {
        --n;
      }
      if (n > 0 && text[0] == '\0') {
        text = tribo_pool_format(pool, "%.*s", (int)n, c);
      }
    }
  }
  return text;
}

static TriboStatus copy_attributes(TriboPool* pool, const xmlNode* from, XmlNode* to) {
  XmlAttribute** last = &to->attributes;
  for (const xmlAttr* a = from->properties; a != NULL; a = a->next) {
    XmlAttribute* copy = tribo_pool_alloc(pool, 1, sizeof *copy);
    const xmlNode* value = a->children;
    if (copy == NULL) {
      return tribo_no_memory("to read %s", to->path);
    }
    copy->name = tribo_pool_strdup(pool, (const char*)a->name);
    copy->value = tribo_pool_strdup(pool, value != NULL && value->content != NULL ? (const char*)value->content : "");
    if (copy->name == NULL || copy->value == NULL) {
      return tribo_no_memory("to read %s", to->path);
    }
    *last = copy;
    last = &copy->next;
  }
  return TRIBO_OK;
}

// libxml2 refuses what is nested deeper than 256, so the recursion is bounded.
static TriboStatus copy_node(TriboPool* pool, const char* path, const xmlNode* from, XmlNode* parent, XmlNode** out) {
  XmlNode* node = tribo_pool_alloc(pool, 1, sizeof *node);
  if (node == NULL) {
    return tribo_no_memory("to read %s", path);
  }
  node->path = path;
  node->line = (int)xmlGetLineNo(from);
  node->parent = parent;
  node->name = tribo_pool_strdup(pool, (const char*)from->name);
  node->text = trimmed(pool, from);
  if (node->name == NULL || node->text == NULL) {
    return tribo_no_memory("to read %s", path);
  }
  TRIBO_TRY(copy_attributes(pool, from, node));
  XmlNode** last = &node->children;
  for (const xmlNode* child = from->children; child != NULL; child = child->next) {
    if (child->type == XML_ELEMENT_NODE) {
      TRIBO_TRY(copy_node(pool, path, child, node, last));
      last = &(*last)->next;
    }
  }
  *out = node;
  return TRIBO_OK;
}

TriboStatus tribo_xml_read(TriboPool* pool, const char* path, XmlNode** root) {
  char* content = NULL;
  size_t size = 0;
  xmlDocPtr document = NULL;
  *root = NULL;
  TRIBO_TRY(slurp(path, &content, &size));
  TriboStatus status = parse(path, content, size, &document);
  const char* kept = tribo_pool_strdup(pool, path);
  if (status == TRIBO_OK) {
    status = kept == NULL ? tribo_no_memory("to read %s", path)
                          : copy_node(pool, kept, xmlDocGetRootElement(document), NULL, root);
  }
  xmlFreeDoc(document);
  free(content);
  return status;
}

// ---- looking

const char* tribo_xml_get(const XmlNode* node, const char* attribute) {
  for (const XmlAttribute* a = node->attributes; a != NULL; a = a->next) {
    if (strcmp(a->name, attribute) == 0) {
      return a->value;
    }
  }
  return NULL;
}

const XmlNode* tribo_xml_child(const XmlNode* node, const char* name) {
  for (const XmlNode* child = node->children; child != NULL; child = child->next) {
    if (strcmp(child->name, name) == 0) {
      return child;
    }
  }
  return NULL;
}

int tribo_xml_numbers(const char* text, double* out, int max) {
  int n = 0;
  for (text += strspn(text, " \t\r\n"); *text != '\0'; text += strspn(text, " \t\r\n")) {
    char* end;
    double x = strtod(text, &end);
    if (end == text || n == max || !isfinite(x) || !(*end == '\0' || isspace((unsigned char)*end))) {
      return -1;
    }
    out[n++] = x;
    text = end;
  }
  return n;
}

char* tribo_xml_beside(TriboPool* pool, const XmlNode* node, const char* folder, const char* name) {
  const char* slash = strrchr(node->path, '/');
  const int keep =
      slash == NULL || name[0] == '/' || (folder != NULL && folder[0] == '/') ? 0 : (int)(slash - node->path) + 1;
  if (name[0] == '/' || folder == NULL || folder[0] == '\0') {
    return tribo_pool_format(pool, "%.*s%s", keep, node->path, name);
  }
  return tribo_pool_format(pool, "%.*s%s/%s", keep, node->path, folder, name);
}
