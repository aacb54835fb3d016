// Detection: place the geometries, find pairs (broad phase), make contacts (narrow phase). Contacts that the free
// motion reaches within the step are found before they touch (speculative contacts). Re-detection after a solve:
// whether a motion left the margin, and points that penetrate outside the set that a pair kept.
#include "world.h"
#include "impact.h"

#include <stdlib.h>

#include "memory.h"
#include "parallel.h"
#include "sdf_pair.h"
#include "timer.h"

// Pairs are given out in batches of at least this many.
enum { SMALLEST_BATCH = 32, BATCHES_PER_WORKER = 4 };

// Pairs that one worker collides in one go. Their contacts stand where they would if all pairs had the most, until all
// batches are done and the gaps between them are closed: the result does not depend on who did what.
typedef struct Batch {
  int first, end;  // pairs
  int count;       // contacts found
  int coal_pairs;  // pairs without a closed form
  TriboStatus status;
  char error[256];  // why it failed: the text of another thread would be lost
} Batch;

struct TriboColData {
  const TriboColWorld* world;
  TriboSolid* solids;    // (ngeom) at the poses of the query
  TriboMotion* motions;  // (ngeom)
  TriboAabb* boxes;      // (ngeom) swept and grown
  TriboBroad broad;
  TriboCoalQuery** queries;  // (nworker)
  TriboSdfWork* works;       // (nworker)
  int nworker;
  Batch* batches;
  int* place;              // (npair + 1) of each pair's contacts until they are moved together
  TriboContact* contacts;  // the first ncontact count
  int ncontact;
  unsigned char* has_dropped;  // (npair) 1: it has more points than it kept
  TriboContact* penetrating;   // points outside the kept set  set by: tribo_col_penetrating_dropped_points
};

// ---- data

static void free_queries(TriboCoalQuery** queries, int count) {
  for (int i = 0; i < count; ++i) {
    tribo_coal_query_destroy(queries[i]);
  }
  tribo_free(queries);
}

static void free_works(TriboSdfWork* works, int count) {
  for (int i = 0; i < count; ++i) {
    tribo_col_sdf_work_free(&works[i]);
  }
  tribo_free(works);
}

TriboStatus tribo_col_data_create(const TriboColWorld* world, TriboColData** out) {
  TriboColData* data = world != NULL ? tribo_alloc(1, sizeof *data) : NULL;
  if (data == NULL) {
    return tribo_fail(world != NULL ? TRIBO_NOMEM : TRIBO_INVALID, "tribo_col_data_create: no memory, or no world");
  }
  size_t n = (size_t)world->ngeom;
  data->world = world;
  data->solids = tribo_alloc(n, sizeof *data->solids);
  data->motions = tribo_alloc(n, sizeof *data->motions);
  data->boxes = tribo_alloc(n, sizeof *data->boxes);
  if (data->solids == NULL || data->motions == NULL || data->boxes == NULL) {
    tribo_col_data_destroy(data);
    return tribo_fail(TRIBO_NOMEM, "tribo_col_data_create: no memory for %zu geometries", n);
  }
  memcpy(data->solids, world->solids, n * sizeof *data->solids);
  for (int k = 0; k < world->nmoving; ++k) {
    const int i = world->moving[k];
    data->motions[i].offset = tribo_norm3(world->geoms[i].local.p);
    data->motions[i].reach = tribo_col_reach(&world->solids[i]);
  }
  TriboStatus status = tribo_col_data_workers(data, 1);
  if (status != TRIBO_OK) {
    tribo_col_data_destroy(data);
    return status;
  }
  *out = data;
  return TRIBO_OK;
}

