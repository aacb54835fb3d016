// Tendons, equalities and actuators.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjcf.h"

// Calls a reader for every child of every section of a name.
static TriboStatus each(Mjcf* m, const char* section, TriboStatus (*read)(Mjcf*, const XmlNode*)) {
  for (const XmlNode* s = m->root->children; s != NULL; s = s->next) {
    for (const XmlNode* node = s->children; strcmp(s->name, section) == 0 && node != NULL; node = node->next) {
      TRIBO_TRY(read(m, node));
    }
  }
  return TRIBO_OK;
}

static TriboStatus leave_out(Mjcf* m, const XmlNode* node, const char* why) {
  char key[96];
  snprintf(key, sizeof key, "<%.30s>: <%.40s>", node->parent->name, node->name);
  return tribo_mjcf_warn(m, node, key, why);
}

// ---- tendons

enum { PARTS_MAX = 256 };

typedef struct Parts {
  const char* names[PARTS_MAX];
  double numbers[3 * PARTS_MAX];
  int count;
} Parts;

static TriboStatus read_coefs(Mjcf* m, const XmlNode* tendon, Parts* parts) {
  for (const XmlNode* node = tendon->children; node != NULL; node = node->next) {
    const char *name = tribo_xml_get(node, "joint"), *coef = tribo_xml_get(node, "coef");
    const int joint = tribo_mjcf_find_joint(m, name);
    double* number = &parts->numbers[parts->count];
    if (joint < 0 || coef == NULL || tribo_xml_numbers(coef, number, 1) != 1) {
      return tribo_xml_fail(node,
                            "a fixed tendon is made of <joint joint=\"…\" coef=\"…\"/>; joint '%.40s', coef '%.40s'",
                            name != NULL ? name : "", coef != NULL ? coef : "");
    }
    if (parts->count == PARTS_MAX) {
      return tribo_xml_fail(node, "a tendon of more than %d parts", PARTS_MAX);
    }
    parts->names[parts->count++] = name;
  }
  return TRIBO_OK;
}

// 0: a part that is not known here makes the tendon one that is left out.
static TriboStatus read_points(Mjcf* m, const XmlNode* tendon, Parts* parts, int* known) {
  for (const XmlNode* node = tendon->children; node != NULL; node = node->next) {
    if (strcmp(node->name, "site") != 0) {
      *known = 0;
      return leave_out(m, node, "is not known here: its tendon is left out");
    }
    const char* name = tribo_xml_get(node, "site");
    const int at = tribo_mjcf_find_site(m, name);
    if (at < 0) {
      return tribo_xml_fail(node, "there is no site '%.60s'", name != NULL ? name : "");
    }
    if (parts->count == PARTS_MAX) {
      return tribo_xml_fail(node, "a tendon of more than %d parts", PARTS_MAX);
    }
    const MjSite* site = &m->sites[at];
    const MjBody* body = &m->bodys[site->body];
    double* point = parts->numbers + 3 * parts->count;
    tribo_copy3(point, site->pos);
    if (body->id == TRIBO_WORLD) {
      double moved[3];
      tribo_mul33v(moved, body->pose.R, site->pos);
      tribo_add3(point, body->pose.p, moved);
    }
    parts->names[parts->count++] = body->id == TRIBO_WORLD ? NULL : body->name;
  }
  return TRIBO_OK;
}

