// A scene of the lab in MuJoCo: the same facts, judged by the same judge.
#pragma once

#include "simulate.h"

enum { LAB_PEERS = 2 };  // MuJoCo's semi-implicit Euler with its defaults, and the same with Runge and Kutta's rule

typedef struct PeerFact {
  double measured, error;  // NAN: MuJoCo has no such thing, or does not get there
} PeerFact;

typedef struct LabPeer {
  int given;                   // 1: MuJoCo can be given this scene number for number
  int count;                   // of the scene's facts
  PeerFact* facts[LAB_PEERS];  // (count) each
} LabPeer;

extern const char* const lab_peer_names[LAB_PEERS];

// Before a scene runs: from its present state, as long as it lasts. 0 or an exit code, complained about already.
int lab_peer_run(const Simulation* sim, LabPeer* out);
void lab_peer_free(LabPeer* peer);
