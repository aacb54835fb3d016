// Making a field: checks of its def, the tree of nodes, bounds, and how far its φ may be trusted.
#include "sdf_field.h"

#include "memory.h"
#include "shape.h"
#include "status.h"

enum { MOST_NODES = 256, MOST_DEPTH = 16, MOST_POINTS = 256, MOST_TURNS = 1000, CONTACTS = 64, THREAD_CONTACTS = 128 };

// A thread's contacts are made this part of its pitch ahead: a larger margin would take both of its flanks.
static const double THREAD_MARGIN = 0.01;

static const char* const words[TRIBO_SDF_COUNT] = {"sphere",    "box",          "capsule",  "cylinder", "cone",
                                                   "ellipsoid", "plane",        "prism",    "thread",   "revolved",
                                                   "union",     "intersection", "subtract", "offset"};

const char* tribo_col_sdf_name(TriboSdfKind kind) {
  return (unsigned)kind < TRIBO_SDF_COUNT ? words[kind] : "unknown field";
}

// How many numbers of size[] a kind uses.
static int size_count(int kind) {
  static const int counts[TRIBO_SDF_COUNT] = {1, 3, 2, 2, 2, 3, 0, 2, 2, 0, 0, 0, 0, 0};
  return counts[kind];
}

static int has_parts(int kind) {
  return kind == TRIBO_SDF_UNION || kind == TRIBO_SDF_INTERSECTION || kind == TRIBO_SDF_SUBTRACT ||
         kind == TRIBO_SDF_OFFSET;
}

// ---- checks

static TriboStatus check_number(const char* word, const char* key, double x, double lo, double hi) {
  return x >= lo && x <= hi ? TRIBO_OK
                            : tribo_fail(TRIBO_INVALID, "%s: %s = %g m must be within %g … %g m", word, key, x, lo, hi);
}

// A profile that fits between the turns, turns that fit on the length.
static TriboStatus check_thread(const TriboSdfDef* def) {
  const double depth = 0.625 * 0.5 * sqrt(3) * def->pitch, lead = def->starts * def->pitch;
  TRIBO_TRY(check_number("thread", "pitch", def->pitch, 1e-6, 1e3));
  TRIBO_TRY(check_number("thread", "clearance", def->clearance, 0, 0.25 * def->pitch));
  if (def->starts < 1 || def->starts > 8) {
    return tribo_fail(TRIBO_INVALID, "thread: starts = %d must be within 1 … 8", def->starts);
  }
  if (lead > def->size[1]) {
    return tribo_fail(TRIBO_INVALID, "thread: a turn leads by %g m, more than its length = %g m", lead, def->size[1]);
  }
  if (def->size[1] > MOST_TURNS * def->pitch) {
    return tribo_fail(TRIBO_INVALID, "thread: its length = %g m is more than %d times its pitch = %g m", def->size[1],
                      MOST_TURNS, def->pitch);
  }
  // (a profile that reaches the axis is no thread, and one that climbs steeper than 45° has no section like that)
  if (!(0.5 * def->size[0] - depth > 0.2 * lead)) {
    return tribo_fail(TRIBO_INVALID,
                      "thread: diameter = %g m is too small for a pitch of %g m, whose profile is %g m deep",
                      def->size[0], def->pitch, depth);
  }
  if (def->across != 0 && !(def->across > def->size[0] + 2 * def->clearance && def->across <= 1e6)) {
    return tribo_fail(TRIBO_INVALID, "thread: across = %g m must be above the diameter of the hole, %g m", def->across,
                      def->size[0] + 2 * def->clearance);
  }
  return TRIBO_OK;
}

