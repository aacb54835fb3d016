// One step of a nut M48 on its bolt from 10 random poses within its play, with 10 random loads each, by every solver
// given: how many end with what residual, at what price.   m48 SCENE SOLVER…
// The first one must certify all of them at 1e-10 m/s: else the program fails.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tribo/tribo.h>

#define TRY(call) \
  if ((call) != TRIBO_OK) return fprintf(stderr, "%s\n", tribo_last_error()), 2

enum { POSES = 10, LOADS = 10 };

// 0 … 1, by a congruence
static double draw(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed / 4294967296.0;
}
static double within(unsigned* seed, double most) {
  return (2 * draw(seed) - 1) * most;
}

// Anywhere between the flanks: off the axis by 60 µm, tilted by 1 mrad, turned, and lifted to stay in the play.
static void random_pose(unsigned* seed, double q[7]) {
  const double turn = within(seed, 3.0), pitch = 0.005;
  double tilt[4] = {within(seed, 5e-4), within(seed, 5e-4), 0, 1}, spin[4] = {0, 0, sin(turn / 2), cos(turn / 2)};
  tribo_quat_normalize(tilt);
  tribo_quat_mul(q + 3, tilt, spin);
  q[0] = within(seed, 6e-5);
  q[1] = within(seed, 6e-5);
  q[2] = 0.01 + pitch * turn / 6.283185307179586 + within(seed, 1e-4);
}

int main(int argc, char** argv) {
  for (int k = 2; k < argc; ++k) {
    TriboScene* scene;
    TriboModel* model;
    TriboData* data;
    TRY(tribo_scene_load(argv[1], NULL, &scene));
    TriboWorldDef world = *tribo_scene_world(scene);
    snprintf(world.solver, sizeof world.solver, "%s", argv[k]);
    TRY(tribo_scene_set_world(scene, &world));
    TRY(tribo_model_create(scene, &model));
    TRY(tribo_data_create(model, &data));
    unsigned seed = 48;
    int certified = 0, exact = 0, factorisations = 0, most = 0, contacts = 0;
    double worst = 0, time = 0, longest = 0, detection = 0;
    for (int i = 0; i < POSES; ++i) {
      double q[7], v[6] = {0};
      random_pose(&seed, q);
      for (int n = 0; n < LOADS; ++n) {
        TriboStepInfo info, again;
        double wrench[6];
        for (int d = 0; d < 6; ++d) {
          wrench[d] = within(&seed, d < 3 ? 200 : 5);
        }
        // twice from the same state: the first time warms the caches up
        for (int pass = 0; pass < 2; ++pass) {
          tribo_data_reset(model, data);
          TRY(tribo_data_set_state(model, data, q, v));
          TRY(tribo_data_apply_wrench(model, data, 0, wrench, wrench + 3));
          TRY(tribo_step(model, data, pass ? &again : &info));
        }
        certified += again.certified;
        exact += again.residual.nat <= 1e-10;
        worst = fmax(worst, again.residual.nat);
        factorisations += again.factorisations;
        most = again.factorisations > most ? again.factorisations : most;
        contacts = again.contacts > contacts ? again.contacts : contacts;
        time += again.stage[TRIBO_STAGE_SOLVE];
        detection += again.stage[TRIBO_STAGE_NARROW];
        longest = fmax(longest, again.stage[TRIBO_STAGE_SOLVE]);
      }
    }
    printf(
        "%-10s certified %3d, r_nat ≤ 1e-10 %3d, worst %.1e m/s; factorisations %.1f mean, %d most; solve %.0f µs "
        "mean, %.0f "
        "most; detection %.0f µs; up to %d contacts\n",
        argv[k], certified, exact, worst, factorisations / 100.0, most, 1e4 * time, 1e6 * longest, 1e4 * detection,
        contacts);
    if (k == 2 && (certified < POSES * LOADS || contacts < 60)) {
      return 1;
    }
    tribo_data_destroy(data);
    tribo_model_destroy(model);
    tribo_scene_destroy(scene);
  }
  return argc > 2 ? 0 : 2;
}
