// URDF and SRDF files: small ones written here, and the example robots where they are installed.
#include "trees.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tribo_urdf_XXXXXX";

static int make_folder(void** state) {
  (void)state;
  return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void** state) {
  (void)state;
  char command[sizeof folder + 16];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command);
}

static const char* file_of(const char* name, const char* content) {
  static char path[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  FILE* file = fopen(path[turn], "w");
  assert_non_null(file);
  fputs(content, file);
  fclose(file);
  return path[turn];
}

static TriboUrdfDef def_of(const char* urdf) {
  return (TriboUrdfDef){.urdf = urdf, .base = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
}

#define INERTIAL "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
#define LINK(name) "<link name='" name "'>" INERTIAL "</link>"
#define JOINT(name, type, parent, child, more) \
  "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child "'/>" more "</joint>"

static const char ROBOT[] =
    "<robot name='r'>" LINK("base")
    "<link name='arm'><inertial><origin xyz='0 0 0.5' rpy='1.5707963267948966 0 0'/><mass value='2'/>"
    "<inertia ixx='1' iyy='2' izz='2.5' ixy='0' ixz='0' iyz='0'/></inertial>"
    "<collision><origin xyz='0 0 1'/><geometry><sphere radius='0.1'/></geometry></collision>"
    "<collision><geometry><box size='1 2 3'/></geometry></collision>"
    "<collision><geometry><cylinder radius='0.2' length='0.7'/></geometry></collision></link>"
    "<link name='tool'><collision><geometry><mesh filename='part.stl' scale='1 2 3'/></geometry></collision></link>"
    LINK("wheel")
    JOINT("shoulder", "revolute", "base", "arm", "<origin xyz='0 0 1'/><axis xyz='0 1 0'/>"
          "<limit lower='-1' upper='2' effort='30' velocity='5'/><dynamics damping='0.5' friction='0.25'/>")
    JOINT("flange", "fixed", "arm", "tool", "<origin xyz='0 0 1'/>")
    JOINT("axle", "continuous", "tool", "wheel", "<axis xyz='1 0 0'/>")
    "</robot>";

static const char POSES[] =
    "<robot name='r'><group_state name='up' group='a'><joint name='shoulder' value='0.5'/>"
    "<joint name='axle' value='1.5'/><joint name='unknown' value='3'/></group_state>"
    "<group_state name='up' group='b'><joint name='root_joint' value='1 2 3 0 0 0 1'/></group_state>"
    "<disable_collisions link1='base' link2='tool'/><disable_collisions link1='base' link2='nobody'/></robot>";

static void a_small_robot_is_read(void** state) {
  (void)state;
  file_of("part.stl", "solid");
  TriboUrdfDef def = def_of(file_of("robot.urdf", ROBOT));
  def.srdf = file_of("robot.srdf", POSES);
  def.base.p[2] = 0.3;
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_load_urdf(&def, &tree));
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree);
  assert_int_equal(info->nq, 3);
  assert_int_equal(info->nv, 2);
  assert_int_equal(info->nlink, 4);
  const char* names[] = {"base", "arm", "tool", "wheel"};
  const int carriers[] = {-1, 1, 1, 3}, parents[] = {-1, 0, 1, 2};
  for (int i = 0; i < 4; ++i) {
    assert_string_equal(info->links[i].name, names[i]);
    assert_int_equal(info->links[i].carrier, carriers[i]);
    assert_int_equal(info->links[i].parent, parents[i]);
  }
  // the inertia was given in axes turned by 90° about x
  CHECK_NEAR(info->links[1].inertia[4], 2.5, 1e-15);
  CHECK_NEAR(info->links[1].inertia[8], 2, 1e-15);
  CHECK_NEAR(info->links[1].com[2], 0.5, 0);
  CHECK_NEAR(info->lower[0], -1, 0);
  CHECK_NEAR(info->upper[0], 2, 0);
  CHECK_NEAR(info->effort[0], 30, 0);
  CHECK_NEAR(info->damping[0], 0.5, 0);
  CHECK_NEAR(info->friction[0], 0.25, 0);
  assert_true(info->upper[1] == INFINITY && info->lower[2] == -INFINITY);

  // geometries in file order, the mesh beside the file
  assert_int_equal(info->ngeom, 4);
  assert_true(info->geoms[0].shape == 0 && info->geoms[0].link == 1 && info->geoms[0].size[0] == 0.1);
  CHECK_NEAR(info->geoms[0].local.p[2], 1, 0);
  assert_true(info->geoms[1].shape == 1 && info->geoms[1].size[2] == 3);
  assert_true(info->geoms[2].shape == 3 && info->geoms[2].size[1] == 0.7);
  assert_true(info->geoms[3].shape == 4 && info->geoms[3].link == 2 && info->geoms[3].scale[1] == 2);
  assert_non_null(strstr(info->geoms[3].mesh, "/part.stl"));
  assert_true(info->geoms[3].mesh[0] == '/' && info->geoms[0].mesh == NULL);

  // one pose of two groups; a continuous joint's angle becomes cosine and sine; strangers are passed over
  assert_int_equal(info->nreference, 1);
  assert_string_equal(info->reference_names[0], "up");
  CHECK_NEAR(info->references[0], 0.5, 0);
  CHECK_NEAR(info->references[1], cos(1.5), 1e-16);
  CHECK_NEAR(info->references[2], sin(1.5), 1e-16);
  assert_int_equal(info->ndisabled, 1);
  assert_true(info->disabled[0][0] == 0 && info->disabled[0][1] == 2);

  // where it stands: base up 0.3, shoulder 1 above, tool 1 along the arm that leans by 0.5 about y
  World w = world_of(NULL, 0, &tree, 1);
  TriboPose poses[4];
  TriboTwist twists[4];
  CHECK_OK(tribo_dyn_kinematics(w.system, w.data, info->references, w.v, poses, twists));
  CHECK_NEAR(poses[0].p[2], 0.3, 1e-15);
  CHECK_NEAR(poses[2].p[0], sin(0.5), 1e-15);
  CHECK_NEAR(poses[2].p[2], 1.3 + cos(0.5), 1e-15);
  world_end(&w);
  tribo_dyn_tree_destroy(tree);
}

