// The symbolic half of the sparse solver: from a graph of blocks to fronts.
//
// Approximate minimum degree orders the nodes; the elimination tree (Liu 1986) is put in postorder; the structure of
// column j is its later neighbours joined with its children's structures. Neighbouring columns are merged into fronts,
// also where that adds some zeros: a front costs a fixed overhead, and dense kernels like them large.
#include <string.h>
#include <suitesparse/amd.h>

#include "factor.h"
#include "memory.h"

// a front more costs about as much as this many operations
static const double FRONT_COST = 12000, FILL_RATIO = 1.25, FILL_MOST = 2;

// operations of eliminating p unknowns coupled to r others
static double elimination_flops(double p, double r) {
  return 2.0 / 3.0 * ((p + r) * (p + r) * (p + r) - r * r * r);
}

static int same_graph(const TriboFactor* f, const TriboGraph* g) {
  return f->nfront > 0 && f->nnode == g->nnode && f->nedge == g->nedge &&
         memcmp(f->node_dim, g->node_dim, sizeof(int) * (size_t)g->nnode) == 0 &&
         (g->nedge == 0 || memcmp(f->edge, g->edge, 2 * sizeof(int) * (size_t)g->nedge) == 0);
}

// Takes the memory for a graph and copies it.
static TriboStatus copy_graph(TriboFactor* f, const TriboGraph* g) {
  size_t n = (size_t)g->nnode, m = (size_t)g->nedge;
  f->nfront = 0;  // until the analysis is complete
  TRIBO_TRY(TRIBO_RESERVE(&f->node_dim, n));
  TRIBO_TRY(TRIBO_RESERVE(&f->edge, 2 * m));
  TRIBO_TRY(TRIBO_RESERVE(&f->order, n));
  TRIBO_TRY(TRIBO_RESERVE(&f->place, n));
  TRIBO_TRY(TRIBO_RESERVE(&f->var, n));
  TRIBO_TRY(TRIBO_RESERVE(&f->start, n));
  TRIBO_TRY(TRIBO_RESERVE(&f->diagonal, n));
  TRIBO_TRY(TRIBO_RESERVE(&f->front, n));
  TRIBO_TRY(TRIBO_RESERVE(&f->live, n));
  TRIBO_TRY(TRIBO_RESERVE(&f->first, n + 1));
  TRIBO_TRY(TRIBO_RESERVE(&f->slot, m));
  TRIBO_TRY(TRIBO_RESERVE(&f->scratch, 8 * n + 1 + 2 * m));
  f->nnode = g->nnode;
  f->nedge = g->nedge;
  memcpy(f->node_dim, g->node_dim, sizeof(int) * n);
  if (m > 0) {
    memcpy(f->edge, g->edge, 2 * sizeof(int) * m);
  }
  f->n = 0;
  for (int i = 0; i < f->nnode; ++i) {
    f->start[i] = f->n;
    f->n += f->node_dim[i];
  }
  return TRIBO_OK;
}

// neighbour lists of all nodes: head (nnode + 1) into list (2 nedge)
static void adjacency(const TriboFactor* f, int* head, int* list) {
  memset(head, 0, sizeof(int) * (size_t)(f->nnode + 1));
  for (int e = 0; e < 2 * f->nedge; ++e) {
    head[f->edge[e] + 1]++;
  }
  for (int i = 0; i < f->nnode; ++i) {
    head[i + 1] += head[i];
  }
  for (int e = 0; e < f->nedge; ++e) {
    int a = f->edge[2 * e], b = f->edge[2 * e + 1];
    list[head[a]++] = b;
    list[head[b]++] = a;
  }
  for (int i = f->nnode; i > 0; --i) {
    head[i] = head[i - 1];
  }
  head[0] = 0;
}

