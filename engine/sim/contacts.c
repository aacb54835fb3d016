// The contacts of a step: where shapes touch or may touch, and by which law.
//
// Detection looks ahead along the free motion. An impulse may send a body elsewhere, into something it would not have
// met: a ball throws a cube at its neighbour 5 mm away. Such a pair has a gap of more than the margin δ plus what its
// free motion closes, so it can only be missed where some point moves otherwise by more than δ/2 in the step. That is
// checked first, costs little and is rare; then shapes are looked at again along the motion with impulses, and points
// that are new join the contacts: of other pairs, or the far side of a face that a hit on its near side turns. And a
// pair that has more points than the few that it keeps may turn one of the others down: that one joins too. A pair
// that would rebound is left to the next step: its approach speed is that of this step's end, and an impact row asks
// for it.
#include "data_impl.h"

#include "math3.h"
#include "pose.h"
#include "timer.h"

// A point that was left out joins when it would be deeper than this share of the margin.
static const double PENETRATING = 0.05;

// How close a point counts as touching at the end of a wanted motion [m].
static const double TOUCHES = 1e-8;

static const TriboContactLaw* law_of(const TriboModel* model, int geom_a, int geom_b) {
  return &model->geometry.laws[model->geometry.shapes[geom_a].material * model->geometry.nmaterial +
                               model->geometry.shapes[geom_b].material];
}

// A belt moves over its body: its surface has a velocity of its own, in the axes of the body.
static void add_surface(TriboContactLaw* law, const TriboModel* model, int geom, const TriboPose* poses,
                        const double point[3], double sign) {
  const TriboShapeInfo* shape = &model->geometry.shapes[geom];
  // at the point, seen from the body
  const TriboPose rest = tribo_pose_identity(), *body = shape->body != TRIBO_WORLD ? &poses[shape->body] : &rest;
  double arm[3], own[3], world[3];
  tribo_sub3(arm, point, body->p);
  tribo_mul33tv(own, body->R, arm);
  tribo_sub3(arm, own, model->geometry.geoms[geom].local.p);
  tribo_cross3(own, shape->spin, arm);
  tribo_add3(own, own, shape->surface);
  tribo_mul33v(world, body->R, own);
  tribo_axpy3(law->surface, law->surface, sign, world);
}

// The grain of the first shape that has one, where friction depends on the direction.
static void set_grain(TriboContactLaw* law, const TriboShapeInfo* a, const TriboShapeInfo* b, const TriboPose* poses) {
  if (law->mu[0] == law->mu[1]) {
    return;
  }
  const TriboShapeInfo* shape = tribo_dot3(a->grain, a->grain) > 0 ? a : b;
  tribo_copy3(law->grain, shape->grain);
  if (shape->body != TRIBO_WORLD) {
    tribo_mul33v(law->grain, poses[shape->body].R, shape->grain);
  }
}

static inline int is_belt(const TriboShapeInfo* shape) {
  return tribo_dot3(shape->spin, shape->spin) > 0 || tribo_dot3(shape->surface, shape->surface) > 0;
}

// Each contact's law, by the materials of its two shapes.
static TriboStatus set_laws(const TriboModel* model, TriboData* data) {
  const TriboPose* poses = tribo_dyn_poses(data->dynamics);
  TRIBO_TRY(TRIBO_RESERVE(&data->contacts.laws, data->contacts.count));
  for (int i = 0, belt_a = 0, belt_b = 0; i < data->contacts.count; ++i) {
    const TriboContact* c = &data->contacts.list[i];
    const TriboShapeInfo *a = &model->geometry.shapes[c->geom_a], *b = &model->geometry.shapes[c->geom_b];
    data->contacts.laws[i] = *law_of(model, c->geom_a, c->geom_b);
    data->contacts.laws[i].by_position =
        !tribo_law_is_soft(&data->contacts.laws[i]) && tribo_overlaps_are_undone(model, data, c);
    set_grain(&data->contacts.laws[i], a, b, poses);
    // the points of a pair come one after the other
    if (i == 0 || c->geom_a != c[-1].geom_a || c->geom_b != c[-1].geom_b) {
      belt_a = is_belt(a);
      belt_b = is_belt(b);
    }
    if (belt_b) {
      add_surface(&data->contacts.laws[i], model, c->geom_b, poses, c->point, 1);
    }
    if (belt_a) {
      add_surface(&data->contacts.laws[i], model, c->geom_a, poses, c->point, -1);
    }
  }
  return TRIBO_OK;
}

