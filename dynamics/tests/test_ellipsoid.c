// The ellipsoid joint against closed forms that share nothing with Pinocchio or the trees.
//
// In the frame at the ellipsoid's centre, with E = diag(radii) and R = Rx(q₀) Ry(q₁) Rz(q₂), the link stands at E n
// with the orientation R, n = R z = (sin q₁, −sin q₀ cos q₁, cos q₀ cos q₁). On a sphere n is the normal; on an
// ellipsoid the normal is E⁻¹ n, and the link leans against it.
#include "trees.h"

static const double DOWN[3] = {0, 0, -9.81}, RADII[3] = {0.3, 0.2, 0.5};

// R(q) from the products of its three turns, and n.
static void closed_turn(const double q[3], double R[9]) {
  const double a = q[0], b = q[1], c = q[2];
  const double X[9] = {1, 0, 0, 0, cos(a), -sin(a), 0, sin(a), cos(a)};
  const double Y[9] = {cos(b), 0, sin(b), 0, 1, 0, -sin(b), 0, cos(b)};
  const double Z[9] = {cos(c), -sin(c), 0, sin(c), cos(c), 0, 0, 0, 1};
  double XY[9];
  tribo_mul33(XY, X, Y);
  tribo_mul33(R, XY, Z);
}

static TriboPose closed_pose(const TriboLinkDef* link, const double q[3]) {
  TriboPose pose;
  double R[9], local[3];
  closed_turn(q, R);
  // the placement is the zero configuration, radii[2] above the centre
  for (int i = 0; i < 3; ++i) {
    local[i] = link->radii[i] * R[3 * i + 2] - (i == 2 ? link->radii[2] : 0);
  }
  tribo_mul33(pose.R, link->placement.R, R);
  tribo_mul33v(pose.p, link->placement.R, local);
  tribo_add3(pose.p, pose.p, link->placement.p);
  return pose;
}

static TriboLinkDef ball(const char* name, const double radii[3]) {
  TriboLinkDef link = tribo_dyn_link_def();
  link.name = name;
  link.kind = TRIBO_JOINT_ELLIPSOID;
  tribo_copy3(link.radii, radii);
  return link;
}

static TriboLinkDef random_ball(KitRandom* random) {
  const double radii[3] = {kit_uniform(random, 0.1, 1), kit_uniform(random, 0.1, 1), kit_uniform(random, 0.1, 1)};
  TriboLinkDef link = ball("ball", radii);
  random_pose(random, &link.placement);
  random_mass(random, &link);
  return link;
}

static World world_of_links(const TriboLinkDef* links, int nlink, TriboTree** tree) {
  CHECK_OK(tribo_dyn_tree_build(links, nlink, tree));
  return world_of(NULL, 0, tree, 1);
}

static void end(World* w, TriboTree* tree) {
  world_end(w);
  tribo_dyn_tree_destroy(tree);
}

