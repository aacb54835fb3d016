// Who collides with whom, and how.
//
// MuJoCo lets two geoms collide when contype of one and conaffinity of the other share a bit, in either direction; here
// both directions must agree. So every combination of the two becomes a group of its own, whose mask names all groups
// it collides with: the relation is symmetric, and both rules say the same. A geom of a <pair> gets a group of its own,
// and so do the geoms of two bodies of an <exclude> one of which is part of the world.
// Friction of two geoms is that of the higher priority, or the larger one; so each combination is a material, and each
// two of these are a pair.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mjcf.h"

enum { CLASSES_MAX = 31 };

static const MjAttr pair_attrs[] = {
    {"name", MJ_VISUAL_ONLY, 0, 0, 0, NULL},
    {"class", MJ_VISUAL_ONLY, 0, 0, 0, NULL},
    {"geom1", MJ_TEXT, offsetof(MjPair, geom1), 1, 1, NULL},
    {"geom2", MJ_TEXT, offsetof(MjPair, geom2), 1, 1, NULL},
    {"condim", MJ_INT, offsetof(MjPair, condim), 1, 1, NULL},
    {"friction", MJ_REAL, offsetof(MjPair, friction), 1, 5, NULL},
    {"solref", MJ_REAL, offsetof(MjPair, solref), 1, 2, NULL},
    {"solimp", MJ_REAL, offsetof(MjPair, solimp), 1, 5, NULL},
    {"solreffriction", MJ_WARN, 0, 0, 0, NULL},
    {"margin", MJ_REAL, offsetof(MjPair, margin), 1, 1, NULL},
    {"gap", MJ_VISUAL_ONLY, 0, 0, 0, NULL},  // from where on contacts are listed, without a force
    {"adhesion", MJ_WARN, 0, 0, 0, NULL},
};
static const MjElement pair_element = {"pair", pair_attrs, sizeof pair_attrs / sizeof *pair_attrs};

// ---- groups

// Whether two bodies, one of them a part of the world, never collide.
static int kept_apart(const Mjcf* m, int a, int b) {
  for (int i = 0; i < m->napart; ++i) {
    const MjApart* two = &m->aparts[i];
    if ((two->a == a && two->b == b) || (two->a == b && two->b == a)) {
      return 1;
    }
  }
  return 0;
}

// The body whose geoms are a group of their own, 0: none.
static int party(const Mjcf* m, int body) {
  for (int i = 0; i < m->napart; ++i) {
    if (m->aparts[i].a == body || m->aparts[i].b == body) {
      return body + 1;
    }
  }
  return 0;
}

// MuJoCo\'s test of contype and conaffinity.
static int bits_match(const MjGeom* a, const MjGeom* b) {
  return (a->contype & b->conaffinity) != 0 || (b->contype & a->conaffinity) != 0;
}

int tribo_mjcf_collide(const Mjcf* m, const MjGeom* a, const MjGeom* b) {
  if (bits_match(a, b) && !kept_apart(m, a->body, b->body)) {
    return 1;
  }
  for (int i = 0; i < m->npair; ++i) {
    const MjGeom *one = &m->geoms[m->pairs[i].a], *two = &m->geoms[m->pairs[i].b];
    if ((one == a && two == b) || (one == b && two == a)) {
      return 1;
    }
  }
  return 0;
}

static TriboStatus read_exclude(Mjcf* m, const XmlNode* node, int bodies[2]) {
  const char* names[2] = {tribo_xml_get(node, "body1"), tribo_xml_get(node, "body2")};
  bodies[0] = tribo_mjcf_find_body(m, names[0]);
  bodies[1] = tribo_mjcf_find_body(m, names[1]);
  const int lost = bodies[0] < 0 ? 0 : 1;
  return bodies[lost] < 0 ? tribo_mjcf_missing(m, node, "body", names[lost]) : TRIBO_OK;
}

// A <pair>: its two geoms and what it overrides.
static TriboStatus read_pair(Mjcf* m, const XmlNode* node) {
  if (strcmp(node->name, "exclude") == 0) {
    // those of two bodies that move are for the scene
    int bodies[2];
    TRIBO_TRY(read_exclude(m, node, bodies));
    if (bodies[0] >= 0 && bodies[1] >= 0 && (m->bodys[bodies[0]].weld == 0) != (m->bodys[bodies[1]].weld == 0)) {
      TRIBO_TRY(MJ_GROW(m, apart));
      m->aparts[m->napart++] = (MjApart){bodies[0], bodies[1]};
    }
    return TRIBO_OK;
  }
  if (strcmp(node->name, "pair") != 0) {
    return tribo_xml_fail(node, "<%.40s> has no place in <contact>", node->name);
  }
  TRIBO_TRY(MJ_GROW(m, pair));
  MjPair* pair = &m->pairs[m->npair];
  *pair =
      (MjPair){.condim = -1, .friction = {NAN, NAN, NAN, NAN, NAN}, .solref = {NAN}, .solimp = {NAN}, .margin = NAN};
  TRIBO_TRY(tribo_mjcf_read(m, node, "pair", NULL, &pair_element, pair));
  pair->a = tribo_mjcf_find_geom(m, pair->geom1);
  pair->b = tribo_mjcf_find_geom(m, pair->geom2);
  if (pair->a < 0 || pair->b < 0) {
    return tribo_mjcf_missing(m, node, "geom", pair->a < 0 ? pair->geom1 : pair->geom2);
  }
  m->npair++;
  if (!isnan(pair->margin) && pair->margin != m->geoms[pair->a].margin + m->geoms[pair->b].margin) {
    return tribo_mjcf_warn(m, node, "margin of a <pair>", "is not honoured: those of its geoms count");
  }
  return TRIBO_OK;
}

