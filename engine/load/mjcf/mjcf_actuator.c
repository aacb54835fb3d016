// Actuators.
#include <math.h>
#include <string.h>

#include "mjcf.h"

typedef struct MjActuator {
  const char *name, *cls, *joint, *tendon, *site, *refsite, *slider_body, *crank,
      *other;  // other: a way to drive that is not known here
  int ctrl_limited, force_limited, act_limited, dyntype, gaintype, biastype;
  double ctrl_range[2], force_range[2], act_range[2], gear[6], gainprm[10], biasprm[10], dynprm[10];
  double crank_length, kp, kv, dampratio, timeconst[2], inherit, length_range[2];
  int act_early, group;
  double area, diameter, bias[3];  // of a cylinder
  double tausmooth, muscle[9];     // range (2), force, scale, lmin, lmax, vmax, fpmax, fvmax
} MjActuator;

static const char* const tristate[] = {"false", "true", "auto", NULL};
static const char* const dyntypes[] = {"none", "integrator", "filter", "filterexact", "muscle", "user", NULL};
static const char* const gaintypes[] = {"fixed", "affine", "muscle", "user", NULL};
static const char* const biastypes[] = {"none", "affine", "muscle", "user", NULL};
enum { DYN_NONE, DYN_INTEGRATOR, DYN_FILTER, DYN_EXACT, DYN_MUSCLE };
enum { LAW_NONE, LAW_AFFINE, LAW_MUSCLE };  // fixed gain, no bias: 0

#define AT(field) offsetof(MjActuator, field)
static const MjAttr actuator_attrs[] = {
    {"name", MJ_TEXT, AT(name), 1, 1, NULL},
    {"class", MJ_TEXT, AT(cls), 1, 1, NULL},
    {"joint", MJ_TEXT, AT(joint), 1, 1, NULL},
    {"tendon", MJ_TEXT, AT(tendon), 1, 1, NULL},
    {"ctrllimited", MJ_WORD, AT(ctrl_limited), 1, 1, tristate},
    {"forcelimited", MJ_WORD, AT(force_limited), 1, 1, tristate},
    {"actlimited", MJ_WORD, AT(act_limited), 1, 1, tristate},
    {"ctrlrange", MJ_REAL, AT(ctrl_range), 2, 2, NULL},
    {"forcerange", MJ_REAL, AT(force_range), 2, 2, NULL},
    {"actrange", MJ_REAL, AT(act_range), 2, 2, NULL},
    {"gear", MJ_REAL, AT(gear), 1, 6, NULL},
    {"dyntype", MJ_WORD, AT(dyntype), 1, 1, dyntypes},
    {"gaintype", MJ_WORD, AT(gaintype), 1, 1, gaintypes},
    {"biastype", MJ_WORD, AT(biastype), 1, 1, biastypes},
    {"dynprm", MJ_REAL, AT(dynprm), 1, 10, NULL},
    {"gainprm", MJ_REAL, AT(gainprm), 1, 10, NULL},
    {"biasprm", MJ_REAL, AT(biasprm), 1, 10, NULL},
    {"kp", MJ_REAL, AT(kp), 1, 1, NULL},
    {"kv", MJ_REAL, AT(kv), 1, 1, NULL},
    {"timeconst", MJ_REAL, AT(timeconst), 1, 2, NULL},
    {"tausmooth", MJ_REAL, AT(tausmooth), 1, 1, NULL},
    {"range", MJ_REAL, AT(muscle[0]), 2, 2, NULL},
    {"force", MJ_REAL, AT(muscle[2]), 1, 1, NULL},
    {"scale", MJ_REAL, AT(muscle[3]), 1, 1, NULL},
    {"lmin", MJ_REAL, AT(muscle[4]), 1, 1, NULL},
    {"lmax", MJ_REAL, AT(muscle[5]), 1, 1, NULL},
    {"vmax", MJ_REAL, AT(muscle[6]), 1, 1, NULL},
    {"fpmax", MJ_REAL, AT(muscle[7]), 1, 1, NULL},
    {"fvmax", MJ_REAL, AT(muscle[8]), 1, 1, NULL},
    {"dampratio", MJ_REAL, AT(dampratio), 1, 1, NULL},
    {"inheritrange", MJ_REAL, AT(inherit), 1, 1, NULL},
    {"jointinparent", MJ_TEXT, AT(joint), 1, 1, NULL},  // the same for joints of one coordinate
    {"site", MJ_TEXT, AT(site), 1, 1, NULL},
    {"refsite", MJ_TEXT, AT(refsite), 1, 1, NULL},
    {"body", MJ_TEXT, AT(other), 1, 1, NULL},
    {"slidersite", MJ_TEXT, AT(slider_body), 1, 1, NULL},
    {"cranksite", MJ_TEXT, AT(crank), 1, 1, NULL},
    {"cranklength", MJ_REAL, AT(crank_length), 1, 1, NULL},
    {"actdim", MJ_WARN, 0, 0, 0, NULL},
    {"actearly", MJ_BOOL, AT(act_early), 1, 1, NULL},
    {"area", MJ_REAL, AT(area), 1, 1, NULL},
    {"diameter", MJ_REAL, AT(diameter), 1, 1, NULL},
    {"bias", MJ_REAL, AT(bias), 3, 3, NULL},
    {"damping", MJ_WARN, 0, 0, 0, NULL},
    {"armature", MJ_WARN, 0, 0, 0, NULL},
    {"delay", MJ_WARN, 0, 0, 0, NULL},
    {"nsample", MJ_VISUAL_ONLY, 0, 0, 0, NULL},
    {"interp", MJ_VISUAL_ONLY, 0, 0, 0, NULL},
    {"lengthrange", MJ_REAL, AT(length_range), 2, 2, NULL},
    {"group", MJ_INT, AT(group), 1, 1, NULL},
    {"user", MJ_VISUAL_ONLY, 0, 0, 0, NULL},
};
#undef AT
static const MjElement actuator_element = {"actuator", actuator_attrs, sizeof actuator_attrs / sizeof *actuator_attrs};