TriboStatus tribo_col_data_workers(TriboColData* data, int count) {
  if (data == NULL || count < 1) {
    return tribo_fail(TRIBO_INVALID, "tribo_col_data_workers: data is NULL, or count = %d is below 1", count);
  }
  TriboCoalQuery** queries = tribo_alloc((size_t)count, sizeof *queries);
  TriboSdfWork* works = tribo_alloc((size_t)count, sizeof *works);
  if (queries == NULL || works == NULL) {
    tribo_free(queries);
    tribo_free(works);
    return tribo_fail(TRIBO_NOMEM, "tribo_col_data_workers: no memory for %d workers", count);
  }
  for (int i = 0; i < count; ++i) {
    TriboStatus status = tribo_coal_query_create(&queries[i]);
    if (status != TRIBO_OK) {
      free_queries(queries, i);
      free_works(works, 0);
      return status;
    }
  }
  free_queries(data->queries, data->nworker);
  free_works(data->works, data->nworker);
  data->works = works;
  data->queries = queries;
  data->nworker = count;
  return TRIBO_OK;
}

void tribo_col_data_destroy(TriboColData* data) {
  if (data == NULL) {
    return;
  }
  tribo_free(data->solids);
  tribo_free(data->motions);
  tribo_free(data->boxes);
  tribo_free(data->contacts);
  tribo_free(data->has_dropped);
  tribo_free(data->penetrating);
  tribo_free(data->batches);
  tribo_free(data->place);
  tribo_col_broad_free(&data->broad);
  free_works(data->works, data->nworker);
  free_queries(data->queries, data->nworker);
  tribo_free(data);
}

// ---- detection

// Refuses poses and motions that are not finite or too large, naming the body.
static TriboStatus check_query(const TriboColWorld* world, const TriboColQuery* query) {
  const char* where = "tribo_col_detect";
  if (!(query->h > 0 && query->h <= 1e3)) {
    return tribo_fail(TRIBO_INVALID, "%s: h is %g, it must be within 0 … 1e3 s", where, query->h);
  }
  if (!(query->margin >= 0 && query->margin <= 1e3)) {
    return tribo_fail(TRIBO_INVALID, "%s: margin is %g, it must be within 0 … 1e3 m", where, query->margin);
  }
  if (world->nbody > 0 && (query->poses == NULL || query->twists == NULL)) {
    return tribo_fail(TRIBO_INVALID, "%s: poses or twists are NULL", where);
  }
  for (int i = 0; i < world->nbody; ++i) {
    const TriboPose* pose = query->poses + i;
    const TriboTwist* twist = query->twists + i;
    int inside = 1;
    for (int k = 0; k < 3; ++k) {
      inside = inside && fabs(pose->p[k]) <= 1e9 && query->h * fabs(twist->v[k]) <= 1e9 &&
               query->h * fabs(twist->w[k]) <= 1e9;
    }
    for (int k = 0; k < 9; ++k) {
      inside = inside && fabs(pose->R[k]) <= 1 + 1e-6;
    }
    if (!inside) {
      return tribo_fail(
          TRIBO_NUMERIC,
          "%s: body %d at (%g, %g, %g) m with (%g, %g, %g) m/s is not finite, not a pose, or moves by more "
          "than 1e9 m",
          where, i, pose->p[0], pose->p[1], pose->p[2], twist->v[0], twist->v[1], twist->v[2]);
    }
  }
  return TRIBO_OK;
}

static void set_motion(TriboMotion* motion, const TriboSolid* solid, const TriboPose* body, const TriboTwist* twist) {
  double axis[3], across[3];
  tribo_col_axis(axis, solid, 2);
  tribo_cross3(across, axis, twist->w);
  tribo_copy3(motion->origin, body->p);
  motion->twist = *twist;
  switch (solid->kind) {
    case TRIBO_SHAPE_SPHERE: motion->spin = 0; break;
    case TRIBO_SHAPE_CAPSULE:
    case TRIBO_SHAPE_CYLINDER:
    case TRIBO_SHAPE_CONE: motion->spin = tribo_norm3(across); break;
    default: motion->spin = tribo_norm3(twist->w); break;
  }
}

