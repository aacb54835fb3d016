// What `tribo bench suite` says about problems: categories at their borders, rank and condition of known Jacobians, the
// plain natural map.
#include <math.h>

#include "bench_suite.h"
#include "kit.h"
#include "plain_residuals.h"

static SuiteCategory category(int bodies, int contacts, int joint_rows, int joint_rank, int rows) {
  const SuiteProblem p = {.bodies = bodies,
                          .contacts = contacts,
                          .joints = joint_rows > 0,
                          .joint_rows = joint_rows,
                          .joint_rank = joint_rank,
                          .dj = joint_rows / (6.0 * bodies),
                          .dc = 3 * contacts / (6.0 * bodies),
                          .djlc = rows / (6.0 * bodies)};
  return suite_category(&p);
}

static void categories_have_their_borders(void** state) {
  (void)state;
  assert_int_equal(category(4, 0, 20, 20, 20), SUITE_INDEPENDENT_JOINTS);
  assert_int_equal(category(4, 0, 20, 19, 20), SUITE_REDUNDANT_JOINTS);
  assert_int_equal(category(4, 0, 24, 23, 24), SUITE_DENSE_JOINTS);
  assert_int_equal(category(4, 0, 23, 22, 23), SUITE_REDUNDANT_JOINTS);
  assert_int_equal(category(4, 1, 0, 0, 3), SUITE_SINGLE_CONTACT);
  assert_int_equal(category(4, 2, 0, 0, 6), SUITE_SPARSE_CONTACTS);
  assert_int_equal(category(4, 8, 0, 0, 24), SUITE_SPARSE_CONTACTS);
  assert_int_equal(category(4, 9, 0, 0, 27), SUITE_DENSE_CONTACTS);
  // as many rows as velocities are not more; without a joint rows alone do not make it dense
  assert_int_equal(category(4, 1, 21, 21, 24), SUITE_SINGLE_CONTACT);
  assert_int_equal(category(4, 1, 22, 22, 25), SUITE_DENSE_CONSTRAINTS);
  assert_int_equal(category(4, 9, 20, 18, 47), SUITE_DENSE_CONSTRAINTS);
}

// One body of two velocities with masses 1 and 4, a joint of two rows and a contact without friction.
static void ranks_and_conditions_are_known(void** state) {
  (void)state;
  const double mass[4] = {1, 0, 0, 4}, minv[4] = {1, 0, 0, 0.25}, g[3] = {0, 0, 0};
  const TriboCone cones[2] = {{.kind = TRIBO_CONE_FREE, .row = 0, .dim = 2},
                              {.kind = TRIBO_CONE_NONNEG, .row = 2, .dim = 1}};
  const int dim[1] = {2}, first[3] = {0, 1, 2}, block[2] = {0, 0};
  const size_t block_at[1] = {0}, term_at[2] = {0, 4};
  for (int dependent = 0; dependent < 2; ++dependent) {
    // rows (1, 0) and (0, 1), or (1, 0) and (2, 0); then (0, 0)
    const double jac[6] = {1, 0, dependent ? 2 : 0, dependent ? 0 : 1, 0, 0};
    const TriboProblem p = {.nrow = 3,
                            .ncone = 2,
                            .cones = cones,
                            .g = g,
                            .nblock = 1,
                            .block_dim = dim,
                            .block_at = block_at,
                            .mass = mass,
                            .minv = minv,
                            .term_first = first,
                            .term_block = block,
                            .term_at = term_at,
                            .jac = jac};
    SuiteProblem seen;
    assert_true(suite_describe(&p, 1, 4, &seen));
    assert_int_equal(seen.joint_rows, 2);
    assert_int_equal(seen.joint_rank, dependent ? 1 : 2);
    // G = J M⁻¹ Jᵀ has 1 and 1/4 on its diagonal, or is of rank 1
    CHECK_NEAR(seen.condition, dependent ? 1 : 4, 1e-12);
    assert_true(seen.limits == 1 && seen.joints == 1 && seen.contacts == 0);
    CHECK_NEAR(seen.dj, 2.0 / 6, 1e-15);
  }
}

// At an answer the plain map is 0; away from it, on cones of equal friction, it is what the closed form says.
static void plain_map_is_that_of_the_closed_form(void** state) {
  (void)state;
  KitRandom rng = {5};
  for (int i = 0; i < 1000; ++i) {
    const double mu = kit_uniform(&rng, 0.1, 1), same = i % 2 ? 0 : 1e-9;
    const TriboCone cone = {.kind = TRIBO_CONE_FRICTION, .row = 0, .dim = 3, .mu = {mu, mu + same}};
    const TriboProblem p = {.nrow = 3, .ncone = 1, .cones = &cone};
    double lambda[3], sigma[3], x[3], worst = 0;
    for (int k = 0; k < 3; ++k) {
      lambda[k] = kit_normal(&rng), sigma[k] = kit_normal(&rng);
      x[k] = lambda[k] - sigma[k];
    }
    x[2] -= mu * hypot(sigma[0], sigma[1]);
    const double s = hypot(x[0], x[1]), n = x[2];
    const double h = s <= mu * n    ? n
                     : mu * s <= -n ? 0
                                    : (n + mu * s) / (1 + mu * mu),
                 shrink = s <= mu * n ? 1 : mu * h / s;
    const double nearest[3] = {shrink * x[0], shrink * x[1], h};
    for (int k = 0; k < 3; ++k) {
      worst = fmax(worst, fabs(lambda[k] - nearest[k]));
    }
    CHECK_NEAR(plain_natmap(&p, lambda, sigma), worst, 1e-7);
  }
  const TriboCone cone = {.kind = TRIBO_CONE_FRICTION, .row = 0, .dim = 3, .mu = {0.5, 0.5}};
  const TriboProblem p = {.nrow = 3, .ncone = 1, .cones = &cone};
  CHECK_NEAR(plain_natmap(&p, (double[]){-0.5, 0, 1}, (double[]){2, 0, 0}), 0, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(categories_have_their_borders),
                                     cmocka_unit_test(ranks_and_conditions_are_known),
                                     cmocka_unit_test(plain_map_is_that_of_the_closed_form)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
