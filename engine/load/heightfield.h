// Heights of a height field, as they are read.
#pragma once

#include <stddef.h>
#include <tribo/base.h>

typedef struct Heights {
  double* values;  // (ny × nx) [m], to be freed
  int count, nx, ny;
} Heights;

TriboStatus tribo_heights_append(Heights* h, double value);
// A row of so many values ends: 0 when the first one has another length.
int tribo_heights_end_row(Heights* h, int length);
// A file of numbers, a row per line.
TriboStatus tribo_heights_text(const char* path, Heights* h);
// A picture: 0 … 1 by brightness; the values are to be freed also on failure.
TriboStatus tribo_heights_png(const char* path, double** values, int* nx, int* ny);
