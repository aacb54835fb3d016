// Attributes by table, default classes, and the many ways to write a rotation.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mjcf.h"

// ---- attributes

static TriboStatus wrong(const XmlNode* node, const XmlAttribute* a, const char* accepted) {
  return tribo_xml_fail(node, "<%s> %s=\"%.60s\": accepted is %s", node->name, a->name, a->value, accepted);
}

static TriboStatus read_word(const XmlNode* node, const XmlAttribute* a, const char* const* words, int* out) {
  char all[160] = "";
  for (int i = 0; words[i] != NULL; ++i) {
    if (strcmp(words[i], a->value) == 0) {
      *out = i;
      return TRIBO_OK;
    }
    size_t used = strlen(all);
    snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", words[i]);
  }
  return wrong(node, a, all);
}

static TriboStatus read_reals(const XmlNode* node, const XmlAttribute* a, const MjAttr* row, double* out) {
  double x[10];
  int n = tribo_xml_numbers(a->value, x, row->max);
  if (n < row->min) {
    char accepted[64];
    snprintf(accepted, sizeof accepted, row->min == row->max ? "%d finite numbers" : "%d to %d finite numbers",
             row->min, row->max);
    return wrong(node, a, row->max == 1 ? "a finite number" : accepted);
  }
  memcpy(out, x, (size_t)n * sizeof *x);
  return TRIBO_OK;
}

static TriboStatus read_int(const XmlNode* node, const XmlAttribute* a, int* out) {
  double x;
  if (tribo_xml_numbers(a->value, &x, 1) != 1 || x != floor(x) || fabs(x) > 2147483647.0) {
    return wrong(node, a, "a whole number");
  }
  *out = (int)x;
  return TRIBO_OK;
}

static TriboStatus read_attribute(Mjcf* m, const XmlNode* node, const XmlAttribute* a, const MjAttr* row, void* out) {
  static const char* const bools[] = {"false", "true", NULL};
  char* field = (char*)out + row->offset;
  switch (row->kind) {
    case MJ_REAL: return read_reals(node, a, row, (double*)(void*)field);
    case MJ_INT: return read_int(node, a, (int*)(void*)field);
    case MJ_BOOL: return read_word(node, a, bools, (int*)(void*)field);
    case MJ_WORD: return read_word(node, a, row->words, (int*)(void*)field);
    case MJ_TEXT: *(const char**)(void*)field = a->value; return TRIBO_OK;
    case MJ_VISUAL_ONLY: return TRIBO_OK;
    default: break;
  }
  char key[96];
  snprintf(key, sizeof key, "attribute '%.30s' of <%.30s>", a->name, node->name);
  return tribo_mjcf_warn(m, node, key, "is not honoured");
}

TriboStatus tribo_mjcf_apply(Mjcf* m, const XmlNode* node, const MjElement* element, void* out) {
  for (const XmlAttribute* a = node->attributes; a != NULL; a = a->next) {
    const MjAttr* row = NULL;
    for (int i = 0; i < element->nattr && row == NULL; ++i) {
      row = strcmp(element->attrs[i].name, a->name) == 0 ? &element->attrs[i] : NULL;
    }
    // an empty one says nothing
    if (row != NULL && row->kind != MJ_TEXT && a->value[strspn(a->value, " \t\r\n")] == '\0') {
      continue;
    }
    if (row == NULL) {
      return tribo_xml_fail(node, "<%s> has no attribute '%.40s'", node->name, a->name);
    }
    TRIBO_TRY(read_attribute(m, node, a, row, out));
  }
  return TRIBO_OK;
}

// ---- classes