static TriboStatus check_revolved(const TriboSdfDef* def) {
  TRIBO_TRY(check_number("revolved", "pad", def->pad, 1e-6, 1e3));
  if (def->nprofile < 2 || def->nprofile > MOST_POINTS || def->profile == NULL) {
    return tribo_fail(TRIBO_INVALID, "revolved: its polyline has %d points, it must be 2 … %d", def->nprofile,
                      MOST_POINTS);
  }
  for (int i = 0; i < def->nprofile; ++i) {
    const double* p = def->profile + 2 * i;
    if (!(p[0] >= 0 && p[0] <= 1e6 && fabs(p[1]) <= 1e6)) {
      return tribo_fail(TRIBO_INVALID, "revolved: point %d is (%g, %g) m; r must be within 0 … 1e6 m, z within ±1e6 m",
                        i + 1, p[0], p[1]);
    }
    if (i > 0 && hypot(p[0] - p[-2], p[1] - p[-1]) < 1e-9) {
      return tribo_fail(TRIBO_INVALID, "revolved: points %d and %d are the same", i, i + 1);
    }
  }
  return TRIBO_OK;
}

static TriboStatus check_round(const TriboSdfDef* def) {
  const double* s = def->size;
  double least = INFINITY;
  switch (def->kind) {
    case TRIBO_SDF_BOX: least = 0.5 * fmin(s[0], fmin(s[1], s[2])); break;
    case TRIBO_SDF_CYLINDER: least = fmin(s[0], 0.5 * s[1]); break;
    case TRIBO_SDF_PRISM: least = 0.5 * fmin(s[0], s[1]); break;
    default:
      return def->round == 0 ? TRIBO_OK : tribo_fail(TRIBO_INVALID, "%s: has no edges to round", words[def->kind]);
  }
  return def->round >= 0 && def->round < least
             ? TRIBO_OK
             : tribo_fail(TRIBO_INVALID, "%s: round = %g m must be at least 0 and below %g m, half its least size",
                          words[def->kind], def->round, least);
}

// Checks the numbers of one node.
static TriboStatus check_node(const TriboSdfDef* def) {
  if (def == NULL || (unsigned)def->kind >= TRIBO_SDF_COUNT) {
    return tribo_fail(TRIBO_INVALID, "field: kind = %d is none of 0 … %d", def != NULL ? (int)def->kind : -1,
                      TRIBO_SDF_COUNT - 1);
  }
  for (int i = 0; i < size_count(def->kind); ++i) {
    if (!(def->size[i] >= 1e-6 && def->size[i] <= 1e6)) {
      return tribo_fail(TRIBO_INVALID, "%s: size %d is %g m, it must be within 1e-6 … 1e6 m", words[def->kind], i + 1,
                        def->size[i]);
    }
  }
  const double* q = def->quaternion;
  if (!tribo_finite(def->position, 3) || !tribo_finite(q, 4) ||
      !(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-12)) {
    return tribo_fail(TRIBO_INVALID, "%s: its position is not finite, or its quaternion 0", words[def->kind]);
  }
  TRIBO_TRY(check_round(def));
  switch (def->kind) {
    case TRIBO_SDF_THREAD: return check_thread(def);
    case TRIBO_SDF_REVOLVED: return check_revolved(def);
    case TRIBO_SDF_PRISM:
      return def->sides >= 3 && def->sides <= 64
                 ? TRIBO_OK
                 : tribo_fail(TRIBO_INVALID, "prism: sides = %d must be within 3 … 64", def->sides);
    case TRIBO_SDF_OFFSET: return check_number("offset", "by", def->by, -1e3, 1e3);
    default: return TRIBO_OK;
  }
}

// Checks a tree and counts its nodes.
static TriboStatus check_tree(const TriboSdfDef* def, int depth, int* count) {
  TRIBO_TRY(check_node(def));
  *count += def->kind == TRIBO_SDF_THREAD && def->across > 0 ? 3 : 1;
  if (depth > MOST_DEPTH || *count > MOST_NODES) {
    return tribo_fail(TRIBO_INVALID, "%s: a field has more than %d nodes, or is deeper than %d", words[def->kind],
                      MOST_NODES, MOST_DEPTH);
  }
  if (!has_parts(def->kind)) {
    return TRIBO_OK;
  }
  const int least = def->kind == TRIBO_SDF_OFFSET ? 1 : 2, most = def->kind == TRIBO_SDF_OFFSET ? 1 : MOST_NODES;
  if (def->npart < least || def->npart > most || def->parts == NULL) {
    return tribo_fail(TRIBO_INVALID, "%s: it has %d parts, it must be %d … %d", words[def->kind], def->npart, least,
                      most);
  }
  for (int i = 0; i < def->npart; ++i) {
    TRIBO_TRY(check_tree(def->parts + i, depth + 1, count));
  }
  return TRIBO_OK;
}

