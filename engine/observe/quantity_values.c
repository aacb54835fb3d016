// One number of a simulation by its name: the vocabulary of recorders and expectations.
#include "quantity.h"

#include <string.h>

#include "data.h"
#include "math3.h"
#include "settings.h"

// X(id, name, of, unit, doc)
#define QUANTITIES(X)                                                                                       \
  X(TIME, "time", "world", "s", "simulated time")                                                           \
  X(ENERGY, "energy", "world", "J", "kinetic plus potential energy")                                        \
  X(KINETIC, "kinetic", "world", "J", "kinetic energy")                                                     \
  X(POTENTIAL, "potential", "world", "J", "potential energy, zero at the origin")                           \
  X(MOMENTUM_X, "momentum.x", "world", "kg m/s", "linear momentum")                                         \
  X(MOMENTUM_Y, "momentum.y", "world", "kg m/s", "linear momentum")                                         \
  X(MOMENTUM_Z, "momentum.z", "world", "kg m/s", "linear momentum")                                         \
  X(ANGULAR_X, "angular_momentum.x", "world", "kg m²/s", "angular momentum about the origin")               \
  X(ANGULAR_Y, "angular_momentum.y", "world", "kg m²/s", "angular momentum about the origin")               \
  X(ANGULAR_Z, "angular_momentum.z", "world", "kg m²/s", "angular momentum about the origin")               \
  X(COM_X, "com.x", "world", "m", "centre of mass of everything that moves")                                \
  X(COM_Y, "com.y", "world", "m", "centre of mass of everything that moves")                                \
  X(COM_Z, "com.z", "world", "m", "centre of mass of everything that moves")                                \
  X(SPEED_MAX, "speed_max", "world", "m/s", "fastest centre of mass")                                       \
  X(SPEED_RMS, "speed_rms", "world", "m/s", "root mean square speed of the centres of mass")                \
  X(HEIGHT_MIN, "height_min", "world", "m", "lowest body origin along z")                                   \
  X(CONTACTS, "contacts", "world", "", "contact points of the last step")                                   \
  X(CONTACT_FORCE, "contact_force", "world", "N", "sum of the normal forces of the last step")              \
  X(PENETRATION, "penetration", "world", "m", "deepest overlap the last step began with")                   \
  X(OPENING, "opening", "world", "m, rad", "how far the worst closure is open after the last step")         \
  X(ASLEEP, "asleep", "world", "", "bodies that sleep after the last step")                                 \
  X(ITERATIONS, "iterations", "world", "", "solver iterations of the last step")                            \
  X(LEVELLED, "levelled", "world", "m", "shift of supports that contradicted each other in the last step")  \
  X(SUBSTEPS, "substeps", "world", "", "parts in which the last step was taken, 1 unless it was hard")      \
  X(CERTIFIED, "certified", "world", "", "1 when the last step was certified")                              \
  X(RESIDUAL_PEN, "residual.pen", "world", "m, rad", "largest of penetration, limit violation and opening") \
  X(RESIDUAL_NAT, "residual.nat", "world", "m/s", "natural-map residual of the last step")                  \
  X(RESIDUAL_PRIM, "residual.prim", "world", "N s", "distance of the impulses to their cones")              \
  X(RESIDUAL_DUAL, "residual.dual", "world", "m/s", "distance of the velocities to the dual cones")         \
  X(RESIDUAL_COMP, "residual.comp", "world", "J", "complementarity of the last step")                       \
  X(POSITION_X, "position.x", "body", "m", "body origin")                                                   \
  X(POSITION_Y, "position.y", "body", "m", "body origin")                                                   \
  X(POSITION_Z, "position.z", "body", "m", "body origin")                                                   \
  X(QUATERNION_X, "quaternion.x", "body", "", "orientation")                                                \
  X(QUATERNION_Y, "quaternion.y", "body", "", "orientation")                                                \
  X(QUATERNION_Z, "quaternion.z", "body", "", "orientation")                                                \
  X(QUATERNION_W, "quaternion.w", "body", "", "orientation")                                                \
  X(TILT, "tilt", "body", "rad", "angle between the body's z axis and the world's")                         \
  X(VELOCITY_X, "velocity.x", "body", "m/s", "velocity of the centre of mass")                              \
  X(VELOCITY_Y, "velocity.y", "body", "m/s", "velocity of the centre of mass")                              \
  X(VELOCITY_Z, "velocity.z", "body", "m/s", "velocity of the centre of mass")                              \
  X(SPEED, "speed", "body", "m/s", "length of the velocity")                                                \
  X(OMEGA_X, "omega.x", "body", "rad/s", "angular velocity, world axes")                                    \
  X(OMEGA_Y, "omega.y", "body", "rad/s", "angular velocity, world axes")                                    \
  X(OMEGA_Z, "omega.z", "body", "rad/s", "angular velocity, world axes")                                    \
  X(SPIN, "spin", "body", "rad/s", "length of the angular velocity")                                        \
  X(BODY_ASLEEP, "asleep", "body", "", "1 when it sleeps")                                                  \
  X(FORCE_X, "contact_force.x", "body", "N", "sum of the contact forces on the body in the last step")      \
  X(FORCE_Y, "contact_force.y", "body", "N", "sum of the contact forces on the body in the last step")      \
  X(FORCE_Z, "contact_force.z", "body", "N", "sum of the contact forces on the body in the last step")      \
  X(JOINT_Q, "q", "joint", "rad, m", "position of a one-dof joint")                                         \
  X(JOINT_V, "v", "joint", "rad/s, m/s", "velocity of a one-dof joint")                                     \
  X(JOINT_EFFORT, "effort", "joint", "N m, N", "of its motors, controllers and actuators in the last step") \
  X(CLOSURE_FORCE, "force", "closure", "N", "size of the force it carried in the last step")                \
  X(CLOSURE_TORQUE, "torque", "closure", "N m", "size of the torque it carried in the last step")           \
  X(READING, "reading", "sensor", "", "the first number of a sensor")                                       \
  X(READING_X, "reading.x", "sensor", "", "the first number of a sensor")                                   \
  X(READING_Y, "reading.y", "sensor", "", "the second")                                                     \
  X(READING_Z, "reading.z", "sensor", "", "the third")                                                      \
  X(READING_W, "reading.w", "sensor", "", "the fourth")