static void link_runs_on_the_ellipsoid(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    KitRandom random = {seed};
    const TriboLinkDef link = random_ball(&random);
    TriboTree* tree;
    World w = world_of_links(&link, 1, &tree);
    TriboPose pose;
    TriboTwist twist;
    assert_int_equal(w.info->nq, 3);
    assert_int_equal(w.info->nv, 3);
    // the zero configuration is the placement
    CHECK_OK(tribo_dyn_kinematics(w.system, w.data, w.q, w.v, &pose, &twist));
    for (int i = 0; i < 9; ++i) {
      CHECK_NEAR(pose.R[i], link.placement.R[i], 1e-15);
      CHECK_NEAR(pose.p[i % 3], link.placement.p[i % 3], 1e-15);
    }
    world_randomize(&w, &random, 1);
    CHECK_OK(tribo_dyn_kinematics(w.system, w.data, w.q, w.v, &pose, &twist));
    const TriboPose expected = closed_pose(&link, w.q);
    for (int i = 0; i < 9; ++i) {
      CHECK_NEAR(pose.R[i], expected.R[i], 1e-14);
      CHECK_NEAR(pose.p[i % 3], expected.p[i % 3], 1e-14);
    }
    // it lies on the ellipsoid, moves along the surface, and its z axis is the normal of the sphere E⁻¹p
    double away[3], local[3], z[3], normal[3], moving[3], on = 0;
    tribo_sub3(away, pose.p, link.placement.p);
    tribo_mul33tv(local, link.placement.R, away);
    local[2] += link.radii[2];
    tribo_mul33tv(moving, link.placement.R, twist.v);
    tribo_set3(away, pose.R[2], pose.R[5], pose.R[8]);
    tribo_mul33tv(z, link.placement.R, away);
    for (int i = 0; i < 3; ++i) {
      on += local[i] * local[i] / (link.radii[i] * link.radii[i]);
      normal[i] = local[i] / (link.radii[i] * link.radii[i]);
      CHECK_NEAR(z[i], local[i] / link.radii[i], 1e-13);
    }
    CHECK_NEAR(on, 1, 1e-13);
    CHECK_NEAR(tribo_dot3(normal, moving), 0, 1e-13 * tribo_norm3(normal) * tribo_norm3(moving));
    end(&w, tree);
  }
}

static void twist_is_the_rate_of_the_closed_pose(void** state) {
  (void)state;
  const double dt = 1e-6;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    KitRandom random = {seed};
    const TriboLinkDef link = random_ball(&random);
    TriboTree* tree;
    World w = world_of_links(&link, 1, &tree);
    TriboPose pose, side[2];
    TriboTwist twist;
    double rate[9], W[9];
    world_randomize(&w, &random, 1);
    CHECK_OK(tribo_dyn_kinematics(w.system, w.data, w.q, w.v, &pose, &twist));
    for (int s = 0; s < 2; ++s) {
      // q̇ = v
      double q[3];
      tribo_axpy3(q, w.q, s ? dt : -dt, w.v);
      side[s] = closed_pose(&link, q);
    }
    for (int k = 0; k < 9; ++k) {
      rate[k] = (side[1].R[k] - side[0].R[k]) / (2 * dt);
      CHECK_NEAR((side[1].p[k % 3] - side[0].p[k % 3]) / (2 * dt), twist.v[k % 3], 1e-8);
    }
    tribo_mul33t(W, rate, pose.R);
    const double turning[3] = {W[7], W[2], W[3]};
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(turning[k], twist.w[k], 1e-8);
    }
    end(&w, tree);
  }
}

// ---- Lagrange's equations

// M(q) = Σ over the body of what its mass and inertia make of the three velocities: ω_k = x, e, n in the frame at the
// centre, and the centre of mass moves with p_k + ω_k × R com.
static void closed_mass(const TriboLinkDef* link, const double q[3], double M[9]) {
  const double s0 = sin(q[0]), c0 = cos(q[0]), s1 = sin(q[1]), c1 = cos(q[1]), *r = link->radii;
  const double turns[3][3] = {{1, 0, 0}, {0, c0, s0}, {s1, -s0 * c1, c0 * c1}};
  const double tangents[3][3] = {
      {0, -r[1] * c0 * c1, -r[2] * s0 * c1}, {r[0] * c1, r[1] * s0 * s1, -r[2] * c0 * s1}, {0, 0, 0}};
  double R[9], arm[3], moves[3][3], local[3][3];
  closed_turn(q, R);
  tribo_mul33v(arm, R, link->com);
  for (int k = 0; k < 3; ++k) {
    tribo_cross3(moves[k], turns[k], arm);
    tribo_add3(moves[k], moves[k], tangents[k]);
    tribo_mul33tv(local[k], R, turns[k]);
  }
  for (int i = 0; i < 9; ++i) {
    double spin[3];
    tribo_mul33v(spin, link->inertia, local[i % 3]);
    M[i] = link->mass * tribo_dot3(moves[i / 3], moves[i % 3]) + tribo_dot3(local[i / 3], spin);
  }
}

