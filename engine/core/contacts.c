// The contacts of a step: where shapes touch or may touch, and by which law.
//
// Detection looks ahead along the free motion. An impulse may send a body elsewhere, into something it would not have
// met: a ball throws a cube at its neighbour 5 mm away. Such a pair has a gap of more than the margin δ plus what its
// free motion closes, so it can only be missed where some point moves otherwise by more than δ/2 in the step. That is
// checked first, costs little and is rare; then shapes are looked at again along the motion with impulses, and pairs
// that are new join the contacts. A pair that would rebound is left to the next step: its approach speed is that of
// this step's end, and an impact row asks for it.
#include "data.h"

#include "math3.h"

// A belt moves over its body: its surface has a velocity of its own, in the axes of the body.
static void add_surface(TriboContactLaw* law, const TriboShapeInfo* shape, const TriboPose* poses, double sign) {
  const double* s = shape->surface;
  if (s[0] != 0 || s[1] != 0 || s[2] != 0) {
    double world[3] = {s[0], s[1], s[2]};
    if (shape->body != TRIBO_WORLD) {
      tribo_mul33v(world, poses[shape->body].R, s);
    }
    tribo_axpy3(law->surface, law->surface, sign, world);
  }
}

// Each contact's law, by the materials of its two shapes.
static TriboStatus set_laws(const TriboModel* model, TriboData* data) {
  const TriboPose* poses = tribo_dyn_poses(data->dynamics);
  TRIBO_TRY(TRIBO_RESERVE(&data->laws, &data->law_capacity, data->ncontact));
  for (int i = 0; i < data->ncontact; ++i) {
    const TriboContact* c = &data->contacts[i];
    int a = model->shapes[c->geom_a].material, b = model->shapes[c->geom_b].material;
    data->laws[i] = model->laws[a * model->nmaterial + b];
    add_surface(&data->laws[i], &model->shapes[c->geom_b], poses, 1);
    add_surface(&data->laws[i], &model->shapes[c->geom_a], poses, -1);
  }
  return TRIBO_OK;
}

static TriboStatus look(const TriboModel* model, TriboData* data, const TriboColQuery* query,
                        const TriboContact** contacts, int* count, TriboStepInfo* info) {
  TriboColStats stats = {0};
  TRIBO_TRY(tribo_col_detect(model->collision, data->collision, query, contacts, count, &stats));
  info->stage[TRIBO_STAGE_BROAD] += stats.broad_time;
  info->stage[TRIBO_STAGE_NARROW] += stats.narrow_time;
  info->pairs = stats.pairs;
  return TRIBO_OK;
}

TriboStatus tribo_data_detect(const TriboModel* model, TriboData* data, double h, TriboStepInfo* info) {
  const TriboColQuery query = {.poses = tribo_dyn_poses(data->dynamics),
                               .twists = tribo_dyn_twists(data->dynamics),
                               .h = h,
                               .margin = model->world.margin};
  TRIBO_TRY(look(model, data, &query, &data->contacts, &data->ncontact, info));
  info->contacts = data->ncontact;
  for (int i = 0; i < data->ncontact; ++i) {
    info->penetration = fmax(info->penetration, -data->contacts[i].gap);
  }
  return set_laws(model, data);
}

static int compare_pairs(const TriboContact* x, const TriboContact* y) {
  if (x->geom_a != y->geom_a) return x->geom_a < y->geom_a ? -1 : 1;
  return x->geom_b < y->geom_b ? -1 : x->geom_b > y->geom_b;
}

// Merges the contacts of pairs that are new into the list; both are sorted by pair. Returns how many there are.
static int merge(const TriboModel* model, const TriboContact* old, int nold, const TriboContact* found, int nfound,
                 TriboContact* out) {
  int i = 0, n = 0, added = 0;
  for (int k = 0; k < nfound; ++k) {
    const TriboContact* c = &found[k];
    while (i < nold && compare_pairs(&old[i], c) < 0) {
      out[n++] = old[i++];
    }
    const int known = i < nold && compare_pairs(&old[i], c) == 0;
    const int a = model->shapes[c->geom_a].material, b = model->shapes[c->geom_b].material;
    if (!known && !(model->laws[a * model->nmaterial + b].restitution > 0)) {
      out[n++] = *c;
      added++;
    }
  }
  while (i < nold) {
    out[n++] = old[i++];
  }
  return added;
}

TriboStatus tribo_data_chase(const TriboModel* model, TriboData* data, const StepStart* start, TriboStepInfo* info,
                             int* more) {
  enum { MOST_CHASES = 8 };  // each one adds pairs, so there is an end; this bounds the time
  *more = 0;
  if (data->problem.ncone == 0 || info->chases >= MOST_CHASES) {
    return TRIBO_OK;
  }
  const TriboColQuery query = {
      .poses = data->look, .twists = data->driven, .h = start->h, .margin = model->world.margin};
  TRIBO_TRY(tribo_dyn_kinematics(model->system, data->dynamics, start->q, data->v_next, data->look, data->driven));
  if (!tribo_col_astray(model->collision, data->collision, &query, tribo_dyn_twists(data->dynamics))) {
    return TRIBO_OK;
  }
  // the list so far may lie in the collision's own buffer, which the next look fills anew
  const int known = data->ncontact;
  TRIBO_TRY(TRIBO_RESERVE(&data->chased, &data->chased_capacity, known));
  if (data->contacts != data->chased && known > 0) {
    memcpy(data->chased, data->contacts, (size_t)known * sizeof *data->chased);
  }
  data->contacts = data->chased;
  const TriboContact* found;
  int nfound;
  TRIBO_TRY(look(model, data, &query, &found, &nfound, info));
  TRIBO_TRY(TRIBO_RESERVE(&data->merged, &data->merged_capacity, known + nfound));
  const int added = merge(model, data->chased, known, found, nfound, data->merged);
  if (added == 0) {
    return TRIBO_OK;
  }
  TriboContact* list = data->merged;
  const size_t capacity = data->merged_capacity;
  data->merged = data->chased, data->merged_capacity = data->chased_capacity;
  data->chased = list, data->chased_capacity = capacity;
  data->contacts = list;
  data->ncontact = info->contacts = known + added;
  info->chases++;
  *more = 1;
  return set_laws(model, data);
}
