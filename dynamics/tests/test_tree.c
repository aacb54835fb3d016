// Links that no physics can be made of are refused, each with its reason.
#include "trees.h"

static TriboLinkDef arm(void) {
  TriboLinkDef link = tribo_dyn_link_def();
  link.name = "arm";
  link.kind = TRIBO_JOINT_REVOLUTE;
  link.mass = 1;
  link.inertia[0] = link.inertia[4] = link.inertia[8] = 0.1;
  return link;
}

static TriboStatus build(const TriboLinkDef* links, int nlink) {
  TriboTree* tree = NULL;
  TriboStatus status = tribo_dyn_tree_build(links, nlink, &tree);
  assert_true((status == TRIBO_OK) == (tree != NULL));
  if (tree != NULL) {
    tribo_dyn_tree_destroy(tree);
  }
  return status;
}

static void bad_links_are_named(void** state) {
  (void)state;
  TriboLinkDef link;
#define BAD(change, status, text)               \
  do {                                          \
    link = arm();                               \
    change;                                     \
    CHECK_FAILS(build(&link, 1), status, text); \
  } while (0)
  CHECK_FAILS(build(NULL, 1), TRIBO_INVALID, "NULL");
  CHECK_FAILS(build(&link, 0), TRIBO_INVALID, "nlink (0)");
  BAD(link.name = NULL, TRIBO_INVALID, "link 0 has no name");
  BAD(link.name = "", TRIBO_INVALID, "link 0 has no name");
  BAD(link.parent = 0, TRIBO_INVALID, "parent is 0");
  BAD(link.parent = -2, TRIBO_INVALID, "parent is -2");
  BAD(link.kind = TRIBO_JOINT_COUNT, TRIBO_INVALID, "joint kind is 13");
  BAD(link.placement.R[0] = 2, TRIBO_INVALID, "not a rotation");
  BAD(link.placement.R[8] = -1, TRIBO_INVALID, "not a rotation");
  BAD(link.placement.p[1] = NAN, TRIBO_INVALID, "placement is not finite");
  BAD(link.axis[2] = 0, TRIBO_INVALID, "axis is (0, 0, 0)");
  BAD(link.axis[0] = NAN, TRIBO_INVALID, "axis is (nan");
  BAD((link.kind = TRIBO_JOINT_UNIVERSAL, link.axis2[2] = 1), TRIBO_INVALID, "right angle");
  BAD((link.kind = TRIBO_JOINT_UNIVERSAL, link.axis2[0] = 0), TRIBO_INVALID, "right angle");
  BAD((link.kind = TRIBO_JOINT_HELICAL, link.pitch = INFINITY), TRIBO_INVALID, "pitch is inf");
  BAD((link.kind = TRIBO_JOINT_ELLIPSOID, tribo_set3(link.radii, 1, 0, 1)), TRIBO_INVALID, "radii are (1, 0, 1)");
  BAD((link.kind = TRIBO_JOINT_ELLIPSOID, tribo_set3(link.radii, NAN, 1, 1)), TRIBO_INVALID, "radii are (nan");
  BAD((link.kind = TRIBO_JOINT_ELLIPSOID, tribo_set3(link.radii, 1, 1, INFINITY)), TRIBO_INVALID, "must be finite");
  BAD(link.mass = -1, TRIBO_INVALID, "mass is -1");
  BAD(link.mass = NAN, TRIBO_INVALID, "mass is nan");
  BAD(link.com[0] = INFINITY, TRIBO_INVALID, "centre of mass");
  BAD(link.inertia[1] = 0.05, TRIBO_INVALID, "not symmetric");
  BAD(link.inertia[4] = -0.1, TRIBO_INVALID, "not positive semidefinite");
  BAD(link.inertia[1] = link.inertia[3] = 0.11, TRIBO_INVALID, "not positive semidefinite");
  BAD((link.inertia[4] = -0.1, link.com[0] = 1), TRIBO_INVALID, "not positive semidefinite");  // not hidden by the arm
  BAD(link.armature = -1, TRIBO_INVALID, "armature is -1");
  BAD(link.damping = NAN, TRIBO_INVALID, "damping is nan");
  BAD(link.friction = -0.5, TRIBO_INVALID, "friction is -0.5");
  BAD(link.effort = -3, TRIBO_INVALID, "effort is -3");
  BAD((link.lower = 1, link.upper = 0), TRIBO_INVALID, "limits are 1 … 0");
  BAD(link.upper = NAN, TRIBO_INVALID, "limits are");
  BAD((link.kind = TRIBO_JOINT_SPHERICAL, link.lower = -1), TRIBO_INVALID, "on a spherical joint");
  BAD((link.kind = TRIBO_JOINT_CONTINUOUS, link.upper = 1), TRIBO_UNSUPPORTED, "on a continuous joint");
  BAD(link.restitution = 1.5, TRIBO_INVALID, "restitution is 1.5");
  BAD((link.mass = 0, memset(link.inertia, 0, sizeof link.inertia)), TRIBO_INVALID, "moves no mass");
  // the message starts with the function and names the link
  BAD(link.mass = -1, TRIBO_INVALID, "tribo_dyn_tree_build: link 'arm': mass");
#undef BAD
}