static double closed_potential(const TriboLinkDef* link, const double gravity[3], const double q[3]) {
  const TriboPose pose = closed_pose(link, q);
  double centre[3];
  tribo_mul33v(centre, pose.R, link->com);
  tribo_add3(centre, centre, pose.p);
  return -link->mass * tribo_dot3(gravity, centre);
}

// b_i = Σ (∂M_ik/∂q_j − ½ ∂M_jk/∂q_i) v_j v_k + ∂U/∂q_i, with derivatives of sixth order.
static void closed_bias(const TriboLinkDef* link, const double gravity[3], const double q[3], const double v[3],
                        double b[3]) {
  static const double WEIGHT[3] = {0.75, -0.15, 1.0 / 60};
  const double dq = 3e-3;
  double dM[3][9] = {{0}}, dU[3] = {0};
  for (int j = 0; j < 3; ++j) {
    for (int far = 1; far <= 3; ++far) {
      for (int sign = -1; sign <= 1; sign += 2) {
        double at[3] = {q[0], q[1], q[2]}, M[9];
        const double weight = sign * WEIGHT[far - 1] / dq;
        at[j] += sign * far * dq;
        closed_mass(link, at, M);
        dU[j] += weight * closed_potential(link, gravity, at);
        for (int i = 0; i < 9; ++i) {
          dM[j][i] += weight * M[i];
        }
      }
    }
  }
  for (int i = 0; i < 3; ++i) {
    b[i] = dU[i];
    for (int jk = 0; jk < 9; ++jk) {
      const int j = jk / 3, k = jk % 3;
      b[i] += (dM[j][3 * i + k] - 0.5 * dM[i][3 * j + k]) * v[j] * v[k];
    }
  }
}

// Ours, and Pinocchio's as a third: M, b, and the acceleration that nothing but gravity makes.
static void equations_of_motion_are_lagranges(void** state) {
  (void)state;
  const double gravity[3] = {1, -2, -9.81};
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    KitRandom random = {seed};
    const TriboLinkDef link = random_ball(&random);
    TriboTree* tree;
    World w = world_of_links(&link, 1, &tree);
    TriboPinData* pin;
    double M[9], b[3], mass[9], bias[3], their_mass[9], their_bias[3], a[3], none[3] = {0};
    world_randomize(&w, &random, 2);
    CHECK_OK(tribo_pin_data_create(tree, &pin));
    CHECK_OK(tribo_dyn_terms(w.system, w.data, gravity, w.q, w.v, mass, bias, NULL));
    CHECK_OK(tribo_pin_mass(pin, w.q, their_mass));
    CHECK_OK(tribo_pin_bias(pin, gravity, w.q, w.v, their_bias));
    CHECK_OK(tribo_pin_aba(pin, gravity, w.q, w.v, none, a));
    closed_mass(&link, w.q, M);
    closed_bias(&link, gravity, w.q, w.v, b);
    const double heavy = M[0] + M[4] + M[8], size = 1 + tribo_norm3(b) + heavy * tribo_norm3(a);
    for (int i = 0; i < 9; ++i) {
      CHECK_NEAR(mass[i], M[i], 1e-14 * heavy);
      CHECK_NEAR(their_mass[i], M[i], 1e-14 * heavy);
    }
    for (int i = 0; i < 3; ++i) {
      CHECK_NEAR(bias[i], b[i], 1e-10 * size);
      CHECK_NEAR(bias[i], their_bias[i], 1e-13 * size);
      CHECK_NEAR(tribo_dot3(M + 3 * i, a) + b[i], 0, 1e-10 * size);
    }
    // the energy by its parts
    TriboEnergy energy;
    double Mv[3];
    CHECK_OK(tribo_dyn_energy(w.system, w.data, gravity, w.q, w.v, &energy));
    tribo_mul33v(Mv, M, w.v);
    CHECK_NEAR(energy.kinetic, 0.5 * tribo_dot3(w.v, Mv), 1e-14 * (1 + energy.kinetic));
    CHECK_NEAR(energy.potential, closed_potential(&link, gravity, w.q), 1e-13);
    tribo_pin_data_destroy(pin);
    end(&w, tree);
  }
}

