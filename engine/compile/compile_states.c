// States that a scene names, in full: what they do not mention is as at the start.
#include <math.h>
#include <string.h>

#include "model_impl.h"
#include "pose.h"
#include "scene_add.h"

// The position or velocity of a body that floats: free, or the first of a tree.
static TriboStatus set_body(const TriboModel* model, const TriboStateValue* value, int body, ModelState* state) {
  const TriboBodyInfo* info = &model->mechanism.bodies[body];
  const int free = body < model->mechanism.nfree;
  double *q = state->q + info->q_at, *v = state->v + info->v_at, R[9], arm[3], spin[3];
  if (value->kind == TRIBO_VALUE_POSITION) {
    memcpy(q, value->x, 7 * sizeof *q);
    if (!(tribo_quat_normalize(q + 3) > 1e-9)) {
      return tribo_fail(TRIBO_INVALID, "the quaternion of '%s' has length 0", value->of);
    }
  }
  // the place that moves: the centre of mass of a free body, the frame of a link
  tribo_quat_to_mat(R, q + 3);
  tribo_mul33v(arm, R, info->com);
  if (value->kind == TRIBO_VALUE_POSITION) {
    tribo_axpy3(q, q, free ? 1 : 0, arm);
    return TRIBO_OK;
  }
  tribo_cross3(spin, value->x + 3, arm);
  tribo_sub3(arm, value->x, spin);
  if (free) {
    tribo_copy3(v, value->x);
  } else {
    tribo_mul33tv(v, R, arm);
  }
  tribo_mul33tv(v + 3, R, value->x + 3);
  return TRIBO_OK;
}

static TriboStatus set_joint(const TriboModel* model, const TriboStateValue* value, ModelState* state) {
  const int id = tribo_names_find(&model->mechanism.joint_names, value->of);
  if (id < 0) {
    return tribo_not_found(&model->mechanism.joint_names, "joint", value->of);
  }
  const TriboJointInfo* joint = &model->mechanism.joints[id];
  const int position = value->kind == TRIBO_VALUE_POSITION, turns = position && joint->nq == 2 && joint->nv == 1;
  const int n = turns ? 1 : position ? joint->nq : joint->nv;
  if (value->n != n) {
    return tribo_fail(TRIBO_INVALID, "joint '%s' (%s) has %d numbers, it needs %d", value->of, joint->kind, value->n,
                      n);
  }
  double* at = position ? state->q + joint->q_at : state->v + joint->v_at;
  memcpy(at, value->x, (size_t)n * sizeof *at);
  // angles that go round are kept as cosine and sine
  if (turns) {
    at[0] = cos(value->x[0]);
    at[1] = sin(value->x[0]);
  }
  const int ball = strcmp(joint->kind, tribo_dyn_joint_name(TRIBO_JOINT_SPHERICAL)) == 0;
  if (position && ball && !(tribo_quat_normalize(at) > 1e-9)) {
    return tribo_fail(TRIBO_INVALID, "the quaternion of '%s' has length 0", value->of);
  }
  return TRIBO_OK;
}

static int floats(const TriboModel* model, int body) {
  if (body < 0 || body < model->mechanism.nfree) {
    return body >= 0;
  }
  for (int t = 0; t < model->mechanism.ntree; ++t) {
    if (model->mechanism.trees[t].first_body == body) {
      return tribo_dyn_tree_info(model->mechanism.trees[t].tree)->links[0].kind == TRIBO_JOINT_FREE;
    }
  }
  return 0;
}