// What an element does not say is as before, or else the usual.
static void set_muscle(MjActuator* a) {
  static const double before[9] = {1}, usual[9] = {0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2};
  for (int i = 0; i < 9; ++i) {
    const double kept = a->gainprm[i] == before[i] ? usual[i] : a->gainprm[i];
    a->gainprm[i] = isnan(a->muscle[i]) ? kept : a->muscle[i];
  }
  memcpy(a->biasprm, a->gainprm, 9 * sizeof *a->biasprm);
  a->dynprm[0] = !isnan(a->timeconst[0]) ? a->timeconst[0] : a->dynprm[0] == 1 ? 0.01 : a->dynprm[0];
  a->dynprm[1] = !isnan(a->timeconst[1]) ? a->timeconst[1] : a->dynprm[1] == 0 ? 0.04 : a->dynprm[1];
  a->dynprm[2] = isnan(a->tausmooth) ? a->dynprm[2] : a->tausmooth;
  a->dyntype = DYN_MUSCLE;
  a->gaintype = a->biastype = LAW_MUSCLE;
}

static void set_cylinder(MjActuator* a) {
  a->dyntype = DYN_FILTER;
  a->gaintype = LAW_NONE;
  a->biastype = LAW_AFFINE;
  a->dynprm[0] = isnan(a->timeconst[0]) ? a->dynprm[0] : a->timeconst[0];
  a->gainprm[0] = !isnan(a->diameter) ? 0.25 * 3.14159265358979323846 * a->diameter * a->diameter
                  : !isnan(a->area)   ? a->area
                                      : a->gainprm[0];
  if (!isnan(a->bias[0])) {
    tribo_copy3(a->biasprm, a->bias);
  }
}

