// What contacts did in a step: which pairs of shapes began or ended to touch, with which impulse, and what all contacts
// together did to each body.
//
// A step may have been taken in substeps, so impulses are summed over them. Whether a pair touched before is known from
// the warm start, which is state: after a restore the events are the same.
#include "forces.h"

#include <string.h>

#include "math3.h"
#include "pose.h"

static int compare(int a, int b, int c, int d) {
  return a != c ? (a < c ? -1 : 1) : b != d ? (b < d ? -1 : 1) : 0;
}

void tribo_events_begin(TriboData* data) {
  const size_t bytes = 6 * (size_t)data->model->nbody * sizeof(double);
  data->events.ntouch = data->events.count = 0;
  data->events.has_before = 0;
  memset(data->events.contact_wrench, 0, bytes);
  memset(data->events.applied, 0, bytes);
}

// ---- sums over the parts

// What the contacts of one pair, views[0 … count−1], add up to.
static Touch sum_pair(const TriboContactView* views, int count, double h) {
  Touch t = {.a = views[0].shape_a, .b = views[0].shape_b};
  for (int i = 0; i < count; ++i) {
    const double pressure = h * tribo_dot3(views[i].force, views[i].normal);
    tribo_axpy3(t.impulse, t.impulse, h, views[i].force);
    tribo_axpy3(t.point, t.point, pressure, views[i].point);
    t.pressure += pressure;
  }
  return t;
}

// The contact forces of one pair, views[0 … count−1], on its two bodies: h f at x, about their centres of mass.
static void push_bodies(const TriboModel* model, TriboData* data, const TriboContactView* views, int count, double h) {
  const TriboPose* poses = tribo_dyn_poses(data->dynamics);
  const int bodies[2] = {views[0].body_a, views[0].body_b};
  for (int side = 0; side < 2; ++side) {
    if (bodies[side] == TRIBO_WORLD) {
      continue;
    }
    double com[3], arm[3], impulse[3], turn[3], *w = data->events.contact_wrench + 6 * bodies[side];
    tribo_body_com(model, bodies[side], &poses[bodies[side]], com);
    for (int i = 0; i < count; ++i) {
      tribo_sub3(arm, views[i].point, com);
      tribo_scale3(impulse, side == 0 ? -h : h, views[i].force);
      tribo_cross3(turn, arm, impulse);
      tribo_add3(w, w, impulse);
      tribo_add3(w + 3, w + 3, turn);
    }
  }
}

TriboStatus tribo_events_part(const TriboModel* model, TriboData* data, double h) {
  TRIBO_TRY(TRIBO_RESERVE(&data->events.touch_spare, data->events.ntouch + data->result.nview));
  // views are sorted by pair, as is what the parts before have left: one merge
  int n = 0, old = 0;
  for (int i = 0, end; i < data->result.nview; i = end) {
    const TriboContactView* first = &data->result.views[i];
    end = i + 1;
    while (end < data->result.nview && data->result.views[end].shape_a == first->shape_a &&
           data->result.views[end].shape_b == first->shape_b) {
      ++end;
    }
    push_bodies(model, data, first, end - i, h);
    Touch now = sum_pair(first, end - i, h);
    if (!(now.pressure > 0)) {
      continue;
    }
    while (old < data->events.ntouch &&
           compare(data->events.touch[old].a, data->events.touch[old].b, now.a, now.b) < 0) {
      data->events.touch_spare[n++] = data->events.touch[old++];
    }
    if (old < data->events.ntouch && compare(data->events.touch[old].a, data->events.touch[old].b, now.a, now.b) == 0) {
      const Touch* before = &data->events.touch[old++];
      tribo_add3(now.impulse, now.impulse, before->impulse);
      tribo_add3(now.point, now.point, before->point);
      now.pressure += before->pressure;
    }
    data->events.touch_spare[n++] = now;
  }
  while (old < data->events.ntouch) {
    data->events.touch_spare[n++] = data->events.touch[old++];
  }
  Touch* list = data->events.touch;
  data->events.touch = data->events.touch_spare;
  data->events.touch_spare = list;
  data->events.ntouch = n;
  for (int i = 0; i < 6 * model->nbody; ++i) {
    data->events.applied[i] += h * data->forces.wrench[i];
    data->events.applied[i] += model->nclosure > 0 ? data->result.closure_wrench[i] : 0;
  }
  tribo_forces_add_stops(model, data, data->events.applied);
  return TRIBO_OK;
}

// ---- events

// The pairs that a warm start knows as touching, one after the other.
typedef struct Pairs {
  const WarmEntry* entries;
  int count, at;
  int a, b;  // the present pair, while there is one
  int more;
} Pairs;

static void next_pair(Pairs* p) {
  const int a = p->a, b = p->b, first = !p->more;
  p->more = 0;
  for (; p->at < p->count && !p->more; p->at++) {
    const WarmEntry* e = &p->entries[p->at];
    if (e->key.kind == TRIBO_ROW_CONTACT && e->lambda[e->dim - 1] > 0 && (first || e->key.a != a || e->key.b != b)) {
      p->a = e->key.a, p->b = e->key.b, p->more = 1;
    }
  }
}

static int is_at(const Pairs* p, int a, int b) {
  return p->more && p->a == a && p->b == b;
}

TriboStatus tribo_events_finish(const TriboModel* model, TriboData* data) {
  Pairs was = {.entries = data->now.warm, .count = data->now.nwarm};
  Pairs is = {.entries = data->next.warm, .count = data->next.nwarm};
  next_pair(&was);
  next_pair(&is);
  TRIBO_TRY(TRIBO_RESERVE(&data->events.list, data->events.ntouch + data->now.nwarm));
  for (int t = 0; t < data->events.ntouch || was.more;) {
    // the first pair of the two lists; what touches at the end also touched within the step
    const int from_touch = t < data->events.ntouch &&
                           (!was.more || compare(data->events.touch[t].a, data->events.touch[t].b, was.a, was.b) <= 0);
    const int a = from_touch ? data->events.touch[t].a : was.a, b = from_touch ? data->events.touch[t].b : was.b;
    if (!from_touch && is_at(&is, a, b)) {  // they sleep
      next_pair(&was);
      next_pair(&is);
      continue;
    }
    TriboContactEvent* e = &data->events.list[data->events.count++];
    *e = (TriboContactEvent){.body_a = model->geometry.shapes[a].body,
                             .body_b = model->geometry.shapes[b].body,
                             .shape_a = a,
                             .shape_b = b,
                             .began = !is_at(&was, a, b),
                             .ended = !is_at(&is, a, b)};
    if (from_touch) {
      const Touch* touch = &data->events.touch[t++];
      tribo_copy3(e->impulse, touch->impulse);
      tribo_scale3(e->point, 1 / touch->pressure, touch->point);
      e->pressure = touch->pressure;
    }
    if (!e->began) {
      next_pair(&was);
    }
    if (!e->ended) {
      next_pair(&is);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_data_events(const TriboModel* model, const TriboData* data, const TriboContactEvent** events,
                              int* count) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_events"));
  TRIBO_REQUIRE(events);
  TRIBO_REQUIRE(count);
  *events = data->events.list;
  *count = data->events.count;
  return TRIBO_OK;
}
