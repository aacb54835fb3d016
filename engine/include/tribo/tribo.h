// Tribo: rigid multibody simulation with exact frictional contact. This header is the whole programming interface; each
// part can be had alone, and <tribo/solver.h> is all that is needed to solve a contact problem without a world.
//
//     TriboScene* scene;  tribo_scene_load("tower.yaml", NULL, &scene);   // or built call by call
//     TriboModel* model;  tribo_model_create(scene, &model);              // compiled, const, shared between threads
//     TriboData* data;    tribo_data_create(model, &data);                // everything that changes
//     tribo_step(model, data, &info);                                     // one step; info says how well it went
//
// Conventions. SI units, right-handed, z up by default, quaternions (x, y, z, w), world axes unless said otherwise.
// Every fallible call returns a TriboStatus; tribo_last_error() then holds one sentence. Nothing here exits, aborts or
// prints. Names are looked up once and become integer ids.
//
// Ownership and threads are told at the head of each part. In short: defs are copied, a model is const and shared
// between threads, a data belongs to one thread at a time, and pointers into an object live no longer than it does.
#pragma once

#include <tribo/base.h>
#include <tribo/data.h>
#include <tribo/inverse.h>
#include <tribo/math.h>
#include <tribo/model.h>
#include <tribo/observe.h>
#include <tribo/plan.h>
#include <tribo/problem.h>
#include <tribo/qpcc.h>
#include <tribo/scene.h>
#include <tribo/solver.h>
#include <tribo/types.h>