static TriboStatus read_tendon(Mjcf* m, const XmlNode* node) {
  const int fixed = strcmp(node->name, "fixed") == 0;
  if (!fixed && strcmp(node->name, "spatial") != 0) {
    return tribo_xml_fail(node, "<%.40s> has no place in <tendon>", node->name);
  }
  MjTendon tendon = tribo_mjcf_tendon_default();
  TRIBO_TRY(tribo_mjcf_read(m, node, "tendon", NULL, &tribo_mjcf_tendon, &tendon));
  Parts parts = {.count = 0};
  int known = 1;
  TRIBO_TRY(fixed ? read_coefs(m, node, &parts) : read_points(m, node, &parts, &known));
  if (!known) {
    return TRIBO_OK;
  }
  TRIBO_TRY(MJ_GROW(m, tendon));
  tendon.node = node;
  m->tendons[m->ntendon++] = tendon;
  if (tendon.stiffness[1] != 0 || tendon.stiffness[2] != 0 || tendon.damping[1] != 0 || tendon.damping[2] != 0) {
    TRIBO_TRY(tribo_mjcf_warn(m, node, "polynomial stiffness or damping of a tendon", "counts as linear"));
  }
  const int limited =
      tendon.limited == MJ_TRUE || (tendon.limited == MJ_AUTO && m->compiler.autolimits && !isnan(tendon.range[0]));
  if (tendon.frictionloss > 0) {
    TRIBO_TRY(tribo_mjcf_warn(m, node, "frictionloss of a tendon", "is not honoured"));
  }
  if (tendon.armature > 0) {
    TRIBO_TRY(tribo_mjcf_warn(m, node, "armature of a tendon", "is not honoured"));
  }
  TriboTendonDef def = tribo_tendon_default();
  def.name = tendon.name;
  def.joints = def.bodies = parts.names;
  def.coefs = def.points = parts.numbers;
  *(fixed ? &def.njoint : &def.npoint) = parts.count;
  def.stiffness = m->option.spring ? tendon.stiffness[0] : 0;
  def.damping = m->option.damper ? tendon.damping[0] : 0;
  if (tendon.springlength[0] != -1) {
    def.rest[0] = tendon.springlength[0];
    def.rest[1] = isnan(tendon.springlength[1]) ? def.rest[0] : tendon.springlength[1];
  }
  if (limited && m->option.constraint && m->option.limit) {
    if (isnan(tendon.range[0])) {
      return tribo_xml_fail(node, "the tendon is limited but has no range");
    }
    def.lower = tendon.range[0];
    def.upper = tendon.range[1];
  }
  TRIBO_TRY(tribo_mjcf_at(m, node));
  return tribo_mjcf_added(m, tribo_scene_add_tendon(m->scene, &def, NULL));
}

TriboStatus tribo_mjcf_tendons(Mjcf* m) {
  return each(m, "tendon", read_tendon);
}

// ---- equalities

typedef struct MjEquality {
  const char *name, *cls, *body1, *body2, *site1, *site2, *joint1, *joint2, *tendon1, *tendon2;
  int active;
  double anchor[3], relpose[7], polycoef[5];
} MjEquality;

#define AT(field) offsetof(MjEquality, field)
static const MjAttr equality_attrs[] = {
    {"name", MJ_TEXT, AT(name), 1, 1, NULL},
    {"class", MJ_TEXT, AT(cls), 1, 1, NULL},
    {"active", MJ_BOOL, AT(active), 1, 1, NULL},
    {"body1", MJ_TEXT, AT(body1), 1, 1, NULL},
    {"body2", MJ_TEXT, AT(body2), 1, 1, NULL},
    {"site1", MJ_TEXT, AT(site1), 1, 1, NULL},
    {"site2", MJ_TEXT, AT(site2), 1, 1, NULL},
    {"joint1", MJ_TEXT, AT(joint1), 1, 1, NULL},
    {"joint2", MJ_TEXT, AT(joint2), 1, 1, NULL},
    {"tendon1", MJ_TEXT, AT(tendon1), 1, 1, NULL},
    {"tendon2", MJ_TEXT, AT(tendon2), 1, 1, NULL},
    {"anchor", MJ_REAL, AT(anchor), 3, 3, NULL},
    {"polycoef", MJ_REAL, AT(polycoef), 1, 5, NULL},
    {"relpose", MJ_WARN, 0, 0, 0, NULL},
    {"torquescale", MJ_WARN, 0, 0, 0, NULL},
    {"solref", MJ_WARN, 0, 0, 0, NULL},
    {"solimp", MJ_WARN, 0, 0, 0, NULL},
};
#undef AT
static const MjElement equality_element = {"equality", equality_attrs, sizeof equality_attrs / sizeof *equality_attrs};