static int in_pair(const Mjcf* m, int geom) {
  for (int i = 0; i < m->npair; ++i) {
    if (m->pairs[i].a == geom || m->pairs[i].b == geom) {
      return 1;
    }
  }
  return 0;
}

// Gives geoms of the same contype, conaffinity and party the same collision class.
static TriboStatus find_classes(Mjcf* m) {
  int count = 0;
  const int off = !m->option.contact || !m->option.constraint;
  for (int i = 0; i < m->ngeom; ++i) {
    MjGeom* geom = &m->geoms[i];
    const int own = in_pair(m, i);
    geom->collision_class = -1;
    if (off || (geom->contype == 0 && geom->conaffinity == 0 && !own)) {
      continue;
    }
    if (!own) {
      for (int k = 0; k < i; ++k) {
        const MjGeom* other = &m->geoms[k];
        if (other->collision_class >= 0 && other->contype == geom->contype && other->conaffinity == geom->conaffinity &&
            !in_pair(m, k) && party(m, other->body) == party(m, geom->body)) {
          geom->collision_class = other->collision_class;
          break;
        }
      }
    }
    if (geom->collision_class < 0) {
      if (count == CLASSES_MAX) {
        return tribo_xml_fail(geom->node, "geom '%s': more than %d different combinations of contype and conaffinity",
                              geom->name, CLASSES_MAX);
      }
      geom->collision_class = count++;
    }
  }
  return TRIBO_OK;
}

// ---- materials

static TriboMaterialDef law(int condim, const double friction[3]) {
  TriboMaterialDef def = tribo_material_default();
  def.friction = condim >= 3 ? friction[0] : 0;
  def.torsion = condim >= 4 ? friction[1] : 0;
  def.rolling = condim >= 6 ? friction[2] : 0;
  return def;
}

static int same_material(const MjGeom* a, const MjGeom* b) {
  return a->condim == b->condim && a->priority == b->priority && tribo_equal(a->friction, b->friction, 3) &&
         a->solmix == b->solmix && tribo_equal(a->solref, b->solref, 2) && tribo_equal(a->solimp, b->solimp, 5);
}

// A softness the file asks for is taken; MuJoCo's default, which it need not write, is how MuJoCo solves rigid contact.
static int is_soft(const MjGeom* geom) {
  const MjGeom standard = tribo_mjcf_geom_default();
  return !tribo_equal(geom->solref, standard.solref, 2) || !tribo_equal(geom->solimp, standard.solimp, 5);
}

// softness of a pair: the mean with the geoms' weights, the smaller of stiffnesses given directly
static void mix_softness(const MjGeom* a, const MjGeom* b, TriboMaterialDef* def) {
  if (!is_soft(a) && !is_soft(b)) {
    return;
  }
  const double sum = a->solmix + b->solmix, w = sum > 0 ? a->solmix / sum : 0.5;
  const int direct = a->solref[0] <= 0 || b->solref[0] <= 0;
  for (int i = 0; i < 5; ++i) {
    def->solimp[i] =
        tribo_clamp(w * a->solimp[i] + (1 - w) * b->solimp[i], i < 2 ? 1e-4 : 0, i < 2 ? 0.9999 : INFINITY);
    if (i < 2) {
      def->solref[i] = direct ? fmin(a->solref[i], b->solref[i]) : w * a->solref[i] + (1 - w) * b->solref[i];
    }
  }
}

static TriboMaterialDef mix(const MjGeom* a, const MjGeom* b) {
  if (a->priority != b->priority) {
    const MjGeom* first = a->priority > b->priority ? a : b;
    TriboMaterialDef def = law(first->condim, first->friction);
    mix_softness(first, first, &def);
    return def;
  }
  double friction[3];
  for (int i = 0; i < 3; ++i) {
    friction[i] = fmax(a->friction[i], b->friction[i]);
  }
  TriboMaterialDef def = law(a->condim > b->condim ? a->condim : b->condim, friction);
  mix_softness(a, b, &def);
  return def;
}

