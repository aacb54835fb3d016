// Contacts of a pair of which one at least is a signed distance field.
#pragma once

#include "manifold.h"
#include "sdf_field.h"

// A sample of one solid in the field of the other. Places are in the frame of the field.
typedef struct SdfCandidate {
  double x[3], n[3];  // the sample, and ∇φ there
  double gap;
  int sample;
  uint32_t feature;
  int was_there;  // 1: its cell had a contact in the step before
} SdfCandidate;

// What a thread needs to look for contacts; buffers only grow.
typedef struct TriboSdfWork {
  SdfCandidate* found;  // the deepest of every cell
  int* best;            // (cells) into found, −1: none yet. Between pairs all are −1
  int* known;           // (cells) the sample that the cell had in the step before, −1
  int* order;           // of the found ones, by feature
  int* heap;            // of those that are chosen
  TriboColPoint* points;
  int evaluations;  // values of φ asked for by the last pair
} TriboSdfWork;
void tribo_col_sdf_work_free(TriboSdfWork* work);

// How one solid moves against the other: a point x of b at the velocity v + w×(x − origin), seen from a.
typedef struct SdfApproach {
  double v[3], w[3], origin[3];
  double h;
  double margin;  // contacts are made when gap ≤ h·(closing speed) + margin [m]
  double reach;   // nothing farther than this can be one [m]
} SdfApproach;

int tribo_col_is_sdf_pair(const TriboSolid* a, const TriboSolid* b);
// Most contacts that a pair can have, and how far ahead of touching it makes them, at most `margin`.
int tribo_col_sdf_most(const TriboSolid* a, const TriboSolid* b);
// The larger Lipschitz bound of the two.
double tribo_col_sdf_lipschitz(const TriboSolid* a, const TriboSolid* b);
double tribo_col_sdf_margin(const TriboSolid* a, const TriboSolid* b, double margin);

// The contacts, sorted by their features; they belong to `work` until its next call. Without contact offsets.
TRIBO_NODISCARD TriboStatus tribo_col_sdf_contacts(TriboSdfWork* work, const TriboSolid* a, const TriboSolid* b,
                                                   const SdfApproach* approach, const TriboContactName* known,
                                                   int nknown, TriboColPoint** points, int* count);
