// `tribo bench scenes`
#pragma once

#include "cli.h"

int bench_scenes(const Args* args);
