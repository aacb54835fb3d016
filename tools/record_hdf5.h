// A run as an HDF5 file: the dataset `data`, a row per step and a column per number, with the names of the columns in
// its attribute `columns`. Chunked and extended as the run goes on.
#pragma once

#include <tribo/tribo.h>

typedef struct RecordFile RecordFile;
// Whether the path ends in .h5 or .hdf5.
int record_is_hdf5(const char* path);
// NULL, complained about already, when it cannot be written. All of q and v, every step.
RecordFile* record_hdf5_open(const TriboModel* model, const char* path);
int record_hdf5_observe(RecordFile* record, TriboData* data);  // 0: failed, complained about
int record_hdf5_close(RecordFile* record);                     // 0: writing failed; NULL is fine
