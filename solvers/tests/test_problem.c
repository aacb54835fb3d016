// Validation names what is wrong; residuals of points whose residuals are known.
#include "families.h"
#include "kit.h"

// a point mass of 2 kg in one contact; every array can be spoiled
typedef struct Small {
  TriboProblem p;
  TriboCone cone[2];
  double g[4], R[4], mass[9], minv[9], jac[12];
  int block_dim[1], term_first[3], term_block[2];
  size_t block_at[1], term_at[2];
} Small;

static void small(Small* s) {
  *s = (Small){.cone = {{.kind = TRIBO_CONE_FRICTION, .row = 0, .dim = 3, .mu = {0.5, 0.5}},
                        {.kind = TRIBO_CONE_BOX, .row = 3, .dim = 1, .lo = -1, .hi = 1}},
               .g = {0.1, 0, -1, 0.3},
               .mass = {2, 0, 0, 0, 2, 0, 0, 0, 2},
               .minv = {.5, 0, 0, 0, .5, 0, 0, 0, .5},
               .jac = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0},
               .block_dim = {3},
               .term_first = {0, 1, 2},
               .term_at = {0, 9}};
  s->p = (TriboProblem){.nrow = 4, .ncone = 2, .cones = s->cone, .g = s->g, .R = s->R, .nblock = 1};
  s->p.block_dim = s->block_dim;
  s->p.block_at = s->block_at;
  s->p.mass = s->mass;
  s->p.minv = s->minv;
  s->p.term_first = s->term_first;
  s->p.term_block = s->term_block;
  s->p.term_at = s->term_at;
  s->p.jac = s->jac;
}

#define REFUSED(change, text)                                       \
  do {                                                              \
    Small s;                                                        \
    small(&s);                                                      \
    CHECK_OK(tribo_problem_validate(&s.p));                         \
    change;                                                         \
    CHECK_FAILS(tribo_problem_validate(&s.p), TRIBO_INVALID, text); \
  } while (0)

static void bad_motion_problems_are_named(void** state) {
  (void)state;
  CHECK_FAILS(tribo_problem_validate(NULL), TRIBO_INVALID, "NULL");
  REFUSED(s.p.nrow = -1, "nrow = -1");
  REFUSED(s.p.nrow = 5, "nrow = 5 but the cones have 4");
  REFUSED(s.p.cones = NULL, "cones or g is NULL");
  REFUSED(s.p.g = NULL, "cones or g is NULL");
  REFUSED(s.cone[0].kind = (TriboConeKind)9, "cones[0].kind = 9");
  REFUSED(s.cone[0].dim = 2, "cones[0].dim = 2 is outside [3, 6]");
  REFUSED(s.cone[1].dim = 2, "cones[1].dim = 2 is outside [1, 1]");
  REFUSED(s.cone[1].row = 2, "cones[1].row = 2, expected 3");
  REFUSED(s.cone[0].mu[1] = -0.1, "cones[0].mu[1] = -0.1");
  REFUSED(s.cone[0].mu[0] = NAN, "cones[0].mu[0] = nan");
  REFUSED(s.cone[1].lo = 2, "lo = 2 and hi = 1");
  REFUSED(s.cone[1].hi = NAN, "hi = nan");
  REFUSED(s.g[2] = INFINITY, "g[2] = inf");
  REFUSED(s.R[1] = -1, "R[1] = -1");
  REFUSED(s.p.nblock = 0, "by neither");
  REFUSED(s.p.G_col = s.term_first, "by both");
  REFUSED(s.p.jac = NULL, "is NULL");
  REFUSED(s.block_dim[0] = 0, "block_dim[0] = 0");
  REFUSED(s.mass[4] = 0, "mass of block 0 has 0 on its diagonal");
  REFUSED(s.minv[4] = -1, "minv of block 0");
  REFUSED(s.mass[1] = 1, "mass of block 0 is not symmetric");
  REFUSED(s.mass[5] = NAN, "mass of block 0 is not symmetric");
  REFUSED(s.term_first[0] = 1, "term_first[0] = 1");
  REFUSED(s.term_first[1] = 3, "term_first[2] = 2 is below term_first[1] = 3");
  REFUSED(s.term_block[1] = 1, "term_block[1] = 1 is outside");
  REFUSED(s.term_block[0] = -1, "term_block[0] = -1 is outside");
  REFUSED(s.jac[4] = NAN, "jac[4] = nan");
}

static void bad_explicit_problems_are_named(void** state) {
  (void)state;
  TriboCone cone = {.kind = TRIBO_CONE_FREE, .dim = 2};
  double g[2] = {1, 1};
  struct {
    int col[3], row[4];
    double val[4];
  } ok = {{0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 2}}, bad = ok;
  TriboProblem p = {.nrow = 2, .ncone = 1, .cones = &cone, .g = g};
  p.G_col = bad.col;
  p.G_row = bad.row;
  p.G_val = bad.val;
  CHECK_OK(tribo_problem_validate(&p));
#define BAD(change, text)                                       \
  change;                                                       \
  CHECK_FAILS(tribo_problem_validate(&p), TRIBO_INVALID, text); \
  bad = ok
  BAD(bad.col[0] = 1, "G_col[0] = 1");
  BAD(bad.col[1] = 5, "G_col[2] = 4 is below G_col[1] = 5");
  BAD(bad.row[1] = 2, "G_row[1] = 2 is outside");
  BAD(bad.row[1] = 0, "G_row[1] = 0 is outside");
  BAD(bad.val[3] = NAN, "G_val[3] = nan");
  BAD(bad.val[3] = -1, "G(1,1) = -1");
  BAD(bad.val[1] = 1.5, "G is not symmetric");
#undef BAD
  p.G_val = NULL;
  CHECK_FAILS(tribo_problem_validate(&p), TRIBO_INVALID, "G_row or G_val is NULL");
}

