// Muscles, by the model that MuJoCo documents (Computation, "Muscle actuators"), after Zajac 1989 and Millard et al.
// 2013.
//
// The length l of what is pulled is measured in optimal lengths L₀, its speed in vmax L₀ per second: with the lengths
// l₀ … l₁ between which the muscle works in r₀ … r₁ optimal lengths,
//
//     L₀ = (l₁ − l₀)/(r₁ − r₀),   L = r₀ + (l − l₀)/L₀,   V = l̇/(vmax L₀),   f = −peak (F_L(L) F_V(V) a + F_P(L)).
//
// F_L is a bump of four parabolas from lmin over 1 to lmax; F_V grows from 0 at V = −1 over 1 at rest to fvmax; F_P
// begins at 1 and reaches half of fpmax in the middle between 1 and lmax, straight from there. A peak that is not given
// is the scale over the acceleration |M⁻¹Jᵀ| that a unit force makes at the start.
//
// The activation a follows the control u: ȧ = (u − a)/τ, with τ = τ_up (½ + 3/2 a) where it rises and
// τ_down/(½ + 3/2 a) where it falls, one fading into the other within a width.
#include "muscle.h"

#include <math.h>
#include <string.h>

#include "cholesky.h"
#include "math3.h"

static double bump(double x) {
  return x <= 0 ? 0 : x <= 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x);
}

double tribo_muscle_force(const TriboMuscleDef* m, double length, double speed, double activation) {
  const double unit = (m->lengths[1] - m->lengths[0]) / (m->range[1] - m->range[0]);
  const double L = m->range[0] + (length - m->lengths[0]) / unit, V = speed / (unit * m->vmax), y = m->fvmax - 1;
  const double by_length = L <= 1 ? bump((L - m->lmin) / (1 - m->lmin)) : bump((m->lmax - L) / (m->lmax - 1));
  const double by_speed = V <= -1  ? 0
                          : V <= 0 ? (V + 1) * (V + 1)
                          : V < y  ? m->fvmax - (y - V) * (y - V) / y
                                   : m->fvmax;
  const double x = 2 * (L - 1) / (m->lmax - 1);
  const double passive = x <= 0 ? 0 : m->fpmax * (x <= 1 ? 0.5 * x * x : x - 0.5);
  return -m->peak * (by_length * by_speed * activation + passive);
}

double tribo_muscle_rate(const TriboActuatorDef* def, double activation, double ctrl) {
  const double level = 0.5 + 1.5 * tribo_clamp(activation, 0, 1), up = def->time_constant * level,
               down = def->time_constant_down / level, excess = tribo_clamp(ctrl, 0, 1) - activation;
  double rising = excess > 0;
  if (def->smoothing > 0) {
    const double x = tribo_clamp(excess / def->smoothing + 0.5, 0, 1);
    rising = x * x * x * (10 + x * (6 * x - 15));
  }
  return excess / (down + (up - down) * rising);
}

// ---- what is found when the model is made

// The model at a pose.
typedef struct Look {
  TriboModel* model;
  TriboDynData* dynamics;
  TriboPose* poses;    // (nbody)
  TriboTwist* twists;  // (nbody)
  double *q, *v;       // (nq), (nv) all 0
  double *mass, *tau;  // (nv × nv), (nv)
  double* wrench;      // (nbody × 6)
} Look;

static TriboStatus length_at(Look* look, int tendon, double* length) {
  const TriboModel* model = look->model;
  double speed;
  TRIBO_TRY(tribo_dyn_kinematics(model->system, look->dynamics, look->q, look->v, look->poses, look->twists));
  tribo_tendon_measure(model, &model->tendons[tendon], look->q, look->v, look->poses, look->twists, length, &speed);
  return TRIBO_OK;
}