// World poses, motions and AABBs swept by the motion of one step and grown by the contact offset and half the margin.
static void place_geometries(const TriboColWorld* world, TriboColData* data, const TriboColQuery* query) {
  for (int at = 0; at < world->nmoving + world->nfixed; ++at) {
    const int i = at < world->nmoving ? world->moving[at] : world->fixed[at - world->nmoving];
    const TriboGeom* geom = world->geoms + i;
    TriboSolid* solid = data->solids + i;
    TriboMotion* motion = data->motions + i;
    TriboAabb* box = data->boxes + i;
    double grow = 0.5 * query->margin + geom->contact_offset;
    if (geom->body != TRIBO_WORLD_BODY) {
      const TriboPose* body = query->poses + geom->body;
      tribo_col_to_world(solid->pose.p, body, geom->local.p);
      tribo_mul33(solid->pose.R, body->R, geom->local.R);
      set_motion(motion, solid, body, query->twists + geom->body);
      grow += query->h * tribo_col_turning_speed(motion);
    }
    tribo_col_bounds(solid, box->low, box->high);
    for (int k = 0; k < 3; ++k) {
      double step = query->h * motion->twist.v[k];
      box->low[k] += (step < 0 ? step : 0) - grow;
      box->high[k] += (step > 0 ? step : 0) + grow;
    }
  }
}

// Which bodies take part in a query.
typedef struct BodyFilter {
  const TriboColWorld* world;
  const unsigned char *absent, *asleep;  // (nbody) or NULL
} BodyFilter;

static int is_absent(const BodyFilter* filter, int body) {
  return filter->absent != NULL && body != TRIBO_WORLD_BODY && filter->absent[body];
}

// Whether a body stays where it is; asks only where `asleep` is given.
static int is_at_rest(const BodyFilter* filter, int body) {
  return body == TRIBO_WORLD_BODY || filter->asleep[body];
}

// Whether two geometries are there and awake.
static int is_present(const void* context, int a, int b) {
  const BodyFilter* filter = context;
  const TriboGeom *x = filter->world->geoms + a, *y = filter->world->geoms + b;
  if (is_absent(filter, x->body) || is_absent(filter, y->body)) {
    return 0;
  }
  return filter->asleep == NULL || !is_at_rest(filter, x->body) || !is_at_rest(filter, y->body);
}

// Whether two geometries may collide now.
static int may_collide(const void* context, int a, int b) {
  const BodyFilter* filter = context;
  return is_present(context, a, b) && tribo_col_may_touch(filter->world, a, b);
}

// Half-spaces against the boxes of all moving geometries.
static TriboStatus plane_pairs(const BodyFilter* filter, TriboColData* data, double margin) {
  const TriboColWorld* world = filter->world;
  for (int p = 0; p < world->nplane; ++p) {
    const TriboSolid* plane = data->solids + world->planes[p];
    double n[3], offset;
    tribo_col_axis(n, plane, 2);
    offset = tribo_dot3(n, plane->pose.p) + plane->contact_offset + 0.5 * margin;  // the other half is in the box
    for (int i = 0; i < world->nmoving; ++i) {
      const TriboAabb* box = data->boxes + world->moving[i];
      double lowest = 0;
      for (int k = 0; k < 3; ++k) {
        lowest += n[k] * (n[k] > 0 ? box->low[k] : box->high[k]);
      }
      if (lowest <= offset && may_collide(filter, world->planes[p], world->moving[i])) {
        TRIBO_TRY(tribo_col_broad_append(&data->broad, world->planes[p], world->moving[i]));
      }
    }
  }
  return TRIBO_OK;
}

// Normal velocity of b against a at x.
static double normal_velocity(const TriboMotion* a, const TriboMotion* b, const double n[3], const double x[3]) {
  double r[3], turn[3], v[3];
  tribo_sub3(r, x, b->origin);
  tribo_cross3(turn, b->twist.w, r);
  tribo_add3(v, b->twist.v, turn);
  tribo_sub3(r, x, a->origin);
  tribo_cross3(turn, a->twist.w, r);
  tribo_sub3(v, v, turn);
  tribo_sub3(v, v, a->twist.v);
  return tribo_dot3(n, v);
}

