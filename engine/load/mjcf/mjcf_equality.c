// Equalities. Closures of a scene are shut at the start: those of a file that are not are left out.
#include <math.h>
#include <string.h>

#include "mjcf.h"

// Closures count as shut at the start within this. [m, and per unit length of an axis]
static const double SHUT = 1e-5;

typedef struct MjEquality {
  const char *name, *cls, *body1, *body2, *site1, *site2, *joint1, *joint2, *tendon1, *tendon2;
  int active;
  double anchor[3], relpose[7], polycoef[5], solref[2], solimp[5];
} MjEquality;

#define AT(field) offsetof(MjEquality, field)
static const MjAttr equality_attrs[] = {
    {"name", MJ_TEXT, AT(name), 1, 1, NULL},         {"class", MJ_TEXT, AT(cls), 1, 1, NULL},
    {"active", MJ_BOOL, AT(active), 1, 1, NULL},     {"body1", MJ_TEXT, AT(body1), 1, 1, NULL},
    {"body2", MJ_TEXT, AT(body2), 1, 1, NULL},       {"site1", MJ_TEXT, AT(site1), 1, 1, NULL},
    {"site2", MJ_TEXT, AT(site2), 1, 1, NULL},       {"joint1", MJ_TEXT, AT(joint1), 1, 1, NULL},
    {"joint2", MJ_TEXT, AT(joint2), 1, 1, NULL},     {"tendon1", MJ_TEXT, AT(tendon1), 1, 1, NULL},
    {"tendon2", MJ_TEXT, AT(tendon2), 1, 1, NULL},   {"anchor", MJ_REAL, AT(anchor), 3, 3, NULL},
    {"polycoef", MJ_REAL, AT(polycoef), 1, 5, NULL}, {"relpose", MJ_REAL, AT(relpose), 7, 7, NULL},
    {"solref", MJ_REAL, AT(solref), 1, 2, NULL},     {"solimp", MJ_REAL, AT(solimp), 1, 5, NULL},
    {"torquescale", MJ_VISUAL_ONLY, 0, 0, 0, NULL},  // turns against shifts: here each row has its own softness
};
#undef AT
static const MjElement equality_element = {"equality", equality_attrs, sizeof equality_attrs / sizeof *equality_attrs};

// ---- bodies

// One side of a weld or a connect: its body, and its frame in the world at the start.
typedef struct Side {
  int body;  // −1: not there
  TriboPose frame;
} Side;

static TriboStatus find_side(Mjcf* m, const XmlNode* node, const char* body, const char* site, Side* out) {
  out->body = 0;
  if (site != NULL) {
    const int at = tribo_mjcf_find_site(m, site);
    out->body = at >= 0 ? m->sites[at].body : -1;
    if (at >= 0) {
      out->frame = tribo_pose_mul(&m->bodys[out->body].start, &m->sites[at].pose);
      return TRIBO_OK;
    }
    return tribo_mjcf_missing(m, node, "site", site);
  }
  if (body != NULL) {
    out->body = tribo_mjcf_find_body(m, body);
  }
  if (out->body < 0) {
    return tribo_mjcf_missing(m, node, "body", body);
  }
  out->frame = m->bodys[out->body].start;
  return TRIBO_OK;
}

// Sites meet; a weld of bodies holds a pose that is given, or that of the start.
static int is_shut(const MjEquality* eq, int weld, const Side* a, const Side* b) {
  TriboPose wanted = a->frame;
  if (eq->site1 == NULL) {
    const double* q = eq->relpose + 3;
    double unit[4] = {q[1], q[2], q[3], q[0]};
    if (!weld || !(tribo_quat_normalize(unit) > 0)) {
      return 1;
    }
    const TriboPose between = tribo_pose(eq->relpose, unit);
    wanted = tribo_pose_mul(&a->frame, &between);
  }
  double away = 0;
  for (int i = 0; i < 3; ++i) {
    away = fmax(away, fabs(wanted.p[i] - b->frame.p[i]));
  }
  if (weld) {
    for (int i = 0; i < 9; ++i) {
      away = fmax(away, fabs(wanted.R[i] - b->frame.R[i]));
    }
  }
  return away <= SHUT;
}

// Weld and connect: of bodies, or of the sites of two bodies.
static TriboStatus tie_bodies(Mjcf* m, const XmlNode* node, const MjEquality* eq, TriboClosureDef* def) {
  Side sides[2];
  const int weld = strcmp(node->name, "weld") == 0;
  TRIBO_TRY(find_side(m, node, eq->body1, eq->site1, &sides[0]));
  TRIBO_TRY(find_side(m, node, eq->body2, eq->site2, &sides[1]));
  if (sides[0].body < 0 || sides[1].body < 0) {
    return TRIBO_OK;
  }
  const MjBody *a = &m->bodys[sides[0].body], *b = &m->bodys[sides[1].body];
  if (a->weld == b->weld) {
    return TRIBO_OK;  // they never move against each other
  }
  if (!is_shut(eq, weld, &sides[0], &sides[1])) {
    return tribo_mjcf_leave_out(m, node, "that is not shut at the start is left out");
  }
  def->kind = weld ? TRIBO_CLOSURE_WELD : TRIBO_CLOSURE_BALL;
  def->body_a = a->id == TRIBO_WORLD ? NULL : a->name;
  def->body_b = b->id == TRIBO_WORLD ? NULL : b->name;
  // bodies meet in the anchor, given in the first one
  double moved[3];
  tribo_copy3(def->anchor, sides[0].frame.p);
  if (eq->site1 == NULL && !weld) {
    tribo_mul33v(moved, sides[0].frame.R, eq->anchor);
    tribo_add3(def->anchor, def->anchor, moved);
  }
  return tribo_mjcf_added(m, tribo_scene_add_closure(m->scene, def, NULL));
}

