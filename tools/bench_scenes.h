// `tribo bench scenes`: its parts. What is measured of a run is measured of every engine alike, from poses and
// velocities alone, never from what an engine says about itself.
#pragma once

#include "cli.h"

int bench_scenes(const Args* args);
int bench_steps(const Args* args);  // cmd_bench_steps.c

// ---- bench_ruler.c: how accurate a run was

// One body of a sampled state: centre of mass [m], orientation x y z w of the body frame, velocity of the centre of
// mass [m/s] and angular velocity [rad/s], all in the world.
typedef struct Sample {
  double position[3], quaternion[4], velocity[3], omega[3];
} Sample;

typedef struct Word {
  const char* name;  // with its unit: "pen_max_mm"
  double value;
} Word;
enum { MOST_WORDS = 16 };

typedef struct Ruler Ruler;
Ruler* ruler_create(const TriboModel* model, double begin, double end);  // times of the run [s]; NULL: no memory
void ruler_free(Ruler* ruler);
void ruler_add(Ruler* ruler, double time, const Sample* bodies);  // the first state, then every step
int ruler_words(const Ruler* ruler, Word words[MOST_WORDS]);      // those that mean something on this model

// The bodies of the present state.
TriboStatus ruler_sample(const TriboModel* model, TriboData* data, Sample* bodies);

// ---- bench_peer.c: another engine on the same bodies

enum { MOST_PEERS = 4 };
typedef struct Peer {
  char name[24];
  double time, contacts, penetration;  // per step [s], mean; deepest by its own account [m]
  Word words[MOST_WORDS];
  int nword;
} Peer;

typedef struct PeerRun {
  const char* path;     // of the scene
  const Sample* start;  // (nbody) where it begins
  const double* q;      // (nq) its coordinates there
  const double* qvel;   // (nv) MuJoCo's velocities there; NULL: at rest, but for free bodies
  double begin;         // its time there [s]
  int steps, repeats;
  double from, to;  // the steps whose mean counts end in this stretch of time [s]
} PeerRun;

// Whether MuJoCo can be given this scene: free bodies from any state, joints from their own start.
int peer_knows(const TriboModel* model, const PeerRun* run);
int peer_find(char* path, int size);  // the program beside this one; 0 when it is not there, complained about already
// Runs the program beside this one with each of its settings. 0 or an exit code, complained about already.
int peer_run(const TriboModel* model, const PeerRun* run, Peer peers[MOST_PEERS], int* count);

// ---- bench_mjcf.c: a scene as a file for MuJoCo

int mjcf_knows(const TriboModel* model, const PeerRun* run);
int mjcf_knows_all(const TriboModel* model);  // and whatever acts can be told number for number, from any state
int mjcf_write(const TriboModel* model, const PeerRun* run, const char* path);  // 0: it cannot be written
