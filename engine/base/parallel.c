// The parallel loop over OpenMP; without it, or for one worker, a plain loop.
#include "parallel.h"

// The thread sanitizer does not see how OpenMP's library hands work to its threads and waits for them: it is told here.
#if defined(__SANITIZE_THREAD__)
extern void __tsan_acquire(void* address);
extern void __tsan_release(void* address);
static char started, ended;
#define TELL_RELEASE(what) __tsan_release(&(what))
#define TELL_ACQUIRE(what) __tsan_acquire(&(what))
#define UNSEEN __attribute__((no_sanitize("thread")))
#else
#define TELL_RELEASE(what) ((void)0)
#define TELL_ACQUIRE(what) ((void)0)
#define UNSEEN
#endif

UNSEEN void tribo_parallel_for(int count, int threads, TriboParallelFn* fn, void* context) {
  if (threads <= 1 || count <= 1) {
    for (int i = 0; i < count; ++i) {
      fn(i, 0, context);
    }
    return;
  }
  TELL_RELEASE(started);
  // items differ much in cost (islands), so workers take the next one; results are per item, hence independent of it
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int i = 0; i < count; ++i) {
    TELL_ACQUIRE(started);
#if defined(_OPENMP)
    extern int omp_get_thread_num(void);
    fn(i, omp_get_thread_num(), context);
#else
    fn(i, 0, context);
#endif
    TELL_RELEASE(ended);
  }
  TELL_ACQUIRE(ended);
}
