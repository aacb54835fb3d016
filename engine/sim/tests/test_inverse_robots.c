// Inverse dynamics of robots, there and back: a step with known torques makes a motion; from the motion come torques;
// a step with these makes the motion again. Prints the table.
//
// The motion is simulated to rounding: what is asked of the answer cannot be more than the question knows, and at a
// contact that creeps, or under a sole whose points lie in one plane to 1e-5 m, few digits of the motion decide much.
#include <float.h>

#include "proximal.h"
#include "robots.h"

static const double MOTION = 1e-14;  // residual of the steps that are recorded [m/s]
static const double SLOW = 4e-12;    // what counts as no speed [m/s, rad/s]
static const double UNDECIDED = -1;  // by the motion, at every step
static const double ROOM = 1e-3;     // dt: how far contacts turn and go in a step, per speed [s]
static const double BACK = 1e-8;     // of the motion [m/s, rad/s], of net wrenches [N, N·m], of torques [N·m]

// Flag of a case: a step with the same torques has several answers, and is led to the wanted one.
enum { SEVERAL = 4 };

typedef struct Case {
  const char* name;
  TriboScene* (*build)(int flags);
  int flags;
  TriboScheme scheme;
  double swing;         // torques on top of the motors', as the turn that they would make alone [rad, m]
  double stiffness;     // of the motors, per unit of inertia seen
  const char* passive;  // a joint that its motor alone moves
  int settle, steps;    // steps before the first comparison, and from there
  double contacts;      // at least as many on the average
  double sliding;       // of these
  int dim;              // of the torques left open, at least: joints come to their limits and leave
} Case;

typedef struct Table {
  int steps, contacts, sliding, dim_min, dim_max, feasible;
  double v, wrench, tau, digit, nat, motion;
  double rising[3];  // largest torque of the contacts after 1, 10, 100 passes of the relaxed iteration
  double resting;    // and after 100 of the paper's
} Table;

static TriboScene* four_bar(int flags) {
  (void)flags;
  return scene_with(SCENES "lab/four_bar.yaml", "damping: 1.0e9", "damping: 1");
}

static TriboScene* slider_crank(int flags) {
  (void)flags;
  return scene_with(SCENES "lab/slider_crank.yaml", "", "");
}

static double largest(const double* a, const double* b, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    most = fmax(most, fabs(a[i] - (b == NULL ? 0 : b[i])));
  }
  return most;
}

// Takes out of x what the orthonormal rows span.
static void project_out(double* x, const double* rows, int count, int n) {
  for (int r = 0; r < count; ++r) {
    double dot = 0;
    for (int i = 0; i < n; ++i) {
      dot += rows[r * n + i] * x[i];
    }
    for (int i = 0; i < n; ++i) {
      x[i] -= dot * rows[r * n + i];
    }
  }
}

// ---- net wrenches: on each free body and each tree, from the contacts

static void add_wrenches(const TriboModel* model, const TriboContactView* contacts, int count, double sign,
                         double (*wrench)[6]) {
  for (int i = 0; i < count; ++i) {
    const TriboContactView* c = contacts + i;
    for (int side = 0; side < 2; ++side) {
      const int body = side ? c->body_b : c->body_a;
      if (body == TRIBO_WORLD) {
        continue;
      }
      double* w = wrench[tribo_model_body(model, body)->block];
      const double s = side ? sign : -sign, *f = c->force, *p = c->point;
      for (int k = 0; k < 3; ++k) {
        w[k] += s * f[k];
        w[3 + k] += s * (p[(k + 1) % 3] * f[(k + 2) % 3] - p[(k + 2) % 3] * f[(k + 1) % 3]);
      }
    }
  }
}

// Whether the motion decides the wrench on a block. On free bodies it does, and on robots that float, since no torque
// moves them as a whole; on others where it decides the torques.
static int is_decided(const TriboModel* model, int block, int nspan) {
  const TriboModelSize size = tribo_model_size(model);
  int floats = 0, links = 0;
  for (int j = 0; j < size.njoint; ++j) {
    const TriboJointInfo* joint = tribo_model_joint(model, j);
    if (tribo_model_body(model, joint->body)->block == block) {
      links++;
      floats |= joint->nv == 6;
    }
  }
  return links == 0 || nspan == 0 || floats;
}