// The shorthands are general actuators; each element, also of a default class, sets what it stands for.
static TriboStatus apply_actuator(Mjcf* m, const XmlNode* node, void* context) {
  MjActuator* a = context;
  a->kp = a->kv = a->dampratio = a->timeconst[0] = a->timeconst[1] = a->tausmooth = NAN;
  a->area = a->diameter = a->bias[0] = NAN;
  for (int i = 0; i < 9; ++i) {
    a->muscle[i] = NAN;
  }
  TRIBO_TRY(tribo_mjcf_apply(m, node, &actuator_element, a));
  if (strcmp(node->name, "motor") == 0) {
    a->gainprm[0] = 1;
    a->dyntype = a->gaintype = a->biastype = 0;
  } else if (strcmp(node->name, "position") == 0 || strcmp(node->name, "intvelocity") == 0) {
    a->gaintype = 0;
    a->biastype = 1;
    a->gainprm[0] = isnan(a->kp) ? a->gainprm[0] : a->kp;
    a->biasprm[0] = 0;
    a->biasprm[1] = -a->gainprm[0];
    // above 0 it is a damping ratio
    a->biasprm[2] = !isnan(a->kv) ? -a->kv : !isnan(a->dampratio) ? a->dampratio : a->biasprm[2];
    a->dyntype = strcmp(node->name, "position") != 0 ? DYN_INTEGRATOR : a->dyntype;
    if (!isnan(a->timeconst[0])) {
      a->dynprm[0] = a->timeconst[0];
      a->dyntype = a->timeconst[0] > 0 ? DYN_EXACT : DYN_NONE;
    }
  } else if (strcmp(node->name, "velocity") == 0) {
    a->gaintype = a->dyntype = 0;
    a->biastype = 1;
    a->gainprm[0] = isnan(a->kv) ? a->gainprm[0] : a->kv;
    a->biasprm[0] = a->biasprm[1] = 0;
    a->biasprm[2] = -a->gainprm[0];
  } else if (strcmp(node->name, "damper") == 0) {
    a->dyntype = a->biastype = 0;
    a->gaintype = 1;
    a->gainprm[0] = a->gainprm[1] = 0;
    a->gainprm[2] = isnan(a->kv) ? a->gainprm[2] : -a->kv;
  } else if (strcmp(node->name, "muscle") == 0) {
    set_muscle(a);
  } else if (strcmp(node->name, "cylinder") == 0) {
    set_cylinder(a);
  }
  return TRIBO_OK;
}

static void set_range(int limited, int autolimits, const double range[2], double* low, double* high) {
  const int given = !isnan(range[0]) && (range[0] != 0 || range[1] != 0);
  if (limited == MJ_TRUE || (limited == MJ_AUTO && autolimits && given)) {
    *low = isnan(range[0]) ? 0 : range[0];
    *high = isnan(range[0]) ? 0 : range[1];
  }
}

static const MjTendon* find_tendon(const Mjcf* m, const char* name) {
  if (name != NULL) {
    for (int i = 0; i < m->ntendon; ++i) {
      if (m->tendons[i].name != NULL && strcmp(m->tendons[i].name, name) == 0) {
        return &m->tendons[i];
      }
    }
  }
  return NULL;
}

// The range of a control, or of an activation, as that of what is driven, scaled about its middle.
static TriboStatus inherit_range(const Mjcf* m, const XmlNode* node, MjActuator* a) {
  const double* range = NULL;
  const int joint = tribo_mjcf_find_joint(m, a->joint);
  if (joint >= 0) {
    range = m->joints[joint].range;
  }
  const MjTendon* tendon = find_tendon(m, a->tendon);
  range = tendon != NULL ? tendon->range : range;
  if (range == NULL || isnan(range[0])) {
    return tribo_xml_fail(node, "inheritrange: what it drives has no range");
  }
  const double middle = 0.5 * (range[0] + range[1]), half = 0.5 * (range[1] - range[0]) * a->inherit;
  double* out = a->dyntype == DYN_INTEGRATOR ? a->act_range : a->ctrl_range;
  out[0] = middle - half;
  out[1] = middle + half;
  return TRIBO_OK;
}

// A damping ratio becomes damping: 2 · ratio · √(kp · mass), with the effective mass behind the gear.
static TriboStatus set_damping(Mjcf* m, const XmlNode* node, MjActuator* a) {
  enum { MOST = 64 };
  if (a->gaintype != 0 || a->biastype != 1 || a->gainprm[0] != -a->biasprm[1] || !(a->biasprm[2] > 0)) {
    return TRIBO_OK;
  }
  const MjTendon* tendon = find_tendon(m, a->tendon);
  int joints[MOST] = {tribo_mjcf_find_joint(m, a->joint)}, count = a->joint != NULL;
  double coefs[MOST] = {1}, mobility = 0;
  const int fixed = tendon != NULL && strcmp(tendon->node->name, "fixed") == 0;
  for (const XmlNode* part = fixed ? tendon->node->children : NULL; part != NULL && count < MOST; part = part->next) {
    joints[count] = tribo_mjcf_find_joint(m, tribo_xml_get(part, "joint"));
    tribo_xml_numbers(tribo_xml_get(part, "coef"), &coefs[count++], 1);
  }
  TRIBO_TRY(tribo_mjcf_effective_mobility(m, joints, coefs, count, 0, &mobility));
  mobility *= a->gear[0] * a->gear[0];
  if (!(mobility > 0)) {
    a->biasprm[2] = 0;
    return tribo_mjcf_leave_out(m, node, "of a site or a string has no damping ratio here");
  }
  a->biasprm[2] *= -2 * sqrt(a->gainprm[0] / mobility);
  return TRIBO_OK;
}

