// Free bodies against closed forms, and the looks at a state against finite differences.
#include "dynamics.h"
#include "kit.h"
#include "math3.h"
#include "memory.h"

static const double NO_GRAVITY[3] = {0, 0, 0};

static TriboStepOptions options_with(double h, TriboScheme scheme) {
  return (TriboStepOptions){.h = h, .scheme = scheme, .erp = 0.2, .slop = 1e-6, .depen_max = 1, .bounce_min = 0.01};
}

static TriboFreeBodyDef body_with(double mass, double Ix, double Iy, double Iz) {
  return (TriboFreeBodyDef){.mass = mass, .inertia = {Ix, 0, 0, 0, Iy, 0, 0, 0, Iz}};
}

typedef struct World {
  TriboSystem* system;
  TriboDynData* data;
} World;

static World world_of(const TriboFreeBodyDef* bodies, int nbody) {
  World w = {0};
  CHECK_OK(tribo_dyn_system_create(&(TriboSystemDef){.bodies = bodies, .nbody = nbody}, &w.system));
  CHECK_OK(tribo_dyn_data_create(w.system, &w.data));
  return w;
}

static void world_end(World w) {
  tribo_dyn_data_destroy(w.data);
  tribo_dyn_system_destroy(w.system);
}

// One step without contacts, in place.
static void step(World w, const TriboStepOptions* o, double* q, double* v, const double* tau, const double* wrench) {
  double q_next[70], v_next[60];
  TriboProblem problem;
  const TriboRowInfo* rows;
  const TriboSystemInfo* info = tribo_dyn_system_info(w.system);
  CHECK_OK(tribo_dyn_update(w.system, w.data, o, q, v, tau, wrench));
  CHECK_OK(tribo_dyn_assemble(w.system, w.data, o, q, v, NULL, NULL, 0, &problem, &rows));
  assert_int_equal(problem.nrow, 0);
  CHECK_OK(tribo_dyn_advance(w.system, w.data, o, q, v, NULL, q_next, v_next));
  memcpy(q, q_next, (size_t)info->nq * sizeof *q);
  memcpy(v, v_next, (size_t)info->nv * sizeof *v);
}

static void free_fall_is_exact(void** state) {
  (void)state;
  TriboFreeBodyDef body = body_with(2, 1, 1, 1);
  World w = world_of(&body, 1);
  TriboStepOptions o = options_with(0.01, TRIBO_SCHEME_VARIATIONAL);
  o.gravity[2] = -9.81;
  double q[7] = {1, 2, 3, 0, 0, 0, 1}, v[6] = {0.5, 0, 4, 0, 0, 0}, force[6] = {0, 3, 0, 0, 0, 0};
  for (int i = 0; i < 100; ++i) {
    step(w, &o, q, v, NULL, force);
  }
  CHECK_NEAR(q[0], 1.5, 1e-13);
  CHECK_NEAR(q[1], 2 + 0.5 * 1.5, 1e-13);
  CHECK_NEAR(q[2], 3 + 4 - 0.5 * 9.81, 1e-13);
  CHECK_NEAR(v[2], 4 - 9.81, 1e-13);
  world_end(w);
}

static void asymmetric_top_keeps_energy_and_momentum(void** state) {
  (void)state;
  // full inertia, centre of mass off the body origin, 10 s of fast tumbling
  TriboFreeBodyDef body = {
      .mass = 3, .com = {0.1, -0.2, 0.3}, .inertia = {0.4, 0.03, -0.02, 0.03, 0.7, 0.05, -0.02, 0.05, 1.0}};
  World w = world_of(&body, 1);
  TriboStepOptions o = options_with(1e-3, TRIBO_SCHEME_VARIATIONAL);
  double q[7] = {0.3, 0.1, -0.2, 0, 0, 0.6, 0.8}, v[6] = {0.1, -0.2, 0.05, 0.5, 8, -0.7};
  TriboEnergy first, now;
  CHECK_OK(tribo_dyn_energy(w.system, w.data, NO_GRAVITY, q, v, &first));
  double worst_energy = 0, worst_momentum = 0;
  for (int i = 0; i < 10000; ++i) {
    step(w, &o, q, v, NULL, NULL);
    CHECK_OK(tribo_dyn_energy(w.system, w.data, NO_GRAVITY, q, v, &now));
    double off[3];
    tribo_sub3(off, now.angular, first.angular);
    worst_energy = fmax(worst_energy, fabs(now.kinetic / first.kinetic - 1));
    worst_momentum = fmax(worst_momentum, tribo_norm3(off) / tribo_norm3(first.angular));
  }
  CHECK_LE(worst_energy, 1e-12);
  CHECK_LE(worst_momentum, 1e-12);
  world_end(w);
}

