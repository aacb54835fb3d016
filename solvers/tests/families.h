// Random contact problems for solver tests: towers, walls, piles, bolts, robots, wedges, chains, sliding boxes, grasps.
// Each comes from bodies, rows, a free velocity and biases that leave room for a solution.
#pragma once

#include <tribo/solver.h>

enum { FAMILY_COUNT = 9 };
extern const char* const family_names[FAMILY_COUNT];

// A problem with the memory behind it.
typedef struct FamilyProblem {
  TriboProblem problem;
  TriboCone* cones;
  double *g, *R, *mass, *minv, *jac, *G_val;
  int *block_dim, *term_first, *term_block, *G_col, *G_row;
  size_t *block_at, *term_at;
  int nv;
} FamilyProblem;

void family_make(int family, uint64_t seed, int index, FamilyProblem* out);
// A pile of `bodies` boxes on the floor, at rest or moving.
void family_big_pile(int bodies, uint64_t seed, FamilyProblem* out);
// Boxes in a heap, contacts with torsion, rolling and unequal coefficients, some of them 0.
void family_extended(uint64_t seed, int index, FamilyProblem* out);
// The tower of five cubes with masses 1 … 1e4 at rest, 20 contacts, with random forces of `noise` times the weights.
void family_tower_at_rest(uint64_t seed, double noise, FamilyProblem* out);
// Far more contacts than motions: a nut held on its bolt; four dishes, one in the other.
void family_nut(uint64_t seed, FamilyProblem* out);
void family_dishes(uint64_t seed, FamilyProblem* out);
// Memory of a problem of these sizes.
void family_allocate(FamilyProblem* p, int nrow, int ncone, int nblock, int nterm, size_t nmass, size_t njac);
void family_free(FamilyProblem* p);

// Moves the free velocity by `share` of ‖g‖: g + J δv, so that a solution keeps existing.
void family_perturb(FamilyProblem* p, double fraction, uint64_t seed);
// Masses times f.
void family_scale_mass(FamilyProblem* p, double f);
// The same problem with an explicit G. Borrows cones, g and R from p.
void family_explicit(const FamilyProblem* p, FamilyProblem* out);