// Weld and connect: bodies, or the sites of two bodies. Bodies are tied where they start.
static TriboStatus tie_bodies(Mjcf* m, const XmlNode* node, const MjEquality* eq, TriboClosureDef* def) {
  const char* names[2] = {eq->body1, eq->body2};
  if (eq->site1 != NULL || names[0] == NULL) {
    return leave_out(m, node, "between sites is left out");
  }
  int ids[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    ids[i] = names[i] == NULL ? 0 : tribo_mjcf_find_body(m, names[i]);
    if (ids[i] < 0) {
      return tribo_xml_fail(node, "there is no body '%.60s'", names[i]);
    }
    names[i] = m->bodys[ids[i]].id == TRIBO_WORLD ? NULL : m->bodys[ids[i]].name;
  }
  def->kind = strcmp(node->name, "weld") == 0 ? TRIBO_CLOSURE_WELD : TRIBO_CLOSURE_BALL;
  def->body_a = names[0];
  def->body_b = names[1];
  // the anchor is given in body 1; scenes want it in the world at the start
  for (int j = 0; j < m->njoint; ++j) {
    if (m->joints[j].ref != 0) {
      return leave_out(m, node, "in a model with joints that start away from 0 is left out");
    }
  }
  double moved[3];
  tribo_mul33v(moved, m->bodys[ids[0]].pose.R, eq->anchor);
  tribo_add3(def->anchor, m->bodys[ids[0]].pose.p, moved);
  return tribo_mjcf_added(m, tribo_scene_add_closure(m->scene, def, NULL));
}

// y − y0 = a0 + a1 (x − x0), of two joints; a fixed tendon of two joints that keeps its length is one, too.
static TriboStatus tie_joints(Mjcf* m, const XmlNode* node, const char* y, const char* x, double a0, double a1,
                              TriboClosureDef* def) {
  const int one = tribo_mjcf_find_joint(m, y), two = tribo_mjcf_find_joint(m, x);
  if (one < 0 || two < 0) {
    return tribo_xml_fail(node, "there is no joint '%.60s'", one < 0 ? y : x);
  }
  def->kind = TRIBO_CLOSURE_MIMIC;
  def->joint_a = x;
  def->joint_b = y;
  def->ratio = a1;
  def->offset = m->joints[one].ref + a0 - a1 * m->joints[two].ref;
  return tribo_mjcf_added(m, tribo_scene_add_closure(m->scene, def, NULL));
}

static TriboStatus tie_tendon(Mjcf* m, const XmlNode* node, const MjEquality* eq, TriboClosureDef* def) {
  for (int i = 0; i < m->ntendon; ++i) {
    const MjTendon* tendon = &m->tendons[i];
    if (tendon->name == NULL || eq->tendon1 == NULL || strcmp(tendon->name, eq->tendon1) != 0) {
      continue;
    }
    const XmlNode *a = tendon->node->children, *b = a != NULL ? a->next : NULL;
    if (eq->tendon2 != NULL || strcmp(tendon->node->name, "fixed") != 0 || b == NULL || b->next != NULL) {
      return leave_out(m, node, "of other than one fixed tendon of two joints is left out");
    }
    double ca = 0, cb = 0;
    tribo_xml_numbers(tribo_xml_get(a, "coef"), &ca, 1);
    tribo_xml_numbers(tribo_xml_get(b, "coef"), &cb, 1);
    if (ca == 0 || cb == 0) {
      return leave_out(m, node, "with a coefficient 0 is left out");
    }
    // ca (y − y0) + cb (x − x0) = a0
    return tie_joints(m, node, tribo_xml_get(a, "joint"), tribo_xml_get(b, "joint"), eq->polycoef[0] / ca, -cb / ca,
                      def);
  }
  return tribo_xml_fail(node, "there is no tendon '%.60s'", eq->tendon1 != NULL ? eq->tendon1 : "");
}

