// Runs one scene with one mutant of the library: 0 when its facts hold, 1 with the first that does not, 2 when that
// cannot be told. With a third word, 1 when some step is not certified for that reason, 0 when none is.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/tribo.h>

// which line of the library is wrong; 0 for none
TRIBO_API extern int tribo_mutant;

static TriboStatus simulate(const TriboModel* model, TriboData* data, TriboJudge* judge) {
  const TriboWorldDef* world = tribo_model_world(model);
  TriboStatus status = tribo_judge_observe(judge, data);
  for (long long i = llround(world->duration / world->dt); i > 0 && status == TRIBO_OK; --i) {
    status = tribo_step(model, data, NULL);
    status = status == TRIBO_OK ? tribo_judge_observe(judge, data) : status;
  }
  return status;
}

// Steps until one is not certified for the reason given: 1, or 0 at the end.
static int search_for(const char* reason, const TriboModel* model, TriboData* data) {
  const TriboWorldDef* world = tribo_model_world(model);
  for (long long i = llround(world->duration / world->dt); i > 0; --i) {
    TriboStepInfo info;
    if (tribo_step(model, data, &info) != TRIBO_OK) {
      return 2;
    }
    if (strcmp(tribo_reason_word(info.reason), reason) == 0) {
      printf("%s: %s, balance %.3g J, momentum %.3g\n", reason, info.worst, info.balance, info.momentum_error);
      return 1;
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  TriboScene* scene;
  TriboModel* model;
  TriboData* data;
  TriboJudge* judge;
  if ((argc != 3 && argc != 4) || tribo_scene_load(argv[2], NULL, &scene) != TRIBO_OK) {
    fprintf(stderr, "usage: mutant NUMBER SCENE [REASON]; %s\n", tribo_last_error());
    return 2;
  }
  tribo_mutant = atoi(argv[1]);
  // what a mutant makes hard may stay so: no retries, and an early end of the search; what is certified then says
  // nothing
  if ((tribo_mutant != 0 && (tribo_scene_set(scene, "halvings", 0) != TRIBO_OK ||
                             tribo_scene_set(scene, "effort", 3e6) != TRIBO_OK)) ||
      tribo_model_create(scene, &model) != TRIBO_OK || tribo_data_create(model, &data) != TRIBO_OK ||
      tribo_judge_create(model, &judge) != TRIBO_OK) {
    printf("refused: %s\n", tribo_last_error());
    return 1;
  }
  if (argc == 4) {
    return search_for(argv[3], model, data);
  }
  if (simulate(model, data, judge) != TRIBO_OK) {
    printf("failed: %s\n", tribo_last_error());
    return 1;
  }
  for (int i = 0; i < tribo_judge_count(judge); ++i) {
    TriboVerdict v;
    if (tribo_judge_verdict(judge, i, &v) != TRIBO_OK) {
      return 2;
    }
    if (!v.held && (tribo_mutant == 0 || strncmp(v.quantity, "certified", 9) != 0)) {
      printf("%s: expected %s, measured %.6g\n", v.quantity, v.expected, v.measured);
      return 1;
    }
  }
  return 0;
}
