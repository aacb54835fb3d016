// The variational step of trees against the laws that any motion keeps: momentum for any step, energy without drift,
// second order.
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
  double gain;                       // most energy beyond that of the start, likewise
} Kept;

static Kept fly(World* w, TriboScheme scheme, double h, int steps) {
  TriboStepOptions o = step_options(h, scheme, 0);
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
    kept.gain = fmax(kept.gain, (now.kinetic - start.kinetic) / start.kinetic);
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
        const Kept kept = fly(&w, TRIBO_SCHEME_VARIATIONAL, steps[k], 1000);
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

// Euler's scheme damps spins, at any step: no step gains energy, and linear momentum stays.
static void euler_damps_spins(void** state) {
  (void)state;
  static const double speeds[] = {5, 40}, steps[] = {1e-3, 5e-3, 20e-3};
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < 3; ++k) {
      for (int run = 0; run < 4; ++run) {
        KitRandom random = {(uint64_t)(100 + run)};
        TriboTree* tree = floating_chain(2 + run % 4, (uint64_t)run);
        World w = world_of(NULL, 0, &tree, 1);
        world_randomize(&w, &random, 0);
        for (int i = 0; i < w.info->nv; ++i) {
          w.v[i] = kit_uniform(&random, -1, 1) * (i < 3 ? 1 : speeds[s] / 3);
        }
        for (int i = 0; i < 300; ++i) {
          const Kept kept = fly(&w, TRIBO_SCHEME_EULER, steps[k], 1);
          CHECK_LE(kept.gain, 1e-12);
          CHECK_LE(kept.momentum, 1e-9);
        }
        world_end(&w);
        tribo_dyn_tree_destroy(tree);
      }
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
    const Kept kept = fly(&w, TRIBO_SCHEME_VARIATIONAL, 1e-3, 300);
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

// A pendulum with a spring and a damper: two steps against a fine one, of second order.
static void springs_and_dampers_are_of_second_order(void** state) {
  (void)state;
  static const int counts[3] = {100, 200, 10000};
  double q[3];
  for (int run = 0; run < 3; ++run) {
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
    TriboStepOptions o = step_options(1.0 / counts[run], TRIBO_SCHEME_VARIATIONAL, DOWN[2]);
    for (int i = 0; i < counts[run]; ++i) {
      world_step(&w, &o, NULL, NULL);
    }
    q[run] = w.q[0];
    world_end(&w);
    tribo_dyn_tree_destroy(tree);
  }
  CHECK_NEAR((q[0] - q[2]) / (q[1] - q[2]), 4, 0.1);
  CHECK_NEAR(q[1], q[2], 1e-4);
}

// A tree of one floating link goes where a free body does, step by step.
static void check_one_link(TriboScheme scheme) {
  KitRandom random = {6};
  TriboLinkDef link = tribo_dyn_link_def();
  link.name = "body";
  link.kind = TRIBO_JOINT_FREE;
  random_mass(&random, &link);
  TriboFreeBodyDef body = {.mass = link.mass};
  memcpy(body.com, link.com, sizeof body.com);
  memcpy(body.inertia, link.inertia, sizeof body.inertia);
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_build(&link, 1, &tree));
  World w = world_of(&body, 1, &tree, 1);
  TriboPose pose[2];
  TriboTwist twist[2];
  double local[3], swing[3];
  for (int k = 0; k < 6; ++k) {
    w.v[k] = kit_normal(&random) * (k < 3 ? 1 : 5);
  }
  // the free body's q is its centre of mass, the tree's the link's frame; both begin in the same place
  tribo_scale3(w.q + 7, -1, link.com);
  tribo_cross3(swing, w.v + 3, link.com);
  tribo_copy3(local, w.v);
  tribo_sub3(w.v + 6, local, swing);
  tribo_copy3(w.v + 9, w.v + 3);
  TriboStepOptions o = step_options(2e-3, scheme, -9.81);
  double most = 0;
  for (int i = 0; i < 1000; ++i) {
    world_step(&w, &o, NULL, NULL);
    CHECK_OK(tribo_dyn_kinematics(w.system, w.data, w.q, w.v, pose, twist));
    for (int k = 0; k < 9; ++k) {
      most = fmax(most, fabs(pose[0].R[k] - pose[1].R[k]));
    }
    for (int k = 0; k < 3; ++k) {
      most = fmax(most, fabs(twist[0].w[k] - twist[1].w[k]));
    }
  }
  print_message("  after 1000 steps: %.1e\n", most);
  CHECK_LE(most, 1e-11);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

static void one_link_is_a_free_body(void** state) {
  (void)state;
  check_one_link(TRIBO_SCHEME_VARIATIONAL);
  check_one_link(TRIBO_SCHEME_EULER);
}

// A wheel on a fixed axle turns by h v exactly, however fast; on a floating frame the fast wheel of a gyroscope needs
// no more passes than a slow one, and all that flight keeps is kept.
static void wheels_turn_exactly(void** state) {
  (void)state;
  TriboLinkDef links[2] = {tribo_dyn_link_def(), tribo_dyn_link_def()};
  links[0].name = "frame";
  links[0].kind = TRIBO_JOINT_FREE;
  links[0].mass = 1;
  tribo_set3(links[0].inertia, 0.02, 0, 0);
  links[0].inertia[4] = 0.03, links[0].inertia[8] = 0.04;
  links[1].name = "wheel";
  links[1].parent = 0;
  links[1].kind = TRIBO_JOINT_CONTINUOUS;
  tribo_set3(links[1].axis, 0, 1, 0);
  tribo_set3(links[1].placement.p, 0.1, 0.2, 0.3);
  links[1].mass = 0.5;
  tribo_set3(links[1].com, 0, 0.05, 0);
  tribo_set3(links[1].inertia, 1e-3, 0, 0);
  links[1].inertia[4] = 2e-3, links[1].inertia[8] = 1e-3;
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_build(links, 2, &tree));
  World w = world_of(NULL, 0, &tree, 1);
  tribo_set3(w.v + 3, 0.3, 0.1, -0.2);
  w.v[6] = 2000;
  const Kept kept = fly(&w, TRIBO_SCHEME_VARIATIONAL, 1e-3, 2000);
  print_message("  wheel at 2 rad a step: energy %.1e, momentum %.1e, angular %.1e\n", kept.energy, kept.momentum,
                kept.angular);
  CHECK_LE(kept.energy, 1e-9);
  CHECK_LE(kept.momentum, 1e-12);
  CHECK_LE(kept.angular, 1e-11);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);

  links[1].parent = -1;
  CHECK_OK(tribo_dyn_tree_build(links + 1, 1, &tree));
  w = world_of(NULL, 0, &tree, 1);
  w.v[0] = 1000;
  TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, -9.81);
  for (int i = 0; i < 1000; ++i) {
    world_step(&w, &o, NULL, NULL);
  }
  CHECK_NEAR(w.v[0], 1000, 1e-9);
  CHECK_NEAR(w.q[0], cos(1000), 1e-9);
  CHECK_NEAR(w.q[1], sin(1000), 1e-9);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