static void set_crank(const Mjcf* m, const MjActuator* a, TriboActuatorDef* def) {
  const MjSite *crank = &m->sites[tribo_mjcf_find_site(m, a->crank)],
               *slider = &m->sites[tribo_mjcf_find_site(m, a->slider_body)];
  const MjBody* body = &m->bodys[slider->body];
  const TriboPose slider_pose = body->id == TRIBO_WORLD ? tribo_pose_mul(&body->pose, &slider->pose) : slider->pose;
  def->body = m->bodys[crank->body].name;
  def->slider_body = body->id == TRIBO_WORLD ? NULL : body->name;
  def->crank_length = a->crank_length;
  tribo_copy3(def->point, crank->pose.p);
  tribo_copy3(def->slider_point, slider_pose.p);
  tribo_set3(def->slider_axis, slider_pose.R[2], slider_pose.R[5], slider_pose.R[8]);
}

// An actuator of the file as one of the scene: what it drives, its gain, bias, limits and activation.
static TriboStatus add_actuator(Mjcf* m, const XmlNode* node, const MjActuator* a, int* id) {
  static const TriboActivation activations[] = {TRIBO_ACTIVATION_NONE, TRIBO_ACTIVATION_INTEGRATOR,
                                                TRIBO_ACTIVATION_FILTER, TRIBO_ACTIVATION_EXACT,
                                                TRIBO_ACTIVATION_MUSCLE};
  TriboActuatorDef def = tribo_actuator_default();
  def.name = a->name;
  def.joint = a->joint;
  def.tendon = a->tendon;
  def.gear = a->gear[0];
  if (a->site != NULL) {
    const MjSite* site = &m->sites[tribo_mjcf_find_site(m, a->site)];
    def.body = m->bodys[site->body].name;
    def.gear = 1;
    tribo_copy3(def.point, site->pose.p);
    tribo_quat_from_mat(def.quaternion, site->pose.R);
    memcpy(def.wrench, a->gear, sizeof def.wrench);
  }
  if (a->crank != NULL) {
    set_crank(m, a, &def);
  }
  for (int i = 0; i < 3; ++i) {
    def.gain[i] = i == 0 || a->gaintype == 1 ? a->gainprm[i] : 0;
    def.bias[i] = a->biastype == 1 ? a->biasprm[i] : 0;
  }
  def.activation = activations[a->dyntype];
  def.time_constant = a->dynprm[0];
  def.act_early = a->act_early;
  if (a->dyntype == DYN_MUSCLE) {
    def.time_constant_down = a->dynprm[1];
    def.smoothing = a->dynprm[2];
  }
  if (a->gaintype == LAW_MUSCLE) {
    const double* p = a->gainprm;
    const int given = a->length_range[0] < a->length_range[1];
    def.has_muscle = 1;
    def.muscle = (TriboMuscleDef){.range = {p[0], p[1]},
                                  .peak = p[2],
                                  .scale = p[3],
                                  .lmin = p[4],
                                  .lmax = p[5],
                                  .vmax = p[6],
                                  .fpmax = a->biastype == LAW_MUSCLE ? p[7] : 0,
                                  .fvmax = p[8],
                                  .lengths = {given ? a->length_range[0] : NAN, given ? a->length_range[1] : NAN}};
  }
  const int automatic = tribo_mjcf_rules(m, node)->autolimits;
  set_range(a->ctrl_limited, automatic, a->ctrl_range, &def.ctrl_min, &def.ctrl_max);
  set_range(a->force_limited, automatic, a->force_range, &def.force_min, &def.force_max);
  set_range(a->act_limited, automatic, a->act_range, &def.act_min, &def.act_max);
  TRIBO_TRY(tribo_mjcf_at(m, node));
  return tribo_mjcf_added(m, tribo_scene_add_actuator(m->scene, &def, id));
}

