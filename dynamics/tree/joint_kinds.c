// The joint kinds of trees: their names, velocities, axes and limits.
#include "tree/tree_model.h"

static const struct {
  const char* name;
  int nv, has_axis;
  int limits;  // how many of its coordinates, the first ones, lower and upper hold for
} KINDS[TRIBO_JOINT_COUNT] = {
    [TRIBO_JOINT_FIXED] = {"fixed", 0, 0, 0},
    [TRIBO_JOINT_REVOLUTE] = {"revolute", 1, 1, 1},
    [TRIBO_JOINT_CONTINUOUS] = {"continuous", 1, 1, 0},
    [TRIBO_JOINT_PRISMATIC] = {"prismatic", 1, 1, 1},
    [TRIBO_JOINT_HELICAL] = {"helical", 1, 1, 1},
    [TRIBO_JOINT_UNIVERSAL] = {"universal", 2, 1, 2},
    [TRIBO_JOINT_CYLINDRICAL] = {"cylindrical", 2, 1, 1},
    [TRIBO_JOINT_PLANAR] = {"planar", 3, 0, 2},
    [TRIBO_JOINT_SPHERICAL] = {"spherical", 3, 0, 1},
    [TRIBO_JOINT_TRANSLATION] = {"translation", 3, 0, 3},
    [TRIBO_JOINT_EULER] = {"euler", 3, 0, 3},
    [TRIBO_JOINT_ELLIPSOID] = {"ellipsoid", 3, 0, 3},
    [TRIBO_JOINT_FREE] = {"free", 6, 0, 0},
};

const char* tribo_dyn_joint_name(TriboJointKind kind) {
  return (unsigned)kind < TRIBO_JOINT_COUNT ? KINDS[kind].name : "unknown";
}

int tribo_dyn_joint_limits(TriboJointKind kind) {
  return KINDS[kind].limits;
}

TriboLinkDef tribo_dyn_link_def(void) {
  return (TriboLinkDef){
      .parent = -1,
      .kind = TRIBO_JOINT_FIXED,
      .placement = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
      .axis = {0, 0, 1},
      .axis2 = {1, 0, 0},
      .lower = -INFINITY,
      .upper = INFINITY,
      .effort = INFINITY,
  };
}

int tribo_dyn_joint_nv(TriboJointKind kind) {
  return KINDS[kind].nv;
}

int tribo_dyn_joint_has_axis(TriboJointKind kind) {
  return KINDS[kind].has_axis;
}