// ---- nodes

// The box of a node's pose in the frame above it.
static void posed_bounds(const SdfNode* n, double low[3], double high[3]) {
  double centre[3], half[3], at[3];
  for (int k = 0; k < 3; ++k) {
    if (!isfinite(n->low[k]) || !isfinite(n->high[k])) {
      tribo_set3(low, -INFINITY, -INFINITY, -INFINITY);
      tribo_set3(high, INFINITY, INFINITY, INFINITY);
      return;
    }
    centre[k] = 0.5 * (n->low[k] + n->high[k]);
    half[k] = 0.5 * (n->high[k] - n->low[k]);
  }
  tribo_mul33v(at, n->pose.R, centre);
  for (int i = 0; i < 3; ++i) {
    const double* row = n->pose.R + 3 * i;
    const double reach = fabs(row[0]) * half[0] + fabs(row[1]) * half[1] + fabs(row[2]) * half[2];
    low[i] = n->pose.p[i] + at[i] - reach;
    high[i] = n->pose.p[i] + at[i] + reach;
  }
}

static void set_bounds(SdfNode* n, double x, double y, double z) {
  tribo_set3(n->high, x, y, z);
  tribo_set3(n->low, -x, -y, -z);
}

// The bounds of a leaf in its own frame.
static void bound_leaf(SdfNode* n) {
  const double r = n->radius, h = n->half[2];
  switch (n->kind) {
    case TRIBO_SDF_SPHERE: set_bounds(n, r, r, r); break;
    case TRIBO_SDF_CAPSULE: set_bounds(n, r, r, h + r); break;
    case TRIBO_SDF_CYLINDER:
    case TRIBO_SDF_CONE: set_bounds(n, r, r, h); break;
    case TRIBO_SDF_PRISM: {
      const double corner = r / cos(3.14159265358979323846 / n->sides);
      set_bounds(n, corner, corner, h);
      break;
    }
    case TRIBO_SDF_THREAD: {
      const double out = n->thread.crest + n->thread.grow;
      set_bounds(n, out, out, n->thread.half);
      break;
    }
    case TRIBO_SDF_REVOLVED: {
      double out = 0, low = INFINITY, high = -INFINITY;
      for (int i = 0; i < n->nprofile; ++i) {
        out = fmax(out, n->profile[2 * i]);
        low = fmin(low, n->profile[2 * i + 1]);
        high = fmax(high, n->profile[2 * i + 1]);
      }
      set_bounds(n, out + n->pad, out + n->pad, 0);
      n->low[2] = low - n->pad, n->high[2] = high + n->pad;
      break;
    }
    case TRIBO_SDF_PLANE: set_bounds(n, INFINITY, INFINITY, INFINITY); break;
    case TRIBO_SDF_HULL:
      tribo_sub3(n->low, n->hull->centre, n->hull->half);
      tribo_add3(n->high, n->hull->centre, n->hull->half);
      break;
    default: set_bounds(n, n->half[0], n->half[1], n->half[2]); break;
  }
}

