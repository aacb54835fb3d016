// Contact rows: hand-computed Jacobians, the bias rules, and what any impulse must conserve.
#include "dynamics.h"
#include "kit.h"
#include "math3.h"
#include "memory.h"

static const TriboStepOptions OPTIONS = {
    .h = 0.01, .scheme = TRIBO_SCHEME_VARIATIONAL, .erp = 0.2, .slop = 1e-6, .depen_max = 1, .bounce_min = 0.05};
static const double NO_GRAVITY[3] = {0, 0, 0};

typedef struct World {
  TriboSystem* system;
  TriboDynData* data;
  double q[28], v[24], q_next[28], v_next[24];
  TriboProblem problem;
  const TriboRowInfo* rows;
} World;

static World world_of(int nbody) {
  World w = {0};
  TriboFreeBodyDef bodies[4];
  for (int i = 0; i < nbody; ++i) {
    bodies[i] = (TriboFreeBodyDef){
        .mass = 1 + i, .com = {0.1 * i, 0, 0}, .inertia = {0.4 + i, 0.02, 0, 0.02, 0.5 + i, 0, 0, 0, 0.7 + i}};
    w.q[7 * i + 6] = 1;
  }
  CHECK_OK(tribo_dyn_system_create(&(TriboSystemDef){.bodies = bodies, .nbody = nbody}, &w.system));
  CHECK_OK(tribo_dyn_data_create(w.system, &w.data));
  return w;
}

static void world_end(World* w) {
  tribo_dyn_data_destroy(w->data);
  tribo_dyn_system_destroy(w->system);
}

static void assemble(World* w, const TriboStepOptions* o, const TriboContact* contacts, const TriboContactLaw* laws,
                     int n) {
  CHECK_OK(tribo_dyn_update(w->system, w->data, o, w->q, w->v, NULL, NULL));
  CHECK_OK(tribo_dyn_assemble(w->system, w->data, o, w->q, w->v, contacts, laws, n, &w->problem, &w->rows));
}

static void advance(World* w, const TriboStepOptions* o, const double* lambda) {
  CHECK_OK(tribo_dyn_advance(w->system, w->data, o, w->q, w->v, lambda, w->q_next, w->v_next));
}

static void randomize(World* w, KitRandom* random, int nbody) {
  for (int b = 0; b < nbody; ++b) {
    for (int i = 0; i < 3; ++i) {
      w->q[7 * b + i] = kit_normal(random);
    }
    kit_rotation(random, w->q + 7 * b + 3);
    for (int i = 0; i < 6; ++i) {
      w->v[6 * b + i] = kit_normal(random);
    }
  }
}

static TriboContact contact_on_floor(double gap) {
  return (TriboContact){
      .body_a = TRIBO_WORLD_BODY, .body_b = 0, .point = {0.5, 0, -1}, .normal = {0, 0, 1}, .gap = gap};
}

static const TriboContactLaw SLIPPERY = {.dim = 1};
static const TriboContactLaw COULOMB = {.dim = 3, .mu = {0.5, 0.5}};

static void jacobian_of_one_contact_by_hand(void** state) {
  (void)state;
  World w = world_of(1);
  // body turned by 90° about z: body x is world y
  w.q[5] = w.q[6] = sqrt(0.5);
  w.v[2] = -2;
  w.v[4] = 3;  // ω = 3 about body y = −3 about world x
  TriboContact contact = contact_on_floor(0.002);
  assemble(&w, &OPTIONS, &contact, &COULOMB, 1);
  assert_int_equal(w.problem.ncone, 1);
  assert_int_equal(w.problem.nrow, 3);
  assert_int_equal(w.problem.cones[0].kind, TRIBO_CONE_FRICTION);
  CHECK_NEAR(w.problem.cones[0].mu[1], 0.5, 0);
  assert_int_equal(w.problem.term_first[1], 1);
  assert_int_equal(w.rows[0].block_a, 0);
  assert_int_equal(w.rows[0].block_b, -1);
  // r = (0.5, 0, −1); r × x = (0, −1, 0), r × y = (1, 0, 0.5), r × z = (0, −0.5, 0); into body axes: (X, Y) → (Y, −X)
  const double expected[18] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0.5, 0, 0, 1, -0.5, 0, 0};
  for (int i = 0; i < 18; ++i) {
    CHECK_NEAR(w.problem.jac[i], expected[i], 1e-15);
  }
  // velocity of the point: (0, 0, −2) + (−3, 0, 0) × r = (0, −3, −2), slightly changed by gyroscopic terms
  const double* free = tribo_dyn_free_velocity(w.data);
  CHECK_NEAR(w.problem.g[1], free[1] - free[4] + 0.5 * free[5], 1e-15);
  CHECK_NEAR(w.problem.g[1], -3, 0.1);
  CHECK_NEAR(w.problem.g[2], free[2] - 0.5 * free[3] + 0.2, 1e-15);
  world_end(&w);
}