static double compare_wrenches(const TriboModel* model, TriboData* there, const TriboInverse* inverse, double motion) {
  const TriboModelSize size = tribo_model_size(model);
  double(*wrench)[6] = calloc((size_t)size.nbody + 1, sizeof *wrench), most = UNDECIDED;
  const TriboContactView* contacts;
  int count;
  CHECK_OK(tribo_data_contacts(model, there, &contacts, &count));
  double room = 0;
  for (int i = 0; i < count; ++i) {
    room += ROOM * motion * largest(contacts[i].force, NULL, 3);
  }
  add_wrenches(model, contacts, count, 1, wrench);
  add_wrenches(model, inverse->contacts, inverse->ncontact, -1, wrench);
  for (int i = 0; i < size.nbody; ++i) {
    if (is_decided(model, i, inverse->nfree_torque)) {
      most = fmax(most, largest(wrench[i], NULL, 6) - room);
    }
  }
  free(wrench);
  return most;
}

// ---- the paper's iteration at the contacts of the last step, and its convex relaxation

// The torques Jᵀλ/h of one contact after `passes`; velocity c as the motion has it.
static double iterate(const TriboProblem* p, int cone, const double c[3], int passes, int relaxed, double h) {
  const double rho = 1e-8;
  double lambda[3] = {0}, most = 0;
  for (int i = 0; i < passes; ++i) {
    proximal_step(p->cones[cone].mu[0], 0, 0, rho, relaxed, c, lambda);
  }
  for (int t = p->term_first[cone]; t < p->term_first[cone + 1]; ++t) {
    const int n = p->block_dim[p->term_block[t]];
    for (int k = 0; k < n; ++k) {
      double sum = 0;
      for (int r = 0; r < 3; ++r) {
        sum += p->jac[p->term_at[t] + (size_t)(r * n + k)] * lambda[r] / h;
      }
      most = fmax(most, fabs(sum));
    }
  }
  return most;
}

// A robot alone: its velocities are those of block 0.
static void iterate_contacts(const TriboModel* model, TriboData* there, const double* v, Table* t) {
  static const int PASSES[3] = {1, 10, 100};
  const double h = tribo_model_world(model)->dt;
  TriboProblem p;
  CHECK_OK(tribo_data_problem(model, there, &p));
  for (int i = 0; i < p.ncone && p.nblock == 1; ++i) {
    if (p.cones[i].kind != TRIBO_CONE_FRICTION) {
      continue;
    }
    double c[3] = {0};
    for (int r = 0; r < 3; ++r) {
      for (int k = 0; k < p.block_dim[0]; ++k) {
        c[r] += p.jac[p.term_at[p.term_first[i]] + (size_t)(r * p.block_dim[0] + k)] * v[k];
      }
    }
    // the v_target of the paper: along the wall (the velocity after a step has turned with the arm by then)
    if (hypot(c[0], c[1]) < 1e-3 || fabs(c[2]) > 1e-2 * hypot(c[0], c[1])) {
      continue;
    }
    c[2] = 0;
    for (int k = 0; k < 3; ++k) {
      t->rising[k] = fmax(t->rising[k], iterate(&p, i, c, PASSES[k], 1, h));
    }
    t->resting = fmax(t->resting, iterate(&p, i, c, PASSES[2], 0, h));
  }
}

// ---- there and back

// How much of the torques the last digit of the motion decides: those of a v_target that differs by a few roundings, up
// and down in turn, against `tau`, but for what is left open. A step adds up velocities of the order of 1 m/s.
static double last_digit(const TriboModel* model, TriboData* back, const double* v_target, TriboInverseOptions options,
                         const double* tau) {
  const int nv = tribo_model_size(model).nv;
  double *near = calloc(2 * (size_t)nv, sizeof *near), *left = near + nv;
  const double digit = 4 * DBL_EPSILON * fmax(1, largest(v_target, NULL, nv));
  TriboInverse inverse;
  for (int i = 0; i < nv; ++i) {
    near[i] = v_target[i] + (i % 2 ? digit : -digit);
  }
  options.set_warm_start = 0;
  CHECK_OK(tribo_inverse_dynamics(model, back, near, &options, &inverse));
  for (int i = 0; i < nv; ++i) {
    left[i] = inverse.tau[i] - tau[i];
  }
  project_out(left, inverse.free_torques, inverse.nfree_torque, nv);
  const double most = largest(left, NULL, nv);
  free(near);
  return most;
}

