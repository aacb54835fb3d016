// Trees, states and systems that several test files share.
#pragma once

#include "dynamics.h"
#include "kit.h"
#include "math3.h"
#include "memory.h"
#include "shim/pinocchio_shim.h"

enum { MAX_Q = 96, MAX_V = 80, MAX_LINK = 40 };

static inline void random_pose(KitRandom* random, TriboPose* pose) {
  double q[4];
  kit_rotation(random, q);
  tribo_quat_to_mat(pose->R, q);
  for (int i = 0; i < 3; ++i) {
    pose->p[i] = kit_uniform(random, -0.5, 0.5);
  }
}

// An inertia that a body can have: of a few random point masses.
static inline void random_mass(KitRandom* random, TriboLinkDef* link) {
  link->mass = kit_uniform(random, 0.5, 2);
  memset(link->inertia, 0, sizeof link->inertia);
  for (int point = 0; point < 4; ++point) {
    double r[3];
    for (int i = 0; i < 3; ++i) {
      r[i] = kit_uniform(random, -0.3, 0.3);
    }
    for (int i = 0; i < 9; ++i) {
      link->inertia[i] += (i % 4 == 0 ? tribo_dot3(r, r) : 0) - r[i / 3] * r[i % 3];
    }
  }
  for (int i = 0; i < 3; ++i) {
    link->com[i] = kit_uniform(random, -0.2, 0.2);
  }
}

// Every joint kind twice, in a branching tree whose links are not in depth-first order. link 0 is free, so the whole
// floats.
static inline TriboTree* tree_of_every_kind(uint64_t seed) {
  KitRandom random = {seed};
  enum { COUNT = 2 * TRIBO_JOINT_COUNT };
  static char names[COUNT][32];
  TriboLinkDef links[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    snprintf(names[i], sizeof names[i], "link%d", i);
    links[i] = tribo_dyn_link_def();
    links[i].name = names[i];
    links[i].kind = (TriboJointKind)((TRIBO_JOINT_FREE + i) % TRIBO_JOINT_COUNT);
    links[i].parent = i == 0 ? -1 : kit_int(&random, i);
    random_pose(&random, &links[i].placement);
    random_mass(&random, links + i);
    for (int k = 0; k < 3; ++k) {
      links[i].axis[k] = kit_normal(&random);
      links[i].axis2[k] = kit_normal(&random);
    }
    double along = tribo_dot3(links[i].axis, links[i].axis2) / tribo_dot3(links[i].axis, links[i].axis);
    tribo_axpy3(links[i].axis2, links[i].axis2, -along, links[i].axis);
    // the second of each kind lies on a coordinate axis
    if (i >= TRIBO_JOINT_COUNT) {
      tribo_set3(links[i].axis, i % 3 == 0, i % 3 == 1, i % 3 == 2);
      tribo_set3(links[i].axis2, i % 3 == 1, i % 3 == 2, i % 3 == 0);
    }
    links[i].pitch = 0.3;
    tribo_set3(links[i].radii, 0.3, 0.2, 0.5);
    links[i].armature = i % 3 == 0 && i > 0 ? 0.05 : 0;
  }
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_build(links, COUNT, &tree));
  return tree;
}

typedef struct World {
  TriboSystem* system;
  TriboDynData* data;
  const TriboSystemInfo* info;
  double q[MAX_Q], v[MAX_V], q_next[MAX_Q], v_next[MAX_V];
  TriboProblem problem;
  const TriboRowInfo* rows;
} World;

// Free bodies come first; trees start at their zero configuration. The trees stay the caller's.
static inline World world_of(const TriboFreeBodyDef* bodies, int nbody, TriboTree* const* trees, int ntree) {
  World w = {0};
  TriboSystemDef def = {.bodies = bodies, .nbody = nbody, .trees = trees, .ntree = ntree};
  CHECK_OK(tribo_dyn_system_create(&def, &w.system));
  CHECK_OK(tribo_dyn_data_create(w.system, &w.data));
  w.info = tribo_dyn_system_info(w.system);
  assert_true(w.info->nq <= MAX_Q && w.info->nv <= MAX_V);
  for (int b = 0; b < nbody; ++b) {
    w.q[7 * b + 6] = 1;
  }
  for (int t = 0; t < ntree; ++t) {
    const TriboTreeInfo* info = tribo_dyn_tree_info(trees[t]);
    memcpy(w.q + w.info->block_q[nbody + t], info->neutral, (size_t)info->nq * sizeof(double));
  }
  return w;
}

static inline void world_end(World* w) {
  tribo_dyn_data_destroy(w->data);
  tribo_dyn_system_destroy(w->system);
}

// A random state: the zero configuration moved by a random tangent.
static inline void world_randomize(World* w, KitRandom* random, double speed) {
  double dv[MAX_V], q[MAX_Q];
  for (int k = 0; k < w->info->nv; ++k) {
    dv[k] = kit_uniform(random, -1.5, 1.5);
    w->v[k] = speed * kit_normal(random);
  }
  CHECK_OK(tribo_dyn_integrate(w->system, w->data, w->q, dv, q));
  memcpy(w->q, q, sizeof q);
}

static inline void world_assemble(World* w, const TriboStepOptions* o, const double* tau, const double* wrench,
                                  const TriboContact* contacts, const TriboContactLaw* laws, int ncontact) {
  CHECK_OK(tribo_dyn_update(w->system, w->data, o, w->q, w->v, tau, wrench));
  CHECK_OK(tribo_dyn_assemble(w->system, w->data, o, w->q, w->v, contacts, laws, ncontact, &w->problem, &w->rows));
}

static inline void world_advance(World* w, const TriboStepOptions* o, const double* lambda) {
  CHECK_OK(tribo_dyn_advance(w->system, w->data, o, w->q, w->v, lambda, w->q_next, w->v_next));
}

// One step without contacts, limits or friction, in place.
static inline void world_step(World* w, const TriboStepOptions* o, const double* tau, const double* wrench) {
  world_assemble(w, o, tau, wrench, NULL, NULL, 0);
  assert_int_equal(w->problem.nrow, 0);
  world_advance(w, o, NULL);
  memcpy(w->q, w->q_next, sizeof w->q);
  memcpy(w->v, w->v_next, sizeof w->v);
}

static inline double world_energy(World* w, const double gravity[3]) {
  TriboEnergy energy;
  CHECK_OK(tribo_dyn_energy(w->system, w->data, gravity, w->q, w->v, &energy));
  return energy.kinetic + energy.potential;
}

static inline TriboStepOptions step_options(double h, TriboScheme scheme, double gravity) {
  return (TriboStepOptions){.h = h,
                            .gravity = {0, 0, gravity},
                            .scheme = scheme,
                            .erp = 0.2,
                            .slop = 1e-6,
                            .depen_max = 1,
                            .bounce_min = 0.05};
}

// σ rows of the problem: out = J x for a velocity x of the whole system.
static inline void problem_apply(const World* w, const double* x, double* out) {
  const TriboProblem* p = &w->problem;
  for (int c = 0; c < p->ncone; ++c) {
    for (int r = 0; r < p->cones[c].dim; ++r) {
      double sum = 0;
      for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
        int block = p->term_block[t], n = p->block_dim[block];
        for (int i = 0; i < n; ++i) {
          sum += p->jac[p->term_at[t] + (size_t)(r * n + i)] * x[w->info->block_v[block] + i];
        }
      }
      out[p->cones[c].row + r] = sum;
    }
  }
}
