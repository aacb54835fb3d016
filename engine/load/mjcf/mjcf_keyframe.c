// Keyframes: states of the scene.
#include <math.h>
#include <string.h>

#include "mjcf.h"

typedef struct Key {
  double *qpos, *qvel, *ctrl, *act;  // NULL: not given
  TriboStateValue* values;
  int nvalue;
} Key;

// A shorter list leaves the rest NAN: as at the start.
static TriboStatus read_list(Mjcf* m, const XmlNode* node, const char* attribute, int count, double** out) {
  const char* text = tribo_xml_get(node, attribute);
  *out = NULL;
  if (text == NULL || text[strspn(text, " \t\r\n")] == '\0') {
    return TRIBO_OK;
  }
  *out = tribo_pool_alloc(&m->pool, (size_t)count + 1, sizeof **out);
  if (*out == NULL) {
    return tribo_no_memory("to read the model");
  }
  const int found = tribo_xml_numbers(text, *out, count);
  if (found < 0) {
    return tribo_xml_fail(node, "<key> %s: the model has %d of them; accepted are as many finite numbers", attribute,
                          count);
  }
  for (int i = found; i < count; ++i) {
    (*out)[i] = NAN;
  }
  return TRIBO_OK;
}

static void add_value(Key* key, TriboValueKind kind, const char* of, const double* x, int n) {
  if (isnan(x[n - 1])) {
    return;
  }
  TriboStateValue* value = &key->values[key->nvalue++];
  *value = (TriboStateValue){.kind = kind, .of = of, .n = n};
  memcpy(value->x, x, (size_t)n * sizeof *x);
}

// w x y z, of any length but 0
static void set_quaternion(const double* from, double to[4]) {
  to[0] = from[1], to[1] = from[2], to[2] = from[3], to[3] = from[0];
  if (!(tribo_quat_normalize(to) > 0)) {
    tribo_quat_identity(to);
  }
}

// A file has the velocity of the body's origin in world axes, and the angular one in its own.
static void add_floating(Key* key, const MjBody* body, const double* qpos, const double* qvel) {
  double x[7], R[9], arm[3], spin[3], quat[4];
  tribo_quat_from_mat(quat, body->start.R);
  if (qpos != NULL) {
    set_quaternion(qpos + 3, quat);
    tribo_copy3(x, qpos);
    memcpy(x + 3, quat, sizeof quat);
    add_value(key, TRIBO_VALUE_POSITION, body->name, x, 7);
  }
  if (qvel != NULL) {
    tribo_quat_to_mat(R, quat);
    tribo_mul33v(x + 3, R, qvel + 3);
    tribo_mul33v(arm, R, body->com);
    tribo_cross3(spin, x + 3, arm);
    tribo_add3(x, qvel, spin);
    add_value(key, TRIBO_VALUE_VELOCITY, body->name, x, 6);
  }
}

// Values of a key's qpos and qvel for every joint.
static void add_joints(const Mjcf* m, Key* key) {
  static const int nq[] = {[MJ_FREE] = 7, [MJ_BALL] = 4, [MJ_SLIDE] = 1, [MJ_HINGE] = 1};
  static const int nv[] = {[MJ_FREE] = 6, [MJ_BALL] = 3, [MJ_SLIDE] = 1, [MJ_HINGE] = 1};
  const double *qpos = key->qpos, *qvel = key->qvel;
  for (int b = 1; b < m->nbody; ++b) {
    for (int k = 0; k < m->bodys[b].njoint; ++k) {
      const MjJoint* joint = &m->joints[m->bodys[b].first_joint + k];
      double quat[4];
      if (joint->type == MJ_FREE) {
        add_floating(key, &m->bodys[b], qpos, qvel);
      } else {
        if (qpos != NULL && joint->type == MJ_BALL) {
          set_quaternion(qpos, quat);
        }
        if (qpos != NULL) {
          add_value(key, TRIBO_VALUE_POSITION, joint->name, joint->type == MJ_BALL ? quat : qpos, nq[joint->type]);
        }
        if (qvel != NULL) {
          add_value(key, TRIBO_VALUE_VELOCITY, joint->name, qvel, nv[joint->type]);
        }
      }
      qpos = qpos != NULL ? qpos + nq[joint->type] : NULL;
      qvel = qvel != NULL ? qvel + nv[joint->type] : NULL;
    }
  }
}

static void add_actuators(const Mjcf* m, Key* key) {
  for (int i = 0, at = 0; i < m->ncontrol; at += m->controls[i++].nact) {
    const int id = m->controls[i].id;
    if (id >= 0 && key->ctrl != NULL) {
      add_value(key, TRIBO_VALUE_CTRL, m->scene->actuators[id].name, &key->ctrl[i], 1);
    }
    if (id >= 0 && key->act != NULL && m->controls[i].nact > 0) {
      add_value(key, TRIBO_VALUE_ACT, m->scene->actuators[id].name, &key->act[at], 1);
    }
  }
}

// A <key> as a named state of the scene.
static TriboStatus read_key(Mjcf* m, const XmlNode* node) {
  static const char* const known[] = {"name", "time", "qpos", "qvel", "act", "ctrl", "mpos", "mquat", "class"};
  for (const XmlAttribute* a = node->attributes; a != NULL; a = a->next) {
    int found = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
      found |= strcmp(a->name, known[i]) == 0;
    }
    if (!found || strcmp(node->name, "key") != 0) {
      return tribo_xml_fail(node, "<%.40s> has no place in <keyframe>, or no attribute '%.40s'", node->name, a->name);
    }
  }
  if (m->incomplete) {
    return tribo_mjcf_leave_out(m, node, "of a model whose parts are left out is left out");
  }
  int nq = 0, nv = 0, na = 0;
  for (int j = 0; j < m->njoint; ++j) {
    const int type = m->joints[j].type;
    nq += type == MJ_FREE ? 7 : type == MJ_BALL ? 4 : 1;
    nv += type == MJ_FREE ? 6 : type == MJ_BALL ? 3 : 1;
  }
  for (int i = 0; i < m->ncontrol; ++i) {
    na += m->controls[i].nact;
  }
  Key key = {.nvalue = 0};
  TRIBO_TRY(read_list(m, node, "qpos", nq, &key.qpos));
  TRIBO_TRY(read_list(m, node, "qvel", nv, &key.qvel));
  TRIBO_TRY(read_list(m, node, "act", na, &key.act));
  TRIBO_TRY(read_list(m, node, "ctrl", m->ncontrol, &key.ctrl));
  key.values = tribo_pool_alloc(&m->pool, 2 * (size_t)(m->njoint + m->ncontrol) + 1, sizeof *key.values);
  double* time;
  TRIBO_TRY(read_list(m, node, "time", 1, &time));
  if (key.values == NULL) {
    return tribo_no_memory("to read the model");
  }
  add_joints(m, &key);
  add_actuators(m, &key);
  const TriboStateDef def = {.name = tribo_xml_get(node, "name"),
                             .time = time != NULL ? *time : 0,
                             .values = key.values,
                             .nvalue = key.nvalue};
  TRIBO_TRY(tribo_mjcf_at(m, node));
  return tribo_mjcf_added(m, tribo_scene_add_state(m->scene, &def, NULL));
}

TriboStatus tribo_mjcf_keyframes(Mjcf* m) {
  return tribo_mjcf_each(m, "keyframe", read_key);
}
