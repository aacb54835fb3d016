// From the scene's tendons, actuators and medium to those of the model: names become indices, bodies get the boxes that
// the medium sees.
#include <math.h>
#include <string.h>

#include "eigen3.h"
#include "model_impl.h"
#include "pose.h"

static TriboStatus find_joint(const TriboModel* model, const char* who, const char* name, int* id) {
  TRIBO_TRY(tribo_model_joint_id(model, name, id));
  const TriboJointInfo* joint = &model->mechanism.joints[*id];
  return joint->nq == 1 && joint->nv == 1
             ? TRIBO_OK
             : tribo_fail(TRIBO_INVALID, "%s: joint '%s' is %s; it needs one with one coordinate", who, name,
                          joint->kind);
}

// ---- tendons

// A point of a body as the frame that dynamics moves sees it.
static TriboStatus find_point(const TriboModel* model, const char* name, const double at[3], int* body, double out[3]) {
  *body = TRIBO_WORLD;
  tribo_copy3(out, at);
  if (name != NULL) {
    TRIBO_TRY(tribo_model_body_id(model, name, body));
    const TriboPose* offset = &model->mechanism.body_offset[*body];
    tribo_mul33v(out, offset->R, at);
    tribo_add3(out, out, offset->p);
  }
  return TRIBO_OK;
}

static TriboStatus compile_wrap(const TriboModel* model, const TriboWrapDef* def, TriboWrap* out) {
  *out = (TriboWrap){.is_cylinder = def->kind == TRIBO_WRAP_CYLINDER,
                     .radius = def->radius,
                     .frame = tribo_pose(def->position, def->quaternion)};
  TRIBO_TRY(find_point(model, def->side_body, def->side, &out->side_body, out->side));
  TRIBO_TRY(find_point(model, def->body, def->position, &out->body, out->frame.p));
  if (def->body != NULL) {
    const TriboPose own = tribo_pose(def->position, def->quaternion);
    out->frame = tribo_pose_mul(&model->mechanism.body_offset[out->body], &own);
  }
  return TRIBO_OK;
}

// A tendon with its joints, points and wraps as ids.
static TriboStatus compile_tendon(const TriboTendonDef* def, TriboModel* model, TriboTendon* out) {
  TriboPool* pool = &model->pool;
  const size_t njoint = (size_t)def->njoint, npoint = (size_t)def->npoint;
  out->soft = tribo_softness(def->solref, def->solimp);
  out->force_min = def->force_min;
  out->force_max = def->force_max;
  out->has_force_bounds = isfinite(def->force_min) || isfinite(def->force_max);
  out->njoint = def->njoint;
  out->npoint = def->npoint;
  out->q_at = tribo_pool_alloc(pool, njoint, sizeof *out->q_at);
  out->v_at = tribo_pool_alloc(pool, njoint, sizeof *out->v_at);
  out->coef = tribo_pool_copy(pool, def->coefs, njoint, sizeof *def->coefs);
  out->body = tribo_pool_alloc(pool, npoint, sizeof *out->body);
  out->point = tribo_pool_copy(pool, def->points, npoint, 3 * sizeof *def->points);
  out->weight = tribo_pool_copy(pool, def->weights, npoint, sizeof *def->weights);
  out->wrap = tribo_pool_alloc(pool, npoint, sizeof *out->wrap);
  if (out->q_at == NULL || out->v_at == NULL || out->coef == NULL || out->body == NULL || out->point == NULL ||
      out->weight == NULL || out->wrap == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < def->njoint; ++i) {
    int joint;
    TRIBO_TRY(find_joint(model, def->name, def->joints[i], &joint));
    out->q_at[i] = model->mechanism.joints[joint].q_at;
    out->v_at[i] = model->mechanism.joints[joint].v_at;
  }
  for (int i = 0; i < def->npoint; ++i) {
    TRIBO_TRY(find_point(model, def->bodies[i], def->points + 3 * i, &out->body[i], out->point + 3 * i));
    TRIBO_TRY(compile_wrap(model, &def->wraps[i], &out->wrap[i]));
  }
  return TRIBO_OK;
}