// The place of a contact: midway between the surfaces. An impact starts far apart, where the lever arm of the middle
// would be wrong for both: there the point on the only moving body is taken.
static void contact_point(const TriboGeom* a, const TriboGeom* b, const TriboColPoint* p, int impact, double x[3]) {
  double w = 0.5;
  if (impact && (a->body == TRIBO_WORLD_BODY || b->body == TRIBO_WORLD_BODY)) {
    w = a->body == TRIBO_WORLD_BODY;
  }
  tribo_sub3(x, p->b, p->a);
  tribo_axpy3(x, p->a, w, x);
}

// Puts the contacts of one face into one plane, the deepest one's. Midway between two faces that are closing they lie
// in a plane that is not quite across the normal; then the turn that closes them drags them along the face by a little,
// each by another, and no rigid motion holds them all: the solver would have to tell slips of 1e-9 m/s apart.
static void move_to_common_plane(TriboContact* contacts, int count, double margin) {
  int deepest = 0;
  for (int i = 1; i < count; ++i) {
    deepest = contacts[i].gap < contacts[deepest].gap ? i : deepest;
  }
  const double* n = contacts[deepest].normal;
  double plane = tribo_dot3(n, contacts[deepest].point);
  for (int i = 0; i < count; ++i) {
    double off = plane - tribo_dot3(n, contacts[i].point);
    if (tribo_equal(contacts[i].normal, n, 3) && fabs(off) <= margin) {
      tribo_axpy3(contacts[i].point, contacts[i].point, off, n);
    }
  }
}

// What a worker needs to collide a pair.
typedef struct NarrowJob {
  const TriboColWorld* world;
  TriboColData* data;
  const TriboColQuery* query;
} NarrowJob;

// How far a point of a manifold closes in the step (negative).
static double closing_of(const NarrowJob* job, TriboGeomPair pair, const TriboColPoint* p, int impact) {
  double x[3];
  contact_point(job->world->geoms + pair.a, job->world->geoms + pair.b, p, impact, x);
  return job->query->h * normal_velocity(job->data->motions + pair.a, job->data->motions + pair.b, p->normal, x);
}

static void set_contact(const NarrowJob* job, TriboGeomPair pair, const TriboColPoint* p, int impact,
                        TriboContact* out) {
  const TriboGeom *a = job->world->geoms + pair.a, *b = job->world->geoms + pair.b;
  *out = (TriboContact){pair.a, pair.b, a->body, b->body, p->feature, p->place, .gap = p->gap, .is_ahead = impact};
  contact_point(a, b, p, impact, out->point);
  tribo_copy3(out->normal, p->normal);
}

// The known points of a pair; *count says how many.
static const TriboContactName* known_of(const TriboColQuery* query, TriboGeomPair pair, int* count) {
  int first = 0, last = query->nknown;
  while (first < last) {
    const int i = (first + last) / 2;
    const TriboContactName* x = query->known + i;
    if (x->geom_a < pair.a || (x->geom_a == pair.a && x->geom_b < pair.b)) {
      first = i + 1;
    } else {
      last = i;
    }
  }
  while (last < query->nknown && query->known[last].geom_a == pair.a && query->known[last].geom_b == pair.b) {
    last++;
  }
  *count = last - first;
  return query->known + first;
}

