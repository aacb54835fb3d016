// Places, M and b against Pinocchio's.
#include "dyn_data.h"
#include "trees.h"

static void terms_agree_with_pinocchio(void** state) {
  (void)state;
  const double gravity[3] = {1, -2, -9.81};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    TriboTree* tree = tree_of_every_kind(seed);
    World w = world_of(NULL, 0, &tree, 1);
    KitRandom random = {seed};
    TriboPinData* pin;
    double mass[MAX_V * MAX_V], bias[MAX_V], other[MAX_V * MAX_V], size = 0;
    const int n = w.info->nv;
    world_randomize(&w, &random, 2);
    CHECK_OK(tribo_pin_data_create(tree, &pin));
    CHECK_OK(tribo_dyn_terms(w.system, w.data, gravity, w.q, w.v, mass, bias, NULL));
    CHECK_OK(tribo_pin_mass(pin, w.q, other));
    for (int i = 0; i < n * n; ++i) {
      CHECK_NEAR(mass[i], other[i], 1e-13 * other[0]);
    }
    CHECK_OK(tribo_pin_bias(pin, gravity, w.q, w.v, other));
    for (int i = 0; i < n; ++i) {
      size = fmax(size, fabs(other[i]));
    }
    for (int i = 0; i < n; ++i) {
      CHECK_NEAR(bias[i], other[i], 1e-13 * size);
    }
    // at rest there is only the weight
    const double rest[MAX_V] = {0};
    tribo_dyn_tree_weight(w.system->trees, gravity, w.data->scratch_jac, w.data->scratch_sums, bias);
    CHECK_OK(tribo_pin_bias(pin, gravity, w.q, rest, other));
    for (int i = 0; i < n; ++i) {
      CHECK_NEAR(bias[i], other[i], 1e-13 * size);
    }
    tribo_pin_data_destroy(pin);
    world_end(&w);
    tribo_dyn_tree_destroy(tree);
  }
}

// A branching tree of the joints that need no Pinocchio, and fixed links between them.
static TriboTree* plain_tree(KitRandom* random) {
  static const TriboJointKind KINDS[] = {TRIBO_JOINT_FIXED,      TRIBO_JOINT_FREE,      TRIBO_JOINT_REVOLUTE,
                                         TRIBO_JOINT_CONTINUOUS, TRIBO_JOINT_PRISMATIC, TRIBO_JOINT_SPHERICAL,
                                         TRIBO_JOINT_TRANSLATION};
  enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS, COUNT = 2 * KIND_COUNT };
  static char names[COUNT][32];
  TriboLinkDef links[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    snprintf(names[i], sizeof names[i], "link%d", i);
    links[i] = tribo_dyn_link_def();
    links[i].name = names[i];
    links[i].kind = KINDS[i % KIND_COUNT];
    links[i].parent = kit_int(random, i + 1) - 1;
    random_pose(random, &links[i].placement);
    random_mass(random, links + i);
    for (int k = 0; k < 3; ++k) {
      links[i].axis[k] = kit_normal(random);
    }
  }
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_build(links, COUNT, &tree));
  return tree;
}

static void places_agree_with_pinocchio(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    KitRandom random = {seed};
    TriboTree* tree = plain_tree(&random);
    World w = world_of(NULL, 0, &tree, 1);
    TriboPinData* pin;
    TriboPose poses[MAX_LINK], other[MAX_LINK];
    double jac[6 * MAX_V], columns[6 * MAX_V];
    world_randomize(&w, &random, 1);
    assert_int_equal(w.system->trees[0].has_own_kernels, 1);
    CHECK_OK(tribo_pin_data_create(tree, &pin));
    CHECK_OK(tribo_dyn_tree_place(w.system->trees, NULL, w.q, poses, jac));
    CHECK_OK(tribo_pin_kinematics(pin, w.q, other, columns));
    for (int i = 0; i < w.info->nbody; ++i) {
      for (int k = 0; k < 9; ++k) {
        CHECK_NEAR(poses[i].R[k], other[i].R[k], 1e-14);
        CHECK_NEAR(poses[i].p[k % 3], other[i].p[k % 3], 1e-13);
      }
    }
    for (int i = 0; i < 6 * w.info->nv; ++i) {
      CHECK_NEAR(jac[i], columns[i], 1e-13);
    }
    tribo_pin_data_destroy(pin);
    world_end(&w);
    tribo_dyn_tree_destroy(tree);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(terms_agree_with_pinocchio),
                                     cmocka_unit_test(places_agree_with_pinocchio)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
