// Tendons and actuators of a scene.
#include <math.h>

#include "math3.h"
#include "scene_add.h"

TriboTendonDef tribo_tendon_default(void) {
  return (TriboTendonDef){.rest = {NAN, NAN},
                          .lower = -INFINITY,
                          .upper = INFINITY,
                          .solimp = TRIBO_SOLIMP,
                          .force_min = -INFINITY,
                          .force_max = INFINITY};
}

TriboWrapDef tribo_wrap_default(void) {
  return (TriboWrapDef){.quaternion = {0, 0, 0, 1}, .side = {NAN, NAN, NAN}};
}

static TriboStatus check_wrap(const char* who, const TriboWrapDef* def) {
  TRIBO_TRY(tribo_check_range(who, "radius", def->radius, 0, 1e100));
  TRIBO_TRY(tribo_check_finite(who, "position", def->position, 3));
  TRIBO_TRY(tribo_check_quaternion(who, def->quaternion));
  if (!isnan(def->side[0])) {
    TRIBO_TRY(tribo_check_finite(who, "side", def->side, 3));
  }
  return (int)def->kind >= 0 && def->kind < TRIBO_WRAP_COUNT
             ? TRIBO_OK
             : tribo_fail(TRIBO_INVALID, "%s: kind = %d is none of TriboWrapKind", who, (int)def->kind);
}

// Refuses a tendon with wrong counts, weights, wraps, spring or range.
static TriboStatus check_tendon(const TriboTendonDef* def) {
  const char* who = def->name != NULL ? def->name : "tendon";
  if (def->njoint < 0 || def->npoint < 0 || (def->njoint > 0) == (def->npoint > 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: njoint = %d, npoint = %d; a tendon has either joints or points", who,
                      def->njoint, def->npoint);
  }
  if ((def->njoint > 0 && (def->joints == NULL || def->coefs == NULL)) ||
      (def->npoint > 0 && (def->bodies == NULL || def->points == NULL)) || def->npoint == 1) {
    return tribo_fail(TRIBO_INVALID, "%s: joints need coefs; points need bodies, and there are at least two", who);
  }
  for (int i = 0; i < def->njoint; ++i) {
    if (def->joints[i] == NULL) {
      return tribo_fail(TRIBO_INVALID, "%s: joints[%d] is NULL", who, i);
    }
  }
  TRIBO_TRY(tribo_check_finite(who, "coefs", def->coefs, def->njoint));
  TRIBO_TRY(tribo_check_finite(who, "points", def->points, 3 * def->npoint));
  if (def->weights != NULL) {
    for (int i = 0; i < def->npoint; ++i) {
      TRIBO_TRY(tribo_check_range(who, "weights", def->weights[i], 0, 1e6));
    }
  }
  if (def->wraps != NULL) {
    for (int i = 0; i < def->npoint; ++i) {
      TRIBO_TRY(check_wrap(who, &def->wraps[i]));
    }
  }
  TRIBO_TRY(tribo_check_range(who, "stiffness", def->stiffness, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "damping", def->damping, 0, 1e100));
  TRIBO_TRY(tribo_check_softness(who, def->solref, def->solimp));
  if (!(def->lower <= def->upper)) {
    return tribo_fail(TRIBO_INVALID, "%s: lower = %g must not be above upper = %g", who, def->lower, def->upper);
  }
  if (!(def->force_min <= def->force_max)) {
    return tribo_fail(TRIBO_INVALID, "%s: force_min = %g must not be above force_max = %g", who, def->force_min,
                      def->force_max);
  }
  if (isnan(def->rest[0]) != isnan(def->rest[1]) || def->rest[0] > def->rest[1]) {
    return tribo_fail(TRIBO_INVALID, "%s: rest = [%g, %g]; the first must not be above the second", who, def->rest[0],
                      def->rest[1]);
  }
  return TRIBO_OK;
}