// Applies the detection rule to the points of a manifold and writes what remains; returns how many. `refuted`: the
// motion was followed and meets nothing, so that points whose linearised gap closes are ghosts.
static int write_contacts(const NarrowJob* job, TriboGeomPair pair, TriboManifold* m, int impact, int refuted,
                          unsigned char* has_dropped, TriboContact* out) {
  int kept = 0;
  for (int i = 0; i < m->count; ++i) {
    const double closing = closing_of(job, pair, m->points + i, impact), gap = m->points[i].gap;
    if (gap <= fmax(0, -closing) + job->query->margin && !(refuted && gap + closing < 0)) {
      m->points[kept++] = m->points[i];
    }
  }
  *has_dropped = kept > TRIBO_KEPT_MAX && !impact;
  int nknown = 0;
  const TriboContactName* known = known_of(job->query, pair, &nknown);
  kept = tribo_col_reduce(m->points, kept, known, nknown);
  for (int i = 0; i < kept; ++i) {
    set_contact(job, pair, m->points + i, impact, out + i);
  }
  if (kept > 1) {
    move_to_common_plane(out, kept, job->query->margin);
  }
  return kept;
}

// How b moves against a.
static SdfApproach approach_of(const NarrowJob* job, const TriboMotion* a, const TriboMotion* b, double travel,
                               double margin) {
  SdfApproach p = {.h = job->query->h, .margin = margin, .reach = margin + travel};
  double arm[3], turn[3];
  tribo_copy3(p.origin, b->origin);
  tribo_sub3(p.w, b->twist.w, a->twist.w);
  tribo_sub3(arm, b->origin, a->origin);
  tribo_cross3(turn, a->twist.w, arm);
  tribo_sub3(p.v, b->twist.v, a->twist.v);
  tribo_sub3(p.v, p.v, turn);
  return p;
}

// Contacts of a pair with a distance field: as many as it keeps, chosen with regard to its motion.
static TriboStatus sdf_pair_contacts(const NarrowJob* job, TriboSdfWork* work, TriboGeomPair pair, double travel,
                                     int* count, TriboContact* out) {
  const TriboColData* data = job->data;
  const TriboSolid *a = data->solids + pair.a, *b = data->solids + pair.b;
  const double offset = a->contact_offset + b->contact_offset;
  const double margin = tribo_col_sdf_margin(a, b, job->query->margin) + offset;
  const SdfApproach approach = approach_of(job, data->motions + pair.a, data->motions + pair.b, travel, margin);
  int nknown = 0, n = 0;
  const TriboContactName* known = known_of(job->query, pair, &nknown);
  TriboColPoint* points;
  TRIBO_TRY(tribo_col_sdf_contacts(work, a, b, &approach, known, nknown, &points, &n));
  double gap = INFINITY;
  for (int i = 0; i < n; ++i) {
    gap = fmin(gap, points[i].gap);
  }
  // a fast pair that is still apart: follow the motion. (Within a thread that leads nowhere: flanks are all around)
  int hit = 0, refuted = 0;
  const int has_thread = (a->sdf != NULL && a->sdf->has_thread) || (b->sdf != NULL && b->sdf->has_thread);
  if (travel > margin && gap > margin && !has_thread) {
    TRIBO_TRY(tribo_col_sdf_impact(work, a, data->motions + pair.a, b, data->motions + pair.b, job->query->h, offset,
                                   margin - offset, &points, &n, &hit));
    refuted = !hit && n > 0;
  }
  if (refuted) {
    TRIBO_TRY(tribo_col_sdf_contacts(work, a, b, &approach, known, nknown, &points, &n));
  }
  int kept = 0;
  for (int i = 0; i < n; ++i) {
    points[i].gap -= offset;
    if (!(refuted && points[i].gap + closing_of(job, pair, points + i, 0) < 0)) {
      set_contact(job, pair, points + i, hit, out + kept++);
    }
  }
  *count += kept;
  return TRIBO_OK;
}

