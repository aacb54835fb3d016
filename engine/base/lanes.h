// Four numbers at once, for the few loops that are long enough to pay for it.
//
// GCC's and Clang's vector types: where the processor has only two lanes the compiler makes two operations of one.
// Functions marked TRIBO_LANES are compiled for both and the one that fits is taken when the library is loaded. Each
// lane is computed as the scalar would be, in the same order and without contraction, so both give the same bits.
#pragma once

typedef double TriboFour __attribute__((vector_size(32), aligned(8), may_alias));

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define TRIBO_LANES __attribute__((target_clones("avx2", "default")))
#else
#define TRIBO_LANES
#endif

// The four numbers from an address on, to read or to write.
#define TRIBO_FOUR(at) (*(TriboFour*)(at))
#define TRIBO_FOUR_CONST(at) (*(const TriboFour*)(at))

// the next multiple of four
static inline int tribo_four_up(int n) {
  return (n + 3) & ~3;
}
