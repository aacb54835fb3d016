// Quantities by name.
#include <string.h>

#include "model_impl.h"
#include "quantity.h"
#include "settings.h"

static const TriboQuantityInfo list[] = {
#define X(id, name, of, unit, doc) {name, of, unit, doc},
    QUANTITIES(X)
#undef X
};

const TriboQuantityInfo* tribo_quantity_list(int* count) {
  *count = Q_COUNT;
  return list;
}

static TriboStatus unknown(const char* name, const char* kind) {
  const char* words[Q_COUNT];
  int n = 0;
  for (int i = 0; i < Q_COUNT; ++i) {
    if (strcmp(list[i].of, kind) == 0) {
      words[n++] = list[i].name;
    }
  }
  const char* near = tribo_nearest_word(name, words, n);
  return tribo_fail(TRIBO_NOT_FOUND, "there is no quantity '%s' of the kind %s%s%s%s", name, kind,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int find_closure(const TriboModel* model, const char* name) {
  for (int i = 0; i < model->nclosure; ++i) {
    if (strcmp(model->mechanism.closures[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static int find_sensor(const TriboModel* model, const char* name) {
  for (int i = 0; i < model->output.nsensor; ++i) {
    if (strcmp(model->output.sensor_infos[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

TriboStatus tribo_quantity_find(const TriboModel* model, const char* name, const char* of, TriboQuantity* out) {
  TRIBO_REQUIRE(model);
  TRIBO_REQUIRE(name);
  TRIBO_REQUIRE(out);
  // whose quantity: the world's, a joint's or a body's; a joint and a body may share a name
  int body = of != NULL ? tribo_names_find(&model->mechanism.body_names, of) : -1;
  int joint = of != NULL ? tribo_names_find(&model->mechanism.joint_names, of) : -1;
  int closure = of != NULL ? find_closure(model, of) : -1;
  int sensor = of != NULL ? find_sensor(model, of) : -1;
  int task = of != NULL ? tribo_model_find_task(model, of) : -1;
  if (of != NULL && body < 0 && joint < 0 && closure < 0 && sensor < 0 && task < 0) {
    return tribo_model_body_id(model, of, &body);
  }
  for (int i = 0; i < Q_COUNT; ++i) {
    if (strcmp(list[i].name, name) != 0) {
      continue;
    }
    int is_body = strcmp(list[i].of, "body") == 0, is_joint = strcmp(list[i].of, "joint") == 0;
    int is_closure = strcmp(list[i].of, "closure") == 0, is_sensor = strcmp(list[i].of, "sensor") == 0,
        is_task = strcmp(list[i].of, "task") == 0;
    int id = is_body ? body : is_joint ? joint : is_closure ? closure : is_sensor ? sensor : is_task ? task : -1;
    if (of == NULL ? is_body || is_joint || is_closure || is_sensor || is_task : id < 0) {
      continue;
    }
    if (is_joint && model->mechanism.joints[joint].nv != 1) {
      return tribo_fail(TRIBO_INVALID, "joint '%s' has %d degrees of freedom; '%s' needs one", of,
                        model->mechanism.joints[joint].nv, name);
    }
    if (is_sensor && tribo_quantity_component(i) >= model->output.sensor_infos[sensor].n) {
      return tribo_fail(TRIBO_INVALID, "sensor '%s' reads %d numbers; it has no '%s'", of,
                        model->output.sensor_infos[sensor].n, name);
    }
    *out = (TriboQuantity){i, id};
    return TRIBO_OK;
  }
  return unknown(name, of == NULL     ? "world"
                       : body >= 0    ? "body"
                       : joint >= 0   ? "joint"
                       : closure >= 0 ? "closure"
                       : task >= 0    ? "task"
                                      : "sensor");
}

TriboStatus tribo_quantity_parse(const TriboModel* model, const char* text, TriboQuantity* out) {
  const char* colon = strstr(text, ": ");
  if (colon == NULL) {
    return tribo_quantity_find(model, text, NULL, out);
  }
  char of[256];
  size_t n = (size_t)(colon - text);
  if (n >= sizeof of) {
    return tribo_fail(TRIBO_INVALID, "the name in quantity '%.40s…' is longer than 255 characters", text);
  }
  memcpy(of, text, n);
  of[n] = '\0';
  return tribo_quantity_find(model, colon + 2, of, out);
}
