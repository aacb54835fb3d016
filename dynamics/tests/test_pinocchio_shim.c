// The shim against itself and against the C code of this room, on random trees with every joint kind.
#include "trees.h"

static const double GRAVITY[3] = {0.3, -0.2, -9.81};

typedef struct Fixture {
  TriboTree* tree;
  const TriboTreeInfo* info;
  TriboPinData* pin;
  World w;
} Fixture;

static Fixture fixture(uint64_t seed) {
  Fixture f = {.tree = tree_of_every_kind(seed)};
  KitRandom random = {seed + 100};
  f.info = tribo_dyn_tree_info(f.tree);
  CHECK_OK(tribo_pin_data_create(f.tree, &f.pin));
  f.w = world_of(NULL, 0, &f.tree, 1);
  world_randomize(&f.w, &random, 1);
  return f;
}

static void fixture_end(Fixture* f) {
  world_end(&f->w);
  tribo_pin_data_destroy(f->pin);
  tribo_dyn_tree_destroy(f->tree);
}

static void sizes_and_names(void** state) {
  (void)state;
  Fixture f = fixture(1);
  // 1 + 1 + 1 + 1 + 2 + 2 + 3 + 3 + 3 + 3 + 3 + 6 velocities, and one coordinate more per continuous, planar, ball and
  // free joint
  assert_int_equal(f.info->nv, 2 * 29);
  assert_int_equal(f.info->nq, 2 * (29 + 4));
  assert_int_equal(f.info->nlink, 2 * TRIBO_JOINT_COUNT);
  assert_string_equal(f.info->links[0].joint_kind, "free");
  assert_string_equal(f.info->links[1].joint_kind, "fixed");
  assert_int_equal(f.info->links[1].carrier, 0);
  assert_int_equal(f.info->links[0].carrier, 0);
  assert_string_equal(f.info->links[2].name, "link2");
  assert_string_equal(f.info->links[2].joint_name, "link2");
  assert_true(strlen(tribo_pin_version()) >= 5);
  // parents come before children also in v, and subtrees are neighbours: each v belongs to exactly one link
  int owner[MAX_V] = {0};
  for (int i = 0; i < f.info->nlink; ++i) {
    const TriboLinkInfo* link = f.info->links + i;
    for (int k = 0; k < link->nv; ++k) {
      owner[link->v_at + k]++;
    }
    if (link->nv > 0 && link->parent >= 0 && f.info->links[link->parent].carrier >= 0) {
      assert_true(f.info->links[f.info->links[link->parent].carrier].v_at < link->v_at);
    }
  }
  for (int k = 0; k < f.info->nv; ++k) {
    assert_int_equal(owner[k], 1);
  }
  fixture_end(&f);
}

static void rnea_undoes_aba(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed < 6; ++seed) {
    Fixture f = fixture(seed);
    KitRandom random = {seed};
    double tau[MAX_V], a[MAX_V], back[MAX_V], largest = 0;
    for (int k = 0; k < f.info->nv; ++k) {
      tau[k] = kit_normal(&random);
    }
    CHECK_OK(tribo_pin_aba(f.pin, GRAVITY, f.w.q, f.w.v, tau, a));
    CHECK_OK(tribo_pin_rnea(f.pin, GRAVITY, f.w.q, f.w.v, a, back));
    for (int k = 0; k < f.info->nv; ++k) {
      largest = fmax(largest, fabs(a[k]));
    }
    for (int k = 0; k < f.info->nv; ++k) {
      CHECK_NEAR(back[k], tau[k], 1e-12 * (1 + largest));
    }

    // and M a + b is the same force
    double mass[MAX_V * MAX_V], bias[MAX_V];
    CHECK_OK(tribo_pin_mass(f.pin, f.w.q, mass));
    CHECK_OK(tribo_pin_bias(f.pin, GRAVITY, f.w.q, f.w.v, bias));
    for (int i = 0; i < f.info->nv; ++i) {
      double sum = bias[i];
      for (int j = 0; j < f.info->nv; ++j) {
        sum += mass[i * f.info->nv + j] * a[j];
      }
      CHECK_NEAR(sum, tau[i], 1e-11 * (1 + largest));
    }
    fixture_end(&f);
  }
}

