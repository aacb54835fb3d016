// `tribo convert`: a model file as a scene in YAML.
#include <string.h>

#include "simulate.h"

static const Flag flags[] = {
    {"--to", "FILE", "the scene that is written (.yaml)"},
    {"--strict", NULL, "exit 2 when the file was not taken in full"},
    {"--no-ground", NULL, "no ground under a robot file that has no world"},
    {0},
};

static int run(const Args* args) {
  const char* to = cli_value(args, "--to");
  if (to == NULL) {
    return cli_wrong("convert needs --to FILE");
  }
  TriboScene* scene = NULL;
  int wrong;
  TriboStatus status = simulation_scene(args, args->positional[0], &scene, &wrong);
  // what does not compile is no scene
  TriboModel* model = NULL;
  status = status == TRIBO_OK ? tribo_model_create(scene, &model) : status;
  tribo_model_destroy(model);
  status = status == TRIBO_OK ? tribo_scene_save(scene, to) : status;
  tribo_scene_destroy(scene);
  return wrong ? EXIT_INPUT : status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
}

const Command command_convert = {"convert", "MODEL --to FILE", "a robot or scene file as a YAML scene", flags, 1, 1,
                                 run};