void tribo_contact_roundness(const void* surfaces, const TriboContact* contact, const TriboPose* poses, double a[9],
                             double b[9]) {
  const TriboPose rest = tribo_pose_identity();
  double inward[3];
  tribo_scale3(inward, -1, contact->normal);
  tribo_col_roundness(surfaces, contact->geom_a, contact->body_a < 0 ? &rest : &poses[contact->body_a], contact->point,
                      contact->normal, fabs(contact->gap), a);
  tribo_col_roundness(surfaces, contact->geom_b, contact->body_b < 0 ? &rest : &poses[contact->body_b], contact->point,
                      inward, fabs(contact->gap), b);
}

static TriboColQuery query_of(const TriboModel* model, const TriboData* data, double h, const TriboPose* poses,
                              const TriboTwist* twists) {
  return (TriboColQuery){.poses = poses,
                         .twists = twists,
                         .h = h,
                         .margin = model->world.margin,
                         .known = data->contacts.known,
                         .nknown = data->contacts.nknown,
                         .absent = data->nabsent > 0 ? data->absent : NULL,
                         .asleep = data->sleep.nasleep_in_step > 0 ? data->sleep.asleep_in_step : NULL};
}

// Detection has stages of its own: the t0 from which on the time of others counts moves on by what it takes.
static TriboStatus detect_into(const TriboModel* model, TriboData* data, const TriboColQuery* query,
                               const TriboContact** contacts, int* count, TriboStepInfo* info, uint64_t* t0) {
  TriboColStats stats = {0};
  TRIBO_TRY(tribo_col_detect(model->geometry.collision, data->collision, query, contacts, count, &stats));
  info->stage[TRIBO_STAGE_BROAD] += (double)stats.broad_ticks;
  info->stage[TRIBO_STAGE_NARROW] += (double)stats.narrow_ticks;
  info->pairs = stats.pairs;
  *t0 += stats.broad_ticks + stats.narrow_ticks;
  return TRIBO_OK;
}

// The names of the contacts of the last step. On a face many points are as deep as the deepest, by rounding and by
// turns: that is no reason to choose others, or a body rattles between the ones and the others.
static TriboStatus name_known(TriboData* data, const StepStart* start) {
  TRIBO_TRY(TRIBO_RESERVE(&data->contacts.known, start->nwarm));
  data->contacts.nknown = 0;
  for (int i = 0; i < start->nwarm && start->warm[i].key.kind == TRIBO_ROW_CONTACT; ++i) {
    const WarmEntry* e = &start->warm[i];
    data->contacts.known[data->contacts.nknown++] =
        (TriboContactName){e->key.a, e->key.b, e->key.feature, e->place, e->lambda[e->dim - 1] > 0};
  }
  return TRIBO_OK;
}

TriboStatus tribo_data_detect(const TriboModel* model, TriboData* data, const StepStart* start, TriboStepInfo* info,
                              uint64_t* t0) {
  TRIBO_TRY(name_known(data, start));
  TriboColQuery query =
      query_of(model, data, start->h, tribo_dyn_poses(data->dynamics), tribo_dyn_twists(data->dynamics));
  query.start = *t0;
  TRIBO_TRY(detect_into(model, data, &query, &data->contacts.list, &data->contacts.count, info, t0));
  info->contacts = data->contacts.count;
  info->penetration = tribo_dyn_limit_violation(model->mechanism.system, data->dynamics);
  for (int i = 0; i < data->contacts.count; ++i) {
    info->penetration = fmax(info->penetration, -data->contacts.list[i].gap);
  }
  return set_laws(model, data);
}