// The step from `before` to where `there` is, back to the torques, and there again.
static void compare(const Case* c, const TriboModel* model, TriboData* there, TriboData* back, const TriboState* before,
                    const double* tau, const unsigned char* driven, Table* t) {
  const int nv = tribo_model_size(model).nv;
  TriboInverseOptions options = tribo_inverse_default();
  TriboInverse inverse;
  TriboView v_target, again;
  double *left = calloc(2 * (size_t)nv, sizeof *left), *answer = left + nv;
  options.use_actuators = options.find_free_torques = 1;
  options.set_warm_start = c->flags & SEVERAL;
  options.tol = SLOW;
  options.driven = driven;
  CHECK_OK(tribo_data_view(model, there, TRIBO_FIELD_V, &v_target));
  iterate_contacts(model, there, v_target.values, t);
  CHECK_OK(tribo_state_restore(model, back, before));
  CHECK_OK(tribo_inverse_dynamics(model, back, v_target.values, &options, &inverse));
  t->feasible += fmax(inverse.v_error, fmax(inverse.penetration, inverse.opening)) <= 1e-9;
  t->nat = fmax(t->nat, inverse.residual.nat);
  t->dim_min = inverse.nfree_torque < t->dim_min ? inverse.nfree_torque : t->dim_min;
  t->dim_max = inverse.nfree_torque > t->dim_max ? inverse.nfree_torque : t->dim_max;
  for (int i = 0; i < nv; ++i) {
    left[i] = tau[i] - inverse.tau[i];
  }
  project_out(left, inverse.free_torques, inverse.nfree_torque, nv);
  t->tau = fmax(t->tau, largest(left, NULL, nv));
  memcpy(answer, inverse.tau, (size_t)nv * sizeof *answer);
  t->wrench = fmax(t->wrench, compare_wrenches(model, there, &inverse, largest(v_target.values, NULL, nv)));
  const TriboContactView* contacts;
  int count;
  CHECK_OK(tribo_data_contacts(model, there, &contacts, &count));
  for (int i = 0; i < count; ++i) {
    t->sliding += contacts[i].mode == TRIBO_CONTACT_SLIDE;
    t->contacts += contacts[i].mode != TRIBO_CONTACT_OPEN;
  }
  CHECK_OK(tribo_data_set_tau(model, back, answer));
  CHECK_OK(tribo_step(model, back, NULL));
  CHECK_OK(tribo_data_view(model, back, TRIBO_FIELD_V, &again));
  t->v = fmax(t->v, largest(v_target.values, again.values, nv));
  CHECK_OK(tribo_state_restore(model, back, before));
  t->digit = fmax(t->digit, last_digit(model, back, v_target.values, options, answer));
  t->motion = fmax(t->motion, largest(v_target.values, NULL, nv));
  t->steps++;
  free(left);
}

static TriboModel* model_for(const Case* c) {
  TriboScene* scene = c->build(c->flags);
  if (c->stiffness > 0) {
    add_motors(scene, c->stiffness);
  }
  TriboModel* model;
  TriboWorldDef world = *tribo_scene_world(scene);
  world.scheme = c->scheme;
  world.tol = world.accept = MOTION;
  CHECK_OK(tribo_scene_set_world(scene, &world));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  return model;
}

// Which velocities have torques (nv), to be freed.
static unsigned char* driven_of(const TriboModel* model, const char* passive) {
  const TriboModelSize size = tribo_model_size(model);
  unsigned char* driven = calloc((size_t)size.nv + 1, 1);
  for (int j = 0; j < size.njoint; ++j) {
    const TriboJointInfo* joint = tribo_model_joint(model, j);
    const int moves = joint->nv < 6 && (passive == NULL || strstr(passive, joint->name) == NULL);
    memset(driven + joint->v_at, moves, (size_t)joint->nv);
  }
  return driven;
}

// Simulates a robot under swinging efforts and compares them with those that inverse dynamics finds.
static Table there_and_back(const Case* c) {
  TriboModel* model = model_for(c);
  TriboData *there = data_of(model), *back = data_of(model);
  const TriboModelSize size = tribo_model_size(model);
  double *tau = calloc((size_t)size.nv, sizeof *tau), *inertia = inertias(model, there);
  TriboState* before;
  CHECK_OK(tribo_state_create(&before));
  unsigned char* driven = driven_of(model, c->passive);
  Table t = {.dim_min = 1000, .tau = UNDECIDED, .wrench = UNDECIDED};
  for (int i = 0; i < c->settle + c->steps; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_state_save(model, there, before));
    for (int k = 0; k < size.nv; ++k) {
      const double stiffness = c->stiffness > 0 ? c->stiffness * inertia[k] : 1;
      tau[k] = driven[k] ? c->swing * stiffness * sin(0.03 * i + k) : 0;
    }
    CHECK_OK(tribo_data_set_tau(model, there, tau));
    CHECK_OK(tribo_step(model, there, &info));
    if (i >= c->settle && i % 10 == 0) {
      assert_int_equal(info.substeps, 1);
      compare(c, model, there, back, before, tau, driven, &t);
    }
  }
  tribo_state_destroy(before);
  free(tau);
  free(inertia);
  free(driven);
  tribo_data_destroy(there);
  tribo_data_destroy(back);
  tribo_model_destroy(model);
  return t;
}