// Contacts of one pair, at most as many as it has room for, behind those of the batch.
static TriboStatus pair_contacts(const NarrowJob* job, int worker, int index, Batch* batch, TriboContact* out) {
  const TriboColData* data = job->data;
  const TriboColQuery* query = job->query;
  const TriboGeomPair pair = data->broad.pairs[index];
  const TriboSolid *a = data->solids + pair.a, *b = data->solids + pair.b;
  const TriboMotion *ma = data->motions + pair.a, *mb = data->motions + pair.b;
  TriboManifold m, later;
  double relative[3];
  tribo_sub3(relative, mb->twist.v, ma->twist.v);
  double travel = query->h * (tribo_norm3(relative) + tribo_col_turning_speed(ma) + tribo_col_turning_speed(mb));
  int by_coal = 0, hit = 0, refuted = 0;
  if (tribo_col_is_sdf_pair(a, b)) {
    data->has_dropped[index] = 0;
    return sdf_pair_contacts(job, data->works + worker, pair, travel, &batch->count, out + batch->count);
  }
  TriboCoalQuery* coal = data->queries[worker];
  TRIBO_TRY(tribo_col_collide(coal, a, b, query->margin + travel, &m, &by_coal));
  batch->coal_pairs += by_coal;
  // a fast pair that is still apart: follow the motion. Half-spaces need it not, their normal is everywhere the same
  double touch = fmax(1e-3 * query->margin, 1e-9);
  int plane = a->kind == TRIBO_SHAPE_HALFSPACE || b->kind == TRIBO_SHAPE_HALFSPACE;
  if (m.count > 0 && travel > query->margin && m.gap > touch && !plane) {
    later = m;
    TRIBO_TRY(tribo_col_impact(coal, a, ma, b, mb, query->h, touch, query->margin, &later, &hit));
    refuted = !hit;
  }
  batch->count +=
      write_contacts(job, pair, hit ? &later : &m, hit, refuted, data->has_dropped + index, out + batch->count);
  return TRIBO_OK;
}

static void collide_batch(int index, int worker, void* context) {
  const NarrowJob* job = context;
  TriboColData* data = job->data;
  Batch* batch = &data->batches[index];
  TriboContact* out = data->contacts + data->place[batch->first];
  for (int i = batch->first; i < batch->end && batch->status == TRIBO_OK; ++i) {
    batch->status = pair_contacts(job, worker, i, batch, out);
  }
  if (batch->status != TRIBO_OK) {
    strncpy(batch->error, tribo_last_error(), sizeof batch->error - 1);
  }
}

// Where the contacts of each pair will stand, with room for the most that it can have.
static TriboStatus place_pairs(TriboColData* data) {
  const int npair = data->broad.npair;
  TRIBO_TRY(TRIBO_RESERVE(&data->place, npair + 1));
  data->place[0] = 0;
  for (int i = 0; i < npair; ++i) {
    const TriboGeomPair pair = data->broad.pairs[i];
    const TriboSolid *a = data->solids + pair.a, *b = data->solids + pair.b;
    data->place[i + 1] = data->place[i] + (tribo_col_is_sdf_pair(a, b) ? tribo_col_sdf_most(a, b) : TRIBO_KEPT_MAX);
  }
  return TRIBO_RESERVE(&data->contacts, data->place[npair]);
}

// All pairs, in batches; then the contacts are moved together, in the order of the pairs.
static TriboStatus narrow(const NarrowJob* job, TriboColStats* stats) {
  TriboColData* data = job->data;
  const int npair = data->broad.npair, workers = data->nworker;
  const int many = npair / SMALLEST_BATCH, most = workers > 1 ? BATCHES_PER_WORKER * workers : 1;
  const int count = many < 1 ? 1 : many < most ? many : most;
  TRIBO_TRY(place_pairs(data));
  TRIBO_TRY(TRIBO_RESERVE(&data->has_dropped, npair));
  TRIBO_TRY(TRIBO_RESERVE(&data->batches, count));
  for (int i = 0; i < count; ++i) {
    data->batches[i] =
        (Batch){.first = (int)((int64_t)npair * i / count), .end = (int)((int64_t)npair * (i + 1) / count)};
  }
  tribo_parallel_for(count, workers, collide_batch, (void*)job);
  for (int i = 0; i < count; ++i) {
    const Batch* batch = &data->batches[i];
    if (batch->status != TRIBO_OK) {
      return tribo_fail(batch->status, "%s", batch->error);
    }
    const TriboContact* from = data->contacts + data->place[batch->first];
    if (from != data->contacts + data->ncontact) {
      memmove(data->contacts + data->ncontact, from, (size_t)batch->count * sizeof *from);
    }
    data->ncontact += batch->count;
    stats->coal_pairs += batch->coal_pairs;
  }
  return TRIBO_OK;
}