TriboStatus tribo_data_detect_within(const TriboModel* model, TriboData* data, const StepStart* start, double horizon) {
  TriboStepInfo unused = {0};
  uint64_t t0 = 0;
  TRIBO_TRY(name_known(data, start));
  TriboColQuery query =
      query_of(model, data, start->h, tribo_dyn_poses(data->dynamics), tribo_dyn_twists(data->dynamics));
  query.margin = fmax(query.margin, horizon);
  TRIBO_TRY(detect_into(model, data, &query, &data->contacts.list, &data->contacts.count, &unused, &t0));
  return set_laws(model, data);
}

static int compare(const TriboContact* x, const TriboContact* y) {
  if (x->geom_a != y->geom_a) return x->geom_a < y->geom_a ? -1 : 1;
  if (x->geom_b != y->geom_b) return x->geom_b < y->geom_b ? -1 : 1;
  return x->feature < y->feature ? -1 : x->feature > y->feature;
}

static int same_pair(const TriboContact* x, const TriboContact* y) {
  return x->geom_a == y->geom_a && x->geom_b == y->geom_b;
}

// Whether the list has this contact: another of the pair at its place or, where it is not one that was left out, of its
// name. `at` is where it would stand. If not, it gets a name that no other of the pair has.
static int is_known(const TriboContact* list, int count, int at, int left_out, double margin, TriboContact* c) {
  int first = at;
  while (first > 0 && same_pair(&list[first - 1], c)) {
    first--;
  }
  for (int i = first; i < count && same_pair(&list[i], c); ++i) {
    double d[3];
    tribo_sub3(d, list[i].point, c->point);
    if (tribo_norm3(d) <= margin || (!left_out && list[i].feature == c->feature)) {
      return 1;
    }
  }
  for (int i = first; i < count && same_pair(&list[i], c); ++i) {
    c->feature += list[i].feature == c->feature;
  }
  return 0;
}

// Where contacts that may be new come from: another detection, or points that a pair has left out. Springs
// stay those that the pair has, it would be stiffer with another. So do points of deep overlaps, where all are inside.
typedef enum Found { FOUND_ELSEWHERE, FOUND_LEFT_OUT } Found;

static int may_join(const TriboModel* model, const TriboData* data, double h, const TriboContact* c, Found how) {
  const TriboContactLaw* law = law_of(model, c->geom_a, c->geom_b);
  const TriboStepOptions options = tribo_data_options(&model->world, data, h);
  if (law->restitution > 0) {
    return 0;
  }
  return how != FOUND_LEFT_OUT || !(tribo_law_is_soft(law) || (-c->gap > tribo_dyn_deepest_by_velocity(&options) &&
                                                               tribo_overlaps_are_undone(model, data, c)));
}

// Merges the contacts that are new into the list; both are sorted. Returns how many there are.
static int merge(const TriboModel* model, const TriboData* data, double h, const TriboContact* found, int nfound,
                 Found how, TriboContact* out) {
  const TriboContact* old = data->contacts.list;
  const int nold = data->contacts.count;
  int i = 0, n = 0, added = 0;
  for (int k = 0; k < nfound; ++k) {
    TriboContact c = found[k];
    while (i < nold && compare(&old[i], &c) < 0) {
      out[n++] = old[i++];
    }
    if (!is_known(old, nold, i, how == FOUND_LEFT_OUT, model->world.margin, &c) && may_join(model, data, h, &c, how)) {
      while (i < nold && compare(&old[i], &c) < 0) {
        out[n++] = old[i++];
      }
      out[n++] = c;
      added++;
    }
  }
  while (i < nold) {
    out[n++] = old[i++];
  }
  return added;
}

// The list so far may lie in the collision's own buffer, which the next detection fills again.
static TriboStatus keep_contacts(TriboData* data) {
  TRIBO_TRY(TRIBO_RESERVE(&data->contacts.redetected, data->contacts.count));
  if (data->contacts.list != data->contacts.redetected && data->contacts.count > 0) {
    memcpy(data->contacts.redetected, data->contacts.list,
           (size_t)data->contacts.count * sizeof *data->contacts.redetected);
  }
  data->contacts.list = data->contacts.redetected;
  return TRIBO_OK;
}

