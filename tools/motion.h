// A recorded motion, row by row, and its inverse dynamics: what id, render and view share.
#pragma once

#include "contact_file.h"
#include "simulate.h"

#define MOTION_FLAGS                                                                                             \
  {"--slow", "V", "speeds below are 0: what touches, what slides, what is feasible [m/s], 1e-9 when not given"}, \
      {"--depth", "D", "the deepest overlap a motion may have [m], 1e-3 when not given"},                        \
      {"--passive", "A,B", "joints that nothing drives, besides floating bases"}, {                              \
    "--drives", NULL, "motors and actuators of the scene act too; torques are what they leave to do"             \
  }

typedef struct Motion {
  const char* path;
  FILE* file;
  TriboRecorder* names;  // knows what the columns are called
  char* text;            // the present line
  size_t size;
  long line;
  int ncolumn;
  int* slot;           // (ncolumn) where a column belongs in t, q …, v …; −1: nowhere
  int nslot, width;    // width: with room for efforts tau.* behind them
  int driven_by;       // 1: the file has such columns
  double *now, *next;  // (width) two rows
  double dt;           // between them [s]
  TriboInverseOptions options;
  unsigned char* driven;  // (nv)
  double depth;
  double* rows;  // (nrow × width) all of them, and on which lines they stand: after motion_keep
  long* lines;
  long nrow;
  int given;  // 1: forces are those of a file, not found anew
  ForceFile forces;
} Motion;

// 0 or an exit code, complained about already.
int motion_open(const Args* args, Simulation* sim, Motion* motion);  // at the first two rows; the model gets their dt
int motion_next(Motion* motion, int* more);                          // one row on; *more: there is one
// The state of the first of the two rows, and what takes it to the second.
int motion_invert(const Simulation* sim, const Motion* motion, TriboInverse* out);
// What is to be drawn of a row: found anew, or of the file that --contacts names and the columns tau.* beside the
// motion.
typedef struct MotionForces {
  const TriboContactView* contacts;
  int ncontact;
  const double* efforts;  // (nv) NULL: not known
} MotionForces;
// The same state for whoever draws it. On failure text says why.
TriboStatus motion_show(const TriboModel* model, TriboData* data, const Motion* motion, MotionForces* out, char* text,
                        size_t size);
// From the first two rows on: reads the rest and keeps all of it, so that any may be gone to. The last row has no next.
int motion_keep(Motion* motion);
void motion_go(Motion* motion, long row);  // 0 … nrow − 2
void motion_close(Motion* motion);
