// Loading a scene and running it to its end, with recorders, expectations, progress and totals: what run and check
// share.
#pragma once

#include "cli.h"
#include "record_hdf5.h"

// Times and factorisations of steps, counted in classes: times (of wall and processor the smaller) by 2 % from 0.1 µs
// on, factorisations one by one.
enum { TIME_CLASSES = 1400, FACTORISATION_CLASSES = 4096 };
typedef struct StepCosts {
  long long times[TIME_CLASSES], factorisations[FACTORISATION_CLASSES];
  double sum, longest;        // [s]
  int most;                   // factorisations
  double effort, effort_max;  // [flop] sum, and of a step
} StepCosts;

typedef struct Totals {
  long long steps, certified;
  double most_relaxation;            // [m] most that inconsistent supports were relaxed by
  long long relaxed;                 // steps in which they were
  long long substepped, redetected;  // steps taken in substeps; steps whose impulses brought new contacts about
  double time;                       // simulated [s]
  double wall;                       // in tribo_step [s]
  double stage[TRIBO_STAGE_COUNT];   // [s]
  StepCosts costs;
  double contacts, iterations, factorisations;  // sums
  int contacts_max, iterations_max;
  long long rungs[TRIBO_RUNG_COUNT];  // steps in which a rung gave an answer
  TriboResiduals residual;            // worst of each over the run
  double penetration;
  long long levels[TRIBO_LEVEL_COUNT];        // steps, by how exactly they keep the law
  long long uncertified[TRIBO_REASON_COUNT];  // steps, by why
  double balance, gain, momentum_error;       // worst over the run: most relative, and largest gain [J]
  double energy_error, push_out_work;         // sums [J]
  char unbalanced[96];                        // of the first step whose motion is not certified: its body
  long long worst_step, unbalanced_step;
  char worst[96];
  unsigned long long heap[TRIBO_HEAP_OWNERS];
  unsigned long long growths;
  int interrupted;
} Totals;

typedef struct Simulation {
  const char* path;
  TriboScene* scene;
  TriboModel* model;
  TriboData* data;
  TriboJudge* judge;
  TriboRecorder** recorders;
  int nrecorder;
  int broken;                                               // what failed has been told already
  RecordFile* hdf5;                                         // NULL: none
  TriboStatus (*seen)(struct Simulation* sim, void* user);  // called with the first state and after every step, or NULL
  void* user;
  long long steps;  // to do
  Totals totals;
} Simulation;

// What 99 of 100 steps take at most: [s], factorisations.
double costs_p99_time(const StepCosts* costs);
int costs_p99_factorisations(const StepCosts* costs);

// The scene of a file; a robot without a world gets a ground. *wrong: complained about already.
TriboStatus simulation_scene(const Args* args, const char* path, TriboScene** scene, int* wrong);
// 0 or an exit code, complained about already.
int simulation_open(const Args* args, const char* path, Simulation* sim);
int simulation_load(Simulation* sim, const char* path);  // a saved state, NULL: nothing to do
int simulation_record(Simulation* sim,
                      const char* extra);           // opens the scene's recorders and one more file: .csv, or .h5
int simulation_run(Simulation* sim, int progress);  // from the current state; totals are of this run
void simulation_close(Simulation* sim);