// A symmetric top with spin ω₃ and tilt rate ω₁: its axis goes round the momentum L at |L|/I₁.
static double top_error(double h) {
  const double I1 = 0.5, I3 = 0.8;
  TriboFreeBodyDef body = body_with(1, I1, I1, I3);
  World w = world_of(&body, 1);
  TriboStepOptions o = options_with(h, TRIBO_SCHEME_VARIATIONAL);
  // momentum along z: the axis of the body leans by the angle between L and its third axis
  double v[6] = {0, 0, 0, 2, 0, 5}, L[3] = {I1 * 2, 0, I3 * 5};
  double size = tribo_norm3(L), tilt = atan2(L[0], L[2]);
  // turn the body about y by −tilt, so that L (body) comes to lie on z (world)
  double q[7] = {0, 0, 0, 0, -sin(0.5 * tilt), 0, cos(0.5 * tilt)};
  int steps = (int)lround(1 / h);
  for (int i = 0; i < steps; ++i) {
    step(w, &o, q, v, NULL, NULL);
  }
  double R[9], angle = size / I1 * steps * h;
  tribo_quat_to_mat(R, q + 3);
  // the axis (third column) started at azimuth π
  double error = hypot(R[2] - sin(tilt) * cos(M_PI + angle), R[5] - sin(tilt) * sin(M_PI + angle));
  world_end(w);
  return error;
}

static void symmetric_top_precesses_at_the_right_rate(void** state) {
  (void)state;
  double coarse = top_error(2e-3), fine = top_error(1e-3);
  CHECK_LE(fine, 1e-4);
  CHECK_NEAR(coarse / fine, 4, 0.1);
}

// A constant world torque on a sphere about its spin axis, and one across it, both against ω̇ = τ/I.
static void world_torque_turns_a_sphere(void** state) {
  (void)state;
  TriboFreeBodyDef body = body_with(1, 0.4, 0.4, 0.4);
  World w = world_of(&body, 1);
  TriboStepOptions o = options_with(1e-3, TRIBO_SCHEME_VARIATIONAL);
  double q[7] = {0, 0, 0, 0, 0, 0, 1}, v[6] = {0, 0, 0, 0, 0, 3}, wrench[6] = {0, 0, 0, 0.2, 0, 0.1};
  for (int i = 0; i < 1000; ++i) {
    step(w, &o, q, v, NULL, wrench);
  }
  TriboPose pose;
  TriboTwist twist;
  CHECK_OK(tribo_dyn_kinematics(w.system, w.data, q, v, &pose, &twist));
  CHECK_NEAR(twist.w[0], 0.5, 1e-6);
  CHECK_NEAR(twist.w[1], 0, 1e-6);
  CHECK_NEAR(twist.w[2], 3.25, 1e-6);
  world_end(w);
}