// Slack lengths that are not given are those of the start, where joints with springs are slack too.
static TriboStatus find_rest(TriboModel* model) {
  TriboDynData* scratch = NULL;
  TriboPose* poses = tribo_alloc((size_t)model->nbody, sizeof *poses);
  TriboTwist* twists = tribo_alloc((size_t)model->nbody, sizeof *twists);
  TriboStatus status = poses == NULL || twists == NULL ? tribo_no_memory("for the model")
                                                       : tribo_dyn_data_create(model->mechanism.system, &scratch);
  if (status == TRIBO_OK) {
    status = tribo_dyn_kinematics(model->mechanism.system, scratch, model->initial.q, model->initial.v, poses, twists);
  }
  for (int i = 0; status == TRIBO_OK && i < model->actuation.ntendon; ++i) {
    TriboTendonInfo* info = &model->actuation.tendon_infos[i];
    if (isnan(info->rest[0])) {
      double speed;
      tribo_dyn_tendon_measure(&model->actuation.tendons[i], model->initial.q, model->initial.v, poses, twists,
                               &info->rest[0], &speed);
      info->rest[1] = info->rest[0];
    }
  }
  tribo_dyn_data_destroy(scratch);
  tribo_free(poses);
  tribo_free(twists);
  return status;
}

static TriboStatus compile_tendons(const TriboScene* scene, TriboModel* model) {
  model->actuation.tendons = tribo_pool_alloc(&model->pool, (size_t)scene->ntendon, sizeof *model->actuation.tendons);
  model->actuation.tendon_infos =
      tribo_pool_alloc(&model->pool, (size_t)scene->ntendon, sizeof *model->actuation.tendon_infos);
  if (model->actuation.tendons == NULL || model->actuation.tendon_infos == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < scene->ntendon; ++i) {
    const TriboTendonDef* def = &scene->tendons[i];
    TRIBO_TRY(tribo_located(compile_tendon(def, model, &model->actuation.tendons[i]), scene->tendon_where[i]));
    model->actuation.tendon_infos[i] = (TriboTendonInfo){.name = tribo_pool_strdup(&model->pool, def->name),
                                                         .stiffness = def->stiffness,
                                                         .damping = def->damping,
                                                         .rest = {def->rest[0], def->rest[1]},
                                                         .lower = def->lower,
                                                         .upper = def->upper};
    model->actuation.nbound += isfinite(def->lower) + isfinite(def->upper);
    if (model->actuation.tendon_infos[i].name == NULL) {
      return tribo_no_memory("for the model");
    }
  }
  model->actuation.ntendon = scene->ntendon;
  return scene->ntendon > 0 ? find_rest(model) : TRIBO_OK;
}

// ---- actuators

static TriboStatus compile_actuator(const TriboScene* scene, TriboModel* model, const TriboActuatorDef* def,
                                    TriboActuatorInfo* info) {
  *info = (TriboActuatorInfo){.name = tribo_pool_strdup(&model->pool, def->name),
                              .joint = -1,
                              .tendon = -1,
                              .body = -1,
                              .ctrl_min = def->ctrl_min,
                              .ctrl_max = def->ctrl_max,
                              .force_min = def->force_min,
                              .force_max = def->force_max};
  if (info->name == NULL) {
    return tribo_no_memory("for the model");
  }
  if (def->joint != NULL) {
    return find_joint(model, def->name, def->joint, &info->joint);
  }
  if (def->body != NULL) {
    model->actuation.nthruster++;
    return tribo_model_body_id(model, def->body, &info->body);
  }
  info->tendon = tribo_names_find(&scene->tendon_names, def->tendon);
  return info->tendon >= 0 ? TRIBO_OK : tribo_not_found(&scene->tendon_names, "tendon", def->tendon);
}

static TriboStatus compile_actuators(const TriboScene* scene, TriboModel* model) {
  model->actuation.actuators =
      tribo_pool_copy(&model->pool, scene->actuators, (size_t)scene->nactuator, sizeof *model->actuation.actuators);
  model->actuation.actuator_infos =
      tribo_pool_alloc(&model->pool, (size_t)scene->nactuator, sizeof *model->actuation.actuator_infos);
  model->actuation.sliders = tribo_pool_alloc(&model->pool, (size_t)scene->nactuator, sizeof *model->actuation.sliders);
  if (model->actuation.actuators == NULL || model->actuation.actuator_infos == NULL ||
      model->actuation.sliders == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < scene->nactuator; ++i) {
    TriboActuatorDef* def = &model->actuation.actuators[i];
    model->actuation.sliders[i] = TRIBO_WORLD;
    if (def->slider_body != NULL) {
      TRIBO_TRY(tribo_located(tribo_model_body_id(model, def->slider_body, &model->actuation.sliders[i]),
                              scene->actuator_where[i]));
    }
    TRIBO_TRY(tribo_located(compile_actuator(scene, model, def, &model->actuation.actuator_infos[i]),
                            scene->actuator_where[i]));
    def->name = def->joint = def->tendon = def->body = def->slider_body = NULL;  // the scene's
  }
  model->actuation.nactuator = scene->nactuator;
  return TRIBO_OK;
}