static void residuals_of_a_known_point(void** state) {
  (void)state;
  Small s;
  TriboResiduals r;
  double sigma[4];
  small(&s);
  // the contact sticks: λ_T = −m·0.1 would do alone, the motor pulls along the same axis
  double zero[4] = {0};
  CHECK_OK(tribo_problem_residuals(&s.p, zero, sigma, &r));
  for (int i = 0; i < 4; ++i) {
    CHECK_NEAR(sigma[i], s.g[i], 0);
  }
  // no impulse: −σ̂ = (−0.1, 0, 0.95) lies in K, so all of it is missing from the dual cone
  CHECK_NEAR(r.prim, 0, 0);
  CHECK_NEAR(r.comp, 0.3, 1e-15);  // the motor's unused bound: 0.3 · (0 − lo)
  CHECK_NEAR(r.floor, 0, 0);
  CHECK_NEAR(r.dual, 0.95, 1e-15);
  CHECK_NEAR(r.nat, 0.95, 1e-15);
  assert_int_equal(r.worst, 0);
  // an impulse outside its cone by a known distance
  double out[4] = {0, 0, -3, 5};
  CHECK_OK(tribo_problem_residuals(&s.p, out, sigma, &r));
  CHECK_NEAR(r.prim, 4, 1e-15);
  CHECK_NEAR(sigma[0], 0.1 + 2.5, 1e-15);
  CHECK_NEAR(sigma[2], -1 - 1.5, 1e-15);
  double nan[4] = {NAN, 0, 0, 0};
  CHECK_OK(tribo_problem_residuals(&s.p, nan, sigma, &r));
  assert_true(r.nat == INFINITY && r.natmap_unit == INFINITY);
  CHECK_FAILS(tribo_problem_residuals(&s.p, NULL, sigma, &r), TRIBO_INVALID, "lambda");
}

static void residuals_do_not_depend_on_the_unit_of_mass(void** state) {
  (void)state;
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    FamilyProblem p;
    family_make(f, 3, 1, &p);
    int n = p.problem.nrow;
    double lambda[2000], sigma[2000];
    KitRandom rng = {9};
    for (int i = 0; i < n; ++i) {
      lambda[i] = kit_normal(&rng);
    }
    TriboResiduals a, b;
    CHECK_OK(tribo_problem_residuals(&p.problem, lambda, sigma, &a));
    family_scale_mass(&p, 1024);
    for (int i = 0; i < n; ++i) {
      lambda[i] *= 1024;
    }
    CHECK_OK(tribo_problem_residuals(&p.problem, lambda, sigma, &b));
    CHECK_NEAR(a.nat, b.nat, 0);
    CHECK_NEAR(a.natmap_unit, b.natmap_unit, 0);
    CHECK_NEAR(1024 * a.prim, b.prim, 0);
    family_free(&p);
  }
}

static void explicit_and_motion_forms_agree(void** state) {
  (void)state;
  for (int f = 0; f < FAMILY_COUNT; ++f) {
    FamilyProblem p, e;
    family_make(f, 3, 2, &p);
    family_explicit(&p, &e);
    CHECK_OK(tribo_problem_validate(&e.problem));
    double lambda[2000], s1[2000], s2[2000];
    KitRandom rng = {10};
    for (int i = 0; i < p.problem.nrow; ++i) {
      lambda[i] = kit_normal(&rng);
    }
    TriboResiduals a, b;
    CHECK_OK(tribo_problem_residuals(&p.problem, lambda, s1, &a));
    CHECK_OK(tribo_problem_residuals(&e.problem, lambda, s2, &b));
    CHECK_NEAR(a.nat, b.nat, 1e-12 * a.nat);
    CHECK_NEAR(a.natmap_unit, b.natmap_unit, 1e-12);
    family_free(&p);
    family_free(&e);
  }
}

// Without friction the cone is a ray: an impulse along it is right where nothing approaches, sliding or not.
static void without_friction_the_cone_is_a_ray(void** state) {
  (void)state;
  Small s;
  small(&s);
  TriboResiduals r;
  double sigma[4];
  s.cone[0].mu[0] = s.cone[0].mu[1] = 0;
  s.p.ncone = 1, s.p.nrow = 3;
  for (int slides = 0; slides < 2; ++slides) {
    s.g[0] = slides * 0.1;
    s.g[2] = 0.7;
    CHECK_OK(tribo_problem_residuals(&s.p, (const double[]){0, 0, 0}, sigma, &r));
    CHECK_LE(r.nat, 0);
    CHECK_LE(r.dual, 0);
    s.g[2] = -1;
    CHECK_OK(tribo_problem_residuals(&s.p, (const double[]){0, 0, 2}, sigma, &r));
    CHECK_LE(r.nat, 1e-15);
    CHECK_OK(tribo_problem_residuals(&s.p, (const double[]){0, 0, 0}, sigma, &r));
    CHECK_NEAR(r.nat, 1, 1e-15);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_motion_problems_are_named),   cmocka_unit_test(bad_explicit_problems_are_named),
      cmocka_unit_test(residuals_of_a_known_point),      cmocka_unit_test(residuals_do_not_depend_on_the_unit_of_mass),
      cmocka_unit_test(explicit_and_motion_forms_agree), cmocka_unit_test(without_friction_the_cone_is_a_ray),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
