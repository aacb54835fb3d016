// The numeric half of the sparse solver: multifrontal elimination (Duff and Reid 1983).
//
// A front is a dense matrix [A11 A12; A21 A22] over its own p unknowns and the r later ones they touch. It starts from
// the given blocks, adds its children's updates, factorises A11 (rows exchanged only inside A11) and leaves the update
// A22 − A21 A11⁻¹ A12 for its parent, on a stack because fronts are visited in postorder.
#include <string.h>

#include "factor.h"
#include "kernels.h"
#include "memory.h"

TriboStatus tribo_la_factor_create(TriboFactor** out) {
  *out = tribo_alloc(1, sizeof **out);
  return *out != NULL ? TRIBO_OK : tribo_fail(TRIBO_NOMEM, "tribo_la_factor_create: no memory");
}

void tribo_la_factor_destroy(TriboFactor* f) {
  if (f == NULL) {
    return;
  }
  void* all[] = {f->node_dim, f->edge,  f->order,    f->place, f->var,    f->start, f->front,
                 f->index,    f->local, f->diagonal, f->slot,  f->value,  f->stack, f->work,
                 f->pivot,    f->live,  f->rows,     f->first, f->scratch};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    tribo_free(all[i]);
  }
  tribo_free(f);
}

double tribo_la_factor_flops(const TriboFactor* f) {
  return f->flops;
}

size_t tribo_la_factor_entries(const TriboFactor* f) {
  return f->nvalue;
}

TriboSlot tribo_la_factor_diagonal(const TriboFactor* f, int node) {
  return f->diagonal[node];
}

void tribo_la_factor_edge(const TriboFactor* f, int e, TriboSlot* ij, TriboSlot* ji, int* ij_is_lower) {
  *ij = f->slot[e].ij;
  *ji = f->slot[e].ji;
  *ij_is_lower = f->slot[e].ij_is_lower;
}

double* tribo_la_factor_begin(TriboFactor* f) {
  memset(f->value, 0, sizeof(double) * f->nvalue);
  return f->value;
}

double* tribo_la_factor_values(TriboFactor* f) {
  return f->value;
}

// adds a child's update (r × r) to the front's panels and to its own update
static void add_child(const TriboFactor* f, const TriboFront* t, const TriboFront* child, const double* from,
                      double* update) {
  const int* local = f->local + child->index;
  size_t p = (size_t)t->p, r = (size_t)t->r, ld = p + r;
  double* L = f->value + t->at;
  double* U = L + ld * p;
  // rows and columns before `split` are eliminated in this front, the others go on
  int split = 0;
  while (split < child->r && local[split] < t->p) {
    split++;
  }
  for (int j = 0; j < child->r; ++j, from += child->r) {
    int begin = f->symmetric ? j : 0;
    if (j < split) {
      double* to = L + (size_t)local[j] * ld;
      for (int i = begin; i < child->r; ++i) {
        to[local[i]] += from[i];
      }
      continue;
    }
    if (!f->symmetric) {
      double* to = U + ((size_t)local[j] - p) * p;
      for (int i = 0; i < split; ++i) {
        to[local[i]] += from[i];
      }
    }
    double* to = update + ((size_t)local[j] - p) * r;
    for (int i = begin > split ? begin : split; i < child->r; ++i) {
      to[(size_t)local[i] - p] += from[i];
    }
  }
}