// ½ vᵀMv is the kinetic energy for every v: compare entry by entry with energies that C sums over moving bodies.
static void mass_is_the_metric_of_kinetic_energy(void** state) {
  (void)state;
  Fixture f = fixture(2);
  const int n = f.info->nv;
  double mass[MAX_V * MAX_V], v[MAX_V] = {0}, single[MAX_V];
  TriboEnergy e;
  CHECK_OK(tribo_pin_mass(f.pin, f.w.q, mass));
  for (int i = 0; i < n; ++i) {
    v[i] = 1;
    CHECK_OK(tribo_dyn_energy(f.w.system, f.w.data, GRAVITY, f.w.q, v, &e));
    single[i] = e.kinetic;
    CHECK_NEAR(mass[i * n + i], 2 * e.kinetic, 1e-12 * mass[i * n + i]);
    for (int j = 0; j < i; ++j) {
      v[j] = 1;
      CHECK_OK(tribo_dyn_energy(f.w.system, f.w.data, GRAVITY, f.w.q, v, &e));
      CHECK_NEAR(mass[i * n + j], e.kinetic - single[i] - single[j], 1e-12 * (single[i] + single[j]));
      assert_true(mass[i * n + j] == mass[j * n + i]);
      v[j] = 0;
    }
    v[i] = 0;
  }
  fixture_end(&f);
}

// Poses ahead and behind along v, half a step of 1e-6 each.
static void pose_rates(Fixture* f, TriboPose* ahead, TriboPose* behind, double dt) {
  double dv[MAX_V], q[MAX_Q], zero[MAX_V] = {0};
  TriboTwist ignored[MAX_LINK];
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < f->info->nv; ++k) {
      dv[k] = (side == 0 ? dt : -dt) * f->w.v[k];
    }
    CHECK_OK(tribo_dyn_integrate(f->w.system, f->w.data, f->w.q, dv, q));
    CHECK_OK(tribo_dyn_kinematics(f->w.system, f->w.data, q, zero, side == 0 ? ahead : behind, ignored));
  }
}

static void twists_are_the_rates_of_poses(void** state) {
  (void)state;
  for (uint64_t seed = 4; seed < 7; ++seed) {
    const double dt = 1e-6;
    Fixture f = fixture(seed);
    TriboPose poses[MAX_LINK], ahead[MAX_LINK], behind[MAX_LINK];
    TriboTwist twists[MAX_LINK];
    CHECK_OK(tribo_dyn_kinematics(f.w.system, f.w.data, f.w.q, f.w.v, poses, twists));
    pose_rates(&f, ahead, behind, dt);
    for (int i = 0; i < f.info->nlink; ++i) {
      double rate[9], W[9], size = 1 + tribo_norm3(twists[i].v) + tribo_norm3(twists[i].w);
      for (int k = 0; k < 9; ++k) {
        rate[k] = (ahead[i].R[k] - behind[i].R[k]) / (2 * dt);
      }
      tribo_mul33t(W, rate, poses[i].R);
      CHECK_NEAR(W[7], twists[i].w[0], 1e-8 * size);
      CHECK_NEAR(W[2], twists[i].w[1], 1e-8 * size);
      CHECK_NEAR(W[3], twists[i].w[2], 1e-8 * size);
      for (int k = 0; k < 3; ++k) {
        CHECK_NEAR((ahead[i].p[k] - behind[i].p[k]) / (2 * dt), twists[i].v[k], 1e-8 * size);
      }
    }
    fixture_end(&f);
  }
}

// Without velocity the bias is the gradient of the potential energy.
static void bias_at_rest_is_the_gradient_of_potential(void** state) {
  (void)state;
  Fixture f = fixture(5);
  double bias[MAX_V], zero[MAX_V] = {0}, dv[MAX_V] = {0}, q[MAX_Q];
  CHECK_OK(tribo_pin_bias(f.pin, GRAVITY, f.w.q, zero, bias));
  for (int k = 0; k < f.info->nv; ++k) {
    const double dt = 1e-5;
    TriboEnergy e[2];
    for (int side = 0; side < 2; ++side) {
      dv[k] = side == 0 ? -dt : dt;
      CHECK_OK(tribo_dyn_integrate(f.w.system, f.w.data, f.w.q, dv, q));
      CHECK_OK(tribo_dyn_energy(f.w.system, f.w.data, GRAVITY, q, zero, e + side));
    }
    dv[k] = 0;
    CHECK_NEAR((e[1].potential - e[0].potential) / (2 * dt), bias[k], 1e-6);
  }
  fixture_end(&f);
}

