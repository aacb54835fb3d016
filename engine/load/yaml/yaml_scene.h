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

// yaml_heightfield.c: the heights of a field, from a list or a file.
TriboStatus tribo_load_heights(Loader* l, const YamlNode* shape, const YamlNode* node, TriboShapeDef* def);
// yaml_sdf.c: a distance field, from the value of the key that says what it is.
TriboStatus tribo_load_sdf(Loader* l, const char* key, const YamlNode* node, TriboShapeDef* def);
// yaml_shapes.c: the frame whose z axis is a normal; the mapping around it must not say another.
TriboStatus tribo_yaml_plane(const YamlNode* shape, const YamlNode* node, double n[3], double quaternion[4]);
// yaml_shapes.c: a shape from a mapping, by the section named. With `other`, the mapping also holds that section and
// the shape may be missing: *found tells.
TriboStatus tribo_load_shape(Loader* l, const YamlNode* node, const char* section, const char* other,
                             TriboShapeDef* def, int* found);

// load.c: adds what a file of any kind holds to the scene; depth counts the files that include it.
enum { LOAD_DEEPEST_INCLUDE = 16 };
TriboStatus tribo_load_file(Loader* l, const char* path, int depth);
// yaml_scene.c: the same of a YAML file.
TriboStatus tribo_yaml_load(Loader* l, const char* path, int depth);

// yaml_actuators.c
TriboStatus tribo_load_tendon(Loader* l, const YamlNode* node);
TriboStatus tribo_load_actuator(Loader* l, const YamlNode* node);

// yaml_sensors.c
TriboStatus tribo_load_sensor(Loader* l, const YamlNode* node);

// yaml_states.c
TriboStatus tribo_load_state(Loader* l, const YamlNode* node);
TriboStatus tribo_load_start(Loader* l, const YamlNode* node);

// yaml_tasks.c
TriboStatus tribo_load_tasks(Loader* l, const YamlNode* node, TriboControllerDef* def);
// yaml_controllers.c
TriboStatus tribo_load_controller(Loader* l, const YamlNode* node);

// yaml_generators.c
TriboStatus tribo_load_grid(Loader* l, const YamlNode* node);
TriboStatus tribo_load_wall(Loader* l, const YamlNode* node);
TriboStatus tribo_load_pile(Loader* l, const YamlNode* node);

// yaml_renamed.c: keys of earlier versions in a tree become today's, with a warning each. `list` is the key that the
// node stands under, "" for the whole file.
void tribo_yaml_rename(const TriboLog* log, const char* list, YamlNode* node);