// Those of the found contacts that are new join the list; *added says how many. What the others carry is remembered
// where the step has been solved without the new ones.
static TriboStatus join(const TriboModel* model, TriboData* data, double h, const StepStart* solved,
                        const TriboContact* found, int nfound, Found how, int* added) {
  *added = 0;
  if (nfound == 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&data->contacts.merged, data->contacts.count + nfound));
  *added = merge(model, data, h, found, nfound, how, data->contacts.merged);
  if (*added > 0 && solved != NULL) {
    TRIBO_TRY(tribo_warm_between(model, data, solved));
  }
  if (*added > 0) {
    TriboContact* list = data->contacts.merged;
    data->contacts.merged = data->contacts.redetected;
    data->contacts.redetected = list;
    data->contacts.list = list;
    data->contacts.count += *added;
  }
  return TRIBO_OK;
}

TriboStatus tribo_data_redetect(const TriboModel* model, TriboData* data, const StepStart* start,
                                const TriboStepOptions* options, TriboStepInfo* info, uint64_t* t0, int* more) {
  *more = 0;
  if (data->result.problem.ncone == 0 || !tribo_policy_may_redetect(data, start, info)) {
    return TRIBO_OK;
  }
  int turned;
  TRIBO_TRY(tribo_dyn_redetect_slips(model->mechanism.system, data->dynamics, options, data->contacts.laws, start->v,
                                     data->result.lambda, &turned));
  if (tribo_dyn_redetect_limits(model->mechanism.system, data->dynamics, data->next.q) + turned > 0) {
    TRIBO_TRY(tribo_warm_between(model, data, start));
    info->redetections++;
    *more = 1;
  }
  if (tribo_col_world_is_idle(model->geometry.collision)) {
    return TRIBO_OK;
  }
  TriboColQuery query = query_of(model, data, start->h, tribo_dyn_poses(data->dynamics), data->contacts.twists);
  tribo_dyn_twists_of(model->mechanism.system, data->dynamics, data->next.v, data->contacts.twists);
  const TriboContact* found;
  int nfound, added = 0;
  if (tribo_col_motion_left_margin(model->geometry.collision, data->collision, &query,
                                   tribo_dyn_twists(data->dynamics))) {
    TRIBO_TRY(keep_contacts(data));
    query.start = *t0 > 0 ? tribo_tick() : 0;
    TRIBO_TRY(detect_into(model, data, &query, &found, &nfound, info, t0));
    tribo_sleep_wake_by_contact(model, data, start, found, nfound);
    if (data->sleep.has_woken) {
      *more = 0;
      return TRIBO_OK;
    }
    TRIBO_TRY(join(model, data, start->h, start, found, nfound, FOUND_ELSEWHERE, &added));
  }
  if (added == 0) {
    TRIBO_TRY(tribo_col_penetrating_dropped_points(model->geometry.collision, data->collision, &query,
                                                   PENETRATING * model->world.margin, 0, &found, &nfound));
    TRIBO_TRY(join(model, data, start->h, start, found, nfound, FOUND_LEFT_OUT, &added));
  }
  if (added == 0) {
    return TRIBO_OK;
  }
  info->contacts = data->contacts.count;
  info->redetections += !*more;
  *more = 1;
  return set_laws(model, data);
}

TriboStatus tribo_data_touching(const TriboModel* model, TriboData* data, double h, int* added) {
  const TriboColQuery query =
      query_of(model, data, h, tribo_dyn_poses(data->dynamics), tribo_dyn_twists(data->dynamics));
  const TriboContact* found;
  int nfound;
  TRIBO_TRY(tribo_col_penetrating_dropped_points(model->geometry.collision, data->collision, &query, -TOUCHES, 1,
                                                 &found, &nfound));
  TRIBO_TRY(join(model, data, h, NULL, found, nfound, FOUND_LEFT_OUT, added));
  return set_laws(model, data);
}
