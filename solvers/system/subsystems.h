// The motion cut into its subsystems, free bodies and trees, each with its own factor (subsystems.c).
#pragma once

#include "lanes.h"
#include "scaled.h"

// How constraints are cut.
typedef enum TriboSplit {
  TRIBO_SPLIT_NONE,       // not at all: one system for the whole motion
  TRIBO_SPLIT_SUBSYSTEM,  // into the subsystems that they act on
  TRIBO_SPLIT_BODY,       // and where they act on several branches of a tree, into these
} TriboSplit;

// What a cone does to one branch of a subsystem. Its rows are numbers by fours of velocities, `cells`: row i of cell c
// has its four at 4 (dim c + i).
typedef struct TriboPart {
  int dim;          // rows
  int path, ncell;  // cells of the branch, from the root: paths[path …]
  int tip;          // last velocity of the branch
  size_t J, K;      // where its rows are in J and in K
  size_t at;        // where the numbers of its rows are, four or eight
} TriboPart;

typedef struct TriboSubsystems {
  const TriboScaled* sc;
  TriboSplit split;
  int nblock;

  // velocities, in chains without branches, each padded to a multiple of four
  int ncell;
  int* parent;        // (nv) next velocity on the way to the root, −1 at the root
  int* place;         // (nv) where it is among the numbers of the cells on its path
  int* depth;         // (nv) cells on its path
  int* chain;         // (nv)
  int* chain_parent;  // (nchain) −1: none
  int* chain_path;    // (nchain) first of its cells in paths
  int* chain_tip;     // (nchain) last velocity
  int* first_cell;    // (nblock + 1)
  int* paths;
  int *mark, *tips;  // (nv) scratch

  // cones in the order of the first block that they act on, so that who works on neighbouring blocks works on
  // neighbouring cones; from here on `cone` is a place in this order
  int ncone;
  int *order, *owner;  // (ncone); owner is scratch
  int* first_owned;    // (nblock + 1) cones of a block

  // the parts, cone by cone, and the lists of each block's, in the same order
  int npart;
  TriboPart* part;         // (npart)
  int* first_part;         // (ncone + 1)
  int *part_cone, *block;  // (npart) cone and block of a part
  int* first_of_block;     // (nblock + 1)
  int* of_block;           // (npart)
  size_t numbers;          // of all parts: end of `at`
  double* J;               // scaled Jacobians, cone by cone
  double* K;               // f J L⁻¹, block by block

  // factors H = LᵀL
  size_t* row_at;   // (nv) row k of L: 4 depth[k] numbers
  double* L;        // without its diagonal
  double* inverse;  // (nv) of the diagonal
} TriboSubsystems;

// Cuts the scaled problem; memory is taken where it has grown.
TriboStatus tribo_sol_subsystems_cut(TriboSubsystems* s, const TriboScaled* sc, TriboSplit split);
void tribo_sol_subsystems_free(TriboSubsystems* s);
// The factor of a block, and K of its parts, with factor[k] the f of cone order[k]; 1 when a pivot broke down.
int tribo_sol_subsystems_factor(TriboSubsystems* s, int block, const double* factor);
