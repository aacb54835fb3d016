// Contact forces of a motion in a CSV file: `id` writes them, `render` and `view` draw them.
#pragma once

#include "cli.h"

void forces_write_header(FILE* file);
// One line per contact that carries something.
void forces_write(FILE* file, const TriboModel* model, double time, const TriboContactView* contacts, int count);

typedef struct ForceFile {
  double* times;  // (count) growing
  TriboContactView* contacts;
  int count;
} ForceFile;
// 0 or an exit code, complained about already; to be closed also on failure.
int forces_open(const char* path, const TriboModel* model, ForceFile* out);
// Those within half of dt of a time; *contacts is never NULL.
void forces_at(const ForceFile* file, double time, double dt, const TriboContactView** contacts, int* count);
void forces_close(ForceFile* file);
