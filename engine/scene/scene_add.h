// What the files that add to a scene share: checks whose messages name the field, and room for one more item.
#pragma once

#include "scene_impl.h"

TriboStatus tribo_check_finite(const char* who, const char* field, const double* x, int n);
TriboStatus tribo_check_range(const char* who, const char* field, double x, double min, double max);
TriboStatus tribo_check_quaternion(const char* who, const double q[4]);
TriboStatus tribo_check_softness(const char* who, const double solref[2], const double solimp[5]);
// A copy of the user's name, or "<who><n>"; refuses empty, overlong and taken names.
TriboStatus tribo_scene_take_name(TriboScene* scene, TriboNames* names, const char* who, const char* name, int n,
                                  const char** out);

// scene_tasks.c
TriboStatus tribo_scene_check_tasks(const char* who, const TriboControllerDef* def);
TriboStatus tribo_scene_copy_tasks(TriboPool* pool, const TriboControllerDef* def, TriboControllerDef* copy);

// Room for one more item of an array of the scene, and where it comes from.
#define GROW(scene, name)                                                 \
  do {                                                                    \
    TRIBO_TRY(TRIBO_APPEND(&(scene)->name##s, (scene)->n##name, 1));      \
    TRIBO_TRY(TRIBO_APPEND(&(scene)->name##_where, (scene)->n##name, 1)); \
    (scene)->name##_where[(scene)->n##name] = (scene)->where;             \
  } while (0)