// ---- the medium

// Whether a body is a piece of another one, around which the medium flows once.
static int is_piece(const TriboModel* model, int body) {
  int found = 0;
  for (int i = 0; i < model->mechanism.ncut; ++i) {
    found = found || model->mechanism.cuts[i].piece == body;
  }
  return found;
}

// The box of the same mass and inertia, of uniform density: I_x = m (b_y² + b_z²)/12 and so on.
static TriboStatus compile_drag(const TriboScene* scene, TriboModel* model, const int* scene_body) {
  if (model->world.density == 0 && model->world.viscosity == 0) {
    return TRIBO_OK;
  }
  model->loads.drags = tribo_pool_alloc(&model->pool, (size_t)model->nbody, sizeof *model->loads.drags);
  if (model->loads.drags == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < model->nbody; ++i) {
    const TriboBodyInfo* body = &model->mechanism.bodies[i];
    if (!(body->mass > 0) || is_piece(model, i)) {
      continue;
    }
    // principal axes near those in which the inertia was given
    double start[4] = {0, 0, 0, 1};
    for (int k = 0; k < scene->nbody; ++k) {
      if (scene_body[k] == i && !isnan(scene->bodys[k].inertia[0])) {
        memcpy(start, scene->bodys[k].axes, sizeof start);
      }
    }
    const double* s = body->inertia;
    const double full[9] = {s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]};
    double R[9], left[9], turned[9], values[3], own[4];
    tribo_quat_to_mat(R, start);
    const double Rt[9] = {R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]};
    tribo_mul33(left, Rt, full);
    tribo_mul33(turned, left, R);
    tribo_eigen3(turned, 1e-15, values, own);
    ModelDrag* drag = &model->loads.drags[model->loads.ndrag++];
    drag->body = i;
    tribo_quat_mul(drag->axes, start, own);
    for (int a = 0; a < 3; ++a) {
      const double sum = values[(a + 1) % 3] + values[(a + 2) % 3] - values[a];
      drag->box[a] = sqrt(fmax(1e-15, sum) / body->mass * 6);
    }
  }
  return TRIBO_OK;
}

// Which part of a body's weight is compensated, and the joints that do it by their actuators.
static TriboStatus compile_gravity_compensation(const TriboScene* scene, TriboModel* model, const int* scene_body) {
  for (int i = 0; i < scene->nbody; ++i) {
    if (scene->bodys[i].gravity_compensation == 0) {
      continue;
    }
    if (model->actuation.gravity_compensation == NULL) {
      model->actuation.gravity_compensation =
          tribo_pool_alloc(&model->pool, (size_t)model->nbody, sizeof *model->actuation.gravity_compensation);
    }
    if (model->actuation.gravity_compensation == NULL) {
      return tribo_no_memory("for the model");
    }
    model->actuation.gravity_compensation[scene_body[i]] = scene->bodys[i].gravity_compensation;
  }
  if (model->actuation.gravity_compensation != NULL) {
    for (int j = 0; j < scene->njoint; ++j) {
      const int id = scene->joints[j].actuator_gravity_compensation
                         ? tribo_names_find(&model->mechanism.joint_names, scene->joints[j].name)
                         : -1;
      if (id >= 0 && model->mechanism.joints[id].nv == 1) {
        model->mechanism.joints[id].actuator_gravity_compensation = 1;
        model->actuation.ngravity_comp_joint++;
      }
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_compile_actuators(const TriboScene* scene, TriboModel* model, const int* scene_body) {
  TRIBO_TRY(compile_tendons(scene, model));
  TRIBO_TRY(compile_actuators(scene, model));
  TRIBO_TRY(tribo_compile_muscles(scene, model));
  TRIBO_TRY(compile_gravity_compensation(scene, model, scene_body));
  return compile_drag(scene, model, scene_body);
}