// Impulses at the stops of hinges, with and without rebound inside the step, make no momentum, and take energy.
static void stops_keep_momentum(void** state) {
  (void)state;
  for (int rebounds = 0; rebounds < 2; ++rebounds) {
    TriboLinkDef links[3];
    static const char* const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; ++i) {
      links[i] = tribo_dyn_link_def();
      links[i].name = names[i];
      links[i].parent = i - 1;
      links[i].kind = i == 0 ? TRIBO_JOINT_FREE : TRIBO_JOINT_REVOLUTE;
      tribo_set3(links[i].axis, 1, i, 0);
      links[i].placement.p[2] = i == 0 ? 0 : 0.5;
      links[i].mass = 1;
      links[i].com[2] = 0.25;
      tribo_set3(links[i].inertia, 0.02, 0, 0);
      links[i].inertia[4] = 0.02, links[i].inertia[8] = 0.002;
      links[i].restitution = rebounds ? 0.6 : 0;
    }
    links[1].lower = links[2].lower = -0.1;
    links[1].upper = links[2].upper = 0.1;
    TriboTree* tree = NULL;
    CHECK_OK(tribo_dyn_tree_build(links, 3, &tree));
    World w = world_of(NULL, 0, &tree, 1);
    tribo_set3(w.v + 3, 2, -1, 0.5);
    w.v[6] = 4, w.v[7] = -6;
    TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, 0);
    TriboEnergy start, last, now;
    CHECK_OK(tribo_dyn_energy(w.system, w.data, NOWHERE, w.q, w.v, &start));
    last = start;
    int met = 0;
    double rise = 0, off[6];
    for (int i = 0; i < 2000; ++i) {
      world_assemble(&w, &o, NULL, NULL, NULL, NULL, 0);
      // one row at a time: those of two stops do not share a joint, and a few sweeps do
      double lambda[8] = {0};
      for (int sweep = 0; sweep < 200; ++sweep) {
        for (int r = 0; r < w.problem.nrow; ++r) {
          double v[MAX_V] = {0}, diagonal = 0, sum = w.problem.g[r];
          for (int s = 0; s < w.problem.nrow; ++s) {
            const double* jac = w.problem.jac + (size_t)s * (size_t)w.info->nv;
            for (int k = 0; k < w.info->nv; ++k) {
              v[k] += jac[k] * lambda[s];
            }
          }
          const double* jac = w.problem.jac + (size_t)r * (size_t)w.info->nv;
          for (int k = 0; k < w.info->nv; ++k) {
            for (int l = 0; l < w.info->nv; ++l) {
              sum += jac[k] * w.problem.minv[k * w.info->nv + l] * v[l];
              diagonal += jac[k] * w.problem.minv[k * w.info->nv + l] * jac[l];
            }
          }
          lambda[r] = fmax(0, lambda[r] - sum / diagonal);
        }
      }
      for (int r = 0; r < w.problem.nrow; ++r) {
        met += lambda[r] > 0;
      }
      world_advance(&w, &o, lambda);
      memcpy(w.q, w.q_next, sizeof w.q);
      memcpy(w.v, w.v_next, sizeof w.v);
      CHECK_OK(tribo_dyn_energy(w.system, w.data, NOWHERE, w.q, w.v, &now));
      rise = fmax(rise, now.kinetic - last.kinetic);
      last = now;
    }
    tribo_sub3(off, now.momentum, start.momentum);
    tribo_sub3(off + 3, now.angular, start.angular);
    print_message("  rebound %d: %d impulses, momentum %.1e, angular %.1e, energy %.3f of %.3f J, largest rise %.1e\n",
                  rebounds, met, tribo_norm3(off), tribo_norm3(off + 3), now.kinetic, start.kinetic, rise);
    assert_true(met >= 4);
    CHECK_LE(tribo_norm3(off), 1e-11);
    CHECK_LE(tribo_norm3(off + 3), 1e-11);
    CHECK_LE(rise, 1e-3 * start.kinetic);
    CHECK_LE(now.kinetic, start.kinetic);
    world_end(&w);
    tribo_dyn_tree_destroy(tree);
  }
}

