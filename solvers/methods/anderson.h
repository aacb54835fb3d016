// Anderson acceleration of fixed-point iterations (Anderson 1965; Walker and Ni 2011): the combination of the last
// iterates whose residuals nearly cancel takes the place of the present one. Where an accelerated point is worse, it
// goes back to the plain iteration.
#pragma once

#include "mixing.h"
#include "scratch.h"

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