TriboStatus tribo_scene_add_tendon(TriboScene* scene, const TriboTendonDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_tendon(def));
  GROW(scene, tendon);
  TriboTendonDef copy = *def;
  copy.joints = tribo_pool_names(&scene->pool, def->joints, def->njoint);
  copy.bodies = tribo_pool_names(&scene->pool, def->bodies, def->npoint);
  copy.coefs = tribo_pool_copy(&scene->pool, def->coefs, (size_t)def->njoint, sizeof *def->coefs);
  copy.points = tribo_pool_copy(&scene->pool, def->points, (size_t)def->npoint, 3 * sizeof *def->points);
  double* weights = tribo_pool_alloc(&scene->pool, (size_t)def->npoint, sizeof *weights);
  copy.weights = weights;
  TriboWrapDef* wraps = tribo_pool_alloc(&scene->pool, (size_t)def->npoint, sizeof *wraps);
  copy.wraps = wraps;
  if (copy.joints == NULL || copy.bodies == NULL || copy.coefs == NULL || copy.points == NULL || weights == NULL ||
      wraps == NULL) {
    return tribo_no_memory("for the scene");
  }
  for (int i = 0; i < def->npoint; ++i) {
    weights[i] = def->weights != NULL ? def->weights[i] : 1;
    wraps[i] = def->wraps != NULL ? def->wraps[i] : tribo_wrap_default();
    wraps[i].body = tribo_pool_strdup(&scene->pool, wraps[i].body);
    wraps[i].side_body = tribo_pool_strdup(&scene->pool, wraps[i].side_body);
    tribo_quat_normalize(wraps[i].quaternion);
  }
  TRIBO_TRY(tribo_scene_take_name(scene, &scene->tendon_names, "tendon", def->name, scene->ntendon, &copy.name));
  if (id != NULL) {
    *id = scene->ntendon;
  }
  scene->tendons[scene->ntendon++] = copy;
  return TRIBO_OK;
}

TriboActuatorDef tribo_actuator_default(void) {
  return (TriboActuatorDef){.quaternion = {0, 0, 0, 1},
                            .slider_axis = {0, 0, 1},
                            .gear = 1,
                            .gain = {1, 0, 0},
                            .ctrl_min = -INFINITY,
                            .ctrl_max = INFINITY,
                            .force_min = -INFINITY,
                            .force_max = INFINITY,
                            .time_constant_down = 0.04,
                            .act_min = -INFINITY,
                            .act_max = INFINITY,
                            .muscle = {.peak = -1,
                                       .scale = 200,
                                       .lengths = {NAN, NAN},
                                       .range = {0.75, 1.05},
                                       .lmin = 0.5,
                                       .lmax = 1.6,
                                       .vmax = 1.5,
                                       .fpmax = 1.3,
                                       .fvmax = 1.2}};
}

static TriboStatus check_muscle(const char* who, const TriboActuatorDef* def) {
  const TriboMuscleDef* m = &def->muscle;
  if (def->body != NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: a muscle pulls a joint or a tendon, not a body", who);
  }
  TRIBO_TRY(tribo_check_range(who, "muscle_peak", m->peak, -1e100, 1e100));
  TRIBO_TRY(tribo_check_range(who, "muscle_scale", m->scale, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "muscle_passive", m->fpmax, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "muscle_fast", m->fvmax, 1, 1e100));
  if (!(m->range[0] < m->range[1]) || !(m->lmin < 1 && m->lmax > 1) || !(m->vmax > 0) ||
      !(isnan(m->lengths[0]) || m->lengths[0] < m->lengths[1])) {
    return tribo_fail(TRIBO_INVALID,
                      "%s: muscle_range [%g, %g] and muscle_lengths [%g, %g] must rise, muscle_min %g < 1 < muscle_max "
                      "%g, muscle_speed %g > 0",
                      who, m->range[0], m->range[1], m->lengths[0], m->lengths[1], m->lmin, m->lmax, m->vmax);
  }
  return TRIBO_OK;
}