// A top on an Euler joint whose second angle runs into 90° is refused by name, and the state stays.
static void euler_joints_are_refused_at_their_singularity(void** state) {
  (void)state;
  TriboLinkDef link = tribo_dyn_link_def();
  link.name = "head";
  link.joint_name = "neck";
  link.kind = TRIBO_JOINT_EULER;
  link.mass = 1;
  tribo_set3(link.inertia, 0.02, 0, 0);
  link.inertia[4] = 0.03, link.inertia[8] = 0.04;
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_build(&link, 1, &tree));
  World w = world_of(NULL, 0, &tree, 1);
  const TriboStepOptions o = step_options(1e-4, TRIBO_SCHEME_VARIATIONAL, 0);
  w.v[1] = 1;
  TriboStatus status = TRIBO_OK;
  for (int i = 0; i < 20000 && status == TRIBO_OK; ++i) {
    CHECK_OK(tribo_dyn_update(w.system, w.data, &o, w.q, w.v, NULL, NULL));
    CHECK_OK(tribo_dyn_assemble(w.system, w.data, &o, w.q, w.v, NULL, NULL, 0, &w.problem, &w.rows));
    status = tribo_dyn_advance(w.system, w.data, &o, w.q, w.v, NULL, w.q_next, w.v_next);
    if (status == TRIBO_OK) {
      memcpy(w.q, w.q_next, sizeof w.q);
      memcpy(w.v, w.v_next, sizeof w.v);
    }
  }
  assert_int_equal(status, TRIBO_NUMERIC);
  assert_non_null(strstr(tribo_last_error(), "joint 'neck' reaches the singularity of its Euler angles"));
  CHECK_NEAR(w.q[1], 1.5707963267948966, 3e-4);
  CHECK_NEAR(w.v[1], 1, 1e-9);
  w.q[1] = 1.5707963267948966;
  CHECK_FAILS(tribo_dyn_update(w.system, w.data, &o, w.q, w.v, NULL, NULL), TRIBO_NUMERIC, "joint 'neck' reaches");
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