static void a_free_base_starts_where_it_is_put(void** state) {
  (void)state;
  TriboUrdfDef def = def_of(file_of("robot.urdf", ROBOT));
  def.srdf = file_of("robot.srdf", POSES);
  def.free_base = 1;
  // 90° about z
  def.base = (TriboPose){{4, 5, 6}, {0, -1, 0, 1, 0, 0, 0, 0, 1}};
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_load_urdf(&def, &tree));
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree);
  assert_int_equal(info->nv, 8);
  assert_string_equal(info->links[0].joint_name, "root_joint");
  assert_string_equal(info->links[0].joint_kind, "free");
  const double expected[7] = {4, 5, 6, 0, 0, sqrt(0.5), sqrt(0.5)};
  for (int i = 0; i < 7; ++i) {
    CHECK_NEAR(info->neutral[i], expected[i], 1e-15);
  }
  CHECK_NEAR(info->references[1], 2, 0);
  CHECK_NEAR(info->references[6], 1, 0);
  tribo_dyn_tree_destroy(tree);
}

static void packages_are_found(void** state) {
  (void)state;
  char path[256], variable[600];
  snprintf(path, sizeof path, "%s/ws", folder);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/ws/share", folder);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/ws/share/mypkg", folder);
  mkdir(path, 0700);
  file_of("ws/share/mypkg/m.stl", "solid");
  const char* urdf = file_of(
      "package.urdf", "<robot name='r'><link name='a'>" INERTIAL
                      "<collision><geometry><mesh filename='package://mypkg/m.stl'/></geometry></collision></link>"
                      "</robot>");
  TriboUrdfDef def = def_of(urdf);
  TriboTree* tree = NULL;
  unsetenv("ROS_PACKAGE_PATH");
  unsetenv("AMENT_PREFIX_PATH");
  CHECK_FAILS(tribo_dyn_tree_load_urdf(&def, &tree), TRIBO_NOT_FOUND, "1 mesh was not found: 'package://mypkg/m.stl'");

  // as a folder that holds the package, as the package itself, and through each variable
  const char* formats[][2] = {{NULL, "%s/ws/share"},
                              {NULL, "%s/ws/share/mypkg"},
                              {"ROS_PACKAGE_PATH", "/nowhere:%s/ws/share"},
                              {"AMENT_PREFIX_PATH", "%s/ws"}};
  for (int i = 0; i < 4; ++i) {
    const char* dirs[1] = {variable};
    snprintf(variable, sizeof variable, formats[i][1], folder);
    def.package_dirs = formats[i][0] == NULL ? dirs : NULL;
    def.npackage_dir = formats[i][0] == NULL;
    if (formats[i][0] != NULL) {
      setenv(formats[i][0], variable, 1);
    }
    CHECK_OK(tribo_dyn_tree_load_urdf(&def, &tree));
    assert_non_null(strstr(tribo_dyn_tree_info(tree)->geoms[0].mesh, "/ws/share/mypkg/m.stl"));
    tribo_dyn_tree_destroy(tree);
    unsetenv("ROS_PACKAGE_PATH");
    unsetenv("AMENT_PREFIX_PATH");
  }
}

