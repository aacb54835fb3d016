// M and b against Pinocchio's, on trees with every kind of joint.
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
    tribo_pin_data_destroy(pin);
    world_end(&w);
    tribo_dyn_tree_destroy(tree);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(terms_agree_with_pinocchio)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
