// What the player's thread works on: a scene, compiled, with its data; the states it came through; and what a person
// may do to it between two steps. One thread at a time.
#pragma once

#include <stdatomic.h>

#include "view_common.h"

enum { SIM_RING = 512 };  // states to step back through

// A model lives as long as someone looks at it: the simulation, or a draw list that shows it.
typedef struct SharedModel {
  TriboModel* model;
  long long serial;
  TextureSet* textures;  // of the first list that was made of it; NULL: none was
  atomic_int users;
} SharedModel;

typedef struct Sim {
  TriboScene* scene;
  SharedModel* shared;
  const TriboModel* model;  // of shared
  TriboData* data;
  TriboTrails* trails;
  TriboReplayFn* replay;  // NULL: it is simulated
  void* user;             // of it
  TriboReplay shown;      // of the present row
  long long row;
  TriboState* ring[SIM_RING];
  int first, count;  // of the ring; the last one is the current state
  double* targets;   // (nmotor) where the motors are sent
  double* momenta;   // (nbody × 6) before the last step
  double* net;       // (nbody × 6) how they changed in it [N, N m]
  int net_known;     // a step has led here
  int dropped;       // bodies so far
  struct {
    int body;                    // that is pulled, −1: none
    double local[3], target[3];  // where it is held, in its frame; where it is pulled to, world [m]
  } mouse_spring;
  TriboQuantity quantities[TRIBO_CHART_CURVES];
  char quantity_names[TRIBO_CHART_CURVES][TRIBO_CHART_NAME];
  int nquantity;
} Sim;

// Compiles the scene, which it then owns (also on failure), and stands at its start. What it had before goes.
TRIBO_NODISCARD TriboStatus tribo_view_sim_open(Sim* sim, TriboScene* scene);
void tribo_view_sim_close(Sim* sim);
TRIBO_NODISCARD TriboStatus tribo_view_sim_reset(Sim* sim);
TRIBO_NODISCARD TriboStatus tribo_view_sim_load(Sim* sim, const char* path);
TRIBO_NODISCARD TriboStatus tribo_view_sim_save(const Sim* sim, const char* path);

TRIBO_NODISCARD TriboStatus tribo_view_sim_step(Sim* sim, TriboStepInfo* info);
// Of a recorded motion: to a row, or as near to it as there is one.
TRIBO_NODISCARD TriboStatus tribo_view_sim_seek(Sim* sim, long long row);
// To the state before the last step; *moved becomes 0 when none is kept.
TRIBO_NODISCARD TriboStatus tribo_view_sim_back(Sim* sim, int* moved);

// Another solver, a world setting, a new body: the model is compiled again and the state carried over.
TRIBO_NODISCARD TriboStatus tribo_view_sim_set_solver(Sim* sim, const char* id);
TRIBO_NODISCARD TriboStatus tribo_view_sim_set(Sim* sim, const char* key, double value);
TRIBO_NODISCARD TriboStatus tribo_view_sim_drop(Sim* sim, TriboShapeKind kind, const double at[3], double size);
TRIBO_NODISCARD TriboStatus tribo_view_sim_motor(Sim* sim, int motor, double target);
TRIBO_NODISCARD TriboStatus tribo_view_sim_control(Sim* sim, int actuator, double control);
// Gives a body so much speed at a point, in the next step: m Δv of impulse.
TRIBO_NODISCARD TriboStatus tribo_view_sim_push(Sim* sim, int body, const double point[3], const double speed[3]);
// Takes a body by a point and pulls it towards a target, with every step until it is let go (body −1).
void tribo_view_sim_grab(Sim* sim, int body, const double point[3], const double target[3]);
void tribo_view_sim_pull(Sim* sim, const double target[3]);

// A list of the simulation's model that keeps it alive.
TRIBO_NODISCARD TriboStatus tribo_view_sim_list(const Sim* sim, TriboDrawList** out);
int tribo_view_sim_fits(const Sim* sim, const TriboDrawList* list);