static TriboStatus load(const char* urdf, const char* srdf) {
  TriboUrdfDef def = def_of(urdf);
  def.srdf = srdf;
  TriboTree* tree = NULL;
  TriboStatus status = tribo_dyn_tree_load_urdf(&def, &tree);
  if (tree != NULL) {
    tribo_dyn_tree_destroy(tree);
  }
  return status;
}

static TriboStatus load_text(const char* urdf, const char* srdf) {
  return load(file_of("bad.urdf", urdf), srdf == NULL ? NULL : file_of("bad.srdf", srdf));
}

static void bad_files_are_named(void** state) {
  (void)state;
  TriboUrdfDef def = def_of("/nowhere/robot.urdf");
  TriboTree* tree = NULL;
  CHECK_FAILS(tribo_dyn_tree_load_urdf(&def, &tree), TRIBO_NOT_FOUND, "/nowhere/robot.urdf: no such file");
  def.urdf = folder;
  CHECK_FAILS(tribo_dyn_tree_load_urdf(&def, &tree), TRIBO_IO, "not a file");
  def.base.R[0] = 0;
  CHECK_FAILS(tribo_dyn_tree_load_urdf(&def, &tree), TRIBO_INVALID, "base: the placement's R is not a rotation");
  CHECK_FAILS(tribo_dyn_tree_load_urdf(NULL, &tree), TRIBO_INVALID, "missing");

  // what urdfdom says comes through, with the path in front
  CHECK_FAILS(load_text("", NULL), TRIBO_INVALID, "bad.urdf: ");
  CHECK_FAILS(load_text("<robot name='r'><link name='a'></robot>", NULL), TRIBO_INVALID, "MISMATCHED_ELEMENT");
  CHECK_FAILS(load_text("<robot name='r'>" LINK("a") LINK("a") "</robot>", NULL), TRIBO_INVALID, "not unique");
  CHECK_FAILS(load_text("<robot name='r'>" LINK("a") LINK("b") "</robot>", NULL), TRIBO_INVALID, "Two root links");
  CHECK_FAILS(load_text("<robot name='r'>" LINK("a") JOINT("j", "revolute", "a", "c", "") "</robot>", NULL),
              TRIBO_INVALID, "bad.urdf: ");

  // what urdfdom accepts and nobody can compute with
  CHECK_FAILS(load_text("<robot name='r'><link name='a'><inertial><mass value='-1'/><inertia ixx='1' iyy='1' izz='1' "
                        "ixy='0' ixz='0' iyz='0'/></inertial></link></robot>",
                        NULL),
              TRIBO_INVALID, "link 'a': mass is -1");
  CHECK_FAILS(load_text("<robot name='r'>" LINK("a") LINK("b")
                            JOINT("j", "continuous", "a", "b", "<axis xyz='0 0 0'/>") "</robot>",
                        NULL),
              TRIBO_INVALID, "bad.urdf: link 'b': axis is (0, 0, 0)");
  CHECK_FAILS(load_text("<robot name='r'>" LINK("a") LINK("b") JOINT("j", "planar", "a", "b", "") "</robot>", NULL),
              TRIBO_UNSUPPORTED, "planar joint 'j' has another normal than z");
  CHECK_FAILS(
      load_text("<robot name='r'>" LINK("a") "<link name='b'/>" JOINT("j", "continuous", "a", "b", "") "</robot>",
                NULL),
      TRIBO_INVALID, "joint 'j' (continuous) moves no mass");

  // srdf: path and line
  const char* good = "<robot name='r'>" LINK("a") LINK("b") JOINT("j", "floating", "a", "b", "") "</robot>";
  CHECK_OK(load_text(good, NULL));
  CHECK_FAILS(load_text(good, "<robot>\n<group_state></robot>"), TRIBO_INVALID, "bad.srdf:2: ");
  CHECK_FAILS(load_text(good, "<robot>\n<group_state/></robot>"), TRIBO_INVALID,
              "bad.srdf:2: <group_state> has no attribute 'name'");
  CHECK_FAILS(load_text(good, "<robot><group_state name='s'>\n\n<joint name='j' value='1 x'/></group_state></robot>"),
              TRIBO_INVALID, "bad.srdf:3: '1 x' is not a list of numbers");
  CHECK_FAILS(load_text(good, "<robot><group_state name='s'><joint name='j' value='1 2'/></group_state></robot>"),
              TRIBO_INVALID, "pose 's' gives joint 'j' 2 values, must be 7");
}

