// The variational step of trees against the laws that any motion keeps: momentum for any step, energy without drift,
// time symmetry, second order.
#include "trees.h"

static const double NOWHERE[3] = {0, 0, 0}, DOWN[3] = {0, 0, -9.81};

// A floating chain of rods with hinges about axes that change from link to link.
static TriboTree* floating_chain(int count, uint64_t seed) {
  KitRandom random = {seed};
  static char names[8][16];
  TriboLinkDef links[8];
  for (int i = 0; i < count; ++i) {
    snprintf(names[i], sizeof names[i], "rod%d", i);
    links[i] = tribo_dyn_link_def();
    links[i].name = names[i];
    links[i].parent = i - 1;
    links[i].kind = i == 0 ? TRIBO_JOINT_FREE : TRIBO_JOINT_REVOLUTE;
    for (int k = 0; k < 3; ++k) {
      links[i].axis[k] = kit_normal(&random);
    }
    links[i].placement.p[2] = i == 0 ? 0 : 0.5;
    links[i].mass = 1;
    links[i].com[2] = 0.25;
    tribo_set3(links[i].inertia, 0.02, 0, 0);
    links[i].inertia[4] = 0.02, links[i].inertia[8] = 0.002;
  }
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_build(links, count, &tree));
  return tree;
}

typedef struct Kept {
  double energy, momentum, angular;  // largest changes, as a fraction of kinetic energy and of the links' momenta
} Kept;

static Kept fly(World* w, double h, int steps) {
  TriboStepOptions o = step_options(h, TRIBO_SCHEME_VARIATIONAL, 0);
  TriboEnergy start, now;
  Kept kept = {0};
  CHECK_OK(tribo_dyn_energy(w->system, w->data, NOWHERE, w->q, w->v, &start));
  for (int i = 0; i < steps; ++i) {
    world_step(w, &o, NULL, NULL);
    CHECK_OK(tribo_dyn_energy(w->system, w->data, NOWHERE, w->q, w->v, &now));
    double p[3], L[3];
    tribo_sub3(p, now.momentum, start.momentum);
    tribo_sub3(L, now.angular, start.angular);
    kept.energy = fmax(kept.energy, fabs(now.kinetic - start.kinetic) / start.kinetic);
    kept.momentum = fmax(kept.momentum, tribo_norm3(p) / sqrt(2 * start.mass * start.kinetic));
    kept.angular = fmax(kept.angular, tribo_norm3(L) / sqrt(2 * start.mass * start.kinetic));
  }
  return kept;
}

// Chains at many speeds and steps; the bands are those of the largest turn per step.
static void chains_keep_momentum_and_energy(void** state) {
  (void)state;
  static const double speeds[] = {5, 15, 40}, steps[] = {1e-3, 2e-3, 5e-3};
  for (int s = 0; s < 3; ++s) {
    for (int k = 0; k < 3; ++k) {
      Kept worst = {0};
      for (int run = 0; run < 6; ++run) {
        KitRandom random = {(uint64_t)(100 + run)};
        TriboTree* tree = floating_chain(2 + run % 4, (uint64_t)run);
        World w = world_of(NULL, 0, &tree, 1);
        world_randomize(&w, &random, 0);
        for (int i = 0; i < w.info->nv; ++i) {
          w.v[i] = kit_uniform(&random, -1, 1) * (i < 3 ? 1 : speeds[s] / 3);
        }
        const Kept kept = fly(&w, steps[k], 1000);
        worst.energy = fmax(worst.energy, kept.energy);
        worst.momentum = fmax(worst.momentum, kept.momentum);
        worst.angular = fmax(worst.angular, kept.angular);
        world_end(&w);
        tribo_dyn_tree_destroy(tree);
      }
      print_message("  omega %2.0f, h %.0f ms: energy %.1e, momentum %.1e, angular %.1e\n", speeds[s], 1e3 * steps[k],
                    worst.energy, worst.momentum, worst.angular);
      CHECK_LE(worst.momentum, 1e-12);
      CHECK_LE(worst.angular, 1e-9);
      const double turn = speeds[s] * steps[k];
      CHECK_LE(worst.energy, 0.05 * turn * turn);
    }
  }
}

// Every kind of joint in one floating tree.
static void every_joint_keeps_momentum(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    KitRandom random = {seed};
    TriboTree* tree = tree_of_every_kind(seed);
    World w = world_of(NULL, 0, &tree, 1);
    world_randomize(&w, &random, 0.5);
    const Kept kept = fly(&w, 1e-3, 300);
    print_message("  seed %d: energy %.1e, momentum %.1e, angular %.1e\n", (int)seed, kept.energy, kept.momentum,
                  kept.angular);
    CHECK_LE(kept.momentum, 1e-12);
    CHECK_LE(kept.angular, 1e-9);
    world_end(&w);
    tribo_dyn_tree_destroy(tree);
  }
}