// Far from the world's origin nothing is lost: the tree moves as it does there.
static void far_away_is_as_near(void** state) {
  (void)state;
  double v[2][MAX_V];
  for (int far = 0; far < 2; ++far) {
    TriboTree* tree = floating_chain(5, 4);
    World w = world_of(NULL, 0, &tree, 1);
    KitRandom random = {11};
    world_randomize(&w, &random, 3);
    if (far) {
      tribo_set3(w.q, 1e4, -2e4, 5e3);
    }
    const TriboStepOptions o = step_options(2e-3, TRIBO_SCHEME_VARIATIONAL, 0);
    for (int i = 0; i < 500; ++i) {
      world_step(&w, &o, NULL, NULL);
    }
    memcpy(v[far], w.v, sizeof v[far]);
    world_end(&w);
    tribo_dyn_tree_destroy(tree);
  }
  for (int k = 0; k < 10; ++k) {
    CHECK_NEAR(v[0][k], v[1][k], 0);
  }
}

// Two links for 1e5 steps at ω h = 0.3: the energy stays within a band, and its mean does not move.
static void energy_does_not_drift(void** state) {
  (void)state;
  TriboTree* tree = floating_chain(2, 1);
  World w = world_of(NULL, 0, &tree, 1);
  tribo_set3(w.v + 3, 12, -20, 8);
  w.v[6] = 9;
  const TriboStepOptions o = step_options(1e-2, TRIBO_SCHEME_VARIATIONAL, 0);
  TriboEnergy start, now;
  CHECK_OK(tribo_dyn_energy(w.system, w.data, NOWHERE, w.q, w.v, &start));
  enum { STEPS = 100000 };
  double band = 0, mean[2] = {0};
  for (int i = 0; i < STEPS; ++i) {
    world_step(&w, &o, NULL, NULL);
    CHECK_OK(tribo_dyn_energy(w.system, w.data, NOWHERE, w.q, w.v, &now));
    const double off = (now.kinetic - start.kinetic) / start.kinetic;
    band = fmax(band, fabs(off));
    mean[i / (STEPS / 2)] += off / (STEPS / 2);
  }
  print_message("  1e5 steps: band %.1e, means %.2e and %.2e\n", band, mean[0], mean[1]);
  CHECK_LE(band, 5e-4);
  CHECK_LE(fabs(mean[1] - mean[0]), 1e-6);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_keep_momentum_and_energy),
      cmocka_unit_test(euler_damps_spins),
      cmocka_unit_test(every_joint_keeps_momentum),
      cmocka_unit_test(flight_is_of_second_order),
      cmocka_unit_test(rest_is_rest),
      cmocka_unit_test(springs_and_dampers_are_of_second_order),
      cmocka_unit_test(one_link_is_a_free_body),
      cmocka_unit_test(wheels_turn_exactly),
      cmocka_unit_test(stops_keep_momentum),
      cmocka_unit_test(euler_joints_are_refused_at_their_singularity),
      cmocka_unit_test(far_away_is_as_near),
      cmocka_unit_test(energy_does_not_drift),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
