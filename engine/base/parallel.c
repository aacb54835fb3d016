#include "parallel.h"

void tribo_parallel_for(int count, int threads, TriboParallelFn* fn, void* context) {
  if (threads <= 1 || count <= 1) {
    for (int i = 0; i < count; ++i) {
      fn(i, 0, context);
    }
    return;
  }
  // items differ much in cost (islands), so workers take the next one; results are per item, hence independent of it
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int i = 0; i < count; ++i) {
#if defined(_OPENMP)
    extern int omp_get_thread_num(void);
    fn(i, omp_get_thread_num(), context);
#else
    fn(i, 0, context);
#endif
  }
}