// parent (nnode) of every column, in elimination order; −1 for roots
static void elimination_tree(const TriboFactor* f, const int* head, const int* list, int* parent, int* ancestor) {
  for (int k = 0; k < f->nnode; ++k) {
    parent[k] = ancestor[k] = -1;
    for (int e = head[f->order[k]]; e < head[f->order[k] + 1]; ++e) {
      for (int i = f->place[list[e]], next; i != -1 && i < k; i = next) {
        next = ancestor[i];
        ancestor[i] = k;
        if (next == -1) {
          parent[i] = k;
        }
      }
    }
  }
}

// rearranges order and parent so that every subtree is contiguous, children before parents
static void postorder(TriboFactor* f, int* parent, int* child, int* sibling, int* stack, int* label) {
  int n = f->nnode, count = 0;
  for (int k = 0; k < n; ++k) {
    child[k] = -1;
  }
  for (int k = n - 1; k >= 0; --k) {
    if (parent[k] >= 0) {
      sibling[k] = child[parent[k]];
      child[parent[k]] = k;
    }
  }
  for (int root = 0; root < n; ++root) {
    if (parent[root] >= 0) {
      continue;
    }
    int top = 0;
    stack[top++] = root;
    while (top > 0) {
      int k = stack[top - 1];
      if (child[k] >= 0) {
        stack[top++] = child[k];
        child[k] = sibling[child[k]];
      } else {
        label[k] = count++;
        top--;
      }
    }
  }
  // stack and child have done their work: use them for the rearranged copies
  for (int k = 0; k < n; ++k) {
    stack[label[k]] = f->order[k];
    child[label[k]] = parent[k] < 0 ? -1 : label[parent[k]];
  }
  memcpy(f->order, stack, sizeof(int) * (size_t)n);
  memcpy(parent, child, sizeof(int) * (size_t)n);
  for (int k = 0, var = 0; k < n; ++k) {
    f->place[f->order[k]] = k;
    f->var[f->order[k]] = var;
    var += f->node_dim[f->order[k]];
  }
}

static void sort_ints(int* a, int n) {
  // shell sort: the lists are short and nearly sorted
  for (int gap = n / 2; gap > 0; gap /= 2) {
    for (int i = gap; i < n; ++i) {
      int x = a[i], j = i;
      for (; j >= gap && a[j - gap] > x; j -= gap) {
        a[j] = a[j - gap];
      }
      a[j] = x;
    }
  }
}

// rows[first[k] … first[k+1]): the columns later than k that k is coupled to
static TriboStatus column_structures(TriboFactor* f, const int* head, const int* list, const int* parent, int* seen_by,
                                     int* child, int* sibling) {
  size_t used = 0;
  for (int k = 0; k < f->nnode; ++k) {
    seen_by[k] = child[k] = -1;
  }
  for (int k = 0; k < f->nnode; ++k) {
    TRIBO_TRY(TRIBO_APPEND(&f->rows, used, f->nnode));
    f->first[k] = used;
    seen_by[k] = k;
    for (int e = head[f->order[k]]; e < head[f->order[k] + 1]; ++e) {
      int i = f->place[list[e]];
      if (i > k && seen_by[i] != k) {
        seen_by[i] = k;
        f->rows[used++] = i;
      }
    }
    for (int c = child[k]; c >= 0; c = sibling[c]) {
      for (size_t e = f->first[c]; e < f->first[c + 1]; ++e) {
        int i = f->rows[e];
        if (seen_by[i] != k) {
          seen_by[i] = k;
          f->rows[used++] = i;
        }
      }
    }
    f->first[k + 1] = used;
    sort_ints(f->rows + f->first[k], (int)(used - f->first[k]));
    if (parent[k] >= 0) {
      sibling[k] = child[parent[k]];
      child[parent[k]] = k;
    }
  }
  return TRIBO_OK;
}