static TriboStatus set_value(const TriboScene* scene, const TriboModel* model, const TriboStateValue* value,
                             ModelState* state) {
  if (value->kind == TRIBO_VALUE_CTRL || value->kind == TRIBO_VALUE_ACT) {
    const int id = tribo_names_find(&scene->actuator_names, value->of);
    if (id < 0) {
      return tribo_not_found(&scene->actuator_names, "actuator", value->of);
    }
    (value->kind == TRIBO_VALUE_CTRL ? state->ctrl : state->act)[id] = value->x[0];
    return TRIBO_OK;
  }
  const int body = tribo_names_find(&model->mechanism.body_names, value->of);
  return value->n == (value->kind == TRIBO_VALUE_POSITION ? 7 : 6) && floats(model, body)
             ? set_body(model, value, body, state)
             : set_joint(model, value, state);
}

// A named state: the values of the scene put into a full q, v and controls.
static TriboStatus compile_state(const TriboScene* scene, TriboModel* model, const TriboStateDef* def,
                                 ModelState* out) {
  const size_t nactuator = (size_t)model->actuation.nactuator;
  *out = (ModelState){.name = tribo_pool_strdup(&model->pool, def->name),
                      .time = def->time,
                      .q = tribo_pool_copy(&model->pool, model->initial.q, (size_t)model->nq, sizeof *out->q),
                      .v = tribo_pool_copy(&model->pool, model->initial.v, (size_t)model->nv, sizeof *out->v),
                      .ctrl = tribo_pool_alloc(&model->pool, nactuator, sizeof *out->ctrl),
                      .act = tribo_pool_alloc(&model->pool, nactuator, sizeof *out->act)};
  if (out->name == NULL || out->q == NULL || out->v == NULL || out->ctrl == NULL || out->act == NULL) {
    return tribo_no_memory("for the scene");
  }
  for (int i = 0; i < model->actuation.nactuator; ++i) {
    out->ctrl[i] = model->actuation.actuators[i].ctrl;
  }
  // velocities of bodies are turned by their positions
  for (int kind = 0; kind < TRIBO_VALUE_COUNT; ++kind) {
    for (int i = 0; i < def->nvalue; ++i) {
      if ((int)def->values[i].kind == kind) {
        TriboStatus status = set_value(scene, model, &def->values[i], out);
        if (status != TRIBO_OK) {
          tribo_fail_prefix("state '%s': ", def->name);
          return status;
        }
      }
    }
  }
  const TriboStatus status = tribo_compile_fit(model, out->q, out->v);
  if (status != TRIBO_OK) {
    tribo_fail_prefix("state '%s': ", def->name);
  }
  return status;
}

TriboStatus tribo_compile_states(const TriboScene* scene, TriboModel* model) {
  model->initial.act = tribo_pool_alloc(&model->pool, (size_t)model->actuation.nactuator, sizeof *model->initial.act);
  model->initial.states = tribo_pool_alloc(&model->pool, (size_t)scene->nstate, sizeof *model->initial.states);
  if (model->initial.act == NULL || model->initial.states == NULL) {
    return tribo_no_memory("for the scene");
  }
  for (int i = 0; i < scene->nstate; ++i) {
    TRIBO_TRY(tribo_located(compile_state(scene, model, &scene->states[i], &model->initial.states[i]),
                            scene->state_where[i]));
  }
  model->initial.nstate = scene->nstate;
  if (scene->start != NULL) {
    for (int i = 0; i < scene->nstate; ++i) {
      const ModelState* state = &model->initial.states[i];
      if (strcmp(state->name, scene->start) == 0) {
        memcpy(model->initial.q, state->q, (size_t)model->nq * sizeof *model->initial.q);
        memcpy(model->initial.v, state->v, (size_t)model->nv * sizeof *model->initial.v);
        memcpy(model->initial.act, state->act, (size_t)model->actuation.nactuator * sizeof *model->initial.act);
        for (int k = 0; k < model->actuation.nactuator; ++k) {
          model->actuation.actuators[k].ctrl = state->ctrl[k];
        }
        model->initial.time = state->time;
      }
    }
  }
  return TRIBO_OK;
}

const char* tribo_model_state(const TriboModel* model, int id) {
  return id >= 0 && id < model->initial.nstate ? model->initial.states[id].name : NULL;
}
