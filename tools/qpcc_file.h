// QPCCs as files, HDF5 as numpy's h5py writes it: matrices A (nres × na), B (nres × nc), C (nc × na), D (nc × nc),
// vectors b, g, lower, upper, mu (ncon) and dim (ncon; a single number: the same for all), and, where there are any,
// held and group (ncon).
#pragma once

#include <tribo/qpcc.h>

typedef struct QpccFile {
  TriboQpcc problem;
  double *A, *B, *b, *C, *D, *g, *lower, *upper, *mu;
  int *dim, *group;
  unsigned char* held;
  char reason[320];
} QpccFile;

// 1, or 0 with the reason. Free it in either case.
int qpcc_file_read(const char* path, QpccFile* out);
void qpcc_file_free(QpccFile* file);
// The problem, and the answer where there is one: lambda_a, lambda_c, sigma, nu, mode, slip. 1, or 0 with the reason
// (320).
int qpcc_file_write(const TriboQpcc* problem, const TriboQpccSolution* answer, const char* path, char* reason);