// Merges columns into fronts: last[i] is the last column of front i, front i starts after last[i−1]. A front may cost a
// quarter more than the two that it is made of, but in all not twice what its columns cost one by one: else zeros would
// be added level after level.
static void merge_columns(TriboFactor* f, const int* parent, int* start, int* last) {
  int count = 0;
  f->flops = 0;
  for (int k = 0; k < f->nnode; ++k) {
    TriboFront t = {.p = f->node_dim[f->order[k]], .r = 0};
    int first = k;
    for (size_t e = f->first[k]; e < f->first[k + 1]; ++e) {
      t.r += f->node_dim[f->order[f->rows[e]]];
    }
    t.columns = 1;
    t.plain = elimination_flops(t.p, t.r);
    double parts = t.plain;
    while (count > 0 && parent[last[count - 1]] >= first && parent[last[count - 1]] <= k) {
      const TriboFront* s = &f->front[count - 1];
      const double separate = parts + elimination_flops(s->p, s->r), merged = elimination_flops(t.p + s->p, t.r);
      const double most = FILL_MOST * (t.plain + s->plain) + FRONT_COST * (t.columns + s->columns);
      if ((merged > FILL_RATIO * separate && merged > separate + FRONT_COST) || merged > most) {
        break;
      }
      t.p += s->p;
      t.columns += s->columns;
      t.plain += s->plain;
      parts = separate;
      first = start[--count];
    }
    f->front[count] = t;
    start[count] = first;
    last[count++] = k;
  }
  f->nfront = count;
}

// Position of a later column's unknowns among the rest of a front
static int rest_offset(const TriboFactor* f, int last, int column) {
  int offset = 0;
  for (size_t e = f->first[last]; f->rows[e] != column; ++e) {
    offset += f->node_dim[f->order[f->rows[e]]];
  }
  return offset;
}

// panels, lists of later unknowns, and the memory the updates will need
static TriboStatus lay_out(TriboFactor* f, const int* last, int* owner) {
  size_t nindex = 0, stack = 0, peak = 0;
  f->nvalue = 0;
  for (int i = 0, k = 0; i < f->nfront; ++i) {
    TriboFront* t = &f->front[i];
    t->var = f->var[f->order[k]];
    t->at = f->nvalue;
    t->index = nindex;
    t->nchild = 0;
    f->nvalue += (size_t)t->p * (size_t)(t->p + 2 * t->r);
    nindex += (size_t)t->r;
    f->flops += elimination_flops(t->p, t->r);
    for (; k <= last[i]; ++k) {
      owner[k] = i;
    }
  }
  TRIBO_TRY(TRIBO_RESERVE(&f->index, nindex));
  TRIBO_TRY(TRIBO_RESERVE(&f->local, nindex));
  for (int i = 0; i < f->nfront; ++i) {
    const TriboFront* t = &f->front[i];
    int* index = f->index + t->index;
    int* local = f->local + t->index;
    size_t begin = f->first[last[i]], end = f->first[last[i] + 1];
    if (begin == end) {
      continue;
    }
    int up = owner[f->rows[begin]], at = 0;
    f->front[up].nchild++;
    for (size_t e = begin; e < end; ++e) {
      int column = f->rows[e], node = f->order[column];
      int row =
          owner[column] == up ? f->var[node] - f->front[up].var : f->front[up].p + rest_offset(f, last[up], column);
      for (int d = 0; d < f->node_dim[node]; ++d) {
        index[at] = f->var[node] + d;
        local[at++] = row + d;
      }
    }
  }
  // walk through the elimination once to see how high the stack of updates gets
  int nlive = 0;
  for (int i = 0; i < f->nfront; ++i) {
    size_t size = (size_t)f->front[i].r * (size_t)f->front[i].r;
    peak = stack + size > peak ? stack + size : peak;
    for (int c = 0; c < f->front[i].nchild; ++c) {
      int id = f->live[--nlive];
      stack -= (size_t)f->front[id].r * (size_t)f->front[id].r;
    }
    if (size > 0) {
      f->live[nlive++] = i;
      stack += size;
    }
  }
  TRIBO_TRY(TRIBO_RESERVE(&f->value, f->nvalue));
  TRIBO_TRY(TRIBO_RESERVE(&f->stack, peak));
  TRIBO_TRY(TRIBO_RESERVE(&f->work, 2 * f->n));
  return TRIBO_RESERVE(&f->pivot, f->n);
}

