// The one parallel loop: fn(i, worker, context) for i in 0 … count−1 on at most `threads` workers.
// Work is split by index; results must not depend on who does what. threads ≤ 1 runs in the caller.
#pragma once

typedef void TriboParallelFn(int index, int worker, void* context);
void tribo_parallel_for(int count, int threads, TriboParallelFn* fn, void* context);
