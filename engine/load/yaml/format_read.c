// Reading a mapping by its table.
#include <libgen.h>
#include <math.h>
#include <string.h>

#include "format.h"
#include "math3.h"
#include "package.h"
#include "settings.h"

TriboStatus tribo_format_path(TriboPool* pool, const YamlNode* node, const char* key, const char** out) {
  TRIBO_TRY(tribo_yaml_text(node, key, out));
  if (strstr(*out, "://") != NULL) {
    const char* found = tribo_package_find(pool, *out);
    if (found == NULL) {
      return tribo_yaml_fail(node,
                             "%s: '%.160s' is in no folder of ROS_PACKAGE_PATH or AMENT_PREFIX_PATH, and is none "
                             "of the example robots",
                             key, *out);
    }
    *out = found;
  } else if ((*out)[0] != '/') {
    char* copy = tribo_pool_strdup(pool, node->path);
    *out = copy == NULL ? NULL : tribo_pool_format(pool, "%s/%s", dirname(copy), *out);
  }
  return *out == NULL ? tribo_no_memory("to read %s", node->path) : TRIBO_OK;
}

static TriboStatus read_word(const YamlNode* node, const Field* field, int* out) {
  const char* text;
  TRIBO_TRY(tribo_yaml_text(node, field->key, &text));
  char accepted[512] = "";
  for (int i = 0; field->words[i] != NULL; ++i) {
    if (strcmp(text, field->words[i]) == 0) {
      *out = i;
      return TRIBO_OK;
    }
    strncat(accepted, i > 0 ? ", " : "", sizeof accepted - strlen(accepted) - 1);
    strncat(accepted, field->words[i], sizeof accepted - strlen(accepted) - 1);
  }
  return tribo_yaml_fail(node, "%s: %s; accepted are %s", field->key, tribo_yaml_what(node), accepted);
}

static TriboStatus check_range(const YamlNode* node, const Field* f, double x) {
  if (!((f->open_min ? x > f->min : x >= f->min) && x <= f->max)) {
    return tribo_yaml_fail(node, "%s: %g%s%s is outside the accepted range %c%g, %g]", f->key, x, f->unit[0] ? " " : "",
                           f->unit, f->open_min ? '(' : '[', f->min, f->max);
  }
  return TRIBO_OK;
}

static TriboStatus read_vector(const YamlNode* node, const Field* f, double* out, int n) {
  // a colour may leave out its alpha
  int short_color = f->type == FIELD_VEC4 && f->min == 0 && node->kind == YAML_LIST && node->count == 3;
  TRIBO_TRY(tribo_yaml_reals(node, f->key, out, short_color ? 3 : n));
  for (int i = 0; i < (short_color ? 3 : n); ++i) {
    TRIBO_TRY(check_range(&node->items[i], f, out[i]));
  }
  if (short_color) {
    out[3] = 1;
  }
  return TRIBO_OK;
}

// R = Rz(yaw) Ry(pitch) Rx(roll)
static void quaternion_of_rpy(const double a[3], double q[4]) {
  double x[4] = {sin(a[0] / 2), 0, 0, cos(a[0] / 2)}, y[4] = {0, sin(a[1] / 2), 0, cos(a[1] / 2)},
         z[4] = {0, 0, sin(a[2] / 2), cos(a[2] / 2)}, yx[4];
  tribo_quat_mul(yx, y, x);
  tribo_quat_mul(q, z, yx);
}

static TriboStatus read_field(TriboPool* pool, const YamlNode* node, const Field* f, void* strct) {
  void* at = (char*)strct + f->offset;
  double angles[3];
  switch (f->type) {
    case FIELD_REAL: TRIBO_TRY(tribo_yaml_real(node, f->key, at)); return check_range(node, f, *(double*)at);
    case FIELD_INT: TRIBO_TRY(tribo_yaml_int(node, f->key, at)); return check_range(node, f, *(int*)at);
    case FIELD_BOOL: return tribo_yaml_bool(node, f->key, at);
    case FIELD_TEXT: return tribo_yaml_text(node, f->key, at);
    case FIELD_PATH: return tribo_format_path(pool, node, f->key, at);
    case FIELD_VEC2: return read_vector(node, f, at, 2);
    case FIELD_VEC3: return read_vector(node, f, at, 3);
    case FIELD_VEC4: return read_vector(node, f, at, 4);
    case FIELD_VEC5: return read_vector(node, f, at, 5);
    case FIELD_VEC6: return read_vector(node, f, at, 6);
    case FIELD_WORD: return read_word(node, f, at);
    case FIELD_RPY:
      TRIBO_TRY(read_vector(node, f, angles, 3));
      quaternion_of_rpy(angles, at);
      return TRIBO_OK;
    case FIELD_SECTION: return TRIBO_OK;
  }
  return TRIBO_OK;
}

static const Field* find_field(const Section* section, const char* key) {
  for (int i = 0; i < section->nfield; ++i) {
    if (strcmp(section->fields[i].key, key) == 0) {
      return &section->fields[i];
    }
  }
  return NULL;
}

static TriboStatus unknown_key(const YamlNode* key, const Section* section, const Section* other) {
  const char* words[96];
  int n = 0;
  for (int k = 0; k < 2; ++k) {
    const Section* s = k == 0 ? section : other;
    if (s != NULL) {
      for (int i = 0; i < s->nfield && n < 96; ++i) {
        words[n++] = s->fields[i].key;
      }
    }
  }
  const char* near = tribo_nearest_word(key->text, words, n);
  return tribo_yaml_fail(key, "unknown key '%.40s' in section %s%s%s%s", key->text, section->name,
                         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

TriboStatus tribo_format_read(TriboPool* pool, const YamlNode* node, const Section* section, const Section* other,
                              void* strct) {
  if (node->kind != YAML_MAP) {
    return tribo_yaml_fail(node, "section %s must be a mapping, not %s", section->name, tribo_yaml_what(node));
  }
  for (int i = 0; i < node->count; ++i) {
    const YamlNode *key = tribo_yaml_key(node, i), *value = tribo_yaml_value(node, i);
    const Field* field = find_field(section, key->text);
    if (field == NULL) {
      if (other != NULL && find_field(other, key->text) != NULL) {
        continue;
      }
      return unknown_key(key, section, other);
    }
    TRIBO_TRY(read_field(pool, value, field, strct));
    // two keys for one thing (quaternion and rpy)
    if (field->type != FIELD_SECTION) {
      for (int k = 0; k < i; ++k) {
        const Field* before = find_field(section, tribo_yaml_key(node, k)->text);
        if (before != NULL && before->type != FIELD_SECTION && before->offset == field->offset) {
          return tribo_yaml_fail(key, "'%s' and '%s' say the same; give one of them", before->key, field->key);
        }
      }
    }
  }
  return TRIBO_OK;
}