// The bounds of a node with parts, and whether its φ is the distance outside and inside.
static void bound_tree(const TriboSdf* sdf, SdfNode* n) {
  n->is_outside = n->is_inside = 1;
  for (int i = 0; i < n->count; ++i) {
    const SdfNode* part = sdf->nodes + n->first + i;
    double low[3], high[3];
    posed_bounds(part, low, high);
    const int removes = n->kind == TRIBO_SDF_SUBTRACT && i > 0;
    for (int k = 0; k < 3; ++k) {
      if (i == 0) {
        n->low[k] = low[k], n->high[k] = high[k];
      } else if (n->kind == TRIBO_SDF_UNION) {
        n->low[k] = fmin(n->low[k], low[k]), n->high[k] = fmax(n->high[k], high[k]);
      } else if (n->kind == TRIBO_SDF_INTERSECTION) {
        n->low[k] = fmax(n->low[k], low[k]), n->high[k] = fmin(n->high[k], high[k]);
      }
    }
    n->is_outside &= removes ? part->is_inside : part->is_outside;
    n->is_inside &= removes ? part->is_outside : part->is_inside;
  }
  // min of distances is one outside, max of distances inside, and what grows is rounded
  n->is_inside &= n->kind != TRIBO_SDF_UNION && !(n->kind == TRIBO_SDF_OFFSET && n->by > 0);
  n->is_outside &= n->kind == TRIBO_SDF_UNION || (n->kind == TRIBO_SDF_OFFSET && n->by >= 0);
  const double by = n->kind == TRIBO_SDF_OFFSET ? n->by : 0;
  for (int k = 0; k < 3; ++k) {
    n->low[k] -= by, n->high[k] += by;
  }
}

static TriboStatus fill_node(TriboSdf* sdf, int index, const TriboSdfDef* def);

static TriboStatus fill_parts(TriboSdf* sdf, int index, const TriboSdfDef* parts, int count) {
  SdfNode* n = sdf->nodes + index;
  n->first = sdf->nnode;
  n->count = count;
  sdf->nnode += count;
  for (int i = 0; i < count; ++i) {
    TRIBO_TRY(fill_node(sdf, n->first + i, parts + i));
  }
  bound_tree(sdf, n);
  if (n->kind == TRIBO_SDF_OFFSET) {
    const SdfNode* part = sdf->nodes + n->first;
    if (n->by >= 0 ? !part->is_outside : !part->is_inside) {
      return tribo_fail(TRIBO_INVALID, "offset: φ of its part (%s) is only a bound %s, so that it cannot be moved",
                        words[part->kind], n->by >= 0 ? "outside" : "inside");
    }
  }
  return TRIBO_OK;
}

static TriboStatus make_profile(SdfNode* n, int count) {
  n->profile = tribo_alloc((size_t)count, 3 * sizeof *n->profile);
  n->scale = n->profile != NULL ? n->profile + 2 * count : NULL;
  n->nprofile = count;
  return n->profile != NULL ? TRIBO_OK : tribo_no_memory("for a profile of %d points", count);
}

static TriboStatus fill_prism(SdfNode* n, const TriboSdfDef* def) {
  const double part = 2 * 3.14159265358979323846 / def->sides;
  TRIBO_TRY(make_profile(n, def->sides));
  n->radius = 0.5 * def->size[0];
  n->half[0] = (n->radius - n->round) * tan(0.5 * part);
  n->half[2] = 0.5 * def->size[1];
  for (int i = 0; i < def->sides; ++i) {
    n->profile[2 * i] = cos(i * part);
    n->profile[2 * i + 1] = sin(i * part);
  }
  return TRIBO_OK;
}