static TriboStatus load_chain(int count) {
  const char* path = file_of("chain.urdf", "");
  FILE* file = fopen(path, "w");
  fprintf(file, "<robot name='r'>");
  for (int i = 0; i < count; ++i) {
    fprintf(file, "<link name='l%d'/>", i);
    if (i > 0) {
      fprintf(file, "<joint name='j%d' type='fixed'><parent link='l%d'/><child link='l%d'/></joint>", i, i - 1, i);
    }
  }
  fprintf(file, "</robot>");
  fclose(file);
  return load(path, NULL);
}

// Long chains must not run the readers, which recurse, out of their stack.
static void long_chains_are_refused(void** state) {
  (void)state;
  CHECK_OK(load_chain(1000));
  CHECK_FAILS(load_chain(20000), TRIBO_UNSUPPORTED, "deeper than 2000 links");
  CHECK_FAILS(load_chain(300000), TRIBO_UNSUPPORTED, "more than 20000 joints");
}

// ---- example robots

// Loads a robot: its degrees of freedom, geometries and reference pose are there, and RNEA undoes ABA.
static void check_robot(const char* name, const char* urdf, const char* srdf, const char* pose, int nv) {
  const char* dirs[1] = {ROBOTS};
  char path[512], poses[512];
  snprintf(path, sizeof path, "%s/example-robot-data/robots/%s", ROBOTS, urdf);
  snprintf(poses, sizeof poses, "%s/example-robot-data/robots/%s", ROBOTS, srdf);
  TriboUrdfDef def = def_of(path);
  def.srdf = poses;
  def.free_base = 1;
  def.package_dirs = dirs;
  def.npackage_dir = 1;
  TriboTree* tree = NULL;
  CHECK_OK(tribo_dyn_tree_load_urdf(&def, &tree));
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree);
  print_message("%s: %d links, nv %d, %d geometries, %d disabled pairs\n", name, info->nlink, info->nv, info->ngeom,
                info->ndisabled);
  assert_int_equal(info->nv, nv);
  assert_true(info->ngeom > 0);
  int found = 0;
  for (int i = 0; i < info->nreference; ++i) {
    found |= strcmp(info->reference_names[i], pose) == 0;
  }
  assert_true(found);

  // rnea ∘ aba, at the first pose
  TriboPinData* pin = NULL;
  CHECK_OK(tribo_pin_data_create(tree, &pin));
  KitRandom random = {1};
  const double gravity[3] = {0, 0, -9.81};
  double v[MAX_V], tau[MAX_V], a[MAX_V], back[MAX_V], largest = 0;
  for (int k = 0; k < nv; ++k) {
    v[k] = kit_normal(&random);
    tau[k] = kit_normal(&random);
  }
  CHECK_OK(tribo_pin_aba(pin, gravity, info->references, v, tau, a));
  CHECK_OK(tribo_pin_rnea(pin, gravity, info->references, v, a, back));
  for (int k = 0; k < nv; ++k) {
    largest = fmax(largest, fabs(a[k]));
  }
  for (int k = 0; k < nv; ++k) {
    CHECK_NEAR(back[k], tau[k], 1e-12 * (1 + largest));
  }
  tribo_pin_data_destroy(pin);
  tribo_dyn_tree_destroy(tree);
}

static void example_robots_load(void** state) {
  (void)state;
  if (access(ROBOTS "/example-robot-data/robots", R_OK) != 0) {
    print_message("the example robots are not installed in %s\n", ROBOTS);
    skip();
  }
  check_robot("talos", "talos_data/robots/talos_reduced.urdf", "talos_data/srdf/talos.srdf", "half_sitting", 38);
  check_robot("solo12", "solo_description/robots/solo12.urdf", "solo_description/srdf/solo.srdf", "standing", 18);
  check_robot("anymal", "anymal_b_simple_description/robots/anymal.urdf",
              "anymal_b_simple_description/srdf/anymal.srdf", "standing", 18);
  check_robot("kinova", "kinova_description/robots/kinova.urdf", "kinova_description/srdf/kinova.srdf", "arm_up", 12);
  check_robot("go2", "go2_description/urdf/go2.urdf", "go2_description/srdf/go2.srdf", "standing", 18);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_small_robot_is_read),   cmocka_unit_test(a_free_base_starts_where_it_is_put),
      cmocka_unit_test(packages_are_found),      cmocka_unit_test(bad_files_are_named),
      cmocka_unit_test(long_chains_are_refused), cmocka_unit_test(example_robots_load),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