static void rows_are_relative_velocities(void** state) {
  (void)state;
  KitRandom random = {3};
  World w = world_of(3);
  for (int trial = 0; trial < 50; ++trial) {
    randomize(&w, &random, 3);
    // b before a: the terms must still come in block order
    TriboContact contact = {.body_a = 2, .body_b = 0, .gap = 1e-3};
    for (int i = 0; i < 3; ++i) {
      contact.point[i] = kit_normal(&random);
      contact.normal[i] = kit_normal(&random);
    }
    tribo_normalize3(contact.normal);
    TriboContactLaw law = {.dim = 6, .mu = {0.5, 0.4, 0.1, 0.02, 0.03}, .surface = {1, 2, 3}};
    assemble(&w, &OPTIONS, &contact, &law, 1);
    assert_int_equal(w.rows[0].block_a, 0);
    assert_int_equal(w.rows[0].block_b, 2);
    assert_true(w.problem.term_block[0] == 0 && w.problem.term_block[1] == 2);

    // from the twists of the free velocity: v(p) = v + ω × (p − origin)
    double at[2][3], turn[3], slip[3];
    const int body[2] = {2, 0};
    for (int k = 0; k < 2; ++k) {
      const TriboTwist* twist = tribo_dyn_twists(w.data) + body[k];
      double arm[3];
      tribo_sub3(arm, contact.point, tribo_dyn_poses(w.data)[body[k]].p);
      tribo_cross3(at[k], twist->w, arm);
      tribo_add3(at[k], at[k], twist->v);
    }
    tribo_sub3(slip, at[1], at[0]);
    tribo_sub3(turn, tribo_dyn_twists(w.data)[0].w, tribo_dyn_twists(w.data)[2].w);
    const double *t1 = w.rows[0].frame, *t2 = t1 + 3, *n = t1 + 6, *g = w.problem.g;
    CHECK_NEAR(g[0], tribo_dot3(t1, slip) + tribo_dot3(t1, law.surface), 1e-13);
    CHECK_NEAR(g[1], tribo_dot3(t2, slip) + tribo_dot3(t2, law.surface), 1e-13);
    CHECK_NEAR(g[2], tribo_dot3(n, turn), 1e-13);
    CHECK_NEAR(g[3], tribo_dot3(t1, turn), 1e-13);
    CHECK_NEAR(g[4], tribo_dot3(t2, turn), 1e-13);
    CHECK_NEAR(g[5], tribo_dot3(n, slip) + 1e-3 / OPTIONS.h, 1e-13);
  }
  world_end(&w);
}

// Whatever a contact does to two spinning bodies, from one state to the next.
static void any_push_keeps_total_momentum(void** state) {
  (void)state;
  KitRandom random = {4};
  World w = world_of(2);
  for (int trial = 0; trial < 50; ++trial) {
    randomize(&w, &random, 2);
    TriboContact contact = {.body_a = 0, .body_b = 1, .point = {0.1, 0.2, 0.3}, .normal = {0, 0.6, 0.8}};
    TriboContactLaw law = {.dim = 6, .mu = {1, 1, 1, 1, 1}, .restitution = trial % 2};
    contact.gap = 1e-3 * (trial % 3);
    assemble(&w, &OPTIONS, &contact, &law, 1);
    double lambda[6];
    for (int i = 0; i < 6; ++i) {
      lambda[i] = kit_normal(&random);
    }
    lambda[5] = fabs(lambda[5]);
    advance(&w, &OPTIONS, lambda);
    TriboEnergy before, after;
    CHECK_OK(tribo_dyn_energy(w.system, w.data, NO_GRAVITY, w.q, w.v, &before));
    CHECK_OK(tribo_dyn_energy(w.system, w.data, NO_GRAVITY, w.q_next, w.v_next, &after));
    for (int i = 0; i < 3; ++i) {
      CHECK_NEAR(after.momentum[i], before.momentum[i], 1e-13);
      CHECK_NEAR(after.angular[i], before.angular[i], 1e-13);
    }
  }
  world_end(&w);
}