static TriboStatus read_equality(Mjcf* m, const XmlNode* node) {
  const int bodies = strcmp(node->name, "weld") == 0 || strcmp(node->name, "connect") == 0;
  const int joint = strcmp(node->name, "joint") == 0, tendon = strcmp(node->name, "tendon") == 0;
  if (!bodies && !joint && !tendon) {
    return leave_out(m, node, "is left out");
  }
  MjEquality eq = {.active = 1, .polycoef = {0, 1}};
  TRIBO_TRY(tribo_mjcf_read(m, node, "equality", NULL, &equality_element, &eq));
  if (!eq.active || !m->option.constraint || !m->option.equality) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_mjcf_at(m, node));
  TriboClosureDef def = tribo_closure_default();
  def.name = eq.name;
  if (bodies) {
    return tie_bodies(m, node, &eq, &def);
  }
  if (eq.polycoef[2] != 0 || eq.polycoef[3] != 0 || eq.polycoef[4] != 0) {
    return leave_out(m, node, "of higher order is left out");
  }
  if (tendon) {
    return tie_tendon(m, node, &eq, &def);
  }
  if (eq.joint2 == NULL || eq.polycoef[1] == 0) {
    return leave_out(m, node, "of one joint is left out");
  }
  return tie_joints(m, node, eq.joint1 != NULL ? eq.joint1 : "", eq.joint2, eq.polycoef[0], eq.polycoef[1], &def);
}

TriboStatus tribo_mjcf_equalities(Mjcf* m) {
  return each(m, "equality", read_equality);
}

// ---- actuators

typedef struct MjActuator {
  const char *name, *cls, *joint, *tendon;
  int ctrl_limited, force_limited, act_limited, dyntype, gaintype, biastype;
  double ctrl_range[2], force_range[2], act_range[2], gear[6], gainprm[10], biasprm[10], dynprm[10];
  double kp, kv, dampratio, timeconst, inherit;
} MjActuator;

static const char* const tristate[] = {"false", "true", "auto", NULL};
static const char* const dyntypes[] = {"none", "integrator", "filter", "filterexact", "muscle", "user", NULL};
static const char* const gaintypes[] = {"fixed", "affine", "muscle", "user", NULL};
static const char* const biastypes[] = {"none", "affine", "muscle", "user", NULL};
enum { DYN_NONE, DYN_INTEGRATOR, DYN_FILTER, DYN_EXACT };

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
    {"timeconst", MJ_REAL, AT(timeconst), 1, 1, NULL},
    {"dampratio", MJ_WARN, 0, 0, 0, NULL},
    {"inheritrange", MJ_REAL, AT(inherit), 1, 1, NULL},
    {"jointinparent", MJ_WARN, 0, 0, 0, NULL},
    {"site", MJ_WARN, 0, 0, 0, NULL},
    {"refsite", MJ_WARN, 0, 0, 0, NULL},
    {"body", MJ_WARN, 0, 0, 0, NULL},
    {"slidersite", MJ_WARN, 0, 0, 0, NULL},
    {"cranksite", MJ_WARN, 0, 0, 0, NULL},
    {"cranklength", MJ_WARN, 0, 0, 0, NULL},
    {"actdim", MJ_WARN, 0, 0, 0, NULL},
    {"actearly", MJ_WARN, 0, 0, 0, NULL},
    {"damping", MJ_WARN, 0, 0, 0, NULL},
    {"armature", MJ_WARN, 0, 0, 0, NULL},
    {"delay", MJ_WARN, 0, 0, 0, NULL},
    {"nsample", MJ_LOOK, 0, 0, 0, NULL},
    {"interp", MJ_LOOK, 0, 0, 0, NULL},
    {"lengthrange", MJ_LOOK, 0, 0, 0, NULL},
    {"group", MJ_LOOK, 0, 0, 0, NULL},
    {"user", MJ_LOOK, 0, 0, 0, NULL},
};
#undef AT
static const MjElement actuator_element = {"actuator", actuator_attrs, sizeof actuator_attrs / sizeof *actuator_attrs};