// Cassie has ten motors; springs and rods move the rest.
#define LOOSE_LEG(side)                                                                                          \
  side "-knee-shin-joint " side "-shin-tarsus-joint " side "-tarsus-spring-joint " side "-crank-rod-joint " side \
       "-foot-op " side "-achilles-spring-joint "
#define LOOSE LOOSE_LEG("left") LOOSE_LEG("right")
#define MIDPOINT TRIBO_SCHEME_VARIATIONAL
#define EULER TRIBO_SCHEME_EULER
static const Case CASES[] = {
    {"tower", tower, 0, MIDPOINT, 0, 0, NULL, 0, 300, 20, 0, 0},
    {"tower, soft", tower, SOFT, MIDPOINT, 0, 0, NULL, 0, 300, 20, 0, 0},
    {"tower, sliding", tower, SLIPPERY, MIDPOINT, 0, 0, NULL, 0, 150, 19, 4, 0},
    {"tower, soft, sliding", tower, SOFT | SLIPPERY, MIDPOINT, 0, 0, NULL, 0, 150, 19, 4, 0},
    {"four-bar", four_bar, 0, MIDPOINT, 3, 0, NULL, 0, 300, 0, 0, 0},
    {"four-bar, euler", four_bar, 0, EULER, 3, 0, NULL, 0, 300, 0, 0, 0},
    {"slider crank, euler", slider_crank, 0, EULER, 0, 0, NULL, 0, 300, 0, 0, 0},
    {"cassie", cassie, 0, MIDPOINT, 0.02, 2500, LOOSE, 300, 200, 1.5, 0.4, 0},
    {"cassie, euler", cassie, 0, EULER, 0.02, 2500, LOOSE, 300, 200, 1.5, 0.4, 0},
    {"cassie, soft", cassie, SOFT, MIDPOINT, 0.02, 2500, LOOSE, 300, 200, 1.5, 0.4, 0},
    {"cassie, sliding", cassie, SLIPPERY, MIDPOINT, 0.02, 2500, LOOSE, 100, 200, 0.8, 0.8, 0},
    {"cassie, soft, sliding", cassie, SOFT | SLIPPERY, MIDPOINT, 0.02, 2500, LOOSE, 100, 200, 0.8, 0.8, 0},
    {"talos, two feet", talos, 0, MIDPOINT, 0.02, 2500, NULL, 300, 200, 7.5, 0, 6},
    {"talos, two feet, euler", talos, 0, EULER, 0.02, 2500, NULL, 300, 200, 7.5, 0, 6},
    {"talos, soft", talos, SOFT, MIDPOINT, 0.02, 2500, NULL, 300, 200, 8, 0, 1},
    {"talos, soft, euler", talos, SOFT, EULER, 0.02, 2500, NULL, 300, 200, 8, 0, 1},
    {"talos, sliding", talos, SLIPPERY | SEVERAL, MIDPOINT, 0.02, 2500, NULL, 100, 200, 6, 1, 2},
    {"talos, soft, sliding", talos, SOFT | SLIPPERY, MIDPOINT, 0.02, 2500, NULL, 100, 200, 6, 1, 0},
    {"talos, one foot", one_foot, 0, MIDPOINT, 0.02, 2500, NULL, 100, 200, 4, 0, 0},
    {"solo", solo, 0, MIDPOINT, 0.02, 400, NULL, 300, 200, 7, 0.5, 2},
    {"solo, soft", solo, SOFT, MIDPOINT, 0.02, 400, NULL, 300, 200, 7, 1, 0},
    {"solo, soft, euler", solo, SOFT, EULER, 0.02, 400, NULL, 300, 200, 7, 1, 0},
    {"solo, sliding", solo, SLIPPERY, MIDPOINT, 0.02, 400, NULL, 300, 200, 4, 4, 2},
    {"solo, soft, sliding", solo, SOFT | SLIPPERY, MIDPOINT, 0.02, 400, NULL, 300, 200, 4, 4, 0},
    {"ur5 along a wall", arm_at_wall, SLIPPERY, MIDPOINT, 0.005, 2500, "robot/elbow_joint", 100, 200, 1, 0.5, 0},
    {"ur5 along a wall, all driven", arm_at_wall, SLIPPERY, MIDPOINT, 0.005, 2500, NULL, 100, 200, 1, 0.5, 1},
    {"ur5 along a soft wall", arm_at_wall, SOFT, MIDPOINT, 0.02, 2500, NULL, 20, 200, 1, 0.5, 0},
    {"ur5 touching a box", arm_and_box, 0, MIDPOINT, 0.02, 2500, NULL, 20, 200, 4, 0, 0},
    {"ur5, soft box", arm_and_box, SOFT, MIDPOINT, 0.02, 2500, NULL, 20, 200, 4, 0, 0},
    {"ur5, sliding box", arm_and_box, SLIPPERY, MIDPOINT, 0.02, 2500, NULL, 20, 200, 4, 0.2, 0},
    {"ur5, soft, sliding box", arm_and_box, SOFT | SLIPPERY, MIDPOINT, 0.02, 2500, NULL, 20, 200, 4, 0.2, 0},
    {"allegro with cubes", allegro, 0, MIDPOINT, 0.01, 400, NULL, 200, 300, 7, 0, 16},
    {"allegro, soft", allegro, SOFT, MIDPOINT, 0.01, 400, NULL, 200, 300, 7, 0, 16},
    {"allegro, sliding", allegro, SLIPPERY, MIDPOINT, 0.01, 400, NULL, 50, 150, 4, 1, 16},
    {"allegro, soft, sliding", allegro, SOFT | SLIPPERY, MIDPOINT, 0.01, 400, NULL, 50, 150, 4, 1, 16},
};

