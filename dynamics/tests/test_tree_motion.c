// Trees in motion against closed forms, against free bodies, and against the laws that any motion keeps.
#include "trees.h"

static const double DOWN[3] = {0, 0, -9.81};

// A point-like bob of mass m on a massless rod of length l about the x axis; hangs at q = 0.
static TriboLinkDef bob(const char* name, int parent, double at, double mass, double length) {
  TriboLinkDef link = tribo_dyn_link_def();
  link.name = name;
  link.parent = parent;
  link.kind = TRIBO_JOINT_REVOLUTE;
  link.placement.p[2] = -at;
  tribo_set3(link.axis, 1, 0, 0);
  link.mass = mass;
  link.com[2] = -length;
  return link;
}

static TriboTree* tree_of(const TriboLinkDef* links, int nlink) {
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_build(links, nlink, &tree));
  return tree;
}

// Complete elliptic integral of the first kind by the arithmetic-geometric mean: K(k) = π / (2 agm(1, √(1−k²))).
static double elliptic(double k) {
  double a = 1, b = sqrt(1 - k * k);
  for (int i = 0; i < 40; ++i) {
    double mean = 0.5 * (a + b);
    b = sqrt(a * b);
    a = mean;
  }
  return M_PI / (2 * a);
}

// Speed that is left after one exact period, from rest at amplitude 1 rad; also the range of the energy.
static double pendulum_error(int steps, double* energy_range) {
  const double length = 0.7;
  TriboLinkDef link = bob("bob", -1, 0, 2, length);
  TriboTree* tree = tree_of(&link, 1);
  World w = world_of(NULL, 0, &tree, 1);
  const double period = 4 * sqrt(length / 9.81) * elliptic(sin(0.5));
  TriboStepOptions o = step_options(period / steps, TRIBO_SCHEME_VARIATIONAL, -9.81);
  w.q[0] = 1;
  double low = INFINITY, high = -INFINITY;
  // at the turning point an error of the period shows in the speed
  for (int i = 0; i < steps; ++i) {
    world_step(&w, &o, NULL, NULL);
    double e = world_energy(&w, DOWN);
    low = fmin(low, e);
    high = fmax(high, e);
  }
  *energy_range = high - low;
  double error = fabs(w.v[0]);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
  return error;
}

static void pendulum_keeps_its_period_to_second_order(void** state) {
  (void)state;
  double range[2];
  double coarse = pendulum_error(500, range), fine = pendulum_error(1000, range + 1);
  CHECK_LE(fine, 1e-4);
  CHECK_NEAR(coarse / fine, 4, 0.5);
  CHECK_NEAR(range[0] / range[1], 4, 0.5);
}