// The shorthands are general actuators; each element, also of a default class, sets what it stands for.
static TriboStatus apply_actuator(Mjcf* m, const XmlNode* node, void* context) {
  MjActuator* a = context;
  a->kp = a->kv = a->timeconst = NAN;
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
    a->biasprm[2] = isnan(a->kv) ? a->biasprm[2] : -a->kv;
    a->dyntype = strcmp(node->name, "position") != 0 ? DYN_INTEGRATOR : a->dyntype;
    if (!isnan(a->timeconst)) {
      a->dynprm[0] = a->timeconst;
      a->dyntype = a->timeconst > 0 ? DYN_EXACT : DYN_NONE;
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

// The range of a control, or of an activation, as that of what is driven, scaled about its middle.
static TriboStatus inherit_range(const Mjcf* m, const XmlNode* node, MjActuator* a) {
  const double* range = NULL;
  const int joint = tribo_mjcf_find_joint(m, a->joint);
  if (joint >= 0) {
    range = m->joints[joint].range;
  }
  for (int i = 0; a->tendon != NULL && i < m->ntendon; ++i) {
    range = m->tendons[i].name != NULL && strcmp(m->tendons[i].name, a->tendon) == 0 ? m->tendons[i].range : range;
  }
  if (range == NULL || isnan(range[0])) {
    return tribo_xml_fail(node, "inheritrange: what it drives has no range");
  }
  const double middle = 0.5 * (range[0] + range[1]), half = 0.5 * (range[1] - range[0]) * a->inherit;
  double* out = a->dyntype == DYN_INTEGRATOR ? a->act_range : a->ctrl_range;
  out[0] = middle - half;
  out[1] = middle + half;
  return TRIBO_OK;
}

static int is_tendon(const Mjcf* m, const char* name) {
  for (int i = 0; i < m->ntendon; ++i) {
    if (m->tendons[i].name != NULL && strcmp(m->tendons[i].name, name) == 0) {
      return 1;
    }
  }
  return 0;
}

static TriboStatus add_actuator(Mjcf* m, const XmlNode* node, const MjActuator* a) {
  static const TriboActivation activations[] = {TRIBO_ACTIVATION_NONE, TRIBO_ACTIVATION_INTEGRATOR,
                                                TRIBO_ACTIVATION_FILTER, TRIBO_ACTIVATION_EXACT};
  TriboActuatorDef def = tribo_actuator_default();
  def.name = a->name;
  def.joint = a->joint;
  def.tendon = a->tendon;
  def.gear = a->gear[0];
  for (int i = 0; i < 3; ++i) {
    def.gain[i] = i == 0 || a->gaintype == 1 ? a->gainprm[i] : 0;
    def.bias[i] = a->biastype == 1 ? a->biasprm[i] : 0;
  }
  def.activation = activations[a->dyntype];
  def.time_constant = a->dynprm[0];
  const int automatic = m->compiler.autolimits;
  set_range(a->ctrl_limited, automatic, a->ctrl_range, &def.ctrl_min, &def.ctrl_max);
  set_range(a->force_limited, automatic, a->force_range, &def.force_min, &def.force_max);
  set_range(a->act_limited, automatic, a->act_range, &def.act_min, &def.act_max);
  TRIBO_TRY(tribo_mjcf_at(m, node));
  return tribo_mjcf_added(m, tribo_scene_add_actuator(m->scene, &def, NULL));
}

static TriboStatus read_actuator(Mjcf* m, const XmlNode* node) {
  static const char* const kinds[] = {"general", "motor", "position", "velocity", "intvelocity", "damper"};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  int known = 0;
  for (int i = 0; i < KINDS; ++i) {
    known |= strcmp(node->name, kinds[i]) == 0;
  }
  if (!known) {
    return leave_out(m, node, "is left out");
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
  if ((a.joint == NULL) == (a.tendon == NULL)) {
    return leave_out(m, node, "that drives neither a joint nor a tendon is left out");
  }
  const int joint = tribo_mjcf_find_joint(m, a.joint);
  if (a.joint != NULL && joint < 0) {
    return tribo_xml_fail(node, "there is no joint '%.60s'", a.joint);
  }
  if (a.joint != NULL && (m->joints[joint].type == MJ_FREE || m->joints[joint].type == MJ_BALL)) {
    return leave_out(m, node, "of a ball or free joint is left out");
  }
  if (a.tendon != NULL && !is_tendon(m, a.tendon)) {
    return leave_out(m, node, "of a tendon that is left out is left out");
  }
  if (a.dyntype > DYN_EXACT || a.gaintype > 1 || a.biastype > 1) {
    return leave_out(m, node, "with muscles or user functions is left out");
  }
  if (a.inherit > 0) {
    TRIBO_TRY(inherit_range(m, node, &a));
  }
  return m->option.actuation ? add_actuator(m, node, &a) : TRIBO_OK;
}

TriboStatus tribo_mjcf_actuators(Mjcf* m) {
  return each(m, "actuator", read_actuator);
}