// ---- joints

static TriboStatus find_single(Mjcf* m, const XmlNode* node, const char* name, int* out) {
  *out = tribo_mjcf_find_joint(m, name);
  if (*out < 0) {
    return tribo_mjcf_missing(m, node, "joint", name);
  }
  const int type = m->joints[*out].type;
  return type == MJ_HINGE || type == MJ_SLIDE
             ? TRIBO_OK
             : tribo_xml_fail(node, "joint '%.60s' is neither a hinge nor a slide", name);
}

// y − y0 = Σ a_k (x − x0)^k, of two joints; a fixed tendon of two joints that keeps its length is one, too.
static TriboStatus tie_joints(Mjcf* m, const XmlNode* node, const char* y, const char* x, const double a[5],
                              TriboClosureDef* def) {
  int one, two;
  TRIBO_TRY(find_single(m, node, y, &one));
  TRIBO_TRY(find_single(m, node, x, &two));
  if (one < 0 || two < 0) {
    return TRIBO_OK;
  }
  def->kind = TRIBO_CLOSURE_MIMIC;
  def->joint_a = x;
  def->joint_b = y;
  // the same polynomial of x itself: each step of Horner's scheme multiplies by (x − x0)
  double p[5] = {0};
  for (int k = 4; k >= 0; --k) {
    for (int i = 4; i >= 0; --i) {
      p[i] = (i > 0 ? p[i - 1] : 0) - m->joints[two].ref * p[i];
    }
    p[0] += a[k];
  }
  def->offset = m->joints[one].ref + p[0];
  def->ratio = p[1];
  tribo_copy3(def->curve, p + 2);
  return tribo_mjcf_added(m, tribo_scene_add_closure(m->scene, def, NULL));
}

// A joint that is tied to nothing stands still: its limits meet there.
static TriboStatus hold_joint(Mjcf* m, const XmlNode* node, const char* name, double a0) {
  int at;
  TRIBO_TRY(find_single(m, node, name, &at));
  const int id = at >= 0 ? tribo_names_find(&m->scene->joint_names, name) : -1;
  if (id >= 0) {
    m->scene->joints[id].lower = m->scene->joints[id].upper = m->joints[at].ref + a0;
  }
  return TRIBO_OK;
}

static TriboStatus tie_tendon(Mjcf* m, const XmlNode* node, const MjEquality* eq, TriboClosureDef* def) {
  for (int i = 0; i < m->ntendon; ++i) {
    const MjTendon* tendon = &m->tendons[i];
    if (tendon->name == NULL || eq->tendon1 == NULL || strcmp(tendon->name, eq->tendon1) != 0) {
      continue;
    }
    const XmlNode *a = tendon->node->children, *b = a != NULL ? a->next : NULL;
    if (eq->tendon2 != NULL || strcmp(tendon->node->name, "fixed") != 0 || b == NULL || b->next != NULL) {
      return tribo_mjcf_leave_out(m, node, "of other than one fixed tendon of two joints is left out");
    }
    double ca = 0, cb = 0;
    tribo_xml_numbers(tribo_xml_get(a, "coef"), &ca, 1);
    tribo_xml_numbers(tribo_xml_get(b, "coef"), &cb, 1);
    if (ca == 0 || cb == 0) {
      return tribo_mjcf_leave_out(m, node, "with a coefficient 0 is left out");
    }
    // ca (y − y0) + cb (x − x0) = a0
    const double straight[5] = {eq->polycoef[0] / ca, -cb / ca};
    return tie_joints(m, node, tribo_xml_get(a, "joint"), tribo_xml_get(b, "joint"), straight, def);
  }
  return tribo_mjcf_missing(m, node, "tendon", eq->tendon1);
}

// An equality constraint, by its kind.
static TriboStatus read_equality(Mjcf* m, const XmlNode* node) {
  const int bodies = strcmp(node->name, "weld") == 0 || strcmp(node->name, "connect") == 0;
  const int joint = strcmp(node->name, "joint") == 0, tendon = strcmp(node->name, "tendon") == 0;
  if (!bodies && !joint && !tendon) {
    return tribo_mjcf_leave_out(m, node, "is left out");
  }
  MjEquality eq = {.active = 1, .polycoef = {0, 1}, .solref = {0.02, 1}, .solimp = TRIBO_SOLIMP};
  TRIBO_TRY(tribo_mjcf_read(m, node, "equality", NULL, &equality_element, &eq));
  if (!eq.active || !m->option.constraint || !m->option.equality) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_mjcf_at(m, node));
  TriboClosureDef def = tribo_closure_default();
  def.name = eq.name;
  tribo_mjcf_softness(eq.solref, eq.solimp, def.solref, def.solimp);
  if (bodies) {
    return tie_bodies(m, node, &eq, &def);
  }
  const int bent = eq.polycoef[2] != 0 || eq.polycoef[3] != 0 || eq.polycoef[4] != 0;
  if (joint && (eq.joint2 == NULL || (eq.polycoef[1] == 0 && !bent))) {
    return hold_joint(m, node, eq.joint1, eq.polycoef[0]);
  }
  if (bent && tendon) {
    return tribo_mjcf_leave_out(m, node, "of higher order is left out");
  }
  return tendon ? tie_tendon(m, node, &eq, &def) : tie_joints(m, node, eq.joint1, eq.joint2, eq.polycoef, &def);
}

TriboStatus tribo_mjcf_equalities(Mjcf* m) {
  return tribo_mjcf_each(m, "equality", read_equality);
}