static void double_pendulum_energy(TriboScheme scheme, double h, double seconds, double* first, double* second) {
  TriboLinkDef links[2] = {bob("upper", -1, 0, 1, 0.5), bob("lower", 0, 0.5, 1.5, 0.4)};
  TriboTree* tree = tree_of(links, 2);
  World w = world_of(NULL, 0, &tree, 1);
  TriboStepOptions o = step_options(h, scheme, -9.81);
  w.q[0] = 1.2;
  w.q[1] = 0.8;
  const double start = world_energy(&w, DOWN);
  const int steps = (int)lround(seconds / h);
  *first = *second = 0;
  for (int i = 0; i < steps; ++i) {
    world_step(&w, &o, NULL, NULL);
    double* half = i < steps / 2 ? first : second;
    *half = fmax(*half, fabs(world_energy(&w, DOWN) - start));
  }
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

static void double_pendulum_keeps_its_energy(void** state) {
  (void)state;
  double first, second, coarse, unused, euler;
  double_pendulum_energy(TRIBO_SCHEME_VARIATIONAL, 1e-3, 20, &first, &second);
  // no drift: the second ten seconds are no worse; the scale is about 20 J
  CHECK_LE(first, 2e-3);
  CHECK_LE(second, 1.5 * first);
  double_pendulum_energy(TRIBO_SCHEME_VARIATIONAL, 2e-3, 1, &coarse, &unused);
  double_pendulum_energy(TRIBO_SCHEME_VARIATIONAL, 1e-3, 1, &first, &unused);
  CHECK_NEAR(coarse / first, 4, 0.5);
  double_pendulum_energy(TRIBO_SCHEME_EULER, 1e-3, 1, &euler, &unused);
  CHECK_LE(10 * first, euler);
}

// Run forwards, turn the velocities round, run as long: a time-symmetric scheme comes home.
static void motion_without_damping_is_reversible(void** state) {
  (void)state;
  TriboTree* tree = tree_of_every_kind(3);
  World w = world_of(NULL, 0, &tree, 1);
  KitRandom random = {3};
  world_randomize(&w, &random, 0.5);
  TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, -9.81);
  double start[MAX_Q], dv[MAX_V];
  memcpy(start, w.q, sizeof start);
  for (int leg = 0; leg < 2; ++leg) {
    for (int i = 0; i < 100; ++i) {
      world_step(&w, &o, NULL, NULL);
    }
    if (leg == 0) {
      CHECK_OK(tribo_dyn_difference(w.system, w.data, start, w.q, dv));
      CHECK_LE(1e-2, fabs(dv[0]));
    }
    for (int k = 0; k < w.info->nv; ++k) {
      w.v[k] = -w.v[k];
    }
  }
  CHECK_OK(tribo_dyn_difference(w.system, w.data, start, w.q, dv));
  for (int k = 0; k < w.info->nv; ++k) {
    CHECK_NEAR(dv[k], 0, 1e-10);
  }
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

// A floating tree of all joint kinds without outer forces: its momentum stays, whatever the step.
static double momentum_drift(double h) {
  TriboTree* tree = tree_of_every_kind(4);
  World w = world_of(NULL, 0, &tree, 1);
  KitRandom random = {4};
  world_randomize(&w, &random, 0.3);
  TriboStepOptions o = step_options(h, TRIBO_SCHEME_VARIATIONAL, 0);
  TriboEnergy first, last;
  const double none[3] = {0, 0, 0};
  CHECK_OK(tribo_dyn_energy(w.system, w.data, none, w.q, w.v, &first));
  for (int i = 0; i < (int)lround(0.2 / h); ++i) {
    world_step(&w, &o, NULL, NULL);
  }
  CHECK_OK(tribo_dyn_energy(w.system, w.data, none, w.q, w.v, &last));
  double off[3];
  tribo_sub3(off, last.angular, first.angular);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
  return tribo_norm3(off) / tribo_norm3(first.angular);
}

static void floating_tree_keeps_its_momentum(void** state) {
  (void)state;
  CHECK_LE(momentum_drift(1e-3), 1e-12);
  CHECK_LE(momentum_drift(1e-2), 1e-12);
}

static TriboLinkDef slider(double mass, double damping) {
  TriboLinkDef link = tribo_dyn_link_def();
  link.name = "slider";
  link.kind = TRIBO_JOINT_PRISMATIC;
  link.mass = mass;
  link.damping = damping;
  return link;
}

// m v̇ = −d v: speed after 1 s against v₀ exp(−d/m), and a damper far too stiff for the step.
static double damped_speed(double damping, double h, int steps) {
  TriboLinkDef link = slider(2, damping);
  TriboTree* tree = tree_of(&link, 1);
  World w = world_of(NULL, 0, &tree, 1);
  TriboStepOptions o = step_options(h, TRIBO_SCHEME_VARIATIONAL, 0);
  w.v[0] = 3;
  for (int i = 0; i < steps; ++i) {
    world_step(&w, &o, NULL, NULL);
  }
  double speed = w.v[0];
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
  return speed;
}

static void damping_is_second_order_and_never_rings(void** state) {
  (void)state;
  double coarse = damped_speed(1.5, 0.02, 50) - 3 * exp(-0.75), fine = damped_speed(1.5, 0.01, 100) - 3 * exp(-0.75);
  CHECK_LE(fabs(fine), 1e-4);
  CHECK_NEAR(coarse / fine, 4, 0.1);
  CHECK_NEAR(damped_speed(1e6, 0.01, 1), 0, 1e-12);
  CHECK_LE(0, damped_speed(200, 0.01, 1));
}

// A single free link is a free body: same motion, same rows against the ground, same G = J M⁻¹ Jᵀ.
static void free_link_is_a_free_body(void** state) {
  (void)state;
  KitRandom random = {6};
  TriboLinkDef link = tribo_dyn_link_def();
  link.name = "body";
  link.kind = TRIBO_JOINT_FREE;
  random_mass(&random, &link);
  TriboFreeBodyDef body = {.mass = link.mass};
  memcpy(body.com, link.com, sizeof body.com);
  memcpy(body.inertia, link.inertia, sizeof body.inertia);
  TriboTree* tree = tree_of(&link, 1);
  World a = world_of(&body, 1, NULL, 0), b = world_of(NULL, 0, &tree, 1);

  // the same pose and the same velocity of the centre of mass in both coordinates
  double R[9], arm[3], at[3], swing[3], local[3], turn[4];
  kit_rotation(&random, turn);
  tribo_quat_to_mat(R, turn);
  tribo_mul33v(arm, R, link.com);
  memcpy(a.q + 3, turn, sizeof turn);
  memcpy(b.q + 3, turn, sizeof turn);
  tribo_sub3(b.q, a.q, arm);
  for (int k = 0; k < 6; ++k) {
    a.v[k] = kit_normal(&random);
  }
  tribo_cross3(swing, a.v + 3, link.com);
  tribo_mul33tv(local, R, a.v);
  tribo_sub3(b.v, local, swing);
  tribo_copy3(b.v + 3, a.v + 3);
  TriboTwist twist[2];
  TriboPose pose[2];
  CHECK_OK(tribo_dyn_kinematics(a.system, a.data, a.q, a.v, pose, twist));
  CHECK_OK(tribo_dyn_kinematics(b.system, b.data, b.q, b.v, pose + 1, twist + 1));
  for (int k = 0; k < 3; ++k) {
    CHECK_NEAR(twist[0].v[k], twist[1].v[k], 1e-14);
    CHECK_NEAR(twist[0].w[k], twist[1].w[k], 1e-14);
    at[k] = kit_normal(&random);
  }

  // rows, with everything taken at q, for a tiny step: a free flyer's velocity lives in axes that turn with it, so its
  // free velocity read at q is off by h ω × v
  TriboStepOptions o = step_options(1e-7, TRIBO_SCHEME_EULER, -9.81);
  TriboContact contact = {.body_a = TRIBO_WORLD_BODY, .body_b = 0, .normal = {0, 0.6, 0.8}};
  tribo_copy3(contact.point, at);
  TriboContactLaw law = {.dim = 6, .mu = {1, 1, 1, 1, 1}};
  double lambda[6] = {0.1, -0.2, 0.05, 0.02, -0.03, 1}, after[2][6];
  World* worlds[2] = {&a, &b};
  double wrench[6] = {1, 2, 3, 0.3, 0.2, 0.1};
  for (int i = 0; i < 2; ++i) {
    world_assemble(worlds[i], &o, NULL, wrench, &contact, &law, 1);
    world_advance(worlds[i], &o, lambda);
    problem_apply(worlds[i], worlds[i]->v_next, after[i]);
  }
  for (int r = 0; r < 6; ++r) {
    CHECK_NEAR(a.problem.g[r], b.problem.g[r], 1e-6);
    CHECK_NEAR(after[0][r] - a.problem.g[r], after[1][r] - b.problem.g[r], 1e-12);
  }

  // motion: 0.2 s of free flight
  TriboStepOptions flight = step_options(1e-4, TRIBO_SCHEME_VARIATIONAL, -9.81);
  for (int i = 0; i < 2000; ++i) {
    world_step(&a, &flight, NULL, wrench);
    world_step(&b, &flight, NULL, wrench);
  }
  CHECK_OK(tribo_dyn_kinematics(a.system, a.data, a.q, a.v, pose, twist));
  CHECK_OK(tribo_dyn_kinematics(b.system, b.data, b.q, b.v, pose + 1, twist + 1));
  for (int k = 0; k < 3; ++k) {
    CHECK_NEAR(pose[0].p[k], pose[1].p[k], 1e-7);
    CHECK_NEAR(twist[0].w[k], twist[1].w[k], 1e-6);
  }
  world_end(&a);
  world_end(&b);
  tribo_dyn_tree_destroy(tree);
}

// Contacts of a tree with itself, with a free body and with the ground: rows are relative velocities, impulses between
// bodies keep the momentum, and their work is the change of kinetic energy.
static void contact_rows_of_links(void** state) {
  (void)state;
  KitRandom random = {7};
  TriboTree* tree = tree_of_every_kind(5);
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree);
  TriboFreeBodyDef body = {.mass = 2, .com = {0.1, 0, 0}, .inertia = {1, 0, 0, 0, 2, 0, 0, 0, 2}};
  World w = world_of(&body, 1, &tree, 1);
  world_randomize(&w, &random, 1);
  const int first = 1, pairs[3][2] = {{first + 7, 0}, {first + 9, first + 14}, {TRIBO_WORLD_BODY, first + 12}};
  assert_true(info->links[9].carrier != info->links[14].carrier);
  for (int pair = 0; pair < 3; ++pair) {
    TriboContact contact = {.body_a = pairs[pair][0], .body_b = pairs[pair][1], .gap = 0, .normal = {0.6, 0, 0.8}};
    tribo_set3(contact.point, 0.3, -0.2, 0.5);
    TriboContactLaw law = {.dim = 6, .mu = {1, 1, 1, 1, 1}};
    TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_EULER, -9.81);
    world_assemble(&w, &o, NULL, NULL, &contact, &law, 1);
    assert_int_equal(w.problem.term_first[1], pair == 0 ? 2 : 1);
    double slip[3] = {0}, turn[3] = {0};
    for (int side = 0; side < 2; ++side) {
      int b = pairs[pair][side];
      if (b >= 0) {
        double sign = side == 0 ? -1 : 1, arm[3], swing[3];
        tribo_sub3(arm, contact.point, tribo_dyn_poses(w.data)[b].p);
        tribo_cross3(swing, tribo_dyn_twists(w.data)[b].w, arm);
        tribo_add3(swing, swing, tribo_dyn_twists(w.data)[b].v);
        tribo_axpy3(slip, slip, sign, swing);
        tribo_axpy3(turn, turn, sign, tribo_dyn_twists(w.data)[b].w);
      }
    }
    const double *t1 = w.rows[0].frame, *t2 = t1 + 3, *n = t1 + 6, *g = w.problem.g;
    CHECK_NEAR(g[0], tribo_dot3(t1, slip), 1e-12);
    CHECK_NEAR(g[1], tribo_dot3(t2, slip), 1e-12);
    CHECK_NEAR(g[2], tribo_dot3(n, turn), 1e-12);
    CHECK_NEAR(g[3], tribo_dot3(t1, turn), 1e-12);
    CHECK_NEAR(g[4], tribo_dot3(t2, turn), 1e-12);
    CHECK_NEAR(g[5], tribo_dot3(n, slip), 1e-12);

    double lambda[6], row_free[6], row_next[6], work = 0;
    for (int r = 0; r < 6; ++r) {
      lambda[r] = kit_normal(&random);
    }
    world_advance(&w, &o, lambda);
    problem_apply(&w, tribo_dyn_free_velocity(w.data), row_free);
    problem_apply(&w, w.v_next, row_next);
    for (int r = 0; r < 6; ++r) {
      work += 0.5 * lambda[r] * (row_free[r] + row_next[r]);
    }
    TriboEnergy before, after;
    CHECK_OK(tribo_dyn_energy(w.system, w.data, DOWN, w.q, tribo_dyn_free_velocity(w.data), &before));
    CHECK_OK(tribo_dyn_energy(w.system, w.data, DOWN, w.q, w.v_next, &after));
    CHECK_NEAR(after.kinetic - before.kinetic, work, 1e-10 * (1 + fabs(after.kinetic)));
    if (pair < 2) {
      for (int k = 0; k < 3; ++k) {
        CHECK_NEAR(after.momentum[k], before.momentum[k], 1e-11);
        CHECK_NEAR(after.angular[k], before.angular[k], 1e-11);
      }
    }
  }
  // links welded to one joint cannot touch each other
  TriboContact welded = {.body_a = first, .body_b = first + 1, .normal = {0, 0, 1}};
  TriboContactLaw law = {.dim = 1};
  TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_EULER, -9.81);
  CHECK_FAILS(tribo_dyn_assemble(w.system, w.data, &o, w.q, w.v, &welded, &law, 1, &w.problem, &w.rows), TRIBO_INTERNAL,
              "never move against each other");
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

