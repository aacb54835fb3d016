// Where the centres of mass have been: a ring of states, drawn as chains of thin bars that fade towards their end.
#include "list.h"

enum { LONGEST = 120, MOST_BARS = 20000 };
static const double PITCH = 1.0 / 60;  // of the states [s]

struct TriboTrails {
  int nbody, length;  // states that fit
  int first, count;   // of the ring
  double last;        // time of the newest state [s]
  double* points;     // (length × nbody × 3)
};

TriboStatus tribo_view_trails_create(const TriboModel* model, TriboTrails** out) {
  TriboTrails* trails = calloc(1, sizeof *trails);
  if (trails != NULL) {
    trails->nbody = tribo_model_size(model).nbody;
    trails->length = MOST_BARS / (trails->nbody + 1) < LONGEST ? MOST_BARS / (trails->nbody + 1) + 2 : LONGEST;
    trails->points = calloc(3 * (size_t)trails->length * (size_t)trails->nbody + 1, sizeof(double));
  }
  if (trails == NULL || trails->points == NULL) {
    free(trails);
    return tribo_view_fail(TRIBO_NOMEM, "no memory for trails");
  }
  *out = trails;
  return TRIBO_OK;
}

void tribo_view_trails_destroy(TriboTrails* trails) {
  if (trails != NULL) {
    free(trails->points);
    free(trails);
  }
}

static double* state_at(const TriboTrails* trails, int i) {
  return trails->points + 3 * (size_t)((trails->first + i) % trails->length) * (size_t)trails->nbody;
}

TriboStatus tribo_view_trails_add(TriboTrails* trails, const TriboModel* model, TriboData* data) {
  const double now = tribo_data_time(data);
  if (trails->count > 0 && now < trails->last) {
    trails->count = 0;
  }
  if (trails->count > 0 && now < trails->last + PITCH * (1 - 1e-9)) {
    return TRIBO_OK;
  }
  TriboView position, quaternion;
  VIEW_TRY_ENGINE(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &position));
  VIEW_TRY_ENGINE(tribo_data_view(model, data, TRIBO_FIELD_QUATERNION, &quaternion));
  const Poses poses = {position.values, quaternion.values};
  if (trails->count == trails->length) {
    trails->first = (trails->first + 1) % trails->length;
    trails->count--;
  }
  double* points = state_at(trails, trails->count++);
  for (int b = 0; b < trails->nbody; ++b) {
    tribo_view_list_point(&poses, b, tribo_model_body(model, b)->com, points + 3 * b);
  }
  trails->last = now;
  return TRIBO_OK;
}

TriboStatus tribo_view_list_trails(TriboDrawList* list, const TriboTrails* trails, double size) {
  for (int b = 0; b < trails->nbody; ++b) {
    double from[3];
    memcpy(from, trails->count > 0 ? state_at(trails, 0) + 3 * b : list->facts.position, sizeof from);
    for (int i = 1; i <= trails->count; ++i) {
      double to[3], d[3];
      // the last bar ends where the body is now
      if (i < trails->count) {
        memcpy(to, state_at(trails, i) + 3 * b, sizeof to);
      } else {
        tribo_view_body_centre(&list->facts, b, to);
      }
      for (int k = 0; k < 3; ++k) {
        d[k] = to[k] - from[k];
      }
      // what rests leaves no trail
      if (tribo_norm3(d) > 0.002 * size || i == trails->count) {
        const float color[4] = {0.95f, 0.45f, 0.10f, 0.25f + 0.75f * (float)i / (float)trails->count};
        VIEW_TRY(tribo_view_list_bar(list, from, to, 0.003 * size, color));
        memcpy(from, to, sizeof from);
      }
    }
  }
  return TRIBO_OK;
}
