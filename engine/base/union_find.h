// Union-find with path halving. The lowest index of a set is its root, so that the sets do not depend on the order in
// which they were joined.
#pragma once

// Every index is a set of its own.
static inline void tribo_sets_init(int* root, int count) {
  for (int i = 0; i < count; ++i) {
    root[i] = i;
  }
}

static inline int tribo_sets_find(int* root, int i) {
  while (root[i] != i) {
    root[i] = root[root[i]];
    i = root[i];
  }
  return i;
}

static inline void tribo_sets_join(int* root, int a, int b) {
  a = tribo_sets_find(root, a);
  b = tribo_sets_find(root, b);
  root[a < b ? b : a] = a < b ? a : b;
}