TriboStatus tribo_col_detect(const TriboColWorld* world, TriboColData* data, const TriboColQuery* query,
                             const TriboContact** contacts, int* ncontact, TriboColStats* stats) {
  if (world == NULL || data == NULL || query == NULL || contacts == NULL || ncontact == NULL || data->world != world) {
    return tribo_fail(TRIBO_INVALID, "tribo_col_detect: an argument is NULL, or the data is of another world");
  }
  TRIBO_TRY(check_query(world, query));
  const BodyFilter filter = {world, query->absent, query->asleep};
  TriboColStats local = {0};
  if (tribo_col_world_is_idle(world)) {
    *contacts = data->contacts;
    *ncontact = data->ncontact = data->broad.npair = 0;
    if (stats != NULL) {
      *stats = local;
    }
    return TRIBO_OK;
  }
  data->ncontact = data->broad.npair = 0;
  place_geometries(world, data, query);
  if (world->pairs != NULL) {
    TRIBO_TRY(tribo_col_broad_listed(&data->broad, data->boxes, world->pairs, world->npair, is_present, &filter));
  } else {
    TRIBO_TRY(tribo_col_broad_pairs(&data->broad, data->boxes, world->moving, world->nmoving, world->fixed,
                                    world->nfixed, may_collide, &filter));
  }
  TRIBO_TRY(plane_pairs(&filter, data, query->margin));
  TRIBO_TRY(tribo_col_broad_sort(&data->broad, world->ngeom));
  local.pairs = data->broad.npair;
  const uint64_t middle = query->start > 0 ? tribo_tick() : 0;
  local.broad_ticks = middle - query->start;
  if (local.pairs > 0) {
    TRIBO_TRY(narrow(&(NarrowJob){world, data, query}, &local));
    local.narrow_ticks = query->start > 0 ? tribo_tick() - middle : 0;
  }
  *contacts = data->contacts;
  *ncontact = data->ncontact;
  if (stats != NULL) {
    *stats = local;
  }
  return TRIBO_OK;
}

int tribo_col_world_is_idle(const TriboColWorld* world) {
  return world->nmoving == 0;
}

// Whether some point of a geometry moves otherwise by more than half the margin.
static int strays(const TriboColWorld* world, const TriboColData* data, const TriboColQuery* query,
                  const TriboTwist* before, int geom, double margin) {
  const int body = world->geoms[geom].body;
  const TriboMotion* motion = data->motions + geom;
  double v[3], w[3];
  if (body == TRIBO_WORLD_BODY) {
    return 0;
  }
  tribo_sub3(v, query->twists[body].v, before[body].v);
  tribo_sub3(w, query->twists[body].w, before[body].w);
  return query->h * (tribo_norm3(v) + tribo_norm3(w) * (motion->offset + motion->reach)) > 0.5 * margin;
}

int tribo_col_motion_left_margin(const TriboColWorld* world, const TriboColData* data, const TriboColQuery* query,
                                 const TriboTwist* before) {
  for (int k = 0; k < world->nmoving; ++k) {
    if (strays(world, data, query, before, world->moving[k], query->margin)) {
      return 1;
    }
  }
  // pairs with a margin of their own
  for (int i = 0; i < data->broad.npair; ++i) {
    const TriboGeomPair pair = data->broad.pairs[i];
    const double margin = tribo_col_sdf_margin(data->solids + pair.a, data->solids + pair.b, query->margin);
    if (margin < query->margin &&
        (strays(world, data, query, before, pair.a, margin) || strays(world, data, query, before, pair.b, margin))) {
      return 1;
    }
  }
  return 0;
}