// Why an actuator is left out, NULL: it is not. Names that are not there are an error.
static TriboStatus check_actuator(Mjcf* m, const XmlNode* node, const MjActuator* a, const char** why) {
  const int joint = tribo_mjcf_find_joint(m, a->joint);
  const int site = tribo_mjcf_find_site(m, a->crank != NULL ? a->crank : a->site);
  *why = NULL;
  if (a->other != NULL || a->refsite != NULL ||
      (a->joint != NULL) + (a->tendon != NULL) + (a->site != NULL) + (a->crank != NULL) != 1) {
    *why = "that drives neither a joint nor a tendon nor a site is left out";
  } else if (a->crank != NULL && (site < 0 || tribo_mjcf_find_site(m, a->slider_body) < 0)) {
    *why = "of what is left out is left out";
    return m->incomplete ? TRIBO_OK : tribo_mjcf_missing(m, node, "site", site < 0 ? a->crank : a->slider_body);
  } else if (a->crank != NULL && !(a->crank_length > 0)) {
    return tribo_xml_fail(node, "<%s> cranklength = %g must be above 0", node->name, a->crank_length);
  } else if ((a->joint != NULL && joint < 0) || (a->site != NULL && site < 0)) {
    *why = "of what is left out is left out";
    return m->incomplete ? TRIBO_OK
                         : tribo_mjcf_missing(m, node, a->joint != NULL ? "joint" : "site",
                                              a->joint != NULL ? a->joint : a->site);
  } else if (joint >= 0 && (m->joints[joint].type == MJ_FREE || m->joints[joint].type == MJ_BALL)) {
    *why = "of a ball or free joint is left out";
  } else if (a->tendon != NULL && find_tendon(m, a->tendon) == NULL) {
    *why = "of a tendon that is left out is left out";
  } else if (site >= 0 && m->bodys[m->sites[site].body].weld == 0) {
    *why = "of a site that never moves is left out";
  } else if (a->dyntype > DYN_MUSCLE || a->gaintype > LAW_MUSCLE || a->biastype > LAW_MUSCLE) {
    *why = "with user functions is left out";
  } else if (a->gaintype == LAW_MUSCLE ? a->biastype == LAW_AFFINE || site >= 0 : a->biastype == LAW_MUSCLE) {
    *why = "that is half a muscle, or one of a site, is left out";
  } else if (a->gaintype == LAW_MUSCLE && a->biastype == LAW_MUSCLE && !tribo_equal(a->gainprm, a->biasprm, 9)) {
    *why = "whose active and passive muscle differ is left out";
  }
  return TRIBO_OK;
}

// Attributes of an actuator, with what its shortcut (motor, position, …) stands for.
static TriboStatus read_actuator(Mjcf* m, const XmlNode* node) {
  static const char* const kinds[] = {"general",     "motor",  "position", "velocity",
                                      "intvelocity", "damper", "muscle",   "cylinder"};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  int known = 0;
  for (int i = 0; i < KINDS; ++i) {
    known |= strcmp(node->name, kinds[i]) == 0;
  }
  TRIBO_TRY(MJ_GROW(m, control));
  MjControl* control = &m->controls[m->ncontrol++];
  *control = (MjControl){.name = tribo_xml_get(node, "name"), .id = -1};
  if (!known) {
    return tribo_mjcf_leave_out(m, node, "is left out");
  }
  MjActuator a = {.ctrl_limited = MJ_AUTO,
                  .force_limited = MJ_AUTO,
                  .act_limited = MJ_AUTO,
                  .ctrl_range = {NAN},
                  .force_range = {NAN},
                  .act_range = {NAN},
                  .gear = {1},
                  .gainprm = {1},
                  .dynprm = {1}};
  TRIBO_TRY(tribo_mjcf_defaults(m, node, NULL, kinds, KINDS, apply_actuator, &a));
  TRIBO_TRY(apply_actuator(m, node, &a));
  control->nact = a.dyntype != DYN_NONE;
  const char* why;
  TRIBO_TRY(check_actuator(m, node, &a, &why));
  if (why != NULL) {
    return tribo_mjcf_leave_out(m, node, why);
  }
  if (a.inherit > 0) {
    TRIBO_TRY(inherit_range(m, node, &a));
  }
  TRIBO_TRY(set_damping(m, node, &a));
  const int off = a.group >= 0 && a.group < 31 && (m->option.groups_off >> a.group & 1);
  return m->option.actuation && !off ? add_actuator(m, node, &a, &control->id) : TRIBO_OK;
}

TriboStatus tribo_mjcf_actuators(Mjcf* m) {
  return tribo_mjcf_each(m, "actuator", read_actuator);
}