// ---- motion

// A bead of mass m and moment I that hangs at the bottom of an ellipsoid: its z axis points down.
static TriboLinkDef bead(const double radii[3]) {
  TriboLinkDef link = ball("bead", radii);
  link.placement = (TriboPose){.R = {1, 0, 0, 0, -1, 0, 0, 0, -1}};
  link.mass = 2;
  link.inertia[0] = link.inertia[4] = link.inertia[8] = 0.01;
  return link;
}

// In one of the planes of the ellipsoid the bead swings as a pendulum of changing length does,
//     T = ½ (m (r² cos² q + c² sin² q) + I) v²,   U = −m g c cos q,
// with r = b about x and r = a about y. With sin(q/2) = k sin φ, k = sin(A/2), its period from amplitude A is
//     4 ∫₀^{π/2} √((m (r² cos² q + c² sin² q) + I) / (m g c)) / √(1 − k² sin² φ) dφ.
static double swing_period(double r, double c, double amplitude) {
  const TriboLinkDef link = bead(RADII);
  const double k = sin(amplitude / 2);
  double sum = 0;
  // the integrand is periodic and smooth: equal weights are exact to rounding
  enum { COUNT = 400 };
  for (int i = 0; i < COUNT; ++i) {
    const double phi = 2 * M_PI * (i + 0.5) / COUNT, s = k * sin(phi), q = 2 * asin(s);
    const double inertia = link.mass * (r * r * cos(q) * cos(q) + c * c * sin(q) * sin(q)) + link.inertia[0];
    sum += sqrt(inertia / (link.mass * 9.81 * c * (1 - s * s)));
  }
  return 2 * M_PI * sum / COUNT;
}

// Speed that is left after one exact period; the range of the energy; the largest speed.
static double swing_error(int axis, int steps, double amplitude, double* range, double* fastest) {
  const TriboLinkDef link = bead(RADII);
  TriboTree* tree;
  World w = world_of_links(&link, 1, &tree);
  const double period = swing_period(RADII[1 - axis], RADII[2], amplitude);
  const TriboStepOptions o = step_options(period / steps, TRIBO_SCHEME_VARIATIONAL, -9.81);
  double low = INFINITY, high = -INFINITY;
  w.q[axis] = amplitude;
  *fastest = 0;
  for (int i = 0; i < steps; ++i) {
    world_step(&w, &o, NULL, NULL);
    const double e = world_energy(&w, DOWN);
    low = fmin(low, e);
    high = fmax(high, e);
    *fastest = fmax(*fastest, fabs(w.v[axis]));
    CHECK_NEAR(w.q[1 - axis], 0, 1e-12);
    CHECK_NEAR(w.q[2], 0, 1e-12);
  }
  *range = high - low;
  const double error = fabs(w.v[axis]);
  end(&w, tree);
  return error;
}

static void bead_keeps_its_period_to_second_order(void** state) {
  (void)state;
  const TriboLinkDef link = bead(RADII);
  for (int axis = 0; axis < 2; ++axis) {
    const double amplitude = 1.1, r = RADII[1 - axis];
    double range[2], fastest;
    const double coarse = swing_error(axis, 1000, amplitude, range, &fastest);
    const double fine = swing_error(axis, 2000, amplitude, range + 1, &fastest);
    CHECK_LE(fine, 1e-3);
    CHECK_NEAR(coarse / fine, 4, 0.2);
    CHECK_NEAR(range[0] / range[1], 4, 0.2);
    // the bottom is where all of the height has become speed
    const double drop = 2 * link.mass * 9.81 * RADII[2] * (1 - cos(amplitude));
    CHECK_NEAR(fastest, sqrt(drop / (link.mass * r * r + link.inertia[0])), 3e-5 * fastest);
  }
}

