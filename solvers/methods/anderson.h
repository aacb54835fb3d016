// Anderson acceleration of fixed-point iterations (Anderson 1965; Walker and Ni 2011): the combination of the last
// iterates whose residuals nearly cancel takes the place of the present one.
//
// Two forms. TriboAnderson takes whole iterates t ← F(t) and goes back to the plain iteration where an accelerated
// point is worse. TriboAndersonMoves takes single moves with their steps, a handful of them, and needs no safeguard.
#pragma once

#include "mixing.h"
#include "scratch.h"

enum { TRIBO_ANDERSON_MOVES = 3 };

typedef struct TriboAnderson {
  int depth;                                                  // differences kept at most, 0 … TRIBO_ANDERSON_MOST
  int count;                                                  // differences kept now
  int has_last;                                               // there is a last t
  int has_residual;                                           // there are a last f and F
  int is_accelerated;                                         // the last t is not what F gave
  double norm;                                                // of the last residual f
  double *df[TRIBO_ANDERSON_MOST], *dF[TRIBO_ANDERSON_MOST];  // (n) differences of f = F(t) − t and of F, newest first
  double *f, *F, *last;                                       // (n) last f, last F, last t
  double* Q[TRIBO_ANDERSON_MOST];                             // (n) scratch
} TriboAnderson;

// With vectors of the pool; depth 0 needs none.
void tribo_sol_anderson_begin(TriboAnderson* a, TriboScratch* scratch, int depth);
// Forgets all iterates: F is another one from here on.
void tribo_sol_anderson_restart(TriboAnderson* a);
// t (n) holds F of the last t and becomes the next one.
void tribo_sol_anderson_step(TriboAnderson* a, int n, double* t);

typedef struct TriboAndersonMoves {
  double *from, *step;                                                // (n) where the last move set out, and its step
  double *dfrom[TRIBO_ANDERSON_MOVES], *dstep[TRIBO_ANDERSON_MOVES];  // (n) how the two changed from move to move
  double* Q[TRIBO_ANDERSON_MOVES];                                    // (n) scratch
  int count;                                                          // changes seen so far; −1 before the first move
} TriboAndersonMoves;

void tribo_sol_anderson_moves_begin(TriboAndersonMoves* a, TriboScratch* scratch);
// Forgets all moves.
void tribo_sol_anderson_moves_restart(TriboAndersonMoves* a);
// Steps are about linear in where they set out: the combination of the last moves whose step is shortest takes the
// place of the present point x (n) and of its step (n).
void tribo_sol_anderson_mix(TriboAndersonMoves* a, int n, double* x, double* step);
