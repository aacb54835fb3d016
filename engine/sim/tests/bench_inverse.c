// What inverse dynamics costs: a call beside the recursion without contacts (RNEA) and beside a forward step.
#include <time.h>

#include "robots.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { SETTLE = 300, STEPS = 200, REPEATS = 5 };

// Means over the steps [µs per call].
static void measure(const char* name, TriboScene* scene, TriboScheme scheme) {
  add_motors(scene, 2500);
  TriboWorldDef world = *tribo_scene_world(scene);
  world.scheme = scheme;
  CHECK_OK(tribo_scene_set_world(scene, &world));
  TriboModel* model;
  CHECK_OK(tribo_model_create(scene, &model));
  TriboData *there = data_of(model), *back = data_of(model);
  const TriboModelSize size = tribo_model_size(model);
  double *q = calloc((size_t)size.nq, sizeof *q), *v = calloc((size_t)size.nv, sizeof *v),
         *bias = calloc((size_t)size.nv, sizeof *bias), cost[3] = {0};
  TriboInverseOptions options = tribo_inverse_default();
  options.use_actuators = 1;
  int contacts = 0;
  for (int i = 0; i < SETTLE + STEPS; ++i) {
    TriboView view;
    CHECK_OK(tribo_data_view(model, there, TRIBO_FIELD_Q, &view));
    memcpy(q, view.values, (size_t)size.nq * sizeof *q);
    CHECK_OK(tribo_data_view(model, there, TRIBO_FIELD_V, &view));
    memcpy(v, view.values, (size_t)size.nv * sizeof *v);
    const double begin = now();
    CHECK_OK(tribo_step(model, there, NULL));
    const double step = now() - begin;
    if (i < SETTLE) {
      continue;
    }
    CHECK_OK(tribo_data_view(model, there, TRIBO_FIELD_V, &view));
    TriboInverse out;
    for (int k = 0; k < REPEATS; ++k) {
      CHECK_OK(tribo_data_set_state(model, back, q, v));
      double t = now();
      CHECK_OK(tribo_inverse_dynamics(model, back, view.values, &options, &out));
      cost[0] += (now() - t) / REPEATS;
      t = now();
      CHECK_OK(tribo_data_terms(model, back, &(TriboTerms){.bias = bias}));
      cost[1] += (now() - t) / REPEATS;
    }
    contacts += out.ncontact;
    cost[2] += step;
  }
  printf("%-24s %9.1f %11.1f %9.1f %9.1f %10.2f\n", name, (double)contacts / STEPS, 1e6 * cost[0] / STEPS,
         1e6 * cost[1] / STEPS, 1e6 * cost[2] / STEPS, cost[0] / cost[2]);
  free(q);
  free(v);
  free(bias);
  tribo_data_destroy(there);
  tribo_data_destroy(back);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
}

int main(void) {
  printf("%-24s %9s %11s %9s %9s %10s\n", "µs per call", "contacts", "inverse", "RNEA", "step", "inv/step");
  measure("talos", talos(0), TRIBO_SCHEME_VARIATIONAL);
  measure("talos, euler", talos(0), TRIBO_SCHEME_EULER);
  measure("talos, many", talos_of_24(0), TRIBO_SCHEME_VARIATIONAL);
  measure("talos, many, euler", talos_of_24(0), TRIBO_SCHEME_EULER);
  robots_forget();
  return 0;
}
