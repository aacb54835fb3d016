// Muscles (sim/muscle.c): what their definition leaves open is found at the initial state. The lengths between which a
// muscle works are the shortest and the longest that its tendon can have within the limits of the joints. A peak force
// that is not given is the scale over the acceleration |M⁻¹Jᵀ| that a unit force makes.
#include <math.h>
#include <string.h>

#include "small_dense.h"
#include "math3.h"
#include "model_impl.h"

// The model at a pose.
typedef struct MuscleScratch {
  TriboModel* model;
  TriboDynData* dynamics;
  TriboPose* poses;    // (nbody)
  TriboTwist* twists;  // (nbody)
  double *q, *v;       // (nq), (nv) all 0
  double *mass, *tau;  // (nv × nv), (nv)
  double* wrench;      // (nbody × 6)
} MuscleScratch;

static TriboStatus length_at(MuscleScratch* s, int tendon, double* length) {
  const TriboModel* model = s->model;
  double speed;
  TRIBO_TRY(tribo_dyn_kinematics(model->mechanism.system, s->dynamics, s->q, s->v, s->poses, s->twists));
  tribo_dyn_tendon_measure(&model->actuation.tendons[tendon], s->q, s->v, s->poses, s->twists, length, &speed);
  return TRIBO_OK;
}

// Moves one joint to where the length is largest (sign 1) or smallest (−1): the best of a few values, then a search
// between its neighbours that halves the way.
static TriboStatus move_joint(MuscleScratch* s, int tendon, const TriboJointInfo* joint, double sign, double* best) {
  enum { VALUES = 16, HALVINGS = 40 };
  double *q = &s->q[joint->q_at], at = *q, wide = (joint->upper - joint->lower) / VALUES, length;
  for (int i = 0; i <= VALUES; ++i) {
    *q = joint->lower + i * wide;
    TRIBO_TRY(length_at(s, tendon, &length));
    if (sign * length > sign * *best) {
      *best = length;
      at = *q;
    }
  }
  for (int i = 0; i < HALVINGS; ++i) {
    wide *= 0.5;
    const double middle = at;
    for (int side = -1; side <= 1; side += 2) {
      *q = tribo_clamp(middle + side * wide, joint->lower, joint->upper);
      TRIBO_TRY(length_at(s, tendon, &length));
      if (sign * length > sign * *best) {
        *best = length;
        at = *q;
      }
    }
  }
  *q = at;
  return TRIBO_OK;
}

// The shortest and longest that a tendon can be within the limits of the joints, one joint after the other.
static TriboStatus find_lengths(MuscleScratch* s, int tendon, double lengths[2]) {
  enum { ROUNDS = 20 };
  const TriboModel* model = s->model;
  for (int end = 0; end < 2; ++end) {
    memcpy(s->q, model->initial.q, (size_t)model->nq * sizeof *s->q);
    TRIBO_TRY(length_at(s, tendon, &lengths[end]));
    double before = NAN;
    for (int round = 0; round < ROUNDS && !(fabs(lengths[end] - before) < 1e-12); ++round) {
      before = lengths[end];
      for (int j = 0; j < model->njoint; ++j) {
        const TriboJointInfo* joint = &model->mechanism.joints[j];
        if (joint->nq == 1 && joint->nv == 1 && isfinite(joint->lower) && isfinite(joint->upper)) {
          TRIBO_TRY(move_joint(s, tendon, joint, end == 0 ? -1 : 1, &lengths[end]));
        }
      }
    }
  }
  return TRIBO_OK;
}

static TriboStatus set_lengths(MuscleScratch* s, TriboActuatorDef* def, const TriboActuatorInfo* info) {
  double ends[2];
  const TriboModel* model = s->model;
  if (info->joint >= 0) {
    ends[0] = model->mechanism.joints[info->joint].lower;
    ends[1] = model->mechanism.joints[info->joint].upper;
  } else if (isfinite(model->actuation.tendon_infos[info->tendon].lower) &&
             isfinite(model->actuation.tendon_infos[info->tendon].upper)) {
    ends[0] = model->actuation.tendon_infos[info->tendon].lower;
    ends[1] = model->actuation.tendon_infos[info->tendon].upper;
  } else {
    TRIBO_TRY(find_lengths(s, info->tendon, ends));
  }
  def->muscle.lengths[0] = fmin(def->gear * ends[0], def->gear * ends[1]);
  def->muscle.lengths[1] = fmax(def->gear * ends[0], def->gear * ends[1]);
  return isfinite(ends[0]) && isfinite(ends[1]) && def->muscle.lengths[1] - def->muscle.lengths[0] > 1e-9
             ? TRIBO_OK
             : tribo_fail(TRIBO_INVALID, "%s: muscle_lengths are not given, and no limits of joints bound its length",
                          info->name);
}

