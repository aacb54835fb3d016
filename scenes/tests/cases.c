// One step in a hundred cases, by every solver given: how many end with what residual, at what price.
//
//   cases nut  SCENE SOLVER…   the nut of bench/m48 in 10 random poses within its play, with 10 random loads each
//   cases rest SCENE SOLVER…   any scene at 10 moments of its rest, with 10 random loads on all bodies each
//
// The first solver must certify all of them: else the program fails.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/tribo.h>

#define TRY(call)                                                  \
  do {                                                             \
    const TriboStatus status_ = (call);                            \
    if (status_ != TRIBO_OK) {                                     \
      return fprintf(stderr, "%s\n", tribo_last_error()), status_; \
    }                                                              \
  } while (0)

enum { STATES = 10, LOADS = 10, SETTLE = 60 };

typedef struct Sums {
  int certified, exact, factorisations, most, contacts;
  double worst, solve, longest, detection;  // [m/s], [s]
} Sums;

// 0 … 1, by a congruence
static double draw(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed / 4294967296.0;
}
static double within(unsigned* seed, double most) {
  return (2 * draw(seed) - 1) * most;
}

// Anywhere between the flanks: off the axis by 60 µm, tilted by 1 mrad, turned, and lifted to stay in the play.
static TriboStatus pose_nut(const TriboModel* model, TriboData* data, unsigned* seed) {
  const double turn = within(seed, 3.0), pitch = 0.005, v[6] = {0};
  double q[7], tilt[4] = {within(seed, 5e-4), within(seed, 5e-4), 0, 1}, spin[4] = {0, 0, sin(turn / 2), cos(turn / 2)};
  tribo_quat_normalize(tilt);
  tribo_quat_mul(q + 3, tilt, spin);
  q[0] = within(seed, 6e-5);
  q[1] = within(seed, 6e-5);
  q[2] = 0.01 + pitch * turn / 6.283185307179586 + within(seed, 1e-4);
  tribo_data_reset(model, data);
  return tribo_data_set_state(model, data, q, v);
}

// A force and a torque on every body: on the nut up to 200 N and 5 N m, elsewhere three weights and their moment at 5
// cm.
static TriboStatus load_bodies(const TriboModel* model, TriboData* data, int is_nut, unsigned* seed) {
  for (int b = 0; b < tribo_model_size(model).nbody; ++b) {
    const double most = is_nut ? 200 : 30 * tribo_model_body(model, b)->mass, arm = is_nut ? 0.025 : 0.05;
    double force[3], torque[3];
    for (int d = 0; d < 3; ++d) {
      force[d] = within(seed, most);
      torque[d] = within(seed, most * arm);
    }
    TRY(tribo_data_apply_wrench(model, data, b, force, torque));
  }
  return TRIBO_OK;
}

static void count(Sums* sums, const TriboStepInfo* info) {
  sums->certified += info->certified;
  sums->exact += info->residual.nat <= 1e-10;
  sums->worst = fmax(sums->worst, info->residual.nat);
  sums->factorisations += info->factorisations;
  sums->most = info->factorisations > sums->most ? info->factorisations : sums->most;
  sums->contacts = info->contacts > sums->contacts ? info->contacts : sums->contacts;
  sums->solve += info->stage[TRIBO_STAGE_SOLVE];
  sums->longest = fmax(sums->longest, info->stage[TRIBO_STAGE_SOLVE]);
  sums->detection += info->stage[TRIBO_STAGE_NARROW];
}

// All cases of one solver.
static TriboStatus run(const char* path, const char* solver, int is_nut, Sums* sums) {
  TriboScene* scene;
  TriboModel* model;
  TriboData* data;
  TRY(tribo_scene_load(path, NULL, &scene));
  TriboWorldDef world = *tribo_scene_world(scene);
  // states at rest are those of the scene's own solver: from them on, the one in question
  snprintf(world.solver, sizeof world.solver, "%s", solver);
  TRY(tribo_scene_set_world(scene, &world));
  TRY(tribo_model_create(scene, &model));
  TRY(tribo_data_create(model, &data));
  unsigned seed = 48;
  for (int i = 0; i < STATES; ++i) {
    if (is_nut) {
      TRY(pose_nut(model, data, &seed));
    } else {
      for (int k = 0; k < (i == 0 ? SETTLE : SETTLE / 10); ++k) {
        TRY(tribo_step(model, data, NULL));
      }
    }
    TRY(tribo_data_snapshot(model, data, "case"));
    for (int n = 0; n < LOADS; ++n) {
      const unsigned load = seed;
      // twice from the same state: the first time warms the caches up
      for (int pass = 0; pass < 2; ++pass) {
        TriboStepInfo info;
        seed = load;
        TRY(tribo_data_restore_snapshot(model, data, "case"));
        TRY(load_bodies(model, data, is_nut, &seed));
        TRY(tribo_step(model, data, &info));
        if (pass) {
          count(sums, &info);
        }
      }
    }
    TRY(tribo_data_restore_snapshot(model, data, "case"));
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
  return TRIBO_OK;
}

int main(int argc, char** argv) {
  const int is_nut = argc > 3 && strcmp(argv[1], "nut") == 0;
  if (argc < 4) {
    return fprintf(stderr, "usage: cases nut|rest SCENE SOLVER…\n"), 2;
  }
  for (int k = 3; k < argc; ++k) {
    Sums s = {0};
    if (run(argv[2], argv[k], is_nut, &s) != TRIBO_OK) {
      return 2;
    }
    printf("%-10s certified %3d, r_nat ≤ 1e-10 %3d, worst %.1e m/s; factorisations %.1f mean, %d most; ", argv[k],
           s.certified, s.exact, s.worst, s.factorisations / 100.0, s.most);
    printf("solve %.0f µs mean, %.0f most; detection %.0f µs; up to %d contacts\n", 1e4 * s.solve, 1e6 * s.longest,
           1e4 * s.detection, s.contacts);
    if (k == 3 && (s.certified < STATES * LOADS || s.contacts < 60)) {
      return 1;
    }
  }
  return 0;
}