// Euler's v⁺ is v_f + M⁻¹Jᵀλ to the letter: momentum at one and the same q, and the work λ · mean constraint velocity.
static void any_impulse_does_its_work(void** state) {
  (void)state;
  KitRandom random = {4};
  World w = world_of(2);
  TriboStepOptions euler = OPTIONS;
  euler.scheme = TRIBO_SCHEME_EULER;
  for (int trial = 0; trial < 50; ++trial) {
    randomize(&w, &random, 2);
    TriboContact contact = {.body_a = 0, .body_b = 1, .point = {0.1, 0.2, 0.3}, .normal = {0, 0.6, 0.8}};
    TriboContactLaw law = {.dim = 6, .mu = {1, 1, 1, 1, 1}};
    assemble(&w, &euler, &contact, &law, 1);
    double lambda[6];
    for (int i = 0; i < 6; ++i) {
      lambda[i] = kit_normal(&random);
    }
    advance(&w, &euler, lambda);
    TriboEnergy before, after;
    CHECK_OK(tribo_dyn_energy(w.system, w.data, NO_GRAVITY, w.q, tribo_dyn_free_velocity(w.data), &before));
    CHECK_OK(tribo_dyn_energy(w.system, w.data, NO_GRAVITY, w.q, w.v_next, &after));
    for (int i = 0; i < 3; ++i) {
      CHECK_NEAR(after.momentum[i], before.momentum[i], 1e-13);
      CHECK_NEAR(after.angular[i], before.angular[i], 1e-13);
    }
    double work = 0;
    for (int t = 0; t < 2; ++t) {
      for (int r = 0; r < 6; ++r) {
        for (int i = 0; i < 6; ++i) {
          work += lambda[r] * w.problem.jac[w.problem.term_at[t] + (size_t)(6 * r + i)] * 0.5 *
                  (w.v_next[6 * t + i] + tribo_dyn_free_velocity(w.data)[6 * t + i]);
        }
      }
    }
    CHECK_NEAR(after.kinetic - before.kinetic, work, 1e-12);
  }
  world_end(&w);
}

// σ_N's bias for one frictionless contact of a body that moves with speed −c along the normal.
static double bias_of(World* w, double gap, double speed, TriboContactLaw law, int* impact, double* R) {
  memset(w->v, 0, sizeof w->v);
  w->v[2] = -speed;
  TriboContact contact = contact_on_floor(gap);
  contact.point[0] = 0;
  assemble(w, &OPTIONS, &contact, &law, 1);
  *impact = w->rows[0].impact;
  *R = w->problem.R[0];
  return w->problem.g[0] + speed;
}

static void bias_follows_the_rules(void** state) {
  (void)state;
  World w = world_of(1);
  int impact;
  double R;
  const double h = OPTIONS.h;
  // open, dead band, within slop, penetrating, deep
  CHECK_NEAR(bias_of(&w, 0.02, 0, SLIPPERY, &impact, &R), 0.02 / h, 1e-15);
  CHECK_NEAR(bias_of(&w, 1e-9, 0, SLIPPERY, &impact, &R), 0, 0);
  CHECK_NEAR(bias_of(&w, -1e-9, 0, SLIPPERY, &impact, &R), 0, 0);
  CHECK_NEAR(bias_of(&w, -1e-6, 0, SLIPPERY, &impact, &R), 0, 0);
  CHECK_NEAR(bias_of(&w, -1e-3, 0, SLIPPERY, &impact, &R), 0.2 * (-1e-3 + 1e-6) / h, 1e-15);
  CHECK_NEAR(bias_of(&w, -1, 0, SLIPPERY, &impact, &R), -1, 1e-15);
  assert_int_equal(impact, 0);
  CHECK_NEAR(R, 0, 0);

  // impact: reached within the step and fast enough; the rebound speed stands instead of the gap
  TriboContactLaw bouncy = {.dim = 1, .restitution = 0.5};
  CHECK_NEAR(bias_of(&w, 0.01, 2, bouncy, &impact, &R), -1, 1e-15);
  assert_int_equal(impact, 1);
  CHECK_NEAR(bias_of(&w, 0.03, 2, bouncy, &impact, &R), 3, 1e-14);
  assert_int_equal(impact, 0);
  CHECK_NEAR(bias_of(&w, 0, 0.04, bouncy, &impact, &R), 0, 0);
  assert_int_equal(impact, 0);
  // a deep penetration asks for more than the rebound
  CHECK_NEAR(bias_of(&w, -0.04, 0.06, bouncy, &impact, &R), 0.2 * (-0.04 + 1e-6) / h, 1e-14);

  // spring and damper: λ solves λ = h(−k(φ + h c) − d c) when σ = 0
  TriboContactLaw soft = {.dim = 1, .compliance = 1e4, .damping = 50, .restitution = 0.5};
  double phi = -1e-3, c = -0.3, gamma = bias_of(&w, phi, 1, soft, &impact, &R);
  assert_int_equal(impact, 0);
  CHECK_NEAR(-(c + gamma) / R, h * (-1e4 * (phi + h * c) - 50 * c), 1e-12);
  CHECK_NEAR(bias_of(&w, 0.02, 1, soft, &impact, &R), 0.02 / h, 1e-15);
  world_end(&w);
}