static void names_are_unique(void** state) {
  (void)state;
  TriboLinkDef links[2] = {arm(), arm()};
  links[1].parent = 0;
  CHECK_FAILS(build(links, 2), TRIBO_INVALID, "two links are named 'arm'");
  links[1].name = "hand";
  CHECK_OK(build(links, 2));
  links[0].joint_name = links[1].joint_name = "elbow";
  CHECK_FAILS(build(links, 2), TRIBO_INVALID, "two joints are named 'elbow'");
}

// What counts is the body a joint moves: massless links in between, armature alone, and welded parts are fine.
static void mass_may_be_elsewhere(void** state) {
  (void)state;
  TriboLinkDef links[2] = {arm(), arm()};
  links[0].mass = 0;
  memset(links[0].inertia, 0, sizeof links[0].inertia);
  links[1].name = "hand";
  links[1].parent = 0;
  CHECK_OK(build(links, 2));
  links[0].armature = 0.1;
  CHECK_OK(build(links, 1));
  // an impossible inertia of a small part, far out: harmless in the sum; alone it is refused
  links[0] = arm();
  links[1].kind = TRIBO_JOINT_FIXED;
  links[1].mass = 0.01;
  links[1].placement.p[0] = 1;
  links[1].inertia[0] = -0.001;
  CHECK_OK(build(links, 2));
  links[1].kind = TRIBO_JOINT_REVOLUTE;
  CHECK_FAILS(build(links, 2), TRIBO_INVALID, "link 'hand': the inertia");
}

// A massless frame that a joint cannot turn at this very configuration shows when the mass matrix is factored.
static void singular_mass_is_named(void** state) {
  (void)state;
  TriboLinkDef link = arm();
  memset(link.inertia, 0, sizeof link.inertia);
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_build(&link, 1, &tree));
  World w = world_of(NULL, 0, &tree, 1);
  TriboStepOptions o = step_options(1e-3, TRIBO_SCHEME_VARIATIONAL, 0);
  CHECK_FAILS(tribo_dyn_update(w.system, w.data, &o, w.q, w.v, NULL, NULL), TRIBO_NUMERIC,
              "tribo_dyn_update: tree 0: the mass matrix is not positive definite at v[0]");
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

static void large_trees_are_refused(void** state) {
  (void)state;
  enum { COUNT = 301 };
  static TriboLinkDef links[COUNT];
  static char names[COUNT][16];
  for (int i = 0; i < COUNT; ++i) {
    snprintf(names[i], sizeof names[i], "l%d", i);
    links[i] = arm();
    links[i].name = names[i];
    links[i].parent = i - 1;
  }
  CHECK_FAILS(build(links, COUNT), TRIBO_UNSUPPORTED, "more than 300 degrees of freedom");
}

static void systems_need_their_trees(void** state) {
  (void)state;
  TriboTree* none = NULL;
  TriboSystem* system = NULL;
  CHECK_FAILS(tribo_dyn_system_create(&(TriboSystemDef){.trees = &none, .ntree = 1}, &system), TRIBO_INVALID,
              "trees[0] is NULL");
  assert_null(system);
}

static void joint_kinds_have_names(void** state) {
  (void)state;
  for (int i = 0; i < TRIBO_JOINT_COUNT; ++i) {
    for (int j = 0; j < i; ++j) {
      assert_string_not_equal(tribo_dyn_joint_name((TriboJointKind)i), tribo_dyn_joint_name((TriboJointKind)j));
    }
  }
  assert_string_equal(tribo_dyn_joint_name(TRIBO_JOINT_COUNT), "unknown");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_links_are_named),     cmocka_unit_test(names_are_unique),
      cmocka_unit_test(mass_may_be_elsewhere),   cmocka_unit_test(singular_mass_is_named),
      cmocka_unit_test(large_trees_are_refused), cmocka_unit_test(systems_need_their_trees),
      cmocka_unit_test(joint_kinds_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
