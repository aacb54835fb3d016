// What detection takes between distance fields, for people: `meson test --benchmark --suite collision -v`.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "geometry.h"
#include "sdf_pair.h"

enum { REPEATS = 20, CALLS = 50 };

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static TriboSdf* made(const TriboSdfDef* def) {
  TriboSdf* sdf;
  if (tribo_col_sdf_create(def, 0, NAN, &sdf) != TRIBO_OK) {
    fprintf(stderr, "%s\n", tribo_last_error());
    exit(3);
  }
  return sdf;
}

// b stands on a, coaxial, z above it.
static void time_fields(const char* name, const TriboSdf* a, const TriboSdf* b, double z) {
  TriboSolid below = {.kind = TRIBO_SHAPE_SDF, .sdf = a, .pose = pose_at(0, 0, 0)};
  TriboSolid above = {.kind = TRIBO_SHAPE_SDF, .sdf = b, .pose = pose_at(0, 0, z)};
  const double margin = tribo_col_sdf_margin(&below, &above, 1e-3);
  const SdfApproach approach = {.h = 1e-3, .margin = margin, .reach = margin};
  TriboSdfWork work = {0};
  TriboColPoint* points;
  int count = 0;
  double best = INFINITY;
  for (int k = 0; k < REPEATS; ++k) {
    const double start = processor_time();
    for (int i = 0; i < CALLS; ++i) {
      if (tribo_col_sdf_contacts(&work, &below, &above, &approach, NULL, 0, &points, &count) != TRIBO_OK) {
        fprintf(stderr, "%s\n", tribo_last_error());
        exit(3);
      }
    }
    best = fmin(best, (processor_time() - start) / CALLS);
  }
  printf("%-16s %5d and %4d samples, %4d values of phi, %3d contacts: %6.1f us\n", name, a->nsample, b->nsample,
         work.evaluations, count, 1e6 * best);
  tribo_col_sdf_work_free(&work);
}

int main(void) {
  static const double bowl_points[] = {0, 0, 0.035, 0, 0.07, 0.045}, plate_points[] = {0, 0, 0.06, 0, 0.1, 0.015},
                      pot_points[] = {0, 0, 0.08, 0, 0.085, 0.11};
  TriboSdfDef bolt = {.kind = TRIBO_SDF_THREAD, .size = {0.016, 0.06}, .pitch = 0.002, .starts = 1};
  TriboSdfDef bowl = {.kind = TRIBO_SDF_REVOLVED, .profile = bowl_points, .nprofile = 3, .pad = 0.002};
  bolt.quaternion[3] = bowl.quaternion[3] = 1;
  TriboSdfDef nut = bolt, plate = bowl, pot = bowl;
  nut.size[1] = 0.013, nut.clearance = 1e-4, nut.across = 0.024;
  plate.profile = plate_points, pot.profile = pot_points, pot.pad = 0.003;
  TriboSdf *a = made(&bolt), *b = made(&nut), *c = made(&bowl), *d = made(&plate), *e = made(&pot);
  time_fields("nut on a bolt", a, b, 0.01588453);
  time_fields("bowl in a bowl", c, c, 0.006515288);
  time_fields("plate on a bowl", c, d, 0.045522002);
  time_fields("pot on a plate", d, e, 0.012840002);
  TriboSdf* all[] = {a, b, c, d, e};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    tribo_col_sdf_destroy(all[i]);
  }
  return 0;
}
