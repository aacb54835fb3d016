// Expectations: what a scene must show, judged while it runs.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data_impl.h"
#include "quantity.h"

// A whole turn [rad].
static const double TURN = 6.283185307179586;

typedef struct Watch {
  double start;     // the quantity at the first observation
  double turn;      // of a turn: as it was last, counted on
  double measured;  // so far, as `when` defines it
  double excess;    // how far outside the band; ≤ 0: held
  double sum;
  uint64_t seen;
} Watch;

struct TriboJudge {
  const TriboModel* model;
  uint64_t observed;
  int count;
  Watch watches[];
};

TriboStatus tribo_judge_create(const TriboModel* model, TriboJudge** out) {
  TRIBO_REQUIRE(model);
  TRIBO_REQUIRE(out);
  TriboJudge* judge = tribo_alloc(1, sizeof *judge + (size_t)model->output.nexpect * sizeof(Watch));
  *out = judge;
  if (judge == NULL) {
    return tribo_no_memory("for a judge");
  }
  judge->model = model;
  judge->count = model->output.nexpect;
  return TRIBO_OK;
}

void tribo_judge_destroy(TriboJudge* judge) {
  tribo_free(judge);
}

// How far x lies outside what is expected; NaN counts as infinitely far.
static double excess_of(const TriboExpectDef* def, double x) {
  double excess = -INFINITY;
  if (!isnan(def->value)) {
    excess = fmax(excess, fabs(x - def->value) - (def->abs + def->rel * fabs(def->value)));
  }
  if (!isnan(def->min)) {
    excess = fmax(excess, def->min - x);
  }
  if (!isnan(def->max)) {
    excess = fmax(excess, x - def->max);
  }
  return isnan(x) ? INFINITY : excess;
}

static void keep(Watch* w, const TriboExpectDef* def, double x) {
  w->measured = x;
  w->excess = excess_of(def, x);
  w->seen++;
}

// Takes a value in, as the expectation says: at the end, at an instant, always, or as maximum, minimum or mean.
static void watch(Watch* w, const TriboExpectDef* def, double time, double half_step, double x) {
  int inside = time >= def->from - half_step && time <= def->to + half_step;
  switch (def->when) {
    case TRIBO_WHEN_END: keep(w, def, x); return;
    case TRIBO_WHEN_AT:
      if (w->seen == 0 && time >= def->from - half_step) {
        keep(w, def, x);
      }
      return;
    case TRIBO_WHEN_ALWAYS:
      if (inside && (w->seen == 0 || excess_of(def, x) > w->excess)) {
        keep(w, def, x);
      }
      return;
    case TRIBO_WHEN_MAX:
      if (inside && (w->seen == 0 || x > w->measured || isnan(x))) {
        keep(w, def, x);
      }
      return;
    case TRIBO_WHEN_MIN:
      if (inside && (w->seen == 0 || x < w->measured || isnan(x))) {
        keep(w, def, x);
      }
      return;
    case TRIBO_WHEN_MEAN:
      if (inside) {
        w->sum += x;
        keep(w, def, w->sum / (double)(w->seen + 1));
      }
      return;
  }
}

TriboStatus tribo_judge_observe(TriboJudge* judge, TriboData* data) {
  TRIBO_REQUIRE(judge);
  TRIBO_REQUIRE(data);
  const TriboModel* model = judge->model;
  TRIBO_TRY(tribo_data_check(model, data, "tribo_judge_observe"));
  for (int i = 0; i < judge->count; ++i) {
    const ModelExpect* expect = &model->output.expects[i];
    Watch* w = &judge->watches[i];
    double x;
    TRIBO_TRY(tribo_quantity_value(model, data, expect->quantity, &x));
    if (expect->quantity.kind == Q_TURN) {
      // (a step turns by less than half a round)
      x += judge->observed > 0 ? TURN * nearbyint((w->turn - x) / TURN) : 0;
      w->turn = x;
    }
    if (judge->observed == 0) {
      w->start = x;
    }
    watch(w, &expect->def, data->time, 0.5 * model->world.dt, expect->def.change ? x - w->start : x);
  }
  judge->observed++;
  return TRIBO_OK;
}

int tribo_judge_count(const TriboJudge* judge) {
  return judge->count;
}

static void describe_when(const TriboExpectDef* def, char* text, size_t size) {
  const char* over[] = {"", "", "always", "max", "min", "mean"};
  if (def->when == TRIBO_WHEN_END) {
    snprintf(text, size, "at the end");
  } else if (def->when == TRIBO_WHEN_AT) {
    snprintf(text, size, "at %g s", def->from);
  } else if (def->from > 0 || !isinf(def->to)) {
    snprintf(text, size, "%s over [%g, %g] s", over[def->when], def->from, def->to);
  } else {
    snprintf(text, size, "%s", over[def->when]);
  }
}

TriboStatus tribo_judge_verdict(const TriboJudge* judge, int index, TriboVerdict* out) {
  TRIBO_REQUIRE(judge);
  TRIBO_REQUIRE(out);
  if (index < 0 || index >= judge->count) {
    return tribo_fail(TRIBO_INVALID, "tribo_judge_verdict: index = %d; accepted are 0 … %d", index, judge->count - 1);
  }
  const TriboExpectDef* def = &judge->model->output.expects[index].def;
  const Watch* w = &judge->watches[index];
  memset(out, 0, sizeof *out);
  char when[64];
  describe_when(def, when, sizeof when);
  snprintf(out->quantity, sizeof out->quantity, "%.60s%s%.40s%s, %s", def->of != NULL ? def->of : "",
           def->of != NULL ? ": " : "", def->quantity, def->change ? " (change)" : "", when);
  char* at = out->expected;
  size_t room = sizeof out->expected;
  int n = 0;
  if (!isnan(def->value)) {
    out->tolerance = def->abs + def->rel * fabs(def->value);
    n = snprintf(at, room, "%.9g ± %.3g", def->value, out->tolerance);
  }
  if (!isnan(def->min) && n >= 0 && (size_t)n < room) {
    n += snprintf(at + n, room - (size_t)n, "%s≥ %.9g", n > 0 ? ", " : "", def->min);
  }
  if (!isnan(def->max) && n >= 0 && (size_t)n < room) {
    snprintf(at + n, room - (size_t)n, "%s≤ %.9g", n > 0 ? ", " : "", def->max);
  }
  // a window that was never reached shows nothing, so it does not hold
  out->measured = w->seen > 0 ? w->measured : NAN;
  out->error = !isnan(def->value) ? fabs(out->measured - def->value) : fmax(0, w->excess);
  out->held = w->seen > 0 && w->excess <= 0;
  return TRIBO_OK;
}