enum {
#define X(id, name, of, unit, doc) Q_##id,
  QUANTITIES(X)
#undef X
      Q_COUNT
};

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
    if (strcmp(model->closures[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static int find_sensor(const TriboModel* model, const char* name) {
  for (int i = 0; i < model->nsensor; ++i) {
    if (strcmp(model->sensor_infos[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

static int which_reading(int kind) {
  return kind <= Q_READING_X ? 0 : kind - Q_READING_X;
}

TriboStatus tribo_quantity_find(const TriboModel* model, const char* name, const char* of, TriboQuantity* out) {
  TRIBO_REQUIRE(model);
  TRIBO_REQUIRE(name);
  TRIBO_REQUIRE(out);
  // whose quantity: the world's, a joint's or a body's; a joint and a body may share a name
  int body = of != NULL ? tribo_names_find(&model->body_names, of) : -1;
  int joint = of != NULL ? tribo_names_find(&model->joint_names, of) : -1;
  int closure = of != NULL ? find_closure(model, of) : -1;
  int sensor = of != NULL ? find_sensor(model, of) : -1;
  if (of != NULL && body < 0 && joint < 0 && closure < 0 && sensor < 0) {
    return tribo_model_body_id(model, of, &body);
  }
  for (int i = 0; i < Q_COUNT; ++i) {
    if (strcmp(list[i].name, name) != 0) {
      continue;
    }
    int is_body = strcmp(list[i].of, "body") == 0, is_joint = strcmp(list[i].of, "joint") == 0;
    int is_closure = strcmp(list[i].of, "closure") == 0, is_sensor = strcmp(list[i].of, "sensor") == 0;
    int id = is_body ? body : is_joint ? joint : is_closure ? closure : is_sensor ? sensor : -1;
    if (of == NULL ? is_body || is_joint || is_closure || is_sensor : id < 0) {
      continue;
    }
    if (is_joint && model->joints[joint].nv != 1) {
      return tribo_fail(TRIBO_INVALID, "joint '%s' has %d degrees of freedom; '%s' needs one", of,
                        model->joints[joint].nv, name);
    }
    if (is_sensor && which_reading(i) >= model->sensor_infos[sensor].n) {
      return tribo_fail(TRIBO_INVALID, "sensor '%s' reads %d numbers; it has no '%s'", of,
                        model->sensor_infos[sensor].n, name);
    }
    *out = (TriboQuantity){i, id};
    return TRIBO_OK;
  }
  return unknown(name, of == NULL     ? "world"
                       : body >= 0    ? "body"
                       : joint >= 0   ? "joint"
                       : closure >= 0 ? "closure"
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

static double mechanics_value(const TriboMechanics* m, int kind) {
  switch (kind) {
    case Q_ENERGY: return m->kinetic + m->potential;
    case Q_KINETIC: return m->kinetic;
    case Q_POTENTIAL: return m->potential;
    case Q_MOMENTUM_X:
    case Q_MOMENTUM_Y:
    case Q_MOMENTUM_Z: return m->momentum[kind - Q_MOMENTUM_X];
    case Q_ANGULAR_X:
    case Q_ANGULAR_Y:
    case Q_ANGULAR_Z: return m->angular[kind - Q_ANGULAR_X];
    default: return m->com[kind - Q_COM_X];
  }
}

// The extreme or mean over all bodies.
static double crowd_value(const TriboModel* model, const TriboData* data, int kind) {
  double max = 0, sum = 0, low = INFINITY;
  for (int i = 0; i < model->nbody; ++i) {
    if (data->absent[i]) {
      continue;
    }
    double v2 = tribo_dot3(data->velocity + 3 * i, data->velocity + 3 * i);
    max = fmax(max, v2);
    sum += v2;
    low = fmin(low, data->position[3 * i + 2]);
  }
  return kind == Q_SPEED_MAX   ? sqrt(max)
         : kind == Q_SPEED_RMS ? sqrt(sum / fmax(1, model->nbody - data->nabsent))
                               : low;
}

static double step_value(const TriboData* data, int kind) {
  const TriboStepInfo* info = &data->info;
  double force = 0;
  switch (kind) {
    case Q_CONTACTS: return info->contacts;
    case Q_CONTACT_FORCE:
      for (int i = 0; i < data->nview; ++i) {
        force += tribo_dot3(data->views[i].force, data->views[i].normal);
      }
      return force;
    case Q_PENETRATION: return info->penetration;
    case Q_OPENING: return info->opening;
    case Q_ASLEEP: return data->nasleep;
    case Q_ITERATIONS: return info->iterations;
    case Q_LEVELLED: return info->levelled;
    case Q_SUBSTEPS: return info->substeps;
    case Q_CERTIFIED: return info->certified;
    case Q_RESIDUAL_PEN: return fmax(info->penetration, info->opening);
    case Q_RESIDUAL_NAT: return info->residual.nat;
    case Q_RESIDUAL_PRIM: return info->residual.prim;
    case Q_RESIDUAL_DUAL: return info->residual.dual;
    default: return info->residual.comp;
  }
}

static double body_force(const TriboData* data, int body, int axis) {
  double sum = 0;
  for (int i = 0; i < data->nview; ++i) {
    const TriboContactView* c = &data->views[i];
    sum += c->body_b == body ? c->force[axis] : c->body_a == body ? -c->force[axis] : 0;
  }
  return sum;
}

static double body_value(const TriboData* data, int kind, int id) {
  const double *p = data->position + 3 * id, *q = data->quaternion + 4 * id, *v = data->velocity + 3 * id,
               *w = data->omega + 3 * id;
  if (kind >= Q_POSITION_X && kind <= Q_POSITION_Z) return p[kind - Q_POSITION_X];
  if (kind >= Q_QUATERNION_X && kind <= Q_QUATERNION_W) return q[kind - Q_QUATERNION_X];
  if (kind >= Q_VELOCITY_X && kind <= Q_VELOCITY_Z) return v[kind - Q_VELOCITY_X];
  if (kind >= Q_OMEGA_X && kind <= Q_OMEGA_Z) return w[kind - Q_OMEGA_X];
  if (kind >= Q_FORCE_X && kind <= Q_FORCE_Z) return body_force(data, id, kind - Q_FORCE_X);
  if (kind == Q_SPEED) return tribo_norm3(v);
  if (kind == Q_SPIN) return tribo_norm3(w);
  if (kind == Q_BODY_ASLEEP) return data->asleep[id];
  // tilt from the half-angle form, exact for small angles where acos is not
  double s = hypot(q[0], q[1]), c = hypot(q[2], q[3]);
  return 2 * atan2(s, c);
}

static double joint_value(const TriboModel* model, const TriboData* data, int kind, int id) {
  const TriboJointInfo* joint = &model->joints[id];
  if (kind == Q_JOINT_EFFORT) {
    return tribo_data_effort(model, data, id);
  }
  if (kind == Q_JOINT_V) {
    return data->v[joint->v_at];
  }
  const double* q = data->q + joint->q_at;
  return joint->nq == 1 ? q[0] : atan2(q[1], q[0]);
}

static double closure_value(const TriboModel* model, const TriboData* data, int kind, int id) {
  const TriboClosureInfo* closure = &model->closures[id];
  const int first = kind == Q_CLOSURE_FORCE ? 0 : closure->nforce;
  const int end = kind == Q_CLOSURE_FORCE ? closure->nforce : closure->rows;
  double sum = 0;
  for (int r = first; r < end; ++r) {
    sum += data->closure_force[6 * id + r] * data->closure_force[6 * id + r];
  }
  return sqrt(sum);
}

TriboStatus tribo_quantity_value(const TriboModel* model, TriboData* data, TriboQuantity what, double* value) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_quantity_value"));
  TRIBO_REQUIRE(value);
  if (what.kind < 0 || what.kind >= Q_COUNT) {
    return tribo_fail(TRIBO_INVALID, "tribo_quantity_value: kind = %d was not made by tribo_quantity_find", what.kind);
  }
  if (what.kind == Q_TIME) {
    *value = data->time;
    return TRIBO_OK;
  }
  if (what.kind <= Q_COM_Z) {
    TriboMechanics m;
    TRIBO_TRY(tribo_data_mechanics(model, data, &m));
    *value = mechanics_value(&m, what.kind);
    return TRIBO_OK;
  }
  if (what.kind >= Q_READING) {
    double reading[4];
    TRIBO_TRY(tribo_data_sensor(model, data, what.id, reading));
    *value = reading[which_reading(what.kind)];
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_data_kinematics(model, data));
  *value = what.kind <= Q_HEIGHT_MIN     ? crowd_value(model, data, what.kind)
           : what.kind < Q_POSITION_X    ? step_value(data, what.kind)
           : what.kind < Q_JOINT_Q       ? body_value(data, what.kind, what.id)
           : what.kind <= Q_JOINT_EFFORT ? joint_value(model, data, what.kind, what.id)
                                         : closure_value(model, data, what.kind, what.id);
  return TRIBO_OK;
}