static void energies_agree_with_pinocchio(void** state) {
  (void)state;
  for (uint64_t seed = 6; seed < 9; ++seed) {
    Fixture f = fixture(seed);
    TriboEnergy ours, theirs;
    CHECK_OK(tribo_dyn_energy(f.w.system, f.w.data, GRAVITY, f.w.q, f.w.v, &ours));
    CHECK_OK(tribo_pin_energy(f.pin, GRAVITY, f.w.q, f.w.v, &theirs));
    CHECK_NEAR(ours.kinetic, theirs.kinetic, 1e-12 * theirs.kinetic);
    CHECK_NEAR(ours.potential, theirs.potential, 1e-12 * (1 + fabs(theirs.potential)));
    CHECK_NEAR(ours.mass, theirs.mass, 1e-12);
    double size = 1 + tribo_norm3(theirs.momentum) + tribo_norm3(theirs.angular);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(ours.com[k], theirs.com[k], 1e-12);
      CHECK_NEAR(ours.momentum[k], theirs.momentum[k], 1e-12 * size);
      CHECK_NEAR(ours.angular[k], theirs.angular[k], 1e-12 * size);
    }
    fixture_end(&f);
  }
}

static void integrate_undoes_difference(void** state) {
  (void)state;
  Fixture f = fixture(7);
  KitRandom random = {8};
  double dv[MAX_V], q[MAX_Q], back[MAX_V];
  for (int trial = 0; trial < 20; ++trial) {
    for (int k = 0; k < f.info->nv; ++k) {
      dv[k] = kit_uniform(&random, -1.5, 1.5);
    }
    CHECK_OK(tribo_dyn_integrate(f.w.system, f.w.data, f.w.q, dv, q));
    CHECK_OK(tribo_dyn_difference(f.w.system, f.w.data, f.w.q, q, back));
    for (int k = 0; k < f.info->nv; ++k) {
      CHECK_NEAR(back[k], dv[k], 1e-12);
    }
  }
  fixture_end(&f);
}

// A look at another state between update and advance must not change the step; nor does a second data on the same tree.
static void looks_disturb_nothing(void** state) {
  (void)state;
  Fixture f = fixture(9);
  TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, -9.81);
  world_assemble(&f.w, &o, NULL, NULL, NULL, NULL, 0);
  world_advance(&f.w, &o, NULL);
  double q_next[MAX_Q], other[MAX_Q], zero[MAX_V] = {0};
  memcpy(q_next, f.w.q_next, sizeof q_next);
  memcpy(other, f.info->neutral, (size_t)f.info->nq * sizeof *other);
  TriboPose poses[MAX_LINK];
  TriboTwist twists[MAX_LINK];
  TriboEnergy e;
  const TriboPose before = tribo_dyn_poses(f.w.data)[3];
  CHECK_OK(tribo_dyn_update(f.w.system, f.w.data, &o, f.w.q, f.w.v, NULL, NULL));
  CHECK_OK(tribo_dyn_kinematics(f.w.system, f.w.data, other, zero, poses, twists));
  CHECK_OK(tribo_dyn_assemble(f.w.system, f.w.data, &o, f.w.q, f.w.v, NULL, NULL, 0, &f.w.problem, &f.w.rows));
  CHECK_OK(tribo_dyn_energy(f.w.system, f.w.data, GRAVITY, other, zero, &e));
  CHECK_OK(tribo_dyn_integrate(f.w.system, f.w.data, other, f.w.v, other));
  world_advance(&f.w, &o, NULL);
  assert_memory_equal(f.w.q_next, q_next, (size_t)f.info->nq * sizeof *q_next);
  assert_memory_equal(&before, tribo_dyn_poses(f.w.data) + 3, sizeof before);
  fixture_end(&f);
}

static void bad_states_are_named(void** state) {
  (void)state;
  Fixture f = fixture(10);
  TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, -9.81);
  for (int i = 0; i < f.info->nlink; ++i) {
    const TriboLinkInfo* link = f.info->links + i;
    if (link->nq == link->nv) {
      continue;
    }
    double q[MAX_Q];
    memcpy(q, f.w.q, sizeof q);
    memset(q + link->q_at, 0, (size_t)link->nq * sizeof *q);
    CHECK_FAILS(tribo_dyn_update(f.w.system, f.w.data, &o, q, f.w.v, NULL, NULL), TRIBO_NUMERIC, "has length 0");
  }
  f.w.q[5] = NAN;
  CHECK_FAILS(tribo_dyn_update(f.w.system, f.w.data, &o, f.w.q, f.w.v, NULL, NULL), TRIBO_NUMERIC, "q[5] is nan");
  fixture_end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_and_names),
      cmocka_unit_test(rnea_undoes_aba),
      cmocka_unit_test(mass_is_the_metric_of_kinetic_energy),
      cmocka_unit_test(twists_are_the_rates_of_poses),
      cmocka_unit_test(bias_at_rest_is_the_gradient_of_potential),
      cmocka_unit_test(energies_agree_with_pinocchio),
      cmocka_unit_test(integrate_undoes_difference),
      cmocka_unit_test(looks_disturb_nothing),
      cmocka_unit_test(bad_states_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
