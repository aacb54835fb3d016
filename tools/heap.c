// malloc and its kin, counted by who calls and handed on to the C library.
#include "heap.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_ullong calls[TRIBO_HEAP_OWNERS];

void heap_read(unsigned long long counts[TRIBO_HEAP_OWNERS]) {
  for (int i = 0; i < TRIBO_HEAP_OWNERS; ++i) {
    counts[i] = atomic_load(&calls[i]);
  }
}

#if TRIBO_COUNT_HEAP
int heap_counted(void) {
  return 1;
}

// glibc's own entry points behind the replaced names
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);
void* memalign(size_t alignment, size_t size);

static void count(void) {
  atomic_fetch_add_explicit(&calls[tribo_heap_owner()], 1, memory_order_relaxed);
}

void* malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void* calloc(size_t n, size_t size) {
  count();
  return __libc_calloc(n, size);
}

void* realloc(void* old, size_t size) {
  count();
  return __libc_realloc(old, size);
}

void* memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out == NULL ? ENOMEM : 0;
}

void free(void* memory) {
  __libc_free(memory);
}
#else
int heap_counted(void) {
  return 0;
}
#endif