static void print_difference(double x) {
  if (x == UNDECIDED) {
    printf(" %9s", "open");
  } else {
    printf(" %9.1e", x);
  }
}

// What is asked of all: the motion comes back to 1e-8, and with it net wrenches, but for how far contacts turn in the
// step: their impulses act at both ends, and where corners share a load as they like, what is decided is the mean of
// both and not what it is at the start. Torques are the recorded ones, but for
// what the motion leaves open (the span of { J_aᵀλ : J_uᵀλ = 0 }, whose dimension is printed), to 1e-8 or to what the
// last digit of the motion decides. That is more where contacts creep, since the direction of 1e-9 m/s is the direction
// of friction, and under soft soles, whose points lie in one plane to 1e-5 m and decide torques through these 1e-5.
// Rigid soles that slide: how the load is shared between their corners decides where they turn to, and nothing decides
// how; of the answers of a step with these torques it finds the wanted one when it is led to it.
static void robots_there_and_back(void** state) {
  (void)state;
  printf("%-28s %5s %8s %7s %9s %9s %9s %9s %9s %9s %7s\n", "scene", "steps", "contacts", "slide", "|v+|", "dv",
         "dwrench", "dtau", "digit", "nat", "open");
  Table wall = {0};
  int wrong = 0;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
    const Case* c = CASES + i;
    const Table t = there_and_back(c);
    wall = strcmp(c->name, "ur5 along a wall") == 0 ? t : wall;
    const int well = t.v <= BACK && t.wrench <= BACK && t.tau <= fmax(BACK, 16 * t.digit) && t.nat <= 1e-9 &&
                     t.feasible == t.steps && t.contacts >= c->contacts * t.steps &&
                     t.sliding >= c->sliding * t.steps && t.dim_min == c->dim;
    printf("%-28s %5d %8.1f %7.1f %9.1e %9.1e", c->name, t.steps, (double)t.contacts / t.steps,
           (double)t.sliding / t.steps, t.motion, t.v);
    print_difference(t.wrench);
    print_difference(t.tau);
    printf(" %9.1e %9.1e %3d … %d%s\n", t.digit, t.nat, t.dim_min, t.dim_max, well ? "" : "  WRONG");
    fflush(stdout);
    wrong += !well;
  }
  robots_forget();
  printf(
      "\nalong the wall, largest torque of the contact by the paper's iteration: %.3g N m after 100 passes\n"
      "relaxed (CCP): %.3g, %.3g, %.3g N m after 1, 10, 100 passes\n",
      wall.resting, wall.rising[0], wall.rising[1], wall.rising[2]);
  assert_int_equal(wrong, 0);
  // where the motion is along a wall, the relaxation adds as much again with each pass
  CHECK_LE(wall.resting, 1e-5);
  CHECK_LE(1e6, wall.rising[0]);
  CHECK_NEAR(wall.rising[1] / wall.rising[0], 10, 0.1);
  CHECK_NEAR(wall.rising[2] / wall.rising[0], 100, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(robots_there_and_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
