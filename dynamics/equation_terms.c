// The terms of the equations of motion at any state, one by one: for users, and for comparison with other programs.
#include "dyn_data.h"

static void free_terms(const FreeBody* body, const double gravity[3], const double v[6], double* bias) {
  double spin[3], turn[3];
  tribo_scale3(bias, -body->mass, gravity);
  tribo_mul33v(spin, body->inertia, v + 3);
  tribo_cross3(turn, v + 3, spin);
  tribo_copy3(bias + 3, turn);
}

static void tree_passive(const TriboTreeInfo* info, const double* q, const double* v, double* out) {
  for (int k = 0; k < info->nv; ++k) {
    out[k] = -info->damping[k] * v[k];
  }
  for (int i = 0; i < info->nlink; ++i) {
    double stretch[3];
    const int n = tribo_dyn_spring_stretch(info, info->links + i, q, stretch), at = info->links[i].v_at;
    for (int k = 0; k < n; ++k) {
      out[at + k] -= info->stiffness[at] * stretch[k];
    }
  }
}

TriboStatus tribo_dyn_terms(const TriboSystem* system, TriboDynData* data, const double gravity[3], const double* q,
                            const double* v, double* mass, double* bias, double* passive) {
  const char* where = "tribo_dyn_terms";
  if (system == NULL || data == NULL || gravity == NULL || q == NULL || v == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: system, data, gravity, q or v is NULL", where);
  }
  const TriboSystemInfo* info = &system->info;
  double* unit = data->scratch_q[0];
  TRIBO_TRY(tribo_dyn_unit_state(system, where, q, unit));
  TRIBO_TRY(tribo_dyn_check_finite(where, "v", v, info->nv));
  if (mass != NULL) {
    memset(mass, 0, (size_t)info->nv * (size_t)info->nv * sizeof *mass);
  }
  if (passive != NULL) {
    memset(passive, 0, (size_t)info->nv * sizeof *passive);
  }
  for (int b = 0; b < info->nblock; ++b) {
    const int at = info->block_v[b], n = info->block_dim[b], tree = b - info->nfree;
    const double* block = data->mass + system->block_at[b];
    if (tree >= 0) {
      const TreePart* part = system->trees + tree;
      const double* tree_q = unit + info->block_q[b];
      if (mass != NULL || bias != NULL) {
        TRIBO_TRY(
            tribo_dyn_tree_place(part, data->pin[tree], tree_q, data->scratch_poses + part->body, data->scratch_jac));
        tribo_dyn_tree_inertias(part, data->scratch_poses + part->body, data->scratch_inertias);
      }
      if (mass != NULL) {
        tribo_dyn_tree_mass(part, data->scratch_jac, data->scratch_inertias, data->scratch_sums, data->scratch_factor);
        block = data->scratch_factor;
      }
      if (bias != NULL) {
        tribo_dyn_tree_bias(part, gravity, tree_q, data->scratch_jac, data->scratch_inertias, v + at,
                            data->scratch_motions, bias + at);
      }
      if (passive != NULL) {
        tree_passive(part->info, tree_q, v + at, passive + at);
      }
    } else if (bias != NULL) {
      free_terms(system->bodies + b, gravity, v + at, bias + at);
    }
    if (mass != NULL) {
      for (int i = 0; i < n; ++i) {
        memcpy(mass + (size_t)(at + i) * (size_t)info->nv + at, block + i * n, (size_t)n * sizeof *mass);
      }
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_generalize(const TriboSystem* system, TriboDynData* data, const double* q, const double* wrench,
                                 double* force) {
  const char* where = "tribo_dyn_generalize";
  if (system == NULL || data == NULL || q == NULL || wrench == NULL || force == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: an argument is NULL", where);
  }
  const TriboSystemInfo* info = &system->info;
  double* unit = data->scratch_q[0];
  TRIBO_TRY(tribo_dyn_unit_state(system, where, q, unit));
  for (int b = 0; b < info->nfree; ++b) {
    TriboPose pose;
    double local[3], *f = force + info->block_v[b];
    tribo_dyn_body_pose(system->bodies + b, unit + info->block_q[b], &pose);
    tribo_mul33tv(local, pose.R, wrench + 6 * b + 3);
    tribo_add3(f, f, wrench + 6 * b);
    tribo_add3(f + 3, f + 3, local);
  }
  for (int t = 0; t < info->ntree; ++t) {
    const TreePart* part = system->trees + t;
    TriboPose* poses = data->scratch_poses + part->body;
    TRIBO_TRY(tribo_dyn_tree_place(part, data->pin[t], unit + info->block_q[part->block], poses, data->scratch_jac));
    tribo_dyn_tree_wrenches(part, poses, data->scratch_jac, wrench + 6 * part->body,
                            force + info->block_v[part->block]);
  }
  return TRIBO_OK;
}