// eliminates the front's own unknowns; 0, or 1 when a pivot broke down
static int eliminate(TriboFactor* f, const TriboFront* t, double* update) {
  int p = t->p, r = t->r, ld = p + r;
  double* L = f->value + t->at;
  double* U = L + (size_t)ld * (size_t)p;
  if (f->symmetric) {
    if (tribo_la_cholesky(p, L, ld) != 0) {
      return 1;
    }
    if (r > 0) {
      tribo_la_solve_right_lt(r, p, L, ld, L + p, ld);
      tribo_la_syrk_sub(r, p, L + p, ld, update, r);
    }
    return 0;
  }
  int* pivot = f->pivot + t->var;
  if (tribo_la_lu(p, L, ld, pivot) != 0) {
    return 1;
  }
  if (r > 0) {
    for (int i = 0; i < p; ++i) {
      if (pivot[i] != i) {
        for (int j = 0; j < r; ++j) {
          double* u = U + (size_t)j * (size_t)p;
          double x = u[i];
          u[i] = u[pivot[i]];
          u[pivot[i]] = x;
        }
      }
    }
    tribo_la_solve_right_u(r, p, L, ld, L + p, ld);
    tribo_la_solve_left_l1(p, r, L, ld, U, p);
    tribo_la_gemm_sub(r, r, p, L + p, ld, U, p, update, r);
  }
  return 0;
}

int tribo_la_factor_run(TriboFactor* f, int symmetric) {
  f->symmetric = symmetric;
  int nlive = 0;
  size_t top = 0;
  for (int i = 0; i < f->nfront; ++i) {
    const TriboFront* t = &f->front[i];
    size_t size = (size_t)t->r * (size_t)t->r, below = top;
    double* update = f->stack + top;
    memset(update, 0, sizeof(double) * size);
    for (int c = 0; c < t->nchild; ++c) {
      const TriboFront* child = &f->front[f->live[--nlive]];
      below -= (size_t)child->r * (size_t)child->r;
      add_child(f, t, child, f->stack + below, update);
    }
    if (eliminate(f, t, update)) {
      return 1;
    }
    // the children are spent: the update takes their place
    if (size > 0) {
      memmove(f->stack + below, update, sizeof(double) * size);
      f->live[nlive++] = i;
    }
    top = below + size;
  }
  return 0;
}

static void forward(const TriboFactor* f, const TriboFront* t, double* x, double* gathered) {
  const double* L = f->value + t->at;
  int ld = t->p + t->r;
  const int* index = f->index + t->index;
  double* own = x + t->var;
  if (!f->symmetric) {
    const int* pivot = f->pivot + t->var;
    for (int i = 0; i < t->p; ++i) {
      double y = own[i];
      own[i] = own[pivot[i]];
      own[pivot[i]] = y;
    }
  }
  tribo_la_trsv_l(t->p, L, ld, !f->symmetric, own);
  memset(gathered, 0, sizeof(double) * (size_t)t->r);
  tribo_la_gemv_sub(t->r, t->p, L + t->p, ld, own, gathered);
  for (int i = 0; i < t->r; ++i) {
    x[index[i]] += gathered[i];
  }
}

static void backward(const TriboFactor* f, const TriboFront* t, double* x, double* gathered) {
  const double* L = f->value + t->at;
  int ld = t->p + t->r;
  const int* index = f->index + t->index;
  double* own = x + t->var;
  for (int i = 0; i < t->r; ++i) {
    gathered[i] = x[index[i]];
  }
  if (f->symmetric) {
    tribo_la_gemtv_sub(t->r, t->p, L + t->p, ld, gathered, own);
    tribo_la_trsv_lt(t->p, L, ld, own);
  } else {
    tribo_la_gemv_sub(t->p, t->r, L + (size_t)ld * (size_t)t->p, t->p, gathered, own);
    tribo_la_trsv_u(t->p, L, ld, own);
  }
}

void tribo_la_factor_solve(TriboFactor* f, double* x) {
  double *y = f->work, *gathered = f->work + f->n;
  for (int i = 0; i < f->nnode; ++i) {
    memcpy(y + f->var[i], x + f->start[i], sizeof(double) * (size_t)f->node_dim[i]);
  }
  for (int i = 0; i < f->nfront; ++i) {
    forward(f, &f->front[i], y, gathered);
  }
  for (int i = f->nfront - 1; i >= 0; --i) {
    backward(f, &f->front[i], y, gathered);
  }
  for (int i = 0; i < f->nnode; ++i) {
    memcpy(x + f->start[i], y + f->var[i], sizeof(double) * (size_t)f->node_dim[i]);
  }
}