// How far a solid reaches from its middle.
static double extent(const TriboSolid* solid) {
  return solid->kind == TRIBO_SHAPE_HALFSPACE || solid->kind == TRIBO_SHAPE_HEIGHTFIELD ? INFINITY
                                                                                        : tribo_col_reach(solid);
}

// Appends the points of a pair that penetrate deeper than `depth` by the end of the step, or the deepest of these.
static TriboStatus add_penetrating(const NarrowJob* job, TriboGeomPair pair, double travel, double depth, int all,
                                   int* count) {
  TriboColData* data = job->data;
  TriboManifold m;
  int by_coal, deepest = -1, n = 0;
  TRIBO_TRY(tribo_col_collide(data->queries[0], data->solids + pair.a, data->solids + pair.b,
                              job->query->margin + travel, &m, &by_coal));
  for (int i = 0; i < m.count; ++i) {
    const double penetration = -m.points[i].gap - closing_of(job, pair, m.points + i, 0);
    if (!(penetration > depth)) {
      continue;
    }
    if (all) {
      m.points[n++] = m.points[i];
    } else {
      deepest = i;
      depth = penetration;
      n = 1;
    }
  }
  TRIBO_TRY(TRIBO_APPEND(&data->penetrating, *count, n));
  if (all) {
    tribo_col_sort(m.points, n);
  }
  for (int i = 0; i < n; ++i) {
    set_contact(job, pair, m.points + (all ? i : deepest), 0, data->penetrating + (*count)++);
  }
  return TRIBO_OK;
}

TriboStatus tribo_col_penetrating_dropped_points(const TriboColWorld* world, TriboColData* data,
                                                 const TriboColQuery* query, double depth, int all,
                                                 const TriboContact** contacts, int* ncontact) {
  if (world == NULL || data == NULL || query == NULL || contacts == NULL || ncontact == NULL || data->world != world) {
    return tribo_fail(TRIBO_INVALID,
                      "tribo_col_penetrating_dropped_points: an argument is NULL, or the data is of another world");
  }
  const NarrowJob job = {world, data, query};
  int count = 0, any = 0;
  for (int i = 0; i < data->broad.npair; ++i) {
    any |= data->has_dropped[i];
  }
  *contacts = data->penetrating;
  *ncontact = 0;
  if (!any) {
    return TRIBO_OK;
  }
  TRIBO_TRY(check_query(world, query));
  for (int i = 0; i < data->broad.npair; ++i) {
    const TriboGeomPair pair = data->broad.pairs[i];
    const TriboMotion *a = data->motions + pair.a, *b = data->motions + pair.b;
    if (!data->has_dropped[i]) {
      continue;
    }
    // between points that do not penetrate, others do only as far as the pair turns
    for (int side = 0; side < 2; ++side) {
      const int geom = side ? pair.b : pair.a, body = world->geoms[geom].body;
      if (body != TRIBO_WORLD_BODY) {
        set_motion(data->motions + geom, data->solids + geom, query->poses + body, query->twists + body);
      }
    }
    double spin[3], relative[3];
    tribo_sub3(spin, b->twist.w, a->twist.w);
    tribo_sub3(relative, b->twist.v, a->twist.v);
    const double size = 2 * fmin(extent(data->solids + pair.a), extent(data->solids + pair.b));
    if (!(query->h * tribo_norm3(spin) * size > depth)) {
      continue;
    }
    const double travel = query->h * (tribo_norm3(relative) + tribo_col_turning_speed(a) + tribo_col_turning_speed(b));
    TRIBO_TRY(add_penetrating(&job, pair, travel, depth, all, &count));
  }
  *contacts = data->penetrating;
  *ncontact = count;
  return TRIBO_OK;
}