// Largest difference of velocities after a second, against the finest step.
static void flight_is_of_second_order(void** state) {
  (void)state;
  double v[4][MAX_V], error[3];
  for (int level = 0; level < 4; ++level) {
    KitRandom random = {5};
    TriboTree* tree = floating_chain(4, 3);
    World w = world_of(NULL, 0, &tree, 1);
    world_randomize(&w, &random, 1);
    const int steps = level == 3 ? 4000 : 125 << level;
    TriboStepOptions o = step_options(0.5 / steps, TRIBO_SCHEME_VARIATIONAL, -9.81);
    for (int i = 0; i < steps; ++i) {
      world_step(&w, &o, NULL, NULL);
    }
    memcpy(v[level], w.v, sizeof v[level]);
    world_end(&w);
    tribo_dyn_tree_destroy(tree);
  }
  for (int level = 0; level < 3; ++level) {
    error[level] = 0;
    for (int k = 0; k < 9; ++k) {
      error[level] = fmax(error[level], fabs(v[level][k] - v[3][k]));
    }
  }
  print_message("  errors %.2e %.2e %.2e\n", error[0], error[1], error[2]);
  CHECK_NEAR(log2(error[0] / error[1]), 2, 0.1);
  CHECK_NEAR(log2(error[1] / error[2]), 2, 0.1);
}

static void flight_is_reversible(void** state) {
  (void)state;
  TriboTree* tree = tree_of_every_kind(3);
  World w = world_of(NULL, 0, &tree, 1);
  KitRandom random = {3};
  world_randomize(&w, &random, 0.5);
  TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, -9.81);
  double start[MAX_Q], dv[MAX_V];
  memcpy(start, w.q, sizeof start);
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < 100; ++i) {
      world_step(&w, &o, NULL, NULL);
    }
    for (int k = 0; k < w.info->nv; ++k) {
      w.v[k] = -w.v[k];
    }
  }
  CHECK_OK(tribo_dyn_difference(w.system, w.data, start, w.q, dv));
  for (int k = 0; k < w.info->nv; ++k) {
    CHECK_NEAR(dv[k], 0, 1e-9);
  }
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

// Without weight and velocity nothing moves, not by a bit.
static void rest_is_rest(void** state) {
  (void)state;
  TriboTree* tree = floating_chain(5, 2);
  World w = world_of(NULL, 0, &tree, 1);
  KitRandom random = {9};
  world_randomize(&w, &random, 0);
  memset(w.v, 0, sizeof w.v);
  TriboStepOptions o = step_options(1e-2, TRIBO_SCHEME_VARIATIONAL, 0);
  double start[MAX_Q];
  memcpy(start, w.q, sizeof start);
  world_step(&w, &o, NULL, NULL);
  assert_memory_equal(start, w.q, (size_t)w.info->nq * sizeof *start);
  for (int k = 0; k < w.info->nv; ++k) {
    assert_true(w.v[k] == 0);
  }
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

// A pendulum with a spring and a damper beside the scheme with the half-way point, both with small steps.
static void springs_and_dampers_as_half_way(void** state) {
  (void)state;
  double q[2];
  for (int scheme = 0; scheme < 2; ++scheme) {
    TriboLinkDef link = tribo_dyn_link_def();
    link.name = "bob";
    link.kind = TRIBO_JOINT_REVOLUTE;
    tribo_set3(link.axis, 1, 0, 0);
    link.mass = 2;
    link.com[2] = -0.7;
    link.stiffness = 3;
    link.damping = 0.5;
    link.armature = 0.1;
    TriboTree* tree = NULL;
    CHECK_OK(tribo_dyn_tree_build(&link, 1, &tree));
    World w = world_of(NULL, 0, &tree, 1);
    w.q[0] = 1;
    TriboStepOptions o = step_options(1e-4, scheme == 0 ? TRIBO_SCHEME_MIDPOINT : TRIBO_SCHEME_VARIATIONAL, DOWN[2]);
    for (int i = 0; i < 10000; ++i) {
      world_step(&w, &o, NULL, NULL);
    }
    q[scheme] = w.q[0];
    world_end(&w);
    tribo_dyn_tree_destroy(tree);
  }
  CHECK_NEAR(q[0], q[1], 1e-7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_keep_momentum_and_energy),
      cmocka_unit_test(every_joint_keeps_momentum),
      cmocka_unit_test(flight_is_of_second_order),
      cmocka_unit_test(flight_is_reversible),
      cmocka_unit_test(rest_is_rest),
      cmocka_unit_test(springs_and_dampers_as_half_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