// MuJoCo's softness. At rest under its weight a body sinks until the spring carries it; the equation of the row is
// (c⁺ − c⁻)/h + R f = −b c⁻ − k φ with f = λ/h.
static void softness_is_a_spring_per_mass(void** state) {
  (void)state;
  World w = world_of(1);
  int impact;
  double R, h = OPTIONS.h;
  TriboContactLaw soft = {.dim = 1, .soft = {{0.1, 0.8}, {0.6, 0.9, 0.02, 0.5, 2}}};
  // half way down the width the impedance is half way between its ends
  double phi = -0.01, c = -0.3, d = 0.75, b = 2 / (0.9 * 0.1), k = d / (0.81 * 0.01 * 0.64);
  double gamma = bias_of(&w, phi, -c, soft, &impact, &R), mobility = R * d / (1 - d);
  CHECK_NEAR(gamma, -c + h * (b * c + k * phi), 1e-12);
  assert_int_equal(impact, 0);
  TriboContactLaw full = soft;
  full.soft.solimp[0] = full.soft.solimp[1] = 0.5;
  double R_half;
  bias_of(&w, phi, -c, full, &impact, &R_half);
  CHECK_NEAR(R_half, mobility, 1e-12 * mobility);
  // at touch and beyond the width
  bias_of(&w, 0, 0, soft, &impact, &R);
  CHECK_NEAR(R, (1 - 0.6) / 0.6 * mobility, 1e-9 * mobility);
  bias_of(&w, -1, 0, soft, &impact, &R);
  CHECK_NEAR(R, (1 - 0.9) / 0.9 * mobility, 1e-9 * mobility);
  // given directly: stiffness and damping per mass
  TriboContactLaw direct = soft;
  direct.soft.solref[0] = -500, direct.soft.solref[1] = -7;
  CHECK_NEAR(bias_of(&w, phi, -c, direct, &impact, &R), -c + h * (7 / 0.9 * c + 500 * d / 0.81 * phi), 1e-12);
  // an open gap acts as always, and a time constant below two steps is two steps
  CHECK_NEAR(bias_of(&w, 0.02, 1, soft, &impact, &R), 0.02 / h, 1e-15);
  TriboContactLaw stiff = soft, least = soft;
  stiff.soft.solref[0] = 1e-6, least.soft.solref[0] = 2 * h;
  CHECK_NEAR(bias_of(&w, phi, -c, stiff, &impact, &R), bias_of(&w, phi, -c, least, &impact, &R), 1e-15);
  world_end(&w);
}

// Corners of a square of one face: biases that miss a rigid motion by less than the dead band are put right, others
// stay.
static void faces_ask_for_rigid_motions(void** state) {
  (void)state;
  World w = world_of(1);
  const double h = OPTIONS.h, slop = 1e-6;
  for (int wide = 0; wide < 2; ++wide) {
    // beyond and within the slop, corner by corner: kinks of the bias in a diagonal pattern
    const double kink = wide ? 1e-7 : 1e-11;
    TriboContact contacts[4];
    TriboContactLaw laws[4];
    for (int i = 0; i < 4; ++i) {
      contacts[i] = contact_on_floor(0);
      contacts[i].feature = (uint32_t)i;
      contacts[i].point[0] = i == 0 || i == 3 ? 1 : -1;
      contacts[i].point[1] = i < 2 ? 1 : -1;
      contacts[i].gap = -slop + (i % 2 ? kink : -kink);
      laws[i] = SLIPPERY;
    }
    assemble(&w, &OPTIONS, contacts, laws, 4);
    const double* g = w.problem.g;
    CHECK_NEAR(g[0] - g[1] + g[2] - g[3], wide ? -2 * 0.2 * kink / h : 0, 1e-15);
    // the correction is shared evenly
    CHECK_NEAR(g[0] + g[1] + g[2] + g[3], -2 * 0.2 * kink / h, 1e-15);
  }
  world_end(&w);
}