// Whatever the speed, the length of the momentum stays; where a step resolves the turn, the energy too.
static void wild_spins_stay_bounded(void** state) {
  (void)state;
  KitRandom random = {5};
  const double I[3] = {0.1, 0.5, 0.55};
  TriboFreeBodyDef body = body_with(1, I[0], I[1], I[2]);
  World w = world_of(&body, 1);
  TriboStepOptions o = options_with(0.01, TRIBO_SCHEME_VARIATIONAL);
  for (int i = 0; i < 2000; ++i) {
    double speed = pow(10, kit_uniform(&random, 0, 6));
    double q[7] = {0, 0, 0, 0, 0, 0, 1}, v[6] = {0}, spin[2] = {0}, energy[2] = {0};
    for (int k = 3; k < 6; ++k) {
      v[k] = speed * kit_normal(&random);
    }
    double turn = o.h * tribo_norm3(v + 3);
    for (int after = 0; after < 2; ++after) {
      for (int k = 0; k < 3; ++k) {
        spin[after] = hypot(spin[after], I[k] * v[3 + k]);
        energy[after] += I[k] * v[3 + k] * v[3 + k];
      }
      step(w, &o, q, v, NULL, NULL);
    }
    CHECK_NEAR(spin[1] / spin[0], 1, 1e-12);
    if (turn < 1) {
      CHECK_NEAR(energy[1] / energy[0], 1, 1e-13);
    }
  }
  world_end(w);
}

static void rest_keeps_every_bit(void** state) {
  (void)state;
  KitRandom random = {11};
  TriboFreeBodyDef body = body_with(1, 1, 2, 3);
  World w = world_of(&body, 1);
  for (int scheme = 0; scheme < 2; ++scheme) {
    TriboStepOptions o = options_with(1e-3, (TriboScheme)scheme);
    for (int i = 0; i < 100; ++i) {
      double q[7] = {0.1, 0.2, 0.3}, v[6] = {0}, was[7];
      kit_rotation(&random, q + 3);
      step(w, &o, q, v, NULL, NULL);
      memcpy(was, q, sizeof q);
      for (int k = 0; k < 10; ++k) {
        step(w, &o, q, v, NULL, NULL);
      }
      assert_memory_equal(q, was, sizeof q);
    }
  }
  world_end(w);
}

static void integrate_undoes_difference(void** state) {
  (void)state;
  KitRandom random = {7};
  TriboFreeBodyDef bodies[2] = {body_with(1, 1, 1, 1), body_with(2, 1, 2, 3)};
  World w = world_of(bodies, 2);
  for (int i = 0; i < 200; ++i) {
    double q0[14], q1[14], dv[12], back[14], again[12];
    for (int b = 0; b < 2; ++b) {
      for (int k = 0; k < 3; ++k) {
        q0[7 * b + k] = kit_normal(&random), q1[7 * b + k] = kit_normal(&random);
      }
      kit_rotation(&random, q0 + 7 * b + 3);
      kit_rotation(&random, q1 + 7 * b + 3);
    }
    CHECK_OK(tribo_dyn_difference(w.system, w.data, q0, q1, dv));
    CHECK_OK(tribo_dyn_integrate(w.system, w.data, q0, dv, back));
    CHECK_OK(tribo_dyn_difference(w.system, w.data, q1, back, again));
    for (int k = 0; k < 12; ++k) {
      CHECK_NEAR(again[k], 0, 1e-14);
    }
  }
  world_end(w);
}

static void twists_are_the_rates_of_poses(void** state) {
  (void)state;
  KitRandom random = {9};
  TriboFreeBodyDef body = body_with(1, 1, 2, 3);
  tribo_set3(body.com, 0.3, -0.1, 0.2);
  World w = world_of(&body, 1);
  for (int i = 0; i < 20; ++i) {
    const double dt = 1e-6;
    double q[7], v[6], dv[6], ahead[7], behind[7];
    for (int k = 0; k < 6; ++k) {
      q[k] = kit_normal(&random), v[k] = kit_normal(&random);
    }
    kit_rotation(&random, q + 3);
    TriboPose p, p1, p0;
    TriboTwist twist, ignored;
    CHECK_OK(tribo_dyn_kinematics(w.system, w.data, q, v, &p, &twist));
    for (int side = 0; side < 2; ++side) {
      for (int k = 0; k < 6; ++k) {
        dv[k] = (side == 0 ? dt : -dt) * v[k];
      }
      CHECK_OK(tribo_dyn_integrate(w.system, w.data, q, dv, side == 0 ? ahead : behind));
    }
    CHECK_OK(tribo_dyn_kinematics(w.system, w.data, ahead, v, &p1, &ignored));
    CHECK_OK(tribo_dyn_kinematics(w.system, w.data, behind, v, &p0, &ignored));
    // Ṙ Rᵀ is the skew matrix of ω
    double rate[9], W[9];
    for (int k = 0; k < 9; ++k) {
      rate[k] = (p1.R[k] - p0.R[k]) / (2 * dt);
    }
    tribo_mul33t(W, rate, p.R);
    CHECK_NEAR(W[7], twist.w[0], 1e-8);
    CHECK_NEAR(W[2], twist.w[1], 1e-8);
    CHECK_NEAR(W[3], twist.w[2], 1e-8);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR((p1.p[k] - p0.p[k]) / (2 * dt), twist.v[k], 1e-8);
    }
  }
  world_end(w);
}

