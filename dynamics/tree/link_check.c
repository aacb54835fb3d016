// Which links are accepted, and why others are not: every link is judged here, from files and from memory alike, since
// Pinocchio accepts in silence what it cannot compute with (negative masses, zero axes, duplicate names).
#include "tree/tree_model.h"

#include <stdio.h>
#include <stdlib.h>

// One tree holds dense nv × nv matrices, and making Pinocchio's data needs nv³ numbers for a moment.
enum { TREE_DOF_MAX = 300 };

TriboStatus tribo_dyn_check_pose(const char* what, const TriboPose* pose) {
  double product[9], off = 0;
  if (!tribo_finite(pose->p, 3) || !tribo_finite(pose->R, 9)) {
    return tribo_fail(TRIBO_INVALID, "%s: the placement is not finite", what);
  }
  tribo_mul33t(product, pose->R, pose->R);
  for (int i = 0; i < 9; ++i) {
    off = fmax(off, fabs(product[i] - (i % 4 == 0)));
  }
  if (!(off <= 1e-6) || !(tribo_det33(pose->R) > 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: the placement's R is not a rotation (R Rᵀ is off by %g)", what, off);
  }
  return TRIBO_OK;
}

// What says how a joint moves.
static TriboStatus check_motion(const char* what, const TriboLinkDef* def) {
  const double *a = def->axis, *b = def->axis2, *r = def->radii;
  if (tribo_dyn_joint_has_axis(def->kind) && (!tribo_finite(a, 3) || !(tribo_norm3(a) > 1e-9))) {
    return tribo_fail(TRIBO_INVALID, "%s: axis is (%g, %g, %g), must be finite and not 0", what, a[0], a[1], a[2]);
  }
  if (def->kind == TRIBO_JOINT_UNIVERSAL && (!tribo_finite(b, 3) || !(tribo_norm3(b) > 1e-9) ||
                                             !(fabs(tribo_dot3(a, b)) <= 1e-6 * tribo_norm3(a) * tribo_norm3(b)))) {
    return tribo_fail(TRIBO_INVALID, "%s: axis2 is (%g, %g, %g), must be at a right angle to axis", what, b[0], b[1],
                      b[2]);
  }
  if (def->kind == TRIBO_JOINT_HELICAL && !isfinite(def->pitch)) {
    return tribo_fail(TRIBO_INVALID, "%s: pitch is %g, must be finite", what, def->pitch);
  }
  if (def->kind == TRIBO_JOINT_ELLIPSOID && !(tribo_finite(r, 3) && r[0] > 0 && r[1] > 0 && r[2] > 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: radii are (%g, %g, %g), must be finite and > 0", what, r[0], r[1], r[2]);
  }
  return TRIBO_OK;
}

// What a joint says about its motion, its friction, its spring and its limits.
static TriboStatus check_joint(const char* what, const TriboLinkDef* def) {
  TRIBO_TRY(check_motion(what, def));
  const struct {
    const char* name;
    double value;
  } plain[] = {{"armature", def->armature},
               {"damping", def->damping},
               {"friction", def->friction},
               {"stiffness", def->stiffness}};
  for (int i = 0; i < 4; ++i) {
    if (!(plain[i].value >= 0) || !isfinite(plain[i].value)) {
      return tribo_fail(TRIBO_INVALID, "%s: %s is %g, must be finite and ≥ 0", what, plain[i].name, plain[i].value);
    }
  }
  const int springy = tribo_dyn_joint_limits(def->kind) && tribo_dyn_joint_nv(def->kind) == 1;
  const int turning = def->kind == TRIBO_JOINT_SPHERICAL && def->rest == 0;
  if (!isfinite(def->rest) || (def->stiffness > 0 && !springy && !turning)) {
    return tribo_fail(TRIBO_INVALID,
                      "%s: stiffness %g with rest %g on a %s joint; springs are for joints with one "
                      "coordinate, and with rest 0 for spherical ones",
                      what, def->stiffness, def->rest, tribo_dyn_joint_name(def->kind));
  }
  if (!(def->restitution >= 0 && def->restitution <= 1)) {
    return tribo_fail(TRIBO_INVALID, "%s: restitution is %g, must be in 0 … 1", what, def->restitution);
  }
  if (def->kind == TRIBO_JOINT_SPHERICAL && !(def->lower == -INFINITY && def->upper > 0)) {
    return tribo_fail(TRIBO_INVALID,
                      "%s: limits %g … %g on a spherical joint; upper is its largest angle, > 0, and there is no lower",
                      what, def->lower, def->upper);
  }
  if (!(def->effort >= 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: effort is %g, must be ≥ 0", what, def->effort);
  }
  if (tribo_dyn_joint_limits(def->kind) && !(def->lower <= def->upper)) {
    return tribo_fail(TRIBO_INVALID, "%s: limits are %g … %g, the lower must not be above the upper", what, def->lower,
                      def->upper);
  }
  if (def->kind != TRIBO_JOINT_FIXED && !tribo_dyn_joint_limits(def->kind) &&
      !(def->lower == -INFINITY && def->upper == INFINITY)) {
    return tribo_fail(TRIBO_UNSUPPORTED, "%s: limits %g … %g on a %s joint, only ±infinity is supported", what,
                      def->lower, def->upper, tribo_dyn_joint_name(def->kind));
  }
  return TRIBO_OK;
}

static TriboStatus check_mass(const char* what, const TriboLinkDef* def) {
  const double* I = def->inertia;
  if (!(def->mass >= 0) || !isfinite(def->mass)) {
    return tribo_fail(TRIBO_INVALID, "%s: mass is %g, must be finite and ≥ 0", what, def->mass);
  }
  if (!tribo_finite(def->com, 3) || !tribo_finite(I, 9)) {
    return tribo_fail(TRIBO_INVALID, "%s: the centre of mass or the inertia is not finite", what);
  }
  const double tiny = 1e-9 * (fabs(I[0]) + fabs(I[4]) + fabs(I[8]));
  if (!(fabs(I[1] - I[3]) <= tiny && fabs(I[2] - I[6]) <= tiny && fabs(I[5] - I[7]) <= tiny)) {
    return tribo_fail(TRIBO_INVALID, "%s: the inertia is not symmetric", what);
  }
  return TRIBO_OK;
}

static TriboStatus check_link(const TriboLinkDef* links, int index) {
  const TriboLinkDef* def = links + index;
  char what[160];
  if (def->name == NULL || def->name[0] == '\0') {
    return tribo_fail(TRIBO_INVALID, "link %d has no name", index);
  }
  snprintf(what, sizeof what, "link '%.120s'", def->name);
  if (def->parent < -1 || def->parent >= index) {
    return tribo_fail(TRIBO_INVALID, "%s: parent is %d, must be −1 or an earlier link (0 … %d)", what, def->parent,
                      index - 1);
  }
  if ((unsigned)def->kind >= TRIBO_JOINT_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: joint kind is %d, must be 0 … %d", what, def->kind, TRIBO_JOINT_COUNT - 1);
  }
  TRIBO_TRY(tribo_dyn_check_pose(what, &def->placement));
  TRIBO_TRY(check_joint(what, def));
  return check_mass(what, def);
}

static int by_text(const void* a, const void* b) {
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

static const char* joint_name_of(const TriboLinkDef* def) {
  return def->joint_name != NULL && def->joint_name[0] != '\0' ? def->joint_name : def->name;
}

// Link names are unique, and so are joint names.
static TriboStatus check_names(const TriboLinkDef* links, int nlink, const char** sorted) {
  for (int joints = 0; joints < 2; ++joints) {
    for (int i = 0; i < nlink; ++i) {
      sorted[i] = joints ? joint_name_of(links + i) : links[i].name;
    }
    qsort((void*)sorted, (size_t)nlink, sizeof *sorted, by_text);
    for (int i = 1; i < nlink; ++i) {
      if (strcmp(sorted[i - 1], sorted[i]) == 0) {
        return tribo_fail(TRIBO_INVALID, "two %s are named '%s'", joints ? "joints" : "links", sorted[i]);
      }
    }
  }
  return TRIBO_OK;
}

// What one joint moves rigidly: its link and all links welded to it.
typedef struct Lump {
  int carrier;        // link that has the joint, −1: none
  TriboPose local;    // this link in the carrier's frame
  double mass;        // of the lump (in the carrier's entry)
  double moment[3];   // Σ m c in the carrier's frame
  double inertia[9];  // about the carrier's origin
  double below;       // anything heavy here or further down
} Lump;

// I += m(|c|² 1 − c cᵀ)
static void add_point(double I[9], double mass, const double c[3]) {
  for (int i = 0; i < 9; ++i) {
    I[i] += mass * ((i % 4 == 0 ? tribo_dot3(c, c) : 0) - c[i / 3] * c[i % 3]);
  }
}

static void add_to_lump(const TriboLinkDef* def, const Lump* link, Lump* lump) {
  double c[3], turned[9], inertia[9];
  tribo_mul33v(c, link->local.R, def->com);
  tribo_add3(c, c, link->local.p);
  tribo_mul33(turned, link->local.R, def->inertia);
  tribo_mul33t(inertia, turned, link->local.R);
  lump->mass += def->mass;
  tribo_axpy3(lump->moment, lump->moment, def->mass, c);
  for (int i = 0; i < 9; ++i) {
    lump->inertia[i] += inertia[i];
  }
  add_point(lump->inertia, def->mass, c);
}

// Links may be without mass or point masses, so a lump's inertia need only be positive semidefinite: no principal minor
// below 0 by more than rounding. Single links are not judged: robot files are full of small welded parts with
// impossible inertias, which do no harm in the sum that moves.
static TriboStatus check_lump(const TriboLinkDef* def, const Lump* lump) {
  double I[9], c[3] = {0, 0, 0}, size = 0;
  memcpy(I, lump->inertia, sizeof I);
  for (int i = 0; i < 9; ++i) {
    size = fmax(size, fabs(I[i]));
  }
  if (lump->mass > 0) {
    tribo_scale3(c, 1 / lump->mass, lump->moment);
  }
  add_point(I, -lump->mass, c);
  const double tiny = 1e-9 * size;
  const double minors[] = {I[0] * I[4] - I[1] * I[3], I[0] * I[8] - I[2] * I[6], I[4] * I[8] - I[5] * I[7]};
  if (!(I[0] >= -tiny && I[4] >= -tiny && I[8] >= -tiny && minors[0] >= -tiny * size && minors[1] >= -tiny * size &&
        minors[2] >= -tiny * size && tribo_det33(I) >= -tiny * size * size)) {
    return tribo_fail(
        TRIBO_INVALID,
        "link '%s': the inertia about the centre of mass, welded links included (diagonal %g, %g, %g), is "
        "not positive semidefinite",
        def->name, I[0], I[4], I[8]);
  }
  return TRIBO_OK;
}

// Every joint must move a possible body, and something heavy here or further down, or have armature.
static TriboStatus check_lumps(const TriboLinkDef* links, int nlink, Lump* lumps) {
  for (int i = 0; i < nlink; ++i) {
    const TriboLinkDef* def = links + i;
    Lump* lump = lumps + i;
    lump->below = def->mass + fabs(def->inertia[0]) + fabs(def->inertia[4]) + fabs(def->inertia[8]);
    if (def->kind != TRIBO_JOINT_FIXED) {
      lump->carrier = i;
      lump->local = (TriboPose){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    } else {
      lump->carrier = def->parent < 0 ? -1 : lumps[def->parent].carrier;
      if (lump->carrier >= 0) {
        tribo_dyn_compose(&lumps[def->parent].local, &def->placement, &lump->local);
      }
    }
    if (lump->carrier >= 0) {
      add_to_lump(def, lump, lumps + lump->carrier);
    }
  }
  for (int i = nlink - 1; i >= 0; --i) {
    if (links[i].kind != TRIBO_JOINT_FIXED) {
      TRIBO_TRY(check_lump(links + i, lumps + i));
      if (lumps[i].below == 0 && links[i].armature == 0) {
        return tribo_fail(TRIBO_INVALID, "joint '%s' (%s) moves no mass and has no armature", joint_name_of(links + i),
                          tribo_dyn_joint_name(links[i].kind));
      }
    }
    if (links[i].parent >= 0) {
      lumps[links[i].parent].below += lumps[i].below;
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_check_links(const TriboLinkDef* links, int nlink) {
  int nv = 0;
  for (int i = 0; i < nlink; ++i) {
    TRIBO_TRY(check_link(links, i));
    nv += tribo_dyn_joint_nv(links[i].kind);
    if (nv > TREE_DOF_MAX) {
      return tribo_fail(TRIBO_UNSUPPORTED, "the tree has more than %d degrees of freedom", TREE_DOF_MAX);
    }
  }
  const char** sorted = tribo_alloc((size_t)nlink, sizeof *sorted);
  Lump* lumps = tribo_alloc((size_t)nlink, sizeof *lumps);
  TriboStatus status =
      sorted == NULL || lumps == NULL ? tribo_no_memory("for %d links", nlink) : check_names(links, nlink, sorted);
  if (status == TRIBO_OK) {
    status = check_lumps(links, nlink, lumps);
  }
  tribo_free((void*)sorted);
  tribo_free(lumps);
  return status;
}