// A node's numbers, and its parts. (A nut is a prism without the thread.)
static TriboStatus fill_node(TriboSdf* sdf, int index, const TriboSdfDef* def) {
  static const double unturned[4] = {0, 0, 0, 1};
  SdfNode* n = sdf->nodes + index;
  double q[4];
  memcpy(q, def->quaternion, sizeof q);
  tribo_quat_normalize(q);
  n->kind = (int)def->kind;
  n->pose = tribo_pose(def->position, q);
  n->is_posed = tribo_dot3(def->position, def->position) > 0 || !tribo_equal(q, unturned, 4);
  n->round = def->round;
  n->by = def->by;
  n->sides = def->sides;
  if (def->kind == TRIBO_SDF_THREAD && def->across > 0) {
    TriboSdfDef parts[2] = {*def, *def};
    parts[0] = (TriboSdfDef){
        .kind = TRIBO_SDF_PRISM, .size = {def->across, def->size[1]}, .sides = 6, .quaternion = {0, 0, 0, 1}};
    tribo_set3(parts[1].position, 0, 0, 0);
    memcpy(parts[1].quaternion, unturned, sizeof unturned);
    n->kind = TRIBO_SDF_SUBTRACT;
    n->first = sdf->nnode;
    n->count = 2;
    sdf->nnode += 2;
    TRIBO_TRY(fill_node(sdf, n->first, parts));
    SdfNode* hole = sdf->nodes + n->first + 1;
    *hole = (SdfNode){.kind = TRIBO_SDF_THREAD, .pose = tribo_pose_identity(), .thread = tribo_col_sdf_thread_of(def)};
    bound_leaf(hole);
    bound_tree(sdf, n);
    return TRIBO_OK;
  }
  if (has_parts(n->kind)) {
    return fill_parts(sdf, index, def->parts, def->npart);
  }
  n->is_outside = n->is_inside = n->kind != TRIBO_SDF_THREAD;
  n->radius = def->size[0];
  switch (n->kind) {
    case TRIBO_SDF_BOX: tribo_scale3(n->half, 0.5, def->size); break;
    case TRIBO_SDF_ELLIPSOID: tribo_copy3(n->half, def->size); break;
    case TRIBO_SDF_PRISM: TRIBO_TRY(fill_prism(n, def)); break;
    case TRIBO_SDF_THREAD: n->thread = tribo_col_sdf_thread_of(def); break;
    case TRIBO_SDF_REVOLVED:
      n->pad = def->pad;
      TRIBO_TRY(make_profile(n, def->nprofile));
      memcpy(n->profile, def->profile, (size_t)def->nprofile * 2 * sizeof *n->profile);
      for (int i = 0; i + 1 < n->nprofile; ++i) {
        const double* a = n->profile + 2 * i;
        n->scale[i] = 1 / ((a[2] - a[0]) * (a[2] - a[0]) + (a[3] - a[1]) * (a[3] - a[1]));
      }
      break;
    default: n->half[2] = 0.5 * def->size[1]; break;
  }
  bound_leaf(n);
  return TRIBO_OK;
}

// ---- the field

// |∇φ| ≤ 1 for all leaves but threads. Of those φ = δ/N: δ changes by 1 in the section, which the lead leans by l/r,
// and N by the turn of its normal. Measured on random pairs of points the quotient stays below 1 + l/r at the core.
static double lipschitz(const TriboSdf* sdf) {
  double lip = 1;
  for (int i = 0; i < sdf->nnode; ++i) {
    const SdfThread* t = &sdf->nodes[i].thread;
    if (sdf->nodes[i].kind == TRIBO_SDF_THREAD) {
      lip = fmax(lip, 1 + fabs(t->lead) / (0.5 * t->root));
    }
  }
  return lip;
}

static TriboStatus finish(TriboSdf* sdf) {
  const SdfNode* root = sdf->nodes;
  double far[3];
  posed_bounds(root, sdf->low, sdf->high);
  for (int k = 0; k < 3; ++k) {
    if (!isfinite(sdf->low[k]) || !isfinite(sdf->high[k]) || !(sdf->high[k] > sdf->low[k])) {
      return tribo_fail(TRIBO_INVALID, "%s: %s", words[root->kind],
                        sdf->high[k] < sdf->low[k] ? "its parts have nothing in common"
                                                   : "it has no end: a plane is a part of something");
    }
    sdf->centre[k] = 0.5 * (sdf->low[k] + sdf->high[k]);
    sdf->half[k] = 0.5 * (sdf->high[k] - sdf->low[k]);
    far[k] = fmax(fabs(sdf->low[k]), fabs(sdf->high[k]));
    sdf->size = fmax(sdf->size, sdf->high[k] - sdf->low[k]);
  }
  sdf->reach = tribo_norm3(far);
  sdf->lip = lipschitz(sdf);
  TRIBO_TRY(tribo_col_sdf_fill_cloud(sdf));
  return tribo_col_sdf_fill_balls(sdf);
}

TriboStatus tribo_col_sdf_check(const TriboSdfDef* def) {
  int count = 0;
  return check_tree(def, 0, &count);
}

