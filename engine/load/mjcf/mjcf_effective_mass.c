// Effective mass and inertia at the start. MuJoCo gives springs and dampers by time constants and damping ratios, which
// it turns into stiffness and damping by 1/(J M⁻¹Jᵀ), J being what a joint or an actuator moves. With M = L Lᵀ the
// denominator is |L⁻¹Jᵀ|².
#include "mjcf.h"

#include <math.h>
#include <string.h>

#include "small_dense.h"

// Of the bodies and joints that the scene has so far.
static TriboStatus factor_mass(Mjcf* m, const TriboModel* model) {
  TriboData* data;
  TRIBO_TRY(tribo_data_create(model, &data));
  const int n = tribo_model_size(model).nv;
  m->effective_mass = (MjEffectiveMass){.nv = n,
                                        .L = tribo_pool_alloc(&m->pool, (size_t)n * (size_t)n + 1, sizeof(double)),
                                        .y = tribo_pool_alloc(&m->pool, (size_t)n + 1, sizeof(double)),
                                        .v = tribo_pool_alloc(&m->pool, (size_t)m->njoint + 1, sizeof(int))};
  const TriboTerms terms = {.mass = m->effective_mass.L};
  TriboStatus status = m->effective_mass.L == NULL || m->effective_mass.y == NULL || m->effective_mass.v == NULL
                           ? tribo_no_memory("to read the model")
                           : tribo_data_terms(model, data, &terms);
  tribo_data_destroy(data);
  TRIBO_TRY(status);
  tribo_small_cholesky(n, m->effective_mass.L, n, 1e-300);
  for (int j = 0; j < m->njoint; ++j) {
    int id;
    // joints that are none of the scene belong to bodies that float
    m->effective_mass.v[j] =
        tribo_model_joint_id(model, m->joints[j].name, &id) == TRIBO_OK ? tribo_model_joint(model, id)->v_at : -1;
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_effective_mobility(Mjcf* m, const int* joints, const double* coefs, int count, int part,
                                          double* out) {
  if (m->effective_mass.L == NULL) {
    TriboModel* model;
    TriboStatus status = tribo_model_create(m->scene, &model);
    status = status == TRIBO_OK ? factor_mass(m, model) : status;
    tribo_model_destroy(model);
    if (status != TRIBO_OK && strncmp(tribo_last_error(), m->root->path, strlen(m->root->path)) != 0) {
      tribo_fail_prefix("%s:%d: ", m->root->path, m->root->line);
    }
    TRIBO_TRY(status);
  }
  const int n = m->effective_mass.nv;
  double* y = m->effective_mass.y;
  memset(y, 0, (size_t)n * sizeof *y);
  for (int i = 0; i < count; ++i) {
    if (m->effective_mass.v[joints[i]] >= 0) {
      y[m->effective_mass.v[joints[i]] + part] += coefs[i];
    }
  }
  *out = tribo_small_forward(n, m->effective_mass.L, n, y);
  return TRIBO_OK;
}

static TriboStatus set_spring(Mjcf* m, int j) {
  const MjJoint* joint = &m->joints[j];
  const double tau = joint->springdamper[0], ratio = joint->springdamper[1], one = 1;
  if (!(tau > 0 && ratio > 0)) {
    return tribo_xml_fail(joint->node, "joint '%s': springdamper = %g %g, both must be above 0", joint->name, tau,
                          ratio);
  }
  const int id = tribo_names_find(&m->scene->joint_names, joint->name), n = joint->type == MJ_BALL ? 3 : 1;
  if (joint->type == MJ_FREE || id < 0) {
    return tribo_mjcf_warn(m, joint->node, "springdamper of a free joint", "is not honoured");
  }
  double mobility = 0;
  for (int k = 0; k < n; ++k) {
    double part;
    TRIBO_TRY(tribo_mjcf_effective_mobility(m, &j, &one, 1, k, &part));
    mobility += part / n;
  }
  TriboJointDef* def = &m->scene->joints[id];
  def->stiffness = m->option.spring ? 1 / (mobility * tau * tau * ratio * ratio) : 0;
  def->damping = m->option.damper ? 2 / (mobility * tau) : 0;
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_springs(Mjcf* m) {
  for (int j = 0; j < m->njoint; ++j) {
    if (m->joints[j].springdamper[0] != 0 || m->joints[j].springdamper[1] != 0) {
      TRIBO_TRY(set_spring(m, j));
    }
  }
  return TRIBO_OK;
}