static void pushed_bodies_advance_with_the_new_velocity(void** state) {
  (void)state;
  World w = world_of(2);
  w.v[2] = -1;
  w.v[8] = -1;
  w.q[9] = 5;
  TriboContact contact = contact_on_floor(0);
  contact.point[0] = 0;
  assemble(&w, &OPTIONS, &contact, &SLIPPERY, 1);
  double lambda = 1;  // mass 1: stops it
  advance(&w, &OPTIONS, &lambda);
  CHECK_NEAR(w.v_next[2], 0, 1e-15);
  CHECK_NEAR(w.q_next[2], 0, 1e-15);
  CHECK_NEAR(w.q_next[9], 4.99, 1e-15);
  // without impulse the mean velocity counts
  lambda = 0;
  TriboStepOptions heavy = OPTIONS;
  heavy.gravity[2] = -10;
  assemble(&w, &heavy, &contact, &SLIPPERY, 1);
  advance(&w, &heavy, &lambda);
  CHECK_NEAR(w.q_next[2], -0.01 - 0.0005, 1e-15);
  world_end(&w);
}

static void impacts_split_the_step(void** state) {
  (void)state;
  World w = world_of(1);
  w.v[0] = 3;
  w.v[2] = -2;
  TriboContact contacts[3] = {contact_on_floor(0.005), contact_on_floor(0.01), contact_on_floor(0)};
  for (int i = 0; i < 3; ++i) {
    contacts[i].point[0] = 0;
  }
  TriboContactLaw bouncy = {.dim = 1, .restitution = 0.5}, laws[3] = {bouncy, bouncy, SLIPPERY};
  assemble(&w, &OPTIONS, contacts, laws, 3);
  assert_true(w.rows[0].impact && w.rows[1].impact && !w.rows[2].impact);
  // mass 1: the impulse that turns −2 into +1, shared with a row that is no impact
  double lambda[3] = {2, 0, 1};
  advance(&w, &OPTIONS, lambda);
  CHECK_NEAR(w.v_next[2], 1, 1e-15);
  // a quarter of the step down, three quarters up; sideways nothing happens
  CHECK_NEAR(w.q_next[2], -0.0025 * 2 + 0.0075 * 1, 1e-15);
  CHECK_NEAR(w.q_next[0], 0.03, 1e-15);
  // euler never splits
  TriboStepOptions euler = OPTIONS;
  euler.scheme = TRIBO_SCHEME_EULER;
  assemble(&w, &euler, contacts, laws, 3);
  advance(&w, &euler, lambda);
  CHECK_NEAR(w.q_next[2], 0.01, 1e-15);
  world_end(&w);
}

static void second_step_takes_no_memory(void** state) {
  (void)state;
  World w = world_of(4);
  TriboContact contacts[40];
  TriboContactLaw laws[40];
  double lambda[120] = {0};
  for (int i = 0; i < 40; ++i) {
    contacts[i] = contact_on_floor(0.001);
    contacts[i].body_a = i % 2 == 0 ? TRIBO_WORLD_BODY : 3;
    laws[i] = COULOMB;
  }
  assemble(&w, &OPTIONS, contacts, laws, 40);
  advance(&w, &OPTIONS, lambda);
  uint64_t before = tribo_growth_count();
  assemble(&w, &OPTIONS, contacts, laws, 40);
  advance(&w, &OPTIONS, lambda);
  assert_int_equal(tribo_growth_count() - before, 0);
  world_end(&w);
}

