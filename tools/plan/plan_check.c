// Playing a plan in the exact engine. The plan's joints are found by name; the scene's own step, which must divide the
// plan's, decides how often the contact problem is solved between two stages.
#include "plan_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/tribo.h>

typedef struct Player {
  const PlanMotion* motion;
  double stiffness, damping;
  TriboScene* scene;
  TriboModel* model;
  TriboData* data;
  const TriboJointInfo** joint;  // (joints of the motion)
  double *q, *v, *tau;
} Player;

static int count_joints(const PlanMotion* motion) {
  int n = 0;
  while (motion->joints[n].name != NULL) {
    n++;
  }
  return n;
}

// Loads the scene and finds the joints; how many of its steps make one of the plan.
static TriboStatus open_scene(Player* player, const char* path, long* steps, PlanCheck* out) {
  const PlanMotion* motion = player->motion;
  TriboStatus status = tribo_scene_load(path, NULL, &player->scene);
  status = status == TRIBO_OK ? tribo_model_create(player->scene, &player->model) : status;
  status = status == TRIBO_OK ? tribo_data_create(player->model, &player->data) : status;
  for (int i = 0; status == TRIBO_OK && i < count_joints(motion); ++i) {
    const PlanJoint* j = &motion->joints[i];
    int id;
    status = tribo_model_joint_id(player->model, j->name, &id);
    player->joint[i] = status == TRIBO_OK ? tribo_model_joint(player->model, id) : NULL;
  }
  if (status == TRIBO_OK) {
    const TriboModelSize size = tribo_model_size(player->model);
    const double parts = motion->h / tribo_model_world(player->model)->dt;
    *steps = lround(parts);
    if (*steps < 1 || fabs(parts - (double)*steps) > 1e-9 * parts) {
      snprintf(out->trouble, sizeof out->trouble, "a step of the plan, %g s, is no multiple of the scene's dt = %g s",
               motion->h, tribo_model_world(player->model)->dt);
      return TRIBO_INVALID;
    }
    player->q = calloc((size_t)size.nq + 1, sizeof(double));
    player->v = calloc((size_t)size.nv + 1, sizeof(double));
    player->tau = calloc((size_t)size.nv + 1, sizeof(double));
    status = player->q != NULL && player->v != NULL && player->tau != NULL ? TRIBO_OK : TRIBO_NOMEM;
  }
  return status;
}

static TriboStatus read_state(Player* player) {
  TriboView q, v;
  TriboStatus status = tribo_data_view(player->model, player->data, TRIBO_FIELD_Q, &q);
  status = status == TRIBO_OK ? tribo_data_view(player->model, player->data, TRIBO_FIELD_V, &v) : status;
  if (status == TRIBO_OK) {
    memcpy(player->q, q.values, (size_t)q.count * sizeof(double));
    memcpy(player->v, v.values, (size_t)v.count * sizeof(double));
  }
  return status;
}

// the state of the plan's first stage
static TriboStatus start(Player* player) {
  const PlanMotion* motion = player->motion;
  const TriboStatus status = read_state(player);
  if (status != TRIBO_OK) {
    return status;
  }
  for (int i = 0; i < count_joints(motion); ++i) {
    const PlanJoint* j = &motion->joints[i];
    const TriboJointInfo* joint = player->joint[i];
    player->q[joint->q_at] = motion->z[j->position];
    player->v[joint->v_at] = motion->z[j->velocity];
  }
  return tribo_data_set_state(player->model, player->data, player->q, player->v);
}

// One step of the scene, `part` of the way from stage k to the next: the efforts of the stage hold, feedback follows
// the line between the two.
static TriboStatus step(Player* player, int k, double part, PlanCheck* out) {
  const PlanMotion* motion = player->motion;
  const double *z = motion->z + k * motion->nz, *next = z + motion->nz;
  TriboStatus status = read_state(player);
  for (int i = 0; status == TRIBO_OK && i < count_joints(motion); ++i) {
    const PlanJoint* j = &motion->joints[i];
    const TriboJointInfo* joint = player->joint[i];
    if (j->effort >= 0) {
      const double position = (1 - part) * z[j->position] + part * next[j->position];
      const double velocity = (1 - part) * z[j->velocity] + part * next[j->velocity];
      player->tau[joint->v_at] = z[j->effort] + player->stiffness * (position - player->q[joint->q_at]) +
                                 player->damping * (velocity - player->v[joint->v_at]);
    }
  }
  TriboStepInfo info = {0};
  status = status == TRIBO_OK ? tribo_data_set_tau(player->model, player->data, player->tau) : status;
  status = status == TRIBO_OK ? tribo_step(player->model, player->data, &info) : status;
  out->steps++;
  out->certified += info.certified != 0;
  return status;
}

// compares with stage k; `state` (nz) receives the simulated state in the plan's unknowns
static TriboStatus compare(Player* player, int k, double* state, PlanCheck* out) {
  const PlanMotion* motion = player->motion;
  const double* z = motion->z + k * motion->nz;
  const TriboStatus status = read_state(player);
  out->last_position = out->last_velocity = 0;
  memcpy(state, z, (size_t)motion->nz * sizeof(double));
  for (int i = 0; status == TRIBO_OK && i < count_joints(motion); ++i) {
    const PlanJoint* j = &motion->joints[i];
    const TriboJointInfo* joint = player->joint[i];
    state[j->position] = player->q[joint->q_at];
    state[j->velocity] = player->v[joint->v_at];
    out->last_position = fmax(out->last_position, fabs(state[j->position] - z[j->position]));
    out->last_velocity = fmax(out->last_velocity, fabs(state[j->velocity] - z[j->velocity]));
  }
  out->position = fmax(out->position, out->last_position);
  out->velocity = fmax(out->velocity, out->last_velocity);
  return status;
}

TriboStatus plan_check(const PlanMotion* motion, const char* scene, double stiffness, double damping, double* last,
                       PlanCheck* out) {
  Player player = {.motion = motion, .stiffness = stiffness, .damping = damping};
  double* state = calloc((size_t)motion->nz, sizeof *state);
  long steps = 0;
  *out = (PlanCheck){0};
  player.joint = calloc((size_t)count_joints(motion) + 1, sizeof(TriboJointInfo*));
  TriboStatus status = state != NULL && player.joint != NULL ? open_scene(&player, scene, &steps, out) : TRIBO_NOMEM;
  status = status == TRIBO_OK ? start(&player) : status;
  for (int k = 0; status == TRIBO_OK && k + 1 < motion->stages; ++k) {
    for (long part = 0; status == TRIBO_OK && part < steps; ++part) {
      status = step(&player, k, (double)part / (double)steps, out);
    }
    status = status == TRIBO_OK ? compare(&player, k + 1, state, out) : status;
  }
  if (status == TRIBO_OK && last != NULL) {
    memcpy(last, state, (size_t)motion->nz * sizeof *state);
  }
  free(state);
  free(player.joint);
  free(player.q);
  free(player.v);
  free(player.tau);
  tribo_data_destroy(player.data);
  tribo_model_destroy(player.model);
  tribo_scene_destroy(player.scene);
  return status;
}