static int find_class(const Mjcf* m, int scope, const char* name) {
  for (int i = 0; i < m->ncls; ++i) {
    if (m->clss[i].name != NULL && m->clss[i].node->scope == scope && strcmp(m->clss[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static TriboStatus add_class(Mjcf* m, const XmlNode* node, int parent) {
  const char* name = tribo_xml_get(node, "class");
  if (parent >= 0 && name == NULL) {
    return tribo_xml_fail(node, "<default> inside another needs a class");
  }
  // the outermost class may have any name and be given in several pieces
  TRIBO_TRY(MJ_GROW(m, cls));
  const int at = m->ncls++;
  m->clss[at] = (MjClass){name, parent, node};
  for (const XmlNode* child = node->children; child != NULL; child = child->next) {
    if (strcmp(child->name, "default") == 0) {
      TRIBO_TRY(add_class(m, child, at));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_classes(Mjcf* m) {
  for (const XmlNode* node = m->root->children; node != NULL; node = node->next) {
    if (strcmp(node->name, "default") == 0) {
      TRIBO_TRY(add_class(m, node, -1));
    }
  }
  return TRIBO_OK;
}

// A class with what it inherits: every outermost piece first, then down to the class itself.
static TriboStatus apply_class(Mjcf* m, int scope, int cls, const char* const* kinds, int nkind,
                               TriboStatus (*apply)(Mjcf*, const XmlNode*, void*), void* out) {
  if (cls >= 0 && m->clss[cls].parent >= 0) {
    TRIBO_TRY(apply_class(m, scope, m->clss[cls].parent, kinds, nkind, apply, out));
  }
  const int outer = cls < 0 || m->clss[cls].parent < 0;
  for (int i = 0; i < m->ncls; ++i) {
    const MjClass* piece = &m->clss[i];
    if (outer ? piece->parent >= 0 || piece->node->scope != scope : i != cls) {
      continue;
    }
    for (const XmlNode* child = piece->node->children; child != NULL; child = child->next) {
      for (int k = 0; k < nkind; ++k) {
        if (strcmp(child->name, kinds[k]) == 0) {
          TRIBO_TRY(apply(m, child, out));
        }
      }
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_defaults(Mjcf* m, const XmlNode* node, const char* inherited, const char* const* kinds,
                                int nkind, TriboStatus (*apply)(Mjcf*, const XmlNode*, void*), void* out) {
  const char* name = tribo_xml_get(node, "class");
  name = name != NULL ? name : inherited;
  int cls = name != NULL ? find_class(m, node->scope, name) : -1;
  if (name != NULL && cls < 0 && strcmp(name, "main") != 0) {
    return tribo_xml_fail(node, "there is no default class '%.60s'", name);
  }
  return apply_class(m, node->scope, cls, kinds, nkind, apply, out);
}

typedef struct Reading {
  const MjElement* element;
  void* out;
} Reading;

static TriboStatus apply_element(Mjcf* m, const XmlNode* node, void* context) {
  const Reading* reading = context;
  return tribo_mjcf_apply(m, node, reading->element, reading->out);
}

TriboStatus tribo_mjcf_read(Mjcf* m, const XmlNode* node, const char* kind, const char* inherited,
                            const MjElement* element, void* out) {
  Reading reading = {element, out};
  TRIBO_TRY(tribo_mjcf_defaults(m, node, inherited, &kind, 1, apply_element, &reading));
  return tribo_mjcf_apply(m, node, element, out);
}

// ---- rotations

static void turn(double quat[4], const double axis[3], double angle) {
  double unit[3], w[3];
  tribo_copy3(unit, axis);
  tribo_normalize3(unit);
  tribo_scale3(w, angle, unit);
  tribo_quat_exp(quat, w);
}

static TriboStatus from_euler(const Mjcf* m, const XmlNode* node, const double euler[3], double quat[4]) {
  const char* order = tribo_mjcf_rules(m, node)->euler_order;
  if (strlen(order) != 3 || strspn(order, "xyzXYZ") != 3) {
    return tribo_xml_fail(node, "eulerseq \"%.20s\": accepted are three of x, y, z, X, Y, Z", order);
  }
  tribo_quat_identity(quat);
  for (int i = 0; i < 3; ++i) {
    // small letters turn about axes that turn along, capitals about fixed ones
    const int fixed = order[i] < 'a', at = (fixed ? order[i] - 'X' : order[i] - 'x');
    double axis[3] = {0}, step[4], next[4];
    axis[at] = 1;
    turn(step, axis, tribo_mjcf_rules(m, node)->degree ? euler[i] * (3.14159265358979323846 / 180) : euler[i]);
    tribo_quat_mul(next, fixed ? step : quat, fixed ? quat : step);
    memcpy(quat, next, sizeof next);
  }
  return TRIBO_OK;
}

// The shortest turn that takes z to the direction.
static void from_z(const double direction[3], double quat[4]) {
  double z[3], axis[3];
  const double up[3] = {0, 0, 1};
  tribo_copy3(z, direction);
  tribo_normalize3(z);
  tribo_cross3(axis, up, z);
  const double s = tribo_norm3(axis);
  if (s < 1e-10) {
    tribo_set3(axis, 1, 0, 0);
  }
  turn(quat, axis, atan2(s, z[2]));
}

TriboStatus tribo_mjcf_quaternion(const Mjcf* m, const XmlNode* node, const MjOrient* o, double quat[4]) {
  const int ways = !isnan(o->axisangle[0]) + !isnan(o->xyaxes[0]) + !isnan(o->zaxis[0]) + !isnan(o->euler[0]);
  if (ways > 1) {
    return tribo_xml_fail(node, "<%s>: two orientations; give one of quat, axisangle, xyaxes, zaxis, euler",
                          node->name);
  }
  if (!isnan(o->axisangle[0])) {
    const double angle = o->axisangle[3];
    if (!(tribo_norm3(o->axisangle) > 1e-12)) {
      return tribo_xml_fail(node, "<%s>: the axis of axisangle has length 0", node->name);
    }
    turn(quat, o->axisangle, tribo_mjcf_rules(m, node)->degree ? angle * (3.14159265358979323846 / 180) : angle);
  } else if (!isnan(o->xyaxes[0])) {
    double x[3], y[3], z[3];
    tribo_copy3(x, o->xyaxes);
    tribo_normalize3(x);
    tribo_axpy3(y, o->xyaxes + 3, -tribo_dot3(x, o->xyaxes + 3), x);
    if (!(tribo_norm3(x) > 0.5) || !(tribo_normalize3(y) > 1e-12)) {
      return tribo_xml_fail(node, "<%s>: xyaxes are along one line", node->name);
    }
    tribo_cross3(z, x, y);
    const double R[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
    tribo_quat_from_mat(quat, R);
  } else if (!isnan(o->zaxis[0])) {
    if (!(tribo_norm3(o->zaxis) > 1e-12)) {
      return tribo_xml_fail(node, "<%s>: zaxis has length 0", node->name);
    }
    from_z(o->zaxis, quat);
  } else if (!isnan(o->euler[0])) {
    TRIBO_TRY(from_euler(m, node, o->euler, quat));
  } else {
    quat[0] = o->quat[1], quat[1] = o->quat[2], quat[2] = o->quat[3], quat[3] = o->quat[0];
  }
  if (!(tribo_quat_normalize(quat) > 1e-12)) {
    return tribo_xml_fail(node, "<%s>: the quaternion has length 0", node->name);
  }
  return TRIBO_OK;
}

double tribo_mjcf_fromto(const double fromto[6], double pos[3], double quat[4]) {
  if (isnan(fromto[0])) {
    return 0;
  }
  // the z axis runs from the second point to the first
  double along[3];
  tribo_sub3(along, fromto, fromto + 3);
  tribo_add3(pos, fromto, fromto + 3);
  tribo_scale3(pos, 0.5, pos);
  from_z(along, quat);
  return tribo_norm3(along);
}

// ---- softness

void tribo_mjcf_softness(const double solref[2], const double solimp[5], double ref[2], double imp[5]) {
  static const double usual_ref[2] = {0.02, 1}, usual_imp[5] = TRIBO_SOLIMP;
  const int rigid = tribo_equal(solref, usual_ref, 2) && tribo_equal(solimp, usual_imp, 5);
  ref[0] = rigid ? 0 : solref[0];
  ref[1] = rigid ? 0 : solref[1];
  for (int i = 0; i < 5; ++i) {
    imp[i] = i < 2 ? tribo_clamp(solimp[i], 1e-4, 0.9999) : fmax(solimp[i], i == 4 ? 1 : 0);
  }
  imp[3] = tribo_clamp(imp[3], 0, 1);
}

// ---- names

#define FINDER(what)                                                             \
  int tribo_mjcf_find_##what(const Mjcf* m, const char* name) {                  \
    if (name == NULL) {                                                          \
      return -1;                                                                 \
    }                                                                            \
    for (int i = 0; i < m->n##what; ++i) {                                       \
      if (m->what##s[i].name != NULL && strcmp(m->what##s[i].name, name) == 0) { \
        return i;                                                                \
      }                                                                          \
    }                                                                            \
    return -1;                                                                   \
  }
FINDER(joint)
FINDER(body)
FINDER(geom)
FINDER(site)
