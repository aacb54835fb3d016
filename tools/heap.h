// Heap calls of this process, counted by replacing malloc and its kin (not in sanitizer builds, where all counts stay 0
// and heap_counted() says so).
#pragma once

#include <tribo/base.h>

int heap_counted(void);
void heap_read(unsigned long long counts[TRIBO_HEAP_OWNERS]);