static void bad_contacts_are_named(void** state) {
  (void)state;
  World w = world_of(2);
  CHECK_OK(tribo_dyn_update(w.system, w.data, &OPTIONS, w.q, w.v, NULL, NULL));
  TriboContact contact;
  TriboContactLaw law;
#define BAD(change, status, text)                                                                                 \
  do {                                                                                                            \
    contact = contact_on_floor(0), law = COULOMB;                                                                 \
    change;                                                                                                       \
    CHECK_FAILS(tribo_dyn_assemble(w.system, w.data, &OPTIONS, w.q, w.v, &contact, &law, 1, &w.problem, &w.rows), \
                status, text);                                                                                    \
  } while (0)
  BAD(contact.body_b = 2, TRIBO_INVALID, "between bodies -1 and 2");
  BAD(contact.body_b = TRIBO_WORLD_BODY, TRIBO_INTERNAL, "never move");
  BAD(contact.body_a = 0, TRIBO_INTERNAL, "never move");
  BAD(contact.point[1] = NAN, TRIBO_NUMERIC, "contact 0");
  BAD(contact.gap = NAN, TRIBO_NUMERIC, "contact 0");
  BAD(contact.normal[2] = 0, TRIBO_NUMERIC, "length 0");
  BAD(law.dim = 2, TRIBO_INVALID, "dim 2");
  BAD(law.mu[1] = -0.1, TRIBO_INVALID, "mu[1] = -0.1");
  BAD(law.mu[0] = INFINITY, TRIBO_INVALID, "mu[0] = inf");
  BAD(law.restitution = 1.1, TRIBO_INVALID, "restitution 1.1");
  BAD(law.compliance = -1, TRIBO_INVALID, "stiffness -1");
  BAD(law.surface[0] = NAN, TRIBO_INVALID, "surface");
#undef BAD
  // a refused assemble leaves nothing to advance with; bad impulses are named
  double lambda[3] = {0, NAN, 0};
  CHECK_FAILS(tribo_dyn_advance(w.system, w.data, &OPTIONS, w.q, w.v, lambda, w.q_next, w.v_next), TRIBO_STATE,
              "first");
  contact = contact_on_floor(0);
  assemble(&w, &OPTIONS, &contact, &COULOMB, 1);
  CHECK_FAILS(tribo_dyn_advance(w.system, w.data, &OPTIONS, w.q, w.v, lambda, w.q_next, w.v_next), TRIBO_NUMERIC,
              "lambda[1] is nan");
  lambda[1] = 0, lambda[2] = 1e308;
  TriboStepOptions o = OPTIONS;
  contact.point[0] = 1e9;
  assemble(&w, &o, &contact, &COULOMB, 1);
  CHECK_FAILS(tribo_dyn_advance(w.system, w.data, &o, w.q, w.v, lambda, w.q_next, w.v_next), TRIBO_NUMERIC, "next v");
  CHECK_FAILS(tribo_dyn_advance(w.system, w.data, &o, w.q, w.v, lambda, w.q, w.v_next), TRIBO_INVALID, "itself");
  world_end(&w);
}

// Normals that differ by rounding are one, the first; what differs by more, or stands alone, keeps its digits.
static void nearly_parallel_normals_are_one(void** state) {
  (void)state;
  enum { N = 40 };
  World w = world_of(1);
  TriboContact contacts[N];
  TriboContactLaw laws[N];
  for (int i = 0; i < N; ++i) {
    contacts[i] = contact_on_floor(0);
    contacts[i].feature = (uint32_t)i;
    laws[i] = COULOMB;
    // ten directions, each four times, 1e-10 rad apart
    const double tilt = 0.1 * (i % 10) + 1e-10 * (double)(i / 10);
    tribo_set3(contacts[i].normal, sin(tilt), 0, cos(tilt));
  }
  assemble(&w, &OPTIONS, contacts, laws, N);
  for (int i = 0; i < N; ++i) {
    assert_memory_equal(w.rows[i].frame + 6, contacts[i % 10].normal, 3 * sizeof(double));
  }
  contacts[10].normal[0] = 1e-7;
  tribo_normalize3(contacts[10].normal);
  assemble(&w, &OPTIONS, contacts, laws, N);
  assert_memory_equal(w.rows[10].frame + 6, contacts[10].normal, 3 * sizeof(double));
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jacobian_of_one_contact_by_hand), cmocka_unit_test(rows_are_relative_velocities),
      cmocka_unit_test(any_push_keeps_total_momentum),   cmocka_unit_test(any_impulse_does_its_work),
      cmocka_unit_test(bias_follows_the_rules),          cmocka_unit_test(pushed_bodies_advance_with_the_new_velocity),
      cmocka_unit_test(impacts_split_the_step),          cmocka_unit_test(second_step_takes_no_memory),
      cmocka_unit_test(bad_contacts_are_named),          cmocka_unit_test(faces_ask_for_rigid_motions),
      cmocka_unit_test(softness_is_a_spring_per_mass),   cmocka_unit_test(nearly_parallel_normals_are_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
