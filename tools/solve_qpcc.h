// The part of `tribo solve` for QPCCs, files that end in .qpcc.
#pragma once

#include "cli.h"

int is_qpcc_file(const char* path);
int solve_qpcc_files(const Args* args);