// Moves one joint to where the length is largest (sign 1) or smallest (−1): the best of a few values, then a search
// between its neighbours that halves the way.
static TriboStatus move_joint(Look* look, int tendon, const TriboJointInfo* joint, double sign, double* best) {
  enum { VALUES = 16, HALVINGS = 40 };
  double *q = &look->q[joint->q_at], at = *q, wide = (joint->upper - joint->lower) / VALUES, length;
  for (int i = 0; i <= VALUES; ++i) {
    *q = joint->lower + i * wide;
    TRIBO_TRY(length_at(look, tendon, &length));
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
      TRIBO_TRY(length_at(look, tendon, &length));
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
static TriboStatus find_lengths(Look* look, int tendon, double lengths[2]) {
  enum { ROUNDS = 20 };
  const TriboModel* model = look->model;
  for (int end = 0; end < 2; ++end) {
    memcpy(look->q, model->q0, (size_t)model->nq * sizeof *look->q);
    TRIBO_TRY(length_at(look, tendon, &lengths[end]));
    double before = NAN;
    for (int round = 0; round < ROUNDS && !(fabs(lengths[end] - before) < 1e-12); ++round) {
      before = lengths[end];
      for (int j = 0; j < model->njoint; ++j) {
        const TriboJointInfo* joint = &model->joints[j];
        if (joint->nq == 1 && joint->nv == 1 && isfinite(joint->lower) && isfinite(joint->upper)) {
          TRIBO_TRY(move_joint(look, tendon, joint, end == 0 ? -1 : 1, &lengths[end]));
        }
      }
    }
  }
  return TRIBO_OK;
}

static TriboStatus set_lengths(Look* look, TriboActuatorDef* def, const TriboActuatorInfo* info) {
  double ends[2];
  const TriboModel* model = look->model;
  if (info->joint >= 0) {
    ends[0] = model->joints[info->joint].lower;
    ends[1] = model->joints[info->joint].upper;
  } else if (isfinite(model->tendon_infos[info->tendon].lower) && isfinite(model->tendon_infos[info->tendon].upper)) {
    ends[0] = model->tendon_infos[info->tendon].lower;
    ends[1] = model->tendon_infos[info->tendon].upper;
  } else {
    TRIBO_TRY(find_lengths(look, info->tendon, ends));
  }
  def->muscle.lengths[0] = fmin(def->gear * ends[0], def->gear * ends[1]);
  def->muscle.lengths[1] = fmax(def->gear * ends[0], def->gear * ends[1]);
  return isfinite(ends[0]) && isfinite(ends[1]) && def->muscle.lengths[1] - def->muscle.lengths[0] > 1e-9
             ? TRIBO_OK
             : tribo_fail(TRIBO_INVALID, "%s: muscle_lengths are not given, and no limits of joints bound its length",
                          info->name);
}

static TriboStatus set_peak(Look* look, TriboActuatorDef* def, const TriboActuatorInfo* info) {
  TriboModel* model = look->model;
  const double none[3] = {0};
  memcpy(look->q, model->q0, (size_t)model->nq * sizeof *look->q);
  memset(look->tau, 0, (size_t)model->nv * sizeof *look->tau);
  memset(look->wrench, 0, 6 * (size_t)model->nbody * sizeof *look->wrench);
  TRIBO_TRY(tribo_dyn_kinematics(model->system, look->dynamics, look->q, look->v, look->poses, look->twists));
  if (info->joint >= 0) {
    look->tau[model->joints[info->joint].v_at] = def->gear;
  } else {
    tribo_tendon_pull(model, &model->tendons[info->tendon], look->poses, def->gear, look->tau, look->wrench);
  }
  TRIBO_TRY(tribo_dyn_generalize(model->system, look->dynamics, look->q, look->wrench, look->tau));
  TRIBO_TRY(tribo_dyn_terms(model->system, look->dynamics, none, look->q, look->v, look->mass, NULL, NULL));
  tribo_cholesky(look->mass, model->nv);
  tribo_cholesky_forward(look->mass, look->tau, model->nv);
  tribo_cholesky_backward(look->mass, look->tau, model->nv);
  double square = 0;
  for (int i = 0; i < model->nv; ++i) {
    square += look->tau[i] * look->tau[i];
  }
  def->muscle.peak = def->muscle.scale / fmax(sqrt(square), 1e-15);
  return TRIBO_OK;
}

static TriboStatus find_all(Look* look, const TriboScene* scene, TriboPool* pool) {
  TriboModel* model = look->model;
  const size_t nv = (size_t)model->nv, nbody = (size_t)model->nbody;
  for (int i = 0; i < model->nactuator; ++i) {
    TriboActuatorDef* def = &model->actuators[i];
    const int short_of = def->has_muscle && (isnan(def->muscle.lengths[0]) || def->muscle.peak < 0);
    if (short_of && look->dynamics == NULL) {
      look->poses = tribo_pool_alloc(pool, nbody, sizeof *look->poses);
      look->twists = tribo_pool_alloc(pool, nbody, sizeof *look->twists);
      look->wrench = tribo_pool_alloc(pool, nbody, 6 * sizeof *look->wrench);
      look->q = tribo_pool_alloc(pool, (size_t)model->nq, sizeof *look->q);
      look->v = tribo_pool_alloc(pool, nv, sizeof *look->v);
      look->tau = tribo_pool_alloc(pool, nv, sizeof *look->tau);
      look->mass = tribo_pool_alloc(pool, nv * nv, sizeof *look->mass);
      if (look->poses == NULL || look->twists == NULL || look->wrench == NULL || look->q == NULL || look->v == NULL ||
          look->tau == NULL || look->mass == NULL) {
        return tribo_fail(TRIBO_NOMEM, "no memory for the model");
      }
      TRIBO_TRY(tribo_dyn_data_create(model->system, &look->dynamics));
    }
    if (def->has_muscle && isnan(def->muscle.lengths[0])) {
      TRIBO_TRY(tribo_located(set_lengths(look, def, &model->actuator_infos[i]), scene->actuator_where[i]));
    }
    if (def->has_muscle && def->muscle.peak < 0) {
      TRIBO_TRY(set_peak(look, def, &model->actuator_infos[i]));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_compile_muscles(const TriboScene* scene, TriboModel* model) {
  Look look = {.model = model};
  TriboPool pool = {0};
  TriboStatus status = find_all(&look, scene, &pool);
  tribo_dyn_data_destroy(look.dynamics);
  tribo_pool_clear(&pool);
  return status;
}