// All three coordinates at once: the energy comes back to second order and does not drift.
static void tumbling_energy(double h, double seconds, double* first, double* second) {
  TriboLinkDef link = bead(RADII);
  link.com[0] = 0.05, link.com[2] = 0.1;
  link.inertia[0] = 0.02, link.inertia[4] = 0.03;
  TriboTree* tree;
  World w = world_of_links(&link, 1, &tree);
  const TriboStepOptions o = step_options(h, TRIBO_SCHEME_VARIATIONAL, -9.81);
  tribo_set3(w.q, 0.7, -0.4, 0.3);
  tribo_set3(w.v, 0.5, 1, 2);
  const double start = world_energy(&w, DOWN);
  const int steps = (int)lround(seconds / h);
  *first = *second = 0;
  for (int i = 0; i < steps; ++i) {
    world_step(&w, &o, NULL, NULL);
    double* half = i < steps / 2 ? first : second;
    *half = fmax(*half, fabs(world_energy(&w, DOWN) - start));
    CHECK_LE(fabs(w.q[1]), 1.2);
  }
  end(&w, tree);
}

static void tumbling_keeps_its_energy(void** state) {
  (void)state;
  double coarse, first, second, unused;
  tumbling_energy(1e-3, 10, &first, &second);
  CHECK_LE(first, 1e-2);
  CHECK_LE(second, 1.5 * first);
  tumbling_energy(1e-3, 1, &coarse, &unused);
  tumbling_energy(5e-4, 1, &first, &unused);
  CHECK_NEAR(coarse / first, 4, 0.3);
}

// On a sphere the joint is three hinges about x, y and z at its centre: the same coordinates, the same motion.
static void sphere_is_three_hinges(void** state) {
  (void)state;
  KitRandom random = {9};
  const double radii[3] = {0.4, 0.4, 0.4};
  TriboLinkDef links[2][3], *hinges = links[1];
  links[0][0] = ball("ball", radii);
  random_pose(&random, &links[0][0].placement);
  random_mass(&random, &links[0][0]);
  static const char* const NAMES[3] = {"x", "y", "z"};
  for (int i = 0; i < 3; ++i) {
    hinges[i] = tribo_dyn_link_def();
    hinges[i].name = NAMES[i];
    hinges[i].kind = TRIBO_JOINT_REVOLUTE;
    hinges[i].parent = i - 1;
    tribo_set3(hinges[i].axis, i == 0, i == 1, i == 2);
  }
  hinges[0].placement = links[0][0].placement;
  for (int i = 0; i < 3; ++i) {
    hinges[0].placement.p[i] -= radii[2] * hinges[0].placement.R[3 * i + 2];
  }
  hinges[2].mass = links[0][0].mass;
  tribo_copy3(hinges[2].com, links[0][0].com);
  hinges[2].com[2] += radii[2];
  memcpy(hinges[2].inertia, links[0][0].inertia, sizeof hinges[2].inertia);

  TriboTree* trees[2];
  World w[2] = {world_of_links(links[0], 1, trees), world_of_links(hinges, 3, trees + 1)};
  const TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, -9.81);
  for (int side = 0; side < 2; ++side) {
    tribo_set3(w[side].q, 0.3, -0.2, 0.4);
    tribo_set3(w[side].v, 1, 0.5, -2);
    for (int i = 0; i < 300; ++i) {
      world_step(&w[side], &o, NULL, NULL);
    }
  }
  CHECK_LE(0.1, fabs(w[0].q[0] - 0.3));
  for (int k = 0; k < 3; ++k) {
    CHECK_NEAR(w[0].q[k], w[1].q[k], 1e-11);
    CHECK_NEAR(w[0].v[k], w[1].v[k], 1e-10);
  }
  end(&w[0], trees[0]);
  end(&w[1], trees[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(link_runs_on_the_ellipsoid),        cmocka_unit_test(twist_is_the_rate_of_the_closed_pose),
      cmocka_unit_test(equations_of_motion_are_lagranges), cmocka_unit_test(bead_keeps_its_period_to_second_order),
      cmocka_unit_test(tumbling_keeps_its_energy),         cmocka_unit_test(sphere_is_three_hinges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