// Euler's step: gravity as it is, the gyroscopic term at the end, so that no spin grows.
static void euler_is_first_order_and_stable(void** state) {
  (void)state;
  TriboFreeBodyDef body = body_with(1, 1, 2, 3);
  World w = world_of(&body, 1);
  TriboStepOptions o = options_with(0.01, TRIBO_SCHEME_EULER);
  o.gravity[2] = -10;
  double q[7] = {0, 0, 0, 0, 0, 0, 1}, v[6] = {0, 0, 1, 1, 2, 3};
  step(w, &o, q, v, NULL, NULL);
  CHECK_NEAR(v[2], 0.9, 1e-15);
  CHECK_NEAR(q[2], 0.009, 1e-15);
  // I(ω⁺ − ω) = −h ω⁺ × Iω⁺
  const double x = v[3], y = v[4], z = v[5];
  CHECK_NEAR(1 * (x - 1), -0.01 * (y * 3 * z - z * 2 * y), 1e-14);
  CHECK_NEAR(2 * (y - 2), -0.01 * (z * 1 * x - x * 3 * z), 1e-14);
  CHECK_NEAR(3 * (z - 3), -0.01 * (x * 2 * y - y * 1 * x), 1e-14);
  double last = INFINITY;
  tribo_set3(v + 3, 30, 0.1, -20);
  for (int i = 0; i < 5000; ++i) {
    step(w, &o, q, v, NULL, NULL);
    const double energy = v[3] * v[3] + 2 * v[4] * v[4] + 3 * v[5] * v[5];
    CHECK_LE(energy, last * (1 + 1e-14));
    last = energy;
  }
  world_end(w);
}

static TriboStatus create_with(TriboFreeBodyDef body) {
  TriboSystem* system = NULL;
  TriboStatus status = tribo_dyn_system_create(&(TriboSystemDef){.bodies = &body, .nbody = 1}, &system);
  tribo_dyn_system_destroy(system);
  return status;
}

static void bad_bodies_are_named(void** state) {
  (void)state;
  CHECK_FAILS(create_with(body_with(0, 1, 1, 1)), TRIBO_INVALID, "mass of body 0 is 0");
  CHECK_FAILS(create_with(body_with(-1, 1, 1, 1)), TRIBO_INVALID, "mass of body 0 is -1");
  CHECK_FAILS(create_with(body_with(NAN, 1, 1, 1)), TRIBO_INVALID, "mass of body 0 is nan");
  CHECK_FAILS(create_with(body_with(1, 1, -1, 1)), TRIBO_INVALID, "not positive definite");
  CHECK_FAILS(create_with(body_with(1, 1, INFINITY, 1)), TRIBO_INVALID, "not finite");
  TriboFreeBodyDef body = body_with(1, 1, 1, 1);
  body.inertia[1] = 0.1;
  CHECK_FAILS(create_with(body), TRIBO_INVALID, "not symmetric");
  body.inertia[1] = body.inertia[3] = 1.1;
  CHECK_FAILS(create_with(body), TRIBO_INVALID, "not positive definite");
  CHECK_FAILS(tribo_dyn_system_create(NULL, NULL), TRIBO_INVALID, "missing");
}