// A margin of its own: threads have one, by the finest of them.
static double own_margin(const TriboSdf* sdf) {
  double margin = INFINITY;
  for (int i = 0; i < sdf->nnode; ++i) {
    margin = sdf->nodes[i].kind == TRIBO_SDF_THREAD ? fmin(margin, THREAD_MARGIN * sdf->nodes[i].thread.pitch) : margin;
  }
  return margin;
}

static TriboSdf* new_field(int count) {
  TriboSdf* sdf = tribo_alloc(1, sizeof *sdf);
  if (sdf != NULL) {
    sdf->nodes = tribo_alloc((size_t)count, sizeof *sdf->nodes);
    sdf->nnode = 1;
  }
  if (sdf != NULL && sdf->nodes == NULL) {
    tribo_free(sdf);
    return NULL;
  }
  return sdf;
}

TriboStatus tribo_col_sdf_create(const TriboSdfDef* def, int contacts, double margin, TriboSdf** out) {
  int count = 0;
  TRIBO_TRY(check_tree(def, 0, &count));
  if (contacts != 0 && (contacts < TRIBO_SDF_CONTACTS_LEAST || contacts > TRIBO_SDF_CONTACTS_MOST)) {
    return tribo_fail(TRIBO_INVALID, "contacts = %d must be 0 or within %d … %d", contacts, TRIBO_SDF_CONTACTS_LEAST,
                      TRIBO_SDF_CONTACTS_MOST);
  }
  TriboSdf* sdf = new_field(count);
  if (sdf == NULL) {
    return tribo_no_memory("for a field of %d nodes", count);
  }
  TriboStatus status = fill_node(sdf, 0, def);
  if (status == TRIBO_OK) {
    const double own = own_margin(sdf);
    sdf->has_thread = isfinite(own);
    sdf->margin = isnan(margin) ? own : margin;
    sdf->contacts = contacts > 0 ? contacts : sdf->has_thread ? THREAD_CONTACTS : CONTACTS;
    status = finish(sdf);
  }
  if (status != TRIBO_OK) {
    tribo_col_sdf_destroy(sdf);
    return status;
  }
  *out = sdf;
  return TRIBO_OK;
}

TriboStatus tribo_col_sdf_of_geom(const TriboGeom* geom, TriboSdf** out) {
  static const int kinds[TRIBO_SHAPE_COUNT] = {
      [TRIBO_SHAPE_SPHERE] = TRIBO_SDF_SPHERE,   [TRIBO_SHAPE_BOX] = TRIBO_SDF_BOX,
      [TRIBO_SHAPE_CAPSULE] = TRIBO_SDF_CAPSULE, [TRIBO_SHAPE_CYLINDER] = TRIBO_SDF_CYLINDER,
      [TRIBO_SHAPE_CONE] = TRIBO_SDF_CONE,       [TRIBO_SHAPE_ELLIPSOID] = TRIBO_SDF_ELLIPSOID,
      [TRIBO_SHAPE_HULL] = TRIBO_SDF_HULL};
  TriboSdf* sdf = new_field(1);
  if (sdf == NULL) {
    return tribo_no_memory("for a field");
  }
  const TriboSolid solid = tribo_col_solid(geom);
  SdfNode* n = sdf->nodes;
  n->kind = kinds[geom->kind];
  n->pose = tribo_pose_identity();
  n->is_outside = n->is_inside = 1;
  n->radius = solid.radius;
  n->hull = solid.hull;
  tribo_copy3(n->half, solid.half);
  sdf->margin = INFINITY;
  sdf->contacts = CONTACTS;
  bound_leaf(n);
  TriboStatus status = finish(sdf);
  if (status != TRIBO_OK) {
    tribo_col_sdf_destroy(sdf);
    return status;
  }
  *out = sdf;
  return TRIBO_OK;
}

void tribo_col_sdf_destroy(TriboSdf* sdf) {
  if (sdf == NULL) {
    return;
  }
  for (int i = 0; i < sdf->nnode; ++i) {
    tribo_free(sdf->nodes[i].profile);
  }
  void* all[] = {sdf->nodes, sdf->samples, sdf->curves, sdf->balls, sdf->points, sdf->triangles};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    tribo_free(all[i]);
  }
  tribo_free(sdf);
}