// where the caller puts the blocks
static void place_blocks(TriboFactor* f, const int* last, const int* owner) {
  for (int i = 0; i < f->nnode; ++i) {
    const TriboFront* t = &f->front[owner[f->place[i]]];
    size_t here = (size_t)f->var[i] - (size_t)t->var, ld = (size_t)t->p + (size_t)t->r;
    f->diagonal[i] = (TriboSlot){t->at + here + here * ld, (int)ld};
  }
  for (int e = 0; e < f->nedge; ++e) {
    int i = f->edge[2 * e], j = f->edge[2 * e + 1];
    int ij_is_lower = f->place[i] > f->place[j];
    int early = ij_is_lower ? j : i, late = ij_is_lower ? i : j;
    int own = owner[f->place[early]];
    const TriboFront* t = &f->front[own];
    size_t p = (size_t)t->p, ld = p + (size_t)t->r, here = (size_t)f->var[early] - (size_t)t->var;
    TriboSlot lower, upper;
    if (owner[f->place[late]] == own) {
      size_t there = (size_t)f->var[late] - (size_t)t->var;
      lower = (TriboSlot){t->at + there + here * ld, (int)ld};
      upper = (TriboSlot){t->at + here + there * ld, (int)ld};
    } else {
      size_t there = (size_t)rest_offset(f, last[own], f->place[late]);
      lower = (TriboSlot){t->at + p + there + here * ld, (int)ld};
      upper = (TriboSlot){t->at + p * ld + here + there * p, (int)p};
    }
    f->slot[e] = ij_is_lower ? (TriboEdgeSlots){lower, upper, 1} : (TriboEdgeSlots){upper, lower, 0};
  }
}

TriboStatus tribo_la_factor_analyse(TriboFactor* f, const TriboGraph* graph) {
  if (same_graph(f, graph)) {
    return TRIBO_OK;
  }
  TRIBO_TRY(copy_graph(f, graph));
  size_t n = (size_t)f->nnode;
  int* s = f->scratch;
  int *a = s, *b = s + n, *c = s + 2 * n, *d = s + 3 * n, *parent = s + 4 * n, *owner = s + 5 * n;
  int *head = s + 6 * n, *list = s + 7 * n + 1;
  adjacency(f, head, list);
  for (int i = 0; i < f->nnode; ++i) {
    f->order[i] = i;
  }
  if (f->nedge > 0 && f->nnode > 2) {
    TriboHeapOwner before = tribo_heap_enter(TRIBO_HEAP_SPARSE);
    int status = amd_order(f->nnode, head, list, f->order, NULL, NULL);
    tribo_heap_leave(before);
    if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED) {
      return tribo_fail(status == AMD_OUT_OF_MEMORY ? TRIBO_NOMEM : TRIBO_INTERNAL,
                        "tribo_la_factor_analyse: amd_order returned %d for %d nodes", status, f->nnode);
    }
  }
  for (int k = 0; k < f->nnode; ++k) {
    f->place[f->order[k]] = k;
  }
  elimination_tree(f, head, list, parent, a);
  postorder(f, parent, a, b, c, d);
  TRIBO_TRY(column_structures(f, head, list, parent, a, b, c));
  merge_columns(f, parent, a, b);
  TriboStatus status = lay_out(f, b, owner);
  if (status != TRIBO_OK) {
    f->nfront = 0;
    return status;
  }
  place_blocks(f, b, owner);
  return TRIBO_OK;
}

TriboStatus tribo_la_factor_analyse_dense(TriboFactor* f, int n) {
  TriboGraph graph = {.nnode = 1, .node_dim = &n};
  return tribo_la_factor_analyse(f, &graph);
}
