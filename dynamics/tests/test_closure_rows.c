// Closures: Jacobians against finite differences, what each kind lets go, momentum, what is foreseen, and what is
// refused.
#include "trees.h"

enum { KINDS = TRIBO_CLOSURE_COUNT };

// Two free bodies and the tree of every kind, tied at random by a closure of one kind.
static World tied_world(TriboTree* tree, KitRandom* random, int kind) {
  TriboClosure closures[KINDS];
  TriboFreeBodyDef bodies[2];
  for (int i = 0; i < 2; ++i) {
    bodies[i] = (TriboFreeBodyDef){
        .mass = 1 + i, .com = {0.1, -0.2 * i, 0.05}, .inertia = {0.4 + i, 0.02, 0, 0.02, 0.5 + i, 0, 0, 0, 0.7 + i}};
  }
  World w = world_of(bodies, 2, &tree, 1);
  tribo_dyn_data_destroy(w.data);
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree);
  int single[2] = {-1, -1};
  for (int i = 0; i < info->nlink; ++i) {
    if (info->links[i].nq == 1) {
      single[single[0] < 0 ? 0 : 1] = i;
    }
  }
  const int pairs[][2] = {{0, 1}, {-1, 0}, {1, 2}, {0, 7}, {5, 9}, {4, -1}, {2, 12}, {1, -1}, {2, -1}, {0, 3}};
  for (int k = 0; k < KINDS; ++k) {
    closures[k] = (TriboClosure){.kind = (TriboClosureKind)k, .length = 0.7, .ratio = -1.7, .offset = 0.2};
    closures[k].body_a = k < TRIBO_CLOSURE_GEAR ? pairs[k][0] : -1;
    closures[k].body_b = k < TRIBO_CLOSURE_GEAR ? pairs[k][1] : -1;
    closures[k].nq_a = closures[k].nq_b = 1;
    closures[k].q_a = 14 + info->links[single[0]].q_at;
    closures[k].v_a = 12 + info->links[single[0]].v_at;
    closures[k].q_b = 14 + info->links[single[1]].q_at;
    closures[k].v_b = 12 + info->links[single[1]].v_at;
    random_pose(random, &closures[k].frame_a);
    random_pose(random, &closures[k].frame_b);
  }
  CHECK_OK(tribo_dyn_system_close(w.system, closures + kind, 1));
  CHECK_OK(tribo_dyn_data_create(w.system, &w.data));
  return w;
}

static void jacobians_are_derivatives(void** state) {
  (void)state;
  KitRandom random = {11};
  TriboTree* tree = tree_of_every_kind(5);
  const TriboStepOptions o = step_options(0.01, TRIBO_SCHEME_EULER, 0);
  for (int trial = 0; trial < 5 * KINDS; ++trial) {
    const int kind = trial % KINDS;
    World w = tied_world(tree, &random, kind);
    world_randomize(&w, &random, 1);
    world_assemble(&w, &o, NULL, NULL, NULL, NULL, 0);
    assert_int_equal(w.problem.ncone, 1);
    double dv[MAX_V], q[MAX_Q], ahead[6], behind[6], Jv[6];
    const double eps = 1e-6;
    for (int sign = -1; sign <= 1; sign += 2) {
      for (int k = 0; k < w.info->nv; ++k) {
        dv[k] = sign * eps * w.v[k];
      }
      CHECK_OK(tribo_dyn_integrate(w.system, w.data, w.q, dv, q));
      CHECK_OK(tribo_dyn_closure_error(w.system, w.data, q, sign > 0 ? ahead : behind));
    }
    problem_apply(&w, w.v, Jv);
    const TriboCone* cone = w.problem.cones;
    assert_int_equal(cone->kind, TRIBO_CONE_FREE);
    assert_int_equal(cone->dim, tribo_dyn_closure_dim((TriboClosureKind)kind));
    assert_int_equal(w.rows[0].kind, TRIBO_ROW_CLOSURE);
    for (int r = 0; r < cone->dim; ++r) {
      CHECK_NEAR(Jv[r], (ahead[r] - behind[r]) / (2 * eps), 1e-6);
    }
    world_end(&w);
  }
  tribo_dyn_tree_destroy(tree);
}