// Refuses an actuator with wrong gains, ranges or activation.
static TriboStatus check_actuator(const TriboActuatorDef* def) {
  const char* who = def->name != NULL ? def->name : "actuator";
  if ((def->joint != NULL) + (def->tendon != NULL) + (def->body != NULL) != 1) {
    return tribo_fail(TRIBO_INVALID, "%s: it must name one of a joint, a tendon and a body", who);
  }
  TRIBO_TRY(tribo_check_finite(who, "point", def->point, 3));
  TRIBO_TRY(tribo_check_finite(who, "wrench", def->wrench, 6));
  TRIBO_TRY(tribo_check_range(who, "crank_length", def->crank_length, 0, 1e100));
  TRIBO_TRY(tribo_check_finite(who, "slider_point", def->slider_point, 3));
  if (!(tribo_norm3(def->slider_axis) > 1e-12) || !tribo_finite(def->slider_axis, 3)) {
    return tribo_fail(TRIBO_INVALID, "%s: slider_axis = [%g, %g, %g] has no direction", who, def->slider_axis[0],
                      def->slider_axis[1], def->slider_axis[2]);
  }
  TRIBO_TRY(tribo_check_quaternion(who, def->quaternion));
  TRIBO_TRY(tribo_check_finite(who, "gear", &def->gear, 1));
  TRIBO_TRY(tribo_check_finite(who, "gain", def->gain, 3));
  TRIBO_TRY(tribo_check_finite(who, "bias", def->bias, 3));
  TRIBO_TRY(tribo_check_finite(who, "ctrl", &def->ctrl, 1));
  if (!(def->ctrl_min <= def->ctrl_max) || !(def->force_min <= def->force_max) || !(def->act_min <= def->act_max)) {
    return tribo_fail(TRIBO_INVALID,
                      "%s: ctrl in [%g, %g], force in [%g, %g], act in [%g, %g]; the first must not be above the "
                      "second",
                      who, def->ctrl_min, def->ctrl_max, def->force_min, def->force_max, def->act_min, def->act_max);
  }
  if ((int)def->activation < 0 || def->activation >= TRIBO_ACTIVATION_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: activation = %d is none of TriboActivation", who, (int)def->activation);
  }
  const int filter = def->activation >= TRIBO_ACTIVATION_FILTER;
  if (filter && !(def->time_constant > 0 && def->time_constant <= 1e9)) {
    return tribo_fail(TRIBO_INVALID, "%s: time_constant = %g s must be in (0, 1e9]", who, def->time_constant);
  }
  if (def->activation == TRIBO_ACTIVATION_MUSCLE && !(def->time_constant_down > 0 && def->smoothing >= 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: time_constant_down = %g s must be above 0, smoothing = %g ≥ 0", who,
                      def->time_constant_down, def->smoothing);
  }
  return def->has_muscle ? check_muscle(who, def) : TRIBO_OK;
}

TriboStatus tribo_scene_add_actuator(TriboScene* scene, const TriboActuatorDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_actuator(def));
  GROW(scene, actuator);
  TriboActuatorDef copy = *def;
  copy.joint = tribo_pool_strdup(&scene->pool, def->joint);
  copy.tendon = tribo_pool_strdup(&scene->pool, def->tendon);
  copy.body = tribo_pool_strdup(&scene->pool, def->body);
  copy.slider_body = tribo_pool_strdup(&scene->pool, def->slider_body);
  tribo_quat_normalize(copy.quaternion);
  tribo_normalize3(copy.slider_axis);
  if (copy.joint == NULL && copy.tendon == NULL && copy.body == NULL) {
    return tribo_no_memory("for the scene");
  }
  TRIBO_TRY(tribo_scene_take_name(scene, &scene->actuator_names, "actuator", def->name, scene->nactuator, &copy.name));
  if (id != NULL) {
    *id = scene->nactuator;
  }
  scene->actuators[scene->nactuator++] = copy;
  return TRIBO_OK;
}