static TriboStatus set_peak(MuscleScratch* s, TriboActuatorDef* def, const TriboActuatorInfo* info) {
  TriboModel* model = s->model;
  const double none[3] = {0};
  memcpy(s->q, model->initial.q, (size_t)model->nq * sizeof *s->q);
  memset(s->tau, 0, (size_t)model->nv * sizeof *s->tau);
  memset(s->wrench, 0, 6 * (size_t)model->nbody * sizeof *s->wrench);
  TRIBO_TRY(tribo_dyn_kinematics(model->mechanism.system, s->dynamics, s->q, s->v, s->poses, s->twists));
  const TriboBodyFrames frames = {s->poses, s->twists, model->mechanism.body_offset, model->mechanism.body_com};
  if (info->joint >= 0) {
    s->tau[model->mechanism.joints[info->joint].v_at] = def->gear;
  } else {
    tribo_dyn_tendon_pull(&model->actuation.tendons[info->tendon], &frames, def->gear, s->tau, s->wrench);
  }
  TRIBO_TRY(tribo_dyn_generalize(model->mechanism.system, s->dynamics, s->q, s->wrench, s->tau));
  TRIBO_TRY(tribo_dyn_terms(model->mechanism.system, s->dynamics, none, s->q, s->v, s->mass, NULL, NULL));
  tribo_small_cholesky(model->nv, s->mass, model->nv, 1e-300);
  tribo_small_forward(model->nv, s->mass, model->nv, s->tau);
  tribo_small_backward(model->nv, s->mass, model->nv, s->tau);
  double square = 0;
  for (int i = 0; i < model->nv; ++i) {
    square += s->tau[i] * s->tau[i];
  }
  def->muscle.peak = def->muscle.scale / fmax(sqrt(square), 1e-15);
  return TRIBO_OK;
}

// Lengths and peak forces of the muscles that leave them to be found.
static TriboStatus find_all(MuscleScratch* s, const TriboScene* scene, TriboPool* pool) {
  TriboModel* model = s->model;
  const size_t nv = (size_t)model->nv, nbody = (size_t)model->nbody;
  for (int i = 0; i < model->actuation.nactuator; ++i) {
    TriboActuatorDef* def = &model->actuation.actuators[i];
    const int short_of = def->has_muscle && (isnan(def->muscle.lengths[0]) || def->muscle.peak < 0);
    if (short_of && s->dynamics == NULL) {
      s->poses = tribo_pool_alloc(pool, nbody, sizeof *s->poses);
      s->twists = tribo_pool_alloc(pool, nbody, sizeof *s->twists);
      s->wrench = tribo_pool_alloc(pool, nbody, 6 * sizeof *s->wrench);
      s->q = tribo_pool_alloc(pool, (size_t)model->nq, sizeof *s->q);
      s->v = tribo_pool_alloc(pool, nv, sizeof *s->v);
      s->tau = tribo_pool_alloc(pool, nv, sizeof *s->tau);
      s->mass = tribo_pool_alloc(pool, nv * nv, sizeof *s->mass);
      if (s->poses == NULL || s->twists == NULL || s->wrench == NULL || s->q == NULL || s->v == NULL ||
          s->tau == NULL || s->mass == NULL) {
        return tribo_no_memory("for the model");
      }
      TRIBO_TRY(tribo_dyn_data_create(model->mechanism.system, &s->dynamics));
    }
    if (def->has_muscle && isnan(def->muscle.lengths[0])) {
      TRIBO_TRY(tribo_located(set_lengths(s, def, &model->actuation.actuator_infos[i]), scene->actuator_where[i]));
    }
    if (def->has_muscle && def->muscle.peak < 0) {
      TRIBO_TRY(set_peak(s, def, &model->actuation.actuator_infos[i]));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_compile_muscles(const TriboScene* scene, TriboModel* model) {
  MuscleScratch scratch = {.model = model};
  TriboPool pool = {0};
  TriboStatus status = find_all(&scratch, scene, &pool);
  tribo_dyn_data_destroy(scratch.dynamics);
  tribo_pool_clear(&pool);
  return status;
}