// Two bodies with their frames in one place: motions of b that a kind allows keep it shut, the others open it.
static void each_kind_lets_its_motions_go(void** state) {
  (void)state;
  // along x, y, z of the closure frame, then about them: x and y by small angles only where both turn
  static const int FREE_MOTION[TRIBO_CLOSURE_DISTANCE][6] = {
      [TRIBO_CLOSURE_WELD] = {0, 0, 0, 0, 0, 0},        [TRIBO_CLOSURE_BALL] = {0, 0, 0, 1, 1, 1},
      [TRIBO_CLOSURE_HINGE] = {0, 0, 0, 0, 0, 1},       [TRIBO_CLOSURE_SLIDER] = {0, 0, 1, 0, 0, 0},
      [TRIBO_CLOSURE_CYLINDRICAL] = {0, 0, 1, 0, 0, 1}, [TRIBO_CLOSURE_PLANAR] = {1, 1, 0, 0, 0, 1},
      [TRIBO_CLOSURE_UNIVERSAL] = {0, 0, 0, 1, 0, 1},   [TRIBO_CLOSURE_CARTESIAN] = {1, 1, 1, 0, 0, 0},
      [TRIBO_CLOSURE_GIMBAL] = {0, 0, 0, 1, 1, 1},
  };
  KitRandom random = {3};
  const TriboFreeBodyDef bodies[2] = {{.mass = 1, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                      {.mass = 1, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
  for (int kind = 0; kind < TRIBO_CLOSURE_DISTANCE; ++kind) {
    World w = world_of(bodies, 2, NULL, 0);
    tribo_dyn_data_destroy(w.data);
    TriboClosure c = {.kind = (TriboClosureKind)kind, .body_a = 0, .body_b = 1};
    random_pose(&random, &c.frame_a);
    c.frame_b = c.frame_a;
    CHECK_OK(tribo_dyn_system_close(w.system, &c, 1));
    CHECK_OK(tribo_dyn_data_create(w.system, &w.data));
    for (int m = 0; m < 6; ++m) {
      const double axis[3] = {c.frame_a.R[m % 3], c.frame_a.R[3 + m % 3], c.frame_a.R[6 + m % 3]};
      double dv[12] = {0}, q[14], error[6], worst = 0;
      if (m < 3) {
        tribo_scale3(dv + 6, 0.4, axis);
      } else {
        // about the anchor: the body turns, and its origin swings round
        double turn[4], R[9], swung[3], a[3];
        tribo_scale3(dv + 9, 0.4, axis);
        tribo_scale3(a, 0.4, axis);
        tribo_quat_exp(turn, a);
        tribo_quat_to_mat(R, turn);
        tribo_mul33v(swung, R, c.frame_a.p);
        tribo_sub3(dv + 6, c.frame_a.p, swung);
      }
      CHECK_OK(tribo_dyn_integrate(w.system, w.data, w.q, dv, q));
      CHECK_OK(tribo_dyn_closure_error(w.system, w.data, q, error));
      for (int r = 0; r < 6; ++r) {
        worst = fmax(worst, fabs(error[r]));
      }
      if (FREE_MOTION[kind][m]) {
        CHECK_LE(worst, 1e-14);
      } else {
        CHECK_LE(0.1, worst);
      }
    }
    world_end(&w);
  }
}

static void closures_make_no_momentum(void** state) {
  (void)state;
  KitRandom random = {21};
  const TriboFreeBodyDef bodies[2] = {{.mass = 1, .com = {0.1, 0, 0}, .inertia = {1, 0.1, 0, 0.1, 2, 0, 0, 0, 1.5}},
                                      {.mass = 3, .com = {0, 0.2, 0}, .inertia = {0.3, 0, 0, 0, 0.5, 0, 0, 0, 0.4}}};
  for (int kind = 0; kind <= TRIBO_CLOSURE_DISTANCE; ++kind) {
    World w = world_of(bodies, 2, NULL, 0);
    tribo_dyn_data_destroy(w.data);
    TriboClosure c = {.kind = (TriboClosureKind)kind, .body_a = 0, .body_b = 1, .length = 0.5};
    random_pose(&random, &c.frame_a);
    random_pose(&random, &c.frame_b);
    CHECK_OK(tribo_dyn_system_close(w.system, &c, 1));
    CHECK_OK(tribo_dyn_data_create(w.system, &w.data));
    world_randomize(&w, &random, 2);
    // any impulse at the start of a smooth step, though the closure is open
    const TriboStepOptions o = step_options(0.01, TRIBO_SCHEME_VARIATIONAL, 0);
    world_assemble(&w, &o, NULL, NULL, NULL, NULL, 0);
    double lambda[6];
    for (int r = 0; r < 6; ++r) {
      lambda[r] = kit_normal(&random);
    }
    world_advance(&w, &o, lambda);
    TriboEnergy before, after;
    CHECK_OK(tribo_dyn_energy(w.system, w.data, o.gravity, w.q, w.v, &before));
    CHECK_OK(tribo_dyn_energy(w.system, w.data, o.gravity, w.q_next, w.v_next, &after));
    for (int i = 0; i < 3; ++i) {
      CHECK_NEAR(after.momentum[i], before.momentum[i], 1e-13);
      CHECK_NEAR(after.angular[i], before.angular[i], 1e-13);
    }
    world_end(&w);
  }
}

// A tied tree that set out with foreseen impulses and meets something: it starts as if it had foreseen nothing.
static void what_was_foreseen_is_taken_back(void** state) {
  (void)state;
  KitRandom random = {31};
  TriboTree* tree = tree_of_every_kind(7);
  World w = world_of(NULL, 0, &tree, 1);
  tribo_dyn_data_destroy(w.data);
  TriboClosure c = {.kind = TRIBO_CLOSURE_BALL, .body_a = 3, .body_b = 9};
  random_pose(&random, &c.frame_a);
  random_pose(&random, &c.frame_b);
  CHECK_OK(tribo_dyn_system_close(w.system, &c, 1));
  CHECK_OK(tribo_dyn_data_create(w.system, &w.data));
  world_randomize(&w, &random, 2);
  const TriboLoopMemory memory = {.h = 0.01, .known = 1, .lambda = {{0.5, -0.3, 0.4}}};
  const TriboContact contact = {
      .body_a = TRIBO_WORLD_BODY, .body_b = 5, .point = {0.1, 0.2, 0.3}, .normal = {0, 0, 1}, .gap = 0};
  const TriboContactLaw law = {.dim = 1};
  double last[2][MAX_V];
  for (int foresees = 0; foresees < 2; ++foresees) {
    TriboStepOptions o = step_options(0.01, TRIBO_SCHEME_VARIATIONAL, -9.81);
    o.direct = 1;
    o.loops = foresees ? &memory : NULL;
    CHECK_OK(tribo_dyn_update(w.system, w.data, &o, w.q, w.v, NULL, NULL));
    const double* v_free = tribo_dyn_free_velocity(w.data);
    CHECK_OK(tribo_dyn_assemble(w.system, w.data, &o, w.q, w.v, &contact, &law, 1, &w.problem, &w.rows));
    memcpy(last[foresees], v_free, (size_t)w.info->nv * sizeof *v_free);
  }
  assert_memory_equal(last[0], last[1], (size_t)w.info->nv * sizeof last[0][0]);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

static void wrong_closures_are_refused(void** state) {
  (void)state;
  const TriboFreeBodyDef body = {.mass = 1, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  World w = world_of(&body, 1, NULL, 0);
  TriboClosure c = {.kind = TRIBO_CLOSURE_BALL, .body_a = -1, .body_b = 3};
  CHECK_FAILS(tribo_dyn_system_close(w.system, &c, 1), TRIBO_INVALID, "bodies -1 and 3, must be");
  c.body_b = -1;
  CHECK_FAILS(tribo_dyn_system_close(w.system, &c, 1), TRIBO_INVALID, "never move against each other");
  c.body_b = 0;
  c.kind = TRIBO_CLOSURE_DISTANCE;
  CHECK_FAILS(tribo_dyn_system_close(w.system, &c, 1), TRIBO_INVALID, "length 0");
  c.length = NAN;
  CHECK_FAILS(tribo_dyn_system_close(w.system, &c, 1), TRIBO_INVALID, "must be finite and > 0");
  c.kind = TRIBO_CLOSURE_GEAR;
  CHECK_FAILS(tribo_dyn_system_close(w.system, &c, 1), TRIBO_INVALID, "two different joints of trees");
  c.kind = (TriboClosureKind)99;
  CHECK_FAILS(tribo_dyn_system_close(w.system, &c, 1), TRIBO_INVALID, "kind 99");
  c.kind = TRIBO_CLOSURE_BALL;
  c.frame_a.R[4] = INFINITY;
  CHECK_FAILS(tribo_dyn_system_close(w.system, &c, 1), TRIBO_INVALID, "not finite");
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jacobians_are_derivatives),  cmocka_unit_test(each_kind_lets_its_motions_go),
      cmocka_unit_test(closures_make_no_momentum),  cmocka_unit_test(what_was_foreseen_is_taken_back),
      cmocka_unit_test(wrong_closures_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
