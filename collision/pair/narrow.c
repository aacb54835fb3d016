// The narrow phase of one pair: contact offsets, height fields or convex solids, and the distance of two geometries.
#include "narrow.h"

#include "sdf_pair.h"
#include "status.h"

// Without contact offsets. A height field is never convex, so that it has a routine of its own.
static TriboStatus collide(TriboCoalQuery* query, const TriboSolid* a, const TriboSolid* b, double reach,
                           TriboManifold* m, int* by_coal) {
  const int field = a->kind == TRIBO_SHAPE_HEIGHTFIELD;
  if (!field && b->kind != TRIBO_SHAPE_HEIGHTFIELD) {
    return tribo_col_collide_convex(query, a, b, reach, m, by_coal);
  }
  m->count = 0;
  m->gap = INFINITY;
  if (by_coal != NULL) {
    *by_coal = 1;
  }
  TRIBO_TRY(tribo_col_over_field(query, field ? b : a, field ? a : b, reach, m));
  if (field) {
    tribo_col_exchange_sides(m);
  }
  return TRIBO_OK;
}

TriboStatus tribo_col_collide(TriboCoalQuery* query, const TriboSolid* a, const TriboSolid* b, double reach,
                              TriboManifold* m, int* by_coal) {
  const double offset = a->contact_offset + b->contact_offset;
  if (offset == 0) {
    return collide(query, a, b, reach, m, by_coal);
  }
  TriboSolid bare_a = *a, bare_b = *b;
  bare_a.contact_offset = bare_b.contact_offset = 0;
  TRIBO_TRY(collide(query, &bare_a, &bare_b, reach + offset, m, by_coal));
  m->gap -= offset;
  for (int i = 0; i < m->count; ++i) {
    m->points[i].gap -= offset;
  }
  return TRIBO_OK;
}

// A solid at a pose that has been checked.
static TriboStatus open_checked(const TriboGeom* geom, const TriboPose* pose, TriboSolid* solid) {
  TRIBO_TRY(tribo_col_geom_validate(geom));
  if (pose == NULL || !tribo_finite(pose->p, 3) || !tribo_finite(pose->R, 9)) {
    return tribo_fail(TRIBO_INVALID, "tribo_col_distance: the pose of a %s is missing or not finite",
                      tribo_col_shape_name(geom->kind));
  }
  return tribo_col_solid_open(geom, pose, solid);
}

static TriboStatus collide_once(const TriboSolid* a, const TriboSolid* b, TriboManifold* m) {
  TriboCoalQuery* query = NULL;
  if (a->kind >= TRIBO_SHAPE_HALFSPACE && b->kind >= TRIBO_SHAPE_HALFSPACE) {
    return tribo_fail(TRIBO_INVALID, "tribo_col_distance: a %s and a %s have no distance",
                      tribo_col_shape_name(a->kind), tribo_col_shape_name(b->kind));
  }
  TRIBO_TRY(tribo_coal_query_create(&query));
  TriboStatus status = tribo_col_collide(query, a, b, INFINITY, m, NULL);
  tribo_coal_query_destroy(query);
  return status;
}

// The deepest place of two solids of which one at least is a distance field.
static TriboStatus fields_distance(const TriboGeom* geom_a, TriboSolid* a, const TriboGeom* geom_b, TriboSolid* b,
                                   double* gap, double normal[3], double point[3]) {
  const SdfApproach still = {.h = 1, .margin = INFINITY, .reach = INFINITY};
  TriboSdf* made = NULL;
  TriboSdfWork work = {0};
  TriboColPoint* points = NULL;
  int count = 0, deepest = 0;
  TriboSolid* other = a->kind == TRIBO_SHAPE_SDF ? b : a;
  TriboStatus status = TRIBO_OK;
  if (other->kind < TRIBO_SHAPE_SDF) {
    status = tribo_col_sdf_of_geom(other == a ? geom_a : geom_b, &made);
    other->sdf = made;
  }
  status = status == TRIBO_OK ? tribo_col_sdf_contacts(&work, a, b, &still, NULL, 0, &points, &count) : status;
  for (int i = 1; i < count; ++i) {
    deepest = points[i].gap < points[deepest].gap ? i : deepest;
  }
  if (status == TRIBO_OK && count == 0) {
    status = tribo_fail(TRIBO_INVALID, "tribo_col_distance: the %s is beside the %s", tribo_col_shape_name(a->kind),
                        tribo_col_shape_name(b->kind));
  }
  if (status == TRIBO_OK) {
    const TriboColPoint* p = &points[deepest];
    *gap = p->gap - a->contact_offset - b->contact_offset;
    tribo_copy3(normal, p->normal);
    tribo_add3(point, p->a, p->b);
    tribo_scale3(point, 0.5, point);
  }
  tribo_col_sdf_work_free(&work);
  tribo_col_sdf_destroy(made);
  return status;
}

TriboStatus tribo_col_distance(const TriboGeom* a, const TriboPose* pose_a, const TriboGeom* b, const TriboPose* pose_b,
                               double* gap, double normal[3], double point[3]) {
  TriboSolid solid_a = {0}, solid_b = {0};
  TriboManifold m = {.count = 0};
  TriboStatus status = open_checked(a, pose_a, &solid_a);
  status = status == TRIBO_OK ? open_checked(b, pose_b, &solid_b) : status;
  if (status == TRIBO_OK && tribo_col_is_sdf_pair(&solid_a, &solid_b)) {
    status = fields_distance(a, &solid_a, b, &solid_b, gap, normal, point);
    tribo_col_solid_close(&solid_a);
    tribo_col_solid_close(&solid_b);
    return status;
  }
  status = status == TRIBO_OK ? collide_once(&solid_a, &solid_b, &m) : status;
  tribo_col_solid_close(&solid_a);
  tribo_col_solid_close(&solid_b);
  TRIBO_TRY(status);
  if (m.count == 0) {
    return tribo_fail(TRIBO_INVALID, "tribo_col_distance: the %s is beside the height field",
                      tribo_col_shape_name(solid_a.kind < solid_b.kind ? solid_a.kind : solid_b.kind));
  }
  // the place of the deepest point
  int deepest = 0;
  for (int i = 1; i < m.count; ++i) {
    deepest = m.points[i].gap < m.points[deepest].gap ? i : deepest;
  }
  *gap = m.gap;
  tribo_copy3(normal, m.normal);
  tribo_add3(point, m.points[deepest].a, m.points[deepest].b);
  tribo_scale3(point, 0.5, point);
  return TRIBO_OK;
}