static TriboStatus check_geom(const MjGeom* geom) {
  if (geom->condim != 1 && geom->condim != 3 && geom->condim != 4 && geom->condim != 6) {
    return tribo_xml_fail(geom->node, "geom '%s': condim = %d; accepted are 1, 3, 4, 6", geom->name, geom->condim);
  }
  for (int i = 0; i < 3; ++i) {
    if (!(geom->friction[i] >= 0)) {
      return tribo_xml_fail(geom->node, "geom '%s': friction = %g must be ≥ 0", geom->name, geom->friction[i]);
    }
  }
  if (!(geom->margin >= 0)) {
    return tribo_xml_fail(geom->node, "geom '%s': margin = %g must be ≥ 0", geom->name, geom->margin);
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_contacts(Mjcf* m) {
  TRIBO_TRY(tribo_mjcf_each(m, "contact", read_pair));
  TRIBO_TRY(find_classes(m));
  // one geom stands for each material
  int* first = tribo_pool_alloc(&m->pool, (size_t)m->ngeom, sizeof *first);
  int count = 0;
  if (first == NULL) {
    return tribo_no_memory("to read the model");
  }
  for (int i = 0; i < m->ngeom; ++i) {
    MjGeom* geom = &m->geoms[i];
    if (geom->collision_class < 0) {
      continue;
    }
    TRIBO_TRY(check_geom(geom));
    geom->material_id = -1;
    if (!in_pair(m, i)) {
      for (int k = 0; k < count && geom->material_id < 0; ++k) {
        geom->material_id = same_material(geom, &m->geoms[first[k]]) && !in_pair(m, first[k]) ? k : -1;
      }
    }
    if (geom->material_id < 0) {
      char name[32];
      TriboMaterialDef def = law(geom->condim, geom->friction);
      mix_softness(geom, geom, &def);
      snprintf(name, sizeof name, "contact%d", count);
      def.name = name;
      TRIBO_TRY(tribo_mjcf_at(m, geom->node));
      TRIBO_TRY(tribo_mjcf_added(m, tribo_scene_add_material(m->scene, &def, NULL)));
      geom->material_id = count;
      first[count++] = i;
    }
  }
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < a; ++b) {
      char names[2][32];
      snprintf(names[0], sizeof names[0], "contact%d", a);
      snprintf(names[1], sizeof names[1], "contact%d", b);
      TriboMaterialDef def = mix(&m->geoms[first[a]], &m->geoms[first[b]]);
      for (int i = 0; i < m->npair; ++i) {
        const MjPair* pair = &m->pairs[i];
        if ((pair->a == first[a] && pair->b == first[b]) || (pair->a == first[b] && pair->b == first[a])) {
          // sliding 1, sliding 2, torsion, rolling 1, rolling 2
          const double usual[3] = {1, 0.005, 0.0001}, *f = pair->friction;
          const double friction[3] = {isnan(f[0]) ? usual[0] : f[0], isnan(f[2]) ? usual[1] : f[2],
                                      isnan(f[3]) ? usual[2] : f[3]};
          def = law(pair->condim < 0 ? 3 : pair->condim, friction);
          // a pair's softness is its own
          MjGeom own = tribo_mjcf_geom_default();
          for (int j = 0; j < 5; ++j) {
            own.solref[j % 2] = isnan(pair->solref[0]) ? own.solref[j % 2] : pair->solref[j % 2];
            own.solimp[j] = isnan(pair->solimp[0]) ? own.solimp[j] : pair->solimp[j];
          }
          mix_softness(&own, &own, &def);
        }
      }
      TRIBO_TRY(tribo_mjcf_added(m, tribo_scene_add_pair(m->scene, names[0], names[1], &def)));
    }
  }
  return TRIBO_OK;
}

// ---- what never collides

static TriboStatus exclude(Mjcf* m, const XmlNode* node) {
  int bodies[2] = {0, 0};
  if (strcmp(node->name, "exclude") == 0) {
    TRIBO_TRY(read_exclude(m, node, bodies));
  }
  if (bodies[0] < 0 || bodies[1] < 0 || bodies[0] == bodies[1] || m->bodys[bodies[0]].weld == 0 ||
      m->bodys[bodies[1]].weld == 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_mjcf_at(m, node));
  return tribo_mjcf_added(m, tribo_scene_exclude(m->scene, m->bodys[bodies[0]].name, m->bodys[bodies[1]].name));
}

// Bodies and their parents never collide. The scene does that for neighbours in a chain; between a body of several
// joints and its parent stand the bodies that are there for the joints only.
static TriboStatus exclude_parents(Mjcf* m) {
  for (int i = 1; i < m->nbody; ++i) {
    const MjBody* own = &m->bodys[m->bodys[i].weld];
    if (m->bodys[i].weld == 0 || own->njoint < 2) {
      continue;
    }
    const int above = m->bodys[own->parent].weld;
    if (above > 0) {
      for (int k = 1; k < m->nbody; ++k) {
        if (m->bodys[k].weld == above) {
          TRIBO_TRY(tribo_mjcf_at(m, m->bodys[i].node));
          TRIBO_TRY(tribo_mjcf_added(m, tribo_scene_exclude(m->scene, m->bodys[i].name, m->bodys[k].name)));
        }
      }
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_filter(Mjcf* m) {
  if (!m->option.filter_parent) {
    TRIBO_TRY(tribo_mjcf_warn(m, m->root, "flag filterparent=\"disable\"", "is not honoured"));
  }
  TRIBO_TRY(exclude_parents(m));
  return tribo_mjcf_each(m, "contact", exclude);
}
