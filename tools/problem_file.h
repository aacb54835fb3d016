// Contact problems as files: FCLIB's local and global problems in HDF5, the plain text of Siconos, and steps dumped
// from a simulation.
//
//     local    u = W r + q                             /fclib_local/W, vectors/q, vectors/mu
//     global   M v = H r + G l + f,  u = Hᵀ v + w,  Gᵀ v + b = 0    /fclib_global/M, H, G, vectors/f, w, b, mu
//     tribo    u = W r + q with any cones              /tribo_local/W, vectors/q, cones/kind, dim, mu, lo, hi
//
// Files put the normal row of a contact first, the library puts it last: rows are permuted here and nowhere else.
#pragma once

#include <tribo/problem.h>

// A sparse matrix as it is read: entries in any order, repeated ones add up.
typedef struct Triplets {
  int rows, cols;
  size_t count;
  int *row, *col;
  double* value;
} Triplets;

// What a file holds, before it becomes a problem.
typedef struct RawProblem {
  int global;
  int contacts;
  Triplets W;         // local: W; global: M
  Triplets H, G;      // global; G without columns when there is none
  double *q, *w, *b;  // local: q; global: f, w (3 contacts), b (columns of G)
  double* mu;         // (contacts)
  TriboCone* cones;   // (ncone) of a dumped step, NULL otherwise
  int ncone;
} RawProblem;

typedef struct ProblemFile {
  TriboProblem problem;
  int contacts;
  int nr;            // rows of the file's r; rows of l follow them in the problem
  double asymmetry;  // max |W − Wᵀ| / max |W| of the file, or of M; it is symmetrised
  int* place;        // (nrow) row of the problem that holds a row of the file's r, then of l
  char reason[320];  // why reading failed

  // memory of the problem
  TriboCone* cones;
  double *g, *mass, *minv, *jac, *G_val;
  int *block_dim, *term_first, *term_block, *G_col, *G_row;
  size_t *block_at, *term_at;
} ProblemFile;

// 1, or 0 with the reason. Free it in either case.
int problem_read(const char* path, ProblemFile* out);
void problem_free(ProblemFile* p);

// Writes the problem with the answer beside it, /solution/r and /solution/u: a copy of the file when that is HDF5.
// 1, or 0 with the reason.
int problem_write_solution(ProblemFile* p, const char* from, const char* to, const double* lambda, const double* sigma);

// Writes any problem, condensed: /fclib_local when all its cones are Coulomb's, /tribo_local otherwise. 1 or 0 with the
// reason (320 characters).
int problem_write(const TriboProblem* problem, const char* path, char* reason);

// ---- parts

int problem_fail(ProblemFile* p, const char* format, ...) __attribute__((format(printf, 2, 3)));
int problem_build(ProblemFile* p, const RawProblem* raw);  // raw → problem
int problem_read_text(ProblemFile* p, const char* path, RawProblem* raw);
void* problem_alloc(ProblemFile* p, size_t count, size_t size);  // NULL with a reason
void problem_raw_free(RawProblem* raw);

// Compressed columns with increasing rows of the entries (place[row], place[col]), made symmetric.
int problem_symmetric(ProblemFile* p, const Triplets* t, const int* place, int** col, int** row, double** val);
