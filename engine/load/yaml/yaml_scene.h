// What the files that read a YAML scene share.
#pragma once

#include "format.h"
#include "pose.h"

typedef struct Loader {
  TriboScene* scene;
  TriboPool pool;     // nodes and texts of the files; gone when loading ends
  const char** open;  // files being read, outermost first
  const TriboLog* log;
  int seed;  // added to those of the file
} Loader;

// From here on, what is added to the scene comes from this node; complaints of the scene name it.
TriboStatus tribo_load_at(Loader* l, const YamlNode* node);
TriboStatus tribo_load_added(Loader* l, TriboStatus status);

// A shape from a mapping, by the section named. With `other`, the mapping also holds that section and the shape may be
// missing: *found tells.
// heights.c: the heights of a field, from a list or a file; of a picture, 0 … 1 by brightness, to be freed also on
// failure.
TriboStatus tribo_heights_png(const char* path, double** values, int* nx, int* ny);
TriboStatus tribo_load_heights(Loader* l, const YamlNode* shape, const YamlNode* node, TriboShapeDef* def);
TriboStatus tribo_load_shape(Loader* l, const YamlNode* node, const char* section, const char* other,
                             TriboShapeDef* def, int* found);

// mjcf.c: adds the whole model of an MJCF file to the scene.
TriboStatus tribo_mjcf_load(TriboScene* scene, const char* path, const TriboLog* log);
// sdf.c: adds the models of an SDF file to the scene.
TriboStatus tribo_sdf_load(TriboScene* scene, const char* path, const TriboLog* log);

// drive_load.c
TriboStatus tribo_load_tendon(Loader* l, const YamlNode* node);
TriboStatus tribo_load_actuator(Loader* l, const YamlNode* node);

// readings.c
TriboStatus tribo_load_sensor(Loader* l, const YamlNode* node);

// states.c
TriboStatus tribo_load_state(Loader* l, const YamlNode* node);
TriboStatus tribo_load_start(Loader* l, const YamlNode* node);

// control_load.c
TriboStatus tribo_load_controller(Loader* l, const YamlNode* node);

// generators.c
TriboStatus tribo_load_grid(Loader* l, const YamlNode* node);
TriboStatus tribo_load_wall(Loader* l, const YamlNode* node);
TriboStatus tribo_load_pile(Loader* l, const YamlNode* node);