static void bad_states_and_options_are_named(void** state) {
  (void)state;
  TriboFreeBodyDef body = body_with(1, 1, 1, 1);
  World w = world_of(&body, 1);
  TriboStepOptions o = options_with(1e-3, TRIBO_SCHEME_VARIATIONAL);
  double q[7] = {0, 0, 0, 0, 0, 0, 1}, v[6] = {0}, q_next[7], v_next[6], huge[6] = {1e308, 0, 0, 0, 0, 0};
  TriboProblem problem;
  const TriboRowInfo* rows;
#define UPDATE(options) tribo_dyn_update(w.system, w.data, options, q, v, NULL, NULL)
  CHECK_FAILS(tribo_dyn_assemble(w.system, w.data, &o, q, v, NULL, NULL, 0, &problem, &rows), TRIBO_STATE, "first");
  CHECK_FAILS(tribo_dyn_advance(w.system, w.data, &o, q, v, NULL, q_next, v_next), TRIBO_STATE, "first");
  CHECK_FAILS(UPDATE(NULL), TRIBO_INVALID, "NULL");
  TriboStepOptions bad = o;
  bad.h = 0;
  CHECK_FAILS(UPDATE(&bad), TRIBO_INVALID, "h is 0");
  bad.h = NAN;
  CHECK_FAILS(UPDATE(&bad), TRIBO_INVALID, "h is nan");
  bad = o, bad.gravity[1] = INFINITY;
  CHECK_FAILS(UPDATE(&bad), TRIBO_INVALID, "gravity");
  bad = o, bad.erp = 1.5;
  CHECK_FAILS(UPDATE(&bad), TRIBO_INVALID, "erp is 1.5");
  bad = o, bad.slop = -1;
  CHECK_FAILS(UPDATE(&bad), TRIBO_INVALID, "slop -1");
  bad = o, bad.scheme = (TriboScheme)7;
  CHECK_FAILS(UPDATE(&bad), TRIBO_INVALID, "scheme is 7");
  q[1] = NAN;
  CHECK_FAILS(UPDATE(&o), TRIBO_NUMERIC, "q[1] is nan");
  q[1] = 0, q[6] = 0;
  CHECK_FAILS(UPDATE(&o), TRIBO_NUMERIC, "q[3…6] has length 0");
  q[6] = 1, v[4] = -INFINITY;
  CHECK_FAILS(UPDATE(&o), TRIBO_NUMERIC, "v[4] is -inf");
  v[4] = 0;
  o.h = 1e10;
  CHECK_FAILS(tribo_dyn_update(w.system, w.data, &o, q, v, NULL, huge), TRIBO_NUMERIC, "free velocity[0]");
#undef UPDATE
  world_end(w);
}

// A quaternion of another length means the same orientation.
static void quaternions_need_not_be_unit(void** state) {
  (void)state;
  TriboFreeBodyDef body = body_with(1, 1, 2, 3);
  World w = world_of(&body, 1);
  TriboStepOptions o = options_with(1e-3, TRIBO_SCHEME_VARIATIONAL);
  double q[7] = {0, 0, 0, 0, 0, 0.6, 0.8}, twice[7] = {0, 0, 0, 0, 0, 1.2, 1.6}, v[6] = {0, 0, 0, 1, 2, 3};
  double v2[6] = {0, 0, 0, 1, 2, 3};
  step(w, &o, q, v, NULL, NULL);
  step(w, &o, twice, v2, NULL, NULL);
  for (int i = 0; i < 7; ++i) {
    CHECK_NEAR(q[i], twice[i], 1e-15);
  }
  world_end(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_fall_is_exact),
      cmocka_unit_test(asymmetric_top_keeps_energy_and_momentum),
      cmocka_unit_test(symmetric_top_precesses_at_the_right_rate),
      cmocka_unit_test(world_torque_turns_a_sphere),
      cmocka_unit_test(wild_spins_stay_bounded),
      cmocka_unit_test(rest_keeps_every_bit),
      cmocka_unit_test(integrate_undoes_difference),
      cmocka_unit_test(twists_are_the_rates_of_poses),
      cmocka_unit_test(euler_is_first_order_and_stable),
      cmocka_unit_test(bad_bodies_are_named),
      cmocka_unit_test(bad_states_and_options_are_named),
      cmocka_unit_test(quaternions_need_not_be_unit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