// A wrench on a link does what the joint torque J^T w does.
static void wrenches_act_through_the_jacobian(void** state) {
  (void)state;
  TriboLinkDef link = bob("bob", -1, 0, 2, 0.5);
  TriboTree* tree = tree_of(&link, 1);
  World w = world_of(NULL, 0, &tree, 1);
  TriboStepOptions o = step_options(0.01, TRIBO_SCHEME_VARIATIONAL, 0);
  w.q[0] = 0.3;
  w.v[0] = 2;
  double wrench[6] = {5, 3, 4, 0.7, 9, 9};
  CHECK_OK(tribo_dyn_update(w.system, w.data, &o, w.q, w.v, NULL, wrench));
  // the bob stands at (0, l sin q, −l cos q), so the torque about x is l (f_y cos q + f_z sin q) + τ_x
  double q = 0.3, torque = 0.5 * (3 * cos(q) + 4 * sin(q)) + 0.7;
  CHECK_NEAR(tribo_dyn_free_velocity(w.data)[0], 2 + 0.01 * torque / (2 * 0.25), 1e-14);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

static void limits_and_friction_become_rows(void** state) {
  (void)state;
  TriboLinkDef links[2] = {slider(2, 0), bob("bob", 0, 0, 1, 0.5)};
  links[0].lower = -0.1, links[0].upper = 0.2, links[0].friction = 3;
  links[1].upper = 1;
  TriboTree* tree = tree_of(links, 2);
  TriboFreeBodyDef body = {.mass = 1, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  World w = world_of(&body, 1, &tree, 1);
  TriboStepOptions o = step_options(0.01, TRIBO_SCHEME_VARIATIONAL, 0);
  const int v0 = 6, q0 = 7;

  // in the middle: the friction row alone
  world_assemble(&w, &o, NULL, NULL, NULL, NULL, 0);
  assert_int_equal(w.problem.ncone, 1);
  assert_int_equal(w.rows[0].kind, TRIBO_ROW_FRICTION);
  assert_int_equal(w.rows[0].index, v0);
  assert_int_equal(w.problem.cones[0].kind, TRIBO_CONE_BOX);
  CHECK_NEAR(w.problem.cones[0].hi, 0.03, 1e-16);
  CHECK_NEAR(w.problem.cones[0].lo, -0.03, 1e-16);

  // slider past its lower stop, bob that will reach its upper one within the step
  w.q[q0] = -0.11;
  w.q[q0 + 1] = 0.95;
  w.v[v0 + 1] = 6;
  world_assemble(&w, &o, NULL, NULL, NULL, NULL, 0);
  assert_int_equal(w.problem.ncone, 3);
  assert_int_equal(w.rows[0].kind, TRIBO_ROW_LIMIT);
  assert_int_equal(w.rows[0].index, 2 * v0);
  assert_int_equal(w.rows[1].index, 2 * (v0 + 1) + 1);
  assert_int_equal(w.rows[2].kind, TRIBO_ROW_FRICTION);
  assert_int_equal(w.rows[0].block_a, 1);
  assert_int_equal(w.rows[0].block_b, -1);
  const double* free = tribo_dyn_free_velocity(w.data);
  CHECK_NEAR(w.problem.g[0], free[v0] + 0.2 * (-0.01 + 1e-6) / 0.01, 1e-13);
  CHECK_NEAR(w.problem.g[1], -free[v0 + 1] + 0.05 / 0.01, 1e-13);
  const double expected[6] = {1, 0, 0, -1, 1, 0};
  for (int i = 0; i < 6; ++i) {
    CHECK_NEAR(w.problem.jac[i], expected[i], 0);
  }

  // near its limits the tree goes with the velocity after the kick, but for what its joints bend in the step; in the
  // middle with the mean velocity
  double lambda[3] = {0, 1, 0};
  world_advance(&w, &o, lambda);
  CHECK_NEAR(w.q_next[q0 + 1], 0.95 + 0.01 * w.v_next[v0 + 1], 1e-4);
  w.q[q0] = w.q[q0 + 1] = 0;
  world_assemble(&w, &o, NULL, NULL, NULL, NULL, 0);
  assert_int_equal(w.problem.ncone, 1);
  lambda[0] = 0.02;
  world_advance(&w, &o, lambda);
  CHECK_NEAR(w.q_next[q0], 0.005 * w.v_next[v0], 1e-5);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

// How far the velocity that rows see of two torques at once is from the sum of what each does alone, with a contact at
// a gap.
static double torque_mixing(const World* start, double gap, const double* first, const double* second) {
  World w = *start;
  const TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, -9.81);
  const TriboContact contact = {.body_a = TRIBO_WORLD_BODY, .body_b = 1, .normal = {0, 0, 1}, .gap = gap};
  const TriboContactLaw law = {.dim = 1};
  double tau[MAX_V], sum[MAX_V] = {0}, most = 0;
  // v_f(0) − v_f(first) − v_f(second) + v_f(both) is 0 where v_f is affine in τ
  for (int which = 0; which < 4; ++which) {
    for (int i = 0; i < w.info->nv; ++i) {
      tau[i] = (which & 1 ? first[i] : 0) + (which & 2 ? second[i] : 0);
    }
    world_assemble(&w, &o, tau, NULL, &contact, &law, 1);
    for (int i = 0; i < w.info->nv; ++i) {
      sum[i] += (which == 0 || which == 3 ? 1 : -1) * tribo_dyn_free_velocity(w.data)[i];
    }
  }
  for (int i = 0; i < w.info->nv; ++i) {
    most = fmax(most, fabs(sum[i]));
  }
  return most;
}

// What rows see answers to forces linearly, in contact and in flight, and at rest feels its weight alone.
static void rows_see_forces_linearly(void** state) {
  (void)state;
  TriboTree* tree = tree_of_every_kind(5);
  World w = world_of(NULL, 0, &tree, 1);
  KitRandom random = {5};
  world_randomize(&w, &random, 0.5);
  double first[MAX_V], second[MAX_V], weight[MAX_V], mass[MAX_V * MAX_V], bias[MAX_V];
  for (int i = 0; i < w.info->nv; ++i) {
    first[i] = 20 * kit_normal(&random);
    second[i] = 20 * kit_normal(&random);
  }
  CHECK_LE(torque_mixing(&w, 0, first, second), 1e-12);
  CHECK_LE(torque_mixing(&w, 1, first, second), 1e-12);

  memset(w.v, 0, sizeof w.v);
  const TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, -9.81);
  const TriboContact contact = {.body_a = TRIBO_WORLD_BODY, .body_b = 1, .normal = {0, 0, 1}};
  const TriboContactLaw law = {.dim = 1};
  world_assemble(&w, &o, first, NULL, &contact, &law, 1);
  CHECK_OK(tribo_dyn_terms(w.system, w.data, DOWN, w.q, w.v, mass, weight, NULL));
  for (int i = 0; i < w.info->nv; ++i) {
    bias[i] = weight[i] - first[i];
    for (int k = 0; k < w.info->nv; ++k) {
      bias[i] += mass[i * w.info->nv + k] * tribo_dyn_free_velocity(w.data)[k] / o.h;
    }
    CHECK_NEAR(bias[i], 0, 1e-10);
  }
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

// A slider that hits the ground with restitution: the old velocity up to the impact, the new one after it.
static void impacts_split_the_step(void** state) {
  (void)state;
  TriboLinkDef link = slider(2, 0);
  TriboTree* tree = tree_of(&link, 1);
  World w = world_of(NULL, 0, &tree, 1);
  TriboStepOptions o = step_options(0.01, TRIBO_SCHEME_VARIATIONAL, 0);
  w.v[0] = -2;
  TriboContact contact = {.body_a = TRIBO_WORLD_BODY, .body_b = 0, .normal = {0, 0, 1}, .gap = 0.005};
  TriboContactLaw law = {.dim = 1, .restitution = 0.5};
  world_assemble(&w, &o, NULL, NULL, &contact, &law, 1);
  assert_int_equal(w.rows[0].impact, 1);
  double lambda = 6;
  world_advance(&w, &o, &lambda);
  CHECK_NEAR(w.v_next[0], 1, 1e-15);
  CHECK_NEAR(w.q_next[0], -0.005 + 0.0075, 1e-15);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

static void second_step_takes_no_memory(void** state) {
  (void)state;
  TriboTree* tree = tree_of_every_kind(8);
  World w = world_of(NULL, 0, &tree, 1);
  KitRandom random = {8};
  world_randomize(&w, &random, 1);
  TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, -9.81);
  TriboContact contacts[8];
  TriboContactLaw laws[8];
  double lambda[24] = {0};
  for (int i = 0; i < 8; ++i) {
    contacts[i] = (TriboContact){.body_a = TRIBO_WORLD_BODY, .body_b = 2 + i, .normal = {0, 0, 1}, .gap = 0.01};
    laws[i] = (TriboContactLaw){.dim = 3, .mu = {0.5, 0.5}};
  }
  uint64_t before = 0;
  for (int i = 0; i < 3; ++i) {
    before = i == 1 ? tribo_growth_count() : before;
    world_assemble(&w, &o, NULL, NULL, contacts, laws, 8);
    world_advance(&w, &o, lambda);
  }
  assert_int_equal(tribo_growth_count() - before, 0);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

// A tree that never moves is still a body to stand on.
static void welded_tree_has_no_motion(void** state) {
  (void)state;
  TriboLinkDef link = tribo_dyn_link_def();
  link.name = "table";
  link.mass = 5;
  link.placement.p[2] = 0.7;
  TriboTree* tree = tree_of(&link, 1);
  TriboFreeBodyDef body = {.mass = 1, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  World w = world_of(&body, 1, &tree, 1);
  assert_int_equal(w.info->body_block[1], -1);
  assert_int_equal(w.info->block_dim[1], 0);
  TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, -9.81);
  TriboContact contact = {.body_a = 1, .body_b = 0, .normal = {0, 0, 1}};
  TriboContactLaw law = {.dim = 1};
  world_assemble(&w, &o, NULL, NULL, &contact, &law, 1);
  assert_int_equal(w.problem.term_first[1], 1);
  CHECK_NEAR(tribo_dyn_poses(w.data)[1].p[2], 0.7, 0);
  double lambda = 9.81e-3;
  world_advance(&w, &o, &lambda);
  CHECK_NEAR(w.v_next[2], 0, 1e-17);
  contact.body_b = TRIBO_WORLD_BODY;
  CHECK_FAILS(tribo_dyn_assemble(w.system, w.data, &o, w.q, w.v, &contact, &law, 1, &w.problem, &w.rows),
              TRIBO_INTERNAL, "never move");
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum_keeps_its_period_to_second_order),
      cmocka_unit_test(double_pendulum_keeps_its_energy),
      cmocka_unit_test(motion_without_damping_is_reversible),
      cmocka_unit_test(floating_tree_keeps_its_momentum),
      cmocka_unit_test(damping_is_second_order_and_never_rings),
      cmocka_unit_test(free_link_is_a_free_body),
      cmocka_unit_test(contact_rows_of_links),
      cmocka_unit_test(wrenches_act_through_the_jacobian),
      cmocka_unit_test(limits_and_friction_become_rows),
      cmocka_unit_test(rows_see_forces_linearly),
      cmocka_unit_test(impacts_split_the_step),
      cmocka_unit_test(second_step_takes_no_memory),
      cmocka_unit_test(welded_tree_has_no_motion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
